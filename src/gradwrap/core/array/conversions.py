"""Conversions of a variable to numbers and plain arrays; no tracked value is lost silently."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from gradwrap.core.array.adapted import (
    adapted_caller,
    bytes_for_key,
    converting_caller,
    current_frame,
    formats_text,
    makes_json,
    nested,
    note_plain,
    one_element,
    warn_of_text,
)
from gradwrap.core.array.python_floats import python_float, python_floats
from gradwrap.core.array.steered import branch_of
from gradwrap.core.array.writing.loans import lend
from gradwrap.core.graph.node import Leaf
from gradwrap.core.levels.levels import TAPE_LEVEL
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import (
    holds_batch,
    innermost,
    is_at,
    is_recorded,
    layers,
    level_of,
    native,
)
from gradwrap.core.library.backend import backend_of
from gradwrap.core.observing.callers import (
    calling_module,
    current_caller,
    is_exponent,
    leaving,
    refused,
)
from gradwrap.core.observing.comparing import looks
from gradwrap.core.values.dynamic import TUPLE, type_of
from gradwrap.errors import BatchedValueError

if TYPE_CHECKING:
    from types import FrameType

UNHASHABLE = "unhashable type"
"""How Python's error for a key that has no hash begins."""
NUMBERS: dict[str, type[complex]] = dict.fromkeys("biu", int) | {"f": float, "c": complex}
"""The type of Python by whose value a number of this kind of dtype is a key."""


def known(value: Any) -> Any:
    """Return the native array below all wrappers; that a batch is refused is noted."""
    try:
        return native(value)
    except BatchedValueError as error:  # code may catch it
        raise refused(current_caller(), error) from None


class Conversions:
    """Conversions to numbers and plain arrays, most of which are refused while tracked."""

    __slots__ = ()

    _value: Any
    _node: Any
    _backend: Any
    _namespace: Any

    def item(self, *index: Any) -> Any:
        """Return one element, by default the only one, as a Python number outside the graph.

        In adapted code, and in what it calls, it stays in the graph, but not in a JSON text.
        """
        if (frame := converting_caller()) is not None and not makes_json(self, frame):
            return python_float(one_element(self, index))
        if index:
            array: Any = self
            parts: Any = index[0] if len(index) == 1 and isinstance(index[0], TUPLE) else index
            return array.flat[parts[0]].item() if len(parts) == 1 else array[parts].item()
        data = native(self)
        if hasattr(data, "item"):
            return data.item()
        xp = self._backend.xp
        if xp.isdtype(data.dtype, "bool"):
            number: type = bool
        else:
            is_float, is_complex = self._backend.dtype_kind(data.dtype)
            number = complex if is_complex else float if is_float else int
        return number(self._namespace.reshape(data, ()).data)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers, outside of the graph.

        In adapted code, and in what it calls, they stay in it, but not in a JSON text.
        """
        if (frame := converting_caller()) is not None and not makes_json(self, frame):
            return python_floats(nested(self))
        return native(self).tolist()

    def _untracked_data(self, what: str, fix: str = "", *, into: str = "a plain") -> Any:
        note_plain()
        placed = [layer for layer in layers(self) if layer._node is not None]
        if any(not layer._is_batched for layer in placed):
            raise leaving(what, fix, into=into)
        return placed[0]._untracked_data(what, fix, into=into) if placed else native(self)

    def __bytes__(self) -> bytes:
        """Return the bytes of the elements, in adapted code also of tracked ones."""
        is_key = adapted_caller() is not None and is_recorded(self) and not holds_batch(self)
        found = bytes_for_key(self, "C") if is_key else None
        if found is not None:
            return found
        fix = "x.detach().data.tobytes(), which has the bytes of the numbers."
        return bytes(self._untracked_data("bytes()", fix))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Convert for NumPy; refused while the array is tracked."""
        if any(layer._node is not None for layer in layers(self)):
            backend_of(innermost(self)).check_converting(calling_module())
        self._untracked_data(
            "Converting to a plain numpy.ndarray (np.asarray, np.array, or code that calls them)"
        )
        import numpy as np

        is_copied = copy or (dtype is not None and np.dtype(dtype) != self._value.dtype)
        return np.array(native(self) if is_copied else lend(self), dtype=dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Exchange the buffer by DLPack; refused while the array is tracked."""
        self._untracked_data(
            "DLPack (from_dlpack of another library)",
            "stay in the array's library (x.__array_namespace__()), "
            "or call .detach() if no gradient is wanted.",
        )
        data = lend(self)
        words = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        # an older library knows fewer of them
        given = {name: value for name, value in words.items() if value is not None}
        return _exchangeable(data).__dlpack__(**given)

    def __dlpack_device__(self) -> tuple[Any, int]:
        """Return the type and number of the device, in DLPack's numbering."""
        return _exchangeable(native(self)).__dlpack_device__()  # type: ignore[no-any-return]  # Any: a native array

    def __float__(self) -> float:
        frame = adapted_caller()
        if frame is not None and formats_text(frame):
            warn_of_text(self, frame)
            return float(native(self))
        return float(
            self._untracked_data(
                "float() (also of the functions of math)",
                "use the array function (np.sin rather than math.sin), "
                "or call .item() if no gradient is wanted.",
            )
        )

    def __int__(self) -> int:
        if adapted_caller() is not None:  # no gradient passes through a whole number
            note_plain()
            number = known(self)
            look = looks()
            if look is not None and is_recorded(self):
                look("whole", number)
            return int(number)
        return int(
            self._untracked_data(
                "int()",
                "call int(x.item()): no gradient passes through a whole number.",
                into="an integer",
            )
        )

    def __complex__(self) -> complex:
        return complex(
            self._untracked_data(
                "complex()",
                "use the array operations (a + 1j * b rather than complex(a, b)), "
                "or call .item() if no gradient is wanted.",
            )
        )

    def __index__(self) -> int:
        if is_exponent():
            raise TypeError("an exponent that is an array is no index")
        return operator.index(self._untracked_data("Use as an index", "call int(x.item())."))

    def __bool__(self) -> bool:
        return branch_of(self._value)

    def __hash__(self) -> int:
        """Hash a number by its value, as NumPy does, and an array or a leaf by identity.

        A tracked number is refused: what a cache found by an equal value would have the gradient
        of that value. In adapted code it may enter a set or a dictionary that the code makes, look
        for a key that is not there, and be a key of a cache, where it is found only as itself. A
        hash that the code drops is no key. Code that looks for Python's error does without a cache.
        """
        wrapper: Any = self
        kind = NUMBERS.get(getattr(self._value.dtype, "kind", ""))
        if kind is None or wrapper.shape != ():
            return object.__hash__(self)
        frame = adapted_caller()
        found = None if frame is None else self._hash_in_adapted(frame, kind)
        if found is not None:
            return found
        if self._is_leaf_of_tape():
            return object.__hash__(self)
        if is_recorded(self) and _does_without(current_frame(1)):
            raise TypeError(f"{UNHASHABLE}: {type_of(self).__name__!r}")
        key = self._untracked_data(
            "Use as a key (of a set, a dictionary, a function with functools.cache)",
            "x == y compares tracked numbers; the key can be .item(), to which no gradient "
            "belongs; f.__wrapped__ is a cached function f without its cache.",
            into="",
        )
        return hash(kind(key))

    def _hash_in_adapted(self, frame: FrameType, kind: type[complex]) -> int | None:
        """Return the hash of a number in adapted code, or None if it is refused there."""
        from gradwrap.core.array import keys  # it parses code, and only adapted code needs it

        outer = keys.frame_that_hashes(frame)
        if keys.is_key_of_cache(outer) or keys.is_check(outer):
            return object.__hash__(self)
        data = native(self)
        is_alone = not is_traced() and not holds_batch(self)
        if keys.makes_set(outer) or (is_alone and keys.enters(outer)):
            return hash(kind(data))
        finds_nothing = outer is frame and keys.finds_nothing(frame, data)
        return object.__hash__(self) if finds_nothing else None

    def _is_leaf_of_tape(self) -> bool:
        return type_of(self._node) is Leaf and is_at(self, TAPE_LEVEL)

    def _check_pickling(self) -> None:
        """Refuse to pickle a transform's value, which another process could not record."""
        if any(level_of(layer) > TAPE_LEVEL for layer in layers(self)):
            raise leaving(
                "Pickling (by pickle, joblib or multiprocessing)",
                "do not leave this process: call the function in a loop, or in threads "
                '(joblib.Parallel(prefer="threads"), multiprocessing.pool.ThreadPool). '
                "copy.deepcopy(x) makes a copy. Pickle .detach() if no gradient is wanted.",
            )


def _does_without(frame: FrameType) -> bool:
    """Tell if code knows the message of Python's error for a key that has no hash."""
    return any(type_of(one) is str and one.startswith(UNHASHABLE) for one in frame.f_code.co_consts)


def _exchangeable(data: Any) -> Any:
    """Return an array with DLPack's methods, which a NumPy scalar lacks: it becomes an array."""
    return data if hasattr(data, "__dlpack__") else backend_of(data).asarray(data)
