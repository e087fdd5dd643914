"""What a compiled function finds around itself may change: it gives what eager gives, always.

Each case is a function and steps: a step changes something, or nothing, and gives the arguments of
the next call. The results of all calls are those of the function itself.
"""

from __future__ import annotations

import functools
import importlib
import types
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.tracing.surroundings.find import Surroundings
from gradwrap.core.values.tree import flatten
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.unverified  # the quick way is to see what changes, as users' calls do
grad: Any = gw.grad  # the types of lambdas that it is given are not inferred
X = np.linspace(0.2, 1.5, 6)
W = np.ones(6)
LIMIT = 1.0
TABLE = {"scale": 2.0, "weights": np.ones(6)}
CONSTANTS: Any = types.ModuleType("constants")


def helper(x: Any) -> Any:
    return x * W


def other_helper(x: Any) -> Any:
    return x * W * 5.0


class Layer:
    rate = 1.0

    def __init__(self) -> None:
        self.w = np.ones(6)
        self.scale = 2.0
        self.calls = 0

    def apply(self, x: Any) -> Any:
        return self.scaled(x) * self.w[0] + self.w * self.rate

    def scaled(self, x: Any) -> Any:
        return x * self.scale

    @property
    def total(self) -> Any:
        return self.w.sum() * self.scale

    def counting(self, x: Any) -> Any:
        self.calls += 1
        return x * self.scale


class Slotted:
    __slots__ = ("w",)

    def __init__(self) -> None:
        self.w = np.ones(6)


@dataclass
class Model:
    layers: list[Layer] = field(default_factory=lambda: [Layer(), Layer()])
    options: dict[str, Any] = field(default_factory=lambda: {"bias": np.zeros(6), "power": 2})

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = np.tanh(layer.apply(x)) + self.options["bias"]
        return x ** self.options["power"]


class Pair(NamedTuple):
    a: Any
    b: Any


def nothing() -> None:
    """Change nothing."""


# Each gives a function, and what is done before each of its calls ---------------------------------


def elements() -> Iterator[Any]:
    w = np.ones(6)
    yield lambda x: x * w[2] + w.sum()
    yield nothing
    yield lambda: w.__setitem__(2, 5.0)
    yield lambda: w.__setitem__(slice(None), 7.0)


def branches_on_arrays() -> Iterator[Any]:
    w = np.ones(6)
    yield lambda x: x * 2.0 if w[0] > 0 else x * 3.0
    yield nothing
    yield lambda: w.__setitem__(0, -1.0)
    yield lambda: w.__setitem__(0, 2.0)


def numbers_taken_out() -> Iterator[Any]:
    w = np.ones(6)
    yield lambda x: x * float(w[1]) + w.tolist()[2]
    yield nothing
    yield lambda: w.__setitem__(1, 5.0)
    yield lambda: w.__setitem__(2, 5.0)


def integers() -> Iterator[Any]:
    order = np.array([0, 2, 1])
    yield lambda x: x[order] * x[order[0]] * len(range(order[1]))
    yield nothing
    yield lambda: order.__setitem__(0, 3)
    yield lambda: order.__setitem__(1, 5)


def masks() -> Iterator[Any]:
    mask = np.array([True, False, True, True, False, False])
    yield lambda x: np.sum(x[mask]) * x
    yield nothing
    yield lambda: mask.__setitem__(1, True)


def views() -> Iterator[Any]:
    w = np.arange(12.0).reshape(6, 2)
    column = w[:, 1]
    yield lambda x: x * column + w.T[0] @ x + column[0]
    yield nothing
    yield lambda: w.__setitem__((slice(None), 1), -1.0)


def type_tests() -> Iterator[Any]:
    w: Any = np.ones(6)
    yield lambda x: x * w if isinstance(w, np.ndarray) else x
    yield nothing
    yield lambda: w.__setitem__(0, 2.0)


def containers() -> Iterator[Any]:
    found: list[Any] = [1.0, np.ones(6), Pair(2.0, np.ones(6))]
    parts: dict[str, Any] = {"a": 1.0, "b": {"c": np.ones(6)}}
    kept = {1, 2}

    def f(x: Any) -> Any:
        return x * found[0] + found[1] * parts["b"]["c"] + found[2].b * parts["a"] * sum(kept)

    yield f
    yield nothing
    yield lambda: found.__setitem__(0, 2.0)
    yield lambda: found[1].__setitem__(0, 3.0)
    yield lambda: parts.update(a=4.0)
    yield lambda: parts["b"].update(c=np.full(6, 5.0))
    yield lambda: parts["b"]["c"].__setitem__(1, 6.0)
    yield lambda: found[2].b.__setitem__(1, 6.0)
    yield lambda: kept.add(3)


def lengths() -> Iterator[Any]:
    found = [1.0, 2.0]

    def f(x: Any) -> Any:
        for c in found:
            x = x * c + 1.0
        return x

    yield f
    yield nothing
    yield lambda: found.append(3.0)
    yield lambda: found.pop(0)


def attributes() -> Iterator[Any]:
    layer = Layer()
    yield lambda x: layer.apply(x) + layer.total
    yield nothing
    yield lambda: setattr(layer, "scale", 3.0)
    yield lambda: setattr(layer, "w", np.full(6, 2.0))
    yield lambda: layer.w.__setitem__(0, 9.0)
    yield lambda: setattr(layer, "rate", 4.0)


def bound_methods() -> Iterator[Any]:
    layer = Layer()
    yield layer.apply
    yield nothing
    yield lambda: layer.w.__setitem__(0, 9.0)
    yield lambda: setattr(layer, "scale", 3.0)


def called_objects() -> Iterator[Any]:
    model = Model()
    yield grad(lambda x: np.sum(model(x)))
    yield nothing
    yield lambda: model.layers[1].w.__setitem__(0, 0.5)
    yield lambda: model.layers.pop()
    yield lambda: model.options.update(power=3)
    yield lambda: model.options["bias"].__setitem__(1, 0.5)


def slots() -> Iterator[Any]:
    slotted = Slotted()
    yield lambda x: x * slotted.w[0]
    yield nothing
    yield lambda: setattr(slotted, "w", np.full(6, 2.0))
    yield lambda: slotted.w.__setitem__(0, 5.0)


def words() -> Iterator[Any]:
    layer = Layer()
    yield lambda x: x * getattr(layer, "scale")  # noqa: B009  as code with options has it
    yield nothing
    yield lambda: setattr(layer, "scale", 3.0)


def defaults() -> Iterator[Any]:
    w = np.ones(6)

    def f(x: Any, w: Any = w, *, bias: Any = w) -> Any:
        return x * w[0] + bias

    yield f
    yield nothing
    yield lambda: w.__setitem__(0, 5.0)
    yield lambda: setattr(f, "__defaults__", (np.full(6, 2.0),))


def partials() -> Iterator[Any]:
    w = np.ones(6)
    yield functools.partial(lambda w, x, b: x * w[0] + b, w, b=w)
    yield nothing
    yield lambda: w.__setitem__(0, 5.0)


def recursion() -> Iterator[Any]:
    w = np.array([3.0, 2.0, 1.0])

    def f(x: Any, depth: int = 0) -> Any:
        return x if depth == len(w) else f(np.sin(x) * w[depth], depth + 1)

    yield grad(lambda x: np.sum(f(x)))
    yield nothing
    yield lambda: w.__setitem__(1, -4.0)


def closures_of_closures() -> Iterator[Any]:
    scale = 2.0

    def inner(x: Any) -> Any:
        return x * scale

    def outer(x: Any) -> Any:
        return inner(x) + 1.0

    def change(value: float) -> None:
        nonlocal scale
        scale = value

    yield gw.vmap(outer)
    yield nothing
    yield lambda: change(3.0)
    yield lambda: change(-3.0)


def custom_rules() -> Iterator[Any]:
    w = np.ones(6)

    @gw.custom_vjp
    def double(x: Any) -> Any:
        return x * w[0]

    double.defvjp(lambda x: (x * w[0], None), lambda _, g: (g * w[1],))
    yield grad(lambda x: np.sum(double(x)))
    yield nothing
    yield lambda: w.__setitem__(0, 3.0)
    yield lambda: w.__setitem__(1, 3.0)


def module_globals() -> Iterator[Any]:
    def bind(name: str, value: Any) -> None:
        globals()[name] = value

    CONSTANTS.rate = 2.0
    CONSTANTS.w = np.ones(6)
    bind("W", np.ones(6))
    bind("helper", HELPER)
    yield lambda x: helper(x) * LIMIT * TABLE["scale"] + CONSTANTS.rate * CONSTANTS.w
    yield nothing
    yield lambda: bind("LIMIT", 2.0)
    yield lambda: W.__setitem__(0, 3.0)
    yield lambda: bind("W", np.full(6, 4.0))
    yield lambda: bind("helper", other_helper)
    yield lambda: TABLE.update(scale=9.0)
    yield lambda: setattr(CONSTANTS, "rate", 9.0)
    yield lambda: CONSTANTS.w.__setitem__(0, 9.0)
    yield lambda: bind("LIMIT", 1.0)


HELPER = helper


def generators() -> Iterator[Any]:
    w = np.ones(3)

    def parts(x: Any) -> Iterator[Any]:
        for c in w:
            yield np.sin(x) * c

    yield lambda x: sum(parts(x))
    yield nothing
    yield lambda: w.__setitem__(0, 5.0)


def numpy_scalars() -> Iterator[Any]:
    found: dict[str, Any] = {"c": np.float64(2.0), "k": np.int32(3), "on": np.bool_(True)}
    yield lambda x: x[: found["k"]] * found["c"] if found["on"] else x
    yield nothing
    yield lambda: found.update(c=np.float64(3.0))
    yield lambda: found.update(on=np.bool_(False))


def buffers() -> Iterator[Any]:
    buffer = np.zeros(6)

    def f(x: Any) -> Any:
        buffer[:] = np.arange(6.0)
        buffer[0] += 2.0
        return x * buffer

    yield f
    yield nothing
    yield nothing
    yield lambda: buffer.__setitem__(0, 50.0)


def filled_from_outside() -> Iterator[Any]:
    start = np.ones(6)

    def f(x: Any) -> Any:
        y = gnp.zeros(6)
        y[:] = start
        for i in range(5):
            y[i + 1] = y[i] * 0.5 + x[i] * start[i]
        return np.sum(y)

    yield gw.grad(f)
    yield nothing
    yield lambda: start.__setitem__(2, -4.0)


def exceptions() -> Iterator[Any]:
    table: dict[str, Any] = {}

    def f(x: Any) -> Any:
        try:
            return x * table["w"]
        except KeyError:
            return x

    yield f
    yield nothing
    yield lambda: table.update(w=np.full(6, 2.0))
    yield table.clear


def caches() -> Iterator[Any]:
    made: dict[int, Any] = {}

    def weights(n: int) -> Any:
        if n not in made:
            made[n] = np.arange(float(n))
        return made[n]

    yield lambda x: x * weights(6)
    yield nothing
    yield nothing
    yield lambda: made.__setitem__(6, np.ones(6))


def unseen_caches() -> Iterator[Any]:
    @functools.lru_cache
    def weights(n: int) -> Any:
        return np.arange(float(n))

    yield lambda x: x * weights(6)
    yield nothing
    yield lambda: weights(6).__setitem__(0, 5.0)
    yield weights.cache_clear


def side_effects() -> Iterator[Any]:
    layer = Layer()

    def f(x: Any) -> Any:
        return layer.counting(x) * layer.calls

    yield f
    yield lambda: setattr(layer, "calls", 0)
    yield lambda: setattr(layer, "calls", 0)
    yield lambda: setattr(layer, "calls", 3)


CASES: list[Callable[[], Iterator[Any]]] = [
    elements, branches_on_arrays, numbers_taken_out, integers, masks, views, type_tests, containers,
    lengths, attributes, bound_methods, called_objects, slots, words, defaults, partials, recursion,
    closures_of_closures, custom_rules, module_globals, generators, numpy_scalars, buffers,
    filled_from_outside, exceptions, caches, unseen_caches,
]  # fmt: skip

EAGER = {unseen_caches}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_what_changes_is_seen(case: Callable[[], Iterator[Any]], engine: str) -> None:
    function, *steps = case()
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for number, change in enumerate(steps):
            change()
            wanted = [np.copy(leaf) for leaf in flatten(function(X))[0]]
            for _ in range(3):
                found = flatten(compiled(X))[0]
                for a, b in zip(wanted, found, strict=True):
                    away = 1e-13 * np.max(np.abs(a), initial=0.0)
                    np.testing.assert_allclose(b, a, 1e-13, away, err_msg=f"step {number}")
    assert ("runs eagerly" in compiled.explain()) == (case in EAGER), compiled.explain()


def runs_eagerly(function: Callable[..., Any], match: str, calls: int) -> None:
    """Check that calls go on as eager after some calls, with one warning."""
    compiled: Any = gw.compile(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            compiled(X)
    (warning,) = caught
    assert issubclass(warning.category, CompileWarning)
    assert match in str(warning.message)
    assert "Fix: " in str(warning.message)
    assert match in compiled.explain()


def test_a_function_that_changes_its_surroundings_goes_on_doing_so() -> None:
    layer = Layer()
    runs_eagerly(layer.counting, "changes variables that it reads: calls", 5)
    assert layer.calls == 5
    history: list[Any] = []

    def f(x: Any) -> Any:
        history.append(1.0)
        return x * 2.0

    runs_eagerly(f, "changes variables that it reads: history", 5)
    before = len(history)
    compiled = gw.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(3):
            compiled(X)
    length = len(history)
    compiled(X)
    assert before < length == len(history) - 1


@pytest.mark.parametrize("maxsize", [None, 1, 8])
def test_functions_that_read_cached_ones_stay_compiled(maxsize: int | None) -> None:
    state = {"rate": 2.0}

    @functools.lru_cache(maxsize=maxsize)
    def rate(n: int) -> float:
        return state["rate"] * n

    def f(x: Any) -> Any:
        return x * rate(3)

    compiled = gw.compile(f)

    def agree(times: int = 2) -> None:
        for _ in range(times):
            np.testing.assert_array_equal(compiled(X), f(X))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agree()
        state["rate"] = 5.0
        agree()  # the cache holds the old value
        rate.cache_clear()
        agree()
        state["rate"] = 7.0
        rate(4)
        agree()
        rate.cache_clear()
        assert (rate(4), rate(3)) == (28.0, 21.0)
        state["rate"] = 9.0
        agree()
        rate.cache_clear()
        agree()
    assert "runs eagerly" not in compiled.explain()
    np.testing.assert_array_equal(compiled(X), X * 27.0)


def test_an_array_in_no_variable_is_named() -> None:
    @functools.lru_cache
    def weights(n: int) -> Any:
        return np.ones(n)

    runs_eagerly(lambda x: x * weights(6), "is in no variable that it names", 3)


def test_arrays_that_installed_packages_keep_are_read() -> None:
    integrate: Any = importlib.import_module("scipy.integrate")

    def f(a: Any) -> Any:
        return integrate.fixed_quad(lambda t: np.exp(-t), 0.0, 1.0)[0] * a

    compiled = gw.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(X), f(X))
        np.testing.assert_array_equal(compiled(X + 1.0), f(X + 1.0))


def test_too_many_objects_are_not_watched() -> None:
    layers = [Layer() for _ in range(5000)]
    runs_eagerly(lambda x: layers[7].apply(x), "too many objects", 3)


def test_arrays_are_read_and_listed() -> None:
    w, order, layer = np.ones(6), np.arange(6), Layer()
    compiled = gw.compile(lambda x: (x * w)[order] + layer.w)
    compiled(X)
    notes = compiled.explain()
    for line in ("w, float64(6,)", "order, int64(6,)"):
        assert f"constant: {line}, read at each call" in notes
    assert notes.count("read at each call") == 3
    assert compiled.programs[0].constants


def test_what_changes_by_content_is_found() -> None:
    order = np.arange(3)
    around = Surroundings(lambda x: x[order] * W)
    assert around.changed() == ""
    order[0] = 2
    assert around.changed() == "order"
    assert around.replaces
    around.compare_contents()
    assert not around.replaces


# Arguments ----------------------------------------------------------------------------------------


def many(x: Any, *, power: Any = 2, name: Any = None, on: Any = True) -> Any:
    if name == "twice":
        x = x * 2.0
    return x**power if on else x


def pairs(p: Any) -> Any:
    return {"b": p["a"] * 2.0, "a": p["b"] + p["a"], "c": None}


def square(x: Any) -> Any:
    return np.sum(np.sin(x) * x), x.T * 2.0


def written(x: Any, y: Any) -> Any:
    z = 1.0 * x
    z[1:] += y[:-1]
    return z * y


def roots(a: Any) -> Any:
    return np.linalg.cholesky(a)


BASE = np.linspace(0.1, 2.0, 12)
GRID = BASE.reshape(3, 4)
READ_ONLY = BASE.copy()
READ_ONLY.flags.writeable = False
ARGUMENTS: dict[str, tuple[Callable[..., Any], list[tuple[tuple[Any, ...], dict[str, Any]]]]] = {
    "words and flags": (
        many,
        [
            ((X,), {}),
            ((X,), {"name": "twice"}),
            ((X,), {"on": False}),
            ((X,), {"on": 0}),
            ((X,), {"on": None}),
            ((X,), {"power": 3.0}),
            ((X,), {"power": np.float64(3.0)}),
            ((X,), {"power": np.int64(3)}),
            ((X,), {"power": np.array(3)}),
            ((X,), {"name": "other", "power": True}),
        ],
    ),
    "orders of dictionaries": (
        pairs,
        [(({"a": X, "b": 2 * X},), {}), (({"b": 2 * X, "a": X},), {}), (({"a": X, "b": 2.0},), {})],
    ),
    "shapes, dtypes and memory orders": (
        square,
        [
            ((array,), {})
            for array in (
                GRID, GRID.T, GRID[:, ::2], GRID[::-1], np.asfortranarray(GRID), GRID[:0],
                np.array(0.5), np.float64(0.5), np.float32(0.5), GRID.astype(np.float32),
                GRID.astype(">f8"), READ_ONLY, np.arange(4), np.array([True, False]),
                np.broadcast_to(X, (2, 6)), BASE.astype(np.float16), BASE.astype(np.longdouble),
                np.array([np.nan, np.inf, -np.inf, -0.0]), GRID + 1j,
            )
        ],
    ),
    "arguments that overlap": (
        written,
        [((BASE[:6], BASE[:6]), {}), ((BASE[:6], BASE[3:9]), {}), ((BASE[5::-1], BASE[:6]), {})],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_arguments_of_all_kinds(name: str, engine: str) -> None:
    function, calls = ARGUMENTS[name]
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        for args, kwargs in (*calls, *calls, *reversed(calls)):
            wanted, tree = flatten(function(*args, **kwargs))
            found, other = flatten(compiled(*args, **kwargs))
            assert tree == other
            for a, b in zip(wanted, found, strict=True):
                assert type(a) is type(b)
                if a is not None:
                    assert a.dtype == b.dtype
                    rounding = 8 * np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0.0
                    np.testing.assert_allclose(b, a, rtol=rounding)


def test_errors_that_depend_on_values_are_those_of_eager() -> None:
    compiled = gw.compile(roots)
    good, bad = np.eye(3), -np.eye(3)
    for array in (bad, good, good, bad, good):
        if array is bad:
            with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
                compiled(array)
        else:
            np.testing.assert_array_equal(compiled(array), np.eye(3))
    assert "linalg.cholesky" in compiled.source


def test_static_arrays_are_those_of_the_call() -> None:
    compiled = gw.compile(lambda x, w: x * w, static="w")
    w = np.ones(6)
    compiled(X, w)
    w[:] = 5.0
    np.testing.assert_array_equal(compiled(X, np.ones(6)), X)
    np.testing.assert_array_equal(compiled(X, w), X * 5.0)


def test_results_that_are_arguments_are_what_eager_gives() -> None:
    w = np.ones(6)
    function = gw.compile(lambda x: (x, x[1:], w, x.T))
    for _ in range(3):
        found = function(X)
        for a, b in zip(found, (X, X[1:], w, X), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("error", [KeyError, ModuleNotFoundError, RuntimeError])
def test_an_object_that_cannot_be_looked_at_makes_calls_eager(error: type[Exception]) -> None:
    class Strict:
        def __getattribute__(self, name: str) -> Any:
            if name == "rate":
                return 2.0
            raise error(name)

    strict = Strict()

    def scaled(x: Any) -> Any:
        return x * strict.rate

    compiled: Any = gw.compile(scaled)
    with pytest.warns(CompileWarning, match=rf"runs eagerly .*raises {error.__name__}.*Fix: pass"):
        np.testing.assert_array_equal(compiled(np.ones(2)), [2.0, 2.0])
    np.testing.assert_array_equal(compiled(np.ones(2)), [2.0, 2.0])


class Quantity(np.ndarray[Any, Any]):
    """An array with a unit, which refuses to be written as bytes, as astropy's does."""

    unit = 1.0

    def tobytes(self, order: Any = "C") -> Any:
        raise NotImplementedError("cannot write Quantities to bytes")


def test_values_and_attributes_of_an_array_of_a_subclass_are_watched() -> None:
    length: Any = np.array([2.0, 3.0]).view(Quantity)
    length.unit = 10.0

    def scaled(x: Any) -> Any:
        return np.sum(x**2) * float(length.view(np.ndarray)[0]) * length.unit

    compiled: Any = gw.compile(grad(scaled))
    np.testing.assert_allclose(compiled(X), 40.0 * X)
    assert compiled.programs
    length.unit = 100.0
    np.testing.assert_allclose(compiled(X), 400.0 * X)
    length.view(np.ndarray)[0] = 5.0
    np.testing.assert_allclose(compiled(X), 1000.0 * X)
