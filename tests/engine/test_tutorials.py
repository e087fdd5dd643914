"""The programs of PyTorch's tutorials on autograd, with no change but in how arrays are made.

The numbers are those that the tutorials print, or that calculus gives. Where PyTorch is installed
each program is run there too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from side_by_side import Side, close, gradwrap_side, plain, torch_side

if TYPE_CHECKING:
    from collections.abc import Callable


def a_computational_graph(side: Side) -> Any:
    """The first example of a graph: products, a logarithm and a sum."""
    a, b, c, d = (side.leaf(value) for value in (2.0, 3.0, 5.0, 10.0))
    u = a * b
    t = side.xp().log(d)
    v = t * c
    e = u + v
    e.backward()
    return e, a.grad, b.grad, c.grad, d.grad


def a_step_of_a_recurrent_network(side: Side) -> Any:
    x, prev_h = side.leaf([[1.0, 2.0]]), side.leaf([[0.5, -0.5, 1.0]])
    W_h, W_x = side.leaf(np.eye(3) * 0.1), side.leaf([[0.1, 0.2], [0.3, -0.1], [0.0, 0.1]])
    i2h = W_x @ x.T
    h2h = W_h @ prev_h.T
    next_h = i2h + h2h
    next_h = side.xp().tanh(next_h)
    loss = next_h.sum()
    loss.backward()
    return loss, W_x.grad, W_h.grad, x.grad, prev_h.grad


def gradients_add_up_over_iterations(side: Side) -> Any:
    """Without a reset, the second and third gradients are sums."""
    x, w, seen = side.native([1.0, 1.0, 1.0]), side.leaf([1.0, 1.0, 1.0]), list[Any]()
    for _ in range(3):
        y = side.xp().tanh((w * x).sum())
        y.backward()
        seen.append([round(value, 4) for value in plain(w.grad)])
    w.grad = None
    side.xp().tanh((w * x).sum()).backward()
    return seen, [round(value, 4) for value in plain(w.grad)]


def gradients_of_intermediate_results(side: Side) -> Any:
    x, y, z = side.leaf(-2.0), side.leaf(2.0), side.leaf(3.0)
    a = x**2
    b = a + y
    f = b * z
    a.retain_grad()
    b.retain_grad()
    f.backward()
    return x.grad, y.grad, z.grad, a.grad, b.grad


def a_name_used_twice(side: Side) -> Any:
    """The graph consists of values: it does not matter if a name is bound again."""
    x, w1, w2 = side.leaf(3.0), side.leaf(5.0), side.leaf(7.0)
    y = w1 * x
    y = w2 * y
    y.backward(side.native(32.0))
    return x.grad, w1.grad, w2.grad


def gradients_of_a_list_of_outputs(side: Side) -> Any:
    x1, x2 = side.leaf(1.0), side.leaf(2.0)
    return side.lib.autograd.grad([x1 * x2, x1 + x2], [x1, x2])


def a_branch_that_is_detached(side: Side) -> Any:
    x = side.leaf([1.0, 2.0, 3.0])
    y = x.detach() ** 2
    z = x**3
    (y + z).sum().backward()
    return x.grad, y.requires_grad, z.requires_grad


def a_gentle_introduction(side: Side) -> Any:
    a, b = side.leaf([2.0, 3.0]), side.leaf([6.0, 4.0])
    Q = 3 * a**3 - b**2
    Q.backward(gradient=side.native([1.0, 1.0]))
    return a.grad, b.grad


def the_fundamentals(side: Side) -> Any:
    a = side.leaf(np.linspace(0.0, 2.0 * math.pi, 25))
    b = side.xp().sin(a)
    c = 2 * b
    d = c + 1
    out = d.sum()
    out.backward()
    return a.grad


def as_many_doublings_as_it_takes(side: Side) -> Any:
    """Control flow that depends on values."""
    x = side.leaf([0.5, -1.5, 2.0])
    y = x * 2
    while (y * y).sum() < 1000**2:
        y = y * 2
    y.backward(side.native([0.1, 1.0, 0.0001]))
    return x.grad


def jacobian_products_of_a_matrix(side: Side) -> Any:
    """A second call without a reset gives twice the gradient."""
    inp, seen = side.leaf(np.eye(2, 3)), list[Any]()
    out = ((inp + 1) ** 2).T
    ones = side.native(np.ones((3, 2)))
    out.backward(ones, retain_graph=True)
    seen.append(plain(inp.grad))
    out.backward(ones, retain_graph=True)
    seen.append(plain(inp.grad))
    inp.grad[...] = 0.0
    out.backward(ones, retain_graph=True)
    return [*seen, inp.grad]


def a_layer_and_its_loss(side: Side) -> Any:
    xp = side.xp()
    x, y = side.native(np.ones(5)), side.native(np.zeros(3))
    w, b = side.leaf(np.arange(15.0).reshape(5, 3) / 100), side.leaf([0.1, 0.2, 0.3])
    z = x @ w + b
    loss = (xp.log(1 + xp.exp(z)) - y * z).mean()
    loss.backward()
    with side.lib.no_grad():
        untracked = x @ w + b
    return w.grad, b.grad, untracked.requires_grad, z.detach().requires_grad


def a_polynomial_fitted_to_a_sine(side: Side) -> Any:
    """Learning with examples: gradient descent on the coefficients."""
    x = side.native(np.linspace(-math.pi, math.pi, 200))
    y = side.xp().sin(x)
    a, b, c, d = (side.leaf(value) for value in (0.1, 0.2, -0.1, 0.05))
    loss: Any = None
    for _ in range(100):
        y_pred = a + b * x + c * x**2 + d * x**3
        loss = ((y_pred - y) ** 2).sum()
        loss.backward()
        with side.lib.no_grad():
            for w in (a, b, c, d):
                w -= 1e-6 * w.grad  # noqa: PLW2901  in place, on the parameter
        a.grad = b.grad = c.grad = d.grad = None
    return loss, a, b, c, d


def the_optimizer_step_in_the_backward_pass(side: Side) -> Any:
    """To save memory, each parameter is updated as soon as it has its gradient."""
    params = [side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])]

    def step(param: Any) -> None:
        param -= 0.1 * param.grad
        param.grad = None

    for param in params:
        param.register_post_accumulate_grad_hook(step)
    for _ in range(2):
        (params[0] * params[1]).sum().backward()
    return [*params, *(param.grad for param in params)]


def double_backward(side: Side) -> Any:
    x = side.leaf(2.0)
    y = x**3
    (first,) = side.lib.autograd.grad(y, x, create_graph=True)
    (second,) = side.lib.autograd.grad(first, x)
    return first, second


def parameters_that_are_frozen(side: Side) -> Any:
    w1, w2 = side.leaf([1.0, 2.0]), side.leaf([3.0, 4.0])
    w1.requires_grad_(False)
    h = w1 * 2
    (h * w2).sum().backward()
    return h.requires_grad, w1.grad, w2.grad


def _recurrent_step() -> list[Any]:
    x, h = np.array([[1.0, 2.0]]), np.array([[0.5, -0.5, 1.0]])
    W_h, W_x = np.eye(3) * 0.1, np.array([[0.1, 0.2], [0.3, -0.1], [0.0, 0.1]])
    out = np.tanh(W_x @ x.T + W_h @ h.T)
    g = 1 - out**2
    return [v.tolist() for v in (out.sum(), g @ x, g @ h, (W_x.T @ g).T, (W_h.T @ g).T)]


def _layer() -> list[Any]:
    x, w, b = np.ones(5), np.arange(15.0).reshape(5, 3) / 100, np.array([0.1, 0.2, 0.3])
    g = 1 / (1 + np.exp(-(x @ w + b))) / 3
    return [np.outer(x, g).tolist(), g.tolist(), False, False]


def _fit() -> list[Any]:
    x = np.linspace(-math.pi, math.pi, 200)
    y, powers = np.sin(x), np.stack([x**k for k in range(4)])
    p, loss = np.array([0.1, 0.2, -0.1, 0.05]), np.array(0.0)
    for _ in range(100):
        rest = p @ powers - y
        loss = (rest**2).sum()
        p = p - 1e-6 * 2 * (powers @ rest)
    return [loss.tolist(), *p.tolist()]


EXPECTED: dict[Callable[[Side], Any], Any] = {
    a_computational_graph: [6 + 5 * math.log(10), 3, 2, math.log(10), 0.5],
    a_step_of_a_recurrent_network: _recurrent_step(),
    gradients_add_up_over_iterations: [
        [[0.0099] * 3, [0.0197] * 3, [0.0296] * 3],
        [0.0099] * 3,
    ],
    gradients_of_intermediate_results: [-12, 3, 6, 3, 3],
    a_name_used_twice: [32 * 35, 32 * 21, 32 * 15],
    gradients_of_a_list_of_outputs: [3, 2],
    a_branch_that_is_detached: [[3, 12, 27], False, True],
    a_gentle_introduction: [[36, 81], [-12, -8]],
    the_fundamentals: (2 * np.cos(np.linspace(0.0, 2.0 * math.pi, 25))).tolist(),
    as_many_doublings_as_it_takes: [51.2, 512, 0.0512],
    jacobian_products_of_a_matrix: [
        [[4, 2, 2], [2, 4, 2]],
        [[8, 4, 4], [4, 8, 4]],
        [[4, 2, 2], [2, 4, 2]],
    ],
    a_layer_and_its_loss: _layer(),
    a_polynomial_fitted_to_a_sine: _fit(),
    the_optimizer_step_in_the_backward_pass: [[0.41, 1.22], [2.83, 3.64], None, None],
    double_backward: [12, 12],
    parameters_that_are_frozen: [False, None, [2, 4]],
}

PROGRAMS = pytest.mark.parametrize("program", EXPECTED, ids=lambda f: f.__name__)


@PROGRAMS
def test_a_tutorial_gives_what_it_says(program: Callable[[Side], Any]) -> None:
    close(plain(program(gradwrap_side())), EXPECTED[program])


@pytest.mark.peers
@PROGRAMS
def test_a_tutorial_gives_the_same_in_torch(program: Callable[[Side], Any]) -> None:
    close(plain(program(torch_side())), EXPECTED[program])
