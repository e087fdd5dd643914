"""Hooks on variables, on nodes and after accumulation; `retain_grad` and `grad_fn`.

Each of the programs states what it gives; where PyTorch is installed it is run there too.
"""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import BackwardError, HookResultError
from lambdas import fn, rows
from side_by_side import Side, close, gradwrap_side, plain, torch_side

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([1.0, 2.0])


def leaf(data: Any = X) -> Any:
    return gw.wrap(data.copy(), requires_grad=True)


def noting(seen: list[Any], note: Any, result: Any) -> Any:
    """A result, after a note was made."""
    seen.append(note)
    return result


# Programs for gradwrap and PyTorch ----------------------------------------------------------------


def a_hook_sees_the_whole_gradient_once(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * 2
    y.register_hook(seen.append)
    (y * y + y).sum().backward()
    return seen, x.grad


def a_hook_replaces_the_gradient(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * 2
    y.register_hook(fn(lambda g: g * 10))
    y.register_hook(seen.append)
    y.register_hook(fn(lambda g: g + 1))
    (y * y).sum().backward()
    return seen, x.grad


def hooks_of_a_leaf_run_before_accumulation(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    x.register_hook(fn(lambda g: noting(seen, plain(x.grad), g * 10)))
    (x * x).sum().backward()
    first = plain(x.grad)
    (x * x).sum().backward()
    return seen, first, x.grad


def a_hook_of_an_output(side: Side) -> Any:
    x, seen = side.leaf(3.0), list[Any]()
    y = x * x
    y.register_hook(fn(lambda g: noting(seen, g, g * 2)))
    y.backward()
    return seen, x.grad


def removed_hooks_do_not_run(side: Side) -> Any:
    x, seen = side.leaf(3.0), list[Any]()
    first = x.register_hook(fn(lambda g: seen.append("first")))
    second = x.register_hook(fn(lambda g: seen.append("second")))
    first.remove()
    first.remove()
    (x * 2).backward()
    second.remove()
    (x * 2).backward()
    with x.register_hook(fn(lambda g: g * 100)) as handle:
        (x * 2).backward()
    handle.remove()
    (x * 2).backward()
    return seen, x.grad


def a_hook_may_remove_itself(side: Side) -> Any:
    x, seen = side.leaf(3.0), list[Any]()

    def once(g: Any) -> None:
        seen.append(g)
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(fn(lambda g: seen.append("other")))
    (x * 2).backward()
    (x * 2).backward()
    return seen


def retain_grad_sees_what_all_hooks_made(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(fn(lambda g: g * 10))
    y.retain_grad()
    y.retain_grad()
    y.register_hook(fn(lambda g: g + 1))
    (y * y).sum().backward()
    return y.grad, x.grad, y.retains_grad, x.retains_grad


def retained_gradients_accumulate(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    before = y.grad
    loss = (y * y).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    return before, y.grad


def retain_grad_of_a_leaf_changes_nothing(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    x.retain_grad()
    (x * x).sum().backward()
    return x.grad, x.retains_grad


def retain_grad_follows_a_change_in_place(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(fn(lambda g: g * 10))
    y.retain_grad()
    y += 1
    y *= 3
    y.sum().backward()
    return y.grad, x.grad, y.retains_grad


def retain_grad_follows_a_write(side: Side) -> Any:
    x = side.leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    y[0] = 5.0
    (y * y).sum().backward()
    return y.grad, x.grad


def the_order_of_all_hooks(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * 2
    y.grad_fn.register_hook(fn(lambda gi, go: seen.append(("after", plain(gi), plain(go)))))
    y.retain_grad()
    y.grad_fn.register_prehook(fn(lambda go: seen.append(("before", plain(go)))))
    y.register_hook(fn(lambda g: seen.append(("variable", plain(g), plain(y.grad)))))
    x.register_post_accumulate_grad_hook(fn(lambda x: seen.append(("done", plain(x.grad)))))
    x.register_hook(fn(lambda g: seen.append(("leaf", plain(g), plain(x.grad)))))
    (y * y).sum().backward()
    return seen


def hooks_of_a_node_replace(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    y = x * w
    y.grad_fn.register_prehook(fn(lambda go: (go[0] * 10,)))
    y.grad_fn.register_hook(fn(lambda gi, go: (gi[0] + 1, gi[1] + go[0])))
    y.sum().backward()
    return x.grad, w.grad


def a_node_may_send_nothing(side: Side) -> Any:
    x, w = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    y = x * w
    y.grad_fn.register_hook(fn(lambda gi, go: (None, gi[1])))
    y.sum().backward()
    return w.grad


def both_arguments_of_a_node_are_the_same(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * x
    y.grad_fn.register_hook(fn(lambda gi, go: noting(seen, plain(gi), (gi[0] * 10, gi[1]))))
    y.sum().backward()
    return seen, x.grad


def hooks_of_a_node_that_sums(side: Side) -> Any:
    x, seen = side.leaf([[1.0, 2.0], [3.0, 4.0]]), list[Any]()
    y = (x * x).sum()
    y.grad_fn.register_hook(fn(lambda gi, go: seen.append((plain(gi[0]), plain(go)))))
    y.backward()
    return seen, x.grad


def hooks_of_a_node_that_indexes(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0, 3.0]), list[Any]()
    y = x[1]
    y.grad_fn.register_hook(fn(lambda gi, go: noting(seen, plain(gi), (gi[0] * 10,))))
    (y * y + x[0]).backward()
    return seen, x.grad


def hooks_of_a_node_that_joins(side: Side) -> Any:
    x, w, seen = side.leaf([1.0, 2.0]), side.leaf([3.0]), list[Any]()
    y = side.xp().concatenate([x, w, x])
    y.grad_fn.register_hook(fn(lambda gi, go: noting(seen, plain(gi), (gi[0], gi[1] * 5, None))))
    (y * side.native([1.0, 2.0, 3.0, 4.0, 5.0])).sum().backward()
    return seen, x.grad, w.grad


def hooks_after_accumulation(side: Side) -> Any:
    w = side.leaf([1.0, 2.0])

    def descend(w: Any) -> None:
        w -= 0.1 * w.grad
        w.grad = None

    handle = w.register_post_accumulate_grad_hook(descend)
    for _ in range(3):
        (w * w).sum().backward()
    inside = w.grad
    handle.remove()
    (w * w).sum().backward()
    return inside, w.grad, w.detach(), w.is_leaf, w.requires_grad


def hooks_run_each_time_with_retain_graph(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * 2
    y.register_hook(fn(lambda g: noting(seen, 1, g * 10)))
    y.grad_fn.register_hook(fn(lambda gi, go: seen.append(2)))
    loss = (y * y).sum()
    loss.backward(retain_graph=True)
    y.register_hook(fn(lambda g: seen.append(3)))
    loss.backward()
    return seen, x.grad


def hooks_under_create_graph(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * x
    y.register_hook(fn(lambda g: noting(seen, side.lib.is_grad_enabled(), g * y)))
    y.grad_fn.register_prehook(fn(lambda go: (go[0] * 3,)))
    y.grad_fn.register_hook(fn(lambda gi, go: (gi[0] * 1, gi[1])))
    x.register_hook(fn(lambda g: g * x))
    (first,) = side.lib.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = side.lib.autograd.grad(first.sum(), x)
    return seen, first, second


def the_mode_inside_a_hook(side: Side) -> Any:
    x, seen = side.leaf(2.0), list[Any]()
    y = x * x
    y.register_hook(fn(lambda g: seen.append(side.lib.is_grad_enabled())))
    y.grad_fn.register_hook(fn(lambda gi, go: seen.append(side.lib.is_grad_enabled())))
    x.register_hook(fn(lambda g: seen.append(side.lib.is_grad_enabled())))
    x.register_post_accumulate_grad_hook(fn(lambda x: seen.append(side.lib.is_grad_enabled())))
    y.backward(retain_graph=True)
    with side.lib.no_grad():
        y.backward(create_graph=True)
    return seen, side.lib.is_grad_enabled()


def hooks_where_a_gradient_is_asked_for(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * 2
    y.register_hook(fn(lambda g: noting(seen, "y", g * 10)))
    y.grad_fn.register_hook(fn(lambda gi, go: seen.append("node")))
    x.register_hook(fn(lambda g: noting(seen, "x", g * 100)))
    x.register_post_accumulate_grad_hook(fn(lambda x: seen.append("never")))
    loss = (y * y).sum()
    of_y = side.lib.autograd.grad(loss, y, retain_graph=True)
    of_x = side.lib.autograd.grad(loss, x)
    return of_y, of_x, seen, x.grad


def only_nodes_on_the_way_run_their_hooks(side: Side) -> Any:
    x, w, seen = side.leaf(2.0), side.leaf(3.0), list[Any]()
    y, z = x * x, w * w
    y.register_hook(fn(lambda g: seen.append("y")))
    z.register_hook(fn(lambda g: seen.append("z")))
    w.register_hook(fn(lambda g: seen.append("w")))
    (y * z).backward(inputs=[x])
    return seen, x.grad, w.grad


def hooks_of_accumulation(side: Side) -> Any:
    x, seen = side.leaf([1.0, 2.0]), list[Any]()
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(fn(lambda go: noting(seen, plain(go), (go[0] * 10,))))
    node.register_hook(fn(lambda gi, go: seen.append((plain(gi), plain(go), plain(x.grad)))))
    y.sum().backward()
    return seen, x.grad, node.variable is x


def a_hook_on_one_part_of_several(side: Side) -> Any:
    x, seen = side.leaf([[2.0, 1.0], [1.0, 3.0]]), list[Any]()
    _, log = side.xp().linalg.slogdet(x)
    log.register_hook(fn(lambda g: noting(seen, g, g * 3)))
    (log * 2).backward()
    return seen, [[round(v, 12) for v in row] for row in plain(x.grad)]


def hooks_of_a_leaf_that_is_gone_or_frozen(side: Side) -> Any:
    seen = list[Any]()

    def double() -> Any:
        x = side.leaf([1.0, 2.0])
        x.register_hook(seen.append)
        return x * 2

    w = side.leaf([3.0, 4.0])
    w.register_hook(seen.append)
    z = double() * w
    w.requires_grad_(False)
    z.sum().backward()
    return sorted(plain(seen)), w.grad


EXPECTED: dict[Callable[[Side], Any], Any] = {
    a_hook_sees_the_whole_gradient_once: [[[5, 9]], [10, 18]],
    a_hook_replaces_the_gradient: [[[40, 80]], [82, 162]],
    hooks_of_a_leaf_run_before_accumulation: [[None, [20, 40]], [20, 40], [40, 80]],
    a_hook_of_an_output: [[1], 12],
    removed_hooks_do_not_run: [["second"], 206],
    a_hook_may_remove_itself: [2, "other", "other"],
    retain_grad_sees_what_all_hooks_made: [[41, 81], [82, 162], True, False],
    retained_gradients_accumulate: [None, [8, 16]],
    retain_grad_of_a_leaf_changes_nothing: [[2, 4], False],
    retain_grad_follows_a_change_in_place: [[1, 1], [60, 60], True],
    retain_grad_follows_a_write: [[10, 8], [0, 16]],
    the_order_of_all_hooks: [
        ["variable", [4, 8], None],
        ["before", [[4, 8]]],
        ["after", [[8, 16], None], [[4, 8]]],
        ["leaf", [8, 16], None],
        ["done", [8, 16]],
    ],
    hooks_of_a_node_replace: [[31, 41], [20, 30]],
    a_node_may_send_nothing: [1, 2],
    both_arguments_of_a_node_are_the_same: [[[[1, 2], [1, 2]]], [11, 22]],
    hooks_of_a_node_that_sums: [[[[[1, 1], [1, 1]], [1]]], [[2, 4], [6, 8]]],
    hooks_of_a_node_that_indexes: [[[[0, 4, 0]]], [1, 40, 0]],
    hooks_of_a_node_that_joins: [[[[1, 2], [3], [4, 5]]], [1, 2], [15]],
    hooks_after_accumulation: [None, [1.024, 2.048], [0.512, 1.024], True, True],
    hooks_run_each_time_with_retain_graph: [[1, 2, 1, 3, 2], [160, 320]],
    hooks_under_create_graph: [[True, False], [12, 768], [168, 38400]],
    the_mode_inside_a_hook: [[False] * 4 + [True] * 4, True],
    hooks_where_a_gradient_is_asked_for: [
        [[40, 80]],
        [[8000, 16000]],
        ["y", "y", "node", "x"],
        None,
    ],
    only_nodes_on_the_way_run_their_hooks: [["y"], 36, None],
    hooks_of_accumulation: [[[[2, 2]], [[], [[20, 20]], [20, 20]]], [20, 20], True],
    hooks_of_a_leaf_that_is_gone_or_frozen: [[[2, 4], [6, 8]], None],
    a_hook_on_one_part_of_several: [[2], [[3.6, -1.2], [-1.2, 2.4]]],
}

PROGRAMS = pytest.mark.parametrize("program", EXPECTED, ids=lambda f: f.__name__)


@PROGRAMS
def test_hooks_give_what_is_expected(program: Callable[[Side], Any]) -> None:
    close(plain(program(gradwrap_side())), EXPECTED[program])


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")  # torch's, about its cycle
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch's, once a process
@PROGRAMS
def test_hooks_give_what_torch_gives(program: Callable[[Side], Any]) -> None:
    close(plain(program(torch_side())), EXPECTED[program])


# Of gradwrap alone --------------------------------------------------------------------------------


def test_a_hook_is_given_a_native_array() -> None:
    x, seen = leaf(), list[Any]()
    y = x * 2
    y.register_hook(seen.append)
    x.register_hook(seen.append)
    y.grad_fn.register_hook(fn(lambda gi, go: seen.extend((gi[0], go[0]))))
    y.sum().backward()
    assert [type(g) for g in seen] == [np.ndarray] * 4


def test_under_create_graph_a_hook_is_given_a_variable() -> None:
    x, seen = leaf(), list[Any]()
    y = x * x
    y.register_hook(seen.append)
    y.grad_fn.register_prehook(seen.append)
    (y * y).sum().backward(create_graph=True)
    assert [type(g) for g in seen] == [type(x), tuple]
    assert seen[0].requires_grad
    assert type(seen[1][0]) is type(x)


def test_hooks_on_another_library() -> None:
    x: Any = gw.wrap(strict.asarray([1.0, 2.0]), requires_grad=True)
    y = x * 2.0
    y.register_hook(fn(lambda g: g * 10.0))
    y.grad_fn.register_hook(fn(lambda gi, go: (gi[0] + 1.0, None)))
    y.retain_grad()
    y.__array_namespace__().sum(y).backward()
    assert isinstance(x.grad, type(strict.asarray(1.0)))
    np.testing.assert_array_equal(np.from_dlpack(x.grad), [21.0, 21.0])
    np.testing.assert_array_equal(np.from_dlpack(y.grad), [10.0, 10.0])


def test_complex_gradients_reach_hooks_as_they_are() -> None:
    """A hook is given the gradient itself, not the conjugate that a formula works with."""
    z, seen = leaf(np.array([1.0 + 2.0j])), list[Any]()
    y = z * z
    y.register_hook(seen.append)
    y.grad_fn.register_hook(fn(lambda gi, go: seen.extend((*gi, *go))))
    np.sum(np.abs(y) ** 2).backward()
    np.testing.assert_allclose(seen[0], 2 * y.data)
    np.testing.assert_allclose(seen[1], 2 * y.data * np.conj(z.data))
    np.testing.assert_allclose(seen[2], seen[1])
    np.testing.assert_allclose(seen[3], seen[0])
    np.testing.assert_allclose(z.grad, seen[1] + seen[2])


def test_what_is_asked_for_has_passed_its_hooks() -> None:
    """In PyTorch it has none if the gradient of an earlier variable is asked for as well."""
    x = leaf()
    y = x * 2
    y.register_hook(fn(lambda g: g * 10))
    of_y, of_x = gw.autograd.grad((y * y).sum(), [y, x])
    np.testing.assert_array_equal(of_y, [40.0, 80.0])
    np.testing.assert_array_equal(of_x, [80.0, 160.0])


def test_leaves_get_their_gradients_when_the_pass_is_through() -> None:
    """In PyTorch, a leaf gets it as soon as all its uses have been visited."""
    x, w1, w2, seen = leaf(), leaf(), leaf(), list[str]()
    y = w1 * x
    z = w2 * y
    for name, variable in {"x": x, "w1": w1, "w2": w2, "y": y, "z": z}.items():

        def note(g: Any, name: str = name) -> None:
            seen.append(name)

        variable.register_hook(note)
    for name, variable in {"x": x, "w1": w1, "w2": w2}.items():

        def done(v: Any, name: str = name) -> None:
            seen.append(f"{name} done")

        variable.register_post_accumulate_grad_hook(done)
    z.sum().backward()
    assert seen == ["z", "y", "w2", "w2 done", "w1", "w1 done", "x", "x done"]


def test_a_hook_that_writes_into_its_gradient_spoils_no_other() -> None:
    """In PyTorch, `x + w` hands both the same gradient, and the hook changes both."""
    x, w = leaf(), leaf()
    y, z = x * 1.0, w * 1.0
    y.register_hook(fn(lambda g: np.multiply(g, 100.0, out=g)))
    g = np.ones(2)
    (y + z).backward(g)
    np.testing.assert_array_equal(x.grad, [100.0, 100.0])
    np.testing.assert_array_equal(w.grad, [1.0, 1.0])
    np.testing.assert_array_equal(g, [1.0, 1.0])


def test_a_retained_gradient_has_a_buffer_of_its_own() -> None:
    x = leaf()
    y = x + 1.0
    z = y + 1.0
    y.retain_grad()
    z.retain_grad()
    z.sum().backward()
    assert not np.shares_memory(y.grad, z.grad)
    assert not np.shares_memory(y.grad, x.grad)


def test_hooks_of_a_result_under_a_transform() -> None:
    seen = list[Any]()

    def fun(x: Any) -> Any:
        y = x * 2
        y.register_hook(fn(lambda g: noting(seen, g, g * 10)))
        x.register_hook(fn(lambda g: g + 1))
        return (y * y).sum()

    np.testing.assert_array_equal(gw.grad(fun)(X), [81.0, 161.0])
    np.testing.assert_array_equal(seen, [[4.0, 8.0]])
    second = gw.grad(lambda x: gw.grad(fun)(x).sum())(X)
    np.testing.assert_array_equal(second, [80.0, 80.0])


def test_hooks_in_a_batched_pass() -> None:
    """`jacrev` carries all rows back at once; a hook is called as if each came alone."""

    def fun(x: Any) -> Any:
        y = x * x
        y.register_hook(fn(lambda g: np.clip(g, -0.2, 0.2) * y))
        y.grad_fn.register_prehook(fn(lambda go: (go[0] * 2,)))
        y.grad_fn.register_hook(fn(lambda gi, go: (gi[0] + gi[1], None)))
        x.register_hook(fn(lambda g: g * x))
        return np.sin(y)

    def row(number: int) -> Any:
        return gw.grad(lambda x: fun(x)[number])(X)

    jacrev: Any = gw.jacrev(fun)
    jacobian = jacrev(X)
    rows = [row(0), row(1)]
    assert type(jacobian) is np.ndarray
    np.testing.assert_allclose(jacobian, rows)

    def total(x: Any) -> Any:
        return fun(x).sum()

    batched = gw.vmap(gw.grad(total))(np.stack([X, 2 * X]))
    np.testing.assert_allclose(batched[0], np.sum(rows, axis=0))


def test_hooks_mean_nothing_in_forward_mode() -> None:
    def fun(x: Any) -> Any:
        (x * 2).register_hook(fn(lambda g: g * 10))
        return x

    def retaining(x: Any) -> Any:
        (x * 2).retain_grad()

    with pytest.raises(BackwardError, match=r"a hook in forward mode \(jvp.*Fix: use grad, vjp"):
        gw.jvp(fun, (X,), (X,))
    with pytest.raises(BackwardError, match="a hook in forward mode"):
        gw.jvp(retaining, (X,), (X,))


@pytest.mark.parametrize(
    ("call", "text"),
    rows(
        [
            (
                lambda x: gw.wrap(X).register_hook(print),
                (
                    "cannot register a hook on a Variable that doesn't require gradient. "
                    "Fix: make it, or an array it is computed from, with gradwrap.wrap(array, "
                    "requires_grad=True)."
                ),
            ),
            (
                lambda x: gw.wrap(X).register_post_accumulate_grad_hook(print),
                (
                    "cannot register a hook on a Variable that doesn't require gradient. "
                    "Fix: make it, or an array it is computed from, with gradwrap.wrap(array, "
                    "requires_grad=True)."
                ),
            ),
            (
                lambda x: (x * 2).register_post_accumulate_grad_hook(print),
                (
                    "post accumulate grad hooks cannot be registered on non-leaf Variables. "
                    "Fix: use .register_hook, or .retain_grad() and read .grad."
                ),
            ),
            (
                lambda x: gw.wrap(X).retain_grad(),
                (
                    "can't retain_grad on a Variable that has requires_grad=False. "
                    "Fix: make an array it is computed from with gradwrap.wrap(array, "
                    "requires_grad=True)."
                ),
            ),
        ]
    ),
)
def test_hooks_that_cannot_be_registered(call: Any, text: str) -> None:
    with pytest.raises(BackwardError) as caught:
        call(leaf())
    assert str(caught.value) == text


def shape(g: Any) -> Any:
    return np.ones(3)


def dtype(g: Any) -> Any:
    return g.astype(np.float32)


def number(g: Any) -> Any:
    return 1.0


def library(g: Any) -> Any:
    return strict.asarray([1.0, 2.0])


FIX = "Fix: return an array of numpy, float64[2], or None to leave the gradient as it is."
WRONG: list[tuple[Any, str]] = [
    (
        shape,
        f"hook 'shape' has changed the size of value: a gradient of shape (2,) became (3,). {FIX}",
    ),
    (
        dtype,
        (
            "hook 'dtype' has changed the type of value: a gradient of dtype float64 became "
            f"float32. {FIX}"
        ),
    ),
    (number, f"hook 'number' returned a float in place of a gradient. {FIX}"),
    (
        library,
        f"hook 'library' returned an array of array_api_strict in place of a gradient. {FIX}",
    ),
]


@pytest.mark.parametrize(("hook", "text"), WRONG)
@pytest.mark.parametrize("where", ["result", "leaf", "node before", "node after"])
def test_a_hook_that_returns_something_else(hook: Any, text: str, where: str) -> None:
    x = leaf()
    y = x * 2
    if where == "result":
        y.register_hook(hook)
    elif where == "leaf":
        x.register_hook(hook)
    else:
        named = {"__name__": hook.__name__}
        before = type("Hook", (), {**named, "__call__": fn(lambda self, go: (hook(go[0]),))})
        after = type(
            "Hook", (), {**named, "__call__": fn(lambda self, gi, go: (hook(gi[0]), None))}
        )
        named_before, named_after = before(), after()
        if where == "node before":
            y.grad_fn.register_prehook(named_before)
        else:
            y.grad_fn.register_hook(named_after)
    with pytest.raises(HookResultError) as caught:
        y.sum().backward()
    assert str(caught.value) == text
    assert isinstance(caught.value, (RuntimeError, TypeError))


@pytest.mark.parametrize(
    ("result", "text"),
    rows(
        [
            (
                lambda gi: gi[0],
                "expected tuple, but hook '<lambda>' returned an ndarray. Fix: return a",
            ),
            (lambda gi: gi[:1], r"incorrect number of values \(got 1, but expected 2\)"),
            (lambda gi: (gi[0], gi[0]), "can't replace a None gradient with a non-None value"),
        ]
    ),
)
def test_a_hook_of_a_node_that_returns_no_such_tuple(result: Any, text: str) -> None:
    y = leaf() * 2
    y.grad_fn.register_hook(fn(lambda gi, go: result(gi)))
    with pytest.raises(HookResultError, match=text):
        y.sum().backward()


def test_what_is_no_function_is_no_hook() -> None:
    with pytest.raises(HookResultError, match="a hook is a function; this is an ndarray"):
        leaf().register_hook(X)


def test_an_exception_in_a_hook_passes_through_and_the_mode_ends() -> None:
    def fail(g: Any) -> None:
        raise KeyError(str(g))

    x = leaf()
    y = x * 2
    y.register_hook(fail)
    with pytest.raises(KeyError):
        y.sum().backward()
    assert gw.is_grad_enabled()
    assert x.grad is None


def test_hooks_go_with_the_graph() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf()
        y = x * 2
        kept = weakref.ref(y.grad_fn)
        hook = y.register_hook(fn(lambda g: g * 2))
        y.grad_fn.register_hook(fn(lambda gi, go: None))
        y.retain_grad()
        y.sum().backward()
        del y
        assert kept() is None
        hook.remove()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_retained_gradient_of_an_array_that_is_gone() -> None:
    x = leaf()
    y = x * 2
    y.retain_grad()
    z = (y * y).sum()
    del y
    z.backward()
    np.testing.assert_array_equal(x.grad, [8.0, 16.0])


# grad_fn ------------------------------------------------------------------------------------------


def test_grad_fn_names_the_operation() -> None:
    x = leaf()
    y = np.sin(x) * 2
    assert x.grad_fn is None
    assert gw.wrap(X).grad_fn is None
    assert repr(y.grad_fn) == "<MultiplyBackward>"
    assert y.grad_fn.name() == "MultiplyBackward"
    assert y.grad_fn is y.grad_fn
    inverse = ANY.linalg.inv(leaf(np.eye(2)))
    assert inverse.grad_fn.name() == "LinalgInvBackward"


def test_next_functions_lead_to_the_leaves() -> None:
    x, w = leaf(), leaf()
    a = np.sin(x)
    y = a * w + 1.0
    (product, place), constant = y.grad_fn.next_functions
    assert (product.name(), place) == ("MultiplyBackward", 0)
    assert constant == (None, 0)
    (sine, _), (of_w, _) = product.next_functions
    assert sine is a.grad_fn
    assert repr(of_w) == "<AccumulateGrad>"
    assert of_w.variable is w
    assert of_w.next_functions == ()
    assert sine.next_functions[0][0].variable is x
    joined: Any = np.concatenate([w, X, x])
    functions = joined.grad_fn.next_functions
    assert [None if fn is None else fn.variable for fn, _ in functions] == [w, None, x]


def test_grad_fn_of_one_part_of_several() -> None:
    sign, log = np.linalg.slogdet(leaf(np.eye(2)))
    assert log.grad_fn is sign.grad_fn
    assert log.grad_fn.name() == "LinalgSlogdetBackward"
    assert (log * 2).grad_fn.next_functions == ((log.grad_fn, 1), (None, 0))


def test_grad_fn_after_backward() -> None:
    """`backward` frees the graph; PyTorch keeps the nodes and frees what they saved."""
    y = leaf() * 2
    node = y.grad_fn
    y.sum().backward()
    assert y.grad_fn is node
    assert node.name() == "MultiplyBackward"
    assert node.next_functions == ()


def test_metadata_stays_with_the_node() -> None:
    y = leaf() * 2
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["where"] = "here"
    assert y.grad_fn.metadata == {"where": "here"}
    y.sum().backward()
    assert y.grad_fn.metadata == {"where": "here"}


# In place -----------------------------------------------------------------------------------------


def test_a_view_that_retains_follows_a_write_to_its_base() -> None:
    x = leaf(np.array([[1.0, 2.0], [3.0, 4.0]]))
    y = x * 2
    row = y[0]
    row.retain_grad()
    y[...] = y * 3
    (row * row).sum().backward()
    np.testing.assert_array_equal(row.grad, [12.0, 24.0])
    np.testing.assert_array_equal(x.grad, [[72.0, 144.0], [0.0, 0.0]])


# Cost ---------------------------------------------------------------------------------------------


def test_a_node_without_hooks_has_no_room_for_them() -> None:
    y = leaf() * 2
    assert y.grad_fn.op.hooks is None
    assert not y.grad_fn.op.special
    handle = y.register_hook(fn(lambda g: None))
    assert y.grad_fn.op.special
    assert not (leaf() * 2).grad_fn.op.special
    handle.remove()
