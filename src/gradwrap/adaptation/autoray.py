"""autoray looks up functions in a module that belongs to the class of an array."""

from __future__ import annotations

import sys
from typing import Any

known_as: list[str] = ["gradwrap"]
"""The last is the name of the backend for variables; the first has `gradwrap.numpy`."""


def enter_autoray(module: Any) -> None:
    """Let autoray find the functions of `gradwrap.numpy` for variables, as it calls NumPy's."""
    tables = module.autoray
    tables._MODULE_ALIASES["gradwrap.scipy"] = "gradwrap.scipy"  # it takes the first that fits
    tables._MODULE_ALIASES["gradwrap"] = "gradwrap.numpy"
    tables._FUNCS["gradwrap", "complex"] = tables._FUNCS["numpy", "complex"]
    for table, prefix in (tables._CUSTOM_WRAPPERS, ""), (tables._SUBMODULE_ALIASES, "gradwrap."):
        own = {name: found for (library, name), found in table.items() if library == "numpy"}
        table.update((("gradwrap", name), prefix + x if prefix else x) for name, x in own.items())
    _name(module)


def call_variables(name: str) -> None:
    """Name the backend of variables from now on; "gradwrap" restores its own name."""
    known_as[1:] = [] if name == known_as[0] else [name]
    if "autoray" in sys.modules:
        _name(sys.modules["autoray"])


def _name(module: Any) -> None:
    module.autoray._BACKEND_ALIASES["gradwrap"] = known_as[-1]
    module.autoray._infer_class_backend_cached.cache_clear()
