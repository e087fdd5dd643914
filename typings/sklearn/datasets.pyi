# What the examples use; scikit-learn has no types of its own.
import numpy as np
from numpy.typing import NDArray

class _Digits:
    data: NDArray[np.float64]
    target: NDArray[np.int64]

class _Diabetes:
    data: NDArray[np.float64]
    target: NDArray[np.float64]
    feature_names: list[str]

class _BreastCancer:
    data: NDArray[np.float64]
    target: NDArray[np.int64]

def load_digits() -> _Digits: ...
def load_diabetes() -> _Diabetes: ...
def load_breast_cancer() -> _BreastCancer: ...
