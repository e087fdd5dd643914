"""Layers under `torch.compile`: one opaque operation of PyTorch, which calls the function.

The compiler works with fake tensors, which have shapes and no values. An operation that it does not
know needs the shapes of its results: the function is run on arrays of ones to find them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.bridges.torch_arrays import layers
from gradwrap.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.bridges.flat import Flat

torch: Any = import_module("torch")
dynamo: Any = import_module("torch._dynamo")

calls: dict[str, Any] = {}
"""The calls that operations perform, by the names that compiled code has for them."""
_names: dict[tuple[str, Flat], str] = {}


def named(call: Any) -> tuple[str, Any]:
    """Return the name of a call's function, which is kept for the compiled code, and its call."""
    key = call.layer.key, call.flat
    name = _names.get(key)
    if name is None:
        name = _names[key] = f"{call.layer.key}.{len(_names)}"
        calls[name] = call
    return name, calls[name]


def _in_graph(key: str, args: Any, kwargs: Any) -> Any:
    """Call a layer; the compiler takes the call into its graph as it is."""
    return layers[key].called(args, kwargs)


in_graph: Callable[..., Any] = dynamo.allow_in_graph(_in_graph)


def _call(name: str, tensors: list[Any]) -> list[Any]:
    return list(calls[name].performed(tensors))


def _shapes(name: str, tensors: list[Any]) -> list[Any]:
    ones: list[Any] = []
    for tensor in tensors:
        if any(not isinstance(length, int) for length in tensor.shape):
            raise CompileError(
                "a layer of gradwrap was given a tensor whose shape torch.compile leaves open. "
                "Fix: torch.compile(model, dynamic=False)."
            )
        ones.append((tuple(tensor.shape), tensor.dtype, tensor.device))
    with torch._C._DisableTorchDispatch():  # noqa: SLF001  real tensors, among fake ones
        made = [torch.ones(shape, dtype=dtype, device=device) for shape, dtype, device in ones]
        outs = calls[name].performed(made)
        found: list[Any] = [(tuple(out.shape), out.dtype, out.device) for out in outs]
    return [torch.empty(shape, dtype=dtype, device=device) for shape, dtype, device in found]


SCHEMA = "(str name, Tensor[] tensors) -> Tensor[]"
opaque: Any = torch.library.custom_op("gradwrap::call", _call, mutates_args=(), schema=SCHEMA)
opaque.register_fake(_shapes)
