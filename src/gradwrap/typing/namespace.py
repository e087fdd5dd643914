"""The Array API standard, revision 2025.12, as one protocol: of variables, and of native arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gradwrap.typing.arguments import In_contra, Other_co, Out_co
from gradwrap.typing.arrays import Manipulation, Searching
from gradwrap.typing.creation import Creation, DTypeFunctions
from gradwrap.typing.elementwise import Elementwise
from gradwrap.typing.info import Constants, DTypes
from gradwrap.typing.linalg import LinalgFunctions
from gradwrap.typing.reductions import Products, Reductions

if TYPE_CHECKING:
    from gradwrap.typing.fft import FFTNamespace
    from gradwrap.typing.info import NamespaceInfo
    from gradwrap.typing.special import SpecialNamespace


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
    DTypeFunctions[In_contra, Other_co],
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

    @property
    def fft(self) -> FFTNamespace[In_contra, Out_co, Other_co]:
        """The extension for Fourier transforms."""

    def __array_namespace_info__(self) -> NamespaceInfo:
        """Return the dtypes, devices and capabilities of the library."""


class ExtendedNamespace(
    ArrayNamespace[In_contra, Out_co, Other_co], Protocol[In_contra, Out_co, Other_co]
):
    """The standard's namespace with an extension of gradwrap's own, `special`."""

    @property
    def special(self) -> SpecialNamespace[In_contra, Out_co]:
        """Special functions, which are not in the standard."""
