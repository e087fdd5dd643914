"""Description of recorded nodes by boxes and arrows.

A node knows the nodes of its tracked arguments and its saved values. So an argument that is not
tracked can be shown if it, or its shape, was saved. A detached argument is told from a constant if
another part of the graph has saved the same array, or a copy of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradwrap.core.graph.node import JOINT, Leaf, Node
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.library.backend import is_array
from gradwrap.core.library.buffers import Guarded, original
from gradwrap.core.observing.held import SHOWN, arrays_in, bytes_of
from gradwrap.core.values.comparing import described
from gradwrap.core.values.dynamic import DICT, SLICE, TUPLE
from gradwrap.core.values.space import Meta
from gradwrap.core.values.tree import flatten_with_paths
from gradwrap.drawing.graph import (
    DETACHED,
    FROZEN,
    LEAF,
    OPERATION,
    OUTPUT,
    TIMES,
    Arrow,
    Box,
    Graph,
)
from gradwrap.errors import BackwardError

if TYPE_CHECKING:
    from collections.abc import Iterator

INDICES: tuple[type[Any], ...] = (*SHOWN, slice, type(None), type(Ellipsis))
LONGEST = 40
"""The length up to which a static argument is shown."""


def collect(outputs: Any, names: Any) -> Graph:
    """Describe the graph that was recorded for a tree of arrays."""
    tracked = _tracked(flatten_with_paths(outputs, "output")[0])
    if not tracked:
        raise BackwardError(
            "draw: nothing was recorded for this array: it is not tracked. Fix: make an array it "
            "is computed from with gradwrap.wrap(array, requires_grad=True), or call draw on a "
            "value inside of a function under a transform; and not under no_grad."
        )
    collector = _Collector(names)
    collector.walk({variable._node for _, variable in tracked})
    for path, variable in tracked:
        collector.add_output(path, variable._node)
    return Graph([*collector.others.values(), *collector.boxes.values()], collector.arrows)


def _tracked(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the leaves of a tree that have a node, with their paths."""
    return [pair for pair in pairs if isinstance(pair[1], AnyWrapper) and pair[1]._node is not None]


class _Saved(NamedTuple):
    """A value that a formula saved."""

    word: str
    """Its name in the formula; empty where that is not known."""
    argument: str
    """The array argument that it is, or describes; empty for other values."""
    value: Any
    parent: Any
    """The node of that argument; None if it is not tracked."""


class _Collector:
    """The boxes and arrows of a graph, with the user's names."""

    def __init__(self, names: Any) -> None:
        self.boxes: dict[Any, Box] = {}
        self.others: dict[Any, Box] = {}
        """Arrays that are not tracked."""
        self.arrows: list[Arrow] = []
        self.origin: dict[Any, Box] = {}
        """The boxes whose values are known, by the identity of the native array."""
        trees = names.items() if isinstance(names, DICT) else [("", names)]
        pairs = [pair for root, tree in trees for pair in flatten_with_paths(tree, str(root))[0]]
        variables = _tracked(pairs)
        self.node_of: dict[int, Any] = {
            original(native(v)): v._node for _, v in reversed(variables)
        }
        """The nodes of the variables that have names, by the identity of the native array."""
        self.names: dict[Any, str] = {}
        """By node, and by the identity of the native array."""
        for path, leaf in pairs:
            if is_array(leaf):
                self.names.setdefault(original(native(leaf)), path)
        for path, variable in variables:
            self.names.setdefault(variable._node, path)

    def walk(self, roots: set[Any]) -> None:
        """Make the boxes of all nodes, in the order of execution, and then the arrows."""
        nodes = [node for node in _reached(roots) if not _selects(node)]
        for node in nodes:
            is_leaf = isinstance(node, Leaf)
            self.boxes[node] = self._leaf(node) if is_leaf else self._operation(node, node in roots)
        for key, node in self.node_of.items():
            if node in self.boxes:
                self.origin.setdefault(key, self.boxes[node])
        for node in nodes:
            self._connect(node)

    def add_output(self, path: str, node: Any) -> None:
        box = Box(OUTPUT, self.names.get(node) or path, (repr(node.meta),))
        self.boxes[box] = box
        self._arrow(node, box)

    def _leaf(self, leaf: Leaf) -> Box:
        box = Box(LEAF, self.names.get(leaf) or "leaf", (repr(leaf.meta),))
        if leaf.variable is not None:
            self.origin[original(native(leaf.variable))] = box
        return box

    def _operation(self, node: Node, is_root: bool) -> Box:
        name = None if is_root else self.names.get(node)
        box = Box(OPERATION, node.op.name if name is None else f"{name} = {node.op.name}")
        if node.formula is None:
            box.lines = ("freed by backward",)
            return box
        lines: list[str] = []
        for word, _, value, _ in _saved_values(node):
            label = getattr(value, "label", None)
            if isinstance(label, str):
                lines.append(label)
            elif word and _is_telling(value):
                lines.append(f"[{_index(value)}]" if word == "key" else f"{word}={value!r}")
            box.saved |= {id(array): bytes_of(array) for array in arrays_in(value)}
            if word == "out" and is_array(value):
                self.origin.setdefault(original(native(value)), box)
        lines += [f"{word} not tracked" for word in _unseen(node)]
        box.lines = tuple(dict.fromkeys(lines))
        return box

    def _connect(self, node: Any) -> None:
        """Make the arrows to a node, and the boxes of arguments that are not tracked."""
        for parent in _parents(node):
            self._arrow(parent, self.boxes[node])
        untracked: dict[str, Any] = {}
        for _, argument, value, parent in _saved_values(node):
            if parent is not None:
                if is_array(value) and parent in self.boxes:
                    self.origin.setdefault(original(native(value)), self.boxes[parent])
            elif argument and isinstance(untracked.setdefault(argument, value), Meta):
                untracked[argument] = value  # the array itself, rather than its description
        for argument, value in untracked.items():
            if isinstance(value, Meta):
                self._untracked((node, argument), value, self.boxes[node])
            elif is_array(value):
                self._untracked(original(native(value)), native(value), self.boxes[node])

    def _untracked(self, key: Any, value: Any, target: Box) -> None:
        """Draw an untracked array, as a detached array or a constant."""
        label = _shape(value.shape)
        if key not in self.others:
            source, name = self.origin.get(key), self.names.get(key)
            kind, text = FROZEN, name or "constant"
            if source is not None or key in self.node_of:
                kind, text = DETACHED, "detached" if source is not None else f"{name}, detached"
            self.others[key] = Box(kind, text, (described(value),))
            if source is not None:
                self.arrows.append(Arrow(source, self.others[key], label, dashed=True))
        self.arrows.append(Arrow(self.others[key], target, label, dashed=True))

    def _arrow(self, parent: Any, box: Box) -> None:
        source = self.boxes.get(parent.parent if _selects(parent) else parent)
        if source is not None:
            self.arrows.append(Arrow(source, box, _shape(parent.meta.shape)))


def _reached(roots: set[Any]) -> list[Any]:
    """Return all nodes that lead to these nodes, in the order of execution."""
    found: set[Any] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += _parents(node)
    return sorted(found, key=lambda node: -node.seq)


def is_longer_than(most: int, root: Any) -> bool:
    """Tell if a graph has more than `most` nodes, without walking through a large graph."""
    found: set[Any] = set()
    stack = [root]
    while stack and len(found) <= most:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += _parents(node)
    return len(found) > most


def _edges(node: Any) -> list[Any]:
    return node.edges if isinstance(node, Node) else []


def _parents(node: Any) -> list[Any]:
    groups = [edge[0] if isinstance(edge[0], TUPLE) else (edge[0],) for edge in _edges(node)]
    return [parent for group in groups for parent in group if parent is not None]


def _selects(node: Any) -> bool:
    """Tell whether a node only passes on one output of several."""
    return isinstance(node, Node) and node.op.name == "output" and node.op.parts


def _saved_values(node: Any) -> Iterator[_Saved]:
    """Return the values that a node's formulas saved."""
    edges = _edges(node)
    edges = [(parent, f, tuple(map(_unguarded, saved)), i) for parent, f, saved, i in edges]
    rule: Any = node.op.rule if edges else None
    if rule is None:
        yield from (_Saved("", "", value, None) for _, _, saved, _ in edges for value in saved)
        return
    parents: dict[str, Any] = {}
    for parent, _, _, index in edges:
        if index != JOINT:
            parents[rule.arrays[index]] = parent
        elif not rule.variadic:
            parents.update(zip(rule.arrays, parent, strict=True))
    for parent, _, saved, index in edges:
        words = getattr(rule.formulas[0 if rule.is_joint else index], "saved", ())
        if len(words) != len(saved):
            words = ("",) * len(saved)
        for word, value in zip(words, saved, strict=True):
            name = word.removesuffix("_meta")
            if rule.variadic and word == rule.arrays[0]:
                for i, (part, node_of_part) in enumerate(zip(value, parent, strict=False)):
                    yield _Saved(f"{word}{i}", f"{word}{i}", part, node_of_part)
            else:
                yield _Saved(word, name if name in rule.arrays else "", value, parents.get(name))


def _unguarded(value: Any) -> Any:
    return value.array if isinstance(value, Guarded) else value


def _unseen(node: Node) -> list[str]:
    """Return the differentiable arguments that are neither tracked nor saved."""
    rule: Any = node.op.rule
    if rule is None or rule.is_joint:
        return []
    seen = {rule.arrays[edge[3]] for edge in node.edges}
    seen |= {saved.argument for saved in _saved_values(node)}
    named = enumerate(rule.arrays)
    return [word for i, word in named if word not in seen and rule.formula_of(i) is not None]


def _is_telling(value: Any) -> bool:
    """Tell whether a static argument is worth a line: short, and neither None nor False."""
    parts = value if isinstance(value, TUPLE) else (value,)
    is_plain = value is not None and value is not False
    return is_plain and all(isinstance(v, INDICES) for v in parts) and len(repr(value)) <= LONGEST


def _index(key: Any) -> str:
    """Write an index as in code: `2:4, 0`."""
    if isinstance(key, TUPLE):
        return ", ".join(_index(part) for part in key)
    if isinstance(key, SLICE):
        ends = ["" if end is None else str(end) for end in (key.start, key.stop, key.step)]
        return ":".join(ends[:2] if key.step is None else ends)
    return "..." if key is Ellipsis else repr(key)


def _shape(shape: Any) -> str:
    return TIMES.join(map(str, shape)) or "scalar"
