"""CuPy's arrays go in and come out, on the GPU where there is one, else on the double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.library.backend import backend_of
from hosted_cupy import device_params, on_device
from lambdas import is_a

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

cupy: Any = pytest.importorskip("cupy")


@pytest.fixture(autouse=True, params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Run on the double, and give its counts, or on a GPU, and give None."""
    with on_device(request.param) as counted:
        yield counted


@pytest.fixture
def counted(counts: Any) -> Any:
    if counts is None:
        pytest.skip("the double counts; a GPU does not tell")
    return counts


def array(*values: Any, dtype: str = "float64") -> Any:
    return cupy.asarray(np.array(values, dtype=dtype))


def compare(f: Callable[[Any], Any], values: Any, rtol: float = 1e-12) -> Any:
    """Return the gradient on CuPy, after comparing it with NumPy's."""
    wanted = gw.grad(f)(values)
    found = gw.grad(f)(cupy.asarray(values))
    assert type(found) is cupy.ndarray
    assert found.dtype == values.dtype
    assert found.shape == values.shape
    np.testing.assert_allclose(found.get(), wanted, rtol=rtol, atol=1e-15)
    return found


def native(value: Any, like: Any) -> Any:
    """Convert NumPy's array to the library of another array."""
    return cupy.asarray(value) if isinstance(gw.unwrap(like), cupy.ndarray) else value


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_gradient_has_its_arguments_dtype(dtype: str) -> None:
    compare(lambda x: (abs(x * 2.0 + 1) ** 3).sum(), np.array([0.5, -2.0], dtype=dtype), rtol=1e-2)


def test_values_and_gradients_without_axes_are_arrays() -> None:
    value, gradient = gw.value_and_grad(lambda x: x * x)(array(3.0)[0])

    assert type(value) is type(gradient) is cupy.ndarray
    assert (value.shape, gradient.shape) == ((), ())
    assert (value.item(), gradient.item()) == (9.0, 6.0)


SCALARS: dict[str, Callable[[Any, Any], Any]] = {
    "times": lambda xp, x: x * np.float64(2.0),
    "from the left": lambda xp, x: np.float64(2.0) * x,
    "integer": lambda xp, x: x * np.int64(3),
    "single": lambda xp, x: x / np.float32(4.0),
    "power": lambda xp, x: x ** np.float64(2.0),
    "of a function": lambda xp, x: xp.maximum(x, np.float64(1.0)),
    "of sqrt": lambda xp, x: x / np.sqrt(5.0),
    "selected": lambda xp, x: xp.where(x > np.float64(1.0), x * x, np.float64(0.0)),
}


@pytest.mark.parametrize("name", SCALARS)
def test_numpys_scalars_are_numbers(name: str) -> None:
    def f(x: Any) -> Any:
        return (SCALARS[name](x.__array_namespace__(), x) ** 2).sum()

    compare(f, np.array([0.5, 2.0]))


def test_numpys_arrays_are_not() -> None:
    with pytest.raises(gw.errors.MixedLibrariesError, match=r"cupy and numpy. Fix: convert"):
        gw.grad(lambda x: (x * np.ones(2)).sum())(array(1.0, 2.0))


KEYS: dict[str, Any] = {
    "one array": np.array([0, 2, 2, 0, 1]),
    "from the end": np.array([-1, 0, -1]),
    "two arrays": (np.array([0, 2, 0]), np.array([1, 1, 1])),
    "after a slice": (slice(None), np.array([3, 3, 0])),
    "before a slice": (np.array([[0, 0], [2, 1]]), slice(1, 3)),
    "around a slice": (np.array([0, 0, 1]), slice(None), np.array([1, 1, 0])),
    "a list": [0, 0, 1],
    "a list after a slice": (slice(None), [3, 0, 3]),
    "integers": (1, 2),
    "a slice": (slice(None, None, -2), 1),
    "a mask": np.array([[True, False, True, True]] * 3),
    "a mask of rows": np.array([True, False, True]),
    "a mask of nothing": np.zeros(3, dtype=bool),
    "a mask and an integer": (np.array([True, False, True]), 1),
    "a slice and a mask": (slice(1, None), np.array([True, False, True, True])),
    "a new axis": (None, slice(1, 2)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", KEYS)
def test_reading_at_a_key_is_undone_by_adding_there(name: str, dtype: str) -> None:
    key = KEYS[name]
    shape = (3, 4, 2) if name == "around a slice" else (3, 4)
    values = np.linspace(0.5, 2.0, int(np.prod(shape))).reshape(shape).astype(dtype)

    def f(x: Any) -> Any:
        parts: tuple[Any, ...] = key if is_a(key, tuple) else (key,)
        own = tuple(native(p, x) if isinstance(p, np.ndarray) else p for p in parts)
        read = x[own if isinstance(key, tuple) else own[0]]
        return (
            abs(read * read * (1.0 + 0.5 * x[(0,) * x.ndim])).sum() if read.size else abs(x).sum()
        )

    compare(f, values, rtol=1e-5)


def test_numpys_arrays_as_keys_are_taken_as_cupy_takes_them() -> None:
    rows, mask = np.array([0, 2, 0]), np.array([True, False, True])

    compare(lambda x: (x[rows] ** 2).sum() + (x[mask, 1] ** 3).sum(), np.ones((3, 4)))
    compare(lambda x: (x[:, rows] ** 2).sum() + (x[mask] ** 3).sum(), np.ones((3, 4)))


WRITES: dict[str, Callable[[Any, Any], None]] = {
    "a mask, a number": lambda out, x: out.__setitem__(out > 2.0, 0.0),
    "a mask, values": lambda out, x: out.__setitem__(out > 2.0, x[:2]),
    "a mask, a tracked number": lambda out, x: out.__setitem__(out > 2.0, x[0]),
    "indices": lambda out, x: out.__setitem__(native(np.array([0, 3]), x), x[:2] ** 2),
    "indices twice": lambda out, x: out.__setitem__(native(np.array([1, 1]), x), x[:2] ** 2),
    "a slice": lambda out, x: out.__setitem__(slice(1, 3), x[:2] ** 2),
    "an element": lambda out, x: out.__setitem__(2, x[0] * x[1]),
}


@pytest.mark.parametrize("name", WRITES)
def test_writing_is_differentiated(name: str) -> None:
    def f(x: Any) -> Any:
        out = x * 2.0
        WRITES[name](out, x)
        return (out * out).sum()

    compare(f, np.array([0.5, 3.0, 0.7, 2.0]))


def test_a_number_written_by_a_mask_needs_no_count(counted: Any) -> None:
    def f(x: Any) -> Any:
        out = x * 2.0
        out[x > 1.0] = 0.0
        return out.sum()

    x = array(0.5, 3.0)
    counted.reset()

    gradient = gw.grad(f)(x)

    assert counted.synchronisations == []
    np.testing.assert_array_equal(gradient.get(), [2.0, 0.0])


def test_a_write_through_a_view_reaches_its_base() -> None:
    def f(x: Any) -> Any:
        out = x * 1.0
        part = out[1:]
        part *= x[0]
        out[::-1][0] = 5.0 * x[1]
        return (out * out).sum()

    compare(f, np.array([1.0, 2.0, 3.0]))


def test_filling_an_array_in_a_loop_is_linear(counted: Any) -> None:
    def f(x: Any, n: int) -> Any:
        out = x.__array_namespace__().zeros(n)
        for k in range(n):
            out[k] = x[k] * 2.0
        return out.sum()

    def allocated(n: int) -> int:
        x = cupy.ones(n)
        counted.reset()
        gw.grad(f)(x, n)
        return int(counted.total)

    assert allocated(400) <= 4.4 * allocated(100)


def test_an_array_that_others_refer_to_is_not_written_to() -> None:
    data = array(1.0, 2.0)
    pointer = cupy.ndarray((2,), data.dtype, memptr=data.data)
    v = gw.wrap(data * 1.0)
    kept = cupy.ndarray((2,), data.dtype, memptr=v.data.data)

    v[0] = 9.0

    assert kept.get().tolist() == [1.0, 2.0]
    assert pointer.get().tolist() == [1.0, 2.0]
    assert v.tolist() == [9.0, 2.0]


def test_views_are_known_by_their_memory() -> None:
    x = array(1.0, 2.0, 3.0)
    backend = backend_of(x)

    assert backend.may_be_view(x[1:], x)
    assert backend.may_be_view(x.reshape(3, 1), x)
    assert not backend.may_be_view(x.copy(), x)


# Saved on the CPU ---------------------------------------------------------------------------------


def deep(x: Any) -> Any:
    xp = x.__array_namespace__()
    for _ in range(8):
        x = xp.sin(x) * 1.5
    return (x * x).sum()


def test_saving_on_the_cpu_gives_the_same_gradient() -> None:
    values = np.linspace(0.1, 1.0, 7)

    with gw.save_on_cpu():
        gradient = compare(deep, values)

    assert gradient.device == cupy.zeros(1).device


def test_saving_on_the_cpu_frees_the_device(counted: Any) -> None:
    x = cupy.linspace(0.1, 1.0, 10_000)

    def peak() -> int:
        counted.reset()
        before = counted.live
        gw.grad(deep)(x)
        return int(counted.peak - before)

    usual = peak()
    with gw.save_on_cpu():
        assert peak() <= 0.6 * usual
    assert "get" in counted.synchronisations


def test_a_checkpoint_frees_the_device(counted: Any) -> None:
    x = cupy.linspace(0.1, 1.0, 10_000)

    def layers(x: Any) -> Any:
        xp = x.__array_namespace__()
        for _ in range(4):
            x = xp.sin(x) * 1.5
        return x

    def peak(segment: Any) -> int:
        counted.reset()
        before = counted.live
        gw.grad(lambda x: segment(segment(segment(segment(x)))).sum())(x)
        return int(counted.peak - before)

    assert peak(gw.checkpoint(layers)) <= 0.6 * peak(layers)
    assert counted.synchronisations == []


def test_anomalies_are_found() -> None:
    with (
        gw.detect_anomaly(),
        pytest.raises(gw.errors.AnomalyError, match="SqrtBackward returned inf"),
    ):
        gw.grad(lambda x: x.__array_namespace__().sqrt(x).sum())(array(0.0, 1.0))


# The namespace ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (np.array([-1.0, 0.5, 3.0, np.nan]), 0.0, 1.0),
        (np.array([-1.0, 0.5, 3.0]), None, 1.0),
        (np.array([-1.0, 0.5, 3.0], dtype="float32"), 0.1, None),
        (np.array([-1.0, 0.5, 3.0]), np.array([0.0, 1.0, 4.0]), 2.0),
        (np.array([-1.0, 0.5, 3.0]), None, None),
        (np.array([1, 5, 9]), 2, 7),
        (np.array([1, 5, 9], dtype="int8"), -1000, 7),
        (np.array([1, 5, 9], dtype="uint8"), -1, 1000),
    ],
)
def test_clip_is_the_standards(values: Any, low: Any, high: Any) -> None:
    x = cupy.asarray(values)
    xp = gw.wrap(x).__array_namespace__()
    reference: Any = gw.wrap(values).__array_namespace__()

    found = xp.clip(x, cupy.asarray(low) if isinstance(low, np.ndarray) else low, high)
    wanted = reference.clip(values, low, high)

    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found.data.get(), wanted.data)
    assert not cupy.may_share_memory(found.data, x)


def test_sign_is_the_standards() -> None:
    xp = gw.wrap(array(1.0)).__array_namespace__()

    real = xp.sign(array(-2.0, 0.0, 3.0, np.nan))
    complex_ = xp.sign(array(3.0 + 4.0j, 0.0, dtype="complex128"))

    np.testing.assert_array_equal(real.data.get(), [-1.0, 0.0, 1.0, np.nan])
    np.testing.assert_allclose(complex_.data.get(), [0.6 + 0.8j, 0.0])


@pytest.mark.parametrize("shape", [(3, 2), (2, 4), (2, 3, 2), (0, 2), (2, 0)])
def test_pinv_is_numpys(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).standard_normal(shape)
    if values.ndim == 2 and values.size:
        values[-1] = values[0]  # of less than full rank

    found = backend_of(array(1.0)).xp.linalg.pinv(cupy.asarray(values))

    np.testing.assert_allclose(found.get(), np.linalg.pinv(values), atol=1e-12)


def test_solve_broadcasts_stacks() -> None:
    random = np.random.default_rng(0)
    one, several = random.standard_normal((3, 3)), random.standard_normal((2, 3, 3))
    right = random.standard_normal((4, 1, 3, 2))

    def f(a: Any) -> Any:
        xp = a.__array_namespace__()
        b = native(right, a)
        return (xp.linalg.solve(a, xp.asarray(b)) ** 2).sum() + xp.linalg.solve(a, a[0, 0]).sum()

    compare(f, several, rtol=1e-9)
    compare(lambda a: (a.__array_namespace__().linalg.solve(a, native(right, a)) ** 2).sum(), one)


def test_asarray_copies_or_does_not() -> None:
    xp = backend_of(array(1.0)).xp
    x = array(1.0, 2.0)

    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert not cupy.may_share_memory(xp.asarray(x, copy=True), x)
    with pytest.raises(ValueError, match="without a copy"):
        xp.asarray([1.0, 2.0], copy=False)
