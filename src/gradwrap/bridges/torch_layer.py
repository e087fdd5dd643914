"""NumPy functions in the graph of PyTorch: one `torch.autograd.Function` for all of them."""

from __future__ import annotations

import functools
import operator
import re
import uuid
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.bridges.flat import OWN, Batched, Flat, Plain, Pulled, Pushed, Record, Structure
from gradwrap.bridges.torch_arrays import (
    KINDS,
    is_wrapped,
    layers,
    modes_active,
    transforms_are_active,
)
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.library.backend import is_array
from gradwrap.core.values import tree
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import BufferChangedError, NotAnArrayError, TrackedValueError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.primitive import UserFunction
from gradwrap.transforms.raveling import to_host

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

torch: Any = import_module("torch")

EMPTY: tuple[Any, ...] = ()
PLAIN: tuple[Any, ...] = (torch.Tensor, torch.nn.Parameter)
"""The types of tensors that no mode or compiler stands for."""


class Layer(UserFunction[..., Any]):
    """A function of arrays as a function of tensors."""

    def __init__(self, fun: Callable[..., Any], arrays: str) -> None:
        if arrays not in KINDS:
            raise ValueError(f"arrays={arrays!r}. Fix: give one of {', '.join(map(repr, KINDS))}.")
        super().__init__(fun)
        self.name: str = f"the layer {name_of(fun)}"
        self.arrays: Any = KINDS[arrays]()
        self.key: str = uuid.uuid4().hex
        """A name that no other process has, whose compiled code may be kept on disk."""
        layers[self.key] = self

    def __repr__(self) -> str:
        return f"<gradwrap.torch.layer {name_of(self.fun)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with arrays in place of tensors; return tensors in place of arrays."""
        if torch.compiler.is_dynamo_compiling():
            from gradwrap.bridges.torch_compiled import in_graph

            return in_graph(self.key, args, kwargs)
        return self.called(args, kwargs)

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function outside of the compiler's look at Python code."""
        if kwargs or not all(map(_is_tensor, args)):
            structure, tensors = self._taken_apart(args, kwargs)
        else:
            structure, tensors = _positional(len(args)), args
        if not tensors:
            raise NotAnArrayError(
                f"{self.name} was given no tensor. Fix: pass torch.as_tensor(x), or call the "
                "function itself."
            )
        if len(tensors) > 1 and any(tensor.device != tensors[0].device for tensor in tensors):
            devices = " and ".join(sorted({str(tensor.device) for tensor in tensors}))
            raise NotAnArrayError(
                f"{self.name} was given tensors on {devices}. "
                "Fix: bring them to one device with x.to(device)."
            )
        call = Call(self, Plain(self.fun, structure, OWN), _needed(tensors))
        outs = _Graph.apply(call, *tensors)
        (structure,) = call.found
        return tree.unflatten(structure.treedef, structure.filled(outs))

    def _taken_apart(self, args: Any, kwargs: Any) -> tuple[Structure, Sequence[Any]]:
        """Return the arguments without their tensors, and the tensors."""
        leaves, treedef = tree.flatten((args, kwargs))
        if any(map(is_recorded, leaves)):
            raise TrackedValueError(
                f"{self.name} takes tensors of PyTorch, and was given a tracked value of "
                "gradwrap. Fix: call the function itself, which gradwrap differentiates as it is."
            )
        # A derivative of second order runs the function again, when its caller may have written.
        leaves = [leaf.copy() if type_of(leaf) is np.ndarray else leaf for leaf in leaves]
        places = [place for place, leaf in enumerate(leaves) if _is_tensor(leaf)]
        return Structure(leaves, treedef, places), [leaves[place] for place in places]


def _are_same(one: Any, other: Any) -> bool:
    return np.array_equal(to_host(one), to_host(other), equal_nan=True)


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _needed(tensors: Sequence[Any]) -> tuple[bool, ...]:
    """Tell for each tensor if torch records its operations; return () if it records none."""
    needed = tuple(tensor.requires_grad for tensor in tensors) if torch.is_grad_enabled() else EMPTY
    return needed if any(needed) else EMPTY


@functools.cache
def _positional(count: int) -> Structure:
    """Return the structure of arguments that are all tensors, given by position."""
    leaves, treedef = tree.flatten(((None,) * count, {}))
    return Structure(leaves, treedef, range(count))


class Call:
    """One call of a layer, or of its derivative: a flat function and its record."""

    __slots__ = ("before", "flat", "floating", "found", "layer", "needed", "record")

    def __init__(self, layer: Layer, flat: Flat, needed: tuple[bool, ...] = EMPTY) -> None:
        self.layer: Layer = layer
        self.flat: Flat = flat
        self.needed: tuple[bool, ...] = needed
        """The inputs that a record leads to; empty if there is none."""
        self.record: Record | None = None
        self.before: Call | None = None
        """Of a pull or a push: the call whose record gives its value."""
        self.found: list[Structure] = []
        self.floating: list[bool] = []

    def outputs(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Compute the outputs from tensors that no transform has wrapped."""
        if modes_active() or any(type(tensor) not in PLAIN for tensor in tensors):
            return self._opaque(tensors)
        return self.performed(tensors)

    def _opaque(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs of an operation of torch's, which compilers and modes see as one."""
        from gradwrap.bridges.torch_compiled import named, opaque

        self.needed = EMPTY
        name, first = named(self)
        outs = tuple(opaque(name, list(tensors)))
        self.found[:] = first.found
        return outs

    def performed(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Compute the outputs with arrays."""
        kind, name = self.layer.arrays, self.layer.name
        arrays = kind.to_arrays(tensors, name)
        before = self._record_before(arrays)
        if before is not None and isinstance(self.flat, Pulled):
            outs = before.pull(arrays[: self.flat.count], self.flat.needed)
        elif before is not None and isinstance(self.flat, Pushed):
            outs = before.push(arrays[: sum(self.flat.moved)], self.flat.moved)
        elif self.needed:
            outs, self.record = OWN.recorded(
                lambda own: self.flat(own, self.found), arrays, self.needed
            )
        else:
            outs = self.flat(arrays, self.found)
        return tuple(kind.to_tensors(outs, tensors, name))

    def recorded(self, arrays: list[Any]) -> Record | None:
        """Return the record from these arrays, the inputs of the call, to its outputs."""
        if self.record is None:
            before = self._record_before(arrays)
            if before is not None and isinstance(self.flat, Pulled):
                self.record = before.of_pull(arrays[: self.flat.count], self.flat.needed)
        return self.record

    def _record_before(self, arrays: list[Any]) -> Record | None:
        """Return the record that this call is made from, or check another run of the function."""
        before = self.before
        if before is None:
            return None
        inputs = arrays[-len(before.needed) :]
        found = before.recorded(inputs)
        if found is None:
            before.check_again(inputs)
        return found

    def check_again(self, arrays: list[Any]) -> None:
        """Raise if the function, called again, returns other values."""
        if self.before is not None:
            self.before.check_again(arrays[-len(self.before.needed) :])
        elif self.record is not None:
            again = OWN.recorded(self.flat, arrays, self.needed)[1]
            if not all(map(_are_same, again.values, self.record.values)):
                raise BufferChangedError(
                    f"{self.layer.name} runs again for a second derivative, since it calls a "
                    "function with a rule of its own, and returned other values than before: an "
                    "array that it reads beside its arguments was overwritten, or it draws random "
                    "numbers. Fix: pass the array as an argument, or a copy."
                )

    def pulled(
        self, tensors: Sequence[Any], cotangents: list[Any], needed: tuple[bool, ...]
    ) -> Any:
        """Return the cotangents of the needed inputs, recorded by whatever records now."""
        kind, name = self.layer.arrays, self.layer.name
        count = len(cotangents)
        call = Call(self.layer, Pulled(self.flat, needed, count))
        if self._leads_to(needed):
            if self.record is not None and not torch.is_grad_enabled():
                found = self.record.pull(kind.to_arrays(cotangents, name), needed)
                return kind.to_tensors(found, cotangents, name)
            call.before, call.needed = self, (True,) * count + self.needed
        return _Graph.apply(call, *cotangents, *tensors)

    def pushed(self, tensors: Sequence[Any], tangents: Sequence[Any]) -> Any:
        """Return the tangents of the floating outputs."""
        moved = tuple(tangent is not None for tangent in tangents)
        given = [tangent for tangent in tangents if tangent is not None]
        call = Call(self.layer, Pushed(self.flat, moved))
        call.before = self if self._leads_to(moved) else None
        return _Graph.apply(call, *given, *tensors)

    def _leads_to(self, inputs: Sequence[bool]) -> bool:
        """Tell if a record has these inputs."""
        return bool(self.needed) and not any(map(operator.gt, inputs, self.needed))


class _Graph(torch.autograd.Function):  # type: ignore[misc]  # untyped where torch is not installed
    """The node of a call in torch's graph, and in the transforms of `torch.func`."""

    @classmethod
    def apply(cls, call: Call, *tensors: Any) -> Any:
        """Call the function; outside of `torch.func` without torch's look at its signature."""
        is_plain = not transforms_are_active() and not any(map(is_wrapped, tensors))
        above: Any = super
        return above(torch.autograd.Function if is_plain else _Graph, cls).apply(call, *tensors)

    @staticmethod
    def forward(call: Call, *tensors: Any) -> tuple[Any, ...]:
        """Compute the outputs."""
        return call.outputs(tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        """Save the tensors, whose later change torch notices."""
        call, *tensors = inputs
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        call.floating = [out.is_floating_point() or out.is_complex() for out in output]
        others = [out for out, own in zip(output, call.floating, strict=True) if not own]
        if others:
            ctx.mark_non_differentiable(*others)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        """Pull cotangents back: by the record, or as a call that is recorded itself."""
        call, tensors = ctx.call, ctx.saved_tensors
        needed: tuple[bool, ...] = ctx.needs_input_grad[1:]
        given = [g for g, own in zip(cotangents, call.floating, strict=True) if own]
        found = iter(call.pulled(tensors, given, needed))
        return None, *(next(found) if own else None for own in needed)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        """Push tangents forward."""
        call = ctx.call
        if not any(tangent is not None for tangent in tangents):
            return (None,) * len(call.floating)
        found = iter(call.pushed(ctx.saved_tensors, tangents))
        return tuple(next(found) if own else None for own in call.floating)

    @staticmethod
    def vmap(
        info: Any,  # noqa: ARG004  torch's signature
        in_dims: tuple[Any, ...],
        call: Call,
        *tensors: Any,
    ) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """Perform the function on all examples at once."""
        whole = Call(call.layer, Batched(call.flat, in_dims[1:]), _needed(tensors))
        outs = _Graph.apply(whole, *tensors)
        call.found[:] = whole.found
        return outs, (0,) * len(outs)


class _LayerModule(torch.nn.Module):  # type: ignore[misc]  # untyped where torch is not installed
    """A layer with its first argument's arrays as parameters."""

    def __init__(self, fun: Callable[..., Any], parameters: Any, arrays: str) -> None:
        base: Any = super()
        base.__init__()
        self.layer = Layer(fun, arrays)
        pairs, self._treedef = tree.flatten_with_paths(parameters, "")
        self._leaves: list[Any] = []
        for path, leaf in pairs:
            made = leaf if _is_tensor(leaf) else torch.as_tensor(leaf) if is_array(leaf) else None
            if made is None or not (made.is_floating_point() or made.is_complex()):
                self._leaves.append(leaf)
                continue
            name = re.sub(r"\W+", "_", path).strip("_") or "parameter"
            self._leaves.append(_Name(name))
            self.register_parameter(name, torch.nn.Parameter(made.detach().clone()))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with the parameters."""
        leaves = [getattr(self, x) if isinstance(x, _Name) else x for x in self._leaves]
        return self.layer(tree.unflatten(self._treedef, leaves), *args, **kwargs)

    def _get_name(self) -> str:
        return "LayerModule"


LayerModule: Any = _LayerModule


class _Name(str):
    """The name of a parameter, which stands for its array."""

    __slots__ = ()
