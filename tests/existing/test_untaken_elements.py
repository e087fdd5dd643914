"""Adapted code that leaves elements without a finite derivative: they get none, instead of NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.5, 0.0, 0.3, 0.9])
ROOTS = np.array([0.5, 0.0, 0.5, 0.5]) / np.sqrt(np.array([0.5, 1.0, 0.3, 0.9]))

OF_ROOTS = """
    def by_an_integer(x):
        roots = np.sqrt(x)
        roots[1] = 0.0
        return roots.sum()

    def by_integers(x):
        roots = np.sqrt(x)
        roots[np.flatnonzero(x == 0)] = 0.0
        return roots.sum()

    def by_a_slice(x):
        roots = np.sqrt(x)
        roots[1:2] = 0.0
        return roots.sum()

    def by_nonzero(x):
        return np.sqrt(x)[np.nonzero(x)].sum()

    def by_take(x):
        return np.take(np.sqrt(x), [0, 2, 3]).sum()

    def by_size(x):
        roots = np.sqrt(x)
        return np.max(roots) + np.sort(roots)[1:3].sum()

    def by_put(x):
        roots = np.sqrt(x)
        np.put(roots, [1], 0.0)
        return roots.sum()

    def by_delete(x):
        return np.delete(np.sqrt(x), 1).sum()

    def sorted_first(x):
        return np.sqrt(x)[np.argsort(x)][1:].sum()

    def in_a_loop(x):
        roots, total = np.sqrt(x), 0.0
        for i in range(4):
            if x[i] > 0:
                total = total + roots[i]
        return total

    def stored_one_by_one(x):
        roots = np.zeros(4)
        for i in range(4):
            roots[i] = math.sqrt(x[i]) if i else np.sqrt(x[i])
        roots[x == 0] = 0.0
        return roots.sum()

    def stored_by_columns(x):
        roots = np.zeros((4, 2))
        for i in range(2):
            roots[:, i] = np.sqrt(x) / 2.0
        roots[1] = 0.0
        return roots.sum()

    def joined(x):
        both = np.concatenate([np.sqrt(x), np.ones(2)])
        both[both == 0] = 0.0
        return both.sum()

    def in_a_list(x):
        roots = np.array([np.sqrt(one) for one in x])
        roots[roots == 0] = 0.0
        return roots.sum()

    def filled(x):
        products = np.sqrt(np.diag(x))
        products[np.diag_indices(4)] = np.sqrt(x)
        products[~np.eye(4, dtype=bool)] = 0.0
        return np.delete(products, 1, axis=1).sum()
"""

OF_PAIRS = """
    def above_the_diagonal(x):
        return np.triu(np.sqrt(np.abs(x[:, None] - x[None, :])), 1).sum()

    def indices_of_pairs(x):
        return np.sqrt(np.abs(x[:, None] - x[None, :]))[np.triu_indices(4, 1)].sum()

    def with_a_filled_diagonal(x):
        roots = np.sqrt((x[:, None] - x[None, :]) ** 2)
        roots[np.diag_indices(4)] = np.inf
        return (roots ** -0.5)[np.tril_indices(4, -1)].sum() * 0.0 + (
            np.sqrt(roots)[np.triu_indices(4, 1)].sum()
        )

    def one_by_one(x):
        roots = np.zeros((4, 4))
        for i in range(4):
            for j in range(i, 4):
                roots[i, j] = np.sqrt(np.sqrt((x[i] - x[j]) ** 2))
        roots[roots == 0] = 0.0
        return roots.sum()
"""

TAKEN = """
    def all_of_them(x):
        return np.sum(np.sqrt(x) ** 2)

    def one(x):
        return (np.sqrt(x) ** 2)[1]

    def beside_a_write(x):
        roots = np.sqrt(x)
        roots[0] = 0.0
        return np.sum(roots ** 2)

    def beside_another_index(x):
        roots = np.sqrt(x)
        return roots[0] + np.sum(roots[1:] ** 2)

    def difference(x):
        return np.diff(np.sqrt(x) ** 2)[0]

    def transformed(x):
        return np.fft.fft(np.sqrt(x) ** 2).real[1]

    def stored(x):
        squares = np.zeros(4)
        squares[1] = np.sqrt(x[1])
        return squares[0] + np.sum(squares ** 2)
"""


def names(source: str) -> list[str]:
    return [line.split()[1][:-4] for line in source.splitlines() if line.endswith("(x):")]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name", names(OF_ROOTS))
def test_elements_that_are_left_out_by_any_index(name: str, tmp_path: Path) -> None:
    function = gw.adapting(getattr(written(tmp_path, OF_ROOTS), name))
    assert np.allclose(gw.grad(function)(X), ROOTS)
    assert np.allclose(gw.vjp(function, X)[1](2.0)[0], 2.0 * ROOTS)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name", names(OF_PAIRS))
def test_pairs_of_an_element_with_itself_that_are_left_out(name: str, tmp_path: Path) -> None:
    signs = np.sign(X[:, None] - X)
    distances = np.abs(X[:, None] - X) + np.eye(4)
    expected = (signs / (2 * np.sqrt(distances))).sum(axis=1)
    function = gw.adapting(getattr(written(tmp_path, OF_PAIRS), name))
    assert np.allclose(gw.grad(function)(X), expected)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name", names(TAKEN))
def test_elements_that_are_taken_keep_nan_and_its_warning(name: str, tmp_path: Path) -> None:
    function = gw.adapting(getattr(written(tmp_path, TAKEN), name))
    with pytest.warns(RuntimeWarning, match="invalid value .* in the derivative of sqrt"):
        assert np.isnan(gw.grad(function)(X)[1])


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_jacobians_second_derivatives_and_compiled_gradients(tmp_path: Path) -> None:
    module = written(tmp_path, OF_ROOTS)
    function = gw.adapting(module.by_an_integer)
    rows = gw.jacobian(gw.adapting(lambda x: np.stack([module.by_an_integer(x), x[0]])))(X)
    assert np.allclose(rows, np.stack([ROOTS, np.eye(4)[0]]))
    curvatures = -0.25 * np.array([0.5, 1.0, 0.3, 0.9]) ** -1.5 * (X > 0)
    assert np.allclose(gw.hessian(function)(X), np.diag(curvatures))
    assert np.allclose(gw.compile(gw.grad(function))(X), ROOTS)


def test_a_gradient_without_nan_is_computed_once(tmp_path: Path) -> None:
    """The warnings of a derivative that is infinite are issued once, too."""
    module = written(tmp_path, "def roots(x):\n    return np.sum(np.sqrt(x))\n")
    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        assert gw.grad(gw.adapting(module.roots))(X)[1] == np.inf
    assert len(caught) == 1


def test_a_buffer_of_nan_that_is_made_of_an_argument_may_be_filled(tmp_path: Path) -> None:
    source = """
        from scipy.optimize import brentq
        def run(x):
            results = x.copy() * np.nan
            for n in range(x.size):
                results[n] = brentq(lambda v: v**3 - x[n] * x[0], 0.0, 3.0)
            return results
        """
    run = written(tmp_path, source).run
    x = np.array([0.5, 0.7])
    wanted = [
        [2 * 0.5 / (3 * 0.25 ** (2 / 3)), 0.0],
        [0.35 ** (1 / 3) / 1.5, 0.35 ** (1 / 3) / 2.1],
    ]
    for transform in (gw.jacrev, gw.jacfwd):
        np.testing.assert_allclose(transform(gw.adapting(run))(x), wanted, rtol=1e-6, atol=1e-9)
