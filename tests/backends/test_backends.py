"""Every row of the table on every library: the numbers are NumPy's, the arrays the library's own.

Libraries of the extra `peers` are imported when a test first asks for them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from harness import (
    COMPLEX,
    REAL,
    Case,
    cases,
    function_of,
    namespace,
    native_call,
    runs_on,
    split_call,
    to_library,
    to_numpy,
)
from peers import if_installed

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = [case for case in cases() if case.backend == "*"]
REAL_CASES = [case for case in CASES if not case.rule.only_complex]
COMPLEX_CASES = [case for case in CASES if not case.rule.only_real]
TWICE = [
    case for case in REAL_CASES if case.rule.order is None and not case.rule.kind.is_elementwise
]
STRICT = [case for case in REAL_CASES if runs_on(case, "array_api_strict")]
PEERS = ("torch", "jax", "dask")

REFUSED = {
    # JAX permutes by non-negative axes, and its devices are objects
    ("jax", "permute_dims[x(2, 3, 4), (-1, 0, -2)]"),
    ("jax", "to_device[x(3), 'cpu']"),
    # PyTorch takes tensors alone, and one order for all
    ("torch", "special.gammainc[1.5, x(3)]"),
    ("torch", "special.gammainc[x(2, 3), 1.5]"),
    ("torch", "special.gammaincc[1.5, x(3)]"),
    ("torch", "special.gammaincc[x(2, 3), 1.5]"),
    ("torch", "special.polygamma[i(0, 1, 2), x(2, 3)]"),
    # Dask has these for matrices, and not for stacks of them
    ("dask", "linalg.solve[spd(2, 3), x(2, 3, 1)]"),
    ("dask", "linalg.solve[spd(3, 3), x(3)]"),
    ("dask", "linalg.inv[spd(2, 3)]"),
    ("dask", "spectral_norm[x(2, 3, 2), ord=2]"),
    # Dask has no singular vectors beyond the rank
    ("dask", "cofactors[spd(3)]"),
    ("dask", "cofactors[x(2, 3, 3)]"),
    ("dask", "cofactors[singular(3)]"),
    # Dask repeats along one axis, all elements equally often
    ("dask", "repeat[x(2, 3), 2]"),
    ("dask", "repeat[x(2, 3), i(1, 0, 2), axis=1]"),
    # Dask decomposes single matrices that are not empty, tall ones best, into reduced factors
    ("dask", "linalg.cholesky[hermitian(2, 3), upper=True]"),
    ("dask", "linalg.cholesky[hermitian(0, 2)]"),
    ("dask", "linalg.qr[x(2, 2, 4)]"),
    ("dask", "linalg.qr[x(4, 2), mode='complete']"),
    ("dask", "linalg.qr[x(2, 3, 2), mode='complete']"),
    ("dask", "linalg.qr[x(2, 4), mode='complete']"),
    ("dask", "linalg.qr[x(0, 3, 2)]"),
    ("dask", "linalg.svd[spd(3)]"),
    ("dask", "linalg.svd[x(2, 4, 2), full_matrices=False]"),
    ("dask", "linalg.svd[x(4, 2)]"),
    ("dask", "linalg.svd[x(2, 2, 4)]"),
    ("dask", "linalg.svd[x(0, 0)]"),
    ("dask", "linalg.svd[x(0, 3, 2), full_matrices=False]"),
    # Dask finds no eigenvectors
    ("dask", "eigh_of_values[hermitian(3)]"),
    ("dask", "eigh_of_values[hermitian(2, 3)]"),
    ("dask", "eigh_of_values[hermitian(0)]"),
    ("dask", "eigh_of_values[hermitian(0, 2)]"),
    ("dask", "eig_of_values[spd(3)]"),
    ("dask", "eig_of_values[spd(2, 3)]"),
    ("dask", "eig_of_values[spd(0)]"),
    ("dask", "eig_of_values[spd(0, 2)]"),
    ("dask", "svd_of_values[x(2, 4, 2)]"),
    ("dask", "svd_of_values[x(0, 3, 2)]"),
    ("dask", "linalg.svdvals[x(2, 4, 2)]"),
    ("dask", "linalg.svdvals[x(0, 3, 2)]"),
    ("dask", "cofactors[spd(2)]"),
    # in chunks, Dask factorises only what is cut in squares, or along one axis
    ("chunks", "svd_of_values[spd(3)]"),
    ("chunks", "linalg.svdvals[spd(3)]"),
    ("chunks", "linalg.solve[spd(3), x(3)]"),
    ("chunks", "linalg.solve[spd(3), x(3, 2)]"),
    ("chunks", "linalg.inv[spd(3)]"),
    ("chunks", "least_squares[spd(3), x(3, 2), rtol=1e-12]"),
    ("chunks", "spectral_norm[spd(3), ord='nuc']"),
    ("chunks", "linalg.cholesky[hermitian(3)]"),
    ("chunks", "linalg.qr[x(4, 3)]"),
    ("chunks", "linalg.qr[spd(3)]"),
    # in chunks, Dask has no Fourier transform along an axis that is cut
    ("chunks", "fft.rfft[x(4)]"),
    ("chunks", "fft.rfft[x(5)]"),
    ("chunks", "fft.rfft[x(2, 5), n=3]"),
    ("chunks", "fft.rfft[x(2, 4), n=7, norm='ortho']"),
    ("chunks", "fft.rfft[x(4, 3), n=6, axis=0, norm='forward']"),
    ("chunks", "fft.ihfft[x(4)]"),
    ("chunks", "fft.ihfft[x(5)]"),
    ("chunks", "fft.ihfft[x(2, 5), n=3]"),
    ("chunks", "fft.ihfft[x(2, 4), n=7, norm='ortho']"),
    ("chunks", "fft.ihfft[x(4, 3), n=6, axis=0, norm='forward']"),
    ("chunks", "fft.rfftn[x(3, 4)]"),
    ("chunks", "fft.rfftn[x(2, 3, 5), axes=(0, 2), norm='ortho']"),
    ("chunks", "fft.rfftn[x(4, 2, 3), s=(5, 2), axes=(-1, 0), norm='forward']"),
    ("chunks", "fft.rfftn[x(3, 4), s=(2, 6), axes=(0, 1)]"),
    # in chunks, Dask merges and splits axes, and no more
    ("chunks", "reshape[x(3, 4), (2, 6)]"),
}
"""Calls that a library does not support: tests check that the library itself refuses them."""


def parametrize(chosen: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.id)


def on_peers(chosen: list[Case]) -> pytest.MarkDecorator:
    """The cases on each peer. JAX, which compiles, gets only the longest of each row."""
    longest = {case.rule.name: case for case in sorted(chosen, key=lambda case: len(case.pattern))}
    return pytest.mark.parametrize(
        ("peer", "case"),
        [
            one
            for peer in PEERS
            for one in if_installed(
                peer,
                [
                    pytest.param(peer, case, id=f"{peer}-{case.id}")
                    for case in (longest.values() if peer == "jax" else chosen)
                ],
            )
        ],
        indirect=["peer"],
    )


@pytest.fixture
def peer(request: pytest.FixtureRequest) -> Any:
    """Return a library's name, if it is installed."""
    pytest.importorskip(request.param, exc_type=ImportError)
    return request.param


class Call:
    """A case on a library: the operation as a function, and its arrays, which it shares."""

    def __init__(
        self,
        case: Case,
        library: str,
        dtype: np.dtype[Any] = REAL,
        device: Any = None,
        moved: Callable[[Any], Any] = lambda array: array,
    ) -> None:
        xp = namespace(library)
        args, kwargs = case.arguments(dtype)
        arrays, statics = split_call(args, case.rule)
        self.case = case
        self.xp = xp
        self.arrays = [moved(to_library(a, xp, device)) for a in arrays]
        self.statics = {k: to_library(v, xp, device) for k, v in statics.items()}
        self.kwargs = {k: to_library(v, xp, device) for k, v in kwargs.items()}
        self.function = function_of(case, xp, self.kwargs, self.statics)

    def gradients(self) -> tuple[list[Any], Any]:
        """Return the outputs, and the gradients of their sum."""
        out, pull = gw.vjp(self.function, *self.arrays)
        return out, pull([self.xp.ones_like(part) for part in out])

    def second(self) -> Any:
        """Return the gradients of the sum of the gradients."""

        def pulled(*values: Any) -> list[Any]:
            out, pull = gw.vjp(self.function, *values)
            xp = self.xp if not out else gw.wrap(self.arrays[0]).__array_namespace__()
            return list(pull([xp.ones_like(part) for part in out]))

        out, pull = gw.vjp(pulled, *self.arrays)
        return pull([self.xp.ones_like(part) for part in out])


def refuses(call: Call) -> bool:
    """Tell whether the library itself does not support a case."""
    try:
        to_numpy(call.function(*call.arrays)[0])
    except (AttributeError, TypeError, ValueError, NotImplementedError):
        return True
    return False


def check(call: Call, dtype: np.dtype[Any] = REAL) -> None:
    """Assert that the library's gradients are NumPy's, in the library's arrays."""
    wanted_out, wanted = Call(call.case, "numpy", dtype).gradients()

    out, gradients = call.gradients()

    for found, expected in zip(out, wanted_out, strict=True):
        np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-9, atol=1e-12)
    for gradient, array, expected in zip(gradients, call.arrays, wanted, strict=True):
        assert type(gradient) is type(array)
        assert gradient.dtype == array.dtype
        assert tuple(gradient.shape) == tuple(array.shape)
        assert getattr(gradient, "device", None) == getattr(array, "device", None)
        np.testing.assert_allclose(to_numpy(gradient), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("device_name", ["CPU_DEVICE", "device1"])
@parametrize(STRICT)
def test_array_api_strict_gives_what_numpy_gives(case: Case, device_name: str) -> None:
    """On its default device and on another one, where whatever mixed the two would raise."""
    xp = namespace("array_api_strict")
    check(Call(case, "array_api_strict", device=xp.Device(device_name)))


DATA_DEPENDENT = ("repeat[x(2, 3), i(1, 0, 2), axis=1]",)
BY_MASK = ("getitem[x(4), b(1, 0, 1, 1)]",)


@pytest.mark.parametrize("device_name", ["CPU_DEVICE", "device1", "device2"])
@parametrize([case for case in STRICT if case.id not in (*DATA_DEPENDENT, *BY_MASK)])
def test_no_formula_needs_shapes_that_depend_on_data(case: Case, device_name: str) -> None:
    """The standard's functions that lazy libraries need not have are switched off."""
    xp = namespace("array_api_strict")
    call = Call(case, "array_api_strict", device=xp.Device(device_name))

    with xp.ArrayAPIStrictFlags(boolean_indexing=False, data_dependent_shapes=False):
        check(call)


@parametrize([case for case in STRICT if case.id in (*DATA_DEPENDENT, *BY_MASK)])
def test_what_is_left_out_above_needs_them_itself(case: Case) -> None:
    xp = namespace("array_api_strict")
    call = Call(case, "array_api_strict")

    with (
        xp.ArrayAPIStrictFlags(boolean_indexing=False, data_dependent_shapes=False),
        pytest.raises(RuntimeError, match="flag"),
    ):
        call.function(*call.arrays)


@pytest.mark.peers
@on_peers(REAL_CASES)
def test_a_peers_arrays_give_what_numpy_gives(case: Case, peer: str) -> None:
    if not runs_on(case, peer):
        pytest.skip(f"{peer} has no {case.rule.name}")
    call = Call(case, peer)
    if (peer, case.id) in REFUSED:
        assert refuses(call)
    else:
        check(call)


@pytest.mark.peers
@on_peers(COMPLEX_CASES)
def test_a_peers_complex_arrays_give_what_numpy_gives(case: Case, peer: str) -> None:
    if not runs_on(case, peer):
        pytest.skip(f"{peer} has no {case.rule.name}")
    call = Call(case, peer, COMPLEX)
    with warnings.catch_warnings():
        if peer == "dask":  # it casts its empty samples of complex arrays to other dtypes
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        if (peer, case.id) in REFUSED:
            assert refuses(call)
        else:
            check(call, COMPLEX)


@pytest.mark.peers
@on_peers(TWICE)
def test_a_peers_second_order_is_numpys(case: Case, peer: str) -> None:
    if not runs_on(case, peer):
        pytest.skip(f"{peer} has no {case.rule.name}")
    if (peer, case.id) in REFUSED:
        return
    call = Call(case, peer)
    wanted = Call(case, "numpy").second()

    found = call.second()

    for gradient, array, expected in zip(found, call.arrays, wanted, strict=True):
        assert type(gradient) is type(array)
        np.testing.assert_allclose(to_numpy(gradient), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.peers
@pytest.mark.parametrize(
    "case", if_installed("dask", [pytest.param(case, id=case.id) for case in REAL_CASES])
)
def test_dask_arrays_in_chunks_give_what_numpy_gives(case: Case) -> None:
    pytest.importorskip("dask.array")
    if not runs_on(case, "dask"):
        pytest.skip(f"dask has no {case.rule.name}")
    call = Call(case, "dask", moved=lambda array: array.rechunk(2))
    if ("dask", case.id) in REFUSED or ("chunks", case.id) in REFUSED:
        assert refuses(call)
    else:
        check(call)


def test_native_call_is_the_librarys_own() -> None:
    xp = namespace("array_api_strict")
    case = next(c for c in CASES if c.rule.name == "sin")

    assert float(native_call(case, xp, [xp.asarray(0.5)], {})) == np.sin(0.5)
