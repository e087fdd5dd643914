"""Arrays with a batch axis, as functions under `vmap` and the batched passes receive them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradwrap.core.calls.batch import Batch, Batched
from gradwrap.core.library.backend import backend_of, wrapper_class
from gradwrap.core.values.space import Meta

import_module("gradwrap.rules.batching")  # the table; nobody else needs it


def batch_of(data: Any, level: int, fallback: str = "loop") -> Batched[Any]:
    """All examples along the first axis of an array, each seen as one array."""
    backend = backend_of(data)
    meta = backend.meta(data, level)
    size, *shape = meta.shape
    one = Meta(tuple(shape), meta.dtype, meta.device, level, meta.is_complex)
    cls: Any = wrapper_class(Batched, backend)
    return cls(data, Batch(one, size, fallback))  # type: ignore[no-any-return]  # a class is Any here


def unit_batch(vector: Any, level: int) -> Batched[Any]:
    """The unit vectors of the space of a vector."""
    backend = backend_of(vector)
    meta = backend.meta(vector, level)
    batch = Batch(meta, meta.shape[0], "loop", backend.ones_like(vector), is_unit=True)
    cls: Any = wrapper_class(Batched, backend)
    return cls._of_diagonal(batch)  # type: ignore[no-any-return]  # a class is Any here
