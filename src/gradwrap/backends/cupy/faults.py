"""Explanations for CuPy's errors: why there is no device, and what runs without one."""

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


def note_missing_device(error: Exception) -> None:
    """Extend an error of CUDA's runtime: say why no device was found, and what runs without one."""
    if isinstance(error, cupy.cuda.runtime.CUDARuntimeError):
        for name, reason in REASONS.items():
            if name in str(error):
                error.add_note(
                    f"CuPy computes on a GPU: {reason}. Fix: without a GPU, import gradwrap.numpy "
                    "for gradwrap.cupy, and numpy for cupy; the same code runs on the CPU."
                )


def with_reason(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes arrays, and whose error without a device says what to do."""

    def explained(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            note_missing_device(error)
            raise

    return functools.update_wrapper(explained, function)
