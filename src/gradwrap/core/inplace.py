"""Writing to a variable: copy on write, and views that stay views.

A write makes a new array and a new node, and puts both into the variable, so nothing that a
formula has saved changes, and neither does the user's array. Where the variable holds the only
reference to its buffer (an array made by `zeros` and filled in a loop), the write goes into the
buffer itself.

NumPy code expects a view to see what is written to its base, and the base what is written
through the view. A variable that is a view of another one remembers how it was taken. Writing
through it writes to the base; writing to the base takes its living views again.
"""

from __future__ import annotations

import weakref
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from gradwrap.core.modes import TAPE_LEVEL, silent_up_to
from gradwrap.core.node import Leaf
from gradwrap.core.record import apply, record_in_place
from gradwrap.core.registry import find_op
from gradwrap.core.unwrapping import native, unwrapped_key
from gradwrap.errors import InPlaceError

if TYPE_CHECKING:
    from gradwrap.core.record import BoundOp

__all__ = ["link", "native", "operate", "set_item", "unwrapped_key"]

PERMUTATION = "permutation"
INDEX = "index"
_PRUNE_FROM = 32


# Views ------------------------------------------------------------------------------------------


def link(cls: Any, result: Any, source: Any, bound: BoundOp, statics: tuple[Any, ...]) -> Any:
    """Remember that `result` is a view of `source`, if it is one."""
    if (
        type(result) is cls
        and type(source) is cls
        and cls._backend.may_be_view(result._data, source._data)
    ):
        result._view = (source, bound.op, statics)
        views = getattr(source, "_views", None)
        if views is None:
            views = source._views = []
        elif len(views) >= _PRUNE_FROM and not len(views) & (len(views) - 1):
            views[:] = [view for view in views if view() is not None]
        views.append(weakref.ref(result))
    return result


def _refresh_views(variable: Any) -> None:
    """Take the living views of a variable again, after it was written to."""
    for reference in getattr(variable, "_views", None) or ():
        view = reference()
        if view is None:
            continue
        _, op, statics = view._view
        again = apply(type(variable)._bind(op), [variable], statics)
        view._data, view._node = again._data, again._node
        _refresh_views(view)


def _put_into_base(view: Any, value: Any) -> None:
    """Write a whole new value of a view to the array it is a view of."""
    base, op, statics = view._view
    rule = op.rule_for(base._backend.name)
    if rule.views == INDEX:
        set_item(base, statics[0], value)
        return
    if rule.views != PERMUTATION:
        raise InPlaceError(
            f"Writing to the result of {op.name}, which is a view of another array. "
            "Fix: write to that array, or to a .copy() of the view."
        )
    # the transpose of a permutation of elements is its inverse
    formula = rule.formulas[0]
    words = {"x_meta": base._backend.meta(base._data, TAPE_LEVEL), "out": value}
    words.update(zip(rule.statics, statics, strict=True))
    saved = [words[name] for name in formula.saved]
    _assign(base, formula.function(base._namespace, value, *saved))


# Writing ----------------------------------------------------------------------------------------


def _assign(variable: Any, value: Any) -> None:
    """Let a variable hold a new value from now on."""
    if getattr(variable, "_view", None) is not None:
        _put_into_base(variable, value)
        return
    variable._data, variable._node = value._data, _node_after(variable, value)
    _refresh_views(variable)


def _node_after(variable: Any, value: Any) -> Any:
    """A write that is not recorded leaves the variable where it is in the graph."""
    old = variable._node
    if old is not None and value._node is None and old.meta.level <= silent_up_to():
        return old
    return value._node


def _check_writable(variable: Any) -> None:
    node = variable._node
    if type(node) is Leaf and node.meta.level == TAPE_LEVEL and silent_up_to() < TAPE_LEVEL:
        raise InPlaceError(
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "Fix: put `with gradwrap.no_grad():` around an update of a parameter, "
            "or write to x.clone()."
        )


def set_item(variable: Any, key: Any, value: Any) -> None:
    """`variable[key] = value`, recorded."""
    _check_writable(_root(variable))
    cls = type(variable)
    key = unwrapped_key(key)
    if isinstance(value, (list, tuple)):
        value = cls._stacked(value)
    level = _highest_level(variable, value)
    if level <= silent_up_to() and _owns_buffer(variable):
        variable._data[key] = native(value)
        _refresh_views(variable)
        return
    op = find_op("setitem")
    assert op is not None
    if _owns_buffer(variable) and _simple(variable, value):
        # the copy that the operation would make is not needed: nothing else sees the buffer
        written = record_in_place(cls._bind(op), variable, value, key)
    else:
        written = cls._bind(op).apply(variable, value, key)
    _assign(variable, written)


def operate(variable: Any, op_name: str, other: Any) -> Any:
    """`variable op= other`, recorded."""
    _check_writable(_root(variable))
    cls = type(variable)
    silent = _highest_level(variable, other) <= silent_up_to()
    op = find_op(op_name)
    assert op is not None
    result = cls._bind(op).call(variable, other)
    if result.shape != variable.shape:
        raise InPlaceError(
            f"{op_name} in place: the result has shape {result.shape}, "
            f"the array has {variable.shape}. Fix: write x = x ... to get a new array."
        )
    if result.dtype != variable.dtype:
        if not _can_hold(cls, variable, result):
            raise InPlaceError(
                f"{op_name} in place: the result has dtype {result.dtype}, the array has "
                f"{variable.dtype}. Fix: write x = x ... to get a new array."
            )
        result = result.astype(variable.dtype)
    if silent and _owns_buffer(variable):
        variable._data[...] = native(result)
        _refresh_views(variable)
    else:
        _assign(variable, result)
    return variable


def _can_hold(cls: Any, variable: Any, result: Any) -> bool:
    kind = cls._backend.dtype_kind
    into, of = kind(variable.dtype), kind(result.dtype)
    return into[0] and of[0] and (into[1] or not of[1])


def _root(variable: Any) -> Any:
    """The array whose buffer a chain of views leads to."""
    while getattr(variable, "_view", None) is not None:
        variable = variable._view[0]
    return variable


def _highest_level(*values: Any) -> int:
    levels = [v._node.meta.level for v in values if getattr(v, "_node", None) is not None]
    return max(levels, default=-2)


def _simple(variable: Any, value: Any) -> bool:
    """Whether the value is data of the same depth, or tracked at the variable's own level."""
    if not hasattr(type(value), "_bind"):
        return variable._backend.is_array(value) or isinstance(value, (bool, int, float, complex))
    if type(value) is not type(variable):
        return False
    nodes = (variable._node, value._node)
    return nodes[0] is None or nodes[1] is None or nodes[0].meta.level == nodes[1].meta.level


class _Holder:
    __slots__ = ("_data",)

    def __init__(self, data: Any) -> None:
        self._data = data


def _references(variable: Any) -> int:
    return getrefcount(variable._data)


_OWN_REFERENCES = _references(_Holder([]))


def _owns_buffer(variable: Any) -> bool:
    """Whether a variable holds the one reference to its array, and the array all of its buffer."""
    if _references(variable) > _OWN_REFERENCES:
        return False
    return bool(variable._backend.owns_buffer(variable._data)) and (
        getattr(variable, "_view", None) is None
    )
