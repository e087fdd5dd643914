"""`numerical`: a function whose first derivative is taken by differences of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import numpy as np

from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded, native
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import NoRuleError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.custom_rules import defjvp, defvjp
from gradwrap.transforms.derived import derived
from gradwrap.transforms.primitive import primitive

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")
Method = Literal["central", "complex"]
STEPS: dict[Method, float] = {"central": float(np.finfo(float).eps) ** (1 / 3), "complex": 1e-30}


def numerical(fun: Callable[P, R], *, method: Method = "central") -> Callable[P, R]:
    """Return a function whose first derivative is taken by differences of its values.

    Use it for compiled code of a few numbers that nobody can give a rule. It is called twice for
    each tracked number ("central"), or once ("complex").

    Parameters
    ----------
    fun
        A function of NumPy arrays, numbers, or pytrees of them. It gets plain values.
    method
        "central": differences with a step of 6e-6 times the number, or 6e-6 if that is more. The
        relative error is about 1e-10 for a smooth function; noise in its values of the relative
        size e causes one of about 2e5 times e. "complex": the imaginary part with an imaginary
        step, exact to rounding. The function must accept complex numbers, and be analytic.

    Raises
    ------
    NoRuleError
        A derivative of higher order is asked for: differences of differences are not exact enough.

    Examples
    --------
    >>> import math, gradwrap as gw
    >>> gw.grad(gw.numerical(math.lgamma))(2.5).round(6)
    np.float64(0.703157)
    """
    if method not in STEPS:
        raise ValueError(f"method={method!r} is none of {', '.join(STEPS)}. Fix: use one of these.")

    @derived(fun, numerical, method=method)
    def differenced(*args: P.args, **kwargs: P.kwargs) -> R:
        leaves, tree = flatten([args, kwargs])
        tracked = [i for i, leaf in enumerate(leaves) if is_recorded(leaf)]
        if not tracked:
            return fun(*args, **kwargs)
        call = _Call(fun, method, leaves, tree, tracked)
        flat: Any = np.concatenate([leaves[i].reshape(-1) for i in tracked])
        return call.result(call.op(flat))  # type: ignore[no-any-return]  # what `fun` returns

    return differenced


class _Call:
    """One call with tracked arguments, as a function of the vector of their elements."""

    def __init__(
        self, fun: Any, method: Method, leaves: list[Any], tree: Any, tracked: list[int]
    ) -> None:
        self.fun = fun
        self.name = name_of(fun)
        self.method: Method = method
        self.leaves = leaves
        self.tree = tree
        self.tracked = tracked
        self.shapes: list[tuple[int, ...]] = [leaves[i].shape for i in tracked]
        self.outs: list[Any] = []
        self.out_tree: Any = None

        def of_vector(x: Any) -> Any:
            return self.values(x, keeps=True)

        of_vector.__name__ = of_vector.__qualname__ = self.name
        self.op: Any = primitive(of_vector)
        defvjp(self.op, lambda xp, g, x: xp.matmul(g, xp.asarray(self.jacobian(x))))
        defjvp(self.op, lambda xp, t, x: xp.matmul(xp.asarray(self.jacobian(x)), t))

    def values(self, x: Any, *, keeps: bool = False) -> Any:
        """Return the numbers in the result as a vector, for a plain vector of arguments."""
        leaves, at = list(self.leaves), 0
        for i, shape in zip(self.tracked, self.shapes, strict=True):
            size = int(np.prod(shape))
            part = x[at : at + size].reshape(shape)
            leaves[i] = part if shape else part[()].item()
            at += size
        args, kwargs = unflatten(self.tree, [_plain(leaf) for leaf in leaves])
        outs, tree = flatten(self.fun(*args, **kwargs))
        if keeps:
            self.outs, self.out_tree = outs, tree
        numbers = [np.asarray(out).reshape(-1) for out in outs if _is_number(out)]
        return np.concatenate([np.zeros(0), *numbers])

    def result(self, flat: Any) -> Any:
        """Return the result in the function's own form, with the vector's elements in place."""
        outs, at = list(self.outs), 0
        for i, out in enumerate(self.outs):
            if _is_number(out):
                size = int(np.size(out))
                part = flat[at : at + size]
                outs[i] = part.reshape(np.shape(out)) if np.ndim(out) else part[0]
                at += size
        return unflatten(self.out_tree, outs)

    def jacobian(self, x: Any) -> Any:
        """Return the derivatives at a point, by differences."""
        if is_recorded(x):
            raise NoRuleError(
                f"gradwrap.numerical({self.name}) has a first derivative only, and here a second "
                "one is asked for, or vmap maps over its arguments: differences of differences "
                "are not exact enough. Fix: give the function a rule with gradwrap.primitive and "
                "gradwrap.defvjp."
            )
        point: Any = np.array(native(x), dtype=float)
        columns: list[Any] = []
        for i, value in enumerate(point):
            step = STEPS[self.method] * max(1.0, abs(float(value)))
            moved = np.zeros(point.size)
            moved[i] = step
            if self.method == "complex":
                columns.append(self.values(point + 1j * moved).imag / step)
            else:
                high, low = point + moved, point - moved
                difference = self.values(high) - self.values(low)
                columns.append(difference / (high[i] - low[i]))
        return np.stack(columns, axis=1)


def _plain(leaf: Any) -> Any:
    return native(leaf) if isinstance(leaf, AnyWrapper) else leaf


def _is_number(value: Any) -> bool:
    """Tell if a part of a result is a real number, or an array of them."""
    return isinstance(value, float) or getattr(value, "dtype", np.dtype("O")).kind in "fc"
