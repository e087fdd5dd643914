"""`x[key] += value`: written into the buffer at once, with the gradients of reading and writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import InPlaceError
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.5, -1.0, 2.0, 1.5])
M = np.random.default_rng(0).normal(size=(3, 4))
INNER = np.array([0.0, 1.0, 1.0, 0.0])
NUMPY: Any = np


def scaled(x: Any) -> Any:
    """Return a copy that can be written to."""
    return 1.0 * x


def add_part(x: Any, y: Any) -> Any:
    u = scaled(x)
    u[1:3] += y[:2] * y[1:3]
    return u**2


def subtract_part(x: Any, y: Any) -> Any:
    u = scaled(x)
    for _ in range(3):
        u[1:] -= y[1:] ** 2
    return u**3


def add_row_to_column(x: Any, y: Any) -> Any:
    u = scaled(x)[None, :] * M
    u[:, 1] += y[:3]
    u[2] -= 2.0 * y
    return u**2


def add_number(x: Any, y: Any) -> Any:
    u = scaled(x)
    u[:2] += 2.5
    u[2:] -= y[0]
    return u * y


def add_to_what_repeats(x: Any, y: Any) -> Any:
    u = scaled(x)[None, :] * M
    u[:, 1:] += y[1:]
    return u**2


def add_neighbours(x: Any, y: Any) -> Any:
    u = scaled(x)
    for _ in range(3):
        u[1:-1] += y[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u**2


def add_overlapping(x: Any, y: Any) -> Any:
    u = scaled(x) * y
    u[1:] += u[:-1]
    u[:] += u
    return u**2


def add_what_was_saved(x: Any, y: Any) -> Any:
    u = scaled(x)
    part = u[1:3]
    square = part * part
    part += y[:2]
    return square * part * u[2]


def add_through_names(x: Any, y: Any) -> Any:
    u = scaled(x)
    head, tail = u[:3], u[1:]
    inner = head[1:]
    head += y[:3]
    tail -= y[1:] ** 2
    inner += y[2:]
    return u * u[0] + np.sum(head) * np.sum(tail)


def add_then_overwrite(x: Any, y: Any) -> Any:
    u = scaled(x)
    u[1:3] += y[1:3]
    u[2] = y[0] ** 2
    u[1:3] -= u[0] * y[:2]
    return u**2


def add_to_plain_buffer(x: Any, y: Any) -> Any:
    u = gw.wrap(np.zeros(4)) if isinstance(x, gw.Variable) else np.zeros(4)
    u[:2] += x[:2] ** 2
    u[1:3] -= y[1:3]
    return u**2


def add_to_all(x: Any, y: Any) -> Any:
    u = scaled(x)
    u[...] += y**2
    u[:] -= y
    return u**2


PROGRAMS = [
    add_part,
    subtract_part,
    add_row_to_column,
    add_number,
    add_to_what_repeats,
    add_neighbours,
    add_overlapping,
    add_what_was_saved,
    add_through_names,
    add_then_overwrite,
    add_to_plain_buffer,
    add_to_all,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_two_derivatives_are_right(program: Callable[..., Any]) -> None:
    y = X[::-1] + 0.25
    expected = program(X.copy(), y.copy())
    value, _ = gw.vjp(program, X, y)
    np.testing.assert_allclose(gw.unwrap(value), expected, rtol=1e-12)
    gw.testing.check_grads(program, (X, y), order=2)


@pytest.mark.parametrize("program", PROGRAMS[:-2])
def test_transforms_around_it_agree(program: Callable[..., Any]) -> None:
    y = X[::-1] + 0.25
    forward = gw.jacfwd(program)(X, y)
    np.testing.assert_allclose(gw.jacrev(program)(X, y), forward, atol=1e-12)

    def total(x: Any, y: Any) -> Any:
        return np.sum(program(x, y))

    hessian = gw.jacrev(gw.grad(total))(X, y)
    np.testing.assert_allclose(gw.jacfwd(gw.grad(total))(X, y), hessian, atol=1e-10)
    each = gw.vmap(gw.grad(total), in_axes=(0, None))(np.stack([X, 2 * X]), y)
    np.testing.assert_allclose(each[1], gw.grad(total)(2 * X, y), atol=1e-12)


def test_the_buffer_is_written_to_and_the_part_needs_no_node() -> None:
    u = 1.0 * gw.wrap(X.copy(), requires_grad=True)
    v = gw.wrap(np.ones(2), requires_grad=True)
    before, address = u.grad_fn, u.data.ctypes.data
    u[1:3] += v
    assert u.data.ctypes.data == address
    assert u.grad_fn is not None
    assert u.grad_fn.next_functions[0][0] is before
    (u * u).sum().backward()
    np.testing.assert_array_equal(v.grad, 2 * (X[1:3] + 1))


def test_hooks_of_a_part_still_see_its_gradient() -> None:
    seen: list[Any] = []
    x = gw.wrap(X.copy(), requires_grad=True)
    u = 1.0 * x
    part = u[1:3]
    part.register_hook(lambda g: seen.append(g.copy()))
    part += 1.0
    (u**2).sum().backward()
    assert len(seen) == 1
    np.testing.assert_array_equal(seen[0], 2 * (X[1:3] + 1.0))
    np.testing.assert_array_equal(x.grad, 2 * (X + INNER))


def test_a_retained_gradient_moves_to_the_new_part() -> None:
    u = 1.0 * gw.wrap(X.copy(), requires_grad=True)
    part = u[1:3]
    part.retain_grad()
    part += 1.0
    (3.0 * part).sum().backward()
    np.testing.assert_array_equal(part.grad, [3.0, 3.0])


def test_a_part_that_was_read_under_no_grad_stays_outside_of_the_graph() -> None:
    x = gw.wrap(X.copy(), requires_grad=True)
    v = gw.wrap(np.ones(2), requires_grad=True)
    u = 1.0 * x
    with gw.no_grad():
        part = u[1:3]
    part += v
    (u**2).sum().backward()
    np.testing.assert_array_equal(v.grad, 2 * (X[1:3] + 1.0))
    np.testing.assert_array_equal(x.grad, [2 * X[0], 0.0, 0.0, 2 * X[3]])


def test_under_no_grad_the_values_alone_change() -> None:
    x = gw.wrap(X.copy(), requires_grad=True)
    u = 1.0 * x
    with gw.no_grad():
        u[1:3] += x[:2]
    np.testing.assert_array_equal(u.data, np.array([X[0], X[1] + X[0], X[2] + X[1], X[3]]))
    u.sum().backward()
    np.testing.assert_array_equal(x.grad, np.ones(4))


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes_are_those_of_the_array(dtype: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        u = NUMPY.astype(x, dtype) * 1
        u[1:3] += y[1:3]
        u[:2] -= 2 * y[:2]
        return NUMPY.sum(NUMPY.real(u * u))

    gradients = gw.grad(program, argnums=(0, 1))(X, X + 1)
    assert [g.dtype for g in gradients] == [np.float64, np.float64]
    u = X + INNER * (X + 1) - 2 * np.array([*X[:2] + 1, 0, 0])
    np.testing.assert_allclose(gradients[0], 2 * u, rtol=1e-6)
    np.testing.assert_allclose(gradients[1], 2 * u * [0, 1, 1, 0] - 4 * u * [1, 1, 0, 0], rtol=1e-6)


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    def wider(x: Any) -> Any:
        u = 1.0 * x
        u[1:3] += x[:3]
        return u

    def complex_part(x: Any) -> Any:
        u = 1.0 * x
        with pytest.raises(InPlaceError, match="in place: the result has dtype complex128"):
            u[1:3] += 1j * x[:2]
        return np.sum(u)

    with pytest.raises(ValueError, match="broadcast"):
        gw.grad(fn(lambda x: np.sum(wider(x))))(X)
    np.testing.assert_array_equal(gw.grad(complex_part)(X), np.ones(4))


def test_a_loop_of_updates_costs_a_node_each() -> None:
    def count(steps: int) -> int:
        u = 1.0 * gw.wrap(X.copy(), requires_grad=True)
        for _ in range(steps):
            u[1:3] += 1.0
        found, node = 0, u.grad_fn
        while node is not None and node.next_functions:
            found, node = found + 1, node.next_functions[0][0]
        return found

    assert count(7) - count(2) == 5


def test_formulas_that_replace_those_of_the_operator_are_used() -> None:
    def program(x: Any, y: Any) -> Any:
        u = scaled(x)
        u[1:3] += y[1:3]
        return np.sum(u)

    np.testing.assert_array_equal(gw.grad(program, argnums=1)(X, X), [0, 1, 1, 0])
    gw.defvjp("add", lambda xp, g: g, lambda xp, g: 3.0 * g)
    np.testing.assert_array_equal(gw.grad(program, argnums=1)(X, X), [0, 3, 3, 0])
    gw.defvjp("add", lambda xp, g: 2.0 * g, lambda xp, g, x1: g * x1)
    of_x, of_y = gw.grad(program, argnums=(0, 1))(X, X)
    np.testing.assert_array_equal(of_x, [1, 2, 2, 1])
    np.testing.assert_array_equal(of_y, [0, *X[1:3], 0])
