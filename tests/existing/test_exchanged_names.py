"""Code that exchanges NumPy's own functions, or asks for modules by their names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.7, 1.3])
SOURCE = """
import contextlib, importlib
from unittest import mock

def double(x): return 2.0 * np.add.reduce(x)

@contextlib.contextmanager
def exchanged(**names):
    kept = {name: getattr(np, name) for name in names}
    for name, value in names.items():
        setattr(np, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(np, name, value)

def by_setattr(x):
    with exchanged(sum=double):
        return np.sum(x**2)

def by_mock_of_an_object(x):
    with mock.patch.object(np, "sum", double):
        return np.sum(x**2)

def by_mock_of_a_name(x):
    with mock.patch("numpy.sum", double):
        return np.sum(x**2)

def by_mock_of_math(x):
    with mock.patch("math.sin", math.cos):
        return math.sin(x[0]) + x[1]

def by_import_module(x):
    numpy = importlib.import_module("numpy")
    out = numpy.zeros(2)
    out[:] = x
    return 3.0 * numpy.sum(out**2) if isinstance(x, numpy.ndarray) else 0.0
"""
NAMES = ("setattr", "mock_of_an_object", "mock_of_a_name", "mock_of_math", "import_module")


@pytest.mark.parametrize("name", NAMES)
def test_inside_of_the_function(tmp_path: Path, name: str) -> None:
    function = getattr(written(tmp_path, SOURCE), f"by_{name}")
    expected = [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    plain, adapted = np.sum, gw.adapting(function)
    for _ in range(3):
        value, found = gw.value_and_grad(adapted)(X)
        assert np.allclose(value, function(X), rtol=1e-14)
        assert np.allclose(found, expected, rtol=1e-6)
    assert np.sum is plain


def test_before_the_function_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = written(tmp_path, "def f(x): return np.sum(x**2) + np.linalg.norm(x)")
    assert np.allclose(gw.grad(gw.adapting(package.f))(X), 2 * X + X / np.linalg.norm(X))

    def tripled(x: Any) -> Any:
        return 3.0 * np.add.reduce(x)

    with monkeypatch.context() as patch:
        patch.setattr("numpy.sum", tripled)
        patch.setattr(np.linalg, "norm", functools.partial(np.linalg.norm, ord=1))
        assert np.allclose(gw.grad(gw.adapting(package.f))(X), 6 * X + 1.0)
        with gw.adapted(package):
            assert np.allclose(gw.grad(lambda x: package.f(x))(X), 6 * X + 1.0)
    assert np.allclose(gw.grad(gw.adapting(package.f))(X), 2 * X + X / np.linalg.norm(X))


def test_the_type_of_a_dtype_is_numpys(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def f(x):
            y = x * np.ones(2, np.float32)
            factor = 2.0 if x.dtype.type is np.float64 else 1.0
            factor += 4.0 if np.float64 is not np.arange(3).dtype.type else 8.0
            factor += 16.0 if type(1.0) is not x.dtype.type else 32.0
            return factor * np.sum(y**2)
        """,
    )
    assert np.allclose(gw.grad(gw.adapting(package.f))(X), 2 * 22.0 * X)
    assert package.f(X) == 22.0 * np.sum(X**2)
