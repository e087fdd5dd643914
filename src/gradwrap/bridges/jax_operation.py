"""Functions of JAX as operations of gradwrap."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradwrap.bridges.flat import chosen, of_chosen
from gradwrap.core.values.dynamic import class_of
from gradwrap.errors import NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.bridges.flat import Arrays, ArraysFunction, Flat, Structure

jax: Any = import_module("jax")

WIDE = frozenset({"float64", "complex128", "int64", "uint64"})
"""The dtypes that JAX narrows unless it is told not to."""


@dataclass(frozen=True)
class JaxLibrary:
    """JAX: it differentiates its own functions, and compiles them if it is to."""

    jit: bool = True
    copies: ClassVar[bool] = True

    def is_array(self, leaf: Any) -> bool:
        """Tell if a leaf of a result is an array, or a number with a fraction."""
        return isinstance(leaf, (jax.Array, np.ndarray, np.generic, float, complex))

    def as_array(self, leaf: Any, like: Arrays) -> Any:
        """Return a leaf as an array."""
        return jax.numpy.asarray(leaf)

    def is_floating(self, array: Any) -> bool:
        """Tell if an array has a derivative."""
        return bool(jax.numpy.issubdtype(array.dtype, jax.numpy.inexact))

    def pull(
        self, function: ArraysFunction, cotangents: Arrays, inputs: Arrays, needed: Sequence[bool]
    ) -> Arrays:
        """Return the cotangents of the needed inputs: the adjoint, as gradwrap has it."""
        of_needed = of_chosen(self, function, inputs, needed)
        _, pull, _ = jax.vjp(of_needed, *chosen(inputs, needed), has_aux=True)
        return _conjugated(pull(tuple(_conjugated(cotangents))))

    def push(
        self, function: ArraysFunction, tangents: Arrays, inputs: Arrays, moved: Sequence[bool]
    ) -> tuple[Arrays, Arrays]:
        """Return the outputs, and the tangents of the floating ones."""
        of_moved = of_chosen(self, function, inputs, moved)
        primals = chosen(inputs, moved)
        _, pushed, outs = jax.jvp(of_moved, primals, list(tangents), has_aux=True)
        return list(outs), list(pushed)

    def mapped(
        self, function: Callable[..., tuple[Any, ...]], axes: Sequence[int | None], arrays: Arrays
    ) -> Arrays:
        """Perform a function on all examples, by `jax.vmap`."""
        return list(jax.vmap(function, in_axes=tuple(axes))(*arrays))

    def held(self, fun: Callable[..., Any]) -> list[tuple[Any, int]]:
        """Return none: nobody can write to arrays of JAX."""
        return []

    def call(self, function: Flat, arrays: Arrays, found: list[Structure], name: str) -> Arrays:
        """Compute the outputs."""
        with _widths_of(arrays):
            outs, structure = self._program(function, None)(_entered(arrays, name))
        found[:] = [structure] if structure is not None else []
        return _handed_out(outs, arrays, name)

    def recorded(
        self, function: Flat, arrays: Arrays, needed: Sequence[bool], name: str
    ) -> tuple[Arrays, list[Structure], Callable[[Arrays], Arrays]]:
        """Return the outputs, their structure, and the pull that JAX has recorded."""
        with _widths_of(arrays):
            program = self._program(function, tuple(needed))
            (outs, pull), structure = program(_entered(arrays, name))

        def pulled(cotangents: Arrays) -> Arrays:
            with _widths_of(arrays):
                given = tuple(_conjugated(_entered(cotangents, name)))
                found = (_pull_compiled if self.jit else _pull)(pull, given)
            return _handed_out(found, arrays, name)

        return _handed_out(outs, arrays, name), [] if structure is None else [structure], pulled

    def _program(self, function: Flat, needed: tuple[bool, ...] | None) -> Any:
        if not self.jit:
            return Program(function, needed, self, jit=False)
        try:
            return _compiled(function, needed, self)
        except TypeError:  # a leaf that cannot be hashed
            return Program(function, needed, self, jit=True)


class Program:
    """A function that JAX has compiled: its value alone, or its value and its pull."""

    def __init__(
        self, function: Flat, needed: tuple[bool, ...] | None, library: JaxLibrary, *, jit: bool
    ) -> None:
        self.function = function
        self.needed = needed
        self.library = library
        self._structures: dict[Any, Structure] = {}
        self._run: Callable[[Arrays], Any] = jax.jit(self._traced) if jit else self._traced

    def __call__(self, arrays: Arrays) -> tuple[Any, Structure | None]:
        """Return the outputs, or outputs and pull, and the structure."""
        found = self._run(arrays)
        return found, self._structures.get(_described(arrays))

    def _traced(self, arrays: Arrays) -> Any:
        structure: list[Structure] = []
        if self.needed is None:
            found: Any = self.function(arrays, structure)
        else:
            of_needed = of_chosen(
                self.library, lambda own: self.function(own, structure), arrays, self.needed
            )
            _, pull, outs = jax.vjp(of_needed, *chosen(arrays, self.needed), has_aux=True)
            found = outs, pull
        if structure:
            self._structures[_described(arrays)] = structure[0]
        return found


def _described(arrays: Arrays) -> tuple[Any, ...]:
    return tuple((array.shape, array.dtype) for array in arrays)


@functools.lru_cache(maxsize=512)
def _compiled(function: Flat, needed: tuple[bool, ...] | None, library: JaxLibrary) -> Program:
    return Program(function, needed, library, jit=True)


def _pull(pull: Any, cotangents: tuple[Any, ...]) -> Any:
    return _conjugated(pull(cotangents))


def _conjugated(arrays: Sequence[Any]) -> Arrays:
    return [jax.numpy.conj(array) for array in arrays]


_pull_compiled = jax.jit(_pull)


def _widths_of(arrays: Arrays) -> Any:
    """Let JAX compute in 64 bits if an argument of NumPy's has them."""
    is_wide = any(getattr(one.dtype, "name", "") in WIDE for one in arrays)
    return jax.enable_x64(is_wide or jax.config.jax_enable_x64)


def _entered(arrays: Arrays, name: str) -> Arrays:
    """Return arrays as JAX's; those of NumPy are copied, since JAX would share their memory."""
    entered: Arrays = []
    for given in arrays:
        array: Any = given
        if not isinstance(array, (jax.Array, np.ndarray, np.generic)):
            raise NotAnArrayError(
                f"{name} takes arrays of NumPy and JAX, and was given {class_of(array)}. "
                "Fix: convert it before the call, for example with np.asarray."
            )
        if not isinstance(array, jax.Array):
            array = jax.numpy.array(np.asarray(array, array.dtype.newbyteorder("=")))
        entered.append(array)
    return entered


def _handed_out(outs: Arrays, like: Arrays, name: str) -> Arrays:
    """Return outputs as arrays of the library that the inputs are of."""
    if like and isinstance(like[0], jax.Array):
        return list(outs)
    for out in outs:
        if isinstance(out, jax.core.Tracer):
            raise NotAnArrayError(
                f"{name} was called with arrays of NumPy inside of a transform of JAX, whose "
                "values it has used. Fix: pass these as arguments, or give the function that calls "
                "it to gradwrap.jax.callback."
            )
    return [np.array(out) for out in outs]
