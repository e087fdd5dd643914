"""`gw.numerical`: first derivatives by differences; compiled code in adapted packages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError

X = np.array([0.5, 1.5])


def several(x: Any, scale: float) -> dict[str, Any]:
    assert type(x) is np.ndarray
    return {"a": np.array([math.sin(x[0]) * scale, x[1] ** 2]), "b": float(x[0]), "c": "text"}


def total(x: Any) -> Any:
    found: Any = gw.numerical(several)(x, 3.0)
    assert found["c"] == "text"
    return found["a"][0] + 2.0 * found["a"][1] + found["b"]


WANTED = np.array([3.0 * math.cos(0.5) + 1.0, 6.0])


def test_both_modes_give_the_derivative() -> None:
    assert np.allclose(gw.grad(total)(X), WANTED, rtol=1e-9)
    forward = [gw.jvp(total, (X,), (e,))[1] for e in np.eye(2)]
    assert np.allclose(forward, WANTED, rtol=1e-9)


def test_numbers_and_keywords() -> None:
    def power(x: float, *, p: float) -> float:
        return math.pow(x, p)

    f: Any = gw.numerical(power)
    assert gw.grad(lambda p: f(2.0, p=p))(3.0) == pytest.approx(8.0 * math.log(2.0), rel=1e-9)
    assert f(2.0, p=3.0) == 8.0


def test_the_tape() -> None:
    x = gw.wrap(np.array(2.5), requires_grad=True)
    lgamma: Any = gw.numerical(math.lgamma)
    y = lgamma(x)
    y.backward()
    assert x.grad == pytest.approx(0.7031566406452431, rel=1e-8)


def test_complex_steps_are_exact_to_rounding() -> None:
    def function(x: Any) -> Any:
        return np.exp(x) * x

    f = gw.numerical(function, method="complex")
    assert gw.grad(f)(0.7) == pytest.approx(math.exp(0.7) * 1.7, rel=1e-15)


@pytest.mark.parametrize(
    "second",
    [
        lambda f: gw.grad(gw.grad(f))(2.5),
        lambda f: gw.jvp(gw.grad(f), (2.5,), (1.0,)),
        lambda f: gw.hessian(f)(np.array(2.5)),
    ],
)
def test_higher_order_is_refused(second: Any) -> None:
    with pytest.raises(NoRuleError, match=r"first derivative only.*Fix: give the function a rule"):
        second(gw.numerical(math.lgamma))


def test_a_wrong_method_is_named() -> None:
    with pytest.raises(ValueError, match="method='forward' is none of central, complex"):
        gw.numerical(math.lgamma, method="forward")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # refused


def make_compiled() -> Any:
    def call(self: Any, x: Any) -> float:
        if type(x) not in (float, np.float64):
            raise TypeError("a float is required")
        return math.exp(float(x))

    kind = type("cython_function_or_method", (), {"__call__": call})
    made: Any = kind()
    made.__name__, made.__module__ = "exponential", "fast._core"
    return made


EXPONENTIAL = make_compiled()


def compiled(x: Any) -> Any:
    return EXPONENTIAL(x[0]) * x[1]


def test_compiled_code_is_refused_by_default() -> None:
    with pytest.raises(NoRuleError, match=r'fast._core.exponential.*compiled="numerical"'):
        gw.grad(gw.adapting(compiled))(X)


def test_compiled_code_by_differences() -> None:
    @gw.adapting(compiled="numerical")
    def f(x: Any) -> Any:
        return compiled(x) + np.sum(np.asarray(x))

    wanted = [math.exp(0.5) * 1.5 + 1.0, math.exp(0.5) + 1.0]
    assert np.allclose(gw.grad(f)(X), wanted, rtol=1e-9)
    with pytest.raises(NoRuleError, match="first derivative only"):
        gw.hessian(f)(X)
    with pytest.raises(ValueError, match="compiled='fast' is not known"):
        gw.adapting(compiled, compiled="fast")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]  # refused
