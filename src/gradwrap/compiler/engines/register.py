"""The register of engines, which turn programs into callables.

An engine is a function of a `Program`. It returns an `Executable`, or raises `Unsupported` with the
reason; then the NumPy engine takes over, with a warning.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradwrap.compiler.ir.program import Program


class Unsupported(Exception):  # noqa: N818  it is caught, and becomes a warning
    """An engine cannot compile a program, or is not installed."""


class Executable(NamedTuple):
    """A compiled program.

    `call(*inputs)` takes the input leaves in the order of `Program.inputs` and returns the leaves
    of the result as a tuple. A guard with an untraced outcome raises `Missed`, before any effect
    that the caller can see. Results belong to the caller: no later call writes to them. Several
    threads may run `call` at the same time.
    """

    call: Callable[..., Any]
    text: Callable[[], str]
    """Returns its source."""
    notes: tuple[str, ...] = ()
    """Notes for `.explain()`: groups, sizes of chunks, bytes of workspaces."""
    exact: bool = True
    """True if its results equal those of `program.evaluated` bit for bit."""
    module: Any = None
    """The content that `.save()` writes: `text(npz)` is the module, `arrays` the file it reads.

    None stands for the program as NumPy calls.
    """
    in_c_order: bool = False
    """Whether arrays of the result may be in C's order where those of the function are not."""
    told: tuple[str, ...] = ()
    """The warnings for the user."""
    notices_errors: bool = True
    """Whether NumPy notices all errors of its arithmetic, such as overflow, as in a plain run."""

    @property
    def source(self) -> str:
        """Return the text of the program."""
        return self.text()


UNNOTICED = (
    "errors of arithmetic: some give no warning. The function itself runs where np.errstate says "
    'more than "ignore" and "warn"'
)
"""The note on a program that does not notice all of them."""
ENGINES: dict[str, str] = {
    "numpy": "gradwrap.compiler.engines.numpy.engine:numpy_engine",
    "c": "gradwrap.compiler.engines.c.engine:c_engine",
    "cupy": "gradwrap.compiler.engines.cupy.engine:numpys",
    "jax": "gradwrap.compiler.engines.jax:jax_engine",
}
"""The engines by name: the module and the function, imported at the first use."""

FIND_REPETITION = frozenset({"c"})
"""The engines that find repeated code themselves, where the program has few loops."""


def engine_named(name: str) -> Callable[[Program], Executable]:
    """Return the engine of a name.

    Raises
    ------
    ValueError
        There is no engine of this name.
    """
    if name not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise ValueError(f"there is no engine {name!r}. Fix: use one of {known}.")
    module, _, function = ENGINES[name].partition(":")
    found: Any = getattr(import_module(module), function)
    return found  # type: ignore[no-any-return]  # looked up by name
