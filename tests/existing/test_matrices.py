"""`np.matrix` in adapted code, against differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NonDifferentiableInputError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
X = np.array([0.7, 1.3, 1.9])
SOURCE = """
from numpy import matrix, asmatrix

KNOWN = np.matrix([[1.0, 2.0], [3.0, 4.0]])

def products(x):
    a, b = matrix([[x[0], 1.0], [2.0, x[1]]]), asmatrix(np.eye(2) * x[2])
    return (a * b + a**2 - 2 * a / x[1]).sum() + np.trace(a.T * a) + (a.I * b)[1, 0]

def parts(x):
    a, v = np.matrix(np.outer(x, x)) + np.eye(3), np.matrix(x).T
    total = (v.T * a * v)[0, 0] + a[0, :].sum() + a[:, 1].T.dot(v).item() + a.mean(axis=0)[0, 1]
    return total + a.max() + np.linalg.det(a) + a.A1[2] + np.asarray(a)[1, 2] + a.H[0].sum()

def of_text(x):
    a = np.matrix("1 2; 3 4") * x[0]
    if a.ndim != 2 or a.shape != (2, 2) or not isinstance(a, np.matrix):
        return 0.0
    return a.flatten()[0, 3] + a.tolist()[0][1] + (np.matrix([[1, 2], [3, 4]]) * a)[1, 0]

def stores(x):
    v = np.matrix([0.0, 0.0, 0.0]).T
    for i in range(3):
        v[i, 0] = x[i] ** 2
    r = np.asmatrix(np.diag(x))
    w = np.concatenate([np.linalg.solve(r, v), v], axis=1)
    return np.sum(np.multiply(w, w)) + (r * v)[2, 0] + np.sqrt(v.T * v)[0, 0] + (w.T * w)[0, 1]

def blocks(x):
    a = np.bmat([[np.eye(2) * x[0], np.ones((2, 2))], [np.ones((2, 2)), np.eye(2) * x[1]]])
    return np.linalg.det(a) + (a * a)[0, 3]

def kalman(x):
    p, f, h = np.matrix(np.eye(2)), np.matrix([[1.0, 0.1], [0.0, 1.0]]), np.matrix([[1.0, 0.0]])
    s = np.matrix([[0.0], [0.0]])
    for z in x:
        s, p = f * s, f * p * f.T + 0.01 * np.eye(2)
        k = p * h.T * np.linalg.inv(h * p * h.T + 0.5)
        s, p = s + k * (z - h * s), (np.eye(2) - k * h) * p
    return s[0, 0] ** 2 + s[1, 0]

def beside_known(x):
    return ((KNOWN + x[0]) * KNOWN)[0, 0] + (KNOWN / x[1] * KNOWN)[1, 1]

def of_known(x):
    return (KNOWN * x[0] * KNOWN)[0, 1]

def stored_in_an_array(x):
    a = np.zeros([4, 1])
    a[np.ix_([0, 2])] = np.asmatrix(np.ones(2)).reshape(2, 1)
    a[np.ix_([1, 3])] = np.asmatrix(x[:2] ** 2).reshape(2, 1)
    return (np.eye(4) * x[2] * np.asmatrix(a))[3, 0] + (a * a).sum()

def made_inside(x):
    known = np.matrix(KNOWN)
    return (known * x[0] * known)[0, 1] + (x[1] * known**2)[1, 1]
"""
NAMES = (
    *("products", "parts", "of_text", "stores", "blocks", "kalman"),
    *("beside_known", "made_inside", "stored_in_an_array"),
)


@pytest.mark.parametrize("name", NAMES)
def test_as_differences(tmp_path: Path, name: str) -> None:
    function = getattr(written(tmp_path, SOURCE), name)
    expected = [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    adapted = gw.adapting(function)
    for _ in range(2):
        value, found = gw.value_and_grad(adapted)(X)
        assert np.allclose(value, function(X), rtol=1e-13)
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-7)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(3)]
    assert np.allclose(forward, expected, rtol=1e-6, atol=1e-7)


def test_one_that_was_made_before_is_refused_with_a_remedy_that_works(tmp_path: Path) -> None:
    package = written(tmp_path, SOURCE)
    with pytest.raises(NonDifferentiableInputError, match=r"Fix: make it inside, np\.matrix"):
        gw.grad(gw.adapting(package.of_known))(X)
    plain: Any = package.KNOWN * 2.0
    assert type(plain) is np.matrix
    assert (plain * package.KNOWN)[0, 0] == 14.0
