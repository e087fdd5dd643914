"""Stand-ins for array libraries, so that their rows can be read without them."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["stand_in"]


def stand_in(libraries: Sequence[str]) -> None:
    """Let `import` of these libraries return modules in which every name is a class."""
    sys.meta_path.insert(0, _Finder(libraries))


class _Anything(type):
    """A class whose attributes are all such classes; it serves as base, key or decorator."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})


class _Library(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(_Anything(self.__name__, (), {}), name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, libraries: Sequence[str]) -> None:
        self.libraries = libraries

    def find_spec(
        self, fullname: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in self.libraries:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Library(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is nothing to run."""
