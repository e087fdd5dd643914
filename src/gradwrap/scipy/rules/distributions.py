"""The distributions of scipy.stats: one rule for all, based on the methods of their classes.

A public method such as `pdf` standardises its argument, and calls the class's own `_pdf`, which is
written in NumPy and special functions. The formula here does the same with tracked arguments. If a
class has no differentiable method of this name, the result is derived from another method:

- a density from its logarithm, and the other way round;
- a distribution function from 1 minus the other, or as an integral of the density;
- a quantile from the distribution function and the density, by two Newton steps from SciPy's value,
  which give the derivatives of the root up to the third.

The values are SciPy's.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
from contextlib import nullcontext
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import called
from gradwrap.core.levels.wrapper import AnyWrapper, is_derived, is_recorded, native
from gradwrap.core.library.labelled import opening
from gradwrap.core.values.dynamic import attributes_of, type_of
from gradwrap.core.values.tree import flatten, is_lone, map_leaves
from gradwrap.errors import BatchedValueError, GradwrapError, NoRuleError
from gradwrap.random.sampling import per_example
from gradwrap.rules.special.incomplete import half_line
from gradwrap.scipy.array_api import array_api_paths
from gradwrap.scipy.calls import are_plain
from gradwrap.scipy.kinds import Formula
from gradwrap.scipy.rules.distribution_bodies import BODIES, unit_rule
from gradwrap.scipy.solving import data_of
from gradwrap.scipy.table import Kind, Row
from gradwrap.transforms.arguments import stop_gradient

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from gradwrap.scipy.calls import SciPyCall

stats: Any = import_module("scipy.stats")
CONTINUOUS: Any = stats.rv_continuous
DISCRETE: Any = stats.rv_discrete
GENERIC: Any = (CONTINUOUS, DISCRETE)
FUNCTIONS = ("logcdf", "cdf", "logsf", "sf", "ppf", "isf")
DENSITIES = {"pdf", "logpdf", "pmf", "logpmf"}
SIDES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("cdf", "sf"), ("cdf", "sf")),
    **dict.fromkeys(("ppf", "isf"), ("ppf", "isf")),
    **{name: (name,) for name in ("pdf", "pmf", "entropy", "stats", "munp")},
}
MOMENTS = ("mean", "var", "std", "entropy", "median", "stats", "moment", "interval", "support")
FIT = "fit"
EXPECT = "expect"
WITHOUT = (EXPECT, "fit_loc_scale", "nnlf")
DRAWING = "rvs"
UNHELD = (*WITHOUT[1:], FIT, DRAWING)
"""Methods that take no distribution which holds tracked values."""
CAUSES = (GradwrapError, TypeError, ValueError, AttributeError, NotImplementedError)
"""The errors of a method's body that does not take variables."""


class Distribution(Kind):
    """A distribution of SciPy whose methods take tracked arguments."""

    name = "distribution"
    tracks_all = True

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Freeze the distribution."""
        return self.stand_in(row)(*args, **kwargs)

    def derived(self, row: Row) -> Any:
        """Return the subclass of the class of SciPy's object."""
        kind: Any = type(row.original)
        return differentiable(kind)

    def stand_in(self, row: Row) -> Any:
        """Return an object of the subclass, with the same attributes."""
        made: Any = object.__new__(self.derived(row))
        made.__dict__.update(row.original.__dict__)
        made._path = row.path
        return made

    def install(self, row: Row) -> Callable[[], None]:
        """Change the class of SciPy's own object to the derived class."""
        original = row.original
        kind: Any = type(original)
        original.__class__ = self.derived(row)
        original._path = row.path

        def undo() -> None:
            original.__class__ = kind
            del original._path
            original.__dict__.pop("_rows", None)

        return undo


class DistributionClass(Kind):
    """A base class of distributions whose methods take tracked arguments."""

    name = "class of distributions"
    tracks_all = True

    def stand_in(self, row: Row) -> Any:
        """Return the derived class."""
        return differentiable(row.original)


# The classes --------------------------------------------------------------------------------------


@functools.cache
def differentiable(kind: Hashable) -> Any:
    """Derive a class of distributions whose methods take tracked arguments."""
    base: Any = kind
    names = [
        name
        for name in (*sorted(DENSITIES), *FUNCTIONS, *MOMENTS, *WITHOUT, DRAWING, FIT)
        if hasattr(base, name)
    ]
    methods = {name: _method(base, name) for name in names}
    more = {"_path": "", "_native": base, "__reduce__": _reduced, "__module__": base.__module__}
    return type(base.__name__, (base,), {**methods, **more, "__doc__": base.__doc__})


_derived: Callable[[Any], Any] = differentiable


def _method(base: Any, name: str) -> Callable[..., Any]:
    original = getattr(base, name)

    @opening
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = held_in(self)
        if not held and are_plain(args, kwargs):
            return original(self, *args, **kwargs)
        if held and name in UNHELD:
            raise NoRuleError(
                f"{_named(self, name)} of a distribution that holds tracked values has no "
                "derivative. Fix: make the distribution of .detach() of them, if the result is to "
                "be a constant."
            )
        if name == EXPECT and isinstance(self, CONTINUOUS):
            return _expected(self, *args, **kwargs)
        if name == DRAWING:
            return _samples(self, args, kwargs)
        if name == FIT:
            from gradwrap.scipy.rules.likelihood import fitted  # it needs scipy.optimize

            return fitted(self, _named(self, name), original, args, kwargs)
        if name in WITHOUT:
            raise NoRuleError(
                f"{_named(self, name)} has no derivative. "
                "Fix: .detach() its arguments, if the result is to be a constant."
            )
        if name in MOMENTS:
            return _moment_call(self, name, args, kwargs)
        return _answered(self, name, args, kwargs)

    return method


def _reduced(self: Any) -> Any:
    """Pickle the distribution by its public path, or as SciPy does."""
    if self._path:
        from gradwrap.scipy.doors import dispatcher

        return dispatcher, (self._path,)
    return _made_anew, (self._native, self._updated_ctor_param())


def _made_anew(native: Any, options: dict[str, Any]) -> Any:
    return differentiable(native)(**options)


def _named(dist: Any, name: str) -> str:
    return f"scipy.stats.{dist.name}.{name}"


# One call -----------------------------------------------------------------------------------------


def _answered(dist: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Perform a call with tracked arguments `x, shapes, loc, scale`."""
    kwargs = dict(kwargs)
    if args:
        x, args = args[0], args[1:]
    else:
        x = kwargs.pop(next(k for k in ("x", "k", "q") if k in kwargs))
    shapes, loc, scale = dist._parse_args(*args, **kwargs)
    _refuse_integers(dist, name, shapes)
    is_discrete = isinstance(dist, DISCRETE)
    if is_discrete and name in DENSITIES and (is_recorded(x) or is_recorded(loc)):
        argument = "k" if is_recorded(x) else "loc"
        raise NoRuleError(
            f"{_named(dist, name)} has no derivative with respect to its argument {argument}, "
            "which is tracked: it is positive at integers only. Fix: .detach() it."
        )
    row = _row(dist, name, "x shapes loc scale", _discrete if is_discrete else _continuous)
    return row.kind.answer(row, (x, tuple(shapes), loc, scale, *_parts_of(dist)), {})


def _refuse_integers(dist: Any, name: str, shapes: Sequence[Any]) -> None:
    """Raise an error for a tracked shape that has to be an integer."""
    known = dist._shape_info() if hasattr(dist, "_shape_info") else ()
    for place, (value, info) in enumerate(zip(shapes, known, strict=False)):
        if not info.integrality or not is_recorded(value):
            continue
        fixed = [data_of(shape) for shape in shapes]
        between = [shape + (0.25 if i == place else 0) for i, shape in enumerate(fixed)]
        if not np.any(_asked_of(_plain(_one_of(dist)), "_argcheck", *between)):
            raise NoRuleError(
                f"{_named(dist, name)} has no derivative with respect to its argument "
                f"{info.name}, which is tracked: it is an integer. Fix: .detach() it."
            )


def _row(dist: Any, name: str, arrays: str, function: Any, *first: Any) -> Row:
    """Return the row of a method of one distribution, whose first arguments may be fixed."""
    held = held_in(dist)
    rows: dict[Any, Row] = {} if held else dist.__dict__.setdefault("_rows", {})
    if (name, *first) not in rows:
        one = dist if name == DRAWING else _one_of(dist)
        if one is not dist:
            rows[name, *first] = _row(one, name, arrays, function, *first)
            return rows[name, *first]
        method: Any = _sample if name == DRAWING else getattr(dist._native, FULL.get(name, name))
        is_discrete = isinstance(dist, DISCRETE)
        more = {"moments": name[0]} if name in FULL else {}

        def point(x: Any, shapes: Any = (), loc: Any = 0, scale: Any = 1, parts: Any = ()) -> Any:
            return call((x, *shapes), loc, scale, parts)

        def moment(shapes: Any = (), loc: Any = 0, scale: Any = 1, parts: Any = ()) -> Any:
            return call((*first, *shapes), loc, scale, parts)

        def call(args: Any, loc: Any, scale: Any, parts: Any) -> Any:
            one = _holding(dist, held, parts) if held else dist
            native = method if name == DRAWING else MethodType(method, one)
            options = {"loc": loc} if is_discrete else {"loc": loc, "scale": scale}
            return called(native, _named(dist, FULL.get(name, name)), *args, **options, **more)

        original = point if arrays.startswith("x") else moment

        def formula(*given: Any, parts: Any = (), **named: Any) -> Any:
            one = _holding(dist, held, parts) if held else dist
            return function(one, name, *first, *given, **named)

        kind = (_Method if arrays.startswith("x") else _Moment)(formula, has_parts=bool(held))
        path = _named(dist, name).removeprefix("scipy.")
        arrays, groups = (f"{arrays} parts", "shapes parts") if held else (arrays, "shapes")
        rows[name, *first] = Row(path, kind, arrays=arrays, groups=groups, original=original)
    return rows[name, *first]


_known: dict[Any, Any] = {}


def _one_of(dist: Any) -> Any:
    """Return one object for all copies of a distribution of SciPy's: each frozen one makes its own.

    So two runs of a function that freezes a distribution make the same calls.
    """
    if not dist._native.__module__.startswith("scipy.stats."):
        return dist
    options: dict[str, Any] = dist._updated_ctor_param()
    try:
        one = _known.setdefault((type(dist), *options.items()), dist)
    except TypeError:  # it is made of arrays
        return dist
    return one if type(one) is type(dist) else dist  # it may be SciPy's own object again


class _Method(Formula):
    """The formula of a method."""

    rtol = 1e-6

    def __init__(self, function: Callable[..., Any], *, has_parts: bool = False) -> None:
        self.function = function
        more = ("parts",) if has_parts else ()
        self.wanted = frozenset(("x", "shapes", "loc", "scale", "out", *more))

    def evaluate(self, call: SciPyCall, leaves: Sequence[Any], outs: Sequence[Any]) -> Any:
        """Call the formula, and compare its value with SciPy's."""
        made = super().evaluate(call, leaves, outs)
        found, wanted = native(made), native(outs[0])
        dtypes = [leaf.dtype for leaf in call.leaves if leaf.dtype.kind in "fc"]
        rtol = max(self.rtol, *(64 * float(np.finfo(dtype).eps) for dtype in dtypes))
        close = np.isclose(found, wanted, rtol=rtol, atol=1e-3 * rtol, equal_nan=True)
        if not np.all(close | ~np.isfinite(wanted)):
            raise NoRuleError(
                f"{call.name}: the formula for its derivative is not exact at these arguments "
                f"({np.asarray(found)[~close][:1]} instead of {np.asarray(wanted)[~close][:1]}). "
                "Fix: .detach() them, or give the function a rule of your own with "
                "gradwrap.primitive and gradwrap.defvjp."
            )
        return made


# What a distribution of a package holds -----------------------------------------------------------

OURS = ("_rows", "_plain")
"""Attributes that distributions get here."""
DEPTH = 3
"""So deep are objects in its attributes searched for tracked values."""


def held_in(value: Any, depth: int = DEPTH) -> list[Any]:
    """Return the tracked values in the attributes of an object, and of the objects in these."""
    found: dict[int, Any] = {}
    attributes = attributes_of(value)
    if isinstance(value, GENERIC):
        if type_of(value).__module__.startswith("scipy."):
            return []
        attributes = {name: one for name, one in attributes.items() if name not in OURS}
    for one in attributes.values():
        for leaf in [one] if is_lone(one) else flatten(one)[0]:
            if isinstance(leaf, AnyWrapper):
                found |= {id(leaf): leaf} if is_recorded(leaf) else {}
            elif depth and _may_hold(leaf, value):
                found |= {id(inner): inner for inner in held_in(leaf, depth - 1)}
    return list(found.values())


def _may_hold(leaf: Any, holder: Any) -> bool:
    """Tell if an attribute is an object with attributes, but no module, class or function."""
    kind = type_of(leaf)
    return (
        leaf is not holder
        and kind.__module__ not in ("builtins", "numpy", "numpy.random.mtrand", "functools")
        and bool(attributes_of(leaf))
    )


def _parts_of(dist: Any) -> tuple[Any, ...]:
    """Return the last argument of the row for a distribution that holds tracked values."""
    held = held_in(dist)
    return (tuple(held),) if held else ()


def _holding(dist: Any, held: Sequence[Any], parts: Sequence[Any]) -> Any:
    """Return a copy of a distribution that holds other values, and knows one of plain values."""
    made = _exchanged(dist, {id(a): b for a, b in zip(held, parts, strict=True)})
    if is_derived(parts):
        plain = {id(a): np.asarray(native(b))[()] for a, b in zip(held, parts, strict=True)}
        made._plain = _exchanged(dist, plain)
    return made


def _exchanged(value: Any, new: dict[int, Any], depth: int = DEPTH) -> Any:
    """Return a copy of an object with other values in place of some in its attributes."""

    def exchange(leaf: Any) -> Any:
        if id(leaf) in new:
            return new[id(leaf)]
        is_holder = depth and not isinstance(leaf, AnyWrapper) and _may_hold(leaf, value)
        return _exchanged(leaf, new, depth - 1) if is_holder and held_in(leaf, depth - 1) else leaf

    made = _lasting(value) if isinstance(value, GENERIC) else copy.copy(value)
    state = value.__getstate__() if isinstance(value, GENERIC) else attributes_of(value)
    state = {
        name: exchange(one) if is_lone(one) else map_leaves(exchange, one)
        for name, one in state.items()
    }
    if isinstance(value, GENERIC):
        made.__setstate__(state)  # whose methods refer to it
    else:
        attributes_of(made).update(state)
    return made


def _lasting(dist: Any) -> Any:
    """Return an empty distribution of the same class, which may be ours for a while only."""
    kind = type_of(dist)
    made: Any = kind if "_native" in vars(kind) else _derived(kind)
    return object.__new__(made)


def _plain(dist: Any) -> Any:
    """Return a distribution with plain values in place of the tracked ones that it holds."""
    return attributes_of(dist).get("_plain", dist)


def _expected(
    dist: Any,
    func: Any = None,
    args: Any = (),
    loc: Any = 0,
    scale: Any = 1,
    lb: Any = None,
    ub: Any = None,
    conditional: bool = False,
    **options: Any,
) -> Any:
    """Integrate a function of the value times the density, in three pieces as SciPy does."""
    from gradwrap.scipy.doors import dispatcher  # it needs this module

    quad = dispatcher("integrate.quad")
    dist = _exchanged(dist, {})
    ends = dist._get_support(*args)
    low = _moved(ends[0], loc, scale) if lb is None else lb
    high = _moved(ends[1], loc, scale) if ub is None else ub

    def weighed(x: Any) -> Any:
        return (x if func is None else func(x)) * dist.pdf(x, *args, loc=loc, scale=scale)

    below, above = (dist.cdf(end, *args, loc=loc, scale=scale) for end in (low, high))
    inner = below + (above - below) * np.array([0.05, 0.95])
    cuts = stop_gradient(dist.ppf(stop_gradient(inner), *args, loc=loc, scale=scale))
    middle = [np.asarray(native(one))[()] for one in (cuts[0], cuts[1])]
    whole: Any = sum(
        quad(weighed, *pair, **options)[0] for pair in itertools.pairwise((low, *middle, high))
    )
    return whole / (above - below) if conditional else whole


# Continuous distributions -------------------------------------------------------------------------


def _continuous(
    dist: Any, name: str, x: Any, shapes: Sequence[Any], loc: Any, scale: Any, out: Any
) -> Any:
    """Evaluate a method of a continuous distribution by the methods of its class."""
    shape = np.broadcast_shapes(*map(np.shape, (x, *shapes))) or (1,)
    x, *shapes = (_spread(value, shape) for value in (x, *shapes))
    loc, scale = (np.reshape(value, np.shape(value) or (1,)) for value in (loc, scale))
    lower, upper, valid = _support(dist, shapes)
    if name == DRAWING:
        place = stop_gradient((x - loc) / scale)
        return np.reshape(_path(dist, place, shapes) * scale + loc, np.shape(out))
    if name in ("ppf", "isf"):
        inside = valid & (stop_gradient(x) > 0) & (stop_gradient(x) < 1)
        x = np.where(inside, x, 0.5)
        found = quantile(dist, name, x, shapes, (out - loc) / scale) * scale + loc
        edge = (out - stop_gradient(loc)) / stop_gradient(scale)
        at_edge = np.where(np.isfinite(out), edge * scale + loc, out)
        return np.reshape(np.where(inside, found, at_edge), np.shape(out))
    y = (x - loc) / scale
    place = stop_gradient(y)
    if name in DENSITIES:
        inside = valid & (place >= lower) & (place <= upper)
    else:
        inside = valid & (place > lower) & (place < upper)
    everywhere = bool(np.all(inside))
    if not everywhere:
        y = np.where(inside, y, _interior(lower, upper))
    if name == "pdf":
        found = density(dist, y, shapes) / scale
    elif name == "logpdf":
        found = log_density(dist, y, shapes) - np.log(scale)
    else:
        found = distribution_function(dist, name, y, shapes, out, inside)
    found = found if everywhere else np.where(inside, found, out)
    return found if np.shape(found) == np.shape(out) else np.reshape(found, np.shape(out))


def _spread(value: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast an argument to a shape, as SciPy does for the methods of a class."""
    return value if np.shape(value) == shape else np.broadcast_to(value, shape)


def _support(dist: Any, shapes: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return the bounds of the support and a mask of valid shapes, as data."""
    if all(getattr(type(dist), name) is getattr(CONTINUOUS, name) for name in CHECKS):
        valid: Any = True  # what SciPy's methods say, for variables of a trace, too
        for shape in shapes:
            valid = valid & (stop_gradient(shape) > 0)
        plain = _plain(dist)
        return plain.a, plain.b, valid
    fixed = [data_of(stop_gradient(shape)) for shape in shapes]
    lower, upper = _asked_of(_plain(dist), "_get_support", *fixed)
    return lower, upper, _asked_of(_plain(dist), "_argcheck", *fixed)


def _asked_of(dist: Any, name: str, *data: Any) -> Any:
    """Return what a method of SciPy's says of data; a trace records it as one operation."""
    native = getattr(dist, "_native", type(dist))
    return called(MethodType(getattr(native, name), dist), f"opaque.{name}", *data)


CHECKS = ("_get_support", "_argcheck")
"""SciPy's methods for the support and the shapes, which some distributions replace."""


def _interior(lower: Any, upper: Any) -> Any:
    """Return a point between two bounds, which may be infinite."""
    low, high = np.isfinite(lower), np.isfinite(upper)
    below, above = np.where(low, lower, 0.0), np.where(high, upper, 0.0)
    one_sided = np.where(low, below + 1.0, np.where(high, above - 1.0, 0.3))
    return np.where(low & high, 0.5 * (below + above), one_sided)


def _own(dist: Any, name: str) -> Any:
    """Return a private method: ours, or the class's own, or None if it is the generic one."""
    bodies = BODIES.get(dist._native.__name__, {})
    if name in bodies:
        return bodies[name]
    stem = name.removeprefix("_").removeprefix("log")
    if any(one.removeprefix("_").removeprefix("log") in SIDES[stem] for one in bodies):
        return None  # it is derived from ours
    general = getattr(CONTINUOUS if isinstance(dist, CONTINUOUS) else DISCRETE, name, None)
    found = getattr(type(dist), name, None)
    return None if found is None or found is general else getattr(dist, name)


def _is_ours(dist: Any, name: str) -> bool:
    return name in BODIES.get(dist._native.__name__, {})


def _first(choices: Sequence[Callable[[], Any] | None], what: str) -> Any:
    """Return the result of the first choice that can be differentiated.

    If all fail, try again with SciPy's array-API paths open, which let it fill new arrays.
    """
    error: Exception | None = None
    for paths in (nullcontext, array_api_paths):
        for choice in filter(None, choices):
            try:
                with np.errstate(all="ignore"), paths():
                    return choice()
            except BatchedValueError:
                raise  # the examples are then taken one by one
            except CAUSES as raised:
                error = error or raised
    raise NoRuleError(
        f"{what} has no derivative with respect to an argument that is tracked. "
        "Fix: .detach() the argument if its gradient is not wanted, or give the function a rule "
        "of your own with gradwrap.primitive and gradwrap.defvjp."
    ) from error


def _own_pair(dist: Any, name: str, y: Any, shapes: Sequence[Any], *, logarithm: bool) -> Any:
    """Return a density or probability by its own method, or by that of its logarithm."""
    plain, log = _own(dist, f"_{name}"), _own(dist, f"_log{name}")
    direct = [plain and (lambda: plain(y, *shapes)), log and (lambda: np.exp(log(y, *shapes)))]
    logs = [log and (lambda: log(y, *shapes)), plain and (lambda: np.log(plain(y, *shapes)))]
    return _first(logs if logarithm else direct, _named(dist, f"{'log' * logarithm}{name}"))


def density(dist: Any, y: Any, shapes: Sequence[Any]) -> Any:
    """Return the standard density inside of the support."""
    return _own_pair(dist, "pdf", y, shapes, logarithm=False)


def log_density(dist: Any, y: Any, shapes: Sequence[Any]) -> Any:
    """Return the logarithm of the standard density inside of the support."""
    return _own_pair(dist, "pdf", y, shapes, logarithm=True)


def distribution_function(
    dist: Any, name: str, y: Any, shapes: Sequence[Any], out: Any = None, inside: Any = True
) -> Any:
    """Return `cdf`, `sf`, `logcdf` or `logsf` of the standard distribution, inside."""
    plain = name.removeprefix("log")
    mine, other = ("_cdf", "_sf") if plain == "cdf" else ("_sf", "_cdf")
    logarithm = _own(dist, f"_log{plain}")
    here, there = _own(dist, mine), _own(dist, other)
    choices = [
        here and (lambda: here(y, *shapes)),
        there and (lambda: 1.0 - there(y, *shapes)),
        lambda: (_summed if isinstance(dist, DISCRETE) else _integral)(dist, plain, y, shapes),
    ]
    if name != plain:
        logs = [one and _log_of(one, out, inside) for one in choices]
        return _first([logarithm and (lambda: logarithm(y, *shapes)), *logs], _named(dist, name))
    if logarithm is not None:
        choices.insert(2, lambda: np.exp(logarithm(y, *shapes)))
    return _first(choices, _named(dist, name))


def _log_of(choice: Callable[[], Any], out: Any, inside: Any) -> Callable[[], Any]:
    return lambda: _logarithm(choice(), out, inside)


def _logarithm(value: Any, out: Any, inside: Any) -> Any:
    """Return the logarithm of a probability, using the more exact value `out` of SciPy."""
    close = np.isclose(native(value), np.exp(native(out)), rtol=1e-5, atol=1e-9)
    if np.any(native(inside) & ~close):
        raise NoRuleError("the formula for its derivative is not exact at these arguments.")
    return np.log(np.exp(out) + (value - stop_gradient(value)))


def quantile(dist: Any, name: str, q: Any, shapes: Sequence[Any], start: Any) -> Any:
    """Return `ppf` or `isf` of the standard distribution, for probabilities between 0 and 1."""
    mine, other = ("_ppf", "_isf") if name == "ppf" else ("_isf", "_ppf")
    here, there = _own(dist, mine), _own(dist, other)
    function, sign = ("cdf", 1.0) if name == "ppf" else ("sf", -1.0)

    def newton() -> Any:
        y = stop_gradient(start)
        for _ in range(2):
            miss = distribution_function(dist, function, y, shapes) - q
            y = y - sign * miss / density(dist, y, shapes)
        return y

    return _first(
        [
            here and (lambda: here(q, *shapes)),
            there and (lambda: there(1.0 - q, *shapes)),
            newton,
        ],
        _named(dist, name),
    )


# Samples of continuous distributions --------------------------------------------------------------


def _samples(dist: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draw samples as SciPy does, with derivatives in the parameters.

    Where `vmap` maps over a parameter, each example has a draw of its own.
    """
    drawing = {name: kwargs[name] for name in ("size", "random_state") if name in kwargs}
    given = {name: value for name, value in kwargs.items() if name not in drawing}
    shapes, loc, scale, _ = dist._parse_args_rvs(*args, **given)
    parameters = [*shapes, loc, scale]
    if is_derived(parameters) and isinstance(dist, DISCRETE):
        raise NoRuleError(
            f"{_named(dist, DRAWING)} has no derivative with respect to an argument that is "
            "tracked: its samples are integers. Fix: .detach() the arguments, if the result is to "
            "be a constant."
        )

    def draw(*values: Any) -> tuple[Any]:
        options = dict(zip(("loc", "scale"), values[len(shapes) :], strict=True))
        if isinstance(dist, DISCRETE):
            del options["scale"]
        return (dist._native.rvs(dist, *values[: len(shapes)], **options, **drawing),)

    (sample,) = per_example(drawing.get("random_state"), draw, stop_gradient(parameters))
    if not is_derived(parameters):
        return sample
    row = _row(dist, DRAWING, "x shapes loc scale", _continuous)
    return row.kind.answer(row, (sample, tuple(shapes), loc, scale), {})


def _sample(x: Any, *_parameters: Any, **_options: Any) -> Any:
    """Return the sample, which the row of `rvs` gets as an argument."""
    return x


def _path(dist: Any, place: Any, shapes: Sequence[Any]) -> Any:
    """Return standard samples as functions of the shapes: their probability stays as it is.

    Two Newton steps give the derivatives of the root up to the third.
    """
    if not is_derived(shapes):
        return place
    probability = stop_gradient(distribution_function(dist, "cdf", place, shapes))
    y = place
    for _ in range(2):
        miss = distribution_function(dist, "cdf", y, shapes) - probability
        y = y - miss / density(dist, y, shapes)
    return y


def _integral(dist: Any, name: str, y: Any, shapes: Sequence[Any]) -> Any:
    """Integrate the density on the less probable side of a point.

    This is the rule of Takahasi and Mori on a bounded or unbounded interval, as in
    `rules/incomplete`.
    """
    place = data_of(stop_gradient(y))
    fixed = [data_of(stop_gradient(shape)) for shape in shapes]
    plain = _plain(dist)
    lower, upper = _asked_of(plain, "_get_support", *fixed)
    values = {one: _asked_of(plain, one, place, *fixed) for one in ("cdf", "sf")}
    above = values["cdf"] > 0.5
    halves = [
        _asked_of(plain, "isf", 0.5 * values["sf"], *fixed),
        _asked_of(plain, "ppf", 0.5 * values["cdf"], *fixed),
    ]
    sign = np.where(above, 1.0, -1.0)
    end = np.where(above, upper, lower)
    bounded = np.isfinite(end)
    # of a bounded interval the nodes move with both ends; else they keep their distance
    ends = dist._get_support(*shapes)
    moving = np.where(above, *ends[::-1]) - y if np.any(bounded) else 0.0
    half = np.where(above, halves[0], halves[1]) - place
    wide = tuple(shape[..., None] if np.ndim(shape) else shape for shape in shapes)
    total: Any = 0.0
    near, _, near_weights = unit_rule()
    far, far_weights = (np.asarray(values) for values in half_line())
    for chosen, size, nodes, weights in (
        (bounded, moving, near, near_weights),
        (~bounded, half, far, far_weights),
    ):
        if np.any(chosen):
            size = np.where(chosen, size, 0.0)  # noqa: PLW2901  elsewhere the integral is 0
            t = y[..., None] + size[..., None] * nodes
            data = stop_gradient(t)
            inside = (data > data_of(lower)[..., None]) & (data < data_of(upper)[..., None])
            t = np.where(inside, t, y[..., None])
            parts = np.where(inside, density(dist, t, wide), 0.0)
            total = total + sign * size * np.sum(parts * weights, axis=-1)
    return np.where(above == (name == "sf"), total, 1.0 - total)


# Discrete distributions ---------------------------------------------------------------------------


def _discrete(
    dist: Any,
    name: str,
    x: Any,
    shapes: Sequence[Any],
    loc: Any,
    scale: Any,  # always 1: a word of both kinds
    out: Any,
) -> Any:
    """Evaluate a method of a discrete distribution by the methods of its class."""
    if name in ("ppf", "isf"):  # an integer, and `loc`
        return loc + (out - stop_gradient(loc))
    k = data_of(stop_gradient(x)) - data_of(stop_gradient(loc))
    shape = np.broadcast_shapes(*map(np.shape, (k, *shapes))) or (1,)
    k, *shapes = (_spread(value, shape) for value in (k, *shapes))
    lower, upper, valid = _support(dist, shapes)
    if name in DENSITIES:
        inside = valid & (k >= lower) & (k <= upper) & (np.floor(k) == k)
    else:
        k = np.floor(k)
        inside = valid & (k >= lower) & (k < upper)
    k = np.where(inside, k, np.where(np.isfinite(lower), lower, 0.0))
    if name in DENSITIES:
        found = mass(dist, k, shapes, logarithm=name == "logpmf")
    else:
        found = distribution_function(dist, name, k, shapes, out, inside)
    return np.reshape(np.where(inside, found, out), np.shape(out))


def mass(dist: Any, k: Any, shapes: Sequence[Any], *, logarithm: bool) -> Any:
    """Return the probability of integers, or its logarithm."""
    return _own_pair(dist, "pmf", k, shapes, logarithm=logarithm)


TERMS = 2_000
"""The largest number of terms in the sum of a distribution function."""


def _summed(dist: Any, name: str, k: Any, shapes: Sequence[Any]) -> Any:
    """Sum the probabilities on the bounded side."""
    fixed = [data_of(stop_gradient(shape)) for shape in shapes]
    plain = _plain(dist)
    lower = _asked_of(plain, "_get_support", *fixed)[0]
    low = np.min(np.where(np.isfinite(lower), lower, _asked_of(plain, "ppf", 1e-17, *fixed)))
    count = int(np.max(k) - low) + 1
    if count > TERMS:
        raise NoRuleError(f"{_named(dist, name)}: a sum of {count} terms is too long. Fix: fewer.")
    places = low + np.arange(count)
    wide = tuple(shape[..., None] if np.ndim(shape) else shape for shape in shapes)
    inside = (places <= k[..., None]) & (places >= data_of(lower)[..., None])
    safe = np.where(inside, places, data_of(k)[..., None])
    total = np.sum(np.where(inside, mass(dist, safe, wide, logarithm=False), 0.0), axis=-1)
    return total if name == "cdf" else 1.0 - total


# Moments ------------------------------------------------------------------------------------------


def _moment_call(dist: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a moment for tracked arguments."""
    kwargs = dict(kwargs)
    if name == "median":
        return dist.ppf(0.5, *args, **kwargs)
    if name == "interval":
        if args:
            level, args = args[0], args[1:]
        else:
            level = kwargs.pop("confidence")
        return tuple(
            dist.ppf(q, *args, **kwargs) for q in (0.5 * (1.0 - level), 0.5 * (1.0 + level))
        )
    first: tuple[Any, ...] = ()
    if name == "moment":
        given: list[Any] = [*args] if args else [kwargs.pop("order")]
        first, args = (int(given[0]),), tuple(given[1:])
    elif name == "stats":
        shapes, loc, scale, asked = dist._parse_args_stats(*args, **kwargs)
        found = [
            _moment_of(dist, one, (tuple(shapes), loc, scale))
            for letter, one in FULL_NAMES.items()  # SciPy returns them in this order
            if letter in asked
        ]
        return found[0] if len(found) == 1 else tuple(found)
    elif name == "support":
        shapes, loc, scale = dist._parse_args(*args, **kwargs)
        return tuple(_moved(end, loc, scale) for end in dist._get_support(*shapes))
    shapes, loc, scale = dist._parse_args(*args, **kwargs)
    return _moment_of(dist, name, (tuple(shapes), loc, scale), *first)


def _moved(end: Any, loc: Any, scale: Any) -> Any:
    """Return an end of the support for a location and a scale; an infinite one is constant."""
    finite = np.isfinite(stop_gradient(end))
    if np.all(finite):
        return loc + end * scale
    return np.where(finite, loc + np.where(finite, end, 0.0) * scale, end)


def _moment_of(dist: Any, name: str, parameters: tuple[Any, ...], *first: int) -> Any:
    """Return a moment for the shapes, the location and the scale."""
    _refuse_integers(dist, name, parameters[0])
    row = _row(dist, name, "shapes loc scale", _moment, *first)
    return row.kind.answer(row, (*parameters, *_parts_of(dist)), {})


FULL_NAMES = {"m": "mean", "v": "var", "s": "skew", "k": "kurtosis"}
FULL = {"skew": "stats", "kurtosis": "stats"}
"""The moments that have no method of their own."""


class _Moment(_Method):
    """The formula of a moment."""

    rtol = 1e-9  # the derivative of an integral is less exact than the integral

    def __init__(self, function: Callable[..., Any], *, has_parts: bool = False) -> None:
        super().__init__(function, has_parts=has_parts)
        self.wanted -= {"x"}


def _moment(
    dist: Any, name: str, *order: int, shapes: Sequence[Any], loc: Any, scale: Any, out: Any
) -> Any:
    """Return a moment by the class's own formulas."""
    shape = np.broadcast_shapes(*map(np.shape, shapes)) or (1,)
    shapes = [_spread(value, shape) for value in shapes]
    standard = functools.partial(_standard, dist, shapes)
    if name == "entropy":
        found = standard("entropy") + np.log(scale) + 0.0 * loc
    elif name == "mean":
        found = standard("mean") * scale + loc
    elif name == "moment":
        found = _raised(order[0], standard, loc, scale)
    elif name in FULL:
        found = standard(name) + 0.0 * loc + 0.0 * scale
    else:
        found = standard("var") * scale * scale + 0.0 * loc
        found = found if name == "var" else np.sqrt(found)
    return np.reshape(found, np.shape(out))


def _raised(order: int, standard: Callable[[Any], Any], loc: Any, scale: Any) -> Any:
    """Return the moment of an order, by the binomial formula."""
    total: Any = 0.0
    for k in range(order + 1):
        part: Any = math.comb(order, k)
        for _ in range(k):
            part = part * scale
        for _ in range(order - k):
            part = part * loc
        total = total + part * (standard(k) if k else 1.0)
    return total


def _standard(  # noqa: C901  one choice after the other
    dist: Any, shapes: Sequence[Any], name: str | int
) -> Any:
    """Return a moment of the standard distribution; a number is the power of x."""
    entropy, stats_, powers = (_own(dist, one) for one in ("_entropy", "_stats", "_munp"))
    places = {"mean": 0, "var": 1, "skew": 2, "kurtosis": 3}

    def by_stats() -> Any:
        has_choice = dist._stats_has_moments and not _is_ours(dist, "_stats")
        letters = "mv" if name in ("mean", "var") else "mvsk"
        found = stats_(*shapes, **({"moments": letters} if has_choice else {}))[places[str(name)]]
        if found is None:
            raise NotImplementedError
        return found

    def by_powers() -> Any:
        raw = [1.0, *(powers(k, *shapes) for k in range(1, order + 1))]
        if isinstance(name, int) or order == 1:
            return raw[order]
        return combined(
            [
                sum(math.comb(k, j) * raw[j] * (-raw[1]) ** (k - j) for j in range(k + 1))
                for k in range(2, order + 1)
            ]
        )

    def by_integrals() -> Any:
        if name == "entropy":
            return _expectation(dist, shapes, lambda _, log: -log)
        if isinstance(name, int) or order == 1:
            return _expectation(dist, shapes, lambda x, _: x**order)
        mean = _expectation(dist, shapes, lambda x, _: x)[..., None]

        def central(k: int) -> Any:
            return _expectation(dist, shapes, lambda x, _: (x - mean) ** k)

        return combined([central(k) for k in range(2, order + 1)])

    def combined(central: list[Any]) -> Any:
        """Return the variance, the skew or the excess kurtosis from central moments."""
        if order == 2:
            return central[0]
        return central[1] / central[0] ** 1.5 if order == 3 else central[2] / central[0] ** 2 - 3.0

    order = name if isinstance(name, int) else places.get(name, 0) + 1
    if name == "entropy":
        choices: Any = [entropy and (lambda: entropy(*shapes)), by_integrals]
    else:
        own = stats_ if name in places else None
        choices = [own and by_stats, powers and by_powers, by_integrals]
    return _first(choices, _named(dist, "moment" if isinstance(name, int) else name))


def _expectation(dist: Any, shapes: Sequence[Any], function: Callable[[Any, Any], Any]) -> Any:
    """Integrate or sum a function of the value and its log-probability."""
    fixed = [np.asarray(stop_gradient(shape)) for shape in shapes]
    wide = [shape[..., None] if np.ndim(shape) else shape for shape in shapes]
    plain = _plain(dist)
    if isinstance(dist, DISCRETE):
        ends = (dist._native.ppf(plain, 1e-15, *fixed), dist._native.isf(plain, 1e-15, *fixed))
        low, high = np.min(ends[0]), np.max(ends[1])
        if not high - low < TERMS:
            raise NotImplementedError
        k = np.broadcast_to(np.arange(low, high + 1.0), (*np.shape(ends[0]), int(high - low) + 1))
        inside = (k >= ends[0][..., None]) & (k <= ends[1][..., None])
        k = np.where(inside, k, ends[0][..., None])
        log = mass(dist, k, wide, logarithm=True)
        return np.sum(np.where(inside, np.exp(log) * function(k, log), 0.0), axis=-1)
    middle = dist._native.median(plain, *fixed)
    ends = dist._get_support(*shapes)
    total: Any = 0.0
    for sign, end, quarter in ((-1.0, ends[0], 0.25), (1.0, ends[1], 0.75)):
        bounded = np.all(np.isfinite(native(end)))
        if not bounded and np.any(np.isfinite(native(end))):
            raise NotImplementedError
        if bounded:
            nodes, _, weights = unit_rule()
            size = end - middle
        else:
            nodes, weights = (np.asarray(values) for values in half_line())
            size = dist._native.ppf(plain, quarter, *fixed) - middle
        size = np.broadcast_to(size, np.shape(middle))
        t = middle[..., None] + size[..., None] * nodes
        data = np.asarray(stop_gradient(t))
        columns = [one[..., None] for one in fixed]
        edges = plain._get_support(*columns)
        inside = (data > edges[0]) & (data < edges[1])
        log = log_density(plain, np.where(inside, data, middle[..., None]), columns)
        inside = inside & (log > -300.0)
        t = np.where(inside, t, middle[..., None])
        log = log_density(dist, t, wide)
        parts = np.where(inside, np.exp(log) * function(t, log), 0.0)
        total = total + sign * size * np.sum(parts * weights, axis=-1)
    return total
