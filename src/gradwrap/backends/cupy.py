"""What is different for CuPy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends import cupy_protocol
from gradwrap.core.backend import Backend

if TYPE_CHECKING:
    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

__all__ = ["CupyBackend"]

SCALAR_TYPES: frozenset[type[Any]] = frozenset(
    kind for kind in np.sctypeDict.values() if issubclass(kind, (np.number, np.bool_))
)


class CupyBackend(Backend):
    """CuPy."""

    elsewhere = MappingProxyType({"special": "cupyx.scipy.special"})

    def __init__(self, xp: Any, kind: type) -> None:
        super().__init__("cupy", xp, frozenset({cupy.ndarray}))
        self.plain_types: frozenset[type] = self.plain_types | SCALAR_TYPES  # as CuPy takes them

    def class_attributes(self) -> dict[str, Any]:
        return cupy_protocol.class_attributes()
