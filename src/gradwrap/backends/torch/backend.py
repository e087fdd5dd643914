"""The backend of PyTorch."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from gradwrap.backends.backward_slices import forwards, indexing_rules, read
from gradwrap.backends.differing_rows import differing
from gradwrap.backends.numpy.buffers import COPIED
from gradwrap.backends.torch.protocol import torch_function
from gradwrap.core.library.backend import Backend
from gradwrap.core.library.buffers import Content, Guarded, calling_line, copied
from gradwrap.core.library.scatter import is_basic_key
from gradwrap.core.table.registry import register
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    torch: Any  # where it is not installed, a checker takes this file for it
else:
    import torch

_version = operator.attrgetter("_version")

VIEW_BY_COPY = "_gradwrap_stands_for_a_view"


def _getitem(xp: Any, x: Any, key: Any) -> Any:
    """Index a tensor; mark the copy of a backward slice, which is a view in NumPy."""
    taken = read(xp, x, key)
    if is_basic_key(key) and forwards(key, x.shape)[1]:
        setattr(taken, VIEW_BY_COPY, True)
    return taken


register([*indexing_rules(), differing("getitem", native=_getitem)], backend="torch")


class TorchBackend(Backend):
    """PyTorch: scatter-add by `index_put_` and `index_add_`, views known by their storage.

    Buffers are never taken for the engine's own: a tensor can share its storage with others, and
    with NumPy's arrays, that it does not refer to.
    """

    bridge = "gradwrap.torch.operation"

    def __init__(self, xp: Any, kind: type) -> None:
        super().__init__("torch", xp, frozenset({torch.Tensor}))

    def to_hold(self, array: Any) -> Any:
        """Return the tensor detached from torch's own autograd, which would record as well.

        Raises
        ------
        TrackedValueError
            torch records now, and the tensor is in its graph, which would end here unnoticed.
        """
        if not array.requires_grad:
            return array
        if torch.is_grad_enabled():
            raise TrackedValueError(
                "a tensor with requires_grad: it belongs to PyTorch's own graph, which would end "
                "here, so that its backward() would miss this part. Fix: call "
                "gradwrap.torch.layer(f), which is a part of that graph; or pass tensor.detach() "
                "if gradwrap's gradient is the one that is wanted, or call this inside of "
                "`with torch.no_grad():`."
            )
        return array.detach()

    def class_attributes(self) -> dict[str, Any]:
        """Return the protocol method that torch's functions and operators look for."""
        return {"__torch_function__": classmethod(torch_function)}

    def device(self, array: Any) -> Any:
        return array.device

    def is_at_hand(self, array: Any) -> bool:
        return array.device.type == "cpu"  # type: ignore[no-any-return]  # a string

    def copy(self, array: Any, order: str | None = None) -> Any:
        return array.clone()

    def kept(self, array: Any, level: int, briefly: bool = False) -> Any:
        """Copy a small CPU tensor; torch counts the writes to any other."""
        if type(array) not in self.array_types or array.is_inference():
            return array
        if array.nbytes <= COPIED and array.device.type == "cpu":
            return copied(array.clone(), array)
        return Guarded(array, Content(array, _version), calling_line())

    tells_views = True

    def may_be_view(self, array: Any, source: Any) -> bool:
        if array.untyped_storage().data_ptr() == source.untyped_storage().data_ptr():
            return True
        return hasattr(array, VIEW_BY_COPY)

    def scatter_add(self, buffer: Any, key: Any, values: Any) -> Any:
        key, axes = forwards(key, buffer.shape)
        if axes:
            flipped = self.scatter_add(torch.flip(buffer, axes), key, values)
            return torch.flip(flipped, axes)
        if is_basic_key(key) or getattr(key, "dtype", None) == torch.bool:
            buffer[key] += values
            return buffer
        parts = key if isinstance(key, TUPLE) else (key,)
        if all(isinstance(part, torch.Tensor) and part.dtype != torch.bool for part in parts):
            return buffer.index_put_(parts, values, accumulate=True)
        places = torch.arange(buffer.numel(), device=buffer.device).reshape(buffer.shape)[key]
        flat = buffer.reshape(-1).index_add_(0, places.reshape(-1), values.reshape(-1))
        return flat.reshape(buffer.shape)
