"""Loops whose turns are all alike, so that a function need not run at full size to be compared.

Python's code decides which operations a turn performs. Its decisions depend on what it can see: the
local variables of the loop, and nothing else if the code is *simple*. If all that it can see is
the same at the start of two turns, the second one does what the first one did, and so does each
later one. Values in arrays that depend on the arguments are not seen: a branch on one ends a trace.
A loop whose index is read sees another number in each turn, so its turns are not alike.
"""

from __future__ import annotations

import dis
import sys
from functools import partial
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.extrapolating.points import Family, sizes_of
from gradwrap.compiler.extrapolating.sizes import Declined
from gradwrap.compiler.extrapolating.walk import taken
from gradwrap.compiler.ir.program import NDARRAY, NUMBER
from gradwrap.compiler.tracing.tape import Recorded
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import DICT, SEQUENCE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import CodeType, FrameType

    from gradwrap.compiler.extrapolating.points import Budget, Found, Subject
    from gradwrap.compiler.ir.program import Program

PLAIN: Any = (bool, int, float, complex, str, bytes, type(None), np.dtype)
FIXED: Any = (FunctionType, ModuleType, type, np.ufunc)
"""Objects without a state, if the code is simple."""
HELD: Any = (FunctionType, CellType, ModuleType, NDARRAY, TUPLE, partial, *PLAIN)
"""What simple code may reach by names."""
FUNCTION: type[Any] = FunctionType
BUILTIN: type[Any] = BuiltinFunctionType
GENERATOR = 0x20 | 0x80 | 0x200
"""The flags of code of generators and coroutines, which keep a state."""
STORING = frozenset(
    {"STORE_GLOBAL", "STORE_NAME", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_NAME", "DELETE_ATTR"}
    | {"YIELD_VALUE", "IMPORT_NAME"}
)
"""The instructions that keep something where local variables do not show it."""
APPENDING = ("LIST_APPEND", "SET_ADD", "MAP_ADD")
"""The instructions that comprehensions keep values with; displays use them too, with argument 1."""
SEEING = frozenset(
    {"locals", "vars", "dir", "globals", "eval", "exec", "setattr", "delattr", "iter", "next"}
    | {"_getframe", "currentframe", "time", "perf_counter", "monotonic", "random", "id"}
)
"""The names of functions that see, or keep, more."""
LARGEST = 1 << 16
"""The most bytes of an array that code can look into, which are compared."""
FARTHER = 30
"""The steps between the shortest loops and those of the last comparison."""


class Unlike(Declined):
    """The turns of a loop are not known to be alike."""


class Watch:
    """Watches the long loops of a trace."""

    def __init__(self, is_users: Callable[[str], bool]) -> None:
        self._is_users = is_users
        self.loops: list[_Turns] = []

    def __call__(self, turns: range) -> Any:
        """Return the turns of a loop that the user's code begins."""
        self.loops.append(_Turns(turns, sys._getframe(2), self._is_users))  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
        return self.loops[-1]

    def check(self) -> None:
        """Check that the turns of each loop are alike.

        Raises
        ------
        Unlike
            Those of a loop may not be.
        """
        if not all(loop.are_alike() for loop in self.loops):
            raise Unlike("the turns of a loop differ")


class _Turns:
    """The numbers of a long loop, which looks at the local variables before each turn."""

    def __init__(self, turns: range, frame: FrameType, is_users: Callable[[str], bool]) -> None:
        self._is_users = is_users
        self._left = iter(turns)
        self._code = frame.f_code
        self._called = frame.f_lasti
        self._index = ""
        self._states: list[Any] = []
        self._has_ended = False

    def __iter__(self) -> _Turns:
        return self

    def __next__(self) -> int:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
        if frame.f_code is not self._code:
            raise Unlike("other code reads the numbers of a loop")
        self._index = self._index or _index(self._code, self._called, frame.f_lasti)
        state = Seen(self._is_users).of(
            {n: x for n, x in frame.f_locals.items() if n != self._index}
        )
        self._states.append(state)
        turn = next(self._left, None)
        if turn is None:
            self._has_ended = True
            raise StopIteration
        return turn

    def are_alike(self) -> bool:
        """Tell if all turns begin with the same variables, but for the first two."""
        return self._has_ended and all(one == self._states[2] for one in self._states[3:])


def _index(code: CodeType, called: int, at: int) -> str:
    """Return the index of the loop `for index in range(...)`, which nothing reads.

    `called` is the place of the call of `range`, and `at` that of the loop.
    """
    if code.co_flags & GENERATOR:
        raise Unlike("a generator has a long loop")
    steps = [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
    before = [n for n, one in enumerate(steps) if one.offset <= called]  # it may be in its cache
    found = steps[before[-1] : before[-1] + 4]
    *names, last = (one.opname for one in found)
    is_loop = names == ["CALL", "GET_ITER", "FOR_ITER"] and found[2].offset == at
    if not (is_loop and last.startswith("STORE_FAST")):
        raise Unlike("a long range is used otherwise than by a loop")
    stored: Any = found[3].argval
    name = str(stored[0] if isinstance(stored, TUPLE) else stored)
    for one in steps:
        parts: Any = one.argval if isinstance(one.argval, TUPLE) else (one.argval,)
        reads = parts if one.opname != "STORE_FAST" else ()
        if one.opname.startswith("STORE_FAST_"):  # it also loads or stores a second variable
            reads = parts[1:]
        if "FAST" in one.opname and name in reads:
            raise Unlike("the index of a long loop is read")
    return name


class Seen:
    """What Python's code can see of values, as something that can be compared."""

    def __init__(self, is_users: Callable[[str], bool]) -> None:
        self._is_users = is_users
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []

    def of(self, value: Any, depth: int = 0) -> Any:
        """Return what can be seen of a value.

        Raises
        ------
        Unlike
            It is not known what its state is.
        """
        kind = type_of(value)
        if kind in PLAIN:
            return kind, repr(value)
        if isinstance(value, NUMBER):
            return kind, value.tobytes()
        if depth > FEW:
            raise Unlike("a variable is nested deeply")
        inner: Callable[[Any], Any] = partial(self.of, depth=depth + 1)
        number = self._number(value)
        if isinstance(value, FUNCTION) and self._is_users(value.__globals__["__name__"]):
            cells = [inner(cell.cell_contents) for cell in value.__closure__ or ()]
            return number, id(value), cells, inner(value.__defaults__), inner(value.__kwdefaults__)
        is_builtin = isinstance(value, BUILTIN) and isinstance(value.__self__, ModuleType)
        if is_builtin or isinstance(value, FIXED):
            return number, id(value)
        if kind in SEQUENCE:
            return number, kind, [inner(one) for one in value]
        if kind is DICT:
            return number, [(inner(key), inner(one)) for key, one in value.items()]
        return number, kind, self._array(value)

    def _array(self, value: Any) -> Any:
        real, is_hidden = value, False
        while isinstance(real, AnyWrapper):
            real = real._value
        if isinstance(real, Recorded):  # code can look into those that are the same in each call
            is_hidden = not real.tape.is_made(real.index)
            real = real.value
        if isinstance(real, NUMBER):
            return type_of(real), b"" if is_hidden else real.tobytes()
        if not isinstance(real, NDARRAY):
            raise Unlike(f"a variable is a {type_of(value).__name__}")
        if not is_hidden and real.nbytes > LARGEST:
            raise Unlike("a variable is a large array that is the same in each call")
        root = real
        while isinstance(root.base, NDARRAY):
            root = root.base
        content = b"" if is_hidden else real.tobytes()
        return real.shape, real.dtype, real.strides, self._number(root), content

    def _number(self, value: Any) -> int:
        """Return a number of an object: variables may be the same object, or share memory."""
        self._kept.append(value)
        return self._numbers.setdefault(id(value), len(self._numbers))


FEW = 6
"""The most levels of a nested variable."""


def _is_simple(code: CodeType) -> bool:
    """Tell if code keeps no state but in local variables."""
    if not SEEING.isdisjoint(code.co_names):
        return False
    outer = ("STORE_DEREF", "DELETE_DEREF")
    return not any(
        one.opname in STORING
        or (one.opname in APPENDING and one.arg != 1)
        or (one.opname in outer and one.argval in code.co_freevars)
        for one in dis.get_instructions(code)
    )


def _check_code(subject: Subject, codes: Collection[CodeType]) -> None:
    for value, _ in subject.surroundings.objects():
        is_own = type_of(value).__module__.startswith("gradwrap.")
        if not (is_own or isinstance(value, (*HELD, type))):
            raise Unlike(f"the function reaches a {type_of(value).__name__}")
    if subject.surroundings.tells_same or not all(map(_is_simple, codes)):
        raise Unlike("the code may keep a state")


def of_all_turns(
    found: Found, budget: Budget, compared: Callable[[Family], None]
) -> tuple[Program, Family]:
    """Return the program of loops a little longer than those traced, with all else at full size.

    Its family gives the program of the actual lengths too, although nothing but loops was cut.

    Raises
    ------
    Declined
        The turns of loops may differ, or what the function does around the loops.
    """
    first = found.family
    subject = first.subject
    _check_code(subject, {code for code, *_ in first.paths})
    sizes, watch = sizes_of(first.actual, first.lengths.limit), Watch(subject.surroundings.is_users)
    family = Family(subject, sizes, first.lengths, budget, cuts=False)
    sizes.watch = watch
    family.fit()
    sizes.watch = None
    watch.check()
    compared(family)
    _check_code(subject, {code for code, *_ in family.paths})
    if not _are_same(first.at(first.actual), family.at(first.actual)):
        raise Unlike("something around the loops depends on their lengths otherwise")
    return family.at(family.point([FARTHER] * len(first.actual))), family


def _are_same(one: Program, other: Program) -> bool:
    (skeleton, numbers), (same, others) = taken(one), taken(other)
    return skeleton == same and all(
        kind == kind_too and np.array_equal(a, b)
        for (kind, a), (kind_too, b) in zip(numbers, others, strict=True)
    )
