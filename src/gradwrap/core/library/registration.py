"""Registration of array libraries: gradwrap's own descriptions, and those of others."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from gradwrap.core.library.backend import by_namespace, by_type, factories, lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gradwrap.core.library.backend import Backend


def register_backend(library: str, factory: Callable[[Any, type], Backend] | str) -> None:
    """Name the factory that describes an array library where it differs from the standard.

    A library that follows the standard needs none. Call it before the first array of the library
    is met.

    Parameters
    ----------
    library
        The name of the library: that of its top-level module.
    factory
        Called with the library's namespace and the type of the array, when the first array is met.
        It returns a `Backend`, usually of a class derived from it. The text `"module:name"` names
        one in a module that is imported only then.

    Raises
    ------
    ValueError
        Arrays of the library are known already, by another description; or a text is not of the
        form `"module:name"`.

    Examples
    --------
    >>> import gradwrap as gw
    >>> class MyBackend(gw.Backend):
    ...     def __init__(self, xp, kind):
    ...         super().__init__("mylib", xp, frozenset({kind}))
    ...     def owns_buffer(self, array):
    ...         return array.base is None
    >>> gw.register_backend("mylib", MyBackend)
    >>> gw.register_backend("otherlib", "mypackage.otherlib:OtherBackend")
    """
    if isinstance(factory, str):
        module, _, name = factory.partition(":")
        if not (module and name.isidentifier()):
            raise ValueError(
                f"register_backend got {factory!r} for the factory of {library}. Fix: name it by "
                'its module and its name, "mypackage.mylib:MyBackend".'
            )
        factory = functools.partial(_made_by, module, name)
    with lock:
        if any(backend.name == library for backend in by_type.values()):
            raise ValueError(
                f"arrays of {library} are known already. Fix: call register_backend before the "
                "first array of the library is given to gradwrap."
            )
        factories[library] = factory


def _made_by(module: str, name: str, xp: Any, kind: type) -> Backend:
    """Make a backend by a factory whose module is imported now."""
    factory: Callable[[Any, type], Backend] = getattr(importlib.import_module(module), name)
    return factory(xp, kind)


def registered() -> frozenset[str]:
    """Return the names of the libraries that have a backend of their own."""
    return frozenset(factories)


def libraries() -> frozenset[str]:
    """Return the names of the array libraries that are registered or whose arrays were met."""
    return registered() | {backend.name for backend in by_type.values()}


def serve(backend: Backend, kinds: Iterable[type]) -> None:
    """Use a backend for arrays of these types and for its namespace, without a factory."""
    with lock:
        by_namespace[id(backend.xp)] = (backend.xp, backend)
        for kind in kinds:
            by_type[kind] = backend
