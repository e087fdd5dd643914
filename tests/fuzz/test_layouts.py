"""A sample of the programs of `layouts.py`, and programs that were found wrong."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.fuzz.layouts import LAYOUTS, difference, looped, mode_of, programs

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE = 3_000


@pytest.mark.slow
def test_batches_of_every_layout_are_as_a_loop() -> None:
    chosen = random.Random(20261122).sample(list(programs()), SAMPLE)
    failed = [
        (program, words)
        for number, program in enumerate(chosen)
        if (words := difference(program, mode_of(program, number)))
    ]
    assert not failed, failed[:3]


def written(view: Callable[[Any], Any], make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        y = make(x)
        view(y)[1] = -1.0
        return y

    return run


FOUND: tuple[Callable[[Any], Any], ...] = (
    lambda x: x.T.ravel(order="A"),
    written(lambda y: y.ravel(), lambda x: x.T * 2),
    written(lambda y: y.ravel(order="F"), lambda x: x.copy(order="F")),
    written(lambda y: y.reshape(-1), lambda x: np.gradient(x)[0]),
)


@pytest.mark.parametrize("f", FOUND)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_examples_are_laid_out_as_the_parts_of_the_array(
    f: Callable[[Any], Any], layout: str, axis: int
) -> None:
    batch = LAYOUTS[layout](np.arange(24.0).reshape(2, 3, 4) ** 1.5)
    wanted = looped(lambda example: (f(example),), np.moveaxis(batch, axis, 0))[0]
    np.testing.assert_array_equal(gw.vmap(f, in_axes=axis)(batch), wanted)
    if layout != "repeated":  # `vjp` copies its argument: nothing is repeated in memory any more
        np.testing.assert_array_equal(gw.vjp(gw.vmap(f, in_axes=axis), batch)[0], wanted)


def test_nested_maps_of_an_array_in_fortran_order() -> None:
    batch = np.asfortranarray(np.arange(48.0).reshape(2, 2, 3, 4))
    for f in FOUND:
        wanted = np.stack([np.stack([f(one) for one in row]) for row in batch])
        np.testing.assert_array_equal(gw.vmap(gw.vmap(f))(batch), wanted)


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_no_examples(order: Any) -> None:
    f: Callable[[Any], Any] = lambda x: np.pad(x, 1).reshape(-1, order=order)
    assert gw.vmap(f)(np.zeros((0, 3, 4))).shape == (0, 30)
