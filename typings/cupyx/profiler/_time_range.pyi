from collections.abc import Callable
from typing import Any, Self, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class time_range:
    def __init__(
        self,
        message: str | None = None,
        color_id: int | None = None,
        argb_color: int | None = None,
        sync: bool = False,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None: ...
    def __call__(self, func: _F) -> _F: ...
