"""NumPy's own tests, with `gradwrap.numpy` in the place of `numpy`, outside and inside a transform.

This file is a plugin of pytest for a run of the tests that NumPy ships with. It replaces `numpy`,
its submodules and its functions in the globals of each of their modules. Inside a transform, each
test is called by `gradwrap.vjp`, so that the arrays that it makes are gradwrap's.

`python -m tests.doors.numpys_tests` runs them all and enters what fails in `numpys_tests.txt`, each
with its reason; `test_numpys_tests.py` holds a sample to that list.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradwrap.core.values.dynamic import type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MODULES = (
    *(f"numpy.lib.tests.test_{name}" for name in (
        "arraypad", "arraysetops", "function_base", "histograms", "index_tricks", "nanfunctions",
        "shape_base", "stride_tricks", "twodim_base", "type_check", "ufunclike")),
    *(f"numpy._core.tests.test_{name}" for name in (
        "einsum", "function_base", "multiarray", "numeric", "shape_base", "ufunc", "umath")),
    "numpy.fft.tests.test_helper", "numpy.fft.tests.test_pocketfft",
    "numpy.linalg.tests.test_linalg",
)  # fmt: skip
"""The modules of tests that are run; the others ask for objects, strings, structures, or C."""
LEFT_OUT = ("test_extension_incref_elide", "test_extension_incref_elide_stack")
"""Tests that end the process: they give a wrapper to a function in C that takes it for an array."""
MODES = ("outside", "inside")
VERSION = "2.4"
"""The version of NumPy whose tests the list is about."""
MODE = "GRADWRAP_NUMPYS_TESTS"
LIST = Path(__file__).with_suffix(".txt")
ROOT = Path(__file__).parents[2]


# The plugin ---------------------------------------------------------------------------------------


def replaced(value: Any) -> Any:
    """What takes the place of something in a module of tests: of NumPy's, the drop-in's."""
    import gradwrap.numpy as drop_in

    if value is np:
        return drop_in
    if isinstance(value, ModuleType):
        name = value.__name__.removeprefix("numpy.")
        return getattr(drop_in, name, value) if name in ("linalg", "fft") else value
    name = getattr(value, "__name__", "")
    if getattr(value, "__module__", "").startswith("numpy.testing") and name.startswith("assert_"):
        return on_arrays(value)
    if not isinstance(value, type) and name and getattr(np, name, None) is value:
        return getattr(drop_in, name)
    for part in ("linalg", "fft"):
        if not isinstance(value, type) and name and getattr(getattr(np, part), name, 0) is value:
            return getattr(getattr(drop_in, part), name)
    return value


def on_arrays(check: Any) -> Any:
    """Give a check of NumPy's the arrays of variables: it asks for the type of its arguments."""
    import gradwrap as gw

    def called(*args: Any, **kwargs: Any) -> Any:
        return check(*map(gw.unwrap, args), **{k: gw.unwrap(v) for k, v in kwargs.items()})

    return called


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Call a test with the names replaced; inside a transform if that is the mode."""
    mode = os.environ.get(MODE, "")
    if not mode:
        yield
        return
    module: Any = pyfuncitem.module
    names: dict[str, Any] = module.__dict__
    before: dict[str, Any] = {**names}
    names.update({name: replaced(value) for name, value in before.items()})
    for held in (value for value in before.values() if isinstance(value, type)):
        of_class: Any = vars(held)
        for name in [*of_class]:
            value: Any = of_class[name]
            kind = type_of(value)
            if issubclass(kind, list):
                setattr(held, name, [*map(replaced, value)])
            elif issubclass(kind, dict) and not name.startswith("__"):
                setattr(
                    held,
                    name,
                    dict(zip(map(replaced, value), map(replaced, value.values()), strict=True)),
                )
    test = pyfuncitem.obj
    if mode == "inside":
        pyfuncitem.obj = inside(test)
    try:
        yield
    finally:
        pyfuncitem.obj = test
        names.update(before)


def inside(test: Any) -> Any:
    """Let a test be called by a transform."""
    import gradwrap as gw

    def called(**given: Any) -> None:
        def function(x: Any) -> Any:
            test(**given)
            return x

        gw.vjp(function, 1.0)

    return called


def pytest_runtest_logreport(report: Any) -> None:
    """Write down what came of each test."""
    if report.when == "call" or report.outcome != "passed":
        text = str(report.longrepr).strip().splitlines() if report.failed else [""]
        words = next((line[1:].strip() for line in text if line.startswith("E ")), text[-1])
        with Path(os.environ["GRADWRAP_NUMPYS_RESULTS"]).open("a", encoding="utf-8") as file:
            place = "/".join(Path(report.location[0]).parts[-3:])
            name = f"{place}::{report.nodeid.partition('::')[2]}"
            file.write(f"{name}\t{report.when}\t{report.outcome}\t{words[:300]}\n")


# The runs -----------------------------------------------------------------------------------------


def outcomes(mode: str, modules: Iterable[str], *more: str) -> dict[str, tuple[str, str]]:
    """Run modules of tests in a mode; return the outcome of each test, and the first error line."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.txt"
        results.touch()
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "--maxfail=1000000", "--noconftest",
             "-p", "no:cacheprovider", "-p", "tests.doors.numpys_tests", "-c", os.devnull,
             "--rootdir", folder, "-W", "ignore", "--tb=short", *more,
             "-k", f"not ({' or '.join(LEFT_OUT)})", "--pyargs", *modules],
            check=False, capture_output=True, cwd=ROOT,
            env={**os.environ, MODE: mode, "GRADWRAP_NUMPYS_RESULTS": str(results),
                 "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        )  # fmt: skip
        found: dict[str, tuple[str, str]] = {}
        for line in results.read_text(encoding="utf-8").splitlines():
            name, _, outcome, words = line.split("\t", 3)
            if outcome != "passed" or name not in found:
                found[name] = (outcome, words)
    return found


def failures(mode: str, modules: Iterable[str], *more: str) -> dict[str, str]:
    """Return the tests that fail with the drop-in alone, with their errors."""
    found = outcomes(mode, modules, *more)
    failed = {name: words for name, (outcome, words) in found.items() if outcome == "failed"}
    if not failed:
        return {}
    plain = outcomes("", [address(name) for name in failed])
    return {name: failed[name] for name in failed if plain.get(name, ("",))[0] == "passed"}


def address(name: str) -> str:
    """Return what pytest calls a test of a package."""
    file, _, test = name.partition("::")
    return f"numpy.{file.removesuffix('.py').replace('/', '.')}::{test}"


# The list -----------------------------------------------------------------------------------------


def explained(mode: str) -> dict[str, str]:
    """Return the reason for each failure that is known, by its test."""
    lines = (line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines())
    return {name: reason for known, name, reason in lines if known == mode}


def main() -> int:
    """Run all, and enter the failures in the list; one without a reason is left for its author."""
    lines: list[str] = []
    counts: Counter[str] = Counter()
    for mode in MODES:
        known = explained(mode)
        for module in MODULES:
            for name, words in sorted(failures(mode, [module]).items()):
                lines.append(f"{mode}\t{name}\t{known.get(name, '')}")
                counts[mode] += 1
                print(lines[-1], words)  # noqa: T201  the result of the command
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(dict(counts))  # noqa: T201  likewise
    return int(any(line.endswith("\t") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
