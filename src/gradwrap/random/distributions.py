"""The distributions: each a row that says how a sample follows from noise and parameters."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.random.paths import along, dirichlet, multivariate_normal, von_mises, wald
from gradwrap.transforms.arguments import stop_gradient

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    # the numbers of parameters are there, so that a type checker takes those of a lambda for Any
    Path: TypeAlias = (
        Callable[[Any, Any], Any]
        | Callable[[Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any], Any]
    )

ROWS: dict[str, Distribution] = {}
SMALLEST = 1e-290
"""Gamma variates below it are taken for this number: the density there is finite."""


class Distribution:
    """A row: the function of noise and parameters that computes a sample.

    Parameters
    ----------
    name
        The method of NumPy's generators, which draws the sample.
    path
        The function. Its parameters after the first are those of the method.
    noise
        The method that draws the noise from the same place of the stream, and the parameters that
        it is given. By default the noise is the sample itself.
    """

    def __init__(self, name: str, path: Path, noise: str = "") -> None:
        self.name = name
        self.path: Callable[..., Any] = path
        method, *given = noise.split() or [""]
        self.noise: str = method
        self.given: list[str] = given
        parameters = list(inspect.signature(path).parameters.values())[1:]
        self.defaults: dict[str, Any] = {p.name: p.default for p in parameters}


def _row(name: str, path: Path, *, noise: str = "") -> None:
    ROWS[name] = Distribution(name, path, noise)


def _angle(x: Any, mu: Any, kappa: Any) -> Any:
    """Return a sample of the von Mises distribution; NumPy moves it by whole turns."""
    apart = x - stop_gradient(mu)
    moved = mu + von_mises(kappa, apart - 2 * math.pi * np.round(apart / (2 * math.pi)))
    return moved + (x - stop_gradient(moved))


def _gamma(x: Any, shape: Any) -> Any:
    """Return a sample of the gamma distribution of scale 1."""
    return along("gammaincinv")(shape, np.maximum(x, SMALLEST))


def _triangle(u: Any, left: Any, mode: Any, right: Any) -> Any:
    """Return the point of a triangle of area 1 at which the area on its left is u."""
    where: Any = np.where  # with all kinds of arguments
    rises = stop_gradient(u * (right - left) <= mode - left)
    area = (right - left) * where(rises, u * (mode - left), (1.0 - u) * (right - mode))
    return where(rises, left, right) + where(rises, 1.0, -1.0) * np.sqrt(area)


_row("uniform", lambda u, low=0.0, high=1.0: low + (high - low) * u, noise="random")
_row("normal", lambda z, loc=0.0, scale=1.0: loc + scale * z, noise="standard_normal")
_row("lognormal", lambda z, mean=0.0, sigma=1.0: np.exp(mean + sigma * z), noise="standard_normal")
_row("laplace", lambda z, loc=0.0, scale=1.0: loc + scale * z, noise="laplace")
_row("logistic", lambda z, loc=0.0, scale=1.0: loc + scale * z, noise="logistic")
_row("gumbel", lambda z, loc=0.0, scale=1.0: loc + scale * z, noise="gumbel")
_row("exponential", lambda e, scale=1.0: scale * e, noise="standard_exponential")
_row("rayleigh", lambda z, scale=1.0: scale * z, noise="rayleigh")
_row("weibull", lambda e, a: e ** (1.0 / a), noise="standard_exponential")
_row("pareto", lambda e, a: np.expm1(e / a), noise="standard_exponential")
_row("power", lambda e, a: (-np.expm1(-e)) ** (1.0 / a), noise="standard_exponential")
_row("triangular", _triangle, noise="random")
_row("standard_gamma", _gamma)
_row("gamma", lambda x, shape, scale=1.0: scale * _gamma(x, shape), noise="standard_gamma shape")
_row("chisquare", lambda x, df: 2.0 * _gamma(0.5 * x, 0.5 * df))
_row("beta", lambda x, a, b: along("betaincinv")(a, b, x))
_row("f", lambda x, dfnum, dfden: along("fdtri")(dfnum, dfden, x))
_row("standard_t", lambda x, df: along("stdtrit")(df, x))
_row("wald", lambda x, mean, scale: wald(mean, scale, x))
_row("vonmises", _angle)
_row("dirichlet", lambda x, alpha: dirichlet(alpha, x))
_row("multivariate_normal", lambda x, mean, cov: multivariate_normal(mean, cov, x))
