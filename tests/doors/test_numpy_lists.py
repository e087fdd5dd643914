"""`gradwrap.numpy` takes nested lists of tracked values wherever NumPy takes lists of numbers."""

from __future__ import annotations

import contextlib
import inspect
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy
from gradwrap.errors import NoRuleError, OutArgumentError
from lambdas import fn, is_a, rows

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.3, 0.7])
gnp: Any = gradwrap.numpy


def numerical(f: Callable[[Any], Any]) -> Any:
    """The gradient by central differences."""
    return np.array([(f(X + h) - f(X - h)) / 2e-6 for h in np.eye(2) * 1e-6])


def check(call: Callable[[Any, Any], Any]) -> None:
    """Compare `call(module, x)` with NumPy's value, and its gradient with differences."""

    def f(module: Any) -> Callable[[Any], Any]:
        return lambda x: np.sum(np.asarray(1.0) * call(module, x))

    value, gradient = gw.value_and_grad(f(gnp))(X)
    np.testing.assert_allclose(value, f(np)(X))
    np.testing.assert_allclose(gradient, numerical(f(np)), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(gw.jvp(f(gnp), (X,), (X,))[1], gradient @ X, atol=1e-12)
    batch = np.stack([X, X + 0.1])
    np.testing.assert_allclose(gw.vmap(f(gnp), fallback="loop")(batch), [f(np)(x) for x in batch])


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda np, x: np.diag([x[0], x[1]]) * 2.0,
            lambda np, x: np.sum([x[0], x[1] ** 2]),
            lambda np, x: np.sum([[x[0], 1.0], (x[1], x[0])], axis=0) ** 2,
            lambda np, x: np.dot([x[1], 1.0], [[x[0], 1.0], [0.0, 2.0]]),
            lambda np, x: np.mean((x[0], x[1] * x[0])),
            lambda np, x: np.max([x[0], x[1]]),
            lambda np, x: np.min(a=[x, x * x], axis=0),
            lambda np, x: np.where([True, False], [x[0], 1.0], [x[1], x[1] ** 2]),
            lambda np, x: np.sort([x[1], x[0]]) * [1.0, 2.0],
            lambda np, x: np.linalg.norm([x[0], x[1]]),
            lambda np, x: np.linalg.solve([[x[0], 1.0], [2.0, x[1]]], [x[1], 1.0]),
            lambda np, x: np.append([x[0]], [x[1], 2.0]) ** 2,
            lambda np, x: np.append([1.0, 2.0], x[1]) ** 2,
            lambda np, x: np.insert([1.0, 2.0], 1, [x[1]]) ** 2,
            lambda np, x: np.concatenate([[x[0]], [x[1], x[0]], x]) ** 2,
            lambda np, x: np.vstack([[x[0], 1.0], x]) ** 2,
            lambda np, x: np.stack(((x[0], x[1]), (x[1], 1.0)), axis=1) ** 2,
            lambda np, x: np.select([[True, False]], [[x[0], x[1]]], default=x[1]) ** 2,
            lambda np, x: np.interp([0.4, x[0]], [0.0, 1.0], [x[0], x[1]]),
            lambda np, x: np.cross([x[0], 0.0, 1.0], [0.0, x[1], 2.0]) ** 2,
            lambda np, x: np.einsum("i,i->", [x[0], x[1]], [x[1], 3.0]),
            lambda np, x: np.linalg.multi_dot([[x[0], x[1]], [[x[0], 1.0], [2.0, 3.0]], x]),
            lambda np, x: np.sin([x[0], x[1]]),
            lambda np, x: np.multiply([x[0], x[1]], [[x[1]], [2.0]]),
            lambda np, x: np.add.reduce([x[0], x[1] ** 2]),
            lambda np, x: np.multiply.outer([x[0], 1.0], x),
            lambda np, x: np.maximum.accumulate([x[0], x[1]]) ** 2,
            lambda np, x: np.full_like([1.0, 2.0], x[0]) ** 2,
            lambda np, x: np.zeros_like([x[0], x[1]]) + x,
            lambda np, x: abs(np.fft.fft([x[0], x[1]])) ** 2,
            lambda np, x: np.require([x[0], x[1]], dtype=float) ** 2,
            lambda np, x: sum(v * (i[1] + 1.0) for i, v in np.ndenumerate([[x[0], x[1]]])),
            lambda np, x: np.trapezoid([x[0], x[1], x[0]], [0.0, x[1], 2.0]),
        ]
    ),
)
def test_lists_of_tracked_values(call: Any) -> None:
    check(call)


def test_questions_about_lists_are_answered() -> None:
    def asks(x: Any) -> Any:
        values = [x[0], x[1]]
        assert gnp.shape(values) == (2,)
        assert gnp.ndim([values]) == 2
        assert gnp.array_equal(values, X)
        assert not gnp.array_equiv(values, [1.0, 2.0])
        assert gnp.allclose(values, X)
        assert list(gnp.argsort(values)) == [0, 1]
        assert gnp.result_type(x[0], 1.0) == np.float64
        return x[0]

    gw.grad(asks)(X)


NUMPYS = {
    f"{prefix}{name}": getattr(module, name)
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft))
    for name in dir(module)
    if isinstance(getattr(module, name), (np.ufunc, type(np.sum), type(np.concatenate)))
}
NOT_OF_NUMBERS = {
    *("asmatrix", "mintypecode", "save", "savez", "savez_compressed", "savetxt", "bincount"),
    "linalg.multi_dot",  # of vectors and matrices
}
ONE_ARRAY = {"angle", "linalg.norm", "linalg.svd", "nan_to_num", "repeat", "take", "unique"}
"""The second argument is a number, or a flag."""
FORMS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "a vector": lambda x: ([x[0], x[1]],),
    "two vectors": lambda x: ((x[0], x[1]), [x[1], 1.0]),
    "a matrix": lambda x: ([[x[0], 1.0], [2.0, x[1]]],),
    "two matrices": lambda x: ([[x[0], 1.0], [2.0, x[1]]], ([x[0], 1.0], x)),
}


def stand_in(path: str) -> Any:
    """The function of `gradwrap.numpy` that has a path in NumPy."""
    found = gnp
    for name in path.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("path", sorted(NUMPYS.keys() - NOT_OF_NUMBERS))
def test_every_function_of_numpy_takes_lists(path: str) -> None:
    """What NumPy makes of lists of numbers, or an error that says what has no derivative."""
    for form in FORMS.values():
        if path in ONE_ARRAY and len(form(X)) > 1:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected: Any = NotImplemented  # whatever NumPy raises for what it does not take
            with contextlib.suppress(Exception):
                expected = NUMPYS[path](*form(X))
            if expected is NotImplemented:
                continue
            found: list[Any] = []

            def f(x: Any, form: Any = form, found: list[Any] = found) -> Any:
                with contextlib.suppress(NoRuleError, OutArgumentError):
                    found.append(stand_in(path)(*form(x)))
                return np.sum(x)

            gw.grad(f)(X)
            if found and not path.startswith("empty"):
                check_equal(found[0], expected)


def check_equal(found: Any, expected: Any) -> None:
    if is_a(expected, tuple, list):
        for one, other in zip(found, expected, strict=True):
            check_equal(one, other)
    elif is_a(expected, np.ndarray, np.generic) and expected.dtype.kind in "fciu":
        np.testing.assert_allclose(gw.unwrap(found), expected, rtol=1e-9, atol=1e-12)


# The stand-ins are the functions themselves to everybody else -------------------------------------


def test_plain_lists_are_numpys() -> None:
    assert type(gnp.sum([1.0, 2.0])) is np.float64
    assert type(gnp.sin([1.0, 2.0])) is np.ndarray
    with pytest.raises(TypeError, match=r"required positional argument|arguments"):
        gnp.concatenate()


@pytest.mark.parametrize("path", ["sum", "sin", "add.reduce", "linalg.norm", "fft.fft"])
def test_a_stand_in_passes_for_the_function(path: str) -> None:
    known: Any = np
    for name in path.split("."):
        known = getattr(known, name)
    found = stand_in(path)
    assert found == known
    assert known == found
    assert {known: 1}[found] == 1
    assert isinstance(found, type(known))
    assert found.__name__ == known.__name__
    assert found.__doc__ == known.__doc__
    assert repr(found) == repr(known)
    assert pickle.loads(pickle.dumps(found)) == known  # noqa: S301  pickled here
    with contextlib.suppress(ValueError):  # some have no signature
        assert inspect.signature(found) == inspect.signature(known)


def test_ufuncs_keep_their_attributes() -> None:
    assert (gnp.add.nin, gnp.add.nout, gnp.add.identity) == (2, 1, 0)
    assert isinstance(gnp.add, np.ufunc)
    assert gnp.linalg.LinAlgError is np.linalg.LinAlgError
    assert gnp.nditer(np.ones(2)).itersize == 2
    assert isinstance(np.nditer(np.ones(2)), gnp.nditer)
    np.testing.assert_allclose(gw.grad(gnp.sin)(0.3), np.cos(0.3))
    with pytest.raises(NoRuleError, match=r"np\.nditer\(op_dtypes=.*x\.astype\(dtype\)"):
        gw.vjp(lambda x: list(gnp.nditer([x[0], 1.0], op_dtypes=["float32"] * 2)), X)


def test_checking_that_numbers_are_finite() -> None:
    gradient = gw.grad(lambda x: gnp.sum(gnp.asarray_chkfinite([x[0], x[1]]) ** 2))
    np.testing.assert_allclose(gradient(X), 2 * X)
    with pytest.raises(ValueError, match="infs or NaNs"):
        gradient(np.array([np.inf, 1.0]))


def test_an_integer_list_is_no_mask_to_take() -> None:
    """NumPy's `take` reads bools as the numbers 0 and 1."""
    check(lambda np, x: np.take(x, [True, False, True]) ** 2 * [1.0, 2.0, 3.0])


def test_a_whole_number_repeats_a_list() -> None:
    """As one of NumPy's does; an array without axes multiplies the elements."""

    def program(x: Any) -> Any:
        count = (x > 1.0).sum()
        weights = [0.5]
        weights *= count
        assert weights == [0.5] * count == count * [0.5] == [0.5] * 2
        assert (1, 2) * count == (1, 2, 1, 2)
        assert "ab" * count == "abab"
        np.testing.assert_array_equal([1.0, 2.0] * np.asarray(count), [2.0, 4.0])
        return np.sum(x[1:] * np.array(weights))

    x = np.array([0.5, 1.5, 2.5])
    assert program(x) == 2.0
    np.testing.assert_array_equal(gw.grad(program)(x), [0.0, 0.5, 0.5])
    np.testing.assert_array_equal(gw.jacfwd(program)(x), [0.0, 0.5, 0.5])


def test_indices_of_several_axes_of_any_shape() -> None:
    def program(x: Any) -> Any:
        row, columns = np.argmax(x[:, 0]), np.argsort(x[1])
        flat = gnp.ravel_multi_index((row, columns), x.shape)
        return x.ravel()[flat] * np.arange(4.0)

    random = np.random.default_rng(0)
    x = random.normal(size=(3, 4))
    row = np.argmax(x[:, 0])
    wanted = np.zeros((3, 4))
    wanted[row, np.argsort(x[1])] = np.arange(4.0)
    np.testing.assert_array_equal(gw.grad(fn(lambda x: np.sum(program(x))))(x), wanted)
