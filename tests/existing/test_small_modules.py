"""Small modules that do what calls from public packages' own tests were found to fail by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([0.5, 0.7, 0.3, 0.9])


def check(function: Any, x: Any = X, rtol: float = 1e-6) -> None:
    """Compare both modes with central differences."""
    units = np.eye(x.size)
    expected = [(function(x + 1e-6 * e) - function(x - 1e-6 * e)) / 2e-6 for e in units]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(x), expected, rtol=rtol)
    assert np.allclose([gw.jvp(adapted, (x,), (e,))[1] for e in units], expected, rtol=rtol)


def functions(source: str) -> list[str]:
    """Return the names of a module's functions of `x` alone."""
    return [line.split()[1][:-4] for line in source.splitlines() if line.endswith("(x):")]


WRAPPED = """
    import functools
    import numpy.polynomial.polyutils
    import scipy.integrate
    import scipy.linalg
    import scipy.special

    def doubled(function):
        @functools.wraps(function)
        def twice(*args, **options):
            return 2.0 * function(*args, **options)
        return twice

    sign = doubled(np.abs)
    mean = doubled(np.mean)
    mapparms = doubled(numpy.polynomial.polyutils.mapdomain)
    median = doubled(np.ma.median)
    expit = doubled(scipy.special.expit)
    toeplitz = doubled(scipy.linalg.toeplitz)
    simpson = doubled(scipy.integrate.simpson)
    solved = doubled(scipy.linalg.solve_triangular)

    def of_a_ufunc(x):
        return np.sum(sign(x - 0.6) ** 2)

    def of_numpy(x):
        return mean(x * x)

    def of_numpys_python(x):
        return np.sum(mapparms(x, np.array([0.0, 1.0]), np.array([-1.0, 2.0])) ** 2)

    def of_masked(x):
        return median(np.ma.masked_less(x, 0.4)) ** 2

    def of_scipys_ufunc(x):
        return np.sum(expit(x) ** 2)

    def of_scipys_matrix(x):
        return np.sum(toeplitz(x) ** 3)

    def of_scipy(x):
        return simpson(x ** 3, dx=0.1)

    def of_a_solver(x):
        return np.sum(solved(np.diag(x + 1.0), x) ** 2)
"""


@pytest.mark.parametrize("name", functions(WRAPPED))
def test_a_function_with_the_name_of_another_does_what_its_own_code_says(
    name: str, tmp_path: Path
) -> None:
    """`functools.wraps` copies `__module__` too, by which functions of libraries were known."""
    check(getattr(written(tmp_path, WRAPPED), name))


KINDS_OF_FLOATS = """
    class Length(float):
        def __new__(cls, value, name=""):
            made = float.__new__(cls, value)
            made.name = name
            return made

    class Shifted(float):
        def __radd__(self, other):
            return 100.0 * float(self) + other

    class Level(int):
        pass

    RADIUS, OFFSET, DEGREE = Length(2.0, "radius"), Shifted(3.0), Level(3)

    def quotient(x):
        return np.sum(x / RADIUS) * RADIUS ** x[0]

    def remainder(x):
        turns, rest = divmod(10.0 * x[0], RADIUS)
        return rest * x[1] + float(x[2]) // RADIUS + float(x[3]) % RADIUS

    def function_of_two(x):
        return np.arctan2(x[0], RADIUS) + math.hypot(x[1], RADIUS) * np.maximum(x[2], RADIUS)

    def comparison(x):
        return x[0] if x[1] > RADIUS else min(x[2], RADIUS) * x[3]

    def power(x):
        return np.sum(x ** DEGREE) + float(x[0]) ** DEGREE * DEGREE

    def operator_of_its_own(x):
        return (float(x[0]) + OFFSET) * (x[1] + OFFSET)

    def made_of_a_float(x):
        length = Length(float(x[0]), name="edge")
        assert length.name == "edge"
        return length * length / Length(x[1].item())
"""


@pytest.mark.parametrize("name", functions(KINDS_OF_FLOATS))
def test_numbers_of_a_subclass_of_float_are_numbers(name: str, tmp_path: Path) -> None:
    """Python's floats leave the sum to a subclass with an operator of its own; NumPy's do not."""
    check(getattr(written(tmp_path, KINDS_OF_FLOATS), name))


def test_numbers_of_a_subclass_of_float_need_no_adapting() -> None:
    class Length(float):
        pass

    assert np.allclose(gw.grad(lambda x: np.sum(x**2 / Length(4.0)))(X), X / 2)


SUBCLASS = """
    class Points(np.ndarray):
        def __new__(cls, values):
            return np.asarray(values).view(cls)

        def sum(self, *args, **options):  # of the distances from the middle
            return np.linalg.norm(np.asarray(self) - np.asarray(self).mean(axis=0))

        def different(self):
            return Points(np.unique(self, axis=0))

    def of_unique(x):
        points = Points([[x[0], x[1]], [x[2], x[3]], [x[0], x[1]]]).different()
        assert points.shape == (2, 2) and type(points).__name__ == "Points"
        return np.asarray(points).prod() + np.asarray(points)[0, 1]

    def of_a_method(x):
        return np.sum(Points([[x[0], x[1]], [x[2], x[3]]]))

    def of_another_function(x):
        return np.max(Points([[x[0], x[1]], [x[2], x[3]]])) ** 2
"""


@pytest.mark.parametrize("name", functions(SUBCLASS))
def test_a_function_calls_those_methods_of_a_subclass_that_numpys_code_names(
    name: str, tmp_path: Path
) -> None:
    """NumPy's code of `unique` looks at the memory; it calls no method that the subclass has."""
    check(getattr(written(tmp_path, SUBCLASS), name))


TRUTHS = """
    class Level:
        def __init__(self, height):
            self.height = height

        def __bool__(self):
            if self.height is None:
                return False
            return self.height > 0.6 and self.height != 2.0

    def of_floats(x):
        levels = [Level(one) for one in x.tolist()] + [Level(None)]
        return sum(one.height ** 2 for one in levels if one)

    def of_one(x):
        return x[0] * float(x[1]) if Level(float(x[1])) and not Level(float(x[2])) else x[3]
"""


@pytest.mark.parametrize("name", functions(TRUTHS))
def test_the_truth_of_an_object_may_be_a_comparison(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, TRUTHS), name))


def test_colours_of_the_standard_library(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import colorsys
        from colorsys import rgb_to_hls

        def colours(x):
            r, g, b = colorsys.hsv_to_rgb(x[0] * 0.9, x[1], 0.8)
            return r + 2.0 * g + 3.0 * b + sum(rgb_to_hls(x[2], x[3], 0.2))
        """,
    )
    check(package.colours)


def test_a_float_has_no_attributes_of_arrays(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def frozen(value):
            if hasattr(value, "setflags"):  # as packages make arrays read-only
                value.setflags(write=False)
            return value

        def run(x):
            assert not hasattr(float(x[0]), "shape") and hasattr(x[0], "shape")
            return frozen(float(x[0])) * frozen(x[1] * 2.0) + frozen(x * 2.0)[2] * x[3]
        """,
    )
    check(package.run)


NUMBERS = """
    import array
    import numpy as np
    import scipy.interpolate
    import scipy.linalg
    import scipy.optimize
    import scipy.signal
    import scipy.stats

    STEPS = np.linspace(0.0, 3.0, 7)

    def scaled(row, xp, factor=1.0):
        return np.interp(xp, row, np.arange(2.0)) * factor

    def along_an_axis(x):
        rows = np.cumsum(x.reshape(2, 2), axis=1)
        return np.apply_along_axis(scaled, 1, rows, xp=0.9, factor=x[0]).sum()

    def in_pieces(x):
        pieces = [lambda v, xp: v * xp, lambda v, xp: v**2 * xp]
        return np.piecewise(x, [x < 0.6, x >= 0.6], pieces, xp=x[0]).sum()

    def ranges(x):
        table = np.array([range(4), x, array.array("d", [3.0, 1.0, 2.0, 5.0])])
        return np.sum((table.T @ np.concatenate([range(2), x[:1]])) ** 2)

    def of_ranges(x):
        chosen = np.where(x > 0.6, range(4), x)
        chosen[:2] = range(2)
        return np.sum(chosen * x)

    def curve(p):
        return np.sin(2.5 * STEPS * p[0]) + p[1] * STEPS

    def extremum(x):
        spline = scipy.interpolate.CubicSpline(STEPS, curve(x))
        return scipy.optimize.brentq(spline.derivative(), 0.5, 2.5) * x[2]

    def extremum_of_fitpack(x):
        spline = scipy.interpolate.UnivariateSpline(STEPS, curve(x), s=0)
        other = scipy.interpolate.splrep(STEPS, curve(x))
        at = scipy.optimize.brentq(lambda t: scipy.interpolate.splev(t, other, der=1), 0.5, 2.5)
        return scipy.optimize.brentq(spline.derivative(), 0.5, 2.5) + at**2

    def root_of_a_polynomial(x):
        through = scipy.interpolate.KroghInterpolator(STEPS[:4], curve(x)[:4] - 0.7)
        return scipy.optimize.brentq(through, 0.0, 1.0, xtol=1e-14)

    def peaks(x):
        signal = np.sin(STEPS * 4.0) * x[0] + STEPS * x[1] * 0.1
        found, _ = scipy.signal.find_peaks(signal, height=0.3 * np.max(signal))
        return np.sum(signal[found])

    def small_parts(x):
        matrix = np.outer(x, x) + np.eye(4)
        size = 1e-12 * np.max(matrix)
        solved = np.linalg.lstsq(matrix, x, rcond=size)[0]
        inverse = scipy.linalg.pinv(matrix, rtol=size) + np.linalg.pinv(matrix, rcond=size)
        return np.sum(inverse @ solved)

    def density(x):
        kernel = scipy.stats.gaussian_kde(x, bw_method=0.3 / x.std(ddof=1))
        return np.sum(kernel([0.2, 0.6]))

    def weighted_density(x):
        kernel = scipy.stats.gaussian_kde([0.1, 0.4, 0.5, 0.9], "silverman", weights=x)
        kernel.set_bandwidth(kernel.factor * x[1])
        return np.sum(kernel.logpdf([0.2, 0.6])) + kernel.integrate_box_1d(0.0, x[0]) + kernel.neff

    def own_bandwidth(x):
        kernel = scipy.stats.gaussian_kde(x, lambda k: 0.5 * k.scotts_factor(), x[::-1])
        return np.sum(kernel([0.2, 0.6])) + kernel.weights[0] + kernel.covariance[0, 0]
"""


@pytest.mark.parametrize("name", functions(NUMBERS))
def test_numbers_that_options_and_lists_are_given(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, NUMBERS), name), rtol=1e-5)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")  # some run eagerly
@pytest.mark.parametrize("name", ["peaks", "small_parts", "density", "own_bandwidth", "of_ranges"])
def test_programs_follow_such_numbers(name: str, tmp_path: Path) -> None:
    gradient = gw.grad(gw.adapting(getattr(written(tmp_path, NUMBERS), name)))
    compiled = gw.compile(gradient)
    for x in (X, X * 1.07, X[::-1].copy(), X**0.9 + 0.2):
        np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-9, atol=1e-12)


def test_a_root_without_a_slope_is_refused(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import scipy.optimize

        def root(x):
            return scipy.optimize.brentq(lambda t: (t - x[0]) ** 3, 0.0, 1.0, xtol=1e-15)
        """,
    )
    with pytest.raises(gw.errors.NoRuleError, match="the slope of the function is zero"):
        gw.grad(gw.adapting(package.root))(X)
