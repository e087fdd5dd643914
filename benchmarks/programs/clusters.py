"""Programs of statistics and vision: clusters, mixtures, attention, cameras, hands."""

from typing import Any

import numpy as np

from ..workloads import Array, Namespace, Workload
from ..workloads.base import Traced


def k_means(np: Namespace, points: Traced, centres: Traced) -> Traced:
    """Return the sum of the squared distances of the points to their nearest centre."""
    d = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(d, axis=1))


def k_means_by_hand(np: Namespace, points: Array, centres: Array) -> tuple[Array, ...]:
    """Add up what lies between each centre and its points."""
    d = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    nearest = np.argmin(d, axis=1)
    member = (nearest[:, None] == np.arange(len(centres))).astype(points.dtype)
    return (2 * (np.sum(member, axis=0)[:, None] * centres - member.T @ points),)


def _clusters(rng: np.random.Generator) -> tuple[Array, ...]:
    return rng.normal(size=(1000, 3)), rng.normal(size=(10, 3))


K_MEANS = Workload(
    name="k-means",
    title="k-means, 1,000 points, d = 3, k = 10",
    fun=k_means,
    by_hand=k_means_by_hand,
    data=_clusters,
    argnums=(1,),
    bound=4.0,
)


def log_sum_exp(np: Namespace, x: Traced) -> Traced:
    """Return the stable log-sum-exp of all numbers."""
    top = np.max(x)
    return np.log(np.sum(np.exp(x - top))) + top


def log_sum_exp_by_hand(np: Namespace, x: Array) -> tuple[Array, ...]:
    """Return the softmax."""
    e = np.exp(x - np.max(x))
    return (e / np.sum(e),)


LOG_SUM_EXP = Workload(
    name="log-sum-exp",
    title="log-sum-exp of 160,000 numbers",
    fun=log_sum_exp,
    by_hand=log_sum_exp_by_hand,
    data=lambda rng: (rng.normal(size=160_000),),
    bound=3.0,
)

SIZE, CLUSTERS, DIMENSION = 1000, 25, 10


def mixture(np: Namespace, x: Traced, alphas: Traced, means: Traced, roots: Traced) -> Traced:
    """Return the negative log-likelihood of a Gaussian mixture with square roots of precisions."""
    rows: list[Traced] = []
    for k in range(CLUSTERS):
        z = (x - means[k]) @ roots[k]
        rows.append(alphas[k] - 0.5 * np.sum(z * z, axis=1))
    terms = np.stack(rows)
    top = np.max(terms, axis=0)
    inner = np.log(np.sum(np.exp(terms - top), axis=0)) + top
    most = np.max(alphas)
    return SIZE * (np.log(np.sum(np.exp(alphas - most))) + most) - np.sum(inner)


def mixture_by_hand(
    np: Namespace, x: Array, alphas: Array, means: Array, roots: Array
) -> tuple[Array, ...]:
    """Weight each cluster's gradient by its responsibilities."""
    terms = np.empty((CLUSTERS, SIZE))
    saved: list[tuple[Array, Array]] = []
    for k in range(CLUSTERS):
        d = x - means[k]
        z = d @ roots[k]
        saved.append((d, z))
        terms[k] = alphas[k] - 0.5 * np.sum(z * z, axis=1)
    e = np.exp(terms - np.max(terms, axis=0))
    share = e / np.sum(e, axis=0)
    e = np.exp(alphas - np.max(alphas))
    g_alphas = SIZE * e / np.sum(e) - np.sum(share, axis=1)
    g_means, g_roots = np.empty_like(means), np.empty_like(roots)
    for k, (d, z) in enumerate(saved):
        g = share[k][:, None] * z
        g_roots[k] = d.T @ g
        g_means[k] = -roots[k] @ np.sum(g, axis=0)
    return g_alphas, g_means, g_roots


def _mixture(rng: np.random.Generator) -> tuple[Array, ...]:
    roots = np.eye(DIMENSION) + 0.1 * rng.normal(size=(CLUSTERS, DIMENSION, DIMENSION))
    return (
        rng.normal(size=(SIZE, DIMENSION)),
        rng.normal(size=CLUSTERS),
        rng.normal(size=(CLUSTERS, DIMENSION)),
        roots,
    )


MIXTURE = Workload(
    name="mixture",
    title="Gaussian mixture, 1,000 points, d = 10, k = 25",
    fun=mixture,
    by_hand=mixture_by_hand,
    data=_mixture,
    argnums=(1, 2, 3),
    bound=1.6,
)


def attention(np: Namespace, x: Traced, q: Traced, k: Traced, v: Traced) -> Traced:
    """Return the square of one layer of attention with four heads."""
    heads: list[Traced] = []
    for head in range(4):
        part = slice(16 * head, 16 * head + 16)
        scores = (x @ q[:, part]) @ (x @ k[:, part]).T / 4.0
        scores = scores - np.max(scores, axis=1, keepdims=True)
        e = np.exp(scores)
        heads.append((e / np.sum(e, axis=1, keepdims=True)) @ (x @ v[:, part]))
    out = np.concatenate(heads, axis=1)
    return np.sum(out * out)


def attention_by_hand(np: Namespace, x: Array, q: Array, k: Array, v: Array) -> tuple[Array, ...]:
    """Back-propagate head by head."""
    g_q, g_k, g_v = np.empty_like(q), np.empty_like(k), np.empty_like(v)
    for head in range(4):
        part = slice(16 * head, 16 * head + 16)
        xq, xk, xv = x @ q[:, part], x @ k[:, part], x @ v[:, part]
        scores = xq @ xk.T / 4.0
        e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        p = e / np.sum(e, axis=1, keepdims=True)
        g = 2 * (p @ xv)
        g_v[:, part] = x.T @ (p.T @ g)
        g_p = g @ xv.T
        g_s = p * (g_p - np.sum(g_p * p, axis=1, keepdims=True)) / 4.0
        g_q[:, part] = x.T @ (g_s @ xk)
        g_k[:, part] = x.T @ (g_s.T @ xq)
    return g_q, g_k, g_v


def _sentence(rng: np.random.Generator) -> tuple[Array, ...]:
    weights = (rng.normal(size=(64, 64)) / 8 for _ in range(3))
    return rng.normal(size=(128, 64)), *weights


ATTENTION = Workload(
    name="attention",
    title="attention, 128 words, 4 heads of 16",
    fun=attention,
    by_hand=attention_by_hand,
    data=_sentence,
    argnums=(1, 2, 3),
)


def _rotate(np: Namespace, angles: Traced, points: Traced) -> Traced:
    """Rotate points by axis-angle vectors, one for each (Rodrigues' formula)."""
    squared = np.sum(angles * angles, axis=1)
    theta = np.sqrt(squared + 1e-12)
    cos, sin = np.cos(theta)[:, None], np.sin(theta)[:, None]
    axis = angles / theta[:, None]
    a, b, c = axis[:, 0], axis[:, 1], axis[:, 2]
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    cross = np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=1)
    along = np.sum(axis * points, axis=1)[:, None]
    return points * cos + cross * sin + axis * along * (1 - cos)


def bundle_adjustment(  # noqa: PLR0913  what a camera sees
    np: Namespace,
    cameras: Traced,
    points: Traced,
    weights: Traced,
    camera: Traced,
    point: Traced,
    seen: Traced,
) -> Traced:
    """Return the squared errors of points projected by cameras with radial distortion."""
    cam = cameras[camera]
    at = _rotate(np, cam[:, :3], points[point] - cam[:, 3:6])
    flat = at[:, :2] / at[:, 2:]
    r2 = np.sum(flat * flat, axis=1)
    radial = 1 + cam[:, 9] * r2 + cam[:, 10] * r2 * r2
    projected = cam[:, 7:9] + (cam[:, 6] * radial)[:, None] * flat
    error = weights[:, None] * (projected - seen)
    return np.sum(error * error) + np.sum((1 - weights * weights) ** 2)


def _scene(rng: np.random.Generator) -> tuple[Any, ...]:
    cameras, points, observed = 30, 1000, 8000
    cam = 0.1 * rng.normal(size=(cameras, 11))
    cam[:, 6] += 1.0
    xyz = rng.normal(size=(points, 3)) + np.array([0.0, 0.0, 8.0])
    camera, point = rng.integers(0, cameras, observed), rng.integers(0, points, observed)
    weights, seen = rng.uniform(0.5, 1, observed), rng.normal(size=(observed, 2))
    return cam, xyz, weights, camera, point, seen


BUNDLE = Workload(
    name="bundle-adjustment",
    title="bundle adjustment, 30 cameras, 8,000 observations",
    fun=bundle_adjustment,
    by_hand=bundle_adjustment,
    data=_scene,
    argnums=(0, 1, 2),
)

BONES, VERTICES = 20, 500
PARENTS = tuple(bone - 1 if bone % 4 else -1 for bone in range(BONES))


def hand(  # noqa: PLR0913  the parameters of a hand
    np: Namespace, angles: Traced, offsets: Traced, skin: Traced, vertices: Traced, seen: Traced
) -> Traced:
    """Return the squared errors of a hand's skin, moved by its chains of bones."""
    places: list[tuple[Traced, Traced]] = []
    for bone in range(BONES):
        cos, sin = np.cos(angles[bone]), np.sin(angles[bone])
        zero, one = 0.0 * sin[0], 0.0 * sin[0] + 1.0
        rx = np.stack([one, zero, zero, zero, cos[0], -sin[0], zero, sin[0], cos[0]])
        rz = np.stack([cos[1], -sin[1], zero, sin[1], cos[1], zero, zero, zero, one])
        turn = np.reshape(rx, (3, 3)) @ np.reshape(rz, (3, 3))
        shift = offsets[bone]
        if PARENTS[bone] >= 0:
            parent_turn, parent_shift = places[PARENTS[bone]]
            turn, shift = parent_turn @ turn, parent_turn @ shift + parent_shift
        places.append((turn, shift))
    turns = np.stack([turn for turn, _ in places])
    shifts = np.stack([shift for _, shift in places])
    moved = np.einsum("bij,vj->vbi", turns, vertices) + shifts
    skinned = np.sum(skin[:, :, None] * moved, axis=1)
    return np.sum((skinned - seen) ** 2)


def _hand(rng: np.random.Generator) -> tuple[Array, ...]:
    skin = rng.uniform(size=(VERTICES, BONES)) ** 4
    return (
        0.3 * rng.normal(size=(BONES, 2)),
        rng.normal(size=(BONES, 3)),
        skin / np.sum(skin, axis=1, keepdims=True),
        rng.normal(size=(VERTICES, 3)),
        rng.normal(size=(VERTICES, 3)),
    )


HAND = Workload(
    name="hand-tracking",
    title="hand tracking, 20 bones, 500 vertices",
    fun=hand,
    by_hand=hand,
    data=_hand,
    left_out={"jax": "jit unrolls the loop and compiles for minutes"},
)
