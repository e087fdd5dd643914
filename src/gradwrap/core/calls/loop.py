"""The loop over examples, with which any function works under `vmap`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    batched_parts,
    example,
    highest_level,
    is_batch,
    stripped,
)
from gradwrap.core.library.backend import backend_of, library_of
from gradwrap.core.observing.callers import current_caller, refused
from gradwrap.core.observing.performing import performs
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt, type_of
from gradwrap.errors import (
    BatchedExceptionError,
    BatchedValueError,
    GradwrapError,
    VmapFallbackError,
    VmapFallbackWarning,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def looped(function: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function without a rule; on a batch, call it for one example after the other."""
    if not is_innermost_batch((args, kwargs)):
        return function(*args, **kwargs)
    top = max(batched_parts((args, kwargs)), key=lambda part: part._node.meta.level)
    batch, level = top._node, top._node.meta.level
    tell(name, batch.fallback)

    def one(index: int) -> Any:
        given, named = example(args, level, index), example(kwargs, level, index)
        return _without_wrapper(looped(function, name, *given, **named))

    try:
        results = [one(index) for index in range(batch.size)]
    except Exception as error:
        refuse_differing(error, batch.size, one)
        raise
    return in_batch_of(top, stacked(name, results, type_of(top)._backend))


def in_batch_of(layer: Any, made: Any) -> Any:
    """Wrap results of all examples, batch axis first, as the batch that a wrapper belongs to."""
    return type_of(layer)._of_batch(layer._node.meta.level, layer._node, made)


def is_innermost_batch(value: Any) -> bool:
    """Tell if the highest level among the arrays in a value is that of a `vmap`."""
    top = max((part._node.meta.level for part in batched_parts(value)), default=None)
    return top is not None and bool(top >= highest_level([value]))


def may_loop(error: Exception, value: Any) -> bool:
    """Tell if a function that has refused a batch may be called for one example after the other.

    It was called so if it has raised an error of some examples, which is raised again.
    """
    if isinstance(error, BatchedExceptionError):
        raise error
    return is_innermost_batch(value)


def first_example(value: Any) -> Any:
    """Return the native array of a value: of one that `vmap` maps over, that of the first example.

    It is None if there is none.
    """
    if not isinstance(value, AnyWrapper):
        return value
    inner = first_example(value._value)
    if not is_batch(value) or inner is None:
        return inner
    return inner[0] if len(inner) else None


def _without_wrapper(result: Any) -> Any:
    """Remove the wrappers that track nothing from a result."""
    if isinstance(result, SEQUENCE):
        parts = [_without_wrapper(part) for part in result]
        return rebuilt(result, parts)
    return stripped(result)


def tell(name: str, fallback: str) -> None:
    """Warn, or raise, as `vmap` was asked to, that an operation runs example by example."""
    if fallback == "loop":
        return
    text = f"vmap: {name} has no batching rule, so it is performed on one example after the other. "
    if fallback == "error":
        raise VmapFallbackError(
            text + 'Fix: pass fallback="loop" to vmap, or write it in other operations.'
        )
    warnings.warn(
        text + 'vmap(..., fallback="loop") is silent about it.', VmapFallbackWarning, stacklevel=2
    )


def _name_of(name: str, _: Any) -> str:
    return name


performs(tell, "fallback", _name_of)


def stacked(name: str, results: Sequence[Any], backend: Any = None) -> Any:
    """Stack the results of all examples along a new first axis; `backend` is used for numbers."""
    if not results:
        raise BatchedValueError(
            f"vmap over no examples: {name} runs on one after the other, and there is none to "
            "tell what it returns. Fix: map over at least one."
        )
    first = results[0]
    if isinstance(first, SEQUENCE):
        parts = [stacked(name, column, backend) for column in zip(*results, strict=True)]
        return rebuilt(first, parts)
    shapes = {tuple(getattr(result, "shape", ())) for result in results}
    if len(shapes) > 1:
        raise BatchedValueError(
            f"{name} gives results of different shapes for different examples under vmap: "
            f"{sorted(shapes)}. Fix: use a function whose shape does not depend on values, "
            "such as where in place of a boolean index."
        )
    xp = (library_of(first) or backend or backend_of(first)).xp
    return xp.stack([xp.asarray(result) for result in results])


def differing(error: Exception) -> GradwrapError:
    """Return the error for a batch of which some examples raise an error of Python's."""
    text = (
        f"{type(error).__name__} ({error}) would be raised for some of the examples that vmap maps "
        "over, and not for others. Fix: xp.where chooses for each example; or "
        'vmap(..., fallback="loop").'
    )
    return refused(current_caller(), BatchedExceptionError(text))


def refuse_differing(error: Exception, size: int, one: Callable[[int], Any]) -> None:
    """Refuse an error that some of the examples raise: `one` performs the operation on one."""
    if isinstance(error, GradwrapError):
        return
    raising = (_raises(one, index) for index in range(size))
    first = next(raising, True)
    if any(other != first for other in raising):
        raise differing(error) from error


def _raises(one: Callable[[int], Any], index: int) -> bool:
    try:
        one(index)
    except Exception:  # noqa: BLE001  as the batch did
        return True
    return False
