"""Write what follows from the table of rules: two pages, and declarations for type checkers.

python docs/make_ops.py            write ops.md, scipy.md and files of `gradwrap.typing`
python docs/make_ops.py --check    fail, and show the difference, if one of them is not current
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import gradwrap.backends
import gradwrap.rules
import make_scipy
from formula_source import Helper, helpers_of, named_in, steps_of, summary_of, text_of
from gradwrap.core.library.namespace import composites
from gradwrap.core.table.registry import GENERIC, find_op, ops
from gradwrap.core.table.rule import Formula, Rule, passes, zero
from library_stand_ins import stand_in
from make_typing import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["main", "page"]

PAGE = Path(__file__).parent / "ops.md"
NOTHING = "–"
DIFFERENT = "Rows that differ on a library"
LIBRARIES = ("cupy", "dask", "jax", "torch", "xarray")
SHORT = 2  # the most assignments before a formula that is still shown
TITLES = {  # the chapters, in this order; others come last, under their own names
    "elementwise": "Elementwise",
    "reductions": "Reductions",
    "manipulation": "Manipulation",
    "selection": "Selection",
    "linear_algebra": "Linear algebra",
    "matrices": "Matrices",
    "norms": "Norms",
    "matrix_functions": "Functions of matrices",
    "decompositions": "Decompositions",
    "fft": "Fourier transforms",
    "gamma_and_error": "Special functions",
    "distribution_functions": "Distribution functions",
    "integrals": "Integrals",
    "elliptic": "Elliptic integrals and functions",
    "bessel": "Bessel functions",
    "hypergeometric": "Hypergeometric functions and polynomials",
    "elementary": "Elementary functions of SciPy's",
    "softmax": "Softmax",
    "creation": "Creation",
    "numpy_ufuncs": "NumPy's own functions",
}
HEAD = """\
<!-- Written by `python docs/make_ops.py` from the rules in src/gradwrap. Do not edit it here. -->

# Operations

This page shows gradwrap's rules of differentiation. The table has {total} operations:
{differentiable} have a derivative, and {without} have none; their rows say why. {composed}
functions [are written in terms of others](#written-in-terms-of-others) and need no rule.
`python docs/make_ops.py` generates this page from the rules, and the tests fail if it is not up to
date.

Each chapter lists its operations; open the list for their formulas. How to read a row:

- **Cotangent** is the row's formula as it is written, without the namespace `xp`. It gives the
  cotangent of each array argument for the cotangent `g` of the output `out` (VJP). It is written as
  for real arrays. For complex arrays, the engine conjugates before and after the formula, except
  for rows marked *adjoint*, which conjugate themselves. The engine also sums over the axes that
  broadcasting has added. – marks an argument that is not differentiable.
- **Saves** lists the values that are kept in memory from the call until the backward pass. `x_meta`
  is the shape, dtype and device of `x`, without its values.
- The rows of complements and inverses of special functions are derived from the function's own row:
  `fdtr_x(...)` is the formula of `fdtr` in `x`.
- **JVP** is the formula of forward mode for the tangent `t` of an argument, or its origin:
  *as VJP*, the formulas on the left with `t` in place of `g`, summed over the arguments;
  *itself*, the operation on the tangent;
  *by product*, the operation with one argument at a time replaced by its tangent;
  *weights*, the cotangent of ones, times the tangent, summed;
  *transposed twice*, the VJP of the VJP, which is linear in `g`.
- **Order** says how many times a row can be differentiated.
- **Remarks** states the convention at kinks and degenerate points.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files; return 1 if a check finds one out of date."""
    parser = argparse.ArgumentParser(description="Write docs/ops.md and gradwrap.typing's files.")
    parser.add_argument("--check", action="store_true", help="only compare; 1 if not current")
    checks = parser.parse_args(arguments).check
    enter_all_rows()
    written = [(PAGE, "docs/ops.md", page())]
    of_scipy = make_scipy.PAGE
    written += [(of_scipy, "docs/scipy.md", make_scipy.page(of_scipy.read_text(encoding="utf-8")))]
    written += [(path, f"typing/{path.name}", text) for path, text in files().items()]
    found = [_is_current(*one, checks) for one in written]
    return 0 if all(found) else 1


def _is_current(path: Path, name: str, wanted: str, checks: bool) -> bool:
    """Write a file, or tell if it is current."""
    written = path.read_text(encoding="utf-8") if path.exists() else ""
    if not checks:
        path.write_text(wanted, encoding="utf-8")
    elif written != wanted:
        lines = (written.splitlines(), wanted.splitlines())
        print("\n".join(difflib.unified_diff(*lines, name, "the table", lineterm="")))
        print(f"{name} is not what the table says. Fix: python docs/make_ops.py")
        return False
    return True


def enter_all_rows() -> None:
    """Import the rules of every library, installed or not, so that the page is the same."""
    stand_in(LIBRARIES)
    for package in (gradwrap.rules, gradwrap.backends):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    importlib.import_module("gradwrap.dask.backend")


def page() -> str:
    """Return the text of the page, for the rows that have been entered."""
    rows = [op.rules.get(GENERIC) or next(iter(op.rules.values())) for op in ops()]
    differentiable = sum(row.differentiable for row in rows)
    head = HEAD.format(
        total=len(rows),
        differentiable=differentiable,
        without=len(rows) - differentiable,
        composed=len(composites()),
    )
    chapters = sorted({row.chapter: None for row in rows}, key=_place)
    parts = [chapter_of(name, [row for row in rows if row.chapter == name]) for name in chapters]
    return "\n".join([head, *parts, *overrides(rows), composed()])


def chapter_of(module: str, rows: Sequence[Rule]) -> str:
    """Return a chapter: its rows, what their formulas call, and the rows without a derivative."""
    lines = [
        f"## {_title(module)}",
        "",
        f"{_prose(summary_of(sys.modules[module]))} ({_link(module)})",
        "",
    ]
    table = [row for row in rows if row.differentiable]
    if table:
        lines += folded(
            f"With a derivative: {_names(table)}",
            _table(
                ["Operation", "Cotangent", "Saves", "JVP", "Order", "Remarks"],
                map(differentiable_row, table),
            ),
        )
        lines += where(f for row in table for f in _functions(row))
    constant = [row for row in rows if not row.differentiable]
    if constant:
        lines += folded(
            f"Without a derivative: {_names(constant)}",
            _table(["Operation", "Reason"], ([_call(row), _prose(row.reason)] for row in constant)),
        )
    return "\n".join(lines)


def folded(summary: str, lines: Sequence[str]) -> list[str]:
    """Return text that a reader opens by its summary."""
    return ['<details markdown="1">', f"<summary>{summary}</summary>", "", *lines, "</details>", ""]


def _names(rows: Iterable[Rule]) -> str:
    """List the names of rows, without the names of the modules that they are in."""
    return ", ".join(f"<code>{row.name.rpartition('.')[2]}</code>" for row in rows)


def differentiable_row(rule: Rule) -> list[str]:
    """Return the cells of a row of the table."""
    limit = "any" if rule.order is None else str(rule.order)
    return [_call(rule), cotangents(rule), saves(rule), jvp(rule), limit, remarks(rule)]


def cotangents(rule: Rule) -> str:
    """Return the formula of each array argument."""
    return _by_argument(rule, rule.formulas, "g")


def jvp(rule: Rule) -> str:
    """Return the formulas of forward mode, or what they follow from."""
    source = rule.kind.describe(rule)
    if source == "own":
        return _by_argument(rule, rule.jvps, "t")
    if source == "as VJP" and not rule.holomorphic:
        return "as VJP; of complex arrays transposed twice"
    return source


def saves(rule: Rule) -> str:
    """Return the names of the values that the formulas save."""
    cells: list[str] = []
    for formula in rule.formulas:
        names = [] if formula is None else [n for n in formula.saved if n not in rule.statics]
        cells.append(", ".join(f"`{name}`" for name in names) or NOTHING)
    return "<br>".join(cells) if len(set(cells)) > 1 else cells[0]


def remarks(rule: Rule) -> str:
    """Return the conventions, and the kinds of arrays that the operation takes."""
    notes = [_prose(rule.convention)]
    notes += ["adjoint"] * (not rule.holomorphic)
    notes += ["real arrays"] * rule.only_real + ["complex arrays"] * rule.only_complex
    op = find_op(rule.name)
    others = sorted(op.rules) if op is not None else []
    if elsewhere := [name for name in others if op is not None and op.rules[name] is not rule]:
        notes.append(f"[differs](#{DIFFERENT.lower().replace(' ', '-')}) on {', '.join(elsewhere)}")
    return "; ".join(note for note in notes if note)


def where(functions: Iterable[FunctionType]) -> list[str]:
    """List the functions that formulas call, with their docstrings and their own formulas."""
    called = dict.fromkeys(helper for function in functions for helper in helpers_of(function))
    shown = (helper for helper in called if isinstance(helper, FunctionType) and _is_short(helper))
    found = called | dict.fromkeys(helper for function in shown for helper in named_in(function))
    if not found:
        return []
    listed = [*(_explained(function) for function in found), ""]
    return folded(f"Functions in these formulas: {len(found)}", listed)


def overrides(rows: Sequence[Rule]) -> Iterator[str]:
    """Yield a section for each library whose rows differ."""
    usual = {row.name: row for row in rows}
    libraries: dict[str, list[Rule]] = {}
    for op in ops():
        for library, rule in op.rules.items():
            if rule is not usual[op.name]:
                libraries.setdefault(library, []).append(rule)
    if libraries:
        yield f"## {DIFFERENT}\n"
    for library in sorted(libraries):
        yield "\n".join(_differences(library, libraries[library], usual))


def _differences(library: str, rules: Sequence[Rule], usual: dict[str, Rule]) -> Iterator[str]:
    yield from (f"### {library}", "")
    for module in dict.fromkeys(rule.chapter for rule in rules):
        yield from (f"{_prose(summary_of(sys.modules[module]))} ({_link(module)})", "")
    yield from folded(
        _names(rules),
        _table(
            ["Operation", "What differs"],
            ([_code(rule.name), _difference(rule, usual[rule.name])] for rule in rules),
        ),
    )
    yield from where(
        function
        for rule in rules
        for function in _functions(rule)
        if function not in _functions(usual[rule.name])
    )


def composed() -> str:
    """Return the section of the functions without a rule of their own."""
    lines = ["## Written in terms of others", ""]
    lines += [
        "These functions of the wrapped namespace call other functions of it. Their derivatives,",
        "of any mode and order, follow from those.",
        "",
    ]
    functions = sorted(composites().items(), key=lambda pair: _place(pair[1].__module__))
    lines += folded(
        f"All {len(functions)}",
        _table(
            ["Function", "What it does", "Where"],
            (
                [
                    _code(f"{name}({_signature(function)})"),
                    _prose(summary_of(function)),
                    _link(function.__module__),
                ]
                for name, function in functions
            ),
        ),
    )
    return "\n".join(lines)


def _by_argument(rule: Rule, formulas: Sequence[Formula | None], along: str) -> str:
    """Return the formulas, each with its argument if there are several arguments."""
    texts = [_text(formula, along) for formula in formulas]
    if rule.is_joint and len(texts) == 1:
        return f"{', '.join(map(_code, rule.arrays))}: {texts[0]}" if rule.arrays[1:] else texts[0]
    if not rule.arrays[1:]:
        return texts[0]
    return "<br>".join(
        f"{_code(name)}: {text}" for name, text in zip(rule.arrays, texts, strict=False)
    )


def _text(formula: Formula | None, along: str) -> str:
    if formula is None:
        return NOTHING
    if formula.function is passes:
        return _code(along)
    if formula.function is zero:
        return _code("0")
    return _code(text_of(_plain(formula.function), (along, *formula.saved)))


def _difference(rule: Rule, usual: Rule) -> str:
    notes: list[str] = []
    if not _same_formulas(rule.formulas, usual.formulas):
        notes.append(f"cotangent: {cotangents(rule)}")
    if not _same_formulas(rule.jvps, usual.jvps):
        notes.append(f"JVP: {jvp(rule)}")
    if rule.native is not usual.native and isinstance(rule.native, FunctionType):
        notes.append(f"computed by {_code(text_of(rule.native, rule.parameters))}")
    return "<br>".join(notes)


def _same_formulas(some: Sequence[Formula | None], others: Sequence[Formula | None]) -> bool:
    return [f and f.function for f in some] == [f and f.function for f in others]


def _functions(rule: Rule) -> list[FunctionType]:
    """Return the functions of a row's formulas, except `passes`, which changes nothing."""
    formulas = [f for f in (*rule.formulas, *rule.jvps) if f is not None]
    return [_plain(f.function) for f in formulas if f.function is not passes]


def _plain(function: Callable[..., object]) -> FunctionType:
    if not isinstance(function, FunctionType):
        raise TypeError(
            f"a formula of the table is {function!r}, whose source cannot be shown. "
            "Fix: write it as a lambda, or as a function by def."
        )
    return function


def _explained(helper: Helper) -> str:
    """Describe a function: its call, the value it returns if that is short, and its docstring."""
    told = _prose(summary_of(helper))
    if not isinstance(helper, FunctionType):
        return f"- `{helper.__name__}`: {told}"
    code = helper.__code__
    words = [name for name in code.co_varnames[: code.co_argcount] if name != "xp"]
    formula = f" in {_link(helper.__module__)}"
    if _is_short(helper):
        *before, returned = (f"`{step}`" for step in steps_of(helper))
        formula = f" is {returned}" + (f" with {', '.join(before)}" if before else "")
    return f"- `{helper.__name__}({', '.join(words)})`{formula}{': ' if told else ''}{told}"


def _is_short(function: FunctionType) -> bool:
    """Return whether a function is short enough to be shown as a formula."""
    return 1 <= len(steps_of(function)) <= 1 + SHORT


def _call(rule: Rule) -> str:
    return _code(f"{rule.name}({rule.signature_text})")


def _signature(function: object) -> str:
    assert isinstance(function, FunctionType)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return str(inspect.Signature(bare))[1:-1]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]


def _code(text: str) -> str:
    """Return code for a table, in which a bar would end the cell."""
    return "`" + text.replace("|", r"\|") + "`"


def _prose(text: str) -> str:
    """Escape plain text for Markdown, except the parts in backquotes."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<|\\])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [part.replace("|", r"\|") for part in parts[1::2]]
    return "`".join(parts)


def _link(module: str) -> str:
    path = module.replace(".", "/")
    return f"[{module.rpartition('.')[2]}.py](../src/{path}.py)"


def _title(module: str) -> str:
    name = module.rpartition(".")[2]
    return TITLES.get(name, name.replace("_", " ").capitalize())


def _place(module: str) -> tuple[int, str]:
    name = module.rpartition(".")[2]
    return (list(TITLES).index(name) if name in TITLES else len(TITLES), name)


if __name__ == "__main__":
    sys.exit(main())
