"""The doors to SciPy: the namespace's fallback, the drop-in modules, the stand-ins."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError

ours: Any = import_module("gradwrap.scipy")
doors: Any = import_module("gradwrap.scipy.doors")
table: Any = import_module("gradwrap.scipy.table")
native: Any = import_module("scipy")
MATRIX = np.array([[2.0, 0.5], [0.3, 1.5]])


@pytest.mark.parametrize(
    "name", ["nanmean", "nanstd", "nanvar", "nansum", "nanmax", "pad", "transpose", "average"]
)
def test_namespace_of_a_tracked_array_has_numpys_own_functions(name: str) -> None:
    more = (1,) if name == "pad" else ()

    def by_namespace(x: Any) -> Any:
        function = getattr(x.__array_namespace__(), name)
        return np.sum(function(x, *more) ** 2)

    def by_numpy(x: Any) -> Any:
        return np.sum(getattr(np, name)(x, *more) ** 2)

    np.testing.assert_array_equal(gw.grad(by_namespace)(MATRIX), gw.grad(by_numpy)(MATRIX))


def test_function_of_the_namespace_without_any_rule_is_refused() -> None:
    with pytest.raises(NoRuleError, match="setxor1d"):
        gw.grad(lambda x: np.sum(x.__array_namespace__().setxor1d(x, x[:1])))(np.ones(3))


@pytest.mark.parametrize(
    "name",
    [
        *("linalg", "special", "stats", "signal", "fft", "integrate", "interpolate", "optimize"),
        *("ndimage", "spatial", "spatial.distance", "spatial.transform", "sparse"),
        *("sparse.linalg", "sparse.csgraph", "cluster", "cluster.vq", "cluster.hierarchy"),
        *("differentiate", "constants", "optimize.elementwise", "signal.windows", "stats.qmc"),
    ],
)
def test_submodule_can_be_imported_and_has_scipys_names(name: str) -> None:
    module = import_module(f"gradwrap.scipy.{name}")
    public = import_module(f"scipy.{name}").__all__

    assert set(public) <= set(dir(module))
    for one in public:
        assert getattr(module, one) is not None


def test_modules_of_scipy_without_a_door_are_scipys_own() -> None:
    assert ours.io is import_module("scipy.io")
    with pytest.raises(ModuleNotFoundError):
        import_module("gradwrap.scipy.io")
    with pytest.raises(AttributeError, match="no attribute '__path__'"):
        _ = ours.linalg.__path__


def test_object_without_a_rule_is_scipys_own() -> None:
    assert ours.special.erf is native.special.erf
    assert ours.linalg.LinAlgError is native.linalg.LinAlgError
    assert ours.__version__ == native.__version__


def test_dispatcher_looks_like_the_function() -> None:
    function, original = ours.linalg.inv, native.linalg.inv

    assert function is not original
    assert function.__name__ == original.__name__
    assert function.__doc__ == original.__doc__
    assert inspect.signature(function) == inspect.signature(original)


def test_plain_arguments_go_to_scipy_unchanged() -> None:
    result = ours.linalg.lu_factor(MATRIX)

    assert type(result) is tuple
    np.testing.assert_array_equal(result[0], native.linalg.lu_factor(MATRIX)[0])


def test_untracked_variable_gives_what_scipy_gives() -> None:
    found = ours.linalg.inv(gw.wrap(MATRIX))

    np.testing.assert_array_equal(gw.unwrap(found), native.linalg.inv(MATRIX))


def test_lists_of_tracked_scalars_are_arrays() -> None:
    def function(x: Any) -> Any:
        return np.sum(ours.linalg.inv([[x, 1.0], [0.0, 2.0]]))

    assert gw.grad(function)(2.0) == pytest.approx(-1 / 4 + 1 / 8)


def test_stand_in_of_a_function_and_of_a_module() -> None:
    assert ours.stand_in(native.linalg.inv) is ours.linalg.inv
    assert ours.stand_in(native.linalg) is ours.linalg
    assert ours.stand_in(native) is ours
    assert ours.stand_in(np.linalg.inv) is None
    assert ours.stand_in([1, 2]) is None


def test_option_that_a_rule_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(
        NoRuleError, match=r"scipy\.linalg\.eigh has no derivative with type=\. Fix"
    ):
        gw.grad(lambda a: np.sum(ours.linalg.eigh(a, type=2)[0]))(MATRIX @ MATRIX.T)


def test_tracked_argument_of_a_refused_function_is_refused_with_the_reason() -> None:
    with pytest.raises(NoRuleError, match=r"scipy\.linalg\.cossin has no derivative: .*Fix: .*svd"):
        gw.grad(lambda a: np.sum(ours.linalg.cossin(a, 1, 1)[0]))(np.eye(2))
    found = ours.linalg.cossin(np.eye(2), 1, 1)[0]
    np.testing.assert_array_equal(found, native.linalg.cossin(np.eye(2), 1, 1)[0])


def test_function_without_a_derivative_returns_plain_values() -> None:
    assert gw.grad(lambda a: np.sum(a) * ours.linalg.bandwidth(a)[0])(MATRIX)[0, 0] == 1.0


def test_module_with_functions_of_others_forwards_to_them() -> None:
    x = np.array([0.4, 1.2, 0.7])
    mean = ours.stand_in(native.stats.mstats).gmean

    found = gw.grad(lambda x: mean(x))(x)

    np.testing.assert_allclose(found, native.stats.gmean(x) / x / 3)
    assert ours.stats.mstats.winsorize is native.stats.mstats.winsorize


def test_rows_of_functions_that_an_older_scipy_lacks_are_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = table.Row("linalg.of_a_later_version", table.row_of("linalg.det").kind)
    monkeypatch.setitem(table.rows_of("linalg"), "of_a_later_version", missing)
    for name, empty in (("_known", set()), ("_searched", {}), ("_path_of", {})):
        monkeypatch.setattr(doors, name, empty)

    assert not missing.exists
    assert ours.stand_in(native.linalg.inv) is ours.linalg.inv


def test_line_by_least_squares_needs_no_options_of_a_later_scipy() -> None:
    x, y = np.arange(5.0), np.array([1.0, 2.5, 2.0, 4.5, 4.0])
    found = native.stats.linregress(x, y)
    line = import_module("gradwrap.scipy.rules.stats")._regression(x, y, "two-sided", out=found)

    np.testing.assert_allclose(tuple(line)[:5], tuple(found))
