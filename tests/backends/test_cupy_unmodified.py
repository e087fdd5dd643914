"""Unmodified CuPy code: its functions, kernels and operators, with numbers.

On the GPU where there is one, else on the double. Each row of the table in docs/cupy.md is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import special

import gradwrap as gw
from gradwrap.errors import NoRuleError, OutArgumentError
from hosted_cupy import device_params, has_gpu, on_device
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

cupy: Any = pytest.importorskip("cupy")
import cupyx.scipy.special as cupy_special  # noqa: E402  after the skip

ANY: Any = np  # for calls that NumPy's own types are too narrow for
ANY_SPECIAL: Any = cupy_special  # likewise, of CuPy's
V = np.array([0.3, 0.9, 0.5])
P = np.array([1.5, 0.2, 0.7])


@pytest.fixture(autouse=True, scope="module", params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    with on_device(request.param) as counted:
        yield counted


def on_host(values: Any) -> Any:
    return cupy.asnumpy(gw.unwrap(values))


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(on_host(found), wanted, rtol=1e-12, atol=1e-14)


def gradient(f: Callable[[Any], Any], x: Any = V) -> Any:
    found = gw.grad(f)(cupy.asarray(x))
    assert type(found) is cupy.ndarray
    return found


# What works as it stands --------------------------------------------------------------------------

WORKS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    # unmodified CuPy, with a plain array p of CuPy's; the same in NumPy
    "operators": (
        lambda v, p: ((p * v + v / p) ** 2 - (p - v) * 2.0).sum(),
        lambda v, p: ((p * v + v / p) ** 2 - (p - v) * 2.0).sum(),
    ),
    "products": (lambda v, p: (p @ v) * (v @ p), lambda v, p: (p @ v) * (v @ p)),
    "ufuncs": (
        lambda v, p: cupy.sum(cupy.exp(cupy.sin(v)) + cupy.maximum(p, v)),
        lambda v, p: np.sum(np.exp(np.sin(v)) + np.maximum(p, v)),
    ),
    "where": (
        lambda v, p: cupy.where(p > 1, v, v * v).sum(),
        lambda v, p: ANY.where(p > 1, v, v * v).sum(),
    ),
    "clip": (lambda v, p: cupy.clip(v, 0.4, 0.8).sum(), lambda v, p: np.clip(v, 0.4, 0.8).sum()),
    "reductions": (
        lambda v, p: cupy.prod(v) + cupy.max(v) + cupy.mean(v) * cupy.std(v) + cupy.var(v, ddof=1),
        lambda v, p: ANY.prod(v) + ANY.max(v) + ANY.mean(v) * ANY.std(v) + ANY.var(v, ddof=1),
    ),
    "nanmax": (lambda v, p: cupy.nanmax(v * p), lambda v, p: np.nanmax(v * p)),
    "norm": (
        lambda v, p: cupy.linalg.norm(v) + cupy.linalg.norm(v - p, axis=0),
        lambda v, p: np.linalg.norm(v) + np.linalg.norm(v - p, axis=0),
    ),
    "shapes": (
        lambda v, p: (cupy.reshape(v, (3, 1)) * cupy.ravel(cupy.transpose(cupy.flip(v)))).sum(),
        lambda v, p: (np.reshape(v, (3, 1)) * np.flip(v)).sum(),
    ),
    "taking": (
        lambda v, p: (
            (cupy.take(v, cupy.asarray([2, 0])) * cupy.repeat(v, 2)[:2]).sum()
            + cupy.dot(v, p)
            + cupy.squeeze(v[None]).sum()
            + cupy.diagonal(v[:, None] * v).sum()
            + cupy.trace(v[:, None] * v)
        ),
        lambda v, p: (
            (np.take(v, [2, 0]) * np.repeat(v, 2)[:2]).sum()
            + np.dot(v, p)
            + np.squeeze(v[None]).sum()
            + 2 * np.trace(v[:, None] * v)
        ),
    ),
    "numpy's functions": (
        lambda v, p: np.sum(np.concatenate([p, v, v])) + np.einsum("i,i", p, v) + np.cumsum(v)[1],
        lambda v, p: np.sum(np.concatenate([p, v, v])) + np.einsum("i,i", p, v) + np.cumsum(v)[1],
    ),
    "special functions": (
        lambda v, p: (ANY_SPECIAL.erf(v) * ANY_SPECIAL.gammaln(v) + ANY_SPECIAL.xlogy(p, v)).sum(),
        lambda v, p: (special.erf(v) * special.gammaln(v) + special.xlogy(p, v)).sum(),
    ),
    "softmax": (
        lambda v, p: (cupy_special.softmax(v) * p).sum() + cupy_special.logsumexp(v),
        lambda v, p: (np.exp(v) / np.exp(v).sum() * p).sum() + np.log(np.exp(v).sum()),
    ),
    "fuse": (
        lambda v, p: (cupy.fuse(fn(lambda a: cupy.sin(a) * 2.0))(v) * p).sum(),
        lambda v, p: (np.sin(v) * 2.0 * p).sum(),
    ),
    "numpy's scalars": (
        lambda v, p: (np.float64(2.0) * v * np.float32(0.5) + np.sqrt(2.0)).sum(),
        lambda v, p: v.sum(),
    ),
}


@pytest.mark.parametrize("name", WORKS)
def test_unmodified_code_has_the_gradient_of_numpys(name: str) -> None:
    theirs, numpys = WORKS[name]
    plain = cupy.asarray(P)

    found = gradient(lambda v: theirs(v, plain))

    close(found, gw.grad(lambda v: numpys(v, P))(V))


@pytest.mark.parametrize("name", WORKS)
def test_forward_mode_and_second_order_go_through_it_too(name: str) -> None:
    theirs, numpys = WORKS[name]
    plain, v = cupy.asarray(P), cupy.asarray(V)

    close(
        gw.jvp(lambda v: theirs(v, plain), (v,), (v,))[1],
        gw.jvp(lambda v: numpys(v, P), (V,), (V,))[1],
    )
    (found,) = gw.hvp(lambda v: theirs(v, plain), (v,), (v,))
    (wanted,) = gw.hvp(lambda v: numpys(v, P), (V,), (V,))
    np.testing.assert_allclose(on_host(found), wanted, rtol=1e-9, atol=1e-12)


def test_vmap_goes_through_it_too() -> None:
    batch = np.stack([V, 2 * V])
    found = gw.vmap(gw.grad(lambda v: cupy.sum(cupy.exp(v) * cupy_special.erf(v))))(
        cupy.asarray(batch)
    )
    close(found, np.exp(batch) * (special.erf(batch) + 2 / np.sqrt(np.pi) * np.exp(-(batch**2))))


def test_out_is_a_recorded_write() -> None:
    v = gw.wrap(cupy.asarray(V), requires_grad=True)
    out = gw.wrap(cupy.zeros(3))

    assert cupy.exp(v, out) is out
    cupy.multiply(out, v, out=out)
    out.sum().backward()

    close(v.grad, np.exp(V) * (1 + V))


def test_untracked_variables_are_computed_with_and_not_recorded() -> None:
    x, out = gw.wrap(cupy.asarray(V)), cupy.zeros(3)

    assert not cupy.exp(x).requires_grad
    cupy.add(x, x, out)
    close(out, 2 * V)
    assert on_host(cupy.count_nonzero(x)) == 3


def test_dtype_is_the_ufuncs() -> None:
    v = gw.wrap(cupy.asarray(V), requires_grad=True)
    single = cupy.exp(v, dtype="f")
    assert single.dtype == np.float32
    single.sum().backward()
    assert v.grad is not None
    assert v.grad.dtype == np.float64
    np.testing.assert_allclose(on_host(v.grad), np.exp(V), rtol=1e-6)


# The user's kernels -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def squared_difference() -> Any:
    kernel = cupy.ElementwiseKernel(
        "float64 x, float64 y", "float64 z", "z = (x - y) * (x - y)", "squared_difference"
    )
    gw.defvjp(
        kernel,
        lambda xp, g, x, y: g * 2.0 * (x - y),
        lambda xp, g, x, y: g * 2.0 * (y - x),
    )
    return kernel


def test_kernel_with_a_rule_is_called_unmodified(squared_difference: Any) -> None:
    kernel, x, y = squared_difference, cupy.asarray(V), cupy.asarray(P)

    def loss(x: Any, y: Any) -> Any:
        return (kernel(x, y) * kernel(x, 0.5)).sum()

    def plain(x: Any, y: Any) -> Any:
        return np.sum((x - y) ** 2 * (x - 0.5) ** 2)

    for found, wanted in zip(
        gw.grad(loss, (0, 1))(x, y), gw.grad(plain, (0, 1))(V, P), strict=True
    ):
        close(found, wanted)
    close(gw.hvp(loss, (x, y), (x, y))[0], gw.hvp(plain, (V, P), (V, P))[0])
    close(gw.jvp(loss, (x, y), (y, x))[1], gw.jvp(plain, (V, P), (P, V))[1])


def test_kernel_writes_to_a_variable_and_to_nothing_else(squared_difference: Any) -> None:
    kernel, y = squared_difference, cupy.asarray(P)
    v = gw.wrap(cupy.asarray(V), requires_grad=True)
    out = gw.wrap(cupy.zeros(3))

    kernel(v, y, out).sum().backward()

    close(out.detach(), (V - P) ** 2)
    close(v.grad, 2 * (V - P))
    with pytest.raises(OutArgumentError, match="squared_difference"):
        kernel(v, y, cupy.zeros(3))
    written = cupy.zeros(3)
    kernel(v.detach(), y, written)
    close(written, (V - P) ** 2)


def test_kernel_without_a_rule_computes_what_is_not_tracked() -> None:
    kernel = cupy.ElementwiseKernel("float64 x", "float64 z", "z = 3 * x", "thrice")
    x = gw.wrap(cupy.asarray(V))

    close(kernel(x), 3 * V)
    out = gw.wrap(cupy.zeros(3))
    kernel(x, out)
    close(out, 3 * V)
    with pytest.raises(NoRuleError, match="the kernel thrice"):
        gradient(lambda v: kernel(v).sum())


def test_kernel_is_mapped_over() -> None:
    kernel = cupy.ElementwiseKernel("float64 x", "float64 z", "z = x * x", "square_of_one")
    batch = cupy.asarray(np.stack([V, 2 * V]))
    found = gw.vmap(fn(lambda v: kernel(v)), fallback="loop")(batch)
    close(found, np.stack([V, 2 * V]) ** 2)


@pytest.mark.gpu
@pytest.mark.skipif(not has_gpu(), reason="runs on the device alone")
def test_reduction_kernel_is_a_primitive() -> None:
    kernel = cupy.ReductionKernel(
        "float64 x", "float64 y", "x * x", "a + b", "y = sqrt(a)", "0", "two_norm"
    )

    @gw.primitive
    def two_norm(x: Any) -> Any:
        return kernel(x)

    gw.defvjp(two_norm, lambda xp, g, x, out: g * x / out)

    close(gradient(lambda v: two_norm(v)), V / np.linalg.norm(V))


@pytest.mark.gpu
@pytest.mark.skipif(not has_gpu(), reason="runs on the device alone")
def test_raw_kernel_is_launched_by_a_primitive() -> None:
    kernel = cupy.RawKernel(
        r"""
        extern "C" __global__ void swish(const double* x, double* y, int n) {
            int i = blockDim.x * blockIdx.x + threadIdx.x;
            if (i < n) y[i] = x[i] / (1.0 + exp(-x[i]));
        }
        """,
        "swish",
    )

    @gw.primitive
    def swish(x: Any) -> Any:
        x = cupy.ascontiguousarray(x)
        y = cupy.empty_like(x)
        kernel(((x.size + 255) // 256,), (256,), (x, y, np.int32(x.size)))
        return y

    def swish_vjp(xp: Any, g: Any, x: Any, out: Any) -> Any:
        s = 1 / (1 + xp.exp(-x))
        return g * (s + out * (1 - s))

    gw.defvjp(swish, swish_vjp)

    close(
        gradient(lambda v: swish(v).sum()),
        gw.grad(lambda v: np.sum(v / (1 + np.exp(-v))))(V),
    )
