"""Dask's arrays whose chunks are CuPy's: gradients have chunks of CuPy's too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from hosted_cupy import device_params, on_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

cupy: Any = pytest.importorskip("cupy")
da: Any = pytest.importorskip("dask.array")
gda: Any = pytest.importorskip("gradwrap.dask.array")
pytestmark = pytest.mark.peers
V = np.random.default_rng(0).normal(size=(12, 4))


@pytest.fixture(autouse=True, params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Run on the double, or on a GPU."""
    with on_device(request.param) as counted:
        yield counted


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: (np.tanh(x) ** 2).sum(),
    "a slice": lambda x: (x[2:9] ** 2).sum(),
    "blocks": lambda x: (gda.map_blocks(np.sin, x, dtype=float) ** 2).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_is_an_array_of_cupys_chunks(name: str) -> None:
    x = da.from_array(cupy.asarray(V), chunks=(5, 4), asarray=False)

    gradient = gw.grad(PROGRAMS[name])(x)

    assert isinstance(gradient._meta, cupy.ndarray)
    found = gradient.compute(scheduler="sync")
    assert isinstance(found, cupy.ndarray)
    wanted = gw.grad(PROGRAMS[name])(da.from_array(V, chunks=(5, 4))).compute(scheduler="sync")
    np.testing.assert_allclose(cupy.asnumpy(found), wanted, rtol=1e-12)
