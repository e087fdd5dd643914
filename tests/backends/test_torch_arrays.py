"""PyTorch's tensors: its own autograd, its functions and operators, its slices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn, is_a, rows

if TYPE_CHECKING:
    from collections.abc import Callable

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.peers


def tensor(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64)


ENTRIES: dict[str, Callable[[Any], Any]] = {
    "wrap": gw.wrap,
    "grad": gw.grad(lambda w: (w * w).sum()),
    "vjp": lambda w: gw.vjp(lambda w: (w * w).sum(), w),
    "jvp": lambda w: gw.jvp(lambda w: (w * w).sum(), (w,), (w,)),
    "in a container": lambda w: gw.grad(lambda p: (p["w"] ** 2).sum())({"w": w}),
}


@pytest.mark.parametrize("enter", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize(
    "make", [lambda: torch.nn.Parameter(tensor(1.0, 2.0)), lambda: parameter() * 2.0]
)
def test_a_tensor_of_torchs_own_graph_is_refused(enter: Any, make: Any) -> None:
    """torch's backward() would miss what gradwrap computes, without a word."""
    weight = make()
    with pytest.raises(gw.errors.TrackedValueError, match=r"requires_grad.*\.detach\(\)"):
        enter(weight)
    enter(weight.detach())
    with torch.no_grad():
        enter(weight)


def parameter() -> Any:
    return tensor(1.0, 2.0).requires_grad_()


def test_a_detached_parameter_is_not_recorded_by_torch() -> None:
    weight = torch.nn.Parameter(tensor(1.0, 2.0))

    value, gradient = gw.value_and_grad(lambda w: (w * w).sum())(weight.detach())

    assert not value.requires_grad
    assert not gradient.requires_grad
    assert weight.grad is None
    assert gradient.tolist() == [2.0, 4.0]


def test_wrapped_parameter_shares_its_buffer_and_not_torchs_graph() -> None:
    weight = parameter()
    with torch.no_grad():
        v = gw.wrap(weight, requires_grad=True)

    (v * v).sum().backward()

    assert v.data.data_ptr() == weight.data_ptr()
    assert not v.data.requires_grad
    assert v.grad is not None
    assert v.grad.tolist() == [2.0, 4.0]


def test_check_grads_takes_tensors() -> None:
    x = torch.tensor([0.3, 1.2], dtype=torch.float64)
    gw.testing.check_grads(lambda x: torch.sum(torch.sin(x) * x), [x])
    gw.testing.check_grads(lambda x: torch.sum(x**3), [x.to(torch.float32)])
    gw.testing.check_grads(lambda z: torch.sum((z * z.conj()).real), [x.to(torch.complex128)])
    assert gw.testing.check_rule("multiply", x, x).right
    wrong = gw.primitive(fn(lambda x: torch.sin(x)))
    gw.defvjp(wrong, lambda xp, g, x: g * xp.sin(x))
    with pytest.raises(gw.testing.GradientMismatchError):
        gw.testing.check_grads(wrong, [x], modes=["rev"])


def test_a_primitive_that_returns_another_librarys_array_is_refused() -> None:
    to_numpy = gw.primitive(fn(lambda x: np.sin(np.asarray(x))))
    to_torch = gw.primitive(fn(lambda x: torch.sin(torch.as_tensor(x))))
    for primitive in (to_numpy, to_torch):
        gw.defvjp(primitive, lambda xp, g, x: g * xp.cos(x))
    cases = ((to_numpy, tensor(1.0), "torch", "numpy"), (to_torch, np.ones(1), "numpy", "torch"))
    for primitive, x, given, made in cases:
        for transform in (gw.vjp, fn(lambda f, x: gw.jvp(f, (x,), (x,)))):
            with pytest.raises(gw.errors.MixedLibrariesError, match=f"of {given} and.*of {made}"):
                transform(primitive, x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_dtype_is_kept(dtype: str) -> None:
    x = torch.ones(3, dtype=getattr(torch, dtype))

    gradient = gw.grad(lambda x: abs(x * 2.0 + 1).sum())(x)

    assert type(gradient) is torch.Tensor
    assert gradient.dtype is x.dtype


NAMES = "add sub mul truediv floordiv mod pow matmul lt le gt ge eq ne"


@pytest.mark.parametrize("name", NAMES.split())
def test_operator_of_a_tensor_and_a_variable_is_the_variables(name: str) -> None:
    operate = getattr(operator, name)
    left, right = np.array([1.5, 2.5]), np.array([0.5, 3.0])
    wanted = operate(left, right)
    a, b = torch.tensor(left), torch.tensor(right)

    for found in (operate(a, gw.wrap(b)), operate(gw.wrap(a), b)):
        assert is_a(found, gw.Variable)
        np.testing.assert_allclose(gw.unwrap(found), wanted)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "matmul"])
def test_gradient_of_an_operator_with_a_tensor_on_the_left(name: str) -> None:
    operate = getattr(operator, name)
    a, b = np.array([1.5, 2.5]), np.array([0.5, 3.0])
    wanted = gw.grad(lambda b: operate(a, b).sum())(b)

    found = gw.grad(lambda b: operate(torch.tensor(a), b).sum())(torch.tensor(b))

    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_tensor_plus_equals_variable_is_a_new_variable() -> None:
    def f(x: Any) -> Any:
        total = torch.ones(2, dtype=torch.float64)
        total += x * x
        return total.sum()

    assert gw.grad(f)(tensor(1.0, 2.0)).tolist() == [2.0, 4.0]


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": lambda x: torch.sin(x).sum(),
    "sum along an axis": lambda x: (torch.sum(x * x, dim=1, keepdim=True) ** 2).sum(),
    "by position": lambda x: (torch.sum(x, 0) * torch.mean(x, 0)).sum(),
    "by its keyword": lambda x: torch.exp(input=x).sum(),
    "cat": lambda x: (torch.cat([x, x * x], 1) ** 2).sum(),
    "stack": lambda x: (torch.stack([x, x * x], dim=-1) ** 2).sum(),
    "where": lambda x: torch.where(x > 0, x * x, x).sum(),
    "clamp": lambda x: (torch.clamp(x, min=-0.5) ** 2).sum(),
    "matmul": lambda x: torch.matmul(x, x).sum(),
    "solve": lambda x: torch.linalg.solve(x, torch.ones(2, dtype=torch.float64)).sum(),
    "einsum": lambda x: torch.einsum("ij,ji->", x, x),
    "max": lambda x: torch.max(x) + torch.amax(x, dim=0).sum(),
    "flip": lambda x: (torch.flip(x, (0,)) * x).sum(),
    "maximum": lambda x: torch.maximum(x, torch.zeros(2, 2, dtype=torch.float64)).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_torchs_own_function_records(name: str) -> None:
    f = FUNCTIONS[name]
    values = torch.tensor([[0.3, -1.2], [2.0, 0.7]], dtype=torch.float64)
    leaf = values.clone().requires_grad_()
    f(leaf).backward()

    found = gw.grad(f)(values)

    np.testing.assert_allclose(found, leaf.grad, rtol=1e-12)


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda x: torch.nn.functional.relu(x),
            lambda x: torch.max(x, dim=0).values,
            lambda x: torch.max(x, x),
            lambda x: torch.std(x),  # torch's has another default than the standard's
            lambda x: torch.sort(x).values,
            lambda x: torch.rsub(x, x),  # whose arguments are swapped
        ]
    ),
    ids=["relu", "max with positions", "max of two", "std", "sort", "rsub"],
)
def test_function_that_means_something_else_says_so(call: Any) -> None:
    with pytest.raises(gw.errors.NoRuleError, match=r"torch\..* has no rule.*Fix: .*namespace"):
        gw.grad(lambda x: call(x).sum())(tensor(1.0, 2.0))


def test_function_without_a_rule_runs_on_what_is_not_tracked() -> None:
    found = torch.nn.functional.relu(gw.wrap(tensor(-1.0, 2.0)))

    assert isinstance(found, gw.Variable)
    assert found.tolist() == [0.0, 2.0]


def test_primitive_of_a_torch_function_records() -> None:
    """The message for the call without it says so."""

    @gw.primitive
    def softplus(x: Any) -> Any:
        return torch.nn.functional.softplus(x)

    gw.defvjp(softplus, lambda xp, g, x: g / (1.0 + xp.exp(-x)))

    gradient = gw.grad(lambda x: softplus(x).sum())(tensor(0.0, 2.0))

    np.testing.assert_allclose(gradient, torch.sigmoid(tensor(0.0, 2.0)))


def test_out_argument_is_refused() -> None:
    x = gw.wrap(tensor(1.0), requires_grad=True)

    with pytest.raises(gw.errors.NoRuleError, match=r"torch\.sin\(out="):
        torch.sin(x, out=tensor(0.0))


def test_store_into_a_plain_tensor_is_refused() -> None:
    def f(x: Any) -> Any:
        out = torch.zeros(2, dtype=torch.float64)
        out[0] = x[0]
        return out.sum()

    with pytest.raises(gw.errors.TrackedValueError, match=r"plain torch\.Tensor.*Fix: make"):
        gw.grad(f)(tensor(1.0, 2.0))
    with pytest.raises(gw.errors.TrackedValueError, match="add_ would write"):
        tensor(1.0).add_(gw.wrap(tensor(1.0), requires_grad=True))


def test_write_to_a_view_reaches_its_base() -> None:
    def f(x: Any) -> Any:
        out = x * 1.0
        part = out[1:]
        part *= x[0]
        out[::-1][0] = 5.0 * x[1]
        return (out * out).sum()

    values = [1.0, 2.0, 3.0]
    wanted = gw.grad(f)(np.array(values))

    np.testing.assert_allclose(gw.grad(f)(tensor(*values)), wanted)


def test_slices_go_backwards_though_torchs_do_not() -> None:
    x = torch.arange(24.0, dtype=torch.float64).reshape(2, 3, 4)
    v = gw.wrap(x)

    for key in (
        np.s_[::-1],
        np.s_[0, ::-2],
        np.s_[..., 3:0:-1],
        np.s_[None, :, ::-1, 1],
        np.s_[5::-1, ..., None, -2::-2],
    ):
        np.testing.assert_array_equal(v[key].data, x.numpy()[key])


def test_repeated_indices_add_up() -> None:
    rows, columns = torch.tensor([0, 0, 1]), torch.tensor([2, 2, 0])
    x = torch.zeros(2, 3, dtype=torch.float64)

    programs: list[Callable[[Any], Any]] = [
        lambda x: x[rows, columns].sum(),
        lambda x: x[rows][:, 0].sum(),
        lambda x: x[:, columns].sum(),
        lambda x: x[:, [2, 2]].sum(),
    ]
    for f in programs:
        reference = x.clone().requires_grad_()
        f(reference).backward()
        np.testing.assert_array_equal(gw.grad(f)(x), reference.grad)


@pytest.mark.parametrize(
    ("shape", "right", "left"),
    [
        ((3, 3, 3), (3, 3), True),
        ((2, 3, 3), (2, 3), True),
        ((2, 3, 3), (3, 2), True),
        ((3, 3), (3,), True),
        ((3, 3), (3, 3), False),
        ((2, 3, 3), (2, 4, 3), False),
    ],
)
def test_solve_takes_a_batch_of_vectors_as_pytorch_does(
    shape: tuple[int, ...], right: tuple[int, ...], left: bool
) -> None:
    rng = np.random.default_rng(0)
    a = torch.tensor(rng.normal(size=shape) + 3 * np.eye(3), requires_grad=True)
    b = torch.tensor(rng.normal(size=right), requires_grad=True)

    def total(a: Any, b: Any) -> Any:
        return torch.sum(torch.linalg.solve(a, b, left=left) ** 3)

    wanted = total(a, b)
    wanted.backward()
    value, found = gw.value_and_grad(total, (0, 1))(a.detach(), b.detach())
    torch.testing.assert_close(value, wanted.detach())
    torch.testing.assert_close(found[0], a.grad)
    torch.testing.assert_close(found[1], b.grad)


def test_squeeze_by_position_keeps_a_longer_axis_as_pytorch_does() -> None:
    x = gw.wrap(torch.ones(2, 3, 1), requires_grad=True)

    assert [x.squeeze(i).shape for i in range(3)] == [(2, 3, 1), (2, 3, 1), (2, 3)]
    assert x.squeeze().shape == (2, 3)
