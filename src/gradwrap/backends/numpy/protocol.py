"""NumPy's two protocols: how unmodified `np.sin(x)`, `np.sum(x)` reach an operation."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy import ufunc_methods
from gradwrap.backends.numpy.functions.spelling import ALWAYS, SPELLED
from gradwrap.backends.numpy.functions.table import (
    GIVE_ARRAYS,
    IMPLEMENTATIONS,
    cast,
    check_cast,
    on_data,
    opened,
    out_position,
    scalar,
)
from gradwrap.backends.numpy.remedies import WHOLE
from gradwrap.core.array.adapted import made_of_python
from gradwrap.core.array.objects import with_instances
from gradwrap.core.array.protocol import ELSEWHERE
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, key_with_batches, unwrapped_key
from gradwrap.core.observing.callers import current_caller, remedy
from gradwrap.core.table.registry import op_of_function, search_function
from gradwrap.core.values.dynamic import TUPLE, class_of, type_of
from gradwrap.errors import NoRuleError, OutArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable


WEAK: frozenset[type[Any]] = frozenset({int, float, complex})
"""The types of numbers that take on the dtype of the other argument."""


def call_ufunc(
    cls: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Answer a call of a ufunc with keywords, without a rule, or by one of its methods."""
    operands = inputs if method != "at" else (inputs[0], *inputs[2:])
    if any(cls._is_foreign(value) for value in operands):
        return with_instances(getattr(ufunc, method), inputs, **kwargs)
    if method == "__call__" and id(ufunc) in made_of_python and is_recorded(inputs):
        return made_of_python[id(ufunc)][1](*inputs, **kwargs)
    out = kwargs.get("out")
    if method == "at":
        if isinstance(inputs[0], AnyWrapper) or is_recorded(inputs):
            return ufunc_methods.at(cls, ufunc, *inputs)
        return on_data(ufunc.at, inputs, kwargs)
    if are_plain(out) and (not is_recorded(inputs) or _are_truths(out)):
        found = on_data(getattr(ufunc, method), inputs, kwargs)
        return cls._plain(found) if out is None else found
    kwargs.pop("out", None)
    name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    if out is not None:
        check_targets(name, out, update=method == "__call__" and ufunc.nin == 2)
    if method == "__call__":
        order = kwargs.pop("order", "K") if kwargs.get("order") in ("C", "F") else "K"
        result = _lying(_call(cls, ufunc, inputs, kwargs, out), order)
    else:
        perform = ufunc_methods.PERFORM.get(method)
        if perform is None:
            raise NoRuleError(f"{name} has no rule. Fix: write it with array functions.")
        result = perform(cls, ufunc, *inputs, **kwargs)
        result = scalar(result) if isinstance(result, AnyWrapper) else result
    return result if out is None else into(out, result, exact=method in EXACT)


def _lying(result: Any, order: str) -> Any:
    """Return the results of a ufunc in the order of memory that was asked for."""
    if order == "K":
        return result
    if isinstance(result, TUPLE):
        return tuple(_lying(part, order) for part in result)
    return result.copy(order) if result.ndim else result


def are_plain(out: Any) -> bool:
    """Tell if `out=` is missing, or names only plain arrays."""
    return out is None or not any(isinstance(part, AnyWrapper) for part in targets(out))


def _are_truths(out: Any) -> bool:
    """Tell if `out=` names arrays of truths, which have no derivative."""
    kinds = [getattr(getattr(one, "dtype", None), "kind", "") for one in targets(out)]
    return kinds == ["b"]


def targets(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, TUPLE) else (out,)


def check_targets(name: str, out: Any, *, update: bool = False) -> None:
    """Refuse `out=` a plain array, which cannot hold a tracked value."""
    more = "; for a += x on a plain array a, write a = a + x" if update else ""
    for target in targets(out):
        if target is not None and not isinstance(target, AnyWrapper):
            caller = current_caller()
            place = "" if caller is None else f" {caller}"
            raise OutArgumentError(
                f"{name}(..., out={class_of(target)}){place}: a plain array cannot hold a "
                f"tracked value. Fix: {remedy(caller, f'omit out=, y = {name}(...){more}.')}"
            )


EXACT = frozenset({"reduce", "accumulate", "reduceat"})
"""The methods of ufuncs whose `out=` has the shape of the result; others broadcast into it."""
BROADCASTING: frozenset[Any] = frozenset(
    {np.clip, np.outer, np.fix, np.isposinf, np.isneginf, np.quantile, np.percentile}
    | {np.nanmedian, np.nanquantile, np.nanpercentile}
)
"""The functions that NumPy ends with one call of a ufunc or a store, so that they broadcast."""


def into(out: Any, result: Any, *, exact: bool = False) -> Any:
    """Write results into the variables that `out=` names; `exact` asks for their shapes."""
    results = result if isinstance(result, TUPLE) else (result,)
    written: list[Any] = []
    for target, part in zip(targets(out), results, strict=True):
        if target is not None:
            if exact and target.shape != part.shape:
                raise ValueError(
                    f"out= has the shape {target.shape}, and the result {part.shape}. "
                    "Fix: make out of the result's shape, or omit out=."
                )
            target[...] = part
        written.append(part if target is None else target)
    return written[0] if len(written) == 1 else tuple(written)


def _call(cls: Any, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    kwargs = {k: v for k, v in kwargs.items() if not _is_default(k, v)}
    where = kwargs.pop("where", True)
    dtype = kwargs.pop("dtype", None)
    casting = kwargs.pop("casting", "same_kind")
    vectors = ufunc.signature == "(n),(n)->()"  # of one axis, such as vecdot
    axis = kwargs.pop("axis", -1) if vectors else -1
    if kwargs:
        raise NoRuleError(
            f"np.{ufunc.__name__} with {', '.join(kwargs)}= has no rule. Fix: omit it."
        )
    xp = cls._namespace
    if (dtype is not None or casting != "same_kind") and cls._backend.name == "numpy":
        types: list[Any] = [type_of(x) if type(x) in WEAK else xp.asarray(x).dtype for x in inputs]
        results = (None if dtype is None else np.dtype(dtype),) * ufunc.nout
        ufunc.resolve_dtypes(
            (*types, *(None,) * ufunc.nout),
            signature=(*(None,) * ufunc.nin, *results),
            casting=casting,
        )
    if dtype is not None:
        inputs = tuple(cast(xp, x, dtype) for x in inputs)
    if where is not True:
        return _call_where(cls, ufunc, inputs, key_with_batches(where), out)
    composed = ufunc_methods.COMPOSED.get(ufunc)
    if composed is not None:
        inputs = tuple(x if type(x) in WEAK else xp.asarray(x) for x in inputs)
        if axis != -1:
            inputs = tuple(xp.moveaxis(x, axis, -1) for x in inputs)
        found = composed(xp, *inputs)
        return tuple(map(scalar, found)) if isinstance(found, TUPLE) else scalar(found)
    op = search_function(ufunc)
    if op is None or op.rule_for(cls._backend.name) is None:
        if not is_recorded(inputs):
            return cls._plain(ufunc(*unwrapped_key(inputs)))
        if ufunc.__name__.endswith(" (vectorized)"):  # its name, if it has one, is no path to it
            raise NoRuleError(
                f"np.frompyfunc of {ufunc.__name__.partition(' ')[0]} has no rule, and an argument "
                "is tracked. Fix: np.vectorize(function) of gradwrap.numpy."
            )
        raise no_rule(cls, ufunc.__name__, ufunc.nin)
    return cls._bind(op).call(*inputs)


def _is_default(name: str, value: Any) -> bool:
    defaults = {"casting": "same_kind", "order": "K", "subok": True, "where": True, "dtype": None}
    return name in defaults and value is defaults[name]


def _call_where(cls: Any, ufunc: Any, inputs: tuple[Any, ...], where: Any, out: Any) -> Any:
    """Call a ufunc where a mask is set; elsewhere the result is `out`, or 0, without derivative."""
    xp = cls._namespace
    mask = xp.astype(xp.asarray(where), xp.bool, copy=False)
    op = search_function(ufunc)
    rule = None if op is None else op.rule_for(cls._backend.name)
    low, high = (0.0, 1.0) if rule is None else rule.domain
    harmless = 1 if low < 1.0 <= high else high  # its derivative is a number too
    safe = tuple(xp.where(mask, xp.asarray(x), harmless) for x in inputs)
    result = _call(cls, ufunc, safe, {}, None)
    target = None if out is None else targets(out)[0]
    if isinstance(result, TUPLE):
        raise NoRuleError(f"np.{ufunc.__name__} with where= has no rule. Fix: use np.where.")
    rest: Any = False if result.dtype == np.bool else 0  # 0 would make numbers of truths
    return xp.where(mask, result, rest if target is None else target)


# Functions that are not ufuncs --------------------------------------------------------------------


def bind(cls: Any, function: Any) -> Callable[..., Any]:
    """Make the call of a function for a class of wrappers, directly to its operation if possible.

    The call returns `ELSEWHERE` for arguments that `call_function` has to handle.
    """
    call = _bound(cls, function)
    if function not in GIVE_ARRAYS or not (cls._is_batched or cls._backend.depth):
        return call

    @functools.wraps(call)
    def marked(*args: Any, **kwargs: Any) -> Any:
        found = call(*args, **kwargs)
        if isinstance(found, AnyWrapper) and not found.shape:
            found._is_array = True  # `vmap` cannot tell it from a number
        return found

    return marked


def _bound(cls: Any, function: Any) -> Callable[..., Any]:
    # under vmap, the arrays have more axes than the library's function would see
    own: Callable[..., Any] | None = None if cls._is_batched else cls._backend.function_of(function)
    if own is not None:
        return own
    op = op_of_function(function)
    if op is not None and op.rule_for(cls._backend.name) is not None:
        return cls._bind(op).apply  # type: ignore[no-any-return]  # a class is Any here
    spelling = SPELLED.get(function)
    if spelling is not None and spelling.rule is not None:
        with contextlib.suppress(AttributeError):  # the library has no such function
            bound: Callable[..., Any] = spelling.bound(cls._namespace)
            return bound
    return _general(cls, function)


def _general(cls: Any, function: Any) -> Callable[..., Any]:
    """Make the call for a function without a row, or for arguments that its row does not take."""
    implementation = IMPLEMENTATIONS.get(function)
    natively = cls._backend.name == "numpy" and function in SPELLED and function not in ALWAYS
    xp, at = cls._namespace, out_position(function)
    gives_scalar = natively and function not in GIVE_ARRAYS

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None or (len(args) > at and args[at] is not None):
            return ELSEWHERE
        if implementation is None or natively:
            if not is_recorded([args, kwargs]):
                args = tuple(map(opened, args))
                if not is_recorded(args):
                    return cls._plain(on_data(function, args, kwargs))
            if implementation is None:
                path = f"{function.__module__}.{function.__name__}"
                raise no_rule(cls, path.replace("numpy.", "np.", 1))
        found = implementation(xp, *args, **kwargs)
        return scalar(found) if gives_scalar and isinstance(found, AnyWrapper) else found

    return call


def no_rule(cls: Any, path: str, count: int = 1, kernel: Any = None) -> NoRuleError:
    """Make the error for a function or kernel without a rule, one of whose arrays is tracked."""
    params = getattr(kernel, "in_params", None)
    names = ["x"] if count == 1 else [f"x{i + 1}" for i in range(count)]
    names = names if params is None else [param.name for param in params]
    formulas = ", ".join(f"lambda xp, g, {name}: ..." for name in names)
    instead = WHOLE.get(path.replace("np.", "numpy.", 1), "")
    if instead:
        return NoRuleError(
            f"{path} takes plain arrays alone, and an argument is tracked. Fix: {instead}"
        )
    function, itself = (path, "") if kernel is None else ("kernel", ", with the kernel itself,")
    return NoRuleError(
        f"{path} on {cls._backend.name} arrays has no rule, and an argument is tracked. "
        f"Fix: gradwrap.defvjp({function}, {formulas}){itself} gives it one, "
        "or .detach() the argument if its gradient is not wanted."
    )


def call_function(cls: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer a call whose arguments the bound call does not take, such as `out=`."""
    out, at = kwargs.get("out"), out_position(function)
    if len(args) > at and args[at] is not None:
        out = args[at]
    if out is None:
        return _general(cls, function)(*args, **kwargs)
    if are_plain(out) and not is_recorded([args, kwargs]):
        return on_data(function, args, kwargs)
    if function in (np.concatenate, np.stack) and kwargs.get("dtype") is not None:
        raise TypeError(f"{function.__name__}() takes `out` or `dtype`, but not both.")
    check_targets(f"np.{function.__name__}", out)
    args = tuple(None if i == at else arg for i, arg in enumerate(args))
    kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    result = call_function(cls, function, args, kwargs)
    casting = kwargs.get("casting")
    if casting is not None:
        check_cast(result.dtype, out.dtype, casting)
    return into(out, result, exact=function not in BROADCASTING)
