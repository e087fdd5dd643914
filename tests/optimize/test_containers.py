"""`gw.tree` and `gw.ravel_pytree`: containers as leaves, and as one vector."""

from __future__ import annotations

import dataclasses
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap
from gradwrap.errors import (
    MixedLibrariesError,
    NonDifferentiableInputError,
    NotAnArrayError,
    PytreeError,
)

gw: Any = gradwrap  # called in every way; its types are tested in tests/tools/typing


@gradwrap.register_pytree
@dataclasses.dataclass
class Line:
    slope: Any
    offset: Any
    name: str = dataclasses.field(default="line", metadata={"static": True})


PARAMS: dict[str, Any] = {
    "w": np.arange(4.0).reshape(2, 2),
    "rest": [np.float32(5.0), 6.0],
    "flag": True,
    "name": "a",
}


def test_none_has_no_leaf() -> None:
    assert gw.tree.leaves({"a": 1.0, "b": None, "c": (2.0, [3.0])}) == [1.0, 2.0, 3.0]
    assert gw.tree.leaves(None) == []
    assert gw.tree.leaves(4.0) == [4.0]


def test_flatten_and_unflatten_undo_each_other() -> None:
    tree = {"line": Line(1.0, 2.0), "more": (3.0, None)}
    leaves, structure = gw.tree.flatten(tree)
    assert leaves == [1.0, 2.0, 3.0]
    assert gw.tree.unflatten(structure, leaves) == tree
    assert gw.tree.flatten({"line": Line(4.0, 5.0), "more": (6.0, None)})[1] == structure


def test_map_takes_the_leaves_at_the_same_place() -> None:
    gradient = gw.grad(lambda p: np.sum(p["w"] ** 2) + p["rest"][1])(PARAMS)
    moved = gw.tree.map(lambda p, g: p if g is None else p - 0.5 * g, PARAMS, gradient)
    np.testing.assert_array_equal(moved["w"], np.zeros((2, 2)))
    assert (moved["rest"][1], moved["flag"], moved["name"]) == (5.5, True, "a")
    assert gw.tree.map(lambda a, b: a + b, Line(1.0, 2.0), Line(10.0, 20.0)) == Line(11.0, 22.0)


def test_map_of_tracked_leaves_is_differentiated() -> None:
    def total(p: Any) -> Any:
        squares = gw.tree.map(lambda leaf: np.sum(leaf**2), p)
        return squares["a"] + 10.0 * squares["b"]

    found = gw.grad(total)({"a": np.array([1.0, 2.0]), "b": 3.0})
    np.testing.assert_array_equal(found["a"], [2.0, 4.0])
    assert found["b"] == 60.0


def test_map_refuses_another_structure() -> None:
    with pytest.raises(PytreeError, match=r"different structures: \{'a': \*\}; \{'b': \*\}"):
        gw.tree.map(lambda a, b: a, {"a": 1.0}, {"b": 1.0})


def test_an_error_of_the_function_itself_is_its_own() -> None:
    def refuse(leaf: Any) -> Any:
        raise ValueError(f"no {leaf}")

    with pytest.raises(ValueError, match=r"^no 1\.0$"):
        gw.tree.map(refuse, {"a": 1.0})


def test_unflatten_refuses_another_number_of_leaves() -> None:
    with pytest.raises(PytreeError, match=r"got 1 leaves for \[\*, \*\], which has 2"):
        gw.tree.unflatten(gw.tree.flatten([1.0, 2.0])[1], [1.0])


# ravel_pytree -------------------------------------------------------------------------------------


def test_the_vector_has_all_floating_leaves_in_order() -> None:
    flat, unravel = gw.ravel_pytree(PARAMS)
    np.testing.assert_array_equal(flat, [5.0, 6.0, 0.0, 1.0, 2.0, 3.0])
    assert flat.dtype == np.float64
    back = unravel(10 * flat)
    np.testing.assert_array_equal(back["w"], 10 * PARAMS["w"])
    assert back["rest"] == [50.0, 60.0]
    assert (type(back["rest"][0]), type(back["rest"][1])) == (np.float32, np.float64)
    assert (back["flag"], back["name"]) == (True, "a")


def test_a_lone_array_is_copied() -> None:
    x = np.ones((2, 2), np.float32)
    flat, unravel = gw.ravel_pytree(x)
    flat[0] = 5.0
    np.testing.assert_array_equal(x, 1.0)
    assert flat.dtype == np.float32
    assert unravel(flat).shape == (2, 2)


def test_complex_and_real_leaves_join_as_complex() -> None:
    flat, unravel = gw.ravel_pytree((np.array([1.0]), np.array([2j])))
    np.testing.assert_array_equal(flat, [1.0, 2j])
    real, imaginary = unravel(flat)
    assert (real.dtype, imaginary.dtype) == (np.float64, np.complex128)


def test_other_libraries_stay() -> None:
    flat, unravel = gw.ravel_pytree({"a": strict.ones((2, 2)), "b": 3.0})
    assert type(flat) is type(strict.ones(1))
    np.testing.assert_array_equal(np.asarray(flat), [1, 1, 1, 1, 3])
    assert unravel(flat)["a"].shape == (2, 2)


def test_both_ways_are_differentiated() -> None:
    _, unravel = gw.ravel_pytree(PARAMS)
    found = gw.grad(lambda v: np.sum(unravel(v)["w"] ** 2) + unravel(v)["rest"][1])(np.arange(6.0))
    np.testing.assert_array_equal(found, [0.0, 1.0, 4.0, 6.0, 8.0, 10.0])
    weights = np.array([1.0, 2.0, 3.0])
    back = gw.grad(lambda p: gw.ravel_pytree(p)[0] @ weights)({"x": np.ones(2), "y": 4.0})
    np.testing.assert_array_equal(back["x"], [1.0, 2.0])
    assert back["y"] == 3.0
    rows = gw.vmap(lambda p: gw.ravel_pytree(p)[0])({"x": np.ones((3, 2)), "y": np.zeros(3)})
    np.testing.assert_array_equal(rows, [[1, 1, 0]] * 3)


def test_what_makes_no_vector_is_refused() -> None:
    with pytest.raises(NotAnArrayError, match="tree holds no floating-point array"):
        gw.ravel_pytree({"flag": True, "name": "a"})
    with pytest.raises(NonDifferentiableInputError, match=r"tree\['n'\]"):
        gw.ravel_pytree({"n": np.array([1, 2])})
    with pytest.raises(MixedLibrariesError, match="array_api_strict and numpy"):
        gw.ravel_pytree([np.ones(1), strict.ones(1)])


def test_unravel_refuses_another_length() -> None:
    _, unravel = gw.ravel_pytree([1.0, 2.0])
    with pytest.raises(PytreeError, match=r"a vector of 2 elements; it got float64\[3\]"):
        unravel(np.ones(3))
    with pytest.raises(PytreeError, match="it got a list"):
        unravel([1.0, 2.0])


def test_vmap_takes_a_prefix_over_a_registered_class() -> None:
    found = gw.vmap(lambda line, x: line.slope * x + line.offset, in_axes=(Line(0, None), None))(
        Line(np.array([1.0, 2.0]), 10.0), 3.0
    )
    np.testing.assert_array_equal(found, [13.0, 16.0])


@pytest.mark.peers
def test_the_vector_and_the_leaves_are_in_the_order_of_jax() -> None:
    flatten_util: Any = pytest.importorskip("jax.flatten_util")
    jax: Any = pytest.importorskip("jax")
    tree = {"b": [np.float32(1.0), (np.float32(2.0),)], "a": np.ones((2, 2), np.float32), "c": None}
    np.testing.assert_array_equal(gw.ravel_pytree(tree)[0], flatten_util.ravel_pytree(tree)[0])
    assert len(gw.tree.leaves(tree)) == len(jax.tree.leaves(tree)) == 3
    doubled = gw.tree.map(lambda leaf: 2 * leaf, tree)
    wanted = jax.tree.map(lambda leaf: 2 * leaf, tree)
    np.testing.assert_array_equal(doubled["a"], wanted["a"])
    assert doubled["b"] == wanted["b"]
