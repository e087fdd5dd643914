"""Compiled functions whose Python source lies beside the compiled module.

Cython's pure Python mode and mypyc compile `module.py`, and a package ships both. The source then
does for tracked values what the compiled function does for plain ones.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradwrap.core.values.dynamic import attribute_or_none

if TYPE_CHECKING:
    from collections.abc import Callable


def source_of(function: Any) -> Callable[..., Any] | None:
    """Return the Python function that a compiled one was made of, or None if it is not there."""
    names = _names_in_source(str(function.__module__))
    found: Any = names.get(function.__name__) if names else None
    return found if callable(found) and attribute_or_none(found, "__code__") else None


@functools.cache
def _names_in_source(name: str) -> dict[str, Any] | None:
    """Run the source of a compiled module, as a module of its own, and return its names."""
    spec = attribute_or_none(sys.modules.get(name), "__spec__")
    if not isinstance(attribute_or_none(spec, "loader"), ExtensionFileLoader):
        return None
    compiled = Path(spec.origin)
    source = compiled.with_name(f"{compiled.name.partition('.')[0]}.py")
    if not source.is_file():
        return None
    from_source: Any = importlib.util.spec_from_file_location(name, source)
    made = importlib.util.module_from_spec(from_source)
    try:
        from_source.loader.exec_module(made)
    except Exception:  # noqa: BLE001  it needs what only the compiler has
        return None
    return vars(made)
