"""`gw.wrap_namespace`: an Array API namespace over variables."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from array_api_compat import array_namespace

import gradwrap as gw
from gradwrap.errors import NoRuleError
from lambdas import fn, is_a

LIBRARIES = [np, strict]
both = pytest.mark.parametrize("library", LIBRARIES, ids=lambda m: m.__name__)


def tracked(library: Any, values: Any = (0.5, 1.0, 2.0)) -> Any:
    return gw.wrap(library.asarray(values, dtype=library.float64), requires_grad=True)


# One object per library ---------------------------------------------------------------------------


class Labelled(np.ndarray):
    """An array of a package's own class."""


def test_arrays_of_a_subclass_have_the_namespace_of_their_base() -> None:
    """Its module is not NumPy's; a second backend would replace that of all arrays."""
    x = np.array([np.inf, 1j * np.inf, 3.0 + 4.0j])
    labelled = np.ones(3).view(Labelled)
    gw.grad(fn(lambda a: np.sum(a * labelled)))(np.ones(3))
    kind: Any = type(gw.wrap(labelled))

    assert kind is type(gw.wrap(np.ones(3)))
    assert gw.wrap(labelled).__array_namespace__() is gw.wrap_namespace(np)
    np.testing.assert_array_equal(gw.vjp(np.sign, x)[0], [1.0, 1j, 0.6 + 0.8j])


@both
def test_there_is_one_namespace_per_library(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x, y = tracked(library), gw.wrap(library.ones(2))
    assert gw.wrap_namespace(library) is xp
    assert x.__array_namespace__() is xp
    assert len({xp, x.__array_namespace__(), (x * 2.0).__array_namespace__()}) == 1
    assert xp == y.__array_namespace__()
    assert array_namespace(x, y) is xp
    assert xp.__name__ == f"gradwrap.{library.__name__}"
    assert repr(xp) == f"<namespace gradwrap.{library.__name__}>"


def along_itself(function: Any) -> Any:
    return fn(lambda y: gw.jvp(function, (y,), (y,))[1])


OUTER, INNER = np.array([0.5, 1.0, 2.0]), np.array([1.0, -1.0, 3.0])
ONCE_MORE = {
    "grad": (gw.grad, np.ones(3)),
    "vmap": (gw.vmap, INNER.sum() + 6.0 * OUTER),
    "jvp": (along_itself, INNER),
}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("transform", ONCE_MORE)
def test_the_namespaces_of_all_levels_are_equal(transform: str, swapped: bool) -> None:
    """Code that collects namespaces finds a single one, which serves the arrays of all."""
    inside, expected = ONCE_MORE[transform]
    objects: set[int] = set()

    def both(x: Any, y: Any) -> Any:
        z = y + x
        arrays = (z, x) if swapped else (x, z)
        (xp,) = {a.__array_namespace__() for a in arrays}
        assert array_namespace(*arrays) == xp == gw.wrap_namespace(np)
        objects.update(id(a.__array_namespace__()) for a in arrays)
        return xp.sum(xp.multiply(x, z))

    def total(x: Any) -> Any:
        apply: Any = inside
        return np.sum(apply(fn(lambda y: both(x, y)))(INNER))

    np.testing.assert_allclose(gw.grad(total)(OUTER), expected, rtol=1e-14)
    assert len(objects) == 2


def test_two_libraries_have_two_namespaces() -> None:
    assert gw.wrap_namespace(np) != gw.wrap_namespace(strict)
    with pytest.raises(TypeError, match="Multiple namespaces"):
        array_namespace(tracked(np), tracked(strict))


@both
def test_the_namespace_is_the_same_inside_a_transform(library: Any) -> None:
    def f(x: Any) -> Any:
        xp = array_namespace(x)
        assert xp is array_namespace(x, xp.ones(2))
        assert xp.__name__.startswith("gradwrap.")
        return xp.sum(xp.exp(x))

    x = library.asarray([0.0, 1.0])
    gradient = gw.grad(f)(x)
    assert type(gradient) is type(x)
    np.testing.assert_allclose(np.asarray(gradient), np.exp([0.0, 1.0]))
    np.testing.assert_allclose(np.asarray(gw.grad(fn(lambda z: gw.grad(f)(z)[1]))(x)), [0.0, np.e])


# Attributes ---------------------------------------------------------------------------------------


@both
def test_dir_lists_the_librarys_names(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    assert {"exp", "float64"} <= set(dir(xp))
    assert "svd" in dir(xp.linalg)


@both
def test_extensions_lie_below(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    assert xp.linalg is xp.linalg
    assert xp.linalg.__name__ == f"gradwrap.{library.__name__}.linalg"
    matrix = tracked(library, [[2.0, 1.0], [1.0, 3.0]])
    xp.linalg.det(matrix).backward()
    np.testing.assert_allclose(np.asarray(matrix.grad), [[3.0, -1.0], [-1.0, 2.0]])


@both
def test_an_attribute_the_library_does_not_have(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    with pytest.raises(AttributeError, match=f"{xp.__name__} has no attribute nonsense$"):
        _ = xp.nonsense
    with pytest.raises(AttributeError, match=r"\.linalg has no attribute nonsense$"):
        _ = xp.linalg.nonsense
    assert not hasattr(xp, "__wrapped__")


@both
def test_constants_and_dtypes_are_the_librarys(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    assert xp.pi == library.pi
    assert xp.float32 is library.float32
    assert xp.__array_api_version__ >= "2024.12"
    assert xp.__array_namespace_info__().default_dtypes()["real floating"] == library.float64


# About arrays -------------------------------------------------------------------------------------


@both
def test_functions_about_arrays_take_variables(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x, single = tracked(library), xp.ones(2, dtype=xp.float32)
    assert xp.result_type(x, single) == library.float64
    assert xp.result_type(single, xp.float32) == library.float32
    assert xp.isdtype(x.dtype, "real floating")
    assert not xp.isdtype(x.dtype, ("integral", "bool"))
    assert xp.finfo(single).bits == xp.finfo(single.dtype).bits == 32
    assert xp.can_cast(single, xp.float64)
    assert not xp.can_cast(xp.float64, xp.float32)


# New arrays ---------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("arange", (3,)),
        ("empty", ((2, 3),)),
        ("eye", (3,)),
        ("full", ((2,), 7.0)),
        ("linspace", (0.0, 1.0, 5)),
        ("ones", (3,)),
        ("zeros", ((2, 3),)),
        ("asarray", ([[1.0, 2.0]],)),
    ],
)
def test_new_arrays_are_variables(library: Any, name: str, args: Any) -> None:
    made = getattr(gw.wrap_namespace(library), name)(*args)
    expected = getattr(library, name)(*args)
    assert is_a(made, gw.Variable)
    assert not made.requires_grad
    assert type(made.data) is type(expected)
    assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    if name != "empty":
        np.testing.assert_array_equal(np.asarray(made.data), np.asarray(expected))


@both
@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_new_arrays_like_a_variable(library: Any, name: str) -> None:
    x = tracked(library)
    made = getattr(gw.wrap_namespace(library), name)(x)
    assert is_a(made, gw.Variable)
    assert not made.requires_grad
    assert (made.shape, made.dtype) == (x.shape, x.dtype)


@both
def test_meshgrid_of_plain_arrays(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    grids = xp.meshgrid(xp.ones(2), xp.zeros(3))
    assert all(isinstance(part, gw.Variable) and part.shape == (3, 2) for part in grids)


@both
def test_asarray_keeps_the_graph(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True) is not x
    single = xp.asarray(x, dtype=xp.float32)
    assert single.dtype == library.float32
    xp.sum(single * single).backward()
    assert x.grad.dtype == library.float64
    np.testing.assert_allclose(np.asarray(x.grad), [1.0, 2.0, 4.0])


@both
def test_asarray_of_nested_tracked_values(library: Any) -> None:
    xp: Any = gw.wrap_namespace(library)
    x = tracked(library)
    matrix = xp.asarray([[x[0], 1.0], [0.0, x[1] * x[2]]])
    assert matrix.shape == (2, 2)
    xp.sum(matrix).backward()
    np.testing.assert_allclose(np.asarray(x.grad), [1.0, 2.0, 1.0])


# Functions without a rule -------------------------------------------------------------------------


def test_a_function_without_a_rule_takes_what_is_not_tracked() -> None:
    xp: Any = gw.wrap_namespace(np)
    x = tracked(np)
    with pytest.raises(NoRuleError, match=r"histogram .* no rule.*Fix: gradwrap\.defvjp"):
        xp.histogram(x, np.array([0.0, 1.5]))
    for plain in (x.detach(), gw.wrap(np.array([0.5, 1.0, 2.0]))):
        found = xp.digitize(plain, np.array([0.0, 1.5]))
        assert is_a(found, gw.Variable)
        np.testing.assert_array_equal(found.data, [1, 1, 2])


# The same function on two libraries ---------------------------------------------------------------


def _softmax_loss(x: Any) -> Any:
    xp = array_namespace(x)
    shifted = x - xp.max(x, axis=-1, keepdims=True)
    weights = xp.exp(shifted) / xp.sum(xp.exp(shifted), axis=-1, keepdims=True)
    return xp.sum(weights * xp.arange(3, dtype=x.dtype))


def _solve(x: Any) -> Any:
    xp = array_namespace(x)
    matrix = xp.matmul(x, xp.matrix_transpose(x)) + 2.0 * xp.eye(3)
    return xp.sum(xp.linalg.solve(matrix, xp.ones((3, 1))))


def _pieces(x: Any) -> Any:
    xp = array_namespace(x)
    joined = xp.concat([xp.where(x > 0, x, 0.1 * x), xp.stack([x[0, :], xp.zeros(3)])], axis=0)
    return xp.mean(xp.sqrt(1.0 + joined * joined)) * xp.prod(x[1, :])


@pytest.mark.parametrize("f", [_softmax_loss, _solve, _pieces], ids=lambda f: f.__name__)
def test_one_function_on_two_libraries(f: Any) -> None:
    values = np.random.default_rng(0).normal(size=(3, 3))
    value, gradient = gw.value_and_grad(f)(values)
    assert type(gradient) is np.ndarray
    gw.testing.check_grads(f, [values], order=1)
    x = strict.asarray(values)
    strict_value, strict_gradient = gw.value_and_grad(f)(x)
    assert type(strict_value) is type(strict_gradient) is type(x)
    np.testing.assert_allclose(np.asarray(strict_value), value)
    np.testing.assert_allclose(np.asarray(strict_gradient), gradient, rtol=1e-10)
