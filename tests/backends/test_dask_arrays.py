"""Dask's arrays: nothing is computed before it is asked for, and shapes may be unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn
from library_programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Callable

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")
pytestmark = pytest.mark.peers

VALUES = np.arange(24.0).reshape(8, 3) / 4.0 - 1.3
INDICES = np.array([5, 0, 0, 7, 5])


def in_chunks(values: Any) -> Any:
    return da.from_array(values, chunks=(2,) * values.ndim)


def refuse(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("something was computed")


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "ridge"])
def test_gradient_is_built_without_computing(name: str) -> None:
    program = PROGRAMS[name]
    wanted = gw.grad(program.function)(*program.arrays)

    with dask.config.set(scheduler=refuse):
        gradient = gw.grad(program.function)(*(in_chunks(a) for a in program.arrays))

    assert isinstance(gradient, da.Array)
    np.testing.assert_allclose(gradient.compute(), wanted, rtol=1e-9)


def test_value_and_gradient_share_one_computation() -> None:
    program = PROGRAMS["logistic_loss"]

    value, gradient = gw.value_and_grad(program.function)(*map(in_chunks, program.arrays))
    found = dask.compute(value, gradient)

    wanted = gw.value_and_grad(program.function)(*program.arrays)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-9)


SELECTIONS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda x: x[1:7:2, ::-1],
    "row by row": lambda x: sum(x[i] * x[i - 1] for i in range(8)),
    "indices": lambda x: x[INDICES],
    "indices on the second axis": lambda x: x[:, INDICES % 3],
    "mask": lambda x: x[x > 0],
    "rows by a mask": lambda x: x[x[:, 0] > 0],
    "rows by a mask, with more": lambda x: x[x[:, 0] > 0] @ x[:3] + x[0],
    "centred rows by a mask": lambda x: _centred(x[x[:, 0] > 0]),
    "their mean": lambda x: (x[x[:, 0] > 0] ** 2).mean(axis=0),
    "the mean of all": lambda x: x[x > 0].mean(),
    "their variance": lambda x: x[x[:, 0] > 0].var(axis=0, correction=1),
    "their deviation": lambda x: x[x[:, 0] > 0].std(axis=0),
}


def _centred(rows: Any) -> Any:
    return (rows - rows.mean(axis=1, keepdims=True)) * rows.mean(axis=0)


@pytest.mark.parametrize("name", SELECTIONS)
def test_selection_of_chunks_gives_what_numpy_gives(name: str) -> None:
    """Also where the number of selected elements is not known before it is computed."""

    def f(x: Any) -> Any:
        chosen = SELECTIONS[name](x)
        return (chosen**2).sum()

    with dask.config.set(scheduler=refuse):
        gradient = gw.grad(f)(in_chunks(VALUES))

    np.testing.assert_allclose(gradient.compute(), gw.grad(f)(VALUES), rtol=1e-9)


def test_sum_at_indices_is_made_chunk_by_chunk() -> None:
    """The transpose of indexing does not gather the array: each chunk takes its own part."""

    def f(x: Any) -> Any:
        return (x[INDICES] ** 2).sum()

    with dask.config.set({"array.chunk-size": "64B"}):
        gradient = gw.grad(f)(in_chunks(VALUES))

    assert gradient.npartitions > 1
    np.testing.assert_allclose(gradient.compute(), gw.grad(f)(VALUES))


def test_unknown_length_that_a_formula_needs_is_an_error_with_a_fix() -> None:
    def f(x: Any) -> Any:
        return (x[x[:, 0] > 0][:2] ** 2).sum()

    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        gw.grad(f)(in_chunks(VALUES))


def test_take_along_axis_which_dask_lacks() -> None:
    order = np.argsort(-VALUES, axis=0)

    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        weights = xp.reshape(xp.arange(24.0), (8, 3))
        return xp.sum(weights * xp.take_along_axis(x, xp.asarray(order), axis=0))

    np.testing.assert_allclose(gw.grad(f)(in_chunks(VALUES)), gw.grad(f)(VALUES))


def test_array_on_the_left_of_an_operator() -> None:
    left = in_chunks(VALUES)

    gradient = gw.grad(fn(lambda x: (left * x).sum()))(in_chunks(VALUES))

    np.testing.assert_array_equal(gradient, VALUES)


def test_a_tracked_value_does_not_become_an_object_array() -> None:
    """`dask.array`'s functions treat any unknown object as a scalar."""
    x = gw.wrap(in_chunks(VALUES), requires_grad=True)

    with pytest.raises(
        gw.errors.TrackedValueError, match=r"dask\.array in .* would take a tracked value"
    ):
        da.add(in_chunks(VALUES), x)
    assert isinstance(np.add(in_chunks(VALUES), x), gw.Variable)


# NumPy's parameters on Dask's data ----------------------------------------------------------------

DATA = np.random.default_rng(0).normal(size=(60, 5))
TARGETS = np.random.default_rng(1).random(60).round()
WEIGHTS = np.random.default_rng(2).normal(size=5)
HIDDEN = np.random.default_rng(3).normal(size=(5, 4))


def lazily(f: Callable[..., Any], *parameters: Any) -> list[Any]:
    """The value and the gradients on Dask's data, built without computing anything."""
    with dask.config.set(scheduler=refuse):
        value, gradients = gw.value_and_grad(f, tuple(range(len(parameters))))(
            *parameters, da.from_array(DATA, chunks=(20, 5)), da.from_array(TARGETS, chunks=20)
        )
    assert all(isinstance(one, da.Array) for one in (value, *gradients))
    return [value, *gradients]


def logistic(w: Any, X: Any, y: Any) -> Any:
    t: Any = X @ w
    return (np.logaddexp(0.0, t) - y * t).mean() + 0.01 * (w * w).sum()


def from_the_left(w: Any, X: Any, y: Any) -> Any:
    xp: Any = np
    return xp.sum((w * X - xp.exp(w)) ** 2) + xp.sum(w @ X.T * y)


def perceptron(V: Any, w: Any, X: Any, y: Any) -> Any:
    xp: Any = np
    return xp.mean((xp.tanh(X @ (1.5 * V)) @ w[:4] - y) ** 2)


ON_DATA: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "logistic": (logistic, (WEIGHTS,)),
    "from the left": (from_the_left, (WEIGHTS,)),
    "perceptron": (perceptron, (HIDDEN, WEIGHTS)),
}


@pytest.mark.parametrize("name", ON_DATA)
def test_gradient_of_numpys_parameters_through_dasks_data(name: str) -> None:
    f, parameters = ON_DATA[name]
    places = tuple(range(len(parameters)))
    value, gradients = gw.value_and_grad(f, places)(*parameters, DATA, TARGETS)

    found = dask.compute(*lazily(f, *parameters))

    np.testing.assert_allclose(found[0], value, rtol=1e-12)
    for one, wanted in zip(found[1:], gradients, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-10, atol=1e-14)


def test_data_that_the_function_encloses_are_met_there() -> None:
    X = da.from_array(DATA, chunks=(20, 5))

    gradient = gw.grad(lambda w: (X @ w).sum())(WEIGHTS)

    assert isinstance(gradient, da.Array)
    np.testing.assert_allclose(gradient.compute(), DATA.sum(axis=0), rtol=1e-12)


def test_second_derivative_and_the_tape_through_dasks_data() -> None:
    X, y = da.from_array(DATA, chunks=(20, 5)), da.from_array(TARGETS, chunks=20)

    def steepness(w: Any, X: Any, y: Any) -> Any:
        return (gw.grad(logistic)(w, X, y) ** 2).sum()

    wanted = gw.grad(steepness)(WEIGHTS, DATA, TARGETS)
    np.testing.assert_allclose(gw.grad(steepness)(WEIGHTS, X, y).compute(), wanted, rtol=1e-9)

    w: Any = gw.wrap(WEIGHTS, requires_grad=True)
    logistic(w, X, y).backward()
    assert isinstance(w.grad, da.Array)
    np.testing.assert_allclose(
        w.grad.compute(), gw.grad(logistic)(WEIGHTS, DATA, TARGETS), rtol=1e-10
    )


def tasks(*values: Any) -> int:
    """The number of tasks of one computation, after Dask's own optimisation."""
    return len({key for one in dask.optimize(*values) for key in one.dask})


def test_value_and_gradient_take_few_more_tasks_than_by_hand() -> None:
    X, y = da.from_array(DATA, chunks=(20, 5)), da.from_array(TARGETS, chunks=20)
    t = X @ WEIGHTS
    value = (np.logaddexp(0.0, t) - y * t).mean() + 0.01 * (WEIGHTS * WEIGHTS).sum()
    gradient = X.T @ ((1.0 / (1.0 + np.exp(-t)) - y) / len(TARGETS)) + 0.02 * WEIGHTS

    assert tasks(*lazily(logistic, WEIGHTS)) <= 1.2 * tasks(value, gradient)


ALONG = np.random.default_rng(4).normal(size=5)
SEVERAL = np.random.default_rng(5).normal(size=(3, 5))
TRANSFORMED: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "jvp": lambda f: gw.jvp(f, (WEIGHTS,), (ALONG,)),
    "jvp of a gradient": lambda f: gw.jvp(gw.grad(f), (WEIGHTS,), (ALONG,)),
    "gradient of a jvp": lambda f: gw.grad(lambda w: gw.jvp(f, (w,), (ALONG,))[1])(WEIGHTS),
    "hvp": lambda f: gw.hvp(f, (WEIGHTS,), (ALONG,)),
    "linearize": lambda f: gw.linearize(gw.grad(f), WEIGHTS)[1](ALONG),
    "vmap": lambda f: gw.vmap(f)(SEVERAL),
    "vmap of a gradient": lambda f: gw.vmap(gw.grad(f))(SEVERAL),
    "gradient of a vmap": lambda f: gw.grad(lambda w: gw.vmap(f)(w).sum())(SEVERAL),
    "hessian": lambda f: gw.hessian(lambda w: f(w.reshape(5)))(WEIGHTS),
    "jacrev of a gradient": lambda f: gw.jacrev(gw.grad(f))(WEIGHTS),
}


def each(found: Any) -> tuple[Any, ...]:
    """What a transform has returned, one or several."""
    several: Any = found
    return several if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("f", [logistic, from_the_left], ids=["logistic", "from the left"])
def test_forward_mode_and_batches_of_numpys_parameters_through_dasks_data(
    name: str, f: Callable[..., Any]
) -> None:
    X, y = da.from_array(DATA, chunks=(20, 5)), da.from_array(TARGETS, chunks=20)

    with dask.config.set(scheduler=refuse):
        found = TRANSFORMED[name](lambda w: f(w, X, y))

    wanted = TRANSFORMED[name](lambda w: f(w, DATA, TARGETS))
    assert all(isinstance(one, da.Array) for one in each(found))
    computed = each(dask.compute(found)[0])
    for one, other in zip(computed, each(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_per_example_gradients_of_dasks_data() -> None:
    def activation(w: Any, r: Any) -> Any:
        return np.tanh(r @ w)

    per_example: Callable[..., Any] = gw.vmap(gw.grad(activation), in_axes=(None, 0))

    found = per_example(WEIGHTS, da.from_array(DATA, chunks=(20, 5)))

    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), per_example(WEIGHTS, DATA), rtol=1e-12)


def test_minimisers_that_take_a_whole_hessian() -> None:
    X, y = da.from_array(DATA, chunks=(20, 5)), da.from_array(TARGETS, chunks=20)

    found = gw.optimize.minimize(logistic, WEIGHTS, (X, y), method="trust-exact")

    wanted = gw.optimize.minimize(logistic, WEIGHTS, (DATA, TARGETS), method="trust-exact")
    assert found.success
    assert isinstance(found.x, np.ndarray)
    np.testing.assert_allclose(found.x, wanted.x, rtol=1e-8)


def where(w: Any, X: Any, y: Any) -> Any:
    xp: Any = np
    return (xp.where(X > 0, w, 2.0 * w) * X).sum() + (xp.where(y > 0.5, w[0], 0.0) ** 2).sum()


def contracted(w: Any, X: Any, y: Any) -> Any:
    xp: Any = np
    return (xp.einsum("ij,j->i", X, w) ** 2).sum() + (xp.tensordot(w, X, axes=(0, 1)) * y).sum()


def joined(w: Any, X: Any, y: Any) -> Any:
    xp: Any = np
    outer = xp.outer(y, w)
    return (xp.concatenate([X, w[None]]) ** 3).sum() + (xp.stack([X, outer]) ** 2).sum()


@pytest.mark.parametrize("f", [where, contracted, joined])
def test_functions_of_numpy_leave_dasks_data_where_they_are(f: Callable[..., Any]) -> None:
    """Whichever of the arguments comes first."""
    found = dask.compute(*lazily(f, WEIGHTS))

    value, gradient = gw.value_and_grad(f)(WEIGHTS, DATA, TARGETS)
    np.testing.assert_allclose(found[0], value, rtol=1e-12)
    np.testing.assert_allclose(found[1], gradient, rtol=1e-10)
