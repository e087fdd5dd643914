"""Bad input: each an error whose message names the fix, after which everything is as before."""

from __future__ import annotations

import inspect
import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest
from scipy import special

import gradwrap as gw
from gradwrap import errors
from gradwrap.errors import (
    ArgnumsError,
    BackwardError,
    GradwrapError,
    InPlaceError,
    MixedLibrariesError,
    NonDifferentiableInputError,
    NonScalarOutputError,
    NoRuleError,
    NotAnArrayError,
    OutArgumentError,
    TrackedValueError,
)
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

X = np.array([0.3, 1.2, 2.0])


@pytest.fixture(autouse=True)
def all_as_before() -> Iterator[None]:
    """After each error, levels and modes are as they were."""
    yield
    assert gw.is_grad_enabled()
    assert gw.grad(lambda x: x * gw.grad(lambda y: x * y)(1.0))(2.0) == 4.0
    np.testing.assert_array_equal(X, [0.3, 1.2, 2.0])


def message(kind: type[Exception], call: Callable[[], Any]) -> str:
    """The text of the error that a call raises."""
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, GradwrapError)
    return str(caught.value)


def as_any(value: object) -> Any:
    """Hide a type from the type checker, where the wrong one is the point."""
    return value


def inside(fun: Callable[[Any], Any], x: Any = X) -> Callable[[], Any]:
    """A call that runs `fun` on a tracked value."""
    return lambda: gw.grad(fun)(x)


# Arguments ----------------------------------------------------------------------------------------

CAST = (
    "only floating-point and complex arrays can be differentiated. "
    "Fix: cast it, for example x.astype(np.float64)."
)
LEAVE_OUT = "Fix: pass an array or a number, or leave it out of argnums."


def total(x: Any, y: Any = 1.0) -> Any:
    return np.sum(x)


@pytest.mark.parametrize(
    ("kind", "x", "text"),
    [
        (NonDifferentiableInputError, np.array([1, 2]), f"argument x has dtype int64; {CAST}"),
        (NonDifferentiableInputError, np.array([True]), f"argument x has dtype bool; {CAST}"),
        (NonDifferentiableInputError, np.uint8(3), f"argument x has dtype uint8; {CAST}"),
        (NonDifferentiableInputError, np.array(["a"]), f"argument x has dtype <U1; {CAST}"),
        (
            NonDifferentiableInputError,
            np.array([1.0, None]),
            (
                "argument x has dtype object. gradwrap differentiates arrays of numbers. "
                "Fix: convert it, for example with np.asarray(x, dtype=np.float64)."
            ),
        ),
        (
            NonDifferentiableInputError,
            True,
            (
                "argument x is a bool; only floating-point and complex values "
                "can be differentiated. "
                "Fix: leave it out of argnums."
            ),
        ),
        (
            NotAnArrayError,
            None,
            f"argument x is a NoneType, which cannot be differentiated. {LEAVE_OUT}",
        ),
        (
            NotAnArrayError,
            "abc",
            f"argument x is a str, which cannot be differentiated. {LEAVE_OUT}",
        ),
        (
            NotAnArrayError,
            object(),
            f"argument x is an object, which cannot be differentiated. {LEAVE_OUT}",
        ),
        (
            NotAnArrayError,
            memoryview(b"ab"),
            f"argument x is a memoryview, which cannot be differentiated. {LEAVE_OUT}",
        ),
        (
            NotAnArrayError,
            ["a", None],
            (
                "argument x holds no array: there is nothing to differentiate. "
                "Fix: leave it out of argnums."
            ),
        ),
        (
            NonDifferentiableInputError,
            strict.asarray([1, 2]),
            f"argument x has dtype array_api_strict.int64; {CAST}",
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_an_argument_that_cannot_be_differentiated(
    kind: type[Exception], x: Any, text: str
) -> None:
    assert message(kind, lambda: gw.grad(total)(x)) == text
    assert message(kind, lambda: gw.value_and_grad(total, "x")(x=x)) == text
    assert message(kind, lambda: gw.vjp(total, x)) == text


def test_the_path_to_a_leaf_is_named() -> None:
    def fun(params: Any, /, **rest: Any) -> Any:
        return np.sum(params["w"][0])

    params = {"w": [X, np.array([1, 2])]}
    text = message(NonDifferentiableInputError, lambda: gw.grad(fun)(params))
    assert text == f"argument params['w'][1] has dtype int64; {CAST}"
    text = message(NonDifferentiableInputError, lambda: gw.grad(fun, "rest")({}, rest=(X, params)))
    assert text == f"argument rest[1]['w'][1] has dtype int64; {CAST}"
    text = message(NonDifferentiableInputError, lambda: gw.grad(np.sum)(np.array([1])))
    assert text == f"argument a has dtype int64; {CAST}"


def test_a_method_under_grad_says_that_self_comes_first() -> None:
    class Model:
        @gw.grad
        def loss(self, x: Any) -> Any:
            return np.sum(x)

    assert message(NotAnArrayError, lambda: Model().loss(X)) == (  # type: ignore[arg-type,unused-ignore]  # to be refused
        "argument self is a Model, which cannot be differentiated. "
        "Fix: on a method, self is argument 0; take argnums=1 for the one after it."
    )


def fit(w: Any, b: Any, *, scale: Any = 1.0) -> Any:
    return w * b * scale


@pytest.mark.parametrize(
    ("argnums", "args", "kwargs", "text"),
    [
        (
            2,
            (1.0, 2.0),
            {},
            (
                "argnums=2 is out of range: fit was called with 2 positional arguments. "
                "Fix: use a position from 0 to 1, or a parameter's name."
            ),
        ),
        (
            -3,
            (1.0, 2.0),
            {},
            (
                "argnums=-3 is out of range: fit was called with 2 positional arguments. "
                "Fix: use a position from 0 to 1, or a parameter's name."
            ),
        ),
        (
            1,
            (1.0,),
            {"b": 2.0},
            (
                "argnums=1 is out of range: fit was called with 1 positional argument. "
                "Fix: pass b by position, or use argnums='b'."
            ),
        ),
        (
            1,
            (1.0,),
            {},
            (
                "argnums=1 is out of range: fit was called with 1 positional argument. "
                "Fix: pass b; a default is not differentiated."
            ),
        ),
        (
            0,
            (),
            {"w": 1.0, "b": 2.0},
            (
                "argnums=0 is out of range: fit was called with 0 positional arguments. "
                "Fix: pass w by position, or use argnums='w'."
            ),
        ),
        (
            "c",
            (1.0, 2.0),
            {},
            "argnums='c' names no parameter of fit(w, b, scale). Fix: name one of its parameters.",
        ),
        (
            ("w", "scale"),
            (1.0, 2.0),
            {},
            (
                "argnums='scale': fit has this parameter, but was called without it. "
                "Fix: pass scale; a default is not differentiated."
            ),
        ),
        (
            1.5,
            (1.0, 2.0),
            {},
            (
                "argnums=1.5. Fix: give a position (an int), a parameter's name (a str), "
                "or a sequence of them."
            ),
        ),
        (
            (0, None),
            (1.0, 2.0),
            {},
            (
                "argnums=None. Fix: give a position (an int), a parameter's name (a str), "
                "or a sequence of them."
            ),
        ),
    ],
)
def test_argnums_that_do_not_fit(argnums: Any, args: Any, kwargs: Any, text: str) -> None:
    grad, elementwise_grad = as_any(gw.grad), as_any(gw.elementwise_grad)
    assert message(ArgnumsError, lambda: grad(fit, argnums)(*args, **kwargs)) == text
    assert message(ArgnumsError, lambda: elementwise_grad(fit, argnums)(*args, **kwargs)) == text


# Outputs ------------------------------------------------------------------------------------------


def test_an_output_that_is_not_a_scalar() -> None:
    def residuals(x: Any) -> Any:
        return x * 2

    assert message(NonScalarOutputError, inside(residuals)) == (
        "grad needs a function that returns a scalar; residuals returned an array of shape (3,). "
        "Fix: reduce it, for example with .sum(); or use gradwrap.vjp, which takes a cotangent of "
        "that shape, or gradwrap.elementwise_grad for an elementwise function."
    )
    assert "returned an array of shape (1,)" in message(
        NonScalarOutputError, inside(lambda x: x[:1])
    )
    assert "returned an array of shape (2,)" in message(
        NonScalarOutputError, inside(lambda x: np.ones(2))
    )


@pytest.mark.parametrize(
    ("out", "kind"),
    [
        (None, "None"),
        ("loss", "a str"),
        ([1.0], "a list"),
        ((1.0, 2.0, 3.0), "a tuple of 3"),
        ({"loss": 1.0}, "a dict"),
        (True, "a bool"),
    ],
)
def test_an_output_that_is_not_an_array(out: Any, kind: str) -> None:
    def loss(x: Any) -> Any:
        return out

    assert message(NotAnArrayError, inside(loss)) == (
        f"grad needs a function that returns a real scalar; loss returned {kind}. "
        "Fix: return the scalar alone, or with has_aux=True a pair (scalar, anything)."
    )


def test_an_output_of_a_dtype_without_a_gradient() -> None:
    def loss(x: Any) -> Any:
        return np.argmax(x)

    assert message(NonScalarOutputError, inside(loss)) == (
        "grad needs a function that returns a real scalar; loss returned int64. "
        "Fix: return a floating-point number."
    )
    assert "returned bool" in message(NonScalarOutputError, inside(lambda x: np.sum(x) > 0))


def test_a_complex_output() -> None:
    def loss(x: Any) -> Any:
        return np.sum(x) * 1j

    assert message(NonScalarOutputError, inside(loss)) == (
        "grad needs a function that returns a real scalar; loss returned complex128. "
        "Fix: return .real, .imag or abs of it, or pass holomorphic=True for the complex "
        "derivative of a holomorphic function."
    )


def test_holomorphic_needs_complex_arguments_and_outputs() -> None:
    def fun(z: Any) -> Any:
        return z * 1j

    assert message(NonDifferentiableInputError, lambda: gw.grad(fun, holomorphic=True)(2.0)) == (
        "holomorphic=True needs complex arguments; fun was called with float64[]. "
        "Fix: cast it, for example x.astype(np.complex128), or leave holomorphic=True out."
    )
    assert message(NonScalarOutputError, lambda: gw.grad(np.abs, holomorphic=True)(2j)) == (
        "holomorphic=True needs a complex output; absolute returned float64. "
        "Fix: leave holomorphic=True out."
    )


def test_has_aux_needs_a_pair() -> None:
    def loss(x: Any) -> Any:
        return np.sum(x)

    assert message(NotAnArrayError, lambda: gw.grad(loss, has_aux=True)(X)) == (
        "has_aux=True needs a function that returns a pair (out, aux); loss returned a Variable. "
        "Fix: return out, aux."
    )


def test_elementwise_grad_needs_real_arrays() -> None:
    def fun(x: Any) -> Any:
        return x * 1j

    assert message(NonScalarOutputError, lambda: gw.elementwise_grad(fun)(X)) == (
        "elementwise_grad needs real outputs; fun returned complex128. "
        "Fix: return .real, .imag or abs of it, or use gradwrap.vjp."
    )
    assert message(NotAnArrayError, lambda: gw.elementwise_grad(lambda x: "a")(X)) == (
        "elementwise_grad needs a function that returns arrays; <lambda> returned a str. "
        "Fix: return the array alone."
    )


# Leaving the graph --------------------------------------------------------------------------------

LEAVES = " would take a tracked value out of the graph, and drop its gradient. Fix: "
IF_NOT_WANTED = ".detach() (an array) or .item() (a number) if no gradient is wanted."
CONVERSION = (
    "Converting to a plain numpy.ndarray (np.asarray, np.array, or code that calls them)"
    + LEAVES
    + "import gradwrap.numpy as np, whose np.array, np.asarray, np.sum and others take tracked "
    "values, and lists of them; or take " + IF_NOT_WANTED
)
STORE = (
    "A store into a plain numpy.ndarray"
    + LEAVES
    + "make it with gradwrap.numpy.zeros inside the function that is differentiated, or with "
    "gradwrap.wrap(np.zeros(...)); or store " + IF_NOT_WANTED
)
INT = f"int(){LEAVES}call int(x.item()): no gradient passes through a whole number."
FLOAT = (
    "float() (also of the functions of math)"
    + LEAVES
    + "use the array function (np.sin rather than math.sin), or call .item() if no gradient is "
    "wanted."
)
SINE = (
    "float() (also of the functions of math)"
    + LEAVES
    + "np.sin(x); or pass .item() (a number) or .detach() (an array) if no gradient is wanted."
)
COMPLEX = (
    f"complex(){LEAVES}use the array operations (a + 1j * b rather than complex(a, b)), or call "
    ".item() if no gradient is wanted."
)
INDEX = f"Use as an index{LEAVES}call int(x.item())."
COUNT = f"Use as an index{LEAVES}range(int(x.item())): a count has no derivative."
PLACE = re.compile(r" in \S+ \(test_errors\.py, line \d+\)")


def stored_whole(x: Any) -> Any:
    out = np.zeros(3)
    out[:] = x
    return out.sum()


def stored_one_by_one(x: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2
    return out.sum()


@pytest.mark.parametrize(
    ("fun", "text"),
    rows(
        [
            (lambda x: math.sin(x[0]), SINE),
            (lambda x: float(x[0]), FLOAT),
            (lambda x: int(x[0]), INT),
            (lambda x: complex(x[0]), COMPLEX),
            (lambda x: as_any([1, 2, 3])[x[0]], INDEX),
            (lambda x: range(x[0]), COUNT),
            (lambda x: np.zeros(x[0]), INDEX),
            (np.asarray, CONVERSION),
            (np.array, CONVERSION),
            (lambda x: np.array([x[0], x[1]]), CONVERSION),
            (lambda x: np.array([x, x]), CONVERSION),
            (lambda x: np.array([x[0], 1.0], dtype=object), CONVERSION),
            (lambda x: np.ones(3) + np.asarray([x[0], 1.0, x[1]]), CONVERSION),
            (stored_whole, STORE),
            (stored_one_by_one, STORE),
        ]
    ),
)
def test_a_tracked_value_does_not_leave_unnoticed(fun: Any, text: str) -> None:
    """The message names the line, `np.asarray` as the function itself has none of its own."""
    found = message(TrackedValueError, inside(fun))
    assert len(PLACE.findall(found)) == 1
    assert PLACE.sub("", found) == text


def test_numpy_s_error_about_a_store_is_the_cause_of_ours() -> None:
    """NumPy puts its own error in the place of ours; it reaches nobody, who catches it does."""
    with pytest.raises(ValueError, match="A store into a plain") as caught:
        gw.grad(stored_one_by_one)(X)
    assert type(caught.value) is TrackedValueError
    assert type(caught.value.__cause__) is ValueError
    assert str(caught.value.__cause__) == "setting an array element with a sequence."


def test_the_explicit_ways_out() -> None:
    x = gw.wrap(X, requires_grad=True)
    assert x[0].item() == 0.3
    assert x.tolist() == [0.3, 1.2, 2.0]
    np.testing.assert_array_equal(np.asarray(x.detach()), X)
    np.testing.assert_array_equal(np.asarray(gw.wrap(X)), X)
    assert math.sin(gw.wrap(np.array(0.5))) == math.sin(0.5)
    assert bool(x[0] > 0)
    assert float(gw.wrap(X)[0]) == 0.3


# Operations ---------------------------------------------------------------------------------------


def test_a_ufunc_without_a_rule() -> None:
    assert message(NoRuleError, inside(lambda x: np.sum(special.mathieu_a(1.0, x)))) == (
        "mathieu_a on numpy arrays has no rule, and an argument is tracked. "
        "Fix: gradwrap.defvjp(mathieu_a, lambda xp, g, x1: ..., lambda xp, g, x2: ...) gives it "
        "one, or .detach() the argument if its gradient is not wanted."
    )


def test_a_function_of_numpy_without_a_rule() -> None:
    assert message(NoRuleError, inside(lambda x: np.sum(np.setxor1d(x, X)))) == (
        "np.setxor1d on numpy arrays has no rule, and an argument is tracked. "
        "Fix: gradwrap.defvjp(np.setxor1d, lambda xp, g, x: ...) gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )


def test_a_rule_without_a_formula_for_an_argument() -> None:
    @gw.primitive
    def scaled(x: Any, factor: Any) -> Any:
        return x * factor

    gw.defvjp(scaled, lambda xp, g, factor: g * factor)
    assert message(NoRuleError, inside(lambda f: np.sum(scaled(X, f)))) == (
        "scaled on numpy arrays has no derivative with respect to its argument factor, which is "
        "tracked. Fix: gradwrap.defvjp(scaled, None, lambda xp, g, factor: ...) gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )


def test_an_operation_without_a_rule_on_data_is_fine() -> None:
    gradient = gw.grad(fn(lambda x, y: np.sum(x * np.i0(y) * special.ber(y))))(X, X)
    np.testing.assert_allclose(gradient, np.i0(X) * special.ber(X))


@pytest.mark.parametrize(
    ("fun", "call"),
    rows(
        [
            (lambda x: np.sin(x, out=np.zeros(3)), "np.sin"),
            (lambda x: np.sum(x, out=np.zeros(())), "np.sum"),
            (lambda x: np.dot(x, x, np.zeros(())), "np.dot"),
            (lambda x: np.add.reduce(x, out=np.zeros(())), "np.add.reduce"),
            (lambda x: np.add(x, 1.0, out=np.zeros(3)), "np.add"),
        ]
    ),
)
def test_out_of_a_plain_array(fun: Any, call: str) -> None:
    update = "; for a += x on a plain array a, write a = a + x" if call == "np.add" else ""
    assert PLACE.sub("", message(OutArgumentError, inside(fun))) == (
        f"{call}(..., out=an ndarray): a plain array cannot hold a tracked value. "
        f"Fix: omit out=, y = {call}(...){update}."
    )


def test_a_plain_array_changed_in_place_by_a_tracked_one() -> None:
    def fun(x: Any) -> Any:
        y = np.ones(3)
        y += x
        return np.sum(y)

    text = message(OutArgumentError, inside(fun))
    assert "a plain array cannot hold a tracked value. Fix: " in text


STRICT = strict.asarray([1.0, 2.0, 3.0])
MIXED = (
    "Fix: convert them to one library before the call, for example with xp.asarray(numpy_array)."
)


@pytest.mark.parametrize(
    ("fun", "name"),
    rows(
        [
            (lambda x: x * STRICT, "multiply"),
            (lambda x: x + STRICT, "add"),
            (lambda x: x @ STRICT, "matmul"),
            (lambda x: x > STRICT, "greater"),
            (lambda x: np.multiply(x, STRICT), "multiply"),
            (lambda x: x.__array_namespace__().add(x, STRICT), "add"),
            (lambda x: np.concatenate([x, gw.wrap(STRICT)]), "concat"),
            (lambda x: np.where(x > 0, x, STRICT), "where"),
            (lambda x: x * gw.wrap(STRICT), "multiply"),
            (lambda x: gw.wrap(STRICT) * x, "multiply"),
        ]
    ),
)
def test_arrays_of_two_libraries(fun: Any, name: str) -> None:
    text = message(MixedLibrariesError, inside(lambda x: np.sum(fun(x))))
    assert text == f"{name} got arrays of array_api_strict and numpy. {MIXED}"


def test_an_object_array_met_on_the_way() -> None:
    boxed = np.array([1.0, 2.0, 3.0], dtype=object)
    text = (
        "an operation with a tracked array gave an array of dtype object, which cannot be "
        "differentiated: one of its arguments is an object array. "
        "Fix: convert it, for example with np.asarray(x, dtype=np.float64)."
    )
    assert message(NonDifferentiableInputError, inside(lambda x: np.sum(x * boxed))) == text
    assert message(NonDifferentiableInputError, inside(lambda x: np.sum(boxed + x[0]))) == text


def test_something_that_is_no_array_among_arrays() -> None:
    with pytest.raises(TypeError):
        gw.grad(lambda x: np.sum(x + "a"))(X)
    with pytest.raises(TypeError):
        gw.grad(lambda x: np.sum(x * object()))(X)
    with pytest.raises(TypeError):
        gw.grad(lambda x: np.sum(np.add(x, as_any(None))))(X)


# The tape -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    rows(
        [
            (
                lambda x: (x * 2.0).backward(),
                (
                    "grad can be implicitly created only for scalar outputs; "
                    "this one is float64[3]. "
                    "Fix: .sum() it, or pass gradient= of its shape."
                ),
            ),
            (
                lambda x: (x * 1j).sum().backward(),
                (
                    "grad can be implicitly created only for real scalar outputs; this one is "
                    "complex128[]. Fix: .sum() it, or pass gradient= of its shape."
                ),
            ),
            (
                lambda x: gw.wrap(X).sum().backward(),
                (
                    "element 0 of tensors does not require grad and does not have a grad_fn. "
                    "Fix: make an array it "
                    "is computed from with gradwrap.wrap(array, requires_grad=True)."
                ),
            ),
            (
                lambda x: gw.autograd.backward([x.sum(), as_any(X)]),
                (
                    "element 1 of tensors does not require grad and does not have a grad_fn. "
                    "Fix: make an array it "
                    "is computed from with gradwrap.wrap(array, requires_grad=True)."
                ),
            ),
            (
                lambda x: x.backward(np.ones(2)),
                (
                    "Mismatch in shape: grad_output[0] has a shape of (2,) and "
                    "output[0] has a shape of (3,). "
                    "Fix: pass a gradient of the output's shape."
                ),
            ),
            (
                lambda x: x.backward(np.ones(3, np.float32)),
                (
                    "Mismatch in dtype: grad_output[0] has a dtype of float32 and "
                    "output[0] has a dtype of float64. "
                    "Fix: cast the gradient."
                ),
            ),
            (
                lambda x: x.backward(STRICT),
                (
                    "gradient is an array of array_api_strict, the output is an array of numpy. "
                    "Fix: convert the gradient."
                ),
            ),
            (
                lambda x: x.backward("ones"),
                "gradient is a str. Fix: pass an array of the output's shape and dtype.",
            ),
            (
                lambda x: gw.autograd.backward([x.sum(), x.sum()], [None]),
                "got 2 tensors and 1 gradients. Fix: pass a gradient, or None, for each tensor.",
            ),
            (
                lambda x: x.sum().backward(inputs=[]),
                (
                    "`inputs` argument to `backward()` cannot be empty. "
                    "Fix: name the variables to differentiate for."
                ),
            ),
            (
                lambda x: x.sum().backward(inputs=[X]),
                (
                    "One of the differentiated Variables does not require grad: inputs of "
                    "backward(). Fix: make it with gradwrap.wrap(array, requires_grad=True)."
                ),
            ),
            (
                lambda x: gw.grad(lambda y: np.sum(x * y).backward())(X),
                (
                    "backward() on a value that a transform (gradwrap.grad, vjp, "
                    "...) is differentiating: "
                    "the tape lies outside of every transform. Fix: use "
                    "gradwrap.grad inside as well, or "
                    ".detach() the value."
                ),
            ),
        ]
    ),
)
def test_backward_from_what_it_cannot_start_from(call: Any, text: str) -> None:
    x = gw.wrap(X.copy(), requires_grad=True)
    assert message(BackwardError, lambda: call(x)) == text
    assert x.grad is None


def test_what_cannot_be_wrapped() -> None:
    assert message(NonDifferentiableInputError, lambda: gw.wrap(np.array([1]), True)) == (
        f"an array that requires grad has dtype int64; {CAST}"
    )
    assert message(NonDifferentiableInputError, lambda: gw.wrap(np.array([1, None]))).startswith(
        "the wrapped array has dtype object. gradwrap differentiates arrays of numbers. Fix: "
    )
    for value, kind in (([1.0], "list"), (1.0, "float"), (None, "NoneType"), ("a", "str")):
        assert message(NotAnArrayError, partial(gw.wrap, as_any(value))) == (
            f"{kind} is not an array of a library that follows the Python Array API standard. "
            "Fix: pass a numpy.ndarray, a cupy.ndarray, ..."
        )


def test_writing_to_a_leaf() -> None:
    x = gw.wrap(X.copy(), requires_grad=True)

    def write() -> None:
        x[0] = 1.0

    assert message(InPlaceError, write) == (
        "a leaf Variable that requires grad is being used in an in-place operation. Fix: put "
        "`with gradwrap.no_grad():` around an update of a parameter, or write to x.clone()."
    )


# NaN ----------------------------------------------------------------------------------------------


def test_nan_is_passed_on() -> None:
    value, gradient = gw.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, np.nan, 2.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, [2.0, np.nan, 4.0])
    with np.errstate(invalid="ignore"):
        value, gradient = gw.value_and_grad(lambda x: np.sum(np.sqrt(x)))(np.array([4.0, -1.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, [0.25, np.nan])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(gw.grad(lambda x: np.sum(np.log(x)))(np.zeros(1)), [np.inf])


# The classes --------------------------------------------------------------------------------------


def test_every_error_is_a_gradwrap_error_and_a_builtin_one() -> None:
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        assert issubclass(kind, GradwrapError)
        assert name in kind.__qualname__
        assert kind.__doc__
        if kind is not GradwrapError:
            builtins = (TypeError, ValueError, RuntimeError, NotImplementedError, Warning)
            assert issubclass(kind, builtins)


TRANSFORMS: list[Any] = [
    *(gw.grad, gw.value_and_grad, gw.elementwise_grad),
    *(gw.jacrev, gw.jacfwd, gw.jacobian, gw.hessian),
]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_transform_of_an_array_or_with_an_array_as_argnums_raises_at_once(transform: Any) -> None:
    name = f"gradwrap.{transform.__name__}"
    of_array = (
        f"{name} takes a function and returns another; it got an array of numpy. Fix: {name}("
    )
    with_array = (
        f"argnums, the second argument of {name}, is an array of numpy. Fix: give the point"
    )
    for x in (X, gw.wrap(X), np.float64(1.0)):
        calls: list[Callable[[], Any]] = [partial(transform, x), partial(transform, total, x)]
        assert message(ArgnumsError, calls[0]).startswith(of_array)
        assert message(ArgnumsError, calls[1]).startswith(with_array)
    assert "it got a float" in message(ArgnumsError, lambda: transform(1.0))
    assert message(ArgnumsError, lambda: transform(total, [1.5])).startswith("argnums=1.5. Fix")


def test_errors_that_are_causes_of_each_other_are_raised() -> None:
    def f(x: Any) -> Any:
        one, other = KeyError("one"), ValueError("other")
        one.__cause__, other.__cause__ = other, one
        raise one

    with pytest.raises(KeyError, match="one"):
        gw.grad(f)(1.0)
