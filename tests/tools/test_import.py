"""`import gradwrap` does little, and imports no array library but NumPy."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradwrap.adaptation import after_import

ROOT = Path(__file__).parents[2]
PATHS = (ROOT / "src", ROOT / "tests" / "support")
NOT_IMPORTED = (
    "array_api_strict",
    "autograd",
    "cupy",
    "dask",
    "jax",
    "matplotlib",
    "mygrad",
    "pandas",
    "pytest",
    "scipy",
    "sklearn",
    "torch",
)


def run(code: str) -> str:
    """Run code in a fresh interpreter, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATHS))}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=environment, text=True
    )
    return done.stdout


COUNTED = """
import json, sys
import array_api_compat, numpy, optree
from counting import lines
before = set(sys.modules)
count = lines(lambda: __import__("gradwrap"))
print(json.dumps([count, sorted(set(sys.modules) - before)]))
"""


def test_import_executes_few_lines() -> None:
    """Beyond its dependencies. The time is in `python -m benchmarks.overhead`."""
    count, modules = json.loads(run(COUNTED))
    assert count < 100_000
    assert len([name for name in modules if not name.startswith("gradwrap")]) < 5


def test_import_brings_no_other_array_library() -> None:
    modules = json.loads(run("import gradwrap, json, sys; print(json.dumps(list(sys.modules)))"))
    packages = {name.partition(".")[0] for name in modules}
    assert packages.isdisjoint(NOT_IMPORTED)
    assert {"array_api_compat", "gradwrap", "numpy", "optree"} <= packages
    compat = {name for name in modules if name.startswith("array_api_compat.")}
    backends = {name.split(".")[1] for name in compat} - {"common", "_internal", "numpy"}
    assert backends == set()


COMPILED = """
import json, sys
import numpy as np
import gradwrap as gw
gradient = gw.compile(gw.grad(lambda x: np.sum(np.tanh(x) ** 2)))
assert np.allclose(gradient(np.zeros(3)), 0.0)
assert gradient.programs
print(json.dumps(list(sys.modules)))
"""


def test_compiling_imports_what_it_needs() -> None:
    modules = set(json.loads(run(COMPILED)))
    assert "gradwrap.compiler.pipeline" in modules
    engines = {"gradwrap.compiler.engines.c.engine", "gradwrap.compiler.engines.jax"}
    parts = {"array_api_compat.numpy", "numpy.testing", "numpy.f2py"}
    assert modules.isdisjoint({"gradwrap.compiler.cache", "scipy", *engines, *parts})


def test_the_names_of_the_cache_are_those_of_the_compiler() -> None:
    code = "import gradwrap as gw; print(gw.compiler.cache_info().limit >= 0, gw.compiler.nothing)"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(code)
    assert "module 'gradwrap.compiler' has no attribute 'nothing'" in caught.value.stderr


@pytest.mark.parametrize("name", ["autograd", "errors", "testing"])
def test_public_modules_come_with_it(name: str) -> None:
    run(f"import gradwrap; gradwrap.{name}.__name__")


@pytest.mark.slow
def test_every_public_name_is_documented() -> None:
    code = "import gradwrap; print(*[n for n in dir(gradwrap) if not n.startswith('_')])"
    names = run(code).split()
    assert {"grad", "value_and_grad", "vjp", "wrap", "defvjp", "Variable"} <= set(names)
    undocumented = run(
        f"import gradwrap; print([n for n in {names!r} if not getattr(gradwrap, n).__doc__])"
    )
    assert undocumented.strip() == "[]"


def test_a_module_that_was_looked_for_is_set_up_when_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`find_spec` finds a module without importing it, as often as one likes."""
    (tmp_path / "looked_for.py").write_text("seen = []\n")
    (tmp_path / "setting_up.py").write_text("def enter(module): module.seen.append(module)\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setitem(after_import.ENTRIES, "looked_for", "setting_up:enter")
    for _ in range(2):
        assert importlib.util.find_spec("looked_for") is not None

    module = importlib.import_module("looked_for")

    assert module.seen == [module]
    assert "looked_for" not in after_import.ENTRIES
    monkeypatch.delitem(sys.modules, "looked_for")
    monkeypatch.delitem(sys.modules, "setting_up")


def test_a_step_that_fails_warns_and_the_import_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "another_version.py").write_text("__version__ = '0.1'\nvalue = 3\n")
    (tmp_path / "looks_for_more.py").write_text("def enter(module): module.absent.more = 1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setitem(after_import.ENTRIES, "another_version", "looks_for_more:enter")

    with pytest.warns(RuntimeWarning, match=r"could not set up another_version \(0\.1\): Attr"):
        module = importlib.import_module("another_version")

    assert module.value == 3
    monkeypatch.delitem(sys.modules, "another_version")
    monkeypatch.delitem(sys.modules, "looks_for_more")


OLD_SKLEARN = """
import sys, types
for name in ("sklearn", "sklearn.utils", "sklearn.utils._array_api"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["sklearn.utils._array_api"].get_namespace = len
import warnings
warnings.simplefilter("error")
import gradwrap
assert vars(sys.modules["sklearn.utils._array_api"])["get_namespace"] is len
print("done")
"""


def test_scikit_learn_without_the_names_of_later_versions_is_left_alone() -> None:
    assert run(OLD_SKLEARN).split() == ["done"]


OF_SCIPY = """
import json, sys
import numpy as np
import gradwrap as gw
import scipy.linalg
from scipy.linalg import inv
before = set(sys.modules)

@gw.adapting
def total(a):
    return np.sum(inv(a))

g = gw.grad(total)(np.array([[2.0, 0.0], [0.0, 4.0]]))
assert np.allclose(g, [[-0.25, -0.125], [-0.125, -0.0625]])
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_the_rules_of_a_subpackage_of_scipy_import_no_other() -> None:
    """Statistics and signals take longer to import than most programs to run."""
    pytest.importorskip("scipy")
    modules = json.loads(run(OF_SCIPY))
    assert "gradwrap.scipy.rules.linalg" in modules
    assert not [name for name in modules if name.startswith("scipy")]
