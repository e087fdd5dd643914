"""scikit-learn: estimators and metrics work in the namespace of tracked arrays."""

from __future__ import annotations

import functools
import sys
from typing import Any

from gradwrap.adaptation.after_import import exchange
from gradwrap.adaptation.builtin_names import BUILTINS
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import attribute_or_none


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
    exchange(module, "array_api_compat", _SklearnsCompat)
    name = "check_same_namespace"
    native: Any = attribute_or_none(module, name)  # versions before 1.9 have none
    if native is None:
        return

    @functools.wraps(native)
    def check_same_namespace(X: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(X, AnyWrapper):
            native(X, *args, **kwargs)

    for module_name, importer in tuple(sys.modules.items()):
        if module_name.startswith("sklearn.") and vars(importer).get(name) is native:
            vars(importer)[name] = check_same_namespace


def enter_metrics(module: Any) -> None:
    """Keep metrics of tracked values tracked; scikit-learn would convert them to floats."""
    module.float = BUILTINS["float"]
