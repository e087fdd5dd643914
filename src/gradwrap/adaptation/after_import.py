"""Steps after the import of other packages, none of which gradwrap imports itself.

Some packages offer a place for foreign arrays, in which gradwrap enters itself. Others are changed
where they would drop a gradient. There is a file for each package.
"""

from __future__ import annotations

import sys
import warnings
from _thread import get_ident
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec

METRICS = "gradwrap.adaptation.sklearn:enter_metrics"
ENTRIES: dict[str, str] = {
    "autograd": "gradwrap.adaptation.autograd:enter_autograd",
    "autoray": "gradwrap.adaptation.autoray:enter_autoray",
    "dask.delayed": "gradwrap.adaptation.dask:enter_delayed",
    "dask.tokenize": "gradwrap.adaptation.dask:enter_tokens",
    "einops": "gradwrap.adaptation.einops:enter_einops",
    "numba.core.bytecode": "gradwrap.adaptation.numba_compiler:enter_bytecode",
    "numba.core.dispatcher": "gradwrap.adaptation.numba_compiler:enter_dispatchers",
    "numba.core.types.scalars": "gradwrap.adaptation.numba_compiler:enter_numbers",
    "numba.np.ufunc.gufunc": "gradwrap.adaptation.numba_compiler:enter_functions_of_parts",
    "numba.np.ufunc.ufuncbuilder": "gradwrap.adaptation.numba_compiler:enter_builders",
    "pandas": "gradwrap.adaptation.pandas:enter_pandas",
    "scipy.fft": "gradwrap.adaptation.scipy_fft:enter_fft",
    "scipy.interpolate": "gradwrap.adaptation.scipy_interpolate:enter_interpolants",
    "scipy.sparse": "gradwrap.adaptation.scipy_sparse:enter_sparse",
    "scipy.sparse.linalg": "gradwrap.adaptation.scipy_sparse:enter_operators",
    "scipy.spatial": "gradwrap.adaptation.scipy_objects:enter_trees",
    "scipy.spatial.transform": "gradwrap.adaptation.scipy_objects:enter_rotations",
    "scipy.stats": "gradwrap.adaptation.scipy_objects:enter_distributions",
    "sklearn.metrics._classification": METRICS,
    "sklearn.metrics._regression": METRICS,
    "sklearn.metrics.cluster._unsupervised": METRICS,
    "sklearn.utils._array_api": "gradwrap.adaptation.sklearn:enter_namespaces",
    "sympy": "gradwrap.adaptation.sympy:enter_sympy",
    "xarray": "gradwrap.adaptation.xarray_functions:enter_xarray",
}
"""By module: the function that is called with it when it has been imported."""


def enter_all() -> None:
    """Set up the libraries that are imported now, and others when they are imported."""
    for name in [name for name in ENTRIES if name in sys.modules]:
        _enter(ENTRIES.pop(name), sys.modules[name])
    if ENTRIES:
        sys.meta_path.insert(0, cast("Any", _AfterImport()))


def _enter(entry: str, module: Any) -> None:
    """Call an entry's function with the imported module; its error never stops the import."""
    ours, _, function = entry.partition(":")
    try:
        getattr(import_module(ours), function)(module)
    except Exception as error:  # noqa: BLE001  any version of a library may lack what it looks for
        name = module.__name__
        library = sys.modules.get(name.partition(".")[0])
        warnings.warn(
            f"gradwrap could not set up {name} ({getattr(library, '__version__', 'no version')}): "
            f"{type(error).__name__}: {error}. Plain arrays work there as before. Do not rely on "
            "gradients of its functions. Fix: another version of the library, or of gradwrap.",
            RuntimeWarning,
            stacklevel=2,
        )


def exchange(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put `make` of a function or an object in its place, if this version has one of the name."""
    found = getattr(owner, name, None)
    if found is not None:
        setattr(owner, name, make(found))


class _AfterImport:
    """A finder that adds a step to the import of some modules.

    It does not derive from the class of `importlib.abc`, which is slow to import.
    """

    def __init__(self) -> None:
        self._asked: set[tuple[int, str]] = set()
        """The modules that the other finders are being asked for, by thread."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the module's spec, with a loader that sets up gradwrap afterwards."""
        asked = (get_ident(), fullname)
        if fullname not in ENTRIES or asked in self._asked:
            return None
        from importlib.util import find_spec  # slow to import

        self._asked.add(asked)
        try:
            spec = find_spec(fullname)
        finally:
            self._asked.discard(asked)
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Any", _Loader(spec.loader, fullname))
        return spec


class _Loader:
    def __init__(self, loader: Any, name: str) -> None:
        self._loader = loader
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        """Create the module by its own loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Run the module, and then gradwrap's step."""
        self._loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self._loader
        entry = ENTRIES.pop(self._name, None)
        if entry is not None:
            _enter(entry, module)
