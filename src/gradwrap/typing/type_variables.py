"""The type variables of the protocols: what their functions take, and what they return."""

from __future__ import annotations

from typing import Any, TypeVar

A = TypeVar("A", bound=Any)
In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)
Other_co = TypeVar("Other_co", covariant=True)
"""An array whose dtype is not that of the arguments: bools, positions, Fourier coefficients."""
