"""Rules from outside: `primitive` and `defvjp`, and what they refuse."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from scipy import special

import gradwrap as gw
from gradwrap.core.calls import source
from gradwrap.errors import (
    NonDifferentiableInputError,
    NoRuleError,
    NotAnArrayError,
    RuleDefinitionError,
    RuleResultError,
)
from lambdas import fn, rows

ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([0.3, 1.2, 2.0])
Y = np.array([1.5, 0.5, -0.7])


# primitive ----------------------------------------------------------------------------------------


def test_a_primitive_is_called_with_native_arrays_and_plain_values() -> None:
    seen: list[Any] = []

    @gw.primitive
    def scaled(x: Any, factor: Any = 2.0, *, name: str = "none") -> Any:
        seen.append((type(x), type(factor), name))
        return x * factor

    gw.defvjp(scaled, lambda xp, g, factor: g * factor)
    np.testing.assert_array_equal(scaled(X), 2 * X)
    np.testing.assert_array_equal(gw.grad(lambda x: np.sum(scaled(x)))(X), np.full(3, 2.0))
    np.testing.assert_array_equal(gw.grad(lambda x: np.sum(scaled(x, 3.0)))(X), np.full(3, 3.0))
    by_name = gw.grad(lambda x: np.sum(scaled(factor=4.0, x=x, name="run")))
    np.testing.assert_array_equal(by_name(X), np.full(3, 4.0))
    factor = np.array([1.0, 2.0, 3.0])
    given = gw.grad(fn(lambda x, f: np.sum(scaled(x, f))))  # f enters as an untracked wrapper
    np.testing.assert_array_equal(given(X, factor), factor)
    assert seen == [
        (np.ndarray, float, "none"),
        (np.ndarray, float, "none"),
        (np.ndarray, float, "none"),
        (np.ndarray, float, "run"),
        (np.ndarray, np.ndarray, "none"),
    ]


def test_defaults_are_bound_by_value() -> None:
    default = np.array([1.0, 2.0, 3.0])
    options = {"power": 2}

    @gw.primitive
    def fun(x: Any, weights: Any = default, /, shift: Any = None, *, options: Any = options) -> Any:
        assert shift is None
        return weights * x ** options["power"]

    gw.defvjp(
        fun,
        lambda xp, g, x, weights, options: g * weights * options["power"] * x,
        lambda xp, g, x: g * x**2,
    )
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(fun(x)))(X), default * 2 * X)
    by_weights = gw.grad(lambda w: np.sum(fun(X, w)))(default)
    np.testing.assert_allclose(by_weights, X**2)
    third = gw.grad(lambda x: np.sum(fun(x, options={"power": 1})))(X)
    np.testing.assert_allclose(third, default * X)


def test_several_array_arguments_some_not_differentiable() -> None:
    @gw.primitive
    def gathered(x: Any, index: Any, y: Any) -> Any:
        assert type(index) in (np.ndarray, list)
        return x[index] * y

    def back(xp: Any, g: Any, x_meta: Any, index: Any, y: Any) -> Any:
        out = xp.zeros(x_meta.shape, dtype=x_meta.dtype)
        out[index] += g * y
        return out

    gw.defvjp(gathered, back, None, lambda xp, g, x, index: g * x[index])
    index = np.array([2, 0])
    a, b = gw.grad(lambda x, y: np.sum(gathered(x, index, y)), (0, 1))(X, Y[:2])
    np.testing.assert_allclose(a, [Y[1], 0.0, Y[0]])
    np.testing.assert_allclose(b, X[index])
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(gathered(x, [2, 0], 2.0)))(X), [2, 0, 2])
    message = r"gathered on numpy arrays has no derivative with respect to its argument index"
    with pytest.raises(NoRuleError, match=message):
        gw.grad(lambda i: np.sum(gathered(X, i, 1.0)))(np.array([1.0]))


def test_broadcasting_is_summed_by_the_engine() -> None:
    @gw.primitive
    def product(a: Any, b: Any) -> Any:
        return a * b

    gw.defvjp(product, lambda xp, g, b: g * b, lambda xp, g, a: g * a)
    a, b = gw.grad(lambda a, b: np.sum(product(a, b)), (0, 1))(X, np.ones((4, 1)))
    np.testing.assert_allclose(a, np.full(3, 4.0))
    np.testing.assert_allclose(b, np.full((4, 1), X.sum()))


def test_dtype_is_projected_by_the_engine() -> None:
    @gw.primitive
    def product(a: Any, b: Any) -> Any:
        return a * b

    gw.defvjp(product, lambda xp, g, b: g * b, lambda xp, g, a: g * a)
    single = X.astype(np.float32)
    assert gw.grad(lambda x: np.sum(product(x, Y)))(single).dtype == np.float32
    real = gw.grad(lambda x: np.sum(np.abs(product(x, 1j * Y)) ** 2))(X)
    np.testing.assert_allclose(real, 2 * X * Y**2)


def test_several_outputs() -> None:
    @gw.primitive
    def sum_and_product(a: Any, b: Any) -> Any:
        return a + b, a * b

    gw.defvjp(
        sum_and_product,
        lambda xp, g, b: g[0] + g[1] * b,
        lambda xp, g, a: g[0] + g[1] * a,
    )

    def fun(a: Any, b: Any) -> Any:
        total, product = sum_and_product(a, b)
        return np.sum(total * product)

    def plain(a: Any, b: Any) -> Any:
        return np.sum((a + b) * a * b)

    for got, expected in zip(gw.grad(fun, (0, 1))(X, Y), gw.grad(plain, (0, 1))(X, Y), strict=True):
        np.testing.assert_allclose(got, expected)
    np.testing.assert_allclose(gw.grad(lambda a: np.sum(sum_and_product(a, Y)[1]))(X), Y)
    twice = gw.grad(lambda a: np.sum(gw.grad(lambda b: fun(b, Y))(a) ** 2))(X)
    np.testing.assert_allclose(twice, 2 * (2 * X * Y + Y**2) * 2 * Y)


def test_an_integer_output_is_not_tracked() -> None:
    @gw.primitive
    def count(x: Any) -> Any:
        return np.sum(x > 1)

    gw.defvjp(count, lambda xp, g: g)
    np.testing.assert_array_equal(gw.grad(lambda x: ANY.sum(x) * count(x))(X), np.full(3, 2.0))


def test_a_number_returned_counts_as_an_array() -> None:
    @gw.primitive
    def total(x: Any) -> Any:
        return float(np.sum(x))

    gw.defvjp(total, lambda xp, g, x_meta: xp.broadcast_to(g, x_meta.shape))
    value, gradient = gw.value_and_grad(total)(X)
    assert value == X.sum()
    np.testing.assert_array_equal(gradient, np.ones(3))


def test_a_primitive_as_a_method() -> None:
    class Model:
        factor = 3.0

        @gw.primitive
        def apply(self, x: Any) -> Any:
            return self.factor * x

    gw.defvjp(Model.apply, None, lambda xp, g, self: g * self.factor)
    assert gw.grad(lambda x: Model().apply(x) * x)(2.0) == 12.0


def test_keeps_name_and_docstring() -> None:
    @gw.primitive
    def special_function(x: Any) -> Any:
        """Special."""
        return x

    assert special_function.__name__ == "special_function"
    assert special_function.__doc__ == "Special."
    assert repr(special_function) == "<primitive special_function>"


# Higher order, other libraries --------------------------------------------------------------------


def test_higher_order_where_the_formula_is_written_in_xp() -> None:
    @gw.primitive
    def sine(x: Any) -> Any:
        return np.sin(x)

    gw.defvjp(sine, lambda xp, g, x: g * xp.cos(x))
    derivative: Any = sine
    for expected in (np.sin(0.7), np.cos(0.7), -np.sin(0.7), -np.cos(0.7), np.sin(0.7)):
        assert derivative(0.7) == pytest.approx(expected)
        derivative = gw.grad(derivative)


def test_higher_order_through_the_output() -> None:
    @gw.primitive
    def exponential(x: Any) -> Any:
        return np.exp(x)

    gw.defvjp(exponential, lambda xp, g, out: g * out)
    third = gw.grad(gw.grad(gw.grad(lambda x: exponential(2 * x))))
    assert third(0.3) == pytest.approx(8 * np.exp(0.6))


def test_higher_order_where_the_formula_calls_another_primitive() -> None:
    @gw.primitive
    def sine(x: Any) -> Any:
        return np.sin(x)

    @gw.primitive
    def cosine(x: Any) -> Any:
        return np.cos(x)

    gw.defvjp(sine, lambda xp, g, x: g * cosine(x))
    gw.defvjp(cosine, lambda xp, g, x: -g * sine(x))
    assert gw.grad(gw.grad(gw.grad(sine)))(0.7) == pytest.approx(-np.cos(0.7))


def test_levels_are_not_confused_by_a_primitive() -> None:
    @gw.primitive
    def times(a: Any, b: Any) -> Any:
        return a * b

    gw.defvjp(times, lambda xp, g, b: g * b, lambda xp, g, a: g * a)
    assert gw.grad(lambda x: times(x, gw.grad(lambda y: times(x, y))(1.0)))(2.0) == 4.0


def test_a_primitive_on_another_library() -> None:
    @gw.primitive
    def cube(x: Any) -> Any:
        assert not isinstance(x, gw.Variable)
        return x**3

    gw.defvjp(cube, lambda xp, g, x: 3 * g * x**2)
    x = strict.asarray([1.0, 2.0])
    gradient: Any = gw.grad(lambda x: x.__array_namespace__().sum(cube(x)))(x)
    assert type(gradient) is type(x)
    np.testing.assert_allclose(np.from_dlpack(gradient), [3.0, 12.0])
    second: Any = gw.grad(gw.grad(cube))(strict.asarray(2.0))
    assert float(second) == 12.0


def test_a_rule_for_one_backend() -> None:
    @gw.primitive
    def double(x: Any) -> Any:
        return x * 2

    gw.defvjp(double, lambda xp, g: g * 2, backend="numpy")
    assert gw.grad(double)(1.0) == 2.0
    with pytest.raises(NoRuleError, match=r"double on array_api_strict arrays has no derivative"):
        gw.grad(double)(strict.asarray(1.0))
    gw.defvjp(double, lambda xp, g: g * 20)
    assert float(gw.grad(double)(strict.asarray(1.0))) == 20.0
    assert gw.grad(double)(1.0) == 2.0  # the backend's own rule goes first


# Rules for functions of libraries -----------------------------------------------------------------


def test_a_ufunc_in_unmodified_code() -> None:
    def loss(x: Any) -> Any:
        return np.sum(special.smirnov(5, x) * x)

    slope: Any = special._ufuncs._smirnovp  # the ufunc of its derivative
    x = X / 4
    with pytest.raises(NoRuleError, match=r"smirnov on numpy arrays has no rule"):
        gw.grad(loss)(x)
    gw.defvjp(special.smirnov, None, lambda xp, g, x1, x2: g * slope(x1, x2))
    gw.defvjp(slope, None, lambda xp, g, x2: g * xp.ones_like(x2))
    np.testing.assert_allclose(gw.grad(loss)(x), special.smirnov(5, x) + x * slope(5, x))
    second: Any = gw.grad(gw.grad(fn(lambda x: special.smirnov(5, x))))(0.5)
    assert second == 1.0  # what the second rule says
    plain = special.smirnov(5, x)  # as before
    assert type(plain) is np.ndarray


def test_a_ufunc_of_two_arguments() -> None:
    gw.defvjp(
        special.boxcox1p,
        lambda xp, g, x1, x2: g * (1 + x1) ** (x2 - 1),
        lambda xp, g, x1, x2, out: g * ((1 + x1) ** x2 * xp.log1p(xp.asarray(x1)) - out) / x2,
    )
    a, b = gw.grad(lambda a, b: np.sum(special.boxcox1p(a, b)), (0, 1))(X, X)
    np.testing.assert_allclose(a, (1 + X) ** (X - 1))
    np.testing.assert_allclose(b, ((1 + X) ** X * np.log1p(X) - special.boxcox1p(X, X)) / X)
    assert gw.grad(special.boxcox1p)(2.0, 1.0) == 1.0


def test_a_ufunc_that_is_differentiable_in_one_argument_only() -> None:
    gw.defvjp(special.kve, None, lambda xp, g, v, z: -g * v * z, params="v z")
    gradient = gw.grad(lambda z: np.sum(special.kve(1.0, z)))(X)
    np.testing.assert_allclose(gradient, -X)
    with pytest.raises(NoRuleError) as caught:
        gw.grad(lambda v: np.sum(special.kve(v, X)))(1.0)
    assert str(caught.value) == (
        "special.kve on numpy arrays has no derivative with respect to its argument v, which is "
        "tracked. Fix: gradwrap.defvjp(special.kve, lambda xp, g, v: ..., None) gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )


def test_a_ufunc_of_two_outputs() -> None:
    gw.defvjp(special.sici, lambda xp, g, x: g[0] * xp.sin(x) / x + g[1] * xp.cos(x) / x)

    def fun(x: Any) -> Any:
        si, ci = special.sici(x)
        return np.sum(si + 2 * ci)

    np.testing.assert_allclose(gw.grad(fun)(X), np.sin(X) / X + 2 * np.cos(X) / X)


def test_a_function_of_numpy_with_defaults() -> None:
    others = np.array([-5.0])

    def rest(x: Any, **options: Any) -> Any:
        return np.sum(np.setdiff1d(x, others, **options))

    with pytest.raises(NoRuleError, match=r"np\.setdiff1d on numpy arrays has no rule"):
        gw.grad(fn(rest))(X)
    gw.defvjp(np.setdiff1d, lambda xp, g, assume_unique: g * (2.0 if assume_unique else 1.0), None)
    np.testing.assert_array_equal(gw.grad(fn(rest))(X), np.ones(3))
    gradient = gw.grad(lambda x: rest(x, assume_unique=True))(X)
    np.testing.assert_array_equal(gradient, np.full(3, 2.0))


# Overriding the library's rules -------------------------------------------------------------------


def test_override_by_name() -> None:
    x: Any = gw.wrap(X.copy(), requires_grad=True)
    before = np.sum(np.sin(x))
    gw.defvjp("sin", lambda xp, g, x: 100 * g * xp.cos(x))
    expected = 100 * np.cos(X)
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(np.sin(x)))(X), expected)
    np.testing.assert_allclose(
        gw.grad(lambda x: np.sum(x.__array_namespace__().sin(x)))(X), expected
    )
    assert gw.grad(gw.grad(np.sin))(0.7) == pytest.approx(-100 * np.sin(0.7))
    strict_gradient: Any = gw.grad(lambda x: x.__array_namespace__().sin(x))(strict.asarray(0.7))
    assert float(strict_gradient) == pytest.approx(100 * np.cos(0.7))
    before.backward()  # recorded with the rule of its time
    np.testing.assert_allclose(x.grad, np.cos(X))


def test_override_by_function_for_one_backend() -> None:
    gw.defvjp(np.sin, lambda xp, g, x: 100 * g * xp.cos(x), backend="numpy")
    assert gw.grad(np.sin)(0.7) == pytest.approx(100 * np.cos(0.7))
    strict_gradient: Any = gw.grad(lambda x: x.__array_namespace__().sin(x))(strict.asarray(0.7))
    assert float(strict_gradient) == pytest.approx(np.cos(0.7))


def test_the_overrides_are_gone() -> None:
    assert gw.grad(np.sin)(0.7) == pytest.approx(np.cos(0.7))
    np.testing.assert_array_equal(gw.grad(lambda x: np.sum(np.floor(x) * x))(X), np.floor(X))


def test_a_gradient_for_a_step_function() -> None:
    """The straight-through estimator."""
    gw.defvjp("floor", lambda xp, g: g)
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(np.floor(x) * x))(X), np.floor(X) + X)


def test_override_of_a_function_with_static_arguments() -> None:
    def formula(xp: Any, g: Any, x_meta: Any, axis: Any) -> Any:
        scale = 10.0 if axis is None else 1000.0
        return scale * xp.broadcast_to(g, x_meta.shape)

    gw.defvjp("sum", formula)
    np.testing.assert_allclose(gw.grad(lambda x: ANY.sum(x))(X), np.full(3, 10.0))
    np.testing.assert_allclose(gw.grad(lambda x: x.sum(axis=0))(X), np.full(3, 1000.0))


def test_override_of_a_function_of_many_arrays() -> None:
    gw.defvjp("concat", lambda xp, g, metas: tuple(xp.ones(m.shape) for m in metas))
    np.testing.assert_array_equal(
        gw.grad(lambda x: np.sum(7 * np.concatenate([x, Y])))(X), np.ones(3)
    )
    gw.defvjp("concat", lambda xp, g: (g, g, g))
    with pytest.raises(RuleResultError) as caught:
        gw.grad(lambda x: np.sum(np.concatenate([x, Y])))(X)
    assert str(caught.value) == (
        "The rule of concat returned 3 cotangents for 2 arguments. "
        "Fix: return a tuple with one for each, None where there is none."
    )


# What a definition refuses ------------------------------------------------------------------------


@gw.primitive
def subject(x: Any, y: Any, k: Any = 2) -> Any:
    return x * y * k


def with_a_star(xp: Any, g: Any, *args: Any) -> Any:
    return g


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            (),
            (
                "subject: defvjp was given no formula. It takes one for each array argument: "
                "defvjp(subject, lambda xp, g, x: ..., lambda xp, g, y: ..., lambda xp, g, k: ...)."
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
            (fn(lambda g, x: g),),
            (
                "subject: a formula's first two parameters are xp and g, this one has (g, x). "
                "Fix: lambda xp, g, x: ..."
            ),
        ),
        (
            (with_a_star, 3.0),
            "subject: the formula for y is a float. Fix: lambda xp, g, y: ...",
        ),
        (
            (fn(lambda xp, g, ans: g),),
            (
                "subject: a formula names ans, which it cannot be given. It may "
                "use xp, g, out, x, y, "
                "k, x_meta."
            ),
        ),
        (
            (fn(lambda xp, g, z, w: g), None),
            (
                "subject: a formula names z, w, which it cannot be given. It may "
                "use xp, g, out, x, "
                "y, k, x_meta, y_meta."
            ),
        ),
    ],
)
def test_a_definition_that_does_not_fit(rules: Any, message: str) -> None:
    with pytest.raises(RuleDefinitionError) as caught:
        gw.defvjp(subject, *rules)
    assert str(caught.value) == message


def test_a_definition_for_something_that_is_not_seen() -> None:
    def plain(x: Any) -> Any:
        return x

    with pytest.raises(RuleDefinitionError) as caught:
        gw.defvjp(plain, lambda xp, g: g)
    assert str(caught.value) == (
        "Nothing tells gradwrap when plain is called: it is not a ufunc, a function of NumPy, or "
        "a name of the standard. Fix: make it one operation with "
        "plain = gradwrap.primitive(plain)."
    )
    with pytest.raises(RuleDefinitionError, match=r"'sine' is not a name of the table\. Fix: "):
        gw.defvjp("sine", lambda xp, g: g)


def test_a_parameter_that_is_a_word_of_formulas() -> None:
    @gw.primitive
    def gain(g: Any, x: Any) -> Any:
        return g * x

    with pytest.raises(RuleDefinitionError) as caught:
        gw.defvjp(gain, lambda xp, g, x: g * x, lambda xp, g: g)
    assert str(caught.value) == (
        "gain has parameters (g, x); xp, g, out are words of formulas. "
        'Fix: rename them for the rule, params="g_ x".'
    )
    gw.defvjp(gain, lambda xp, g, x: g * x, lambda xp, g, g_: g * g_, params="g_ x")
    assert gw.grad(gain, (0, 1))(2.0, 3.0) == (3.0, 2.0)


def test_a_failed_definition_leaves_everything_as_it_was() -> None:
    @gw.primitive
    def double(x: Any) -> Any:
        return 2 * x

    gw.defvjp(double, lambda xp, g: 2 * g)
    with pytest.raises(RuleDefinitionError):
        gw.defvjp(double, lambda xp, g, ans: ans)
    assert gw.grad(double)(1.0) == 2.0


# What a call refuses ------------------------------------------------------------------------------


def test_without_a_rule_a_tracked_argument_is_refused() -> None:
    @gw.primitive
    def mystery(x: Any, y: Any = 1.0) -> Any:
        return x * y

    assert gw.grad(lambda x: x * mystery(2.0, gw.wrap(np.array(3.0))))(1.0) == 6.0
    with pytest.raises(NoRuleError) as caught:
        gw.grad(lambda y: mystery(2.0, y))(1.0)
    assert str(caught.value) == (
        "mystery on numpy arrays has no derivative with respect to its argument y, which is "
        "tracked. Fix: gradwrap.defvjp(mystery, None, lambda xp, g, y: ...) gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )
    with pytest.raises(NoRuleError, match="its argument x, which is tracked"):
        gw.grad(lambda x: mystery([x, x]))(1.0)  # inside of a list, too
    with pytest.raises(NoRuleError, match="its argument y, which is tracked"):
        gw.grad(lambda y: mystery(2.0, y=y))(1.0)


def test_a_static_argument_cannot_be_tracked() -> None:
    @gw.primitive
    def power(x: Any, k: Any = 2) -> Any:
        return x**k

    gw.defvjp(power, lambda xp, g, x, k: g * k * x ** (k - 1))
    with pytest.raises(NoRuleError) as caught:
        gw.grad(lambda k: power(2.0 * k, k))(3.0)
    assert str(caught.value) == (
        "power on numpy arrays has no derivative with respect to its argument k, which is "
        "tracked. Fix: gradwrap.defvjp(power, None, lambda xp, g, k: ...) gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )


def test_a_call_that_does_not_fit_the_function() -> None:
    @gw.primitive
    def double(x: Any) -> Any:
        return 2 * x

    gw.defvjp(double, lambda xp, g: 2 * g)
    message = r"double\(\) got an unexpected keyword argument 'y'"
    with pytest.raises(TypeError, match=message):
        gw.grad(lambda x: double(x, y=x))(1.0)  # type: ignore[call-arg]  # to be refused


@pytest.mark.parametrize(("out", "kind"), [(None, "None"), ("a", "a str"), ({}, "a dict")])
def test_a_function_that_returns_no_array(out: Any, kind: str) -> None:
    @gw.primitive
    def broken(x: Any) -> Any:
        return out

    gw.defvjp(broken, lambda xp, g: g)
    with pytest.raises(NotAnArrayError) as caught:
        gw.grad(broken)(1.0)
    assert str(caught.value) == (
        f"broken returned {kind}. It is one operation on arrays. "
        "Fix: return an array, a number, or a tuple of them."
    )


# What a rule may return ---------------------------------------------------------------------------

SHAPE = (
    "a cotangent of shape {}; the argument has shape (3,), the output (). Fix: return the "
    "argument's shape, for example with xp.broadcast_to(..., x_meta.shape)."
)
DTYPE = "a cotangent of dtype {}; the argument has float64. Fix: return that, for example with {}."
ARRAY = (
    "{}; the argument is an array of numpy, float64[3]. "
    "Fix: return an array of that shape and dtype, made with xp."
)


@pytest.mark.parametrize(
    ("rule", "message"),
    rows(
        [
            (lambda xp, g: g, SHAPE.format("()")),
            (lambda xp, g: xp.ones(4), SHAPE.format("(4,)")),
            (lambda xp, g: xp.ones((3, 1)), SHAPE.format("(3, 1)")),
            (
                lambda xp, g, x: xp.ones(3, dtype=xp.int64),
                DTYPE.format("int64", "xp.astype(..., x_meta.dtype)"),
            ),
            (lambda xp, g, x: x > 0, DTYPE.format("bool", "xp.astype(..., x_meta.dtype)")),
            (lambda xp, g, x: x * 1j, DTYPE.format("complex128", "xp.real(...)")),
            (lambda xp, g: None, ARRAY.format("None")),
            (lambda xp, g: 1.0, ARRAY.format("a float")),
            (lambda xp, g: "a", ARRAY.format("a str")),
            (lambda xp, g: strict.ones(3), ARRAY.format("an array of array_api_strict")),
            (
                lambda xp, g, x: (g * x, g * x),
                (
                    "a tuple of 2; a formula returns one cotangent, an array. Fix: give one "
                    "formula for each array argument, defvjp(total, lambda xp, g, x: ...)."
                ),
            ),
            (
                lambda xp, g, x: [g * x],
                (
                    "a list of 1; a formula returns one cotangent, an array. Fix: give one "
                    "formula for each array argument, defvjp(total, lambda xp, g, x: ...)."
                ),
            ),
        ]
    ),
)
def test_what_a_rule_returns_is_checked(rule: Any, message: str) -> None:
    @gw.primitive
    def total(x: Any) -> Any:
        return np.sum(x)

    gw.defvjp(total, rule)
    for _ in range(2):
        with pytest.raises(RuleResultError) as caught:
            gw.grad(total)(X)
        assert str(caught.value) == f"The rule of total for its argument x returned {message}"
    gw.defvjp(total, lambda xp, g, x: g * xp.ones_like(x))
    np.testing.assert_array_equal(gw.grad(total)(X), np.ones(3))


def test_the_second_of_two_rules_is_named() -> None:
    @gw.primitive
    def product(a: Any, b: Any) -> Any:
        return a * b

    gw.defvjp(product, lambda xp, g, b: g * b, lambda xp, g, a: xp.ones(5))
    with pytest.raises(RuleResultError, match=r"The rule of product for its argument b returned"):
        gw.grad(lambda a: np.sum(product(a, a)))(X)


def test_a_rule_of_a_function_of_several_outputs_is_checked() -> None:
    @gw.primitive
    def both(x: Any) -> Any:
        return x, np.sum(x)

    gw.defvjp(both, lambda xp, g: xp.ones(5))
    with pytest.raises(RuleResultError, match=r"shape \(3,\), the output \(3,\), \(\)\. Fix"):
        gw.grad(lambda x: both(x)[1])(X)


def test_rules_are_checked_under_higher_order_too() -> None:
    @gw.primitive
    def double(x: Any) -> Any:
        return 2 * x

    gw.defvjp(double, lambda xp, g: xp.ones(7))
    with pytest.raises(RuleResultError, match=r"shape \(7,\); the argument has shape \(3,\)"):
        gw.grad(lambda x: np.sum(gw.grad(lambda y: np.sum(double(y)))(x)))(X)


def test_an_object_array_is_refused() -> None:
    @gw.primitive
    def boxed(x: Any) -> Any:
        return np.array([x, None], dtype=object)

    gw.defvjp(boxed, lambda xp, g: g)
    with pytest.raises(NonDifferentiableInputError, match=r"an array of dtype object"):
        gw.grad(lambda x: boxed(x)[0])(1.0)


def test_primitives_that_a_function_makes_in_each_call_share_their_code() -> None:
    def fresh(x: Any) -> Any:
        square = gw.primitive(fn(lambda y: np.sum(y**2)))
        gw.defvjp(square, lambda xp, g, y: 2 * g * y)
        return square(x) + square(2 * x)

    def pushed(x: Any) -> Any:
        return gw.jvp(fresh, (x,), (x,))

    x = np.array([1.0, 2.0])
    for derivative in (gw.grad(fresh), gw.hessian(fresh), pushed):
        derivative(x)
        before = source.compiled.cache_info().misses
        derivative(x)
        assert source.compiled.cache_info().misses == before
    np.testing.assert_array_equal(gw.grad(fresh)(x), 10 * x)
