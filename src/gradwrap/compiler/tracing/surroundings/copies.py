"""Copies of functions, objects and containers, with tracers in place of arrays."""

from __future__ import annotations

import functools
import math
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from gradwrap.core.values.dynamic import DICT, LIST, TUPLE, slots_of, type_of
from gradwrap.transforms.derived import Derived

if TYPE_CHECKING:
    from collections.abc import Callable


class Copies:
    """The copies of one run; `enter` returns the tracer of an array."""

    def __init__(
        self,
        wanted: set[int],
        arrays: set[int],
        enter: Callable[[Any], Any],
        builtins: dict[str, Any] | None = None,
        is_users: Callable[[str], bool] = bool,
        number: Callable[[int], int] | None = None,
    ) -> None:
        self._wanted = wanted
        self._builtins = builtins
        """The builtins of the copied functions of the user's modules, if not Python's own."""
        self._is_users = is_users
        self._number = number
        """The function that replaces integers in variables and attributes."""
        self._arrays = arrays
        self._enter = enter
        self._made: dict[int, Any] = {}
        self._names: set[str] = set()
        """The names that the copied functions read. Other integers of their modules stay."""
        self._unfilled: list[Callable[[], None]] = []

    def fill(self) -> None:
        """Fill the copies with their parts, which may refer to each other."""
        while self._unfilled:
            self._unfilled.pop()()

    def of(self, value: Any) -> Any:
        """Return the copy of a value; the value itself if it contains no array to replace."""
        if id(value) not in self._wanted:
            return value
        if id(value) not in self._made:
            self._made[id(value)] = self._copied(value)
        return self._made[id(value)]

    def _part(self, value: Any) -> Any:
        """Return the copy of a variable's or an attribute's value."""
        if self._number is not None and type_of(value) is int:
            return self._number(value)
        return self.of(value)

    def _copied(self, value: Any) -> Any:
        if id(value) in self._arrays:
            return self._enter(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, functools.partial):
            named = {name: self.of(one) for name, one in value.keywords.items()}
            function, parts = self.of(value.func), map(self.of, value.args)
            if not isinstance(value, Derived):
                return functools.partial(function, *parts, **named)
            found = Derived(function, *parts, **named)
            transform, args, options = value.making
            vars(found).update(vars(value), making=(transform, (*map(self.of, args),), options))
            return found
        if isinstance(value, MethodType):
            return MethodType(self.of(value.__func__), self.of(value.__self__))
        if isinstance(value, TUPLE):
            return tuple(map(self.of, value))
        made = self._empty(value)
        self._unfilled.append(functools.partial(self._fill, made, value))
        return made

    def _empty(self, value: Any) -> Any:
        if isinstance(value, (CellType, list)):
            return type_of(value)()
        if isinstance(value, DICT):
            return {}
        if isinstance(value, ModuleType):
            return ModuleType(value.__name__)
        kind: Any = type_of(value)
        return object.__new__(kind)

    def _fill(self, made: Any, value: Any) -> None:
        if isinstance(value, CellType):
            made.cell_contents = self._part(value.cell_contents)
        elif isinstance(value, LIST):
            made.extend(map(self.of, value))
        elif isinstance(value, DICT):
            # builtins of its own stay: functions take them when they are made
            for key, one in value.items():
                if key not in made:
                    is_read = "__builtins__" not in made or key in self._names
                    made[key] = self._part(one) if is_read else self.of(one)
        else:
            for name, one in getattr(value, "__dict__", {}).items():
                made.__dict__[name] = self._part(one)
            for kind in type_of(value).__mro__:
                for name in slots_of(kind):
                    if hasattr(value, name):
                        object.__setattr__(made, name, self.of(getattr(value, name)))

    def _scope(self, scope: dict[str, Any]) -> dict[str, Any]:
        """Return the copy of a module's variables, shared by all copied functions of the module."""
        if id(scope) not in self._made:
            made = self._made[id(scope)] = self._empty(scope)
            self._unfilled.append(functools.partial(self._fill, made, scope))
            if self._builtins is not None and self._is_users(scope.get("__name__") or ""):
                made["__builtins__"] = self._builtins
                if scope.get("math") is math and "math" in self._builtins:
                    made["math"] = self._builtins["math"]
        return cast("dict[str, Any]", self._made[id(scope)])

    def _function(self, function: FunctionType) -> FunctionType:
        if self._number is not None:
            self._names |= _names_in(function.__code__)
        made = FunctionType(
            function.__code__,
            self._scope(function.__globals__),
            function.__name__,
            self.of(function.__defaults__),
            function.__closure__ and tuple(map(self.of, function.__closure__)),
        )
        made.__kwdefaults__ = self.of(function.__kwdefaults__)
        made.__module__, made.__qualname__ = function.__module__, function.__qualname__
        made.__dict__.update(function.__dict__)
        return made


def _names_in(code: CodeType) -> set[str]:
    """Return the names of variables and attributes in a function, and in the functions in it."""
    inner = (_names_in(one) for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names}.union(*inner)
