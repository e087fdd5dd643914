"""`scipy.stats.gaussian_kde`, differentiated in the points and in the data set."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.wrapper import native
from gradwrap.errors import NoRuleError
from gradwrap.scipy.calls import holds_variable
from gradwrap.scipy.kinds import Formula
from gradwrap.scipy.table import Kind, Row, call, register
from gradwrap.transforms.arguments import stop_gradient

if TYPE_CHECKING:
    from gradwrap.scipy.table import Sample


stats: Any = import_module("scipy.stats")


def _estimate(dataset: Any, points: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return stats.gaussian_kde(dataset, bw_method, weights).evaluate(points)


def _log_estimate(dataset: Any, points: Any, bw_method: Any = None, weights: Any = None) -> Any:
    return stats.gaussian_kde(dataset, bw_method, weights).logpdf(points)


def _parts(dataset: Any, points: Any, bw_method: Any, weights: Any) -> Any:
    """Return the logarithms of what each datum gives to each point; the bandwidth is a number."""
    dataset = np.reshape(dataset, (1, -1)) if np.ndim(dataset) == 1 else dataset
    dim, count = np.shape(dataset)
    points = points if np.ndim(points) == 2 else np.reshape(points, (dim, -1))
    known = stats.gaussian_kde(np.asarray(stop_gradient(dataset)), bw_method, weights)
    covariance = np.reshape(np.cov(dataset, aweights=known.weights), (dim, dim)) * known.factor**2
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


def _samples(r: Any) -> list[Sample]:
    weights = np.array([0.1, 0.3, 0.2, 0.1, 0.3])
    return [
        call(r.normal(6), r.normal(3)),
        call(r.normal(2, 6), r.normal(2, 3), bw_method=0.7),
        call(r.normal(5), r.normal(3), weights=weights),
    ]


EVALUATE = Row(
    "stats.gaussian_kde.evaluate",
    Formula(_density),
    arrays="dataset points",
    original=_estimate,
    samples=_samples,
)
LOGARITHM = Row(
    "stats.gaussian_kde.logpdf",
    Formula(_log_density),
    arrays="dataset points",
    original=_log_estimate,
    samples=_samples,
)


class KernelDensity(Kind):
    """The class of kernel density estimates, whose data and points may be tracked."""

    name = "class"
    tracks_all = True

    def takes(self, parameter: str) -> bool:
        """Take every parameter: the constructor checks them."""
        return True

    def stand_in(self, row: Row) -> Any:
        """Return the subclass."""
        return _GaussianKde


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
        super().__init__(np.asarray(native(stop_gradient(dataset))), bw_method, weights)

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

    def _answer(self, row: Row, points: Any) -> Any:
        dataset, bw_method, weights = self._given
        if not holds_variable([dataset, points]):
            plain = super().evaluate if row is EVALUATE else super().logpdf
            return plain(points)
        if callable(bw_method):
            bw_method = self.factor
        return row.kind.answer(row, (dataset, points, bw_method, weights), {})


register([Row("stats.gaussian_kde", KernelDensity()), EVALUATE, LOGARITHM])
