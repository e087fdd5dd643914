"""A sample of the tests: each function, and of its cases some of each row of the table.

And the mark of the long cases of a function, which CI leaves out: others stand for them there.
"""

from __future__ import annotations

import random
import re
import zlib
from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONG = (pytest.mark.slow, pytest.mark.long)
"""The marks of a case that `pytest -m long` runs, and CI does not."""

FEW = 6
"""The most cases of a function that are all in the sample."""
EVERY = 10
"""One case in so many is in the sample, where there are more."""
CALL = re.compile(r"(?:^|-)([A-Za-z_][\w.]*)\[")
"""The name of a row in the identifier of a call, as in `torch-linalg.qr[x(2, 3)]-float64`."""
EMPTY = re.compile(r"x\((\d+, )*0[,)]")
"""An empty array in the identifier of a call, which is chosen last: it has no derivative."""
END = re.compile(r"[-(:, ]")
"""What ends the name of a row in another identifier, as in `sin-float32-forward`."""


def sampled(identifiers: Iterable[str]) -> set[str]:
    """Return the identifiers of the tests that are in the sample.

    Every function is in it, and every row for which a function has several cases. The choice
    depends on the identifiers alone, so that all processes agree.
    """
    by_function: dict[str, list[str]] = defaultdict(list)
    for identifier in identifiers:
        by_function[identifier.partition("[")[0]].append(identifier)
    return {
        one
        for cases in by_function.values()
        for group in _groups(cases)
        for one in sorted(group, key=_order)[: -(-len(group) // EVERY)]
    }


def _groups(cases: list[str]) -> Iterable[list[str]]:
    """The cases of a function in groups, some of each of which are in the sample."""
    if len(cases) <= FEW:
        return [[case] for case in cases]
    rows: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        name = case.partition("[")[2]
        call = CALL.search(name)
        rows[call[1] if call else END.split(name)[0]].append(case)
    return rows.values() if len(rows) <= len(cases) / 2 else [cases]


def crossed(*values: Sequence[Any]) -> list[Any]:
    """Return each combination of values as a case; those that add no value to others are long."""
    short: set[tuple[int, ...]] = set()
    seen: set[tuple[int, int]] = set()
    combinations = list(product(*(range(len(some)) for some in values)))
    for chosen in random.Random(0).sample(combinations, len(combinations)):
        if not seen.issuperset(enumerate(chosen)):
            short.add(chosen)
            seen.update(enumerate(chosen))
    cases: list[Any] = []
    for chosen in combinations:
        parts = [some[i] for some, i in zip(values, chosen, strict=True)]
        marks = [mark for part in parts for mark in getattr(part, "marks", ())]
        plain = [part.values[0] if hasattr(part, "marks") else part for part in parts]
        cases.append(pytest.param(*plain, marks=[*marks, *(() if chosen in short else LONG)]))
    return cases


def _order(identifier: str) -> tuple[bool, int]:
    """Return what brings identifiers in no particular order, the same in each process."""
    return EMPTY.search(identifier) is not None, zlib.crc32(identifier.encode())
