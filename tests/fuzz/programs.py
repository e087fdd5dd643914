"""A random program of a seed, and how it is written out."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tests.fuzz.statements import add_statement, indented
from tests.fuzz.values import is_number, is_numpys
from tests.fuzz.writer import NAMES, Writer, nested

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


PLAIN_FORM = "np.array({})"
INTEGERS = "np.array({}, dtype=int)"
BOOLS = "np.array({}, dtype=bool)"
COMPLEX = "np.array({}, dtype=complex)"
SCALAR = "np.float64"
FORMS: tuple[tuple[str, float], ...] = (
    (INTEGERS, 6),
    (BOOLS, 2),
    (COMPLEX, 7),
    (SCALAR, 2),
    ("np.array({}, dtype=np.float32)", 8),
    ("np.array({}, order='F')", 8),
    ("np.array({})[::-1]", 6),
    ("np.array({}).T", 4),
    (PLAIN_FORM, 55),
)
"""The forms of an argument, and how often each is drawn."""


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
        exec(code_of(self.source, f"<program {self.seed}>", "exec"), made)
        return made["program"]

    def values(self, precise: bool = False) -> list[Any]:
        """Return new arguments; in double precision if asked."""
        made: list[Any] = [
            eval(code_of(widened(source) if precise else source), {"np": np})
            for _, source in self.arguments
        ]
        return made

    def precise(self) -> Program:
        """Return the program in double precision."""
        return replace(self, body=tuple(map(widened, self.body)))


@functools.lru_cache(maxsize=32)
def code_of(source: str, name: str = "<argument>", mode: str = "eval") -> Any:
    """Compile a text, once for all of its runs."""
    return compile(source, name, mode)


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
    while len(writer.statements) < wanted and tries < 60 and not writer.raises:
        add_statement(writer)
        tries += 1
    results = tuple(
        name
        for name, value in writer.env.items()
        if NAMES.fullmatch(name) and (is_numpys(value) or is_number(value))
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
        "strong_zeros": 2,
        "grad_of_grad": 2,
        "vmap": 4 * one_by_one,
        "vmap_of_grad": 2 * one_by_one,
        "grad_of_vmap": 2 * one_by_one,
    }
    return ("vjp", "jvp", *rng.choices(list(others), list(others.values()), k=1))


def argument(rng: random.Random, *, real: bool = False) -> str:
    """Return the source of an argument: any shape, dtype and layout; integers unless `real`."""
    shape = rng.choice(SHAPES)
    form, weights = zip(*(FORMS if not real else FORMS[2:]), strict=True)
    chosen: str = rng.choices(form, weights)[0]
    size = int(np.prod(shape))
    if chosen == INTEGERS:
        values = [str(rng.randrange(2)) for _ in range(size)]
    elif chosen == BOOLS:
        values = [str(rng.random() < 0.5) for _ in range(size)]
    elif chosen == COMPLEX:
        values = [f"{number(rng)}{number(rng, sign=True)}j" for _ in range(size)]
    else:
        values = [number(rng) for _ in range(size)]
    if chosen == SCALAR:
        return f"np.float64({number(rng)})"
    if not shape and chosen.startswith("np.array({})"):
        chosen = PLAIN_FORM
    return chosen.format(nested(values, shape))


def number(rng: random.Random, *, sign: bool = False) -> str:
    value = rng.choice((-1, 1)) * rng.uniform(0.05, 1.6)
    return f"{value:+.2f}" if sign else f"{value:.2f}"
