"""Elements that a selection did not take: their derivative is zero, in every mode and engine."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NP: Any = np
X = np.array([-1.0, 0.0, 1.0, 4.0])
ENGINES = ["numpy", *(["c"] if shutil.which("cc") else [])]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence NumPy, which warns of the roots and logarithms."""
    with np.errstate(all="ignore"):
        yield


def both_of_a_root(x: Any) -> Any:
    root = np.sqrt(x)
    return NP.where(x > 0, root, np.zeros(4)) + NP.where(x > 2, root, x)


def between_views(x: Any) -> Any:
    square = x.reshape(2, 2)
    root = np.sqrt(square).T[::-1]
    return NP.where(square.T[::-1] > 0, 2 * root, 1.0)


def written(x: Any) -> Any:
    root = np.sqrt(x)
    root[X < 0] = 0.0
    root[X == 0] = 1.0
    return root * np.ones(4)


def indexed_twice(x: Any) -> Any:
    root = np.sqrt(x.reshape(2, 2))
    places = X.reshape(2, 2)
    return np.sum(root[places > 0]) + np.sum(root[places > 2])


def in_a_long_loop(x: Any) -> Any:
    total = np.sqrt(np.abs(x))
    for _ in range(1500):  # deeper than Python's stack
        total = np.maximum(total, 0.5) + 0.0
    return total


# Each with the first and the second derivative of its sum, by hand.
PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "root": (
        fn(lambda x: NP.where(x > 0, np.sqrt(x), 0.0)),
        [0, 0, 0.5, 0.25],
        [0, 0, -0.25, -1 / 32],
    ),
    "entropy": (
        fn(lambda x: NP.where(x > 0, x * np.log(x), 0.0)),
        [0, 0, 1, 1 + np.log(4)],
        [0, 0, 1, 0.25],
    ),
    "quotient": (
        fn(lambda x: NP.where(x != 0, (x * x) / x, 0.0)),
        [1, 0, 1, 1],
        [0, 0, 0, 0],
    ),
    "power": (
        fn(lambda x: NP.where(x > 0, x**1.5, 3 * x)),
        [3, 3, 1.5, 3],
        [0, 0, 0.75, 0.375],
    ),
    "overflow": (
        fn(lambda x: NP.where(x < 1, np.exp(1000 * x) * 0 + x, x)),
        [1, 1, 1, 1],
        [0, 0, 0, 0],
    ),
    "maximum": (fn(lambda x: np.maximum(np.sqrt(x * x), 0.5)), [-1, 0, 1, 1], [0, 0, 0, 0]),
    "minimum": (fn(lambda x: np.minimum(1 / x, 0.5)), [-1, 0, 0, -1 / 16], [-2, 0, 0, 1 / 32]),
    "clip": (fn(lambda x: NP.clip(np.sqrt(x * x), 0.5, 3.0)), [-1, 0, 1, 0], [0, 0, 0, 0]),
    "fmax": (fn(lambda x: np.fmax(np.sqrt(x), 0.5)), [0, 0, 0.5, 0.25], [0, 0, -0.25, -1 / 32]),
    "broadcast": (
        fn(lambda x: NP.where(x[:, None] > 0, np.sqrt(x)[:, None], np.ones(3))),
        [0, 0, 1.5, 0.75],
        [0, 0, -0.75, -3 / 32],
    ),
    "branches that overlap": (both_of_a_root, [1, 1, 1.5, 0.5], [0, 0, -0.25, -1 / 16]),
    "views": (between_views, [0, 0, 1, 0.5], [0, 0, -0.5, -1 / 16]),
    "written": (written, [0, 0, 0.5, 0.25], [0, 0, -0.25, -1 / 32]),
    "index of booleans": (indexed_twice, [0, 0, 0.5, 0.5], [0, 0, -0.25, -1 / 16]),
    "inside another": (
        fn(lambda x: NP.where(x > 0, NP.log(NP.where(x > 2, np.sqrt(x), 1 / x)), 0.0)),
        [0, 0, -1, 1 / 8],
        [0, 0, 1, -1 / 32],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_mode_gives_the_derivative_by_hand(name: str) -> None:
    program, first, second = PROGRAMS[name]

    def total(x: Any) -> Any:
        return np.sum(program(x))

    gradient = gw.grad(total)
    leaf = gw.wrap(X.copy(), requires_grad=True)
    total(leaf).backward()
    close(leaf.grad, first)
    close(gradient(X), first)
    close(gw.jacrev(total)(X), first)
    close(gw.jacfwd(total)(X), first)
    close(gw.vmap(gradient)(np.stack([X, X])), [first, first])
    close(gw.grad(gw.checkpoint(total))(X), first)
    close(gw.grad(lambda x: np.sum(gradient(x)))(X), second)
    close(gw.hessian(total)(X), np.diag(second))
    close(gw.jacfwd(gw.jacfwd(total))(X), np.diag(second))
    with gw.detect_anomaly(), gw.strong_zeros():
        close(gradient(X), first)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["root", "entropy", "views", "branches that overlap"])
def test_compiled_programs_do_the_same_at_other_arguments(name: str, engine: str) -> None:
    program, first, _ = PROGRAMS[name]
    compiled = gw.compile(gw.grad(fn(lambda x: np.sum(program(x)))), engine=engine)
    compiled(np.array([3.0, 1.0, 2.0, 5.0]))
    close(compiled(X), first)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def test_a_zero_that_is_a_number_hides_no_limit() -> None:
    assert np.isnan(gw.grad(fn(lambda x: np.sqrt(x) ** 2))(0.0))
    assert np.isnan(gw.grad(fn(lambda x: 0.0 * np.sqrt(x)))(0.0))
    assert np.isnan(gw.grad(fn(lambda x: NP.where(x >= 0, 0.0 * np.sqrt(x), 1.0)))(0.0))


def test_a_value_that_is_used_elsewhere_keeps_its_nan() -> None:
    def f(x: Any) -> Any:
        root = np.sqrt(x)
        return np.sum(NP.where(x > 0, root, 0.0)) + np.sum(root * np.array([0.0, 0.0, 1.0, 1.0]))

    np.testing.assert_array_equal(gw.grad(f)(X), [np.nan, np.nan, 1.0, 0.5])


def test_an_infinite_derivative_of_a_branch_that_was_taken_stays() -> None:
    found = gw.grad(fn(lambda x: np.sum(NP.where(x >= 0, np.sqrt(x), 0.0))))(X)
    np.testing.assert_array_equal(found, [0.0, np.inf, 0.5, 0.25])


def test_a_scalar_in_a_branch_that_no_element_takes() -> None:
    found = gw.grad(fn(lambda a: np.sum(NP.where(X > 9, np.sqrt(a), X))))(0.0)
    assert found == 0.0


def test_a_hook_that_changes_the_cotangent_is_followed() -> None:
    x = gw.wrap(np.array([-1.0, 4.0]), requires_grad=True)
    inner: Any = np.exp(x)
    inner.register_hook(fn(lambda g: g + 1.0))
    np.sum(NP.where(x > 0, inner, 0.0)).backward()
    close(x.grad, [np.exp(-1.0), 2 * np.exp(4.0)])


def test_a_chain_of_masks_may_be_longer_than_the_stack_of_python() -> None:
    found = gw.grad(fn(lambda x: np.sum(in_a_long_loop(x))))(X)
    close(found, [-0.5, 0, 0.5, 0.25])


def test_what_two_branches_leave_to_each_other_is_taken() -> None:
    """The masks of both halves are all; NaN is passed on where an argument has it."""

    def f(x: Any) -> Any:
        root = np.sqrt(x)
        return np.sum(NP.where(x > 2, 2 * root, 3 * root))

    np.testing.assert_array_equal(gw.grad(f)(X), [np.nan, np.inf, 1.5, 0.5])


def test_a_branch_inside_of_one_that_was_not_taken() -> None:
    def f(x: Any) -> Any:
        root = np.sqrt(x)
        return np.sum(NP.where(x > 0, NP.where(x > 2, 2 * root, 3 * root), 0.0))

    close(gw.grad(f)(X), [0, 0, 1.5, 0.5])


def test_the_imaginary_part_is_taken_where_the_real_part_is_written() -> None:
    def f(z: Any) -> Any:
        root = np.sqrt(z)
        root.real = 0.0
        return np.sum(root.imag)

    z = np.array([1.0 + 1.0j, 2.0j])
    want = gw.grad(fn(lambda z: np.sum(np.sqrt(z).imag)))(z)
    close(gw.grad(f)(z), want)
    close(gw.compile(gw.grad(f))(z), want)


@pytest.mark.peers
def test_an_index_of_booleans_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(X.tolist(), dtype=torch.float64)
    found = gw.grad(fn(lambda x: NP.sum((x**0.5)[x > 0])))(x)
    close(np.asarray(found), [0, 0, 0.5, 0.25])


def test_complex_branches() -> None:
    def f(z: Any) -> Any:
        return np.sum(np.abs(NP.where(np.abs(z) > 0, 1 / z, 0.0)))

    found = gw.grad(f)(np.array([0.0 + 0.0j, 2.0j]))
    np.testing.assert_allclose(found, [0.0, -0.25j], rtol=1e-12)


# Random programs ----------------------------------------------------------------------------------

POINTS = np.array([-1.0, 0.0, 0.9, 4.0, 0.5, 0.0])
TAKES = POINTS > 0
STEPS: list[Callable[[Any, Any, Any], Any]] = [
    lambda u, v, w: np.sqrt(u),
    lambda u, v, w: np.log(u),
    lambda u, v, w: 1 / u,
    lambda u, v, w: u**1.5,
    lambda u, v, w: np.abs(u),
    lambda u, v, w: np.exp(-u),
    lambda u, v, w: u * v,
    lambda u, v, w: u / v,
    lambda u, v, w: u - v,
    lambda u, v, w: 0.7 * u + 0.1,
    lambda u, v, w: NP.where(w > 0, u, v),
    lambda u, v, w: NP.where(u > 0, u, 0.5),
    lambda u, v, w: np.maximum(u, v),
    lambda u, v, w: np.minimum(u, 0.3),
    lambda u, v, w: NP.clip(u, 0.2, 2.0),
    lambda u, v, w: np.fmax(u, 0.1),
    lambda u, v, w: _written(u),
    lambda u, v, w: u.reshape(2, 3).T.reshape(3, 2).T.reshape(6),
]


def _written(u: Any) -> Any:
    made = u.copy()
    made[~TAKES] = 0.7
    return made


def program_of(seed: int) -> Callable[[Any], Any]:
    """Apply random steps to earlier results; the sum is of what a selection takes."""
    rng = np.random.default_rng(seed)
    steps = [(int(rng.integers(len(STEPS))), rng.random(3)) for _ in range(rng.integers(3, 12))]

    def program(x: Any) -> Any:
        made = [x]
        for kind, places in steps:
            made.append(STEPS[kind](*(made[int(place * len(made))] for place in places)))
        taken = np.sum(made[-2][TAKES]) if seed % 2 else np.sum(made[-2][2:4])
        return taken + np.sum(NP.where(np.isfinite(made[-1]), made[-1], 0.0))

    return program


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_random_programs_have_the_slopes_of_differences_wherever_they_are_finite(
    first: int,
) -> None:
    compared = 0
    for seed in range(first, first + 250):
        program = program_of(seed)
        value, gradient = gw.value_and_grad(program)(POINTS)
        if not abs(value) < 1e3:
            continue
        for i, slope in enumerate(gradient):
            steps = np.array([1e-6, -1e-6, 2e-6, -2e-6])
            moved = POINTS + steps[:, None] * (np.arange(6) == i)
            slopes = (np.array([program(x) for x in moved]) - value) / steps
            is_smooth = np.all(np.isfinite(slopes)) and np.ptp(slopes) < 1e-3
            if POINTS[i] != 0 and np.isfinite(slope) and is_smooth:
                np.testing.assert_allclose(
                    slope, slopes[0], rtol=2e-3, atol=2e-3, err_msg=f"{seed}"
                )
                compared += 1
    assert compared > 300
