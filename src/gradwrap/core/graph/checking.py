"""Checks of user input: arrays to differentiate, gradients, and the results of rules.

The results of a user's rule are checked each time; the library's own are checked by its tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.library.backend import find_backend
from gradwrap.core.values.comparing import kind_of, mismatch
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, class_of, type_of
from gradwrap.errors import BackwardError, NonDifferentiableInputError, RuleResultError

if TYPE_CHECKING:
    from gradwrap.core.graph.node import Node
    from gradwrap.core.library.backend import Backend
    from gradwrap.core.values.space import Meta


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
    """Refuse a gradient that is not an array of this shape and dtype."""
    found = mismatch(value, None, meta)
    if found is not None:
        part, verb = (f"{found.part} ", "has") if hasattr(meta, found.part) else ("", "is")
        raise BackwardError(
            f"{what} {verb} {part}{found.got}, the array {verb} {getattr(meta, found.part, meta)}. "
            "Fix: give an array of its shape and dtype, or None."
        )


def check_result(cotangent: Any, meta: Meta, node: Node, index: int) -> None:
    """Refuse a cotangent that is not an array of the argument's library, shape and kind.

    If the argument was broadcast, the cotangent may have the shape of the output.
    """
    op: Any = node.op
    argument = op.rule.arrays[0 if op.rule.variadic else index]
    where = f"The rule of {op.name} for its argument {argument} returned"
    if isinstance(cotangent, SEQUENCE):
        raise RuleResultError(
            f"{where} {class_of(cotangent)} of {len(cotangent)}; a formula returns one "
            "cotangent, an array. Fix: give one formula for each array argument, "
            f"defvjp({op.name}, {', '.join(f'lambda xp, g, {a}: ...' for a in op.rule.arrays)})."
        )
    metas: Any = node.meta  # several for a function of several outputs
    outputs: tuple[Meta, ...] = metas if isinstance(metas, TUPLE) else (metas,)
    found = mismatch(
        cotangent,
        op.backend,
        meta,
        dtypes="floating" if node.meta.is_complex else "castable",
        shapes=lambda shape, own: (
            shape == own
            or any(shape == out.shape and _broadcasts_to(own, shape) for out in outputs)
        ),
    )
    if found is not None:
        problem = found.message(
            "a cotangent",
            "the argument",
            op.backend,
            meta,
            shape=f", the output {', '.join(str(out.shape) for out in outputs)}. Fix: return the "
            f"argument's shape, for example with xp.broadcast_to(..., {argument}_meta.shape)",
            dtype=f"{argument}_meta.dtype",
            like="made with xp",
        )
        raise RuleResultError(f"{where} {problem}")


def check_tangent(result: Any, out: Any, op: str, argument: str) -> None:
    """Refuse a tangent that is not an array of the output's library, shape and kind.

    A shape that broadcasts to the output's will do.
    """
    where = f"The JVP of {op} for its argument {argument} returned"
    if not isinstance(out, SEQUENCE):
        _check_tangent_of(result, out, where, "the output")
        return
    if not isinstance(result, SEQUENCE) or len(result) != len(out):
        got = f"{len(result)} tangents" if isinstance(result, SEQUENCE) else kind_of(result)
        raise RuleResultError(
            f"{where} {got} for {len(out)} outputs. Fix: return a tuple with a tangent for each."
        )
    for index, (part, one) in enumerate(zip(result, out, strict=True)):
        _check_tangent_of(part, one, where, f"the output {index}")


def _check_tangent_of(tangent: Any, out: Any, where: str, whose: str) -> None:
    wanted = find_backend(type_of(out))
    if wanted is None or not wanted.is_float(out):
        return
    meta = wanted.meta(out, 0)
    found = mismatch(tangent, wanted, meta, dtypes="castable", shapes=_broadcasts_to)
    if found is not None:
        remedies = {
            "shape": ". Fix: return the output's shape, which t does not have where the function "
            "is not elementwise",
            "dtype": "out.dtype",
            "like": "made with xp",
        }
        raise RuleResultError(
            f"{where} {found.message('a tangent', whose, wanted, meta, **remedies)}"
        )


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(a in (1, b) for a, b in pairs)
