"""A library is described to gradwrap by its user: in a process of its own, as it is for good."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradwrap as gw
from lambdas import fn

SUPPORT = Path(__file__).parents[1] / "support"
SOURCE = Path(__file__).parents[2] / "src"
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

BY_NAME = """
import sys
import gradwrap as gw
import tiny_arrays as tiny

gw.register_backend("tiny_arrays", "tiny_backend:make")
print("tiny_backend" in sys.modules)
print(float(gw.grad(lambda x: x[0] * x[2])(tiny.asarray([1.0, 2.0, 3.0]))[0]))
print(sys.modules["tiny_backend"].made)
"""
MODULE = """
import gradwrap as gw

made = []

def make(xp, kind):
    made.append(kind.__name__)
    return gw.Backend("tiny_arrays", xp, frozenset({kind}))
"""


def run(program: str, *paths: Path) -> list[str]:
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=SUPPORT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCE, *paths)))},
    )
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout.splitlines()


def test_a_description_named_by_its_module_is_imported_with_the_first_array(tmp_path: Path) -> None:
    (tmp_path / "tiny_backend.py").write_text(MODULE, encoding="utf-8")

    assert run(BY_NAME, tmp_path) == ["False", "3.0", "['Array']"]


@pytest.mark.parametrize("text", ["mypackage.MyBackend", ":MyBackend", "mypackage:", "a:b.c"])
def test_a_text_that_names_no_description_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))) as refused:
        gw.register_backend("lib_of_a_test", text)

    assert 'Fix: name it by its module and its name, "mypackage.mylib:MyBackend".' in str(
        refused.value
    )


PLACING = """
import gradwrap as gw
import tiny_arrays as tiny

seen = []

class Placing(gw.Backend):
    def __init__(self, xp, kind):
        super().__init__("tiny_arrays", xp, frozenset({kind}))

    def placed(self, cotangent, meta):
        seen.append((cotangent.shape, meta.shape))
        return cotangent

gw.register_backend("tiny_arrays", Placing)
x = tiny.asarray([1.0, 2.0, 3.0])
g = gw.grad(lambda x: x.__array_namespace__().sum(x.__array_namespace__().sin(x)))(x)
print(seen)
"""


def test_each_cotangent_of_a_formula_is_placed() -> None:
    assert run(PLACING) == ["[((3,), (3,)), ((3,), (3,))]"]


def test_a_rule_for_one_library_names_an_operation_of_the_table() -> None:
    with pytest.raises(gw.errors.RuleDefinitionError, match="'summ' is not a name of the table"):
        gw.extend.replace_rule("summ", fn(lambda xp, g, x: g), backend="lib_of_a_test")


def test_a_description_is_used_from_the_first_array_on_and_cannot_change_after_it() -> None:
    assert run(PROGRAM) == [
        "[3.0, 0.0, 2.0] 3",
        (
            "arrays of tiny_arrays are known already. Fix: call register_backend before the first "
            "array of the library is given to gradwrap."
        ),
    ]
