"""Numbers that a compiled function finds in all kinds of places are those of each call."""

from __future__ import annotations

import argparse
import array
import collections
import copy
import dataclasses
import operator
import sys
import threading
import types
import warnings
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.linspace(0.2, 1.5, 4)
RATE = 1.0
SETTINGS: Any = types.ModuleType("settings_of_a_test")
SETTINGS.__dict__["RATE"] = 1.0
sys.modules["settings_of_a_test"] = SETTINGS


@dataclasses.dataclass
class Options:
    rate: float = 1.0
    other: float = 2.0


class Numbered:
    def __init__(self) -> None:
        for number in range(3):
            setattr(self, f"part{number}", float(number + 1))


class Words(dict[str, Any]):
    gain = 1.0

    def total(self) -> Any:
        return sum(self.values()) * self.gain


class Stored(collections.UserDict[str, Any]):
    pass


class Meta(type):
    rate: Any

    def read(cls) -> Any:
        return cls.rate


class WithMeta(metaclass=Meta):
    rate: Any = 1.0


class Scaled(NamedTuple):
    w: Any

    def apply(self) -> Any:
        return self.w * RATE


def import_of_a_module() -> Any:
    import settings_of_a_test as found  # type: ignore[import-not-found]  # made above

    return found.RATE


def import_of_a_number() -> Any:
    from settings_of_a_test import RATE

    return RATE


def attribute_of_a_function() -> Any:
    return attribute_of_a_function.rate  # type: ignore[attr-defined]  # set below


OPTIONS, NUMBERED, WORDS, STORED = Options(), Numbered(), Words(a=1.0), Stored(rate=1.0)
SPACE, PARSED, LOCAL = (
    types.SimpleNamespace(rate=1.0),
    argparse.Namespace(rate=1.0),
    threading.local(),
)
LOCAL.rate = 1.0
CONTEXT: ContextVar[float] = ContextVar("rate", default=1.0)
NUMBERS, BYTES = array.array("d", [1.0, 2.0]), bytearray(b"ab")
BASE: dict[str, Any] = {"rate": 1.0}
SETTING = BASE.get
SHOWN, CHAIN = types.MappingProxyType(BASE), collections.ChainMap[str, Any]({}, {"rate": 1.0})
REFERENCE, GETTER, SCALED = weakref.ref(OPTIONS), operator.attrgetter("rate"), Scaled(2.0)
setattr(attribute_of_a_function, "rate", 1.0)  # noqa: B010  functions declare no attributes


def set_rate(value: Any) -> None:
    globals()["RATE"] = value


def in_options(value: Any) -> None:
    OPTIONS.rate = value


PLACES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "getattr": (lambda: sum(getattr(NUMBERED, f"part{i}") for i in range(3)),
                lambda v: setattr(NUMBERED, "part1", v)),
    "vars": (lambda: sum(vars(OPTIONS).values()), in_options),
    "asdict": (lambda: sum(dataclasses.asdict(OPTIONS).values()), in_options),
    "replace": (lambda: dataclasses.replace(OPTIONS, other=3.0).rate, in_options),
    "copy": (lambda: copy.copy(OPTIONS).rate, in_options),
    "attrgetter": (lambda: GETTER(OPTIONS), in_options),
    "weak reference": (lambda: getattr(REFERENCE(), "rate", None), in_options),
    "namespace": (lambda: SPACE.rate, lambda v: setattr(SPACE, "rate", v)),
    "parsed arguments": (lambda: PARSED.rate, lambda v: setattr(PARSED, "rate", v)),
    "thread": (lambda: LOCAL.rate, lambda v: setattr(LOCAL, "rate", v)),
    "context": (CONTEXT.get, CONTEXT.set),
    "user dictionary": (lambda: STORED["rate"], lambda v: STORED.update(rate=v)),
    "class of a dictionary": (lambda: WORDS.total(), lambda v: setattr(Words, "gain", v)),
    "method of a dictionary": (lambda: SETTING("rate"), lambda v: BASE.update(rate=v)),
    "chain": (lambda: CHAIN["rate"], lambda v: CHAIN.update(rate=v)),
    "proxy": (lambda: SHOWN["rate"], lambda v: BASE.update(rate=v)),
    "array": (lambda: NUMBERS[1], lambda v: NUMBERS.__setitem__(1, v)),
    "bytes": (lambda: BYTES[1], lambda v: BYTES.__setitem__(1, int(v))),
    "imported module": (import_of_a_module, lambda v: setattr(SETTINGS, "RATE", v)),
    "imported number": (import_of_a_number, lambda v: setattr(SETTINGS, "RATE", v)),
    "modules": (lambda: sys.modules["settings_of_a_test"].RATE,
                lambda v: setattr(SETTINGS, "RATE", v)),
    "globals": (lambda: globals()["RATE"], set_rate),
    "eval": (lambda: eval("RATE * 2"), set_rate),  # noqa: S307  a constant
    "method of a named tuple": (lambda: SCALED.apply(), set_rate),
    "method of a class": (lambda: WithMeta.read(), lambda v: setattr(WithMeta, "rate", v)),
    "function": (attribute_of_a_function, lambda v: setattr(attribute_of_a_function, "rate", v)),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_a_number_is_that_of_the_call(name: str) -> None:
    read, write = PLACES[name]
    compiled = gw.compile(lambda x: x * read())
    for value in (1.0, 3.0, 3.0, 2.0, 5.0):
        write(value)
        np.testing.assert_array_equal(compiled(X), X * read())
    assert compiled.programs


class Trainer:
    def __init__(self) -> None:
        self.rate = 2.0

    def scaled(self, x: Any) -> Any:
        y = x.copy()
        return y * self.rate if hasattr(y, "shape") else y


def test_attributes_that_no_code_names_may_change() -> None:
    trainer = Trainer()
    compiled = gw.compile(trainer.scaled)
    vars(trainer)["steps"] = 0
    for _ in range(30):
        vars(trainer)["steps"] += 1
        np.testing.assert_array_equal(compiled(X), X * 2.0)
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_an_array_may_change_its_shape_in_place(engine: str) -> None:
    w: Any = np.arange(4.0)
    compiled = gw.compile(lambda x: x * w.sum(0).sum() + w[0].sum() * w.ndim, engine=engine)
    for shape in ((4,), (2, 2), (2, 2), (4, 1), (4,)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            w.shape = shape
        np.testing.assert_allclose(compiled(X), X * 6.0 + w[0].sum() * w.ndim, rtol=1e-15)


class ByName:
    """An object that says itself that it is equal to another of its name."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByName)

    def __hash__(self) -> int:
        return 1


@dataclasses.dataclass(frozen=True)
class Tagged:
    number: int
    tag: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass
class Network:
    weights: Any
    bias: Any = 0.5

    def __call__(self, x: Any) -> Any:
        return np.tanh(x * self.weights) + self.bias


def test_objects_that_are_equal_may_hold_different_things() -> None:
    compiled: Any = gw.compile(lambda x, one: x * one.value)
    tagged: Any = gw.compile(lambda x, one: x * (one.number + len(one.tag)))
    for value in (1.0, 2.0, 3.0):
        np.testing.assert_array_equal(compiled(X, ByName(value)), X * value)
    for tag in ("a", "bb", "ccc"):
        np.testing.assert_array_equal(tagged(X, Tagged(1, tag)), X * (1 + len(tag)))
    assert len(tagged.programs) == 3
    tagged(X, Tagged(1, "a"))
    assert len(tagged.programs) == 3


def test_objects_without_hash_are_arguments() -> None:
    compiled: Any = gw.compile(gw.grad(lambda x, network: np.sum(network(x)), argnums=0))
    network = Network(np.ones(4))
    for weights in (np.ones(4), np.arange(4.0), np.arange(4.0)):
        network.weights = weights
        slope = weights * (1 - np.tanh(X * weights) ** 2)
        np.testing.assert_allclose(compiled(X, network), slope, rtol=1e-14)
    part: Any = gw.compile(lambda x, places, chosen: x[places] * sum(chosen))
    for stop in (2, 3, 2):
        np.testing.assert_array_equal(part(X, slice(0, stop), {1, stop}), X[:stop] * sum({1, stop}))
    assert len(part.programs) == 2


def test_dictionaries_are_read_in_their_order() -> None:
    compiled: Any = gw.compile(lambda d: (np.concatenate([*d.values()]), {k: d[k] + 1 for k in d}))
    named: Any = gw.compile(lambda **d: np.concatenate([*d.values()]))
    one, other = {"a": X, "b": -X}, {"b": -X, "a": X}
    for given in (one, other, one, other):
        joined, shifted = compiled(given)
        np.testing.assert_array_equal(joined, np.concatenate([*given.values()]))
        np.testing.assert_array_equal(named(**given), joined)
        assert [*shifted] == [*given]


@gw.register_pytree
@dataclasses.dataclass
class Model:
    parts: dict[str, Any]

    def apply(self) -> Any:
        return sum(i * part for i, part in enumerate(self.parts.values())) * RATE


def test_methods_of_containers_that_are_arguments_are_watched() -> None:
    compiled: Any = gw.compile(lambda model: model.apply())
    for value in (1.0, 2.0):
        set_rate(value)
        for parts in ({"a": X, "b": -X}, {"b": -X, "a": X}):
            np.testing.assert_array_equal(compiled(Model(parts)), Model(parts).apply())


def kernel(x: Any, y: Any) -> Any:
    """A matrix of distances, as scikit-learn's: exact zeros where both are the same array."""
    squares = np.sum((x[:, None] - y) ** 2, -1)
    return squares + np.eye(len(x)) if x is y else squares


@pytest.mark.parametrize("first", [True, False])
def test_arrays_that_are_given_twice_are_one(first: bool) -> None:
    compiled: Any = gw.compile(kernel)
    x = np.arange(6.0).reshape(3, 2)
    for same in (first, not first, first, not first):
        y = x if same else x.copy()
        np.testing.assert_array_equal(compiled(x, y), kernel(x, y))
    plain: Any = gw.compile(lambda x, y: x * y)
    plain(x, x)
    np.testing.assert_array_equal(plain(x, x + 1), x * (x + 1))
    assert len(plain.programs) == 1  # since it does not ask


def test_the_place_of_an_array_in_memory_is_not_compiled() -> None:
    compiled: Any = gw.compile(lambda x, y: x if np.shares_memory(x, y) else y)
    with pytest.warns(gw.errors.CompileWarning, match=r"where arrays lie .line \d+"):
        compiled(X, X)
    assert len(flatten(compiled(X, X + 1))[0]) == 1
    np.testing.assert_array_equal(compiled(X, X + 1), X + 1)


def scaled(x: Any, *, by: Any) -> Any:
    """As scikit-learn checks an array: it is copied unless a conversion has copied it."""
    array = by(x)
    if np.may_share_memory(array, x):
        array = array * 1.0
        return np.sum(array**2)
    return np.sum(array**3)


@pytest.mark.parametrize(
    "by",
    [
        lambda x: x,
        lambda x: x[1:],
        lambda x: np.reshape(x, (2, -1)).T,
        lambda x: x + 0.0,
        lambda x: np.concatenate([x, x]),
        lambda x: x.copy(),
        lambda x: x[[0, 1]],
    ],
)
def test_it_is_known_if_results_lie_in_their_operands(by: Callable[[Any], Any]) -> None:
    slope = gw.grad(lambda x: scaled(x, by=by))
    compiled = gw.compile(slope)
    for x in (X[:4], X[:4] ** 2 + 1.0):
        np.testing.assert_allclose(compiled(x), slope(x))
    assert len(compiled.programs) == 1


def test_whether_arrays_of_the_caller_share_memory_is_asked_at_each_call() -> None:
    def pair(x: Any, y: Any) -> Any:
        return np.sum(x * y) if np.may_share_memory(x[1:], y) else np.sum(x + y)

    slope: Any = gw.grad(pair)
    for first in ((X, X + 1.0), (X, X)):
        compiled: Any = gw.compile(slope)
        with pytest.warns(gw.errors.CompileWarning, match="where arrays lie"):
            compiled(*first)
        for x, y in ((X, X), (X, X + 1.0), (X, X)):
            np.testing.assert_array_equal(compiled(x, y), slope(x, y))
