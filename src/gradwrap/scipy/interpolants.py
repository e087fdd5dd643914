"""Interpolants of tracked data, or evaluated at tracked points."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import called as foreign
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable, with_plain_constants, wrappers_in
from gradwrap.scipy.classes import holds_tracked, meta_of
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.results import float_parts, is_float, with_parts
from gradwrap.scipy.solving import as_array, attached, is_tracer, plain
from gradwrap.transforms.forward import jvp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CLASS_METHODS = (classmethod, staticmethod)
GAUSS = np.polynomial.legendre.leggauss(6)


PARTS: dict[str, str] = {
    "PPoly": "c x extrapolate axis",
    "BPoly": "c x extrapolate axis",
    "BSpline": "t c k extrapolate axis",
    "RegularGridInterpolator": "grid values method bounds_error fill_value",
    "interp1d": "x y _kind axis copy bounds_error fill_value",
    "KroghInterpolator": "xi yi _y_axis",
    "BarycentricInterpolator": "xi yi _y_axis",
    "NearestNDInterpolator": "points values",
    "LinearNDInterpolator": "points values fill_value",
    "RBFInterpolator": "y d neighbors smoothing kernel epsilon powers",
    "Rbf": "xi di function epsilon smooth norm mode",
}
"""The classes of which an object's attributes are the arguments of its constructor, with these."""
OWN_OF_RBF = frozenset({"xi", "di", "N", "nodes", "_target_dim", "_function"})
"""The attributes of an `Rbf` that are not options; a function of the caller's reads the rest."""
AXES_IN_FRONT = {"PPoly": 2, "BPoly": 2, "BSpline": 1}
"""The number of axes of the coefficients that a constructor moves from `axis` to the front."""


def rebuilt(made: Any) -> Any:
    """Return an object of our class with the data of one that SciPy made."""
    base = next(kind.__name__ for kind in type(made).__mro__ if kind.__name__ in PARTS)
    parts = {name: getattr(made, name) for name in PARTS[base].split()}
    if parts.get("_kind") == "spline":  # "zero" to "cubic", or the degree itself
        parts["_kind"] = made._spline.k
    if "yi" in parts:
        yi = np.reshape(parts["yi"], (-1, *made._y_extra_shape))
        parts["yi"] = np.moveaxis(yi, 0, made._y_axis)
    if "values" in parts and "points" in parts:
        if made.scale is not None:
            raise NoRuleError(f"scipy.interpolate.{base} with rescale= has no derivative.")
        parts["values"] = np.reshape(parts["values"], (-1, *made.values_shape))
    if "powers" in parts:
        parts["d"] = np.reshape(parts["d"].view(made.d_dtype), (-1, *made.d_shape))
        parts["powers"] = int(np.max(np.sum(made.powers, axis=1), initial=-1))  # the degree
    if base == "Rbf":
        more = {name: value for name, value in vars(made).items() if name not in OWN_OF_RBF}
        return dispatcher("interpolate.Rbf")(*parts.pop("xi"), parts.pop("di"), **(more | parts))
    for _ in range(AXES_IN_FRONT.get(base, 0)):
        parts["c"] = np.moveaxis(parts["c"], 0, parts["axis"] + AXES_IN_FRONT[base] - 1)
    return dispatcher(f"interpolate.{base}")(*parts.values())


def of_univariate(made: Any, x: Any, nu: int = 0, ext: Any = None) -> Any:
    """Evaluate a spline that SciPy fitted (`UnivariateSpline`)."""
    modes = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
    ext = made.ext if ext is None else ext
    return dispatcher("interpolate.splev")(x, made._eval_args, nu, modes.get(ext, ext))


def integral_of(made: Any, a: Any, b: Any) -> Any:
    """Integrate such a spline."""
    return dispatcher("interpolate.splint")(a, b, made._eval_args)


def of_bivariate(  # noqa: PLR0913  SciPy's parameters
    made: Any, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True
) -> Any:
    """Evaluate a spline of two variables that SciPy fitted (`RectBivariateSpline`).

    Outside of its rectangle it has the values at the edge.
    """
    value = made(plain(x), plain(y), dx, dy, grid)
    sides: list[Any] = []
    for at, t, k, nu in zip((x, y), made.tck[:2], made.degrees, (dx, dy), strict=True):
        inside = np.clip(as_array(at) * 1.0, t[k], t[-k - 1])
        basis = dispatcher("interpolate.BSpline")(t, np.eye(len(t) - k - 1), k)
        sides.append(basis(inside, nu))
    rows, columns = sides
    rows = rows @ np.reshape(made.tck[2], (rows.shape[-1], columns.shape[-1]))
    found = rows @ columns.mT if grid else np.sum(rows * columns, axis=-1)
    return attached("interpolate.BivariateSpline", value, {(): found})


def between(made: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    """Integrate a piecewise polynomial that SciPy made."""
    if "periodic" in (extrapolate, made.extrapolate):
        raise NoRuleError(
            "the integral of a periodic spline has no derivative with respect to its limits. Fix: "
            "the difference of its .antiderivative() at both."
        )
    value = made.integrate(plain(a), plain(b), extrapolate)
    whole = made.antiderivative()
    return attached("interpolate.integrate", value, {(): whole(b) - whole(a)})


def coordinates(xi: Any) -> Any:
    """Return points in rows, as SciPy reads them: a tuple has an array of each coordinate."""
    if isinstance(xi, TUPLE) and len(xi) == 1:
        xi = xi[0]
    if isinstance(xi, TUPLE):
        return np.stack(np.broadcast_arrays(*map(as_array, xi)), axis=-1)
    return as_array(xi)


def built(native: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Build an object of SciPy's class on plain data; in a trace, only its structure is shown."""
    leaves, tree = flatten((args, kwargs))
    data: list[Any] = [plain(leaf) for leaf in leaves]
    tracers = list(filter(is_tracer, data))
    concrete = [backend_of(one).concrete(one) if is_tracer(one) else one for one in data]
    args, kwargs = unflatten(tree, concrete)
    made = native(*args, **kwargs)
    return Structure(made, tracers[0]) if tracers else made


class Structure:
    """The attributes of SciPy's object that are the same for all data of the same shapes.

    Numbers that SciPy computes from the data of a trace are no part of a program.
    """

    def __init__(self, made: Any, tracer: Any) -> None:
        self._of, self._tracer = made, tracer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return found if _is_structure(found) else np.asarray(self._tracer)  # which is refused

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse: the values are no part of a program."""
        return np.asarray(self._tracer)


def _is_structure(value: Any) -> bool:
    if isinstance(value, TUPLE):
        return all(map(_is_structure, value))
    return value is None or type(value) in (str, bool, int)


@functools.lru_cache(maxsize=256)
def evaluation(native: Any, tree: Any) -> Callable[..., Any]:
    """Return a function that builds an object of SciPy's class and calls it, of all leaves."""

    def evaluate(*leaves: Any) -> Any:
        (args, kwargs), (points, options) = unflatten(tree, list(leaves))
        return native(*args, **kwargs)(*points, **options)

    return evaluate


def interpolant_class(  # noqa: C901, PLR0913  the parts of one class
    path: str,
    formula: Callable[..., Any],
    first: str = "x",
    as_points: Callable[[Any], Any] = as_array,
    makers: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    as_given: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Callable[[Any], Any]:
    """Make the subclass of an interpolant's class that evaluates `formula`.

    `formula(made, given, x, **options)` returns the value at points, where `made` is SciPy's own
    object of the data, and `given` has the arguments of the constructor by name. `first` is the
    name of the parameter for the points, and `as_points` makes an array of its argument. `makers`
    are the class methods that make an object, by name: each returns the constructor's arguments.
    `as_given` gives these arguments the names of the attributes that show them.
    """

    def make(native: Any) -> Any:  # noqa: C901  likewise
        signature = inspect.signature(native)
        called = inspect.signature(native.__call__)

        class Interpolant(native, metaclass=meta_of(native)):  # type: ignore[metaclass,misc]  # a class of SciPy's
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                args, kwargs = with_plain_constants(args, kwargs)
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                given = as_given(dict(bound.arguments))
                own: dict[str, Any] = self.__dict__
                own["_given"], own["_made"] = given, built(native, args, kwargs)
                own["_arguments"] = args, kwargs
                if not holds_variable(given):
                    native.__init__(self, *args, **kwargs)

            @staticmethod
            def _take_over(made: Any, *args: Any, **kwargs: Any) -> None:
                """Convert an uninitialized object of SciPy's class to this class."""
                made.__class__ = Interpolant
                made.__init__(*args, **kwargs)

            def __getattr__(self, name: str) -> Any:
                """Return an attribute of SciPy's object; only arguments have a derivative."""
                if name.startswith("__") or "_made" not in vars(self):
                    raise AttributeError(name)
                found = getattr(self._made, name)
                return found if name.startswith("_") else self._shown(name, found)

            def _shown(self, name: str, found: Any) -> Any:
                """Return what SciPy's object shows: arguments, and other numbers refuse."""
                rest, shown = dict(self._given), {}
                for at, part in float_parts(found):
                    same = [key for key in rest if at or key == name]
                    same = [key for key in same if _is_data_of(rest[key], part)]
                    shown[at] = (
                        as_array(rest.pop(same[0]))
                        if same
                        else refusing(f"{path}.{name}", part, self._given)
                    )
                return with_parts(found, shown)

            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                made = self._prepared([args, kwargs])
                if "_made" not in vars(self) and made is not self:
                    return made(*args, **kwargs)
                if not holds_variable([args, kwargs, self._given]):
                    return native.__call__(made, *args, **kwargs)
                value = self._value(made, args, kwargs)
                bound = called.bind(made, *args, **kwargs)
                bound.apply_defaults()
                options = dict(list(bound.arguments.items())[1:])
                found = self._formula_of(options.pop(first), **options)
                return attached(path, value, {(): found}, values_at_data(made, self._given))

            def _value(self, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
                """Evaluate SciPy's object; a trace records its construction and its call as one."""
                if not is_traced():
                    return made(*plain(args), **plain(kwargs))
                leaves, tree = flatten((self._arguments, (args, kwargs)))
                leaves = [as_array(x) if hasattr(x, "__array__") else x for x in leaves]
                return foreign(evaluation(native, tree), "opaque.interpolant", *map(plain, leaves))

            def _prepared(self, given: Any) -> Any:
                """Return SciPy's object, rebuilt from its data if a method of SciPy made it."""
                own: Any = vars(self)
                if "_made" in own or not holds_variable(given):
                    return own.get("_made", self)
                return rebuilt(self)

            _given: Any = ()

            def _formula_of(self, x: Any, **options: Any) -> Any:
                nu = options.pop("nu", 0)
                if np.ndim(nu):
                    raise NoRuleError(
                        f"scipy.{path} has no derivative with nu= for several axes. "
                        "Fix: gradwrap.jacobian of its value."
                    )
                nu = operator.index(nu or 0)
                x = as_points(x)
                if not holds_variable([x]):
                    x = np.asarray(x, np.result_type(x, float))
                return differentiated(
                    lambda at: formula(self._made, self._given, at, **options), x, nu
                )

        def of_order(step: int) -> Any:
            name = "derivative" if step > 0 else "antiderivative"

            def changed(self: Any, nu: Any = None, n: int = 1) -> Any:
                order = n if nu is None else nu
                made = vars(self).get("_made", self)
                own = getattr(native, name)(made, order)
                if "_made" not in vars(self) or not (first == "x" and "nu" in called.parameters):
                    return own
                is_plain = not holds_variable(self._given)
                if is_plain and hasattr(type(own), "construct_fast"):
                    own.__class__ = dispatcher(f"interpolate.{type(own).__name__}")
                    return own
                return OfOrder(path, self, own, step * order)

            return changed

        def method(name: str) -> Any:
            def call(self: Any, *args: Any, **kwargs: Any) -> Any:
                made = self._prepared([args, kwargs])
                if "_made" not in vars(self) and made is not self:
                    return getattr(made, name)(*args, **kwargs)
                if not holds_variable([args, kwargs, self._given]):
                    return getattr(native, name)(made, *args, **kwargs)
                return getattr(OfOrder(path, self, made, 0), name)(*args, **kwargs)

            return functools.wraps(getattr(native, name))(call)

        def maker(name: str, native_maker: Any) -> Any:
            def make(*args: Any, **kwargs: Any) -> Any:
                holds = holds_tracked([args, kwargs])  # in objects
                if not (holds or holds_variable([args, kwargs])):
                    return native_maker(*args, **kwargs)
                if name not in makers and not (holds or is_recorded([args, kwargs])):
                    return native_maker(*plain(args), **plain(kwargs))
                if name not in makers:
                    raise NoRuleError(
                        f"scipy.{path}.{name} has no derivative. Fix: .detach() the arguments, or "
                        f"make the object by {path.split('.')[1]}(...)."
                    )
                return Interpolant(*makers[name](*args, **kwargs))

            return staticmethod(functools.wraps(native_maker)(make))

        def other(name: str, member: Any) -> Any:
            def call(self: Any, *args: Any, **kwargs: Any) -> Any:
                found = member(self, *args, **kwargs)
                is_plain = "_made" not in vars(self) or not holds_variable(self._given)
                return found if is_plain else self._shown(name, found)

            return functools.wraps(member)(call)

        for name, member in inspect.getmembers_static(native):
            if inspect.isfunction(member) and not name.startswith("_"):
                setattr(Interpolant, name, other(name, member))
            elif isinstance(member, property):
                setattr(Interpolant, name, _property(member, name))
            elif isinstance(member, CLASS_METHODS) and not name.startswith("_"):
                setattr(Interpolant, name, maker(name, getattr(Interpolant, name)))
        for name, step in (("derivative", 1), ("antiderivative", -1)):
            if hasattr(native, name) and "nu" in called.parameters:
                setattr(Interpolant, name, of_order(step))
        for name in (
            "integrate",
            "integral",
            "roots",
            "solve",
            "derivatives",
            "insert_knot",
            "poles",
            "residues",
        ):
            if hasattr(native, name):
                setattr(Interpolant, name, method(name))
        Interpolant.__name__ = Interpolant.__qualname__ = native.__name__
        Interpolant.__module__ = native.__module__
        Interpolant.__doc__ = native.__doc__
        return Interpolant

    return make


def _is_data_of(argument: Any, found: Any) -> bool:
    """Tell if a number or array that SciPy's object shows is an argument of its constructor."""
    if is_traced() or not is_float(plain(argument)):
        return False
    return np.array_equal(plain(argument), found, equal_nan=True)


def _property(member: property, name: str) -> property:
    def get(self: Any) -> Any:
        is_plain = "_made" not in vars(self) or not holds_variable(self._given)
        return member.__get__(self) if is_plain else self.__getattr__(name)

    return property(get, member.fset)


def values_at_data(made: Any, given: Mapping[str, Any]) -> Callable[[], Any]:
    """Return what evaluates an interpolant at its data, beside which a value at a root is small."""

    def evaluate() -> Any:
        names = [name for name in ("x", "xi", "t") if name in given]
        if not names or "z" in given:  # of several axes
            return ()
        return (np.asarray(made(plain(given[names[0]]))),)

    return evaluate


class OfOrder:
    """A derivative of an interpolant, or for a negative order its integral from the first knot.

    Other attributes come from SciPy's object; differentiating them is an error.
    """

    def __init__(self, path: str, interpolant: Any, made: Any, order: int) -> None:
        self._path = path
        self._interpolant = interpolant
        self._made = made
        self._order = order

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Return the values at points."""
        more = {} if extrapolate is None else {"extrapolate": extrapolate}
        value = self._made(plain(x), nu, **more)
        found = {(): self._at(x, self._order + nu, **more)}
        typical = values_at_data(self._made, self._interpolant._given)
        return attached(self._path, value, found, typical)

    def _at(self, x: Any, order: int, **more: Any) -> Any:
        if order >= 0:
            return self._interpolant._formula_of(x, nu=order, **more)
        return self._integral(as_array(x) * 1.0, -order, **more)

    def _integral(self, x: Any, order: int, **more: Any) -> Any:
        """Return the repeated integral, by Cauchy's formula and quadrature between the knots."""
        knots = self._knots()
        periodic = "periodic" in (more.get("extrapolate"), getattr(self._made, "extrapolate", None))
        data = np.asarray(plain(x))
        if periodic and np.any((data < plain(knots[0])) | (data > plain(knots[-1]))):
            self._refuse("an integral beyond the period")
        points = x[..., None]
        inner = knots[1:-1]
        low = np.concatenate([knots[0] * np.ones(points.shape), np.minimum(inner, points)], -1)
        high = np.concatenate([np.minimum(inner, points), points], -1)
        half = (high - low)[..., None] / 2
        at = low[..., None] + half + half * GAUSS[0]
        weights = GAUSS[1] * half * (points[..., None] - at) ** (order - 1)
        values = self._interpolant._formula_of(at, **more)
        axis = getattr(self._made, "axis", 0) % (values.ndim - at.ndim + 1)
        moved = np.moveaxis(values, range(axis, axis + at.ndim), range(at.ndim))
        weighted = moved * np.reshape(weights, (*at.shape, *(1,) * (moved.ndim - at.ndim)))
        total = np.sum(weighted, axis=(at.ndim - 2, at.ndim - 1)) / math.factorial(order - 1)
        return np.moveaxis(total, range(x.ndim), range(axis, axis + x.ndim))

    def _knots(self) -> Any:
        """Return the ends of the polynomial pieces, the first of them tracked."""
        made, given = self._interpolant._made, self._interpolant._given
        if hasattr(made, "t"):
            if made.t[0] != made.t[made.k]:
                self._refuse("an integral with simple knots at the end")
            return np.concatenate([as_array(given["t"])[:1], np.unique(made.t)[1:]])
        x = as_array(given["x"]) * 1.0
        if hasattr(made, "_eval_args"):
            return np.concatenate([x[:1], made.get_knots()[1:]])
        return x

    def _refuse(self, name: str) -> None:
        raise NoRuleError(
            f"scipy.{self._path}: {name} of tracked data has no derivative. "
            "Fix: call the interpolant, or its .derivative(), at points."
        )

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative."""
        made = self._made.derivative(nu)
        return OfOrder(self._path, self._interpolant, made, self._order + nu)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the integral from the first knot."""
        if self._order > 0:
            self._refuse("an integral of a derivative")
        made = self._made.antiderivative(nu)
        return OfOrder(self._path, self._interpolant, made, self._order - nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral between two points."""
        more = {} if extrapolate is None else {"extrapolate": extrapolate}
        value = self._made.integrate(plain(a), plain(b), **more)
        ends = [self._at(end, self._order - 1, **more) for end in (a, b)]
        return attached(self._path, value, {(): ends[1] - ends[0]})

    def integral(self, a: Any, b: Any) -> Any:
        """Return the integral between two points; the interpolant is zero outside its range."""
        value = self._made.integral(plain(a), plain(b))
        knots = self._knots()
        ends = [
            self._at(np.clip(as_array(end), knots[0], knots[-1]), self._order - 1) for end in (a, b)
        ]
        return attached(self._path, value, {(): ends[1] - ends[0]})

    def roots(self, *args: Any, **kwargs: Any) -> Any:
        """Return the roots."""
        return self._solution(0.0, self._made.roots(*args, **kwargs))

    def solve(self, y: Any = 0.0, *args: Any, **kwargs: Any) -> Any:
        """Return the points where the interpolant has a given value."""
        return self._solution(y, self._made.solve(plain(y), *args, **kwargs))

    def _solution(self, y: Any, found: Any) -> Any:
        """Return SciPy's solutions after Newton steps; each step adds one order of derivative."""
        if not isinstance(found, np.ndarray) or found.dtype == object:
            self._refuse("what is found for several functions")
        x: Any = np.nan_to_num(found)
        for _ in range(3):
            x = x - (self._at(x, self._order) - y) / self._at(x, self._order + 1)
        return attached(self._path, found, {(): x})

    def derivatives(self, x: Any) -> Any:
        """Return all derivatives at one point."""
        value = self._made.derivatives(plain(x))
        if np.ndim(plain(x)) or type(self._made).__name__ == "KroghInterpolator":
            self._refuse(".derivatives()")
        orders = [self._at(x, self._order + nu) for nu in range(len(value))]
        return attached(self._path, value, {(): np.stack(orders)})

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._made, name)
        if is_float(found):
            return refusing(f"{self._path}.{name}", found, self._interpolant._given)
        if callable(found) and not name.startswith("__"):
            self._refuse(f".{name}()")
        return found


def refusing(name: str, value: Any, given: Any) -> Any:
    """Return a value computed from tracked data; differentiating it raises an error."""
    leaves = [leaf for _, leaf in wrappers_in(given)]
    return attached(
        name, (value, *map(plain, leaves)), {(i + 1,): x for i, x in enumerate(leaves)}
    )[0]


def differentiated(function: Callable[[Any], Any], x: Any, nu: int) -> Any:
    """Return the derivative of order `nu` of a function that acts on each point by itself."""
    if nu == 0:
        return function(x)
    return jvp(lambda at: differentiated(function, at, nu - 1), (x,), (np.ones(x.shape, x.dtype),))[
        1
    ]
