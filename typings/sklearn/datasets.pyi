# What the examples use; scikit-learn has no types of its own. With other arguments the functions
# return other things, which no example asks for.
from typing import Literal

import numpy as np
from numpy.typing import NDArray

class _Digits:
    DESCR: str
    data: NDArray[np.float64]
    target: NDArray[np.int64]

class _Diabetes:
    DESCR: str
    data: NDArray[np.float64]
    target: NDArray[np.float64]
    feature_names: list[str]

class _BreastCancer:
    DESCR: str
    data: NDArray[np.float64]
    target: NDArray[np.int64]

class _Wine:
    DESCR: str

def load_digits(
    *, n_class: int = 10, return_X_y: Literal[False] = False, as_frame: Literal[False] = False
) -> _Digits: ...
def load_diabetes(
    *,
    return_X_y: Literal[False] = False,
    as_frame: Literal[False] = False,
    scaled: bool = True,
) -> _Diabetes: ...
def load_breast_cancer(
    *, return_X_y: Literal[False] = False, as_frame: Literal[False] = False
) -> _BreastCancer: ...
def load_wine(*, return_X_y: Literal[False] = False, as_frame: Literal[False] = False) -> _Wine: ...
