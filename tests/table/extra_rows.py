"""Three new operations, a row each: a plugin of pytest for `test_new_rows.py`.

Nothing else names them, so what works for them works for any new row.
"""

from __future__ import annotations

from typing import Any

from gradwrap.core.table.kinds import elementwise, linear, reduction
from gradwrap.core.table.registry import register
from gradwrap.rules.axes import kept


def _log_mean_exp(xp: Any, g: Any, x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    whole = kept(xp, out, x.ndim, axis, keepdims)
    weights = xp.exp(x - whole)
    weights = weights / xp.sum(weights, axis=axis, keepdims=True)
    return kept(xp, g, x.ndim, axis, keepdims) * weights


def pytest_configure() -> None:
    """Enter the rows, where this module is a plugin."""
    register(
        [
            elementwise(
                "soft_sign",
                "x",
                lambda xp, g, x: g * (1.0 + x * x) ** -1.5,
                native=lambda xp, x: x / xp.sqrt(1.0 + x * x),
            ),
            reduction(
                "log_mean_exp",
                "x, /, *, axis=None, keepdims=False",
                _log_mean_exp,
                native=lambda xp, x, axis=None, keepdims=False: xp.log(
                    xp.mean(xp.exp(x), axis=axis, keepdims=keepdims)
                ),
                samples=("x(3, 4)", "x(3, 4), axis=0", "x(3, 4), axis=-1, keepdims=True", "x(5)"),
                only_real=True,
            ),
            linear(
                "reverse_last",
                "x, /",
                lambda xp, g: xp.flip(g, axis=-1),
                native=lambda xp, x: xp.flip(x, axis=-1),
                batch="last",
                samples=("x(3, 4)", "x(5)"),
            ),
        ]
    )
