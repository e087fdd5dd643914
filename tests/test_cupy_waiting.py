"""Nothing waits for the device: not the operations, not their derivatives, not the engine."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.backend import backend_of
from harness import COMPLEX, REAL, Case, cases, namespace
from hosted_cupy import has_gpu, hosted
from test_backends import Call

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
    if case.backend == "*"
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
    call = Call(case, "cupy", dtype, device=namespace("cupy").cuda.Device())
    counts.reset()

    out, pull = gw.vjp(call.function, *call.arrays)
    forward = list(counts.synchronisations)
    counts.reset()
    pull([call.xp.ones_like(part) for part in out])

    assert bool(forward) == (case.id in ALLOWED), forward
    assert counts.synchronisations == []
    assert counts.uploads == []


@pytest.mark.parametrize(
    ("case", "dtype"), CASES, ids=lambda value: value.id if isinstance(value, Case) else value.name
)
def test_no_tangent_waits(case: Case, dtype: np.dtype[Any], counts: Counts) -> None:
    call = Call(case, "cupy", dtype, device=namespace("cupy").cuda.Device())
    tangents = [call.xp.ones_like(a) for a in call.arrays]
    counts.reset()

    gw.jvp(call.function, tuple(call.arrays), tuple(tangents))

    assert bool(counts.synchronisations) == (case.id in ALLOWED)


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.clip(x, -0.5, 0.5),
        lambda xp, x: xp.linalg.pinv(x),
        lambda xp, x: xp.sign(x),
    ],
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


def parameters() -> dict[str, Any]:
    random = np.random.default_rng(0)
    sizes = (64, 256, 256, 10)
    return {
        f"{name}{k}": cupy.asarray(0.1 * random.standard_normal(shape))
        for k, (m, n) in enumerate(itertools.pairwise(sizes))
        for name, shape in (("w", (m, n)), ("b", (n,)))
    }


def loss(params: dict[str, Any], x: Any, labels: Any) -> Any:
    """Cross-entropy of a network of three layers."""
    xp = x.__array_namespace__()
    for k in range(3):
        x = x @ params[f"w{k}"] + params[f"b{k}"]
        if k < 2:
            x = xp.tanh(x)
    top = xp.max(x, axis=1, keepdims=True)
    logits = x - top
    norms = xp.log(xp.sum(xp.exp(logits), axis=1))
    rows = xp.arange(x.shape[0])
    return xp.mean(norms - logits[rows, labels])


def test_a_training_step_waits_for_nothing(counts: Counts) -> None:
    random = np.random.default_rng(1)
    params = parameters()
    x = cupy.asarray(random.standard_normal((512, 64)))
    labels = cupy.asarray(random.integers(0, 10, 512))
    step = gw.value_and_grad(loss)
    counts.reset()
    value: Any = None

    for _ in range(3):
        value, gradients = step(params, x, labels)
        params = {name: p - 0.1 * gradients[name] for name, p in params.items()}

    assert counts.synchronisations == []
    assert counts.uploads == []
    assert value.shape == ()
    assert type(value) is cupy.ndarray


def test_a_training_step_on_the_tape_waits_for_nothing(counts: Counts) -> None:
    random = np.random.default_rng(1)
    leaves = {name: gw.wrap(p, requires_grad=True) for name, p in parameters().items()}
    x = gw.wrap(cupy.asarray(random.standard_normal((32, 64))))
    labels = cupy.asarray(random.integers(0, 10, 32))
    counts.reset()

    loss(leaves, x, labels).backward()
    with gw.no_grad():
        for leaf in leaves.values():
            assert leaf.grad is not None
            leaf[...] = leaf - 0.1 * leaf.grad  # in place
            leaf.grad = None

    assert counts.synchronisations == []
    assert counts.uploads == []


def by_hand(params: dict[str, Any], x: Any, labels: Any) -> dict[str, Any]:
    """The gradients of `loss`, with as little memory as they can be written with."""
    kept = [x]
    for k in range(3):
        x = x @ params[f"w{k}"]
        x += params[f"b{k}"]
        if k < 2:
            cupy.tanh(x, out=x)
        kept.append(x)
    x = kept.pop()
    g = cupy.exp(x - x.max(axis=1, keepdims=True))
    g /= g.sum(axis=1, keepdims=True)
    g[cupy.arange(len(g)), labels] -= 1.0
    g /= len(g)
    del x
    gradients = {}
    for k in (2, 1, 0):
        below = kept.pop()
        gradients[f"w{k}"] = below.T @ g
        gradients[f"b{k}"] = g.sum(axis=0)
        if k:
            g = g @ params[f"w{k}"].T
            below *= below  # nobody needs it any more
            g -= g * below
    return gradients


@pytest.mark.parametrize("batch", [1024, 4096])
def test_memory_of_a_training_step_is_near_that_of_one_by_hand(batch: int, counts: Counts) -> None:
    """What is saved is let go of during backward, so the peak is that of forward."""
    random = np.random.default_rng(2)
    params = parameters()
    x = cupy.asarray(random.standard_normal((batch, 64)))
    labels = cupy.asarray(random.integers(0, 10, batch))
    counts.reset()
    before = counts.live
    wanted = by_hand(params, x, labels)
    peak_by_hand = counts.peak - before
    counts.reset()

    found = gw.grad(loss)(params, x, labels)
    peak = counts.peak - before

    for name in params:
        np.testing.assert_allclose(found[name].get(), wanted[name].get(), rtol=1e-9, atol=1e-12)
    assert peak <= 1.1 * peak_by_hand, (peak, peak_by_hand)
