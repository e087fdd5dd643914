"""`jacrev`, `jacfwd`, `jacobian`, `hessian`, `hvp`: layout, trees, closed forms, and bad input."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
import gradwrap.numpy as gnp
from gradwrap.core.observing.progress import Progress
from gradwrap.transforms import stretches
from lambdas import fn

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
X = np.array([0.3, 1.2, 2.0])
A = np.arange(6.0).reshape(2, 3) + 0.5
MODES = [gw.jacrev, gw.jacfwd, gw.jacobian]
modes = pytest.mark.parametrize("jac", MODES, ids=lambda jac: jac.__name__)
Jac = Any


def exactly(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found, wanted)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@modes
def test_axes_are_those_of_the_output_then_of_the_argument(jac: Jac) -> None:
    found = jac(fn(lambda x: np.tanh(A @ x)))(X)
    close(found, (1 - np.tanh(A @ X) ** 2)[:, None] * A)
    found = jac(fn(lambda m: m.T * 2.0))(A)
    assert found.shape == (3, 2, 2, 3)
    exactly(found, 2 * np.einsum("il,jk->ijkl", np.eye(3), np.eye(2)))
    exactly(jac(np.sum)(A), np.ones((2, 3)))
    assert jac(np.sin)(0.0) == 1.0
    exactly(jac(fn(lambda t: t * X))(2), X)


@modes
@pytest.mark.parametrize("chunk_size", [1, 2, 3, 100, None])
def test_chunks_of_any_size_give_the_same(jac: Jac, chunk_size: int | None) -> None:
    def function(p: Any) -> Any:
        return {"y": p["w"] @ p["x"], "z": np.sum(p["x"]) * p["x"][:2]}

    p = {"w": A, "x": X}
    found = jac(function, chunk_size=chunk_size)(p)
    exactly(found["y"]["w"], np.einsum("ij,k->ijk", np.eye(2), X))
    exactly(found["y"]["x"], A)
    exactly(found["z"]["w"], np.zeros((2, 2, 3)))
    close(found["z"]["x"], np.outer(X[:2], np.ones(3)) + X.sum() * np.eye(2, 3))
    close(
        gw.hessian(fn(lambda x: np.sum(x) ** 3), chunk_size=chunk_size)(X),
        np.full((3, 3), 6 * X.sum()),
    )


@modes
def test_argnums_are_positions_names_or_sequences(jac: Jac) -> None:
    def function(x: Any, y: Any, *, scale: Any) -> Any:
        return x * y * scale

    y = X + 1
    d_x, d_y, d_scale = np.diag(y * 2.0), np.diag(X * 2.0), X * y
    close(jac(function)(X, y, scale=2.0), d_x)
    close(jac(function, 1)(X, y, scale=2.0), d_y)
    close(jac(function, -1)(X, y, scale=2.0), d_y)
    close(jac(function, "y")(X, y=y, scale=2.0), d_y)
    close(jac(function, "scale")(X, y, scale=2.0), d_scale)
    several = jac(function, ["scale", 0, 0])(X, y, scale=2.0)
    for found, wanted in zip(several, (d_scale, d_x, d_x), strict=True):
        close(found, wanted)
    assert type(several) is tuple
    (only,) = jac(function, (1,))(X, y, scale=2.0)
    close(only, d_y)


@modes
def test_integer_arguments_and_names_are_left_alone(jac: Jac) -> None:
    found = jac(fn(lambda p, i: p["x"][i] * 2.0))(
        {"x": X, "name": "x", "no": None}, np.array([2, 0])
    )
    exactly(found["x"], 2 * np.eye(3)[[2, 0]])
    assert (found["name"], found["no"]) == (None, None)


@modes
def test_aux_is_handed_on(jac: Jac) -> None:
    found, aux = jac(fn(lambda x: (x * x, {"sum": np.sum(x), "n": 3})), has_aux=True)(X)
    exactly(found, np.diag(2 * X))
    assert aux == {"sum": X.sum(), "n": 3}
    assert type(aux["sum"]) is np.float64
    found, aux = gw.hessian(fn(lambda x: (np.sum(x**3), x[0] * 2)), has_aux=True)(X)
    close(found, np.diag(6 * X))
    assert aux == 0.6


@modes
def test_outputs_that_do_not_depend_on_the_argument_have_zeros(jac: Jac) -> None:
    found = jac(fn(lambda x: (np.ones(2), x, gw.stop_gradient(x))))(X)
    exactly(found[0], np.zeros((2, 3)))
    exactly(found[1], np.eye(3))
    exactly(found[2], np.zeros((3, 3)))
    first, second = jac(fn(lambda x, y: x * 2.0), (0, 1))(X, A)
    exactly(first, 2 * np.eye(3))
    exactly(second, np.zeros((3, 2, 3)))
    exactly(gw.hessian(fn(lambda x: np.sum(2.0 * x)))(X), np.zeros((3, 3)))
    exactly(gw.hessian(fn(lambda x: 1.0 + 0 * np.sum(x)))(X), np.zeros((3, 3)))


@modes
def test_outputs_without_derivative_have_zeros(jac: Jac) -> None:
    exactly(jac(fn(lambda x: (np.argmax(x), np.stack([x, x]) > 1)))(X)[0], np.zeros(3))
    exactly(jac(fn(lambda x: (x, x > 1)), chunk_size=2)(X)[1], np.zeros((3, 3)))


@modes
def test_empty_arrays_give_empty_jacobians(jac: Jac) -> None:
    assert jac(fn(lambda x: x[:0]))(X).shape == (0, 3)
    assert jac(fn(lambda x: np.concatenate([x, X])))(np.zeros(0)).shape == (3, 0)
    assert jac(fn(lambda x: x[:0]), chunk_size=2)(X).shape == (0, 3)
    assert jac(fn(lambda x: np.concatenate([x, X])), chunk_size=2)(np.zeros(0)).shape == (3, 0)


@modes
def test_float32_stays(jac: Jac) -> None:
    found = jac(fn(lambda x: np.sin(x) * 2.0))(X.astype(np.float32))
    assert found.dtype == np.float32
    assert gw.hessian(fn(lambda x: np.sum(x**3)))(X.astype(np.float32)).dtype == np.float32


@modes
def test_holomorphic_functions_have_complex_jacobians(jac: Jac) -> None:
    z = X + 1j * X[::-1]
    m = A + 1j * A[::-1]
    found = jac(fn(lambda z: m @ z**2), holomorphic=True)(z)
    close(found, m * 2 * z)
    close(gw.hessian(fn(lambda z: np.sum(z**3)), holomorphic=True)(z), np.diag(6 * z))


def test_complex_outputs_of_real_arguments_have_columns_but_no_rows() -> None:
    close(gw.jacfwd(fn(lambda x: np.exp(1j * x)))(X), np.diag(1j * np.exp(1j * X)))
    with pytest.raises(gw.errors.NonScalarOutputError, match="jacrev needs real outputs; <lambda>"):
        gw.jacrev(fn(lambda x: np.exp(1j * x)))(X)
    z = X + 1j
    rows = gw.jacrev(fn(lambda z: np.abs(z) ** 2))(z)
    close(rows, np.diag(2 * z))  # each the direction of steepest ascent, as `grad` gives it
    with pytest.raises(gw.errors.NonDifferentiableInputError, match="jacfwd needs real arguments"):
        gw.jacfwd(fn(lambda z: np.abs(z) ** 2))(z)


@modes
def test_code_in_place_and_kinked_functions_have_jacobians(jac: Jac) -> None:
    def function(x: Any) -> Any:
        out = gnp.zeros(4)
        out[:3] = x
        out[3] = np.max(x) * x[0]
        out *= np.where(out > 1, out, 1.0)
        return out

    at = X[0] * X[2]
    slope = np.diag([1.0, 2 * X[1], 2 * X[2]])
    close(jac(function)(X), [*slope, [X[2], 0.0, X[0]]])
    assert at < 1


@modes
def test_results_have_their_own_buffers(jac: Jac) -> None:
    first, second = jac(fn(lambda x: (x * 2.0, np.sum(x) * X)))(X)
    first[:] = 0
    close(second, np.outer(X, np.ones(3)))
    assert first.flags.writeable
    assert second.flags.writeable


@modes
def test_array_api_strict_arrays_have_jacobians(jac: Jac) -> None:
    x = strict.asarray(X)

    def function(x: Any) -> Any:
        xp = x.__array_namespace__()
        return {"a": xp.sin(x), "b": xp.sum(x**2), "c": xp.stack([x[0] * x, x])}

    found = jac(function)(x)
    assert type(found["a"]) is type(x)
    close(np.asarray(found["a"]), np.diag(np.cos(X)))
    close(np.asarray(found["b"]), 2 * X)
    first = X[0] * np.eye(3)
    first[:, 0] += X
    close(np.asarray(found["c"]), [first, np.eye(3)])
    hessian = gw.hessian(fn(lambda x: x.__array_namespace__().sum(x**3)))(x)
    close(np.asarray(hessian), np.diag(6 * X))


# Hessians -----------------------------------------------------------------------------------------


def test_hessian_of_a_tree_is_a_tree_of_trees() -> None:
    def loss(p: Any, s: Any) -> Any:
        return s * np.sum(p["w"] @ p["x"]) + np.sum(p["x"] ** 3)

    found = gw.hessian(loss)({"w": A, "x": X}, 2.0)
    exactly(found["w"]["w"], np.zeros((2, 3, 2, 3)))
    exactly(found["w"]["x"], np.broadcast_to(2 * np.eye(3), (2, 3, 3)))
    exactly(found["x"]["w"], np.broadcast_to(2 * np.eye(3)[:, None], (3, 2, 3)))
    close(found["x"]["x"], np.diag(6 * X))
    pair = gw.hessian(fn(lambda x, y: np.sum(x**2 * y)), (0, 1))(X, X + 1)
    close(pair[0][0], np.diag(2 * (X + 1)))
    close(pair[0][1], np.diag(2 * X))
    exactly(pair[1][1], np.zeros((3, 3)))


def test_hessian_of_a_vector_has_an_axis_for_each_output() -> None:
    found = gw.hessian(fn(lambda x: np.stack([np.sum(x**2), x[0] * x[1]])))(X)
    close(found[0], 2 * np.eye(3))
    exactly(found[1], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_hvp_is_the_hessian_times_a_vector() -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.tanh(np.outer(x, x))) + np.sum(x) ** 3

    v = np.array([1.0, -2.0, 0.5])
    close(gw.hvp(loss, X, v), gw.hessian(loss)(X) @ v)
    assert type(gw.hvp(loss, X, v)) is np.ndarray
    (product,) = gw.hvp(loss, (X,), (v,))
    close(product, gw.hvp(loss, X, v))
    assert gw.hvp(fn(lambda x: x**3), 2.0, 1.0) == 12.0


def test_hvp_of_trees_and_of_several_arguments() -> None:
    found = gw.hvp(
        fn(lambda p: np.sum(p["x"] ** 3) * p["s"]), {"x": X, "s": 2.0}, {"x": X, "s": 1.0}
    )
    close(found["x"], 12 * X * X + 3 * X**2)
    close(found["s"], np.sum(3 * X**3))
    d_x, d_y = gw.hvp(fn(lambda x, y: np.sum(x * y**2)), (X, X + 1), (np.ones(3), np.zeros(3)))
    exactly(d_x, np.zeros(3))
    close(d_y, 2 * (X + 1))


# Bad input ----------------------------------------------------------------------------------------


def vector(x: Any) -> Any:
    return x * x


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gw.hvp(vector, X, X), "NonScalarOutputError", r"vector returned .* \(3,\)"),
        (lambda: gw.hvp(np.sum, X, X[:2]), "TangentError", r"is float64\[2\], the primal is"),
        (lambda: gw.hvp(np.sum, (X,), (X, X)), "TangentError", "1 primals and 2 tangents"),
        (lambda: gw.hvp(np.sum, (X,), X), "TangentError", "takes its tangents as a tuple"),
        (lambda: gw.hvp(np.sum, {"x": X}, {"y": X}), "TangentError", "has the structure"),
        (lambda: gw.jacrev(vector)(np.arange(3)), "NonDifferentiableInputError", "x has dtype int"),
        (lambda: gw.jacfwd(vector)(np.arange(3)), "NonDifferentiableInputError", "x has dtype int"),
        (lambda: gw.jacobian(vector)(np.arange(3)), "NonDifferentiableInputError", "dtype int"),
        (lambda: gw.hessian(vector)(np.arange(3)), "NonDifferentiableInputError", "dtype int"),
        (lambda: gw.jacrev(vector, 1)(X), "ArgnumsError", "argnums=1 is out of range: vector"),
        (lambda: gw.jacfwd(vector, "y")(X), "ArgnumsError", r"names no parameter of vector\(x\)"),
        (lambda: gw.jacrev(fn(lambda x: "text"))(X), "NotAnArrayError", "<lambda> returned a str"),
        (lambda: gw.jacfwd(fn(lambda x: "text"))(X), "NotAnArrayError", "<lambda> returned a str"),
        (lambda: gw.jacrev(vector, has_aux=True)(X), "NotAnArrayError", "a pair"),
        (lambda: gw.jacfwd(vector, has_aux=True)(X), "NotAnArrayError", "a pair"),
    ],
)
def test_bad_input_is_an_error_that_names_it(call: Any, kind: str, message: str) -> None:
    with pytest.raises(getattr(gw.errors, kind), match=message):
        call()


@modes
def test_chunk_size_below_one_is_an_error(jac: Jac) -> None:
    with pytest.raises(ValueError, match=r"chunk_size=0\. Fix: give a positive number of rows"):
        jac(vector, chunk_size=0)(X)


# Progress -----------------------------------------------------------------------------------------


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record each line of progress, without tqdm."""
    shown: list[str] = []

    class Recorded(Progress):
        def show(self, step: int, text: Any) -> None:
            shown.append(f"{self._what}: {step} of {self._total}, {text()}")

    monkeypatch.setattr(stretches, "Progress", Recorded)
    return shown


@pytest.mark.parametrize("transform", [gw.jacrev, gw.jacfwd, gw.jacobian])
def test_progress_shows_the_stretches(transform: Any, lines: list[str]) -> None:
    def f(x: Any) -> Any:
        gw.jacobian(np.sin)(np.ones(3))  # what the function computes itself shows nothing
        return np.sin(x) * np.sum(x)

    x = np.linspace(0.0, 1.0, 40)
    whole = transform(f)(x)
    assert not lines
    np.testing.assert_array_equal(transform(f, progress=True)(x), whole)
    name = transform.__name__
    assert lines == [f"{name} of f: {k} of 20, {2 * k} of 40 rows or columns" for k in range(1, 21)]
    lines.clear()
    np.testing.assert_array_equal(transform(f, progress=True, chunk_size=25)(x), whole)
    ends = [25, 40]
    wanted = [f"{name} of f: {k + 1} of 2, {ends[k]} of 40 rows or columns" for k in range(2)]
    assert lines == wanted


def test_progress_of_a_hessian_and_of_several_arguments(lines: list[str]) -> None:
    x = np.linspace(0.0, 1.0, 4)
    found = gw.hessian(fn(lambda x: np.sum(x**3)), progress=True)(x)
    np.testing.assert_allclose(found, np.diag(6 * x))
    assert lines[-1] == "hessian of <lambda>: 4 of 4, 4 of 4 rows or columns"
    lines.clear()
    a, b = gw.jacrev(fn(lambda a, b: a * b), (0, 1), progress=True)(x, 2 * x)
    np.testing.assert_array_equal(a, np.diag(2 * x))
    np.testing.assert_array_equal(b, np.diag(x))
    assert len(lines) == 4


def test_progress_of_a_sparse_jacobian(lines: list[str]) -> None:
    pytest.importorskip("scipy")
    found = gw.jacobian(np.square, sparsity=np.eye(3), progress=True)(np.arange(3.0))
    np.testing.assert_array_equal(found.toarray(), np.diag([0.0, 2.0, 4.0]))
    assert lines


def test_progress_ends_with_an_error(lines: list[str]) -> None:
    def fails(x: Any) -> Any:
        raise KeyError(x.shape)

    with pytest.raises(KeyError):
        gw.jacfwd(fails, progress=True)(np.ones(2))
    gw.jacfwd(np.square)(np.ones(2))
    assert not lines


@modes
def test_arguments_that_are_not_differentiated_stay_what_they_are(jac: Jac) -> None:
    """A variable among them has its methods, and what is written to it is the caller's."""
    y = gw.wrap(np.ones(3))

    def function(x: Any, y: Any, *, z: Any) -> Any:
        y[0] = 7.0
        return x * y.detach() + z.detach()

    x = gw.wrap(np.arange(3.0))
    found = jac(function)(x, y, z=gw.wrap(np.ones(3)))
    exactly(found, np.diag([7.0, 1.0, 1.0]))
    exactly(y.data, [7.0, 1.0, 1.0])
