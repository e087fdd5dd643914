"""NumPy's own tests as data: each call in them of a function on floats is differentiated.

This file is a plugin of pytest for a run of the tests that NumPy ships with. In their modules it
replaces NumPy's functions by ones that first examine the call: the value is NumPy's, tangents
agree with differences, and cotangents with tangents. Some calls are examined with arrays in another
layout, of another dtype, under `vmap`, and compiled. The tests themselves get NumPy's results.

    python tests/support/numpys_calls.py [--limit N] [lib.tests.test_function_base ...]
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "scipy"), str(Path(__file__).parent)]

import numpy as np
import pytest

import scipys_tests
from gradwrap.core.values.tree import flatten, unflatten
from lambdas import is_a
from scipy_forms import CHECKS
from scipy_options import is_float
from scipys_tests import Examiner, row_without_signature, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MODULES = (
    *(f"lib.tests.test_{name}" for name in (
        "arraypad", "arraysetops", "function_base", "histograms", "index_tricks", "nanfunctions",
        "shape_base", "stride_tricks", "twodim_base", "type_check", "ufunclike")),
    *("linalg.tests.test_linalg", "fft.tests.test_helper", "fft.tests.test_pocketfft"),
    *(f"_core.tests.test_{name}" for name in (
        "einsum", "function_base", "multiarray", "numeric", "shape_base", "ufunc", "umath")),
)  # fmt: skip
REPEATED = ("reduce", "accumulate", "outer", "reduceat")
"""The methods of ufuncs that are examined."""
LEFT_OUT = (
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "shares_memory",
    "empty_like",
)
"""Functions that are asked for an array of NumPy's itself."""


def functions() -> dict[int, tuple[Any, str]]:
    """The public functions of NumPy, and their names, by their identity."""
    found: dict[int, tuple[Any, str]] = {}
    for module, prefix in ((np, ""), (np.linalg, "linalg."), (np.fft, "fft.")):
        for name, value in vars(module).items():
            is_function = callable(value) and not is_a(value, type) and name not in LEFT_OUT
            if is_function and not name.startswith("_"):
                found.setdefault(id(value), (value, prefix + name))
    return found


class _Call:
    """What takes the place of a function, and of its methods."""

    def __init__(self, examiner: NumpyExaminer, function: Any, name: str) -> None:
        self._examiner, self._function, self._name = examiner, function, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._examiner.examine(self._name, self._function, args, kwargs)
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._function, name)
        if name in REPEATED:
            return _Call(self._examiner, found, f"{self._name}.{name}")
        return found


class NumpyExaminer(Examiner):
    """Examines calls of NumPy's functions."""

    def __init__(self) -> None:
        super().__init__(objects={})
        self.functions = functions()

    def replaced(self, value: Any) -> Any:
        """Return what takes the place of something in a module of tests."""
        if self.functions.get(id(value), (None, ""))[0] is value is not None:
            return self.made.setdefault(id(value), _Call(self, *self.functions[id(value)]))
        if is_a(value, ModuleType) and value.__name__ in ("numpy", "numpy.linalg", "numpy.fft"):
            return self.module(value)
        return value

    def examine(self, name: str, function: Any, args: Any, kwargs: dict[str, Any]) -> None:
        """Examine a call with all arrays of numbers in its arguments tracked."""
        if self.is_busy:
            return
        self.is_busy = True
        try:
            leaves, tree = flatten(copy.deepcopy((args, kwargs)))
            if not 0 < sum(map(np.size, leaves)) < scipys_tests.LARGEST and leaves:
                return
            made = _of_leaves(function, tree)
            leaves = _as_floats(made, leaves)
        except Exception:  # noqa: BLE001  what cannot be copied, or fails, is not examined
            return
        finally:
            self.is_busy = False
        if not any(map(is_float, leaves)):
            return
        self.counts["variants"] += 1
        variant, change = VARIANTS[self.counts["variants"] % len(VARIANTS)]
        with contextlib.suppress(Exception):
            leaves = [
                change(one) if is_a(one, np.ndarray) and is_float(one) else one for one in leaves
            ]
        row = row_without_signature(f"{name} ({variant})", made, made)
        self.examine_apart(row, tuple(leaves), {})

    def copied(self, row: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the arguments as they are: a copy would have another layout."""
        return args, kwargs

    def checks(self) -> tuple[str, ...]:
        """Examine a part of the calls in batches and compiled too."""
        return CHECKS[1:] if self.counts["variants"] % 5 == 0 else ()


def _of_leaves(function: Any, tree: Any) -> Callable[..., Any]:
    """Return a call as a function of the leaves of its arguments, which it does not change."""

    def call(*leaves: Any) -> Any:
        args, kwargs = unflatten(tree, list(leaves))
        if "out" in kwargs:
            kwargs["out"] = _copied(kwargs["out"])
        first = args[0].copy() if args and hasattr(args[0], "copy") else None
        found = function(*args, **kwargs)
        if found is None and first is not None:  # it writes to its argument
            function(first, *args[1:], **kwargs)
            return first
        return (found, kwargs["out"]) if "out" in kwargs else found

    return call


def _copied(out: Any) -> Any:
    if is_a(out, tuple):
        return tuple(map(_copied, out))
    return None if out is None else out.copy()


def _as_floats(function: Any, leaves: list[Any]) -> list[Any]:
    """Convert those arrays of integers to floats with which NumPy takes the call."""
    for place, leaf in enumerate(leaves):
        if is_a(leaf, np.ndarray) and leaf.dtype.kind in "iu":
            tried = [*leaves[:place], leaf.astype(float), *leaves[place + 1 :]]
            with contextlib.suppress(Exception):
                function(*copy.deepcopy(tried))
                leaves = tried
    return leaves


def _in_steps(x: Any) -> Any:
    """Return the same array in memory with negative steps, and gaps."""
    room = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    made = room[tuple(slice(None, None, -2) for _ in x.shape)]
    made[...] = x
    return made


def _narrow(x: Any) -> Any:
    return x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)


def _numbers(x: Any) -> Any:
    return np.reshape(np.arange(np.size(x)), np.shape(x))


def _complex(x: Any) -> Any:
    return x if np.iscomplexobj(x) else x + 0.25j * np.cos(_numbers(x))


def _moved(x: Any) -> Any:
    return x + 0.015625 * np.cos(_numbers(x)).astype(x.dtype)


def _half(x: Any) -> Any:
    return x if np.iscomplexobj(x) else x.astype(np.float16)


def _same(x: Any) -> Any:
    return x


VARIANTS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("as it is", _same),
    ("in steps", _in_steps),
    ("Fortran", np.asfortranarray),
    ("moved", _moved),
    ("single", _narrow),
    ("complex", _complex),
    ("half", _half),
)
"""Other forms of the arrays of a call, in turns."""
_examiners: list[NumpyExaminer] = []


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Run a test with the functions replaced in its module."""
    if scipys_tests.RESULTS not in os.environ:
        yield
        return
    if not _examiners:
        _examiners.append(NumpyExaminer())
    with _examiners[0].replacing(pyfuncitem):
        yield


def main() -> int:
    """Run the tests of modules, and print the outcomes that need a look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--limit", type=int, default=150, help="of calls of one function")
    options = parser.parse_args()
    for module in options.modules:
        found = scipys_tests.outcomes(f"numpy.{module}", options.limit, ("numpys_calls",))
        write(module, found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
