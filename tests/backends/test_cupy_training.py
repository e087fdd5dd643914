"""A network is trained on CuPy: without waiting for the device, in no more memory than by hand."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from hosted_cupy import device_params, on_device

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

cupy: Any = pytest.importorskip("cupy")
cupyx: Any = pytest.importorskip("cupyx")


@pytest.fixture(autouse=True, scope="module", params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Run on the double, and give its counts, or on a GPU, and give None."""
    with on_device(request.param) as counted:
        yield counted


@contextlib.contextmanager
def no_waiting(counts: Any) -> Generator[None]:
    """Counted on the double; on a GPU, CuPy raises where a value is asked for."""
    if counts is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it does not find every wait
            forbidden = cupyx.allow_synchronize(False)
        with forbidden:
            yield
    else:
        counts.reset()
        yield
        assert counts.synchronisations == []
        assert counts.uploads == []


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


def test_a_training_step_waits_for_nothing(counts: Any) -> None:
    random = np.random.default_rng(1)
    params = parameters()
    x = cupy.asarray(random.standard_normal((512, 64)))
    labels = cupy.asarray(random.integers(0, 10, 512))
    step = gw.value_and_grad(loss)
    values: list[Any] = []

    with no_waiting(counts):
        for _ in range(3):
            value, gradients = step(params, x, labels)
            params = {name: p - 0.1 * gradients[name] for name, p in params.items()}
            values.append(value)

    assert [type(value) for value in values] == [cupy.ndarray] * 3
    assert values[2].item() < values[0].item()


def test_a_training_step_on_the_tape_waits_for_nothing(counts: Any) -> None:
    random = np.random.default_rng(1)
    leaves = {name: gw.wrap(p, requires_grad=True) for name, p in parameters().items()}
    x = gw.wrap(cupy.asarray(random.standard_normal((32, 64))))
    labels = cupy.asarray(random.integers(0, 10, 32))
    before = {name: leaf.data.copy() for name, leaf in leaves.items()}

    with no_waiting(counts):
        loss(leaves, x, labels).backward()
        with gw.no_grad():
            for leaf in leaves.values():
                assert leaf.grad is not None
                leaf[...] = leaf - 0.1 * leaf.grad  # in place

    for name, leaf in leaves.items():
        assert leaf.grad is not None
        np.testing.assert_allclose(leaf.tolist(), (before[name] - 0.1 * leaf.grad).get())


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
    gradients: dict[str, Any] = {}
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
def test_memory_of_a_training_step_is_near_that_of_one_by_hand(batch: int, counts: Any) -> None:
    """Backward frees what was saved as it goes, so the peak is that of forward."""
    if counts is None:
        pytest.skip("the double counts; the pool does not tell its peak")
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
