"""Writing to a variable: copy on write, and views that stay views.

A write makes a new array and a new node, and puts both into the variable, so nothing that a
formula has saved changes, and neither does the user's array. Where only the variable and its own
views refer to its buffer (an array made by `zeros` and filled in a loop), the write goes into the
buffer itself.

A view and its base share their storage, as in NumPy (`views`): writing through a view writes to its
base. A write keeps the memory order of the array, as in NumPy.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.array.writing.loans import root_of, write_to_lent
from gradwrap.core.array.writing.outdated import outdate_views, positions
from gradwrap.core.array.writing.ownership import owns_buffer
from gradwrap.core.array.writing.views import BROADCAST, IMAG, INDEX, PERMUTATION, REAL, view_of
from gradwrap.core.array.writing.write_call import Write, is_current_part, is_own_part, update_call
from gradwrap.core.array.writing.write_through import write_through
from gradwrap.core.calls.general import converted, floats_in
from gradwrap.core.calls.record import record_in_place
from gradwrap.core.graph.node import Leaf, Node, make_node
from gradwrap.core.levels.levels import TAPE_LEVEL, silent_up_to, threshold_of_calls
from gradwrap.core.levels.memory import lay_out
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    highest_level,
    holds_batch,
    innermost,
    is_batch,
    is_scalar,
    key_with_batches,
    layers,
    level_of,
    make_wrapper,
    native,
)
from gradwrap.core.library.backend import find_backend
from gradwrap.core.library.labelled import array_held, holders
from gradwrap.core.observing.hooks import follow
from gradwrap.core.observing.performing import performs
from gradwrap.core.table.registry import find_op, op_of_symbol
from gradwrap.core.table.rule import passes
from gradwrap.core.values.dynamic import SEQUENCE, type_of
from gradwrap.errors import InPlaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.calls.bound import BoundOp

V = TypeVar("V", bound=Any)

BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}
"""Python's word in the methods of a symbol: `__add__`, `__radd__`, `__iadd__`."""
OPERATOR = {symbol: f"__{word}__" for symbol, word in BINARY.items()}


def _hold(variable: Any, value: Any, *, recorded: bool) -> None:
    """Give a variable a new value, and mark its views as outdated.

    A write that is not recorded leaves the variable where it is in the graph.
    """
    if write_to_lent(variable, value, recorded=recorded):
        return
    lay_out(value, variable)
    variable._value = value._value
    if recorded:
        before = variable._node
        variable.__class__, variable._node = type(value), _node_of_write(variable, value)
        follow(variable, before)
    variable._is_array = True
    outdate_views(variable, recorded=recorded)


def _node_of_write(variable: Any, value: Any) -> Any:
    """Return a new node for a written value: `x += 1` changes values but no derivative."""
    node = value._node
    if node is not variable._node or not isinstance(node, (Leaf, Node)):
        return node
    op = find_op("copy")
    assert op is not None
    return make_node(Node, node, passes, (), 0, node.meta, type_of(variable)._bind(op))


def _put_into_base(view: Any, value: Any, *, recorded: bool) -> None:
    """Write the new value of a whole view into the array that it is a view of."""
    how = view._view
    base, statics = how.source, how.statics
    rule = how.op.rule_for(view._backend.name)
    if rule.views == INDEX:
        base[statics[0]] = value
    elif rule.views == IMAG and not base._backend.dtype_kind(base.dtype)[1]:
        raise InPlaceError(
            "assignment destination is read-only, as in NumPy: real numbers have no imaginary "
            "part to write to. Fix: x = x + 1j * v, or make the array with dtype=complex."
        )
    elif rule.views == REAL and not base._backend.dtype_kind(base.dtype)[1]:
        set_item(base, ..., value)
    elif rule.views in (REAL, IMAG):
        op = find_op(f"with_{rule.views}")
        assert op is not None
        _assign(base, type_of(base)._bind(op).apply(base, value), recorded=recorded)
    elif rule.views == PERMUTATION:
        # the transpose of a permutation of elements is its inverse
        formula = rule.formulas[0]
        node = base._node
        meta = base._backend.meta(base._value, TAPE_LEVEL) if node is None else node.meta
        words = {"x_meta": meta, "out": value}
        words.update(zip(rule.statics, statics, strict=True))
        saved = [words[name] for name in formula.saved]
        set_item(base, ..., formula.function(base._namespace, value, *saved))
    else:
        *_, lowest = layers(view)
        if rule.views == BROADCAST or not lowest._backend.is_writeable(lowest._value):
            raise InPlaceError(
                f"Writing to the result of {how.op.name}, which is a view of another array, and "
                "read-only. Fix: write to that array, or to a .copy() of the view; if it is of a "
                "table of pandas, write to the table by .loc or .iloc."
            )
        set_item(base, positions(base, how), value)


# Writing ----------------------------------------------------------------------------------------


def _assign(variable: Any, value: Any, *, recorded: bool) -> None:
    """Write a whole new value to a variable, or to the array it is a view of."""
    put = _hold if view_of(variable) is None else _put_into_base
    put(variable, value, recorded=recorded)


def replace_data(variable: Any, array: Any) -> None:
    """Give a variable another native array; its node in the graph stays the same."""
    variable._value = array
    _hold(variable, variable, recorded=False)


def _check_writable(variable: Any) -> None:
    if _is_tape_leaf(variable) and silent_up_to() < TAPE_LEVEL:
        raise InPlaceError(
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "Fix: put `with gradwrap.no_grad():` around an update of a parameter, "
            "or write to x.clone()."
        )


def _check_not_read_only(variable: Any) -> None:
    """Refuse to write to a read-only array, such as a broadcast number."""
    if is_batch(variable) or view_of(variable) is not None:
        return  # the first is a copy, and the base of the second says
    *_, lowest = layers(variable)
    if not is_batch(lowest) and not lowest._backend.is_writeable(lowest._value):
        raise InPlaceError(
            "assignment destination is read-only, as in NumPy: its elements share their memory, or "
            "its owner has said so, as a table of pandas does. Fix: write to a .copy(), or to the "
            "table by .loc or .iloc."
        )


def write_call(bound: BoundOp) -> Callable[..., Any] | None:
    """Return the written call of `x[key] = value`, or None if no write takes the usual way."""

    def elsewhere(_: BoundOp, arrays: tuple[Any, ...], statics: tuple[Any, ...]) -> None:
        set_item(arrays[0], statics[0], arrays[1])

    rule = bound.rule
    x, value = rule.arrays
    return Write(bound, elsewhere).function(f"{x}, {rule.key}, {value}")


def in_place_call(cls: Any, symbol: str) -> Callable[..., Any]:
    """Make the method of an operator in place, such as `+=`, for a class."""
    update = None
    combined = getattr(operator, OPERATOR[symbol])
    is_writeable = cls._backend.is_writeable
    quick = (cls, int, float) if not cls._backend.depth else ()
    if cls._writes_in_place and cls._backend.keeps_base and quick:
        setitem = find_op("setitem")
        assert setitem is not None
        update = update_call(cls._bind(setitem), symbol, cls._bind(op_of_symbol(symbol, 2)).rule)

    def change(variable: Any, other: Any, /) -> Any:
        how = variable._view
        if (
            how is not None
            and update is not None
            and is_current_part(variable)
            and update(how.source, how.statics[0], other)
        ):
            return variable
        if how is None and type_of(variable._node) is Node and type_of(other) in quick:
            value = variable._value
            if not hasattr(type_of(value), "__setitem__") and not value.shape:
                return combined(variable, other)  # a number of the library cannot change
            if variable._node.meta.level > threshold_of_calls() and is_writeable(value):
                return _with_result(variable, symbol, combined(variable, other))
        return operate(variable, symbol, other)

    return change


def _stored(variable: Any, value: Any) -> Any:
    """Return the array of an object that is stored; of an instance in adapted code, its values."""
    kind = type_of(value)
    if not hasattr(kind, "_stands_for"):
        for base in kind.__mro__:
            variable._backend.check_converting(f"{base.__module__}.{base.__name__}")
    return converted(array_held(value) if holders else value, is_operand=False)


def set_item(variable: Any, key: Any, value: Any) -> None:
    """Record `variable[key] = value`."""
    if is_own_part(variable, key, value):
        return
    _check_writable(root_of(variable))
    _check_not_read_only(variable)
    if is_scalar(variable):
        raise InPlaceError(
            f"a {type_of(innermost(variable)).__name__} without axes is a number, which cannot be "
            "written to, as in NumPy. Fix: x = np.where(condition, value, x) makes a new one."
        )
    key = key_with_batches(key)
    if isinstance(value, SEQUENCE):
        value = type_of(variable)._stacked(floats_in(array_held(value) if holders else value))
    elif find_backend(type_of(value)) is None:
        value = _stored(variable, value)
    level = highest_level([variable, value])
    op = find_op("setitem")
    assert op is not None
    is_mapped = holds_batch(variable) or holds_batch(value) or holds_batch(key)
    if level <= silent_up_to() and not is_mapped:
        if owns_buffer(variable):
            variable._backend.write(variable._value, key, native(value))
            _hold(variable, variable, recorded=False)
        else:
            changed = type_of(variable)._bind(op).apply(variable, value, key)
            _assign(variable, changed, recorded=False)
        return
    _check_can_hold(variable, value)
    if write_through(variable, key, value):
        return
    if not is_mapped and owns_buffer(variable) and _is_reverse(level, variable, value):
        # the copy that the operation would make is not needed: nothing else sees the buffer
        _nest(variable, value, level)
        bound = type_of(variable)._bind(op)
        node = record_in_place(bound, variable, value, key, level)
        _hold(variable, make_wrapper(type_of(variable), variable._value, node), recorded=True)
    else:
        _assign(variable, type_of(variable)._bind(op).apply(variable, value, key), recorded=True)


performs(set_item, "operation", "setitem")


def operate(variable: V, symbol: str, other: Any) -> V:
    """Record `variable += other` or another operator in place."""
    cls = type(variable)
    if is_scalar(variable) and not _is_tape_leaf(variable):
        changed: V = getattr(operator, OPERATOR[symbol])(variable, other)
        return changed  # a NumPy scalar cannot change
    if cls._backend.answers_itself(type(other), operators=True):
        other = cls._backend.asarray(other)  # in place, its own arithmetic is not asked
    if type(other) is not cls and cls._is_foreign(other):
        return NotImplemented  # type: ignore[no-any-return]  # Python asks the other operand
    _check_writable(root_of(variable))
    _check_not_read_only(variable)
    if isinstance(other, SEQUENCE):
        other = cls._stacked(other)
    if not _is_recorded(variable) and not _is_recorded(other):
        _operate_silently(variable, symbol, other)
        return variable
    return _with_result(variable, symbol, getattr(cls, OPERATOR[symbol])(variable, other))


def _with_result(variable: V, symbol: str, result: Any) -> V:
    """Write the result of an operator to its first operand."""
    if result.shape != variable.shape:
        raise _does_not_fit(symbol, f"shape {result.shape}", variable.shape)
    if result.dtype != variable.dtype:
        if not _can_hold(variable, result.dtype):
            raise _does_not_fit(symbol, f"dtype {result.dtype}", variable.dtype)
        result = result.astype(variable.dtype)
    _assign(variable, result, recorded=True)
    return variable


def _is_recorded(value: Any) -> bool:
    """Tell if a value is mapped over by `vmap`, or is tracked by a transform that records."""
    return level_of(value) > silent_up_to() or holds_batch(value)


def _does_not_fit(symbol: str, result: str, of_array: Any) -> InPlaceError:
    return InPlaceError(
        f"{op_of_symbol(symbol, 2).name} in place: the result has {result}, the array has "
        f"{of_array}. Fix: write x = x ... to get a new array."
    )


def _operate_silently(variable: Any, symbol: str, other: Any) -> None:
    """Change only the values, by the library's own operator."""
    change = getattr(operator, f"__i{BINARY[symbol]}__")
    *outer, lowest = layers(variable)
    backend = lowest._backend
    if outer:
        variable[...] = change(backend.copy(lowest._value), native(other))
    elif owns_buffer(variable) or not hasattr(type_of(variable._value), "__setitem__"):
        replace_data(variable, change(variable._value, native(other)))
    else:
        changed = change(backend.copy(variable._value), native(other))
        _assign(variable, make_wrapper(type_of(variable), changed), recorded=False)


def _is_tape_leaf(variable: Any) -> bool:
    node = variable._node
    return type(node) is Leaf and node.meta.level == TAPE_LEVEL


def _can_hold(variable: Any, dtype: Any) -> bool:
    kind = variable._backend.dtype_kind
    into, of = kind(variable.dtype), kind(dtype)
    return into[0] and of[0] and (into[1] or not of[1])


def _check_can_hold(variable: Any, value: Any) -> None:
    """Refuse to record a write if the dtype would drop part of the gradient."""
    if getattr(value, "_node", None) is None:
        return
    dtype = value.dtype
    if not variable._backend.dtype_kind(dtype)[0]:
        return  # integers that vmap maps over
    if not _can_hold(variable, dtype):
        raise InPlaceError(
            f"a tracked value of dtype {dtype} was written to an array of dtype "
            f"{variable.dtype}, which cannot hold it, so its gradient would be lost. "
            f"Fix: make the array with dtype={dtype}."
        )


def _is_reverse(level: int, *values: Any) -> bool:
    """Tell if the values at a level are those of a transform that records nodes."""
    return all(type_of(v)._writes_in_place for v in values if level_of(v) == level)


# Buffers ----------------------------------------------------------------------------------------


def _nest(variable: Any, value: Any, level: int) -> None:
    """Wrap a variable's data as often as a write at this level needs.

    What a transform inside another one writes is recorded by both: the inner one's variable
    holds a variable of the outer one, and that one the array. The outer one may be in forward mode:
    then the variable is of another kind from now on.
    """
    node, kind = variable._node, type_of(variable)
    if level_of(variable) < level:
        kind = kind._sibling(type_of(value)._kind)
    if node is not None and node.meta.level < level:
        inner = make_wrapper(type_of(variable), variable._value, node)
        kind = kind._class_holding(type(inner))
        variable._value, variable._node = inner, None
    variable.__class__ = kind
    mine = getattr(value, "_node", None)
    if isinstance(value, AnyWrapper) and (mine is None or mine.meta.level == level):
        value = value._value
    depth = type_of(value)._backend.depth + 1 if isinstance(value, AnyWrapper) else 0
    while variable._backend.depth < depth:
        inner = make_wrapper(type_of(variable), variable._value)
        variable.__class__ = type_of(variable)._class_holding(type(inner))
        variable._value = inner
