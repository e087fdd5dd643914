"""Whole programs give NumPy's numbers on every library, also on one that gradwrap does not know.

`tiny_arrays` has the standard's functions and arrays of its own, and is named nowhere in gradwrap.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
import tiny_arrays
from gradwrap.core.library.backend import Backend, backend_of
from harness import namespace, to_library, to_numpy
from library_programs import PROGRAMS, Program

peers = pytest.mark.peers
LIBRARIES = [
    "array_api_strict",
    "tiny_arrays",
    *(pytest.param(name, marks=peers) for name in ("torch", "jax", "dask")),
]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(request.param, exc_type=ImportError)
    return request.param


def arrays_of(program: Program, library: str) -> list[Any]:
    xp = namespace(library)
    return [to_library(array, xp) for array in program.arrays]


def everything(program: Program) -> tuple[int, ...]:
    return tuple(range(len(program.arrays)))


def check(found: Any, arrays: Any, wanted: Any, tolerance: float = 1e-9) -> None:
    for gradient, array, expected in zip(found, arrays, wanted, strict=True):
        assert type(gradient) is type(array)
        assert gradient.dtype == array.dtype
        np.testing.assert_allclose(to_numpy(gradient), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_is_numpys(name: str, library: str) -> None:
    program = PROGRAMS[name]
    arrays = arrays_of(program, library)
    transform = gw.value_and_grad(program.function, everything(program))
    wanted_value, wanted = transform(*program.arrays)

    value, found = transform(*arrays)

    np.testing.assert_allclose(to_numpy(value), wanted_value, rtol=1e-12)
    check(found, arrays, wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_of_the_gradient_is_numpys(name: str, library: str) -> None:
    program = PROGRAMS[name]
    arrays = arrays_of(program, library)

    def slope(first: Any, *rest: Any) -> Any:
        gradient = gw.grad(program.function)(first, *rest)
        return gradient.__array_namespace__().sum(gradient * gradient)

    wanted = gw.grad(slope, everything(program))(*program.arrays)

    found = gw.grad(slope, everything(program))(*arrays)

    check(found, arrays, wanted, 1e-8)


@pytest.mark.parametrize("name", PROGRAMS)
def test_directional_derivative_is_numpys(name: str, library: str) -> None:
    program = PROGRAMS[name]
    arrays = arrays_of(program, library)
    xp = namespace(library)
    along = [np.cos(np.asarray(array)) for array in program.arrays]
    tangents = [to_library(np.asarray(tangent), xp) for tangent in along]
    _, wanted = gw.jvp(program.function, program.arrays, along)

    _, found = gw.jvp(program.function, arrays, tangents)

    np.testing.assert_allclose(to_numpy(found), wanted, rtol=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tape_gives_numpys_gradient(name: str, library: str) -> None:
    program = PROGRAMS[name]
    arrays = arrays_of(program, library)
    leaves = [gw.wrap(array, requires_grad=True) for array in arrays]

    program.function(*leaves).backward()

    wanted = gw.grad(program.function, everything(program))(*program.arrays)
    check([leaf.grad for leaf in leaves], arrays, wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_are_not_written_to(name: str, library: str) -> None:
    program = PROGRAMS[name]
    arrays = arrays_of(program, library)

    gw.grad(program.function, everything(program))(*arrays)

    for array, original in zip(arrays, program.arrays, strict=True):
        np.testing.assert_array_equal(to_numpy(array), original)


def test_unknown_library_is_named_nowhere() -> None:
    source = Path(gw.__file__).parent

    assert not any("tiny_arrays" in path.read_text() for path in source.rglob("*.py"))
    assert type(backend_of(tiny_arrays.from_numpy(np.ones(2)))) is Backend
    assert not hasattr(tiny_arrays.Array, "__array__")
    assert not hasattr(tiny_arrays.Array, "__array_ufunc__")


@pytest.mark.parametrize("place", [tiny_arrays.HERE, tiny_arrays.THERE], ids=["here", "there"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_unknown_library_keeps_dtype_and_device(dtype: str, place: Any) -> None:
    x = tiny_arrays.from_numpy(np.asarray([0.5, -1.0, 2.0], dtype), place)

    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.sum(xp.abs(xp.exp(x[1:]) * x[0]))

    gradient = gw.grad(f)(x)

    assert type(gradient) is tiny_arrays.Array
    assert gradient.dtype is x.dtype
    assert gradient.device is place


def test_unknown_library_with_numpys_is_a_mixture() -> None:
    x = gw.wrap(tiny_arrays.from_numpy(np.ones(3)), requires_grad=True)

    with pytest.raises(gw.errors.MixedLibrariesError, match="numpy and tiny_arrays"):
        _ = x * np.ones(3)
    with pytest.raises(gw.errors.MixedLibrariesError, match="numpy and tiny_arrays"):
        _ = np.ones(3) * x


def test_unknown_library_by_its_wrapped_namespace() -> None:
    xp = gw.wrap_namespace(tiny_arrays)
    x = xp.asarray([1.0, 2.0], dtype=xp.float64).requires_grad_()

    xp.sum(x * xp.ones(2)).backward()

    assert type(x.grad) is tiny_arrays.Array
    np.testing.assert_array_equal(to_numpy(x.grad), [1.0, 1.0])
