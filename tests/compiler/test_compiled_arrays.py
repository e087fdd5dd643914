"""How users make arrays, and write to them, in functions that are compiled."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from gradwrap.compiler.passes.from_traces import precisions_of
from gradwrap.compiler.tracing.run import trace
from gradwrap.core.values.tree import flatten
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(5)
X = RNG.standard_normal(6)
A = RNG.standard_normal((3, 4))

grad: Any = gw.grad
untyped: Any = gw


def variances(x: Any) -> Any:
    s = gnp.empty(len(x))
    s[0] = 1.0
    for t in range(1, len(x)):
        s[t] = 0.1 + 0.2 * x[t - 1] ** 2 + 0.7 * s[t - 1]
    return np.sum(np.log(s) + x**2 / s)


def partly_filled(x: Any) -> Any:
    s = gnp.empty_like(x)
    s[:] = 0.0
    s[1::2] += x[::2]
    return np.sum(s**2 * x)


def pendulum(s: Any) -> Any:
    def slope(s: Any) -> Any:
        a, b, p, q = s
        return gnp.array([p, q, -np.sin(a) + p * q, -np.sin(a - b)])

    for _ in range(20):
        s = s + 0.1 * slope(s + 0.05 * slope(s))
    return s[0] ** 2 + s[1]


def converted(x: Any) -> Any:
    x = gnp.asarray(x, dtype=float)
    y = gnp.ascontiguousarray(np.atleast_2d(x).T)
    return np.sum(y @ y.T)


def rows(a: Any) -> Any:
    found = [row / np.linalg.norm(row) for row in a]
    return np.sum(gnp.array(found) @ gnp.array(found).T * a[0, 0])


def real_parts(x: Any) -> Any:
    y: Any = gnp.zeros(len(x), dtype=complex)
    y.real = x
    y.imag = x**2
    y.imag[1:] *= 2.0
    return np.sum(np.abs(y) ** 3)


def imaginary_parts(x: Any) -> Any:
    y = x * (1.0 + 1.0j)
    y.real += x
    y.imag = 0.5
    real, imag = np.real(y), np.imag(y)
    real[1:] = x[:-1] * imag[1:]
    return np.sum(np.abs(y) ** 2 * x)


def matrix_of_parts(a: Any) -> Any:
    z = (a + 2.0j).T
    z.imag[1] = a[0, 0] * a[:, 1]
    z.real = 3.0
    return np.sum((z**3).imag)


PROGRAMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "empty": (variances, X),
    "empty_like": (partly_filled, X),
    "array of numbers": (pendulum, X[:4]),
    "asarray": (converted, X),
    "array of rows": (rows, A),
    "real and imaginary parts": (real_parts, X),
    "imaginary parts": (imaginary_parts, X),
    "parts of a transpose": (matrix_of_parts, A),
}


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_compiled(name: str, engine: str) -> None:
    f, x = PROGRAMS[name]
    function = grad(f)
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for at in (x, 1.1 * x, x.astype(np.float32), x):
            found, wanted = compiled(at), function(at)
            assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
            rounding = 1e-12 if at.dtype == np.float64 else 1e-5
            np.testing.assert_allclose(found, wanted, rtol=rounding, atol=rounding)
    assert len(compiled.programs) == 2


def test_infinities_in_the_other_part_stay() -> None:
    def f(x: Any) -> Any:
        y = x.astype(complex)
        y.imag = x
        y.real = 1.0
        return y

    compiled: Any = gw.compile(f)
    for x in (np.array([1.0, -0.0]), np.array([np.inf, np.nan])):
        assert compiled(x).tobytes() == np.asarray(f(gw.wrap(x)).detach()).tobytes()


def test_a_hessian_in_a_plain_function_keeps_its_diagonals() -> None:
    a = RNG.standard_normal((20, 20))

    def bowl(x: Any, a: Any) -> Any:
        return np.log(np.sum(np.exp(x))) + 0.5 * (x @ (a @ x))

    whole: Any = gw.compile(gw.hessian(bowl))
    inside: Any = gw.compile(lambda x, a: {"hessian": gw.hessian(bowl)(x, a)})
    x = RNG.standard_normal(20)
    for _ in range(2):
        assert np.array_equal(whole(x, a), inside(x, a)["hessian"])
    one, other = (re.sub(r"\b[tg](?=\d)", "v", made.source) for made in (whole, inside))
    assert one == other
    assert "constant" not in inside.explain()


@pytest.mark.parametrize("transform", [untyped.hessian, untyped.jacrev, untyped.jacfwd])
def test_jacobians_at_untracked_variables_are_those_at_arrays(transform: Any) -> None:
    def f(x: Any) -> Any:
        return np.cumsum(np.sin(x) * x[0])

    made = gw.vmap(lambda x: x)(X)  # an array
    at = grad(lambda y: np.sum(y**2))
    assert np.array_equal(transform(f)(made), transform(f)(gw.wrap(X)))
    assert np.array_equal(transform(lambda x: at(f(x)))(X), transform(lambda x: 2.0 * f(x))(X))


TABLE = np.arange(6.0) ** 2


def test_arrays_of_the_surroundings_are_converted_and_read_at_computed_places() -> None:
    def f(x: Any) -> Any:
        places = gnp.argsort(x)
        w = gnp.array(TABLE)
        w[0] = x[0]
        total = np.sum(TABLE[places] * x) + np.sum(w * gnp.asarray(TABLE, dtype=float))
        return total + TABLE[gnp.argmax(x)] * x[1] + np.sum(gnp.array([TABLE[1], 2.0]) * x[:2])

    compiled: Any = gw.compile(grad(f))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (X, -X, X**2):
            assert np.array_equal(compiled(x), grad(f)(x))
    assert len(compiled.programs) == 1
    assert "Missed" not in compiled.source


def test_arrays_without_axes_stay_arrays() -> None:
    def of_parts(p: Any) -> Any:
        return np.sum(np.tanh(p["w"] * p["b"])) + p["b"] ** 2

    kinds: dict[str, tuple[Callable[..., Any], Any]] = {
        "gradient": (grad(lambda x: np.sin(x) * x**2), np.array(0.5)),
        "number": (grad(lambda x: np.sin(x) * x**2), np.float64(0.5)),
        "container": (grad(of_parts), {"w": X, "b": np.array(0.3)}),
        "sum": (lambda x: (gnp.asarray(np.sum(x)), np.sum(x), x[0], x[0, ...]), X),
    }
    for function, x in kinds.values():
        compiled: Any = gw.compile(function)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                found, wanted = flatten(compiled(x))[0], flatten(function(x))[0]
                assert list(map(type, found)) == list(map(type, wanted))
                assert all(map(np.array_equal, found, wanted))


def test_decisions_of_numpy_are_branches() -> None:
    def root(a: Any) -> Any:
        x, before = a, a + 1.0
        while not np.allclose(x, before, rtol=1e-10):
            x, before = 0.5 * (x + a / x), x
        return np.sum(x) if np.array_equal(x, x * 1.0) else np.sum(a)

    compiled: Any = gw.compile(grad(root))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a in (np.array([2.0, 3.0]), np.array([2.1, 3.1]), np.array([50.0, 3.0])):
            assert np.array_equal(compiled(a), grad(root)(a))
    assert compiled.programs


def test_writes_to_views_of_what_transforms_give_are_seen() -> None:
    def f(x: Any) -> Any:
        matrix = gw.hessian(lambda x: np.sum(x**4))(x)
        row = matrix[1]
        row[:] = 0.0
        return matrix

    def remedied(x: Any) -> Any:
        matrix = gnp.array(gw.hessian(lambda x: np.sum(x**4))(x))
        row = matrix[1]
        row[:] = x
        np.fill_diagonal(matrix, matrix.diagonal() + row)
        return matrix

    compiled: Any = gw.compile(f)
    x = np.zeros(3)  # where the write changes nothing
    with pytest.warns(CompileWarning, match=r"views, or is one \(line \d+ of f\)"):
        compiled(x)
    assert np.array_equal(compiled(x + 1.0), f(x + 1.0))
    mended: Any = gw.compile(remedied)
    mended(x)
    assert np.array_equal(mended(x + 1.0), remedied(x + 1.0))
    assert mended.programs


def test_what_is_rounded_to_single_precision_is_compared_as_that() -> None:
    def f(x: Any) -> Any:
        return np.cumsum(np.exp(np.sin(x) * 3.0) / 7.0) * np.float64(1.5)

    x = RNG.standard_normal(400).astype(np.float32)
    compiled: Any = gw.compile(f, engine="c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(x)
    assert compiled(x).dtype == np.float64
    np.testing.assert_allclose(compiled(x), f(x), rtol=1e-5)


NORMS: list[tuple[Any, dict[str, Any]]] = [
    (RNG.standard_normal(7), {}),
    (RNG.standard_normal((300, 7)), {}),
    (RNG.standard_normal((5, 9)).T, {"keepdims": True}),
    (RNG.standard_normal((5, 9)), {"axis": 0}),
    (RNG.standard_normal((3, 4, 5)), {"axis": -1, "keepdims": True}),
    (RNG.standard_normal((5, 9)).astype(np.float32), {"axis": 1}),
    (RNG.standard_normal((4, 4)), {"ord": 2}),
    (RNG.standard_normal(6) * (1.0 + 2.0j), {}),
]


def test_each_result_has_the_precision_of_what_it_is_computed_of() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(y), x.astype(float) * y, x, y.astype(np.float32).astype(float), 2.0

    args = np.ones(3, np.float32), np.ones(3)
    leaves, tree = flatten((args, {}))
    double, single = np.finfo(float).eps, np.finfo(np.float32).eps
    assert precisions_of(trace(f, leaves, tree)) == [double, single, single, single, 0.0]


@pytest.mark.parametrize("number", range(len(NORMS)))
def test_norms_are_those_of_numpy_bit_by_bit(number: int) -> None:
    x, options = NORMS[number]

    def norm(x: Any) -> Any:
        return np.linalg.norm(x, **options)

    for function in (norm, grad(lambda x: np.sum(norm(x)))):
        compiled: Any = gw.compile(function)
        compiled(x)
        found, wanted = compiled(2.0 * x), function(2.0 * x)
        assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
        assert np.array_equal(found, wanted)


def normalised(a: Any) -> Any:
    v = gnp.ones(len(a))
    for _ in range(20):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v @ a @ v


@pytest.mark.parametrize(("f", "x"), [(normalised, A @ A.T), (pendulum, X[:4])])
def test_loops_with_norms_and_new_arrays_are_written_in_c(f: Callable[..., Any], x: Any) -> None:
    compiled: Any = gw.compile(grad(f), engine="c")
    compiled(x)
    np.testing.assert_allclose(compiled(1.1 * x), grad(f)(1.1 * x), rtol=1e-11)
    if "kernel0" not in compiled.explain():
        pytest.skip("there is no C compiler here")
    assert "for " not in compiled.source.partition("# The kernels:")[0]


def test_tangents_that_a_function_hands_on_are_arrays_of_their_own() -> None:
    def along(x: Any, v: Any) -> Any:
        return gw.jvp(lambda x: (x, np.sin(x), x), (x,), (v,))

    compiled = gw.compile(along)
    x, v = np.ones(3), np.ones(3)
    compiled(x, v)
    _, (first, _, last) = compiled(x, v)
    assert not np.shares_memory(first, v)
    assert not np.shares_memory(first, last)
    first[:] = 7.0
    np.testing.assert_array_equal(v, np.ones(3))


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_the_largest_of_no_elements_is_a_number(shape: tuple[int, ...]) -> None:
    compiled = gw.compile(lambda x: np.max(x, initial=2.0))
    compiled(np.zeros(shape))
    assert isinstance(compiled(np.zeros(shape)), np.float64)
    assert "runs eagerly" not in compiled.explain()


def test_read_only_arrays_without_elements_are_not_written_to() -> None:
    def function(x: Any, y: Any) -> Any:
        x = 1.0 * np.exp(x)
        x[1:] *= y[1:]
        return x * y

    y = np.full((1, 5), 2.0)
    y.flags.writeable = False
    compiled = gw.compile(function)
    compiled(y, y)
    np.testing.assert_array_equal(compiled(y, y), function(y, y))
    assert "runs eagerly" not in compiled.explain()


def test_arrays_of_the_other_byte_order_are_compiled() -> None:
    def function(x: Any, y: Any) -> Any:
        return np.sum(x * y) + np.max(y) + np.sum(x)

    gradient = gw.compile(gw.grad(function, (0, 1)))
    x, y = (np.linspace(0.0, 1.0, 5).astype(">f8") for _ in range(2))
    gradient(x, y)
    for found, wanted in zip(gradient(x, y), gw.grad(function, (0, 1))(x, y), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert "runs eagerly" not in gradient.explain()


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_negations_of_complex_arrays_have_the_same_bits(dtype: Any, order: Any) -> None:
    """The parts of an array in C's order are negated: zeros and infinities keep their signs."""
    parts = [0.0, -0.0, np.inf, -np.inf, 1.5, -2.0]
    z = np.array([[complex(a, b) for a in parts] for b in parts], dtype, order=order)
    compiled = gw.compile(lambda z: np.conj(-z) - 1)
    with np.errstate(all="ignore"):
        wanted = np.conj(-z) - 1
        for found in (compiled(z), compiled(z)):
            assert found.dtype == wanted.dtype
            assert found.tobytes() == wanted.tobytes()
    assert ("view(" in compiled.source) == (order == "C")
