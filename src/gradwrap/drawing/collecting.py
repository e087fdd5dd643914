"""Description of recorded nodes by boxes and arrows.

A node knows the nodes of its tracked arguments and what it saves. So an argument that is not
tracked can be shown where it, or its shape, was saved; and one that was detached can be told from
a constant where it is the very array that another part of the graph has saved too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.node import JOINT, Leaf, Node
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.values.comparing import described
from gradwrap.core.values.dynamic import DICT, SLICE, TUPLE
from gradwrap.core.values.space import Meta, size_of
from gradwrap.core.values.tree import flatten, flatten_with_paths
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

SHOWN = (bool, int, float, complex, str)
INDICES: tuple[type[Any], ...] = (*SHOWN, slice, type(None), type(Ellipsis))
LONGEST = 40
"""The length up to which a static argument is shown."""


def collect(outputs: Any, names: Any) -> Graph:
    """Describe the graph that was recorded for a tree of arrays."""
    pairs = flatten_with_paths(outputs, "output")[0]
    tracked = [
        (path, leaf)
        for path, leaf in pairs
        if isinstance(leaf, AnyWrapper) and leaf._node is not None
    ]
    if not tracked:
        raise BackwardError(
            "draw: nothing was recorded for this array: it is not tracked. Fix: make an array it "
            "is computed from with gradwrap.wrap(array, requires_grad=True), or call draw on a "
            "value inside of a function under a transform; and not under no_grad."
        )
    collector = _Collector(_Names(names))
    collector.walk([variable._node for _, variable in tracked])
    for path, variable in tracked:
        collector.add_output(path, variable)
    return collector.graph()


class _Names:
    """The user's names of arrays, by their node or by the native array itself."""

    def __init__(self, names: Any) -> None:
        self.of_node: dict[Any, str] = {}
        self.of_array: dict[int, str] = {}
        """By the identity of the native array."""
        self.variables: list[Any] = []
        trees = names.items() if isinstance(names, DICT) else [("", names)]
        leaves = (pair for root, tree in trees for pair in flatten_with_paths(tree, str(root))[0])
        for path, leaf in leaves:
            if is_array(leaf):
                self.of_array.setdefault(id(native(leaf)), path)
            if isinstance(leaf, AnyWrapper) and leaf._node is not None:
                self.of_node.setdefault(leaf._node, path)
                self.variables.append(leaf)


class _Collector:
    def __init__(self, names: _Names) -> None:
        self.names = names
        self.boxes: dict[Any, Box] = {}
        self.arrows: list[Arrow] = []
        self.roots: set[Any] = set()
        self.words: dict[Node, list[tuple[str | None, Any, Any]]] = {}
        self.outputs: list[Box] = []
        self.origin: dict[int, Box] = {}
        """Arrays that are known to be the value of a box, by identity."""
        self.others: dict[Any, Box] = {}

    def graph(self) -> Graph:
        boxes = [*self.others.values(), *self.boxes.values(), *self.outputs]
        return Graph(boxes, self.arrows)

    def walk(self, roots: list[Any]) -> None:
        """Make the boxes of all nodes, in the order of execution, and then the arrows."""
        self.roots.update(roots)
        nodes = sorted(_reached(roots), key=lambda node: -node.seq)
        for node in nodes:
            if isinstance(node, Leaf):
                self.boxes[node] = self._leaf(node)
            elif not _selects(node):
                self.boxes[node] = self._operation(node)
        for variable in self.names.variables:
            if variable._node in self.boxes:
                self.origin.setdefault(id(native(variable)), self.boxes[variable._node])
        for node in nodes:
            if isinstance(node, Node) and not _selects(node):
                self._connect(node)

    def add_output(self, path: str, variable: Any) -> None:
        name = self.names.of_node.get(variable._node)
        box = Box(OUTPUT, name or path, (repr(variable._node.meta),))
        self.outputs.append(box)
        self._arrow(variable._node, box)

    def _leaf(self, leaf: Leaf) -> Box:
        owner = leaf.owner() if leaf.owner is not None else None
        box = Box(LEAF, self.names.of_node.get(leaf) or "leaf", (repr(leaf.meta),))
        if owner is not None:
            self.origin[id(native(owner))] = box
        return box

    def _operation(self, node: Node) -> Box:
        lines: list[str] = []
        name = None if node in self.roots else self.names.of_node.get(node)
        title = node.op.name if name is None else f"{name} = {node.op.name}"
        if node.formula is None:
            self.words[node] = []
            return Box(OPERATION, title, ("freed by backward",))
        box = Box(OPERATION, title)
        words = self.words[node] = list(_saved_words(node))
        for word, value, _ in words:
            label = getattr(value, "label", None)
            if isinstance(label, str):
                lines.append(label)
            elif word is not None and _is_telling(value):
                lines.append(f"[{_index(value)}]" if word == "key" else f"{word}={value!r}")
            for array in _arrays_in(value):
                box.saved[id(array)] = _bytes_of(array)
            if word == "out" and is_array(value):
                self.origin.setdefault(id(native(value)), box)
        lines += [f"{word} not tracked" for word in _unseen(node, words)]
        box.lines = tuple(dict.fromkeys(lines))
        return box

    def _connect(self, node: Node) -> None:
        box = self.boxes[node]
        done: set[Any] = set()
        for parent in _parents(node):
            self._arrow(parent, box)
        for word, value, parent in self.words[node]:
            if parent is not None:
                if is_array(value) and parent in self.boxes:
                    self.origin.setdefault(id(native(value)), self.boxes[parent])
                continue
            if word in done or word is None or not _is_argument(node, word):
                continue
            if isinstance(value, Meta) or is_array(value):
                done.add(word.removesuffix("_meta"))
                self._untracked(node, word, value, box)

    def _untracked(self, node: Node, word: str, value: Any, target: Box) -> None:
        """Show an argument that is not tracked: an array, or its description alone."""
        if isinstance(value, Meta):
            if any(w == word.removesuffix("_meta") for w, _, _ in self.words[node]):
                return
            found = self.others[node, word] = Box(FROZEN, "constant", (repr(value),))
        else:
            value = native(value)
            found = self.others.get(id(value)) or self._other(value)
        self.arrows.append(Arrow(found, target, _shape(value.shape), dashed=True))

    def _other(self, array: Any) -> Box:
        """Make the box of an array that is not tracked: it was detached, or is a constant."""
        source = self.origin.get(id(array))
        name = self.names.of_array.get(id(array))
        is_tracked = any(native(variable) is array for variable in self.names.variables)
        kind, text = FROZEN, name or "constant"
        if source is not None or is_tracked:
            kind, text = DETACHED, "detached" if source is not None else f"{name}, detached"
        found = self.others[id(array)] = Box(kind, text, (described(array),))
        if source is not None:
            self.arrows.append(Arrow(source, found, _shape(array.shape), dashed=True))
        return found

    def _arrow(self, parent: Any, box: Box) -> None:
        label = _shape(parent.meta.shape)
        if _selects(parent):
            if parent.formula is None:
                return
            parent = parent.parent
        self.arrows.append(Arrow(self.boxes[parent], box, label))


def _reached(roots: list[Any]) -> set[Any]:
    seen = set(roots)
    stack = list(roots)
    while stack:
        for parent in _parents(stack.pop()):
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return seen


def _parents(node: Any) -> Iterator[Any]:
    if isinstance(node, Node):
        for parent, _, _, index in node.edges:
            if index == JOINT and isinstance(parent, TUPLE):
                yield from (one for one in parent if one is not None)
            else:
                yield parent


def _selects(node: Any) -> bool:
    """Tell whether a node only hands on one output of several."""
    return isinstance(node, Node) and node.op.name == "output" and node.op.parts


def _saved_words(node: Node) -> Iterator[tuple[str | None, Any, Any]]:
    """Return what a node's formulas saved: name in the rule, value, node of that value."""
    rule: Any = getattr(node.op, "rule", None)
    parents: dict[str, Any] = {}
    edges = node.edges
    for parent, _, _, index in edges:
        if rule is None:
            continue
        if index != JOINT:
            parents[rule.arrays[index]] = parent
        elif not rule.variadic:
            parents.update(zip(rule.arrays, parent, strict=True))
    for parent, _, saved, index in edges:
        formula = None if rule is None else rule.formulas[0 if rule.is_joint else index]
        words = formula.saved if formula is not None and len(formula.saved) == len(saved) else None
        for position, value in enumerate(saved):
            word = words[position] if words else None
            if rule is not None and word is not None and rule.variadic and word == rule.arrays[0]:
                yield from zip(
                    [f"{word}{i}" for i in range(len(value))], value, parent, strict=False
                )
            else:
                yield word, value, parents.get((word or "").removesuffix("_meta"))


def _is_argument(node: Node, word: str) -> bool:
    rule: Any = node.op.rule
    name = word.removesuffix("_meta")
    return name in rule.arrays or (rule.variadic and name.startswith(rule.arrays[0]))


def _unseen(node: Node, words: list[tuple[str | None, Any, Any]]) -> list[str]:
    """The arguments that could have been tracked, are not, and are not saved either."""
    rule: Any = getattr(node.op, "rule", None)
    if rule is None or rule.is_joint:
        return []
    seen = {rule.arrays[index] for _, _, _, index in node.edges}
    seen |= {(word or "").removesuffix("_meta") for word, _, _ in words}
    return [
        word
        for index, word in enumerate(rule.arrays)
        if word not in seen and rule.formula_of(index) is not None
    ]


def _is_telling(value: Any) -> bool:
    """Tell whether a static argument is worth a line: short, and not just switched off."""
    if value is None or value is False:
        return False
    if isinstance(value, TUPLE):
        return len(repr(value)) <= LONGEST and all(isinstance(v, INDICES) for v in value)
    return isinstance(value, INDICES) and len(repr(value)) <= LONGEST


def _index(key: Any) -> str:
    """An index as it is written: `2:4, 0`."""
    if isinstance(key, TUPLE):
        return ", ".join(_index(part) for part in key)
    if isinstance(key, SLICE):
        ends = ["" if end is None else str(end) for end in (key.start, key.stop, key.step)]
        return ":".join(ends[:2] if key.step is None else ends)
    return "..." if key is Ellipsis else repr(key)


def _arrays_in(value: Any) -> Iterator[Any]:
    """The native arrays that a saved value keeps alive."""
    if hasattr(value, "held_arrays") and not is_array(value):
        yield from value.held_arrays()
    elif isinstance(value, (list, tuple, dict)):
        for leaf in flatten(value)[0]:
            if not isinstance(leaf, (list, tuple, dict)):
                yield from _arrays_in(leaf)
    elif is_array(value):
        array = native(value)
        if array is not None and not isinstance(array, SHOWN):
            yield array


def _bytes_of(array: Any) -> int:
    size = getattr(array, "nbytes", None)
    return size if isinstance(size, int) else size_of(array.shape) * _itemsize(array)


def _itemsize(array: Any) -> int:
    xp = backend_of(array).xp
    if xp.isdtype(array.dtype, "bool"):
        return 1
    if xp.isdtype(array.dtype, "integral"):
        return int(xp.iinfo(array.dtype).bits) // 8
    complex_parts = 2 if xp.isdtype(array.dtype, "complex floating") else 1
    return complex_parts * int(xp.finfo(array.dtype).bits) // 8


def _shape(shape: Any) -> str:
    return TIMES.join(map(str, shape)) or "scalar"
