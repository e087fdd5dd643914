"""The general call of an operation, on any mixture of arguments, at any level.

The written call (`gradwrap.core.calls.call`) leaves to it wrappers of several levels, nested lists,
indices that `vmap` maps over, and arrays of another library. It finds the level that the call
belongs to, and hands the call over to that level.
"""

from __future__ import annotations

import functools
import operator
from numbers import Number
from typing import TYPE_CHECKING, Any

from gradwrap.core.calls.promotion import promoted
from gradwrap.core.calls.table_labels import note_tables, tables_in
from gradwrap.core.levels.levels import is_differentiating, silent_up_to
from gradwrap.core.levels.wrapper import (
    UNTRACKED,
    AnyWrapper,
    batched_parts,
    holds_wrapper,
    is_recorded,
    is_scalar,
    is_whole_number,
    key_with_batches,
    snapshot,
    stripped,
    unwrapped_key,
)
from gradwrap.core.library.backend import (
    PYTHON_SCALARS,
    backend_of,
    find_backend,
    wrapper_class,
)
from gradwrap.core.library.labelled import (
    combined,
    holders,
    keeps_labels,
    key_without_labels,
    labelled,
    opened,
    unlabelled,
)
from gradwrap.core.library.scatter import is_basic_key
from gradwrap.core.observing.comparing import looks
from gradwrap.core.observing.performing import name_of_first, performs
from gradwrap.core.values.dynamic import NUMBERED, SEQUENCE, rebuilt, type_of
from gradwrap.errors import MixedLibrariesError, NoRuleError, NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.calls.bound import BoundOp
    from gradwrap.core.calls.call import Call
    from gradwrap.core.graph.node import Leaf, Node
    from gradwrap.core.library.backend import Backend


def apply_call(bound: BoundOp, *args: Any, **kwargs: Any) -> Any:
    """Call an operation with any mixture of arguments."""
    arrays, statics = bound.split(*args, **kwargs)
    if bound.check:
        statics = _native_statics(bound, statics)
    return _apply_linked(bound, arrays, statics)


def _apply_linked(bound: BoundOp, arrays: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Make the general call, and link a result that is a view to its source."""
    result = apply(bound, arrays, statics)
    return bound.linked(result, arrays, statics) if bound.rule.views else result


def bind_calls(bound: BoundOp, level: type[Call]) -> None:
    """Give a binding its written call at a level, and its general call."""
    bound.apply = functools.partial(apply_call, bound)
    bound.apply.__name__ = bound.name.rpartition(".")[2]  # type: ignore[attr-defined]  # a partial takes attributes
    bound.apply.__wrapped__ = bound.split  # type: ignore[attr-defined]  # for its signature
    bound.call = level(bound, _apply_linked).function() or bound.apply


def operator_call(
    bound: BoundOp, level: type[Call], *, swapped: bool, reflected: str = ""
) -> Callable[..., Any]:
    """Make the method of an operator.

    It declines, or leaves the call to arithmetic of another type, whose method is `reflected`.
    """
    rule = bound.rule
    is_foreign = bound.variable_class._is_foreign
    times = rule.symbol == "*"

    def apply_or_decline(bound: BoundOp, arrays: tuple[Any, ...], statics: tuple[Any, ...]) -> Any:
        if reflected and bound.backend.answers_itself(type_of(arrays[-1]), operators=True):
            return NotImplemented
        if len(arrays) > 1 and any(map(_is_weak, arrays)):
            arrays = tuple(a.beside(arrays) if _is_weak(a) else a for a in arrays)
        found = keeps_labels(arrays)
        if found is not None:
            return combined(found, lambda *given: _apply_linked(bound, given, statics), arrays)
        if any(is_foreign(array) for array in arrays):
            arrays = tuple(_as_operand(a) if is_foreign(a) else a for a in arrays)
        if any(array is None for array in arrays) or (times and _repeats(arrays)):
            return NotImplemented
        if reflected and len(arrays) == 2 and _has_operator(reflected, *arrays):
            return NotImplemented
        return _apply_linked(bound, arrays, statics)

    names = rule.arrays[::-1] if swapped else (*rule.arrays, *rule.statics)
    written = level(bound, apply_or_decline).function(", ".join(names))
    if written is not None:
        return written
    count = len(rule.arrays)

    def operate(*operands: Any) -> Any:
        arrays = operands[:count]
        return apply_or_decline(bound, arrays[::-1] if swapped else arrays, operands[count:])

    return operate


def _is_weak(value: Any) -> bool:
    """Tell if a value is a tracked number of Python, which takes the dtype of other operands."""
    return isinstance(value, AnyWrapper) and value._is_weak


number_types: list[type[Any]] = [Number]
"""Classes of numbers that are used as floats: fractions, and those that other packages enter."""


def converted(value: Any, *, is_operand: bool = True) -> Any:
    """Return what an object of an adapted package converts itself to, by `__array__`.

    As an operand, an object that answers ufuncs itself is left as it is.
    """
    kind = type_of(value)
    if getattr(kind, "is_of_variable", False):  # `x.flat`
        return value.copy()
    if not hasattr(kind, "__array__") or (is_operand and hasattr(kind, "__array_ufunc__")):
        return value
    if isinstance(value, AnyWrapper):
        return value
    return value.__array__() if is_differentiating() and find_backend(kind) is None else value


def taking_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that makes plain arrays of its arguments, such as tables.

    It gets the arrays that labelled objects hold. If another object gives a tracked array, NumPy
    raises a ValueError. Then it is called again, with the arrays.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if (labelled or holders) and is_differentiating():
            args, kwargs = opened(args, kwargs)
        try:
            return function(*args, **kwargs)
        except ValueError:
            if not is_differentiating():
                raise
            given = [converted(arg, is_operand=False) for arg in args]
            named = {name: converted(arg, is_operand=False) for name, arg in kwargs.items()}
            if all(map(operator.is_, (*given, *named.values()), (*args, *kwargs.values()))):
                raise
        return function(*given, **named)

    return call


def _as_operand(value: Any) -> Any:
    if type_of(value) is range:
        return [*value]
    found = converted(value)
    return as_number(value) if found is value else found


def as_number(value: Any) -> Any:
    """Return a number of another kind (`Fraction`, SymPy's) as a float, or None."""
    if not isinstance(value, tuple(number_types)) or hasattr(value, "__array_ufunc__"):
        return None
    try:
        return float(value)  # type: ignore[arg-type]  # what has no value raises an error
    except (TypeError, ValueError):
        return None


def floats_in(value: Any) -> Any:
    """Return exact numbers as floats, also those in lists; other values unchanged."""
    if isinstance(value, SEQUENCE) and type_of(value) in (list, tuple):
        parts = list(map(floats_in, value))
        is_same = all(map(operator.is_, parts, value))
        return value if is_same else type_of(value)(parts)
    if isinstance(value, (int, float, complex, AnyWrapper)):
        return value
    number = as_number(value)
    return value if number is None else number


def _repeats(operands: tuple[Any, ...]) -> bool:
    """Tell if operands are a list and a whole number, whose product repeats the list."""
    is_list = any(isinstance(one, SEQUENCE) for one in operands)
    return is_list and any(map(is_whole_number, operands))


def _has_operator(method: str, number: Any, other: Any) -> bool:
    """Tell if a number meets a list or tuple of a class with an operator of its own for that."""
    kind = type_of(other)
    if kind in SEQUENCE or not isinstance(other, SEQUENCE) or not is_scalar(number):
        return False
    inherited = [getattr(base, method, None) for base in SEQUENCE]
    return getattr(kind, method, None) not in inherited


def _native_statics(bound: BoundOp, statics: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return native values for the parameters of a user's function that have no formula."""
    rule = bound.rule
    for name, value in zip(rule.statics, statics, strict=True):
        if is_recorded(value):
            raise no_rule(rule.name, bound.backend.name, name, rule.parameters)
    return tuple(unwrapped_key(value) for value in statics)


def no_rule(op: str, backend: str, argument: str, parameters: Sequence[str]) -> NoRuleError:
    """Make the error for an operation that has no rule for a tracked argument."""
    formulas = ", ".join(
        f"lambda xp, g, {name}: ..." if name == argument else "None" for name in parameters
    )
    return NoRuleError(
        f"{op} on {backend} arrays has no derivative with respect to its argument {argument}, "
        f"which is tracked. Fix: gradwrap.defvjp({op}, {formulas}) gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )


def apply(bound: BoundOp, arrays: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Perform an operation on any mixture of wrapped and native arrays.

    It belongs to the highest level among the arguments; those of lower levels are data to it.
    """
    rule = bound.rule
    keys: list[Any] = []
    if rule.key is not None:
        at = rule.statics.index(rule.key)
        key = key_without_labels(arrays[0], statics[at]) if labelled else statics[at]
        statics = (*statics[:at], key_with_batches(key), *statics[at + 1 :])
        keys = [] if is_basic_key(statics[at]) else list(batched_parts(statics[at]))
    arrays = [
        bound.variable_class._stacked(array)
        if isinstance(array, SEQUENCE) and holds_wrapper(array)
        else array
        for array in arrays
    ]
    tables = tables_in(arrays) if labelled else {}
    if tables:
        arrays = unlabelled(arrays)
    arrays, taking = promoted(arrays)
    if taking is not None:
        bound = wrapper_class(bound.variable_class._kind, taking)._bind(bound.op)
    top, level = _top_of([*arrays, *keys])
    if top is not None:
        arrays = [stripped(array) for array in arrays]
        top, level = _top_of([*arrays, *keys])
    if top is not None and not _is_bound_for(bound, top, taking):
        bound = top._bind(bound.op)
    data: list[Any] = []
    nodes: list[Any] = []
    for array in arrays:
        node = getattr(array, "_node", None)
        if node is not None and node.meta.level == level:
            data.append(array._value)
            nodes.append(node)
        else:
            data.append(as_data(bound, array))
            nodes.append(None)
    _check_one_library(bound, data)
    if bound.jumps and nodes.count(None) < len(nodes) and (look := looks()) is not None:
        look(rule.jumps, *data)
    result = bound.variable_class._interpret(bound, level, data, nodes, statics)
    if tables:
        note_tables(result, tables, rule)
    return result


performs(apply, "operation", name_of_first)


def _is_bound_for(bound: BoundOp, top: Any, taking: Backend | None) -> bool:
    """Tell if a binding is for the kind of wrapper and the library of the highest level.

    The formulas of NumPy's operations compute with another library's cotangents where that has
    taken arrays in.
    """
    own: Any = bound.variable_class
    return taking is None and top._kind is own._kind and top._backend.name == own._backend.name


def interpret(  # noqa: PLR0913  all there is to a call
    bound: BoundOp,
    level: int,
    data: Sequence[Any],
    nodes: Sequence[Any],
    statics: tuple[Any, ...],
    derive: Callable[..., Any],
) -> Any:
    """Perform an operation; if an argument is tracked, `derive` adds the derivative."""
    is_silent = level <= silent_up_to()
    if bound.check and not is_silent:
        refuse_without_formula(bound, nodes)
    out = perform(bound, data, statics)
    bound = bound_for_result(bound, out)
    if is_silent or not bound.rule.differentiable:
        return untracked(bound, out)
    return derive(bound, level, data, nodes, statics, out)


def perform(bound: BoundOp, data: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Perform an operation on native arrays, or on wrappers of lower levels, which record it."""
    wrapper = next((item for item in data if isinstance(item, AnyWrapper)), None)
    if wrapper is None and bound.rule.key is not None:
        wrapper = next(batched_parts(statics), None)
    function = bound.native if wrapper is None else type_of(wrapper)._bind(bound.op).call
    arguments = (data, *statics) if bound.rule.variadic else (*data, *statics)
    return bound.forward(function, *arguments)


def bound_for_result(bound: BoundOp, out: Any) -> BoundOp:
    """Return the binding whose class wraps a result of this type."""
    first = out[0] if isinstance(out, SEQUENCE) and out else out
    if not isinstance(first, AnyWrapper):
        return bound
    return bound.variable_class._class_holding(type(first))._bind(bound.op)  # type: ignore[no-any-return]  # a class is Any here


def namespace_of(bound: BoundOp, arrays: Sequence[Any]) -> Any:
    """Return the namespace for all of the arrays: the deepest wrapper's, or the library's."""
    deepest: Any = None
    for array in arrays:
        kind = type_of(array)
        if isinstance(array, AnyWrapper) and (
            deepest is None or kind._backend.depth > deepest._backend.depth
        ):
            deepest = kind
    if deepest is not None:
        return deepest._namespace
    return bound.namespaces[next(iter(bound.backend.native_types))]


def refuse_without_formula(bound: BoundOp, nodes: Sequence[Node | Leaf | None]) -> None:
    """Refuse a tracked argument without a formula, before the function is called."""
    rule = bound.rule
    for index, node in enumerate(nodes):
        if node is not None and rule.lacks(0 if rule.variadic else index):
            raise no_rule(rule.name, bound.backend.name, rule.arrays[index], rule.arrays)


def _top_of(arrays: Sequence[Any]) -> tuple[Any, int]:
    """Return the class and the level of the tracked argument with the highest level."""
    top, level = None, UNTRACKED
    for array in arrays:
        node = getattr(array, "_node", None)
        if node is not None and node.meta.level > level:
            top, level = type_of(array), node.meta.level
    return top, level


def as_data(bound: BoundOp, array: Any) -> Any:
    """Return the data of an argument that is not tracked at this level."""
    kind = type_of(array)
    if isinstance(array, AnyWrapper):
        return snapshot(stripped(array))
    if kind in bound.backend.plain_types or bound.backend.is_array(array):
        return array
    if isinstance(array, NUMBERED) and not bound.check:
        return bound.backend.asarray(array)
    if hasattr(kind, "__array_namespace__"):
        backend_of(array)  # so that its library is known
        return array
    if find_backend(kind) is not None or bound.check:  # a user's function may take any object
        return array
    # an instance of a subclass of Python's numbers, or of another class of numbers
    number = next((base(array) for base in kind.__mro__ if base in PYTHON_SCALARS), None)
    if number is None:
        number = as_number(array)
    if number is not None:
        return number
    raise NotAnArrayError(
        f"{bound.name} got a {kind.__name__} among {bound.backend.name} arrays. "
        f"Fix: pass {bound.backend.name} arrays or Python numbers."
    )


def _check_one_library(bound: BoundOp, data: Sequence[Any]) -> None:
    if len(data) == 1 or {type(item) for item in data} <= bound.backend.plain_types:
        return
    bridges: dict[str, str] = {}
    for item in data:
        backend = find_backend(type_of(item))
        if backend is not None and getattr(item, "ndim", 0) is not None:
            bridges[backend.name] = backend.bridge
    if len(bridges) > 1:
        bridge = "".join(f"; or call a function of it by {b}(f)" for b in bridges.values() if b)
        raise MixedLibrariesError(
            f"{bound.name} got arrays of {' and '.join(sorted(bridges))}. "
            "Fix: convert them to one library before the call, "
            f"for example with xp.asarray(numpy_array){bridge}."
        )


def untracked(bound: BoundOp, out: Any) -> Any:
    """Wrap results that are not tracked."""
    if isinstance(out, SEQUENCE):
        wrapped = [untracked(bound, part) for part in out]
        return rebuilt(out, wrapped)
    return bound.variable_class._plain(out)
