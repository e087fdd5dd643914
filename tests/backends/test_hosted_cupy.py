"""The double of CuPy that runs on the host: it refuses, and waits, where CuPy does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hosted_cupy import has_gpu, hosted
from lambdas import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hosted_cupy.counts import Counts

cupy: Any = pytest.importorskip("cupy")
pytestmark = pytest.mark.skipif(has_gpu(), reason="there is a GPU: no double is needed")


@pytest.fixture(autouse=True)
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        yield counted


def array(*values: float) -> Any:
    return cupy.asarray(values)


def test_arrays_are_cupys_own_and_their_numbers_numpys() -> None:
    x = array(1.0, 2.0, 3.0)

    y = cupy.exp(x) * 2.0 + x[::-1]

    assert type(y) is cupy.ndarray
    np.testing.assert_array_equal(y.get(), np.exp([1.0, 2.0, 3.0]) * 2.0 + [3.0, 2.0, 1.0])


def test_reductions_give_arrays_without_axes() -> None:
    total = array(1.0, 2.0).sum()

    assert type(total) is cupy.ndarray
    assert total.shape == ()


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda x, a: x + a,
            lambda x, a: a * x,
            lambda x, a: cupy.maximum(x, a),
            lambda x, a: cupy.concatenate([x, a]),
            lambda x, a: cupy.add([1.0, 2.0], x),
            lambda x, a: np.asarray(x),
            lambda x, a: x.__setitem__(slice(None), a),
        ]
    ),
    ids=["add", "mul", "maximum", "concatenate", "list", "asarray", "write"],
)
def test_numpys_arrays_are_not_mixed_with_cupys(call: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"Unsupported type|Implicit|cannot be used"):
        call(array(1.0, 2.0), np.ones(2))


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda x: float(x[0]),
            lambda x: int(x[0]),
            lambda x: bool(x[0] > 1),
            lambda x: x[0].item(),
            lambda x: x.get(),
            lambda x: x.tolist(),
            cupy.asnumpy,
            cupy.nonzero,
            cupy.unique,
            lambda x: x[x > 1],
            lambda x: x.__setitem__(x > 1, 0.0),
            lambda x: "if" if (x > 1).any() else "else",
            str,
        ]
    ),
)
def test_the_host_waits_where_it_asks_for_values(call: Any, counts: Counts) -> None:
    x = array(1.0, 2.0)
    counts.reset()

    call(x)

    assert len(counts.synchronisations) == 1


def test_repeat_waits_for_each_number_of_repetitions(counts: Counts) -> None:
    x = array(1.0, 2.0)
    counts.reset()

    cupy.repeat(x, cupy.asarray([1, 2]))

    assert len(counts.synchronisations) == 2


def test_nothing_else_waits_and_each_kernel_is_one_launch(counts: Counts) -> None:
    x, w = array(1.0, 2.0), cupy.eye(2)
    counts.reset()

    y = cupy.where(x > 1, cupy.tanh(w @ x), 0.0).sum()
    x[0] = 5.0
    x[cupy.arange(1)] += y

    assert counts.synchronisations == []
    assert counts.launches == [
        *("cupy_greater", "matmul", "cupy_tanh", "cupy_where", "cupy_sum", "cupy_fill"),
        *("cupy_arange", "cupy_take", "cupy_add", "cupy_scatter_update"),
    ]


def test_memory_is_counted_while_it_is_in_use(counts: Counts) -> None:
    before = counts.live

    x = cupy.zeros(1000)
    view = x[10:]
    del x
    assert counts.live == before + 8000
    del view

    assert counts.live == before
    assert counts.peak >= before + 8000


def test_an_elementwise_kernel_of_the_user_runs_its_own_code() -> None:
    kernel = cupy.ElementwiseKernel(
        "T x, T y, float64 a", "T z", "T d = x - y; z = a * d * d", "squared_difference"
    )

    found = kernel(array(1.0, 2.0), cupy.ones((3, 1)), 2.0)

    np.testing.assert_array_equal(found.get(), [[0.0, 2.0]] * 3)
    assert kernel(array(1.0).astype("f"), array(3.0).astype("f"), 1.0).dtype == np.float32


def test_scatter_add_adds_as_often_as_a_place_is_named() -> None:
    x = cupy.zeros((2, 3))

    cupy.add.at(x, (slice(None), cupy.asarray([2, 0, 2])), cupy.ones((2, 3)))

    np.testing.assert_array_equal(x.get(), [[1.0, 0.0, 2.0]] * 2)
    with pytest.raises(TypeError, match="only supports"):
        cupy.add.at(x.astype("D"), cupy.asarray([0]), 1.0)


def test_an_array_of_another_device_is_refused() -> None:
    x = array(1.0)
    with cupy.cuda.Device(1):
        y = array(1.0)
        assert y.device.id == 1
        np.testing.assert_array_equal((y + y).get(), [2.0])

    with pytest.raises(ValueError, match="different from the current device"):
        cupy.add(x, y)


def test_streams_keep_who_waits_for_whom() -> None:
    first, second = cupy.cuda.Stream(), cupy.cuda.Stream()

    with first:
        assert cupy.cuda.get_current_stream() is first
        event = first.record()
    second.wait_event(event)

    assert cupy.cuda.get_current_stream() == cupy.cuda.Stream.null
    assert second.log == [("wait", event, 0)]


def test_a_tracked_value_reaches_nothing_that_no_protocol_reaches() -> None:
    import gradwrap as gw

    v = gw.wrap(array(1.0, 2.0), requires_grad=True)

    with pytest.raises((TypeError, ValueError)):
        cupy.concatenate([v, v])
    with pytest.raises(TypeError):
        cupy.matmul(v, v)
    with pytest.raises((TypeError, ValueError)):
        cupy.asarray(v)


def what_is_exchanged() -> Any:
    return cupy.ndarray.__dict__.copy(), cupy.concatenate.__code__, cupy.cuda.Device


def test_cupy_is_as_before_afterwards() -> None:
    before = what_is_exchanged()

    with hosted():
        assert cupy.zeros(1).sum().item() == 0.0

    assert what_is_exchanged() == before
