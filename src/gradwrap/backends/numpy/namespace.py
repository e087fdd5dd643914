"""NumPy's namespace in the form of the standard; most functions are NumPy's own.

The import of `array_api_compat.numpy` takes nine tenths of the time of a program's first gradient:
it imports all parts of NumPy, even those that NumPy itself loads on request, such as its tests. So
the namespace takes from it only the functions that differ from NumPy's, and imports it when the
first of them is used.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

COMPAT = "array_api_compat.numpy"

_NAMES = """
    argsort astype ceil clip count_nonzero cumulative_prod cumulative_sum fft finfo floor iinfo
    linalg nonzero sort std take_along_axis tensordot trunc unique_all unique_counts
    unique_inverse unique_values var
"""
DIFFERING = frozenset(_NAMES.split())
"""The names that are other functions, or modules, there, and do what NumPy's do not."""
OWN = frozenset({"sign"})
"""The names whose functions are NumPy's own although those there differ: at complex infinities."""


@functools.cache
def namespace() -> ModuleType:
    """Return the namespace as a module that looks names up on demand."""
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":  # it lacks some
        return import_module(COMPAT)
    made = ModuleType(COMPAT)

    def find(name: str) -> Any:
        found = None
        if name in OWN or (name not in DIFFERING and COMPAT not in sys.modules):
            found = getattr(np, name, None)
        if found is None:
            found = getattr(import_module(COMPAT), name)
        setattr(made, name, found)
        return found

    made.__dict__.update(__getattr__=find, __dir__=lambda: dir(import_module(COMPAT)))
    return made
