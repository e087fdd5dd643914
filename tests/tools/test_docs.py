"""The pages: their links lead somewhere, and every public name has an entry with an example."""

from __future__ import annotations

import importlib
import inspect
import re
import tempfile
import types
from pathlib import Path
from typing import Any

import pytest

import check_browser
import check_links
import check_snippets
import gradwrap as gw
import site_hooks

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "typings").glob("*.md")]
)
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
ENTRY = re.compile(r"^::: gradwrap\.(\S+)$", re.MULTILINE)


def prose(path: Path) -> str:
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Return the fragments that the headings of a page define, as GitHub and MkDocs make them."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(path)):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for link in LINK.findall(prose(path)):
        if link.startswith(("http://", "https://")):
            continue
        name, _, fragment = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if fragment and target.suffix == ".md":
            entries = {entry.rpartition(".")[2].lower() for entry in ENTRY.findall(prose(target))}
            assert fragment in anchors(target) | entries, link


def test_each_guide_is_once_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = re.findall(r"[\w/-]+\.md", navigation)

    assert len(pages) == len(set(pages))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= {*pages}


def test_dead_links_of_a_site_are_found(tmp_path: Path) -> None:
    page = '<h1 id="top"></h1><a href="{}"></a><img src="there.png">'
    (tmp_path / "there.png").touch()
    (tmp_path / "index.html").write_text(page.format("other.html#top"))
    (tmp_path / "other.html").write_text(page.format("https://example.org/missing"))
    assert check_links.dead_links(tmp_path) == []
    (tmp_path / "other.html").write_text(page.format("index.html#missing"))
    assert check_links.dead_links(tmp_path) == ["other.html: index.html#missing"]
    (tmp_path / "there.png").unlink()
    assert len(check_links.dead_links(tmp_path)) == 3


def measured(**found: Any) -> dict[str, Any]:
    return {"width": 390, "out": [], "cut": [], "missing": [], "code": None, **found}


def test_what_a_browser_measures_is_judged() -> None:
    def faults(**found: Any) -> list[str]:
        return check_browser.faults(measured(**found), 390, 844, needs_code=True)

    assert faults() == faults(code=300.0) == []
    assert faults(width=400) == ["the page is 400 pixels wide"]
    assert faults(out=["table a"], cut=["p b"], missing=["c.png"]) == [
        "out of the window: table a",
        "cut off: p b",
        "no picture: c.png",
    ]
    assert faults(code=900.0) == ["code begins at 900 pixels only"]
    assert check_browser.faults(measured(code=900.0), 390, 844, needs_code=False) == []


def test_a_picture_that_is_pale_or_light_on_a_dark_page_is_found() -> None:
    pillow: Any = pytest.importorskip("PIL.Image")

    def faults(ground: int, ink: int, scheme: str) -> list[str]:
        image = pillow.new("L", (100, 100), ground)
        image.paste(ink, (10, 10, 30, 20))
        return check_browser.picture_faults(image, scheme)

    assert faults(255, 20, "light") == faults(30, 220, "dark") == []
    assert faults(255, 200, "light") == ["a picture has a contrast of 0.22 only"]
    assert faults(250, 20, "dark") == ["a picture is a light block (0.96) on a dark page"]


def test_pages_of_two_levels_are_looked_at(tmp_path: Path) -> None:
    for name in ("index.html", "a/b.html", "a/b/c.html", "source/d.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert check_browser.pages(tmp_path) == ["a/b.html", "index.html"]


def test_formulas_of_the_page_of_operations_are_typeset() -> None:
    def shown(html: str, path: str = "ops.md") -> str:
        page = types.SimpleNamespace(file=types.SimpleNamespace(src_uri=path))
        return site_hooks.on_page_content(html, page=page)

    head = "<p><code>g</code></p><summary>All</summary>"
    row = "<tr><td><code>f</code></td><td><code>x &lt; y</code></td></tr>"
    text = f"{head}<table><tr><th>Operation</th><th>Saves</th></tr>{row}</table></details>"
    assert shown(text, "index.md") == text
    found = shown(text)
    assert found.startswith(head)  # only what is folded
    assert "<td><code>f</code></td>" in found  # only what follows the first cell
    assert '<td data-heading="Saves"><span class="formula"><math' in found
    assert "<mo>&lt;</mo>" in found
    program = text.replace("x &lt; y", "f(axis=0)")
    assert "<code>f(axis=0)</code>" in shown(program)


@pytest.mark.slow
def test_the_examples_of_the_pages_have_right_types() -> None:
    pytest.importorskip("mypy")
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assert check_snippets.faults(pages) == []


def test_an_example_keeps_its_line_and_functions_of_one_name_are_told_apart() -> None:
    page = """\
>>> def f(x):
...     return x
>>> f("a")
'a'

>>> def f(f, x):
...     return f(x)
>>> f(abs, -1)
1
>>> f()
Traceback (most recent call last):
TypeError: ...
"""
    program = "```python\nf(1)\n```\n"
    assert check_snippets.code_of(page + program, has_programs=False) == (
        check_snippets.code_of(page) + "\n\n\n"
    )
    assert check_snippets.code_of(page + program).rstrip("\n").endswith("\nf_(1)")
    assert check_snippets.code_of(page).rstrip("\n").splitlines() == [
        "def f(x):",
        "    return x",
        'f("a")',
        "",
        "",
        "def f_(f_, x):",
        "    return f_(x)",
        "f_(abs, -1)",
    ]


@pytest.mark.slow
def test_an_example_of_a_wrong_type_is_found() -> None:
    pytest.importorskip("mypy")
    with tempfile.TemporaryDirectory(dir=ROOT / "docs") as folder:
        page = Path(folder) / "wrong.md"
        page.write_text("Text.\n\n>>> 1 + 'a'\n")
        (found,) = check_snippets.faults([page])
    assert re.search(r"wrong\.md:3: error: Unsupported operand types", found)


def documented() -> dict[str, Any]:
    """Return what the pages of the reference have entries for, by its name below `gradwrap`."""
    found: dict[str, Any] = {}
    for page in REFERENCE.glob("*.md"):
        for name in ENTRY.findall(page.read_text(encoding="utf-8")):
            value: Any = gw
            for part in name.split("."):
                value = getattr(value, part)
            found[name] = value
    return found


def public(module: str) -> set[str]:
    """Return the public names of a module that are not modules themselves."""
    found = importlib.import_module(f"gradwrap.{module}" if module else "gradwrap")
    names = getattr(found, "__all__", None) or [name for name in dir(found) if name[0] != "_"]
    return {name for name in names if not inspect.ismodule(getattr(found, name))}


@pytest.mark.parametrize(
    "module",
    ["", "autograd", "compiler", "extend", "jax", "optimize", "random", "testing", "torch"],
)
def test_every_public_name_has_an_entry_with_an_example(module: str) -> None:
    entries = documented()
    again = {name for name in public(module) if module and name in public("")}
    for name in sorted(public(module) - again):
        entry = f"{module}.{name}".lstrip(".")
        assert entry in entries, f"docs/reference has no entry `::: gradwrap.{entry}`"
        text = inspect.getdoc(entries[entry]) or ""
        assert "Examples\n--------\n" in text, f"{entry} has no example"
        assert ">>> " in text.partition("Examples\n--------\n")[2]


def test_every_error_has_an_entry_with_an_example() -> None:
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    entries = {part.partition("\n")[0]: part for part in page.split("\n### ")[1:]}
    assert set(entries) == public("errors")
    without = {name for name, text in entries.items() if ">>> " not in text}
    assert without == {"MixedDevicesError"}  # it needs a GPU


def test_every_type_has_an_entry() -> None:
    page = (REFERENCE / "typing.md").read_text(encoding="utf-8")
    names = public("typing") - {"Any", "TypeAlias"}
    assert {name for name in names if f"`{name}" not in page} == set()


# A path: folders and a file, or the name of a Python file
PATH = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.\w+)?|[a-z_]+\.py)`")
# Pages that name files of the project
NAMING = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]


def missing_paths(text: str) -> list[str]:
    """Return the paths that a text names and that end no path of the project."""
    folders = (
        "src",
        "tests",
        "docs",
        "examples",
        "benchmarks",
        "typings",
        "scripts",
        ".ci",
        ".github",
    )
    files = {
        f"/{path.relative_to(ROOT)}" for folder in folders for path in (ROOT / folder).rglob("*")
    }
    files |= {f"/{path.name}" for path in ROOT.iterdir()}
    return [
        name
        for name in PATH.findall(text)
        if not any(path.endswith("/" + name.rstrip("/")) for path in files)
    ]


@pytest.mark.parametrize("path", NAMING, ids=lambda path: path.name)
def test_named_files_exist(path: Path) -> None:
    missing = missing_paths(prose(path))
    # An example of a file that a reader would add
    assert [name for name in missing if "mylib" not in name] == []


def test_a_named_file_that_is_missing_is_found() -> None:
    text = "`core/graph/node.py`, `rules/`, `core/node.py`, `nodes.py`, `backends/dask/`"
    assert missing_paths(text) == ["core/node.py", "nodes.py", "backends/dask/"]
