from numpy.linalg import LinAlgError as LinAlgError
from cupy.linalg._decomposition import (
    cholesky as cholesky,
    qr as qr,
    svd as svd,
)
from cupy.linalg._eigenvalue import (
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
)
from cupy.linalg._norms import (
    cond as cond,
    det as det,
    matrix_rank as matrix_rank,
    norm as norm,
    slogdet as slogdet,
)
from cupy.linalg._product import (
    matrix_power as matrix_power,
)
from cupy.linalg._solve import (
    inv as inv,
    lstsq as lstsq,
    pinv as pinv,
    solve as solve,
    tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
