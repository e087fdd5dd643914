"""NumPy's warnings of arithmetic, handed to `core/observing/arithmetic.py`.

NumPy writes what it would warn of to an object if its error state says "log". The state is that of
the user, with "log" instead of "warn": what the user ignores or raises stays so. `np.geterr`
and its relatives answer with the user's state.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.observing.arithmetic import PLACE, warn

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "Warning: "
MILD = ("ignore", "warn")
"""The modes that let a computation go on as without them."""


class _WarningWriter:
    """The object that NumPy writes its warnings to."""

    def write(self, message: str) -> None:
        """Raise the warning that NumPy has written, at the line of the computation."""
        import inspect  # which few programs need

        own = inspect.currentframe()
        assert own is not None
        assert own.f_back is not None
        warn(message.removeprefix(PREFIX).rstrip("\n"), own.f_back)


WRITER = _WarningWriter()


class ErrorState:
    """The error states of this process: the latest of a user's, and the one made of it."""

    def __init__(self, variable: Any, make: Any, read: Callable[[], dict[str, Any]]) -> None:
        self._read = read
        self._get, self._set, self._reset = variable.get, variable.set, variable.reset
        self._make = make
        self._latest: tuple[Any, Any] = (None, None)
        self._left: Any = None
        """The latest state that stays as it is."""
        self._mild: Any = None
        """The latest state that ignores errors, or warns of them."""

    def begin(self) -> Any:
        """Let NumPy write its warnings; return the token of the state before, or None."""
        state = self._get()
        users, ours = self._latest
        if state is users:
            return self._set(ours)
        if state is ours or state is self._left:
            return None
        found = self._read()
        modes = {kind: "log" for kind, mode in found.items() if mode == "warn"}
        if not modes or found["call"] is not None:
            self._left = state
            return None
        made = self._make(**modes, call=WRITER)
        self._latest = (state, made)
        return self._set(made)

    def end(self, begun: Any) -> None:
        """Put the state before back, unless the user has set another one."""
        if begun is None:
            return
        changed = None if self._get() is self._latest[1] else np.geterr()
        self._reset(begun)
        if changed is not None:
            np.seterr(**changed)

    def is_strict(self) -> bool:
        """Tell if the user has NumPy do more than warn of an error of arithmetic."""
        state = self._get()
        if state is self._mild:
            return False
        found = any(mode not in MILD for mode in modes().values())
        if not found:
            self._mild = state
        return found

    def of_user(self) -> dict[str, Any]:
        """Return NumPy's modes and callback as the user has set them."""
        found = self._read()
        if found["call"] is not WRITER:
            return found
        kept = {kind: "warn" if mode == "log" else mode for kind, mode in found.items()}
        return {**kept, "call": None}


def modes() -> dict[str, Any]:
    """Return NumPy's modes as the user has set them."""
    return {**np.geterr()}


def is_strict() -> bool:
    """Tell if the user has NumPy do more than warn of an error: raise one, or call a function."""
    listening = PLACE.listening
    if isinstance(listening, ErrorState):
        return listening.is_strict()
    return any(mode not in MILD for mode in modes().values())


def listen() -> None:
    """Enter NumPy's way, if this version of NumPy keeps its error state in a context variable."""
    umath: Any = import_module("numpy._core.umath")
    config: Any = import_module("numpy._core._ufunc_config")
    read = getattr(config, "_get_extobj_dict", None)
    variable = getattr(umath, "_extobj_contextvar", None)
    make = getattr(umath, "_make_extobj", None)
    if variable is not None and make is not None and read is not None:
        state = ErrorState(variable, make, read)
        PLACE.listening, config._get_extobj_dict = state, state.of_user
