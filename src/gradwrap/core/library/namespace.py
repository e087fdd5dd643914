"""The namespace whose functions record: `x.__array_namespace__()` of a variable."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradwrap.core.levels.wrapper import (
    has_effect,
    innermost,
    key_with_batches,
    layers,
    unwrapped_key,
)
from gradwrap.core.library.backend import by_namespace, by_type, lock
from gradwrap.core.table.registry import Op, changes, find_op, load_all
from gradwrap.core.values.dynamic import SEQUENCE
from gradwrap.errors import NoRuleError

Composite = Callable[..., Any]
# filled while the tables are imported
_composites: dict[str, Composite] = {}
_asked_of_data: set[str] = set()

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
EXTENSIONS = ("linalg", "fft", "special")


def composite(*names: str) -> Callable[[Composite], Composite]:
    """Define a function of the namespace in terms of its other functions; it needs no rule."""

    def define(function: Composite) -> Composite:
        _composites.update(dict.fromkeys(names, function))
        return function

    return define


def asked_of_data(*names: str) -> None:
    """Name functions about dtypes and shapes: they are asked of the innermost arrays."""
    _asked_of_data.update(names)


def composites() -> dict[str, Composite]:
    """Return the functions that are written in terms of others."""
    load_all()
    return dict(_composites)


class WrappedNamespace:
    """An Array API namespace over variables.

    There is one object per class of wrappers. Those of a library are equal, whatever transforms the
    wrappers belong to: each takes the arrays of all, so code that collects the namespaces of its
    arguments finds one. Functions are bound when they are first asked for, and then are plain
    attributes.
    """

    def __init__(self, cls: Any, name: str, prefix: str = "") -> None:
        self._class = cls
        self._prefix = prefix
        self.__name__ = name
        if not prefix:
            self.newaxis: None = None  # the one name of the standard that stands for None

    def __repr__(self) -> str:
        return f"<namespace {self.__name__}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrappedNamespace) and other.__name__ == self.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)

    def __getattr__(self, name: str) -> Any:
        if not _is_offered(name):
            raise AttributeError(name)
        before = changes()
        if name in EXTENSIONS and not self._prefix:
            found: Any = WrappedNamespace(self._class, f"{self.__name__}.{name}", f"{name}.")
        else:
            found = self._find(self._prefix + name)
        setattr(self, name, found)
        if changes() != before:
            self.__dict__.pop(name, None)
        return found

    def __dir__(self) -> list[str]:
        backend = self._class._backend
        native = backend.native(self._prefix[:-1]) if self._prefix else backend.xp
        names: set[str] = set()
        if native is not None:
            names.update(name for name in dir(native) if _is_listed(name))
        names.update(_composites_below(self._prefix))
        if not self._prefix:
            names.update(["__name__", "newaxis"])
            names.update(part for part in EXTENSIONS if backend.has_extension(part))
        return sorted(names)

    def _check_version(self, asked: str) -> None:
        """Refuse a version of the standard that the library does not offer."""
        newest = self.__array_api_version__
        offered = [version for version in VERSIONS if version <= newest]
        if asked not in offered:
            raise ValueError(
                f"{self.__name__} does not offer version {asked!r} of the Array API standard. "
                f"Fix: ask for one of {', '.join(offered)}, or for none."
            )

    def _rebind(self, path: str) -> None:
        """Forget a function whose rule has changed."""
        head, _, tail = path.rpartition(".")
        target = getattr(self, head) if head else self
        target.__dict__.pop(tail, None)

    def _has_rule(self, path: str) -> bool:
        """Tell if a function is an operation of the table, or is written in terms of others."""
        return find_op(path) is not None or path in _composites or path in _asked_of_data

    def _find(self, path: str) -> Any:
        """Find the function of a (dotted) name, which is then kept."""
        cls = self._class
        backend = cls._backend
        if path not in _composites:
            find_op(path)  # which loads all chapters, if need be
        function = _composites.get(path)
        if function is not None:
            bound = _like(functools.partial(function, cls._namespace), function)
            del bound.__wrapped__  # the signature is that without the namespace
            return bound
        op = find_op(path)
        if op is not None and op.rule_for(backend.name) is not None:
            try:
                return cls._bind(op).call
            except NoRuleError:
                raise AttributeError(f"{backend.name} has no function {path}") from None
        native = backend.native(path)
        if native is None:
            raise AttributeError(f"{self.__name__} has no attribute {path.rpartition('.')[2]}")
        if path in _asked_of_data:
            return _like(functools.partial(_on_data, native), native)
        if not callable(native) or isinstance(native, type):
            return native
        return _like(functools.partial(_without_rule, cls, path, native), native)


def _is_offered(name: str) -> bool:
    """Tell if a name is passed on to the library; other special names are not."""
    return not name.startswith("__") or name in _asked_of_data or name == "__array_api_version__"


def _is_listed(name: str) -> bool:
    return _is_offered(name) and (name.startswith("__") or not name.startswith("_"))


def _composites_below(prefix: str) -> set[str]:
    return {
        path.removeprefix(prefix)
        for path in composites()
        if path.startswith(prefix) and "." not in path.removeprefix(prefix)
    }


def _like(bound: Any, function: Callable[..., Any]) -> Any:
    """Give a function the name and documentation of another."""
    return functools.update_wrapper(bound, function, ("__name__", "__doc__"), ())


def _on_data(native: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function about arrays (dtypes, shapes) with the innermost arrays."""
    return _called(native, innermost, args, kwargs)


def _called(function: Any, change: Callable[[Any], Any], args: Any, kwargs: Any) -> Any:
    """Call a function with arguments that have been changed."""
    return function(*map(change, args), **{name: change(value) for name, value in kwargs.items()})


def _without_rule(
    cls: Any, path: str, native: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a function that has no rule: not on tracked arrays."""
    for value in (*args, *kwargs.values()):
        if _is_tracked(value):
            function = _below(native)
            if cls._backend.dispatches(function):
                return function(*args, **kwargs)
            raise NoRuleError(
                f"{path} on {cls._backend.name} arrays has no rule, and an argument is tracked. "
                f"Fix: gradwrap.defvjp({path}, lambda xp, g, x: ...) gives it one, "
                "or .detach() the argument if its gradient is not wanted."
            )
    change = functools.partial(key_with_batches, unwrap=unwrapped_key)
    return cls._plain(_called(native, change, args, kwargs))


PARTIAL: type[Any] = functools.partial


def _below(native: Callable[..., Any]) -> Callable[..., Any]:
    """Return the library's function below the wrapped namespaces around it."""
    found: Any = native
    while isinstance(found, PARTIAL):
        found = getattr(found, "__wrapped__", found.func)
    below: Callable[..., Any] = found
    return below


def _is_tracked(value: Any) -> bool:
    """Tell if a value holds an array that a transform records; a batch is not recorded."""
    if isinstance(value, SEQUENCE):
        return any(_is_tracked(part) for part in value)
    return any(has_effect(layer) and not layer._is_batched for layer in layers(value))


# Rules that change --------------------------------------------------------------------------------


def known_classes() -> list[Any]:
    """Return the classes of wrappers made so far."""
    with lock:
        backends = {*by_type.values(), *(backend for _, backend in by_namespace.values())}
        return [known for b in backends for known in b.wrapper_classes.values()]


def rebind(op: Op) -> None:
    """Forget the calls written for an operation whose rules have changed."""
    for cls in known_classes():
        cls._bindings.pop(op, None)
        cls._forget_functions(op)
        cls._namespace._rebind(op.name)
        cls._forget_operators()
