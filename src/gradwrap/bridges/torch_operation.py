"""Functions of PyTorch as operations of gradwrap."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradwrap.bridges.flat import chosen, of_chosen
from gradwrap.bridges.torch_arrays import (
    DTYPES,
    check_tensor,
    refuse_dtype,
    resolved,
    transforms_are_active,
)
from gradwrap.core.values.dynamic import class_of, named_by, type_of
from gradwrap.errors import InPlaceError, NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.bridges.flat import Arrays, ArraysFunction, Flat, Structure

torch: Any = import_module("torch")


@dataclass(frozen=True)
class TorchLibrary:
    """PyTorch, on one device: it differentiates its own functions."""

    device: str | None = None
    copies: ClassVar[bool] = False

    def is_array(self, leaf: Any) -> bool:
        """Tell if a leaf of a result is a tensor, or a number with a fraction."""
        return isinstance(leaf, torch.Tensor) or type(leaf) in (float, complex)

    def as_array(self, leaf: Any, like: Arrays) -> Any:
        """Return a leaf as a tensor."""
        return leaf if isinstance(leaf, torch.Tensor) else torch.tensor(leaf, dtype=torch.float64)

    def is_floating(self, array: Any) -> bool:
        """Tell if a tensor has a derivative."""
        return bool(array.is_floating_point() or array.is_complex())

    def pull(
        self, function: ArraysFunction, cotangents: Arrays, inputs: Arrays, needed: Sequence[bool]
    ) -> Arrays:
        """Return the cotangents of the needed inputs, in torch's graph if it records."""
        if transforms_are_active():
            _, pull, _ = torch.func.vjp(
                of_chosen(self, function, inputs, needed), *chosen(inputs, needed), has_aux=True
            )
            return list(pull(tuple(cotangents)))
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            entered = [
                x if not own else x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
                for x, own in zip(inputs, needed, strict=True)
            ]
            outs = [out for out in function(entered) if self.is_floating(out)]
            return self._pulled(outs, cotangents, chosen(entered, needed), create_graph=again)

    def push(
        self, function: ArraysFunction, tangents: Arrays, inputs: Arrays, moved: Sequence[bool]
    ) -> tuple[Arrays, Arrays]:
        """Return the outputs, and the tangents of the floating ones."""
        of_moved = of_chosen(self, function, inputs, moved)
        primals = tuple(chosen(inputs, moved))
        try:
            _, pushed, outs = torch.func.jvp(of_moved, primals, tuple(tangents), has_aux=True)
        except NotImplementedError:  # an operation of torch's has no forward mode
            found, pull, outs = torch.func.vjp(of_moved, *primals, has_aux=True)
            zeros: list[Any] = [*map(torch.zeros_like, found)]

            def pulled(*cotangents: Any) -> Any:
                return pull(cotangents)

            _, transposed = torch.func.vjp(pulled, *zeros)
            pushed = transposed(tuple(tangents))
        return list(outs), list(pushed)

    def mapped(
        self, function: Callable[..., tuple[Any, ...]], axes: Sequence[int | None], arrays: Arrays
    ) -> Arrays:
        """Perform a function on all examples, by `torch.func.vmap`."""
        return list(torch.func.vmap(function, in_dims=tuple(axes))(*arrays))

    def from_arrays(self, arrays: Sequence[Any], name: str) -> Arrays:
        """Return arrays as tensors, which share their memory if torch can."""
        return [self._tensor(array, name) for array in arrays]

    def to_arrays(self, values: Sequence[Any], like: Sequence[Any], name: str) -> Arrays:
        """Return tensors as arrays of the library that the inputs are of."""
        if like and isinstance(like[0], torch.Tensor):
            return [resolved(value).to(like[0].device) for value in values]
        return [self._array(value, name) for value in values]

    def held(self, fun: Callable[..., Any]) -> list[tuple[Any, int]]:
        """Return a module's parameters, and the tensors that a function encloses or names."""
        tensors: Arrays = []
        values: list[Any] = [fun, getattr(fun, "__self__", None), *named_by(fun)]
        for value in values:
            if isinstance(value, torch.nn.Module):
                tensors += value.parameters()
            elif isinstance(value, torch.Tensor):
                tensors.append(value)
        return list(zip(tensors, _versions(tensors), strict=True))

    def call(self, function: Flat, arrays: Arrays, found: list[Structure], name: str) -> Arrays:
        """Compute the outputs; torch records nothing."""
        tensors = self.from_arrays(arrays, name)
        before = _versions(tensors)
        with torch.no_grad():
            outs = function(tensors, found)
        _check_unchanged(tensors, before, name)
        for out in outs:
            check_tensor(out, name, "returned")
        shared = {tensor.untyped_storage().data_ptr() for tensor in tensors}
        kept = [o.clone() if o.untyped_storage().data_ptr() in shared else o for o in outs]
        return self.to_arrays(kept, arrays, name)

    def recorded(
        self, function: Flat, arrays: Arrays, needed: Sequence[bool], name: str
    ) -> tuple[Arrays, list[Structure], Callable[[Arrays], Arrays]]:
        """Return the outputs, their structure, and the pull by torch's own graph."""
        structure: list[Structure] = []
        tensors = self.from_arrays(arrays, name)
        before = _versions(tensors)
        with torch.enable_grad():
            entered = [
                x.detach().requires_grad_() if own else x
                for x, own in zip(tensors, needed, strict=True)
            ]
            outs = function([x.view_as(x) for x in entered], structure)
        _check_unchanged(tensors, before, name)
        floating = [out for out in outs if self.is_floating(out)]

        def pull(cotangents: Arrays) -> Arrays:
            given = self.from_arrays(cotangents, name)
            found = self._pulled(floating, given, chosen(entered, needed), create_graph=False)
            return self.to_arrays(found, arrays, name)

        values = self.to_arrays([out.detach().clone() for out in outs], arrays, name)
        return values, structure, pull

    @staticmethod
    def _pulled(outs: Arrays, cotangents: Arrays, leaves: Arrays, *, create_graph: bool) -> Arrays:
        """Pull cotangents of outputs back through torch's graph; zeros where nothing arrives."""
        pairs = [(o, g) for o, g in zip(outs, cotangents, strict=True) if o.requires_grad]
        found = (
            torch.autograd.grad(
                [out for out, _ in pairs],
                leaves,
                [g for _, g in pairs],
                retain_graph=True,
                create_graph=create_graph,
                allow_unused=True,
            )
            if pairs
            else [None] * len(leaves)
        )
        return [
            torch.zeros_like(leaf) if g is None else g
            for g, leaf in zip(found, leaves, strict=True)
        ]

    def _tensor(self, array: Any, name: str) -> Any:
        kind: Any = type_of(array)
        if isinstance(array, torch.Tensor):
            check_tensor(array, name)
            return resolved(array).to(self.device or array.device)
        if not issubclass(kind, (np.ndarray, np.generic)):
            raise NotAnArrayError(
                f"{name} takes arrays of NumPy and tensors, and was given {class_of(array)}. "
                "Fix: convert it before the call, for example with np.asarray."
            )
        flags = array.flags
        is_shared = issubclass(kind, np.ndarray) and flags.writeable and array.dtype.isnative
        if not is_shared or any(step < 0 or step % array.itemsize for step in array.strides):
            array = np.array(array, dtype=array.dtype.newbyteorder("="))
        try:
            tensor = torch.from_numpy(array)
        except TypeError:
            raise NotAnArrayError(
                f"{name} was given an array of {array.dtype}, a dtype that torch does not have. "
                "Fix: pass x.astype(np.float64)."
            ) from None
        return tensor if self.device is None else tensor.to(self.device)

    @staticmethod
    def _array(value: Any, name: str) -> Any:
        check_tensor(value, name, "returned")
        if value.dtype not in DTYPES:
            refuse_dtype(value, f"{name} returned", "return y.float()")
        return resolved(value).cpu().numpy()


def _versions(tensors: Arrays) -> list[int]:
    return [tensor._version for tensor in tensors]  # noqa: SLF001  its public name in torch


def _check_unchanged(tensors: Arrays, before: list[int], name: str) -> None:
    if _versions(tensors) != before:
        raise InPlaceError(
            f"{name} has written to its argument, which shares the memory of an array. "
            "Fix: x = x.clone() before the function writes to x."
        )
