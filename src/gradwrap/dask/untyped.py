"""Container types for `isinstance`; type checkers then treat the items as Any."""

from typing import Any, Final

TUPLE: Final[type[Any]] = tuple
LIST: Final[type[Any]] = list
SLICE: Final[type[Any]] = slice
SEQUENCE: Final[tuple[type[Any], ...]] = (tuple, list)
