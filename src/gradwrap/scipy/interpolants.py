"""Interpolants made of tracked data, or asked at tracked points."""

from __future__ import annotations

import inspect
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable, wrappers_in
from gradwrap.scipy.classes import meta_of
from gradwrap.scipy.results import is_float
from gradwrap.scipy.solving import as_array, attached, plain
from gradwrap.transforms.forward import jvp

if TYPE_CHECKING:
    from collections.abc import Callable

GAUSS = np.polynomial.legendre.leggauss(6)


def interpolant_class(  # noqa: C901  the parts of one class
    path: str, formula: Callable[..., Any], first: str = "x"
) -> Callable[[Any], Any]:
    """Make the subclass of an interpolant's class, whose values `formula` gives.

    `formula(made, given, x, **options)` returns the value at points, where `made` is SciPy's own
    object of the data, and `given` has the arguments of the constructor by name. `first` is what
    the points are called.
    """

    def make(native: Any) -> Any:  # noqa: C901  likewise
        signature = inspect.signature(native)
        called = inspect.signature(native.__call__)

        class Interpolant(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
            def __new__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG004  as called
                return object.__new__(cls)

            def __init__(self, *args: Any, **kwargs: Any) -> None:
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                given = dict(bound.arguments)
                made = native(*plain(args), **plain(kwargs))
                own: dict[str, Any] = self.__dict__
                own["_given"], own["_made"] = given, made
                if not holds_variable(given):
                    native.__init__(self, *args, **kwargs)

            @staticmethod
            def _take_over(made: Any, *args: Any, **kwargs: Any) -> None:
                """Let an object of SciPy's class, not initialized yet, be one of this class."""
                made.__class__ = Interpolant
                made.__init__(*args, **kwargs)

            def __getattr__(self, name: str) -> Any:
                """Hand on what SciPy's object has; floats refuse to be differentiated."""
                if name.startswith("__") or "_made" not in vars(self):
                    raise AttributeError(name)
                found = getattr(self._made, name)
                if is_float(found) and not name.startswith("_"):
                    return refusing(f"{path}.{name}", found, self._given)
                return found

            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                made = vars(self).get("_made")
                if made is None:  # made by a method of SciPy's
                    return native.__call__(self, *args, **kwargs)
                if not holds_variable([args, kwargs, self._given]):
                    return made(*args, **kwargs)
                value = made(*plain(args), **plain(kwargs))
                bound = called.bind(made, *args, **kwargs)
                bound.apply_defaults()
                options = dict(list(bound.arguments.items())[1:])
                return attached(path, value, {(): self._formula_of(**options)})

            def _formula_of(self, **options: Any) -> Any:
                nu = options.pop("nu", 0) or 0
                x = options.pop(first)
                x = x if holds_variable([x]) else np.asarray(x, dtype=float)
                x = as_array(x)
                return differentiated(
                    lambda at: formula(self._made, self._given, at, **options), x, nu
                )

            def _refuse(self, name: str) -> Any:
                if is_recorded([leaf for _, leaf in wrappers_in(self._given)]):
                    raise NoRuleError(
                        f"scipy.{path}: .{name}() of tracked data has no derivative. "
                        "Fix: call the interpolant, or its .derivative(), at points."
                    )

        def derivative(self: Any, nu: int = 1) -> Any:
            made = vars(self).get("_made", self)
            own = native.derivative(made, nu)
            return _Derivative(path, self, own, nu) if "_made" in vars(self) else own

        def integrate(self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
            made = vars(self).get("_made")
            if made is None or not holds_variable([a, b, self._given]):
                return native.integrate(made or self, a, b, extrapolate)
            value = native.integrate(made, plain(a), plain(b), extrapolate)
            knots = np.unique(made.t if hasattr(made, "t") else made.x)
            low, high = float(plain(a)), float(plain(b))
            inner = knots[(knots > min(low, high)) & (knots < max(low, high))]
            ends = [a, *(inner if low < high else inner[::-1]), b]
            total: Any = 0.0
            for one, other in itertools.pairwise(ends):
                half = (other - one) / 2
                points = as_array(one + half + half * GAUSS[0])
                total = total + half * np.tensordot(
                    GAUSS[1], self._formula_of(**{first: points}), 1
                )
            return attached(path, value, {(): total})

        for name, member in inspect.getmembers_static(native):
            if isinstance(member, property):
                setattr(Interpolant, name, _property(member, name))
        if hasattr(native, "derivative") and "nu" in called.parameters:
            Interpolant.derivative = derivative
        if hasattr(native, "integrate"):
            Interpolant.integrate = integrate
        for name in ("antiderivative", "roots", "solve", "integral", "derivatives", "insert_knot"):
            if hasattr(native, name) and name not in vars(Interpolant):
                setattr(Interpolant, name, _guarded(native, name))
        Interpolant.__name__ = Interpolant.__qualname__ = native.__name__
        Interpolant.__module__ = native.__module__
        Interpolant.__doc__ = native.__doc__
        return Interpolant

    return make


def _property(member: property, name: str) -> property:
    def get(self: Any) -> Any:
        is_plain = "_made" not in vars(self) or not holds_variable(self._given)
        return member.__get__(self) if is_plain else self.__getattr__(name)

    return property(get, member.fset)


def _guarded(native: Any, name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = vars(self).get("_made")
        if made is None:
            return getattr(native, name)(self, *args, **kwargs)
        self._refuse(name)
        return getattr(made, name)(*plain(args), **plain(kwargs))

    return method


class _Derivative:
    """The derivative of an interpolant of tracked data; all else is that of SciPy's object."""

    def __init__(self, path: str, interpolant: Any, made: Any, nu: int) -> None:
        self._path = path
        self._interpolant = interpolant
        self._made = made
        self._nu = nu

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Return the values at points."""
        more = {} if extrapolate is None else {"extrapolate": extrapolate}
        value = self._made(plain(x), nu, **more)
        formula = self._interpolant._formula_of(x=x, nu=self._nu + nu, **more)
        return attached(self._path, value, {(): formula})

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative."""
        made = self._made.derivative(nu)
        return _Derivative(self._path, self._interpolant, made, self._nu + nu)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._made, name)
        if is_float(found):
            return refusing(f"{self._path}.{name}", found, self._interpolant._given)
        return found


def refusing(name: str, value: Any, given: Any) -> Any:
    """A value that was made of tracked data, and that refuses to be differentiated."""
    leaves = [leaf for _, leaf in wrappers_in(given)]
    return attached(
        name, (value, *map(plain, leaves)), {(i + 1,): x for i, x in enumerate(leaves)}
    )[0]


def differentiated(function: Callable[[Any], Any], x: Any, nu: int) -> Any:
    """The derivative of order `nu` of a function of points, each value of which is of one point."""
    if nu == 0:
        return function(x)
    return jvp(lambda at: differentiated(function, at, nu - 1), (x,), (np.ones(x.shape, x.dtype),))[
        1
    ]
