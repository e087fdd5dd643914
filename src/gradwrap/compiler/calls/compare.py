"""Comparison of a program's results with the function's: bit for bit, or up to rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.engines.libraries import on_host
from gradwrap.compiler.engines.register import Executable, Unsupported
from gradwrap.compiler.ir.program import NDARRAY, Missed, Program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NUMBER: type[Any] = np.generic


def made(
    engine: Callable[[Program], Executable],
    program: Program,
    given: Sequence[Any],
    wanted: Sequence[Any],
    precisions: list[float],
    movements: Callable[[], Sequence[float]] | None = None,
) -> tuple[Executable | None, str]:
    """Compile a program and run it. Return the executable, or None and the reason.

    `movements` returns the precisions of functions that amplify rounding. They are asked for where
    the results differ, and entered into `precisions`.
    """
    try:
        executable = engine(program)
        problem = _problem(executable, given, wanted, precisions)
        if isinstance(problem, Distant) and movements is not None:
            precisions[:] = map(max, precisions, movements())
            problem = _problem(executable, given, wanted, precisions)
            if isinstance(problem, Distant) and max(precisions) >= MOST / TOLERANCE:
                problem = Distant(
                    f"{problem}. But rounding alone moves results of the function by more than "
                    "2**-12 of the largest element"
                )
    except Unsupported as error:
        return None, str(error)
    return (None if problem else executable), problem


def _problem(
    executable: Executable,
    given: Sequence[Any],
    wanted: Sequence[Any],
    precisions: Sequence[float],
) -> str:
    """Return how a program's results differ from those of its trace, or ""."""
    try:
        found = executable.call(*given)
        return mismatch(wanted, found, None if executable.exact else precisions)
    except Missed:
        return "it is rounded otherwise, and takes another branch"
    except Exception as error:  # noqa: BLE001  there is another engine
        return Raised(f"{type(error).__name__}: {error}")


class Raised(str):
    """The text of an error that a program raised, where its trace raised none."""

    __slots__ = ()


class Distant(str):
    """The text of a difference that may come from rounding."""

    __slots__ = ()


TOLERANCE = 1 << 14
"""The largest error of an output, in units in the last place (ulp) of its largest element."""
MOST = 2.0**-12
"""The largest error, as a part of the largest element, that a movement excuses."""


def mismatch(
    wanted: Sequence[Any], found: Sequence[Any], precisions: Sequence[float] | None
) -> str:
    """Return how the leaves of two results differ by more than rounding, or "".

    A result computed from single precision has its rounding error, even if its own dtype is double.
    The order of bytes may be another one: a program computes in the processor's. Without
    `precisions`, results are compared bit for bit.
    """
    if len(wanted) != len(found):
        return f"{len(found)} outputs in place of {len(wanted)}"
    for number, (a, b) in enumerate(zip(wanted, found, strict=True)):
        if type(a) is not type(b):
            return f"a {type(b).__name__} in place of a {type(a).__name__}, output {number}"
        a, b = on_host(a), on_host(b)  # noqa: PLW2901  the same results
        if not isinstance(a, (NDARRAY, NUMBER)):
            if a != b and (a == a or b == b):  # noqa: PLR0124  NaN is not itself
                return f"{b!r} in place of {a!r}, output {number}"
            continue
        if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
            return f"{b.dtype}{b.shape} in place of {a.dtype}{a.shape}, output {number}"
        if np.array_equal(a, b):
            continue
        distance = ulps(a, b)
        allowed = 0.0
        if precisions is not None and a.dtype.kind in "fc":
            allowed = TOLERANCE * max(1.0, precisions[number] / float(np.finfo(a.dtype).eps))
        if not distance <= allowed:
            text = f"other values, {distance:.3g} ulp away, output {number}"
            return Distant(text) if allowed and np.isfinite(distance) else text
    return ""


def ulps(a: Any, b: Any) -> float:
    """Return the largest difference, in units in the last place of the largest element."""
    if a.dtype.kind not in "fc":
        return 0.0 if np.array_equal(a, b) else float("inf")
    with np.errstate(all="ignore"):
        scale, distance = np.max(np.abs(a), initial=0.0), np.max(np.abs(a - b), initial=0.0)
        if np.isfinite(scale) and np.isfinite(distance):
            return float(distance / np.spacing(scale))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if np.all(same):
        return 0.0
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.all(finite | same):
        return float("inf")
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(np.where(finite, a, 0)))
        unit = np.spacing(scale.real.astype(np.abs(a).dtype))
        return float(np.max(np.abs(np.where(finite, a - b, 0))) / unit)
