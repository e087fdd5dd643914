"""Nothing waits for the device: not the operations, not their derivatives, not the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.library.backend import backend_of
from harness import COMPLEX, REAL, Case, cases, namespace, runs_on
from hosted_cupy import has_gpu, hosted
from lambdas import rows
from test_backends import Call
from test_cupy_rules import is_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hosted_cupy.counts import Counts

cupy: Any = pytest.importorskip("cupy")
pytestmark = pytest.mark.skipif(has_gpu(), reason="the double counts; a GPU does not tell")

ALLOWED = {
    "getitem[x(4), b(1, 0, 1, 1)]": "how many elements a mask takes is the length of the result",
    "repeat[x(2, 3), i(1, 0, 2), axis=1]": "so is the sum of the repetitions",
}
"""Rows that wait in forward, and why: the shape of the result depends on values."""

CASES = [
    (case, dtype)
    for case in cases()
    if is_run(case)
    for dtype in (REAL, COMPLEX)
    if not (case.rule.only_complex if dtype is REAL else case.rule.only_real)
]


@pytest.fixture(autouse=True, scope="module")
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        yield counted


@pytest.mark.parametrize(
    ("case", "dtype"), CASES, ids=lambda value: value.id if isinstance(value, Case) else value.name
)
def test_no_row_waits(case: Case, dtype: np.dtype[Any], counts: Counts) -> None:
    if not runs_on(case, "cupy"):
        pytest.skip(f"CuPy has no {case.rule.name}")
    call = Call(case, "cupy", dtype, device=namespace("cupy").cuda.Device())

    def run() -> list[str]:
        counts.reset()
        out, pull = gw.vjp(call.function, *call.arrays)
        forward = list(counts.synchronisations)
        counts.reset()
        pull([call.xp.ones_like(part) for part in out])
        return forward

    forward = counts.noted_in(run)

    assert bool(forward) == (case.id in ALLOWED), forward
    assert counts.synchronisations == []
    assert counts.uploads == [] or case.rule.name.startswith("special.")  # numbers among arrays


@pytest.mark.parametrize(
    ("case", "dtype"), CASES, ids=lambda value: value.id if isinstance(value, Case) else value.name
)
def test_no_tangent_waits(case: Case, dtype: np.dtype[Any], counts: Counts) -> None:
    if not runs_on(case, "cupy"):
        pytest.skip(f"CuPy has no {case.rule.name}")
    call = Call(case, "cupy", dtype, device=namespace("cupy").cuda.Device())
    tangents = [call.xp.ones_like(a) for a in call.arrays]

    def run() -> None:
        counts.reset()
        gw.jvp(call.function, tuple(call.arrays), tuple(tangents))

    counts.noted_in(run)

    assert bool(counts.synchronisations) == (case.id in ALLOWED)


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda xp, x: xp.clip(x, -0.5, 0.5),
            lambda xp, x: xp.linalg.pinv(x),
            lambda xp, x: xp.sign(x),
        ]
    ),
    ids=["clip", "pinv", "sign"],
)
def test_what_array_api_compat_waits_in_is_done_otherwise(call: Any, counts: Counts) -> None:
    x = cupy.asarray([[-1.0, 0.25], [0.0, 2.0]])
    theirs, ours = namespace("cupy"), backend_of(x).xp
    counts.reset()

    wanted = call(theirs, x)
    assert counts.synchronisations
    counts.reset()
    found = call(ours, x)

    assert not counts.synchronisations
    np.testing.assert_allclose(found.get(), wanted.get(), rtol=1e-12, atol=1e-15)
