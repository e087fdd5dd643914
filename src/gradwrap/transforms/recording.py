"""A function's run on wrapped arguments, and the way back through what it recorded."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of, own_buffers
from gradwrap.core.backward import backward_pass
from gradwrap.core.dynamic import TUPLE
from gradwrap.core.hooks import leaf_hooks
from gradwrap.core.levels import differentiating, new_level
from gradwrap.core.space import same_shape
from gradwrap.core.tree import TreeDef, flatten_with_paths
from gradwrap.core.variable import AnyVariable, Variable
from gradwrap.errors import (
    BackwardError,
    NonDifferentiableInputError,
    NonScalarOutputError,
    NotAnArrayError,
)
from gradwrap.transforms.arguments import (
    Argnums,
    Tracked,
    described,
    is_array,
    left_behind,
    name_of,
    selected,
    unwrapped,
    wrapped_untracked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "Recording",
    "checked_cotangents",
    "described_space",
    "elementwise_seed",
    "ones_of",
    "out_and_aux",
    "scalar_seed",
]


class Recording:
    """A function's run on wrapped arguments: what came out, and what it was made from."""

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: Argnums,
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> None:
        self.name: str = name_of(fun)
        self.level: int = new_level()
        self.tracked: list[Tracked] = []
        places: dict[int | str, Tracked] = {}
        for place in selected(fun, argnums, args, kwargs):
            if place not in places:
                value = args[place] if isinstance(place, int) else kwargs[place]
                name = functools.partial(described, fun, place)
                places[place] = Tracked(value, self.level, name)
            self.tracked.append(places[place])
        entered = [
            places[i].value if i in places else wrapped_untracked(arg) for i, arg in enumerate(args)
        ]
        named = {
            key: places[key].value if key in places else wrapped_untracked(value)
            for key, value in kwargs.items()
        }
        with differentiating():
            self.out: Any = left_behind(fun(*entered, **named), self.level)

    def unwrapped(self, tree: Any) -> Any:
        """What the function returned, as the caller of the transform gets it."""
        return unwrapped(tree, self.level)

    def is_tracked(self, value: Any) -> bool:
        """Whether a value was computed from the arguments under differentiation."""
        return (
            isinstance(value, AnyVariable)
            and value._node is not None
            and value._node.meta.level == self.level
        )

    def arrived(
        self, outputs: Sequence[Any], cotangents: Sequence[Any], *, keep: bool = True
    ) -> dict[Any, Any]:
        """What arrives at the leaves of the tracked arguments."""
        roots = [
            (output._node, cotangent)
            for output, cotangent in zip(outputs, cotangents, strict=True)
            if self.is_tracked(output)
        ]
        arrived = backward_pass(roots, retain_graph=keep)
        leaf_hooks(arrived)
        return arrived

    def pull(
        self, outputs: Sequence[Any], cotangents: Sequence[Any], *, keep: bool = False
    ) -> list[Any]:
        """The gradients of the tracked arguments, each in its argument's form."""
        arrived = self.arrived(outputs, cotangents, keep=keep)
        gradients = [g for tracked in self.tracked for g in tracked.gradients(arrived)]
        own_buffers(gradients, cotangents)
        iterator = iter(gradients)
        return [
            tracked.restored([next(iterator) for _ in tracked.originals])
            for tracked in self.tracked
        ]


def out_and_aux(name: str, returned: Any, has_aux: bool) -> tuple[Any, Any]:
    """Take apart what a function returned."""
    if not has_aux:
        return returned, None
    if not isinstance(returned, TUPLE) or len(returned) != 2:
        raise NotAnArrayError(
            f"has_aux=True needs a function that returns a pair (out, aux); {name} "
            f"returned {_kind(returned)}. Fix: return out, aux."
        )
    return returned[0], returned[1]


def scalar_seed(recording: Recording, out: Any, holomorphic: bool) -> Any:
    """Check that an output is a scalar with a gradient; give the cotangent to start from."""
    name = recording.name
    if not isinstance(out, AnyVariable) and not is_array(out) and not _is_number(out):
        raise NotAnArrayError(
            f"grad needs a function that returns a real scalar; {name} returned {_kind(out)}. "
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
    if not recording.is_tracked(out):
        _check_constant(name, out)
        return None
    return ones_of(out)


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
            f"{getattr(out, 'dtype', _kind(out))}. Fix: leave holomorphic=True out."
        )


def _check_constant(name: str, out: Any) -> None:
    """A constant has a zero gradient; an index or a truth value was hardly meant to have one."""
    dtype = getattr(out, "dtype", None)
    if dtype is not None and not _is_float(out):
        raise NonScalarOutputError(
            f"grad needs a function that returns a real scalar; {name} returned {dtype}. "
            "Fix: return a floating-point number."
        )


def elementwise_seed(recording: Recording, out: Any) -> Any:
    """The cotangent of ones for an output of an elementwise function."""
    if not isinstance(out, AnyVariable) and not is_array(out) and not _is_number(out):
        raise NotAnArrayError(
            "elementwise_grad needs a function that returns arrays; "
            f"{recording.name} returned {_kind(out)}. Fix: return the array alone."
        )
    if _is_complex(out):
        raise NonScalarOutputError(
            f"elementwise_grad needs real outputs; {recording.name} returned "
            f"{getattr(out, 'dtype', 'a complex')}. Fix: return .real, .imag or abs of it, "
            "or use gradwrap.vjp."
        )
    return ones_of(out) if recording.is_tracked(out) else None


def ones_of(out: Any) -> Any:
    """A cotangent of ones for an output."""
    return out._backend.ones_like(out._data)


def _kind(value: Any) -> str:
    if isinstance(value, TUPLE):
        return f"a tuple of {len(value)}"
    return "None" if value is None else f"a {type(value).__name__}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _is_complex(out: Any) -> bool:
    if isinstance(out, AnyVariable):
        return bool(out._backend.dtype_kind(out.dtype)[1])
    return isinstance(out, complex)


def _is_float(out: Any) -> bool:
    return not isinstance(out, AnyVariable) or bool(out._backend.dtype_kind(out.dtype)[0])


def checked_cotangents(cotangent: Any, outputs: Sequence[Any], treedef: TreeDef) -> list[Any]:
    """The leaves of a cotangent, each of the shape and dtype of its output."""
    pairs, given = flatten_with_paths(cotangent, "cotangent")
    if given != treedef:
        raise BackwardError(
            f"the cotangent has the structure {given}, the output has {treedef}. "
            "Fix: pass the structure of the output."
        )
    return [
        _checked_cotangent(leaf, output, path) if isinstance(output, AnyVariable) else None
        for (path, leaf), output in zip(pairs, outputs, strict=True)
    ]


def _checked_cotangent(value: Any, output: Any, path: str) -> Any:
    if not is_array(value):
        return _number_as_array(value, output, path)
    if backend_of(value).name != output._backend.name:
        raise BackwardError(
            f"the {path} is an array of {backend_of(value).name}, the output is one of "
            f"{output._backend.name}. Fix: convert it."
        )
    if not same_shape(tuple(value.shape), tuple(output.shape)) or value.dtype != output.dtype:
        raise _not_of_the_space(value, output, path)
    return value


def _number_as_array(value: Any, output: Variable[Any], path: str) -> Any:
    """A Python number as the cotangent of a scalar output."""
    if isinstance(value, complex) and not _is_complex(output):
        raise BackwardError(
            f"the {path} is complex, the output is {described_space(output)}. "
            "Fix: pass a real number."
        )
    if not _is_number(value) or output.shape != ():
        raise _not_of_the_space(value, output, path)
    return ones_of(output) * value


def _not_of_the_space(value: Any, output: Variable[Any], path: str) -> BackwardError:
    return BackwardError(
        f"the {path} is {described_space(value)}, the output is {described_space(output)}. "
        "Fix: pass an array of the output's shape and dtype."
    )


def described_space(array: Any) -> str:
    """An array's dtype and shape, as in `float64[2, 3]`."""
    if not hasattr(array, "dtype"):
        return _kind(array)
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"
