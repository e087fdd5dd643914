"""Arrays of the caller's that are written to between forward and backward.

An operation finds the content that it had, or backward raises an error. Small arrays are copied,
and arrays of medium size share a copy while they do not change. A large one is shared, and
compared.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap
from gradwrap.backends.numpy.buffers import COPIED, SHARED, digest_of, kept
from gradwrap.core.library.buffers import shared
from gradwrap.errors import BufferChangedError, CheckpointError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
ANY: Any = np  # for calls that NumPy's own types are too narrow for

SMALL, MEDIUM, LARGE = 5, 4_000, 20_000
SIZES = [SMALL, MEDIUM, LARGE]
assert 8 * SMALL <= COPIED < 8 * MEDIUM <= SHARED < 8 * LARGE


def data(n: int) -> Any:
    return np.random.default_rng(n).normal(size=n) + 3.0


def check(run: Callable[[], Any], expected: Any, n: int) -> None:
    """Check that a gradient is right, or, of a large array, that there is an error."""
    if n == LARGE:
        with pytest.raises(
            BufferChangedError, match=r"was overwritten[^.]*\. Fix: write to a copy"
        ):
            run()
    else:
        np.testing.assert_allclose(run(), expected, rtol=1e-12)


def on_tape(f: Any) -> Any:
    def gradient(x: Any) -> Any:
        v = gw.wrap(x, requires_grad=True)
        f(v).backward()
        return v.grad

    return gradient


def on_tape_for_inputs(f: Any) -> Any:
    def gradient(x: Any) -> Any:
        v = gw.wrap(x, requires_grad=True)
        return gw.autograd.grad(f(v), v)[0]

    return gradient


def by_vjp(f: Any) -> Any:
    return fn(lambda x: gw.vjp(f, x)[1](1.0)[0])


def by_linearize(f: Any) -> Any:
    def gradient(x: Any) -> Any:
        _, push = gw.linearize(f, x)
        return np.array([push(unit) for unit in np.eye(len(x))])

    return gradient


def under_vmap(f: Any) -> Any:
    return fn(lambda x: gw.vmap(gw.grad(f))(x[None])[0])


def second_order(f: Any) -> Any:
    return gw.grad(fn(lambda v: gw.grad(f)(v) @ v - f(v)))  # the gradient of a linear function is 0


def with_value(f: Any) -> Any:
    return fn(lambda x: gw.value_and_grad(f)(x)[1])


MODES: dict[str, Any] = {
    "grad": gw.grad,
    "value_and_grad": with_value,
    "vjp": by_vjp,
    "jacrev": gw.jacrev,
    "backward": on_tape,
    "autograd.grad": on_tape_for_inputs,
    "vmap": under_vmap,
}


# Operands that are rewritten in a loop ------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", MODES)
def test_a_factor_that_is_scaled_in_a_loop(mode: str, n: int) -> None:
    k0 = data(n)

    def f(v: Any) -> Any:
        k, total = k0.copy(), 0.0
        for _ in range(3):
            total = total + np.sum(v * k)
            k *= 2
        return total

    check(lambda: MODES[mode](f)(np.ones(n)), 7 * k0, n)


@pytest.mark.parametrize("n", SIZES)
def test_a_factor_that_has_its_first_content_again(n: int) -> None:
    k0 = data(n)

    def f(v: Any) -> Any:
        k, total = k0.copy(), 0.0
        for i in range(4):
            total = total + (i + 1) * np.sum(v * k)
            k *= -1
        return total

    check(lambda: gw.grad(f)(np.ones(n)), -2 * k0, n)


def test_one_element_that_is_set_and_set_back() -> None:
    def f(v: Any) -> Any:
        mask, total = np.zeros(MEDIUM), 0.0
        for i in (7, 8, 3_999):
            mask[i] = 1.0
            total = total + i * np.sum(v * mask)
            mask[i] = 0.0
        return total

    expected = np.zeros(MEDIUM)
    expected[[7, 8, 3_999]] = 7, 8, 3_999
    np.testing.assert_array_equal(gw.grad(f)(np.ones(MEDIUM)), expected)


@pytest.mark.parametrize("mode", [gw.grad, on_tape, by_linearize, second_order])
def test_a_time_that_is_advanced(mode: Any) -> None:
    def f(v: Any) -> Any:
        t, total = np.zeros(2), 0.0
        for _ in range(3):
            t += 0.5
            total = total + np.sum(v * t)
        return total

    expected = 0.0 if mode is second_order else 3.0
    np.testing.assert_allclose(mode(f)(np.ones(2)), [expected] * 2, atol=1e-12)


QUOTIENT = fn(lambda v, k: k / v)
SELECTION = fn(lambda v, k: np.where(k > 3.0, v, 0.0))
OPERATIONS = rows(
    [
        (lambda v, k: v / k, lambda k: 1 / k),
        (QUOTIENT, lambda k: -k / 4),
        (lambda v, k: v**k, lambda k: k * 2 ** (k - 1)),
        (lambda v, k: k * v, lambda k: k),
        (SELECTION, lambda k: 1.0 * (k > 3.0)),
        (lambda v, k: np.clip(v, k - 3.0, k), lambda k: 1.0 * (k - 3.0 < 2.0) * (k > 2.0)),
        (lambda v, k: np.einsum("i,i->", v, k), lambda k: k),
        (lambda v, k: np.dot(k, v), lambda k: k),
        (lambda v, k: k.reshape(1, -1) @ v, lambda k: k),
        (lambda v, k: gw.wrap(k) * v, lambda k: k),
        (lambda v, k: gw.wrap(k)[::-1] * v, lambda k: k[::-1]),
    ]
)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", [by_vjp, on_tape])
@pytest.mark.parametrize(("operation", "slope"), OPERATIONS)
def test_an_operand_that_is_overwritten_later(
    operation: Any, slope: Any, mode: Any, n: int
) -> None:
    k = data(n)
    expected = slope(k.copy())

    def f(v: Any) -> Any:
        out = operation(v, k)
        made = np.sum(out)
        k[...] = 0.5
        return made

    # the formula of a division saves the result, and a comparison makes an array of its own
    needs_none = operation in (QUOTIENT, SELECTION)
    check(lambda: mode(f)(np.full(n, 2.0)), expected, SMALL if needs_none else n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", MODES)
def test_an_index_that_is_advanced(mode: str, n: int) -> None:
    weights = np.arange(1.0, n + 1)

    def f(v: Any) -> Any:
        index = np.arange(n)
        out = np.sum(v[index] * weights) + np.sum(np.take(v, index) * weights)
        index[:] = 0
        return out

    check(lambda: MODES[mode](f)(np.ones(n)), 2 * weights, n)


@pytest.mark.parametrize("mode", [gw.grad, on_tape])
def test_a_mask_and_what_is_in_a_tuple_and_a_list(mode: Any) -> None:
    mask, index, axes = np.array([True, False, True]), np.array([1, 1]), [1, 0]

    def f(v: Any) -> Any:
        square = np.stack([v, 2 * v, 3 * v])
        out = np.sum(np.where(mask, v, 0)) + np.sum(v[mask]) + np.sum(square[:, index])
        out = out + np.transpose(square[:2], axes)[0, 1]
        out = out + np.sum(np.repeat(v, index[[0, 0, 1]] * 0 + 2) * np.arange(6.0))
        mask[:] = False
        index[:] = 0
        axes[:] = [0, 1]
        return out

    np.testing.assert_array_equal(mode(f)(np.ones(3)), [2 + 2 + 1, 12 + 5, 2 + 9])


@pytest.mark.parametrize("n", SIZES)
def test_an_index_of_a_write(n: int) -> None:
    index = np.arange(n)

    def f(v: Any) -> Any:
        out = v * 2.0
        out[index] = v[::-1] * 3.0
        index[:] = 0
        return np.sum(out * np.arange(float(n)))

    check(lambda: gw.grad(f)(np.ones(n)), 3.0 * np.arange(float(n))[::-1], n)


# Arguments, and what `wrap` was given -------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_an_argument_of_vjp_that_is_overwritten(n: int) -> None:
    x = data(n)
    expected = 2 * x
    _, pull = gw.vjp(fn(lambda v: np.sum(v * v)), x)
    x[-1] += 1.0

    check(lambda: pull(1.0)[0], expected, n)
    check(lambda: pull(1.0)[0], expected, n)  # and again


@pytest.mark.parametrize("n", SIZES)
def test_an_argument_of_linearize_that_is_overwritten(n: int) -> None:
    x = data(n)
    expected = 2 * np.sum(x)
    _, push = gw.linearize(fn(lambda v: np.sum(v * v)), x)
    x[-1] += 1.0

    check(lambda: push(np.ones(n)), expected, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("argnums", [0, 1])
def test_an_argument_that_the_function_itself_overwrites(n: int, argnums: int) -> None:
    x, y = data(n), data(n)
    expected = x.copy()

    def f(v: Any, w: Any) -> Any:
        out = np.sum(v * w)
        x[:] = 0.0
        y[:] = 0.0
        return out

    check(lambda: gw.grad(f, argnums)(x, y), expected, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("take", rows([lambda v: v, lambda v: v[::-1], lambda v: v.reshape(1, -1)]))
def test_an_array_that_is_overwritten_after_wrap(take: Any, n: int) -> None:
    x = data(n)
    expected = 2 * x
    v = gw.wrap(x, requires_grad=True)
    out = np.sum(take(v) * take(v))
    x[-1] = 9.0

    def gradient() -> Any:
        out.backward()
        return v.grad

    check(gradient, expected, n)


@pytest.mark.parametrize("n", SIZES)
def test_data_that_are_replaced_and_overwritten(n: int) -> None:
    v = gw.wrap(np.ones(n), requires_grad=True)
    x = data(n)
    v.data = x
    expected = 2 * x
    out = np.sum(v * v)
    x *= 2

    def gradient() -> Any:
        out.backward()
        return v.grad

    check(gradient, expected, n)


@pytest.mark.parametrize("n", SIZES)
def test_buffers_may_be_written_between_one_step_and_the_next(n: int) -> None:
    x: Any = np.ones(n)
    batch: Any = np.empty(n)
    kept_graphs: list[Any] = []
    v: Any = gw.wrap(x, requires_grad=True)
    for step in range(1, 4):
        batch[:] = step
        loss = np.sum(v * v * batch)
        kept_graphs.append(np.sum(v * batch))  # never walked
        loss.backward()
        np.testing.assert_allclose(v.grad, 2 * x * step)
        x -= 0.1 * v.grad
        v.zero_grad()
        np.testing.assert_allclose(gw.grad(fn(lambda u: np.sum(u * batch)))(x), batch)


# What is handed out -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_writing_to_the_value_of_vjp_does_no_harm(n: int) -> None:
    x = data(n) / 3
    for f in (np.exp, fn(lambda v: v * 1.0 + 0.0), fn(lambda v: v)):
        expected = np.exp(x) if f is np.exp else np.ones(n)
        out, pull = gw.vjp(f, x)
        out -= 1.0
        np.testing.assert_array_equal(pull(np.ones(n))[0], expected)


def test_writing_to_what_comes_with_the_value_does_no_harm() -> None:
    _, pull, aux = gw.vjp(fn(lambda v: (np.sum(np.exp(v)), np.exp(v))), np.ones(3), has_aux=True)
    aux[:] = 0.0
    np.testing.assert_array_equal(pull(1.0)[0], np.exp(np.ones(3)))

    out, push = gw.linearize(np.exp, np.ones(3))
    out[:] = 0.0
    np.testing.assert_array_equal(push(np.ones(3)), np.exp(np.ones(3)))


@pytest.mark.parametrize(
    "take", rows([lambda y: y.data, lambda y: gw.unwrap(y), lambda y: np.asarray(y.detach())])
)
def test_writing_to_a_result_does_no_harm(take: Any) -> None:
    v = gw.wrap(np.array([1.0, 2.0]), requires_grad=True)
    y = np.exp(v)
    take(y)[:] = 0.0
    y.backward(np.ones(2))
    np.testing.assert_array_equal(v.grad, np.exp([1.0, 2.0]))

    v.grad = None
    z = v * 3.0
    out = take(z)
    square = z * z
    out[:] = 0.0
    square.backward(np.ones(2))
    np.testing.assert_array_equal(v.grad, [18.0, 36.0])


def test_the_array_of_a_variable_is_the_same_each_time() -> None:
    x = np.ones(3)
    v = gw.wrap(x, requires_grad=True)
    y = np.exp(v)
    assert gw.unwrap(v) is x
    assert v.data is x
    assert y.data is y.data
    assert np.asarray(y.detach()).sum() == y.data.sum()


# What functions of the user's keep ----------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", [gw.grad, on_tape])
def test_checkpoint_with_an_argument_that_is_overwritten(mode: Any, n: int) -> None:
    k = data(n)
    expected = k.copy()

    def f(v: Any) -> Any:
        out = gw.checkpoint(fn(lambda v, k: np.sum(v * k["k"])))(v, {"k": k})
        k[-1] = 0.0
        return out

    check(lambda: mode(f)(np.ones(n)), expected, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", [gw.grad, on_tape, second_order])
def test_checkpoint_with_a_closure_that_is_overwritten(mode: Any, n: int) -> None:
    k, index = data(n), np.arange(n)
    layer = gw.checkpoint(fn(lambda v: np.sum(v * k) + np.sum(v[index])))

    def f(v: Any, changed: Any = None) -> Any:
        out = layer(v)
        if changed is not None:
            changed[-1] = 0
        return out

    mode(f)(np.ones(n))
    for array in (k, index):
        with pytest.raises(CheckpointError, match=r"with other values than the first time\. Fix: "):
            mode(functools.partial(f, changed=array))(np.ones(n))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", [gw.grad, on_tape, by_vjp])
def test_residuals_of_custom_vjp_that_are_overwritten(mode: Any, n: int) -> None:
    k, factor = data(n), np.full(n, 2.0)
    expected = 2 * k

    scaled = gw.custom_vjp(fn(lambda v: v * k * factor))
    scaled.defvjp(
        fn(lambda v: (v * k * factor, (k, [factor]))),
        fn(lambda res, g: (g * res[0] * res[1][0],)),
    )

    def f(v: Any) -> Any:
        out = np.sum(scaled(v))
        k[:] = 0.0
        factor[:] = 1.0
        return out

    check(lambda: mode(f)(np.ones(n)), expected, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("mode", [gw.grad, on_tape])
def test_what_a_function_saves_that_is_overwritten(mode: Any, n: int) -> None:
    k, given, index = data(n), data(n), np.arange(n)
    expected = 2 * k + 1.0

    class Scaled(gw.Function):  # type: ignore[misc]  # gw is Any here
        @staticmethod
        def forward(ctx: Any, v: Any, factor: Any) -> Any:
            ctx.save_for_backward(k, factor)
            ctx.index = index
            return v * k

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            own, factor = ctx.saved_tensors
            return g * (own + factor + (ctx.index == np.arange(n))), None

    def f(v: Any) -> Any:
        out = np.sum(Scaled.apply(v, given))
        k[:] = 0.0
        given[:] = 0.0
        index[:] = -1
        return out

    check(lambda: mode(f)(np.ones(n)), expected, n)


def with_rules(kind: str, factor: float) -> Any:
    """Return `sum(x**3 * c) * factor`, of which `c` is kept for backward."""
    if kind == "checkpoint":
        return gw.checkpoint(fn(lambda x, c: np.sum(x**3 * c) * factor))
    if kind == "custom_vjp":
        f = gw.custom_vjp(fn(lambda x, c: np.sum(x**3 * c) * factor))
        forward = fn(lambda x, c: (np.sum(x**3 * c) * factor, (x, c)))
        f.defvjp(forward, fn(lambda kept, g: (g * 3 * kept[0] ** 2 * kept[1] * factor, None)))
        return f
    f = gw.custom_jvp(fn(lambda x, c: np.sum(x**3 * c) * factor))

    def push(primals: Any, tangents: Any) -> Any:
        (x, c), (t, _) = primals, tangents
        return np.sum(x**3 * c) * factor, np.sum(3 * x**2 * c * t) * factor

    f.defjvp(push)
    return f


def packed_gradient(f: Any) -> Any:
    def gradient(x: Any) -> Any:
        with gw.saved_tensors_hooks(fn(lambda a: a.copy()), fn(lambda a: a)):
            return gw.grad(f)(x)

    return gradient


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["checkpoint", "custom_vjp", "custom_jvp"])
def test_plain_arguments_of_functions_with_rules(kind: str, n: int) -> None:
    call, x = with_rules(kind, 2.0), np.linspace(0.5, 1.5, n)
    ones = np.ones(n)

    def f(v: Any) -> Any:
        c = np.full(n, 3.0)
        y = call(v, c)
        c[:] = 0.0
        return y

    twice = gw.grad(fn(lambda v: np.sum(gw.grad(f)(v))))
    mixed = gw.grad(fn(lambda v: gw.jvp(f, (v,), (ones,))[1]))
    slopes = (
        (gw.grad(f), 18 * x**2),
        (packed_gradient(f), 18 * x**2),
        (twice, 36 * x),
        (mixed, 36 * x),
    )
    for slope, expected in slopes:
        try:
            np.testing.assert_allclose(slope(x), expected, rtol=1e-12)
        except BufferChangedError:  # where a rule has not read it before
            assert n == LARGE


# The error, and what it costs ---------------------------------------------------------------------


def test_the_error_names_the_operation_its_line_and_the_remedy() -> None:
    k = data(LARGE)

    def f(v: Any) -> Any:
        out = np.sum(v * k)  # the line to be found
        k[0] = 0.0
        return out

    with pytest.raises(BufferChangedError) as info:
        gw.grad(f)(np.ones(LARGE))
    message = str(info.value)
    assert message.startswith(
        "An array that multiply saved for backward, float64[20000], was overwritten after that, "
        "so the gradient would be wrong. Fix: write to a copy of it, or after backward. "
        "k = k * 2 makes a new array, where k *= 2 overwrites the old one.\n"
        "multiply was recorded here"
    )
    assert "# the line to be found" in message
    assert f", in {f.__name__}\n" in message


def test_the_remedies_of_the_error_work() -> None:
    def f(v: Any) -> Any:
        k, total = np.ones(LARGE), 0.0
        for _ in range(3):
            total = total + np.sum(v * k)
            k = k * 2
        return total

    np.testing.assert_array_equal(gw.grad(f)(np.ones(LARGE)), np.full(LARGE, 7.0))


def test_only_what_a_pass_needs_is_compared() -> None:
    k = data(LARGE)
    v = gw.wrap(np.ones(LARGE), requires_grad=True)
    w = gw.wrap(np.ones(LARGE), requires_grad=True)
    y = np.sum(v * k) + np.sum(np.sin(w))
    k[0] = 0.0

    np.testing.assert_allclose(gw.autograd.grad(y, w, retain_graph=True)[0], np.cos(np.ones(LARGE)))
    with pytest.raises(BufferChangedError, match="multiply"):
        gw.autograd.grad(y, v)


def test_a_graph_can_be_walked_again_while_nothing_changes() -> None:
    k = data(LARGE)
    v = gw.wrap(np.ones(LARGE), requires_grad=True)
    y = np.sum(v * k)
    for _ in range(2):
        y.backward(retain_graph=True)
    np.testing.assert_allclose(v.grad, 2 * k)
    k[5] += 1.0
    with pytest.raises(BufferChangedError):
        y.backward()


def test_a_read_only_array_is_not_copied_but_a_view_of_another_may_be() -> None:
    constant = np.ones(LARGE)
    constant.flags.writeable = False
    assert kept(constant, 1) is constant
    assert kept(constant[1:], 1).base is constant

    k = data(MEDIUM)
    view = k.view()
    view.flags.writeable = False
    saved = kept(view, 1)
    k[0] = 0.0
    assert saved[0] != 0.0


def test_an_array_that_does_not_change_is_copied_once() -> None:
    k = data(MEDIUM)
    first = kept(k, 1)
    assert kept(k, 2) is first
    k[17] += 1.0
    second = kept(k, 1)
    assert second is not first
    assert second[17] == first[17] + 1.0


def test_what_was_saved_goes_with_the_graph() -> None:
    for n in SIZES:
        k = data(n)
        v = gw.wrap(np.ones(n), requires_grad=True)
        y = np.sum(v * k)
        alive, wrapped = weakref.ref(k), weakref.ref(v)
        del k
        assert (alive() is not None) == (n == LARGE)
        y.backward()
        assert alive() is None
        del y, v
        assert wrapped() is None
    assert all(entry() is not None for entry in shared.values())


def test_layouts_dtypes_and_sizes_of_what_is_compared() -> None:
    whole = np.random.default_rng(0).normal(size=(300, 301))
    for k in (whole, whole.T, whole[:, ::2], whole.astype(np.float32), whole > 0, whole * 1j):
        before = digest_of(k)
        saved = kept(k, 1)
        assert saved.checked("op", 1) is k
        k[7, 8] = 0 if k.dtype != bool else not k[7, 8]
        assert digest_of(k) != before
        with pytest.raises(BufferChangedError):
            saved.checked("op", 2)


@pytest.mark.parametrize("n", [1, 1021, 8_192, 40_000, 32_672, 256 * 784, 300_000])
def test_changes_that_keep_sums_and_counts_are_told_apart(n: int) -> None:
    x = np.random.default_rng(n).normal(size=n) + 1.0
    before = digest_of(x)
    assert digest_of(x.copy()) == before
    changes: list[Any] = [-x, 2 * x, x / 2, 4 * x, x + 1.0, np.zeros(n)]
    changes += [np.where(np.arange(n) == n // 3, -x, x)]
    if n > 1:
        changes += [np.where(np.arange(n) < n // 2, -x, x)]
        swapped = x.copy()
        swapped[[0, -1]] = x[[-1, 0]]
        changes += [np.sort(x), x[::-1].copy(), np.roll(x, 1), np.roll(x, n // 2), swapped]
    if n == 256 * 784:
        rows_of = x.reshape(256, 784)
        changes += [rows_of[::-1].ravel(), np.where(np.arange(784) % 2, -rows_of, rows_of).ravel()]
    digests = [digest_of(one) for one in changes]
    assert before not in digests
    ones = np.ones(n)
    assert digest_of(ones) != digest_of(-ones) != digest_of(np.zeros(n))


# Second order -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 400])
def test_a_gradient_of_a_gradient_of_a_large_leaf(size: int) -> None:
    """The first pass asks for one argument alone; the second one needs the other, too."""
    numbers = np.random.default_rng(0)
    weights, direction = numbers.normal(size=(2, 64, 32)) / 8.0
    images = numbers.normal(size=(size, 64))

    def penalty(w: Any) -> Any:
        x: Any = gw.wrap(images, requires_grad=True)
        (slope,) = gw.autograd.grad(np.sum(np.tanh(x @ w)), x, create_graph=True)
        return np.sum(slope * slope)

    w: Any = gw.wrap(weights, requires_grad=True)
    penalty(w).backward()

    ahead, behind = (penalty(gw.wrap(weights + s * direction)).item() for s in (1e-6, -1e-6))
    along = np.sum(w.grad * direction)
    np.testing.assert_allclose(along, (ahead - behind) / 2e-6, rtol=1e-6)


NESTED = [
    fn(lambda v, k: np.sum(v * k)),
    fn(lambda v, k: ANY.vdot(v, k)),
    fn(lambda v, k: np.linalg.vecdot(v, k)),
    fn(lambda v, k: np.einsum("i,i", v, k)),
    fn(lambda v, k: np.tensordot(k, v, 1)),
    fn(lambda v, k: np.sum(np.outer(v[:9], k[:9]))),
    fn(lambda v, k: np.sum(np.convolve(v, k[:3]))),
]


@pytest.mark.parametrize("n", [SMALL, MEDIUM])
@pytest.mark.parametrize("operation", NESTED)
def test_a_buffer_that_is_overwritten_under_two_levels(operation: Any, n: int) -> None:
    """What the inner transform saves of a composed function is the caller's array, wrapped."""
    numbers = np.random.default_rng(1)
    x, along = numbers.normal(size=(2, n)) / np.sqrt(n)

    def program(v: Any) -> Any:
        k = np.linspace(-1.0, 2.0, n)
        made = operation(v, k)
        k *= 1.5
        return np.sin(made) * np.cos(made)

    ahead, behind = (gw.grad(program)(x + s * along) for s in (1e-5, -1e-5))
    expected = (ahead - behind) / 2e-5
    forward = gw.hvp(program, (x,), (along,))[0]
    reverse = gw.grad(fn(lambda v: np.sum(gw.grad(program)(v) * along)))(x)
    np.testing.assert_allclose(forward, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(reverse, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("operation", NESTED[:5])
def test_a_large_buffer_that_is_overwritten_under_two_levels(operation: Any) -> None:
    def program(v: Any) -> Any:
        k = np.linspace(-1.0, 2.0, LARGE)
        made = operation(v, k)
        k *= 1.5
        return np.sin(made)

    x = np.full(LARGE, 1.0 / LARGE)
    with pytest.raises(BufferChangedError, match="Fix: write to a copy"):
        gw.hvp(program, (x,), (x,))
    with pytest.raises(BufferChangedError, match="Fix: write to a copy"):
        gw.grad(fn(lambda v: np.sum(gw.grad(program)(v))))(x)
