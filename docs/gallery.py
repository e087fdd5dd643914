"""The gallery: run each script of `examples/`, and make a page of its picture, output and text.

An example is run in a folder of its own, where it saves its pictures. What it made is kept in
`.cache/gallery`, and made again if the script has changed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Example", "examples", "index_page", "page", "perform"]

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".cache" / "gallery"
SECONDS = 1800  # so long that only an example that hangs is ended
THUMBNAIL = 480  # pixels
GROUPS = {
    "Fits and statistics": (
        "curve_fit",
        "maximum_likelihood",
        "gaussian_process",
        "variational_inference",
        "hamiltonian_monte_carlo",
        "survival",
        "spline_fit",
        "kalman_filter",
    ),
    "Physics and engineering": (
        "control_flow",
        "lens_design",
        "heat_equation",
        "inverse_problem",
        "ode_sensitivity",
        "implicit_layer",
    ),
    "Learning": (
        "digits",
        "attention",
        "truncated_rnn",
        "maml",
        "gradient_penalty",
        "training_loop",
        "micro_batches",
    ),
    "One code, many libraries": ("everywhere", "any_array"),
}
OTHERS = "More"
PROPER_NOUNS = "Carlo Gaussian Hamiltonian Kalman MAML Monte ODE RNN"
PROPER = {word.lower(): word for word in PROPER_NOUNS.split()}
INTRODUCTION = """\
Each example is one script of `examples/`, and runs after `pip install ".[examples]"`. The
pictures and the output were made when this site was built."""


class Example(NamedTuple):
    """A script, and what it made when it was run."""

    name: str
    title: str
    summary: str
    text: str
    script: str
    output: str
    pictures: list[Path]
    thumbnail: Path | None


def examples() -> list[Example]:
    """Run all examples that have changed, two at a time, and return them all."""
    importlib.import_module("matplotlib.font_manager")  # makes its cache, which scripts report
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(perform, sorted((ROOT / "examples").glob("*.py"))))


def perform(path: Path) -> Example:
    """Run one example, unless it is kept, and return what it made."""
    script = path.read_text(encoding="utf-8")
    folder = KEPT / path.stem / hashlib.sha256(script.encode()).hexdigest()[:12]
    if not (folder / "output.txt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(  # noqa: S603  an example of this project
            [sys.executable, str(path)],
            capture_output=True,
            check=False,
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
            text=True,
            timeout=SECONDS,
        )
        if done.returncode or done.stderr or not done.stdout:
            raise RuntimeError(f"{path.name} failed:\n{done.stdout}{done.stderr}")
        (folder / "output.txt").write_text(done.stdout, encoding="utf-8")
    pictures = sorted(
        picture for picture in folder.glob("*.*") if picture.suffix in {".png", ".svg"}
    )
    pictures = [picture for picture in pictures if picture.stem != "thumbnail"]
    summary, _, text = (ast.get_docstring(ast.parse(script)) or path.stem).partition("\n")
    return Example(
        name=path.stem,
        title=title_of(path.stem),
        summary=summary,
        text=text.strip(),
        script=script,
        output=(folder / "output.txt").read_text(encoding="utf-8"),
        pictures=pictures,
        thumbnail=thumbnail(pictures[0]) if pictures else None,
    )


def title_of(name: str) -> str:
    """Return a title made of the name of a script."""
    words = [PROPER.get(word, word) for word in name.split("_")]
    text = " ".join(words)
    return text[0].upper() + text[1:]


def thumbnail(picture: Path) -> Path:
    """Make a small copy of a picture, and return its path."""
    from PIL import Image

    if picture.suffix == ".svg":
        return picture
    small = picture.with_name("thumbnail.png")
    with Image.open(picture) as image:
        image.thumbnail((THUMBNAIL, THUMBNAIL))
        image.save(small)
    return small


def page(example: Example) -> str:
    """Return the page of an example, in Markdown."""
    shown = "\n\n".join(
        f"![{example.title}]({example.name}/{picture.name})" for picture in example.pictures
    )
    return f"""\
# {example.title}

{example.summary}

{shown}

{example.text}

## The script

`python examples/{example.name}.py`

```python
{example.script.strip()}
```

## What it prints

```text
{example.output.strip()}
```

[All examples](index.md)
"""


def index_page(found: Iterable[Example]) -> str:
    """Return the page with all examples, in Markdown."""
    by_name = {example.name: example for example in found}
    parts = [
        "# Gallery",
        INTRODUCTION,
    ]
    for group, names in groups(by_name):
        parts += [f"## {group}", '<div class="grid cards" markdown>']
        parts += [card(by_name[name]) for name in names]
        parts += ["</div>"]
    return "\n\n".join(parts) + "\n"


def groups(by_name: dict[str, Example]) -> Iterator[tuple[str, list[str]]]:
    """Yield each group that has examples, with their names; the last has those of no group."""
    for group, names in GROUPS.items():
        if there := [name for name in names if name in by_name]:
            yield group, there
    grouped = {name for names in GROUPS.values() for name in names}
    if rest := [name for name in by_name if name not in grouped]:
        yield OTHERS, rest


def card(example: Example) -> str:
    """Return the entry of an example: a link with its picture, its title, its first line."""
    lines = [f"-   **[{example.title}]({example.name}.md)**"]
    if example.thumbnail is not None:
        lines.append(
            f"    [![{example.title}]({example.name}/{example.thumbnail.name})"
            f"{{ .thumbnail loading=lazy }}]({example.name}.md)"
        )
    lines.append(f"    {example.summary}")
    return "\n\n".join(lines)
