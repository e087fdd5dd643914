"""State of the whole process that code reads by calls: the environment, the date, contexts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.tracing.surroundings.watch import State

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator


def _decimal_context(decimal: Any) -> str:
    """The precision, the rounding and the traps of the decimal module, as text."""
    return str(decimal.getcontext())


def _environment(os: Any) -> dict[Any, Any]:
    """The variables of the environment, not decoded where the system has them as bytes."""
    return dict(getattr(os.environ, "_data", os.environ))


def _error_handling(numpy: Any) -> dict[str, str]:
    """What NumPy does at errors of floating point numbers."""
    found: dict[str, str] = numpy.geterr()
    return found


STATES: tuple[tuple[frozenset[str], str, str, Callable[[Any], Any]], ...] = (
    (
        frozenset({"decimal", "Decimal", "getcontext", "localcontext"}),
        "the precision of decimal",
        "decimal",
        _decimal_context,
    ),
    (frozenset({"environ", "getenv", "expandvars"}), "the environment", "os", _environment),
    (frozenset({"getcwd"}), "the working directory", "os", lambda os: os.getcwd()),
    (frozenset({"today"}), "the date", "datetime", lambda datetime: datetime.date.today()),
    (frozenset({"geterr"}), "NumPy's handling of errors", "numpy", _error_handling),
    (
        frozenset({"get_printoptions"}),
        "how NumPy prints arrays",
        "numpy",
        lambda numpy: numpy.get_printoptions(),
    ),
)
"""By the names in code that reads it: what it is, its module, and a function that returns it."""


def states(names: Collection[str]) -> Iterator[State]:
    """Yield the places to watch for code that has these names."""
    for words, title, module, key in STATES:
        if module in sys.modules and not words.isdisjoint(names):
            yield State(title, sys.modules[module], key)
