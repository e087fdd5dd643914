"""The libraries whose arrays are compiled: that of a call's arguments, and its engine.

NumPy is one; the others are entered in `LIBRARIES` by the top-level package of their arrays, and
imported when a call brings the first of them.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.numpy.engine import numpy_engine
from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.compiler.tracing.backend import NumPyLibrary
from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from gradwrap.compiler.engines.register import Executable
    from gradwrap.compiler.ir.program import Program

NUMBER: type[Any] = np.generic
LIBRARIES: dict[str, str] = {"cupy": "gradwrap.compiler.engines.cupy.arrays"}
"""The modules of other libraries: `library_of(leaves)` is the `Compilable` of a call."""


class Compilable(NumPyLibrary):
    """A library, and what is asked of it for a call beside what the tracer asks; here, NumPy."""

    def current(self) -> AbstractContextManager[Any]:
        """Return the context in which its arrays are traced."""
        return nullcontext()

    def replaces(self, array: Any) -> bool:
        """Tell if a tracer can stand for an array of the surroundings; others are compared."""
        return type_of(array) is self.kind and array.dtype.kind in "fc"

    def strange(self, leaves: Sequence[Any]) -> str:
        """Say which leaf is an array that cannot be traced, and the remedy; "" if none is."""
        for leaf in leaves:
            if self._is_strange(leaf):
                kind = type_of(leaf)
                return (
                    f"an argument is a {kind.__module__}.{kind.__name__}. "
                    f"Fix: pass {self.name}.ndarray of a numeric dtype"
                )
        return ""

    def _is_strange(self, leaf: Any) -> bool:
        """Tell if a leaf is an array that is none of the library's, or cannot be known by value."""
        kind: Any = type_of(leaf)
        if isinstance(leaf, self.kind):
            return kind is not self.kind or not self.is_input(leaf)
        if isinstance(leaf, NUMBER):
            return False
        return hasattr(leaf, "__array__") or hasattr(leaf, "__dlpack__")

    def place(self, leaf: Any) -> Any:
        """Return what tells where an array lies; a part of the signature."""
        return None

    def place_test(self, name: str, place: Any) -> list[str]:
        """Return the tests, as text, that the array of a name lies there."""
        return []

    def engine(self, program: Program, *, plainly: bool = False) -> Executable:
        """Compile a program to the library's own calls; `plainly` one for each instruction."""
        return numpy_engine(program, in_chunks=not plainly)

    def chosen(
        self, name: str, make: Callable[[Program], Executable]
    ) -> Callable[[Program], Executable]:
        """Return the engine of a name for its arrays; "numpy" is its own."""
        return self.engine if name == "numpy" else make


NUMPY: Compilable = Compilable()


def _module_of(value: Any) -> Any:
    """The module for the library that an array is of, if it is one of the others."""
    name = LIBRARIES.get((type_of(value).__module__ or "").partition(".")[0])
    return None if name is None or not hasattr(value, "dtype") else import_module(name)


def library_of(leaves: Sequence[Any]) -> Compilable:
    """Return the library of a call: that of its first array that is none of NumPy's."""
    for leaf in leaves:
        module = _module_of(leaf)
        if module is not None:
            found: Compilable = module.library_of(leaf)
            return found
    return NUMPY


def is_array(value: Any) -> bool:
    """Tell if a value is an array, or a number, of a library that is compiled."""
    return isinstance(value, (NDARRAY, NUMBER)) or _module_of(value) is not None


def on_host(value: Any) -> Any:
    """Return an array of another library as one of NumPy's; other values as they are."""
    return value.get() if _module_of(value) is not None else value
