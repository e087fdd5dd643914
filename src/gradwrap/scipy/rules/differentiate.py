"""The rows of `scipy.differentiate`: the derivative of a difference is that of the derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.kinds import Composed, scipys
from gradwrap.scipy.solving import as_args, as_array, attached, plain, quiet
from gradwrap.scipy.table import Row, call, register
from gradwrap.transforms.jacobian import hessian, jacobian
from gradwrap.transforms.reverse import grad


def _derivative(f: Any, x: Any, *, args: Any = (), **options: Any) -> Any:
    args = as_args(args)
    result = scipys("differentiate.derivative")(
        quiet(f), plain(as_array(x)), args=plain(args), **plain(options)
    )
    shape = np.shape(result.df)
    at = as_array(x) * np.ones(shape)
    slope = grad(lambda x: np.sum(as_array(f(x, *args))))(at)
    parts: dict[Any, Any] = {("df",): slope}
    if "x" in result:
        parts["x",] = at
    return attached("differentiate.derivative", result, parts)


def _of_points(name: str, derivative: Any, part: str) -> Any:

    def composed(f: Any, x: Any, **options: Any) -> Any:
        result = scipys(f"differentiate.{name}")(quiet(f), plain(as_array(x)), **plain(options))
        x = as_array(x)
        points = np.reshape(x, (x.shape[0], -1))
        made = [derivative(lambda p: as_array(f(p)))(points[:, i]) for i in range(points.shape[1])]
        value = np.reshape(np.stack(made, axis=-1), np.shape(result[part]))
        return attached(f"differentiate.{name}", result, {(part,): value})

    return composed


def _wave(x: Any, k: Any) -> Any:
    return np.sin(k * x)


def _two(x: Any) -> Any:
    return np.stack([x[0] * x[1] ** 2, np.sin(x[0])])


def _one(x: Any) -> Any:
    return x[0] ** 2 * x[1] ** 3


ROWS = [
    Row(
        "differentiate.derivative",
        Composed(_derivative, calls_back=True),
        samples=lambda r: [
            call(
                _wave,
                np.array([0.3, 0.9]),
                args=(np.array([1.2, 0.7]),),
                tracked="args",
                take=lambda made: made.df,
                upto=1,
            )
        ],
    ),
    Row(
        "differentiate.jacobian",
        Composed(_of_points("jacobian", jacobian, "df"), calls_back=True),
        samples=lambda r: [call(_two, np.array([0.3, 0.9]), take=lambda made: made.df, upto=1)],
    ),
    Row(
        "differentiate.hessian",
        Composed(_of_points("hessian", hessian, "ddf"), calls_back=True),
        samples=lambda r: [call(_one, np.array([0.3, 0.9]), take=lambda made: made.ddf, upto=1)],
    ),
]
register(ROWS)
