from collections.abc import Callable
from contextlib import AbstractContextManager

from cupy._environment import get_cuda_path as get_cuda_path
from cupy.cuda import (
    compiler as compiler,
    device as device,
    memory as memory,
    memory_hook as memory_hook,
    memory_hooks as memory_hooks,
    pinned_memory as pinned_memory,
    runtime as runtime,
    stream as stream,
)
from cupy.cuda.device import (
    Device as Device,
    get_cublas_handle as get_cublas_handle,
    get_device_id as get_device_id,
)
from cupy.cuda.graph import Graph as Graph
from cupy.cuda.memory import (
    BaseMemory as BaseMemory,
    CFunctionAllocator as CFunctionAllocator,
    ManagedMemory as ManagedMemory,
    Memory as Memory,
    MemoryAsync as MemoryAsync,
    MemoryAsyncPool as MemoryAsyncPool,
    MemoryPointer as MemoryPointer,
    MemoryPool as MemoryPool,
    PythonFunctionAllocator as PythonFunctionAllocator,
    UnownedMemory as UnownedMemory,
    alloc as alloc,
    get_allocator as get_allocator,
    malloc_async as malloc_async,
    malloc_managed as malloc_managed,
    set_allocator as set_allocator,
)
from cupy.cuda.memory_hook import MemoryHook as MemoryHook
from cupy.cuda.pinned_memory import (
    PinnedMemory as PinnedMemory,
    PinnedMemoryPointer as PinnedMemoryPointer,
    PinnedMemoryPool as PinnedMemoryPool,
    alloc_pinned_memory as alloc_pinned_memory,
    set_pinned_memory_allocator as set_pinned_memory_allocator,
)
from cupy.cuda.stream import (
    Event as Event,
    ExternalStream as ExternalStream,
    Stream as Stream,
    get_current_stream as get_current_stream,
    get_elapsed_time as get_elapsed_time,
)

def is_available() -> bool: ...
def get_local_runtime_version() -> int: ...
def profile() -> AbstractContextManager[None]: ...
def using_allocator(
    allocator: Callable[[int], MemoryPointer] | None = None,
) -> AbstractContextManager[None]: ...
