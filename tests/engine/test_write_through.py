"""Writes of forward mode and of batches: values, derivatives, and which buffers are written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.5, -1.0, 2.0, 1.5])
T = np.array([1.0, 0.5, -2.0, 0.25])
BATCH = np.stack([X, X[::-1] + 0.5, 2 * X])


def fill(x: Any) -> Any:
    u = 1.0 * x
    for i in range(1, 4):
        u[i] = u[i - 1] * x[i] + u[i]
    return u


def slices(x: Any) -> Any:
    u = x * x
    u[1:3] = x[2:] * 2.0
    u[:2] += u[2:]
    u[-1] = 3.0
    u[::2] *= x[::2]
    return u


def rows(x: Any) -> Any:
    u = x[:, None] * x
    u[0] = x
    u[:, 1] = x[2]
    u[2, ..., 1:] = 2.0
    u[..., 3] -= u[..., 0]
    return u


def what_was_computed_before_stays(x: Any) -> Any:
    u = 1.0 * x
    same_tangent = u + 1.0
    product = u * u
    alias = np.reshape(u, (2, 2))
    u[0] = x[1] ** 2
    copy = u.copy()
    u[1:] = x[:3]
    return same_tangent * product + np.reshape(alias, (4,)) * copy + u


def what_shares_a_tangent_stays(x: Any) -> Any:
    u = 1.0 * x
    v = u + 2.0
    v[0] = x[3]
    u[1] = x[2] * 5.0
    w = +v
    w[2:] = u[:2]
    return u + v * 2.0 + w * 3.0


def what_has_the_tangent_of_a_part_stays(x: Any) -> Any:
    u = 1.0 * x
    shifted = u[1:] + 2.0
    shifted[0] *= 3.0
    remainder = np.mod(np.transpose(u)[:2], 0.7)
    remainder[1] = x[3]
    positive = +np.reshape(u, (2, 2))[0]
    positive -= positive * x[0]
    u[2] = shifted[1]
    return u * np.sum(shifted) + np.sum(remainder * positive)


def from_overlapping_parts(x: Any) -> Any:
    u = 1.0 * x
    u[1:] = u[:-1]
    u[:2] = u[2:]
    part = u[1:3]
    part[0] = x[0]
    u[3] = part[0] * part[1]
    return u * part[1]


def with_numbers(x: Any) -> Any:
    u = x * 2.0
    u[0] = 1
    u[1:3] = np.array([4.0, 5.0])
    u[3] = np.float64(2.0)
    u[2] = x[0]
    return u * x


def of_another_shape(x: Any) -> Any:
    u = x[:, None] * x
    u[1:3] = x[:1]
    u[:, 2:] = x[:2]
    u[0] = x[:, None][:1, 0]
    return u


PROGRAMS = [
    what_has_the_tangent_of_a_part_stays,
    fill,
    slices,
    rows,
    what_was_computed_before_stays,
    what_shares_a_tangent_stays,
    from_overlapping_parts,
    with_numbers,
    of_another_shape,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_forward_mode_agrees_with_differences_and_reverse_mode(
    program: Callable[[Any], Any],
) -> None:
    value, pushed = gw.jvp(program, (X,), (T,))
    np.testing.assert_allclose(value, program(X.copy()), rtol=1e-13)
    step = 1e-6
    slope = (program(X + step * T) - program(X - step * T)) / (2 * step)
    np.testing.assert_allclose(pushed, slope, rtol=1e-7, atol=1e-7)
    jacobian = gw.jacrev(program)(X)
    np.testing.assert_allclose(gw.jacfwd(program)(X), jacobian, atol=1e-12)
    second = gw.jacrev(gw.jacrev(program))(X)
    np.testing.assert_allclose(gw.jacfwd(gw.jacfwd(program))(X), second, atol=1e-11)
    np.testing.assert_allclose(gw.jacfwd(gw.jacrev(program))(X), second, atol=1e-11)


@pytest.mark.parametrize("program", PROGRAMS)
def test_batches_agree_with_a_loop(program: Callable[[Any], Any]) -> None:
    expected = np.stack([program(x.copy()) for x in BATCH])
    np.testing.assert_allclose(gw.vmap(program)(BATCH), expected, rtol=1e-13)

    def slope(x: Any) -> Any:
        return gw.jvp(program, (x,), (T,))[1]

    each = np.stack([slope(x) for x in BATCH])
    np.testing.assert_allclose(gw.vmap(slope)(BATCH), each, rtol=1e-12, atol=1e-12)
    jacobians = gw.vmap(gw.jacfwd(program))(BATCH)
    np.testing.assert_allclose(
        jacobians, np.stack([gw.jacrev(program)(x) for x in BATCH]), atol=1e-12
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_the_caller_holds_is_not_written_to(program: Callable[[Any], Any]) -> None:
    def onto_argument(x: Any) -> Any:
        x[1:3] = x[:2] * 2.0
        return program(x)

    x, t, batch = X.copy(), T.copy(), BATCH.copy()
    gw.jvp(onto_argument, (x,), (t,))
    gw.jacfwd(onto_argument)(x)
    gw.vmap(onto_argument)(batch)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(t, T)
    np.testing.assert_array_equal(batch, BATCH)


def tangent(f: Any) -> Any:
    return gw.jvp(f, (X,), (T,))


def columns(f: Any) -> Any:
    return gw.jacfwd(f)(X)


def examples(f: Any) -> Any:
    return gw.vmap(f)(BATCH)


def addresses(u: Any) -> tuple[int, ...]:
    """Return the addresses of a wrapper's array, and of its tangent's."""
    found = [u._value.ctypes.data]
    tangent = getattr(u._node, "value", None)
    while tangent is not None and not isinstance(tangent, np.ndarray):
        tangent = tangent._value
    return (*found, *([] if tangent is None else [tangent.ctypes.data]))


@pytest.mark.parametrize("transform", [tangent, columns, examples])
def test_from_the_second_write_on_the_buffers_stay(transform: Callable[[Any], Any]) -> None:
    seen: list[tuple[int, ...]] = []

    def program(x: Any) -> Any:
        u = x * x
        u[0] = x[1]
        for i in range(4):
            u[i] = x[i] * 2.0
            seen.append(addresses(u))
            u[1:3] += u[:2]
            seen.append(addresses(u))
        return u

    transform(program)
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_a_number_written_to_an_array_has_no_tangent() -> None:
    def program(x: Any) -> Any:
        u = 1.0 * x
        u[1:3] = 2.0
        u[0] = np.array(5.0)
        return u

    value, pushed = gw.jvp(program, (X,), (T,))
    np.testing.assert_array_equal(value, [5.0, 2.0, 2.0, X[3]])
    np.testing.assert_array_equal(pushed, [0.0, 0.0, 0.0, T[3]])


def test_dtypes_that_differ_are_converted_as_before() -> None:
    def narrow(x: Any) -> Any:
        u = x * x
        u[1:3] = x[:2].astype(np.float32)
        return u

    value, pushed = gw.jvp(narrow, (X,), (T,))
    np.testing.assert_allclose(value, [X[0] ** 2, X[0], X[1], X[3] ** 2])
    np.testing.assert_allclose(pushed, [2 * X[0] * T[0], T[0], T[1], 2 * X[3] * T[3]])
    assert value.dtype == pushed.dtype == np.float64


@pytest.mark.parametrize("transform", [tangent, columns, examples])
def test_what_does_not_fit_is_refused_as_before(transform: Callable[[Any], Any]) -> None:
    def program(x: Any) -> Any:
        u = 1.0 * x
        u[1:3] = x[:3]
        return u

    with pytest.raises(ValueError, match="broadcast"):
        transform(program)
