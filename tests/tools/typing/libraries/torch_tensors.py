"""`Variable[torch.Tensor]`: checked with torch's own types where it is installed."""

from __future__ import annotations

from typing import Any, assert_type

import torch

import gradwrap as gw


def loss(w: torch.Tensor, x: torch.Tensor, *, rate: float = 0.1) -> torch.Tensor:
    return ((w * x) ** 2).sum() * rate


def on_tensors(t: torch.Tensor) -> None:
    x = gw.wrap(t, requires_grad=True)
    assert_type(x, gw.Variable[torch.Tensor])
    assert_type(x.grad, torch.Tensor | None)
    assert_type(x.data, torch.Tensor)
    assert_type(x.dtype, torch.dtype)
    assert_type(x.device, torch.device)
    assert_type(x * t, gw.Variable[torch.Tensor])
    assert_type(t * x, gw.Variable[torch.Tensor])
    assert_type(2.0 * x, gw.Variable[torch.Tensor])
    assert_type(x[0].sum(axis=0), gw.Variable[torch.Tensor])
    assert_type(x > 0.0, gw.Variable[Any])
    xp = x.__array_namespace__()
    assert_type(xp, gw.typing.Namespace[torch.Tensor])
    assert_type(xp.exp(t), gw.Variable[torch.Tensor])
    assert_type(xp.linalg.eigh(x).eigenvalues, gw.Variable[torch.Tensor])
    assert_type(gw.autograd.grad(x, x), tuple[torch.Tensor, ...])

    assert_type(gw.grad(loss)(t, x=t, rate=1.0), torch.Tensor)
    assert_type(gw.grad(loss, (0, 1))(t, t), tuple[torch.Tensor, torch.Tensor])
    assert_type(gw.value_and_grad(loss)(t, t), tuple[torch.Tensor, torch.Tensor])
    assert_type(gw.hessian(loss)(t, t), torch.Tensor)
    assert_type(gw.vmap(loss)(t, x=t), torch.Tensor)
