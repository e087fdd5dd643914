"""The C compiler: libraries are compiled, kept in the cache, and loaded.

The compiler is the system's. Where it has none, the package `ziglang` may have brought one.

A library's key is a hash of everything that it depends on: source, options, the compiler's
version, the system, the processor's features. A loaded library is shared by all kernels of the
same source, and closed when the last of them is gone.
"""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import functools
import hashlib
import os
import pathlib
import platform
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import weakref
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.c_expressions import FUNCTIONS
from gradwrap.compiler import cache
from gradwrap.compiler.engines.register import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = 2
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
RELOCATED = ("-Wl,-z,norelro",) if sys.platform == "linux" else ()
LINKED = ("-Wl,-z,noseparate-code", *RELOCATED) if sys.platform == "linux" else ()
"""Options of the linker, for few mappings in memory: the system limits their number."""
NATIVE: dict[str, tuple[str, str]] = {
    "x86_64": ("flags", "-march=native"),
    "AMD64": ("flags", "-march=native"),
    "aarch64": ("Features", "-mcpu=native"),
    "ppc64le": ("cpu", "-mcpu=native"),
    "s390x": ("features", "-march=native"),
}
"""By machine: the field of `/proc/cpuinfo` that lists the processor's features, and the option
that uses all of them. Other machines, and systems without the file, get code for any processor."""
IDENTIFYING = frozenset(
    {"flags", "Features", "features", "cpu", "model", "model name", "cpu family", "vendor_id"}
    | {"CPU part", "CPU variant", "CPU implementer", "CPU architecture", "machine"}
)
"""The fields of `/proc/cpuinfo` that the option depends on."""
SECONDS = 10.0
"""The longest time, in seconds, that the compiler may take for one library."""
SECONDS_ZIG = 120.0
"""The same for the compiler of `ziglang`, which first builds what it links with."""
NAMES = ("cc", "gcc", "clang")
ZIG = ("-m", "ziglang", "cc")
"""The arguments with which Python runs the compiler of the package `ziglang`."""
SUFFIX = ".so"


class Compiler:
    """A C compiler: a command, and the text by which it tells its version."""

    def __init__(self, command: tuple[str, ...], version: str) -> None:
        self.command = command
        self.version = version

    @property
    def is_zig(self) -> bool:
        """Tell if the compiler is the one of the package `ziglang`."""
        return self.command[1:] == ZIG

    @property
    def seconds(self) -> float:
        """Return the longest time that it may take for one library."""
        return SECONDS_ZIG if self.is_zig else SECONDS

    @functools.cached_property
    def is_gcc(self) -> bool:
        """Tell if the compiler is GCC, whose attribute `simd` declares vector functions."""
        return "Free Software Foundation" in self.version

    @functools.cached_property
    def options(self) -> tuple[str, ...]:
        """Return the options for this compiler and this processor."""
        machine = platform.machine()
        is_x86 = machine in ("x86_64", "AMD64")
        options = (*OPTIONS, *(RELOCATED if self.is_zig else LINKED))
        if not _processor() or not (self.is_gcc or is_x86):
            return options
        wide = ("-mprefer-vector-width=512",) if self.is_gcc and is_x86 else ()
        return (*options, NATIVE[machine][1], *wide)

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


class LoadedLibrary(ctypes.CDLL):
    """A library that is closed when nothing refers to it and its functions any more."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(str(path))
        weakref.finalize(self, _close, self._handle).atexit = False


def _close(handle: int) -> None:
    if sys.platform == "win32":
        _ctypes.FreeLibrary(handle)
    else:
        _ctypes.dlclose(handle)


_loaded: weakref.WeakValueDictionary[str, LoadedLibrary] = weakref.WeakValueDictionary()
"""The loaded libraries, by key."""


# The compiler -------------------------------------------------------------------------------------


def compiler() -> Compiler:
    """Return the compiler that `$CC` names; if it is not set, `cc`, `gcc`, `clang` or `ziglang`.

    Raises
    ------
    Unsupported
        There is no C compiler on the path, or `$CC` names none.
    """
    chosen = os.environ.get("CC", "").strip()
    problem = ""
    for command in _commands(chosen):
        if command:
            found, problem = _known(command, pathlib.Path(command[0]).stat().st_mtime_ns)
            if not problem:
                return found
    if chosen:
        raise Unsupported(
            f"$CC is {chosen!r}, which {problem or 'is no program on the path'}. "
            "Fix: set it to the name or the path of a C compiler, or unset it"
        )
    raise Unsupported(
        f"there is no C compiler on the path{problem and f' that works: it {problem}'}. Fix: "
        "install one (gcc or clang, or `pip install gradwrap[c]`), name it in $CC, or use "
        'engine="numpy"'
    )


def _commands(chosen: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands to try, () for programs that are not there."""
    if chosen:
        yield _command(chosen)
    else:
        yield from map(_command, NAMES)
        yield _zig()


def _command(text: str) -> tuple[str, ...]:
    """Return the words of a command, the first one as a path; () if there is no such program."""
    whole = _program(text)  # a path may have spaces
    if whole is not None:
        return (whole,)
    try:
        first, *rest = shlex.split(text)
    except ValueError:  # a quotation mark is not closed
        return ()
    found = _program(first)
    return (found, *rest) if found else ()


def _program(name: str) -> str | None:
    """Return the path of a program; a search is repeated if what it found is no program now."""
    key = name, os.environ.get("PATH")
    found = _programs.get(key)
    if found is None or not os.access(found, os.X_OK):
        found = shutil.which(name)
        if found is not None:
            _programs[key] = found
    return found


def _zig() -> tuple[str, ...]:
    """Return the command of the compiler in the package `ziglang`; () without the package."""
    return (sys.executable, *ZIG) if sys.executable and find_spec(ZIG[1]) else ()


_programs: dict[tuple[str, str | None], str] = {}
"""By name and search path: the programs found."""


@functools.cache
def _known(command: tuple[str, ...], _changed: int) -> tuple[Compiler, str]:
    """Return a compiler that was asked for its version, and how it failed, or ""."""
    status, said, problem = _run([*command, "--version"], dict(os.environ), SECONDS)
    found = Compiler(command, said)
    return found, problem or ("fails when asked for its version" if status else "")


def _run(command: list[str], environment: dict[str, str], seconds: float) -> tuple[int, str, str]:
    """Run a command, and end it with all its children if it takes too long.

    Returns
    -------
    Its exit status, the text that it wrote, and the reason if it did not run to its end, or "".
    """
    try:
        process = subprocess.Popen(  # noqa: S603  the compiler that the user has chosen
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,
            umask=0o077,
        )
    except OSError as error:
        return 1, "", f"cannot be run: {error}"
    with contextlib.closing(process.stdout or contextlib.ExitStack()):
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return 1, "", f"took longer than {seconds:.0f} s and was ended"
        except BaseException:
            _end(process)
            raise
    return process.returncode, said, ""


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and its children."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# Libraries ----------------------------------------------------------------------------------------


@functools.cache
def _processor() -> str:
    """Return what identifies the processor and its features; "" if these are not known."""
    field, _ = NATIVE.get(platform.machine(), ("", ""))
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = {line for line in text.splitlines() if line.partition(":")[0].strip() in IDENTIFYING}
    is_known = any(line.partition(":")[0].strip() == field for line in lines)
    return "\n".join(sorted(lines)) if is_known else ""


@functools.cache
def _system() -> str:
    """Return the system and its C library, which libraries are linked with."""
    names = getattr(os, "confstr_names", {})
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in names else ""
    return f"{sys.platform} {platform.machine()} {libc}"


def key_of(source: str, found: Compiler, extra: tuple[str, ...] = ()) -> str:
    """Return the key of the library for a source and `extra` options."""
    options = (*found.options, *extra)
    parts = (source, *found.command, *options, found.version, _processor(), _system())
    return hashlib.sha256("\0".join((*parts, str(FORMAT))).encode()).hexdigest()[:40]


def loaded(
    source: str, told: list[str], extra: tuple[str, ...] = (), by: Compiler | None = None
) -> LoadedLibrary:
    """Load the library of a source, compiling it with `extra` options if it is not in the cache.

    `by` is the compiler, if it is known. `told` receives the texts of warnings about files of the
    cache that were damaged.

    Raises
    ------
    Unsupported
        There is no compiler, or it fails, or it takes too long; the disk is full, or does not
        permit that a library is written or loaded.
    """
    found = by or compiler()
    key = key_of(source, found, extra)
    library = _loaded.get(key)
    if library is None:
        try:
            kept = cache.find(key, SUFFIX, told)
            content = kept[1] if kept else _compiled(source, found, extra)
            library = _opened(kept[0] if kept else cache.store(key, SUFFIX, content), content)
            _loaded[key] = library
        except cache.CacheError as error:
            raise Unsupported(str(error)) from error
        except OSError as error:
            raise Unsupported(
                f"its library cannot be kept or loaded: {error}. Fix: name a directory that can be "
                "written to and run from in $GRADWRAP_CACHE_DIR, or make room on the disk"
            ) from error
    return library


def _opened(path: pathlib.Path, content: bytes) -> LoadedLibrary:
    try:
        return LoadedLibrary(path)
    except OSError:
        if path.exists():
            raise
    with cache.workplace() as folder:  # another process has removed it, to make room
        copy = folder / path.name
        copy.write_bytes(content)
        return LoadedLibrary(copy)


def _compiled(source: str, found: Compiler, extra: tuple[str, ...] = ()) -> bytes:
    """Compile a source; return the library."""
    with cache.workplace() as folder:
        text, made = folder / "program.c", folder / "program.so"
        text.write_text(source, encoding="utf-8")
        link = ("-lmvec",) if found.vector_functions else ()
        options = [*found.options, *extra]
        command = [*found.command, *options, "-o", str(made), str(text), *link, "-lm"]
        environment = {**os.environ, "TMPDIR": str(folder)}
        status, said, problem = _run(command, environment, found.seconds)
        library = made.read_bytes() if made.is_file() and not (status or problem) else b""
    shown = " ".join(found.command)
    remedy = "Fix: name another one in $CC"
    if problem:
        raise Unsupported(f"the C compiler ({shown}) {problem}. {remedy}")
    if status:
        raise Unsupported(
            f"the C compiler ({shown}) failed with status {status}: {said.strip()[:500]}. {remedy}"
        )
    if not _is_whole(library):
        wrote = f"{len(library)} bytes that are no library" if library else "nothing"
        raise Unsupported(f"the C compiler ({shown}) wrote {wrote}. {remedy}")
    return library


def _is_whole(library: bytes) -> bool:
    """Tell if a library has all its sections, by the table at the end; only ELF is looked at."""
    if sys.platform != "linux":
        return bool(library)
    try:
        is_wide, order = library[4] == 2, "<" if library[5] == 1 else ">"
        (start,) = struct.unpack_from(
            f"{order}{'Q' if is_wide else 'I'}", library, 40 if is_wide else 32
        )
        size, count = struct.unpack_from(f"{order}HH", library, 58 if is_wide else 46)
    except (IndexError, struct.error):
        return False
    return library[:4] == b"\x7fELF" and len(library) >= start + size * count


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
