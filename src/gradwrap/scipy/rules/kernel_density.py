"""The rule of `scipy.stats.gaussian_kde`, differentiated in all that it is given."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

import numpy as np

from gradwrap.core.levels.wrapper import native
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.classes import Class
from gradwrap.scipy.interpolants import refusing
from gradwrap.scipy.kinds import formula
from gradwrap.scipy.results import is_float
from gradwrap.scipy.solving import as_array
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.arguments import stop_gradient

special: Any = import_module("scipy.special")
stats: Any = import_module("scipy.stats")


def _made(dataset: Any, bw_method: Any, weights: Any) -> Any:
    """Return SciPy's object of the plain data."""
    dataset, bw_method, weights = (
        one if one is None or isinstance(one, str) or callable(one) else native(stop_gradient(one))
        for one in (dataset, bw_method, weights)
    )
    bw_method = bw_method[()] if isinstance(bw_method, np.ndarray) else bw_method
    return SCIPYS(np.asarray(dataset), bw_method, weights)


def _estimate(dataset: Any, points: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return _made(dataset, bw_method, weights).evaluate(points)


def _log_estimate(dataset: Any, points: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return _made(dataset, bw_method, weights).logpdf(points)


def _rows(dataset: Any) -> Any:
    dataset = as_array(dataset)
    return np.reshape(dataset, (1, -1)) if np.ndim(dataset) < 2 else dataset


def _shares(weights: Any, count: int) -> Any:
    """Return weights whose sum is 1."""
    weights = np.ones(count) if weights is None else as_array(weights)
    return weights / np.sum(weights)


def _factor(bw_method: Any, shares: Any, dim: int) -> Any:
    """Return the factor of a bandwidth that is a number or a name."""
    if not (bw_method is None or isinstance(bw_method, str)):
        return bw_method
    effective = 1.0 / np.sum(shares**2)
    if bw_method == "silverman":
        effective = effective * (dim + 2) / 4
    return effective ** (-1 / (dim + 4))


def _kernel(dataset: Any, bw_method: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return the data in rows, their weights and the covariance of the kernel."""
    dataset = _rows(dataset)
    dim, count = np.shape(dataset)
    shares = _shares(weights, count)
    apart = dataset - np.sum(dataset * shares, axis=1)[:, None]
    covariance = (apart * shares) @ apart.T / (1.0 - np.sum(shares**2))
    return dataset, shares, covariance * _factor(bw_method, shares, dim) ** 2


def _parts(dataset: Any, points: Any, bw_method: Any, weights: Any) -> Any:
    """Return the log-contribution of each datum to each point, and the weights of the data."""
    dataset, shares, covariance = _kernel(dataset, bw_method, weights)
    dim, count = np.shape(dataset)
    points = points if np.ndim(points) == 2 else np.reshape(points, (dim, -1))
    apart = np.reshape(dataset[:, :, None] - points[:, None, :], (dim, -1))
    squares = np.sum(apart * np.linalg.solve(covariance, apart), axis=0)
    norm = 0.5 * (dim * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1])
    return -0.5 * np.reshape(squares, (count, -1)) - norm, shares


def _density(dataset: Any, points: Any, bw_method: Any, weights: Any) -> Any:
    parts, shares = _parts(dataset, points, bw_method, weights)
    return shares @ np.exp(parts)


def _log_density(dataset: Any, points: Any, bw_method: Any, weights: Any) -> Any:
    parts, shares = _parts(dataset, points, bw_method, weights)
    top = np.max(stop_gradient(parts), axis=0)
    return np.log(shares @ np.exp(parts - top)) + top


def _integral(dataset: Any, low: Any, high: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return _made(dataset, bw_method, weights).integrate_box_1d(low, high)


def _between(dataset: Any, low: Any, high: Any, bw_method: Any, weights: Any) -> Any:
    dataset, shares, covariance = _kernel(np.reshape(dataset, (-1,)), bw_method, weights)
    ends = [special.ndtr((end - dataset[0]) / np.sqrt(covariance[0, 0])) for end in (low, high)]
    return shares @ (ends[1] - ends[0])


OF_KERNEL = "bw_method weights"
EVALUATE = formula(
    "stats.gaussian_kde.evaluate", _density, f"dataset points {OF_KERNEL}", original=_estimate
)
LOGARITHM = formula(
    "stats.gaussian_kde.logpdf", _log_density, f"dataset points {OF_KERNEL}", original=_log_estimate
)
INTEGRAL = formula(
    "stats.gaussian_kde.integrate_box_1d",
    _between,
    f"dataset low high {OF_KERNEL}",
    original=_integral,
)


SCIPYS: type[Any] = stats.gaussian_kde


class _GaussianKde(SCIPYS):  # type: ignore[misc]  # untyped
    """SciPy's kernel density estimate, which keeps a tracked data set."""

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        own: Any = type_of(self).covariance_factor
        if bw_method is None and own is not SCIPYS.covariance_factor:  # of a class of a package
            bw_method = own
        self._given = (dataset, bw_method, weights)
        if holds_variable(self._given):
            kinds = type_of(self).__mro__
            above = kinds[: kinds.index(_GaussianKde)]
            changed = [one for one in OF_BANDWIDTH for kind in above if one in vars(kind)]
            if changed:
                raise NoRuleError(
                    f"a class derived from scipy.stats.gaussian_kde has a {changed[0]} of its own, "
                    "of which nothing is known here. Fix: give the bandwidth as bw_method, or by a "
                    "method covariance_factor; or .detach() the data."
                )
            self._made = _made(*self._given)
        else:
            super().__init__(dataset, bw_method, weights)

    @staticmethod
    def _take_over(made: Any, *args: Any, **kwargs: Any) -> None:
        """Convert an uninitialized object of SciPy's class to this class."""
        made.__class__ = _GaussianKde
        made.__init__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of SciPy's object of the same data; other floats are refused."""
        made = vars(self)
        if name == "_given" and "dataset" in made:  # by a package, of its own class, before
            return made["dataset"], made["factor"], made["_weights"]
        if name in ("_given", "_made") or name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._made, name)
        dataset, bw_method, weights = self._given
        formulas: dict[str, Any] = {
            "dataset": lambda: _rows(dataset),
            "_weights": lambda: _shares(weights, self._made.n),
            "_neff": lambda: 1.0 / np.sum(self.weights**2),
            "covariance": lambda: _kernel(dataset, self.factor, weights)[2],
            "factor": lambda: (
                bw_method(self)
                if callable(bw_method)
                else _factor(bw_method, self.weights, self._made.d)
            ),
        }
        if name in formulas:
            return formulas[name]()
        if is_float(found) and not name.startswith("_"):
            return refusing(f"stats.gaussian_kde.{name}", found, {"dataset": [*self._given]})
        return found

    def evaluate(self, points: Any) -> Any:
        """Return the density at points."""
        return self._answer(EVALUATE, points)

    __call__ = evaluate

    def pdf(self, x: Any) -> Any:
        """Return the density at points."""
        return self._answer(EVALUATE, x)

    def logpdf(self, x: Any) -> Any:
        """Return the logarithm of the density at points."""
        return self._answer(LOGARITHM, x)

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """Return the probability between two points."""
        return self._answer(INTEGRAL, low, high)

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Set the width of the kernel."""
        dataset, _, weights = self._given
        if holds_variable([bw_method]) or "_made" in vars(self):
            self._made = _made(dataset, bw_method, weights)
        else:
            super().set_bandwidth(bw_method)
        self._given = (dataset, bw_method, weights)

    def _answer(self, row: Row, *places: Any) -> Any:
        dataset, _, weights = self._given
        if not holds_variable([self._given, *places]):
            return getattr(super(), row.path.rpartition(".")[2])(*places)
        bw_method = self.factor if callable(self._given[1]) else self._given[1]
        return row.kind.answer(row, (dataset, *places, bw_method, weights), {})


OF_BANDWIDTH = ("_compute_covariance", "scotts_factor", "silverman_factor", "set_bandwidth")
"""Methods on which the width of the kernel depends."""


def _refusing_data(name: str) -> Any:
    """Return SciPy's method for plain data; it raises an error for tracked data."""
    original = getattr(SCIPYS, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if holds_variable([self._given, args, kwargs]):
            raise NoRuleError(
                f"scipy.stats.gaussian_kde.{name} has no derivative. "
                "Fix: .detach() the data, or use .logpdf, .pdf or .integrate_box_1d."
            )
        return original(self, *args, **kwargs)

    return method


for _name in ("integrate_box", "integrate_gaussian", "integrate_kde", "marginal", "resample"):
    setattr(_GaussianKde, _name, _refusing_data(_name))
register([Row("stats.gaussian_kde", Class(lambda _: _GaussianKde)), EVALUATE, LOGARITHM, INTEGRAL])
