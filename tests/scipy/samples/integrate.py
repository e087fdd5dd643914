"""Samples of the rows of `scipy.integrate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwrap.scipy.rules.paths import EXPLICIT
from scipy_samples import call


def _decay(t: Any, y: Any, k: Any) -> Any:
    return [-k * y[0], k * y[0] - 0.3 * y[1] * y[1] + np.sin(t)]


def _decay_y(y: Any, t: Any, k: Any) -> Any:
    return _decay(t, y, k)


def _damped(x: Any, k: Any) -> Any:
    return np.exp(-k * x) * np.cos(x)


def _bell(x: Any, k: Any) -> Any:
    return np.exp(-k * x * x)


def _plane(y: Any, x: Any, k: Any) -> Any:
    return np.exp(-k * x) * y * y


def _damped_many(x: Any, k: Any) -> Any:
    return np.exp(-k * x)


def _over_rows(x: Any, k: Any) -> Any:
    return np.exp(-k * x[:, 0]) * x[:, 1]


TOLERANCE: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}


def _sampled(r: Any) -> Any:
    return [
        call(r.normal(7)),
        call(r.normal(6), r.rising(6)),
        call(r.normal(3, 6), r.rising(6), axis=1),
        call(r.normal(6, 2), dx=0.3, axis=0),
    ]


def _sampled_by_name(r: Any) -> Any:
    return [
        call(r.normal(7)),
        call(r.normal(6), x=r.rising(6)),
        call(r.normal(3, 6), x=r.rising(6), axis=1, initial=0.0),
        call(r.normal(6, 2), dx=0.3, axis=0),
        call(r.normal(2), dx=0.3),
    ]


def _terms(k: Any, p: Any) -> Any:
    return np.exp(-0.1 * k) / (k + p) ** p


SAMPLES: dict[str, Any] = {
    "integrate.nsum": lambda r: [
        call(_terms, 1, 20, args=(2.3,), tracked="args", take=lambda made: made.sum),
        call(_terms, 1, 500, args=(2.3,), tracked="args", take=lambda made: made.sum),
    ],
    "integrate.trapezoid": _sampled,
    "integrate.cumulative_trapezoid": lambda r: [*_sampled(r), call(r.normal(6), initial=0)],
    "integrate.simpson": lambda r: [*_sampled(r), call(r.normal(7), r.rising(7))],
    "integrate.cumulative_simpson": _sampled_by_name,
    "integrate.romb": lambda r: [call(r.normal(9)), call(r.normal(5, 2), 0.3, axis=0)],
    "integrate.quad": lambda r: [
        call(_damped, 0.2, 1.7, (0.8,), take=lambda made: made[0]),
        call(_damped, 0.2, np.inf, (0.8,), take=lambda made: made[0]),
        call(_bell, -np.inf, np.inf, (0.8,), take=lambda made: made[0]),
    ],
    "integrate.dblquad": lambda r: [
        call(
            _plane,
            0.1,
            0.9,
            lambda x: x,
            lambda x: 2 * x + 1,
            (0.7,),
            take=lambda made: made[0],
            upto=1,
        )
    ],
    "integrate.nquad": lambda r: [
        call(_plane, [[0.0, 1.0], [0.2, 0.7]], (0.7,), take=lambda made: made[0], upto=1)
    ],
    "integrate.fixed_quad": lambda r: [call(_damped, 0.2, 1.7, (0.8,), take=lambda made: made[0])],
    "integrate.quad_vec": lambda r: [
        call(_damped_many, 0.2, 1.7, args=(np.array([0.8, 0.3]),), take=lambda made: made[0]),
        call(
            _damped_many,
            0.2,
            np.inf,
            args=(np.array([0.8, 0.3]),),
            take=lambda made: made[0],
            upto=1,
        ),
    ],
    "integrate.tanhsinh": lambda r: [
        call(_damped, 0.2, 1.7, args=(0.8,), take=lambda made: made.integral, upto=1)
    ],
    "integrate.cubature": lambda r: [
        call(
            _over_rows,
            np.array([0.1, 0.2]),
            np.array([1.0, 0.9]),
            args=(0.8,),
            take=lambda made: made.estimate,
            upto=1,
        )
    ],
    "integrate.solve_ivp": lambda r: [
        *(
            call(
                _decay,
                (0.0, 2.0),
                r.uniform(2),
                method,
                args=(0.7,),
                upto=1,
                take=lambda made: made.y[:, -1],
                **TOLERANCE,
            )
            for method in EXPLICIT
        ),
        *(
            call(
                _decay,
                (0.0, 2.0),
                r.uniform(2),
                method,
                np.array([0.3, 1.1, 1.9]),
                args=(0.7,),
                upto=1,
                take=lambda made: made.y,
                **TOLERANCE,
            )
            for method in EXPLICIT
        ),
    ],
    "integrate.odeint": lambda r: [
        call(
            _decay_y,
            r.uniform(2),
            np.array([0.0, 0.4, 1.0]),
            (0.7,),
            upto=1,
            rtol=1e-10,
            atol=1e-11,
        )
    ],
}
