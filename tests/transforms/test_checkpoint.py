"""Checkpoints: the same gradients of every order, from less memory; errors where they would not."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.errors import ArgnumsError, CheckpointError, GraphFreedError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.array([0.3, 1.2, 2.0])
W = np.array([1.5, 0.5, -0.7])


def leaf(array: Any) -> Any:
    return gw.wrap(np.array(array), requires_grad=True)


def taken(x: Any) -> Any:
    """Take the gradient of a leaf, and leave it with none."""
    gradient, x.grad = x.grad, None
    return gradient


def plain(fun: Any) -> Any:
    return fun


def twice(fun: Any) -> Any:
    return gw.checkpoint(gw.checkpoint(fun))


def total(x: Any) -> Any:
    return np.sum(np.tanh(x) * x**2)


def curvature(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A Hessian-vector product, with the vector itself differentiated."""
    return gw.grad(lambda x: np.sum(gw.grad(fun)(x) * x))


# The same values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [gw.checkpoint, twice])
@pytest.mark.parametrize(
    "transform",
    rows(
        [
            gw.grad,
            curvature,
            lambda fun: curvature(lambda x: np.sum(gw.grad(fun)(x) ** 2)),
            lambda fun: fn(lambda x: gw.jvp(fun, (x,), (W,))[1]),
            lambda fun: fn(lambda x: gw.jvp(gw.grad(fun), (x,), (W,))[1]),
            lambda fun: gw.grad(fn(lambda x: gw.jvp(fun, (x,), (W,))[1])),
            lambda fun: fn(lambda x: gw.linearize(fun, x)[1](W)),
            lambda fun: fn(lambda x: gw.vjp(fun, x)[1](2.0)[0]),
            lambda fun: gw.jacrev(gw.grad(fun)),
            gw.hessian,
            lambda fun: fn(lambda x: gw.vmap(gw.grad(fun))(np.stack([x, x + W]))),
            lambda fun: fn(
                lambda x: gw.grad(fn(lambda xs: np.sum(gw.vmap(fun)(xs))))(np.stack([x, x + W]))
            ),
        ]
    ),
)
def test_transforms_give_what_they_give_without(wrap: Any, transform: Any) -> None:
    np.testing.assert_allclose(transform(wrap(total))(X), transform(total)(X), rtol=1e-12)


def test_checkpoint_inside_and_outside_of_transforms() -> None:
    def inner(x: Any) -> Any:
        return np.sum(gw.grad(gw.checkpoint(total))(x) ** 2)

    wanted = gw.grad(fn(lambda x: np.sum(gw.grad(total)(x) ** 2)))(X)

    np.testing.assert_allclose(gw.grad(gw.checkpoint(inner))(X), wanted)


def test_keywords_and_pytrees_go_in_and_out() -> None:
    def layer(params: Any, x: Any, *, scale: Any, name: str) -> Any:
        assert name == "layer"
        return {"out": scale * params["w"] * x, "aux": [params["b"][0] ** 2, None, "text", 3]}

    def loss(wrap: Any, params: Any, scale: Any) -> Any:
        out = wrap(layer)(params, X, scale=scale, name="layer")
        assert out["aux"][1:] == [None, "text", 3]
        return np.sum(out["out"] * out["aux"][0])

    params = {"w": W, "b": [X * 2, "constant"]}
    found = gw.grad(loss, argnums=(1, 2))(gw.checkpoint, params, 3.0)
    wanted = gw.grad(loss, argnums=(1, 2))(plain, params, 3.0)

    np.testing.assert_allclose(found[0]["w"], wanted[0]["w"])
    np.testing.assert_allclose(found[0]["b"][0], wanted[0]["b"][0])
    assert found[1] == pytest.approx(wanted[1])


@pytest.mark.parametrize("create_graph", [False, True])
def test_tape_with_arrays_of_the_surroundings(create_graph: bool) -> None:
    def gradients(wrap: Any) -> list[Any]:
        x, w, v = leaf(X), leaf(W), leaf([0.5, -0.5, 1.0])
        scaled = np.sin(w)  # recorded before, and used both inside and outside

        def layer(a: Any, *, b: Any) -> tuple[Any, Any]:
            return np.tanh(a * scaled) * w, b * a

        first, second = wrap(layer)(x * v, b=scaled)
        loss = (first * second * scaled).sum()
        loss.backward(create_graph=create_graph)
        found = [taken(one) for one in (x, w, v)]
        if create_graph:
            np.sum(found[0] * found[1] * found[2]).backward()
            found += [taken(one) for one in (x, w, v)]
        return [gw.unwrap(one) for one in found]

    for found, wanted in zip(gradients(gw.checkpoint), gradients(plain), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    for found, wanted in zip(gradients(twice), gradients(plain), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_transform_with_a_tracked_array_of_an_outer_one() -> None:
    def outer(wrap: Any) -> Any:
        return fn(lambda a: gw.grad(wrap(fn(lambda x: a * a * x**2 * np.exp(a * x))))(a * 2.0))

    assert gw.grad(outer(gw.checkpoint))(0.5) == pytest.approx(gw.grad(outer(plain))(0.5))


def test_transform_with_a_tracked_array_of_the_tape() -> None:
    w = leaf(2.0)
    gradient = gw.grad(gw.checkpoint(fn(lambda x: w * w * x**3)))(3.0)
    gradient.backward()

    assert gradient.item() == 4 * 27
    assert taken(w) == 4 * 27


def test_arguments_and_outer_arrays_that_come_out_as_they_are() -> None:
    w = leaf(W)
    x = leaf(X)
    again, outer, changed = gw.checkpoint(fn(lambda x: (x, w, x * w)))(x)
    (again * outer * changed).sum().backward()

    np.testing.assert_allclose(taken(x), 2 * X * W**2)
    np.testing.assert_allclose(taken(w), 2 * W * X**2)


def test_an_output_that_is_not_used_needs_no_cotangent() -> None:
    x = leaf(X)
    _, used = gw.checkpoint(fn(lambda x: (np.exp(x), np.sin(x))))(x)
    used.sum().backward()

    np.testing.assert_allclose(taken(x), np.cos(X))


def test_function_that_fills_an_array() -> None:
    def running(x: Any) -> Any:
        out = gnp.zeros(3)
        for i in range(3):
            out[i] = x[i] ** 2 + (out[i - 1] if i else 0.0)
        return np.sum(out * x)

    np.testing.assert_allclose(gw.grad(gw.checkpoint(running))(X), gw.grad(running)(X))


def test_function_that_writes_to_its_argument() -> None:
    def doubling(x: Any) -> Any:
        y = x * 1
        y *= x
        x[0] = 5.0
        return y * x

    x, y = leaf(X), leaf(X)
    arguments = x * 1.0, y * 1.0
    gw.checkpoint(doubling)(arguments[0]).sum().backward()
    doubling(arguments[1]).sum().backward()

    np.testing.assert_allclose(taken(x), taken(y))
    np.testing.assert_array_equal(arguments[0].data, arguments[1].data)


def test_function_as_one_step_of_a_custom_function() -> None:
    class Cube(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * ctx.saved_tensors[0] ** 2 * g

    function = gw.checkpoint(fn(lambda x: Cube.apply(x) * 2))
    assert gw.grad(gw.grad(function))(2.0) == 24.0


def test_without_tracked_arrays_nothing_changes() -> None:
    sine: Any = np.sin
    assert type(gw.checkpoint(sine)(X)) is np.ndarray
    with gw.no_grad():
        assert not gw.checkpoint(np.sin)(leaf(X)).requires_grad
    assert gw.checkpoint(total).__name__ == "total"


def test_backward_within_no_grad() -> None:
    x = leaf(X)
    out = gw.checkpoint(total)(x)
    with gw.no_grad():
        out.backward()
    np.testing.assert_allclose(taken(x), gw.grad(total)(X))


def test_inputs_limit_where_backward_goes() -> None:
    x, w = leaf(X), leaf(W)
    gw.checkpoint(fn(lambda x: (x * w).sum()))(x * 2).backward(inputs=[w])

    np.testing.assert_allclose(taken(w), 2 * X)
    assert taken(x) is None


# A second run -------------------------------------------------------------------------------------


def test_function_runs_twice_and_again_where_the_graph_is_kept() -> None:
    runs: list[int] = []

    def counted(x: Any) -> Any:
        runs.append(1)
        return np.sin(x)

    x = leaf(X)
    out = gw.checkpoint(counted)(x).sum()
    out.backward(retain_graph=True)
    assert len(runs) == 2
    out.backward()
    assert len(runs) == 3
    with pytest.raises(GraphFreedError, match="met at"):
        out.backward()
    np.testing.assert_allclose(taken(x), 2 * np.cos(X))


def test_seeded_random_numbers_are_the_same_again() -> None:
    def dropout(x: Any, seed: int) -> Any:
        kept = np.random.default_rng(seed).random(3) < 0.5
        return np.sum(x * x * kept)

    np.testing.assert_array_equal(gw.grad(gw.checkpoint(dropout))(X, 3), gw.grad(dropout)(X, 3))


@pytest.mark.parametrize(
    ("second", "message"),
    rows(
        [
            (lambda x: (x * 2)[:2], r"returned float64\[2\], the first time"),
            (lambda x: (x, x), r"returned \(\*, \*\), the first.*lone"),
            (lambda x: gw.stop_gradient(x), "an untracked value"),
        ]
    ),
)
def test_function_that_does_something_else_is_an_error(second: Any, message: str) -> None:
    remaining: list[Any] = [fn(lambda x: x * 2), second]

    def changing(x: Any) -> Any:
        return remaining.pop(0)(x)

    out = gw.checkpoint(changing)(leaf(X))
    with pytest.raises(CheckpointError, match=rf"(?s)changing, run again.*{message}.*Fix: "):
        out.sum().backward()


def test_a_name_bound_to_another_tracked_array_is_an_error() -> None:
    w = leaf(W)
    x = leaf(X)

    def layer(x: Any) -> Any:
        return x * w

    out = gw.checkpoint(layer)(x)
    w = leaf(W + 1)
    with pytest.raises(CheckpointError, match=r"used other tracked arrays.*Fix: do not rebind"):
        out.sum().backward()


@pytest.mark.parametrize("derived", [False, True])
def test_an_array_written_to_in_the_meantime_is_an_error(derived: bool) -> None:
    w = leaf(W)
    used = w * 1 if derived else w
    out = gw.checkpoint(fn(lambda x: x * used))(leaf(X))
    with nullcontext() if derived else gw.no_grad():
        used -= 0.1
    with pytest.raises(CheckpointError, match=r"written to|used other tracked"):
        out.sum().backward()


def test_an_argument_may_be_written_to_in_the_meantime() -> None:
    w, x = leaf(W), leaf(X)
    out = gw.checkpoint(fn(lambda w, x: x * w))(w, x)
    with gw.no_grad():
        w -= 0.1
    out.sum().backward()

    np.testing.assert_array_equal(taken(x), W)


# Memory -------------------------------------------------------------------------------------------

LAYERS = 64
SEGMENTS = 8
SIZE = 20_000
ARRAY = 8 * SIZE


def peak_in_arrays(gradient: Callable[[Any], Any]) -> float:
    """Return the peak of memory of a gradient, in arrays of the size of its argument."""
    x = np.linspace(0.0, 1.0, SIZE)
    gradient(x[:10])
    gc.collect()
    tracemalloc.start()
    try:
        gradient(x)
        return tracemalloc.get_traced_memory()[1] / ARRAY
    finally:
        tracemalloc.stop()


def chain(segments: int | None) -> Callable[[Any], Any]:
    """64 layers, each of which keeps one array, its result."""
    layers = [np.tanh] * LAYERS

    def loss(x: Any) -> Any:
        if segments is not None:
            return np.sum(gw.checkpoint_sequential(layers, segments, x))
        for layer in layers:
            x = layer(x)
        return np.sum(x)

    return gw.grad(loss)


@pytest.mark.slow
def test_sequential_takes_the_square_root_of_the_memory() -> None:
    whole = peak_in_arrays(chain(None))
    parts = peak_in_arrays(chain(SEGMENTS))
    print(f"\npeak in arrays: {whole:.1f} plain, {parts:.1f} in segments")  # noqa: T201  shown by -s

    assert whole > LAYERS
    assert parts < 2 * SEGMENTS + 6


def test_sequential_takes_as_little_on_the_tape() -> None:
    layers = [np.tanh] * LAYERS

    def gradient(x: Any) -> Any:
        variable = gw.wrap(x, requires_grad=True)
        gw.checkpoint_sequential(layers, SEGMENTS, variable).sum().backward()
        return variable.grad

    assert peak_in_arrays(gradient) < 2 * SEGMENTS + 6


@pytest.mark.parametrize("segments", [1, 2, 5, 8, 64])
def test_sequential_has_the_same_gradient(segments: int) -> None:
    np.testing.assert_allclose(chain(segments)(X), chain(None)(X), rtol=1e-12)


@pytest.mark.parametrize("segments", [0, 4])
def test_sequential_refuses_numbers_that_do_not_fit(segments: int) -> None:
    with pytest.raises(ValueError, match=rf"segments={segments} for 3 functions\. Fix: "):
        gw.checkpoint_sequential([np.sin] * 3, segments, X)


def test_nothing_is_kept_by_cycles() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(X)
        kept: list[Any] = []

        def layer(x: Any) -> Any:
            y = np.exp(x)
            kept.append(weakref.ref(y.data))
            return np.sin(y) * y

        out = gw.checkpoint(layer)(x)
        assert kept[0]() is None
        out.sum().backward()
        assert kept[1]() is None
        node = weakref.ref(out._node)
        del out
        assert node() is None
    finally:
        gc.enable()


@pytest.mark.peers
def test_pytorch_has_the_same_gradients_of_closed_over_arrays() -> None:
    torch = pytest.importorskip("torch")
    checkpoint = pytest.importorskip("torch.utils.checkpoint").checkpoint
    x, w = (torch.tensor(a, requires_grad=True) for a in (X, W))
    h = torch.sin(w)
    out = checkpoint(fn(lambda a: torch.tanh(a * h) * w), x * 2, use_reentrant=False)
    (out * h).sum().backward()
    ours_x, ours_w = leaf(X), leaf(W)
    ours_h = np.sin(ours_w)
    found = gw.checkpoint(fn(lambda a: np.tanh(a * ours_h) * ours_w))(ours_x * 2)
    (found * ours_h).sum().backward()

    np.testing.assert_allclose(taken(ours_x), x.grad.numpy())
    np.testing.assert_allclose(taken(ours_w), w.grad.numpy())


# Hooks --------------------------------------------------------------------------------------------


def test_hooks_on_arguments_run_once() -> None:
    x = leaf(X)
    y = x * 2
    y.retain_grad()
    seen: list[str] = []

    def tenfold(g: Any) -> Any:
        seen.append("y")
        return 10 * g

    y.register_hook(tenfold)
    x.register_hook(fn(lambda _: seen.append("x")))
    gw.checkpoint(fn(lambda a: np.sin(a) * x))(y).sum().backward()

    assert seen == ["y", "x"]
    np.testing.assert_allclose(y.grad, 10 * np.cos(2 * X) * X)
    np.testing.assert_allclose(taken(x), 20 * np.cos(2 * X) * X + np.sin(2 * X))


# Options ------------------------------------------------------------------------------------------


def counted_product() -> tuple[Any, list[int]]:
    """A product of matrices that counts its calls."""
    calls = [0]

    @gw.primitive
    def product(a: Any, b: Any) -> Any:
        calls[0] += 1
        return a @ b

    gw.defvjp(product, lambda xp, g, b: g @ b.T, lambda xp, g, a: a.T @ g)
    return product, calls


LEFT, RIGHT = np.random.default_rng(0).normal(size=(2, 3, 3))


def times(x: Any, k: Any) -> Any:
    return k * x


def test_it_is_called_at_once_with_arguments() -> None:
    def total(x: Any) -> Any:
        return gw.checkpoint(np.sin, x) * gw.checkpoint(times, x, k=2)

    found = gw.grad(total)(1.0)
    assert found == pytest.approx(2 * np.cos(1.0) + 2 * np.sin(1.0))


@pytest.mark.parametrize("given", ["the function", "its name in a list", "a rule for names"])
def test_what_a_policy_names_is_not_computed_again(given: str) -> None:
    product, calls = counted_product()
    policy: Any = {
        "the function": product,
        "its name in a list": [product, "matmul"],
        "a rule for names": fn(lambda name: name == "matmul"),
    }[given]
    body = fn(lambda w, x: np.tanh(product(w, np.sin(w @ x))))
    layer = gw.checkpoint(body, policy=policy)
    found = gw.grad(lambda w: np.sum(layer(w, layer(w, RIGHT))))(LEFT)
    assert calls[0] == (4 if callable(policy) and policy is not product else 2)

    def plain(w: Any, x: Any) -> Any:
        return np.tanh(w @ np.sin(w @ x))

    np.testing.assert_allclose(found, gw.grad(lambda w: np.sum(plain(w, plain(w, RIGHT))))(LEFT))


def test_a_policy_holds_in_second_derivatives_and_in_other_modes() -> None:
    def plain(w: Any) -> Any:
        return np.tanh(w @ np.sin(w @ RIGHT))

    def total(f: Any) -> Any:
        return fn(lambda w: np.sum(f(w) ** 2))

    layer: Any = gw.checkpoint(plain, policy="matmul")
    np.testing.assert_allclose(gw.hessian(total(layer))(LEFT), gw.hessian(total(plain))(LEFT))
    np.testing.assert_allclose(gw.jacfwd(layer)(LEFT), gw.jacfwd(plain)(LEFT))
    rows = np.stack([LEFT, RIGHT])
    np.testing.assert_allclose(
        gw.vmap(gw.grad(total(layer)))(rows), gw.vmap(gw.grad(total(plain)))(rows)
    )
    w: Any = gw.wrap(LEFT, requires_grad=True)
    total(layer)(w).backward()
    np.testing.assert_allclose(w.grad, gw.grad(total(plain))(LEFT))


def test_a_result_that_is_kept_may_be_written_to() -> None:
    def written(w: Any) -> Any:
        out = w @ RIGHT
        out *= 2.0
        out[0] = np.sin(out[1])
        return out

    kept = gw.checkpoint(written, policy="matmul")
    np.testing.assert_allclose(gw.jacrev(kept)(LEFT), gw.jacrev(written)(LEFT))


def test_a_function_that_does_something_else_under_a_policy_is_refused() -> None:
    runs = 0

    def changing(w: Any) -> Any:
        nonlocal runs
        runs += 1
        return w @ RIGHT if runs == 1 else w @ (w @ RIGHT)

    with pytest.raises(CheckpointError, match="called matmul where it ended the first time"):
        gw.grad(lambda w: np.sum(gw.checkpoint(changing, policy="matmul")(w)))(LEFT)


def test_a_policy_that_names_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="policy: 'dots' is not an operation"):
        gw.checkpoint(np.sin, policy="dots")


def test_static_arguments_are_handed_on_as_they_are() -> None:
    seen: list[Any] = []

    def scaled(settings: Any, x: Any, table: Any) -> Any:
        seen.append((settings, table))
        return np.sum(x * settings["scale"] * table)

    settings, table = {"scale": 3.0}, np.arange(2.0)
    call = gw.checkpoint(scaled, static_argnums=(0, -1))
    np.testing.assert_array_equal(
        gw.grad(lambda x: call(settings, x, table))(np.ones(2)), [0.0, 3.0]
    )
    assert len(seen) == 2
    assert all(one[0] is settings and one[1] is table for one in seen)
    with pytest.raises(ArgnumsError, match="static_argnums=3 is out of range: scaled was called"):
        gw.checkpoint(scaled, static_argnums=3)(settings, np.ones(2), table)


def test_a_name_bound_to_a_sum_with_a_constant_is_an_error() -> None:
    """The sum has the node of the array, since its derivative is one."""

    def program(x: Any) -> Any:
        factor = x[1]
        made = gw.checkpoint(fn(lambda t: t * factor))(x)
        factor += -0.3
        return np.sum(made)

    with pytest.raises(CheckpointError, match=r"used other tracked arrays.*do not rebind"):
        gw.grad(program)(np.array([0.3, -0.7]))
