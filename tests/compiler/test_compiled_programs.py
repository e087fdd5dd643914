"""Programs of all kinds, compiled: bit by bit what eager gives, at a second point too."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.special

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.core.values.tree import flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(0)
X = RNG.standard_normal(6)
Y = RNG.standard_normal(6)
M = RNG.standard_normal((4, 4)) + 4 * np.eye(4)
SPD = M @ M.T
Z = X + 1j * Y


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def loop(x: Any) -> Any:
    s = x[0]
    for i in range(1, 6):
        s = np.sin(s) * x[i]
    return s


def mlp(params: Any, x: Any) -> Any:
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.sum(x * x)


def filled(x: Any) -> Any:
    b = gnp.zeros(6)
    for i in range(6):
        b[i] = np.sin(x[i]) * x[i - 1]
    b[1:] += b[:-1] * 0.5
    return np.sum(b * b)


def view(x: Any) -> Any:
    y = x * 2.0
    row = y.reshape(2, 3)[1]
    row[:] = row * x[:3]
    return np.sum(y * y)


def view_of_one_result(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    row = r.T[1]
    row[0] /= 2.0
    return np.sum(row**3) + np.sum(q * r)


def view_of_eigenvectors(a: Any) -> Any:
    w, v = np.linalg.eigh(a + a.T)
    column = v[:, 0]
    column[1] = 2.0 * w[0]
    return np.sum(v**3)


def masked(x: Any) -> Any:
    return np.sum(np.where(x > 0, x * x, np.exp(x))) + np.sum(x[x > 0.1])


def halving(x: Any) -> Any:
    while np.sum(x * x) > 0.1:
        x = x * 0.5
    return np.sum(x)


def branching(x: Any) -> Any:
    return np.sum(x) if x[0] > 0 else np.sum(x * x * x)


def stencil(x: Any) -> Any:
    y = 1.0 * x
    for _ in range(4):
        y[1:-1] += 0.1 * (y[2:] - 2.0 * y[1:-1] + y[:-2])
    y[0] = y[1] * y[2]
    return y


def leapfrog(x: Any, v: Any) -> Any:
    x, v = 1.0 * x, 1.0 * v
    for _ in range(3):
        v[1:-1] += 0.2 * (x[2:] - 2.0 * x[1:-1] + x[:-2])
        x[1:-1] += 0.2 * v[1:-1]
    return np.sum(x * x + v)


def clamped(x: Any) -> Any:
    y = x * 2.0
    y[x < 0] = 0.0
    y[x > 0.5] *= 3.0
    return np.sum(y * y)


def nested_views(a: Any) -> Any:
    b = a * 1.0
    column = b.T[1]
    part = column[1:]
    part *= a[0, 0]
    b[2] += column
    return np.sum(b**2)


@gw.custom_vjp
def clipped(x: Any) -> Any:
    return np.clip(x, -0.5, 0.5)


clipped.defvjp(lambda x: (np.clip(x, -0.5, 0.5), x), lambda x, g: (g * np.exp(-x * x),))


def in_stretches(x: Any) -> Any:
    step = gw.checkpoint(lambda y: np.sin(y) * 0.5 + y)
    y = x
    for _ in range(10):
        y = step(y)
    return np.sum(y * y)


def adam(params: Any, m: Any, x: Any) -> Any:
    g = gw.grad(mlp)(params, x)
    m = [(0.9 * a + 0.1 * b, 0.9 * c + 0.1 * d) for (a, c), (b, d) in zip(m, g, strict=True)]
    new = [(w - 0.1 * a, b - 0.1 * c) for (w, b), (a, c) in zip(params, m, strict=True)]
    return new, m


PARAMS = [(RNG.standard_normal((4, 4)), RNG.standard_normal(4)) for _ in range(2)]
PARAMS32 = [(w.astype(np.float32), b.astype(np.float32)) for w, b in PARAMS]
BATCH = RNG.standard_normal((3, 6))
SMALL = RNG.standard_normal((3, 4))

grad: Any = gw.grad  # the types of lambdas that it is given are not inferred
jvp: Any = gw.jvp
untyped: Any = gw
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "grad of a loop": (grad(loop), (X,)),
    "rosenbrock": (grad(rosenbrock), (X,)),
    "value and grad": (gw.value_and_grad(rosenbrock), (X,)),
    "mlp": (grad(mlp), (PARAMS, SMALL)),
    "mlp in float32": (grad(mlp), (PARAMS32, SMALL.astype(np.float32))),
    "several arguments": (grad(lambda x, y: np.sum(x * np.exp(y)), (0, 1)), (X, Y)),
    "hessian": (gw.hessian(rosenbrock), (X,)),
    "jacrev": (gw.jacrev(lambda x: np.sin(x) * x[0]), (X,)),
    "jacfwd": (gw.jacfwd(lambda x: np.cumsum(np.sin(x))), (X,)),
    "jvp": (lambda x, v: jvp(rosenbrock, (x,), (v,)), (X, Y)),
    "hvp": (lambda x, v: gw.hvp(rosenbrock, x, v), (X, Y)),
    "vmap": (gw.vmap(lambda x: np.sum(np.sin(x)) * x), (BATCH,)),
    "vmap of grad": (gw.vmap(grad(rosenbrock)), (BATCH,)),
    "nested grad": (grad(lambda x: np.sum(grad(rosenbrock)(x) ** 2)), (X,)),
    "third derivative": (grad(grad(grad(lambda x: np.sin(x) * x**3))), (np.float64(0.7),)),
    "filled in place": (grad(filled), (X,)),
    "writes to a view": (grad(view), (X,)),
    "masks": (grad(masked), (X,)),
    "while": (grad(halving), (X,)),
    "branch": (grad(branching), (X,)),
    "solve": (grad(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), (0, 1)), (M, X[:4])),
    "inverse and determinant": (
        grad(lambda a: np.sum(np.linalg.inv(a)) + np.linalg.slogdet(a)[1]),
        (M,),
    ),
    "cholesky": (grad(lambda a: np.sum(np.linalg.cholesky(a))), (SPD,)),
    "svd": (grad(lambda a: np.sum(np.linalg.svd(a)[1] ** 3)), (M,)),
    "eigh": (grad(lambda a: np.sum(np.linalg.eigh(a)[0] ** 2)), (SPD,)),
    "fft": (grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2)), (X,)),
    "complex": (grad(lambda z: np.sum(np.abs(np.exp(z) * z) ** 2)), (Z,)),
    "special functions": (
        grad(lambda x: np.sum(scipy.special.gammaln(x * x + 1) + scipy.special.erf(x))),
        (X,),
    ),
    "checkpoint": (grad(gw.checkpoint(lambda x: np.sum(np.sin(np.exp(x))))), (X,)),
    "optimiser": (adam, (PARAMS, PARAMS, SMALL)),
    "plain function": (lambda x, y: {"a": x @ y, "b": (x + y, x.T)}, (M, SPD)),
    "gather": (grad(lambda x: np.sum(x[[0, 2, 2, 5]] ** 2)), (X,)),
    "sort and cumulative product": (grad(lambda x: np.sum(np.cumprod(np.sort(x)))), (X,)),
    "reductions": (
        grad(lambda a: np.sum(a.max(axis=0) * a.mean(axis=1)) + np.std(a) + np.linalg.norm(a)),
        (M,),
    ),
    "einsum": (grad(lambda a: np.einsum("ij,jk,ki->", a, a, a)), (M,)),
    "concatenate and stack": (
        grad(lambda x: np.sum(np.concatenate([x, x[::-1]]) * np.stack([x, x * x]).ravel())),
        (X,),
    ),
    "vjp": (lambda x, g: gw.vjp(lambda x: np.sin(x) * x[0], x)[1](g), (X, Y)),
    "linearised": (lambda x, v: gw.linearize(rosenbrock, x)[1](v), (X, Y)),
    "elementwise": (untyped.elementwise_grad(lambda x: np.sin(x) * x), (X,)),
    "per example of a parameter": (
        gw.vmap(grad(lambda w, x: np.sum(np.tanh(x @ w)) ** 2), (None, 0)),
        (M, SMALL),
    ),
    "jacobian of what is written in place": (gw.jacrev(stencil), (X,)),
    "tangents of what is written in place": (
        lambda x, v: jvp(stencil, (x,), (v,)),
        (X, Y),
    ),
    "hessian of what is written in place": (
        untyped.hessian(lambda x: np.sum(stencil(x) ** 3)),
        (X,),
    ),
    "vmap of what is written in place": (gw.vmap(grad(filled)), (BATCH,)),
    "two arrays that are written in turn": (grad(leapfrog, (0, 1)), (X, Y)),
    "written by a mask": (grad(clamped), (X,)),
    "views of views": (grad(nested_views), (M,)),
    "writes to a view of a factor": (grad(view_of_one_result), (M,)),
    "writes to a view of eigenvectors": (grad(view_of_eigenvectors), (M,)),
    "while under vmap": (grad(lambda x: sum(halving(x * k) for k in (1.0, 2.0))), (X,)),
    "triangles and QR": (
        grad(lambda a: np.sum(np.tril(a) @ np.triu(a)) + np.sum(np.linalg.qr(a)[1] ** 2)),
        (M,),
    ),
    "pseudo-inverse": (grad(lambda a: np.sum(np.linalg.pinv(a) ** 2)), (M[:, :3].copy(),)),
    "real and two-dimensional FFTs": (
        grad(lambda a: np.sum(np.abs(np.fft.rfft(a[0])) ** 2 + np.abs(np.fft.fft2(a))[:3, 0])),
        (M,),
    ),
    "tangents of complex numbers": (
        lambda z, v: jvp(lambda z: np.exp(z) * np.conj(z), (z,), (v,)),
        (Z, Z[::-1].copy()),
    ),
    "holomorphic": (grad(lambda z: np.sum(z**3), holomorphic=True), (Z,)),
    "a rule of its own": (grad(lambda x: np.sum(clipped(x) * x)), (X,)),
    "checkpoints in a loop": (grad(in_stretches), (X,)),
    "a value beside the gradient": (
        untyped.value_and_grad(lambda x: (np.sum(x * x), {"x": x + 1}), has_aux=True),
        (X,),
    ),
    "single precision beside double": (
        grad(lambda x, y: np.sum(x * y), (0, 1)),
        (X.astype(np.float32), Y),
    ),
    "integers": (grad(lambda x, k: np.sum(x[k] * k)), (X, np.array([0, 3, 3]))),
}


ROUNDED = {"jacobian of what is written in place", "two arrays that are written in turn"}
"""Programs whose cotangents are added up in another order: eager writes to buffers that it owns."""


def same(wanted: Any, found: Any, rounding: float = 0.0) -> bool:
    one, tree = flatten(wanted)
    two, other = flatten(found)
    return tree == other and all(
        type(a) is type(b)
        and a.dtype == b.dtype
        and np.allclose(a, b, rtol=rounding, atol=0.0, equal_nan=True)
        for a, b in zip(one, two, strict=True)
    )


def moved(leaf: Any) -> Any:
    if not hasattr(leaf, "dtype") or leaf.dtype.kind == "i":
        return leaf
    return leaf + leaf.dtype.type(0.01) * abs(leaf)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_bit_by_bit_what_eager_gives(name: str) -> None:
    function, args = PROGRAMS[name]
    compiled: Any = gw.compile(function)
    leaves, tree = flatten(args)
    others = unflatten(tree, [moved(leaf) for leaf in leaves])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(*args)
        first = compiled(*args)
        kept = [np.copy(leaf) for leaf in flatten(first)[0]]
        second = compiled(*others)
    rounding = 1e-15 if name in ROUNDED else 0.0
    assert same(function(*args), first, rounding)
    assert same(function(*others), second, rounding)
    assert all(map(np.array_equal, kept, flatten(first)[0]))
    assert len(compiled.programs) == 1
    assert compiled.source.startswith("import")
    assert "ulp" in compiled.check(*others)
