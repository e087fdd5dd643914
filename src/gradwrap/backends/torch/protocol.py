"""PyTorch's protocol: how `tensor * x` and unmodified `torch.sin(x)` reach an operation.

A function that torch and the standard have under one name, with one meaning, goes to the standard's
function; so does one that differs in names alone. Other functions raise an error that names a
replacement.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from gradwrap.core.array.operators import operation_of_method
from gradwrap.core.levels.wrapper import is_recorded, unwrapped_key
from gradwrap.core.table.registry import find_op, op_of_function
from gradwrap.errors import NoRuleError, TrackedValueError

OTHER_NAMES = {
    "amax": "max",
    "amin": "min",
    "cat": "concat",
    "clamp": "clip",
    "concatenate": "concat",
    "div": "divide",
    "permute": "permute_dims",
}
"""The standard's names of functions that torch, and neither Python nor NumPy, calls otherwise."""

SAME = frozenset(
    {
        *("all", "any", "broadcast_to", "clip", "concat", "einsum", "flip", "matmul", "max"),
        *("mean", "min", "moveaxis", "ones_like", "permute_dims", "prod", "reshape", "roll"),
        *("stack", "sum", "tile", "tril", "triu", "vecdot", "where", "zeros_like"),
        *("linalg.det", "linalg.inv", "linalg.slogdet", "linalg.solve"),
    }
)
"""The functions, besides the elementwise ones, that mean the same in torch and in the standard."""

OTHER_KEYWORDS = {"dim": "axis", "dims": "axis", "keepdim": "keepdims", "shifts": "shift"}
FIRST = ("input", "tensors")


def torch_function(
    cls: Any,
    function: Any,
    types: Any,  # noqa: ARG001  the protocol's
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """Answer `__torch_function__`."""
    kwargs = kwargs or {}
    name = getattr(function, "__name__", str(function))
    standard = _standard_name(name)
    if name in ("max", "min") and (len(args) > 1 or "dim" in kwargs):
        standard = ""  # torch's gives positions too, or compares two tensors
    if not _means_the_same(standard):
        return _otherwise(cls, function, name, args, kwargs)
    args = (*(kwargs.pop(word) for word in FIRST if word in kwargs), *args)
    named = {OTHER_KEYWORDS.get(word, word): value for word, value in kwargs.items()}
    if "out" in named:
        raise NoRuleError(f"torch.{name}(out=...) cannot be recorded. Fix: omit out=.")
    op = find_op(standard)
    rule = None if op is None else op.rule_for("torch")
    if rule is not None and rule.keyword_only:  # torch takes these by position too
        count = len(rule.arrays)
        words = [word for word in rule.statics if word != "dtype"]
        args, by_position = args[:count], args[count:]
        named.update(zip(words, by_position, strict=False))
    found = functools.reduce(getattr, standard.split("."), cls._namespace)
    if standard == "linalg.solve":
        found = functools.partial(_solve, found)
    return found(*args, **named)


def _solve(solve: Any, A: Any, B: Any, *, left: bool = True) -> Any:
    """Solve A X = B, or X A = B; a batch of vectors is not read as a matrix."""
    if not left:
        return _solve(solve, A.mT, B.mT).mT
    if B.ndim == 1 or B.ndim != A.ndim - 1 or tuple(B.shape) != tuple(A.shape[:-1]):
        return solve(A, B)
    return solve(A, B[..., None])[..., 0]


def _standard_name(name: str) -> str:
    """Return the standard's name of a torch function, found as an operator or ufunc."""
    if hasattr(operator, name):  # which has no swapped ones, such as `rsub`
        method = name if name.startswith("__") else f"__{name}__"
        found = operation_of_method(method)
        if found is not None:
            return str(found.name)
    ufunc = op_of_function(getattr(np, name, None))
    if ufunc is not None:
        return ufunc.name
    return OTHER_NAMES.get(name) or name.replace("linalg_", "linalg.")


def _means_the_same(name: str) -> bool:
    op = find_op(name)
    rule = None if op is None else op.rule_for("torch")
    is_elementwise = rule is not None and (
        rule.kind.is_elementwise or not (rule.kind.is_differentiable or rule.statics)
    )
    return is_elementwise or name in SAME


def _otherwise(
    cls: Any, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function without a counterpart on the data; refuse tracked values."""
    if not is_recorded(args) and not is_recorded(kwargs):
        named = {word: unwrapped_key(value) for word, value in kwargs.items()}
        return cls._plain(function(*unwrapped_key(args), **named))
    if name == "__setitem__" or (name.endswith("_") and not name.endswith("__")):
        raise TrackedValueError(
            f"{name} would write a tracked value into a plain torch.Tensor, which cannot hold its "
            "gradient. Fix: make the tensor with gradwrap.wrap(torch.zeros(...)), "
            "or write x = x + y for x += y."
        )
    raise NoRuleError(
        f"{_path(function)} has no rule, and an argument is tracked. Fix: take the function from "
        "the array's own namespace, xp = x.__array_namespace__(), by the name that the Array API "
        f"standard has for it; or make it an operation: {name} = gradwrap.primitive("
        f"{_path(function)}), and give it a rule: gradwrap.defvjp({name}, lambda xp, g, x: ...)."
    )


def _path(function: Any) -> str:
    name = getattr(function, "__name__", "function")
    module = getattr(function, "__module__", None) or "torch"
    return f"{module}.{name}" if module.startswith("torch.nn") else f"torch.{name}"
