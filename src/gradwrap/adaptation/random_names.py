"""The distributions of the module `random` whose code takes plain numbers: it runs on stand-ins.

A generator draws the same numbers; what is made of them depends on the parameters.
"""

from __future__ import annotations

import random
from types import MethodType
from typing import TYPE_CHECKING, Any

from gradwrap.adaptation.plain_values import are_plain, standing_in
from gradwrap.adaptation.scipy_helpers import in_copy
from gradwrap.core.levels.levels import is_differentiating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

RANDOM: type[Any] = random.Random
NAMES = (
    *("betavariate", "gammavariate", "lognormvariate", "normalvariate"),
    *("triangular", "vonmisesvariate"),
)
"""The methods that call functions of `math`, or compare with a parameter."""


class _Shared:
    """A generator that exists, whose methods in `NAMES` are the stand-ins."""

    def __init__(self, generator: Any) -> None:
        object.__setattr__(self, "_generator", generator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._generator, name, value)


def random_functions(lookup: Callable[[Any], Any]) -> Callable[[ModuleType], Iterator[Any]]:
    """Return what yields the class and the functions of the module, with their stand-ins."""
    copied = in_copy(lookup)

    def method(name: str) -> Any:
        original = getattr(RANDOM, name)

        @standing_in(original, f"random.{name}")
        def stand_in(self: Any, *args: Any, **options: Any) -> Any:
            run = original if are_plain(args, options) else copied(original)
            return run(self, *args, **options)

        return stand_in

    def functions(module: ModuleType) -> Iterator[Any]:
        methods: dict[str, Any] = {name: method(name) for name in NAMES}
        for name, one in methods.items():
            setattr(_Shared, name, one)
            bound: Any = getattr(module, name)
            yield bound, MethodType(one, _Shared(bound.__self__))

        class InstancesOfBoth(type):
            def __call__(cls, *args: Any, **options: Any) -> Any:
                kind = super().__call__ if is_differentiating() else RANDOM
                return kind(*args, **options)

            def __instancecheck__(cls, instance: Any) -> bool:
                return isinstance(instance, (RANDOM, _Shared))

        body = {**methods, "__module__": "random", "__doc__": RANDOM.__doc__}
        yield RANDOM, InstancesOfBoth("Random", (RANDOM,), body)

    return functions


def shared(generator: Any) -> Any:
    """Return the stand-in of a generator that exists."""
    return _Shared(generator)
