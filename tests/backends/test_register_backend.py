"""A library is described to gradwrap by its user: in a process of its own, as it is for good."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"
PROGRAM = """
import gradwrap as gw
import tiny_arrays as tiny

added = []

class Counting(gw.Backend):
    def __init__(self, xp, kind):
        super().__init__("tiny_arrays", xp, frozenset({kind}))

    def scatter_add(self, buffer, key, values):
        added.append(key)
        return super().scatter_add(buffer, key, values)

gw.register_backend("tiny_arrays", Counting)
x = tiny.asarray([1.0, 2.0, 3.0])
g = gw.grad(lambda x: x[0] * x[2] + x[2])(x)
print([float(g[i]) for i in range(3)], len(added))
try:
    gw.register_backend("tiny_arrays", Counting)
except ValueError as error:
    print(error)
"""


def test_a_description_is_used_from_the_first_array_on_and_cannot_change_after_it() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=SUPPORT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines() == [
        "[3.0, 0.0, 2.0] 3",
        (
            "arrays of tiny_arrays are known already. Fix: call register_backend before the first "
            "array of the library is given to gradwrap."
        ),
    ]
