"""The namespace whose functions record: `x.__array_namespace__()` of a variable."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradwrap.core.nested import holds_variable
from gradwrap.core.registry import find_op, load_all
from gradwrap.core.unwrapping import key_with_batches
from gradwrap.errors import NoRuleError

__all__ = ["WrappedNamespace", "composite", "composites"]

Composite = Callable[..., Any]
_composites: dict[str, Composite] = {}

CREATION = frozenset(
    [
        "arange",
        "empty",
        "empty_like",
        "eye",
        "fft.fftfreq",
        "fft.rfftfreq",
        "ones",
        "ones_like",
        "zeros",
        "zeros_like",
    ]
)
ABOUT = frozenset(
    [
        "can_cast",
        "finfo",
        "iinfo",
        "result_type",
        "isdtype",
        "broadcast_shapes",
        "__array_namespace_info__",
    ]
)
EXTENSIONS = ("linalg", "fft", "special")


def composite(name: str) -> Callable[[Composite], Composite]:
    """Define a function of the namespace in terms of its other functions; it needs no rule."""

    def define(function: Composite) -> Composite:
        _composites[name] = function
        return function

    return define


def composites() -> dict[str, Composite]:
    """The functions that are written in terms of others."""
    load_all()
    return dict(_composites)


class WrappedNamespace:
    """An Array API namespace over variables.

    There is one object per library, the same for all its arrays. Functions are bound when they
    are first asked for, and then are plain attributes.
    """

    def __init__(self, cls: Any, name: str, prefix: str = "") -> None:
        self._class = cls
        self._prefix = prefix
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<namespace {self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ABOUT and name != "__array_api_version__":
            raise AttributeError(name)
        if name in EXTENSIONS and not self._prefix:
            found: Any = WrappedNamespace(self._class, f"{self.__name__}.{name}", f"{name}.")
        else:
            found = self._find(self._prefix + name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        native: Any = self._class._backend.xp
        for part in self._prefix.split(".")[:-1]:
            native = getattr(native, part)
        return sorted({*super().__dir__(), *dir(native)})

    def _rebind(self, path: str) -> None:
        """Forget a function whose rule has changed."""
        head, _, tail = path.rpartition(".")
        target = getattr(self, head) if head else self
        target.__dict__.pop(tail, None)

    def _has_rule(self, path: str) -> bool:
        """Whether a function is an operation of the table, or written in terms of others."""
        return find_op(path) is not None or path in _composites

    def _find(self, path: str) -> Any:
        cls = self._class
        backend = cls._backend
        if path not in _composites:
            find_op(path)  # which loads all chapters, if need be
        function = _composites.get(path)
        if function is not None:
            root = cls._namespace
            return functools.wraps(function, assigned=("__name__", "__doc__"))(
                functools.partial(function, root)
            )
        op = find_op(path)
        if op is not None and op.rule_for(backend.name) is not None:
            try:
                return cls._bind(op).call
            except NoRuleError:
                raise AttributeError(f"{backend.name} has no function {path}") from None
        native = backend.native(path)
        if native is None:
            raise AttributeError(f"{self.__name__} has no attribute {path.rpartition('.')[2]}")
        if path in ABOUT:
            return functools.partial(_on_data, native)
        if path in CREATION and path.endswith("_like"):  # of a shape and dtype, no values
            return functools.partial(_created, cls, native)
        if not callable(native) or isinstance(native, type):
            return native
        return functools.partial(_without_rule, cls, path, native)


def _data_of(value: Any) -> Any:
    return key_with_batches(value)


def _on_data(native: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function about arrays (dtypes, shapes) with the native arrays."""
    return native(*(_data_of(a) for a in args), **{k: _data_of(v) for k, v in kwargs.items()})


def _created(cls: Any, native: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that makes an array, and wrap the array, not tracked."""
    return cls._plain(_on_data(native, *args, **kwargs))


def _without_rule(
    cls: Any, path: str, native: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a function that has no rule: not on tracked arrays."""
    for value in (*args, *kwargs.values()):
        if _is_tracked(value):
            raise NoRuleError(
                f"{path} on {cls._backend.name} arrays has no rule, and an argument is tracked. "
                f"Fix: gradwrap.defvjp({path}, lambda xp, g, x: ...) gives it one, "
                "or .detach() the argument if its gradient is not wanted."
            )
    return cls._plain(_on_data(native, *args, **kwargs))


def _is_tracked(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return holds_variable(value) and any(_is_tracked(part) for part in value)
    return getattr(value, "_node", None) is not None
