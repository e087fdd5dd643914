"""Write a program statement by statement, running it on NumPy while it grows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.fuzz.values import NUMPY, is_array, is_numpys, quiet

if TYPE_CHECKING:
    import random

MAX_SIZE = 48
MAX_VALUE = 40.0
NAMES = re.compile(r"\b[a-z]\d+\b")


class Unsuitable(Exception):  # noqa: N818  it is no error: the statement is left out
    """A statement makes values that are too large, too many, or not finite."""


class Writer:
    """A program so far: its lines, and the values that its names have on NumPy."""

    def __init__(self, rng: random.Random, arguments: dict[str, str], drop_in: bool) -> None:
        self.rng = rng
        self.arguments = arguments
        self.drop_in = drop_in
        self.statements: list[str] = []
        self.count = 0
        self.env: dict[str, Any] = {}
        self.raises = False
        self.restart()

    def restart(self) -> None:
        """Run the program again from its first line."""
        self.env = dict(NUMPY)
        for name, source in self.arguments.items():
            self.env[name] = eval(source, self.env)
        for statement in self.statements:
            self.execute(statement)

    def execute(self, statement: str) -> None:
        with quiet():
            exec(statement, self.env)

    def value(self, source: str) -> Any:
        """Return the value of an expression; it must not write to anything."""
        with quiet():
            return eval(source, self.env)

    def new(self, letter: str = "a") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def add(self, statement: str) -> bool:
        """Add a statement if NumPy can run it and its values are of moderate size."""
        try:
            self.execute(statement)
            self.check()
        except Unsuitable:
            self.restart()
            return False
        except Exception:
            keep = self.rng.random() < 0.01
            self.restart()
            if keep and "np.array([" not in statement:
                self.statements.append(statement)
                self.raises = True
            return False
        self.statements.append(statement)
        return True

    def check(self) -> None:
        for name, value in self.env.items():
            if is_numpys(value) and not is_moderate(value):
                raise Unsuitable(name)

    # What is alive -------------------------------------------------------------------------

    def arrays(self) -> list[tuple[str, Any]]:
        """Return the names of numbers and arrays of floating-point or complex dtype."""
        return [
            (name, value)
            for name, value in self.env.items()
            if is_numpys(value) and value.dtype.kind in "fc" and NAMES.fullmatch(name)
        ]

    def pick(self, *, later: float = 0.5) -> tuple[str, Any]:
        """Return one of the arrays, more often a later one."""
        alive = self.arrays()
        if self.rng.random() < later:
            alive = alive[-3:]
        return self.rng.choice(alive)

    def index_arrays(self, size: int) -> list[str]:
        """Return the names of plain arrays that are keys for an axis of a size."""
        return [
            name
            for name, value in self.env.items()
            if is_array(value)
            and NAMES.fullmatch(name)
            and value.size
            and (
                (value.dtype.kind == "i" and -size <= value.min() <= value.max() < size)
                or (value.dtype == bool and value.shape == (size,))
            )
        ]

    # Sources of operands -------------------------------------------------------------------

    def literal(self, shape: tuple[int, ...]) -> str:
        values = [f"{self.rng.uniform(-1.5, 1.5):.2f}" for _ in range(int(np.prod(shape)))]
        return f"np.array({nested(values, shape)})"

    def scalar(self) -> str:
        """Return the source of a number: one of a program's, or an element."""
        name, value = self.pick(later=0.2)
        if not value.ndim or not value.size:
            return name if not value.ndim else "0.7"
        key = ", ".join(str(self.rng.randrange(n)) for n in value.shape)
        return f"{name}[{key}]"

    def of_shape(self, shape: tuple[int, ...]) -> str:
        """Return the source of an array of exactly this shape."""
        found = [name for name, value in self.arrays() if value.shape == shape]
        if found and self.rng.random() < 0.8:
            return self.rng.choice(found)
        return self.literal(shape) if shape else self.scalar()

    def partner(self, value: Any) -> str:
        """Return the source of an operand that broadcasts against an array."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.15:
            return rng.choice(("0.5", "2", "1.3", "np.float64(0.7)", "np.array(0.7)"))
        if kind < 0.3:
            return self.scalar()
        shape = value.shape
        found: list[str] = []
        for name, other in self.arrays():
            if broadcasts(other.shape, shape):
                found.append(name)
            if other.ndim and broadcasts((*other.shape[:-1], 1), shape):
                found.append(f"{name}[..., :1]")
            if other.ndim == 1 and shape and other.shape[0] == shape[0] and len(shape) == 2:
                found.append(f"{name}[:, None]")
        if found and kind < 0.9:
            return rng.choice(found)
        start = rng.randint(0, len(shape))
        return self.literal(tuple(1 if rng.random() < 0.2 else n for n in shape[start:]) or (1,))


def nested(values: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return values[0]
    if not shape[0]:
        return "[]"
    step = len(values) // shape[0]
    return (
        "["
        + ", ".join(nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))
        + "]"
    )


def broadcasts(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        shape = np.broadcast_shapes(one, other)
    except ValueError:
        return False
    return int(np.prod(shape)) <= MAX_SIZE


def is_moderate(value: Any) -> bool:
    if value.size > MAX_SIZE or value.dtype.kind not in "fciub":
        return False
    if value.dtype.kind in "fc":
        return bool(np.all(np.isfinite(value))) and bool(np.all(np.abs(value) < MAX_VALUE))
    return True
