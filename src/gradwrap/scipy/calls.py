"""Calls of SciPy's functions with tracked arguments, evaluated level by level.

SciPy's own function gives the value, on plain data. A call is first performed at the highest level
of its arguments, which sees the values of lower levels as data. The call is repeated with these
values until the data are plain.
"""

from __future__ import annotations

import copy
import functools
import inspect
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from gradwrap.core.calls.loop import in_batch_of, is_innermost_batch, looped
from gradwrap.core.levels.memory import one_array
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    data_of,
    holds_batch,
    innermost,
    is_recorded,
    native,
    stripped,
)
from gradwrap.core.observing.callers import noted
from gradwrap.core.observing.comparing import solvers
from gradwrap.core.values.comparing import zeros_like
from gradwrap.core.values.dynamic import DICT, LIST, SEQUENCE, TUPLE, rebuilt, type_of
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import BatchedValueError, GradwrapError, NoRuleError
from gradwrap.scipy.results import float_parts, hidden_parts, is_whole, with_parts
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.calls import RefusedTangent
from gradwrap.transforms.custom_calls import is_differentiated, perform

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from gradwrap.scipy.results import Path
    from gradwrap.scipy.table import Row
    from gradwrap.transforms.custom_calls import Pull

solvers.append(f"{__package__}.")

FAILURES = (
    AttributeError,
    LookupError,
    StopIteration,
    TypeError,
    ValueError,
    ZeroDivisionError,
)
"""What Python and NumPy raise for arguments that a formula does not take."""
NEVER_DEFAULT: Any = object()
VARIABLE_KINDS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Holder:
    """A stand-in for an object of SciPy's, such as a sparse matrix, whose numbers are variables."""

    @property
    def made(self) -> Any:
        """SciPy's object of the same values."""
        raise NotImplementedError

    def stored_data(self) -> Any:
        """Return the numbers."""
        raise NotImplementedError


SUSPECTS = (AnyWrapper, *SEQUENCE, DICT, Holder)
"""The types of arguments that are variables, or may hold them."""


natively: ContextVar[bool] = ContextVar("gradwrap_scipy_natively", default=False)
"""True while SciPy's own code runs on plain data, so that its inner calls stay SciPy's own."""


class Derivative(Protocol):
    """The reverse and the forward mode of one call, as each kind of rule provides them."""

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Return the function from cotangents of the outputs to cotangents of the needed inputs."""
        ...

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the tangents of the outputs; None stands for zero."""
        ...

    runs_once: bool
    """One call records the derivatives at all levels."""

    has_attributes: bool
    """The results of its formula have all attributes of SciPy's, also private ones."""

    def recorded(self, call: SciPyCall) -> list[Any]:
        """Return the outputs with derivatives at all levels."""
        ...


def _kept(array: Any) -> Any:
    """Return a copy of an array that the caller may write to before the backward pass."""
    return array.copy("K") if array.flags.writeable else array


class SciPyCall:
    """One call: its arguments by name, their variables, and the parts of its result."""

    materializes = False  # None marks an unused output: by-products raise only if used

    def __init__(
        self, row: Row, derivative: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.row = row
        self.name: str = row.name
        self.derivative = derivative
        self.form: Form = form_of(row, len(args), tuple(kwargs))
        self.paths: list[Path] = []
        self.leaves: list[Any] = []
        self.given: dict[str, Any] = self.form.named(args, kwargs)
        if not is_traced():
            self.given |= {
                name: map_leaves(native, self.given[name])
                for name in row.thresholds
                if name in self.given
            }
        self._check()
        for name in row.arrays:
            if type(self.given.get(name)) is np.ndarray:
                self.given[name] = _kept(self.given[name])
        self.result: Any = None
        self.discrete: dict[Path, Any] = {}
        """The integers of the result that differ from example to example of `vmap`: pivots, say."""
        self.out_paths: list[Path] = []
        self.outs: list[Any] | None = None
        self.byproducts: list[int] = []

    def _check(self) -> None:
        """Find the variables among the arguments that may be tracked; refuse unknown options."""
        given, tracks_all = self.given, self.row.kind.tracks_all
        for parameter in self.form.parameters:
            name, value = parameter.name, given[parameter.name]
            if parameter.is_array:
                if isinstance(value, SEQUENCE) and (self.row.cores or not parameter.is_group):
                    value = given[name] = _joined(value, is_group=parameter.is_group)
            elif parameter.is_star:
                for key, option in value.items():
                    _check_option(self.row, key, option, NEVER_DEFAULT)
            elif not parameter.is_known or (not tracks_all and type(value) not in PLAIN):
                _check_option(self.row, name, value, parameter.default)
            if isinstance(value, AnyWrapper):
                self.paths.append((name,))
                self.leaves.append(value)
            elif isinstance(value, SUSPECTS):
                for path, leaf in wrappers_in(value, (name,)):
                    self.paths.append(path)
                    self.leaves.append(leaf)

    # Arguments of the function

    def changed(self, leaves: Sequence[Any]) -> Any:
        """Return the given arguments by name, with new values for the variables."""
        given: Any = self.given.copy()
        nested: dict[str, dict[Path, Any]] = {}
        for path, leaf in zip(self.paths, leaves, strict=True):
            if len(path) == 1:
                given[path[0]] = leaf
            else:
                nested.setdefault(path[0], {})[path[1:]] = leaf
        for name, parts in nested.items():
            given[name] = with_parts(given[name], parts)
        return given

    def arguments(self, leaves: Sequence[Any]) -> dict[str, Any]:
        """Return all arguments by name with their defaults, with new values for the variables."""
        arguments: dict[str, Any] = self.form.defaults | self.changed(leaves)
        return arguments

    def known(self, leaves: Sequence[Any]) -> dict[str, Any]:
        """Return all arguments for a formula, with numbers and sequences converted to arrays."""
        arguments = self.arguments(leaves)
        for name in self.row.arrays:
            value: Any = arguments.get(name)
            if isinstance(value, TUPLE):
                if name in self.row.groups or not all(type(x) in PLAIN for x in value):
                    continue
            elif isinstance(value, LIST):
                if name in self.row.groups and any(map(np.ndim, value)):
                    continue  # arrays of possibly different lengths
            elif type(value) not in (int, float, complex):
                continue
            arguments[name] = np.asarray(value)[()]
        return arguments

    def words(self, leaves: Sequence[Any], wanted: frozenset[str], **more: Any) -> dict[str, Any]:
        """Return the arguments and extra values that a formula names as parameters."""
        return chosen(self.known(leaves) | more, wanted)

    def original(self, leaves: Sequence[Any], change: Callable[[Any], Any] | None = None) -> Any:
        """Call SciPy's function with new values for the variables, after `change` is applied."""
        given = self.changed(leaves)
        args, kwargs = self.form.placed(given if change is None else change(given))
        return self.row.call(*args, **kwargs)

    def unchecked(self) -> SciPyCall:
        """Return the call for tangents: NaN in them gives NaN, where SciPy's check would raise."""
        if "check_finite" not in self.row.signature.parameters:
            return self
        made, words = copy.copy(self), self.form.keywords
        if "check_finite" not in self.given:
            made.form = form_of(self.row, len(self.form.positional), (*words, "check_finite"))
        made.given = self.given | {"check_finite": False}
        return made

    def without(self, *names: str) -> SciPyCall:
        """Return the call without some options that are given by keyword."""
        made, words = copy.copy(self), self.form.keywords
        kept = tuple(name for name in words if name not in names)
        others = 0 if self.form.star is None else len(self.given[self.form.star])
        made.form = form_of(self.row, len(self.form.positional) + others, kept)
        return made

    # Its value

    def answer(self) -> Any:
        """Return the result with its derivatives."""
        leaves, derivative = self.leaves, self.derivative
        if not is_differentiated(leaves):
            outs = self.values(leaves)
        elif derivative.runs_once and not self.row.byproducts and not holds_batch(leaves):
            try:
                outs = derivative.recorded(self)
            except FAILURES as error:
                try:
                    self.natively(*leaves)
                except Exception as scipys:
                    raise scipys from None
                raise self._failure(error) from error
        else:
            return part_of(self, perform(self, leaves))
        return part_of(self, [wrapped_untracked(out) for out in outs])

    def values(self, leaves: Sequence[Any]) -> list[Any]:
        """Return the floating-point parts of the result for new values of the variables."""
        for leaf in leaves:  # quicker than a generator
            if isinstance(leaf, AnyWrapper):
                break
        else:
            return self.natively(*leaves)
        if is_differentiated(leaves):
            return perform(self, leaves)

        if self.row.kind.by_columns and is_innermost_batch(leaves):
            return [self._in_columns(*leaves)]

        def in_turn(*leaves: Any) -> list[Any]:
            parts = self.natively(*leaves)
            return [parts, [part for _, part in float_parts(self.result, wanted=is_whole)]]

        parts, whole = looped(in_turn, self.name, *leaves)
        paths = [path for path, _ in float_parts(self.result, wanted=is_whole)]
        self.discrete = {
            path: part for path, part in zip(paths, whole, strict=True) if _differs(part)
        }
        return parts  # type: ignore[no-any-return]  # a list, as that of `in_turn`

    def _in_columns(self, batch: Any) -> Any:
        """Return the result for all examples of `vmap`, which become columns of one argument."""
        layer = stripped(batch)
        columns: Any = np.moveaxis(data_of(layer), 0, -1)
        (made,) = self.values([np.reshape(columns, (columns.shape[0], -1))])
        whole: Any = np.reshape(made, (made.shape[0], *columns.shape[1:]))
        return in_batch_of(layer, np.moveaxis(whole, -1, 0))

    def performed(self, outs: list[Any]) -> list[Any]:
        """Record the call by its pull and its push; its values are known."""
        self.outs = outs
        return perform(self, self.leaves)

    def natively(self, *leaves: Any) -> list[Any]:
        """Return the floating-point parts of SciPy's result on the data of the variables."""
        if self.outs is not None:
            outs, self.outs = self.outs, None
            return outs
        given = [
            leaf if type(leaf) is np.ndarray and leaf.shape else _as_number(native(leaf))
            for leaf in leaves
        ]
        token = natively.set(True)
        try:
            result = self.original(given)
        finally:
            natively.reset(token)
        return self.taken_apart(result)

    def taken_apart(self, result: Any) -> list[Any]:
        """Keep a result, and return its floating-point parts."""
        self.result, self.discrete, lacks = result, {}, 0
        if type(result) is np.ndarray and result.dtype.kind in "fc":
            self.out_paths = [()]
            parts: list[Any] = [result]
        else:
            shown, hidden = list(float_parts(result)), list(hidden_parts(result))
            self.out_paths = [path for path, _ in (*shown, *hidden)]
            parts = [_as_array(part) for _, part in (*shown, *hidden)]
            lacks = 0 if self.derivative.has_attributes else len(hidden)
        last = len(parts) - lacks
        self.byproducts = [
            place
            for place, path in enumerate(self.out_paths)
            if place >= last or self.row.is_byproduct(path)
        ]
        return parts

    # Its derivative, as `custom_calls` asks for it

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """Return the outputs, and the function that pulls their cotangents back."""
        outs = self.values(inputs)
        try:
            pull = self._pull(inputs, needed, outs)
        except BatchedValueError:
            noted.set(None)  # it is answered here
            pull = functools.partial(self._pulled_singly, inputs, needed)

        def checked_pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            for place in self.byproducts:
                if cotangents[place] is not None:
                    raise self.byproduct_error(place)
            try:
                return pull(cotangents)
            except BatchedValueError:
                noted.set(None)
                return self._pulled_singly(inputs, needed, cotangents)

        return outs, checked_pull

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """Return the outputs and their tangents; using the tangent of a by-product is an error."""
        outs = self.values(inputs)
        try:
            pushed = list(self._push(inputs, tangents, outs))
        except BatchedValueError:
            noted.set(None)
            pushed = self._pushed_singly(inputs, tangents)
        for place in self.byproducts:
            pushed[place] = RefusedTangent(self.byproduct_error(place), outs[place])
        return outs, pushed

    def _pull(self, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]) -> Pull:
        try:
            pull = self.derivative.pull(self, inputs, needed, outs)
        except FAILURES as error:
            raise self._failure(error, inputs) from error

        def clear_pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            try:
                return pull(cotangents)
            except FAILURES as error:
                raise self._failure(error, inputs, cotangents) from error

        return clear_pull

    def _push(
        self, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        try:
            return self.derivative.push(self, inputs, tangents, outs)
        except FAILURES as error:
            raise self._failure(error, inputs, tangents) from error

    def _failure(self, error: Exception, *values: Any) -> Exception:
        """Return the error for a formula that fails at arguments that SciPy takes.

        A formula that fails for a batch may serve each example. Errors of gradwrap, of functions
        among the arguments, and of singular matrices are clear.
        """
        if isinstance(error, (GradwrapError, np.linalg.LinAlgError)) or any(
            map(callable, self.given.values())
        ):
            return error
        if is_innermost_batch(values):
            return BatchedValueError(f"the formula of {self.name} does not take a batch: {error}")
        return NoRuleError(
            f"{self.name} has no derivative at these arguments: its formula does not take their "
            f"shapes or kinds ({type_of(error).__name__}: {error}). Fix: .detach() the arguments "
            "if no gradient is wanted, or give the function a rule of your own with "
            "gradwrap.defvjp."
        )

    # Under `vmap`, for formulas that inspect values: one example after the other

    def _pulled_singly(
        self, inputs: Sequence[Any], needed: Sequence[bool], cotangents: Sequence[Any]
    ) -> list[Any]:
        count = len(inputs)

        def single(*values: Any) -> list[Any]:
            xs, gs = values[:count], values[count:]
            outs = self.values(xs)
            gs = tuple(map(_of_one, gs, outs))
            found = self._pull(xs, needed, outs)(gs)
            return [g for g, is_needed in zip(found, needed, strict=True) if is_needed]

        if not is_innermost_batch([inputs, cotangents]):
            raise BatchedValueError(
                f"the derivative of {self.name} looks at values that vmap maps over. "
                "Fix: call vmap inside the transform that differentiates, or loop."
            )
        with self._result_kept():
            found = iter(looped(single, self.name, *inputs, *cotangents))
        return [next(found) if is_needed else None for is_needed in needed]

    def _pushed_singly(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        count = len(inputs)

        def single(*values: Any) -> list[Any]:
            xs, ts = values[:count], values[count:]
            outs = self.values(xs)
            pushed = self._push(xs, ts, outs)
            return [
                zeros_like(out) if t is None else t for t, out in zip(pushed, outs, strict=True)
            ]

        with self._result_kept():
            return list(looped(single, self.name, *inputs, *tangents))

    @contextmanager
    def _result_kept(self) -> Generator[None]:
        """Keep the result of all examples while the function is called for each."""
        kept = self.result, self.discrete
        try:
            yield
        finally:
            self.result, self.discrete = kept

    def byproduct_error(self, place: int) -> NoRuleError:
        """Return the error for taking a derivative of a by-product."""
        key = self.out_paths[place][-1]
        part = f"item {key}" if isinstance(key, int) else f".{key}"
        return NoRuleError(
            f"{self.name}: {part} of its result has no derivative. "
            "Fix: .detach() it, if it is to be a constant."
        )


def _as_number(value: Any) -> Any:
    """Convert an array without axes to an array scalar, which SciPy treats as a number."""
    is_array = hasattr(type_of(value), "__setitem__") and getattr(value, "ndim", 1) == 0
    return value[()] if is_array else value


def _as_array(part: Any) -> Any:
    """Convert a Python number to an array scalar."""
    return (
        np.float64(part)
        if type(part) is float
        else (np.complex128(part) if type(part) is complex else part)
    )


def _of_one(cotangent: Any, out: Any) -> Any:
    """Return the cotangent of one example, which may be real although others are complex."""
    if cotangent is None or not np.iscomplexobj(cotangent) or np.iscomplexobj(out):
        return cotangent
    return np.real(cotangent)


def _differs(part: Any) -> bool:
    """Tell if integers differ from example to example."""
    return isinstance(part, AnyWrapper) and bool(np.any(innermost(part) != one_array(part)))


def part_of(call: SciPyCall, parts: Sequence[Any]) -> Any:
    """Return SciPy's result with its floating-point parts replaced."""
    if call.out_paths == [()]:
        return parts[0]
    changed = dict(zip(call.out_paths, parts, strict=True))
    return with_parts(call.result, call.discrete | changed)


def wrappers_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the variables in nested lists, tuples and dictionaries, each with its path."""
    if isinstance(value, AnyWrapper):
        yield path, value
        return
    is_dict = isinstance(value, DICT)
    parts = value.items() if is_dict else enumerate(value if isinstance(value, SEQUENCE) else ())
    for key, part in parts:
        if isinstance(part, AnyWrapper):
            yield (*path, key), part
        elif isinstance(part, SUSPECTS):
            yield from wrappers_in(part, (*path, key))


def holds_variable(value: Any) -> bool:
    """Tell if nested lists, tuples and dictionaries hold a variable."""
    if isinstance(value, (AnyWrapper, Holder)):
        return True
    parts: Any = value.values() if isinstance(value, DICT) else value
    if len(parts) > FEW:
        kinds = set(map(type, parts))
        if not any(issubclass(kind, SUSPECTS) for kind in kinds):
            return False
    is_found = False
    for part in parts:  # quicker than a generator
        if isinstance(part, SUSPECTS) and holds_variable(part):
            is_found = True
            break
    return is_found


FEW = 8
"""Up to this length a sequence is searched faster item by item than by its set of types."""


def are_plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell if the arguments hold no variable, skipping arguments whose type cannot hold any."""
    for value in args:
        if isinstance(value, SUSPECTS) and holds_variable(value):
            return False
    return not kwargs or not holds_variable(kwargs)


def with_plain_constants(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Replace variables that no transform differentiates or maps over by their data.

    In adapted code, an array that the code makes is such a variable. Where there is no other, the
    arguments stay as they are.
    """
    given: tuple[tuple[Any, ...], dict[str, Any]] = args, kwargs
    return map_leaves(_constant, given) if is_recorded(given) else given


def _constant(leaf: Any) -> Any:
    if not isinstance(leaf, AnyWrapper) or is_recorded(leaf):
        return leaf
    data = native(leaf)
    return data if isinstance(data, np.ndarray) and data.ndim else leaf


# The arguments, by name and checked ---------------------------------------------------------------


class Parameter(NamedTuple):
    """A parameter with a given argument, and its description in the row."""

    name: str
    default: Any
    is_array: bool
    is_group: bool
    is_star: bool
    """The parameter collects options by name (`**kwargs`)."""
    is_known: bool
    """The formulas name the option, or the derivative does not depend on it."""


class Form:
    """The binding of arguments to a row's parameters, kept for all calls of the same form."""

    def __init__(self, row: Row, count: int, keywords: tuple[str, ...]) -> None:
        bound = row.signature.bind(*range(count), **dict.fromkeys(keywords, -1))
        described = row.signature.parameters
        kinds = {name: described[name].kind for name in bound.arguments}
        self.positional: list[str] = [
            name for name, at in bound.arguments.items() if type(at) is int and at >= 0
        ]
        self.keywords: list[str] = [name for name, at in bound.arguments.items() if at == -1]
        self.star: str | None = next(
            (name for name, kind in kinds.items() if kind == VARIABLE_KINDS[0]), None
        )
        self.options: str | None = next(
            (name for name, kind in kinds.items() if kind == VARIABLE_KINDS[1]), None
        )
        self.permissions: list[str] = [name for name in kinds if name in row.permissions]
        bound.apply_defaults()
        self.defaults: dict[str, Any] = {
            name: value for name, value in bound.arguments.items() if name not in kinds
        }
        self.parameters: list[Parameter] = [
            Parameter(
                name,
                described[name].default,
                is_array=name in row.arrays,
                is_group=name in row.groups or kind in VARIABLE_KINDS,
                is_star=kind == VARIABLE_KINDS[1],
                is_known=row.knows(name),
            )
            for name, kind in kinds.items()
        ]

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name."""
        count = len(self.positional)
        given = dict(zip(self.positional, args, strict=False))
        if self.star is not None:
            given[self.star] = args[count:]
        if self.options is None:
            given |= kwargs
            for name in self.permissions:
                given[name] = False
            return given
        given |= {name: kwargs[name] for name in self.keywords}
        given[self.options] = {k: v for k, v in kwargs.items() if k not in given}
        return given

    def placed(self, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Convert arguments by name to positional and keyword arguments of SciPy's function."""
        args = [given[name] for name in self.positional]
        kwargs = {name: given[name] for name in self.keywords}
        if self.star is not None:
            args += given[self.star]
        if self.options is not None:
            kwargs |= given[self.options]
        return args, kwargs


def form_of(row: Row, count: int, keywords: tuple[str, ...]) -> Form:
    """Return the kept binding for calls with these positional and keyword arguments."""
    found: Form | None = row.forms.get((count, keywords))
    if found is None:
        found = row.forms[count, keywords] = Form(row, count, keywords)
    return found


def without_permissions(
    row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return a call's arguments with `overwrite_` options off, since others may hold the arrays."""
    form = form_of(row, len(args), tuple(kwargs))
    return form.placed(form.named(args, kwargs))


PLAIN = frozenset({bool, int, float, str, type(None)})
"""The types of options that are never tracked."""


def chosen(words: Mapping[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Return the words that a formula names."""
    return {name: words[name] for name in wanted if name in words}


def _joined(value: Any, *, is_group: bool = False) -> Any:
    """Join a nested list that holds variables into one variable, or each list of a group."""
    if is_group:
        for part in value:
            if isinstance(part, SEQUENCE) or type(value) is not tuple:
                return rebuilt(value, [_joined(a) if isinstance(a, SEQUENCE) else a for a in value])
        return value
    leaf = next((leaf for _, leaf in wrappers_in(value)), None)
    return value if leaf is None else leaf.__array_namespace__().asarray(value)


def _check_option(row: Row, name: str, value: Any, default: Any) -> None:
    """Raise an error for an option that is tracked, or that the row does not know."""
    if row.knows(name):
        if not row.kind.tracks_all and is_recorded(value):
            raise NoRuleError(
                f"{row.name} has no derivative with respect to its argument {name}, which is "
                "tracked. Fix: .detach() it if its gradient is not wanted."
            )
        return
    if value is default or (_is_simple(value) and _is_simple(default) and value == default):
        return
    if (name, value) == ("nan_policy", "raise"):
        return  # SciPy's function, which gives the value, raises at NaN
    raise NoRuleError(
        f"{row.name} has no derivative with {name}=. Fix: leave it out, or give the function a "
        f"rule of your own with gradwrap.primitive and gradwrap.defvjp."
    )


def _is_simple(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def refuse_recorded(row: Row, args: Any, kwargs: Any, why: str) -> None:
    """Raise an error for a tracked argument; arguments that only `vmap` maps over are allowed."""
    found = [leaf for _, leaf in wrappers_in([args, kwargs])]
    if is_differentiated(found):
        raise NoRuleError(f"{row.name} {why}")
