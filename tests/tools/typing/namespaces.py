"""Types of the standard's namespace; see transforms.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gradwrap as gw

if TYPE_CHECKING:
    from gradwrap.typing.reductions import Reductions

Array = NDArray[np.float64]
Var = gw.Variable[Array]

array: Array = np.ones((3, 3))
mask: NDArray[np.bool_] = array > 0.5
x = gw.wrap(array)
xp = x.__array_namespace__(api_version="2025.12")

assert_type(xp, gw.typing.Namespace[Array])

# Elementwise: variables, arrays and numbers

assert_type(xp.sin(x), Var)
assert_type(xp.sin(array), Var)
assert_type(xp.add(x, 2.0), Var)
assert_type(xp.multiply(2.0, array), Var)
assert_type(xp.maximum(x, array), Var)
assert_type(xp.clip(x, 0.0, max=1.0), Var)
assert_type(xp.isnan(x), gw.Variable[Any])
assert_type(xp.less(x, 0.0), gw.Variable[Any])
assert_type(xp.logical_and(x > 0.0, mask), gw.Variable[Any])
assert_type(xp.astype(x, xp.float32), gw.Variable[Any])
xp.sin("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
xp.sin(x=x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
xp.sinn(x)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
xp.add(x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

# Special functions

special = xp.special
assert_type(special, gw.typing.SpecialNamespace[Var | Array, Var])
assert_type(special.erf(x), Var)
assert_type(special.jv(0.5, array), Var)
assert_type(special.softmax(x, axis=0), Var)
assert_type(special.logsumexp(x, axis=(0, 1), b=2.0), Var)
assert_type(special.logsumexp(x, 0, return_sign=True), tuple[Var, Var])
special.erf("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
special.erff(x)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def of_native(xp: gw.typing.NativeNamespace[Array], g: Array, x: Array) -> Array:
    return assert_type(xp.multiply(g, xp.special.digamma(x)), Array)


# Creation, shapes, choices, sums

assert_type(xp.zeros((3, 3), dtype=xp.float64), Var)
assert_type(xp.asarray([[x[0], 1.0], [0.0, array]]), Var)
assert_type(xp.full((2,), x[0, 0]), Var)
assert_type(xp.meshgrid(x, array, indexing="ij"), tuple[Var, ...])
assert_type(xp.reshape(x, (9,)), Var)
assert_type(xp.stack([x, array], axis=1), Var)
assert_type(xp.unstack(x), tuple[Var, ...])
assert_type(xp.broadcast_shapes((3, 1), (1, 3)), tuple[int, ...])
assert_type(xp.where(mask, x, 0.0), Var)
assert_type(xp.take(x, np.array([0, 1]), axis=0), Var)
assert_type(xp.argsort(x), gw.Variable[Any])
assert_type(xp.nonzero(x), tuple[gw.Variable[Any], ...])
assert_type(xp.sum(x, axis=(0, 1), keepdims=True), Var)
assert_type(xp.all(mask), gw.Variable[Any])
assert_type(xp.unique_counts(x).values, Var)
assert_type(xp.unique_counts(x).counts, gw.Variable[Any])
xp.meshgrid(x, indexing="yx")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
xp.sum(x, 0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
xp.sum(x, axis="rows")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
xp.stack(x, array)  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
xp.zeros("3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Dtypes, constants, what the library can do

assert_type(xp.isdtype(x.dtype, "real floating"), bool)
assert_type(xp.can_cast(x, xp.float32), bool)
assert_type(xp.finfo(x).eps, float)
assert_type(xp.iinfo(xp.int8).max, int)
assert_type(xp.pi * xp.e, float)
assert_type(xp.newaxis, None)
assert_type(xp.__array_api_version__, str)
info = xp.__array_namespace_info__()
assert_type(info.capabilities()["boolean indexing"], bool)
assert_type(info.dtypes(kind="real floating"), dict[str, Any])
info.dtypes(kind="real")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
info.capabilities()["speed"]  # type: ignore[typeddict-item]  # pyright: ignore[reportGeneralTypeIssues]

# Linear algebra and transforms

assert_type(xp.linalg.inv(x), Var)
assert_type(xp.linalg.matmul(x, array), Var)
assert_type(xp.linalg.eigh(x).eigenvalues, Var)
assert_type(xp.linalg.eig(x).eigenvectors, gw.Variable[Any])
values, vectors = xp.linalg.eigh(x)
assert_type(vectors, Var)
u, s, vh = xp.linalg.svd(x, full_matrices=False)
assert_type(s, Var)
assert_type(xp.linalg.svd(x).Vh, Var)
assert_type(xp.linalg.qr(x)[0], Var)
assert_type(xp.linalg.slogdet(x).logabsdet, Var)
assert_type(xp.fft.rfft(x, norm="ortho"), gw.Variable[Any])
_ = xp.linalg.svd(x).V  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
xp.linalg.qr(x, mode="full")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
xp.linalg.norm(x)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
xp.fft.fft(x, norm="none")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# `wrap_namespace` knows no array type; it can be named

assert_type(gw.wrap_namespace(np), gw.typing.Namespace[Any])
named: gw.typing.Namespace[Array] = gw.wrap_namespace(np)
assert_type(named.ones(3), Var)


def energy(space: gw.typing.Namespace[Array], positions: Var) -> Var:
    return space.sum(space.square(positions))


assert_type(energy(xp, x), Var)


# A namespace of native arrays is none of variables. NumPy's is compared with the part of it that
# has the reductions: pyright takes more than a minute to list what differs in all parts.


def total(part: Reductions[Var | Array, Var, gw.Variable[Any]], positions: Var) -> Var:
    return part.sum(positions)


def of_another(native: gw.typing.NativeNamespace[Array]) -> None:
    energy(native, x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


assert_type(total(xp, x), Var)
assert_type(total(named, x), Var)
total(np, x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# A formula may have its namespace checked


def of_cube(xp: gw.typing.NativeNamespace[Array], g: Array, x: Array) -> Array:
    return assert_type(xp.multiply(g, xp.square(x)), Array)


def of_cube_with_a_slip(xp: gw.typing.NativeNamespace[Array], g: Array, x: Array) -> Array:
    return g * xp.sqare(x)  # type: ignore[attr-defined, no-any-return]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


@gw.primitive
def cube(x: Array) -> Array:
    return x**3


gw.defvjp(cube, of_cube)
