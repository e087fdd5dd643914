"""A sample of PyTorch's samples: `opinfo.py`."""

from __future__ import annotations

import random

import pytest
from tests.fuzz.opinfo import DTYPES, op_db, samples_of, unexplained
from tests.fuzz.opinfo import examine as examined

pytest.importorskip("torch")
pytestmark = [pytest.mark.peers, pytest.mark.slow]

PARTS = 8
MOST = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_samples_of_pytorch_are_right_or_refused(part: int) -> None:
    """One sample of each operation and dtype; a part of the operations at a time."""
    chooser = random.Random(part)
    failed: list[str] = []
    right = 0
    for op in op_db()[part::PARTS]:
        for dtype in DTYPES:
            samples = [s for s in samples_of(op, dtype) if sum(a.size for a in s.arrays) < 400]
            if samples:
                result = examined(chooser.choice(samples))
                failed += unexplained(result)
                right += len(result.passed)
    assert not failed, "\n".join(failed[:MOST])
    assert right > 50
