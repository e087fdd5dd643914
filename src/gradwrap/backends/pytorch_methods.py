"""Methods of PyTorch's tensors that NumPy's arrays lack, as methods of a variable.

They are made of the standard's functions, so variables of every library have them. Where both have
a method, it is NumPy's (`docs/tape.md` lists the differences), except that `sum`, `mean` and a few
more take PyTorch's `dim` and `keepdim` too.

`TEXTS` has an entry for each method: its names, PyTorch's parameters, and an expression of the
array `x` and its namespace `xp`. A name that ends in `_` stands for two methods: `exp_` for
`x.exp()`, and for `x.exp_()`, which changes the array. The declarations in `gradwrap.typing` are
generated from these entries; the keys are the types of the results.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from gradwrap.core.calls.source import execute
from gradwrap.core.library.backend import is_array
from gradwrap.core.values.dynamic import SEQUENCE, TUPLE
from gradwrap.errors import InPlaceError

Method = Callable[..., Any]

TEXTS = {
    "Self": """
        acos_ acosh_ asin_ asinh_ atan_ atanh_ ceil_ cos_ cosh_ exp_ expm1_ floor_ log_ log10_
            log1p_ log2_ reciprocal_ sign_ sin_ sinh_ sqrt_ square_ tan_ tanh_ trunc_()
            -> xp.{name}(x)
        abs_ absolute_() -> xp.abs(x)
        neg_ negative_() -> xp.negative(x)
        atan2_ hypot_ pow_ remainder_(other) -> xp.{name}(x, other)
        logaddexp matmul maximum minimum(other) -> xp.{name}(x, other)
        mul_ multiply_(other) -> xp.multiply(x, other)
        div_ divide_ true_divide_(other, *, rounding_mode=None)
            -> torch_divide(xp, x, other, rounding_mode)
        add_(other, *, alpha=1) -> x + (other if alpha == 1 else alpha * other)
        sub_ subtract_(other, *, alpha=1) -> x - (other if alpha == 1 else alpha * other)
        addcmul_(tensor1, tensor2, *, value=1) -> x + value * tensor1 * tensor2
        addcdiv_(tensor1, tensor2, *, value=1) -> x + value * tensor1 / tensor2
        lerp_(end, weight) -> x + weight * (end - x)
        clamp_(min=None, max=None) -> xp.clip(x, min, max)
        clamp_max_(max) -> xp.clip(x, None, max)
        clamp_min_(min) -> xp.clip(x, min)
        relu_() -> xp.where(x <= 0, 0 * x.detach(), x)
        sigmoid_() -> torch_sigmoid(xp, x)
        softmax(dim) -> torch_softmax(xp, x, dim)
        log_softmax(dim) -> torch_log_softmax(xp, x, dim)
        logsumexp(dim, keepdim=False) -> torch_logsumexp(xp, x, _axes(dim), keepdim)
        amax(dim=(), keepdim=False) -> xp.max(x, axis=_axes(dim), keepdims=keepdim)
        amin(dim=(), keepdim=False) -> xp.min(x, axis=_axes(dim), keepdims=keepdim)
        norm(p=2, dim=None, keepdim=False) -> torch_norm(xp, x, p, _axes(dim), keepdim)
        diff(n=1, dim=-1, prepend=None, append=None)
            -> xp.diff(x, n=n, axis=dim, prepend=prepend, append=append)
        mm(mat2) -> torch_product(xp, x, mat2, "mm")
        bmm(mat2) -> torch_product(xp, x, mat2, "bmm")
        mv(vec) -> torch_product(xp, x, vec, "mv")
        outer(vec2) -> xp.linalg.outer(x, vec2)
        det() -> xp.linalg.det(x)
        inverse() -> xp.linalg.inv(x)
        tril_ triu_(diagonal=0, *, k=0) -> xp.{name}(x, k=diagonal or k)
        permute(*sizes, dims=())
            -> xp.permute_dims(x, tuple(d % x.ndim for d in torch_lengths(sizes, dims)))
        t() -> torch_transposed(x)
        unsqueeze(dim) -> xp.expand_dims(x, axis=dim)
        expand(*sizes, size=()) -> torch_expanded(xp, x, torch_lengths(sizes, size))
        expand_as(other) -> xp.broadcast_to(x, other.shape)
        reshape_as view_as(other) -> xp.reshape(x, other.shape)
        unflatten(dim, sizes)
            -> xp.reshape(x, (*x.shape[: dim % x.ndim], *sizes, *x.shape[dim % x.ndim + 1 :]))
        movedim(source, destination) -> xp.moveaxis(x, source, destination)
        flip(*sizes, dims=()) -> xp.flip(x, axis=torch_lengths(sizes, dims))
        roll(shifts, dims=None) -> xp.roll(x, shifts, axis=_axes(dims))
        tile(*sizes, dims=()) -> xp.tile(x, torch_lengths(sizes, dims))
        select(dim, index) -> _at(x, dim, index)
        narrow(dim, start, length) -> _at(x, dim, slice(start, start + length))
        index_select(dim, index) -> xp.take(x, index, axis=dim)
        gather(dim, index, *, sparse_grad=False) -> torch_gather(xp, x, dim, index)
        masked_fill_(mask, value) -> xp.where(mask, value, x)
        masked_select(mask) -> torch_masked_select(xp, x, mask)
        where(condition, other) -> xp.where(condition, x, other)
        contiguous(memory_format=None) -> xp.asarray(x)
        cpu(memory_format=None) -> x.to_device("cpu")
        double(memory_format=None) -> x.astype(x._backend.xp.float64)
        copy_(other, non_blocking=False) -> _written(x, other)
        fill_(value) -> _written(x, value)
        zero_() -> _written(x, 0)
    """,
    "Other": """
        isfinite isinf isnan logical_not_() -> xp.{name}(x)
        logical_and_ logical_or_ logical_xor_(other) -> xp.{name}(x, other)
        bitwise_not_() -> xp.bitwise_invert(x)
        eq(other) -> xp.equal(x, other)
        ne(other) -> xp.not_equal(x, other)
        ge(other) -> xp.greater_equal(x, other)
        gt(other) -> xp.greater(x, other)
        le(other) -> xp.less_equal(x, other)
        lt(other) -> xp.less(x, other)
        count_nonzero(dim=None) -> xp.count_nonzero(x, axis=_axes(dim))
        bool(memory_format=None) -> x.astype(x._backend.xp.bool)
        float(memory_format=None) -> x.astype(x._backend.xp.float32)
        int(memory_format=None) -> x.astype(x._backend.xp.int32)
        long(memory_format=None) -> x.astype(x._backend.xp.int64)
        type_as(other) -> x.astype(other.dtype)
        to(*targets, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None)
            -> torch_to(x, targets, dtype, device, copy)
    """,
    "Bool": """
        allclose(other, rtol=1e-5, atol=1e-8) -> torch_allclose(x, other, rtol, atol)
        equal(other) -> tuple(x.shape) == tuple(other.shape) and bool((x == other).all())
        is_complex() -> x._backend.dtype_kind(x.dtype)[1]
        is_floating_point() -> x._backend.dtype_kind(x.dtype) == (True, False)
    """,
    "Int": """
        dim() -> x.ndim
        element_size() -> x.itemsize
        numel() -> math.prod(x.shape)
    """,
    "tuple[Self, ...]": """
        split(split_size, dim=0) -> torch_split(x, split_size, dim)
        chunk(chunks, dim=0) -> torch_split(x, max(1, math.ceil(x.shape[dim] / chunks)), dim)
        unbind(dim=0) -> tuple(xp.unstack(x, axis=dim))
    """,
    "NDArray[Any]": """
        numpy() -> torch_numpy(x)
    """,
}  # fmt: skip


def torch_divide(xp: Any, x: Any, other: Any, rounding_mode: str | None) -> Any:
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError(
            f"x.div(): rounding_mode={rounding_mode!r}. Fix: 'floor', 'trunc' or None."
        )
    if rounding_mode == "floor":
        return xp.floor_divide(x, other)
    return xp.divide(x, other) if rounding_mode is None else xp.trunc(xp.divide(x, other))


def torch_sigmoid(xp: Any, x: Any) -> Any:
    if x._backend.dtype_kind(x.dtype)[1]:  # complex numbers are not ordered
        return 1.0 / (1.0 + xp.exp(-x))
    return xp.exp(-xp.logaddexp(-x, xp.zeros_like(x)))


def _shifted(xp: Any, x: Any, dim: Any) -> tuple[Any, Any]:
    """Return an array minus its finite maxima, and the maxima as constants."""
    if not math.prod(x.shape):
        return x, 0.0
    plain = x.detach()
    plain = xp.real(plain) if x._backend.dtype_kind(x.dtype)[1] else plain
    most = xp.max(plain, axis=dim, keepdims=True)
    most = xp.where(xp.isfinite(most), most, xp.zeros_like(most))
    return x - most, most


def torch_softmax(xp: Any, x: Any, dim: int) -> Any:
    made = xp.exp(_shifted(xp, x, dim)[0])
    return made / xp.sum(made, axis=dim, keepdims=True)


def torch_log_softmax(xp: Any, x: Any, dim: int) -> Any:
    shifted, _ = _shifted(xp, x, dim)
    if not math.prod(x.shape):
        return shifted
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=dim, keepdims=True))


def torch_logsumexp(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    shifted, most = _shifted(xp, x, dim)
    found = xp.log(xp.sum(xp.exp(shifted), axis=dim, keepdims=True)) + most
    return found if keepdim else xp.squeeze(found, axis=dim)


def torch_norm(xp: Any, x: Any, p: Any, dim: Any, keepdim: bool) -> Any:
    order = 2 if p == "fro" else p
    return xp.linalg.vector_norm(x, ord=order, axis=dim, keepdims=keepdim)


def torch_product(xp: Any, x: Any, other: Any, name: str) -> Any:
    """Multiply arrays that must have the number of axes that the method's name implies."""
    shapes, axes = (tuple(x.shape), tuple(other.shape)), AXES[name]
    if (len(shapes[0]), len(shapes[1])) != axes:
        raise ValueError(
            f"x.{name}() takes arrays of {axes[0]} and {axes[1]} axes; it got the shapes "
            f"{shapes[0]} and {shapes[1]}. Fix: x.matmul(other), or x @ other."
        )
    return xp.matmul(x, other)


def _axes(dims: Any) -> Any:
    """Return a list of axes as a tuple; the empty list stands for all axes, as None does."""
    return (tuple(dims) or None) if isinstance(dims, SEQUENCE) else dims


def torch_lengths(given: tuple[Any, ...], named: Any) -> tuple[int, ...]:
    """Return lengths given one by one, as one sequence, or by name."""
    first: Any = named if not given else given[0] if len(given) == 1 else given
    return tuple(first) if isinstance(first, SEQUENCE) else (first,)


def torch_transposed(x: Any) -> Any:
    if x.ndim > 2:
        raise ValueError(f"x.t() of an array of {x.ndim} axes. Fix: x.mT or x.permute(...).")
    return x.T


def torch_expanded(xp: Any, x: Any, sizes: tuple[int, ...]) -> Any:
    """Broadcast to the lengths; -1 keeps a length."""
    own = (1,) * (len(sizes) - x.ndim) + tuple(x.shape)
    shape = tuple(n if size == -1 else size for size, n in zip(sizes, own, strict=True))
    return xp.broadcast_to(x, shape)


def _at(x: Any, dim: int, key: Any) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (key,)]


def torch_split(x: Any, split_size: Any, dim: int) -> Any:
    """Split into parts of one length (the last may be shorter), or of several lengths."""
    total = x.shape[dim]
    if isinstance(split_size, SEQUENCE):
        lengths = list(split_size)
        if sum(lengths) != total:
            raise ValueError(f"x.split({split_size}, {dim}): the axis has the length {total}.")
    else:
        lengths = [min(split_size, total - i) for i in range(0, total, split_size)]
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return tuple(
        _at(x, dim, slice(start, start + length))
        for start, length in zip(starts, lengths, strict=True)
    )


def torch_gather(xp: Any, x: Any, dim: int, index: Any) -> Any:
    """Gather elements along an axis; along other axes, the index may be shorter."""
    dim %= x.ndim
    key = tuple(slice(None if i == dim else n) for i, n in enumerate(index.shape))
    return xp.take_along_axis(x[key], index, axis=dim)


def torch_masked_select(xp: Any, x: Any, mask: Any) -> Any:
    x, mask = xp.broadcast_arrays(x, mask)
    return x[mask]


def torch_numpy(x: Any) -> Any:
    import array_api_compat
    import numpy as np

    data = x._untracked_data("x.numpy()", "call x.detach().numpy() if no gradient is wanted.")
    return np.asarray(array_api_compat.to_device(data, "cpu") if x.device != "cpu" else data)


def torch_to(x: Any, targets: tuple[Any, ...], dtype: Any, device: Any, copy: bool) -> Any:
    """Convert an array to another dtype or device, or to those of another array."""
    for target in targets:
        if is_array(target):
            dtype, device = target.dtype, target.device
        elif isinstance(target, str) or type(target).__name__.lower() == "device":
            device = target
        elif target is not None and type(target) is not bool:  # copy and non_blocking
            dtype = target
    try:
        found = x if device is None else x.to_device(device)
    except ValueError as error:
        raise ValueError(
            f"x.to({device!r}): arrays of {x._backend.name} are on {x.device!r} ({error}). "
            f"Fix: {INSTEAD['cuda']}."
        ) from None
    found = found if dtype is None or dtype == found.dtype else found.astype(dtype)
    return found.clone() if copy and found is x else found


def torch_allclose(x: Any, other: Any, rtol: float, atol: float) -> bool:
    difference = abs(x - other)
    return bool((difference <= atol + rtol * abs(other)).all())


def _written(x: Any, value: Any) -> Any:
    x[...] = value
    return x


def _in_place(name: str, function: Any) -> Method:
    """Make the method that writes a function's result to the array."""

    def written(x: Any, *args: Any, **kwargs: Any) -> Any:
        made = function(x, *args, **kwargs)
        kinds = [x._backend.dtype_kind(one.dtype) for one in (x, made)]
        if kinds[0] != kinds[1] and kinds[1] > kinds[0]:
            raise InPlaceError(
                f"x.{name}(): the result has dtype {made.dtype}, the array has {x.dtype}. "
                f"Fix: x = x.{name[:-1]}(...) makes a new array."
            )
        return _written(x, made)

    written.__name__, written.__doc__ = name, f"`x[...] = x.{name[:-1]}(...)`; returns `x`."
    return written


def _entries() -> dict[str, tuple[str, str, str]]:
    """Return each method's parameters, its expression and the type of its result."""
    found: dict[str, tuple[str, str, str]] = {}
    for result, text in TEXTS.items():
        before = ""
        for line in text.split("\n"):
            call, arrow, expression = f"{before} {line.strip()}".strip().partition(" -> ")
            before = "" if arrow else call
            names, _, parameters = call.removesuffix(")").partition("(")
            for name in names.split() if arrow else ():
                plain = name if name in ONLY_IN_PLACE else name.removesuffix("_")
                both = (parameters, expression.format(name=plain), result)
                found |= {plain: both, name: both}
    return found


@functools.cache
def method(name: str) -> Method | None:
    """Write the method of this name, or return None if PyTorch has no such method."""
    if name not in METHODS:
        return None
    if name in IN_PLACE:
        return _in_place(name, method(name.removesuffix("_")))
    parameters, expression, _ = METHODS[name]
    space = globals().copy()
    source = f"    xp = x._namespace\n    return {expression}\n"
    execute(f"def {name}({f'x, {parameters}'.rstrip(', ')}):\n{source}", space, f"x.{name}()")
    found: Method = space[name]
    found.__doc__ = f"`{expression}`."
    return found


AXES = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1)}
ONLY_IN_PLACE = frozenset({"copy_", "fill_", "zero_"})
METHODS = _entries()
IN_PLACE = frozenset(name for name in METHODS.keys() - ONLY_IN_PLACE if name.endswith("_"))
"""The methods that change the array, of those that another method is named after."""

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
    """Extend NumPy's method to take PyTorch's parameter names."""

    @functools.wraps(method)
    def called(x: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "squeeze" and args and x._backend.name == "torch":  # by position it is `dim`
            axis, *others = args
            args, kwargs = (), {"dim": (axis, *others) if others else axis}
        if kwargs and not kwargs.keys().isdisjoint(("dim", "keepdim")):
            if name in OTHERWISE:
                raise TypeError(f"x.{name}() takes no dim. Fix: {OTHERWISE[name]}.")
            renamed = {"dim": "axis", "keepdim": "keepdims"}
            kwargs = {renamed.get(word, word): value for word, value in kwargs.items()}
            axes = kwargs["axis"] = _axes(kwargs.get("axis"))
            if name == "squeeze" and axes is not None:  # PyTorch keeps a longer axis
                several = axes if isinstance(axes, TUPLE) else (axes,)
                kwargs["axis"] = tuple(axis for axis in several if x.shape[axis] == 1)
        return method(x, *args, **kwargs)

    return called


def with_sizes(name: str, method: Method) -> Method:
    """Extend a method to PyTorch's forms `x.view(2, -1)` and `x.flatten(1)`."""

    @functools.wraps(method)
    def called(x: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "flatten" and not kwargs.keys().isdisjoint(("start_dim", "end_dim")):
            args = (*args, *([kwargs.pop("start_dim", 0)] if not args else ()))
            args = (*args, kwargs.pop("end_dim", -1))
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
