"""Functions that take callbacks: SciPy's result with a derivative attached.

SciPy computes the value on plain data. Another computation of the same value, such as the implicit
function theorem, gives the derivative. `attached` combines the two.
"""

from __future__ import annotations

import copy
import functools
import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.levels import newest_level, silent_up_to
from gradwrap.core.levels.modes import is_traced, no_grad
from gradwrap.core.levels.wrapper import AnyWrapper, innermost, is_recorded, native
from gradwrap.core.library.labelled import array_held
from gradwrap.core.observing.callers import current_caller, noted, refused
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, rebuilt
from gradwrap.core.values.tree import flatten, map_leaves
from gradwrap.errors import GradwrapError, NoRuleError, RuleResultError, TrackedCodeError
from gradwrap.scipy.agreeing import check_value
from gradwrap.scipy.array_api import array_api_paths
from gradwrap.scipy.calls import Holder, SciPyCall, chosen, form_of, natively, wrappers_in
from gradwrap.scipy.dispatching import LOW_LEVEL, Composed, parameters_of, scipys
from gradwrap.scipy.kinds import Derived
from gradwrap.scipy.results import with_parts
from gradwrap.scipy.table import Row
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.implicit import named_root
from gradwrap.transforms.recomputing import may_keep, recomputing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from gradwrap.scipy.results import Path
    from gradwrap.transforms.custom_calls import Pull


AS_GIVEN = ("args", "kwargs", "method", "qrng", "workers")
"""The arguments whose functions are not callbacks of SciPy's."""


class Solved(Composed):
    """A function with callbacks: `parts(result, ...)` gives parts of SciPy's result derivatives.

    SciPy computes `result` on plain data. The other parameters of `parts` have the names of SciPy's
    parameters, and receive the arguments: `fun` is the first of them, and `name` the function's
    public name. `parts` returns the variables of parts of the result by their paths.
    """

    def __init__(
        self,
        parts: Callable[..., Mapping[Path, Any]],
        *,
        refused: str = "",
        checks: bool = False,
        calls_back: bool = True,
        prepare: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(parts, calls_back=calls_back)
        self.wanted: frozenset[str] = parameters_of(parts)
        self.refused: list[str] = refused.split()
        """Options with which the result has no derivative."""
        self.checks = checks
        """The function checks by itself that SciPy has succeeded."""
        self.prepare = prepare
        """A function that changes the arguments for SciPy, and returns more words for `parts`."""
        self.values: Callable[..., Any] | None = None
        """A function that returns what the callbacks return at the solution, from some arguments:
        if nothing is tracked there, they need not be differentiable."""

    def takes(self, parameter: str) -> bool:
        """Take every parameter: SciPy checks them."""
        return True

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call SciPy's function on plain data, and attach the derivatives of the parts."""
        form = form_of(row, len(args), tuple(kwargs))
        given = form.named(args, kwargs)
        words = form.defaults | given
        if row.path.startswith("optimize."):
            words = {key: _recomputing(value, key) for key, value in words.items()}
        elif is_traced():
            words = {key: _given_variables(value, key) for key, value in words.items()}
        options = words.pop(form.options, {}) if form.options else {}
        words |= options | {"fun": words[next(iter(given))], "name": row.name}
        refuse(row.name, **{name: words.get(name) for name in self.refused})
        words["args"] = () if words.get("args") is None else self._as_args(words["args"])
        native = {name: silenced(value, name) for name, value in given.items()}
        native |= {"args": plain(words["args"])} if native.get("args") is not None else {}
        more = {} if self.prepare is None else self.prepare(native)
        places, named = form.placed(native)
        named |= {name: native[name] for name in native if name not in given}
        words["result"] = result = scipys(row.path)(*places, **named)
        if is_traced() and silent_up_to() >= newest_level():
            return _shown(more.get("shown", lambda made: made)(result))
        words["again"] = lambda: _by_array_api(row, form, given | {"args": words["args"]})
        try:
            parts = self._parts(words | more, args, kwargs)
            has_failed = isinstance(result, DICT) and not np.all(result.get("success", True))
            moving = [*parts.values(), *args, *kwargs.values()]  # a guess moves what is on the way
            if has_failed and not self.checks and is_recorded(moving):
                refuse_failure(row.name, False, result.get("message", "") or "success=False")
        except (NoRuleError, RuleResultError) as error:
            raise refused(current_caller(), error) from None  # the code may catch it
        return attached(row.path, more.get("shown", lambda made: made)(result), parts)

    def _parts(self, words: dict[str, Any], *given: Any) -> Mapping[Path, Any]:
        """Return the variables of parts of a result; none if nothing is tracked."""
        rule = functools.partial(self.function, **chosen(words, self.wanted))
        try:
            found: Mapping[Path, Any] = rule()
        except (NoRuleError, RuleResultError, TrackedCodeError):
            # again, if need be, so that the callbacks keep what they kept when it was raised
            found = {} if self._is_constant(words, *given) else rule()
        return found

    def _is_constant(self, words: dict[str, Any], *given: Any) -> bool:
        """Tell if neither the arguments nor the callbacks at the solution are tracked."""
        if self.values is None or is_traced():
            return False
        before = noted.get()
        try:
            found = self.values(**chosen(words, parameters_of(self.values)))
        except GradwrapError:
            noted.set(before)
            return False
        return not is_recorded([leaf for _, leaf in wrappers_in([given, found])])

    def _as_args(self, args: Any) -> tuple[Any, ...]:
        return as_args(args)


class SolvedWithList(Solved):
    """A function that also takes a list of more arguments; for others, it is the only one."""

    def _as_args(self, args: Any) -> tuple[Any, ...]:
        return tuple(args) if np.iterable(args) else as_args(args)


def _by_array_api(row: Row, form: Any, given: dict[str, Any]) -> Any:
    """Call SciPy's function on variables; numbers and arrays become variables too."""

    def wrapped(value: Any) -> Any:
        if isinstance(value, TUPLE):
            return tuple(wrapped(part) for part in value)
        is_number = type(value) in (int, float) or isinstance(value, (np.ndarray, np.generic))
        return wrapped_untracked(np.asarray(value, dtype=float)) if is_number else value

    ends = list(given)[1:3]
    with array_api_paths():
        args, kwargs = form.placed(
            {key: wrapped(v) if key in (*ends, "args") else v for key, v in given.items()}
        )
        return scipys(row.path)(*args, **kwargs)


def silenced(value: Any, name: str = "") -> Any:
    """Convert an argument to plain data, and its callbacks to functions of plain data."""
    return _converted(value, name, quiet, plain)


def _recomputing(value: Any, name: str) -> Any:
    """Return an argument with callbacks that do not return what they have kept."""
    value = _given_variables(value, name) if is_traced() else value
    return _converted(value, name, recomputing, lambda data: data)


def _given_variables(value: Any, name: str) -> Any:
    """Return an argument with callbacks that get variables for the stand-ins of a trace."""
    return _converted(value, name, _given_variable, lambda data: data)


def _given_variable(function: Any) -> Any:
    """Return a callback that is called in a trace as user code is: with variables."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with _user_code():
            return function(*_as_variables(args), **_as_variables(kwargs))

    return called


@contextmanager
def _user_code() -> Generator[None]:
    """Run a callback of the user: what it calls of SciPy may get tracked values."""
    token = natively.set(False)
    try:
        yield
    finally:
        natively.reset(token)


def _as_variables(value: Any) -> Any:
    """Wrap the stand-ins of a trace, as user code is to see them."""
    return map_leaves(lambda leaf: wrapped_untracked(leaf) if is_tracer(leaf) else leaf, value)


def _converted(
    value: Any, name: str, of_callback: Callable[[Any], Any], of_data: Callable[[Any], Any]
) -> Any:
    """Convert the functions that SciPy calls, and the data, in an argument of a name."""

    def part(value: Any, name: str = "") -> Any:
        return _converted(value, name, of_callback, of_data)

    if name in AS_GIVEN or isinstance(value, LOW_LEVEL):
        return of_data(value)
    if isinstance(value, DICT):
        return {key: part(one, key) for key, one in value.items()}
    if isinstance(value, SEQUENCE):
        return rebuilt(value, list(map(part, value)))
    if isinstance(value, _holders()):
        made = copy.copy(value)
        vars(made).update(part(vars(value)))
        return made
    is_callback = not isinstance(value, type) and not hasattr(value, "shape")
    return of_callback(value) if is_callback and callable(value) else of_data(value)


def _holders() -> tuple[type[Any], ...]:
    """Return the classes of options whose attributes may be callbacks or tracked."""
    return _imported_holders() if "scipy.optimize" in sys.modules else ()


@functools.cache
def _imported_holders() -> tuple[type[Any], ...]:
    optimize: Any = import_module("scipy.optimize")
    return (optimize.Bounds, optimize.LinearConstraint, optimize.NonlinearConstraint)


def plain(value: Any) -> Any:
    """Replace the variables in nested containers by their data."""
    return map_leaves(_plain_leaf, value)


def _plain_leaf(leaf: Any) -> Any:
    if not isinstance(leaf, AnyWrapper):
        return leaf.made if isinstance(leaf, Holder) else leaf
    data = native(leaf)
    return data[()] if isinstance(data, np.ndarray) and not data.ndim else data


def is_tracer(data: Any) -> bool:
    """Tell if data are a trace's stand-in for an array."""
    is_plain = isinstance(data, (np.ndarray, np.generic))
    return is_traced() and not is_plain and hasattr(data, "__array_namespace__")


def data_of(value: Any) -> Any:
    """Return the data of an array, for choices that depend on them; a trace records the choices."""
    data = plain(value)
    return data if is_tracer(data) else np.asarray(data)


def number_of(value: Any) -> Any:
    """Return the number in an array without axes; in a trace, what is chosen by it is recorded."""
    data = plain(value)
    return data if is_tracer(data) else np.float64(data)


def quiet(function: Any) -> Any:
    """Wrap a callback to take and return plain data without recording."""
    if not callable(function):
        return function

    is_first = may_keep(function)
    function = _given_variable(function) if is_traced() else function

    def called(*args: Any, **kwargs: Any) -> Any:
        nonlocal is_first
        if is_first:  # what it keeps of this call has derivatives
            is_first, before = False, noted.get()
            try:
                with _user_code():
                    return plain(function(*args, **kwargs))
            except GradwrapError:  # its results may have to be plain
                noted.set(before)
        with no_grad():
            return plain(function(*args, **kwargs))

    called.__wrapped__ = function  # type: ignore[attr-defined]  # SciPy counts its parameters
    return called


def as_array(value: Any) -> Any:
    """Join a list of variables into one variable; convert other values with NumPy."""
    value = array_held(value)
    if isinstance(value, AnyWrapper) or is_tracer(value):
        return value
    found = next((leaf for _, leaf in wrappers_in(value)), None)
    if found is None and is_traced():
        found = next(filter(is_tracer, flatten(value)[0]), None)
    return np.asarray(value) if found is None else found.__array_namespace__().asarray(value)


def as_dense(matrix: Any) -> Any:
    """Return a matrix, which may be sparse, as a dense array."""
    return matrix.toarray() if hasattr(matrix, "toarray") else as_array(matrix)


def as_args(args: Any) -> tuple[Any, ...]:
    """Return the extra arguments of a callback as a tuple; a single argument is allowed."""
    return args if isinstance(args, tuple) else (args,)


def solution(
    residual: Callable[[Any], Any], found: Any, name: str, *, is_unique: bool = False
) -> Any:
    """Return SciPy's root with the derivative from the implicit function theorem.

    Unless SciPy has made sure that the solution is unique, the derivative of one that is not is
    refused.
    """

    def solve(linear: Callable[[Any], Any], y: Any) -> Any:
        y = as_array(y)
        shape, units = y.shape, np.reshape(np.eye(y.size), (y.size, *y.shape))
        if is_tracer(found):
            units = found.__array_namespace__().asarray(units)

        def of(size: float) -> Any:
            """Return the matrix, computed from unit vectors of another length."""
            columns = [np.reshape(as_array(linear(size * unit)), (-1,)) for unit in units]
            return np.stack(columns, axis=1) / size

        matrix = of(1.0)
        data = innermost(matrix)  # of all examples of a batch
        is_finite = np.isfinite(data).all()  # of a tangent with NaN, it is not
        is_singular = is_finite and np.any(np.linalg.matrix_rank(_scaled(data)) < y.size)
        if is_unique and is_singular:
            raise NoRuleError(
                f"{name}: the slope of the function is zero at the solution, which then has no "
                "derivative, as of a multiple root or of abs(f). Fix: find the root of a function "
                "that changes its sign there, such as f in place of abs(f)."
            )
        if is_singular or (is_finite and not is_unique and _is_rounding(data, of)):
            raise NoRuleError(
                f"{name}: the Jacobian is singular at the solution, which is then not the only "
                "one, and has no derivative. Fix: return also a small multiple of the parameters "
                "as residuals, such as np.concatenate([residuals, 1e-4 * x])."
            )
        return np.reshape(np.linalg.solve(matrix, np.reshape(y, (-1, 1))), shape)

    dtype = complex if np.iscomplexobj(plain(found)) else float
    start = found if is_tracer(found) else np.asarray(found, dtype=dtype)[()]
    return named_root(residual, start, lambda _f, x: x, solve, name)


LENGTHS = 1.0837, 0.7319
"""Factors whose products are rounded in other ways."""


def _is_rounding(matrix: Any, of: Callable[[float], Any]) -> bool:
    """Tell if a row or a column is only what rounding has left: another computation differs."""
    lengths = [np.linalg.norm(matrix, axis=axis) for axis in (-2, -1)]
    both = np.stack(lengths)
    if np.min(both) > 1e-9 * np.max(both):
        return False
    noise = np.max(np.stack([np.abs(innermost(of(size)) - matrix) for size in LENGTHS]), axis=0)
    return any(
        bool(np.any(length <= 100 * np.linalg.norm(noise, axis=axis)))
        for length, axis in zip(lengths, (-2, -1), strict=True)
    )


def _scaled(matrix: Any) -> Any:
    """Return a matrix with columns, and then rows, of length one: its rank has no units."""
    for axis in (-2, -1):
        lengths = np.linalg.norm(matrix, axis=axis, keepdims=True)
        matrix = matrix / np.where(lengths == 0, 1.0, lengths)
    return matrix


class _ResultRow(Row):
    """The row of one result, whose parts with a variable are differentiable."""

    def is_byproduct(self, path: tuple[Any, ...]) -> bool:
        """Tell if a part has no variable."""
        return path not in self.chosen

    chosen: Mapping[Path, int] = {}


class _Attached(Derived):
    """The derivative of a result: each part has the derivative of its variable."""

    def takes(self, parameter: str) -> bool:
        """Take every parameter: the result is plain data."""
        return True

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Pass the cotangents on to the variables."""
        row: Any = call.row

        def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            of_part = {
                row.chosen[path]: g
                for path, g in zip(call.out_paths, cotangents, strict=True)
                if path in row.chosen
            }
            return [of_part.get(path[1]) for path in call.paths]

        return pull

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Pass the tangents of the variables on."""
        row: Any = call.row
        of_part = {path[1]: t for path, t in zip(call.paths, tangents, strict=True)}
        return [of_part.get(row.chosen.get(path, -1)) for path in call.out_paths]


def attached(
    name: str, result: Any, parts: Mapping[Path, Any], beside: Callable[[], Any] | None = None
) -> Any:
    """Return SciPy's result with the derivatives of variables for the parts at some paths.

    A part at whose path is plain data is a constant. Differentiating a floating-point part without
    a path raises an error. `beside` returns other results, beside which one at a root is small.
    """
    if not is_recorded(list(parts.values())):
        return _shown(result) if is_traced() else result
    later = {path[0]: part for path, part in parts.items() if isinstance(part, Later)}
    parts = {path: part for path, part in parts.items() if not isinstance(part, Later)}
    shaped = {}
    values = {path: _at(result, path) for path in parts}
    for path, part in parts.items():
        value = values[path]
        shape = np.shape(value)
        shaped[path] = part if np.shape(part) == shape else np.reshape(part, shape)
        others = (one for find in (values.values, beside) if find for one in find())
        check_value(f"scipy.{name}", shaped[path], value, results=others)
    row = _ResultRow(
        name, _Attached(), arrays="parts", groups="parts", original=lambda parts, result: result
    )
    row.chosen = {path: index for index, path in enumerate(shaped)}
    made = SciPyCall(row, _Attached(), (tuple(shaped.values()), result), {}).answer()
    for key, part in made.items() if isinstance(made, DICT) else ():
        if hasattr(part, "matvec"):  # such as `hess_inv` of L-BFGS
            from gradwrap.scipy.operators import refused_operator  # slow to import

            made[key] = refused_operator(part, f"scipy.{name}: .{key} of its result")
        elif isinstance(parts.get((key,)), np.ndarray):
            made[key] = values[key,]
    return _reading(name, made, later) if later else made


def _shown(result: Any) -> Any:
    """Return a result with variables for the stand-ins of a trace."""
    from gradwrap.scipy.results import float_parts, with_parts

    found = float_parts(result, wanted=is_tracer)
    return with_parts(result, {path: wrapped_untracked(part) for path, part in found})


class Later:
    """A part of a result that takes long, and is made where it is read."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _reading(name: str, result: Any, parts: Mapping[str, Later]) -> Any:
    """Return a dictionary of SciPy's whose parts are made where they are read."""
    waiting, base = dict(parts), type(result)

    def part(made: Any, key: Any) -> Any:
        value = dict.__getitem__(made, key)
        later = waiting.pop(key, None)
        if later is None:
            return value
        before = noted.get()
        try:
            found = attached(name, base({key: plain(value)}), {(key,): later.make()})
        except GradwrapError:  # its value can be used all the same
            noted.set(before)
            return value
        made[key] = dict.__getitem__(found, key)
        return dict.__getitem__(made, key)

    def items(made: Any) -> Any:
        return {key: part(made, key) for key in dict.keys(made)}.items()

    body = {
        "__getitem__": part,
        "get": lambda made, key, default=None: part(made, key) if key in made else default,
        "items": items,
        "values": lambda made: [value for _, value in items(made)],
        "__iter__": lambda made: iter(dict.keys(made)),  # so that `dict(made)` reads its items
        "__module__": base.__module__,
    }
    return type(base.__name__, (base,), body)(result)


def _at(result: Any, path: Path) -> Any:
    from gradwrap.scipy.results import part_at

    return part_at(result, path)


def refuse(name: str, **options: Any) -> None:
    """Raise an error for the first of these options that is given."""
    for option, value in options.items():
        is_default = value is None or (isinstance(value, (int, *SEQUENCE)) and not value)
        if not is_default:
            raise NoRuleError(
                f"{name} has no derivative with {option}=. Fix: leave it out, or .detach() what "
                "is tracked."
            )


def refuse_failure(name: str, success: Any, message: Any) -> None:
    """Refuse the derivative of a result that is not a solution."""
    if not success:
        raise NoRuleError(
            f"{name} found no solution ({message}), so there is nothing to differentiate. "
            "Fix: start nearer, or allow more iterations."
        )


__all__ = [
    "as_args", "as_array", "as_dense", "attached", "plain", "quiet", "refuse", "refuse_failure",
    "solution", "with_parts",
]  # fmt: skip
