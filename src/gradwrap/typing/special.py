"""The extension `special`: gradwrap's own, with the names of SciPy."""

from __future__ import annotations

from typing import Literal, Protocol, overload

from gradwrap.typing.arguments import Axes, In_contra, Out_co
from gradwrap.typing.special_functions import (
    BesselFunctions,
    DistributionFunctions,
    ElementaryFunctions,
    HypergeometricFunctions,
    IntegralFunctions,
)


class SpecialNamespace(
    DistributionFunctions[In_contra, Out_co],
    IntegralFunctions[In_contra, Out_co],
    BesselFunctions[In_contra, Out_co],
    HypergeometricFunctions[In_contra, Out_co],
    ElementaryFunctions[In_contra, Out_co],
    Protocol[In_contra, Out_co],
):
    """Special functions that have a rule, on NumPy (with SciPy), CuPy, JAX and PyTorch arrays.

    At run time a library's other special functions are there too.
    """

    def beta(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """The beta function."""

    def betainc(
        self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The regularised incomplete beta function."""

    def betaincc(
        self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """`1 - betainc(a, b, x)`."""

    def betaincinv(
        self, a: In_contra | float, b: In_contra | float, y: In_contra | float, /
    ) -> Out_co:
        """The inverse of `betainc` in its third argument."""

    def betaln(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """The logarithm of the absolute value of the beta function."""

    def cbrt(self, x: In_contra, /) -> Out_co:
        """The real cube root."""

    def chdtr(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The probability that chi-square with `v` degrees of freedom is at most `x`."""

    def chdtrc(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """`1 - chdtr(v, x)`."""

    def digamma(self, x: In_contra, /) -> Out_co:
        """The derivative of the logarithm of the gamma function."""

    def entr(self, x: In_contra, /) -> Out_co:
        """`-x * log(x)`, 0 at 0."""

    def erf(self, x: In_contra, /) -> Out_co:
        """The error function."""

    def erfc(self, x: In_contra, /) -> Out_co:
        """`1 - erf(x)`, accurate for large `x`."""

    def erfcinv(self, x: In_contra, /) -> Out_co:
        """The inverse of `erfc`."""

    def erfcx(self, x: In_contra, /) -> Out_co:
        """`exp(x**2) * erfc(x)`."""

    def erfinv(self, x: In_contra, /) -> Out_co:
        """The inverse of `erf`."""

    def exp10(self, x: In_contra, /) -> Out_co:
        """`10**x`."""

    def exp2(self, x: In_contra, /) -> Out_co:
        """`2**x`."""

    def expit(self, x: In_contra, /) -> Out_co:
        """The logistic function `1 / (1 + exp(-x))`."""

    def expm1(self, x: In_contra, /) -> Out_co:
        """`exp(x) - 1`, accurate near 0."""

    def exprel(self, x: In_contra, /) -> Out_co:
        """`(exp(x) - 1) / x`, 1 at 0."""

    def gamma(self, x: In_contra, /) -> Out_co:
        """The gamma function."""

    def gammainc(self, a: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The regularised lower incomplete gamma function."""

    def gammaincc(self, a: In_contra | float, x: In_contra | float, /) -> Out_co:
        """`1 - gammainc(a, x)`."""

    def gammainccinv(self, a: In_contra | float, y: In_contra | float, /) -> Out_co:
        """The inverse of `gammaincc` in its second argument."""

    def gammaincinv(self, a: In_contra | float, y: In_contra | float, /) -> Out_co:
        """The inverse of `gammainc` in its second argument."""

    def gammaln(self, x: In_contra, /) -> Out_co:
        """The logarithm of the absolute value of the gamma function."""

    def gammasgn(self, x: In_contra, /) -> Out_co:
        """The sign of the gamma function; a step, so not differentiated."""

    def i0(self, x: In_contra, /) -> Out_co:
        """The modified Bessel function of the first kind of order 0."""

    def i0e(self, x: In_contra, /) -> Out_co:
        """`i0(x) * exp(-abs(x))`."""

    def i1(self, x: In_contra, /) -> Out_co:
        """The modified Bessel function of the first kind of order 1."""

    def i1e(self, x: In_contra, /) -> Out_co:
        """`i1(x) * exp(-abs(x))`."""

    def iv(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The modified Bessel function of the first kind of order `v`."""

    def j0(self, x: In_contra, /) -> Out_co:
        """The Bessel function of the first kind of order 0."""

    def j1(self, x: In_contra, /) -> Out_co:
        """The Bessel function of the first kind of order 1."""

    def jv(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Bessel function of the first kind of order `v`."""

    def k0(self, x: In_contra, /) -> Out_co:
        """The modified Bessel function of the second kind of order 0."""

    def k0e(self, x: In_contra, /) -> Out_co:
        """`k0(x) * exp(x)`."""

    def k1(self, x: In_contra, /) -> Out_co:
        """The modified Bessel function of the second kind of order 1."""

    def k1e(self, x: In_contra, /) -> Out_co:
        """`k1(x) * exp(x)`."""

    def kl_div(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`x1 * log(x1 / x2) - x1 + x2`."""

    def kv(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The modified Bessel function of the second kind of order `v`."""

    def log1p(self, x: In_contra, /) -> Out_co:
        """`log(1 + x)`, accurate near 0."""

    def log_expit(self, x: In_contra, /) -> Out_co:
        """The logarithm of `expit`."""

    def log_ndtr(self, x: In_contra, /) -> Out_co:
        """The logarithm of `ndtr`, accurate far to the left."""

    def log_softmax(self, x: In_contra, /, axis: Axes = None) -> Out_co:
        """The logarithm of `softmax`, without overflow."""

    def loggamma(self, x: In_contra, /) -> Out_co:
        """The principal branch of the logarithm of the gamma function."""

    def logit(self, x: In_contra, /) -> Out_co:
        """The inverse of `expit`."""

    @overload
    def logsumexp(
        self,
        x: In_contra,
        /,
        axis: Axes = None,
        b: In_contra | float | None = None,
        keepdims: bool = False,
        return_sign: Literal[False] = False,
    ) -> Out_co: ...
    @overload
    def logsumexp(
        self,
        x: In_contra,
        /,
        axis: Axes = None,
        b: In_contra | float | None = None,
        keepdims: bool = False,
        *,
        return_sign: Literal[True],
    ) -> tuple[Out_co, Out_co]: ...
    @overload
    def logsumexp(
        self,
        x: In_contra,
        /,
        axis: Axes = None,
        b: In_contra | float | None = None,
        keepdims: bool = False,
        return_sign: bool = False,
    ) -> Out_co | tuple[Out_co, Out_co]: ...
    def logsumexp(
        self,
        x: In_contra,
        /,
        axis: Axes = None,
        b: In_contra | float | None = None,
        keepdims: bool = False,
        return_sign: bool = False,
    ) -> Out_co | tuple[Out_co, Out_co]:
        """The logarithm of the sum of `b * exp(x)` along axes, without overflow."""

    def multigammaln(self, a: In_contra, d: int, /) -> Out_co:
        """The logarithm of the multivariate gamma function in `d` dimensions."""

    def ndtr(self, x: In_contra, /) -> Out_co:
        """The normal distribution's probability of at most `x`."""

    def ndtri(self, x: In_contra, /) -> Out_co:
        """The inverse of `ndtr`: a quantile of the normal distribution."""

    def polygamma(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The `n`-th derivative of `digamma`."""

    def psi(self, x: In_contra, /) -> Out_co:
        """`digamma`."""

    def rel_entr(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`x1 * log(x1 / x2)`, 0 where `x1` is 0."""

    def sinc(self, x: In_contra, /) -> Out_co:
        """`sin(pi * x) / (pi * x)`, 1 at 0."""

    def softmax(self, x: In_contra, /, axis: Axes = None) -> Out_co:
        """`exp(x)`, divided by its sum along axes."""

    def stdtr(self, df: In_contra | float, t: In_contra | float, /) -> Out_co:
        """The probability that Student's t with `df` degrees of freedom is at most `t`."""

    def xlog1py(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`x1 * log1p(x2)`, 0 where `x1` is 0."""

    def xlogy(self, x1: In_contra | float, x2: In_contra | float, /) -> Out_co:
        """`x1 * log(x2)`, 0 where `x1` is 0."""

    def y0(self, x: In_contra, /) -> Out_co:
        """The Bessel function of the second kind of order 0."""

    def y1(self, x: In_contra, /) -> Out_co:
        """The Bessel function of the second kind of order 1."""

    def yv(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Bessel function of the second kind of order `v`."""

    def zeta(self, x: In_contra | float, q: In_contra | float, /) -> Out_co:
        """Hurwitz's zeta function; Riemann's where `q` is 1."""
