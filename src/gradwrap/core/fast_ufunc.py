"""NumPy's ufunc protocol on the usual path: one dictionary look-up from ufunc to operation."""

from __future__ import annotations

from typing import Any

from gradwrap.core import protocol
from gradwrap.core.registry import changes, op_of_function

__all__ = ["fast_array_ufunc"]


MISSING: Any = object()


class _CallOfUfunc(dict[Any, Any]):
    """From a ufunc to the compiled call of its operation; None if it has none."""

    def __init__(self, cls: Any) -> None:
        super().__init__()
        self._cls = cls

    def __missing__(self, ufunc: Any) -> Any:
        before = changes()
        op = op_of_function(ufunc)
        if op is None or op.rule_for(self._cls._backend.name) is None:
            return None  # not kept: a rule may be registered later
        call = self[ufunc] = self._cls._bind(op).call
        if changes() != before:
            self.pop(ufunc, None)
        return call


def fast_array_ufunc(cls: Any) -> Any:
    """The `__array_ufunc__` of a class of variables."""
    calls = _CallOfUfunc(cls)
    cls._ufunc_calls = calls

    def __array_ufunc__(  # noqa: N807  one or two inputs by position: the quick call
        self: Any,  # noqa: ARG001  the protocol's
        ufunc: Any,
        method: str,
        x1: Any,
        x2: Any = MISSING,
        *more: Any,
        **kwargs: Any,
    ) -> Any:
        if method == "__call__" and not kwargs and not more:
            call = calls[ufunc]
            if call is not None:
                return call(x1) if x2 is MISSING else call(x1, x2)
        inputs = (x1, *more) if x2 is MISSING else (x1, x2, *more)
        return protocol.call_ufunc(cls, ufunc, method, inputs, kwargs)

    return __array_ufunc__
