"""The jax engine: a program on `jax.numpy`, under `jax.jit`.

Writes become `x.at[_key(key)].set`, loops become `jax.lax.scan`. Arguments and results are NumPy's.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.register import Executable, Unsupported
from gradwrap.compiler.ir.loops import Described, one_turn
from gradwrap.compiler.ir.program import (
    UFUNC,
    Attribute,
    Instr,
    Loop,
    Method,
    Program,
    Ref,
    Value,
    mapped,
)
from gradwrap.core.values.dynamic import LIST, TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REDUCTIONS = {
    "add.reduce": "sum",
    "multiply.reduce": "prod",
    "maximum.reduce": "max",
    "minimum.reduce": "min",
    "logical_and.reduce": "all",
    "logical_or.reduce": "any",
}
RENAMED = {"psi": "digamma"}


def jax_engine(program: Program) -> Executable:
    """Compile a program by JAX.

    Raises
    ------
    Unsupported
        JAX is not installed, or computes in single precision; the function branches on values, or
        calls a function that JAX does not have.
    """
    try:
        jax: Any = importlib.import_module("jax")
    except ImportError:
        raise Unsupported("jax is not installed. Fix: pip install jax") from None
    wide = {"float64", "complex128", "int64", "uint64"}
    is_wide = any(v.dtype is not None and v.dtype.name in wide for v in program.values)
    if is_wide and not jax.config.jax_enable_x64:
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
        return tuple(next(found) if type(leaf) is Ref else leaf for leaf in result.leaves)

    def text() -> str:
        return "\n".join(["# replayed by jax.numpy", *map(_line, program.root.body), ""])

    return Executable(call, text, ("engine: jax.jit",), exact=False)


def _native(out: Any, value: Value) -> Any:
    return np.array(out) if value.is_ndarray else value.dtype.type(out)


def _line(step: Instr | Loop) -> str:
    if isinstance(step, Loop):
        return f"# scan of {step.turns} turns: {', '.join(row.name for row in step.rows)}"
    return f"# t{step.out} = {step.name}{step.args!r}"


class _Replay:
    """Performs the instructions of a program on JAX's arrays."""

    def __init__(self, jax: Any, program: Program) -> None:
        self.jax = jax
        self.jnp: Any = jax.numpy
        self.program = program
        self.check(program.root.body, program.values)

    def check(self, steps: Sequence[Instr | Loop], values: Any) -> None:
        """Look for the functions of all operations before they are needed."""
        for step in steps:
            if isinstance(step, Loop):
                body = one_turn(step, values)
                self.check(body.steps, Described(values, body.values))
            else:
                self.function(step)

    def run(self, inputs: Any, constants: Any) -> list[Any]:
        """Perform the program: the arrays of the result."""
        known: dict[int, Any] = dict(zip(self.program.inputs, inputs, strict=True))
        known.update(zip(self.program.constants, constants, strict=True))
        self.perform(self.program.root.body, known, self.program.values)
        result = self.program.root.result
        assert result is not None
        return [known[leaf.index] for leaf in result.leaves if type(leaf) is Ref]

    def perform(self, steps: Sequence[Instr | Loop], known: dict[int, Any], values: Any) -> None:
        """Perform steps, and enter what they give."""

        def read(leaf: Any) -> Any:
            return known[leaf.index] if type(leaf) is Ref else leaf

        for step in steps:
            if isinstance(step, Loop):
                self.scan(step, known, values)
                continue
            keywords = {name: mapped(value, read) for name, value in step.kw}
            found = self.function(step)(*mapped(step.args, read), **keywords)
            if step.out < 0 and not values[step.out].is_tuple:  # of a loop: its dtype has to stay
                found = self.jnp.asarray(found, values[step.out].dtype)
            known[step.out] = found

    def scan(self, loop: Loop, known: dict[int, Any], values: Any) -> None:
        """Perform a recurrence."""
        body = one_turn(loop, values)
        described = Described(values, body.values)
        carried = sorted({*body.previous, *loop.finals})
        first: list[Any] = []
        for row in carried:
            value = loop.rows[row].value
            init = body.previous[row][1] if row in body.previous else 0
            content = known[init.index] if type(init) is Ref else init
            made = self.jnp.asarray(content, value.dtype)
            first.append(made if row in body.previous else self.jnp.zeros(value.shape, value.dtype))
        stacks = {number: known[stack] for stack, number in body.turns.items()}

        def turn(carry: Any, parts: Any) -> tuple[Any, Any]:
            inside = known | parts
            for row, before in zip(carried, carry, strict=True):
                if row in body.previous:
                    inside[body.previous[row][0]] = before
            self.perform(body.steps, inside, described)
            return (
                [inside[body.rows[row]] for row in carried],
                [inside[body.rows[row]] for row in loop.stacks],
            )

        last, found = self.jax.lax.scan(turn, first, stacks, length=loop.turns)
        known.update(zip(loop.stacks.values(), found, strict=True))
        known.update({out: last[carried.index(row)] for row, out in loop.finals.items()})

    def function(self, step: Instr) -> Callable[..., Any]:
        """The function of JAX that does what an instruction does."""
        name, jnp = step.name, self.jnp
        own: Any = OWN.get(name)
        if own is not None:
            return functools.partial(own, jnp)
        if isinstance(step.fn, (Attribute, Method)):
            return step.fn
        if isinstance(step.fn, UFUNC) and getattr(np, name, None) is not step.fn:
            return self.found(importlib.import_module("jax.scipy.special"), RENAMED.get(name, name))
        return self.found(jnp, REDUCTIONS.get(name, name))

    def found(self, module: Any, path: str) -> Callable[..., Any]:
        """The function of a dotted name."""
        found: Any = module
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is None or ".accumulate" in path or ".outer" in path:
            raise Unsupported(f"JAX has no {path}. Fix: engine='numpy'")
        return found  # type: ignore[no-any-return]  # looked up by name


def _key(key: Any) -> Any:
    """A key without lists, which JAX does not take."""
    if isinstance(key, LIST):
        return np.asarray(key)
    return tuple(map(_key, key)) if isinstance(key, TUPLE) else key


def _array(jnp: Any, nest: Any, dtype: Any) -> Any:
    return jnp.array(nest, dtype)


def _getitem(jnp: Any, x: Any, key: Any) -> Any:
    return jnp.asarray(x)[_key(key)]


def _setitem(jnp: Any, x: Any, key: Any, value: Any) -> Any:
    return jnp.asarray(x).at[_key(key)].set(value)


def _scatter_add(jnp: Any, x: Any, key: Any, value: Any) -> Any:
    return jnp.asarray(x).at[_key(key)].add(value)


def _item(_jnp: Any, whole: Any, index: int) -> Any:
    return whole[index]


def _zeros(jnp: Any, shape: Any, dtype: Any) -> Any:
    return jnp.zeros(shape, dtype)


def _full(jnp: Any, shape: Any, number: Any, dtype: Any) -> Any:
    return jnp.full(shape, number, dtype)


def _accumulate(jnp: Any, x: Any, axis: int = 0) -> Any:
    return jnp.cumsum(x, axis)


def _pow(_jnp: Any, x: Any, y: Any) -> Any:
    return x**y


def _unchanged(_jnp: Any, x: Any, *_order: Any) -> Any:
    return x


OWN: dict[str, Callable[..., Any]] = {
    "getitem": _getitem,
    "setitem": _setitem,
    "scatter_add": _scatter_add,
    "item": _item,
    "zeros": _zeros,
    "full": _full,
    "array": _array,
    "add.accumulate": _accumulate,
    "pow": _pow,
    **dict.fromkeys(("copy", ".copy", "ascontiguousarray"), _unchanged),
}
"""Operations that are written otherwise in JAX."""
