"""Open SciPy's array-API paths to variables while a call with tracked arguments runs.

A flag in SciPy tells its functions whether to compute in the namespace of their arguments. While a
tracked call runs, an object replaces the flag. Its truth is a context variable, so other threads
and other calls see SciPy's own value.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import AnyWrapper

if TYPE_CHECKING:
    from collections.abc import Generator

_is_open: ContextVar[bool] = ContextVar("gradwrap_scipy_array_api", default=False)
_lock = threading.Lock()
_users = 0

override: Any
try:
    override = import_module("scipy._lib._array_api_override")
    _settings: Any = vars(override)
except ImportError:  # SciPy before 1.17
    override = import_module("scipy._lib._array_api")
    _settings = vars(override)["_GLOBAL_CONFIG"]
_NATIVE: Any = (_settings["SCIPY_ARRAY_API"], override.array_api_compat)


class _Flag:
    """A flag that is true in a context that runs a tracked call, and equals SciPy's elsewhere."""

    def __bool__(self) -> bool:
        return _is_open.get() or bool(_NATIVE[0])


class _Compat:
    """SciPy's array_api_compat, which returns the namespace of variables among the arguments."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_NATIVE[1], name)

    def array_namespace(self, *arrays: Any, **options: Any) -> Any:
        """Return the namespace of the first variable, which also takes plain arrays."""
        for array in arrays:
            if isinstance(array, AnyWrapper):
                return array.__array_namespace__()
        return _NATIVE[1].array_namespace(*arrays, **options)


_OURS: Any = (_Flag(), _Compat())


def are_open() -> bool:
    """Tell if the paths are open in this context."""
    return _is_open.get()


@contextmanager
def array_api_paths() -> Generator[None, None, None]:
    """Open the array-API paths in this context."""
    global _users  # noqa: PLW0603  counted under the lock
    with _lock:
        _users += 1
        _settings["SCIPY_ARRAY_API"], override.array_api_compat = _OURS
    token = _is_open.set(True)
    try:
        yield
    finally:
        _is_open.reset(token)
        with _lock:
            _users -= 1
            if not _users:
                _settings["SCIPY_ARRAY_API"], override.array_api_compat = _NATIVE
