"""The rows of `scipy.differentiate`, differentiated as exact derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.dispatching import Composed, scipys
from gradwrap.scipy.solving import as_args, as_array, attached, plain, quiet
from gradwrap.scipy.table import Row, register
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


ROWS = [
    Row("differentiate.derivative", Composed(_derivative, calls_back=True)),
    Row(
        "differentiate.jacobian", Composed(_of_points("jacobian", jacobian, "df"), calls_back=True)
    ),
    Row("differentiate.hessian", Composed(_of_points("hessian", hessian, "ddf"), calls_back=True)),
]
register(ROWS)
