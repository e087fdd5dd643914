"""The context of a `Function`: it keeps arrays from forward, and hands them to backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from gradwrap.core.levels.levels import current_watch
from gradwrap.core.levels.wrapper import UNTRACKED, AnyWrapper, native
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.library.buffers import calling_line
from gradwrap.core.observing.watching import kept_value, restored_tree
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import InPlaceError, NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import TypeVar

    from gradwrap.core.array.variable import Variable

    A = TypeVar("A", default=Any)  # only checkers need the default, and have this package
else:
    from typing import TypeVar

    A = TypeVar("A")


class Input:
    """A stand-in for an argument of forward."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index: int = index


class Output(Input):
    """A stand-in for an output of forward."""

    __slots__ = ()


class Computed:
    """An array that forward computed, whose dependence on the arguments is unknown."""

    __slots__ = ("_kept",)

    def __init__(self, array: Any) -> None:
        watch = current_watch()
        kept = kept_value(array, UNTRACKED)
        self._kept: Any = kept if watch is None else watch.kept(kept, calling_line())

    @property
    def array(self) -> Any:
        """Return the array, unpacked if it was saved under `saved_tensors_hooks`."""
        return restored_tree("a Function", self._kept)

    def held_arrays(self) -> list[Any]:
        """Return the array, unless it is packed."""
        held = getattr(self._kept, "held_arrays", None)
        return [self._kept] if held is None else list(held())


class _Settling:
    """A replacement of kept arrays by stand-ins, which notes the arguments and outputs used."""

    def __init__(self, args: Sequence[Any], outs: Sequence[Any], marked: Sequence[Any]) -> None:
        self.inputs: set[int] = set()
        self.outputs: set[int] = set()
        self.has_computed = False
        self._marked = {id(array) for array in marked}
        self._stand_ins: dict[int, Input] = {}
        for index, out in enumerate(outs):
            if is_array(out) and id(out) not in self._marked:
                self._stand_ins.setdefault(id(out), Output(index))
        for index, arg in enumerate(args):
            if is_array(arg):
                self._stand_ins[id(arg)] = Input(index)

    def settle(self, leaf: Any) -> Any:
        found = self._stand_ins.get(id(leaf))
        if found is not None:
            (self.outputs if isinstance(found, Output) else self.inputs).add(found.index)
            return found
        if not is_array(leaf) or id(leaf) in self._marked:
            return leaf
        if isinstance(leaf, AnyWrapper):
            if leaf._node is not None:  # of an outer transform, which it belongs to
                return leaf
            leaf = native(leaf)
        backend = backend_of(leaf)
        if not backend.is_numeric(leaf):
            return leaf
        if not backend.is_float(leaf):
            return backend.copy(leaf)
        self.has_computed = True
        return Computed(leaf)


class FunctionCtx(Generic[A]):
    """Carry arrays and anything else from a `Function`'s forward to its backward.

    Forward may also set any other attribute on it, and backward may read that. To a type checker,
    `FunctionCtx[A]` keeps arrays of the type `A`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> class Clipped(gw.Function):
    ...     @staticmethod
    ...     def forward(ctx: gw.FunctionCtx, x, bound):
    ...         ctx.save_for_backward(x)
    ...         ctx.bound = bound
    ...         return np.clip(x, -bound, bound)
    ...
    ...     @staticmethod
    ...     def backward(ctx: gw.FunctionCtx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * (abs(x) < ctx.bound), None
    >>> gw.elementwise_grad(lambda x: Clipped.apply(x, 1))(np.array([0.5, 2.0]))
    array([1., 0.])
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_args",
        "_marked",
        "_materializes",
        "_origin",
        "_outs",
        "_saved",
        "needs_input_grad",
    )

    needs_input_grad: tuple[bool, ...]
    """For each argument of `apply`, whether it is tracked."""

    if TYPE_CHECKING:  # any attribute can be set, and read

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()
        self._marked: tuple[Any, ...] = ()
        self._materializes = True
        self._args: Sequence[Any] = ()
        self._outs: Sequence[Any] = ()
        self._origin: Any = None

    def save_for_backward(self, *tensors: A | None) -> None:
        """Keep arrays, or None, for `saved_tensors` in backward.

        Arguments and outputs of forward keep their place in the graph, so that backward can be
        differentiated again.

        Raises
        ------
        NotAnArrayError
            A value is neither an array nor None. Set it as an attribute of `ctx`.
        """
        for position, tensor in enumerate(tensors):
            if tensor is not None and not is_array(tensor):
                raise NotAnArrayError(
                    f"save_for_backward can only save arrays, but argument {position} is of type "
                    f"{type(tensor).__name__}. Fix: set it as an attribute, ctx.name = value."
                )
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[A, ...]:
        """Return the arrays that forward gave to `save_for_backward`."""
        return self._saved

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Mark outputs as having no derivative, so that they are not tracked.

        Backward still gets a cotangent of zeros for each of them.
        """
        self._marked = outputs

    def mark_dirty(self, *arrays: Any) -> None:
        """Raise: gradwrap never writes to the arrays it is given."""
        raise InPlaceError(
            "ctx.mark_dirty: forward must not change its arguments, which are the caller's own "
            "arrays. Fix: write to a copy in forward and return that; y = F.apply(y) then takes "
            "the place of F.apply(y)."
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether backward gets zeros or None for an output without a cotangent.

        Zeros by default; None after `set_materialize_grads(False)`.
        """
        self._materializes = value

    # What happens between forward and backward ------------------------------------------------

    def _is_marked(self, output: Any) -> bool:
        return any(output is marked for marked in self._marked)

    def _settle(self, args: Sequence[Any], outs: Sequence[Any]) -> tuple[set[int], set[int], bool]:
        """Replace kept arguments and outputs by stand-ins; return which of them are used.

        The third result says whether there is an array of floats of another origin.
        """
        settling = _Settling(args, outs, self._marked)
        self._saved = tuple(settling.settle(tensor) for tensor in self._saved)
        attributes = vars(self)
        for name, value in attributes.items():
            attributes[name] = _mapped(settling.settle, value)
        self._marked = ()
        return settling.inputs, settling.outputs, settling.has_computed

    def _at(
        self,
        args: Sequence[Any],
        outs: Sequence[Any],
        needs_input_grad: tuple[bool, ...],
        computed: Callable[[Any, str], Any] | None = None,
    ) -> FunctionCtx:
        """Return the context with the arguments and outputs of one level."""
        again = FunctionCtx(needs_input_grad)
        again._args, again._outs, again._origin = args, outs, self

        def restored(value: Any, where: str) -> Any:
            def restore(leaf: Any) -> Any:
                kind = type_of(leaf)
                if kind is Input:
                    return args[leaf.index]
                if kind is Output:
                    return outs[leaf.index]
                if kind is not Computed:
                    return leaf
                return leaf.array if computed is None else computed(leaf.array, where)

            return _mapped(restore, value)

        again._saved = tuple(
            restored(value, f"saved_tensors[{index}]") for index, value in enumerate(self._saved)
        )
        for name, value in vars(self).items():
            setattr(again, name, restored(value, name))
        return again

    def _native(self) -> FunctionCtx:
        """Return the context with native arrays only."""
        args = [native(arg) for arg in self._args]
        outs = [native(out) for out in self._outs]
        native_ctx: FunctionCtx = self._origin._at(args, outs, self.needs_input_grad)
        return native_ctx

    def _computed_arrays(self) -> list[Any]:
        """Return the arrays of floats that forward computed, wherever they are kept."""
        found: list[Any] = []

        def collect(leaf: Any) -> Any:
            if type(leaf) is Computed:
                found.extend(leaf.held_arrays())
            return leaf

        for value in (*self._saved, *vars(self).values()):
            _mapped(collect, value)
        return found

    def _tracked(self) -> list[Variable[Any]]:
        """Return the arguments that a transform outside of this backward tracks."""
        return [a for a in self._args if isinstance(a, AnyWrapper) and a._node is not None]


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to a value, or to the leaves of lists, tuples and dicts."""
    if type(value) not in (list, tuple, dict):
        return function(value)
    changed = False

    def watched(leaf: Any) -> Any:
        nonlocal changed
        new = function(leaf)
        changed = changed or new is not leaf
        return new

    mapped = map_leaves(watched, value)
    return mapped if changed else value
