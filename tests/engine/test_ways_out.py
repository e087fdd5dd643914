"""Ways out of the graph: a pickle, a key of a set or a dictionary, text."""

from __future__ import annotations

import copy
import functools
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([1.0, 2.0, 3.0])

TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: gw.grad(f)(X),
    "vjp": lambda f: gw.vjp(f, X),
    "jvp": lambda f: gw.jvp(f, (X,), (X,)),
    "grad of grad": lambda f: gw.hessian(f)(X),
    "vmap of grad": lambda f: gw.vmap(gw.grad(f))(np.stack([X, X])),
    "grad of vmap": lambda f: gw.grad(lambda x: np.sum(gw.vmap(fn(lambda e: f(e * X)))(x)))(X),
}


# Pickles ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("part", [fn(lambda x: x), fn(lambda x: x * 2), fn(lambda x: {"x": [x]})])
def test_a_pickle_under_a_transform_is_refused(transform: Any, part: Any) -> None:
    def through_pickle(x: Any) -> Any:
        return np.sum(pickle.loads(pickle.dumps(part(x)))["x"][0])  # noqa: S301  never read

    with pytest.raises(gw.errors.TrackedValueError, match=r"joblib or multiprocessing.*Fix: ") as e:
        transform(through_pickle)
    assert 'joblib.Parallel(prefer="threads")' in str(e.value)
    assert "in through_pickle" in str(e.value)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_stay_in_the_graph(duplicate: Any) -> None:
    def squares(x: Any) -> Any:
        held = duplicate({"x": [x, x * 2]}) if duplicate is copy.deepcopy else {"x": [duplicate(x)]}
        return np.sum(held["x"][0] ** 2)

    np.testing.assert_array_equal(gw.grad(squares)(X), 2 * X)
    np.testing.assert_array_equal(gw.hessian(squares)(X), 2 * np.eye(3))
    np.testing.assert_array_equal(gw.vmap(squares)(np.stack([X, X])), [14.0, 14.0])


def test_what_no_transform_tracks_can_be_pickled() -> None:
    constant = gw.wrap(X)

    def through_pickle(x: Any) -> Any:
        restored = pickle.loads(pickle.dumps((constant, x.detach())))  # noqa: S301  our own bytes
        return np.sum(x * restored[0] * restored[1])

    np.testing.assert_array_equal(gw.grad(through_pickle)(X), X**2)


# Keys ---------------------------------------------------------------------------------------------

KEYS: dict[str, Callable[[Any], Any]] = {
    "set": lambda v: v in {1.0, 2.0},
    "set of these": lambda v: {v, v * 1.0},
    "dictionary": lambda v: {1.0: 3.0}.get(v),
    "item": lambda v: {1.0: 3.0}[v],
    "tuple": lambda v: (v, 0) in {(1.0, 0), (2.0, 0)},
    "cache": functools.cache(fn(lambda v: v * 2)),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_tracked_number_is_no_key(transform: Any, key: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(x) * (10.0 if key(x[0]) else 1.0)

    kind = (gw.errors.TrackedValueError, gw.errors.BatchedValueError)
    with pytest.raises(kind, match=r"Use as a key.*Fix: "):
        transform(f)


def test_a_tracked_array_without_axes_is_no_key_either() -> None:
    def f(x: Any) -> Any:
        return x * 10 if x in {1.0, 2.0} else x  # NumPy: unhashable type

    with pytest.raises(TypeError, match=r"Use as a key.*Fix: "):
        gw.grad(f)(np.array(1.0))


def test_the_remedies_for_keys() -> None:
    def by_item(x: Any) -> Any:
        return x[0] * 10 if x[0].item() in {1.0, 2.0} else x[0]

    def by_equality(x: Any) -> Any:
        return x[0] * 10 if x[0] in [1.0, 2.0] else x[0]

    @functools.cache
    def cached(v: Any) -> Any:
        return v * 10

    for f in (by_item, by_equality, fn(lambda x: cached.__wrapped__(x[0]))):
        value, slope = gw.value_and_grad(f)(X)
        assert value == 10.0
        np.testing.assert_array_equal(slope, [10.0, 0.0, 0.0])


def test_untracked_numbers_are_keys_by_value() -> None:
    number: Any = gw.wrap(np.array([1.5, 2.0]))[0]
    assert number in {1.5, 2.0}
    assert {1.5: "found"}[number] == "found"
    assert len({number, gw.wrap(np.array([1.5]))[0]}) == 1

    def f(x: Any) -> Any:
        place: Any = np.argmin(x)
        return {0: 1.0, 1: 5.0}[place] * x[1] * {3: 2.0}[x.shape[0]]

    np.testing.assert_array_equal(gw.grad(f)(X), [0.0, 2.0, 0.0])


def test_leaves_of_the_tape_and_arrays_are_keys_by_themselves() -> None:
    leaf = gw.wrap(np.float64(1.0), requires_grad=True)
    other = gw.wrap(np.float64(1.0), requires_grad=True)
    state = {leaf: "first", other: "second"}
    assert [state[leaf], state[other]] == ["first", "second"]
    array = gw.wrap(X, requires_grad=True)
    assert len({array, array * 1.0}) == 2
    with pytest.raises(gw.errors.TrackedValueError, match="Use as a key"):
        hash(leaf * 1.0)


# Text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "read",
    [
        fn(lambda x: float(f"{x:.3f}")),
        fn(lambda x: float("{:.3f}".format(x))),  # noqa: UP032  another call of the same method
        fn(lambda x: float(format(x, ".3f"))),
    ],
)
def test_a_formatted_number_has_no_gradient_and_a_warning(read: Any) -> None:
    with pytest.warns(gw.errors.TrackedTextWarning, match=r"read back.*Text of x\.item\(\)"):
        assert gw.grad(fn(lambda x: x * x + read(x)))(1.5) == 3.0


def test_formats_that_give_no_warning() -> None:
    def logged(x: Any) -> Any:
        lines = [f"{x.item():.2f}", f"{gw.stop_gradient(x):.2f}", f"{x.size:2d}"]
        assert lines == ["1.50", "1.50", " 1"]
        return x * x

    assert gw.grad(logged)(1.5) == 3.0
    leaf = gw.wrap(np.float64(1.5), requires_grad=True)
    assert f"{leaf * leaf:.2f}" == "2.25"  # where no function is differentiated


@pytest.mark.parametrize("number", [float, np.float64])
def test_the_text_of_a_variable_is_no_number(number: Any) -> None:
    with pytest.raises(ValueError, match="could not convert") as caught:
        gw.grad(fn(lambda x: x * number(str(x))))(1.5)
    assert "made of a tracked value" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="could not convert") as caught:
        gw.grad(fn(lambda x: x * number("one")))(1.5)
    assert not hasattr(caught.value, "__notes__")


# Indices ------------------------------------------------------------------------------------------


def test_an_exponent_that_numpy_asks_for_its_index_does_not_repeat_the_function() -> None:
    runs: list[int] = []

    def power(x: Any) -> Any:
        runs.append(1)
        with_operator = np.arange(1.0, 4.0) ** x  # NumPy before 2.3 asks, and goes on if refused
        return np.sum(with_operator)

    wanted = np.sum(np.arange(1.0, 4.0) ** 2.0 * np.log(np.arange(1.0, 4.0)))
    np.testing.assert_allclose(gw.grad(power)(2.0), wanted)
    assert len(runs) == 1
    with pytest.raises(TypeError, match=r"Use as an index.*call int\(x\.item\(\)\)"):
        gw.grad(lambda x: x * [1.0, 2.0][x])(1.0)
