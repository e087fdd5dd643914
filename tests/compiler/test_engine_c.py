"""The c engine: kernels give what NumPy gives, up to rounding; its libraries; where it is not."""

from __future__ import annotations

import importlib
import os
import shutil
import stat
import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.backends.c_expressions import FORMS
from gradwrap.compiler.engines.c import library as c_library
from gradwrap.compiler.engines.c import sweeps as c_sweeps
from gradwrap.compiler.engines.c.engine import c_engine
from gradwrap.compiler.engines.register import Unsupported
from gradwrap.compiler.ir.evaluate import evaluated
from gradwrap.compiler.ir.program import (
    Block,
    Instr,
    Loop,
    Method,
    Program,
    Ref,
    Result,
    Value,
    getitem,
    scatter_add,
    setitem,
    zeros,
)
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import CompileWarning
from rolled import Turns
from sampling import crossed

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

OTHERS: Any = importlib.import_module("test_compiled_programs")
HAS_COMPILER = any(shutil.which(name) for name in ("cc", "gcc", "clang"))
pytestmark = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler here")
DOUBLE = np.dtype("f8")
FLOAT = np.dtype("f4")
RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADWRAP_CACHE_DIR", str(folder))
        yield folder


def close(wanted: Any, found: Any, ulps: float = 64) -> None:
    """Assert that two trees agree in structure, types and dtypes, and up to rounding."""
    one, tree = flatten(wanted)
    two, other = flatten(found)
    assert tree == other
    for a, b in zip(one, two, strict=True):
        assert type(a) is type(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind not in "fc":
            assert np.array_equal(a, b)
            continue
        assert np.array_equal(np.isnan(a), np.isnan(b))
        is_finite = np.isfinite(a)
        assert np.array_equal(a[~is_finite], b[~is_finite], equal_nan=True)
        scale = np.max(np.abs(a[is_finite]), initial=0)
        assert np.all(np.abs(a - b)[is_finite] <= ulps * np.finfo(a.dtype).eps * scale)


@pytest.mark.parametrize("name", OTHERS.PROGRAMS)
def test_a_program_gives_what_eager_gives(name: str) -> None:
    function, args = OTHERS.PROGRAMS[name]
    compiled: Any = gw.compile(function, engine="c")
    leaves, tree = flatten(args)
    others = unflatten(tree, [OTHERS.moved(leaf) for leaf in leaves])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(*args)
        first = compiled(*args)
        kept = [np.copy(leaf) for leaf in flatten(first)[0]]
        second = compiled(*others)
    close(function(*args), first)
    close(function(*others), second)
    assert all(map(np.array_equal, kept, flatten(first)[0]))


# Random groups ----------------------------------------------------------------------------------

OF_NUMPY = [name for name, kind in FORMS if kind == "f" and hasattr(np, name) and name != "power"]
UNARY, BINARY = ([name for name in OF_NUMPY if getattr(np, name).nin == n] for n in (1, 2))
SHAPES: list[tuple[int, ...]] = [(7,), (1000,), (3, 5), (1, 5), (3, 1), (4, 3, 5), ()]


def random_program(rng: np.random.Generator, size: int) -> tuple[Program, list[Any]]:
    """Make elementwise operations on arrays of several shapes and dtypes, with sums of some."""
    values: list[Value] = []
    arguments: list[Any] = []
    for _ in range(4):
        shape = SHAPES[rng.integers(2, len(SHAPES))] if rng.random() < 0.8 else (5,)
        dtype = np.dtype(rng.choice(["f8", "f4", "i8", "?"], p=[0.5, 0.3, 0.1, 0.1]))
        array = np.asarray(np.round(rng.normal(size=shape) * 2, 1)).astype(dtype)
        arguments.append(array)
        values.append(Value(array.shape, array.dtype, is_ndarray=True))
    body: list[Instr | Loop] = []
    known = dict(enumerate(arguments))
    while len(body) < size:
        if rng.random() < 0.15:
            args: tuple[Any, ...] = (Ref(int(rng.integers(len(values)))),)
            source = known[args[0].index]
            if np.ndim(source) == 0 or source.dtype.kind != "f":
                continue
            axis = (None, 0, -1, tuple(range(source.ndim)))[rng.integers(4)]
            fn: Any = (np.add.reduce, np.maximum.reduce)[rng.integers(2)]
            name = "add.reduce" if fn == np.add.reduce else "maximum.reduce"
            kw: tuple[tuple[str, Any], ...] = (
                ("axis", axis),
                ("keepdims", bool(rng.random() < 0.5)),
            )
        else:
            count = 1 + int(rng.random() < 0.6)
            name = str(rng.choice(UNARY if count == 1 else BINARY))
            fn = getattr(np, name)
            count, kw = fn.nin, ()
            leaves: list[Any] = [Ref(int(rng.integers(len(values)))) for _ in range(count)]
            if count == 2 and rng.random() < 0.3:
                leaves[rng.integers(2)] = float(np.round(rng.normal(), 2))
            args = tuple(leaves)
        real = [known[a.index] if type(a) is Ref else a for a in args]
        try:
            out = fn(*real, **dict(kw))
        except (TypeError, ValueError):
            continue  # no such loop, or shapes that do not fit
        if out.dtype == np.float16 or not np.all(np.isfinite(np.asarray(out, np.float64))):
            continue
        if np.max(np.abs(np.asarray(out, np.float64)), initial=0) > 1e6:
            continue
        known[len(values)] = out
        body.append(Instr(fn, name, args, kw, len(values)))
        values.append(Value(np.shape(out), out.dtype, isinstance(out, np.ndarray)))
    shown = tuple(Ref(step.out) for step in body if isinstance(step, Instr) and rng.random() < 0.4)
    tree = flatten(tuple(shown))[1]
    block = Block(body, result=Result((*shown, Ref(len(values) - 1)), tree))
    return Program(values, (0, 1, 2, 3), ("a", "b", "c", "d"), {}, block), arguments


@pytest.mark.parametrize("seed", range(25))
def test_random_groups_are_computed_as_numpy_does(seed: int) -> None:
    with np.errstate(all="ignore"):
        program, arguments = random_program(np.random.default_rng(seed), 30 + 10 * (seed % 5))
        executable = c_engine(program)
        wanted = evaluated(program, arguments)
        found = executable.call(*arguments)
    for a, b in zip(wanted, found, strict=True):
        assert type(a) is type(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        # functions with steps and cancellation make much of little: these are not a few ulps
        np.testing.assert_allclose(np.float64(a), np.float64(b), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "dtype"), crossed([*UNARY, *BINARY], ["f8", "f4"]))
def test_an_operation_agrees_with_numpy_at_special_values(name: str, dtype: str) -> None:
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 700.0, 1e-30, np.inf, -np.inf, np.nan]
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(special, special))
    fn = getattr(np, name)
    with np.errstate(all="ignore"):
        wanted = fn(*(x, y)[: fn.nin])
        out = Value(wanted.shape, wanted.dtype, is_ndarray=True)
        inner = Value(x.shape, x.dtype, is_ndarray=True)
        body: list[Instr | Loop] = [
            Instr(np.negative, "negative", (Ref(0),), (), 2),
            Instr(np.negative, "negative", (Ref(2),), (), 3),
            Instr(fn, name, (Ref(3), Ref(1))[: fn.nin], (), 4),
        ]
        program = made([inner, inner, inner, inner, out], 2, body, [4])
        executable = c_engine(program)
        found = executable.call(x, y)[0]
    assert "kernel" in executable.source
    if found.dtype == bool:
        assert np.array_equal(found, wanted)
        return
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    is_finite = np.isfinite(wanted)
    assert np.array_equal(found[~is_finite], wanted[~is_finite], equal_nan=True)
    np.testing.assert_allclose(
        found[is_finite],
        wanted[is_finite],
        rtol=16 * float(np.finfo(dtype).eps),
        atol=float(np.finfo(dtype).tiny),
    )


# Loops ------------------------------------------------------------------------------------------


def made(
    values: list[Value], inputs: int, body: Sequence[Instr | Loop], outs: Sequence[int]
) -> Program:
    leaves = tuple(Ref(i) for i in outs)
    block = Block(list(body), result=Result(leaves, flatten(tuple(outs))[1]))
    names = tuple(f"x{i}" for i in range(inputs))
    return Program(values, tuple(range(inputs)), names, {}, block)


def array(*shape: int, dtype: Any = DOUBLE) -> Value:
    return Value(shape, dtype, is_ndarray=True)


NUMBER = Value((), DOUBLE, is_ndarray=False)


def scalar_recurrence() -> tuple[Program, list[Any]]:
    values = [array(50), NUMBER, array(50), array(50), NUMBER, NUMBER]
    turns = Turns(values, 50)
    state, total = turns.carry(Ref(1), NUMBER), turns.carry(0.0, NUMBER)
    sine = turns.add(np.sin, (state,), NUMBER)
    product = turns.add(np.multiply, (sine, turns.read(0)), NUMBER)
    sums = turns.add(np.add, (total, product), NUMBER)
    turns.hand_on(product, sums)
    loop = turns.give({sine: 2, product: 3}, {product: 4, sums: 5})
    return made(values, 2, [loop], [2, 3, 4, 5]), [RNG.normal(size=50), np.float64(0.3)]


def array_recurrence() -> tuple[Program, list[Any]]:
    row = array(6)
    values = [array(20, 6), row, array(20, 6), row, row]
    turns = Turns(values, 20)
    state, total = turns.carry(Ref(1), row), turns.carry(Ref(1), row)
    tangent = turns.add(np.tanh, (state,), row)
    product = turns.add(np.multiply, (tangent, turns.read(0)), row)
    sums = turns.add(np.add, (total, product), row)
    turns.hand_on(product, sums)
    loop = turns.give({product: 2}, {product: 3, sums: 4})
    return made(values, 2, [loop], [2, 3, 4]), [RNG.normal(size=(20, 6)), RNG.normal(size=6)]


def swapped_rows() -> tuple[Program, list[Any]]:
    """Two rows that take each other's last value, and a view of one."""
    row = array(4)
    values = [row] * 6
    turns = Turns(values, 9)
    one, two, total = (turns.carry(Ref(i), row) for i in (0, 1, 0))
    first = turns.add(np.add, (two, 0.5), row)
    second = turns.add(np.multiply, (one, 0.9), row)
    view = turns.add(getitem, (two, slice(None, None, -1)), row)
    sums = turns.add(np.add, (total, view), row)
    turns.hand_on(first, second, sums)
    loop = turns.give({}, {first: 2, second: 3, view: 4, sums: 5})
    return made(values, 2, [loop], [2, 3, 4, 5]), [RNG.normal(size=4), RNG.normal(size=4)]


def stencil() -> tuple[Program, list[Any]]:
    """An array that is written to in each turn; the one before is read in the same turn."""
    u, inner = array(12), array(10)
    values = [u, u, array(15, 12)]
    found: list[tuple[Turns, Ref]] = []
    for _ in range(2):
        turns = Turns(values, 15)
        before = turns.carry(Ref(0), u)
        right = turns.add(getitem, (before, slice(2, None)), inner)
        left = turns.add(getitem, (before, slice(None, -2)), inner)
        sums = turns.add(np.add, (right, left), inner)
        halves = turns.add(np.multiply, (sums, 0.5), inner)
        written = turns.add(setitem, (before, slice(1, -1), halves), u)
        turns.hand_on(written)
        found.append((turns, written))
    (one, last), (two, every) = found
    body: list[Instr | Loop] = [one.give({}, {last: 1}), two.give({every: 2}, {})]
    return made(values, 1, body, [1, 2]), [RNG.normal(size=12)]


def scan_by_elements() -> tuple[Program, list[Any]]:
    """A running sum that is written element by element, at an index that the turn gives."""
    u = array(30)
    index = Value((), np.dtype("i8"), is_ndarray=False)
    values = [u, array(29, dtype=np.dtype("i8")), u]
    turns = Turns(values, 29)
    before, here = turns.carry(Ref(0), u), turns.read(1)
    left = turns.add(np.subtract, (here, 1), index)
    sums = turns.add(
        np.add,
        (turns.add(getitem, (before, left), NUMBER), turns.add(getitem, (before, here), NUMBER)),
        NUMBER,
    )
    written = turns.add(setitem, (before, here, sums), u)
    turns.hand_on(written)
    program = made(values, 2, [turns.give({}, {written: 2})], [2])
    return program, [RNG.normal(size=30), np.arange(1, 30)]


def scattered() -> tuple[Program, list[Any]]:
    u = array(3, 4)
    values = [array(8, 4), u, u, u]
    turns = Turns(values, 8)
    one, two = turns.carry(Ref(1), u), turns.carry(Ref(1), u)
    double = turns.add(np.multiply, (turns.read(0), 2.0), array(4))
    rows = turns.add(scatter_add, (one, (1, slice(None)), double), u)
    columns = turns.add(scatter_add, (two, (slice(None), -1), 1.5), u)
    turns.hand_on(rows, columns)
    body: list[Instr | Loop] = [
        Instr(zeros, "zeros", ((3, 4), DOUBLE), (), 1),
        turns.give({}, {rows: 2, columns: 3}),
    ]
    program = made(values, 1, body, [2, 3, 1])
    return program, [RNG.normal(size=(8, 4))]


def matrices(dtype: Any) -> tuple[Program, list[Any]]:
    """A recurrent network: products of matrices, of their transposes, of vectors."""
    h, w, v = array(5, 35, dtype=dtype), array(35, 35, dtype=dtype), array(35, dtype=dtype)
    number = Value((), dtype, is_ndarray=False)
    values = [h, w, w, v, h, array(3, dtype=dtype), array(3, 35, dtype=dtype)]
    values += [array(3, 5, dtype=dtype), v]
    turns = Turns(values, 3)
    state, vector = turns.carry(Ref(0), h), turns.carry(Ref(3), v)
    products = [turns.add(np.matmul, (state, Ref(side)), h) for side in (1, 2)]
    following = turns.add(np.tanh, (turns.add(np.add, tuple(products), h),), h)
    turned = turns.add(np.matmul, (Ref(1), vector), v)
    turns.hand_on(following, turned)
    total = turns.add(np.matmul, (turned, vector), number)
    columns = turns.add(np.add.reduce, (following,), v, axis=0)
    rows = turns.add(np.add.reduce, (following,), array(5, dtype=dtype), axis=1)
    body: list[Instr | Loop] = [
        Instr(Method("transpose"), "transpose", (Ref(1),), (), 2, views=True),
        turns.give({total: 5, columns: 6, rows: 7}, {following: 4, turned: 8}),
    ]
    program = Program(
        values,
        (0, 1, 3),
        ("h", "w", "v"),
        {},
        Block(body, result=Result(tuple(map(Ref, (4, 5, 6, 7, 8))), flatten((0,) * 5)[1])),
    )
    found = [RNG.normal(size=shape) * 0.2 for shape in ((5, 35), (35, 35), (35,))]
    return program, [a.astype(dtype) for a in found]


LOOPS: dict[str, tuple[Program, list[Any]]] = {
    "scalars": scalar_recurrence(),
    "arrays": array_recurrence(),
    "swapped rows": swapped_rows(),
    "stencil": stencil(),
    "scan": scan_by_elements(),
    "scattered": scattered(),
    "matrices": matrices(DOUBLE),
    "matrices in float32": matrices(FLOAT),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_gives_what_its_turns_give(name: str) -> None:
    program, arguments = LOOPS[name]
    executable = c_engine(program)
    assert "for (long k" in executable.source
    kept = [np.copy(a) for a in arguments]
    first = executable.call(*arguments)
    wanted = evaluated(program, arguments)
    close(wanted, first)
    others = [a if np.asarray(a).dtype.kind == "i" else a * a.dtype.type(1.25) for a in arguments]
    close(evaluated(program, others), executable.call(*others))
    close(wanted, first, ulps=64)  # nothing that a later call has written to
    assert all(map(np.array_equal, kept, arguments))


def test_an_index_that_is_out_of_bounds_raises() -> None:
    program, (x, _) = LOOPS["scan"]
    with pytest.raises(IndexError, match="out of bounds"):
        c_engine(program).call(x, np.arange(2, 31))


# In place, and long runs on numbers -------------------------------------------------------------


def random_writes(  # noqa: C901  one branch for each kind of step
    rng: np.random.Generator, size: int
) -> tuple[Program, list[Any]]:
    """Make reads, writes and operations on numbers and slices; old versions of arrays are read."""
    arguments = [rng.normal(size=6), rng.normal(size=(3, 4))]
    known: list[Any] = list(arguments)
    body: list[Instr | Loop] = []

    def add(fn: Any, name: str, args: tuple[Any, ...], *, views: bool = False) -> None:
        real = [known[a.index] if type(a) is Ref else a for a in args]
        body.append(Instr(fn, name, args, (), len(known), views=views))
        known.append(fn(*real))

    def pick(rank: tuple[int, ...]) -> int:
        found = [i for i, a in enumerate(known) if np.ndim(a) in rank]
        recent = found[-8:] if rng.random() < 0.7 else found
        return int(rng.choice(recent))

    add(zeros, "zeros", ((6,), DOUBLE))
    add(getitem, "getitem", (Ref(0), 1))
    while len(body) < size:
        kind = rng.random()
        if kind < 0.25:
            index = pick((1, 2))
            key: Any = tuple(int(rng.integers(-n, n)) for n in known[index].shape)
            add(getitem, "getitem", (Ref(index), key if len(key) > 1 else key[0]))
        elif kind < 0.5:
            index = pick((1, 2))
            key = tuple(int(rng.integers(-n, n)) for n in known[index].shape)
            value = Ref(pick((0,))) if rng.random() < 0.8 else 0.25
            fn, name = ((setitem, "setitem"), (scatter_add, "scatter_add"))[rng.integers(2)]
            add(fn, name, (Ref(index), key if len(key) > 1 else key[0], value))
        elif kind < 0.56:
            index = pick((1,))
            add(getitem, "getitem", (Ref(index), slice(None, None, -1)), views=True)
        elif kind < 0.62:
            index, other = pick((1,)), pick((1,))
            if known[index].shape == known[other].shape:
                fn, name = ((setitem, "setitem"), (scatter_add, "scatter_add"))[rng.integers(2)]
                add(getitem, "getitem", (Ref(other), slice(1, None)), views=True)
                add(fn, name, (Ref(index), slice(None, -1), Ref(len(known) - 1)))
        elif kind < 0.68:
            add(np.sin, "sin", (Ref(pick((1, 2))),))
        else:
            name = str(rng.choice(["add", "multiply", "sin", "tanh", "subtract"]))
            fn = getattr(np, name)
            add(fn, name, tuple(Ref(pick((0,))) for _ in range(fn.nin)))
            if abs(known[-1]) > 1e3:
                add(np.tanh, "tanh", (Ref(len(known) - 1),))
    values = [Value(np.shape(a), a.dtype, isinstance(a, np.ndarray)) for a in known]
    outs = sorted({len(known) - 1, *(int(i) for i in rng.integers(2, len(known), 12))})
    views = {step.out for step in body if isinstance(step, Instr) and step.views}
    return made(values, 2, body, [i for i in outs if i not in views]), list(arguments)


@pytest.mark.parametrize("seed", range(20))
def test_writes_in_place_leave_what_others_see(seed: int) -> None:
    program, arguments = random_writes(np.random.default_rng(seed), 40 if seed % 4 else 400)
    executable = c_engine(program)
    first = executable.call(*arguments)
    close(evaluated(program, arguments), first)
    others = [a * 0.5 for a in arguments]
    close(evaluated(program, others), executable.call(*others))
    close(evaluated(program, arguments), first)


def tridiagonal(a: Any, b: Any, c: Any, d: Any) -> Any:
    n = len(b)
    b, d = 1.0 * b, 1.0 * d
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = gnp.zeros(n)
    x[n - 1] = d[n - 1] / b[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return np.sum(x * x)


def sweeps(u: Any, f: Any) -> Any:
    u = 1.0 * u
    for _ in range(3):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
    return np.mean(u * u)


def recursive_filter(x: Any, b: Any, a: Any) -> Any:
    y = gnp.zeros(len(x))
    for i in range(2, len(x)):
        y[i] = b[0] * x[i] + b[1] * x[i - 1] - a[0] * y[i - 1] - a[1] * y[-len(x) + i - 2]
    return np.sum(y * y)


def cholesky(a: Any) -> Any:
    a = 1.0 * a
    for j in range(len(a)):
        if j:
            a[j:, j] -= a[j:, :j] @ a[j, :j]
        a[j:, j] /= np.sqrt(a[j, j])
    return np.sum(np.tril(a) ** 3)


def bodies(x: Any, v: Any, mass: Any) -> Any:
    x, v = 1.0 * x, 1.0 * v
    for _ in range(10):
        d = x[None, :, :] - x[:, None, :]
        r2 = np.sum(d * d, axis=2) + 0.1
        v += 0.01 * np.sum(d * (mass / (r2 * np.sqrt(r2)))[:, :, None], axis=1)
        x += 0.01 * v
    return np.sum(x * x)


def waves(u: Any, v: Any) -> Any:
    u, v = 1.0 * u, 1.0 * v
    for _ in range(12):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        v[1:-1, 1:-1] += 0.1 * (around - 4 * u[1:-1, 1:-1])
        u += 0.1 * v
    return np.sum(u**2)


def orbit(s: Any, p: Any) -> Any:
    out = gnp.zeros((30, 3))
    for i in range(30):
        slope = [p[0] * (s[1] - s[0]), s[0] * (p[1] - s[2]) - s[1], s[0] * s[1] - p[2] * s[2]]
        s = s + 0.01 * gnp.stack(slope)
        out[i] = s
    return np.sum(out * out)


IN_PLACE: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "tridiagonal": (
        tridiagonal,
        (
            RNG.uniform(0.1, 0.3, 40),
            RNG.uniform(1, 2, 40),
            RNG.uniform(0.1, 0.3, 40),
            RNG.normal(size=40),
        ),
    ),
    "sweeps": (sweeps, (RNG.normal(size=30), RNG.normal(size=30))),
    "filter": (recursive_filter, (RNG.normal(size=60), np.array([0.3, 0.1]), np.array([0.2, 0.1]))),
    "cholesky": (cholesky, (2 * np.eye(12) + 0.1 * np.ones((12, 12)),)),
    "bodies": (
        bodies,
        (RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3)), RNG.uniform(0.5, 1, 6)),
    ),
    "waves": (waves, (RNG.normal(size=(9, 7)), RNG.normal(size=(9, 7)))),
    "orbit": (orbit, (RNG.normal(size=3), np.array([10.0, 28.0, 8 / 3]))),
}


@pytest.mark.parametrize(("name", "dtype"), crossed([*IN_PLACE], ["f8", "f4"]))
def test_a_program_that_writes_in_place_gives_what_eager_gives(name: str, dtype: str) -> None:
    function, data = IN_PLACE[name]
    args = tuple(a.astype(dtype) for a in data)
    gradient = gw.value_and_grad(function, tuple(range(len(args))))
    compiled: Any = gw.compile(gradient, engine="c")
    others = tuple(a * a.dtype.type(1.01) for a in args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(*args)
        first = compiled(*args)
        second = compiled(*others)
    close(gradient(*others), second, ulps=512)
    close(gradient(*args), first, ulps=512)
    assert "int kernel0" in compiled.source


# Arguments --------------------------------------------------------------------------------------


def f(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * y + x * np.exp(-y * y))


def test_arguments_need_not_be_in_order() -> None:
    x, y = RNG.normal(size=(6, 8)), RNG.normal(size=(6, 8))
    compiled = gw.compile(gw.grad(f, (0, 1)), engine="c")
    wide = np.zeros((6, 16))
    wide[:, ::2] = y
    padded = np.zeros(6 * 8 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(6, 8)
    padded[:] = x
    for a, b in ((x, y), (np.asfortranarray(x), y), (x, wide[:, ::2]), (padded, y[:, ::-1])):
        for _ in range(2):
            close(gw.grad(f, (0, 1))(a, b), compiled(a, b))


def test_threads_share_one_function() -> None:
    compiled = gw.compile(gw.grad(f, (0, 1)), engine="c")
    inputs = [(RNG.normal(size=5000), RNG.normal(size=5000)) for _ in range(8)]
    wanted = [gw.grad(f, (0, 1))(*pair) for pair in inputs]
    compiled(*inputs[0])
    problems: list[BaseException] = []
    start = threading.Barrier(8)

    def run(number: int) -> None:
        try:
            start.wait()
            for _ in range(50):
                close(wanted[number], compiled(*inputs[number]))
        except BaseException as error:  # noqa: BLE001  shown by the main thread
            problems.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_what_c_cannot_do_stays_numpys() -> None:
    def mixed(x: Any) -> Any:
        return np.sum(np.abs(np.fft.fft(np.sin(x) * x)) ** 2) + np.sum(
            np.sort(x)[:3] * x[[0, 1, 1]]
        )

    x = RNG.normal(size=40)
    compiled: Any = gw.compile(gw.grad(mixed), engine="c")
    compiled(x)
    close(gw.grad(mixed)(x), compiled(x))
    assert "fft" in compiled.source
    assert "int kernel0" in compiled.source


# The compiler and its libraries ------------------------------------------------------------------


def fresh(scale: float) -> Any:
    return gw.compile(gw.grad(lambda x: np.sum(np.sin(x * scale) ** 2)), engine="c")


def test_a_library_is_made_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWRAP_CACHE_DIR", str(tmp_path / "made"))
    x = RNG.normal(size=20)
    fresh(1.25)(x)
    libraries = list((tmp_path / "made").iterdir())
    assert [path.suffix for path in libraries] == [".so"]
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700
    before = libraries[0].stat().st_ino
    fresh(1.25)(x)
    assert libraries[0].stat().st_ino == before
    assert list((tmp_path / "made").iterdir()) == libraries
    fresh(1.5)(x)
    assert len(list((tmp_path / "made").iterdir())) == 2


def test_without_a_compiler_the_numpy_engine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    x = RNG.normal(size=20)
    compiled = fresh(2.25)
    with pytest.warns(CompileWarning, match="no C compiler"):
        compiled(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compiled(x)
        compiled(RNG.normal(size=21))
    close(gw.grad(lambda x: np.sum(np.sin(x * 2.25) ** 2))(x), found)
    assert "np" in compiled.source


def test_a_compiler_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    false = tmp_path / "cc"
    false.write_text(
        "#!/bin/sh\nif [ $1 = --version ]; then echo cc 1; else echo broken >&2; exit 1; fi\n"
    )
    false.chmod(0o755)
    monkeypatch.setenv("CC", str(false))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    with pytest.raises(Unsupported, match="broken"):
        c_library.loaded("int nothing(void) { return 0; }", [])


def test_a_compiler_that_has_been_removed_is_looked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    programs = [tmp_path / folder / "cc" for folder in ("one", "other")]
    for program in programs:
        program.parent.mkdir()
        program.write_text("#!/bin/sh\necho cc 1\n")
        program.chmod(0o755)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join(str(one.parent) for one in programs))
    found = []
    for program in programs:
        found += [c_library.compiler().command, c_library.compiler().command]
        program.unlink()
    assert found == [(str(one),) for one in programs for _ in range(2)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", [100, 5_003])
def test_calls_of_functions_stand_apart_on_long_rows(length: int, dtype: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        z = np.exp(-x * x) * y + np.log(y) / x
        return np.sum(np.sqrt(z * z + np.tanh(x))), np.exp(z) * y

    x, y = RNG.uniform(0.5, 2.0, (2, length)).astype(dtype)
    compiled = gw.compile(f, engine="c")
    compiled(x, y)
    for wanted, found in zip(f(y, x), compiled(y, x), strict=True):
        close(wanted, found)
    loops = compiled.source.count("#pragma omp simd")
    assert loops == 1 if length < 256 else loops > 4


# Products of one matrix ---------------------------------------------------------------------------


def _both_sides(a: Any, x: Any, y: Any) -> Any:
    return np.sum(np.tanh(a @ x)) + np.sum((y @ a) ** 2)


def _twice(a: Any, x: Any, y: Any) -> Any:
    return np.sum((a.T @ (a @ x)) * x) + np.sum(a @ (a.T @ y)) + np.sum((a @ x) * (a @ x + y))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("fun", [_both_sides, _twice])
def test_products_of_one_matrix_read_it_once(
    fun: Any, order: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(c_sweeps, "usable", lambda: 1)
    rng = np.random.default_rng(3)
    a = np.asarray(rng.normal(size=(257, 301)) / 16, dtype, order=order)
    x, y = rng.normal(size=301).astype(dtype), rng.normal(size=257).astype(dtype)
    gradient = gw.grad(fun, argnums=(0, 1, 2))
    compiled: Any = gw.compile(gradient, engine="c")
    compiled(a, x, y)
    close(gradient(a, x, y), compiled(a, x, y), 2048)
    told = "products read a matrix once"
    assert (told in compiled.explain()) == (order == "C")
    monkeypatch.setattr(c_sweeps, "usable", lambda: 4)
    by_blas: Any = gw.compile(gradient, engine="c")
    by_blas(a, x, y)
    close(gradient(a, x, y), by_blas(a, x, y), 2048)
    assert told not in by_blas.explain()


def test_an_outer_product_is_computed_where_it_is_read() -> None:
    def twice(a: Any, x: Any) -> Any:
        return np.sum(((a @ x) @ a) ** 2)

    rng = np.random.default_rng(3)
    a, x = rng.normal(size=(200, 150)), rng.normal(size=150)
    gradient = gw.grad(twice)
    compiled: Any = gw.compile(gradient, engine="c")
    compiled(a, x)
    close(gradient(a, x), compiled(a, x), 512)
    source: str = compiled.source.partition("# The kernels")[0]
    assert source.count("kernel") == 1, source  # both outer products, and their sum


# Arrays that change places between turns ----------------------------------------------------------


def _exchanged(a: Any, b: Any, c: Any) -> Any:
    a, b, c = a.copy(), b.copy(), c.copy()
    for _ in range(21):
        a[1:] += 0.3 * b[:-1]
        b[0] = a[1] * 0.5
        a, b = b, a
    return a - 2.0 * b + c


def _rotated(a: Any, b: Any, c: Any) -> Any:
    a, b, c = a.copy(), b.copy(), c.copy()
    for _ in range(22):
        a[1:] -= 0.3 * b[:-1]
        b[2] = c[1] * 0.5
        c[::2] *= 0.9
        a, b, c = b, c, a
    return a - 2.0 * b + 3.0 * c


def _handed_on(a: Any, b: Any, c: Any) -> Any:
    a, b, c = a.copy(), b.copy(), c.copy()
    for _ in range(20):
        c = np.sin(a) + c
        a[1:] -= 0.3 * b[:-1]
        a, b = c * 0.5, a
    return a - 2.0 * b + 3.0 * c


@pytest.mark.parametrize("fun", [_exchanged, _rotated, _handed_on])
def test_arrays_change_places_between_turns(fun: Any) -> None:
    args = RNG.normal(size=(3, 9))

    def loss(a: Any, b: Any, c: Any) -> Any:
        return np.sum(fun(a, b, c) ** 2)

    for function in (fun, gw.grad(loss, argnums=(0, 1, 2))):
        compiled: Any = gw.compile(function, engine="c")
        compiled(*args)
        close(function(*args), compiled(*args))
        close(function(*args[::-1]), compiled(*args[::-1]))
        assert "turns" in compiled.explain()


@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (2, 4, 6), (1, 3), (0, 3)])
def test_triangles_of_any_diagonal(shape: tuple[int, ...]) -> None:
    x = RNG.normal(size=shape)
    for k in (-9, -2, 0, 1, 8):

        def both(x: Any, k: int = k) -> Any:
            return np.tril(2.0 * x, k) + 3.0 * np.triu(x, k), np.triu(x + 1.0, k=k) * 2.0

        compiled: Any = gw.compile(both, engine="c")
        compiled(x)
        close(both(x), compiled(x), 0)
