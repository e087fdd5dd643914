"""Adapting leaves the process as it was: profilers, patches, imports, objects that raise."""

from __future__ import annotations

import cProfile
import importlib
import sys
import tracemalloc
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest
from benchmarks.counting import called_code

import gradwrap as gw
import gradwrap.scipy
from lambdas import fn
from packages import written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

X = np.array([1.3, 0.7])
SQUARES = "def squares(x): return np.sum(np.asarray(x) ** 2)"


@pytest.fixture
def package(tmp_path: Path) -> Any:
    return written(tmp_path, SQUARES)


@pytest.fixture(autouse=True)
def no_profiler() -> Iterator[None]:
    before = sys.getprofile()
    yield
    sys.setprofile(before)


def test_a_profiler_that_the_function_starts_goes_on(package: Any) -> None:
    calls: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        calls.append(frame.f_code.co_name)

    def f(x: Any) -> Any:
        sys.setprofile(note)
        return package.squares(x)

    before = sys.getprofile()
    assert np.allclose(gw.grad(gw.adapting(f))(X), 2 * X)
    after = sys.getprofile()
    sys.setprofile(before)
    assert after is note
    assert "squares" in calls


def test_a_profiler_that_an_imported_module_starts_goes_on(package: Any, tmp_path: Path) -> None:
    (tmp_path / "starts_profiler.py").write_text(
        "import sys\ncalls = []\n"
        "def note(frame, event, arg):\n    calls.append(frame.f_code.co_name)\n"
        "sys.setprofile(note)\n"
    )

    def f(x: Any) -> Any:
        started: Any = __import__("starts_profiler")
        assert sys.getprofile() is started.note
        return package.squares(x)

    sys.path.insert(0, str(tmp_path))
    before = sys.getprofile()
    try:
        assert np.allclose(gw.grad(gw.adapting(f))(X), 2 * X)
        started = sys.modules.pop("starts_profiler")
        assert sys.getprofile() is started.note
        assert "squares" in started.calls
    finally:
        sys.setprofile(before)
        sys.path.remove(str(tmp_path))


def test_a_profile_of_the_standard_library_goes_on(package: Any) -> None:
    profiler = cProfile.Profile()

    def f(x: Any) -> Any:
        profiler.enable()
        return package.squares(x)

    assert np.allclose(gw.grad(gw.adapting(f))(X), 2 * X)
    package.squares(X)
    profiler.disable()
    names = [one.code.co_name for one in profiler.getstats() if not isinstance(one.code, str)]
    assert "squares" in names


def test_a_patch_that_outlives_the_adaptation_leaves_nothing(package: Any) -> None:
    with gw.adapted(package):
        patch = mock.patch.object(package, "np", 5)
        patch.start()
    assert package.np == 5
    patch.stop()
    assert package.np is np


def test_a_patch_of_pytest_leaves_nothing(package: Any) -> None:
    patches = pytest.MonkeyPatch()
    with gw.adapted(package):
        patches.setattr(package, "np", 5)
    patches.undo()
    assert package.np is np


def test_a_patch_within_the_adaptation_leaves_nothing(package: Any) -> None:
    with gw.adapted(package):
        with mock.patch.object(package, "np", 5):
            pass
        assert package.np is not np
    assert package.np is np


def test_a_name_imported_from_an_adapted_package_is_the_original(package: Any) -> None:
    receiver = ModuleType("receiver")
    with gw.adapted(package):
        exec(f"from {package.__name__} import np, squares", vars(receiver))  # noqa: S102  a user's line
        assert np.allclose(gw.grad(receiver.squares)(X), 2 * X)
    assert receiver.np is np
    assert receiver.squares is package.squares


LEFT_ALONE = """
    class Missing:
        def __getattribute__(self, name):
            raise ModuleNotFoundError(f"no {name}")
        def __call__(self): ...
    class Without:
        __slots__ = ()
        def __getattr__(self, name): return None
    class Empty:
        __dict__ = None
        def __getattr__(self, name): return None
    class Mapped:
        @property
        def __dict__(self): return 5
    missing, without, empty, mapped = Missing(), Without(), Empty(), Mapped()
    inside = {"missing": missing, "list": [without, empty]}
    class Holder: held = missing
"""


@pytest.mark.parametrize("argument", ["missing", "without", "empty", "mapped"])
def test_objects_whose_attributes_cannot_be_looked_at(tmp_path: Path, argument: str) -> None:
    package = written(tmp_path, LEFT_ALONE + "    " + SQUARES)
    thing = getattr(package, argument)
    assert np.allclose(gw.grad(gw.adapting(lambda x: (thing, package.squares(x))[1]))(X), 2 * X)
    with gw.adapted(package):
        assert np.allclose(gw.grad(package.squares)(X), 2 * X)
    assert package.missing is not None
    assert package.np is np


def test_modules_whose_attributes_cannot_be_looked_at(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lazy(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise ModuleNotFoundError(name)

    lazy = Lazy("lazy")
    monkeypatch.setitem(sys.modules, f"{package.__name__}.lazy", lazy)
    monkeypatch.setattr(package, "lazy", lazy, raising=False)
    assert np.allclose(gw.grad(gw.adapting(package.squares))(X), 2 * X)


def test_uninstall_leaves_the_code_of_another_tool() -> None:
    special: Any = pytest.importorskip("scipy.linalg")
    own = special.det.__code__
    other = (lambda *_, **__: 7.0).__code__
    gradwrap.scipy.install()
    try:
        special.det.__code__ = other
        gradwrap.scipy.uninstall()
        assert special.det.__code__ is other
    finally:
        gradwrap.scipy.uninstall()
        special.det.__code__ = own
    gradwrap.scipy.install()
    gradwrap.scipy.uninstall()
    assert special.det.__code__ is own
    assert np.allclose(special.det(2 * np.eye(2)), 4.0)


def test_profiles_may_end_in_any_order() -> None:
    first, second = gw.profile(), gw.profile()
    one = first.__enter__()
    two = second.__enter__()
    first.__exit__()
    gw.grad(lambda x: np.sum(np.sin(x)))(X)
    second.__exit__()
    counts = len(one.events), len(two.events)
    assert counts[0] == 0 < counts[1]
    gw.grad(lambda x: np.sum(np.sin(x)))(X)
    assert (len(one.events), len(two.events)) == counts


@pytest.mark.slow
def test_profiles_of_memory_may_end_in_any_order() -> None:
    was = tracemalloc.is_tracing()
    first, second = gw.profile(temporaries=True), gw.profile(temporaries=True)
    first.__enter__()
    second.__enter__()
    first.__exit__()
    assert tracemalloc.is_tracing()
    second.__exit__()
    assert tracemalloc.is_tracing() is was


def test_modules_that_did_not_run_add_no_calls(tmp_path: Path) -> None:
    def calls_in(modules: int) -> int:
        folder = tmp_path / f"many_{modules}"
        folder.mkdir()
        for number in range(modules):
            (folder / f"part_{number}.py").write_text(f"import numpy as np\n\n{SQUARES}\n")
        (folder / "__init__.py").write_text(
            "".join(f"from . import part_{number}\n" for number in range(modules))
        )
        sys.path.insert(0, str(tmp_path))
        try:
            package = importlib.import_module(folder.name)
        finally:
            sys.path.remove(str(tmp_path))
        gradient = gw.grad(gw.adapting(fn(lambda x: package.part_0.squares(x))))
        for _ in range(2):
            assert np.allclose(gradient(X), 2 * X)
        return len(called_code(lambda: gradient(X)))

    few, many = calls_in(2), calls_in(22)
    assert many - few <= 2 * 20  # the record of each module, and the count of its users


def test_a_patch_between_calls_is_met_and_stays(package: Any) -> None:
    def twice(x: Any) -> Any:
        return 2 * np.asarray(x)

    gradient = gw.grad(gw.adapting(fn(lambda x: package.squares(x))))
    for _ in range(3):
        assert np.allclose(gradient(X), 2 * X)
    before = dict(vars(package))
    with mock.patch.object(package, "squares", lambda x: np.sum(twice(x))):
        assert np.allclose(gradient(X), [2.0, 2.0])
        assert np.allclose(gradient(X), [2.0, 2.0])
        with gw.adapted(package):
            assert np.allclose(gradient(X), [2.0, 2.0])
    assert np.allclose(gradient(X), 2 * X)
    assert vars(package) == before


def test_a_module_of_two_names_is_restored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = written(
        tmp_path,
        """
        def run(x):
            w = np.random.RandomState(0).randn(2)
            w += x * w
            return np.sum(w * x)
        """,
    )
    monkeypatch.setitem(sys.modules, f"{package.__name__}.alias", package)
    before = dict(vars(package))
    slope = gw.grad(gw.adapting(package.run))
    w = np.random.RandomState(0).randn(2)
    for _ in range(4):
        assert np.allclose(slope(X), w + 2 * w * X)
        assert vars(package) == before


def test_names_of_gradwrap_in_generated_code_are_left_as_they_are() -> None:
    """A doctest of a module of ours has a copy of its names."""
    own = importlib.import_module("gradwrap.core.values.dynamic")
    space = {**vars(own), "codes": []}
    lines = "def f(x):\n    codes.append(attribute_or_none.__code__)\n    return x[0] ** 2\n"
    (code,) = [
        one for one in compile(lines, "<text>", "exec").co_consts if isinstance(one, CodeType)
    ]
    f: Any = FunctionType(code, space)
    before = own.attribute_or_none.__code__
    assert np.array_equal(gw.grad(gw.adapting(f))(np.array([3.0, 1.0])), [6.0, 0.0])
    assert space["codes"] == [before] * len(space["codes"])
    assert space["codes"]
