"""autoray finds gradwrap's functions for tracked arrays, and calls them as it calls NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwrap
from gradwrap.testing import check_grads

pytestmark = pytest.mark.peers
autoray: Any = pytest.importorskip("autoray")
gw: Any = gradwrap
X = np.arange(1.0, 7.0).reshape(2, 3)


def functions(x: Any) -> Any:
    do = autoray.do
    u, s, vh = do("linalg.svd", x)
    total = do("sum", do("tanh", x)) + do("linalg.norm", do("stack", [x, 2.0 * x]))
    total = total + do("sum", do("complex", x, x)).real + do("sum", do("scipy.special.erf", x))
    assert (u.shape, vh.shape) == ((2, 2), (2, 3))
    return total + do("linalg.norm", do("linalg.expm", x @ do("transpose", x) / 50.0)) + s[0]


def test_functions_that_autoray_looks_up() -> None:
    assert autoray.infer_backend(gw.wrap(X)) == "gradwrap"
    check_grads(functions, (X,), order=2)
    np.testing.assert_allclose(gw.value_and_grad(functions)(X)[0], functions(X), rtol=1e-12)
