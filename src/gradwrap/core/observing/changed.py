"""Objects of the user's that hold tracked values for now, and are put right when a transform ends.

`note_changed` registers what puts an object right. It is called when the outermost transform of its
thread ends, however it ends.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

changed: dict[int, list[Callable[[], None]]] = {}
"""What puts the changed objects right, by the thread that has changed them."""


def note_changed(put_right: Callable[[], None]) -> None:
    """Let an object be put right when the outermost transform of this thread ends."""
    changed.setdefault(threading.get_ident(), []).append(put_right)


def put_right() -> None:
    """Put right what this thread has changed, the last change first."""
    for one in reversed(changed.pop(threading.get_ident(), [])):
        one()
