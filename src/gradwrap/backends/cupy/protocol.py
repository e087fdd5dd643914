"""CuPy's protocol: how unmodified `cupy.exp(x)`, `kernel(x)`, `cupy.nanmax(x)` reach an operation.

CuPy looks for two methods of an argument before it touches the device: one for ufuncs and
`ElementwiseKernel`, one for its own reductions. Neither is documented; tests pin the behaviour on
which this module relies. How CuPy treats an object of unknown type is in docs/cupy.md, call by
call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy import protocol as numpy_protocol
from gradwrap.backends.numpy.functions.table import IMPLEMENTATIONS, on_data
from gradwrap.backends.numpy.ufuncs import ufunc_of
from gradwrap.core.array import protocol
from gradwrap.core.calls.loop import looped, may_loop
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.table.registry import ops, register_function, search_function
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import BatchedValueError, NoRuleError, NotAnArrayError, TrackedValueError

if TYPE_CHECKING:
    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy


def class_attributes() -> dict[str, Any]:
    """Return the attributes that CuPy looks for on variables."""
    return {
        "__array__": _array,
        "__cupy_override_elementwise_kernel__": elementwise_kernel,
        "__cupy_override_reduction_kernel__": reduction_kernel,
        "argmax": _position("argmax"),
        "argmin": _position("argmin"),
    }


def _array(self: Any, dtype: Any = None, copy: Any = None) -> Any:
    """Refuse NumPy's conversion, which CuPy tries last for objects of unknown types."""
    if is_recorded(self):
        raise TrackedValueError(
            "Converting to a plain array (cupy.asarray, a store into a cupy.ndarray, a function of "
            "cupy that no protocol reaches) would take a tracked value out of the graph, and drop "
            "its gradient. Fix: import gradwrap.cupy as cp, in place of import cupy as cp; or take "
            ".detach() (an array) or .item() (a number) if no gradient is wanted."
        )
    raise TypeError(
        "a wrapped cupy.ndarray is not a NumPy array. Fix: x.data is the cupy.ndarray, "
        "x.data.get() copies it to the host; or import gradwrap.cupy as cp, whose functions take x."
    )


def _position(name: str) -> Any:
    """Make a method with CuPy's signature, which has a dtype, unlike NumPy's."""
    function = getattr(np, name)

    def position(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        options = {"axis": axis, "keepdims": keepdims, **({} if out is None else {"out": out})}
        found = protocol.call_function(type(self), function, (self,), options)
        return found if dtype is None else found.astype(dtype)

    position.__name__ = name
    position.__doc__ = getattr(cupy.ndarray, name).__doc__
    return position


# Ufuncs and ElementwiseKernel ---------------------------------------------------------------------


def elementwise_kernel(self: Any, kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """Answer a call of a ufunc or an `ElementwiseKernel`; arguments past the inputs are outputs."""
    cls = type_of(self)
    if not kwargs and len(args) == kernel.nin:
        call = cls._ufunc_calls[kernel]
        if call is not None:
            return call(*args)
    function = COUNTERPARTS.get(kernel) or BY_NAME.get(kernel.name)
    if function is not None:
        options = _with_outputs(kernel, args, kwargs)
        inputs = args[: kernel.nin]
        if isinstance(function, np.ufunc):  # whose rules and messages are right here too
            found = protocol.call_ufunc(cls, function, "__call__", inputs, options)
        else:
            found = protocol.call_function(cls, function, inputs, options)
    else:
        found = _as_kernel(cls, kernel, args, kwargs)
    if found is NotImplemented:
        kinds = ", ".join(type(arg).__name__ for arg in args)
        raise NotAnArrayError(
            f"{kernel.name} got {kinds}. Fix: pass cupy arrays, tracked or not, or Python numbers."
        )
    return found


def _with_outputs(kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords, with positional outputs added as `out`."""
    outputs: tuple[Any, ...] = args[kernel.nin :]
    if not outputs:
        return kwargs
    if kwargs.get("out") is not None:
        raise ValueError("Cannot specify 'out' as both a positional and a keyword argument")
    return {**kwargs, "out": outputs[0] if len(outputs) == 1 else outputs}


def _as_kernel(cls: Any, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a kernel without a NumPy counterpart, by its own rule if it has one."""
    try:
        return _recorded_kernel(cls, kernel, args, kwargs)
    except (BatchedValueError, NoRuleError) as error:
        if not may_loop(error, (args, kwargs)):
            raise
        return looped(kernel, kernel.name, *args, **kwargs)


def _recorded_kernel(cls: Any, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    out = _with_outputs(kernel, args, {"out": kwargs.pop("out", None)})["out"]
    inputs = args[: kernel.nin]
    if not is_recorded((inputs, kwargs)):
        if numpy_protocol.are_plain(out):
            outputs = () if out is None else numpy_protocol.targets(out)
            found = on_data(kernel, (*inputs, *outputs), kwargs)
            return found if outputs else cls._plain(found)
        return numpy_protocol.into(out, cls._plain(on_data(kernel, inputs, kwargs)))
    if out is not None:
        numpy_protocol.check_targets(kernel.name, out)
    op = search_function(kernel)
    if op is None or op.rule_for(cls._backend.name) is None:
        raise numpy_protocol.no_rule(cls, f"the kernel {kernel.name}", kernel.nin, kernel)
    kwargs = {k: v for k, v in kwargs.items() if k not in DEFAULTS or v is not DEFAULTS[k]}
    if kwargs:
        raise NoRuleError(
            f"{kernel.name} with {', '.join(kwargs)}= cannot be recorded. Fix: omit it, or "
            "put the call into a function and make that one operation with gradwrap.primitive."
        )
    result = cls._bind(op).call(*inputs)
    return result if out is None else numpy_protocol.into(out, result)


DEFAULTS = {"dtype": None, "casting": None}


# Reductions ---------------------------------------------------------------------------------------


def reduction_kernel(self: Any, kernel: Any, axis: Any, dtype: Any, out: Any, keepdims: Any) -> Any:
    """Answer a call of one of CuPy's reductions; options follow CuPy's functions."""
    cls = type_of(self)
    name = kernel.name.removeprefix("cupy_").removesuffix("_with_dtype")
    if name.removesuffix("_complex") == "_norm_ord2":
        return cls._namespace.linalg.vector_norm(self, axis=axis, keepdims=keepdims)
    function = getattr(np, name, None)
    if function in IMPLEMENTATIONS:
        options = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims or None}
        options = {word: value for word, value in options.items() if value is not None}
        return protocol.call_function(cls, function, (self,), options)
    if is_recorded((self, out)):
        raise NoRuleError(
            f"{kernel.name} on {cls._backend.name} arrays has no rule, and an argument is tracked. "
            "Fix: write it with functions that have one, "
            "or .detach() the argument if its gradient is not wanted."
        )
    to_variable = isinstance(out, AnyWrapper)
    found = cls._plain(kernel(native(self), axis, dtype, None if to_variable else out, keepdims))
    return numpy_protocol.into(out, found) if to_variable else found


# Which function of NumPy a kernel is --------------------------------------------------------------


def _counterparts() -> dict[Any, Any]:
    """Map each ufunc of CuPy to NumPy's function of the same name."""
    found: dict[Any, Any] = {}
    for name in dir(cupy):
        kernel, function = getattr(cupy, name), getattr(np, name, None)
        if isinstance(kernel, cupy.ufunc) and function is not None:
            found[kernel] = function
    return found


def _register() -> None:
    """Register the operation of every ufunc of CuPy."""
    for op in list(ops()):
        function = ufunc_of(op)
        kernel = None if function is None else getattr(cupy, function.__name__, None)
        if isinstance(kernel, cupy.ufunc):
            register_function(kernel, op)


COUNTERPARTS: dict[Any, Any] = _counterparts()
BY_NAME: dict[str, Any] = {
    "cupy_angle": np.angle,
    "cupy_is_close": np.isclose,
    "cupy_where": np.where,
}
"""Of kernels that the functions of CuPy are made of, and that have no name of their own there."""
_register()
