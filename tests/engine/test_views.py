"""Views as NumPy has them: one storage, NumPy's memory order, scalars and arrays without axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from counting import lines
from gradwrap.errors import InPlaceError
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

V = np.array([[0.3, -0.7, 1.1], [0.4, 0.9, -0.2], [1.3, 0.6, 0.8]])
WINDOWS = np.lib.stride_tricks.sliding_window_view


def check(program: Callable[[Any], Any], x: Any = V) -> None:
    """NumPy's value and type, and derivatives that are numerical, in both modes and under vmap."""
    expected = program(np.copy(x))
    value, pull = gw.vjp(program, x)
    assert type(value) is type(expected)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gw.jvp(program, (x,), (np.ones_like(x),))[0], expected, rtol=1e-12)
    assert pull(np.ones_like(expected))[0].shape == x.shape
    gw.testing.check_grads(program, (x,), order=2)
    for axis in range(x.ndim + 1):
        many = np.stack([x, x * 0.9, x + 0.1], axis=axis)
        rows = [program(np.copy(np.take(many, i, axis=axis))) for i in range(3)]
        for in_axes in (axis, axis - x.ndim - 1):
            np.testing.assert_allclose(gw.vmap(program, in_axes)(many), rows, rtol=1e-12)


# Which results are views -------------------------------------------------------------------------


def einsum_diagonal(v: Any) -> Any:
    a = v @ v.T
    np.einsum("ii->i", a)[:] += 1.0
    return np.log(a + 3.0)


def diagonal_sees_its_base(v: Any) -> Any:
    a = v @ v.T
    d = np.diagonal(a)
    a += np.eye(3)
    return np.log(d)


def raveled_column_is_a_copy(v: Any) -> Any:
    a = v @ v.T
    c = a[:, 0].ravel()
    c *= 2.0
    return a * c


def copy_is_in_the_order_of_c(v: Any) -> Any:
    y = (v * 1.0).T.copy()
    y.reshape(-1)[0] = v[0, 1] * 5.0
    return y * y


def flipped_base_keeps_its_order(v: Any) -> Any:
    y = v * 1.0
    np.flip(y, 0)[...] *= 2.0
    y.reshape(-1)[0] = v[0, 0] * 5.0
    return y * y


def flipud_and_rot90(v: Any) -> Any:
    y = v * 1.0
    np.flipud(y)[0] *= v[0]
    np.rot90(y)[1] += v[2]
    y.reshape(-1)[2] = 3.0
    return y * v


def take_is_in_the_order_of_c(v: Any) -> Any:
    a = np.take(v, [0, 0, 1], axis=-1)
    r = a.ravel()
    a *= 2.0
    return r * r


def parts_of_complex_numbers(v: Any) -> Any:
    z = v * 1j + v * v
    z.real[0] = v[1] * 5.0
    np.imag(z)[1] *= v[0]
    z.imag[:, 2] = 0.5
    return np.abs(z) ** 2


def windows_see_their_base(v: Any) -> Any:
    a = v * 1.0
    w = WINDOWS(a, 2, axis=0)
    a[1] *= v[0]
    return w * w


def linalg_diagonal(v: Any) -> Any:
    a = v * 1.0
    d = np.linalg.diagonal(a, offset=1)
    a[0] *= v[1]
    return d * d


def ravel_in_memory_order(v: Any) -> Any:
    a = (v * 1.0).T
    r = a.ravel("K")
    r[1] = v[2, 2] * 3.0
    return a * v


def view_of_a_view_of_a_view(v: Any) -> Any:
    a = v * 1.0
    row = a.T[1][::-1]
    a[0] *= 2.0
    row[:2] = v[2, :2] * row[1:]
    a += v
    return a * np.sum(row)


def selected_rows_are_copies(x: Any) -> Any:
    y = x[[2, 0, 1]]
    y.ravel()[1:] = x[0, 0] * 3.0
    return y * x


PROGRAMS = [
    einsum_diagonal,
    diagonal_sees_its_base,
    raveled_column_is_a_copy,
    copy_is_in_the_order_of_c,
    flipped_base_keeps_its_order,
    flipud_and_rot90,
    take_is_in_the_order_of_c,
    parts_of_complex_numbers,
    windows_see_their_base,
    linalg_diagonal,
    ravel_in_memory_order,
    view_of_a_view_of_a_view,
    selected_rows_are_copies,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_views_are_numpys(program: Callable[[Any], Any]) -> None:
    check(program)


@pytest.mark.parametrize(
    "view",
    [
        fn(lambda a: np.diagonal(a)),
        fn(lambda a: np.linalg.diagonal(a)),
        fn(lambda a: np.broadcast_to(a, (2, 3, 3))),
        fn(lambda a: WINDOWS(a, 2, axis=0)),
    ],
)
def test_what_is_read_only_in_numpy_is_refused(view: Callable[[Any], Any]) -> None:
    def program(v: Any) -> Any:
        a = v * 1.0
        view(a)[...] = 0.0
        return np.sum(a)

    with pytest.raises(ValueError, match="read-only"):
        program(V)
    with pytest.raises(InPlaceError, match=r"read-only. Fix: write to that array, or to a .copy"):
        gw.grad(program)(V)


# Memory order -------------------------------------------------------------------------------------


def first_of_meshgrid(x: Any) -> Any:
    meshgrid: Any = np.meshgrid
    return meshgrid(x[0], x[1])[0]


ORDERS: dict[str, Callable[[Any], Any]] = {
    "clip": fn(lambda x: np.clip(x, -0.5, 0.5)),
    "pad": fn(lambda x: np.pad(x, 1)),
    "pad, edge": fn(lambda x: np.pad(x, 1, mode="edge")),
    "select": fn(lambda x: np.select([x > 0], [x], 0.0)),
    "insert": fn(lambda x: np.insert(x, 1, 5.0, axis=0)),
    "delete": fn(lambda x: np.delete(x, 1, axis=0)),
    "meshgrid": first_of_meshgrid,
    "full_like": fn(lambda x: np.full_like(x, 2.0)),
    "zeros_like": fn(lambda x: np.zeros_like(x, order="F")),
    "copy": fn(lambda x: x.copy()),
    "copy, F": fn(lambda x: x.copy("F")),
    "np.copy": fn(lambda x: np.copy(x)),
    "np.copy, C": fn(lambda x: np.copy(x, order="C")),
    "astype": fn(lambda x: x.astype(complex)),
    "astype, F": fn(lambda x: x.astype(complex, order="F")),
    "flatten": fn(lambda x: x.flatten("K")),
    "take": fn(lambda x: np.take(x, [1, 0], axis=1)),
    "take, one": fn(lambda x: np.take(x, 1, axis=0)),
    "delete, last": fn(lambda x: np.delete(x, 0, axis=-1)),
    "angle": fn(lambda x: np.angle(x)),
    "nan_to_num": fn(lambda x: np.nan_to_num(x)),
    "nancumsum": fn(lambda x: np.nancumsum(x, axis=0)),
    "accumulate": fn(lambda x: np.maximum.accumulate(x)),
    "partition": fn(lambda x: np.partition(x, 1, axis=0)),
    "dot": fn(lambda x: np.dot(x, 2.0)),
    "piecewise": fn(lambda x: np.piecewise(x, [x > 0], [lambda t: t * 2.0, 1.0])),
}
INPUTS: dict[str, Callable[[], Any]] = {
    "C": lambda: V[:, :2].copy(),
    "F": lambda: np.asfortranarray(V[:, :2]),
    "transposed": lambda: V[:, :2].copy().T,
}


@pytest.mark.parametrize("order", INPUTS)
@pytest.mark.parametrize("name", ORDERS)
def test_memory_order_is_numpys(name: str, order: str) -> None:
    function, x = ORDERS[name], INPUTS[order]()
    expected = function(x)
    assert (gw.wrap(x, requires_grad=True) * 1.0).strides == x.strides

    value = function(gw.wrap(x, requires_grad=True) * 1.0)

    np.testing.assert_array_equal(gw.unwrap(value), expected)
    assert steps(value) == steps(expected)


def steps(array: Any) -> list[int]:
    """The strides of the axes that have more than one element."""
    return [s for s, n in zip(array.strides, array.shape, strict=True) if n > 1]


PARTS: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda x: x[::-1],
    "gathered": lambda x: x[:, [2, 0, 1]],
    "gathered and reversed": lambda x: x[:, [2, 0, 1]][::-1],
    "with gaps": lambda x: x[:, ::2],
    "turned": lambda x: np.rot90(x),
    "repeated": lambda x: np.broadcast_to(x[0], (3, 3)),
    "repeated along rows": lambda x: np.broadcast_to(x[:, :1], (3, 3)),
    "of three axes": lambda x: x[:, None, [True, True, False]].swapaxes(1, 2),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ORDERS)
def test_memory_order_of_a_part_is_numpys(name: str, part: str) -> None:
    function, taken = ORDERS[name], PARTS[part]
    expected = function(taken(V * 1.0))
    found: list[Any] = []

    def noted(x: Any) -> Any:
        found.append(steps(function(taken(x * 1.0))))
        return np.sum(x)

    gw.grad(noted)(V)
    gw.jvp(noted, (V,), (V,))
    assert found == [steps(expected)] * 2


def test_reading_a_repeated_array_does_not_change_it() -> None:
    x: Any = gw.wrap(V, requires_grad=False)
    repeated = np.broadcast_to(x[0], (4, 3))
    plain = np.array(repeated)
    assert repeated.strides[0] == 0
    assert not np.asarray(repeated).flags.writeable
    np.testing.assert_array_equal(plain, np.broadcast_to(V[0], (4, 3)))


def fill_imaginary(x: Any) -> None:
    x.imag.fill(0.5)


def set_imaginary(x: Any) -> None:
    x.imag[0] = 1.0


def of_variables(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: program(gw.wrap(x))


@pytest.mark.parametrize("write", [fill_imaginary, set_imaginary])
@pytest.mark.parametrize("wrap", [gw.grad, gw.vmap, of_variables])
def test_the_imaginary_part_of_real_numbers_is_read_only(write: Any, wrap: Any) -> None:
    def program(x: Any) -> Any:
        a = x * 1.0
        write(a)
        return np.sum(a)

    with pytest.raises(ValueError, match="read-only"):
        program(V)
    with pytest.raises(InPlaceError, match=r"no imaginary part to write to. Fix: x = x \+ 1j"):
        wrap(program)(V)


def test_an_array_keeps_its_memory_order_when_it_is_written() -> None:
    x = gw.wrap(np.asfortranarray(V), requires_grad=True)
    y = x * 1.0
    steps = y.strides
    y *= gw.wrap(np.ascontiguousarray(V))
    y[0] = 1.0
    np.flip(y)[...] += 1.0
    assert y.strides == steps == (8, 24)


# Numbers, and arrays without axes -----------------------------------------------------------------


@pytest.mark.parametrize(
    "read",
    [
        fn(lambda s: s[...]),
        fn(lambda s: s[()]),
        fn(lambda s: s[None][0]),
        fn(lambda s: np.sinc(s)),
    ],
)
def test_a_number_can_be_indexed(read: Callable[[Any], Any]) -> None:
    def program(x: Any) -> Any:
        s = np.sum(x)
        return read(s) + s * s

    check(program)


@pytest.mark.parametrize("key", [(), Ellipsis, True])
def test_a_number_cannot_be_written_to(key: Any) -> None:
    def program(x: Any) -> Any:
        s = np.sum(x)
        s[key] = 0.0
        return s

    with pytest.raises(TypeError, match="item assignment"):
        program(V)
    with pytest.raises(InPlaceError, match=r"float64 without axes is a number.*Fix: x = np.where"):
        gw.grad(program)(V)
    with pytest.raises(TypeError, match="cannot be written to"):
        gw.vmap(program)(V)


@pytest.mark.parametrize("key", [0, np.array(0), (0, slice(1))])
def test_a_part_is_written_to_a_place_of_its_array(key: Any) -> None:
    def program(v: Any) -> Any:
        x = v * 1.0
        x[key] = x[0, :1]
        return x**2

    x = np.array([[0.3, -0.7], [1.1, 0.4]])
    np.testing.assert_allclose(gw.jacrev(program)(x), gw.jacfwd(program)(x))
    np.testing.assert_allclose(gw.vjp(program, x)[0], program(x))


def test_second_derivatives_of_writes_to_a_view_without_axes() -> None:
    def program(v: Any) -> Any:
        r = v * 1.0
        r[0, ...][...] = v[1] ** 2  # its tangent is a batch of numbers
        return np.sum(r**3)

    x = np.array([1.0, 2.0, 3.0])
    expected = np.diag([0.0, 30 * 2.0**4 + 12.0, 18.0])
    np.testing.assert_allclose(gw.hessian(program)(x), expected)
    np.testing.assert_allclose(gw.jacfwd(gw.jacfwd(program))(x), expected)


def test_a_number_has_no_length_and_an_array_without_axes_has_none_to_tell() -> None:
    x: Any = gw.wrap(V, requires_grad=True)
    assert len(x) == 3
    assert hasattr(x, "__len__")
    assert not hasattr(np.sum(x), "__len__")
    with pytest.raises(TypeError, match=r"'float64' has no len\(\)"):
        len(np.sum(x))
    assert hasattr(gw.wrap(np.array(1.0)), "__len__")
    with pytest.raises(TypeError, match="unsized"):
        len(gw.wrap(np.array(1.0)))


def test_an_array_without_axes_stays_one() -> None:
    s: Any = gw.wrap(np.zeros(()))
    same = s
    x: Any = gw.wrap(V, requires_grad=True)
    for row in x:
        s += np.sum(row * row)
    assert same is s
    assert type(s.data) is np.ndarray
    np.testing.assert_allclose(s.data, np.sum(V * V))
    (s * s).backward()
    np.testing.assert_allclose(x.grad, 4.0 * np.sum(V * V) * V)


def test_a_total_does_not_change_the_first_of_its_terms_under_vmap() -> None:
    def program(x: Any) -> Any:
        loss = np.sum(x)
        total = loss
        total += np.sum(x * x)
        return np.stack([loss, total])

    check(program)


# What vmap maps over ------------------------------------------------------------------------------


def written_twice(x: Any, w: Any) -> Any:
    """Write through a view, and then an example's value to its array, before the view is read."""
    a = w * 1.0
    rows = a[:2]
    row = rows[0]
    rows /= 2.0
    a[0] += x
    return rows * 3.0, row + x, a


def test_a_view_that_was_not_read_since_a_write_is_mapped_over_with_its_array() -> None:
    x = np.array([0.5, -1.0, 2.0])
    expected = [written_twice(one, V) for one in x]
    for found, each in zip(
        gw.vmap(written_twice, in_axes=(0, None))(x, V), zip(*expected, strict=True), strict=True
    ):
        np.testing.assert_allclose(found, np.stack(each))

    def total(x: Any, w: Any) -> Any:
        return sum(np.sum(part) for part in gw.vmap(written_twice, in_axes=(0, None))(x, w))

    gw.testing.check_grads(total, (x, V))


def test_what_repeats_one_number_of_each_example_is_read_only() -> None:
    def program(x: Any) -> Any:
        repeated = np.broadcast_arrays(x, x[1])[1]
        repeated[-1] = np.sum(x)
        return repeated

    with pytest.raises(InPlaceError, match="read-only"):
        gw.vmap(program)(V)
    with pytest.raises(InPlaceError, match="read-only"):
        gw.grad(fn(lambda x: np.sum(program(x))))(V[0])


def test_an_array_keeps_its_views_when_it_is_given_another_shape() -> None:
    def program(x: Any) -> Any:
        a = x * 2.0
        first, second = a[0], a[1]
        first *= x[1]
        a.shape = (9,)
        a[2:4] = x[0, :2]
        second += 1.0
        return np.concatenate([first, second, a])

    check(program)


# Cost ---------------------------------------------------------------------------------------------


def through_views(count: int) -> Callable[[], Any]:
    def program(x: Any) -> Any:
        a = x * 1.0
        views = [a[i : i + 2] for i in range(count)]
        for view in views:
            view *= 1.01  # noqa: PLW2901  each is written through
        return np.sum(a) + sum(np.sum(view) for view in views)

    x = np.linspace(0.0, 1.0, 200)
    return lambda: gw.grad(program)(x)


def test_the_cost_of_a_write_does_not_grow_with_the_number_of_views() -> None:
    few, many = lines(through_views(10)), lines(through_views(100))
    assert many <= 10.5 * few


def test_outdated_views_are_taken_in_the_mode_of_the_write() -> None:
    x: Any = gw.wrap(V, requires_grad=True)
    a = x * 1.0
    row = a[1]
    a *= x
    with gw.no_grad():
        read = row.data.copy()
    np.testing.assert_array_equal(read, V[1] ** 2)
    np.sum(row).backward()
    np.testing.assert_allclose(x.grad, [np.zeros(3), 2 * V[1], np.zeros(3)])


def row_of_a_filled_array(v: Any) -> Any:
    a = gw.wrap(np.zeros((3, 3))) if type(v) is not np.ndarray else np.zeros((3, 3))
    a[...] = v * v
    row = a[:1]
    row *= v[1]
    return a * v


def test_a_row_of_a_filled_array_is_a_view_at_every_level() -> None:
    """An array that is being written to gives copies of its parts to what operations save."""
    np.testing.assert_allclose(gw.vjp(row_of_a_filled_array, V)[0], row_of_a_filled_array(V))
    gw.testing.check_grads(row_of_a_filled_array, (V,), order=2)
    gradient = gw.grad(fn(lambda w: np.sum(row_of_a_filled_array(w))))
    tangent = gw.jvp(gradient, (V,), (V,))[1]
    h = 1e-6
    ahead, behind = (gradient(V * (1 + s)) for s in (h, -h))
    np.testing.assert_allclose(tangent, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-8)


# What NumPy returns itself ------------------------------------------------------------------------


def test_an_array_without_axes_of_length_one_is_squeezed_to_itself() -> None:
    def program(x: Any) -> Any:
        a = x * 2.0
        same = np.squeeze(a)
        assert same is a
        same *= x
        return a

    check(program)


def test_an_array_without_axes_is_flipped_to_a_number() -> None:
    def program(x: Any) -> Any:
        a = np.sum(x, keepdims=True).reshape(())
        flipped = np.flip(a)
        a[...] = 1.0
        return flipped * x

    check(program)
    np.testing.assert_allclose(gw.vmap(program)(V), [program(row) for row in V])
    with pytest.raises(ValueError, match="axis 0"):
        gw.grad(fn(lambda x: np.flip(x.reshape(()), 0)))(np.ones(1))
