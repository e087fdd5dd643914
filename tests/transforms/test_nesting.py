"""Transforms inside transforms: in any order, over closures, with the tape, and switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    Derivative = Callable[[Callable[[Any], Any], Any], Any]

X = np.array([0.3, 1.2, 2.0])
ROWS = np.array([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]])
ONE = np.ones(3)


def cubes(x: Any) -> Any:
    return np.sum(x**3)


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return gw.grad(f)


def slope_by_jvp(f: Any, x: Any) -> Any:
    return gw.jvp(f, (x,), (np.ones_like(x),))[1]


def slope_by_vjp(f: Any, x: Any) -> Any:
    out, pull = gw.vjp(f, x)
    return pull(np.ones_like(out))[0]


def slope_by_linearize(f: Any, x: Any) -> Any:
    return gw.linearize(f, x)[1](np.ones_like(x))


DERIVATIVES: dict[str, Derivative] = {
    "grad": lambda f, x: gw.grad(f)(x),
    "value_and_grad": lambda f, x: gw.value_and_grad(f)(x)[1],
    "jvp": slope_by_jvp,
    "vjp": slope_by_vjp,
    "linearize": slope_by_linearize,
    "jacrev": lambda f, x: gw.jacrev(f)(x),
    "jacfwd": lambda f, x: gw.jacfwd(f)(x),
    "jacobian": lambda f, x: gw.jacobian(f)(x),
    "elementwise_grad": lambda f, x: gw.elementwise_grad(f)(x),
}
each = pytest.mark.parametrize("outer", DERIVATIVES.values(), ids=DERIVATIVES)
other = pytest.mark.parametrize("inner", DERIVATIVES.values(), ids=DERIVATIVES)


@each
@other
def test_second_derivative_is_right_by_every_pair(outer: Derivative, inner: Derivative) -> None:
    found = outer(lambda x: inner(lambda y: y**3 * np.sin(y), x), np.float64(0.7))
    wanted = 6 * 0.7 * np.sin(0.7) + 6 * 0.7**2 * np.cos(0.7) - 0.7**3 * np.sin(0.7)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@each
@other
def test_inner_derivative_does_not_see_the_outer_variable(
    outer: Derivative, inner: Derivative
) -> None:
    """The confusion of perturbations: x * d(x y)/dy is x**2, whose derivative at 2 is 4."""
    assert outer(lambda x: x * inner(lambda y: x * y, np.float64(1.0)), np.float64(2.0)) == 4.0


@each
@other
def test_inner_derivative_at_the_outer_variable_keeps_the_levels_apart(
    outer: Derivative, inner: Derivative
) -> None:
    """d/dx of x * (d/dy of x y**2 at y = x) = d/dx 2 x**3."""
    found = outer(lambda x: x * inner(lambda y: x * y * y, x), np.float64(3.0))
    assert found == 54.0


@each
@other
def test_both_derivatives_are_right_under_vmap(outer: Derivative, inner: Derivative) -> None:
    def function(x: Any) -> Any:
        return outer(lambda z: z * inner(lambda y: z * y**2, z), x)

    np.testing.assert_allclose(gw.vmap(function)(X), 6 * X**2, rtol=1e-12)


@each
@other
def test_vmap_between_two_derivatives_is_right(outer: Derivative, inner: Derivative) -> None:
    def function(z: Any) -> Any:
        return np.sum(gw.vmap(fn(lambda row: inner(lambda y: np.sin(y * z) * row, z)))(X))

    found = outer(function, np.float64(0.4))
    z = 0.4**2
    wanted = np.sum(X) * (np.cos(z) - 2 * z * np.sin(z))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@each
def test_vmap_inside_a_derivative_does_not_see_its_variable(outer: Derivative) -> None:
    found = outer(lambda x: x * np.sum(gw.vmap(fn(lambda y: x * y))(X)), np.float64(2.0))
    np.testing.assert_allclose(found, 4 * np.sum(X), rtol=1e-12)


@each
def test_derivative_of_a_mapped_derivative_over_rows(outer: Derivative) -> None:
    found = outer(lambda s: np.sum(gw.vmap(gw.grad(cubes))(s * ROWS)), np.float64(2.0))
    np.testing.assert_allclose(found, 12 * np.sum(ROWS**2), rtol=1e-12)


@pytest.mark.parametrize(
    "hessian",
    rows(
        [
            gw.hessian,
            lambda f: gw.jacrev(gw.jacrev(f)),
            lambda f: gw.jacrev(gw.jacfwd(f)),
            lambda f: gw.jacfwd(gw.jacrev(f)),
            lambda f: gw.jacfwd(gw.jacfwd(f)),
            lambda f: gw.jacfwd(slope(f)),
            lambda f: gw.jacrev(slope(f)),
            lambda f: gw.jacobian(slope(f)),
            lambda f: fn(lambda x: gw.vmap(fn(lambda v: gw.hvp(f, x, v)))(np.eye(3))),
            lambda f: fn(lambda x: gw.vmap(gw.linearize(slope(f), x)[1])(np.eye(3))),
            lambda f: fn(lambda x: gw.vmap(gw.vjp(slope(f), x)[1])(np.eye(3))[0]),
        ]
    ),
)
def test_hessian_is_the_same_by_every_composition(hessian: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(x) ** 3 + cubes(x)

    wanted = 6 * np.sum(X) * np.ones((3, 3)) + np.diag(6 * X)
    np.testing.assert_allclose(hessian(f)(X), wanted, rtol=1e-12)
    mapped = gw.vmap(hessian(f))(np.stack([X, X]))
    np.testing.assert_allclose(mapped, np.stack([wanted, wanted]), rtol=1e-12)


def test_vmap_of_jvp_of_grad_gives_hessian_products_of_each_row() -> None:
    found = gw.vmap(fn(lambda x: gw.jvp(gw.grad(cubes), (x,), (ONE,))[1]))(ROWS)
    np.testing.assert_allclose(found, 6 * ROWS)


def test_third_derivative_is_right_by_three_modes() -> None:
    def first(x: Any) -> Any:
        return gw.jvp(lambda y: y**4, (x,), (1.0,))[1]

    assert gw.grad(gw.jacfwd(first))(2.0) == 48.0
    assert gw.jvp(gw.grad(first), (2.0,), (1.0,))[1] == 48.0
    np.testing.assert_allclose(gw.vmap(gw.grad(gw.grad(first)))(X), 24 * X)


def test_vmap_inside_vmap_reads_the_outer_example() -> None:
    found = gw.vmap(fn(lambda x: gw.vmap(fn(lambda y: x * y))(X)))(X)
    np.testing.assert_allclose(found, np.outer(X, X))
    found = gw.vmap(fn(lambda row: gw.vmap(fn(lambda y, s: row * y + s))(row, row)))(ROWS)
    wanted = [np.outer(row, row) + row[:, None] for row in ROWS]
    np.testing.assert_allclose(found, wanted)


def test_no_wrapper_of_an_inner_transform_is_left_around_a_result() -> None:
    weights = np.ones((2, 3))
    for jac in (gw.jacrev, gw.jacfwd, gw.jacobian):

        def product(row: Any, jac: Any = jac) -> Any:
            return weights @ jac(np.square)(row)[:, 0]

        def total(x: Any, jac: Any = jac) -> Any:
            return np.sum(jac(np.square)(x), axis=0)

        assert type(gw.vmap(product)(ROWS)) is np.ndarray
        found = jac(total)(X)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, 2 * np.eye(3))


def test_value_kept_by_an_inner_transform_is_seen_by_the_outer_one() -> None:
    def function(x: Any) -> Any:
        kept: list[Any] = []

        def inner(y: Any) -> Any:
            kept.append(x * y)
            return x * y

        gw.jvp(inner, (x,), (np.ones_like(x),))
        return kept[0]

    assert gw.grad(function)(np.float64(2.0)) == 4.0
    np.testing.assert_allclose(gw.vmap(function)(X), X**2)


def test_array_filled_by_inner_transforms_is_differentiated_by_the_outer_one() -> None:
    def function(x: Any) -> Any:
        out = gw.wrap(np.zeros(3))
        for i in range(3):
            out[i] = gw.grad(lambda y: y**2 * x[0])(x[i])
        return np.sum(out)

    wanted = np.array([2 * X.sum() + 2 * X[0], 2 * X[0], 2 * X[0]])
    np.testing.assert_allclose(gw.grad(function)(X), wanted)
    np.testing.assert_allclose(gw.jacfwd(function)(X), wanted)
    np.testing.assert_allclose(gw.vmap(gw.grad(function))(np.stack([X, X])), [wanted, wanted])


# The tape -----------------------------------------------------------------------------------------


def leaf(value: Any = X) -> Any:
    return gw.wrap(np.array(value), requires_grad=True)


@pytest.mark.parametrize("inner", DERIVATIVES.values(), ids=DERIVATIVES)
def test_tape_outside_records_what_a_transform_inside_computes(inner: Derivative) -> None:
    x = leaf(2.0)
    y = x * inner(lambda y: x * y, np.float64(1.0))
    y.backward()
    assert x.grad == 4.0


def test_tape_outside_records_arguments_of_every_transform() -> None:
    def gradient(function: Callable[[Any], Any]) -> Any:
        x = leaf()
        function(x).sum().backward()
        return x.grad

    np.testing.assert_allclose(gradient(lambda x: gw.jvp(np.sin, (x,), (ONE,))[1]), -np.sin(X))
    np.testing.assert_allclose(gradient(lambda x: gw.jvp(np.sin, (X,), (x,))[1]), np.cos(X))
    np.testing.assert_allclose(gradient(lambda x: gw.linearize(np.sin, X)[1](x)), np.cos(X))
    np.testing.assert_allclose(gradient(lambda x: gw.vjp(np.sin, X)[1](x)[0]), np.cos(X))
    np.testing.assert_allclose(
        gradient(lambda x: gw.vmap(fn(lambda a: a * a * x[0]))(x)).sum(),
        (2 * X[0] * X.sum() + np.sum(X**2)),
    )
    np.testing.assert_allclose(gradient(gw.hessian(cubes)), 6 * ONE)
    np.testing.assert_allclose(gradient(gw.jacrev(np.square)), 2 * ONE)
    np.testing.assert_allclose(gradient(gw.jacfwd(np.square)), 2 * ONE)


def with_own_tape(x: Any) -> Any:
    parameter = leaf(3.0)
    (parameter * parameter).backward()
    return x * parameter.grad


def test_tape_inside_a_transform_works_on_what_is_its_own() -> None:
    assert gw.grad(with_own_tape)(2.0) == 6.0
    assert gw.jvp(with_own_tape, (2.0,), (1.0,))[1] == 6.0
    np.testing.assert_allclose(gw.vmap(with_own_tape)(X), 6 * X)


@pytest.mark.parametrize(
    "run",
    rows(
        [
            lambda f: gw.grad(f)(2.0),
            lambda f: gw.jvp(f, (2.0,), (1.0,)),
            lambda f: gw.vmap(f)(X),
        ]
    ),
)
def test_backward_inside_a_transform_of_its_variable_is_an_error(run: Any) -> None:
    def function(x: Any) -> Any:
        parameter = leaf(3.0)
        (parameter * parameter * x).backward()
        return parameter.grad

    with pytest.raises(gw.errors.BackwardError, match="the tape lies outside of every transform"):
        run(function)


# Switched off -------------------------------------------------------------------------------------


def without_grad(x: Any) -> Any:
    with gw.no_grad():
        factor = x * x
    return factor * x


def stopped(x: Any) -> Any:
    return gw.stop_gradient(x * x) * x


def detached(x: Any) -> Any:
    return (x * x).detach() * x


@pytest.mark.parametrize("function", [without_grad, stopped, detached])
def test_constant_part_has_no_derivative_in_any_transform(function: Any) -> None:
    for derivative in DERIVATIVES.values():
        assert derivative(function, np.float64(2.0)) == 4.0
    np.testing.assert_allclose(gw.vmap(function)(X), X**3)
    np.testing.assert_allclose(gw.vmap(gw.grad(function))(X), X**2)
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(gw.vmap(function)(x)))(X), X**2)
    np.testing.assert_allclose(gw.jacrev(function)(X), np.diag(X**2))
    np.testing.assert_allclose(gw.jacfwd(function)(X), np.diag(X**2))
    np.testing.assert_allclose(gw.vmap(gw.jacfwd(function))(ROWS), [np.diag(r**2) for r in ROWS])


@pytest.mark.parametrize("function", [without_grad, stopped, detached])
@each
def test_constant_part_stays_constant_at_second_order(function: Any, outer: Derivative) -> None:
    for inner in DERIVATIVES.values():

        def slope_inside(x: Any, inner: Derivative = inner) -> Any:
            return inner(function, x)

        assert outer(slope_inside, np.float64(2.0)) == 0.0
    np.testing.assert_array_equal(gw.hessian(lambda x: np.sum(function(x)))(X), np.zeros((3, 3)))


def test_transforms_inside_no_grad_work() -> None:
    with gw.no_grad():
        for derivative in DERIVATIVES.values():
            assert derivative(lambda x: x * x, np.float64(3.0)) == 6.0
        np.testing.assert_allclose(gw.vmap(gw.grad(lambda x: x * x))(X), 2 * X)
        np.testing.assert_allclose(gw.hessian(cubes)(X), np.diag(6 * X))


@each
@other
def test_derivative_inside_no_grad_is_a_constant_to_the_outer_one(
    outer: Derivative, inner: Derivative
) -> None:
    def function(x: Any) -> Any:
        with gw.no_grad():
            factor = inner(lambda y: y**3, x)
        return factor * x

    assert outer(function, np.float64(2.0)) == 12.0
    np.testing.assert_allclose(gw.vmap(fn(lambda x: outer(function, x)))(X), 3 * X**2)


# Values that a transform inside of others does not track -----------------------------------------


def stepped(x: Any, rows: Any) -> Any:
    """`sign(rows) * x + floor(x)`, by a transform whose own steps have no derivative."""

    def slope(row: Any) -> Any:
        return gw.grad(lambda z: np.sum(np.sign(z) * x * z + np.floor(x) * z))(row)

    return gw.vmap(slope)(rows)


def directly(x: Any, rows: Any) -> Any:
    return np.sign(rows) * x + np.floor(x)


@pytest.mark.parametrize("function", [stepped, directly])
def test_steps_times_what_an_outer_transform_maps_or_tracks(function: Any) -> None:
    rng = np.random.default_rng(11)
    points, rows = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    signs = np.sign(rows)
    np.testing.assert_allclose(function(points[0], rows), signs * points[0] + np.floor(points[0]))
    mapped = gw.vmap(fn(lambda x: function(x, rows)))(points)
    np.testing.assert_allclose(mapped, [directly(x, rows) for x in points])

    def total(x: Any) -> Any:
        return np.sum(function(x, rows) ** 2)

    wanted = [2 * np.sum((signs * x + np.floor(x)) * signs, axis=0) for x in points]
    np.testing.assert_allclose(gw.vmap(gw.grad(total))(points), wanted)
    whole = gw.grad(lambda xs: np.sum(gw.vmap(total)(xs)))(points)
    np.testing.assert_allclose(whole, wanted)
    pushed = gw.vmap(fn(lambda x: gw.jvp(total, (x,), (np.ones(3),))[1]))(points)
    np.testing.assert_allclose(pushed, np.sum(wanted, axis=1))
    curved = gw.vmap(gw.hessian(total))(points)
    np.testing.assert_allclose(curved, [np.diag(2.0 * np.sum(signs**2, axis=0))] * 4)


def test_without_recording_what_is_mapped_stays_mapped_once() -> None:
    def constant(x: Any) -> Any:
        with gw.no_grad():
            first = np.stack([x[1], x[0]]) - x
            second = gw.stop_gradient(x) + first
        return np.sum(second * x)

    points = np.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(gw.vmap(gw.grad(constant))(points), points[:, ::-1])
    np.testing.assert_allclose(
        gw.vmap(fn(lambda x: gw.jvp(constant, (x,), (x,))[1]))(points),
        2 * points[:, 0] * points[:, 1],
    )
