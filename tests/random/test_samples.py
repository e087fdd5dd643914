"""Samples with derivatives: NumPy's numbers, and the derivatives of their distributions."""

from __future__ import annotations

import copy
import functools
import importlib
import pickle
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap
import gradwrap.numpy
import gradwrap.random as ours
import gradwrap.scipy as scipys
from gradwrap.errors import CompileWarning, NoRuleError, TrackedValueError
from gradwrap.random.distributions import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

stats: Any = importlib.import_module("scipy.stats")
gw: Any = gradwrap  # called in every way
gnp: Any = gradwrap.numpy
rng: Any = ours.default_rng
MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "uniform": (1.0, 2.5),
    "normal": (1.0, 2.0),
    "lognormal": (0.3, 0.5),
    "laplace": (1.0, 2.0),
    "logistic": (1.0, 2.0),
    "gumbel": (1.0, 2.0),
    "exponential": (2.0,),
    "rayleigh": (2.0,),
    "weibull": (1.5,),
    "pareto": (2.0,),
    "power": (3.0,),
    "triangular": (-0.5, 0.4, 1.5),
    "standard_gamma": (0.7,),
    "gamma": (2.5, 1.3),
    "chisquare": (3.0,),
    "beta": (0.7, 2.0),
    "f": (3.0, 5.0),
    "standard_t": (4.0,),
    "wald": (1.5, 2.0),
    "vonmises": (0.5, 2.0),
    "dirichlet": (np.array([0.5, 2.0, 1.0]),),
    "multivariate_normal": (np.array([0.2, -1.0]), MATRIX),
}
VECTORS = ("dirichlet", "multivariate_normal")
SCIPYS: dict[str, Any] = {
    "uniform": lambda x, low, high: stats.uniform.cdf(x, low, high - low),
    "normal": stats.norm.cdf,
    "lognormal": lambda x, m, s: stats.norm.cdf(np.log(x), m, s),
    "laplace": stats.laplace.cdf,
    "logistic": stats.logistic.cdf,
    "gumbel": stats.gumbel_r.cdf,
    "exponential": lambda x, scale: stats.expon.cdf(x / scale),
    "rayleigh": lambda x, scale: stats.rayleigh.cdf(x / scale),
    "weibull": stats.weibull_min.cdf,
    "pareto": lambda x, a: stats.pareto.cdf(x + 1.0, a),
    "power": lambda x, a: x**a,
    "triangular": lambda x, a, m, b: stats.triang.cdf(x, (m - a) / (b - a), a, b - a),
    "standard_gamma": stats.gamma.cdf,
    "gamma": lambda x, a, scale: stats.gamma.cdf(x / scale, a),
    "chisquare": stats.chi2.cdf,
    "beta": stats.beta.cdf,
    "f": stats.f.cdf,
    "standard_t": stats.t.cdf,
    "wald": lambda x, mean, scale: stats.invgauss.cdf(x, mean / scale, scale=scale),
    "vonmises": lambda x, mu, kappa: stats.vonmises.cdf(x, kappa, loc=mu),
}
"""The distribution functions that the derivatives are compared with."""


@pytest.fixture(autouse=True)
def global_generator_as_before() -> Iterator[None]:
    before = np.random.get_state()  # noqa: NPY002  the global one
    yield
    np.random.set_state(before)  # noqa: NPY002  likewise


def draws(name: str, generator: Any, size: Any = 40) -> Any:
    return lambda *parameters: getattr(generator(), name)(*parameters, size=size)


def test_every_row_is_tested() -> None:
    assert {*PARAMETERS} == {*ROWS}
    assert {*SCIPYS} == {*ROWS} - {*VECTORS}


@pytest.mark.parametrize("name", PARAMETERS)
def test_numbers_are_numpys_bit_for_bit(name: str) -> None:
    given = PARAMETERS[name]
    for own, plain in (
        (lambda: rng(5), lambda: np.random.default_rng(5)),
        (lambda: rng(5).spawn(2)[1], lambda: np.random.default_rng(5).spawn(2)[1]),
        (lambda: ours.RandomState(5), lambda: np.random.RandomState(5)),
    ):
        for size in (None, 3, (2, 3)):
            found, _ = gw.vjp(draws(name, own, size), *given)
            wanted = draws(name, plain, size)(*given)
            np.testing.assert_array_equal(found, wanted)
            assert np.shape(found) == np.shape(wanted)


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_stream_goes_on_as_numpys(name: str) -> None:
    for own, plain in (
        (rng(5), np.random.default_rng(5)),
        (ours.RandomState(5), np.random.RandomState(5)),
    ):
        gw.grad(lambda p, g=own: np.sum(getattr(g, name)(*p, size=3)))(list(PARAMETERS[name]))
        getattr(plain, name)(*PARAMETERS[name], size=3)
        assert own.standard_normal() == plain.standard_normal()


@pytest.mark.parametrize("name", SCIPYS)
def test_derivatives_keep_the_probability(name: str) -> None:
    """If F(x, p) stays as it is, then dx/dp = -F_p / F_x."""
    given = PARAMETERS[name]
    x = draws(name, lambda: rng(2))(*given)
    cdf, step = SCIPYS[name], 1e-5
    by_x = (cdf(x + step, *given) - cdf(x - step, *given)) / (2 * step)
    for place in range(len(given)):
        tangents = [float(i == place) for i in range(len(given))]
        up, down = (
            [p + s * step * t for p, t in zip(given, tangents, strict=True)] for s in (1, -1)
        )
        wanted = -(cdf(x, *up) - cdf(x, *down)) / (2 * step) / by_x
        _, found = gw.jvp(draws(name, lambda: rng(2)), given, tangents)
        inside = by_x > 1e-3  # where differences of F have digits left
        np.testing.assert_allclose(found[inside], wanted[inside], rtol=2e-5, atol=1e-5)


MONOTONE = (
    *("uniform", "normal", "lognormal", "laplace", "logistic", "gumbel", "exponential"),
    *("rayleigh", "weibull", "pareto", "power", "triangular"),
)
"""Samples that follow from one draw of noise: the same seed gives the shifted sample."""


@pytest.mark.parametrize("name", MONOTONE)
def test_derivatives_are_those_of_the_same_seed(name: str) -> None:
    given = PARAMETERS[name]
    sample = draws(name, lambda: np.random.default_rng(4))
    for place in range(len(given)):
        tangents = [float(i == place) for i in range(len(given))]
        up, down = (
            [p + s * 1e-6 * t for p, t in zip(given, tangents, strict=True)] for s in (1, -1)
        )
        _, found = gw.jvp(draws(name, lambda: rng(4)), given, tangents)
        np.testing.assert_allclose(
            found, (sample(*up) - sample(*down)) / 2e-6, rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("name", PARAMETERS)
def test_modes_agree_and_second_derivatives_are_those_of_first_ones(name: str) -> None:
    given = PARAMETERS[name]

    def loss(*parameters: Any) -> Any:
        return np.sum(np.cos(draws(name, lambda: rng(3), 6)(*parameters)))

    gradients = gw.grad(loss, tuple(range(len(given))))(*given)
    tangents = tuple(np.ones_like(p) for p in given)
    _, pushed = gw.jvp(loss, given, tangents)
    assert pushed == pytest.approx(sum(np.sum(g) for g in gradients), rel=1e-10)
    if name in MONOTONE:
        gw.testing.check_grads(loss, list(given), order=2)


@pytest.mark.parametrize("name", [n for n in SCIPYS if n not in MONOTONE])
def test_second_derivatives_of_implicit_samples(name: str) -> None:
    """Both modes, against differences of first derivatives along the path of the sample."""
    given = PARAMETERS[name]
    cdf = SCIPYS[name]
    last = len(given) - 1

    def first(p: Any) -> Any:
        return gw.jvp(draws(name, lambda: rng(3), 6), (*given[:-1], p), (*[0.0] * last, 1.0))

    x, slope = first(given[-1])
    twice = gw.jvp(lambda p: first(p)[1], (given[-1],), (1.0,))[1]
    back = gw.grad(
        lambda p: gw.grad(lambda q: np.sum(draws(name, lambda: rng(3), 6)(*given[:-1], q)))(p)
    )
    assert back(given[-1]) == pytest.approx(np.sum(twice), rel=1e-9)
    wanted = np.empty(6)
    for i in range(6):  # the point of the same probability, for shifted parameters
        target, ends = cdf(x[i], *given), []
        for step in (-1e-3, 0.0, 1e-3):
            y = x[i] + slope[i] * step
            for _ in range(8):
                f = (
                    cdf(y + 1e-5, *given[:-1], given[-1] + step)
                    - cdf(y - 1e-5, *given[:-1], given[-1] + step)
                ) / 2e-5
                y -= (cdf(y, *given[:-1], given[-1] + step) - target) / f
            ends.append(y)
        wanted[i] = (ends[0] - 2 * ends[1] + ends[2]) / 1e-6
    np.testing.assert_allclose(twice, wanted, rtol=1e-2, atol=1e-3)


def test_vectors_move_with_the_cholesky_factor() -> None:
    mean, cov = PARAMETERS["multivariate_normal"]
    x = np.random.default_rng(3).multivariate_normal(mean, cov, size=5)
    z = np.linalg.solve(np.linalg.cholesky(cov), (x - mean).T).T

    def drawn(mean: Any, cov: Any) -> Any:
        return np.sum(np.cos(rng(3).multivariate_normal(mean, cov, size=5)))

    def computed(mean: Any, cov: Any) -> Any:
        return np.sum(np.cos(mean + z @ np.linalg.cholesky(cov).T))

    for found, wanted in zip(
        gw.hessian(drawn, (0, 1))(mean, cov), gw.hessian(computed, (0, 1))(mean, cov), strict=True
    ):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_extreme_parameters() -> None:
    tiny = gw.grad(lambda a: np.sum(rng(0).standard_gamma(a, size=20)))(1e-3)
    assert np.isfinite(tiny)  # most samples are 0
    assert (
        gw.grad(lambda s: rng(0).normal(1e8, s))(1e-7) == np.random.default_rng(0).standard_normal()
    )
    assert (
        gw.grad(lambda s: rng(0).normal(1.0, s))(0.0) == np.random.default_rng(0).standard_normal()
    )
    large = gw.grad(lambda k: np.sum(rng(0).vonmises(0.0, k, size=20) ** 2))(1e4)
    x = np.random.default_rng(0).vonmises(0.0, 1e4, size=20)
    assert large == pytest.approx(-np.sum(x * x) / 1e4, rel=1e-3)  # as a normal one
    sharp = gw.grad(lambda m: np.sum(rng(0).wald(m, 1e6, size=20)))(1.0)
    assert sharp == pytest.approx(20.0, rel=1e-2)


def test_parameters_are_broadcast_and_keep_their_dtype() -> None:
    loc = np.zeros((2, 1), np.float32)
    found = gw.grad(lambda p: np.sum(rng(0).normal(p, np.ones(3)) * np.arange(6.0).reshape(2, 3)))(
        loc
    )
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[3.0], [12.0]])
    by_list = gw.grad(lambda p: np.sum(rng(0).gamma([p, 2.0 * p])))(1.5)
    assert by_list == gw.grad(lambda p: np.sum(rng(0).gamma(p * np.array([1.0, 2.0]))))(1.5)


# Elements of tracked arrays -----------------------------------------------------------------------

X = np.arange(12.0).reshape(4, 3)


def _shuffled(generator: Any, x: Any, **options: Any) -> Any:
    y = x * 1.0
    generator.shuffle(y, **options)
    return y


MOVES: dict[str, Any] = {
    "permutation": lambda g, x: g.permutation(x),
    "permutation of one axis": lambda g, x: g.permutation(x[0]),
    "permutation, axis=1": lambda g, x: g.permutation(x, axis=1),
    "permuted": lambda g, x: g.permuted(x),
    "permuted, axis=1": lambda g, x: g.permuted(x, axis=1),
    "shuffle": _shuffled,
    "shuffle, axis=1": lambda g, x: _shuffled(g, x, axis=1),
    "shuffle of a row": lambda g, x: _shuffled(g, x[1]),
    "choice": lambda g, x: g.choice(x[0]),
    "choice of rows": lambda g, x: g.choice(x, 3),
    "choice, axis=1": lambda g, x: g.choice(x, 2, replace=False, axis=1, shuffle=False),
    "choice with p": lambda g, x: g.choice(x, 5, p=[0.1, 0.2, 0.3, 0.4]),
}


@pytest.mark.parametrize("name", MOVES)
def test_elements_move_as_numpys_with_their_gradients(name: str) -> None:
    move = MOVES[name]
    wanted = move(np.random.default_rng(7), X)
    found, pull = gw.vjp(lambda x: move(rng(7), x), X)
    np.testing.assert_array_equal(found, wanted)
    g = np.arange(1.0, np.size(wanted) + 1).reshape(np.shape(wanted))[()]
    places = move(np.random.default_rng(7), np.arange(12).reshape(4, 3))
    counted = np.zeros(12)
    np.add.at(counted, np.ravel(places).astype(int), np.ravel(g))
    np.testing.assert_array_equal(pull(g)[0].ravel(), counted)


def test_older_generator_moves_elements() -> None:
    for move in (lambda g, x: g.permutation(x), _shuffled, lambda g, x: g.choice(x[:, 0], 3)):
        found, _ = gw.vjp(lambda x, m=move: m(ours.RandomState(7), x), X)
        np.testing.assert_array_equal(found, move(np.random.RandomState(7), X))


# Generators ---------------------------------------------------------------------------------------


def test_a_generator_is_numpys() -> None:
    own = rng(3)
    assert isinstance(own, np.random.Generator)
    assert np.random.default_rng(own) is own
    assert rng(own) is own
    assert [g.standard_normal() for g in own.spawn(2)] == [
        g.standard_normal() for g in np.random.default_rng(3).spawn(2)
    ]
    for made in (copy.deepcopy(own), pickle.loads(pickle.dumps(own))):  # noqa: S301  just written
        assert type(made) is ours.Generator
    assert copy.deepcopy(own).normal(1.0) == own.normal(1.0)
    plain = np.random.default_rng(3)
    assert rng(plain).normal() == np.random.default_rng(3).normal()
    with pytest.raises(ValueError, match=r"discrete='no'\. Fix: 'refuse' or 'constant'"):
        rng(0, discrete="no")
    with pytest.raises(ValueError, match="scale < 0"):
        gw.grad(lambda s: own.normal(0.0, s))(-1.0)


def test_the_module_has_numpys_names_and_its_global_generator() -> None:
    assert ours.PCG64 is np.random.PCG64
    assert {*dir(ours)} == {*dir(np.random)}
    np.random.seed(3)  # noqa: NPY002  the global one is tested
    wanted = [np.random.normal(1.0, 2.0), np.random.gamma(2.0)]  # noqa: NPY002  likewise
    ours.seed(3)
    found = gw.jvp(lambda p: (ours.normal(1.0, p), ours.gamma(p)), (2.0,), (1.0,))
    assert [*found[0]] == wanted
    assert found[1][0] == (wanted[0] - 1.0) / 2.0
    drop_in: Any = importlib.import_module("gradwrap.numpy")
    assert drop_in.random is ours
    assert drop_in.random.default_rng is rng


def test_threads_share_a_generator_without_losing_noise() -> None:
    shared = rng(11)

    def one(_: int) -> tuple[float, float]:
        value, slope = gw.value_and_grad(lambda s: shared.normal(0.0, s))(2.0)
        return float(value), float(slope)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(400)))
    wanted = np.random.default_rng(11).normal(0.0, 2.0, size=400)
    assert sorted(value for value, _ in found) == sorted(wanted)
    assert all(value == 2.0 * slope for value, slope in found)


def _lock_of_its_own(_: Any) -> Any:
    return threading.Lock()


LOCKED: Any = type("L", (np.random.PCG64,), {"lock": functools.cached_property(_lock_of_its_own)})
"""A bit generator whose lock is as before NumPy 2.4: its own thread cannot take it again."""


def test_a_lock_that_is_taken_once_is_enough() -> None:
    own, plain = (np.random.Generator(kind(7)) for kind in (LOCKED, np.random.PCG64))
    drawn = ours.default_rng(own)
    value, slope = gw.value_and_grad(lambda s: np.sum(drawn.gumbel(1.0, s, size=3)))(2.0)
    noise = plain.gumbel(1.0, 2.0, size=3)
    assert value == np.sum(noise)
    np.testing.assert_allclose(slope, np.sum((noise - 1.0) / 2.0))
    assert drawn.standard_normal() == plain.standard_normal()


# vmap and compile ---------------------------------------------------------------------------------


def with_generator(function: Any) -> Any:
    """Pass a function, as its first argument, a new generator that all calls share."""
    return functools.partial(function, rng(1))


def test_each_example_has_a_draw_of_its_own() -> None:
    shapes = np.array([0.5, 1.0, 2.0])

    def drawn(g: Any, a: Any) -> Any:
        return g.gamma(a, size=2)

    def total(g: Any, a: Any) -> Any:
        return np.sum(g.gamma(a, size=2))

    def of_all(g: Any, shapes: Any) -> Any:
        return np.sum(gw.vmap(functools.partial(drawn, g))(shapes))

    plain = np.random.default_rng(1)
    wanted = np.array([plain.gamma(a, size=2) for a in shapes])
    np.testing.assert_array_equal(gw.vmap(with_generator(drawn))(shapes), wanted)
    slope = gw.grad(with_generator(total))
    by_loop = [slope(a) for a in shapes]
    np.testing.assert_allclose(gw.vmap(gw.grad(with_generator(total)))(shapes), by_loop)
    np.testing.assert_allclose(gw.grad(with_generator(of_all))(shapes), by_loop)
    nested = gw.vmap(gw.vmap(with_generator(lambda g, m: g.normal(m))))(np.zeros((3, 2)))
    wanted = np.random.default_rng(1).normal(size=6)
    np.testing.assert_array_equal(np.sort(nested.ravel()), np.sort(wanted))


def test_vmap_moves_elements_of_each_example_and_draws_counts() -> None:
    plain = np.random.default_rng(1)
    wanted = [plain.permutation(row) for row in X]
    found = gw.vmap(with_generator(lambda g, x: g.permutation(x)))(X)
    np.testing.assert_array_equal(found, wanted)
    plain = np.random.default_rng(1)
    counts = [plain.poisson(rate) for rate in (2.0, 30.0)]
    found = gw.vmap(with_generator(lambda g, rate: g.poisson(rate)))(np.array([2.0, 30.0]))
    np.testing.assert_array_equal(found, counts)


SEEDED: dict[str, Callable[[Any], Any]] = {
    "normal": lambda x: gnp.random.default_rng(0).normal(x),
    "permutation": lambda x: gnp.random.default_rng(0).permutation(x),
    "older": lambda x: gnp.random.RandomState(3).permutation(x),
    "seed": lambda x: (gnp.random.seed(3), gnp.random.permutation(x) * gnp.random.normal(x))[1],
    "inner": lambda x: gw.vmap(lambda y: gnp.random.default_rng(0).normal(x[0] + y))(x),
}


@pytest.mark.parametrize("drawn", SEEDED.values(), ids=SEEDED)
def test_each_example_begins_with_a_seed_of_the_mapped_function(drawn: Any) -> None:
    wanted = [gw.vjp(drawn, row)[0] for row in X]
    np.testing.assert_array_equal(gw.vmap(drawn)(X), wanted)
    loss = lambda x: np.sum(drawn(x) * np.arange(1.0, 1.0 + x.shape[0]))
    np.testing.assert_allclose(gw.vmap(gw.grad(loss))(X), [gw.grad(loss)(row) for row in X])


def test_a_shuffle_in_place_begins_with_the_seed() -> None:
    def shuffled(x: Any) -> Any:
        y = x * 1.0
        gnp.random.default_rng(0).shuffle(y)
        return y

    np.testing.assert_array_equal(gw.vmap(shuffled)(X), [gw.vjp(shuffled, row)[0] for row in X])


def test_examples_that_drew_different_amounts_are_told_apart() -> None:
    def twice(a: Any) -> Any:
        own = gnp.random.default_rng(4)
        return np.sum(own.gamma(a, size=20)) + own.normal(a)

    with pytest.raises(gw.errors.TrackedValueError, match=r"cannot draw again.*Fix: "):
        gw.vmap(twice)(np.linspace(0.3, 3.0, 8))


def test_what_no_example_changes_is_drawn_once() -> None:
    found = gw.vmap(with_generator(lambda g, x: x + g.normal(size=2)))(np.zeros(3))
    wanted = np.random.default_rng(1).normal(size=2)
    np.testing.assert_array_equal(found, np.tile(wanted, (3, 1)))


def test_a_compiled_function_draws_afresh() -> None:
    shared, plain = rng(1), np.random.default_rng(1)
    drawn = gw.compile(lambda a: shared.gamma(a) * 2.0)
    with pytest.warns(CompileWarning, match="runs eagerly"):
        found = [drawn(2.0) for _ in range(3)]
    assert found == [plain.gamma(2.0) * 2.0 for _ in range(3)]
    slope = gw.grad(lambda a: np.sum(rng(0).gamma(a)))  # the sample depends on the argument
    seeded = gw.compile(slope)
    assert [seeded(a) for a in (1.0, 3.0, 2.0)] == [slope(a) for a in (1.0, 3.0, 2.0)]
    with pytest.warns(CompileWarning, match="runs eagerly"):
        np.testing.assert_array_equal(seeded(np.ones(2)), slope(np.ones(2)))
    np.testing.assert_array_equal(seeded(np.full(2, 3.0)), slope(np.full(2, 3.0)))


# Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("poisson", (2.0,)),
        ("binomial", (5, 0.3)),
        ("geometric", (0.3,)),
        ("negative_binomial", (3, 0.3)),
        ("zipf", (2.5,)),
        ("logseries", (0.4,)),
    ],
)
def test_discrete_samples_are_refused_or_constant(name: str, given: tuple[Any, ...]) -> None:
    def loss(p: Any, g: Any) -> Any:
        return p * getattr(g, name)(*given[:-1], p)

    with pytest.raises(NoRuleError, match=f"{name} draws from a discrete distribution.*constant"):
        gw.grad(loss)(given[-1], rng(2))
    wanted = getattr(np.random.default_rng(2), name)(*given)
    assert gw.grad(loss)(given[-1], rng(2, discrete="constant")) == wanted
    assert gw.grad(loss)(given[-1], rng(2, discrete="constant").spawn(1)[0]) > 0


def test_probabilities_of_a_choice_are_refused_or_constant() -> None:
    p = np.array([0.2, 0.8])
    with pytest.raises(NoRuleError, match=r"choice draws from .* in p, which is tracked"):
        gw.grad(lambda p: np.sum(rng(0).choice(2, 3, p=p) * 1.0))(p)
    chosen = np.random.default_rng(0).choice(2, p=p)
    found = gw.grad(lambda p: p[rng(0, discrete="constant").choice(2, p=p)])(p)
    np.testing.assert_array_equal(found, np.eye(2)[chosen])


def test_what_has_no_derivative_is_refused_by_name() -> None:
    with pytest.raises(NoRuleError, match="no derivative of a sample of noncentral_chisquare"):
        gw.grad(lambda df: rng(0).noncentral_chisquare(df, 1.0))(2.0)
    with pytest.raises(TrackedValueError, match=r"standard_gamma\(out=\.\.\.\) would write plain"):
        gw.grad(lambda a: rng(0).standard_gamma(a, out=np.empty(2))[0])(2.0)
    with pytest.raises(TrackedValueError, match=r"permuted\(out=\.\.\.\) would write plain"):
        gw.grad(lambda x: rng(0).permuted(x, out=np.empty((4, 3)))[0, 0])(X)
    with pytest.raises(TypeError, match=r"gamma takes \(shape, scale, size\)"):
        gw.grad(lambda a: rng(0).gamma(scale=a))(2.0)
    singular = np.ones((2, 2))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        gw.grad(lambda c: rng(0).multivariate_normal(np.zeros(2), c)[0])(singular)
    shifted = gw.grad(lambda m: rng(0).multivariate_normal(m, singular)[0])(np.zeros(2))
    np.testing.assert_array_equal(shifted, [1.0, 0.0])


def test_constants_draw_as_numpy() -> None:
    assert gw.grad(lambda a: a * rng(0).gamma(gw.stop_gradient(a)))(2.0) == np.random.default_rng(
        0
    ).gamma(2.0)
    with gw.no_grad():
        value = rng(0).gamma(gw.wrap(np.array(2.0), requires_grad=True))
    assert value == np.random.default_rng(0).gamma(2.0)
    assert rng(0).gamma(gw.wrap(np.array(2.0))) == np.random.default_rng(0).gamma(2.0)


# Code of others -----------------------------------------------------------------------------------

PACKAGE = """
import numpy as np, numpy.random as npr
from numpy.random import normal, default_rng
held = np.random.default_rng(4)
def by_module(p): return np.random.normal(p, p)
def by_name(p): return normal(p, p)
def by_seed(p): return default_rng(0).beta(p, 2.0)
def by_held_generator(p): return held.normal(p, p)
def by_older_class(p): return npr.RandomState(3).gamma(p)
def by_class(p):
    rng = np.random.Generator(np.random.PCG64(1))
    assert isinstance(rng, np.random.Generator) and isinstance(held, np.random.Generator)
    return rng.normal(p)
def by_scipy(p):
    from scipy import stats
    return stats.norm.rvs(loc=p, random_state=np.random.default_rng(1))
"""


@pytest.mark.parametrize(
    "name",
    [
        *("by_module", "by_name", "by_seed", "by_held_generator", "by_older_class", "by_class"),
        "by_scipy",
    ],
)
def test_adapted_packages_draw_the_same_numbers_with_derivatives(name: str) -> None:
    package: Any = types.ModuleType("package_that_draws")
    exec(PACKAGE, vars(package))  # noqa: S102  the package of this test
    function = getattr(package, name)
    np.random.seed(2)  # noqa: NPY002  the global generator
    wanted = function(1.5)
    package.held = np.random.default_rng(4)
    np.random.seed(2)  # noqa: NPY002  likewise
    with gw.adapted(package):
        value, slope = gw.value_and_grad(lambda p: function(p))(1.5)
    assert value == wanted
    assert slope != 0.0
    assert type(vars(package)["held"]) is np.random.Generator
    package.held = np.random.default_rng(4)
    np.random.seed(2)  # noqa: NPY002  likewise
    assert gw.value_and_grad(gw.adapting(function))(1.5) == (wanted, slope)


SCIPY_DISTRIBUTIONS: dict[str, tuple[float, ...]] = {
    "norm": (),
    "gamma": (2.0,),
    "t": (3.0,),
    "invgauss": (0.7,),
    "skewnorm": (1.0,),
    "genextreme": (0.3,),
    "triang": (0.4,),
    "johnsonsu": (0.3, 1.2),
}


@pytest.mark.parametrize("name", SCIPY_DISTRIBUTIONS)
def test_samples_of_scipy(name: str) -> None:
    plain = getattr(stats, name)
    given = (*SCIPY_DISTRIBUTIONS[name], 0.5, 1.5)

    def sample(*p: Any) -> Any:
        return getattr(scipys.stats, name).rvs(
            *p[:-2], loc=p[-2], scale=p[-1], size=30, random_state=3
        )

    x = plain.rvs(*given, size=30, random_state=3)
    for place in range(len(given)):
        tangents = [float(i == place) for i in range(len(given))]
        up, down = (
            [p + s * 1e-6 * t for p, t in zip(given, tangents, strict=True)] for s in (1, -1)
        )
        wanted = -(plain.cdf(x, *up) - plain.cdf(x, *down)) / 2e-6 / plain.pdf(x, *given)
        value, found = gw.jvp(sample, given, tangents)
        np.testing.assert_array_equal(value, x)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


COV = np.array([[2.0, 0.3], [0.3, 1.0]])


def own_student(g: Any, loc: Any, shape: Any, df: Any, size: int) -> Any:
    spread = g.chisquare(df, size) / df
    return loc + g.multivariate_normal(np.zeros(2), shape, size) / np.sqrt(spread)[:, None]


MULTIVARIATE: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "multivariate_normal": (
        lambda g, mean, cov, size: g.multivariate_normal(mean, cov, size),
        (np.array([1.0, 2.0]), COV),
    ),
    "dirichlet": (lambda g, a, size: g.dirichlet(a, size), (np.array([0.5, 2.0, 3.0]),)),
    "multivariate_t": (own_student, (np.array([1.0, 2.0]), COV, 3.5)),
}


@pytest.mark.parametrize("seed", [lambda: 3, lambda: np.random.default_rng(3)])
@pytest.mark.parametrize("name", MULTIVARIATE)
def test_multivariate_samples_of_scipy(name: str, seed: Any) -> None:
    own, given = MULTIVARIATE[name]
    first, others = next(iter(given)), given[1:]
    plain, scipys_own = getattr(stats, name), getattr(scipys.stats, name)

    def sample(*p: Any) -> Any:
        return scipys_own.rvs(*p, size=4, random_state=seed())

    def frozen(*p: Any) -> Any:
        return scipys_own(*p).rvs(4, random_state=seed())

    def wanted(*p: Any) -> Any:
        g = gw.random.RandomState(3) if isinstance(seed(), int) else rng(3)
        return own(g, *p, 4)

    x = plain.rvs(*given, size=4, random_state=seed())
    tangents = [np.sin(np.arange(np.size(p)) + 1.0).reshape(np.shape(p)) for p in given]
    if len(given) > 1:
        tangents[1] = tangents[1] + tangents[1].T
    for function in (sample, frozen):
        value, moved = gw.jvp(function, given, tangents)
        np.testing.assert_array_equal(value, x)
        np.testing.assert_allclose(moved, gw.jvp(wanted, given, tangents)[1], rtol=1e-12)
    seeded = gw.value_and_grad(lambda p: np.sum(scipys_own(p, *others, seed=seed()).rvs(2)))
    assert seeded(first)[0] == np.sum(plain(*given, seed=seed()).rvs(2))
    single = gw.value_and_grad(lambda p: np.sum(scipys_own.rvs(p, *others, random_state=7)))
    assert single(first)[0] == np.sum(plain.rvs(*given, random_state=7))


def test_multivariate_samples_in_adapted_code_and_of_a_covariance_object() -> None:
    def draws(mean: Any, cov: Any) -> Any:
        return np.sum(stats.multivariate_normal.rvs(mean, cov, random_state=5) ** 2)

    mean = np.array([1.0, 2.0])
    value, (slope, _) = gw.value_and_grad(gw.adapting(draws), (0, 1))(mean, COV)
    assert value == draws(mean, COV)
    np.testing.assert_allclose(
        slope, 2 * stats.multivariate_normal.rvs(mean, COV, random_state=5), rtol=1e-12
    )
    made = stats.Covariance.from_diagonal([1.0, 4.0])
    drawn = scipys.stats.multivariate_normal
    found = gw.grad(lambda m: np.sum(drawn.rvs(m, made, random_state=5) ** 2))(mean)
    np.testing.assert_allclose(
        found, 2 * stats.multivariate_normal.rvs(mean, made, random_state=5)[0], rtol=1e-12
    )
    with pytest.raises(NoRuleError, match=r"stats\.wishart\.rvs has no derivative"):
        gw.grad(lambda c: np.sum(scipys.stats.wishart.rvs(3, c, random_state=1)))(COV)


def test_samples_of_scipy_that_have_no_derivative() -> None:
    with pytest.raises(NoRuleError, match=r"stats\.poisson\.rvs has no derivative.*integers"):
        gw.grad(lambda a: 1.0 * scipys.stats.poisson.rvs(a, random_state=1))(2.0)
    plain = np.random.default_rng(1)
    wanted = [stats.gamma.rvs(a, size=2, random_state=plain) for a in (1.0, 3.0)]
    own = np.random.default_rng(1)
    found = gw.vmap(lambda a: scipys.stats.gamma.rvs(a, size=2, random_state=own))
    np.testing.assert_array_equal(found(np.array([1.0, 3.0])), wanted)
