"""The docstrings of a backend are tests only where its library is installed."""

from importlib.util import find_spec
from pathlib import Path

BACKENDS = Path(__file__).parent / "gradwrap" / "backends"

collect_ignore = [
    str(path)
    for library in ("cupy", "dask", "jax", "torch")
    if find_spec(library) is None
    for path in BACKENDS.glob(f"{library}*.py")
]
