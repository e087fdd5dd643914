"""Repetition in long kernels: repeated pieces become a loop over a table of integers.

A kernel writes a *piece* for each of its groups and other steps. In a loop over rows and columns
the pieces of one turn differ from those of the next only in integers: offsets, lengths, and the
places of numbers that other turns read. The kernel marks these when it writes (`addresses.MARK`),
so that a piece is a *template* with holes. A repeating stretch of templates is written once, as the
body of a loop over a table of these integers. The lengths of slices may differ between turns, which
rules out one operation over all turns. If the integers of such loops (number of turns, place in
the table) repeat in turn, the loops are put into an outer loop in the same way.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.engines.c.addresses import MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LEAST_TURNS = 3
LONGEST_TURN = 160
"""The most pieces of one turn."""
STRIP = 48
"""The most pieces outside of loops that one function holds."""
LONG = 32
"""The number of lines from which code outside of loops becomes a function, for compile time."""
DEPTH = 4


class _Hole(NamedTuple):
    """A place in a template: for an integer, a value of another piece, or a local variable."""

    kind: str = ""
    """The C type of a value of another piece."""
    own: int = -1
    """The number of a local variable within its piece."""


INTEGER = _Hole()


class _Piece(NamedTuple):
    """The text of a step of a kernel, with holes for integers and variables."""

    code: int
    """The number of its template."""
    integers: tuple[int, ...]
    reads: tuple[str, ...]
    """The variables of other pieces that it reads."""
    made: tuple[str, ...]
    """Its own variables."""


class _Loop(NamedTuple):
    """A loop over rows of a table, as a part of a form."""

    form: _Form
    turns: int
    """The column with the number of turns."""
    first: int
    """The column with the number of the first row."""


class _Form:
    """The common text of all turns of one kind."""

    def __init__(self) -> None:
        self.parts: list[str | int | _Loop] = []
        """Text, and columns of a table."""
        self.width: int = 0
        self.table: list[Sequence[int]] = []
        """The rows of the turns that loops perform."""

    def append(self, part: str) -> None:
        self.parts.append(part)

    def column(self) -> int:
        """Add a column, and return its number."""
        self.width += 1
        return self.width - 1


class _Entry(NamedTuple):
    """A step of the code on one level: a form performed once, or a loop."""

    form: _Form
    is_loop: bool
    integers: Sequence[int]
    """The row of the form; for a loop its number of turns and its first row."""


class Turns:
    """Collects the pieces of a stretch, and writes it with loops."""

    def __init__(
        self, types: Mapping[str, str], outside: Mapping[str, str], function: Callable[[str], str]
    ) -> None:
        self.types = types
        """By variable that another piece may read: its C type."""
        self.outside = outside
        """By variable that all pieces may read: its C type."""
        self.function = function
        """Returns the name of a function, given its text."""
        self.pieces: list[_Piece] = []
        self.templates: list[tuple[str | _Hole, ...]] = []
        self.codes: dict[tuple[str | _Hole, ...], int] = {}
        self.maker: dict[str, tuple[int, int]] = {}
        """By variable: the piece that defines it, and its number within the piece."""
        self.notes: list[str] = []
        """Notes for `.explain()` on the loops found."""

    def add(self, text: str) -> None:
        """Add the next piece: a text with marks."""
        integers: list[int] = []
        reads: list[str] = []
        own: dict[str, int] = {}
        maker = self.maker
        parts: list[str | _Hole] = []
        for number, part in enumerate(text.split(MARK)):
            if not number % 2:
                parts.append(part)
            elif not part[0].isalpha():
                integers.append(int(part))
                parts.append(INTEGER)
            elif (name := f"{MARK}{part}{MARK}") in self.outside:
                parts.append(name)
            elif name in maker:
                reads.append(name)
                parts.append(_Hole(self.types[name]))
            else:
                parts.append(_Hole(own=own.setdefault(name, len(own))))
        template = tuple(parts)
        code = self.codes.get(template)
        if code is None:
            code = self.codes[template] = len(self.templates)
            self.templates.append(template)
        for name, number in own.items():
            maker[name] = (len(self.pieces), number)
        made = tuple(name for name in own if name in self.types)
        self.pieces.append(_Piece(code, tuple(integers), tuple(reads), made))

    def written(
        self, needed: Sequence[str], take: Callable[[int], int]
    ) -> tuple[list[str], dict[str, str]]:
        """Write the stretch; return its lines, and the texts of the numbers that are read later.

        `take` allocates bytes of the workspace and returns their offset.
        """
        codes = [piece.code for piece in self.pieces]
        spans = _in_strips(_with_rest(codes, repetitions(codes, 8)))
        entries, places = self._entries(spans, needed, take)
        for _ in range(DEPTH):
            spans = repetitions(_codes_of(entries), 4)
            if not any(turns for _, _, turns in spans):
                break
            entries = _outer(entries, spans)
        self.notes = _described(entries)
        writer = _Writer(self.outside, self.function)
        for entry in entries:
            writer.entry(entry)
        texts = {name: self._place(name, places) for name in needed}
        return [*writer.tables, *writer.lines], texts

    def _place(self, name: str, places: dict[str, int]) -> str:
        return f"(*({self.types[name]} *)(w + {places[name]}))"

    def _entries(
        self,
        spans: list[tuple[int, int, int]],
        needed: Sequence[str],
        take: Callable[[int], int],
    ) -> tuple[list[_Entry], dict[str, int]]:
        """Return the entries of the innermost level, and the places of numbers in memory."""
        starts: defaultdict[Any, list[int]] = defaultdict(list)
        keys: list[Any] = []
        for start, length, turns in spans:
            key = (turns > 0, *(piece.code for piece in self.pieces[start : start + length]))
            keys.append(key)
            starts[key].extend(range(start, start + max(turns, 1) * length, length))
        inside: dict[Any, dict[tuple[int, int], tuple[int, int]]] = {}
        wanted = set(needed)
        for key, found in starts.items():
            inside[key] = self._inside(found, len(key) - 1)
            for start in found:
                for place in range(len(key) - 1):
                    for number, name in enumerate(self.pieces[start + place].reads):
                        if (place, number) not in inside[key]:
                            wanted.add(name)
        stored: dict[Any, list[tuple[int, int]]] = {}
        in_memory: list[str] = []
        for key, found in starts.items():
            stored[key] = [
                (place, number)
                for place in range(len(key) - 1)
                for number in range(len(self.pieces[found[0] + place].made))
                if any(self.pieces[start + place].made[number] in wanted for start in found)
            ]
            in_memory += [
                self.pieces[s + p].made[number] for s in found for p, number in stored[key]
            ]
        first = take(8 * len(in_memory))
        places = {name: first + 8 * number for number, name in enumerate(in_memory)}
        forms = {
            key: self._form(found[0], len(key) - 1, inside[key], stored[key])
            for key, found in starts.items()
        }
        entries: list[_Entry] = []
        for key, (start, length, turns) in zip(keys, spans, strict=True):
            form = forms[key]
            rows = [
                self._row(start + turn * length, length, inside[key], stored[key], places)
                for turn in range(max(turns, 1))
            ]
            if turns:
                entries.append(_Entry(form, True, (turns, len(form.table))))
                form.table += rows
            else:
                entries.append(_Entry(form, False, rows[0]))
        return entries, places

    def _inside(self, starts: list[int], length: int) -> dict[tuple[int, int], tuple[int, int]]:
        """Map each read of a turn to the piece of the same turn that defines the number."""
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for place in range(length):
            for number in range(len(self.pieces[starts[0] + place].reads)):
                made = {self._made_at(start, place, number) for start in starts}
                (one, *others) = made
                if one is not None and not others:
                    found[place, number] = one
        return found

    def _made_at(self, start: int, place: int, number: int) -> tuple[int, int] | None:
        name = self.pieces[start + place].reads[number]
        piece, own = self.maker[name]
        return (piece - start, own) if piece >= start else None

    def _form(
        self,
        start: int,
        length: int,
        inside: dict[tuple[int, int], tuple[int, int]],
        stored: list[tuple[int, int]],
    ) -> _Form:
        """Write the body of a turn."""
        form = _Form()
        for place in range(length):
            read, begin = 0, len(form.parts)
            for part in self.templates[self.pieces[start + place].code]:
                if isinstance(part, str):
                    form.append(part)
                elif part is INTEGER:
                    form.parts.append(form.column())
                elif part.own >= 0:
                    form.append(f"v{place}_{part.own}")
                elif (place, read) in inside:
                    piece, own = inside[place, read]
                    form.append(f"v{piece}_{own}")
                    read += 1
                else:
                    form.append(f"(*({part.kind} *)(w + ")
                    form.parts.append(-1 - read)
                    form.append("))")
                    read += 1
            for number, found in enumerate(form.parts[begin:], begin):
                if type(found) is int and found < 0:
                    form.parts[number] = form.column()
            form.append("\n")
            for mine, number in stored:
                if mine == place:
                    name = self.pieces[start + place].made[number]
                    form.append(f"*({self.types[name]} *)(w + ")
                    form.parts.append(form.column())
                    form.append(f") = v{place}_{self.maker[name][1]};\n")
        return form

    def _row(
        self,
        start: int,
        length: int,
        inside: dict[tuple[int, int], tuple[int, int]],
        stored: list[tuple[int, int]],
        places: dict[str, int],
    ) -> list[int]:
        """Return the integers of a turn, in the order of its form's columns."""
        row: list[int] = []
        for place in range(length):
            _, integers, reads, made = self.pieces[start + place]
            row += integers
            row += [
                places[name] for number, name in enumerate(reads) if (place, number) not in inside
            ]
            row += [places[made[number]] for mine, number in stored if mine == place]
        return row


# Search for turns ---------------------------------------------------------------------------------


def repetitions(codes: list[int], gram: int) -> list[tuple[int, int, int]]:
    """Split a sequence into spans (start, length of a turn, turns); 0 turns outside of loops."""
    spans: list[tuple[int, int, int]] = []
    following = _next_alike(codes, gram)
    start = at = 0
    while at < len(codes):
        period, turns = following[at], 1
        if period:
            turn = codes[at : at + period]
            while codes[at + turns * period : at + (turns + 1) * period] == turn:
                turns += 1
        if turns < LEAST_TURNS:
            at += 1
            continue
        if at > start:
            spans.append((start, at - start, 0))
        spans.append((at, period, turns))
        at += turns * period
        start = at
    if at > start:
        spans.append((start, at - start, 0))
    return spans


def _next_alike(codes: list[int], size: int) -> list[int]:
    """For each place, return the distance to the next equal stretch; 0 if it is far."""
    last: dict[tuple[int, ...], int] = {}
    found = [0] * len(codes)
    for at in range(len(codes) - 1, -1, -1):
        gram = tuple(codes[at : at + size])
        distance = last.get(gram, len(codes) + LONGEST_TURN) - at
        found[at] = distance if distance <= LONGEST_TURN else 0
        last[gram] = at
    return found


def _with_rest(codes: list[int], spans: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Turn single copies of a loop's turn into loops too, if loops cover most of the code."""
    if 2 * sum(length * turns for _, length, turns in spans) < len(codes):
        return spans
    kinds: defaultdict[int, list[list[int]]] = defaultdict(list)
    for start, length, turns in spans:
        turn = codes[start : start + length]
        if turns and turn not in kinds[turn[0]]:
            kinds[turn[0]].append(turn)
    made: list[tuple[int, int, int]] = []
    for start, length, turns in spans:
        if turns:
            made.append((start, length, turns))
            continue
        begin, at, end = start, start, start + length
        while at < end:
            found = [turn for turn in kinds.get(codes[at], ()) if _is_at(turn, codes, at, end)]
            if not found:
                at += 1
                continue
            turn = max(found, key=len)
            count = 1
            while _is_at(turn, codes, at + count * len(turn), end):
                count += 1
            if at > begin:
                made.append((begin, at - begin, 0))
            made.append((at, len(turn), count))
            begin = at = at + count * len(turn)
        if end > begin:
            made.append((begin, end - begin, 0))
    return made


def _in_strips(spans: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Cut long spans outside of loops into strips."""
    made: list[tuple[int, int, int]] = []
    for start, length, turns in spans:
        if turns or length < 2 * STRIP:
            made.append((start, length, turns))
            continue
        end = start + length
        made += [(at, min(STRIP, end - at), 0) for at in range(start, end, STRIP)]
    return made


def _is_at(turn: list[int], codes: list[int], at: int, end: int) -> bool:
    return at + len(turn) <= end and codes[at : at + len(turn)] == turn


def _described(entries: list[_Entry]) -> list[str]:
    """Describe the outer loops: their depth, turns and number."""
    by_depth: defaultdict[int, list[int]] = defaultdict(list)
    for entry in entries:
        if entry.is_loop:
            by_depth[_depth(entry.form)].append(entry.integers[0])
    found: list[str] = []
    for depth, turns in by_depth.items():
        least, most = min(turns), max(turns)
        text = f"{most}" if least == most else f"{least} to {most}"
        times = f" ({len(turns)} times)" if len(turns) > 1 else ""
        what = "loop" if depth == 1 else f"{depth} nested loops, the outer one"
        found.append(f"{what} of {text} turns{times}")
    return found


def _depth(form: _Form) -> int:
    """Return the depth of nested loops, counting the one that performs a form."""
    return 1 + max((_depth(part.form) for part in form.parts if isinstance(part, _Loop)), default=0)


def _codes_of(entries: list[_Entry]) -> list[int]:
    codes: dict[Any, int] = {}
    return [codes.setdefault((id(entry.form), entry.is_loop), len(codes)) for entry in entries]


def _outer(entries: list[_Entry], spans: list[tuple[int, int, int]]) -> list[_Entry]:
    """Put repeating entries into loops."""
    made: list[_Entry] = []
    forms: dict[Any, _Form] = {}
    for start, length, turns in spans:
        if not turns:
            made += entries[start : start + length]
            continue
        turn = entries[start : start + length]
        key = tuple((id(entry.form), entry.is_loop) for entry in turn)
        if key not in forms:
            forms[key] = _together(turn)
        form = forms[key]
        made.append(_Entry(form, True, (turns, len(form.table))))
        for at in range(start, start + turns * length, length):
            row: list[int] = []
            for entry in entries[at : at + length]:
                row += entry.integers
            form.table.append(row)
    return made


def _together(turn: list[_Entry]) -> _Form:
    """Return the form of entries that are performed in sequence."""
    form = _Form()
    for entry in turn:
        first = form.width
        if entry.is_loop:
            form.width += 2
            form.parts.append(_Loop(entry.form, first, first + 1))
            continue
        form.width += entry.form.width
        form.append("{\n")
        for part in entry.form.parts:
            if isinstance(part, str):
                form.append(part)
            elif isinstance(part, int):
                form.parts.append(part + first)
            else:
                form.parts.append(part._replace(turns=part.turns + first, first=part.first + first))
        form.append("}\n")
    return form


# Writing ------------------------------------------------------------------------------------------


class _Writer:
    """Writes entries, and the tables of their loops."""

    def __init__(self, outside: Mapping[str, str], function: Callable[[str], str]) -> None:
        self.outside = outside
        self.function = function
        self.tables: list[str] = []
        self.lines: list[str] = []
        self.columns: dict[int, tuple[str, int, list[str]]] = {}
        """By form: its table, the table's width, and the text of each column."""

    def entry(self, entry: _Entry) -> None:
        """Write an entry of the outermost level."""
        texts = [str(number) for number in entry.integers]
        if entry.is_loop:
            text = self._loop(_Loop(entry.form, 0, 1), texts, 0)
        else:
            text = "{\n" + self._text(entry.form, texts, 0) + "}\n"
            if text.count("\n") > LONG and not self._has_loops(entry.form):
                text = self._called(text)
        self.lines += text.splitlines()

    def _has_loops(self, form: _Form) -> bool:
        return any(isinstance(part, _Loop) for part in form.parts)

    def _called(self, text: str) -> str:
        """Write a text as a function, and return its call."""
        names = sorted(name for name in self.outside if name in text)
        parameters = ["char *w", *(f"{self.outside[name]} {name}" for name in names)]
        head = f"static __attribute__((noinline)) int NAME({', '.join(parameters)}) {{"
        name = self.function(f"{head}\n{text}return 0;\n}}".replace(MARK, ""))
        return f"if ({name}({', '.join(['w', *names])})) return 2;\n"

    def _text(self, form: _Form, texts: Sequence[str], depth: int) -> str:
        parts: list[str] = []
        for part in form.parts:
            if isinstance(part, str):
                parts.append(part)
            elif isinstance(part, int):
                parts.append(texts[part])
            else:
                parts.append(self._loop(part, texts, depth))
        return "".join(parts)

    def _loop(self, loop: _Loop, texts: Sequence[str], depth: int) -> str:
        """Return the text of a loop; `texts` are the integers of the enclosing form."""
        if id(loop.form) not in self.columns:
            self.columns[id(loop.form)] = self._table(loop.form)
        table, width, inner = self.columns[id(loop.form)]
        turns, first = texts[loop.turns], texts[loop.first]
        if not width:
            head = f"for (long k{depth} = 0; k{depth} < {turns}; k{depth}++) {{\n"
            return head + self._text(loop.form, inner, depth + 1) + "}\n"
        row = f"p{depth}"
        return (
            f"for (const {table} + {first} * {width}L, *{row}e = {row} + {turns} * {width}L; "
            f"{row} < {row}e; {row} += {width}) {{\n".replace("ROW", row)
            + self._text(loop.form, [text.replace("ROW", row) for text in inner], depth + 1)
            + "}\n"
        )

    def _table(self, form: _Form) -> tuple[str, int, list[str]]:
        """Write a table of the columns in which the rows of a form differ."""
        columns = list(zip(*form.table, strict=True))
        varying = [column for column in columns if any(one != column[0] for one in column)]
        if not varying:
            return "", 0, [str(column[0]) for column in columns]
        name = f"T{len(self.tables)}"
        kind = "int" if max(map(max, varying)) < 1 << 31 else "long"
        rows = ",".join(",".join(map(str, row)) for row in zip(*varying, strict=True))
        self.tables.append(f"static const {kind} {name}[] = {{{rows}}};")
        number = itertools.count()
        places = [
            str(column[0]) if all(one == column[0] for one in column) else f"ROW[{next(number)}]"
            for column in columns
        ]
        return f"{kind} *ROW = {name}", len(varying), places
