"""Check the types of the code on the pages: `python docs/check_snippets.py [PAGE ...]`.

Each page becomes a module with its examples (`>>>`) and its programs (blocks of Python) in the
lines where they stand on the page, so that what mypy reports leads to the page. An example that
ends in an error by design is left out.
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["code_of", "faults"]

ROOT = Path(__file__).parents[1]
SETTINGS = """\
[mypy]
allow_redefinition_new = true
check_untyped_defs = true
follow_imports = silent
ignore_missing_imports = true
local_partial_types = true
[mypy-autograd.*,cupy.*,dask.*,jax.*,mygrad.*,pandas.*,scipy.*,sklearn.*,torch.*,xarray.*]
follow_imports = skip
"""  # the last line: the result does not depend on which of these are installed
OTHER_PROGRAMS = {  # the pages whose blocks are left out, and the reason
    "compiled-gallery.md": "sources that gw.compile has written; the tests run them",
    "from-autograd.md": "programs for autograd, before the change",
    "from-jax.md": "programs for JAX, before the change",
    "from-pytorch.md": "programs for PyTorch, before the change",
    "random-programs.md": "parts of programs",
    "types.md": "declarations with names that are not defined; tests/tools/typing has them whole",
}
BLOCK = re.compile(r"^```python\n(?!>>>)(.*?)^```$", re.MULTILINE | re.DOTALL)
EXCEPTIONS = {  # by page: a part of the message, and the reason
    "docs/cupy.md": {
        'Name "cp" already defined': "the source of a compiled function, a module of its own",
    },
    "docs/tape.md": {
        'Item "None" of "GradFn': "`grad_fn` of a leaf is None; the page looks at results",
        'Item "GradFn" of "GradFn': "only the last function of a graph has a variable",
        '"None" not callable': "likewise",
        'Unsupported operand types for * ("float" and "None")': "`grad` is None before `backward`",
        'argument "dim" for "sum"': "PyTorch's word, which the types of a variable do not have",
    },
    "docs/from-pytorch.md": {
        '"floating[Any]" has no attribute "backward"': "to NumPy's stubs, `mean` gives a number",
        'Unsupported operand types for * ("float" and "None")': "`grad` is None before `backward`",
    },
}


def code_of(text: str, *, has_programs: bool = True) -> str:
    """Return the examples and programs of a page as a module, each line in its place."""
    examples = doctest.DocTestParser().get_examples(text)
    parts = [(example.lineno, example.source) for example in examples if example.exc_msg is None]
    if has_programs:
        parts += [(text.count("\n", 0, found.start(1)), found[1]) for found in BLOCK.finditer(text)]
    lines = [""] * (text.count("\n") + 2)
    names = _Names()
    for first, source in sorted(parts):
        for number, line in enumerate(names.told_apart(source), first):
            lines[number] = line
    return "\n".join(lines)


class _Names:
    """The names of a page: a function that is defined again gets another name from there on.

    To a type checker, a module has one function of a name; in a session the last one counts.
    """

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.other: dict[str, str] = {}

    def told_apart(self, source: str) -> list[str]:
        """Return the lines of an example, with the names of the functions that are meant there."""
        tree = ast.parse(source)
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef) and statement.name in self.bound:
                name = self.other.get(statement.name, statement.name)
                self.other[statement.name] = f"{name}_"
        lines = source.splitlines()
        for place in sorted(_places(tree, lines), reverse=True):
            row, column, name = place
            self.bound.add(name)
            if name in self.other:
                line, end = lines[row], column + len(name)
                lines[row] = line[:column] + self.other[name] + line[end:]
        return lines


def _places(tree: ast.Module, lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the lines and columns of all names, parameters and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.lineno - 1, node.col_offset, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno - 1, node.col_offset, node.arg
        elif isinstance(node, ast.FunctionDef):
            row = node.lineno - 1
            yield row, lines[row].index(node.name, node.col_offset + 4), node.name


def faults(pages: list[Path]) -> list[str]:
    """Return what mypy reports and `EXCEPTIONS` do not explain, with the page and the line."""
    with tempfile.TemporaryDirectory() as folder:
        names: dict[str, Path] = {}
        for number, page in enumerate(pages):
            module = Path(folder) / f"page{number}.py"
            text, whole = page.read_text(encoding="utf-8"), page.name not in OTHER_PROGRAMS
            module.write_text(code_of(text, has_programs=whole), encoding="utf-8")
            names[module.name] = page
        (Path(folder) / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
        done = subprocess.run(  # noqa: S603  pages of this project
            [sys.executable, "-m", "mypy", "--no-error-summary", *names],
            env={**os.environ, "MYPYPATH": str(ROOT / "src")},
            capture_output=True,
            check=False,
            cwd=folder,
            text=True,
        )
    found: list[str] = []
    for line in done.stdout.splitlines():
        name, _, rest = line.partition(":")
        path = str(names[name].relative_to(ROOT)) if name in names else name
        explained = any(text in rest for text in EXCEPTIONS.get(path, ()))
        if ": note: " not in rest and not explained:
            found.append(f"{path}:{rest}")
    return found + done.stderr.splitlines()


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    chosen = chosen or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    reported = faults(chosen)
    print("\n".join(reported) or f"the examples of {len(chosen)} pages have right types")
    sys.exit(bool(reported))
