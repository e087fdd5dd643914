"""HIPS autograd inside of adapted code, against differences of what it computes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwrap as gw

pytestmark = pytest.mark.peers
try:
    anp: Any = importlib.import_module("autograd.numpy")
    hips: Any = importlib.import_module("autograd")
    extend: Any = importlib.import_module("autograd.extend")
    special: Any = importlib.import_module("autograd.scipy.special")
    stats: Any = importlib.import_module("autograd.scipy.stats")
except ImportError:
    pytest.skip("HIPS autograd is not installed", allow_module_level=True)

X = np.array([0.7, 1.3, 1.9])
Function = Callable[[Any], Any]
cube: Any = extend.primitive(lambda x: x**3)
extend.defvjp(cube, lambda _, x: lambda g: g * 3 * x**2)


def descent(x: Any) -> Any:
    """Take gradient steps whose function has tracked parameters."""
    p = anp.zeros(2)
    for _ in range(4):
        p = p - 0.1 * hips.grad(lambda q: (q[0] - x[0]) ** 2 + (q[1] * x[1] - x[2]) ** 2)(p)
    return anp.sum(p**2)


def in_tables(x: Any) -> Any:
    return hips.grad(lambda p: anp.sum(p["w"] * x) ** 2)({"w": anp.arange(3.0)})["w"] @ x


def solved(x: Any) -> Any:
    a = anp.outer(x, x) + anp.eye(3)
    return hips.grad(lambda y: anp.sum(anp.linalg.solve(a, y) ** 2))(x) @ x + anp.linalg.det(a)


FUNCTIONS: dict[str, Function] = {
    "functions": lambda x: anp.sum(anp.exp(-(x**2)) * anp.sin(x)) + anp.dot(x, x),
    "arrays": lambda x: anp.sum(anp.array([x[0] * x[1], 2.0]) ** 2) + anp.linalg.norm(x),
    "special": lambda x: special.gammaln(x[0] + 1.0) + special.logsumexp(x),
    "densities": lambda x: anp.sum(stats.norm.logpdf(x, 0.0, 2.0)) + stats.t.cdf(x[0], 3.0),
    "gradient": lambda x: hips.grad(lambda y: anp.sum(y**3))(x) @ x,
    "jacobian": lambda x: anp.sum(hips.jacobian(lambda y: y * anp.sin(y))(x) @ x),
    "hessian": lambda x: anp.sum(hips.hessian(lambda y: anp.sum(y**3) + y[0] * y[1])(x) @ x),
    "elementwise": lambda x: anp.sum(hips.elementwise_grad(anp.tanh)(x) ** 2),
    "forward": lambda x: anp.sum(hips.make_jvp(lambda y: y**2 * x)(x)(anp.ones(3))[1]),
    "of a number": lambda x: hips.grad(lambda a: a**2 * x[0])(x[1]),
    "with a closure": lambda x: hips.grad(lambda y: anp.sum(anp.sin(y * x)))(anp.ones(3)) @ x,
    "of densities": lambda x: hips.grad(lambda y: anp.sum(stats.norm.logcdf(y * x)))(x) @ x,
    "einsum": lambda x: hips.grad(lambda y: anp.einsum("i,i->", y, x * y))(x) @ x,
    "maximum": lambda x: hips.grad(lambda y: anp.max(y * x) + anp.linalg.norm(y - 2.0 * x))(x) @ x,
    "own primitive": lambda x: hips.grad(lambda y: anp.sum(cube(y)) * y[0])(x) @ x,
    "steps": descent,
    "tables": in_tables,
    "solve": solved,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_differences(name: str) -> None:
    function = FUNCTIONS[name]
    expected = [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    adapted = gw.adapting(function)
    for _ in range(2):
        value, found = gw.value_and_grad(adapted)(X)
        assert np.allclose(value, function(X), rtol=1e-13)
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-8)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(3)]
    assert np.allclose(forward, expected, rtol=1e-6, atol=1e-8)


def test_hips_alone_is_as_before() -> None:
    gw.grad(gw.adapting(FUNCTIONS["hessian"]))(X)
    assert np.allclose(hips.grad(lambda y: anp.sum(y**3))(X), 3 * X**2, rtol=1e-14)
    assert np.allclose(hips.hessian(lambda y: anp.prod(y))(X)[0, 1], X[2], rtol=1e-14)
