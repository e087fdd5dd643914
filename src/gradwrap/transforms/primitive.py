"""`primitive`: a function of native arrays that is one operation to the recorder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gradwrap.core.dynamic import SEQUENCE
from gradwrap.core.general import no_rule
from gradwrap.core.registry import Op
from gradwrap.core.wrapper import AnyWrapper, is_recorded, unwrapped_key
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.signatures import Signature, UserFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.core.variable import Variable

__all__ = ["Primitive", "primitive"]

P = ParamSpec("P")
R = TypeVar("R")


class Primitive(UserFunction[P, R]):
    """A function of native arrays that is one operation to the recorder."""

    def __init__(self, fun: Callable[P, R]) -> None:
        super().__init__(fun)
        self.op: Op = Op(name_of(fun))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function: with native arrays, whatever wraps them."""
        cls = _variable_class_in([*args, *kwargs.values()])
        if cls is None:
            return self.fun(*args, **kwargs)
        if self.op.rule_for(cls._backend.name) is not None:
            return cls._bind(self.op).apply(*args, **kwargs)  # type: ignore[no-any-return]  # of the type of the function
        self._refuse_recorded(cls._backend.name, args, kwargs)
        native = {key: unwrapped_key(value) for key, value in kwargs.items()}
        return cls._plain(self.fun(*unwrapped_key(args), **native))  # type: ignore[no-any-return]  # likewise

    def __repr__(self) -> str:
        return f"<primitive {self.op.name}>"

    def _refuse_recorded(self, backend: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not is_recorded(args) and not is_recorded(kwargs):
            return
        names = [*Signature(self.fun, None).names, *map(str, range(len(args)))]
        given = dict(zip(names, args, strict=False)) | kwargs
        argument = next(name for name, value in given.items() if is_recorded(value))
        raise no_rule(self.op.name, backend, argument, list(given))


def _variable_class_in(values: Sequence[Any]) -> Any:
    """The class of the first variable among values and in lists of them."""
    return next((type(v) for v in _variables(values)), None)


def _variables(values: Sequence[Any]) -> Iterator[Variable[Any]]:
    for value in values:
        if isinstance(value, AnyWrapper):
            yield value
        elif isinstance(value, SEQUENCE):
            yield from _variables(value)


def primitive(fun: Callable[P, R]) -> Callable[P, R]:
    """Make any function of native arrays one operation, to be given a rule with `defvjp`.

    It is called with native arrays only, and returns an array, a number, or a tuple of them.
    Without a rule, it refuses tracked arguments. Its parameters may have defaults.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> @gw.primitive
    ... def cube(x):
    ...     return x**3
    >>> gw.defvjp(cube, lambda xp, g, x: g * 3 * x**2)
    >>> gw.grad(cube)(2.0)
    np.float64(12.0)
    """
    return Primitive(fun)
