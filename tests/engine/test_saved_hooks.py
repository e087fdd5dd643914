"""`saved_tensors_hooks` and what is built on it: the CPU's memory, the disk."""

from __future__ import annotations

import contextvars
import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
from free_threading import threads_begin_anew
from gradwrap.core.levels.levels import current_watch
from gradwrap.errors import GradwrapError, SavedArrayError
from lambdas import fn, rows

if TYPE_CHECKING:
    from pathlib import Path

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([0.5, 2.0])


def leaf(data: Any = X) -> Any:
    return gw.wrap(data.copy(), requires_grad=True)


def same(value: Any) -> Any:
    return value


class Noting:
    """Hooks that keep copies, and count."""

    def __init__(self) -> None:
        self.packed: list[Any] = []
        self.unpacked: list[Any] = []

    def pack(self, array: Any) -> Any:
        self.packed.append(array)
        return (len(self.packed), np.array(array))

    def unpack(self, kept: Any) -> Any:
        self.unpacked.append(kept[0])
        return kept[1]

    def hooks(self) -> Any:
        return gw.saved_tensors_hooks(self.pack, self.unpack)


def program(x: Any) -> Any:
    """Operations recorded in different ways: compiled, joint, variadic, views, several outputs."""
    y = np.sin(x) * x + 2.0
    z = np.stack([y, y * x])[0] / x
    q, r = np.linalg.qr(np.outer(z, z) + np.eye(len(X)) * x)
    return np.sum(ANY.where(z > 1, z**2, z)) + np.sum(q * r) + np.linalg.norm(z)


# What is packed, and when -------------------------------------------------------------------------


def test_arrays_are_packed_as_they_are_saved_and_unpacked_when_backward_needs_them() -> None:
    x, noting = leaf(), Noting()

    with noting.hooks():
        y = np.sin(x)
        assert len(noting.packed) == 1
        z = np.exp(y)

    assert len(noting.packed) == 2
    np.testing.assert_array_equal(noting.packed[0], X)
    np.testing.assert_array_equal(noting.packed[1], np.exp(np.sin(X)))
    assert all(type(one) is np.ndarray for one in noting.packed)
    assert noting.unpacked == []
    z.sum().backward()
    assert noting.unpacked == [2, 1]
    np.testing.assert_allclose(x.grad, np.cos(X) * np.exp(np.sin(X)), rtol=1e-15)


def test_each_pass_unpacks_again_and_only_what_it_needs() -> None:
    x, w, noting = leaf(), leaf(), Noting()
    with noting.hooks():
        y = np.sum(x * w)

    gw.autograd.grad(y, x, retain_graph=True)
    assert len(noting.unpacked) == 1
    y.backward()

    assert len(noting.packed) == 2
    assert len(noting.unpacked) == 3


def test_outside_of_the_context_nothing_is_packed() -> None:
    x, noting = leaf(), Noting()
    before = np.sin(x)
    with noting.hooks(), gw.no_grad():
        np.sin(x)
    with noting.hooks():
        np.sin(gw.wrap(X))
    after = np.sin(x)

    (before + after).sum().backward()

    assert noting.packed == []
    assert current_watch() is None


def test_gradients_are_those_without_hooks_on_the_tape_and_under_transforms() -> None:
    expected = gw.grad(program)(X)
    second = gw.grad(fn(lambda x: np.sum(gw.grad(program)(x) ** 2)))(X)
    with Noting().hooks():
        x = leaf()
        program(x).backward()

        np.testing.assert_array_equal(gw.grad(program)(X), expected)
        np.testing.assert_allclose(
            gw.grad(fn(lambda x: np.sum(gw.grad(program)(x) ** 2)))(X), second, rtol=1e-12
        )
        np.testing.assert_allclose(gw.jacrev(np.sin)(X), np.diag(np.cos(X)), rtol=1e-15)
        mapped = gw.vmap(gw.grad(fn(lambda x: np.sum(np.sin(x) * x))))(np.stack([X, X]))
        hessian = gw.hessian(fn(lambda x: np.sum(x**3)))(X)
    np.testing.assert_array_equal(x.grad, expected)
    np.testing.assert_allclose(mapped[1], np.cos(X) * X + np.sin(X), rtol=1e-15)
    np.testing.assert_allclose(hessian, np.diag(6 * X), rtol=1e-15)


def test_double_backward_on_the_tape_unpacks_arrays_with_their_place_in_the_graph() -> None:
    x = leaf()
    with Noting().hooks():
        y = np.sum(x**3 * np.exp(x))
        (first,) = gw.autograd.grad(y, x, create_graph=True)
    (second,) = gw.autograd.grad(first.sum(), x)

    np.testing.assert_allclose(second, np.exp(X) * (X**3 + 6 * X**2 + 6 * X), rtol=1e-14)


def test_writes_in_place_are_packed_and_differentiated() -> None:
    x, noting = leaf(), Noting()
    with noting.hooks():
        y = x * 1.0
        y[0] = x[1] ** 2
        y *= x
        y.sum().backward()

    np.testing.assert_allclose(x.grad, [X[1] ** 2, 2 * X[1] * X[0] + 2 * X[1]], rtol=1e-15)


def test_inputs_and_outputs_of_a_custom_function_are_packed() -> None:
    class Square(gradwrap.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grads[0] * 2 * x

    x, noting = leaf(), Noting()
    with noting.hooks():
        y = Square.apply(x)
    y.sum().backward()

    assert len(noting.packed) == 1
    assert noting.unpacked == [1]
    np.testing.assert_array_equal(x.grad, 2 * X)


def test_what_a_custom_function_computes_and_keeps_is_packed_and_guarded() -> None:
    class Exp(gradwrap.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(np.exp(2 * x))
            return np.exp(2 * x) + 1

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            (kept,) = ctx.saved_tensors
            return grads[0] * 2 * kept

    x, noting = leaf(), Noting()
    with noting.hooks():
        y = Exp.apply(x)
        assert "Exp" in str(gw.draw(y))
    with gw.guard_buffers():
        z = Exp.apply(x)
    (y + z).sum().backward()

    assert (len(noting.packed), noting.unpacked) == (1, [1])
    np.testing.assert_allclose(x.grad, 4 * np.exp(2 * X), rtol=1e-15)


def test_the_innermost_hooks_count() -> None:
    x, outer, inner = leaf(), Noting(), Noting()
    with outer.hooks():
        y = np.sin(x)
        with inner.hooks():
            z = np.sin(y)
        z = np.sin(z)
    z.sum().backward()

    assert (len(outer.packed), len(inner.packed)) == (2, 1)
    np.testing.assert_allclose(
        x.grad, np.cos(X) * np.cos(np.sin(X)) * np.cos(np.sin(np.sin(X))), rtol=1e-15
    )


def test_hooks_hold_through_modes_that_begin_and_end_inside_of_them() -> None:
    x, noting = leaf(), Noting()
    with noting.hooks():
        with gw.no_grad():
            assert not gw.is_grad_enabled()
            with gw.enable_grad():
                assert gw.is_grad_enabled()
                y = np.sin(x)
        assert gw.is_grad_enabled()
        z = np.sin(y)
    with gw.no_grad():
        with noting.hooks():
            assert not gw.is_grad_enabled()
        assert not gw.is_grad_enabled()

    assert len(noting.packed) == 2
    assert z.requires_grad


@threads_begin_anew
def test_hooks_belong_to_their_context() -> None:
    x, noting = leaf(), Noting()
    with noting.hooks():
        for run in (contextvars.Context().run, _in_a_thread):
            run(lambda: np.sin(x).sum().backward())
        assert noting.packed == []
        contextvars.copy_context().run(lambda: np.sin(x))

    assert len(noting.packed) == 1
    np.testing.assert_allclose(x.grad, 2 * np.cos(X), rtol=1e-15)


def _in_a_thread(function: Any) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_what_a_pack_function_does_is_not_recorded_and_not_packed() -> None:
    x = leaf()
    calls: list[Any] = []

    def pack(array: Any) -> Any:
        calls.append(array)
        return gw.grad(fn(lambda a: np.sum(a * a)))(array) / 2 + 0 * gw.unwrap(np.sin(x))

    with gw.saved_tensors_hooks(pack, same):
        y = np.sum(x * x)
    y.backward()

    assert len(calls) == 2
    np.testing.assert_array_equal(x.grad, 2 * X)


def test_a_packed_array_is_let_go_of_at_once() -> None:
    gc.disable()
    try:
        alive: list[Any] = []

        def pack(array: Any) -> Any:
            alive.append(weakref.ref(array))
            return array.astype(np.float32)

        x = leaf()
        with gw.saved_tensors_hooks(pack, fn(lambda kept: kept.astype(np.float64))):
            y = np.sum(np.exp(np.exp(x)))
            assert [one() is None for one in alive] == [True, True]
        kept = weakref.ref(y.grad_fn)
        y.backward()
        del y
        assert kept() is None
    finally:
        gc.enable()


def test_hooks_on_gradients_and_on_saved_arrays_do_not_disturb_each_other() -> None:
    x = leaf()
    with Noting().hooks():
        y = np.sin(x)
        y.register_hook(fn(lambda g: 10 * g))
        z = np.sum(y * y)
    z.backward()

    np.testing.assert_allclose(x.grad, 20 * np.sin(X) * np.cos(X), rtol=1e-15)


def test_a_drawing_of_a_graph_with_packed_arrays_is_made() -> None:
    with Noting().hooks():
        y = np.sum(np.sin(leaf()))

    assert "sin" in str(gw.draw(y))


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pack", "unpack", "name"), [(1, same, "pack"), (same, None, "unpack")])
def test_hooks_that_cannot_be_called_are_refused(pack: Any, unpack: Any, name: str) -> None:
    with pytest.raises(SavedArrayError, match=rf"{name} is an? \w+, which cannot be called.*Fix"):
        gw.saved_tensors_hooks(pack, unpack)


@pytest.mark.parametrize(
    ("unpack", "got"),
    rows(
        [
            (lambda a: a[:1], r"float64\[1\] of numpy"),
            (lambda a: a.astype(np.float32), r"float32\[2\] of numpy"),
            (lambda a: strict.asarray(a), r"array_api_strict.float64\[2\] of array_api_strict"),
            (lambda a: None, "a NoneType"),
        ]
    ),
)
def test_unpacking_another_kind_of_array_names_the_operation(unpack: Any, got: str) -> None:
    with gw.saved_tensors_hooks(same, unpack):
        y = np.sum(np.sin(leaf()))

    message = rf"unpack gave {got}.* that sin had saved, float64\[2\] of numpy on cpu\. Fix"
    with pytest.raises(SavedArrayError, match=message) as info:
        y.backward()
    assert isinstance(info.value, (GradwrapError, RuntimeError, TypeError))


def test_what_the_users_functions_raise_passes_and_ends_the_context() -> None:
    def fail(value: Any) -> Any:
        raise KeyError(value.shape)

    with pytest.raises(KeyError), gw.saved_tensors_hooks(fail, same):
        np.sin(leaf())
    assert current_watch() is None
    with gw.saved_tensors_hooks(same, fail):
        y = np.sum(np.sin(leaf()))
    with pytest.raises(KeyError):
        y.backward()


# On top of it -------------------------------------------------------------------------------------


def test_save_on_cpu_moves_what_is_saved_and_takes_it_back_to_its_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gradwrap.transforms import watches

    kept: list[Any] = []
    to_host = watches.to_host

    def noting(array: Any) -> Any:
        kept.append(to_host(array))
        return kept[-1]

    monkeypatch.setattr(watches, "to_host", noting)
    device = strict.Device("device1")
    x = gw.wrap(strict.asarray([0.5, 2.0], device=device), requires_grad=True)
    xp = gw.wrap_namespace(strict)
    with gw.save_on_cpu():
        y = xp.sum(xp.exp(xp.sin(x)))
    y.backward()
    gradient: Any = x.grad

    assert [one[0].device for one in kept] == [strict.Device("CPU_DEVICE")] * 2
    assert gradient.device == device
    host = gradient.to_device(strict.Device("CPU_DEVICE"))
    np.testing.assert_allclose(np.asarray(host), np.cos(X) * np.exp(np.sin(X)), rtol=1e-15)


def test_save_on_cpu_gives_numpy_the_same_gradient() -> None:
    expected = gw.grad(program)(X)
    with gw.save_on_cpu():
        found = gw.grad(program)(X)

    np.testing.assert_array_equal(found, expected)


def test_saving_to_disk_gives_the_same_gradient(tmp_path: Path) -> None:
    expected = gw.grad(program)(X)
    names = (tmp_path / f"{number}.npy" for number in range(1000))

    def pack(array: Any) -> Any:
        path = next(names)
        np.save(path, array)
        return path

    with gw.saved_tensors_hooks(pack, np.load):
        x = leaf()
        y = program(x)
        y.backward()

    assert len(list(tmp_path.iterdir())) > 10
    np.testing.assert_array_equal(x.grad, expected)


# PyTorch ------------------------------------------------------------------------------------------


@pytest.mark.peers
def test_what_is_packed_and_when_is_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    logs: list[list[Any]] = []
    for lib, hooks, x in (
        (np, gw.saved_tensors_hooks, leaf()),
        (
            torch,
            torch.autograd.graph.saved_tensors_hooks,
            torch.tensor(X.tolist(), dtype=torch.float64, requires_grad=True),
        ),
    ):
        log: list[Any] = []

        def pack(array: Any, log: list[Any] = log) -> Any:
            log.append(("pack", array.tolist()))
            return array

        def unpack(array: Any, log: list[Any] = log) -> Any:
            log.append(("unpack", array.tolist()))
            return array

        with hooks(pack, unpack):
            y = lib.exp(lib.sin(x)) * x
            with hooks(same, same):
                y = lib.sin(y)
        y.sum().backward()
        log.append(x.grad.tolist())
        logs.append(log)

    assert [one[0] for one in logs[0][:-1]] == [one[0] for one in logs[1][:-1]]
    for one, other in zip(logs[0][:-1], logs[1][:-1], strict=True):
        np.testing.assert_allclose(one[1], other[1], rtol=1e-14)
    np.testing.assert_allclose(logs[0][-1], logs[1][-1], rtol=1e-14)
