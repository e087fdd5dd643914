from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class _PerfCaseResult:
    name: str
    def __init__(self, name: str, ts: NDArray[np.float64], devices: Sequence[int]) -> None: ...
    @property
    def cpu_times(self) -> NDArray[np.float64]: ...
    @property
    def gpu_times(self) -> NDArray[np.float64]: ...
    def to_str(self, show_gpu: bool = False) -> str: ...

def benchmark(
    func: Callable[..., object],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] = ...,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = ...,
    devices: Sequence[int] | None = None,
) -> _PerfCaseResult: ...
