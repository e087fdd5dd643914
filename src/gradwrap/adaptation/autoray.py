"""autoray looks up functions in a module that belongs to the class of an array."""

from __future__ import annotations

import sys
from typing import Any


def enter_autoray(module: Any) -> None:
    """Let autoray find the functions of `gradwrap.numpy` for variables, as it calls NumPy's."""
    tables = module.autoray
    tables._MODULE_ALIASES["gradwrap.scipy"] = "gradwrap.scipy"  # it takes the first that fits
    tables._MODULE_ALIASES["gradwrap"] = "gradwrap.numpy"
    tables._FUNCS["gradwrap", "complex"] = tables._FUNCS["numpy", "complex"]
    for table, prefix in (tables._CUSTOM_WRAPPERS, ""), (tables._SUBMODULE_ALIASES, "gradwrap."):
        own = {name: found for (library, name), found in table.items() if library == "numpy"}
        table.update((("gradwrap", name), prefix + x if prefix else x) for name, x in own.items())


def look_up_again() -> None:
    """Let autoray look at the classes of arrays again, whose modules have changed."""
    if "autoray" in sys.modules:
        sys.modules["autoray"].autoray._infer_class_backend_cached.cache_clear()
