"""A drawing: the description of a graph, as text and as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradwrap.drawing.svg import to_svg
from gradwrap.drawing.text import to_dot, to_mermaid
from gradwrap.errors import MissingToolError

if TYPE_CHECKING:
    import os
    from collections.abc import Container

    from gradwrap.drawing.graph import Graph


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
        """Return the picture as SVG; it is dark where the reader asks for dark pages."""
        return to_svg(self._graph)

    def png(self) -> bytes:
        """Return the picture as PNG.

        Raises
        ------
        MissingToolError
            The package `graphviz` or the program `dot` is missing.
        """
        return self._rendered("png")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, in the format that its suffix names.

        `.svg`, `.mmd` (Mermaid) and `.dot` or `.gv` need nothing; `.png` and `.pdf` need Graphviz.

        Raises
        ------
        ValueError
            Another suffix.
        MissingToolError
            As for `png`.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix in {".mmd", ".dot", ".gv"}:
            content = (self.mermaid if suffix == ".mmd" else self.dot).encode()
        elif suffix == ".svg":
            content = self.svg().encode()
        elif suffix in {".png", ".pdf"}:
            content = self._rendered(suffix[1:])
        else:
            raise ValueError(
                f"no format for {path.name!r}. Fix: use .svg, .png, .pdf, .mmd, .dot or .gv."
            )
        path.write_bytes(content)

    def _rendered(self, form: str) -> bytes:
        needs = "PNG and PDF need"
        or_text = "or use drawing.svg(), or the text, drawing.mermaid or .dot."
        try:
            import graphviz
        except ImportError:
            raise MissingToolError(
                f"{needs} the package graphviz, which is not installed. "
                f'Fix: pip install "gradwrap[draw]"; {or_text}'
            ) from None
        try:
            return graphviz.Source(self.dot).pipe(format=form)
        except graphviz.ExecutableNotFound:
            raise MissingToolError(
                f"{needs} Graphviz, whose program dot was not found. Fix: install it (apt install "
                f"graphviz, brew install graphviz, conda install graphviz); {or_text}"
            ) from None

    def __str__(self) -> str:
        return self.mermaid

    def __repr__(self) -> str:
        return f"<Drawing: {self._graph.title}>"

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Return the forms for a notebook: Mermaid and SVG."""
        bundle = {
            "text/plain": repr(self),
            "text/vnd.mermaid": self.mermaid,
            "image/svg+xml": self.svg(),
        }
        return {
            kind: text
            for kind, text in bundle.items()
            if (not include or kind in include) and not (exclude and kind in exclude)
        }
