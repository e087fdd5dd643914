"""SciPy's own tests as data: each call of a function with a rule is differentiated, and examined.

This file is a plugin of pytest for a run of the tests that SciPy ships with. In their modules it
replaces SciPy's functions by ones that first examine the call as `scipy_forms.py` does: the value
is SciPy's, tangents agree with differences, and cotangents with tangents. Lists and integers for
arguments that may be tracked are made arrays of floats. The tests themselves get SciPy's results.

    python tests/support/scipys_tests.py [--limit N] [linalg signal.tests.test_czt ...]

What is printed is wrong, unclear, or at a point where the function has no derivative (equal values,
kinks): then the two one-sided slopes differ, or differences are those of an endpoint.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "scipy"), str(Path(__file__).parent)]

import numpy as np
import pytest

from gradwrap.core.values.dynamic import type_of
from gradwrap.rules import equal_values
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.table import all_rows
from lambdas import is_a
from scipy_forms import Case, problem_of
from scipy_options import SAMPLES, is_float
from scipy_samples import Random, Sample

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

MODULES = (
    *("cluster", "differentiate", "fft", "integrate", "interpolate", "linalg", "ndimage"),
    *("optimize", "signal", "sparse", "spatial", "special", "stats"),
)
RESULTS, LIMIT = "GRADWRAP_SCIPYS_RESULTS", "GRADWRAP_SCIPYS_LIMIT"
LARGEST = 20_000
"""The most elements of arguments."""
ALIKE = 4
"""The most calls with arguments of the same shapes."""
SECONDS = 20
SYMMETRIC = ("pos", "sym", "her", "positive definite", "symmetric", "hermitian")
FINE = ("right", "untried", "NaN", "refused", "degenerate")
"""Outcomes that need no look: a warning of equal values is one of them."""


class Asked(Case):
    """A call of SciPy's tests."""

    @property
    def keys(self) -> list[int | str]:
        """The places and keywords of the arguments that the row names, or all."""
        row: Any = self.row
        names, arrays = parameters_of(row), {*row.arrays}
        return [
            *(
                place
                for place, arg in enumerate(self.args)
                if is_float(arg) and _is_named(names, arrays, place)
            ),
            *(
                key
                for key, arg in self.kwargs.items()
                if is_float(arg) and (key in arrays or row.signature is None)
            ),
        ]

    @property
    def ours(self) -> Any:
        """What takes the place of SciPy's function."""
        return getattr(self.row, "ours", None) or super().ours


def parameters_of(row: Any) -> list[str]:
    try:
        return [*row.signature.parameters]
    except (AttributeError, TypeError, ValueError):
        return []


def _is_named(names: list[str], arrays: set[str], place: int) -> bool:
    return not names or not arrays or place >= len(names) or names[place] in arrays


@functools.cache
def rows() -> dict[int, tuple[Any, Any]]:
    """The functions of SciPy with a rule, and their rows, by the identity of the function."""
    found: dict[int, tuple[Any, Any]] = {}
    for row in all_rows():
        with contextlib.suppress(AttributeError, ImportError):
            if is_a(row.original, FunctionType) or is_a(row.original, np.ufunc):
                found[id(row.original)] = (row.original, row)
    for function in vars(import_module("scipy.special")).values():
        if is_a(function, np.ufunc) and id(function) not in found:
            name = f"special.{function.__name__}"
            row = row_without_signature(name, function, function, of_numbers=True)
            found[id(function)] = (function, row)
    return found


def row_without_signature(path: str, original: Any, ours: Any, *, of_numbers: bool = False) -> Any:
    """Make a row of a function all of whose floating-point arguments are tracked.

    It may be an operation of the table, which SciPy's own ufunc performs, or a method. `of_numbers`
    makes integers floating-point numbers.
    """
    return SimpleNamespace(
        path=path, original=original, ours=ours, of_numbers=of_numbers, signature=None,
        arrays=(), symmetric=(), triangles=(), within=None, is_byproduct=_is_no_byproduct,
    )  # fmt: skip


def _is_no_byproduct(_path: Any) -> bool:
    return False


@functools.cache
def objects() -> dict[type, str]:
    """The classes with a row, and those of the distributions, with the path of the row."""
    found: dict[type, str] = {}
    for row in all_rows():
        with contextlib.suppress(AttributeError, ImportError):
            kind: Any = row.original if is_a(row.original, type) else type_of(row.original)
            if kind.__module__.startswith(("scipy.interpolate", "scipy.stats")):
                found.setdefault(kind, row.path)
    return found


METHODS = (
    *("__call__", "integrate", "integral", "ev", "derivatives", "solve", "roots"),
    *("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "stats"),
    *("mean", "var", "std", "median", "entropy", "moment", "expect", "interval", "nnlf"),
)
"""Methods whose calls are examined: of interpolants together with the call of their class."""


@functools.cache
def taken(path: str) -> Any:
    """The part of a result that does not depend on LAPACK's choices of signs and phases."""
    samples = SAMPLES.get(path)
    return None if samples is None else samples(Random())[0].take


# The plugin ---------------------------------------------------------------------------------------


class Examiner:
    """Examines calls, and writes down what came of them."""

    def __init__(self, objects: dict[type, str]) -> None:
        self.results: Path = Path(os.environ[RESULTS])
        self.limit: int = int(os.environ[LIMIT])
        self.test: str = ""
        self.is_busy: bool = False
        self.counts: Counter[Any] = Counter()
        self.made: dict[int, Any] = {}
        for kind, path in objects.items():
            if kind.__module__.startswith("scipy.interpolate"):
                self._note_arguments(kind)
            for name in {*METHODS} & {*vars(kind)} | {*METHODS} & {
                name for base in kind.__mro__ for name in vars(base)
            }:
                self._enter_method(kind, name, path)

    def _note_arguments(self, kind: Any) -> None:
        """Let the objects of a class remember its arguments."""
        original = kind.__init__

        @functools.wraps(original)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            with contextlib.suppress(Exception):
                if not hasattr(self, "_examined"):
                    self._examined = copy.deepcopy((args, kwargs))
            original(self, *args, **kwargs)

        kind.__init__ = init

    def _enter_method(self, kind: Any, name: str, path: str) -> None:
        """Let a method of a class be examined."""
        original = getattr(kind, name)
        is_distribution = path.startswith("stats.") and path != "stats.gaussian_kde"
        if not is_a(original, FunctionType) or hasattr(original, "_examines"):
            return
        examiner = self

        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            path = objects().get(type_of(self))
            if path and not examiner.is_busy and (is_distribution or hasattr(self, "_examined")):
                examiner.examine_method(self, path, name, args, kwargs)
            return original(self, *args, **kwargs)

        call._examines = True  # type: ignore[attr-defined]  # a mark on a function
        setattr(kind, name, call)

    def examine_method(
        self, of: Any, path: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Examine a call of a method: of an interpolant, together with that of its class."""
        ours = dispatcher(path)
        if hasattr(of, "_examined"):
            given, words = of._examined
            count = len(given)

            def method(kind: Any) -> Any:
                def both(*xs: Any, **more: Any) -> Any:
                    return getattr(kind(*xs[:count], **words), name)(*xs[count:], **more)

                return both

            row = row_without_signature(f"{path}.{name}", method(type_of(of)), method(ours))
            args = (*given, *args)
        else:
            native = import_module("scipy.stats")
            of = getattr(native, path.partition(".")[2])
            both = getattr(of, name), getattr(ours, name)
            row = row_without_signature(f"{path}.{name}", *both, of_numbers=True)
        self.examine_apart(row, args, kwargs)

    def replaced(self, value: Any) -> Any:
        """Return what takes the place of something in a module of tests."""
        if rows().get(id(value), (None, None))[0] is value is not None:
            return self.made.setdefault(id(value), self._examining(*rows()[id(value)]))
        if type_of(value) is ModuleType and _is_public(value.__name__):
            return self.module(value)
        return value

    def module(self, value: Any) -> Any:
        """Return what takes the place of a module."""
        if id(value) not in self.made:
            made: Any = ModuleType(value.__name__)
            made.__getattr__ = functools.partial(self._attribute, value)
            made.__dir__ = functools.partial(dir, value)
            self.made[id(value)] = made
        return self.made[id(value)]

    @contextlib.contextmanager
    def replacing(self, item: Any) -> Generator[None]:
        """Replace the functions in the module of a test."""
        self.test = item.nodeid
        names: dict[str, Any] = item.module.__dict__
        before = {**names}
        names.update({name: self.replaced(value) for name, value in before.items()})
        try:
            yield
        finally:
            names.update(before)

    def checks(self) -> tuple[str, ...]:
        """Return what is examined besides values and first derivatives."""
        return ()

    def _attribute(self, module: Any, name: str) -> Any:
        return self.replaced(getattr(module, name))

    def _examining(self, function: Any, row: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self.is_busy:
                self.examine_apart(row, args, kwargs)
            return function(*args, **kwargs)

        if is_a(function, FunctionType):
            functools.update_wrapper(call, function)
        return call

    def examine_apart(self, row: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Examine a call; the calls in it are not, and the test's random numbers stay the same."""
        self.is_busy = True
        state = np.random.get_state()  # noqa: NPY002  the tests use it
        try:
            self._examine(row, args, kwargs)
        finally:
            self.is_busy = False
            np.random.set_state(state)  # noqa: NPY002  as above

    def _examine(self, row: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs.get("assume_a") in SYMMETRIC:  # the slope is along symmetric matrices alone
            return
        if self.counts[row.path] >= self.limit:
            return
        try:
            args, kwargs = self.copied(row, args, kwargs)
        except Exception:  # noqa: BLE001  what cannot be copied is not examined
            return
        case = Asked(row, Sample(args, kwargs), self.test, args, kwargs)
        form = (row.path, *map(_form, args), *((key, _form(arg)) for key, arg in kwargs.items()))
        if case.keys and self._is_wanted(row.path, form, (*args, *kwargs.values())):
            outcome = self._outcome(case)
            line = json.dumps([row.path, self.test, outcome, repr(args)[:400], repr(kwargs)[:200]])
            with self.results.open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def copied(self, row: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return copies of the arguments, each by itself: a test may pass one array twice."""
        names, arrays = parameters_of(row), {*row.arrays}
        made = tuple(
            copy.deepcopy(_floating(arg, of_numbers=getattr(row, "of_numbers", False)))
            if _is_named(names, arrays, place)
            else copy.deepcopy(arg)
            for place, arg in enumerate(args)
        )
        return made, {
            key: copy.deepcopy(_floating(arg) if key in arrays else arg)
            for key, arg in kwargs.items()
            if not key.startswith("overwrite")
        }

    def _is_wanted(self, path: str, form: tuple[Any, ...], values: tuple[Any, ...]) -> bool:
        arrays = [value for value in values if is_a(value, np.ndarray)]
        if sum(one.size for one in arrays) > LARGEST:
            return False
        self.counts[path] += 1
        self.counts[form] += 1
        return self.counts[path] <= self.limit and self.counts[form] <= ALIKE

    def _outcome(self, case: Case) -> str:
        take = taken(case.row.path)
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if take is not None:
                take(case.row.original(*copy.deepcopy(case.args), **case.kwargs))
                case = case._replace(sample=case.sample._replace(take=take))
        are_equal: list[str] = []
        with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(equal_values, "_warn", functools.partial(_note, are_equal))
            before = signal.signal(signal.SIGALRM, _stop)
            signal.alarm(SECONDS)
            try:
                problem = problem_of(case, self.checks())
            except _TooLong:
                return "untried: it takes too long"
            finally:
                signal.alarm(0)
                signal.signal(signal.SIGALRM, before)
        if problem is None:
            return "right"
        return f"degenerate: {problem}" if are_equal and "refused" not in problem else problem


class _TooLong(BaseException):
    """A call takes too long; no test or check catches it."""


def _stop(*_: Any) -> None:
    raise _TooLong


def _note(noted: list[str], name: str, _pairs: Any) -> None:
    noted.append(name)


def _is_public(name: str) -> bool:
    parts = name.split(".")
    return parts[0] == "scipy" and len(parts) < 4 and not any(p[0] == "_" for p in parts)


def _floating(arg: Any, *, of_numbers: bool = False) -> Any:
    """Return an array of floats for a list of numbers, and for integers."""
    if is_a(arg, list) or is_a(arg, tuple):
        try:
            made = np.asarray(arg)
        except ValueError:
            return arg
        is_numbers = made.dtype.kind in "iufc" and made.size > 0
        return made * 1.0 if is_numbers else arg
    if type_of(arg) is np.ndarray and arg.dtype.kind in "iu":
        return arg.astype(float)
    return float(arg) if of_numbers and type_of(arg) is int else arg


def _form(arg: Any) -> Any:
    if is_a(arg, np.ndarray):
        is_finite = arg.dtype.kind not in "fc" or bool(np.isfinite(arg).all())
        return (arg.shape, str(arg.dtype), is_finite)
    return repr(arg) if isinstance(arg, (str, int, type(None))) else type(arg).__name__


_examiners: list[Examiner] = []


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Run a test with the functions replaced in its module."""
    if RESULTS not in os.environ:
        yield
        return
    if not _examiners:
        _examiners.append(Examiner(objects()))
    with _examiners[0].replacing(pyfuncitem):
        yield


# The runs -----------------------------------------------------------------------------------------


def outcomes(
    module: str,
    limit: int = 150,
    plugins: Sequence[str] = ("scipy.conftest", "scipys_tests"),
) -> Iterator[list[str]]:
    """Run the tests of a submodule, or a module of tests; yield what comes of each call in them.

    That is the row, the test, the outcome, and the arguments as text.
    """
    folders = [Path(__file__).parent, Path(__file__).parents[1] / "scipy"]
    own = Path(__file__).parents[2] / "src"
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.txt"
        results.touch()
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider",
             "-p", "no:xdist", *(word for name in plugins for word in ("-p", name)),
             "-c", os.devnull, "--rootdir", folder, "-W", "ignore",
             "--continue-on-collection-errors", "--pyargs", module],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
            env={**os.environ, RESULTS: str(results), LIMIT: str(limit),
                 "PYTHONPATH": os.pathsep.join(map(str, [*folders, own]))},
        ) as run, results.open(encoding="utf-8") as lines:  # fmt: skip
            part, has_ended = "", False
            while not has_ended:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    run.wait(1)
                has_ended = run.returncode is not None
                *whole, part = (part + lines.read()).split("\n")
                yield from map(json.loads, whole)


def kind_of(outcome: str) -> str:
    return outcome.split(maxsplit=1)[0].rstrip(",:")


def main() -> int:
    """Run the tests of submodules, and print the outcomes that need a look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--limit", type=int, default=150, help="of calls of one function")
    options = parser.parse_args()
    for module in options.modules:
        write(module, outcomes(f"scipy.{module}", options.limit))
    return 0


def write(module: str, found: Iterable[Sequence[str]]) -> None:
    """Print the outcomes that need a look, and how many there are of each kind."""
    counts: Counter[str] = Counter()
    try:
        for path, test, outcome, args, kwargs in found:
            counts[kind_of(outcome)] += 1
            if kind_of(outcome) not in FINE:
                text = f"{path} {outcome} | {args} {kwargs} | {test}".replace("\n", " ")
                sys.stdout.write(f"{text[:500]}\n")
                sys.stdout.flush()
    finally:  # an interrupt does not lose the counts
        sys.stdout.write(f"{module}: {dict(counts)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
