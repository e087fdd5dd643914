"""Pictures of recorded graphs: as Mermaid and DOT text, and through Graphviz as SVG and PNG."""

from __future__ import annotations

from gradwrap.drawing.picture import Drawing, draw

__all__ = ["Drawing", "draw"]
