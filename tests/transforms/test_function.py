"""`gw.Function`: what PyTorch's custom functions do, and errors where gradwrap does otherwise."""

from __future__ import annotations

import gc
import math
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import (
    BackwardError,
    GraphFreedError,
    InPlaceError,
    NoRuleError,
    NotAnArrayError,
    RuleResultError,
    TrackedValueError,
)
from lambdas import fn, rows

if TYPE_CHECKING:
    from lambdas import Function

X = np.array([0.3, 1.2, 2.0])
Y = np.array([1.5, 0.5, -0.7])


def tracked(array: Any) -> Any:
    return gw.wrap(np.array(array), requires_grad=True)


def taken(x: Any) -> Any:
    """Take the gradient of a leaf, and leave it with none."""
    gradient, x.grad = x.grad, None
    return gradient


class Cube(gw.Function):
    """Backward needs the argument: its derivatives follow to any order."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Exp(gw.Function):
    """Backward needs the output; forward and setup_context are apart."""

    @staticmethod
    def forward(x: Any) -> Any:
        return np.exp(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return ctx.saved_tensors[0] * g


class Times(gw.Function):
    """Two arguments and a number."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any, factor: int) -> Any:
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * y * factor

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return g * y * ctx.factor, g * x * ctx.factor, None


class SinCos(gw.Function):
    """Two outputs, each of which the other's derivative needs."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        sin, cos = np.sin(x), np.cos(x)
        ctx.save_for_backward(sin, cos)
        return sin, cos

    @staticmethod
    def backward(ctx: Any, g_sin: Any, g_cos: Any) -> Any:
        sin, cos = ctx.saved_tensors
        return g_sin * cos - g_cos * sin


def returning(result: Any) -> Any:
    """An identity whose backward returns a given value, or a function of the cotangent."""

    class Returns(gw.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            return args[0] * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return result(g) if callable(result) else result

    return Returns


# Values -------------------------------------------------------------------------------------------


def test_backward_adds_to_grad() -> None:
    x = tracked(X)
    y = Cube.apply(x)

    y.sum().backward()

    np.testing.assert_allclose(x.grad, 3 * X**2)
    assert "CubeBackward" in repr(y)
    renamed: Any = type("MyReLU", (Cube,), {})
    assert renamed.apply(x).grad_fn.name() == "MyReLUBackward"


@pytest.mark.parametrize(
    ("function", "derivatives"),
    rows(
        [
            (Cube.apply, [12.0, 12.0, 6.0]),
            (Exp.apply, [math.exp(2.0)] * 3),
            (lambda x: SinCos.apply(x)[0], [math.cos(2.0), -math.sin(2.0), -math.cos(2.0)]),
            (lambda x: SinCos.apply(x)[1], [-math.sin(2.0), -math.cos(2.0), math.sin(2.0)]),
            (lambda x: Times.apply(x, x, 3), [12.0, 6.0, 0.0]),
            (lambda x: Times.apply(x, Exp.apply(x), 1), [k * math.exp(2.0) for k in (3, 4, 5)]),
        ]
    ),
)
def test_transforms_nest(function: Any, derivatives: list[float]) -> None:
    for wanted in derivatives:
        function = gw.grad(function)
        assert function(2.0) == pytest.approx(wanted)


@pytest.mark.parametrize("function", [Cube.apply, Exp.apply])
def test_check_grads_passes(function: Any) -> None:
    gw.testing.check_grads(function, (X,), order=2, modes=("rev",))


def test_vjp_of_several_outputs() -> None:
    out, pull = gw.vjp(SinCos.apply, X)

    np.testing.assert_allclose(out[1], np.cos(X))
    np.testing.assert_allclose(pull((Y, X))[0], Y * np.cos(X) - X * np.sin(X))


def test_double_backward_on_the_tape() -> None:
    x = tracked(X)
    Times.apply(Cube.apply(x), Exp.apply(x), 1).sum().backward(create_graph=True)
    first = taken(x)

    first.sum().backward()

    np.testing.assert_allclose(gw.unwrap(first), (3 * X**2 + X**3) * np.exp(X))
    np.testing.assert_allclose(taken(x), (6 * X + 6 * X**2 + X**3) * np.exp(X))


def test_two_variables_of_one_buffer_keep_their_own_derivatives() -> None:
    x: Any = gw.wrap(X, requires_grad=True)
    y: Any = gw.wrap(X, requires_grad=True)
    Times.apply(x, y, 1).sum().backward(create_graph=True)
    first = taken(y)
    x.grad = None

    (first * Y).sum().backward()

    np.testing.assert_allclose(taken(x), Y)
    assert y.grad is None


def test_levels_mix() -> None:
    wanted = gw.grad(fn(lambda a: gw.grad(fn(lambda x: a * x * np.exp(a) * 2))(a * 3.0)))(1.5)

    found = gw.grad(
        fn(
            lambda a: gw.grad(fn(lambda x: Times.apply(Times.apply(a, x, 2), Exp.apply(a), 1)))(
                a * 3.0
            )
        )
    )(1.5)

    assert found == pytest.approx(wanted)


def test_complex_cotangents_are_the_users_own() -> None:
    class Conjugate(gw.Function):
        @staticmethod
        def forward(ctx: Any, z: Any) -> Any:
            return np.conj(z)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return np.conj(g)

    z = np.array([1 + 2j, -1j])
    _, pull = gw.vjp(Conjugate.apply, z)

    np.testing.assert_allclose(pull(np.array([1j, 2.0]))[0], [-1j, 2.0])


def test_other_libraries_arrays() -> None:
    class Square(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            assert type(x) is type(strict.ones(1))
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2.0 * ctx.saved_tensors[0] * g

    def total(x: Any) -> Any:
        return x.__array_namespace__().sum(Square.apply(x))

    gradient = gw.grad(total)(strict.asarray([1.0, 3.0]))

    assert type(gradient) is type(strict.ones(1))
    np.testing.assert_array_equal(np.asarray(gradient), [2.0, 6.0])


# What forward and backward are given, and return --------------------------------------------------


def test_forward_and_first_backward_get_native_arrays() -> None:
    kinds: list[tuple[type[Any], ...]] = []

    class Noted(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, parts: Any) -> Any:
            kinds.append(tuple(map(type, (x, parts[0]))))
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            kinds.append(tuple(map(type, (g, ctx.saved_tensors[0]))))
            return 2 * g, None

    x = tracked(X)
    Noted.apply(x, [gw.wrap(Y)]).sum().backward()
    x.grad = None
    Noted.apply(x, [Y]).sum().backward(create_graph=True)

    assert kinds[:3] == [(np.ndarray, np.ndarray)] * 3
    assert all(issubclass(kind, gw.Variable) for kind in kinds[3])


def test_without_variables_nothing_is_wrapped() -> None:
    assert type(Cube.apply(X)) is np.ndarray
    assert not Cube.apply(gw.wrap(X)).requires_grad
    with gw.no_grad():
        assert not Cube.apply(tracked(X)).requires_grad


def test_needs_input_grad_tells_which_arguments_are_tracked() -> None:
    seen: list[tuple[bool, ...]] = []

    class Noted(gw.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            return args[0] + args[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            return g, g, None

    Noted.apply(gw.wrap(X), tracked(Y), "a").sum().backward()

    assert seen == [(False, True, False)] * 2


def test_outputs_of_every_kind() -> None:
    class Several(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, np.argmax(x), "name", None, 3, float(np.sum(x))

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            g, g_index, *rest, g_sum = grads
            assert g_index == 0
            assert rest == [None] * 3
            return 2 * g + g_sum

    x = tracked(X)
    doubled, index, name, nothing, three, total = Several.apply(x)
    (doubled.sum() + 5 * total).backward()

    assert (name, nothing, three, index.item()) == ("name", None, 3, 2)
    assert not index.requires_grad
    np.testing.assert_allclose(x.grad, [7.0] * 3)


def test_outputs_keep_their_container() -> None:
    class Pair(NamedTuple):
        a: Any
        b: Any

    class Split(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, kind: Any) -> Any:
            return kind(x, x + 1)

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g + h, None

    def as_list(*parts: Any) -> list[Any]:
        return list(parts)

    x = tracked(X)
    assert type(Split.apply(x, Pair)) is Pair
    assert type(Split.apply(x, as_list)) is list


def test_missing_cotangents_are_zeros_or_none() -> None:
    seen: list[Any] = []

    def function(materialize: bool) -> Any:
        class Two(gw.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(materialize)
                return x * 1, x * 2, np.argmax(x)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                seen.append(grads)
                return grads[1] * 2

        return Two

    for materialize in (True, False):
        function(materialize).apply(tracked(X))[1].sum().backward()

    np.testing.assert_array_equal(seen[0][0], np.zeros(3))
    assert seen[0][2] == 0
    assert seen[1][0] is None
    assert seen[1][2] is None


def test_marked_outputs_are_not_tracked() -> None:
    class WithMask(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            mask = (x > 1).astype(x.dtype)
            ctx.mark_non_differentiable(mask)
            ctx.save_for_backward(mask)
            return x * mask, mask

        @staticmethod
        def backward(ctx: Any, g: Any, g_mask: Any) -> Any:
            assert not np.any(g_mask)
            return g * ctx.saved_tensors[0]

    x = tracked(X)
    y, mask = WithMask.apply(x)
    y.sum().backward()

    assert y.requires_grad
    assert not mask.requires_grad
    np.testing.assert_array_equal(x.grad, [0.0, 1.0, 1.0])
    assert gw.grad(gw.grad(fn(lambda x: WithMask.apply(x)[0] ** 2)))(2.0) == 2.0


def test_none_is_no_gradient() -> None:
    x, y = tracked(X), tracked(Y)
    returning(fn(lambda g: (g, None))).apply(x, y).sum().backward()

    np.testing.assert_array_equal(x.grad, np.ones(3))
    assert y.grad is None
    assert (
        gw.grad(fn(lambda y: np.sum(returning(fn(lambda g: (g, None))).apply(X, y))))(Y).tolist()
        == [0] * 3
    )


def test_trailing_nones_are_ignored() -> None:
    x = tracked(X)
    returning(fn(lambda g: (g, None, None))).apply(x).sum().backward()
    np.testing.assert_array_equal(x.grad, np.ones(3))


def test_an_argument_returned_as_it_is_passes_the_gradient() -> None:
    class Identity(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 10 * g

    x = tracked(X)
    y = Identity.apply(x)
    y += 1
    y.sum().backward()

    np.testing.assert_array_equal(x.grad, [10.0] * 3)
    np.testing.assert_array_equal(x.data, X)


def test_a_method_may_take_part_in_a_class_hierarchy() -> None:
    class Doubled(Cube):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * Cube.backward(ctx, g)

    assert gw.grad(Doubled.apply)(2.0) == 24.0
    assert gw.grad(Cube.apply)(2.0) == 12.0


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "message"),
    rows(
        [
            (lambda g: (g, g), r"incorrect number of gradients \(expected 1, got 2\).*Fix: "),
            (lambda g: (), r"incorrect number of gradients \(expected 1, got 0\)"),
            (lambda g: g[:1], r"invalid gradient at index 0: got shape \(1,\).*has \(3,\).*Fix: "),
            (lambda g: np.ones((3, 3)), r"got shape \(3, 3\), but the argument has \(3,\)"),
            (lambda g: g.astype(np.float32), "got dtype float32, but the argument has float64"),
            (lambda g: g * 1j, "got dtype complex128, but the argument has float64"),
            (lambda g: 1.0, "got a float, but expected an array"),
            (lambda g: strict.ones(3), "got an array of array_api_strict.*one of numpy"),
        ]
    ),
)
def test_wrong_gradients_are_refused(result: Any, message: str) -> None:
    with pytest.raises(RuleResultError, match=f"(?s)Function ReturnsBackward returned.*{message}"):
        returning(result).apply(tracked(X)).sum().backward()


def test_gradient_for_what_is_no_array_is_refused() -> None:
    function = returning(fn(lambda g: (g, g)))
    function.apply(tracked(X), Y)
    with pytest.raises(RuleResultError, match="different from None at position 1"):
        function.apply(tracked(X), "a").sum().backward()


def test_errors_are_runtime_errors_as_in_pytorch() -> None:
    assert issubclass(RuleResultError, RuntimeError)


def test_mark_dirty_says_what_to_do() -> None:
    class InPlace(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)

    with pytest.raises(InPlaceError, match=r"never|own arrays.*Fix: write to a copy"):
        InPlace.apply(tracked(X))


def test_only_arrays_are_saved() -> None:
    class Saves(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, None, 1.5)

    with pytest.raises(NotAnArrayError, match=r"argument 2 is of type float.*Fix: "):
        Saves.apply(tracked(X))


def test_tracked_array_in_a_list_is_refused() -> None:
    with pytest.raises(TrackedValueError, match=r"argument 1 of Cube.apply.*in a list.*Fix: "):
        Cube.apply(X, [tracked(X)])


def test_tracked_array_by_the_back_door_is_refused() -> None:
    w = tracked(Y)

    class Closed(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return w * x

    with pytest.raises(TrackedValueError, match=r"output 0 of Closed.forward.*Fix: pass that"):
        Closed.apply(tracked(X))


def test_missing_methods_are_named() -> None:
    class Nothing(gw.Function):
        pass

    class OnlyForward(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

    with pytest.raises(NotImplementedError, match="forward"):
        Nothing.apply(X)
    with pytest.raises(NotImplementedError, match="backward method"):
        OnlyForward.apply(tracked(X)).sum().backward()


def test_second_backward_is_refused_once_freed() -> None:
    y = Cube.apply(tracked(X)).sum()
    y.backward()
    with pytest.raises(GraphFreedError, match="second time"):
        y.backward()


def test_retain_graph_allows_a_second_backward() -> None:
    x = tracked(X)
    y = SinCos.apply(x)[0].sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad, 2 * np.cos(X))


# Second derivatives that are not known ------------------------------------------------------------


class HalfDone(gw.Function):
    """Keeps what it computed, which PyTorch takes for a constant."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(np.exp(x))
        ctx.by_name = [np.exp(x)]
        return np.exp(x) * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0]


class ByName(HalfDone):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.by_name[0]


class Stopped(HalfDone):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * gw.stop_gradient(ctx.saved_tensors[0])


@pytest.mark.parametrize(
    ("function", "where"), [(HalfDone, r"saved_tensors\[0\]"), (ByName, "by_name")]
)
def test_second_derivative_through_an_intermediate_is_refused(function: Any, where: str) -> None:
    x = tracked(X)

    assert gw.grad(function.apply)(0.0) == 1.0
    with pytest.raises(BackwardError, match=rf"ctx\.{where}.*Fix: compute it in backward"):
        gw.grad(gw.grad(function.apply))(0.0)
    function.apply(x).sum().backward(create_graph=True)
    first = x.grad
    with pytest.raises(BackwardError, match=where):
        first.sum().backward()


def test_third_derivative_through_an_intermediate_is_refused() -> None:
    class Late(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(np.exp(x))
            return np.exp(x) * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    def outer_only(x: Any) -> Any:
        """Differentiate twice with respect to z, whose intermediate depends on x too."""
        return gw.grad(fn(lambda z: Late.apply(z * x)))(1.0)

    assert outer_only(2.0) == pytest.approx(2 * math.exp(2.0))
    with pytest.raises(BackwardError, match="second derivative of Late"):
        gw.grad(outer_only)(2.0)
    with pytest.raises(BackwardError, match="second derivative of Late"):
        gw.grad(lambda a: gw.grad(outer_only)(gw.stop_gradient(a)) * a)(2.0)


def test_a_constant_may_be_kept() -> None:
    assert gw.grad(gw.grad(Stopped.apply))(0.0) == 0.0


class Once(gw.Function):
    """Its backward can take native arrays only."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.kept = np.cos(x)
        return math.sin(x)

    @staticmethod
    @gw.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        assert issubclass(type(x), (np.ndarray, np.generic))
        assert isinstance(ctx.kept, (np.ndarray, np.generic))
        return float(g) * math.cos(x)


def test_once_differentiable_allows_one_derivative() -> None:
    x = tracked(2.0)
    Once.apply(x).backward()
    assert x.grad == pytest.approx(math.cos(2.0))
    assert gw.grad(Once.apply)(2.0) == pytest.approx(math.cos(2.0))


def test_once_differentiable_refuses_a_second() -> None:
    with pytest.raises(BackwardError, match=r"differentiate twice.*once_differentiable.*Fix: "):
        gw.grad(gw.grad(Once.apply))(2.0)
    x = tracked(2.0)
    Once.apply(x).backward(create_graph=True)
    first = x.grad
    assert first.item() == pytest.approx(math.cos(2.0))
    with pytest.raises(BackwardError, match="differentiate twice"):
        first.backward()


def test_once_differentiable_allows_a_graph_that_is_not_used() -> None:
    assert gw.grad(lambda a: gw.grad(Once.apply)(2.0) * a)(3.0) == pytest.approx(math.cos(2.0))


# Forward mode -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", rows([Cube.apply, Exp.apply, lambda x: SinCos.apply(x)[1]]))
def test_forward_mode_follows_from_backward(function: Any) -> None:
    gw.testing.check_grads(function, (X,), order=2)


def test_forward_mode_over_reverse_mode() -> None:
    def total(x: Any) -> Any:
        return np.sum(Times.apply(Cube.apply(x), Exp.apply(x), 2))

    _, found = gw.jvp(gw.grad(total), (X,), (Y,))
    _, wanted = gw.jvp(gw.grad(lambda x: np.sum(2 * x**3 * np.exp(x))), (X,), (Y,))
    np.testing.assert_allclose(found, wanted)
    out, push = gw.linearize(Times.apply, X, Y, 2.0)
    np.testing.assert_allclose(push(Y, X, 0.0), 2 * (X * X + Y * Y))
    np.testing.assert_allclose(out, 2 * X * Y)


def test_forward_mode_over_reverse_mode_refuses_what_is_not_known() -> None:
    assert gw.jvp(HalfDone.apply, (0.0,), (2.0,)) == (1.0, 2.0)
    assert gw.jvp(gw.grad(Stopped.apply), (0.0,), (1.0,)) == (1.0, 0.0)
    with pytest.raises(BackwardError, match=r"ctx\.saved_tensors\[0\].*Fix: "):
        gw.jvp(gw.grad(HalfDone.apply), (0.0,), (1.0,))
    with pytest.raises(BackwardError, match="differentiate twice"):
        gw.jvp(gw.grad(Once.apply), (2.0,), (1.0,))


# vmap ---------------------------------------------------------------------------------------------


class Normalised(gw.Function):
    """Mixes the elements of an example, and keeps what belongs to one example alone."""

    @staticmethod
    def forward(ctx: Any, x: Any, power: int) -> Any:
        ctx.largest = int(np.argmax(x))
        ctx.power = power
        ctx.save_for_backward(x)
        return x**power / x[ctx.largest], float(x[ctx.largest])

    @staticmethod
    def backward(ctx: Any, g: Any, g_largest: Any) -> Any:
        (x,) = ctx.saved_tensors
        at = np.eye(3)[ctx.largest]
        top = np.sum(x * at)
        through = np.sum(g * x**ctx.power) / top**2
        return g * ctx.power * x ** (ctx.power - 1) / top + (g_largest - through) * at, None


def by_hand(x: Any) -> Any:
    top = np.max(x)
    return x**2 / top, top


def mapped(fun: Any) -> Any:
    vmap: Any = gw.vmap
    return vmap(fun, fallback="loop")


def of_first(fun: Any) -> Any:
    return fn(lambda x: fun(x)[0])


GRAD: Any = gw.grad
JVP: Any = gw.jvp
JACREV: Any = gw.jacrev
HESSIAN: Any = gw.hessian
MAPPED: list[Function] = [
    lambda f: mapped(fn(lambda x: f(x)[0] * f(x)[1])),
    lambda f: mapped(GRAD(fn(lambda x: np.sum(f(x)[0] * f(x)[1])))),
    lambda f: GRAD(fn(lambda xs: np.sum(mapped(f)(xs)[0] ** 2))),
    lambda f: fn(lambda xs: JVP(of_first(mapped(f)), (xs,), (xs * 0.1,))[1]),
    lambda f: fn(lambda xs: JACREV(of_first(f))(xs[0])),
    lambda f: fn(lambda xs: HESSIAN(fn(lambda x: np.sum(f(x)[0])))(xs[0])),
]
BATCH = np.array([[0.3, 1.2, 2.0], [3.0, 1.0, 0.5]])


@pytest.mark.parametrize("transform", MAPPED)
def test_vmap_runs_one_example_after_the_other(transform: Any) -> None:
    found = transform(fn(lambda x: Normalised.apply(x, 2)))(BATCH)

    np.testing.assert_allclose(found, transform(by_hand)(BATCH), rtol=1e-10)


def test_second_derivatives_inside_of_vmap_are_refused() -> None:
    def squared_slope(x: Any) -> Any:
        return np.sum(gw.grad(fn(lambda y: np.sum(Cube.apply(y))))(x) ** 2)

    with pytest.raises(NoRuleError, match=r"Cube is a gradwrap\.Function.*inside of vmap.*Fix: "):
        mapped(gw.grad(squared_slope))(BATCH)


def test_batched_cotangents_reach_a_native_backward_one_by_one() -> None:
    class Solve(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, scale: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * 2

        @staticmethod
        @gw.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            assert issubclass(type(g), np.ndarray)
            assert g.shape == (3,)
            return 4 * ctx.saved_tensors[0] * g, None

    jacobian: Any = gw.jacrev(lambda x: Solve.apply(x, 1))
    np.testing.assert_allclose(jacobian(X), np.diag(4 * X))


# Memory -------------------------------------------------------------------------------------------


def test_no_cycles_and_nothing_kept_after_backward() -> None:
    class Noted(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            contexts.append(weakref.ref(ctx))
            out = np.exp(x)
            ctx.save_for_backward(x, out)
            ctx.extra = [out, out * 2]
            return out, out + 1

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return (g + h) * ctx.saved_tensors[1]

    contexts: list[Any] = []
    gc.collect()
    gc.disable()
    try:
        x = tracked(X)
        y, _ = Noted.apply(x)
        y.sum().backward()
        assert contexts[0]() is None
        y, _ = Noted.apply(x)
        del y, _
        assert contexts[1]() is None
        y, _ = Noted.apply(x)
        y.sum().backward(create_graph=True)
        x.grad = None
        del y, _
        assert contexts[2]() is None
    finally:
        gc.enable()


def test_only_what_is_used_is_kept() -> None:
    class Adds(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g

    y = tracked(Y) * 1
    data = weakref.ref(y.data)
    out = Adds.apply(tracked(X), y)
    del y

    assert data() is None
    assert out.requires_grad


def test_a_write_to_an_argument_leaves_what_was_saved() -> None:
    x = tracked(X)
    y = x * 1
    z = Cube.apply(y)
    y += 100
    z.sum().backward()
    np.testing.assert_allclose(x.grad, 3 * X**2)


# Beside PyTorch -----------------------------------------------------------------------------------


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")  # PyTorch's cycle of create_graph
class TestBesidePyTorch:
    @staticmethod
    def both(program: Any) -> tuple[Any, Any]:
        torch = pytest.importorskip("torch")

        class Library(NamedTuple):
            Function: Any
            leaf: Any
            exp: Any
            ones: Any

        def leaf_of_torch(array: Any) -> Any:
            return torch.tensor(array, dtype=torch.float64, requires_grad=True)

        theirs = Library(torch.autograd.Function, leaf_of_torch, torch.exp, torch.ones)
        ours = Library(gw.Function, tracked, np.exp, np.ones)
        results: list[Any] = []
        for library in (ours, theirs):
            try:
                results.append(program(library))
            except RuntimeError as error:
                results.append(error)
        return results[0], results[1]

    @pytest.mark.parametrize("order", [1, 2, 3])
    def test_legendre_polynomial_has_the_same_derivatives(self, order: int) -> None:
        def program(library: Any) -> Any:
            class LegendrePolynomial3(library.Function):  # type: ignore[misc]  # torch's or ours
                @staticmethod
                def forward(ctx: Any, x: Any) -> Any:
                    ctx.save_for_backward(x)
                    return 0.5 * (5 * x**3 - 3 * x)

                @staticmethod
                def backward(ctx: Any, g: Any) -> Any:
                    (x,) = ctx.saved_tensors
                    return g * 1.5 * (5 * x**2 - 1)

            x = library.leaf(X.tolist())
            y = LegendrePolynomial3.apply(x)
            for again in reversed(range(order)):
                y.sum().backward(create_graph=again > 0)
                y = taken(x)
            return np.asarray(y)

        ours, theirs = self.both(program)
        np.testing.assert_allclose(ours, theirs)

    def test_double_backward_through_an_output(self) -> None:
        def program(library: Any) -> Any:
            class Exponential(library.Function):  # type: ignore[misc]  # torch's or ours
                @staticmethod
                def forward(ctx: Any, x: Any) -> Any:
                    out = library.exp(x)
                    ctx.save_for_backward(out)
                    return out

                @staticmethod
                def backward(ctx: Any, g: Any) -> Any:
                    return g * ctx.saved_tensors[0]

            x = library.leaf(X.tolist())
            (Exponential.apply(x) ** 2).sum().backward(create_graph=True)
            taken(x).sum().backward()
            return np.asarray(x.grad)

        ours, theirs = self.both(program)
        np.testing.assert_allclose(ours, theirs)
        np.testing.assert_allclose(ours, 4 * np.exp(2 * X))

    @pytest.mark.parametrize("count", [0, 2, 3])
    def test_wrong_number_of_gradients_has_pytorchs_text(self, count: int) -> None:
        def program(library: Any) -> Any:
            class Wrong(library.Function):  # type: ignore[misc]  # torch's or ours
                @staticmethod
                def forward(ctx: Any, x: Any) -> Any:
                    return x * 2

                @staticmethod
                def backward(ctx: Any, g: Any) -> Any:
                    return (g,) * count

            return Wrong.apply(library.leaf(X.tolist())).sum().backward()

        ours, theirs = self.both(program)
        text = f"returned an incorrect number of gradients (expected 1, got {count})"
        assert text in str(ours)
        assert text in str(theirs)

    def test_wrong_shape_is_an_error_where_pytorch_sums(self) -> None:
        def program(library: Any) -> Any:
            class Wrong(library.Function):  # type: ignore[misc]  # torch's or ours
                @staticmethod
                def forward(ctx: Any, x: Any) -> Any:
                    return x * 2

                @staticmethod
                def backward(ctx: Any, g: Any) -> Any:
                    return library.ones(3)

            x = library.leaf(1.0)
            Wrong.apply(x).backward()
            return x.grad.item()

        ours, theirs = self.both(program)
        assert theirs == 3.0
        assert isinstance(ours, RuleResultError)
