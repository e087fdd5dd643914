"""What comparisons of tracked values answer in a callback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gradwrap.core.levels.wrapper import holds_batch, native
from gradwrap.core.observing.comparing import looker, looks

if TYPE_CHECKING:
    from types import TracebackType


class Answers:
    """What comparisons of tracked values answer while a function runs, and its other jumps."""

    def __init__(self, *, is_probe: bool = False) -> None:
        self.found: list[tuple[str, Any, Any]] = []
        """Where they jump, and their operands."""
        self._outer: Any = None if is_probe else looks()

    def __enter__(self) -> Self:
        self._token = looker.set(self._look)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        looker.reset(self._token)

    def _look(self, jumps: str, left: Any, right: Any = 0.0) -> None:
        if self._outer is not None:
            self._outer(jumps, left, right)
        if jumps != "equality" and not holds_batch([left, right]):  # nothing is equal on both sides
            self.found.append((jumps, native(left), native(right)))

    def answers(self) -> list[bytes]:
        """Return what was answered, in a form that can be compared."""
        return [_answer(*one) for one in self.found]


def _answer(jumps: str, left: Any, right: Any) -> bytes:
    with np.errstate(all="ignore"):
        match jumps:
            case "whole":
                found = np.floor(left)
            case "half":
                found = np.rint(left)
            case "quotient":
                found = np.floor_divide(left, right)
            case "place":
                found = np.argsort(left, axis=None, kind="stable")
            case "sign":
                found = np.sign(np.real(left))
            case _:
                found = np.sign(np.subtract(left, right))
    return np.asarray(found).tobytes()
