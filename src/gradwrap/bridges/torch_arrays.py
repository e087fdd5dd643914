"""Tensors of PyTorch as arrays of NumPy or CuPy, and back; memory is shared where both can read it.

An array of a tensor is for reading only. An array becomes a tensor without a copy if nothing else
refers to it; otherwise a write to the tensor would change an array that a function still holds.
"""

from __future__ import annotations

import sys
import weakref
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradwrap.core.values.dynamic import class_of, type_of
from gradwrap.errors import MissingToolError, NotAnArrayError

if TYPE_CHECKING:
    from collections.abc import Sequence

torch: Any = import_module("torch")

_functorch: Any = torch._C._functorch  # noqa: SLF001  it has no public name
transforms_are_active: Any = torch._C._are_functorch_transforms_active  # noqa: SLF001  nor has this
"""Tell if a transform of `torch.func` runs."""
modes_active: Any = torch._C._len_torch_dispatch_stack  # noqa: SLF001  nor has this
"""Return the number of modes, such as those of tracers, that see each operation."""


def is_wrapped(tensor: Any) -> bool:
    """Tell if a transform of `torch.func`, or an older way to map, has wrapped a tensor."""
    return bool(
        _functorch.is_functorch_wrapped_tensor(tensor) or _functorch.is_legacy_batchedtensor(tensor)
    )


layers: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""The layers, by the names that compiled code has for them."""
OWN_REFERENCES = 2
"""The references to an item of a list that is asked for their number, if nothing else has any."""
DTYPES: frozenset[Any] = frozenset(
    getattr(torch, name)
    for name in (
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)
"""The dtypes that NumPy has too."""


def resolved(tensor: Any) -> Any:
    """Return a tensor without its graph, whose memory has its values: not their conjugates."""
    plain = tensor.detach()
    return plain.resolve_conj().resolve_neg() if plain.is_complex() or plain.is_neg() else plain


def check_tensor(tensor: Any, name: str, how: str = "was given") -> None:
    """Refuse a tensor that cannot share its memory with an array."""
    if is_wrapped(tensor):
        raise NotAnArrayError(
            f"{name} {how} a tensor that a transform of PyTorch has wrapped, which has no "
            "memory of its own. Fix: call gradwrap.torch.layer(f) inside of the transforms of "
            "torch.func; use these in place of is_grads_batched=True and vectorize=True."
        )
    if tensor.layout is not torch.strided:
        raise NotAnArrayError(
            f"{name} {how} a tensor of layout {tensor.layout}; an array is dense. "
            "Fix: pass x.to_dense()."
        )
    if tensor.is_quantized or tensor.device.type == "meta":
        kind = "quantized" if tensor.is_quantized else "without data (device meta)"
        fix = "x.dequantize()" if tensor.is_quantized else "a tensor with data"
        raise NotAnArrayError(f"{name} {how} a tensor that is {kind}. Fix: pass {fix}.")


def refuse_dtype(tensor: Any, what: str, fix: str) -> NoReturn:
    """Refuse a tensor of a dtype that NumPy lacks."""
    raise NotAnArrayError(
        f"{what} a tensor of {tensor.dtype}, a dtype that NumPy does not have. Fix: {fix}."
    )


class NumpyArrays:
    """Arrays of NumPy: they are on the host, and so have to be the tensors."""

    def to_arrays(self, tensors: Sequence[Any], name: str) -> list[Any]:
        """Return tensors as arrays that share their memory."""
        return [self._array(tensor, name) for tensor in tensors]

    def to_tensors(self, arrays: list[Any], inputs: Sequence[Any], name: str) -> list[Any]:
        """Return arrays as tensors; an array that something else refers to is copied."""
        own = [sys.getrefcount(arrays[i]) <= OWN_REFERENCES for i in range(len(arrays))]
        return [self._tensor(a, is_own, name) for a, is_own in zip(arrays, own, strict=True)]

    def _array(self, tensor: Any, name: str) -> Any:
        try:
            array = tensor.detach().numpy()
        except (RuntimeError, TypeError):
            array = self._checked(tensor, name)
        array.flags.writeable = False
        return array

    def _checked(self, tensor: Any, name: str) -> Any:
        """Return the array of a tensor that torch does not convert as it is; refuse others."""
        check_tensor(tensor, name)
        if tensor.device.type != "cpu":
            self._refuse_device(tensor.device, name)
        if tensor.dtype not in DTYPES:
            fix = f"pass x.float(), and cast the result: y.to({tensor.dtype}); or let the function "
            refuse_dtype(tensor, f"{name} was given", fix + "compute with tensors: arrays='torch'")
        return resolved(tensor).numpy()

    def _refuse_device(self, device: Any, name: str) -> NoReturn:
        cupy = "'cupy', for a function of CuPy's, or " if device.type == "cuda" else ""
        raise NotAnArrayError(
            f"{name} computes with NumPy, on the host, and was given a tensor on {device}. Fix: "
            f"pass x.cpu(), and send the result back: y.to({str(device)!r}); or give the layer "
            f"arrays={cupy}'torch', for a function of any library's arrays."
        )

    def _tensor(self, array: Any, is_own: bool, name: str) -> Any:
        kind: Any = type_of(array)
        if not issubclass(kind, (np.ndarray, np.generic)):
            raise NotAnArrayError(
                f"{name} was given arrays of NumPy and returned {class_of(array)}. Fix: return an "
                "array of NumPy; a function of other arrays needs layer(f, arrays=...)."
            )
        if kind is np.ndarray and is_own and _is_shareable(array):
            try:
                return torch.from_numpy(array)
            except TypeError:
                pass  # a dtype that torch lacks, which is refused below
        made = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
        try:
            return torch.from_numpy(made)
        except TypeError:
            raise NotAnArrayError(
                f"{name} returned an array of {array.dtype}, a dtype that torch does not have. "
                "Fix: return y.astype(np.float64), or leave the array out of the result."
            ) from None


def _is_shareable(array: Any) -> bool:
    """Tell if torch can hold the memory of an array that nothing else refers to."""
    flags = array.flags
    if not (flags.owndata and flags.writeable and array.dtype.isnative):
        return False
    return flags.forc or all(step >= 0 and step % array.itemsize == 0 for step in array.strides)


class CupyArrays(NumpyArrays):
    """Arrays of CuPy, which share the memory of tensors on a GPU."""

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise MissingToolError(
                "gradwrap.torch.layer(f, arrays='cupy') shares tensors with CuPy, which is not "
                "installed. Fix: pip install cupy-cuda12x, or arrays='torch'."
            ) from error
        self._cupy: Any = cupy

    def _array(self, tensor: Any, name: str) -> Any:
        check_tensor(tensor, name)
        if tensor.device.type != "cuda":
            raise NotAnArrayError(
                f"{name} computes with CuPy, on a GPU, and was given a tensor on {tensor.device}. "
                "Fix: pass x.cuda(), or give the layer arrays='numpy'."
            )
        return self._cupy.from_dlpack(resolved(tensor))

    def _tensor(self, array: Any, is_own: bool, name: str) -> Any:
        if not isinstance(array, self._cupy.ndarray):
            raise NotAnArrayError(
                f"{name} was given arrays of CuPy and returned {class_of(array)}. "
                "Fix: return an array of CuPy."
            )
        return torch.from_dlpack(array if is_own and array.base is None else array.copy())


class TorchArrays:
    """The tensors themselves, on whatever device, detached from torch's graph."""

    def to_arrays(self, tensors: Sequence[Any], name: str) -> list[Any]:
        """Return tensors that share the memory of these, without their graph."""
        for tensor in tensors:
            check_tensor(tensor, name)
        return [resolved(tensor) for tensor in tensors]

    def to_tensors(self, arrays: list[Any], inputs: Sequence[Any], name: str) -> list[Any]:
        """Return new tensors; those that share memory with the inputs are copied."""
        taken = {tensor.untyped_storage().data_ptr() for tensor in inputs}
        return [self._tensor(array, taken, name) for array in arrays]

    def _tensor(self, array: Any, taken: set[int], name: str) -> Any:
        if not isinstance(array, torch.Tensor):
            raise NotAnArrayError(
                f"{name} was given tensors and returned {class_of(array)}. Fix: return a tensor."
            )
        tensor: Any = array
        return tensor.clone() if tensor.untyped_storage().data_ptr() in taken else tensor.detach()


KINDS: dict[str, Any] = {"numpy": NumpyArrays, "cupy": CupyArrays, "torch": TorchArrays}
"""The arrays that a layer's function may compute with."""
