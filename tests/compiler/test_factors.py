"""Systems with the same matrix share its factors in compiled functions."""

from __future__ import annotations

import runpy
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from sampling import crossed

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("scipy.linalg")
ANY: Any = np  # for calls that NumPy's own types are too narrow for
RNG = np.random.default_rng(0)


def system(count: int, dtype: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    a, b = 3.0 * count**0.5 * np.eye(count) + RNG.standard_normal((count, count)), None
    b = RNG.standard_normal(shape)
    if dtype(0).dtype.kind == "c":
        a, b = a + 1j * RNG.standard_normal(a.shape), b - 2j * b[::-1]
    return a.astype(dtype), b.astype(dtype)


def once(a: Any, b: Any) -> Any:
    return np.sum(np.abs(np.linalg.solve(a, b)) ** 2)


def implicit_steps(a: Any, b: Any) -> Any:
    x = b
    for _ in range(12):
        x = np.linalg.solve(a, x) + b
    return np.sum(np.abs(x) ** 2)


def both_ways(a: Any, b: Any) -> Any:
    return np.sum(np.abs(np.linalg.solve(a.T, np.linalg.solve(a, b))))


def in_branches(a: Any, b: Any) -> Any:
    x = np.linalg.solve(a, b)
    if np.abs(x[0]).max() > 0:
        x = np.linalg.solve(a.T, x * 2.0)
    return np.sum(np.abs(x) ** 2)


def other_matrices(a: Any, b: Any) -> Any:
    x = b
    for i in range(3):
        x = np.linalg.solve(a + i * ANY.eye(len(a), dtype=a.dtype), x)
    return np.sum(np.abs(x) ** 2)


PROGRAMS = (once, implicit_steps, both_ways, in_branches, other_matrices)


@pytest.mark.parametrize(
    ("function", "dtype", "engine"),
    crossed(PROGRAMS, [np.float64, np.float32, np.complex128, np.complex64], ["numpy", "c"]),
)
def test_gradients_are_those_of_the_function(
    function: Callable[..., Any], dtype: Any, engine: str
) -> None:
    gradient = gw.grad(function, (0, 1))
    compiled = gw.compile(gradient, engine=engine)
    for shape in ((20,), (20, 3), (20, 30)):
        compiled(*system(20, dtype, shape))
        arguments = system(20, dtype, shape)
        tolerance = 1e3 * float(np.finfo(dtype).eps)
        for found, wanted in zip(compiled(*arguments), gradient(*arguments), strict=True):
            assert found.dtype == wanted.dtype
            assert found.flags.c_contiguous == wanted.flags.c_contiguous
            scale = float(np.max(np.abs(wanted)))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * scale)
        assert "linalg.solve" not in compiled.source
        assert compiled.check(*arguments)


@pytest.mark.parametrize(
    ("function", "factors", "systems"), [(once, 1, 2), (both_ways, 1, 4), (other_matrices, 3, 6)]
)
def test_each_matrix_is_factorised_once(
    function: Callable[..., Any], factors: int, systems: int
) -> None:
    compiled: Any = gw.compile(gw.grad(function, (0, 1)))
    compiled(*system(20, np.float64, (20,)))
    assert compiled.source.count("= factored(") == factors
    assert compiled.source.count("= solved(") == systems


def test_one_factorisation_stands_before_a_loop() -> None:
    compiled: Any = gw.compile(implicit_steps)
    compiled(*system(20, np.float64, (20,)))
    before, _, loop = compiled.source.partition("def compiled(")[2].partition("for ")
    assert before.count("= factored(") == 1
    assert "factored" not in loop


def test_matrices_that_are_small_or_solved_once_are_left_to_numpy() -> None:
    for function, count in ((gw.grad(once), 6), (once, 20)):
        compiled: Any = gw.compile(function)
        compiled(*system(count, np.float64, (count,)))
        assert "factored" not in compiled.source


def test_a_singular_matrix_raises_numpys_error() -> None:
    a, b = system(20, np.float64, (20,))
    compiled = gw.compile(gw.grad(once, (0, 1)))
    compiled(a, b)
    a[3] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        compiled(a, b)


def test_a_matrix_with_nan_gives_nan() -> None:
    a, b = system(20, np.float64, (20,))
    compiled = gw.compile(gw.grad(once, (0, 1)))
    compiled(a, b)
    a[3, 4] = np.nan
    for found, wanted in zip(compiled(a, b), gw.grad(once, (0, 1))(a, b), strict=True):
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))


def test_without_scipy_numpy_solves_all_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    compiled: Any = gw.compile(gw.grad(once, (0, 1)))
    compiled(*system(20, np.float64, (20,)))
    assert compiled.source.count("linalg.solve") == 2


def test_a_saved_module_has_the_functions(tmp_path: Any) -> None:
    arguments = system(20, np.float64, (20,))
    compiled: Any = gw.compile(gw.grad(once, (0, 1)))
    compiled(*arguments)
    compiled.save(tmp_path / "saved.py")
    assert "gradwrap" not in (tmp_path / "saved.py").read_text().replace("gradwrap.compile", "")
    found = runpy.run_path(str(tmp_path / "saved.py"))["compiled"](*arguments)
    for one, other in zip(found, compiled(*arguments), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert "scipy" in sys.modules
