"""Less memory for more time: keep a function's arguments only, and run it again in backward.

A checkpointed call is recorded like any other, and then everything recorded inside of it is
dropped for one node. Its parents are the nodes at which the dropped graph began: those of the
arguments, and of whatever tracked arrays the function uses besides. Backward runs the function
again, recorded, and carries the cotangents through the new graph as far as these nodes. That
holds at each level, and recording backward itself needs nothing more.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import weakref
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from gradwrap.core.calls.keeping import Kept, keeping
from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.custom_nodes import OpaqueOp, output_nodes
from gradwrap.core.graph.node import JOINT, Leaf, Node
from gradwrap.core.levels.levels import (
    TAPE_LEVEL,
    differentiating,
    is_differentiating,
    next_sequence_number,
    recording_from,
)
from gradwrap.core.levels.wrapper import (
    UNTRACKED,
    AnyWrapper,
    is_at,
    layers,
    level_of,
    make_wrapper,
    native,
    snapshot,
)
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.library.buffers import noting
from gradwrap.core.library.namespace import rebind
from gradwrap.core.observing.watching import kept_tree, restored_tree
from gradwrap.core.table.registry import find_op, ops, redefine
from gradwrap.core.values.dynamic import enclosed_by, type_of
from gradwrap.core.values.space import same_space
from gradwrap.core.values.tree import TreeDef, flatten, map_leaves, unflatten
from gradwrap.errors import ArgnumsError, CheckpointError
from gradwrap.transforms.argnums import counted, name_of
from gradwrap.transforms.derived import derived
from gradwrap.transforms.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from gradwrap.core.library.buffers import Notes
    from gradwrap.core.table.registry import Op

    Named: TypeAlias = str | Primitive[..., Any]
    Policy: TypeAlias = Named | Collection[Named] | Callable[[str], bool] | None
    Given = list[tuple[weakref.ReferenceType[Any], Any]]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def checkpoint(
    fun: Callable[P, R], *, static_argnums: int | Sequence[int] = (), policy: Policy = None
) -> Callable[P, R]: ...
@overload
def checkpoint(fun: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
def checkpoint(  # type: ignore[misc]  # the options are no parameters of fun, which P cannot say
    fun: Callable[..., Any],
    *args: Any,
    static_argnums: int | Sequence[int] = (),
    policy: Policy = None,
    **kwargs: Any,
) -> Any:
    """Make a function keep only its arguments for backward, and run again there.

    Parameters
    ----------
    fun
        Any function of arrays, pytrees of arrays, keyword arguments or other values. Tracked arrays
        that it takes from an enclosing scope get their gradient as well. It must do the same when
        it runs again: its random numbers must come from a generator that it makes itself, from a
        seed.
    args, kwargs
        If arguments are given, the function is called at once, as in PyTorch: `checkpoint(fun, x)`
        is `checkpoint(fun)(x)`.
    static_argnums
        The positions of arguments that are passed on unchanged, and not searched for arrays:
        settings, models, large tables that are never written to.
    policy
        The operations whose results are kept and not computed again: a name of the table of
        operations, a function made by `primitive`, several of these, or a function that takes a
        name and returns True or False. It is usually best to keep products of matrices:
        `policy="matmul"`.

    Returns
    -------
    callable
        A function of the same parameters or, if arguments are given, its result. It may be nested,
        and used on the tape and under transforms of any order.

    Raises
    ------
    CheckpointError
        In backward: `fun` did not do the same as the first time, or used a plain NumPy array that
        was overwritten in between.
    ValueError
        `policy` does not name an operation.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> layer = gw.checkpoint(lambda w, x: np.tanh(w @ x), policy="matmul")
    >>> w, x = np.eye(2), np.array([0.0, 1.0])
    >>> gw.grad(lambda w: np.sum(layer(w, layer(w, x))))(w)
    array([[0.        , 1.76159416],
           [0.        , 0.69454575]])
    """
    kept_ops = _ops_of(policy)
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @derived(fun, checkpoint, static_argnums=static_argnums, policy=policy)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        args = _with_static(fun, args, static)
        # fun may write to its arguments, and the caller to arrays
        inputs = kept_tree(map_leaves(snapshot, (args, kwargs)), UNTRACKED)
        given = [
            (weakref.ref(leaf), snapshot(leaf))
            for leaf in flatten((args, kwargs))[0]
            if isinstance(leaf, AnyWrapper) and not leaf._is_batched
        ]
        began = next_sequence_number()
        kept = Kept(kept_ops) if kept_ops else None
        with noting() as notes, keeping(kept):
            out = fun(*map(_without_static, args), **kwargs)
        return _replaced(fun, inputs, out, began, notes, given, kept)

    return checkpointed(*args, **kwargs) if args or kwargs else checkpointed


def _ops_of(policy: Policy) -> frozenset[Op]:
    """Return the operations whose results are kept, as a policy names them."""
    if policy is None:
        return frozenset()
    if callable(policy) and not isinstance(policy, Primitive):
        found = [op for op in ops() if policy(op.name)]
    else:
        found = [_op_of(one) for one in _each(policy)]
    for op in found:
        if not op.keepable:
            op.keepable = True
            redefine(op, {})
            rebind(op)
    return frozenset(found)


def _each(policy: Any) -> Any:
    return (policy,) if isinstance(policy, (str, Primitive)) else policy


def _op_of(named: Any) -> Op:
    if isinstance(named, Primitive):
        return named.op
    found = find_op(named) if isinstance(named, str) else None
    if found is None:
        raise ValueError(
            f"policy: {named!r} is not an operation. Fix: use names of docs/ops.md, such as "
            "'matmul' or 'linalg.svd', or functions made by gradwrap.primitive."
        )
    return found


class _Static:
    """An argument that is passed on unchanged."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _with_static(
    fun: Callable[..., Any], args: tuple[Any, ...], static: tuple[int, ...]
) -> tuple[Any, ...]:
    if not static:
        return args
    found = list(args)
    for position in static:
        if not -len(args) <= position < len(args):
            raise ArgnumsError(
                f"static_argnums={position} is out of range: {name_of(fun)} was called with "
                f"{counted(len(args))}. Fix: pass the argument by position."
            )
        found[position] = _Static(args[position])
    return tuple(found)


def _without_static(arg: Any) -> Any:
    return arg.value if type(arg) is _Static else arg


def checkpoint_sequential(functions: Sequence[Callable[[Any], Any]], segments: int, x: Any) -> Any:
    """Apply functions one after the other, checkpointed in segments.

    For n functions that each save as much as they return, about sqrt(n) segments take the least
    memory: 2 sqrt(n) arrays in place of n. The last segment is not checkpointed, since backward
    starts with it.

    Parameters
    ----------
    functions
        Functions of one argument. Each gets the result of the previous function.
    segments
        The number of segments, of equal length as far as possible.
    x
        The argument of the first function.

    Raises
    ------
    ValueError
        There are no functions, or `segments` is not between 1 and their number.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> layers = [np.sin] * 9
    >>> gw.grad(lambda x: gw.checkpoint_sequential(layers, 3, x))(0.0)
    np.float64(1.0)
    """
    functions = list(functions)
    count = len(functions)
    if not 1 <= segments <= count:
        raise ValueError(
            f"segments={segments} for {count} functions. Fix: pass a number from 1 to {count}."
        )
    bounds = [count * i // segments for i in range(segments + 1)]
    for start, stop in itertools.pairwise(bounds):
        part = functools.partial(_in_turn, functions[start:stop])
        x = part(x) if stop == count else checkpoint(part)(x)
    return x


def _in_turn(functions: Sequence[Callable[[Any], Any]], x: Any) -> Any:
    for function in functions:
        x = function(x)
    return x


# Forward: one node in place of many ---------------------------------------------------------------


def _replaced(  # noqa: PLR0913  all there is to a run
    fun: Callable[..., Any],
    inputs: Any,
    out: Any,
    began: int,
    notes: Notes,
    given: Given,
    kept: Kept | None,
) -> Any:
    """Replace everything that a function recorded since `began` by one node."""
    leaves, treedef = flatten(out)
    roots: dict[int, dict[int, Node]] = {}
    for index, leaf in enumerate(leaves):
        for layer in layers(leaf):
            if isinstance(layer._node, Node) and layer._node.seq < began:
                roots.setdefault(layer._node.meta.level, {})[index] = layer._node
    if not roots:
        return out
    new: dict[tuple[int, int], Node] = {}
    for level, found in roots.items():
        parents = origins(found.values(), began)
        if parents:
            again = _Rerun(fun, inputs, level, parents, treedef, found, notes, given, kept)
            nodes = _nodes(again, leaves)
            new |= {(level, place): node for place, node in zip(found, nodes, strict=True)}
    return unflatten(treedef, [_rebuilt(leaf, index, new) for index, leaf in enumerate(leaves)])


def _rebuilt(leaf: Any, index: int, new: dict[tuple[int, int], Node]) -> Any:
    if not isinstance(leaf, AnyWrapper):
        return leaf
    node = leaf._node
    if node is not None:
        node = new.get((node.meta.level, index), node)
    data = _rebuilt(leaf._value, index, new)
    if node is leaf._node and data is leaf._value:
        return leaf
    return make_wrapper(type_of(leaf), data, node)


def origins(nodes: Iterable[Node], began: int) -> tuple[Node | Leaf, ...]:
    """Return the nodes older than `began` on which a graph depends, and leaves that live on."""
    found: dict[Node | Leaf, None] = {}
    stack: list[Node | Leaf] = list(nodes)
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node.seq > began or _owner(node) is not None:
            found[node] = None
            continue
        for parent in _parents(node):
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return tuple(found)


def _parents(node: Node | Leaf) -> Iterator[Node | Leaf]:
    for parent, _, _, index in node.edges if isinstance(node, Node) else ():
        if index == JOINT:
            yield from (one for one in parent if one is not None)
        else:
            yield parent


def _nodes(rerun: _Rerun, leaves: Sequence[Any]) -> list[Node]:
    backend = backend_of(_layer_at(leaves[rerun.places[0]], rerun.level)._value)
    op = OpaqueOp("checkpoint", backend, materializes=False)
    return output_nodes(op, rerun.parents, _pulled_back, (rerun,), rerun.metas)


# Backward: again, recorded ------------------------------------------------------------------------


REBOUND = (
    "used other tracked arrays than the first time",
    "do not rebind or write to what it uses until backward is done, or pass it as arguments",
)


class _Rerun:
    """A function and its arguments, to be run again at one level."""

    def __init__(  # noqa: PLR0913  all there is to a run
        self,
        fun: Callable[..., Any],
        inputs: Any,
        level: int,
        parents: tuple[Node | Leaf, ...],
        treedef: TreeDef,
        roots: dict[int, Node],
        notes: Notes,
        given: Given,
        kept: Kept | None,
    ) -> None:
        self.kept = kept
        self.fun = fun
        self.level = level
        self.notes = [content for own, content in notes if own == level]
        self.inputs = map_leaves(functools.partial(_below, level=level), inputs)
        self.parents = parents
        self.treedef = treedef
        self.places = tuple(roots)
        self.metas = tuple(node.meta for node in roots.values())
        self.differentiating = is_differentiating()
        self.given = given
        given_nodes = {layer._node for leaf in flatten(inputs)[0] for layer in layers(leaf)}
        # A reference to the array makes a write to it take another one, which is noticed.
        owners = [_owner(p) for p in parents if p not in given_nodes]
        enclosed = [value for value in enclosed_by(fun) if isinstance(value, AnyWrapper)]
        owners += [
            value
            for value in enclosed
            if not value._is_batched and all(r() is not value for r, _ in given)
        ]
        self.used: tuple[tuple[Any, Any], ...] = tuple(
            (owner, owner._value) for owner in owners if owner is not None
        )
        self.enclosed: list[tuple[Any, Any]] = [(value, value._value) for value in enclosed]

    def run(self) -> list[Any]:
        """Run the function again; return its outputs' nodes, checked to have the same origins."""
        for owner, data in self.used:
            if owner._value is not data:
                raise self._differs(
                    f"uses an array of shape {owner.shape}, not among its arguments, that was "
                    "written to in the meantime",
                    "pass it as an argument, or write to it after backward",
                )
        later = [value for value in enclosed_by(self.fun) if isinstance(value, AnyWrapper)]
        for value, (then, data) in zip(later, self.enclosed, strict=False):
            if value is not then and value._value is not data:
                raise self._differs(*REBOUND)
        inputs = map_leaves(snapshot, restored_tree(name_of(self.fun), self.inputs))
        mode = differentiating() if self.differentiating else contextlib.nullcontext()
        began = next_sequence_number()
        with (
            recording_from(self.level),
            mode,
            noting() as notes,
            _as_given(self.given),
            keeping(self.kept, again=True),
        ):
            out = self.fun(*map(_without_static, inputs[0]), **inputs[1])
        leaves, treedef = flatten(out)
        if treedef != self.treedef:
            raise self._differs(
                f"returned {treedef}, the first time {self.treedef}", "return the same structure"
            )
        found = [_layer_at(leaves[place], self.level) for place in self.places]
        nodes: list[Any] = [None if layer is None else layer._node for layer in found]
        for node, meta in zip(nodes, self.metas, strict=True):
            if type(node) is not Node or node.seq > began or not same_space(node.meta, meta):
                now = node.meta if node else "an untracked value"
                raise self._differs(
                    f"returned {now}, the first time {meta}", "make it do the same each time"
                )
        if set(origins(nodes, began)) != set(self.parents):
            raise self._differs(*REBOUND)
        if [content for own, content in notes if own == self.level] != self.notes:
            raise self._differs(
                "used an array that is not tracked, with other values than the first time",
                "pass the array as an argument, or write to it after backward",
            )
        return nodes

    def _differs(self, what: str, fix: str) -> CheckpointError:
        return CheckpointError(
            f"checkpoint: {name_of(self.fun)}, run again in backward, {what}. Fix: {fix}."
        )

    @property
    def label(self) -> str:
        """The text that a drawing shows."""
        return name_of(self.fun)

    def held_arrays(self) -> list[Any]:
        """Return the arrays that are kept to run the function again."""
        held = [getattr(leaf, "array", leaf) for leaf in flatten(self.inputs)[0]]
        if self.kept is not None:
            held += flatten([result for _, result in self.kept.results])[0]
        return [native(leaf) for leaf in held if is_array(leaf)]


@contextlib.contextmanager
def _as_given(given: Given) -> Generator[None]:
    """Give arguments their values of the first call in a `with` block, for closures too."""
    later: list[tuple[Any, Any]] = []
    for reference, then in given:
        variable = reference()
        if variable is not None and variable._value is not then._value:
            later.append((variable, snapshot(variable)))
            _put(variable, then)
    try:
        yield
    finally:
        for variable, now in later:
            _put(variable, now)


def _put(variable: Any, held: Any) -> None:
    variable.__class__, variable._value, variable._node = type(held), held._value, held._node


def _below(leaf: Any, level: int) -> Any:
    """Take off the derivatives of transforms that ended inside the transform of this level."""
    while level_of(leaf) > level:
        if leaf._is_batched:  # a batch has to be mapped over again
            return make_wrapper(type_of(leaf), _below(leaf._value, level), leaf._node)
        leaf = leaf._value
    return snapshot(leaf)


def _layer_at(leaf: Any, level: int) -> Any:
    return next((layer for layer in layers(leaf) if is_at(layer, level)), None)


def _owner(node: Node | Leaf) -> Any:
    return node.owner() if isinstance(node, Leaf) and node.owner is not None else None


def _pulled_back(xp: Any, g: Any, rerun: _Rerun) -> tuple[Any, ...]:  # noqa: ARG001  a formula's form
    """Run a checkpoint again, and pull its cotangents back through the recording."""
    cotangents = g if len(rerun.metas) > 1 else (g,)
    # On the tape, variables arrive where backward itself is recorded. Under transforms, the
    # levels below record it.
    graph = rerun.level == TAPE_LEVEL and any(isinstance(c, AnyWrapper) for c in cotangents)
    roots = [(n, c) for n, c in zip(rerun.run(), cotangents, strict=True) if c is not None]
    arrived = backward_pass(
        roots, retain_graph=graph, create_graph=graph, targets=set(rerun.parents), cut=True
    )
    return tuple(arrived.get(parent) for parent in rerun.parents)
