"""Sweeps: several products of one matrix with vectors, which read the matrix once.

`A.T @ (A @ x)`, or the products `A @ x` and `y @ A` of a method and of its gradient, take the time
in which the matrix arrives from memory. A sweep performs all of them on a few rows at a time, while
these are in the processor's cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from gradwrap.compiler.engines.c.ability import TRANSPOSED
from gradwrap.compiler.engines.c.addresses import Arr, order_of
from gradwrap.compiler.engines.c.kernels import Kernel
from gradwrap.compiler.engines.c.operations import DOUBLE, FLOAT, TYPES
from gradwrap.compiler.engines.threads import usable
from gradwrap.compiler.ir.operations import MATMUL
from gradwrap.compiler.ir.program import Instr, Ref, given

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradwrap.compiler.engines.c.turns import Turns
    from gradwrap.compiler.ir.program import Loop, Value

FEW_CORES = 2
"""The most cores with which a sweep is quicker than BLAS, which uses all of them."""
LARGE = 1 << 16
"""The least elements of a matrix: smaller ones stay in the cache between two products."""
WIDEST = 1 << 15
"""The most columns of a matrix, so that some rows fit into the cache."""
ROWS = 4


class Product(NamedTuple):
    """A product of a matrix and a vector."""

    matrix: int
    """The matrix as it lies in memory, in C's order."""
    vector: int
    by_rows: bool
    """Whether each row of the matrix makes one element, and not a part of all elements."""


def product_of(
    step: Instr | Loop, values: Sequence[Value], views: Mapping[int, Instr | Loop]
) -> Product | None:
    """Return a step as a product that a sweep can perform, or None."""
    if not isinstance(step, Instr) or step.op is not MATMUL or step.kw:
        return None
    indices = [arg.index for arg in step.args if type(arg) is Ref]
    sides = [values[index] for index in indices]
    if [len(side.shape) for side in sides] not in ([2, 1], [1, 2]):
        return None
    is_left = len(sides[0].shape) == 2
    matrix, vector = indices if is_left else indices[::-1]
    view = views.get(matrix)
    is_flipped = isinstance(view, Instr) and view.op.kind in TRANSPOSED
    if isinstance(view, Instr) and is_flipped:
        if order_of(view, 2) != [1, 0]:
            return None
        matrix = view.args[0].index
    found = values[matrix]
    fits = math.prod(found.shape) >= LARGE and found.shape[1] <= WIDEST
    kinds = {found.dtype, values[vector].dtype, values[step.out].dtype}
    if not fits or found.order != "C" or kinds not in ({DOUBLE}, {FLOAT}):
        return None
    return Product(matrix, vector, is_left != is_flipped)


def swept(
    steps: Sequence[Instr | Loop], values: Sequence[Value], views: Mapping[int, Instr | Loop]
) -> list[list[Instr | Loop]]:
    """Return steps in order, with the products of one sweep together.

    A product joins an earlier one of its matrix if its vector is known there. The vector may also
    be a product by rows of the same sweep, as in `(A @ x) @ A`.
    """
    made: list[list[Instr | Loop]] = []
    known: dict[int, int] = {}
    """By value: the place in `made` that defines it."""
    sweeps: dict[int, int] = {}
    """By matrix: the place of its latest sweep."""
    by_rows: set[int] = set()
    few = usable() <= FEW_CORES
    for step in steps:
        found = product_of(step, values, views) if few else None
        place = len(made)
        if found is not None:
            before = sweeps.setdefault(found.matrix, place)
            is_chained = not found.by_rows and found.vector in by_rows
            at = known.get(found.vector, -1)
            if at < before or (at == before and is_chained):
                place = before
            sweeps[found.matrix] = place
            if found.by_rows:
                by_rows.update(given(step))
        if place == len(made):
            made.append([])
        made[place].append(step)
        known.update((index, place) for index in given(step))
    return made


class Sweep(Kernel):
    """Writes the products of a sweep as one function."""

    def perform(
        self, steps: list[Instr | Loop], kept: set[int], turns: Turns | None = None
    ) -> None:
        """Write the views of the matrix, and then all products in one loop."""
        del kept, turns
        views = {step.out: step for step in steps if isinstance(step, Instr) and step.views}
        found: list[tuple[Product, Instr]] = []
        for step in steps:
            product = product_of(step, self.values, views)
            if product is None or not isinstance(step, Instr):
                assert isinstance(step, Instr)
                self._step(step, set())
            else:
                found.append((product, step))
        found.sort(key=lambda one: not one[0].by_rows)
        matrix = self.where[found[0][0].matrix]
        assert isinstance(matrix, Arr)
        places: list[str] = []
        for product, step in found:
            room = self.new(step.out)
            vector = self.where[product.vector]
            assert isinstance(vector, Arr)
            places += [self._in_one_row(vector).start, room.start]
            self.where[step.out] = room
        text = sweep_text(TYPES[matrix.dtype], [product.by_rows for product, _ in found])
        rows, columns = matrix.shape
        name = self.library.function(text)
        self.line(f"{name}({rows}, {columns}, {matrix.start}, {', '.join(places)});")
        self.notes.append(f"{len(found)} products read a matrix once")


def sweep_text(kind: str, by_rows: Sequence[bool]) -> str:
    """Return the text of a function that performs products, those by rows first."""
    products = list(enumerate(by_rows))
    head = f"const long rows, const long n, const {kind} *restrict a"
    for number, _ in products:
        head += f", const {kind} *x{number}, {kind} *y{number}"
    lines = [f"static __attribute__((noinline)) void NAME({head}) {{"]
    lines += [f"    memset(y{i}, 0, n * sizeof({kind}));" for i, rows in products if not rows]
    for count, bound in ((ROWS, f"rows / {ROWS} * {ROWS}"), (1, "rows")):
        start = "long i = 0" if count > 1 else f"long i = rows / {ROWS} * {ROWS}"
        lines.append(f"    for ({start}; i < {bound}; i += {count}) {{")
        part = range(count)
        lines += [f"        const {kind} *a{r} = a + (i + {r}) * n;" for r in part]
        for number, is_by_rows in products:
            x, y = f"x{number}", f"y{number}"
            if is_by_rows:
                sums = ", ".join(f"t{r}" for r in part)
                lines += [
                    "        {",
                    f"            {kind} {', '.join(f't{r} = 0' for r in part)};",
                    f"            #pragma omp simd reduction(+:{sums})",
                    "            for (long j = 0; j < n; j++) {",
                    *(f"                t{r} += a{r}[j] * {x}[j];" for r in part),
                    "            }",
                    *(f"            {y}[i + {r}] = t{r};" for r in part),
                    "        }",
                ]
            else:
                terms = " + ".join(f"c{r} * a{r}[j]" for r in part)
                lines += [
                    "        {",
                    *(f"            const {kind} c{r} = {x}[i + {r}];" for r in part),
                    "            #pragma omp simd",
                    f"            for (long j = 0; j < n; j++) {y}[j] += {terms};",
                    "        }",
                ]
        lines.append("    }")
    return "\n".join([*lines, "}"])
