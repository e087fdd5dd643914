"""The memory order of results: the function's, or C's with the c engine."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.tree import flatten
from lambdas import fn

BASE = np.random.default_rng(0).uniform(0.5, 1.5, (4, 5, 6))
LAYOUTS: dict[str, Any] = {
    "C": BASE.copy(),
    "F": np.asfortranarray(BASE),
    "mixed": np.ascontiguousarray(BASE.transpose(1, 0, 2)).transpose(1, 0, 2),
    "gaps": np.repeat(BASE, 2, axis=-1)[..., ::2],
    "reversed": BASE[..., ::-1],
}


def loop(x: Any) -> Any:
    return functools.reduce(lambda s, _: np.sin(s) + s * 0.1, range(12), x)


FUNCTIONS: dict[str, Any] = {
    "product": lambda x: x * 2,
    "sine": lambda x: np.sin(x) * x,
    "transposed": lambda x: np.sin(x.T) * 2,
    "sum of both orders": lambda x: x + x.transpose(2, 1, 0).transpose(2, 1, 0),
    "sums": lambda x: (x.sum(0), x.max(1), np.cumsum(x, 0), x - x.mean(0)),
    "copies": lambda x: (x.copy(), np.copy(x), x * 1.0),
    "flipped": lambda x: np.flip(x, 0) * 3,
    "joined": lambda x: (np.concatenate([x, x], 0), np.stack([x, x * 2]), np.roll(x, 1, 0)),
    "chosen": lambda x: (np.where(x > 1, x, 0), np.clip(x, 0.7, 1.2)),
    "reshaped": lambda x: ((x * 2).reshape(20, 6) + 1, x.ravel() * 2),
    "swapped": lambda x: (np.swapaxes(x * 1.5, 0, 2), np.moveaxis(x, 0, 2) * 2),
    "einsum": lambda x: (np.einsum("ijk->kij", x), np.einsum("ijk,ijk->ij", x, x)),
    "matrices": lambda x: x @ x.transpose(0, 2, 1),
    "broadcast": lambda x: (x + np.ones(6), x * np.ones((4, 1, 1)), x[0] + x[:, :1]),
    "indexed": lambda x: (x[:, [0, 2, 1]], x[[0, 2]], x[1:3] * 2),
    "sorted": lambda x: (np.sort(x, 0), np.diff(x, axis=1), np.pad(x, 1)),
    "like it": lambda x: (np.ones_like(x) * 2, np.zeros_like(x) + x, np.full_like(x, 2.0) * x),
    "loop": loop,
    "gradient": gw.grad(fn(lambda x: np.sum(np.sin(x) * x))),
    "gradient of a transpose": gw.grad(fn(lambda x: np.sum(x.T**3))),
    "gradient of matrices": gw.grad(fn(lambda x: np.sum((x @ x.transpose(0, 2, 1)) ** 2))),
    "gradient of parts": gw.grad(fn(lambda x: np.sum(x[1:3] ** 2) + np.sum(x[..., ::2]))),
    "gradient of a loop": gw.grad(fn(lambda x: np.sum(loop(x)))),
    "value and gradient": gw.value_and_grad(fn(lambda x: np.sum(np.exp(x) * 2))),
    "vmap": gw.vmap(fn(lambda x: np.sin(x).T)),
    "vmap over the last": gw.vmap(fn(lambda x: np.sin(x).T), in_axes=2, out_axes=1),
    "vmap of a gradient": gw.vmap(gw.grad(fn(lambda x: np.sum(x**3)))),
    "tangent": lambda x: gw.jvp(fn(lambda y: np.tanh(y) * y), (x,), (x,)),
    "hessian": gw.hessian(fn(lambda x: np.sum(x[0, 0] ** 3))),
}


def axes(array: Any) -> list[int]:
    """Return the axes by their strides, the largest first, without those of length 1."""
    long = [axis for axis in range(array.ndim) if array.shape[axis] > 1]
    return sorted(long, key=lambda axis: (-abs(array.strides[axis]), axis))


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_laid_out_as_the_functions(name: str, layout: str, engine: str) -> None:
    function, x = FUNCTIONS[name], LAYOUTS[layout]
    compiled = gw.compile(function, engine=engine)
    compiled(x)
    assert len(compiled.programs) == 1
    found, wanted = flatten(compiled(x))[0], flatten(function(x))[0]
    for a, b in zip(found, wanted, strict=True):
        if isinstance(b, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
            assert axes(a) in ([axes(b)] if engine == "numpy" else [axes(b), [*range(a.ndim)]])
            assert a.flags.writeable == b.flags.writeable


def test_branches_with_one_order_and_with_two() -> None:
    def one(x: Any) -> Any:
        return np.zeros_like(x) + x if x[0, 0, 0] > 1 else np.ones_like(x) * x

    def two(x: Any) -> Any:
        return np.zeros_like(x) + x if x[0, 0, 0] > 1 else (x * 2).copy("C")

    x = LAYOUTS["F"]
    for function in (one, two):
        compiled: Any = gw.compile(function)
        for _ in range(2):
            for factor in (0.1, 10.0):
                found = compiled(x * factor)
                np.testing.assert_array_equal(found, function(x * factor))
                assert function is two or axes(found) == axes(x)
