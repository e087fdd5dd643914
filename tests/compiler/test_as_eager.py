"""What NumPy's users expect of a function, compiled: errors, warnings, copies, types, memory."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.tree import flatten
from gradwrap.errors import CompileError, CompileWarning

untyped: Any = np
grad: Any = gw.grad
X = np.linspace(-0.7, 1.5, 6)
ENGINES = pytest.mark.parametrize("engine", ["numpy", "c"])


def regularised(a: Any) -> Any:
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return np.linalg.cholesky(a + 10.0 * np.eye(2))


@ENGINES
def test_a_function_that_catches_errors_of_numpy_goes_on(engine: str) -> None:
    compiled = gw.compile(regularised, engine=engine)
    for diagonal in (1.0, -2.0, 3.0, -4.0):
        a = np.diag([1.0, diagonal])
        np.testing.assert_array_equal(compiled(a), regularised(a))
    with pytest.raises(CompileError, match="raises LinAlgError: Matrix is not positive"):
        compiled.check(np.diag([1.0, -1.0]))


def logarithms(x: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x) / x
    return np.where(np.isfinite(y), y, 0.0)


def guarded(x: Any) -> Any:
    try:
        with np.errstate(all="raise"):
            return np.log(x)
    except FloatingPointError:
        return 0.0 * x


def test_errors_that_numpy_is_to_ignore_give_no_warning() -> None:
    compiled = gw.compile(logarithms)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (1.0, 0.0, -1.0, 2.0):
            x = np.array([1.0, value])
            np.testing.assert_array_equal(compiled(x), logarithms(x))
    assert '@np.errstate(divide="ignore", invalid="ignore")\ndef compiled(x):' in compiled.source


def test_errors_that_numpy_is_to_raise_run_eagerly() -> None:
    compiled = gw.compile(guarded)
    with pytest.warns(CompileWarning, match=r"raise errors of arithmetic .line \d+ of guarded"):
        compiled(np.ones(2))
    for value in (1.0, 0.0, -1.0):
        x = np.array([1.0, value])
        np.testing.assert_array_equal(compiled(x), guarded(x))


def magnitude(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.abs(x)
    return abs(x) if isinstance(x, float) else x


@ENGINES
def test_tests_of_types_find_those_of_eager(engine: str) -> None:
    compiled = gw.compile(magnitude, engine=engine)
    inside = gw.compile(lambda x: (magnitude(x[0]), magnitude(x), grad(tracked)(x)), engine=engine)
    for x in (np.abs(X), -X, np.float64(1.0), np.float64(-2.0), np.array(-1.0)):
        np.testing.assert_array_equal(compiled(x), magnitude(x))
    for x in (np.abs(X), -X):
        first, whole, slopes = inside(x)
        assert first == abs(x[0])
        np.testing.assert_array_equal(whole, np.abs(x))
        np.testing.assert_allclose(slopes, 2.0 * x, rtol=1e-15)


def tracked(x: Any) -> Any:
    """A function that is given no array while it is differentiated, as in eager."""
    return np.sum(x**3) if isinstance(x, np.ndarray) else np.sum(x**2)


def draws(x: Any, generator: Any) -> Any:
    return x * generator.normal(size=6) + np.random.rand(6) * random.random()  # noqa: NPY002  as users have it


def test_random_numbers_are_those_of_eager_from_the_first_call_on() -> None:
    def results(function: Any) -> list[Any]:
        np.random.seed(3)  # noqa: NPY002  likewise
        random.seed(3)
        generator = np.random.default_rng(3)
        return [function(X, generator) for _ in range(4)]

    with pytest.warns(CompileWarning, match="depends on random numbers"):
        found = results(gw.compile(draws))
    np.testing.assert_array_equal(found, results(draws))


def several(x: Any) -> Any:
    y = 2.0 * np.tanh(x)
    return y, y.ravel(), y.reshape(-1), y.T, x.T.ravel(), y.T.ravel(order="K"), y.ravel(order="F")


@ENGINES
@pytest.mark.parametrize("order", ["C", "F"])
def test_results_share_no_memory_that_they_do_not_share_in_eager(engine: str, order: Any) -> None:
    compiled = gw.compile(several, engine=engine)
    x = np.array(X.reshape(2, 3), order=order)
    compiled(x)
    wanted, found = several(x), compiled(x)
    for i, (a, b) in enumerate(zip(wanted, found, strict=True)):
        np.testing.assert_allclose(b, a, rtol=1e-14)
        for before in (*range(i), -1):
            one, other = (x, x) if before < 0 else (wanted[before], found[before])
            assert np.shares_memory(a, one) or not np.shares_memory(b, other), (i, before)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.mean(x, axis=0) ** 2),
        lambda x: np.sum(np.sin(np.sum(x, axis=1, keepdims=True))),
        lambda x: np.sum(x) ** 2,
    ],
)
def test_gradients_can_be_written_to(f: Any) -> None:
    compiled = gw.compile(lambda x, y: grad(lambda x, y: f(x) + np.sum(y), (0, 1))(x, y))
    for n in (3, 40):
        x = np.ones((n, n))
        for _ in range(2):
            for slopes in compiled(x, x + 1.0):
                np.multiply(slopes, 0.5, slopes)


@ENGINES
def test_named_results_are_those_of_numpy(engine: str) -> None:
    a = np.eye(3) + 0.1
    for name in ("eigh", "slogdet", "qr", "svd"):
        function = getattr(np.linalg, name)
        compiled: Any = gw.compile(lambda a, f=function: f(a), engine=engine)
        compiled(a)
        assert type(compiled(a)) is type(function(a))
        assert compiled.programs


def test_functions_that_decide_or_find_places_are_compiled() -> None:
    def f(x: Any) -> Any:
        places = np.flatnonzero(x > 0.0), np.array_equiv(x, x[:1]), x.dtype, "negative"
        return places if x[0] > 0.0 else (*places[:3], "positive")

    compiled = gw.compile(f)
    for x in (X, -X, np.ones(6), X):
        wanted, found = f(x), compiled(x)
        np.testing.assert_array_equal(found[0], wanted[0])
        assert wanted[1:] == found[1:]
    assert compiled.programs


def test_what_is_written_to_out_is_named() -> None:
    def f(x: Any) -> Any:
        y = np.empty(6)
        np.multiply(x, 2.0, out=y)
        return y

    with pytest.warns(CompileWarning, match="multiply writes to out="):
        np.testing.assert_array_equal(gw.compile(f)(X), 2.0 * X)


@gw.compile
def doubled(x: Any) -> Any:
    return x * 2.0


def tripled(x: Any) -> Any:
    return x * 3.0


def test_compiled_functions_are_copied_and_pickled() -> None:
    compiled = gw.compile(tripled, engine="c")
    for function, wanted in ((doubled, 2.0 * X), (compiled, 3.0 * X)):
        function(X)
        for other in (pickle.loads(pickle.dumps(function)), copy.deepcopy(function)):  # noqa: S301  just written
            np.testing.assert_array_equal(other(X), wanted)
            assert (other is doubled) == (function is doubled)


class Layer:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    @gw.compile
    def apply(self, x: Any) -> Any:
        """Scale."""
        return x * self.scale


def test_methods_show_their_program() -> None:
    layer: Any = Layer(2.0)
    for _ in range(2):
        np.testing.assert_array_equal(layer.apply(X), X * 2.0)
    assert "def compiled(x)" in layer.apply.source
    assert (layer.apply.__self__, layer.apply.__doc__) == (layer, "Scale.")


@gw.custom_vjp
def limited(x: Any) -> Any:
    return x * 1.0


LIMITS = [0.5]
limited.defvjp(
    lambda x: (limited(x), None),
    lambda _, g: (np.clip(g, -LIMITS[0], LIMITS[0]),),
)


def test_rules_of_the_user_see_what_changes() -> None:
    compiled = gw.compile(grad(lambda x: np.sum(limited(x) ** 2)))
    for limit in (0.5, 0.2, 5.0):
        LIMITS[0] = limit
        np.testing.assert_array_equal(compiled(X), np.clip(2.0 * X, -limit, limit))


def test_bytes_among_the_results_are_saved(tmp_path: Any) -> None:
    compiled = gw.compile(lambda x: (x, b"name", np.arange(3)))
    compiled(X)
    compiled.save(tmp_path / "saved.py")
    scope: dict[str, Any] = {"__file__": str(tmp_path / "saved.py")}
    exec((tmp_path / "saved.py").read_text(encoding="utf-8"), scope)  # noqa: S102  just written
    leaves, _ = flatten(scope["compiled"](X))
    assert leaves[1] == b"name"


@ENGINES
def test_signs_of_zeros_are_positive(engine: str) -> None:
    x = np.array([-0.0, 0.0, -2.0, np.nan])
    compiled = gw.compile(
        lambda x: (np.sign(x) * 1.0, grad(lambda x: np.sum(np.abs(x)))(x)), engine=engine
    )
    compiled(x)
    for found in compiled(x):
        assert not np.signbit(found[:2]).any()


def test_gradients_at_arrays_without_axes_are_such_arrays() -> None:
    def f(x: Any, y: Any) -> Any:
        slopes = grad(lambda x, y: x * y[0], (0, 1))(x, y)
        return grad(np.sin)(x), gw.value_and_grad(np.sin)(x), slopes, grad(grad(np.sin))(x)

    compiled = gw.compile(f)
    for value in (0.3, -1.2):
        args = np.array(value), np.array([value])
        wanted, found = flatten(f(*args))[0], flatten(compiled(*args))[0]
        assert [*map(type, wanted)] == [*map(type, found)]
        for a, b in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(b, a)
    assert compiled.programs
