"""What NumPy says of a program: its results, their layout, and their derivatives by differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.fuzz.values import NUMPY, is_array, is_differentiable, quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.fuzz.programs import Program


STEP = 1e-4


class Unreliable(Exception):  # noqa: N818  it is no error: the program is left out
    """Differences of values do not tell the derivative: a kink, or values too large."""


@dataclass
class Reference:
    """The results on NumPy or the error, and the derivative along directions of the arguments."""

    values: tuple[Any, ...]
    error: Exception | None
    directions: list[Any]
    slopes: list[Any]


def directions_of(args: Sequence[Any], seed: int) -> list[Any]:
    """Return a random direction for each argument; None for integers."""
    random = np.random.default_rng(seed)
    found: list[Any] = []
    for arg in args:
        if not is_differentiable(arg):
            found.append(None)
            continue
        like = np.asarray(arg)
        along = random.uniform(-1.0, 1.0, like.shape)
        if like.dtype.kind == "c":
            along = along + 1j * random.uniform(-1.0, 1.0, like.shape)
        made = along.astype(like.dtype)
        found.append(made if is_array(arg) else made[()])
    return found


def refer(program: Program) -> Reference:
    """Run a program on NumPy, and differentiate it by differences of its double precision."""
    args = program.values()
    directions = directions_of(args, program.seed)
    with quiet():
        try:
            values = program.compiled(NUMPY)(*args)
        except Exception as error:
            return Reference((), error, directions, [])
        return Reference(values, None, directions, slopes_of(program, directions, values))


def slopes_of(program: Program, directions: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return the derivative of each result along the directions; None for integers.

    In double precision `astype(np.float32, copy=False)` is a view, and other such things. Where the
    results are not the program's own for that reason, there is no reference.
    """
    twin = program.precise()
    run = twin.compiled(NUMPY)

    def at(step: float) -> list[Any]:
        args = twin.values(precise=True)
        moved = [shifted(a, d, step) for a, d in zip(args, directions, strict=True)]
        try:
            with np.errstate(invalid="raise", divide="raise"):
                return [keep(value) for value in run(*moved)]
        except Exception:
            # What is a copy in single precision may be a view in double; or a value in between is
            # not a number, and its derivative is none either.
            raise Unreliable from None

    if not all(map(is_near, at(0.0), values)):
        raise Unreliable
    return differences(at)


def is_near(one: Any, other: Any) -> bool:
    return one is None or (
        one.shape == np.shape(other)
        and np.allclose(one, other, rtol=1e-3, atol=1e-3, equal_nan=True)
    )


def shifted(arg: Any, direction: Any, step: float) -> Any:
    """Move a fresh argument along its direction, where it lies in memory, and return it."""
    if direction is None:
        return arg
    if not is_array(arg):
        return type(arg)(arg + step * direction)
    moved: Any = arg if arg.flags.writeable else arg.copy("K")
    moved += step * direction
    return moved


def keep(value: Any) -> Any:
    """Return a result as it is now, or None if it has no derivative."""
    return np.array(value) if is_differentiable(value) else None


def differences(at: Callable[[float], list[Any]]) -> list[Any]:
    """Return the derivative at 0 of a function of a number; raise an error at a kink."""
    middle = at(0.0)
    h = STEP
    coarse, fine = ([(at(step), at(-step)) for step in (start, 2 * start)] for start in (h, h / 3))
    found: list[Any] = []
    for i, center in enumerate(middle):
        if center is None:
            found.append(None)
            continue
        samples = [side[i] for pairs in (coarse, fine) for pair in pairs for side in pair]
        if any(s is None or s.shape != center.shape for s in samples):
            raise Unreliable
        one, two = (
            (4 * first(pairs[0], i, s) - first(pairs[1], i, 2 * s)) / 3
            for pairs, s in ((coarse, h), (fine, h / 3))
        )
        bends = [pairs[0][0][i] - 2 * center + pairs[0][1][i] for pairs in (coarse, fine)]
        scale = 1.0 + np.max(np.abs(one), initial=0.0)
        kink = np.abs(9 * bends[1] - bends[0]) / h
        if not (np.all(np.abs(one - two) <= 1e-6 * scale) and np.all(kink <= 1e-4 * scale)):
            raise Unreliable
        found.append(one)
    return found


def first(pair: tuple[list[Any], list[Any]], i: int, step: float) -> Any:
    return (pair[0][i] - pair[1][i]) / (2 * step)
