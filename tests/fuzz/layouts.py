"""Every way to make an array, and to look at it, on batches of every layout.

`vmap` gives what a loop over the examples gives, also where NumPy looks at memory: `ravel` and
`reshape` return views or copies by it, and `order="A"` reads in the order that it finds. So each
program makes an array, takes another one from it, writes to that, and returns both.

`python -m tests.fuzz.layouts` runs the whole product; `test_layouts.py` runs a sample.
"""

from __future__ import annotations

import itertools
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw
import gradwrap.numpy as gnp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Program = tuple[str, str, str, str]

NP: Any = np
VALUES = np.sin(np.arange(48.0) * 1.7).reshape(2, 4, 6)

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x.copy(),
    "F": np.asfortranarray,
    "examples in F": lambda x: x.transpose(0, 2, 1).copy().transpose(0, 2, 1),
    "batch in the middle": lambda x: x.transpose(1, 0, 2).copy().transpose(1, 0, 2),
    "batch behind": lambda x: x.transpose(1, 2, 0).copy().transpose(2, 0, 1),
    "steps": lambda x: np.repeat(x, 2, axis=2)[:, :, ::2],
    "steps in front": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "repeated": lambda x: np.broadcast_to(x[0].copy(), x.shape),
}

MAKERS: dict[str, Callable[[Any], Any]] = {
    "x": lambda x: x,
    "x.T": lambda x: x.T,
    "x * 2": lambda x: x * 2,
    "x.T * 2": lambda x: x.T * 2,
    "x + x.T.T[::-1]": lambda x: x + x.T.T[::-1],
    "outer": lambda x: x[0] * x[:, 0][:, None] + 1.0,
    "sin of sliced": lambda x: np.sin(x[1:, ::2]),
    "x[1:, ::2]": lambda x: x[1:, ::2],
    "x[::-1]": lambda x: x[::-1],
    "x[[0, 2]]": lambda x: x[[0, 2]],
    "x[:, [0, 2, 3]]": lambda x: x[:, [0, 2, 3]],
    "copy": lambda x: x.copy(),
    "copy F": lambda x: x.copy(order="F"),
    "copy A": lambda x: x.copy(order="A"),
    "copy K": lambda x: x.T.copy(order="K"),
    "np.copy": np.copy,
    "np.array F": lambda x: gnp.array(x, order="F"),
    "np.array K": lambda x: gnp.array(x.T),
    "ascontiguousarray": lambda x: gnp.ascontiguousarray(x.T),
    "asfortranarray": gnp.asfortranarray,
    "astype": lambda x: x.T.astype(np.float32).astype(np.float64),
    "astype F": lambda x: x.astype(np.float64, order="F"),
    "reshape": lambda x: (x * 1).reshape(6, 4),
    "reshape F": lambda x: (x * 1).reshape(6, 4, order="F"),
    "three axes": lambda x: (x * 1).reshape(2, 2, 6).transpose(1, 2, 0),
    "moveaxis": lambda x: np.moveaxis(np.exp(x).reshape(2, 2, 6), 0, 1),
    "gradient": lambda x: np.gradient(x)[0],
    "gradient 1": lambda x: np.gradient(x.T)[1],
    "diff": lambda x: np.diff(x, axis=0),
    "cumsum": lambda x: np.cumsum(x.T, axis=0),
    "cumprod": lambda x: NP.cumprod(x, axis=1),
    "sort": lambda x: np.sort(x.T, axis=0),
    "flip": lambda x: np.flip(x * 1, axis=1),
    "roll": lambda x: np.roll(x.T, 1, axis=0),
    "repeat": lambda x: np.repeat(x.T, 2, axis=0),
    "tile": lambda x: np.tile(x.T, (2, 1)),
    "concatenate": lambda x: np.concatenate([x.T, x.T * 2]),
    "stack": lambda x: np.stack([x.T, x.T * 2], axis=1),
    "where": lambda x: NP.where(x.T > 0, x.T, -x.T),
    "clip": lambda x: np.clip(x.T, -0.5, 0.5),
    "take": lambda x: np.take(x.T, [0, 2], axis=0),
    "matmul": lambda x: x.T @ x,
    "einsum": lambda x: np.einsum("ij->ji", x) * 1,
    "tensordot": lambda x: np.tensordot(x.T, x, 1),
    "sum": lambda x: np.sum(np.stack([x.T, x.T]), axis=0),
    "max": lambda x: np.max(np.stack([x, x * 2]).T, axis=2),
    "mean keepdims": lambda x: x.T - np.mean(x.T, axis=0, keepdims=True),
    "broadcast_to": lambda x: np.broadcast_to(x[0], (3, 6)) + 0,
    "zeros_like": lambda x: np.zeros_like(x.T) + x.T,
    "empty_like filled": lambda x: _filled(np.empty_like(x.T * 1), x.T),
    "full_like": lambda x: np.full_like(x.T, 3.0) * x[0, 0],
    "pad": lambda x: np.pad(x.T, 1),
    "tril": lambda x: np.tril(x.T),
    "fft": lambda x: np.real(np.fft.fft(x.T, axis=0)) * 1,
    "swapaxes": lambda x: np.swapaxes(x * 1, 0, 1),
    "nan_to_num": lambda x: np.nan_to_num(x.T),
    "interp": lambda x: NP.interp(x.T, [-1.0, 0.0, 1.0], [0.0, 1.0, 4.0]),
    "inverse": lambda x: NP.linalg.inv(x[:, :4].T + 3 * np.eye(4)),
    "real": lambda x: np.real(x.T * (1 + 1j)),
    "written": lambda x: _written(x.T * 1),
}


def _filled(made: Any, values: Any) -> Any:
    made[...] = values
    return made


def _written(y: Any) -> Any:
    y[0] *= 3.0
    return y


ORDERS: tuple[Any, ...] = ("C", "F", "A", "K")


def _by_method(name: str, order: str, y: Any) -> Any:
    return getattr(y, name)(order=order)


def _reshaped(shape: tuple[int, ...], order: Any, y: Any) -> Any:
    return np.reshape(y, shape, order=order)


def _of_transpose(order: str, y: Any) -> Any:
    return y.T.ravel(order=order)


def _of_copy(order: str, read: str, y: Any) -> Any:
    return y.copy(order=order).ravel(order=read)


LOOKS: dict[str, Callable[[Any], Any]] = {
    **{f"ravel {o}": partial(_by_method, "ravel", o) for o in ORDERS},
    **{f"np.ravel {o}": partial(np.ravel, order=o) for o in ORDERS},
    **{f"flatten {o}": partial(_by_method, "flatten", o) for o in ORDERS},
    **{f"reshape {o}": partial(_reshaped, (-1,), o) for o in ORDERS[:3]},
    **{f"reshape rows {o}": partial(_reshaped, (2, -1), o) for o in ORDERS[:3]},
    **{f"T ravel {o}": partial(_of_transpose, o) for o in ORDERS},
    **{f"copy {o} ravel {p}": partial(_of_copy, o, p) for o in ORDERS for p in ORDERS},
    "reshape": lambda y: y.reshape(y.shape[::-1]),
    "reshape half": lambda y: y.reshape(2, -1),
    "slice ravel": lambda y: y[:, :2].ravel(),
    "rows ravel": lambda y: y[:2].ravel(),
    "column ravel": lambda y: y[:, :1].ravel(),
    "row": lambda y: y[0],
    "transposed row": lambda y: y.T[0].reshape(-1),
    "asarray F": lambda y: gnp.asarray(y, order="F").ravel(order="F"),
    "ascontiguousarray": lambda y: gnp.ascontiguousarray(y).ravel(),
    "require": lambda y: gnp.asfortranarray(y).T.reshape(-1),
    "diagonal": lambda y: y.ravel()[:: y.shape[-1] + 1],
    "swapped": lambda y: np.swapaxes(y, 0, -1).reshape(-1),
    "squeeze": lambda y: np.squeeze(y[:1]).reshape(-1),
    "astype": lambda y: y.astype(np.float64, copy=False).ravel(order="A"),
    "times one": lambda y: (y * 1.0).ravel(order="K"),
    "times row": lambda y: (y * y[0]).reshape(-1),
}

WRITES: dict[str, Callable[[Any], None]] = {
    "none": lambda v: None,
    "element": lambda v: v.__setitem__((1,) * v.ndim, -1.0) if min(v.shape) > 1 else None,
    "part": lambda v: v.__setitem__(slice(1, None), v[1:] * 5.0),
}


def _value_by_vjp(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def value(example: Any) -> Any:
        return gw.vjp(f, example)[0]

    return value


MODES: dict[str, Callable[[Any, Any], Any]] = {
    "vmap": lambda f, x: gw.vmap(f, fallback="loop")(x),
    "vmap of vjp": lambda f, x: gw.vmap(_value_by_vjp(f), fallback="loop")(x),
    "vjp of vmap": lambda f, x: gw.vjp(gw.vmap(f, fallback="loop"), x)[0],
}


def programs() -> Iterator[Program]:
    """Every program by its four names."""
    return itertools.product(LAYOUTS, MAKERS, LOOKS, WRITES)


def function_of(program: Program) -> Callable[[Any], tuple[Any, Any]]:
    """Return a program as a function of one example."""
    _, maker, look, write = program

    def run(x: Any) -> tuple[Any, Any]:
        y = MAKERS[maker](x)
        v = LOOKS[look](y)
        if write != "none":
            WRITES[write](v)
        return y, v

    return run


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or None where NumPy refuses it: a write, or a shape."""
    try:
        return call()
    except ValueError:
        return None


def looped(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the results for one example after the other.

    Where examples do not lie one behind the other, `vmap` gives each as a dense copy.
    """
    strides = [abs(int(stride)) for stride in x.strides]
    is_apart = strides[0] == max(strides)
    results = [f(one if is_apart else one.copy("K")) for one in x]
    return [np.stack(parts) for parts in zip(*results, strict=True)]


def difference(program: Program, mode: str = "vmap") -> str:
    """Return how `vmap` and the loop differ; nothing where they agree."""
    layout = LAYOUTS[program[0]]
    f = function_of(program)
    wanted = outcome(lambda: looped(f, layout(VALUES)))
    try:
        found = outcome(lambda: MODES[mode](f, layout(VALUES)))
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    if wanted is None and program[0] == "repeated":  # whose examples NumPy does not write to
        return ""
    if wanted is None or found is None:
        return "" if wanted is found else f"{found} for {wanted}".replace("\n", " ")[:200]
    for name, one, other in zip(("made", "looked at"), found, wanted, strict=True):
        if np.shape(one) != other.shape or not np.allclose(one, other, rtol=1e-12, atol=1e-12):
            return f"{name}: {one!r} for {other!r}".replace("\n", " ")
    return ""


def mode_of(program: Program, number: int) -> str:
    """Choose a mode; `vjp` copies its argument, so that repeated examples are repeated no more."""
    return tuple(MODES)[number % (2 if program[0] == "repeated" else 3)]


def main() -> int:
    """Run the whole product, and print what differs."""
    failed = count = 0
    for count, program in enumerate(programs(), start=1):
        words = difference(program, mode := mode_of(program, count))
        if words:
            failed += 1
            print(f"{', '.join(program)} ({mode}): {words[:160]}")
    print(f"{count:,} programs, {failed:,} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
