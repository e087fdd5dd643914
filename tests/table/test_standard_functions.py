"""Functions of the standard on tracked values, where a table of calls does not tell all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError
from gradwrap.rules.sets import unique_all_by_sorting
from lambdas import fn, is_a

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
LIBRARIES = [np, strict]
both = pytest.mark.parametrize("library", LIBRARIES, ids=lambda m: m.__name__)


def tracked(library: Any, values: Any) -> Any:
    return gw.wrap(library.asarray(values, dtype=library.float64), requires_grad=True)


# New arrays of tracked values ---------------------------------------------------------------------


@both
def test_meshgrid_sums_the_gradient_of_each_line(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x, y = tracked(library, [1.0, 2.0]), tracked(library, [3.0, 4.0, 5.0])
    for indexing, shape in (("xy", (3, 2)), ("ij", (2, 3))):
        a, b = xp.meshgrid(x, y, indexing=indexing)
        assert a.shape == b.shape == shape
        x.grad = y.grad = None
        xp.sum(a * b).backward()
        np.testing.assert_array_equal(np.asarray(x.grad), [12.0, 12.0])
        np.testing.assert_array_equal(np.asarray(y.grad), [3.0, 3.0, 3.0])
    with pytest.raises(ValueError, match=r"indexing='yx'\. Fix: pass 'xy' or 'ij'"):
        xp.meshgrid(x, y, indexing="yx")


@both
def test_full_of_a_tracked_value_sums_its_gradient(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, 2.0)
    made = xp.full((2, 3), x, dtype=library.float32)
    assert made.dtype == library.float32
    xp.sum(made).backward()
    assert float(x.grad) == 6.0
    assert not xp.full(3, 2.0).requires_grad
    assert not xp.full_like(made, 2.0).requires_grad
    xp.sum(xp.full_like(xp.zeros(4), x)).backward()
    assert float(x.grad) == 10.0


@both
def test_linspace_between_tracked_ends(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, 1.0)
    points = xp.linspace(x, 3.0, 5)
    np.testing.assert_array_equal(np.asarray(points.data), [1.0, 1.5, 2.0, 2.5, 3.0])
    points[1].backward()
    assert float(x.grad) == 0.75
    assert not xp.linspace(0.0, 1.0, 3).requires_grad


@both
def test_numbers_from_tracked_bounds_have_no_rule(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    with pytest.raises(NoRuleError, match=r"arange on \w+ arrays has no rule.*\.detach\(\)"):
        xp.arange(tracked(library, 3.0))


@both
def test_from_dlpack_keeps_the_graph_of_a_variable(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, [1.0, 2.0])
    assert xp.from_dlpack(x) is x
    assert xp.from_dlpack(x, copy=True).requires_grad
    plain = xp.from_dlpack(np.ones(2))
    assert is_a(plain, gw.Variable)
    assert type(plain.data) is type(x.data)


# Devices ------------------------------------------------------------------------------------------


def test_gradient_comes_back_from_another_device() -> None:
    xp: Any = gw.wrap_namespace(strict)
    here, there = strict.Device("CPU_DEVICE"), strict.Device("device1")
    moves: list[Callable[[Any], Any]] = [
        lambda x: x.to_device(there),
        lambda x: xp.asarray(x, device=there),
        lambda x: xp.astype(x, strict.float64, device=there),
        lambda x: xp.asarray(x, dtype=strict.float32, device=there),
    ]
    for move in moves:
        x = tracked(strict, [1.0, 2.0])
        moved = move(x)
        assert moved.device == there
        (moved[0] * moved[1] + xp.sum(moved)).backward()
        assert x.grad.device == here
        np.testing.assert_array_equal(np.asarray(x.grad), [3.0, 2.0])


def test_device_that_numpy_does_not_have_is_its_own_error() -> None:
    with pytest.raises(ValueError, match="Unsupported device"):
        tracked(np, [1.0]).to_device("gpu")


# Sets and positions -------------------------------------------------------------------------------


@both
def test_unique_values_give_their_gradient_to_the_first_occurrence(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    weights = library.asarray([1.0, 10.0, 100.0])
    values = [[3.0, 1.0], [3.0, 2.0]]
    for take in (
        xp.unique_values,
        fn(lambda x: xp.unique_counts(x).values),
        fn(lambda x: xp.unique_inverse(x).values),
        fn(lambda x: xp.unique_all(x).values),
    ):
        x = tracked(library, values)
        xp.sum(take(x) * weights).backward()
        np.testing.assert_array_equal(np.asarray(x.grad), [[100.0, 1.0], [0.0, 10.0]])


@both
def test_positions_and_counts_are_not_tracked(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, [3.0, 1.0, 3.0])
    found = xp.unique_all(x)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    for part, expected in zip(found[1:], ([1, 0], [1, 0, 1], [1, 2]), strict=True):
        assert not part.requires_grad
        np.testing.assert_array_equal(np.asarray(part.data), expected)
    np.testing.assert_array_equal(np.asarray(xp.unique_counts(x).counts.data), [1, 2])
    inverse = xp.unique_inverse(x).inverse_indices
    np.testing.assert_array_equal(np.asarray(xp.unique_values(x)[inverse].data), [3.0, 1.0, 3.0])
    assert int(xp.count_nonzero(x)) == 3
    assert [bool(b) for b in xp.isin(found.counts, xp.asarray([2]))] == [False, True]


@pytest.mark.parametrize("values", [[[3.0, 1.0], [3.0, np.nan]], [np.nan, np.nan], 2.0, []])
def test_unique_elements_are_found_by_sorting_where_a_library_does_not(values: Any) -> None:
    """PyTorch has no `unique_all`; here the same function runs on a library that has."""
    x = strict.asarray(values, dtype=strict.float64)
    for found, expected in zip(unique_all_by_sorting(strict, x), strict.unique_all(x), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.peers
def test_unique_values_of_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    x = gw.wrap(torch.tensor([3.0, 1.0, 3.0]), requires_grad=True)
    xp = x.__array_namespace__()
    xp.sum(xp.unique_values(x) * torch.tensor([1.0, 10.0])).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [10.0, 1.0, 0.0]


def test_numpys_unique_functions_are_differentiated() -> None:
    x = np.array([3.0, 1.0, 3.0])
    squares = gw.grad(fn(lambda v: np.sum(np.unique_counts(v).values ** 2)))
    assert squares(x).tolist() == [6.0, 2.0, 0.0]
    assert gw.grad(fn(lambda v: np.sum(np.unique_values(v))))(x).tolist() == [1.0, 1.0, 0.0]
    assert gw.grad(fn(lambda v: np.sum(np.unique_inverse(v)[0])))(x).tolist() == [1.0, 1.0, 0.0]
    assert gw.grad(fn(lambda v: np.sum(np.unique_all(v)[0])))(x).tolist() == [1.0, 1.0, 0.0]


@both
def test_searchsorted_takes_variables_and_numbers(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, [3.0, 1.0, 2.0])
    order = xp.argsort(x)
    places = xp.searchsorted(x, xp.asarray([1.5, 2.5]), sorter=order)
    np.testing.assert_array_equal(np.asarray(places.data), [1, 2])
    assert int(xp.searchsorted(xp.sort(x), 2.0, side="right")) == 2


# Differences, shapes ------------------------------------------------------------------------------


def test_diff_of_a_negative_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"diff got n=-1\. Fix: pass n >= 0"):
        gw.wrap_namespace(np).diff(tracked(np, [1.0, 2.0]), n=-1)


@both
def test_diff_of_order_zero_is_the_array(library: Any) -> None:
    x = tracked(library, [1.0, 2.0])
    assert gw.wrap_namespace(library).diff(x, n=0) is x


@both
def test_shapes_are_broadcast_without_arrays(library: Any) -> None:
    assert gw.wrap_namespace(library).broadcast_shapes((2, 1), (3,)) == (2, 3)


# The sign of complex numbers ----------------------------------------------------------------------


def test_sign_of_real_numbers_is_not_tracked() -> None:
    x: Any = gw.wrap(np.array([1.0, -2.0]), requires_grad=True)
    assert not np.sign(x).requires_grad
    assert not gw.wrap_namespace(np).sign(x).requires_grad
    assert gw.jvp(np.sign, (np.array([2.0]),), (np.array([1.0]),))[1] == 0.0


def test_sign_of_complex_numbers_moves_on_the_unit_circle() -> None:
    z = np.array([3.0 + 4.0j, 0.0])
    with np.errstate(invalid="ignore"):  # array_api_compat divides first, and then puts the 0
        along = gw.grad(fn(lambda v: np.sum(ANY.real(np.sign(v)))))(z)
    direction = (1 - 0.6 * (0.6 + 0.8j)) / 5
    np.testing.assert_allclose(along, [direction, 0.0], rtol=1e-14)
    gw.testing.check_grads(np.sign, [np.array([3.0 + 4.0j, -1j])])


REDUCTIONS = ["sum", "prod", "mean", "max", "min", "std", "cumsum", "median", "ptp", "nansum"]


@pytest.mark.parametrize("axis", [np.int64(1), np.uint8(1), np.array(-2)], ids=repr)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_axis_is_an_integer_of_numpy(name: str, axis: Any) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    reduce: Any = getattr(np, name)

    def total(x: Any, axis: Any) -> Any:
        return np.sum(reduce(x, axis=axis) ** 2)

    found = gw.grad(lambda x: total(x, axis))(x)

    np.testing.assert_array_equal(found, gw.grad(lambda x: total(x, 1))(x))
    np.testing.assert_array_equal(
        gw.jacfwd(lambda x: total(x, axis))(x), gw.jacfwd(lambda x: total(x, 1))(x)
    )


def test_axis_is_an_integer_argument() -> None:
    x, n = np.random.default_rng(0).normal(size=(2, 3)), np.array(3)

    def f(x: Any, n: Any) -> Any:
        return np.sum(np.sum(x, axis=n % 2) ** 2) + np.sum(np.tensordot(x, x.T, n - 2) ** 2)

    wanted = 2 * np.sum(x, axis=1, keepdims=True) + 4 * x @ x.T @ x

    np.testing.assert_allclose(gw.grad(f)(x, n), wanted)
    np.testing.assert_allclose(gw.compile(gw.grad(f))(x, n), wanted)
