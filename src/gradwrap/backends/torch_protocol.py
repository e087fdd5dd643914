"""PyTorch's protocol: how `tensor * x` and unmodified `torch.sin(x)` reach an operation.

What torch and the standard call by one name and mean by it the same goes to the standard's
function; so does what differs in names alone. All else raises, and says where to find it.
"""

from __future__ import annotations

import functools
from typing import Any

from gradwrap.core.registry import find_op
from gradwrap.core.wrapper import is_recorded, unwrapped_key
from gradwrap.errors import NoRuleError, TrackedValueError

__all__ = ["torch_function"]

OTHER_NAMES = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "cat": "concat",
    "clamp": "clip",
    "concatenate": "concat",
    "div": "divide",
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "linalg_det": "linalg.det",
    "linalg_inv": "linalg.inv",
    "linalg_slogdet": "linalg.slogdet",
    "linalg_solve": "linalg.solve",
    "lt": "less",
    "mul": "multiply",
    "ne": "not_equal",
    "neg": "negative",
    "permute": "permute_dims",
    "sub": "subtract",
    "true_divide": "divide",
    "__floordiv__": "floor_divide",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
}
"""The standard's names of functions that torch calls otherwise."""

SAME = frozenset(
    [
        *(
            "all",
            "any",
            "broadcast_to",
            "clip",
            "concat",
            "einsum",
            "flip",
            "matmul",
            "max",
            "mean",
        ),
        *("min", "moveaxis", "ones_like", "permute_dims", "prod", "reshape", "roll", "stack"),
        *("sum", "tile", "tril", "triu", "vecdot", "where", "zeros_like"),
        *("linalg.det", "linalg.inv", "linalg.slogdet", "linalg.solve"),
    ]
)
"""Those besides the elementwise ones that mean the same in torch and in the standard."""

OTHER_KEYWORDS = {"dim": "axis", "dims": "axis", "keepdim": "keepdims", "shifts": "shift"}
FIRST = ("input", "tensors")
KEYWORD_ONLY: dict[str, tuple[str, ...]] = {  # what torch takes by position too
    "all": ("axis", "keepdims"),
    "any": ("axis", "keepdims"),
    "concat": ("axis",),
    "flip": ("axis",),
    "mean": ("axis", "keepdims"),
    "max": ("axis", "keepdims"),
    "min": ("axis", "keepdims"),
    "prod": ("axis", "keepdims"),
    "roll": ("shift", "axis"),
    "stack": ("axis",),
    "sum": ("axis", "keepdims"),
    "tril": ("k",),
    "triu": ("k",),
}


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
    standard = OTHER_NAMES.get(name, name)
    if name in ("max", "min") and (len(args) > 1 or "dim" in kwargs):
        standard = ""  # torch's gives positions too, or compares two tensors
    if not _means_the_same(standard):
        return _otherwise(cls, function, name, args, kwargs)
    args = (*(kwargs.pop(word) for word in FIRST if word in kwargs), *args)
    named = {OTHER_KEYWORDS.get(word, word): value for word, value in kwargs.items()}
    if "out" in named:
        raise NoRuleError(f"torch.{name}(out=...) cannot be recorded. Fix: leave out=... out.")
    words = KEYWORD_ONLY.get(standard, ())
    named.update(zip(words, args[1:], strict=False))
    args = args[:1] if words else args
    found = functools.reduce(getattr, standard.split("."), cls._namespace)
    return found(*args, **named)


def _means_the_same(name: str) -> bool:
    op = find_op(name)
    elementwise = op is not None and op.rule_for("torch") is not None and _is_elementwise(op)
    return elementwise or name in SAME


def _is_elementwise(op: Any) -> bool:
    rule = op.rule_for("torch")
    return rule.kind.is_elementwise or not (rule.kind.is_differentiable or rule.statics)


def _otherwise(
    cls: Any, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A function without a counterpart: on the data if nothing is tracked."""
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
