"""What pytest does not collect, how it collects the rest, and its sample."""

import gc
import itertools
import os
import sys
from collections.abc import Generator, Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from tests.support.sampling import sampled

# For all tests. It is not of the package `tests`, which `gw.adapting` would adapt with a function
# that calls it.
pytest_plugins = ["rules_restored"]

ROOT = Path(__file__).parent
BACKENDS = ROOT / "src" / "gradwrap" / "backends"
ADAPTATION = ROOT / "src" / "gradwrap" / "adaptation"
BRIDGES = ROOT / "src" / "gradwrap" / "bridges"
COMPILER = ROOT / "src" / "gradwrap" / "compiler"
OPTIONAL = ("cupy", "dask", "jax", "pandas", "torch", "xarray")

if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # before anything imports NumPy, which reads it once
# Most programs of JAX are compiled for a single small run.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

NOT_COLLECTED = [
    # for type checkers, by tests/tools/test_typing.py and tests/tools/test_downstream.py
    "tests/tools/typing",
    "tests/tools/downstream",
    # tests/doors/test_xarray.py runs it where its libraries are installed
    "docs/xarray.md",
    # likewise tests/existing/test_pandas.py
    "docs/pandas.md",
    # likewise tests/bridges/test_pages.py
    "docs/bridges.md",
    "docs/fitters.md",
    # an extension of griffe, which reads docstrings for the site
    *(["docs/site_docstrings.py"] if find_spec("griffe") is None else []),
    # a hook of the build, which reads the README for the package's metadata
    *(["docs/package_readme.py"] if find_spec("hatchling") is None else []),
    # the double of CuPy derives from its classes, the drop-in has its names
    *(
        [
            "tests/backends/hosted_cupy",
            "tests/backends/nvrtc.py",
            "src/gradwrap/cupy.py",
            *(str(path.relative_to(ROOT)) for path in (COMPILER / "engines" / "cupy").glob("*.py")),
        ]
        if find_spec("cupy") is None
        else []
    ),
    *(["src/gradwrap/dask"] if find_spec("dask") is None else []),
    # its programs start a cluster
    *(["docs/scale.md"] if find_spec("distributed") is None else []),
    # the docstrings of a backend are tests where its library is installed
    *(
        str(path.relative_to(ROOT))
        for library in OPTIONAL
        if find_spec(library) is None
        for path in (
            *BACKENDS.glob(f"{library}/*.py"),
            *ADAPTATION.glob(f"{library}*.py"),
            *BRIDGES.glob(f"{library}*.py"),
            *BRIDGES.parent.glob(f"{library}.py"),
        )
    ),
]


if find_spec("cupy") is not None:  # before anything imports it
    import_module("hosted_cupy")


_LEFT_OUT = frozenset(str(ROOT / path) for path in NOT_COLLECTED)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what is listed: by `collect_ignore`, pytest compares each path with all of them."""
    return True if str(collection_path) in _LEFT_OUT else None


class Imported(pytest.Module):
    """A module without examples: it is imported, and not searched for them."""

    def collect(self) -> Iterable[Any]:
        """Import the module."""
        assert self.obj
        return ()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Look for examples in the docstrings of a module only if it has any.

    A file of tests is imported for its tests. Of other modules the import is tested, too.
    """
    found = yield
    if not found or file_path.suffix != ".py" or ">>>" in file_path.read_text():
        return found
    if file_path.match("test_*.py"):
        return [one for one in found if type(one) is pytest.Module]
    imported: Any = Imported
    return [imported.from_parent(parent, path=file_path)]


class _Unexecuted:
    """A module that is written by its loader, and then cannot be executed."""

    def __init__(self, path: Path) -> None:
        self.__name__ = path.stem
        self.__spec__ = spec_from_file_location(path.stem, path)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # what its code would be executed in
        raise ImportError


def pytest_sessionstart(session: pytest.Session) -> None:
    """Rewrite the assertions of a share of the files first, if none has been kept.

    All workers collect the same files in the same order. So each would rewrite all of them, at the
    same time as the others.
    """
    config: Any = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    paths = [ROOT / arg.partition("::")[0] for arg in config.args]
    files = sorted({file for path in paths for file in (path, *path.rglob("test_*.py"))})
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        kept = (file.parent / "__pycache__").glob(f"{file.stem}.*-pytest-*")
        if file.match("test_*.py") and not any(kept):
            with suppress(ImportError, AttributeError):  # pytest may have no such loader
                config.pluginmanager.rewrite_hook.exec_module(_Unexecuted(file))


def pytest_configure() -> None:
    """Collect tests without Python's collector, which would walk through all of them again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the collector leave the tests alone from here on, and run it rarely.

    Traces and programs are many small objects, hardly any of them in cycles.
    """
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


TESTS = itertools.count(1)
MANY = 200
"""After so many tests the collector is told to leave alone what they have left."""


def pytest_runtest_setup() -> None:
    """Keep the collector's work small: many tests run it, and modules are imported by them."""
    if next(TESTS) % MANY == 0:
        gc.collect()
        gc.freeze()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Have a worker send what the terminal shows of a test, and no more.

    pytest-xdist's six messages of a test that passes take longer than most of the tests.
    """
    if not _is_brief(item.config):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            if report.passed:
                report.keywords = {}
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run the examples of docstrings and pages in JAX's own precision, as a new process has it.

    Tests of the same worker may have switched to double precision.
    """
    jax: Any = sys.modules.get("jax") if isinstance(item, pytest.DoctestItem) else None
    if jax is None:
        return (yield)
    with jax.enable_x64(False):
        return (yield)


def _is_brief(config: pytest.Config) -> bool:
    """Tell if this is a worker of a run that lists no durations and writes no files of results."""
    return "PYTEST_XDIST_WORKER" in os.environ and not (
        config.getoption("durations") or config.getoption("xmlpath")
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the options by which the tests are run in two parts."""
    group = parser.getgroup("gradwrap")
    group.addoption("--sample", action="store_true", help="run a sample of the tests")
    group.addoption("--rest", action="store_true", help="run the tests that --sample leaves out")
    group.addoption("--slow", action="store_true", help="have slow tests in the sample, too")


CHOSEN: set[str] = set()
"""The functions whose cases were chosen before tests were made of them."""


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, Any, Any]:
    """Choose of the cases of a function before tests are made of them, which takes longer.

    If pytest has them elsewhere some day, the tests are chosen below.
    """
    result = yield
    cases = getattr(metafunc, "_calls", None)
    function = metafunc.definition.nodeid
    if metafunc.definition.get_closest_marker("long") or (
        cases and all(any(mark.name == "long" for mark in case.marks) for case in cases)
    ):
        raise pytest.Collector.CollectError(f"{function} has no case that is not long, for CI")
    if not cases or not _is_part(metafunc.config):
        return result
    left_out = _left_out(metafunc.config)
    all_left_out = metafunc.definition.get_closest_marker(left_out) is not None
    names = {f"{function}[{case.id}]": case for case in cases}
    chosen = _chosen(
        metafunc.config,
        names,
        {
            name
            for name, case in names.items()
            if all_left_out or any(mark.name == left_out for mark in case.marks)
        },
    )
    if chosen:  # pytest takes a function without cases for a test of its own
        CHOSEN.add(function)
        cases[:] = [case for name, case in names.items() if name in chosen]
    return result


@pytest.hookimpl(tryfirst=True)  # the others, which order the tests, see what is left of them
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not in the part that was asked for."""
    if not _is_part(config):
        return
    names = {one.nodeid: one for one in items if one.nodeid.partition("[")[0] not in CHOSEN}
    mark = _left_out(config)
    marked = {name for name, one in names.items() if one.get_closest_marker(mark)}
    chosen = _chosen(config, names, marked)
    left_out = [one for name, one in names.items() if name not in chosen]
    items[:] = [one for one in items if one.nodeid in chosen or one.nodeid not in names]
    config.hook.pytest_deselected(items=left_out)


def _chosen(config: pytest.Config, names: Iterable[str], left_out: set[str]) -> set[str]:
    """Return those of the tests that are in the part that was asked for."""
    sample = sampled(name for name in names if name not in left_out)
    return sample if config.getoption("--sample") else set(names) - sample


def _is_part(config: pytest.Config) -> bool:
    return bool(config.getoption("--sample") or config.getoption("--rest"))


def _left_out(config: pytest.Config) -> str:
    """Return the mark of the tests that no sample has."""
    return "long" if config.getoption("--slow") else "slow"
