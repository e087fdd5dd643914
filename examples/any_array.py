"""Run one function on many kinds of arrays: NumPy's, array-api-strict's on several devices, CuPy's.

`loss` gets its functions from its argument, by `w.__array_namespace__()`, as the Python Array API
standard intends. So do its gradient and `fit`: they run on whatever arrays they are given, and
return arrays of the same library, dtype and device.

array-api-strict implements the standard and nothing else. It refuses to mix dtypes or devices, or
to be converted to NumPy, and its devices stand in for those that a test machine lacks: a program
that runs on it will probably run on a GPU. `python examples/any_array.py numpy cupy` runs it there.

The data are 569 breast tumours of the UCI Machine Learning Repository, which scikit-learn ships.
Each has 30 measurements and a diagnosis, malignant or benign.
"""

import importlib
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import array_api_strict
import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

import gradwrap as gw

Array: TypeAlias = Any  # any library's: the standard has no type for it yet


def loss(w: Array, x: Array, y: Array) -> Array:
    """Logistic regression of labels `y` = +1 or -1 on `x`, with a ridge that keeps `w` finite."""
    xp = w.__array_namespace__()
    margin = y * (x @ w)
    return xp.mean(xp.logaddexp(-margin, xp.zeros_like(margin))) + 0.01 * xp.sum(w * w)


def fit(x: Array, y: Array, steps: int) -> Array:
    """Minimise `loss` by gradient descent."""
    xp = array_namespace(x)  # CuPy's arrays do not have the method; the wrapped ones in `loss` do
    w = xp.zeros_like(x[0, :])
    gradient = gw.grad(loss)
    for _ in range(steps):
        w = w - 0.3 * gradient(w, x, y)
    return w


class Run(NamedTuple):
    """The results on one kind of array."""

    gradient: Array
    weights: Array
    accuracy: float


def kinds(library: str) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return a library's kinds of arrays: the namespace, and the options that make them."""
    if library == "strict":
        xp, place = array_api_strict, {"device": array_api_strict.Device("device1")}
    else:
        xp, place = importlib.import_module(library), {}
    return {
        f"{library} float64": (xp, {"dtype": xp.float64}),
        f"{library} float32": (xp, {"dtype": xp.float32, **place}),
    }


def main(steps: int = 200, libraries: Sequence[str] = ("numpy", "strict")) -> dict[str, Run]:
    data = load_breast_cancer()
    measurements = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    x = np.column_stack([np.ones(len(measurements)), measurements])
    y = np.where(data.target == 1, 1.0, -1.0)

    runs: dict[str, Run] = {}
    chosen = [item for library in libraries for item in kinds(library).items()]
    for name, (xp, options) in chosen:
        xs, ys = xp.asarray(x, **options), xp.asarray(y, **options)
        start = xp.zeros_like(xs[0, :])
        gradient = gw.grad(loss)(start, xs, ys)
        assert type(gradient) is type(start)
        assert (gradient.dtype, gradient.device) == (start.dtype, start.device)
        weights = fit(xs, ys, steps)
        right = xp.sign(xs @ weights) == ys
        runs[name] = Run(gradient, weights, float(xp.mean(xp.astype(right, xp.float32))))

    print(f"{len(x)} tumours, {x.shape[1]} weights, {steps} steps of gradient descent\n")
    print("The gradient at w = 0:\n")
    for run in runs.values():
        gradient = run.gradient
        kind = f"{type(gradient).__module__.partition('.')[0]}.{type(gradient).__name__}"
        dtype = str(gradient.dtype).rpartition(".")[2]
        place = str(gradient.device).removeprefix("array_api_strict.")
        values = " ".join(f"{v:.5f}" for v in to_numpy(gradient)[:3])
        print(f"  {kind:<23}{dtype:<9}{place:<22}{values} ...")

    print("\nAfter the fit:\n")
    reference = to_numpy(next(iter(runs.values())).weights)
    for name, run in runs.items():
        largest = np.max(np.abs(to_numpy(run.weights) - reference))
        print(f"  {name:<16}{run.accuracy:.1%} right, weights {largest:.0e} from the first run's")
    return runs


def to_numpy(a: Array) -> NDArray[np.float64]:
    """Copy any array, from any device, to NumPy."""
    host = a.get() if hasattr(a, "get") else np.from_dlpack(a)
    return host.astype(np.float64)


if __name__ == "__main__":
    main(libraries=sys.argv[1:] or ("numpy", "strict"))
