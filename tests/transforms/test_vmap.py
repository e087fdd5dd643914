"""`vmap`: axes, trees, code that writes in place, functions without a rule, and bad input."""

from __future__ import annotations

import math
import warnings
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
import gradwrap.numpy as gnp
from lambdas import fn, rows

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing
ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([0.3, 1.2, 2.0])
A = np.arange(6.0).reshape(2, 3) + 0.5
error = gw.errors.VmapAxesError


LIST: Any = [1.0, 2.0, 3.0]


def exactly(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found, wanted)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


# Axes and trees -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("out", [0, 1, -1, -2])
def test_any_axis_goes_in_and_comes_out(axis: int, out: int) -> None:
    found = gw.vmap(fn(lambda row: row * np.sum(row)), axis, out)(A)
    rows = np.moveaxis(A, axis, 0)
    exactly(found, np.moveaxis(rows * rows.sum(axis=1, keepdims=True), 0, out))


def test_in_axes_are_a_tuple_a_list_or_nested_prefixes() -> None:
    exactly(gw.vmap(np.multiply, (0, None))(X, 2.0), 2 * X)
    exactly(gw.vmap(np.multiply, [0, None])(X, 2.0), 2 * X)

    def linear(p: Any, x: Any) -> Any:
        return p["layers"][0][0] @ x + p["layers"][0][1] + p["bias"]

    params = {"layers": [(A.T, np.ones(3))], "bias": 0.5}
    x = np.arange(8.0).reshape(2, 4)
    found = gw.vmap(linear, (None, 1), 1)(params, x)
    exactly(found, A.T @ x + 1.5)
    axes = ({"layers": [(1, None)], "bias": None}, None)
    found = gw.vmap(linear, axes)({**params, "layers": [(np.stack([A.T] * 5, 1), X)]}, x[:, 0])
    exactly(found, [A.T @ x[:, 0] + X + 0.5] * 5)
    whole = gw.vmap(fn(lambda p: p["a"] + p["b"][0]))({"a": X, "b": (X,)})
    exactly(whole, 2 * X)


def test_keywords_are_mapped_over_their_first_axis() -> None:
    exactly(gw.vmap(fn(lambda a, b: a * b))(X, b=X), X**2)

    def doubled(**named: Any) -> Any:
        return named["a"]["x"] * 2.0

    exactly(gw.vmap(doubled)(a={"x": X, "name": "x"}), 2 * X)


def test_results_are_trees_with_axes_of_their_own() -> None:
    found = gw.vmap(fn(lambda a: {"row": a, "sum": (np.sum(a), None, "text", 2.0)}), out_axes=0)(A)
    exactly(found["row"], A)
    total, nothing, text, number = found["sum"]
    exactly(total, A.sum(axis=1))
    assert (nothing, text) == (None, "text")
    exactly(number, [2.0, 2.0])
    first, second = gw.vmap(fn(lambda a: (a, {"x": a})), out_axes=(0, {"x": 1}))(A)
    exactly(first, A)
    exactly(second["x"], A.T)


def test_results_that_do_not_depend_on_the_example_are_repeated_or_not() -> None:
    exactly(gw.vmap(fn(lambda a: np.ones(2)))(A), np.ones((2, 2)))
    exactly(gw.vmap(fn(lambda a: 5.0))(A), [5.0, 5.0])
    assert gw.vmap(fn(lambda a: 5.0), out_axes=None)(A) == 5.0
    mapped, shared = gw.vmap(fn(lambda a, b: (a * b, b)), (0, None), (0, None))(X, 3.0)
    exactly(mapped, 3 * X)
    assert shared == 3.0


def test_integers_bools_and_other_dtypes_are_mapped_too() -> None:
    found = gw.vmap(fn(lambda i, b: ANY.where(b, i * 2, i)))(
        np.arange(3), np.array([True, False, True])
    )
    assert found.dtype == np.int64
    exactly(found, [0, 1, 4])
    single = gw.vmap(fn(lambda x: x * 2.0 + 1))(X.astype(np.float32))
    assert single.dtype == np.float32
    z = A + 1j * A[::-1]
    close(
        gw.vmap(fn(lambda row: np.sum(np.abs(row) ** 2) + row[0]))(z),
        [np.sum(np.abs(row) ** 2) + row[0] for row in z],
    )


def test_empty_batch_gives_empty_results() -> None:
    empty = np.zeros((0, 3))
    assert gw.vmap(fn(lambda row: np.sum(np.sin(row))))(empty).shape == (0,)
    assert gw.vmap(gw.grad(fn(lambda row: np.sum(np.sin(row)))))(empty).shape == (0, 3)
    assert gw.vmap(fn(lambda row: row[:0]))(A).shape == (2, 0)
    with pytest.raises(gw.errors.BatchedValueError, match=r"no examples: np\.nanmedian"):
        gw.vmap(np.nanmedian, fallback="loop")(empty)


def test_arguments_and_results_share_no_buffer() -> None:
    same = gw.vmap(fn(lambda row: row))(A)
    assert not np.shares_memory(same, A)
    shared = gw.vmap(fn(lambda a, row: row), (0, None))(X, X)
    shared[0] = 7.0
    exactly(shared[1], X)


def test_nested_vmap_maps_over_both_axes() -> None:
    exactly(gw.vmap(gw.vmap(fn(lambda x: x * x)))(A), A * A)
    outer = gw.vmap(gw.vmap(fn(lambda x, y: x * y), (None, 0)), (0, None))
    exactly(outer(X, A[0]), np.outer(X, A[0]))
    exactly(gw.vmap(gw.vmap(np.sum, 0), 2)(np.ones((2, 3, 4))), np.full((4, 2), 3.0))


def test_the_function_sees_one_example() -> None:
    def look(row: Any) -> Any:
        assert (row.shape, row.ndim, row.size, len(row), row.T.shape) == ((3,), 1, 3, 3, (3,))
        assert (np.shape(row), np.ndim(row), np.size(row)) == ((3,), 1, 3)
        assert row.dtype == np.float64
        assert not np.iscomplexobj(row)
        assert np.result_type(row, np.float32) == np.float64
        a, b, c = row
        return a * b + c + row.sum() + row.mean() + row.reshape(3, 1).T.ravel()[1] + row.max()

    wanted = [r[0] * r[1] + r[2] + r.sum() + r.mean() + r[1] + r.max() for r in A]
    close(gw.vmap(look)(A), wanted)
    close(gw.vmap(fn(lambda row: sum(e * e for e in row)))(A), np.sum(A**2, axis=1))


def test_gradients_of_each_example_are_those_of_a_loop() -> None:
    random = np.random.default_rng(0)
    params = {"w": random.normal(size=(3, 2)), "b": random.normal(size=2)}
    x, y = random.normal(size=(5, 3)), random.normal(size=(5, 2))

    def loss(p: Any, x: Any, y: Any) -> Any:
        return np.sum((np.tanh(x @ p["w"] + p["b"]) - y) ** 2)

    found = gw.vmap(gw.grad(loss), (None, 0, 0), fallback="error")(params, x, y)
    for i in range(5):
        wanted = gw.grad(loss)(params, x[i], y[i])
        close(found["w"][i], wanted["w"])
        close(found["b"][i], wanted["b"])
    mean = gw.grad(fn(lambda p: ANY.mean(gw.vmap(loss, (None, 0, 0))(p, x, y))))(params)
    close(mean["w"], found["w"].mean(axis=0))


def test_choices_between_examples_are_made_by_where_and_select() -> None:
    def clipped(x: Any) -> Any:
        return ANY.where(x > 1, x * x, -x)

    exactly(gw.vmap(clipped, fallback="error")(X), np.where(X > 1, X * X, -X))
    exactly(gw.vmap(gw.grad(clipped), fallback="error")(X), np.where(X > 1, 2 * X, -1.0))
    found = gw.vmap(fn(lambda x: np.select([x > 1.5, x > 0.5], [x * 2, x * 3], 0.0)))(X)
    exactly(found, [0.0, 3 * 1.2, 4.0])


# Writing ------------------------------------------------------------------------------------------


def fill(row: Any) -> Any:
    out = gnp.zeros(3)
    out[0] = row[0]
    for i in range(1, 3):
        out[i] = out[i - 1] * row[i]
    return out


def through_views(m: Any) -> Any:
    m = m.copy()
    row = m[1]
    row *= 3.0
    row[0] = m[0, 1] * 2
    m += 1
    m[:, 0] -= m[:, 2]
    m.T[1] **= 2
    return m


@pytest.mark.parametrize(("function", "one"), [(fill, X), (through_views, A)])
def test_code_that_writes_in_place_is_that_of_a_loop(function: Any, one: Any) -> None:
    batch = np.stack([one, one * 0.7, one + 0.1])
    kept = batch.copy()
    close(gw.vmap(function, fallback="error")(batch), [function(b) for b in batch])

    def loss(x: Any) -> Any:
        return np.sum(function(x) ** 2)

    wanted = [gw.grad(loss)(b) for b in batch]
    close(gw.vmap(gw.grad(loss), fallback="error")(batch), wanted)
    close(gw.grad(fn(lambda b: np.sum(gw.vmap(loss)(b))))(batch), wanted)
    close(gw.jacfwd(loss)(one), wanted[0])
    close(gw.jacrev(function)(one), gw.jacfwd(function)(one))
    exactly(batch, kept)


def test_a_mapped_value_is_written_to_an_array_that_is_not() -> None:
    def write(value: Any, at: Any) -> Any:
        base = at.copy()
        base[1] = value
        base[2] += value
        return base

    exactly(gw.vmap(write, (0, None))(X, np.ones(3)), [[1.0, x, 1 + x] for x in X])


def test_in_place_operators_on_an_argument_leave_the_callers_array() -> None:
    def change(x: Any) -> Any:
        x += 1
        x *= 2
        return x

    for array in (X.copy(), A.copy()):
        kept = array.copy()
        exactly(gw.vmap(change)(array), (kept + 1) * 2)
        exactly(array, kept)


# Functions without a batching rule ----------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    rows(
        [
            np.nanmedian,
            lambda r: np.quantile(r, [0.2, 0.7]),
            np.unique,
            lambda r: np.histogram(r, bins=2, range=(0, 6))[0],
            lambda r: ANY.interp(r, [0.0, 3.0, 6.0], [0.0, 1.0, 0.0]),
            lambda r: ANY.ptp(r) + ANY.nanmean(r),
        ]
    ),
    ids=["median", "quantile", "unique", "histogram", "interp", "ptp"],
)
def test_functions_of_numpy_without_a_rule_run_example_by_example(function: Any) -> None:
    close(gw.vmap(function, fallback="loop")(A), [function(row) for row in A])


def test_the_loop_says_so_is_silent_or_an_error() -> None:
    with pytest.warns(gw.errors.VmapFallbackWarning, match="np.nanmedian has no batching rule"):
        exactly(gw.vmap(np.nanmedian)(A), [1.5, 4.5])
    with pytest.raises(gw.errors.VmapFallbackError, match=r"np\.nanmedian has no batching rule"):
        gw.vmap(np.nanmedian, fallback="error")(A)
    with pytest.raises(error, match=r"fallback='never'\. Fix: give one of 'error', 'warn', 'loop'"):
        gw.vmap(np.nanmedian, fallback="never")


def test_the_loop_is_differentiated() -> None:
    def total(a: Any) -> Any:
        return np.sum(gw.vmap(np.nanmedian, fallback="loop")(a) ** 2)

    exactly(gw.grad(total)(A), [[0, 3, 0], [0, 9, 0]])
    exactly(gw.jvp(total, (A,), (np.ones_like(A),))[1], 12.0)


@pytest.mark.parametrize("q", [0.5, 0.3, [0.25, 0.6], [[0.1], [0.9]]])
def test_quantiles_are_batched(q: Any) -> None:
    rows = np.random.default_rng(5).normal(size=(4, 6))
    rows[2, 3] = np.nan
    close(gw.vmap(fn(lambda row: np.quantile(row, q)), fallback="error")(rows), one_by_one(rows, q))

    def total(row: Any) -> Any:
        return np.sum(np.quantile(row, q) ** 2)

    mapped = gw.vmap(gw.grad(total), fallback="error")(rows)
    np.testing.assert_allclose(mapped, [gw.grad(total)(row) for row in rows], rtol=1e-14)


def one_by_one(rows: Any, q: Any) -> Any:
    return np.stack([np.quantile(row, q) for row in rows])


def test_the_loop_in_a_nested_vmap_runs_over_both() -> None:
    batch = np.random.default_rng(0).normal(size=(2, 4, 3))
    found = gw.vmap(gw.vmap(np.nanmedian, fallback="loop"), fallback="loop")(batch)
    exactly(found, np.nanmedian(batch, axis=-1))


def test_results_of_different_shapes_are_an_error() -> None:
    with pytest.raises(gw.errors.BatchedValueError, match=r"np\.unique gives results of different"):
        gw.vmap(np.unique, fallback="loop")(np.array([[1.0, 1.0], [1.0, 2.0]]))


def test_a_primitive_of_the_user_runs_example_by_example() -> None:
    def one(x: Any) -> Any:
        assert x.shape == (3,)
        return x * x

    square = gw.primitive(one)
    gw.defvjp(square, fn(lambda xp, g, x: 2 * x * g))

    exactly(gw.vmap(square, fallback="loop")(A), A * A)
    slopes = gw.vmap(gw.grad(fn(lambda x: np.sum(square(x)))), fallback="loop")(A)
    exactly(slopes, 2 * A)
    outside = gw.grad(fn(lambda a: np.sum(gw.vmap(square, fallback="loop")(a))))(A)
    exactly(outside, 2 * A)
    with pytest.warns(gw.errors.VmapFallbackWarning, match="one has no batching rule"):
        gw.vmap(square)(A)


# Other libraries ----------------------------------------------------------------------------------


def test_array_api_strict_arrays_are_mapped() -> None:
    a = strict.asarray(A)

    def loss(row: Any) -> Any:
        xp = row.__array_namespace__()
        scaled = xp.asarray(row, copy=True)
        scaled[0] = row[1] * 2.0
        return xp.sum(scaled**3) + xp.max(row)

    found = gw.vmap(loss, fallback="error")(a)
    assert type(found) is type(a)
    close(np.asarray(found), [(2 * r[1]) ** 3 + r[1] ** 3 + r[2] ** 3 + r[2] for r in A])
    gradient = gw.vmap(gw.grad(loss), fallback="error")(a)
    assert type(gradient) is type(a)
    close(np.asarray(gradient), [[0, 27 * r[1] ** 2, 3 * r[2] ** 2 + 1] for r in A])
    picked = gw.vmap(fn(lambda r, i: r.__array_namespace__().take(r, i)))(
        a, strict.asarray([[0, 1], [2, 2]])
    )
    exactly(np.asarray(picked), [[0.5, 1.5], [5.5, 5.5]])


# Bad input ----------------------------------------------------------------------------------------


def test_sizes_that_differ_are_an_error_that_names_the_arguments() -> None:
    with pytest.raises(error, match=r"inconsistent sizes .*: a has 3, b\['w'\]\[0\] has 2\. Fix"):
        gw.vmap(fn(lambda a, b: a))(X, {"w": [A]})


@pytest.mark.parametrize(
    ("in_axes", "args", "message"),
    [
        (2, (X,), r"in_axes of a is 2, which is out of range for its shape \(3,\)"),
        (-2, (X,), r"in_axes of a is -2, which is out of range for its shape \(3,\)"),
        (0, (2.0,), "a is a float, which has no axis to map over"),
        (0, (np.float64(2.0),), r"out of range for its shape \(\)"),
        ("0", (X,), "in_axes of a is '0'. Fix: give an int or None"),
        ((0, 0), (X,), "in_axes has 2 entries, and function was called with 1 positional"),
        (({"y": 0},), ({"x": X},), "in_axes of a is no prefix of it: .*expected key"),
        (((0, 0),), (X,), "in_axes of a is no prefix of it"),
        (None, (X,), "vmap of function has nothing to map over: every entry of in_axes is None"),
    ],
)
def test_in_axes_that_do_not_fit_are_an_error(in_axes: Any, args: Any, message: str) -> None:
    def function(a: Any) -> Any:
        return a

    with pytest.raises(error, match=message):
        gw.vmap(function, in_axes)(*args)


@pytest.mark.parametrize(
    ("out_axes", "message"),
    [
        (None, "out_axes is None for a result of function that depends on the example"),
        (2, r"out_axes is 2, which is out of range .* of shape \(\).*axis from -1 to 0"),
        ((0, 0), "out_axes is no prefix of what function returned"),
        ("0", "out_axes is '0' for a result of function. Fix: give an int"),
    ],
)
def test_out_axes_that_do_not_fit_are_an_error(out_axes: Any, message: str) -> None:
    def function(a: Any) -> Any:
        return a

    with pytest.raises(error, match=message):
        gw.vmap(function, out_axes=out_axes)(X)


@pytest.mark.parametrize(
    ("function", "message"),
    rows(
        [
            (
                lambda a: a if a > 1 else -a,
                r"the truth of a value that vmap .*where\(condition, a, b\)",
            ),
            (lambda a: max(a, 0.0), "the truth of a value that vmap maps over"),
            (lambda a: a and 1.0, "the truth of a value that vmap maps over"),
            (
                float,
                r"float\(\) .*of a value that vmap maps over: it stands for 3 examples. Fix: use",
            ),
            (int, r"int\(\) .*of a value that vmap maps over: it stands for 3 examples"),
            (complex, r"complex\(\) of a value that vmap maps over: it stands for 3 examples"),
            (lambda a: a.item(), "the values of an array that vmap maps over are needed here"),
            (lambda a: a.tolist(), "the values of an array that vmap maps over are needed here"),
            (lambda a: a.data, "the values of an array that vmap maps over are needed here"),
            (np.asarray, "Converting to a plain numpy.ndarray .* of a value that vmap maps over"),
        ]
    ),
)
def test_one_value_for_all_examples_is_an_error(function: Any, message: str) -> None:
    with pytest.raises(gw.errors.BatchedValueError, match=message):
        gw.vmap(function)(X)


@pytest.mark.parametrize(
    ("function", "message"),
    rows(
        [
            (lambda i: range(i), "Use as an index of a value that vmap maps over"),
            (lambda i: LIST[i], r"Use as an index .*gradwrap\.wrap\(array\)"),
            (lambda i: X[i], r"Converting to a plain numpy.ndarray .*gradwrap\.wrap\(array\)"),
            (lambda i: gw.wrap(X)[i : i + 1], r"a slice from or to an index .*start \+ xp\.arange"),
            (lambda i: gw.wrap(X)[gw.wrap(X) > i], "a boolean index that vmap maps over"),
        ]
    ),
)
def test_index_that_cannot_be_mapped_is_an_error(function: Any, message: str) -> None:
    with pytest.raises(gw.errors.BatchedValueError, match=message):
        gw.vmap(function)(np.array([0, 1, 2]))


@pytest.mark.parametrize("subject", [np.float32(0.7), np.array(0.7), X])
def test_a_plain_array_at_a_mask_of_each_example_is_an_error(subject: Any) -> None:
    """NumPy's numbers replace the error of a conversion by one of their own."""
    message = r"Converting to a plain numpy.ndarray .*gradwrap\.wrap\(array\)"
    function = fn(lambda x: np.sum(subject[x > 0.5] * x))
    with pytest.raises(gw.errors.BatchedValueError, match=message):
        gw.vmap(gw.grad(function))(X)


@pytest.mark.parametrize(
    "question",
    [
        fn(lambda x: np.allclose(x, 1.0)),
        fn(lambda x: np.array_equal(x, np.ones(3))),
        fn(lambda x: np.array_equiv(x, x)),
    ],
)
def test_questions_that_numpy_answers_by_a_bool_are_answered_for_each_example(
    question: Any,
) -> None:
    x = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
    found = gw.vmap(question, fallback="loop")(x)
    np.testing.assert_array_equal(found, [question(row) for row in x])
    chosen = gw.vmap(fn(lambda row: 1.0 if question(row) else 2.0), fallback="loop")(x)
    np.testing.assert_array_equal(chosen, [1.0 if question(row) else 2.0 for row in x])


def test_views_of_examples_share_their_memory() -> None:
    def told(x: Any) -> Any:
        assert np.shares_memory(x, x[1:])
        assert np.may_share_memory(x.T, x)
        assert not np.shares_memory(x, x[1:] + 0.0)
        return x

    gw.vmap(told)(np.ones((2, 3)))
    gw.grad(fn(lambda x: np.sum(told(x * 1.0))))(np.ones(3))


# One example after the other, under a transform ---------------------------------------------------

KNOTS = np.linspace(-3.0, 3.0, 9)
ONE_BY_ONE: dict[str, Any] = {
    "interp": fn(lambda x: ANY.interp(x, KNOTS, np.sin(KNOTS)) ** 2),
    "interp of values": fn(lambda x: ANY.interp([0.1, 0.5], ANY.sort(x**2), x)),
    "partition": fn(lambda x: ANY.partition(x, 2)[:3] ** 3),
    "modf": fn(lambda x: ANY.modf(2.0 * x)[0] ** 2),
    "piecewise": fn(lambda x: ANY.piecewise(x, [x < 0], [np.negative, np.square])),
    "lstsq": fn(lambda x: ANY.linalg.lstsq(x.reshape(3, 2), np.ones(3), rcond=None)[0]),
    "nanmedian": fn(lambda x: ANY.nanmedian(x) ** 2 * x),
    "round": fn(lambda x: x.round(1) * x**2),
    "allclose": fn(lambda x: ANY.where(ANY.allclose(x, 0.0, atol=2.0), x, 2.0 * x) ** 2),
    "unique": fn(lambda x: ANY.unique(x) ** 2),
}


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_functions_without_batching_inside_transforms(name: str) -> None:
    function = ONE_BY_ONE[name]
    batch = np.random.default_rng(2).normal(size=(2, 3, 6))
    total = fn(lambda x: np.sum(function(x)))
    for derivative in (
        gw.grad(total),
        gw.hessian(total),
        gw.jacfwd(function),
        fn(lambda x: gw.jvp(gw.grad(total), (x,), (np.ones(6),))[1]),
    ):
        wanted = [[derivative(x) for x in row] for row in batch]
        found = gw.vmap(gw.vmap(derivative, fallback="loop"), fallback="loop")(batch)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    squares = fn(lambda rows: np.sum(gw.vmap(gw.grad(total), fallback="loop")(rows) ** 2))
    wanted = [gw.grad(fn(lambda x: np.sum(gw.grad(total)(x) ** 2)))(x) for x in batch[0]]
    np.testing.assert_allclose(gw.grad(squares)(batch[0]), wanted, atol=1e-12)


def test_a_loop_inside_a_transform_is_told() -> None:
    gradient = gw.grad(fn(lambda x: np.sum(ANY.interp(x, KNOTS, KNOTS))))
    with pytest.warns(
        gw.errors.VmapFallbackWarning, match=r"vmap: np\.interp has no batching rule"
    ):
        gw.vmap(gradient)(X)
    with pytest.raises(gw.errors.VmapFallbackError, match=r"np\.interp"):
        gw.vmap(gradient, fallback="error")(X)


def test_what_is_the_same_for_all_examples_is_read_only_where_its_elements_share_memory() -> None:
    def program(x: Any, y: Any) -> Any:
        whole = np.broadcast_arrays(x, y[1])[1]
        whole[0] = y[0]
        return whole

    with pytest.raises(gw.errors.InPlaceError, match=r"read-only.*Fix: write to a \.copy\(\)"):
        gw.vmap(program, in_axes=(0, None))(np.ones((3, 2)), np.array([2.0, 5.0]))


def test_what_the_function_writes_to_unmapped_arguments_does_not_last() -> None:
    """The examples of a loop, and the batch before it, each start from the argument as it was."""

    def f(x: Any, y: Any) -> Any:
        total: Any = 0.0
        for i in range(3):
            total = total + np.sum(x)
            x[i] *= 0.8
        return total if y > 0 else -total

    def all_of(x: Any) -> Any:
        return np.sum(gw.vmap(f, in_axes=(None, 0), fallback="loop")(x, np.array([1.0, 2.0])))

    x = np.array([0.3, -0.7, 1.1])
    value, gradient = gw.value_and_grad(all_of)(x)
    np.testing.assert_allclose(value, 2 * f(x.copy(), 1.0))
    np.testing.assert_allclose(gradient, [5.2, 5.6, 6.0])
    np.testing.assert_allclose(gw.jvp(all_of, (x,), (np.ones(3),))[1], 16.8)


@pytest.mark.parametrize("name", ["median", "nanmedian", "percentile", "nanpercentile"])
def test_overwrite_input_overwrites_no_batch(name: str) -> None:
    function: Any = getattr(np, name)
    rank: Any = () if "median" in name else (30,)

    def f(x: Any) -> Any:
        return function(x, *rank, overwrite_input=True)

    batch = np.array([[0.3, -0.7, 1.1], [0.35, -0.6, 1.0]])
    before = batch.copy()
    gradients = gw.vmap(gw.grad(f), fallback="loop")(batch)
    values = gw.vmap(f, fallback="loop")(batch)
    np.testing.assert_array_equal(batch, before)
    np.testing.assert_allclose(values, [function(row.copy(), *rank) for row in before])
    wanted = gw.grad(fn(lambda x: np.sum(function(x, *rank, axis=1))))(before)
    np.testing.assert_allclose(gradients, wanted)


BATCH = np.array([[0.5, 1.5], [2.0, 3.0]])


def _of_a_branch(x: Any) -> Any:
    try:
        factor = 2.0 if x[0] > 1.0 else 1.0
    except ValueError:  # the refusal is one, too
        factor = 5.0
    return factor * x[1]


def _with_one_answer(x: Any) -> Any:
    try:
        factor = 2.0 if x[0] > 9.0 else 1.0
    except ValueError:
        factor = 1.0
    return factor * x[1]


def test_a_refusal_that_code_catches_may_not_change_its_result() -> None:
    for inner in (_of_a_branch, gw.grad(_of_a_branch)):
        mapped: Any = gw.vmap(inner)
        with pytest.raises(
            gw.errors.BatchedValueError, match=r"the truth of a value .* has caught"
        ):
            mapped(BATCH)
        looped: Any = gw.vmap(inner, fallback="loop")
        close(looped(BATCH), [inner(row) for row in BATCH])
    close(gw.vmap(_with_one_answer)(BATCH), BATCH[:, 1])


def test_an_error_of_python_is_that_of_each_example() -> None:
    def root(x: Any) -> Any:
        try:
            return math.sqrt(x[0] - 1.0) * x[1]
        except ValueError:
            return x[0] ** 2

    def ratio(x: Any) -> Any:
        number = float(x[0])
        try:
            return float(x[1]) / (number - 2.0)
        except ZeroDivisionError:
            return number

    for function in (root, ratio):
        mapped: Any = gw.vmap(gw.grad(gw.adapting(function)))
        with pytest.raises(gw.errors.BatchedExceptionError, match="for some of the examples"):
            mapped(BATCH)
        looped: Any = gw.vmap(gw.grad(gw.adapting(function)), fallback="loop")
        close(looped(BATCH), [gw.grad(gw.adapting(function))(row) for row in BATCH])
        for some in (BATCH[:1], np.stack([BATCH[0], BATCH[0]]), BATCH[1:]):
            close(mapped(some), [gw.grad(gw.adapting(function))(row) for row in some])


def _ratio(x: Any) -> Any:
    with np.errstate(all="raise"):
        try:
            return x[1] / x[0]
        except FloatingPointError:
            return 2 * x[1]


def _warned(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.log(x[0]) * x[1]
        except RuntimeWarning:
            return x[0] * x[1]


def _root(x: Any) -> Any:
    try:
        matrix: Any = x[0] * np.eye(2) + np.ones((2, 2))
        factor: Any = ANY.linalg.cholesky(matrix)
        return factor[1, 0] * x[1]
    except np.linalg.LinAlgError:
        return x[0] * x[1]


def _without_rule(x: Any) -> Any:
    with np.errstate(all="raise"):
        try:
            return np.apply_along_axis(lambda row: row[1] / row[0], 0, x)
        except FloatingPointError:
            return 2 * x[1]


def _added(x: Any) -> Any:
    try:
        return np.sum(x + np.ones(3))
    except ValueError:
        return x[0] * x[1]


def test_an_error_of_numpy_is_that_of_each_example() -> None:
    batch = np.array([[1.0, 2.0], [0.0, 3.0], [-1.5, 5.0], [4.0, 5.0]])
    for function in (_ratio, _warned, _root, _without_rule):
        mapped: Any = gw.vmap(gw.grad(function))
        with pytest.raises(gw.errors.BatchedExceptionError, match="for some of the examples"):
            mapped(batch)
        looped: Any = gw.vmap(gw.grad(function), fallback="loop")
        close(looped(batch), [gw.grad(function)(row) for row in batch])
        for some in (batch[1:2], np.stack([batch[1], batch[1]]), batch[::3]):
            close(mapped(some), [gw.grad(function)(row) for row in some])
    close(gw.vmap(gw.grad(_added))(batch), batch[:, ::-1])
