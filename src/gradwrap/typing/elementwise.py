"""The standard's functions of each element."""

from __future__ import annotations

from typing import Protocol

from gradwrap.typing.arguments import AnyArray, In_contra, Other_co, Out_co


class Elementwise(Protocol[In_contra, Out_co, Other_co]):
    """Functions of each element, of arrays that are broadcast together."""

    def abs(self, x: In_contra, /) -> Out_co:
        """The absolute value; its derivative at 0 is 0."""

    def acos(self, x: In_contra, /) -> Out_co:
        """The inverse of the cosine."""

    def acosh(self, x: In_contra, /) -> Out_co:
        """The inverse of the hyperbolic cosine."""

    def add(self, x1: In_contra | complex, x2: In_contra | complex, /) -> Out_co:
        """`x1 + x2`."""

    def asin(self, x: In_contra, /) -> Out_co:
        """The inverse of the sine."""

    def asinh(self, x: In_contra, /) -> Out_co:
        """The inverse of the hyperbolic sine."""

    def atan(self, x: In_contra, /) -> Out_co:
        """The inverse of the tangent."""

    def atan2(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """The angle of the point `(x2, x1)`, from -pi to pi."""

    def atanh(self, x: In_contra, /) -> Out_co:
        """The inverse of the hyperbolic tangent."""

    def bitwise_and(self, x1: In_contra | int, x2: In_contra | int, /) -> Out_co:
        """`x1 & x2`."""

    def bitwise_invert(self, x: In_contra, /) -> Out_co:
        """`~x`."""

    def bitwise_left_shift(self, x1: In_contra | int, x2: In_contra | int, /) -> Out_co:
        """`x1 << x2`."""

    def bitwise_or(self, x1: In_contra | int, x2: In_contra | int, /) -> Out_co:
        """`x1 | x2`."""

    def bitwise_right_shift(self, x1: In_contra | int, x2: In_contra | int, /) -> Out_co:
        """`x1 >> x2`."""

    def bitwise_xor(self, x1: In_contra | int, x2: In_contra | int, /) -> Out_co:
        """`x1 ^ x2`."""

    def ceil(self, x: In_contra, /) -> Out_co:
        """The least integer that is not less; a step, so not differentiated."""

    def clip(
        self,
        x: In_contra,
        /,
        min: In_contra | float | None = None,
        max: In_contra | float | None = None,
    ) -> Out_co:
        """The elements within bounds; the gradient passes at the bounds."""

    def conj(self, x: In_contra, /) -> Out_co:
        """The complex conjugate."""

    def copysign(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """The size of `x1` with the sign of `x2`."""

    def cos(self, x: In_contra, /) -> Out_co:
        """The cosine."""

    def cosh(self, x: In_contra, /) -> Out_co:
        """The hyperbolic cosine."""

    def divide(self, x1: In_contra | complex, x2: In_contra | complex, /) -> Out_co:
        """`x1 / x2`."""

    def equal(self, x1: In_contra | complex, x2: In_contra | complex, /) -> Other_co:
        """`x1 == x2`, element by element."""

    def exp(self, x: In_contra, /) -> Out_co:
        """The exponential."""

    def expm1(self, x: In_contra, /) -> Out_co:
        """`exp(x) - 1`, accurate near 0."""

    def floor(self, x: In_contra, /) -> Out_co:
        """The greatest integer that is not greater; a step, so not differentiated."""

    def floor_divide(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`x1 // x2`."""

    def greater(self, x1: In_contra | float, x2: In_contra | float, /) -> Other_co:
        """`x1 > x2`, element by element."""

    def greater_equal(self, x1: In_contra | float, x2: In_contra | float, /) -> Other_co:
        """`x1 >= x2`, element by element."""

    def hypot(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`sqrt(x1**2 + x2**2)`, without overflow."""

    def imag(self, x: In_contra, /) -> Other_co:
        """The imaginary part of complex numbers."""

    def isfinite(self, x: In_contra, /) -> Other_co:
        """Tell whether an element is neither infinite nor NaN."""

    def isinf(self, x: In_contra, /) -> Other_co:
        """Tell whether an element is infinite."""

    def isnan(self, x: In_contra, /) -> Other_co:
        """Tell whether an element is NaN."""

    def less(self, x1: In_contra | float, x2: In_contra | float, /) -> Other_co:
        """`x1 < x2`, element by element."""

    def less_equal(self, x1: In_contra | float, x2: In_contra | float, /) -> Other_co:
        """`x1 <= x2`, element by element."""

    def log(self, x: In_contra, /) -> Out_co:
        """The natural logarithm."""

    def log10(self, x: In_contra, /) -> Out_co:
        """The logarithm to base 10."""

    def log1p(self, x: In_contra, /) -> Out_co:
        """`log(1 + x)`, accurate near 0."""

    def log2(self, x: In_contra, /) -> Out_co:
        """The logarithm to base 2."""

    def logaddexp(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`log(exp(x1) + exp(x2))`, without overflow."""

    def logical_and(self, x1: AnyArray, x2: AnyArray, /) -> Other_co:
        """Tell whether both elements are true."""

    def logical_not(self, x: AnyArray, /) -> Other_co:
        """Tell whether an element is false."""

    def logical_or(self, x1: AnyArray, x2: AnyArray, /) -> Other_co:
        """Tell whether one of the elements is true."""

    def logical_xor(self, x1: AnyArray, x2: AnyArray, /) -> Other_co:
        """Tell whether just one of the elements is true."""

    def maximum(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """The greater of two elements; ties share the gradient evenly."""

    def minimum(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """The lesser of two elements; ties share the gradient evenly."""

    def multiply(self, x1: In_contra | complex, x2: In_contra | complex, /) -> Out_co:
        """`x1 * x2`."""

    def negative(self, x: In_contra, /) -> Out_co:
        """`-x`."""

    def nextafter(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """The next number after `x1`, towards `x2`."""

    def not_equal(self, x1: In_contra | complex, x2: In_contra | complex, /) -> Other_co:
        """`x1 != x2`, element by element."""

    def positive(self, x: In_contra, /) -> Out_co:
        """`+x`."""

    def pow(self, x1: In_contra | complex, x2: In_contra | complex, /) -> Out_co:
        """`x1 ** x2`."""

    def real(self, x: In_contra, /) -> Other_co:
        """The real part of complex numbers."""

    def reciprocal(self, x: In_contra, /) -> Out_co:
        """`1 / x`."""

    def remainder(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`x1 % x2`, of the sign of `x2`."""

    def round(self, x: In_contra, /) -> Out_co:
        """The nearest integer; a step, so not differentiated."""

    def sign(self, x: In_contra, /) -> Out_co:
        """-1, 0 or 1; for complex numbers `x / abs(x)`."""

    def signbit(self, x: In_contra, /) -> Other_co:
        """Tell whether the sign is minus, also that of zero."""

    def sin(self, x: In_contra, /) -> Out_co:
        """The sine."""

    def sinh(self, x: In_contra, /) -> Out_co:
        """The hyperbolic sine."""

    def sqrt(self, x: In_contra, /) -> Out_co:
        """The square root; its derivative at 0 is infinite."""

    def square(self, x: In_contra, /) -> Out_co:
        """`x * x`."""

    def subtract(self, x1: In_contra | complex, x2: In_contra | complex, /) -> Out_co:
        """`x1 - x2`."""

    def tan(self, x: In_contra, /) -> Out_co:
        """The tangent."""

    def tanh(self, x: In_contra, /) -> Out_co:
        """The hyperbolic tangent."""

    def trunc(self, x: In_contra, /) -> Out_co:
        """The integer part; a step, so not differentiated."""
