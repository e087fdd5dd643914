"""Indexing under `vmap`: any key, mapped over or not, against a loop."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

import gradwrap
from lambdas import fn

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
SHAPE = (3, 2, 4)
SIZE = 3
DATA = np.random.default_rng(0).normal(size=(SIZE, *SHAPE))


@st.composite
def parts(draw: Any, length: int) -> Any:
    """One part of a key, and whether vmap maps over it."""
    kinds = ["int", "slice", "array", "mapped", "mapped", "list", "tuple", "range"]
    kind = draw(st.sampled_from(kinds))
    if kind == "int":
        return draw(st.integers(-length, length - 1)), False
    if kind == "slice":
        bound = st.one_of(st.none(), st.integers(-length - 1, length + 1))
        step = draw(st.sampled_from([None, 1, 2, -1]))
        return slice(draw(bound), draw(bound), step), False
    if kind == "range":
        return range(draw(st.integers(-length, 0)), length), False
    shape: tuple[int, ...] = draw(
        st.sampled_from([(2,), (1,), (2, 1), (3, 2)] + [()] * (kind == "mapped"))
    )
    seed = draw(st.integers(0, 99))
    random = np.random.default_rng(seed)
    if kind == "mapped":
        return random.integers(-length, length, size=(SIZE, *shape)), True
    indices = random.integers(-length, length, size=shape)
    if kind == "tuple":
        return tuple(indices.tolist()), False
    return (indices.tolist() if kind == "list" else indices), False


@st.composite
def keys(draw: Any) -> Any:
    """A key of an array of `SHAPE`, as a function of the example's number; and its arrays."""
    count = draw(st.integers(0, 3))
    chosen = [draw(parts(length)) for length in SHAPE[:count]]
    if count and draw(st.booleans()):  # the last ones behind an ellipsis
        split = draw(st.integers(0, count - 1))
        tail = [draw(parts(length)) for length in SHAPE[3 - (count - split) :]]
        chosen = [*chosen[:split], (Ellipsis, False), *tail]
    for _ in range(draw(st.integers(0, 2))):
        chosen.insert(draw(st.integers(0, len(chosen))), (None, False))
    return chosen


def key_of(chosen: list[Any], arrays: list[Any]) -> Any:
    given_arrays = iter(arrays)
    return tuple(next(given_arrays) if mapped else part for part, mapped in chosen)


def mapped_arrays(chosen: list[Any]) -> list[Any]:
    return [part for part, mapped in chosen if mapped]


def key_of_example(chosen: list[Any], i: int) -> Any:
    return key_of(chosen, [array[i] for array in mapped_arrays(chosen)])


def is_valid(chosen: list[Any]) -> bool:
    try:
        DATA[0][key_of_example(chosen, 0)]
    except IndexError:
        return False
    return True


@pytest.mark.slow
@settings(max_examples=400, deadline=None, derandomize=True)
@given(keys(), st.booleans())
def test_reading_gives_what_a_loop_gives(chosen: list[Any], shared: bool) -> None:
    assume(is_valid(chosen))
    arrays = mapped_arrays(chosen)
    assume(arrays or not shared)
    data = DATA[0] if shared else DATA

    def read(x: Any, *indices: Any) -> Any:
        return gw.stop_gradient(x)[key_of(chosen, list(indices))] * 1.0

    axes = (None if shared else 0, *(0 for _ in arrays))
    found = gw.vmap(read, axes, fallback="error")(data, *arrays)
    wanted = [(data if shared else data[i])[key_of_example(chosen, i)] for i in range(SIZE)]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
@settings(max_examples=250, deadline=None, derandomize=True)
@given(keys())
def test_gradient_of_reading_gives_what_a_loop_gives(chosen: list[Any]) -> None:
    assume(is_valid(chosen))
    arrays = mapped_arrays(chosen)

    def loss(x: Any, *indices: Any) -> Any:
        part = x[key_of(chosen, list(indices))]
        weights = np.reshape(np.arange(1.0, part.size + 1), part.shape)
        return np.sum(part**2 * weights)

    def pushed(x: Any, *indices: Any) -> Any:
        return gw.jvp(fn(lambda y: loss(y, *indices)), (x,), (x,))[1]

    mapped = gw.vmap(gw.grad(loss), fallback="error")(DATA, *arrays)
    outside = gw.grad(fn(lambda x: np.sum(gw.vmap(loss, fallback="error")(x, *arrays))))(DATA)
    forward = gw.vmap(pushed)(DATA, *arrays)
    for i in range(SIZE):
        wanted = gw.grad(loss)(DATA[i], *(array[i] for array in arrays))
        np.testing.assert_allclose(mapped[i], wanted, rtol=1e-12)
        np.testing.assert_allclose(outside[i], wanted, rtol=1e-12)
        np.testing.assert_allclose(forward[i], np.sum(wanted * DATA[i]), rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@settings(max_examples=250, deadline=None, derandomize=True)
@given(keys(), st.sampled_from(["full", "scalar", "short", "mapped scalar"]), st.booleans())
def test_writing_gives_what_a_loop_gives(chosen: list[Any], kind: str, shared: bool) -> None:
    assume(is_valid(chosen))
    arrays = mapped_arrays(chosen)
    shape = DATA[0][key_of_example(chosen, 0)].shape
    if kind == "short":
        assume(shape)
        shape = shape[1:]
    values: Any = np.random.default_rng(1).normal(size=(SIZE, *shape))
    if "scalar" in kind:
        values = values.reshape(SIZE, -1)[:, :1].reshape(-1)
        assume(values.size == SIZE)
    in_axes = (None if shared else 0, None if kind == "scalar" else 0, *(0 for _ in arrays))
    if kind == "scalar":
        values = values[0]
    assume(any(axis == 0 for axis in in_axes))

    def write(x: Any, value: Any, *indices: Any) -> Any:
        y = x.copy()
        y[key_of(chosen, list(indices))] = value
        return y

    data = DATA[0] if shared else DATA
    found = gw.vmap(write, in_axes, fallback="error")(data, values, *arrays)
    one = [
        [
            a if axis is None else a[i]
            for a, axis in zip((data, values, *arrays), in_axes, strict=True)
        ]
        for i in range(SIZE)
    ]
    np.testing.assert_array_equal(found, [write(*arguments) for arguments in one])

    def loss(x: Any, value: Any, *indices: Any) -> Any:
        return np.sum(write(x, value * 2.0, *indices) ** 3)

    gradients = gw.vmap(gw.grad(loss, (0, 1)), in_axes, fallback="error")(data, values, *arrays)
    for i in range(SIZE):
        wanted = gw.grad(loss, (0, 1))(*one[i])
        np.testing.assert_allclose(gradients[0][i], wanted[0], rtol=1e-12)
        np.testing.assert_allclose(gradients[1][i], wanted[1], rtol=1e-12)


def test_indices_may_be_mapped_by_two_transforms() -> None:
    x, rows, columns = DATA[0, :, 0], np.array([2, 0]), np.array([1, 3, -1])
    found = gw.vmap(fn(lambda i: gw.vmap(fn(lambda j: gw.wrap(x)[i, j]))(columns)))(rows)
    np.testing.assert_array_equal(found, x[np.ix_(rows, columns)])

    def loss(x: Any) -> Any:
        return np.sum(gw.vmap(fn(lambda i: gw.vmap(fn(lambda j: x[i, j] ** 2))(columns)))(rows))

    wanted = np.zeros_like(x)
    np.add.at(wanted, np.ix_(rows, columns), 2 * x[np.ix_(rows, columns)])
    np.testing.assert_allclose(gw.grad(loss)(x), wanted)
    np.testing.assert_allclose(gw.jacfwd(loss)(x), wanted)


def test_writes_at_mapped_places_in_nested_vmap() -> None:
    def one(i: Any, value: Any) -> Any:
        out = gw.wrap(np.zeros(4))
        out[i] = value
        return out

    places, values = np.array([[0, 1], [3, 3]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    found = gw.vmap(gw.vmap(one))(places, values)
    np.testing.assert_array_equal(found, np.eye(4)[places] * values[..., None])
    gradient = gw.grad(fn(lambda v: np.sum(gw.vmap(gw.vmap(one))(places, v) ** 2)))(values)
    np.testing.assert_allclose(gradient, 2 * values)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_take_along_mapped_indices(axis: int | None) -> None:
    x, indices = DATA[:, :, 0], np.array([[1, 0], [2, 2], [0, -1]])
    found = gw.vmap(fn(lambda a, i: np.take(a, i, axis=axis)), fallback="error")(x, indices)
    wanted = [np.take(a, i, axis=axis) for a, i in zip(x, indices, strict=True)]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("axis", [0, -1])
def test_take_along_axis_by_mapped_order(axis: int) -> None:
    def sort(a: Any) -> Any:
        return np.take_along_axis(a, np.argsort(a, axis=axis), axis=axis)

    x = DATA[:, :, 0]
    found = gw.vmap(sort, fallback="error")(x)
    np.testing.assert_array_equal(found, np.sort(x, axis=axis if axis < 0 else 1))
    gradient = gw.vmap(gw.grad(fn(lambda a: np.sum(sort(a) ** 3))), fallback="error")(x)
    np.testing.assert_allclose(gradient, 3 * x**2)


@pytest.mark.parametrize("key", [(range(3), [1, 0, 1]), ((0, 1), (1, 0)), ((2, 0), slice(1))])
def test_a_jacobian_through_sequences_as_indices(key: Any) -> None:
    """The cotangents of a Jacobian are written under `vmap` at the key that was read."""

    def program(x: Any) -> Any:
        return x[key] ** 2

    x = DATA[0]
    jacobian = gw.jacrev(program)(x)
    np.testing.assert_allclose(jacobian, gw.jacfwd(program)(x))
    units = np.eye(x.size).reshape(x.size, *x.shape)
    columns = np.stack([2.0 * x[key] * unit[key] for unit in units], axis=-1)
    np.testing.assert_allclose(jacobian, columns.reshape(jacobian.shape))


def _row_of_argument(i: Any, x: Any, a: Any) -> Any:
    row = a[i]
    row += x
    return a.sum() * x


def _row_of_a_local_array(i: Any, x: Any, a: Any) -> Any:
    twice = 2.0 * a
    part = twice.T[:, i][1:]
    part[:] = x
    return twice.sum() * x


def _two_rows(i: Any, x: Any, a: Any) -> Any:
    row, same = a[i], a[i]
    row[0] = x
    a *= 2.0
    return same.sum() * a.sum()


def _new_axis(i: Any, x: Any, a: Any) -> Any:
    copied = a[np.array([0, 1])]
    copied[0] = x
    row = a[i, None]
    row[:] = x
    return (a * np.arange(6.0).reshape(3, 2)).sum() * copied.sum()


@pytest.mark.parametrize("f", [_row_of_argument, _row_of_a_local_array, _two_rows, _new_axis])
def test_a_part_at_a_mapped_index_of_an_array_that_is_not_mapped_is_a_view(f: Any) -> None:
    i, x, a = np.arange(3), np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2)
    one = [f(int(j), v, a.copy()) for j, v in zip(i, x, strict=True)]
    np.testing.assert_allclose(gw.vmap(f, (0, 0, None))(i, x, a), one)
    slopes = [gw.grad(f, (1, 2))(int(j), v, a) for j, v in zip(i, x, strict=True)]
    found = gw.vmap(gw.grad(f, (1, 2)), (0, 0, None))(i, x, a)
    np.testing.assert_allclose(found[0], [slope for slope, _ in slopes])
    np.testing.assert_allclose(found[1], [slope for _, slope in slopes])

    def summed(x: Any, a: Any) -> Any:
        return gw.vmap(f, (0, 0, None))(i, x, a).sum()

    whole = gw.grad(summed, (0, 1))(x, a)
    np.testing.assert_allclose(whole[0], found[0])
    np.testing.assert_allclose(whole[1], found[1].sum(axis=0))
    np.testing.assert_array_equal(a, np.arange(6.0).reshape(3, 2))
