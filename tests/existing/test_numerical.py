"""`gw.numerical`: first derivatives by differences; compiled code in adapted packages."""

from __future__ import annotations

import math
import sys
import types
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import (
    GradwrapError,
    NonDifferentiableInputError,
    NoRuleError,
    TrackedValueError,
)
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

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


def reversed_slope(f: Any, x: Any) -> Any:
    return gw.grad(f)(x)


def taped_slope(f: Any, x: Any) -> Any:
    variable = gw.wrap(x.copy(), requires_grad=True)
    f(variable).backward()
    return gw.unwrap(variable.grad)


@pytest.mark.parametrize("slope", [reversed_slope, taped_slope])
@pytest.mark.parametrize("size", [5, 20_000])
def test_an_argument_that_is_overwritten_after_the_call(slope: Any, size: int) -> None:
    def function(x: Any, c: Any) -> Any:
        return np.sum(x**2) * np.mean(c)

    scaled: Any = gw.numerical(function)

    def loss(x: Any) -> Any:
        c = np.full(size, 2.0)
        y = scaled(x, c)
        c[:] = 0.0
        return y

    assert np.allclose(slope(loss, X), 4 * X, rtol=1e-9)


@pytest.mark.parametrize("method", ["central", "complex"])
def test_arguments_and_derivatives_keep_their_dtypes(method: Any) -> None:
    seen: set[Any] = set()

    def function(x: Any, z: Any, c: Any) -> Any:
        seen.add((x.dtype.itemsize, z.dtype.itemsize, c.dtype))
        return np.sum(x * c) * z**2, x * 2, np.float32(1.0) * z[0]

    f: Any = gw.numerical(function, method=method)
    x, z, c = np.array([1, 2], np.float32), np.array([3.0]), np.array([1, 1], np.float32)
    g, h = gw.grad(lambda x, z: f(x, z, c)[0][0], argnums=(0, 1))(x, z)
    assert (g.dtype, h.dtype) == (np.float32, np.float64)
    assert np.allclose(g, 9.0, rtol=1e-4)
    assert np.allclose(h, 18.0, rtol=1e-9)
    outs, tangents = gw.jvp(lambda x, z: f(x, z, c), (x, z), (x, z))
    wanted = [np.float64, np.float32, np.float64]
    assert [out.dtype for out in outs] == wanted
    assert [tangent.dtype for tangent in tangents] == wanted
    widths = {(4, 8), (8, 16)} if method == "complex" else {(4, 8)}
    assert seen == {(*width, np.dtype(np.float32)) for width in widths}


def test_a_complex_argument_is_refused() -> None:
    f: Any = gw.numerical(abs)
    with pytest.raises(
        NonDifferentiableInputError, match=r"at real numbers.*Fix: give it the real"
    ):
        gw.grad(f)(1.0 + 2.0j)


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


def test_vmap_takes_differences_at_each_example() -> None:
    batch = np.array([0.5, 2.5, 4.0])

    def total(x: Any, y: Any) -> Any:
        return gw.numerical(lambda u, v: math.lgamma(u) * v.sum())(x, y * np.ones(2))

    wanted = [
        [gw.grad(total, (0, 1))(x, y)[n] for x, y in zip(batch, batch**2, strict=True)]
        for n in (0, 1)
    ]
    mapped: Any = gw.vmap(gw.grad(total, (0, 1)), fallback="loop")
    np.testing.assert_allclose(mapped(batch, batch**2), wanted)

    def of_all(x: Any) -> Any:
        return np.sum(gw.vmap(total, fallback="loop")(x, batch**2))

    np.testing.assert_allclose(gw.grad(of_all)(batch), wanted[0])
    with pytest.raises(NoRuleError, match=r"first derivative only"):
        gw.vmap(gw.hessian(total), fallback="loop")(batch, batch**2)


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


class Box:
    """A result that is no number."""

    def __init__(self, value: float) -> None:
        self.value = value


def make_boxing() -> Any:
    kind = type("builtin", (), {"__call__": lambda _, x: Box(math.exp(x))})
    kind.__name__ = "cython_function_or_method"
    made: Any = kind()
    made.__name__, made.__module__ = "boxed", "fast._core"
    return made


BOXED, VIEW = make_boxing(), memoryview


def of_an_object(x: Any) -> Any:
    return BOXED(x[0]).value * x[1] + x[0] * np.zeros(2)[0]


def of_a_class(x: Any) -> Any:
    return VIEW(x)[0] ** 2 * x[1]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        pytest.param(
            of_an_object,
            r"fast\._core\.boxed is compiled code.*numerical",
            marks=pytest.mark.slow,
        ),
        (
            of_a_class,
            r'in of_a_class \(.*, by VIEW\(\.\.\.\), which is not written in Python.*"numerical"\)',
        ),
    ],
)
def test_the_whole_function_is_differenced_where_a_call_cannot_be(
    function: Any, message: str
) -> None:
    with pytest.raises(GradwrapError, match=message):
        gw.grad(gw.adapting(function))(X)
    adapted = gw.adapting(function, compiled="numerical")
    steps = 1e-6 * np.eye(2)
    wanted = [(function(X + e) - function(X - e)) / 2e-6 for e in steps]
    for _ in range(2):  # the second call knows
        assert np.allclose(gw.grad(adapted)(X), wanted, rtol=1e-8)
        assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)], wanted, rtol=1e-8)
    with pytest.raises(NoRuleError, match="first derivative only"):
        gw.hessian(adapted)(X)
    with pytest.raises(ZeroDivisionError):  # an error of the function itself
        gw.grad(gw.adapting(lambda x: VIEW(x)[0] / 0, compiled="numerical"))(X)


def test_compiled_functions_of_a_module_whose_python_code_never_ran(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Adapting finds the module by the call that failed, not by code that was entered."""
    kind: Any = type("cython_function_or_method", (), {"__call__": staticmethod(math.exp)})
    fast: Any = types.ModuleType("fast")
    fast.exp = kind()
    fast.exp.__name__, fast.exp.__module__ = "exp", "fast._core"
    monkeypatch.setitem(sys.modules, "fast", fast)

    def f(x: Any) -> Any:
        return fast.exp(x[0]) * x[1]

    with pytest.raises(NoRuleError, match=r"^fast._core.exp is compiled code"):
        gw.grad(gw.adapting(f))(X)
    found = gw.grad(gw.adapting(f, compiled="numerical"))(X)
    assert np.allclose(found, [math.exp(0.5) * 1.5, math.exp(0.5)], rtol=1e-9)


def test_code_that_reads_the_address_of_an_array_is_told_of_differences(tmp_path: Path) -> None:
    module = written(
        tmp_path,
        """
        import ctypes

        def run(x):
            made = np.ascontiguousarray(2.0 * x)
            pointer = made.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            return sum(pointer[i] for i in range(x.size)) ** 2
        """,
    )
    x = np.array([0.5, 0.7])
    with pytest.raises(gw.errors.TrackedAttributeError, match=r"ctypes.*compiled=.numerical"):
        gw.grad(gw.adapting(module.run))(x)
    found = gw.grad(gw.adapting(module.run, compiled="numerical"))(x)
    np.testing.assert_allclose(found, 8.0 * np.sum(x) * np.ones(2), rtol=1e-7)


def test_a_function_that_writes_to_an_argument_is_refused() -> None:
    def squared(x: Any, out: Any) -> None:
        np.multiply(x, x, out=out)

    def doubled(x: Any) -> Any:
        x *= 2.0
        return np.sum(x)

    def through(x: Any) -> Any:
        buffer = np.zeros(3)
        gw.numerical(squared)(x, buffer)
        return np.sum(buffer) + np.sum(x)

    x = np.array([0.3, 0.5, -0.2])
    for fun in (through, gw.numerical(doubled)):
        with pytest.raises(TrackedValueError, match=r"written to an argument.*returns it"):
            gw.grad(fun)(x)

    def returned(x: Any) -> Any:
        multiply: Any = np.multiply
        return gw.numerical(multiply)(x, x, out=np.zeros(3))

    np.testing.assert_allclose(gw.grad(lambda x: np.sum(returned(x)))(x), 2 * x, rtol=1e-8)


def test_numbers_in_other_results_have_derivatives() -> None:
    results: list[Any] = [
        lambda x: np.array([x[0] ** 2, x[1]], dtype=object),
        lambda x: np.array([[Decimal(float(x[0])) ** 2], [Fraction(float(x[1]))]], dtype=object),
        lambda x: (Decimal(float(x[0])) ** 2, Fraction(float(x[1]))),
        lambda x: pytest.importorskip("pandas").Series([x[0] ** 2, x[1]], dtype=object).to_numpy(),
    ]
    for function in results:

        def total(x: Any, function: Any = function) -> Any:
            found = gw.numerical(function)(x)
            return sum(np.ravel(part)[0] if np.ndim(part) else part for part in found)

        np.testing.assert_allclose(gw.grad(total)(np.array([0.5, 0.7])), [1.0, 1.0], rtol=1e-8)


def test_numbers_beside_other_objects_are_refused() -> None:
    mixed = gw.numerical(lambda x: np.array([x[0], "a", None], dtype=object))
    with pytest.raises(TrackedValueError, match=r"array of objects, of which some are numbers"):
        gw.grad(lambda x: mixed(x)[0])(np.array([0.5]))
    plain = gw.numerical(lambda x: (x[0] ** 2, np.array([1, "a"], dtype=object)))
    np.testing.assert_allclose(gw.grad(lambda x: plain(x)[0])(np.array([0.5])), [1.0], rtol=1e-8)
