"""Extrema, positions, order statistics and what is made of them: all are really compiled."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.special

import gradwrap as gw
import gradwrap.numpy as gnp

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(3)
A = RNG.standard_normal((5, 4))
POINTS = [A, A[::-1] * 1.3, np.round(A) + 0.0]  # the last has ties
LABELS = np.array([0, 1, 2, 3, 0])
TABLE = np.arange(7.0) ** 2

grad: Any = gw.grad
jvp: Any = gw.jvp
untyped: Any = np


def softmax(a: Any) -> Any:
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_sum_exp(a: Any, axis: Any = None) -> Any:
    top = np.max(a, axis=axis, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True)) + top)


def squares(a: Any) -> Any:
    return ((a[:, None] - a[None, :2]) ** 2).sum(axis=-1)


def nearest(a: Any) -> Any:
    d = squares(a)
    return np.sum(d[np.arange(5), np.argmin(d, axis=1)]) + np.sum(np.min(d, axis=1))


def running(a: Any) -> Any:
    return np.sum(np.maximum.accumulate(a, axis=0) * np.minimum.accumulate(a, axis=1))


def best_of_a_loop(a: Any) -> Any:
    s = 0.0
    for i in range(5):
        s = s + np.max(a[i]) * np.min(a[i]) + np.ptp(a[i])
    return s


def written(a: Any) -> Any:
    b = 1.0 * a
    b[1:] = np.maximum(b[1:], b[:-1])
    b[0] = np.max(b)
    return np.sum(b * a)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "max": lambda a: np.max(a) ** 2,
    "min": lambda a: np.min(a),
    "amax of an axis": lambda a: np.sum(np.amax(a, axis=0) ** 2),
    "amin, axes kept": lambda a: np.sum(np.amin(a, axis=1, keepdims=True) * a),
    "max, all axes kept": lambda a: np.sum(np.max(a, keepdims=True) * a),
    "max of several axes": lambda a: np.max(a, axis=(0, 1)),
    "methods": lambda a: a.max() * a.min() + a.max(axis=-1).sum(),
    "maximum.reduce": lambda a: np.sum(np.maximum.reduce(a)),
    "max with an initial value": lambda a: np.max(a, initial=0.0),
    "max of chosen elements": lambda a: np.max(a, where=a < 1.0, initial=-9.0),
    "nanmax": lambda a: np.nanmax(a) + np.sum(np.nanmin(a, axis=0)),
    "argmax": lambda a: np.sum(a[np.argmax(a[:, 0])]) + np.ravel(a)[np.argmin(a)],
    "the place along an axis": lambda a: np.sum(
        np.take_along_axis(a, np.argmax(a, axis=1)[:, None], axis=1)
    ),
    "running extrema": running,
    "ptp": lambda a: np.ptp(a) + np.sum(np.ptp(a, axis=0) ** 2),
    "logaddexp": lambda a: np.sum(np.logaddexp(a, a[0])) + np.sum(np.logaddexp.reduce(a)),
    "log-sum-exp": log_sum_exp,
    "log-sum-exp of an axis": lambda a: log_sum_exp(a, 1),
    "softmax": lambda a: np.sum(softmax(a) ** 2),
    "cross entropy": lambda a: -np.mean(np.log(softmax(a))[np.arange(5), LABELS]),
    "nearest centres": nearest,
    "maximum norms": lambda a: (
        np.linalg.norm(a[0], np.inf) + np.linalg.norm(a, np.inf) + np.linalg.norm(a[1], -np.inf)
    ),
    "other norms": lambda a: (
        np.linalg.norm(a, 2) + np.linalg.norm(a, 1) + np.sum(np.linalg.norm(a, axis=1))
    ),
    "condition number": lambda a: np.linalg.cond(a[:4]),
    "median": lambda a: np.median(a) + np.sum(np.median(a, axis=0)),
    "quantiles": lambda a: np.percentile(a, 30.0) + np.sum(np.quantile(a, [0.2, 0.7], axis=0)),
    "sort and partition": lambda a: np.sum(np.sort(a, axis=0)[:2]) + np.partition(a[:, 0], 2)[2],
    "argsort": lambda a: np.sum(a[np.argsort(a[:, 0])] * TABLE[:4]),
    "count_nonzero": lambda a: np.sum(a) * np.count_nonzero(a > 0),
    "count_nonzero of an axis": lambda a: np.sum(a * np.count_nonzero(a, axis=0, keepdims=True)),
    "interp": lambda a: np.sum(np.interp(a, np.linspace(-3.0, 3.0, 7), TABLE)),
    "interp between traced points": lambda a: np.interp(0.3, np.cumsum(np.exp(a[:, 0])), a[:, 1]),
    "in a loop": best_of_a_loop,
    "written": written,
    "tangents": lambda a: jvp(lambda b: np.max(b) ** 2 + np.max(b, axis=0)[1], (a,), (a,))[1],
    "hessian": lambda a: np.sum(untyped_hessian(lambda b: np.max(b) ** 2 * np.min(b))(a[0])),
    "a batch": lambda a: np.sum(gw.vmap(grad(lambda b: np.max(b) ** 2))(a) ** 2),
    "special functions": lambda a: np.sum(scipy.special.xlogy(np.max(a) ** 2 + 1.0, a * a + 1.0)),
}
untyped_hessian: Any = gw.hessian


def call_without_warning(compiled: Any, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compiled(*args)


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_reduction_is_compiled(name: str, engine: str) -> None:
    function = grad(PROGRAMS[name])
    compiled: Any = gw.compile(function, engine=engine)
    for a in (A, *POINTS):
        with np.errstate(all="ignore"):
            found, wanted = call_without_warning(compiled, a), function(a)
        assert type(found) is type(wanted)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        if engine == "numpy":
            assert np.array_equal(found, wanted, equal_nan=True)
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)
    assert compiled.programs


def test_extrema_with_not_a_number_are_those_of_eager() -> None:
    function = grad(lambda a: np.max(a) + np.sum(np.min(a, axis=0)))
    compiled: Any = gw.compile(function)
    a = A.copy()
    call_without_warning(compiled, a)
    a[1, 2] = np.nan
    assert np.array_equal(compiled(a), function(a), equal_nan=True)
    assert compiled(a)[1, 2] == 2.0


def test_counts_have_the_types_of_eager() -> None:
    def counts(a: Any) -> Any:
        return gnp.count_nonzero(a > 0), gnp.count_nonzero(a, axis=1), gnp.max(a), gnp.argmax(a)

    compiled: Any = gw.compile(counts)
    for a in (A, -A):
        for found, wanted in zip(call_without_warning(compiled, a), counts(a), strict=True):
            assert type(found) is type(wanted)
            assert np.array_equal(found, wanted)
            assert found.dtype == wanted.dtype


def test_equal_frozen_arrays_are_one() -> None:
    def f(a: Any) -> Any:
        return np.sum((a @ np.ones(4)) * (np.sin(a) @ np.ones(4)) * TABLE[:5])

    compiled: Any = gw.compile(grad(f))
    assert np.array_equal(call_without_warning(compiled, A), grad(f)(A))
    assert compiled.explain().count("float64(4,), frozen") == 1


MIXED: dict[str, Callable[[Any], Any]] = {
    "plain cotangent after a traced one": lambda x: x[1] + x[0] * x[2],
    "before": lambda x: x[0] * x[2] + x[1],
    "plain cotangents at traced places": lambda x: x[np.argmax(x)] + np.sum(x[np.argsort(x)[:2]]),
    "of a whole and a part": lambda x: np.sum(x) + x[np.argmin(x)] + x[2] * x[3],
    "constants at traced places": lambda x: np.sum(x[np.argsort(x)[1:]] * TABLE[:4]),
}


@pytest.mark.parametrize("name", MIXED)
def test_cotangents_that_are_constants_join_traced_ones(name: str) -> None:
    for function in (grad(MIXED[name]), gw.jacrev(MIXED[name]), untyped_hessian(MIXED[name])):
        compiled: Any = gw.compile(function)
        for x in (A[:, 0].copy(), A[:, 1].copy(), -A[:, 2]):
            assert np.array_equal(call_without_warning(compiled, x), function(x))
        assert len(compiled.programs) == 1
        assert "Missed" not in compiled.source
