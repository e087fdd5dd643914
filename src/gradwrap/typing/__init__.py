"""Types to annotate with: the standard's namespace, of variables and of native arrays.

Nothing here does anything at run time, and `import gradwrap` does not import it.

Examples
--------
>>> import numpy as np, gradwrap as gw
>>> from numpy.typing import NDArray
>>> def energy(xp: gw.typing.Namespace[NDArray[np.float64]], x):
...     return xp.sum(xp.square(x))
>>> x = gw.wrap(np.array([1.0, 2.0]))
>>> energy(x.__array_namespace__(), x)
Variable(np.float64(5.0))

>>> def of_cube(xp: gw.typing.NativeNamespace, g, x):
...     return xp.multiply(g, 3 * xp.square(x))
>>> cube = gw.primitive(lambda x: x**3)
>>> gw.defvjp(cube, of_cube)
>>> gw.grad(cube)(2.0)
np.float64(12.0)
"""

from typing import Any, TypeAlias

from gradwrap.core.array.variable import Variable as _Variable
from gradwrap.typing.fft import FFTNamespace as FFTNamespace
from gradwrap.typing.info import Capabilities as Capabilities
from gradwrap.typing.info import DefaultDTypes as DefaultDTypes
from gradwrap.typing.info import FInfo as FInfo
from gradwrap.typing.info import IInfo as IInfo
from gradwrap.typing.info import NamespaceInfo as NamespaceInfo
from gradwrap.typing.namespace import ArrayNamespace as ArrayNamespace
from gradwrap.typing.namespace import ExtendedNamespace as ExtendedNamespace
from gradwrap.typing.namespace import LinalgNamespace as LinalgNamespace
from gradwrap.typing.results import QR as QR
from gradwrap.typing.results import SVD as SVD
from gradwrap.typing.results import Eig as Eig
from gradwrap.typing.results import Eigh as Eigh
from gradwrap.typing.results import SlogDet as SlogDet
from gradwrap.typing.results import UniqueAll as UniqueAll
from gradwrap.typing.results import UniqueCounts as UniqueCounts
from gradwrap.typing.results import UniqueInverse as UniqueInverse
from gradwrap.typing.special import SpecialNamespace as SpecialNamespace
from gradwrap.typing.type_variables import A as _A

Namespace: TypeAlias = ExtendedNamespace[_Variable[_A] | _A, _Variable[_A], _Variable[Any]]
"""The type of `x.__array_namespace__()` for an `x: Variable[A]`.

Its functions take variables, arrays of type `A`, and numbers; they return `Variable[A]`, or
`Variable[Any]` where the dtype is another: of comparisons, positions, casts, transforms. For
the checker it has the names of the standard; at run time also the others of the library.
"""
NativeNamespace: TypeAlias = ExtendedNamespace[_A, _A, Any]
"""The same of native arrays: what the formulas of a rule are given in a first derivative.

Its `special` is the library's own.
"""
