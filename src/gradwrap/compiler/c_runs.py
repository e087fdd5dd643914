"""Long runs of operations on numbers: repeated turns become one function, called in a loop.

A loop over elements whose turns depend on each other leaves thousands of statements. They are cut
where they repeat. What one strip of them needs of another lies in memory, so that strips with the
same text are one function; calls whose addresses go up by equal steps are a loop again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.c_operations import TYPES, converted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STRIP = 48
"""The most statements of one function."""
LONGEST_TURN = 160


class Local(NamedTuple):
    """An operand that another statement of the run has given."""

    value: int
    """The number of its value."""
    dtype: Any


class Place(NamedTuple):
    """An operand in memory, or where a result goes: a pointer and a number of elements."""

    pointer: str
    offset: int
    dtype: Any


class Text(NamedTuple):
    """An operand that is a variable of the kernel."""

    text: str
    dtype: Any


class Literal(NamedTuple):
    """An operand that is a number, as C writes it."""

    text: str


class NumberStatement(NamedTuple):
    """One operation on numbers."""

    out: int
    """The number of its value; what is stored has none that is read."""
    dtype: Any
    expression: str
    operands: tuple[Local | Place | Text | Literal, ...]
    dtypes: tuple[Any, ...]
    store: Place | None = None
    operator: str = "="


class _Call(NamedTuple):
    function: str
    arguments: tuple[tuple[str, int | None], ...]
    """Texts, with the number of elements to add to those that are pointers."""


def written_run(
    statements: Sequence[NumberStatement],
    needed: set[int],
    function: Callable[[str], str],
    slots: str,
) -> tuple[list[str], dict[int, str], int]:
    """Write a run: its lines, the texts of the values that are needed later, and the slots it uses.

    `function` names a function's text; `slots` is a pointer to doubles.
    """
    strips = _cut(statements)
    place: dict[int, int] = {}
    home: dict[int, int] = {}
    for number, strip in enumerate(strips):
        for statement in strip:
            home[statement.out] = number
    for number, strip in enumerate(strips):
        for statement in strip:
            for operand in statement.operands:
                if isinstance(operand, Local) and home[operand.value] != number:
                    place.setdefault(operand.value, 0)
    place |= dict.fromkeys(needed & home.keys(), 0)
    for count, index in enumerate(i for i in home if i in place):
        place[index] = count
    dtypes = {statement.out: statement.dtype for statement in statements}
    calls = [_call(strip, place, slots, function) for strip in strips]
    texts = {
        index: f"*({TYPES[dtypes[index]]} *)({slots} + {place[index]})"
        for index in needed
        if index in place
    }
    return _looped(calls), texts, len(place)


def _code(statement: NumberStatement) -> Any:
    """What two statements of the same form agree in."""
    operands = tuple(
        operand if isinstance(operand, (Literal, Text)) else (type(operand), operand.dtype)
        for operand in statement.operands
    )
    store = statement.store and (statement.store.pointer, statement.store.dtype, statement.operator)
    return statement.expression, statement.dtype, operands, statement.dtypes, store


def _cut(statements: Sequence[NumberStatement]) -> list[Sequence[NumberStatement]]:
    """Cut a run into strips: whole turns where they repeat."""
    ids: dict[Any, int] = {}
    codes = [ids.setdefault(_code(statement), len(ids)) for statement in statements]
    strips: list[Sequence[NumberStatement]] = []
    start, at = 0, 0
    following = _next_alike(codes)
    while at < len(codes):
        period = following[at]
        turns = 1
        if period:
            turn = codes[at : at + period]
            while codes[at + turns * period : at + (turns + 1) * period] == turn:
                turns += 1
        if turns < 3:
            at += 1
            if at - start == STRIP:
                strips.append(statements[start:at])
                start = at
            continue
        if at > start:
            strips.append(statements[start:at])
        strips += [statements[at + i * period :][:period] for i in range(turns)]
        at += turns * period
        start = at
    if at > start:
        strips.append(statements[start:at])
    return strips


def _next_alike(codes: list[int]) -> list[int]:
    """For each place, the distance to the next place with the same few codes; 0 if it is far."""
    size = 8
    last: dict[tuple[int, ...], int] = {}
    found = [0] * len(codes)
    for at in range(len(codes) - 1, -1, -1):
        gram = tuple(codes[at : at + size])
        distance = last.get(gram, len(codes) + LONGEST_TURN) - at
        found[at] = distance if distance <= LONGEST_TURN else 0
        last[gram] = at
    return found


def _call(
    strip: Sequence[NumberStatement],
    place: dict[int, int],
    slots: str,
    function: Callable[[str], str],
) -> _Call:
    """Write the function of a strip, and the arguments of its call."""
    parameters: list[str] = []
    arguments: list[tuple[str, int | None]] = []
    body: list[str] = []
    names: dict[Any, str] = {}

    def parameter(kind: str, text: str, offset: int | None) -> str:
        name = f"p{len(parameters)}"
        parameters.append(f"{kind}{name}")
        arguments.append((text, offset))
        return name

    def read(operand: Local | Place | Text | Literal, dtype: Any) -> str:
        if isinstance(operand, Literal):
            return operand.text
        kind = TYPES[operand.dtype]
        if isinstance(operand, Place):
            name = parameter(f"const {kind} *", operand.pointer, operand.offset)
            text = f"*{name}"
        elif operand not in names:
            if isinstance(operand, Text):
                text = parameter(f"const {kind} ", operand.text, None)
            else:
                name = parameter("const double *", slots, place[operand.value])
                text = f"l{name}"
                body.append(f"const {kind} {text} = *(const {kind} *){name};")
            names[operand] = text
        else:
            text = names[operand]
        return converted(text, operand.dtype, dtype)

    for number, statement in enumerate(strip):
        pairs = zip(statement.operands, statement.dtypes, strict=True)
        expression = statement.expression.format(*[read(one, dtype) for one, dtype in pairs])
        kind = TYPES[statement.dtype]
        if statement.store is not None:
            target = statement.store
            name = parameter(f"{TYPES[target.dtype]} *", target.pointer, target.offset)
            body.append(f"*{name} {statement.operator} {expression};")
            continue
        body.append(f"const {kind} v{number} = {expression};")
        names[Local(statement.out, statement.dtype)] = f"v{number}"
        if statement.out in place:
            name = parameter("double *", slots, place[statement.out])
            body.append(f"*({kind} *){name} = v{number};")
    head = f"static __attribute__((noinline)) void NAME({', '.join(parameters)}) {{"
    text = "\n".join([head, *(f"    {line}" for line in body), "}"])
    return _Call(function(text), tuple(arguments))


def _looped(calls: list[_Call]) -> list[str]:
    """Write calls, as loops where addresses go up by equal steps."""
    lines: list[str] = []
    at = 0
    while at < len(calls):
        steps = _steps(calls[at], calls[at + 1]) if at + 1 < len(calls) else None
        end = at + 1
        while (
            steps is not None and end < len(calls) and _steps(calls[end - 1], calls[end]) == steps
        ):
            end += 1
        if steps is None or end - at < 3:
            lines.append(f"{calls[at].function}({_arguments(calls[at], None)});")
            at += 1
            continue
        text = f"{calls[at].function}({_arguments(calls[at], steps)});"
        lines.append(f"for (long k = 0; k < {end - at}; k++) {text}")
        at = end
    return lines


def _steps(one: _Call, two: _Call) -> tuple[int, ...] | None:
    """By how much each address goes up from one call to the next; None if they differ otherwise."""
    if one.function != two.function:
        return None
    steps: list[int] = []
    for (text, offset), (other, later) in zip(one.arguments, two.arguments, strict=True):
        if text != other:
            return None
        steps.append(0 if offset is None or later is None else later - offset)
    return tuple(steps)


def _arguments(call: _Call, steps: tuple[int, ...] | None) -> str:
    parts: list[str] = []
    for number, (text, offset) in enumerate(call.arguments):
        part = text if offset is None else f"{text} + {offset}"
        if steps is not None and steps[number]:
            part = f"{part} + k * {steps[number]}"
        parts.append(part)
    return ", ".join(parts)
