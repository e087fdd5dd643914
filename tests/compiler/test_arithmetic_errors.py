"""NumPy's errors of arithmetic in compiled functions: what is raised, told, and passed over."""

from __future__ import annotations

import contextlib
import shutil
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.backends.numpy.arithmetic import is_strict

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

CALM = np.linspace(0.5, 1.0, 40)
HOT = CALM.copy()
HOT[3], HOT[5] = -1.0, 1000.0
ENGINES = [
    "numpy",
    pytest.param("c", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")),
    pytest.param("jax", marks=pytest.mark.peers),
]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """An engine; JAX computes in double precision."""
    if request.param != "jax":
        yield request.param
        return
    jax: Any = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield "jax"
    jax.config.update("jax_enable_x64", before)


def whole(x: Any) -> Any:
    return np.sum(np.exp(x) * np.log(x))


def by_elements(x: Any) -> Any:
    u = 1.0 * x
    for i in range(1, 40):
        u[i] = u[i] * u[i] * u[i - 1]
    return u


def by_steps(x: Any) -> Any:
    for _ in range(20):
        x = x * x * 0.5 + 0.1
    return np.sum(x)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "whole arrays": (gw.grad(whole), HOT),
    "elements": (by_elements, np.full(40, 1e200)),
    "steps": (gw.grad(by_steps), np.full(40, 1e200)),
}


def compiled(function: Callable[[Any], Any], engine: str) -> Any:
    made = gw.compile(function, engine=engine)
    made(CALM)
    made(CALM)
    assert "runs eagerly" not in made.explain()
    return made


@contextlib.contextmanager
def seterr(**modes: Any) -> Generator[None]:
    """Set NumPy's modes by `np.seterr`, and put them back."""
    before = np.seterr(**modes)
    try:
        yield
    finally:
        np.seterr(**before)


@pytest.mark.parametrize("setting", [np.errstate, seterr])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_raised_where_numpy_is_to_raise_them(
    name: str, engine: str, setting: Any
) -> None:
    function, hot = FUNCTIONS[name]
    made = compiled(function, engine)
    with setting(all="raise"):
        np.testing.assert_allclose(made(CALM), function(CALM), rtol=1e-12)
        with pytest.raises(FloatingPointError) as error:
            function(hot)
        with pytest.raises(FloatingPointError, match=str(error.value)):
            made(hot)
    with setting(all="ignore"):
        np.testing.assert_allclose(made(hot), function(hot), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_callback_for_errors_is_called(name: str, engine: str) -> None:
    function, hot = FUNCTIONS[name]
    made = compiled(function, engine)
    wanted: list[str] = []
    found: list[str] = []
    with np.errstate(all="call", call=lambda kind, _: wanted.append(kind)):
        function(hot)
    with np.errstate(all="call", call=lambda kind, _: found.append(kind)):
        made(hot)
    assert {*wanted} == {*found}
    assert found


def test_the_first_call_raises_errors_too(engine: str) -> None:
    made = gw.compile(gw.grad(whole), engine=engine)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        made(HOT)


def told(call: Callable[[Any], Any], hot: Any) -> set[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(hot)
    return {str(one.message) for one in caught}


def test_the_numpy_engine_warns_except_in_loops_over_elements() -> None:
    for name, (function, hot) in FUNCTIONS.items():
        made = compiled(function, "numpy")
        has_note = "errors of arithmetic: some" in made.explain()
        assert has_note == (name == "elements")
        if not has_note:
            assert told(made, hot) == told(function, hot)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_explain_says_that_kernels_do_not_warn() -> None:
    for function, _ in FUNCTIONS.values():
        assert "errors of arithmetic: some give no warning" in compiled(function, "c").explain()


def test_a_strict_state_is_one_that_does_more_than_warn() -> None:
    assert not is_strict()
    for mode in ("ignore", "warn"):
        with np.errstate(all=mode):
            assert not is_strict()
    strict: list[Literal["raise", "call", "print", "log"]] = ["raise", "call", "print", "log"]
    for mode in strict:
        with np.errstate(under=mode):
            assert is_strict()
            with np.errstate(all="ignore"):
                assert not is_strict()
            assert is_strict()
    assert not is_strict()
