"""The calls that the generator writes: the text of a few, and which operations have one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.array.batched import Batched
from gradwrap.core.array.variable import Variable
from gradwrap.core.array.writing.write_call import Write
from gradwrap.core.calls.batch import Batches
from gradwrap.core.calls.call import WORDS
from gradwrap.core.calls.forward import Dual, Forward
from gradwrap.core.calls.record import Tape
from gradwrap.core.library.backend import wrapper_class
from gradwrap.core.table.registry import find_op, ops

if TYPE_CHECKING:
    from gradwrap.core.calls.call import Call

VARIABLE: Any = type(gw.wrap(np.ones(1)))
LEVELS: dict[str, tuple[Any, type[Call]]] = {
    "tape": (Variable, Tape),
    "forward": (Dual, Forward),
    "batch": (Batched, Batches),
}
WRITERS = LEVELS | {"write": (Variable, Write)}
"""Those of the texts that are shown: `setitem` has a second one, for writes into the buffer."""
GOLDEN = dict(
    re.findall(
        r"# (\w+: \w+)\n(.*?)(?=\n\n# |\n$)",
        Path(__file__).with_name("generated_calls.txt").read_text(encoding="utf-8"),
        re.DOTALL,
    )
)


def written(level: str, name: str, *, nested: bool = False) -> Call:
    """The writer of an operation's call on NumPy arrays, or on variables that hold them."""
    kind, writer = WRITERS[level]
    cls: Any = wrapper_class(kind, VARIABLE._backend)
    if nested:
        cls = cls._class_holding(VARIABLE)
    op: Any = find_op(name)
    return writer(cls._bind(op), lambda *_: None)


@pytest.mark.parametrize("case", GOLDEN)
def test_the_text_is_as_it_was_read(case: str) -> None:
    """The text is what runs for each operation: a change to it is a change to be seen."""
    level, name = case.split(": ")
    assert written(level, name).text() == GOLDEN[case]


NAMES = [op.name for op in ops() if op.rule_for("numpy") is not None]
SEVERAL = {
    op.name for op in ops() if (r := op.rule_for("numpy")) and r.outputs > 1 and not r.is_joint
}
"""Rows of several outputs with a formula for each argument: the general call records them."""
GENERAL: dict[str, set[str]] = {
    "tape": SEVERAL,
    "forward": {"einsum"},  # its tangent is its VJP, transposed
    "batch": {"isin", "nonzero", "searchsorted", "unique_all"},  # the shape depends on values
}


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_every_operation_of_the_table_has_a_call_at_every_level(level: str, nested: bool) -> None:
    without = {name for name in NAMES if written(level, name, nested=nested).function() is None}
    assert without == GENERAL[level]


@pytest.mark.parametrize("name", NAMES)
def test_no_parameter_of_a_row_is_a_word_of_the_text(name: str) -> None:
    op: Any = find_op(name)
    assert WORDS.isdisjoint(op.rule_for("numpy").parameters)


def test_a_parameter_that_is_a_word_of_the_text_does_no_harm() -> None:
    """Such an operation takes the general call, in every mode."""

    @gw.primitive
    def scaled(x: Any, level: float, meta: float = 2.0, type: float = 1.0) -> Any:
        return x * level * meta * type

    gw.defvjp(scaled, lambda xp, g, level, meta, type: g * (level * meta * type))
    x = np.array([1.0, 2.0])

    def total(x: Any) -> Any:
        return np.sum(scaled(x, 3.0, type=5.0) ** 2)

    np.testing.assert_allclose(gw.grad(total)(x), 2 * 30.0**2 * x)
    _, pushed = gw.jvp(total, (x,), (np.ones(2),))
    np.testing.assert_allclose(pushed, 2 * 30.0**2 * x.sum())
    np.testing.assert_allclose(gw.hessian(total)(x), 2 * 30.0**2 * np.eye(2))
    gw.defjvp(scaled, lambda xp, t, level, meta, type: t * (level * meta * type))
    _, pushed = gw.jvp(total, (x,), (np.ones(2),))
    np.testing.assert_allclose(pushed, 2 * 30.0**2 * x.sum())
