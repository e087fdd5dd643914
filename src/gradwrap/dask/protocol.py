"""Attributes and methods of Dask's arrays beyond NumPy's, for tracked arrays."""

from __future__ import annotations

import contextlib
import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.extend import innermost

if TYPE_CHECKING:
    from collections.abc import Callable

LAYOUT = ("chunks", "chunksize", "numblocks", "npartitions")
VIEWS = {"blocks": "Blocks", "partitions": "Blocks", "vindex": "Points"}
"""The attributes that select parts, by the classes of `gradwrap.dask.indexing`."""
METHODS = {
    "argtopk": "reducing",
    "compute": "linear",
    "map_blocks": "blocks",
    "map_overlap": "overlapping",
    "persist": "linear",
    "rechunk": "linear",
    "topk": "reducing",
}
"""The methods that are functions of a module of `gradwrap.dask`."""
REDUCTIONS = (
    *("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"),
)


def class_attributes() -> dict[str, Any]:
    """Return the attributes of the variable class for Dask's arrays."""
    return {
        "compute_chunk_sizes": _compute_chunk_sizes,
        **{name: property(functools.partial(_layout, name)) for name in LAYOUT},
        **{name: property(functools.partial(_view, name)) for name in VIEWS},
        **{name: _method(name, module) for name, module in METHODS.items()},
        **{name: _reduction(name) for name in REDUCTIONS},
    }


def _layout(name: str, variable: Any) -> Any:
    return getattr(innermost(variable), name)


def _view(name: str, variable: Any) -> Any:
    return getattr(import_module("gradwrap.dask.indexing"), VIEWS[name])(variable)


def _method(name: str, module: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        function = getattr(import_module(f"gradwrap.dask.{module}"), name)
        if name.startswith("map_"):
            return function(args[0], self, *args[1:], **options)
        return function(self, *args, **options)

    method.__name__ = name
    return method


def _compute_chunk_sizes(self: Any) -> Any:
    """Compute and store the unknown lengths of chunks, as Dask's own method does."""
    innermost(self).compute_chunk_sizes()
    return self


def _reduction(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, split_every: Any = None, **options: Any) -> Any:
        with splitting(split_every):
            return getattr(np, name)(self, *args, **options)

    method.__name__ = name
    return method


def splitting(split_every: Any) -> contextlib.AbstractContextManager[Any]:
    """Set how many chunks reductions join at a time, in a `with` block."""
    if split_every is None:
        return contextlib.nullcontext()
    found: contextlib.AbstractContextManager[Any] = import_module("dask").config.set(
        split_every=split_every
    )
    return found
