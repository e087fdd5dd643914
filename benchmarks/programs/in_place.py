"""Programs that write in place: factorisations by loops, stencils, bodies in motion.

Their arrays are copies of arguments (``1.0 * a``), which all libraries with in-place changes can
write to.
"""

import numpy as np

from ..workloads import Array, Namespace, Workload
from ..workloads.base import Traced
from . import for_jax

_IMMUTABLE = {"autograd": "its arrays cannot be written to"}
_SAVED = "it refuses to write to an array of which a part was saved for backward"


def lu(np: Namespace, a: Traced) -> Traced:
    """Return the log-determinant by an LU decomposition, row by row (Doolittle)."""
    a = 1.0 * a
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            k = min(i, j)
            if k:
                a[i, j] -= a[i, :k] @ a[:k, j]
            if j < i:
                a[i, j] /= a[j, j]
    return np.sum(np.log(np.diag(a)))


def cholesky(np: Namespace, a: Traced) -> Traced:
    """Return the sum of squares of a Cholesky factor, column by column."""
    a = 1.0 * a
    n = a.shape[0]
    for j in range(n):
        if j:
            a[j:, j] -= a[j:, :j] @ a[j, :j]
        a[j:, j] /= np.sqrt(a[j, j])
    return np.sum(np.tril(a) ** 3)


def _definite(rng: np.random.Generator, *, n: int) -> tuple[Array, ...]:
    a = rng.normal(size=(n, n)) / np.sqrt(n)
    return (a @ a.T + np.eye(n),)


LU = Workload(
    name="lu",
    title="LU by loops, n = 40",
    fun=lu,
    by_hand=lu,
    data=lambda rng: _definite(rng, n=40),
    left_out={**_IMMUTABLE, "torch": _SAVED},
    own={"jax": for_jax.lu},
)
CHOLESKY = Workload(
    name="cholesky",
    title="Cholesky by columns, n = 100",
    fun=cholesky,
    by_hand=cholesky,
    data=lambda rng: _definite(rng, n=100),
    left_out={**_IMMUTABLE, "torch": _SAVED},
    own={"jax": for_jax.cholesky},
)


def triangular(np: Namespace, a: Traced) -> Traced:
    """Eliminate below the diagonal, one element after the other."""
    a = 1.0 * a
    n = a.shape[0]
    for i in range(1, n):
        for j in range(1, min(i, 8)):
            a[i, j] -= a[i, :j] @ a[:j, j]
    return np.sum(a * a)


TRIANGULAR = [
    Workload(
        name=f"triangular-{n}",
        title=f"triangular loop, 7 elements of each row, n = {n}",
        fun=triangular,
        by_hand=triangular,
        data=lambda rng, n=n: _definite(rng, n=n),  # type: ignore[misc]  # n is bound here
        left_out={**_IMMUTABLE, "torch": _SAVED, "jax": "its arrays are immutable"},
    )
    for n in (60, 240)
]


def heat(np: Namespace, u: Traced, rate: Traced) -> Traced:
    """Return the mean square of a temperature after 200 explicit steps in place."""
    u = 1.0 * u
    for _ in range(200):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.mean(u * u)


HEAT = Workload(
    name="heat",
    title="heat equation in place, n = 1,000, 200 steps",
    fun=heat,
    by_hand=heat,
    data=lambda rng: (rng.normal(size=1000), np.full(998, 0.2)),
    argnums=(0, 1),
    bound=15.0,
    left_out=_IMMUTABLE,
    own={"jax": for_jax.heat},
)


def jacobi(np: Namespace, u: Traced, f: Traced) -> Traced:
    """Return the mean square after 50 Jacobi sweeps over a square, written in place."""
    u = 1.0 * u
    for _ in range(50):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] + f)
    return np.mean(u * u)


JACOBI = Workload(
    name="jacobi",
    title="Jacobi sweeps in place, 100x100, 50 sweeps",
    fun=jacobi,
    by_hand=jacobi,
    data=lambda rng: (rng.normal(size=(100, 100)), rng.normal(size=(98, 98))),
    argnums=(0, 1),
    left_out=_IMMUTABLE,
    own={"jax": for_jax.jacobi},
)


def gauss_seidel(np: Namespace, u: Traced, f: Traced) -> Traced:
    """Return the mean square after sweeps that use what they have just written."""
    u = 1.0 * u
    n = u.shape[0]
    for _ in range(5):
        for i in range(1, n - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
    return np.mean(u * u)


GAUSS_SEIDEL = Workload(
    name="gauss-seidel",
    title="Gauss-Seidel sweeps, n = 300, 5 sweeps",
    fun=gauss_seidel,
    by_hand=gauss_seidel,
    data=lambda rng: (rng.normal(size=300), rng.normal(size=300)),
    argnums=(0, 1),
    left_out=_IMMUTABLE,
    own={"jax": for_jax.gauss_seidel},
)


def n_body(np: Namespace, x: Traced, v: Traced, mass: Traced) -> Traced:
    """Return the spread of bodies after 30 leapfrog steps in place."""
    x, v = 1.0 * x, 1.0 * v
    for _ in range(30):
        d = x[None, :, :] - x[:, None, :]
        r2 = np.sum(d * d, axis=2) + 0.1
        v += 0.01 * np.sum(d * (mass / (r2 * np.sqrt(r2)))[:, :, None], axis=1)
        x += 0.01 * v
    return np.sum(x * x)


N_BODY = Workload(
    name="n-body",
    title="30 bodies, 30 steps in place",
    fun=n_body,
    by_hand=n_body,
    data=lambda rng: (
        rng.normal(size=(30, 3)),
        rng.normal(size=(30, 3)),
        rng.uniform(0.5, 1, 30),
    ),
    argnums=(0, 1, 2),
    left_out=_IMMUTABLE,
    own={"jax": for_jax.n_body},
)


def convolution(np: Namespace, image: Traced, kernel: Traced, bias: Traced) -> Traced:
    """Return the square of a rectified convolution, by slices of the image."""
    out = bias
    for i in range(5):
        for j in range(5):
            out = out + kernel[i, j] * image[i : i + 96, j : j + 96]
    out = np.where(out > 0, out, 0.1 * out)
    return np.sum(out * out)


def convolution_by_hand(
    np: Namespace, image: Array, kernel: Array, bias: Array
) -> tuple[Array, ...]:
    """Correlate the cotangent with the slices."""
    out = bias.copy()
    for i in range(5):
        for j in range(5):
            out += kernel[i, j] * image[i : i + 96, j : j + 96]
    slope = np.where(out > 0, 1.0, 0.1)
    g = 2 * out * slope * slope
    g_image, g_kernel = np.zeros_like(image), np.empty_like(kernel)
    for i in range(5):
        for j in range(5):
            g_kernel[i, j] = np.sum(g * image[i : i + 96, j : j + 96])
            g_image[i : i + 96, j : j + 96] += kernel[i, j] * g
    return g_image, g_kernel, g


CONVOLUTION = Workload(
    name="convolution",
    title="convolution by slices, 100x100, 5x5",
    fun=convolution,
    by_hand=convolution_by_hand,
    data=lambda rng: (
        rng.normal(size=(100, 100)),
        rng.normal(size=(5, 5)),
        rng.normal(size=(96, 96)),
    ),
    argnums=(0, 1, 2),
)
