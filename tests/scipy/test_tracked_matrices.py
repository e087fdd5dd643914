"""What SciPy's sparse matrices can do, with tracked elements, in every format.

Each function is called on each class of SciPy's: values, types, shapes and dtypes are SciPy's, and
slopes in both modes are those of differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph, linalg

import gradwrap as gw
from gradwrap.errors import NoRuleError
from gradwrap.scipy.tracked_matrix import TrackedMatrix

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[Any], Any]

DENSE = np.array(
    [[1.2, 0, 0.7, 0], [0, 2.1, 0, -0.3], [0.4, 0, 1.9, 0], [0, -0.6, 0.2, 2.5]],
)
PLACES = np.nonzero(DENSE)
DATA = DENSE[PLACES]
DIRECTION = np.cos(1.7 * np.arange(len(DATA)))
B = sp.csr_array(np.array([[0.3, 1, 0, 0], [0, 0, 0.5, 2], [1, 0, 0, 0.1], [0, 0.2, 0.9, 0]]))
V = np.array([0.4, -1.1, 0.7, 1.3])
OFFSETS: Any = [0, 1]
M = np.arange(12.0).reshape(4, 3)
CLASSES = [
    *((form, "array") for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")),
    *((form, "matrix") for form in ("csr", "coo", "lil", "dok")),
]


def matrix_of(data: Any, form: str, kind: str) -> Any:
    """Make a matrix of SciPy's; adapted, it takes tracked data."""
    made = (sp.coo_array if kind == "array" else sp.coo_matrix)((data, PLACES), shape=(4, 4))
    return made.asformat(form)


def stored(S: Any, key: Any, value: Any) -> Any:
    S[key] = value
    return S


def called(S: Any, name: str, *args: Any) -> Any:
    getattr(S, name)(*args)
    return S


def doubled(matrix: Any) -> Any:
    matrix *= 2.0
    matrix.data[1] = matrix.data[0] * 3.0
    matrix.data += 1.0
    return matrix


def shared(matrix: Any) -> Any:
    """Change the elements of a matrix through its transpose."""
    other, copied = matrix.T, matrix.copy()
    other.data *= 2.0
    assert matrix.tocsr() is matrix
    return [matrix, other, copied]


FUNCTIONS: dict[str, Function] = {
    "S @ v": lambda S: S @ V,
    "v @ S": lambda S: V @ S,
    "S @ M": lambda S: S @ M,
    "M.T @ S": lambda S: M.T @ S,
    "S @ B": lambda S: S @ B,
    "B @ S": lambda S: B @ S,
    "S @ S": lambda S: S @ S,
    "S + B": lambda S: S + B,
    "B - S": lambda S: B - S,
    "S * 2": lambda S: S * 2.0,
    "S / 2": lambda S: S / 2.0,
    "-S": lambda S: -S,
    "abs(S)": abs,
    "S + D": lambda S: S + DENSE,
    "S ** 2": lambda S: S**2,
    "multiply": lambda S: [S.multiply(B), S.multiply(S), S.multiply(V), S.multiply(DENSE)],
    "maximum": lambda S: [S.maximum(B), S.minimum(B), S.maximum(S.T)],
    "bounded": lambda S: [S.maximum(-0.2), S.minimum(0.0), S.sum(axis=(0, 1))],
    "bounded by arrays": lambda S: [np.asarray(S.maximum(DENSE[::-1])) @ V],
    "dense sums times": lambda S: np.asarray((S + DENSE) * V[:, None]),
    "power": lambda S: S.power(3),
    "sin": lambda S: S.sin() if hasattr(S, "sin") else S,
    "expm1": lambda S: S.expm1() if hasattr(S, "expm1") else S,
    "real": lambda S: S.real if hasattr(S, "sin") else S,
    "conj": lambda S: S.conj(),
    "T": lambda S: [S.T, S.transpose()],
    "formats": lambda S: [S.asformat(form) for form in ("csr", "csc", "coo", "bsr", "dia")],
    "data": lambda S: S.data if hasattr(S, "sin") else S.tocsc().data,
    "data of formats": lambda S: [S.tocsr().data, S.tocsc().data, S.todia().data, S.tobsr().data],
    "arrays": lambda S: [S.tocsc().indices * S.tocsc().data, S.tocsr().indptr[1] * S.tocsr().data],
    "toarray": lambda S: [S.toarray(), S.toarray(order="F"), np.asarray(S.todense())],
    "whole numbers": lambda S: [S.diagonal() * (S.tocsr().argmax() + S.nnz), S.sum() * S.shape[0]],
    "nonzero": lambda S: [S.sum() * part for part in S.nonzero()] + [S.count_nonzero() * S.sum()],
    "moved": lambda S: [S.tocsr().sorted_indices(), called(S.tocsr(), "sum_duplicates")],
    "adjoint": lambda S: (S * (1.0 + 2j)).conj().T.tocsr().real,
    "reshape": lambda S: S.reshape((2, 8)),
    "resize": lambda S: called(S.tocsr(), "resize", (3, 5)),
    "sum": lambda S: [S.sum(), np.asarray(S.sum(axis=0)), np.asarray(S.sum(axis=1)), S.mean()],
    "mean": lambda S: [np.asarray(S.mean(axis=0)), np.asarray(S.mean(axis=1))],
    "max": lambda S: [S.tocsr().max(), S.tocsr().min(), S.tocoo().max(axis=0).toarray()],
    "min": lambda S: [S.tocsc().min(axis=1).toarray(), S.tocsr().max(explicit=True)],
    "diagonal": lambda S: [S.diagonal(), S.diagonal(1), S.diagonal(-2), S.trace()],
    "element": lambda S: [S.tocsr()[1, 3], S.tocsr()[3, 1], S.tocsc()[-1, -1]],
    "parts": lambda S: [S.tocsr()[1:3], S.tocsc()[:, [0, 2]], S.tolil()[[3, 1]]],
    "row": lambda S: [S.tocsr()[[1]].toarray(), S.tocsr()[1].toarray(), S.tocsr()[:, 2].toarray()],
    "rows": lambda S: [np.asarray(row.toarray()) for row in S.tocsr()],
    "picked": lambda S: np.asarray(S.tocsr()[[0, 1, 2], [2, 1, 0]]),
    "dot": lambda S: [S.dot(V), S.dot(B)],
    "stacked": lambda S: [sp.hstack([S, B]), sp.vstack([B, S]), sp.block_diag([S, B])],
    "block_array": lambda S: sp.block_array([[S, None], [None, B]]),
    "kron": lambda S: [sp.kron(S, B), sp.kronsum(S, B)],
    "tril": lambda S: [sp.tril(S, -1), sp.triu(S)],
    "find": lambda S: [part.astype(float) for part in sp.find(S)],
    "diags": lambda S: sp.diags([S.diagonal(), S.diagonal(1)], OFFSETS),
    "other class": lambda S: [sp.csr_array(S), sp.coo_matrix(S), sp.lil_array(S)],
    "three arrays": lambda S: sp.csc_array(
        (S.tocsc().data ** 2, S.tocsc().indices, S.tocsc().indptr)
    ),
    "norm": lambda S: [linalg.norm(S), linalg.norm(S, 1), linalg.norm(S, np.inf)],
    "norms": lambda S: [linalg.norm(S, axis=1), linalg.norm(S, axis=0), linalg.norm(S, 1, axis=1)],
    "expm": lambda S: linalg.expm(S.tocsc()),
    "inv": lambda S: linalg.inv(S.tocsc()),
    "spsolve": lambda S: [linalg.spsolve(S.tocsc(), V), linalg.spsolve(S.tocsr(), M)],
    "triangular": lambda S: linalg.spsolve_triangular(sp.tril(S).tocsr(), V),
    "splu": lambda S: [linalg.splu(S.tocsc()).solve(V), linalg.factorized(S.tocsc())(V)],
    "eigsh": lambda S: linalg.eigsh(S @ S.T, k=1, v0=V)[0],
    "setdiag": lambda S: called(called(S.tolil(), "setdiag", V), "setdiag", [1.0, 2.0], 1),
    "store": lambda S: stored(S.tolil(), (0, 2), S.tocsr()[1, 1] ** 2),
    "stores": lambda S: stored(stored(S.todok(), (1, 1), 5.0), (3, 0), S.tocsr()[0, 0]),
    "row stored": lambda S: stored(S.tolil(), 1, S.diagonal() ** 2),
    "block stored": lambda S: stored(S.tolil(), (slice(1, 3), slice(0, 2)), S.toarray()[:2, :2]),
    "places stored": lambda S: stored(S.tolil(), ([0, 3], [3, 0]), S.diagonal()[:2]),
    "in place": lambda S: doubled(S.tocsr()),
    "the same elements": lambda S: [doubled(S.tocsc().T), called(S.tocsr(), "sort_indices")],
    "shared": lambda S: shared(S.tocsr()),
}


def numbers_in(found: Any) -> list[Any]:
    """The arrays that a function has returned, those of matrices among them."""
    if isinstance(found, (list, tuple)):
        return [array for one in found for array in numbers_in(one)]
    return [found.toarray() if hasattr(found, "toarray") else np.asarray(found) * 1.0]


def kinds_in(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [kind for one in found for kind in kinds_in(one)]
    dtype = np.dtype(found.dtype)
    return [(getattr(found, "format", None), tuple(found.shape), dtype)]


def total(found: Any) -> Any:
    return sum(
        np.sum(np.cos(number + np.arange(array.size)).reshape(array.shape) * array)
        for number, array in enumerate(numbers_in(found))
    )


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of NumPy's matrices
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tracked_matrices_are_scipys(name: str) -> None:
    tried = 0
    for form, kind in CLASSES:

        def f(data: Any, form: str = form, kind: str = kind) -> Any:
            found = FUNCTIONS[name](matrix_of(data, form, kind))
            return total(found), (kinds_in(found), isinstance(found, TrackedMatrix))

        def value(data: Any, f: Any = f) -> Any:
            return f(data)[0]

        try:
            wanted, (kinds, _) = f(DATA)
        except (TypeError, NotImplementedError, ValueError, AttributeError):
            continue  # SciPy's class has it not
        tried += 1
        step = 1e-6 * DIRECTION
        slope = (value(DATA + step) - value(DATA - step)) / 2e-6
        (found, (found_kinds, _)), gradient = gw.value_and_grad(gw.adapting(f), has_aux=True)(DATA)
        assert found_kinds == kinds, (form, kind)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{form} {kind}")
        np.testing.assert_allclose(gradient @ DIRECTION, slope, rtol=2e-6, atol=1e-7)
        pushed = gw.jvp(gw.adapting(value), (DATA,), (DIRECTION,))[1]
        np.testing.assert_allclose(pushed, slope, rtol=2e-6, atol=1e-7)
    assert tried > 2


ASSEMBLIES: dict[str, Function] = {
    "elements": lambda new: lambda x: filled(new(), x).tocsc(),
    "sums": lambda new: lambda x: summed(new(), x).tocsr(),
    "blocks": lambda new: lambda x: of_blocks(new(), x).tocsc(),
    "rows": lambda new: lambda x: stored(stored(new(), 0, x), (slice(1, 3), [0, 2]), x[:2] ** 2),
    "diagonals": lambda new: (
        lambda x: called(called(new(), "setdiag", x), "setdiag", x[1:] ** 2, 1)
    ),
    "plain beside": lambda new: lambda x: stored(stored(new(), (0, 1), 2.0), (1, 0), x[0]),
}


TWICE = ([2, 0, 1, 0, 2, 0], [0, 2, 1, 2, 2, 0])
"""Positions in no order, of which one comes twice."""
STARTS = ([2, 0, 2, 1, 0, 3], [0, 3, 4, 4, 6])
"""The same by rows: columns, and where each row starts."""


@pytest.mark.parametrize("form", ["coo", "csr"])
@pytest.mark.parametrize("name", ["sin", "abs(S)", "power", "-S", "S * 2", "T", "data", "max"])
def test_elements_at_one_position_are_added_up_where_scipy_does(name: str, form: str) -> None:
    x = np.array([0.4, 1.1, -0.7, 1.6, 0.9, 0.3])
    made: Any = sp.coo_array if form == "coo" else sp.csr_array

    def f(x: Any) -> Any:
        where = (TWICE,) if form == "coo" else STARTS
        given: Any = x + 0.0  # SciPy adds up in place
        found = _all(FUNCTIONS[name](made((given, *where), shape=(4, 4))))
        return total([*found, *(one.data for one in found if hasattr(one, "toarray"))])

    slope = (f(x + 1e-6 * np.cos(x)) - f(x - 1e-6 * np.cos(x))) / 2e-6
    found, gradient = gw.value_and_grad(gw.adapting(f))(x)
    np.testing.assert_allclose(found, f(x), rtol=1e-13)
    np.testing.assert_allclose(gradient @ np.cos(x), slope, rtol=1e-6)


def _all(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


FORMATS = [None, "csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
BLOCK: Any = np.array([[1.0, 2.0], [0.0, 3.0]])
"""A constant block of numbers that could be numbers of elements."""
NEAR: Any = [-1, 0, 1]
OF_DENSE: dict[str, Any] = {
    "block_diag": lambda x, f: sp.block_diag([x, BLOCK], format=f),
    "block_diag of other parts": lambda x, f: sp.block_diag([x[0, 0], x, [1.0, 2.0]], format=f),
    "block_diag of arrays": lambda x, f: sp.block_diag([sp.csr_array(x), BLOCK], f, "f4"),
    "kron": lambda x, f: sp.kron(x, BLOCK, format=f),
    "kron of a constant": lambda x, f: sp.kron(BLOCK, x, format=f),
    "kron of itself": lambda x, f: sp.kron(x, sp.eye_array(2), format=f),
    "kronsum": lambda x, f: sp.kronsum(x, BLOCK, format=f),
    "bmat": lambda x, f: sp.bmat([[x, None], [None, BLOCK]], format=f),
    "block_array": lambda x, f: sp.block_array([[sp.csr_array(x), None], [None, BLOCK]], format=f),
    "hstack": lambda x, f: sp.hstack([sp.csr_array(x), BLOCK[[0, 1, 1]]], format=f),
    "vstack": lambda x, f: sp.vstack([x, sp.csr_array(BLOCK @ x[:2])], format=f),
    "tril": lambda x, f: sp.tril(x, format=f),
    "triu": lambda x, f: sp.triu(x, 1, format=f),
    "diags": lambda x, f: sp.diags([x[0], -2.0, x[1]], NEAR, (3, 3), format=f),
    "diags of another dtype": lambda x, f: sp.diags_array(x[0], dtype=np.float32, format=f),
    "spdiags": lambda x, f: sp.spdiags(x, [0, 1, -1], 3, 3, format=f),
    "transposed": lambda x, f: sp.permute_dims(sp.coo_array(x)).asformat(f),
    "swapped": lambda x, f: sp.swapaxes(sp.csr_array(x), 0, 1).asformat(f),
    "of three axes": lambda x, _: sp.expand_dims(sp.coo_array(x), axis=1),
    "array": lambda x, f: getattr(sp, f"{f or 'coo'}_array")(x),
    "matrix": lambda x, f: getattr(sp, f"{f or 'coo'}_matrix")(x),
    "array of a matrix": lambda x, f: getattr(sp, f"{f or 'coo'}_array")(sp.csr_matrix(x)),
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.filterwarnings("ignore:Input has data type")
@pytest.mark.parametrize("name", OF_DENSE)
def test_matrices_made_of_dense_arrays_are_scipys(name: str) -> None:
    x = np.array([[1.5, 0.0, 2.0], [0.0, -1.2, 0.7], [0.3, 0.0, 0.9]])
    step = np.cos(1.3 * np.arange(9.0)).reshape(3, 3)
    for form in FORMATS:

        def f(x: Any, form: Any = form) -> Any:
            found = OF_DENSE[name](x, form)
            return total(found), (kinds_in(found), isinstance(found, sp.sparray))

        def value(x: Any, f: Any = f) -> Any:
            return f(x)[0]

        wanted, kinds = f(x)
        is_single = kinds[0][0][2] == np.float32
        slope = (value(x + step * 1e-3) - value(x - step * 1e-3)) / 2e-3
        (found, found_kinds), gradient = gw.value_and_grad(gw.adapting(f), has_aux=True)(x)
        assert found_kinds == kinds, form
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if is_single else 1e-12)
        np.testing.assert_allclose(np.sum(gradient * step), slope, rtol=1e-3 if is_single else 1e-5)
        pushed = gw.jvp(gw.adapting(value), (x,), (step,))[1]
        np.testing.assert_allclose(pushed, slope, rtol=1e-3 if is_single else 1e-5)


def test_dictionaries_of_elements_have_their_methods() -> None:
    def f(x: Any) -> Any:
        K: Any = sp.dok_array((3, 3))
        K[0, 1] = x[0]
        K[2, 2] += x[1] * x[2]
        assert list(K.keys()) == [(0, 1), (2, 2)]
        assert [key in K for key in ((0, 1), (1, 1))] == [True, False]
        assert len(K) == 2
        found = sum(value * (1 + i + 2 * j) for (i, j), value in K.items())
        return found + K.get((0, 1)) ** 2 + K.get((1, 1)) + sum(sp.dok_array(x).values())

    x = X[:3]
    value, gradient = gw.value_and_grad(gw.adapting(f))(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    np.testing.assert_allclose(gradient, [3 + 2 * x[0] + 1, 7 * x[2] + 1, 7 * x[1] + 1])


@pytest.mark.parametrize("name", ["pop", "clear", "setdefault", "popitem"])
def test_other_methods_of_dictionaries_are_refused(name: str) -> None:
    def f(x: Any) -> Any:
        K = sp.dok_array((3, 3))
        K[0, 1] = x[0]
        getattr(K, name)(*([(0, 1)] if name in ("pop", "setdefault") else []))
        return K.sum()

    with pytest.raises(NoRuleError, match=rf"of tracked elements has no \.{name}"):
        gw.grad(gw.adapting(f))(X)


def test_a_store_of_other_positions_is_refused() -> None:
    def f(x: Any) -> Any:
        K = sp.coo_array((x, ([0, 1, 2, 3], [0, 1, 2, 3])))
        K.coords = K.coords[::-1]
        return K.sum()

    with pytest.raises(NoRuleError, match=r"cannot be changed by a store to \.coords"):
        gw.grad(gw.adapting(f))(X)


def test_a_write_to_the_positions_is_refused() -> None:
    def f(x: Any) -> Any:
        K = sp.csr_array((x, ([0, 1, 2, 3], [0, 1, 2, 3])))
        K.indices[0] = 1
        return K.sum()

    with pytest.raises(ValueError, match="read-only"):
        gw.grad(gw.adapting(f))(X)


def filled(K: Any, x: Any) -> Any:
    for i in range(4):
        K[i, i] = 2 * x[i] + 1
        if i:
            K[i, i - 1] = K[i - 1, i] = -x[i]
    return K


def summed(K: Any, x: Any) -> Any:
    for e in range(3):
        for a in (e, e + 1):
            for b in (e, e + 1):
                K[a, b] += x[e] if a == b else -x[e]
    return K


def of_blocks(K: Any, x: Any) -> Any:
    assert not K[0:2, 1:3].nnz
    K[3, 3] = 2.0
    for e in range(3):
        K[e : e + 2, e : e + 2] += x[e] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    K[0:2, :] = K[2:4, :] * x[3]
    return K


X = np.array([0.5, 0.9, 1.2, 1.6])


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize(
    "kind", [sp.lil_matrix, sp.lil_array, sp.dok_array, sp.dok_matrix, sp.csr_array]
)
@pytest.mark.parametrize("name", ASSEMBLIES)
def test_matrices_are_filled_with_tracked_elements(name: str, kind: Any) -> None:
    assemble = ASSEMBLIES[name](lambda: kind((4, 4)))
    wanted = assemble(X)
    assert not isinstance(wanted, TrackedMatrix)

    def f(x: Any) -> Any:
        K = assemble(x)
        assert K.format == wanted.format
        return total(K) + np.sum((K @ V) ** 2)

    gw.testing.check_grads(gw.adapting(f), (X,), order=1)
    np.testing.assert_allclose(gw.value_and_grad(f)(X)[0], f(X), rtol=1e-14)  # not adapted


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")
@pytest.mark.parametrize("kind", [sp.lil_matrix, sp.dok_array, sp.csr_array])
def test_a_matrix_of_the_users_is_scipys_again(kind: Any) -> None:
    K, other = kind((4, 4)), kind((4, 4))

    def f(x: Any) -> Any:
        assert isinstance(K, kind) or x is not X
        filled(K, x)
        return np.sum((K @ V) ** 2)

    filled(other, X)
    slopes = gw.hessian(f)(X) @ X
    assert type(K) is kind
    np.testing.assert_array_equal(K.toarray(), other.toarray())
    np.testing.assert_allclose(slopes, gw.jvp(gw.grad(f), (X,), (X,))[1])
    with pytest.raises(ZeroDivisionError):
        gw.grad(lambda x: 1 / 0 if filled(K, 2 * x) is K else 0.0)(X)
    assert type(K) is kind
    np.testing.assert_array_equal(K.toarray(), filled(kind((4, 4)), 2 * X).toarray())
    compiled: Any = gw.compile(gw.grad(f))
    for corner in (0.0, 5.0, 7.0):  # an element that the function reads and does not store
        K[3, 0] = corner
        for _ in range(2):
            np.testing.assert_allclose(compiled(X), gw.grad(f)(X))
        assert type(K) is kind


def test_complex_systems_have_second_derivatives() -> None:
    def f(z: Any) -> Any:
        A = sp.csc_array((z * np.array([1, 1j, 2, 1]), ([0, 1, 1, 0], [0, 0, 1, 1])), shape=(2, 2))
        one: Any = linalg.spsolve(A, np.array([1.0, 2j]))
        two: Any = linalg.splu(A).solve(z[:2] * np.array([2j, 1.0]), "T")
        return np.sum(np.abs(one) ** 2 * np.abs(two))

    real = np.array([1.0, 0.5, 2.0, 0.3])
    gw.testing.check_grads(gw.adapting(f), (real,))
    gw.testing.check_grads(gw.adapting(f), (real + np.array([0.2j, 0.5j, 0.1, -0.3j]),))


def test_a_large_system_is_filled_quickly() -> None:
    count = 2000

    def energy(x: Any) -> Any:
        K = sp.lil_matrix((count, count))
        K.setdiag(2 * x + 1)
        K.setdiag(-x[1:], 1)
        K.setdiag(-x[1:], -1)
        for i in range(0, count, 40):
            K[i, i] += x[i]
        return np.sum(linalg.spsolve(K.tocsc(), np.ones(count)) ** 2)

    x = np.linspace(0.5, 1.5, count)
    v = np.cos(np.arange(count))
    found = gw.grad(gw.adapting(energy))(x) @ v
    slope = (energy(x + 1e-6 * v) - energy(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(found, slope, rtol=1e-6)


def test_what_a_store_cannot_do_is_refused() -> None:
    with pytest.raises(
        NoRuleError, match=r"Values of dtype float64 were stored .* of int64.*dtype"
    ):
        gw.grad(lambda x: stored(sp.lil_array((2, 2), dtype=int), (0, 0), x[0]).sum())(X)
    with pytest.raises(NoRuleError, match=r"to code that needs a plain array.*gradwrap\.scipy"):
        gw.grad(lambda x: linalg.spsolve(filled(sp.lil_array((4, 4)), x).tocsc(), V).sum())(X)
    with pytest.raises(NoRuleError, match=r"sum of a scipy.sparse matrix is a matrix of NumPy"):
        gw.grad(lambda x: filled(sp.lil_matrix((4, 4)), x).sum(axis=0)[0, 0])(X)
    with pytest.raises(NoRuleError, match=r"no maximum with a number that changes its zeros"):
        gw.grad(lambda x: filled(sp.lil_array((4, 4)), x).tocsr().maximum(0.5).sum())(X)
    with pytest.raises(NoRuleError, match=r"elements of a sparse matrix have the shape \(10,\)"):
        gw.grad(with_other_data)(X)


def with_other_data(x: Any) -> Any:
    K = filled(sp.csr_array((4, 4)), x)
    K.data = x
    return K.sum()


FROM_DENSE: dict[str, Function] = {
    "of an argument": lambda x: sp.csr_array(np.reshape(x, (3, 3))),
    "of a diagonal": lambda x: sp.csc_matrix(np.diag(x[:3])) + sp.eye(3),
    "stacked": lambda x: sp.vstack([sp.coo_array(np.reshape(x[:6], (2, 3))), np.ones((1, 3))]),
    "of squares": lambda x: sp.lil_array(np.diag(x[:3] * x[:3])),
    "a product": lambda x: sp.csr_array(np.diag(x[:3])) @ sp.csr_array(np.ones((3, 3))),
}
"""Sparse matrices of dense arrays, some elements of which are zero at the arguments."""
SOME_ZEROS = np.array([0.0, 1.5, 0.0, -0.5, 0.0, 2.0, 0.7, 0.0, 1.0])


@pytest.mark.parametrize("make", FROM_DENSE.values(), ids=FROM_DENSE)
def test_elements_that_are_zero_keep_their_slopes(make: Callable[[Any], Any]) -> None:
    v, w = np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.1, -0.7])

    def of_plain(x: Any) -> Any:
        return np.sum(w * (make(x) @ v) ** 2)

    function = gw.adapting(of_plain)
    numbers = np.eye(9)
    step = 1e-5
    slopes = [
        (of_plain(SOME_ZEROS + step * e) - of_plain(SOME_ZEROS - step * e)) / (2 * step)
        for e in numbers
    ]
    np.testing.assert_allclose(gw.grad(function)(SOME_ZEROS), slopes, atol=1e-8)
    np.testing.assert_allclose(gw.jacfwd(function)(SOME_ZEROS), slopes, atol=1e-8)
    np.testing.assert_allclose(gw.compile(gw.grad(function))(SOME_ZEROS), slopes, atol=1e-8)
    hessian = gw.hessian(function)(SOME_ZEROS)
    curved = [
        (gw.grad(function)(SOME_ZEROS + step * e) - gw.grad(function)(SOME_ZEROS - step * e))
        / (2 * step)
        for e in numbers
    ]
    np.testing.assert_allclose(hessian, curved, atol=1e-7)


def test_constant_zeros_of_dense_arrays_are_no_elements() -> None:
    counts: list[int] = []

    def f(x: Any) -> Any:
        made = sp.csr_array(np.diag(x))
        counts.append(made.nnz)
        return np.sum(made @ np.ones(3))

    gw.grad(gw.adapting(f))(np.array([1.0, 2.0, 3.0]))
    assert counts[-1] == 3


def test_what_leaves_out_zeros_that_depend_on_arguments_is_refused() -> None:
    def found(x: Any) -> Any:
        return np.sum(sp.find(sp.csr_array(np.diag(x)))[2])

    def ordered(x: Any) -> Any:
        made = 2.0 * sp.csr_array(np.diag(x) + np.eye(3, k=1))
        sp.csgraph.breadth_first_order(made, 0)
        return np.sum(made @ np.ones(3))

    for function, words in ((found, "leaves out elements"), (ordered, "edges or none")):
        with pytest.raises(NoRuleError, match=words):
            gw.grad(gw.adapting(function))(np.array([0.0, 2.0, 3.0]))


laplacian: Any = csgraph.laplacian  # SciPy's type is of all its forms
EDGES: Any = np.array([[0.3, 1.2, 0, 0.7], [1.1, 0, 2.0, 0], [0, 0.4, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("form", ["dense", "csr_array", "coo_matrix"])
@pytest.mark.parametrize("symmetrized", [False, True])
@pytest.mark.parametrize("use_out_degree", [False, True])
@pytest.mark.parametrize("normed", [False, True])
def test_laplacians_of_graphs(
    form: str, normed: bool, use_out_degree: bool, symmetrized: bool
) -> None:
    places = np.nonzero(EDGES)
    weights = np.cos(np.arange(16.0)).reshape(4, 4)

    def run(x: Any) -> Any:
        made = getattr(sp, "coo_array" if form == "dense" else form)((x, places), shape=(4, 4))
        made = made.toarray() if form == "dense" else made
        found, degrees = laplacian(
            made,
            normed=normed,
            return_diag=True,
            use_out_degree=use_out_degree,
            symmetrized=symmetrized,
        )
        dense = found if form == "dense" else found.toarray()
        return np.sum(np.asarray(dense) * weights) + degrees @ np.arange(4.0)

    x = EDGES[places]
    adapted = gw.adapting(run)
    wanted = [(run(x + e) - run(x - e)) / 2e-6 for e in np.eye(x.size) * 1e-6]
    np.testing.assert_allclose(gw.grad(adapted)(x), wanted, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(gw.value_and_grad(adapted)(x)[0], run(x), rtol=1e-14)


def test_laplacian_as_a_function_is_refused() -> None:
    def run(x: Any) -> Any:
        return laplacian(np.reshape(x, (2, 2)), form="function")(np.ones(2))

    with pytest.raises(NoRuleError, match=r"laplacian has no derivative with .*form='function'"):
        gw.grad(gw.adapting(run))(np.ones(4))
