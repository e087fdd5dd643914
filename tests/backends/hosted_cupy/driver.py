"""CUDA's runtime and driver, as CuPy's modules call them: by functions of the host.

CuPy's modules call each other through tables of functions, `__pyx_capi__`. The functions of
`grid.cpp` are put there before CuPy is imported. While no double is in use, they call those that
they replace: CuPy then finds no GPU, as ever.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["INCLUDE", "built", "grid", "install", "start", "switch"]

HERE = Path(__file__).parent
INCLUDE = HERE / "include"
MODULES = ("cupy_backends.cuda.api.runtime", "cupy_backends.cuda.api.driver")
FLAGS = ("-O1", "-std=c++17", "-ffp-contract=off", "-U_FORTIFY_SOURCE", "-fPIC", "-w")
ENDING = frozenset({"moduleUnload", "streamDestroy", "eventDestroy"})
"""What CuPy calls when it forgets what it was given while the double was in use, also later."""

TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "size_t": ctypes.c_size_t,
    "intptr_t": ctypes.c_ssize_t,
    "PyObject *": ctypes.py_object,
}
PROPERTIES = {"name": b"host", "warpSize": 32, "major": 9, "minor": 0, "totalGlobalMem": 1 << 33}
LAUNCH = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_ssize_t, ctypes.POINTER(ctypes.c_uint), ctypes.c_void_p
)
FIND = ctypes.PYFUNCTYPE(ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.py_object)
NOTE = ctypes.PYFUNCTYPE(None, ctypes.c_int)


def compiler() -> str:
    found = shutil.which("g++")
    if found is None:
        raise RuntimeError("the double compiles kernels with g++, which is not here")
    return found


def has_compiler() -> bool:
    return shutil.which("g++") is not None


@functools.cache
def folder() -> Path:
    """Return the folder of what was compiled, which is kept for other processes."""
    found = Path(tempfile.gettempdir()) / f"hosted_cupy_{os.getuid()}"
    found.mkdir(exist_ok=True)
    return found


def built(
    source: str, options: Sequence[str] = ("-shared", "-Wl,-Bsymbolic"), ending: str = ".so"
) -> Path:
    """Return the library of a source, which is compiled unless another process has done so."""
    command = (compiler(), *FLAGS, *options)
    name = hashlib.sha256("\n".join((*command, source)).encode()).hexdigest()[:40]
    made = folder() / f"{name}{ending}"
    if not made.exists():
        own, code = folder() / f"{name}.{os.getpid()}{ending}", folder() / f"{os.getpid()}.cpp"
        code.write_text(source)
        done = subprocess.run(
            [*command, "-o", str(own), str(code)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"g++ refuses {code}:\n{done.stderr}")
        code.unlink()
        own.rename(made)  # another process may have been here: its library is the same
    return made


# CuPy's tables of functions -----------------------------------------------------------------------


def _capsule_function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function: Any = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function  # type: ignore[no-any-return]  # a function of Python's C interface


_name_of = _capsule_function("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
_address_of = _capsule_function(
    "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p
)
_capsule = _capsule_function(
    "PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)


def _signatures() -> dict[str, tuple[Any, bytes]]:
    """The module and the signature of each function that `grid.cpp` replaces."""
    text = (HERE / "grid.cpp").read_text().partition("namespace device {")[2]
    ours = set(re.findall(r"^\w+ \*?(\w+)\(", text, re.MULTILINE))
    return {
        name: (module, _name_of(capsule))
        for module in map(importlib.import_module, MODULES)
        for name, capsule in module.__pyx_capi__.items()
        if name in ours
    }


def _parts(signature: bytes) -> tuple[str, list[str]]:
    result, _, rest = signature.decode().partition("(")
    arguments = [one.replace("__pyx_skip_dispatch", "").strip() for one in rest[:-1].split(",")]
    return result.strip(), [one for one in arguments if one != "void"]


def _trampoline(name: str, signature: bytes) -> str:
    """Return a function that calls ours while the double is in use, else the one it replaces."""
    result, types = _parts(signature)
    names = [f"a{i}" for i in range(len(types))]
    declared = ", ".join(f"{kind} {one}" for kind, one in zip(types, names, strict=True))
    own = names[:-1] if b"__pyx_skip_dispatch" in signature else names
    passes_on = "0" if name in ENDING else "!device::is_on"
    return (
        f'extern "C" {result} (*replaced_{name})({declared}) = nullptr;\n'
        f'extern "C" {result} on_host_{name}({declared}) {{\n'
        f"  if ({passes_on}) return replaced_{name}({', '.join(names)});\n"
        f"  return device::{name}({', '.join(own)});\n}}\n"
    )


@functools.cache
def grid() -> Any:
    """Return the library of `grid.cpp`, with the functions for CuPy's tables."""
    text = (HERE / "grid.cpp").read_text()
    written = "".join(_trampoline(n, signature) for n, (_, signature) in _signatures().items())
    return ctypes.PyDLL(str(built(f"#include <stdint.h>\n{text}\n{written}")), ctypes.RTLD_GLOBAL)


def install() -> None:
    """Put our functions into CuPy's tables, which takes effect for modules imported later."""
    if any(name.startswith("cupy.") for name in sys.modules):
        raise RuntimeError("the double must be installed before CuPy is imported")
    for name, (module, signature) in _signatures().items():
        ours: Any = getattr(grid(), f"on_host_{name}")
        replaced = ctypes.c_void_p.in_dll(grid(), f"replaced_{name}")
        replaced.value = _address_of(module.__pyx_capi__[name], signature)
        address = ctypes.cast(ours, ctypes.c_void_p).value
        module.__pyx_capi__[name] = _capsule(address, _KEPT.setdefault(name, signature), None)
        result, types = _parts(signature)
        if b"__pyx_skip_dispatch" in signature and not name.startswith("module"):
            ours.restype, ours.argtypes = TYPES[result], [TYPES[one] for one in types]
            setattr(module, name, _called_from_python(ours))


_KEPT: dict[str, bytes] = {}
"""The names of capsules, which keep their addresses."""


def _called_from_python(function: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return function(*args, 0)

    return call


def start(launch: Any, find: Any, note: Any) -> None:
    """Say which functions of Python launch a kernel, find one, and note a request."""
    callbacks = LAUNCH(launch), FIND(find), NOTE(note)
    _CALLBACKS.append(callbacks)
    grid().start_device(*callbacks, ctypes.py_object(PROPERTIES))


_CALLBACKS: list[Any] = []


def switch(users: int) -> None:
    """Add users of the double, or take some away: CuPy sees it while there are any."""
    grid().switch_device(users)
