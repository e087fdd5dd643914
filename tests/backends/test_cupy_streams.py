"""Backward on the streams and devices of forward, with stand-ins that note who waits for whom."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.graph.node import Node
from gradwrap.core.observing.places import PlacedNode, placers
from hosted_cupy import has_gpu, hosted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hosted_cupy.counts import Counts

cupy: Any = pytest.importorskip("cupy")
pytestmark = pytest.mark.skipif(has_gpu(), reason="the double keeps a log; a GPU does not")


@pytest.fixture(autouse=True)
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        cupy.cuda.Stream.null.log.clear()
        yield counted


@pytest.fixture
def several() -> Iterator[Counts]:
    with hosted(device_count=3) as counted:
        yield counted


def array(*values: float) -> Any:
    return cupy.asarray(values)


def waits(stream: Any) -> list[Any]:
    """The streams that a stream has waited for, in order."""
    return [event.stream for word, event, _ in stream.log if word == "wait"]


def spy(seen: list[Any]) -> Callable[[Any], Any]:
    """An operation whose formula notes the stream and the device it runs on."""

    @gw.primitive
    def op(x: Any) -> Any:
        return x * 1.0

    def formula(xp: Any, g: Any, x: Any) -> Any:
        seen.append((cupy.cuda.get_current_stream(), cupy.cuda.Device().id))
        return g * 1.0

    gw.defvjp(op, formula)
    return op


def test_on_the_default_stream_nothing_is_kept(counts: Counts) -> None:
    x = gw.wrap(array(1.0, 2.0), requires_grad=True)
    y: Any = (x * x).sum()
    assert type(y._node) is Node
    assert placers["cupy"].placement() is None

    y.backward()

    assert cupy.cuda.Stream.null.log == []
    assert counts.synchronisations == []


def test_backward_runs_on_the_stream_of_forward(counts: Counts) -> None:
    seen: list[Any] = []
    op = spy(seen)
    other = cupy.cuda.Stream()
    x = gw.wrap(array(1.0, 2.0), requires_grad=True)
    with other:
        y = op(x)
        assert type(y._node) is PlacedNode
    loss = y.sum()

    loss.backward()

    assert seen == [(other, 0)]
    assert cupy.cuda.get_current_stream() == cupy.cuda.Stream.null
    assert counts.synchronisations == []
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.get(), [1.0, 1.0])


def test_each_stream_waits_for_the_one_before_and_the_callers_for_the_last() -> None:
    first, second, third = (cupy.cuda.Stream() for _ in range(3))
    seen: list[Any] = []
    op = spy(seen)
    x = gw.wrap(array(1.0, 2.0), requires_grad=True)
    with first:
        y = op(op(x))
    with second:
        z = op(y)
    with third:
        loss = z.sum()

    loss.backward()

    assert [stream for stream, _ in seen] == [second, first, first]
    null = cupy.cuda.Stream.null
    assert waits(third) == [null, first]  # before its node, and at the end
    assert waits(second) == [third, first]
    assert waits(first) == [second]  # two nodes, one wait
    assert waits(null) == [first]


def test_backward_on_another_stream_than_the_default_goes_back_to_it() -> None:
    """A node that was recorded on the default stream runs there, wherever backward is called."""
    seen: list[Any] = []
    op, caller = spy(seen), cupy.cuda.Stream()
    null = cupy.cuda.Stream.null
    x = gw.wrap(array(1.0, 2.0), requires_grad=True)
    y = op(x).sum()

    with caller:
        y.backward()
        assert cupy.cuda.get_current_stream() is caller

    assert seen == [(null, 0)]
    assert waits(null) == [caller]
    assert waits(caller) == [null]


def test_transforms_keep_streams_too() -> None:
    seen: list[Any] = []
    op, stream = spy(seen), cupy.cuda.Stream()

    def f(x: Any) -> Any:
        with stream:
            y = op(x)
        return (y * y).sum()

    gradient = gw.grad(f)(array(1.0, 2.0))

    assert seen == [(stream, 0)]
    np.testing.assert_array_equal(gradient.get(), [2.0, 4.0])


def test_hooks_run_on_the_stream_of_their_node() -> None:
    stream, seen = cupy.cuda.Stream(), list[Any]()
    x = gw.wrap(array(1.0, 2.0), requires_grad=True)
    with stream:
        y = x * 2.0
        y.register_hook(lambda g: seen.append(cupy.cuda.get_current_stream()))

    y.sum().backward()

    assert seen == [stream]


def test_streams_are_as_before_when_a_formula_raises() -> None:
    @gw.primitive
    def broken(x: Any) -> Any:
        return x * 1.0

    def formula(xp: Any, g: Any) -> Any:
        raise ArithmeticError("of the formula")

    gw.defvjp(broken, formula)
    with cupy.cuda.Stream():
        y = broken(gw.wrap(array(1.0), requires_grad=True)).sum()

    with pytest.raises(ArithmeticError):
        y.backward()

    assert cupy.cuda.get_current_stream() == cupy.cuda.Stream.null


def test_second_order_across_streams_is_as_on_one() -> None:
    stream = cupy.cuda.Stream()

    def f(x: Any) -> Any:
        y = x**3
        with stream:
            return (y * y).sum()

    x = array(0.5, 2.0)
    found = gw.grad(lambda x: (gw.grad(f)(x) * x).sum())(x)

    np.testing.assert_allclose(found.get(), 36.0 * np.array([0.5, 2.0]) ** 5)


def test_numpys_nodes_are_as_they_are() -> None:
    gw.wrap(array(1.0))
    assert "numpy" not in placers
    with cupy.cuda.Stream():
        y: Any = gw.wrap(np.ones(2), requires_grad=True) * 2.0

        assert type(y._node) is Node
        y.sum().backward()


# Several devices ----------------------------------------------------------------------------------


def on(device: int, *values: float) -> Any:
    with cupy.cuda.Device(device):
        return array(*values)


@pytest.mark.usefixtures("several")
def test_an_operation_runs_on_the_device_of_its_arrays() -> None:
    x = on(1, 1.0, 2.0)

    y = gw.wrap(x) * 3.0 + gw.wrap(x)

    assert y.data.device.id == 1
    assert cupy.cuda.Device().id == 0
    np.testing.assert_array_equal(y.data.get(), [4.0, 8.0])


@pytest.mark.usefixtures("several")
def test_on_one_device_of_several_nothing_is_kept() -> None:
    with cupy.cuda.Device(1):
        y: Any = (gw.wrap(array(1.0, 2.0), requires_grad=True) ** 2).sum()
        assert type(y._node) is Node
        assert placers["cupy"].placement() is None
    assert placers["cupy"].placement() is not None

    y.backward()  # on the other device, from the current one


@pytest.mark.usefixtures("several")
def test_gradients_are_on_the_device_of_their_arguments() -> None:
    def f(x: Any, w: Any) -> Any:
        xp = x.__array_namespace__()
        hidden = xp.tanh(x * w)
        moved = hidden.to_device(cupy.cuda.Device(2))
        return (moved * moved).sum() + (x * x).sum().to_device(cupy.cuda.Device(2))

    values, weights = np.array([0.5, 2.0]), np.array([1.5, -1.0])
    t = np.tanh(values * weights)
    slope = 2 * t * (1 - t * t)

    for_x, for_w = gw.grad(f, argnums=(0, 1))(on(1, *values), on(1, *weights))

    assert (for_x.device.id, for_w.device.id) == (1, 1)
    assert cupy.cuda.Device().id == 0
    np.testing.assert_allclose(for_x.get(), slope * weights + 2 * values)
    np.testing.assert_allclose(for_w.get(), slope * values)


@pytest.mark.usefixtures("several")
def test_a_move_waits_on_the_devices_for_what_it_moves(several: Counts) -> None:
    seen: list[Any] = []
    op = spy(seen)
    x = gw.wrap(on(1, 1.0, 2.0), requires_grad=True)

    y = op(x).to_device(cupy.cuda.Device(2))
    op(y).sum().backward()

    assert [device for _, device in seen] == [2, 1]
    assert x.grad is not None
    assert x.grad.device.id == 1
    assert several.synchronisations == []
    assert several.launches.count("copy between devices") == 2


@pytest.mark.usefixtures("several")
def test_default_streams_of_two_devices_wait_for_each_other() -> None:
    """They are one object, which stands for that of the current device."""
    null = cupy.cuda.Stream.null
    x = gw.wrap(on(1, 1.0, 2.0), requires_grad=True)
    y = (x * x).to_device(cupy.cuda.Device(2))
    loss = (y * y).sum()
    null.log.clear()

    loss.backward()

    recorded: dict[Any, int] = {}
    waited: list[tuple[int, int]] = []
    for word, event, device in null.log:
        if word == "record":
            recorded[event] = device
        else:
            waited.append((device, recorded[event]))
    assert all(waiting != done for waiting, done in waited)
    assert waited[0] == (2, 0)  # the caller is on device 0, the newest node on 2
    assert (1, 2) in waited
    assert waited[-1][0] in (0, 2)
    assert cupy.cuda.Device().id == 0


@pytest.mark.usefixtures("several")
def test_a_cotangent_that_is_no_block_of_memory_is_moved() -> None:
    """A sum's gradient is one element, repeated; CuPy does not copy such arrays between devices."""

    def f(x: Any) -> Any:
        moved = (x * x).to_device(cupy.cuda.Device(2))
        return moved.sum()

    gradient = gw.grad(f)(on(1, 1.0, 2.0))

    assert gradient.device.id == 1
    np.testing.assert_array_equal(gradient.get(), [2.0, 4.0])


@pytest.mark.usefixtures("several")
def test_streams_of_other_devices_are_used_there() -> None:
    with cupy.cuda.Device(1):
        stream = cupy.cuda.Stream()
    x = gw.wrap(on(1, 1.0, 2.0), requires_grad=True)
    with cupy.cuda.Device(1), stream:
        y = (x * x).sum()

    y.backward()

    assert waits(stream) == [cupy.cuda.Stream.null]
    assert cupy.cuda.get_current_stream(1) == cupy.cuda.Stream.null
    assert cupy.cuda.Device().id == 0


@pytest.mark.usefixtures("several")
def test_arrays_of_two_devices_in_one_operation_are_an_error() -> None:
    x, y = gw.wrap(on(1, 1.0)), gw.wrap(on(2, 1.0))

    with pytest.raises(gw.errors.MixedDevicesError, match=r"devices 1 and 2. Fix: .*to_device"):
        operator.add(x, y)


@pytest.mark.usefixtures("several")
def test_arrays_are_made_on_the_device_that_is_asked_for() -> None:
    xp = gw.wrap(array(1.0)).__array_namespace__()
    device = cupy.cuda.Device(2)

    made = [
        xp.zeros(3, device=device),
        xp.ones((2, 2), device=device),
        xp.full(3, 1.5, device=device),
        xp.arange(3, device=device),
        xp.linspace(0.0, 1.0, 3, device=device),
        xp.eye(2, device=device),
        xp.empty(2, device=device),
        xp.asarray([1.0, 2.0], device=device),
        xp.fft.fftfreq(4, device=device),
        xp.zeros_like(gw.wrap(on(2, 1.0))),
    ]

    assert [one.data.device.id for one in made] == [2] * len(made)
    assert cupy.cuda.Device().id == 0


@pytest.mark.usefixtures("several")
def test_every_kind_of_operation_takes_its_arrays_device() -> None:
    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        joined = xp.concat([x, xp.flip(x)])
        picked = joined[xp.asarray([0, 0, 3], device=x.device)]
        grid = xp.reshape(joined, (2, -1)) @ xp.reshape(joined, (-1, 2))
        return xp.sum(grid) + xp.max(picked) + xp.linalg.vector_norm(x) + xp.std(x)

    values = np.array([1.0, 3.0])

    gradient = gw.grad(f)(on(2, *values))

    assert gradient.device.id == 2
    np.testing.assert_allclose(gradient.get(), gw.grad(f)(values), rtol=1e-12)


def test_without_a_driver_there_is_no_device() -> None:
    from gradwrap.backends.cupy.streams import device_count

    with pytest.MonkeyPatch.context() as patch:

        def fails() -> int:
            raise cupy.cuda.runtime.CUDARuntimeError(35)

        patch.setattr(cupy.cuda.runtime, "getDeviceCount", fails)

        assert device_count() == 0
