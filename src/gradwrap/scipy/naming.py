"""The public name, for messages, of the SciPy function that received a tracked value."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gradwrap.scipy.dispatching import Refused
from gradwrap.scipy.table import row_of

if TYPE_CHECKING:
    from gradwrap.core.observing.callers import Caller


def advice(caller: Caller) -> str:
    """Return the remedy for a call of SciPy that cannot take a tracked value."""
    path = public_path(caller)
    if path is None:
        return (
            "import gradwrap.scipy as scipy, whose functions take tracked values; "
            "or give it .detach() if no gradient is wanted."
        )
    row = row_of(path)
    if row is not None and isinstance(row.kind, Refused):
        return f"scipy.{path} has no derivative: {row.kind.why}"
    return (
        f"scipy.{path} takes tracked values where SciPy is imported by import gradwrap.scipy as "
        "scipy, or after gradwrap.scipy.install(); or give it .detach() if no gradient is wanted."
    )


def public_path(caller: Caller) -> str | None:
    """Return the public path of the outermost call of a function or class of SciPy."""
    for module, names in caller.outside:
        parts = module.split(".")[1:]
        public = [part for part in parts if not part.startswith("_")]
        for depth in range(len(public), 0, -1):
            path = ".".join(public[:depth])
            known: Any = getattr(sys.modules.get(f"scipy.{path}"), "__all__", ())
            found = next((name for name in names if name in known), None)
            if found is not None:
                return f"{path}.{found}"
    return None
