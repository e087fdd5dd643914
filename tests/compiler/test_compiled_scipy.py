"""Functions of gradwrap.scipy in compiled functions: each is one operation of the program."""

from __future__ import annotations

import importlib
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
native: Any = importlib.import_module("scipy.linalg")


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
    "linregress": lambda a: untyped.stats.linregress(a[0], a[1]).slope,
    "ttest_ind": lambda a: sum(untyped.stats.ttest_ind(a[0], 2.0 * a[1])),
    "pearsonr": lambda a: untyped.stats.pearsonr(a[0], a[1]).statistic,
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


def with_attributes(a: Any) -> Any:
    line, test = untyped.stats.linregress(a[0], a[1]), untyped.stats.ttest_1samp(a[2], 0.4)
    return line.intercept_stderr * test.df + line.slope / test.statistic


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_attributes_of_a_tuple_are_those_of_each_call(engine: str, tmp_path: pathlib.Path) -> None:
    for function in (with_attributes, grad(with_attributes)):
        compiled: Any = gw.compile(function, engine=engine)
        for a in (A, 1.2 * A + np.sin(A)):
            np.testing.assert_allclose(compiled(a), function(a), rtol=1e-11)
        assert len(compiled.programs) == 1
    if engine == "numpy":
        compiled = gw.compile(with_attributes)
        compiled(A)
        compiled.save(tmp_path / "of_attributes.py")
        assert ".intercept_stderr" in (tmp_path / "of_attributes.py").read_text()


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
        spline = untyped.interpolate.CubicSpline(np.arange(4.0), a[0])
        return spline.integrate(0.5, 1.5) + np.sum(a)

    compiled: Any = gw.compile(grad(f))
    with pytest.warns(CompileWarning, match=r"needs a plain array \(line \d+ of f\)\. Fix: call"):
        found = compiled(A)
    np.testing.assert_array_equal(found, grad(f)(A))


T = np.arange(4.0)
AT = np.array([0.5, 1.25, 2.75])
GRID = np.outer(np.sin(T), T + 1)
INTERPOLANTS: dict[str, Callable[[Any], Any]] = {
    "interp1d": lambda a: untyped.interpolate.interp1d(T, a[0])(a[1] * 0.5 + 0.6),
    "CubicSpline of data": lambda a: untyped.interpolate.CubicSpline(T, a[0])(AT),
    "CubicSpline at points": lambda a: untyped.interpolate.CubicSpline(T, np.sin(T))(a[1]),
    "PchipInterpolator": lambda a: untyped.interpolate.PchipInterpolator(T, a[0])(AT),
    "Akima1DInterpolator": lambda a: untyped.interpolate.Akima1DInterpolator(T, a[0])(AT),
    "UnivariateSpline": lambda a: untyped.interpolate.UnivariateSpline(T, np.sin(T), s=0)(a[0]),
    "a grid's points": lambda a: untyped.interpolate.RegularGridInterpolator((T, T), GRID)(
        np.reshape(a[:2], (4, 2)) * 0.5 + 0.6
    ),
    "a grid's values": lambda a: untyped.interpolate.RegularGridInterpolator((T, T), a)(
        np.array([[0.5, 1.25], [2.75, 2.5]])
    ),
    "qr": lambda a: untyped.linalg.qr(a[:, :2])[0],
}


@pytest.mark.parametrize("engine", ["numpy", "c"])
@pytest.mark.parametrize("function", INTERPOLANTS.values(), ids=INTERPOLANTS)
def test_interpolants_are_built_in_each_call(function: Callable[[Any], Any], engine: str) -> None:
    slope = grad(lambda a: np.sum(np.sin(function(a))))
    compiled: Any = gw.compile(slope, engine=engine)
    compiled(A)
    assert compiled.programs
    rng = np.random.default_rng(3)
    for _ in range(3):
        a = A + 0.3 * rng.uniform(-1, 1, A.shape)
        np.testing.assert_allclose(compiled(a), slope(a), rtol=1e-9, atol=1e-12)


def test_an_interpolant_outside_of_its_range_raises_in_a_program_too() -> None:
    compiled: Any = gw.compile(grad(lambda a: np.sum(untyped.interpolate.interp1d(T, T)(a[0]))))
    inside = np.full((4, 4), 1.5)
    np.testing.assert_allclose(compiled(inside)[0], 1.0)
    assert compiled.programs
    with pytest.raises(ValueError, match="interpolation range"):
        compiled(inside + 5.0)


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_results_whose_dtype_depends_on_values(engine: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.abs(np.linalg.eigvals(np.reshape(x, (2, 2)))) ** 2) * x[0]

    compiled: Any = gw.compile(f, engine=engine)
    for x in ([2.0, 1.0, 1.0, 3.0], [0.5, 1.0, -1.0, 0.1], [1.0, 2.0, 0.5, 3.0]):
        point = np.array(x)
        np.testing.assert_allclose(compiled(point), f(point), rtol=1e-12)
    assert compiled.programs


def test_numbers_of_python_that_functions_return() -> None:
    linalg: Any = scipy.linalg

    def length(x: Any) -> Any:
        return scipy.spatial.distance.euclidean(x[:2], x[2:]) ** 3

    def branches(x: Any) -> Any:
        matrix = np.reshape(x, (2, 2))
        return np.sum(matrix**2) if linalg.ishermitian(matrix) else np.sum(matrix**3)

    def solved(x: Any) -> Any:
        factor = linalg.cho_factor(np.reshape(x, (2, 2)) + 3.0 * np.eye(2), lower=True)
        return np.sum(linalg.cho_solve(factor, x[:2]) ** 2) * (2.0 if factor[1] else 1.0)

    for function in (length, branches, solved):
        slope = gw.grad(function)
        compiled = gw.compile(slope)
        for x in ([1.0, 0.5, 0.5, 2.0], [1.0, 0.25, 0.5, 2.0], [2.0, 0.5, 0.5, 1.0]):
            assert np.allclose(compiled(np.array(x)), slope(np.array(x)))
        assert len(compiled.programs) == 1


def filtered(q: Any) -> Any:
    """A Kalman filter that reads the gain where SciPy has left it."""
    F, H = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    x, covariance, total = np.zeros(2), np.eye(2), 0.0
    for y in np.sin(np.linspace(0, 3, 25)):
        x, covariance = F @ x, F @ covariance @ F.T + np.diag(q)
        spread = H @ covariance @ H.T + q[0] ** 2 + 0.1
        gain = (covariance @ H.T).T.copy(order="F")
        native.solve(spread, gain, overwrite_b=True)
        rest = y - (H @ x)[0]
        x, covariance = x + gain[0] * rest, covariance - gain.T @ H @ covariance
        total = total + 0.5 * rest**2 / spread[0, 0] + 0.5 * np.log(spread[0, 0])
    return total


def swept(x: Any) -> Any:
    """A step of the sweep operation, which reads the matrix where SciPy has left it."""
    matrix = np.array(np.outer(x, x) + np.eye(3), order="F")
    native.blas.dsyrk(-0.5, matrix[0].copy(), beta=1.0, c=matrix, overwrite_c=1)
    return np.sum(matrix * np.arange(9.0).reshape(3, 3))


def in_c_order(x: Any) -> Any:
    """The same step on a copy that SciPy does not overwrite, since it works in Fortran's order."""
    matrix = np.array(np.outer(x, x) + np.eye(3), order="C")
    native.blas.dsyrk(-0.5, matrix[0].copy(), beta=1.0, c=matrix, overwrite_c=1)
    return np.sum(matrix * np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("function", [swept, in_c_order])
def test_what_scipy_overwrites_by_its_order_of_memory_is_known_in_a_trace(function: Any) -> None:
    slope = gw.grad(gw.adapting(function))
    compiled = gw.compile(slope)
    for x in (np.array([0.7, 1.3, 0.4]), np.array([0.2, 0.5, 0.9])):
        np.testing.assert_allclose(compiled(x), slope(x), rtol=1e-13)
        ends = [function(x + h) for h in 1e-6 * np.vstack([np.eye(3), -np.eye(3)])]
        differences = (np.array(ends[:3]) - ends[3:]) / 2e-6
        np.testing.assert_allclose(compiled(x), differences, rtol=1e-7)
    assert len(compiled.programs) == 1


def test_a_loop_whose_results_nothing_reads_is_kept_for_its_errors() -> None:
    slope = gw.grad(gw.adapting(filtered))
    compiled = gw.compile(slope)
    for q in (np.array([0.3, 0.2]), np.array([0.1, 0.4])):
        np.testing.assert_allclose(compiled(q), slope(q), rtol=1e-12)
    assert len(compiled.programs) == 1


def fitted(x: Any, driver: str) -> Any:
    """A least-squares solution; one driver of LAPACK's gives no singular values, but None."""
    found, residues, rank, values = native.lstsq(x[:12].reshape(4, 3), x[12:], lapack_driver=driver)
    assert (values is None) == (driver == "gelsy")
    return np.sum(found**2) + np.sum(residues) + rank * x[0]


@pytest.mark.parametrize("driver", ["gelsy", "gelsd"])
def test_results_that_are_none_are_left_out_of_a_program(driver: str) -> None:
    slope = gw.grad(gw.adapting(lambda x: fitted(x, driver)))
    compiled = gw.compile(slope)
    x = np.cos(1.0 + np.arange(16.0) ** 2)
    deficient = x.copy()
    deficient[[2, 5, 8, 11]] = deficient[[0, 3, 6, 9]]
    for given in (x, x[::-1].copy(), deficient, x):
        np.testing.assert_allclose(compiled(given), slope(given), rtol=1e-10)
    assert len(compiled.programs) == 1
    ends = [fitted(x + h, driver) for h in 1e-6 * np.vstack([np.eye(16), -np.eye(16)])]
    differences = (np.array(ends[:16]) - ends[16:]) / 2e-6
    np.testing.assert_allclose(compiled(x), differences, rtol=1e-5, atol=1e-7)
