"""Runs with short loops whose numbers know what they are at full size: see `tracing/twofold.py`.

A `Watch` gives user code such numbers: as lengths of arrays, as integers that are lengths, and as
the indices of long loops. It looks at the local variables before each turn of a long loop.
"""

from __future__ import annotations

import builtins
import dis
import math
from bisect import bisect_right
from functools import lru_cache, partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.extrapolating.sizes import LIMIT, NEAR
from gradwrap.compiler.ir.program import NDARRAY, NUMBER
from gradwrap.compiler.tracing.tape import Recorded
from gradwrap.compiler.tracing.tracer import SHAPES
from gradwrap.compiler.tracing.twofold import Symbol, Twofold, Unlike, Uses, plain_key
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.code import frame_of, is_of_arrays, module_of
from gradwrap.core.values.dynamic import DICT, LIST, SEQUENCE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType

    from gradwrap.compiler.extrapolating.sizes import Sizes

PLAIN: Any = (bool, int, float, complex, str, bytes, type(None), np.dtype)
FIXED: Any = (FunctionType, ModuleType, type, np.ufunc)
"""Objects without a state, if the code is simple."""
FUNCTION: type[Any] = FunctionType
BUILTIN: type[Any] = BuiltinFunctionType
GENERATOR = 0x20 | 0x80 | 0x200
"""The flags of code of generators and coroutines, which keep a state."""
HEAD, TAIL = 2, 2
"""The turns at both ends of a loop, whose numbers are known one by one."""
FEWEST = 8
"""The fewest turns of a short loop."""
LARGEST = 1 << 16
"""The most bytes of an array that code can look into, which are compared."""
FEW = 6
"""The most levels of a nested variable."""


class Watch:
    """Gives user code numbers that know what they are at full size, and watches long loops."""

    def __init__(
        self, sizes: Sizes, is_users: Callable[[str], bool], *, cuts: bool, period: int = 1
    ) -> None:
        self._sizes = sizes
        self._cuts = cuts
        self.period: int = period
        """The number of turns by multiples of which the lengths differ from those at full size."""
        self.is_users: Callable[[str], bool] = lru_cache(maxsize=None)(is_users)
        self.uses: Uses = Uses(self._place, self.length)
        self.loops: list[Turns] = []
        self.active: list[Turns] = []
        """The loops that run now, the outermost first."""
        self._sites: dict[tuple[int, int], int] = {}
        self._steps: int = 0
        """The steps of the user's code since a turn of a loop last began or ended."""
        self._outside: int = 0
        """The steps outside of long loops."""
        self._asked: list[Any] = []
        """The lists whose length was asked for in loops."""
        self._grown: list[tuple[Any, int]] = []
        """The lists that loops have appended to, with how many more elements they have at full
        size."""

    @property
    def builtins(self) -> dict[str, Any]:
        """Return what replaces Python's builtins."""
        return {
            "range": self._range,
            "len": self._len,
            "reversed": self._reversed,
            "zip": self._zip,
            "enumerate": self._enumerate,
        }

    # Numbers --------------------------------------------------------------------------------------

    def number(self, number: int) -> Any:
        """Return an integer of the surroundings."""
        short = self._sizes.of(number)
        return number if short == number else Twofold(self.uses, short, number)

    def length(self, length: int) -> Any:
        """Return the length of an array, after a note: its law must give that at full size."""
        whole: Any = length
        if self._cuts:
            pairs = zip(self._sizes.short, self._sizes.actual, strict=True)
            short, actual = min(pairs, key=lambda one: abs(length - one[0]))
            if abs(length - short) <= NEAR:
                whole = Twofold(self.uses, length, actual + length - short)
        self.uses.add("length", length, whole.full if type_of(whole) is Twofold else length)
        return whole

    def shape(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the lengths of the axes of an array."""
        return tuple(map(self.length, shape))

    def plain_key(self, key: Any, shape: Sequence[int]) -> Any:
        """Return a key of an array of a shape with the plain numbers of this run."""
        return plain_key(key, shape, self.uses)

    def told(self, name: str) -> Exception:
        """Return the error of a function that tells lengths as plain numbers."""
        return self.uses.refuse(f"{name} tells the lengths of an array")

    def iterated(self, array: Any, frame: FrameType) -> Iterator[Any]:
        """Return the elements of an array that code goes through."""
        whole = self._elements([array], lambda _, parts: parts[0])
        if whole is None:
            return builtins.iter([array[i] for i in builtins.range(builtins.len(array))])
        return whole.begun(frame)

    def _elements(self, arrays: Sequence[Any], give: Callable[[Any, Any], Any]) -> Elements | None:
        """Return what `give` makes of the elements of arrays turn by turn, if they are long.

        Raises
        ------
        Unlike
            They have several lengths.
        """
        lengths = [builtins.len(one) for one in arrays]
        both = [self.length(one) for one in lengths]
        if not any(type_of(one) is Twofold or one > LIMIT for one in both):
            return None
        if len({*lengths}) > 1 or type_of(both[0]) is not Twofold:
            raise self.uses.refuse("code goes through arrays of several lengths")
        self.uses.add("length", lengths[0], both[0].full)
        return Elements(self, range(lengths[0]), range(both[0].full), arrays, give)

    def described(self, number: Twofold) -> Any:
        """Return what a number is relative to the present turns of loops, to compare it."""
        loops = {loop.serial: loop for loop in self.active}
        short, full, factors = number.short, number.full, dict[int, int]()
        for symbol, factor in number.factors.items():
            loop = loops.get(symbol.serial)
            if loop is None:
                raise self.uses.refuse("a variable holds an index of a loop that has ended")
            factors[symbol.loop] = factors.get(symbol.loop, 0) + factor
            short -= factor * loop.short
            full += factor * (symbol.turn - loop.turn) * symbol.step
        return type_of(number), sorted(factors.items()), repr(short), repr(full)

    def _place(self) -> Any:
        """Return the place in the user's code, and the kinds of the present turns of loops."""
        frame: FrameType | None = frame_of(1)
        while frame is not None and not self.is_users(module_of(frame)):
            frame = frame.f_back
        turns = tuple([(loop.site, loop.kind) for loop in self.active])
        return None if frame is None else (*_instruction(frame), turns)

    # Builtins -------------------------------------------------------------------------------------

    def _range(self, *bounds: Any) -> Any:
        first = [
            one if type_of(one) is Twofold else self.number(one.__index__()) for one in bounds[:2]
        ]
        if any(type_of(one) is Twofold and one.factors for one in first):
            raise self.uses.refuse("the turns of a loop vary in number")
        step = [one.__index__() for one in bounds[2:]]
        short = range(*[one.used() if type_of(one) is Twofold else one for one in first], *step)
        full = range(*[one.full if type_of(one) is Twofold else one for one in first], *step)
        if short == full:
            return short
        frame = frame_of(1)
        return Turns(self, short, full, frame)

    def _reversed(self, whole: Any) -> Any:
        if isinstance(whole, Turns):
            frame = frame_of(1)
            return Turns(self, whole.whole[::-1], whole.full[::-1], frame)
        if isinstance(whole, (AnyWrapper, Recorded)):
            raise self.uses.refuse("code goes through an array backwards")
        return builtins.reversed(whole)

    def _zip(self, *parts: Any, strict: bool = False) -> Any:
        if all(isinstance(one, (AnyWrapper, Recorded)) for one in parts):
            found = self._elements(parts, lambda _, parts: tuple(parts))
            if found is not None:
                return found
        return builtins.zip(*parts, strict=strict)

    def _enumerate(self, whole: Any, start: int = 0) -> Any:
        if isinstance(whole, (AnyWrapper, Recorded)):
            found = self._elements([whole], lambda at, parts: (at + start, parts[0]))
            if found is not None:
                return found
        return builtins.enumerate(whole, start)

    def _len(self, whole: Any) -> Any:
        if isinstance(whole, (AnyWrapper, Recorded)):
            return self.length(builtins.len(whole))  # type: ignore[arg-type]  # an array
        if self.active and isinstance(whole, LIST):
            self._asked.append(whole)
        more = sum(more for known, more in self._grown if known is whole)
        number = builtins.len(whole)
        return Twofold(self.uses, number, number + more) if more else self.length(number)

    # Loops ----------------------------------------------------------------------------------------

    @property
    def sites(self) -> list[int]:
        """Return the places of all long loops, in the order in which they began."""
        return [loop.site for loop in self.loops]

    def site(self, frame: FrameType) -> int:
        """Return the number of a place where a loop begins."""
        return self._sites.setdefault(_instruction(frame), len(self._sites))

    def step(self) -> None:
        """Count a step of the user's code."""
        self._steps += 1

    def counted(self) -> None:
        """Take note that a turn begins or ends: the steps so far belong to the innermost loop."""
        if self.active:
            self.active[-1].steps[-1] += self._steps
        else:
            self._outside += self._steps
        self._steps = 0

    def grew(self, whole: Any, more: int) -> None:
        """Take note that a loop has appended to a list, which is longer at full size."""
        if self.active or any(known is whole for known in self._asked):
            raise self.uses.refuse("a list grows in loops of loops, or its length is read there")
        self._grown.append((whole, more))

    def check(self) -> Any:
        """Check that the turns of each loop are alike; return the numbers of steps.

        Raises
        ------
        Unlike
            Those of a loop may not be.
        """
        if self.uses.problem:
            raise Unlike(self.uses.problem)
        if not self.loops:
            raise Unlike("it has no long loop")
        kinds = {(loop.site, loop.check()) for loop in self.loops}
        return self._outside + self._steps, kinds


class Turns:
    """The numbers of a long loop, which looks at the local variables before each turn."""

    def __init__(self, watch: Watch, short: range, full: range, frame: FrameType | None) -> None:
        self._watch = watch
        self.whole: range = short
        self.full: range = full
        self._code: CodeType | None = None
        if frame is not None:
            self.begun(frame)
        self.serial: int = len(watch.loops)
        self.turn: int = -1
        self._index = ""
        self._collecting: frozenset[str] = frozenset()
        """The local lists that code only appends to, indexes, and gives to array functions."""
        self._states: list[Any] = []
        self._lists: dict[str, list[int]] = {}
        self._held: dict[str, Any] = {}
        self.steps: list[int] = []
        """The steps of each turn, outside of inner loops."""
        self._has_ended = False

    def begun(self, frame: FrameType) -> Turns:
        """Take note of the place where the loop begins."""
        self._code = frame.f_code
        self._called = _instruction(frame)[1]
        self.site: int = self._watch.site(frame)
        return self

    def __iter__(self) -> Iterator[Any]:
        self._watch.loops.append(self)
        return self

    def _index_in(self, code: CodeType, at: int) -> str:
        return _index(code, self._called, at)

    @property
    def short(self) -> int:
        """Return the index of the present turn."""
        return self.whole[max(self.turn, 0)]

    @property
    def kind(self) -> Any:
        """Return the number of a turn at one of the ends; for the others, its place in a period."""
        left = len(self.whole) - self.turn
        if self.turn < HEAD or left <= TAIL:
            return self.turn if self.turn < HEAD else -left
        return "inner", self.turn % self.period

    @property
    def period(self) -> int:
        """Return the number of turns after which the code may do the same again.

        At full size there are more turns by a multiple of it, so that the loop ends alike.
        """
        steps = self._watch.period // math.gcd(self._watch.period, self.whole.step)
        return 1 if (len(self.full) - len(self.whole)) % steps else steps

    def __next__(self) -> Any:
        return self._next(frame_of(1))

    def _next(self, frame: FrameType) -> Any:
        watch, uses = self._watch, self._watch.uses
        if frame.f_code is not self._code:
            raise uses.refuse("other code reads the numbers of a loop")
        watch.counted()
        if self.turn < 0:
            if len(self.whole) < FEWEST or len(self.full) < len(self.whole):
                raise uses.refuse("a loop has few turns")
            try:
                self._index = self._index_in(frame.f_code, _instruction(frame)[1])
            except Unlike as why:
                raise uses.refuse(str(why)) from why
            if any(loop.site == self.site for loop in watch.active):
                raise uses.refuse("a loop runs in itself")
            self._collecting = frozenset(_lists_of(frame.f_code, frame))
            watch.active.append(self)
        elif watch.active[-1] is not self:
            raise uses.refuse("a loop ends early")
        self._states.append(self._state(frame))
        self.turn += 1
        if self.turn == len(self.whole):
            self._end()
            raise StopIteration
        self.steps.append(0)
        plain = self.whole[self.turn]
        if not isinstance(self.kind, TUPLE):
            at = self.turn if self.turn < HEAD else self.turn - len(self.whole)
            return Twofold(uses, plain, self.full[at])
        first, last = sorted((self.full[HEAD], self.full[-1 - TAIL]))
        symbol = Symbol(
            *(self.site, self.serial, self.turn, plain, first, last),
            step=self.whole.step,
            period=self.period,
            one=self.full[self.turn],
        )
        return Twofold(uses, plain, 0, {symbol: 1})

    def _state(self, frame: FrameType) -> Any:
        """Return what code can see of the local variables."""
        seen = {name: one for name, one in frame.f_locals.items() if name != self._index}
        for name in self._collecting & seen.keys():
            whole: Any = seen[name]
            if isinstance(whole, LIST):
                self._lists.setdefault(name, []).append(len(whole))
                self._held[name] = whole
                seen[name] = (name, *whole[-2:])
        if not self._watch.uses.are_noted:
            return None
        try:
            return Seen(self._watch.is_users, self._watch.described).of(seen)
        except Unlike as why:
            raise self._watch.uses.refuse(str(why)) from why

    def _end(self) -> None:
        self._has_ended = True
        self._watch.active.pop()
        for name, lengths in self._lists.items():
            steps = {b - a for a, b in zip(lengths[HEAD:], lengths[HEAD + 1 :], strict=False)}
            if lengths[-1] == lengths[0]:
                continue
            if len(steps) > 1 or len(lengths) <= len(self.whole):
                raise self._watch.uses.refuse(
                    "a list grows otherwise than by the same in each turn"
                )
            if not all(map(_is_tracked, self._held[name][lengths[0] :])):
                raise self._watch.uses.refuse("a list grows by something else than arrays")
            more = steps.pop() * (len(self.full) - len(self.whole))
            self._watch.grew(self._held[name], more)

    def check(self) -> Any:
        """Return the numbers of steps of turns, if all turns are alike.

        The turns at both ends are performed as they are at full size. Those between begin with the
        same variables as the turns a period before, but for the first ones: what comes before those
        is known.
        """
        if not self._has_ended:
            raise Unlike("a loop ends early")
        period = self.period
        inner = self.steps[HEAD:-TAIL]
        states = self._states[HEAD + 1 : len(self.whole) - TAIL + 1]
        if len(states) <= period:
            raise Unlike("a loop has few turns")
        if any(many[:-period] != many[period:] for many in (inner, states)):
            raise Unlike("the turns of a loop differ")
        return (*self.steps[: HEAD + period], *self.steps[-TAIL:])


class Elements(Turns):
    """The elements of arrays in a long loop over them."""

    def __init__(
        self,
        watch: Watch,
        short: range,
        full: range,
        arrays: Sequence[Any],
        give: Callable[[Any, Any], Any],
    ) -> None:
        super().__init__(watch, short, full, None)
        self._arrays, self._give = arrays, give

    def __iter__(self) -> Iterator[Any]:
        super().__iter__()
        return self if self._code else self.begun(frame_of(1))

    def begun(self, frame: FrameType) -> Turns:
        """Take note of the place where the loop begins."""
        if self not in self._watch.loops:
            self._watch.loops.append(self)
        return super().begun(frame)

    def _index_in(self, code: CodeType, at: int) -> str:
        names = [one.opname for one in _instructions(code)[self._called : at + 1]]
        if code.co_flags & GENERATOR or names != ["GET_ITER", "FOR_ITER"]:
            raise Unlike("an array is used otherwise than by a loop")
        return ""

    def __next__(self) -> Any:
        at = self._next(frame_of(1))
        place = self.whole[self.turn]
        return self._give(at, [one[place] for one in self._arrays])


def _index(code: CodeType, called: int, at: int) -> str:
    """Return the index of the loop `for index in range(...)`.

    `called` is the instruction that calls `range` or `reversed`, and `at` that of the loop.
    """
    if code.co_flags & GENERATOR:
        raise Unlike("a generator has a long loop")
    steps = _instructions(code)
    found = steps[called : called + 4]
    *names, last = (one.opname for one in found)
    is_loop = names == ["CALL", "GET_ITER", "FOR_ITER"] and called + 2 == at
    if not (is_loop and last.startswith("STORE_FAST")):
        raise Unlike("a long range is used otherwise than by a loop")
    stored: Any = found[3].argval
    return str(stored[0] if isinstance(stored, TUPLE) else stored)


def _instruction(frame: FrameType) -> tuple[int, int]:
    """Return the identity of the code, and the number of the present instruction.

    Its place may be in its cache.
    """
    code = frame.f_code
    known = _offsets.get(id(code))  # the hash of code itself takes long
    if known is None or known[0] is not code:
        if len(_offsets) > 256:
            _offsets.clear()
        known = _offsets[id(code)] = code, [one.offset for one in _instructions(code)]
    return id(code), bisect_right(known[1], frame.f_lasti) - 1


_offsets: dict[int, tuple[CodeType, list[int]]] = {}


@lru_cache(maxsize=64)
def _instructions(code: CodeType) -> list[dis.Instruction]:
    return [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]


def _lists_of(code: CodeType, frame: FrameType) -> Iterator[str]:
    steps = _instructions(code)
    if code.co_exceptiontable:  # an index outside may be handled
        return
    inputs = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
    names = {*code.co_varnames[inputs + bool(code.co_flags & 8) :]} - {*code.co_cellvars}
    for name in names:
        if all(
            _is_plain_use(steps, n, frame)
            for n, one in enumerate(steps)
            if "FAST" in one.opname and name in _parts(one.argval)
        ):
            yield name


def _is_tracked(value: Any) -> bool:
    return isinstance(value, (AnyWrapper, Recorded))


def _parts(argval: Any) -> tuple[Any, ...]:
    return argval if isinstance(argval, TUPLE) else (argval,)


def _is_plain_use(steps: Sequence[dis.Instruction], n: int, frame: FrameType) -> bool:
    """Tell if an instruction makes a list, appends to it, indexes it, or gives it to a function."""
    one, after = steps[n], steps[n + 1 : n + 4]
    names = [step.opname for step in after]
    if one.opname == "STORE_FAST":
        return steps[n - 1].opname == "BUILD_LIST"
    if not one.opname.startswith("LOAD_FAST") or isinstance(one.argval, TUPLE):
        return False
    if names[0] in ("LOAD_METHOD", "LOAD_ATTR"):
        return after[0].argval == "append" and _is_called(steps, n + 1)
    if names[0] in ("LOAD_CONST", "LOAD_SMALL_INT") and type_of(after[0].argval) is int:
        return names[1] == "BINARY_SUBSCR" or after[1].argrepr == "[]"
    if names[0] in ("PRECALL", "CALL") and after[0].arg == 1:
        function = _loaded(steps[:n], steps, frame)
        return function in (builtins.sum, builtins.len) or _is_of_arrays(function)
    return False


def _is_called(steps: Sequence[dis.Instruction], n: int) -> bool:
    """Tell if a method that an instruction loads is called, and not kept."""
    one = steps[n]
    return one.opname == "LOAD_METHOD" or "NULL|self" in one.argrepr or "+ NULL" in one.argrepr


def _loaded(
    before: Sequence[dis.Instruction], steps: Sequence[dis.Instruction], frame: FrameType
) -> Any:
    """Return the function that the last instructions load, by the names of modules, or None."""
    path: list[str] = []
    for one in reversed([one for one in before[-4:] if one.opname != "PUSH_NULL"]):
        name = str(one.argval)
        if one.opname in ("LOAD_METHOD", "LOAD_ATTR"):
            path.append(name)
            continue
        stored = any(
            step.opname.startswith("STORE_FAST") for step in steps if name in _parts(step.argval)
        )
        if one.opname == "LOAD_GLOBAL":
            scope = frame.f_globals
            found = scope[name] if name in scope else vars(builtins).get(name)
        elif one.opname.startswith("LOAD_FAST") and not stored:
            found = frame.f_locals.get(name)
        else:
            return None
        for part in reversed(path):
            if not isinstance(found, ModuleType):
                return None
            found = getattr(found, part, None)
        return found
    return None


def _is_of_arrays(function: Any) -> bool:
    """Tell if a function of a library takes a list of arrays for one array."""
    return is_of_arrays(getattr(function, "__module__", None) or "") and function not in SHAPES


class Seen:
    """What Python's code can see of values, as something that can be compared.

    `described` says it of a number that also knows what it is at full size.
    """

    def __init__(
        self, is_users: Callable[[str], bool], described: Callable[[Twofold], Any]
    ) -> None:
        self._is_users = is_users
        self._described = described
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
        if kind is Twofold:
            return self._described(value)
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
