"""State that adapted functions keep between calls: restored if it holds a tracked value."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.later import written
from gradwrap.adaptation.places import ABSENT, Given
from gradwrap.adaptation.steps import STORE_GLOBAL, STORE_SUBSCR, kinds_of, named_steps_of
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.observing.results import are_equal, parts_of
from gradwrap.core.values.dynamic import DICT, LIST, attributes_of, type_of
from gradwrap.core.values.tree import flatten, map_leaves
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradwrap.adaptation.places import Namespace
    from gradwrap.core.array.keys import Cache


Written = tuple[dict[Any, Any] | list[Any], frozenset[str] | None]
"""A dictionary or list, or a namespace and some of its names."""


class Kept:
    """The state that a module's functions keep between calls: names, or items of a container."""

    def __init__(self, place: Written) -> None:
        self.holder: Any = place[0]
        self.names: frozenset[str] | None = place[1]
        self.before: Any = self.current()

    def current(self) -> Any:
        """Return the values as they are now, in a container of the same kind."""
        if self.names is None:
            return self.holder.copy()
        return {name: self.holder[name] for name in self.names if name in self.holder}

    def restore(self) -> None:
        """Put all values back if one is tracked: the next call has another gradient."""
        now = self.current()
        if type_of(now) is LIST:
            pairs = itertools.zip_longest(now, self.before, fillvalue=ABSENT)
            new = [value for value, old in pairs if value is not old and value is not ABSENT]
            if new and is_recorded(flatten(new)[0]):
                self.holder[:] = self.before
            return
        new = [value for key, value in now.items() if self.before.get(key, ABSENT) is not value]
        if new and is_recorded(flatten(new)[0]):
            if self.names is None:  # a key may hold a variable, and have another hash by now
                self.holder.clear()
            else:
                for name in now.keys() - self.before.keys():
                    del self.holder[name]
            self.holder.update(self.before)


_written_in: dict[int, tuple[Namespace, int, list[Written]]] = {}
"""What the functions of a namespace write, and how many names it had then."""


def forget(kept: list[Kept]) -> None:
    """Put back what functions keep, if a tracked value is in it."""
    while kept:
        kept.pop().restore()


def forget_arguments(objects: list[tuple[Any, Any]]) -> None:
    """Put back the attributes or items of what keeps arguments, if a tracked value is in them."""
    for holder, before in objects:
        kept = Kept((holder, None))
        kept.before = before
        kept.restore()


def check_caches(filled: list[Cache]) -> None:
    """Refuse tracked keys of a dictionary whose equal keys have other values: it is no cache.

    Then the function would have found the value of the equal key.
    """
    for cache in {id(cache.held): cache for cache in filled}.values():
        values: dict[Any, list[tuple[Any, bool]]] = {}
        for key, value in _items(cache.held):
            is_tracked = _is_tracked(key)
            values.setdefault(map_leaves(_plain, key), []).append((parts_of(value), is_tracked))
        for equal in values.values():
            if len(equal) > 1 and not all(_agree(equal[0][0], *one) for one in equal):
                raise TrackedValueError(
                    f"Use as a key of the dictionary {cache.name} in {cache.place}: a tracked "
                    "number has another value there than an equal key, as in counts and groups, "
                    "so that it cannot be told from a cache by its source. Fix: the key can be "
                    ".item(), to which no gradient belongs; gradwrap.numerical(f) takes the "
                    "derivative of a function f of a few numbers, which fills the dictionary, "
                    "by differences."
                )


def _items(held: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the items of a dictionary; an ordered one would hash its keys for that."""
    return [*dict[Any, Any].items(held)]


def _plain(leaf: Any) -> Any:
    """Return a part of a key with plain numbers, for an object its type and attributes."""
    if isinstance(leaf, AnyWrapper) and leaf.shape == ():
        return native(leaf).item()
    if not _is_tracked(leaf):
        return leaf if isinstance(leaf, Hashable) else id(leaf)
    parts = ((name, *map(_plain, flatten(one)[0])) for name, one in _attributes(leaf).items())
    return type_of(leaf), *parts


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes that an object holds itself, those of its slots, too."""
    slots: dict[str, Any] = {}
    for kind in type_of(value).__mro__:
        names = vars(kind).get("__slots__", ())
        slots |= {
            name: getattr(value, name)
            for name in ((names,) if isinstance(names, str) else names)
            if hasattr(value, name)
        }
    return slots | attributes_of(value)


DEPTH = 4
"""So deep are objects within a key searched for tracked numbers."""


def _is_tracked(key: Any, depth: int = DEPTH) -> bool:
    """Tell if a part of a key is tracked, or an attribute of an object in it, or of one in that."""
    leaves = flatten(key)[0]
    if is_recorded(leaves):
        return True
    held = (list(_attributes(one).values()) for one in leaves) if depth else ()
    return any(_is_tracked(parts, depth - 1) for parts in held if parts)


def _agree(first: list[Any], parts: list[Any], is_tracked: bool) -> bool:
    """Tell if the results of two equal keys are equal; that of a tracked key must be tracked."""
    return are_equal(first, parts) and (is_recorded(parts) or not is_tracked)


def remove_tracked_keys(filled: list[Cache]) -> None:
    """Take tracked keys out of caches."""
    for cache in filled:
        items = _items(cache.held)
        rest = {key: value for key, value in items if not _is_tracked(key)}
        cache.held.clear()
        cache.held.update(rest)


def written_in(namespace: Namespace, owner: Callable[[Namespace], Any]) -> list[Written]:
    """Find what functions write: the dictionaries and lists that they store into, and names.

    `owner` returns the module of a namespace.
    """
    if isinstance(namespace, Given):
        return []
    known = _written_in.get(id(namespace))
    if known is not None and known[0] is namespace and known[1] == len(namespace):
        return known[2]
    held: dict[int, Any] = {}
    names: set[str] = set()
    for code in _codes(namespace):
        kinds = kinds_of(code)
        if STORE_GLOBAL in kinds:
            names |= {name for step, name in named_steps_of(code) if step == STORE_GLOBAL}
        if STORE_SUBSCR in kinds:
            values: Any = map(namespace.get, code.co_names)
            held |= {id(value): value for value in values if type_of(value) in (DICT, LIST)}
    found: list[Written] = [(one, None) for one in held.values()]
    found += [(namespace, frozenset(names))] if names else []
    if owner(namespace) is not None:
        _written_in[id(namespace)] = namespace, len(namespace), found
    return found


def _codes(namespace: Namespace) -> Iterator[CodeType]:
    """Yield the code of the functions of a namespace, of its classes and inside of functions."""
    waiting: list[Any] = list(namespace.values())
    while waiting:
        value = waiting.pop()
        kind = type_of(value)
        if kind is FunctionType and value.__globals__ is namespace:
            waiting.append(written(value.__code__))
        elif kind is CodeType:
            yield value
            waiting += [part for part in value.co_consts if type_of(part) is CodeType]
        elif issubclass(kind, type):
            own = type.__getattribute__(value, "__dict__")
            if own.get("__module__") == namespace.get("__name__"):
                waiting += [one for one in own.values() if type_of(one) is FunctionType]
