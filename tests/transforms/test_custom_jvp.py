"""`custom_jvp`: JAX's two forms, in every composition, and what it refuses."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError, RuleDefinitionError, RuleResultError, TrackedValueError
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.3, 1.2, 2.0])
Y = np.array([1.5, 0.5, -0.7])
V = np.array([1.0, -0.5, 0.25])

FIRST_STATIC: Callable[[Callable[..., Any]], gw.custom_jvp[..., Any]] = functools.partial(
    gw.custom_jvp, nondiff_argnums=(0,)
)


def gradient_of(leaf: Any) -> Any:
    return gw.unwrap(leaf.grad)


def make_product() -> Any:
    """sin(x) * y, with a rule that is right."""

    @gw.custom_jvp
    def product(x: Any, y: Any) -> Any:
        return np.sin(x) * y

    @product.defjvp
    def product_jvp(primals: Any, tangents: Any) -> Any:
        x, y = primals
        x_dot, y_dot = tangents
        return product(x, y), np.cos(x) * x_dot * y + np.sin(x) * y_dot

    assert product_jvp.__name__ == "product_jvp"
    return product


def make_marked(factor: float = 10.0) -> Any:
    @gw.custom_jvp
    def marked(x: Any) -> Any:
        return x * 1.0

    marked.defjvps(lambda t, out, x: factor * t)
    return marked


# The rule is used ---------------------------------------------------------------------------------


def test_outside_of_a_transform_the_function_itself_is_called() -> None:
    @gw.custom_jvp
    def fun(x: Any) -> Any:
        return 2 * x

    np.testing.assert_array_equal(fun(X), 2 * X)  # it has no rule
    np.testing.assert_array_equal(gw.unwrap(fun(gw.wrap(X))), 2 * X)


def test_forward_mode_calls_the_rule_on_native_arrays() -> None:
    seen: list[type] = []

    @gw.custom_jvp
    def fun(x: Any, y: Any) -> Any:
        return x * y

    @fun.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        seen.extend(map(type, (*primals, *tangents)))
        return primals[0] * primals[1], 10 * tangents[0] + 100 * tangents[1]

    out, tangent = gw.jvp(lambda x: fun(x, Y), (X,), (V,))
    np.testing.assert_array_equal(out, X * Y)
    np.testing.assert_array_equal(tangent, 10 * V)
    assert seen == [np.ndarray] * 4
    pushed = gw.jvp(fun, (X, Y), (V, V))[1]
    np.testing.assert_array_equal(pushed, 110 * V)


def test_reverse_mode_is_the_rule_transposed() -> None:
    product = make_product()
    value, found = gw.value_and_grad(lambda x, y: np.sum(product(x, y) * V), (0, 1))(X, Y)
    assert value == np.sum(np.sin(X) * Y * V)
    np.testing.assert_allclose(found[0], np.cos(X) * Y * V)
    np.testing.assert_allclose(found[1], np.sin(X) * V)
    assert gw.grad(make_marked())(1.0) == 10.0
    _, push = gw.linearize(make_marked(), X)
    np.testing.assert_array_equal(push(V), 10 * V)


def test_the_pull_may_be_called_again() -> None:
    pull: Any = gw.vjp(make_product(), X, Y)[1]
    for cotangent in (V, 2 * V):
        np.testing.assert_allclose(pull(cotangent)[1], np.sin(X) * cotangent)


def test_on_the_tape_to_higher_order() -> None:
    product = make_product()
    x: Any = gw.wrap(X.copy(), requires_grad=True)
    y: Any = gw.wrap(Y.copy(), requires_grad=True)
    np.sum(product(x, y)).backward(create_graph=True)
    first = x.grad
    np.testing.assert_allclose(gw.unwrap(first), np.cos(X) * Y)
    x.grad = y.grad = None
    np.sum(first).backward()
    np.testing.assert_allclose(gradient_of(x), -np.sin(X) * Y)
    np.testing.assert_allclose(gradient_of(y), np.cos(X))


def test_a_rule_for_each_argument() -> None:
    @gw.custom_jvp
    def fun(x: Any, y: Any, z: Any) -> Any:
        return np.exp(x) * y + z

    fun.defjvps(lambda t, out, x, y, z: (out - z) * t, lambda t, out, x, y, z: np.exp(x) * t, None)
    args = (X, Y, V)
    np.testing.assert_allclose(gw.jvp(fun, args, args)[1], np.exp(X) * (Y * X + Y))

    def total(*a: Any) -> Any:
        return np.sum(fun(*a))

    found = gw.grad(total, (0, 1, 2))(*args)
    np.testing.assert_allclose(found[0], np.exp(X) * Y)
    np.testing.assert_allclose(found[1], np.exp(X))
    np.testing.assert_array_equal(found[2], np.zeros(3))


def test_dtype_and_library_are_kept() -> None:
    single = X.astype(np.float32)
    assert gw.jvp(make_marked(), (single,), (single,))[1].dtype == np.float32
    assert gw.grad(lambda x: np.sum(make_marked()(x)))(single).dtype == np.float32
    x = strict.asarray([1.0, 2.0], device=strict.Device("device1"))
    gradient: Any = gw.grad(lambda x: x.__array_namespace__().sum(make_marked()(x)))(x)
    assert gradient.device == x.device
    assert [float(part) for part in gradient] == [10.0, 10.0]


def test_primals_and_tangents_share_a_namespace() -> None:
    from array_api_compat import array_namespace

    @gw.custom_jvp
    def fun(x: Any) -> Any:
        return array_namespace(x).sin(x)

    @fun.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        xp = array_namespace(*primals, *tangents)
        return fun(*primals), xp.multiply(xp.cos(primals[0]), tangents[0])

    total = fn(lambda x: array_namespace(x).sum(fun(x)))
    slopes = fn(lambda x: array_namespace(x).sum(gw.grad(total)(x)))
    for make in (np.asarray, strict.asarray):
        x = make([0.3, 1.2])
        first = gw.grad(total)(x)
        second = gw.grad(slopes)(x)
        np.testing.assert_allclose([float(v) for v in first], np.cos([0.3, 1.2]))
        np.testing.assert_allclose([float(v) for v in second], -np.sin([0.3, 1.2]))


def test_complex_tangents() -> None:
    @gw.custom_jvp
    def square(z: Any) -> Any:
        return z * z

    square.defjvps(lambda t, out, z: 2 * z * t)
    z = X + 0.5j * Y
    np.testing.assert_allclose(gw.jvp(square, (z,), (V * 1j,))[1], 2 * z * V * 1j)
    np.testing.assert_allclose(gw.vjp(square, z)[1](z)[0], 2 * np.conj(z) * z)


# Pytrees, static arguments ------------------------------------------------------------------------


def test_pytrees_in_and_out() -> None:
    @gw.custom_jvp
    def layer(p: Any, x: Any) -> Any:
        return {"out": p["w"] * x, "same": (x, p["name"], 3)}

    @layer.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        p, x = primals
        p_dot, x_dot = tangents
        assert p_dot["name"] is None
        assert p["name"] == "dense"
        out = p_dot["w"] * x + p["w"] * x_dot
        return layer(p, x), {"out": out, "same": (x_dot, None, None)}

    p = {"w": Y, "name": "dense"}
    value = gw.jvp(lambda x: layer(p, x), (X,), (V,))
    np.testing.assert_allclose(value[1]["out"], Y * V)
    assert value[0]["same"][1:] == ("dense", 3)
    loss = fn(lambda p, x: np.sum(layer(p, x)["out"] * layer(p, x)["same"][0]))
    to_p, to_x = gw.grad(loss, (0, 1))(p, X)
    np.testing.assert_allclose(to_p["w"], X * X)
    np.testing.assert_allclose(to_x, 2 * X * Y)


def test_none_is_a_zero_tangent() -> None:
    @gw.custom_jvp
    def fun(x: Any) -> Any:
        return {"a": x * 2, "b": (x, x)}

    fun.defjvp(fn(lambda p, t: (fun(*p), {"a": 2 * t[0], "b": None})))
    pushed = gw.jvp(fun, (X,), (V,))[1]
    np.testing.assert_array_equal(pushed["a"], 2 * V)
    np.testing.assert_array_equal(pushed["b"][1], np.zeros(3))
    np.testing.assert_array_equal(gw.grad(lambda x: np.sum(fun(x)["b"][0]))(X), np.zeros(3))


def test_nondiff_arguments_come_first() -> None:
    @FIRST_STATIC
    def applied(function: Any, x: Any) -> Any:
        return function(x)

    @applied.defjvp
    def _(function: Any, primals: Any, tangents: Any) -> Any:
        assert function is np.sin
        return function(*primals), 10 * tangents[0]

    assert gw.grad(lambda x: applied(np.sin, x))(0.5) == 10.0
    with pytest.raises(TrackedValueError, match=r"the argument function of applied is tracked"):
        gw.grad(lambda s: applied(fn(lambda x: x), 1.0) * s + applied([s], 1.0))(1.0)


def test_numbers_have_zero_tangents() -> None:
    product = make_product()
    assert gw.grad(lambda x: product(x, 2))(0.5) == pytest.approx(2 * np.cos(0.5))
    assert gw.jvp(lambda x: product(x, 2.0), (0.5,), (1.0,))[1] == pytest.approx(2 * np.cos(0.5))


# Compositions -------------------------------------------------------------------------------------


def test_every_pairing_of_modes_at_second_order() -> None:
    def second(function: Any) -> list[Any]:
        total = fn(lambda x: np.sum(function(x, x * Y) ** 2))
        slope = fn(lambda x: gw.jvp(total, (x,), (V,))[1])
        return [
            gw.vjp(gw.grad(total), X)[1](V)[0],
            gw.jvp(gw.grad(total), (X,), (V,))[1],
            gw.grad(slope)(X),
            gw.jvp(slope, (X,), (V,))[1],
        ]

    product = make_product()
    for found, wanted in zip(second(product), second(product.fun), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_nested_derivatives_go_through_the_rule() -> None:
    @gw.custom_jvp
    def fun(x: Any) -> Any:
        return x**4

    def by_jvp(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: gw.jvp(f, (x,), (1.0,))[1]

    fun.defjvps(lambda t, out, x: t * np.sin(x))
    for derive in (gw.grad, by_jvp):
        assert derive(fun)(0.7) == pytest.approx(np.sin(0.7))
        assert derive(derive(fun))(0.7) == pytest.approx(np.cos(0.7))
        assert derive(derive(derive(fun)))(0.7) == pytest.approx(-np.sin(0.7))


def test_closures_over_values_of_outer_transforms() -> None:
    def outer(w: Any) -> Any:
        @gw.custom_jvp
        def scaled(x: Any) -> Any:
            return w * x

        scaled.defjvps(lambda t, out, x: w * t)
        return gw.grad(lambda x: scaled(x) ** 2)(3.0)

    assert outer(2.0) == 24.0
    assert gw.grad(outer)(2.0) == 24.0
    assert gw.jvp(outer, (2.0,), (1.0,))[1] == 24.0


def test_beside_a_custom_vjp() -> None:
    marked = make_marked(10.0)

    @gw.custom_vjp
    def other(x: Any) -> Any:
        return marked(x)

    other.defvjp(lambda x: (marked(x), x), lambda x, g: (gw.vjp(marked, x)[1](g)[0] * 2,))
    assert gw.grad(other)(1.0) == 20.0
    assert gw.jvp(other, (1.0,), (1.0,))[1] == 20.0


# What is refused ----------------------------------------------------------------------------------

LONE = "the jvp of fun returned for the tangent "


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            X,
            (
                "the jvp of fun returned an array of numpy. "
                "Fix: return a pair, the value and its tangent."
            ),
        ),
        (
            (X, (X, X)),
            LONE + "the structure (*, *); the value has a lone array. "
            "Fix: return that structure, None where all of it is zero.",
        ),
        (
            (X, np.ones(4)),
            LONE + "an array of shape (4,); the value has shape (3,). "
            "Fix: return that shape; sum over the axes that were broadcast.",
        ),
        (
            (X, X * 1j),
            LONE + "an array of dtype complex128; the value has float64. "
            "Fix: return that, for example with xp.real(...).",
        ),
        (
            (X, "a"),
            LONE + "a str; the value is an array of numpy, float64[3]. "
            "Fix: return an array of that shape and dtype, or None for zero.",
        ),
    ],
)
def test_what_the_rule_returns_is_checked(returned: Any, message: str) -> None:
    @gw.custom_jvp
    def fun(x: Any) -> Any:
        return x

    fun.defjvp(fn(lambda primals, tangents: returned))
    for differentiated in (
        lambda: gw.jvp(fun, (X,), (X,)),
        lambda: gw.grad(lambda x: np.sum(fun(x)))(X),
    ):
        with pytest.raises(RuleResultError) as caught:
            differentiated()
        assert str(caught.value) == message


def test_without_a_rule() -> None:
    @gw.custom_jvp
    def fun(x: Any) -> Any:
        return 2 * x

    with pytest.raises(NoRuleError) as caught:
        gw.grad(fun)(1.0)
    assert str(caught.value) == (
        "fun is a custom_jvp function without a rule. "
        "Fix: fun.defjvp(jvp) before it is differentiated."
    )


def test_a_closure_whose_gradient_would_be_lost() -> None:
    def loss(w: Any, x: Any) -> Any:
        @gw.custom_jvp
        def scaled(x: Any) -> Any:
            return w * x

        scaled.defjvps(lambda t, out, x: w * t)
        return scaled(x)

    for differentiated in (
        lambda: gw.grad(loss, (0, 1))(2.0, 3.0),
        lambda: gw.jvp(loss, (2.0, 3.0), (1.0, 1.0)),
    ):
        with pytest.raises(TrackedValueError, match=r"the jvp of scaled uses a tracked array"):
            differentiated()


def test_bad_definitions() -> None:
    @gw.custom_jvp
    def fun(x: Any, y: Any) -> Any:
        return x * y

    with pytest.raises(TypeError, match=r"fun\.defjvp takes a function; it got a float"):
        fun.defjvp(1.0)  # type: ignore[type-var]  # on purpose
    with pytest.raises(TypeError, match=r"fun\.defjvps takes functions; it got a float"):
        fun.defjvps(1.0)  # type: ignore[arg-type]  # on purpose
    fun.defjvps(lambda t, out, x, y: t * y)
    with pytest.raises(RuleDefinitionError, match=r"was given 1 functions for 2 arguments"):
        gw.grad(fun)(1.0, 2.0)
    static = gw.custom_jvp(fn(lambda f, x: f(x)), nondiff_argnums=0)
    with pytest.raises(RuleDefinitionError, match=r"defjvps does not go with nondiff_argnums"):
        static.defjvps(lambda t, out, x: t)


# Against JAX --------------------------------------------------------------------------------------


@pytest.mark.peers
def test_the_same_source_in_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def program(lib: Any, np_: Any, x: Any) -> Any:
        def plain(scale: float, p: Any, x: Any) -> Any:
            return {"y": scale * np_.sin(p["w"] * x), "z": x}

        applied: Any = lib.custom_jvp(plain, nondiff_argnums=(0,))

        def rule(scale: float, primals: Any, tangents: Any) -> Any:
            p, x = primals
            p_dot, x_dot = tangents
            # deliberately not the derivative: 3 where 1 would be right
            y_dot = scale * np_.cos(p["w"] * x) * (p_dot["w"] * x + 3 * p["w"] * x_dot)
            return applied(scale, p, x), {"y": y_dot, "z": x_dot}

        applied.defjvp(rule)

        each: Any = lib.custom_jvp(fn(lambda x, y: x * y))
        each.defjvps(fn(lambda t, out, x, y: t * np_.cos(y)), fn(lambda t, out, x, y: out * t))

        def loss(x: Any) -> Any:
            out = applied(2.0, {"w": x * x}, np_.exp(x))
            return np_.sum(each(out["y"], out["z"]))

        first = lib.grad(loss)
        second = lib.grad(fn(lambda x: np_.sum(first(x) ** 2)))
        pushed = [lib.jvp(function, (x,), (x,))[1] for function in (loss, first)]
        return [loss(x), first(x), second(x), *pushed]

    found = program(gw, np, X)
    wanted = program(jax, jax.numpy, X)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-12)
