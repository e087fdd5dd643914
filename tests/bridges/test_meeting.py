"""Values of other graphs that meet gradwrap without a bridge keep their graph, or are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap
import gradwrap.numpy as gnp
from gradwrap.errors import MixedLibrariesError, TrackedCodeError, TrackedValueError

pytestmark = pytest.mark.peers
torch: Any = pytest.importorskip("torch")
jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
gw: Any = gradwrap
X = np.ones(3)


def parameter() -> Any:
    return torch.ones(3, dtype=torch.float64, requires_grad=True)


def cubed(x: Any) -> Any:
    return (x**3).sum()


REFUSED: dict[str, Any] = {
    "wrap": gw.wrap,
    "grad": gw.grad(cubed),
    "beside": lambda t: gw.grad(lambda x, y: (x * 2).sum())(X, t),
    "func.grad": lambda t: torch.func.grad(lambda t: gw.grad(cubed)(t).sum())(t.detach()),
    "func.hessian": lambda t: torch.func.hessian(lambda t: gw.value_and_grad(cubed)(t)[0])(
        t.detach()
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_tensor_of_torchs_graph_is_refused_with_the_bridges_name(name: str) -> None:
    with pytest.raises(TrackedValueError, match=r"gradwrap\.torch\.layer\(f\)"):
        REFUSED[name](parameter())


@pytest.mark.parametrize(
    "enter",
    [
        lambda t: gw.grad(lambda x: (x * t).sum())(t.detach()),
        gw.vmap(lambda x: x * 2),
        gw.checkpoint(lambda x: x * 2),
    ],
)
def test_a_tensor_that_passes_through_keeps_its_graph(enter: Any) -> None:
    t = parameter()
    out = enter(t)
    assert out.requires_grad
    (g,) = torch.autograd.grad(out.sum(), t)
    assert g.tolist() == [out.detach()[0].item()] * 3


def test_tensors_that_torch_maps_or_pushes_keep_their_transform() -> None:
    t = torch.tensor([1.0, 2.0])
    assert torch.func.vmap(gw.grad(cubed))(torch.stack([t, t]))[1].tolist() == [3.0, 12.0]
    assert torch.func.jvp(gw.grad(cubed), (t,), (t,))[1].tolist() == [6.0, 24.0]


@pytest.mark.parametrize("transform", [jax.jit, jax.grad, lambda f: jax.jacfwd(jax.jit(f))])
def test_a_tracer_of_jax_keeps_its_transform(transform: Any) -> None:
    y = jnp.array([1.0, 2.0])
    for function, known in (
        (lambda y: gw.grad(cubed)(y).sum(), lambda y: (3 * y**2).sum()),
        (lambda y: gw.unwrap(gw.wrap(y) ** 2).sum(), lambda y: (y**2).sum()),
    ):
        np.testing.assert_allclose(transform(function)(y), transform(known)(y))


MIXED: dict[str, Any] = {
    "x * t": lambda x, t: x * t,
    "t * x": lambda x, t: t * x,
    "np.multiply": np.multiply,
    "np.concatenate": lambda x, t: np.concatenate([x, t]),
}


@pytest.mark.parametrize("name", MIXED)
def test_arrays_of_two_libraries_name_the_bridge(name: str) -> None:
    f = MIXED[name]
    with pytest.raises(MixedLibrariesError, match=r"gradwrap\.torch\.operation\(f\)"):
        gw.grad(lambda x: f(x, parameter()).sum())(X)
    with pytest.raises(MixedLibrariesError, match=r"gradwrap\.jax\.operation\(f\)"):
        jax.jit(lambda y: gw.grad(lambda x: f(x, y).sum())(X).sum())(jnp.ones(3))


def test_functions_of_other_libraries_name_the_bridge() -> None:
    with pytest.raises(TrackedCodeError, match=r"Fix: make.*gradwrap\.torch\.operation\(f\)"):
        gw.grad(lambda x: torch.sin(x).sum())(X)
    with pytest.raises(TrackedCodeError, match=r"Fix: make.*gradwrap\.jax\.operation\(f\)"):
        gw.grad(lambda x: jnp.sin(x).sum())(X)


def test_conversions_that_would_end_a_graph_raise_and_name_the_bridge() -> None:
    with pytest.raises(RuntimeError, match="requires grad") as caught:
        gw.grad(lambda x: (x * np.asarray(parameter())).sum())(X)
    assert "gradwrap.torch.layer(f)" in caught.value.__notes__[0]
    with pytest.raises(jax.errors.TracerArrayConversionError) as found:
        jax.jit(lambda y: gw.grad(lambda x: (x * np.sin(y)).sum())(X))(jnp.ones(3))
    assert "gradwrap.jax.callback(f)" in found.value.__notes__[0]
    with pytest.raises(RuntimeError, match="requires grad"):
        gnp.sin(parameter())
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.grad(lambda y: gnp.sum(gnp.sin(y)))(jnp.ones(3))


def test_a_leaked_tracer_is_refused() -> None:
    leaked: list[Any] = []

    def leaks(y: Any) -> Any:
        leaked.append(y)
        return y

    jax.jit(leaks)(jnp.ones(3))
    with pytest.raises(jax.errors.UnexpectedTracerError):
        gw.grad(cubed)(leaked[0])
    with pytest.raises(MixedLibrariesError):
        gw.grad(lambda x: (x * leaked[0]).sum())(X)
