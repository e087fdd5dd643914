"""Writing to variables and to their views: NumPy's values, and the gradients of both sides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_strict
import numpy as np
import pytest

import gradwrap as gw
from filling import check_filling
from gradwrap.errors import InPlaceError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.5, -1.0, 2.0, 1.5])
M = np.random.default_rng(0).normal(size=(3, 4))
W = np.random.default_rng(1).normal(size=(3, 4))


def forget(leaf: Any) -> None:
    leaf.grad = None


def zeros(*shape: int, dtype: Any = np.float64) -> Any:
    """Return a buffer that can hold tracked values."""
    return gw.wrap(np.zeros(shape, dtype))


def check(program: Callable[..., Any], *args: Any) -> None:
    """NumPy's value on plain arrays, and first and second derivatives that are numerical."""
    copies = [np.copy(a) for a in args]
    expected = program(*(np.copy(a) for a in args))
    value, _ = gw.vjp(program, *args)
    np.testing.assert_allclose(gw.unwrap(value), gw.unwrap(expected), rtol=1e-12)
    gw.testing.check_grads(program, args, order=2)
    for arg, before in zip(args, copies, strict=True):
        np.testing.assert_array_equal(arg, before)


# Every form of a write ---------------------------------------------------------------------------


def _into(key: Any) -> Callable[[Any, Any], Any]:
    def program(x: Any, v: Any) -> Any:
        out = x * 2.0
        out[key] = v * v
        return out * x

    return program


def _augmented(key: Any) -> Callable[[Any, Any], Any]:
    def program(x: Any, v: Any) -> Any:
        out = x * 1.0
        out[key] += v * v
        out[key] *= v
        return out * x

    return program


MASK = M > 0
KEYS: list[tuple[Any, Any]] = [
    (1, W[0]),
    (-1, W[0]),
    (np.int64(2), W[0]),
    ((1, 2), W[0, 0]),
    ((1, np.int64(2)), W[0, 0]),
    (slice(1, None), W[:2]),
    (slice(None, None, -2), W[:2]),
    ((slice(None), slice(1, 3)), W[:, :2]),
    ((Ellipsis, 0), W[:, 0]),
    ((None, 1), W[:1]),
    (Ellipsis, W),
    ((slice(None), 1), W[:, 0]),
    (slice(0, 2), W[0]),
    (slice(0, 2), W[0, 0]),
    (MASK, W[0, 0]),
    (MASK, W[MASK]),
    (np.array([True, False, True]), W[0]),
    ([2, 0], W[:2]),
    (np.array([2, 0]), W[0]),
    ((np.array([0, 2]), np.array([1, 3])), W[0, :2]),
    ((slice(None), [3, 0]), W[:, :2]),
    (np.ix_([0, 2], [1, 3]), W[:2, :2]),
    (([0, 1], slice(1, 3)), W[:2, :2]),
]


@pytest.mark.parametrize(("key", "value"), KEYS, ids=[repr(k)[:50] for k, _ in KEYS])
def test_a_write_is_differentiable_on_both_sides(key: Any, value: Any) -> None:
    check(_into(key), M, value)


@pytest.mark.parametrize(("key", "value"), KEYS, ids=[repr(k)[:50] for k, _ in KEYS])
def test_an_augmented_write(key: Any, value: Any) -> None:
    check(_augmented(key), M, value)


@pytest.mark.parametrize("value", [np.array([1.0, 2.0, 3.0]), np.array(2.0)])
def test_of_repeated_indices_the_last_write_counts(value: Any) -> None:
    def program(x: Any, v: Any) -> Any:
        out = x * 1.0
        out[[0, 0, 2]] = v * v
        return out**2

    check(program, X, value)
    _, pull = gw.vjp(program, X, value)
    last = value if not value.shape else value[1:]
    gradient = pull(np.ones(4))[1]
    first = 0.0 if value.shape else gradient
    assert np.all(np.atleast_1d(gradient)[0] == first)
    assert np.all(last)


def test_a_constant_takes_the_gradient_away() -> None:
    def program(x: Any) -> Any:
        out = x * 2.0
        out[1] = 7.0
        return out.sum()

    np.testing.assert_array_equal(gw.grad(program)(X), [2.0, 0.0, 2.0, 2.0])


def test_lists_of_tracked_values_can_be_written() -> None:
    def program(x: Any) -> Any:
        out = x * 1.0
        out[1:3] = [x[0] * x[1], 2.0]
        return out**2

    check(program, X)


@pytest.mark.parametrize(
    "program",
    rows(
        [
            lambda x, y: x.__iadd__(y),
            lambda x, y: x.__isub__(y),
            lambda x, y: x.__imul__(y),
            lambda x, y: x.__itruediv__(y),
            lambda x, y: x.__ipow__(2),
            lambda x, y: x.__imod__(np.abs(y) + 3.3),
        ]
    ),
    ids=["+=", "-=", "*=", "/=", "**=", "%="],
)
def test_augmented_assignment(program: Callable[[Any, Any], Any]) -> None:
    def run(x: Any, y: Any) -> Any:
        z = x * 1.0
        alias = z
        result = program(z, y)
        assert result is z
        return z * alias

    check(run, M, W)
    check(run, M, W[0])


def test_matmul_in_place() -> None:
    def run(x: Any, y: Any) -> Any:
        z = x * 1.0
        z @= y
        return z * z

    check(run, M, np.random.default_rng(2).normal(size=(4, 4)))


def test_the_argument_itself_can_be_written_to_and_the_callers_array_is_not() -> None:
    def program(x: Any) -> Any:
        x[0] = x[1] * x[2]
        x *= x
        return x

    check(program, X)


# Values that a formula has saved -----------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    rows(
        [
            lambda y: np.exp(y),
            lambda y: np.tanh(y),
            lambda y: y * y,
            lambda y: np.sin(y.T).T,
            lambda y: np.sin(y[1:])[:, ::-1] * y[0],
            lambda y: np.prod(y, axis=0),
            lambda y: np.einsum("ij,kj->ik", y, y),
        ]
    ),
)
def test_a_value_that_a_formula_saved_is_never_overwritten(f: Callable[[Any], Any]) -> None:
    def program(x: Any) -> Any:
        y = x + 0.0
        first = f(y)
        y[0] = 5.0
        y *= 3.0
        y[1:, 1] = 2.0
        first_again = first * 1.0
        first[...] = first * first
        return np.sum(first * first_again) + np.sum(y * x)

    check(program, M)


def test_a_native_view_of_the_buffer_is_never_overwritten() -> None:
    x = gw.wrap(np.arange(4.0), requires_grad=True)
    out = x * 2.0
    data, part = out.data, out.data[:2]
    out[0] = 9.0
    np.testing.assert_array_equal(data, [0.0, 2.0, 4.0, 6.0])
    np.testing.assert_array_equal(part, [0.0, 2.0])


def test_the_array_given_to_wrap_is_never_written_to() -> None:
    buffer = np.zeros(3)
    whole, part = gw.wrap(buffer), gw.wrap(buffer[1:])
    whole[0] = 1.0
    whole += 1.0
    part[:] = 5.0
    with gw.no_grad():
        whole[1] = 2.0
    np.testing.assert_array_equal(buffer, 0.0)
    np.testing.assert_array_equal(whole.data, [2.0, 2.0, 1.0])


# Views -------------------------------------------------------------------------------------------


def _rows(x: Any) -> Any:
    out = x * 0.0
    for i, row in enumerate(out):
        row[:] = x[i] * (i + 1.0)
        row[0] = x[i, 1] ** 2
    return out


def _row(x: Any) -> Any:
    out = x * 1.0
    row = out[1]
    row *= x[0]
    part = row[1:3]
    part[::-1] = x[2, :2] ** 2
    return out * row


def _transposed(x: Any) -> Any:
    out = x * 1.0
    out.T[0] = x[:, 1] ** 2
    turned = np.swapaxes(out, 0, 1)
    turned[1:3, 0] = x[0, :2]
    return out * turned.T


def _reshaped(x: Any) -> Any:
    out = x * 1.0
    flat = out.reshape(-1)
    flat[::3] = x[0] ** 2
    np.ravel(out)[1] = x[1, 1] * x[0, 0]
    box = out.reshape(2, 3, 2)
    box[1, 2] *= x[0, :2]
    return out + flat.reshape(3, 4) * box.reshape(3, 4)


def _base_write_seen_by_views(x: Any) -> Any:
    out = x * 1.0
    row, column, turned, corner = out[0], out[:, 1], out.T, out[:2][:, :2]
    out[0] = x[1] ** 2
    out[:, 1] = x[:, 0] ** 3
    return row.sum() * column.sum() * turned.sum() * corner.sum()


def _siblings(x: Any) -> Any:
    out = x * 1.0
    first, second = out[:2], out[1:]
    first[1] = x[0] ** 2
    second[0, 0] = x[2, 2]
    return first.sum() * second.sum() + np.sum(first[1] * second[0])


def _shifted(x: Any) -> Any:
    out = x * 1.0
    out[1:] = out[:-1] * x[0]
    out[:, :-1] = out[:, 1:]
    out[:-1] += out[1:]
    return out


def _split(x: Any) -> Any:
    out = x * 1.0
    left, right = np.split(out, 2, axis=1)
    left[...] = right * x[:, :2]
    top, *_ = np.vsplit(out, 3)
    top += 1.0
    return out * out


def _axes(x: Any) -> Any:
    out = x * 1.0
    out[None][0, 0] = x[1] ** 2
    np.expand_dims(out, 1)[1, 0, :2] = x[0, 0]
    out[:, None].squeeze()[2, 3] = x[0, 1]
    np.squeeze(out)[1, 2] = x[1, 0] ** 2
    np.flip(out, axis=1)[0, 0] = x[1, 1] ** 2
    np.moveaxis(out, 0, 1)[1, 1] *= x[2, 2]
    np.rot90(out)[0, 0] = x[2, 1]
    return out * x


def _dead_views(x: Any) -> Any:
    out = x * 1.0
    for i in range(3):
        for j in range(4):
            out[i][j] = out[i][j] * x[i, j]
    return out


def _zero_d(x: Any) -> Any:
    out = x * 1.0
    cell = out[0, 0, ...]
    cell[...] = x[1, 1] ** 2
    out[0, 1] = cell * 2.0
    return out


VIEW_PROGRAMS = [
    _rows,
    _row,
    _transposed,
    _reshaped,
    _base_write_seen_by_views,
    _siblings,
    _shifted,
    _split,
    _axes,
    _dead_views,
    _zero_d,
]


@pytest.mark.parametrize("program", VIEW_PROGRAMS, ids=lambda f: f.__name__.strip("_"))
def test_writing_through_views(program: Callable[[Any], Any]) -> None:
    check(program, M)


def _copies(x: Any) -> Any:
    out = x * 1.0
    by_list, by_mask, by_both = out[[0, 1]], out[MASK], out[:, [0, 2]]
    flat, copied = out.flatten(), out.copy()
    turned = out.T.reshape(-1)
    for part in (by_list, by_mask, by_both, flat, copied, turned):
        part[...] = 7.0
    scalar = out[0, 0]
    out *= x
    return out * by_list.sum() + scalar


def test_copies_are_no_views() -> None:
    check(_copies, M)


def test_writing_to_a_broadcast_view_is_refused_as_in_numpy() -> None:
    x = gw.wrap(X)
    wide: Any = np.broadcast_to(x, (2, 4))
    with pytest.raises(InPlaceError, match=r"broadcast_to, which is a view .* to a .copy"):
        wide[0] = 1.0
    x[0] = 4.0
    np.testing.assert_array_equal(wide.data[:, 0], 4.0)


def test_a_scalar_does_not_change_when_its_alias_is_added_to() -> None:
    def program(x: Any) -> Any:
        total = x[0] * 1.0
        first = total
        total += x[1]
        total *= x[2]
        return first * total

    check(program, X)


def test_a_loop_of_sums() -> None:
    def program(x: Any) -> Any:
        total = 0.0
        for i in range(4):
            total += x[i] ** 2
            total /= 1.5
        return total

    check(program, X)


# Buffers -----------------------------------------------------------------------------------------


def _filled(x: Any, *, wrapped: bool = True) -> Any:
    out: Any = gw.wrap(np.zeros(x.shape[0])) if wrapped else np.zeros(x.shape[0])
    out[0] = x[0]
    for i in range(1, x.shape[0]):
        out[i] = out[i - 1] * 0.5 + x[i] ** 2
    return out


def test_a_buffer_filled_in_a_loop() -> None:
    gw.testing.check_grads(_filled, [X])
    np.testing.assert_allclose(gw.unwrap(_filled(X)), _filled(X, wrapped=False))


def test_filling_writes_into_the_buffer_itself() -> None:
    x = gw.wrap(X, requires_grad=True)
    out = gw.wrap(np.zeros(4))
    address = out.data.ctypes.data
    for i in range(4):
        out[i] = x[i] ** 2
        assert out.data.ctypes.data == address
    out[1:3] += x[0]
    for i in range(4):
        out[i] = 1.0
    assert out.data.ctypes.data == address


def test_filling_by_rows_writes_into_the_buffer_itself() -> None:
    x = gw.wrap(M, requires_grad=True)
    out = gw.wrap(np.zeros((3, 4)))
    address = out.data.ctypes.data
    for row, of_x in zip(out, x, strict=True):
        row[:] = of_x * 2.0
        row[0] = 1.0
    assert out.data.ctypes.data == address
    kept = out[0] * out[0]  # saves a copy of the row, since the buffer is the caller's
    out[0] = 3.0
    assert out.data.ctypes.data == address
    np.testing.assert_array_equal(kept.data[1:], (2 * M[0, 1:]) ** 2)
    kept.sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad[0], [0.0, *(8 * M[0, 1:])])


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_filling_costs_the_same_for_each_write_forward_and_backward(nested: bool) -> None:
    check_filling(lambda size: gw.wrap(np.zeros(size)), nested=nested)


def test_what_does_not_fit_is_refused() -> None:
    x = gw.wrap(X, requires_grad=True)
    y = x * 1.0
    with pytest.raises(ValueError, match=r"shape \(2, 4\).*Fix: write x = x"):
        y += np.ones((2, 4))
    with pytest.raises(TypeError, match=r"complex128.*Fix"):
        y *= 1j * np.ones(4)
    with pytest.raises(ValueError, match="broadcast"):
        y[:2] = np.ones(3)
    with pytest.raises(IndexError):
        y[9] = 1.0
    counts = gw.wrap(np.zeros(4, dtype=np.int64))
    with pytest.raises(InPlaceError, match=r"dtype float64 .* int64.*Fix: make the array with"):
        counts[0] = x[0]
    with pytest.raises(InPlaceError, match="int64"):
        counts += x
    with pytest.raises(InPlaceError, match=r"complex128 .* float64"):
        y[0] = x[0] * 1j


def test_plain_values_follow_numpys_casting() -> None:
    counts = gw.wrap(np.zeros(4, dtype=np.int32))
    counts += np.ones(4, dtype=np.int64)
    counts[0] = 2.7
    counts <<= 1
    np.testing.assert_array_equal(counts.data, [4, 2, 2, 2])
    assert counts.dtype == np.int32
    with pytest.raises(TypeError):
        counts /= 2


def test_single_precision_stays() -> None:
    def program(x: Any) -> Any:
        out = x * np.float32(1.0)
        out[0] = x.astype(np.float64)[1] ** 2
        out += np.ones(4)
        assert out.dtype == np.float32
        return out.sum()

    gradient = gw.grad(program)(X.astype(np.float32))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, [0.0, -1.0, 1.0, 1.0])


def test_complex_buffers() -> None:
    def program(x: Any) -> Any:
        out = gw.wrap(np.zeros(4, dtype=np.complex128))
        out[0] = x[0]
        out[1:] = x[1:] * (1.0 + 2.0j)
        out *= out
        return out

    gw.testing.check_grads(program, [X])
    gw.testing.check_grads(program, [X * (1.0 - 0.5j)])


# Leaves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    rows(
        [
            lambda w: w.__setitem__(0, 1.0),
            lambda w: w.__iadd__(1.0),
            lambda w: w[0].__setitem__(0, 1.0),
            lambda w: w.T.__imul__(2.0),
            lambda w: w.fill(0.0),
            lambda w: w.sort(),
        ]
    ),
)
def test_a_leaf_cannot_be_written_to_but_under_no_grad(write: Callable[[Any], Any]) -> None:
    w = gw.wrap(M, requires_grad=True)
    with pytest.raises(InPlaceError, match=r"a leaf Variable that requires grad.*no_grad"):
        write(w)
    with gw.no_grad():
        write(w)
    assert w.is_leaf
    assert w.requires_grad


def test_an_update_keeps_the_leaf_and_from_the_second_on_its_buffer() -> None:
    start = np.ones(3)
    w = gw.wrap(start, requires_grad=True)
    addresses: list[int] = []
    for _ in range(4):
        (w * w).sum().backward()
        with gw.no_grad():
            assert w.grad is not None
            w -= 0.1 * w.grad
        w.grad = None
        addresses.append(w.data.ctypes.data)
    assert w.is_leaf
    assert len(set(addresses)) == 1
    np.testing.assert_allclose(w.data, 0.8**4 * np.ones(3))
    np.testing.assert_array_equal(start, 1.0)


def test_an_update_does_not_reach_what_was_saved() -> None:
    w: Any = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
    with gw.no_grad():
        w += 0.0
    loss = (w * w * w).sum()
    with gw.no_grad():
        w *= 10.0
    loss.backward()
    np.testing.assert_allclose(w.grad, [3.0, 12.0])


def test_a_scalar_leaf_is_updated_in_place() -> None:
    for start in (np.float64(3.0), np.array(3.0)):
        w: Any = gw.wrap(start, requires_grad=True)
        with pytest.raises(InPlaceError, match="leaf"):
            w -= 1.0
        for _ in range(2):
            (w * w).backward()
            with gw.no_grad():
                w -= 0.25 * w.grad
            forget(w)
        assert w.is_leaf
        assert w.item() == pytest.approx(0.75)


def test_views_of_a_leaf_follow_an_update_and_stay_in_the_graph() -> None:
    w = gw.wrap(M, requires_grad=True)
    row = w[0]
    with gw.no_grad():
        w += 1.0
        w[0, 0] = 5.0
    np.testing.assert_array_equal(row.data, w.data[0])
    (row * 2.0).sum().backward()
    np.testing.assert_array_equal(w.grad, [[2.0] * 4, [0.0] * 4, [0.0] * 4])


def test_under_no_grad_the_graph_does_not_see_a_write() -> None:
    x = gw.wrap(X, requires_grad=True)
    y = x * 2.0
    with gw.no_grad():
        y *= 10.0
        y[0] = 3.0
        y.T[1] += 1.0
    np.testing.assert_array_equal(y.data, [3.0, -19.0, 40.0, 30.0])
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [2.0] * 4)


# Transforms inside transforms --------------------------------------------------------------------


def test_in_place_inside_a_nested_gradient() -> None:
    def loss(x: Any) -> Any:
        out = gw.wrap(np.zeros((3, 4)))
        for i, row in enumerate(out):
            row[:] = x[i] ** 3
            row[1:3] += x[0, :2] * x[i, 2:]
        out.T[0] *= x[:, 0]
        return np.sum(out * out)

    gw.testing.check_grads(gw.grad(loss), [M], order=2)


def test_a_buffer_of_outer_and_inner_values() -> None:
    def outer(x: Any) -> Any:
        shared = gw.wrap(np.zeros(3))
        shared[0] = x[0] ** 2

        def inner(y: Any) -> Any:
            own = gw.wrap(np.zeros(4))
            own[0], own[1], own[2] = x[0] * y, y**2, x[1]
            shared[1] = x[2] * y
            shared[2] = 3.0
            own[3] = own[0] * shared[1]
            return (own * own).sum() + shared.sum() ** 2

        return gw.grad(inner)(x[3]) + shared.sum()

    def numerical(x: Any) -> Any:
        def inner(y: Any) -> Any:
            own = np.array([x[0] * y, y**2, x[1], x[0] * y * x[2] * y])
            return (own * own).sum() + (x[0] ** 2 + x[2] * y + 3.0) ** 2

        step = 1e-4
        slope = (inner(x[3] + step) - inner(x[3] - step)) / (2 * step)
        return slope + x[0] ** 2 + x[2] * x[3] + 3.0

    value, _ = gw.value_and_grad(outer)(X)
    np.testing.assert_allclose(value, numerical(X), rtol=1e-6)
    gw.testing.check_grads(fn(lambda x: gw.value_and_grad(outer)(x)[0]), [X], order=2)


def test_a_closed_over_outer_array_changed_inside() -> None:
    def outer(x: Any) -> Any:
        z = x * 1.0

        def inner(y: Any) -> Any:
            z[0] = y * x[1]
            z[1:] *= y
            return (z * z).sum()

        return gw.grad(inner)(x[2])

    def expected(x: Any) -> Any:
        return 2 * x[2] * (x[1] ** 2 + x[1] ** 2 + x[2] ** 2 + x[3] ** 2)

    value, gradient = gw.value_and_grad(outer)(X)
    np.testing.assert_allclose(value, expected(X))
    np.testing.assert_allclose(gradient, gw.grad(expected)(X))


def test_what_an_inner_transform_saved_is_never_overwritten_by_the_outer_function() -> None:
    def by_closure(x: Any) -> Any:
        z = x * 1.0

        def inner(y: Any) -> Any:
            w = z * y
            z[...] = z * 2.0
            return (w * w).sum()

        return gw.grad(inner)(3.0)

    value, gradient = gw.value_and_grad(by_closure)(X)
    np.testing.assert_allclose(value, 6 * np.sum(X**2))
    np.testing.assert_allclose(gradient, 12 * X)

    def by_argument(x: Any) -> Any:
        z = x * 1.0

        def inner(y: Any) -> Any:
            w = np.sin(y)
            z[...] = z * 5.0
            return (w * y).sum()

        return gw.grad(inner)(z).sum()

    value, _ = gw.value_and_grad(by_argument)(X)
    np.testing.assert_allclose(value, np.sum(np.cos(X) * X + np.sin(X)))


def test_what_a_transform_returns_can_be_written_to() -> None:
    def outer(x: Any) -> Any:
        value, pull = gw.vjp(np.exp, x)
        value *= 0.0
        cotangent = x * 2.0
        first = pull(cotangent)[0]
        first *= 0.0
        same = gw.vjp(lambda z: z, x)[1](cotangent)[0]
        same *= 0.0
        return (pull(cotangent)[0] + value + first + same).sum()

    gradient = gw.grad(outer)(X)
    np.testing.assert_allclose(gradient, 2 * np.exp(X) * (1 + X))


def test_create_graph_through_writes() -> None:
    x: Any = gw.wrap(X, requires_grad=True)
    out = _filled(x)
    (out**3).sum().backward(create_graph=True)
    first: Any = x.grad
    forget(x)
    first.sum().backward()
    nested = gw.grad(lambda z: gw.grad(lambda u: (_filled(u) ** 3).sum())(z).sum())(X)
    np.testing.assert_allclose(gw.unwrap(x.grad), nested)


# Another library ---------------------------------------------------------------------------------


def test_array_api_strict() -> None:
    def program(x: Any) -> Any:
        xp = x.__array_namespace__()
        out = xp.zeros((3, 4))
        out[0, ...] = x[0, ...] * 2.0
        row = out[1, ...]
        row[...] = x[1, ...] * x[0, ...]
        out[2, 1] = x[0, 0] ** 2
        out += x
        corner = out[0, 0]
        corner += 100.0  # an element is a copy
        return xp.sum(out * out)

    def plain(x: Any) -> Any:
        out = np.stack([x[0] * 2.0, x[1] * x[0], np.eye(4)[1] * x[0, 0] ** 2])
        return np.sum((out + x) ** 2)

    gradient = gw.grad(program)(array_api_strict.asarray(M))
    np.testing.assert_allclose(np.asarray(gradient), gw.grad(plain)(M))


def place(x: Any) -> int:
    """Where the array of a variable lies in memory."""
    found: int = gw.unwrap(gw.stop_gradient(x)).__array_interface__["data"][0]
    return found


def test_reading_small_parts_does_not_make_writes_copy_the_array() -> None:
    places: list[int] = []

    def f(x: Any) -> Any:
        a = 1.0 * x
        a[0, 0] = 2.0 * a[0, 1]  # the first write copies what the product saved or made
        a[1:, 2] *= 3.0
        for i in range(1, 4):
            column = a[:i, i]
            assert column.strides == np.empty((4, 4))[:i, i].strides
            a[i, i] -= a[i, :i] @ column
            places.append(place(a))
        return np.sum(a * a)

    x = np.random.default_rng(0).normal(size=(4, 4))
    gw.testing.check_grads(f, (x,), order=1)
    assert len(set(places[:3])) == 1


def test_a_small_part_read_before_a_write_keeps_its_value_in_backward() -> None:
    def f(x: Any) -> Any:
        a = 1.0 * x
        a[0] = 3.0
        part = a[1:]
        square = part * part
        a[1:] = 0.0
        assert gw.stop_gradient(part).tolist() == [0.0, 0.0]  # the view sees the write
        part[0] = 5.0
        assert gw.stop_gradient(a).tolist() == [3.0, 5.0, 0.0]  # and the array that to the view
        return np.sum(square) + np.sum(a)

    assert gw.grad(f)(np.array([1.0, 2.0, 3.0])).tolist() == [0.0, 4.0, 6.0]


@pytest.mark.parametrize(
    "read", [fn(lambda a: a[:, 3]), fn(lambda a: a[1:40, 2]), fn(lambda a: a[7])]
)
def test_a_part_that_is_saved_leaves_the_buffer_to_its_array(read: Callable[[Any], Any]) -> None:
    """A product saves its factors: of a part of an array that is written to, a copy."""
    addresses: set[int] = set()

    def f(x: Any) -> Any:
        a = 1.0 * x
        total = 0.0
        for i in range(4):
            a[i, 3] = 2.0 * a[i, 2]
            part = read(a)
            assert not part.flags.owndata  # it is a view
            total = total + np.sum(part * part)
            addresses.add(getattr(a, "_value", a).ctypes.data)
        return total + np.sum(a)

    x = np.random.default_rng(0).normal(size=(50, 50))
    gw.testing.check_grads(f, (x,), order=1)
    addresses.clear()
    gw.grad(f)(x)
    assert len(addresses) == 1


def test_a_view_that_has_its_own_name_is_read_again_after_each_write() -> None:
    def f(x: Any) -> Any:
        a = 1.0 * x
        row = a[1]
        for k in range(3):
            a[k] = a[k] * 2.0
            row -= 0.5 * a[k]
        return np.sum(a * a) + np.sum(row)

    x = np.random.default_rng(0).normal(size=(3, 4))
    gw.testing.check_grads(f, (x,), order=2)


@pytest.mark.parametrize("inner", [gw.grad, gw.jacfwd])
@pytest.mark.parametrize("outer", [gw.jacrev, gw.jacfwd])
def test_a_buffer_with_values_of_an_outer_transform_takes_those_of_an_inner_one(
    outer: Any, inner: Any
) -> None:
    def of_both(p: Any, x: Any) -> Any:
        filled = zeros(3)
        filled[0] = x[0] ** 2
        filled[1] = p * x[1]
        filled[2] = x[0] * p**2
        filled[1:] *= x[0]
        return np.sum(filled**2)

    def slope(x: Any) -> Any:  # 2 p (x0 x1)**2 + 4 p**3 x0**4
        return inner(partial(of_both, x=x))(0.7)

    a, b = 1.3, 0.4
    wanted = [2.8 * a * b**2 + 16 * 0.343 * a**3, 2.8 * a**2 * b]
    np.testing.assert_allclose(outer(slope)(np.array([a, b])), wanted, rtol=1e-12)
