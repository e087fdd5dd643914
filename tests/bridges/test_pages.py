"""The pages on other libraries show what is computed; each part runs where its library is."""

from __future__ import annotations

import doctest
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import gradwrap as gw
from packages import written

pytestmark = pytest.mark.peers
DOCS = Path(__file__).parents[2] / "docs"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FIRST, *PARTS = (DOCS / "fitters.md").read_text(encoding="utf-8").split("\n## ")
LIBRARIES = {
    "PyTensor and PyMC": "pytensor",
    "NLopt": "nlopt",
}


def ran(text: str, name: str) -> int:
    """Run the examples of a text; return their number."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    found = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert found.failed == 0
    return found.attempted


def test_the_page_of_pytorch_and_jax() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    assert ran((DOCS / "bridges.md").read_text(encoding="utf-8"), "bridges.md") > 40


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.partition("\n")[0])
def test_each_part_of_the_page_of_fitters(part: str) -> None:
    title = part.partition("\n")[0]
    library = LIBRARIES.get(title, title)
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other libraries
        assert ran(f"{FIRST}\n{part}", title) > 10


def test_packages_whose_objects_have_no_dictionary_are_adapted(tmp_path: Path) -> None:
    """The attribute `__dict__` of such an object is None, as in pyhf's registry of tensors."""
    package = written(
        tmp_path,
        """
        class Empty:
            @property
            def __dict__(self):
                return None

            def __call__(self, x):
                return x

        EMPTY = Empty()

        def doubled(x):
            return np.asarray(x) * 2.0
        """,
    )
    assert gw.grad(gw.adapting(lambda x: package.doubled(x)[0]))(np.ones(2)).tolist() == [2.0, 0.0]
