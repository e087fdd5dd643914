"""The methods of PyTorch's tensors that NumPy's arrays lack, as methods of a variable.

They are made of the standard's functions, so variables of every library have them. Where both have
a method, it is NumPy's (`docs/tape.md` lists the differences), except that `sum`, `mean` and a few
more take PyTorch's `dim` and `keepdim` too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwrap.core.library.backend import is_array
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE
from gradwrap.errors import InPlaceError

if TYPE_CHECKING:
    from gradwrap.core.values.dynamic import AnyFunction

Method = Callable[..., Any]

ELEMENTWISE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1",
    "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not",
    "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
"""The methods that are functions of the standard, of the same name and of no more arguments."""

OTHERS = {
    "abs": "abs", "absolute": "abs", "atan2": "atan2", "bitwise_not": "bitwise_invert",
    "div": "divide", "eq": "equal", "ge": "greater_equal", "gt": "greater", "hypot": "hypot",
    "inverse": "linalg.inv", "det": "linalg.det", "le": "less_equal", "logaddexp": "logaddexp",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
    "lt": "less", "matmul": "matmul", "maximum": "maximum", "minimum": "minimum", "mul": "multiply",
    "multiply": "multiply", "divide": "divide", "ne": "not_equal", "neg": "negative",
    "negative": "negative", "outer": "linalg.outer", "pow": "pow", "remainder": "remainder",
    "tril": "tril", "triu": "triu", "true_divide": "divide",
}  # fmt: skip
"""Functions of the standard under another name, or of more arguments."""

IN_PLACE = (
    *(name for name in ELEMENTWISE if not name.startswith(("is", "logical"))),
    *("abs", "add", "addcdiv", "addcmul", "clamp", "clamp_max", "clamp_min", "div", "lerp"),
    *("masked_fill", "mul", "neg", "pow", "relu", "remainder", "sigmoid", "sub", "tril", "triu"),
)
"""The methods that also exist with a `_` at the end, which change the array."""


def _function(name: str, path: str) -> Method:
    """The method that calls a function of the namespace."""

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        return functools.reduce(getattr, path.split("."), x._namespace)(x, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"`xp.{path}` of the array."
    return method


def _in_place(name: str, function: Method) -> Method:
    """The method that writes the result of a function to the array."""

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        made = function(x, *args, **kwargs)
        kinds = [x._backend.dtype_kind(one.dtype) for one in (x, made)]
        if kinds[0] != kinds[1] and kinds[1] > kinds[0]:
            raise InPlaceError(
                f"x.{name}_(): the result has dtype {made.dtype}, the array has {x.dtype}. "
                f"Fix: x = x.{name}(...) makes a new array."
            )
        x[...] = made
        return x

    method.__name__ = f"{name}_"
    method.__doc__ = f"`x[...] = x.{name}(...)`; returns `x`."
    return method


# Arithmetic ---------------------------------------------------------------------------------------


def _add(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return x + (other if alpha == 1 else alpha * other)


def _sub(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return x - (other if alpha == 1 else alpha * other)


def _addcmul(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    return x + value * tensor1 * tensor2


def _addcdiv(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    return x + value * tensor1 / tensor2


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    return x._namespace.clip(x, min, max)


def _relu(x: Any) -> Any:
    """Zero at and below zero, and so is the derivative."""
    return x._namespace.where(x <= 0, 0 * x.detach(), x)


def _sigmoid(x: Any) -> Any:
    xp = x._namespace
    return xp.exp(-xp.logaddexp(-x, xp.zeros_like(x)))


def _shifted(x: Any, dim: Any) -> tuple[Any, Any]:
    """An array less its maxima, which are constants, and these."""
    most = x._namespace.max(x.detach(), axis=dim, keepdims=True)
    return x - most, most


def _softmax(x: Any, dim: int) -> Any:
    made = x._namespace.exp(_shifted(x, dim)[0])
    return made / x._namespace.sum(made, axis=dim, keepdims=True)


def _log_softmax(x: Any, dim: int) -> Any:
    xp = x._namespace
    shifted, _ = _shifted(x, dim)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=dim, keepdims=True))


def _logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    xp = x._namespace
    shifted, most = _shifted(x, dim)
    found = xp.log(xp.sum(xp.exp(shifted), axis=dim, keepdims=True)) + most
    return found if keepdim else xp.squeeze(found, axis=dim)


def _norm(x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    order = 2 if p == "fro" else p
    return x._namespace.linalg.vector_norm(x, ord=order, axis=dim, keepdims=keepdim)


# Products -----------------------------------------------------------------------------------------


def _of_ranks(name: str, own: int, others: int) -> Method:
    """A product of arrays of so many axes."""

    def method(x: Any, other: Any) -> Any:
        shapes = tuple(x.shape), tuple(other.shape)
        if (len(shapes[0]), len(shapes[1])) != (own, others):
            raise ValueError(
                f"x.{name}() takes arrays of {own} and {others} axes; it got the shapes "
                f"{shapes[0]} and {shapes[1]}. Fix: x.matmul(other), or x @ other."
            )
        return x._namespace.matmul(x, other)

    return method


# Shapes -------------------------------------------------------------------------------------------


def _lengths(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Numbers that are given one by one, or as one sequence."""
    first: Any = given[0] if len(given) == 1 else given
    return tuple(first) if isinstance(first, SEQUENCE) else tuple(given)


def _permute(x: Any, *dims: Any) -> Any:
    axes = tuple(dim % x.ndim for dim in _lengths(dims))
    return x._namespace.permute_dims(x, axes)


def _t(x: Any) -> Any:
    if x.ndim > 2:
        raise ValueError(f"x.t() of an array of {x.ndim} axes. Fix: x.mT or x.permute(...).")
    return x.T


def _unsqueeze(x: Any, dim: int) -> Any:
    return x._namespace.expand_dims(x, axis=dim)


def _expand(x: Any, *sizes: Any) -> Any:
    """Broadcast; -1 keeps a length."""
    wanted = _lengths(sizes)
    own = (1,) * (len(wanted) - x.ndim) + tuple(x.shape)
    shape = tuple(n if size == -1 else size for size, n in zip(wanted, own, strict=True))
    return x._namespace.broadcast_to(x, shape)


def _expand_as(x: Any, other: Any) -> Any:
    return x._namespace.broadcast_to(x, other.shape)


def _reshape_as(x: Any, other: Any) -> Any:
    return x._namespace.reshape(x, other.shape)


def _unflatten(x: Any, dim: int, sizes: Any) -> Any:
    dim %= x.ndim
    return x._namespace.reshape(x, (*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


def _movedim(x: Any, source: Any, destination: Any) -> Any:
    return x._namespace.moveaxis(x, source, destination)


def _flip(x: Any, *dims: Any) -> Any:
    return x._namespace.flip(x, axis=_lengths(dims))


def _roll(x: Any, shifts: Any, dims: Any = None) -> Any:
    return x._namespace.roll(x, shifts, axis=dims)


def _tile(x: Any, *dims: Any) -> Any:
    return x._namespace.tile(x, _lengths(dims))


def _at(x: Any, dim: int, key: Any) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (key,)]


def _select(x: Any, dim: int, index: int) -> Any:
    return _at(x, dim, index)


def _narrow(x: Any, dim: int, start: int, length: int) -> Any:
    return _at(x, dim, slice(start, start + length))


def _split(x: Any, split_size: Any, dim: int = 0) -> Any:
    """Parts of a length, the last of which may be shorter; or of several lengths."""
    total = x.shape[dim]
    if isinstance(split_size, SEQUENCE):
        lengths = list(split_size)
        if sum(lengths) != total:
            raise ValueError(f"x.split({split_size}, {dim}): the axis has the length {total}.")
    else:
        lengths = [min(split_size, total - i) for i in range(0, total, split_size)]
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return tuple(
        _narrow(x, dim, start, length) for start, length in zip(starts, lengths, strict=True)
    )


def _chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    return _split(x, max(1, math.ceil(x.shape[dim] / chunks)), dim)


def _unbind(x: Any, dim: int = 0) -> Any:
    return tuple(x._namespace.unstack(x, axis=dim))


def _index_select(x: Any, dim: int, index: Any) -> Any:
    return x._namespace.take(x, index, axis=dim)


def _gather(x: Any, dim: int, index: Any) -> Any:
    return x._namespace.take_along_axis(x, index, axis=dim)


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return x._namespace.where(mask, value, x)


def _masked_select(x: Any, mask: Any) -> Any:
    return x[mask]


def _where(x: Any, condition: Any, other: Any) -> Any:
    return x._namespace.where(condition, x, other)


# Reductions ---------------------------------------------------------------------------------------


def _reduction(name: str, path: str) -> Method:
    def method(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return getattr(x._namespace, path)(x, axis=dim, keepdims=keepdim)

    method.__name__ = name
    return method


def _diff(x: Any, n: int = 1, dim: int = -1) -> Any:
    return x._namespace.diff(x, n=n, axis=dim)


# Values, dtypes, places ---------------------------------------------------------------------------


def _numpy(x: Any) -> Any:
    import array_api_compat
    import numpy as np

    data = x._untracked_data("x.numpy()", "call x.detach().numpy() if no gradient is wanted.")
    return np.asarray(array_api_compat.to_device(data, "cpu") if x.device != "cpu" else data)


def _to(x: Any, target: Any) -> Any:
    """The array with another dtype, on another device, or with those of another array."""
    if is_array(target):
        return x.to_device(target.device).astype(target.dtype)
    return x.to_device(target) if isinstance(target, str) else x.astype(target)


def _cast(dtype: str) -> Method:
    def method(x: Any) -> Any:
        return x.astype(getattr(x._backend.xp, dtype))

    return method


def _allclose(x: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    difference = abs(x - other)
    return bool((difference <= atol + rtol * abs(other)).all())


def _equal(x: Any, other: Any) -> bool:
    return tuple(x.shape) == tuple(other.shape) and bool((x == other).all())


def _zero_(x: Any) -> Any:
    x[...] = 0
    return x


def _fill_(x: Any, value: Any) -> Any:
    x[...] = value
    return x


OWN: dict[str, AnyFunction[Any]] = {
    "add": _add,
    "addcdiv": _addcdiv,
    "addcmul": _addcmul,
    "allclose": _allclose,
    "amax": _reduction("amax", "max"),
    "amin": _reduction("amin", "min"),
    "bmm": _of_ranks("bmm", 3, 3),
    "bool": _cast("bool"),
    "chunk": _chunk,
    "clamp": _clamp,
    "clamp_max": lambda x, max: _clamp(x, None, max),
    "clamp_min": lambda x, min: _clamp(x, min),
    "contiguous": lambda x: x._namespace.asarray(x),
    "copy_": _fill_,
    "count_nonzero": lambda x, dim=None: x._namespace.count_nonzero(x, axis=dim),
    "cpu": lambda x: x.to_device("cpu"),
    "diff": _diff,
    "dim": lambda x: x.ndim,
    "double": _cast("float64"),
    "element_size": lambda x: x.itemsize,
    "equal": _equal,
    "expand": _expand,
    "expand_as": _expand_as,
    "fill_": _fill_,
    "flip": _flip,
    "float": _cast("float32"),
    "gather": _gather,
    "index_select": _index_select,
    "int": _cast("int32"),
    "is_complex": lambda x: x._backend.dtype_kind(x.dtype)[1],
    "is_floating_point": lambda x: x._backend.dtype_kind(x.dtype) == (True, False),
    "lerp": lambda x, end, weight: x + weight * (end - x),
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "long": _cast("int64"),
    "masked_fill": _masked_fill,
    "masked_select": _masked_select,
    "mm": _of_ranks("mm", 2, 2),
    "movedim": _movedim,
    "mv": _of_ranks("mv", 2, 1),
    "narrow": _narrow,
    "norm": _norm,
    "numel": lambda x: math.prod(x.shape),
    "numpy": _numpy,
    "permute": _permute,
    "relu": _relu,
    "reshape_as": _reshape_as,
    "roll": _roll,
    "select": _select,
    "sigmoid": _sigmoid,
    "softmax": _softmax,
    "split": _split,
    "sub": _sub,
    "subtract": _sub,
    "t": _t,
    "tile": _tile,
    "to": _to,
    "type_as": lambda x, other: x.astype(other.dtype),
    "unbind": _unbind,
    "unflatten": _unflatten,
    "unsqueeze": _unsqueeze,
    "view_as": _reshape_as,
    "where": _where,
    "zero_": _zero_,
}
NOT_IN_PLACE: dict[str, Method] = {
    **{name: _function(name, name) for name in ELEMENTWISE},
    **{name: _function(name, path) for name, path in OTHERS.items()},
    **OWN,
}
METHODS: dict[str, Method] = {
    **NOT_IN_PLACE,
    **{f"{name}_": _in_place(name, NOT_IN_PLACE[name]) for name in IN_PLACE},
}

# Methods that NumPy has too -----------------------------------------------------------------------

WITH_DIM = frozenset(
    {"all", "any", "argmax", "argmin", "cumprod", "cumsum", "mean", "prod", "squeeze", "sum"}
)
"""NumPy's methods that mean the same with PyTorch's `dim` and `keepdim`."""
OTHERWISE = {
    "max": "x.amax(dim) gives the values, x.argmax(dim=dim) the positions",
    "min": "x.amin(dim) gives the values, x.argmin(dim=dim) the positions",
    "sort": "np.sort(x, axis=dim) gives the values, x.argsort(axis=dim) the positions",
    "std": "x.std(axis=dim, ddof=1) is PyTorch's, x.std(axis=dim) NumPy's",
    "var": "x.var(axis=dim, ddof=1) is PyTorch's, x.var(axis=dim) NumPy's",
}
"""NumPy's methods that do something else in PyTorch where `dim` is given."""


def with_dim(name: str, method: Method) -> Method:
    """NumPy's method, which takes PyTorch's names of parameters too."""

    @functools.wraps(method)
    def called(x: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys().isdisjoint(("dim", "keepdim")):
            if name in OTHERWISE:
                raise TypeError(f"x.{name}() takes no dim. Fix: {OTHERWISE[name]}.")
            renamed = {"dim": "axis", "keepdim": "keepdims"}
            kwargs = {renamed.get(word, word): value for word, value in kwargs.items()}
            if isinstance(kwargs.get("axis"), list):
                kwargs["axis"] = tuple(kwargs["axis"])
        return method(x, *args, **kwargs)

    return called


def with_sizes(name: str, method: Method) -> Method:
    """`x.view(2, -1)` and `x.flatten(1)` too, which integers tell from NumPy's."""

    @functools.wraps(method)
    def called(x: Any, *args: Any, **kwargs: Any) -> Any:
        given: Any = args[0] if len(args) == 1 and isinstance(args[0], TUPLE) else args
        if kwargs or not given or not all(type(one) is int for one in given):
            return method(x, *args, **kwargs)
        shape = tuple(given)
        if name == "flatten":
            first, last = given[0] % x.ndim, (*given, -1)[1] % x.ndim
            shape = (*x.shape[:first], -1, *x.shape[last + 1 :])
        return x._namespace.reshape(x, shape)

    return called


WIDENED: dict[str, Callable[[str, Method], Method]] = {
    **dict.fromkeys(WITH_DIM | OTHERWISE.keys(), with_dim),
    **dict.fromkeys(("flatten", "view"), with_sizes),
}
"""What lets NumPy's methods take PyTorch's arguments."""

INSTEAD = {
    "addmm": "x + a @ b",
    "addmv": "x + a @ b",
    "at": "y = x.copy(); y[index] = values, which is recorded",
    "baddbmm": "x + a @ b",
    "cross": "np.linalg.cross(x, y)",
    "cuda": "wrap an array of a library on the GPU, such as CuPy's",
    "einsum": "np.einsum(subscripts, x, ...)",
    "erf": "scipy.special.erf(x)",
    "erfc": "scipy.special.erfc(x)",
    "half": "x.astype(np.float16)",
    "index_add": "y = x.copy(); np.add.at(y, index, values)",
    "index_add_": "np.add.at(x, index, values)",
    "is_contiguous": "x.detach().data.flags",
    "is_cuda": "x.device",
    "kthvalue": "np.sort(x)[..., k - 1]",
    "lgamma": "scipy.special.gammaln(x)",
    "nelement": "x.size",
    "new_full": "np.full(shape, value, dtype=x.dtype)",
    "new_ones": "np.ones(shape, dtype=x.dtype)",
    "new_tensor": "np.asarray(values, dtype=x.dtype)",
    "new_zeros": "np.zeros(shape, dtype=x.dtype)",
    "rsqrt": "1 / x.sqrt()",
    "scatter": "y = x.copy(); np.put_along_axis(y, index, values, axis)",
    "scatter_": "np.put_along_axis(x, index, values, axis)",
    "scatter_add": "y = x.copy(); np.add.at(y, key, values)",
    "set": "y = x.copy(); y[index] = values, which is recorded",
    "softplus": "np.logaddexp(0.0, x)",
    "std_mean": "x.std(ddof=1), x.mean()",
    "tensor_split": "np.array_split(x, sections)",
    "topk": "np.sort(x)[..., -k:] for the values, np.argsort(x)[..., -k:] for the positions",
    "type": "x.astype(dtype)",
    "var_mean": "x.var(ddof=1), x.mean()",
}
"""What to write for a method that is missing, also for JAX's `x.at[index].set(values)`."""
