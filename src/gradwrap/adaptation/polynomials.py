"""`np.poly1d`, a class that NumPy writes in Python: its methods run on the stand-ins.

So a tracked number is a scalar there, and plain polynomials may meet tracked numbers.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.builtin_names import enter_class
from gradwrap.adaptation.plain_values import are_plain
from gradwrap.adaptation.shadows import shadow
from gradwrap.core.array.adapted import shown_as
from gradwrap.core.array.wrapping import wrap
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.values.dynamic import SEQUENCE, attributes_of

if TYPE_CHECKING:
    from collections.abc import Callable

POLY: Any = np.poly1d
OWN = ("__dict__", "__weakref__")
"""What each class has of its own."""


def _shown(_: Any) -> Any:
    return POLY


def enter_polynomials(lookup: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Enter the stand-in of the class; return what makes that of a polynomial of a module."""
    made: list[Any] = []

    def copied(value: Any) -> Any:
        if isinstance(value, property):
            return property(*map(copied, (value.fget, value.fset, value.fdel)))
        return shadow(value, lookup) if type(value) is FunctionType else value

    def construct(_: Any, c_or_r: Any, *args: Any, **options: Any) -> Any:
        if are_plain((c_or_r, *args), options) and not is_differentiating():
            return POLY(c_or_r, *args, **options)
        if isinstance(c_or_r, SEQUENCE) and any(isinstance(part, AnyWrapper) for part in c_or_r):
            c_or_r = np.concatenate([np.reshape(part, (1,)) for part in c_or_r])
        found = kind()(c_or_r, *args, **options)
        if type(found.coeffs) is np.ndarray and found.coeffs.dtype.kind in "fc":
            attributes_of(found)["coeffs"] = wrap(
                found.coeffs.copy()
            )  # tracked ones may be stored there
        return found

    def kind() -> Any:
        if not made:  # at the first use: its names have stand-ins now
            everything: dict[str, Any] = {**vars(POLY)}
            own = {name: one for name, one in everything.items() if name not in OWN}
            made.append(type("poly1d", (POLY,), {name: copied(one) for name, one in own.items()}))
            shown_as[id(made[0])] = _shown
        return made[0]

    def of_module(polynomial: Any) -> Any:
        found = POLY.__new__(kind())
        attributes_of(found).update(attributes_of(polynomial))
        return found

    enter_class(POLY, construct)
    return of_module
