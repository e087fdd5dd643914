"""Slices of ever more or fewer elements: `gradwrap.compiler.passes.ragged`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from sampling import crossed
from square_systems import ENGINES, arguments, compiled_at

if TYPE_CHECKING:
    from collections.abc import Callable


def substitution(a: Any, b: Any) -> Any:
    x = gnp.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


def by_columns(a: Any, b: Any) -> Any:
    x = b.copy()
    for i in range(len(b) - 1, -1, -1):
        x[i] = x[i] / a[i, i]
        x[:i] -= a[:i, i] * x[i]
    return np.sum(x**2)


def elimination(a: Any, b: Any) -> Any:
    a, x, n = a.copy(), b.copy(), len(b)
    for k in range(n - 1):
        f = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k:] -= f[:, None] * a[k, k:]
        x[k + 1 :] -= f * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return np.sum(x**2)


def lu(a: Any, b: Any) -> Any:
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a * a) + np.sum(b)


def cholesky(a: Any, b: Any) -> Any:
    a = a.copy()
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, len(a)):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(np.tril(a) ** 2) + np.sum(b)


def orthogonal(a: Any, b: Any) -> Any:
    """Modified Gram-Schmidt: fewer columns from turn to turn."""
    Q, n = a.copy(), a.shape[1]
    for k in range(n):
        Q[:, k] = Q[:, k] / np.sqrt(np.sum(Q[:, k] ** 2))
        Q[:, k + 1 :] -= Q[:, k : k + 1] * (Q[:, k] @ Q[:, k + 1 :])
    return np.sum(Q[:, -1] * b)


def projections(a: Any, b: Any) -> Any:
    """Classical Gram-Schmidt: more columns from turn to turn, and their transpose."""
    Q = gnp.zeros_like(a)
    for k in range(a.shape[1]):
        v = a[:, k] - Q[:, :k] @ (Q[:, :k].T @ a[:, k])
        Q[:, k] = v / np.linalg.norm(v)
    return np.sum(Q[:, -1] * b)


def attention(a: Any, b: Any) -> Any:
    out = 0.0
    for t in range(1, len(b)):
        w = np.exp(a[:t] @ a[t] * 0.1)
        w = w / np.sum(w)
        out = out + np.sum((w @ a[:t]) * b)
    return out


def levinson(a: Any, b: Any) -> Any:
    """Reversed parts, which move along the axis from turn to turn."""
    r = 0.03 * np.tanh(b)
    y = gnp.zeros_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = alpha
    for k in range(1, len(b)):
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return np.sum(y * y) + np.sum(a[0])


def option(a: Any, b: Any) -> Any:
    """a binomial tree with an exercise value in each turn."""
    n = len(b)
    v = np.maximum(np.exp(b) - 1.0, 0.0)
    for i in range(n - 1):
        v = np.maximum(0.5 * v[1:] + 0.49 * v[:-1], b[: n - 1 - i] * 0.9)
    return v[0] + np.sum(a[0])


def averages(a: Any, b: Any) -> Any:
    s = 0.0
    for i in range(2, len(b)):
        s = s + (b[i] - np.mean(b[:i])) ** 2 * np.max(b[:i]) + np.min(a[i, i:])
    return s


FUNCTIONS = [
    substitution,
    by_columns,
    elimination,
    lu,
    cholesky,
    orthogonal,
    projections,
    attention,
    levinson,
    option,
    averages,
]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let loops of few operations be extrapolated too."""
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 10)
    monkeypatch.setattr("gradwrap.compiler.extrapolating.worth.CALLS", 1)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("function", "engine"),
    crossed(
        [substitution, *(pytest.param(f, marks=pytest.mark.slow) for f in FUNCTIONS[1:])], ENGINES
    ),
)
def test_the_program_is_extrapolated(function: Callable[..., Any], engine: str) -> None:
    report = compiled_at(function, 33, engine, atol=1e-11)
    assert "turns: extrapolated from traces of" in report
    assert "slices whose length varies: computed as whole axes with masks" in report


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("engine", ENGINES)
def test_what_lies_outside_of_slices_has_no_effect(engine: str) -> None:
    def function(A: Any, b: Any) -> Any:
        s = 0.0
        for i in range(1, len(b)):
            s = s + np.sum(A[0, :i]) * b[i] + A[1, :i] @ b[:i] + np.max(A[2, :i])
        return s

    def changed(seed: int) -> tuple[Any, Any]:
        a, b = arguments(40, seed)
        a[:3, -1] = np.nan, np.inf, -np.inf  # in no slice
        return a, b

    gradient = gw.grad(function, (0, 1))
    compiled = gw.compile(gradient, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(*changed(0))
        found = compiled(*changed(1))
    assert "computed as whole axes with masks" in compiled.explain()
    for wanted, one in zip(gradient(*changed(1)), found, strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("at_once")
def test_elements_outside_of_slices_give_no_warnings() -> None:
    def function(b: Any) -> Any:
        x = gnp.zeros_like(b)
        s = 0.0
        for i in range(len(b)):
            x[i] = np.exp(b[i])
            s = s + np.sum(np.log(x[: i + 1]) / x[: i + 1])  # the rest of x is 0
        return s

    gradient = gw.grad(function)
    compiled = gw.compile(gradient)
    b = arguments(40, 0)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(b)
        found = compiled(-b)
    assert "computed as whole axes with masks" in compiled.explain()
    np.testing.assert_allclose(found, gradient(-b), rtol=1e-12)


@pytest.mark.usefixtures("at_once")
@pytest.mark.slow
def test_an_ill_conditioned_program_is_compared_with_its_movement() -> None:
    """Sums in another order differ by more than rounding, as the function's own results do."""
    n = 40
    a = np.minimum.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1))
    a = a + 1e-7 * np.vander(np.linspace(0.1, 1.0, n), n)

    def function(a: Any) -> Any:
        return lu(a, np.zeros(n))

    compiled = gw.compile(gw.grad(function))
    compiled(a)
    assert "extrapolated" in compiled.explain()


@pytest.mark.usefixtures("at_once")
def test_programs_with_too_many_elements_are_traced_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.worth.BY_NUMPY", 1.0)
    report = compiled_at(substitution, 33, "numpy", atol=1e-11)
    assert "whole axes in place of its slices would take too much time or memory" in report
    assert "with masks" not in report


def update(a: Any, b: Any) -> Any:
    c = np.outer(b, b)
    for i in range(len(a)):
        for k in range(5):
            c[i, : i + 1] += a[i, k] * a[: i + 1, k]
    return np.sum(c * c)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "n"), [(cholesky, 45), (update, 60)])
def test_a_write_counts_what_is_written_and_a_trace_counts_every_turn(
    function: Callable[..., Any], n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turns of `update` become a few operations on all turns; a trace would have them all."""
    monkeypatch.setattr("gradwrap.compiler.calls.entry.FIRST", 10)
    report = compiled_at(function, n, "numpy", atol=1e-11)
    assert "turns: extrapolated from traces of" in report
    assert "computed as whole axes with masks" in report


@pytest.mark.usefixtures("at_once")
def test_large_masks_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwrap.compiler.extrapolating.worth.LARGEST", 33 * 34 - 1)
    report = compiled_at(substitution, 33, "numpy", atol=1e-11)
    assert "whole axes in place of its slices would take too much time or memory" in report


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("engine", ENGINES)
def test_parts_of_single_precision(engine: str) -> None:
    def function(a: Any, b: Any) -> Any:
        x = gnp.zeros_like(a[0])
        for i in range(1, len(b)):
            x[:i] = 0.9 * x[:i] + np.tanh(b[:i]) * np.mean(a[i, :i])  # float64 in float32
            x[i:] += 0.1 * a[i, i:]
        return np.sum(x * x)

    def single(seed: int) -> tuple[Any, Any]:
        a, b = arguments(33, seed)
        return a.astype(np.float32), b

    gradient = gw.grad(function, (0, 1))
    compiled = gw.compile(gradient, engine=engine)
    compiled(*single(0))
    for wanted, found in zip(gradient(*single(1)), compiled(*single(1)), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


class _Writer:
    """Writes random loops over slices of varying length."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def pick(self, *choices: str) -> str:
        return str(self.rng.choice(choices))

    def part(self) -> str:
        """Return a part of a vector with `i` elements."""
        return self.pick("b[:i]", "x[:i]", "A[i, :i]", "A[:i, i]", "A[2, :i]", "b[:i][::-1]")

    def vector(self) -> str:
        one, other = self.part(), self.part()
        return self.pick(
            *(one, f"({one} * {other})", f"({one} + 0.5 * {other})", f"np.tanh({one})"),
            *(f"np.where({one} > 0.0, {other}, 0.1)", f"({one} * b[i])", f"(1.0 - {one})"),
        )

    def number(self) -> str:
        one, other = self.vector(), self.vector()
        return self.pick(
            *(f"np.sum({one})", f"({one} @ {other})", f"np.mean({one})", f"np.max({one})"),
            *(f"np.sum(np.exp(0.1 * {one}))", f"np.sum(A[:i, :2].T @ {one})"),
        )

    def function(self) -> Callable[..., Any]:
        lines = ["def function(A, b):", "    x, s = gnp.zeros_like(b), 0.0", "    x[0] = b[1]"]
        lines += [
            "    for i in range(1, len(b)):",
            f"        s = s + 0.1 * np.tanh({self.number()})",
        ]
        lines += [f"        x[i] = b[i] + 0.1 * np.tanh({self.number()})"]
        if self.rng.random() < 0.5:
            lines += [f"        x[:i] = 0.9 * x[:i] + 0.1 * np.tanh({self.vector()})"]
        if self.rng.random() < 0.3:
            lines += [f"        x[:i] += 0.01 * np.tanh({self.vector()})"]
        lines += ["    return s + np.sum(x * x)"]
        found: dict[str, Any] = {}
        exec("\n".join(lines), {"np": np, "gnp": gnp}, found)  # noqa: S102  the source is random
        made: Callable[..., Any] = found["function"]
        return made


@pytest.mark.usefixtures("at_once")
@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(6))
def test_random_loops_over_slices(seed: int, engine: str) -> None:
    compiled_at(_Writer(seed).function(), 31 + seed, engine, atol=1e-11)
