"""The classes that describe workloads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
"""A native array, of the data or of a gradient written by hand."""

Namespace: TypeAlias = Any
"""NumPy, or a library's own version of it. The functions are written once for all of them."""

Traced: TypeAlias = Any
"""An array as one of the libraries wraps it."""


Transform: TypeAlias = Literal["grad", "jacobian", "hessian", "per-example", "per-example-loop"]


@dataclass(frozen=True)
class Workload:
    """One function, its gradient by hand, its data, and the bound on gradwrap's time.

    ``fun(np, *args)`` is ordinary NumPy code, with a scalar result, except for Jacobians;
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
    """The derivative; `per-example` maps over the first axis of arguments not in `argnums`."""
    bound: float | None = None
    """The most that gradwrap's time may be, as a multiple of the time by hand."""
    expected: Mapping[str, float] = field(default_factory=dict[str, float])
    """The multiples of other libraries, by name, as measured when the bound was set."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Libraries that are not timed on this workload, by name, with the reason."""
    own: Mapping[str, Callable[..., Traced]] = field(
        default_factory=dict[str, Callable[..., Traced]]
    )
    """The function as users of another library write it, by the library's name."""


@dataclass(frozen=True)
class Growth:
    """A bound on the growth of the time from one workload to a larger one."""

    name: str
    title: str
    small: str
    large: str
    bound: float
