"""Programs for the tape, written once and run on gradwrap and on PyTorch.

`Side` has what differs between the two libraries; everything else has the same name in both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import is_a

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Side", "close", "gradwrap_side", "plain", "torch_side"]


class Side:
    """A library as a program sees it: its namespace, and how to make arrays."""

    def __init__(
        self, name: str, lib: Any, leaf: Callable[[Any], Any], native: Callable[[Any], Any]
    ) -> None:
        self.name = name
        self.lib = lib
        """`autograd`, `no_grad`, `enable_grad`, `set_grad_enabled`, `is_grad_enabled`."""
        self.leaf = leaf
        """A tracked array of some values."""
        self.native = native
        """An array as gradients are given and received: NumPy's, or a tensor."""

    def xp(self) -> Any:
        """The functions of arrays: exp, sin, sum ..."""
        return np if self.name == "gradwrap" else self.lib


def gradwrap_side() -> Side:
    return Side(
        "gradwrap",
        gw,
        lambda value: gw.wrap(np.array(value, np.float64), requires_grad=True),
        lambda value: np.array(value, np.float64),
    )


def torch_side() -> Side:
    torch = pytest.importorskip("torch")

    def tensor(value: Any) -> Any:
        return torch.tensor(np.array(value, np.float64))

    return Side("torch", torch, lambda value: tensor(value).requires_grad_(), tensor)


def plain(value: Any) -> Any:
    """Convert results to nested lists of numbers, text and None, to be compared."""
    if is_a(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if is_a(value, list, tuple):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "detach"):
        value = value.detach()
    return value.tolist()


def close(found: Any, expected: Any, rel: float = 1e-12) -> None:
    """Assert that two results have equal structure, and numbers that agree to rounding."""
    if is_a(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = list(found.values()), [expected[key] for key in found]
    if is_a(expected, list):
        assert is_a(found, list)
        assert len(found) == len(expected), (found, expected)
        for one, other in zip(found, expected, strict=True):
            close(one, other, rel)
    elif isinstance(expected, (int, float)) and not isinstance(expected, bool):
        assert math.isclose(found, expected, rel_tol=rel, abs_tol=1e-12), (found, expected)
    else:
        assert found == expected
