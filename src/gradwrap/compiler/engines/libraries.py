"""The libraries whose arrays are compiled, each with its own engine.

NumPy is built in; the others are listed in `LIBRARIES` by the top-level package of their arrays,
and imported at the first call with such an array.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.numpy.engine import numpy_engine
from gradwrap.compiler.ir.program import NDARRAY
from gradwrap.compiler.tracing.backend import NumPyLibrary
from gradwrap.core.observing.code import named_module, package_of
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
    """A library as the tracer and the calls see it; this class is NumPy."""

    def current(self) -> AbstractContextManager[Any]:
        """Return the context in which its arrays are traced."""
        return nullcontext()

    def replaces(self, array: Any) -> bool:
        """Tell if a tracer can replace an array of the surroundings; others are compared."""
        return type_of(array) is self.kind and array.dtype.kind in "fc"

    def strange(self, leaves: Sequence[Any]) -> str:
        """Return the complaint about an argument that cannot be traced, with a remedy, or ""."""
        for leaf in leaves:
            if self._is_strange(leaf):
                kind = type_of(leaf)
                return (
                    f"an argument is a {kind.__module__}.{kind.__name__}. "
                    f"Fix: pass {self.name}.ndarray of a numeric dtype"
                )
        return ""

    def _is_strange(self, leaf: Any) -> bool:
        """Tell if a leaf is an array of another library, or one that cannot be an input."""
        kind: Any = type_of(leaf)
        if isinstance(leaf, self.kind):
            return kind is not self.kind or not self.is_input(leaf)
        if isinstance(leaf, NUMBER):
            return False
        return hasattr(leaf, "__array__") or hasattr(leaf, "__dlpack__")

    def place(self, leaf: Any) -> Any:
        """Return the place of an array, for instance its device; a part of the signature."""
        return None

    def place_test(self, name: str, place: Any) -> list[str]:
        """Return the source of tests that a named array lies at a place."""
        return []

    def engine(self, program: Program, *, plainly: bool = False) -> Executable:
        """Compile a program to the library's own calls; if `plainly`, one for each instruction."""
        return numpy_engine(program, in_chunks=not plainly)

    def chosen(
        self, name: str, make: Callable[[Program], Executable]
    ) -> Callable[[Program], Executable]:
        """Return the engine of a name for its arrays; "numpy" means the library's own."""
        return self.engine if name == "numpy" else make


NUMPY: Compilable = Compilable()


def _module_of(value: Any) -> Any:
    """Return the module for the library of an array; None for NumPy and for other values."""
    name = LIBRARIES.get(package_of(named_module(type_of(value))))
    return None if name is None or not hasattr(value, "dtype") else import_module(name)


def library_of(leaves: Sequence[Any]) -> Compilable:
    """Return the library of a call: that of its first array outside of NumPy."""
    for leaf in leaves:
        module = _module_of(leaf)
        if module is not None:
            found: Compilable = module.library_of(leaf)
            return found
    return NUMPY


def is_array(value: Any) -> bool:
    """Tell if a value is an array or a number of a compiled library."""
    return isinstance(value, (NDARRAY, NUMBER)) or _module_of(value) is not None


def on_host(value: Any) -> Any:
    """Return an array of another library as a NumPy array; other values unchanged."""
    return value.get() if _module_of(value) is not None else value
