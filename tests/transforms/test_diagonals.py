"""Batches that are diagonal matrices, from which the columns of a Jacobian start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_strict
import numpy as np
import pytest

import gradwrap as gw
from counting import allocated
from gradwrap.core.array.batched import Batched
from gradwrap.core.levels.levels import new_level
from gradwrap.errors import BufferChangedError
from gradwrap.transforms.batch import batch_of, unit_batch
from lambdas import is_a, rows

if TYPE_CHECKING:
    from collections.abc import Callable

D = np.array([2.0, -3.0, 0.5])
DENSE = np.arange(9.0).reshape(3, 3) + 1.0
MATRIX = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0], [2.0, -2.0, 4.0]])
VECTOR = np.array([1.0, -2.0, 4.0])


def is_diagonal(value: Any) -> bool:
    """Tell whether a batch is still kept as diagonals."""
    try:
        object.__getattribute__(value, "_value")
    except AttributeError:
        return True
    return False


def made(xp: Any = np) -> tuple[Any, Any, Any]:
    """A diagonal batch, the same one as a matrix, and one that is not diagonal."""
    level = new_level()
    diagonal = unit_batch(xp.asarray(D), level) * xp.asarray(D)
    same = batch_of(xp.asarray(np.diag(D)), level)
    return diagonal, same, batch_of(xp.asarray(DENSE), level)


KEPT: dict[str, Callable[[Any, Any], Any]] = {
    "negative": lambda d, b: -d,
    "scaled": lambda d, b: d * 3.0,
    "scaled from the left": lambda d, b: 3.0 * d,
    "times a vector": lambda d, b: d * VECTOR,
    "times a vector from the left": lambda d, b: VECTOR * d,
    "divided": lambda d, b: d / VECTOR,
    "divided by a number": lambda d, b: d / 4.0,
    "times a number of float32": lambda d, b: d * np.float32(2.0),
    "plus itself": lambda d, b: d + d,
    "times itself": lambda d, b: d * d,
}
SPREAD: dict[str, Callable[[Any, Any], Any]] = {
    "plus a batch": lambda d, b: d + b,
    "a batch plus it": lambda d, b: b + d,
    "plus a number": lambda d, b: d + 1.0,
    "plus a vector": lambda d, b: d + VECTOR,
    "minus a batch": lambda d, b: d - b,
    "times a batch": lambda d, b: d * b,
    "over a batch": lambda d, b: d / b,
    "of a number": lambda d, b: 1.0 / (1.0 + d * d),
    "matrix": lambda d, b: MATRIX @ d,
    "to a matrix": lambda d, b: d @ MATRIX,
    "vector": lambda d, b: VECTOR @ d,
    "to a vector": lambda d, b: d @ VECTOR,
    "to a batch": lambda d, b: d @ b,
    "with itself": lambda d, b: d @ d,
    "sum": lambda d, b: d.sum(),
    "sum along its axis": lambda d, b: d.sum(axis=0),
    "sum that keeps its axis": lambda d, b: d.sum(axis=-1, keepdims=True),
    "exponential": lambda d, b: np.exp(d),
    "times a matrix": lambda d, b: d * MATRIX,
    "element": lambda d, b: d[1],
    "reversed": lambda d, b: d[::-1],
    "complex": lambda d, b: d * (1.0 + 2.0j),
}


@pytest.mark.parametrize("name", [*KEPT, *SPREAD])
def test_an_operation_gives_what_it_gives_on_the_matrix(name: str) -> None:
    compute = {**KEPT, **SPREAD}[name]
    diagonal, same, dense = made()
    assert is_diagonal(diagonal)
    found, expected = compute(diagonal, dense), compute(same, dense)
    assert is_diagonal(found) == (name in KEPT)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found._value, expected._value)


@pytest.mark.parametrize("name", [*KEPT, *SPREAD])
def test_the_operand_stays_what_it_was(name: str) -> None:
    compute = {**KEPT, **SPREAD}[name]
    diagonal, _, dense = made()
    compute(diagonal, dense)
    np.testing.assert_array_equal(diagonal._value, np.diag(D))
    np.testing.assert_array_equal(dense._value, DENSE)


def test_shape_dtype_and_length_do_not_make_the_matrix() -> None:
    diagonal, _, _ = made()
    assert (diagonal.shape, diagonal.ndim, diagonal.size, len(diagonal)) == ((3,), 1, 3, 3)
    assert diagonal.dtype == np.float64
    assert is_diagonal(diagonal)


def test_other_libraries_make_the_matrix_by_the_standard() -> None:
    diagonal, same, dense = made(array_api_strict)
    assert is_diagonal(diagonal)
    for found, expected in ((diagonal + dense, same + dense), (diagonal - dense, same - dense)):
        np.testing.assert_array_equal(np.asarray(found._value), np.asarray(expected._value))


def test_infinity_on_the_diagonal_leaves_zeros_beside_it() -> None:
    """As matrices, 0 * inf off the diagonal would be NaN."""
    x = np.array([0.0, 1.0, 4.0])
    with np.errstate(divide="ignore"):
        found = gw.jacfwd(np.sqrt)(x)
    np.testing.assert_array_equal(found, np.diag([np.inf, 0.5, 0.25]))


def test_a_function_that_writes_does_not_write_into_the_unit_vectors() -> None:
    def shifted(x: Any) -> Any:
        y = x * 1.0
        y[0] = x[1] * x[2]
        return y + x

    found = gw.jacfwd(shifted)(VECTOR)
    np.testing.assert_array_equal(found, [[1.0, 4.0, -2.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])


def test_a_diagonal_knows_no_attribute_of_its_own() -> None:
    diagonal, _, _ = made()
    assert Batched in type(diagonal).__mro__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        diagonal.nonsense  # noqa: B018  raises


TRANSFORMS = [gw.jacrev, gw.jacfwd, gw.jacobian]


@pytest.mark.parametrize("jacobian", TRANSFORMS)
@pytest.mark.parametrize(
    "function",
    rows(
        [
            lambda x, y: np.sum(np.sin(x + y)),
            lambda x, y: MATRIX @ (x + y),
            lambda x, y: np.tanh(MATRIX @ (x + y)),
            lambda x, y: x + y,
            lambda x, y: (x + y, x + y),
        ]
    ),
)
def test_no_two_blocks_share_a_buffer(jacobian: Any, function: Any) -> None:
    found = jacobian(function, (0, 1, 0))(VECTOR, D)
    blocks = [block for part in found for block in (part if is_a(part, tuple) else (part,))]
    for i, one in enumerate(blocks):
        assert not np.shares_memory(one, MATRIX)
        for other in blocks[i + 1 :]:
            assert not np.shares_memory(one, other)


def test_plain_arrays_of_the_closure_cost_no_matrix_of_unit_vectors() -> None:
    """What the layers save of the caller's arrays is looked at again, and used as it is."""
    weights, scale = np.random.default_rng(0).normal(size=(2, 150, 150))
    x = np.linspace(-1.0, 1.0, 150)

    def layer(x: Any) -> Any:
        return np.tanh(scale[0] * (weights @ x))

    slope = 1.0 - layer(x) ** 2
    expected = (slope * scale[0])[:, None] * weights
    jacobian = gw.jacrev(layer)
    np.testing.assert_allclose(jacobian(x), expected, rtol=1e-12)
    assert allocated(lambda: jacobian(x)) < 3.0 * weights.nbytes  # the result, and a copy

    def overwriting(x: Any) -> Any:
        out = layer(x)
        weights[0, 0] += 1.0
        return out

    with pytest.raises(BufferChangedError, match="matmul saved for backward"):
        gw.jacrev(overwriting)(x)
