"""The array object: NumPy's methods, attributes and operators, on tracked arrays."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import TYPE_CHECKING, Any

import array_api_strict
import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from against_numpy import assert_same, check
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import OutArgumentError, TrackedValueError
from lambdas import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from lambdas import Function

A = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))
V = np.random.default_rng(1).uniform(0.5, 2.0, 5)
S = np.random.default_rng(2).uniform(0.5, 2.0, (3, 3)) + 2 * np.eye(3)
T = np.random.default_rng(3).uniform(0.5, 2.0, (2, 3, 4))
B = np.random.default_rng(4).uniform(0.5, 2.0, (4, 3))

CASES: list[tuple[str, Function, tuple[Any, ...]]] = [
    # attributes
    ("T", lambda x: x.T @ x, (A,)),
    ("T n-d", lambda x: x.T**2, (T,)),
    ("mT", lambda x: x.mT @ x, (T,)),
    ("real imag", lambda x: (x * 1j).imag * (x + 1j).real * x.real + x.imag, (A,)),
    ("flat", lambda x: sum(v * i for i, v in enumerate(x.flat)), (A,)),
    ("shape size ndim", lambda x: x * x.shape[0] * x.size * x.ndim * len(x), (A,)),
    # reductions
    ("sum", lambda x: x.sum() * x.sum(0) * x.sum(axis=0, keepdims=True), (A,)),
    ("sum positional", lambda x: x.sum(1, np.float64) ** 2, (A,)),
    ("sum where", lambda x: x.sum(where=A > 1, initial=1.0) ** 2, (A,)),
    ("mean std var", lambda x: x.mean(0) * x.std(0) + x.var(axis=0, ddof=1), (A,)),
    ("max min prod ptp", lambda x: x.max() * x.min() + x.prod() + np.ptp(x), (A,)),
    ("max axis", lambda x: x.max(axis=1, keepdims=True) * x.min(-1), (S,)),
    ("cumsum cumprod", lambda x: x.cumsum(1) * x.cumprod(axis=0) + x.cumsum()[-1], (A,)),
    ("argmax", lambda x: x[x.argmax(0), [0, 1, 2, 3]] * x[x.argmin(0), [0, 1, 2, 3]], (A,)),
    ("all any", lambda x: x * (x > 0).all() * (x > 1).any(axis=0), (A,)),
    ("trace", lambda x: x.trace() * x.trace(1), (S,)),
    ("diagonal", lambda x: x.diagonal() * x.diagonal(axis1=1, axis2=0), (S,)),
    # shapes
    ("reshape", lambda x: x.reshape(2, -1) @ x.reshape((6, 2)), (A,)),
    ("reshape order", lambda x: x.reshape([2, 6], order="F") * A.reshape(2, 6), (A,)),
    ("reshape integers", lambda x: x.reshape(np.int64(12)) * x.reshape(-1), (A,)),
    ("ravel flatten", lambda x: x.ravel() * x.flatten() * x.ravel("F") * x.flatten("F"), (A,)),
    ("transpose", lambda x: x.transpose() * x.transpose(1, 0) * x.transpose((1, 0)), (A,)),
    ("transpose none", lambda x: x.transpose(None) ** 2, (A,)),
    ("transpose n-d", lambda x: x.transpose(1, 0, 2) ** 2 * x.transpose([1, 0, 2]), (T,)),
    ("swapaxes", lambda x: x.swapaxes(0, -1) ** 2, (T,)),
    ("squeeze", lambda x: x[None].squeeze() * x[:, None].squeeze(1), (A,)),
    ("copy", lambda x: x.copy() * copy.copy(x) * copy.deepcopy(x), (A,)),
    ("astype", lambda x: x.astype(np.float64) * x.astype("float64", copy=False), (A,)),
    ("astype complex", lambda x: x.astype(complex) ** 2, (A,)),
    ("view", lambda x: x.view() ** 2, (A,)),
    # selection
    ("take", lambda x: x.take([0, 1] * 5) * x.repeat(2), (V,)),
    ("take axis", lambda x: x.take(2, axis=1) * x.take([[0], [1]], 1)[0, 0], (A,)),
    ("repeat", lambda x: x.repeat([1, 2, 0], axis=0) ** 2, (A,)),
    ("compress", lambda x: x.compress([True, False, True], axis=0) ** 2, (A,)),
    ("nonzero", lambda x: x[(x > 1).nonzero()] ** 2, (A,)),
    ("argsort", lambda x: x[x.argsort()] * np.arange(5.0), (V,)),
    ("searchsorted", lambda x: x * x.searchsorted(1.0), (np.sort(V),)),
    ("clip", lambda x: x.clip(0.7, 1.5) * x.clip(min=0.9), (A,)),
    ("round", lambda x: x.round(1) * x + round(x[0, 0], 1), (A,)),
    # products
    ("dot", lambda x: x.dot(B) @ x.dot(B), (A,)),
    ("dot vector", lambda x: x.dot(x) * x, (V,)),
    ("conj", lambda x: (x * 1j).conj() * (x * 1j + 1).conjugate() + x.conj(), (A,)),
    # in place
    ("fill", lambda x: _in_place(x, "fill", x[0, 0] ** 2), (A,)),
    ("sort", lambda x: _in_place(x, "sort", axis=0), (A,)),
    ("sort last", lambda x: _in_place(x, "sort"), (A,)),
    ("put", lambda x: _in_place(x, "put", [0, 7], x[0, :2]), (A,)),
    # operators
    ("arithmetic", lambda x: -x + +x * abs(x - 1.1) / (2.5 - x / 3.0) ** 2, (A,)),
    ("reflected", lambda x: 1.0 / x + 2.0 - x + 2.0**x + 3.0 * x, (A,)),
    ("divmod", lambda x: divmod(x * 3.3, 0.9)[1] * divmod(7.7, x)[0] + divmod(7.7, x)[1], (A,)),
    ("floor mod", lambda x: (x * 3.3) // 0.9 * x + (x * 3.3) % 0.9 + 5.0 % x, (A,)),
    ("matmul", lambda x: x @ B @ x, (A,)),
    ("matmul left", lambda x: B @ x, (A,)),
    ("iteration", lambda x: sum(row[0] * row[-1] for row in x), (A,)),
    ("unpacking", lambda x: np.stack([*x]) * x[0], (A,)),
    ("zip", lambda x: sum(a * b**2 for a, b in zip(x, x[::-1], strict=True)), (V,)),
    ("builtin sum max", lambda x: sum(x) * max(x) * min(x) * sorted(x)[2], (V,)),
    ("reversed", lambda x: sum(a * i for i, a in enumerate(reversed(x))), (V,)),
    ("control flow", lambda x: x**2 if x.sum() > 0 and x[0] in x else x, (V,)),
]


def _in_place(x: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    out = x * 2.0
    assert getattr(out, method)(*args, **kwargs) is None
    return out * x


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_value_is_numpys_and_derivatives_are_numerical(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    check(function, args)


@pytest.mark.parametrize(("function", "args"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_arrays_that_are_not_tracked(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    result = function(*(gw.wrap(a.copy()) for a in args))
    assert_same(map_leaves(gw.unwrap, result), function(*args))


@pytest.mark.parametrize(
    "ask",
    rows(
        [
            lambda x: x.shape,
            lambda x: x.dtype,
            lambda x: x.ndim,
            lambda x: x.size,
            lambda x: x.nbytes,
            lambda x: x.itemsize,
            lambda x: x.strides,
            lambda x: x.flags.c_contiguous,
            lambda x: x.T.flags["C_CONTIGUOUS"],
            len,
            lambda x: x.tolist(),
            lambda x: x[0, 0].item(),
            lambda x: bool(x[0, 0]),
            lambda x: x[0, 0] in x,
            lambda x: 99.0 in x,
            lambda x: (x > 1).tolist(),
            lambda x: (x == x[0]).tolist(),
            lambda x: bool((x != x[0, 0]).any()),
            lambda x: x.argmax().item(),
            lambda x: f"{x[0, 0]:.3f}",
            lambda x: "%.3f" % x[0, 0].item(),  # noqa: UP031  as people write it
        ]
    ),
)
def test_questions(ask: Callable[[Any], Any]) -> None:
    assert ask(gw.wrap(A, requires_grad=True)) == ask(A)


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_comparisons_are_not_tracked(compare: Callable[[Any, Any], Any]) -> None:
    x = gw.wrap(A, requires_grad=True)
    for left, right in ((x, 1.0), (1.0, x), (x, A.T.copy().T), (A[0], x), (x, x)):
        answer = compare(left, right)
        assert not answer.requires_grad
        np.testing.assert_array_equal(answer, compare(gw.unwrap(left), gw.unwrap(right)))


def test_as_numpy_a_0d_array_has_no_length() -> None:
    x = gw.wrap(np.array(1.0))
    for call in (len, iter, list):
        with pytest.raises(TypeError, match=r"unsized|0-d"):
            call(x)


def test_the_truth_of_several_elements_is_refused_as_in_numpy() -> None:
    with pytest.raises(ValueError, match="ambiguous"):
        bool(gw.wrap(A, requires_grad=True))


def test_an_integer_array_can_index_and_count() -> None:
    i = gw.wrap(np.arange(3))
    x = gw.wrap(V, requires_grad=True)
    assert [10, 20, 30][i[1]] == 20
    assert list(range(i[2])) == [0, 1]
    np.testing.assert_array_equal(x[i].data, V[:3])
    np.testing.assert_array_equal(x[i[0] : i[2]].data, V[:2])
    np.testing.assert_array_equal(V[i.data], V[:3])


def test_view_of_another_dtype_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Fix: x\.astype"):
        gw.wrap(A, requires_grad=True).view(np.int64)
    with pytest.raises(TypeError, match=r"Fix: x\.astype"):
        gw.grad(lambda x: np.sum(x.view(np.int64)))(A)


def pairs(x: Any) -> Any:
    """Write through a view of pairs as complex numbers, and read what was written."""
    y: Any = x * 1.0
    z: Any = y.view(complex)
    z[0] = z[1] * 2.0
    y[3] = y[2] * y[5]
    square: Any = z * z
    return np.sum(y * np.arange(6.0)) + np.sum(square.real)


def parts(x: Any) -> Any:
    z: Any = x * (1.0 + 2.0j)
    r: Any = z.view(float)
    r[1] = r[0] * r[3]
    return np.sum(r * r) + np.sum(np.abs(z) ** 3)


def turned(x: Any) -> Any:
    """Give the views cotangents that do not follow each other in memory."""
    z: Any = x.reshape(3, 2).view(complex)
    r: Any = (x.reshape(2, 3) * (1.0 + 2.0j)).view(float)
    return np.sum(np.abs(z.T @ np.array([1.0 + 2.0j, 0.5, 0.3j]))) + np.sum(r.T * np.arange(2.0))


@pytest.mark.parametrize("function", [pairs, parts, turned])
def test_views_of_pairs_as_complex_numbers_share_their_memory(function: Any) -> None:
    x = np.arange(6.0) + 1.0
    wanted = [(function(x + 1e-6 * e) - function(x - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
    for found in (gw.grad(function)(x), gw.jacfwd(function)(x), gw.compile(gw.grad(function))(x)):
        assert np.allclose(found, wanted, rtol=1e-7)
    both = gw.vmap(gw.grad(function))(np.stack([x, 2.0 * x]))
    assert np.allclose(both, [gw.grad(function)(x), gw.grad(function)(2.0 * x)], rtol=1e-12)


def test_a_view_of_pairs_of_an_odd_length_raises_numpys_error() -> None:
    with pytest.raises(ValueError, match="When changing to a larger dtype"):
        gw.grad(lambda x: np.sum(np.abs(x.view(complex))))(np.ones(3))


def test_view_of_another_dtype_of_a_constant_is_numpys() -> None:
    np.testing.assert_array_equal(gw.wrap(A).view(np.int64), A.view(np.int64))


def test_astype_of_the_same_dtype_without_copy_is_the_array_itself() -> None:
    x = gw.wrap(A, requires_grad=True)
    assert x.astype(np.float64, copy=False) is x
    assert np.asarray(x.astype(int)).dtype == np.dtype(int)
    assert not x.astype(int).requires_grad


def test_the_views_of_an_array_can_be_written_through_its_methods() -> None:
    def program(x: Any) -> Any:
        out = x * 1.0
        out.T[0] = x[:, 1]
        out.reshape(-1)[5] *= 2.0
        out.ravel()[6] = x[0, 0] ** 2
        out.swapaxes(0, 1)[3, 1] = x[1, 1]
        out.transpose()[2].fill(x[2, 2])
        out.view()[2, 3] = 5.0
        out.squeeze()[1] += out.diagonal()[0]
        return out * x

    check(program, (A,))


def test_copies_and_pickles() -> None:
    x: Any = gw.wrap(A, requires_grad=True)
    (copy.deepcopy(x) * 2.0).sum().backward()
    np.testing.assert_array_equal(x.grad, np.full((3, 4), 2.0))
    again = pickle.loads(pickle.dumps(x))  # noqa: S301  written one line above
    assert again.requires_grad
    np.testing.assert_array_equal(again.data, A)
    with pytest.raises(TrackedValueError, match=r"pickle x\.detach\(\)"):
        pickle.dumps(x * 2.0)


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    x: Any = gw.wrap(A)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = x.nothing
    assert not hasattr(x, "__cuda_array_interface__")
    with pytest.raises(
        AttributeError, match=r'Fix: x\.detach\(\)\.data has it.*compiled="numerical"'
    ):
        _ = x.__array_interface__
    assert x.detach().data.__array_interface__["shape"] == (3, 4)
    assert getattr(x, "columns", None) is None


def test_methods_on_another_library() -> None:
    x = gw.wrap(array_api_strict.asarray(A), requires_grad=True)
    total = (x.reshape(4, 3).T.sum() * x.mean() + x.max() + x.clip(0.7, 1.5).std()).item()
    expected = A.sum() * A.mean() + A.max() + A.clip(0.7, 1.5).std()
    assert total == pytest.approx(expected)


def test_choose_writes_to_out_if_nothing_is_tracked() -> None:
    out = np.full(4, 9.0)

    def f(x: Any) -> Any:
        which = np.less(A[0], gnp.full(4, 1.0)) * 1
        found = which.choose((A[0], gnp.zeros(4)), out=out)
        assert found is out
        return x

    gw.vjp(f, A)
    np.testing.assert_array_equal(out, np.where(A[0] < 1.0, 0.0, A[0]))

    def tracked(x: Any) -> Any:
        which: Any = gw.wrap(np.array([0, 1]))
        return np.sum(which.choose((x[0], x[1]), out=out[:2]))

    with pytest.raises(OutArgumentError, match=r"np.choose\(..., out=an ndarray\)"):
        gw.grad(tracked)(A[:2, :2])
