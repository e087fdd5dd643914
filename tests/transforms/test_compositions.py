"""Random compositions of transforms of random programs, against JAX.

A seed gives a program, written once for `jax.numpy` and for NumPy, and a chain of transforms to
apply to it. Each transform gives a function of the same argument, so they apply in any order.

JAX needs about a second to compile each composition, so its results are in a file, which
`PYTHONPATH=tests/support python tests/transforms/test_compositions.py` writes. One test compares
with the file, without JAX; another one with JAX itself, for some of the shorter ones, which also
shows that the file is JAX's.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Function = Callable[[Any], Any]

SEEDS = range(240)
RESULTS = Path(__file__).with_name("compositions.json")
SHAPE = (2, 3)
LARGEST = 40


@dataclasses.dataclass
class Library:
    """A library that programs run on: arrays, transforms, and a way to set an element."""

    np: ModuleType
    transforms: Any
    put: Callable[[Any, int, Any], Any]
    stop: Callable[[Any], Any]


def written(a: Any, row: int, value: Any) -> Any:
    copy = a.copy()
    copy[row] = value
    return copy


OURS = Library(np, gw, written, gw.stop_gradient)

# Programs -----------------------------------------------------------------------------------------

Step = tuple[str, int, int]


def matrix(lib: Library, a: Any) -> Any:
    """Return a well-conditioned matrix."""
    return lib.np.tanh(a @ a.T) * 0.5 + 3 * np.eye(2)


def running(lib: Library, a: Any) -> Any:
    """Loop over rows."""
    state = a[0] * 0.0
    states: list[Any] = []
    for row in a:
        state = lib.np.tanh(state * 0.5 + row)
        states.append(state)
    return lib.np.stack(states)


STEPS: dict[str, Callable[[Library, Any, Any, int], Any]] = {
    "add": lambda lib, a, b, i: a + b * (i + 1),
    "multiply": lambda lib, a, b, i: a * b,
    "divide": lambda lib, a, b, i: a / (2.0 + b * b),
    "sin": lambda lib, a, b, i: lib.np.sin(a + i),
    "tanh": lambda lib, a, b, i: lib.np.tanh(a),
    "exp": lambda lib, a, b, i: lib.np.exp(-a * a * 0.3),
    "log1p": lambda lib, a, b, i: lib.np.log1p(a * a),
    "sqrt": lambda lib, a, b, i: lib.np.sqrt(1.0 + a * a),
    "power": lambda lib, a, b, i: a ** (i + 1) * 0.5,
    "arctan2": lambda lib, a, b, i: lib.np.arctan2(a, 2.0 + b * b),
    "where": lambda lib, a, b, i: lib.np.where(a > 0.1 * i, lib.np.sin(a), b * 0.5),
    "maximum": lambda lib, a, b, i: lib.np.maximum(a, b * 0.3 + 0.1),
    "abs": lambda lib, a, b, i: lib.np.abs(a + 0.05),
    "matmul": lambda lib, a, b, i: a @ (b.T @ a) * 0.3,
    "einsum": lambda lib, a, b, i: lib.np.einsum("ij,kj,kl->il", a, b, b) * 0.2,
    "outer": lambda lib, a, b, i: lib.np.outer(a[:, i], b[i % 2]),
    "dot": lambda lib, a, b, i: lib.np.dot(a[0], b[1]) * a * 0.3,
    "sum": lambda lib, a, b, i: a - lib.np.sum(b, axis=i % 2, keepdims=True) * 0.2,
    "mean": lambda lib, a, b, i: a * lib.np.mean(b),
    "var": lambda lib, a, b, i: a + lib.np.var(b, axis=1, keepdims=True),
    "prod": lambda lib, a, b, i: a + lib.np.prod(b, axis=i % 2, keepdims=True) * 0.3,
    "max": lambda lib, a, b, i: a - lib.np.max(b, axis=1, keepdims=True) * 0.3,
    "norm": lambda lib, a, b, i: a / (1.0 + lib.np.linalg.norm(b)),
    "reverse": lambda lib, a, b, i: a[::-1, np.array([2, 0, 1])],
    "gather": lambda lib, a, b, i: a[np.array([[1, 0, 1], [0, 0, 1]]), np.array([0, 2, i])],
    "row": lambda lib, a, b, i: a * b[i % 2] + b[:, i : i + 1],
    "new_axis": lambda lib, a, b, i: lib.np.sum(a[:, None, :] * b[None] * 0.3, axis=i % 2),
    "reshape": lambda lib, a, b, i: lib.np.reshape(a, (3, 2)).T,
    "ravel": lambda lib, a, b, i: lib.np.reshape(lib.np.roll(lib.np.ravel(a), i + 1), SHAPE),
    "concatenate": lambda lib, a, b, i: lib.np.concatenate([a[:1], b[1:] * 0.5]),
    "stack": lambda lib, a, b, i: lib.np.stack([a[1], b[0] * a[0]]),
    "moveaxis": lambda lib, a, b, i: lib.np.moveaxis(lib.np.stack([a, b])[i % 2], 0, -1).T,
    "cumsum": lambda lib, a, b, i: lib.np.cumsum(a, axis=i % 2) * 0.5,
    "sort": lambda lib, a, b, i: lib.np.sort(a, axis=1) * b,
    "take": lambda lib, a, b, i: lib.np.take(a, np.array([1, 1, i]), axis=1),
    "sorted": lambda lib, a, b, i: a[:, lib.np.argsort(b[0])],
    "along": lambda lib, a, b, i: lib.np.take_along_axis(a, lib.np.argsort(b, axis=1), axis=1),
    "put": lambda lib, a, b, i: lib.put(a, i % 2, b[1] * 0.7),
    "loop": lambda lib, a, b, i: running(lib, a) + b,
    "triangle": lambda lib, a, b, i: lib.np.tril(a, i - 1) + b,
    "solve": lambda lib, a, b, i: lib.np.linalg.solve(matrix(lib, a), b),
    "inv": lambda lib, a, b, i: lib.np.linalg.inv(matrix(lib, b)) @ a,
    "det": lambda lib, a, b, i: a * lib.np.linalg.det(matrix(lib, b)) * 0.1,
    "slogdet": lambda lib, a, b, i: a + lib.np.linalg.slogdet(matrix(lib, b))[1],
    "sign": lambda lib, a, b, i: a * lib.np.sign(b) + b,
    "floor": lambda lib, a, b, i: a + lib.np.floor(2 * b) * b * 0.2,
    "chosen": lambda lib, a, b, i: a * (b > lib.np.mean(b)) + a * (a == lib.np.max(a)),
    "constant": lambda lib, a, b, i: a * lib.stop(b * a) * 0.5 + lib.np.cos(b),
    "cholesky": lambda lib, a, b, i: lib.np.linalg.cholesky(matrix(lib, a)) @ b * 0.3,
}
ENDS: list[Callable[[Library, Any], Any]] = [
    lambda lib, a: a,
    lambda lib, a: lib.np.sum(a, axis=0),
    lambda lib, a: a[1],
    lambda lib, a: lib.np.sum(a * a),
    lambda lib, a: lib.np.log(lib.np.sum(lib.np.exp(a))),
]


def program(lib: Library, seed: int) -> Function:
    """Return a function of a `SHAPE` array; its output has at most two axes."""
    source = random.Random(seed)
    kinds = list(STEPS)
    steps: list[Step] = [
        (source.choice(kinds), source.randint(0, 2), source.randint(0, 9))
        for _ in range(source.randint(2, 4))
    ]
    end = source.choice(ENDS)

    def run(x: Any) -> Any:
        values = [x, lib.np.sin(x) + 0.5]
        for kind, i, at in steps:
            values.append(STEPS[kind](lib, values[-1], values[at % (len(values) - 1)], i))
        return end(lib, values[-1])

    return run


# Transforms ---------------------------------------------------------------------------------------


class Chain:
    """Transforms to be applied one after the other, chosen by a seed; the same for any library."""

    def __init__(self, seed: int) -> None:
        source = random.Random(1000 + seed)
        self.names: list[str] = []
        self.seed = seed
        for _ in range(source.randint(1, 4)):
            left = HIGHEST - self.order
            self.names.append(source.choice([n for n in TRANSFORMS if ORDERS[n] <= left]))

    @property
    def order(self) -> int:
        """Number of times it differentiates."""
        return sum(ORDERS[name] for name in self.names)

    def of(self, lib: Library, function: Function, x: Any) -> Function:
        shape = np.shape(function(x))
        for place, name in enumerate(self.names):
            numbers = np.random.default_rng([self.seed, place])
            function = TRANSFORMS[name](lib, function, shape, numbers)
            shape = SHAPES[name](shape)
            if math.prod(shape) > LARGEST:
                function, shape = shrunk(lib, function, shape), (3,)
        return function


def shrunk(lib: Library, f: Function, shape: tuple[int, ...]) -> Function:
    """Reduce the output to weighted sums, to keep derivatives of derivatives small."""
    weights = np.random.default_rng(math.prod(shape)).normal(size=(3, math.prod(shape)))
    return lambda x: weights @ lib.np.reshape(f(x), (-1,))


def gradient(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    weights = numbers.normal(size=shape)
    return lib.transforms.grad(lambda x: lib.np.sum(f(x) * weights))  # type: ignore[no-any-return]  # a library is Any


def value_and_gradient(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    def scalar(x: Any) -> tuple[Any, Any]:
        out = f(x)
        return lib.np.sum(out * out), {"out": out}

    def run(x: Any) -> Any:
        (value, aux), found = lib.transforms.value_and_grad(scalar, has_aux=True)(x)
        return found * value + lib.np.sum(aux["out"])

    return run


def pushed(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    v = numbers.normal(size=SHAPE)
    return lambda x: lib.transforms.jvp(f, (x,), (v,))[1]


def pushed_along_itself(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    def run(x: Any) -> Any:
        out, tangent = lib.transforms.jvp(
            fn(lambda y: f(y) + lib.np.sum(x * y)), (x,), (lib.np.sin(x),)
        )
        return out * tangent

    return run


def pulled(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    w = numbers.normal(size=shape)

    def run(x: Any) -> Any:
        out, pull = lib.transforms.vjp(f, x)
        return pull(lib.np.cos(out) * w)[0]

    return run


def linearized(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    v = numbers.normal(size=SHAPE)

    def run(x: Any) -> Any:
        out, push = lib.transforms.linearize(f, x)
        return push(v) + out * push(x)

    return run


def mapped_copies(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    scales = numbers.normal(size=(2,))
    return lambda x: lib.transforms.vmap(fn(lambda s, y: f(y * s)), in_axes=(0, None))(scales, x)


def mapped_columns(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    def run(x: Any) -> Any:
        return lib.transforms.vmap(
            fn(lambda column: f(column[:, None] * 0.5 + x)), in_axes=1, out_axes=-1
        )(x)

    return run


def mapped_stack(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    return lambda x: lib.transforms.vmap(f)(lib.np.stack([x, lib.np.cos(x)]))


def slopes_of_steps(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    """A transform whose own variables go through steps, next to those of the ones around it."""
    rows = numbers.normal(size=(2, *SHAPE))

    def run(x: Any) -> Any:
        def scalar(z: Any) -> Any:
            steps = lib.np.sign(z) * x + lib.np.floor(2 * x) * lib.stop(z)
            return lib.np.sum(steps * z) * lib.np.sum(f(x))

        return lib.transforms.vmap(lib.transforms.grad(scalar))(rows)

    return run


def jacobian_of(name: str) -> Callable[..., Function]:
    def make(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
        return getattr(lib.transforms, name)(f)  # type: ignore[no-any-return]  # a library is Any

    return make


def hessian_product(lib: Library, f: Function, shape: Any, numbers: Any) -> Function:
    v = numbers.normal(size=SHAPE)

    def scalar(x: Any) -> Any:
        return lib.np.sum(f(x) ** 2)

    return lambda x: lib.transforms.jvp(lib.transforms.grad(scalar), (x,), (v,))[1]


TRANSFORMS: dict[str, Callable[..., Function]] = {
    "grad": gradient,
    "value_and_grad": value_and_gradient,
    "jvp": pushed,
    "jvp_closure": pushed_along_itself,
    "vjp": pulled,
    "linearize": linearized,
    "vmap": mapped_copies,
    "vmap_closure": mapped_columns,
    "vmap_stack": mapped_stack,
    "slopes_of_steps": slopes_of_steps,
    "jacrev": jacobian_of("jacrev"),
    "jacfwd": jacobian_of("jacfwd"),
    "hessian": jacobian_of("hessian"),
    "hvp": hessian_product,
}
HIGHEST = 4
ORDERS = {
    name: 0 if "vmap" in name else 2 if name in ("hessian", "hvp") else 1 for name in TRANSFORMS
}
"""Number of times each differentiates: with each, JAX takes twice as long to compile."""
SHAPES: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    **dict.fromkeys(("grad", "value_and_grad", "vjp", "hvp"), lambda shape: SHAPE),
    **dict.fromkeys(("jvp", "jvp_closure", "linearize"), lambda shape: shape),
    **dict.fromkeys(("vmap", "vmap_stack"), lambda shape: (2, *shape)),
    "vmap_closure": lambda shape: (*shape, 3),
    "slopes_of_steps": lambda shape: (2, *SHAPE),
    **dict.fromkeys(("jacrev", "jacfwd"), lambda shape: (*shape, *SHAPE)),
    "hessian": lambda shape: (*shape, *SHAPE, *SHAPE),
}


# Results ------------------------------------------------------------------------------------------


def argument(seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=SHAPE)


def ours(seed: int) -> Any:
    x = argument(seed)
    return Chain(seed).of(OURS, program(OURS, seed), x)(x)


def theirs(seed: int) -> Any:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    put = fn(lambda a, row, value: a.at[row].set(value))
    lib = Library(jax.numpy, jax, put, jax.lax.stop_gradient)
    x = argument(seed)
    composed = jax.jit(Chain(seed).of(lib, program(lib, seed), x)).lower(x)
    # run once: compiled quickly rather than well
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return np.asarray(composed.compile(options)(x))


@pytest.fixture(scope="module")
def recorded() -> list[Any]:
    return json.loads(RESULTS.read_text())  # type: ignore[no-any-return]  # a library is Any


def assert_agree(found: Any, wanted: Any) -> None:
    assert type(found) is np.ndarray or not wanted.shape
    assert found.dtype == np.float64
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_composition_agrees_with_what_jax_gave(seed: int, recorded: list[Any]) -> None:
    assert_agree(ours(seed), np.array(recorded[seed]))


@pytest.mark.peers
@pytest.mark.parametrize("seed", [seed for seed in SEEDS if Chain(seed).order <= 2][::4])
def test_composition_agrees_with_jax(seed: int, recorded: list[Any]) -> None:
    wanted = theirs(seed)
    assert_agree(ours(seed), wanted)
    np.testing.assert_allclose(recorded[seed], wanted, rtol=1e-11, atol=1e-11)


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(theirs(seed).tolist()) for seed in SEEDS)
    RESULTS.write_text(f"[\n{lines}\n]\n")
