"""The names of the table's functions in JAX and PyTorch, and the functions that they lack.

Both are called by the standard's names, PyTorch through array-api-compat, so only what the standard
does not name, or a peer names differently, is listed here.
"""

from __future__ import annotations

import functools
import importlib
import operator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from harness import Case, floating_parts, joined_call, namespace, split_call, to_library

if TYPE_CHECKING:
    from collections.abc import Callable

    from lambdas import Function


def if_installed(library: str, cases: list[Any]) -> list[Any]:
    """Return the cases of a library. Where it is missing, one is skipped for all of them."""
    if find_spec(library) is not None:
        return cases
    missing = f"{library} is not installed"
    nothing = [None] * len(cases[0].values)
    return [pytest.param(*nothing, id=missing, marks=pytest.mark.skip(reason=missing))]


def _jax_to_device(xp: Any, x: Any, device: Any) -> Any:
    jax: Any = importlib.import_module("jax")
    return jax.device_put(x, jax.devices(device)[0])


def _torch_setitem(xp: Any, x: Any, value: Any, key: Any) -> Any:
    out = x.clone()
    out[key] = value
    return out


def _torch_convolution(xp: Any, a: Any, v: Any) -> Any:
    """Convolve by PyTorch's correlation of batches of channels."""
    torch: Any = importlib.import_module("torch")
    padding = v.shape[0] - 1
    return torch.nn.functional.conv1d(a[None, None], v.flip(0)[None, None], padding=padding)[0, 0]


def _spectral_norm(xp: Any, x: Any, **options: Any) -> Any:
    return xp.linalg.matrix_norm(x, **options)


def _windows(xp: Any, x: Any, window_shape: Any, **options: Any) -> Any:
    """Take every window by the positions that NumPy tells."""
    positions: Any = np.arange(x.size if isinstance(x.size, int) else x.numel())
    positions = positions.reshape(tuple(x.shape))
    places: Any = np.lib.stride_tricks.sliding_window_view(positions, window_shape, **options)
    return xp.reshape(x, (-1,))[xp.asarray(places.copy())]


EITHER: dict[str, Function] = {
    "cofactors": lambda xp, x: (
        xp.linalg.det(x)[..., None, None] * xp.matrix_transpose(xp.linalg.inv(x))
    ),
    "complex_from_pairs": lambda xp, x: x[..., ::2] + 1j * x[..., 1::2],
    "einsum": lambda xp, operands, subscripts: xp.einsum(subscripts, *operands),
    "getitem": lambda xp, x, key: x[key],
    "least_squares": lambda xp, a, b, rtol: xp.linalg.pinv(a) @ b,
    "pairs_from_complex": lambda xp, x: xp.reshape(
        xp.stack([xp.real(x), xp.imag(x)], axis=-1), (*x.shape[:-1], -1)
    ),
    "sliding_window_view": _windows,
    "with_imag": lambda xp, x, value: xp.real(x) + 1j * xp.real(value),
    "with_real": lambda xp, x, value: xp.real(value) + 1j * xp.imag(x),
    "spectral_norm": _spectral_norm,
}
CALLS: dict[str, dict[str, Function]] = {
    "jax": {
        **EITHER,
        "copy": lambda xp, x, order="K": xp.copy(x),
        "full_convolution": lambda xp, a, v: xp.convolve(a, v),
        "scatter": lambda xp, values, key, shape, dtype: (
            xp.zeros(shape, dtype=dtype).at[key].set(values)
        ),
        "setitem": lambda xp, x, value, key: x.at[key].set(value),
        "to_device": _jax_to_device,
    },
    "torch": {
        **EITHER,
        "copy": lambda xp, x, order="K": x.clone(),
        "degrees": lambda xp, x: xp.rad2deg(x),
        "fabs": lambda xp, x: xp.abs(x),
        "full_convolution": _torch_convolution,
        "radians": lambda xp, x: xp.deg2rad(x),
        "scatter": lambda xp, values, key, shape, dtype: _torch_setitem(
            xp, xp.zeros(shape, dtype=dtype), values, key
        ),
        "setitem": _torch_setitem,
        "to_device": lambda xp, x, device: x.to(device),
    },
}
LEFT_OUT: dict[str, dict[str, str]] = {
    "jax": {
        "cofactors[singular(3)]": "its function here is made of det and inv",
        "cofactors[spd(0)]": "no determinant of an empty matrix",
        "eig_of_values": "as linalg.eig",
        "linalg.det[spd(0)]": "no determinant of an empty matrix",
        "linalg.eig": "the derivative of eigenvectors has to be switched on, and is forward only",
        "linalg.qr[x(2, 3, 2), mode='complete']": "mode='complete' of a tall matrix",
        "linalg.qr[x(4, 2), mode='complete']": "mode='complete' of a tall matrix",
        "linalg.svd[x(2, 2, 4)]": "full_matrices=True of a matrix that is not square",
        "linalg.svd[x(4, 2)]": "full_matrices=True of a matrix that is not square",
        "nextafter": "no derivative",
        "permute_dims[x(2, 3, 4), (-1, 0, -2)]": "no negative axes",
        **{
            f"special.betainc[{pattern}]": "no derivative in the first two arguments"
            for pattern in ("x(3), x(3), x(3)", "x(2, 1), x(3), x(2, 3)", "x(), 0.7, x()")
        },
        "sign-complex128": "0, also where a complex z/|z| does change with z",
    },
    "torch": {
        "cbrt": "no such function",
        "cofactors[singular(3)]": "its function here is made of det and inv",
        "getitem[x(3, 4), (0, slice(None, None, -1))]": "no negative steps",
        "heaviside": "no derivative in the second argument",
        "linalg.det[singular(3)]": "wrong there, pytorch#104675",
        "linalg.qr[x(2, 3, 2), mode='complete']": "mode='complete' of a tall matrix",
        "linalg.qr[x(4, 2), mode='complete']": "mode='complete' of a tall matrix",
        "linalg.svd[x(2, 2, 4)]": "the cotangents of the added vectors are left out",
        "linalg.svd[x(4, 2)]": "the cotangents of the added vectors are left out",
        **{
            f"special.{name}[{pattern}]": "no derivative in the first argument"
            for name in ("gammainc", "gammaincc", "zeta")
            for pattern in (
                "x(3), x(3)",
                "x(2, 3), x(3)",
                "x(2, 1), x(1, 3)",
                "x(), x(2, 2)",
                "x(2, 3), 1.5",
                "x(0), x(1)",
            )
        },
        "special.digamma": "its derivative is right to 1e-9",
        "special.psi": "its derivative is right to 1e-9",
    },
}
"""Calls that a peer lacks or defines differently: a row's name, a case, or either with a dtype."""


SPECIAL: dict[str, frozenset[str]] = {
    library: frozenset(f"special.{name}" for name in names.split())
    for library, names in {
        "jax": """
            beta betainc betaln digamma entr erf erfc erfcx erfinv exp1 expi expit gamma gammainc
            gammaincc gammaln hyp1f1 i0 i0e i1 i1e kl_div log_ndtr loggamma logit ndtr ndtri
            poch rel_entr sici xlog1py xlogy zeta
        """,
        "torch": """
            digamma entr erf erfc erfcx erfinv expit gammainc gammaincc gammaln i0 i0e i1 i1e
            log_ndtr logit ndtr ndtri psi xlog1py xlogy zeta
        """,
    }.items()
}
"""The special functions that a peer has, and for arrays as all arguments."""


def keys_of(case: Case, dtype: np.dtype[Any]) -> list[str]:
    """Return the names that `LEFT_OUT` may have for a case."""
    names = case.rule.name, case.id
    return [*names, *(f"{name}-{dtype.name}" for name in names)]


def reason_to_leave_out(case: Case, dtype: np.dtype[Any], library: str) -> str | None:
    reasons = LEFT_OUT[library]
    if case.rule.name.startswith("special.") and case.rule.name not in SPECIAL[library]:
        return "no such function"
    return next((reasons[key] for key in keys_of(case, dtype) if key in reasons), None)


def _function(name: str, library: str) -> Callable[..., Any]:
    xp = namespace(library)
    if name in CALLS[library]:
        call: Callable[..., Any] = CALLS[library][name]
        return functools.partial(call, xp)
    if library == "jax" and name.startswith("special."):
        special = importlib.import_module("jax.scipy.special")
        found: Callable[..., Any] = getattr(special, name.removeprefix("special."))
        return found
    function: Callable[..., Any] = operator.attrgetter(name)(xp)
    return function


def peer_function(case: Case, dtype: np.dtype[Any], library: str) -> Callable[..., list[Any]]:
    """Return a peer's operation as a function of its floating arrays, with a list of outputs."""
    xp = namespace(library)
    args, kwargs = case.arguments(dtype)
    _, statics = split_call(args, case.rule)
    if case.rule.kind.is_elementwise:  # PyTorch has numbers beside tensors in some places only
        statics = {
            k: xp.asarray(v, dtype=xp.float64) if np.asarray(v).dtype.kind in "if" else v
            for k, v in statics.items()
        }
    statics = {k: to_library(v, xp) for k, v in statics.items()}
    options = {k: to_library(v, xp) for k, v in kwargs.items()}

    def call(*arrays: Any) -> list[Any]:
        joined = joined_call(arrays, statics, case.rule)
        if case.rule.probe is not None:
            return floating_parts(case.rule.probe(xp, *joined, **options))
        return floating_parts(_function(case.rule.name, library)(*joined, **options))

    return call
