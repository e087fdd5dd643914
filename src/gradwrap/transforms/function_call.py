"""One call of a `Function`: performed once, on native arrays, and recorded at each level."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradwrap.core.calls.loop import is_innermost_batch, looped
from gradwrap.core.graph.custom_nodes import OpaqueOp, recorded_outputs
from gradwrap.core.graph.linear import push
from gradwrap.core.graph.node import Leaf
from gradwrap.core.levels.levels import TAPE_LEVEL, new_level, silent_up_to
from gradwrap.core.levels.wrapper import (
    UNTRACKED,
    AnyWrapper,
    holds_batch,
    is_recorded,
    make_wrapper,
    native,
    snapshot,
)
from gradwrap.core.library.backend import Backend, backend_of, is_array, is_floating, wrapper_class
from gradwrap.core.observing.performing import performs
from gradwrap.core.observing.watching import kept_value
from gradwrap.core.table.kinds import GENERAL
from gradwrap.core.table.rule import Rule
from gradwrap.core.values.comparing import mismatch
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of
from gradwrap.core.values.space import Tangent, zeros_of
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import BackwardError, NoRuleError, RuleResultError, TrackedValueError
from gradwrap.transforms.arguments import wrapped_untracked
from gradwrap.transforms.calls import dual, split, with_tangent
from gradwrap.transforms.function_context import FunctionCtx
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.core.values.space import Meta


class Call:
    """One call of a function: performed once, recorded at each level."""

    ctx: Any
    kind: type[Any] | None

    def __init__(self, function: type[Any], args: Sequence[Any]) -> None:
        self.function: Any = function
        self.needs: tuple[bool, ...] = tuple(
            isinstance(a, AnyWrapper) and is_recorded(a) for a in args
        )

    def perform(self, args: Sequence[Any]) -> list[Any]:
        """Return the outputs, wrapped at the levels of the arguments."""
        level, wrapper, nodes, data = split(args)
        if level == UNTRACKED:
            return self._forward(args)
        self.by_example: bool = holds_batch(data)
        outs = self._apart(data) if self.by_example else self.perform(data)
        if level <= silent_up_to():
            return outs
        if isinstance(wrapper._node, Tangent):
            return self._pushed(level, nodes, data, outs)
        return self._recorded(level, nodes, data, outs)

    def _apart(self, data: Sequence[Any]) -> list[Any]:
        """Return the outputs of a batch, computed for one example after the other."""
        result = applied_by_example(self.function, data)
        self.kind = type(result) if isinstance(result, SEQUENCE) else None
        return [result] if self.kind is None else list(result)

    def _forward(self, args: Sequence[Any]) -> list[Any]:
        cls: Any = self.function
        inputs = _distinct([_native_argument(arg) for arg in args])
        self.backends: tuple[Backend | None, ...] = tuple(
            backend_of(one) if is_array(one) else None for one in inputs
        )
        self.ctx = FunctionCtx(self.needs)
        ctx = self.ctx
        result = cls.forward(*inputs) if cls._sets_up else cls.forward(ctx, *inputs)
        parts = list(result) if isinstance(result, SEQUENCE) else [result]
        outs = [self._output(part, index) for index, part in enumerate(parts)]
        self.kind = type(result) if isinstance(result, SEQUENCE) else None
        if cls._sets_up:
            cls.setup_context(ctx, tuple(inputs), self.structured(outs))
        self.tracked_outputs: list[int] = [
            index for index, out in enumerate(outs) if is_floating(out) and not ctx._is_marked(out)
        ]
        self.used: tuple[set[int], set[int], bool] = ctx._settle(inputs, outs)
        return outs

    def _output(self, value: Any, index: int) -> Any:
        """Return an output as a native array; a float or complex number becomes one."""
        if isinstance(value, AnyWrapper):
            if is_recorded(value):
                raise TrackedValueError(
                    f"output {index} of {self.function.__name__}.forward was computed from a "
                    "tracked array that is not among its arguments: its gradient would be lost. "
                    "Fix: pass that array to apply, or .detach() it."
                )
            return native(value)
        if type(value) in (float, complex):
            backend = next((one for one in self.backends if one is not None), None)
            if backend is not None:
                return backend.xp.asarray(value)[()]
        return value

    def structured(self, outs: Sequence[Any]) -> Any:
        """Put outputs into the form that forward returned: one, a tuple or a list."""
        if self.kind is None:
            return outs[0]
        return self.kind(*outs) if hasattr(self.kind, "_fields") else self.kind(outs)

    def _recorded(
        self, level: int, parents: tuple[Any, ...], data: Sequence[Any], outs: list[Any]
    ) -> list[Any]:
        if self.by_example:
            return _recorded_by_example(self.function, level, parents, data, outs)
        places = self.tracked_outputs
        if not places:
            return outs
        inputs, outputs, has_computed = self.used
        args = tuple(
            (kept_value(arg, level) if parents[index] is None else arg)
            if index in inputs
            else _skeleton(arg)
            if has_computed
            else None
            for index, arg in enumerate(data)
        )
        kept = [outs[p] if p in outputs else None for p in places]
        recorded = _RecordedCall(self, parents, outs, level)
        saved = (args, kept[0] if len(kept) == 1 else tuple(kept), recorded)
        op = _op(self.function, backend_of(outs[places[0]]), self.ctx._materializes)
        return recorded_outputs(op, parents, _pulled_back, saved, outs, places, level)

    def _pushed(
        self, level: int, nodes: tuple[Any, ...], data: Sequence[Any], outs: list[Any]
    ) -> list[Any]:
        """Return the outputs with tangents, by transposing backward, which is linear."""
        if self.function._refusal is not None:
            unknown = _UnknownTangent(self.function._refusal(self.ctx))
            return [
                with_tangent(out, unknown, level) if index in self.tracked_outputs else out
                for index, out in enumerate(outs)
            ]
        own = new_level()
        leaves = tuple(
            None if node is None else Leaf(backend_of(item).meta(item, own))
            for item, node in zip(data, nodes, strict=True)
        )
        parts = self._recorded(own, leaves, data, outs)
        pushed = push(leaves, parts, [None if node is None else node.value for node in nodes])
        return [
            dual(out, tangent, level) if index in self.tracked_outputs else out
            for index, (out, tangent) in enumerate(zip(outs, pushed, strict=True))
        ]


class _UnknownTangent:
    """A stand-in for an unknown tangent; any use of it raises an error."""

    __slots__ = ("_message",)

    def __init__(self, message: str) -> None:
        self._message = message

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise BackwardError(self._message)

    __getattr__ = __array_ufunc__ = __array_function__ = __array__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _refuse
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __getitem__ = _refuse


def _name_of(call: Call, _: Any) -> str:
    return str(call.function.__name__)


performs(Call.perform, "call", _name_of)


class _RecordedCall:
    """The parts of a call that backward needs, besides arrays."""

    __slots__ = ("backends", "ctx", "function", "metas", "others", "output_count", "places")

    def __init__(self, call: Call, parents: Sequence[Any], outs: Sequence[Any], level: int) -> None:
        self.function = call.function
        self.ctx = call.ctx
        self.backends = call.backends
        self.metas = tuple(None if parent is None else parent.meta for parent in parents)
        self.places = tuple(call.tracked_outputs)
        self.output_count = len(outs)
        self.others = {
            index: (backend_of(out).xp, backend_of(out).meta(out, level))
            for index, out in enumerate(outs)
            if index not in call.tracked_outputs and is_array(out)
        }

    def held_arrays(self) -> list[Any]:
        """Return the arrays computed by forward that the context keeps."""
        arrays: list[Any] = self.ctx._computed_arrays()
        return arrays


def _pulled_back(
    xp: Any,  # noqa: ARG001  a formula's form
    g: Any,
    args: tuple[Any, ...],
    out: Any,
    call: _RecordedCall,
) -> tuple[Any, ...]:
    """Call the backward of a custom function, and check its result."""
    several = len(call.places) > 1
    grads: list[Any] = [None] * call.output_count
    outs: list[Any] = [None] * call.output_count
    for index, place in enumerate(call.places):
        grads[place] = g[index] if several else g
        outs[place] = out[index] if several else out
    if call.ctx._materializes:
        for place, (own_xp, meta) in call.others.items():
            grads[place] = zeros_of(own_xp, meta)
    args = tuple(_of_own_library(arg) for arg in args)
    needs = tuple(meta is not None for meta in call.metas)
    ctx = call.ctx._at(args, outs, needs, partial(call.function._of_unknown_origin, args))
    results = call.function.backward(ctx, *grads)
    results = list(results) if isinstance(results, SEQUENCE) else [results]
    graph: Any = next((type_of(grad) for grad in grads if isinstance(grad, AnyWrapper)), None)
    return tuple(_checked(call, results, graph))


def _of_own_library(arg: Any) -> Any:
    """Wrap an argument for its own library; the engine assumes the first output's."""
    if not isinstance(arg, AnyWrapper) or arg._value is None:
        return arg
    own = wrapper_class(type_of(arg)._kind, backend_of(arg._value))
    return arg if type(arg) is own else make_wrapper(own, arg._value, arg._node)


def _checked(call: _RecordedCall, results: list[Any], graph: Any) -> list[Any]:
    """Return the gradients, each checked against its argument's shape and dtype."""
    name = call.function.__name__
    expected = len(call.metas)
    given = len(results)
    while len(results) > expected and results[-1] is None:
        results.pop()
    if len(results) != expected:
        raise RuleResultError(
            f"Function {name}Backward returned an incorrect number of gradients "
            f"(expected {expected}, got {given}). Fix: return one for each argument of "
            f"{name}.apply, None where there is none."
        )
    checked: list[Any] = []
    for index, (result, meta) in enumerate(zip(results, call.metas, strict=True)):
        if meta is None and result is not None and call.backends[index] is None:
            raise RuleResultError(
                f"Function {name}Backward returned a gradient different from None at "
                f"position {index}, but the corresponding forward input was not an array. "
                "Fix: return None there."
            )
        if meta is None or result is None:
            checked.append(None)
        else:
            backend: Any = call.backends[index]
            gradient = _array_of(result, meta, backend, f"Function {name}Backward", index)
            checked.append(_in_mode(gradient, meta, graph))
    return checked


def _array_of(value: Any, meta: Meta, backend: Backend, name: str, index: int) -> Any:
    if type(value) in (int, float) and meta.shape == ():
        return backend.xp.asarray(value, dtype=meta.dtype, device=meta.device)
    found = mismatch(value, backend, meta)
    if found is None:
        return value
    got, wanted = found.got, f"expected an array, {meta}"
    fix = "return an array of the argument's shape and dtype, or None"
    if found.part == "library":
        wanted, fix = f"the argument is one of {backend.name}", "convert it"
    elif found.part == "shape":
        got, wanted = f"shape {got}", f"the argument has {meta.shape}"
        fix = "return the argument's shape; sum over the axes that were broadcast"
    elif found.part == "dtype":
        got, wanted = f"dtype {got}", f"the argument has {meta.dtype}"
        fix = "cast it, for example with xp.astype(gradient, x.dtype)"
    raise RuleResultError(
        f"{name} returned an invalid gradient at index {index}: got {got}, but {wanted}. "
        f"Fix: {fix}."
    )


def _in_mode(gradient: Any, meta: Meta, graph: Any) -> Any:
    """Wrap a gradient if backward is recorded, and unwrap it if not."""
    if isinstance(gradient, AnyWrapper):
        if graph is None and meta.level == TAPE_LEVEL:
            return native(gradient)
        return gradient if gradient._node is not None or graph is not None else gradient._value
    return gradient if graph is None else wrapped_untracked(gradient)


def _op(function: Any, backend: Backend, materializes: bool) -> OpaqueOp:
    op: OpaqueOp | None = function._ops.get((backend, materializes))
    if op is None:
        rule = Rule(
            function.__name__,
            "args, call",
            (_pulled_back,),
            kind=GENERAL,
            provenance="user",
            array_count=1,
            is_joint=True,
            variadic=True,
        )
        op = OpaqueOp(function.__name__, backend, rule, materializes=materializes)
        function._ops[backend, materializes] = op
    return op


def _skeleton(arg: Any) -> Any:
    """Copy the wrappers of an argument with their nodes, without the array."""
    if not isinstance(arg, AnyWrapper):
        return None
    return make_wrapper(type_of(arg), _skeleton(arg._value), arg._node)


def _native_argument(arg: Any) -> Any:
    if isinstance(arg, (list, tuple, dict)):
        return map_leaves(native, arg)
    return native(arg)


def _distinct(args: list[Any]) -> list[Any]:
    """Copy an argument that is given twice, so that saved arguments are told apart by identity."""
    seen: set[int] = set()
    for index, arg in enumerate(args):
        if is_array(arg):
            if id(arg) in seen:
                args[index] = backend_of(arg).copy(arg)
            seen.add(id(args[index]))
    return args


# Under vmap ---------------------------------------------------------------------------------------
#
# One example after the other, forward and backward. Where a derivative is taken inside of `vmap`,
# each example's forward runs again in backward, since what its context keeps belongs to that
# example alone. A second derivative inside of `vmap` is an error; of the mapped function, every
# order works.


def applied_by_example(function: type[Any], args: Sequence[Any]) -> Any:
    """Call `apply` for each example, and stack the results."""
    return _looped(function, function.apply, *args)


def _looped(function: type[Any], run: Any, *args: Any) -> Any:
    if not is_innermost_batch(args):
        raise NoRuleError(
            f"{function.__name__} is a gradwrap.Function, and it is differentiated inside of vmap "
            "in a way that cannot be done example by example. Fix: take the derivative of the "
            "mapped function, or write this one with functions of arrays."
        )
    return looped(run, function.__name__, *args)


def _recorded_by_example(
    function: type[Any], level: int, parents: tuple[Any, ...], data: Sequence[Any], outs: list[Any]
) -> list[Any]:
    """Record a call whose arguments are mapped over below this level."""
    places = [i for i, out in enumerate(outs) if is_floating(out)]
    if not places:
        return outs
    op = OpaqueOp(function.__name__, backend_of(outs[places[0]]))
    flags = tuple(parent is not None for parent in parents)
    saved = (function, tuple(snapshot(item) for item in data), flags, tuple(places))
    return recorded_outputs(op, parents, _pulled_by_example, saved, outs, places, level)


def _pulled_by_example(  # noqa: PLR0913  a formula's form
    xp: Any,  # noqa: ARG001  a formula's form
    g: Any,
    function: type[Any],
    data: tuple[Any, ...],
    flags: tuple[bool, ...],
    places: tuple[int, ...],
) -> tuple[Any, ...]:
    grads = g if isinstance(g, TUPLE) else (g,)
    run = partial(_gradients, function, flags, places)
    found = iter(_looped(function, run, *grads, *data))
    return tuple(next(found) if flag else None for flag in flags)


def _gradients(
    function: type[Any], flags: Sequence[bool], places: Sequence[int], *values: Any
) -> tuple[Any, ...]:
    """Compute the gradients of one example: run forward again, then backward."""
    grads, data = values[: len(places)], values[len(places) :]

    def of_tracked(*tracked: Any) -> list[Any]:
        own = iter(tracked)
        out = function.apply(*(next(own) if f else x for x, f in zip(data, flags, strict=True)))
        outs = out if isinstance(out, SEQUENCE) else (out,)
        return [outs[place] for place in places]

    _, pull = vjp(of_tracked, *(x for x, flag in zip(data, flags, strict=True) if flag))
    return pull(list(grads))
