"""Runs of a function on wrapped arguments, and backward passes through the recording."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.graph.alignment import check_labels, labels_of_results
from gradwrap.core.graph.backward import backward_pass
from gradwrap.core.graph.linear import LinearMap
from gradwrap.core.graph.memory import latest_op, note_memory
from gradwrap.core.graph.thorough import thorough_pass
from gradwrap.core.graph.untaken import ran_adapted
from gradwrap.core.levels.levels import (
    current_watch,
    is_differentiating,
    new_level,
    next_sequence_number,
)
from gradwrap.core.levels.wrapper import AnyWrapper, is_at
from gradwrap.core.library.backend import backend_of, is_array, own_buffers
from gradwrap.core.library.buffers import Guarded
from gradwrap.core.observing.hooks import leaf_hooks
from gradwrap.core.values.comparing import described as described_array
from gradwrap.core.values.comparing import kind_of, mismatch
from gradwrap.core.values.dynamic import TUPLE, class_of, type_of
from gradwrap.core.values.tree import TreeDef, flatten, flatten_with_paths, map_leaves, registered
from gradwrap.errors import (
    BackwardError,
    NonDifferentiableInputError,
    NonScalarOutputError,
    NotAnArrayError,
)
from gradwrap.transforms.argnums import described, name_of, selected
from gradwrap.transforms.arguments import Tracked, given_to, unwrapped, without_inner
from gradwrap.transforms.confirming import Call
from gradwrap.transforms.running import check_kept, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.graph.thorough import Nans
    from gradwrap.core.library.backend import Backend
    from gradwrap.typing.signatures import Argnums


class Recording:
    """One run of a function on wrapped arguments: its outputs and its tracked arguments."""

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: Argnums,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        *,
        lasting: bool = False,
    ) -> None:
        self.name: str = name_of(fun)
        self.level: int = new_level()
        self.tracked: list[Tracked] = []
        self._lasting = lasting
        self._guarded: list[Guarded] = []
        places: dict[int | str, Tracked] = {}
        for place in selected(fun, argnums, args, kwargs):
            if place not in places:
                value = args[place] if isinstance(place, int) else kwargs[place]
                name = functools.partial(described, fun, place)
                places[place] = Tracked(value, self.level, name, self._hold)
            self.tracked.append(places[place])
        entered = [
            places[i].value if i in places else given_to(arg, self._hold)
            for i, arg in enumerate(args)
        ]
        named = {
            key: places[key].value if key in places else given_to(value, self._hold)
            for key, value in kwargs.items()
        }
        is_outermost = not is_differentiating()
        if is_outermost:
            ran_adapted.set(False)
        self.out: Any = without_inner(run(fun, entered, named), self.level)
        self.is_adapted: bool = ran_adapted.get()
        self._call: Call | None = None
        if is_outermost and self.is_adapted:
            self._call = Call(fun, args, kwargs, places, self.out)
        if is_outermost:
            out = self.out
            node = out._node if isinstance(out, AnyWrapper) else None
            is_ours = node is not None and node.meta.level == self.level
            if not is_ours or isinstance(out._value, AnyWrapper):
                check_kept(fun, out, [args, kwargs], self.level)
        if labels_of_results:
            leaves, _ = flatten(self.out)
            check_labels(leaf._node for leaf in leaves if is_at(leaf, self.level))

    def _hold(self, backend: Backend, array: Any) -> Any:
        """Protect an argument against later writes by its owner, and return it."""
        kept = backend.kept(array, self.level, not self._lasting)
        if kept is array:
            return array
        watch = current_watch()
        if watch is not None and watch.keeps:
            return array
        if type(kept) is Guarded:
            self._guarded.append(kept)
            return array
        return kept

    def _check_arguments(self) -> None:
        """Raise if an argument was overwritten since the function was called."""
        reader = next_sequence_number()
        for one in self._guarded:
            one.checked(self.name, reader)

    def unwrapped(self, tree: Any) -> Any:
        """Unwrap a result of the function for the caller of the transform."""
        return unwrapped(tree, self.level)

    def handed_out(self, tree: Any) -> Any:
        """Unwrap a result, and copy it if the recording still needs its buffer."""

        def own(leaf: Any) -> Any:
            result = self.unwrapped(leaf)
            is_shared = result is not leaf and is_array(result)
            if not is_shared or isinstance(result, AnyWrapper):
                return result
            if not hasattr(type_of(result), "__setitem__"):
                return result  # a NumPy scalar, which cannot be written to
            return backend_of(result).copy(result)

        return map_leaves(own, tree)

    def is_tracked(self, value: Any) -> bool:
        """Tell if a value depends on the arguments under differentiation."""
        return is_at(value, self.level)

    def linear_map(self, outputs: Sequence[Any]) -> LinearMap:
        """Return the derivative of outputs with respect to the arguments' leaves."""
        if self._guarded:
            self._check_arguments()
        leaves = [leaf for tracked in self.tracked for leaf in tracked.leaves]
        inputs = [None if leaf is None else leaf[0] for leaf in leaves]
        return LinearMap(inputs, outputs, thorough=self.is_adapted)

    def arrived(
        self,
        outputs: Sequence[Any],
        cotangents: Sequence[Any],
        *,
        keep: bool = True,
        create_graph: bool = False,
    ) -> dict[Any, Any]:
        """Pull cotangents of outputs back to the leaves of the tracked arguments.

        With `create_graph` the pass itself is recorded; the cotangents are variables then.
        """
        roots = [
            (output._node, cotangent)
            for output, cotangent in zip(outputs, cotangents, strict=True)
            if is_at(output, self.level)
        ]
        if self._guarded:
            self._check_arguments()
        try:
            if self.is_adapted:
                confirms = self.confirming(outputs, cotangents)
                arrived = thorough_pass(
                    roots, retain_graph=keep, create_graph=create_graph, confirms=confirms
                )
            else:
                arrived = backward_pass(roots, retain_graph=keep, create_graph=create_graph)
        except MemoryError as error:
            note_memory(error, f"in the backward pass of {self.name}, at {latest_op(error)}")
            raise
        leaf: Any
        for leaf in arrived:
            if leaf.hooks is not None:
                leaf_hooks(arrived)
                break
        return arrived

    def confirming(
        self, outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Callable[[Nans], bool] | None:
        """Return what tells if the values of adapted code have gradients in place of NaN."""
        if self._call is None:
            return None
        return functools.partial(self._call.confirms, outputs, cotangents)

    def pull(
        self, outputs: Sequence[Any], cotangents: Sequence[Any], *, keep: bool = False
    ) -> list[Any]:
        """Return the gradients of the tracked arguments, each in its argument's form."""
        arrived = self.arrived(outputs, cotangents, keep=keep)
        gradients = [g for tracked in self.tracked for g in tracked.gradients(arrived)]
        own_buffers(gradients, cotangents)
        iterator = iter(gradients)
        return [
            tracked.restored([next(iterator) for _ in tracked.originals])
            for tracked in self.tracked
        ]


def out_and_aux(name: str, returned: Any, has_aux: bool) -> tuple[Any, Any]:
    """Split a function's result into the output and `aux`."""
    if not has_aux:
        return returned, None
    if not isinstance(returned, TUPLE) or len(returned) != 2:
        is_shown = returned is None or isinstance(returned, TUPLE)
        got = kind_of(returned) if is_shown else class_of(returned)
        raise NotAnArrayError(
            f"has_aux=True needs a function that returns a pair (out, aux); {name} "
            f"returned {got}. Fix: return out, aux."
        )
    return returned[0], returned[1]


def without_labels(value: Any) -> Any:
    """Return the array of a labelled value; other values unchanged."""
    kind = type_of(value)
    if kind in registered and (hasattr(kind, "dtype") or hasattr(kind, "_stands_for")):
        return flatten(value)[0][0]
    return value


# Where a pass back starts -------------------------------------------------------------------------


def ones_of(out: Any) -> Any:
    """Return a cotangent of ones for an output."""
    return out._backend.ones_like(out._value)


def scalar_seed(recording: Recording, out: Any, holomorphic: bool) -> Any:
    """Return the initial cotangent of a scalar's gradient; None for a constant."""
    is_tracked = recording.is_tracked(out)
    if not is_tracked or out.shape != () or holomorphic or out._node.meta.is_complex:
        _check_scalar(recording, out, holomorphic)
    return ones_of(out) if is_tracked else None


def elementwise_seed(recording: Recording, out: Any) -> Any:
    """Return the cotangent of ones for an elementwise function; None for a constant."""
    if not is_array(out) and not _is_number(out):
        raise NotAnArrayError(
            "elementwise_grad needs a function that returns arrays; "
            f"{recording.name} returned {kind_of(out)}. Fix: return the array alone."
        )
    if _is_complex(out):
        raise NonScalarOutputError(
            f"elementwise_grad needs real outputs; {recording.name} returned "
            f"{getattr(out, 'dtype', 'a complex')}. Fix: return .real, .imag or abs of it, "
            "or use gradwrap.vjp."
        )
    return ones_of(out) if recording.is_tracked(out) else None


def checked_cotangents(cotangent: Any, outputs: Sequence[Any], treedef: TreeDef) -> list[Any]:
    """Return a cotangent's leaves, checked against the shape and dtype of the outputs."""
    pairs, given = flatten_with_paths(cotangent, "cotangent")
    if given != treedef:
        raise BackwardError(
            f"the cotangent has the structure {given}, the output has {treedef}. "
            "Fix: pass the structure of the output."
        )
    return [
        _checked_cotangent(leaf, output, path) if isinstance(output, AnyWrapper) else None
        for (path, leaf), output in zip(pairs, outputs, strict=True)
    ]


def _checked_cotangent(value: Any, output: Any, path: str) -> Any:
    if _is_number(value) and not is_array(value) and output.shape == ():
        if isinstance(value, complex) and not _is_complex(output):
            raise BackwardError(
                f"the {path} is complex, the output is {described_array(output)}. "
                "Fix: pass a real number."
            )
        return ones_of(output) * value
    found = mismatch(value, output._backend, output._backend.meta(output._value, 0))
    if found is None:
        return value
    raise BackwardError(f"the {path} {found.contrast(value, output, 'output')}.")


# Errors -------------------------------------------------------------------------------------------


def _check_scalar(recording: Recording, out: Any, holomorphic: bool) -> None:
    """Refuse an output that has no gradient: not a scalar, or complex."""
    name = recording.name
    if not is_array(out) and not _is_number(out):
        raise NotAnArrayError(
            f"grad needs a function that returns a real scalar; {name} returned {kind_of(out)}. "
            "Fix: return the scalar alone, or with has_aux=True a pair (scalar, anything)."
        )
    shape = tuple(getattr(out, "shape", ()))
    if shape != ():
        raise NonScalarOutputError(
            f"grad needs a function that returns a scalar; {name} returned an array of shape "
            f"{shape}. Fix: reduce it, for example with .sum(); or use gradwrap.vjp, which takes "
            "a cotangent of that shape, or gradwrap.elementwise_grad for an elementwise function."
        )
    if holomorphic:
        _check_holomorphic(recording, out)
    elif _is_complex(out):
        raise NonScalarOutputError(
            f"grad needs a function that returns a real scalar; {name} returned "
            f"{getattr(out, 'dtype', 'a complex')}. Fix: return .real, .imag or abs of it, or "
            "pass holomorphic=True for the complex derivative of a holomorphic function."
        )
    # A constant has a zero gradient; an index or a truth value was hardly meant to have one.
    if isinstance(out, AnyWrapper) and not _dtype_kind(out)[0]:
        raise NonScalarOutputError(
            f"grad needs a function that returns a real scalar; {name} returned {out.dtype}. "
            "Fix: return a floating-point number."
        )


def _check_holomorphic(recording: Recording, out: Any) -> None:
    for tracked in recording.tracked:
        for leaf in tracked.leaves:
            if leaf is not None and not leaf[0].meta.is_complex:
                raise NonDifferentiableInputError(
                    f"holomorphic=True needs complex arguments; {recording.name} was called with "
                    f"{leaf[0].meta}. Fix: cast it, for example x.astype(np.complex128), or "
                    "leave holomorphic=True out."
                )
    if not _is_complex(out):
        raise NonScalarOutputError(
            f"holomorphic=True needs a complex output; {recording.name} returned "
            f"{getattr(out, 'dtype', kind_of(out))}. Fix: leave holomorphic=True out."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _dtype_kind(out: Any) -> tuple[bool, bool]:
    kind: tuple[bool, bool] = out._backend.dtype_kind(out.dtype)
    return kind


def _is_complex(out: Any) -> bool:
    return _dtype_kind(out)[1] if isinstance(out, AnyWrapper) else isinstance(out, complex)
