"""Random programs on arguments that are hard for a compiler, compiled and compared with eager.

    python -m tests.fuzz.hostile --count 10000 --seed 0 --engine numpy c

Each program is some lines of NumPy: arithmetic, comparisons, reductions, slices, writes in place;
plain or under a transform. Its arguments hold NaN, infinities, zeros of both signs, subnormal and
large numbers. They are empty, have no axis, are reversed, spread out, broadcast (strides of zero),
misaligned, in the other byte order, read-only, or views of each other; and each of three calls has
other values. The dtypes of results, and the places of NaN and infinities, have to be those of
eager; so have the signs of zeros in plain programs. Other elements may differ by rounding. No call
may change an argument or the results of an earlier call, or return memory that eager does not
return.

Some lines avoid what no rule of NumPy fixes: the sign of a NaN, the larger of two zeros, and jumps
where a value is rounded otherwise.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tests.fuzz.compiled import memory_problem

import gradwrap as gw
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5)
"""Values of any precision; the least and the largest numbers of a dtype come with them."""
ROUNDING = {"numpy": 64, "c": 1 << 14}
"""By engine: how many units in the last place of the largest element an element may be away."""
SHAPES = ((5,), (17,), (1,), (0,), (), (3, 4), (4, 3), (1, 5), (2, 0), (2, 3, 4), (70,))
PAIRS = ("apart", "apart", "apart", "the same", "overlapping", "reversed view")
UNARY = (
    *("sin", "tanh", "exp", "log", "sqrt", "square", "abs", "negative", "log1p", "expm1"),
    *("reciprocal", "cos", "arctan", "exp2", "cbrt"),
)
NUMBERS = ("2", "2.0", "0.5", "-1.0", "1.0", "0.0", "3.0", "-0.0", "1e-300")


class Writer:
    """Writes the text of one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["x", "y"]
        self.kinds: tuple[Callable[[int], str], ...] = (
            *(self.unary, self.binary, self.binary, self.binary, self.extreme, self.with_number),
            *(self.choice, self.power, self.scaled, self.running, self.between),
        )

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def value(self, depth: int = 0) -> str:
        """An expression of the shape of the arguments."""
        if depth > 2 or self.random.random() < 0.15:
            return self.random.choice(self.names)
        return self.random.choice(self.kinds)(depth + 1)

    def unary(self, depth: int) -> str:
        return f"np.{self.pick(*UNARY)}({self.value(depth)})"

    def binary(self, depth: int) -> str:
        return f"({self.value(depth)} {self.pick('+', '-', '*', '/')} {self.value(depth)})"

    def extreme(self, depth: int) -> str:
        function = self.pick("maximum", "minimum", "hypot", "arctan2", "fmax")
        return f"np.{function}({self.value(depth)} + 0.0, {self.value(depth)} + 0.0)"

    def with_number(self, depth: int) -> str:
        pair = [self.pick(*NUMBERS), self.value(depth)]
        self.random.shuffle(pair)
        return f"({pair[0]} {self.pick('*', '+', '-', '/')} {pair[1]})"

    def choice(self, depth: int) -> str:
        return f"np.where({self.condition(depth)}, {self.value(depth)}, {self.value(depth)})"

    def power(self, depth: int) -> str:
        return f"({self.value(depth)} ** {self.pick('2', '3', '-1', '-2', '1.5')})"

    def scaled(self, depth: int) -> str:
        return f"({self.value(depth)} * {self.reduced(depth)})"

    def running(self, depth: int) -> str:
        if self.random.random() < 0.5:
            return f"np.cumsum(np.abs({self.value(depth)}).ravel()).reshape(x.shape)"
        return f"np.sort({self.value(depth)}.ravel(), kind='stable').reshape(x.shape)"

    def between(self, depth: int) -> str:
        return f"np.clip({self.value(depth)}, -1.5, {self.pick('1.5', 'np.inf')})"

    def condition(self, depth: int) -> str:
        """An expression of bools."""
        kind = self.random.randrange(4)
        if kind == 0:
            return f"np.{self.pick('isnan', 'isfinite', 'isinf')}({self.value(depth)})"
        if kind == 1:
            return f"k {self.pick('>', '==', '<')} {self.pick('0', '2')}"
        if kind == 2:
            return f"np.signbit(np.where({self.pick('x', 'y')} == 0, x, k))"
        operator = self.pick("<", "<=", "==", "!=", ">", ">=")
        return f"({self.pick('x', 'y')} {operator} {self.pick('x', 'y', '0.0', '1.0')})"

    def reduced(self, depth: int) -> str:
        """An expression without axes."""
        value = self.value(depth)
        return self.pick(
            f"np.max({value}, initial=0.5)",
            f"np.min({value}, initial=np.inf)",
            f"np.prod({value})",
            f"np.sum(np.abs({value}))",
            f"np.sum(np.abs({value}))",
        )

    def statement(self) -> list[str]:
        """One or two lines."""
        name = self.pick("u", "v", "w")
        lines = [f"{name} = {self.value()}"]
        if self.random.random() < 0.3:
            key = self.pick("...", "::2", "1:", "::-1", ":2")
            value = self.pick("0.5", f"2.0 * x[{key}]", f"y[{key}]")
            test = "" if key == "..." else f"if {name}.ndim: "
            lines = [f"{name} = 1.0 * {self.value()}"]
            lines.append(f"{test}{name}[{key}] {self.pick('=', '+=', '*=', '=')} {value}")
        if name not in self.names:
            self.names.append(name)
        return lines

    def write(self) -> str:
        """The text of `function`."""
        lines = ["def function(x, y, k):"]
        for _ in range(self.random.randint(1, 4)):
            lines += [f"    {line}" for line in self.statement()]
        last = self.random.choice(self.names[2:])
        return "\n".join([*lines, f"    return {self.value()}, {self.reduced(1)}, {last}"])


def _plain(f: Any) -> Any:
    return f


def _grad(f: Any) -> Any:
    def total(x: Any, y: Any, k: Any) -> Any:
        return sum(np.sum(one) for one in f(x, y, k))

    return gw.grad(total, (0, 1))


def _jvp(f: Any) -> Any:
    def along(x: Any, y: Any, k: Any) -> Any:
        def of_the_first(x: Any) -> Any:
            return f(x, y, k)

        return gw.jvp(of_the_first, (x,), (x,))

    return along


TRANSFORMS: dict[str, Callable[[Any], Any]] = {"plain": _plain, "grad": _grad, "jvp": _jvp}


def values(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, kind: str, *, huge: bool
) -> Any:
    """Numbers of a kind: calm ones, or such with special ones among them."""
    calm = rng.standard_normal(shape)
    info = np.finfo(dtype)
    pool = [*SPECIAL, float(info.tiny), -float(info.smallest_subnormal), float(info.eps)]
    if huge:
        pool += [float(info.max), float(info.min)]
    if kind == "zeros":
        pool = [0.0, -0.0, 1.0, -1.0]
    share = {"calm": 0.0, "some": 0.3}.get(kind, 1.0)
    special = rng.choice(np.array(pool), shape)
    return np.where(rng.random(shape) < share, special, calm).astype(dtype)


def _misaligned(array: Any) -> Any:
    made = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "in order": lambda array: array,
    "read-only": _read_only,
    "misaligned": _misaligned,
    "other byte order": lambda array: array.astype(array.dtype.newbyteorder()),
    "columns first": np.asfortranarray,
    "reversed": lambda array: np.ascontiguousarray(array[::-1])[::-1],
    "spread out": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "broadcast": lambda array: np.broadcast_to(array[:1].copy(), array.shape),
    "rows of more": lambda array: np.concatenate([array, array], -1)[..., : array.shape[-1]],
}
"""How the elements lie in memory; the last four need an axis."""


class Program(NamedTuple):
    """A program, what is done to it, and how its arguments are."""

    text: str
    transform: str
    dtype: Any
    shape: tuple[int, ...]
    layouts: tuple[str, str]
    pair: str
    kinds: tuple[str, ...]
    """The values of each call."""

    def arguments(self, seed: int, kind: str) -> tuple[Any, ...]:
        """Arguments of one call. Sums of the largest numbers depend on their order."""
        rng = np.random.default_rng(seed)
        huge = self.transform == "plain" and re.search("sum|prod", self.text) is None
        shape = (self.shape[0] + 1, *self.shape[1:]) if self.shape else ()
        one = values(rng, shape, self.dtype, kind, huge=huge)
        two = values(rng, self.shape, self.dtype, kind, huge=huge)
        k = rng.integers(-1, 4, self.shape)
        if self.pair == "overlapping" and self.shape:
            return one[:-1], one[1:], k
        x, y = (one[:-1].copy() if self.shape else one), two
        x, y = (LAYOUTS[name](part) for name, part in zip(self.layouts, (x, y), strict=True))
        if self.pair == "the same":
            y = x
        elif self.pair == "reversed view" and self.shape:
            y = x[::-1]
        return x, y, k

    def __str__(self) -> str:
        return f"{self[1:]}\n{self.text}"


def random_program(seed: int) -> Program:
    """The program of a seed."""
    writer = Writer(seed)
    text = writer.write()
    choice = writer.random.choice
    shape = choice(SHAPES)
    layouts = [*LAYOUTS][: None if shape else 5]
    return Program(
        *(text, choice([*TRANSFORMS]), choice((np.float64, np.float32)), shape),
        layouts=(choice(layouts), choice(layouts)),
        pair=choice(PAIRS),
        kinds=tuple(
            map(choice, (("calm", "some", "zeros"), ("some", "all", "zeros"), ("some", "all")))
        ),
    )


def difference(wanted: Any, found: Any, rounding: float, *, signs: bool) -> str:
    """Say how two results differ; "" if they do not."""
    one, tree = flatten(wanted)
    two, other = flatten(found)
    if tree != other:
        return f"structure {other!r} in place of {tree!r}"
    pairs = enumerate(zip(one, two, strict=True))
    problems = (_leaf_problem(a, b, rounding, signs=signs) for _, (a, b) in pairs)
    return next((f"output {n}: {text}" for n, text in enumerate(problems) if text), "")


def _leaf_problem(wanted: Any, found: Any, rounding: float, *, signs: bool) -> str:
    if type(wanted) is not type(found):
        return f"{type(found).__name__} in place of {type(wanted).__name__}"
    native = wanted.dtype.newbyteorder("=")
    if found.dtype.newbyteorder("=") != native or wanted.shape != found.shape:
        return f"{found.dtype}{found.shape} in place of {wanted.dtype}{wanted.shape}"
    a, b = np.atleast_1d(wanted).astype(native), np.atleast_1d(found).astype(native)
    finite, zero = np.isfinite(a), (a == 0) & (b == 0)
    wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(a[finite]), initial=native.type(0))
        unit = max(
            float(np.finfo(native).eps) * float(scale), float(np.finfo(native).smallest_subnormal)
        )
        wrong[finite] = ~(np.abs(a - b)[finite] <= rounding * unit)
    if signs:
        wrong |= zero & (np.signbit(a) != np.signbit(b))
    return f"{b[wrong]} in place of {a[wrong]}" if np.any(wrong) else ""


class Outcome(NamedTuple):
    """What came of a program: its problem ("" if there is none), and its fate."""

    problem: str
    fate: str


class Failure(Exception):  # noqa: N818  it is an outcome
    """The compiled program did not do what eager does."""


class Attempt:
    """The program of a seed, run eagerly and compiled."""

    def __init__(self, seed: int, engine: str) -> None:
        self.program = random_program(seed)
        self.seed = seed
        scope: dict[str, Any] = {"np": np}
        exec(self.program.text, scope)
        self.function = TRANSFORMS[self.program.transform](scope["function"])
        self.compiled: Any = gw.compile(self.function, engine=engine)
        self.rounding = ROUNDING[engine]
        self.told: list[str] = []
        self.earlier: list[tuple[Any, Any]] = []
        """The results of calls so far, and copies of them."""

    def call(self, number: int) -> bool:
        """Make one call; tell if eager returns anything."""
        kind = self.program.kinds[number]
        plain, given, kept = (self.program.arguments(self.seed + number, kind) for _ in range(3))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                wanted = self.function(*plain)
            except Exception as error:
                self.expect(error, given)
                return False
            found = self.compiled(*given)
        told = (one.message for one in caught if issubclass(one.category, CompileWarning))
        self.told += map(str, told)
        signs = self.program.transform == "plain"
        one, two = flatten(wanted)[0], flatten(found)[0]
        self.fail(difference(wanted, found, self.rounding, signs=signs))
        self.fail(memory_problem([*plain, *one], [*given, *two]))
        if any(a.tobytes() != b.tobytes() for a, b in zip(given, kept, strict=True)):
            self.fail("an argument has changed")
        for before, copy in self.earlier:
            self.fail(difference(copy, before, 0.0, signs=True))
        tree = flatten(found)[1]
        self.earlier.append((found, unflatten(tree, [one.copy() for one in two])))
        return True

    def fail(self, problem: str) -> None:
        if problem:
            raise Failure(f"{problem}, call {len(self.earlier)}")

    def expect(self, error: Exception, given: Any) -> None:
        """Require the error of eager."""
        try:
            self.compiled(*given)
        except type(error):
            return
        raise Failure(f"no {type(error).__name__}: {error}")


def run(seed: int, engine: str = "numpy") -> Outcome:
    """Run one program."""
    attempt = Attempt(seed, engine)
    try:
        ran = [attempt.call(number) for number in range(3)]
    except Exception as error:
        text = f"seed {seed}, engine {engine}: {type(error).__name__}: {error}\n{attempt.program}"
        return Outcome(text, "wrong")
    told = " ".join(attempt.told)
    if re.search("defect|tracing it raised|engine's program", told):
        return Outcome(f"seed {seed}, engine {engine}: {told}\n{attempt.program}", "wrong")
    if "cannot take" in told:
        return Outcome("", "another engine")
    return Outcome("", "eager" if told else "compiled" if any(ran) else "eager raises")


def main() -> int:
    """Run many programs, print those that fail, and count what became of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", nargs="+", default=["numpy"])
    options = parser.parse_args()
    fates: dict[str, Counter[str]] = {engine: Counter() for engine in options.engine}
    for seed in range(options.seed, options.seed + options.count):
        for engine in options.engine:
            outcome = run(seed, engine)
            fates[engine][outcome.fate] += 1
            if outcome.problem:
                print(f"--- {outcome.problem}", flush=True)
    for engine, counted in fates.items():
        print(f"{engine}: " + ", ".join(f"{n} {fate}" for fate, n in sorted(counted.items())))
    return int(any(counted["wrong"] for counted in fates.values()))


if __name__ == "__main__":
    sys.exit(main())
