"""SciPy's own interpolants at tracked points, entered at their import."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.scipy_fft import is_variable

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = ("PPoly", "BPoly", "BSpline", "RegularGridInterpolator", "interp1d")
"""Their attributes are the arguments of their constructors; `CubicSpline` and others derive."""
OURS = "gradwrap.scipy.interpolants"


def enter_interpolants(module: Any) -> None:
    """Let objects of these classes be called with tracked points."""
    for name in CLASSES:
        kind = getattr(module, name)
        kind.__call__ = _calling(kind.__call__)


def _calling(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the call of plain interpolants, so that our class answers it at tracked points."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not any(map(is_variable, (*args, *kwargs.values()))):
            return method(self, *args, **kwargs)
        ours: Any = import_module(OURS)
        return ours.rebuilt(self)(*args, **kwargs)

    return call
