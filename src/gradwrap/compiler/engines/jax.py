"""The JAX engine: a program of `jax.numpy` calls, under `jax.jit`.

Writes become `x.at[_key(key)].set`, loops become `jax.lax.scan`. Arguments and results are NumPy
arrays.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.register import UNNOTICED, Executable, Unsupported
from gradwrap.compiler.ir.program import (
    UFUNC,
    Attribute,
    Instr,
    Loop,
    Method,
    Missed,
    Program,
    Ref,
    Value,
    changed,
)
from gradwrap.core.values.dynamic import LIST, TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _jax() -> Any:
    try:
        return importlib.import_module("jax")
    except ImportError:
        return None


def computes_in_double() -> bool:
    """Tell if JAX computes in double precision, which its users set; True where it is missing."""
    jax = _jax()
    return jax is None or bool(jax.config.jax_enable_x64)


def jax_engine(program: Program) -> Executable:
    """Compile a program with JAX.

    Raises
    ------
    Unsupported
        JAX is not installed, or computes in single precision; the function branches on values, or
        calls a function that JAX does not have.
    """
    jax = _jax()
    if jax is None:
        raise Unsupported("jax is not installed. Fix: pip install jax")
    wide = {"float64", "complex128", "int64", "uint64"}
    is_wide = any(v.dtype is not None and v.dtype.name in wide for v in program.values)
    if is_wide and not computes_in_double():
        raise Unsupported(
            "it computes in double precision, and JAX is set to single. "
            'Fix: jax.config.update("jax_enable_x64", True)'
        )
    if program.root.guard is not None:
        raise Unsupported("the function branches on values. Fix: np.where, or engine='numpy'")
    replay = _Replay(jax, program)
    run: Any = jax.jit(replay.run)
    result = program.root.result
    assert result is not None
    described = [program.values[leaf.index] for leaf in result.leaves if type(leaf) is Ref]

    def call(*inputs: Any) -> tuple[Any, ...]:
        constants = [constant.array for constant in program.constants.values()]
        found = iter(
            [_native(out, v) for out, v in zip(run(inputs, constants), described, strict=True)]
        )
        leaves = tuple(next(found) if type(leaf) is Ref else leaf for leaf in result.leaves)
        if result.asks and leaves[-1]:
            raise Missed
        return leaves[:-1] if result.asks else leaves

    def text() -> str:
        return "\n".join(["# replayed by jax.numpy", *map(_line, program.root.body), ""])

    notes = ("engine: jax.jit", UNNOTICED)
    return Executable(call, text, notes, exact=False, in_c_order=True, notices_errors=False)


def _native(out: Any, value: Value) -> Any:
    return np.array(out) if value.is_ndarray else value.dtype.type(out)


def _line(step: Instr | Loop) -> str:
    if isinstance(step, Loop):
        return f"# scan of {step.turns} turns: {', '.join(_name(one) for one in step.body)}"
    return f"# t{step.out} = {step.name}{step.args!r}"


def _name(step: Instr | Loop) -> str:
    return step.name if isinstance(step, Instr) else "loop"


class _Replay:
    """Performs the instructions of a program on JAX arrays."""

    def __init__(self, jax: Any, program: Program) -> None:
        self.jax = jax
        self.jnp: Any = jax.numpy
        self.program = program
        for body in program.bodies():
            for step in body:
                if isinstance(step, Instr):
                    self.function(step)  # so that a missing one is found at once

    def run(self, inputs: Any, constants: Any) -> list[Any]:
        """Perform the program; return the arrays of the result."""
        known: dict[int, Any] = dict(zip(self.program.inputs, inputs, strict=True))
        known.update(zip(self.program.constants, constants, strict=True))
        self.perform(self.program.root.body, known)
        result = self.program.root.result
        assert result is not None
        return [known[leaf.index] for leaf in result.leaves if type(leaf) is Ref]

    def perform(self, steps: Sequence[Instr | Loop], known: dict[int, Any]) -> None:
        """Perform steps, and record their results."""
        for step in steps:
            if isinstance(step, Loop):
                self.scan(step, known)
                continue
            real: Instr = changed(step, lambda leaf: _read(leaf, known))
            known[step.out] = self.function(step)(*real.args, **dict(real.kw))

    def scan(self, loop: Loop, known: dict[int, Any]) -> None:
        """Perform a loop as a scan."""
        jnp, values = self.jnp, self.program.values

        def as_described(index: int, content: Any) -> Any:
            return jnp.asarray(content, values[index].dtype)

        firsts = [as_described(one.value, _read(one.first, known)) for one in loop.carries]
        # final values are carried too, starting from zeros that nothing reads
        begins = {one.next: first for one, first in zip(loop.carries, firsts, strict=True)}
        firsts += [
            begins[i] if loop.count is not None else jnp.zeros(values[i].shape, values[i].dtype)
            for i in loop.finals
        ]
        handed_on = [*(carry.next for carry in loop.carries), *loop.finals]
        reads = {index: known[stack.index] for index, stack in loop.reads.items()}
        count: Any = None if loop.count is None else _read(loop.count, known)

        def turn(carried: Any, numbered: Any) -> tuple[Any, Any]:
            number, parts = numbered
            inside = known | parts
            inside.update(zip((carry.value for carry in loop.carries), carried, strict=False))
            self.perform(loop.body, inside)
            after = [as_described(index, inside[index]) for index in handed_on]
            if count is not None:  # all others leave everything as it is
                after = [
                    jnp.where(number < count, *pair) for pair in zip(after, carried, strict=True)
                ]
            return (
                after,
                [as_described(index, inside[index]) for index in loop.stacks],
            )

        parts = (jnp.arange(loop.turns), reads)
        last, found = self.jax.lax.scan(turn, firsts, parts, length=loop.turns)
        known.update(zip(loop.stacks.values(), found, strict=True))
        known.update(zip(loop.finals.values(), last[len(loop.carries) :], strict=True))

    def function(self, step: Instr) -> Callable[..., Any]:
        """Return the JAX function that performs an instruction."""
        op, jnp = step.op, self.jnp
        own: Any = getattr(_Own, op.name, op.of)
        if own is not None:
            return functools.partial(own, jnp)
        if isinstance(step.fn, (Attribute, Method)):
            return step.fn
        if isinstance(step.fn, UFUNC) and getattr(np, op.name, None) is not step.fn:
            return self.found(importlib.import_module("jax.scipy.special"), op.jax or op.name)
        if op.method:
            return functools.partial(_along, self.found(jnp, op.method))
        return self.found(jnp, op.name)

    def found(self, module: Any, path: str) -> Callable[..., Any]:
        """Return the function of a dotted name in a module."""
        found: Any = module
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is None or ".accumulate" in path or ".outer" in path:
            raise Unsupported(f"JAX has no {path}. Fix: engine='numpy'")
        return found  # type: ignore[no-any-return]  # looked up by name


def _read(leaf: Any, known: dict[int, Any]) -> Any:
    return known[leaf.index] if type(leaf) is Ref else leaf


def _key(key: Any) -> Any:
    """Return a key without lists, which JAX does not accept."""
    if isinstance(key, LIST):
        return np.asarray(key)
    return tuple(map(_key, key)) if isinstance(key, TUPLE) else key


class _Own:
    """Operations with another form in JAX, by name."""

    @staticmethod
    def getitem(jnp: Any, x: Any, key: Any) -> Any:
        return jnp.asarray(x)[_key(key)]

    @staticmethod
    def setitem(jnp: Any, x: Any, key: Any, value: Any) -> Any:
        return jnp.asarray(x).at[_key(key)].set(value)

    @staticmethod
    def scatter_add(jnp: Any, x: Any, key: Any, value: Any) -> Any:
        return jnp.asarray(x).at[_key(key)].add(value)

    @staticmethod
    def padded_product(jnp: Any, left: Any, right: Any, spans: Any, is_left: bool) -> Any:
        if is_left:
            rows = [left[r, i:j] @ right[i:j] for r, (i, j) in enumerate(spans)]
            return jnp.stack(rows)
        found = jnp.zeros((left.shape[0], right.shape[1]), right.dtype)
        for r, (i, j) in enumerate(spans):
            found = found.at[:, i:j].add(left[:, r, None] * right[r, i:j])
        return found

    @staticmethod
    def copy(_jnp: Any, x: Any, *_order: Any) -> Any:
        return x  # it cannot be written to

    ascontiguousarray = copy


def _along(function: Any, x: Any, axis: Any = 0, **options: Any) -> Any:
    """Reduce or accumulate along the first axis by default, as NumPy's ufuncs do."""
    return function(x, axis=axis, **options)
