"""The system's C compiler: compiled libraries are cached on disk and loaded.

A library's name is a hash of everything that it depends on: source, options, the compiler's
version, the processor's features. It is written under another name and then renamed, so that no
process ever loads half of it. The cache directory belongs to the user.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from gradwrap.backends.c_expressions import FUNCTIONS
from gradwrap.compiler.engines.register import Unsupported

FORMAT = 1
"""The version of the calling convention: raised when equal source must be called differently."""
OPTIONS = (
    "-O3",
    "-fopenmp-simd",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",  # the workspace holds several types
    *(f"-fno-builtin-{name}" for name in ("sin", "cos", "sinf", "cosf")),  # not merged into cexp
    "-w",
    "-fPIC",
    "-shared",
)
NATIVE = ("-march=native", "-mprefer-vector-width=512")
SECONDS = 10.0
"""The longest time, in seconds, that the compiler may take for one library."""


class Compiler:
    """A C compiler of the system."""

    def __init__(self, command: tuple[str, ...], version: str) -> None:
        self.command = command
        self.version = version

    @functools.cached_property
    def is_gcc(self) -> bool:
        """Tell if the compiler is GCC, whose attribute `simd` declares vector functions."""
        return "Free Software Foundation" in self.version

    @functools.cached_property
    def options(self) -> tuple[str, ...]:
        """Return the options for this compiler and this processor."""
        x86 = platform.machine() in ("x86_64", "AMD64")
        native = NATIVE if x86 else ("-mcpu=native",) if self.is_gcc else ()
        return (*OPTIONS, *(native if self.is_gcc or not x86 else NATIVE[:1]))

    @functools.cached_property
    def vector_functions(self) -> frozenset[str]:
        """Return the C names of the functions in libmvec; empty without libmvec."""
        if not self.is_gcc or platform.machine() != "x86_64" or sys.platform != "linux":
            return frozenset()
        try:
            library = ctypes.CDLL("libmvec.so.1")
        except OSError:
            return frozenset()
        return frozenset(
            name
            for name, count in FUNCTIONS.items()
            if all(
                hasattr(library, f"_ZGV{isa}N{lanes}{'v' * count}_{name}{suffix}")
                for isa, doubles in (("b", 2), ("d", 4), ("e", 8))
                for suffix, lanes in (("", doubles), ("f", 2 * doubles))
            )
        )


def compiler() -> Compiler:
    """Return the compiler that `$CC` names, or `cc`, `gcc` or `clang`.

    Raises
    ------
    Unsupported
        There is no C compiler on the path.
    """
    return _compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.cache
def _compiler(chosen: str, path: str) -> Compiler:
    for candidate in (chosen, "cc", "gcc", "clang"):
        command = tuple(shlex.split(candidate))
        found = shutil.which(command[0], path=path) if command else None
        if found is None:
            continue
        command = (found, *command[1:])
        try:
            asked = subprocess.run(  # noqa: S603  the compiler that the user has chosen
                [*command, "--version"], capture_output=True, text=True, timeout=SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return Compiler(command, asked.stdout)
    raise Unsupported(
        "there is no C compiler on the path. Fix: install one (gcc or clang), name it in $CC, "
        'or use engine="numpy"'
    )


def directory() -> pathlib.Path:
    """Return the directory of compiled libraries, which no other user can write to.

    Raises
    ------
    Unsupported
        The directory belongs to another user, or cannot be created.
    """
    chosen = os.environ.get("GRADWRAP_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    path = pathlib.Path(chosen) if chosen else pathlib.Path(home) / "gradwrap"
    try:
        path = path.expanduser()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
    except (OSError, RuntimeError) as error:
        raise Unsupported(
            f"the directory for compiled libraries cannot be made: {error}. "
            "Fix: name another one in $GRADWRAP_CACHE_DIR"
        ) from error
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        raise Unsupported(
            f"others can write to {path}, the directory for compiled libraries. Fix: "
            "`chmod go-w` it, or name another one in $GRADWRAP_CACHE_DIR"
        )
    return path


@functools.cache
def _processor() -> str:
    """Return the processor's features, which `-march=native` depends on."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() + platform.machine()
    kept = ("flags", "Features", "model", "cpu family", "CPU part", "vendor_id")
    return "\n".join(sorted({line for line in text.splitlines() if line.startswith(kept)}))


def path_of(source: str, found: Compiler) -> pathlib.Path:
    """Return the path of the library for a source."""
    parts = (source, *found.command, *found.options, found.version, _processor(), str(FORMAT))
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
    return directory() / f"{name}.so"


def loaded(source: str) -> ctypes.CDLL:
    """Load the library of a source, compiling it if it is not in the cache.

    Raises
    ------
    Unsupported
        There is no compiler, or it fails, or it takes too long.
    """
    found = compiler()
    path = path_of(source, found)
    if path.exists():
        try:
            return ctypes.CDLL(str(path))
        except OSError:  # it is damaged, or from another system
            path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        text, made = pathlib.Path(folder) / "program.c", pathlib.Path(folder) / "program.so"
        text.write_text(source, encoding="utf-8")
        link = ("-lmvec",) if found.vector_functions else ()
        command = [*found.command, *found.options, "-o", str(made), str(text), *link, "-lm"]
        try:
            subprocess.run(  # noqa: S603  the compiler that the user has chosen
                command, capture_output=True, text=True, timeout=SECONDS, check=True
            )
        except subprocess.TimeoutExpired as error:
            raise Unsupported(f"the C compiler took longer than {SECONDS:.0f} s") from error
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", "") or str(error)
            raise Unsupported(f"the C compiler failed: {said.strip()[:500]}") from error
        made.replace(path)
    return ctypes.CDLL(str(path))


# Layout of arrays and numbers in memory ----------------------------------------------------------

HEAD = object.__basicsize__
"""The bytes before the first field of an object."""
FLAGS = HEAD + 48
"""The offset of an array's flags, after data, number of axes, shape, strides, base and dtype."""
USABLE = 0x0101
"""The flags of an aligned array in C's order."""


@functools.cache
def data_can_be_found() -> bool:
    """Tell if arrays and NumPy numbers have their data at the offsets that kernels use."""
    if sys.implementation.name != "cpython":
        return False
    matrix = np.arange(12.0).reshape(3, 4)
    for probe in (matrix, matrix[1], matrix.T, np.ones(3, np.float32)[1:], matrix[:, ::2]):
        address, data = id(probe), ctypes.c_void_p.from_address(id(probe) + HEAD).value
        flags = ctypes.c_int.from_address(address + FLAGS).value & USABLE
        usable = USABLE if probe.flags.c_contiguous and probe.flags.aligned else 0x100
        if data != probe.ctypes.data or flags != usable:
            return False
    kinds: tuple[tuple[Any, Any], ...] = (
        (np.float64(1.5), ctypes.c_double),
        (np.float32(2.5), ctypes.c_float),
        (np.int64(-3), ctypes.c_int64),
        (np.bool_(True), ctypes.c_bool),
    )
    return all(kind.from_address(id(number) + HEAD).value == number for number, kind in kinds)
