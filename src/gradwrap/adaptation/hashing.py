"""Hashes, checksums and pickles of tracked arrays: bytes of which adapted code makes keys."""

from __future__ import annotations

from collections import Counter
from types import FunctionType
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.plain_values import is_plain, standing_in, unheld
from gradwrap.core.array.adapted import bytes_for_key, callers_for
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, holds_batch, is_recorded, native
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import map_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

NAMES: dict[str, tuple[str, ...]] = {
    "hashlib": (
        *("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "new", "blake2b", "blake2s"),
        *("sha3_224", "sha3_256", "sha3_384", "sha3_512"),
    ),
    "pickle": ("dumps",),
    "zlib": ("adler32", "crc32"),
}
"""The functions of the standard library, by module."""
methods: Any = vars(Counter).values()
callers_for.update(one.__code__ for one in methods if type_of(one) is FunctionType)


def functions(module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield the functions of a module that read the memory of arrays, with their stand-ins."""
    for name in NAMES[module.__name__]:
        original, path = vars(module)[name], f"{module.__name__}.{name}"
        make = {"hashlib": _hashing, "pickle": _pickling}.get(module.__name__, _reading)
        yield original, make(original, path)


def _bytes_of(value: Any) -> Any:
    """Return the bytes of a variable, and other values as they are."""
    found = _noted(unheld(value))
    return found.tobytes() if isinstance(found, AnyWrapper) else found


def _reading(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    @standing_in(original, path)
    def stand_in(*args: Any, **options: Any) -> Any:
        return original(*map(_bytes_of, args), **options)

    return stand_in


class Hash:
    """A hash that takes tracked arrays."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def update(self, data: Any, /) -> None:
        """Add the bytes of an array, or other bytes."""
        self._made.update(_bytes_of(data))

    def copy(self) -> Hash:
        """Return a copy of the hash."""
        return Hash(self._made.copy())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


def _hashing(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Make the stand-in of a function that makes a hash; its class is not one to ask for."""

    @standing_in(original, path)
    def stand_in(*args: Any, **options: Any) -> Any:
        if not is_differentiating():
            return original(*args, **options)
        return Hash(original(*map(_bytes_of, args), **options))

    return stand_in


def _pickling(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    @standing_in(original, path)
    def dumps(value: Any, *args: Any, **options: Any) -> Any:
        if not is_plain([value]):
            value = map_leaves(_noted, value)
        return original(value, *args, **options)

    return dumps


def _noted(leaf: Any) -> Any:
    """Return the plain array or number of a tracked one, whose bytes are asked for."""
    variable = unheld(leaf)
    if type_of(variable) is not type_of(leaf) or not is_recorded(variable):
        return leaf
    is_noted = not holds_batch(variable) and bytes_for_key(variable, "C") is not None
    return native(variable) if is_noted else leaf  # which refuses to be pickled
