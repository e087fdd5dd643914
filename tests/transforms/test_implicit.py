"""Implicit differentiation against closed forms, to higher order, and against JAX."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError, RuleResultError, TrackedValueError
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
A = np.array([[4.0, 1.0, 0.5], [0.3, 3.0, -0.2], [0.1, 0.4, 5.0]])
B = np.array([1.0, -2.0, 0.5])
V = np.array([0.3, -0.7, 1.1])


def newton(f: Any, x: Any) -> Any:
    for _ in range(30):
        x = x - f(x) / gw.grad(f)(x)
    return x


def square_root(a: Any) -> Any:
    return gw.custom_root(lambda x: x * x - a, 1.0, newton)


def by_columns(matvec: Any, b: Any) -> Any:
    """Solve by a method that no transform could look into."""
    assert type(b) is np.ndarray
    matrix = np.stack([np.asarray(matvec(row)) for row in np.eye(b.size)], axis=1)
    return np.linalg.solve(matrix, b)


def solved(matrix: Any, b: Any) -> Any:
    return gw.custom_linear_solve(lambda x: matrix @ x, b, by_columns, by_columns)


# A scalar root ------------------------------------------------------------------------------------


def test_the_value_of_a_root() -> None:
    assert square_root(2.0) == pytest.approx(np.sqrt(2.0), rel=1e-14)
    assert type(square_root(np.float64(2.0))) is np.float64


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives_of_a_root_by_reverse_mode(order: int) -> None:
    function: Any = square_root
    factor = 1.0
    for n in range(order):
        function = gw.grad(function)
        factor *= 0.5 - n
    assert function(2.0) == pytest.approx(factor * 2.0 ** (0.5 - order), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_a_root_by_forward_mode(order: int) -> None:
    def slope(f: Any) -> Callable[[Any], Any]:
        return lambda a: gw.jvp(f, (a,), (1.0,))[1]

    function: Any = square_root
    factor = 1.0
    for n in range(order):
        function = slope(function)
        factor *= 0.5 - n
    assert function(2.0) == pytest.approx(factor * 2.0 ** (0.5 - order), rel=1e-12)


def test_modes_mix() -> None:
    wanted = -0.25 * 2.0**-1.5
    assert gw.jvp(gw.grad(square_root), (2.0,), (1.0,))[1] == pytest.approx(wanted, rel=1e-12)
    slope: Callable[[Any], Any] = lambda a: gw.jvp(square_root, (a,), (1.0,))[1]
    assert gw.grad(slope)(2.0) == pytest.approx(wanted, rel=1e-12)
    out, push = gw.linearize(square_root, 2.0)
    assert push(1.0) == pytest.approx(0.5 / out, rel=1e-12)


def test_a_root_of_several_levels_at_once() -> None:
    """The residual closes over values of two transforms."""

    def outer(a: Any) -> Any:
        return gw.grad(fn(lambda b: gw.custom_root(lambda x: x * x - a * b, 1.0, newton)))(3.0)

    # sqrt(a b), once by b, then by a
    assert outer(2.0) == pytest.approx(0.5 * np.sqrt(2 / 3))
    assert gw.grad(outer)(2.0) == pytest.approx(0.25 / np.sqrt(6))
    assert gw.jvp(outer, (2.0,), (1.0,))[1] == pytest.approx(0.25 / np.sqrt(6))


def test_on_the_tape_to_higher_order() -> None:
    a: Any = gw.wrap(np.array(2.0), requires_grad=True)
    root: Any = square_root(a)
    root.backward(create_graph=True)
    first = a.grad
    assert float(gw.unwrap(first)) == pytest.approx(0.5 * 2**-0.5)
    a.grad = None
    first.backward()
    second: Any = gw.unwrap(a.grad)
    assert float(second) == pytest.approx(-0.25 * 2**-1.5)


def by_dense(linear: Any, right: Any) -> Any:
    a, b = linear(np.array([1.0, 0.0])), linear(np.array([0.0, 1.0]))
    matrix: Any = np.stack([a, b], axis=1)
    dense: Any = np.linalg
    return dense.solve(matrix, right)


def of_a_fixed_point(a: Any) -> Any:
    found: Any = gw.fixed_point(fn(lambda x: a * np.cos(x + a)), np.ones(2))
    return found


def of_a_root_of_pairs(a: Any) -> Any:
    def residual(p: Any) -> Any:
        return p[0] - a[0] * np.sin(p[1][0]), p[1] * a - 0.5 * p[0]

    def solve(f: Any, start: Any) -> Any:
        def step(p: Any) -> Any:
            return p[0] - f(p)[0], p[1] - 0.7 * f(p)[1]

        return gw.fixed_point(step, start, tol=1e-15)

    guess: Any = (np.float64(0.3), np.full(2, 0.3))
    found: Any = gw.custom_root(residual, guess, solve)
    return found[1]


def of_a_linear_solve(a: Any) -> Any:
    def matvec(x: Any) -> Any:
        return np.stack([a[0] * x[0] + x[1], x[0] + a[1] ** 2 * x[1]])

    return gw.custom_linear_solve(matvec, a * 2.0, by_dense, symmetric=True)


MIXED = [of_a_fixed_point, of_a_root_of_pairs, of_a_linear_solve]
"""Functions whose derivative in the closure depends on the solution."""


@pytest.mark.parametrize("f", MIXED)
def test_the_tapes_higher_derivatives_are_those_of_nested_transforms(f: Any) -> None:
    def nested(f: Any) -> Any:
        return gw.grad(fn(lambda a: np.sum(f(a) * np.array([1.0, 2.0]))))

    point = np.array([0.6, 0.8])
    a: Any = gw.wrap(point, requires_grad=True)
    found: Any = f(a)
    for _ in range(3):
        f = nested(f)
        (found,) = gw.autograd.grad([np.sum(found * np.array([1.0, 2.0]))], [a], create_graph=True)
        np.testing.assert_allclose(gw.unwrap(found), f(point), rtol=1e-9)


def test_a_user_solver_of_the_tangent_system() -> None:
    """As in JAX's documentation: `y / g(1.0)` for scalars."""

    def root(a: Any) -> Any:
        return gw.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))

    assert gw.grad(root)(8.0) == pytest.approx(1 / 12)
    assert gw.grad(gw.grad(root))(8.0) == pytest.approx(-2 / 9 * 8 ** (-5 / 3))
    assert gw.jvp(root, (8.0,), (1.0,))[1] == pytest.approx(1 / 12)


def test_nothing_is_recorded_where_nothing_is_tracked() -> None:
    assert type(gw.unwrap(square_root(gw.wrap(np.array(2.0))))) is not gw.Variable
    a: Any = gw.wrap(np.array(2.0), requires_grad=True)
    with gw.no_grad():
        root: Any = square_root(a)
    assert not getattr(root, "requires_grad", False)
    assert gw.grad(lambda a: a * square_root(2.0))(1.0) == pytest.approx(np.sqrt(2.0))


# Fixed points of arrays and trees -----------------------------------------------------------------


def fixed_point(g: Callable[[Any], Any], guess: Any) -> Any:
    def iterate(f: Any, x: Any) -> Any:
        for _ in range(200):
            x = x + f(x)
        return x

    return gw.custom_root(lambda x: g(x) - x, guess, iterate)


def test_a_fixed_point_of_an_array() -> None:
    def found(w: Any, b: Any) -> Any:
        return np.sum(fixed_point(lambda x: 0.3 * np.tanh(w @ x + b), np.zeros(3)) * V)

    def unrolled(w: Any, b: Any) -> Any:
        x = np.zeros(3)
        for _ in range(200):
            x = 0.3 * np.tanh(w @ x + b)
        return np.sum(x * V)

    w = A / 5
    assert found(w, B) == pytest.approx(unrolled(w, B), rel=1e-12)
    for ours, theirs in zip(
        gw.grad(found, (0, 1))(w, B), gw.grad(unrolled, (0, 1))(w, B), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    second = gw.jvp(gw.grad(found), (w, B), (A, V))[1]
    expected = gw.jvp(gw.grad(unrolled), (w, B), (A, V))[1]
    np.testing.assert_allclose(second, expected, rtol=1e-7)
    gw.testing.check_grads(found, [w, B])


def test_a_root_that_is_a_tree() -> None:
    def found(a: Any) -> Any:
        def f(x: Any) -> Any:
            return {"p": x["p"] ** 2 - a, "q": [x["q"][0] + x["p"][0] * a[1] - 3.0]}

        def solve(f: Any, x: Any) -> Any:
            root = np.sqrt(
                2 * np.ones(2) + f({"p": np.sqrt(2) * np.ones(2), "q": x["q"]})["p"] * -1
            )
            return {"p": root, "q": [-f({"p": root, "q": [np.array(0.0)]})["q"][0]]}

        guess = {"p": np.ones(2), "q": [np.array(0.0)]}
        return gw.custom_root(f, guess, solve)

    a = np.array([2.0, 7.0])
    out = found(a)
    np.testing.assert_allclose(out["p"], np.sqrt(a))
    assert out["q"][0] == pytest.approx(3 - np.sqrt(2.0) * 7)
    gradient = gw.grad(fn(lambda a: found(a)["q"][0]))(a)
    np.testing.assert_allclose(gradient, [-7 / (2 * np.sqrt(2)), -np.sqrt(2)])
    _, tangent = gw.jvp(found, (a,), (np.array([1.0, 10.0]),))
    np.testing.assert_allclose(tangent["p"], np.array([1.0, 10.0]) / (2 * np.sqrt(a)))
    assert tangent["q"][0] == pytest.approx(-7 / (2 * np.sqrt(2)) - 10 * np.sqrt(2))


def test_single_precision_and_another_library() -> None:
    gradient = gw.grad(square_root)(np.float32(2.0))
    assert gradient.dtype == np.float32
    assert float(gradient) == pytest.approx(0.5 * 2**-0.5, rel=1e-6)

    def total(a: Any) -> Any:
        xp = a.__array_namespace__()

        def solve(f: Any, x: Any) -> Any:
            for _ in range(60):
                x = x - 0.2 * f(x)
            return x

        return xp.sum(gw.custom_root(lambda x: x * x - a, xp.ones_like(a), solve))

    a = strict.asarray([2.0, 3.0], device=strict.Device("device1"))
    found: Any = gw.grad(total)(a)
    assert found.device == a.device
    np.testing.assert_allclose([float(v) for v in found], 0.5 / np.sqrt([2.0, 3.0]), rtol=1e-7)


def test_under_vmap() -> None:
    def root(a: Any) -> Any:
        def solve(f: Any, x: Any) -> Any:
            for _ in range(80):
                x = x - 0.2 * f(x)
            return x

        return gw.custom_root(lambda x: x * x - a, a, solve, lambda g, y: y / g(y * 0 + 1.0))

    a = np.array([2.0, 3.0])
    np.testing.assert_allclose(gw.vmap(root)(a), np.sqrt(a))
    np.testing.assert_allclose(gw.vmap(gw.grad(root))(a), 0.5 / np.sqrt(a))


def coupled(a: Any) -> Any:
    """The root of a system of two equations that has no closed form."""

    def f(x: Any) -> Any:
        return np.stack([x[0] + 0.2 * np.sin(x[1]) - a[0], x[1] + 0.3 * x[0] ** 2 - a[1]])

    def iterate(f: Any, x: Any) -> Any:
        for _ in range(80):
            x = x - f(x)
        return x

    return gw.custom_root(f, np.zeros(2), iterate)


POINTS = np.array([[0.1, 0.4], [0.5, -0.3], [-0.2, 0.2]])


def test_of_a_vmap_from_outside() -> None:
    def total(f: Any) -> Any:
        return fn(lambda a: np.sum(gw.vmap(f)(a)))

    a = np.array([4.0, 9.0])
    np.testing.assert_allclose(gw.grad(total(square_root))(a), 0.5 * a**-0.5)
    np.testing.assert_allclose(gw.jacfwd(gw.vmap(square_root))(a), np.diag(0.5 * a**-0.5))
    hessian = gw.hessian(total(square_root))(a)
    np.testing.assert_allclose(hessian, np.diag(-0.25 * a**-1.5), atol=1e-14)
    third = gw.jacrev(gw.hessian(total(square_root)))(a)
    np.testing.assert_allclose(third[[0, 1], [0, 1], [0, 1]], 0.375 * a**-2.5)


def test_of_a_vmap_from_both_sides() -> None:
    a = np.array([4.0, 9.0])
    slopes = gw.vmap(gw.grad(square_root))
    np.testing.assert_allclose(gw.jacrev(slopes)(a), np.diag(-0.25 * a**-1.5), atol=1e-14)
    np.testing.assert_allclose(gw.jacfwd(slopes)(a), np.diag(-0.25 * a**-1.5), atol=1e-14)
    nested = gw.vmap(gw.vmap(square_root))
    found = gw.grad(fn(lambda a: np.sum(nested(a))))(a[None, :])
    np.testing.assert_allclose(found, 0.5 * a[None, :] ** -0.5)


def test_of_a_system_under_vmap() -> None:
    one_by_one = [gw.jacrev(coupled)(a) for a in POINTS]
    np.testing.assert_allclose(gw.vmap(gw.jacrev(coupled))(POINTS), one_by_one, rtol=1e-12)
    np.testing.assert_allclose(gw.vmap(gw.jacfwd(coupled))(POINTS), one_by_one, rtol=1e-12)
    outside = gw.jacrev(gw.vmap(coupled))(POINTS)
    for i, block in enumerate(one_by_one):
        np.testing.assert_allclose(outside[i, :, i, :], block, rtol=1e-12)
    weights = np.array([1.0, -2.0])
    curved = [gw.hessian(fn(lambda a: coupled(a) @ weights))(a) for a in POINTS]
    mapped = gw.vmap(gw.hessian(fn(lambda a: coupled(a) @ weights)))(POINTS)
    np.testing.assert_allclose(mapped, curved, rtol=1e-10)
    total = gw.hessian(fn(lambda a: np.sum(gw.vmap(coupled)(a) @ weights)))(POINTS)
    for i, block in enumerate(curved):
        np.testing.assert_allclose(total[i, :, i, :], block, rtol=1e-10)


def test_values_of_the_solver_are_kept_under_vmap() -> None:
    def rough(a: Any) -> Any:
        return gw.custom_root(lambda x: x * x - a, 1.0, lambda f, x: x * 0 + 2.25)

    a = np.array([5.0, 6.0])
    value, _ = gw.value_and_grad(fn(lambda a: np.sum(gw.vmap(rough)(a))))(a)
    assert value == 4.5


def test_linear_solve_of_a_vmap_from_outside() -> None:
    def dense(matvec: Any, b: Any) -> Any:
        matrix = np.stack([matvec(row) for row in np.eye(3)], axis=1)
        return ANY.linalg.solve(matrix, b)

    def total(matrix: Any, rows: Any) -> Any:
        def one(b: Any) -> Any:
            return gw.custom_linear_solve(lambda x: matrix @ x, b, dense, dense)

        return np.sum(gw.vmap(one)(rows) ** 2)

    def plain(matrix: Any, rows: Any) -> Any:
        return np.sum(ANY.linalg.solve(matrix, rows.T) ** 2)

    rows = np.stack([B, V])
    for found, wanted in zip(
        gw.grad(total, (0, 1))(A, rows), gw.grad(plain, (0, 1))(A, rows), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


# Linear systems -----------------------------------------------------------------------------------


def test_a_linear_solve_is_differentiated_as_the_table_does() -> None:
    wanted: Any
    found, pull = gw.vjp(solved, A, B)
    wanted, back = gw.vjp(np.linalg.solve, A, B)
    np.testing.assert_allclose(found, wanted)
    for ours, theirs in zip(pull(V), back(V), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    tangent = gw.jvp(solved, (A, B), (A * A, V))[1]
    np.testing.assert_allclose(tangent, gw.jvp(np.linalg.solve, (A, B), (A * A, V))[1], rtol=1e-12)
    gw.testing.check_grads(solved, [A, B])


def test_a_symmetric_system_needs_one_solver() -> None:
    matrix = A + A.T

    def total(scale: Any, b: Any) -> Any:
        x = gw.custom_linear_solve(lambda x: scale * (matrix @ x), b, by_columns, symmetric=True)
        return np.sum(x * V)

    gw.testing.check_grads(total, [2.0, B])
    solution = np.linalg.solve(2 * matrix, B)
    by_scale, by_b = gw.grad(total, (0, 1))(2.0, B)
    assert by_scale == pytest.approx(-V @ solution / 2)
    np.testing.assert_allclose(by_b, np.linalg.solve(2 * matrix, V))


def test_each_derivative_is_one_more_solve() -> None:
    count = 0

    def counting(matvec: Any, b: Any) -> Any:
        nonlocal count
        count += 1
        return by_columns(matvec, b)

    def total(matrix: Any) -> Any:
        x = gw.custom_linear_solve(lambda x: matrix @ x, B, counting, counting)
        return np.sum(x * V)

    gw.grad(total)(A)
    assert count == 2
    count = 0
    gw.jvp(total, (A,), (A,))
    assert count == 2


def test_complex_systems() -> None:
    matrix, right = A + 0.5j * A.T, B + 1j * V
    found = gw.vjp(solved, matrix, right)[1](V + 0.2j * B)
    wanted = gw.vjp(np.linalg.solve, matrix, right)[1](V + 0.2j * B)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_memory_is_released_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        x: Any = gw.wrap(A.copy(), requires_grad=True)
        out: Any = solved(x, B)
        node = weakref.ref(out._node)
        np.sum(out).backward()
        del out
        assert node() is None
    finally:
        gc.enable()


# What is refused ----------------------------------------------------------------------------------


def test_reverse_mode_needs_the_transposed_solver() -> None:
    one: Callable[[Any], Any] = lambda b: gw.custom_linear_solve(fn(lambda x: A @ x), b, by_columns)
    np.testing.assert_allclose(gw.jvp(one, (B,), (V,))[1], np.linalg.solve(A, V))
    with pytest.raises(NoRuleError) as caught:
        gw.vjp(one, B)[1](V)
    assert str(caught.value) == (
        "custom_linear_solve of <lambda> has no transpose_solve, which reverse mode needs. Fix: "
        "pass one, or symmetric=True where matvec is its own transpose."
    )


@pytest.mark.parametrize(
    ("f", "solve", "message"),
    rows(
        [
            (
                lambda x: x,
                lambda f, x: (x, x),
                (
                    "solve returned the structure (*, *); the right-hand side or guess has a lone "
                    "array. Fix: return that structure, None where all of it is zero."
                ),
            ),
            (
                lambda x: x,
                lambda f, x: np.ones(2),
                (
                    "solve returned an array of shape (2,); the right-hand side or guess has shape "
                    "(3,). Fix: return that shape; sum over the axes that were broadcast."
                ),
            ),
            (
                lambda x: np.sum(x),
                lambda f, x: x,
                (
                    "the function returned an array of shape (); the solution has shape (3,). "
                    "Fix: return that shape; sum over the axes that were broadcast."
                ),
            ),
        ]
    ),
)
def test_results_of_another_space(f: Any, solve: Any, message: str) -> None:
    with pytest.raises(RuleResultError) as caught:
        gw.custom_root(f, B, solve)
    assert str(caught.value) == f"custom_root of <lambda>: {message}"


@pytest.mark.parametrize("keeps", ["argument", "result"])
def test_what_the_function_keeps_of_its_calls_is_refused(keeps: str) -> None:
    def kept(a: Any) -> Any:
        last: list[Any] = []

        def f(x: Any) -> Any:
            last.append(x if keeps == "argument" else x * x * a)
            return x * x - a

        gw.custom_root(f, 1.0, newton)
        return last[-1] + a

    def constant(a: Any) -> Any:
        return gw.stop_gradient(kept(a)) + a

    words = "a result depends on what the function that custom_root of f was given has kept"
    runs: Any = rows(
        [
            lambda f: gw.grad(f)(2.0),
            lambda f: gw.jvp(f, (2.0,), (1.0,))[1],
            lambda f: gw.linearize(f, 2.0)[1](1.0),
            lambda f: gw.grad(gw.grad(f))(2.0) + 1.0,
            lambda f: gw.vmap(gw.grad(f))(np.array([2.0]))[0],
        ]
    )
    for run in runs:
        with pytest.raises(TrackedValueError, match=words):
            run(kept)
        assert run(constant) == 1.0


def test_function_that_returns_what_it_has_kept_is_refused() -> None:
    def root(a: Any) -> Any:
        last: list[Any] = []

        def f(x: Any) -> Any:
            last.append(x)
            return x * x - (a if len(last) == 1 else 2.0)

        def solve(f: Any, x: Any) -> Any:
            return np.sqrt(2.0) + 0.0 * f(x)

        return gw.custom_root(f, 1.0, solve)

    with pytest.raises(RuleResultError, match="custom_root of f: at the solution, the function's"):
        gw.grad(lambda a: root(a) + a)(2.0)


def test_matvec_of_another_structure() -> None:
    with pytest.raises(RuleResultError, match=r"matvec returned the structure \(\*, \*\); b has"):
        gw.custom_linear_solve(lambda x: (x, x), B, lambda f, b: b)  # type: ignore[arg-type, return-value]  # on purpose


# Against JAX --------------------------------------------------------------------------------------


@pytest.mark.peers
def test_the_same_source_in_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def program(lib: Any, root: Any, solve: Any, np_: Any) -> list[Any]:
        def iterate(f: Any, x: Any) -> Any:
            for _ in range(30):
                x = x + f(x)
            return x

        def tangent(g: Any, y: Any) -> Any:
            x = y
            for _ in range(40):  # Richardson's iteration
                x = x + 0.5 * (y + g(x) * -1) * -1
            return x

        def by_iteration(matvec: Any, b: Any) -> Any:
            x = b
            for _ in range(70):
                x = x + 0.2 * (b - matvec(x))
            return x

        def loss(w: Any, b: Any) -> Any:
            x = root(fn(lambda x: 0.2 * np_.cos(w @ x + b) - x), 0 * B, iterate, tangent)
            y = solve(fn(lambda v: A @ v + x[0] * v), x * b, by_iteration, by_iteration)
            return np_.sum(y * y)

        first = lib.grad(loss, (0, 1))(A / 5, B)
        second = lib.grad(fn(lambda w: np_.sum(lib.grad(loss, 1)(w, B) * V)))(A / 5)
        pushed = lib.jvp(loss, (A / 5, B), (A, V))[1]
        return [loss(A / 5, B), *first, second, pushed]

    found = program(gw, gw.custom_root, gw.custom_linear_solve, np)
    wanted = program(jax, jax.lax.custom_root, jax.lax.custom_linear_solve, jax.numpy)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-7)
