"""`tuple` and the like to `isinstance`, for which type checkers take the parts for Any."""

from typing import Any, Final

TUPLE: Final[type[Any]] = tuple
LIST: Final[type[Any]] = list
SLICE: Final[type[Any]] = slice
SEQUENCE: Final[tuple[type[Any], ...]] = (tuple, list)
