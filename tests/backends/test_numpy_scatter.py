"""Adding at indices that repeat gives what `np.add.at` gives, whichever way it is done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwrap.backends.numpy.scatter import add_at

RNG = np.random.default_rng(0)
FEW = np.array([0, -1, 2])
MANY = RNG.integers(-4, 4, 50)
KEYS: dict[str, tuple[tuple[int, ...], Any]] = {
    "vector": ((4,), MANY),
    "list": ((4,), [1, 1, -1, 1]),
    "rows": ((4, 3), MANY),
    "columns": ((5, 4), (slice(None), MANY)),
    "middle": ((2, 4, 3), (slice(None), MANY)),
    "indices in two axes": ((4, 3), (MANY.reshape(5, 10),)),
    "pairs": ((4, 4), (MANY, MANY[::-1])),
    "broadcast pairs": ((4, 4, 2), (MANY[:, None], FEW)),
    "unsigned": ((9,), np.array([3, 3, 8, 3], np.uint8)),
    "unsigned rows": ((9, 40), np.array([3, 3, 8, 3], np.uint8)),
    "short rows": ((5, 40), np.array([-1, 3, -5, 3], np.int8)),
    "few of many": ((1000,), FEW),
    "few rows": ((1000, 2), FEW),
    "none": ((4, 3), np.array([], int)),
    "empty rows": ((4, 0), MANY),
    "with a slice": ((4, 5), (MANY, slice(1, 3))),
    "with an integer": ((4, 5), (MANY, 2)),
    "with a new axis": ((4, 5), (None, MANY)),
    "with a mask": ((4, 4), (FEW, np.array([True, True, False, True]))),
}


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, np.complex128, np.longdouble]
)
@pytest.mark.parametrize("name", KEYS)
def test_add_at_adds_as_often_as_a_key_names_an_element(name: str, dtype: Any) -> None:
    shape, key = KEYS[name]
    start = RNG.integers(-8, 8, shape).astype(dtype)  # whose sums are exact
    values = RNG.integers(-8, 8, start[key].shape).astype(dtype)
    expected, found = start.copy(), start.copy()
    np.add.at(expected, key, values)
    add_at(found, key, values)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


def test_add_at_repeats_values_that_are_fewer_than_the_places() -> None:
    found = np.zeros((3, 2))
    add_at(found, np.array([0, 0, 2]), np.array([1.0, 10.0]))
    assert found.tolist() == [[2.0, 20.0], [0.0, 0.0], [1.0, 10.0]]


def test_add_at_writes_to_a_buffer_in_any_memory_order() -> None:
    found = np.zeros((4, 3)).T
    add_at(found, (slice(None), MANY), np.ones((3, 50)))
    assert found.tolist() == [np.bincount(MANY % 4, minlength=4).tolist()] * 3


def test_many_numbers_in_one_place_are_added_up_as_doubles() -> None:
    found = np.zeros(2, np.float32)
    add_at(found, np.array([0, -1] * 100_000), np.full(200_000, 0.1, np.float32))
    np.testing.assert_allclose(found, 100_000 * np.float32(0.1), rtol=1e-7)
