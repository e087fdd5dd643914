"""Programs that a later process finds: what must agree, and what gives no program."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.calls.kept import SUFFIX
from gradwrap.errors import CompileWarning

SOURCE = Path(__file__).parents[2] / "src"
X = np.linspace(0.5, 1.5, 12)

MODEL = """
import functools
import math
import numpy as np
import gradwrap as gw

RATE = 2.0
TABLE = np.arange(12)
WEIGHTS = np.linspace(1.0, 2.0, 12)
SIZES = [1, 2]
CHOICE = {"power": 2}
PAIR = (1.0, ("two", 3))
KNOWN = {"a", "b"}

class Base:
    slope = 0.5
    def bend(self, x):
        return np.tanh(x * self.slope)

class Layer(Base):
    def __init__(self):
        self.bias = 0.25
    @property
    def scale(self):
        return self.bias * 2
    @staticmethod
    def moved(x):
        return x + 1.0

LAYER = Layer()

def helper(x, by=3.0):
    return x * by

def chain(x, power=2):
    s = x[0]
    for i in range(1, 12):
        s = np.sin(s) * x[i]
    return s

def loss(x):
    y = helper(LAYER.bend(x)) ** CHOICE["power"] * RATE + LAYER.scale + Layer.moved(x)
    if "a" in KNOWN:
        y = y * PAIR[0] * SIZES[1]
    return np.sum(y * WEIGHTS * TABLE) + chain(x) * math.sqrt(4.0)

multiplied = functools.partial(helper, by=1.5)
function = gw.grad(lambda x: loss(multiplied(x)))
"""


def made(text: str = MODEL) -> Any:
    """Run the text of a module, which is new to this process."""
    module = types.ModuleType("a_model")
    exec(compile(text, "a_model.py", "exec"), module.__dict__)  # noqa: S102  written here
    return module


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a cache of this test."""
    path = tmp_path / "kept"
    monkeypatch.setenv("GRADWRAP_CACHE_DIR", str(path))
    return path


def files(folder: Path) -> set[str]:
    """Return the keys of the programs in the cache."""
    return {path.name.partition("-")[0] for path in folder.glob(f"*{SUFFIX}")}


def right(function: Any, *args: Any, engine: str = "numpy") -> Any:
    """Compile a function with a cache and compare two calls with it."""
    compiled = gw.compile(function, engine=engine, cache=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            np.testing.assert_allclose(compiled(*args), function(*args), rtol=1e-12)
    return compiled


def is_recalled(compiled: Any) -> bool:
    """Tell if the program was not traced."""
    (entry,) = compiled._entries.values()
    return not entry.traces


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_an_equal_function_finds_the_program(engine: str, folder: Path) -> None:
    first = right(made().function, X, engine=engine)
    assert not is_recalled(first)
    assert len(files(folder)) == 1
    module = made()
    second = right(module.function, X, engine=engine)
    assert is_recalled(second)
    assert second.source == first.source
    assert second.check(X).startswith("output 0")
    for weights in (np.ones(12), np.linspace(3.0, 1.0, 12)):  # read at each call
        module.WEIGHTS[:] = weights
        np.testing.assert_allclose(second(X + 0.5), module.function(X + 0.5), rtol=1e-12)
    module.RATE = 3.0  # watched, as after a trace
    np.testing.assert_allclose(second(X), module.function(X), rtol=1e-12)


CHANGES = (
    ("RATE = 2.0", "RATE = 2.5"),
    ("RATE = 2.0", "RATE = 2"),
    ("np.arange(12)", "np.arange(1, 13)"),
    ("np.arange(12)", "np.arange(12.0)"),
    ("np.linspace(1.0, 2.0, 12)", "np.linspace(1.0, 2.0, 12, dtype=np.float32)"),
    ("SIZES = [1, 2]", "SIZES = [1, 3]"),
    ('"power": 2', '"power": 3'),
    ("PAIR = (1.0,", "PAIR = (1.5,"),
    ('("two", 3)', '("two", 4)'),
    ('KNOWN = {"a", "b"}', 'KNOWN = {"c", "b"}'),
    ("slope = 0.5", "slope = 0.75"),
    ("np.tanh(x * self.slope)", "np.sinh(x * self.slope)"),
    ("self.bias = 0.25", "self.bias = 0.5"),
    ("self.bias * 2", "self.bias * 3"),
    ("return x + 1.0", "return x + 2.0"),
    ("class Layer(Base):", "class Layer(Base):\n    slope = 1.5"),
    ("by=3.0", "by=4.0"),
    ("return x * by", "return x / by"),
    ("by=1.5", "by=1.25"),
    ("range(1, 12)", "range(2, 12)"),
    ("np.sin(s)", "np.cos(s)"),
    ("math.sqrt(4.0)", "math.exp(4.0)"),
    ("gw.grad(lambda", "gw.elementwise_grad(lambda"),
    ("gw.grad(lambda x: loss(multiplied(x)))", "gw.grad(lambda x: loss(helper(x)))"),
    ("multiplied(x)))", "multiplied(x)), holomorphic=False, argnums=-1)"),
    ("RATE = 2.0", "RATE = 2.0\nsum = max"),
    ("LAYER = Layer()", "LAYER = Layer()\nLAYER.slope = 4.0"),
)


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_another_function_does_not(number: int, folder: Path) -> None:
    """The program would be wrong, or its key names something else."""
    before, after = CHANGES[number]
    assert before in MODEL
    right(made().function, X)
    known = files(folder)
    assert len(known) == 1
    changed = made(MODEL.replace(before, after))
    compiled = right(changed.function, X)
    assert not is_recalled(compiled)
    assert len(files(folder)) == 2


def test_the_arguments_and_the_engine_count(folder: Path) -> None:
    def f(x: Any, n: Any = 2, p: Any = None) -> Any:
        return x**n * (p or {"a": 1.0})["a"]

    calls: tuple[tuple[Any, ...], ...] = (
        *((X,), (X[:5],), (X.astype(np.float32),), (X[::2],), (X, 3), (X, 2.0)),
        *((X, np.int64(3)), (X, 2, {"a": 2.0}), (X, 2, {"a": X}), (np.float64(2.0),), (2.0,)),
        (X, 2, {"a": 2.0, "b": 1}),
    )
    for number, args in enumerate(calls, 1):
        for again in range(2):
            assert is_recalled(right(f, *args)) == bool(again)
        assert len(files(folder)) == number
    assert not is_recalled(right(f, X, engine="c"))


def test_without_the_argument_nothing_is_kept(folder: Path) -> None:
    gw.compile(made().function)(X)
    assert not folder.exists()


def test_a_program_that_rests_on_the_content_of_an_array_is_not_kept(folder: Path) -> None:
    text = """
import numpy as np
import gradwrap as gw
AROUND, READ = np.array([2.0, 3.0]), np.linspace(1.0, 2.0, 12)
function = gw.grad(lambda x: np.sum(x**2 * READ) * float(np.sum(AROUND * 2.0)))
"""
    for _ in range(2):
        module = made(text)
        compiled = gw.compile(module.function, cache=True)
        assert np.array_equal(compiled(X), module.function(X))
        assert files(folder) == set()
        module.AROUND[0] = 7.0  # which another process would not compare
        assert np.array_equal(compiled(X), module.function(X))
        assert len(compiled.programs) == 1


def test_a_branch_that_was_not_taken_before() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * 2 if x[0] > 0 else x * x

    right(f, X)
    compiled: Any = gw.compile(f, cache=True)
    for x in (X, -X, X, -X):
        np.testing.assert_array_equal(compiled(x), f(x))
    other = right(f, -X)
    for x in (X, -X):
        np.testing.assert_array_equal(other(x), f(x))


DOUBTFUL = {
    "the environment": "import os\ndef function(x):\n    return x * len(os.environ.get('A', 'a'))",
    "a file": (
        "def function(x):\n    with open('/dev/null') as file:\n"
        "        return x * len(file.read()) + x"
    ),
    "an identity": "def function(x):\n    return x * (id(function) > 0)",
    "a hash": "def function(x):\n    return x * (hash('a') != 0)",
    "a text as code": "def function(x):\n    return x * eval('2')",
    "a custom rule": (
        "import gradwrap as gw\nrule = gw.custom_jvp(lambda x: x * 2)\n"
        "rule.defjvp(lambda p, t: (p[0] * 2, t[0] * 2))\n"
        "def function(x):\n    return rule(x)"
    ),
    "a cached function": (
        "import functools\n@functools.lru_cache\ndef two():\n    return 2.0\n"
        "def function(x):\n    return x * two()"
    ),
    "an object of a library": (
        "import fractions\nHALF = fractions.Fraction(1, 2)\n"
        "def function(x):\n    return x * HALF.numerator"
    ),
    "another package": "import platform\ndef function(x):\n    return x * len(platform.machine())",
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_in_doubt_nothing_is_kept(name: str, folder: Path) -> None:
    function = made(f"import numpy as np\n{DOUBTFUL[name]}\n").function
    for _ in range(2):
        assert not is_recalled(right(function, X))
    assert not folder.exists()


def test_a_program_that_differs_is_not_used(folder: Path) -> None:
    """A file that is intact, but holds the program of another function."""
    right(lambda x: x * 2.0, X)
    (other,) = folder.glob(f"*{SUFFIX}")
    content = other.read_bytes()
    other.unlink()

    def f(x: Any) -> Any:
        return x * 3.0

    right(f, X)
    (path,) = folder.glob(f"*{SUFFIX}")
    key, digest = path.name.partition("-")[0], other.name.partition("-")[2]
    path.unlink()
    forged = folder / f"{key}-{digest}"
    forged.write_bytes(content)
    forged.chmod(0o600)
    assert not is_recalled(right(f, X))
    assert not forged.exists()  # the right one takes its place
    assert is_recalled(right(f, X))


def test_a_program_of_another_version_or_without_sense_is_none(folder: Path) -> None:
    from gradwrap.compiler import cache

    def f(x: Any) -> Any:
        return x * 3.0

    right(f, X)
    (path,) = folder.glob(f"*{SUFFIX}")
    for content in (b"", b"no pickle", b"\x80\x05K\x01.", b"\x80\x05cno_module\nno_name\n."):
        cache.store(path.name.partition("-")[0], SUFFIX, content)
        assert not is_recalled(right(f, X))
        assert is_recalled(right(f, X))


def test_a_damaged_program_is_a_warning_and_a_trace(folder: Path) -> None:
    function = made().function
    right(function, X)
    (path,) = folder.glob(f"*{SUFFIX}")
    path.write_bytes(path.read_bytes()[:-1])
    compiled = gw.compile(function, cache=True)
    with pytest.warns(CompileWarning, match="its digest is wrong. It is made anew"):
        compiled(X)
    assert not is_recalled(compiled)
    assert is_recalled(right(function, X))


def test_a_directory_that_cannot_be_used_is_a_warning_and_a_program(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    function = made().function
    compiled = gw.compile(function, cache=True)
    with pytest.warns(CompileWarning, match="programs of earlier processes cannot be used: others"):
        compiled(X)
    np.testing.assert_allclose(compiled(X), function(X), rtol=1e-12)
    assert len(compiled.programs) == 1
    assert list(folder.iterdir()) == []


PROCESS = """
import sys
import numpy as np
import gradwrap as gw
sys.path.insert(0, sys.argv[1])
import the_model
x = np.linspace(0.5, 1.5, 12)
compiled = gw.compile(the_model.function, engine=sys.argv[2], cache=True)
for one in (x, x, x + 0.5):
    np.testing.assert_allclose(compiled(one), the_model.function(one), rtol=1e-12)
(entry,) = compiled._entries.values()
print(len(entry.traces))
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_second_process_traces_nothing(engine: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "the_model.py").write_text(MODEL)
    traces: list[str] = []
    for seed in ("1", "2", "3"):  # the order of sets differs
        done = subprocess.run(
            [sys.executable, "-c", PROCESS, str(tmp_path), engine],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        traces.append(done.stdout.strip())
    assert traces == ["1", "0", "0"]
    assert len(files(folder)) == 1
