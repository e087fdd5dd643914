"""`jvp` and `linearize`: closed forms, trees, tangents of every kind, and bad input."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
import gradwrap.numpy as gnp
from lambdas import fn

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
X = np.array([0.3, 1.2, 2.0])
V = np.array([1.0, -2.0, 0.5])
error = gw.errors.TangentError


def exactly(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found, wanted)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def test_value_and_tangent_are_the_closed_forms() -> None:
    out, tangent = gw.jvp(fn(lambda x: np.sin(x) * x[0]), (X,), (V,))
    close(out, np.sin(X) * X[0])
    close(tangent, np.cos(X) * V * X[0] + np.sin(X) * V[0])
    assert type(out) is np.ndarray
    assert type(tangent) is np.ndarray


def test_python_numbers_are_floats() -> None:
    out, tangent = gw.jvp(fn(lambda x, y: x * y + x), (3, 4.0), (1.0, 10.0))
    assert (out, tangent) == (15.0, 35.0)
    out, push = gw.linearize(fn(lambda x, y: x * y + x), 3, 4.0)
    assert (out, push(1.0, 10.0), push(1, 0)) == (15.0, 35.0, 5.0)


def test_scalars_stay_numpy_scalars_and_float32_stays() -> None:
    for kind in (np.float32, np.float64):
        out, tangent = gw.jvp(np.exp, (kind(0.0),), (kind(2.0),))
        assert (type(out), type(tangent)) == (kind, kind)
        assert tangent == 2.0
        single = X.astype(kind)
        assert gw.jvp(fn(lambda x: x * 2.0), (single,), (single,))[1].dtype == kind
        assert gw.linearize(fn(lambda x: x * 2.0), single)[1](single).dtype == kind


def test_trees_go_in_and_come_out() -> None:
    def function(p: Any, x: Any) -> Any:
        return {"y": p["w"] * x[0] + p["b"][0], "rest": (x[1], [np.sum(p["w"])])}

    p, x = {"w": X, "b": (2.0, None, "name")}, [3.0, X]
    tangents = ({"w": V, "b": (1.0, None, None)}, [10.0, None])
    out, tangent = gw.jvp(function, (p, x), tangents)
    exactly(out["y"], 3 * X + 2)
    exactly(tangent["y"], 3 * V + 10 * X + 1)
    exactly(tangent["rest"][0], np.zeros(3))
    close(tangent["rest"][1][0], V.sum())
    out, push = gw.linearize(fn(lambda w, x: function({"w": w, "b": (2.0,)}, x)), X, x)
    linear = push(V, [10.0, None])
    close(linear["y"], 3 * V + 10 * X)
    exactly(linear["rest"][0], np.zeros(3))


def test_none_stands_for_a_zero_tangent_of_an_array_or_a_tree() -> None:
    exactly(gw.jvp(np.multiply, (X, 2 * X), (V, None))[1], V * 2 * X)
    nested = {"a": X, "b": [X]}
    out = gw.jvp(fn(lambda x, tree: x * tree["a"] * tree["b"][0]), (X, nested), (V, None))[1]
    exactly(out, V * X * X)
    exactly(gw.jvp(np.sin, (X,), (None,))[1], np.zeros(3))
    _, push = gw.linearize(np.multiply, X, 2 * X)
    exactly(push(None, V), X * V)
    exactly(push(None, None), np.zeros(3))


def test_integer_arrays_take_none() -> None:
    picked = gw.jvp(fn(lambda x, i: x[i]), (X, np.array([2, 0])), (V, None))[1]
    exactly(picked, V[[2, 0]])
    scaled = gw.jvp(fn(lambda x, n: x * n), (X, np.int64(3)), (V, None))[1]
    exactly(scaled, 3 * V)


def test_outputs_without_derivative_have_none_and_constants_have_zeros() -> None:
    def function(x: Any) -> Any:
        return x, np.argmax(x), x > 1, 2.0, np.ones(2), "text", None

    _, tangent = gw.jvp(function, (X,), (V,))
    exactly(tangent[0], V)
    assert tangent[1] is None
    assert tangent[2] is None
    assert tangent[3] == 0.0
    exactly(tangent[4], np.zeros(2))
    assert tangent[5:] == (None, None)


def test_aux_is_handed_on_without_wrappers() -> None:
    out, tangent, aux = gw.jvp(
        fn(lambda x: (np.sum(x), {"twice": 2 * x, "n": 3})), (X,), (V,), has_aux=True
    )
    assert (out, tangent) == (X.sum(), V.sum())
    assert type(aux["twice"]) is np.ndarray
    assert aux["n"] == 3


def test_complex_tangents_are_pushed_by_the_differential() -> None:
    z, w = X + 1j * V, V - 0.5j * X
    close(gw.jvp(fn(lambda z: z**2), (z,), (w,))[1], 2 * z * w)
    close(gw.jvp(fn(lambda z: np.abs(z) ** 2), (z,), (w,))[1], 2 * np.real(np.conj(z) * w))
    close(gw.jvp(np.conj, (z,), (w,))[1], np.conj(w))
    close(gw.jvp(fn(lambda x: np.exp(1j * x)), (X,), (V,))[1], 1j * V * np.exp(1j * X))
    for function in (np.conj, fn(lambda z: z * np.abs(z)), fn(lambda z: np.real(z) * z)):
        wanted = gw.jvp(function, (z,), (w,))[1]
        close(gw.linearize(function, z)[1](w), wanted)


def test_code_that_writes_in_place_is_pushed_through() -> None:
    def running_product(x: Any) -> Any:
        out = gnp.zeros(3)
        out[0] = x[0]
        for i in range(1, 3):
            out[i] = out[i - 1]
            out[i] *= x[i]
        row = out[1:]
        row += 1.0
        return out

    close(gw.jvp(running_product, (X,), (V,))[1], gw.jvp(np.cumprod, (X,), (V,))[1])
    close(gw.linearize(running_product, X)[1](V), gw.jvp(np.cumprod, (X,), (V,))[1])


def test_the_callers_arrays_are_neither_written_nor_shared() -> None:
    x, v = X.copy(), V.copy()

    def change(x: Any) -> Any:
        x *= 3.0
        return x

    exactly(gw.jvp(change, (x,), (v,))[1], 3 * V)
    _, tangent = gw.jvp(fn(lambda x: x), (x,), (v,))
    assert not np.shares_memory(tangent, v)
    tangent[:] = 0
    same = gw.linearize(fn(lambda x: x), x)[1](v)
    assert not np.shares_memory(same, v)
    exactly(x, X)
    exactly(v, V)


def test_control_flow_depends_on_values() -> None:
    def power(x: Any, n: int) -> Any:
        out = x
        while out < 10 and n:
            out, n = out * x, n - 1
        return out if x > 0 else -out

    assert gw.jvp(power, (2.0, 9), (1.0, None)) == (16.0, 32.0)


def test_function_of_no_use_of_its_argument_has_a_zero_tangent() -> None:
    out, tangent = gw.jvp(fn(lambda x: np.ones((2, 0))), (X,), (V,))
    assert (out.shape, tangent.shape) == ((2, 0), (2, 0))
    exactly(gw.linearize(fn(lambda x: np.ones(2)), X)[1](V), np.zeros(2))
    assert gw.jvp(np.sin, (np.zeros(0),), (np.zeros(0),))[1].shape == (0,)


def test_linearize_runs_the_function_once() -> None:
    runs: list[int] = []

    def function(x: Any) -> Any:
        runs.append(1)
        return np.sin(x)

    _, push = gw.linearize(function, X)
    for _ in range(3):
        close(push(V), np.cos(X) * V)
    assert len(runs) == 1


def test_linearize_and_vjp_are_transposes() -> None:
    def function(x: Any) -> Any:
        return np.tanh(np.outer(x, x)) @ x

    _, push = gw.linearize(function, X)
    _, pull = gw.vjp(function, X)
    close(np.sum(V * push(X)), np.sum(pull(V)[0] * X))


def test_array_api_strict_arrays_have_tangents() -> None:
    x, v = strict.asarray(X), strict.asarray(V)
    for out, tangent in (
        gw.jvp(fn(lambda a: a.__array_namespace__().sin(a) * a), (x,), (v,)),
        (None, gw.linearize(fn(lambda a: a.__array_namespace__().sin(a) * a), x)[1](v)),
    ):
        assert type(tangent) is type(x)
        assert out is None or type(out) is type(x)
        close(np.asarray(tangent), V * (np.cos(X) * X + np.sin(X)))


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("primals", "tangents", "message"),
    [
        (X, (V,), r"jvp takes its primals as a tuple, .*got an ndarray. Fix: jvp\(fun, \(x,\)"),
        ((X,), V, "jvp takes its tangents as a tuple"),
        ((X,), (V, V), "jvp got 1 primals and 2 tangents. Fix: pass a tangent for each primal"),
        ((X,), ([V],), "the tangent of x has the structure .* the primal has a lone array"),
        (([X],), (V,), "the tangent of x has the structure a lone array, the primal has"),
        (({"w": [X]},), ({"v": [V]},), "the tangent of x has the structure"),
        ((X,), (V[:2],), r"the tangent of x is float64\[2\], the primal is float64\[3\]"),
        (({"w": [X]},), ({"w": [V[:2]]},), r"the tangent of x\['w'\]\[0\] is float64\[2\]"),
        ((X,), (V.astype(np.float32),), r"is float32\[3\], the primal is float64\[3\]"),
        ((X,), (np.ones(3, int),), r"the tangent of x is int64\[3\], the primal is float64"),
        ((X,), (V + 0j,), r"the tangent of x is complex128\[3\], the primal is float64"),
        ((X,), (1.0,), "the tangent of x is a float. Fix: pass an array of the primal's shape"),
        ((X,), ("v",), "the tangent of x is a str"),
        ((1.0,), (1j,), "the tangent of x is complex"),
        ((X,), (strict.asarray(V),), "is an array of array_api_strict, the primal is one of numpy"),
    ],
)
def test_tangent_outside_the_space_of_its_primal_is_an_error(
    primals: Any, tangents: Any, message: str
) -> None:
    def function(x: Any) -> Any:
        return x

    with pytest.raises(error, match=message):
        gw.jvp(function, primals, tangents)
    if isinstance(primals, tuple) and isinstance(tangents, tuple):
        _, push = gw.linearize(function, *primals)
        with pytest.raises(
            error,
            match=message.replace("jvp got 1 primals and 2", "jvp_fun got 2").split(
                ". Fix: pass a tangent"
            )[0],
        ):
            push(*tangents)


def test_integer_primal_with_a_tangent_is_an_error() -> None:
    with pytest.raises(gw.errors.NonDifferentiableInputError, match="argument n has dtype int64"):
        gw.jvp(fn(lambda x, n: x[n]), (X, np.array([1])), (V, np.array([1.0])))
    with pytest.raises(gw.errors.NonDifferentiableInputError, match="argument n has dtype int64"):
        gw.linearize(fn(lambda x, n: x[n]), X, np.array([1]))


def test_function_without_a_pair_is_an_error_under_has_aux() -> None:
    with pytest.raises(gw.errors.NotAnArrayError, match="has_aux=True needs a function that"):
        gw.jvp(fn(lambda x: x), (X,), (V,), has_aux=True)
