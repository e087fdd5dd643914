"""The register of engines: what makes a callable of a program.

An engine is a function of a `Program`. It returns an `Executable`, or raises `Unsupported` with the
reason; the numpy engine is used then, with a warning.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.ir.program import Program


class Unsupported(Exception):  # noqa: N818  it is caught, and becomes a warning
    """An engine cannot take a program, or is not to be had here."""


class Executable(NamedTuple):
    """A program that runs.

    `call(*inputs)` takes the input leaves in the order of `Program.inputs` and returns the leaves
    of the result as a tuple. A guard with an outcome that has not been traced raises `Missed`,
    before anything that the caller sees has changed. Results are the caller's: nothing that a later
    call writes to. `call` may run in several threads at a time.
    """

    call: Callable[..., Any]
    text: Callable[[], str]
    """Writes its source."""
    notes: tuple[str, ...] = ()
    """What `.explain()` says of it: groups, sizes of chunks, bytes of workspaces."""
    exact: bool = True
    """True if its results are those of `program.evaluated` bit by bit."""
    module: Any = None
    """What `.save()` writes: `text(npz)` is the module, `arrays` what it reads from that file.

    None: the program in NumPy's calls.
    """

    @property
    def source(self) -> str:
        """The text of the program."""
        return self.text()


ENGINES: dict[str, str] = {
    "numpy": "gradwrap.compiler.engines.numpy.engine:numpy_engine",
    "c": "gradwrap.compiler.engines.c.engine:c_engine",
    "cupy": "gradwrap.compiler.engines.cupy.engine:numpys",
    "jax": "gradwrap.compiler.engines.jax:jax_engine",
}
"""The engines by name: the module and the function, which is imported when it is asked for."""

MOST_LEFT: dict[str, int] = {"c": 1000}
"""By engine that finds loops itself: the length from which on a program is long in spite of its
loops. It is given the program without loops then."""


def engine_named(name: str) -> Callable[[Program], Executable]:
    """Return the engine of a name.

    Raises
    ------
    ValueError
        There is none of this name.
    """
    if name not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise ValueError(f"there is no engine {name!r}. Fix: use one of {known}.")
    module, _, function = ENGINES[name].partition(":")
    found: Any = getattr(import_module(module), function)
    return found  # type: ignore[no-any-return]  # looked up by name
