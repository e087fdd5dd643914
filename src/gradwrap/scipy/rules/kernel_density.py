"""The rule of `scipy.stats.gaussian_kde`, differentiated in the points and the data set."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

import numpy as np

from gradwrap.core.levels.wrapper import native
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


def _estimate(dataset: Any, points: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return stats.gaussian_kde(dataset, bw_method, weights).evaluate(points)


def _log_estimate(dataset: Any, points: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return stats.gaussian_kde(dataset, bw_method, weights).logpdf(points)


def _rows(dataset: Any) -> Any:
    dataset = as_array(dataset)
    return np.reshape(dataset, (1, -1)) if np.ndim(dataset) < 2 else dataset


def _covariance(dataset: Any, known: Any) -> Any:
    """Return the covariance of the kernel, for weights and a bandwidth that are known."""
    dataset = _rows(dataset)
    dim = np.shape(dataset)[0]
    return np.reshape(np.cov(dataset, aweights=known.weights), (dim, dim)) * known.factor**2


def _parts(dataset: Any, points: Any, bw_method: Any, weights: Any) -> Any:
    """Return the log-contribution of each datum to each point, for a numeric bandwidth."""
    dataset = _rows(dataset)
    dim, count = np.shape(dataset)
    points = points if np.ndim(points) == 2 else np.reshape(points, (dim, -1))
    known = stats.gaussian_kde(np.asarray(stop_gradient(dataset)), bw_method, weights)
    covariance = _covariance(dataset, known)
    apart = np.reshape(dataset[:, :, None] - points[:, None, :], (dim, -1))
    squares = np.sum(apart * np.linalg.solve(covariance, apart), axis=0)
    norm = 0.5 * (dim * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1])
    return np.log(known.weights)[:, None] - 0.5 * np.reshape(squares, (count, -1)) - norm


def _density(dataset: Any, points: Any, bw_method: Any, weights: Any) -> Any:
    return np.sum(np.exp(_parts(dataset, points, bw_method, weights)), axis=0)


def _log_density(dataset: Any, points: Any, bw_method: Any, weights: Any) -> Any:
    parts = _parts(dataset, points, bw_method, weights)
    top = np.max(stop_gradient(parts), axis=0)
    return np.log(np.sum(np.exp(parts - top), axis=0)) + top


def _integral(dataset: Any, low: Any, high: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return stats.gaussian_kde(dataset, bw_method, weights).integrate_box_1d(low, high)


def _between(dataset: Any, low: Any, high: Any, bw_method: Any, weights: Any) -> Any:
    dataset = np.reshape(dataset, (-1,))
    known = stats.gaussian_kde(np.asarray(stop_gradient(dataset)), bw_method, weights)
    width = np.sqrt(np.cov(dataset, aweights=known.weights)) * known.factor
    ends = [special.ndtr((end - dataset) / width) for end in (low, high)]
    return known.weights @ (ends[1] - ends[0])


EVALUATE = formula("stats.gaussian_kde.evaluate", _density, "dataset points", original=_estimate)
LOGARITHM = formula(
    "stats.gaussian_kde.logpdf", _log_density, "dataset points", original=_log_estimate
)
INTEGRAL = formula(
    "stats.gaussian_kde.integrate_box_1d", _between, "dataset low high", original=_integral
)


SCIPYS: type[Any] = stats.gaussian_kde


class _GaussianKde(SCIPYS):  # type: ignore[misc]  # untyped
    """SciPy's kernel density estimate, which keeps a tracked data set."""

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        if holds_variable([bw_method, weights]):
            raise NoRuleError(
                "scipy.stats.gaussian_kde has no derivative with respect to bw_method and "
                "weights. Fix: .detach() them."
            )
        self._given = (dataset, bw_method, weights)
        if holds_variable([dataset]):
            self._made = SCIPYS(np.asarray(native(stop_gradient(dataset))), bw_method, weights)
        else:
            super().__init__(dataset, bw_method, weights)

    @staticmethod
    def _take_over(made: Any, *args: Any, **kwargs: Any) -> None:
        """Convert an uninitialized object of SciPy's class to this class."""
        made.__class__ = _GaussianKde
        made.__init__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of SciPy's object of the same data; other floats are refused."""
        if name == "_made" or name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._made, name)
        if name == "dataset":
            return _rows(self._given[0])
        if name == "covariance":
            return _covariance(self._given[0], self)
        if name == "factor" and not callable(self._given[1]):
            return found  # of the weights and the shape of the data, which are plain
        if is_float(found) and not name.startswith("_"):
            return refusing(f"stats.gaussian_kde.{name}", found, {"dataset": self._given[0]})
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
        self._given = (self._given[0], bw_method, self._given[2])
        vars(self).get("_made", super()).set_bandwidth(bw_method)

    def _answer(self, row: Row, *places: Any) -> Any:
        dataset, bw_method, weights = self._given
        if not holds_variable([dataset, *places]):
            return getattr(super(), row.path.rpartition(".")[2])(*places)
        if callable(bw_method):
            bw_method = self.factor
        return row.kind.answer(row, (dataset, *places, bw_method, weights), {})


def _refusing_data(name: str) -> Any:
    """Return SciPy's method for plain data; it raises an error for tracked data."""
    original = getattr(SCIPYS, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if holds_variable([self._given[0], args, kwargs]):
            raise NoRuleError(
                f"scipy.stats.gaussian_kde.{name} has no derivative. "
                "Fix: .detach() the data, or use .logpdf, .pdf or .integrate_box_1d."
            )
        return original(self, *args, **kwargs)

    return method


for _name in ("integrate_box", "integrate_gaussian", "integrate_kde", "marginal", "resample"):
    setattr(_GaussianKde, _name, _refusing_data(_name))
register([Row("stats.gaussian_kde", Class(lambda _: _GaussianKde)), EVALUATE, LOGARITHM, INTEGRAL])
