"""`Function`: an operation with a user-written forward and backward, as in PyTorch.

A call is performed once, on native arrays, and recorded at every level that tracks an argument.
Backward gets native arrays, or variables if its result will be differentiated again.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from gradwrap.core.calls.loop import is_innermost_batch, looped
from gradwrap.core.levels.wrapper import AnyWrapper, holds_batch, is_recorded, native
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.errors import BackwardError, TrackedValueError
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.custom_calls import hides_tracked
from gradwrap.transforms.function_call import Call, applied_by_example

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.core.graph.custom_nodes import OpaqueOp
    from gradwrap.core.library.backend import Backend
    from gradwrap.transforms.function_context import FunctionCtx

F = TypeVar("F", bound="Callable[..., Any]")
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class _ForwardWithContext(Protocol[P, R_co]):
    """A class whose `forward` takes the context, then the arguments of `apply`."""

    @staticmethod
    def forward(ctx: FunctionCtx, /, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Compute the outputs."""
        ...


class _ForwardAlone(Protocol[P, R_co]):
    """A class whose `forward` takes the arguments of `apply`; `setup_context` takes the context."""

    @staticmethod
    def forward(*args: P.args, **kwargs: P.kwargs) -> R_co:
        """Compute the outputs."""
        ...


class Function:
    """Define an operation with a derivative of your own, as with `torch.autograd.Function`.

    A subclass has two static methods. `forward(ctx, *args)` gets the arguments of `apply`, with
    native arrays; it returns an array or a tuple. Floats count as arrays; integers, strings and
    None pass through and are not tracked. `backward(ctx, *grads)` gets a cotangent for each output,
    and returns one for each argument of `apply`: an array of its shape and dtype, or None. `ctx`
    carries the arrays of `save_for_backward`, and any attribute. `forward` may omit `ctx`; then a
    third static method, `setup_context(ctx, inputs, output)`, fills it.

    Backward runs on native arrays, or on variables if its result will be differentiated again. So
    write it with functions that take both, as NumPy's do. It must not write to the cotangents.

    Raises
    ------
    RuleResultError
        Backward returned the wrong number of gradients, or a gradient of the wrong shape or dtype.
    TrackedValueError
        Forward used a tracked array that is not an argument.
    BackwardError
        The second derivative depends on an array that forward computed and kept.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> class Exp(gw.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         out = np.exp(x)
    ...         ctx.save_for_backward(out)
    ...         return out
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (out,) = ctx.saved_tensors
    ...         return g * out
    >>> gw.grad(Exp.apply)(0.0)
    np.float64(1.0)
    >>> gw.grad(gw.grad(Exp.apply))(0.0)
    np.float64(1.0)
    """

    _ops: dict[tuple[Backend, bool], OpaqueOp]
    _sets_up: bool
    _refusal: Callable[[Any], str] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._ops = {}
        cls._sets_up = cls.setup_context is not Function.setup_context

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be overridden."""
        raise NotImplementedError(
            "You must implement the forward function for a custom gradwrap.Function. "
            "Fix: a @staticmethod forward(ctx, *args)."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save values for backward if `forward` does not take `ctx`; to be overridden."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """Compute the arguments' cotangents; to be overridden."""
        raise NotImplementedError(
            "You must implement the backward method for your custom gradwrap.Function to use it "
            "with backward. Fix: a @staticmethod backward(ctx, *grad_outputs)."
        )

    @overload
    @classmethod
    def apply(cls: type[_ForwardWithContext[P, R]], *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    @classmethod
    def apply(cls: type[_ForwardAlone[P, R]], *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any: ...
    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call forward, and record the call.

        Tracked arrays have to be arguments of their own: one inside a list is an error. Without
        any wrapped array among the arguments, the result is not wrapped either. Arguments given
        by keyword count as given at their positions.

        To a type checker it is forward, without the context.
        """
        if kwargs:
            args = cls._by_position(args, kwargs)
        for position, arg in enumerate(args):
            if not isinstance(arg, AnyWrapper) and (is_recorded(arg) or hides_tracked(arg)):
                raise TrackedValueError(
                    f"argument {position} of {cls.__name__}.apply holds a tracked array in a "
                    f"{type(arg).__name__}: its gradient would be lost. "
                    "Fix: pass the array as an argument of its own: apply(*arrays)."
                )
        if holds_batch(args) and is_innermost_batch(args):
            return applied_by_example(cls, args)
        call = Call(cls, args)
        outs = call.perform(args)
        if any(isinstance(arg, AnyWrapper) for arg in args):
            outs = [wrapped_untracked(out) for out in outs]
        return call.structured(outs)

    @classmethod
    def _by_position(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the arguments of `apply` by position, up to the last one given.

        Raises
        ------
        TypeError
            They do not fit forward, or forward takes one of them by keyword alone.
        """
        import inspect  # slow to import, and only needed here

        context = () if cls._sets_up else (None,)
        signature = inspect.signature(cls.forward)
        parameters = signature.parameters
        bound = signature.bind(*context, *args, **kwargs)
        alone = [
            name
            for name in kwargs
            if name not in parameters or parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        ]
        if alone:
            raise TypeError(
                f"{cls.__name__}.apply has no place for {', '.join(alone)}, which "
                "forward takes by keyword only: backward returns a gradient for each position. "
                "Fix: take the * out of forward's parameters."
            )
        last = max(map([*parameters].index, bound.arguments))
        bound.apply_defaults()
        return bound.args[len(context) : last + 1]

    @classmethod
    def _of_unknown_origin(cls, args: Sequence[Any], array: Any, where: str) -> Any:
        """Return an array computed in forward, which raises if it is differentiated."""
        parents = [a for a in args if isinstance(a, AnyWrapper) and a._node is not None]
        if not parents:
            return array
        name = cls.__name__
        message = (
            f"The second derivative of {name} depends on ctx.{where}, an array that {name}.forward "
            "computed: how it depends on the arguments is not known. Fix: compute it in backward "
            "from saved arguments, or return it from forward as one more output and save that; if "
            "it is a constant, take gradwrap.stop_gradient of it in backward."
        )
        return _Undifferentiable.apply(_Hidden([array]), message, *parents)[0]


# What must not be differentiated ------------------------------------------------------------------


class _Hidden:
    """Native arrays that pass through `apply` unchanged."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)


class _Undifferentiable(Function):
    """An operation that returns given arrays; to differentiate them raises an error."""

    _refusal = operator.attrgetter("message")

    @staticmethod
    def forward(ctx: Any, hidden: _Hidden, message: str, *_parents: Any) -> tuple[Any, ...]:
        ctx.message = message
        return hidden.values

    @staticmethod
    def backward(ctx: Any, *_grads: Any) -> Any:
        raise BackwardError(ctx.message)


def _number_as_array(value: Any, like: Any) -> Any:
    if type(value) not in (int, float):
        return value
    return backend_of(like).xp.asarray(value, dtype=like.dtype)[()]


def once_differentiable(backward: F) -> F:
    """Mark a backward whose result cannot be differentiated again; doing so raises an error.

    Such a backward always gets native arrays, so it may call functions that take only these.

    Examples
    --------
    >>> import math, numpy as np, gradwrap as gw
    >>> class Sin(gw.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return math.sin(x)
    ...
    ...     @staticmethod
    ...     @gw.once_differentiable
    ...     def backward(ctx, g):
    ...         return g * math.cos(*ctx.saved_tensors)
    >>> gw.grad(Sin.apply)(0.0)
    np.float64(1.0)
    """

    @functools.wraps(backward)
    def on_native(ctx: Any, *grads: Any) -> Any:
        if is_innermost_batch(grads):
            name = on_native.__qualname__
            return _looped_gradients(name, functools.partial(on_native, ctx), *grads)
        tracked = [g for g in grads if isinstance(g, AnyWrapper) and g._node is not None]
        tracked += ctx._tracked()
        if not tracked and not any(isinstance(g, AnyWrapper) for g in grads):
            return backward(ctx, *grads)
        results = backward(ctx._native(), *(native(g) for g in grads))
        if not tracked:
            return results
        parts = results if isinstance(results, SEQUENCE) else (results,)
        like = native(next(g for g in grads if g is not None))
        parts = [_number_as_array(part, like) for part in parts]
        return _Undifferentiable.apply(
            _Hidden(parts),
            "trying to differentiate twice a function that was marked with @once_differentiable. "
            "Fix: write its backward with functions that take variables, such as NumPy's, and "
            "take the mark off.",
            *tracked,
        )

    return on_native  # type: ignore[return-value]  # the same signature


def _looped_gradients(name: str, run: Any, *grads: Any) -> tuple[Any, ...]:
    """Run a backward for native arrays on one example of a batch after the other."""
    present: list[bool] = []

    def arrays_alone(*one: Any) -> tuple[Any, ...]:
        results = run(*one)
        parts = results if isinstance(results, SEQUENCE) else (results,)
        present[:] = [part is not None for part in parts]
        return tuple(part for part in parts if part is not None)

    found = iter(looped(arrays_alone, name, *grads))
    return tuple(next(found) if flag else None for flag in present)
