"""The base class of all wrappers, and functions that walk through nested wrappers.

A wrapper holds an array (`_value`) and its place in a transform (`_node`): a node of the recorded
graph, a tangent, or a batch. `_node` is None where the wrapper tracks nothing. A transform inside
another one wraps wrappers, so the data of a wrapper may be a wrapper of a lower level.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gradwrap.core.levels.levels import silent_up_to
from gradwrap.core.values.dynamic import (
    DICT,
    IMMUTABLE,
    SEQUENCE,
    SLICE,
    TUPLE,
    is_immutable,
    rebuilt,
    type_of,
)
from gradwrap.errors import BatchedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gradwrap.typing.arguments import HasDevice, HasDType, Holds

D = TypeVar("D")

CONTAINERS = (*SEQUENCE, DICT, SLICE)
UNTRACKED = -2
"""The level of a value that no transform tracks."""


class Wrapper:
    """A native array, or another wrapper, with its node in a transform.

    `Variable`, `Dual` and `Batched` derive from it, and one class for each array library from
    each of these.
    """

    __slots__ = ("__weakref__", "_grad", "_is_array", "_leaf", "_node", "_value", "_view", "_views")

    _value: Any
    _node: Any
    _view: Any
    _views: Any
    _is_array: bool
    _backend: Any = None
    _is_batched = False
    _is_weak = False
    _home = "gradwrap"  # the module that the classes for each library belong to

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._value.shape  # type: ignore[no-any-return]  # Any: a native array

    @property
    def dtype(self: Holds[HasDType[D]]) -> D:
        """The dtype of the native array."""
        return self._value.dtype  # type: ignore[no-any-return]  # Any: a native array

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._value.shape)

    @property
    def device(self: Holds[HasDevice[D]]) -> D:
        """The device of the native array."""
        return self._backend.device(self._value)  # type: ignore[no-any-return]  # Any: a native array

    def _snapshot(self) -> Any:
        """Return a wrapper of the present value, which later writes do not change."""
        return make_wrapper(type_of(self), self._value, self._node)


W = TypeVar("W", bound=Wrapper)


def make_wrapper(kind: type[W], data: Any, node: Any = None) -> W:
    """Make a wrapper and set its fields; calling an `__init__` would take longer."""
    made = kind()
    fields: Any = made
    fields._value = data
    fields._node = node
    fields._view = fields._views = None
    fields._is_array = False
    return made


AnyWrapper: Final[type[Any]] = Wrapper
"""`Wrapper` to `isinstance` in the library, which works with what its type keeps to itself."""


# One value ----------------------------------------------------------------------------------------


def level_of(value: Any) -> int:
    """Return the level of the outermost wrapper, or `UNTRACKED` if nothing tracks the value."""
    node = value._node if isinstance(value, AnyWrapper) else None
    return UNTRACKED if node is None else int(node.meta.level)


def is_at(value: Any, level: int) -> bool:
    """Tell if the outermost wrapper of a value is tracked by the transform of this level."""
    node = value._node if isinstance(value, AnyWrapper) else None
    return node is not None and node.meta.level == level


def layers(value: Any) -> Iterator[Any]:
    """Yield the wrappers around an array, from the outermost to the innermost."""
    while isinstance(value, AnyWrapper):
        yield value
        value = value._value


def is_batch(layer: Any) -> bool:
    """Tell if `vmap` maps over this wrapper; it also wraps values that all examples share."""
    return layer._is_batched and layer._node is not None


def has_effect(layer: Any) -> bool:
    """Tell if a wrapper is mapped over, or is tracked by a transform that is recording."""
    node = layer._node
    return node is not None and (layer._is_batched or node.meta.level > silent_up_to())


def strip(value: Any, drops: Callable[[Any], bool]) -> Any:
    """Take off the outer wrappers for which `drops(wrapper)` is true."""
    while isinstance(value, AnyWrapper) and drops(value):
        value = value._value
    return value


def stripped(value: Any) -> Any:
    """Take off the outer wrappers that track nothing, which nested transforms leave behind."""
    while isinstance(value, AnyWrapper) and value._node is None:
        value = value._value
    return value


def innermost(value: Any) -> Any:
    """Return the array below all wrappers, batches included, to read its type or dtype."""
    while isinstance(value, AnyWrapper):
        value = value._value
    return value


def native(value: Any) -> Any:
    """Return the native array below all wrappers.

    Raises
    ------
    BatchedValueError
        `vmap` maps over the value, so it is one array for each example.
    """
    while isinstance(value, AnyWrapper):
        if is_batch(value):
            raise BatchedValueError(
                "the values of an array that vmap maps over are needed here, to decide something "
                "that may differ from example to example. "
                'Fix: xp.where chooses for each example; or vmap(..., fallback="loop").'
            )
        value = value._value
    return value


def is_scalar(wrapper: Any) -> bool:
    """Tell if a value is a scalar of its library, which has no views and is read-only.

    The examples of a batch are, unless they came to be as views, or were written to before.
    """
    if wrapper.shape:
        return False
    if any(map(is_batch, layers(wrapper))):
        return wrapper._view is None and not wrapper._is_array
    return not hasattr(type_of(innermost(wrapper)), "__setitem__")


def is_whole_number(value: Any) -> bool:
    """Tell if a value wraps a NumPy integer or bool, which Python accepts as an integer."""
    is_whole = isinstance(value, AnyWrapper) and getattr(value.dtype, "kind", "") in ("i", "u", "b")
    return is_whole and is_scalar(value)


def snapshot(value: Any) -> Any:
    """Return a wrapper of the present value, safe from later writes; other values unchanged."""
    return value._snapshot() if isinstance(value, AnyWrapper) else value


def has_changed(wrapper: Any, since: Any) -> bool:
    """Tell if something was written to a wrapper since its snapshot was taken."""
    return wrapper._value is not since._value or wrapper._node is not since._node


# Values in containers -----------------------------------------------------------------------------


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the items of nested lists, tuples, dictionaries and slices."""
    if isinstance(value, SEQUENCE):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, DICT):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, SLICE):
        yield from (value.start, value.stop, value.step)
    else:
        yield value


def _with_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Rebuild nested containers with `change` applied to each item; slices get integers."""
    if isinstance(value, SEQUENCE):
        return rebuilt(value, [_with_leaves(part, change) for part in value])
    if isinstance(value, DICT):
        return {key: _with_leaves(part, change) for key, part in value.items()}
    if isinstance(value, SLICE):
        parts = [change(part) for part in (value.start, value.stop, value.step)]
        return slice(*(None if part is None else int(part) for part in parts))
    return change(value)


def holds_wrapper(value: Any) -> bool:
    """Tell if a wrapper is somewhere in nested lists and tuples."""
    if isinstance(value, SEQUENCE):
        return any(holds_wrapper(part) for part in value)
    return isinstance(value, AnyWrapper)


def highest_level(values: Iterable[Any]) -> int:
    """Return the highest level of the wrappers in containers, or `UNTRACKED`."""
    highest = UNTRACKED
    for value in values:
        if not isinstance(value, AnyWrapper) and isinstance(value, CONTAINERS):
            highest = max((highest, *map(level_of, _leaves(value))))
        else:
            highest = max(highest, level_of(value))
    return highest


def is_recorded(value: Any) -> bool:
    """Tell if a value holds a wrapper that is mapped over, or whose operations are recorded."""
    if isinstance(value, AnyWrapper):
        for layer in layers(value):
            node = layer._node
            if node is not None and (layer._is_batched or node.meta.level > silent_up_to()):
                return True
        return False
    if isinstance(value, CONTAINERS):
        return any(map(is_recorded, _leaves(value)))
    return False


def is_derived(value: Any) -> bool:
    """Tell if a value holds a wrapper that a recording transform differentiates."""
    for leaf in _leaves(value):
        for layer in layers(leaf):
            if not layer._is_batched and has_effect(layer):
                return True
    return False


# Arrays that `vmap` maps over ---------------------------------------------------------------------


def batched_parts(value: Any, level: int | None = None) -> Iterator[Any]:
    """Yield the arrays in a value that `vmap` maps over, at all levels or at one."""
    for leaf in _leaves(value):
        for layer in layers(leaf):
            if is_batch(layer) and level in (None, layer._node.meta.level):
                yield layer
                break


def holds_batch(value: Any) -> bool:
    """Tell if a value holds an array that `vmap` maps over."""
    if isinstance(value, AnyWrapper) and not value._backend.depth:
        return is_batch(value)
    if is_immutable(value):  # slices hold no batches: `key_with_batches` refuses them
        return False
    return any(True for _ in batched_parts(value))


def data_of(wrapper: Any) -> Any:
    """Return the data of a wrapper; for a batch, all examples with the batch axis first."""
    return wrapper._value


def example(value: Any, level: int, index: int) -> Any:
    """Return one example of the arrays in a value that the `vmap` of this level maps over."""

    def one(leaf: Any) -> Any:
        layer = stripped(leaf)
        is_mapped = isinstance(layer, AnyWrapper) and layer._is_batched and is_at(layer, level)
        return layer._value[index] if is_mapped else leaf

    return _with_leaves(value, one)


# Keys ---------------------------------------------------------------------------------------------


def unwrapped_key(key: Any) -> Any:
    """Return an index with the data of its wrapped arrays."""
    kind: Any = type_of(key)
    if (kind is TUPLE or kind is SLICE) and is_simple_key(key if kind is TUPLE else (key,)):
        return key
    if kind is SLICE:
        return _with_leaves(key, native)
    if isinstance(key, AnyWrapper):
        return native(key)
    if isinstance(key, SEQUENCE):
        return rebuilt(key, [unwrapped_key(part) for part in key])
    return key


def is_simple_key(key: tuple[Any, ...]) -> bool:
    """Tell if a key consists of integers and of slices between integers."""
    for part in key:
        if type_of(part) is SLICE:
            if (
                type_of(part.start) not in IMMUTABLE
                or type_of(part.stop) not in IMMUTABLE
                or type_of(part.step) not in IMMUTABLE
            ):
                return False
        elif type_of(part) not in IMMUTABLE:
            return False
    return True


def unwrapped_index(key: Any) -> Any:
    """Return an index without wrappers; refuse floats with a remedy, which NumPy lacks."""
    plain = unwrapped_key(key)
    for part in key if isinstance(key, TUPLE) else (key,):
        if isinstance(part, AnyWrapper) and part._backend.is_float(native(part)):
            raise IndexError(
                f"an index must be whole numbers or bools, and this one has dtype {part.dtype}. "
                "Fix: x[int(i.item())] for one index, x[i.astype(int)] for an array of them: no "
                "gradient passes through an index."
            )
    return plain


def key_with_batches(key: Any, unwrap: Callable[[Any], Any] = unwrapped_index) -> Any:
    """Return an index without wrappers, except for arrays that `vmap` maps over."""
    try:
        return unwrap(key)
    except BatchedValueError:
        pass
    if isinstance(key, SEQUENCE):
        return type(key)(key_with_batches(part, unwrap) for part in key)
    if isinstance(key, SLICE):
        raise BatchedValueError(
            "a slice from or to an index that vmap maps over: how many elements it selects may "
            "differ from example to example. Fix: x[start + xp.arange(length)]."
        )
    return strip(key, lambda layer: not is_batch(layer))
