"""The libraries, each with a small adaptor that computes its gradient of a workload.

The other libraries are imported only when they are used, and are untyped here, which is why the
benchmarks use ``Any``. Each is used in the way that its documentation shows first.
"""

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwrap.errors import CompileWarning

from .workloads import Array, Workload

Run: TypeAlias = Callable[[], Any]
"""Computes the gradients once; the benchmarks measure the time of a call."""


@dataclass(frozen=True)
class Peer:
    """A library: ``prepare`` gives the call to time, ``arrays`` its result as NumPy arrays."""

    name: str
    title: str
    version: str
    prepare: Callable[[Workload, tuple[Array, ...]], Run]
    arrays: Callable[[Any], tuple[Array, ...]]
    compiles: bool = False
    """Whether its first call compiles the gradient, and so takes a time of its own."""


def by_hand() -> Peer:
    """Return the gradient written by hand, with which the others are compared."""

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        return partial(workload.by_hand, np, *args)

    return Peer("by-hand", "by hand", np.__version__, prepare, tuple)


def _derivative(transforms: Any, workload: Workload, fun: Any) -> Any:
    """Return the derivative of a workload, by a library that names its transforms as JAX does."""
    argnums = workload.argnums
    if workload.transform == "jacobian":
        return _as_tuple(transforms.jacrev(fun, argnums[0]))
    if workload.transform == "hessian":
        return _as_tuple(transforms.hessian(fun, argnums[0]))
    gradient = transforms.grad(fun, argnums)
    if workload.transform == "per-example":
        return transforms.vmap(gradient, _mapped_axes(workload))
    if workload.transform == "per-example-loop":
        return _looped(gradient, workload, transforms.stack)
    return gradient


def _as_tuple(function: Any) -> Any:
    def as_tuple(*args: Any) -> tuple[Any]:
        return (function(*args),)

    return as_tuple


def _mapped_axes(workload: Workload) -> tuple[int | None, ...]:
    count = workload.fun.__code__.co_argcount - 1
    return tuple(None if i in workload.argnums else 0 for i in range(count))


def _looped(gradient: Any, workload: Workload, stack: Any) -> Any:
    """Run one example after the other."""
    axes = _mapped_axes(workload)

    def run(*args: Any) -> Any:
        size = len(args[axes.index(0)])
        each = [
            gradient(*(a if axis is None else a[i] for a, axis in zip(args, axes, strict=True)))
            for i in range(size)
        ]
        return tuple(stack(parts) for parts in zip(*each, strict=True))

    return run


def gradwrap() -> Peer:
    """Use gradwrap, with NumPy itself and NumPy arrays."""
    import gradwrap as gw

    transforms = SimpleNamespace(
        grad=gw.grad, jacrev=gw.jacrev, hessian=gw.hessian, vmap=gw.vmap, stack=np.stack
    )

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        return partial(_derivative(transforms, workload, partial(workload.fun, np)), *args)

    return Peer("gradwrap", "gradwrap", gw.__version__, prepare, tuple)


def compiled(engine: str) -> Peer:
    """Use gradwrap's compiler with one of its engines; the c engine begins with an empty cache.

    Raises
    ------
    ImportError
        The c engine finds no C compiler.
    """
    import gradwrap as gw
    from gradwrap.compiler.engines.c.library import compiler
    from gradwrap.compiler.engines.register import Unsupported

    if engine == "c":
        try:
            compiler()
        except Unsupported as error:
            raise ImportError(str(error)) from error
        os.environ["GRADWRAP_CACHE_DIR"] = folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    jit = partial(gw.compile, engine=engine)

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        return partial(_jitted(gw, jit, workload, partial(workload.fun, np), np.stack), *args)

    return Peer(
        f"{engine}-engine", f"compiled, {engine}", gw.__version__, prepare, tuple, compiles=True
    )


def numpy_engine() -> Peer:
    """Use gradwrap's compiler, which writes programs of NumPy's calls."""
    return compiled("numpy")


def c_engine() -> Peer:
    """Use gradwrap's compiler, which writes programs in C."""
    return compiled("c")


def _jitted(transforms: Any, jit: Any, workload: Workload, fun: Any, stack: Any) -> Any:
    """Return the compiled derivative; of a loop over examples, a loop over compiled gradients."""
    if workload.transform == "per-example-loop":
        return _looped(jit(transforms.grad(fun, workload.argnums)), workload, stack)
    return jit(_derivative(transforms, workload, fun))


def autograd() -> Peer:
    """Use HIPS autograd, with its own version of NumPy, and NumPy arrays."""
    library: Any = import_module("autograd")
    namespace: Any = import_module("autograd.numpy")

    transforms = SimpleNamespace(
        grad=library.grad, jacrev=library.jacobian, hessian=library.hessian, stack=np.stack
    )

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        return partial(_derivative(transforms, workload, partial(workload.fun, namespace)), *args)

    return Peer("autograd", "HIPS autograd", _version("autograd"), prepare, tuple)


def torch() -> Peer:
    """Use PyTorch, eager, on tensors that share the arrays' memory, with a new tape per call."""
    library: Any = import_module("torch")
    library.set_num_threads(1)
    # What differs in PyTorch of the functions that the workloads and programs call.
    namespace = SimpleNamespace(**vars(library))
    namespace.max, namespace.min = library.amax, library.amin
    namespace.zeros = partial(library.zeros, dtype=library.float64)
    namespace.eye = partial(library.eye, dtype=library.float64)

    transforms = SimpleNamespace(**vars(library.func), stack=library.stack)

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        if workload.transform != "grad":
            derivative = _derivative(transforms, workload, partial(workload.fun, namespace))
            return partial(derivative, *(library.from_numpy(arg) for arg in args))

        def run() -> Any:
            tensors = [library.from_numpy(arg) for arg in args]
            inputs = [tensors[i].requires_grad_() for i in workload.argnums]
            return library.autograd.grad(workload.fun(namespace, *tensors), inputs)

        return run

    def arrays(result: Any) -> tuple[Array, ...]:
        return tuple(tensor.numpy() for tensor in result)

    return Peer("torch", "PyTorch", _version("torch"), prepare, arrays)


def jax() -> Peer:
    """Use JAX under jit, compiled before it is timed, in double precision if the data are.

    A function is written with JAX's own loops and updates if the workload has it so.
    """
    library: Any = import_module("jax")
    namespace: Any = import_module("jax.numpy")
    library.config.update("jax_enable_x64", True)

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        fun = partial(workload.own.get("jax", workload.fun), namespace)
        gradient = _jitted(library, library.jit, workload, fun, namespace.stack)
        on_device = [namespace.asarray(arg) for arg in args]
        return lambda: library.block_until_ready(gradient(*on_device))

    def arrays(result: Any) -> tuple[Array, ...]:
        return tuple(np.asarray(array) for array in result)

    return Peer("jax", "JAX (jit)", _version("jax"), prepare, arrays, compiles=True)


def mygrad() -> Peer:
    """Use MyGrad, with its own version of NumPy, on tensors that share the arrays' memory."""
    library: Any = import_module("mygrad")

    def prepare(workload: Workload, args: tuple[Array, ...]) -> Run:
        def run() -> Any:
            tensors = [
                library.tensor(arg, copy=False, constant=i not in workload.argnums)
                for i, arg in enumerate(args)
            ]
            workload.fun(library, *tensors).backward()
            return tuple(tensors[i].grad for i in workload.argnums)

        return run

    return Peer("mygrad", "MyGrad", _version("mygrad"), prepare, tuple)


class FirstCall(NamedTuple):
    """The call to time, its first result, and what that took."""

    run: Run
    gradients: tuple[Array, ...]
    seconds: float
    warnings: list[str]
    """Why a compiled function runs eagerly, or by another engine than it was asked to."""


def first_call(peer: Peer, workload: Workload, args: tuple[Array, ...]) -> FirstCall:
    """Prepare and make the first call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CompileWarning)
        start = perf_counter()
        run = peer.prepare(workload, args)
        result = run()
        seconds = perf_counter() - start
    told = [str(one.message) for one in caught if issubclass(one.category, CompileWarning)]
    return FirstCall(run, peer.arrays(result), seconds, told)


OWN: tuple[Callable[[], Peer], ...] = (gradwrap, numpy_engine, c_engine)
"""gradwrap, eager and compiled."""
PEERS: tuple[Callable[[], Peer], ...] = (autograd, torch, jax, mygrad)
"""The other libraries, in the order of the table's columns."""


def _version(package: str) -> str:
    """Return the installed version, as its packager wrote it."""
    version: str = import_module("importlib.metadata").version(package)
    return version
