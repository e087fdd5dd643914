"""Joins the parts of gradwrap: each fills the places that the parts below it leave open.

The parts that few programs need are named by text, and imported when they are first asked.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.after_import import enter_all
from gradwrap.backends import register_all
from gradwrap.core.array.display import displays
from gradwrap.core.array.protocol import loops
from gradwrap.core.library.registration import register_backend
from gradwrap.core.observing.callers import advisers

if TYPE_CHECKING:
    from collections.abc import Callable


def set_up() -> None:
    """Register the array libraries, fill the open places, and set up steps after other imports."""
    register_all()
    register_backend("dask", "gradwrap.dask.backend:DaskBackend")
    advisers["scipy"] = _later("gradwrap.scipy.naming", "advice")
    displays["html"] = _later("gradwrap.drawing.notebook", "html")
    loops.append(_later("gradwrap.transforms.one_by_one", "one_by_one"))
    enter_all()


def _later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module when it is called."""

    def call(*args: Any) -> Any:
        return getattr(import_module(module), name)(*args)

    return call
