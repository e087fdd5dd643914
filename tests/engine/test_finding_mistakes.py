"""`detect_anomaly`, `guard_buffers`, `strong_zeros` and `apply_where`."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
from free_threading import threads_begin_anew
from gradwrap.core.levels.levels import current_watch, inspecting
from gradwrap.core.observing import watching
from gradwrap.errors import AnomalyError, BufferChangedError, GradwrapError
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Iterator

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
X = np.array([-1.0, 0.0, 1.0])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence NumPy, which warns of the mistakes that these tests make."""
    with np.errstate(all="ignore"):
        yield
    assert current_watch() is None
    assert inspecting.get() is None


def leaf(data: Any = X) -> Any:
    return gw.wrap(data.copy(), requires_grad=True)


def masked(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


def sliced(x: Any) -> Any:
    return np.sum(np.sqrt(x)[2:])


# detect_anomaly -----------------------------------------------------------------------------------


def test_an_infinite_derivative_raises_with_the_operation_and_its_line() -> None:
    x = leaf(np.array([0.0, 4.0]))
    with gw.detect_anomaly():
        y = np.exp(x)
        z = np.sqrt(x) * y  # the line to be found
        with pytest.raises(AnomalyError) as info:
            z.sum().backward()

    message = str(info.value)
    assert message.startswith("SqrtBackward returned inf values: ")
    assert "the derivative of sqrt (float64[2]) made them from a finite cotangent" in message
    assert "# the line to be found" in message
    assert "test_finding_mistakes.py" in message
    assert "Fix: keep the arguments of sqrt away" in message
    assert "src/gradwrap" not in message
    assert info.value.op == "sqrt"
    assert "the line to be found" in info.value.stack
    assert isinstance(info.value, (RuntimeError, FloatingPointError, GradwrapError))


def test_a_branch_that_was_not_taken_is_no_anomaly() -> None:
    with gw.detect_anomaly():
        np.testing.assert_array_equal(gw.grad(masked)(X), [0.0, 0.0, 0.5])


def test_a_value_that_an_index_leaves_out_is_said_to_be_left_out() -> None:
    with gw.detect_anomaly(), pytest.raises(AnomalyError) as info:
        gw.grad(sliced)(X)

    message = str(info.value)
    assert message.startswith("SqrtBackward returned nan values")
    assert "`getitem` did not take these values, so the cotangent there is 0" in message
    assert "gradwrap.apply_where(condition, x, f, fill)" in message
    assert "gradwrap.strong_zeros()" in message


def test_an_index_is_found_behind_further_operations() -> None:
    with gw.detect_anomaly(), pytest.raises(AnomalyError, match="`getitem` did not take"):
        gw.grad(fn(lambda x: np.sum((2 * np.exp(np.log(x)))[2:])))(X)


def test_zero_times_infinity_without_a_mask_is_told_apart() -> None:
    with gw.detect_anomaly(), pytest.raises(AnomalyError) as info:
        gw.grad(fn(lambda x: np.sum(0.0 * np.sqrt(x))))(np.array([0.0, 1.0]))

    assert "The cotangent there is 0, but 0 times" in str(info.value)
    assert "did not take" not in str(info.value)


def test_the_first_operation_that_made_it_is_named_not_those_that_pass_it_on() -> None:
    with gw.detect_anomaly(), pytest.raises(AnomalyError) as info:
        gw.grad(fn(lambda x: np.sum(2 * np.log(np.exp(x) - 1))))(np.array([0.0, 1.0]))

    assert info.value.op == "log"


def test_a_cotangent_that_is_not_finite_to_begin_with_raises_nothing() -> None:
    x = leaf(np.array([1.0, 2.0]))
    with gw.detect_anomaly():
        (x * 3).backward(np.array([np.nan, 1.0]))

    np.testing.assert_array_equal(x.grad, [np.nan, 3.0])


def test_a_sum_that_overflows_is_noticed_where_it_arrives() -> None:
    big = np.array([1e308])
    x = leaf(np.array([1.0]))
    with gw.detect_anomaly():
        with pytest.raises(AnomalyError, match=r"AccumulateGrad was given inf.*sent to a leaf"):
            (x * big + x * big).sum().backward()
        y = np.sin(x)
        with pytest.raises(AnomalyError, match=r"SinBackward was given inf.*result of sin"):
            (y * big + y * big).sum().backward()


def test_without_check_nan_values_pass_and_errors_get_a_note() -> None:
    def fail(g: Any) -> Any:
        raise KeyError(g.shape)

    @gradwrap.custom_vjp
    def odd(x: Any) -> Any:
        return x * 2

    odd.defvjp(fn(lambda x: (x * 2, None)), lambda kept, g: fail(g))
    with gw.detect_anomaly(check_nan=False):
        found = gw.grad(sliced)(X)
        with pytest.raises(KeyError) as info:
            gw.grad(fn(lambda x: np.sum(odd(x))))(X)

    np.testing.assert_array_equal(found, [np.nan, np.nan, 0.5])
    (note,) = info.value.__notes__
    assert note.startswith("In the backward pass, at odd.")
    assert "np.sum(odd(x))" in note


def test_forward_outside_of_the_context_is_told_to_be_missing() -> None:
    y = sliced(leaf())
    with gw.detect_anomaly(), pytest.raises(AnomalyError, match="Fix: run forward, too, inside"):
        y.backward()


def test_backward_outside_of_the_context_is_not_looked_at() -> None:
    x = leaf()
    with gw.detect_anomaly():
        y = sliced(x)
    y.backward()

    np.testing.assert_array_equal(x.grad, [np.nan, np.nan, 0.5])


def test_right_gradients_of_every_kind_pass_unchanged() -> None:
    def f(x: Any) -> Any:
        q, r = np.linalg.qr(np.outer(x, x) + np.eye(3) * (2 + x))
        return np.sum(q * r) + np.sum(np.stack([x, x * x])[0] ** 2) + np.linalg.norm(x[1:])

    z = np.array([1 + 2j, 0.5 - 1j])
    expected = (
        gw.grad(f)(X + 2),
        gw.hessian(f)(X + 2),
        gw.grad(fn(lambda z: np.abs(np.sum(z**2))))(z),
    )
    with gw.detect_anomaly(), gw.guard_buffers(), gw.strong_zeros():
        found = (
            gw.grad(f)(X + 2),
            gw.hessian(f)(X + 2),
            gw.grad(fn(lambda z: np.abs(np.sum(z**2))))(z),
        )
        mapped = gw.vmap(gw.grad(f))(np.stack([X + 2, X + 3]))

    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(mapped[0], expected[0], rtol=1e-12)


def test_an_anomaly_of_the_second_derivative_and_under_vmap_is_found() -> None:
    with gw.detect_anomaly():
        with pytest.raises(AnomalyError):
            gw.grad(gw.grad(fn(lambda x: x**1.5)))(0.0)
        with pytest.raises(AnomalyError, match="sqrt"):
            gw.vmap(gw.grad(np.sqrt))(np.array([1.0, 0.0]))
        x = leaf(np.array([0.0]))
        with pytest.raises(AnomalyError, match="sqrt"):
            np.sqrt(x).sum().backward(create_graph=True)


def test_an_anomaly_on_another_device_is_found() -> None:
    xp = gw.wrap_namespace(strict)
    x = strict.asarray([0.0, 1.0], device=strict.Device("device1"))

    with gw.detect_anomaly(), pytest.raises(AnomalyError, match="sqrt"):
        gw.grad(fn(lambda x: xp.sum(xp.sqrt(x))))(x)


@threads_begin_anew
def test_contexts_belong_to_their_thread_and_context() -> None:
    found: list[Any] = []

    def run() -> None:
        with np.errstate(all="ignore"):
            found.append(gw.grad(sliced)(X))

    with gw.detect_anomaly(), gw.strong_zeros(), gw.guard_buffers():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        contextvars.Context().run(run)

    for one in found:
        np.testing.assert_array_equal(one, [np.nan, np.nan, 0.5])
    assert len(found) == 2


# guard_buffers ------------------------------------------------------------------------------------


def test_an_array_overwritten_between_forward_and_backward_is_noticed() -> None:
    array = np.array([1.0, 2.0])
    x = gw.wrap(array, requires_grad=True)
    with gw.guard_buffers():
        y = np.sum(np.sin(x))  # saved here
    array[1] = 7.0

    with pytest.raises(BufferChangedError) as info:
        y.backward()
    message = str(info.value)
    assert message.startswith("An array that sin saved for backward, float64[2], was overwritten")
    assert "# saved here" in message
    assert "Fix: write to a copy of it, or after backward." in message


def test_the_callers_other_operand_and_an_index_are_guarded_too() -> None:
    for multiply in (np.multiply, np.matmul):
        weights = np.array([1.0, 2.0])
        x = leaf(np.array([1.0, 2.0]))
        with gw.guard_buffers():
            y = np.sum(multiply(x, weights))
        weights *= 3
        with pytest.raises(BufferChangedError):
            y.backward()
    index = np.array([1, 0, 1])
    with gw.guard_buffers():
        y = np.sum(leaf(np.array([1.0, 2.0]))[index])
    index[0] = 0
    with pytest.raises(BufferChangedError, match=r"getitem saved for backward, int64\[3\]"):
        y.backward()


def test_a_written_array_of_one_element_is_noticed_under_transforms() -> None:
    array = np.array(3.0)
    with gw.guard_buffers():
        _, pull = gw.vjp(fn(lambda x: x**3), array)
    array[...] = 1.0

    with pytest.raises(BufferChangedError, match=r"pow.*float64\[\]"):
        pull(np.array(1.0))


def test_what_gradwrap_itself_writes_is_no_mistake() -> None:
    x = leaf(np.array([1.0, np.nan, 2.0]))
    with gw.guard_buffers():
        y = x * x
        y[0] = 5.0
        y *= x
        loss = np.sum(y * x)
        with gw.no_grad():
            x -= 0.5
        loss.backward()

    np.testing.assert_array_equal(x.grad, [10.0, np.nan, 32.0])


def test_an_array_overwritten_between_two_operations_falsifies_the_first_only() -> None:
    array = np.array([1.0, 2.0])
    x = gw.wrap(array, requires_grad=True)
    with gw.guard_buffers():
        first = np.sum(x * x)
        array[0] = 5.0
        second = np.sum(x * x)
        second.backward()
        with pytest.raises(BufferChangedError):
            first.backward()

    np.testing.assert_array_equal(x.grad, [10.0, 4.0])


def test_arrays_that_several_operations_save_are_copied_once() -> None:
    made: list[Any] = []

    class Counted(watching.Copied):
        __slots__ = ()

        def __init__(self, array: Any) -> None:
            made.append(array)
            super().__init__(array)

    original, watching.Copied = watching.Copied, Counted  # type: ignore[misc]  # a class is replaced
    try:
        x = leaf()
        with gw.guard_buffers():
            y = np.cos(x)
            for _ in range(10):
                y = y + np.sin(x)
    finally:
        watching.Copied = original  # type: ignore[misc]  # a class is replaced

    assert len(made) == 1
    y.sum().backward()


def test_without_the_guard_an_operation_saves_what_a_small_array_held() -> None:
    array = np.array([1.0, 2.0])
    x = gw.wrap(array, requires_grad=True)
    y = np.sum(x * x)
    array[0] = 50.0
    y.backward()

    np.testing.assert_array_equal(x.grad, [2.0, 4.0])


# strong_zeros -------------------------------------------------------------------------------------


def test_zeros_annihilate_when_asked_to() -> None:
    np.testing.assert_array_equal(gw.grad(sliced)(X), [np.nan, np.nan, 0.5])
    with gw.strong_zeros():
        np.testing.assert_array_equal(gw.grad(sliced)(X), [0.0, 0.0, 0.5])
        x = leaf()
        sliced(x).backward()
        np.testing.assert_array_equal(x.grad, [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(gw.grad(sliced)(X), [np.nan, np.nan, 0.5])


def test_zeros_annihilate_through_broadcasting_division_and_chains() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.where(x > 0, y / np.log(x), 0.0))

    with gw.strong_zeros():
        in_x, in_y = gw.grad(f, argnums=(0, 1))(
            np.array([-1.0, 0.0, 2.0]), np.array([[1.0], [2.0]])
        )

    at_2 = -3 / (2 * np.log(2.0) ** 2)
    np.testing.assert_allclose(in_x, [0.0, 0.0, at_2], rtol=1e-15)
    np.testing.assert_allclose(in_y, [[1 / np.log(2.0)]] * 2, rtol=1e-15)


def test_zeros_annihilate_in_second_derivatives_and_under_vmap() -> None:
    with gw.strong_zeros():
        hessian = gw.hessian(masked)(X)
        twice = gw.grad(fn(lambda x: np.sum(gw.grad(masked)(x))))(X)
        mapped = gw.vmap(gw.grad(masked))(np.stack([X, X + 1]))
        jacobian = gw.jacrev(fn(lambda x: np.where(x > 0, np.sqrt(x), 0.0)))(X)
        x = leaf()
        (first,) = gw.autograd.grad(masked(x), x, create_graph=True)
        (second,) = gw.autograd.grad(first.sum(), x)

    np.testing.assert_array_equal(hessian, np.diag([0.0, 0.0, -0.25]))
    for one in (twice, second):
        np.testing.assert_array_equal(one, [0.0, 0.0, -0.25])
    np.testing.assert_allclose(mapped, [[0, 0, 0.5], [0, 0.5, 0.5 / np.sqrt(2)]], rtol=1e-15)
    np.testing.assert_array_equal(jacobian, np.diag([0.0, 0.0, 0.5]))


def test_nonzero_cotangents_and_nan_are_left_as_they_are() -> None:
    x = np.array([0.0, 1.0])
    with gw.strong_zeros():
        np.testing.assert_array_equal(gw.grad(fn(lambda x: np.sum(np.sqrt(x))))(x), [np.inf, 0.5])
        _, pull = gw.vjp(np.sqrt, x)
        np.testing.assert_array_equal(pull(np.array([0.0, np.nan]))[0], [0.0, np.nan])


def test_zeros_annihilate_for_complex_and_single_precision() -> None:
    z = np.array([0.0, 4.0], np.complex64)
    with gw.strong_zeros():
        found = gw.grad(fn(lambda z: np.sum(np.real(np.where(np.abs(z) > 1, np.sqrt(z), 0)))))(z)

    assert found.dtype == np.complex64
    np.testing.assert_array_equal(found, np.array([0.0, 0.25], np.complex64))


def test_zeros_annihilate_on_another_device() -> None:
    device = strict.Device("device1")
    xp = gw.wrap_namespace(strict)
    x = strict.asarray(X, device=device)

    def f(x: Any) -> Any:
        return xp.sum(xp.where(x > 0, xp.sqrt(x), xp.zeros_like(x)))

    with gw.strong_zeros():
        found = gw.grad(f)(x)

    assert found.device == device
    host = found.to_device(strict.Device("CPU_DEVICE"))
    np.testing.assert_array_equal(np.asarray(host), [0.0, 0.0, 0.5])


def constant_root(x: Any) -> Any:
    return np.sqrt(x - x[0])


def power(x: Any) -> Any:
    return x**0.4 * 2.0


def distance(x: Any) -> Any:
    return np.hypot(x[0], x[1] - x[1])


def broadcast_root(x: Any) -> Any:
    return np.sqrt(x[:1]) * np.ones(2)


ROOTS: dict[Any, tuple[list[float], list[float], Any]] = {
    np.sqrt: ([0.0, 4.0], [0.0, 1.0], [0.0, 0.25]),
    constant_root: ([0.0, 4.0], [1.0, 5.0], [0.0, 1.0]),
    power: ([0.0, 1.0], [0.0, 3.0], [0.0, 2.4]),
    distance: ([0.0, 1.0], [0.0, 3.0], 0.0),
    broadcast_root: ([0.0, 1.0], [0.0, 3.0], [0.0, 0.0]),
}


@pytest.mark.parametrize("f", ROOTS)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_zero_tangents_stay_zero(f: Any) -> None:
    x, t = map(np.array, ROOTS[f][:2])
    wanted = np.array(ROOTS[f][2])

    def pushed(t: Any) -> Any:
        return gw.jvp(f, (x,), (t,))[1]

    def without_effect(x: Any) -> Any:
        return gw.jvp(f, (x,), (t,))[1] * 0.0

    with gw.strong_zeros():
        np.testing.assert_allclose(pushed(t), wanted)
        np.testing.assert_allclose(gw.vmap(pushed)(np.stack([t, t])), [wanted, wanted])
        again = gw.jvp(without_effect, (x,), (0.0 * t,))[1]

    np.testing.assert_array_equal(again, 0.0 * wanted)


def test_zero_tangents_become_nan_outside_of_strong_zeros() -> None:
    with np.errstate(invalid="ignore", divide="ignore"):
        pushed = gw.jvp(np.sqrt, (np.array([0.0, 4.0]),), (np.array([0.0, 1.0]),))[1]

    np.testing.assert_array_equal(pushed, [np.nan, 0.25])


def test_strong_zeros_leave_nothing_for_detect_anomaly_to_find() -> None:
    with gw.detect_anomaly(), gw.strong_zeros():
        np.testing.assert_array_equal(gw.grad(masked)(X), [0.0, 0.0, 0.5])


# apply_where --------------------------------------------------------------------------------------


def test_apply_where_gives_values_and_all_derivatives() -> None:
    def f(x: Any) -> Any:
        return np.sum(gw.apply_where(x > 0, x, np.sqrt, -1.0))

    assert f(X) == -1.0
    np.testing.assert_array_equal(gw.grad(f)(X), [0.0, 0.0, 0.5])
    np.testing.assert_array_equal(gw.hessian(f)(X), np.diag([0.0, 0.0, -0.25]))
    np.testing.assert_array_equal(gw.vmap(gw.grad(f))(np.stack([X]))[0], [0.0, 0.0, 0.5])
    _, tangent = gw.jvp(f, (X,), (np.ones(3),))
    assert tangent == 0.5


def test_apply_where_takes_an_array_or_a_function_as_fill() -> None:
    def first(x: Any) -> Any:
        return np.sum(gw.apply_where(x < 0, x, fn(lambda x: np.sqrt(-x)), x, safe=-1.0))

    def second(x: Any) -> Any:
        return np.sum(gw.apply_where(x > 0, x, np.log, fn(lambda x: x + 3)))

    assert first(X) == 2.0
    np.testing.assert_array_equal(gw.grad(first)(X), [-0.5, 1.0, 1.0])
    assert second(X) == 5.0
    np.testing.assert_array_equal(gw.grad(second)(X), [1.0, 1.0, 1.0])


def test_apply_where_takes_several_arguments_each_with_its_safe_value() -> None:
    x, y = np.array([0.0, 3.0]), np.array([0.0, 2.0])

    def f(x: Any, y: Any) -> Any:
        return np.sum(gw.apply_where(y != 0, (x, y), np.divide, 1.0, safe=(0.0, 1.0)))

    assert f(x, y) == 2.5
    in_x, in_y = gw.grad(f, argnums=(0, 1))(x, y)
    np.testing.assert_array_equal(in_x, [0.0, 0.5])
    np.testing.assert_array_equal(in_y, [0.0, -0.75])
    with pytest.raises(TypeError, match="safe has 1 values for 2 arguments"):
        gw.apply_where(y != 0, (x, y), np.divide, safe=(1.0,))
    with pytest.raises(TypeError, match="apply_where got no arrays"):
        gw.apply_where(True, 2.0, np.sqrt)


def test_apply_where_keeps_library_dtype_and_device() -> None:
    device = strict.Device("device1")
    x = strict.asarray([-1.0, 4.0], dtype=strict.float32, device=device)
    found = gw.apply_where(x > 0, x, strict.sqrt)
    gradient = gw.grad(fn(lambda x: gw.apply_where(x > 0, x, fn(lambda x: x**0.5)).sum()))(x)

    for array, values in ((found, [0.0, 2.0]), (gradient, [0.0, 0.25])):
        assert array.device == device
        assert array.dtype == strict.float32
        host = array.to_device(strict.Device("CPU_DEVICE"))
        np.testing.assert_array_equal(np.asarray(host), values)


# PyTorch ------------------------------------------------------------------------------------------


@pytest.mark.peers
def test_anomalies_are_found_where_pytorch_finds_them() -> None:
    torch = pytest.importorskip("torch")
    array = torch.tensor(X.tolist(), dtype=torch.float64, requires_grad=True)

    def backward() -> None:
        with torch.autograd.set_detect_anomaly(True):
            y = torch.sqrt(array)[2:].sum()
            with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values"):
                y.backward()

    with pytest.warns(UserWarning, match="test_finding_mistakes.py"):
        backward()
    with gw.detect_anomaly():
        z = sliced(leaf())
        with pytest.raises(RuntimeError) as ours:
            z.backward()

    assert "SqrtBackward returned nan values" in str(ours.value)
    assert "test_finding_mistakes.py" in str(ours.value)
