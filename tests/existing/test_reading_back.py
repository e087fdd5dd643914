"""Ways by which a number can leave a program: each keeps its gradient, or is refused."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.array import adapted as adapted_code
from gradwrap.core.array import steered
from gradwrap.errors import (
    AdaptationError,
    GradwrapError,
    SteeredNumberWarning,
    TrackedValueError,
)
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7])
KEPT = {
    "copies": "copy.deepcopy({'a': x, 'b': [x[0]]})['a'][0] * copy.copy(x)[1]",
    "rounded beside": "(x[0] - math.floor(x[0])) * (x[1] % 0.5) * math.fmod(x[0], 0.25)",
    "quotients": "sum(divmod(x[0], 0.25)) * math.modf(x[1])[0]",
    "sorted": "sorted(x, key=lambda v: -v)[0] ** 2 + sorted([x[1], x[0]])[0] * x[1]",
    "a heap": "heapq.nsmallest(1, [(v, 1.0) for v in x])[0][0] ** 2 * x[0]",
    "an index": "[x[0], x[1], x[0] * x[1]][int(x[0])] * x[operator.index(int(x[1]))]",
    "a set": "sum({x[0], x[1]}) * x[1]",
    "statistics": "statistics.variance(x.tolist()) * statistics.harmonic_mean(x.tolist())",
    "a reduction": "functools.reduce(lambda a, b: a * b, x.tolist()) * sum(x.tolist(), 0.0)",
    "accumulated": "list(itertools.accumulate(x.tolist()))[1] ** 2",
    "a complex number": "abs(complex(x[0], x[1])) ** 2 + cmath.polar(complex(x[0], x[1]))[1]",
    "a context": "contextvars.copy_context().run(lambda: x[0] ** 2) * x[1]",
    "a weak reference": "weakref.ref(KEPT.append(x * 1.0) or KEPT[-1])()[0] * x[1]",
    "an identity": "{id(x): x[0] ** 2}[id(x)] * x[1]",
    "a pool of threads": "sum(futures.ThreadPoolExecutor(2).map(math.exp, x)) * x[1]",
    "a generator": "sum(math.sin(v) for v in x.flat) * x[1]",
    "a cached property": "Model(x[0]).square * x[1]",
    "a cached function": "cube(x[0]) * x[1] + cube(x[0] + 0.0)",
    "a queue": "collections.deque([x[0], float(x[1])])[1] ** 2 * x[0]",
    "iterators of NumPy": "sum(v * v for v in np.nditer(x)) * np.fromiter(x.tolist(), float)[0]",
    "a shared number": "[setattr(BOX, 'value', float(x[0])), BOX.value ** 2 * x[1]][1]",
}
"""Expressions whose derivatives are those of differences."""
REFUSED = {
    "bits": "float.fromhex(x[0].hex()) * x[1]",
    "a structure": "struct.unpack('<d', struct.pack('<d', x[0]))[0] * x[1]",
    "an array of C": "np.frombuffer(array.array('d', x.tolist()))[0] * x[1]",
    "an array of C, of single precision": "array.array('f', x.tolist())[0] * x[1]",
    "a number of C": "ctypes.c_double(float(x[0])).value * x[1]",
    "a view of memory": "memoryview(x.data)[0] * x[1]",
    "a buffer": "np.frombuffer(x.data)[0] * x[1]",
    "bytes": "np.frombuffer(x.tobytes())[0] * x[1]",
    "pickled": "pickle.loads(pickle.dumps(x.tolist()))[0] * x[1]",
    "shared": "multiprocessing.Array('d', x.tolist())[0] * x[1]",
    "saved": "[np.save(FILE, x), np.load(FILE)[0] * x[1]][1]",
    "a hash": "hash(float(x[0])) * 1e-18 * x[1]",
    "a time": "datetime.timedelta(seconds=float(x[0])).total_seconds() * x[1]",
    "a random seed": "random.Random(float(x[0])).random() * x[1]",
    "a step in the last place": "math.nextafter(x[0], 9.0) * x[1]",
}
"""Expressions that read numbers by other ways than ours."""
TEXTS = {
    "formatted": "complex(f'{x[0]:.5f}').real * x[1]",
    "by a percent sign": "float('%.17g kg' % x[0].item() if 0 else ('%.17g' % x[0])) * x[1]",
    "of few digits": "float(decimal.Decimal(f'{x[0] / 3:.4f}')) * x[1]",
    "evaluated": "eval(f'2.0 * {x[0]:.17g}') * x[1]",
    "a list": "eval(repr(x.tolist()))[0] * x[1]",
    "a literal": "ast.literal_eval(f'({x[0]}, 2)')[0] * x[1]",
    "joined": "np.array(' '.join(map(str, x)).split(), dtype=float)[0] * x[1]",
    "of an array": "float(np.array2string(x).strip('[]').split()[0]) * x[1]",
    "a representation": "float(np.array_repr(x)[7:-2].split(',')[0]) * x[1]",
    "an array of texts": "x.astype(str).astype(float)[0] * x[1]",
    "a list of texts": "np.array([str(v) for v in x]).astype(float)[0] * x[1]",
    "a table": "[np.savetxt(TABLE, x), TABLE.seek(0), np.loadtxt(TABLE)[0] * x[1]][2]",
    "JSON": "json.loads(json.dumps(x, default=lambda v: v.tolist()) + ' ')[0] * x[1]",
}
"""Expressions that read back what they have written."""
MODULES = (
    *("array", "ast", "collections", "contextvars", "copy", "ctypes", "datetime", "decimal"),
    *("fractions", "heapq", "io", "itertools", "json", "multiprocessing", "operator", "pickle"),
    *("random", "statistics", "struct", "weakref"),
)
SOURCE = f"""
import {", ".join(MODULES)}
from concurrent import futures
class Model:
    def __init__(self, x): self.x = x
    @functools.cached_property
    def square(self): return self.x**2
@functools.lru_cache(None)
def cube(x): return x**3
KEPT, BOX, FILE, TABLE = [], Model(0.0), io.BytesIO(), io.StringIO()
"""


def program(folder: Path, expression: str) -> Any:
    return written(folder, f"{SOURCE}\ndef run(x): return {expression}\n")


@pytest.mark.parametrize("expression", KEPT.values(), ids=KEPT)
def test_derivatives_are_those_of_differences(expression: str, tmp_path: Path) -> None:
    run = program(tmp_path, expression).run
    wanted = [(run(X + e) - run(X - e)) / 2e-5 for e in 1e-5 * np.eye(2)]
    adapted = gw.adapting(run)
    np.testing.assert_allclose(gw.grad(adapted)(X), wanted, rtol=1e-7, atol=1e-8)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)]
    np.testing.assert_allclose(forward, wanted, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
@pytest.mark.parametrize("expression", [*REFUSED.values(), *TEXTS.values()], ids=[*REFUSED, *TEXTS])
def test_other_ways_are_refused(expression: str, tmp_path: Path) -> None:
    package = program(tmp_path, expression)
    for _ in range(2):
        with pytest.raises(GradwrapError, match="Fix: "):
            gw.grad(gw.adapting(package.run))(X)
    with pytest.raises(GradwrapError, match="Fix: "):
        gw.jvp(gw.adapting(package.run), (X,), (np.ones(2),))
    if expression in TEXTS.values():
        for function in (gw.adapting(package.run), package.run):
            text = (
                r"reads back text .* in .*run \(package_\d+\.py, line \d+\).*Fix: keep the number"
            )
            with gw.adapted(package), pytest.raises(TrackedValueError, match=text):
                gw.grad(function)(X)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
def test_other_numbers_may_be_read_from_text(tmp_path: Path) -> None:
    source = """
        def run(x):
            label = f"{x[0]:.3f}"
            return float("1.30 kg".split()[0][:3] + "5") * x[1] + eval("len(label) * 2.25") * x[0]
        """
    run = written(tmp_path, source).run
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(X), [5 * 2.25, 1.35])


def test_text_of_an_array_is_warned_of_where_nothing_is_adapted() -> None:
    for text in (np.array2string, np.array_str, np.array_repr):
        adapted_code.warned_lines.clear()
        with pytest.warns(gw.errors.TrackedTextWarning, match="read back"):
            gw.grad(lambda x, text=text: len(text(x)) * np.sum(x))(X)


CAUGHT = {
    "a number": "float(x[0])",
    "an array": "np.asarray([x[0]], dtype=float)[0]",
    "a structure": "struct.unpack('<d', struct.pack('<d', x[0]))[0]",
}


@pytest.mark.parametrize("conversion", CAUGHT.values(), ids=CAUGHT)
def test_a_refusal_that_code_catches_is_raised_if_a_part_is_lost(
    conversion: str, tmp_path: Path
) -> None:
    source = f"""
        import struct
        def run(x):
            try:
                y = {conversion}
            except Exception:
                y = 1.0
            return y * x[1]
        def same(x):
            try:
                {conversion}
            except Exception:
                pass
            return x[0] * x[1]
        """
    package = written(tmp_path, source)
    text = "caught this error, and its result is another one than for plain values"
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(TrackedValueError, match=rf"run \(package_\d+.py, line \d+\).*{text}"):
            transform(package.run)(X)
        np.testing.assert_allclose(transform(package.same)(X), X[::-1])
    for adapted in (
        gw.grad(gw.adapting(package.run)),
        gw.compile(gw.grad(gw.adapting(package.run))),
    ):
        if "struct" in conversion:
            with pytest.raises(TrackedValueError, match=text):
                adapted(X)
        else:
            np.testing.assert_allclose(adapted(X), X[::-1])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_refusal_in_a_thread_is_raised(tmp_path: Path) -> None:
    source = """
        import threading
        def squares(x, out):
            def work(i): out[i] = float(x[i]) ** 2
            threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
            for one in threads: one.start()
            for one in threads: one.join()
            return out
        def run(x): return squares(x, np.zeros(2))[0]
        def beside(x): return squares(x, np.zeros(2))[0] + x[0] * x[1]
        """
    package = written(tmp_path, source)
    for run in (package.run, package.beside):
        with pytest.raises(TrackedValueError, match=r"in work \(package_\d+.py, line 9\)"):
            gw.grad(run)(X)
    np.testing.assert_allclose(gw.grad(gw.adapting(package.beside))(X), [2 * 1.3 + 0.7, 1.3])


SEARCHES = {
    "a bisection": """
        def root(x):
            lo, hi = 0.0, 3.0
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid * mid < x:
                    lo = mid
                else:
                    hi = mid
            return lo
        """,
    "by a product": """
        def residual(v, x): return v**3 - x
        def root(x):
            lo, hi = 0, 3
            while hi - lo > 1e-6:
                mid = (lo + hi) / 2
                if residual(lo, x) * residual(mid, x) <= 0: hi = mid
                else: lo = mid
            return mid
        """,
    "with three branches": """
        def root(x):
            lo, hi = 0.0, 3.0
            while True:
                mid = (lo + hi) / 2
                rest = math.exp(mid) - 4.0 * x
                if abs(rest) < 1e-9:
                    return mid
                elif rest > 0.0:
                    hi = mid
                else:
                    lo = mid
        """,
    "in an expression": """
        def root(x):
            lo, hi = 0.0, 3.0
            for _ in range(40):
                mid = (lo + hi) / 2
                lo, hi = (mid, hi) if mid * mid < x else (lo, mid)
            return mid
        """,
    "a golden section": """
        def root(x):
            part = (5**0.5 - 1) / 2
            a, b = 0.0, 3.0
            c, d = b - part * (b - a), a + part * (b - a)
            while b - a > 1e-6:
                if (c - x) ** 2 < (d - x) ** 2:
                    b = d
                else:
                    a = c
                c, d = b - part * (b - a), a + part * (b - a)
            return (a + b) / 2
        """,
    "by steps": """
        def root(x):
            found, step = 0.0, 8.0
            for _ in range(40):
                if (found + step) ** 2 < x:
                    found += step
                else:
                    step *= 0.5
            return found
        """,
    "of an object": """
        class Model:
            def __init__(self, x): self.x = x
            def rest(self, v): return v * v - self.x
        def bisected(function, lo, hi):
            for _ in range(50):
                mid = (lo + hi) / 2
                if function(mid) < 0.0:
                    lo = mid
                else:
                    hi = mid
            return lo
        def root(x): return bisected(Model(x).rest, 0.0, 3.0)
        """,
}


@pytest.mark.parametrize("source", SEARCHES.values(), ids=SEARCHES)
def test_a_number_that_comparisons_find_is_not_passed_over(source: str, tmp_path: Path) -> None:
    package = written(tmp_path, source)
    steered.warned_lines.clear()

    def beside(x: Any) -> Any:
        return package.root(x) * x

    place = rf"a number was found in \w+ \({package.__name__}, line \d+\) by comparisons"
    with pytest.warns(SteeredNumberWarning, match=f"{place}.*gradwrap.custom_root"):
        gw.grad(beside)(1.3)
    for transform in (gw.grad, gw.jacfwd, lambda f: gw.compile(gw.grad(f))):  # no further warning
        with pytest.raises(TrackedValueError, match=f"{place}.*depends on nothing tracked"):
            transform(package.root)(1.3)
    slope = (beside(1.3 + 1e-2) - beside(1.3 - 1e-2)) / 2e-2
    adapted = gw.adapting(beside)
    for _ in range(2):
        np.testing.assert_allclose(gw.grad(adapted)(1.3), slope, rtol=1e-3)


HIDDEN = {
    "with a tracked bound": """
        def root(x):
            lo, hi = 0.0, 2.0 * x
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                if mid * mid < x: lo = mid
                else: hi = mid
            return lo
        """,
    "of arrays": """
        def root(x):
            lo, hi, squares = np.zeros(2), np.full(2, 9.0), x * np.array([1.0, 2.0])
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                is_low = mid * mid < squares
                lo, hi = np.where(is_low, mid, lo), np.where(is_low, hi, mid)
            return lo[0]
        """,
    "by masks": """
        def root(x):
            lo, hi, squares = np.zeros(2), np.full(2, 9.0), x * np.array([1.0, 2.0])
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                is_low = mid * mid < squares
                lo[is_low], hi[~is_low] = mid[is_low], mid[~is_low]
            return lo[0]
        """,
    "in attributes": """
        class Search:
            def __init__(self, x): self.x, self.lo, self.hi = x, 0.0, 3.0
            def step(self):
                mid = 0.5 * (self.lo + self.hi)
                if mid * mid < self.x: self.lo = mid
                else: self.hi = mid
        def root(x):
            search = Search(x)
            for _ in range(60): search.step()
            return search.lo
        """,
    "by signs": """
        def root(x):
            found, step = 1.0, 0.5
            for _ in range(60):
                found += step * np.sign(x - found * found)
                step /= 2
            return found
        """,
    "by calls of itself": """
        def search(x, lo, hi, n):
            mid = 0.5 * (lo + hi)
            if not n: return mid
            return search(x, mid, hi, n - 1) if mid * mid < x else search(x, lo, mid, n - 1)
        def root(x): return search(x, 0.0, 3.0, 60)
        """,
}


ENDINGS = {
    "a whole number": "bisected(lambda m: math.floor(m * x) >= 2)",
    "an integer": "bisected(lambda m: int(m * x) > 1)",
    "a rounded number": "bisected(lambda m: np.rint(m * x) >= 2)",
    "a multiple": "bisected(lambda m: (m * x) // 0.5 >= 3)",
    "a count of an array": "bisected(lambda m: np.sum(x * np.ones(3) < m) > 1)",
    "a grid": "refined(lambda g: np.argmin(np.abs(g * g - x)))",
}
SEARCHERS = """
def bisected(is_high):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if is_high(mid): hi = mid
        else: lo = mid
    return hi
def refined(best):
    lo, hi = 0.0, 3.0
    for _ in range(5):
        grid = np.linspace(lo, hi, 101)
        found, width = grid[best(grid)], (hi - lo) / 50
        lo, hi = found - width, found + width
    return found
def run(x): return x * {}
"""


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_search_is_known_by_what_it_ends_in(ending: str, tmp_path: Path) -> None:
    run = written(tmp_path, SEARCHERS.format(ending)).run
    assert abs(run(1.3001) - run(1.3) - 1e-4 * run(1.3) / 1.3) > 1e-6  # not x times a constant
    for transform in (gw.grad, gw.jacfwd, lambda f: gw.compile(gw.grad(f))):
        with pytest.raises(AdaptationError, match=r'compared|found.*Fix: .*compiled="numerical"'):
            transform(gw.adapting(run))(1.3)


@pytest.mark.parametrize(
    "source",
    [HIDDEN["of arrays"], HIDDEN["by signs"], SEARCHERS.format(ENDINGS["a grid"])],
    ids=["of arrays", "by signs", "a grid"],
)
def test_a_search_of_each_example_is_known(source: str, tmp_path: Path) -> None:
    package = written(tmp_path, source)
    points = np.array([1.3, 1.7])

    def run(x: Any) -> Any:
        return package.run(x) if hasattr(package, "run") else package.root(x) * x

    adapted = gw.adapting(run)
    for differentiate in (
        gw.vmap(gw.grad(adapted)),
        gw.grad(lambda x: np.sum(gw.vmap(adapted)(x))),
    ):
        with pytest.raises(AdaptationError, match=r'compared|found.*Fix: .*compiled="numerical"'):
            differentiate(points)
    slopes = gw.vmap(gw.grad(gw.adapting(run, compiled="numerical")), fallback="loop")(points)
    differences = [(run(x + 1e-3) - run(x - 1e-3)) / 2e-3 for x in points]
    np.testing.assert_allclose(slopes, differences, rtol=1e-3)


def test_a_branch_for_one_point_has_no_derivative_of_its_own(tmp_path: Path) -> None:
    source = """
        def run(x): return (1.0 if x[0] == 1.3 else math.expm1(x[0] - 1.3) / (x[0] - 1.3)) * x[1]
        def array(x): return np.sum(np.where(x == 1.3, 2.0, x**2 + 0.31)) * x[1]
        def fine(x): return x[1] if x[0] == 1.3 else x[1] + (x[0] - 1.3) ** 2
        """
    package = written(tmp_path, source)
    place = rf"a tracked value was compared in \w+ \({package.__name__}, line \d+\) with a number"
    for run in (package.run, package.array):
        with pytest.raises(AdaptationError, match=f"{place} that it equals.*numerical"):
            gw.grad(gw.adapting(run))(X)
    np.testing.assert_allclose(gw.grad(gw.adapting(package.fine))(X), [0.0, 1.0], atol=1e-12)
    slope = gw.grad(gw.adapting(package.run, compiled="numerical"))(X)
    np.testing.assert_allclose(slope, [0.35, 1.0], rtol=1e-6)


def test_the_function_of_a_search_may_give_random_numbers(tmp_path: Path) -> None:
    source = """
        random = np.random.default_rng(0)
        def run(x):
            v = 2.0
            for n in range(40):
                rest = (v * v - x) * (1 if n % 2 else -1)
                v = v - abs(rest) / (2 * v) if rest < 0 else v - rest / (2 * v)
            return v + x * random.normal()
        """
    run = gw.adapting(written(tmp_path, source).run)
    with pytest.warns(SteeredNumberWarning):  # there is nothing to compare with
        assert np.isfinite(gw.grad(run)(1.3))


@pytest.mark.parametrize("transform", [gw.grad, gw.jacfwd])
def test_a_number_that_is_corrected_afterwards_is_right(transform: Any, tmp_path: Path) -> None:
    source = f"""{SEARCHES["a bisection"]}
        def run(x):
            y = root(x[0])
            return (y - (y * y - x[0]) / (2 * y)) * x[1]
        """
    run = gw.adapting(written(tmp_path, source).run)
    for _ in range(2):
        wanted = [0.5 * 0.7 / np.sqrt(1.3), np.sqrt(1.3)]
        np.testing.assert_allclose(transform(run)(X), wanted, rtol=1e-12)


FINE = """
def newton(x):
    lo, hi, v = 0.0, 3.0, 1.0
    for _ in range(30):
        rest = v * v - x[0]
        if rest < 0:
            lo = v
        else:
            hi = v
        v = v - rest / (2 * v)
        if v < lo or v > hi:
            v = 0.5 * (lo + hi)
    return v * x[1]

def backtracking(x):
    v = 2.0 * x[0]
    for _ in range(40):
        step = 1.0
        slope = 4 * (v - 1.0) ** 3
        while (v - step * slope - 1.0) ** 4 > (v - 1.0) ** 4 - 0.5 * step * slope * slope:
            step *= 0.5
        v = v - step * slope
    return v * x[1]

def steps(x):
    t, h, y = 0.0, 0.5, x[0]
    while t < 2.0:
        h = min(h, 2.0 - t)
        k = -x[1] * y
        k2 = -x[1] * (y + 0.5 * h * k)
        if abs(h * (k2 - k)) / 10 > 1e-3:
            h *= 0.5
            continue
        t += h
        y = y + h * k2
        h *= 1.3
    return y

def counts(x):
    n, s = 0, 0.0
    for k in range(60):
        if x[0] > k * 0.051:
            n += 1
            s = s + 0.125
    return x[0] * n + s * x[1]

def ranks(x):
    n = [sum(x[i] >= x[j] for j in range(2)) for i in range(2)]
    return n[0] * x[0] + n[1] * x[1] ** 2

def at_a_kink(x):
    rest = x[0] - 1.3
    return x[1] + (rest * x[1] if rest >= 0.0 else -rest * x[1])

def asserted(x):
    p = x / x.sum()
    assert np.isclose(p.sum(), 1.0) and p.sum() <= 1.0 + 1e-12 and np.floor(p.sum() + 0.5) == 1
    return np.sum(p * np.log(p))

def of_others(x):
    lo, hi, other = 0.0, 3.0, np.zeros(1) + 2.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid < other[0]:
            lo = mid
        else:
            hi = mid
    return lo * x[1]
"""


@pytest.mark.parametrize(
    "name", ["newton", "backtracking", "steps", "counts", "ranks", "asserted", "of_others"]
)
def test_other_loops_with_comparisons_give_no_warning(name: str, tmp_path: Path) -> None:
    run = getattr(written(tmp_path, FINE), name)
    wanted = [(run(X + e) - run(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    for function in (run, gw.adapting(run)):
        for _ in range(3):
            np.testing.assert_allclose(gw.grad(function)(X), wanted, rtol=1e-5, atol=1e-7)


def test_a_kink_has_the_slope_of_the_branch_taken(tmp_path: Path) -> None:
    run = written(tmp_path, FINE).at_a_kink
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(X), [0.7, 1.0])


def test_a_search_without_recording_gives_no_warning(tmp_path: Path) -> None:
    root = written(tmp_path, SEARCHES["a bisection"]).root
    steered.warned_lines.clear()

    def polished(x: Any) -> Any:
        with gw.no_grad():
            guess = root(x)
        return guess - (guess * guess - x) / (2 * guess)

    assert np.isclose(gw.grad(polished)(1.3), 0.5 / np.sqrt(1.3))


def test_adapting_by_name_after_adapting_a_function_finds_all_code(tmp_path: Path) -> None:
    package = written(tmp_path, "def run(x, scale=np.ones(2)): return scale.dot(x) * x[0]\n")
    wanted = gw.grad(gw.adapting(package.run))(X)
    with gw.adapted(package):
        np.testing.assert_allclose(gw.grad(package.run)(X), wanted)
    assert importlib.import_module(package.__name__) is sys.modules[package.__name__]
