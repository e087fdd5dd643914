"""Examples on CuPy's arrays: on the GPU where there is one, else on the double.

The functions that are differentiated are those that run on NumPy's arrays; the library is chosen
where the arrays are made.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hosted_cupy import device_params, on_device

if TYPE_CHECKING:
    from collections.abc import Iterator

cupy: Any = pytest.importorskip("cupy")
pytest.importorskip("sklearn")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True, params=device_params())
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with on_device(request.param) as counted:
        if counted is not None:  # the double has all that the examples ask for
            monkeypatch.setattr(cupy, "is_available", lambda: True)
        yield


def run(name: str, **options: Any) -> Any:
    """Run an example, and return the result of its `main`."""
    return runpy.run_path(str(EXAMPLES / name))["main"](**options)


def test_digits() -> None:
    on_host, found = (run("digits.py", epochs=3, library=name) for name in ("numpy", "cupy"))
    assert found.gradient_error < 1e-7
    np.testing.assert_allclose(found.losses, on_host.losses, rtol=1e-6)
    assert found.train_accuracy == pytest.approx(on_host.train_accuracy, abs=0.002)
    assert found.test_accuracy == pytest.approx(on_host.test_accuracy, abs=0.005)


def test_any_array() -> None:
    pytest.importorskip("array_api_strict")
    runs = run("any_array.py", steps=20, libraries=("numpy", "cupy"))
    for name, tolerance in [("float64", 1e-12), ("float32", 1e-5)]:
        on_host, found = runs[f"numpy {name}"], runs[f"cupy {name}"]
        for a, b in [(found.gradient, on_host.gradient), (found.weights, on_host.weights)]:
            assert type(a) is cupy.ndarray
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a.get(), b, rtol=tolerance, atol=tolerance)
        assert found.accuracy == pytest.approx(on_host.accuracy, abs=0.01)


def test_everywhere() -> None:
    results = run("everywhere.py", names=("cupy",))
    assert len(results) == 3
    for program in results.values():
        np.testing.assert_allclose(program["cupy"], program["numpy"], rtol=1e-10, atol=1e-12)
