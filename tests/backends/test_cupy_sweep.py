"""Every public function of CuPy on tracked values: derivatives that are NumPy's, or an error."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.special

import gradwrap.numpy as gradwrap_numpy
from cupy_calls import PATTERNS, SUBSCRIPTS, Outcome, assert_same, outcome
from hosted_cupy import device_params, on_device

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

cupy: Any = pytest.importorskip("cupy")
import cupyx.scipy.special  # noqa: E402  after the skip

gcp: Any = __import__("gradwrap.cupy").cupy

MODULES: dict[str, tuple[Any, Any, Any, Any]] = {
    # CuPy's, its drop-in, NumPy's, its drop-in
    "cupy": (cupy, gcp, np, gradwrap_numpy),
    "cupy.linalg": (cupy.linalg, gcp.linalg, np.linalg, np.linalg),
    "cupy.fft": (cupy.fft, gcp.fft, np.fft, np.fft),
    "cupyx.scipy.special": (
        cupyx.scipy.special,
        cupyx.scipy.special,
        scipy.special,
        scipy.special,
    ),
}
NOT_VALUES = frozenset(["axis", "dtype", "dx", "order", "rowvar", "stream"])
"""Parameters for which a tracked value makes no sense, or that are not always looked at."""
NOT_COMPARED = frozenset(
    [
        "asnumpy",  # leaves the device
        "broadcast_arrays",  # CuPy broadcasts its own alone, and asks the others for nothing
        "diag_indices",  # of integers
        "empty_like",  # has no values
        "mintypecode",  # of letters
        "piecewise",  # CuPy takes scalar functions alone
    ]
)
STEPS = frozenset(
    [
        *("ceil", "compress", "copysign", "divmod", "extract", "floor", "floor_divide"),
        *("heaviside", "modf", "nextafter", "sign", "trunc"),
    ]
)
"""Piecewise constant in an argument; where NumPy's refuses it, there is nothing to compare."""


def names(module: ModuleType) -> list[str]:
    return [
        name
        for name in dir(module)
        if not name.startswith("_")
        and callable(getattr(module, name))
        and not inspect.isclass(getattr(module, name))
    ]


CALLED = [(path, name) for path, modules in MODULES.items() for name in names(modules[0])]


@pytest.fixture(autouse=True, scope="module", params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    with on_device(request.param) as counted:
        yield counted


def fits(function: Any, name: str, pattern: Any) -> bool:
    """Tell whether a function takes a call's arguments, with arrays only where it takes values."""
    if name in NOT_COMPARED or (name != "einsum" and pattern[0] == SUBSCRIPTS):
        return False
    try:
        bound = inspect.signature(function).bind(*pattern).arguments
    except TypeError:
        return False
    except ValueError:
        return True
    arrays = {word for word, value in bound.items() if isinstance(value, str)}
    return not arrays & NOT_VALUES and "discont" not in bound


def on_cupy(function: Any, pattern: Any) -> Outcome | Exception:
    return outcome(function, pattern, cupy.asarray, cupy.asnumpy)


def on_numpy(function: Any, pattern: Any) -> Outcome | Exception:
    return outcome(function, pattern, np.asarray, np.asarray)


FLAGGED = frozenset({"nan_to_num"})
"""Functions whose second argument is a flag, for which CuPy takes any array."""


@pytest.mark.parametrize(("path", "name"), CALLED)
def test_unmodified_cupy_differentiates_or_raises(path: str, name: str) -> None:
    theirs, _, numpys, _ = MODULES[path]
    for pattern in PATTERNS:
        if not fits(getattr(theirs, name), name, pattern):
            continue
        found = on_cupy(getattr(theirs, name), pattern)
        if isinstance(found, Exception):
            continue
        wanted = on_numpy(getattr(numpys, name, None), pattern)
        if isinstance(wanted, Exception):
            assert all(found.tracked) or name in STEPS | FLAGGED, (pattern, wanted)
        else:
            assert_same(found, wanted)


@pytest.mark.parametrize(("path", "name"), [pair for pair in CALLED if "special" not in pair[0]])
def test_the_drop_in_differentiates_what_numpys_does(path: str, name: str) -> None:
    theirs, ours, _, numpys = MODULES[path]
    for pattern in PATTERNS:
        if not fits(getattr(theirs, name), name, pattern):
            continue
        wanted = on_numpy(getattr(numpys, name, None), pattern)
        found = on_cupy(getattr(ours, name), pattern)
        if isinstance(found, Exception):
            assert isinstance(wanted, Exception) or not any(wanted.tracked), (pattern, found)
        elif isinstance(wanted, Exception):
            assert all(found.tracked) or name in STEPS, (pattern, wanted)
        else:
            assert_same(found, wanted)
