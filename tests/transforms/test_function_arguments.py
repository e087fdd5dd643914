"""Arguments of a `gw.Function` by keyword, and with defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw

X = np.array([0.5, -1.0, 2.0])


class Power(gw.Function):
    @staticmethod
    def forward(ctx: gw.FunctionCtx, x: Any, exponent: float = 2.0) -> Any:
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx: gw.FunctionCtx, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * ctx.exponent * x ** (ctx.exponent - 1.0), None


class Scaled(gw.Function):
    """A function that fills its context in `setup_context`."""

    @staticmethod
    def forward(x: Any, factor: Any = 3.0) -> Any:
        return x * factor

    @staticmethod
    def setup_context(ctx: gw.FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: gw.FunctionCtx, g: Any) -> Any:
        x, factor = ctx.saved_tensors
        return g * factor, (g * x).sum()


class ByKeywordAlone(gw.Function):
    @staticmethod
    def forward(ctx: gw.FunctionCtx, x: Any, *, exponent: float = 1.0) -> Any:
        return x**exponent


def test_keywords_count_as_given_at_their_positions() -> None:
    def total(x: Any) -> Any:
        return np.sum(Power.apply(exponent=3.0, x=x))

    np.testing.assert_allclose(gw.grad(total)(X), 3.0 * X**2, rtol=1e-14)


def test_defaults_are_arguments_like_others() -> None:
    def squares(x: Any) -> Any:
        return np.sum(Power.apply(x))

    def cubes(x: Any) -> Any:
        return np.sum(Power.apply(x, exponent=3.0))

    np.testing.assert_allclose(gw.grad(squares)(X), 2.0 * X, rtol=1e-14)
    np.testing.assert_allclose(gw.grad(cubes)(X), 3.0 * X**2, rtol=1e-14)


class Counting(gw.Function):
    """Backward returns a gradient for each argument that `apply` was given."""

    @staticmethod
    def forward(ctx: gw.FunctionCtx, x: Any, scale: float = 2.0, shift: float = 1.0) -> Any:
        ctx.scale = scale
        return x * scale + shift

    @staticmethod
    def backward(ctx: gw.FunctionCtx, g: Any) -> Any:
        return (g * ctx.scale, *[None] * (len(ctx.needs_input_grad) - 1))


@pytest.mark.parametrize(
    ("given", "count", "slope"),
    [({}, 1, 2.0), ({"scale": 3.0}, 2, 3.0), ({"shift": 4.0}, 3, 2.0)],
    ids=str,
)
def test_what_is_left_out_behind_the_last_argument_stays_out(
    given: dict[str, float], count: int, slope: float
) -> None:
    x = gw.wrap(X, requires_grad=True)
    out: Any = Counting.apply(x=x, **given)
    assert len(out.grad_fn.next_functions) == count
    np.testing.assert_array_equal(out.data, X * slope + given.get("shift", 1.0))
    out.sum().backward()
    np.testing.assert_array_equal(x.grad, np.full(3, slope))


def test_arguments_by_keyword_behind_those_of_any_number() -> None:
    class Sum(gw.Function):
        @staticmethod
        def forward(ctx: gw.FunctionCtx, *parts: Any, **options: Any) -> Any:
            return sum(parts)

    call: Any = Sum.apply
    with pytest.raises(TypeError, match=r"Sum\.apply has no place for rate"):
        call(X, rate=2.0)


def test_a_gradient_for_what_is_given_by_keyword() -> None:
    def total(x: Any, factor: Any) -> Any:
        return np.sum(Scaled.apply(x, factor=factor))

    of_x, of_factor = gw.grad(total, (0, 1))(X, np.array(4.0))
    np.testing.assert_allclose(of_x, np.full(3, 4.0), rtol=1e-14)
    np.testing.assert_allclose(of_factor, X.sum(), rtol=1e-14)


def test_on_the_tape() -> None:
    x = gw.wrap(X, requires_grad=True)
    np.sum(Scaled.apply(x, factor=np.array(5.0))).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad, np.full(3, 5.0), rtol=1e-14)


def test_what_forward_takes_by_keyword_alone_is_refused() -> None:
    with pytest.raises(TypeError, match=r"ByKeywordAlone\.apply has no place for exponent"):
        ByKeywordAlone.apply(X, exponent=2.0)
    np.testing.assert_array_equal(ByKeywordAlone.apply(x=X), X)  # its default is no argument


def test_arguments_that_do_not_fit_forward() -> None:
    call: Any = Power.apply
    with pytest.raises(TypeError, match="unexpected keyword argument 'power'"):
        call(X, power=2.0)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        call(exponent=2.0)
