"""`vjp`: values, structure, reuse, and what it asks of a cotangent."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import BackwardError, NonDifferentiableInputError, NotAnArrayError
from lambdas import fn

X = np.array([0.3, -1.2, 2.0])
A = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])


def test_linear_map_gives_its_transpose() -> None:
    out, pull = gw.vjp(lambda x: A @ x, X)
    np.testing.assert_array_equal(out, A @ X)
    assert type(out) is np.ndarray
    for g in np.eye(2):
        (gradient,) = pull(g)
        np.testing.assert_array_equal(gradient, A.T @ g)


def test_all_primals_are_differentiated() -> None:
    _, pull = gw.vjp(np.matmul, A, X)
    g = np.array([1.0, 10.0])
    left, right = pull(g)
    np.testing.assert_array_equal(left, np.outer(g, X))
    np.testing.assert_array_equal(right, A.T @ g)


def test_can_be_called_again_with_the_same_result() -> None:
    _, pull = gw.vjp(lambda x: np.exp(x) * np.sort(x), X)
    first = pull(np.ones(3))[0].copy()
    pull(np.array([5.0, -1.0, 0.0]))
    np.testing.assert_array_equal(pull(np.ones(3))[0], first)
    np.testing.assert_array_equal(pull(2 * np.ones(3))[0], 2 * first)


def test_pytrees_in_and_out() -> None:
    def fun(p: Any, s: Any) -> Any:
        return {"y": p["w"] * s, "z": [p["w"][0], "name", None, 3]}

    out, pull = gw.vjp(fun, {"w": X}, 2.0)
    assert out["z"][1:] == ["name", None, 3]
    np.testing.assert_array_equal(out["y"], 2 * X)
    p, s = pull({"y": np.ones(3), "z": [np.float64(10.0), None, None, None]})
    np.testing.assert_array_equal(p["w"], [12.0, 2.0, 2.0])
    assert s == pytest.approx(X.sum())


def test_aux() -> None:
    out, pull, aux = gw.vjp(fn(lambda x: (x**2, {"cube": x**3})), X, has_aux=True)
    np.testing.assert_array_equal(out, X**2)
    np.testing.assert_array_equal(aux["cube"], X**3)
    np.testing.assert_array_equal(pull(np.ones(3))[0], 2 * X)
    with pytest.raises(NotAnArrayError, match=r"returns a pair \(out, aux\); .* returned a Var"):
        gw.vjp(lambda x: x, X, has_aux=True)  # type: ignore[call-overload,unused-ignore]  # to be refused


def test_output_that_depends_on_nothing() -> None:
    out, pull = gw.vjp(lambda x: np.ones(2), X)
    np.testing.assert_array_equal(out, np.ones(2))
    np.testing.assert_array_equal(pull(np.ones(2))[0], np.zeros(3))


def test_identity_does_not_hand_out_the_cotangent() -> None:
    g = np.ones(3)
    _, pull = gw.vjp(lambda x: x, X)
    (gradient,) = pull(g)
    assert gradient is not g
    gradient += 1
    np.testing.assert_array_equal(g, np.ones(3))


def test_a_number_is_a_cotangent_of_a_scalar() -> None:
    for number in (2, 2.0, np.float64(2.0), np.array(2.0)):
        np.testing.assert_array_equal(gw.vjp(np.sum, X)[1](number)[0], np.full(3, 2.0))
    pull: Any = gw.vjp(np.sum, X.astype(np.float32))[1]
    (gradient,) = pull(2.0)
    assert gradient.dtype == np.float32


def test_complex_cotangent() -> None:
    z = np.array([1 + 2j])
    (gradient,) = gw.vjp(lambda z: z**2, z)[1](np.array([1j]))
    np.testing.assert_allclose(gradient, np.conj(2 * z) * 1j)


def test_on_another_library() -> None:
    x = strict.asarray([1.0, 2.0])
    out, pull = gw.vjp(lambda x: x * x, x)
    (gradient,) = pull(strict.asarray([1.0, 10.0]))
    assert type(out) is type(gradient) is type(x)
    np.testing.assert_array_equal(np.from_dlpack(gradient), [2.0, 40.0])


def test_is_differentiable_in_the_cotangent() -> None:
    def fun(g: Any) -> Any:
        _, pull = gw.vjp(lambda x: x**2, X)
        return np.sum(pull(g)[0] ** 2)

    np.testing.assert_allclose(gw.grad(fun)(np.ones(3)), 8 * X**2)


def test_is_differentiable_in_the_primal() -> None:
    def fun(x: Any) -> Any:
        _, pull = gw.vjp(lambda y: y**3, x)
        return np.sum(pull(np.ones(3))[0])

    np.testing.assert_allclose(gw.grad(fun)(X), 6 * X)


STRUCTURE = "Fix: pass the structure of the output."
SPACE = "Fix: pass an array of the output's shape and dtype."


@pytest.mark.parametrize(
    ("cotangent", "message"),
    [
        (
            [np.ones(3)],
            f"the cotangent has the structure [*], the output has {{'a': *}}. {STRUCTURE}",
        ),
        (
            np.ones(3),
            f"the cotangent has the structure a lone array, the output has {{'a': *}}. {STRUCTURE}",
        ),
        (
            {"b": np.ones(3)},
            f"the cotangent has the structure {{'b': *}}, the output has {{'a': *}}. {STRUCTURE}",
        ),
        ({"a": np.ones(2)}, f"the cotangent['a'] is float64[2], the output is float64[3]. {SPACE}"),
        (
            {"a": np.ones((3, 1))},
            f"the cotangent['a'] is float64[3, 1], the output is float64[3]. {SPACE}",
        ),
        (
            {"a": np.ones(3, np.float32)},
            f"the cotangent['a'] is float32[3], the output is float64[3]. {SPACE}",
        ),
        (
            {"a": np.ones(3, int)},
            f"the cotangent['a'] is int64[3], the output is float64[3]. {SPACE}",
        ),
        ({"a": 1.0}, f"the cotangent['a'] is a float, the output is float64[3]. {SPACE}"),
        ({"a": None}, f"the cotangent['a'] is None, the output is float64[3]. {SPACE}"),
        ({"a": "x"}, f"the cotangent['a'] is a str, the output is float64[3]. {SPACE}"),
        (
            {"a": strict.ones(3)},
            (
                "the cotangent['a'] is an array of array_api_strict, the output is "
                "one of numpy. Fix: convert it."
            ),
        ),
    ],
)
def test_cotangent_is_checked(cotangent: Any, message: str) -> None:
    _, pull = gw.vjp(fn(lambda x: {"a": x * 2}), X)
    with pytest.raises(BackwardError) as caught:
        pull(cotangent)
    assert str(caught.value) == message
    # and it works after the error
    np.testing.assert_array_equal(pull({"a": np.ones(3)})[0], np.full(3, 2.0))


def test_complex_number_for_a_real_output() -> None:
    with pytest.raises(BackwardError, match=r"the cotangent is complex, the output is float64\[\]"):
        gw.vjp(np.sum, X)[1](1j)


def test_primals_are_checked() -> None:
    with pytest.raises(NonDifferentiableInputError, match=r"argument b has dtype int64"):
        gw.vjp(lambda a, b: a * b, X, np.array([1, 2, 3]))

    def product(*xs: Any) -> Any:
        return xs[0] * xs[1]

    with pytest.raises(NonDifferentiableInputError, match=r"argument 1 has dtype int64"):
        gw.vjp(product, X, np.array([1, 2, 3]))
