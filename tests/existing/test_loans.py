"""Arrays that share memory: `v = np.asarray(a, order="F")`, and all that copies only if it must.

A write to the one is seen in the other, for constants, arguments and batches, as in NumPy.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.errors import GradwrapError, InPlaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[Any], tuple[Any, ...]]

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x * 2.0,
    "F": lambda x: (x * 2.0).copy(order="F"),
    "transposed": lambda x: (x * 2.0).T,
    "part": lambda x: (x * 2.0)[1:],
    "steps": lambda x: (x * 2.0)[:, ::2],
    "backwards": lambda x: (x * 2.0)[::-1],
    "row": lambda x: (x * 2.0)[1],
    "reshaped": lambda x: (x * 2.0).reshape(2, 6),
}
MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "asarray": lambda m, a: m.asarray(a),
    "asarray C": lambda m, a: m.asarray(a, order="C"),
    "asarray F": lambda m, a: m.asarray(a, order="F"),
    "asarray A": lambda m, a: m.asarray(a, order="A"),
    "asarray dtype": lambda m, a: m.asarray(a, dtype=np.float64, order="K"),
    "asarray other": lambda m, a: m.asarray(a, dtype=np.float32),
    "asanyarray F": lambda m, a: m.asanyarray(a, order="F"),
    "array": lambda m, a: m.array(a, copy=None),
    "array F": lambda m, a: m.array(a, copy=None, order="F"),
    "array ndmin": lambda m, a: m.array(a, copy=None, ndmin=3),
    "copy": lambda m, a: m.array(a, order="F"),
    "ascontiguousarray": lambda m, a: m.ascontiguousarray(a),
    "asfortranarray": lambda m, a: m.asfortranarray(a),
    "require": lambda m, a: m.require(a, requirements="C"),
    "require F": lambda m, a: m.require(a, requirements=["F", "W"]),
    "asarray_chkfinite": lambda m, a: m.asarray_chkfinite(a),
    "part of asarray": lambda m, a: m.asarray(a)[..., 1:][..., 0],
    "asarray of part": lambda m, a: m.asarray(a[..., 1:]),
    "asarray of T": lambda m, a: m.asarray(a.T, order="F"),
    "twice": lambda m, a: m.asarray(m.asarray(a, order="F")),
    "astype": lambda _, a: a.astype(np.float64, copy=False),
    "astype F": lambda _, a: a.astype(np.float64, order="F", copy=False),
    "atleast_1d": lambda m, a: m.atleast_1d(a),
    "atleast_3d": lambda m, a: m.atleast_3d(a),
    "reshape": lambda m, a: m.reshape(a, (-1, 2) if a.size % 2 == 0 else -1),
    "reshape F": lambda m, a: m.reshape(a, -1, order="F"),
    "ravel": lambda m, a: m.ravel(a, order="K"),
    "ravel A": lambda _, a: a.ravel(order="A"),
    "squeeze": lambda m, a: m.squeeze(a),
    "real": lambda m, a: m.real(a),
    "broadcast_arrays": lambda m, a: m.broadcast_arrays(a, a)[0],
    "nan_to_num": lambda m, a: m.nan_to_num(a, copy=False),
}


def _first(a: Any) -> tuple[int, ...]:
    return (0,) * len(a.shape)


def _in_rows(_: Any, a: Any) -> None:
    for row in a if a.ndim > 1 else [a]:
        row[...] = row * 3.0


def _with_nditer(m: Any, a: Any) -> None:
    with m.nditer(np.asarray(a), op_flags=["readwrite"]) as it:
        for one in it:
            one[...] = 2.0 * one


def _in_place(_: Any, a: Any) -> None:
    a += 1.0


def _out(m: Any, a: Any) -> None:
    m.exp(a * 0.1, out=a)


WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    "item": lambda _, a: a.__setitem__(_first(a), -1.0),
    "all": lambda _, a: a.__setitem__(..., np.cos(a)),
    "last": lambda _, a: a.__setitem__((slice(None),) * (a.ndim - 1) + (-1,), 7.0),
    "mask": lambda _, a: a.__setitem__(a > 0.0, 0.5),
    "+=": _in_place,
    "out=": _out,
    "rows": _in_rows,
    "nditer": _with_nditer,
    "fill": lambda _, a: a.fill(4.0),
    "sort": lambda _, a: a.sort(axis=0),
    "copyto": lambda m, a: m.copyto(a, -a),
    "put": lambda m, a: m.put(a, [0, 1], 9.0),
    "flat": lambda _, a: a.flat.__setitem__(slice(None), 6.0),
    "part": lambda _, a: a.T[..., :1].__setitem__(..., 8.0),
}
X = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
BATCH = np.stack([X, X[::-1] * 0.5])
CONSTANT: dict[str, Callable[[Any], Any]] = {
    "vjp": lambda f: gw.vjp(lambda x: f(gw.stop_gradient(x)), X)[0],
    "jvp": lambda f: gw.jvp(lambda x: f(gw.stop_gradient(x)), (X,), (X,))[0],
    "vmap": lambda f: gw.vmap(lambda _, x: f(x), in_axes=(0, None), out_axes=None)(X, X),
    "jvp of vjp": lambda f: gw.jvp(
        lambda y: gw.vjp(lambda x: f(gw.stop_gradient(x * y)), X)[0], (X * 0 + 1,), (X,)
    )[0],
}
TRACKED: dict[str, Callable[[Any], Any]] = {
    "vjp": lambda f: gw.vjp(f, X)[0],
    "jvp": lambda f: gw.jvp(f, (X,), (X,))[0],
}
MAPPED: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda f: gw.vmap(f)(BATCH),
    "vmap of vjp": lambda f: gw.vmap(lambda x: gw.vjp(f, x)[0])(BATCH),
}


def function(names: tuple[str, ...], library: Any) -> Function:
    """Share memory, write to one of the two arrays, and then to the other."""
    layout, maker, writer, direction = names

    def run(x: Any) -> tuple[Any, ...]:
        base = LAYOUTS[layout](x)
        part = base[..., :1]  # taken before the memory is shared, and read after the write
        v = MAKERS[maker](library, base)
        if isinstance(v, np.ndarray) and not v.flags.writeable:
            return base, part, v
        WRITERS[writer](library, base if direction == "to the array" else v)
        after = base * 1.0
        base[_first(base)] = 11.0
        return base, part, v, after

    return run


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return the results as lists, or that NumPy refuses the program."""
    try:
        return [np.asarray(part).tolist() for part in call(*args)]
    except (ValueError, IndexError, TypeError, AttributeError) as error:
        if isinstance(error, GradwrapError):
            raise
        return "refused"


def looped(f: Function) -> list[Any]:
    return [np.stack(parts) for parts in zip(*(f(x.copy()) for x in BATCH), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["to the array", "to the other"])
def test_a_write_is_seen_wherever_numpy_shares_memory(direction: str) -> None:
    products = itertools.product(LAYOUTS, MAKERS, WRITERS, [direction])
    for number, names in enumerate(products):
        if number % 3:  # all of them were run once; this is one in three, under one mode of many
            continue
        in_numpy = function(names, np)
        wanted = outcome(in_numpy, X.copy())
        cases = [(CONSTANT, np), (CONSTANT, gnp), (TRACKED, gnp), (MAPPED, gnp)]
        modes, library = cases[number // 3 % 4]
        if names[2] == "nditer" and modes is not CONSTANT:  # NumPy's, which asks for a plain array
            continue
        if modes is MAPPED:
            if names[2] == "mask":  # which selects another number of elements in each example
                continue
            wanted = outcome(looped, in_numpy)
        mode = tuple(modes)[number // 12 % len(modes)]
        found = outcome(modes[mode], function(names, library))
        assert found == wanted, (names, library.__name__, mode)


def test_a_tracked_value_is_refused_while_a_plain_array_shows_the_memory() -> None:
    def f(x: Any, write: Any) -> Any:
        a = np.argsort(x) * 0.5
        v = np.asarray(a, order="F")[1:]
        write(a, x)
        return np.sum(a) + v[0]

    x = np.array([3.0, 1.0, 2.0])
    with pytest.raises(InPlaceError, match=r"shares its memory with a plain one.*np\.array\(a\)"):
        gw.grad(f)(x, lambda a, x: a.__setitem__(0, x[0]))
    with pytest.raises(InPlaceError, match="shares its memory with a plain one"):
        gw.jvp(lambda x: f(x, lambda a, x: a.__setitem__(slice(1, None), x[1:])), (x,), (x,))
    with pytest.raises(InPlaceError, match="shares its memory with a plain one"):
        gw.vmap(lambda x, a: f(a, lambda a, _: a.__imul__(x)), in_axes=(0, None))(x, x)


def test_a_tracked_value_can_be_written_when_no_plain_array_is_left() -> None:
    def f(x: Any) -> Any:
        a = np.argsort(x) * 0.5
        top = np.asarray(a).max()
        a[0] = x[0]
        return np.sum(a * x) + top

    np.testing.assert_allclose(gw.grad(f)(np.array([3.0, 1.0, 2.0])), [6.0, 1.0, 0.0])


def test_what_an_operation_has_saved_does_not_change_with_a_plain_array() -> None:
    def f(x: Any, k: Any) -> Any:
        k = k * 1.0
        y = x * k
        v = np.asarray(k)
        z = x * k
        v *= 2.0
        k += 1.0
        return np.sum(y + z + x * k * v)

    for size in (3, 1_000):
        x = np.linspace(0.5, 1.5, size)
        np.testing.assert_allclose(gw.grad(f)(x, x), 2 * x + (2 * x + 1) ** 2)


def test_the_array_that_was_wrapped_stays_the_callers() -> None:
    given = np.ones(3)
    a = gw.wrap(given)
    v = np.asarray(a)
    given += 1.0
    v += 1.0
    np.testing.assert_array_equal(np.stack([given, v, a.numpy()]), np.full((3, 3), 3.0))
    with pytest.raises(InPlaceError, match=r"that gradwrap.wrap was given.*np\.array\(a\)"):
        a += 1.0
    del v
    a += 1.0
    np.testing.assert_array_equal(np.stack([given, a.numpy()]), [[3.0] * 3, [4.0] * 3])


@pytest.mark.parametrize("mode", ["vjp", "vmap"])
def test_a_plain_array_stays_one_by_whatever_name_it_is_given(mode: str) -> None:
    def f(x: Any, library: Any) -> Any:
        k = np.zeros(3)
        v = library.array(object=k, copy=None, order="F")
        w = library.asarray(a=k) if library is gnp else np.asarray(k)
        v += 1.0
        w *= 3.0
        return k * x

    def in_ours(x: Any) -> Any:
        return f(x, gnp)

    x = np.array([3.0, 1.0, 2.0])
    found = gw.vjp(in_ours, x)[0] if mode == "vjp" else gw.vmap(in_ours)(x[None])[0]
    np.testing.assert_array_equal(found, f(x, np))


def test_a_plain_array_keeps_memory_of_its_own_alive() -> None:
    def f(x: Any) -> Any:
        zeros = np.asarray(x.imag)  # of real numbers: no part of the memory of x
        others = [np.full(5, float(i)) for i in range(50)]
        return x + zeros + sum(np.sum(one) for one in others) * zeros

    for shape in ((), (5,)):
        x = np.full(shape, 2.0)
        np.testing.assert_array_equal(gw.vjp(f, x)[0], x)
