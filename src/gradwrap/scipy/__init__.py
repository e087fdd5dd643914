"""Drop-in for `import scipy`: SciPy itself, whose functions can be differentiated.

The functions with a rule return SciPy's value, and its derivative if an argument is tracked. All
other names are SciPy's own objects. `install()` gives SciPy's own functions the
same rules, for code that imports SciPy itself.

>>> import numpy as np
>>> import gradwrap as gw
>>> import gradwrap.scipy as scipy
>>> gw.grad(lambda a: np.sum(scipy.linalg.inv(a)))(np.array([[2.0, 0.0], [0.0, 4.0]]))
array([[-0.25  , -0.125 ],
       [-0.125 , -0.0625]])
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from gradwrap.scipy.doors import Attribute as _Attribute
from gradwrap.scipy.doors import Names as _Names
from gradwrap.scipy.doors import door as _door
from gradwrap.scipy.doors import stand_in as stand_in
from gradwrap.scipy.installing import install as install
from gradwrap.scipy.installing import uninstall as uninstall

if _TYPE_CHECKING:
    from scipy import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]  as seen

__getattr__: _Attribute
__dir__: _Names
__getattr__, __dir__ = _door("")
