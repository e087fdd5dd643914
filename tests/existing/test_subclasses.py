"""Subclasses of `ndarray` and `float` whose instances hold tracked values in adapted code."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import AdaptationError, NonDifferentiableInputError, TrackedValueError
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([0.5, 1.5])
SOURCE = """
import copy

class Signal(np.ndarray):
    def __new__(cls, values, info=None):
        self = np.asarray(values).view(cls)
        self.info = info
        return self

    def __array_finalize__(self, obj):
        if obj is None or obj.__class__ is np.ndarray:
            return
        self.info = getattr(obj, "info", None)

    @property
    def doubled(self):
        return self * 2.0

    def __pow__(self, exponent, modulo=None):
        return super().__pow__(exponent, modulo)

    def norm(self):
        return np.sqrt(np.sum(self ** 2))

    def total(self):
        return super().sum() * 3.0

    def __getitem__(self, key):
        return super().__getitem__(key)


class Wrapping(np.ndarray):
    count = 0

    def __array_finalize__(self, obj):
        self.count = getattr(obj, "count", 0)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        made = super().__array_wrap__(array, context, return_scalar)
        made.count = self.count + 1
        return made


class Initialized(np.ndarray):
    factor = 1.0

    def __new__(cls, values, factor):
        return np.array(values, dtype=float).view(cls)

    def __init__(self, values, factor):
        self.factor = factor

    def out(self):
        return np.asarray(self) * self.factor


class Unit(np.ndarray):
    def __new__(cls, values, power):
        self = np.array(values, dtype=float, copy=True).view(cls)
        self.power = power
        return self

    def __array_finalize__(self, obj):
        self.power = getattr(obj, "power", 0)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        arrays = [i.view(np.ndarray) if isinstance(i, Unit) else i for i in inputs]
        powers = [i.power if isinstance(i, Unit) else 0 for i in inputs]
        found = super().__array_ufunc__(ufunc, method, *arrays, **options)
        if ufunc is np.multiply:
            found = np.asarray(found).view(Unit)
            found.power = sum(powers)
        elif ufunc is np.add:
            if len(set(powers)) > 1:
                raise ValueError("powers differ")
            found = np.asarray(found).view(type(self))
            found.power = powers[0]
        return found


class State(np.ndarray):
    def __new__(cls, n):
        self = super().__new__(cls, (n,))
        self[:] = 0.0
        return self

    def of(cls, x):
        made = np.ndarray.__new__(cls, (1, 2), buffer=np.array([float(v) for v in x]), dtype=float)
        return made.put(made[0])

    of = classmethod(of)

    def put(self, x):
        self[0] = x[0] * 2
        self[1:] = x[1:]
        return self


class Counting(np.ndarray):
    def sum(self, *args, **options):
        return np.asarray(self).sum(*args, **options) * self.size

    def clip(self, low, high, **options):
        return np.asarray(self) ** 2

    def mean(self, axis=None, **options):
        return 2.0 * np.asarray(self).mean(axis)


class Scaled(np.ndarray):
    def __float__(self):
        return float(np.asarray(self)) * 1000.0

    def __complex__(self):
        return complex(np.asarray(self)) * 100.0


class Degrees(float):
    def __new__(cls, value, name="d"):
        self = super().__new__(cls, value)
        self.name = name
        return self

    def radians(self):
        return math.radians(self)


class Plain(float):
    def squared(self):
        return self * self


def attributes(x):
    a = Signal(x, "m")
    b = a + 1.0
    assert type(b) is Signal and isinstance(b, np.ndarray) and b.__class__ is Signal
    assert b.info == a.doubled.info == a[:2].info == a.reshape(-1, 1).T.info == "m"
    assert isinstance(np.sum(a), Signal) and not isinstance(a[0], Signal)
    assert type(np.outer(a, a)) is np.ndarray and isinstance(np.asanyarray(a), Signal)
    assert copy.copy(a).info == "m" and np.zeros_like(a).info == "m"
    a[0] = a[1] * 2
    return a.norm() + a.total() + (b @ b) + np.linalg.norm(a) + 2.0 * b.mean() + a[1]

def joined(x):
    a, plain = Signal(x, "m"), np.array([2.0, 3.0])
    a += 1.0
    return np.sum(np.concatenate([a, a * a]) ** 2) + np.sum(plain * a) + np.dot(plain, a) + max(a)

def wrapping(x):
    a = np.asarray(x).view(Wrapping)
    b = np.exp(np.sin(a)) * a
    assert b.count == 3
    return b.sum()

def initialized(x):
    a = Initialized(x, 3.0)
    return (a.out() ** 2).sum() + (a * a).sum()

def units(x):
    a = Unit(x, 1)
    b = a * a + a * Unit([1.0, 2.0], 1)
    assert b.power == 2
    return np.asarray(b).sum() + (2.0 * a).view(np.ndarray)[0]

def refused_units(x):
    return Unit(x, 1) + Unit(x, 2)

def state(x):
    assert State.of(x).shape == (1, 2)
    return (State(2).put(x) ** 2).sum() + (State.of(x) ** 3).sum()

def in_place(x):
    y, a = x * 1.0, Signal(x * 2.0)
    y *= a
    y += a
    return np.asarray(y).sum()

def own_methods(x):
    a = (x * x).view(Counting)
    return np.sum(a) + 3.0 * np.mean(a) + np.clip(a, 0, 1).sum() + np.average(a)

def own_conversions(x):
    total = np.sum(x.view(Scaled) ** 2)
    return float(total) + complex(total.view(Scaled)).real

def numbers(x):
    assert type[int] is not None
    d, p = Degrees(x[0]), Plain(x[1])
    assert isinstance(d, float) and isinstance(d, Degrees) and d.name == "d" and d > 0.0
    assert type(p * p) is not Plain
    return d.radians() + p.squared() * math.sin(p) + float(d) + d + np.sin(d) - 2.0 * p

def questions(x):
    a = Signal(x, "m")
    a.setflags(write=False)
    plain = np.array(Signal([1.0, 2.0], "s"), subok=True)
    assert plain.info == "s" and type(plain) is Signal
    b = Signal(x * 2.0)
    b.base.setfield(b * a, dtype=float)
    a = Signal(b * b[0])
    return a.tolist()[0] * a.sum().item() + plain[1] * x[1]

def converted(x):
    return np.frombuffer(Signal(x))[0]
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("package")
    return written(folder, SOURCE)


def differences(function: Callable[[Any], Any]) -> Any:
    steps = 1e-6 * np.eye(2)
    return np.array([(function(X + e) - function(X - e)) / 2e-6 for e in steps])


@pytest.mark.parametrize(
    "name",
    [
        *("attributes", "joined", "wrapping", "initialized", "units", "state", "numbers"),
        *("in_place", "own_methods", "own_conversions", "questions"),
    ],
)
def test_instances_hold_tracked_values(package: Any, name: str) -> None:
    function: Any = getattr(package, name)
    expected, adapted = differences(function), gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-6)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)]
    assert np.allclose(forward, expected, rtol=1e-6)
    with gw.adapted(package):
        assert np.allclose(gw.grad(function)(X), expected, rtol=1e-6)
        if name != "joined":  # max() asks which is greater
            batch = np.stack([X, X + 0.1])
            each: Any = gw.vmap(gw.grad(function), fallback="loop" if name == "numbers" else "warn")
            assert np.allclose(each(batch)[0], expected, rtol=1e-6)
    assert "__new__" not in vars(package.Plain)
    assert type(package.Plain(1.5)) is package.Plain


def test_the_error_of_the_subclass_is_raised(package: Any) -> None:
    with pytest.raises(ValueError, match="powers differ"):
        gw.grad(gw.adapting(package.refused_units))(X)


def test_results_may_be_instances(package: Any) -> None:
    found = gw.jacobian(gw.adapting(lambda x: package.Signal(x) ** 2))(X)
    assert np.allclose(found, np.diag(2 * X))


def test_not_adapted(package: Any) -> None:
    with pytest.raises(TrackedValueError, match=r"gradwrap.adapting\(f\)"):
        gw.grad(lambda x: np.sum(x.view(package.Signal)))(X)


def test_no_plain_values_come_out(package: Any) -> None:
    with pytest.raises((AdaptationError, TrackedValueError)):
        gw.grad(gw.adapting(package.converted))(X)

    def pickled(x: Any) -> Any:
        return pickle.loads(pickle.dumps(copy.copy(package.Signal(x))))[0]  # noqa: S301  made here

    with pytest.raises((AdaptationError, TrackedValueError), match="pickle"):
        gw.grad(gw.adapting(pickled))(X)


# Plain instances beside tracked values -----------------------------------------------------------


class Doubling(np.ndarray):
    """An array whose products are twice those of arrays."""

    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) * other * 2.0

    def __rmul__(self, other: Any) -> Any:
        return other * np.asarray(self) * 2.0


def test_arithmetic_of_a_subclass_is_asked_first() -> None:
    double: Any = np.ones(2).view(Doubling)

    def products(x: Any) -> Any:
        y = x * 1.0
        y *= double  # in place, NumPy does not ask
        return np.sum(x * double * 3.0 + double * x + y)

    value, gradient = gw.value_and_grad(products)(X)
    assert np.isclose(value, products(X))
    assert np.allclose(gradient, differences(products))


def test_an_argument_with_arithmetic_of_its_own_is_refused() -> None:
    double: Any = np.ones(2).view(Doubling)
    with pytest.raises(NonDifferentiableInputError, match="arithmetic of its own"):
        gw.grad(lambda x, plain: np.sum(plain * x))(X, double)


def test_a_result_that_would_lose_its_arithmetic_is_refused() -> None:
    double: Any = np.ones(2).view(Doubling)
    with pytest.raises(NonDifferentiableInputError, match=r"Doubling .* arithmetic .* np.asarray"):
        gw.grad(lambda x: np.sum(np.multiply(x, double) * 1.0))(X)


def test_instances_made_outside_meet_tracked_values(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Quantity(np.ndarray):
            def __new__(cls, value, unit):
                self = np.array(value, dtype=float).view(cls)
                self.unit = unit
                return self

            def __array_finalize__(self, obj):
                self.unit = getattr(obj, "unit", 0)

            def __array_ufunc__(self, ufunc, method, *inputs, **options):
                units = [getattr(one, "unit", 0) for one in inputs]
                plain = [one.view(np.ndarray) if hasattr(one, "unit") else one for one in inputs]
                found = super().__array_ufunc__(ufunc, method, *plain, **options)
                if found is NotImplemented:
                    return found
                found = np.asarray(found).view(type(self))
                found.unit = sum(units) if ufunc is np.multiply else units[0] - sum(units[1:])
                return found

        METRES = Quantity([2.0, 3.0], 1)
        def run(x):
            area = x * METRES * METRES
            ratio = METRES[:1] / (x[0] * METRES[1:])
            assert area.unit == 2 and ratio.unit == 0
            return np.sum(np.asarray(area) ** 2) + np.sum(np.asarray(ratio))
        """,
    )
    expected = 2.0 * X * np.array([16.0, 81.0]) - np.array([2.0 / 3.0 / 0.25, 0.0])
    assert np.allclose(gw.grad(gw.adapting(package.run))(X), expected, rtol=1e-12)
    assert package.METRES.unit == 1


def test_units_that_wrap_the_results_of_ufuncs(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Length(np.ndarray):
            power = 1

            def __array_finalize__(self, obj):
                self.power = getattr(obj, "power", 1)

            def __array_wrap__(self, array, context=None, return_scalar=False):
                made = np.asarray(array).view(Length)
                powers = [getattr(one, "power", 0) for one in context[1]]
                made.power = sum(powers) if context[0] is np.multiply else max(powers)
                return made

            def __mul__(self, other): return np.multiply(self, other)
            def __rmul__(self, other): return np.multiply(other, self)

        METRE = np.array([1.0, 2.0]).view(Length)

        def run(x):
            area = x * METRE * METRE
            scale = METRE * np.asarray([3.0, 4.0])
            assert area.power == 2 and type(scale) is Length and METRE.power == 1
            return np.asarray(area * scale).sum()
        """,
    )
    assert np.allclose(gw.grad(gw.adapting(package.run))(X), [3.0, 32.0], rtol=1e-14)


def test_numbers_of_a_subclass_are_not_changed_in_place(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Angle(float):
            def turned(self, by):
                angle = self
                angle -= by
                angle *= 2.0
                return angle

        def f(x):
            angle = Angle(x[0])
            return angle.turned(Angle(x[1])) * angle
        """,
    )
    x = np.array([1.5, 0.2])

    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(x), [4 * x[0] - 2 * x[1], -2 * x[0]])


def test_classes_with_a_metaclass_in_python(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import functools

        class Length(np.ndarray):
            def __new__(cls, values, unit="m"):
                made = np.asarray(values, dtype=float).view(cls)
                made.unit = unit
                return made

            def __array_finalize__(self, obj):
                self.unit = getattr(obj, "unit", "m")

            def __mul__(self, other):
                return super().__mul__(other * 2.0)

        class Checking(type):
            def __new__(cls, name, bases, members):
                def checked(method):
                    @functools.wraps(method)
                    def wrapper(self, *args):
                        assert self.unit == "m"
                        return method(self, *args)
                    return wrapper

                members["__mul__"] = checked(Length.__mul__)
                return super().__new__(cls, name, bases, members)

        class Constant(Length, metaclass=Checking):
            pass

        def scaled(x):
            return np.asarray(x).view(Constant) * 3.0
        """,
    )

    def f(x: Any) -> Any:
        return np.sum(np.asarray(package.scaled(x)) ** 2)

    assert f(X) == 36.0 * np.sum(X**2)
    np.testing.assert_allclose(gw.grad(gw.adapting(f))(X), 72.0 * X)
    np.testing.assert_allclose(gw.jvp(gw.adapting(f), (X,), (np.ones(2),))[1], np.sum(72.0 * X))


def test_instances_outside_of_adapted_code_say_so(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Careful(np.ndarray):
            def __array_function__(self, function, types, args, options):
                if type(args[0][0]) is Careful:
                    return super().__array_function__(function, types, args, options)
                return NotImplemented

        def made(x):
            return np.asarray(x).view(Careful)
        """,
    )

    def inside(x: Any) -> Any:
        return np.sum(np.asarray(np.concatenate([package.made(x)])) ** 2)

    def outside(x: Any) -> Any:
        return np.sum(np.concatenate([gw.adapting(package.made)(x)]) ** 2)

    np.testing.assert_allclose(gw.grad(gw.adapting(inside))(X), 2 * X)
    with pytest.raises(AdaptationError, match=r"outside of gradwrap.adapting.*Fix: make the call"):
        gw.grad(outside)(X)


SCIPYS = """
    import scipy.integrate
    import scipy.interpolate
    import scipy.linalg
    import scipy.optimize
    import scipy.stats

    class Amount(float):
        def __mul__(self, other):
            return Amount(float(self) * float(other))

        __rmul__ = __mul__

    class Row(np.ndarray):
        pass

    def functions():
        return {
            "frozen distribution": lambda x: scipy.stats.norm(loc=Amount(x)).cdf(0.3),
            "distribution": lambda x: scipy.stats.t.ppf(0.3, Amount(x)),
            "bound": lambda x: scipy.integrate.quad(lambda t: t * t, 0, Amount(x))[0],
            "arguments": lambda x: scipy.integrate.quad(
                lambda t, s: t * s, 0, 1, args=(Amount(x),)
            )[0],
            "integrand": lambda x: scipy.integrate.quad(lambda t: Amount(t * x), 0, 1)[0],
            "root": lambda x: scipy.optimize.brentq(lambda t: t * t - Amount(x), 0.0, 2.0),
            "minimum": lambda x: scipy.optimize.minimize(
                lambda p: (p[0] - Amount(x)) ** 2 + p[0] ** 4, [0.1], tol=1e-10
            ).x[0],
            "point": lambda x: scipy.interpolate.CubicSpline([0, 1, 2], [0, 1, 4])(Amount(x)),
            "interpolant": lambda x: scipy.interpolate.interp1d([0, 1], [0, 3])(Amount(x)),
            "matrix": lambda x: scipy.linalg.solve([[Amount(x), 0.2], [0, 1]], [1, 2])[0],
            "rate": lambda x: scipy.integrate.solve_ivp(
                lambda t, y: -y * Amount(x), (0, 1), [1.0], rtol=1e-10, atol=1e-12
            ).y[0, -1],
            "row": lambda x: scipy.stats.norm.cdf(np.array([x, 2 * x]).view(Row)).sum(),
            "array first": lambda x: np.sum(np.array([x, 2.0]) * Amount(x)),
            "store": lambda x: stored(Amount(x)) * x,
        }

    def stored(amount):
        out = np.zeros(3)
        out[0] = amount
        out[1:] = [amount * 2, 1.0]
        return out.sum()
"""


def test_functions_of_scipy_take_instances_that_hold_tracked_values(tmp_path: Path) -> None:
    package = written(tmp_path, SCIPYS)
    for name, function in package.functions().items():
        expected = (function(0.7001) - function(0.6999)) / 2e-4
        adapted = gw.adapting(function)
        slope = gw.jvp(adapted, (0.7,), (1.0,))[1]
        np.testing.assert_allclose(gw.grad(adapted)(0.7), expected, rtol=1e-5, err_msg=name)
        np.testing.assert_allclose(slope, expected, rtol=1e-5, err_msg=name)


def test_compiled_code_refuses_instances_that_hold_tracked_values(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import struct

        class Amount(float):
            pass

        def f(x):
            return struct.unpack("d", struct.pack("d", Amount(x)))[0] * x
        """,
    )
    with pytest.raises(TrackedValueError, match="gradient"):
        gw.grad(gw.adapting(package.f))(0.7)


def test_a_function_returns_a_number_of_a_subclass(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        class Metres(float):
            pass

        def length(x):
            return Metres(x**3)
        """,
    )
    length = gw.adapting(package.length)

    assert gw.grad(length)(2.0) == 12.0
    assert gw.value_and_grad(length)(2.0) == (8.0, 12.0)
    assert gw.jvp(length, (2.0,), (1.0,)) == (8.0, 12.0)
    assert gw.jacobian(length)(2.0) == 12.0
    assert gw.hessian(length)(2.0) == 12.0
    assert gw.grad(lambda x: length(x) + 2.0 * length(x))(2.0) == 36.0
    assert type(length(2.0)) is package.Metres
