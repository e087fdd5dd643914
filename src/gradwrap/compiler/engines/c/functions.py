"""The functions that kernels call: strips of groups, reductions, matrix products."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.compiler.engines.c.operations import LONG, TYPES, Elementwise
from gradwrap.compiler.engines.c.turns import repetitions
from gradwrap.compiler.ir.operations import ADD_REDUCE, MAXIMUM_REDUCE, Operation
from gradwrap.compiler.ir.program import Ref

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.engines.c.addresses import Arr

STRIP = 96
"""The most statements of one strip."""
TURNS = 32
"""The most statements of one strip where turns repeat."""
ROWS = 4
"""The number of rows of a matrix that one loop reads."""
REPEATED = 8
"""The number of equal statements from which a repetition is looked for."""


class Statement(NamedTuple):
    """One line of a strip: an elementwise operation, or the full sum of its result."""

    out: int
    found: Elementwise
    dtype: Any
    """The dtype of the output."""
    is_sum: bool = False


class Export(NamedTuple):
    """A store of a value of a group, performed in every block."""

    source: int
    target: Arr
    """The array, with its strides along the group's axes."""
    operator: str
    """`=` or `+=`."""
    is_part: bool = False
    """True if it writes to a part of an existing array."""


class Library:
    """The functions of a source, each text once."""

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}

    def function(self, text: str) -> str:
        """Return the name of the function with a text, in which `NAME` stands for the name."""
        return self.functions.setdefault(text, f"f{len(self.functions)}")

    def source(self) -> str:
        """Return the text of all functions."""
        return "\n\n".join(text.replace("NAME", name, 1) for text, name in self.functions.items())


SUMMED = """\
static void sum_in(double *total, double part) {
    double sum = total[0] + part;
    double big = __builtin_fabs(total[0]) >= __builtin_fabs(part) ? total[0] : part;
    double small = __builtin_fabs(total[0]) >= __builtin_fabs(part) ? part : total[0];
    double lost = (big - sum) + small;
    total[0] = sum;
    if (lost - lost == 0) total[1] += lost;
}
static void join_sums(double *parts, long count) {
    double total[2] = {0, 0};
    for (long i = 0; i < count; i++) {
        sum_in(total, parts[2 * i]);
        total[1] += parts[2 * i + 1];
    }
    parts[0] = total[0];
    parts[1] = total[1];
}
"""
"""A compensated sum, for the sums of blocks."""


def merged(
    exports: list[Export], statements: list[Statement], temporary: Callable[[], int]
) -> list[Export]:
    """Merge additions to the same place; `temporary` numbers new statements."""
    made: list[Export] = []
    for export in exports:
        same = [e for e in made if e.is_part and e.operator == "+=" and e.target == export.target]
        if not export.is_part or not same:
            made.append(export)
            continue
        before = same[0]
        number = temporary()
        dtype = export.target.dtype
        operands = (Ref(before.source), Ref(export.source))
        found = Elementwise("{0} + {1}", operands, (dtype, dtype), dtype)
        statements.append(Statement(number, found, dtype))
        made[made.index(before)] = before._replace(source=number)
    return made


def one_writer_each(
    exports: list[Export], strips: list[list[Statement]], temporary: Callable[[], int]
) -> list[Export]:
    """Give every further write to an array its own strip, since writes in one strip may alias."""
    made: list[Export] = []
    roots: set[int] = set()
    for export in exports:
        if export.is_part and export.target.root in roots:
            number = temporary()
            dtype = next(s.dtype for strip in strips for s in strip if s.out == export.source)
            found = Elementwise("{0}", (Ref(export.source),), (dtype,), dtype)
            strips.append([Statement(number, found, dtype)])
            made.append(export._replace(source=number))
            continue
        if export.is_part:
            roots.add(export.target.root)
        made.append(export)
    return made


def strips_of(statements: list[Statement]) -> list[list[Statement]]:
    """Cut statements into strips, at the ends of turns if they repeat for longer than a strip."""
    if len(statements) <= STRIP:
        return [statements]
    ids: dict[Any, int] = {}
    codes = [ids.setdefault(_code(statement), len(ids)) for statement in statements]
    strips: list[list[Statement]] = []
    begin = 0

    def cut(end: int, step: int) -> None:
        nonlocal begin
        strips.extend(statements[at : min(at + step, end)] for at in range(begin, end, step))
        begin = end

    for start, length, turns in repetitions(codes, REPEATED):
        if 0 < length <= TURNS and turns >= max(4, -(-STRIP // length)):
            cut(start, STRIP)
            cut(start + turns * length, length * (TURNS // length))
    cut(len(statements), STRIP)
    return strips


def with_calls_apart(strips: list[list[Statement]]) -> list[list[Statement]]:
    """Give each function call a strip of its own, if there are several.

    A call saves all registers, and the next one waits for it. In a loop that only calls one
    function, the calls for several elements overlap.
    """
    made: list[list[Statement]] = []
    for strip in strips:
        calls = [bool(statement.found.function) for statement in strip]
        if sum(calls) < 2:
            made.append(strip)
            continue
        cuts = [i for i in range(1, len(strip)) if calls[i - 1] or calls[i]]
        made += [strip[a:b] for a, b in pairwise([0, *cuts, len(strip)])]
    return made


def _code(statement: Statement) -> Any:
    operands = statement.found.operands
    return (
        statement.found.expression,
        statement.dtype,
        tuple("" if type(leaf) is Ref else repr(leaf) for leaf in operands),
    )


def crossing_of(strips: list[list[Statement]]) -> dict[int, tuple[int, int]]:
    """Return the values that a later strip reads, each with its first and its last strip."""
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, strip in enumerate(strips):
        for statement in strip:
            for leaf in statement.found.operands:
                if type(leaf) is Ref and made.get(leaf.index, number) != number:
                    last[leaf.index] = number
            made[statement.out] = number
    return {index: (made[index], end) for index, end in last.items()}


def slots_of(
    strips: list[list[Statement]], crossing: dict[int, tuple[int, int]]
) -> tuple[dict[int, int], int]:
    """Assign these values to rows of a block's memory, and count the rows."""
    ends: list[list[int]] = [[] for _ in strips]
    for index, (_, end) in crossing.items():
        ends[end].append(index)
    slots: dict[int, int] = {}
    free: list[int] = []
    rows = 0
    for number, strip in enumerate(strips):
        for statement in strip:
            if statement.out in crossing:
                if free:
                    slots[statement.out] = free.pop()
                else:
                    slots[statement.out] = rows
                    rows += 1
        free.extend(slots[index] for index in ends[number])
    return slots, rows


def reduction_text(
    op: Operation, kinds: tuple[str, str], step: int | str, out_step: int | str
) -> str:
    """Return the text of a function that reduces a row, or adds it to another.

    `kinds` are the types of the elements and of the result. A step that is a string is a parameter.
    """
    kind, out_kind = kinds
    element = f"x[i * {step}]" if step != 1 else "x[i]"
    head = "static __attribute__((noinline)) void NAME(" + "".join(
        f"const long {one}, " for one in (step, out_step) if isinstance(one, str)
    )
    head += f"const long n, const {kind} *restrict x, {out_kind} *restrict y) {{"
    if op is ADD_REDUCE and not out_step and kind == out_kind != TYPES[LONG]:
        return "\n".join(
            [
                head,
                "    double total[2] = {0, 0};",
                "    for (long b = 0; b < n; b += 256) {",
                "        const long m = n - b < 256 ? n : b + 256;",
                f"        {kind} t = 0;",
                "        #pragma omp simd reduction(+:t)",
                f"        for (long i = b; i < m; i++) t += {element};",
                "        sum_in(total, t);",
                "    }",
                "    *y += total[0] + total[1];",
                "}",
            ]
        )
    target = f"y[i * {out_step}]" if out_step not in (0, 1) else "y[i]" if out_step else "*y"
    if op is ADD_REDUCE:
        step_text = f"{target} += {element};"
    else:
        order = ">" if op is MAXIMUM_REDUCE else "<"
        step_text = (
            f"{target} = ({element} {order} {target} || {element} != {element}) "
            f"? {element} : {target};"
        )
    lines = [head]
    if out_step:
        lines.append("    #pragma omp simd")
    return "\n".join([*lines, f"    for (long i = 0; i < n; i++) {step_text}", "}"])


def combination_text(kind: str) -> str:
    """Return the text of a function that adds up multiples of contiguous rows, four at a time."""
    head = (
        "static __attribute__((noinline)) void NAME(const long n, const long inner, "
        "const long step, const long row_step, "
        f"const {kind} *restrict x, const {kind} *restrict rows, {kind} *restrict y) {{"
    )
    lines = [head, f"    memset(y, 0, n * sizeof({kind}));", "    long k = 0;"]
    for count in (ROWS, 1):
        part = range(count)
        terms = " + ".join(f"x{r} * row{r}[j]" for r in part)
        lines += [
            f"    for (; k + {count} <= inner; k += {count}) {{",
            *(f"        const {kind} x{r} = x[(k + {r}) * step];" for r in part),
            *(f"        const {kind} *row{r} = rows + (k + {r}) * row_step;" for r in part),
            "        #pragma omp simd",
            f"        for (long j = 0; j < n; j++) y[j] += {terms};",
            "    }",
        ]
    return "\n".join([*lines, "}"])


def dots_text(kind: str) -> str:
    """Return the text of a function for contiguous rows times a vector, four at a time."""
    head = (
        "static __attribute__((noinline)) void NAME(const long count, const long inner, "
        "const long step, const long row_step, "
        f"const {kind} *restrict x, const {kind} *restrict rows, {kind} *restrict y) {{"
    )
    lines = [head, "    long i = 0;"]
    for count in (ROWS, 1):
        part = range(count)
        names = ", ".join(f"t{r}" for r in part)
        lines += [
            f"    for (; i + {count} <= count; i += {count}) {{",
            f"        {kind} {', '.join(f't{r} = 0' for r in part)};",
            *(f"        const {kind} *row{r} = rows + (i + {r}) * row_step;" for r in part),
            f"        #pragma omp simd reduction(+:{names})",
            "        for (long k = 0; k < inner; k++) {",
            f"            const {kind} e = x[k * step];",
            *(f"            t{r} += row{r}[k] * e;" for r in part),
            "        }",
            *(f"        y[i + {r}] = t{r};" for r in part),
            "    }",
        ]
    return "\n".join([*lines, "}"])


def vector_product(
    kind: str,
    ranks: tuple[int, int],
    sizes: tuple[int, int, int],
    steps: tuple[int, int, int, int],
) -> tuple[str, tuple[int, int, int, int], bool] | None:
    """Return how to multiply a matrix and a vector, such that memory is read in order.

    These are the text of a function, its first arguments, and whether the vector is on the left;
    None if both operands are matrices or vectors, or no axis is contiguous.
    """
    rows, inner, columns = sizes
    row_step, left_step, right_step, column_step = steps
    if ranks == (1, 2):
        if column_step == 1:
            return combination_text(kind), (columns, inner, left_step, right_step), True
        if right_step == 1:
            return dots_text(kind), (columns, inner, left_step, column_step), True
    if ranks == (2, 1):
        if left_step == 1:
            return dots_text(kind), (rows, inner, right_step, row_step), False
        if row_step == 1:
            return combination_text(kind), (rows, inner, right_step, left_step), False
    return None


def any_product_text(kind: str, left_step: int | None, right_step: int | None, columns: int) -> str:
    """Return the text of a function for matrix products of any size.

    Steps are 1, or `None` for a parameter; `columns` is 1 for a product with a vector.
    """
    left = "k" if left_step == 1 else "k * left_step"
    right = "k" if right_step == 1 else "k * right_step"
    head = (
        "static __attribute__((noinline)) void NAME(const long rows, const long inner, "
        "const long columns, const long row_step, const long left_step, const long right_step, "
        f"const {kind} *restrict a, const {kind} *restrict b, {kind} *restrict c) {{"
    )
    lines = [head]
    if columns == 1:
        lines += [
            "    for (long i = 0; i < rows; i++) {",
            f"        {kind} t = 0;",
            "        #pragma omp simd reduction(+:t)",
            f"        for (long k = 0; k < inner; k++) t += a[i * row_step + {left}] * b[{right}];",
            "        c[i] = t;",
            "    }",
        ]
    else:
        width = 32 if kind == "float" else 16
        four = [f"const {kind} a{r} = a[(i + {r}) * row_step + {left}];" for r in range(4)]
        lines += [
            "    for (long i = 0; i < rows; i += 4)",
            f"    for (long j0 = 0; j0 < columns; j0 += {width}) {{",
            "        const long high = rows - i < 4 ? rows - i : 4;",
            f"        const long wide = columns - j0 < {width} ? columns - j0 : {width};",
            f"        {kind} t[4][{width}] = {{0}};",
            f"        if (high == 4 && wide == {width}) for (long k = 0; k < inner; k++) {{",
            *(f"            {text}" for text in four),
            "            #pragma omp simd",
            f"            for (long j = 0; j < {width}; j++) {{",
            f"                const {kind} e = b[k * right_step + j0 + j];",
            *(f"                t[{r}][j] += a{r} * e;" for r in range(4)),
            "            }",
            "        }",
            "        else for (long k = 0; k < inner; k++) for (long r = 0; r < high; r++) {",
            f"            const {kind} e = a[(i + r) * row_step + {left}];",
            "            #pragma omp simd",
            "            for (long j = 0; j < wide; j++)",
            "                t[r][j] += e * b[k * right_step + j0 + j];",
            "        }",
            "        for (long r = 0; r < high; r++) for (long j = 0; j < wide; j++)",
            "            c[(i + r) * columns + j0 + j] = t[r][j];",
            "    }",
        ]
    return "\n".join([*lines, "}"])


@lru_cache(maxsize=64)
def product_text(kind: str, sizes: tuple[int, int, int], steps: tuple[int, int, int, int]) -> str:
    """Return the text of a function for products of given sizes, in tiles of four rows."""
    rows, inner, columns = sizes
    row_step, left_step, right_step, _ = steps
    head = (
        f"static __attribute__((noinline)) void NAME(const {kind} *restrict a, "
        f"const {kind} *restrict b, {kind} *restrict c) {{"
    )
    if columns == 1:
        return "\n".join(
            [
                head,
                f"    for (long i = 0; i < {rows}; i++) {{",
                f"        {kind} t = 0;",
                "        #pragma omp simd reduction(+:t)",
                f"        for (long k = 0; k < {inner}; k++)",
                f"            t += a[i * {row_step} + k * {left_step}] * b[k * {right_step}];",
                "        c[i] = t;",
                "    }",
                "}",
            ]
        )
    lines = [head]
    width = 32 if kind == "float" else 16
    full = columns // width * width

    def tile(row: str, height: int, column: str, wide: int) -> list[str]:
        made = [f"{kind} t[{height}][{wide}] = {{0}};", f"for (long k = 0; k < {inner}; k++) {{"]
        made += [
            f"    const {kind} a{r} = a[({row} + {r}) * {row_step} + k * {left_step}];"
            for r in range(height)
        ]
        made.append("    #pragma omp simd")
        made.append(f"    for (long j = 0; j < {wide}; j++) {{")
        made.append(f"        const {kind} e = b[k * {right_step} + {column} + j];")
        made += [f"        t[{r}][j] += a{r} * e;" for r in range(height)]
        made += ["    }", "}"]
        made += [
            f"for (long j = 0; j < {wide}; j++) "
            f"c[({row} + {r}) * {columns} + {column} + j] = t[{r}][j];"
            for r in range(height)
        ]
        return made

    def band(row: str, height: int, indent: str) -> None:
        if full:
            lines.append(f"{indent}for (long j0 = 0; j0 < {full}; j0 += {width}) {{")
            lines.extend(f"{indent}    {text}" for text in tile(row, height, "j0", width))
            lines.append(f"{indent}}}")
        if columns > full:
            lines.append(f"{indent}{{")
            lines.extend(
                f"{indent}    {text}" for text in tile(row, height, str(full), columns - full)
            )
            lines.append(f"{indent}}}")

    whole = rows // 4 * 4
    if whole:
        lines.append(f"    for (long i = 0; i < {whole}; i += 4) {{")
        band("i", 4, "        ")
        lines.append("    }")
    for row in range(whole, rows):
        band(str(row), 1, "    ")
    return "\n".join([*lines, "}"])
