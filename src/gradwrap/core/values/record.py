"""Classes with named fields, for modules that `import gradwrap` loads.

`typing.NamedTuple` compiles a function for each class and the text of each annotation, which takes
some 0.2 ms. A record has its constructor from here.
"""

from __future__ import annotations

from typing import Any, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """An object with the annotated fields of its class; values in the class are defaults.

    Type checkers check the arguments; the constructor does not.
    """

    def __init__(self, *values: Any, **named: Any) -> None:
        self.__dict__.update(zip(self.__annotations__, values, strict=False), **named)

    def changed(self, **fields: Any) -> Self:
        """Return a copy with other values of these fields."""
        return type(self)(**{**self.__dict__, **fields})
