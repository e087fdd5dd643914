"""Ownership of code: the user, an installed package, Python, or an array library."""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}
"""The modules that come with Python."""
LIBRARIES = STANDARD | {"gradwrap"}
"""The packages that are nobody's to change."""
WRITTEN_IN_LIBRARIES = (
    *("numpy.polynomial", "scipy.signal._lti_conversion", "scipy.signal._ltisys"),
)
"""The parts of NumPy and SciPy that are written in terms of the rest, and are adapted as packages
are."""
ARRAYS = frozenset({"gradwrap", "numpy", "array_api_compat"})
"""The packages whose code stands between the user's and an operation on arrays."""
PYTHONS: str = os.path.dirname(os.__file__)  # noqa: PTH120  pathlib is slow to import
"""The folder of the modules that come with Python."""
INSTALLED = frozenset({"site-packages", "dist-packages"})
"""The folders of packages whose variables nobody binds anew."""


def package_of(module: str) -> str:
    """Return the top-level package of a module."""
    return module.partition(".")[0]


def library_named(module: str) -> str:
    """Return the name of a module's package, or of the part of a library that is one by itself."""
    written = next((one for one in WRITTEN_IN_LIBRARIES if module.startswith(one)), None)
    return written or package_of(module)


def named_module(value: Any) -> str:
    """Return the module that a class or function names; "" for compiled classes that name none.

    `__module__` of some describes where their instances keep the name.
    """
    found = value.__module__
    return found if isinstance(found, str) else ""


def is_in_packages(filename: str) -> bool:
    """Tell if a file belongs to an installed package."""
    return not INSTALLED.isdisjoint(parts_of(filename))


def parts_of(filename: str) -> tuple[str, ...]:
    """Return the folders of a file, and its name."""
    from pathlib import PurePath  # slow to import, and needed for errors and compilation alone

    return PurePath(filename).parts or ("",)


@functools.lru_cache(maxsize=1024)
def is_installed(package: str) -> bool:
    """Tell if a package is installed, or comes with Python and is not a user's of that name."""
    module = sys.modules.get(package)
    path: str = getattr(module, "__file__", None) or ""
    if not path and isinstance(module, ModuleType):  # a package without a file of its own
        path = next(iter(vars(module).get("__path__") or ()), "")
    is_pythons = path.startswith(PYTHONS) or path.endswith((".so", ".pyd")) or not path
    return (package in LIBRARIES and is_pythons) or is_in_packages(path) or package == "gradwrap"


@functools.lru_cache(maxsize=4096)
def is_of_arrays(module: str) -> bool:
    """Tell if a module belongs to an array library rather than to the user."""
    return package_of(module) in ARRAYS


def module_of(frame: FrameType) -> str:
    """Return the module of the code that a frame runs."""
    return frame.f_globals.get("__name__") or ""


def frame_of(depth: int) -> FrameType:
    """Return the frame `depth` calls above the calling function."""
    return sys._getframe(depth + 1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
