"""Gaps of array-api-compat: missing types, and copies of namespaces with other functions.

The types name the arrays of libraries that have none, so a type checker knows nothing of them.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import array_api_compat

if TYPE_CHECKING:
    from collections.abc import Callable

_compat: Any = array_api_compat
device: Final[Callable[[Any], Any]] = _compat.device
to_device: Final[Callable[..., Any]] = _compat.to_device


def module_like(namespace: Any, **changes: Any) -> ModuleType:
    """Copy a namespace into a new module, with `changes` to its functions."""
    made = ModuleType(namespace.__name__)
    made.__dict__.update({**namespace.__dict__, **changes})
    return made
