"""NumPy's namespace is array_api_compat's, and is that only where the two differ."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest

from gradwrap.backends.numpy.namespace import DIFFERING, OWN, namespace

COMPAT: Any = array_api_compat.numpy
WRAPPED = """
    arange asarray empty empty_like eye full full_like linspace matmul matrix_transpose ones
    ones_like permute_dims zeros zeros_like
"""
SAME_IN_NUMPY_2 = frozenset(WRAPPED.split())
"""Functions that array_api_compat wraps for the sake of other libraries, or of NumPy 1."""
PRIVATE = frozenset({"Final", "clone_module", "numpy"})

FIRST = """
import sys
import numpy as np
import gradwrap as gw
print(gw.grad(lambda x: np.sum(np.sin(x) * np.max(x, axis=0)))(np.ones((2, 3))).shape)
print("array_api_compat.numpy" in sys.modules)
print(gw.grad(lambda x: np.linalg.det(x))(np.eye(2)).tolist())
print("array_api_compat.numpy" in sys.modules)
"""


def test_every_name_that_array_api_compat_changes_is_known() -> None:
    names: dict[str, Any] = COMPAT.__dict__
    changed = {
        name
        for name, value in names.items()
        if not name.startswith("_") and getattr(np, name, None) is not value
    }
    named_tuples = {name for name in changed if name.endswith("Result")}

    assert changed - named_tuples - PRIVATE <= DIFFERING | OWN | SAME_IN_NUMPY_2


@pytest.mark.parametrize("name", sorted(DIFFERING))
def test_names_that_differ_are_those_of_array_api_compat(name: str) -> None:
    assert getattr(namespace(), name) is getattr(COMPAT, name)


def test_unknown_names_are_unknown() -> None:
    with pytest.raises(AttributeError):
        namespace().no_such_function  # noqa: B018  to look it up is the test


def test_a_gradient_imports_array_api_compat_where_its_functions_differ() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST], check=True, capture_output=True, text=True)

    assert done.stdout.split("\n")[:4] == ["(2, 3)", "False", "[[1.0, 0.0], [0.0, 1.0]]", "True"]
