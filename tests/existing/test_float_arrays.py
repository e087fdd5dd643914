"""Arrays of the standard library, `array.array("d")`, that hold tracked numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import GradwrapError
from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7])
PROGRAMS = {
    "of a list": "return array.array('d', x.tolist())[0] * x[1]",
    "of an iterator": "return sum(A('d', (v * v for v in x))) * A('d', x)[-1]",
    "filled": """
        a = array.array('d', [0.0, 0.0])
        a[0] = float(x[0])
        a[1] += x[1]
        return a[0] * x[1] + a[1] ** 2
        """,
    "repeated": """
        a = A('d', [0]) * 3
        for i in range(3):
            a[i] = x[0] * i
        a[1:] = A('d', [x[1], 2.0])
        return np.array(a).sum() * x[1]
        """,
    "grown": """
        a = A('d')
        a.append(float(x[0]))
        a.extend([1.0, float(x[1])])
        a.insert(1, 3)
        a.fromlist([x[0]])
        assert a.tolist()[1] == 3.0 and a.index(3.0) == 1 and len(a) == 5
        return sum(a) * np.array(a)[3] + a.pop() ** 2
        """,
    "joined": """
        a = A('d', x)
        b = a[:1] + A('d', [x[1], 2.0])
        assert isinstance(b, A) and type(a) is A and b.typecode == 'd' and b.itemsize == 8
        return math.fsum(b) * max(a) + np.asarray(b)[1] ** 2
        """,
    "functions of NumPy": """
        a = A('d', x)
        return np.linalg.norm(a) + np.mean(a) + np.exp(a).sum() + np.asarray(a, dtype=float)[0]
        """,
    "plain ones": """
        a = A('d', [1.0, 2.0])
        return np.frombuffer(a)[0] * x[0] + a[1] * x[1] + A('i', [1, 2])[0] + A('f', [0.5])[0]
        """,
}
SOURCE = "import array\nfrom array import array as A\ndef run(x):\n"


@pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")
@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_arrays_of_tracked_numbers(body: str, tmp_path: Path) -> None:
    lines = [f"    {line.removeprefix(' ' * 8)}" for line in body.strip("\n").rstrip().split("\n")]
    check_modes(written(tmp_path, SOURCE + "\n".join(lines)).run, X)


@pytest.mark.parametrize(
    "read", ["np.frombuffer(a)", "memoryview(a)", "np.frombuffer(a.tobytes())"]
)
def test_their_memory_is_refused(read: str, tmp_path: Path) -> None:
    run = written(tmp_path, f"{SOURCE}    a = A('d', x)\n    return {read}[0] * x[1]\n").run
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(GradwrapError, match=r'in run .*Fix: .*compiled="numerical"'):
            transform(gw.adapting(run))(X)
    found = gw.grad(gw.adapting(run, compiled="numerical"))(X)
    np.testing.assert_allclose(found, X[::-1], rtol=1e-8)
