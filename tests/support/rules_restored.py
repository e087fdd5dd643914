"""A fixture that puts the table of rules back after a test or a page that has changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gradwrap.core.library.namespace import rebind
from gradwrap.core.table import registry
from gradwrap.transforms import custom_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS: dict[Any, Any] = registry._op_of_function  # pyright: ignore[reportPrivateUsage]  # the table


@pytest.fixture(autouse=True)
def rules_restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the library's own rules back, and forget functions that got their first rule."""
    own: dict[Any, Any] = {}
    new: list[Any] = []

    def redefine(op: Any, rules: Any) -> None:
        own.setdefault(op, op.rules)
        registry.redefine(op, rules)

    def register_function(function: Any, op: Any) -> None:
        if function not in FUNCTIONS:
            new.append(function)
        registry.register_function(function, op)

    monkeypatch.setattr(custom_rules, "redefine", redefine)
    monkeypatch.setattr(custom_rules, "register_function", register_function)
    yield
    for function in new:
        del FUNCTIONS[function]
    for op, rules in own.items():
        op.rules = {}
        registry.redefine(op, rules)
        rebind(op)
