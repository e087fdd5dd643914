"""The device of an array of any library: array-api-compat's functions.

Their types name the arrays of libraries that have no types, so that nothing is known of them to a
type checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import array_api_compat

if TYPE_CHECKING:
    from collections.abc import Callable

_compat: Any = array_api_compat
device: Final[Callable[[Any], Any]] = _compat.device
to_device: Final[Callable[..., Any]] = _compat.to_device
