"""The distributions of scipy.stats: every one against differences of SciPy's values."""

from __future__ import annotations

import copy
import functools
import pickle
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

stats: Any = import_module("scipy.stats")
ours: Any = import_module("gradwrap.scipy.stats")
KNOWN: Any = import_module("scipy.stats._distr_params")
LOC, SCALE = 0.31, 1.7
Q = np.array([0.37, 0.88])
WITHOUT = {"kstwo", "studentized_range", "levy_stable"}
"""Their densities are known to SciPy's compiled code alone."""
CONTINUOUS = [
    pytest.param(name, shapes, id=f"{name}-{index}")
    for index, (name, shapes) in enumerate(KNOWN.distcont)
    if isinstance(name, str) and name not in WITHOUT
]
DISCRETE = [
    pytest.param(name, shapes, id=f"{name}-{index}")
    for index, (name, shapes) in enumerate(KNOWN.distdiscrete)
    if isinstance(name, str) and name != "poisson_binom"
]


def step_along(function: Callable[..., Any], args: list[Any], place: int) -> Any:
    """The derivative in one argument by differences of four values, the widest of them halved."""
    h = 1e-4 * max(1.0, float(np.max(np.abs(args[place]))))

    def moved(step: float) -> Any:
        changed = list(args)
        changed[place] = changed[place] + step
        return function(*changed)

    return (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)


def is_integer(dist: Any, place: int, shapes: list[float]) -> bool:
    """Tell if a shape has to be an integer."""
    between = [s + (0.25 if i == place else 0.0) for i, s in enumerate(shapes)]
    return not np.any(dist._argcheck(*map(np.asarray, between)))


# Continuous distributions -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("method", ["logpdf", "cdf", "ppf"])
@pytest.mark.parametrize(("name", "parameters"), CONTINUOUS)
def test_continuous_distribution(name: str, parameters: tuple[float, ...], method: str) -> None:
    native, dist = getattr(stats, name), getattr(ours, name)
    shapes = [float(s) for s in parameters]
    if name == "fatiguelife":  # whose slope at 29 is too steep for differences
        shapes = [2.9]
    x = native.ppf(Q, *shapes, loc=LOC, scale=SCALE) + 1e-3  # off the kinks
    args = [Q if method == "ppf" else x, *shapes, LOC, SCALE]
    tracked = [
        place
        for place in range(len(args))
        if not 1 <= place <= len(shapes) or not is_integer(native, place - 1, shapes)
    ]

    def function(*values: Any) -> Any:
        given = list(args)
        for place, value in zip(tracked, values, strict=True):
            given[place] = value
        return getattr(dist, method)(*given)

    value, pull = gw.vjp(function, *(args[place] for place in tracked))
    found = pull(np.array([1.0, -0.7]))

    np.testing.assert_array_equal(value, getattr(native, method)(*args))
    for place, gradient in zip(tracked, found, strict=True):
        slope = step_along(getattr(native, method), args, place) * [1.0, -0.7]
        if not np.all(np.isfinite(slope)):  # SciPy has no value beside a limit of the shape
            continue
        wanted = slope if place == 0 else np.sum(slope)
        size = np.max(np.abs(slope))
        np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-5 * max(size, 1e-2))


@pytest.mark.parametrize(
    ("name", "shapes"),
    rows(
        [
            ("gamma", (1.3,)),
            ("beta", (1.3, 2.1)),
            ("t", (2.7,)),
            ("f", (3.1, 5.2)),
            ("ncx2", (2.5, 1.1)),
            ("nct", (3.5, 0.7)),
            ("geninvgauss", (0.7, 1.3)),
            ("truncnorm", (-0.7, 1.6)),
            ("dgamma", (1.6,)),
            ("vonmises", (1.3,)),
        ]
    ),
)
@pytest.mark.parametrize("method", ["pdf", "logcdf", "sf", "logsf", "isf"])
def test_second_derivatives_in_both_modes(
    name: str, shapes: tuple[float, ...], method: str
) -> None:
    dist = getattr(ours, name)
    x = np.array([0.31, 0.62])
    x = x if method == "isf" else dist.isf(x, *shapes)
    gw.testing.check_grads(getattr(dist, method), [x, *shapes, LOC / 10, 1.1], rtol=1e-5)


def test_double_gamma_distribution_is_right_on_both_sides() -> None:
    x = np.array([-1.3, -0.2, 0.4, 2.0])
    found = gw.vjp(fn(lambda x: ours.dgamma.cdf(x, 1.7)), x)[1](np.ones(4))[0]
    np.testing.assert_allclose(found, stats.dgamma.pdf(x, 1.7), rtol=1e-12)


def test_outside_of_the_support_the_derivative_is_zero_and_without_parameters_it_is_not() -> None:
    x = np.array([-1.0, 0.5, 3.0])
    gradient = gw.grad(fn(lambda x: np.sum(ours.beta.pdf(x, 2.0, 3.0))))(x)
    np.testing.assert_allclose(gradient, [0.0, 12 * (0.25 - 2 * 0.5 * 0.5), 0.0], atol=1e-12)
    ends = gw.grad(fn(lambda loc: np.sum(ours.uniform.ppf(np.array([0.0, 1.0]), loc, 2.0))))(1.0)
    assert ends == 2.0


def test_arguments_broadcast_and_may_be_keywords_lists_and_numbers() -> None:
    def total(a: Any, scale: Any) -> Any:
        return np.sum(ours.gamma.logpdf([[0.5], [1.5]], a, scale=scale))

    def plain(a: Any, scale: Any) -> Any:
        return np.sum(stats.gamma.logpdf([[0.5], [1.5]], a, scale=scale))

    a, scale = np.array([1.2, 2.0, 3.1]), 1.3
    by_a, by_scale = gw.grad(total, (0, 1))(a, scale)
    np.testing.assert_allclose(by_scale, step_along(plain, [a, scale], 1), rtol=1e-9)
    assert by_a.shape == (3,)
    np.testing.assert_allclose(np.sum(by_a), step_along(plain, [a, scale], 0), rtol=1e-9)


def test_vmap_of_a_gradient() -> None:
    shapes = np.array([1.0, 2.0, 3.0])
    gradient = gw.grad(fn(lambda a: ours.gamma.logcdf(1.2, a)))
    found = gw.vmap(gradient, fallback="loop")(shapes)
    np.testing.assert_allclose(found, [gradient(a) for a in shapes])


def test_tails_keep_their_relative_accuracy() -> None:
    """The logarithm of a probability of 1e-200 has a derivative like any other."""
    x = 30.0
    hazard = np.exp(stats.norm.logpdf(x) - stats.norm.logsf(x))
    assert gw.grad(fn(lambda x: ours.norm.logsf(x)))(x) == pytest.approx(-hazard, rel=1e-12)
    by_shape = gw.grad(fn(lambda a: ours.gamma.logsf(400.0, a)))(2.0)
    assert by_shape == pytest.approx(5.571180196500831, rel=1e-11)  # by mpmath


# Discrete distributions ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ["logpmf", "cdf", "sf"])
@pytest.mark.parametrize(("name", "parameters"), DISCRETE)
def test_discrete_distribution_in_its_shapes(
    name: str, parameters: tuple[float, ...], method: str
) -> None:
    native, dist = getattr(stats, name), getattr(ours, name)
    shapes = [float(s) for s in parameters]
    k = native.ppf(Q, *shapes, loc=2)
    for place in range(len(shapes)):
        moved = functools.partial(method_at, dist, method, k, shapes, place)
        summed: Any = functools.partial(total, moved)
        gradient = gw.grad(summed)
        if is_integer(native, place, shapes) or name.startswith("nchypergeom"):
            with pytest.raises(NoRuleError, match=rf"scipy\.stats\.{name}\.{method} has no"):
                gradient(shapes[place])
            continue
        values = functools.partial(method_at, native, method, k, shapes, place)
        slope = step_along(values, [shapes[place]], 0)
        np.testing.assert_allclose(gradient(shapes[place]), np.sum(slope), rtol=1e-5, atol=1e-7)


def total(function: Callable[[Any], Any], x: Any) -> Any:
    return np.sum(function(x))


def method_at(dist: Any, method: str, k: Any, shapes: list[Any], place: int, value: Any) -> Any:
    given = [*shapes[:place], value, *shapes[place + 1 :]]
    return getattr(dist, method)(k, *given, loc=2)


def test_probability_of_an_integer_has_no_derivative_in_it() -> None:
    with pytest.raises(NoRuleError) as caught:
        gw.grad(fn(lambda k: ours.poisson.logpmf(k, 1.5)))(2.0)
    assert str(caught.value) == (
        "scipy.stats.poisson.logpmf has no derivative with respect to its argument k, which is "
        "tracked: it is positive at integers only. Fix: .detach() it."
    )
    with pytest.raises(NoRuleError, match="argument n, which is tracked: it is an integer"):
        gw.grad(fn(lambda n: ours.binom.logpmf(2, n, 0.3)))(5.0)
    assert gw.grad(fn(lambda k: ours.poisson.cdf(k, 1.5)))(2.2) == 0.0
    assert gw.grad(fn(lambda q: ours.poisson.ppf(q, 1.5)))(0.4) == 0.0


# The objects --------------------------------------------------------------------------------------


def test_distribution_is_scipys_in_all_else() -> None:
    assert isinstance(ours.gamma, stats.rv_continuous)
    assert isinstance(ours.gamma, type(stats.gamma))
    assert pickle.loads(pickle.dumps(ours.gamma)) is ours.gamma  # noqa: S301  just written
    assert copy.deepcopy(ours.gamma) is ours.gamma
    frozen = pickle.loads(pickle.dumps(ours.gamma(2.0)))  # noqa: S301  likewise
    assert frozen.mean() == 2.0
    x = np.linspace(0.1, 3.0, 5)
    np.testing.assert_array_equal(ours.gamma.pdf(x, 2.0), stats.gamma.pdf(x, 2.0))
    np.testing.assert_array_equal(
        ours.gamma.rvs(2.0, size=3, random_state=1), stats.gamma.rvs(2.0, size=3, random_state=1)
    )
    assert ours.gamma.fit(x, floc=0) == stats.gamma.fit(x, floc=0)


def test_frozen_distribution() -> None:
    def loss(a: Any, loc: Any) -> Any:
        frozen = ours.gamma(a, loc=loc)
        return np.sum(frozen.logpdf(np.array([1.0, 2.0]))) + frozen.ppf(0.3) + frozen.mean()

    gw.testing.check_grads(loss, [1.5, 0.3])
    assert gw.grad(fn(lambda p: ours.binom(5, p).logpmf(2)))(0.3) == pytest.approx(
        2 / 0.3 - 3 / 0.7
    )


def test_distribution_without_a_rule_is_refused_by_its_public_name() -> None:
    with pytest.raises(NoRuleError, match=r"scipy\.stats\.studentized_range\.pdf has no derivat"):
        gw.grad(fn(lambda x: ours.studentized_range.pdf(x, 3.0, 10.0)))(1.5)
    with pytest.raises(NoRuleError, match=r"scipy\.stats\.kstwo\.cdf has no derivative"):
        gw.grad(fn(lambda x: ours.kstwo.cdf(x, 10)))(0.3)


class Triangle(ours.rv_continuous):  # type: ignore[misc]  # untyped
    """A distribution of one's own, of density proportional to x up to 1."""

    def _pdf(self, x: Any, power: Any) -> Any:
        return (power + 1.0) * x**power


def test_distribution_of_ones_own() -> None:
    triangle = Triangle(a=0.0, b=1.0, name="triangle")

    def total(x: Any, power: Any, scale: Any) -> Any:
        frozen = triangle(power, scale=scale)
        return np.sum(frozen.logpdf(x)) + np.sum(frozen.cdf(x)) + frozen.ppf(0.3)

    gw.testing.check_grads(total, [np.array([0.2, 0.7]), 1.4, 1.3], rtol=1e-5)
    x = np.array([0.2, 0.7])
    found = gw.grad(fn(lambda p: np.sum(triangle.cdf(x, p))))(1.4)
    np.testing.assert_allclose(found, np.sum(x**2.4 * np.log(x)), rtol=1e-9)


def test_installed_rules_serve_scipys_own_distributions() -> None:
    import gradwrap.scipy

    norm, multivariate_normal = stats.norm, stats.multivariate_normal
    kind = type(norm)
    gradwrap.scipy.install()
    try:
        assert norm is stats.norm
        assert gw.grad(fn(lambda s: norm.logpdf(1.0, 0.0, s)))(2.0) == 0.25 / 2.0 - 0.5
        assert gw.grad(fn(lambda s: norm(0.0, s).ppf(0.975)))(2.0) == norm.ppf(0.975)
        gradient = gw.grad(fn(lambda m: multivariate_normal.logpdf(np.ones(2), m)))(np.zeros(2))
        np.testing.assert_array_equal(gradient, np.ones(2))
    finally:
        gradwrap.scipy.uninstall()
    assert type(norm) is kind
    assert not hasattr(norm, "_path")


# Moments ------------------------------------------------------------------------------------------

MOMENTS = rows(
    [
        ("norm", ()),
        ("gamma", (1.7,)),
        ("beta", (1.7, 2.3)),
        ("t", (4.5,)),
        ("pareto", (3.5,)),
        ("burr", (10.5, 4.3)),
        ("fisk", (5.1,)),
        ("lognorm", (0.7,)),
        ("weibull_min", (1.8,)),
        ("rice", (0.8,)),
        ("chi", (2.6,)),
        ("invgauss", (0.7,)),
        ("poisson", (2.3,)),
        ("nbinom", (5.0, 0.4)),
        ("geom", (0.4,)),
    ]
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("moment", ["mean", "var", "std", "entropy"])
@pytest.mark.parametrize(("name", "shapes"), MOMENTS)
def test_moments(name: str, shapes: tuple[float, ...], moment: str) -> None:
    native, dist = getattr(stats, name), getattr(ours, name)
    args = [*shapes, LOC, SCALE] if isinstance(native, stats.rv_continuous) else [*shapes, 1.0]
    every = tuple(range(len(args)))
    value, pull = gw.vjp(getattr(dist, moment), *args)
    assert value == getattr(native, moment)(*args)
    for place, found in zip(every, pull(np.float64(1.0)), strict=True):
        wanted = step_along(getattr(native, moment), args, place)
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("name", "shapes"), [("gamma", (1.7,)), ("norm", ()), ("beta", (1.7, 2.3)), ("gumbel_r", ())]
)
def test_higher_moments(name: str, shapes: tuple[float, ...]) -> None:
    dist, native = getattr(ours, name), getattr(stats, name)

    def raised(*args: Any) -> Any:
        return dist.moment(3, *args)

    def four(*args: Any) -> Any:
        return list(dist.stats(*args, moments="mvsk"))

    args = (*shapes, LOC, SCALE)
    assert gw.vjp(raised, *args)[0] == native.moment(3, *args)
    np.testing.assert_array_equal(gw.vjp(four, *args)[0], native.stats(*args, moments="mvsk"))
    gw.testing.check_rule(raised, *args)
    gw.testing.check_rule(four, *args)
    found = gw.vmap(gw.grad(raised), fallback="loop")(*(np.array([arg, arg + 0.1]) for arg in args))
    assert found[1] == pytest.approx(gw.grad(raised)(*(arg + 0.1 for arg in args)))


def test_moments_of_a_discrete_distribution() -> None:
    def moments(mu: Any, loc: Any) -> Any:
        return [ours.poisson.moment(3, mu, loc), *ours.poisson.stats(mu, loc, moments="sk")]

    gw.testing.check_rule(moments, 2.3, 1.0, order=1)


def test_median_and_interval() -> None:
    gw.testing.check_grads(ours.gamma.median, [1.7, LOC, SCALE])
    gw.testing.check_grads(fn(lambda a: sum(ours.gamma.interval(0.8, a))), [1.7])


def test_moment_without_an_exact_formula_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"irwinhall\.mean has no derivative|crystalball\.mean"):
        gw.grad(fn(lambda beta: ours.crystalball.mean(beta, 3.0)))(2.0)


# Multivariate distributions -----------------------------------------------------------------------


def test_frozen_multivariate_normal() -> None:
    x = np.array([[0.2, -0.3], [1.0, 0.4]])

    def loss(mean: Any, root: Any) -> Any:
        frozen = ours.multivariate_normal(mean, root @ root.T)
        return np.sum(frozen.logpdf(x)) + np.sum(frozen.mean)

    root = np.array([[1.1, 0.0], [0.3, 0.8]])
    gw.testing.check_grads(loss, [np.array([0.1, 0.2]), root])
    wanted = stats.multivariate_normal(np.zeros(2), root @ root.T).logpdf(x)
    np.testing.assert_array_equal(
        ours.multivariate_normal(np.zeros(2), root @ root.T).logpdf(x), wanted
    )


def test_multinomial_in_probabilities_that_sum_to_one() -> None:
    counts = np.array([2, 1, 3])

    def loss(logits: Any) -> Any:
        p = np.exp(logits) / np.sum(np.exp(logits))
        return ours.multinomial.logpmf(counts, 6, p)

    logits = np.log(np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(gw.grad(loss)(logits), counts - 6 * np.array([0.2, 0.3, 0.5]))


def test_multivariate_methods_without_a_rule_are_refused_by_name() -> None:
    with pytest.raises(NoRuleError, match=r"scipy\.stats\.multivariate_t\.cdf has no derivative"):
        gw.grad(fn(lambda x: ours.multivariate_t.cdf(x, np.zeros(2), np.eye(2))))(np.zeros(2))
    assert pickle.loads(pickle.dumps(ours.wishart)) is ours.wishart  # noqa: S301  just written


@pytest.mark.parametrize("name", ["cdf", "logcdf"])
def test_probabilities_of_two_normal_numbers(name: str) -> None:
    method = getattr(ours.multivariate_normal, name)
    root, mean = np.array([[1.0, 0.6], [0.6, 1.2]]), np.array([0.1, 0.2])

    def probabilities(x: Any, mean: Any, root: Any) -> Any:
        return method(np.stack([x, 2.0 * x]), mean, root @ root.T, allow_singular=True)

    gw.testing.check_grads(probabilities, (np.array([0.4, -0.3]), mean, root), order=2)
    ends = np.array([[np.inf, 0.3], [-np.inf, 0.3], [0.3, -50.0]])
    found = gw.grad(lambda x: np.sum(ours.multivariate_normal.cdf(x, None, root)))(ends)
    slope = stats.norm.pdf(0.3, scale=np.sqrt(1.2))
    np.testing.assert_allclose(found, [[0.0, slope], [0.0, 0.0], [0.0, 0.0]], atol=1e-15)


def test_probabilities_of_three_normal_numbers() -> None:
    x = np.array([0.4, -0.3, 0.9])
    cov = np.array([[1.0, 0.6, 0.2], [0.6, 2.0, 0.3], [0.2, 0.3, 1.5]])

    def by_quadrature(x: Any, cov: Any) -> Any:  # over the first number
        points, weights = np.polynomial.legendre.leggauss(100)
        first = -12.0 + (x[0] + 12.0) * (points + 1.0) / 2.0
        rest = x[1:] - np.multiply.outer(first, cov[0, 1:]) / cov[0, 0]
        left = cov[1:, 1:] - np.outer(cov[1:, 0], cov[0, 1:]) / cov[0, 0]
        density = np.exp(-(first**2) / cov[0, 0] / 2.0) / np.sqrt(2.0 * np.pi * cov[0, 0])
        parts = density * ours.multivariate_normal.cdf(rest, None, left) * weights
        return np.sum(parts) * (x[0] + 12.0) / 2.0

    def symmetric(cov: Any) -> Any:
        return (cov + cov.T) / 2.0

    def ours_of(x: Any, cov: Any) -> Any:
        return ours.multivariate_normal.cdf(x, None, symmetric(cov))

    found = gw.grad(ours_of, argnums=(0, 1))(x, cov)
    wanted = gw.grad(lambda x, cov: by_quadrature(x, symmetric(cov)), argnums=(0, 1))(x, cov)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_probabilities_without_a_derivative_are_refused() -> None:
    cdf = ours.multivariate_normal.cdf
    with pytest.raises(NoRuleError, match=r"cdf has no derivative with lower_limit="):
        gw.grad(fn(lambda x: cdf(x, np.zeros(2), np.eye(2), lower_limit=-np.ones(2))))(np.ones(2))
    with pytest.raises(
        NoRuleError, match=r"its covariance is singular\. Fix: add a small multiple"
    ):
        gw.grad(fn(lambda x: cdf(x, np.zeros(2), np.ones((2, 2)), allow_singular=True)))(np.ones(2))


# Functions of samples -----------------------------------------------------------------------------


def test_result_of_a_test_keeps_its_class_and_its_other_fields() -> None:
    x, y = np.array([0.3, 1.2, -0.4, 0.9]), np.array([0.1, 0.4, -0.9, 1.3])

    def statistic(x: Any) -> Any:
        result = ours.ttest_rel(x, y)
        assert type(result) is type(stats.ttest_rel(y, y + 0.3 * y**2))
        assert result.df == 3
        return result.statistic + result.pvalue

    gw.testing.check_grads(statistic, [x])
    assert gw.grad(fn(lambda x: ours.linregress(x, y).slope))(x).shape == (4,)


def test_functions_of_ranks_are_refused() -> None:
    with pytest.raises(NoRuleError, match=r"scipy\.stats\.spearmanr has no derivative: it depends"):
        gw.grad(fn(lambda x: ours.spearmanr(x, np.arange(4.0))[0]))(np.ones(4))


def test_ranks_are_constants_as_orders_are() -> None:
    x = np.array([3.0, 1.0, 2.0])
    found = gw.grad(fn(lambda x: np.sum(ours.rankdata(x) * x)))(x)
    np.testing.assert_array_equal(found, [3.0, 1.0, 2.0])


def test_transformation_that_finds_its_parameter_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"scipy\.stats\.boxcox has no derivative without lmbda="):
        gw.grad(fn(lambda x: np.sum(ours.boxcox(x)[0])))(np.array([0.5, 1.0, 2.5]))


# Kernel densities ---------------------------------------------------------------------------------


def test_kernel_density_estimate() -> None:
    data, points = np.array([0.3, 1.2, -0.4, 0.9]), np.array([0.1, 0.4])

    def loss(data: Any, points: Any) -> Any:
        estimate = ours.gaussian_kde(data)
        return np.sum(np.log(estimate(points))) + np.sum(estimate.logpdf(points))

    gw.testing.check_grads(loss, [data, points])
    assert isinstance(ours.gaussian_kde(data), stats.gaussian_kde)
    np.testing.assert_array_equal(ours.gaussian_kde(data)(points), stats.gaussian_kde(data)(points))


def test_normal_of_a_singular_covariance_has_the_derivative_in_its_subspace() -> None:
    basis = np.random.default_rng(0).normal(size=(4, 2))
    zero = np.zeros(4)

    def within(basis: Any, z: Any) -> Any:
        return ours.multivariate_normal.logpdf(basis @ z, zero, basis @ basis.T, True)

    gw.testing.check_grads(within, (basis, np.array([0.3, 0.4])), order=1)


@pytest.mark.parametrize("name", ["logpdf", "pdf"])
def test_point_outside_of_the_subspace_has_the_derivative_zero(name: str) -> None:
    density = getattr(ours.multivariate_normal, name)

    def outside(x: Any) -> Any:
        return density(x, np.zeros(2), np.diag([1.0, 0.0]), allow_singular=True)

    value, pull = gw.vjp(outside, np.array([0.3, 1.0]))
    assert value == (-np.inf if name == "logpdf" else 0)
    np.testing.assert_array_equal(pull(1.0)[0], [0.0, 0.0])


def test_frozen_distribution_of_plain_parameters_takes_tracked_points() -> None:
    frozen = ours.multivariate_normal(np.array([0.3, 0.1]), np.diag([1.0, 2.0]))
    native = stats.multivariate_normal(np.array([0.3, 0.1]), np.diag([1.0, 2.0]))
    x = np.array([0.5, -0.2])

    gw.testing.check_grads(frozen.logpdf, (x,))
    assert isinstance(frozen, type(native))
    assert frozen.logpdf(x) == native.logpdf(x)
    assert pickle.loads(pickle.dumps(frozen)).pdf(x) == native.pdf(x)  # noqa: S301  made here
    np.testing.assert_array_equal(frozen.cov, native.cov)


def test_kernel_density_follows_a_bandwidth_that_is_set_later() -> None:
    data = np.array([0.1, 0.9, 1.3, 2.2])

    def density(data: Any) -> Any:
        estimate = ours.gaussian_kde(data)
        estimate.set_bandwidth(0.3)
        return estimate([0.5, 1.0])

    native = stats.gaussian_kde(data)
    native.set_bandwidth(0.3)
    gw.testing.check_grads(density, (data,), order=1)
    np.testing.assert_array_equal(gw.vjp(density, data)[0], native([0.5, 1.0]))


@pytest.mark.parametrize("dim", [1, 2])
def test_width_of_a_kernel_density_is_shown(dim: int) -> None:
    data = np.reshape([0.1, 0.9, 1.3, 2.2, 1.7, 0.4], (dim, -1))

    def densities(module: Any, data: Any) -> Any:
        estimate = module.gaussian_kde([*data], weights=np.arange(1.0, 1.0 + data.shape[1]))
        estimate.set_bandwidth(0.7 * estimate.factor)
        width = np.sqrt(np.diag(estimate.covariance))
        return estimate(np.max(estimate.dataset, axis=1) - width)

    gw.testing.check_grads(lambda data: densities(ours, data), (data,), order=1)
    np.testing.assert_allclose(
        gw.vjp(lambda data: densities(ours, data), data)[0], densities(stats, data), rtol=1e-14
    )
    found = gw.grad(lambda data: ours.gaussian_kde(data, lambda k: k.dataset.std()).factor)(data)
    np.testing.assert_allclose(found, gw.grad(lambda data: data.std())(data))


@pytest.mark.parametrize("bw_method", [None, "silverman", 0.4])
def test_weights_and_width_of_a_kernel_density_have_derivatives(bw_method: Any) -> None:
    data, weights = np.array([0.1, 0.9, 1.3, 2.2]), np.array([1.0, 2.0, 0.5, 1.5])

    def densities(module: Any, weights: Any, scale: Any) -> Any:
        estimate = module.gaussian_kde(data, bw_method, weights)
        estimate.set_bandwidth(estimate.factor * scale)
        known = [estimate([0.5, 1.0]), estimate.logpdf([0.5]), estimate.weights]
        return np.concatenate([*known, [estimate.integrate_box_1d(0.2, 1.1), estimate.neff]])

    gw.testing.check_grads(lambda *given: densities(ours, *given), (weights, 0.8), order=1)
    value = gw.vjp(lambda *given: densities(ours, *given), weights, 0.8)[0]
    np.testing.assert_allclose(value, densities(stats, weights, 0.8), rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("resample", lambda k: np.sum(k.resample(2, seed=1))),
        ("integrate_kde", lambda k: k.integrate_kde(k)),
    ],
)
def test_what_a_kernel_density_has_no_derivative_for_is_refused(name: str, use: Any) -> None:
    with pytest.raises(NoRuleError, match=rf"gaussian_kde\.{name}.* has no derivative"):
        gw.grad(lambda data: use(ours.gaussian_kde(data)))(np.array([0.1, 0.9, 1.3, 2.2]))


def test_von_mises_fisher_density_is_differentiated_on_the_sphere() -> None:
    def density(angle: Any, kappa: Any) -> Any:
        x = np.stack([np.cos(angle) * 0.6, np.sin(angle) * 0.6, 0.8 + 0 * angle])
        return ours.vonmises_fisher(np.array([0.0, 0.0, 1.0]), kappa).pdf(x)

    def closed(angle: float, kappa: float) -> float:
        return float(kappa / (4 * np.pi * np.sinh(kappa)) * np.exp(0.8 * kappa))

    of_angle, of_kappa = gw.grad(density, (0, 1))(0.4, 2.4)
    assert abs(of_angle) < 1e-14
    h = 1e-5
    wanted = (closed(0.4, 2.4 + h) - closed(0.4, 2.4 - h)) / (2 * h)
    assert abs(of_kappa - wanted) < 1e-9


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("place", [0.3, 0.55, 0.9])
def test_sums_of_uniform_numbers_have_their_density_for_a_slope(n: int, place: float) -> None:
    """Their density has corners, at which no quadrature is exact."""
    x = place * n
    density = stats.irwinhall.pdf(x, n)
    below = fn(lambda x: ours.irwinhall.cdf(x, n))
    above = fn(lambda x: ours.irwinhall.sf(x, n))
    quantile = fn(lambda q: ours.irwinhall.ppf(q, n))
    np.testing.assert_allclose(gw.grad(below)(x), density, rtol=1e-12)
    np.testing.assert_allclose(gw.grad(above)(x), -density, rtol=1e-12)
    at = float(stats.irwinhall.cdf(x, n))
    np.testing.assert_allclose(gw.grad(quantile)(at), 1.0 / density, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ["weibull_min", "gamma", "lognorm", "invgauss"])
@pytest.mark.parametrize("method", ["pdf", "cdf", "ppf"])
def test_methods_with_tracked_shapes_compile(name: str, method: str) -> None:
    dist: Any = getattr(import_module("gradwrap.scipy.stats"), name)
    places = np.array([0.2, 0.5, 0.8])

    def f(x: Any) -> Any:
        return np.sum(getattr(dist, method)(places, x[0], x[1], x[2]) * np.array([1.0, 2.0, 4.0]))

    gradient = gw.grad(f)
    compiled = gw.compile(gradient)
    for x in ([1.2, 0.1, 1.6], [0.7, 0.05, 2.0], [2.5, 0.3, 0.9], [-1.0, 0.1, 1.0]):
        np.testing.assert_allclose(compiled(np.array(x)), gradient(np.array(x)), rtol=1e-12)
    assert compiled.programs


@pytest.mark.parametrize("moments", ["msvk", "kv", "vm", "s", "xm"])
def test_moments_are_in_the_order_of_scipy(moments: str) -> None:
    native: Any = stats
    for name, shape in (("gamma", 1.7), ("zipf", 6.5), ("t", 7.0)):
        wanted = np.ravel(getattr(native, name).stats(shape, moments=moments))

        def found(shape: Any, name: str = name) -> Any:
            made = getattr(ours, name).stats(shape, moments=moments)
            return np.stack(made) if isinstance(made, tuple) else np.reshape(made, (1,))

        value, slopes = gw.jvp(found, [shape], [1.0])

        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        ends = [
            np.ravel(getattr(native, name).stats(shape + h, moments=moments)) for h in (1e-5, -1e-5)
        ]
        np.testing.assert_allclose(slopes, (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-8)


def test_moments_are_asked_for_by_place() -> None:
    slopes = gw.jacfwd(fn(lambda s: np.stack(ours.norm.stats(0.3 * s, s, "mv"))))(np.array(1.7))
    np.testing.assert_allclose(slopes, [0.3, 3.4])

    slopes = gw.jacfwd(fn(lambda mu: np.stack(ours.poisson.stats(mu, 2.0, "vk"))))(np.array(1.7))
    np.testing.assert_allclose(slopes, [1.0, -1 / 1.7**2])


def test_noncentrality_with_too_many_terms_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"skellam\.cdf has no derivative"):
        gw.grad(lambda mu: ours.skellam.cdf(0.0, 1.0, mu))(4820232647677555.0)
