"""Functions of NumPy in JAX's programs: `gradwrap.jax.callback`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap
from gradwrap.errors import NotAnArrayError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
gw: Any = gradwrap
callback: Any = gradwrap.jax.callback


@pytest.fixture(autouse=True)
def _wide() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


ROWS = np.random.default_rng(3).uniform(0.5, 1.5, (4, 3))


def own(x: Any, y: Any) -> Any:
    return np.sin(x) * y**2


def jaxs(x: Any, y: Any) -> Any:
    return jnp.sin(x) * y**2


def summed(f: Any) -> Any:
    return lambda x, y: f(x, y).sum()


def summed_of(f: Any) -> Any:
    return lambda x: f(x).sum()


def scanned(f: Any) -> Any:
    def last(x: Any, y: Any) -> Any:
        return jax.lax.scan(lambda c, _: (f(c, y), c.sum()), x, None, length=3)[0].sum()

    return last


TRANSFORMS: dict[str, Any] = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(summed(f), (0, 1)),
    "jacrev": lambda f: jax.jacrev(f, (0, 1)),
    "jacfwd": lambda f: jax.jacfwd(f, (0, 1)),
    "hessian": lambda f: jax.hessian(summed(f), (0, 1)),
    "reverse over reverse": lambda f: jax.jacrev(jax.jacrev(f)),
    "forward over forward": lambda f: jax.jacfwd(jax.jacfwd(f)),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(f)),
    "third": lambda f: jax.grad(lambda x, y: jax.hessian(summed(f))(x, y).sum()),
    "vmap": lambda f: lambda x, y: jax.vmap(f, (0, None))(jnp.outer(y, x), y),
    "vmap of columns": lambda f: lambda x, y: jax.vmap(f, (1, 0))(jnp.outer(y, x), y),
    "vmap of hessian": lambda f: jax.vmap(jax.hessian(f)),
    "grad of vmap": lambda f: jax.grad(lambda x, y: jax.vmap(f, (0, None))(x, y).sum()),
    "vmap twice": lambda f: lambda x, y: jax.vmap(jax.vmap(f, (0, None)), (None, 0))(x, y),
    "linearize": lambda f: lambda x, y: jax.linearize(f, x, y)[1](y, x),
    "scan": scanned,
    "grad of scan": lambda f: jax.grad(scanned(f), (0, 1)),
    "hessian of scan": lambda f: jax.hessian(scanned(f)),
    "checkpoint": lambda f: jax.grad(summed(jax.checkpoint(f))),
    "while": lambda f: lambda x, y: jax.lax.fori_loop(0, 3, lambda _, c: f(c, y), x),
    "linear_transpose of vmap": lambda f: (
        lambda x, y: jax.linear_transpose(
            jax.vmap(lambda t: jax.jvp(lambda x: f(x, y), (x,), (t,))[1]), jnp.outer(y, x)
        )(jnp.outer(x, y))
    ),
}


@pytest.mark.parametrize("compile_", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_of_jax(name: str, compile_: bool) -> None:
    x, y = map(jnp.asarray, ROWS[:2])
    function = TRANSFORMS[name](callback(own))
    found = (jax.jit(function) if compile_ else function)(x, y)
    expected = TRANSFORMS[name](jaxs)(x, y)
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        assert one.dtype == other.dtype


def test_complex_arrays_have_jaxs_convention() -> None:
    z = jnp.array([1 + 2j, 0.5 - 1j])
    own_, jaxs_ = callback(lambda z: np.sin(z) * np.conj(z)), lambda z: jnp.sin(z) * jnp.conj(z)
    transforms: list[Any] = [
        lambda f: jax.vjp(f, z)[1](z * 1j),
        lambda f: jax.jvp(f, (z,), (z * 1j,)),
        lambda f: jax.grad(lambda z: jnp.abs(f(z)).sum())(z),
        lambda f: jax.vjp(lambda z: jax.vjp(f, z)[1](z)[0], z)[1](z),
    ]
    for transform in transforms:
        for one, other in zip(
            jax.tree.leaves(transform(own_)), jax.tree.leaves(transform(jaxs_)), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_dtypes_are_those_of_jax() -> None:
    x = jnp.ones(2, jnp.float32)
    assert callback(lambda x: x * 2)(x).dtype == jnp.float32
    assert jax.jit(jax.grad(lambda x: callback(lambda x: x * np.arange(2.0))(x).sum()))(
        x
    ).dtype == (jnp.float32)
    with jax.enable_x64(False):
        widened = callback(lambda x: x * np.array([2.0, 3.0]))
        y = jnp.ones(2)
        assert widened(y).dtype == jnp.float32
        assert jax.grad(lambda y: widened(y).sum())(y).tolist() == [2.0, 3.0]
        assert jax.hessian(lambda y: (widened(y) ** 2).sum())(y).tolist() == [
            [8.0, 0.0],
            [0.0, 18.0],
        ]


def test_containers_integers_and_numbers() -> None:
    def model(p: Any, index: Any, *, power: int) -> Any:
        assert type(power) is int
        return {"out": p["w"][index] ** power, "next": index + 1, "name": "n"}

    called = callback(model)
    p, index = {"w": jnp.arange(3.0), "none": None}, jnp.array([2, 0])
    out = called(p, index, power=3)
    assert out["next"].tolist() == [3, 1]
    assert out["name"] == "n"
    g = jax.jit(jax.grad(lambda p: called(p, index, power=3)["out"].sum()))(p)
    assert g["w"].tolist() == [0.0, 0.0, 12.0]
    assert called(p, index, power=2)["out"].tolist() == [4.0, 0.0]


def test_out_like_tells_the_shapes() -> None:
    runs: list[Any] = []

    def function(x: Any) -> Any:
        runs.append(type(x))
        return x[:2] * 2.0

    struct = jax.ShapeDtypeStruct((2,), jnp.float64)
    for out_like in (struct, lambda x: jax.ShapeDtypeStruct((2,), x.dtype)):
        runs.clear()
        assert jax.eval_shape(callback(function, out_like), jnp.ones(3)).shape == (2,)
        assert runs == []
        g = jax.jit(jax.grad(summed_of(callback(function, out_like))))(jnp.ones(3))
        assert g.tolist() == [2.0, 2.0, 0.0]
        assert len(runs) == 1  # the gradient alone: nothing reads the value


def test_values_that_are_equal_and_differ_have_programs_of_their_own() -> None:
    called = callback(lambda x, c: x * len(repr(c)))
    values: list[Any] = [0.0, -0.0, 1, True, 1.0, complex(0.0, -0.0), complex(-0.0, -0.0)]
    values += [Decimal("1.0"), Decimal("1.00")]
    for run in (called, lambda x, c: jax.grad(lambda x: called(x, c).sum())(x)):
        found = [run(jnp.ones(1), value)[0] for value in values]
        assert found == [len(repr(value)) for value in values]


@pytest.mark.parametrize("compile_", [False, True], ids=["eager", "jit"])
def test_bad_input_is_refused_with_a_remedy(compile_: bool) -> None:
    run = jax.jit if compile_ else lambda f: f
    x = jnp.ones(3)
    errors = (NotAnArrayError, jax.errors.JaxRuntimeError)
    with pytest.raises(NotAnArrayError, match=r"bfloat16.*x\.astype\(jnp\.float32\)"):
        run(callback(np.sin))(x.astype(jnp.bfloat16))
    with pytest.raises(errors, match=r"shape \(0,\), and JAX was told \(3,\).*out_like"):
        run(callback(lambda x: x[x > 0.5]))(jnp.zeros(3))
    with pytest.raises(errors, match=r"returned 1 arrays, and JAX was told 2"):
        run(callback(np.sin, (x, x)))(x)
    with pytest.raises(NotAnArrayError, match=r"out_like of the callback sin has a str"):
        run(callback(np.sin, "float"))(x)
    with pytest.raises(NotAnArrayError, match="returned no array"):
        run(callback(lambda x: None))(x)


def test_tracked_values_and_leaked_tracers_are_refused() -> None:
    with pytest.raises(TrackedValueError, match="Fix: call the function itself"):
        gw.grad(lambda x: callback(np.sin)(x).sum())(np.ones(2))

    def closes_over(x: Any) -> Any:
        return callback(lambda y: y * x)(x)

    with pytest.raises(
        NotAnArrayError, match=r"returned a tracer of JAX.*pass that value as an arg"
    ):
        jax.jit(closes_over)(jnp.ones(2))
    with pytest.raises(NotAnArrayError, match=r"returned an ArrayImpl.*compute with NumPy in it"):
        callback(lambda x: jnp.sin(x))(jnp.ones(2))
