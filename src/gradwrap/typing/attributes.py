"""Protocols of arrays, from which the types of `x.dtype` and `x.device` follow."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Holds(Protocol[T_co]):
    """A variable, by what it holds."""

    _data: Any
    _backend: Any

    @property
    def data(self) -> T_co:
        """The native array."""


class HasDType(Protocol[T_co]):
    """An array with a dtype."""

    @property
    def dtype(self) -> T_co:
        """Its dtype."""


class HasDevice(Protocol[T_co]):
    """An array with a device."""

    @property
    def device(self) -> T_co:
        """Where it is."""
