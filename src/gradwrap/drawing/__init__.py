"""Pictures of recorded graphs: as SVG, as Mermaid and DOT text, and through Graphviz as PNG.

`collecting` describes a graph by boxes and arrows (`graph`), `folding` makes a large one small.
`layout` finds places for them and `svg` writes the picture; `text` writes Mermaid and DOT;
`picture` offers all forms. `running` records the call of a function, `notebook` shows a variable.
"""

from __future__ import annotations

from typing import Any

from gradwrap.core.values.dynamic import DICT
from gradwrap.drawing.collecting import collect
from gradwrap.drawing.folding import folded
from gradwrap.drawing.picture import Drawing
from gradwrap.drawing.running import recorded

__all__ = ["Drawing", "draw"]

FOLD_FROM = 200


def draw(y: Any, *args: Any, names: Any = None, fold: int | bool = FOLD_FROM) -> Drawing:
    """Draw the recorded graph: the operations behind an array, and the values kept for backward.

    Leaves are green. Constants are grey; the graph knows only those that an operation keeps, or
    whose shape it keeps. Detached values are grey with a dashed border. An operation shows the size
    of the values that it saves, an arrow the shape of the value that it passes on.

    Parameters
    ----------
    y
        A tracked array, or a pytree of tracked arrays, on the tape or in a function under a
        transform. Or a function: then its call with `args` is drawn.
    args
        The arguments of the function: arrays, numbers, or pytrees of them. Floating-point arguments
        are the leaves, with the names of the parameters.
    names
        Names for arrays: a dict, or any pytree, whose keys become the names, for example
        `locals()`.
    fold
        With this many boxes or more, repetitions are shown once, with their count, and if there are
        still too many boxes, operations are put into groups. True always folds, False never does.

    Raises
    ------
    BackwardError
        `y` is not tracked, or does not depend on `args`.
    NotAnArrayError
        `args` without a function, or a function without an argument that could be differentiated.

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
    >>> gw.draw(lambda x, y: np.sum(x * y), np.ones(2), np.ones(2))
    <Drawing: 2 operations, 2 leaves, 32 B saved>
    """
    if args or (callable(y) and not hasattr(y, "shape")):
        y, of_arguments = recorded(y, args)
        names = {**of_arguments, **names} if isinstance(names, DICT) else names or of_arguments
    return Drawing(folded(collect(y, names), fold))
