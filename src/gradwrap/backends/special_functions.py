"""Special functions of SciPy and CuPy: unmodified `scipy.special.erf(x)` reaches its row.

They are ufuncs, which come to their library's protocol. There the operation is looked up by the
function itself, since names of CuPy's kernels are not always those of the functions.
"""

from __future__ import annotations

from typing import Any

from gradwrap.core.registry import find_op, ops, register_function, register_functions_later

__all__ = ["register_all"]


def register_all() -> None:
    """Let the functions be registered once somebody has imported their module."""
    register_functions_later("scipy.special", _enter_scipy)
    register_functions_later("cupyx.scipy.special", _enter)


def _enter_scipy(module: Any) -> None:
    _enter(module)
    _enter(module._ufuncs)  # noqa: SLF001  what a function of `special` calls in the end


def _enter(module: Any) -> None:
    """Register each function of a module that is an operation of the table, special or not."""
    for op in ops():
        function = getattr(module, op.name.removeprefix("special."), None)
        if function is not None:
            register_function(function, op)
    zeta, op_of_zeta = getattr(module, "_zeta", None), find_op("special.zeta")
    if zeta is not None and op_of_zeta is not None:
        register_function(zeta, op_of_zeta)
