"""Names that programs use themselves, many guards, functions without source, memory, pickle."""

from __future__ import annotations

import copy
import functools
import gc
import os
import pickle
import py_compile
import subprocess
import sys
import warnings
import weakref
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.tree import flatten
from lambdas import fn

SOURCE = Path(__file__).parents[2] / "src"
X = np.linspace(0.5, 1.5, 12)
NAMES = (
    *("kernel0", "kernel1", "enumerate", "zip", "range", "slice", "bool", "int", "float", "len"),
    *("IndexError", "WORKSPACES", "Missed", "aligned", "add_at", "compiled", "arrays", "pathlib"),
    *("np_", "w0", "t1", "g2", "c0", "r1_0", "k", "i", "sin", "scipy", "a0"),
)


def chained(name: str) -> Any:
    """Make a function of an argument of this name."""
    scope: dict[str, Any] = {"np": np, "numbers": [*range(1, 12)]}
    lines = [
        f"def f({name}):",
        f"    s = {name}[0]",
        "    for i_ in numbers:",
        f"        s = np.sin(s) * {name}[i_]",
        "    return s",
    ]
    exec("\n".join(lines), scope)  # noqa: S102  written here
    return scope["f"]


def closed_over(name: str) -> Any:
    """Make a function that reads a global array of this name."""
    scope: dict[str, Any] = {"np": np, name: np.linspace(1.0, 2.0, 12), "numbers": [*range(1, 12)]}
    lines = [
        "def f(x):",
        "    s = x[0]",
        "    for i_ in numbers:",
        f"        s = np.sin(s) * x[i_] * {name}[i_]",
        f"    return s + np.sum(np.exp({name}) * x)",
    ]
    exec("\n".join(lines), scope)  # noqa: S102  written here
    return scope["f"]


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("make", [chained, closed_over])
@pytest.mark.parametrize("name", NAMES)
def test_an_array_may_have_the_name(name: str, make: Any, engine: str) -> None:
    function = gw.grad(make(name))
    compiled = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(X)
        found = compiled(X + 0.25)
    np.testing.assert_allclose(found, function(X + 0.25), rtol=1e-12)
    assert "not rolled" not in compiled.explain()
    plain: Any = gw.compile(gw.grad(make("plain")), engine=engine)
    plain(X)
    assert len(compiled.programs[0].root.body) == len(plain.programs[0].root.body)


@pytest.mark.slow
@pytest.mark.unverified
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_loop_that_looks_at_values_may_take_nine_hundred_turns(engine: str) -> None:
    def f(x: Any) -> Any:
        total = x[0] * 0.0
        while total < x[1]:
            total = total + x[0]
        return total * total

    compiled = gw.compile(gw.grad(f), engine=engine)
    for turns in (900, 897):
        x = np.array([1.0, turns - 0.5])
        for _ in range(2):
            np.testing.assert_array_equal(compiled(x), [2.0 * turns**2, 0.0])
    assert len(compiled.programs) == 1


# Arguments and results that nobody needs ----------------------------------------------------------

HANDING_ON: dict[str, Any] = {
    "a number": lambda x: np.sum(np.sin(x) * x),
    "an array": lambda x: np.exp(-x) * 2,
    "the argument": lambda x: x,
    "views of it": lambda x: (x.T, x[2:10], x.reshape(-1, 2)),
    "a gradient": gw.grad(fn(lambda x: np.sum(np.sin(x) ** 2))),
    "branches": lambda x: np.sum(x) * x if x[0] > 0 else x,
}


@pytest.mark.unverified
@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("name", HANDING_ON)
def test_arguments_and_results_are_not_kept_alive(name: str, engine: str) -> None:
    compiled = gw.compile(HANDING_ON[name], engine=engine)
    seen: list[Any] = []
    for sign in (1.0, 1.0, -1.0, -1.0):
        x = np.full(40, sign)
        results = compiled(x)
        seen.append(weakref.ref(x))
        parts = results if isinstance(results, tuple) else (results,)
        seen += [weakref.ref(one) for one in parts if isinstance(one, np.ndarray)]
        del x, results, parts
    gc.collect()
    assert [one() for one in seen] == [None] * len(seen)


def test_an_array_of_the_surroundings_is_not_kept_when_it_is_replaced() -> None:
    class Layer:
        weights: Any = None

        def apply(self, x: Any) -> Any:
            return x * self.weights

    layer = Layer()
    compiled = gw.compile(layer.apply)
    layer.weights = np.ones(12)
    compiled(X)
    seen = weakref.ref(layer.weights)
    layer.weights = np.full(12, 2.0)
    np.testing.assert_array_equal(compiled(X), 2 * X)
    gc.collect()
    assert seen() is None


# Functions without source -------------------------------------------------------------------------

MODULE = """
import numpy as np
import gradwrap as gw

WEIGHTS = np.linspace(1.0, 2.0, 12)
square = lambda x: np.sum(WEIGHTS * x**2)

def chain(x):
    s = x[0]
    for i in range(1, 12):
        s = np.sin(s) * x[i]
    return s * np.sum(WEIGHTS)
"""
RUN = """
import importlib, sys, types, warnings
import numpy as np
import gradwrap as gw

warnings.simplefilter("error")
folder, kind, engine = sys.argv[1:]
if kind == "frozen":
    module = types.ModuleType("without_source")
    exec(compile(sys.stdin.read(), "<frozen without_source>", "exec"), module.__dict__)
else:
    sys.path[:0] = [folder, f"{folder}/archive.zip"]
    module = importlib.import_module("without_source")
    assert kind in module.__file__
x = np.linspace(0.5, 1.5, 12)
for name in ("square", "chain"):
    gradient = gw.grad(getattr(module, name))
    compiled = gw.compile(gradient, engine=engine)
    compiled(x)
    np.testing.assert_allclose(compiled(x + 0.25), gradient(x + 0.25), rtol=1e-12)
    assert len(compiled.programs) == 1
    assert compiled.check(x).startswith("output 0")
    if engine == "numpy":
        compiled.save(f"{folder}/saved_{name}.py")
        sys.path.insert(0, folder)
        saved = importlib.import_module(f"saved_{name}")
        np.testing.assert_allclose(saved.compiled(x)[0], gradient(x), rtol=1e-12)
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("kind", [".pyc", ".zip", "frozen"])
def test_functions_without_source_compile_and_are_saved(
    kind: str, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "without_source.py"
    path.write_text(MODULE)
    if kind == ".pyc":
        py_compile.compile(str(path), cfile=str(path.with_suffix(".pyc")))
    elif kind == ".zip":
        with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
            archive.write(path, path.name)
    path.unlink()
    command = [sys.executable, "-c", RUN, str(tmp_path), kind, engine]
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "GRADWRAP_CACHE_DIR": str(tmp_path / "kept"),
    }
    done = subprocess.run(
        command, input=MODULE, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


# Pickle -------------------------------------------------------------------------------------------


def cubes(x: Any) -> Any:
    return np.sum(x**3)


def cube(x: Any) -> Any:
    return x**3


PICKLED: dict[str, Any] = {
    "a function": cubes,
    "grad": gw.grad(cubes),
    "value_and_grad": gw.value_and_grad(cubes, has_aux=False),
    "hessian": gw.hessian(cubes),
    "jacobians": gw.jacfwd(gw.jacrev(cube)),
    "vmap of grad": gw.vmap(gw.grad(cube), in_axes=0),
    "elementwise_grad": gw.elementwise_grad(cube),
    "partial": functools.partial(np.multiply, 2.0),
}


@pytest.mark.parametrize("name", PICKLED)
def test_a_compiled_function_is_pickled_if_its_function_can_be(name: str) -> None:
    function = PICKLED[name]
    compiled = gw.compile(function, engine="c", static=("missing",))
    wanted = compiled(X)
    found = pickle.loads(pickle.dumps(compiled))  # noqa: S301  made here
    copied = copy.deepcopy(compiled)
    for one in (found, copied):
        for a, b in zip(flatten(one(X))[0], flatten(wanted)[0], strict=True):
            np.testing.assert_array_equal(a, b)
        assert one.explain() == compiled.explain()


def test_a_compiled_function_of_a_lambda_cannot_be_pickled() -> None:
    compiled = gw.compile(gw.grad(fn(lambda x: np.sum(x))))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(compiled)
