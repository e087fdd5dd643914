"""Functions of the standard library in Python, which run on stand-ins for tracked values."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.shadows import shadowing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from gradwrap.adaptation.shadows import Lookup


def functions_in_python(module: ModuleType, lookup: Lookup) -> Iterator[tuple[Any, Any]]:
    """Yield the functions of a module that are written in Python, with their stand-ins."""
    for name, value in vars(module).items():
        if type(value) is FunctionType and value.__globals__ is vars(module):
            yield value, shadowing(value, f"{module.__name__}.{name}", lookup)
