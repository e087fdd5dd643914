"""An array library that gradwrap does not know: the standard's functions, and nothing else.

Its arrays compute with NumPy inside, and do not show it: none of NumPy's protocols, no
conversion, no attribute beyond the standard's. It has dtypes and devices of its own, refuses to
mix devices, other libraries' arrays and kinds of dtype, and has no function that it does not need
to have: no `einsum`, no scatter-add. This module is its namespace.
"""

from __future__ import annotations

import builtins
import operator
import types
from typing import Any

import array_api_compat
import numpy as np

__array_api_version__ = "2024.12"


class DType:
    """A dtype, equal only to itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tiny_arrays.{self.name}"


class Device:
    """A place for arrays."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


KINDS = {
    "bool": ("bool",),
    "int32": ("signed integer", "integral", "numeric"),
    "int64": ("signed integer", "integral", "numeric"),
    "float32": ("real floating", "numeric"),
    "float64": ("real floating", "numeric"),
    "complex64": ("complex floating", "numeric"),
    "complex128": ("complex floating", "numeric"),
}
DTYPES = {name: DType(name) for name in KINDS}
HERE, THERE = Device("here"), Device("there")
NUMBERS = (bool, int, float, complex)  # below, `bool` is a dtype
TUPLE: tuple[type[Any], ...] = (tuple,)  # asked for like this, what is Any stays Any
PLAIN_KEYS: tuple[type[Any], ...] = (int, slice)
pi, e, inf, nan, newaxis = np.pi, np.e, np.inf, np.nan, None


class Array:
    """The standard's array object."""

    __slots__ = ("_device", "_values")
    __hash__ = None  # type: ignore[assignment]  # not hashable, as in NumPy

    def __init__(self, values: Any, device: Device) -> None:
        self._values = np.asarray(values)
        self._device = device

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        import tiny_arrays

        return tiny_arrays

    def __repr__(self) -> str:
        return f"Array({self._values.tolist()}, {self.dtype}, {self._device})"

    @property
    def dtype(self) -> DType:
        return DTYPES[self._values.dtype.name]

    @property
    def device(self) -> Device:
        return self._device

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape

    @property
    def ndim(self) -> int:
        return self._values.ndim

    @property
    def size(self) -> int:
        return self._values.size

    @property
    def T(self) -> Array:  # noqa: N802  the standard's
        return Array(self._values.T, self._device)

    @property
    def mT(self) -> Array:  # noqa: N802  the standard's
        return matrix_transpose(self)

    def to_device(self, device: Device, /, *, stream: Any = None) -> Array:
        return Array(self._values.copy(), device)

    def __getitem__(self, key: Any) -> Array:
        return Array(self._values[_key(key, self._device)], self._device)

    def __setitem__(self, key: Any, value: Any) -> None:
        device, (values,) = _values_of(value, device=self._device)
        assert device is self._device
        self._values[_key(key, self._device)] = values

    def __bool__(self) -> bool:
        return builtins.bool(self._values)

    def __float__(self) -> float:
        return float(self._values)

    def __int__(self) -> int:
        return int(self._values)

    def __index__(self) -> int:
        return operator.index(self._values[()])

    def __neg__(self) -> Array:
        return Array(-self._values, self._device)

    def __pos__(self) -> Array:
        return Array(+self._values, self._device)

    def __abs__(self) -> Array:
        return Array(np.abs(self._values), self._device)

    def __invert__(self) -> Array:
        return Array(~self._values, self._device)


_held = operator.attrgetter("_values")  # the module's own access to what its arrays hide


def _values_of(*arguments: Any, device: Device | None = None) -> tuple[Device, list[Any]]:
    """The values of arrays of one device, and numbers."""
    values: list[Any] = []
    for argument in arguments:
        if isinstance(argument, Array):
            if device is not None and argument.device is not device:
                raise ValueError(f"arrays on {device} and {argument.device}: move one of them")
            device = argument.device
            values.append(_held(argument))
        elif isinstance(argument, NUMBERS):
            values.append(argument)
        else:
            raise TypeError(f"not an array of tiny_arrays: {type(argument).__name__}")
    return device or HERE, values


def _key(key: Any, device: Device) -> Any:
    if isinstance(key, TUPLE):
        return tuple(_key(part, device) for part in key)
    if isinstance(key, Array):
        return _values_of(key, device=device)[1][0]
    if key is None or key is Ellipsis or isinstance(key, PLAIN_KEYS):
        return key
    raise IndexError(f"not a key of the standard: {type(key).__name__}")


def _binary(function: Any, *, swapped: bool = False) -> Any:
    def method(self: Array, other: Any) -> Any:
        if not isinstance(other, (Array, *NUMBERS)):
            return NotImplemented
        device, (a, b) = _values_of(self, other)
        return Array(function(b, a) if swapped else function(a, b), device)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(Array, f"__{_name}__", _binary(getattr(operator, _name)))
    setattr(Array, f"__r{_name}__", _binary(getattr(operator, _name), swapped=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor"):
    setattr(Array, f"__{_name.rstrip('_')}__", _binary(getattr(operator, _name)))


# The namespace -----------------------------------------------------------------------------------


def _native(dtype: DType | None) -> Any:
    return None if dtype is None else np.dtype(dtype.name)


def _function(native: Any) -> Any:
    """Return a function of the leading arrays, with options that the standard and NumPy share."""

    def call(*arguments: Any, **options: Any) -> Any:
        count = builtins.sum(isinstance(a, (Array, *NUMBERS)) for a in arguments)
        device, values = _values_of(*arguments[:count])
        if "dtype" in options:
            options["dtype"] = _native(options["dtype"])
        if options.get("axis", 0) is None:
            del options["axis"]
        out = native(*values, *arguments[count:], **options)
        if isinstance(out, TUPLE):
            parts: list[Any] = [Array(part, device) for part in out]
            return type(out)(*parts) if hasattr(out, "_fields") else tuple(parts)
        return Array(out, device)

    return call


# NumPy 2.0 lacks some of the standard
standard = array_api_compat.array_namespace(np.empty(0))
ELEMENTWISE = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_or bitwise_xor
ceil conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot
imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative not_equal positive pow real reciprocal
remainder sign sin sinh sqrt square subtract tan tanh trunc
"""
OTHERS = """
all any argmax argmin cumulative_prod cumulative_sum expand_dims flip matmul matrix_transpose max
mean min moveaxis permute_dims prod repeat roll squeeze sum take take_along_axis tile tril triu
where
"""
LINALG = "det diagonal inv matrix_norm slogdet solve svd trace vector_norm"

globals().update(DTYPES)
globals().update(
    {name: _function(getattr(standard, name)) for name in (ELEMENTWISE + OTHERS).split()}
)
linalg = types.SimpleNamespace(
    **{name: _function(getattr(np.linalg, name)) for name in LINALG.split()}
)


def matrix_transpose(x: Array, /) -> Array:
    return Array(_held(x).mT, x.device)


def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    shaped = _held(x).reshape(shape)
    return Array(shaped.copy() if copy else shaped, x.device)


def broadcast_to(x: Array, /, shape: Any) -> Array:
    return Array(np.broadcast_to(_held(x), shape), x.device)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    bounds = [None if bound is None else _values_of(bound)[1][0] for bound in (min, max)]
    return Array(np.clip(_held(x), *bounds), x.device)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    device, values = _values_of(*arrays)
    return Array(np.concatenate(values, axis=axis), device)


def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    device, values = _values_of(*arrays)
    return Array(np.stack(values, axis=axis), device)


def astype(x: Array, dtype: DType, /, *, copy: bool = True, device: Device | None = None) -> Array:
    return Array(_held(x).astype(_native(dtype), copy=copy), device or x.device)


def asarray(
    obj: Any,
    /,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    copy: bool | None = None,
) -> Array:
    if isinstance(obj, Array):
        values = np.array(_held(obj), dtype=_native(dtype), copy=copy)
        return Array(values, device or obj.device)
    return Array(np.array(obj, dtype=_native(dtype)), device or HERE)


def _creation(native: Any) -> Any:
    def call(*arguments: Any, dtype: Any = None, device: Any = None, **options: Any) -> Array:
        return Array(native(*arguments, dtype=_native(dtype), **options), device or HERE)

    return call


def _creation_like(native: Any) -> Any:
    def call(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
        return Array(native(_held(x), dtype=_native(dtype)), device or x.device)

    return call


arange, empty, full = _creation(np.arange), _creation(np.empty), _creation(np.full)
linspace, ones, zeros = _creation(np.linspace), _creation(np.ones), _creation(np.zeros)
empty_like = _creation_like(np.empty_like)
ones_like, zeros_like = _creation_like(np.ones_like), _creation_like(np.zeros_like)


def eye(n: int, m: int | None = None, /, *, k: int = 0, **options: Any) -> Array:
    return _creation(np.eye)(n, m, k=k, **options)  # type: ignore[no-any-return]  # a tiny array


def isdtype(dtype: DType, kind: Any) -> bool:
    kinds = kind if isinstance(kind, TUPLE) else (kind,)
    return builtins.any(one is dtype or one in KINDS[dtype.name] for one in kinds)


def finfo(dtype: DType, /) -> Any:
    return np.finfo(_native(dtype))


def result_type(*arguments: Any) -> DType:
    natives = [_native(a if isinstance(a, DType) else a.dtype) for a in arguments]
    return DTYPES[np.result_type(*natives).name]


# The tests' way in and out -----------------------------------------------------------------------


def from_numpy(values: Any, device: Device | None = None) -> Array:
    return Array(np.array(values), device or HERE)


def to_numpy(x: Array) -> Any:
    return _held(x)
