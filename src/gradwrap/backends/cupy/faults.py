"""What CuPy's errors leave open: why there is no device, and what runs without one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    cupy: Any  # where it is not installed, a checker takes this file for it
else:
    import cupy

REASONS = {
    "cudaErrorInsufficientDriver": "there is no NVIDIA driver, or it is older than CuPy's CUDA",
    "cudaErrorNoDevice": "there is a driver, and no device that it shows to this process "
    "(nvidia-smi lists the devices, CUDA_VISIBLE_DEVICES chooses among them)",
}


def with_reason(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes arrays, and whose error without a device says what to do."""

    def explained(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            found = [reason for name, reason in REASONS.items() if name in str(error)]
            if found:
                error.add_note(
                    f"gradwrap.cupy computes on a GPU: {found[0]}. Fix: without a GPU, "
                    "import gradwrap.numpy in its place; the same code runs on the CPU."
                )
            raise

    return functools.update_wrapper(explained, function)
