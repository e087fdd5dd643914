"""Deep graphs, linear cost, and memory that goes with the last reference, without the collector."""

from __future__ import annotations

import contextlib
import gc
import sys
import tracemalloc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from counting import allocated, early_and_late, lines
from free_threading import counts_at_once
from gradwrap.errors import GradwrapError
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = counts_at_once
ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([0.3, 1.2, 2.0])


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    """Switch the cyclic garbage collector off: only reference counts free memory."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def clear(x: Any) -> None:
    """Drop a gradient, unseen by type checkers, which would take it for None from here on."""
    x.grad = None


def chain(x: Any, length: int) -> Any:
    for _ in range(length // 2):
        x = np.sin(x)
        x = x * 0.999
    return x


# Deep graphs --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_operation_costs_the_same_forward_and_backward() -> None:
    """The time for 10^6 operations beside that for 10^5 is in `python -m benchmarks.overhead`."""

    def run(length: int) -> None:
        gw.vjp(lambda x: chain(x, length), 0.5)[1](1.0)

    for count in (lines, allocated):
        early, late = early_and_late(count, run, 1_000)
        assert late == pytest.approx(early, rel=0.05)


@pytest.mark.slow
def test_a_million_operations_run_backward_without_recursion() -> None:
    limit = sys.getrecursionlimit()
    blocks = sys.getallocatedblocks()
    out, pull = gw.vjp(lambda x: chain(x, 1_000_000), 0.5)
    assert sys.getallocatedblocks() > blocks + 1_000_000
    assert 0 < pull(1.0)[0] < 1
    assert sys.getrecursionlimit() == limit
    del out, pull  # a graph that is dropped as it stands takes no recursion either
    assert sys.getallocatedblocks() < blocks + 1_000


@pytest.mark.slow
def test_a_million_operations_on_the_tape() -> None:
    blocks = sys.getallocatedblocks()
    x = gw.wrap(np.array(0.5), requires_grad=True)
    y = chain(x, 1_000_000)
    assert sys.getallocatedblocks() > blocks + 1_000_000
    y.backward()
    assert sys.getallocatedblocks() < blocks + 1_000  # while y is still there
    assert x.grad is not None
    expected = gw.grad(lambda x: chain(x, 1_000_000))(0.5)
    assert x.grad == pytest.approx(expected, rel=1e-12)


def test_a_wide_graph() -> None:
    """100,000 uses of one array, and 100,000 terms of one sum."""

    def fun(x: Any) -> Any:
        total = 0.0
        for i in range(100_000):
            total = total + x * i
        return total

    assert gw.grad(fun)(1.0) == sum(range(100_000))


def test_a_deep_graph_of_second_order() -> None:
    second = gw.grad(gw.grad(lambda x: chain(x, 20_000)))
    assert np.isfinite(second(0.5))


# Memory -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_operations_saved_goes_during_backward() -> None:
    """The peak of backward is no higher than that of the forward pass."""
    n, size = 50, 1_000_000
    x = gw.wrap(np.ones(size), requires_grad=True)
    tracemalloc.start()
    y: Any = x
    for _ in range(n):
        y = np.sin(y)
    total = y.sum()
    del y
    forward = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    total.backward()
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    megabytes = 8 * size
    assert forward < (n + 2) * megabytes
    assert peak < forward + 4 * megabytes
    assert after < 2 * megabytes  # the gradient


def test_arrays_go_with_the_graph() -> None:
    kept: list[weakref.ref[Any]] = []

    def fun(x: Any) -> Any:
        for _ in range(5):
            x = np.sin(x)
            kept.append(weakref.ref(x._node))
            kept.append(weakref.ref(x.data))
        return np.sum(x)

    gw.grad(fun)(X)
    assert [reference() for reference in kept] == [None] * 10
    kept.clear()
    out, pull = gw.vjp(fun, X)
    assert any(reference() is not None for reference in kept)
    del out, pull
    assert [reference() for reference in kept] == [None] * 10


def train(steps: int) -> None:
    random = np.random.default_rng(0)
    inputs, targets = random.standard_normal((20, 4)), random.standard_normal((20, 2))
    params = {"w": random.standard_normal((4, 2)), "b": np.zeros(2)}

    def loss(p: Any) -> Any:
        return ANY.mean((np.tanh(inputs @ p["w"] + p["b"]) - targets) ** 2)

    step = gw.value_and_grad(loss)
    tape: Any = gw.wrap(params["w"].copy(), requires_grad=True)
    for _ in range(steps):
        _, gradient = step(params)
        params = {key: params[key] - 0.1 * gradient[key] for key in params}
        clear(tape)
        loss({"w": tape, "b": params["b"]}).backward()
        with gw.no_grad():
            tape -= 0.1 * tape.grad


def test_a_thousand_training_steps_are_flat() -> None:
    train(1_000)  # until the interpreter has specialised its code
    blocks = sys.getallocatedblocks()
    train(1_000)
    assert sys.getallocatedblocks() < blocks + 200


class Doubled(gw.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 2.0 * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2.0 * g + 0.0 * x


def layers(w: Any, inputs: Any) -> Any:
    return np.tanh(np.tanh(inputs @ w) @ w)


def descend(w: Any, loss: Any, **options: Any) -> None:
    clear(w)
    loss.backward(**options)
    with gw.no_grad():
        w -= 0.01 * gw.unwrap(w.grad)


def hooked_step(w: Any, inputs: Any) -> None:
    hidden: Any = np.tanh(inputs @ w)
    values = hidden.data  # a hook of `hidden` that held `hidden` would be a cycle of the user's
    hidden.register_hook(fn(lambda g: np.clip(g, -1.0, 1.0) + 0.0 * values))
    hidden.retain_grad()
    handle = hidden.grad_fn.register_hook(fn(lambda inputs, outputs: None))
    with w.register_hook(fn(lambda g: g * 2.0)):
        descend(w, np.mean(hidden**2))
    handle.remove()


def penalised_step(w: Any, inputs: Any) -> None:
    loss = ANY.mean(layers(w, inputs) ** 2)
    (slope,) = gw.autograd.grad(loss, w, create_graph=True)
    descend(w, loss + np.sum(slope**2))


def in_place_step(w: Any, inputs: Any) -> None:
    hidden: Any = inputs @ w
    hidden[1:] *= hidden[0]
    hidden += 1.0
    descend(w, np.mean(hidden**2))


def transform_step(w: Any, inputs: Any) -> None:
    gradient: Any = gw.grad(lambda w: ANY.mean(layers(w, inputs) ** 2))(w.data)
    w.data = w.data - 0.01 * gradient


def composed_step(w: Any, inputs: Any) -> None:
    def loss(w: Any, row: Any) -> Any:
        return np.sum(layers(w, row) ** 2)

    each = gw.vmap(gw.grad(loss), in_axes=(None, 0))(w.data, inputs)
    _, curvature = gw.jvp(lambda w: gw.grad(loss)(w, inputs), (w.data,), (each[0],))
    w.data = w.data - 0.01 * curvature


def interrupted_step(w: Any, inputs: Any) -> None:
    with contextlib.suppress(ValueError):
        gw.grad(raising)(inputs)
    with contextlib.suppress(GradwrapError):
        layers(w, inputs).backward()
    descend(w, np.mean(layers(w, inputs) ** 2))


STEPS: dict[str, Callable[[Any, Any], None]] = {
    "tape": lambda w, x: descend(w, np.mean(layers(w, x) ** 2)),
    "a retained graph": lambda w, x: descend(w, np.mean(layers(w, x) ** 2), retain_graph=True),
    "create_graph": lambda w, x: descend(w, np.mean(layers(w, x) ** 2), create_graph=True),
    "a gradient penalty": penalised_step,
    "hooks": hooked_step,
    "in place": in_place_step,
    "checkpoint": lambda w, x: descend(w, np.mean(gw.checkpoint(layers)(w, x) ** 2)),
    "Function": lambda w, x: descend(w, np.mean(Doubled.apply(layers(w, x)) ** 2)),
    "transform": transform_step,
    "composed transforms": composed_step,
    "errors": interrupted_step,
}


ARRAYS = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)


def in_use() -> tuple[int, int]:
    """Count the objects there are, and the bytes that their arrays hold."""
    assert gc.collect() == 0  # no cycle waited for it; it frees what Python keeps to use again
    blocks = sys.getallocatedblocks()
    traces = tracemalloc.take_snapshot().filter_traces([ARRAYS]).traces
    return blocks, sum(trace.size for trace in traces)


@pytest.mark.parametrize("name", STEPS)
def test_memory_is_flat_over_many_steps(name: str) -> None:
    count = 1_000 if name in {"tape", "transform"} else 200
    random = np.random.default_rng(0)
    w = gw.wrap(random.standard_normal((8, 8)), requires_grad=True)
    inputs = random.standard_normal((20, 8))
    step = STEPS[name]
    tracemalloc.start()
    try:
        for _ in range(50):
            step(w, inputs)
        blocks, arrays = in_use()
        for _ in range(count):
            step(w, inputs)
        more_blocks, more_arrays = in_use()
    finally:
        tracemalloc.stop()
    assert more_blocks < blocks + count  # not one object for each step
    assert more_arrays < arrays + inputs.nbytes


# No cycles ----------------------------------------------------------------------------------------


def raising(x: Any) -> Any:
    y = np.sin(x) * x
    raise ValueError(str(y.shape))


def on_the_tape(*, create_graph: bool, twice: bool = False) -> None:
    x = gw.wrap(X, requires_grad=True)
    np.sum(x**3).backward(create_graph=create_graph)
    if twice:
        gradient: Any = x.grad
        clear(x)
        gradient.sum().backward()
    # the gradient of create_graph leads back to x: PyTorch has a cycle here


def in_place(x: Any) -> Any:
    y = x * 1.0
    y.reshape(3, 1)[0] = 2.0
    y[1:] *= y[0]
    return np.sum(y)


def with_a_primitive(x: Any) -> Any:
    @gw.primitive
    def double(x: Any) -> Any:
        return 2 * x

    gw.defvjp(double, lambda xp, g: 2 * g)
    return np.sum(double(x))


@gw.no_grad()
def generator() -> Iterator[int]:
    yield 1
    yield 2


CALLS: dict[str, Callable[[], object]] = {
    "grad": lambda: gw.grad(lambda x: np.sum(np.sin(x) * x[0]))(X),
    "nested": lambda: gw.grad(lambda x: np.sum(gw.grad(lambda y: np.sum(y**3))(x)))(X),
    "pytree": lambda: gw.grad(lambda p: np.sum(p["a"] * p["b"][0]))({"a": X, "b": [X, None]}),
    "aux": lambda: gw.value_and_grad(lambda x: (x[0], {"a": x}), has_aux=True)(X),
    "vjp": lambda: gw.vjp(np.sin, X)[1](X),
    "vjp not called": lambda: gw.vjp(np.sin, X),
    "elementwise": lambda: gw.elementwise_grad(np.sin)(X),
    "several outputs": lambda: gw.grad(lambda x: sum(np.linalg.slogdet(x)))(np.eye(2)),
    "in place": lambda: gw.grad(in_place)(X),
    "primitive": lambda: gw.grad(with_a_primitive)(X),
    "tape": lambda: on_the_tape(create_graph=False),
    "create_graph": lambda: on_the_tape(create_graph=True),
    "create_graph, twice": lambda: on_the_tape(create_graph=True, twice=True),
    "graph not used": lambda: np.sum(gw.wrap(X, requires_grad=True) ** 2),
    "exception inside": lambda: gw.grad(raising)(X),
    "exception inside two levels": lambda: gw.grad(gw.grad(raising))(X),
    "not a scalar": lambda: gw.grad(lambda x: x * 2)(X),
    "not a float": lambda: gw.grad(np.sum)(np.array([1])),
    "bad argnums": lambda: gw.grad(np.sum, 5)(X),
    "no rule": lambda: gw.grad(lambda x: np.sum(ANY.i0(x)))(X),
    "freed": lambda: [y.backward() for y in [np.sum(gw.wrap(X, requires_grad=True))] * 2],
    "check_grads": lambda: gw.testing.check_grads(np.sin, [X]),
    "generator": lambda: list(generator()),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_reference_cycles(name: str) -> None:
    def call() -> None:
        with contextlib.suppress(GradwrapError, ValueError):
            CALLS[name]()

    call()  # what is made once: bindings, classes
    gc.collect()
    for _ in range(3):
        call()
    assert gc.collect() == 0


def test_a_chain_of_changing_shapes_keeps_one_description_of_each() -> None:
    metas: list[Any] = []

    def chain(x: Any) -> Any:
        for _ in range(5):
            metas.append(x._node.meta)
            x = np.concatenate([x[1:], x[:1]])
        return np.sum(x * x)

    gw.grad(chain)(np.arange(4.0))
    assert len({id(meta) for meta in metas[1:]}) == 1
