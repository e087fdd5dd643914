"""Functions of gradwrap.scipy in compiled functions: each is one operation of the program."""

from __future__ import annotations

import importlib.util
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap import scipy
from gradwrap.errors import CompileWarning

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable

RNG = np.random.default_rng(9)
A = RNG.random((4, 4)) + np.eye(4)
ONES = np.ones(4)

grad: Any = gw.grad
untyped: Any = scipy


def quadrature(a: Any) -> Any:
    value, _ = untyped.integrate.fixed_quad(lambda t: np.exp(-a[0, 0] * t * t), 0.0, 1.0, n=5)
    return value


def of_spectrum(a: Any) -> Any:
    values, vectors = untyped.linalg.eigh(a @ a.T)
    return np.sum(np.log(values)) + np.sum(vectors[:, 0] ** 4)


def in_a_loop(a: Any) -> Any:
    total = 0.0
    for k in range(12):
        total = total + untyped.special.logsumexp(a[k % 4] * k)
    return total


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "fixed_quad": quadrature,
    "simpson": lambda a: untyped.integrate.simpson(a[0] ** 2),
    "logsumexp": lambda a: np.sum(untyped.special.logsumexp(a, axis=1)),
    "softmax": lambda a: np.sum(untyped.special.softmax(a, axis=0) ** 2),
    "expm": lambda a: np.sum(untyped.linalg.expm(0.1 * a)),
    "eigh": of_spectrum,
    "solve_triangular": lambda a: np.sum(untyped.linalg.solve_triangular(a, ONES, lower=True)),
    "cholesky": lambda a: np.sum(untyped.linalg.cholesky(a @ a.T)),
    "fftconvolve": lambda a: np.sum(untyped.signal.fftconvolve(a[0], ONES, mode="same") ** 2),
    "lfilter": lambda a: np.sum(untyped.signal.lfilter([0.1, 0.2], [1.0, -0.5], a[0]) ** 2),
    "rfft": lambda a: np.sum(np.abs(untyped.fft.rfft(a)) ** 2),
    "gaussian_filter": lambda a: np.sum(untyped.ndimage.gaussian_filter(a, 1.0) ** 2),
    "cdist": lambda a: np.sum(untyped.spatial.distance.cdist(a, 2.0 * a[::-1])),
    "norm.logpdf": lambda a: np.sum(untyped.stats.norm.logpdf(a, loc=np.mean(a), scale=1.5)),
    "gamma.logpdf": lambda a: np.sum(untyped.stats.gamma.logpdf(a, 2.5)),
    "a loop": in_a_loop,
}


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_of_scipy_is_compiled(name: str, engine: str) -> None:
    function = grad(PROGRAMS[name])
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a in (A, 1.2 * A, A):
            found, wanted = compiled(a), function(a)
            assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
            np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)
    assert len(compiled.programs) == 1


def test_a_saved_program_imports_what_it_calls_of_scipy(tmp_path: pathlib.Path) -> None:
    compiled: Any = gw.compile(grad(PROGRAMS["expm"]))
    wanted = compiled(A)
    path = tmp_path / "of_expm.py"
    compiled.save(path)
    assert "import scipy.linalg\n" in path.read_text()
    spec = importlib.util.spec_from_file_location("of_expm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_array_equal(module.compiled(A)[0], wanted)


def test_a_function_that_gives_no_arrays_runs_eagerly() -> None:
    def f(a: Any) -> Any:
        return np.sum(untyped.interpolate.CubicSpline(np.arange(4.0), a[0])(np.array([0.5, 1.5])))

    compiled: Any = gw.compile(grad(f))
    with pytest.warns(CompileWarning, match=r"needs a plain array \(line \d+ of f\)\. Fix: call"):
        found = compiled(A)
    np.testing.assert_array_equal(found, grad(f)(A))
