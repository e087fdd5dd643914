"""Programs on `gradwrap.compat.autograd` give what HIPS autograd gives; a sample of its tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.peers
PROGRAM = """
import sys
if sys.argv[1] == "gradwrap":
    import gradwrap.compat.autograd
    gradwrap.compat.autograd.install()
import autograd.numpy as np
from autograd import grad, hessian, jacobian, make_jvp, elementwise_grad, holomorphic_grad
from autograd.extend import primitive, defvjp
from autograd.misc.flatten import flatten
from autograd.scipy.special import gammaln, logsumexp
from autograd.scipy import stats

@primitive
def softplus(x):
    return np.log1p(np.exp(x))

defvjp(softplus, lambda ans, x: lambda g: g / (1.0 + np.exp(-x)))
x = np.linspace(-1.0, 2.0, 6)
a = np.reshape(np.cos(np.arange(16.0) ** 2), (4, 4)) + 2.0 * np.eye(4)
z = x[:3] + 1j * x[3:]
results = [
    grad(lambda p: np.sum(softplus(p["w"] * x)) * p["s"])({"w": 0.3, "s": x[1]}),
    hessian(lambda x: np.sum(softplus(x) ** 2))(x),
    jacobian(lambda x: np.concatenate([np.sort(x), np.cumsum(x)]))(x),
    grad(lambda a: np.sum(np.linalg.eigh(a)[0] ** 3))(a),
    grad(lambda a: np.linalg.slogdet(a)[1] + np.sum(np.linalg.inv(a)))(a),
    grad(lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2))(z),
    grad(lambda z: np.real(np.prod(z)))(z),
    holomorphic_grad(lambda z: np.sum(np.sin(z)))(z),
    make_jvp(np.tanh)(x)(x + 1.0)[1],
    elementwise_grad(gammaln)(x + 3.0),
    grad(lambda x: logsumexp(x) + np.sum(stats.t.logpdf(x, 3.0, 0.5, 2.0)))(x),
    grad(lambda x: np.sum(stats.norm.logcdf(x, 0.2, 1.5)))(x),
]
flat = [flatten(r)[0] for r in results]
print(*(float(v).hex() for r in flat for v in np.ravel([r.real, r.imag])))
"""


def _numbers(library: str) -> Any:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, library], capture_output=True, text=True, check=True
    )
    return np.array([float.fromhex(text) for text in found.stdout.split()])


def test_the_results_are_those_of_autograd() -> None:
    pytest.importorskip("autograd")
    wanted = _numbers("autograd")
    assert wanted.size > 200
    np.testing.assert_allclose(_numbers("gradwrap"), wanted, rtol=1e-9, atol=1e-12)


def test_explained_differences_have_a_reason_each() -> None:
    text = (Path(__file__).parent / "hips.py").read_text(encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "hips"}
    exec(compile(text, "hips.py", "exec"), scope)  # noqa: S102  the command beside this file
    explained: dict[str, str] = scope["EXPLAINED"]
    assert len(explained) <= 6  # of 631
    assert all(reason for reason in explained.values())
