"""The base class of `custom_vjp` and `custom_jvp`, which splits and reassembles a call."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gradwrap.core.levels.wrapper import is_recorded, native
from gradwrap.core.values.comparing import kind_of
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.core.values.tree import TreeDef, flatten, map_leaves, path_of, unflatten
from gradwrap.errors import ArgnumsError, NoRuleError, RuleResultError, TrackedValueError
from gradwrap.transforms.argnums import described, name_of
from gradwrap.transforms.custom_calls import is_differentiated, perform, refuse_hidden
from gradwrap.transforms.primitive import UserFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
R = TypeVar("R")


class CustomFunction(UserFunction[P, R]):
    """A function with a derivative of its own, used by every transform."""

    __name__: str
    __wrapped__: Callable[P, R]
    _kind = "custom_function"
    _definition = ""

    def __init__(self, fun: Callable[P, R], nondiff_argnums: int | Sequence[int] = ()) -> None:
        super().__init__(fun)
        self.name: str = name_of(fun)
        self.nondiff_argnums: tuple[int, ...] = (
            (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        )
        if not all(type(one) is int for one in self.nondiff_argnums):
            raise ArgnumsError(
                f"nondiff_argnums={nondiff_argnums!r}. Fix: give positions, such as (0, 2)."
            )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; under a transform, with its own derivative."""
        leaves = flatten((args, kwargs))[0]
        refuse_hidden(self.name, leaves)
        if not is_differentiated(leaves):
            return self.fun(*args, **kwargs)
        arguments = Arguments(self, self._positions(args, kwargs))
        if not is_differentiated(arguments.leaves):
            return self.fun(*args, **kwargs)
        call = self._rule_of(arguments)
        outs = perform(call, arguments.leaves)
        return call.structured(outs)  # type: ignore[no-any-return]  # in the form of the user's

    def __repr__(self) -> str:
        return f"<{self._kind} {self.name}>"

    def _rule_of(self, arguments: Arguments) -> Any:
        raise NotImplementedError

    def _undefined(self) -> NoRuleError:
        return NoRuleError(
            f"{self.name} is a {self._kind} function without a rule. "
            f"Fix: {self.name}.{self._definition} before it is differentiated."
        )

    @functools.cached_property
    def _signature(self) -> inspect.Signature | None:
        try:
            return inspect.signature(self.fun)
        except (TypeError, ValueError):
            return None

    def _positions(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, defaults included."""
        if self._signature is None:
            if kwargs:
                raise TypeError(
                    f"the parameters of {self.name} cannot be inspected. "
                    "Fix: pass its arguments by position."
                )
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self.name} has keyword-only parameters ({', '.join(bound.kwargs)}), and a "
                f"{self._kind} function is given its arguments by position. "
                "Fix: let them be passed by position, in nondiff_argnums where they are no arrays."
            )
        return bound.args

    def _parameter(self, position: int) -> str:
        """Return the name of an argument for messages."""
        name = described(self.fun, position)
        return f"argument {name}" if name.isdigit() else name


class Arguments:
    """The arguments of one call: differentiated ones as flat leaves, others unchanged."""

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self.function: Any = function  # a CustomFunction
        count = len(args)
        fixed: set[Any] = set()
        for one in function.nondiff_argnums:
            if not -count <= one < count:
                raise ArgnumsError(
                    f"nondiff_argnums={function.nondiff_argnums} of {function.name}: {one} is out "
                    f"of range for a call with {count} arguments."
                )
            fixed.add(one % count)
        self.static: dict[int, Any] = {
            place: self._untracked(args[place], function._parameter(place))
            for place in sorted(fixed)
        }
        self.places: list[int] = [place for place in range(count) if place not in fixed]
        self.count = count
        self.leaves: list[Any] = []
        self.treedefs: list[TreeDef] = []
        for place in self.places:
            leaves, treedef = flatten(args[place])
            self.leaves += leaves
            self.treedefs.append(treedef)

    def _untracked(self, value: Any, name: str) -> Any:
        if any(is_recorded(leaf) for leaf in flatten(value)[0]):
            raise TrackedValueError(
                f"the argument {name} of {self.function.name} is tracked, and it is among "
                "nondiff_argnums. Fix: take it out of nondiff_argnums and give None as its "
                "cotangent; nondiff_argnums is for arguments that are not arrays."
            )
        return map_leaves(native, value)

    def grouped(self, leaves: Sequence[Any]) -> list[list[Any]]:
        """Group flat leaves by argument."""
        iterator = iter(leaves)
        return [[next(iterator) for _ in range(treedef.size)] for treedef in self.treedefs]

    def restored(self, leaves: Sequence[Any]) -> list[Any]:
        """Put leaves back into the structures of the differentiated arguments."""
        return [
            unflatten(treedef, group)
            for treedef, group in zip(self.treedefs, self.grouped(leaves), strict=True)
        ]

    def all(self, leaves: Sequence[Any]) -> list[Any]:
        """Return every argument, in the order of the signature."""
        values = dict(self.static)
        values.update(zip(self.places, self.restored(leaves), strict=True))
        return [values[place] for place in range(self.count)]

    def path(self, index: int, leaf: int | None) -> str:
        """Return the expression that reaches an argument, or one leaf of it."""
        treedef = self.treedefs[index]
        name: str = self.function._parameter(self.places[index])
        skeleton = unflatten(treedef, range(treedef.size))
        return name if leaf is None else path_of(skeleton, name, leaf)


class CustomCall:
    """The derivative of one call of a custom function, and its value's structure."""

    def __init__(self, name: str, arguments: Arguments) -> None:
        self.name = name
        self.arguments = arguments
        self.out_treedef: Any = None

    def structured(self, outs: Sequence[Any]) -> Any:
        """Put outputs into the structure of the function's value."""
        return unflatten(self.out_treedef, outs)

    def value_and(self, second: str, returned: Any, rule: str) -> tuple[list[Any], Any]:
        """Split a rule's result: the leaves of the value, and the second item."""
        if not isinstance(returned, TUPLE) or len(returned) != 2:
            raise RuleResultError(
                f"the {rule} of {self.name} returned {kind_of(returned)}. "
                f"Fix: return a pair, the value and {second}."
            )
        leaves, self.out_treedef = flatten(returned[0])
        return leaves, returned[1]
