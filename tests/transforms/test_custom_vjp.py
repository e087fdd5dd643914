"""`custom_vjp`: JAX's form, in every composition, and what it refuses."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import ArgnumsError, NoRuleError, RuleResultError, TrackedValueError
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

    Static = Callable[[Callable[..., Any]], gw.custom_vjp[..., Any]]

X = np.array([0.3, 1.2, 2.0])
Y = np.array([1.5, 0.5, -0.7])
V = np.array([1.0, -0.5, 0.25])

FIRST_AND_THIRD_STATIC: Static = functools.partial(gw.custom_vjp, nondiff_argnums=(0, 2))
SECOND_STATIC: Static = functools.partial(gw.custom_vjp, nondiff_argnums=(1,))


def gradient_of(leaf: Any) -> Any:
    return gw.unwrap(leaf.grad)


class Pair(NamedTuple):
    first: Any
    second: Any


def make_product() -> Any:
    """sin(x) * y, with a rule that is right."""

    @gw.custom_vjp
    def product(x: Any, y: Any) -> Any:
        return np.sin(x) * y

    def forward(x: Any, y: Any) -> Any:
        return product(x, y), (np.cos(x), np.sin(x), y)

    def backward(residuals: Any, g: Any) -> Any:
        cos_x, sin_x, y = residuals
        return cos_x * g * y, sin_x * g

    product.defvjp(forward, backward)
    return product


def make_marked(factor: float = 10.0) -> Any:
    """The identity, whose cotangent is multiplied: it shows where the rule was used."""

    @gw.custom_vjp
    def marked(x: Any) -> Any:
        return x * 1.0

    marked.defvjp(lambda x: (marked(x), None), lambda _, g: (factor * g,))
    return marked


# The rule is used ---------------------------------------------------------------------------------


def test_outside_of_a_transform_the_function_itself_is_called() -> None:
    seen: list[str] = []

    @gw.custom_vjp
    def fun(x: Any) -> Any:
        seen.append("fun")
        return 2 * x

    def forward(x: Any) -> Any:
        seen.append("forward")
        return 2 * x, None

    fun.defvjp(forward, lambda _, g: (2 * g,))
    np.testing.assert_array_equal(fun(X), 2 * X)
    fun(gw.wrap(X))
    gw.grad(lambda x: x * np.sum(fun(X)))(1.0)
    assert seen == ["fun", "fun", "fun"]
    gw.grad(lambda x: np.sum(fun(x)))(X)
    assert seen[3:] == ["forward"]


def test_reverse_mode_calls_forward_and_backward_on_native_arrays() -> None:
    seen: list[Any] = []

    @gw.custom_vjp
    def fun(x: Any) -> Any:
        return 2 * x

    def forward(x: Any) -> Any:
        seen.append(type(x))
        return 2 * x, x

    def backward(x: Any, g: Any) -> Any:
        seen.extend([type(x), type(g)])
        return (7 * g,)

    fun.defvjp(forward, backward)
    np.testing.assert_array_equal(gw.grad(lambda x: np.sum(fun(x)))(X), np.full(3, 7.0))
    assert seen == [np.ndarray] * 3


def test_gradients_of_several_arguments() -> None:
    product = make_product()
    value, found = gw.value_and_grad(lambda x, y: np.sum(product(x, y)), (0, 1))(X, Y)
    assert value == np.sum(np.sin(X) * Y)
    np.testing.assert_allclose(found[0], np.cos(X) * Y)
    np.testing.assert_allclose(found[1], np.sin(X))
    one = gw.grad(lambda y: np.sum(product(X, y)))(Y)
    np.testing.assert_allclose(one, np.sin(X))


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


def test_no_grad_records_nothing() -> None:
    x: Any = gw.wrap(X, requires_grad=True)
    with gw.no_grad():
        assert not make_product()(x, Y).requires_grad


def test_dtype_shape_and_library_are_kept() -> None:
    marked = make_marked()
    single = gw.grad(lambda x: np.sum(marked(x)))(X.astype(np.float32))
    assert single.dtype == np.float32

    @gw.custom_vjp
    def cube(x: Any) -> Any:
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, g: (3 * x**2 * g,))
    x = strict.asarray([1.0, 2.0], device=strict.Device("device1"))
    gradient: Any = gw.grad(lambda x: x.__array_namespace__().sum(cube(x)))(x)
    assert type(gradient) is type(x)
    assert gradient.device == x.device
    assert [float(part) for part in gradient] == [3.0, 12.0]
    assert gw.grad(cube)(2.0) == 12.0
    assert gw.grad(gw.grad(cube))(2.0) == 12.0


def test_cotangents_of_another_precision_are_brought_in_line() -> None:
    @gw.custom_vjp
    def double(x: Any) -> Any:
        return 2 * x

    double.defvjp(lambda x: (2 * x, None), lambda _, g: (g * np.full(3, 2.0),))
    gradient = gw.grad(lambda x: np.sum(double(x)))(X.astype(np.float32))
    assert gradient.dtype == np.float32


def test_complex_cotangents_are_those_of_vjp() -> None:
    @gw.custom_vjp
    def square(z: Any) -> Any:
        return z * z

    square.defvjp(lambda z: (z * z, z), lambda z, g: (2 * np.conj(z) * g,))
    z = X + 0.5j * Y
    for fun in (square, fn(lambda z: z * z)):
        np.testing.assert_allclose(gw.vjp(fun, z)[1](z)[0], 2 * np.conj(z) * z)
        np.testing.assert_allclose(gw.jvp(fun, (z,), (V * 1j,))[1], 2 * z * V * 1j)


# Pytrees, None, static arguments ------------------------------------------------------------------


def test_pytrees_in_and_out_and_as_residuals() -> None:
    @gw.custom_vjp
    def layer(params: Any, x: Any) -> Any:
        return {"out": params["w"] * x + params["b"][0], "pair": Pair(x, 2 * x)}

    def forward(params: Any, x: Any) -> Any:
        return layer(params, x), {"w": params["w"], "more": [x, None, "name"]}

    def backward(residuals: Any, g: Any) -> Any:
        assert isinstance(g["pair"], Pair)
        x, nothing, name = residuals["more"]
        assert nothing is None
        assert name == "name"
        to_x = residuals["w"] * g["out"] + g["pair"].first + 2 * g["pair"].second
        return {"w": g["out"] * x, "b": [np.sum(g["out"])], "name": None}, to_x

    layer.defvjp(forward, backward)
    plain = layer.fun
    params = {"w": Y, "b": [np.array(0.5)], "name": "dense"}

    def loss(function: Any) -> Any:
        def run(params: Any, x: Any) -> Any:
            out = function(params, x)
            return np.sum(out["out"] ** 2) + np.sum(out["pair"].second * x)

        return run

    found = gw.grad(loss(layer), (0, 1))(params, X)
    wanted = gw.grad(loss(plain), (0, 1))(params, X)
    np.testing.assert_allclose(found[0]["w"], wanted[0]["w"])
    np.testing.assert_allclose(found[0]["b"][0], wanted[0]["b"][0])
    assert found[0]["name"] is None
    np.testing.assert_allclose(found[1], wanted[1])


def test_none_is_zero_for_an_argument_and_for_a_part() -> None:
    @gw.custom_vjp
    def fun(p: Any, x: Any) -> Any:
        return p["a"] * x + p["b"][0] + p["b"][1]

    fun.defvjp(
        lambda p, x: (fun(p, x), p["a"]),
        lambda a, g: ({"a": None, "b": None}, a * g),
    )
    p = {"a": X, "b": (X, X)}
    gradient, to_x = gw.grad(lambda p, x: np.sum(fun(p, x)), (0, 1))(p, Y)
    np.testing.assert_array_equal(gradient["a"], np.zeros(3))
    np.testing.assert_array_equal(gradient["b"][1], np.zeros(3))
    np.testing.assert_array_equal(to_x, X)
    fun.defvjp(lambda p, x: (fun(p, x), None), lambda _, g: (None, g))
    gradient = gw.grad(lambda p: np.sum(fun(p, Y)))(p)
    np.testing.assert_array_equal(gradient["b"][0], np.zeros(3))


def test_integer_arguments_and_outputs() -> None:
    @gw.custom_vjp
    def taken(x: Any, index: Any) -> Any:
        return x[index], np.argmax(x)

    def backward(residuals: Any, g: Any) -> Any:
        assert g[1] is None
        index, size = residuals
        out = np.zeros(size)
        out[index] = g[0]
        return out, None

    taken.defvjp(lambda x, i: (taken(x, i), (i, x.shape[0])), backward)
    index = np.array([2, 0])
    gradient = gw.grad(fn(lambda x, i: np.sum(taken(x, i)[0] * Y[:2])))(X, index)
    np.testing.assert_array_equal(gradient, [Y[1], 0.0, Y[0]])


def test_nondiff_arguments_come_first_in_backward() -> None:
    @FIRST_AND_THIRD_STATIC
    def applied(function: Any, x: Any, power: int = 2) -> Any:
        return function(x) ** power

    def forward(function: Any, x: Any, power: int) -> Any:
        return applied(function, x, power), x

    def backward(function: Any, power: int, x: Any, g: Any) -> Any:
        assert function is np.sin
        return (g * power * np.sin(x) ** (power - 1) * np.cos(x),)

    applied.defvjp(forward, backward)
    gradient = gw.grad(lambda x: np.sum(applied(np.sin, x)))(X)
    np.testing.assert_allclose(gradient, 2 * np.sin(X) * np.cos(X))
    by_name = gw.grad(lambda x: np.sum(applied(x=x, power=3, function=np.sin)))(X)
    np.testing.assert_allclose(by_name, 3 * np.sin(X) ** 2 * np.cos(X))
    assert gw.grad(lambda x: applied(np.sin, x, 1))(0.5) == pytest.approx(np.cos(0.5))


def test_keyword_arguments_are_bound_to_positions() -> None:
    product = make_product()
    gradient = gw.grad(lambda x: np.sum(product(y=Y, x=x)))(X)
    np.testing.assert_allclose(gradient, np.cos(X) * Y)


def test_as_a_method() -> None:
    class Model:
        factor = 3.0

        @gw.custom_vjp
        def apply(self, x: Any) -> Any:
            return self.factor * x

    Model.apply.defvjp(
        lambda self, x: (self.factor * x, self), lambda self, g: (None, 10 * self.factor * g)
    )
    assert gw.grad(lambda x: Model().apply(x))(2.0) == 30.0


def test_name_docstring_and_signature_are_kept() -> None:
    @gw.custom_vjp
    def documented(x: Any) -> Any:
        """Twice."""
        return 2 * x

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Twice."
    assert documented.__wrapped__ is documented.fun
    assert repr(documented) == "<custom_vjp documented>"


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


def test_nested_gradients_go_through_backward() -> None:
    """The third derivative is that of what bwd computes, not of the function."""

    @gw.custom_vjp
    def fun(x: Any) -> Any:
        return x**4

    fun.defvjp(lambda x: (fun(x), x), lambda x, g: (g * np.sin(x),))
    assert gw.grad(fun)(0.7) == pytest.approx(np.sin(0.7))
    assert gw.grad(gw.grad(fun))(0.7) == pytest.approx(np.cos(0.7))
    assert gw.grad(gw.grad(gw.grad(fun)))(0.7) == pytest.approx(-np.sin(0.7))


def test_a_rule_is_used_at_the_level_it_is_asked_for() -> None:
    """JAX's meaning: forward and backward are what outer transforms differentiate."""

    @gw.custom_vjp
    def clipped(x: Any) -> Any:
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
    assert gw.grad(lambda x: clipped(x) ** 2)(3.0) == 1.0
    # d/dx clip(2x): the clip is inactive at 0.2
    assert gw.grad(gw.grad(lambda x: clipped(x) ** 2))(0.2) == 2.0
    assert gw.grad(gw.grad(lambda x: clipped(x) ** 2))(3.0) == 0.0


def test_forward_mode_is_backward_transposed() -> None:
    product = make_product()
    out, tangent = gw.jvp(product, (X, Y), (V, 2 * V))
    np.testing.assert_array_equal(out, np.sin(X) * Y)
    np.testing.assert_allclose(tangent, np.cos(X) * V * Y + np.sin(X) * 2 * V)
    assert gw.jvp(make_marked(), (1.0,), (2.0,))[1] == 20.0
    _, push = gw.linearize(make_marked(), X)
    np.testing.assert_array_equal(push(V), 10 * V)


def test_backward_may_call_vjp() -> None:
    def plain(x: Any) -> Any:
        return np.sum(np.exp(x) * x)

    @gw.custom_vjp
    def recomputed(x: Any) -> Any:
        return plain(x)

    recomputed.defvjp(lambda x: (plain(x), x), lambda x, g: gw.vjp(plain, x)[1](g))
    np.testing.assert_allclose(gw.grad(recomputed)(X), gw.grad(plain)(X))
    hessian = gw.jvp(gw.grad(recomputed), (X,), (V,))[1]
    np.testing.assert_allclose(hessian, gw.jvp(gw.grad(plain), (X,), (V,))[1])


def test_closures_over_values_of_outer_transforms() -> None:
    def outer(w: Any) -> Any:
        @gw.custom_vjp
        def scaled(x: Any) -> Any:
            return w * x

        scaled.defvjp(lambda x: (w * x, None), lambda _, g: (w * g,))
        return gw.grad(lambda x: scaled(x) ** 2)(3.0)

    # the inner gradient is 2 w^2 x
    assert outer(2.0) == 24.0
    assert gw.grad(outer)(2.0) == 24.0
    assert gw.jvp(outer, (2.0,), (1.0,))[1] == 24.0


def test_a_rule_inside_a_rule() -> None:
    marked = make_marked(10.0)

    @gw.custom_vjp
    def outer(x: Any) -> Any:
        return marked(x)

    outer.defvjp(lambda x: (marked(x), x), lambda x, g: gw.vjp(marked, x)[1](2 * g))
    assert gw.grad(outer)(1.0) == 20.0


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_under_vmap_inside_and_outside(kind: str) -> None:
    """The rule is deliberately not the derivative, so that it shows where it is used."""

    def plain(x: Any, w: Any) -> Any:
        return np.sum(np.sin(x) * w)

    fun: Any
    if kind == "vjp":
        fun = gw.custom_vjp(plain)
        fun.defvjp(
            fn(lambda x, w: (plain(x, w), (x, w))),
            fn(lambda r, g: (3 * g * np.cos(r[0]) * r[1], g * np.sin(r[0]))),
        )
    else:
        fun = gw.custom_jvp(plain)
        fun.defjvp(
            fn(
                lambda p, t: (
                    plain(*p),
                    np.sum(3 * np.cos(p[0]) * p[1] * t[0]) + np.sum(np.sin(p[0]) * t[1]),
                )
            )
        )
    xs = np.stack([X, Y, V, 2 * X])
    w = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(gw.vmap(fun, (0, None))(xs, w), np.sin(xs) @ w)
    inside = gw.vmap(gw.grad(fun, (0, 1)), (0, None))(xs, w)
    np.testing.assert_allclose(inside[0], 3 * np.cos(xs) * w)
    np.testing.assert_allclose(inside[1], np.sin(xs))
    scale = np.array([1.0, -1.0, 0.5, 2.0])
    total = fn(lambda xs, w: np.sum(gw.vmap(fun, (0, None))(xs, w) * scale))
    outside = gw.grad(total, (0, 1))(xs, w)
    np.testing.assert_allclose(outside[0], 3 * np.cos(xs) * w * scale[:, None])
    np.testing.assert_allclose(outside[1], scale @ np.sin(xs))
    pushed = gw.jvp(total, (xs, w), (xs, w))[1]
    assert pushed == pytest.approx(np.sum(outside[0] * xs) + outside[1] @ w)
    hessian = gw.grad(lambda w: np.sum(gw.grad(total)(xs, w)))(w)
    np.testing.assert_allclose(hessian, 3 * scale @ np.cos(xs))


def test_inputs_and_outputs_may_be_one_buffer_and_written_later() -> None:
    @gw.custom_vjp
    def same(x: Any) -> Any:
        return x

    same.defvjp(lambda x: (x, x), lambda x, g: (g * x,))

    def fun(x: Any) -> Any:
        y = same(x)
        y[0] = 0.0
        return np.sum(y)

    data = X.copy()
    np.testing.assert_allclose(gw.grad(fun)(data), [0.0, X[1], X[2]])
    np.testing.assert_array_equal(data, X)


def test_memory_is_released_with_the_graph() -> None:
    import weakref

    class Held:
        pass

    kept: list[Any] = []

    @gw.custom_vjp
    def fun(x: Any) -> Any:
        return x * 1

    def forward(x: Any) -> Any:
        held = Held()
        kept.append(weakref.ref(held))
        return x * 1, held

    fun.defvjp(forward, lambda _, g: (g,))
    gw.grad(lambda x: np.sum(fun(x)))(X)
    assert kept[0]() is None


# What is refused ----------------------------------------------------------------------------------


def with_backward(returned: Any) -> Any:
    @gw.custom_vjp
    def fun(x: Any, p: Any) -> Any:
        return np.sum(x) + np.sum(p["w"])

    fun.defvjp(lambda x, p: (fun(x, p), None), lambda _, g: returned)
    return fun


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            X,
            (
                "an array of numpy; fun has 2 differentiable arguments (x, p). Fix: return a tuple "
                "with a cotangent for each, None where it is zero."
            ),
        ),
        (
            (X,),
            (
                "a tuple of 1; fun has 2 differentiable arguments (x, p). Fix: return a tuple "
                "with a cotangent for each, None where it is zero."
            ),
        ),
        (
            (X, X),
            (
                "for p the structure a lone array; the argument has {'w': *}. "
                "Fix: return that structure, None where all of it is zero."
            ),
        ),
        (
            (X, {"w": X, "b": X}),
            (
                "for p the structure {'b': *, 'w': *}; the argument has {'w': *}. "
                "Fix: return that structure, None where all of it is zero."
            ),
        ),
        (
            (np.ones(4), None),
            (
                "for x an array of shape (4,); the argument has shape (3,). "
                "Fix: return that shape; sum over the axes that were broadcast."
            ),
        ),
        (
            (None, {"w": np.ones(())}),
            (
                "for p['w'] an array of shape (); the argument has shape (3,). "
                "Fix: return that shape; sum over the axes that were broadcast."
            ),
        ),
        (
            (X * 1j, None),
            (
                "for x an array of dtype complex128; the argument has float64. "
                "Fix: return that, for example with xp.real(...)."
            ),
        ),
        (
            (np.ones(3, dtype=np.int64), None),
            (
                "for x an array of dtype int64; the argument has float64. "
                "Fix: return that, for example with xp.astype(..., xp.float64)."
            ),
        ),
        (
            ("a", None),
            (
                "for x a str; the argument is an array of numpy, float64[3]. "
                "Fix: return an array of that shape and dtype, or None for zero."
            ),
        ),
        (
            (strict.ones(3), None),
            (
                "for x an array of array_api_strict; the argument is an array of numpy, "
                "float64[3]. Fix: return an array of that shape and dtype, or None for zero."
            ),
        ),
    ],
)
def test_what_backward_returns_is_checked(returned: Any, message: str) -> None:
    fun = with_backward(returned)
    for differentiated in (
        lambda: gw.grad(lambda x: fun(x, {"w": x}))(X),
        lambda: gw.jvp(lambda x: fun(x, {"w": x}), (X,), (X,)),
        lambda: gw.grad(lambda x: np.sum(gw.grad(lambda y: fun(y, {"w": y}))(x)))(X),
    ):
        with pytest.raises(RuleResultError) as caught:
            differentiated()
        assert str(caught.value) == f"the bwd of fun returned {message}"


def test_forward_has_to_return_a_pair() -> None:
    @gw.custom_vjp
    def fun(x: Any) -> Any:
        return x

    fun.defvjp(lambda x: x, lambda _, g: (g,))
    with pytest.raises(RuleResultError) as caught:
        gw.grad(fun)(1.0)
    assert str(caught.value) == (
        "the fwd of fun returned an array of numpy. "
        "Fix: return a pair, the value and the residuals that bwd is to be given."
    )


def test_without_a_rule() -> None:
    @gw.custom_vjp
    def fun(x: Any) -> Any:
        return 2 * x

    assert fun(1.0) == 2.0
    for differentiated in (lambda: gw.grad(fun)(1.0), lambda: gw.jvp(fun, (1.0,), (1.0,))):
        with pytest.raises(NoRuleError) as caught:
            differentiated()
        assert str(caught.value) == (
            "fun is a custom_vjp function without a rule. "
            "Fix: fun.defvjp(fwd, bwd) before it is differentiated."
        )


def test_a_tracked_nondiff_argument() -> None:
    @SECOND_STATIC
    def fun(x: Any, options: Any) -> Any:
        return x * options["scale"]

    fun.defvjp(
        lambda x, options: (fun(x, options), None), lambda options, _, g: (g * options["scale"],)
    )
    assert gw.grad(lambda x: fun(x, {"scale": 2.0}))(1.0) == 2.0
    constant = gw.grad(fn(lambda x, s: fun(x, {"scale": s})))(1.0, np.array(3.0))
    assert constant == 3.0
    with pytest.raises(TrackedValueError) as caught:
        gw.grad(lambda s: fun(1.0, {"scale": s}))(2.0)
    assert str(caught.value) == (
        "the argument options of fun is tracked, and it is among nondiff_argnums. Fix: take it "
        "out of nondiff_argnums and give None as its cotangent; nondiff_argnums is for arguments "
        "that are not arrays."
    )


def test_a_closure_whose_gradient_would_be_lost() -> None:
    def loss(w: Any, x: Any) -> Any:
        @gw.custom_vjp
        def scaled(x: Any) -> Any:
            return w * x

        scaled.defvjp(lambda x: (w * x, None), lambda _, g: (w * g,))
        return scaled(x)

    with pytest.raises(TrackedValueError) as caught:
        gw.grad(loss, (0, 1))(2.0, 3.0)
    assert str(caught.value) == (
        "the fwd of scaled uses a tracked array that is not among the arguments: its gradient "
        "would be lost. Fix: pass it as an argument, or .detach() it."
    )

    def in_backward(w: Any, x: Any) -> Any:
        @gw.custom_vjp
        def same(x: Any) -> Any:
            return x * 1

        same.defvjp(lambda x: (x * 1, None), lambda _, g: (w * g,))
        return same(x) + w

    with pytest.raises(TrackedValueError, match=r"the bwd of same uses a tracked array"):
        gw.grad(in_backward, (0, 1))(2.0, 3.0)


def test_bad_definitions() -> None:
    @gw.custom_vjp
    def fun(x: Any) -> Any:
        return x

    with pytest.raises(TypeError, match=r"fun\.defvjp takes two functions, fwd and bwd"):
        fun.defvjp(lambda x: (x, None), None)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ArgnumsError, match=r"nondiff_argnums='x'\. Fix: give positions"):
        gw.custom_vjp(fun, nondiff_argnums="x")  # type: ignore[arg-type]  # on purpose
    beyond = gw.custom_vjp(fn(lambda x: x), nondiff_argnums=(3,))
    beyond.defvjp(lambda x: (x, None), lambda _, g: (g,))
    with pytest.raises(ArgnumsError, match=r"3 is out of range for a call with 1 argument"):
        gw.grad(beyond)(1.0)

    @gw.custom_vjp
    def named(x: Any, *, scale: float = 1.0) -> Any:
        return x * scale

    named.defvjp(lambda x, *, scale=1.0: (x, None), lambda _, g: (g,))
    with pytest.raises(TypeError, match=r"named has keyword-only parameters \(scale\)"):
        gw.grad(named)(1.0)


# Against JAX --------------------------------------------------------------------------------------


@pytest.mark.peers
def test_the_same_source_in_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def program(lib: Any, np_: Any, x: Any) -> Any:
        def plain(scale: float, p: Any, x: Any) -> Any:
            return {"y": scale * np_.sin(p["w"] * x), "z": x}

        applied: Any = lib.custom_vjp(plain, nondiff_argnums=(0,))

        def forward(scale: float, p: Any, x: Any) -> Any:
            return applied(scale, p, x), (p, x)

        def backward(scale: float, residuals: Any, g: Any) -> Any:
            p, x = residuals
            common = scale * np_.cos(p["w"] * x) * g["y"]
            # deliberately not the derivative: 3 where 1 would be right
            return {"w": common * x, "b": None}, 3 * common * p["w"] + g["z"]

        applied.defvjp(forward, backward)

        def loss(x: Any) -> Any:
            out = applied(2.0, {"w": x * x, "b": x}, np_.exp(x))
            return np_.sum(out["y"] * out["z"])

        first = lib.grad(loss)
        second = lib.grad(fn(lambda x: np_.sum(first(x) ** 2)))
        return [loss(x), first(x), second(x), lib.jvp(fn(lambda x: x), (x,), (x,))[1]]

    found = program(gw, np, X)
    wanted = program(jax, jax.numpy, X)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-12)


# Containers that gradwrap does not look into ------------------------------------------------------


class Listed(list[Any]):
    pass


class Couple(tuple[Any, ...]):
    __slots__ = ()


class Table(dict[Any, Any]):
    pass


class Holder:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __getitem__(self, index: int) -> Any:
        return self.values * (index + 1.0)


class Slotted:
    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values = values

    def __getitem__(self, index: int) -> Any:
        return self.values * (index + 1.0)


def product(p: Any) -> Any:
    return p[0] * p[1]


def with_rules() -> dict[str, Any]:
    by_vjp = gw.custom_vjp(product)
    by_vjp.defvjp(lambda p: (product(p), None), lambda _, g: ([g * 10.0, g * 10.0],))
    by_jvp = gw.custom_jvp(product)
    by_jvp.defjvp(fn(lambda p, t: (product(*p), 100.0 * t[0][0])))

    class ByFunction(gw.Function):
        @staticmethod
        def forward(_: Any, p: Any) -> Any:
            return product(p)

        @staticmethod
        def backward(_: Any, g: Any) -> Any:
            return g

    return {"custom_vjp": by_vjp, "custom_jvp": by_jvp, "Function": ByFunction.apply}


@pytest.mark.parametrize("rule", ["custom_vjp", "custom_jvp", "Function"])
@pytest.mark.parametrize(
    "container",
    [
        fn(lambda x: Listed([x, x])),
        fn(lambda x: Couple([x, x])),
        fn(lambda x: Table({0: x, 1: x})),
        Holder,
        fn(lambda x: Holder({1: [x]})),
        Slotted,
        fn(lambda x: [1.0, Listed([x, x])]),
    ],
    ids=["list", "tuple", "dict", "object", "object of a list", "slots", "nested"],
)
def test_a_tracked_value_in_another_container_is_refused(rule: str, container: Any) -> None:
    f = with_rules()[rule]
    for transform in (gw.grad, fn(lambda g: fn(lambda x: gw.jvp(g, (x,), (x,)))), gw.hessian):
        with pytest.raises(gw.errors.TrackedValueError, match="Fix: pass the array"):
            transform(fn(lambda x: f(container(x))))(np.float64(2.0))


@pytest.mark.parametrize("rule", ["custom_vjp", "custom_jvp"])
def test_plain_values_in_another_container_are_passed_on(rule: str) -> None:
    f = with_rules()[rule]
    for given in (Listed([2.0, 3.0]), Couple([2.0, 3.0]), Table({0: 2.0, 1: 3.0}), Holder(3.0)):

        def scaled(x: Any, given: Any = given) -> Any:
            return x * f(given)

        assert gw.grad(scaled)(2.0) == product(given)


def test_containers_that_are_known_follow_the_rule() -> None:
    f = with_rules()["custom_vjp"]
    assert gw.grad(lambda x: f([x, x]))(2.0) == 20.0


@pytest.mark.parametrize(
    "of", [fn(lambda a: np.linalg.svd(a)[1]), fn(lambda a: np.linalg.eigh(a)[0])]
)
def test_forward_mode_takes_an_output_of_several(of: Callable[[Any], Any]) -> None:
    square: Any = gw.custom_vjp(fn(lambda x: x**2))
    square.defvjp(fn(lambda x: (x**2, x)), fn(lambda x, g: (2 * x * g,)))
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    values, tangents = gw.jvp(lambda a: square(of(a)), (matrix,), (matrix,))
    np.testing.assert_allclose(tangents, 2 * values, rtol=1e-13)  # each is of degree two
