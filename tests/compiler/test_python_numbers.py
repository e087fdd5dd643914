"""Python floats among the arguments are inputs of programs; other Python numbers are constants."""

from __future__ import annotations

import functools
import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.tree import flatten
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

X = np.arange(3.0) + 0.5
SINGLE = X.astype(np.float32)
HALF = X.astype(np.float16)
COMPLEX = (X + 1j * X[::-1]).astype(np.complex64)
WHOLE = np.arange(3)


def step(x: Any, rate: Any) -> Any:
    return x - rate * 2 * x


def quotient(x: Any, a: Any) -> Any:
    return x * (1 / a) + a / 3 - (x / a)


def branch(x: Any, a: Any) -> Any:
    return x * a if a > 0.15 else x + a


def powers(x: Any, a: Any) -> Any:
    return x * a**2 + a**0.5 + 2.0**a


def power(x: Any, a: Any) -> Any:
    return abs(x) ** a


def remainders(x: Any, a: Any) -> Any:
    return x * (a % 0.3) + (a // 0.3) - (0.7 % a) + x // a


def compared(x: Any, a: Any) -> Any:
    return (x < a) * 1.0 + (a == x)


def chosen(x: Any, a: Any) -> Any:
    return x * max(a, 0.15) * min(0.5, a) * abs(-a) * +a


def returned(x: Any, a: Any) -> Any:
    return x, a, {"twice": a * 2, "sine": np.sin(a)}


def classes(x: Any, a: Any) -> Any:
    return x * a if isinstance(a, float) and not isinstance(a, (int, np.generic)) else x


def ufuncs(x: Any, a: Any) -> Any:
    return np.multiply(x, np.sin(a)) * np.float32(2) * a + np.maximum(a, x) + np.hypot(a, a)


def whole(x: Any, a: Any) -> Any:
    return x * a + WHOLE * a + np.int8(3) * a


def gradient(x: Any, a: Any) -> Any:
    return gw.grad(lambda x: np.sum(np.sin(x * a) / a + a**3))(x)


def both(x: Any, a: Any) -> Any:
    return gw.value_and_grad(lambda x, a: np.sum(np.sin(x * a) + a**3), (0, 1))(x, a)


def tangent(x: Any, a: Any) -> Any:
    return gw.jvp(lambda y: np.sin(y * a), (x,), (x * a,))


def each(x: Any, a: Any) -> Any:
    return gw.vmap(gw.grad(lambda x, a: np.sin(x * a) / a), in_axes=(0, None))(x, a)


def curvature(x: Any, a: Any) -> Any:
    return gw.hessian(lambda a: a**3 * np.sin(a))(a) * x


def gradient_of_parts(x: Any, a: Any) -> Any:
    return gw.grad(lambda x: np.sum((x.real * a) ** 2 + x.imag / a))(x)


def written(x: Any, a: Any) -> Any:
    y = gw.grad(lambda x: _filled(x, a))(x)
    return y * a


def _filled(x: Any, a: Any) -> Any:
    out = x * 2
    out[1] = a
    out[0] += a
    return np.sum(out * out)


REALS: tuple[Callable[..., Any], ...] = (
    *(step, quotient, branch, powers, power, remainders, compared, chosen, returned, classes),
    *(ufuncs, whole, gradient, both, tangent, each, curvature, written),
)


def same(found: Any, wanted: Any) -> None:
    """Compare two results: structure, types, dtypes and values."""
    ours, structure = flatten(found)
    theirs, other = flatten(wanted)
    assert structure == other
    for a, b in zip(ours, theirs, strict=True):
        assert type(a) is type(b)
        if hasattr(b, "dtype"):
            assert a.dtype == b.dtype
            rounding = 16 * float(np.finfo(b.dtype).eps) if b.dtype.kind in "fc" else 0.0
            np.testing.assert_allclose(a, b, rtol=rounding, atol=rounding)
        else:
            assert a == b


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("x", [X, SINGLE, HALF], ids=["double", "single", "half"])
@pytest.mark.parametrize("function", REALS, ids=lambda f: f.__name__)
def test_floats_share_a_program(function: Callable[..., Any], x: Any, engine: str) -> None:
    compiled = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("error", CompileWarning)
        for a in (0.125, 0.375, 0.75, 0.1, 0.7, 0.2):
            same(compiled(x, a), function(x, a))
    assert len(compiled.programs) == 1


@pytest.mark.peers
@pytest.mark.parametrize("x", [X, SINGLE], ids=["double", "single"])
@pytest.mark.parametrize(
    "function", [step, power, compared, whole, both, written, branch], ids=lambda f: f.__name__
)
def test_floats_share_a_program_of_jax(function: Callable[..., Any], x: Any) -> None:
    jax: Any = pytest.importorskip("jax")
    numbers = (0.125, 0.375, 0.75)
    before = jax.config.jax_enable_x64
    try:
        for is_double in (True, False):
            jax.config.update("jax_enable_x64", is_double)
            compiled = gw.compile(function, engine="jax")
            with warnings.catch_warnings():
                warnings.simplefilter("error" if is_double else "ignore", CompileWarning)
                for a in numbers:
                    same(compiled(x, a), function(x, a))
            is_shared = is_double and function is not branch  # JAX takes no branches on values
            assert len(compiled.programs) == (1 if is_shared else len(numbers))
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("function", [step, whole, gradient_of_parts], ids=lambda f: f.__name__)
def test_floats_beside_complex_numbers_share_a_program(function: Callable[..., Any]) -> None:
    compiled = gw.compile(function)
    for a in (0.125, 0.7, 0.2):
        same(compiled(COMPLEX, a), function(COMPLEX, a))
    assert len(compiled.programs) == 1


def test_the_first_argument_of_a_gradient() -> None:
    f = gw.grad(lambda x: functools.reduce(lambda s, _: np.sin(s) + s * 0.1, range(30), x))
    compiled = gw.compile(f)
    for n in range(8):
        same(compiled(0.1 + 0.01 * n), f(0.1 + 0.01 * n))
    assert len(compiled.programs) == 1
    assert compiled.explain().startswith("arguments: x: float\n")


def test_floats_in_containers_and_by_name() -> None:
    def f(p: Any, *, rate: Any = 0.5) -> Any:
        return p["x"] * p["scale"] - rate * p["x"]

    compiled = gw.compile(f)
    for a in (0.1, 0.2, 0.3):
        p = {"x": SINGLE, "scale": a}
        same(compiled(p, rate=a + 1), f(p, rate=a + 1))
    assert len(compiled.programs) == 1


def test_functions_of_floats_alone() -> None:
    compiled = gw.compile(lambda a, b: (a * a + b if a < b else a - b, a // b))
    for a, b in ((0.5, 2.5), (3.5, 1.25), (0.1, 0.2), (7.0, 0.3)):
        same(compiled(a, b), (a * a + b if a < b else a - b, a // b))
    assert len(compiled.programs) == 1


# Python's errors ----------------------------------------------------------------------------------

ERRORS: tuple[tuple[Callable[..., Any], float, type[Exception]], ...] = (
    (lambda x, a: x * (1 / a), 0.0, ZeroDivisionError),
    (lambda x, a: x * (1 // a), -0.0, ZeroDivisionError),
    (lambda x, a: x * (2.0 % a), 0.0, ZeroDivisionError),
    (lambda x, a: x * (a / (a - 0.25)), 0.25, ZeroDivisionError),
    (lambda x, a: x * a**2, 1e200, OverflowError),
    (lambda x, a: x * a**-1, 0.0, ZeroDivisionError),
    (lambda x, a: x * 10.0**a, 400.0, OverflowError),
)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_pythons_errors_are_raised(number: int) -> None:
    function, bad, kind = ERRORS[number]
    compiled: Any = gw.compile(function)
    for _ in range(2):
        for a in (0.5, 0.75):
            same(compiled(X, a), function(X, a))
        with pytest.raises(kind):
            compiled(X, bad)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_a_power_that_becomes_complex() -> None:
    compiled: Any = gw.compile(lambda x, a: x * a**0.5)
    for a in (0.5, 2.0, -2.0, 0.25, -3.0):
        same(compiled(X, a), X * a**0.5)


# Floats as constants ------------------------------------------------------------------------------


def looked_into(x: Any, a: Any) -> Any:
    return x * math.sqrt(a)


def formatted(x: Any, a: Any) -> Any:
    return x * float(f"{a:.1f}")


def hashed(x: Any, a: Any) -> Any:
    return x * {0.1: 1.0}.get(a, 2.0)


def typed(x: Any, a: Any) -> Any:
    return x * a if type(a) is float else x


def attributes(x: Any, a: Any) -> Any:
    try:
        return x * a.shape[0]
    except AttributeError:
        return x * a


def named(x: Any, a: Any) -> Any:
    return x * a if not hasattr(a, "dtype") else x


def methods(x: Any, a: Any) -> Any:
    return x * (1.0 if a.is_integer() else a)


def rounded(x: Any, a: Any) -> Any:
    return x * round(a, 1)


def identical(x: Any, a: Any, b: Any = 0.5) -> Any:
    return x if a is b else x * a


def mixed(x: Any, a: Any) -> Any:
    return np.where(x > 0.5, x, a) + np.clip(x, a, 1.0)


CONSTANT: tuple[Callable[..., Any], ...] = (
    *(looked_into, formatted, hashed, typed, attributes, named, methods, rounded, identical),
    mixed,
)


@pytest.mark.parametrize("function", CONSTANT, ids=lambda f: f.__name__)
def test_functions_that_look_into_a_float_are_right(function: Callable[..., Any]) -> None:
    compiled: Any = gw.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            for a in (0.1, 0.5, 2.0):
                same(compiled(SINGLE, a), function(SINGLE, a))
    assert len(compiled.programs) == 3
    assert "constant: a = 0.5; each new value of this Python float makes another program" in (
        compiled.explain()
    )


def test_static_floats_are_constants() -> None:
    compiled = gw.compile(step, static="rate")
    for a in (0.1, 0.2):
        same(compiled(X, a), step(X, a))
    assert len(compiled.programs) == 2


# Integers -----------------------------------------------------------------------------------------


def test_the_fifth_program_for_other_numbers_is_a_warning() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.sum(x**n)

    compiled = gw.compile(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(1, 5):
            compiled(X, n)
            compiled(X[:2], n)
        assert caught == []
        for n in range(1, 9):
            same(compiled(X, n), f(X, n))
    (one,) = caught
    assert one.category is CompileWarning
    assert "f is compiled for the 5th time, since Python numbers" in str(one.message)
    assert "n = 5. " in str(one.message)
    assert "Fix: pass numbers that vary as arrays, np.asarray(x)" in str(one.message)
    text = "constant: n = 2; each new value of this Python int makes another program"
    assert text in compiled.explain()


def test_shapes_are_no_reason_for_the_warning() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.sum(x**n)

    compiled = gw.compile(f)
    shapes: Sequence[Any] = [np.ones(n) for n in range(1, 9)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in shapes:
            same(compiled(x, 2), f(x, 2))


def test_a_function_that_is_compiled_with_another_kind_of_numbers_runs_once_for_a_call() -> None:
    drawn, plain = np.random.default_rng(1), np.random.default_rng(1)
    function = gw.compile(lambda a: drawn.normal() * a)
    with pytest.warns(CompileWarning, match="runs eagerly"):
        found = [function(2.0) for _ in range(3)]
    assert found == [plain.normal() * 2.0 for _ in range(3)]
