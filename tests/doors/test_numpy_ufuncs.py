"""NumPy's ufuncs: those beyond the standard, their methods, and their keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy
from against_numpy import assert_same, check
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import InPlaceError, NoRuleError, OutArgumentError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from lambdas import Function

A = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))
V = np.random.default_rng(1).uniform(0.5, 2.0, 5)
T = np.random.default_rng(3).uniform(0.5, 2.0, (2, 3, 4))
MASK = A > 1

ADD: Any = np.add
ANY: Any = np
CASES: list[tuple[str, Function, tuple[Any, ...]]] = [
    # beyond the standard
    ("cbrt", np.cbrt, (A,)),
    ("exp2", np.exp2, (A,)),
    ("deg2rad", np.deg2rad, (A,)),
    ("rad2deg", np.rad2deg, (A,)),
    ("degrees", np.degrees, (A,)),
    ("radians", np.radians, (A,)),
    ("fabs", lambda x: np.fabs(x - 1.1), (A,)),
    ("fmax", lambda x: np.fmax(x, 1.0) ** 2, (A,)),
    ("fmin", lambda x, y: np.fmin(x, y) ** 2, (A, A[0] + 0.1)),
    ("float_power", np.float_power, (A, A[0])),
    ("fmod", lambda x: np.fmod(x, 0.9) ** 2, (A,)),
    ("logaddexp2", np.logaddexp2, (A, A[0])),
    ("true_divide", lambda x, y: np.true_divide(x, y), (A, A[0])),
    ("absolute", lambda x: np.absolute(x - 1.1), (A,)),
    ("conjugate", lambda x: np.conjugate(x * 1j), (A,)),
    ("heaviside", lambda x: np.heaviside(x - 1.0, 0.5) * x, (A,)),
    ("divmod", lambda x, y: np.divmod(x * 3.3, y), (A, A[0])),
    ("modf", lambda x: np.modf(-3.3 * x), (A,)),
    ("frexp", lambda x: np.frexp(3.3 * x), (A,)),
    ("ldexp", lambda x: np.ldexp(x, [1, -2, 0, 3]), (A,)),
    ("vecdot", np.vecdot, (T, T[0] ** 2)),
    ("casting", lambda x, y: np.add(x, y, casting="unsafe") ** 2, (A, A[0])),
    ("vecdot axis", lambda x, y: ANY.vecdot(x, y, axis=-2), (T, T[0] ** 2)),
    ("vecdot complex", lambda x, y: np.vecdot(x * 1j + x, y * 1j), (T, T[0])),
    ("a list as operand", lambda x: np.multiply([[1.0], [2.0], [3.0]], x), (A,)),
    ("a list of variables as operand", lambda x: np.add([x[0], x[1]], x[2]), (A,)),
    # reduce
    ("add.reduce", lambda x: np.add.reduce(x), (A,)),
    ("add.reduce positional", lambda x: ADD.reduce(x, 1, None, None, True), (A,)),
    ("add.reduce all", lambda x: np.add.reduce(x, axis=None, initial=3.0) ** 2, (T,)),
    ("add.reduce where", lambda x: np.add.reduce(x, where=MASK) ** 2, (A,)),
    ("add.reduce axes", lambda x: np.add.reduce(x, axis=(0, 2), keepdims=True), (T,)),
    ("multiply.reduce", lambda x: np.multiply.reduce(x, axis=1), (A,)),
    ("maximum.reduce", lambda x: np.maximum.reduce(x, axis=None), (A,)),
    ("minimum.reduce", lambda x: np.minimum.reduce(x, axis=1, initial=1.0) ** 2, (A,)),
    ("logaddexp.reduce", lambda x: np.logaddexp.reduce(x, axis=1), (A,)),
    ("logaddexp.reduce all", lambda x: np.logaddexp.reduce(x, axis=None, keepdims=True), (A,)),
    ("logaddexp.reduce large", lambda x: np.logaddexp.reduce(x + 1e4), (V,)),
    ("subtract.reduce", lambda x: np.subtract.reduce(x) ** 2, (A,)),
    ("divide.reduce", lambda x: np.divide.reduce(x, axis=-1, keepdims=True), (A,)),
    ("hypot.reduce", lambda x: np.hypot.reduce(x), (A,)),
    # accumulate
    ("add.accumulate", lambda x: np.add.accumulate(x, axis=1) ** 2, (A,)),
    ("multiply.accumulate", lambda x: np.multiply.accumulate(x), (A,)),
    ("maximum.accumulate", lambda x: np.maximum.accumulate(x, axis=1) ** 2, (A,)),
    ("minimum.accumulate", lambda x: np.minimum.accumulate(x, axis=0) ** 2, (T,)),
    ("logaddexp.accumulate", lambda x: np.logaddexp.accumulate(x), (A,)),
    # outer
    ("multiply.outer", lambda x: np.multiply.outer(x, x), (V,)),
    ("subtract.outer", lambda x, y: np.subtract.outer(x, y) ** 2, (V, A)),
    ("outer constant", lambda x: np.power.outer(x, [1.0, 2.0, 3.0]), (V,)),
    # keywords
    ("dtype", lambda x: np.multiply(x, x, dtype=np.complex128) ** 2, (A,)),
    ("defaults", lambda x: np.sin(x, where=True, casting="same_kind", order="K"), (A,)),
    ("order", lambda x: np.matmul(x, np.add(x, 1.0, order="C").T, order="F"), (A,)),
    ("power", lambda x: np.power(x, 3), (A,)),
    ("square sqrt", lambda x: np.sqrt(np.square(x) + 1.0), (A,)),
    # either operand, array scalars
    ("array left", lambda x: (A * x) / (A - x * 0.1) - A**x + (A @ x.T)[0, 0], (A + 1,)),
    ("array right", lambda x: (x * A) / (x - A * 0.1) - x**A + (x @ A.T)[0, 0], (A + 1,)),
    ("scalar left", lambda x: np.float64(2.0) * x - np.float64(1.0) / x, (A,)),
    ("scalar right", lambda x: x * np.float64(2.0) - x ** np.float64(1.5), (A,)),
    ("integers", lambda x: np.arange(4) * x + x / np.int64(3) + 2**x, (A,)),
    ("0-d", lambda x: np.float64(3.0) * x * np.array(2.0), (np.array(1.5),)),
    ("list right", lambda x: x - [1.0, 2.0, 3.0, 4.0], (A,)),
    ("list left", lambda x: [1.0, 2.0, 3.0, 4.0] * x, (A,)),
]


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_value_is_numpys_and_derivatives_are_numerical(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    check(function, args)


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_arrays_that_are_not_tracked(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    result = function(*(gw.wrap(a) for a in args))
    assert_same(map_leaves(gw.unwrap, result), function(*args))


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="from NumPy 2.2 on")
def test_matrix_and_vector() -> None:
    check(fn(lambda x, y: np.matvec(x, y)), (T, T[0, 0]))
    check(fn(lambda x, y: np.vecmat(x, y)), (T[:, :, 0] + 0j, T))


# where= and out= ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["less", "equal", "isnan", "logical_and", "logical_not"])
def test_truths_where_a_mask_is_set_are_truths(name: str) -> None:
    """As numbers they would be indices where they choose elements."""
    ufunc = getattr(np, name)

    def function(x: Any) -> Any:
        found = ufunc(*(x,) * ufunc.nin, where=MASK)
        np.testing.assert_array_equal(found[MASK], ufunc(*(A[MASK],) * ufunc.nin))
        assert found.dtype == bool
        assert not np.any(found[~MASK])
        return np.sum(x)

    gw.grad(function)(A)


def test_where_with_out_keeps_nan_out_of_the_gradient() -> None:
    """The usual way to divide safely."""

    def program(x: Any, y: Any) -> Any:
        quotient = np.divide(x, y, out=np.zeros_like(x), where=y != 0)
        logarithm = np.log(x, out=np.full_like(x, -1.0), where=x > 0)
        return quotient * logarithm

    x = np.array([1.0, 2.0, 0.0, -1.0])
    y = np.array([0.0, 2.0, 3.0, 0.0])
    value, pull = gw.vjp(program, x, y)
    np.testing.assert_array_equal(value, program(x, y))
    gradients = pull(np.ones(4))
    logarithm = np.log(2.0)
    np.testing.assert_allclose(gradients[0], [0.0, logarithm / 2 + 0.5, -1 / 3, 0.0])
    np.testing.assert_allclose(gradients[1], [0.0, -2.0 / 4 * logarithm, 0.0, 0.0], atol=1e-15)


def test_where_without_out_leaves_zeros() -> None:
    gradient = gw.grad(lambda x: np.sum(np.log(x, where=MASK)[MASK]))(A)
    np.testing.assert_allclose(gradient, np.where(MASK, 1 / A, 0.0))


def test_out_a_variable_is_written_to() -> None:
    def program(x: Any) -> Any:
        out = x * 2.0
        assert np.multiply(x, out, out=out) is out
        np.add(out, 1.0, out=(out,))
        whole, part = np.zeros_like(x), np.zeros_like(x)
        np.divmod(out, 0.7, out=(whole, part))
        return out * part

    check(program, (A,))


def test_out_that_does_not_fit_is_refused() -> None:
    x: Any = gw.wrap(A, requires_grad=True)
    into: Any = gw.wrap(np.zeros((3, 4), dtype=np.int64))
    with pytest.raises(InPlaceError, match="int64"):
        np.multiply(x, x, out=into)
    with pytest.raises(ValueError, match="broadcast"):
        np.multiply(x, x, out=x[0] * 1.0)


def test_out_a_plain_array_holds_what_is_not_tracked() -> None:
    out = np.zeros((3, 4))
    assert np.multiply(gw.wrap(A), A, out=out) is out
    np.testing.assert_array_equal(out, A * A)
    out += gw.wrap(A)
    np.testing.assert_array_equal(out, A * A + A)
    with gw.no_grad():
        out -= gw.wrap(A, requires_grad=True)
    np.testing.assert_allclose(out, A * A)


def test_a_plain_array_changed_in_place_is_refused() -> None:
    x = gw.wrap(A, requires_grad=True)
    out = np.zeros((3, 4))
    with pytest.raises(OutArgumentError, match=r"np\.add.* Fix: .* write a = a \+ x"):
        out += x
    with pytest.raises(OutArgumentError, match=r"np\.matmul"):
        out[:, :3] @= x[:, :3]


# at -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [[0, 0, 2], 1, slice(0, 2), (np.array([0, 0, 1]), slice(1, 3))])
@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
def test_at_adds_once_for_each_index(ufunc: Any, key: Any) -> None:
    shape = A[key].shape

    def program(x: Any, y: Any) -> Any:
        out = x * 1.0
        ufunc.at(out, key, y**2)
        return out * x

    check(program, (A, np.broadcast_to(A[0, 0] * 1.5, shape).copy()))
    check(program, (A, np.float64(1.5)))


@pytest.mark.parametrize(
    ("ufunc", "key", "values"),
    [
        (np.multiply, [0, 0, 2, 0], 1),
        (np.maximum, np.array([1, 1, 2]), 1),
        (np.minimum, ([0, 0, 2], slice(1, 3)), 1),
        (np.divide, (np.array([[0, 1], [0, 2]]), [1, 1]), 1),
        (np.hypot, (slice(None), [0, 0]), 1),
        (np.power, -1, 1),
        (np.exp, ([0, 0, 1], [2, 2, 3]), 0),
    ],
)
def test_at_of_other_ufuncs_goes_on_from_the_last_value(ufunc: Any, key: Any, values: int) -> None:
    random = np.random.default_rng(5)
    given = [random.uniform(0.5, 1.5, A[key].shape) for _ in range(values)]

    def program(x: Any, *others: Any) -> Any:
        out = x * 0.3
        ufunc.at(out, key, *others)
        return out * x

    check(program, (A, *given))


@pytest.mark.parametrize("namespace", [np, gradwrap.numpy])
@pytest.mark.parametrize("ufunc", ["add", "maximum"])
def test_at_takes_one_tracked_index_for_each_axis(namespace: Any, ufunc: str) -> None:
    def program(x: Any) -> Any:
        grid = x @ x.T * 0.0
        rows, columns = np.argsort(x, axis=0)[:, 0], np.argmax(x, axis=1) % 3
        at = getattr(namespace, ufunc).at
        at(grid, (rows, columns), x[:, 0])
        at(grid, ([rows[0], 0], [columns[1], 2]), x[1, 1:3])
        at(grid, (rows[0], columns[0]), x[2, 2])
        return grid

    check(program, (A,))


def test_at_indices_that_vmap_maps_over() -> None:
    def deposited(x: Any) -> Any:
        grid = np.zeros(4) * x[0]
        np.add.at(grid, np.floor(x).astype(int), x**2)
        return grid

    batch = T[0] * 1.9
    wanted = [deposited(x) for x in batch]
    np.testing.assert_allclose(gw.vmap(deposited, fallback="error")(batch), wanted)
    gradients = gw.vmap(gw.grad(fn(lambda x: np.sum(deposited(x) ** 2))))(batch)
    for x, gradient in zip(batch, gradients, strict=True):
        np.testing.assert_allclose(gradient, 4 * x * deposited(x)[np.floor(x).astype(int)])


def test_at_of_other_ufuncs_and_plain_arrays() -> None:
    x = gw.wrap(A, requires_grad=True)
    with pytest.raises(OutArgumentError, match=r"np\.add\.at into an ndarray.*gradwrap\.wrap"):
        np.add.at(np.zeros((3, 4)), [0], x[:1])
    out = np.zeros((3, 4))
    np.add.at(out, [0, 0], gw.wrap(A[0]))
    np.testing.assert_array_equal(out[0], 2 * A[0])


# reduceat -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("indices", [[0, 2], [1], [0, 2, 1, 1], np.array([2, 0, 2])])
@pytest.mark.parametrize(
    "ufunc", [np.add, np.multiply, np.maximum, np.minimum, np.subtract, np.logaddexp]
)
def test_reduceat_reduces_from_index_to_index(ufunc: Any, indices: Any) -> None:
    def program(x: Any, t: Any) -> Any:
        return ufunc.reduceat(x, indices, axis=-1), ufunc.reduceat(t, indices, 1)

    check(program, (A, T))


def test_reduceat_with_its_options() -> None:
    def program(x: Any) -> Any:
        out = x[:2] * 0.0
        np.add.reduceat(x * x, [0, 1], out=out)
        return out * x[0], np.add.reduceat(x, [0, 3], axis=1, dtype=np.complex128)

    check(program, (A,))
    single: Any = gw.vjp(fn(lambda x: np.add.reduceat(x, [0, 2])), np.ones(3, np.float32))[0]
    assert single.dtype == np.float32
    with pytest.raises(IndexError, match="index 5 out-of-bounds"):
        gw.grad(fn(lambda x: np.sum(np.add.reduceat(x, [0, 5]))))(V)


# What has no rule ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "text"),
    rows(
        [
            (lambda x: np.hypot.reduce(x, axis=(0, 1)), r"np\.hypot\.reduce over several axes"),
            (lambda x: np.logaddexp.reduce(x, initial=1.0), "initial="),
            (lambda x: np.matmul(x, x.T, axes=[(0, 1), (0, 1), (0, 1)]), "axes= has no rule"),
            (lambda x: np.frompyfunc(lambda v: v, 1, 1)(x), r"Fix: np\.vectorize\(function\)"),
        ]
    ),
)
def test_what_has_no_rule_says_so(function: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(NoRuleError, match=text):
        function(gw.wrap(A, requires_grad=True))


def test_without_a_rule_is_fine_on_data() -> None:
    result: Any = np.add.reduceat(gw.wrap(A), [0, 2])
    np.testing.assert_array_equal(result, np.add.reduceat(A, [0, 2]))


def test_conventions() -> None:
    def slopes(ufunc: Any, x: Any, y: Any) -> Any:
        return gw.grad(ufunc, argnums=(0, 1))(x, y)

    assert slopes(np.fmax, 1.0, np.nan) == (1.0, 0.0)
    assert slopes(np.fmax, np.nan, 1.0) == (0.0, 1.0)
    assert slopes(np.fmin, 2.0, 2.0) == (0.5, 0.5)
    assert slopes(np.maximum, 1.0, np.nan) == (0.0, 1.0)
    assert gw.grad(lambda x: np.fabs(x))(0.0) == 0.0
    assert np.isnan(gw.grad(lambda x: np.cbrt(x))(np.nan))


# Values at the ends of a range, and steps ---------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_ldexp_is_numpys_where_its_factor_is_out_of_range(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    powers = rng.integers(-2200, 2200, 400)
    data = np.ldexp(rng.uniform(0.5, 1.0, 400), rng.integers(-1000, 1000, 400))
    if dtype is not np.float64:
        powers, data = rng.integers(-290, 290, 400), np.ldexp(data, -np.frexp(data)[1] + 60)
    data = data.astype(dtype)
    with np.errstate(all="ignore"):
        wanted = np.ldexp(data, powers)
        found = gw.wrap(data)
        ours: Any = np.ldexp(found, powers)
        np.testing.assert_array_equal(ours.data, wanted)
    assert ours.dtype == wanted.dtype
    value, pull = gw.vjp(fn(lambda x: np.ldexp(x, -1500)), 2.0**500)
    assert value == 2.0**-1000
    assert pull(2.0**600)[0] == 2.0**-900
    value, pull = gw.vjp(fn(lambda x: np.ldexp(x, np.int8(100))), 1.5)
    assert (value, pull(1.0)[0]) == (1.5 * 2.0**100, 2.0**100)


def test_heaviside_has_a_gradient_in_its_value_at_zero() -> None:
    at = np.array([-1.0, 0.0, 1.0, 0.0])
    half = np.full(4, 0.5)
    total = fn(lambda x, h: np.sum(np.heaviside(x, h) * np.arange(1.0, 5.0)))
    np.testing.assert_array_equal(gw.grad(total, 1)(at, half), [0, 2, 0, 4])
    np.testing.assert_array_equal(gw.grad(total, 0)(at, half), 0.0)
    np.testing.assert_array_equal(gw.jvp(total, (at, half), (half, half))[1], 3.0)
    single = fn(lambda h: np.sum(np.heaviside(at[:, None], h)))
    np.testing.assert_array_equal(gw.grad(single)(half), [2, 2, 2, 2])


# Shapes of out= -----------------------------------------------------------------------------------

REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "reduce": lambda x, out: ANY.add.reduce(x, axis=0, out=out),
    "accumulate": lambda x, out: ANY.add.accumulate(x, axis=0, out=out),
    "sum": lambda x, out: ANY.sum(x, axis=0, out=out),
    "method": lambda x, out: x.mean(0, out=out),
    "median": lambda x, out: ANY.median(x, axis=0, out=out),
    "dot": lambda x, out: ANY.dot(x.T, x, out=out),
    "stack": lambda x, out: ANY.stack([x[0]], out=out),
    "trace": lambda x, out: ANY.trace(x, out=out),
    "outer": lambda x, out: ANY.outer(x[0], x[0], out=out),
    "quantile": lambda x, out: ANY.quantile(x, 0.3, axis=0, out=out),
    "sine": lambda x, out: ANY.sin(x[0], out=out),
}
SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (1, 3), (3, 3), (4, 3), (2, 3, 3), (2, 4, 3))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_out_has_the_shape_that_numpy_asks_for(name: str, shape: tuple[int, ...]) -> None:
    call = REDUCTIONS[name]
    x, out = np.arange(12.0).reshape(4, 3), np.zeros(shape)

    def f(x: Any) -> Any:
        target = np.zeros_like(x, shape=shape)
        call(x, target)
        return target

    try:
        call(x, out)
    except ValueError:
        with pytest.raises(ValueError, match=r"shape"):
            gw.vjp(f, x)
    else:
        np.testing.assert_allclose(gw.vjp(f, x)[0], out)


def test_flat_takes_a_range_and_conjugate_an_out() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        y.flat = range(1, 5)
        z = np.zeros_like(x, dtype=complex)
        assert (x + 2j).conjugate(z) is z
        return y * x, z

    x = np.array([[0.5, 1.0], [2.0, 3.0]])
    (product, conjugate), pull = gw.vjp(f, x)
    np.testing.assert_array_equal(product, [[0.5, 2.0], [6.0, 12.0]])
    np.testing.assert_array_equal(conjugate, x - 2j)
    np.testing.assert_array_equal(
        pull((np.ones((2, 2)), np.zeros((2, 2), complex))), [[[1, 2], [3, 4]]]
    )
