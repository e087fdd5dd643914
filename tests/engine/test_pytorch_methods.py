"""The methods of `torch.Tensor` on variables: declared, in NumPy's numbers, and as in PyTorch."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
from gradwrap.backends import pytorch_methods
from gradwrap.backends.numpy import methods as numpy_methods
from gradwrap.core.array.variable import Variable
from gradwrap.errors import InPlaceError, TrackedAttributeError, TrackedValueError
from gradwrap.testing import check_grads
from gradwrap.typing import pytorch_methods as declared
from lambdas import fn, is_a

if TYPE_CHECKING:
    from collections.abc import Callable

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
METHODS = pytorch_methods.METHODS
RANDOM = np.random.default_rng(0)
A, B = RANDOM.uniform(0.1, 0.9, (3, 4)), RANDOM.uniform(0.1, 0.9, (3, 4))
CALLS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        [
            "add",
            "atan2",
            "copy_",
            "div",
            "divide",
            "eq",
            "ge",
            "gt",
            "hypot",
            "le",
            "logaddexp",
            "logical_and",
            "logical_or",
            "logical_xor",
            "lt",
            "maximum",
            "minimum",
            "mul",
            "multiply",
            "ne",
            "pow",
            "remainder",
            "sub",
            "subtract",
            "true_divide",
            "equal",
            "allclose",
        ],
        (B,),
    ),
    **dict.fromkeys(("addcdiv", "addcmul"), (B, B + 0.5)),
    **dict.fromkeys(("matmul", "mm", "reshape_as", "view_as"), (B.T,)),
    **dict.fromkeys(("chunk", "split"), (3, 1)),
    "bmm": (B,),
    "clamp": (0.3, 0.6),
    "clamp_max": (0.5,),
    "clamp_min": (0.5,),
    "expand": (2, -1, 4),
    "expand_as": (np.ones((2, 3, 4)),),
    "fill_": (2.0,),
    "flip": (0,),
    "gather": (1, np.array([[0, 1], [1, 2], [3, 3]])),
    "index_select": (1, np.array([0, 2])),
    "lerp": (B, 0.3),
    "log_softmax": (0,),
    "logsumexp": (1,),
    "masked_fill": (B > 0.5, 2.0),
    "masked_select": (B > 0.5,),
    "movedim": (0, 1),
    "mv": (B[0],),
    "narrow": (1, 1, 2),
    "permute": (1, 0),
    "roll": (1, 0),
    "select": (1, 2),
    "softmax": (1,),
    "tile": (2, 2),
    "type_as": (np.ones(2, np.float32),),
    "unflatten": (1, (2, 2)),
    "unsqueeze": (1,),
    "where": (B > 0.5, B),
}
ELSEWHERE = {
    "acosh",
    "bitwise_not",
    "bitwise_not_",
    "bmm",
    "det",
    "inverse",
    "numpy",
    "outer",
    "to",
}
"""Methods of arrays of other shapes or values, tested below."""
STEPS = {
    "ceil",
    "floor",
    "sign",
    "trunc",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
}
"""PyTorch records them, the former with a gradient of zero."""
IN_ROW = sorted(METHODS.keys() - ELSEWHERE - {"acosh_"})


def arguments(name: str) -> tuple[Any, ...]:
    return CALLS.get(name, CALLS.get(name.removesuffix("_"), ()))


def test_numpys_methods_are_numpys() -> None:
    assert not METHODS.keys() & numpy_methods.NAMES
    assert not METHODS.keys() & set(dir(Variable)) - set(vars(Variable))
    x = gw.wrap(np.ones(2))
    assert METHODS.keys() <= set(dir(x))


def test_all_methods_are_declared() -> None:
    tree = ast.parse(inspect.getsource(declared))
    (methods,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == "PyTorchMethods"
    )
    names = {node.name for node in ast.walk(methods) if isinstance(node, ast.FunctionDef)}
    assert names == METHODS.keys()


def test_the_page_names_all_methods() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tape.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    assert METHODS.keys() - pytorch_methods.IN_PLACE - named == set()


@pytest.mark.peers
@pytest.mark.parametrize("name", IN_ROW)
def test_they_do_what_pytorchs_do(name: str) -> None:
    torch: Any = pytest.importorskip("torch")
    if name in {"asinh_", "atanh_"}:
        pytest.skip("PyTorch has no derivative of it")
    given = arguments(name)
    tensor = torch.tensor(A, requires_grad=True)
    x = gw.wrap(A, requires_grad=True)
    as_tensors = [torch.tensor(one) if isinstance(one, np.ndarray) else one for one in given]
    theirs: Any = getattr(tensor * 1, name)(*as_tensors)
    ours: Any = getattr(x * 1, name)(*given)
    if is_a(theirs, tuple, list):
        parts: list[Any] = list(theirs)
        theirs = torch.cat([part.flatten() for part in parts])
        joined: Any = np.concatenate([part.ravel() for part in ours])
        ours = joined
    if not isinstance(theirs, torch.Tensor):
        assert ours == theirs
        return
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
    np.testing.assert_allclose(ours.detach().data, theirs.detach().numpy(), rtol=1e-12)
    if theirs.requires_grad and name.removesuffix("_") not in STEPS:
        theirs.sum().backward()
        ours.sum().backward()
        np.testing.assert_allclose(x.grad, tensor.grad.numpy(), rtol=1e-10, atol=1e-14)


Z = A + 1j * B
EMPTY = np.ones((2, 0))
WORDS: dict[str, tuple[Any, Any]] = {  # an array, and a call as PyTorch takes it
    "x.flip(dims=(0, 1))": (A, None),
    "x.flip([1])": (A, None),
    "x.flip(dims=[0])": (A, None),
    "x.permute(dims=(1, 0))": (A, None),
    "x.tile(dims=(2,))": (A, None),
    "x.expand(size=(2, 3, 4))": (A, None),
    "x.roll(shifts=(1, 2), dims=[0, 1])": (A, None),
    "x.diff(n=2, dim=0)": (A, None),
    "x.diff(1, 1)": (A, None),
    "x.diff(2)": (A, None),
    "x.diff(n=1, dim=-1, prepend=a)": (A, A[:, :1]),
    "x.diff(append=a)": (A, A[:, :2]),
    "x.div(a, rounding_mode=None)": (A, B),
    "x.div(a, rounding_mode='floor')": (A, -0.2),
    "x.div(a, rounding_mode='trunc')": (A, -0.2),
    "x.div_(a, rounding_mode='trunc')": (A, 0.3),
    "x.flatten(start_dim=0)": (A, None),
    "x.flatten(start_dim=1, end_dim=2)": (A.reshape(3, 2, 2), None),
    "x.flatten(end_dim=1)": (A.reshape(3, 2, 2), None),
    "x.flatten(1, end_dim=-1)": (A.reshape(3, 2, 2), None),
    "x.contiguous(memory_format=a)": (A, None),
    "x.clone(memory_format=a)": (A, None),
    "x.sigmoid()": (Z, None),
    "x.logsumexp(dim=[0, 1], keepdim=True)": (A, None),
    "x.softmax(dim=1)": (EMPTY, None),
    "x.softmax(0)": (EMPTY, None),
    "x.log_softmax(-1)": (EMPTY, None),
    "x.logsumexp(0)": (EMPTY, None),
    "x.squeeze(dim=0)": (A, None),
    "x.squeeze(dim=1)": (A[:, :1], None),
    "x.squeeze(dim=(0, 1))": (A[:, :1], None),
    "x.amax(dim=[0, 1])": (A, None),
    "x.norm(p=3, dim=1, keepdim=True)": (A, None),
    "x.count_nonzero(dim=[0])": (A, None),
    "x.gather(1, a)": (A, np.array([[0, 3], [1, 2]])),
    "x.gather(dim=0, index=a)": (A, np.array([[2, 1, 0]])),
    "x.masked_select(a)": (A, np.array([True, False, True, False])),
    "x[0].masked_select(a)": (A, A > 0.5),
    "x.tril(diagonal=1)": (A, None),
    "x.triu(-1)": (A, None),
    "x.atan2_(a)": (A, B),
    "x.hypot_(a)": (A, B),
    "x.negative_()": (A, None),
    "x.absolute_()": (A, None),
    "x.subtract_(a, alpha=2)": (A, B),
    "x.multiply_(a)": (A, B),
    "x.divide_(a)": (A, B),
    "x.true_divide_(a)": (A, B),
    "x.mm(mat2=a)": (A, B.T),
}


def in_gradwrap(call: str) -> tuple[Any, Any, Any]:
    """Return a result, its sum's gradient, and the argument."""
    data, other = WORDS[call]
    leaf = gw.wrap(data, requires_grad=True)
    found: Any = eval(call, {"x": leaf * 1, "a": other})  # noqa: S307  from the table above
    return found, leaf, other


@pytest.mark.peers
@pytest.mark.parametrize("call", WORDS)
def test_pytorchs_words_mean_what_they_mean_there(call: str) -> None:
    torch: Any = pytest.importorskip("torch")
    found, leaf, other = in_gradwrap(call)
    tensor = torch.tensor(leaf.detach().data, requires_grad=True)
    given = torch.tensor(other) if isinstance(other, np.ndarray) else other
    if "memory_format" in call:
        given = torch.preserve_format
    wanted = eval(call, {"x": tensor * 1, "a": given})  # noqa: S307  from the table above
    assert tuple(found.shape) == tuple(wanted.shape)
    np.testing.assert_allclose(found.detach().data, wanted.detach().numpy(), rtol=1e-12)
    if wanted.requires_grad and "rounding_mode='" not in call:
        wanted.abs().sum().backward()
        found.abs().sum().backward()
        np.testing.assert_allclose(leaf.grad, tensor.grad.numpy(), rtol=1e-10)


@pytest.mark.parametrize("call", WORDS)
def test_pytorchs_words_have_derivatives(call: str) -> None:
    data, other = WORDS[call]
    if (call.endswith("=0)") and not data.size) or "count" in call or "rounding_mode='" in call:
        assert in_gradwrap(call)[0].shape
        return

    def of(x: Any) -> Any:
        x = gw.wrap(x) if isinstance(x, np.ndarray) else x
        return eval(call, {"x": x * 1, "a": other})  # noqa: S307  from the table above

    if data.size:
        check_grads(of, (data,), order=1)
    else:
        assert not of(data).data.size or call == "x.logsumexp(0)"


def test_a_rounding_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rounding_mode='up'. Fix: 'floor', 'trunc' or None"):
        gw.wrap(A).div(2.0, rounding_mode="up")


def test_indices_of_32_bits_gather() -> None:
    x = gw.wrap(A, requires_grad=True)
    index = np.array([[1], [0], [2]], dtype=np.int32)
    x.gather(1, index).sum().backward()
    np.testing.assert_array_equal(x.grad, np.eye(4)[[1, 0, 2]])


def test_a_device_that_the_library_does_not_have_is_refused_clearly() -> None:
    x = gw.wrap(A, requires_grad=True)
    moves: tuple[Callable[[], Any], ...] = (
        lambda: x.to("cuda"),
        lambda: x.to(device="cuda"),
        lambda: x.to("cuda:0", np.float32),
    )
    for move in moves:
        with pytest.raises(
            ValueError, match=r"x\.to\('cuda.*numpy.*Fix: wrap an array of a library"
        ):
            move()
    assert x.to("cpu", np.float32).dtype == np.float32
    assert x.to(dtype=np.float32, non_blocking=True).dtype == np.float32
    assert x.to(np.float64) is x
    assert x.to(np.float64, copy=True) is not x


SMOOTH = [
    "add",
    "addcdiv",
    "addcmul",
    "clamp",
    "div",
    "exp",
    "gather",
    "hypot",
    "lerp",
    "log_softmax",
    "logsumexp",
    "masked_fill",
    "mm",
    "mul",
    "norm",
    "permute",
    "pow",
    "relu",
    "sigmoid",
    "softmax",
    "split",
    "sub",
    "tanh",
    "unflatten",
    "where",
]


@pytest.mark.parametrize("name", SMOOTH)
def test_their_derivatives(name: str) -> None:
    def of(x: Any) -> Any:
        x = gw.wrap(x) if isinstance(x, np.ndarray) else x
        found: Any = getattr(x, name)(*arguments(name))
        return np.concatenate(found, axis=1) if is_a(found, tuple) else found

    check_grads(of, (A - (0.5 if name == "relu" else 0.0),), order=2)


def test_values_by_hand() -> None:
    x = gw.wrap(np.array([[-1.0, 2.0], [3.0, -4.0]]))
    np.testing.assert_array_equal(x.relu().data, [[0, 2], [3, 0]])
    np.testing.assert_array_equal(x.mm(x).data, [[7, -10], [-15, 22]])
    np.testing.assert_array_equal(x.t().data, [[-1, 3], [2, -4]])
    np.testing.assert_array_equal(x.outer(x) if x.ndim == 1 else x[0].outer(x[1]).data,
                                  [[-3, 4], [6, -8]])  # fmt: skip
    np.testing.assert_allclose(x.det().item(), -2.0)
    np.testing.assert_allclose(x.inverse().mm(x).data, np.eye(2), atol=1e-15)
    np.testing.assert_array_equal(x.unsqueeze(0).bmm(x.unsqueeze(0)).data[0], [[7, -10], [-15, 22]])
    np.testing.assert_allclose((x.abs() + 1).acosh().data, np.arccosh(np.abs(x.data) + 1))
    assert (x.numel(), x.dim(), x.element_size()) == (4, 2, 8)
    assert x.norm().item() == pytest.approx(np.sqrt(30.0))
    assert (x.amax().item(), x.amin(1).tolist()) == (3.0, [-1.0, -4.0])
    assert x.sigmoid().data[1, 1] == pytest.approx(1 / (1 + np.exp(4.0)), rel=1e-14)
    assert gw.wrap(np.array([-800.0])).sigmoid().data[0] == 0.0
    np.testing.assert_array_equal((x > 0).bitwise_not().data, [[True, False], [False, True]])


def test_dim_and_keepdim_are_numpys_axis_and_keepdims() -> None:
    x = gw.wrap(A, requires_grad=True)
    np.testing.assert_array_equal(x.sum(dim=0).data, A.sum(axis=0))
    np.testing.assert_array_equal(x.mean(dim=[0, 1], keepdim=True).data, A.mean(keepdims=True))
    np.testing.assert_array_equal(x.cumsum(dim=1).data, A.cumsum(axis=1))
    np.testing.assert_array_equal(x.argmax(dim=1).data, A.argmax(axis=1))
    for name in ("max", "min", "std", "var", "sort"):
        with pytest.raises(TypeError, match=rf"x\.{name}\(\) takes no dim\. Fix: "):
            getattr(x, name)(dim=0)


def test_view_and_flatten_take_lengths_and_axes() -> None:
    x = gw.wrap(np.arange(24.0).reshape(2, 3, 4))
    assert x.view(6, -1).shape == (6, 4)
    assert x.view((4, 6)).shape == (4, 6)
    assert x.flatten(1).shape == (2, 12)
    assert x.flatten(0, 1).shape == (6, 4)
    assert x.flatten("F").data[1] == 12.0


def test_dtypes_and_places() -> None:
    x = gw.wrap(np.array([1.5, 2.5]), requires_grad=True)
    assert x.float().dtype == np.float32
    assert x.to(np.float32).dtype == np.float32
    assert x.to(np.ones(1, np.float32)).dtype == np.float32
    assert x.to("cpu") is x.cpu() is x
    assert (x.int().dtype, x.long().dtype, x.bool().dtype) == (np.int32, np.int64, np.bool_)
    with pytest.raises(TrackedValueError, match=r"x\.detach\(\)\.numpy\(\)"):
        x.numpy()
    assert type(x.detach().numpy()) is np.ndarray


def test_methods_in_place_write_and_return_the_array() -> None:
    with gw.no_grad():
        w = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
        assert w.sub_(np.array([0.5, 0.5]), alpha=2.0) is w
        np.testing.assert_array_equal(w.data, [0.0, 1.0])
        assert w.zero_().tolist() == [0.0, 0.0]
        assert w.copy_(np.array([3.0, 4.0])).mul_(2.0).tolist() == [6.0, 8.0]
    x = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
    y = x * 3.0
    view = y[1:]
    y.exp_().add_(1.0)
    assert view.item() == pytest.approx(np.exp(6.0) + 1.0)
    y.sum().backward()
    np.testing.assert_allclose(x.grad, 3.0 * np.exp([3.0, 6.0]))


def test_writing_in_place_is_refused_where_it_would_be_wrong() -> None:
    w = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
    with pytest.raises(InPlaceError, match="a leaf Variable that requires grad"):
        w.mul_(2.0)
    counts = gw.wrap(np.array([1, 2]))
    with pytest.raises(InPlaceError, match=r"x\.div_\(\): the result has dtype float64"):
        counts.div_(2)
    with pytest.raises(InPlaceError, match="cannot be written to"):
        (w[0] * 2.0).mul_(2.0)


def test_bad_shapes_are_refused() -> None:
    x = gw.wrap(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match=r"x\.mm\(\) takes arrays of 2 and 2 axes"):
        x.mm(x)
    with pytest.raises(ValueError, match=r"x\.t\(\) of an array of 3 axes"):
        x.t()
    with pytest.raises(ValueError, match="the axis has the length 2"):
        x.split([1, 2])
    with pytest.raises(TrackedAttributeError, match="no attribute 'bernoulli_'"):
        x.bernoulli_()


def test_other_libraries_have_them() -> None:
    x = gw.wrap(strict.asarray([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)
    y = x.mm(x).relu().softmax(1).logsumexp(0).sum()
    y.backward()
    assert x.grad.shape == (2, 2)
    assert (x.tanh().mul_(2.0)[0, 0] - 2 * float(np.tanh(1.0))).item() == pytest.approx(0.0)


def test_numbers_and_texts() -> None:
    loss = gw.wrap(np.array(1.25), requires_grad=True) * 1.0
    assert f"{loss:.2f}" == "1.25"
    assert "%.2f" % loss.item() == "1.25"  # noqa: UP031  it is the subject
    as_text = fn(lambda v: "%.2f" % v)  # noqa: UP031  likewise
    for convert in (float, as_text, np.asarray):
        with pytest.raises(TrackedValueError, match=r"\.item\(\)|np\.asarray"):
            convert(loss)
    assert float(loss.detach()) == 1.25
    assert bool(loss > 1.0)


# grad_fn ------------------------------------------------------------------------------------------


def test_a_node_can_be_called() -> None:
    x = gw.wrap(np.array([2.0, 3.0]), requires_grad=True)
    y = x * x
    for found in y.grad_fn(np.array([1.0, 10.0])):
        np.testing.assert_array_equal(found, [2.0, 30.0])
    np.testing.assert_allclose(np.sin(x).grad_fn(np.ones(2)), np.cos(x.data))
    assert (x * 2.0).grad_fn(np.ones(2))[1] is None
    both: Any = np.concatenate([x, y])
    first, second = both.grad_fn(np.arange(4.0))
    np.testing.assert_array_equal([first, second], [[0, 1], [2, 3]])
    y.sum().backward()  # nothing was freed
    np.testing.assert_array_equal(x.grad, [4.0, 6.0])


def test_a_leafs_node_adds_to_its_gradient() -> None:
    x = gw.wrap(np.array([2.0, 3.0]), requires_grad=True)
    accumulate = (x * 2.0).grad_fn.next_functions[0][0]
    assert accumulate(np.ones(2)) is None
    accumulate(np.ones(2))
    np.testing.assert_array_equal(x.grad, [2.0, 2.0])


def test_a_node_of_several_outputs_takes_a_gradient_for_each() -> None:
    m = gw.wrap(np.array([[2.0, 1.0], [1.0, 3.0]]), requires_grad=True)
    w: Any
    v: Any
    w, v = np.linalg.eigh(m)
    np.testing.assert_allclose(w.grad_fn(np.ones(2), None), np.eye(2), atol=1e-15)
    (wanted,) = gw.autograd.grad([w.sum() + v.sum()], [m], retain_graph=True)
    np.testing.assert_allclose(v.grad_fn(np.ones(2), np.ones((2, 2))), wanted)


def test_a_node_of_complex_numbers_conjugates() -> None:
    z = gw.wrap(np.array([1 + 1j, 2j]), requires_grad=True)
    np.testing.assert_allclose((z * 3j).grad_fn(np.array([1.0 + 0j, 1j]))[0], [-3j, 3.0])


def test_a_node_refuses_what_is_no_gradient_of_its_outputs() -> None:
    x = gw.wrap(np.array([2.0, 3.0]), requires_grad=True)
    y = x * x
    with pytest.raises(gradwrap.errors.BackwardError, match="has 1 outputs and was called with 0"):
        y.grad_fn()
    with pytest.raises(gradwrap.errors.BackwardError, match=r"with float64\[3\]; output 0 is"):
        y.grad_fn(np.ones(3))
    y.sum().backward()
    with pytest.raises(gradwrap.errors.GraphFreedError, match="after backward has freed the graph"):
        y.grad_fn(np.ones(2))


@pytest.mark.parametrize(("name", "fix"), sorted(pytorch_methods.INSTEAD.items()))
def test_a_method_that_there_is_not_says_what_to_write(name: str, fix: str) -> None:
    x = gw.wrap(A, requires_grad=True)
    with pytest.raises(TrackedAttributeError, match=f"has no attribute '{name}'. Fix: ") as raised:
        getattr(x, name)
    assert str(raised.value).endswith(f"Fix: {fix}.")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("addmm", A + A @ B.T @ A),
        ("at", np.where(np.arange(3)[:, None] == 1, 5.0, A)),
        ("index_add", A + np.array([[0.0], [5.0], [0.0]])),
        ("kthvalue", np.sort(A)[..., 1]),
        ("rsqrt", A**-0.5),
        ("softplus", np.log1p(np.exp(A))),
        ("scatter", np.where(np.arange(4) == 0, 5.0, A)),
        ("type", A.astype(np.float32)),
    ],
)
def test_what_they_say_does_what_the_method_would(name: str, value: Any) -> None:
    words: dict[str, Any] = {"np": np, "x": gw.wrap(A, requires_grad=True), "a": A @ B.T, "b": A}
    words |= {"k": 2, "index": 1, "values": 5.0, "axis": 1, "dtype": np.float32}
    if name == "scatter":
        words["index"] = np.zeros((3, 1), dtype=int)
    fix = pytorch_methods.INSTEAD[name].removesuffix(", which is recorded")
    exec(fix if fix.startswith("y = ") else f"y = {fix}", words)  # noqa: S102  the text of the message is what is tested
    np.testing.assert_allclose(words["y"].detach().data, value, rtol=1e-6)


def test_a_method_that_is_a_function_of_numpy_says_so() -> None:
    x = gw.wrap(A, requires_grad=True)
    with pytest.raises(TrackedAttributeError, match=r"Fix: np\.quantile\(x, \.\.\.\)\.$"):
        _ = x.quantile
    with pytest.raises(TrackedAttributeError, match=r"has no attribute 'nonsense'$"):
        _ = x.nonsense
