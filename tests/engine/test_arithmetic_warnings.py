"""Warnings of arithmetic: they name the operation whose derivative is computed, and the line."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.observing.arithmetic import computes_derivative
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.0, 4.0])
NP: Any = np


def root(x: Any) -> Any:
    return np.sum(0.0 * np.sqrt(x) + x)


def taped() -> None:
    leaf = gw.wrap(X, requires_grad=True)
    root(leaf).backward()


def caught(call: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return found


REVERSE: dict[str, Callable[[], Any]] = {
    "grad": lambda: gw.grad(root)(X),
    "value_and_grad": lambda: gw.value_and_grad(root)(X),
    "vjp": lambda: gw.vjp(root, X)[1](1.0),
    "jacrev": lambda: gw.jacrev(root)(X),
    "tape": taped,
    "vmap of grad": lambda: gw.vmap(gw.grad(root))(X[None]),
    "checkpoint": lambda: gw.grad(gw.checkpoint(root))(X),
    "inside another": lambda: gw.grad(lambda x: np.sum(gw.grad(root)(x)))(X),
    "create_graph": lambda: gw.hvp(root, X, X),
}


@pytest.mark.parametrize("name", REVERSE)
def test_backward_names_the_operation_the_line_and_the_remedy(name: str) -> None:
    found = [w for w in caught(REVERSE[name]) if "derivative of sqrt" in str(w.message)]

    assert found
    for warning in found:
        text = str(warning.message)
        assert text.startswith(("invalid value encountered in", "divide by zero encountered in"))
        assert issubclass(warning.category, RuntimeWarning)
        assert warning.filename == __file__
        assert f"(test_arithmetic_warnings.py, line {warning.lineno})" in text
    invalid = [str(w.message) for w in found if "invalid" in str(w.message)]
    assert invalid
    assert all("gradwrap.strong_zeros()" in text for text in invalid)


def test_forward_mode_names_the_operation_and_its_line() -> None:
    found = caught(lambda: gw.jvp(root, (X,), (np.ones(2),)))

    assert [str(w.message).partition(" (")[0] for w in found] == [
        "divide by zero encountered in divide, in the derivative of sqrt",
        "invalid value encountered in multiply, in the derivative of multiply",
    ]
    assert "gradwrap.strong_zeros()" in str(found[1].message)
    _, start = inspect.getsourcelines(root)
    assert {(w.filename, w.lineno) for w in found} == {(__file__, start + 1)}


def test_the_value_gets_numpys_words_and_the_users_line() -> None:
    (found,) = caught(lambda: gw.vjp(np.log, np.array([0.0])))
    assert str(found.message) == "divide by zero encountered in log"
    assert found.filename == __file__


def test_plain_arithmetic_in_the_function_warns_as_numpy_does() -> None:
    def f(x: Any) -> Any:
        return x * np.log(np.array(-1.0)) + np.mean(np.array([1.0]) / 0.0)

    inside, outside = caught(lambda: gw.grad(f)(1.0)), caught(lambda: f(1.0))
    plain = [(str(w.message), w.filename, w.lineno) for w in outside]
    assert [(str(w.message), w.filename, w.lineno) for w in inside][: len(plain)] == plain


@pytest.mark.parametrize("name", REVERSE)
def test_nothing_is_told_where_numpy_is_told_to_ignore(name: str) -> None:
    with np.errstate(all="ignore"):
        assert caught(REVERSE[name]) == []


def test_an_error_state_that_raises_is_kept() -> None:
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid value"):
        gw.grad(root)(X)


def test_a_filter_makes_it_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="in the derivative of sqrt"):
            gw.grad(root)(X)
    assert gw.grad(fn(lambda x: x * x))(3.0) == 6.0


def test_strong_zeros_leave_nothing_to_tell() -> None:
    with gw.strong_zeros():
        assert caught(lambda: gw.grad(root)(X)) == []


def test_strong_zeros_hide_no_other_infinity() -> None:
    with gw.strong_zeros():
        (found,) = caught(lambda: gw.grad(lambda x: np.sum(np.sqrt(x)))(X))
    assert str(found.message).startswith(
        "divide by zero encountered in divide, in the derivative of sqrt"
    )


def test_finite_derivatives_warn_of_nothing() -> None:
    assert caught(lambda: gw.grad(root)(X + 1)) == []
    assert caught(lambda: gw.jvp(root, (X + 1,), (X,))) == []


def test_numpys_error_state_is_as_before() -> None:
    before, of_call = np.geterr(), np.geterrcall()
    caught(lambda: gw.grad(root)(X))
    with pytest.raises(ZeroDivisionError):
        gw.grad(lambda x: x / (1 // 0))(1.0)
    assert (np.geterr(), np.geterrcall()) == (before, of_call)


def test_a_state_that_the_function_sets_outlives_it() -> None:
    before = np.geterr()

    def f(x: Any) -> Any:
        np.seterr(over="raise")
        return x * x

    try:
        gw.grad(f)(3.0)
        assert np.geterr() == {**before, "over": "raise"}
    finally:
        np.seterr(**before)


def test_a_log_of_the_users_own_gets_what_numpy_writes() -> None:
    class Log:
        lines: tuple[str, ...] = ()

        def write(self, text: str) -> None:
            self.lines += (text,)

    log = Log()
    with np.errstate(call=log, all="log"):
        assert caught(lambda: gw.grad(root)(X)) == []
    assert log.lines == ("Warning: invalid value encountered in divide\n",)


def test_a_rule_of_the_users_warns_at_its_own_line() -> None:
    f = gw.custom_vjp(fn(lambda x: x * 2))
    f.defvjp(lambda x: (x * 2, x), lambda x, g: (g / x,))
    (found,) = caught(lambda: gw.grad(lambda x: np.sum(f(x)))(np.zeros(2)))
    assert str(found.message) == "divide by zero encountered in divide"
    assert found.filename == __file__


def test_it_is_shown_once_for_a_line() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(3):
            gw.grad(root)(X)
    assert len(found) == 1


def test_the_error_state_that_the_function_sees_is_the_users() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append((np.geterr(), np.geterrcall()))
        with np.errstate(divide="ignore"):
            seen.append(np.geterr()["divide"])
        with np.errstate(**np.geterr()):
            return np.sum(x * 2)

    with np.errstate(over="raise"):
        state = np.geterr()
        gw.grad(f)(X)
        gw.jvp(f, (X,), (X,))
        assert np.geterr() == state
    assert seen == [(state, None), "ignore"] * 2


def test_a_function_that_shows_its_node_has_such_a_variable() -> None:
    def visit(given: Any) -> Any:
        return given

    with pytest.raises(NameError, match=r"visit has no local variable \['node'\]"):
        computes_derivative(node="node")(visit)
