"""`adapt` and `adapted`: adapt packages by name, permanently or in a `with` block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gradwrap.adaptation.modules import hold, namespaces_of, release
from gradwrap.adaptation.noting import noting
from gradwrap.adaptation.stand_ins import look_again
from gradwrap.core.levels.modes import note_code
from gradwrap.errors import AdaptationError

if TYPE_CHECKING:
    from types import ModuleType

    from gradwrap.adaptation.places import Namespace


class adapted:  # noqa: N801  it is called like a function
    r"""Adapt packages while a `with` block runs.

    Their modules see stand-ins in place of NumPy, of the functions of `math` and of some builtins.
    These keep tracked values in the graph, and call the originals for all other values. No file of
    the packages changes, and at the end of the block each global name refers to its original object
    again.

    Parameters
    ----------
    packages
        Packages or modules, or their names. Modules that a package loads later are adapted at the
        next entry.

    Raises
    ------
    AdaptationError
        A package that is not adapted itself: NumPy, SciPy, the standard library.
    ImportError
        No package has this name.

    Examples
    --------
    >>> import types, gradwrap as gw
    >>> package = types.ModuleType("package")  # for one that is imported
    >>> exec("from math import sqrt\ndef side(area): return sqrt(area)", vars(package))
    >>> with gw.adapted(package):
    ...     gw.grad(lambda area: package.side(area))(4.0)
    np.float64(0.25)
    """

    def __init__(self, *packages: str | ModuleType) -> None:
        self._packages: tuple[Any, ...] = packages
        self._held: list[list[Namespace]] = []

    def __enter__(self) -> Self:
        look_again()
        self._held.append(hold(namespaces_of(self._packages)))
        return self

    def __exit__(self, *exc_info: object) -> None:
        release(self._held.pop())

    def undo(self) -> None:
        """Restore everything that `adapt` replaced."""
        if not self._held:
            raise AdaptationError("there is nothing to undo. Fix: call undo() once.")
        self.__exit__()


def adapt(*packages: str | ModuleType) -> adapted:
    r"""Adapt packages permanently; `undo()` of the result restores them.

    Parameters and errors are those of `gradwrap.adapted`. Call it once, where the packages are
    imported.

    Examples
    --------
    >>> import types, gradwrap as gw
    >>> package = types.ModuleType("package")  # for one that is imported
    >>> exec("from math import exp\ndef grown(rate): return exp(2.0 * rate)", vars(package))
    >>> adaptation = gw.adapt(package)
    >>> gw.grad(lambda rate: package.grown(rate))(0.0)
    np.float64(2.0)
    >>> adaptation.undo()
    """
    made = adapted(*packages)
    return made.__enter__()


note_code.append(noting)
