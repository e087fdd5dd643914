"""CUDA programs, compiled for the host and run there: the text is the one a GPU would get."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any, NamedTuple

from hosted_cupy.counts import COUNTS
from hosted_cupy.driver import INCLUDE, built, grid, start

__all__ = ["KERNELS", "WATCHING", "Kernel", "compile_program"]

ENTRY = re.compile(
    r"__global__\s+(?:__launch_bounds__\([^)]*\)\s+)?void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\s*\("
)
DYNAMIC = re.compile(r"extern\s+__shared__\s+([\w :<>]+?)\s+(\w+)\[\]\s*;")
"""Shared memory whose size is given at the launch."""

BARRIERS = re.compile(r"__sync|__shfl|cooperative_groups")


LINK = ("-shared", "-nostdlib", "-Wl,-Bsymbolic")  # the library of C is in the process already


class Program:
    """The text of kernels, which is compiled when the first of them is to run."""

    def __init__(self, source: str, names: tuple[str, ...], options_: tuple[str, ...]) -> None:
        self.source = source
        self.names = names
        self._options = options_

    @functools.cached_property
    def library(self) -> Any:
        text = DYNAMIC.sub(r"\1 *\2 = static_cast<\1 *>(dynamic_shared());", self.source)
        wrappers = "".join(
            f'extern "C" void thread_{i}(void **at) {{ one_thread({name}, at); }}\n'
            for i, name in enumerate(self.names)
        )
        defines = tuple(one for one in self._options if one.startswith("-D"))
        try:
            library = built(f"{text}\n{wrappers}", (*options(), *defines))
        except RuntimeError as error:
            compiler: Any = importlib.import_module("cupy.cuda.compiler")
            raise compiler.CompileException(
                str(error), self.source, "kernels.cu", self._options
            ) from None
        return ctypes.PyDLL(str(library))


class Kernel(NamedTuple):
    """A kernel of a program, ready to run."""

    name: str
    source: str
    """The text of its program, as NVIDIA's compiler would get it."""

    program: Program
    number: int
    """The kernel's place in its program."""

    has_barriers: bool

    @property
    def thread(self) -> Any:
        """The function of one thread."""
        return getattr(self.program.library, f"thread_{self.number}")

    @property
    def own_name(self) -> str:
        """A name that tells it from those of the same name in other programs."""
        return f"{self.name}_{hashlib.sha256(self.source.encode()).hexdigest()[:12]}"


PROGRAMS: list[Program] = []
KERNELS: list[Kernel] = []
"""The kernels that CuPy has asked for, by the number that stands for their handle."""


def cupys_headers() -> str:
    spec = importlib.util.find_spec("cupy")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "_core" / "include")


@functools.cache
def options() -> tuple[str, ...]:
    """Return the compiler's options: our header is compiled once, for all programs."""
    header = (INCLUDE / "device.h").read_text()
    headers = ("-I", str(INCLUDE), "-isystem", cupys_headers())
    # what the header includes is part of its name
    version = "".join(f"// {path.read_text()!r}\n" for path in sorted(INCLUDE.rglob("*.h")))
    made = built(version + header, (*headers, "-x", "c++-header"), ".h.gch")
    return (*headers, "-include", str(made.with_suffix("")), *LINK)


def compile_program(
    source: str,
    options_: tuple[str, ...] = (),
    arch: Any = None,
    extra_source: str | None = None,
    backend: str = "nvrtc",
    enable_cooperative_groups: bool = False,
    name_expressions: Any = None,
    *_: Any,
    **__: Any,
) -> Any:
    """Do what CuPy's function of these parameters does, which compiles for a GPU."""
    function: Any = importlib.import_module("cupy.cuda.function")
    names = tuple(ENTRY.findall(source)) if name_expressions is None else tuple(name_expressions)
    program = Program(source, names, options_)
    if not COUNTS.is_noting:
        program.library  # noqa: B018  it is compiled here, for its errors
    PROGRAMS.append(program)
    module = function.Module()
    module.load(str(len(PROGRAMS) - 1).encode())
    module._set_mapping({name: name for name in names})
    return module


def find(program: int, name: str | bytes) -> int:
    """Return the number of a kernel of a program."""
    found = PROGRAMS[program]
    name = name.decode() if isinstance(name, bytes) else name
    has_barriers = BARRIERS.search(found.source) is not None
    KERNELS.append(Kernel(name, found.source, found, found.names.index(name), has_barriers))
    return len(KERNELS) - 1


def launch(number: int, shape: Any, arguments: int) -> BaseException | None:
    """Run a kernel; return the error, if there is one."""
    try:
        kernel = KERNELS[number]
        COUNTS.launched(kernel)
        if COUNTS.is_noting:
            return None
        run = functools.partial(_run, kernel, shape, arguments)
        if WATCHING:
            WATCHING[-1](kernel, run, arguments)
        else:
            run()
    except BaseException as error:  # noqa: BLE001  it passes through C
        return error
    return None


def _run(kernel: Kernel, shape: Any, arguments: int, backwards: bool = False) -> None:
    grid().run_grid(
        kernel.thread, ctypes.c_void_p(arguments), shape, int(kernel.has_barriers), int(backwards)
    )


WATCHING: list[Any] = []
"""Functions that run the launches in place of `launch`: `watch(kernel, run, arguments)`."""

NOTES = ("memset", "memcpy", "upload", "download", "wait")


def note(kind: int) -> None:
    COUNTS.noted(NOTES[kind])


start(launch, find, note)
