"""A random program of a seed, and how it is written out."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.fuzz.statements import add_statement, indented
from tests.fuzz.writer import NAMES, Writer, nested

if TYPE_CHECKING:
    from collections.abc import Sequence

SHAPES: tuple[tuple[int, ...], ...] = (
    (3,),
    (2, 3),
    (3, 3),
    (4,),
    (2, 2),
    (3, 2),
    (),
    (2, 3, 2),
    (1, 3),
    (5,),
)


@dataclass(frozen=True)
class Program:
    """A function as source, the sources of its arguments, and how it is to be transformed."""

    body: tuple[str, ...]
    results: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    drop_in: bool
    transforms: tuple[str, ...]
    seed: int = 0

    @property
    def source(self) -> str:
        """The function."""
        names = ", ".join(name for name, _ in self.arguments)
        result = "".join(f"{name}, " for name in self.results).strip()
        return f"def program({names}):\n{indented([*self.body, f'return ({result})'])}\n"

    def compiled(self, namespace: dict[str, Any]) -> Any:
        """Return the function, with the names it uses from a namespace."""
        made = dict(namespace)
        exec(compile(self.source, f"<program {self.seed}>", "exec"), made)  # noqa: S102  its own text
        return made["program"]

    def values(self, precise: bool = False) -> list[Any]:
        """Return new arguments; in double precision if asked."""
        made: list[Any] = [
            eval(widened(source) if precise else source, {"np": np})  # noqa: S307  likewise
            for _, source in self.arguments
        ]
        return made

    def precise(self) -> Program:
        """Return the program in double precision."""
        return replace(self, body=tuple(map(widened, self.body)))


def widened(source: str) -> str:
    return source.replace("float32", "float64").replace("complex64", "complex128")


def generate(seed: int) -> Program:
    """Return the program of a seed."""
    rng = random.Random(seed)
    arguments = {"x0": argument(rng, real=True)}
    arguments |= {f"x{i}": argument(rng) for i in range(1, rng.choice((1, 2, 2, 2, 3)))}
    drop_in = rng.random() < 0.35
    writer = Writer(rng, arguments, drop_in)
    wanted = rng.randint(2, 10)
    tries = 0
    while len(writer.statements) < wanted and tries < 60 and not writer.raises:  # noqa: PLR2004
        add_statement(writer)
        tries += 1
    results = tuple(
        name
        for name, value in writer.env.items()
        if NAMES.fullmatch(name) and isinstance(value, (np.ndarray, np.generic, float, complex))
    )
    return Program(
        tuple(writer.statements),
        results,
        tuple(arguments.items()),
        drop_in,
        chosen_transforms(rng, "\n".join(writer.statements)),
        seed,
    )


def chosen_transforms(rng: random.Random, body: str) -> tuple[str, ...]:
    """Return the transforms that a program is run under."""
    one_by_one = 0.3 if "if " in body or "while " in body else 1.0  # vmap refuses branches
    others = {
        "value_and_grad": 3,
        "tape": 3,
        "create_graph": 1.5,
        "closure": 3,
        "written": 2,
        "jacrev": 1.5,
        "jacfwd": 1.5,
        "linearize": 1,
        "checkpoint": 2,
        "hvp": 2,
        "grad_of_grad": 2,
        "vmap": 4 * one_by_one,
        "vmap_of_grad": 2 * one_by_one,
        "grad_of_vmap": 2 * one_by_one,
    }
    return ("vjp", "jvp", *rng.choices(list(others), list(others.values()), k=1))


def argument(rng: random.Random, *, real: bool = False) -> str:
    """Return the source of an argument: any shape, dtype and layout; integers unless `real`."""
    shape = rng.choice(SHAPES)
    kind = rng.uniform(0.08, 1.0) if real else rng.random()
    if kind < 0.03:
        return f"np.float64({number(rng)})"
    if kind < 0.06:
        return f"np.array({nested([str(rng.randrange(2)) for _ in range(count(shape))], shape)})"
    if kind < 0.08:
        chosen = [str(rng.random() < 0.5) for _ in range(count(shape))]
        return f"np.array({nested(chosen, shape)})"
    if kind < 0.15:
        values = [f"{number(rng)}{number(rng, sign=True)}j" for _ in range(count(shape))]
        return f"np.array({nested(values, shape)})"
    values = [number(rng) for _ in range(count(shape))]
    text = nested(values, shape)
    if kind < 0.22:
        return f"np.array({text}, dtype=np.float32)"
    if kind < 0.32 and len(shape) > 1:
        return f"np.array({text}, order='F')"
    if kind < 0.4 and shape:
        return f"np.array({text})[::-1]"
    if kind < 0.44 and len(shape) > 1:
        return f"np.array({text}).T"
    return f"np.array({text})"


def count(shape: Sequence[int]) -> int:
    return int(np.prod(shape))


def number(rng: random.Random, *, sign: bool = False) -> str:
    value = rng.choice((-1, 1)) * rng.uniform(0.05, 1.6)
    return f"{value:+.2f}" if sign else f"{value:.2f}"
