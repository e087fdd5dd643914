"""Programs as textbooks have them: each gives the right derivative under `adapting`."""

from __future__ import annotations

import importlib
import math
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.adaptation import stand_ins
from gradwrap.errors import NoRuleError, TrackedValueError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7])
PROGRAMS = {
    "a class pattern of a number": """
        def area(shape):
            match shape:
                case float(side): return side ** 2
                case np.float64(side): return -side
                case (float(a), float(b)): return a * b
        def run(x): return area(float(x[0])) + area((float(x[0]), float(x[1])))
        """,
    "mantissa and exponent": """
        def run(x):
            mantissa, exponent = math.frexp(x[0])
            assert type(exponent) is int
            return mantissa * 3.0 + math.ldexp(x[1], exponent)
        """,
    "matrices from an iterator": """
        def run(x):
            parts = (np.eye(2) * v for v in x)
            whole = np.fromiter(parts, dtype=np.dtype((float, (2, 2))), count=2)
            return np.sum(whole[0] @ whole[1]) * x[0]
        """,
    "a deprecated module of SciPy": """
        from scipy.stats import stats
        def run(x): return stats.skew(np.append(x, [0.4, 2.9]), bias=False)
        """,
    "a namespace of the standard": """
        from array_api_compat import array_namespace
        A = np.array([[2.0, 0.3], [0.1, 1.0]])
        def run(x):
            xp = array_namespace(A, x)
            return xp.sum(xp.linalg.solve(A, x) * x)
        """,
    "a subclass that answers the protocol": """
        HANDLED = {}
        class Named(np.lib.mixins.NDArrayOperatorsMixin, np.ndarray):
            def __new__(cls, values, name):
                made = np.asarray(values).view(cls)
                made.name = name
                return made
            def __array_finalize__(self, obj):
                self.name = getattr(obj, "name", "")
            def __array_function__(self, function, types, args, kwargs):
                if function not in HANDLED:
                    return super().__array_function__(function, types, args, kwargs)
                if not all(issubclass(kind, Named) for kind in types):
                    return NotImplemented
                return HANDLED[function](*args, **kwargs)
        def transpose(a):
            return Named(np.transpose(np.asarray(a)), a.name[::-1])
        HANDLED[np.transpose] = transpose
        HANDLED[np.einsum] = None  # which is not asked for arrays of other classes
        def run(x):
            table = np.transpose(Named(np.outer(x, x), "ij"))
            assert table.name == "ji"
            filled = np.zeros((2, 2))
            filled[:] = table * 2.0
            return np.einsum("ij,ij->", np.array([[1.0, 2.0], [0.5, 3.0]]), table) + filled[0, 1]
        """,
}


@pytest.mark.filterwarnings("ignore:Please import `skew`:DeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives_are_those_of_differences(program: str, tmp_path: Path) -> None:
    run = written(tmp_path, PROGRAMS[program]).run
    adapted = gw.adapting(run)
    wide = [(run(X + e) - run(X - e)) / 2e-5 for e in 1e-5 * np.eye(2)]
    backward = gw.grad(adapted)(X)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)]
    np.testing.assert_allclose(backward, wide, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(forward, wide, rtol=1e-8, atol=1e-9)


def compiled_module(monkeypatch: pytest.MonkeyPatch, name: str, folder: Path) -> ModuleType:
    """Enter a module that passes for a compiled one, without a file."""
    made = ModuleType(name)
    path = str(folder / f"{name}.cpython-311.so")
    made.__spec__ = ModuleSpec(name, ExtensionFileLoader(name, path), origin=path)
    monkeypatch.setitem(sys.modules, name, made)
    return made


def test_a_compiled_module_that_imports_from_math(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    vars(compiled_module(monkeypatch, "compiled_roots", tmp_path))["sqrt"] = math.sqrt
    source = """
        import compiled_roots
        from math import sqrt
        def run(x): return sqrt(x[0]) * x[1]
        """
    run = written(tmp_path, source).run
    for _ in range(2):
        gradient = gw.grad(gw.adapting(run))(X)
        np.testing.assert_allclose(gradient, [X[1] / X[0] ** 0.5 / 2, X[0] ** 0.5], rtol=1e-14)


@pytest.mark.parametrize("is_there", [True, False])
def test_the_source_beside_a_compiled_module(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_there: bool
) -> None:
    name = f"compiled_cubes_{is_there}"
    function: Any = float.fromhex  # a new object at each access, as a compiled function is
    function.__module__ = name
    vars(compiled_module(monkeypatch, name, tmp_path))["fromhex"] = function
    if is_there:
        text = "from math import sqrt\ndef fromhex(x, sqrt=sqrt): return sqrt(x) ** 6\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    run = written(tmp_path, f"from {name} import fromhex\ndef run(x): return fromhex(x[0])").run
    if not is_there:
        with pytest.raises(NoRuleError, match="is compiled code, and an argument is tracked"):
            gw.grad(gw.adapting(run))(X)
        return
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(X), [3 * X[0] ** 2, 0.0], rtol=1e-14)


def test_a_source_that_gives_another_result_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    function = importlib.import_module("_statistics")._normal_dist_inv_cdf
    monkeypatch.setattr(function, "__module__", "compiled_quantiles")
    monkeypatch.delitem(vars(stand_ins)["_table"], id(function), raising=False)  # of `statistics`
    module = compiled_module(monkeypatch, "compiled_quantiles", tmp_path)
    vars(module)["quantile"] = function
    text = "def _normal_dist_inv_cdf(p, mean, spread): return mean\n"  # right for p = 0.5
    (tmp_path / "compiled_quantiles.py").write_text(text, encoding="utf-8")
    source = """
        from compiled_quantiles import quantile
        P = [0.5]
        def run(x): return quantile(P[0], x[0], x[1]) * x[0]
        """
    package = written(tmp_path, source)
    np.testing.assert_allclose(gw.grad(gw.adapting(package.run))(X), [2.0 * X[0], 0.0])
    package.P[0] = 0.9
    with pytest.raises(NoRuleError, match="its Python source gives another result"):
        gw.grad(gw.adapting(package.run))(X)
    z = function(0.9, 0.0, 1.0)
    found = gw.grad(gw.adapting(package.run, compiled="numerical"))(X)
    np.testing.assert_allclose(found, [2.0 * X[0] + z * X[1], z * X[0]], rtol=1e-6)


def test_the_parts_of_a_number_compile(tmp_path: Path) -> None:
    run = written(tmp_path, PROGRAMS["mantissa and exponent"]).run
    compiled: Any = gw.compile(gw.grad(gw.adapting(run)))
    for x in (X, X + 0.1, X * 4.0):  # the last has another exponent
        np.testing.assert_allclose(compiled(x), gw.grad(gw.adapting(run))(x), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
@pytest.mark.parametrize("text", ['f"{x[0]:.3f} m"', "str(x[0]) + ' m'", '"{:.2e} m".format(x[0])'])
def test_a_number_that_is_read_back_from_text_is_refused(text: str, tmp_path: Path) -> None:
    source = f"""
        def run(x):
            label = {text}
            return float(label.split()[0]) * x[1]
        def of_numpy(x):
            label = {text}
            return np.float64(label.split()[0]) * x[1]
        def named(x):
            label = {text}
            return float("2.50") * x[1] + len(label)
        """
    package = written(tmp_path, source)
    for run in (package.run, package.of_numpy):
        with pytest.raises(TrackedValueError, match="reads back text that was made of a tracked"):
            gw.grad(gw.adapting(run))(X)
    np.testing.assert_array_equal(gw.grad(gw.adapting(package.named))(X), [0.0, 2.5])
