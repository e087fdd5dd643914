"""Libraries that find gradwrap by themselves: unmodified scipy.fft, einops and scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Iterator

fft: Any = import_module("scipy.fft")
SIGNAL = np.array([0.3, -1.2, 0.7, 2.0, 0.4])
PLANE = np.arange(12.0).reshape(3, 4) ** 1.5


@pytest.mark.parametrize(
    ("name", "x"),
    [("fft", SIGNAL), ("rfft", SIGNAL), ("dct", SIGNAL), ("idst", SIGNAL), ("fft2", PLANE)],
)
def test_unmodified_scipy_fft_is_differentiated(name: str, x: Any) -> None:
    function = getattr(fft, name)

    gw.testing.check_grads(lambda x: np.abs(function(x)) ** 2, (x,))
    np.testing.assert_array_equal(gw.vjp(function, x)[0], function(x))


def test_plain_arrays_and_other_backends_go_to_scipy() -> None:
    found = fft.fft(SIGNAL)
    with fft.set_backend("scipy", only=True):
        wanted = fft.fft(SIGNAL)

    np.testing.assert_array_equal(found, wanted)
    assert type(found) is np.ndarray


@pytest.mark.parametrize("first", ["gradwrap", "scipy.fft"])
def test_order_of_imports_does_not_matter(first: str) -> None:
    second = {"gradwrap": "scipy.fft", "scipy.fft": "gradwrap"}[first]
    code = f"""
import {first}, {second}
import numpy as np, gradwrap, scipy.fft
print(gradwrap.grad(lambda x: np.sum(scipy.fft.dct(x)))(np.ones(2)).shape)
print(type(scipy.fft.__loader__).__name__)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.split() == ["(2,)", "SourceFileLoader"]


def test_einops_takes_tracked_arrays() -> None:
    einops: Any = pytest.importorskip("einops")

    def function(x: Any) -> Any:
        y = einops.rearrange(x, "a (b c) -> (a c) b", c=2)
        return einops.reduce(y, "i j -> i", "mean") + einops.repeat(x[0, 0], "-> n", n=6)

    gw.testing.check_grads(function, (PLANE,))


# scikit-learn -------------------------------------------------------------------------------------

FITTED = np.random.default_rng(1).normal(size=(12, 3))
ASKED = np.random.default_rng(2).normal(size=(5, 3))
TARGET = FITTED @ np.array([1.0, -0.5, 0.3])


@pytest.fixture
def dispatching(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    sklearn: Any = pytest.importorskip("sklearn")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.mark.usefixtures("dispatching")
def test_metrics_of_scikit_learn_are_differentiated() -> None:
    metrics: Any = import_module("sklearn.metrics")
    labels = np.array([0, 1, 1, 0, 1])
    chances = np.array([0.2, 0.7, 0.6, 0.4, 0.9])

    for name in ("mean_squared_error", "mean_absolute_error", "r2_score"):
        gw.testing.check_grads(
            lambda p, name=name: getattr(metrics, name)(TARGET[:5], p), (ASKED[:, 0],), order=1
        )
    gw.testing.check_grads(lambda p: metrics.log_loss(labels, p), (chances,), order=1)
    assert type(metrics.mean_squared_error(TARGET, TARGET + 1)) is float


@pytest.mark.usefixtures("dispatching")
def test_estimators_fitted_on_plain_arrays_are_differentiated_in_what_they_are_asked() -> None:
    ridge = import_module("sklearn.linear_model").Ridge(solver="svd").fit(FITTED, TARGET)
    pca = import_module("sklearn.decomposition").PCA(2, svd_solver="full").fit(FITTED)

    gw.testing.check_grads(ridge.predict, (ASKED,), order=1)
    gw.testing.check_grads(pca.transform, (ASKED,), order=1)
    np.testing.assert_array_equal(gw.vjp(ridge.predict, ASKED)[0], ridge.predict(ASKED))


@pytest.mark.usefixtures("dispatching")
def test_scikit_learn_of_plain_arrays_still_compares_namespaces() -> None:
    strict: Any = pytest.importorskip("array_api_strict")
    ridge = import_module("sklearn.linear_model").Ridge(solver="svd").fit(FITTED, TARGET)

    with pytest.raises(ValueError, match="must use the same namespace"):
        ridge.predict(strict.asarray(ASKED))


@pytest.mark.slow
@pytest.mark.usefixtures("dispatching")
def test_scikit_learn_with_its_compiled_classes_is_adapted() -> None:
    covariance: Any = import_module("sklearn.covariance")
    import_module("sklearn.metrics")  # whose classes are compiled, and cannot be changed

    def function(x: Any) -> Any:
        return covariance.EmpiricalCovariance().fit(x).covariance_

    gw.testing.check_grads(gw.adapting(function), (FITTED,), order=1)
