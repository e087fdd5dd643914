"""The namespace of CuPy's arrays, with functions that neither wait nor change the device.

array_api_compat's `clip`, `pinv` and `sign` write by masks, and CuPy counts a mask's elements on
the host; its creation functions take a device and do not look at it; CuPy's `solve` does not
broadcast.
"""

from __future__ import annotations

import functools
import operator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from gradwrap.backends.cupy.streams import moved
from gradwrap.core.library.compat import module_like

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

operators: Any = operator
"""Python's operators, whose types pyright does not know."""
CREATION = ("arange", "empty", "eye", "full", "linspace", "ones", "zeros")
CREATION_LIKE = ("empty_like", "full_like", "ones_like", "zeros_like")


def extended(xp: Any, *, has_several_devices: bool) -> ModuleType:
    """Return the namespace with CuPy's own functions replaced where they differ."""
    made = module_like(xp)
    linalg = module_like(xp.linalg, pinv=_pinv, solve=_solve)
    fft = module_like(xp.fft, fftfreq=_placed(xp.fft.fftfreq), rfftfreq=_placed(xp.fft.rfftfreq))
    if has_several_devices:
        for name in (*CREATION, *CREATION_LIKE):
            made.__dict__[name] = _placed(getattr(xp, name), like=name in CREATION_LIKE)
    made.__dict__.update(
        asarray=_asarray,
        clip=_clip,
        fft=fft,
        linalg=linalg,
        matmul=operators.matmul,  # cupy.matmul without the Python around it
        pow=operators.pow,  # cupy.power does not know that x**2 is a square
        sign=_sign,
        to_device=moved,
    )
    return made


def _on(device: Any) -> Any:
    """Return the context of a device; for None, of no device."""
    return nullcontext() if device is None else cupy.cuda.Device(device)


def _placed(make: Callable[..., Any], *, like: bool = False) -> Callable[..., Any]:
    """Make a creation function that allocates on the device asked for, or on its array's."""

    @functools.wraps(make)
    def made(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        if like and device is None and args:
            device = args[0].data.device_id
        with _on(device):
            return make(*args, **kwargs)

    return made


def _asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Any:
    """Convert to an array as the standard does; an array stays on its device by default."""
    if device is None and isinstance(obj, cupy.ndarray):
        device = obj.data.device_id
    with _on(device):
        if copy is None:
            return cupy.asarray(obj, dtype=dtype)
        made = cupy.array(obj, dtype=dtype, copy=copy)
    if not copy and made is not obj:
        raise ValueError("this cannot be made an array without a copy. Fix: omit copy=False.")
    return made


def _clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Clip as the standard does, in the dtype of x: two launches, no mask."""
    low, high = _bound(min, x, below=True), _bound(max, x, below=False)
    out = x if low is None else cupy.maximum(x, low)
    out = out if high is None else cupy.minimum(out, high)
    return out.copy() if out is x else out


def _bound(bound: Any, x: Any, *, below: bool) -> Any:
    """Return a bound in the dtype of x; None for a number beyond the dtype's range."""
    if bound is None or isinstance(bound, cupy.ndarray):
        return bound if bound is None else bound.astype(x.dtype, copy=False)
    if x.dtype.kind in "iu":
        limits = cupy.iinfo(x.dtype)
        if bound <= limits.min if below else bound >= limits.max:
            return None
    return x.dtype.type(bound)


def _sign(x: Any, /) -> Any:
    """Compute the sign as the standard does: x/|x| for complex numbers, NaN for NaN."""
    if x.dtype.kind == "c":
        size = cupy.abs(x)
        return cupy.where(size == 0, x.dtype.type(0), x / cupy.where(size == 0, 1, size))
    if x.dtype.kind != "f":
        return cupy.sign(x)
    return cupy.where(x != x, x, cupy.sign(x))  # noqa: PLR0124  NaN; CuPy 13 gives 0 for it


def _solve(x1: Any, x2: Any, /) -> Any:
    """Solve as the standard does: CuPy's own `solve` does not broadcast stacks of matrices."""
    if x2.ndim > 1 and x1.shape[:-2] != x2.shape[:-2]:
        stack = cupy.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        x1 = cupy.broadcast_to(x1, stack + x1.shape[-2:])
        x2 = cupy.broadcast_to(x2, stack + x2.shape[-2:])
    return cupy.linalg.solve(x1, x2)


def _pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Compute the pseudoinverse as the standard does."""
    if not x.size:
        return cupy.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype=x.dtype)
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(cupy.finfo(x.dtype).eps)
    u, s, vh = cupy.linalg.svd(cupy.conj(x), full_matrices=False)
    cutoff = cupy.max(s, axis=-1) * rtol
    small = s <= cutoff[..., None]
    inverse = cupy.where(small, s.dtype.type(0), 1 / cupy.where(small, s.dtype.type(1), s))
    return cupy.matmul(vh.swapaxes(-2, -1), inverse[..., None] * u.swapaxes(-2, -1))
