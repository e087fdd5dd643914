"""scikit-learn: estimators and metrics work in the namespace of tracked arrays."""

from __future__ import annotations

import functools
import sys
from typing import Any

from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.core.levels.wrapper import AnyWrapper


class _SklearnsCompat:
    """A version of scikit-learn's array-api-compat in which plain arrays may join variables."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def get_namespace(self, *arrays: Any, **options: Any) -> Any:
        """Return the namespace of the first variable; without a variable, that of the arrays."""
        for array in arrays:
            if isinstance(array, AnyWrapper):
                return array.__array_namespace__()
        return self._native.get_namespace(*arrays, **options)


def enter_namespaces(module: Any) -> None:
    """Let estimators that were fitted on plain arrays predict from variables."""
    native: Any = module.check_same_namespace

    @functools.wraps(native)
    def check_same_namespace(X: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(X, AnyWrapper):
            native(X, *args, **kwargs)

    module.array_api_compat = _SklearnsCompat(module.array_api_compat)
    name = "check_same_namespace"
    for module_name, importer in tuple(sys.modules.items()):
        if module_name.startswith("sklearn.") and vars(importer).get(name) is native:
            vars(importer)[name] = check_same_namespace


def enter_metrics(module: Any) -> None:
    """Keep metrics of tracked values tracked; scikit-learn would convert them to floats."""
    module.float = BUILTINS["float"]
