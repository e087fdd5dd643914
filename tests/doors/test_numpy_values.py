"""Values of NumPy's functions and their derivatives in every mode; kinds of arrays."""

from __future__ import annotations

import collections
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.errors import BatchedValueError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([1.3, 2.1, 0.4])
V = np.array([0.5, 2.0, 3.0])
M = np.array([[1.0, 2.0, 0.5], [0.3, 4.0, 1.0]])
LONG = np.array([0.3, 1.7, 2.0, 5.0, 1.0])
UNEVEN = np.array([0.1, 0.5, 1.0, 1.7, 3.0])
Z = np.array([1 + 2j, 3 - 1j, -2 + 0.5j])
WEIGHTS = np.arange(36.0).reshape(6, 6)
INDEX = np.array([0, 3, 0])


def check(fun: Callable[[Any], Any], x: Any) -> None:
    """Compare with NumPy's value, with differences to the second order, and `vmap` with a loop."""
    plain = np.asarray(fun(x))[()]  # 1j * np.float64 is no scalar of NumPy's
    value, pull = gw.vjp(fun, x)
    np.testing.assert_allclose(value, plain, rtol=1e-14)
    assert value.dtype == plain.dtype
    assert isinstance(value, np.ndarray) == isinstance(fun(x), np.ndarray)
    assert pull(np.ones_like(value))[0].dtype == np.asarray(x).dtype
    gw.testing.check_grads(fun, [x])
    total = fn(lambda x: np.sum(fun(x).real))
    batch = np.stack([x, 1.1 * x])
    found = gw.vmap(gw.grad(total), fallback="loop")(batch)
    np.testing.assert_allclose(found, [gw.grad(total)(one) for one in batch], rtol=1e-10)


@pytest.mark.parametrize(
    ("fun", "x"),
    rows(
        [
            (lambda w: ANY.bincount(INDEX, w) ** 2, X),
            (lambda w: ANY.bincount(INDEX, weights=w, minlength=7) ** 2, X),
            (lambda w: ANY.bincount(INDEX.tolist(), w) ** 2, X),
            (lambda c: ANY.pad(c, 2, constant_values=c[0]) ** 2, X),
            (lambda c: ANY.pad(np.outer(c, c), (1, 2), constant_values=(c[0], c[1])) ** 2, X),
            (
                lambda c: (
                    WEIGHTS
                    * ANY.pad(
                        np.outer(c, c),
                        ((1, 2), (0, 3)),
                        constant_values=((c[0], c[1]), (c[2], 1.0)),
                    )
                    ** 2
                ),
                X,
            ),
            (lambda c: gnp.pad(np.outer(c, c), 1, constant_values=c[:2]) ** 2, X),
            (lambda a: ANY.cov(M, aweights=a), X),
            (lambda a: ANY.cov(M, aweights=a, fweights=[1, 2, 3], ddof=0), X),
            (lambda a: ANY.cov(np.outer(V[:2], a**2) + a, aweights=a, bias=True), X),
            (lambda a: ANY.cov(V, aweights=a), X),
            (lambda a: ANY.gradient(V, a), X),
            (lambda a: ANY.gradient(LONG, a, edge_order=2), UNEVEN),
            (lambda a: ANY.gradient(LONG, a, edge_order=2), np.arange(5.0)),
            (lambda a: ANY.gradient(a * a, a**2, edge_order=2), X),
            (lambda h: ANY.gradient(LONG, h), np.float64(0.7)),
            (lambda a: ANY.gradient(M, a[0], a)[1], X),
            (lambda a: ANY.gradient(M, a, axis=1), X),
            (lambda a: ANY.geomspace(a[0], a[1], 5), X),
            (lambda a: ANY.geomspace(-a[0], -a[1], 5, endpoint=False), X),
            (lambda a: ANY.geomspace(a[0], a[1] * 1j, 4), X),
            (lambda a: ANY.geomspace(a[0], a[1], 5), Z),
            (lambda a: ANY.clip(a, 0.1 + 1j, 2 + 1j), Z),
            (lambda a: ANY.clip(a, 0.1 + 1j, 2 + 1j), X),
            (lambda a: ANY.clip(np.array([1, 2, 3]), a, None), np.float64(1.5)),
            (lambda a: ANY.fft.irfft(a), X),
            (lambda a: ANY.fft.irfft(np.exp(a), n=3), X),
            (lambda a: ANY.fft.hfft(np.exp(a), n=3), X),
            (lambda a: ANY.fft.irfftn(np.exp(a), s=(3,), axes=(0,)), X),
            (lambda a: np.sinc(a[0]), X),
            (lambda a: ANY.nanstd(np.where(V > 2, np.nan, a)), X),
            (lambda a: 1j * a[0], X),
            (lambda a: (1j - a[0]) / (2j + np.sum(a)), X),
            (lambda a: np.multiply(1j, a), np.float64(0.5)),
            (lambda a: np.logaddexp.reduce(np.outer(a, V), axis=1), X),
            (lambda a: np.arctan2.accumulate(a), X),
        ]
    ),
)
def test_value_and_derivatives(fun: Callable[[Any], Any], x: Any) -> None:
    check(fun, x)


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [UNEVEN, 0.3 * np.arange(5.0), 0.7, None])
def test_gradient_has_the_very_value_of_numpy(spacing: Any, edge_order: int) -> None:
    def slopes(f: Any) -> Any:
        more = () if spacing is None else (spacing,)
        return ANY.gradient(f, *more, edge_order=edge_order)

    np.testing.assert_array_equal(gw.vjp(slopes, LONG)[0], slopes(LONG))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor", "heaviside"])
@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_methods_of_ufuncs_without_a_derivative_are_numpys(name: str, method: str) -> None:
    call: Any = getattr(getattr(np, name), method)
    x = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    found = gw.vjp(fn(lambda a: call(a, axis=1)), x)[0]
    np.testing.assert_array_equal(found, call(x, axis=1))
    assert found.dtype == call(x, axis=1).dtype


@pytest.mark.parametrize("ufunc", [np.power, np.arctan2])
def test_a_reduction_is_numpys_value_or_refused(ufunc: Any) -> None:
    """Where NumPy's vector loop leaves elements out, no derivative belongs to its value."""
    reduce: Any = ufunc.reduce
    np.testing.assert_allclose(gw.vjp(reduce, X[:2])[0], reduce(X[:2]))
    wanted, in_order = reduce(X), ufunc(ufunc(X[0], X[1]), X[2])
    if np.isclose(wanted, in_order):
        gw.testing.check_grads(reduce, [X])
    else:
        with pytest.raises(gw.errors.NoRuleError, match=r"reduce does not give here .*accumulate"):
            gw.vjp(reduce, X)
    last = fn(lambda x: ufunc.accumulate(x)[-1])
    np.testing.assert_allclose(gw.vjp(last, X)[0], in_order)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@pytest.mark.parametrize("ddof", [3, 4])
def test_a_variance_without_degrees_of_freedom(name: str, ddof: int) -> None:
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        value, gradient = gw.value_and_grad(fn(lambda x: getattr(np, name)(x, ddof=ddof)))(X)
    assert np.isnan(value)
    assert np.all(np.isnan(gradient))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    rows(
        [
            (lambda x: ANY.cov(M, fweights=x), gw.errors.NoRuleError, "with respect to fweights"),
            (lambda x: ANY.cov(M, aweights=-x), ValueError, "aweights cannot be negative"),
            (lambda x: ANY.cov(M, aweights=x[:2]), RuntimeError, "numbers of samples and aweights"),
            (lambda x: ANY.cov(M, aweights=M * x), RuntimeError, "multidimensional aweights"),
            (lambda x: ANY.cov(M * x, fweights=[1.5, 1, 1]), TypeError, "fweights must be integer"),
            (lambda x: ANY.bincount(INDEX[:2], x), ValueError, "don't have the same length"),
            (lambda x: ANY.bincount(-INDEX, x), ValueError, "negative"),
            (lambda x: ANY.polyfit(V, V * x[0], -1), ValueError, "deg >= 0"),
            (lambda x: ANY.polyfit(M, x, 1), TypeError, "vector for x"),
            (lambda x: ANY.polyfit(V, x[:2], 1), TypeError, "same length"),
            (lambda x: ANY.polyfit(V, V * x[0], 1, w=x[:2]), TypeError, "w and y"),
            (lambda x: ANY.polyfit(V, V * x[0], 1, full=True), gw.errors.NoRuleError, "full="),
            (lambda x: ANY.gradient(V, x[:2]), ValueError, "distances must match the length"),
            (lambda x: ANY.geomspace(x[0], -x[0]), ValueError, "include zero, or change its sign"),
        ]
    ),
)
def test_what_numpy_refuses_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        gw.vjp(call, X)


def test_clip_and_geomspace_have_the_dtype_of_all_arguments() -> None:
    single = np.array([1.0, 2.0], np.float32)
    for low in (np.float64(1.5), np.array([1.0, 3.0]), [1.0, 3.0], 1.5, 1, 1j, np.complex64(1j)):
        clip: Any = functools.partial(ANY.clip, a_min=low, a_max=None)
        found = gw.vjp(clip, single)[0]
        assert found.dtype == clip(single).dtype
        np.testing.assert_array_equal(found, clip(single))
    assert gw.vjp(fn(lambda x: ANY.geomspace(x[0], x[1], 3)), single)[0].dtype == np.float64


def test_a_value_with_axes_of_length_one_is_written_to_an_element() -> None:
    def fun(x: Any) -> Any:
        out = gnp.zeros((3, 2))
        out[0, ..., 1] = x[None, None, 0] * 2.0
        out[1:2, 0] = np.reshape(x[1] * x[2], (1, 1, 1))
        return np.sum(out**2)

    gw.testing.check_grads(fun, [X])


# where --------------------------------------------------------------------------------------------


def entropy(x: Any) -> Any:
    return np.where(x > 0, x * np.log(x), 0.0)


@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")  # log(0), 0 * inf
def test_both_modes_agree_where_a_branch_is_not_taken() -> None:
    clipped = fn(lambda x: np.clip(np.sqrt(x), 1.0, None))
    for fun in (entropy, clipped):
        for annihilates in (False, True):
            with gw.strong_zeros() if annihilates else gw.enable_grad():
                np.testing.assert_equal(gw.grad(fun)(0.0), 0.0)
                np.testing.assert_equal(float(gw.jvp(fun, (0.0,), (1.0,))[1]), 0.0)
                np.testing.assert_equal(float(gw.jacfwd(fun)(0.0)), 0.0)
    np.testing.assert_allclose(gw.jvp(entropy, (2.0,), (1.0,))[1], gw.grad(entropy)(2.0))


# Kinds of arrays ----------------------------------------------------------------------------------

MASKED: Any = ANY.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
MATRIX = np.eye(3).view(ANY.matrix)
REFUSED: list[Callable[[Any, Any], Any]] = [
    lambda x, m: m * x,
    lambda x, m: x * m,
    lambda x, m: m - x,
    lambda x, m: m @ x,
    lambda x, m: x @ m,
    lambda x, m: np.add(m, x),
    lambda x, m: np.dot(x, m),
    lambda x, m: np.concatenate([x, m]),
    lambda x, m: ANY.where(x > 1, x, m),
    lambda x, m: np.clip(x, m, None),
    lambda x, m: np.einsum("i,...i", x, m),
    lambda x, m: x.__iadd__(m),
    lambda x, m: x.__setitem__(slice(None), m),
    lambda x, m: ANY.asmatrix(x) if m.ndim == 2 else ANY.ma.array(x),
    lambda x, m: gw.grad(fn(lambda y: np.sum(y * m * x)))(V),
    lambda x, m: gw.vmap(fn(lambda y: y * m))(x),
]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("call", REFUSED)
@pytest.mark.parametrize(
    ("array", "message"),
    [
        (MASKED, r"^masked arrays have no derivative: .* use np\.where\(mask, fill, x\); or"),
        (
            MATRIX,
            r"^a np\.matrix that was made outside .* make it inside, .*\(np\.asarray\(matrix\)\)",
        ),
    ],
    ids=["masked", "matrix"],
)
def test_masked_arrays_and_matrices_are_refused(call: Any, array: Any, message: str) -> None:
    with pytest.raises(gw.errors.NonDifferentiableInputError, match=message):
        gw.grad(fn(lambda x: np.sum(call(x * 1.0, array))))(V)
    with pytest.raises(gw.errors.NonDifferentiableInputError, match=message):
        gw.jvp(fn(lambda x: call(x * 1.0, array)), (V,), (V,))
    with pytest.raises(gw.errors.NonDifferentiableInputError, match=message):
        call(gw.wrap(V.copy(), requires_grad=True) * 1.0, array)


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda x: np.ma.log(x),
            lambda x: np.ma.getdata(x),
            lambda x: ANY.ma.array(x, mask=[0, 1, 0]),
            lambda x: np.ma.masked_where(V > 2, x),
            lambda x: np.ma.sum(x),
            lambda x: np.ma.stack([x, x]),
            lambda x: np.ma.filled(x, 0.0),
            lambda x: ANY.ma.where(V > 1, x, V),
            lambda x: x * np.ma.masked,
        ]
    ),
)
def test_functions_of_masked_arrays_are_refused(call: Any) -> None:
    with pytest.raises(gw.errors.NonDifferentiableInputError, match="masked arrays have no deriv"):
        gw.grad(fn(lambda x: np.sum(call(x * 2.0))))(V)


@pytest.mark.parametrize("array", [MASKED, MATRIX], ids=["masked", "matrix"])
def test_masked_arrays_and_matrices_are_refused_as_arguments(array: Any) -> None:
    def total(x: Any, other: Any = None) -> Any:
        return np.sum(x)

    calls: list[Callable[[], Any]] = [
        lambda: gw.grad(total)(array),
        lambda: gw.grad(total)(V, array),
        lambda: gw.grad(total)({"w": array}),
        lambda: gw.jvp(total, (V,), (array,)),
        lambda: gw.vmap(total)(array),
        lambda: gw.wrap(array),
    ]
    for call in calls:
        with pytest.raises(gw.errors.NonDifferentiableInputError, match=r"derivative|cannot hold"):
            call()


class Sub(np.ndarray[Any, Any]):
    """A subclass that changes nothing."""


@pytest.mark.parametrize("kind", ["big-endian", "subclass", "memmap", "read-only memmap", "record"])
def test_other_kinds_of_arrays_have_the_values_and_gradients_of_plain_ones(
    kind: str, tmp_path: Any
) -> None:
    array: Any = V
    if "memmap" in kind:
        mapped = np.memmap(tmp_path / "array", dtype=float, mode="w+", shape=V.shape)
        mapped[:] = V
        mapped.flush()
        array = mapped if kind == "memmap" else np.memmap(tmp_path / "array", dtype=float, mode="r")
    elif kind == "big-endian":
        array = V.astype(">f8")
    else:
        array = V.view(Sub) if kind == "subclass" else ANY.rec.array(V)

    def fun(x: Any) -> Any:
        y = x * 1.0
        y[0] = x[1] ** 2
        return np.sum(np.sin(y) * array) + np.sum(array * x)

    value, gradient = gw.value_and_grad(fun)(array)
    plain_value, plain = gw.value_and_grad(fun)(V)
    assert value == plain_value
    np.testing.assert_array_equal(gradient, plain)
    assert type(gradient) is np.ndarray
    assert gradient.dtype.newbyteorder("=") == np.float64
    np.testing.assert_array_equal(array, V)
    leaf = gw.wrap(array, requires_grad=True)
    assert leaf.data is array
    fun(leaf).backward()
    np.testing.assert_array_equal(leaf.grad, plain)
    assert not np.shares_memory(leaf.grad, array)


# Whole numbers, which Python uses ----------------------------------------------------------------


@pytest.mark.parametrize("names", [np, gnp])
def test_whole_numbers_are_keys_by_their_values(names: Any) -> None:
    """As NumPy's are, in dictionaries, sets, caches and text; other values by themselves."""

    def program(x: Any) -> Any:
        labels = names.argmax(x, axis=1)
        groups: dict[Any, Any] = {}
        for label, row in zip(labels, x, strict=True):
            groups[label] = groups.get(label, 0.0) + row
        assert set(labels) == {0, 2} == set(groups)
        assert {2: "two"}[labels[0]] == "two"
        assert {True: "positive"}[x[0, 0] > 0.0] == "positive"
        assert collections.Counter(labels)[2] == 3
        assert f"{labels[0]}{labels[1]:02d}" == "200"
        seen: set[Any] = set()
        total = 0.0
        for row in x:
            column = next(j for j in names.argsort(row) if j not in seen)
            seen.add(column)
            total = total + 10.0 * row[column]
            if len(seen) == 3:
                break
        return groups[2][0] * groups[0][1] + total

    x = np.array([[1.0, 2.0, 9.0], [8.0, 3.0, 4.0], [5.0, 6.0, 7.0], [1.0, 2.0, 3.0]])
    wanted = np.zeros((4, 3))
    wanted[[0, 2, 3], 0] = 3.0
    wanted[1, 1] = 7.0
    wanted[[0, 1, 2], [0, 1, 2]] += 10.0
    assert program(x) == 7.0 * 3.0 + 10.0 * (1.0 + 3.0 + 7.0)
    np.testing.assert_array_equal(gw.grad(program)(x), wanted)
    np.testing.assert_array_equal(gw.jacfwd(program)(x), wanted)


def test_a_compiled_function_looks_keys_up_anew() -> None:
    weights: dict[Any, float] = {0: 1.0, 1: 2.0, 2: 5.0}

    def program(x: Any) -> Any:
        return x[0] * weights[np.argmax(x)]

    compiled = gw.compile(gw.grad(program))
    for x in (X, X[::-1].copy(), X):
        np.testing.assert_array_equal(compiled(x), gw.grad(program)(x))
        assert gw.grad(program)(x)[0] == weights[int(np.argmax(x))]


def test_other_values_are_keys_by_themselves() -> None:
    first, second = (gw.wrap(np.float64(1.0), requires_grad=True) for _ in range(2))
    assert len({first: 1, second: 2}) == 2
    assert len({gw.wrap(np.array([1])), gw.wrap(np.array([1]))}) == 2


def test_a_key_that_differs_from_example_to_example_is_refused() -> None:
    table: dict[Any, float] = {0: 1.0, 1: 2.0}
    looked_up = fn(lambda x: x[0] * table[np.argmax(x)])
    for function in (looked_up, gw.grad(looked_up)):
        with pytest.raises(BatchedValueError, match=r"Use as a key .* that vmap maps over"):
            gw.vmap(function)(np.eye(2))
