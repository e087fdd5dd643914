"""Nests as loops of the program: where each operand of each operation comes from.

A `Node` is a loop with its *instances*: the turns that the trace performed, each with its place
among the turns of the loops around. The operand of an operation, over all instances, is a *column*
of values. `Emission.value` says what a column is: one value for all, a result of the same turn,
what the turn before handed on (a carry), what an inner loop has left (a final value), or the result
of a turn of another loop (an element of a stack).

Stacks have room for the most turns of each loop. What no turn has written is not read either.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.layout import describe_orders
from gradwrap.compiler.ir.program import (
    Carry,
    Constant,
    Instr,
    Loop,
    Ref,
    Value,
    copy,
    getitem,
    token,
    zeros,
)
from gradwrap.compiler.rolling.nests.search import Search, Token
from gradwrap.compiler.rolling.segments import Decline, leaves_of, normalised, with_leaves
from gradwrap.core.values.dynamic import LIST, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.compiler.ir.program import Program

LONGEST = 1500
"""The longest program of nests, in operations."""
SAMPLE = 200
"""The instances from which the law of an integer is computed; all others are compared with it."""
DISTANCE = 3
"""The most turns over which a value is carried."""
INTEGER = np.dtype(np.int64)
ANY = -1
"""In a column: a value that nothing reads, and that may be any."""


class Row:
    """An operation of a nest, with its positions in the trace by instance."""

    def __init__(self, node: Node, place: int, at: Any) -> None:
        self.node = node
        self.place = place
        self.at = at
        self.out: Ref = Ref(-1)
        self.stack: dict[int, Ref] = {}
        """By the identity of a node around: the stack of all turns within it."""


class Variable:
    """What each turn of a loop hands to the next: columns of what turns begin and end with."""

    def __init__(self, value: Ref, column: Any, firsts: Any, nexts: Any) -> None:
        self.value = value
        self.column = column
        """By instance: what the turn begins with."""
        self.firsts = firsts
        """By instance of the loop around: what the first turn begins with."""
        self.nexts = nexts
        """By instance: what the turn ends with."""
        self.after: Ref | None = None
        """The body value that a turn ends with, once it is known."""


class Node:
    """A loop with its instances; the whole program is one with a single turn."""

    def __init__(self, parent: Node | None, place: int, counts: Any) -> None:
        self.parent = parent
        self.place = place
        """The place among the items of the parent."""
        self.counts = counts
        """By instance of the parent: the number of turns."""
        self.around: Any = np.repeat(np.arange(len(counts)), counts)
        """By instance: the instance of the parent."""
        starts = np.cumsum(counts) - counts
        self.turn: Any = np.arange(len(self.around)) - starts[self.around]
        self.starts = starts
        self.most: int = int(counts.max(initial=0))
        self.items: list[Row | Node] = []
        self.variables: list[Variable] = []
        self.loop: Loop = Loop(self.most)
        self.is_done: bool = False
        self.head: list[Any] = []
        """Steps that compute integers, at the beginning of a turn."""
        self.current: int = 0
        """The place of the item that is written now."""
        self.coordinates: Any = (
            self.turn[None, :][:0]
            if parent is None
            else np.vstack([parent.coordinates[:, self.around], self.turn])
        )
        self.path: list[Node] = [] if parent is None else [*parent.path, self]

    def up(self, instances: Any, node: Node) -> Any:
        """Return the instances of a loop around that hold instances of this one."""
        here = self
        while here is not node:
            instances = here.around[instances]
            assert here.parent is not None
            here = here.parent
        return instances


def may_have_nests(program: Program) -> bool:
    """Tell if a program that was traced has loops whose turns vary in number."""
    search = _search(program)
    if search is None:
        return False
    search.run()
    return search.is_uneven


def roll_nests(program: Program) -> bool:
    """Roll the loops of a program if the turns of some vary in number; tell if there are some.

    The operations stay the same, in the same order, so that results are the same bit for bit.
    """
    search = _search(program)
    if search is None:
        return False
    found = search.run()
    if not search.is_uneven:
        return False
    made = program.copy()
    emission = Emission(made, search.body)
    try:
        emission.write(found)
    except Decline as why:
        program.notes.append(f"no nest of loops: {why}")
        return False
    if made.length() > min(LONGEST, len(search.body) // 2) or not emission.counted:
        return False
    describe_orders(made, len(program.values))
    program.values[:] = made.values
    program.constants = made.constants
    program.root = made.root
    program.notes += emission.notes
    return True


def _search(program: Program) -> Search | None:
    """Return the search in a program; None if it is none of operations alone, or a short one."""
    body: list[Instr] = []
    for step in program.root.body:
        if isinstance(step, Loop):
            return None
        body.append(normalised(step, program.values))
    if len(body) < FEWEST or program.root.guard is not None:
        return None
    tokens, codes = _tokens(body, program.values)
    return Search(body, tokens, codes)


FEWEST = 40
"""The shortest program in which nests are looked for."""


def _tokens(body: Sequence[Instr], values: Sequence[Value]) -> tuple[list[Token], int]:
    """Return the operations as tokens, and the number of their codes."""
    kinds: dict[Value, int] = {}
    known: dict[int, int] = {}
    codes: dict[Any, int] = {}

    def kind(index: int) -> int:
        found = known.get(index)
        if found is None:
            found = known[index] = kinds.setdefault(values[index], len(kinds))
        return found

    def signature(leaf: Any) -> Any:
        return (Ref, kind(leaf.index)) if type(leaf) is Ref else token(leaf)

    made: list[Token] = []
    for at, step in enumerate(body):
        numbers: list[int] = []
        parts: list[Any] = [step.name, step.fn, kind(step.out), step.kw and token(step.kw)]
        for number, arg in enumerate(step.args):
            if step.op.has_key and number == 1:
                key = arg if isinstance(arg, TUPLE) else (arg,)
                parts.append(isinstance(arg, TUPLE))
                for part in key:
                    if type(part) is int:
                        numbers.append(part)
                        parts.append("i")
                    else:
                        parts.append(signature(part))
            elif isinstance(arg, (TUPLE, LIST)):
                parts.append((type_of(arg), *map(signature, leaves_of(arg))))
            else:
                parts.append(signature(arg))
        code = codes.setdefault(tuple(parts), len(codes))
        made.append(Token(code, tuple(numbers), at))
    return made, len(codes)


class Emission:
    """Writes the loops of nests."""

    def __init__(self, program: Program, body: Sequence[Instr]) -> None:
        self.program = program
        self.body = body
        self.flat: list[list[Any]] = [[*leaves_of(s.args), *leaves_of(s.kw)] for s in body]
        self.counted: int = 0
        """The loops whose number of turns varies."""
        self.notes: list[str] = []
        self.rows: list[Row] = []
        self.row_of: Any = np.full(len(body), -1)
        """By position in the trace: the number of the row."""
        self.instance_of: Any = np.zeros(len(body), int)
        size = len(program.values) + 1
        self.at_of: Any = np.full(size, -1)
        """By value of the trace: the position of its operation; -1 for inputs and constants."""
        self.at_of[[step.out for step in body]] = np.arange(len(body))
        self.tables: dict[bytes, Ref] = {}
        self.integers: dict[Any, Any] = {}
        self.sinks: dict[int, list[Any]] = {}
        self.unread: dict[Any, Ref] = {}
        self.own: set[int] = set()
        """The integers that the heads of loops compute."""

    def write(self, tokens: Sequence[Token]) -> None:
        """Write the program."""
        program = self.program
        self.root: Node = Node(None, 0, np.array([1]))
        root = self.root
        self._enter(root, [[token] for token in tokens])
        for number, row in enumerate(self.rows):
            self.row_of[row.at] = number
            self.instance_of[row.at] = np.arange(len(row.at))
        self._node(root)
        result = program.root.result
        assert result is not None
        leaves = [
            self.value(root, len(root.items), np.array([leaf.index])) if type(leaf) is Ref else leaf
            for leaf in result.leaves
        ]
        program.root.result = result._replace(leaves=tuple(leaves))
        program.root.body = root.loop.body

    def _enter(self, node: Node, columns: Sequence[Sequence[Token]]) -> None:
        """Enter the items of a node; each column has a token for each instance."""
        for column in columns:
            one = column[0]
            if one.turns is None:
                row = Row(node, len(node.items), np.array([token.at for token in column]))
                node.items.append(row)
                self.rows.append(row)
                continue
            turns = [token.turns or [] for token in column]
            counts = np.array([*map(len, turns)])
            inner = [turn for one in turns for turn in one]
            if not inner:
                continue
            if (counts == 1).all():  # no loop, but the operations of one
                self._enter(node, [*zip(*inner, strict=True)])
                continue
            child = Node(node, len(node.items), counts)
            node.items.append(child)
            self._enter(child, [*zip(*inner, strict=True)])

    # Steps ----------------------------------------------------------------------------------------

    def _node(self, node: Node) -> None:
        for place, item in enumerate(node.items):
            node.current = place
            if isinstance(item, Row):
                self._row(item)
            else:
                self._node(item)
        node.current = len(node.items)
        if node.parent is None:
            return
        done = 0
        while done < len(node.variables):
            self._settle(node, node.variables[done])
            done += 1
        parent, loop = node.parent, node.loop
        if (node.counts != node.most).any():
            everywhere = np.ones(len(node.counts), bool)
            loop.count = self.integer(parent, node.counts, everywhere)
            self.counted += 1
            least, line = int(node.counts.min()), loop.line
            where = f"line {line}" if line else "a backward pass"
            self.notes.append(f"loop: {least} to {node.most} turns, {where}")
        node.is_done = True
        loop.body[:0] = node.head
        node.head = loop.body  # later ones are inserted there
        self.sink(parent).append(loop)

    def sink(self, node: Node) -> list[Any]:
        """Return the steps to which those of a node are appended."""
        return self.sinks.get(id(node), node.loop.body)

    def _row(self, row: Row) -> None:
        node = row.node
        places: list[int] = row.at.tolist()
        first = self.body[places[0]]
        columns = zip(*[self.flat[at] for at in places], strict=True)
        leaves = [self._operand(node, column) for column in columns]
        args, kw = with_leaves((first.args, first.kw), iter(leaves))
        value = self.program.values[first.out]
        row.out = Ref(first.out) if node.parent is None else self.program.new(value)
        self.sink(node).append(
            Instr(
                *(first.fn, first.name, args, kw, row.out.index, first.views, first.line),
                copied=node.parent is None and first.copied,
            )
        )

    def _operand(self, node: Node, column: tuple[Any, ...]) -> Any:
        first = column[0]
        kind = type_of(first)
        if any(type_of(leaf) is not kind for leaf in column):
            raise Decline("a value stands beside a number")
        if kind is Ref:
            return self.value(node, node.current, np.array([leaf.index for leaf in column]))
        wanted = token(first)
        if all(token(leaf) == wanted for leaf in column):
            return first
        if kind is not int:
            raise Decline("what is no integer varies")
        return self.integer(node, np.array(column), np.ones(len(column), bool))

    def _numbered(self, number: int) -> Row:
        return self.rows[number]

    # Values ---------------------------------------------------------------------------------------

    def value(self, node: Node, place: int, column: Any) -> Ref:
        """Return the value that a column is, for an item at a place in a node.

        Raises
        ------
        Decline
            It is none of those that a loop can read.
        """
        known = column != ANY
        if not known.any():
            raise Decline("a value is not known in any turn")
        given = column[known]
        at = self.at_of[given]
        numbers = np.where(at < 0, -1, self.row_of[at])
        different = np.unique(numbers)
        if (given == given[0]).all():
            row = self.rows[int(numbers[0])] if numbers[0] >= 0 else None
            if row is None or (row.node is self.root and row.out.index >= 0):
                return Ref(int(given[0]))
        instances = np.flatnonzero(known)
        theirs = self.instance_of[at]
        if len(different) == 1 and different[0] >= 0:
            row = self.rows[int(different[0])]
            if row.node is node and row.place < place and (theirs == instances).all():
                found: Ref = row.out
                return found
        # the item of this node that holds each producer, if it is in the same turn
        places = np.full(len(given), -1)
        for number in different[different >= 0].tolist():
            row = self._numbered(number)
            mine = numbers == number
            if node.parent is None or node in row.node.path:
                same = row.node.up(theirs[mine], node) == instances[mine]
                inner = row.node.path[len(node.path) :]
                places[mine] = np.where(same, inner[0].place if inner else row.place, -1)
        last = int(places.max())
        if last >= place:
            raise Decline("a value is read before it is computed")
        child = node.items[last] if last >= 0 else None
        if isinstance(child, Node):
            inside = places == last
            if not self._is_last(child, numbers[inside], theirs[inside]):
                with suppress(Decline):
                    return self._stacked(node, column, known, numbers, theirs)
            try:
                return self._final(node, child, column, known, inside, instances)
            except Decline:
                if (places < 0).any():
                    raise
                return self._stacked(node, column, known, numbers, theirs)
        if node.parent is None:
            raise Decline("a value is of no loop")
        return self._from_before(node, column, known, numbers, theirs)

    def _is_last(self, child: Node, numbers: Any, theirs: Any) -> bool:
        """Tell if values are of the last turns of a loop."""
        for number in np.unique(numbers).tolist():
            row, mine = self._numbered(number), numbers == number
            there = row.node.up(theirs[mine], child)
            if (child.turn[there] != child.counts[child.around[there]] - 1).any():
                return False
        return True

    def _from_before(self, node: Node, column: Any, known: Any, numbers: Any, theirs: Any) -> Ref:
        """Return a value that an earlier turn, or a step around the loop, computed."""
        assert node.parent is not None
        instances = np.flatnonzero(known)
        turns = np.full(len(numbers), -1)
        for number in np.unique(numbers[numbers >= 0]).tolist():
            row = self._numbered(number)
            if node in row.node.path:
                mine = numbers == number
                theirs_here = row.node.up(theirs[mine], node)
                same = node.around[theirs_here] == node.around[instances[mine]]
                turns[mine] = np.where(same, node.turn[theirs_here], -1)
        if (turns < 0).all():
            outer = np.full(len(node.counts), ANY)
            outer[node.around[instances]] = column[known]
            if (outer[node.around[instances]] == column[known]).all():
                try:
                    return self._outside(node, outer)
                except Decline:
                    pass
            return self._stacked(node, column, known, numbers, theirs)
        mine = node.turn[instances]
        if (mine - turns)[turns >= 0].max() > DISTANCE:
            raise Decline("a value is read many turns later")
        if ((turns < 0) & (mine > DISTANCE)).any() or (turns >= mine).any():
            return self._stacked(node, column, known, numbers, theirs)
        firsts = np.full(len(node.counts), ANY)
        nexts = np.full(len(node.around), ANY)
        is_first = mine == 0
        firsts[node.around[instances[is_first]]] = column[instances[is_first]]
        nexts[instances[~is_first] - 1] = column[instances[~is_first]]
        return self._variable(node, column, firsts, nexts).value

    def _outside(self, node: Node, column: Any) -> Ref:
        """Return a value of the loop around, before this loop."""
        parent = node.parent
        assert parent is not None
        if not any(step is node.loop for step in parent.loop.body):
            return self.value(parent, node.place, column)
        body = parent.loop.body
        at = next(n for n, step in enumerate(body) if step is node.loop)
        before = self.sinks.get(id(parent))
        made = self.sinks[id(parent)] = []
        try:
            return self.value(parent, node.place, column)
        finally:
            del self.sinks[id(parent)]
            if before is not None:
                self.sinks[id(parent)] = before
            body[at:at] = made

    def _variable(self, node: Node, column: Any, firsts: Any, nexts: Any) -> Variable:
        """Return the variable with these columns, which may be a known one."""
        for known in node.variables:
            both = (known.column != ANY) & (column != ANY)
            ends = (known.nexts != ANY) & (nexts != ANY)
            if not (both.any() or ends.any()):
                continue
            begins = (known.firsts != ANY) & (firsts != ANY)
            pairs = (
                (known.column, column, both),
                (known.nexts, nexts, ends),
                (known.firsts, firsts, begins),
            )
            if all((old[where] == new[where]).all() for old, new, where in pairs):
                is_new = False
                for old, new, _ in pairs:
                    more = (old == ANY) & (new != ANY)
                    is_new |= bool(more.any())
                    old[more] = new[more]
                if is_new and known.after is not None:
                    self._settle(node, known)
                return known
        first = np.concatenate([column[column != ANY], nexts[nexts != ANY]])[0]
        value = self.program.values[int(first)]
        if len(node.variables) > MOST_VARIABLES:
            raise Decline("a loop carries too many values")
        made = Variable(self.program.new(value), column.copy(), firsts, nexts)
        node.variables.append(made)
        if node.is_done:
            self._settle(node, made)
        return made

    def _settle(self, node: Node, variable: Variable) -> None:
        """Find the first value of a variable, and what a turn hands on."""
        values, loop = self.program.values, node.loop
        if (variable.nexts != ANY).any():
            after = self.value(node, len(node.items), variable.nexts)
        else:
            after = variable.value
        value = values[variable.value.index]
        if (variable.firsts != ANY).any():
            first = self._outside(node, variable.firsts)
        else:
            first = self._any(value)
        for one in (first, after):
            other = values[one.index]
            if (other.shape, other.dtype) != (value.shape, value.dtype):
                raise Decline("a first value has another shape or dtype")
        variable.after = after
        self.program.values[variable.value.index] = values[after.index]
        loop.carries = [one for one in loop.carries if one.value != variable.value.index]
        handed_on = self._own(node, after, {one.next for one in loop.carries})
        loop.carries.append(Carry(variable.value.index, first, handed_on.index))

    def _any(self, value: Value) -> Ref:
        """Return an array or a number that nothing reads."""
        key = (value.shape, value.dtype, value.is_ndarray)
        if key not in self.unread:
            made = self.unread[key] = self.program.new(value)
            whole = Ref(made.index)
            if not value.is_ndarray:
                whole = self.program.new(Value((1,), value.dtype, is_ndarray=True))
                part = Instr(getitem, "getitem", (whole, 0), (), made.index)
                self.root.loop.body.insert(0, part)
            shape = self.program.values[whole.index].shape
            made_of = Instr(zeros, "zeros", (shape, value.dtype), (), whole.index)
            self.root.loop.body.insert(0, made_of)
        return self.unread[key]

    def _own(self, node: Node, value: Ref, taken: set[int]) -> Ref:
        """Return a value that a step of a loop's body computes, and that is not handed on yet."""
        outs = {out for step in node.loop.body for out in _outs(step)}
        if value.index in outs and value.index not in taken:
            return value
        made = self.program.new(self.program.values[value.index])
        node.loop.body.append(Instr(copy, "copy", (value,), (), made.index))
        return made

    def _final(
        self, node: Node, child: Node, column: Any, known: Any, inside: Any, instances: Any
    ) -> Ref:
        """Return what an inner loop has left; with no turns, what it would have begun with."""
        counts = child.counts[instances]
        if not inside[counts > 0].all():
            raise Decline("an inner loop has left it in some turns only")
        ends = np.full(len(child.around), ANY)
        some = instances[inside]
        ends[child.starts[some] + child.counts[some] - 1] = column[some]
        values, loop = self.program.values, child.loop
        if (child.counts == child.most).all():
            after = self.value(child, len(child.items), ends)
            return self._last(child, after)
        firsts = np.full(len(child.counts), ANY)
        none = instances[~inside]
        firsts[none] = column[none]
        after = self.value(child, len(child.items), ends)
        variable = self._with_firsts(child, after, firsts, ends)
        carry = next(one for one in loop.carries if one.value == variable.value.index)
        if carry.next in loop.finals:
            return Ref(loop.finals[carry.next])
        out = self.program.new(values[carry.next])
        loop.finals[carry.next] = out.index
        return out

    def _with_firsts(self, child: Node, after: Ref, firsts: Any, ends: Any) -> Variable:
        """Return the variable of a finished loop that a turn ends with, and that begins so."""
        for known in child.variables:
            both = (known.firsts != ANY) & (firsts != ANY)
            if known.after == after and (known.firsts[both] == firsts[both]).all():
                more = (known.firsts == ANY) & (firsts != ANY)
                if more.any():
                    known.firsts[more] = firsts[more]
                    self._settle(child, known)
                return known
        value = self.program.new(self.program.values[after.index])
        made = Variable(value, np.full(len(child.around), ANY), firsts, ends)
        child.variables.append(made)
        self._settle(child, made)
        return made

    def _last(self, child: Node, after: Ref) -> Ref:
        """Return the last value of a loop that has turns everywhere."""
        loop = child.loop
        outs = {out for step in loop.body for out in _outs(step)}
        inside = outs | loop.found
        if after.index not in inside:
            return after
        own = self._own(child, after, set())
        if own.index not in loop.finals:
            loop.finals[own.index] = self.program.new(self.program.values[own.index]).index
        return Ref(loop.finals[own.index])

    # Stacks ---------------------------------------------------------------------------------------

    def _stacked(self, node: Node, column: Any, known: Any, numbers: Any, theirs: Any) -> Ref:
        """Return an element of a stack of another loop."""
        different = np.unique(numbers)
        if len(different) > 1 or different[0] < 0:
            raise Decline("a value is read from several operations")
        row = self.rows[int(different[0])]
        if row.out.index < 0:
            raise Decline("a value is read before it is computed")
        depth = 0
        for mine, other in zip(node.path, row.node.path, strict=False):
            if mine is not other:
                break
            depth += 1
        common = node.path[depth - 1] if depth else self.root
        instances = np.flatnonzero(known)
        if common is not self.root:
            same = row.node.up(theirs, common) == node.up(instances, common)
            if not same.all():
                raise Decline("a value is read from another turn of a loop around")
        inner = row.node.path[depth:]
        if not inner:
            raise Decline("a value is of an earlier turn")
        here = node.path[depth].place if len(node.path) > depth else common.current
        if inner[0].place >= here:
            raise Decline("a value is read before its loop has ended")
        value = self.program.values[row.out.index]
        if value.is_tuple or (value.is_ndarray and not value.shape):
            raise Decline("a value that is no plain array or number is read later")
        stack = self._stack(row, inner, common)
        key: list[Any] = []
        for level in range(depth, len(row.node.path)):
            places = np.full(len(column), 0)
            places[instances] = row.node.coordinates[level][theirs]
            key.append(self.integer(node, places, known))
        made = self.program.new(value)
        self.sink(node).append(
            Instr(getitem, "getitem", (stack, tuple(key)), (), made.index, bool(value.shape))
        )
        return made

    def _stack(self, row: Row, inner: Sequence[Node], common: Node) -> Ref:
        """Return the stack of a row's values, of all turns within a node around."""
        found = row.stack.get(id(common))
        if found is not None:
            return found
        out, value = row.out, self.program.values[row.out.index]
        shape: tuple[int, ...] = value.shape
        for one in reversed(inner):
            shape = (one.most, *shape)
            known = one.loop.stacks.get(out.index)
            if known is None:
                whole = Value(shape, value.dtype, is_ndarray=True)
                known = one.loop.stacks[out.index] = self.program.new(whole).index
            out = Ref(known)
        row.stack[id(common)] = out
        return out

    # Integers -------------------------------------------------------------------------------------

    def integer(self, node: Node, column: Any, known: Any) -> Any:
        """Return an integer that is linear in the turns: a number, or a value.

        Raises
        ------
        Decline
            It is not linear.
        """
        start, steps = self._law(node, column, known)
        found: Any = start
        for one, step in zip(node.path, steps, strict=True):
            found = self._plus(one, found, step)
        return found

    def _law(self, node: Node, column: Any, known: Any) -> tuple[int, list[int]]:
        places = np.flatnonzero(known)
        chosen = places[np.unique(np.linspace(0, len(places) - 1, SAMPLE).astype(int))]
        table, whole = node.coordinates[:, chosen], node.coordinates[:, places]
        levels: list[int] = []
        for level in range(len(table)):
            if np.ptp(whole[level]) == 0:
                continue
            trial = [*levels, level]
            if np.linalg.matrix_rank(_with_ones(table[trial])) > len(levels) + 1:
                levels = trial
        chosen_table = _with_ones(table[levels])
        solve: Any = np.linalg.lstsq
        solved: Any = solve(chosen_table, column[chosen], rcond=None)[0]
        found = np.rint(solved).astype(int)
        if not np.array_equal(_with_ones(whole[levels]) @ found, column[places]):
            raise Decline("an integer is not linear in the turns")
        steps = [0] * len(table)
        for level, step in zip(levels, found[1:].tolist(), strict=True):
            steps[level] = step
        return int(found[0]), steps

    def _plus(self, node: Node, start: Any, step: int) -> Any:
        """Return a multiple of the turn of a loop, added to an integer from outside."""
        if not step:
            return start
        key = (id(node), start, step)
        found = self.integers.get(key)
        if found is not None:
            return found
        is_number = type(start) is int
        numbers = np.arange(node.most) * step + (start if is_number else 0)
        table = self._table(numbers.astype(INTEGER))
        part = self.program.part_of(node.loop, table)
        if is_number:
            found = part
        else:
            found = self.program.new(Value((), INTEGER, is_ndarray=False))
            plus = Instr(np.add, "add", (start, part), (), found.index)
            at = sum(isinstance(one, Instr) and one.out in self.own for one in node.head)
            node.head.insert(at, plus)
            self.own.add(found.index)
        self.integers[key] = found
        return found

    def _table(self, numbers: Any) -> Ref:
        key = numbers.tobytes()
        if key not in self.tables:
            made = self.program.new(Value(numbers.shape, INTEGER, is_ndarray=True))
            self.program.constants[made.index] = Constant(numbers, by_reference=False, name="")
            self.tables[key] = made
        return self.tables[key]


MOST_VARIABLES = 64


def _with_ones(table: Any) -> Any:
    return np.vstack([np.ones((1, table.shape[1]), table.dtype), table]).T


def _outs(step: Instr | Loop) -> tuple[int, ...]:
    return step.outs if isinstance(step, Loop) else (step.out,)
