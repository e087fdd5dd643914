"""Memory orders by name: in either case, as in NumPy, and no others."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.numpy as gnp
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable

NP: Any = np
ANY: Any = gnp
X = np.arange(24.0).reshape(2, 3, 4)
CALLS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "ravel": (lambda x, order: NP.ravel(x, order), "CFAK"),
    "ravel of a method": (lambda x, order: x.ravel(order), "CFAK"),
    "flatten": (lambda x, order: x.flatten(order), "CFAK"),
    "reshape": (lambda x, order: NP.reshape(x, (4, -1), order), "CFA"),
    "reshape of a method": (lambda x, order: x.reshape(4, -1, order=order), "CFA"),
    "copy": (lambda x, order: NP.copy(x, order), "CFAK"),
    "copy of a method": (lambda x, order: x.copy(order), "CFAK"),
    "astype": (lambda x, order: x.astype(np.float64, order=order), "CFAK"),
    "zeros_like": (lambda x, order: x + NP.zeros_like(x, order=order), "CFAK"),
    "full_like": (lambda x, order: x * NP.full_like(x, 2.0, order=order), "CFAK"),
    "array": (lambda x, order: ANY.array(x, order=order), "CFAK"),
    "asarray": (lambda x, order: ANY.asarray(x, order=order), "CFAK"),
    "einsum": (lambda x, order: NP.einsum("ijk->kji", x, order=order), "CFAK"),
}


def strides(found: Any) -> tuple[int, ...]:
    return tuple(s for s, n in zip(found.strides, found.shape, strict=True) if n > 1)


def cases() -> list[Any]:
    return [
        pytest.param(name, letter, id=f"{name}-{letter}")
        for name, (_, letters) in CALLS.items()
        for letter in letters
    ]


@pytest.mark.parametrize(("name", "letter"), cases())
@pytest.mark.parametrize("turned", [False, True])
def test_a_small_letter_is_the_capital(name: str, letter: str, turned: bool) -> None:
    f = CALLS[name][0]
    x = X.T if turned else X
    plain = f(x, letter.lower())
    inside: list[Any] = []

    def with_order(order: str) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            found = f(x, order)
            inside.append(strides(found))
            return found

        return call

    for order in (letter, letter.lower()):
        g = with_order(order)
        value, pull = gw.vjp(g, x)
        np.testing.assert_array_equal(value, plain)
        assert inside[-1] == strides(plain)
        weights: Any = ANY.arange(float(value.size)).reshape(value.shape)
        (gradient,) = pull(weights)
        tangent: Any = gw.jvp(g, (x,), (x,))[1]
        np.testing.assert_allclose(np.sum(gradient * x), ANY.sum(weights * tangent))
        batch = gw.vmap(g)(np.stack([x, 2 * x]))
        assert inside[-1] == strides(plain)
        np.testing.assert_array_equal(batch[0], plain)


@pytest.mark.parametrize("name", CALLS)
def test_an_order_that_numpy_does_not_know_is_refused(name: str) -> None:
    f = CALLS[name][0]
    with pytest.raises(ValueError, match="order"):
        f(X, "Z")
    with pytest.raises(ValueError, match="order"):
        gw.vjp(fn(lambda x: f(x, "Z")), X)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_nanmedian_lies_in_memory_as_numpys(axes: tuple[int, ...], axis: int) -> None:
    x = X.transpose(axes)
    found: list[Any] = []

    def f(v: Any) -> Any:
        found.append(strides(NP.nanmedian(v, axis=axis)))
        return v

    gw.vjp(f, x)
    assert found == [strides(NP.nanmedian(x, axis=axis))]


def test_vectorize_of_a_broadcast_array_lies_in_memory_as_numpys() -> None:
    x = np.array([0.3, -0.7])

    def f(x: Any) -> Any:
        return ANY.vectorize(fn(lambda t: t))(np.broadcast_to(x, (2, 2)))

    assert gw.vjp(f, x)[0].strides == f(x).strides == (8, 16)


QUANTILES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("median", ()),
    ("nanmedian", ()),
    *((name, (q,)) for name in ("quantile", "nanquantile") for q in (0.3, [0.3], [0.1, 0.5, 0.7])),
    *((name, (q,)) for name in ("percentile", "nanpercentile") for q in (30.0, [10.0, 50.0])),
)


@pytest.mark.parametrize(("name", "q"), QUANTILES)
def test_quantiles_lie_as_numpys(name: str, q: tuple[Any, ...]) -> None:
    for axes, axis, keepdims, overwrite in itertools.product(
        itertools.permutations(range(3)), (None, 0, 1, 2, (0, 2)), (False, True), (False, True)
    ):
        words = {"axis": axis, "keepdims": keepdims, "overwrite_input": overwrite}

        def f(x: Any, words: Any = words) -> Any:
            return getattr(np, name)(x * 1.0, *q, **words)

        x = np.sin(X).transpose(axes)
        wanted, found = f(x), gw.vjp(f, x)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        assert strides(found) == strides(wanted), (axes, words)


def test_vecdot_over_no_elements_has_the_order_of_its_arguments() -> None:
    x = np.ones((2, 2, 1)).transpose(1, 0, 2)

    def f(v: Any) -> Any:
        return NP.vecdot(v[..., 1:], np.ones(0))

    value, pull = gw.vjp(f, x)
    assert value.strides == f(x).strides == (8, 16)
    np.testing.assert_array_equal(pull(np.ones((2, 2)))[0], np.zeros(x.shape))
