"""The rows of `scipy.differentiate`, differentiated as exact derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.solving import Solved, as_array
from gradwrap.scipy.table import Row, register
from gradwrap.transforms.jacobian import hessian, jacobian
from gradwrap.transforms.reverse import grad


def _derivative(result: Any, fun: Any, x: Any, args: Any) -> Any:
    at = as_array(x) * np.ones(np.shape(result.df))
    slope = grad(lambda x: np.sum(as_array(fun(x, *args))))(at)
    return {("df",): slope} | ({("x",): at} if "x" in result else {})


def _of_points(derivative: Any, part: str) -> Any:
    def parts(result: Any, fun: Any, x: Any) -> Any:
        x = as_array(x)
        points = np.reshape(x, (x.shape[0], -1))
        made = [
            derivative(lambda p: as_array(fun(p)))(points[:, i]) for i in range(points.shape[1])
        ]
        return {(part,): np.reshape(np.stack(made, axis=-1), np.shape(result[part]))}

    return parts


register(
    [
        Row("differentiate.derivative", Solved(_derivative, checks=True)),
        Row("differentiate.jacobian", Solved(_of_points(jacobian, "df"), checks=True)),
        Row("differentiate.hessian", Solved(_of_points(hessian, "ddf"), checks=True)),
    ]
)
