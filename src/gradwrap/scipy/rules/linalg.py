"""The rows of `scipy.linalg`.

Formulas of decompositions follow M. B. Giles, "An extended collection of matrix derivative results
for forward and reverse mode algorithmic differentiation" (Oxford, 2008), and, for functions of a
matrix, N. J. Higham, "Functions of Matrices" (SIAM, 2008), eq. 3.16.
"""

from __future__ import annotations

from gradwrap.scipy.dispatching import Constant, Refused
from gradwrap.scipy.rules.decompositions import DECOMPOSITIONS, EIGENVALUES
from gradwrap.scipy.rules.lapack import module, stand_in
from gradwrap.scipy.rules.linear_systems import SYSTEMS
from gradwrap.scipy.rules.matrix_functions import MATRIX_FUNCTIONS, SPECIAL_MATRICES
from gradwrap.scipy.table import Row, own, register

CHOICE = "its result depends on choices of LAPACK. Fix: use an equivalent that has one, such as"
NONE = [
    *(
        Row(f"linalg.{name}", Constant("a fact about the elements"))
        for name in ("issymmetric", "ishermitian", "bandwidth")
    ),
    Row("linalg.ordqz", Refused(f"{CHOICE} scipy.linalg.eigvals(a, b).")),
    Row("linalg.rsf2csf", Refused(f"{CHOICE} scipy.linalg.eigvals.")),
    Row("linalg.cdf2rdf", Refused(f"{CHOICE} scipy.linalg.eig.")),
    Row("linalg.cossin", Refused(f"{CHOICE} scipy.linalg.svd.")),
    Row(
        "linalg.expm_cond",
        Refused("it is a norm of a derivative. Fix: gradwrap.jacobian of scipy.linalg.expm."),
    ),
    Row(
        "linalg.clarkson_woodruff_transform",
        Refused("it is a random sketch. Fix: multiply by the sketch of the identity matrix."),
    ),
]
register([*SYSTEMS, *EIGENVALUES, *DECOMPOSITIONS, *MATRIX_FUNCTIONS, *SPECIAL_MATRICES, *NONE])
own.update(function=stand_in, module=module)
