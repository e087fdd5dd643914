"""`sgd`, `rmsprop` and `adam`: their steps by formula and against peers, over containers."""

from __future__ import annotations

import pickle
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
import gradwrap.optimize
from gradwrap.errors import NonScalarOutputError, NotAnArrayError, PytreeError

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
opt: Any = gradwrap.optimize
LOOPS = [opt.sgd, opt.rmsprop, opt.adam]
loops = pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
START: dict[str, Any] = {"w": np.array([1.0, -2.0]), "b": 0.5, "flag": True, "name": "line"}


def bowl(p: Any) -> Any:
    return np.sum(np.array([1.0, 3.0]) * p["w"] ** 2) + (p["b"] - 1.0) ** 2


def slope(w: Any) -> Any:
    return np.array([2.0, 6.0]) * w


def test_sgd_takes_the_steps_of_its_formula() -> None:
    w, v = START["w"], np.zeros(2)
    for _ in range(5):
        v = 0.9 * v + slope(w)
        w = w - 0.05 * v
    found = opt.sgd(bowl, START, steps=5, learning_rate=0.05, momentum=0.9)
    np.testing.assert_allclose(found.x["w"], w, rtol=1e-14)


def test_rmsprop_takes_the_steps_of_its_formula() -> None:
    w, s = START["w"], np.zeros(2)
    for _ in range(5):
        s = 0.8 * s + 0.2 * slope(w) ** 2
        w = w - 0.05 * slope(w) / (np.sqrt(s) + 1e-6)
    found = opt.rmsprop(bowl, START, steps=5, learning_rate=0.05, decay=0.8, eps=1e-6)
    np.testing.assert_allclose(found.x["w"], w, rtol=1e-14)


def test_adam_takes_the_steps_of_its_formula() -> None:
    w, m, v = START["w"], np.zeros(2), np.zeros(2)
    for t in range(1, 6):
        m = 0.7 * m + 0.3 * slope(w)
        v = 0.9 * v + 0.1 * slope(w) ** 2
        step = (m / (1 - 0.7**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-8)
        w = w - 0.05 * step - 0.05 * 0.1 * w
    found = opt.adam(bowl, START, steps=5, learning_rate=0.05, b1=0.7, b2=0.9, weight_decay=0.1)
    np.testing.assert_allclose(found.x["w"], w, rtol=1e-14)


@pytest.mark.peers
@pytest.mark.parametrize(
    ("loop", "peer", "words", "theirs"),
    [
        (opt.sgd, "SGD", {"momentum": 0.9}, {"momentum": 0.9}),
        (opt.rmsprop, "RMSprop", {"decay": 0.95}, {"alpha": 0.95}),
        (opt.adam, "Adam", {"b1": 0.8, "b2": 0.99}, {"betas": (0.8, 0.99)}),
        (opt.adam, "AdamW", {"weight_decay": 0.2}, {"weight_decay": 0.2}),
    ],
)
def test_they_take_the_steps_of_pytorch(loop: Any, peer: str, words: Any, theirs: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    start = np.array([1.0, -2.0, 0.3])
    scale = np.array([1.0, 5.0, 0.1])
    found = loop(lambda x: np.sum(scale * x**2), start, steps=25, learning_rate=0.02, **words).x
    x = torch.tensor(start, requires_grad=True)
    optimizer = getattr(torch.optim, peer)([x], lr=0.02, **theirs)
    for _ in range(25):
        optimizer.zero_grad()
        (torch.tensor(scale) * x**2).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(found, x.detach().numpy(), rtol=1e-10)


@loops
def test_containers_keep_their_form(loop: Any) -> None:
    found = loop(bowl, START, steps=3)
    assert isinstance(found, opt.Descent)
    assert (found.x["flag"], found.x["name"], found.nit) == (True, "line", 3)
    assert found.jac["flag"] is None
    assert type(found.x["b"]) is np.float64
    np.testing.assert_array_equal(START["w"], [1.0, -2.0])


@loops
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_dtypes_stay(loop: Any, dtype: Any) -> None:
    start = [np.ones(2, dtype), np.ones((), dtype), dtype(1.0)]
    found = loop(lambda p: sum(np.sum(np.abs(part) ** 2) for part in p), start, steps=4).x
    assert [part.dtype for part in found] == [np.dtype(dtype)] * 3
    assert [type(part) for part in found] == [np.ndarray, np.ndarray, dtype]
    assert all(np.all(np.abs(part) < 1.0) for part in found)


@loops
def test_complex_numbers_descend(loop: Any) -> None:
    found = loop(
        lambda z: np.sum(np.abs(z - (1 + 2j)) ** 2), np.zeros(2, complex), steps=2000,
        learning_rate=0.01,
    ).x  # fmt: skip
    np.testing.assert_allclose(found, 1 + 2j, atol=0.02)


@loops
def test_arrays_of_other_libraries_stay(loop: Any) -> None:
    def total(x: Any) -> Any:
        return x.__array_namespace__().sum((x - 1.0) ** 2)

    found = loop(total, strict.zeros(2, dtype=strict.float32), steps=5, progress=True)
    assert type(found.x) is type(strict.zeros(1))
    assert found.x.dtype == strict.float32


def test_batches_are_more_arguments() -> None:
    seen: list[Any] = []

    def loss(x: Any, row: Any, weight: Any, scale: Any) -> Any:
        seen.append(row.data)
        return scale * weight * np.sum((x - row) ** 2)

    rows = np.arange(6.0).reshape(3, 2)
    found = opt.sgd(loss, np.zeros(2), (0.5,), batches=((row, 2.0) for row in rows))
    assert found.nit == 3
    np.testing.assert_array_equal(seen, rows)
    one = opt.sgd(lambda x, row: np.sum(x * row), np.zeros(2), batches=rows, steps=2)
    assert one.nit == 2
    np.testing.assert_allclose(one.x, -0.01 * (rows[0] + rows[1]))


def test_a_schedule_gives_the_rate_of_each_step() -> None:
    steps: list[int] = []

    def rate(step: int) -> float:
        steps.append(step)
        return 1.0 / (step + 1)

    found = opt.sgd(np.sum, np.zeros(1), steps=3, learning_rate=rate)
    np.testing.assert_allclose(found.x, -(1 + 1 / 2 + 1 / 3))
    assert steps == [0, 1, 2]


@loops
def test_callbacks_see_each_state_and_can_stop(loop: Any) -> None:
    seen: list[Any] = []
    loop(bowl, START, steps=3, callback=seen.append)
    assert [set(one) for one in seen] == [set(START)] * 3
    states: list[Any] = []

    def stop(intermediate_result: Any) -> None:
        states.append(intermediate_result)
        if intermediate_result.nit == 2:
            raise StopIteration

    found = loop(bowl, START, callback=stop)
    assert found.nit == 2
    assert states[-1] is found
    assert states[0].fun == bowl(START)
    np.testing.assert_array_equal(states[0].jac["w"], slope(START["w"]))


def test_no_step_gives_the_start() -> None:
    found = opt.adam(bowl, START, steps=0)
    np.testing.assert_array_equal(found.x["w"], START["w"])
    assert found.x["w"] is not START["w"]
    assert (found.jac, found.nit) == (None, 0)
    assert np.isnan(found.fun)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"learning_rate=-1\. Fix: give a positive number"):
        opt.sgd(bowl, START, learning_rate=-1)
    with pytest.raises(ValueError, match=r"momentum=1\.5\. Fix: give a number from 0"):
        opt.sgd(bowl, START, momentum=1.5)
    with pytest.raises(ValueError, match="b2=1"):
        opt.adam(bowl, START, b2=1)
    with pytest.raises(ValueError, match=r"decay=-0\.1"):
        opt.rmsprop(bowl, START, decay=-0.1)
    with pytest.raises(ValueError, match="steps=-1"):
        opt.adam(bowl, START, steps=-1)
    with pytest.raises(NotAnArrayError, match="x0 holds no floating-point array"):
        opt.adam(bowl, {"flag": True})
    with pytest.raises(NonScalarOutputError, match="scalar"):
        opt.adam(lambda x: x, np.zeros(2))


# Stopping, saving, going on -----------------------------------------------------------------------


@loops
def test_a_run_that_is_saved_and_resumed_takes_the_same_steps(loop: Any) -> None:
    words: dict[str, Any] = {"learning_rate": lambda step: 0.05 / (1.0 + step)}
    if loop is opt.sgd:
        words["momentum"] = 0.9
    whole = loop(bowl, START, steps=9, **words)
    part = loop(bowl, START, steps=4, **words)
    saved = pickle.loads(pickle.dumps((part.x, part.state)))  # noqa: S301  just made
    rest = loop(bowl, saved[0], steps=5, state=saved[1], **words)
    np.testing.assert_array_equal(rest.x["w"], whole.x["w"])
    assert rest.x["b"] == whole.x["b"]
    assert (rest.nit, rest.state["step"], whole.state["step"]) == (5, 9, 9)


def test_a_loop_of_ones_own_takes_one_step_at_a_time() -> None:
    x, state = np.array([1.0, -2.0]), None
    for _ in range(6):
        found = opt.adam(lambda x: np.sum(x**2), x, steps=1, learning_rate=0.1, state=state)
        x, state = found.x, found.state
    wanted = opt.adam(lambda x: np.sum(x**2), np.array([1.0, -2.0]), steps=6, learning_rate=0.1).x
    np.testing.assert_array_equal(x, wanted)


def test_the_state_of_another_method_or_container_is_refused() -> None:
    state = opt.sgd(bowl, START, steps=1, momentum=0.5).state
    with pytest.raises(ValueError, match=r"state= of adam is one of sgd\. Fix: pass the \.state"):
        opt.adam(bowl, START, steps=1, state=state)
    with pytest.raises(ValueError, match="state= of adam is none"):
        opt.adam(bowl, START, steps=1, state={"mean": 1.0})
    with pytest.raises(PytreeError, match=r"state\['velocity'\] of sgd has another structure"):
        opt.sgd(lambda x: x**2, 1.0, steps=1, state=state)


# Batches ------------------------------------------------------------------------------------------


def test_each_epoch_has_every_row_once() -> None:
    x, y = np.arange(10.0), {"label": np.arange(10)}
    found = list(opt.minibatches(x, y, size=4, epochs=2, rng=0))
    assert [len(rows) for rows, _ in found] == [4, 4, 2] * 2
    for epoch in (found[:3], found[3:]):
        assert sorted(np.concatenate([rows for rows, _ in epoch])) == list(x)
    for rows, labels in found:
        np.testing.assert_array_equal(rows, labels["label"])
    again = list(opt.minibatches(x, y, size=4, epochs=2, rng=np.random.default_rng(0)))
    for (a, _), (b, _) in zip(found, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [len(rows) for (rows,) in opt.minibatches(x, size=4, drop_last=True)] == [4, 4]


def test_batches_stay_in_their_library() -> None:
    x = strict.reshape(strict.arange(6.0), (3, 2))
    (first,) = next(opt.minibatches(x, size=2, shuffle=False, epochs=None))
    assert type(first) is type(x)
    np.testing.assert_array_equal(np.asarray(first), [[0, 1], [2, 3]])


def test_lists_of_a_data_loader_are_arguments() -> None:
    x = np.linspace(-1.0, 1.0, 8)
    loader = [[x[:4], 3.0 * x[:4]], [x[4:], 3.0 * x[4:]]] * 100
    found = opt.sgd(lambda w, x, y: np.mean((w * x - y) ** 2), 0, batches=loader, learning_rate=0.3)
    assert found.x == pytest.approx(3.0)


def test_data_without_rows_are_refused() -> None:
    with pytest.raises(ValueError, match=r"different numbers of rows: data\[0\] 3, data\[1\] 2"):
        opt.minibatches(np.ones(3), np.ones(2), size=1)
    with pytest.raises(NotAnArrayError, match=r"data\[1\] of minibatches is .*no rows"):
        opt.minibatches(np.ones(3), 2.0, size=1)
    with pytest.raises(NotAnArrayError, match="no data"):
        opt.minibatches(size=1)
    with pytest.raises(ValueError, match="size=0"):
        opt.minibatches(np.ones(3), size=0)
