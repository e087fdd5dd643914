"""HIPS autograd inside of other code: its boxes hold tracked values, as they hold arrays."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


def enter_autograd(_module: Any) -> None:
    """Let our operators leave boxes to their own, as the operators of arrays do."""
    boxes: Any = import_module("autograd.numpy.numpy_boxes")
    boxes.ArrayBox._stands_for = np.ndarray  # noqa: SLF001  ours
