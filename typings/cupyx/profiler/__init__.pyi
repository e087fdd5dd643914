from contextlib import AbstractContextManager

from cupyx.profiler._time import benchmark as benchmark
from cupyx.profiler._time_range import time_range as time_range

def profile() -> AbstractContextManager[None]: ...
