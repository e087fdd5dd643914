"""NVIDIA's run-time compiler, which makes PTX of CUDA without a GPU, and CuPy's kernels as source.

The source is the one that CuPy had compiled for a launch.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hosted_cupy.programs import Kernel

    core: Any
else:
    from cupy._core import core

ARCHITECTURE = "compute_90"


def library() -> Path | None:
    """Return the compiler's shared library, if its package is installed."""
    spec = importlib.util.find_spec("nvidia")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    found = (path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.1?"))
    return next(found, None)


class Compiled(NamedTuple):
    """What the compiler made of a source."""

    ptx: str
    """Empty, if it failed."""
    log: str


class Compiler:
    """The compiler, with CuPy's headers."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        cupys = core.assemble_cupy_compiler_options(())  # and a toolkit's, of another release maybe
        options = (
            *(one for one in cupys if "/cupy/" in one or not one.startswith("-I")),
            f"--gpu-architecture={ARCHITECTURE}",
            "-default-device",
        )
        self._options = [option.encode() for option in options]
        self._head = "".join(f"#include <{name}>\n" for name in core._cupy_header_list)

    def __call__(self, sources: Iterable[str]) -> Compiled:
        """Compile kernels as one program."""
        program = ctypes.c_void_p()
        text = self._head + "\n".join(sources)
        self._do(
            "CreateProgram", ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None
        )
        try:
            given = (ctypes.c_char_p * len(self._options))(*self._options)
            failed = self._library.nvrtcCompileProgram(program, len(given), given)
            log = self._text("ProgramLog", program)
            return Compiled("" if failed else self._text("PTX", program), log.strip())
        finally:
            self._do("DestroyProgram", ctypes.byref(program))

    def _text(self, what: str, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._do(f"Get{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._do(f"Get{what}", program, text)
        return text.value.decode()

    def _do(self, name: str, *args: Any) -> None:
        failed = getattr(self._library, f"nvrtc{name}")(*args)
        if failed:
            raise RuntimeError(f"nvrtc{name} failed with error {failed}")


# Sources ------------------------------------------------------------------------------------------


def launched_source(kernel: Kernel) -> tuple[str, str]:
    """Return a name of its own, and the text that CuPy had compiled for a kernel's launch."""
    text = kernel.source
    for header in core._cupy_header_list:
        text = text.replace(f"#include <{header}>\n", "")  # they are the program's head
    name = kernel.own_name
    return name, re.sub(rf"(__global__ void )\b{kernel.name}\b", rf"\1{name}", text)


IN_HEAD = "#include <cupy/math_constants.h>"


KEPT = frozenset({"NAN"})
"""Names that the preprocessor may know from elsewhere."""


INCLUDED = re.compile(r"^\s*#\s*include\s+<.*>", re.MULTILINE)


def included(source: str) -> list[str]:
    """Return the lines that include what the head does not."""
    return [one.strip() for one in INCLUDED.findall(source.replace(IN_HEAD, ""))]


def set_apart(name: str, text: str) -> str:
    """Return a source in a namespace, after which the preprocessor has forgotten its names."""
    names = dict.fromkeys(re.findall(r"#\s*define\s+(\w+)", text))
    forgotten = "".join(f"#undef {one}\n" for one in names if one not in KEPT)
    return f"namespace {name}_ {{\n{INCLUDED.sub('', text)}\n}}\n{forgotten}"


def programs(sources: Mapping[str, str]) -> list[list[str]]:
    """Return sources as programs, each in a namespace: those of the head, and those of more."""
    headers = {name: included(text) for name, text in sources.items()}
    more = dict.fromkeys(header for one in headers.values() for header in one)
    whole = [set_apart(name, text) for name, text in sources.items() if not headers[name]]
    others = [set_apart(name, text) for name, text in sources.items() if headers[name]]
    return [whole, [*more, *others]] if others else [whole]
