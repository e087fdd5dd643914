"""Random programs with loops, compiled and compared with eager.

    python -m tests.fuzz.compiled --count 10000 --seed 0 --engine numpy c

Each program is a function with loops, also nested ones, whose inner loops have as many turns each
time, or ever more or fewer, on slices of ever more or fewer elements: recurrences of scalars and
vectors, sums, arrays filled in place, buffers that change between their uses, an array of the
module that changes between calls, negative indices, branches on values, several outputs, in double
and single precision, arguments in several memory orders, plain or under a transform. It is called
with two sets of arguments, each twice. Values, types and dtypes are compared with eager, the first
results have to stay as they were, and so have the arguments. The compiler verifies each program
after each pass. Values may differ by rounding,
measured against the largest element. At the
end a census says how many programs had what.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.core.values.tree import flatten
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDING = 1 << 14
"""How many units in the last place of its largest element an output may be away."""
UNARY = ("np.sin", "np.tanh", "np.cos", "np.arctan", "np.square", "-")


class Writer:
    """Writes the text of one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.turns = self.random.randint(8, 20)
        self.is_nested = self.random.random() < 0.6  # no loop in a loop, or no other one
        self.scalars = ["s"]
        self.vectors = ["h", "y"]
        self.after: list[str] = []

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self) -> str:
        return self.pick("0.5", "0.25", "-0.3", "0.1 * i + 0.3", "1.5", "0.7", "i", "2")

    def index(self) -> str:
        last = self.turns + 3
        return self.pick("i", "i + 1", "i + 2", "-1 - i", "-2 - i", f"{last - 1} - i", "3", "-1")

    def scalar(self, depth: int = 0) -> str:  # noqa: PLR0911  one for each kind
        kind = self.random.randrange(9 if depth < 2 else 4)
        if kind == 0:
            return self.random.choice(self.scalars)
        if kind == 1:
            return f"x[{self.index()}]"
        if kind == 2:
            return f"m[{self.index()}, {self.pick('0', '1', '-1')}]"
        if kind == 3:
            return f"{self.random.choice(self.vectors)}[{self.pick('0', '1', '-1')}]"
        if kind == 4:
            return f"np.sum({self.vector(depth + 1)})"
        if kind == 5:
            return f"{self.pick(*UNARY)}({self.scalar(depth + 1)})"
        if kind == 6:
            return f"({self.scalar(depth + 1)} * {self.number()})"
        operator = self.pick("+", "*", "-", "+")
        return f"({self.scalar(depth + 1)} {operator} {self.scalar(depth + 1)})"

    def vector(self, depth: int = 0) -> str:  # noqa: PLR0911  one for each kind
        kind = self.random.randrange(10 if depth < 2 else 3)
        if kind == 0:
            return self.random.choice(self.vectors)
        if kind == 1:
            return f"m[{self.index()}]"
        if kind == 2:
            return f"n[:, {self.index()}]"
        if kind == 3:
            return f"({self.vector(depth + 1)} @ w)"
        if kind == 4:
            return f"{self.pick(*UNARY)}({self.vector(depth + 1)})"
        if kind == 5:
            return f"({self.vector(depth + 1)} * {self.scalar(depth + 1)})"
        if kind == 6:
            return f"({self.vector(depth + 1)} * {self.number()})"
        if kind == 7:
            return f"np.where({self.vector(depth + 1)} > 0, {self.vector(depth + 1)}, 0.5)"
        if kind == 8:
            return f"(w @ {self.vector(depth + 1)})"
        operator = self.pick("+", "*", "-")
        return f"({self.vector(depth + 1)} {operator} {self.vector(depth + 1)})"

    def statement(self) -> list[str]:  # noqa: C901, PLR0911, PLR0912  one for each kind
        """One statement of a loop."""
        kind = self.random.randrange(19 if self.is_nested else 23)
        if kind > 18:
            return self.inner_loop()
        if kind > 16:
            return self.shrinking()
        if kind == 0:
            return [f"s = np.tanh({self.scalar()})"]
        if kind == 1:
            return [f"h = np.tanh({self.vector()})"]
        if kind == 2:
            return [f"s = s + {self.scalar()}"]
        if kind == 3:
            return [f"h = {self.vector()} * 0.25 + h * 0.5"]
        if kind == 4:
            self.after.append("np.sum(b)")
            return [f"b[{self.pick('i', '-1 - i', 'i + 1')}] = {self.scalar()}"]
        if kind == 5:
            self.after.append("b[2]")
            return [f"b[{self.pick('i', 'i + 1', '3')}] += {self.scalar()}"]
        if kind == 6:
            self.after.append("*found")
            return [f"found.append({self.pick(self.scalar(), self.vector(), 's', 'h')})"]
        if kind == 7:
            return [f"k[i] = i + {self.number()}", "s = s + np.sum(k * x)"]
        if kind == 8:
            return [f"b[i + 1] = b[i] * 0.5 + {self.scalar()}"]
        if kind == 9:
            self.after.append("c")
            return [f"c = {self.scalar()} * 0.5 + c"]
        if kind == 10:
            self.after.append("np.sum(q)")
            return [f"q[i] = {self.vector()}"]
        if kind == 11:
            self.after.append("q[1]")
            return ["q[1:-1] += 0.1 * (q[2:] - q[:-2])", f"q[0] = {self.vector()}"]
        if kind == 12:
            self.after.append("p[2]")
            return [
                "q[1:-1] += 0.2 * (p[2:] - p[:-2])",
                f"p[1:-1] += {self.pick('0.3', '-0.1')} * q[1:-1]",
            ]
        if kind == 13:
            self.after.append("np.sum(p[1])")
            return [f"p[i + 1, :2] {self.pick('=', '+=', '*=')} {self.vector()}[1:]"]
        if kind == 14:
            return [f"h = h * e[{self.pick('i', '-1 - i', '2')}] + {self.vector()} * e[0]"]
        if kind == 15:
            self.after.append("np.sum(q)")
            inner = self.pick(
                f"q[i, j] = {self.scalar()} + y[j]",
                "q[i + 1, j] = 0.5 * q[i, j] + x[i] * y[-1 - j]",
                f"s = s * 0.5 + y[j] * {self.scalar()}",
                "q[i, j] += m[i, j] * n[j, i]",
            )
            return ["for j in range(3):", f"    {inner}"]
        return [f"h = h + {self.vector()}"]

    def shrinking(self) -> list[str]:
        """A statement on slices that have another length in each turn."""
        self.after += ["a[1]", "a[-1, 2]", "np.sum(b)"]
        number = self.pick("0.1", "-0.05", "(0.02 * i - 0.1)")
        return [
            self.pick(
                f"a[i:, i] -= {number} * (a[i:, :i] @ a[i, :i])",
                f"a[i, i + 1 :] += {number} * (a[i, :i] @ a[:i, i + 1 :])",
                f"a[i + 1 :, i:] -= {number} * a[i + 1 :, i, None] * a[i, i:]",
                f"a[i + 1 :] += {number} * a[i + 1 :, [i]] * a[i]",
                f"b[i] = (x[i] - {number} * (a[i, :i] @ b[:i])) * 0.5",
                f"b[-1 - i] += {number} * np.sum(a[-1 - i, -i - 1 :] * x[-i - 1 :])",
                f"b[: i + 1] += {number} * x[i] * x[i::-1]",
                f"b[i:] = b[i:] * 0.5 + {self.scalar(1)}",
                f"s = s + {number} * np.sum(a[: i + 2, 1 : i + 2] ** 2)",
                f"h = h * 0.9 + {number} * np.sum(m[i:], axis=0)",
            )
        ]

    def inner_loop(self) -> list[str]:
        """A loop in a loop: over all elements, up to `i`, or from `i` on."""
        self.is_nested = True
        last = self.turns
        span = self.pick(
            *(f"1, {last - 1}", f"0, {last}", f"{last - 2}, 0, -1", "0, i", "i + 1, " + str(last)),
            *("0, 9", f"i + 1, {last}"),
        )
        self.after += ["np.sum(b)", "a[1]", "a[-1, 2]"]
        number = self.pick("0.1", "0.2 * i - 0.5", "-0.3", "0.05 * j", "0.25")
        bodies = [
            [f"s = np.sin(s) * x[j] + {number}"],
            [f"s = s + x[j] * b[j] * {number}"],
            [f"b[j] = 0.4 * (b[j - 1] + b[j + 1]) + {number} * x[j]"],
            [f"b[j] = b[j] - {number} * b[i] * x[j]"],
            [f"b[j] += {number} * s", "s = s + 0.1 * b[j]"],
            [f"a[i, j] = a[i, j - 1] * {number} + x[j] * s"],
            [
                f"a[j, i] = a[j, i] * {number} + x[i]",
                "a[j, i + 1 :] -= 0.1 * a[j, i] * a[i, i + 1 :]",
            ],
            [f"a[j] = a[j] * {number} + a[i] * 0.2", "a[j, j] += x[j]"],
            [f"a[j, 1:-1] += {number} * (a[j, 2:] - a[j, :-2])"],
            [f"h = np.tanh(h * {number} + m[j])"],
            [f"s = s + np.sum(h * m[j]) * {number}", "h = h * 0.9"],
            [f"a[i, i] += {number} * a[i, j] * a[j, i]"],
            ["a[i, j] -= 0.1 * (a[i, :j] @ a[:j, j])"],
            [f"b[j] = b[j] * 0.5 + {number} * np.sum(a[j, :i] * x[:i])"],
            ["a[j, i:] = a[j, i:] * 0.5 + 0.05 * (a[i, i:] @ a[i:, j]) * a[i, i:]"],
        ]
        count = self.random.choice((1, 1, 2))
        body = [line for lines in self.random.sample(bodies, count) for line in lines]
        before = self.pick("", "s = 0.5 * s", "s = x[i]", "h = h * 0.5 + m[i]")
        lines = [*filter(None, [before]), f"for j in range({span}):"]
        return [*lines, *(f"    {line}" for line in body)]

    def write(self) -> str:
        """The text of `function`, which returns an expression `one`, or `many`."""
        size = self.turns + 3
        lines = [
            "def function(x, y, m, n, w):",
            "    k = plain.zeros(len(x), x.dtype)",
            f"    b = np.zeros({size}, x.dtype)",
            "    a = x[:, None] * x",
            f"    q = np.zeros(({size}, 3), x.dtype)",
            "    p = 1.0 * m",
            "    s, h, c = x[0], y, y * 0.5",
            "    found = []",
        ]
        for _ in range(self.random.choice((1, 1, 2))):
            lines.append(f"    for i in range({self.turns}):")
            for _ in range(self.random.randint(1, 3)):
                lines += [f"        {line}" for line in self.statement()]
            if self.random.random() < 0.12:
                lines += ["        if s > 0.5:", "            s = s * 0.5"]
        if self.random.random() < 0.15:
            lines += ["    if np.sum(h) > 0:", "        h = h * 2.0"]
        if self.random.random() < 0.1:
            lines += ["    while 1.0 < np.sum(h * h) < 1e30:", "        h = h * 0.5"]
        parts = [*dict.fromkeys(self.after), "s", "h"]
        ones = ", ".join(f"*({part[1:]})" if part[0] == "*" else part for part in parts)
        lines.append("    many = [" + ones + "]")
        lines.append("    return many if several else sum(np.sum(one) for one in many)")
        return "\n".join(lines)


def _plain(f: Any) -> Any:
    return f


def _grad(f: Any) -> Any:
    return gw.grad(f, (0, 1, 2, 4))


def _jvp(f: Any) -> Any:
    def along_the_first(x: Any, *others: Any) -> Any:
        def of_the_first(x: Any) -> Any:
            return f(x, *others)

        return gw.jvp(of_the_first, (x,), (x,))

    return along_the_first


def _vmap(f: Any) -> Any:
    return gw.vmap(f, (0, None, None, None, None))


def _value_and_grad(f: Any) -> Any:
    return gw.value_and_grad(f)


TRANSFORMS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "plain": (_plain, True),
    "grad": (_grad, False),
    "value_and_grad": (_value_and_grad, False),
    "jvp": (_jvp, False),
    "vmap": (_vmap, True),
}
"""What is done to a program, and whether it returns several outputs."""


ORDERS: dict[str, Callable[[Any], Any]] = {
    "in order": np.ascontiguousarray,
    "columns first": np.asfortranarray,
    "reversed": lambda array: np.ascontiguousarray(array[::-1])[::-1],
    "spread out": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
}
"""How the elements of the arguments lie in memory."""


def arguments(seed: int, turns: int, dtype: Any, batch: bool, order: str) -> tuple[Any, ...]:
    """Arguments of a program, of moderate size."""
    rng = np.random.default_rng(seed)
    size = turns + 3
    shape = (2, size) if batch else (size,)
    shapes = (shape, (3,), (size, 3), (3, size), (3, 3))
    return tuple(
        ORDERS[order]((rng.standard_normal(shape) * 0.5).astype(dtype)) for shape in shapes
    )


def difference(wanted: Any, found: Any) -> str:
    """Say how two results differ; "" if they do not."""
    one, tree = flatten(wanted)
    two, other = flatten(found)
    if tree != other:
        return f"structure {other!r} in place of {tree!r}"
    for number, (a, b) in enumerate(zip(one, two, strict=True)):
        if type(a) is not type(b):
            return f"{type(b).__name__} in place of {type(a).__name__}, output {number}"
        if isinstance(a, (int, float)) and not isinstance(a, np.generic):
            if a != b:
                return f"{b} in place of {a}, output {number}"
            continue
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{b.dtype}{b.shape} in place of {a.dtype}{a.shape}, output {number}"
        with np.errstate(all="ignore"):
            scale = np.max(np.abs(a), initial=0.0)
            away = np.max(np.abs(a - b), initial=0.0)
            if not np.isfinite(scale):
                continue
            if not away <= ROUNDING * np.spacing(max(scale, a.dtype.type(1.0))):
                return f"{away} away of {scale}, output {number}"
    return memory_problem(
        [a for a in one if isinstance(a, np.ndarray)], [b for b in two if isinstance(b, np.ndarray)]
    )


def memory_problem(wanted: list[Any], found: list[Any]) -> str:
    """Say which arrays share memory that share none in eager, or cannot be written to."""
    for number, (a, b) in enumerate(zip(wanted, found, strict=True)):
        if a.flags.writeable and not b.flags.writeable:
            return f"array {number} cannot be written to"
        for other in range(number):
            if np.shares_memory(b, found[other]) and not np.shares_memory(a, wanted[other]):
                return f"arrays {other} and {number} share memory"
    return ""


class Program(NamedTuple):
    """A program, what is done to it, and its arguments."""

    text: str
    transform: str
    dtype: Any
    order: str
    turns: int

    def arguments(self, seed: int) -> tuple[Any, ...]:
        """Arguments made of random numbers."""
        return arguments(seed, self.turns, self.dtype, self.transform == "vmap", self.order)

    def surroundings(self, seed: int) -> Any:
        """What the array of the module holds."""
        return np.random.default_rng(seed).uniform(0.5, 1.0, self.turns + 3).astype(self.dtype)

    def __str__(self) -> str:
        return f"{self.transform}, {self.dtype.__name__}, {self.order}\n{self.text}"

    def features(self) -> set[str]:
        """What the census counts."""
        found = {self.transform, self.dtype.__name__, self.order}
        found |= {name for name, pattern in FEATURES.items() if re.search(pattern, self.text)}
        if TRANSFORMS[self.transform][1]:
            found.add("several outputs")
        return found


FEATURES = {
    "two loops": r"(?s)\n    for i .*\n    for i ",
    "nested loops": r"for j in",
    "negative indices": r"\[(:, )?-|, -\d\]",
    "writes in place": r"\n +[bq]\[[^=]*=",
    "a buffer that changes between its uses": r"k\[i\] =",
    "an array of the module that changes between calls": r"\be\[",
    "branches in a loop": r"if s >",
    "branches after a loop": r"if np.sum",
    "while": r"while",
    "lists of results": r"found.append",
    "products of matrices": r"@",
    "slices of changing length": r"\[[^\]]*:[^\],]*\bi\b|\bi\b[^\],]*:",
}


def random_program(seed: int) -> Program:
    """The program of a seed."""
    writer = Writer(seed)
    text = writer.write()
    choice = writer.random.choice
    transform, dtype = choice(list(TRANSFORMS)), choice((np.float64, np.float32))
    order = choice(("in order", *ORDERS))
    return Program(text, transform, dtype, order, writer.turns)


class Outcome(NamedTuple):
    """What came of a program: its problem ("" if there is none), its fate, what it had."""

    problem: str
    fate: str
    features: set[str]


class Failure(Exception):  # noqa: N818  it is an outcome
    """The compiled program did not do what eager does."""


class Attempt:
    """The program of a seed, run eagerly and compiled."""

    def __init__(self, seed: int) -> None:
        self.program = random_program(seed)
        self.points = (seed, seed, seed + 1, seed + 1)
        transform, several = TRANSFORMS[self.program.transform]
        self.scope: dict[str, Any] = {"np": gnp, "plain": np, "several": several}
        self.scope["e"] = self.program.surroundings(0)
        exec(self.program.text, self.scope)
        self.function: Any = transform(self.scope["function"])

    def results(self, function: Any) -> list[Any]:
        """Call at all points; the array of the module is another one at the second point."""
        found: list[Any] = []
        given = [self.program.arguments(point) for point in self.points]
        for turn, args in enumerate(given):
            self.scope["e"][:] = self.program.surroundings(turn // 2)
            found.append(function(*args))
        for args, point in zip(given, self.points, strict=True):
            if not all(map(np.array_equal, args, self.program.arguments(point))):
                raise Failure("an argument has changed")
        return found

    def compiled(self, engine: str, wanted: list[Any]) -> tuple[str, str]:
        """Compare with eager; return the fate, and what `explain` says."""
        compiled: Any = gw.compile(self.function, engine=engine)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = self.results(compiled)
        for result, expected in zip(found, wanted, strict=True):
            problem = difference(expected, result)
            if problem:
                raise Failure(problem)
        told = [str(one.message) for one in caught if issubclass(one.category, CompileWarning)]
        if any(re.search("defect|tracing it raised", text) for text in told):
            raise Failure(told)
        notes = compiled.explain()
        if "loops were not rolled" in notes:
            raise Failure(notes)
        if any("cannot take" in text for text in told):
            if not any(re.search("too (many|long)|more than|longer than", text) for text in told):
                raise Failure(told)
            return "too large for the engine", notes
        return "eager" if told else "rolled" if "\nloop: " in notes else "compiled", notes


def run(seed: int, engine: str = "numpy") -> Outcome:
    """Run one program."""
    attempt = Attempt(seed)
    features = attempt.program.features()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = attempt.results(attempt.function)
        except Exception as error:
            return Outcome("", f"eager raises {type(error).__name__}", features)
    try:
        fate, notes = attempt.compiled(engine, wanted)
    except Exception as error:
        text = f"seed {seed}, engine {engine}: {type(error).__name__}: {error}\n{attempt.program}"
        return Outcome(text, "wrong", features)
    if re.search(r"seen: .*,", notes):
        features.add("another branch at the second point")
    return Outcome("", fate, features)


def main() -> int:
    """Run many programs, print those that fail, and count what became of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", nargs="+", default=["numpy"])
    options = parser.parse_args()
    os.environ["GRADWRAP_CHECK"] = "1"
    fates: dict[str, Counter[str]] = {engine: Counter() for engine in options.engine}
    census: Counter[str] = Counter()
    failures = 0
    for seed in range(options.seed, options.seed + options.count):
        features: set[str] = set()
        for engine in options.engine:
            outcome = run(seed, engine)
            fates[engine][outcome.fate] += 1
            features |= outcome.features
            if outcome.problem:
                failures += 1
                print(f"--- {outcome.problem}", flush=True)
        census.update(features)
    for name, count in census.most_common():
        print(f"{count:6d} {name}")
    for engine, counted in fates.items():
        print(f"{engine}: " + ", ".join(f"{n} {fate}" for fate, n in sorted(counted.items())))
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
