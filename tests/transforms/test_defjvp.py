"""Forward rules from outside: `defjvp`, what follows from it, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest
from scipy import special

import gradwrap as gw
from gradwrap.errors import NoRuleError, RuleDefinitionError, RuleResultError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.3, 1.2, 2.0])
U = np.array([1.0, -0.5, 0.25])


def gradient_of(leaf: Any) -> Any:
    return gw.unwrap(leaf.grad)


@gw.primitive
def scaled(x: Any, y: Any, k: Any = 2) -> Any:
    """The one operation of most tests: it broadcasts, and has a static argument."""
    return k * np.sin(x) * y


gw.defjvp(
    scaled,
    lambda xp, t, x, y, k: k * t * xp.cos(x) * y,
    lambda xp, t, x, k: k * t * xp.sin(x),
)


def plain(x: Any, y: Any, k: Any = 2) -> Any:
    return k * np.sin(x) * y


def inner(left: Any, right: Any) -> float:
    return float(sum(np.sum(a * b) for a, b in zip(left, right, strict=True)))


# The two modes ------------------------------------------------------------------------------------

ARGUMENTS = [
    pytest.param(X, U, id="same shape"),
    pytest.param(X, np.array([[0.5], [2.0]]), id="broadcast"),
    pytest.param(np.array(0.7), U, id="scalar"),
]


@pytest.mark.parametrize(("x", "y"), ARGUMENTS)
def test_forward_mode_sums_what_the_formulas_return(x: Any, y: Any) -> None:
    u, w = np.ones_like(x) * 0.3, np.ones_like(y) * 0.7
    out, tangent = gw.jvp(lambda x, y: scaled(x, y, k=3), (x, y), (u, w))
    np.testing.assert_array_equal(out, plain(x, y, 3))
    np.testing.assert_allclose(tangent, 3 * (np.cos(x) * y * u + np.sin(x) * w))


@pytest.mark.parametrize(("x", "y"), ARGUMENTS)
def test_reverse_mode_is_the_transpose(x: Any, y: Any) -> None:
    out, pull = gw.vjp(scaled, x, y)
    cotangent = np.cos(np.arange(out.size, dtype=np.float64)).reshape(out.shape)
    _, wanted = gw.vjp(plain, x, y)
    for found, expected in zip(pull(cotangent), wanted(cotangent), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_every_pairing_of_modes_at_second_order() -> None:
    def total(function: Any) -> Any:
        return fn(lambda x: np.sum(function(x, x * U) ** 2))

    def second(function: Any) -> list[Any]:
        gradient = gw.grad(total(function))
        slope: Callable[[Any], Any] = lambda x: gw.jvp(total(function), (x,), (U,))[1]
        return [
            gw.vjp(gradient, X)[1](U)[0],
            gw.jvp(gradient, (X,), (U,))[1],
            gw.grad(slope)(X),
            np.array(gw.jvp(slope, (X,), (U,))[1]),
        ]

    *vectors, scalar = second(scaled)
    *expected, wanted = second(plain)
    for found, value in zip(vectors, expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-12)
    np.testing.assert_allclose(scalar, wanted, rtol=1e-12)


def test_on_the_tape_to_higher_order() -> None:
    x: Any = gw.wrap(X.copy(), requires_grad=True)
    np.sum(scaled(x, U)).backward(create_graph=True)
    first, x.grad = x.grad, None
    np.testing.assert_allclose(gw.unwrap(first), 2 * np.cos(X) * U)
    np.sum(first).backward()
    np.testing.assert_allclose(gradient_of(x), -2 * np.sin(X) * U)


def test_linearize_and_float32() -> None:
    single = X.astype(np.float32)
    out, push = gw.linearize(lambda x: scaled(x, U.astype(np.float32)), single)
    tangent = push(single)
    assert out.dtype == tangent.dtype == np.float32
    np.testing.assert_allclose(tangent, 2 * np.cos(X) * U * X, rtol=1e-6)
    mixed = gw.grad(fn(lambda x: np.sum(scaled(x, U))))(single)  # the formula gives float64
    assert mixed.dtype == np.float32


def test_complex_arrays() -> None:
    @gw.primitive
    def square(z: Any) -> Any:
        return z * z

    gw.defjvp(square, lambda xp, t, z: 2 * t * z)
    z, v = X + 0.5j, U - 0.2j
    np.testing.assert_allclose(gw.jvp(square, (z,), (v,))[1], 2 * z * v)
    np.testing.assert_allclose(gw.vjp(square, z)[1](v)[0], 2 * np.conj(z) * v)
    twice = gw.grad(fn(lambda z: np.sum(np.abs(gw.vjp(square, z)[1](v)[0]) ** 2)))(z)
    np.testing.assert_allclose(twice, 8 * z * np.abs(v) ** 2)


def test_a_function_that_is_not_holomorphic() -> None:
    @gw.primitive
    def energy(z: Any) -> Any:
        return np.abs(z) ** 2

    gw.defjvp(energy, lambda xp, t, z: 2 * xp.real(xp.conj(z) * t))
    z = X + 0.5j
    np.testing.assert_allclose(gw.grad(fn(lambda z: np.sum(energy(z))))(z), 2 * z)


def test_several_outputs() -> None:
    @gw.primitive
    def polar(a: Any, b: Any) -> Any:
        return a * np.cos(b), a * np.sin(b)

    gw.defjvp(
        polar,
        lambda xp, t, b: (t * xp.cos(b), t * xp.sin(b)),
        lambda xp, t, a, b: (-a * t * xp.sin(b), a * t * xp.cos(b)),
    )
    _, pushed = gw.jvp(polar, (X, U), (U, X))
    np.testing.assert_allclose(pushed[0], U * np.cos(U) - X * X * np.sin(U))
    np.testing.assert_allclose(pushed[1], U * np.sin(U) + X * X * np.cos(U))
    _, pull = gw.vjp(polar, X, U)
    v = (np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, 4.0]))
    assert inner(pull(v), (U, X)) == pytest.approx(inner(v, pushed), rel=1e-14)
    one_only = gw.grad(fn(lambda a: np.sum(polar(a, U)[1])))(X)
    np.testing.assert_allclose(one_only, np.sin(U))


def test_not_elementwise() -> None:
    @gw.primitive
    def norm(x: Any) -> Any:
        return np.sqrt(np.sum(x * x))

    gw.defjvp(norm, lambda xp, t, x, out: xp.sum(x * t) / out)
    np.testing.assert_allclose(gw.grad(norm)(X), X / np.linalg.norm(X))
    assert gw.jvp(norm, (X,), (U,))[1] == pytest.approx(X @ U / np.linalg.norm(X))


def test_on_another_library() -> None:
    @gw.primitive
    def cube(x: Any) -> Any:
        return x**3

    gw.defjvp(cube, lambda xp, t, x: 3 * t * x**2)
    x = strict.asarray([1.0, 2.0], device=strict.Device("device1"))
    gradient = gw.grad(fn(lambda x: x.__array_namespace__().sum(cube(x))))(x)
    assert gradient.device == x.device
    assert [float(part) for part in gradient] == [3.0, 12.0]


# With a VJP beside it, and over the table ---------------------------------------------------------


def test_each_mode_uses_its_own_rule_in_either_order_of_definition() -> None:
    def vjp(xp: Any, g: Any) -> Any:
        return 10 * g

    def jvp(xp: Any, t: Any) -> Any:
        return 100 * t

    for definitions in ([(gw.defvjp, vjp), (gw.defjvp, jvp)], [(gw.defjvp, jvp), (gw.defvjp, vjp)]):

        @gw.primitive
        def one(x: Any) -> Any:
            return x * 1

        for define, formula in definitions:
            define(one, formula)
        assert gw.grad(one)(2.0) == 10.0
        assert gw.jvp(one, (2.0,), (1.0,))[1] == 100.0


def test_a_second_definition_takes_the_place_of_the_first() -> None:
    @gw.primitive
    def one(x: Any) -> Any:
        return x * 1

    gw.defjvp(one, lambda xp, t: 2 * t)
    gw.defjvp(one, lambda xp, t: 3 * t)
    assert gw.jvp(one, (2.0,), (1.0,))[1] == 3.0
    assert gw.grad(one)(2.0) == 3.0


def test_an_argument_that_has_one_of_the_two_rules() -> None:
    @gw.primitive
    def product(a: Any, b: Any) -> Any:
        return a * b

    gw.defvjp(product, lambda xp, g, b: g * b, None)
    gw.defjvp(product, None, lambda xp, t, a: a * t)
    assert gw.grad(product, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert gw.jvp(product, (2.0, 3.0), (1.0, 10.0))[1] == 23.0


def test_a_ufunc_of_scipy_in_unmodified_code() -> None:
    slope: Any = special._ufuncs._smirnovci  # any function of its arguments serves
    of_four = fn(lambda x: special.smirnovi(4, x))
    gw.defjvp(special.smirnovi, None, lambda xp, t, x1, x2: t * slope(x1, x2))
    x = X / 4
    np.testing.assert_allclose(gw.jvp(of_four, (x,), (U,))[1], U * slope(4, x))
    gradient = gw.grad(fn(lambda x: np.sum(of_four(x) * x)))(x)
    np.testing.assert_allclose(gradient, slope(4, x) * x + of_four(x))
    with pytest.raises(NoRuleError, match=r"_smirnovci on numpy arrays has no rule"):
        gw.grad(gw.grad(of_four))(0.5)


def test_only_what_is_differentiable_has_a_formula() -> None:
    gw.defjvp(special.kn, None, lambda xp, t, n, x: t * special.kvp(n, x), params="n x")
    assert gw.grad(lambda x: special.kn(2, x))(0.7) == pytest.approx(special.kvp(2, 0.7))
    with pytest.raises(NoRuleError, match=r"kn on numpy arrays has no derivative with respect to "):
        gw.jvp(lambda n: special.kn(n, 0.7), (2.0,), (1.0,))


def test_a_step_function_of_the_table_becomes_differentiable() -> None:
    gw.defjvp("floor", lambda xp, t: t)
    assert gw.jvp(np.floor, (1.5,), (2.0,)) == (1.0, 2.0)
    assert gw.grad(np.floor)(1.5) == 1.0


def test_the_jvp_of_the_table_is_overridden_and_the_vjp_stays() -> None:
    gw.defjvp(np.sin, lambda xp, t, x: 100 * t * xp.cos(x), backend="numpy")
    assert gw.jvp(np.sin, (0.7,), (1.0,))[1] == pytest.approx(100 * np.cos(0.7))
    assert gw.grad(np.sin)(0.7) == pytest.approx(np.cos(0.7))
    gw.defvjp("concat", lambda xp, g, metas: tuple(xp.ones(m.shape) for m in metas))
    gw.defjvp("concat", lambda xp, t, axis: 7 * xp.concat(t, axis=axis))
    pushed = gw.jvp(lambda x: np.concatenate([x, X]), (X,), (U,))[1]
    np.testing.assert_array_equal(pushed, np.concatenate([7 * U, 0 * X]))
    pulled = gw.grad(fn(lambda x: np.sum(np.concatenate([x, X]))))(X)
    np.testing.assert_array_equal(pulled, np.ones(3))


def test_the_overrides_are_gone() -> None:
    assert gw.jvp(np.sin, (0.7,), (1.0,))[1] == pytest.approx(np.cos(0.7))
    assert gw.grad(np.floor)(1.5) == 0.0


# What is refused ----------------------------------------------------------------------------------


@gw.primitive
def subject(x: Any, y: Any, k: Any = 2) -> Any:
    return x * y * k


@pytest.mark.parametrize(
    ("rules", "message"),
    rows(
        [
            (
                (),
                (
                    "subject: defjvp was given no formula. It takes one for each array argument: "
                    "defjvp(subject, lambda xp, t, x: ..., lambda xp, t, y: ..., "
                    "lambda xp, t, k: ...)."
                ),
            ),
            (
                (None, None, None, None),
                (
                    "subject: 4 formulas for 3 parameters (x, y, k). Fix: give one for each array "
                    "argument, None where it is not differentiable."
                ),
            ),
            (
                (fn(lambda xp, g, x: g),),
                (
                    "subject: a JVP formula's first two parameters are xp and t, this one has "
                    "(xp, g, x). Fix: lambda xp, t, x: ..."
                ),
            ),
            (
                (fn(lambda xp, t: t), 3.0),
                "subject: the formula for y is a float. Fix: lambda xp, t, y: ...",
            ),
            (
                (fn(lambda xp, t, ans: t),),
                (
                    "subject: a formula names ans, which it cannot be given. It may use "
                    "xp, t, out, x, y, k, x_meta."
                ),
            ),
        ]
    ),
)
def test_a_definition_that_does_not_fit(rules: Any, message: str) -> None:
    with pytest.raises(RuleDefinitionError) as caught:
        gw.defjvp(subject, *rules)
    assert str(caught.value) == message


def test_too_few_formulas() -> None:
    with pytest.raises(RuleDefinitionError) as caught:
        gw.defjvp("multiply", lambda xp, t, x2: t * x2)
    assert str(caught.value) == (
        "multiply: 1 formula for 2 array arguments (x1, x2). Fix: give one for each, None where "
        "it is not differentiable. They may use xp, t, out, x1, x2, x1_meta, x2_meta, and the "
        "other parameters by their names."
    )
    with pytest.raises(RuleDefinitionError, match=r"multiply: 1 formula for 2 array .* xp, g, out"):
        gw.defvjp("multiply", lambda xp, g, x2: g * x2)
    gw.defvjp(subject, lambda xp, g, y, k: g * y * k, lambda xp, g, x, k: g * x * k)
    with pytest.raises(RuleDefinitionError, match=r"subject: 1 formula for 2 array arguments"):
        gw.defjvp(subject, lambda xp, t, y, k: t * y * k)


def test_a_parameter_that_is_a_word_of_formulas() -> None:
    @gw.primitive
    def decay(t: Any, x: Any) -> Any:
        return x * np.exp(-t)

    with pytest.raises(RuleDefinitionError) as caught:
        gw.defjvp(decay, lambda xp, t, out: -t * out, lambda xp, t, x: t)
    assert str(caught.value) == (
        "decay has parameters (t, x); xp, t, out are words of formulas. "
        'Fix: rename them for the rule, params="t_ x".'
    )
    gw.defjvp(decay, lambda xp, t, out: -t * out, lambda xp, t, t_: t * xp.exp(-t_), params="t_ x")
    assert gw.grad(decay, (0, 1))(1.0, 2.0) == pytest.approx((-2 * np.exp(-1), np.exp(-1)))


SHAPE = (
    "a tangent of shape (4,); the output has shape (3,). Fix: return the output's shape, which t "
    "does not have where the function is not elementwise."
)


@pytest.mark.parametrize(
    ("rule", "message"),
    rows(
        [
            (lambda xp, t: xp.ones(4), SHAPE),
            (
                lambda xp, t, x: x > 0,
                (
                    "a tangent of dtype bool; the output has float64. Fix: return that, for "
                    "example with xp.astype(..., out.dtype)."
                ),
            ),
            (
                lambda xp, t, x: t * 1j,
                (
                    "a tangent of dtype complex128; the output has float64. Fix: return that, for "
                    "example with xp.real(...)."
                ),
            ),
            (
                lambda xp, t: None,
                (
                    "None; the output is an array of numpy, float64[3]. "
                    "Fix: return an array of that shape and dtype, made with xp."
                ),
            ),
            (
                lambda xp, t, x: (t, t),
                (
                    "a tuple; the output is an array of numpy, float64[3]. "
                    "Fix: return an array of that shape and dtype, made with xp."
                ),
            ),
        ]
    ),
)
def test_what_a_rule_returns_is_checked(rule: Any, message: str) -> None:
    @gw.primitive
    def double(x: Any) -> Any:
        return 2 * x

    gw.defjvp(double, rule)
    for _ in range(2):
        with pytest.raises(RuleResultError) as caught:
            gw.jvp(double, (X,), (U,))
        assert str(caught.value) == f"The JVP of double for its argument x returned {message}"
    gw.defjvp(double, lambda xp, t: 2 * t)
    np.testing.assert_array_equal(gw.jvp(double, (X,), (U,))[1], 2 * U)


def test_the_number_of_tangents_is_checked() -> None:
    @gw.primitive
    def both(x: Any) -> Any:
        return x, 2 * x

    gw.defjvp(both, lambda xp, t: (t, t, t))
    with pytest.raises(RuleResultError) as caught:
        gw.jvp(both, (X,), (U,))
    assert str(caught.value) == (
        "The JVP of both for its argument x returned 3 tangents for 2 outputs. "
        "Fix: return a tuple with a tangent for each."
    )
    gw.defjvp(both, lambda xp, t: t)
    with pytest.raises(RuleResultError, match=r"returned an array of numpy for 2 outputs"):
        gw.jvp(both, (X,), (U,))


def test_what_a_rule_returns_is_checked_in_reverse_mode_too() -> None:
    @gw.primitive
    def total(x: Any) -> Any:
        return np.sum(x)

    gw.defjvp(total, lambda xp, t: t)
    message = r"The JVP of total for its argument x returned a tangent of shape \(3,\); the output"
    with pytest.raises(RuleResultError, match=message):
        gw.grad(total)(X)


@pytest.mark.parametrize("define", [gw.defvjp, gw.defjvp])
def test_a_backend_of_an_unknown_name_is_an_error(define: Any) -> None:
    with pytest.raises(gw.errors.RuleDefinitionError, match="backend='numpyy' is not the name of"):
        define("sin", None, backend="numpyy")
