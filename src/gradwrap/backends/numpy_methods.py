"""The methods of NumPy's arrays, as methods of a variable: NumPy's functions of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwrap.backends.numpy_functions import IMPLEMENTATIONS

__all__ = ["find"]

Method = Callable[..., Any]

SAME_NAME = frozenset(
    [
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "clip",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "max",
        "mean",
        "min",
        "nonzero",
        "prod",
        "ptp",
        "ravel",
        "repeat",
        "round",
        "searchsorted",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "take",
        "trace",
        "var",
    ]
)


def _astype(
    x: Any,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    if x._backend.name == "numpy":
        dtype = np.dtype(dtype)
    return x._namespace.astype(x, dtype, copy=copy)


def _flatten(x: Any, order: str = "C") -> Any:
    return x._namespace.copy(IMPLEMENTATIONS[np.ravel](x._namespace, x, order))


def _conj(x: Any) -> Any:
    return x._namespace.conj(x) if x._backend.dtype_kind(x.dtype)[1] else x


def _fill(x: Any, value: Any) -> None:
    x[...] = value


OWN: dict[str, Method] = {
    "astype": _astype,
    "flatten": _flatten,
    "conj": _conj,
    "conjugate": _conj,
    "fill": _fill,
}


def find(name: str) -> Method | None:
    """The function that stands for a method; its first argument is the variable."""
    own = OWN.get(name)
    if own is not None or name not in SAME_NAME:
        return own
    implementation = IMPLEMENTATIONS[getattr(np, name)]

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        return implementation(x._namespace, x, *args, **kwargs)

    return method
