"""The imperative tape: `wrap`, `backward`, `grad`. The modes are in test_modes.py."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import BackwardError, GraphFreedError, InPlaceError
from lambdas import is_a

X = np.array([0.3, -1.2, 2.0])


def leaf(data: Any = X) -> Any:
    """Return a tracked copy; as an Any, since its `grad` is None and an array in turn."""
    return gw.wrap(data.copy(), requires_grad=True)


def clear(x: Any) -> None:
    """Drop a gradient, unseen by type checkers, which would take it for None from here on."""
    x.grad = None


# wrap, unwrap -------------------------------------------------------------------------------------


def test_wrap_and_unwrap_share_the_buffer() -> None:
    data = X.copy()
    x = gw.wrap(data)
    assert gw.unwrap(x) is data
    assert x.data is data
    assert gw.unwrap(data) is data
    assert not x.requires_grad
    assert x.is_leaf
    assert gw.wrap(x) is x
    assert gw.wrap(x, requires_grad=True) is x
    assert x.requires_grad


def test_wraps_any_library() -> None:
    data = strict.asarray([1.0, 2.0])
    x = gw.wrap(data, requires_grad=True)
    (x * x)[0].backward()
    assert isinstance(x.grad, type(data))
    np.testing.assert_array_equal(np.from_dlpack(x.grad), [2.0, 0.0])


def test_an_integer_array_can_be_wrapped_but_not_tracked() -> None:
    x = gw.wrap(np.array([1, 2]))
    assert not (x * 2).requires_grad


# backward -----------------------------------------------------------------------------------------


def test_backward_of_a_scalar() -> None:
    x = leaf()
    np.sum(x**2).backward()
    assert type(x.grad) is np.ndarray
    np.testing.assert_array_equal(x.grad, 2 * X)


def test_backward_with_a_cotangent() -> None:
    x = leaf()
    g = np.array([1.0, 10.0, 100.0])
    (x * 3.0).backward(g)
    np.testing.assert_array_equal(x.grad, 3 * g)
    clear(x)
    (x * 3.0).backward(gw.wrap(g))
    np.testing.assert_array_equal(x.grad, 3 * g)
    clear(x)
    (x * 3.0).sum().backward(2.0)
    np.testing.assert_array_equal(x.grad, np.full(3, 6.0))


def test_a_number_takes_the_dtype_of_the_output() -> None:
    x = leaf(X.astype(np.float32))
    x.sum().backward(2.0)
    assert x.grad is not None
    assert x.grad.dtype == np.float32


def test_grad_accumulates() -> None:
    x = leaf()
    for count in (1, 2, 3):
        (x * 2.0).sum().backward()
        np.testing.assert_array_equal(x.grad, np.full(3, 2.0 * count))
    clear(x)
    (x * 2.0).sum().backward()
    np.testing.assert_array_equal(x.grad, np.full(3, 2.0))


def test_grads_of_two_leaves_are_two_arrays() -> None:
    x, y = leaf(), leaf()
    g = np.ones(3)
    (x + y).backward(g)
    assert not np.shares_memory(x.grad, y.grad)
    assert not np.shares_memory(x.grad, g)


def test_an_assigned_grad_must_fit() -> None:
    x = leaf()
    x.grad = np.ones(3)
    (x * 2.0).sum().backward()
    np.testing.assert_array_equal(x.grad, np.full(3, 3.0))
    with pytest.raises(BackwardError, match=r"grad is a list, .* is float64\[3\]. Fix: give an"):
        x.grad = [1.0, 2.0, 3.0]
    with pytest.raises(BackwardError, match=r"the assigned grad has shape \(2,\), .* has \(3,\)"):
        x.grad = np.ones(2)
    with pytest.raises(BackwardError, match=r"the assigned grad has dtype float32, .* float64"):
        x.grad = np.ones(3, dtype=np.float32)


def test_only_leaves_keep_a_grad() -> None:
    x = leaf()
    y = x * 2.0
    y.sum().backward()
    with pytest.warns(
        UserWarning, match=r"not a leaf is being accessed.* \.retain_grad\(\) before"
    ):
        assert y.grad is None
    assert not y.is_leaf
    assert x.is_leaf


def test_second_backward_needs_the_graph() -> None:
    x = leaf()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_array_equal(x.grad, 4 * X)
    with pytest.raises(GraphFreedError) as caught:
        y.backward()
    assert str(caught.value) == (
        "Trying to backward through the graph a second time: what its operations saved was freed "
        "by the first backward (met at sum). Fix: pass retain_graph=True to the first one."
    )


def test_two_outputs_that_share_a_graph() -> None:
    x = leaf()
    y = x * x
    a, b = y.sum(), (y * y).sum()
    a.backward(retain_graph=True)
    b.backward()
    np.testing.assert_allclose(x.grad, 2 * X + 4 * X**3)


def test_inputs_limit_the_leaves() -> None:
    x, y = leaf(), leaf()
    ((x * y) ** 2).sum().backward(inputs=[x])
    np.testing.assert_allclose(x.grad, 2 * X**3)
    assert [y.grad] == [None]
    ((x * y) ** 2).sum().backward(inputs=y)
    np.testing.assert_allclose(y.grad, 2 * X**3)


def test_inputs_that_the_output_does_not_depend_on() -> None:
    x, y = leaf(), leaf()
    (x * 2.0).sum().backward(inputs=[y])
    assert x.grad is None
    assert y.grad is None


def test_autograd_backward_of_several_outputs() -> None:
    x = leaf()
    y = x * x
    gw.autograd.backward([y.sum(), y], [None, np.ones(3)])
    np.testing.assert_allclose(x.grad, 4 * X)
    clear(x)
    gw.autograd.backward((x * x).sum())
    np.testing.assert_allclose(x.grad, 2 * X)
    clear(x)
    gw.autograd.backward(x * x, np.ones(3))
    np.testing.assert_allclose(x.grad, 2 * X)


def test_create_graph() -> None:
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    assert is_a(first, gw.Variable)
    assert first.requires_grad
    clear(x)
    first.sum().backward(create_graph=True)
    second: Any = x.grad
    np.testing.assert_allclose(gw.unwrap(second), 6 * X)
    clear(x)
    second.sum().backward()
    np.testing.assert_allclose(x.grad, np.full(3, 6.0))


def test_create_graph_with_a_cotangent_that_is_tracked() -> None:
    x, g = leaf(), leaf(np.ones(3))
    (x**2).backward(g, create_graph=True)
    gradient: Any = x.grad
    clear(x)
    (gradient * gradient).sum().backward()
    np.testing.assert_allclose(g.grad, 8 * X**2)


# Leaves -------------------------------------------------------------------------------------------


def test_requires_grad_can_be_switched() -> None:
    x: Any = gw.wrap(X.copy())
    assert not (x * 2.0).requires_grad
    x.requires_grad = True
    assert (x * 2.0).requires_grad
    x.requires_grad_(False)
    assert not (x * 2.0).requires_grad
    y = leaf() * 2.0
    with pytest.raises(BackwardError, match=r"only change requires_grad flags of leaf .*detach"):
        y.requires_grad_(False)


def test_detach_leaves_the_graph() -> None:
    x = leaf()
    y = (x * x).detach()
    assert not y.requires_grad
    (x * y).sum().backward()
    np.testing.assert_allclose(x.grad, X**2)


def test_an_update_step_in_place() -> None:
    w = leaf()
    for _ in range(2):
        clear(w)
        (w**2).sum().backward()
        with gw.no_grad():
            w -= 0.25 * w.grad
        assert w.is_leaf
        assert w.requires_grad
    np.testing.assert_allclose(w.data, X / 4)
    with pytest.raises(
        InPlaceError, match=r"a leaf Variable that requires grad .*no_grad\(\):` around"
    ):
        w -= 1.0


def test_a_leaf_can_be_pickled_and_copied() -> None:
    x = leaf()
    again = pickle.loads(pickle.dumps(x))  # noqa: S301  our own bytes
    np.testing.assert_array_equal(again.data, X)
    assert again.requires_grad
    assert again.is_leaf
    (copy.copy(x) * copy.deepcopy(x)).sum().backward()
    np.testing.assert_allclose(x.grad, 2 * X)


def test_repr() -> None:
    x = leaf()
    assert repr(gw.wrap(X)) == "Variable(array([ 0.3, -1.2,  2. ]))"
    assert repr(x) == "Variable(array([ 0.3, -1.2,  2. ]), requires_grad=True)"
    assert repr(np.sum(x * 2.0)) == "Variable(np.float64(2.2), grad_fn=<SumBackward>)"


def test_an_op_without_a_rule_is_fine_where_nothing_is_recorded() -> None:
    from scipy.special import struve

    x = leaf()
    with gw.no_grad():
        y = struve(1, x)
    np.testing.assert_array_equal(y.data, struve(1, X))
    assert not y.requires_grad
