"""Sparse matrices of SciPy in compiled functions: products, solutions, and what is watched."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap import scipy as differentiable
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable

N = 8
RNG = np.random.default_rng(5)
DENSE = np.where(RNG.random((N, N)) < 0.4, RNG.standard_normal((N, N)), 0.0) + 3.0 * np.eye(N)
X = np.linspace(0.2, 1.6, N)
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
KINDS = [f"{form}_{kind}" for form in FORMATS for kind in ("array", "matrix")]

sparse: Any = import_module("scipy.sparse")
ours: Any = differentiable.sparse
grad: Any = gw.grad


def compared(function: Any, *points: Any, engine: str = "numpy", count: int = 1) -> Any:
    """Compile a function without a warning, and compare it with itself at some points."""
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in points or (X, 1.3 * X, X):
            found, wanted = compiled(x), function(x)
            assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
    assert len(compiled.programs) == count
    return compiled


def difference(function: Callable[[Any], Any], x: Any) -> Any:
    steps = 1e-6 * np.eye(len(x))
    return np.array([(function(x + h) - function(x - h)) / 2e-6 for h in steps])


# Products -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_product_and_its_adjoint_are_one_operation_each(kind: str, engine: str) -> None:
    matrix = getattr(sparse, kind)(DENSE)
    compared(lambda x: matrix @ x, engine=engine)

    def f(x: Any) -> Any:
        return np.sum(np.sin(matrix @ x))

    compiled = compared(grad(f), engine=engine)
    assert compiled.source.count("= sparse_product(") == 2
    np.testing.assert_array_equal(compiled(X), grad(f)(X))
    np.testing.assert_allclose(compiled(X), DENSE.T @ np.cos(DENSE @ X), rtol=1e-12)
    np.testing.assert_allclose(compiled(X), difference(f, X), rtol=1e-6, atol=1e-7)


A: Any = sparse.csr_matrix(DENSE)
B: Any = sparse.csc_array(DENSE)
SPELLINGS: dict[str, Callable[[Any], Any]] = {
    "A.dot(x)": lambda x: A.dot(x),
    "A * x": lambda x: A * x,
    "x @ A": lambda x: x @ A,
    "A.T @ x": lambda x: A.T @ x,
    "x @ B": lambda x: x @ B,
    "B.T @ x": lambda x: B.T @ x,
    "2 * B @ x": lambda x: (2 * B) @ x,
    "of columns": lambda x: A @ np.outer(x, x),
    "ours": lambda x: ours.csr_array(A) @ x,
    "diags": lambda x: sparse.diags([X[:-1], X], [-1, 0]) @ x,
    "our diags": lambda x: ours.diags([X[:-1], X], [-1, 0]) @ x,
    "kron": lambda x: sparse.kron(sparse.eye(2), A) @ np.concatenate([x, 2 * x]),
    "of coordinates": lambda x: sparse.coo_matrix((X, (np.arange(N), np.arange(N)[::-1]))) @ x,
}


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("function", SPELLINGS.values(), ids=SPELLINGS)
def test_products_in_other_words(function: Callable[[Any], Any], engine: str) -> None:
    compared(function, engine=engine)
    compared(grad(lambda x: np.sum(np.sin(function(x)))), engine=engine)


def test_a_complex_matrix() -> None:
    matrix = sparse.csr_array(DENSE * (1 + 2j))
    for form in ("csr", "coo", "dia"):
        made = matrix.asformat(form)
        found = compared(grad(lambda x, made=made: np.sum(np.abs(made @ x) ** 2)))
        np.testing.assert_allclose(found(X), 10 * DENSE.T @ DENSE @ X, rtol=1e-12)


def test_forward_mode_and_batches() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(A @ x))

    compared(lambda x: gw.jvp(f, (x,), (np.cos(x),))[1])
    batch = np.stack([X, 2 * X, 3 * X])
    compared(gw.vmap(grad(f)), batch, 0.5 * batch)
    compared(gw.hessian(f))


def stepped(x: Any) -> Any:
    u = x
    for _ in range(30):
        u = u + 0.01 * (A @ u)
    return np.sum(u**2)


def iterated(x: Any) -> Any:
    v = x
    for _ in range(30):
        w = A @ v
        v = w / np.sqrt(np.sum(w**2))
    return np.sum(v * (A @ v))


SOLVE = ours.linalg.factorized(sparse.csc_matrix(np.eye(N) + 0.1 * DENSE))


def solved_in_turn(x: Any) -> Any:
    u = x
    for _ in range(30):
        u = SOLVE(u + 0.01 * x)
    return np.sum(u**2)


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("function", [stepped, iterated, solved_in_turn])
def test_loops_are_found(function: Any, engine: str) -> None:
    compiled = compared(grad(function), engine=engine)
    turns = [int(line.split()[1]) for line in compiled.explain().splitlines() if "turns of" in line]
    assert turns
    assert min(turns) >= 28


def test_a_saved_program_needs_scipy_alone(tmp_path: pathlib.Path) -> None:
    compiled = compared(grad(stepped))
    compiled.save(tmp_path / "of_steps.py")
    text = (tmp_path / "of_steps.py").read_text()
    assert "gradwrap" not in text.partition("import")[2]
    spec = importlib.util.spec_from_file_location("of_steps", tmp_path / "of_steps.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_array_equal(module.compiled(X)[0], compiled(X))


# What is watched ----------------------------------------------------------------------------------


def _data(matrix: Any) -> None:
    matrix.data[0] = -7.0


def _new_data(matrix: Any) -> None:
    matrix.data = matrix.data * 2.0


def _indices(matrix: Any) -> None:
    names = [name for name in ("indices", "offsets") if hasattr(matrix, name)]
    part = getattr(matrix, names[0]) if names else matrix.coords[1]
    part[0] = part[0] + 1 if part[0] + 1 < part[1] else part[0] - 1


def _indptr(matrix: Any) -> None:
    matrix.indptr[1] += 1


def _element(matrix: Any) -> None:
    matrix[0, 0] = -3.0


CHANGES = [
    *((form, change) for form in ("csr", "csc", "bsr") for change in (_data, _new_data)),
    *((form, change) for form in ("coo", "dia") for change in (_data, _new_data, _indices)),
    *(("csr", change) for change in (_indices, _indptr, _element)),
    *((form, _element) for form in ("lil", "dok")),
]


@pytest.mark.parametrize(("form", "change"), CHANGES)
@pytest.mark.parametrize("is_transposed", [False, True])
def test_a_change_of_a_matrix_is_noticed(form: str, change: Any, is_transposed: bool) -> None:
    matrix = sparse.csr_matrix(DENSE).asformat(form)

    def f(x: Any) -> Any:
        return np.sum(np.sin((matrix.T if is_transposed else matrix) @ x))

    compiled: Any = gw.compile(grad(f))
    before = compiled(X)
    np.testing.assert_array_equal(compiled(X), before)
    assert compiled.programs
    change(matrix)
    wanted = grad(f)(X)
    assert not np.array_equal(wanted, before)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(X), wanted)


def test_another_shape_is_noticed() -> None:
    matrix = sparse.csr_matrix(DENSE)
    compiled: Any = gw.compile(lambda x: matrix @ x)
    assert compiled(X).shape == (N,)
    matrix.resize((N - 2, N))
    assert compiled(X).shape == (N - 2,)
    np.testing.assert_array_equal(compiled(X), matrix @ X)
    matrix.resize((N - 2, N - 1))
    with pytest.raises(ValueError, match="mismatch"):
        compiled(X)


def test_another_matrix_in_the_same_place_is_noticed() -> None:
    owner = SimpleNamespace(matrix=sparse.csr_matrix(DENSE), others=[B])
    cell = sparse.coo_array(DENSE)

    def f(x: Any) -> Any:
        return np.sum((owner.matrix @ x) * (owner.others[0] @ x) + cell @ x)

    compiled: Any = gw.compile(grad(f))
    for change in (
        lambda: setattr(owner, "matrix", sparse.csr_matrix(2 * DENSE)),
        lambda: owner.others.__setitem__(0, sparse.csc_array(3 * DENSE)),
        lambda: owner.others[0].data.__setitem__(0, 9.0),
    ):
        compiled(X)
        assert compiled.programs
        change()
        np.testing.assert_array_equal(compiled(X), grad(f)(X))
    cell = sparse.coo_array(5 * DENSE)
    np.testing.assert_array_equal(compiled(X), grad(f)(X))


def test_the_array_of_a_matrix_that_is_given_another_is_not_read() -> None:
    matrix = sparse.csr_matrix(DENSE)
    compiled: Any = gw.compile(lambda x: matrix @ x)
    old = matrix.data
    compiled(X)
    matrix.data = old.copy()
    np.testing.assert_allclose(compiled(X), DENSE @ X, rtol=1e-12)
    old *= 2.0
    assert compiled.programs
    np.testing.assert_allclose(compiled(X), DENSE @ X, rtol=1e-12)


def test_the_arrays_that_a_matrix_is_made_of_are_watched() -> None:
    rows, columns, data = np.arange(N), np.arange(N)[::-1].copy(), X.copy()

    def f(x: Any) -> Any:
        return np.sum((sparse.csr_matrix((data, (rows, columns)), (N, N)) @ x) ** 2)

    compiled: Any = gw.compile(grad(f))
    np.testing.assert_array_equal(compiled(X), grad(f)(X))
    for array in (data, columns):
        array[[0, 1]] = array[[1, 0]]
        np.testing.assert_array_equal(compiled(X), grad(f)(X))
    assert compiled.programs


def test_a_matrix_among_the_arguments() -> None:
    def f(matrix: Any, x: Any) -> Any:
        return np.sum((matrix @ x) ** 2)

    compiled: Any = gw.compile(gw.grad(f, argnums=1))
    matrix = sparse.csr_matrix(DENSE)
    np.testing.assert_allclose(compiled(matrix, X), 2 * DENSE.T @ DENSE @ X, rtol=1e-12)
    matrix.data *= 2.0
    np.testing.assert_allclose(compiled(matrix, X), 8 * DENSE.T @ DENSE @ X, rtol=1e-12)
    other = sparse.csr_matrix(-DENSE)
    np.testing.assert_allclose(compiled(other, X), 2 * DENSE.T @ DENSE @ X, rtol=1e-12)


def test_a_matrix_that_only_a_cache_holds_runs_eagerly() -> None:
    @functools.cache
    def assembled() -> Any:
        return sparse.csr_matrix(DENSE)

    def f(x: Any) -> Any:
        return assembled() @ x

    compiled: Any = gw.compile(f)
    with pytest.warns(CompileWarning, match="is in no variable that it names"):
        compiled(X)
    assembled().data[:] *= 2.0
    np.testing.assert_allclose(compiled(X), 2 * DENSE @ X, rtol=1e-12)


def test_a_program_with_a_matrix_is_not_kept_for_other_processes(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CACHE_DIR", str(tmp_path / "cache"))
    compiled: Any = gw.compile(grad(stepped), cache=True)
    np.testing.assert_array_equal(compiled(X), grad(stepped)(X))
    compiled(X)
    assert compiled.programs
    assert not list(tmp_path.rglob("*.program"))


def test_a_change_within_the_function_is_not_lost() -> None:
    def f(x: Any) -> Any:
        matrix = sparse.csr_matrix(DENSE)
        y = ours.linalg.spsolve(matrix.tocsc(), x) + matrix @ x
        matrix.data *= 2.0
        return np.sum(y * (matrix @ x))

    compiled: Any = gw.compile(grad(f))
    for x in (X, 2 * X):
        np.testing.assert_allclose(compiled(x), grad(f)(x), rtol=1e-12)

    def of_one(x: Any) -> Any:
        matrix = sparse.csc_matrix(DENSE)
        y = ours.linalg.spsolve(matrix, x)
        matrix.data *= 2.0
        return np.sum(y * ours.linalg.spsolve(matrix, x))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        compiled = gw.compile(grad(of_one))
        for x in (X, 2 * X):
            np.testing.assert_allclose(compiled(x), grad(of_one)(x), rtol=1e-12)


# Solutions ----------------------------------------------------------------------------------------

C: Any = sparse.csc_matrix(DENSE)
SYMMETRIC: Any = sparse.csr_matrix(DENSE @ DENSE.T)
FACTORS = ours.linalg.splu(C)
SOLUTIONS: dict[str, Callable[[Any], Any]] = {
    "splu": lambda x: FACTORS.solve(x),
    "splu, transposed": lambda x: FACTORS.solve(x, "T"),
    "splu in the function": lambda x: ours.linalg.splu(C).solve(x),
    "factorized": lambda x: SOLVE(x),
    "spsolve": lambda x: ours.linalg.spsolve(C, x),
    "cg": lambda x: ours.linalg.cg(SYMMETRIC, x, rtol=1e-12)[0],
}


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("function", SOLUTIONS.values(), ids=SOLUTIONS)
def test_solutions_with_a_fixed_matrix(function: Callable[[Any], Any], engine: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(function(x)))

    compiled = compared(grad(f), engine=engine)
    np.testing.assert_allclose(compiled(X), difference(f, X), rtol=1e-6, atol=1e-7)


def test_a_change_of_a_factorised_matrix_is_noticed() -> None:
    matrix = sparse.csc_matrix(DENSE)

    def f(x: Any) -> Any:
        return np.sum(ours.linalg.splu(matrix).solve(x) + ours.linalg.spsolve(matrix, x))

    compiled: Any = gw.compile(grad(f))
    compiled(X)
    assert compiled.programs
    matrix.data[0] *= 3.0
    np.testing.assert_allclose(compiled(X), grad(f)(X), rtol=1e-12)


MATRICES: list[Any] = [sparse.csc_matrix(DENSE + k * np.eye(N)) for k in range(40)]


def with_two(x: Any) -> Any:
    return ours.linalg.spsolve(C, x) - ours.linalg.spsolve(SYMMETRIC, x)


def one_after_the_other(x: Any) -> Any:
    found = x
    for matrix in MATRICES:
        found = ours.linalg.spsolve(matrix, found) + x
    return found


def each_several_times(x: Any) -> Any:
    found = x
    for matrix in MATRICES[:12]:
        for _ in range(12):
            found = ours.linalg.spsolve(matrix, found) + x
    return found


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("function", [with_two, one_after_the_other, each_several_times])
def test_solutions_with_several_matrices(function: Any, engine: str) -> None:
    """At zeros all of them are equal, so the first call cannot show which matrix it was."""
    compared(function, np.zeros(N), X, 1.3 * X, engine=engine)


# Matrices of tracked elements ---------------------------------------------------------------------

ROWS, COLUMNS = np.array([0, 0, 1, 2, 2, 3, 5, 5]), np.array([1, 1, 0, 3, 2, 2, 4, 0])
STARTS = np.array([0, 2, 3, 5, 6, 6, 8])
Y = np.arange(1.0, 7.0)


def made(x: Any, kind: str = "csr_array") -> Any:
    return getattr(ours, kind)((x, (ROWS, COLUMNS)), shape=(6, 6))


def of_turns(x: Any) -> Any:
    u = Y
    for _ in range(20):
        u = u + 0.05 * (made(x) @ u)
    return u


def regular(x: Any) -> Any:
    return made(x) + ours.diags_array(4.0 + Y)


def filled(x: Any) -> Any:
    matrix = ours.lil_array((6, 6))
    for i in range(6):
        matrix[i, i] = 4.0 + x[i] ** 2
        if i:
            matrix[i, i - 1] -= x[i]
            matrix[i - 1 : i + 1, i - 1 : i + 1] += 0.1 * x[i] * np.ones((2, 2))
    return matrix.tocsc()


def steps(x: Any) -> Any:
    solve, u = ours.linalg.splu(regular(x).tocsc()).solve, Y
    for _ in range(5):
        u = solve(u + 0.1 * made(x) @ u)
    return u


TRACKED: dict[str, Callable[[Any], Any]] = {
    "solution": lambda x: ours.linalg.spsolve(regular(x).tocsc(), Y * x[:6]),
    "solutions": lambda x: ours.linalg.spsolve(filled(x), np.outer(Y, Y[:2]) + 1.0),
    "filled": lambda x: filled(x) @ Y + filled(x).T @ Y,
    "steps": steps,
    "transposed": lambda x: ours.linalg.factorized(regular(x).T.tocsc())(Y) ** 2,
    "csr": lambda x: made(x) @ Y,
    "csc_matrix": lambda x: made(x, "csc_matrix").T @ Y,
    "coo": lambda x: made(x, "coo_array") @ Y,
    "by starts": lambda x: ours.csr_array((x, COLUMNS, STARTS), shape=(6, 6)) @ Y,
    "from the right": lambda x: Y @ made(x),
    "both": lambda x: made(x) @ (Y * x[:6]),
    "of columns": lambda x: made(x) @ np.outer(Y, Y),
    "diags": lambda x: ours.diags([x[:5], x[2:]], [-1, 0]) @ Y,
    "scaled": lambda x: ours.csr_array(DENSE[:6, :6]).multiply(x[:6]) @ Y,
    "sums": lambda x: made(x).sum() + made(x).diagonal() + made(x).sum(axis=0),
    "sum of two": lambda x: (made(x) + ours.eye_array(6, format="csr")) @ Y,
    "product of two": lambda x: (made(x) @ made(x**2)) @ Y,
    "kron": lambda x: ours.kron(ours.eye(2), made(x)) @ np.concatenate([Y, Y]),
    "stacked": lambda x: ours.vstack([made(x), made(x**2)]) @ Y,
    "dense": lambda x: made(x).toarray(),
    "an element": lambda x: made(x)[0, 1] * made(x, "csr_matrix")[2].toarray(),
    "norm": lambda x: ours.linalg.norm(made(x)) * Y,
    "a loop": of_turns,
}


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("function", TRACKED.values(), ids=TRACKED)
def test_matrices_of_tracked_elements(function: Callable[[Any], Any], engine: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(function(x)))

    compiled = compared(grad(f), engine=engine)
    np.testing.assert_allclose(compiled(X), difference(f, X), rtol=1e-5, atol=1e-6)
    compared(lambda x: gw.jvp(f, (x,), (np.cos(x),))[1], engine=engine)


def test_the_positions_of_tracked_elements_are_watched() -> None:
    columns = COLUMNS.copy()

    def f(x: Any) -> Any:
        return np.sum((ours.coo_array((x, (ROWS, columns)), shape=(6, 6)) @ Y) ** 2)

    compiled: Any = gw.compile(grad(f))
    compiled(X)
    columns[0] = 5
    np.testing.assert_allclose(compiled(X), grad(f)(X), rtol=1e-12)
    assert compiled.programs


def test_an_iterated_solution_with_a_tracked_matrix_runs_eagerly() -> None:
    def f(x: Any) -> Any:
        matrix = made(x, "csc_matrix") + 3 * ours.eye(6, format="csc")
        return np.sum(ours.linalg.gmres(matrix, Y, rtol=1e-12)[0])

    compiled: Any = gw.compile(grad(f))
    with pytest.warns(CompileWarning, match=r"needs a plain array \(line \d+ of f\)"):
        compiled(X)
    np.testing.assert_array_equal(compiled(1.1 * X), grad(f)(1.1 * X))


BASIS = np.cos(np.arange(20.0) ** 2).reshape(5, 4)


def with_operator(t: Any, name: str) -> Any:
    """A system of an operator, whose products depend on tracked values by a closure."""
    weights = 1.0 + t[:4] ** 2

    def multiply(v: Any) -> Any:
        return BASIS.T @ (BASIS @ v) / 5.0 + weights * v

    operator = sparse.linalg.LinearOperator((4, 4), matvec=multiply, dtype=float)
    solve = getattr(sparse.linalg, name)
    found, info = solve(operator, t[4:], rtol=1e-14)
    assert info == 0
    return np.sum(found**2 * np.arange(1.0, 5.0))


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab", "minres"])
def test_a_solver_is_given_an_operator_of_tracked_values(name: str) -> None:
    def function(t: Any) -> Any:
        return with_operator(t, name)

    slope = gw.grad(gw.adapting(function))
    compiled = gw.compile(slope)
    t = np.linspace(0.2, 1.5, 8)
    for given in (t, t[::-1].copy(), t**2 + 0.1):
        np.testing.assert_allclose(compiled(given), slope(given), rtol=1e-9)
        ends = [function(given + h) for h in 1e-6 * np.vstack([np.eye(8), -np.eye(8)])]
        differences = (np.array(ends[:8]) - ends[8:]) / 2e-6
        np.testing.assert_allclose(compiled(given), differences, rtol=1e-5, atol=1e-8)
    assert len(compiled.programs) == 1
    before = BASIS.copy()
    BASIS[:] = BASIS[::-1] * 1.5
    try:
        np.testing.assert_allclose(compiled(t), slope(t), rtol=1e-9)
    finally:
        BASIS[:] = before
    np.testing.assert_allclose(compiled(t), slope(t), rtol=1e-9)


def test_an_operator_that_branches_on_tracked_values() -> None:
    def function(t: Any) -> Any:
        def multiply(v: Any) -> Any:
            return (2.0 + t[0] ** 2) * v if t[0] > 0.5 else (3.0 - t[1]) * v

        operator = sparse.linalg.LinearOperator((2, 2), matvec=multiply, dtype=float)
        return np.sum(sparse.linalg.cg(operator, t[2:], rtol=1e-14)[0])

    slope = gw.grad(gw.adapting(function))
    compiled = gw.compile(slope)
    for t in (
        [0.7, 0.4, 1.0, 2.0],
        [0.2, 0.4, 1.0, 2.0],
        [0.9, 0.1, 2.0, 3.0],
        [0.1, 0.9, 2.0, 3.0],
    ):
        given = np.array(t)
        np.testing.assert_allclose(compiled(given), slope(given), rtol=1e-10)
