"""Calls that an array library refuses: they raise, and leave everything as it was.

The error is the library's own, or a clearer one. Afterwards the same function, with input that
fits, gives the right gradient: nothing of the failed run is left on a tape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
import tiny_arrays as tiny
from gradwrap.core.levels.levels import silent_up_to
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
DEVICES = strict.Device("CPU_DEVICE"), strict.Device("device1")


class Mistake(NamedTuple):
    """A function of `x` and `other`, with one `other` that does not fit and one that does."""

    function: Callable[[Any, Any], Any]
    x: Any
    bad: Any
    good: Any
    error: type[Exception]
    message: str


def product(x: Any, other: Any) -> Any:
    xp = x.__array_namespace__()
    return xp.sum(xp.sin(x) * other)


def strict_array(values: Any, device: Any = DEVICES[0], dtype: Any = strict.float64) -> Any:
    return strict.asarray(values, device=device, dtype=dtype)


def linalg(x: Any) -> Any:
    return x.__array_namespace__().linalg


def fourier(x: Any) -> Any:
    return x.__array_namespace__().fft


def power(x: Any, spectrum: Any) -> Any:
    return x.__array_namespace__().abs(spectrum) ** 2


VALUES = [0.3, -1.2, 2.0]
MATRIX = np.arange(6.0).reshape(2, 3)
SQUARE = np.array([[2.0, 0.5], [0.3, 1.5]])

MISTAKES = {
    "another device": Mistake(
        product,
        strict_array(VALUES),
        strict_array(VALUES, DEVICES[1]),
        strict_array(VALUES),
        ValueError,
        "two different devices",
    ),
    "another device, of a library nobody names": Mistake(
        product,
        tiny.from_numpy(VALUES),
        tiny.from_numpy(VALUES, tiny.THERE),
        tiny.from_numpy(VALUES),
        ValueError,
        "move one of them",
    ),
    "another library": Mistake(
        product,
        strict_array(VALUES),
        np.array(VALUES),
        strict_array(VALUES),
        gw.errors.MixedLibrariesError,
        "array_api_strict and numpy.*Fix: convert",
    ),
    "a dtype that does not mix": Mistake(
        product,
        strict_array(VALUES),
        strict_array([1, 2, 3], dtype=strict.int64),
        strict_array([1.0, 2.0, 3.0]),
        TypeError,
        "promoted",
    ),
    "a dtype that the function is not for": Mistake(
        fn(lambda x, other: product(x, x.__array_namespace__().atan2(other, other))),
        strict_array(VALUES),
        strict_array([True, False, True], dtype=strict.bool),
        strict_array(VALUES),
        TypeError,
        "real floating",
    ),
    "a dtype of words": Mistake(
        product,
        np.array(VALUES),
        np.array(["a", "b", "c"]),
        np.array(VALUES),
        TypeError,
        "ufunc|str",
    ),
    "an object": Mistake(
        product,
        np.array(VALUES),
        object(),
        np.array(VALUES),
        TypeError,
        "object",
    ),
    "shapes that do not broadcast": Mistake(
        product,
        np.array(VALUES),
        np.array([1.0, 2.0]),
        np.array(VALUES),
        ValueError,
        "broadcast",
    ),
    "shapes that do not multiply": Mistake(
        fn(lambda x, other: (x @ other).sum()),
        MATRIX,
        np.ones(2),
        np.ones(3),
        ValueError,
        "mismatch in its core dimension",
    ),
    "an axis out of bounds": Mistake(
        fn(lambda x, axis: (x.sum(axis=axis) ** 2).sum()),
        MATRIX,
        2,
        1,
        np.exceptions.AxisError,
        "axis 2 is out of bounds",
    ),
    "an axis out of bounds of a stack": Mistake(
        fn(lambda x, axis: (x.__array_namespace__().stack([x, x * x], axis=axis) ** 2).sum()),
        strict_array(MATRIX),
        -4,
        -1,
        np.exceptions.AxisError,
        "axis -4 is out of bounds",
    ),
    "an axis twice": Mistake(
        fn(lambda x, axes: (x.__array_namespace__().permute_dims(x, axes) * MATRIX.T).sum()),
        MATRIX,
        (0, 0),
        (1, 0),
        ValueError,
        "repeated axis",
    ),
    "an index out of bounds": Mistake(
        fn(lambda x, index: (x[index, ...] ** 2).sum()),
        strict_array(MATRIX),
        5,
        1,
        IndexError,
        "out of bounds",
    ),
    "a mask of another shape": Mistake(
        fn(lambda x, mask: (x[mask] ** 2).sum()),
        MATRIX,
        np.ones((3, 3), dtype=bool),
        MATRIX > 1.5,
        IndexError,
        "boolean index did not match",
    ),
    "a write of another shape": Mistake(
        fn(lambda x, other: _written(x, other)),
        np.array(VALUES),
        np.ones(2),
        np.ones(3),
        ValueError,
        "broadcast",
    ),
    "a shape of another size": Mistake(
        fn(lambda x, shape: (x.__array_namespace__().reshape(x, shape)[0, ...] ** 2).sum()),
        strict_array(MATRIX),
        (4, 2),
        (3, 2),
        ValueError,
        "cannot reshape",
    ),
    "a matrix that is not square": Mistake(
        fn(lambda x, other: ANY.linalg.solve(x[:, :other], x[:, 2]).sum()),
        MATRIX,
        1,
        2,
        np.linalg.LinAlgError,
        "square",
    ),
    "a matrix that is singular": Mistake(
        fn(lambda x, other: ANY.linalg.inv(x * other).sum()),
        SQUARE,
        np.zeros((2, 2)),
        np.ones((2, 2)),
        np.linalg.LinAlgError,
        "Singular",
    ),
    "a matrix that is not positive": Mistake(
        fn(lambda x, sign: ANY.linalg.cholesky(sign * (x @ x.T)).sum()),
        SQUARE,
        -1.0,
        1.0,
        np.linalg.LinAlgError,
        "positive definite",
    ),
    "a right-hand side on another device": Mistake(
        fn(lambda x, other: product(x, linalg(x).solve(x, other))),
        strict_array(SQUARE),
        strict_array([1.0, 2.0], DEVICES[1]),
        strict_array([1.0, 2.0]),
        ValueError,
        "two different devices",
    ),
    "a right-hand side of another library": Mistake(
        fn(lambda x, other: product(x, linalg(x).solve(x, other))),
        strict_array(SQUARE),
        np.array([1.0, 2.0]),
        strict_array([1.0, 2.0]),
        gw.errors.MixedLibrariesError,
        r"linalg\.solve got arrays of array_api_strict and numpy.*Fix: convert",
    ),
    "a right-hand side of bools": Mistake(
        fn(lambda x, other: product(x, linalg(x).solve(x, other))),
        strict_array(SQUARE),
        strict_array([True, False], dtype=strict.bool),
        strict_array([1.0, 2.0]),
        TypeError,
        "Only floating-point dtypes are allowed in solve",
    ),
    "an order that no norm has": Mistake(
        fn(lambda x, order: np.linalg.norm(x, order) ** 2),
        SQUARE,
        "nuclear",
        "nuc",
        ValueError,
        "Invalid norm order",
    ),
    "an axis of vectors out of bounds": Mistake(
        fn(lambda x, axis: product(x, linalg(x).vecdot(x, x, axis=axis))),
        strict_array(SQUARE),
        -3,
        -1,
        np.exceptions.AxisError,
        "axis -3 is out of bounds",
    ),
    "an axis to contract out of bounds": Mistake(
        fn(lambda x, axis: product(x, linalg(x).tensordot(x, x, axes=((0,), (axis,))))),
        strict_array(SQUARE),
        2,
        1,
        np.exceptions.AxisError,
        "axis 2 is out of bounds",
    ),
    "an axis of a norm out of bounds": Mistake(
        fn(lambda x, axis: product(x, linalg(x).vector_norm(x, axis=axis))),
        strict_array(SQUARE),
        2,
        1,
        np.exceptions.AxisError,
        "is out of bounds",
    ),
    "a transform of integers": Mistake(
        fn(lambda x, other: product(x, power(x, fourier(x).fft(other)))),
        strict_array(SQUARE),
        strict_array([[1, 2], [3, 4]], dtype=strict.int64),
        strict_array([[1, 2], [3, 4]], dtype=strict.complex128),
        TypeError,
        "Only complex floating-point dtypes are allowed in fft",
    ),
    "a real transform of complex numbers": Mistake(
        fn(lambda x, other: power(x, fourier(x).rfft(x * other)).sum()),
        SQUARE,
        1j * SQUARE,
        SQUARE,
        TypeError,
        "rfft_n",
    ),
    "an axis of a transform out of bounds": Mistake(
        fn(lambda x, axis: power(x, fourier(x).rfft(x, axis=axis)).sum()),
        SQUARE,
        2,
        1,
        IndexError,
        "out of (range|bounds)",
    ),
    "a length that no transform has": Mistake(
        fn(lambda x, n: power(x, fourier(x).rfft(x, n=n)).sum()),
        SQUARE,
        0,
        3,
        ValueError,
        r"Invalid number of FFT data points \(0\)",
    ),
    "a norm that no transform has": Mistake(
        fn(lambda x, norm: power(x, fourier(x).rfftn(x, norm=norm)).sum()),
        SQUARE,
        "unitary",
        "ortho",
        ValueError,
        "Invalid norm value unitary",
    ),
}


def _written(x: Any, other: Any) -> Any:
    out = x * x
    out[:] = out + 1.0
    out[...] = other * x[:1]
    return out.sum()


@pytest.fixture(params=MISTAKES)
def mistake(request: pytest.FixtureRequest) -> Mistake:
    return MISTAKES[request.param]


def right(mistake: Mistake) -> Any:
    """Return the gradient for good input, by differences."""

    def f(values: Any) -> float:
        return float(gw.unwrap(mistake.function(gw.wrap(_as(mistake.x, values)), mistake.good)))

    values = np.asarray(_values(mistake.x))
    slopes = np.zeros_like(values)
    for place in np.ndindex(values.shape):
        step = np.zeros_like(values)
        step[place] = 1e-6
        slopes[place] = (f(values + step) - f(values - step)) / 2e-6
    return slopes


def _values(array: Any) -> Any:
    return tiny.to_numpy(array) if isinstance(array, tiny.Array) else np.asarray(array)


def _as(like: Any, values: Any) -> Any:
    if isinstance(like, np.ndarray):
        return values
    return tiny.from_numpy(values) if isinstance(like, tiny.Array) else strict_array(values)


def _twice(array: Any) -> Any:
    """A batch of two examples."""
    return _as(array, np.stack([_values(array)] * 2))


def test_transform_works_after_an_error(mistake: Mistake) -> None:
    gradient = gw.grad(mistake.function)
    before = silent_up_to()

    for _ in range(2):
        with pytest.raises(mistake.error, match=mistake.message):
            gradient(mistake.x, mistake.bad)
    found = gradient(mistake.x, mistake.good)

    assert silent_up_to() == before
    np.testing.assert_allclose(_values(found), right(mistake), rtol=1e-6, atol=1e-6)


def test_nested_transform_works_after_an_error(mistake: Mistake) -> None:
    def slope(x: Any, other: Any) -> Any:
        gradient = gw.grad(mistake.function)(x, other)
        return x.__array_namespace__().sum(gradient * gradient)

    with pytest.raises(mistake.error, match=mistake.message):
        gw.grad(slope)(mistake.x, mistake.bad)
    gw.grad(slope)(mistake.x, mistake.good)
    found = gw.grad(mistake.function)(mistake.x, mistake.good)

    np.testing.assert_allclose(_values(found), right(mistake), rtol=1e-6, atol=1e-6)


def test_tape_works_after_an_error(mistake: Mistake) -> None:
    """The same leaf is used again: what the failed call recorded does not count."""
    x = gw.wrap(mistake.x, requires_grad=True)

    with pytest.raises(mistake.error, match=mistake.message):
        mistake.function(x, mistake.bad)
    assert x.grad is None
    mistake.function(x, mistake.good).backward()

    found: Any = x.grad
    np.testing.assert_allclose(_values(found), right(mistake), rtol=1e-6, atol=1e-6)


def test_jvp_works_after_an_error(mistake: Mistake) -> None:
    def slope(other: Any) -> Any:
        _, moved = gw.jvp(lambda x: mistake.function(x, other), (mistake.x,), (mistake.x,))
        return moved

    before = silent_up_to()

    with pytest.raises(mistake.error, match=mistake.message):
        slope(mistake.bad)
    found = slope(mistake.good)

    assert silent_up_to() == before
    wanted = np.sum(right(mistake) * _values(mistake.x))
    np.testing.assert_allclose(float(found), wanted, rtol=1e-6, atol=1e-6)


def test_vmap_works_after_an_error(mistake: Mistake) -> None:
    """The message is about the batch, so only the class of the error is the same."""

    def values(other: Any) -> Any:
        return gw.vmap(fn(lambda x: mistake.function(x, other)))(_twice(mistake.x))

    before = silent_up_to()

    with pytest.raises(mistake.error):
        values(mistake.bad)
    found = values(mistake.good)

    assert silent_up_to() == before
    wanted = float(gw.unwrap(mistake.function(gw.wrap(mistake.x), mistake.good)))
    np.testing.assert_allclose(_values(found), [wanted, wanted], rtol=1e-12)


def test_error_in_the_backward_pass_leaves_the_tape_usable() -> None:
    @gw.primitive
    def broken(x: Any) -> Any:
        return x * x

    gw.defvjp(broken, lambda xp, g, x: g[:1] if x[0] > 0 else 2.0 * g * x)
    x = gw.wrap(np.array(VALUES), requires_grad=True)

    with pytest.raises(gw.errors.RuleResultError, match="shape"):
        broken(x).sum().backward()
    assert x.grad is None
    broken(-x).sum().backward()

    found: Any = x.grad
    np.testing.assert_allclose(found, 2.0 * np.array(VALUES))


def test_write_that_fails_leaves_the_variable_as_it_was() -> None:
    x = gw.wrap(np.array(VALUES), requires_grad=True)
    out = x * x

    with pytest.raises(ValueError, match="broadcast"):
        out[:2] = x
    with pytest.raises(IndexError):
        out[7] = x[0]
    out[0] = x[1]
    out.sum().backward()

    found: Any = x.grad
    np.testing.assert_allclose(found, [0.0, 2.0 * VALUES[1] + 1.0, 2.0 * VALUES[2]])


def test_cotangent_of_another_device_is_refused() -> None:
    x = strict_array(VALUES)
    _, pull = gw.vjp(lambda x: x * x, x)

    with pytest.raises(ValueError, match="two different devices"):
        pull(strict_array(VALUES, DEVICES[1]))
    (gradient,) = pull(strict_array([1.0, 1.0, 1.0]))

    np.testing.assert_allclose(np.asarray(gradient), 2.0 * np.array(VALUES))
