"""Places that are compared together: the addresses of the objects in them are one string of bytes.

A package that is adapted has thousands of places. One by one, their tests take a millisecond.
"""

from __future__ import annotations

import operator
from collections import deque
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.tracing.surroundings import watch
from gradwrap.core.values.dynamic import DICT, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gradwrap.compiler.tracing.surroundings.watch import Place

MAPPINGS: frozenset[type[Any]] = frozenset({dict, MappingProxyType})
CONTAINERS: frozenset[type[Any]] = MAPPINGS | {list, set, deque}
"""The exact types whose items are read by iteration, without code of a subclass."""


class Sheet:
    """Places, and the addresses of the objects that they held."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.others: list[Place] = []
        """The places that have to be tested by themselves."""
        self._getters: list[Callable[[Any], Any]] = []
        self._holders: list[Any] = []
        self._objects: list[Any] = []
        """The objects whose classes are compared."""
        self._containers: list[Any] = []
        """The containers, and the views of mappings, whose items are compared."""
        self._of_texts: list[Any] = []
        """Those that hold texts alone, which are compared by equality: that takes a tenth."""
        named: dict[tuple[int, bool], tuple[Any, dict[str, Any]]] = {}
        keyed: dict[int, Any] = {}
        pairs: list[tuple[Any, list[Any]]] = []
        """Containers, and what they held."""
        kinds: list[Any] = []
        for place in places:
            holder, value, kind = place.holder, place.value, type_of(place)
            if kind is watch.Kind:
                self._objects.append(holder)
                kinds.append(value)
            elif _is_read_by_name(place):
                name = "cell_contents" if kind is watch.Cell else place.key
                key = id(holder), kind is watch.Item
                named.setdefault(key, (holder, {}))[1][name] = value
            elif kind is watch.Keys and type_of(holder) in MAPPINGS and holder.keys() == value:
                keyed[id(holder)] = holder
            elif kind is watch.Contents and type_of(holder) in CONTAINERS:
                pairs.append((holder, value))
            elif kind is watch.Entries and type_of(holder) in MAPPINGS:
                half = len(value) // 2
                pairs += (holder, value[:half]), (holder.values(), value[half:])
            else:
                self.others.append(place)
        pairs += [(holder, [*holder]) for holder in keyed.values()]
        found: list[Any] = []
        for (at, is_item), (holder, values) in named.items():
            if is_item and type_of(holder) is DICT and at in keyed and len(values) == len(holder):
                pairs.append((holder.values(), [values[name] for name in holder]))
                continue
            names = [*values] if len(values) > 1 else [*values] * 2  # for a tuple
            get = operator.itemgetter if is_item else operator.attrgetter
            self._getters.append(get(*names))
            self._holders.append(holder)
            found += [values[name] for name in names]
        self.texts: list[str] = []
        """The texts in the containers that hold texts alone."""
        items: list[Any] = []
        for container, held in pairs:
            is_of_texts = all(type_of(one) is str for one in held)
            (self._of_texts if is_of_texts else self._containers).append(container)
            (self.texts if is_of_texts else items).extend(held)
        self._held: Sequence[Any] = [*found, *kinds, *items]
        """The objects, whose addresses stay theirs while they are held here."""
        self.lengths: list[int] = [len(held) for _, held in pairs]
        self._all: list[Any] = [container for container, _ in pairs]
        self.addresses: bytes = _addresses(self._held)

    def lengths_now(self) -> list[int]:
        """Return the lengths of the containers."""
        return [*map(len, self._all)]

    def texts_now(self) -> list[str]:
        """Return the texts in the containers that held texts alone."""
        return [*chain.from_iterable(self._of_texts)]

    def addresses_now(self) -> bytes:
        """Return the addresses of the objects in the places; an error tells that one is missing."""
        pairs = zip(self._getters, self._holders, strict=True)
        named = chain.from_iterable(get(holder) for get, holder in pairs)
        items = chain.from_iterable(self._containers)
        return _addresses(chain(named, map(type, self._objects), items))


def _is_read_by_name(place: Place) -> bool:
    if place.value is watch.MISSING:
        return False
    if type_of(place) is watch.Item:
        return type_of(place.holder) in MAPPINGS  # others make what is missing
    is_attribute = type_of(place) is watch.Attribute and place.key.isidentifier()
    return is_attribute or type_of(place) is watch.Cell


def _addresses(objects: Iterable[Any]) -> bytes:
    return np.fromiter(objects, object).tobytes()
