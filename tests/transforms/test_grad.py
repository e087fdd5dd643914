"""`grad`, `value_and_grad`, `elementwise_grad`, `stop_gradient`: values, types, forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([0.3, -1.2, 2.0])
Y = np.array([1.5, 0.5, -0.7])


def same(actual: Any, expected: Any) -> None:
    """Assert equal type, dtype and shape, and equal values but for rounding."""
    assert type(actual) is type(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)


# Values and types of the result -------------------------------------------------------------------


def test_gradient_of_unmodified_numpy_code() -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.tanh(x) ** 2) + np.linalg.norm(x)

    tanh = np.tanh(X)
    same(gw.grad(loss)(X), 2 * tanh * (1 - tanh**2) + X / np.linalg.norm(X))


def test_value_and_grad() -> None:
    value, gradient = gw.value_and_grad(fn(lambda x: np.sum(x**3)))(X)
    same(value, np.sum(X**3))
    same(gradient, 3 * X**2)


@pytest.mark.parametrize(
    ("x", "gradient"),
    [
        (3.0, np.float64(6.0)),
        (3, np.float64(6.0)),
        (np.float64(3.0), np.float64(6.0)),
        (np.float32(3.0), np.float32(6.0)),
        (np.float16(3.0), np.float16(6.0)),
        (np.array(3.0), np.array(6.0)),
        (np.array(3.0, dtype=np.float32), np.array(6.0, dtype=np.float32)),
    ],
    ids=["float", "int", "float64", "float32", "float16", "0-d", "0-d float32"],
)
def test_a_number_gives_a_number_and_an_array_an_array(x: Any, gradient: Any) -> None:
    same(gw.grad(lambda x: x * x)(x), gradient)
    same(gw.grad(np.square)(x), gradient)
    same(gw.grad(lambda x: 2.0 * x + x * (x - 2.0))(x), gradient)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
def test_dtype_is_kept(dtype: Any) -> None:
    x = X.astype(dtype)
    functions: tuple[Callable[[Any], Any], ...] = (
        lambda x: np.sum(np.abs(x) ** 2),
        lambda x: ANY.mean((x * x.conj()).real),
        lambda x: np.sum((x * np.ones(3)).real),  # meets float64 on the way
    )
    for fun in functions:
        gradient = gw.grad(fun)(x)
        assert gradient.dtype == dtype
        assert gradient.shape == (3,)


def test_gradients_with_respect_to_arguments_of_two_dtypes() -> None:
    a, b = gw.grad(fn(lambda a, b: np.sum(a * b)), (0, 1))(X.astype(np.float32), Y)
    same(a, Y.astype(np.float32))
    same(b, X.astype(np.float32).astype(np.float64))


def test_of_another_library() -> None:
    x = strict.asarray([0.5, 2.0], dtype=strict.float32)

    def loss(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.sum(xp.exp(x) * x)

    gradient: Any = gw.grad(loss)(x)
    assert isinstance(gradient, type(x))
    assert gradient.dtype == strict.float32
    expected = np.exp([0.5, 2.0]) * np.array([1.5, 3.0])
    np.testing.assert_allclose(np.from_dlpack(gradient), expected, rtol=1e-6)


def test_broadcast_argument() -> None:
    row, column = gw.grad(fn(lambda r, c: np.sum(r * c**2)), (0, 1))(X, np.ones((4, 1)))
    same(row, np.full(3, 4.0))
    same(column, np.full((4, 1), 2 * X.sum()))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (1, 1, 1)])
def test_empty_and_unit_shapes(shape: tuple[int, ...]) -> None:
    same(gw.grad(lambda x: np.sum(np.sin(x)))(np.zeros(shape)), np.ones(shape))


# What is differentiated ---------------------------------------------------------------------------


def formula(x: Any, y: Any, z: Any = 1.0) -> Any:
    return x * y**2 * z


@pytest.mark.parametrize(
    ("argnums", "args", "kwargs", "expected"),
    [
        (0, (2.0, 3.0), {}, 9.0),
        (1, (2.0, 3.0), {}, 12.0),
        (-1, (2.0, 3.0), {}, 12.0),
        (-2, (2.0, 3.0), {}, 9.0),
        ("y", (2.0, 3.0), {}, 12.0),
        ("y", (2.0,), {"y": 3.0}, 12.0),
        ("z", (2.0, 3.0), {"z": 5.0}, 18.0),
        ((0, 1), (2.0, 3.0), {}, (9.0, 12.0)),
        ([1, 0], (2.0, 3.0), {}, (12.0, 9.0)),
        ((0,), (2.0, 3.0), {}, (9.0,)),
        ((0, "z"), (2.0, 3.0), {"z": 1.0}, (9.0, 18.0)),
        (("x", "y"), (), {"x": 2.0, "y": 3.0}, (9.0, 12.0)),
        ((0, 0), (2.0, 3.0), {}, (9.0, 9.0)),
        ((0, "x", -2), (2.0, 3.0), {}, (9.0, 9.0, 9.0)),
        ((), (2.0, 3.0), {}, ()),
    ],
)
def test_argnums(argnums: Any, args: Any, kwargs: Any, expected: Any) -> None:
    assert gw.grad(formula, argnums)(*args, **kwargs) == expected
    value_and_grad: Any = gw.value_and_grad
    value, gradient = value_and_grad(formula, argnums)(*args, **kwargs)
    assert value == formula(*args, **kwargs)
    assert gradient == expected


def test_varargs_and_keyword_only() -> None:
    def fun(*xs: Any, scale: Any, **more: Any) -> Any:
        return scale * sum(x**2 for x in xs) + more.get("shift", 0.0)

    assert gw.grad(fun, 1)(1.0, 2.0, scale=3.0) == 12.0
    assert gw.grad(fun, "scale")(1.0, 2.0, scale=3.0) == 5.0
    assert gw.grad(fun, "shift")(1.0, scale=3.0, shift=1.0) == 1.0


def test_arrays_passed_by_keyword_enter_wrapped() -> None:
    seen: list[str] = []

    def fun(x: Any, *, a: Any, options: Any) -> Any:
        seen.extend(type(v).__name__ for v in (x, a, options["b"], options["name"]))
        return np.sum(x * a * options["b"])

    gradient = gw.grad(fun)(X, a=Y, options={"b": Y, "name": "linear"})
    same(gradient, Y * Y)
    assert seen == ["Variable", "Variable", "Variable", "str"]


def test_arguments_that_are_no_arrays_pass_through() -> None:
    objects = np.array([{"a": 1}, None], dtype=object)
    words = np.array(["a", "b"])
    marker = object()

    def fun(x: Any, *rest: Any) -> Any:
        assert rest[0] is objects
        assert rest[1] is words
        assert rest[2] is marker
        assert rest[3:] == (None, "relu", 3, True)
        return np.sum(x) * rest[5]

    same(gw.grad(fun)(X, objects, words, marker, None, "relu", 3, True), np.full(3, 3.0))


def test_an_integer_array_outside_argnums_is_data() -> None:
    labels = np.array([2, 0])
    same(gw.grad(fn(lambda x, i: np.sum(x[i])), 0)(X, labels), np.array([1.0, 0.0, 1.0]))


# has_aux, holomorphic, complex --------------------------------------------------------------------


def test_aux_comes_back_without_wrappers() -> None:
    def fun(x: Any) -> Any:
        return np.sum(x**2), {"twice": 2 * x, "name": "run", "count": 3}

    gradient, aux = gw.grad(fun, has_aux=True)(X)
    same(gradient, 2 * X)
    same(aux["twice"], 2 * X)
    assert aux["name"] == "run"
    assert aux["count"] == 3
    (value, aux), gradient = gw.value_and_grad(fun, has_aux=True)(X)
    same(value, np.sum(X**2))
    same(aux["twice"], 2 * X)
    same(gradient, 2 * X)


def test_gradient_of_a_real_function_of_a_complex_argument_ascends() -> None:
    z = np.array([1 + 2j, -0.5j])
    same(gw.grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z)
    same(gw.grad(lambda z: np.sum(z.real * 3 + z.imag * 5))(z), np.full(2, 3 + 5j))


def test_real_argument_of_a_complex_computation_has_a_real_gradient() -> None:
    same(gw.grad(lambda x: np.sum(np.abs(x * (1 + 1j)) ** 2))(X), 4 * X)


def test_holomorphic() -> None:
    z = np.array([1 + 2j])
    same(gw.grad(lambda z: z[0] ** 3, holomorphic=True)(z), 3 * z**2)
    assert gw.grad(np.exp, holomorphic=True)(1j) == np.exp(1j)
    inner = gw.grad(fn(lambda z: z**3), holomorphic=True)
    assert gw.grad(inner, holomorphic=True)(2j) == 12j


# Zeros, buffers -----------------------------------------------------------------------------------


def test_unused_argument_has_zeros() -> None:
    a, b = gw.grad(fn(lambda a, b: np.sum(a)), (0, 1))(X, np.ones((2, 2), dtype=np.float32))
    same(a, np.ones(3))
    same(b, np.zeros((2, 2), dtype=np.float32))
    same(gw.grad(lambda x: 3.0)(X), np.zeros(3))
    same(gw.grad(lambda x: np.float64(3.0))(2.0), np.float64(0.0))
    same(gw.grad(lambda x: np.sum(np.floor(x)))(X), np.zeros(3))
    zeros: Any = gw.grad(fn(lambda x, y: y))(strict.zeros(2, dtype=strict.float32), 1.0)
    assert zeros.dtype == strict.float32
    assert zeros.shape == (2,)


@pytest.mark.parametrize(
    "fun",
    rows(
        [
            lambda a, b: np.sum(a + b),
            lambda a, b: np.sum(a - b),
            lambda a, b: np.sum(a.reshape(3) + b),
            lambda a, b: np.sum(np.concatenate([a, b])),
            lambda a, b: np.sum(a[:] + b[...]),
            lambda a, b: np.sum(a * b),
        ]
    ),
)
def test_every_gradient_has_a_buffer_of_its_own(fun: Any) -> None:
    a, b = X.copy(), Y.copy()
    once = gw.grad(fun, (0, 1))(a, b)
    twice = gw.grad(fun, (0, 1, 0))(a, b)
    arrays = [a, b, *once, *twice]
    assert all(g.flags.writeable and g.flags.owndata for g in (*once, *twice))
    for i, left in enumerate(arrays):
        for right in arrays[i + 1 :]:
            assert not np.shares_memory(left, right)


def test_gradient_does_not_alias_a_cotangent_or_an_input() -> None:
    cotangent = np.ones(3)
    _, pull = gw.vjp(lambda a, b: a + b, X, Y)
    a, b = pull(cotangent)
    assert not np.shares_memory(a, cotangent)
    assert not np.shares_memory(a, b)
    x, y = X.copy(), Y.copy()
    (gradient,) = gw.vjp(lambda x: x * y, x)[1](np.ones(3))
    assert not np.shares_memory(gradient, y)
    gradient += 1
    np.testing.assert_array_equal(y, Y)


def test_the_callers_arrays_are_never_written_to() -> None:
    x = X.copy()
    x.flags.writeable = False

    def fun(x: Any) -> Any:
        x *= 2
        x[0] = 5.0
        return np.sum(x**2)

    same(gw.grad(fun)(x), np.array([0.0, *(8 * X[1:])]))
    np.testing.assert_array_equal(x, X)
    data = X.copy()

    def writes_to_another_argument(x: Any, data: Any) -> Any:
        data += x
        return np.sum(data**2)

    same(gw.grad(writes_to_another_argument)(X, data), 4 * X)
    np.testing.assert_array_equal(data, X)


def test_writing_to_the_argument_keeps_its_gradient() -> None:
    def fun(x: Any) -> Any:
        y = x * 1.0
        x[1] = 0.0
        return np.sum(x * y)

    same(gw.grad(fun)(X), np.array([2 * X[0], 0.0, 2 * X[2]]))


# elementwise_grad, stop_gradient ------------------------------------------------------------------


def test_elementwise_grad() -> None:
    same(gw.elementwise_grad(np.tanh)(X), 1 - np.tanh(X) ** 2)
    same(gw.elementwise_grad(gw.elementwise_grad(np.sin))(X), -np.sin(X))
    same(gw.elementwise_grad(np.multiply, 1)(X, Y), X)
    a, b = gw.elementwise_grad(fn(lambda a, b: a * b**2), (0, 1))(X, Y)
    same(a, Y**2)
    same(b, 2 * X * Y)
    same(gw.elementwise_grad(lambda x: (x**2, {"b": 3 * x}))(X), 2 * X + 3)
    same(gw.elementwise_grad(lambda x: x * 0.5)(2.0), np.float64(0.5))


def test_stop_gradient() -> None:
    same(gw.grad(fn(lambda x: np.sum(x * gw.stop_gradient(x))))(X), X)
    stopped = gw.grad(fn(lambda x: np.sum(gw.stop_gradient({"a": [x, None, "b"]})["a"][0] * x)))
    same(stopped(X), X)
    assert gw.stop_gradient(3.0) == 3.0
    assert gw.stop_gradient(X) is X


def test_stop_gradient_stops_every_level() -> None:
    def inner(x: Any) -> Any:
        return gw.grad(fn(lambda y: y * gw.stop_gradient(x * y)))(x)

    assert gw.grad(inner)(3.0) == 0.0


# The function -------------------------------------------------------------------------------------


def test_keeps_name_and_docstring() -> None:
    def loss(x: Any) -> Any:
        """The loss."""
        return np.sum(x)

    for transformed in (gw.grad(loss), gw.value_and_grad(loss), gw.elementwise_grad(loss)):
        assert transformed.__name__ == "loss"
        assert transformed.__doc__ == "The loss."


def test_callables_of_every_kind() -> None:
    class Model:
        def __init__(self, w: Any) -> None:
            self.w = w

        def __call__(self, x: Any) -> Any:
            return self.w * x**2

        def method(self, x: Any) -> Any:
            return self.w * x**3

        @staticmethod
        @gw.grad
        def static(x: Any) -> Any:
            return x**2

    from functools import partial

    model = Model(3.0)
    assert gw.grad(model)(2.0) == 12.0
    assert gw.grad(model.method)(2.0) == 36.0
    assert Model.static(2.0) == 4.0
    assert gw.grad(partial(formula, 2.0))(3.0) == 12.0
    assert gw.grad(np.sin)(0.0) == 1.0


def test_control_flow_is_ordinary_python() -> None:
    def fun(x: Any) -> Any:
        while x < 100:
            x = x * x if x > 1 else x + 1
        return x

    assert gw.grad(fun)(3.0) == (2 * 3) * (2 * 9) * (2 * 81)
    assert gw.grad(lambda x: x**2 if x > 0 else -x)(3.0) == 6.0
    assert gw.grad(lambda x: x**2 if x > 0 else -x)(-3.0) == -1.0


def test_integers_beside_argnums_stay_the_librarys_own() -> None:
    table = {10: 1.0, 12: 3.0}  # as other packages, it takes plain integers for keys
    kinds: list[type] = []

    def f(x: Any, places: Any, named: Any, *, chosen: Any) -> Any:
        kinds.extend(map(type, (places, named["flags"], chosen)))
        return (
            np.sum(x * [table[int(place)] for place in places]) * named["scale"][0] + x[chosen][0]
        )

    places, named = np.array([10, 12]), {"flags": np.array([True]), "scale": np.array([2.0])}
    x, chosen = np.ones(2), np.array([1])
    found = gw.grad(f)(x, places, named, chosen=chosen)
    np.testing.assert_array_equal(found, [2.0, 7.0])
    np.testing.assert_array_equal(
        gw.vjp(fn(lambda x: f(x, places, named, chosen=chosen)), x)[1](1.0)[0], found
    )
    _, pushed = gw.jvp(lambda x, places: f(x, places, named, chosen=chosen), (x, places), (x, None))
    assert pushed == 9.0
    assert set(kinds) == {np.ndarray}


def test_numbers_beside_argnums_stay_plain_and_arrays_of_floats_can_be_written_to() -> None:
    kinds: list[type] = []

    def f(x: Any, power: Any, scale: Any, work: Any, *, shift: Any) -> Any:
        kinds.extend(map(type, (power, scale, shift)))
        work[0] = x[0] ** power * scale
        return np.sum(work) + shift

    given = (np.array([3.0]), 2.0, np.float64(5.0), np.zeros(2))
    assert gw.grad(f)(*given, shift=1.5) == [30.0]
    assert gw.jacfwd(f)(*given, shift=1.5) == [30.0]
    rest = given[1:]
    mapped = gw.vmap(fn(lambda x: gw.grad(f)(x, *rest, shift=1.5)))
    assert mapped(given[0][None]) == 30.0
    assert kinds == [float, np.float64, float] * 3

    def numbered(x: Any, best: Any) -> Any:
        best[0] = np.argmax(x)
        return best * 1

    found = gw.vmap(numbered, (0, None))(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([5, 6]))
    np.testing.assert_array_equal(found, [[1, 6], [0, 6]])


KEPT: dict[str, Any] = {}


def _of_the_last_call(x: Any) -> Any:
    if "x" not in KEPT or np.any(np.abs(KEPT["x"] - x) > 1e-12):
        KEPT["x"], KEPT["sum"] = x.copy(), np.sum(x**3)
    return KEPT["sum"] * x[0]


@pytest.mark.parametrize("transform", [gw.grad, gw.jacrev, gw.value_and_grad])
def test_what_an_earlier_call_has_left_is_refused(transform: Any) -> None:
    x = np.array([1.0, 2.0])
    for _ in range(2):
        KEPT.clear()
        np.testing.assert_allclose(gw.grad(_of_the_last_call)(x), [12.0, 12.0])
        with pytest.raises(gw.errors.TrackedValueError, match=r"of_the_last_call .*\.detach\(\)"):
            transform(_of_the_last_call)(x)


def test_a_history_is_no_part_of_the_result() -> None:
    x = np.array([1.0, 2.0])
    history: list[Any] = []

    def noting(x: Any) -> Any:
        history.append(np.sum(x**2))
        return history[-1], list(history)

    for _ in range(2):
        np.testing.assert_allclose(gw.grad(noting, has_aux=True)(x)[0], 2 * x)
