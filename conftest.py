"""What pytest does not collect, and how it collects the rest."""

import gc
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent
BACKENDS = ROOT / "src" / "gradwrap" / "backends"
ADAPTATION = ROOT / "src" / "gradwrap" / "adaptation"
COMPILER = ROOT / "src" / "gradwrap" / "compiler"
OPTIONAL = ("cupy", "dask", "jax", "torch", "xarray")

collect_ignore = [
    # for type checkers, by tests/tools/test_typing.py and tests/tools/test_downstream.py
    "tests/tools/typing",
    "tests/tools/downstream",
    # tests/doors/test_xarray.py runs it where its libraries are installed
    "docs/xarray.md",
    # an extension of griffe, which reads docstrings for the site
    *(["docs/site_docstrings.py"] if find_spec("griffe") is None else []),
    # the double of CuPy derives from its classes, the drop-in has its names
    *(
        [
            "tests/backends/hosted_cupy",
            "tests/backends/nvrtc.py",
            "src/gradwrap/cupy.py",
            *(str(path.relative_to(ROOT)) for path in (COMPILER / "engines" / "cupy").glob("*.py")),
        ]
        if find_spec("cupy") is None
        else []
    ),
    *(["docs/scale.md", "src/gradwrap/dask"] if find_spec("dask") is None else []),
    # the docstrings of a backend are tests where its library is installed
    *(
        str(path.relative_to(ROOT))
        for library in OPTIONAL
        if find_spec(library) is None
        for path in (*BACKENDS.glob(f"{library}/*.py"), *ADAPTATION.glob(f"{library}*.py"))
    ),
]


def pytest_configure() -> None:
    """Collect tests without Python's collector, which would walk through all of them again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the collector leave the tests alone from here on."""
    gc.collect()
    gc.freeze()
    gc.enable()
