"""Functions of PyTorch and JAX in gradwrap's graph: `torch.operation` and `jax.operation`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap
from gradwrap.errors import BufferChangedError, CompileError, InPlaceError, NotAnArrayError

pytestmark = pytest.mark.peers
torch: Any = pytest.importorskip("torch")
jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
gw: Any = gradwrap
RNG = np.random.default_rng(5)
X, Y = RNG.uniform(0.5, 1.5, (2, 3))
ROWS = RNG.uniform(0.5, 1.5, (4, 3))
OPERATIONS: dict[str, Any] = {
    "torch": gradwrap.torch.operation(lambda x, y: torch.sin(x) * y**2),
    "jax": gradwrap.jax.operation(lambda x, y: jnp.sin(x) * y**2),
    "jax without jit": gradwrap.jax.operation(lambda x, y: jnp.sin(x) * y**2, jit=False),
}


def numpys(x: Any, y: Any) -> Any:
    return np.sin(x) * y**2


def summed(f: Any) -> Any:
    return lambda x, y: np.sum(f(x, y))


TRANSFORMS: dict[str, Any] = {
    "value": lambda f: f,
    "grad": lambda f: gw.grad(summed(f), (0, 1)),
    "hessian": lambda f: gw.hessian(summed(f), (0, 1)),
    "jacrev": lambda f: gw.jacrev(f, (0, 1)),
    "jacfwd": lambda f: gw.jacfwd(f, (0, 1)),
    "jacrev of jacrev": lambda f: gw.jacrev(gw.jacrev(f)),
    "jacfwd of jacfwd": lambda f: gw.jacfwd(gw.jacfwd(f)),
    "jacrev of jacfwd": lambda f: gw.jacrev(gw.jacfwd(f)),
    "third": lambda f: gw.grad(lambda x, y: np.sum(gw.hessian(summed(f))(x, y))),
    "vmap": lambda f: lambda x, y: gw.vmap(f, (0, None))(ROWS, y),
    "vmap of hessian": lambda f: lambda x, y: gw.vmap(gw.hessian(summed(f)), (0, None))(ROWS, y),
    "grad of vmap": lambda f: gw.grad(lambda x, y: np.sum(gw.vmap(f, (0, None))(ROWS, y)), 1),
    "linearize": lambda f: lambda x, y: gw.linearize(f, x, y)[1](y, x),
    "hvp": lambda f: lambda x, y: gw.hvp(summed(f), (x, y), (y, x)),
    "elementwise_grad": lambda f: gw.elementwise_grad(f, 1),
    "in the midst": lambda f: gw.grad(lambda x, y: np.sum(np.tanh(f(x * 2, np.exp(y))) ** 2)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("library", OPERATIONS)
def test_transforms_of_gradwrap(library: str, transform: str) -> None:
    found = TRANSFORMS[transform](OPERATIONS[library])(X, Y)
    expected = TRANSFORMS[transform](numpys)(X, Y)
    pairs = zip(gw.tree.leaves(found), gw.tree.leaves(expected), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        assert one.dtype == np.float64


@pytest.mark.parametrize("transform", ["value", "grad", "hessian", "vmap of hessian"])
@pytest.mark.parametrize("library", OPERATIONS)
def test_compiled_programs_call_it_as_one_operation(library: str, transform: str) -> None:
    compiled = gw.compile(TRANSFORMS[transform](OPERATIONS[library]))
    for scale in (1.0, 2.0):
        found = compiled(X * scale, Y)
        expected = TRANSFORMS[transform](numpys)(X * scale, Y)
        pairs = zip(gw.tree.leaves(found), gw.tree.leaves(expected), strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert len(compiled.programs) == 1
    assert "_lambda__0(" in compiled.source


def test_a_program_that_calls_it_is_not_saved(tmp_path: Any) -> None:
    compiled = gw.compile(gw.grad(summed(OPERATIONS["torch"])))
    compiled(X, Y)
    with pytest.raises(CompileError, match=r"calls _lambda_.*Fix: call the compiled function"):
        compiled.save(tmp_path / "saved.py")


@pytest.mark.parametrize("library", OPERATIONS)
def test_the_tape(library: str) -> None:
    x, y = gw.wrap(X, requires_grad=True), gw.wrap(Y, requires_grad=True)
    np.sum(OPERATIONS[library](x, y)).backward(create_graph=True)
    np.testing.assert_allclose(gw.unwrap(x.grad), np.cos(X) * Y**2, rtol=1e-12)
    (second,) = gw.autograd.grad(np.sum(x.grad), [x])
    np.testing.assert_allclose(gw.unwrap(second), -np.sin(X) * Y**2, rtol=1e-12)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_complex_arrays_containers_integers_and_dtypes(library: str) -> None:
    xp: Any = torch if library == "torch" else jnp
    make = getattr(gw, library).operation

    def model(p: Any, index: Any, *, power: int) -> Any:
        return {"out": xp.sin(p["z"][index]) * xp.conj(p["z"][index]) ** power, "next": index + 1}

    def numpy_model(p: Any, index: Any, *, power: int) -> Any:
        return {"out": np.sin(p["z"][index]) * np.conj(p["z"][index]) ** power, "next": index + 1}

    z, index = X[:2] + 1j * Y[:2], np.array([1, 1, 0])
    own = make(model)
    assert own({"z": z}, index, power=2)["next"].tolist() == [2, 2, 1]

    def loss(f: Any) -> Any:
        return lambda z: np.sum(np.abs(f({"z": z, "none": None}, index, power=2)["out"]) ** 2)

    np.testing.assert_allclose(gw.grad(loss(own))(z), gw.grad(loss(numpy_model))(z), rtol=1e-12)
    for dtype in (np.float32, np.complex64):
        x = np.ones(2, dtype)
        single = make(lambda x: xp.sin(x))
        assert single(x).dtype == dtype
        assert gw.grad(lambda x, f=single: np.sum(np.abs(f(x))))(x).dtype == dtype
    assert gw.grad(make(lambda x: xp.exp(x) * 2.0))(0.0) == 2.0


def test_a_module_with_its_parameters_as_arguments() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)
    ).double()
    own = gw.torch.operation(net)
    x = torch.tensor(ROWS, requires_grad=True)
    net(x).sum().backward()
    np.testing.assert_allclose(gw.grad(lambda x: np.sum(own(x)))(ROWS), x.grad.numpy(), rtol=1e-12)
    expected = {name: p.grad.numpy().copy() for name, p in net.named_parameters()}
    called = gw.torch.operation(lambda p, x: torch.func.functional_call(net, p, (x,)))
    weights = {name: p.detach().numpy() for name, p in net.named_parameters()}
    found = gw.grad(lambda p: np.sum(called(p, ROWS)))(weights)
    for name, g in expected.items():
        np.testing.assert_allclose(found[name], g, rtol=1e-12)


def test_a_function_of_torch_without_forward_mode() -> None:
    class Cube(torch.autograd.Function):  # type: ignore[misc]  # torch is not typed here
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, *g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g[0] * 3 * x**2

    own = gw.torch.operation(lambda x: Cube.apply(x))
    np.testing.assert_allclose(gw.jvp(own, (X,), (Y,))[1], 3 * X**2 * Y, rtol=1e-12)
    np.testing.assert_allclose(gw.jacfwd(own)(X), np.diag(3 * X**2), rtol=1e-12)


def test_arrays_of_the_library_itself() -> None:
    x = torch.tensor(X)
    g = gw.grad(lambda x: OPERATIONS["torch"](x, x).sum())(x)
    assert type(g) is torch.Tensor
    y = jnp.asarray(X)
    h = gw.grad(lambda y: OPERATIONS["jax"](y, y).sum())(y)
    assert isinstance(h, jax.Array)
    jitted = jax.jit(gw.grad(lambda y: OPERATIONS["jax"](y, y).sum()))(y)
    np.testing.assert_allclose(jitted, h, rtol=1e-6)


def test_memory_is_not_written_to() -> None:
    def writes(x: Any) -> Any:
        return x.mul_(2.0)

    own = gw.torch.operation(writes)
    with pytest.raises(InPlaceError, match=r"written to its argument.*x\.clone\(\)"):
        own(X.copy())
    same = gw.torch.operation(lambda x: x)
    x = X.copy()
    same(x)[0] = 100.0
    assert x[0] == X[0]
    for view in (x[::-1], np.broadcast_to(x, (2, 3)), x.astype(">f8")):
        assert np.array_equal(same(view), view)
        assert np.array_equal(gw.jax.operation(lambda x: x)(view), view)


def slope_on_the_tape(f: Any, x: Any) -> Any:
    variable = gw.wrap(x.copy(), requires_grad=True)
    f(variable).backward()
    return gw.unwrap(variable.grad)


OVERWRITTEN: dict[str, tuple[int, Any]] = {
    "grad": (1, lambda f, x: gw.grad(f)(x)),
    "tape": (1, slope_on_the_tape),
    "jvp": (1, lambda f, x: gw.jvp(f, (x,), (np.ones_like(x),))[1]),
    "grad of grad": (2, lambda f, x: gw.grad(lambda x: np.sum(gw.grad(f)(x)))(x)),
    "grad of jvp": (2, lambda f, x: gw.grad(lambda x: gw.jvp(f, (x,), (np.ones_like(x),))[1])(x)),
    "hvp": (2, lambda f, x: gw.hvp(f, (x,), (np.ones_like(x),))[0]),
}


@pytest.mark.parametrize("size", [3, 2000, 100_000])
@pytest.mark.parametrize("mode", OVERWRITTEN)
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_an_argument_that_is_overwritten_after_the_call(library: str, mode: str, size: int) -> None:
    own = getattr(gw, library).operation(lambda x, c: (x**3 * c).sum())

    def loss(x: Any) -> Any:
        c = np.full(size, 2.0)
        y = own(x, c)
        c[:] = 0.0
        return y

    order, slope = OVERWRITTEN[mode]
    x = np.linspace(0.5, 1.5, size)
    exact = 6 * x**2 if order == 1 else 12 * x
    expected = np.sum(exact) if mode == "jvp" else exact
    copies = library == "jax" and mode not in ("grad of grad", "hvp")  # as JAX does
    if size > 8192 and mode != "jvp" and not copies:
        with pytest.raises(BufferChangedError, match=r"operation <lambda> saved.*overwritten"):
            slope(loss, x)
    else:
        np.testing.assert_allclose(slope(loss, x), expected, rtol=1e-9)


@pytest.mark.parametrize("is_module", [False, True])
def test_a_tensor_that_the_function_reads_is_overwritten_after_the_call(is_module: bool) -> None:
    net = torch.nn.Linear(3, 1, bias=False).double()
    weight = net.weight if is_module else torch.ones(1, 3, dtype=torch.float64)
    own = gw.torch.operation(
        (lambda x: net(x**3).sum()) if is_module else lambda x: (x**3 @ weight.T).sum()
    )

    def loss(x: Any, after: float) -> Any:
        with torch.no_grad():
            weight.fill_(1.0)
        y = own(x)
        if after != 1.0:
            with torch.no_grad():
                weight.fill_(after)
        return y

    def second(x: Any, after: float) -> Any:
        return gw.grad(lambda x: np.sum(gw.grad(loss)(x, after)))(x)

    np.testing.assert_allclose(gw.grad(loss)(X, 1.0), 3 * X**2, rtol=1e-12)
    np.testing.assert_allclose(second(X, 1.0), 6 * X, rtol=1e-12)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        gw.grad(loss)(X, 0.0)
    with pytest.raises(BufferChangedError, match=r"reads .*float64\[.*Fix: pass it as an argument"):
        second(X, 0.0)


def test_bad_input_is_refused_with_a_remedy() -> None:
    sine = gw.torch.operation(torch.sin)
    with pytest.raises(NotAnArrayError, match=r"takes arrays of NumPy and tensors.*np\.asarray"):
        sine(jnp.ones(2))
    with pytest.raises(NotAnArrayError, match=r"float128|longdouble.*x\.astype"):
        sine(np.ones(2, np.longdouble))
    with pytest.raises(NotAnArrayError, match=r"takes arrays of NumPy and JAX.*np\.asarray"):
        gw.jax.operation(jnp.sin)(torch.ones(2))
    with pytest.raises(NotAnArrayError, match="returned no array"):
        gw.torch.operation(lambda x: None)(X)
    with pytest.raises(NotAnArrayError, match=r"returned.*bfloat16.*return y\.float\(\)"):
        gw.torch.operation(lambda x: x.bfloat16())(X)
    with pytest.raises(NotAnArrayError, match=r"layout torch\.sparse.*to_dense"):
        gw.torch.operation(lambda x: x.to_sparse())(X)
