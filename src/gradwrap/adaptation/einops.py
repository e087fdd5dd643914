"""einops asks the subclasses of its own backend: one for variables."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradwrap.core.levels.wrapper import AnyWrapper

_entered: list[Any] = []


def enter_einops(_module: Any) -> None:
    """Let einops find its NumPy backend for variables, which take NumPy's functions."""
    numpys: Any = import_module("einops._backends").NumpyBackend

    class VariableBackend(numpys):  # type: ignore[misc]  # a class of einops'
        framework_name = "gradwrap"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, AnyWrapper)

    _entered.append(VariableBackend)  # einops finds it among the subclasses that are alive
