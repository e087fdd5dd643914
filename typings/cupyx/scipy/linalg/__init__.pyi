# Importing it needs cuBLAS: without a GPU's libraries stubtest cannot compare this package.
from cupyx.scipy.linalg._decomp_lu import lu as lu, lu_factor as lu_factor, lu_solve as lu_solve
from cupyx.scipy.linalg._matfuncs import expm as expm, khatri_rao as khatri_rao
from cupyx.scipy.linalg._solve_triangular import solve_triangular as solve_triangular
from cupyx.scipy.linalg._special_matrices import (
    block_diag as block_diag,
    circulant as circulant,
    companion as companion,
    hankel as hankel,
    hilbert as hilbert,
    kron as kron,
    toeplitz as toeplitz,
)
