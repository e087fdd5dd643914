"""The same gradients of linear algebra as JAX and PyTorch, where they have the function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from harness import COMPLEX, REAL, Case, cases_of, direction, native_call

pytestmark = pytest.mark.peers

HAVE_NOT = {
    "jax": {
        "linalg.eig": "no reverse mode",
        "full": "full_matrices=True of a matrix that is not square is not implemented",
        "complete": "mode='complete' is not implemented",
    },
    "torch": {
        "complete": "mode='complete' is for square matrices only",
        "full": "the cotangents of the added vectors are left out",
        "singular": "the gradient of det is wrong there, pytorch#104675",
    },
}


def peer_skips(case: Case, library: str) -> str | None:
    missing = HAVE_NOT[library]
    if case.rule.name == "linalg.svd" and "=False" not in case.pattern and "x" in case.pattern:
        return missing["full"]
    words = (case.rule.name, *(word for word in ("complete", "singular") if word in case.pattern))
    return next((missing[word] for word in words if word in missing), None)


def loss_of(case: Case, xp: Any, kwargs: dict[str, Any], cotangents: list[Any]) -> Any:
    """Re <cotangents, f>, in any library."""

    def loss(*arrays: Any) -> Any:
        if case.rule.probe is not None:
            out = case.rule.probe(xp, *arrays, **kwargs)
        else:
            function = xp
            for part in case.rule.name.split("."):
                function = getattr(function, part)
            out = function(*arrays, **kwargs)
        parts = out if isinstance(out, tuple) else (out,)
        total = 0.0
        for c, part in zip(cotangents, parts, strict=True):
            weighted = xp.sum(xp.asarray(np.conj(c)) * part)
            total = total + (xp.real(weighted) if np.iscomplexobj(np.asarray(c)) else weighted)
        return total

    return loss


PEER_CASES = [
    case
    for case in cases_of("linear_algebra", "matrix_functions", "norms", "decompositions")
    if case.rule.native is None and "0" not in case.pattern.replace("axis=0", "")
]


def ours(case: Case, dtype: np.dtype[Any]) -> tuple[list[Any], dict[str, Any], list[Any], Any]:
    args, kwargs = case.arguments(dtype)
    plain = native_call(case, np, args, kwargs)
    random = np.random.default_rng(case.seed)
    parts = plain if isinstance(plain, tuple) else (plain,)
    cotangents = [direction(random, np.asarray(part)) for part in parts]

    def call(*arrays: Any) -> Any:
        xp = arrays[0].__array_namespace__()
        return loss_of(case, xp, kwargs, cotangents)(*arrays)

    return args, kwargs, cotangents, gw.grad(call, argnums=tuple(range(len(args))))(*args)


def peer_parameters(library: str) -> list[Any]:
    return [
        pytest.param(case, dtype, id=f"{case.id}-{dtype.name}")
        for case in PEER_CASES
        for dtype in (REAL, COMPLEX)
        if peer_skips(case, library) is None
    ]


@pytest.mark.parametrize(("case", "dtype"), peer_parameters("torch"))
def test_torch_has_the_same_gradient(case: Case, dtype: np.dtype[Any]) -> None:
    torch = pytest.importorskip("torch")
    import array_api_compat.torch as xp

    args, kwargs, cotangents, gradients = ours(case, dtype)
    tensors = [torch.tensor(a, requires_grad=True) for a in args]

    loss_of(case, xp, kwargs, cotangents)(*tensors).backward()

    for found, tensor in zip(gradients, tensors, strict=True):
        np.testing.assert_allclose(found, tensor.grad.numpy(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("case", "dtype"), peer_parameters("jax"))
def test_jax_has_the_same_gradient_conjugated(case: Case, dtype: np.dtype[Any]) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    args, kwargs, cotangents, gradients = ours(case, dtype)

    loss = loss_of(case, jax.numpy, kwargs, cotangents)
    theirs = jax.jit(jax.grad(loss, argnums=tuple(range(len(args)))))(*map(jax.numpy.asarray, args))

    for found, wanted in zip(gradients, theirs, strict=True):
        np.testing.assert_allclose(found, np.conj(np.asarray(wanted)), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize(
    "function",
    [
        lambda xp, x: xp.linalg.eigvals(x) ** 3,
        lambda xp, x: xp.linalg.matrix_power(x, 5),
        lambda xp, x: xp.linalg.matrix_power(x, -3),
    ],
    ids=["eigvals", "matrix_power 5", "matrix_power -3"],
)
def test_functions_made_of_others_have_the_gradients_of_both(
    function: Any, dtype: np.dtype[Any]
) -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    import array_api_compat.torch as torch_xp

    random = np.random.default_rng(3)
    x = direction(random, np.zeros((2, 3, 3), dtype)) + 2.0 * np.eye(3, dtype=dtype)
    weights = 1.0 + np.arange(2.0)[:, None]  # the same for all eigenvalues: their order is free

    def loss(xp: Any, a: Any) -> Any:
        out = function(xp, a)
        places = xp.asarray(weights if out.ndim == 2 else weights[..., None])
        out = xp.sum(out * places)
        return xp.real(out) if xp.isdtype(out.dtype, "complex floating") else out

    gradient = gw.grad(lambda a: loss(a.__array_namespace__(), a))(x)
    tensor = torch.tensor(x, requires_grad=True)
    loss(torch_xp, tensor).backward()
    of_jax = jax.grad(lambda a: loss(jax.numpy, a))(jax.numpy.asarray(x))

    np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gradient, np.conj(np.asarray(of_jax)), rtol=1e-10, atol=1e-10)
