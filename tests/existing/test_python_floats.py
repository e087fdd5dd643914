"""Floats of Python among tracked numbers, in adapted code that asks for their class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = (
    "type(t) is float",
    "type(t) == float",
    "type(t) in (int, float)",
    "t.__class__ is float",
    "type(t) is not np.float64",
    "type(t).__name__ == 'float'",
)


@pytest.fixture
def package(tmp_path: Path) -> Any:
    cases = "\n".join(
        f"        def case{n}(t): return t**2 if {check} else 3.0 * t"
        for n, check in enumerate(CHECKS)
    )
    return written(
        tmp_path,
        f"""
{cases}
        def converted(x): return case0(float(x[0])) + case0(x[1])
        """,
    )


@pytest.mark.parametrize("number", range(len(CHECKS)))
@pytest.mark.parametrize(("given", "slope"), [(0.7, 1.4), (2, 4.0), (np.float64(0.7), 3.0)])
def test_an_argument_is_a_float_if_it_was_one(
    package: Any, number: int, given: Any, slope: float
) -> None:
    function = gw.adapting(getattr(package, f"case{number}"))
    assert np.isclose(gw.grad(function)(given), slope)
    assert np.isclose(gw.jvp(function, (given,), (1.0,))[1], slope)


def test_what_float_gives_is_a_float(package: Any) -> None:
    x = np.array([0.7, 0.5])
    np.testing.assert_allclose(gw.grad(gw.adapting(package.converted))(x), [1.4, 3.0])
    np.testing.assert_allclose(gw.jacfwd(gw.adapting(package.converted))(x), [1.4, 3.0])


RULES = """
    import functools
    import math
    import numpy as np

    def caught(compute):
        try:
            return compute()
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            return float(len(str(error)))

    @functools.singledispatch
    def generic(v): return 3.0
    @generic.register
    def _(v: float): return v * v
    @generic.register(np.ndarray)
    def _(v): return np.sum(v**3)

    class Chosen:
        @functools.singledispatchmethod
        def of(self, v): return 3.0
        @of.register
        def _(self, v: float): return v * v
        @of.register(np.ndarray)
        def _(self, v): return np.sum(v**3)

    def by_class(v):
        table = {float: lambda v: 2.0 * v, np.ndarray: np.sum}
        return next(table[kind] for kind in type(v).__mro__ if kind in table)(v)

    def divided(x): a, b = x.tolist(); return b * caught(lambda: b / (a - a))
    def divided_whole(x): a, b = x.tolist(); return b * caught(lambda: b // (a - a))
    def left_over(x): a, b = x.tolist(); return b * caught(lambda: b % (a - a))
    def both(x): a, b = x.tolist(); return b * caught(lambda: divmod(b, a - a)[0])
    def of_one(x): a = float(x[0]); return a * caught(lambda: 1 / (a - a))
    def to_minus_one(x): a, b = x.tolist(); return b * caught(lambda: (a - a) ** -1)
    def too_large(x): a, b = x.tolist(); return b * caught(lambda: (1e4 * a) ** 200)
    def of_negative(x): a, b = x.tolist(); z = (a - 5) ** (1 / 3); return z.real * z.imag * b
    def of_math(x): a = math.sin(x[0]); return a * caught(lambda: 1.0 / (a - a))
    def of_an_item(x): a = x.item(0); return a * caught(lambda: a / (a - a))
    def quotient(x): a, b = x.tolist(); q, r = divmod(5 * a, b); return q * r * b
    def in_place(x):
        a = b = float(x[0])
        b += 1.0
        b *= a
        b **= 2
        return a * b
    def rounded(x): return round(float(x[1]), 1) * x[0] + x[round(float(x[0]))]
    def text(x): return len(repr(float(x[0]))[:3] + f"{float(x[0])!r:>24}") * x[1]
    def attributes(x):
        a = float(x[0])
        return x[1] * (2.0 if hasattr(a, "shape") else 3.0) * getattr(a, "ndim", 5.0)
    def no_attribute(x):
        try:
            return float(x[0]).shape
        except AttributeError:
            return x[0] * x[1]
    def classes(x):
        a = float(x[0])
        scale = 2.0 if isinstance(a, np.floating) else 3.0
        return scale * a * (5.0 if isinstance(2.0 * a, float) else 7.0) * (type(-a) is float)
    def single(x):
        y = np.ones(2, dtype=np.float32) * float(x[0])
        return np.sum(y) * (2.0 if y.dtype == np.float32 else 3.0) * float(x[1])
    def single_too(x): a = np.float32(1.5) / x.tolist()[0]; return a * (1.0 + (a.dtype == "f4"))
    def scalars(x): return x[0] * (2.0 if np.isscalar(float(x[0])) else 3.0)
    def array_of(x): return np.sum(np.asarray(float(x[0])).reshape(1) * x) * np.ndim(x.tolist()[1:])
    def added(x): return np.sum(np.array([float(x[0]), 2.0, x.tolist()[1]]) ** 2)
    def generics(x):
        return generic(float(x[0])) * generic(x) + Chosen().of(float(x[1])) * Chosen().of(x)
    def in_a_function(x):
        @functools.singledispatch
        def local(v): return 3.0
        @local.register(float)
        def _(v): return v * v
        return local(float(x[0])) * local(x)
    def tables(x): return by_class(float(x[0])) * by_class(x) * by_class(x[1])
    def changed(x):
        y = x.copy()
        y *= float(x[0])
        y[0] += x.item(1)
        z = np.ones(2, dtype=np.float32)
        z *= 2.0
        return y.sum() * z.sum()
    def stored(x):
        a = np.zeros(2)
        for i in range(2):
            a[i] = math.sin(x[i])
        b = np.where(a > 0.5, float(x[0]), a)
        c = np.concatenate([np.reshape(x.item(0), 1), np.zeros(2)])
        return a.sum() * b.prod() + c.sum()
    def of_kind(v):
        match v:
            case np.ndarray(ndim=2): return 13.0
            case np.ndarray(): return 2.0
            case np.floating(): return 3.0
            case int(): return 5.0
            case float(number): return 7.0 * number
            case [first, *_]: return 11.0 * first
    def matched(x):
        numbers = of_kind(x[0]) * of_kind(float(x[1])) * of_kind(x.tolist())
        return numbers * of_kind(x) * of_kind(int(x[1])) * of_kind(np.outer(x, x))
    def numpys(x):
        with np.errstate(all="ignore"):
            return x[1] * (2.0 if np.isinf(x[0] / (x[1] - x[1])) else 3.0)
"""
NAMES = [line.split()[1].partition("(")[0] for line in RULES.splitlines() if "(x):" in line]


@pytest.fixture
def rules(tmp_path: Path) -> Any:
    return written(tmp_path, RULES)


@pytest.mark.parametrize("name", NAMES)
def test_a_float_of_python_follows_pythons_rules(rules: Any, name: str) -> None:
    plain, x = getattr(rules, name), np.array([0.83, 1.37])
    function = gw.adapting(plain)
    step, rtol = (1e-2, 1e-3) if "single" in name else (1e-6, 1e-6)
    wanted = [(plain(x + h) - plain(x - h)) / (2 * step) for h in step * np.eye(2)]
    compiled = gw.compile(gw.value_and_grad(function))
    runs: list[Any] = [gw.value_and_grad(function)]
    if name != "text":  # which is eager
        runs += [compiled, compiled]
    for run in runs:
        value, slopes = run(x)
        np.testing.assert_allclose(value, plain(x), rtol=1e-6 * rtol)
        np.testing.assert_allclose(slopes, wanted, rtol=rtol, atol=1e-7)
    np.testing.assert_allclose(
        gw.jacfwd(function)(x), gw.grad(function)(x), rtol=1e-6 * rtol, atol=1e-14
    )


def inner_gradient(x: Any) -> Any:
    return gw.grad(lambda t: t**3 * x[1])(float(x[0]))


def inner_curvature(x: Any) -> Any:
    return gw.grad(gw.grad(lambda t: t**4 / (1 + t)))(x.item(0)) * x[1]


def inner_checkpoint(x: Any) -> Any:
    return gw.checkpoint(lambda t: t**2 / (1 + t))(float(x[0])) * x[1]


def inner_tangent(x: Any) -> Any:
    return gw.vjp(lambda t: np.sin(t) * t, x.tolist()[0])[1](1.0)[0] * x[1]


@pytest.mark.parametrize(
    "function", [inner_gradient, inner_curvature, inner_checkpoint, inner_tangent]
)
def test_floats_are_arguments_of_inner_transforms(function: Any) -> None:
    x = np.array([0.83, 1.37])
    adapted = gw.adapting(function)
    wanted = [(function(x + h) - function(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(gw.grad(adapted)(x), wanted, rtol=1e-7)
    np.testing.assert_allclose(gw.jacfwd(adapted)(x), wanted, rtol=1e-7)


def test_the_caller_gets_an_array_of_no_axes() -> None:
    x = gw.wrap(np.array([0.83, 1.37]), requires_grad=True)
    y = gw.adapting(lambda x: {"of": [float(x[0]) * x.item(1)]})(x)["of"][0]
    y.retain_grad()
    (3.0 * y).backward()
    assert y.grad == 3.0
    with np.errstate(divide="ignore"):
        assert np.isinf((y / 0.0).data)
    gradient: Any = x.grad
    np.testing.assert_allclose(gradient, [3 * 1.37, 3 * 0.83])


def test_second_derivatives_and_batches_of_floats(rules: Any) -> None:
    x = np.array([0.83, 1.37])
    function = gw.adapting(rules.in_place)
    a = x[0]  # of the third power of a, times the square of a + 1
    wanted = 6 * a * (a + 1) ** 2 + 12 * a**2 * (a + 1) + 2 * a**3
    np.testing.assert_allclose(gw.hessian(function)(x), [[wanted, 0.0], [0.0, 0.0]], rtol=1e-12)
    rows = np.array([x, x + 0.1, x - 0.2])
    for name in ("in_place", "classes", "added", "quotient"):
        gradient = gw.grad(gw.adapting(getattr(rules, name)))
        np.testing.assert_allclose(gw.vmap(gradient)(rows), [*map(gradient, rows)], rtol=1e-12)


def test_a_compiled_function_takes_the_branch_of_eager(package: Any) -> None:
    gradient = gw.grad(gw.adapting(package.case0))
    compiled = gw.compile(gradient)
    for given in (0.7, 0.9, np.float64(0.7), 1.3):
        assert np.isclose(compiled(given), gradient(given))


def test_comparisons_of_floats_are_truths_of_python(tmp_path: Path) -> None:
    source = """
        def run(x):
            a, b = float(x[0]), x.item(1)
            sign = (a > b) - (a < b)
            return sign * a**2 + sum([a > 0.1, b > 0.2, b == 7.0]) * b + [a, 3.0 * b][b > 1.0]
        """
    run = written(tmp_path, source).run
    x = np.array([0.83, 1.37])
    gradient = gw.grad(gw.adapting(run))
    np.testing.assert_allclose(gradient(x), [-2 * 0.83, 5.0], rtol=1e-12)
    np.testing.assert_allclose(gw.jacfwd(gw.adapting(run))(x), gradient(x), rtol=1e-12)
