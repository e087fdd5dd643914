"""SciPy's own interpolants and splines at tracked points, entered at their import."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.after_import import exchange
from gradwrap.adaptation.scipy_fft import is_variable
from gradwrap.core.library.labelled import opening

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = (
    *("PPoly", "BPoly", "BSpline", "RegularGridInterpolator", "interp1d", "KroghInterpolator"),
    *("BarycentricInterpolator", "NearestNDInterpolator", "LinearNDInterpolator"),
    *("RBFInterpolator", "Rbf"),
)
"""Their attributes are the arguments of their constructors; `CubicSpline` and others derive."""
FITTED = {
    ("UnivariateSpline", "__call__"): "of_univariate",
    ("UnivariateSpline", "integral"): "integral_of",
    ("BivariateSpline", "__call__"): "of_bivariate",
    ("BSpline", "integrate"): "between",
    ("PPoly", "integrate"): "between",
}
"""The methods of splines that SciPy has fitted, and the functions that compute the same."""
OURS = "gradwrap.scipy.interpolants"


def enter_interpolants(module: Any) -> None:
    """Let objects of these classes be called with tracked points."""
    for name in CLASSES:
        answer_with(getattr(module, name, None), "__call__", _call_rebuilt)
    for (name, method), function in FITTED.items():
        answer_with(getattr(module, name, None), method, _ours(function))


def answer_with(kind: Any, name: str, answer: Callable[..., Any]) -> None:
    """Let `answer` be called in place of a class's method for tracked arguments, if it has one."""
    exchange(kind, name, lambda method: answering(method, answer))


def answering(method: Callable[..., Any], answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of plain objects, so that `answer` is called for tracked arguments."""

    @opening
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_tracked = any(map(is_variable, (*args, *kwargs.values())))
        return (answer if is_tracked else method)(self, *args, **kwargs)

    return call


def _call_rebuilt(made: Any, *args: Any, **kwargs: Any) -> Any:
    return import_module(OURS).rebuilt(made)(*args, **kwargs)


def _ours(name: str) -> Callable[..., Any]:
    def answer(made: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(OURS), name)(made, *args, **kwargs)

    return answer
