"""Draw the pictures of the README and the guides: `python docs/make_pictures.py`.

Needs the extra `docs`.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np

import gradwrap as gw

__all__ = ["make"]

PICTURES = Path(__file__).parent / "pictures"
EXAMPLES = Path(__file__).parents[1] / "examples"


def make() -> None:
    """Draw the graph of a sum, and the fit of the tutorial."""
    import matplotlib as mpl

    mpl.rcParams["svg.hashsalt"] = "gradwrap"  # so that the same picture is the same file
    fit: dict[str, Any] = runpy.run_path(str(EXAMPLES / "curve_fit.py"))
    fit["picture"](fit["main"](), str(PICTURES / "fit.svg"))

    a, b, c, d = (gw.wrap(np.full(3, float(i)), requires_grad=True) for i in range(1, 5))
    e = a * b + np.log(d) * c.detach()
    names = {"a": a, "b": b, "c": c, "d": d, "e": e}
    gw.draw(e, names=names).save(PICTURES / "drawing.svg")


if __name__ == "__main__":
    make()
