"""Checks of what a user hands in: arrays to differentiate, gradients, what a rule returned.

What a user's rule returned is checked each time; the library's own are checked by its tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import find_backend
from gradwrap.core.dynamic import SEQUENCE, TUPLE, type_of
from gradwrap.errors import BackwardError, NonDifferentiableInputError, RuleResultError

if TYPE_CHECKING:
    from gradwrap.core.backend import Backend
    from gradwrap.core.node import Node
    from gradwrap.core.space import Meta

__all__ = ["check_differentiable", "check_gradient", "check_result", "check_tangent"]


def check_differentiable(backend: Backend, data: Any, what: str) -> None:
    """Refuse arrays that have no derivative: integers, bools, objects."""
    if str(data.dtype) == "object":
        raise NonDifferentiableInputError(
            f"{what} has dtype object. gradwrap differentiates arrays of numbers. "
            "Fix: convert it, for example with np.asarray(x, dtype=np.float64)."
        )
    if not backend.is_numeric(data) or not backend.is_float(data):
        raise NonDifferentiableInputError(
            f"{what} has dtype {data.dtype}; only floating-point and complex arrays can be "
            "differentiated. Fix: cast it, for example x.astype(np.float64)."
        )


def check_gradient(value: Any, meta: Meta, what: str) -> None:
    fix = "Fix: give an array of its shape and dtype, or None."
    if not hasattr(value, "shape"):
        raise BackwardError(f"{what} is a {type(value).__name__}, the array is {meta}. {fix}")
    if tuple(value.shape) != meta.shape:
        shape = tuple(value.shape)
        raise BackwardError(f"{what} has shape {shape}, the array has {meta.shape}. {fix}")
    if value.dtype != meta.dtype:
        raise BackwardError(f"{what} has dtype {value.dtype}, the array has {meta.dtype}. {fix}")


def check_result(cotangent: Any, meta: Meta, node: Node, index: int) -> None:
    """Refuse a cotangent that is not an array of the argument's library, shape and kind.

    The output's shape will do where the argument was broadcast to it.
    """
    op = node.op
    argument = op.rule.arrays[0 if op.rule.variadic else index]
    where = f"The rule of {op.name} for its argument {argument} returned"
    if isinstance(cotangent, SEQUENCE):
        raise RuleResultError(
            f"{where} a {type(cotangent).__name__} of {len(cotangent)}; a formula returns one "
            "cotangent, an array. Fix: give one formula for each array argument, "
            f"defvjp({op.name}, {', '.join(f'lambda xp, g, {a}: ...' for a in op.rule.arrays)})."
        )
    backend = find_backend(type_of(cotangent))
    if backend is None or backend.name != op.backend.name:
        got = "None" if cotangent is None else _kind(cotangent)
        raise RuleResultError(
            f"{where} {got}; the argument is an array of {op.backend.name}, {meta}. "
            "Fix: return an array of that shape and dtype, made with xp."
        )
    shape = tuple(cotangent.shape)
    metas: Any = node.meta  # several for a function of several outputs
    outputs: tuple[Meta, ...] = metas if isinstance(metas, TUPLE) else (metas,)
    if shape != meta.shape and not any(
        shape == out.shape and _broadcasts_to(meta.shape, shape) for out in outputs
    ):
        raise RuleResultError(
            f"{where} a cotangent of shape {shape}; the argument has shape {meta.shape}, the "
            f"output {', '.join(str(out.shape) for out in outputs)}. "
            f"Fix: return the argument's shape, for example with xp.broadcast_to(..., "
            f"{argument}_meta.shape)."
        )
    floating, is_complex = op.backend.dtype_kind(cotangent.dtype)
    if not floating or (is_complex and not meta.is_complex and not node.meta.is_complex):
        cast = "xp.real(...)" if is_complex else f"xp.astype(..., {argument}_meta.dtype)"
        raise RuleResultError(
            f"{where} a cotangent of dtype {cotangent.dtype}; the argument has {meta.dtype}. "
            f"Fix: return that, for example with {cast}."
        )


def check_tangent(result: Any, out: Any, op: str, argument: str) -> None:
    """Refuse a tangent that is not an array of the output's library, shape and kind.

    A shape that broadcasts to the output's will do.
    """
    where = f"The JVP of {op} for its argument {argument} returned"
    if not isinstance(out, SEQUENCE):
        return _check_tangent_of(result, out, where, "")
    if not isinstance(result, SEQUENCE) or len(result) != len(out):
        got = len(result) if isinstance(result, SEQUENCE) else _kind(result)
        raise RuleResultError(
            f"{where} {got}{' tangents' if isinstance(got, int) else ''} for {len(out)} outputs. "
            "Fix: return a tuple with a tangent for each."
        )
    for index, (part, one) in enumerate(zip(result, out, strict=True)):
        _check_tangent_of(part, one, where, f" {index}")
    return None


def _check_tangent_of(tangent: Any, out: Any, where: str, which: str) -> None:
    wanted = find_backend(type_of(out))
    if wanted is None or not wanted.is_float(out):
        return
    space = f"{out.dtype}[{', '.join(map(str, out.shape))}]"
    backend = find_backend(type_of(tangent))
    if backend is None or backend.name != wanted.name:
        got = "None" if tangent is None else _kind(tangent)
        raise RuleResultError(
            f"{where} {got}; the output{which} is an array of {wanted.name}, {space}. "
            "Fix: return an array of that shape and dtype, made with xp."
        )
    shape = tuple(tangent.shape)
    if not _broadcasts_to(shape, tuple(out.shape)):
        raise RuleResultError(
            f"{where} a tangent of shape {shape}; the output{which} has shape "
            f"{tuple(out.shape)}. Fix: return the output's shape, which t does not have where the "
            "function is not elementwise."
        )
    floating, is_complex = backend.dtype_kind(tangent.dtype)
    if not floating or (is_complex and not wanted.dtype_kind(out.dtype)[1]):
        cast = "xp.real(...)" if is_complex else "xp.astype(..., out.dtype)"
        raise RuleResultError(
            f"{where} a tangent of dtype {tangent.dtype}; the output{which} has {out.dtype}. "
            f"Fix: return that, for example with {cast}."
        )


def _kind(value: Any) -> str:
    backend = find_backend(type_of(value))
    return f"a {type(value).__name__}" if backend is None else f"an array of {backend.name}"


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(a in (1, b) for a, b in pairs)
