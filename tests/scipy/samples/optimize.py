"""Samples of the rows of `scipy.optimize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call, each


def _cubic(x: Any, a: Any) -> Any:
    return x**3 + a * x - 2.0


def _system(x: Any, a: Any) -> Any:
    return [x[0] + a[0] * x[1] ** 2 - 1.0, x[1] - a[1] * np.sin(x[0])]


def _three_for_two(x: Any, a: Any) -> Any:
    return np.stack([x[0] - a[0], x[1] - 2 * a[1], x[0] * x[1] - 1.0])


def _contraction(x: Any, a: Any) -> Any:
    return a * np.cos(x)


def _bowl(x: Any, a: Any) -> Any:
    return (x - a) ** 2 + 0.1 * x**4


def _curve(x: Any, p: Any, q: Any) -> Any:
    return p * np.exp(-q * x)


def _misfit(p: Any, t: Any, y: Any) -> Any:
    return p[0] * np.exp(-p[1] * t) - y


DATA = np.array([2.0, 1.3, 0.95, 0.55, 0.4])

TIMES = np.array([0.0, 0.4, 0.8, 1.3, 1.7])


def _valley(x: Any, a: Any) -> Any:
    return (x[0] - a[0]) ** 2 + 3 * (x[1] - a[1] * x[0]) ** 2 + 0.1 * (x[0] ** 4 + x[1] ** 4)


SAMPLES: dict[str, Any] = {
    **each(
        "optimize", "brentq brenth bisect ridder toms748", lambda r: [call(_cubic, 0, 2, (0.7,))]
    ),
    "optimize.newton": lambda r: [
        call(_cubic, 1, None, (0.7,)),
        call(_cubic, np.array([1, 1]), None, (np.array([0.7, 0.9]),), upto=1),
    ],
    "optimize.root_scalar": lambda r: [
        call(_cubic, (0.7,), bracket=(0, 2), take=lambda made: made.root)
    ],
    "optimize.root": lambda r: [
        call(
            _three_for_two,
            [1, 1],
            (np.array([0.4, 0.6]),),
            "lm",
            take=lambda made: made.x,
            options={"xtol": 1e-14, "ftol": 1e-14},
            upto=1,
            accuracy=1e-4,
        ),
        call(_system, [0, 0], (np.array([0.4, 0.6]),), take=lambda made: made.x, tol=1e-13),
    ],
    "optimize.approx_fprime": lambda r: [
        call(r.normal(2), lambda x: _valley(x, [0.4, 0.6]), upto=1, accuracy=0.05)
    ],
    "optimize.fsolve": lambda r: [call(_system, [0, 0], (np.array([0.4, 0.6]),), xtol=1e-13)],
    "optimize.fixed_point": lambda r: [
        call(_contraction, 0, (np.array([0.4, 0.6]),), xtol=1e-13, upto=1)
    ],
    "optimize.minimize": lambda r: [
        call(
            _valley,
            [0, 0],
            (np.array([0.4, 0.6]),),
            take=lambda made: [made.x, made.fun],
            tol=1e-7,
            upto=1,
            accuracy=1e-3,
        ),
        call(
            _valley,
            [0, 0],
            (np.array([0.4, 0.6]),),
            "L-BFGS-B",
            bounds=[(0.5, None), (None, None)],
            take=lambda made: [made.x, made.fun],
            tol=1e-14,
            upto=1,
        ),
    ],
    "optimize.minimize_scalar": lambda r: [
        call(
            _bowl,
            None,
            None,
            (0.7,),
            take=lambda made: [made.x, made.fun],
            tol=1e-12,
            upto=1,
            accuracy=1e-4,
        )
    ],
    "optimize.fmin_bfgs": lambda r: [
        call(
            _valley,
            [0, 0],
            args=(np.array([0.4, 0.6]),),
            tracked="args",
            upto=1,
            accuracy=1e-3,
            disp=False,
        )
    ],
    "optimize.fmin_cg": lambda r: [
        call(
            _valley,
            [0, 0],
            args=(np.array([0.4, 0.6]),),
            tracked="args",
            upto=1,
            accuracy=1e-3,
            disp=False,
        )
    ],
    "optimize.fmin_l_bfgs_b": lambda r: [
        call(
            _valley,
            [0, 0],
            args=(np.array([0.4, 0.6]),),
            tracked="args",
            upto=1,
            accuracy=1e-3,
            approx_grad=True,
            take=lambda made: made[0],
        )
    ],
    "optimize.fminbound": lambda r: [call(_bowl, -1, 2, (0.7,), upto=1, accuracy=1e-3, xtol=1e-9)],
    "optimize.brent": lambda r: [call(_bowl, (0.7,), upto=1, accuracy=1e-3)],
    "optimize.least_squares": lambda r: [
        call(
            _misfit,
            [1, 1],
            args=(TIMES, DATA),
            take=lambda made: [made.x, made.cost, made.fun],
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            upto=1,
            tracked="args",
            accuracy=1e-4,
        ),
    ],
    "optimize.leastsq": lambda r: [
        call(
            _misfit,
            [1, 1],
            (TIMES.copy(), DATA.copy()),
            take=lambda made: made[0],
            upto=1,
            xtol=1e-14,
            ftol=1e-14,
            accuracy=1e-4,
        )
    ],
    "optimize.curve_fit": lambda r: [
        call(
            _curve,
            TIMES.copy(),
            DATA.copy(),
            [1, 1],
            upto=1,
            xtol=1e-14,
            ftol=1e-14,
            accuracy=1e-4,
        )
    ],
    "optimize.nnls": lambda r: [call(r.uniform(5, 3), r.normal(5))],
    "optimize.lsq_linear": lambda r: [
        call(r.normal(5, 3), r.normal(5), take=lambda made: [made.x, made.cost, made.fun])
    ],
    "optimize.linprog": lambda r: [
        call(
            np.array([-1.0, -2.0]),
            np.array([[1.0, 1.0], [1.0, 3.0]]),
            np.array([4.0, 6.0]),
            take=lambda made: [made.x, made.fun, made.slack],
        )
    ],
    "optimize.isotonic_regression": lambda r: [
        call(np.array([1.0, 3.0, 2.0, 4.0, 3.5]), take=lambda made: made.x)
    ],
    "optimize.rosen": lambda r: [call(r.normal(3))],
    "optimize.rosen_der": lambda r: [call(r.normal(3))],
    "optimize.rosen_hess": lambda r: [call(r.normal(3))],
    "optimize.rosen_hess_prod": lambda r: [call(r.normal(3), r.normal(3))],
    "optimize.elementwise.find_root": lambda r: [
        call(
            _cubic,
            (0, 2),
            args=(np.array([0.7, 0.9]),),
            take=lambda made: made.x,
            tracked="args",
        )
    ],
    "optimize.elementwise.find_minimum": lambda r: [
        call(
            _bowl,
            (-1, 0, 2),
            args=(np.array([0.7, 0.9]),),
            take=lambda made: [made.x, made.f_x],
            upto=1,
            tracked="args",
            accuracy=1e-4,
        )
    ],
    "optimize.elementwise.bracket_root": lambda r: [
        call(
            _cubic,
            np.array([-3.0]),
            args=(np.array([0.7]),),
            tracked="args",
            take=lambda made: [*made.bracket, *made.f_bracket],
            upto=1,
        )
    ],
    "optimize.elementwise.bracket_minimum": lambda r: [
        call(
            _bowl,
            np.array([-3.0]),
            args=(np.array([0.7]),),
            tracked="args",
            take=lambda made: [*made.bracket, *made.f_bracket],
            upto=1,
        )
    ],
    **{
        f"optimize.{name}": lambda r, more=more: [
            call(
                _valley,
                [(-1, 2), (-1, 2)],
                (np.array([0.4, 0.6]),),
                upto=1,
                accuracy=1e-3,
                take=lambda made: made.x,
                **more,
            )
        ]
        for name, more in {
            "differential_evolution": {"rng": 1},
            "dual_annealing": {"rng": 1, "maxiter": 50},
            "shgo": {},
        }.items()
    },
}
