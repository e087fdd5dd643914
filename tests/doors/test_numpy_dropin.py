"""`import gradwrap.numpy as np`: NumPy, whose new arrays can hold tracked values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy
from filling import check_filling
from gradwrap.errors import InPlaceError, OutArgumentError, TrackedValueError
from lambdas import fn, is_a

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([1.0, 2.0, 3.0])
gnp: Any = gradwrap.numpy

MAKERS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda m: m.zeros(3),
    "zeros by name": lambda m: m.zeros(shape=(2, 3), dtype=np.float32),
    "ones": lambda m: m.ones((2, 2)),
    "full": lambda m: m.full(3, 7.0),
    "zeros_like": lambda m: m.zeros_like(X),
    "ones_like": lambda m: m.ones_like(X),
    "full_like": lambda m: m.full_like(X, 2.0),
    "arange": lambda m: m.arange(3.0),
    "linspace": lambda m: m.linspace(0.0, 1.0, 5),
    "eye": lambda m: m.eye(3),
    "identity": lambda m: m.identity(2),
    "tri": lambda m: m.tri(3),
    "array": lambda m: m.array([1.0, 2.0]),
    "array by name": lambda m: m.array(object=[1, 2], dtype=float),
    "asarray in order": lambda m: m.asarray([[1, 2], [3, 4]], float, "F"),
    "asarray": lambda m: m.asarray([1, 2], dtype=np.float32),
    "copy": lambda m: m.copy(X),
    "fromiter": lambda m: m.fromiter((i * 0.5 for i in range(3)), float),
    "complex": lambda m: m.zeros(3, dtype=complex),
}


def jacobian_rows(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the derivatives of each element of `f(x)`."""
    out, pull = gw.vjp(f, x)
    return np.stack([pull(row.reshape(out.shape))[0] for row in np.eye(out.size)])


# Outside of a transform, and inside ---------------------------------------------------------------


def test_what_is_an_array_already_is_not_a_new_one() -> None:
    """As in NumPy: a write to it is a write to the caller's array, which holds no tracked value."""

    def f(x: Any) -> Any:
        assert gnp.asarray(X) is X
        return np.sum(x)

    gw.grad(f)(X)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_arrays_are_numpys_outside_and_variables_inside(make: Callable[[Any], Any]) -> None:
    expected = make(np)
    outside = make(gnp)
    assert type(outside) is np.ndarray
    assert outside.dtype == expected.dtype
    np.testing.assert_array_equal(outside, expected)
    inside: list[Any] = []

    def f(x: Any) -> Any:
        inside.append(make(gnp))
        return np.sum(x)

    gw.grad(f)(X)
    assert is_a(inside[0], gw.Variable)
    assert not inside[0].requires_grad
    assert inside[0].dtype == expected.dtype
    np.testing.assert_array_equal(inside[0].data, expected)
    assert type(make(gnp)) is np.ndarray


def test_several_new_arrays_and_those_that_cannot_be_tracked() -> None:
    def f(x: Any) -> Any:
        assert all(isinstance(part, gw.Variable) for part in gnp.meshgrid([1.0, 2.0], [3.0]))
        assert type(gnp.array(["a", "b"])) is np.ndarray
        assert 2 in set(gnp.arange(3))  # integers that are equal to Python's
        for plain in (
            gnp.arange(3),
            gnp.zeros(3, dtype=bool),
            gnp.array([1, 2]),
            gnp.indices((2, 2)),
        ):
            assert type(plain) is np.ndarray
        return np.sum(x)

    gw.grad(f)(X)


def test_everything_else_is_numpys_own() -> None:
    for name in ("ndarray", "float64", "testing", "polynomial", "errstate", "finfo"):
        assert getattr(gnp, name) is getattr(np, name)
    for name in ("sin", "sum"):  # which take lists of tracked values, and are the same otherwise
        assert getattr(gnp, name) == getattr(np, name)
    assert gnp.linalg.LinAlgError is np.linalg.LinAlgError
    assert gnp.random is gw.random  # NumPy's generators, with derivatives
    assert gnp.pi == np.pi
    assert {"zeros", "sin", "linalg", "pi", "array"} <= set(dir(gnp))
    assert gnp.zeros.__name__ == "zeros"
    assert gnp.zeros.__doc__ == np.zeros.__doc__
    with pytest.raises(AttributeError, match="nonsense"):
        _ = gnp.nonsense


# Arrays from tracked values -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["array", "asarray", "asanyarray", "ascontiguousarray"])
def test_arrays_of_tracked_values(name: str) -> None:
    make = getattr(gnp, name)
    np.testing.assert_array_equal(
        jacobian_rows(lambda x: make([x[0] * x[1], x[2] ** 2]), X),
        [[2.0, 1.0, 0.0], [0.0, 0.0, 6.0]],
    )
    np.testing.assert_array_equal(jacobian_rows(lambda x: make(x), X), np.eye(3))


def test_nested_lists_with_numbers() -> None:
    def turned(angle: Any) -> Any:
        c, s = np.cos(angle), np.sin(angle)
        matrix = gnp.array([[c, -s, 0.0], [s, c, 0], (0, 0.0, 1)])
        assert matrix.shape == (3, 3)
        return np.sum(matrix @ X)

    expected = -np.sin(0.3) * 1.0 - np.cos(0.3) * 2.0 + np.cos(0.3) * 1.0 - np.sin(0.3) * 2.0
    assert gw.grad(turned)(0.3) == pytest.approx(expected)


def test_options_of_array() -> None:
    def f(x: Any) -> Any:
        assert gnp.array(x) is not x
        assert gnp.asarray(x) is x
        assert gnp.asarray(x, copy=True) is not x
        assert gnp.array([x[0], x[1]], ndmin=2).shape == (1, 2)
        assert gnp.array(x, np.float32).dtype == np.float32
        assert gnp.asarray([x, x], dtype=complex).dtype == np.complex128
        assert gnp.array(object=[x[0]]).shape == gnp.asarray(a=[x[0]]).shape == (1,)
        assert gnp.asarray(x, float, "C") is x
        copy = gnp.array(x)
        copy[0] = 5.0
        return np.sum(x * gnp.array([x[0], x[1], x[2]], dtype="float32", ndmin=2))

    np.testing.assert_allclose(gw.grad(f)(X), 2 * X)


@pytest.mark.parametrize("shape", [4, np.int64(4), (2, 3), [2, 3]])
def test_full_of_a_tracked_value(shape: Any) -> None:
    size = np.full(shape, 0.0).size
    gradient = gw.grad(lambda x: np.sum(gnp.full(shape, x[1]) ** 2))(X)
    np.testing.assert_array_equal(gradient, [0.0, size * 2 * 2.0, 0.0])


def test_full_by_name_and_like() -> None:
    gradient = gw.grad(lambda x: np.sum(gnp.full(shape=2, fill_value=x[0], dtype=np.float32)))(X)
    np.testing.assert_array_equal(gradient, [2.0, 0.0, 0.0])
    gradient = gw.grad(lambda x: np.sum(gnp.full_like(x, x[1]) * x))(X)
    np.testing.assert_array_equal(gradient, [2.0, 2.0 + X.sum(), 2.0])


def test_linspace_between_tracked_values() -> None:
    rows = jacobian_rows(lambda x: gnp.linspace(x[0], x[2], 5), X)
    right = np.linspace(0.0, 1.0, 5)
    np.testing.assert_allclose(rows, np.stack([1 - right, 0 * right, right], axis=1))


def test_new_arrays_like_a_tracked_one() -> None:
    def f(x: Any) -> Any:
        for module in (np, gnp):
            for name in ("zeros_like", "ones_like", "empty_like"):
                made = getattr(module, name)(x)
                assert isinstance(made, gw.Variable)
                assert made.shape == x.shape
                assert not made.requires_grad
        out = np.zeros_like(x)
        out[1:] = x[:-1] ** 2
        return np.sum(out * np.ones_like(x) * np.full_like(x, 3.0))

    np.testing.assert_array_equal(gw.grad(f)(X), [6.0, 12.0, 0.0])


# Buffers filled in a loop -------------------------------------------------------------------------

BUFFERS: dict[str, Callable[[int], Any]] = {
    "gradwrap.numpy": lambda n: gnp.zeros(n),
    "wrap_namespace": lambda n: gw.wrap_namespace(np).zeros(n),
    "empty": lambda n: gnp.empty(n),
}


@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
def test_a_new_array_is_filled_without_copies(make: Callable[[int], Any]) -> None:
    def product(x: Any) -> Any:
        out = make(3)
        buffer = id(out._value)
        out[0] = x[0]
        for i in range(1, 3):
            out[i] = out[i - 1] * x[i]
            assert id(out._value) == buffer
        return np.sum(out)

    np.testing.assert_allclose(gw.grad(product)(X), [9.0, 4.0, 2.0])


@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
def test_filling_inside_a_nested_gradient(make: Callable[[int], Any]) -> None:
    def product(x: Any) -> Any:
        out = make(3)
        out[0] = x[0]
        for i in range(1, 3):
            out[i] = out[i - 1]
            out[i] *= x[i]
        return np.sum(out)

    hessian = jacobian_rows(gw.grad(product), X)
    np.testing.assert_allclose(hessian, [[0.0, 4.0, 2.0], [4.0, 0.0, 1.0], [2.0, 1.0, 0.0]])


@pytest.mark.slow
@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
def test_filling_costs_the_same_for_each_write(make: Callable[[int], Any]) -> None:
    check_filling(make)


def test_plain_arrays_refuse_tracked_values() -> None:
    def store(x: Any) -> Any:
        out = np.zeros(3)
        out[0] = x[0]
        return np.sum(out)

    def add(x: Any) -> Any:
        out = np.zeros(3)
        out += x
        return np.sum(out)

    with pytest.raises(TrackedValueError, match=r"make it inside the function .*\.item\(\)"):
        gw.grad(store)(X)
    with pytest.raises(OutArgumentError, match="plain array"):
        gw.grad(add)(X)
    with pytest.raises(OutArgumentError, match=r"np\.exp.*omit out="):
        gw.grad(lambda x: np.sum(np.exp(x, out=np.zeros(3))))(X)


def test_integer_buffers_refuse_tracked_floats() -> None:
    def f(x: Any) -> Any:
        out = gnp.zeros(3, dtype=int)
        out[0] = x[0]
        return np.sum(out)

    with pytest.raises(TrackedValueError, match=r"an integer numpy\.ndarray.*dtype=float"):
        gw.grad(f)(X)

    def g(x: Any) -> Any:
        out: Any = gw.wrap(np.zeros(3, dtype=int))
        out[0] = x[0]
        return np.sum(out)

    with pytest.raises(InPlaceError, match="float64"):
        gw.grad(g)(X)


# Functions called for each element ----------------------------------------------------------------


def test_vectorize_stacks_what_the_function_returns() -> None:
    def scalar(x: Any, low: Any = 0.0) -> Any:
        return x**2 if x > low else 0.0 * x

    ramp = gnp.vectorize(scalar)

    def f(x: Any) -> Any:
        return ramp(x, np.array([[0.0], [1.5]])) * ramp(x, low=0.5)

    np.testing.assert_array_equal(f(X), gw.vjp(f, X)[0])
    gw.testing.check_grads(f, [X])


def test_vectorize_has_the_dtype_of_the_first_result_or_the_one_given() -> None:
    x = np.array([0.5, 1.5, 2.5])
    for ramp in (
        np.vectorize(fn(lambda a: 0 if a < 1.0 else a * a)),
        np.vectorize(fn(lambda a: a * a), otypes=[int]),
        np.vectorize(fn(lambda a: a * a), otypes=[np.float32]),
        np.vectorize(fn(lambda a: (0 if a < 1.0 else a, 2.0 * a))),
    ):
        ours: Any = gnp.vectorize(ramp.pyfunc, otypes=ramp.otypes)
        expected: Any = ramp(x)
        found: Any = gw.vjp(ours, x)[0]
        pairs: Any = [(expected, found)]
        if is_a(expected, tuple):
            pairs = zip(expected, found, strict=True)
        for one, other in pairs:
            np.testing.assert_array_equal(other, one)
            assert other.dtype == one.dtype


def test_vectorize_with_several_outputs_and_excluded_arguments() -> None:
    both = gnp.vectorize(fn(lambda p, x: (p[0] * x, p[1] + x)), excluded={0})

    def f(x: Any) -> Any:
        product, total = both(x, x[:2])
        return product * total

    np.testing.assert_array_equal(f(X), gw.vjp(f, X)[0])
    gw.testing.check_grads(f, [X])


def test_vectorize_with_a_signature() -> None:
    total = gnp.vectorize(np.sum, signature="(n)->()")
    np.testing.assert_array_equal(
        gw.grad(lambda x: total(x) * x[0])(X), np.eye(3)[0] * np.sum(X) + X[0]
    )
    product = gnp.vectorize(fn(lambda a, b: a * b), signature="(n),(n)->(n)")
    np.testing.assert_array_equal(gw.jacobian(product)(X, 2.0 * X), np.diag(2.0 * X))


def test_fromiter_keeps_the_graph() -> None:
    def f(x: Any) -> Any:
        return gnp.fromiter((v**2 for v in x), dtype=float, count=2) * x[:2]

    gw.testing.check_grads(f, [X])
    np.testing.assert_array_equal(gw.vjp(f, X)[0], X[:2] ** 3)


JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "numbers": lambda np, x: np.r_[x[0], 1.0, x[1]],
    "vectors": lambda np, x: np.r_[x, np.array([1.0, 2.0]), x[::-1]],
    "slices": lambda np, x: np.r_[0:3, x, 0:1:5j],
    "a list": lambda np, x: np.r_[[x[2], 3.0], x],
    "rows": lambda np, x: np.r_[x[None, :], np.ones((2, 3))],
    "columns": lambda np, x: np.c_[x, np.array([1.0, 2.0, 3.0]), x * x],
    "columns of numbers": lambda np, x: np.c_[x[0], 2.0, x[1]],
    "a matrix and a column": lambda np, x: np.c_[np.ones((3, 2)), x],
    "columns of a slice": lambda np, x: np.c_[0:3, x],
}


@pytest.mark.parametrize("name", JOINED)
def test_what_stands_between_the_brackets_is_joined(name: str) -> None:
    join, x = JOINED[name], np.array([0.5, -1.5, 2.0])
    joined = join(np, x)
    weights = np.sin(np.arange(1.0, joined.size + 1)).reshape(joined.shape)

    def loss(x: Any) -> Any:
        return np.sum(join(gnp, x) ** 2 * weights)

    value, gradient = gw.value_and_grad(loss)(x)
    np.testing.assert_allclose(value, np.sum(joined**2 * weights), rtol=1e-15)
    jacobian = gw.jacfwd(lambda x: join(gnp, x))(x)
    assert jacobian.shape == (*joined.shape, 3)
    wanted = np.tensordot(2 * joined * weights, jacobian, joined.ndim)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-14)
    gw.testing.check_grads(fn(lambda x: join(gnp, x) ** 2), (x,))


def test_strings_between_the_brackets_are_refused_for_tracked_values() -> None:
    np.testing.assert_array_equal(gnp.r_["0,2", [1, 2], [3, 4]], [[1, 2], [3, 4]])
    with pytest.raises(gw.errors.NoRuleError, match=r"numpy\.r_ with a string in front"):
        gw.grad(lambda x: np.sum(gnp.r_["0,2", x, x]))(np.ones(2))
