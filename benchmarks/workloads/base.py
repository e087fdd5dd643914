"""What a workload is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
"""A native array: the data, and what a gradient written by hand returns."""

Namespace: TypeAlias = Any
"""NumPy, or a library's own version of it. The functions are written once for all of them."""

Traced: TypeAlias = Any
"""An array as one of the libraries wraps it."""


Transform: TypeAlias = Literal["grad", "jacobian", "hessian", "per-example", "per-example-loop"]


@dataclass(frozen=True)
class Workload:
    """One function, its gradient by hand, its data, and what is expected of gradwrap.

    ``fun(np, *args)`` is ordinary NumPy code, with a scalar result but for Jacobians;
    ``by_hand(np, *args)`` is its gradient (or what ``transform`` says) with respect to ``args[i]``
    for each ``i`` in ``argnums``, as good plain code for NumPy, or for CuPy.
    """

    name: str
    title: str
    fun: Callable[..., Traced]
    by_hand: Callable[..., tuple[Array, ...]]
    data: Callable[[np.random.Generator], tuple[Array, ...]]
    argnums: tuple[int, ...] = (0,)
    transform: Transform = "grad"
    """What is computed; `per-example` maps over the first axis of what is not in `argnums`."""
    bound: float | None = None
    """The most that gradwrap's time may be, as a multiple of the time by hand."""
    expected: Mapping[str, float] = field(default_factory=dict[str, float])
    """The multiples of other libraries as measured when the bound was set, by their names."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Libraries that are not timed on this workload, by their names, with the reason."""


@dataclass(frozen=True)
class Growth:
    """A bound on how the time grows from one workload to a larger one."""

    name: str
    title: str
    small: str
    large: str
    bound: float
