"""Stand-ins for the functions of `statistics`: formulas for variables, which are no fractions."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from statistics import NormalDist, StatisticsError, mode
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.plain_values import are_plain, standing_in, unheld
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, holds_batch, native
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from gradwrap.core.values.dynamic import AnyFunction

ours: Any = drop_in
anything: Any = np


def _of_data(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Give a formula the array of the data."""

    @functools.wraps(formula)
    def of_data(data: Any, *args: Any, **options: Any) -> Any:
        return formula(ours.asarray(data), *args, **options)

    return of_data


def _fmean(x: Any, weights: Any = None) -> Any:
    return anything.average(x, weights=weights)


def _harmonic_mean(x: Any, weights: Any = None) -> Any:
    w: Any = anything.ones(len(x)) if weights is None else ours.asarray(weights)
    return anything.sum(w) / anything.sum(w / x)


def _middle(x: Any, before: int, behind: int) -> Any:
    """Return the mean of two of the sorted elements, at half of the length or one less."""
    ordered, n = anything.sort(x), len(x)
    return (ordered[(n - before) // 2] + ordered[(n - behind) // 2]) / 2


def _mode(x: Any) -> Any:
    numbers = native(x).tolist()
    return x[numbers.index(mode(numbers))]


def _squares(x: Any, center: Any) -> Any:
    return anything.sum((x - (anything.mean(x) if center is None else center)) ** 2)


def _variance(x: Any, xbar: Any = None) -> Any:
    return _squares(x, xbar) / (len(x) - 1)


def _pvariance(x: Any, mu: Any = None) -> Any:
    return _squares(x, mu) / len(x)


def _products(x: Any, y: Any) -> Any:
    return anything.sum((x - anything.mean(x)) * (y - anything.mean(y)))


def _covariance(x: Any, y: Any) -> Any:
    return _products(x, ours.asarray(y)) / (len(x) - 1)


def _correlation(x: Any, y: Any) -> Any:
    y = ours.asarray(y)
    return _products(x, y) / anything.sqrt(_products(x, x) * _products(y, y))


def _linear_regression(x: Any, y: Any, *, proportional: bool = False) -> Any:
    y = ours.asarray(y)
    if proportional:
        return anything.sum(x * y) / anything.sum(x * x), 0.0
    slope = _products(x, y) / _products(x, x)
    return slope, anything.mean(y) - slope * anything.mean(x)


FORMULAS: dict[str, AnyFunction[Any]] = {
    "correlation": _correlation,
    "covariance": _covariance,
    "fmean": _fmean,
    "geometric_mean": lambda x: anything.exp(anything.mean(anything.log(x))),
    "harmonic_mean": _harmonic_mean,
    "linear_regression": _linear_regression,
    "mean": anything.mean,
    "median": lambda x: _middle(x, 1, 0),
    "median_high": lambda x: _middle(x, 0, 0),
    "median_low": lambda x: _middle(x, 1, 1),
    "mode": _mode,
    "pstdev": lambda x, mu=None: anything.sqrt(_pvariance(x, mu)),
    "pvariance": _pvariance,
    "stdev": lambda x, xbar=None: anything.sqrt(_variance(x, xbar)),
    "variance": _variance,
}
"""The functions that compute in fractions, and those that sort."""


class Normal(NormalDist):
    """A normal distribution whose mean, deviation and points may be tracked."""

    def __init__(self, mu: Any = 0.0, sigma: Any = 1.0) -> None:
        if are_plain((mu, sigma), {}):
            super().__init__(mu, sigma)
            return
        if not holds_batch(sigma) and sigma < 0.0:
            raise StatisticsError("sigma must be non-negative")
        self._mu: Any = unheld(mu)
        self._sigma: Any = unheld(sigma)

    def _standard(self, x: Any) -> Any:
        """Return the point in units of the deviation, or None if nothing is tracked."""
        if are_plain((x, self._mu, self._sigma), {}):
            return None
        if not (holds_batch(self._sigma) or self._sigma):
            raise StatisticsError("not defined when sigma is zero")
        return (unheld(x) - self._mu) / self._sigma

    def pdf(self, x: Any) -> Any:
        """Return the density at a point."""
        z = self._standard(x)
        if z is None:
            return super().pdf(x)
        return anything.exp(-0.5 * z * z) / ((2.0 * math.pi) ** 0.5 * self._sigma)

    def cdf(self, x: Any) -> Any:
        """Return the probability of what is at most a point."""
        z = self._standard(x)
        return super().cdf(x) if z is None else _special(z).ndtr(z)

    def inv_cdf(self, p: Any) -> Any:
        """Return the point of a probability."""
        if are_plain((p, self._mu, self._sigma), {}):
            return super().inv_cdf(p)
        p = unheld(p)
        if not holds_batch(p) and not 0.0 < p < 1.0:
            raise StatisticsError("p must be in the range 0.0 < p < 1.0")
        z = _special(p).ndtri(p) if isinstance(p, AnyWrapper) else NormalDist().inv_cdf(p)
        return z * self._sigma + self._mu

    def zscore(self, x: Any) -> Any:
        """Return the point in units of the deviation."""
        z = self._standard(x)
        return super().zscore(x) if z is None else z


def _special(like: Any) -> Any:
    return like.__array_namespace__().special


def statistics_functions(module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield the functions of the module that have formulas, with their stand-ins."""
    for name, formula in FORMULAS.items():
        original = getattr(module, name)
        yield original, _stand_in(original, _of_data(formula))


def compiled_functions(module: ModuleType) -> Iterator[tuple[Any, Any]]:
    """Yield the compiled function that the module has of another, which packages import, too."""
    yield from ((one, _inv_cdf) for name, one in vars(module).items() if name.endswith("inv_cdf"))


def _inv_cdf(p: Any, mu: Any, sigma: Any) -> Any:
    return Normal(mu, sigma).inv_cdf(p)


def _stand_in(original: Any, formula: Callable[..., Any]) -> Callable[..., Any]:
    @standing_in(original, f"statistics.{original.__name__}")
    def stand_in(*args: Any, **options: Any) -> Any:
        args = tuple(_listed(arg) for arg in args)
        if are_plain(args, options):
            return original(*args, **options)
        given, named = unheld(args), unheld(options)
        is_weighted = "weights" in named or (original.__name__ == "fmean" and len(given) > 1)
        if is_traced() and original.__name__ in OF_LENGTHS and not is_weighted:
            traced = _in_trace(original, formula, given, named)
            if traced is not None:
                return traced
        asked = original(*map(_plain, given), **{k: _plain(v) for k, v in named.items()})
        if named.pop("method", "linear") == "ranked":  # ranks have no derivative
            return asked
        found = formula(*given, **named)
        return type_of(asked)(*found) if isinstance(asked, TUPLE) else found

    return stand_in


OF_LENGTHS = frozenset(
    {
        *("fmean", "mean", "median", "median_high", "median_low"),
        *("pstdev", "pvariance", "stdev", "variance"),
    }
)
"""The functions that refuse no finite values: they refuse lengths."""


def _in_trace(original: Any, formula: Any, given: Any, named: dict[str, Any]) -> Any:
    """Return what the formula gives, or None if it is not finite, which is a branch.

    The original is asked about the lengths, with other numbers.
    """
    asked = (_plain(one, is_apart=True) for one in given)
    original(*asked, **{key: _plain(one, is_apart=True) for key, one in named.items()})
    found = formula(*given, **named)
    return found if np.isfinite(native(found)) else None


def _listed(values: Any) -> Any:
    made: Any = values
    return [*made] if isinstance(values, Iterator) else values


def _plain(value: Any, *, is_apart: bool = False) -> Any:
    """Return plain numbers, from which the original raises the errors for its arguments.

    They are the values, or numbers in their place where each example of a batch has its own, and
    for all variables if `is_apart`.
    """
    if isinstance(value, SEQUENCE):
        numbers = [_plain(part, is_apart=is_apart) for part in value]
        return [i if one is None else one for i, one in enumerate(numbers, 1)]
    if holds_batch(value) or (is_apart and isinstance(value, AnyWrapper)):
        return [*range(1, len(value) + 1)] if value.ndim else None
    found: Any = native(value) if isinstance(value, AnyWrapper) else value
    return found.tolist() if hasattr(found, "tolist") else found
