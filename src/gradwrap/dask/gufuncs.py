"""Functions with a signature such as `(i),(j)->(i,j)`, applied to blocks: `apply_gufunc`.

The axes that the signature names are moved to the end and put into one chunk. The function is then
called on the blocks along the other axes, and returns an output for each part of the signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.dask.blocks import applied, as_dask
from gradwrap.dask.calls import Output
from gradwrap.dask.linear import in_chunks, is_tracked, plain, plain_options
from gradwrap.dask.untyped import LIST
from gradwrap.extend import innermost
from gradwrap.numpy import vectorize as vectorized

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    da: Any
    parsed: Any
    normalized_axes: Any

    class gufunc:  # noqa: N801  Dask's name
        """Dask's class."""

        pyfunc: Any
        signature: str
        allow_rechunk: bool

        def __init__(self, pyfunc: Any, **options: Any) -> None: ...

else:
    import dask.array as da
    from dask.array.gufunc import _parse_gufunc_signature as parsed
    from dask.array.gufunc import _validate_normalize_axes as normalized_axes
    from dask.array.gufunc import gufunc


def apply_gufunc(  # noqa: PLR0913  Dask's parameters
    func: Callable[..., Any],
    signature: str,
    *args: Any,
    axes: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    vectorize: bool | None = None,
    **options: Any,
) -> Any:
    """Apply a function with a signature to blocks, as `dask.array.apply_gufunc`, differentiably.

    It may have several outputs. The function is differentiated on the workers: it is written in
    NumPy. Tracked arrays of NumPy can be given by position and by keyword.
    """
    known = {name: options.pop(name) for name in WORDS if name in options}
    known["vectorize"] = vectorize
    if not is_tracked([args, options]):
        places = {"axes": axes, "axis": axis, "keepdims": keepdims}
        named = plain_options(options)
        return da.apply_gufunc(func, signature, *plain(args), **places, **known, **named)
    signature = "".join(signature.split())
    inputs, outputs = parsed(signature)
    of_inputs, of_outputs = normalized_axes(axes, axis, keepdims, inputs, outputs)
    arrays = [
        np.moveaxis(array, own, range(-len(own), 0)) if own else array
        for array, own in zip(map(as_dask, args), of_inputs, strict=False)
    ]
    given = {name: innermost(one) for name, one in options.items()}
    found = da.apply_gufunc(func, signature, *map(innermost, arrays), **known, **given)
    is_several = isinstance(outputs, LIST)
    likes, cores = (found, outputs) if is_several else ((found,), [outputs])
    ndim = likes[0].ndim - len(cores[0])
    loops = tuple(range(ndim))
    numbers: dict[str, int] = {}
    for name in (name for core in (*inputs, *cores) for name in core):
        numbers.setdefault(name, ndim + len(numbers))
    indices = [
        (*loops[ndim - array.ndim + len(core) :], *(numbers[name] for name in core))
        for array, core in zip(arrays, inputs, strict=True)
    ]
    lengths = likes[0].chunks
    arrays = [_in_blocks_of(*pair, lengths[:ndim]) for pair in zip(arrays, indices, strict=True)]
    results = applied(
        vectorized(func, signature=signature) if vectorize else func,
        arrays,
        indices,
        options,
        tuple(
            Output((*loops, *(numbers[name] for name in core)), like.chunks, like.dtype, like._meta)
            for like, core in zip(likes, cores, strict=True)
        ),
        loops=loops if is_several else None,
    )
    placed = [
        _placed(result, own, keepdims)
        for result, own in zip(results if is_several else (results,), of_outputs, strict=True)
    ]
    return tuple(placed) if is_several else placed[0]


WORDS = ("output_dtypes", "output_sizes", "allow_rechunk", "meta")


def _in_blocks_of(array: Any, index: Sequence[int], lengths: Sequence[Any]) -> Any:
    """Rechunk an array's outer axes as those of the results, and its other axes to one chunk."""
    wanted = (
        own if sum(own) == 1 else lengths[name] if name < len(lengths) else (sum(own),)
        for name, own in zip(index, innermost(array).chunks, strict=True)
    )
    return in_chunks(array, tuple(wanted))


def _placed(result: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Move the last axes of a result to their places; `keepdims` makes them of length one."""
    if not axes:
        return result
    if keepdims:
        result = result[(..., *(None,) * len(axes))]
    return np.moveaxis(result, range(-len(axes), 0), axes)


class GUFunc(gufunc):
    """A function with a signature, as `dask.array.gufunc`, which takes tracked arrays."""

    def __call__(self, *args: Any, allow_rechunk: bool = False, **options: Any) -> Any:
        words = {name: getattr(self, name) for name in (*PLACES, *WORDS)}
        words["allow_rechunk"] = self.allow_rechunk or allow_rechunk
        return apply_gufunc(self.pyfunc, self.signature, *args, **words, **options)


PLACES = ("axes", "axis", "keepdims", "vectorize")


def as_gufunc(signature: str | None = None, **options: Any) -> Callable[[Any], GUFunc]:
    """Return a decorator that makes a `gufunc` of a function."""
    return lambda function: GUFunc(function, signature=signature, **options)
