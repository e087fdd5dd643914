"""Libraries that offer a place for another's arrays: gradwrap enters itself when they are imported.

`scipy.fft` asks the backends that are registered with it, and einops the subclasses of its own.
scikit-learn works in the namespace of its arrays if it is told so by `array_api_dispatch=True`.
Dask has none, and is to refuse tracked values where it would take them for constants. The labelled
arrays of xarray become containers. None of these packages is imported by gradwrap.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import SEQUENCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec


def enter_all() -> None:
    """Enter gradwrap into the libraries that are imported, and into others when they will be."""
    for name in [name for name in ENTRIES if name in sys.modules]:
        ENTRIES.pop(name)(sys.modules[name])
    if ENTRIES:
        sys.meta_path.insert(0, cast("Any", _AfterImport()))


class _AfterImport:
    """A finder that finds modules as the others do, and adds a step to their import.

    It does not derive from the class of `importlib.abc`, which is slow to import.
    """

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the module's spec, with a loader that goes on to enter gradwrap."""
        enter = ENTRIES.pop(fullname, None)
        if enter is None:
            return None
        from importlib.util import find_spec  # slow to import

        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Any", _Loader(spec.loader, enter))
        return spec


class _Loader:
    def __init__(self, loader: Any, enter: Callable[[Any], None]) -> None:
        self._loader = loader
        self._enter = enter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        """Do what the module's own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Run the module, and enter gradwrap into it."""
        self._loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self._loader
        self._enter(module)


# scipy.fft ----------------------------------------------------------------------------------------


class FourierBackend:
    """The backend of `scipy.fft` for variables; plain arrays are left to the next one."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: Any, kwargs: Any) -> Any:
        """Answer a call that has a variable among its arguments."""
        if not any(map(_is_variable, (*args, *kwargs.values()))):
            return NotImplemented
        return getattr(import_module("gradwrap.scipy.fft"), method.__name__)(*args, **kwargs)


def _is_variable(value: Any) -> bool:
    if isinstance(value, SEQUENCE):
        return any(map(_is_variable, value))
    return isinstance(value, AnyWrapper)


def _enter_scipy_fft(module: Any) -> None:
    module.set_global_backend(FourierBackend)
    module.register_backend("scipy")


# einops -------------------------------------------------------------------------------------------


def _enter_einops(_module: Any) -> None:
    """Let einops find its NumPy backend for variables, which take NumPy's functions."""
    numpys: Any = import_module("einops._backends").NumpyBackend

    class VariableBackend(numpys):  # type: ignore[misc]  # a class of einops'
        framework_name = "gradwrap"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, AnyWrapper)

    _entered.append(VariableBackend)  # einops finds it among the subclasses that are alive


# scikit-learn -------------------------------------------------------------------------------------


class _SklearnsCompat:
    """scikit-learn's array_api_compat: plain arrays beside variables are in their namespace."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def get_namespace(self, *arrays: Any, **options: Any) -> Any:
        """Return the namespace of the first variable; that of the arrays if there is none."""
        for array in arrays:
            if isinstance(array, AnyWrapper):
                return array.__array_namespace__()
        return self._native.get_namespace(*arrays, **options)


def _enter_sklearn(module: Any) -> None:
    """Let estimators that were fitted on plain arrays be asked about variables."""
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


def _let_floats_through(module: Any) -> None:
    """Let a metric of tracked values be tracked, which it is not as a number of Python."""
    names: Any = import_module("gradwrap.adaptation.builtin_names")
    module.float = names.BUILTINS["float"]


# Dask ---------------------------------------------------------------------------------------------


def _enter_dask(name: str, module: Any) -> None:
    getattr(import_module("gradwrap.adaptation.dask"), name)(module)


# xarray -------------------------------------------------------------------------------------------


def _enter_xarray(_module: Any) -> None:
    import_module("gradwrap.adaptation.xarray").enter_all()
    import_module("gradwrap.adaptation.xarray_functions")


# pandas -------------------------------------------------------------------------------------------


def _enter_pandas(_module: Any) -> None:
    import_module("gradwrap.adaptation.pandas").enter()


_entered: list[Any] = []
ENTRIES: dict[str, Callable[[Any], None]] = {
    "dask.delayed": functools.partial(_enter_dask, "enter_delayed"),
    "dask.tokenize": functools.partial(_enter_dask, "enter_tokens"),
    "pandas": _enter_pandas,
    "scipy.fft": _enter_scipy_fft,
    "einops": _enter_einops,
    "sklearn.utils._array_api": _enter_sklearn,
    "sklearn.metrics._classification": _let_floats_through,
    "sklearn.metrics._regression": _let_floats_through,
    "sklearn.metrics.cluster._unsupervised": _let_floats_through,
    "xarray": _enter_xarray,
}
