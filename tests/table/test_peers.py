"""Every row of the table against JAX and PyTorch, where they have the function.

A gradient is PyTorch's, and the conjugate of JAX's; a JVP is JAX's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from harness import COMPLEX, REAL, Case, cases, direction, function_of, split_call, to_numpy
from peers import LEFT_OUT, if_installed, keys_of, peer_function, reason_to_leave_out

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.peers

CASES: list[tuple[Case, np.dtype[Any]]]
CASES = [(case, REAL) for case in cases() if not case.rule.only_complex]
CASES += [(case, COMPLEX) for case in cases() if not case.rule.only_real]
FAST_TO_COMPILE = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
"""Each program runs once, on a few numbers."""


def compared_with(library: str) -> list[Any]:
    return [
        pytest.param(case, dtype, id=f"{case.id}-{dtype.name}")
        for case, dtype in CASES
        if reason_to_leave_out(case, dtype, library) is None
    ]


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


class Ours:
    """A case on NumPy: its outputs, and derivatives along random directions."""

    def __init__(self, case: Case, dtype: np.dtype[Any]) -> None:
        args, kwargs = case.arguments(dtype)
        self.arrays, statics = split_call(args, case.rule)
        call = function_of(case, np, kwargs, statics)
        random = np.random.default_rng(case.seed)
        self.outputs, pull = gw.vjp(call, *self.arrays)
        self.cotangents = [direction(random, np.asarray(part)) for part in self.outputs]
        self.tangents = [direction(random, array) for array in self.arrays]
        self.gradients = pull([c[()] for c in self.cotangents])
        _, self.moved = gw.jvp(call, self.arrays, self.tangents)


@pytest.mark.parametrize(("case", "dtype"), if_installed("jax", compared_with("jax")))
def test_jax_has_the_same_jvp_and_the_conjugate_gradient(case: Case, dtype: np.dtype[Any]) -> None:
    jax = pytest.importorskip("jax")
    ours, call = Ours(case, dtype), peer_function(case, dtype, "jax")
    cotangents = [np.conj(c) for c in ours.cotangents]

    def derivatives(arrays: Any, tangents: Any, cotangents: Any) -> Any:
        out, moved = jax.jvp(call, arrays, tangents)
        _, pull = jax.vjp(call, *arrays)
        return out, moved, pull(cotangents)

    out, moved, gradients = jax.jit(derivatives, compiler_options=FAST_TO_COMPILE)(
        *(
            jax.tree.map(jax.numpy.asarray, part)
            for part in (ours.arrays, ours.tangents, cotangents)
        )
    )

    for found, wanted in zip(ours.outputs, out, strict=True):
        close(found, wanted)
    for found, wanted in zip(ours.moved, moved, strict=True):
        close(found, wanted)
    for found, wanted in zip(ours.gradients, gradients, strict=True):
        close(found, np.conj(wanted))


@pytest.mark.parametrize(("case", "dtype"), if_installed("torch", compared_with("torch")))
def test_torch_has_the_same_gradient(case: Case, dtype: np.dtype[Any]) -> None:
    torch = pytest.importorskip("torch")
    ours, call = Ours(case, dtype), peer_function(case, dtype, "torch")
    tensors = [torch.tensor(array, requires_grad=True) for array in ours.arrays]

    out = call(*tensors)
    gradients = torch.autograd.grad(
        out,
        tensors,
        [torch.tensor(c) for c in ours.cotangents],
        allow_unused=True,
        materialize_grads=True,
    )

    for found, wanted in zip(ours.outputs, out, strict=True):
        close(found, to_numpy(wanted.detach()))
    for found, wanted in zip(ours.gradients, gradients, strict=True):
        close(found, to_numpy(wanted))


@pytest.mark.parametrize("library", LEFT_OUT)
def test_only_what_is_in_the_table_is_left_out_of_it(library: str) -> None:
    known = {key for case, dtype in CASES for key in keys_of(case, dtype)}

    assert not LEFT_OUT[library].keys() - known
    compared = [parameters.values[0] for parameters in compared_with(library)]
    assert _share([case for case, _ in CASES], compared, special=False) > 0.95
    # the peers have far fewer special functions than SciPy
    assert sum(case.rule.name.startswith("special.") for case in compared) > 75


def _share(cases: Sequence[Any], compared: Sequence[Any], *, special: bool) -> float:
    """Count the cases that are compared, of special functions or of the standard's."""

    def count(some: Sequence[Any]) -> int:
        return sum(case.rule.name.startswith("special.") == special for case in some)

    return count(compared) / count(cases)
