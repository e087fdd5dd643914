"""`np.poly1d` with tracked coefficients, and plain ones that meet tracked numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(
    "ignore::gradwrap.errors.TrackedTextWarning", "ignore::gradwrap.errors.CompileWarning"
)
PROGRAMS = {
    "divided": "return (np.poly1d([x[0], 2.0, x[1]]) / x[1])(1.5)",
    "plain ones": """
        p = np.poly1d([1.0, 2.0, 3.0])
        return (p * x[0] + x[1] - p / x[0])(x[1])
        """,
    "of the module": """
        p = M / x[0]
        assert isinstance(p, poly1d) and type(p) is poly1d and type(M) is poly1d
        a = float(x[0])
        return p(x[1]) + (M * a)(2.0) + (M - a)(1.0) + (a - M)(1.0) + (a + M)(1.0) + (a * M)(x[1])
        """,
    "a quotient": """
        q, r = np.poly1d([x[0], 2.0, x[1]]) / np.poly1d([1.0, x[1]])
        s, t = np.polydiv(np.poly1d([x[0], 2.0, x[1]]), M)
        return q(2.0) * r(1.0) + s(0.5) * t(2.0)
        """,
    "roots": """
        p = np.poly1d([x[0], -5.0, x[1]])
        return np.sum(p.r.real ** 2) + p.order + len(p) + np.poly1d([x[0], x[1]], True)(0.3)
        """,
    "coefficients": """
        p = np.poly1d([1.0, 2.0, 3.0])
        p[1] = x[0]
        p[4] = x[1]
        return p(1.2) + p.coef[0] + p[1] ** 2 + sum(v for v in p) + np.sum(np.asarray(p))
        """,
    "functions": """
        p = np.poly1d([x[0], x[1], 2.0])
        q = np.polyadd(p, M) / x[0]
        inserted = p(M)(0.5) + M(p)(0.5) + (p.deriv() * p.integ())(0.7)
        return np.polyval(np.polymul(q, [1.0, x[1]]), 0.3) + np.polyder(p)(2.0) + inserted
        """,
    "in place": """
        p = np.poly1d([x[0], x[1], 2.0], variable="s")
        assert p.variable == "s" and p == p and p != M and str(p).count("s") == 2
        p = -p
        p /= x[1]
        p *= 2
        p += x[0]
        p -= 1
        return (+p)[2] * (p ** 2)(0.5)
        """,
    "a fit": """
        p = np.poly1d(np.polyfit([0.0, 1.0, 2.0, 3.0], [x[0], x[1], 1.0, 2.0], 2))
        return (p / 2)(0.3) + (p / x[0])(1.0)
        """,
}
SOURCE = "from numpy import poly1d\nM = np.poly1d([1.0, -2.0, 3.0])\ndef run(x):\n"


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_polynomials_as_objects(body: str, tmp_path: Path) -> None:
    lines = [f"    {line.strip()}" for line in body.strip().split("\n")]
    run = written(tmp_path, SOURCE + "\n".join(lines)).run
    check_modes(run, np.array([1.3, 0.7]))


def test_a_polynomial_of_the_module_stays_as_it_was(tmp_path: Path) -> None:
    package = written(tmp_path, f"{SOURCE}    M[0] = x[0]\n    return M(x[1])\n")
    with pytest.raises(gw.errors.TrackedValueError, match="A store into a plain"):
        gw.grad(gw.adapting(package.run))(np.array([1.3, 0.7]))
    assert type(package.M) is np.poly1d
    assert package.M.coeffs.tolist() == [1.0, -2.0, 3.0]
