"""Arrays with a batch axis, as functions under `vmap` and the batched passes receive them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradwrap.core.backend import backend_of
from gradwrap.core.batched import Batch, Batched
from gradwrap.core.classes import wrapper_class
from gradwrap.core.meta import Meta

__all__ = ["batch_of"]

import_module("gradwrap.rules.batching")  # the table; nobody else needs it


def batch_of(data: Any, level: int, fallback: str = "loop", diagonal: Any = None) -> Batched[Any]:
    """All examples along the first axis of an array, each seen as one array."""
    backend = backend_of(data)
    meta = backend.meta(data, level)
    size, *shape = meta.shape
    one = Meta(tuple(shape), meta.dtype, meta.device, level, meta.is_complex)
    cls: Any = wrapper_class(Batched, backend)
    return cls(data, Batch(one, size, fallback, diagonal))  # type: ignore[no-any-return]  # a class is Any here
