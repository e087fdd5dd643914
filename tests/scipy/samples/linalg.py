"""Samples of the rows of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_samples import call, each

FIRST = np.array([3.0, 0.0, 0.0, 0.0])

BANDS = np.array([[0.0, 0.3, -0.4, 0.2], [3.0, 2.5, 4.0, 3.5], [0.5, -0.2, 0.1, 0.0]])


def _bands(r: Any) -> Any:
    return BANDS + 0.1 * r.normal(3, 4)


def _upper_bands(r: Any) -> Any:
    return (BANDS + 0.1 * r.normal(3, 4))[:2]


SAMPLES: dict[str, Any] = {
    "linalg.inv": lambda r: [
        call(r.matrix(3)),
        call(r.spd(3) + 0.1 * r.normal(3, 3), assume_a="upper triangular"),
        call(r.complex(2, 2)),
    ],
    "linalg.solve": lambda r: [
        call(r.matrix(3), r.normal(3)),
        call(r.matrix(3), r.normal(3, 2), transposed=True),
        call(r.matrix(3), r.normal(3), lower=True, assume_a="lower triangular"),
        call(r.complex(2, 2), r.complex(2)),
    ],
    "linalg.solve_triangular": lambda r: [
        call(r.matrix(3), r.normal(3)),
        call(r.matrix(3), r.normal(3, 2), lower=True, trans=1),
        call(r.matrix(3), r.normal(3, 2), trans="C", unit_diagonal=True),
        call(r.complex(2, 2), r.complex(2), trans="T"),
        call(r.complex(2, 2), r.complex(2), trans="C"),
    ],
    "linalg.solve_banded": lambda r: [
        call((1, 1), _bands(r), r.normal(4)),
        call((1, 1), _bands(r), r.normal(4, 2)),
        call((2, 0), _bands(r)[[1, 0, 2]] + 0.5, r.normal(4)),
    ],
    "linalg.solveh_banded": lambda r: [
        call(_upper_bands(r), r.normal(4)),
        call(_upper_bands(r)[::-1], r.normal(4, 2), lower=True),
    ],
    "linalg.solve_circulant": lambda r: [
        call(r.uniform(4) + FIRST, r.normal(4)),
        call(r.uniform(4) + FIRST, r.normal(4, 2)),
    ],
    "linalg.solve_toeplitz": lambda r: [
        call(r.uniform(4) + FIRST, r.normal(4)),
        call(r.uniform(4) + FIRST, r.normal(4, 2)),
    ],
    "linalg.matmul_toeplitz": lambda r: [
        call(r.normal(4), r.normal(4)),
        call(r.normal(4), r.normal(4, 2)),
    ],
    "linalg.det": lambda r: [call(r.matrix(3)), call(r.complex(2, 2))],
    "linalg.norm": lambda r: [
        call(r.normal(3)),
        call(r.matrix(3)),
        call(r.matrix(3), ord=2),
        call(r.normal(3, 2), ord=1, axis=1, keepdims=True),
    ],
    "linalg.lstsq": lambda r: [
        call(r.normal(5, 3), r.normal(5)),
        call(r.normal(5, 3), r.normal(5, 2)),
        call(r.normal(2, 4), r.normal(2)),
    ],
    "linalg.pinv": lambda r: [call(r.normal(4, 2)), call(r.normal(2, 4)), call(r.complex(3, 2))],
    "linalg.pinvh": lambda r: [call(r.spd(3))],
    "linalg.orthogonal_procrustes": lambda r: [call(r.normal(4, 2), r.normal(4, 2))],
    "linalg.subspace_angles": lambda r: [
        call(r.normal(5, 2), r.normal(5, 2)),
        call(r.normal(5, 1), r.normal(5, 2)),
    ],
    "linalg.matrix_balance": lambda r: [call(r.matrix(3)), call(r.matrix(3), separate=True)],
    "linalg.khatri_rao": lambda r: [call(r.normal(2, 3), r.normal(4, 3))],
    "linalg.eigh": lambda r: [
        call(r.spd(3), take=lambda wv: (wv[0], wv[1] ** 2)),  # signs may turn
        call(r.spd(3), r.spd(3), take=lambda wv: (wv[0], wv[1] ** 2)),
        call(r.spd(3), eigvals_only=True),
        call(r.spd(4), subset_by_index=[1, 2]),
        call(r.spread(3) + 0j, eigvals_only=True),
    ],
    "linalg.eigvalsh": lambda r: [
        call(r.spd(3)),
        call(r.spd(3), r.spd(3)),
        call(r.spd(4), subset_by_index=[1, 2]),
    ],
    "linalg.eig": lambda r: [
        call(r.normal(3, 3)),
        call(r.spread(3) + 0.1 * r.normal(3, 3), r.spd(3)),
        call(r.spread(3) + 0.1 * r.normal(3, 3), r.spd(3), right=False),
        call(r.spd(3) + np.triu(r.normal(3, 3))),
        call(r.complex(2, 2)),
    ],
    "linalg.eigvals": lambda r: [call(r.normal(3, 3)), call(r.normal(3, 3), r.matrix(3))],
    "linalg.eig_banded": lambda r: [
        call(_upper_bands(r)),
        call(_upper_bands(r)[::-1], lower=True, eigvals_only=True),
        call(_upper_bands(r), select="i", select_range=(1, 2)),
    ],
    "linalg.eigvals_banded": lambda r: [
        call(_upper_bands(r)),
        call(_upper_bands(r), select="i", select_range=(0, 1)),
    ],
    "linalg.eigh_tridiagonal": lambda r: [
        call(r.normal(4), r.normal(3)),
        call(r.normal(4), r.normal(3), eigvals_only=True),
        call(r.normal(4), r.normal(3), select="i", select_range=(1, 2)),
        call(r.normal(4), r.normal(3), select="v", select_range=(-9.0, 0.0)),
    ],
    "linalg.eigvalsh_tridiagonal": lambda r: [
        call(r.normal(4), r.normal(3)),
        call(r.normal(4), r.normal(3), select="i", select_range=(0, 1)),
    ],
    "linalg.svd": lambda r: [
        call(r.normal(3, 3)),
        call(r.normal(4, 2), full_matrices=False),
        call(r.normal(2, 4), full_matrices=False),
        call(r.normal(4, 2), compute_uv=False),
    ],
    "linalg.svdvals": lambda r: [call(r.normal(4, 2))],
    "linalg.diagsvd": lambda r: [call(r.normal(2), 2, 3), call(r.normal(2), 3, 2)],
    "linalg.orth": lambda r: [call(r.normal(4, 2))],
    "linalg.null_space": lambda r: [call(r.normal(2, 3))],
    "linalg.lu": lambda r: [
        call(r.normal(3, 3)),
        call(r.normal(4, 2), p_indices=True),
        call(r.normal(2, 4), permute_l=True),
    ],
    "linalg.lu_factor": lambda r: [
        call(r.normal(3, 3)),
        call(r.normal(4, 2)),
        call(r.normal(2, 4)),
    ],
    "linalg.lu_solve": lambda r: [
        call((r.matrix(3), np.array([1, 2, 2])), r.normal(3)),
        call((r.matrix(3), np.array([1, 2, 2])), r.normal(3, 2), trans=1),
    ],
    "linalg.ldl": lambda r: [call(r.spd(3)), call(r.spd(3), lower=False)],
    "linalg.cholesky": lambda r: [call(r.spd(3)), call(r.spd(3), lower=True)],
    "linalg.cho_factor": lambda r: [call(r.spd(3)), call(r.spd(3), lower=True)],
    "linalg.cho_solve": lambda r: [
        call((r.matrix(3), True), r.normal(3)),
        call((r.matrix(3), False), r.normal(3, 2)),
    ],
    "linalg.cholesky_banded": lambda r: [
        call(_upper_bands(r)),
        call(_upper_bands(r)[::-1], lower=True),
    ],
    "linalg.cho_solve_banded": lambda r: [
        call((_upper_bands(r), False), r.normal(4)),
        call((_upper_bands(r)[::-1], True), r.normal(4)),
    ],
    "linalg.polar": lambda r: [
        call(r.normal(3, 3)),
        call(r.normal(4, 2)),
        call(r.normal(3, 3), side="left"),
    ],
    "linalg.qr": lambda r: [
        call(r.normal(3, 3)),
        call(r.normal(4, 2)),
        call(r.normal(4, 2), mode="economic"),
        call(r.normal(2, 4)),
        call(r.normal(4, 3), mode="r"),
        call(r.normal(3, 3), pivoting=True),
    ],
    "linalg.rq": lambda r: [call(r.normal(3, 3)), call(r.normal(2, 4), mode="economic")],
    "linalg.qr_multiply": lambda r: [
        call(r.normal(3, 3), r.normal(3, 3)),
        call(r.normal(4, 2), r.normal(2, 3), mode="left"),
    ],
    "linalg.hessenberg": lambda r: [
        call(r.normal(4, 4)),
        call(r.normal(4, 4), calc_q=True),
        *(call(r.complex(n, n), calc_q=True) for n in (2, 3, 4)),
    ],
    "linalg.schur": lambda r: [
        call(r.normal(3, 3)),
        call(r.normal(4, 4)),
        call(np.triu(r.normal(3, 3)) + 0.1 * r.normal(3, 3) + np.diag([0.0, 3.0, 6.0])),
    ],
    "linalg.qz": lambda r: [
        call(np.diag([1.0, 4.0, 9.0]) + 0.1 * r.normal(3, 3), np.eye(3) + 0.1 * r.normal(3, 3)),
    ],
    "linalg.funm": lambda r: [
        call(0.4 * r.normal(3, 3) + np.diag([1.0, 1.6, 2.2]), lambda w: np.exp(-w * w)),
    ],
    **each(
        "linalg",
        "expm cosm sinm tanm coshm sinhm tanhm",
        lambda r: [call(0.4 * r.normal(3, 3) + np.diag([1.0, 1.6, 2.2]))],
    ),
    "linalg.sqrtm": lambda r: [call(0.4 * r.normal(3, 3) + np.diag([1.0, 1.6, 2.2]))],
    "linalg.logm": lambda r: [call(0.4 * r.normal(3, 3) + np.diag([1.0, 1.6, 2.2]))],
    "linalg.signm": lambda r: [call(0.2 * r.normal(3, 3) + np.diag([1.0, -1.6, 2.2]), upto=1)],
    "linalg.fractional_matrix_power": lambda r: [
        call(0.3 * r.normal(3, 3) + np.diag([1.0, 1.6, 2.2]), 0.7)
    ],
    "linalg.expm_frechet": lambda r: [call(r.normal(2, 2), r.normal(2, 2))],
    "linalg.solve_sylvester": lambda r: [call(r.matrix(3), r.matrix(2), r.normal(3, 2))],
    "linalg.solve_continuous_lyapunov": lambda r: [call(r.matrix(3), r.normal(3, 3))],
    "linalg.solve_discrete_lyapunov": lambda r: [call(0.2 * r.matrix(3), r.normal(3, 3))],
    "linalg.solve_continuous_are": lambda r: [
        call(r.normal(2, 2), r.normal(2, 1), r.spd(2), r.spd(1), upto=1)
    ],
    "linalg.solve_discrete_are": lambda r: [
        call(r.normal(2, 2), r.normal(2, 1), r.spd(2), r.spd(1), upto=1)
    ],
    "linalg.block_diag": lambda r: [call(r.normal(2, 2), r.normal(3), r.normal(1, 2))],
    "linalg.toeplitz": lambda r: [
        call(r.normal(3)),
        call(r.normal(3), r.normal(4)),
        call(r.complex(3)),
    ],
    "linalg.circulant": lambda r: [call(r.normal(3))],
    "linalg.hankel": lambda r: [call(r.normal(3)), call(r.normal(3), r.normal(4))],
    "linalg.companion": lambda r: [call(r.normal(4))],
    "linalg.fiedler": lambda r: [call(r.normal(4))],
    "linalg.fiedler_companion": lambda r: [call(r.normal(6)), call(r.normal(5))],
    "linalg.leslie": lambda r: [call(r.normal(4), r.normal(3))],
    "linalg.convolution_matrix": lambda r: [
        call(r.normal(3), 4),
        call(r.normal(3), 4, "same"),
        call(r.normal(3), 5, "valid"),
    ],
}
