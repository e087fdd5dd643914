"""NumPy's two protocols: how unmodified `np.sin(x)`, `np.sum(x)` reach an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy_functions import IMPLEMENTATIONS
from gradwrap.core.inplace import unwrapped_key
from gradwrap.core.record import is_recorded
from gradwrap.core.registry import op_of_function
from gradwrap.core.variable import Variable
from gradwrap.errors import NoRuleError, OutArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["call_function", "call_ufunc"]

REDUCTIONS = {
    np.add: "sum",
    np.multiply: "prod",
    np.maximum: "max",
    np.minimum: "min",
    np.logical_and: "all",
    np.logical_or: "any",
}
RUNNING = {np.add: "cumulative_sum", np.multiply: "cumulative_prod"}


def call_ufunc(  # noqa: PLR0911  a way for each way to call a ufunc
    cls: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`ufunc(...)` with keywords or without a rule, `ufunc.reduce`, `.accumulate`, `.outer`."""
    out = kwargs.pop("out", None)
    if out is not None:
        return _into(out, ufunc, call_ufunc(cls, ufunc, method, inputs, kwargs))
    if any(cls._is_foreign(value) for value in inputs):
        return NotImplemented
    if method == "__call__":
        return _call(cls, ufunc, inputs, kwargs)
    if method == "reduce" and ufunc in REDUCTIONS:
        return _reduce(cls, REDUCTIONS[ufunc], *inputs, **kwargs)
    if method == "accumulate" and ufunc in RUNNING:
        return _accumulate(cls, RUNNING[ufunc], *inputs, **kwargs)
    if method == "outer":
        return _outer(cls, ufunc, *inputs, **kwargs)
    if not _tracked(inputs) and method != "at":
        return cls._plain(getattr(ufunc, method)(*unwrapped_key(inputs), **kwargs))
    raise NoRuleError(
        f"np.{ufunc.__name__}.{method} has no rule. Fix: write it with array functions; "
        "for np.add.at, x[i] += y where no index repeats."
    )


def _into(out: Any, ufunc: Any, result: Any) -> Any:
    """`out=` a variable is written to in place; a plain array cannot hold a tracked value."""
    target = out[0] if isinstance(out, tuple) else out
    if target is None:
        return result
    if isinstance(target, Variable):
        target[...] = result
        return target
    raise OutArgumentError(
        f"np.{ufunc.__name__}(..., out=a {type(target).__name__}): a plain array cannot hold a "
        f"tracked value. Fix: leave out= away, y = np.{ufunc.__name__}(...)."
    )


def _call(cls: Any, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    kwargs = {k: v for k, v in kwargs.items() if not _is_default(k, v)}
    where = kwargs.pop("where", True)
    dtype = kwargs.pop("dtype", None)
    if where is not True or kwargs:
        named = ", ".join([*kwargs] or ["where"])
        if _tracked(inputs):
            raise NoRuleError(
                f"np.{ufunc.__name__} with {named}= has no rule. "
                f"Fix: np.where(condition, np.{ufunc.__name__}(x), otherwise)."
            )
        return cls._plain(
            ufunc(*unwrapped_key(inputs), where=unwrapped_key(where), dtype=dtype, **kwargs)
        )
    xp = cls._namespace
    if dtype is not None:
        inputs = tuple(xp.astype(xp.asarray(x), dtype, copy=False) for x in inputs)
    op = op_of_function(ufunc)
    if op is None or op.rule_for(cls._backend.name) is None:
        if not _tracked(inputs):
            return cls._plain(ufunc(*unwrapped_key(inputs)))
        names = ("x",) if ufunc.nin == 1 else tuple(f"x{i + 1}" for i in range(ufunc.nin))
        formulas = ", ".join(f"lambda xp, g, {name}: ..." for name in names)
        raise NoRuleError(
            f"{ufunc.__name__} on {cls._backend.name} arrays has no rule, and an argument is "
            f"tracked. Fix: gradwrap.defvjp({ufunc.__name__}, {formulas}) gives it one, "
            "or .detach() the argument if its gradient is not wanted."
        )
    return cls._bind(op).call(*inputs)


def _is_default(name: str, value: Any) -> bool:
    defaults = {"casting": "same_kind", "order": "K", "subok": True, "where": True, "dtype": None}
    return name in defaults and value is defaults[name]


def _reduce(
    cls: Any,
    name: str,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    function: Callable[..., Any] = getattr(np, {"max": "max", "min": "min"}.get(name, name))
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if dtype is not None:
        options["dtype"] = dtype
    if initial is not np._NoValue:
        options["initial"] = initial
    if where is not True:
        options["where"] = where
    return IMPLEMENTATIONS[function](cls._namespace, array, **options)


def _accumulate(cls: Any, name: str, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    return getattr(cls._namespace, name)(array, axis=axis, dtype=dtype)


def _outer(cls: Any, ufunc: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    xp = cls._namespace
    a, b = xp.asarray(a), xp.asarray(b)
    return _call(cls, ufunc, (xp.reshape(a, tuple(a.shape) + (1,) * b.ndim), b), kwargs)


def call_function(cls: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy that is not a ufunc."""
    out = kwargs.get("out")
    if out is not None:
        kwargs = {k: v for k, v in kwargs.items() if k != "out"}
        return _into(out, function, call_function(cls, function, args, kwargs))
    op = op_of_function(function)
    if op is not None and op.rule_for(cls._backend.name) is not None:
        return cls._bind(op).apply(*args, **kwargs)
    implementation = IMPLEMENTATIONS.get(function)
    if implementation is not None:
        return implementation(cls._namespace, *args, **kwargs)
    if _tracked([*args, *kwargs.values()]):
        path = f"{function.__module__}.{function.__name__}".replace("numpy.", "np.", 1)
        raise NoRuleError(
            f"{path} on {cls._backend.name} arrays has no rule, and an argument is tracked. "
            f"Fix: gradwrap.defvjp({path}, lambda xp, g, x: ...) gives it one, "
            "or .detach() the argument if its gradient is not wanted."
        )
    native = {k: unwrapped_key(v) for k, v in kwargs.items()}
    return cls._plain(function(*unwrapped_key(args), **native))


def _tracked(values: Any) -> bool:
    return is_recorded(list(values))
