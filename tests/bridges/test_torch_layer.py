"""Functions of NumPy in PyTorch's graph: `gradwrap.torch.layer` and `module`."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest

import gradwrap
from gradwrap.errors import BufferChangedError, CompileError, NotAnArrayError, TrackedValueError

pytestmark = pytest.mark.peers
torch: Any = pytest.importorskip("torch")
gw: Any = gradwrap
layer: Any = gradwrap.torch.layer
RNG = np.random.default_rng(7)
A, B = RNG.uniform(0.5, 1.5, (3, 3)) + 2 * np.eye(3), RNG.uniform(0.5, 1.5, (3, 3))
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "sin": (np.sin, (B,)),
    "exp": (np.exp, (B,)),
    "log": (np.log, (B,)),
    "tanh": (np.tanh, (B,)),
    "sqrt": (np.sqrt, (B,)),
    "arctan2": (np.arctan2, (A, B)),
    "hypot": (np.hypot, (A, B)),
    "power": (np.power, (B, A)),
    "multiply, broadcast": (np.multiply, (A, B[0])),
    "divide": (np.divide, (A, B)),
    "maximum": (np.maximum, (A, B)),
    "where": (lambda a, b: np.where(a > b, a * b, a - b), (A, B)),
    "clip": (lambda a: np.clip(a, 0.7, 1.2) ** 2, (B,)),
    "logaddexp": (np.logaddexp, (A, B)),
    "abs": (lambda a: np.abs(a - 1.0) * a, (B,)),
    "sum": (lambda a: np.sum(a * a), (B,)),
    "mean": (lambda a: np.mean(a**3, axis=0), (B,)),
    "var": (lambda a: np.var(a, axis=1), (B,)),
    "std": (np.std, (B,)),
    "prod": (lambda a: np.prod(a, axis=1), (B,)),
    "cumsum": (lambda a: np.cumsum(a**2, axis=1), (B,)),
    "max": (lambda a: np.max(a, axis=0) ** 2, (B,)),
    "sort": (lambda a: np.sort(a, axis=1) * np.arange(3.0), (B,)),
    "norm": (np.linalg.norm, (B,)),
    "matmul": (np.matmul, (A, B)),
    "einsum": (lambda a, b: np.einsum("ij,jk->i", a, b), (A, B)),
    "outer": (lambda a, b: np.outer(a[0], b[1]), (A, B)),
    "kron": (np.kron, (A[:2, :2], B[:1])),
    "solve": (np.linalg.solve, (A, B)),
    "inv": (np.linalg.inv, (A,)),
    "det": (np.linalg.det, (A,)),
    "slogdet": (lambda a: np.linalg.slogdet(a @ a.T)[1], (A,)),
    "cholesky": (lambda a: np.linalg.cholesky(a @ a.T), (A,)),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a + a.T), (A,)),
    "svdvals": (lambda a: np.linalg.svd(a)[1], (A,)),
    "indexing": (lambda a: a[[0, 0, 2], 1:] * a[1, 0], (B,)),
    "concatenate": (lambda a, b: np.concatenate([a, b * a], axis=1), (A, B)),
    "transpose and flip": (lambda a: np.flip(a.T * a, axis=0), (B,)),
    "convolve": (lambda a, b: np.convolve(a[0], b[0]), (A, B)),
    "interp": (lambda a: np.interp([0.4, 1.6], [0.0, 1.0, 2.0], a[0] ** 2), (B,)),
    "abs2 of complex": (lambda a, b: np.abs(a + 1j * b) ** 2 * a, (A, B)),
    "two outputs": (lambda a, b: (np.sin(a) * b, a @ b), (A, B)),
    "a loop": (lambda a: functools.reduce(lambda s, row: np.sin(s) * row, a, 1.0), (B,)),
}


def tensors(arrays: Any) -> tuple[Any, ...]:
    return tuple(torch.tensor(array, requires_grad=True) for array in arrays)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_torchs_own_checks_of_first_and_second_derivatives(name: str) -> None:
    function, arrays = FUNCTIONS[name]
    assert torch.autograd.gradcheck(layer(function), tensors(arrays), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(layer(function), tensors(arrays))


@pytest.mark.parametrize("dtype", [torch.complex128])
def test_complex_tensors_have_torchs_convention(dtype: Any) -> None:
    z = torch.tensor([1.0 + 2j, -0.5 + 1j], dtype=dtype, requires_grad=True)
    own = layer(lambda z: np.sin(z) * np.conj(z))
    assert torch.autograd.gradcheck(own, (z,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(own, (z,))
    assert torch.autograd.gradcheck(own, (z.conj(),))


def own(x: Any, y: Any) -> Any:
    return np.sin(x) * y**2


def torchs(x: Any, y: Any) -> Any:
    return torch.sin(x) * y**2


TRANSFORMS: dict[str, Any] = {
    "grad": lambda f: torch.func.grad(lambda x, y: f(x, y).sum(), (0, 1)),
    "jacrev": lambda f: torch.func.jacrev(f, 0),
    "jacfwd": lambda f: torch.func.jacfwd(f, 1),
    "hessian": lambda f: torch.func.hessian(lambda x, y: f(x, y).sum(), (0, 1)),
    "reverse over forward": lambda f: torch.func.jacrev(torch.func.jacfwd(f)),
    "reverse over reverse": lambda f: torch.func.jacrev(torch.func.jacrev(f)),
    "forward over forward": lambda f: torch.func.jacfwd(torch.func.jacfwd(f)),
    "vmap": lambda f: torch.func.vmap(f),
    "vmap of one": lambda f: lambda x, y: torch.func.vmap(f, (0, None))(torch.outer(y, x), y),
    "vmap over columns": lambda f: lambda x, y: torch.func.vmap(f, (1, 0))(torch.outer(y, x), y),
    "vmap of grad": lambda f: torch.func.vmap(torch.func.grad(f)),
    "vmap of hessian": lambda f: torch.func.vmap(torch.func.hessian(f)),
    "grad of vmap": lambda f: torch.func.grad(lambda x, y: torch.func.vmap(f)(x, y).sum()),
    "third": lambda f: torch.func.vmap(torch.func.grad(torch.func.hessian(f))),
    "jvp": lambda f: lambda x, y: torch.func.jvp(f, (x, y), (y, x)),
    "linearize": lambda f: lambda x, y: torch.func.linearize(f, x, y)[1](x, y),
    "vjp": lambda f: lambda x, y: torch.func.vjp(f, x, y)[1](x),
}


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")  # torch.func.linearize
@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_transforms_of_torch_func(name: str) -> None:
    x, y = (torch.tensor(row) for row in B[:2])
    transform = TRANSFORMS[name]
    torch.testing.assert_close(transform(layer(own))(x, y), transform(torchs)(x, y))


def test_dtypes_are_kept() -> None:
    for dtype in (torch.float16, torch.float32, torch.float64, torch.complex64):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        out = layer(lambda x: x * 3)(x)
        assert out.dtype is dtype
        out.abs().sum().backward()
        assert x.grad.dtype is dtype
        assert x.grad.tolist() == [3.0, 3.0]


def test_integers_and_tensors_that_do_not_require_it_get_no_gradient() -> None:
    seen: list[Any] = []

    def picked(x: Any, index: Any, y: Any) -> Any:
        seen.append([type(one) for one in (x, index, y)])
        return x[index] * y, index + 1

    x, y = tensors((np.arange(3.0), np.array(2.0)))
    index = torch.tensor([0, 2])
    values, after = layer(picked)(x, index, y.detach())
    assert after.tolist() == [1, 3]
    assert not after.requires_grad
    values.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 2.0]
    with torch.no_grad():
        assert not layer(picked)(x, index, y)[0].requires_grad
    assert not layer(picked)(x.detach(), index, y.detach())[0].requires_grad
    assert seen[-2:] == [[np.ndarray] * 3] * 2  # nothing was recorded


def test_containers_and_keywords_and_numbers() -> None:
    def model(p: Any, x: Any, *, power: int, name: str = "") -> Any:
        return {"out": p["w"] @ x + p["b"][0] ** power, "name": name, "parts": (x * 2.0, 3)}

    (w, b), x = tensors((A, B[0])), torch.tensor(B[1])
    out = layer(model)({"w": w, "b": [b, None]}, x, power=2, name="n")
    assert out["name"] == "n"
    assert out["parts"][1] == 3
    torch.testing.assert_close(out["parts"][0], x * 2)
    out["out"].sum().backward()
    torch.testing.assert_close(b.grad, 2 * b.detach())
    torch.testing.assert_close(w.grad, x.expand(3, 3))


def test_a_constant_result_and_an_unused_argument() -> None:
    x, y = tensors((B[0], B[1]))
    out = layer(lambda x, y: (x * 2.0, 5.0))(x, y)
    assert out[1].item() == 5.0
    (gx, gy) = torch.autograd.grad(out[0].sum() + out[1], (x, y))
    assert gx.tolist() == [2.0] * 3
    assert gy.tolist() == [0.0] * 3


def test_a_result_of_integers_alone_has_no_gradient() -> None:
    (x,) = tensors((B[0],))
    out = layer(np.argmax)(x)
    assert out.item() == np.argmax(B[0])
    assert not out.requires_grad
    assert (
        layer(lambda x: (np.argsort(x), np.argmax(x)))(x)[0].tolist() == np.argsort(B[0]).tolist()
    )
    assert torch.func.jvp(layer(np.argmax), (x.detach(),), (x.detach(),))[1].item() == 0


def test_memory_is_shared_where_nothing_else_refers_to_it() -> None:
    addresses: list[int] = []

    def noted(x: Any) -> Any:
        made = x + 1.0
        addresses.extend((x.ctypes.data, made.ctypes.data))
        return made

    x = torch.ones(1000, dtype=torch.float64)
    out = layer(noted)(x)
    assert addresses == [x.data_ptr(), out.data_ptr()]


TABLE = np.arange(3.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x[::-1],
        lambda x: np.broadcast_to(x[0], (3,)),
        lambda x: TABLE,
        lambda x: x.astype(">f8"),
        lambda x: np.asarray(memoryview(x)),
        lambda x: x[:0],
    ],
)
def test_other_memory_is_copied(function: Any) -> None:
    x = torch.arange(3, dtype=torch.float64)
    out = layer(function)(x)
    assert np.array_equal(out.numpy(), function(x.numpy()))
    out.add_(10.0)  # a write that nothing else must see
    assert x.tolist() == [0.0, 1.0, 2.0]
    assert TABLE.tolist() == [0.0, 1.0, 2.0]


def test_strides_of_torch() -> None:
    x = torch.arange(6, dtype=torch.float64).reshape(2, 3).requires_grad_()
    negative = torch.complex(x, -x).conj().imag
    assert negative.is_neg()
    for view in (x.T, x[:, ::2], x[:, :1].expand(2, 3), x[1], negative):
        out = layer(lambda v: v**3)(view).sum()
        (found,) = torch.autograd.grad(out, x, retain_graph=True)
        (expected,) = torch.autograd.grad((view**3).sum(), x)
        torch.testing.assert_close(found, expected)


def test_a_write_between_forward_and_backward_is_noticed() -> None:
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    out = layer(np.sin)(x).sum()
    with torch.no_grad():
        x += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


@pytest.mark.parametrize("size", [3, 20_000])
def test_an_array_beside_the_tensors_that_is_overwritten_after_the_call(size: int) -> None:
    x = torch.linspace(0.5, 1.5, size, dtype=torch.float64, requires_grad=True)
    c = np.full(size, 2.0)
    out = layer(lambda x, c: np.sum(x**3 * c))(x, c)
    c[:] = 0.0
    (slope,) = torch.autograd.grad(out, x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    torch.testing.assert_close(slope, 6 * x**2)
    torch.testing.assert_close(second, 12 * x.detach())


def written(x: Any) -> Any:
    y = x * 1.0
    y[0] = y[1] * x[2]
    return y**2


SCALE = np.array([2.0, 3.0])
ORDERS: dict[str, Any] = {
    "reverse": lambda f, x: torch.autograd.grad(f(x), x)[0],
    "pull": lambda f, x: torch.func.vjp(f, x.detach())[1](torch.ones((), dtype=x.dtype))[0],
    "second": lambda f, x: torch.autograd.grad(
        torch.autograd.grad(f(x), x, create_graph=True)[0][0], x
    )[0],
    "pull of pull": lambda f, x: torch.func.vjp(torch.func.grad(f), x.detach())[1](x.detach())[0],
    "third": lambda f, x: torch.autograd.grad(
        torch.autograd.grad(
            torch.autograd.grad(f(x), x, create_graph=True)[0].sum(), x, create_graph=True
        )[0].sum(),
        x,
    )[0],
}


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_array_of_the_closure_that_is_overwritten_after_the_call(name: str, at: int) -> None:
    scale = SCALE.copy()
    x = torch.tensor([0.5, 0.0], dtype=torch.float64, requires_grad=True)
    passes = iter(range(3))

    class Overwriting(torch.autograd.Function):  # type: ignore[misc]  # untyped where torch is not installed
        """The identity, whose backward pass overwrites the array."""

        @staticmethod
        def forward(x: Any) -> Any:
            return x.clone()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if next(passes, None) == at:
                scale[:] = 0.0
            return g * 1.0

    expected = ORDERS[name](lambda x: (torch.tensor(SCALE) * x**3).sum() + x[0] * x[1] ** 2, x)
    own = layer(lambda x: np.sum(scale * x**3) + x[0] * x[1] ** 2)
    found = ORDERS[name](lambda x: Overwriting.apply(own(x)), x)
    torch.testing.assert_close(found, expected)


def test_forward_mode_over_a_pull_uses_the_record() -> None:
    scale = SCALE.copy()
    forward_ad: Any = torch.autograd.forward_ad
    x = torch.tensor([0.5, 0.0], dtype=torch.float64, requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        out = layer(lambda x: np.sum(scale * x**3 + x**2))(dual)
        scale[:] = 0.0
        (slope,) = torch.autograd.grad(out, dual, create_graph=True)
        assert forward_ad.unpack_dual(slope).tangent.tolist() == [8.0, 2.0]


ramp: Any = gw.custom_vjp(lambda x: np.maximum(x, 0.0) ** 3)
ramp.defvjp(lambda x: (ramp(x), x), lambda x, g: (g * 3.0 * np.maximum(x, 0.0) ** 2,))
softplus: Any = gw.custom_jvp(lambda x: np.logaddexp(x, 0.0))
softplus.defjvp(lambda p, t: (softplus(*p), t[0] / (1.0 + np.exp(-p[0]))))
RECORDED: dict[str, Any] = {
    "custom_vjp": ramp,
    "custom_jvp": softplus,
    "checkpoint": gw.checkpoint(lambda x: np.sin(x) * np.exp(x)),
    "writes": written,
    "scan": lambda x: gw.scan(lambda s, v: (np.sin(s) * v, s), x[0], x)[1],
    "hvp inside": lambda x: gw.hvp(lambda y: np.sum(y**3 * x), x, x),
    "vmap inside": gw.vmap(lambda row: row * row[0]),
    "complex": lambda x: np.abs(np.fft.fft(x)) ** 2,
    "root": lambda x: gw.fixed_point(lambda y: 0.5 * (y + x / y), np.ones_like(x)),
    "operation": gw.torch.operation(lambda t: torch.sin(t) * t),
    "no dependence": lambda x: np.ones(3) * 2.0 + 0.0 * x[0],
}


@pytest.mark.parametrize("name", RECORDED)
def test_second_derivatives_from_the_record_of_one_run(name: str) -> None:
    own = layer(RECORDED[name])
    assert torch.autograd.gradgradcheck(own, tensors((B + 0.3,)))
    slope = torch.func.grad(lambda x: (own(x) ** 2).sum())
    modes = {"check_forward_ad": name != "operation"}  # torch has no forward mode in another
    assert torch.autograd.gradcheck(slope, tensors((B + 0.3,)), **modes)


def test_a_second_run_with_other_values_is_refused() -> None:
    scale = SCALE.copy()
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    own = layer(lambda x: np.sum(gw.checkpoint(lambda x: x**3)(x) * scale))
    for change in (0.0, 1.0):
        (slope,) = torch.autograd.grad(own(x), x, create_graph=True)
        scale += change
        if change:
            with pytest.raises(BufferChangedError, match=r"layer <lambda> runs again.*a copy"):
                torch.autograd.grad(slope.sum(), x)
        else:
            assert torch.autograd.grad(slope.sum(), x)[0].tolist() == [6.0, 18.0]


def test_a_function_that_writes_to_its_argument_is_refused() -> None:
    def writes(x: Any) -> Any:
        x[0] = 5.0
        return x * 1.0

    x = torch.ones(2, dtype=torch.float64)
    with pytest.raises(ValueError, match="read-only"):
        layer(writes)(x)
    assert x.tolist() == [1.0, 1.0]


def test_the_function_runs_once_for_a_value_and_its_gradients() -> None:
    calls: list[int] = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return np.sum(np.sin(x))

    (x,) = tensors((B[0],))
    out = layer(counted)(x)
    torch.autograd.grad(out, x, retain_graph=True)
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    assert len(calls) == 1
    (second,) = torch.autograd.grad(g.sum(), x)
    assert len(calls) == 1
    torch.testing.assert_close(second, -torch.sin(x.detach()))


def test_a_module_is_trained_and_saved() -> None:
    def model(p: Any, x: Any) -> Any:
        return np.tanh(x @ p["layers"][0]["w"]) @ p["out"] * p["scale"]

    start: Any = {"layers": [{"w": A}], "out": B[0], "scale": 2}
    module = gw.torch.module(model, start)
    assert [name for name, _ in module.named_parameters()] == ["layers_0_w", "out"]
    x, y = torch.tensor(B), torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)

    def loss() -> Any:
        return torch.mean((module(x) - y) ** 2)

    before = loss().item()
    for _ in range(200):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
    assert loss().item() < 0.2 * before
    again = gw.torch.module(model, start)
    again.load_state_dict(module.state_dict())
    torch.testing.assert_close(again(x), module(x))
    assert np.array_equal(start["out"], B[0])
    assert module.double() is module
    assert gw.torch.module(np.sin, np.ones(2))().shape == (2,)


@pytest.mark.slow
def test_torch_compile_takes_a_layer_as_one_operation() -> None:
    found = layer(own)

    def model(x: Any, y: Any) -> Any:
        return (found(x * 2, y) * 3).sum()

    x, y = tensors(B[:2])
    expected = torch.autograd.grad(model(x, y), (x, y))
    for backend in ("eager", "aot_eager"):
        compiled = torch.compile(model, backend=backend, fullgraph=True)
        for _ in range(2):
            out = compiled(x, y)
            torch.testing.assert_close(out, model(x, y))
            torch.testing.assert_close(torch.autograd.grad(out, (x, y)), expected)
    torch._dynamo.reset()
    dynamic = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    with pytest.raises((CompileError, RuntimeError), match=r"Fix: torch\.compile\(.*dynamic=False"):
        dynamic(x, y)
    torch._dynamo.reset()


def test_a_function_of_any_librarys_arrays_gets_the_tensors() -> None:
    def squares(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.sum(x * x), 2.0

    any_array = layer(squares, arrays="torch")
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    value, number = any_array(x)
    assert value.dtype is torch.bfloat16
    assert number.item() == 2.0
    value.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    torch.testing.assert_close(
        torch.func.hessian(lambda x: any_array(x)[0])(x.detach().double()),
        2 * torch.eye(2, dtype=torch.float64),
    )
    y = torch.ones(2)
    layer(lambda x: x, arrays="torch")(y).add_(1.0)
    assert y.tolist() == [1.0, 1.0]


X = torch.ones(2, dtype=torch.float64)
BAD: dict[str, tuple[Any, Any, str]] = {
    "another device": (
        np.sin,
        lambda: (torch.ones(2, device="meta"),),
        r"without data \(device meta\).*Fix: pass a tensor with data",
    ),
    "two devices": (
        np.add,
        lambda: (X, torch.ones(2, device="meta")),
        r"tensors on cpu and meta.*x\.to\(device\)",
    ),
    "bfloat16": (np.sin, lambda: (X.bfloat16(),), r"torch\.bfloat16.*x\.float\(\).*arrays='torch'"),
    "sparse": (np.sin, lambda: (X.to_sparse(),), r"layout torch\.sparse_coo.*x\.to_dense\(\)"),
    "no tensor": (np.sin, lambda: (np.ones(2),), r"no tensor.*torch\.as_tensor"),
    "None is returned": (lambda x: None, lambda: (X,), r"<lambda> returned no array"),
    "a tensor is returned": (
        lambda x: torch.ones(2),
        lambda: (X,),
        r"arrays of NumPy and returned a Tensor.*arrays=",
    ),
    "a dtype that torch lacks": (
        lambda x: x.astype(np.longdouble),
        lambda: (X,),
        r"that torch does not have.*y\.astype\(np\.float64\)",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_a_remedy(name: str) -> None:
    function, make, message = BAD[name]
    with pytest.raises(NotAnArrayError, match=message):
        layer(function)(*make())


def test_other_kinds_of_input_are_refused() -> None:
    host: Any = importlib.import_module("gradwrap.bridges.torch_arrays").NumpyArrays()
    with pytest.raises(NotAnArrayError, match=r"on the host.*on cuda:0.*x\.cpu\(\).*arrays='cupy'"):
        host._refuse_device(torch.device("cuda:0"), "the layer f")
    with pytest.raises(ValueError, match=r"arrays='jax'.*'numpy', 'cupy', 'torch'"):
        layer(np.sin, arrays="jax")
    with pytest.raises(TrackedValueError, match=r"Fix: call the function itself"):
        gw.grad(lambda x: layer(np.add)(x, X).sum())(np.ones(2))
    with pytest.raises(NotAnArrayError, match=r"a transform of PyTorch has wrapped.*torch\.func"):
        _batched_grads()


def _batched_grads() -> Any:
    x = X.clone().requires_grad_()
    seeds = torch.eye(2, dtype=torch.float64)
    return torch.autograd.grad(layer(np.sin)(x), x, seeds, is_grads_batched=True)
