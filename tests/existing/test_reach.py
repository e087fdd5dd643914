"""Everything that a given function reaches is adapted; constants stay as NumPy's are."""

from __future__ import annotations

import functools
import importlib
import math
import sys
from collections import UserList, deque
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.adaptation.compiled_calls import joined
from gradwrap.adaptation.places import changes
from gradwrap.errors import (
    AdaptationError,
    GradwrapError,
    InPlaceError,
    TrackedTextWarning,
    TrackedValueError,
)
from lambdas import fn
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

compat: Any = importlib.import_module("array_api_compat.numpy")
strict: Any = importlib.import_module("array_api_strict")
X = np.array([0.5, 1.5])
TABLE = np.arange(6.0).reshape(2, 3)


def differences(function: Callable[[Any], Any]) -> Any:
    steps = 1e-6 * np.eye(2)
    return np.array([(function(X + e) - function(X - e)) / 2e-6 for e in steps])


def check(function: Callable[[Any], Any]) -> None:
    """Compare both modes with differences, twice: the second call does not search again."""
    adapted = gw.adapting(function)
    for _ in range(2):
        assert np.allclose(gw.grad(adapted)(X), differences(function), rtol=1e-5)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)]
    assert np.allclose(forward, differences(function), rtol=1e-5)


def closed_over() -> Any:
    table, limit, convert = TABLE.copy(), float, (np.asarray,)

    def inner(p: Any) -> Any:
        b = table.copy()
        b[:, 1] = p
        return np.sum(b**2) + limit(p[0]) + convert[0](p)[1]

    return inner


def nested(x: Any) -> Any:
    def inner(y: Any) -> Any:
        out = TABLE.copy()
        out[0, :2] = y
        return np.sum(out**2)

    sine = fn(lambda y: math.sin(y[0]))
    return inner(x) + sine(x)


def scaled(scale: float, x: Any) -> Any:
    return math.sin(x[0]) * scale


class Slotted:
    __slots__ = ("functions", "limit")

    def __init__(self) -> None:
        self.limit = float
        self.functions = {"sin": math.sin}

    def run(self, x: Any) -> Any:
        return self.limit(x[0]) * self.functions["sin"](x[1])


class Held:
    scale = staticmethod(math.exp)

    def __init__(self) -> None:
        self.limit = float
        self.functions = (np.asarray, math.sin)

    def run(self, x: Any) -> Any:
        convert, sin = self.functions
        return self.limit(x[0]) * convert(x)[1] + sin(x[0]) + self.scale(x[1])


HELD = Held()
TABLE_OF_LAMBDAS: dict[str, Callable[[Any], Any]] = {
    "square": lambda x: np.sum(np.asarray(x) ** 2),
    "exp": lambda x: math.exp(x[0]),
}


def from_a_table(x: Any) -> Any:
    return TABLE_OF_LAMBDAS["square"](x) + TABLE_OF_LAMBDAS["exp"](x)


def imported_inside(x: Any) -> Any:
    from math import cos

    return cos(x[0]) * x[1]


@pytest.mark.parametrize(
    "function",
    [
        closed_over(),
        nested,
        Slotted().run,
        Held().run,
        fn(lambda x: HELD.run(x)),
        functools.partial(closed_over()),
        functools.partial(scaled, 2.0),
        from_a_table,
        imported_inside,
    ],
    ids=[
        *("closure", "nested", "slots", "bound method", "instance", "partial", "partial lambda"),
        *("lambdas in a table", "import"),
    ],
)
def test_what_the_function_reaches(function: Callable[[Any], Any]) -> None:
    check(function)
    assert HELD.functions[1] is math.sin
    assert HELD.limit is float


def test_a_function_of_scipy_in_the_function_itself() -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    check(lambda x: stats.norm.logpdf(x).sum())


def test_the_function_may_be_a_builtin() -> None:
    assert gw.grad(gw.adapting(math.sin))(0.3) == pytest.approx(math.cos(0.3))


def test_instances_that_were_made_at_import(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Channel(str):
            def __new__(cls, name):
                made = super().__new__(cls, name)
                made.limit = float
                return made
        class Space:
            channels = (Channel("a"), Channel("b"))
        SPACES = {"one": Space()}
        def run(x):
            return sum(c.limit(v) ** 2 for c, v in zip(SPACES["one"].channels, x))
        def wrapped(f):
            def call(*args): return f(*args)
            return call
        sin = wrapped(math.sin)
        """,
    )
    check(package.run)
    check(lambda x: package.sin(x[0]) * x[1])
    assert package.Space.channels[0].limit is float


CONSTANTS: dict[str, Callable[[Any], Any]] = {
    "view": lambda x: np.array([1.5, 2.5]).view(np.int64)[0] * 0 + np.sum(x),
    "key": lambda x: {1.5: 3.0}[np.array([0.5, 1.5])[1]] * x[0] + np.sum(np.array([x[1]])),
    "isinstance": lambda x: x[0] * isinstance(np.zeros(2)[0], float) + x[1],
    "format": lambda x: x[0] * float(f"{np.ones(2)[0]:.1f}") + x[1] ** 2,
    "zeros of objects": lambda x: np.sum(x) * len(np.zeros_like(x, dtype=object)),
    "strings": lambda x: np.where(np.array(["a", "b"]) == "a", x, 2.0 * x).sum(),
}


def labelled(x: Any) -> Any:
    values = np.asarray(x) * 2.0
    labels = np.full_like(values, "a", dtype=object)
    labels[values < 2.5] = "b"
    return np.sum(values[labels == "b"] ** 2)


@pytest.mark.parametrize("function", [*CONSTANTS.values(), labelled], ids=[*CONSTANTS, "labels"])
def test_constants_are_as_numpys(function: Callable[[Any], Any]) -> None:
    check(function)


def test_an_object_that_converts_itself_to_a_number(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Warm:
            def __init__(self, value): self.value = float(value)
            def __float__(self): return float(self.value) + 1.0
        def run(x):
            return float(Warm(Warm(x[0]))) ** 2 * x[1]
        """,
    )
    check(package.run)


def test_a_list_of_tracked_values_beside_an_array() -> None:
    def entropy(x: Any) -> Any:
        values = list(x)
        return np.sum(values * np.log2(values))

    check(entropy)


@pytest.mark.parametrize("count", [2, np.int64(2), np.uint8(2)])
def test_an_integer_repeats_a_list_of_tracked_values(count: Any) -> None:
    def repeated(x: Any) -> Any:
        rows = np.stack([x, x**2] * count + count * [x])
        return np.sum(rows**3 * np.arange(6.0)[:, np.newaxis])

    check(repeated)


COUNTS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: np.sum(x > 0),
    "argmax": lambda x: np.argmax(x) + 1,
    "divmod": lambda x: divmod(np.sum(x > 0), 2)[0] + 1,
}


@pytest.mark.parametrize("counting", COUNTS)
def test_an_integer_of_tracked_values_repeats_a_list(counting: str) -> None:
    count = COUNTS[counting]

    def repeated(x: Any) -> Any:
        rows = np.stack([x, x**2] * count(x) + count(x) * [x])
        return np.sum(rows**3 * np.arange(1.0 + rows.shape[0])[1:, np.newaxis])

    check(repeated)
    program = gw.compile(gw.grad(gw.adapting(repeated)))
    for x in (X, 1.0 - X, X - 1.0):
        np.testing.assert_allclose(program(x), gw.grad(gw.adapting(repeated))(x), rtol=1e-12)


def test_an_array_of_an_integer_multiplies_a_list_of_tracked_values() -> None:
    check(lambda x: np.sum((np.array(2) * [x[0], x[1] ** 2]) ** 3))


VECTORIZED: dict[str, Callable[[Any], Any]] = {
    "None": lambda x: np.vectorize(fn(lambda a, b, lo: a * b))(np.array([0.3, 0.4]), x, None),
    "keyword": lambda x: np.vectorize(fn(lambda a, scale: a * scale))(x, scale=x[0]),
    "function": lambda x: np.vectorize(fn(lambda f, a: f(a)))(np.sin, x),
    "excluded": lambda x: np.vectorize(fn(lambda a, p: p[0] * a), excluded={1})(x, x),
    "signature": lambda x: np.vectorize(np.dot, signature="(n),(n)->()")(np.ones((3, 2)) * x, x),
    "plain arguments": lambda x: np.vectorize(fn(lambda a: a * x[0] + x[1]), otypes=[float])(
        np.ones(3)
    ),
    "tuples": lambda x: np.array(
        np.vectorize(fn(lambda a, b: (a * b[0], a**2)), excluded=[1], otypes=[np.ndarray])(
            x[0], x
        ).tolist()
    ),
    "arrays of tuples": lambda x: np.vectorize(fn(lambda a: (a, a**2)), otypes=[object])(x)[1][1],
    "two results": lambda x: np.vectorize(
        fn(lambda a: (np.sum(a), a * a[0])), signature="(n)->(),(n)"
    )(np.ones((3, 2)) * x)[1],
}


@pytest.mark.parametrize("name", VECTORIZED)
def test_options_of_vectorize(name: str) -> None:
    check(lambda x: np.sum(VECTORIZED[name](x) ** 2))


def test_nditer() -> None:
    def run(x: Any) -> Any:
        out = np.zeros(2)
        values: Any = np.nditer(x)
        for i, value in enumerate(values):
            out[i] = value * value
        return out.sum()

    check(run)
    check(lambda x: next(np.nditer([x, x]))[0])  # of two arrays: refused before


def caught(x: Any) -> Any:
    try:
        return math.sqrt(float(x[0]))
    except ValueError:
        return math.inf


def test_a_refusal_that_the_code_catches_is_raised() -> None:
    with pytest.raises(TrackedValueError, match="The code has caught this error"):
        gw.grad(caught)(X)
    check(caught)


def test_a_refusal_may_be_caught_if_the_result_is_tracked() -> None:
    def retried(x: Any) -> Any:
        try:
            return math.sqrt(float(x[0]))
        except ValueError:
            return np.sqrt(x[0])

    assert np.allclose(gw.grad(retried)(X), differences(retried), rtol=1e-5)


def test_methods_of_builtin_numbers() -> None:
    functions = {name: getattr(float, name) for name in ("__mul__", "__rsub__", "__neg__")}

    def run(x: Any) -> Any:
        product = functions["__mul__"](x[0], x[1])
        return functions["__rsub__"](product, 2.0) + functions["__neg__"](x[1])

    check(run)


def test_arange_between_tracked_numbers() -> None:
    check(lambda x: np.sum(np.arange(x[0], x[1] + 2.0, 0.4) ** 2))


def test_an_object_that_makes_an_array_of_itself(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Cell:
            def __init__(self, array): self.array = array
            def __array__(self, dtype=None, copy=None): return self.array
        def run(x):
            cell = Cell(np.zeros((2, 2)))
            cell.array[0] = x
            squares = np.multiply(cell, 2.0) * np.exp(cell)
            return np.sum(np.asarray(cell) ** 2) + np.sum(x.__array__()) + np.sum(squares[0])
        """,
    )
    check(package.run)


def test_namespaces_of_array_api_compat(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        from array_api_compat import array_namespace, numpy as default
        def run(x):
            xp = array_namespace(x, np.ones(2))
            y = xp.asarray(default.asarray(x)[0])
            y[y < 0] = 0.0
            return xp.sum(xp.sqrt(y)) + xp.sum(xp.concat([x, x]))
        """,
    )
    check(package.run)


def test_arrays_of_one_library_have_one_namespace(tmp_path: Path) -> None:
    """A plain array and a tracked one may be compared by `is`, and with the module itself."""
    package = written(
        tmp_path,
        """
        import array_api_compat
        import numpy as np
        from array_api_compat import is_numpy_array, is_numpy_namespace
        TABLE = np.array([1.0, 2.0])
        def one_of(arrays, ask):
            namespaces = [ask(array) for array in arrays]
            if any(xp is not namespaces[0] for xp in namespaces):
                raise ValueError("arrays must share one array namespace")
            return namespaces[0]
        def run(x):
            arrays = (x, TABLE, x * TABLE, x[0])
            xp = one_of(arrays, lambda array: array.__array_namespace__())
            assert xp is np
            compat = one_of(arrays, array_api_compat.array_namespace)
            assert compat is array_api_compat.numpy and is_numpy_namespace(compat)
            assert is_numpy_array(x) and not array_api_compat.is_torch_array(x)
            y = xp.zeros(2)
            y[0] = x[1]
            return compat.sum(compat.concat([x, TABLE]) ** 2) + xp.sum(xp.exp(y))
        """,
    )
    check(package.run)


def in_one_namespace(x: Any) -> Any:
    xp = x.__array_namespace__()
    assert xp is strict.asarray([2.0, 3.0]).__array_namespace__()
    return xp.sum(x * x * xp.asarray([2.0, 3.0]))


def test_arrays_of_another_library_have_one_namespace() -> None:
    slope = gw.grad(gw.adapting(in_one_namespace))(strict.asarray(X))
    assert np.allclose(np.from_dlpack(slope), np.array([4.0, 6.0]) * X)


def test_functions_of_array_api_compat_that_convert_arrays_themselves(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import numpy as np
        import array_api_compat.numpy as xp
        def run(x):
            a = xp.stack([x, xp.asarray([0.3, 2.0])])
            spectrum = xp.linalg.eigvals(a)
            solution = xp.linalg.solve(a, xp.asarray([1.0, 2.0]))
            return (
                xp.linalg.trace(a @ a) + xp.sum(xp.abs(spectrum) ** 3)
                + xp.sum(solution) + xp.sum(xp.clip(x, 0.1, 1.2) ** 2)
            )
        """,
    )
    check(package.run)


def of_strict(x: Any) -> Any:
    weights = strict.asarray([2.0, 3.0])
    return strict.sum(weights * strict.sin(x)) + strict.linalg.vecdot(x, x)


def test_a_library_of_the_standard_that_code_names_itself() -> None:
    """The functions of `array_api_strict` refuse all arrays but its own."""
    x = strict.asarray(X)
    for _ in range(2):
        slope = gw.grad(gw.adapting(of_strict))(x)
        assert type(slope) is type(x)
        assert np.allclose(np.from_dlpack(slope), np.array([2.0, 3.0]) * np.cos(X) + 2 * X)
    assert isinstance(gw.adapting(of_strict)(x), type(x))


@pytest.mark.parametrize(
    ("function", "x", "library"),
    [
        (of_strict, strict.asarray(X), "array_api_strict"),
        (fn(lambda x: compat.linalg.trace(compat.linalg.outer(x, x))), X, "array_api_compat"),
        (fn(lambda x: compat.sum(compat.clip(x, 0.1, 1.2))), X, "array_api_compat"),
    ],
)
def test_where_code_names_a_library_of_the_standard_the_remedy_is_its_namespace(
    function: Any, x: Any, library: str
) -> None:
    message = (
        rf"(?s)in (of_strict|<lambda>) \(test_reach.py.* Fix: the functions of {library} take "
        r"plain arrays alone: take the namespace from the array, xp = x.__array_namespace__\(\) or "
        r".*gradwrap.adapting\(f\)"
    )
    with pytest.raises(GradwrapError, match=message):
        gw.grad(function)(x)


def test_arguments_of_ufuncs_that_are_no_lists_are_not_joined() -> None:
    gw.grad(checked_join)(X)


def checked_join(x: Any) -> Any:
    assert joined(x) is x
    assert np.array_equal(joined([x[0], x[1]]).detach(), X)
    return np.sum(x)


def test_the_first_cause_is_named_where_text_is_evaluated(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x): return eval(f"2 * {x[0]!r}", {"np": np})
        """,
    )
    with (
        pytest.warns(TrackedTextWarning),
        pytest.raises(
            TrackedValueError, match=r"'0.5' reads back text .* in run \(package_\d+.py, line 7\)"
        ),
    ):
        gw.grad(gw.adapting(package.run))(X)


def test_a_call_that_fails_does_not_slow_down_the_next(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import sys
        seen = []
        TABLE = np.ones(3)
        def run(x, wrong=False):
            seen.append(sys.getprofile())
            if wrong:
                out = TABLE * 2.0
                out[0] = x[0]
                raise KeyError("wrong")
            return np.sum(np.asarray(x) ** 2)
        """,
    )
    adapted = gw.adapting(package.run)
    gw.grad(adapted)(X)
    with pytest.raises(TrackedValueError):
        gw.grad(adapted)(X, wrong=True)
    code, count = package.run.__code__, len(package.seen)
    assert np.allclose(gw.grad(adapted)(X), 2 * X)
    assert len(package.seen) == count + 1
    assert package.seen[-1] is sys.getprofile()
    assert package.run.__code__ is code


def test_sets_keep_one_of_equal_numbers_tracked(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x):
            breaks = [0.0, x[1], x[0], x[1]]
            points = sorted(set(breaks))
            others = {x[0], x[0]} | {v for v in breaks}
            assert x[1] in others and 7.0 not in others and x[0] not in [9.0]
            return sum((b - a) ** 2 for a, b in zip(points, points[1:])) + sum(others) ** 3
        """,
    )
    check(package.run)


@pytest.mark.parametrize(
    "elements",
    [
        "x",
        "x[:]",
        "x.tolist()",
        "x.ravel()",
        "list(x)",
        "sorted(x)",
        "np.sort(x)",
        "1.0 * x",
        "-(-x)",
    ],
)
def test_sets_are_made_of_containers_and_arrays(tmp_path: Path, elements: str) -> None:
    package = written(
        tmp_path,
        f"""
        def run(x):
            distinct = set({elements})
            if len(x) != len(distinct):
                raise ValueError("points must differ")
            return sum(v**3 for v in sorted(distinct))
        """,
    )
    check(package.run)
    with pytest.raises(ValueError, match="points must differ"):
        gw.grad(gw.adapting(package.run))(np.ones(2))


@pytest.mark.parametrize(
    "body",
    [
        "return sum(set(map(cached, [x[0], 0.5 * x[1]])))",
        "return sum(set(made(x)))",
    ],
)
def test_cached_functions_of_iterators_are_called_for_tracked_numbers(
    tmp_path: Path, body: str
) -> None:
    package = written(
        tmp_path,
        f"""
        @functools.cache
        def cached(x): return x ** 2
        def made(x): return map(cached, [x[0], 0.5 * x[1]])
        def run(x): {body}
        """,
    )
    check(package.run)
    assert package.cached.cache_info().currsize == 6  # those of the differences
    check(package.run)


def test_conversions_of_numbers_are_compiled(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x):
            out = np.zeros(2)
            for i, step in enumerate(np.atleast_1d([0.5, 2.0])):
                out[i] = float(step) * x[i] * (2.0 if isinstance(float(step), float) else 5.0)
            whole = math.floor(x[1]) + math.ceil(x[0]) + math.trunc(x[1])
            return math.fsum(v * v for v in out) * whole + math.prod(list(x)) + float(out.sum())
        """,
    )
    check(package.run)
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for x in (X, 1.1 * X, 2.0 * X):  # no CompileWarning: it runs as a program
        assert np.allclose(compiled(x), gw.grad(gw.adapting(package.run))(x), rtol=1e-12)


def test_a_number_may_be_looked_for_in_a_dictionary_in_vain(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        KNOWN = {0.0: 0.0, 90.0: 1.0}
        def run(x):
            found = KNOWN.get(x[0] % 360.0)
            try:
                return KNOWN[x[1]]
            except KeyError:
                return (math.sin(x[0]) if found is None else found) * x[1] ** 2
        """,
    )
    check(package.run)
    for known in ([90.0, 1.5], [0.5, 90.0]):
        with pytest.raises(TrackedValueError, match="Use as a key"):
            gw.grad(gw.adapting(package.run))(np.array(known))


def test_arrays_may_be_made_read_only(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x, **flags):
            out = np.array([x[0], x[0] * x[1]])
            out.setflags(**flags or {"write": False})
            return np.sum(out ** 2)
        """,
    )
    check(package.run)
    check(lambda x: package.run(x, write=True))
    with pytest.raises(InPlaceError, match="setflags"):
        gw.grad(gw.adapting(package.run))(X, align=True)


def test_views_that_are_read_only_stay_so_when_code_allows_writes(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x, store):
            out = np.broadcast_to(x, (3, 2))
            out.setflags(write=True)
            if store:
                out[0] = 2.0
            return np.sum(out ** 2)
        """,
    )
    check(lambda x: package.run(x, store=False))
    with pytest.raises(InPlaceError, match="broadcast_to"):
        gw.grad(gw.adapting(package.run))(X, store=True)


def test_generators_of_numpy_are_instances_of_its_classes_in_adapted_code(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def known(seed):
            if isinstance(seed, np.random.RandomState):
                return seed
            raise ValueError(seed)

        def run(x, rng):
            assert known(np.random.mtrand._rand) is np.random.mtrand._rand
            assert isinstance(rng, np.random.Generator)
            assert not isinstance(rng, np.random.RandomState)
            drawn = known(np.random.RandomState(3)).normal(x[0], x[1])
            return np.sum(np.array([x[0], x[1]]) ** 2) + drawn
        """,
    )
    check(lambda x: package.run(x, np.random.default_rng(2)))


def test_modules_of_masked_arrays_that_name_each_other(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        from numpy.ma import extras, mrecords
        def run(x):
            out = mrecords.np.zeros(2)
            out[0] = x[0]
            return extras.average(extras.ma.array(x, mask=[False, True])) * (out[0] + x[1])
        """,
    )
    check(package.run)


def test_truths_and_places_are_guards_of_the_program(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x):
            free = np.ones(3, dtype=bool)
            nearest = np.argsort(np.asarray(x) % 1.3)
            free[nearest[:1]] = False
            weights = np.where([v > 1.0 for v in x], 3.0, 5.0)
            total = np.cumsum(x * free[:2], dtype=np.float64)
            return np.sum(weights * np.add.reduce([total, x ** 2]))
        """,
    )
    check(package.run)
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for x in (X, 1.1 * X, np.array([2.5, 0.7]), X):  # no CompileWarning: it runs as a program
        assert np.allclose(compiled(x), gw.grad(gw.adapting(package.run))(x), rtol=1e-12)


def test_values_that_are_the_same_in_each_call_are_plain_in_a_program(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import scipy.sparse
        import scipy.optimize
        def run(x):
            states = np.array([1.0, 0.0, 1.0])
            assert set(np.unique(states)) <= {0, 1}
            grid = np.linspace(0.0, 1.0, 3) * float(states[0] + 1.0)
            matrix = scipy.sparse.csr_matrix((np.ones(2), ([0, 1], [1, 0])), shape=(2, 2))
            assert scipy.sparse.issparse(matrix) and matrix.max() == 1.0 and (matrix < 0).nnz == 0
            costs = np.abs(np.subtract.outer(x, np.array([1.4, 0.6])))
            rows, columns = scipy.optimize.linear_sum_assignment(costs)
            return np.sum(matrix.toarray() @ x * grid[1:]) + np.sum(costs[rows, columns] ** 2)
        """,
    )
    check(package.run)
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for x in (X, 1.1 * X, np.array([2.5, 0.7])):  # no CompileWarning: it runs as a program
        assert np.allclose(compiled(x), gw.grad(gw.adapting(package.run))(x), rtol=1e-12)


def test_checks_of_numpy_compare_plain_values(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        from numpy.testing import assert_allclose
        def run(x):
            grid = np.linspace(0.0, 1.0, 2)
            np.testing.assert_equal(grid, np.array([0.0, 1.0]), err_msg="grids")
            return np.sum(grid * x.clip(1.0) ** 2) + x[0] * x[1]
        def checked(x):
            assert_allclose([x[0], x[1]], x, rtol=1e-12)
            return run(x)
        def failing(x):
            np.testing.assert_equal(x, 2.0 * x)
        """,
    )
    check(package.run)
    check(package.checked)
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    assert np.allclose(compiled(X), gw.grad(package.run)(X))  # no CompileWarning
    with pytest.raises(AssertionError, match="not equal"):
        gw.grad(gw.adapting(package.failing))(X)


def numbers(x: Any) -> Any:
    y = np.asarray(x[0])  # an array without axes, of its own memory
    y += x[1]
    y *= y
    z = np.array([y, float(x[1]), math.atan2(x[0], 2.0), math.hypot(x[0], x[1], 0.3)])
    z[1] *= x[0]
    return np.sum(np.asanyarray(z) ** 2) + math.log(x[0], 3.0) + np.asarray(x)[1]


def test_numbers_are_converted_without_a_copy_in_the_graph() -> None:
    check(numbers)
    exact = gw.hessian(gw.adapting(numbers))(X)
    steps = 1e-6 * np.eye(2)
    slope = gw.grad(gw.adapting(numbers))
    assert np.allclose(exact, [(slope(X + e) - slope(X - e)) / 2e-6 for e in steps], rtol=1e-5)
    assert np.allclose(gw.vmap(gw.grad(gw.adapting(numbers)))(np.stack([X, X + 1]))[0], slope(X))
    with pytest.raises(ValueError, match=r"math domain error|expected a positive input"):
        gw.grad(gw.adapting(numbers))(np.array([-0.5, 1.5]))


def test_factors_that_were_made_at_import_take_tracked_right_hand_sides(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import scipy.sparse
        from scipy.sparse.linalg import factorized, splu
        A = scipy.sparse.csc_matrix(np.array([[4.0, 1.0], [0.5, 3.0]]))
        class Model:
            def __init__(self):
                self.factors = splu(A)
                self.solve = factorized(A)
            def run(self, x):
                found = self.factors.solve(np.array([x[0], x[1] ** 2]), trans="T")
                return np.sum(found) * x[0] + np.sum(self.solve(x) ** 2) + SOLVE(x)[0]
        MODEL, SOLVE = Model(), splu(A).solve
        def run(x): return MODEL.run(x) + np.sum(splu(A).solve(x) ** 2)
        """,
    )
    check(package.run)
    assert type(package.MODEL.factors).__name__ == "SuperLU"
    assert package.SOLVE.__name__ == "solve"


def test_numbers_that_are_rounded(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def shown(x): return round(float(np.sum(x ** 3)), 4)
        def whole(x): return round(float(np.sum(x ** 3)), 0)
        def parts(x): return [round(x[0] ** 3, 2), round(x[1] ** 2, -1), round(x[1])]
        def arrays(x): return np.round(x ** 3, 10).sum() + np.sum((x ** 2).round(decimals=9))
        def some(x):
            level = round(x[0], 1)
            return {"rounded": np.around(x[0] ** 2, 3), "exact": x[1] ** 2 + level}
        """,
    )
    with pytest.raises(AdaptationError, match=r"in shown \(package_.* line 7\).*rounding="):
        gw.grad(gw.adapting(package.shown))(X)
    through = gw.adapting(package.shown, rounding="through")
    assert through(X) == gw.value_and_grad(through)(X)[0] == package.shown(X)
    assert np.allclose(gw.grad(through)(X), 3 * X**2)
    assert np.allclose(gw.hessian(through)(X), np.diag(6 * X))
    assert np.allclose(gw.jvp(through, (X,), (np.ones(2),))[1], np.sum(3 * X**2))
    with pytest.raises(AdaptationError, match=r"in whole \(package_.* line 8\).*rounding="):
        gw.grad(gw.adapting(package.whole))(X)
    whole = gw.adapting(package.whole, rounding="through")
    assert whole(X) == gw.value_and_grad(whole)(X)[0] == package.whole(X)
    assert np.allclose(gw.grad(whole)(X), 3 * X**2)
    sums = fn(lambda x: np.sum(np.array(package.parts(x)[:2])))
    both = gw.adapting(sums, rounding="through")
    assert np.allclose(gw.grad(both)(X), [3 * X[0] ** 2, 2 * X[1]])
    arrays = gw.adapting(package.arrays, rounding="through")
    assert np.allclose(gw.grad(arrays)(X), 3 * X**2 + 2 * X)
    assert np.allclose(gw.grad(gw.adapting(package.arrays))(X), 3 * X**2 + 2 * X)
    with pytest.raises(AdaptationError, match=r"in arrays \(package_.* line 10\).*through"):
        gw.grad(gw.adapting(package.arrays, rounding="zero"))(X)
    with pytest.raises(AdaptationError, match=r"an output of some.* in some \(package_.*\"zero\""):
        gw.jacobian(gw.adapting(package.some))(X)
    some = gw.jacobian(gw.adapting(package.some, rounding="zero"))(X)
    assert np.allclose([*some["rounded"], *some["exact"]], [0.0, 0.0, 0.0, 2 * X[1]])
    some = gw.jacobian(gw.adapting(package.some, rounding="through"))(X)
    assert np.allclose([*some["rounded"], *some["exact"]], [2 * X[0], 0.0, 1.0, 2 * X[1]])
    with pytest.raises(ValueError, match="rounding='up' is not known"):
        gw.adapting(package.shown, rounding="up")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]  # refused


def test_operators_of_tuples_and_objects_that_convert_themselves(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import math
        from typing import NamedTuple

        class Vector(NamedTuple):
            x: float
            y: float

            def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
            def __mul__(self, factor): return Vector(self.x * factor, self.y * factor)
            def __rmul__(self, factor): return self * factor

        class Cell:
            def __init__(self, values): self.values = np.array(values)
            def __array__(self, dtype=None, copy=None): return self.values

        def run(x):
            moved = Vector(1.0, 2.0) + math.exp(x[0]) * Vector(x[1], 3.0)
            matrix = np.zeros((2, 2))
            matrix[:] = Cell(np.diag(x))
            matrix[0] += Cell([1.0, x[0]]).values
            inverse = np.linalg.inv(Cell([[x[0], 1.0], [0.0, 2.0]]))
            return moved.x * moved.y + np.sum(matrix**2 * Cell(matrix)) + np.sum(Cell(x) * inverse)
        """,
    )
    check(package.run)


def test_a_hash_that_is_dropped_is_a_check(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Number:
            def __init__(self, value):
                try:
                    hash(value)
                    hash((value, 1))
                except TypeError:
                    raise TypeError("value is unhashable")
                self.value = value

        def run(x): return Number(x[0] * x[1]).value * x[0]
        def compared(x): return x[0] * (hash(x[0] * 1) == hash(0.5))
        def passed(x):
            abs(hash(x[0] * 1))
            return x[0]
        """,
    )
    check(package.run)
    for function in (package.compared, package.passed):
        with pytest.raises(TrackedValueError, match="Use as a key"):
            gw.grad(gw.adapting(function))(X)


def test_a_report_in_json_is_text(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import json
        REPORTS = []

        def plain(value):
            return value.tolist() if value.ndim else value.item()

        def run(x):
            REPORTS.append(json.dumps({"all": x * 2, "one": [x[0] * x[1]]}, default=plain))
            return np.sum(x**3)

        def only_read(x): return json.loads(json.dumps(x[1] * 1, default=plain))
        def altered(x): return json.loads(json.dumps(x[1] * 1, default=plain) + " ")
        """,
    )
    with pytest.warns(TrackedTextWarning, match="read back"):
        check(package.run)
    assert package.REPORTS[0] == '{"all": [1.0, 3.0], "one": [0.75]}'
    with pytest.warns(TrackedTextWarning, match="read back"):
        found = gw.grad(gw.adapting(package.only_read))(X)
    assert np.allclose(found, [0.0, 1.0])
    message = r"'1\.5' reads back text"
    with pytest.raises(TrackedValueError, match=message), pytest.warns(TrackedTextWarning):
        gw.grad(gw.adapting(package.altered))(X)


IMPORTED_LATER = """
import importlib
import numpy as np
from {tables} import sines
TABLE = np.array(sines(2))
assert importlib.import_module("{tables}").sines(1) == [0.0]

def weighted(x):
    out = np.zeros(2)
    out[:] = TABLE * x
    return out
"""


@pytest.mark.parametrize("imported", [__import__, importlib.import_module])
def test_what_runs_while_a_module_is_imported_is_not_adapted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imported: Callable[[str], Any]
) -> None:
    tables = written(tmp_path, "def sines(n):\n    return [math.sin(k) for k in range(n)]")
    name = f"later_than_{tables.__name__}"
    (tmp_path / f"{name}.py").write_text(IMPORTED_LATER.format(tables=tables.__name__))
    monkeypatch.syspath_prepend(tmp_path)
    seen: list[list[str]] = []

    def function(x: Any) -> Any:
        out = np.sum(imported(name).weighted(x) ** 2)
        seen.append(gw.adapted_modules())
        return out

    gradient = gw.grad(gw.adapting(function))(X)
    assert np.allclose(gradient, [0.0, 2 * np.sin(1.0) ** 2 * 1.5], rtol=1e-14)
    assert name in seen[-1]
    assert tables.__name__ not in seen[-1]


def test_the_class_attribute_names_the_class_of_the_array(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x):
            library = {"numpy": np}[x.__class__.__module__]
            is_number = x[1].__class__ is np.float64 and x.__class__ is not np.float64
            return library.sum(x.__class__ is np.ndarray and is_number and x ** 2)
        """,
    )
    check(package.run)


def test_modules_that_are_imported_when_they_are_first_used(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import sys
        import types

        class Lazy(types.ModuleType):
            def __getattribute__(self, name):
                path = object.__getattribute__(self, "__name__")
                __import__(path)
                return getattr(sys.modules[path], name)

        fftpack, numpy, nothing = Lazy("scipy.fftpack"), Lazy("numpy"), Lazy("no.such.module")

        def run(x):
            return np.sum(fftpack.fft(x, 4).real[:2]) * numpy.array([x[0], 1.0])[0]
        """,
    )
    check(package.run)


def test_methods_of_the_class_of_arrays_take_tracked_ones(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        from numpy import ndarray

        def run(x):
            flat = np.ndarray.flatten(np.stack([x, x ** 2]))
            assert np.ndarray.flatten(np.zeros((2, 2))).shape == (4,)
            return ndarray.sum(flat * ndarray.dot(x, [1.0, 2.0]), axis=0)
        """,
    )
    check(package.run)


def test_such_methods_keep_elements_in_the_graph(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def run(x):
            first = np.ndarray.item(np.reshape(x[0], (1, 1)) * 2.0)
            rest = np.ndarray.tolist(x ** 3)
            return first * rest[1] + np.ndarray.item(x, 0)
        """,
    )
    check(package.run)
    plain = gw.wrap(X, requires_grad=True)
    assert type(plain[0].item()) is float  # outside of adapted code it leaves the graph


def test_stores_in_a_function_that_an_object_in_c_wraps(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Wrapper:
            __slots__ = ("__wrapped__", "scale")

            def __init__(self, function, scale):
                self.__wrapped__, self.scale = function, scale

            def __get__(self, instance, kind):
                return lambda *args: self.scale * self.__wrapped__(instance, *args)

        def scaled(scale):
            return lambda function: Wrapper(function, scale)

        class Model:
            @scaled(2.0)
            def filled(self, x):
                found = np.repeat(np.nan, 2)
                found[np.array([True, True])] = x ** 2
                return found

        def run(x):
            return np.sum(Model().filled(x) * np.array([1.0, 3.0]))
        """,
    )
    check(package.run)


def test_whether_a_number_is_whole(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def power(x, n):
            return x ** 2 if n.is_integer() and float(n).is_integer() else x ** 3

        def run(x):
            assert not (x[0] / 3.0).is_integer()
            return power(x[0], x[0] + 0.25) + power(x[1], np.floor(x[1]))
        """,
    )
    check(package.run)
    with pytest.raises(AttributeError, match="one of numbers"):
        gw.grad(lambda x: x.is_integer())(X)


def test_functions_that_share_a_line_keep_their_own_code(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import numpy as np

        BASE = np.array([1.0, 2.0])
        first, second = (lambda x: 2.0 * (BASE.copy() @ x)), (lambda x: 3.0 * (BASE.copy() @ x))

        def run(x):
            return first(x) + 10.0 * second(x)
        """,
    )
    assert package.run(X) == 32.0 * 3.5
    check(package.run)


def test_class_of_another_object_in_a_method(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Model:
            def __init__(self, scale):
                self.scale = scale

            def scaled(self, other):
                is_array = other.__class__ is np.ndarray
                return self.__class__(self.scale * other if is_array else other).scale

        def f(x):
            return np.sum(Model(3.0).scaled(x) ** 2)
        """,
    )
    x = np.array([1.0, 2.0])

    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(x), 18 * x)


def test_type_of_a_dtype_converts_tracked_numbers(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def number(x):
            x = np.squeeze(np.atleast_1d(x))
            return x if x.size != 1 else x.dtype.type(x)

        def f(x):
            assert type(number(2.0)) is np.float64 and number(np.array([3])).dtype.kind == "i"
            return number(x[:1]) * np.sum(number(x)) + np.dtype("complex128").type(x[1]).real
        """,
    )
    x = np.array([1.0, 2.0])

    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(x), [2 * x[0] + x[1], x[0] + 1])


def test_errors_that_are_causes_of_each_other(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def f(x):
            first, second = ValueError("first"), TypeError("second")
            first.__context__, second.__cause__ = second, first
            raise second
        """,
    )
    with pytest.raises(TypeError, match="second"):
        gw.grad(gw.adapting(package.f))(X)


ATTACHED = """
import functools

import numpy as np


def for_each(function):
    @functools.wraps(function)
    def wrapper(values, *args):
        return wrapper.of_arrays(values, *args) if np.ndim(values) else function(values, *args)

    wrapper.of_arrays = np.vectorize(function)
    return wrapper


@for_each
def softened(value, scale):
    return np.log1p(np.exp(value)) * scale if value > 0.1 else value * scale


def total(x):
    return np.sum(softened(x, 2.0)) + softened(x[0], 3.0)
"""


def test_attributes_of_functions_are_adapted(tmp_path: Path) -> None:
    check(written(tmp_path, ATTACHED).total)


def test_modules_that_name_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of numba do: each has functions with stand-ins."""
    one, other = ModuleType("gradwrap_one"), ModuleType("gradwrap_other")
    one.other, other.one = other, one  # type: ignore[attr-defined]  # as imports set them
    known: Any = importlib.import_module("gradwrap.adaptation.stand_ins")
    one.f, other.f = (lambda: 1), (lambda: 2)  # type: ignore[attr-defined]  # likewise

    def functions(module: Any) -> Any:
        return [(module.f, lambda: 3)]

    for module in (one, other):
        monkeypatch.setitem(known._FUNCTIONS, module.__name__, functions)
    found: Any = known.stand_in_of(one)
    assert (found.f(), found.other.f(), found.other.one.f()) == (3, 3, 3)


def test_an_error_of_plain_values_in_adapted_code_alone_is_explained() -> None:
    """The class of a matrix in adapted code is another one than in the dictionary."""
    sparse: Any = importlib.import_module("scipy.sparse")
    weights = {sparse.csr_array: 2.0}

    def weighted(x: Any) -> Any:
        matrix = sparse.csr_array(np.diag([1.0, 2.0]))
        return weights[type(matrix)] * matrix.sum() * np.sum(x)

    with pytest.raises(AdaptationError, match=r'KeyError: .*csr_array.*compiled="numerical"'):
        gw.grad(gw.adapting(weighted))(X)
    by_differences = gw.grad(gw.adapting(weighted, compiled="numerical"))(X)
    np.testing.assert_allclose(by_differences, [6.0, 6.0], rtol=1e-9)


def test_a_lazy_module_is_not_asked_for_its_class(tmp_path: Path) -> None:
    """Its name is that of a ufunc's method in the code."""

    class Lazy(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise ModuleNotFoundError(name)

    source = "def squares(x):\n    return (add.reduce(x**2), maximum)[0]\n"
    package = written(tmp_path, f"import numpy as np\nadd = np.add\nmaximum = None\n{source}")
    package.maximum = Lazy("lazy")
    check(package.squares)


def test_a_lazy_module_of_numpy_has_the_name_of_a_package() -> None:
    """As those of `apipkg`: `from package._imports import numpy as np`."""

    class Lazy(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            return getattr(np, name)

    known: Any = importlib.import_module("gradwrap.adaptation.stand_ins")
    assert known.stand_in_of(Lazy("package._imports.numpy")) is known.stand_in_of(np)


def test_the_exponential_of_a_dense_array_is_dense() -> None:
    linalg: Any = importlib.import_module("scipy.sparse.linalg")
    check(lambda x: linalg.expm(np.outer(x, x))[0, 1])


QUEUES = {
    "array": lambda d: np.array(d)[0] ** 2,
    "asarray": lambda d: np.asarray(d).sum() ** 2,
    "mean": lambda d: np.mean(d) * np.std(d) + np.max(d),
    "dot": lambda d: np.dot(d, np.arange(2.0)) + np.percentile(d, 30),
    "nested": lambda d: np.array([d, [1.0, 2.0]]).prod(),
    "of values alone": lambda d: np.sum(np.array(type(d)([1.0, 2.0]))) * d[0],
}


@pytest.mark.parametrize("name", QUEUES)
@pytest.mark.parametrize("kind", [deque, UserList])
def test_queues_of_tracked_values_are_lists_to_numpy(name: str, kind: Any) -> None:
    def pushed(x: Any) -> Any:
        queue = kind()
        for one in x:
            queue.append(one * 2.0)
        return QUEUES[name](queue)

    check(pushed)


def test_a_list_of_tracked_values_is_no_scalar() -> None:
    def asked(x: Any) -> Any:
        return x[0] * (np.isscalar([x[0]]) + 2 * np.isscalar(x[1]) + 4 * np.isscalar({"a": x})) ** 2

    check(asked)


POLYNOMIALS = {
    "products": lambda x: (np.poly1d([1.0, -x[0]]) * np.poly1d([x[1], 2.0]))(0.3),
    "sums": lambda x: (np.poly1d([x[0], 1.0]) + np.poly1d([2.0, x[1], 0.5]) ** 2)(0.4),
    "slopes": lambda x: np.poly1d([x[0], 1.0, x[1]]).deriv()(0.2),
    "integrals": lambda x: np.poly1d([x[0], 1.0, x[1]]).integ()(0.7),
    "roots": lambda x: np.poly1d([1.0, -x[0], -x[1]]).roots.max(),
    "coefficients": lambda x: np.poly1d([1.0, -x[0]], r=False).coeffs[1] * x[1],
    "through roots": lambda x: np.poly1d([x[0], x[1], 2.0], True)(0.1),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_with_tracked_coefficients(name: str) -> None:
    check(POLYNOMIALS[name])


def test_arrays_like_numbers_and_lists() -> None:
    check(lambda x: np.full_like(3.0, x[0]) * x[1] + np.full_like([1.0, 2.0], x[1])[0] ** 2)
    check(lambda x: np.full_like(5, x[0], dtype=float) ** 2 + np.ones_like(2) * x[1])


def test_types_of_numba_are_dtypes_in_compiled_code(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    source = """
        import numba as nb
        import numpy as np

        @nb.njit
        def run(x):
            places, squares = np.empty(2, dtype=nb.uint32), np.zeros(2, nb.float64)
            for i in range(2):
                places[i] = 1 - i
                squares[i] = x[i] ** 2
            return squares[places[0]] * x[0] + np.ones_like(x, dtype=nb.float64)[0] * x[1]

        def outside(x):
            return run(x) + 0.0
    """
    check(written(tmp_path, source).outside)


def test_a_stand_in_that_code_keeps_is_not_searched(tmp_path: Path) -> None:
    """It has a copy of NumPy's code in its closure, for which there would be a stand-in, too."""
    package = written(
        tmp_path,
        """
        KEPT = []
        def run(x):
            if not KEPT:
                KEPT.append(np.polynomial.legendre.legval)
            nodes, weights = np.polynomial.legendre.leggauss(3)
            values = [np.polynomial.legendre.legval(x[0] * t, [1.0, 2.0, x[1]]) for t in nodes]
            return np.sum(weights * np.array(values))
        """,
    )
    np.testing.assert_allclose(
        gw.grad(gw.adapting(package.run))(np.array([0.3, 0.4])), [0.24, -0.91]
    )
    originals = [change[1] for change in changes(vars(package))]
    assert not [one for one in originals if getattr(one, "__name__", "") == "legval"]
