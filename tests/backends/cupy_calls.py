"""Calls of every public function of a library, and their outcomes on tracked arrays.

The same patterns of arguments are given to CuPy's functions and to NumPy's, so that each answers
for the other: where both give a tracked result, value and gradient are compared.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw
from lambdas import is_a

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = np  # for calls that NumPy's own types are too narrow for
SUBSCRIPTS = "ij,jk->ik"
PATTERNS: tuple[tuple[Any, ...], ...] = (
    ("v",),
    ("m",),
    ("v", "v"),
    ("m", "m"),
    ("v", "p"),
    ("p", "v"),
    ("m", "p"),
    ("q", "v"),
    ("q", "m"),
    (["v", "v"],),
    (["p", "v"],),
    ("v", 1),
    ("m", 1),
    ("m", 0, 1),
    ("m", (1, 0)),
    (2, "v"),
    (0.5, "v"),
    ("v", 0.2, 0.7),
    ("v", [0, 2]),
    ("b", "v", "p"),
    ("b", "p", "v"),
    ("v", "p", "p"),
    ("p", "p", "v"),
    (["b"], ["v"]),
    (SUBSCRIPTS, "m", "q"),
    (SUBSCRIPTS, "q", "m"),
    ((3,), "s"),
    ("p", "s"),
    ("p", [0, 1], "w"),
)
"""v, w, s, m are tracked: vectors of three and two elements, a scalar, a matrix. p, q, b are a
vector, a matrix and a mask that are not."""


ARRAYS = (gw.Variable, np.ndarray, np.generic)


@dataclass
class Outcome:
    """The outcome of a call: the results, those of them that are tracked, and the gradients."""

    results: list[Any]
    tracked: list[bool]
    gradients: list[Any]


def arguments(pattern: tuple[Any, ...], asarray: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
    """The arguments of a call, and the tracked arrays among them."""
    tracked: list[Any] = []

    def track(values: Any) -> Any:
        leaf = gw.wrap(asarray(np.asarray(values)), requires_grad=True)
        tracked.append(leaf)
        return leaf

    words: dict[str, Callable[[], Any]] = {
        "v": lambda: track([0.3, 0.12, 0.6]),
        "w": lambda: track([0.3, 0.8]),
        "s": lambda: track(0.4),
        "m": lambda: track([[0.9, 0.1, 0.2], [0.1, 0.5, 0.25], [0.2, 0.3, 0.7]]),
        "p": lambda: asarray(np.asarray([0.2, 0.5, 0.9])),
        "q": lambda: asarray(np.asarray([[0.5, 0.2, 0.1], [0.1, 0.8, 0.3], [0.4, 0.2, 0.9]])),
        "b": lambda: asarray(np.asarray([True, False, True])),
    }

    def make(part: Any) -> Any:
        if is_a(part, list):
            return [make(one) for one in part]
        return words[part]() if isinstance(part, str) and part in words else part

    return [make(part) for part in pattern], tracked


def outcome(
    function: Callable[..., Any],
    pattern: tuple[Any, ...],
    asarray: Callable[[Any], Any],
    asnumpy: Callable[[Any], Any],
) -> Outcome | Exception:
    """Return the outcome of a call by a pattern, or the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, leaves = arguments(pattern, asarray)
        try:
            return _outcome(function(*args), leaves, asarray, asnumpy)
        except Exception as error:  # noqa: BLE001  whatever it is
            return error


def _outcome(
    out: Any, leaves: list[Any], asarray: Callable[[Any], Any], asnumpy: Callable[[Any], Any]
) -> Outcome:
    parts: list[Any] = [
        part for part in flat(out) if hasattr(part, "get") or isinstance(part, ARRAYS)
    ]
    floating: list[Any] = [part for part in parts if part.dtype.kind in "fc"]
    tracked = [isinstance(part, gw.Variable) and part.requires_grad for part in floating]
    values = [asnumpy(gw.unwrap(part)) for part in floating]
    live: list[Any] = [
        part for part, is_tracked in zip(floating, tracked, strict=True) if is_tracked
    ]
    gradients: list[Any] = []
    if live:
        weights = [np.cos(ANY.arange(part.size)).reshape(part.shape) for part in live]
        cotangents = [asarray(w.astype(part.dtype)) for w, part in zip(weights, live, strict=True)]
        found = gw.autograd.grad(live, leaves, cotangents, allow_unused=True)
        gradients = [None if g is None else asnumpy(g) for g in found]
    return Outcome(values, tracked, gradients)


def flat(value: Any) -> list[Any]:
    if is_a(value, list, tuple):
        return [part for one in value for part in flat(one)]
    return [value]


def assert_same(found: Outcome, wanted: Outcome) -> None:
    if not any(found.tracked) and not any(np.any(g) for g in wanted.gradients):
        wanted = Outcome(wanted.results, found.tracked, [])  # a zero derivative, told otherwise
    assert found.tracked == wanted.tracked
    for one, other in zip(found.results, wanted.results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for one, other in zip(found.gradients, wanted.gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
