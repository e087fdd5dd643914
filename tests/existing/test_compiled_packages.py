"""Code that Numba and numexpr compile, run in Python on tracked values.

Where the packages are missing, classes of the same names and attributes stand for theirs.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([0.5, 1.5])


def check(function: Callable[[Any], Any]) -> None:
    steps = 1e-6 * np.eye(2)
    expected = [float(function(X + e) - function(X - e)) / 2e-6 for e in steps]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-5)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)], expected, rtol=1e-5)


GENERALIZED = """
    class GUFunc:
        def __init__(self, function, signature):
            self.__wrapped__, self.signature = function, signature
            self.__name__ = function.__name__
            self.ufunc = np.vectorize(self._call, signature=signature)

        def _call(self, *parts):
            if not all(type(part) in (float, np.float64, np.ndarray) for part in parts):
                raise TypeError("cannot be compiled")
            out = np.zeros(parts[0].shape if self.signature.endswith("(n)") else 1)
            self.__wrapped__(*parts, out)
            return out if self.signature.endswith("(n)") else out[0]

        def __call__(self, *args, out=None):
            given, place = args[: self.signature.count("(") - 1], args[-1]
            found = self.ufunc(*given)
            if len(args) > len(given):
                place[...] = found
            return found

    def _sums(x, out):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] ** 2
            out[i] = total

    def _weighted(x, y, out):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * y
        out[0] = total

    sums, weighted = GUFunc(_sums, "(n)->(n)"), GUFunc(_weighted, "(n),()->()")

    def rows(x):
        return (sums(np.stack([x, 2 * x])) ** 2).sum() + weighted(np.stack([x, x]), x).sum()

    def given(x):
        out = np.zeros(2)
        sums(x, out)
        return out[0] * out[1] + weighted(x, x[1])
"""


def test_functions_of_parts(tmp_path: Path) -> None:
    package = written(tmp_path, GENERALIZED)
    check(package.rows)
    check(package.given)


ALONG_AXES = (
    GENERALIZED
    + """
    def _dot(a, b, out):
        out[0] = 0.0
        for i in range(a.shape[0]):
            out[0] += a[i] * b[i]

    def _turned(a, out):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[j, i] = a[i, j] ** 2

    dot, turned = GUFunc(_dot, "(n),(n)->()"), GUFunc(_turned, "(n,m)->(m,n)")
    W = np.arange(6.0).reshape(3, 2)

    def rows(x):
        return np.stack([x, x**2, x * 3.0])

    def one(x):
        return dot(rows(x), W, axis=0)

    def one_of_each(x):
        return dot(rows(x), W.T, axes=[0, 1, ()])

    def kept(x):
        return dot(rows(x), W, axis=0, keepdims=True) * x

    def kept_at(x):
        return dot(rows(x), W, axes=[(0,), (0,), (1,)], keepdims=True)

    def two(x):
        return turned(rows(x)[..., None] * x, axes=[(2, 0), (0, 1)])

    def into(x):
        out = np.zeros((2, 3, 2))
        return turned(rows(x)[..., None] * x, out=out, axes=[(0, 1), (2, 1)]) * out

    def signed(x):
        return dot(rows(x), W, axis=0, signature="ff->f")

    def same(x):
        return dot(rows(x), W, axis=0, signature="dd->d", dtype=np.float64)
"""
)


def test_axes_of_functions_of_parts(tmp_path: Path) -> None:
    package = written(tmp_path, ALONG_AXES)
    rows, weights = package.rows, package.W

    def cubes(x: Any) -> Any:
        return (rows(x)[..., None] * x) ** 2

    expected: dict[str, Callable[[Any], Any]] = {
        "one": lambda x: np.sum(rows(x) * weights, axis=0),
        "same": lambda x: np.sum(rows(x) * weights, axis=0),
        "one_of_each": lambda x: np.sum(rows(x) * weights, axis=0),
        "kept": lambda x: np.sum(rows(x) * weights, axis=0, keepdims=True) * x,
        "kept_at": lambda x: np.sum(rows(x) * weights, axis=0)[:, None],
        "two": lambda x: np.transpose(cubes(x), (0, 2, 1)),
        "into": lambda x: np.transpose(cubes(x), (2, 0, 1)) ** 2,
    }
    for name, reference in expected.items():
        value, pull = gw.vjp(gw.adapting(getattr(package, name)), X)
        wanted, pull_wanted = gw.vjp(reference, X)
        np.testing.assert_allclose(value, wanted, err_msg=name)
        cotangent = np.cos(np.arange(value.size)).reshape(value.shape)
        np.testing.assert_allclose(pull(cotangent), pull_wanted(cotangent), err_msg=name)
    with pytest.raises(gw.errors.NoRuleError, match=r"_dot.*signature=\. Fix: leave it out"):
        gw.jacobian(gw.adapting(package.signed))(X)


@pytest.mark.parametrize("types", ["[nb.float64(nb.float64)]", ""])
def test_a_branch_of_a_ufunc_may_give_another_dtype(types: str, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    package = written(
        tmp_path,
        f"""
        import numba as nb

        @nb.vectorize({types})
        def bump(t):
            value = 0
            if t > 0.5:
                value = t * t
            return value

        def run(x):
            return bump(np.concatenate([np.zeros(1), x]))
        """,
    )
    check_modes(package.run, X + 0.2)


def test_functions_and_classes_of_numba(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    package = written(
        tmp_path,
        """
        import numba as nb

        @nb.guvectorize([(nb.float64[:], nb.float64, nb.float64[:])], "(n),()->()")
        def weighted(x, y, out):
            out[0] = 0.0
            for i in range(x.shape[0]):
                out[0] += x[i] * y

        @nb.guvectorize([(nb.float64, nb.float64[:], nb.int64[:])], "()->(),()")
        def parted(x, rest, whole):
            whole[0] = int(x)
            rest[0] = x - whole[0]

        @nb.vectorize([nb.float64(nb.float64, nb.float64)])
        def product(a, b):
            return a * math.exp(b)

        @nb.experimental.jitclass([("k", nb.float64), ("v", nb.float64[:]), ("n", nb.int64)])
        class Store:
            def __init__(self, k):
                self.k, self.v, self.n = k, np.zeros(2), 2.0

            @property
            def twice(self):
                return self.k * self.n

            def put(self, i, x):
                self.v[i] = x * self.k
                return self.v.sum()

        @nb.njit
        def used(store, y):
            return store.k * y

        def made(x):
            @nb.njit(fastmath=True)
            def inner(a):
                return np.float32(2.0) * a[0] + product(a[1], 1.0)

            return inner(x) + product(x, x, np.zeros(2), where=x > 1.0).sum()

        def f(x):
            store = Store(x[0])
            parts = store.put(0, x[1]) * store.twice + used(store, x[1])
            rest, whole = parted(x)
            parts = parts + (rest * (whole + 1)).sum()
            return weighted(x, x[0]) * product(x, 2.0).sum() + parts * isinstance(store, Store)
        """,
    )
    check(package.f)
    check(package.made)


def test_types_and_containers_of_numba(tmp_path: Path) -> None:
    """Types convert numbers, types are asked for, and compiled code makes typed containers."""
    pytest.importorskip("numba")
    package = written(
        tmp_path,
        """
        import numba as nb
        from numba import float64, typeof
        from numba.core import types
        from numba.typed import Dict, List

        KNOWN = Dict.empty(types.int64, types.float64)
        KNOWN[0] = 3.0

        @nb.njit
        def converted(a, b):
            return float64(a) * b + nb.complex128(a).real

        @nb.njit
        def both(values, by_place):
            return values[0] * by_place[1]

        @nb.njit
        def contained(x, known):
            values = List.empty_list(types.float64)
            by_place = Dict.empty(types.int64, types.float64)
            plain = List([1.0, 2.5])
            for i in range(2):
                values.append(x[i] * plain[i])
                by_place[i] = x[i] * known[0]
            return both(values, by_place) + both(plain, by_place)

        def f(x):
            assert typeof(x) == types.float64[::1] and typeof(x[0]) is float64
            assert isinstance(List([1.0]), List)
            return converted(x[0], x[1]) + nb.float64(x[0]) ** 2 + contained(x, KNOWN)
        """,
    )
    check(package.f)


COMPILED_LATER = """
    import functools

    import numba as nb

    FACTOR = 3.0

    class Moving:
        def __init__(self, function):
            self.function = function

        @functools.cache
        def made(self):
            types = [(nb.float64[:], nb.int64, nb.float64[:])]
            return nb.guvectorize(types, "(n),()->(n)", target="parallel")(self.function)

        def __call__(self, x, window):
            return self.made()(x, window)

    @Moving
    def move_sum(x, window, out):
        for i in range(len(x)):
            total = first(x) * 0.0
            for k in range(max(0, i - window + 1), i + 1):
                total += math.exp(x[k])
            out[i] = total

    @nb.njit
    def first(x):
        for k in range(x.shape[0]):
            if not np.isnan(x[k]):
                return x[k]
        return 0.0

    @nb.guvectorize([(nb.float64[:], nb.int64[:], nb.float64[:])], "(a),(a),(b)")
    def by_group(x, labels, out):
        for i in range(len(x)):
            out[labels[i]] += x[i] ** 2

    @nb.njit
    def empty(size, dtype):
        return np.zeros(size, dtype), np.zeros(size, np.int64)

    @nb.njit
    def filled(x):
        sums, counts = empty(2, x.dtype)
        for i in range(len(x)):
            sums[i % 2] += x[i] * FACTOR
            counts[i % 2] += 1
        return sums / counts

    def moved(x):
        plain = np.sum(move_sum(np.array([1.0, np.nan, 2.0]), 1)[::2]) + first(np.ones(2))
        return move_sum(x * x, 2) * plain * 1e-2

    def grouped(x):
        out = np.zeros(2)
        by_group(x, np.arange(len(x)) % 2, out)
        return out

    def broadcast(x):
        out = np.zeros(2)
        by_group(np.stack([x, x]), np.arange(len(x)) % 2, out)
        return out
"""


@pytest.mark.parametrize("name", ["moved", "grouped", "filled"])
def test_functions_of_numba_that_are_compiled_while_a_package_is_adapted(
    tmp_path: Path, name: str
) -> None:
    pytest.importorskip("numba")
    function = getattr(written(tmp_path, COMPILED_LATER), name)
    for _ in range(2):  # compiled in the first call; the ufunc is in a cache in the second
        slopes = gw.jacobian(gw.adapting(function))(X)
        steps = 1e-6 * np.eye(len(X))
        differences = [(function(X + e) - function(X - e)) / 2e-6 for e in steps]
        np.testing.assert_allclose(slopes, np.transpose(differences), rtol=1e-6, atol=1e-7)


KEPT = """
    import functools

    import numba as nb
    from numba.extending import overload, register_jitable

    @functools.lru_cache
    def kernel(power):
        @nb.njit
        def compiled(x):
            return np.sum(x**power)

        return compiled

    class Table:
        def __init__(self, *functions):
            self._kernels = {"named": dict(enumerate(functions))}

        def __getitem__(self, place):
            return self._kernels["named"][place]

    TABLE = Table(nb.njit(lambda x: np.sum(np.sin(x))), kernel(2))

    def cached(x):
        return kernel(3)(x) * kernel(2)(2.0 * x)

    def in_a_table(x):
        return TABLE[0](x) + TABLE[1](x) * kernel(2)(np.ones(2))

    def spread(values, power=2):
        raise NotImplementedError

    @overload(spread)
    def choose_spread(values, power=2):
        if isinstance(values, nb.types.Array):
            return lambda values, power=2: np.mean((values - np.mean(values)) ** power)
        return lambda values, power=2: values**power

    def both(x):
        return x.sum()

    @overload(both)
    def choose_both(x):
        return lambda x: x.sum() * 2.0

    @register_jitable
    def doubled(x):
        return 2.0 * x

    @nb.njit
    def compiled(x):
        return spread(x) + spread(x[0], power=3) + both(doubled(x)) ** 2

    def overloaded(x):
        return compiled(x) + both(x) ** 3
"""


@pytest.mark.parametrize("name", ["cached", "in_a_table", "overloaded"])
def test_functions_of_numba_that_are_kept_or_that_stand_for_others(
    tmp_path: Path, name: str
) -> None:
    pytest.importorskip("numba")
    check(getattr(written(tmp_path, KEPT), name))


def test_an_array_that_a_function_of_numba_writes_to_is_not_a_copy(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    package = written(tmp_path, COMPILED_LATER)
    with pytest.raises(gw.errors.InPlaceError, match=r"broadcast_to.*read-only"):
        gw.jacobian(gw.adapting(package.broadcast))(X)


def expressions() -> ModuleType:
    """Make a module of numexpr's name, which evaluates expressions of plain arrays."""
    made = ModuleType("numexpr")

    def evaluate(ex: str, local_dict: Any = None, _: Any = None, out: Any = None) -> Any:
        names = dict(local_dict or {})
        values = {name: np.array(value, dtype=float) for name, value in names.items()}
        found = eval(ex, {**vars(np), "mod": np.fmod}, values)  # noqa: S307  of this file's texts
        if out is not None:
            out[...] = found
        return found

    def again(local_dict: Any = None) -> Any:
        return evaluate("a * 2", local_dict)

    def compiled(ex: str) -> Any:
        raise NotImplementedError(ex)

    vars(made).update(evaluate=evaluate, re_evaluate=again, NumExpr=compiled)
    return made


def test_expressions_of_numexpr(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        ne: Any = importlib.import_module("numexpr")
    except ImportError:
        ne = expressions()
        monkeypatch.setitem(sys.modules, "numexpr", ne)

    def f(x: Any) -> Any:
        a = x * 2.0
        out = np.zeros(2)
        ne.evaluate("where(a > 2.0, a * c, sin(a))", {"a": a, "c": x}, out=out)
        return ne.evaluate("sum(out * x + exp(a))") + ne.evaluate("prod(x)")

    def plain(x: Any) -> Any:
        out = np.where(x * 2.0 > 2.0, x * 2.0 * x, np.sin(x * 2.0))
        return np.sum(out * x + np.exp(x * 2.0)) + np.prod(x)

    assert np.allclose(gw.grad(gw.adapting(f))(X), gw.grad(plain)(X))


WITH_HELPERS = """
    class Dispatcher:
        def __init__(self, function, compiled):
            self.py_func, self.compiled = function, compiled

        def __call__(self, *args):
            if not all(type(one) in (int, float, np.ndarray) for one in args):
                raise TypeError("cannot be compiled")
            return self.compiled(*args)

    def _blocks(size, count):
        return size // count

    def _filled(x, out, count):
        for i in range(blocks(x.shape[0] * count, count)):
            out[i] = x[i] ** 3

    blocks = Dispatcher(_blocks, lambda size, count: float(size // count))  # one type for all
    filled = Dispatcher(_filled, lambda x, out, count: np.power(x, 3, out=out))

    def cubes(x):
        out = np.empty(2)
        filled(x, out, 3)
        return out[0] + 2.0 * out[1]
"""


def test_helper_of_integers_runs_as_python_too(tmp_path: Path) -> None:
    check(written(tmp_path, WITH_HELPERS).cubes)
