"""Loops whose slices have another length in each turn: in NumPy's calls, and as tables in C."""

from __future__ import annotations

import shutil
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.programs import in_place

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.calls import entry
from gradwrap.compiler.engines.c import kernels as c_source
from gradwrap.compiler.engines.c.addresses import MARK
from gradwrap.compiler.engines.c.turns import Turns
from gradwrap.errors import CompileWarning
from sampling import LONG

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(17)
HAS_COMPILER = any(map(shutil.which, ("gcc", "clang", "cc")))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler here")


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADWRAP_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def definite(n: int) -> Any:
    a = RNG.standard_normal((n, n)) / np.sqrt(n)
    return a @ a.T + np.eye(n)


def lu(a: Any) -> Any:
    found: Any = in_place.lu(np, a)
    return found


def cholesky_by_columns(a: Any) -> Any:
    a = 1.0 * a
    for j in range(a.shape[0]):
        if j:
            a[j:, j] -= a[j:, :j] @ a[j, :j]
        a[j:, j] /= np.sqrt(a[j, j])
    return np.sum(np.tril(a) ** 3)


def cholesky_by_elements(a: Any) -> Any:
    n = a.shape[0]
    factor = gnp.zeros((n, n), a.dtype)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - factor[i, :j] @ factor[j, :j]  # of no elements for j = 0
            factor[i, j] = np.sqrt(s) if i == j else s / factor[j, j]
    return np.sum(factor**3)


def cholesky_by_three_loops(a: Any) -> Any:
    n = a.shape[0]
    factor = gnp.zeros((n, n), a.dtype)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s = s - factor[i, k] * factor[j, k]
            factor[i, j] = np.sqrt(s) if i == j else s / factor[j, j]
    return np.sum(factor**3)


def gram_schmidt(a: Any) -> Any:
    q = 1.0 * a
    for j in range(a.shape[1]):
        for i in range(j):
            q[:, j] -= (q[:, i] @ a[:, j]) * q[:, i]
        q[:, j] /= np.sqrt(np.sum(q[:, j] ** 2))
    return np.sum(q**3)


def eliminated(a: Any) -> Any:
    a = 1.0 * a
    n = a.shape[0]
    x = gnp.zeros(n, a.dtype)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    for i in range(n - 1, -1, -1):
        x[i] = (a[i, i] ** 2 - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * x)


def householder(a: Any) -> Any:
    r = 1.0 * a
    for k in range(a.shape[0] - 1):
        v = 1.0 * r[k:, k]
        v[0] += np.sign(v[0]) * np.sqrt(np.sum(v * v))
        v = v / np.sqrt(v @ v)
        r[k:, k:] -= 2.0 * np.outer(v, v @ r[k:, k:])
    return np.sum(np.triu(r) ** 3)


def rotations(a: Any) -> Any:
    r = 1.0 * a
    n = a.shape[0]
    for j in range(n - 1):
        for i in range(n - 1, j, -1):
            h = np.sqrt(r[i - 1, j] ** 2 + r[i, j] ** 2)
            c, s = r[i - 1, j] / h, r[i, j] / h
            r[i - 1], r[i] = c * r[i - 1] + s * r[i], c * r[i] - s * r[i - 1]
    return np.sum(np.triu(r, 1) ** 3)


def triangular_product(a: Any) -> Any:
    n = a.shape[0]
    c = gnp.zeros((n, n), a.dtype)
    for i in range(n):
        for j in range(i + 1):
            c[i, j] = a[i, j : i + 1] @ a[j : i + 1, j]
    return np.sum(c * c)


def growing_sums(a: Any) -> Any:
    n = a.shape[0]
    y = gnp.zeros(n, a.dtype)
    for i in range(n):
        y[: i + 1] += a[0, i] * a[1, i::-1]
        y[i:] = y[i:] * 0.5 + np.max(a[2, : i + 1])
        y[i] += np.sum(np.sum(a[i:, : i + 1], axis=0) ** 2)
    return np.sum(np.sin(y))


def pairs(a: Any) -> Any:
    x = 1.0 * a
    n = a.shape[0]
    for _ in range(3):
        force = gnp.zeros(a.shape, a.dtype)
        for i in range(n):
            for j in range(i + 1, n):
                d = x[j] - x[i]
                f = d / (np.sum(d * d) + 0.1)
                force[i] += f
                force[j] -= f
        x += 0.01 * force
    return np.sum(x * x)


def checkered(a: Any) -> Any:
    u = 1.0 * a
    n = a.shape[0]
    for _ in range(3):
        for colour in (0, 1):
            for i in range(1, n - 1):
                for j in range(1 + (i + colour) % 2, n - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


PROGRAMS: list[tuple[Callable[[Any], Any], int]] = [
    (lu, 14),
    (cholesky_by_columns, 24),
    (cholesky_by_elements, 12),
    (cholesky_by_three_loops, 11),
    (gram_schmidt, 12),
    (eliminated, 12),
    (householder, 14),
    (rotations, 9),
    (triangular_product, 13),
    (growing_sums, 30),
    (pairs, 9),
    (checkered, 10),
]


def agree(wanted: Any, found: Any) -> None:
    assert type(found) is type(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    scale = np.max(np.abs(wanted))
    assert np.isfinite(scale)
    assert np.max(np.abs(found - wanted)) <= 4096 * np.spacing(scale)


@pytest.mark.parametrize(("program", "n"), PROGRAMS, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize(
    ("engine", "dtype"),
    [
        ("numpy", np.float64),
        pytest.param("c", np.float64, marks=needs_compiler),
        pytest.param("c", np.float32, marks=(needs_compiler, *LONG)),
    ],
)
def test_gradients_are_those_of_eager(
    engine: str, program: Callable[[Any], Any], n: int, dtype: Any
) -> None:
    eager = gw.grad(program)
    compiled = gw.compile(eager, engine=engine)
    first, second = (definite(n).astype(dtype) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        found = compiled(first)
    kept = found.copy()
    agree(eager(second), compiled(second))
    agree(eager(first), compiled(first))
    assert np.array_equal(found, kept)
    if engine == "c":
        assert sum(line.startswith("kernel") for line in compiled.explain().splitlines()) == 1


@needs_compiler
@pytest.mark.parametrize(
    ("program", "n"),
    [*PROGRAMS[2:4], *(pytest.param(*one, marks=pytest.mark.slow) for one in PROGRAMS[4:8])],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_every_stretch_can_be_written_in_turns(
    monkeypatch: pytest.MonkeyPatch, program: Callable[[Any], Any], n: int
) -> None:
    """What rolling has left, with its loops among it, and a few steps."""
    monkeypatch.setattr(c_source, "MANY_STEPS", 2)
    monkeypatch.setattr(c_source, "ONE_GROUP", 2.0)
    monkeypatch.setattr(entry, "FIND_REPETITION", frozenset())
    eager = gw.value_and_grad(program)
    compiled = gw.compile(eager, engine="c")
    matrix = definite(n)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        compiled(matrix)
    for wanted, found in zip(eager(matrix * 1.5), compiled(matrix * 1.5), strict=True):
        agree(wanted, found)


@pytest.mark.slow
@needs_compiler
def test_text_in_c_does_not_grow_with_the_number_of_turns() -> None:
    lines: list[int] = []
    for n in (11, 15):
        compiled = gw.compile(gw.grad(lu), engine="c")
        compiled(definite(n))
        lines.append(len(compiled.source.splitlines()))
    assert lines[1] < 1.1 * lines[0] < 600


@pytest.mark.slow
@needs_compiler
def test_loops_in_kernels_are_listed() -> None:
    compiled: Any = gw.compile(gw.grad(lambda a: np.sum(lu(a))), engine="c")
    compiled(definite(20))
    notes = compiled.explain()
    assert "in kernel0: loop of" in notes
    assert "nested loops, the outer one of" in notes


@pytest.mark.slow
@needs_compiler
def test_large_arrays_are_copied_for_many_writes_alone() -> None:
    def few(x: Any) -> Any:
        y = np.linalg.inv(x)
        y[0, 0] = np.sum(y[1])
        return y

    def many(x: Any) -> Any:
        y = np.linalg.inv(x)
        for i in range(100):
            y[i, : i + 1] = np.sum(y[i, i:]) * y[i, : i + 1]
        return y

    x = np.eye(200) + 0.01 * RNG.standard_normal((200, 200))
    for program, is_c in ((few, False), (many, True)):
        compiled = gw.compile(program, engine="c")
        compiled(x)
        agree(program(x * 0.5), compiled(x * 0.5))
        assert ("kernel" not in compiled.source.partition("# The kernels")[0]) != is_c


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_leave_many_values_to_each_other(dtype: Any) -> None:
    """What the backward pass needs of the forward one, with a function of NumPy's between them."""

    def program(a: Any) -> Any:
        q = 1.0 * a
        n = a.shape[0]
        above = []
        for j in range(n):
            for i in range(j):
                q[:, j] -= (q[:, i] @ a[:, j]) * q[:, i]
            q[:, j] /= np.sqrt(np.sum(q[:, j] ** 2))
            above.append(q[:, j] > 0)
        s = np.linalg.solve(q.T @ a + np.eye(n, dtype=a.dtype), a[:, 0])
        for j in range(1, n):
            s[j] += np.sum(np.where(above[j], q[j], 0.0)) * (q[j, :j] @ s[:j])
        return np.sum(s * s)

    eager = gw.grad(program)
    compiled = gw.compile(eager, engine="c")
    a = definite(16).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        compiled(a)
    agree(eager(a * a + a), compiled(a * a + a))
    kernels = [line for line in compiled.explain().splitlines() if line.startswith("kernel")]
    assert len(kernels) > 1
    for line in kernels:
        inputs, outputs = (int(part.split()[0]) for part in line.split(", ")[1:3])
        assert inputs + outputs < 20


@needs_compiler
def test_empty_arrays_are_part_of_kernels() -> None:
    def program(x: Any, y: Any) -> Any:
        z = np.concatenate([np.sin(y), x[3:3] * 2.0, x])
        z[1:1] += y
        z[5:2] = y * 3.0
        return z + np.sum(y) + y @ x[:0], y * y, np.sum(x[:, None] * y, axis=1), np.prod(z)

    compiled = gw.compile(program, engine="c")
    x, y = RNG.standard_normal(6), np.zeros(0)
    compiled(x, y)
    for wanted, found in zip(program(x * 2, y), compiled(x * 2, y), strict=True):
        assert (type(found), found.shape) == (type(wanted), wanted.shape)
        assert np.allclose(wanted, found, rtol=1e-14)


@needs_compiler
@pytest.mark.parametrize(
    "view",
    [
        np.tril,
        lambda x: np.triu(x, 2),
        lambda x: np.tril(x, k=-1),
        np.diagonal,
        lambda x: np.diagonal(x, -2),
        lambda x: np.diagonal(x[1:], offset=1) * 2.0,
        np.flipud,
        lambda x: np.flip(x[:, 1:]),
        lambda x: np.flip(x, axis=1).T,
    ],
)
def test_parts_of_matrices_are_taken_in_kernels(view: Callable[[Any], Any]) -> None:
    def program(x: Any) -> Any:
        y = np.sin(x)
        return np.cos(view(y * 2.0)) + 1.0, np.sum(y)

    compiled = gw.compile(program, engine="c")
    x = RNG.standard_normal((5, 7))
    compiled(x)
    for wanted, found in zip(program(x + 1.0), compiled(x + 1.0), strict=True):
        agree(wanted, found)
    assert compiled.source.partition("# The kernels")[0].count(" = kernel") == 1


@needs_compiler
def test_integers_and_truths_are_counted_exactly() -> None:
    def program(x: Any, n: Any) -> Any:
        y = np.sin(x) > 0
        m = n * 2
        counts = np.sum(y), np.sum(y, axis=0), np.count_nonzero(y, axis=1)
        return *counts, np.sum(m), np.sum(m[1:, ::2], axis=0), np.sum(y[:, :0])

    compiled = gw.compile(program, engine="c")
    x = RNG.standard_normal((5, 7))
    n = RNG.integers(-(2**61), 2**61, (5, 6))  # the last digits are lost in floats
    compiled(x, n)
    for wanted, found in zip(program(-x, n), compiled(-x, n), strict=True):
        assert type(found) is type(wanted)
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
    assert "add.reduce" not in compiled.source.partition("# The kernels")[0]


@pytest.mark.parametrize("offset", [0, 1, -1, 2, -2])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 3, 4)])
def test_gradient_of_a_diagonal(shape: tuple[int, ...], offset: int) -> None:
    x = RNG.standard_normal(shape)
    factors = RNG.standard_normal(np.diagonal(x, offset, -2, -1).shape)
    wanted = np.zeros(shape)
    length = factors.shape[-1]
    rows, columns = np.arange(length) + max(0, -offset), np.arange(length) + max(0, offset)
    wanted[..., rows, columns] = factors
    found = gw.grad(lambda x: np.sum(factors * np.diagonal(x, offset, -2, -1)))(x)
    assert np.array_equal(found, wanted)


# The text -----------------------------------------------------------------------------------------


def written(pieces: list[str], types: dict[str, str], needed: list[str]) -> tuple[str, Any, int]:
    """Write pieces. `$` is on both sides of an integer or a variable, in place of the mark."""
    functions: list[str] = []
    places: list[int] = []

    def function(text: str) -> str:
        functions.append(text)
        return f"f{len(functions)}"

    def take(size: int) -> int:
        places.append(size)
        return 1000

    kinds = {f"{MARK}{name}{MARK}": kind for name, kind in types.items()}
    outside = {
        f"{MARK}{name}{MARK}": kind for name, kind in (("a0", "const double *"), ("o0", "float *"))
    }
    turns = Turns(kinds, outside, function)
    for piece in pieces:
        turns.add(piece.replace("$", MARK))
    lines, texts = turns.written([f"{MARK}{name}{MARK}" for name in needed], take)
    text = "\n".join([*functions, *lines]).replace(MARK, "")
    return text, {name.strip(MARK): found for name, found in texts.items()}, places[0]


def test_a_repeated_piece_is_a_loop_over_a_table() -> None:
    pieces = [f"f3(${n}$, $a0$ + ${n * n}$, 40, 2.5e-08);" for n in range(2, 20)]
    text, _, size = written(pieces, {}, [])
    assert text.count("f3(") == 1
    assert "f3(p0[0], a0 + p0[1], 40, 2.5e-08);" in text
    table = ",".join(f"{n},{n * n}" for n in range(2, 20))
    assert f"static const int T0[] = {{{table}}};" in text
    assert size == 0


def test_numbers_of_earlier_turns_lie_in_memory() -> None:
    types = {f"v{n}": "double" for n in range(100)}
    pieces = ["const double $v0$ = $a0$[$0$];"]
    pieces += [f"const double $v{n}$ = $v{n - 1}$ * $a0$[${n}$];" for n in range(1, 30)]
    text, texts, size = written(pieces, types, ["v29"])
    assert text.count("* a0[p0[0]]") == 1
    assert size == 8 * 30
    assert texts == {"v29": f"(*(double *)(w + {1000 + 8 * 29}))"}


def test_numbers_of_the_same_turn_are_variables() -> None:
    types = {f"v{n}": "float" for n in range(100)}
    pieces: list[str] = []
    for n in range(20):
        pieces += [f"const float $v{2 * n}$ = $a0$[${n}$];"]
        pieces += [f"const float $v{2 * n + 1}$ = -$v{2 * n}$;"]
        pieces += [f"$o0$[${n}$] = $v{2 * n + 1}$;"]
    text, _, size = written(pieces, types, [])
    assert size == 0
    assert "const float v1_0 = -v0_0;" in text


def test_loops_of_different_lengths_are_in_one_outer_loop() -> None:
    pieces: list[str] = []
    for row in range(1, 20):
        pieces.append(f"begin($a0$ + ${row}$);")
        pieces += [f"inner(${row}$, $a0$ + ${column}$);" for column in range(row)]
        pieces += ["middle($a0$);", f"end(${3 * row}$);"]
    text, _, _ = written(pieces, {}, [])
    assert text.count("inner(") <= 2  # the first row stands alone
    assert text.count("for (") <= 3  # and so does the last one


def test_long_stretches_without_turns_are_functions() -> None:
    order = RNG.permutation(400)
    pieces = [f"g{n}($a0$ + ${n}$);" for n in order]
    text, _, _ = written(pieces, {}, [])
    assert text.count("NAME(char *w, const double * a0)") == 400 // 48
    assert all(text.count(f"g{n}(") == 1 for n in order)


def test_large_integers_have_a_table_of_their_own_type() -> None:
    pieces = [f"f3(w + ${n << 30}$);" for n in range(12)]
    text, _, _ = written(pieces, {}, [])
    assert "static const long T0[]" in text
