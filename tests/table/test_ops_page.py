"""docs/ops.md says what the table says, and the generator finds each formula's own text."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

import formula_source
import make_ops
from gradwrap.core.library.namespace import composites
from gradwrap.core.table.kinds import elementwise, general, joint
from gradwrap.core.table.registry import GENERIC, Op, ops
from gradwrap.core.table.rule import Rule, passes, zero
from lambdas import fn, rows
from typeset import mathml

if TYPE_CHECKING:
    from collections.abc import Callable

    from lambdas import Function

NOTHING = make_ops.NOTHING
ROOT = Path(__file__).parents[2]
CHAPTERS, COMPOSED = (
    (ROOT / "docs" / "ops.md").read_text(encoding="utf-8").split("## Written in terms of others")
)


@pytest.mark.slow
def test_page_is_current() -> None:
    command = [sys.executable, str(ROOT / "docs" / "make_ops.py"), "--check"]

    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_check_of_an_old_page_shows_the_difference_and_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "ops.md"
    old.write_text("first\nold\n", encoding="utf-8")
    monkeypatch.setattr(make_ops, "PAGE", old)
    monkeypatch.setattr(make_ops, "enter_all_rows", lambda: None)
    monkeypatch.setattr(make_ops, "page", lambda: "first\nnew\n")

    status = make_ops.main(["--check"])

    assert status == 1
    assert capsys.readouterr().out.splitlines()[-4:] == [
        " first",
        "-old",
        "+new",
        "docs/ops.md is not what the table says. Fix: python docs/make_ops.py",
    ]
    assert old.read_text(encoding="utf-8") == "first\nold\n"


def first_cells(text: str) -> Counter[str]:
    """Count how often each function is the first cell of a row, by name."""
    return Counter(re.findall(r"^\| `([\w.]+)\(", text, flags=re.MULTILINE))


def is_ours(op: Op) -> bool:
    """Tell rows written in gradwrap from those of tests that have run before."""
    return any(rule.chapter.startswith("gradwrap.") for rule in op.rules.values())


def test_every_operation_has_one_row() -> None:
    expected = {op.name for op in ops() if is_ours(op)}

    rows = first_cells(CHAPTERS)

    assert expected <= set(rows)
    assert set(rows.values()) == {1}


def test_every_composite_has_one_row() -> None:
    assert first_cells(COMPOSED) == Counter(composites().keys())


def test_row_of_the_library_knows_its_chapter() -> None:
    chapters = {op.name: op.rules[GENERIC].chapter for op in ops() if GENERIC in op.rules}

    assert chapters["sin"] == "gradwrap.rules.elementwise"
    assert chapters["isnan"] == "gradwrap.rules.elementwise"
    assert chapters["sum"] == "gradwrap.rules.reductions"


class Maps(Protocol):
    def map(self, function: Callable[[Any], Any], array: Any) -> Any: ...


# fmt: off
TWO_IN_A_LINE: tuple[Function, Function] = (
    lambda xp, g, x: g * xp.cos(x), lambda xp, g, x: -(g * xp.sin(x))
)
OVER_LINES: Function = (
    lambda xp, g, x: g
    * xp.where(x > 0,
               1.0, 0.5)
)
WITHIN: Callable[[Maps, Any, Any], Any] = lambda xp, g, x: xp.map(lambda y: y * y, g)
IN_A_LOOP: list[tuple[str, Function]] = [
    (name, lambda xp, g, x: g * xp.linalg.inv(x)) for name in ("a", "b")
]
UMLAUT: tuple[str, Function, str, Function] = ("größer ∂", lambda xp, g: g, "é", lambda xp, g: -g)
# fmt: on


def helper(xp: Any, g: Any, x: Any) -> Any:
    """One statement, after a docstring."""
    return g * xp.sign(x)


def longer(xp: Any, g: Any, x: Any) -> Any:
    size = xp.abs(x)
    return g / size


def branching(xp: Any, g: Any, x: Any) -> Any:
    if x is None:
        return g
    return x


@pytest.mark.parametrize(
    ("function", "text"),
    rows(
        [
            (TWO_IN_A_LINE[0], "g * cos(x)"),
            (TWO_IN_A_LINE[1], "-(g * sin(x))"),
            (OVER_LINES, "g * where(x > 0, 1.0, 0.5)"),
            (WITHIN, "map(lambda y: y * y, g)"),
            (IN_A_LOOP[0][1], "g * linalg.inv(x)"),
            (IN_A_LOOP[1][1], "g * linalg.inv(x)"),
            (UMLAUT[1], "g"),
            (UMLAUT[3], "-g"),
            (
                lambda xp, g, x: helper(xp, g, x) if hasattr(xp, "a") else g,
                "helper(g, x) if hasattr(xp, 'a') else g",
            ),
            (helper, "g * sign(x)"),
            (longer, "longer(g, x)"),
            (branching, "branching(g, x)"),
        ]
    ),
)
def test_text_of_a_formula_is_its_own(function: Any, text: str) -> None:
    assert formula_source.text_of(function, ("g", "x")) == text


def test_steps_of_a_function_are_its_assignments_and_what_it_returns() -> None:
    steps_of: Any = formula_source.steps_of

    assert steps_of(longer) == ["size = abs(x)", "g / size"]
    assert steps_of(branching) == []


def test_formula_without_source_is_refused() -> None:
    code = compile("formula = lambda xp, g: g", make_ops.__file__, "exec")
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  a formula whose file says something else

    with pytest.raises(LookupError, match=r"line 1: 0 functions may be <lambda>\(xp, g\)\. Fix: "):
        formula_source.text_of(names["formula"], ("g",))


def cells(rule: Rule) -> list[str]:
    return make_ops.differentiable_row(rule)


def test_row_has_a_line_for_each_argument() -> None:
    rule = elementwise(
        "f", "x1 x2", passes, fn(lambda xp, g, x1, out: g * (x1 | out)), convention="0 at 0 | 1"
    )

    assert cells(rule) == [
        "`f(x1, x2, /)`",
        r"`x1`: `g`<br>`x2`: `g * (x1 \| out)`",
        f"{NOTHING}<br>`x1`, `out`",
        "as VJP",
        "any",
        r"0 at 0 \| 1",
    ]


def test_row_says_what_cannot_be_differentiated_and_what_is_zero() -> None:
    rule = general(
        "f",
        "a, b, c, /, *, k=0",
        fn(lambda xp, g, b_meta, k: g * k),
        None,
        zero,
        order=1,
        only_real=True,
        jvp=(fn(lambda xp, t, k: t * k), None, None),
    )

    assert cells(rule) == [
        "`f(a, b, c, /, *, k=0)`",
        f"`a`: `g * k`<br>`b`: {NOTHING}<br>`c`: `0`",
        f"`b_meta`<br>{NOTHING}<br>{NOTHING}",
        f"`a`: `t * k`<br>`b`: {NOTHING}<br>`c`: {NOTHING}",
        "1",
        "real arrays",
    ]


def test_joint_row_names_all_its_arguments() -> None:
    rule = joint("f", "a, b, /", fn(lambda xp, g, out: (g, g * out)), arrays=2, holomorphic=False)

    assert cells(rule)[1:4] == ["`a`, `b`: `(g, g * out)`", "`out`", "transposed twice"]
    assert cells(rule)[-1] == "adjoint"


def test_library_that_differs_has_its_rows_and_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = elementwise("f", "x", fn(lambda xp, g, x: g * x))
    here = elementwise("f", "x", fn(lambda xp, g, x: g / x), native=fn(lambda xp, x: xp.f(x, 1)))
    usual.chapter, here.chapter = "gradwrap.rules.elementwise", "gradwrap.backends.numpy.backend"
    op = Op("f")
    op.rules.update({GENERIC: usual, "other": here})
    monkeypatch.setattr(make_ops, "ops", lambda: iter([op]))

    text = "".join(make_ops.overrides([usual]))

    assert "### other\n\nThe backend of NumPy. ([backend.py](" in text
    assert "| `f` | cotangent: `g / x`<br>computed by `f(x, 1)` |" in text


# Mathematics --------------------------------------------------------------------------------------


def shown(formula: str) -> str:
    """Return how a formula is typeset, as text: a fraction as `{a}/{b}`, a power as `{a}^{b}`."""
    text = mathml(formula)
    assert text is not None
    for tag, sign in {"mfrac": "/", "msup": "^", "msub": "_"}.items():
        text = text.replace(f"<{tag}>", f'<{tag} sign="{sign}">')
    text = text.replace("\N{MINUS SIGN}", "-").replace("\N{LOGICAL OR}", "|")

    def read(node: ET.Element) -> str:
        parts = [read(child) for child in node] or [node.text or ""]
        if sign := node.get("sign"):
            return sign.join(f"{{{part}}}" for part in parts)
        inside = "".join(parts)
        return f"root{{{inside}}}" if node.tag == "msqrt" else inside

    return read(ET.fromstring(text))  # noqa: S314  our own text


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("g * cos(x)", "g·cos(x)"),
        ("g / sqrt(1.0 - x * x)", "{g}/{root{1-x·x}}"),
        ("-(g * out / x2)", "-{g·out}/{{x}_{2}}"),
        ("(a + b) * c", "(a+b)·c"),
        ("a + b * c", "a+b·c"),
        ("a - (b - c)", "a-(b-c)"),
        ("(a / b) ** 2", "{({a}/{b})}^{2}"),
        ("-x ** 2", "-{x}^{2}"),
        ("(-x) ** 2", "{(-x)}^{2}"),
        ("exp(-x) * out", "{e}^{-x}·out"),
        ("(x == y) | (x != x)", "x=y|x≠x"),
        ("~(a & b)", "¬(a∧b)"),
        ("abs(x) < special.gamma(math.pi)", "|x|<Γ(π)"),
        ("where(x > 0, g, 0.0) * t", "({gif\xa0x>00otherwise)·t"),
        ("y = f(x, (1, 2))", "y≔f(x,(1,2))"),
    ],
)
def test_formula_is_typeset(formula: str, expected: str) -> None:
    assert shown(formula) == expected


@pytest.mark.parametrize(
    "program",
    ["f(x, axis=0)", "x[..., None]", "[a for a in b]", "x is None", "'text'", "add(x1, x2, /)", ""],
)
def test_program_is_not_typeset(program: str) -> None:
    assert mathml(program) is None


def test_nearly_all_formulas_of_the_page_are_typeset() -> None:
    cells = [row.split(" | ")[1] for row in CHAPTERS.splitlines() if row.startswith("| `")]
    formulas = [text.replace("\\|", "|") for cell in cells for text in re.findall("`(.+?)`", cell)]
    programs = [text for text in formulas if mathml(text) is None]
    assert len(programs) < 0.12 * len(formulas)


def test_stand_in_gives_modules_whose_names_are_classes() -> None:
    code = """
import library_stand_ins
library_stand_ins.stand_in(["nowhere"])
import nowhere.deep as deep
from nowhere import Array

class Mine(Array):
    pass

print(deep.linalg.Thing, {Array: 1}, isinstance(3, (Array, deep.Thing)))
"""
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, text=True, check=True
    )

    assert found.stdout.split() == [
        "<class", "'library_stand_ins.Thing'>", "{<class", "'library_stand_ins.Array'>:", "1}",
        "False",
    ]  # fmt: skip
