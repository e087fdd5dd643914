"""`autograd.grad` and `autograd.backward`; what a variable says of itself.

Each of the programs states what it gives; where PyTorch is installed it is run there too.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import (
    BackwardError,
    GraphFreedError,
    InPlaceError,
    NonDifferentiableInputError,
)
from side_by_side import Side, close, gradwrap_side, plain, torch_side

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([1.0, 2.0])


def leaf(data: Any = X) -> Any:
    return gw.wrap(data.copy(), requires_grad=True)


# Programs for gradwrap and PyTorch ----------------------------------------------------------------


def one_output_and_one_input(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    found = side.lib.autograd.grad((x**3).sum(), x)
    return isinstance(found, tuple), found, x.grad


def several_inputs(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    return side.lib.autograd.grad((x * w * w).sum(), [x, w])


def several_outputs_are_summed(side: Side) -> Any:
    x1, x2 = side.leaf(2.0), side.leaf(3.0)
    return side.lib.autograd.grad([x1 * x2, x1 + x2], [x1, x2])


def cotangents(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * x
    one = side.lib.autograd.grad(y, x, side.native([10.0, 100.0]), retain_graph=True)
    listed = side.lib.autograd.grad([y], [x], [side.native([10.0, 100.0])], retain_graph=True)
    mixed = side.lib.autograd.grad([y, y.sum()], x, [side.native([10.0, 100.0]), None])
    return one, listed, mixed


def inputs_that_are_no_leaves(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * 2
    z = y * y
    found = side.lib.autograd.grad(z.sum(), [z, y, x])
    return found, x.grad


def an_output_among_the_inputs(side: Side) -> Any:
    x = side.leaf(2.0)
    y = x * x
    z = y * 3
    alone = side.lib.autograd.grad(x, x)
    return alone, side.lib.autograd.grad([z, y], [y, x])


def an_input_given_twice(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    return side.lib.autograd.grad((x * 2).sum(), [x, x])


def an_output_given_twice(side: Side) -> Any:
    x = side.leaf(2.0)
    y = x * x
    return side.lib.autograd.grad([y, y], [x])


def unused_inputs(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0])
    y = (x * 2).sum()
    nothing = side.lib.autograd.grad(y, [x, w], retain_graph=True, allow_unused=True)
    return nothing, side.lib.autograd.grad(y, [x, w], materialize_grads=True)


def higher_orders(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    (first,) = side.lib.autograd.grad((x**4).sum(), x, create_graph=True)
    (second,) = side.lib.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = side.lib.autograd.grad(second.sum(), x)
    return first, second, third, x.grad, first.requires_grad


def cotangents_are_differentiable(side: Side) -> Any:
    """The derivative of a product of a Jacobian and v with respect to v: forward mode."""
    x, v = side.leaf([1.0, 2.0]), side.leaf([1.0, 1.0])
    (g,) = side.lib.autograd.grad(x**3, x, v, create_graph=True)
    return side.lib.autograd.grad(g, v, side.native([1.0, 10.0]))


def a_gradient_penalty(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    (g,) = side.lib.autograd.grad((w * x * x).sum(), x, create_graph=True)
    ((g * g).sum() - 1).backward()
    return x.grad, w.grad


def the_inner_step_of_maml(side: Side) -> Any:
    w = side.leaf(1.0)
    (g,) = side.lib.autograd.grad((w - 3) ** 2, w, create_graph=True)
    fast = w - 0.1 * g
    (fast * fast).backward()
    return fast, w.grad


def the_graph_is_kept_on_request(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = (x * x).sum()
    return [side.lib.autograd.grad(y, x, retain_graph=keep) for keep in (True, False)]


def only_what_leads_to_the_inputs_is_freed(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    y, z = x * x, w * w
    found = side.lib.autograd.grad((y + z).sum(), x)
    z.sum().backward()
    return found, w.grad


def backward_of_several_outputs(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * x
    side.lib.autograd.backward([y.sum(), y], [None, side.native([1.0, 10.0])])
    return x.grad


def backward_for_inputs(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    y = x * w
    (y * y).sum().backward(inputs=[y, w])
    return y.grad, w.grad, x.grad


def backward_for_an_input_that_retains(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward(inputs=y)
    return y.grad


def unused_inputs_of_backward(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    (x * 2).sum().backward(inputs=[w])
    return x.grad, w.grad


def a_leaf_frozen_between_forward_and_backward(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    y = (x * w).sum()
    x.requires_grad_(False)
    y.backward()
    return x.grad, w.grad


def create_graph_under_no_grad(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = (x**3).sum()
    with side.lib.no_grad():
        (g,) = side.lib.autograd.grad(y, x, create_graph=True)
    return g.requires_grad, side.lib.autograd.grad(g.sum(), x)


def what_a_variable_says_of_itself(side: Side) -> Any:
    x, c = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0]).detach()
    y = x * c
    with side.lib.no_grad():
        z = y * 2
    return [[v.requires_grad, v.is_leaf, v.grad_fn is None, v.tolist()] for v in (x, c, y, z)]


def requires_grad_can_be_assigned(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    x.requires_grad = False
    first = (x * 2).requires_grad
    x.requires_grad = True
    y = x * 2
    y.requires_grad_()
    return first, y.requires_grad, y.is_leaf, x.requires_grad_() is x


def grad_can_be_assigned(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    before = x.grad
    x.grad = side.native([10.0, 20.0])
    (x * 2).sum().backward()
    after = plain(x.grad)
    x.grad = None
    (x * 2).sum().backward()
    zeros: Any = x.grad
    zeros[...] = 0.0
    (x * 3).sum().backward()
    return before, after, x.grad


def grad_accumulates(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    for _ in range(3):
        (x * x).sum().backward()
        seen.append(plain(x.grad))
    return seen


def data_can_be_assigned(side: Side) -> Any:
    w = side.leaf([1.0, 2.0])
    (w * w).sum().backward()
    w.data -= 0.25 * w.grad
    after_step = plain(w)
    w.data = side.native([5.0, 6.0])
    w.grad = None
    (w * w).sum().backward()
    return after_step, w, w.grad, w.is_leaf, w.requires_grad


def detach_in_place(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * 2
    z = y + 1
    same = y.detach_() is y
    (y * x).sum().backward()
    z.sum().backward()
    return same, y.is_leaf, y.requires_grad, x.grad


def clones_are_part_of_the_graph(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x.clone()
    y *= 3
    y.sum().backward()
    return x, x.grad, y.is_leaf


def items(side: Side) -> Any:
    x = side.leaf([[1.0, 2.0]])
    return x.sum().item(), x.tolist(), x[0, 1].item(), (x * 2).tolist()


EXPECTED: dict[Callable[[Side], Any], Any] = {
    one_output_and_one_input: [True, [[3, 12]], None],
    several_inputs: [[9, 16], [6, 16]],
    several_outputs_are_summed: [4, 3],
    cotangents: [[[20, 400]], [[20, 400]], [[22, 404]]],
    inputs_that_are_no_leaves: [[[1, 1], [4, 8], [8, 16]], None],
    an_output_among_the_inputs: [[1], [4, 16]],
    an_input_given_twice: [[2, 2], [2, 2]],
    an_output_given_twice: [8],
    unused_inputs: [[[2, 2], None], [[2, 2], [0]]],
    higher_orders: [[4, 32], [12, 48], [24, 48], None, True],
    cotangents_are_differentiable: [[3, 120]],
    a_gradient_penalty: [[72, 256], [24, 128]],
    the_inner_step_of_maml: [1.4, 2.24],
    the_graph_is_kept_on_request: [[[2, 4]], [[2, 4]]],
    only_what_leads_to_the_inputs_is_freed: [[[2, 4]], [6, 8]],
    backward_of_several_outputs: [4, 44],
    backward_for_inputs: [[6, 16], [6, 32], None],
    backward_for_an_input_that_retains: [4, 8],
    unused_inputs_of_backward: [None, None],
    a_leaf_frozen_between_forward_and_backward: [None, [1, 2]],
    create_graph_under_no_grad: [True, [[6, 12]]],
    what_a_variable_says_of_itself: [
        [True, True, True, [1, 2]],
        [False, True, True, [3, 4]],
        [True, False, False, [3, 8]],
        [False, True, True, [6, 16]],
    ],
    requires_grad_can_be_assigned: [False, True, False, True],
    grad_can_be_assigned: [None, [12, 22], [3, 3]],
    grad_accumulates: [[2, 4], [4, 8], [6, 12]],
    data_can_be_assigned: [[0.5, 1], [5, 6], [10, 12], True, True],
    detach_in_place: [True, True, False, [4, 6]],
    clones_are_part_of_the_graph: [[1, 2], [3, 3], False],
    items: [3, [[1, 2]], 2, [[2, 4]]],
}

PROGRAMS = pytest.mark.parametrize("program", EXPECTED, ids=lambda f: f.__name__)


@PROGRAMS
def test_a_program_gives_what_is_expected(program: Callable[[Side], Any]) -> None:
    close(plain(program(gradwrap_side())), EXPECTED[program])


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch's, once a process
@PROGRAMS
def test_a_program_gives_what_torch_gives(program: Callable[[Side], Any]) -> None:
    close(plain(program(torch_side())), EXPECTED[program])


# The same errors ----------------------------------------------------------------------------------


def backward_twice(side: Side) -> None:
    y = (side.leaf([1.0, 2.0]) ** 2).sum()
    y.backward()
    y.backward()


def grad_twice(side: Side) -> None:
    x = side.leaf([1.0, 2.0])
    y = (x**2).sum()
    side.lib.autograd.grad(y, x)
    side.lib.autograd.grad(y, x)


def through_a_part_that_is_freed(side: Side) -> None:
    x = side.leaf([1.0, 2.0])
    y = x**2
    y.sum().backward()
    side.lib.autograd.grad((y * 2).sum(), x)


def grad_of_no_scalar(side: Side) -> None:
    x = side.leaf([1.0, 2.0])
    side.lib.autograd.grad(x * 2, x)


def backward_of_no_scalar(side: Side) -> None:
    (side.leaf([1.0, 2.0]) * 2).backward()


def backward_of_a_complex_scalar(side: Side) -> None:
    (side.leaf([1.0, 2.0]) * 1j).sum().backward()


def an_unused_input(side: Side) -> None:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    side.lib.autograd.grad(x.sum() * 2, [x, w])


def an_input_that_is_not_tracked(side: Side) -> None:
    x = side.leaf([1.0, 2.0])
    side.lib.autograd.grad(x.sum() * 2, [x, x.detach()], allow_unused=True)


def an_output_that_is_not_tracked(side: Side) -> None:
    x = side.leaf(1.0)
    side.lib.autograd.backward([x * 2, x.detach()])


def backward_of_what_is_not_tracked(side: Side) -> None:
    side.leaf(1.0).detach().backward()


def a_cotangent_of_another_shape(side: Side) -> None:
    x = side.leaf([1.0, 2.0])
    side.lib.autograd.grad(x * 2, x, side.native([1.0, 2.0, 3.0]))


def too_few_cotangents(side: Side) -> None:
    x = side.leaf([1.0, 2.0])
    side.lib.autograd.grad([x.sum(), x.sum()], x, [None])


def no_inputs(side: Side) -> None:
    side.lib.autograd.grad(side.leaf([1.0, 2.0]).sum(), [])


def no_inputs_of_backward(side: Side) -> None:
    side.leaf([1.0, 2.0]).sum().backward(inputs=[])


def materialize_but_not_unused(side: Side) -> None:
    x = side.leaf([1.0, 2.0])
    side.lib.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)


def freeze_a_result(side: Side) -> None:
    (side.leaf([1.0, 2.0]) * 2).requires_grad_(False)


def track_integers(side: Side) -> None:
    (side.leaf([1.0, 2.0]).detach() > 0).requires_grad_()


def a_leaf_in_the_interior(side: Side) -> None:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    y = x * 2
    x.requires_grad_(False)
    x += w
    y.sum().backward()


def detach_a_view(side: Side) -> None:
    (side.leaf([1.0, 2.0]) * 2)[0:1].detach_()


def a_grad_of_another_shape(side: Side) -> None:
    side.leaf([1.0, 2.0]).grad = side.native([1.0, 2.0, 3.0])


ERRORS: dict[Callable[[Side], None], tuple[type[Exception], str]] = {
    backward_twice: (GraphFreedError, "Trying to backward through the graph a second time"),
    grad_twice: (GraphFreedError, "Trying to backward through the graph a second time"),
    through_a_part_that_is_freed: (
        GraphFreedError,
        "Trying to backward through the graph a second",
    ),
    grad_of_no_scalar: (BackwardError, "grad can be implicitly created only for scalar outputs"),
    backward_of_no_scalar: (
        BackwardError,
        "grad can be implicitly created only for scalar outputs",
    ),
    backward_of_a_complex_scalar: (
        BackwardError,
        "grad can be implicitly created only for real scalar outputs",
    ),
    an_unused_input: (
        BackwardError,
        (
            r"The differentiated (Variable|Tensor) at index 1 appears to not have been used in the "
            "graph.*allow_unused=True"
        ),
    ),
    an_input_that_is_not_tracked: (
        BackwardError,
        "One of the differentiated (Variable|Tensor)s does not require grad",
    ),
    an_output_that_is_not_tracked: (
        BackwardError,
        "element 1 of tensors does not require grad and does not have a grad_fn",
    ),
    backward_of_what_is_not_tracked: (
        BackwardError,
        "element 0 of tensors does not require grad and does not have a grad_fn",
    ),
    a_cotangent_of_another_shape: (
        BackwardError,
        (
            r"Mismatch in shape: grad_output\[0\] has a shape of .*3.* and output\[0\] has a shape "
            r"of .*2.*\."
        ),
    ),
    too_few_cotangents: (BackwardError, "got 2 tensors and 1 gradients"),
    no_inputs: (BackwardError, r"`inputs` argument to `grad\(\)` cannot be empty\."),
    no_inputs_of_backward: (
        BackwardError,
        r"`inputs` argument to `backward\(\)` cannot be empty\.",
    ),
    materialize_but_not_unused: (
        BackwardError,
        (
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        ),
    ),
    freeze_a_result: (
        BackwardError,
        "you can only change requires_grad flags of leaf variables.",
    ),
    track_integers: (
        NonDifferentiableInputError,
        (
            "[Oo]nly (Tensors of floating point dtype can|floating-point and complex arrays can)|"
            "only floating-point"
        ),
    ),
    a_leaf_in_the_interior: (
        BackwardError,
        "leaf [vV]ariable has been moved into the graph interior",
    ),
    detach_a_view: (InPlaceError, r"Can't detach views in-place\."),
    a_grad_of_another_shape: (BackwardError, "grad.* (has|assign).* shape|attempting to assign a"),
}


@pytest.mark.parametrize("program", ERRORS, ids=lambda f: f.__name__)
def test_an_error_of_its_own_class(program: Callable[[Side], None]) -> None:
    kind, text = ERRORS[program]
    with pytest.raises(kind, match=text):
        program(gradwrap_side())


@pytest.mark.peers
@pytest.mark.parametrize("program", ERRORS, ids=lambda f: f.__name__)
def test_the_same_error_in_torch(program: Callable[[Side], None]) -> None:
    kind, text = ERRORS[program]
    with pytest.raises((RuntimeError, ValueError), match=text) as caught:
        program(torch_side())
    assert issubclass(kind, caught.type)  # what is written to catch torch's catches ours


# Of gradwrap alone --------------------------------------------------------------------------------


def test_gradients_are_native_arrays_of_their_own() -> None:
    x, w = leaf(), leaf()
    g = np.ones(2)
    found = gw.autograd.grad(x + w, [x, w, x], g)
    assert [type(one) for one in found] == [np.ndarray] * 3
    for i, one in enumerate(found):
        assert not any(np.shares_memory(one, other) for other in (*found[:i], g))


def test_gradients_on_another_library() -> None:
    x = gw.wrap(strict.asarray([1.0, 2.0]), requires_grad=True)
    y = x * x
    xp = y.__array_namespace__()
    (g,) = gw.autograd.grad(xp.sum(y), y)
    assert isinstance(g, type(strict.asarray(1.0)))
    found = gw.autograd.grad(
        xp.sum(x * x), [x, y.detach().requires_grad_()], materialize_grads=True
    )
    assert [np.from_dlpack(one).tolist() for one in found] == [[2.0, 4.0], [0.0, 0.0]]


def test_float32_stays_float32() -> None:
    x = leaf(X.astype(np.float32))
    y = x * 2
    found = gw.autograd.grad((y * y).sum(), [x, y])
    assert [one.dtype for one in found] == [np.float32] * 2


def test_under_create_graph_gradients_are_variables() -> None:
    x, w = leaf(), leaf()
    found = gw.autograd.grad(x.sum(), [x, w], create_graph=True, materialize_grads=True)
    assert [type(one) for one in found] == [type(x)] * 2


def test_one_part_of_several_outputs_can_be_an_input() -> None:
    m = leaf(np.array([[2.0, 1.0], [1.0, 3.0]]))
    _, log = np.linalg.slogdet(m)
    of_log, of_m = gw.autograd.grad(log * 3, [log, m])
    np.testing.assert_allclose(of_log, 3.0)
    np.testing.assert_allclose(of_m, 3 * ANY.linalg.inv(m.data).T)


def test_an_input_whose_gradient_goes_on_is_not_overwritten() -> None:
    """A write's backward puts zeros into the cotangent it is given."""
    x = leaf()
    y = x * 1.0
    y[0] = 5.0
    z = y * 2.0
    of_y, of_x = gw.autograd.grad((z + y).sum(), [y, x])
    np.testing.assert_array_equal(of_y, [3.0, 3.0])
    np.testing.assert_array_equal(of_x, [0.0, 3.0])


def test_create_graph_leaves_no_reference_cycle() -> None:
    def run() -> None:
        x = leaf()
        (g,) = gw.autograd.grad((x**3).sum(), x, create_graph=True)
        (g * g).sum().backward()
        x.grad = gw.autograd.grad((x**3).sum(), x, create_graph=True)[0]

    run()
    gc.collect()
    gc.disable()
    try:
        run()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_cotangent_of_another_dtype_is_an_error() -> None:
    """PyTorch casts it."""
    x = leaf()
    with pytest.raises(BackwardError, match=r"grad_output\[0\] has a dtype of float32 and output"):
        gw.autograd.grad(x * 2, x, np.ones(2, np.float32))


def test_reading_the_grad_of_a_result_warns() -> None:
    y = leaf() * 2
    with pytest.warns(UserWarning, match=r"not a leaf is being accessed.*Fix: call \.retain_grad"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None


def test_zero_grad_forgets() -> None:
    x = leaf()
    (x * x).sum().backward()
    x.zero_grad()
    assert x.grad is None


def test_data_must_fit() -> None:
    x = leaf()
    for value, text in (
        (np.ones(3), r"data= got float64\[3\], the array is float64\[2\]"),
        (np.ones(2, np.float32), r"data= got float32\[2\], the array is float64\[2\]"),
        (strict.asarray([1.0, 2.0]), "the array is one of numpy"),
        ([1.0, 2.0], "data= got a list; the array is one of numpy"),
    ):
        with pytest.raises(InPlaceError, match=text):
            x.data = value
    view = (x * 1.0)[:1]
    with pytest.raises(InPlaceError, match="data= of a view"):
        view.data = np.ones(1)


def test_data_of_a_base_is_seen_by_its_views() -> None:
    x = gw.wrap(X.copy())
    view = x[:1]
    x.data = np.array([7.0, 8.0])
    np.testing.assert_array_equal(view.data, [7.0])


def test_repr_names_the_operation() -> None:
    x = leaf()
    assert repr(x * 2) == "Variable(array([2., 4.]), grad_fn=<MultiplyBackward>)"
    assert repr((x * 2).detach()) == "Variable(array([2., 4.]))"
    assert repr(leaf(X.astype(np.float32))) == (
        "Variable(array([1., 2.], dtype=float32), requires_grad=True)"
    )
    _, log = np.linalg.slogdet(leaf(np.eye(2)))
    assert repr(log) == "Variable(np.float64(0.0), grad_fn=<LinalgSlogdetBackward>)"


def test_names_that_torch_autograd_has_too() -> None:
    assert gw.autograd.Function is gw.Function
    assert gw.autograd.detect_anomaly is gw.detect_anomaly
    with pytest.raises(AttributeError, match=r"'gradwrap.autograd' has no attribute 'functional'"):
        gw.autograd.functional  # type: ignore[attr-defined]  # noqa: B018  the look-up is tested
    assert all(hasattr(gw.autograd, name) for name in gw.autograd.__all__)
