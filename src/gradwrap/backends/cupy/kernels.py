"""Kernels for elementwise formulas: one kernel replaces several small operations.

A kernel is made of the formula itself, when it is first called on arrays of one real dtype. For
other arguments (complex numbers, half precision, variables) the formula of the table runs.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.cupy.formulas import ARRAY, NUMBER, Traced, Untraceable, trace
from gradwrap.core.table.rule import Formula
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.core.table.rule import Rule

    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

LETTERS = frozenset("fd")
COMMON_NUMBERS = frozenset({-2, -1, -0.5, 0.5, 1, 1.5, 2, 3, 4})
"""Exponents and the like that are worth a kernel each, where a formula branches on the number."""

COTANGENT, RESULT = "g_in", "g_out"


def fused(rule: Rule) -> Rule:
    """Return the rule with fused chains of operations, or the rule itself if it has none."""
    if rule.checked or not rule.kind.is_elementwise:
        return rule
    formulas = tuple(
        formula if formula is None else _fused(rule, index, formula)
        for index, formula in enumerate(rule.formulas)
    )
    if all(new is old for new, old in zip(formulas, rule.formulas, strict=True)):
        return rule
    made = copy.copy(rule)
    made.formulas = formulas
    return made


def is_fused(formula: Formula) -> bool:
    """Tell whether a formula of CuPy's launches one kernel where the table's launches several."""
    return hasattr(formula.function, "kernels")


def _fused(rule: Rule, index: int, formula: Formula) -> Formula:
    if any(name.endswith("_meta") for name in formula.saved):
        return formula
    try:
        traced = _traced(formula.function, (ARRAY,) * len(formula.saved))
    except Untraceable:
        return formula
    if traced.operations < 2:
        return formula
    name = f"gradwrap_{rule.name.replace('.', '_')}_{index}"
    return Formula(_launching(name, formula.function), formula.saved)


def _traced(function: Callable[..., Any], kinds: tuple[Any, ...]) -> Traced:
    return trace(function, kinds, (COTANGENT, *(f"a{i}" for i in range(len(kinds)))))


def _launching(  # noqa: C901  a branch for each kind of argument, without a call for it
    name: str, function: Callable[..., Any]
) -> Callable[..., Any]:
    """Make a formula that launches its kernel where possible."""
    kernels = _Kernels(name, function)

    def launch(xp: Any, g: Any, *saved: Any) -> Any:
        if type(g) is not cupy.ndarray or g.dtype.char not in LETTERS or hasattr(xp, "_class"):
            return function(xp, g, *saved)
        dtype = g.dtype
        kinds: tuple[Any, ...] = ()
        for value in saved:
            kind = type_of(value)
            if kind is cupy.ndarray and value.dtype == dtype:
                kinds += (ARRAY,)
            elif kind is float or kind is int:
                kinds += (NUMBER,)
            elif value is None:
                kinds += (None,)
            elif isinstance(value, np.generic):  # a number of NumPy's, in the code around it
                return launch(xp, g, *(v.item() if isinstance(v, np.generic) else v for v in saved))
            else:
                return function(xp, g, *saved)
        kernel, given = kernels[kinds], saved
        if kernel is None or None in kinds:
            kernel, given = kernels.for_numbers(kinds, saved)
            if kernel is None:
                return function(xp, g, *saved)
        try:
            return kernel(g, *given)
        except cupy.cuda.compiler.CompileException as error:
            kernels.give_up(error)
            return function(xp, g, *saved)

    launch.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # its own words
    launch.__module__ = function.__module__
    launch.kernels = kernels  # type: ignore[attr-defined]  # what it has launched so far
    return launch


class _Kernels(dict[tuple[Any, ...], Any]):
    """Map the kinds of a formula's arguments to its kernel, or to None."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        super().__init__()
        self._name = name
        self._function = function
        self._is_given_up = False

    def __missing__(self, kinds: tuple[Any, ...]) -> Any:
        kernel = None if self._is_given_up else _kernel(self._name, self._function, kinds)
        self[kinds] = kernel
        return kernel

    def give_up(self, error: Exception) -> None:
        """Launch the operations of the formula one by one from now on, and say why."""
        self._is_given_up = True
        self.update(dict.fromkeys(self))
        lines = [line for line in str(error).splitlines() if "error" in line] or [str(error)]
        warnings.warn(
            f"the kernel {self._name} does not compile: {lines[0].strip()}. CuPy's own kernels, "
            "one for each operation of this derivative, run in its place. Fix: check that CuPy's "
            "CUDA is that of the driver (cupy.show_config()).",
            CompileWarning,
            stacklevel=3,
        )

    def for_numbers(
        self, kinds: tuple[Any, ...], saved: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return a kernel with common numbers built in, and the remaining arguments."""
        if self[kinds] is None:
            kinds = tuple(
                value if kind is NUMBER and value in COMMON_NUMBERS else kind
                for kind, value in zip(kinds, saved, strict=True)
            )
        given = (
            value
            for kind, value in zip(kinds, saved, strict=True)
            if kind is ARRAY or kind is NUMBER
        )
        return self[kinds], tuple(given)


def _kernel(name: str, function: Callable[..., Any], kinds: tuple[Any, ...]) -> Any:
    """Make the kernel for arguments of these kinds, or return None."""
    try:
        traced = _traced(function, kinds)
    except Untraceable:
        return None
    inputs = [f"T {COTANGENT}"]
    inputs += [f"T a{i}" for i, kind in enumerate(kinds) if kind is ARRAY or kind is NUMBER]
    return cupy.ElementwiseKernel(", ".join(inputs), f"T {RESULT}", traced.code(RESULT), name)
