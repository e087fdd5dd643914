"""What MkDocs is told beyond `mkdocs.yml`: pages that are not files of `docs/`, and their links.

- The README is the home page; the changelog and what else lies beside it are pages too.
- Each example is run, and has a page in the gallery (`gallery.py`).
- Each other file of the project that a page refers to, such as a table of rules, is a page with its
  text. So every link of a page leads somewhere on the site, as it does in a checkout.
- The formulas of the page of operations are typeset.
"""

from __future__ import annotations

import importlib
import itertools
import posixpath
import re
import sys
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))
import gallery
from typeset import mathml

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["on_config", "on_files", "on_page_content", "on_page_markdown"]

ROOT = Path(__file__).parents[1]
OUTSIDE = {  # files of the project, and the pages that they are
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "tests/README.md": "tests.md",
}
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")
FOLDED = re.compile(r"(?<=</summary>).*?(?=</details>)", re.DOTALL)
FORMULA = re.compile(r"<tr>\s*<td>.*?</td>|<code>(?P<code>.*?)</code>", re.DOTALL)
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
LANGUAGES = {".py": "python", ".pyi": "python", ".toml": "toml", ".yml": "yaml"}
FENCE = "`````"
GUIDE = 4.0
"""The weight of a guide in the search; that of other pages is in `BOOSTS`."""
BOOSTS = {
    "reference/errors.md": 0.3,
    "reference/": 2.0,
    "gallery/": 0.5,
    "ops.md": 0.5,
    "scipy.md": 1.0,
    "numpy-coverage.md": 0.2,
    "public-packages.md": 0.2,
    "design.md": 0.5,
    "how-it-works.md": 0.5,
    "changelog.md": 0.1,
    "contributing.md": 0.2,
    "tests.md": 0.1,
    "benchmarks.md": 0.5,
    "compiled-gallery.md": 0.3,
    "random-programs.md": 0.2,
    "conformance.md": 0.2,
    "gpu.md": 0.2,
}


def on_config(config: Any) -> Any:
    """Enter the pages of `docs/` that `mkdocs.yml` does not name, as the last of the guides."""
    listed = str(config.nav)
    guides = next(entry["Guides"] for entry in config.nav if "Guides" in entry)
    for path in sorted((ROOT / "docs").glob("*.md")):
        if f"'{path.name}'" not in listed:
            guides.append(path.name)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in `docs/`."""
    make: Any = importlib.import_module("mkdocs.structure.files").File

    def add(path: str, **content: Any) -> None:
        files.append(make.generated(config, path, **content))

    for origin, path in OUTSIDE.items():
        add(path, content=(ROOT / origin).read_text(encoding="utf-8"))
    for origin in sorted(set(referred_to())):
        add(page_of(origin), content=source_page(origin))
    found = gallery.examples()
    add("gallery/index.md", content=gallery.index_page(found))
    for example in found:
        add(f"gallery/{example.name}.md", content=gallery.page(example))
        pictures = {*example.pictures, *([example.thumbnail] if example.thumbnail else [])}
        for picture in pictures:
            add(f"gallery/{example.name}/{picture.name}", abs_src_path=str(picture))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let the links of a page lead to pages of the site."""
    path: str = page.file.src_uri
    origin = next((name for name, made in OUTSIDE.items() if made == path), f"docs/{path}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link["target"]))
        there = posixpath.relpath(page_of(target), posixpath.dirname(path) or ".")
        return there + (link["anchor"] or "")

    folder = path.partition("/")[0]
    page.meta["search"] = {"exclude": True} if folder == "source" else {"boost": boost_of(path)}
    if folder == "gallery" or path in {"index.md", "tutorial.md"}:
        page.meta["hide"] = ["navigation"]  # there is nothing beside them
    return markdown if folder in {"gallery", "source"} else LINK.sub(moved, markdown)


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Typeset the formulas of the page of operations: those of tables and of lists of functions."""
    if page.file.src_uri != "ops.md":
        return html
    return FOLDED.sub(lambda part: FORMULA.sub(_typeset, TABLE.sub(_headed, part[0])), html)


def _headed(table: re.Match[str]) -> str:
    """Note at each cell the heading of its column, which a phone shows beside it."""
    headings = re.findall(r"<th>(.*?)</th>", table[0])
    cells = (
        f'<td data-heading="{heading}">' if heading != headings[0] else "<td>"
        for heading in itertools.cycle(headings)
    )
    return re.sub("<td>", lambda _: next(cells), table[0])


def _typeset(found: re.Match[str]) -> str:
    """Return a formula as mathematics; the first cell of a row, and programs, as they are."""
    formula = mathml(unescape(found["code"])) if found["code"] else None
    return found[0] if formula is None else f'<span class="formula">{formula}</span>'


def boost_of(path: str) -> float:
    """Return the weight of a page in the search: guides before lists and records."""
    return next((boost for start, boost in BOOSTS.items() if path.startswith(start)), GUIDE)


def page_of(origin: str) -> str:
    """Return the path in the site of a file of the project."""
    if origin in OUTSIDE:
        return OUTSIDE[origin]
    if origin == "examples":
        return "gallery/index.md"
    if origin.startswith("examples/"):
        return f"gallery/{Path(origin).stem}.md"
    inside = origin.removeprefix("docs/")
    return inside if inside != origin else f"source/{origin}.md"


def referred_to() -> Iterator[str]:
    """Yield the files that pages refer to and that are no pages by themselves."""
    pages = [ROOT / origin for origin in OUTSIDE]
    for path in [*pages, *sorted((ROOT / "docs").rglob("*.md"))]:
        folder = path.parent.relative_to(ROOT).as_posix()
        for link in LINK.finditer(path.read_text(encoding="utf-8")):
            origin = posixpath.normpath(posixpath.join(folder, link["target"]))
            if page_of(origin).startswith("source/") and (ROOT / origin).is_file():
                yield origin


def source_page(origin: str) -> str:
    """Return a page with the text of a file."""
    text = (ROOT / origin).read_text(encoding="utf-8").rstrip()
    language = LANGUAGES.get(Path(origin).suffix, "text")
    return f"# {Path(origin).name}\n\n`{origin}`\n\n{FENCE}{language}\n{text}\n{FENCE}\n"
