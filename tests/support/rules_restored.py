"""The table of rules, put back after each test or page that has changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gradwrap.core.library.namespace import rebind
from gradwrap.core.table import registry
from gradwrap.transforms import custom_rules

if TYPE_CHECKING:
    from collections.abc import Generator

FUNCTIONS: dict[Any, Any] = registry._op_of_function  # pyright: ignore[reportPrivateUsage]  # the table
OWN: dict[Any, Any] = {}
"""The library's rules of the operations that a test has given others."""
NEW: list[Any] = []
"""The functions that a test has given their first rule."""


def redefine(op: Any, rules: Any) -> None:
    OWN.setdefault(op, op.rules)
    registry.redefine(op, rules)


def register_function(function: Any, op: Any) -> None:
    if function not in FUNCTIONS:
        NEW.append(function)
    registry.register_function(function, op)


for one in (redefine, register_function):
    setattr(custom_rules, one.__name__, one)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Keep the rules that modules of tests have given when they were imported."""
    NEW.clear()
    OWN.clear()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """Keep the rules that a fixture gives for more than one test."""
    count, known = len(NEW), {*OWN}
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function":
            del NEW[count:]
            for op in OWN.keys() - known:
                del OWN[op]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, Any, Any]:
    """Put the library's own rules back, and forget functions that got their first rule.

    This is no fixture: each test would pay for one.
    """
    try:
        return (yield)
    finally:
        for function in NEW:
            del FUNCTIONS[function]
        NEW.clear()
        for op, rules in OWN.items():
            op.rules = {}
            registry.redefine(op, rules)
            rebind(op)
        OWN.clear()
