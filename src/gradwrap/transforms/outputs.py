"""The outputs of a differentiated function, and the cotangents that a pass back starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.comparing import described, is_array, kind_of, mismatch
from gradwrap.core.tree import TreeDef, flatten_with_paths
from gradwrap.core.wrapper import AnyWrapper
from gradwrap.errors import (
    BackwardError,
    NonDifferentiableInputError,
    NonScalarOutputError,
    NotAnArrayError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.transforms.recording import Recording

__all__ = ["checked_cotangents", "elementwise_seed", "ones_of", "scalar_seed"]


def ones_of(out: Any) -> Any:
    """A cotangent of ones for an output."""
    return out._backend.ones_like(out._data)


def scalar_seed(recording: Recording, out: Any, holomorphic: bool) -> Any:
    """The cotangent that the gradient of a scalar starts from; None for a constant."""
    is_tracked = recording.is_tracked(out)
    if not is_tracked or out.shape != () or holomorphic or out._node.meta.is_complex:
        _check_scalar(recording, out, holomorphic)
    return ones_of(out) if is_tracked else None


def elementwise_seed(recording: Recording, out: Any) -> Any:
    """The cotangent of ones for an output of an elementwise function; None for a constant."""
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
    """The leaves of a cotangent, each of the shape and dtype of its output."""
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
                f"the {path} is complex, the output is {described(output)}. "
                "Fix: pass a real number."
            )
        return ones_of(output) * value
    found = mismatch(value, output._backend, output._backend.meta(output._data, 0))
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
