"""Arrays that formulas save, kept in another form until backward needs them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from gradwrap.core.library.backend import backend_of
from gradwrap.core.observing.watching import Watch, Watching
from gradwrap.errors import SavedArrayError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from gradwrap.core.library.backend import Backend


class saved_tensors_hooks(Watching):  # noqa: N801  PyTorch's name
    """Pack every array that an operation saves for backward, and unpack it when it is needed.

    A context manager. While it lasts, in this thread or task, each array that a formula saves is
    given to `pack` at once, and what that returns is kept in its place. When a backward pass comes
    to the operation, inside of the context or not, it gives that to `unpack`, and so again in each
    further pass. Of contexts inside of each other the innermost counts, as in PyTorch.

    Both get and return native arrays, under the tape and under transforms of any depth: `pack`
    must not write to the array, which may be the caller's own. An array that two operations save
    is packed twice. What a leaf or a variable itself holds is not packed, nor is the index of one
    element. For a `Function`, it is the arrays of floats that its context keeps.

    Parameters
    ----------
    pack
        Is given an array of any shape and dtype; returns anything.
    unpack
        Is given what `pack` returned; returns the array again, of the same library, shape, dtype
        and device.

    Raises
    ------
    SavedArrayError
        One of the two is not callable; or, in backward, `unpack` returned another kind of array.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def half(array):
    ...     return array.astype(np.float32)
    >>> def whole(kept):
    ...     return kept.astype(np.float64)
    >>> with gw.saved_tensors_hooks(half, whole):
    ...     gw.grad(lambda x: np.sum(np.sin(x)))(np.array([0.0, 0.5]))
    array([1.        , 0.87758256])
    """

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        super().__init__()
        for name, function in (("pack", pack), ("unpack", unpack)):
            if not callable(function):
                raise SavedArrayError(
                    f"saved_tensors_hooks: {name} is a {type(function).__name__}, which cannot be "
                    f"called. Fix: pass a function of one argument as {name}."
                )
        self._hooks = pack, unpack

    def _watch(self, outside: Watch) -> Watch:
        return outside._replace(hooks=self._hooks)


@contextmanager
def save_on_cpu() -> Generator[None, None, None]:
    """Keep what operations save for backward in the memory of the CPU, until it is needed.

    A context manager, on top of `saved_tensors_hooks`. Arrays that are there already are kept as
    they are. In backward each array is taken back to the device it came from.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> with gw.save_on_cpu():
    ...     gw.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    with saved_tensors_hooks(to_host, _from_host):
        yield


def to_host(array: Any) -> tuple[Any, Any, Backend]:
    backend = backend_of(array)
    device = backend.device(array)
    if "cpu" in str(device).lower():
        return array, device, backend
    try:
        return array_api_compat.to_device(array, "cpu"), device, backend
    except ValueError:  # a library that does not know its devices by this name
        pass
    for other in backend.xp.__array_namespace_info__().devices():
        if "cpu" in str(other).lower():
            return array_api_compat.to_device(array, other), device, backend
    return np.asarray(array), device, backend


def _from_host(kept: tuple[Any, Any, Backend]) -> Any:
    array, device, backend = kept
    if backend.is_array(array):
        return array_api_compat.to_device(array, device)
    return backend.xp.asarray(array, device=device)
