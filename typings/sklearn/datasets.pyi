# What the examples use; scikit-learn has no types of its own.
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

def load_digits() -> _Digits: ...
def load_diabetes() -> _Diabetes: ...
def load_breast_cancer() -> _BreastCancer: ...
def load_wine() -> _Wine: ...
