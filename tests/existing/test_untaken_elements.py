"""Adapted code that leaves elements without a finite derivative: they get none, instead of NaN."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

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
        return np.fft.fft(np.sqrt(x) ** 2).real[0]

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


LIMITS = """
    def with_weights(x):  # the farthest element has no weight
        distance = np.abs(x - 0.4)
        root = np.sqrt((1 - (distance / distance.max()) ** 3) ** 3)
        return np.sum(root * np.sin(x) * np.array([1.0, 2.0, 3.0, 4.0])) / np.sum(root)

    def by_least_squares(x):
        root = np.sqrt((1 - (x / x.max()) ** 3) ** 3)
        line = np.stack([np.ones_like(x), x], axis=1) * root[:, None]
        return np.sum(np.linalg.lstsq(line, np.sin(x) * root, rcond=None)[0])

    def distances(x):
        squares = np.sum((x[:, None] - x[None, :]) ** 2 * np.ones((3, 1, 1)), axis=0)
        return np.sum(np.exp(-np.sqrt(squares)) * np.arange(16.0).reshape(4, 4))

    def of_nothing(x):
        return np.sqrt(np.sum(np.maximum(x - 1.0, 0.0) ** 2)) + x[0] ** 2

    def of_a_slow_limit(x):
        return np.sum(np.sqrt(np.abs(x) ** 3))

    def an_angle(x):
        return np.arccos(x[0] / np.sqrt(x[0] ** 2)) + x[2] ** 2
"""

NO_LIMITS = """
    def a_cusp(x):
        return np.sum(np.cbrt(x ** 2))

    def a_line(x):
        return np.sum(np.cbrt(x ** 3))

    def a_product(x):
        return np.sum(np.sqrt(x) * np.sqrt(x))

    def random(x):
        return np.sum(np.sqrt(x ** 4)) * np.random.default_rng().normal()
"""


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("name", names(LIMITS))
def test_a_zero_that_meets_an_infinite_derivative(name: str, tmp_path: Path) -> None:
    """The limit is zero, as differences of values say."""
    plain = getattr(written(tmp_path, LIMITS), name)
    function = gw.adapting(plain)
    expected = gw.grad(gw.numerical(plain))(X)
    close = partial(np.allclose, atol=3e-3 if name == "of_a_slow_limit" else 1e-6)
    assert close(gw.grad(function)(X), expected)
    rows = gw.jacrev(lambda x: np.stack([function(x) * 2.0, x[1]]))(X)
    assert close(rows, [2.0 * expected, [0.0, 1.0, 0.0, 0.0]])
    assert close(gw.vjp(function, X)[1](-3.0)[0], -3.0 * expected)
    columns = [gw.jvp(function, (X,), (one,))[1] for one in np.eye(4)]
    assert close(columns, expected)

    def several(x: Any) -> Any:
        return function(x), [x[:2], function(x) * np.ones(5)]

    by_columns = gw.jacfwd(several)(X)
    assert close(by_columns[1][1], np.tile(expected, (5, 1)))
    assert close(by_columns[0], expected)
    assert close(by_columns[1][0], np.eye(4)[:2])
    repeated = gw.jacobian(lambda x: function(x) * np.ones(5))
    assert close(repeated(X), np.tile(expected, (5, 1)))
    before = X.copy()
    in_two = gw.grad(lambda a, named: function(np.concatenate([a, named["b"]])), argnums=(0, 1))
    first, second = in_two(X[:2], {"b": X[2:]})
    assert close([*first, *second["b"]], expected)
    assert np.array_equal(X, before)


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("name", names(NO_LIMITS))
def test_zeros_and_infinities_without_the_limit_zero_stay_nan(name: str, tmp_path: Path) -> None:
    function = gw.adapting(getattr(written(tmp_path, NO_LIMITS), name))
    assert np.isnan(gw.grad(function)(X)).tolist() == [False, True, False, False]
    assert np.isnan(gw.jacrev(lambda x: function(x) * np.ones(2))(X)[:, 1]).all()


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("name", ["by_an_integer", "in_a_loop"])
def test_a_program_that_was_made_where_there_was_no_nan(name: str, tmp_path: Path) -> None:
    """It gives NaN at a zero; the function runs there, and has other passes."""
    function = gw.adapting(getattr(written(tmp_path, OF_ROOTS), name))
    compiled = gw.compile(gw.grad(function))
    assert np.allclose(compiled(X + 0.1)[2:], 0.5 / np.sqrt(X + 0.1)[2:])
    for _ in range(2):
        assert np.allclose(compiled(X), ROOTS)
    assert len(compiled.programs) == 1


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_programs_of_single_precision_leave_nan_to_the_function_too(tmp_path: Path) -> None:
    function = gw.adapting(written(tmp_path, OF_ROOTS).by_an_integer)
    slope = gw.compile(lambda x: gw.grad(function)(x)[1])  # a number of NumPy's
    x = X.astype(np.float32)
    assert np.isclose(slope(x + np.float32(0.1)), 0.0)
    assert slope(x) == 0.0


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_program_that_was_made_at_a_limit(tmp_path: Path) -> None:
    function = gw.adapting(written(tmp_path, LIMITS).with_weights)
    compiled = gw.compile(gw.grad(function))
    forward = gw.compile(lambda x: gw.jvp(function, (x,), (np.ones(4),))[1])
    for x in (X, X + np.array([0.3, 0.0, 0.1, 0.2]), X):
        assert np.allclose(compiled(x), gw.grad(function)(x))
        assert np.allclose(forward(x), compiled(x).sum())


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("name", [*names(OF_ROOTS)])
def test_forward_mode_asks_reverse_mode(name: str, tmp_path: Path) -> None:
    function = gw.adapting(getattr(written(tmp_path, OF_ROOTS), name))
    assert np.allclose([gw.jvp(function, (X,), (one,))[1] for one in np.eye(4)], ROOTS)
    found, tangent, more = gw.jvp(
        lambda x, n: ({"a": [function(x), x]}, n), (X, 3), (np.ones(4), None), has_aux=True
    )
    assert np.allclose(tangent["a"][0], ROOTS.sum())
    assert np.allclose(tangent["a"][1], 1.0)
    assert more == 3
    assert np.allclose(found["a"][0], function(X))


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_tangent_along_other_elements_than_one_without_a_limit(tmp_path: Path) -> None:
    function = gw.adapting(written(tmp_path, NO_LIMITS).a_line)
    slopes = np.array([1.0, np.nan, 1.0, 1.0])
    found = [gw.jvp(function, (X,), (one,))[1] for one in np.eye(4)]
    assert np.allclose(found, slopes, equal_nan=True)


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_nan_of_a_function_that_has_a_derivative_in_forward_mode_alone(tmp_path: Path) -> None:
    twice = gw.primitive(lambda x: 2.0 * x)
    gw.defjvp(twice, lambda xp, t, x: 2.0 * t)
    package = written(tmp_path, "def run(x, twice):\n    return np.sum(twice(np.sqrt(x) ** 2))\n")
    function = gw.adapting(package.run)
    value, tangent = gw.jvp(lambda x: function(x, twice), (X,), (np.ones(4),))
    assert np.isclose(value, 2.0 * X.sum())
    assert np.isnan(tangent)


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
