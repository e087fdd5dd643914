"""What is different for CuPy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gradwrap.backends import cupy_protocol
from gradwrap.core.backend import Backend

if TYPE_CHECKING:
    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

__all__ = ["CupyBackend"]


class CupyBackend(Backend):
    """CuPy."""

    elsewhere = MappingProxyType({"special": "cupyx.scipy.special"})

    def __init__(self, xp: Any, kind: type) -> None:
        super().__init__("cupy", xp, frozenset({cupy.ndarray}))

    def class_attributes(self) -> dict[str, Any]:
        return cupy_protocol.class_attributes()
