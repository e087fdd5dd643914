"""`adapting`, `adapt` and `adapted`: packages that know nothing of gradwrap."""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import math
import pickle
import sys
import threading
import types
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import (
    AdaptationError,
    GradwrapError,
    NonDifferentiableInputError,
    TrackedTextWarning,
    TrackedValueError,
)
from lambdas import fn, is_a
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([1.3, 0.7])

IDIOMS: dict[str, str] = {
    "empty": """
        out = np.empty(2)
        out[0], out[1] = x[0] * x[1], math.sin(x[0])
        return out
    """,
    "ndarray": """
        out = np.ndarray((2,))
        out[0], out[1] = x[0] * x[1], math.sin(x[0])
        return out
    """,
    "full_like": """
        return np.full_like(np.ones(3), x[0]) * np.arange(3.0) + np.zeros_like(np.ones(3)) * x[1]
    """,
    "zeros of a table": """
        out = np.array(TABLE)
        out[:2] += x
        out[2] = x[0] ** 2
        return out
    """,
    "an index for each axis": """
        grid = np.zeros((3, 2))
        places = np.argsort(x)
        np.add.at(grid, (places, places[::-1]), x)
        np.subtract.at(grid, ([places[0], 2], places), x * x)
        np.maximum.at(grid, [places[1]], x)
        return grid.ravel()
    """,
    "copy of a plain array": """
        out = TABLE.copy()
        out[1:] = x * 2.0
        more = TABLE.astype(float)
        more[0] = x[1]
        return out * more
    """,
    "asarray": """
        x = np.asarray(x, dtype=float)
        return np.array([[x[0], 0.0], [1.0, x[1] ** 2]])
    """,
    "conversions": """
        y = np.ascontiguousarray(np.array(x, copy=None)) * np.array(x)
        return y.astype(float) + np.asanyarray(x) + np.float64(x[0]) * np.asfortranarray(x)
    """,
    "scalars": """
        a = float(x[0]) if isinstance(x, (float, np.ndarray)) else 0.0
        return a * math.sqrt(x[1]) + (1j * x[0]).imag
    """,
    "types of scalars": """
        if type(x[0]) is float or isinstance(x[0], (int, complex)) or hasattr(x[0], "__len__"):
            return np.zeros(1)
        if not (isinstance(x[0], float) and np.isscalar(x[0]) and type(x) is np.ndarray):
            return np.zeros(1)
        return math.exp(x[0]) * np.float64(x[1])
    """,
    "a decorator": """
        @np.vectorize
        def step(a):
            return a * a if a > 1 else math.exp(a)
        return step(x)
    """,
    "vectorize in the module": "return stepped(x) + partial_sum(x)",
    "lists": """
        return np.diag([x[0], x[1]]) @ np.dot([x[1], 1.0], [[x[0], 1.0], [0.0, 2.0]])
    """,
    "lists for ufuncs and operators": """
        y = np.sqrt([x[0], x[1]]) + TABLE[:2] * [x[1], x[0]] + np.eye(2) @ [x[0], 1.0]
        return y + np.minimum.reduce([x, x[::-1] * 0.3]) + np.add.outer([x[0], 1.0], x)[0]
    """,
    "targets": """
        y = np.multiply(x, x, out=np.empty(2))
        y += x
        F = np.zeros((2, 2))
        F.flat[::3] = y
        F.ravel()[1] = y[0]
        return F
    """,
    "complex targets": """
        z = np.zeros(2, dtype=complex)
        z.real = x
        z.imag = x * x
        return np.concatenate([z.real, abs(z)])
    """,
    "shape": """
        y = x * 1.0
        y.shape = (2, 1)
        return sum(a * b for a, b in np.broadcast(y, x)) * np.broadcast(y, x).size
    """,
    "masks": """
        out = np.zeros(2)
        np.copyto(out, x)
        np.putmask(out, out > 1, x ** 2)
        np.place(out, [False, True], x[:1])
        return out
    """,
    "a scalar with a mask": """
        s = np.asarray(x[0] * x[1])
        s[s > 5] = 0
        return s
    """,
    "methods of plain arrays": "return np.eye(2).dot(x) + MATRIX.dot(x)",
    "along an axis": "return np.apply_along_axis(np.cumsum, 0, np.array([x, x * x]))",
    "cached": "return table(3) * x[0]",
    "kinds of numbers": "return chosen(x[0]) + chosen(x)",
    "defaults": "return with_defaults(x)",
    "closures": "return closing(x)",
    "attributes of classes": "return Model(x).value()",
    "dictionaries of functions": """
        return FUNCTIONS["sin"](x[0]) + FUNCTIONS["nested"][0]([x[0], x[1]])
    """,
    "imports inside": """
        import numpy as numbers
        from math import sin
        from numpy import linalg
        out = numbers.zeros(2)
        out[0] = sin(x[0])
        return out + linalg.norm([x[0], x[1]])
    """,
    "items": """
        return x[0].item() * np.sum(x.tolist()) + x.item(1) * x[:1].item()
    """,
    "functions of math": """
        a, b = x
        return [math.log(a + b, 2), math.hypot(a, b), math.atan2(a, b), math.pow(a, b),
                math.fsum(x),
                math.prod([a, b]), math.dist((a, b), (1.0, 2.0)), math.copysign(a, -1.0),
                math.degrees(a) + math.floor(a) + math.isnan(a), abs(cmath.exp(1j * a)) + a]
    """,
    "whole numbers": "return x * int(x[0]) + x[: int(x[0])].sum() + round(x[0])",
    "linear algebra": """
        A = [[2.0 + x[0], x[1]], [x[1], 3.0]]
        return np.linalg.solve(A, [1.0, x[0]]) + np.linalg.det(A) + np.linalg.inv(A)[0]
    """,
    "polynomials": """
        return (np.polyval([x[0], x[1], 1.0], 2.0)
                + np.polynomial.polynomial.polyval(x, [1.0, 2.0, 3.0])
                + np.polynomial.legendre.legval(0.3, x) + np.emath.sqrt(x))
    """,
    "generators": "return np.array([v * v for v in x]) + sum(math.sin(v) for v in x)",
    "text": "return x * 2.0",
}

AROUND = """
TABLE = np.array([1.0, 2.0, 3.0])
MATRIX = np.array([[1.0, 2.0], [0.5, -1.0]])
HALF = functools.partial(np.multiply, 0.5)


@np.vectorize
def stepped(a):
    return a * a if a > 1 else math.exp(a)


partial_sum = functools.partial(np.sum, axis=0)


@functools.lru_cache(maxsize=None)
def table(n):
    return np.linspace(0.0, 1.0, n)


@functools.singledispatch
def chosen(a):
    raise TypeError(type(a))


@chosen.register(float)
def _(a):
    return math.sin(a)


@chosen.register(np.ndarray)
def _(a):
    return np.cos(a)


def with_defaults(x, make=np.zeros, *, sine=math.sin, xp=np):
    out = make(2)
    out[0] = sine(x[0])
    return xp.asarray(out) + x


def _closing(sine, make):
    def closing(x):
        out = make(2)
        out[1] = sine(x[1])
        return out * x
    return closing


closing = _closing(math.sin, np.ones)


class Model:
    make = np.zeros
    root = math.sqrt
    xp = np

    def __init__(self, x):
        self.x = np.asarray(x)

    @property
    def first(self):
        return self.root(self.x[0])

    @staticmethod
    def square(a, power=np.square):
        return power(np.array([a, a]))

    def value(self):
        out = self.xp.empty(2)
        out[0] = self.first
        out[1] = float(self.x[1])
        return self.square(out[0]) + out


FUNCTIONS = {"sin": math.sin, "nested": [np.sum]}
"""


def source_of(body: str) -> str:
    return (
        AROUND + "\n\ndef f(x):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n"
    )


def numbers(value: Any) -> Any:
    """All elements of what a function returns, as one vector."""
    parts: list[Any] = list(value) if is_a(value, list, tuple) else [value]
    return np.concatenate(
        [part.reshape(-1) if hasattr(part, "dtype") else np.array([part]) for part in parts]
    )


def weighted(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def total(x: Any) -> Any:
        found = numbers(f(x))
        count: int = found.shape[0]
        return np.sum(found * np.cos(np.arange(count) + 0.3))

    return total


def central(f: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    return np.array([(f(x + e) - f(x - e)) / (2 * step) for e in np.eye(x.size) * step])


WAYS = ("adapting", "by name")


def derivatives(package: Any, way: str) -> tuple[Any, Any]:
    """The gradient of `f` in reverse and in forward mode."""

    def both(f: Callable[[Any], Any]) -> tuple[Any, Any]:
        total = weighted(f)
        forward = [gw.jvp(total, (X,), (e,))[1] for e in np.eye(X.size)]
        return gw.grad(total)(X), np.array(forward)

    if way == "adapting":
        return both(gw.adapting(lambda x: package.f(x)))
    with gw.adapted(package):
        return both(lambda x: package.f(x))


@pytest.mark.parametrize("names", [False, True], ids=["np", "names"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("body", IDIOMS.values(), ids=IDIOMS)
def test_idiom_is_differentiated(tmp_path: Path, body: str, way: str, names: bool) -> None:
    package = written(tmp_path, source_of(body), names=names)
    expected = central(weighted(package.f), X)
    before = dict[str, Any](package.__dict__)  # with a registry of warnings, if it gave one
    backward, forward = derivatives(package, way)
    np.testing.assert_allclose(backward, expected, rtol=2e-6, atol=2e-7)
    np.testing.assert_allclose(forward, expected, rtol=2e-6, atol=2e-7)
    assert gw.adapted_modules() == []
    assert before.keys() == package.__dict__.keys()
    assert all(package.__dict__[name] is value for name, value in before.items())


@pytest.mark.parametrize("body", IDIOMS.values(), ids=IDIOMS)
def test_plain_values_are_as_before(tmp_path: Path, body: str) -> None:
    package = written(tmp_path, source_of(body))
    expected = package.f(X)
    with gw.adapted(package):
        found = package.f(X)
    np.testing.assert_array_equal(numbers(found), numbers(expected))
    assert type(found) is type(expected)
    if is_a(expected, list, tuple):
        assert list(map(type_of, found)) == list(map(type_of, expected))


# Transforms, and the tape -------------------------------------------------------------------------

FILL = """
    out = np.zeros(2)
    out[0] = math.sin(x[0]) * x[1]
    out[1] = float(x[1]) ** 3
    return out
"""


@pytest.fixture
def package(tmp_path: Path) -> Any:
    return written(tmp_path, source_of(FILL))


def filled(x: Any) -> Any:
    return np.array([np.sin(x[0]) * x[1], x[1] ** 3])


def test_all_transforms_take_an_adapting_function(package: Any) -> None:
    f = gw.adapting(package.f)

    def total(x: Any) -> Any:
        return np.sum(f(x) * np.array([1.0, 2.0]))

    rows = np.array([[np.cos(1.3) * 0.7, np.sin(1.3)], [0.0, 3 * 0.49]])
    np.testing.assert_allclose(gw.jacobian(f)(X), rows)
    np.testing.assert_allclose(gw.jacrev(f)(X), rows)
    np.testing.assert_allclose(gw.jacfwd(f)(X), rows)
    value, gradient = gw.value_and_grad(total)(X)
    assert value == pytest.approx(float(np.sum(filled(X) * [1.0, 2.0])))
    np.testing.assert_allclose(gradient, np.array([1.0, 2.0]) @ rows)
    second = [[-np.sin(1.3) * 0.7, np.cos(1.3)], [np.cos(1.3), 12 * 0.7]]
    np.testing.assert_allclose(gw.hessian(total)(X), second)
    np.testing.assert_allclose(gw.vmap(f)(np.stack([X, 2 * X])), [filled(X), filled(2 * X)])
    np.testing.assert_allclose(gw.vmap(gw.grad(total))(X[None])[0], gradient)
    out, push = gw.linearize(f, X)
    np.testing.assert_allclose(out, filled(X))
    np.testing.assert_allclose(push(np.array([1.0, 0.0])), rows[:, 0])


def test_on_the_tape_and_as_a_decorator() -> None:
    @gw.adapting
    def loop(x: Any) -> Any:
        """Fill an array."""
        out = np.zeros(2)
        for i in range(2):
            out[i] = math.exp(x[i])
        return np.sum(out)

    x = gw.wrap(X, requires_grad=True)
    loop(x).backward()
    np.testing.assert_allclose(np.asarray(x.grad), np.exp(X))
    assert loop.__name__ == "loop"
    assert loop.__doc__ == "Fill an array."
    assert type(loop(X)) is np.float64
    assert np.zeros is not getattr(sys.modules[__name__], "zeros", None)


def test_methods_instances_and_keywords(tmp_path: Path) -> None:
    package = written(tmp_path, source_of("return Model(x).value()"))
    model = package.Model(X)

    def value(x: Any) -> Any:
        model.x = x
        return np.sum(gw.adapting(model.value)())

    expected = central(lambda x: np.sum(package.f(x)), X)
    np.testing.assert_allclose(gw.grad(value)(X), expected, rtol=1e-6)
    stepped = gw.adapting(package.stepped)
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(stepped(a=x)))(X), [2.6, np.exp(0.7)])


def test_generated_code_without_a_module() -> None:
    namespace: dict[str, Any] = {"sin": math.sin, "array": np.array}
    exec("def f(x): return array([sin(x[0]), x[1] * x[0]])", namespace)  # noqa: S102  as SymPy does
    before = dict(namespace)
    f = gw.adapting(namespace["f"])
    np.testing.assert_allclose(gw.jacobian(f)(X), [[np.cos(1.3), 0.0], [0.7, 1.3]])
    assert namespace == before


def test_a_package_that_another_one_calls(tmp_path: Path) -> None:
    inner = written(tmp_path, source_of(FILL))
    outer = written(
        tmp_path, f"import {inner.__name__} as inner\n\ndef f(x):\n    return inner.f(x) * 2.0"
    )
    total = weighted(gw.adapting(outer.f))
    np.testing.assert_allclose(gw.grad(total)(X), central(weighted(outer.f), X), rtol=1e-6)


def test_modules_that_are_imported_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text(HEAD + source_of(FILL))
    package = written(
        tmp_path, "def f(x):\n    import imported_late\n    return imported_late.f(x)"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    rows = gw.jacobian(gw.adapting(package.f))(X)
    np.testing.assert_allclose(rows[1], [0.0, 3 * 0.49])
    assert sys.modules["imported_late"].np is np
    del sys.modules["imported_late"]


HEAD = "import cmath\nimport functools\nimport math\nimport numpy as np\n"

PRECISIONS = """
    SINGLE, PARSERS = np.dtype("float32"), {"single": np.float32, "double": np.float64}

    class Cell:
        def __init__(self, width):
            self.width = np.float32(width)
            assert isinstance(self.width, np.float32) and not isinstance(self.width, float)

        @property
        def area(self):
            return float(self.width**2)

    def f(x):
        z = np.complex64(x[0] + 1j * x[1])
        parsed = PARSERS["single"](x[0]) * PARSERS["double"](x[1]) + SINGLE.type(x[1])
        return parsed + z.real * z.imag + Cell(x[0]).area + sum(map(np.float32, x)) + np.half(x[1])

    def kinds(x):
        return np.float32(x[0]), np.float16(x), np.complex64(x[1]), np.longdouble(x[0])
"""


def test_numbers_of_other_precisions_stay_tracked(tmp_path: Path) -> None:
    package = written(tmp_path, PRECISIONS)
    x = np.array([0.1, 0.7])
    expected = [2 * x[1] + 2 * x[0] + 1, 2 * x[0] + 3]
    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(x), expected, rtol=1e-6)
    for tangent in np.eye(2):
        value, slope = gw.jvp(gw.adapting(package.f), (x,), (tangent,))
        assert value == package.f(x)
        np.testing.assert_allclose(slope, tangent @ expected, rtol=1e-6)
    found, _ = gw.jvp(gw.adapting(package.kinds), (x,), (x,))
    for ours, numpys in zip(found, package.kinds(x), strict=True):
        assert ours.dtype == numpys.dtype
        np.testing.assert_array_equal(ours, numpys)


# Plain values -------------------------------------------------------------------------------------


def test_stand_ins_are_the_originals_to_plain_code(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        KINDS = (float, complex, np.float64)

        def kinds(a):
            return [type(a) is float, type(a) == float, isinstance(a, float),
                    type(a) in (int, float),
                    issubclass(np.float64, float), isinstance(a, (int, np.float64)), float(a) == a,
                    {float: 1}.get(type(a)), np.dtype(float) == np.float64, isinstance(float, type),
                    issubclass(np.float64, np.floating), issubclass(float, (str, np.inexact)),
                    issubclass(np.complex128, np.complexfloating), issubclass(bool, float),
                    np.float32(a), np.dtype(np.float32),
                    np.zeros(1, np.float32).dtype.type == np.float32,
                    {np.float32: 1}.get(np.zeros(1, "f4").dtype.type), np.finfo(np.float32).eps,
                    issubclass(np.float32, np.floating), isinstance(np.float32(a), np.float32)]

        def made():
            class Length(float):
                pass
            class Kind(type):
                pass
            return Length(2.0), Kind("K", (), {}), type("T", (float,), {})(1.5), float | None

        def names():
            return [float.__name__, repr(float), str(np.float64), float.fromhex("0x1p2"),
                    np.float64(2), complex("1j"), complex(1, 2),
                    float("2.5"), float(), np.zeros.__name__]

        def objects():
            return [np.zeros, math.sin, np.linalg.norm, np.sum, cmath.exp, np.sin, np.pi,
                    np.float64]
        """,
    )
    calls: dict[str, Callable[[], Any]] = {
        "float": lambda: package.kinds(1.5),
        "float64": lambda: package.kinds(np.float64(1.5)),
        "int": lambda: package.kinds(2),
        "names": package.names,
    }
    expected = {name: call() for name, call in calls.items()}
    length, kind, derived, union = package.made()
    originals = package.objects()
    with gw.adapted(package):
        assert {name: call() for name, call in calls.items()} == expected
        adapted_length, adapted_kind, adapted_derived, adapted_union = package.made()
        objects = package.objects()
        assert package.float is not float
    assert isinstance(adapted_length, float)
    assert [base.__name__ for base in type(adapted_length).__mro__] == [
        base.__name__ for base in type(length).__mro__
    ]
    assert isinstance(adapted_kind, type(kind).__mro__[1])
    assert (adapted_derived, type(adapted_derived).__bases__) == (derived, (float,))
    assert adapted_union == union
    for stand_in, original in zip(objects, originals, strict=True):
        restored = pickle.loads(pickle.dumps(stand_in))  # noqa: S301  made here
        assert restored is stand_in or restored == original
        assert getattr(stand_in, "__doc__", None) == getattr(original, "__doc__", None)
        assert getattr(stand_in, "__name__", None) == getattr(original, "__name__", None)
    assert inspect.signature(objects[2]) == inspect.signature(originals[2])
    assert inspect.signature(objects[1]) == inspect.signature(originals[1])
    # what was taken out of the package goes on to work
    assert objects[0](2).tolist() == [0.0, 0.0]
    assert objects[1](1.0) == math.sin(1.0)


def test_errors_of_plain_values_are_the_originals(package: Any) -> None:
    def error_of(call: Callable[[], Any]) -> tuple[type, str]:
        with pytest.raises(Exception) as caught:  # noqa: PT011  compared by the caller
            call()
        return caught.type, str(caught.value)

    calls: list[Callable[[], Any]] = [
        lambda: package.math.sqrt(-1.0),
        lambda: package.math.log(0.0),
        lambda: package.math.exp(1e9),
        lambda: package.math.sin("a"),
        lambda: package.np.zeros(-1),
        lambda: package.np.sum(np.ones(3), axis=2),
        lambda: package.np.array([[1.0], [1.0, 2.0]]),
        lambda: package.np.nonsense,
        lambda: package.math.pow(1.0),
    ]
    expected = [error_of(call) for call in calls]
    with gw.adapted(package):
        assert [error_of(call) for call in calls] == expected


def test_math_refuses_tracked_numbers_as_it_refuses_others(package: Any) -> None:
    with gw.adapted(package):
        for x, match in ((-1.0, "domain|positive"), (0.0, "domain|positive")):
            with pytest.raises(ValueError, match=match):
                gw.grad(lambda a: package.math.log(a))(x)
        with pytest.raises(OverflowError):
            gw.grad(lambda a: package.math.exp(a))(1e4)
        assert gw.grad(lambda a: package.math.log(a, 2.0))(2.0) == pytest.approx(
            0.5 / math.log(2.0)
        )


def test_caches_hold_plain_values(tmp_path: Path) -> None:
    package = written(tmp_path, source_of("return table(2) * x"))
    np.testing.assert_array_equal(
        gw.grad(lambda x: np.sum(gw.adapting(package.f)(x)))(X), [0.0, 1.0]
    )
    assert type(package.table(2)) is np.ndarray
    assert package.table.cache_info().currsize == 1


def test_functions_that_were_compiled_run_as_written(tmp_path: Path) -> None:
    """A dispatcher as Numba makes it: an object that has the function as `py_func`."""
    package = written(
        tmp_path,
        """
        class Dispatcher:
            def __init__(self, function):
                self.py_func = function

            def __call__(self, *args):
                if not all(type(a) in (float, np.float64) for a in args):
                    raise TypeError("cannot be compiled")
                return self.py_func(*args)

        def _kernel(a, b):
            return math.sin(a) * b

        kernel = Dispatcher(_kernel)

        def f(x):
            return kernel(x[0], x[1])
        """,
    )
    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(X), [np.cos(1.3) * 0.7, np.sin(1.3)])
    assert package.f(X) == np.sin(1.3) * 0.7


def test_stores_to_arrays_that_numpy_made(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        BASE = np.array([1.0, 2.0, 3.0])

        class Weights:
            def __init__(self):
                self.w = BASE * 2.0

            def step(self, x):
                self.w += x[0]
                self.w[1:] -= x[1]
                return self.w

        def f(x):
            a = BASE + 1.0
            a[0], b = x[0] * x[1], 2.0
            a[1:] += x
            a *= x[0]
            c = BASE * BASE
            c[::2], c[1] = x, x[0]
            return a * b + c * Weights().step(x)

        def shaped(x):
            a = np.linspace(0.0, 1.0, 4)
            a[:2] -= x
            b = (a * 0.0 + BASE[0]).reshape(2, 2)
            b[0] = x
            c = np.outer(BASE, BASE)[0]
            c *= x[1]
            return np.sum(a[:2] * b) + c

        def filled(x, out):
            out[0] = x[0]
            return out

        def reshaped(x):
            a = BASE + 1.0
            b = a.reshape(3, 1)
            b[0] = x[0]
            return a

        def aliased(x):
            a = b = BASE + 1.0
            a[0] = x[0]
            return b

        def viewed(x):
            a = BASE + 1.0
            view = a[1:]
            a[0] = x[0]
            return view

        def given(x):
            a = BASE + 1.0
            filled(x, a)
            return a

        def renamed(x):
            a = BASE + 1.0
            fill_other_name(x, a)
            return a * x[0]

        def fill_other_name(x, out):
            other = out
            other[0] = x[0]

        def copied(x):
            return filled(x, BASE + 1.0)
        """,
    )
    for name in ("f", "copied", "shaped"):
        function = getattr(package, name)
        adapting = gw.adapting(function)
        for _ in range(2):
            np.testing.assert_allclose(
                gw.grad(weighted(adapting))(X), central(weighted(function), X), rtol=1e-6
            )
    for name in (
        "aliased",
        "viewed",
        "given",
        "renamed",
        "reshaped",
    ):  # the other name would not see it
        with pytest.raises(TrackedValueError, match=r"store into a plain numpy\.ndarray in "):
            gw.grad(weighted(gw.adapting(getattr(package, name))))(X)
    assert package.f.__code__.co_names[:1] == ("BASE",)
    with gw.adapted(package), pytest.raises(GradwrapError):
        gw.grad(weighted(package.f))(X)


def test_a_run_that_fails_leaves_no_trace_in_the_arguments(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        BASE = np.array([1.0, 2.0])

        def f(x, more):
            x *= 3.0
            more += x
            x.shape = (1, 2)
            a = BASE + 1.0
            a[0] = x[0, 0]
            return a * more + x[0]

        def g(x):
            x *= 3.0
            raise ValueError("not sorted")
        """,
    )
    f = gw.adapting(package.f)
    rows = gw.jacobian(f)(X, np.ones(2))
    np.testing.assert_allclose(rows[0], [3 * (1 + 3.9) + 3.9 * 3 + 3, 0.0])
    np.testing.assert_allclose(rows[1], [0.0, 3.0 * 3.0 + 3.0])
    x = X.copy()
    with pytest.raises(ValueError, match="not sorted"):
        gw.grad(gw.adapting(package.g))(x)
    np.testing.assert_array_equal(x, X)


# Nothing is dropped -------------------------------------------------------------------------------


def test_text_of_a_tracked_value_warns_once_for_each_line(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        LINES = []

        def f(x):
            for _ in range(3):
                LINES.append(f"{x[0]:.3g} {x[1]}")
            LINES.append("%.2f" % x[0])
            LINES.append(str(x[0]) + repr(x) + "{}".format(x[1]))
            return np.sum(x * x)
        """,
    )
    expected = ["1.3 0.7", "1.3 0.7", "1.3 0.7", "1.30", "1.3array([1.3, 0.7])0.7"]
    package.f(X)
    assert expected == package.LINES
    with warnings.catch_warnings(record=True) as caught, gw.adapted(package):
        warnings.simplefilter("always")
        np.testing.assert_allclose(gw.grad(package.f)(X), 2 * X)
    assert package.LINES[len(expected) :] == expected
    first = package.f.__code__.co_firstlineno
    assert [(w.category, w.lineno - first) for w in caught] == [
        (TrackedTextWarning, line) for line in (2, 3, 4)
    ]
    assert all(w.filename == package.__file__ for w in caught)


def test_an_output_that_depends_on_nothing_names_the_modules(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def f(x):
            return np.sum(np.zeros(len(x)))
        """,
    )
    with pytest.raises(
        AdaptationError, match=rf"no output of f depends.* {package.__name__}\b.*Fix: "
    ):
        gw.grad(gw.adapting(package.f))(X)
    with pytest.raises(AdaptationError, match="no output of <lambda> depends"):
        gw.jvp(gw.adapting(fn(lambda x: np.zeros(2))), (X,), (X,))
    # what is no derivative is not checked
    np.testing.assert_array_equal(
        gw.vmap(gw.adapting(fn(lambda x: np.zeros(2))))(X[None]), [[0.0, 0.0]]
    )
    assert gw.adapting(fn(lambda x: 1.0))(X) == 1.0


def test_a_real_number_is_not_made_of_a_tracked_value(tmp_path: Path) -> None:
    package = written(
        tmp_path, "import array\n\ndef f(x):\n    return np.sum(array.array('f', [x[0]]))"
    )
    with pytest.raises(TrackedValueError, match="drop its gradient"):
        gw.grad(gw.adapting(package.f))(X)


def test_masked_arrays_made_before_are_refused(tmp_path: Path) -> None:
    package = written(tmp_path, source_of("return M - x") + "\nM = np.ma.array([1.0, 2.0])\n")
    with pytest.raises(NonDifferentiableInputError, match=r"masked arrays.*np\.where"):
        gw.grad(weighted(gw.adapting(package.f)))(X)


# Errors -------------------------------------------------------------------------------------------


def test_the_first_error_is_raised_with_what_was_tried(tmp_path: Path) -> None:
    package = written(tmp_path, "def f(x):\n    return np.sum(np.array(memoryview(x)))")
    with pytest.raises(AdaptationError, match=r"memoryview.* in f \(.*line 7.*Fix: ") as caught:
        gw.grad(gw.adapting(package.f))(X)
    assert isinstance(caught.value.__cause__, TypeError)
    assert any(package.__name__ in note for note in caught.value.__notes__)


def test_errors_of_the_function_itself_are_its_own(tmp_path: Path) -> None:
    package = written(tmp_path, "def f(x):\n    raise ValueError('x must be sorted')")
    with pytest.raises(ValueError, match=r"^x must be sorted$") as caught:
        gw.grad(gw.adapting(package.f))(X)
    assert not isinstance(caught.value, GradwrapError)
    assert package.np is np


def test_without_adapting_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    package = written(folder, source_of(FILL))
    with pytest.raises(GradwrapError) as caught:
        gw.grad(lambda x: np.sum(package.f(x)))(X)
    text = str(caught.value)
    assert "gradwrap.adapting(f)" in text
    assert f'gradwrap.adapt("{package.__name__}")' in text
    assert f"in f ({package.__name__}, line " in text
    monkeypatch.setitem(sys.modules, package.__name__, package)
    np.testing.assert_allclose(
        gw.grad(weighted(gw.adapting(package.f)))(X), central(weighted(package.f), X), rtol=1e-6
    )
    undo = gw.adapt(package.__name__)
    np.testing.assert_allclose(
        gw.grad(weighted(lambda x: package.f(x)))(X), central(weighted(package.f), X), rtol=1e-6
    )
    undo.undo()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("numpy", "numpy is not adapted itself. Fix: adapt the package that calls it"),
        (np.linalg, "numpy.linalg is not adapted"),
        ("scipy", r"import gradwrap\.scipy as scipy"),
        ("json", "json is not adapted"),
        (3, "it got an int. Fix: "),
    ],
)
def test_what_cannot_be_adapted(given: Any, match: str) -> None:
    with pytest.raises(AdaptationError, match=match):
        gw.adapt(given)
    with pytest.raises(AdaptationError, match=match), gw.adapted(given):
        pass
    assert gw.adapted_modules() == []


def test_a_name_that_no_package_has() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        gw.adapt("no_such_package")


# Undoing ------------------------------------------------------------------------------------------


def held(package: Any) -> dict[str, Any]:
    """What the places of a package hold, by their names."""
    cells = [cell.cell_contents for cell in package.closing.__closure__]
    parts: dict[str, dict[str, Any]] = {
        "globals": package.__dict__,
        "attributes": package.Model.__dict__,
        "defaults": {"": package.with_defaults.__defaults__},
        "keywords": package.with_defaults.__kwdefaults__,
        "closure": {str(i): cell for i, cell in enumerate(cells)},
        "functions": package.FUNCTIONS,
        "list": {str(i): one for i, one in enumerate(package.FUNCTIONS["nested"])},
        "others": {
            "code": package.f.__code__,
            "vectorized": type_of(package.stepped),
            "import": builtins.__import__,
        },
    }
    return {f"{part}.{name}": one for part, values in parts.items() for name, one in values.items()}


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    assert [name for name, value in found.items() if value is not expected[name]] == []


def test_every_place_is_as_it_was(tmp_path: Path) -> None:
    package = written(tmp_path, source_of("return MATRIX.dot(x)"))
    before = held(package)
    with gw.adapted(package):
        assert package.np is not np
        assert package.with_defaults.__defaults__[0] is not np.zeros
        changed = {name for name, value in held(package).items() if value is not before.get(name)}
        assert {
            *("globals.np", "globals.math", "globals.float", "attributes.make", "attributes.root"),
            *("defaults.", "keywords.xp", "closure.0", "functions.sin", "list.0", "others.code"),
            *("others.vectorized", "others.import"),
        } <= changed
        assert gw.adapted_modules() == [package.__name__]
    assert_same(held(package), before)
    with pytest.raises(KeyError), gw.adapted(package):
        raise KeyError
    assert_same(held(package), before)
    assert gw.adapted_modules() == []


def test_users_leave_in_any_order(package: Any) -> None:
    before = held(package)
    first, second = gw.adapt(package), gw.adapt(package)
    with gw.adapted(package, package):
        first.undo()
        assert package.np is not np
    assert package.np is not np
    second.undo()
    assert_same(held(package), before)
    with pytest.raises(AdaptationError, match="nothing to undo"):
        second.undo()


def test_what_was_exchanged_meanwhile_is_left(package: Any) -> None:
    mine = types.SimpleNamespace()
    with gw.adapted(package):
        package.math = mine
        package.added = np
    assert package.math is mine
    assert package.added is np
    assert package.np is np


class Broken:
    def __getitem__(self, key: Any) -> Any:
        raise ZeroDivisionError


def test_an_error_while_it_is_installed_undoes_it(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradwrap.adaptation import modules

    before = held(package)
    plan: list[Any] = getattr(modules, "_plan")(package.__dict__)  # noqa: B009  it is private
    broken = plan[0]._replace(place=plan[0].place._replace(holder=Broken()))
    monkeypatch.setattr(modules, "_plan", fn(lambda _: [*plan[:-1], broken]))
    with pytest.raises(ZeroDivisionError):
        gw.adapt(package)
    assert_same(held(package), before)
    assert gw.adapted_modules() == []


@pytest.mark.slow
def test_a_plain_thread_and_one_that_differentiates(tmp_path: Path) -> None:
    package = written(tmp_path, source_of("return Model(np.asarray(x)).value() + MATRIX.dot(x)"))
    total = weighted(package.f)
    gradient, value = central(total, X), package.f(X)
    before = held(package)
    wrong: list[Any] = []
    ready = threading.Barrier(2)

    def plainly() -> None:
        ready.wait()
        for _ in range(1000):
            found = package.f(X)
            if type(found) is not np.ndarray or not np.array_equal(found, value):
                wrong.append(found)

    def differentiating() -> None:
        ready.wait()
        for i in range(1000):
            if i % 2:
                found = gw.grad(weighted(gw.adapting(package.f)))(X) if i % 20 == 1 else gradient
            else:
                with gw.adapted(package):
                    found = gw.grad(total)(X)
            if not np.allclose(found, gradient, rtol=1e-6):
                wrong.append(found)

    threads = [threading.Thread(target=one) for one in (plainly, differentiating)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert_same(held(package), before)


def test_copies_and_pickles_of_adapted_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = written(tmp_path, source_of(FILL))
    monkeypatch.setitem(sys.modules, package.__name__, package)
    expected = pickle.dumps(package.f)
    with gw.adapted(package):
        assert pickle.dumps(package.f) == expected
        model = copy.deepcopy(package.Model(X))
        restored = pickle.loads(pickle.dumps(model))  # noqa: S301  made here
        assert restored.value().tolist() == model.value().tolist()
        assert inspect.getsource(package.f).endswith("return out\n")
        assert functools.reduce(package.np.add, [1.0, 2.0]) == 3.0


def test_a_subclass_of_ndarray_without_methods(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Length(np.ndarray):
            pass

        def f(x):
            return np.asarray(x).view(Length)

        def scaled(x):
            return x * float(np.array([2.0]).view(Length)[0]) + np.asarray(x).view(np.ndarray)
        """,
    )
    np.testing.assert_allclose(gw.jacobian(gw.adapting(package.f))(X), np.eye(2))
    rows = gw.jacobian(gw.adapting(package.scaled))(X)
    np.testing.assert_allclose(rows, 3.0 * np.eye(2))
    assert type(package.f(X)) is package.Length


def test_functions_that_numpy_writes_in_python_run_on_stand_ins(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def f(x):
            roots = np.roots([1.0, x[0] + 4.0, x[1]])
            line = np.polyfit(np.arange(3.0), np.array([x[0], x[1], 1.0]), 1)
            curve = np.polynomial.Chebyshev(x).deriv()(2.0)
            curve = curve + np.polynomial.Polynomial([1.0, 2.0, 3.0])(x[0])
            return [np.sort(roots), line, curve, np.emath.log(-x), np.poly(x)]
        """,
    )
    total = weighted(lambda x: [abs(part) for part in package.f(x)])
    np.testing.assert_allclose(
        gw.grad(weighted(lambda x: [abs(part) for part in gw.adapting(package.f)(x)]))(X),
        central(total, X),
        rtol=1e-6,
    )
    module: Any = np.polynomial.polynomial
    assert module.np is np


def test_a_number_that_lost_its_gradient_is_noticed(tmp_path: Path) -> None:
    for number, error, words in (
        ("float(str(x[0]) + '0')", TrackedValueError, "reads back text"),
        ("len(str(x[0]))", AdaptationError, "no output of f depends"),
    ):
        package = written(tmp_path, f"def f(x):\n    return {number} * 2.0")
        with pytest.warns(TrackedTextWarning), pytest.raises(error, match=words):
            gw.grad(gw.adapting(package.f))(X)


@pytest.mark.parametrize("way", WAYS)
def test_functions_of_scipy_are_those_that_have_rules(tmp_path: Path, way: str) -> None:
    package = written(
        tmp_path,
        """
        import scipy
        import scipy.linalg
        from scipy import special, stats
        from scipy.linalg import solve_triangular
        from scipy.special import erf

        LOWER = np.array([[2.0, 0.0], [1.0, 3.0]])

        def f(x):
            from scipy.integrate import trapezoid
            Q = [[x[0], 2.0], [x[1], 1.0]]
            return [
                solve_triangular(LOWER, np.asarray(x), lower=True),
                scipy.linalg.block_diag(Q, Q).sum() + scipy.linalg.inv(Q)[0, 0],
                special.gammaln([x[0], x[1]]) + erf(x) + math.erf(x[0]),
                stats.norm.logpdf(x[0], loc=x[1]) + trapezoid([x[0], x[1]]),
            ]
        """,
    )
    expected = central(weighted(package.f), X)
    for found in derivatives(package, way):
        np.testing.assert_allclose(found, expected, rtol=2e-6)
    assert package.solve_triangular is package.scipy.linalg.solve_triangular
