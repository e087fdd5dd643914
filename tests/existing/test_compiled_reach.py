"""Compiled functions of packages that know nothing of gradwrap; a warning of the compiler fails."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import installed, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([0.5, 1.5])
SOURCES = {
    "stores to random numbers": """
        class Filter:
            def __init__(self): self.w = np.random.RandomState(0).randn(2)
            def update(self, x): self.w += x * self.w
        def run(x):
            one = Filter()
            one.update(x)
            one.update(x)
            return np.sum(one.w * x)
    """,
    "keys that are floats": """
        EXACT = {0.0: 1.0, 90.0: 0.0, 60.0: 0.5}
        def run(x):
            found = EXACT.get(x[0] % 360.0)
            if found is None:
                found = math.cos(math.radians(x[0]))
            return found * x[1]
    """,
    "updates of new arrays that are in use": """
        def spread(s, p):
            return np.sum(p * (s - np.sum(p * s)) ** 2)
        def run(x):
            s, t = np.linspace(-1, 1, 2), np.zeros_like(np.array([1.0, 2.0]))
            before = spread(s, x), t @ x
            s *= x[0] / np.sqrt(before[0])
            t[1:] = before[1] + x[1]
            return np.sum(np.exp(s) * x + t)
    """,
    "sets of numbers": """
        def run(x):
            p = float(x[0])
            if p in {0.0, 1.0} or 2 not in {1, 2}:
                return 0.0
            return float(-p * np.log2(p) + x[1] ** 2)
    """,
    "checks": """
        def run(x):
            y = 2 * x
            np.testing.assert_allclose(y, x + x)
            np.testing.assert_array_less(x, 10.0, err_msg="too large")
            return np.sum(y * x)
    """,
    "eigenvalues": """
        def run(x):
            w, v = np.linalg.eig(np.array([[2.0 + x[0], 0.3], [x[1], 1.0]]))
            return np.sum(np.abs(w) ** 3) + np.abs(v[0, 1])
    """,
    "ufuncs within SciPy": """
        from scipy.special import lambertw
        def run(x):
            return np.real(lambertw(x[0] + 1.0)) * x[1]
    """,
    "arrays of objects": """
        def run(x):
            pair = np.empty(2, dtype=object)
            pair[:] = [np.arange(3.0), 2.0]
            first, second = pair - x
            return np.sum(first**2) + second**3
    """,
    "questions": """
        import scipy.sparse
        def run(x):
            return np.sum(x) if scipy.sparse.issparse(x) else np.sum(x**2)
    """,
}


def differences(function: Any, x: Any) -> Any:
    return np.array([(function(x + e) - function(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)])


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_packages_run_as_programs(tmp_path: Path, source: str) -> None:
    package = written(tmp_path, source)
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for x in (X, 1.1 * X, np.array([2.5, 0.7]), X):
        assert np.allclose(compiled(x), differences(package.run, x), rtol=1e-6)


def test_a_key_that_is_there_is_refused_as_without_compiling(tmp_path: Path) -> None:
    package = written(tmp_path, SOURCES["keys that are floats"])
    slope = gw.grad(gw.adapting(package.run))
    compiled = gw.compile(slope)
    assert np.allclose(compiled(X), slope(X))
    for _ in range(12):  # Python runs the lookup by another instruction after some calls
        assert np.allclose(slope(X), differences(package.run, X))
    for function in (slope, compiled):
        with pytest.raises(gw.errors.TrackedValueError, match=r"a dictionary.* in run"):
            function(np.array([420.0, 1.0]))


def test_a_check_that_fails_later_raises(tmp_path: Path) -> None:
    compiled = gw.compile(gw.grad(gw.adapting(written(tmp_path, SOURCES["checks"]).run)))
    assert np.allclose(compiled(X), 4 * X)
    with pytest.raises(AssertionError, match="too large"):
        compiled(np.array([1.0, 20.0]))
    assert np.allclose(compiled(2 * X), 8 * X)


def calling(package: Any) -> Callable[[Any], Any]:
    """Return a function of the user's that calls a package."""
    return lambda x: package.run(x)


CONFIGURED = """
    RATE = 2.0
    TABLE = {"a": 1.5, "b": [0.5, 0.25]}
    WEIGHTS = np.array([1.0, 3.0])
    class Model:
        factor = 1.25
        def __init__(self): self.shift = 0.5
        def value(self, x): return np.sum(x**2) * self.factor + self.shift * x[0]
    model = Model()
    def _power(x, exponent=2.0): return x**exponent
    def run(x):
        rest = TABLE["a"] * x[0] + TABLE["b"][1] * x[1] + _power(x[1])
        return RATE * model.value(x) + rest * WEIGHTS[1] + np.sum(WEIGHTS * x)
    def unused(x): return x
    SPARE = 1.0
"""


def exchange_a_function(package: Any) -> None:
    package._power = lambda x: x**3


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a number": lambda p: setattr(p, "RATE", 3.0),
    "an entry": lambda p: p.TABLE.update(a=2.5),
    "an item": lambda p: p.TABLE["b"].append(p.TABLE["b"].pop() + 1.0),
    "an element": lambda p: p.WEIGHTS.__setitem__(1, 7.0),
    "an array": lambda p: setattr(p, "WEIGHTS", np.array([2.0, 5.0])),
    "an attribute of a class": lambda p: setattr(p.Model, "factor", 2.25),
    "an attribute of an object": lambda p: setattr(p.model, "shift", 4.0),
    "a function": exchange_a_function,
    "a default": lambda p: setattr(p._power, "__defaults__", (3.0,)),
}


@pytest.mark.parametrize("is_permanent", [False, True])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_an_adapted_package_reads_is_watched(
    tmp_path: Path, change: Callable[[Any], Any], is_permanent: bool
) -> None:
    package = installed(tmp_path, CONFIGURED)
    run = calling(package) if is_permanent else gw.adapting(calling(package))
    with gw.adapted(*[package] * is_permanent):
        check_watched(package, gw.compile(gw.grad(run)), change)


def check_watched(package: Any, compiled: Any, change: Callable[[Any], Any]) -> None:
    before = compiled(X)
    assert np.allclose(before, differences(package.run, X), rtol=1e-6)
    package.SPARE = 9.0  # which no code that runs reads
    made = compiled.programs
    assert np.array_equal(compiled(X), before)
    assert compiled.programs == made
    change(package)
    wanted = differences(package.run, 1.1 * X)
    assert not np.allclose(differences(package.run, X), before, rtol=1e-3)
    for _ in range(2):
        assert np.allclose(compiled(1.1 * X), wanted, rtol=1e-6)
    assert len(compiled.programs) == 1


def test_a_module_without_code_is_watched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages" / "a_package_with_constants"
    folder.mkdir(parents=True)
    (folder / "const.py").write_text("RATE = 2.0\n", encoding="utf-8")
    (folder / "model.py").write_text(
        "from . import const\ndef run(x): return const.RATE * (x**2).sum()\n", encoding="utf-8"
    )
    (folder / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(folder.parent)
    package = importlib.import_module("a_package_with_constants.model")
    compiled = gw.compile(gw.grad(gw.adapting(calling(package))))
    assert np.allclose(compiled(X), 4 * X)
    package.const.RATE = 3.0
    assert np.allclose(compiled(X), 6 * X)
    assert len(compiled.programs) == 1


def test_what_a_package_changes_itself_makes_no_program_anew(tmp_path: Path) -> None:
    package = installed(
        tmp_path,
        """
        SCALE = 2.0
        class Box:
            def __init__(self, x):
                self.x = x
                Box.total = property(lambda box: np.sum(box.x))
        COUNTED = []
        def run(x):
            COUNTED.append(1)
            return Box(x**2).total * SCALE
        """,
    )
    compiled = gw.compile(gw.grad(gw.adapting(calling(package))))
    for x in (X, 2 * X, 3 * X):
        assert np.allclose(compiled(x), 4 * x)
    counted = len(package.COUNTED)
    assert np.allclose(compiled(X), 4 * X)
    assert len(package.COUNTED) == counted
    package.SCALE = 3.0
    assert np.allclose(compiled(X), 6 * X)


def test_a_profiler_keeps_packages_from_being_compiled(tmp_path: Path) -> None:
    package = installed(tmp_path, CONFIGURED)
    adapted = gw.grad(gw.adapting(calling(package)))
    wanted = adapted(X)
    compiled = gw.compile(adapted)
    sys.setprofile(lambda *_: None)
    try:
        with pytest.warns(gw.errors.CompileWarning, match="a profiler is at work"):
            found = compiled(X)
    finally:
        sys.setprofile(None)
    assert np.allclose(found, wanted)


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_a_decomposition_that_only_tests_its_matrix_is_kept(engine: str) -> None:
    def checked(test: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            matrix = np.reshape(x, (2, 2))
            try:
                test(matrix)
            except np.linalg.LinAlgError:
                return np.sum(x)
            return np.sum(matrix**2)

        return function

    good, singular, indefinite = ([2.0, 0.5, 0.5, 3.0], [1.0, 1.0, 1.0, 1.0], [-1.0, 0.0, 0.0, 2.0])
    b = np.array([1.0, 2.0])
    tests: list[tuple[Callable[[Any], Any], list[float]]] = [
        (np.linalg.cholesky, indefinite),
        (np.linalg.inv, singular),
        (lambda matrix: np.linalg.solve(matrix, b), singular),
    ]
    for test, bad in tests:
        compiled = gw.compile(gw.grad(checked(test)), engine=engine)
        for _ in range(2):
            assert np.allclose(compiled(np.array(good)), 2 * np.array(good))
            assert np.allclose(compiled(np.array(bad)), 1.0)


def test_a_system_is_not_solved_for_its_test_alone() -> None:
    b = gw.compile(
        gw.grad(lambda b: np.sum(np.linalg.solve(np.array([[2.0, 1.0], [0.5, 3.0]]), b)))
    )
    b(X)
    assert b.source.count("linalg.solve") == 1


MESSAGES = """
    def run(x):
        note = f"starting at {x[0]:.3f} and " + str(x[1]) + repr(np.sum(x)) + "%s" % x[0]
        assert len(note) > 3, note
        if x[0] > 1.0:
            note = "large: " + format(x[0] > 1.0)
        return np.sum(x**2) * (2.0 if note.startswith("large") else 1.0)
"""
READ = """
    def run(x):
        return np.sum(x**2) + float(f"{x[0]:.1f}") * x[1]
"""
ASKED = """
    def run(x):
        return np.sum(x**2) * (3.0 if str(x[0]).startswith("-") else 1.0)
"""


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
def test_messages_of_packages_are_no_part_of_a_program(tmp_path: Path) -> None:
    compiled = gw.compile(gw.grad(gw.adapting(calling(installed(tmp_path, MESSAGES)))))
    for x, factor in (([0.5, 1.5], 2.0), ([0.25, -7.5], 2.0), ([2.5, 0.5], 4.0), ([0.1, 1.0], 2.0)):
        assert np.allclose(compiled(np.array(x)), factor * np.array(x))


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
def test_text_that_a_library_makes_for_a_package_is_no_part_of_a_program(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    module = installed(
        tmp_path,
        """
        import xarray as xr

        def run(x):
            table = xr.DataArray(x, dims="time", attrs={"units": "K"})
            table.attrs["history"] = f"made of {table!r}"
            return (table**2).sum()

        def read(x):
            table = xr.DataArray(x, dims="time")
            return (table**2).sum() * len(repr(table).split("0.5"))
        """,
    )
    compiled = gw.compile(gw.grad(gw.adapting(module.run)))
    for x in ([0.5, 1.5], [0.25, -7.5]):
        assert np.allclose(compiled(np.array(x)), 2 * np.array(x))
    with pytest.warns(gw.errors.CompileWarning, match="makes text of a value, and reads the text"):
        gw.compile(gw.grad(gw.adapting(module.read)))(X)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
def test_text_that_a_package_reads_is_not_compiled(tmp_path: Path) -> None:
    adapted = gw.grad(gw.adapting(calling(installed(tmp_path, ASKED))))
    compiled = gw.compile(adapted)
    with pytest.warns(gw.errors.CompileWarning, match="makes text of a value, and reads the text"):
        compiled(X)
    for x in (-X, 3 * X):
        assert np.allclose(compiled(x), adapted(x))
    (tmp_path / "read").mkdir()
    with pytest.raises(gw.errors.TrackedValueError, match="reads back text"):
        gw.compile(gw.grad(gw.adapting(calling(installed(tmp_path / "read", READ)))))(X)
