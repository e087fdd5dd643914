"""The lines of a recurrence as a loop of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwrap.compiler.engines.numpy.text import Buffer
from gradwrap.compiler.ir.analysis import enter_roots, live_before
from gradwrap.compiler.ir.operations import Kind
from gradwrap.compiler.ir.program import Instr, Loop, given

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.engines.numpy.buffers import BufferedText
    from gradwrap.compiler.engines.numpy.text import State


class LoopText:
    """Writes a recurrence."""

    def __init__(self, writer: BufferedText, loop: Loop, state: State, prefix: str) -> None:
        self.writer = writer
        self.loop = loop
        self.state = state
        self.prefix = prefix
        outs = [out for step in loop.body for out in given(step)]
        self.current: dict[int, str] = {out: f"{prefix}{j}" for j, out in enumerate(outs)}
        """By body value that a step defines: its name."""
        self.made: dict[int, Instr] = {
            step.out: step for step in loop.body if isinstance(step, Instr)
        }
        self.carried: set[int] = {carry.next for carry in loop.carries}
        self.counter: str = f"k{len(writer.loops)}" if len(writer.loops) > 1 else "k"
        self.pairs: list[str] = []
        """Names of buffers used in alternate turns, as `a` and `b`."""

    def write(self, depth: int, write_steps: Callable[..., None]) -> None:
        """Write the loop; `write_steps` is `Writer.steps`, which writes the steps of a turn."""
        writer, loop, state = self.writer, self.loop, self.state
        inside = {*self.current, *loop.found}
        writer.roots.update({index: frozenset({index}) for index in loop.found})
        enter_roots(loop.body, writer.values, writer.roots)
        for index in {*self.carried, *loop.finals}:
            writer.handed_out |= writer.roots[index]
        writer.fixed.update(self.current)
        stacks = self._stacks(depth)
        self._begin(depth)
        writer.line(depth, self._head(stacks))
        live = live_before(loop.body, set()) - inside | loop.handed_on
        write_steps(loop.body, live, state, depth + 1)
        lasts = {out: self._last(index, depth + 1) for index, out in loop.finals.items()}
        self._carry_on(depth + 1)
        state.names.update(lasts)
        for index in inside:
            state.names.pop(index, None)
            state.buffers.pop(index, None)
            for known in (writer.fixed, writer.stores, writer.targets):
                known.pop(index, None)

    def _stacks(self, depth: int) -> dict[str, str]:
        """Write the stacks; return the rows that a turn writes to, with their stacks."""
        writer = self.writer
        rows: dict[str, str] = {}
        for index, out in self.loop.stacks.items():
            name, line = writer.stack(out, self.state)
            if line:
                writer.line(depth, line)
            if self._takes_buffer(index) or self._is_stack(index):
                row = writer.targets[index] = f"{self.current[index]}o"
                rows[row] = name
            else:
                writer.stores[index] = f"{name}[{self.counter}] = "
        return rows

    def _is_stack(self, index: int) -> bool:
        """Tell if a value is a stack of an inner loop."""
        return any(
            index in step.stacks.values() for step in self.loop.body if isinstance(step, Loop)
        )

    def _takes_buffer(self, index: int) -> bool:
        instr, value = self.made.get(index), self.writer.values[index]
        is_array = value.is_ndarray and bool(value.shape) and value.order == "C"
        return instr is not None and is_array and self.writer.takes_out(instr)

    def _begin(self, depth: int) -> None:
        """Write the initial values of the carries."""
        writer, loop, state = self.writer, self.loop, self.state
        for carry in loop.carries:
            name = f"{self.current[carry.next]}p"
            text = writer.text(carry.first, state)
            if self._is_own(carry.next):
                text = f'{text}.copy("K")'
                state.buffers[carry.value] = Buffer(
                    name, None, {carry.value}, kept=False, loops=writer.loops
                )
            writer.line(depth, f"{name} = {text}")
            state.names[carry.value] = name
        for index in sorted({*self.carried, *loop.finals} - loop.stacks.keys()):
            name = self.current[index]
            if self._takes_buffer(index):
                made = writer.new_array("empty", writer.values[index])
                writer.targets[index] = f"{name}a"
                for one in ("a", "b") if index in self.carried else ("a",):
                    writer.line(depth, f"{name}{one} = {made}")
                if index in self.carried:
                    self.pairs.append(name)
        for place, index in enumerate(loop.reads):
            state.names[index] = f"{self.prefix}v{place}"

    def _is_own(self, index: int) -> bool:
        """Tell if a carried value is private to the loop, so that a turn may write to it."""
        instr = self.made.get(index)
        return instr is not None and instr.op.kind is Kind.WRITE

    def _head(self, stacks: dict[str, str]) -> str:
        """Return the line that begins the loop."""
        names = [self.state.names[index] for index in self.loop.reads]
        sources = [self.state.names[stack.index] for stack in self.loop.reads.values()]
        names += stacks
        sources += stacks.values()
        counter = self.counter
        counted = len(stacks) < len(self.loop.stacks)
        if self.loop.count is not None:
            turns = f"range({self.writer.text(self.loop.count, self.state)})"
            if not names:
                return f"for {counter if counted else '_'} in {turns}:"
            target = ", ".join([counter if counted else "_", *names])
            return f"for {target} in zip({turns}, {', '.join(sources)}):"
        if not names:
            return f"for {counter if counted else '_'} in range({self.loop.turns}):"
        if len(names) == 1:
            target, source = names[0], sources[0]
        else:
            target, source = ", ".join(names), f"zip({', '.join(sources)})"
        if counted:
            target = f"{counter}, ({target})" if len(names) > 1 else f"{counter}, {target}"
            return f"for {target} in enumerate({source}):"
        return f"for {target} in {source}:"

    def _moves(self) -> list[tuple[str, str]]:
        """Return the assignments at the end of a turn: names of the next turn, with values."""
        names = self.state.names
        found = [(f"{self.current[index]}p", names[index]) for index in sorted(self.carried)]
        return [(target, name) for target, name in found if target != name]

    def _last(self, index: int, depth: int) -> str:
        """Return the name of a final value, saved if the next turn would overwrite it."""
        name = self.state.names[index]
        if self.loop.count is not None:  # with no turns, it is what the first would begin with
            return f"{self.current[index]}p"
        if name not in {target for target, _ in self._moves()}:
            return name
        if index in self.carried:
            return f"{self.current[index]}p"
        self.writer.line(depth, f"{self.current[index]} = {name}")
        return self.current[index]

    def _carry_on(self, depth: int) -> None:
        """Write the assignments that carry values to the next turn."""
        writer = self.writer
        moves = self._moves()
        targets = {target for target, _ in moves}
        if any(name in targets for _, name in moves):
            left, right = (", ".join(side) for side in zip(*moves, strict=True))
            writer.line(depth, f"{left} = {right}")
        else:
            for target, name in moves:
                writer.line(depth, f"{target} = {name}")
        for name in self.pairs:
            writer.line(depth, f"{name}a, {name}b = {name}b, {name}a")
