"""Every row of the table on CuPy's arrays: on the GPU where there is one, else on the double."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from gradwrap.core.table.registry import ops
from harness import COMPLEX, REAL, Case, cases, namespace
from hosted_cupy import device_params, has_gpu, on_device
from test_backends import Call, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

pytest.importorskip("cupy")

HAS: Any = importlib.import_module("cupyx.scipy.special")
ABSENT = frozenset(
    op.name
    for op in ops()
    if op.name.startswith("special.") and not hasattr(HAS, op.name.removeprefix("special."))
)
"""Special functions that CuPy lacks."""


def is_run(case: Case) -> bool:
    """Tell whether CuPy has the function, and the double can run it."""
    of_numbers = case.rule.name == "special.polygamma" and "i(" not in case.pattern
    if of_numbers and not has_gpu():  # CuPy calls a ufunc of numbers alone there
        return False
    return case.backend == "*" and case.rule.name not in ABSENT


CASES = [case for case in cases() if is_run(case)]
REAL_CASES = [case for case in CASES if not case.rule.only_complex]
COMPLEX_CASES = [case for case in CASES if not case.rule.only_real]


@pytest.fixture(autouse=True, scope="module", params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Run on the double, and give its counts, or on a GPU, and give None."""
    with on_device(request.param) as counted:
        yield counted


@pytest.mark.gpu
def test_is_run_on_a_gpu() -> None:
    if not has_gpu():
        pytest.skip("there is no GPU: CuPy's numbers here are those of the double")


def parametrize(chosen: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.id)


def call(case: Case, dtype: np.dtype[Any] = REAL) -> Call:
    """Put a case on the GPU, where it names a device."""
    return Call(case, "cupy", dtype, device=namespace("cupy").cuda.Device())


@parametrize(REAL_CASES)
def test_cupy_gives_what_numpy_gives(case: Case) -> None:
    check(call(case))


@parametrize(COMPLEX_CASES)
def test_complex_cupy_arrays_give_what_numpy_gives(case: Case) -> None:
    check(call(case, COMPLEX), COMPLEX)
