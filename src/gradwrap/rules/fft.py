"""The discrete Fourier transforms of the standard's fft extension.

Each is linear: it pads the argument with zeros or cuts it to the transform's length, and multiplies
it by the matrix of the transform. The matrix of a complex transform is symmetric, so its transpose
is the same transform, cut or padded back to the argument's shape. `rfft` and `ihfft` omit the
second half of the spectrum, and their transposes pad it with zeros. `irfft` and `hfft` use one half
in place of both; their adjoint is the opposite transform to half a spectrum, doubled where an
element stood for two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.library.compat import device
from gradwrap.core.table.kinds import linear
from gradwrap.core.table.registry import register
from gradwrap.errors import NoRuleError
from gradwrap.rules.axes import at_axis
from gradwrap.rules.matrices import conjugate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from gradwrap.core.table.rule import FormulaFunction, Rule, RuleOptions

ADJOINT_NORM: dict[str | None, str] = {
    None: "forward",
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}
SAMPLES = (
    "x(4)",
    "x(5)",
    "x(2, 5), n=3",
    "x(2, 4), n=7, norm='ortho'",
    "x(4, 3), n=6, axis=0, norm='forward'",
)
SAMPLES_AXES = (
    "x(3, 4)",
    "x(2, 3, 5), axes=(0, 2), norm='ortho'",
    "x(4, 2, 3), s=(5, 2), axes=(-1, 0), norm='forward'",
    "x(3, 4), s=(2, 6), axes=(0, 1)",
)
SAMPLES_SHIFT = ("x(5)", "x(4)", "x(3, 4)", "x(2, 3, 5), axes=(0, -1)", "x(3, 5), axes=1")


def _fitted(xp: Any, y: Any, x_meta: Any, axes: Sequence[int]) -> Any:
    """Put zeros where x was cut, and remove its padding."""
    for axis in axes:
        missing = x_meta.shape[axis] - y.shape[axis]
        if missing < 0:
            y = y[at_axis(axis % y.ndim, slice(None, missing))]
        elif missing:
            shape = list(y.shape)
            shape[axis] = missing
            nothing = xp.zeros(tuple(shape), dtype=y.dtype, device=device(y))
            y = xp.concat([y, nothing], axis=axis)
    return y


def _axes(x_meta: Any, s: Sequence[int] | None, axes: Sequence[int] | None) -> tuple[int, ...]:
    """Return the transformed axes; without `axes`, the last ones that `s` has lengths for."""
    ndim = len(x_meta.shape)
    if axes is None:
        return tuple(range(-ndim if s is None else -len(s), 0))
    if len({a % ndim for a in axes}) < len(axes):
        raise NoRuleError(
            f"A Fourier transform along axes={tuple(axes)}, which name an axis twice, has no "
            "derivative. Fix: apply one transform after the other."
        )
    return tuple(axes)


def _whole(x_meta: Any, n: int | None, axis: int) -> int:
    """Return the length of the transform; NumPy's -1 and None stand for the length of x."""
    length: int = x_meta.shape[axis] if n is None or n == -1 else n
    return length


def _complex(xp: Any, same: Any, g: Any, x_meta: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """Apply the same transform to g, and cut or pad the result to the shape of x."""
    return _fitted(xp, same(g, axes=axes, norm=norm), x_meta, axes)


def _to_half(
    xp: Any, whole: Any, g: Any, x_meta: Any, n: int | None, axes: tuple[int, ...], norm: Any
) -> Any:
    """Transform g, padded with zeros, to the whole spectrum."""
    lengths = (*(g.shape[a] for a in axes[:-1]), _whole(x_meta, n, axes[-1]))
    return _fitted(xp, whole(g, s=lengths, axes=axes, norm=norm), x_meta, axes)


def _from_half(xp: Any, g: Any, x_meta: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """Transform g to half a spectrum, doubled where an element stood for two.

    The engine takes the real part only where the spaces of x and g differ.
    """
    half = xp.fft.rfftn(g, axes=axes, norm=norm)
    last = axes[-1] % g.ndim
    length = half.shape[last]
    k = xp.arange(length, device=device(g))
    alone = xp.astype((k == 0) | (2 * k == g.shape[last]), g.dtype)
    doubled = half * xp.reshape(2.0 - alone, (length,) + (1,) * (g.ndim - last - 1))
    fitted = _fitted(xp, doubled, x_meta, axes)
    return fitted if xp.isdtype(x_meta.dtype, "complex floating") else xp.real(fitted)


def _along(name: str, transpose: FormulaFunction, **options: Unpack[RuleOptions]) -> Rule:
    """Build the row of a transform along one axis."""
    numpy = f"fft.{name}(a, n=None, axis=-1, norm=None, out=None)"
    options |= {"samples": SAMPLES, "numpy": numpy, "batch": "axis"}
    return linear(f"fft.{name}", "x, /, *, n=None, axis=-1, norm='backward'", transpose, **options)


def _along_axes(name: str, transpose: FormulaFunction, **options: Unpack[RuleOptions]) -> Rule:
    """Build the row of a transform along several axes, which NumPy has for two axes too."""
    numpy = (
        f"fft.{name}n(a, s=None, axes=None, norm=None, out=None)",
        f"fft.{name}2(a, s=None, axes=(-2, -1), norm=None, out=None)",
    )
    options |= {"samples": SAMPLES_AXES, "numpy": numpy, "batch": "axes"}
    signature = "x, /, *, s=None, axes=None, norm='backward'"
    return linear(f"fft.{name}n", signature, transpose, **options)


RULES = [
    _along(
        "fft",
        lambda xp, g, x_meta, axis, norm: _complex(xp, xp.fft.fftn, g, x_meta, (axis,), norm),
        only_complex=True,
    ),
    _along(
        "ifft",
        lambda xp, g, x_meta, axis, norm: _complex(xp, xp.fft.ifftn, g, x_meta, (axis,), norm),
        only_complex=True,
    ),
    _along_axes(
        "fft",
        lambda xp, g, x_meta, s, axes, norm: _complex(
            xp, xp.fft.fftn, g, x_meta, _axes(x_meta, s, axes), norm
        ),
        only_complex=True,
    ),
    _along_axes(
        "ifft",
        lambda xp, g, x_meta, s, axes, norm: _complex(
            xp, xp.fft.ifftn, g, x_meta, _axes(x_meta, s, axes), norm
        ),
        only_complex=True,
    ),
    _along(
        "rfft",
        lambda xp, g, x_meta, n, axis, norm: _to_half(xp, xp.fft.fftn, g, x_meta, n, (axis,), norm),
        only_real=True,
    ),
    _along(
        "ihfft",
        lambda xp, g, x_meta, n, axis, norm: _to_half(
            xp, xp.fft.ifftn, g, x_meta, n, (axis,), norm
        ),
        only_real=True,
    ),
    _along_axes(
        "rfft",
        lambda xp, g, x_meta, s, axes, norm: _to_half(
            xp, xp.fft.fftn, g, x_meta, s and s[-1], _axes(x_meta, s, axes), norm
        ),
        only_real=True,
    ),
    _along(
        "irfft",
        lambda xp, g, x_meta, axis, norm: _from_half(xp, g, x_meta, (axis,), ADJOINT_NORM[norm]),
        holomorphic=False,
        only_complex=True,
    ),
    _along(
        "hfft",
        lambda xp, g, x_meta, axis, norm: conjugate(xp, _from_half(xp, g, x_meta, (axis,), norm)),
        holomorphic=False,
        only_complex=True,
    ),
    _along_axes(
        "irfft",
        lambda xp, g, x_meta, s, axes, norm: _from_half(
            xp, g, x_meta, _axes(x_meta, s, axes), ADJOINT_NORM[norm]
        ),
        holomorphic=False,
        only_complex=True,
    ),
    linear(
        "fft.fftshift",
        "x, /, *, axes=None",
        lambda xp, g, axes: xp.fft.ifftshift(g, axes=axes),
        samples=SAMPLES_SHIFT,
        numpy="fft.fftshift(x, axes=None)",
        batch="axes",
    ),
    linear(
        "fft.ifftshift",
        "x, /, *, axes=None",
        lambda xp, g, axes: xp.fft.fftshift(g, axes=axes),
        samples=SAMPLES_SHIFT,
        numpy="fft.ifftshift(x, axes=None)",
        batch="axes",
    ),
]
register(RULES)
