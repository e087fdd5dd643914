"""`draw`: the graph that was recorded for an array, as text and as pictures."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradwrap.drawing.collecting import collect
from gradwrap.drawing.dot import to_dot
from gradwrap.drawing.folding import folded
from gradwrap.drawing.mermaid import to_mermaid
from gradwrap.errors import MissingToolError

if TYPE_CHECKING:
    import os
    from collections.abc import Container

    from gradwrap.drawing.graph import Graph

__all__ = ["Drawing", "draw"]

FOLD_FROM = 200
MERMAID = "text/vnd.mermaid"
SVG = "image/svg+xml"


class Drawing:
    """A picture of a recorded graph; its text is Mermaid, and a notebook shows it by itself."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @property
    def mermaid(self) -> str:
        """Mermaid text: GitHub and GitLab render it in a block that is marked `mermaid`."""
        return to_mermaid(self._graph)

    @property
    def dot(self) -> str:
        """DOT text, for Graphviz."""
        return to_dot(self._graph)

    def svg(self) -> str:
        """The picture as SVG.

        Raises
        ------
        MissingToolError
            The package `graphviz` or the program `dot` is missing.
        """
        return self._rendered("svg").decode()

    def png(self) -> bytes:
        """The picture as PNG; errors as for `svg`."""
        return self._rendered("png")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, in the format that its suffix names.

        `.svg`, `.png`, `.pdf` need Graphviz; `.mmd` (Mermaid) and `.dot` or `.gv` need nothing.

        Raises
        ------
        ValueError
            Another suffix.
        MissingToolError
            As for `svg`.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix == ".mmd":
            content = self.mermaid.encode()
        elif suffix in {".dot", ".gv"}:
            content = self.dot.encode()
        elif suffix in {".svg", ".png", ".pdf"}:
            content = self._rendered(suffix[1:])
        else:
            raise ValueError(
                f"no format for {path.name!r}. Fix: use .svg, .png, .pdf, .mmd, .dot or .gv."
            )
        path.write_bytes(content)

    def _rendered(self, form: str) -> bytes:
        try:
            import graphviz
        except ImportError:
            raise MissingToolError(
                "SVG, PNG and PDF need the package graphviz, which is not installed. "
                'Fix: pip install "gradwrap[draw]"; or use the text, drawing.mermaid or .dot.'
            ) from None
        try:
            return graphviz.Source(self.dot).pipe(format=form)
        except graphviz.ExecutableNotFound:
            raise MissingToolError(
                "SVG, PNG and PDF need Graphviz, whose program dot was not found. Fix: install it "
                "(apt install graphviz, brew install graphviz, conda install graphviz); or use "
                "the text, drawing.mermaid or .dot."
            ) from None

    def __str__(self) -> str:
        return self.mermaid

    def __repr__(self) -> str:
        return f"<Drawing: {self._graph.title}>"

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """The forms in which a notebook may show it: SVG if there is Graphviz, and Mermaid."""
        bundle = {"text/plain": repr(self), MERMAID: self.mermaid}
        with contextlib.suppress(MissingToolError):
            bundle[SVG] = self.svg()
        return {
            kind: text
            for kind, text in bundle.items()
            if (not include or kind in include) and not (exclude and kind in exclude)
        }


def draw(y: Any, *, names: Any = None, fold: int | bool = FOLD_FROM) -> Drawing:
    """The recorded graph of an array: what it was computed from, and what is kept for backward.

    Green are leaves, grey are constants as far as the graph knows them (arrays that an operation
    keeps, or whose shape it keeps), grey with a dashed border are detached values; an operation
    shows the size of what it saves, an arrow the shape of what it hands on.

    Parameters
    ----------
    y
        A tracked array, or a pytree of them; on the tape or in a function under a transform.
    names
        What to call arrays: a dict, or any pytree, whose keys become names; `locals()` will do.
    fold
        The number of boxes from which on repetitions are shown once, with their count, and what
        is still too much, in groups of operations. True folds always, False never.

    Raises
    ------
    BackwardError
        `y` is not tracked.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> w = gw.wrap(np.ones(3), requires_grad=True)
    >>> print(gw.draw(np.sum(np.exp(w)), names={"w": w}))
    ---
    title: 2 operations, 1 leaf, 24 B saved
    ---
    flowchart TD
        n0(["w<br/>float64[3]"]):::leaf
        n1["exp<br/>saves 24 B"]:::operation
        n2["sum"]:::operation
        n3(["output<br/>float64[]"]):::output
        n0 -->|"3"| n1
        n1 -->|"3"| n2
        n2 -->|"scalar"| n3
        classDef leaf fill:#d9f0d9,stroke:#3a7d3a,color:#111
        classDef operation fill:#dde8f7,stroke:#4a6fa5,color:#111
        classDef output fill:#fff,stroke:#111,color:#111,stroke-width:2px
    """
    return Drawing(folded(collect(y, names), fold))
