"""The candidates whose gradients are timed on a GPU.

All work on copies of the same data on the same device, with float32 products in full precision.
That is the default of CuPy and PyTorch; JAX is told to do so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..peers import Run
from ..workloads import Array, Workload
from .devices import Device, Finish, installed

HAND = "by-hand"
OWN = "gradwrap"


@dataclass(frozen=True)
class Candidate:
    """A way to compute the gradient: ``prepare`` returns the timed call, ``arrays`` its result."""

    name: str
    title: str
    version: str
    prepare: Callable[[Workload, tuple[Array, ...]], Run]
    arrays: Callable[[Any], tuple[Array, ...]]
    finish: Finish = lambda result: None


def by_hand(device: Device) -> Candidate:
    """Return the gradient written by hand, with which the others are compared."""

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        return partial(workload.by_hand, device.xp, *map(device.put, args))

    version: str = device.xp.__version__
    return Candidate(HAND, device.xp.__name__, version, prepare, _fetch_all(device))


def gradwrap(device: Device) -> Candidate:
    """Use gradwrap, with a function that calls NumPy, on arrays of the device."""
    import gradwrap as gw

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        gradient: Any = gw.grad(partial(workload.fun, np), workload.argnums)
        return partial(gradient, *map(device.put, args))

    return Candidate(OWN, "gradwrap", gw.__version__, prepare, _fetch_all(device))


def compiled(device: Device) -> Candidate:
    """Compile the same function, which on a GPU becomes kernels of CuPy, before it is timed."""
    import gradwrap as gw

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        gradient: Any = gw.compile(gw.grad(partial(workload.fun, np), workload.argnums))
        arrays = tuple(map(device.put, args))
        gradient(*arrays)
        return partial(gradient, *arrays)

    title = "gradwrap, compiled"
    return Candidate("compiled", title, gw.__version__, prepare, _fetch_all(device))


def torch(device: Device) -> Candidate:
    """Use PyTorch, eager, with a new tape for each call."""
    library: Any = import_module("torch")
    if device.kind == "cuda" and not library.cuda.is_available():
        raise ImportError("this build of it sees no GPU")
    library.backends.cuda.matmul.allow_tf32 = False
    # The only function of the workloads whose name differs in PyTorch.
    namespace = SimpleNamespace(**{**vars(library), "max": library.amax})

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        tensors = [library.tensor(arg, device=device.kind) for arg in args]

        def run() -> Any:
            fresh = [tensor.detach() for tensor in tensors]
            inputs = [fresh[i].requires_grad_() for i in workload.argnums]
            return library.autograd.grad(workload.fun(namespace, *fresh), inputs)

        return run

    def arrays(result: Any) -> tuple[Array, ...]:
        return tuple(tensor.cpu().numpy() for tensor in result)

    return Candidate("torch", "PyTorch", installed("torch"), prepare, arrays)


def jax(device: Device) -> Candidate:
    """Use JAX under jit, compiled before it is timed, in double precision if the data are."""
    library: Any = import_module("jax")
    namespace: Any = import_module("jax.numpy")
    if device.kind == "cuda" and library.default_backend() != "gpu":
        raise ImportError("this build of it sees no GPU")
    library.config.update("jax_enable_x64", True)
    library.config.update("jax_default_matmul_precision", "highest")

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        on_device = [namespace.asarray(arg) for arg in args]
        fun = partial(workload.fun, namespace)
        return partial(library.jit(library.grad(fun, workload.argnums)), *on_device)

    def arrays(result: Any) -> tuple[Array, ...]:
        return tuple(np.asarray(array) for array in result)

    return Candidate(
        "jax", "JAX (jit)", installed("jax"), prepare, arrays, library.block_until_ready
    )


def _fetch_all(device: Device) -> Callable[[Any], tuple[Array, ...]]:
    return lambda result: tuple(map(device.fetch, result))


CANDIDATES: tuple[Callable[[Device], Candidate], ...] = (
    by_hand,
    gradwrap,
    compiled,
    torch,
    jax,
)
PEERS = {torch, jax}
