"""Random programs with long loops, whose compiled programs are extrapolated from short traces.

    python -m tests.fuzz.loops --count 10000 --seed 0
    python -m tests.fuzz.loops --count 1000 --seed 0 --kind triangular

Each program has loops of some hundred turns, by `range` in all forms, over arrays, `zip`,
`enumerate`, comprehensions, in loops and in called functions, nested and triangular loops over the
elements of a square array; with branches on the index, also at places that no short trace reaches,
breaks, reads of what only the last turn wrote, tables, buffers, lists, and numbers computed in
Python. Half of the programs count as too slow to be compared at full size. Programs of odd seeds
have turns that are mostly alike, and are always too slow, so that many of them need no run at full
size: they read elements by the index and near it, go over arrays, append to lists, and do something
else in every k-th turn. Each is compiled at arguments that may hide faults (zeros), and compared
with eager at others.
With `--kind keeping`, programs keep values in lists, queues, objects and dictionaries, and read
some at places that the length decides, which the first arguments hide.
A program that is not extrapolated is traced as a whole, which is no fault. A census at the end says
how many were extrapolated, and why others were not.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import random
import re
import sys
import warnings
from collections import Counter, deque
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from tests.fuzz.compiled import difference

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.errors import CompileWarning

FIRST = 60
"""The trace length from which extrapolation is tried here, so that short programs count as long."""

EXTRAPOLATED = ("All turns", "in one direction", "extrapolated from")
"""Words of explanations of extrapolated programs, by how they were compared."""


class Writer:
    """Writes the text of one program of arguments `x` (n), `m` (n, 3) and `w` (3)."""

    comprehends = 0.2
    """How often a generator or a comprehension is added up, which keep a state."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.n = self.random.randint(60, 130)
        self.turns = self.random.choice([self.n, self.n - 1, self.random.randint(140, 200)])
        self.lines: list[str] = []
        self.before: list[str] = []
        self.after: list[str] = []

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self) -> str:
        return self.pick(
            *("0.5", "-0.3", "0.7", "1.1"),
            *("0.01 * i", "(0.001 * i + 0.3)", "rate", "h", "(1 - 0.9 ** (i + 1))", "TABLE[i]"),
        )

    def place(self) -> str:
        last = self.turns // 2 + 20
        return self.pick("i", "i", "i - 1", "-1 - i", "i // 2", "0", "-1", "3", str(last % self.n))

    def scalar(self, depth: int = 0) -> str:  # noqa: PLR0911  one for each kind
        kind = self.random.randrange(8 if depth < 2 else 3)
        if kind == 0:
            return "s"
        if kind == 1:
            return f"x[{self.place()}]"
        if kind == 2:
            return f"m[{self.place()}, {self.pick('0', '1', '-1')}]"
        if kind == 3:
            return f"{self.pick('np.sin', 'np.tanh', 'np.cos')}({self.scalar(depth + 1)})"
        if kind == 4:
            return f"({self.scalar(depth + 1)} * {self.number()})"
        if kind == 5:
            return f"np.sum({self.vector(depth + 1)})"
        return f"({self.scalar(depth + 1)} {self.pick('+', '*', '-')} {self.scalar(depth + 1)})"

    def vector(self, depth: int = 0) -> str:  # noqa: PLR0911  one for each kind
        kind = self.random.randrange(7 if depth < 2 else 3)
        if kind == 0:
            return "v"
        if kind == 1:
            return f"m[{self.place()}]"
        if kind == 2:
            return self.pick("w", "DATA[i]", "DATA[0]")
        if kind == 3:
            return f"{self.pick('np.sin', 'np.tanh')}({self.vector(depth + 1)})"
        if kind == 4:
            return f"({self.vector(depth + 1)} * {self.scalar(depth + 1)})"
        if kind == 5:
            return f"({self.vector(depth + 1)} * {self.number()})"
        return f"({self.vector(depth + 1)} {self.pick('+', '*', '-')} {self.vector(depth + 1)})"

    def update(self) -> str:
        return self.pick(
            f"s = np.tanh({self.scalar()})",
            f"s = s + 0.1 * {self.scalar()}",
            f"v = np.tanh({self.vector()}) * 0.5",
            f"v = v + 0.1 * {self.vector()}",
        )

    def condition(self) -> str:
        place = self.random.randint(0, self.turns)
        return self.pick(
            *("i == 0", "i % 2 == 0", "i % 3 == 1", "i > 2", "i == 5"),
            *(f"i == {self.turns} - 1", f"i > {place}", f"i == {place}", f"i % {place + 1} == 0"),
            *("i == len(x) - 1", "len(x) > 50"),
        )

    def statement(self) -> list[str]:  # noqa: PLR0911  one for each kind
        kind = self.random.randrange(13)
        if kind < 4:
            return [self.update()]
        if kind == 4:
            return [f"if {self.condition()}:", f"    {self.update()}"]
        if kind == 5:
            update = self.update()
            return [f"if {self.condition()}:", f"    {update}", "else:", f"    {self.update()}"]
        if kind == 6:
            self.before.append(f"b = gnp.zeros({self.pick('len(x)', str(self.turns + 1))} + 1)")
            self.after.append(self.pick("np.sum(b * b)", "b[-1]", "b[3]", f"b[{self.turns - 1}]"))
            return [f"b[i % (len(b) - 1)] = {self.scalar()}"]
        if kind == 7:
            self.before.append("found = [s]")
            self.after.append(
                self.pick("found[-1]", "found[2]", "sum(found)", "found[-1] * found[1]")
            )
            return [f"found.append({self.scalar()})"]
        if kind == 8:
            self.before.append("rows = [v]")
            self.after.append("np.sum(np.stack(rows) ** 2)")
            return [f"rows.append({self.vector()})"]
        if kind == 9:
            self.before.append("rate = 0.5")
            return [f"rate {self.pick('*= 0.99', '+= 0.01', '= 0.9 * rate + 0.02')}", self.update()]
        if kind == 10:
            return [f"if i > {self.random.randint(30, self.turns)}:", "    break"]
        if kind == 11:
            self.before.append("last = s")
            self.after.append("last")
            return [f"if {self.condition()}:", f"    last = {self.scalar()}"]
        turns = self.pick("3", "9", "i % 4", f"{self.random.randint(45, 60)}")
        return [f"for k in range({turns}):", f"    {self.update()}"]

    def header(self) -> list[str]:
        t = str(self.turns)
        header = self.pick(
            *(f"for i in range({t}):", f"for i in range(1, {t}):", "for i in range(len(x)):"),
            *("for i in range(len(x) - 1, -1, -1):", "for i in reversed(range(len(x))):"),
            *("for i in range(0, len(x) - 1, 2):", "for i, e in enumerate(x):"),
            *("for i, (e, r) in enumerate(zip(x, m)):", f"for i in list(range({t})):"),
            *(f"for _ in range({t}):", f"for _ in range({t}):", f"for count in range({t}):"),
        )
        extra: list[str] = []
        if ", e" in header or "(e" in header:
            extra.append("    s = s + 0.1 * e * s")
        if "zip" in header:
            extra.append("    v = v + 0.1 * r")
        if "_" in header and self.random.random() < 0.4:
            extra.append(
                self.pick(*("    i += 1", "    i = (i + 1) % len(x)", "    i = min(i + 1, 50)"))
            )
        return [header, *extra]

    def loop(self) -> list[str]:
        count = self.random.randint(1, 3)
        body = [f"    {line}" for _ in range(count) for line in self.statement()]
        return [*self.header(), *body]

    def nest(self) -> list[str]:
        """Return a loop of loops over the elements of a square array `g`."""
        size = self.random.randint(14, 20)
        self.before.append(
            f"g = 0.5 * gnp.outer(gnp.resize(x, {size}), gnp.cos(gnp.resize(x, {size})))"
        )
        self.after.append(self.pick("np.sum(g * g)", "g[-1, -1]", "g[3, 2] * s", "np.sum(g[:, 0])"))
        outer, inner = self.pick(
            *(
                "1, SIZE - 1;1, SIZE - 1",
                "SIZE;SIZE",
                "1, SIZE;1, SIZE",
                "SIZE;i",
                "1, SIZE;i, SIZE",
            ),
            *("SIZE - 2, 0, -1;1, SIZE - 1", "SIZE - 1;i + 1, SIZE", "1, SIZE - 1;0, SIZE, 2"),
        ).split(";")
        near = ["g[i, j]", "g[i - 1, j]", "g[i, j - 1]", "g[j, i]", "x[j % len(x)]", "g[i, 0]"]
        if "- 1" in outer and "- 1" in inner:
            near += ["g[i + 1, j]", "g[i, j + 1]", "g[i + 1, j - 1]"]
        terms = [self.pick(*near) for _ in range(self.random.randint(1, 4))]
        value = f"0.3 * ({' + '.join(terms)})"
        value = self.pick(
            value, f"np.sin({value})", f"{value} * s", f"{value} + 0.01 * {self.number()}"
        )
        body = [f"g[i, j] = {value}"]
        if self.random.random() < 0.2:
            body = [f"s = np.tanh(s + {value})"]
        if self.random.random() < 0.2:
            test = self.pick("i == j", "j == 3", "i > SIZE - 3", "j % 2 == 0", "i + j > 30")
            body = [f"if {test}:", f"    {body[0]}", "else:", f"    g[i, j] = 0.9 * {near[0]}"]
        lines = [f"for i in range({outer}):", f"    for j in range({inner}):"]
        lines += [f"        {line}" for line in body]
        if self.random.random() < 0.3:
            lines.append(
                self.pick("    g[i, 0] = g[i, 0] * 0.9", "    s = s * 0.9 + g[i, i] * 0.1")
            )
        if self.random.random() < 0.3:
            lines = ["for t in range(3):", *(f"    {line}" for line in lines)]
        return [line.replace("SIZE", "len(g)") for line in lines]

    def text(self) -> str:
        loops: list[str] = []
        is_nest = self.random.random() < 0.12
        for _ in range(self.random.randint(not is_nest, 2 - is_nest)):
            loops += self.loop()
        if is_nest:
            loops += self.nest()
        if self.random.random() < self.comprehends:
            self.after.append(f"sum(np.sin(x[i]) * {self.number()} for i in range(len(x)))")
        if self.random.random() < self.comprehends:
            self.after.append("sum([helper(x[i], w) for i in range(1, len(x))])")
        total = " + ".join(["s", "np.sum(v)", *self.after])
        lines = [
            "def helper(a, w):",
            "    for k in range(3):",
            "        a = np.sin(a) + 0.1 * np.sum(w)",
            "    return a",
            "def f(x, m, w):",
            "    s, v, rate, h, i = x[0], w, 0.5, 1.0 / (len(x) - 1), 0",
            *(f"    {line}" for line in dict.fromkeys(self.before)),
            *(f"    {line}" for line in loops),
            f"    return {total}",
        ]
        return "\n".join(lines)


class AlikeWriter(Writer):
    """Writes programs whose turns are alike, or repeat after a few, and now and then are not."""

    comprehends = 0.02

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.n = self.random.randint(110, 150)
        self.turns = self.n
        self.offset, self.is_indexed = 0, True

    def number(self) -> str:
        k = self.random.randint(2, 5)
        usual = ["0.5", "-0.3", "0.7", "h", f"TUPLE[i % {k}]", f"(0.1 + 0.2 * (i % {k}))"]
        rare = ["0.01 * i", "0.3 / (1 + 0.1 * i)", "np.cos(0.3 * i)", "FEW[i % 4]", "rate"]
        rare += ["(1 if i % 2 else -1)", "0.01 * (i // 2)", "1 / (i + 1) ** 2", "LATE[i // 90]"]
        return self.pick(*usual) if not self.is_rare() else self.pick(*rare)

    def is_rare(self) -> bool:
        return self.random.random() < 0.12

    def place(self) -> str:
        if not self.is_indexed or self.is_rare():
            return self.pick("0", "-1", "3", "i % 3", "len(x) - 1 - i")
        return self.pick("i", "i", "i - 1", "i + 1", f"i - {self.offset}")

    def scalar(self, depth: int = 0) -> str:
        if depth < 2 and self.random.random() < 0.15:
            one, other = self.scalar(depth + 1), self.scalar(depth + 1)
            return self.pick(
                f"np.maximum({one}, {other})",
                f"np.minimum({one}, 0.6)",
                f"abs({one} - 0.4)",
                f"np.where({one} > {other}, {one}, 0.3 * {other})",
                f"np.clip({one}, -0.5, 0.7)",
                f"w[i % 3] * {one}",
                f"np.mean(x[{self.window()}]) * {one}",
            )
        return super().scalar(depth)

    def window(self) -> str:
        return self.pick("i - 1 : i + 2", "i - 1 : i + 1") if self.is_indexed else "3:7"

    def vector(self, depth: int = 0) -> str:
        if depth < 2 and self.random.random() < 0.1:
            one, other = self.vector(depth + 1), self.vector(depth + 1)
            if self.is_rare() and self.is_indexed:
                return "x[i - 1 : i + 2]"
            return self.pick(f"np.maximum({one}, {other})", f"np.where(w > 0.5, {one}, {other})")
        return super().vector(depth)

    def condition(self) -> str:
        if self.is_rare():
            return super().condition()
        k = self.random.randint(2, 6)
        return self.pick(
            *(f"i % {k} == 0", f"i % {k}", f"(i + 1) % {k} == {self.random.randrange(k)}"),
            *("i == len(x) - 2", "i > 1", "i % 2 and i % 3"),
        )

    def statement(self) -> list[str]:  # noqa: PLR0911  one for each kind
        kind = self.random.randrange(14)
        if kind < 7:
            return [self.update()]
        if kind == 7:
            return [f"for k in range({self.random.randint(2, 4)}):", f"    {self.update()}"]
        if kind == 8:
            self.before.append("found = []")
            self.after.append(self.pick("sum(found)", "found[-1]", "found[2] * len(found)"))
            return [f"found.append({self.scalar()})"]
        if kind == 9:
            self.before.append("b = gnp.zeros(len(x))")
            self.after.append(self.pick("np.sum(b * b)", "b[3]", "b[-3]"))
            return [f"b[i] = {self.scalar()}", f"s = 0.5 * s + b[{self.place()}]"]
        if kind == 10:
            k = self.random.randint(2, 4)
            self.before.append(f"ring = gnp.ones({k})")
            self.after.append("np.sum(ring)")
            return [f"ring[i % {k}] = np.tanh({self.scalar()} + ring[(i - 1) % {k}])"]
        if kind == 11:
            self.before.append("p, q = x[0], x[1]")
            self.after.append("p * q")
            return [f"p, q = q, np.tanh(p + {self.scalar()})"]
        return super().statement()

    def header(self) -> list[str]:
        self.offset = self.random.randint(1, 3)
        ends = f"{self.offset}, len(x) - 1"
        header = self.pick(
            *(f"for i in range({ends}):",) * 3,
            f"for i in reversed(range({ends})):",
            f"for i in range(len(x) - 2, {self.offset - 1}, -1):",
            f"for i in range({self.offset}, len(x) - 2, {self.random.randint(2, 4)}):",
            *("for i, e in enumerate(x):", "for e in x:", "for e, r in zip(x, m):"),
        )
        self.is_indexed = "range" in header
        extra = ["    s = np.tanh(s * 0.9 + 0.1 * e)"] * ("e" in header.split(" in ")[0][3:])
        return [header, *extra, *["    v = v + 0.1 * r"] * ("zip" in header)]


class TriangularWriter(Writer):
    """Writes loops of ever more or fewer turns, with steps around them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.n = self.random.randint(22, 24)

    def outer(self) -> str:
        return self.pick(
            *("range(n)",) * 4,
            *("range(1, n)", "range(n - 1, -1, -1)", "range(n - 1)", "reversed(range(n))"),
            *("range(0, n - 1, 2)", "range(2, n - 1)"),
        )

    def inner(self, i: str) -> str:
        usual = [f"range({i})", f"range({i} + 1, n)", f"range(n - {i})", f"range({i}, n)"]
        rare = [
            f"range({i} + 1)",
            f"range({i}, -1, -1)",
            f"range(1, {i})",
            f"range({i} - 1, -1, -1)",
        ]
        rare += [f"range(0, {i}, 2)", f"range({i}, n - 1)", "range(n)", f"reversed(range({i}))"]
        return self.pick(*usual, *usual, *rare)

    def read(self, indices: str) -> str:
        a, b = self.pick(*indices), self.pick(*indices)
        return self.pick(
            *(f"g[{a}, {b}]", f"g[{a}, {b}]", f"y[{a}]", f"x[{a}]", f"m[{a}, 1]", "s", "t"),
            *(f"np.sin(g[{a}, {b}])", f"y[{a}] * g[{b}, {a}]", f"np.sum(v * m[{a}])"),
        )

    def write(self, indices: str) -> str:
        a, b = indices[0], indices[-1]
        one, other = self.read(indices), self.read(indices)
        return self.pick(
            *(f"t = t - 0.1 * {one} * {other}", f"t = t + 0.05 * {one}", f"s = np.tanh(s + {one})"),
            *(f"y[{b}] = 0.5 * y[{b}] + 0.1 * {one}", f"y[{a}] = np.tanh({one} + {other})"),
            *(f"g[{a}, {b}] = 0.7 * g[{a}, {b}] - 0.1 * {one}", f"g[{a}, {b}] -= 0.1 * {one}"),
            *(f"v = 0.9 * v + 0.1 * {one} * m[{b}]", f"t = 0.5 * {one}", f"y[{b}] += 0.1 * {one}"),
        )

    def body(self, indices: str) -> list[str]:
        lines = [self.write(indices) for _ in range(self.random.choice([1, 1, 2]))]
        if self.random.random() < 0.2:
            a, b = indices[0], indices[-1]
            test = self.pick(
                *(f"{b} == 0", f"{a} == {b}", f"{b} % 2 == 0", f"{a} > 3", f"{a} == n - 1"),
                *(f"{b} == {a} - 1", f"{a} + {b} > n", f"{b} == {self.random.randint(2, 25)}"),
            )
            lines = [f"if {test}:", *(f"    {line}" for line in lines)]
            if self.random.random() < 0.4:
                lines += ["else:", f"    {self.write(indices)}"]
        if len(indices) < 3 and self.random.random() < (1.0 if len(indices) == 1 else 0.25):
            index = "ijk"[len(indices)]
            counts = self.inner(indices[-1] if self.random.random() < 0.8 else indices[0])
            deeper = [f"    {line}" for line in self.body(indices + index)]
            before = lines if self.random.random() < 0.6 else []
            lines = [*before, f"for {index} in {counts}:", *deeper]
            if self.random.random() < 0.6:
                lines.append(self.write(indices))
            if self.random.random() < 0.2:
                again = [f"    {line}" for line in self.body(indices + index)]
                lines += [f"for {index} in {self.inner(indices[-1])}:", *again]
        return lines

    def text(self) -> str:
        loops: list[str] = []
        for _ in range(self.random.choice([1, 1, 2])):
            loops += [f"for i in {self.outer()}:", *(f"    {line}" for line in self.body("i"))]
        lines = [
            "def f(x, m, w):",
            "    n = len(x)",
            "    s, t, v, y = x[0], x[1], w, gnp.zeros(n)",
            "    g = 0.5 * gnp.outer(x, gnp.cos(x)) + 0.3",
            *(f"    {line}" for line in loops),
            "    return s + t + np.sum(v) + np.sum(y * x) + np.sum(g * g)",
        ]
        return "\n".join(lines)


class ConstantsWriter(AlikeWriter):
    """Writes programs with numbers that no formula gives: times, tables, labels, noise.

    Some have a few steps of an inner loop that reads what the turn began with.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.before += [
            "t, rng = 0.0, np.random.default_rng(5)",
            f"ts = np.linspace(0, {self.pick('1', '3')}, len(x))",
            "noise = rng.normal(size=len(x))",
            f"bound = np.minimum({self.pick('ts', 'np.arange(len(x)) * 0.01')}, 0.4)",
            "late = np.ones(len(x))",
            f"late[{self.pick('len(x) // 2', '90', '-8', '25')} :] = 2.0",
            "pairs = rng.uniform(size=(len(x), 3))",
            "places = [min(i, 75) for i in range(len(x))]",
        ]

    def number(self) -> str:
        if not self.is_indexed or self.random.random() < 0.4:
            return self.pick(
                *("np.cos(t)", "np.exp(-t)", "t", "h", "min(t, 0.5)", "max(t, 0.2)"),
                *("(0.5 if t < 0.6 else 0.7)", "rng.normal()", "(np.sin(t) + np.cos(t))"),
            )
        at = self.pick("i", "i", "i - 1", "i + 1", "-1 - i")
        return self.pick(
            *(f"ts[{at}]", f"np.cos(ts[{at}])", "(ts[i + 1] - ts[i])", f"noise[{at}]"),
            *(f"bound[{at}]", f"late[{at}]", f"min(ts[{at}], ts[40])", "pairs[i, 1]"),
        )

    def place(self) -> str:
        if self.random.random() < 0.1:
            return self.pick("min(i, 70)", "places[i]", "(i + (i > 80) * (i % 2)) % 3")
        return super().place()

    def label(self) -> str:
        table = self.pick("LABELS", "LABELS", "LISTED", "SORTED", "ONCE")
        return f"{table}[{self.pick('i', 'i', 'i - 1')}]"

    def scalar(self, depth: int = 0) -> str:
        if self.is_indexed and self.random.random() < 0.1:
            return self.pick(f"w[{self.label()}]", f"x[{self.label()}]", f"m[i, {self.label()}]")
        return super().scalar(depth)

    def vector(self, depth: int = 0) -> str:
        if self.is_indexed and depth < 2 and self.random.random() < 0.15:
            return self.pick("(v * pairs[i])", f"(v * w[{self.label()}])", f"m[{self.label()}]")
        return super().vector(depth)

    def statement(self) -> list[str]:
        if self.random.random() < 0.1:
            return [
                "z = s",
                f"for _ in range({self.random.randint(2, 6)}):",
                f"    z = z - 0.3 * (z - s - 0.1 * np.sin(z + {self.scalar(1)}))",
                "s = z",
            ]
        return super().statement()

    def header(self) -> list[str]:
        steps = ("t += h", "t = 0.99 * t + 0.02", "t = t + 0.01 * np.cos(t)", "t = min(t + h, 0.6)")
        header = super().header()
        if self.random.random() < 0.15:
            self.is_indexed = False
            header = ["for e, r in zip(ts, noise):", "    s = np.tanh(s + 0.1 * e * r)"]
        return [*header, f"    {self.pick(*steps)}"]


class KeepingWriter(AlikeWriter):
    """Writes programs that keep values in containers, and read some that the length decides.

    The first arguments hide what `seen` returns, so that no comparison of results shows it.
    """

    CONTAINERS = (
        *("found = [s]", "recent = deque([s], maxlen=60)", "named = {0: s}", "kept = (s,)"),
        *("box = Box(s)", "pairs = [[s, v]]", "best = s", "n = len(x)"),
    )

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.before += self.CONTAINERS

    def seen(self, value: str) -> str:
        return f"seen({value}, w)" if self.random.random() < 0.8 else value

    def far(self) -> str:
        """Return a place that is another one in long loops than short ones tell."""
        k = self.random.randint(60, 90)
        return self.pick(
            *(f"min(len(found) - 1, {k})", "len(found) // 3", "len(found) // 2", "-1", "3"),
            *("math.isqrt(len(found))", "int(math.log2(len(found)))", f"-min(len(found), {k})"),
            *("len(found) - 2", f"max(0, len(found) - {k})", "(len(found) - 1) // 2 * 2"),
        )

    def late(self) -> str:
        """Return a value that a loop has kept, read after it."""
        k, far = self.random.randint(60, 90), self.far()
        return self.pick(
            *(f"found[{far}]", f"found[{far}]", f"found[{far}]", f"found[-{k}:][0]", "recent[0]"),
            *("recent[len(recent) // 2]", "kept[2]", "best", "box.last", "best", "found[-2]"),
            *(f"list(reversed(found))[{far}]", f"sum(found[:{k}])", f"sum(found[{k}:], 0.0 * s)"),
            f"found[sorted(range(len(found)), key=lambda j: abs(j - {k}))[0]]",
            f"sum(a * b for a, b in zip(found, found[{k}:]))",
            f"sum(one for j, one in enumerate(found) if j == {k} or j % 50 == 49)",
            f"sum(itertools.islice(found, {k}, None), 0.0 * s)",
            f"next(one for j, one in enumerate(found) if j >= min({k}, len(found) - 1))",
            f"functools.reduce(lambda a, b: 0.9 * a + b, found[:{k}])",
            f"named[min(len(named) - 1, {k})]",
            f"sum(named[key] for key in named if key < {k})",
            f"kept[min(len(kept) - 1, {k})]",
            f"pairs[min(len(pairs) - 1, {k})][0]",
            f"np.sum(pairs[{far} % len(pairs)][1])",
            "halves(found)",
            f"np.sum(np.stack(found[:{k}]))",
            f"np.sum(np.stack(found[-{k}:]) ** 2)",
        )

    def scalar(self, depth: int = 0) -> str:
        if depth < 2 and self.random.random() < 0.12:
            k = self.random.randint(45, 90)
            at = self.pick("i", "i", "i // 2", "len(found)")
            value = self.pick(
                *(f"found[min({at}, {k}, len(found) - 1)]", f"found[max(len(found) - {k}, 0)]"),
                *(f"found[-min(len(found), {k})]", "found[len(found) // 2]", "found[-1]"),
                *("found[0]", "named[len(named) // 2]", "box.last", "best", "recent[-1]"),
                "recent[0]",
            )
            return self.seen(value)
        return super().scalar(depth)

    def statement(self) -> list[str]:  # noqa: PLR0911  one for each kind
        kind, k = self.random.randrange(12), self.random.randint(45, 90)
        if kind < 3:
            return ["found.append(s)"]
        if kind == 3:
            return [self.pick("recent.append(s)", "recent.append(s * s)", "recent.appendleft(s)")]
        if kind == 4:
            return ["named[len(named)] = s"]
        if kind == 5:
            return ["kept = kept + (s,)" if self.is_rare() else "box.put(s)"]
        if kind == 6:
            return ["pairs.append([s, v])"]
        if kind == 7:
            test = self.pick(f"i == {k}", f"i == min({k}, n - 1)", "i == n // 2", f"i <= {k}")
            return [f"best = s if {test} else best"]
        if kind == 8 and self.is_rare():
            return [f"if len(found) > {k}:", "    break"]
        if kind == 9 and self.is_indexed:
            return [f"for k in range(min(i, {k}) % 3):", f"    {self.update()}"]
        return super().statement()

    def text(self) -> str:
        for _ in range(self.random.randint(1, 3)):
            self.after.append(self.seen(self.late()))
        lines = [
            "class Box:",
            "    def __init__(self, s):",
            "        self.last, self.count = s, 0",
            "    def put(self, s):",
            "        self.count += 1",
            f"        if self.count == {self.random.randint(45, 100)} or self.count < 9:",
            "            self.last = s",
            "def seen(value, w):",
            "    return np.where(w[0] > 1.5, 0.3, value)",
            "def halves(parts):",
            "    if len(parts) == 1:",
            "        return parts[0]",
            "    middle = len(parts) // 2",
            "    return halves(parts[:middle]) - 0.5 * halves(parts[middle:])",
        ]
        text = super().text()
        for line in self.CONTAINERS:
            if len(re.findall(rf"\b{line.split()[0]}\b", text)) == 1:
                text = text.replace(f"    {line}\n", "")
        return "\n".join([*lines, text])


class Outcome(NamedTuple):
    """What became of one program."""

    fate: str
    problem: str
    reason: str = ""
    is_chunked: bool = False
    counts: bool = False
    """Whether the turns of some loop of the program vary in number."""


def arguments(seed: int, n: int, *, zeros: bool = False) -> list[Any]:
    rng = np.random.default_rng(seed)
    made = [rng.uniform(0.2, 1.0, shape) for shape in ((n,), (n, 3), (3,))]
    return [np.zeros_like(one) for one in made] if zeros else made


KINDS: dict[str, tuple[type[Writer], ...]] = {
    "usual": (Writer, AlikeWriter, Writer, ConstantsWriter),
    "triangular": (TriangularWriter,),
    "keeping": (KeepingWriter,),
}


def function_of(seed: int, kind: str = "usual") -> tuple[Any, str, int]:
    """Return the function of a seed, its text, and the length of its arguments."""
    kinds = KINDS[kind]
    writer = kinds[seed % len(kinds)](seed)
    text = writer.text()
    rng = np.random.default_rng(seed)
    scope: dict[str, Any] = {"np": np, "gnp": gnp, "__name__": "written", "deque": deque}
    scope |= {"math": math, "itertools": itertools, "functools": functools}
    if not seed % 2:
        scope["TABLE"] = [0.3] * 30 + [0.2] * 400
    labels = np.random.default_rng(seed).integers(0, 3, 400)
    scope |= {"LABELS": labels, "LISTED": labels.tolist(), "SORTED": np.arange(400) // 70 % 3}
    scope["ONCE"] = np.where(np.arange(400) == 85, 1, 0)
    scope |= {"TUPLE": (0.3, 0.5, 0.2, 0.7, 0.4), "FEW": [0.3, 0.5, 0.2, 0.9], "LATE": (0.3, 0.6)}
    scope["DATA"] = rng.uniform(0.2, 1.0, (400, 3))
    exec(compile(text, f"<loops {seed}>", "exec"), scope)
    return scope["f"], text, writer.n


def is_chaotic(eager: Any, given: list[Any]) -> bool:
    """Tell if arguments that differ in their last bits give other results."""
    near = [np.nextafter(one, 2.0) for one in given]
    return bool(difference(eager(*given), eager(*near)))


def run(
    seed: int, engine: str = "numpy", memory: float | None = None, kind: str = "usual"
) -> Outcome:
    """Compile one program, and compare it with eager at other arguments."""
    function, text, n = function_of(seed, kind)
    writer = random.Random(seed + 1)
    of_all = gw.grad(function, (0, 1, 2))
    eager: Any = writer.choice([of_all, function, gw.value_and_grad(function)])
    compiled = gw.compile(eager, engine=engine, memory=memory)
    first = arguments(seed, n, zeros=writer.random() < 0.25)
    if kind == "keeping":
        first[2] += 2.0
    seconds = writer.choice([0.0, 1.0]) if seed % 2 == 0 else 0.0
    try:
        eager(*first)
    except (IndexError, TypeError, ValueError, gw.errors.GradwrapError) as error:
        return Outcome("raises", "", type(error).__name__)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", CompileWarning)
        share = 0.5 if memory is None else 100
        whole = patch("gradwrap.compiler.rolling.checkpoints.cut.WHOLE", share)
        slow = patch("gradwrap.compiler.extrapolating.proof.SECONDS", seconds)
        with whole, slow, patch("gradwrap.compiler.calls.entry.FIRST", FIRST):
            compiled(*first)
        for other in (seed + 1, seed + 2):
            given = arguments(other, n)
            problem = difference(eager(*given), compiled(*given))
            if problem and is_chaotic(eager, given):
                return Outcome("chaotic", "")
            if problem:
                return Outcome("wrong", f"seed {seed}: {problem}\n{text}")
    report = compiled.explain()
    is_chunked = "checkpoints: " in report.replace("no checkpoints", "")
    counts = bool(re.search(r"loop: \d+ to \d+ turns, ", report))
    for fate in ("runs eagerly", *EXTRAPOLATED):
        if fate in report:
            return Outcome(fate, "", report, is_chunked, counts)
    why = re.search("cannot be extrapolated: (.*)", report)
    return Outcome("traced", "", "short" if why is None else why[1], is_chunked, counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", default="numpy")
    parser.add_argument("--memory", type=float, help="the bytes that stacks of loops may take")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--kind", choices=KINDS, default="usual")
    options = parser.parse_args()
    fates: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    wrong = chunked = counting = 0
    for seed in range(options.seed, options.seed + options.count):
        outcome = run(seed, options.engine, options.memory, options.kind)
        counting += outcome.counts
        chunked += outcome.is_chunked
        fates[outcome.fate] += 1
        if outcome.fate == "traced":
            reasons[re.sub(r"[-\d.e]+", "#", outcome.reason)[:100]] += 1
        if outcome.problem:
            wrong += 1
            print(outcome.problem, file=sys.stderr)
    print(dict(fates), f"with checkpoints: {chunked}, counting: {counting}")
    if options.reasons:
        for reason, count in reasons.most_common(15):
            print(count, reason)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
