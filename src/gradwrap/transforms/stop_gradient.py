"""Constants inside a differentiated function."""

from __future__ import annotations

from typing import Any, TypeVar

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.tree import map_leaves

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """The same values, taken as constants: no gradient passes, at any level.

    Takes and returns an array or a pytree of arrays; what is not tracked stays as it is.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.grad(lambda x: x * gw.stop_gradient(x))(3.0)
    np.float64(3.0)
    """

    def stop(leaf: Any) -> Any:
        return leaf.detach() if isinstance(leaf, AnyWrapper) else leaf

    return map_leaves(stop, x)  # type: ignore[no-any-return]  # of the type it was given
