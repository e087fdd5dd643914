"""A variable in a notebook: its value, description, origin, and a small graph."""

from __future__ import annotations

import contextlib
from html import escape
from typing import Any

from gradwrap.core.array.display import shown
from gradwrap.core.graph.node import Leaf, Node
from gradwrap.drawing.collecting import collect, is_longer_than
from gradwrap.drawing.folding import folded
from gradwrap.drawing.picture import Drawing
from gradwrap.errors import GradwrapError

MOST_NODES = 500
"""The number of operations up to which the graph is drawn."""
MOST_BOXES = 30
LONGEST = 2_000
"""The number of characters of the value that are shown."""


def html(variable: Any) -> str:
    """Return the display of a variable, as HTML."""
    if not isinstance(variable._node, (Node, Leaf, type(None))):
        return f"<pre>{escape(repr(variable))}</pre>"  # under a transform, of another kind
    text = shown(variable)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} ..."
    parts = [f"<div><code>{escape(_description(variable))}</code>"]
    parts += [f"<pre>{escape(text)}</pre>"]
    if variable.is_leaf and variable.grad is not None:
        parts += [f"<code>grad</code><pre>{escape(repr(variable.grad)[:LONGEST])}</pre>"]
    picture = _picture(variable)
    if picture:
        parts += [f"<details><summary>graph</summary>{picture}</details>"]
    return "".join([*parts, "</div>"])


def _description(variable: Any) -> str:
    """Return the shape, dtype, library, device and origin of a variable, in one line."""
    shape = ", ".join(map(str, variable.shape))
    dtype = str(variable.dtype).rpartition(".")[2]
    where = f"{variable._backend.name}, {variable.device}"
    return f"Variable {dtype}[{shape}] ({where}), {_origin(variable)}"


def _origin(variable: Any) -> str:
    if not variable.requires_grad:
        return "not tracked"
    if variable.is_leaf:
        return "a leaf that requires grad"
    function = variable.grad_fn
    return f"the result of {variable._node.op.name}" if function is None else f"from {function!r}"


def _picture(variable: Any) -> str:
    """Return the graph as SVG; "" without a graph, or for a large one."""
    node = variable._node
    if node is None or variable.is_leaf or is_longer_than(MOST_NODES, node):
        return ""
    with contextlib.suppress(GradwrapError):
        return Drawing(folded(collect(variable, None), MOST_BOXES)).svg()
    return ""
