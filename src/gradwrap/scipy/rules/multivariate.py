"""The multivariate distributions of scipy.stats, by the formulas of their documentation.

The gradient of one triangle of a covariance matrix is split between both.
"""

from __future__ import annotations

import functools
import inspect
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.core.levels.modes import called as foreign
from gradwrap.core.library.labelled import opening
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.errors import NoRuleError
from gradwrap.random.sampling import called
from gradwrap.scipy.calls import are_plain
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Formula
from gradwrap.scipy.rules.distributions import Distribution
from gradwrap.scipy.rules.normal_probabilities import probability
from gradwrap.scipy.solving import data_of, plain
from gradwrap.scipy.table import Row, register

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


special: Any = import_module("scipy.special")
stats: Any = import_module("scipy.stats")
FROZEN: Any = import_module("scipy.stats._multivariate").multi_rv_frozen
NDARRAY: type[Any] = np.ndarray
LOG_2PI = math.log(2 * math.pi)


# The formulas -------------------------------------------------------------------------------------


def _matrix(value: Any, dim: int) -> Any:
    """Convert a covariance, given as a number, diagonal or matrix, to a symmetric matrix."""
    value = np.asarray(value) if isinstance(value, (int, float, *SEQUENCE)) else value
    if np.ndim(value) == 0:
        return value * np.eye(dim)
    if np.ndim(value) == 1:
        return value * np.eye(np.shape(value)[0])
    return 0.5 * (value + np.swapaxes(value, -1, -2))


def _deviations(x: Any, mean: Any, cov: Any) -> tuple[Any, Any, int]:
    """Return the deviations from the mean in rows, the matrix, and the dimension."""
    cov = getattr(cov, "covariance", cov)
    sizes = [np.shape(value)[-1] for value in (mean, cov) if value is not None and np.ndim(value)]
    dim = max(sizes, default=1)
    if np.ndim(x) == 0:
        x = np.reshape(x, (1, 1))
    elif np.ndim(x) == 1:
        x = np.reshape(x, (-1, 1) if dim == 1 else (1, -1))
    return x - (0.0 if mean is None else mean), _matrix(cov, dim), dim


def _distances(deviations: Any, matrix: Any) -> tuple[Any, Any]:
    """Return the squared Mahalanobis distances, and the logarithm of the determinant."""
    flat = np.reshape(deviations, (-1, np.shape(deviations)[-1]))
    squares = np.sum(flat * np.linalg.solve(matrix, flat.T).T, axis=-1)
    return np.reshape(squares, np.shape(deviations)[:-1]), np.linalg.slogdet(matrix)[1]


def _normal(x: Any, mean: Any, cov: Any, allow_singular: Any = False) -> Any:
    deviations, matrix, dim = _deviations(x, mean, cov)
    if allow_singular or getattr(cov, "rank", dim) < dim:
        return _normal_in_subspace(deviations, matrix)
    squares, log_det = _distances(deviations, matrix)
    return -0.5 * (dim * LOG_2PI + log_det + squares)


def _normal_in_subspace(deviations: Any, matrix: Any) -> Any:
    """Return the density in the column space of a matrix of fixed rank."""
    values = np.linalg.eigvalsh(matrix)
    data = data_of(values)
    small = 1e6 * np.finfo(data.dtype).eps  # SciPy's bound
    kept = np.abs(data) > small * np.max(np.abs(data))
    log_det = np.sum(np.log(np.where(kept, values, 1.0)))
    flat = np.reshape(deviations, (-1, np.shape(deviations)[-1]))
    squares = np.sum((flat @ np.linalg.pinv(matrix, rcond=small)) * flat, axis=-1)
    total = np.sum(kept) * LOG_2PI + log_det + np.reshape(squares, np.shape(deviations)[:-1])
    return -0.5 * total


def _normal_entropy(mean: Any, cov: Any) -> Any:
    _, matrix, dim = _deviations(0.0, mean, cov)
    return 0.5 * (dim * (LOG_2PI + 1.0) + np.linalg.slogdet(matrix)[1])


def _normal_cdf(x: Any, mean: Any, cov: Any, out: Any, allow_singular: Any = False) -> Any:
    deviations, matrix, dim = _deviations(x, mean, cov)
    if allow_singular and np.linalg.matrix_rank(data_of(matrix), hermitian=True) < dim:
        raise NoRuleError(
            "The distribution function of a normal distribution has no derivative here: its "
            "covariance is singular. Fix: add a small multiple of the identity to it."
        )
    return np.reshape(probability(np.reshape(deviations, (-1, dim)), matrix, out), np.shape(out))


def _normal_log_cdf(x: Any, mean: Any, cov: Any, out: Any, allow_singular: Any = False) -> Any:
    return np.log(_normal_cdf(x, mean, cov, np.exp(out), allow_singular))


def _student(x: Any, loc: Any, shape: Any, df: Any) -> Any:
    if np.isinf(plain(df)):
        return _normal(x, loc, shape)
    deviations, matrix, dim = _deviations(x, loc, shape)
    squares, log_det = _distances(deviations, matrix)
    half = 0.5 * (df + dim)
    front = special.gammaln(half) - special.gammaln(0.5 * df)
    return front - 0.5 * dim * np.log(df * np.pi) - 0.5 * log_det - half * np.log1p(squares / df)


def _dirichlet(x: Any, alpha: Any) -> Any:
    if np.shape(x)[0] != np.shape(alpha)[0]:
        x = np.concatenate([x, 1.0 - np.sum(x, axis=0, keepdims=True)])
    wide = np.reshape(alpha, (-1,) + (1,) * (np.ndim(x) - 1))
    front = special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha))
    return front + np.sum(special.xlogy(wide - 1.0, x), axis=0)


def _dirichlet_variance(alpha: Any) -> Any:
    total = np.sum(alpha)
    return alpha * (total - alpha) / (total * total * (total + 1.0))


def _dirichlet_entropy(alpha: Any) -> Any:
    total, count = np.sum(alpha), np.shape(alpha)[0]
    front = np.sum(special.gammaln(alpha)) - special.gammaln(total)
    slopes = (total - count) * special.psi(total) - np.sum((alpha - 1.0) * special.psi(alpha))
    return front + slopes


def _dirichlet_multinomial(x: Any, alpha: Any, n: Any) -> Any:
    x = data_of(x)
    total = np.sum(alpha, axis=-1)
    front = special.gammaln(total) - special.gammaln(np.asarray(n) + total)
    front = front + special.gammaln(np.asarray(n) + 1.0)
    parts = special.gammaln(x + alpha) - special.gammaln(alpha) - special.gammaln(x + 1.0)
    return front + np.sum(parts, axis=-1)


def _von_mises_fisher(x: Any, mu: Any, kappa: Any) -> Any:
    half = 0.5 * np.shape(mu)[-1]
    log_bessel = np.log(special.ive(half - 1.0, kappa)) + kappa
    front = (half - 1.0) * np.log(kappa) - half * LOG_2PI - log_bessel
    return front + kappa * np.sum(x * mu, axis=-1)


def _scatters(x: Any, scale: Any) -> tuple[Any, Any, int]:
    """Return matrices, along the first axis, and the scale."""
    dim = 1 if np.ndim(scale) == 0 else np.shape(scale)[0]
    if np.ndim(x) == 0:
        x = x * np.eye(dim)[..., None]
    elif np.ndim(x) == 1:
        x = np.reshape(x, (1, 1, -1)) if dim == 1 else (x * np.eye(dim))[..., None]
    elif np.ndim(x) == 2:
        x = x[..., None]
    x = np.moveaxis(x, -1, 0)
    return 0.5 * (x + np.swapaxes(x, -1, -2)), _matrix(scale, dim), dim


def _wishart(x: Any, df: Any, scale: Any) -> Any:
    x, scale, dim = _scatters(x, scale)
    traces = np.trace(np.linalg.solve(scale, x), axis1=-2, axis2=-1)
    front = 0.5 * df * (dim * math.log(2) + np.linalg.slogdet(scale)[1])
    front = front + dispatcher("special.multigammaln")(0.5 * df, dim)
    return 0.5 * (df - dim - 1) * np.linalg.slogdet(x)[1] - 0.5 * traces - front


def _inverse_wishart(x: Any, df: Any, scale: Any) -> Any:
    x, scale, dim = _scatters(x, scale)
    traces = np.trace(np.linalg.solve(x, scale), axis1=-2, axis2=-1)
    front = 0.5 * df * (np.linalg.slogdet(scale)[1] - dim * math.log(2))
    front = front - dispatcher("special.multigammaln")(0.5 * df, dim)
    return front - 0.5 * (df + dim + 1) * np.linalg.slogdet(x)[1] - 0.5 * traces


def _multinomial(x: Any, n: Any, p: Any) -> Any:
    """Return the logarithm of the probability, for `p` whose sum is 1."""
    ways = special.gammaln(np.asarray(n) + 1.0)
    ways = ways - np.sum(special.gammaln(np.asarray(x) + 1.0), axis=-1)
    return ways + np.sum(special.xlogy(x, p), axis=-1)


def _matrix_normal(X: Any, mean: Any, rowcov: Any, colcov: Any) -> Any:
    rows, columns = np.shape(X)[-2:]
    rowcov, colcov = _matrix(rowcov, rows), _matrix(colcov, columns)
    deviation = X - (0.0 if mean is None else mean)
    inner = np.linalg.solve(rowcov, deviation)
    outer = np.swapaxes(np.linalg.solve(colcov, np.swapaxes(deviation, -1, -2)), -1, -2)
    squares = np.sum(inner * outer, axis=(-2, -1))
    dets = columns * np.linalg.slogdet(rowcov)[1] + rows * np.linalg.slogdet(colcov)[1]
    return -0.5 * (rows * columns * LOG_2PI + dets + squares)


# The objects --------------------------------------------------------------------------------------


class Multivariate(Distribution):
    """A multivariate distribution; some of its methods have rows."""

    def derived(self, row: Row) -> Any:
        """Return the subclass of the class of SciPy's object."""
        kind: Any = type(row.original)
        return _derived(kind, row.path)


@functools.cache
def _derived(kind: Hashable, path: str) -> Any:
    base: Any = kind

    @opening
    def freeze(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not are_plain(args, kwargs):
            return _Frozen(self, path, base, args, kwargs)
        made = base.__call__(self, *args, **kwargs)
        kind: Any = type(made)
        made.__class__ = _derived_frozen(kind)
        made._made_of = self, path, base, args, kwargs
        return made

    def reduced(self: Any) -> Any:
        return dispatcher, (path,)

    methods = {
        name: _method(getattr(base, name), path, name)
        for name in dir(base)
        if not name.startswith("_") and callable(getattr(base, name))
    }
    more = {"__call__": freeze, "__reduce__": reduced}
    return type(base.__name__, (base,), {**methods, **more, "__doc__": base.__doc__})


def _method(original: Any, path: str, name: str) -> Callable[..., Any]:
    @opening
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if are_plain(args, kwargs):
            return original(self, *args, **kwargs)
        if name == "rvs" and path in SAMPLES:
            given = inspect.signature(original).bind(self, *args, **kwargs)
            given.apply_defaults()
            _, *parameters, random_state = given.args
            return SAMPLES[path](self._get_random_state(random_state), *parameters)
        row = ROWS.get(f"{path}.{name}")
        if row is None:
            raise NoRuleError(
                f"scipy.{path}.{name} has no derivative. "
                "Fix: .detach() its arguments, if the result is to be a constant."
            )
        return row.kind.answer(row, args, kwargs)

    return method


@functools.cache
def _derived_frozen(kind: Any) -> Any:
    """Make the class of SciPy's frozen distributions whose methods take tracked arguments."""

    def method(name: str) -> Any:
        original = getattr(kind, name)

        @opening
        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if are_plain(args, kwargs):
                return original(self, *args, **kwargs)
            return getattr(_Frozen(*self._made_of), name)(*args, **kwargs)

        return call

    def reduced(self: Any) -> Any:
        _, path, _, args, kwargs = self._made_of
        return _frozen_again, (path, args, kwargs)

    names = [name for name in dir(kind) if not name.startswith("_")]
    methods = {name: method(name) for name in names if callable(getattr(kind, name))}
    more = {"__doc__": kind.__doc__, "__reduce__": reduced}
    return type(kind.__name__, (kind,), {**methods, **more})


def _frozen_again(path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Freeze a distribution again when it is unpickled."""
    return dispatcher(path)(*args, **kwargs)


class _Frozen(FROZEN):  # type: ignore[misc]  # untyped
    """A frozen multivariate distribution that passes tracked parameters to its methods."""

    def __init__(self, dist: Any, path: str, base: Any, args: Any, kwargs: Any) -> None:
        self._dist = dist
        self._path = path
        bound = inspect.signature(base.__call__).bind(dist, *args, **kwargs).arguments
        self._given: dict[str, Any] = {k: v for k, v in bound.items() if k not in ("self", "seed")}
        self._generator: Any = dist._get_random_state(bound.get("seed"))

    def rvs(self, size: Any = 1, random_state: Any = None) -> Any:
        """Draw samples; by the generator of `seed=`, if no other is given."""
        random_state = self._generator if random_state is None else random_state
        return self._dist.rvs(**self._given, size=size, random_state=random_state)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        given = self._given
        if name in given:
            return given[name]
        return lambda *args, **kwargs: getattr(self._dist, name)(*args, **{**given, **kwargs})


# Samples ------------------------------------------------------------------------------------------


def _drawn(rng: Any, method: str, *parameters: Any, size: Any) -> Any:
    """Return the sample of a NumPy generator, with its derivatives in the parameters."""
    return called(rng, getattr(rng, method), parameters, {"size": size})


def _squeezed(sample: Any) -> Any:
    """Leave axes of length 1 out of a sample, as SciPy does."""
    found = np.squeeze(sample)
    return found if np.ndim(found) else found[()]


def _normal_sample(rng: Any, mean: Any, cov: Any, size: Any) -> Any:
    dim = _deviations(0.0, mean, cov)[2]
    mean = np.zeros(dim) if mean is None else np.reshape(mean, -1)
    if hasattr(cov, "colorize"):  # a Covariance, whose samples SciPy makes
        return mean + stats.multivariate_normal.rvs(np.zeros(dim), cov, size, rng)
    return _squeezed(_drawn(rng, "multivariate_normal", mean, _matrix(cov, dim), size=size))


def _student_sample(rng: Any, loc: Any, shape: Any, df: Any, size: Any) -> Any:
    _, matrix, dim = _deviations(0.0, loc, shape)
    is_normal = np.isinf(plain(df))
    spread = np.ones(size) if is_normal else _drawn(rng, "chisquare", df, size=size) / df
    z = _drawn(rng, "multivariate_normal", np.zeros(dim), matrix, size=size)
    return _squeezed((0.0 if loc is None else loc) + z / np.sqrt(spread)[..., None])


SAMPLES: dict[str, Callable[..., Any]] = {
    "stats.multivariate_normal": _normal_sample,
    "stats.dirichlet": lambda rng, alpha, size: _drawn(rng, "dirichlet", alpha, size=size),
    "stats.multivariate_t": _student_sample,
}


# The rows -----------------------------------------------------------------------------------------


def _rows(
    name: str,
    formula: Callable[..., Any],
    arrays: str,
    kinds: tuple[str, str] = ("logpdf", "pdf"),
    symmetric: str = "cov shape rowcov colcov",
) -> list[Row]:
    """Return the rows of a density and of its logarithm."""
    dist = getattr(stats, name)

    def logarithm(**given: Any) -> Any:
        return np.where(np.isneginf(given["out"]), given["out"], _shaped(formula, given))

    def density(**given: Any) -> Any:
        return np.where(given["out"] == 0, 0.0, np.exp(_shaped(formula, given)))

    return [
        Row(
            f"stats.{name}.{kind}",
            _Named(function, formula),
            arrays=arrays,
            symmetric=symmetric,
            original=_of_numbers(getattr(dist, kind), f"scipy.stats.{name}.{kind}"),
        )
        for kind, function in zip(kinds, (logarithm, density), strict=True)
    ]


def _of_numbers(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Convert 0-d arrays to numbers, as some parameters of SciPy require."""

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        given = {name: _number(value) for name, value in kwargs.items()}
        return foreign(original, path, *map(_number, args), **given)

    return function


def _number(value: Any) -> Any:
    return value[()] if isinstance(value, NDARRAY) and not value.ndim else value


class _Named(Formula):
    """A formula derived from another one, with the same parameters."""

    def __init__(self, function: Callable[..., Any], formula: Callable[..., Any]) -> None:
        super().__init__(formula)
        self.wanted = self.wanted | {"out"}
        self.function = function


def _shaped(formula: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Return a formula's result in the shape of SciPy's result."""
    out = given.pop("out")
    return np.reshape(formula(**given), np.shape(out))


def _moment(name: str, function: Callable[..., Any], arrays: str) -> Row:
    dist, method = name.split(".")
    return Row(
        f"stats.{name}",
        _Named(lambda **given: _shaped(function, given), function),
        arrays=arrays,
        symmetric="cov",
        original=getattr(getattr(stats, dist), method),
    )


def _normal_probabilities() -> list[Row]:
    return [
        Row(
            f"stats.multivariate_normal.{name}",
            Formula(function),
            arrays="x mean cov",
            symmetric="cov",
            neutral="maxpts abseps releps rng",
            original=_of_numbers(
                getattr(stats.multivariate_normal, name), f"scipy.stats.multivariate_normal.{name}"
            ),
        )
        for name, function in (("cdf", _normal_cdf), ("logcdf", _normal_log_cdf))
    ]


METHODS = [
    *_rows("multivariate_normal", _normal, "x mean cov"),
    *_normal_probabilities(),
    _moment("multivariate_normal.entropy", _normal_entropy, "mean cov"),
    *_rows("multivariate_t", _student, "x loc shape df"),
    *_rows("dirichlet", _dirichlet, "x alpha"),
    _moment("dirichlet.mean", lambda alpha: alpha / np.sum(alpha), "alpha"),
    _moment("dirichlet.var", _dirichlet_variance, "alpha"),
    _moment("dirichlet.entropy", _dirichlet_entropy, "alpha"),
    *_rows("dirichlet_multinomial", _dirichlet_multinomial, "alpha", ("logpmf", "pmf")),
    *_rows("vonmises_fisher", _von_mises_fisher, "x mu kappa"),
    *_rows("wishart", _wishart, "x df scale", symmetric="x scale"),
    *_rows("invwishart", _inverse_wishart, "x df scale", symmetric="x scale"),
    *_rows("multinomial", _multinomial, "p", ("logpmf", "pmf")),
    *_rows("matrix_normal", _matrix_normal, "X mean rowcov colcov"),
]
ROWS = {row.path: row for row in METHODS}
register(METHODS)
register(Row(path, Multivariate()) for path in dict.fromkeys(p.rpartition(".")[0] for p in ROWS))
