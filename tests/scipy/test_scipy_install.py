"""`gradwrap.scipy.install()`: unmodified code that has imported SciPy before."""

from __future__ import annotations

import inspect
import pickle
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats
from scipy.linalg import inv
from scipy.spatial.transform import Rotation

import gradwrap as gw
import gradwrap.scipy
from gradwrap.errors import NoRuleError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

INTERPOLATE: Any = import_module("scipy.interpolate")
OPTIMIZE: Any = import_module("scipy.optimize")
brentq, curve_fit = OPTIMIZE.brentq, OPTIMIZE.curve_fit
MATRIX = np.array([[2.0, 0.5], [0.3, 1.5]])
LINALG: Any = import_module("scipy.linalg")
SPARSE: Any = import_module("scipy.sparse")
MATRIX_BEFORE = SPARSE.csr_array(MATRIX)


@pytest.fixture
def installed() -> Iterator[None]:
    gradwrap.scipy.install()
    yield
    gradwrap.scipy.uninstall()


@pytest.mark.usefixtures("installed")
def test_function_that_was_imported_before_is_differentiated() -> None:
    gw.testing.check_grads(lambda a: np.sum(inv(a) ** 2), (MATRIX,))


@pytest.mark.usefixtures("installed")
def test_function_that_calls_back_is_differentiated_in_what_is_closed_over() -> None:
    gw.testing.check_grads(lambda a: brentq(lambda x: x**3 + a * x - 2, 0, 2), (0.7,), order=1)

    times, values = np.linspace(0, 1, 5), np.array([1.0, 0.7, 0.55, 0.4, 0.3])

    def slope(y: Any) -> Any:
        return curve_fit(lambda t, p, q: p * np.exp(-q * t), times, y, [1, 1], ftol=1e-14)[0][1]

    gw.testing.check_grads(slope, (values,), order=1, rtol=1e-4)


@pytest.mark.usefixtures("installed")
def test_classes_are_made_of_tracked_data() -> None:
    x = np.array([0.0, 1.0, 1.5, 2.5, 3.0])
    gw.testing.check_grads(
        lambda y: INTERPOLATE.CubicSpline(x, y)(np.array([0.3, 2.0])), (np.sin(x),), order=1
    )
    other = Rotation.from_rotvec([0.1, -0.3, 0.2])
    gw.testing.check_grads(
        lambda v: (Rotation.from_rotvec(v) * other).as_quat(),
        (np.array([0.3, 0.2, -0.5]),),
        order=1,
    )


def test_identity_signature_pickling_and_values_are_kept() -> None:
    functions = [inv, brentq, curve_fit, scipy.stats.norm.pdf, OPTIMIZE.minimize]
    before = [inspect.signature(function) for function in functions]
    codes = [getattr(function, "__code__", None) for function in functions]
    value = inv(MATRIX)

    gradwrap.scipy.install()
    gradwrap.scipy.install()  # again: nothing more happens
    try:
        assert [inspect.signature(function) for function in functions] == before
        assert pickle.loads(pickle.dumps(inv)) is inv  # noqa: S301  what was made here
        np.testing.assert_array_equal(inv(MATRIX), value)
        np.testing.assert_array_equal(inv(a=MATRIX, check_finite=False), value)
        assert isinstance(INTERPOLATE.CubicSpline([0, 1, 2], [0, 1, 4]), INTERPOLATE.PPoly)
    finally:
        gradwrap.scipy.uninstall()

    assert [getattr(function, "__code__", None) for function in functions] == codes
    assert [inspect.signature(function) for function in functions] == before
    with pytest.raises(gw.errors.TrackedValueError, match=r"gradwrap\.scipy\.install\(\)"):
        gw.grad(lambda a: np.sum(inv(a)))(MATRIX)


@pytest.mark.usefixtures("installed")
def test_frames_of_every_function_show_their_variables() -> None:
    # a debugger and an error message read them; free variables have to be set up for that
    seen: list[dict[str, Any]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is LINALG.eigh.__code__:
            seen.append(dict(frame.f_locals))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        LINALG.eigh(MATRIX)
    finally:
        sys.setprofile(before)

    assert LINALG.eigh.__code__.co_freevars
    assert set(LINALG.eigh.__code__.co_freevars) < set(seen[0])
    assert "a" in seen[0]["names"]
    with pytest.raises(NoRuleError, match=r"scipy\.linalg\.eig has no derivative with left="):
        gw.grad(lambda a: np.sum(np.real(LINALG.eig(a, left=True)[0])))(MATRIX)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: INTERPOLATE.CubicSpline(x, y),
        lambda x, y: INTERPOLATE.PchipInterpolator(x, y=y),
        lambda x, y: INTERPOLATE.UnivariateSpline(x, y, s=0),
        lambda x, y: INTERPOLATE.interp1d(x, y),
        lambda _, y: scipy.stats.gaussian_kde(y),
    ],
)
def test_object_of_plain_data_is_asked_at_tracked_points(make: Any) -> None:
    x, y = np.array([0.0, 1.0, 1.5, 2.5, 3.0]), np.array([0.3, 0.1, 0.7, 0.9, 0.2])
    made = make(x, y)
    at = np.array([0.3, 2.0])
    value = made(at)
    x[:] = 0.0  # what it was made of is its own

    gw.testing.check_grads(made, (at,), order=1)
    np.testing.assert_array_equal(gw.vjp(made, at)[0], value)


@pytest.mark.usefixtures("installed")
def test_tests_of_samples_call_each_other_as_scipy_does() -> None:
    sample = np.array([0.3, -1.2, 0.7, 2.0, 0.4, 1.1, -0.2, 0.9, 1.7])

    for name in ("normaltest", "jarque_bera"):
        gw.testing.check_grads(
            lambda x, name=name: getattr(scipy.stats, name)(x).statistic, (sample,), order=1
        )
    gw.testing.check_grads(scipy.stats.tstd, (sample,), order=1)


@pytest.mark.usefixtures("installed")
def test_integrals_within_scipys_own_code_are_its_own() -> None:
    gw.testing.check_grads(
        lambda x: scipy.stats.geninvgauss.cdf(x, 1.3, 0.9), (np.array([0.4, 1.2]),), order=1
    )


@pytest.mark.usefixtures("installed")
def test_matrices_that_were_made_before_take_tracked_values() -> None:
    x, data = np.array([0.5, -1.0]), np.array([2.0, 0.5, 1.5])
    places = (np.array([0, 0, 1]), np.array([0, 1, 1]))

    def function(data: Any, x: Any) -> Any:
        tracked = SPARSE.csr_array((data, places), (2, 2))
        return MATRIX_BEFORE @ x + (tracked + MATRIX_BEFORE) @ x + x @ (MATRIX_BEFORE * x[0])

    gw.testing.check_grads(function, (data, x), order=1)
    assert type(SPARSE.csr_array((data, places), (2, 2))) is type(MATRIX_BEFORE)


@pytest.mark.parametrize("solver", ["brentq", "bisect", "ridder", "brenth"])
def test_a_refusal_that_c_code_overlooks_is_raised(solver: str) -> None:
    solve = getattr(OPTIMIZE, solver)  # looks at the error of the first value after the next call
    with pytest.raises(TrackedValueError, match=rf"scipy.optimize.{solver} takes tracked values"):
        gw.grad(lambda s: solve(lambda t: t**2 - s, 0.0, 5.0))(2.0)


@pytest.mark.parametrize("solver", ["brentq", "bisect", "ridder", "brenth"])
def test_a_refusal_that_is_pending_while_python_optimizes_code_is_raised(solver: str) -> None:
    solve = getattr(OPTIMIZE, solver)  # some of many calls look up attributes with a pending error
    for _ in range(150):
        with pytest.raises(TrackedValueError, match=rf"scipy.optimize.{solver} takes"):
            gw.grad(lambda s: solve(lambda t: t**2 - s, 0.0, 5.0))(2.0)
        with pytest.raises(TrackedValueError, match=rf"scipy.optimize.{solver} takes"):
            gw.jvp(lambda s: solve(lambda t: t**2 - s, 0.0, 5.0), (2.0,), (1.0,))


def test_methods_are_found_after_look_ups_with_a_pending_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = gw.wrap(np.ones(2))
    for turn in range(300):
        monkeypatch.setattr(gw.Variable, "turn", turn, raising=False)  # Python looks up all anew
        with pytest.raises(TrackedValueError):
            gw.grad(lambda s: OPTIMIZE.brenth(lambda t: t**2 - s, 0.0, 5.0))(2.0)
    assert hasattr(x, "tobytes")


def test_a_value_error_of_a_package_says_that_it_ran_on_tracked_values() -> None:
    with pytest.raises(ValueError, match="must have different signs") as raised:
        gw.grad(lambda v: v * OPTIMIZE.bisect(lambda t: 1.0 + t**2, 0.0, 5.0))(2.0)
    (note,) = raised.value.__notes__
    assert "ran on tracked values" in note
    assert "scipy.optimize.bisect takes tracked values where SciPy is imported by" in note


def test_an_error_that_a_package_raises_from_ours_is_ours() -> None:
    words = "scipy.optimize.minimize takes tracked values where SciPy is imported by"
    with pytest.raises(TrackedValueError, match=words) as raised:
        gw.grad(lambda v: OPTIMIZE.minimize(lambda u: (u - v) ** 2, 0.0).x[0])(2.0)
    assert "must return a scalar value" in str(raised.value.__cause__)
