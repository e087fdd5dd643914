"""Code that was not written for tracked values: whose error it is, and what to do about it."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import math
import struct
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy
from gradwrap.errors import (
    BatchedValueError,
    GradwrapError,
    InPlaceError,
    NoRuleError,
    TrackedAttributeError,
    TrackedCodeError,
    TrackedValueError,
)
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

X = np.array([0.3, 1.2, 2.0])
gnp: Any = gradwrap.numpy


def error_of(fun: Callable[[Any], Any], x: Any = X) -> GradwrapError:
    """The error that leaves the gradient of a function."""
    with pytest.raises(GradwrapError) as caught:
        gw.grad(fun)(x)
    return caught.value


# Python's and NumPy's own errors ------------------------------------------------------------------


def total(x: Any) -> Any:
    return np.sum(x)


@pytest.mark.parametrize(
    ("fun", "text"),
    rows(
        [
            (lambda x: json.dumps(x[0]), "Object of type .* is not JSON serializable"),
            (lambda x: memoryview(x), "a bytes-like object is required"),
            (lambda x: x(1), "object is not callable"),
            (lambda x: x + {}, "unsupported operand type"),
            (lambda x: x << 1, "ufunc 'left_shift' not supported"),
            (lambda x: np.ndarray.sum(x), "descriptor 'sum'"),
            (lambda x: total(x, x), r"takes 1 positional argument"),  # type: ignore[call-arg]  # the mistake is the point
        ]
    ),
)
def test_a_type_error_is_ours_with_the_original_as_its_cause(fun: Any, text: str) -> None:
    for run in (
        lambda: gw.grad(fun)(X),
        lambda: gw.vjp(fun, X),
        lambda: gw.jvp(fun, (X,), (X,)),
        lambda: gw.jacobian(fun)(X),
        lambda: gw.grad(lambda x: gw.grad(fun)(x)[0])(X),
    ):
        with pytest.raises(TrackedCodeError, match=text) as caught:
            run()
        assert isinstance(caught.value.__cause__, TypeError)
        assert not isinstance(caught.value.__cause__, GradwrapError)
        assert "in <lambda> (test_tracked_code.py, line" in str(caught.value)
        assert str(caught.value).count("Fix: ") == 1


def test_errors_that_are_not_about_tracking_are_left_alone() -> None:
    class OwnError(TypeError):
        pass

    def raises(error: Exception, x: Any) -> Any:
        raise error

    for error in (
        OwnError("a"),
        ValueError("b"),
        KeyError("c"),
        IndexError("d"),
        AttributeError("e"),
    ):
        with pytest.raises(type(error)) as caught:
            gw.grad(partial(raises, error))(X)
        assert caught.value is error
    with pytest.raises(ValueError, match="could not be broadcast") as caught_shape:
        gw.grad(lambda x: np.sum(x + np.ones(4)))(X)
    assert type(caught_shape.value) is ValueError
    assert gw.is_grad_enabled()
    assert type(gnp.zeros(2)) is np.ndarray  # no transform runs any more


def test_what_c_code_puts_in_the_place_of_our_error() -> None:
    """NumPy and `struct` raise errors of their own where a conversion was refused."""

    def flat(x: Any) -> Any:
        out = np.zeros(3)
        out.flat[0] = x[0]
        return out.sum()

    assert "A store into a plain numpy.ndarray in flat (" in str(error_of(flat))
    packed = error_of(lambda x: struct.pack("d", x[0]))
    assert type(packed) is TrackedValueError
    assert isinstance(packed.__cause__, struct.error)

    def batched(x: Any) -> Any:
        out = np.zeros(3)
        out[0] = x
        return out

    with pytest.raises(BatchedValueError, match=r"gradwrap\.wrap\(array\)"):
        gw.vmap(batched)(X)


def test_a_refusal_that_was_handled_explains_no_later_error() -> None:
    def handled(x: Any) -> Any:
        with contextlib.suppress(TypeError):
            math.sin(x[0])
        raise ValueError("of its own")

    for _ in range(2):
        with pytest.raises(ValueError, match="of its own"):
            gw.grad(handled)(X)

    def other(x: Any) -> Any:
        return math.sin(x[0]) if x[1] > 1 else int("a")  # one line

    error_of(other)
    with pytest.raises(ValueError, match="invalid literal"):
        gw.grad(other)(np.zeros(3))


def test_on_the_tape_our_error_is_the_cause_that_python_shows() -> None:
    """No transform is there to raise it in the place of NumPy's."""
    x: Any = gw.wrap(X, requires_grad=True)
    out = np.zeros(3)
    with pytest.raises(ValueError, match="setting an array element") as caught:
        out[0] = x[0]
    cause = caught.value.__cause__
    assert isinstance(cause, TrackedValueError)
    assert "Fix: make it with gradwrap.wrap(np.zeros(...)); or store" in str(cause)
    held: Any = gw.wrap(np.zeros(3))
    held[0] = x[0] ** 2
    np.sum(held).backward()
    np.testing.assert_allclose(x.grad, [0.6, 0.0, 0.0])


# Packages that nobody can edit --------------------------------------------------------------------

PACKAGE = """
import math
import numpy as np

def converted(x):
    return np.asarray(x, dtype=float) ** 2

def stored(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2
    return out

def scalar(x):
    return math.sin(x[0])

def added(x):
    out = np.zeros(3)
    out += x
    return out

def through(call, x):
    return call(x)
"""


@pytest.fixture
def package(tmp_path: Path) -> Iterator[ModuleType]:
    """A module that looks installed."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "someones_package.py").write_text(PACKAGE)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("someones_package")
    sys.path.remove(str(folder))
    del sys.modules["someones_package"]


@pytest.mark.parametrize(
    ("name", "line"), [("converted", 6), ("stored", 11), ("scalar", 15), ("added", 19)]
)
def test_the_line_of_a_package_and_what_its_user_can_do(package: Any, name: str, line: int) -> None:
    function = getattr(package, name)

    text = str(error_of(lambda x: np.sum(function(x))))

    assert f"in {name} (someones_package, line {line})" in text
    assert "Fix: someones_package is not written for tracked values: " in text
    assert "gradwrap.adapting(f)" in text
    assert 'gradwrap.adapt("someones_package")' in text
    assert "gradwrap.numpy" not in text  # which its user cannot import there
    # the remedies, as they stand in the message
    assert "make" in text.lower()
    assert "gradwrap.primitive" in text
    primitive = gw.primitive(function)
    if name == "scalar":
        gw.defvjp(primitive, lambda xp, g, x: g * xp.cos(x) * xp.asarray([1.0, 0.0, 0.0]))
        expected = [math.cos(0.3), 0.0, 0.0]
    else:
        gw.defvjp(primitive, lambda xp, g, x: g * (1.0 if name == "added" else 2.0 * x))
        expected = [1.0] * 3 if name == "added" else list(2 * X)
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(primitive(x)))(X), expected)
    gw.grad(fn(lambda x: np.sum(function(x.detach())) + np.sum(x)))(X)


def test_a_note_names_the_line_of_a_package_where_the_message_does_not(package: Any) -> None:
    error = error_of(lambda x: package.through(fn(lambda v: np.setxor1d(v, X)), x))
    assert isinstance(error, NoRuleError)
    assert not hasattr(error, "__notes__")  # it was raised in this file
    error = error_of(lambda x: package.through(functools.partial(np.setxor1d, X), x))
    assert error.__notes__ == ["It was raised in through (someones_package, line 23)."]
    inner = error_of(lambda x: package.through(json.dumps, x))
    assert "raised in through (someones_package, line 23)" in str(inner)


def test_an_error_needs_no_module_that_numpy_has_not_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "numpy.random", raising=False)
    convolve: Any = np.convolve
    with pytest.raises(TrackedCodeError, match="missing 1 required positional argument"):
        gw.grad(lambda x: np.sum(convolve(x)))(X)


# The remedies do what they say --------------------------------------------------------------------


def executed(code: str, module: Any) -> Any:
    """The function `f` of code that knows NumPy, or what stands for it, alone."""
    scope: dict[str, Any] = {"np": module, "a": np.ones(3)}
    exec(code, scope)  # noqa: S102  written below
    return scope["f"]


STORE = """
def f(x):
    out = np.zeros(3)
    out[0] = x[0] ** 2
    return np.sum(out)
"""


def test_the_remedies_for_conversions() -> None:
    refused = str(error_of(executed(STORE, np)))
    assert "make it with gradwrap.numpy.zeros inside the function that is differentiated" in refused
    np.testing.assert_allclose(gw.grad(executed(STORE, gnp))(X), [0.6, 0.0, 0.0])

    outside = gnp.zeros(3)

    def into_outside(x: Any) -> Any:
        outside[0] = x[0]
        return gnp.sum(outside)

    text = str(error_of(into_outside))  # which uses gradwrap.numpy, if under another name
    assert "make it inside the function that is differentiated, or with gradwrap.wrap" in text
    assert "gradwrap.numpy" not in text

    listed = str(error_of(lambda x: np.sum([x[0], x[1]])))
    assert "import gradwrap.numpy as np" in listed or "functions of gradwrap.numpy" in listed
    np.testing.assert_allclose(gw.grad(lambda x: gnp.sum([x[0], x[1]]))(X), [1.0, 1.0, 0.0])

    plain = np.ones(3)
    assert "np.dot(a, x), not a.dot(x)" in str(error_of(lambda x: gnp.sum(plain.dot(x))))
    np.testing.assert_allclose(gw.grad(lambda x: gnp.dot(plain, x))(X), np.ones(3))

    assert "a + 1j * b rather than complex(a, b)" in str(error_of(lambda x: complex(x[0], x[1])))
    length = gw.grad(lambda x: np.sum(abs(x[:1] + 1j * x[1:2])))(X)
    np.testing.assert_allclose(length, np.array([0.3, 1.2, 0.0]) / np.hypot(0.3, 1.2))


def test_no_message_advises_what_is_in_use() -> None:
    advice = "import gradwrap.numpy as np"
    for code in ("def f(x): return np.sum(np.asarray(x))", "def f(x): return np.sum([x[0], x[1]])"):
        assert advice in str(error_of(executed(code, np)))
        gw.grad(executed(code, gnp))(X)
    code = "def f(x): return np.sum(a.dot(x))"
    assert advice in str(error_of(executed(code, np)))
    assert "np.dot(a, x), not a.dot(x)" in str(error_of(executed(code, gnp)))
    assert advice not in str(error_of(executed(code, gnp)))
    inside = "def f(x):\n    import gradwrap.numpy as np\n    return np.sum(a.dot(x))"
    assert advice not in str(error_of(executed(inside, np)))


def test_functions_of_python_for_each_element() -> None:
    def squared(a: Any) -> Any:
        return a * a if a > 1 else a

    error = error_of(lambda x: np.sum(np.frompyfunc(squared, 1, 1)(x)))
    assert isinstance(error, NoRuleError)
    assert "Fix: np.vectorize(function) of gradwrap.numpy" in str(error)
    found = gw.grad(fn(lambda x: np.sum(gnp.vectorize(squared)(x))))(X)
    np.testing.assert_allclose(found, [1.0, 2.4, 4.0])


# Attributes and methods ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fun", "kind", "text"),
    rows(
        [
            (lambda x: x.ctypes, TrackedAttributeError, r"x\.detach\(\)\.data\.ctypes"),
            (lambda x: x.base, TrackedAttributeError, r"x\.detach\(\)\.data\.base"),
            (lambda x: x.nonsense, TrackedAttributeError, "no attribute 'nonsense'"),
            (lambda x: setattr(x, "dtype", int), TrackedAttributeError, "has no setter"),
            (lambda x: setattr(x, "imag", 1.0), InPlaceError, r"x = x \+ 1j \* v"),
            (lambda x: x.tobytes(), TrackedValueError, r"x\.detach\(\)\.tobytes\(\)"),
            (lambda x: x.resize(4), InPlaceError, r"np\.concatenate"),
            (
                lambda x: np.outer(x, x).copy("F").resize(4, refcheck=False),
                InPlaceError,
                r"x = x\.copy\(\)",
            ),
            (lambda x: x.setflags(write=False), InPlaceError, "omit it"),
            (lambda x: x.__delitem__(0), InPlaceError, r"np\.delete\(x, i\)"),
            (lambda x: x.view(int), TrackedValueError, "astype"),
        ]
    ),
)
def test_attributes_that_tracked_arrays_have_not(fun: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        gw.grad(fun)(X)


def test_attributes_are_still_asked_for_in_the_usual_way() -> None:
    def asks(x: Any) -> Any:
        assert not hasattr(x, "nonsense")
        assert getattr(x, "units", None) is None
        assert x.detach().tobytes() == X.tobytes()
        assert x.item(1) == 1.2
        assert x.reshape(3, 1).item(2, 0) == 2.0
        assert x.item((0,)) == 0.3
        assert x.detach().data.ctypes is not None
        return x[0]

    gw.grad(asks)(X)
    with pytest.raises(IndexError, match="out of bounds"):
        gw.grad(lambda x: x.item(3))(X)


def test_partition_in_place() -> None:
    def parted(x: Any) -> Any:
        y = x[::-1] * 1.0
        y.partition(0)
        return y[0] * 2.0

    np.testing.assert_allclose(gw.grad(parted)(X), [2.0, 0.0, 0.0])


# Subclasses with an answer of their own -----------------------------------------------------------


class Answering(np.ndarray[Any, Any]):
    """It unwraps itself, and lets the others do the work."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        plain = (np.asarray(i) if isinstance(i, Answering) else i for i in inputs)
        return getattr(ufunc, method)(*plain, **kwargs)


class Units(np.ndarray[Any, Any]):
    """It knows plain arrays alone."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        plain = (np.asarray(i) if isinstance(i, Units) else i for i in inputs)
        return super().__array_ufunc__(ufunc, method, *plain, **kwargs)


@pytest.mark.parametrize(
    "multiply",
    rows([lambda x, a: x * a, lambda x, a: a * x, np.multiply, lambda x, a: np.multiply(a, x)]),
)
def test_a_subclass_with_its_own_array_ufunc_answers_itself(multiply: Any) -> None:
    def product(kind: Any) -> Any:
        return fn(lambda x: np.sum(multiply(x, X.view(kind))))

    np.testing.assert_allclose(gw.grad(product(Answering))(X), X)
    error = error_of(product(Units))
    assert isinstance(error, TrackedCodeError)
    assert "'Units'" in str(error)
    assert "Fix: pass a plain array, np.asarray(a), in place of" in str(error)
    np.testing.assert_allclose(
        gw.grad(lambda x: np.sum(multiply(x, np.asarray(X.view(Units)))))(X), X
    )
