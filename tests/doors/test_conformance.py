"""Requirements of the Array API standard on a namespace and its arrays, wrapped or not.

`tests/doors/conformance/run.py` runs the public suite, which has found these points.
"""

from __future__ import annotations

import inspect
import operator
from typing import Any

import array_api_compat.numpy as compat
import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.levels.wrapper import native
from gradwrap.errors import NoRuleError, TrackedValueError
from lambdas import fn, is_a

both = pytest.mark.parametrize("library", [compat, strict], ids=["numpy", "strict"])


def tracked(library: Any, values: Any) -> Any:
    return gw.wrap(library.asarray(values, dtype=library.float64), requires_grad=True)


def values(array: Any) -> Any:
    return np.asarray(native(array))


# Names and signatures -----------------------------------------------------------------------------


@both
def test_every_name_that_dir_lists_is_there(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    for namespace in (xp, xp.linalg, xp.fft):
        names = dir(namespace)
        assert [name for name in names if not hasattr(namespace, name)] == []
    assert {"linalg", "fft", "newaxis", "einsum", "__array_namespace_info__"} <= set(dir(xp))
    assert not {"_class", "_find"} & set(dir(xp))


@both
def test_dir_of_an_extension_that_the_library_does_not_have(library: Any) -> None:
    assert "exp" not in dir(gw.wrap_namespace(library).special)


@both
def test_newaxis_is_none(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    assert xp.newaxis is None
    with pytest.raises(AttributeError, match="newaxis"):
        _ = xp.linalg.newaxis


@both
@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("arange", ["start", "stop", "step", "dtype", "device"]),
        ("zeros", ["shape", "dtype", "device"]),
        ("full", ["shape", "fill_value", "dtype", "device"]),
        ("full_like", ["x", "fill_value", "dtype", "device"]),
        ("linspace", ["start", "stop", "num", "dtype", "device", "endpoint"]),
        ("from_dlpack", ["x", "device", "copy"]),
        ("isdtype", ["dtype", "kind"]),
        ("concat", ["arrays", "axis"]),
        ("broadcast_arrays", ["arrays"]),
        ("unstack", ["x", "axis"]),
        ("vecdot", ["x1", "x2", "axis"]),
    ],
)
def test_functions_have_the_standards_signatures(
    library: Any, name: str, signature: list[str]
) -> None:
    function = getattr(gw.wrap_namespace(library), name)
    parameters = inspect.signature(function).parameters
    positional_only = [p for p in parameters.values() if p.kind is p.POSITIONAL_ONLY]
    found = [p for p in parameters if p in signature]
    assert len(found) + len(positional_only) >= len(signature)
    assert "xp" not in parameters
    assert function.__name__ == name


@both
def test_api_version(library: Any) -> None:
    x = gw.wrap(library.ones(2))
    xp: Any = gw.wrap_namespace(library)
    for version in (None, "2021.12", "2024.12", xp.__array_api_version__):
        assert x.__array_namespace__(api_version=version) is xp
    for version in ("1999.12", "2099.12", "newest"):
        with pytest.raises(
            ValueError, match=rf"does not offer version '{version}' .* Fix: ask for one of 2021\.12"
        ):
            x.__array_namespace__(api_version=version)


# DLPack -------------------------------------------------------------------------------------------


@both
def test_dlpack_of_an_untracked_variable(library: Any) -> None:
    x = gw.wrap(library.asarray([1.0, 2.0]))
    assert x.__dlpack_device__() == x.data.__dlpack_device__()
    np.testing.assert_array_equal(np.from_dlpack(x), [1.0, 2.0])
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # an older one takes no keywords
        assert "PyCapsule" in type(x.__dlpack__(max_version=(1, 0), copy=True)).__name__


def test_dlpack_of_a_sum_which_numpy_returns_as_a_scalar() -> None:
    total = gw.wrap(np.ones(3)).sum()
    assert np.from_dlpack(total) == 3.0


@both
def test_dlpack_of_a_tracked_variable_is_refused(library: Any) -> None:
    x = tracked(library, [1.0])
    with pytest.raises(TrackedValueError, match=r"DLPack .* Fix: stay in .* \.detach\(\)"):
        np.from_dlpack(x)
    assert x.__dlpack_device__()[0] == 1


@both
def test_from_dlpack_keeps_the_graph(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, [1.0, 2.0])
    xp.sum(xp.from_dlpack(x, copy=True) * 3.0).backward()
    np.testing.assert_array_equal(values(x.grad), [3.0, 3.0])
    foreign = xp.from_dlpack(np.asarray([1.0, 2.0]))
    assert is_a(foreign, gw.Variable)
    assert type(foreign.data) is type(x.data)


# New arrays from tracked values -------------------------------------------------------------------


@both
def test_full_of_a_tracked_value_keeps_the_graph(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, [2.0, 3.0])
    made = xp.full((2, 2), x[0])
    np.testing.assert_array_equal(values(made), [[2.0, 2.0], [2.0, 2.0]])
    made[0, 0] = 0.0  # a new array, to be written to
    like = xp.full_like(xp.ones((3,), dtype=xp.float32), x[1])
    assert like.dtype == xp.float32
    (xp.sum(made) + xp.sum(xp.astype(like, xp.float64)) + xp.sum(xp.full(4, x[1]))).backward()
    np.testing.assert_array_equal(values(x.grad), [3.0, 7.0])


@both
def test_linspace_between_tracked_values_keeps_the_graph(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, [1.0, 3.0])
    points = xp.linspace(x[0], x[1], 5)
    np.testing.assert_array_equal(values(points), [1.0, 1.5, 2.0, 2.5, 3.0])
    (points[1] + 10.0 * points[4]).backward()
    np.testing.assert_array_equal(values(x.grad), [0.75, 10.25])
    half = xp.linspace(x[0], 2, 2, dtype=xp.float32, endpoint=False)
    assert half.dtype == xp.float32
    np.testing.assert_array_equal(values(half), [1.0, 1.5])


@both
def test_arange_of_a_tracked_value_is_refused(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    with pytest.raises(NoRuleError, match=r"arange .* is tracked\. Fix: .*\.detach\(\)"):
        xp.arange(tracked(library, 3.0))


@both
def test_a_value_tracked_by_an_outer_transform_only_is_not_lost(library: Any) -> None:
    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            xp = y.__array_namespace__()
            return xp.sum(xp.full((3,), x) * y)

        return gw.grad(inner)(x)

    x = library.asarray(2.0)
    assert float(gw.grad(outer)(x)) == 3.0

    def leaks(x: Any) -> Any:
        return gw.grad(fn(lambda y: y * float(x)))(x)

    with pytest.raises(TrackedValueError, match=r"float\(\)"):
        gw.grad(leaks)(x)


# Arrays that are not tracked are what they wrap ---------------------------------------------------


@both
def test_numbers_from_untracked_variables(library: Any) -> None:
    def scalar(value: Any) -> Any:
        return gw.wrap(library.asarray(value))

    assert (float(scalar(1.5)), int(scalar(2)), bool(scalar(True))) == (1.5, 2, True)
    assert complex(scalar(1.0 + 2.0j)) == 1.0 + 2.0j
    assert operator.index(scalar(3)) == range(9)[scalar(3)] == 3
    assert scalar(True).item() is True
    with pytest.raises(TypeError, match=r"index|integer"):
        operator.index(scalar(1.0))


@both
@pytest.mark.parametrize("symbol", ["add", "mul", "floordiv", "mod", "pow", "and_", "lshift"])
def test_integer_operators_in_place_and_not(library: Any, symbol: str) -> None:
    a = library.asarray([1, 2, 3], dtype=library.int8)
    b = library.asarray([2, 1, 2], dtype=library.int8)
    expected = getattr(operator, symbol)(a, b)
    x = gw.wrap(a)
    out = getattr(operator, symbol)(x, gw.wrap(b))
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(values(out), np.asarray(expected))
    x = getattr(operator, "i" + symbol.strip("_"))(x, b)
    np.testing.assert_array_equal(values(x), np.asarray(expected))
    np.testing.assert_array_equal(np.asarray(a), [1, 2, 3])


# Single functions ---------------------------------------------------------------------------------


@both
def test_vecdot_keeps_small_integers_and_refuses_unequal_lengths(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = xp.asarray([1, 2], dtype=xp.int8)
    assert xp.vecdot(x, x).dtype == xp.int8
    with pytest.raises(ValueError, match=r"\(2,\) and \(1,\), of unequal length along axis -1"):
        xp.linalg.vecdot(x, x[:1])


@both
def test_unstack_of_a_matrix(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library, [[1.0, 2.0], [3.0, 4.0]])
    for axis, expected in ((0, [1.0, 2.0]), (1, [1.0, 3.0])):
        np.testing.assert_array_equal(values(xp.unstack(x, axis=axis)[0]), expected)


@both
def test_searchsorted_takes_a_wrapped_sorter(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    found = xp.searchsorted(
        xp.asarray([3.0, 1.0, 2.0]), xp.asarray([2.5]), sorter=xp.asarray([1, 2, 0])
    )
    np.testing.assert_array_equal(values(found), [2])


def test_a_function_without_a_rule_runs_under_no_grad() -> None:
    xp: Any = gw.wrap_namespace(np)
    with gw.no_grad():
        found = xp.digitize(tracked(np, [0.5, 2.0]), np.array([0.0, 1.5]))
    np.testing.assert_array_equal(found.data, [1, 2])
