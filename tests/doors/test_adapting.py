"""`adapting`, `adapt` and `adapted`: packages that know nothing of gradwrap."""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import math
import pickle
import sys
import threading
import types
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import (
    AdaptationError,
    GradwrapError,
    NonDifferentiableInputError,
    TrackedTextWarning,
    TrackedValueError,
)
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([1.3, 0.7])

IDIOMS: dict[str, str] = {
    "empty": """
        out = np.empty(2)
        out[0], out[1] = x[0] * x[1], math.sin(x[0])
        return out
    """,
    "ndarray": """
        out = np.ndarray((2,))
        out[0], out[1] = x[0] * x[1], math.sin(x[0])
        return out
    """,
    "full_like": """
        return np.full_like(np.ones(3), x[0]) * np.arange(3.0) + np.zeros_like(np.ones(3)) * x[1]
    """,
    "zeros of a table": """
        out = np.array(TABLE)
        out[:2] += x
        out[2] = x[0] ** 2
        return out
    """,
    "copy of a plain array": """
        out = TABLE.copy()
        out[1:] = x * 2.0
        more = TABLE.astype(float)
        more[0] = x[1]
        return out * more
    """,
    "asarray": """
        x = np.asarray(x, dtype=float)
        return np.array([[x[0], 0.0], [1.0, x[1] ** 2]])
    """,
    "conversions": """
        y = np.ascontiguousarray(np.array(x, copy=None)) * np.array(x)
        return y.astype(float) + np.asanyarray(x) + np.float64(x[0]) * np.asfortranarray(x)
    """,
    "scalars": """
        a = float(x[0]) if isinstance(x, (float, np.ndarray)) else 0.0
        return a * math.sqrt(x[1]) + (1j * x[0]).imag
    """,
    "types of scalars": """
        if type(x[0]) is float or isinstance(x[0], (int, complex)) or hasattr(x[0], "__len__"):
            return np.zeros(1)
        if not (isinstance(x[0], float) and np.isscalar(x[0]) and type(x) is np.ndarray):
            return np.zeros(1)
        return math.exp(x[0]) * np.float64(x[1])
    """,
    "a decorator": """
        @np.vectorize
        def step(a):
            return a * a if a > 1 else math.exp(a)
        return step(x)
    """,
    "vectorize in the module": "return stepped(x) + partial_sum(x)",
    "lists": """
        return np.diag([x[0], x[1]]) @ np.dot([x[1], 1.0], [[x[0], 1.0], [0.0, 2.0]])
    """,
    "lists for ufuncs and operators": """
        return np.sqrt([x[0], x[1]]) + TABLE[:2] * [x[1], x[0]] + np.eye(2) @ [x[0], 1.0]
    """,
    "targets": """
        y = np.multiply(x, x, out=np.empty(2))
        y += x
        F = np.zeros((2, 2))
        F.flat[::3] = y
        F.ravel()[1] = y[0]
        return F
    """,
    "complex targets": """
        z = np.zeros(2, dtype=complex)
        z.real = x
        z.imag = x * x
        return np.concatenate([z.real, abs(z)])
    """,
    "shape": """
        y = x * 1.0
        y.shape = (2, 1)
        return sum(a * b for a, b in np.broadcast(y, x)) * np.broadcast(y, x).size
    """,
    "masks": """
        out = np.zeros(2)
        np.copyto(out, x)
        np.putmask(out, out > 1, x ** 2)
        np.place(out, [False, True], x[:1])
        return out
    """,
    "a scalar with a mask": """
        s = np.asarray(x[0] * x[1])
        s[s > 5] = 0
        return s
    """,
    "methods of plain arrays": "return np.eye(2).dot(x) + MATRIX.dot(x)",
    "along an axis": "return np.apply_along_axis(np.cumsum, 0, np.array([x, x * x]))",
    "cached": "return table(3) * x[0]",
    "kinds of numbers": "return chosen(x[0]) + chosen(x)",
    "defaults": "return with_defaults(x)",
    "closures": "return closing(x)",
    "attributes of classes": "return Model(x).value()",
    "dictionaries of functions": """
        return FUNCTIONS["sin"](x[0]) + FUNCTIONS["nested"][0]([x[0], x[1]])
    """,
    "imports inside": """
        import numpy as numbers
        from math import sin
        from numpy import linalg
        out = numbers.zeros(2)
        out[0] = sin(x[0])
        return out + linalg.norm([x[0], x[1]])
    """,
    "items": """
        return x[0].item() * np.sum(x.tolist()) + x.item(1) * x[:1].item()
    """,
    "functions of math": """
        a, b = x
        return [math.log(a + b, 2), math.hypot(a, b), math.atan2(a, b), math.pow(a, b), math.fsum(x),
                math.prod([a, b]), math.dist((a, b), (1.0, 2.0)), math.copysign(a, -1.0),
                math.degrees(a) + math.floor(a) + math.isnan(a), abs(cmath.exp(1j * a)) + a]
    """,
    "whole numbers": "return x * int(x[0]) + x[: int(x[0])].sum() + round(x[0])",
    "linear algebra": """
        A = [[2.0 + x[0], x[1]], [x[1], 3.0]]
        return np.linalg.solve(A, [1.0, x[0]]) + np.linalg.det(A) + np.linalg.inv(A)[0]
    """,
    "polynomials": """
        return (np.polyval([x[0], x[1], 1.0], 2.0) + np.polynomial.polynomial.polyval(x, [1.0, 2.0, 3.0])
                + np.polynomial.legendre.legval(0.3, x) + np.emath.sqrt(x))
    """,
    "generators": "return np.array([v * v for v in x]) + sum(math.sin(v) for v in x)",
    "text": "return x * 2.0",
}

AROUND = '''
TABLE = np.array([1.0, 2.0, 3.0])
MATRIX = np.array([[1.0, 2.0], [0.5, -1.0]])
HALF = functools.partial(np.multiply, 0.5)


@np.vectorize
def stepped(a):
    return a * a if a > 1 else math.exp(a)


partial_sum = functools.partial(np.sum, axis=0)


@functools.lru_cache(maxsize=None)
def table(n):
    return np.linspace(0.0, 1.0, n)


@functools.singledispatch
def chosen(a):
    raise TypeError(type(a))


@chosen.register(float)
def _(a):
    return math.sin(a)


@chosen.register(np.ndarray)
def _(a):
    return np.cos(a)


def with_defaults(x, make=np.zeros, *, sine=math.sin, xp=np):
    out = make(2)
    out[0] = sine(x[0])
    return xp.asarray(out) + x


def _closing(sine, make):
    def closing(x):
        out = make(2)
        out[1] = sine(x[1])
        return out * x
    return closing


closing = _closing(math.sin, np.ones)


class Model:
    make = np.zeros
    root = math.sqrt
    xp = np

    def __init__(self, x):
        self.x = np.asarray(x)

    @property
    def first(self):
        return self.root(self.x[0])

    @staticmethod
    def square(a, power=np.square):
        return power(np.array([a, a]))

    def value(self):
        out = self.xp.empty(2)
        out[0] = self.first
        out[1] = float(self.x[1])
        return self.square(out[0]) + out


FUNCTIONS = {"sin": math.sin, "nested": [np.sum]}
'''


def source_of(body: str) -> str:
    return AROUND + "\n\ndef f(x):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n"


def numbers(value: Any) -> Any:
    """All elements of what a function returns, as one vector."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return np.concatenate([part.reshape(-1) if hasattr(part, "dtype") else np.array([part]) for part in parts])


def weighted(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def total(x: Any) -> Any:
        found = numbers(f(x))
        return np.sum(found * np.cos(np.arange(found.shape[0]) + 0.3))

    return total


def central(f: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    return np.array([(f(x + e) - f(x - e)) / (2 * step) for e in np.eye(x.size) * step])


WAYS = ("adapting", "by name")


def derivatives(package: Any, way: str) -> tuple[Any, Any]:
    """The gradient of `f` in reverse and in forward mode."""

    def both(f: Callable[[Any], Any]) -> tuple[Any, Any]:
        total = weighted(f)
        forward = [gw.jvp(total, (X,), (e,))[1] for e in np.eye(X.size)]
        return gw.grad(total)(X), np.array(forward)

    if way == "adapting":
        return both(gw.adapting(lambda x: package.f(x)))
    with gw.adapted(package):
        return both(lambda x: package.f(x))


@pytest.mark.parametrize("names", [False, True], ids=["np", "names"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("body", IDIOMS.values(), ids=IDIOMS)
def test_idiom_is_differentiated(tmp_path: Path, body: str, way: str, names: bool) -> None:
    package = written(tmp_path, source_of(body), names=names)
    before = dict(vars(package))
    expected = central(weighted(package.f), X)
    backward, forward = derivatives(package, way)
    np.testing.assert_allclose(backward, expected, rtol=2e-6, atol=2e-7)
    np.testing.assert_allclose(forward, expected, rtol=2e-6, atol=2e-7)
    assert gw.adapted_modules() == []
    assert before.keys() == vars(package).keys()
    assert all(vars(package)[name] is value for name, value in before.items())


@pytest.mark.parametrize("body", IDIOMS.values(), ids=IDIOMS)
def test_plain_values_are_as_before(tmp_path: Path, body: str) -> None:
    package = written(tmp_path, source_of(body))
    expected = package.f(X)
    with gw.adapted(package):
        found = package.f(X)
    np.testing.assert_array_equal(numbers(found), numbers(expected))
    assert type(found) is type(expected)
    if isinstance(expected, (list, tuple)):
        assert [type(one) for one in found] == [type(one) for one in expected]
