"""Transforms inside transforms, the tape inside and outside of them, and recording modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn, is_a

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.3, -1.2, 2.0, 0.7, -0.4])


def clear(x: Any) -> None:
    """Drop a gradient, unseen by type checkers, which would take it for None from here on."""
    x.grad = None


def element_of_gradient(fun: Callable[[Any], Any], index: int) -> Callable[[Any], Any]:
    return lambda x: gw.grad(fun)(x)[index]


# Derivatives of derivatives -----------------------------------------------------------------------


def test_derivatives_of_any_order() -> None:
    def fun(x: Any) -> Any:
        return np.exp(2 * x) + x**5

    derivative: Any = fun
    factors = [1.0, 5.0, 20.0, 60.0, 120.0, 120.0]
    for order in range(6):
        value = derivative(0.7)
        expected = 2**order * np.exp(1.4) + factors[order] * 0.7 ** (5 - order)
        assert value == pytest.approx(expected, rel=1e-12)
        derivative = gw.grad(derivative)


def test_derivatives_on_another_library() -> None:
    def fun(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.sin(x) * x

    x = strict.asarray(0.5)
    third: Any = gw.grad(gw.grad(gw.grad(fun)))(x)
    assert isinstance(third, type(x))
    assert float(third) == pytest.approx(-3 * np.sin(0.5) - 0.5 * np.cos(0.5))


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_hessian(x: Any) -> Any:
    """The closed form."""
    hessian = np.zeros((5, 5))
    inner = np.arange(4)
    hessian[inner, inner] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    hessian[inner + 1, inner + 1] += 200
    hessian[inner, inner + 1] = hessian[inner + 1, inner] = -400 * x[:-1]
    return hessian


def rosenbrock_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(4):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


@pytest.mark.parametrize("fun", [rosenbrock, rosenbrock_in_a_loop])
def test_hessian_of_rosenbrock(fun: Any) -> None:
    rows = [gw.grad(element_of_gradient(fun, i))(X) for i in range(5)]
    np.testing.assert_allclose(np.stack(rows), rosenbrock_hessian(X), rtol=1e-12)


def test_hessian_vector_product() -> None:
    v = np.array([1.0, -2.0, 0.5, 3.0, 0.1])
    product = gw.grad(lambda x: np.sum(gw.grad(rosenbrock)(x) * v))(X)
    np.testing.assert_allclose(product, rosenbrock_hessian(X) @ v, rtol=1e-12)


def test_gradient_penalty() -> None:
    def penalty(x: Any) -> Any:
        value, gradient = gw.value_and_grad(lambda x: np.sum(np.sin(x)))(x)
        return value + np.sum(gradient**2)

    expected = np.cos(X) - 2 * np.cos(X) * np.sin(X)
    np.testing.assert_allclose(gw.grad(penalty)(X), expected, rtol=1e-12)


def test_a_step_of_gradient_descent_is_differentiable() -> None:
    """Learning the learning rate."""

    def after_steps(rate: Any, w: Any) -> Any:
        for _ in range(3):
            w = {"w": w["w"] - rate * gw.grad(lambda p: np.sum(p["w"] ** 2))(w)["w"]}
        return np.sum(w["w"] ** 2)

    rate = 0.1
    expected = 6 * (1 - 2 * rate) ** 5 * -2 * np.sum(X**2)
    assert gw.grad(after_steps)(rate, {"w": X}) == pytest.approx(expected, rel=1e-12)


# Perturbation confusion ---------------------------------------------------------------------------


def test_two_levels_are_not_confused() -> None:
    assert gw.grad(lambda x: x * gw.grad(lambda y: x * y)(1.0))(2.0) == 4.0
    assert gw.grad(lambda x: x * gw.grad(lambda y: x + y)(1.0))(2.0) == 1.0
    assert gw.grad(lambda x: x * gw.grad(lambda y: x * y**2)(x))(2.0) == 24.0
    assert gw.grad(lambda x: gw.grad(lambda y: x)(1.0) + x)(2.0) == 1.0


def test_three_levels_are_not_confused() -> None:
    def outer(x: Any) -> Any:
        def middle(y: Any) -> Any:
            return gw.grad(lambda z: x * y**2 * z**3)(y) * x

        return gw.grad(middle)(x)

    # middle(y) = 3 x² y⁴, outer(x) = 12 x⁵
    assert gw.grad(outer)(2.0) == 60 * 16.0


def test_a_closure_is_not_confused() -> None:
    """Siskind and Pearlmutter's case: a derivative that returns a function."""

    def shifted(u: Any) -> Any:
        return fn(lambda h, x: h(x + u))

    def derivative_of_operator(h: Callable[[Any], Any], y: Any) -> Any:
        return gw.grad(lambda u: shifted(u)(h, y))(0.0)

    def twice(y: Any) -> Any:
        return derivative_of_operator(lambda z: derivative_of_operator(np.exp, z), y)

    assert twice(1.0) == pytest.approx(np.e)
    assert gw.grad(twice)(1.0) == pytest.approx(np.e)


def test_levels_of_two_functions_running_in_turn_are_not_confused() -> None:
    first: list[Any] = []

    def inner(y: Any) -> Any:
        return y * first[0]

    def outer(x: Any) -> Any:
        first.append(x * 3.0)
        a = gw.grad(inner)(x)
        b = gw.grad(lambda y: inner(y) * inner(y))(x)
        return a + b

    # a = 3 x, b = 18 x³
    assert gw.grad(outer)(2.0) == 3.0 + 54 * 4.0


def test_outer_values_in_pytrees_and_mixed_operations() -> None:
    def outer(x: Any) -> Any:
        data = {"outer": [x * 2.0, x], "plain": np.ones(5)}

        def inner(p: Any, data: Any) -> Any:
            mixed = np.stack([p["a"], data["outer"][1], data["plain"]])
            return np.sum(mixed[0] * mixed[1] * data["outer"][0] + mixed[2])

        return np.sum(gw.grad(inner)({"a": x, "b": None}, data)["a"] * x)

    # the inner gradient is 2 x²
    np.testing.assert_allclose(gw.grad(outer)(X), 6 * X**2, rtol=1e-12)


def test_outer_values_as_keywords() -> None:
    def outer(x: Any) -> Any:
        def scaled(y: Any, *, scale: Any) -> Any:
            return y**2 * scale

        return gw.grad(scaled, "y")(y=x, scale=x)

    assert gw.grad(outer)(3.0) == 12.0


def test_value_of_an_inner_transform_stays_tracked_by_the_outer() -> None:
    def outer(x: Any) -> Any:
        (value, aux), gradient = gw.value_and_grad(lambda y: (y**2, y**3), has_aux=True)(x)
        return value + aux + gradient

    assert gw.grad(outer)(2.0) == 4.0 + 12.0 + 2.0


def test_elementwise_and_vjp_inside() -> None:
    slope = gw.elementwise_grad(np.tanh)
    expected = -2 * np.tanh(X) * (1 - np.tanh(X) ** 2)
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(slope(x)))(X), expected, rtol=1e-12)
    np.testing.assert_allclose(gw.vjp(slope, X)[1](np.ones(5))[0], expected, rtol=1e-12)


def test_writing_in_place_inside_of_two_levels() -> None:
    def fun(x: Any) -> Any:
        y = x * x
        y[1:3] = y[:2] * x[0]
        y *= 2.0
        return np.sum(y)

    def closed_form(x: Any) -> Any:
        return 2 * (x[0] ** 2 + x[0] ** 3 + x[1] ** 2 * x[0] + x[3] ** 2 + x[4] ** 2)

    np.testing.assert_allclose(gw.grad(fun)(X), gw.grad(closed_form)(X), rtol=1e-12)
    for i in range(5):
        np.testing.assert_allclose(
            gw.grad(element_of_gradient(fun, i))(X),
            gw.grad(element_of_gradient(closed_form, i))(X),
            rtol=1e-12,
        )


# The tape and the transforms ----------------------------------------------------------------------


def test_transform_of_a_tape_variable() -> None:
    w: Any = gw.wrap(X, requires_grad=True)
    gradient: Any = gw.grad(lambda x: np.sum(x**3))(w)
    assert is_a(gradient, gw.Variable)
    assert gradient.requires_grad
    gradient.sum().backward()
    np.testing.assert_allclose(w.grad, 6 * X)


def test_transform_over_a_closure_with_a_tape_variable() -> None:
    w: Any = gw.wrap(X, requires_grad=True)
    gradient: Any = gw.grad(lambda x: np.sum(w * x**2))(X)
    np.testing.assert_allclose(gw.unwrap(gradient), 2 * X * X)
    gradient.sum().backward()
    np.testing.assert_allclose(w.grad, 2 * X)


def test_independent_tape_inside_a_transform() -> None:
    def fun(x: Any) -> Any:
        w = gw.wrap(np.array(3.0), requires_grad=True)
        (w * w).backward()
        assert w.grad == 6.0
        return np.sum(w.grad * x)

    np.testing.assert_array_equal(gw.grad(fun)(X), np.full(5, 6.0))


def test_create_graph_gives_second_derivatives_on_the_tape() -> None:
    x: Any = gw.wrap(X, requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    first: Any = x.grad
    clear(x)
    first.sum().backward()
    np.testing.assert_allclose(x.grad, 6 * X)


# Modes --------------------------------------------------------------------------------------------


def test_no_grad_inside_a_function() -> None:
    def fun(x: Any) -> Any:
        with gw.no_grad():
            y = x * 2.0
        return np.sum(x * y)

    np.testing.assert_allclose(gw.grad(fun)(X), 2 * X)


def test_no_grad_inside_stops_the_outer_levels_too() -> None:
    def fun(x: Any) -> Any:
        def inner(y: Any) -> Any:
            with gw.no_grad():
                constant = x * y
            return constant * y

        return gw.grad(inner)(x)

    assert gw.grad(fun)(3.0) == 0.0


def test_no_grad_around_a_transform_does_not_stop_it() -> None:
    with gw.no_grad():
        assert gw.grad(lambda x: x**2)(3.0) == 6.0
        assert gw.grad(gw.grad(lambda x: x**3))(3.0) == 18.0


def test_no_grad_around_an_inner_transform_hides_the_outer_level() -> None:
    def fun(x: Any) -> Any:
        with gw.no_grad():
            slope = gw.grad(lambda y: y**2 * x)(x)
        return slope * x

    # the slope, 2 x², is a constant for the outer gradient
    assert gw.grad(fun)(3.0) == 18.0


def test_enable_grad_inside_no_grad() -> None:
    def fun(x: Any) -> Any:
        with gw.no_grad(), gw.enable_grad():
            return x * 2.0

    assert gw.grad(fun)(3.0) == 2.0


# After an error -----------------------------------------------------------------------------------


def test_an_exception_leaves_levels_and_modes_as_they_were() -> None:
    def fails(x: Any) -> Any:
        with gw.no_grad():
            y = gw.grad(lambda z: z * x)(x)
            raise RuntimeError("stop", y)

    for _ in range(3):
        with pytest.raises(RuntimeError, match="stop"):
            gw.grad(gw.grad(fails))(2.0)
        assert gw.is_grad_enabled()
        assert gw.grad(lambda x: x * gw.grad(lambda y: x * y)(1.0))(2.0) == 4.0


def test_an_exception_inside_that_is_caught_inside() -> None:
    def fun(x: Any) -> Any:
        try:
            gw.grad(lambda y: y * np.ones(3))(x)
        except TypeError:
            return x * gw.grad(lambda y: x * y)(1.0)
        raise AssertionError

    assert gw.grad(fun)(2.0) == 4.0


def test_a_value_that_outlives_its_transform_is_no_danger() -> None:
    kept: list[Any] = []

    def leak(x: Any) -> Any:
        kept.append(x)
        return x * 2.0

    gw.grad(leak)(3.0)
    with pytest.raises(gw.errors.TrackedValueError, match=r"that an earlier call .*\.detach\(\)"):
        gw.grad(lambda x: x * kept[0])(5.0)
    assert gw.grad(lambda x: x * gw.unwrap(kept[0]))(5.0) == 3.0
    assert gw.unwrap(kept[0]) == 3.0


def test_outer_value_written_to_after_the_inner_function_used_it() -> None:
    """An inner operation keeps the value that an outer array has at that moment."""

    def outer(x: Any) -> Any:
        y = x * 1.0

        def inner(z: Any) -> Any:
            nonlocal y
            product = np.sum(z * y)
            y += 10.0
            return product

        return np.sum(gw.grad(inner)(np.ones(2)) ** 2)

    value, gradient = gw.value_and_grad(outer)(np.array([1.0, 2.0]))

    assert value == 5.0
    np.testing.assert_array_equal(gradient, [2.0, 4.0])
