"""A backend of `scipy.fft` for variables."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import SEQUENCE


class FourierBackend:
    """The backend of `scipy.fft` for variables; plain arrays are left to the next one."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: Any, kwargs: Any) -> Any:
        """Answer a call that has a variable among its arguments."""
        if not any(map(is_variable, (*args, *kwargs.values()))):
            return NotImplemented
        return getattr(import_module("gradwrap.scipy.fft"), method.__name__)(*args, **kwargs)


def is_variable(value: Any) -> bool:
    """Tell if a value is a variable, or a sequence that holds one."""
    if isinstance(value, SEQUENCE):
        return any(map(is_variable, value))
    return isinstance(value, AnyWrapper)


def enter_fft(module: Any) -> None:
    """Register the backend, and SciPy's own for all other arrays."""
    module.set_global_backend(FourierBackend)
    module.register_backend("scipy")
