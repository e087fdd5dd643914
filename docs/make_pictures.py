"""Draw the pictures of the README and the guides: `python docs/make_pictures.py`.

Needs the extra `docs`.
"""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path
from typing import Any

import numpy as np

import gradwrap as gw

__all__ = ["make"]

PICTURES = Path(__file__).parent / "pictures"
EXAMPLES = Path(__file__).parents[1] / "examples"


def make() -> None:
    """Draw the graph of a sum, the fit of the tutorial, and the growth of times of long loops."""
    import matplotlib as mpl

    mpl.rcParams["svg.hashsalt"] = "gradwrap"  # so that the same picture is the same file
    fit: dict[str, Any] = runpy.run_path(str(EXAMPLES / "curve_fit.py"))
    fit["picture"](fit["main"](), str(PICTURES / "fit.svg"))

    a, b, c, d = (gw.wrap(np.full(3, float(i)), requires_grad=True) for i in range(1, 5))
    e = a * b + np.log(d) * c.detach()
    names = {"a": a, "b": b, "c": c, "d": d, "e": e}
    gw.draw(e, names=names).save(PICTURES / "drawing.svg")
    growth()


def growth() -> None:
    """Draw the table of long loops in the page about compiled functions."""
    plt: Any = importlib.import_module("matplotlib.pyplot")
    text = (Path(__file__).parent / "compile.md").read_text(encoding="utf-8")
    table = text.partition("<!-- begin: benchmarks.programs.long -->")[2].partition("<!-- end")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line.startswith("|")
    ][2:]
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, layout="constrained")
    for number, name in enumerate(dict.fromkeys(row[0] for row in rows)):
        mine = [
            [float(cell.replace(",", "")) for cell in row[1:]] for row in rows if row[0] == name
        ]
        turns, first, later, _, first_in_jax, later_in_jax, _ = zip(*mine, strict=True)
        for place, ours, others in ((0, first, first_in_jax), (1, later, later_in_jax)):
            axes[place].loglog(turns, ours, "o-", color=f"C{number}", label=name)
            axes[place].loglog(turns, others, "x:", color=f"C{number}")
    for place, title in enumerate(("first call, s", "later calls, ms")):
        axes[place].set(title=title, xlabel="turns of the loop")
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        title="gradwrap, C engine (dotted: JAX, lax.scan)",
        loc="outside lower center",
        ncols=2,
    )
    figure.savefig(PICTURES / "growth.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    make()
