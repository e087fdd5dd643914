"""`x.flat`, and assignments to `x.flat`, `x.real`, `x.imag` and `x.shape`: as NumPy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.errors import InPlaceError, TrackedValueError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
W: Any = np.arange(1.0, 7.0)

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda y: y.reshape(2, 3),
    "transposed": lambda y: y.reshape(3, 2).T,
    "reversed": lambda y: (y.reshape(2, 3) + 0.0)[:, ::-1],
    "vector": lambda y: y[...],
}
KEYS: dict[str, Any] = {
    "first": 0,
    "last": -1,
    "integer of numpy": np.int64(2),
    "tuple of one": (1,),
    "slice": slice(1, 4),
    "backwards": slice(None, None, -2),
    "everything": slice(None),
    "nothing": slice(0, 0),
    "ellipsis": ...,
    "list": [0, 2],
    "matrix": np.array([[0, 1], [2, 3]]),
}
VALUES: dict[str, Callable[[Any], Any]] = {
    "number": lambda x: 5.0,
    "tracked number": lambda x: x[1] ** 2,
    "short list": lambda x: [1.0, x[2]],
    "vector": lambda x: x * x,
    "too long": lambda x: np.arange(1.0, 9.0),
}


def numerical(f: Callable[[Any], Any], x: Any) -> Any:
    """The gradient by central differences."""
    steps = np.eye(x.size) * 1e-6
    return np.array([(f(x + h) - f(x - h)) / 2e-6 for h in steps])


def check(f: Callable[[Any], Any]) -> None:
    """Compare a function with itself on plain arrays, and its gradient with differences."""
    value, gradient = gw.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X))
    np.testing.assert_allclose(gradient, numerical(f, X), rtol=1e-5, atol=1e-6)
    pushed = gw.jvp(f, (X,), (W,))[1]
    np.testing.assert_allclose(pushed, numerical(f, X) @ W, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_reading(layout: Any, key: Any) -> None:
    def read(x: Any) -> Any:
        y: Any = layout(x * 1.0)
        found: Any = y.flat[key]
        if getattr(found, "shape", ()):
            found[...] = found * 2.0  # a copy: `y` stays as it is
        return np.sum(found**2) + np.sum(y)

    check(read)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_writing_is_seen_in_the_array_and_its_base(layout: Any, key: Any, value: Any) -> None:
    plain: Any = np.empty(6)
    is_one = np.ndim(plain.flat[key]) == 0

    def write(x: Any) -> Any:
        y = x * 1.0
        z: Any = layout(y)
        z.flat[key] = value(x)
        return np.sum(z**2 * W.reshape(z.shape)) + np.sum(y * W)

    if is_one and np.ndim(value(X)) != 0:
        with pytest.raises(ValueError, match="Error setting single item"):
            write(X)
        with pytest.raises(ValueError, match=r"broadcast|setting an array element"):
            gw.grad(write)(X)
    else:
        check(write)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_assigning_all(value: Any) -> None:
    def write(x: Any) -> Any:
        y = (x * 1.0).reshape(3, 2)
        y.flat = value(x)
        return np.sum(y**2 * W.reshape(3, 2))

    check(write)


def test_a_buffer_filled_through_flat() -> None:
    def fill(x: Any) -> Any:
        matrix: Any = gw.wrap(np.zeros((3, 3)))
        matrix.flat[::4] = x[:3]
        matrix.flat[1] = x[3]
        return np.sum(matrix @ matrix)

    def plain(x: Any) -> Any:
        matrix = np.zeros((3, 3))
        matrix.flat[::4] = x[:3]
        matrix.flat[1] = x[3]
        return np.sum(matrix @ matrix)

    np.testing.assert_allclose(gw.grad(fill)(X), numerical(plain, X), rtol=1e-5)


def test_iterating() -> None:
    def f(x: Any) -> Any:
        y = (x * x).reshape(2, 3)
        flat = y.flat
        assert len(flat) == 6
        assert flat.coords == (0, 0)
        first = next(flat)
        assert (flat.index, flat.coords) == (1, (0, 1))
        assert flat.base is y
        rest = sum(v * (i + 1) for i, v in enumerate(flat))
        return first + rest + sum(a * b for a, b in zip(y.flat, y.T.flat, strict=True))

    check(f)


@pytest.mark.parametrize(
    "use",
    rows(
        [
            lambda y: np.sum(y.flat),
            lambda y: np.sum(np.sin(y.flat)),
            lambda y: np.dot(y.flat, y.T.flat),
            lambda y: np.sum(np.concatenate([y.flat, y.T.flat]) ** 2),
            lambda y: np.sum(y.flat.copy() ** 2),
        ]
    ),
)
def test_functions_of_numpy_take_it_for_the_vector(use: Any) -> None:
    check(lambda x: use((x * x).reshape(2, 3)))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (6, "index 6 is out of bounds for size 6"),
        (-7, "index -7 is out of bounds for size 6"),
        ((1, 2), "too many indices for flat iterator"),
        ([6], "out of bounds"),
    ],
)
def test_keys_out_of_bounds_raise_what_numpy_raises(key: Any, text: str) -> None:
    with pytest.raises(IndexError, match=r"out of bounds|too many"):
        X.reshape(2, 3).flat[key]
    with pytest.raises(IndexError, match=text):
        gw.grad(lambda x: np.sum(x.reshape(2, 3).flat[key]))(X)
    with pytest.raises(IndexError, match=text):
        gw.grad(lambda x: (x * 1.0).flat.__setitem__(key, 1.0))(X)


def test_it_does_not_leave_the_graph() -> None:
    with pytest.raises(TrackedValueError, match=r"np\.asarray"):
        gw.grad(lambda x: np.sum(np.asarray(x.flat)))(X)
    np.testing.assert_array_equal(np.asarray(gw.wrap(X.reshape(2, 3)).flat), X)


def test_under_vmap() -> None:
    batch = np.stack([X, X + 1.0, X * 2.0])

    def f(x: Any) -> Any:
        y = (x * x).reshape(2, 3) * 1.0
        y.flat[::2] = x[:3]
        y.flat[1] = x[5]
        return np.sum(y.flat[1:4] ** 2)

    np.testing.assert_allclose(gw.vmap(f)(batch), [f(x) for x in batch])
    np.testing.assert_allclose(
        gw.vmap(gw.grad(f))(batch), [numerical(f, x) for x in batch], rtol=1e-5, atol=1e-5
    )
    picked: Any = gw.vmap(fn(lambda x, i: x.reshape(2, 3).flat[i]), in_axes=(None, 0))(
        X, np.array([4, 1])
    )
    np.testing.assert_array_equal(picked, [5.0, 2.0])


# Assignments --------------------------------------------------------------------------------------


def parts(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        z = make(x)
        w = z.reshape(-1)
        return np.sum(abs(w) ** 2 * W) + np.sum(w.real * W[::-1]) + np.sum(w.imag**3)

    return f


def both(x: Any) -> Any:
    z = x * 1j
    z.real = x**2
    z.imag = x[0]
    return z


def through_a_view(x: Any) -> Any:
    z = x * (1.0 + 2.0j)
    z.reshape(2, 3)[1].real = x[:3]
    z[::2].imag = [1.0, 2.0, 3.0]
    return z


def of_a_real_array(x: Any) -> Any:
    y = x * 1.0
    y.real = x**2
    y[1:3].real = 7.0
    return y + 0j


@pytest.mark.parametrize("make", [both, through_a_view, of_a_real_array])
def test_the_parts_of_complex_numbers(make: Any) -> None:
    check(parts(make))


def test_real_numbers_have_no_imaginary_part_to_set() -> None:
    with pytest.raises(TypeError, match=r"no imaginary part to set\. Fix: x = x \+ 1j \* v"):
        gw.vjp(lambda x: setattr(x, "imag", x), X)
    with pytest.raises(ValueError, match="broadcast"):
        gw.vjp(lambda x: setattr(x * 1j, "real", np.ones((2, 6))), X)


def reshaped(x: Any) -> Any:
    y = x * x
    y.shape = (2, 3)
    assert y.shape == (2, 3)
    y[0, 1] = x[0]
    y.shape = -1
    y[0] *= 2.0
    y.shape = (3, 2)
    y += x.reshape(3, 2)
    return np.sum(y**2 * W.reshape(3, 2))


def reshaped_view(x: Any) -> Any:
    y = x * x
    z = y[2:]
    z.shape = (2, 2)
    z[1] *= x[0]
    y *= 3.0
    z[0, 0] = x[5]
    return np.sum(y**2 * W) + np.sum(z @ z)


def reshaped_with_views(x: Any) -> Any:
    y = x * x
    z, outdated = y[:2], y[3:]
    y[4] = x[0]
    y.shape = (2, 3)
    z[0] = x[3]
    y[1, 2] *= x[1]
    return np.sum(y**2 * W.reshape(2, 3)) + np.sum(z**3) + np.sum(outdated * W[:3])


@pytest.mark.parametrize("f", [reshaped, reshaped_view, reshaped_with_views])
def test_another_shape_in_place(f: Any) -> None:
    check(f)


def test_another_shape_on_the_tape() -> None:
    x: Any = gw.wrap(X, requires_grad=True)
    y = x * 2.0
    y.retain_grad()
    y.shape = (2, 3)
    np.sum(y**2).backward()
    np.testing.assert_allclose(x.grad, 8.0 * X)
    np.testing.assert_allclose(y.grad, 4.0 * X.reshape(2, 3))
    with pytest.raises(InPlaceError, match=r"a leaf .* keeps its shape\. Fix: x = x\.reshape"):
        x.shape = (3, 2)
    assert x.shape == (6,)


def test_shapes_that_cannot_be_given_in_place() -> None:
    def too_short(x: Any) -> Any:
        x.shape = (4,)

    def no_view(x: Any) -> Any:
        y = (x * 1.0).reshape(2, 3).T
        y.shape = (6,)

    with pytest.raises(ValueError, match="cannot reshape"):
        gw.grad(too_short)(X)
    with pytest.raises(InPlaceError, match=r"do not lie in memory .*Fix: x = x\.reshape\(\.\.\.\)"):
        gw.grad(no_view)(X)


def test_another_shape_under_vmap() -> None:
    def f(x: Any) -> Any:
        y = x * x
        y.shape = (2, 3)
        return np.sum(y[1] * x[:3])

    batch = np.stack([X, X + 1.0])
    np.testing.assert_allclose(gw.vmap(f)(batch), [f(x) for x in batch])


def test_the_elements_are_an_array_to_stores_and_functions() -> None:
    def f(x: Any) -> Any:
        y: Any = gnp.empty(4)
        y[:] = x.flat
        return np.sum(y**2) + np.sum(x.__array_namespace__().asarray(x.flat) * np.arange(4.0))

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    wanted = 2 * x + np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(gw.grad(f)(x), wanted)
    np.testing.assert_array_equal(gw.grad(f)(np.asfortranarray(x)), wanted)
    assert gw.jvp(f, (x,), (x,))[1] == np.sum(wanted * x)
