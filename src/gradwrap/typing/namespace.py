"""The Array API standard, revision 2025.12, as one protocol: of variables, and of native arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gradwrap.core.variable import Variable
from gradwrap.typing.about import Constants, DTypes
from gradwrap.typing.arrays import Manipulation, Searching
from gradwrap.typing.creation import AboutDTypes, Creation
from gradwrap.typing.elementwise import Elementwise
from gradwrap.typing.linalg import LinalgFunctions
from gradwrap.typing.reductions import Products, Reductions
from gradwrap.typing.variables import A, In_contra, Other_co, Out_co

if TYPE_CHECKING:
    from gradwrap.typing.about import NamespaceInfo
    from gradwrap.typing.fft import FFTNamespace
    from gradwrap.typing.special import SpecialNamespace

__all__ = ["ArrayNamespace", "LinalgNamespace", "Namespace", "NativeNamespace"]


class LinalgNamespace(
    LinalgFunctions[In_contra, Out_co, Other_co],
    Products[In_contra, Out_co],
    Protocol[In_contra, Out_co, Other_co],
):
    """The extension `linalg`."""

    __name__: str


class ArrayNamespace(
    Constants,
    DTypes,
    Creation[In_contra, Out_co],
    AboutDTypes[In_contra, Other_co],
    Elementwise[In_contra, Out_co, Other_co],
    Manipulation[In_contra, Out_co],
    Searching[In_contra, Out_co, Other_co],
    Reductions[In_contra, Out_co, Other_co],
    Products[In_contra, Out_co],
    Protocol[In_contra, Out_co, Other_co],
):
    """A namespace of the standard, of functions that take `In` and return `Out`.

    `Other` is returned where the dtype is another than that of the arguments.
    """

    @property
    def linalg(self) -> LinalgNamespace[In_contra, Out_co, Other_co]:
        """The extension for linear algebra."""
        ...

    @property
    def fft(self) -> FFTNamespace[In_contra, Out_co, Other_co]:
        """The extension for Fourier transforms."""
        ...

    def __array_namespace_info__(self) -> NamespaceInfo:
        """What the library can do."""
        ...


class Namespace(ArrayNamespace[Variable[A] | A, Variable[A], Variable[Any]], Protocol[A]):
    """What `x.__array_namespace__()` gives for an `x: Variable[A]`.

    Its functions take variables, arrays of type `A`, and numbers; they return `Variable[A]`, or
    `Variable[Any]` where the dtype is another: of comparisons, positions, casts, transforms. For
    the checker it has the names of the standard; at run time also the others of the library.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> from numpy.typing import NDArray
    >>> def energy(xp: gw.typing.Namespace[NDArray[np.float64]], x):
    ...     return xp.sum(xp.square(x))
    >>> x = gw.wrap(np.array([1.0, 2.0]))
    >>> energy(x.__array_namespace__(), x)
    Variable(np.float64(5.0))
    """

    @property
    def special(self) -> SpecialNamespace[Variable[A] | A, Variable[A]]:
        """Special functions: gradwrap's own, not in the standard."""
        ...


class NativeNamespace(ArrayNamespace[A, A, Any], Protocol[A]):
    """The same of native arrays: what the formulas of a rule are given in a first derivative.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def of_cube(xp: gw.typing.NativeNamespace, g, x):
    ...     return xp.multiply(g, 3 * xp.square(x))
    >>> cube = gw.primitive(lambda x: x**3)
    >>> gw.defvjp(cube, of_cube)
    >>> gw.grad(cube)(2.0)
    np.float64(12.0)
    """

    @property
    def special(self) -> SpecialNamespace[A, A]:
        """Special functions: the library's own."""
        ...
