"""The same gradients as JAX and PyTorch, where they have the function and the same convention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from harness import COMPLEX, REAL, Case, cases, function_of, split_call

pytestmark = pytest.mark.peers

ELEMENTWISE = [
    case
    for case in cases()
    if case.rule.kind == "elementwise" and case.backend == "*" and "0)" not in case.pattern
]
PAIRS: list[tuple[Case, np.dtype[Any]]] = [
    (c, REAL) for c in ELEMENTWISE if not c.rule.only_complex
]
PAIRS += [(c, COMPLEX) for c in ELEMENTWISE if not c.rule.only_real]
TORCH_NAMES = {"pow": "pow", "reciprocal": "reciprocal", "conj": "conj_physical", "sign": "sgn"}
JAX_HAS_ZERO = {"sign"}  # also where a complex z/|z| does change with z


def ours(case: Case, dtype: np.dtype[Any]) -> tuple[list[Any], list[Any], Any]:
    args, kwargs = case.arguments(dtype)
    arrays, statics = split_call(args, case.rule)
    f = function_of(case, np, kwargs, statics)
    out, pull = gw.vjp(f, *arrays)
    cotangent = np.asarray(np.ones_like(out[0]))
    return args, list(pull([cotangent])), cotangent


@pytest.mark.parametrize(
    ("case", "dtype"),
    [pair for pair in PAIRS if pair[0].rule.name not in JAX_HAS_ZERO],
    ids=lambda value: value.id if isinstance(value, Case) else value.name,
)
def test_jax_has_the_same_gradient_conjugated(case: Case, dtype: np.dtype[Any]) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    function = getattr(jax.numpy, case.rule.name)
    args, gradients, cotangent = ours(case, dtype)
    places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]

    def of_arrays(*arrays: Any) -> Any:
        called = list(args)
        for place, array in zip(places, arrays, strict=True):
            called[place] = array
        return function(*called)

    _, pull = jax.vjp(of_arrays, *(jax.numpy.asarray(args[i]) for i in places))

    for found, wanted in zip(gradients, pull(jax.numpy.asarray(cotangent)), strict=True):
        np.testing.assert_allclose(found, np.conj(np.asarray(wanted)), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("case", "dtype"),
    PAIRS,
    ids=lambda value: value.id if isinstance(value, Case) else value.name,
)
def test_torch_has_the_same_gradient(case: Case, dtype: np.dtype[Any]) -> None:
    torch = pytest.importorskip("torch")
    function = getattr(torch, TORCH_NAMES.get(case.rule.name, case.rule.name))
    args, gradients, cotangent = ours(case, dtype)
    tensors = [
        torch.tensor(a, requires_grad=True)
        if isinstance(a, np.ndarray)
        else torch.tensor(a, dtype=torch.float64)
        for a in args
    ]
    try:
        out = function(*tensors)
    except RuntimeError as error:
        pytest.skip(f"PyTorch: {error}")
    out.backward(torch.tensor(cotangent))

    theirs = [t.grad for t in tensors if t.requires_grad]
    for found, wanted in zip(gradients, theirs, strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-10, atol=1e-10)
