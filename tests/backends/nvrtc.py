"""NVIDIA's run-time compiler, which makes PTX of CUDA without a GPU, and CuPy's kernels as source.

The source is CuPy's own: of an `ElementwiseKernel` as it is, of a ufunc as an elementwise kernel
of its routine.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    cupy: Any
    core: Any
    kernels: Any
    reductions: Any
    CScalar: Any
    Indexer: Any
else:
    import cupy
    from cupy._core import _kernel as kernels
    from cupy._core import _reduction as reductions
    from cupy._core import core
    from cupy._core._carray import Indexer
    from cupy._core._scalar import CScalar

ARCHITECTURE = "compute_90"
ARRAY, INDEXER, SCALAR = 1, 2, 3
"""CuPy's numbers for the kinds of a kernel's arguments."""


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


def own_name(name: str, types: Iterable[Any]) -> str:
    """Return a name that tells a kernel from the same one for other types."""
    known = name.removeprefix("@")
    return "_".join((known, *(np.dtype(t).name for t in types)))


def elementwise_source(
    kernel: Any, types: Sequence[Any], name: str = "", axes: int = 1, raw_axes: int = 1
) -> tuple[str, str]:
    """Return a name and CuPy's source of an `ElementwiseKernel` for arguments of these types.

    `axes` and `raw_axes` are the numbers of axes of its arrays, and of those that are raw.
    """
    name = name or own_name(kernel.name, types)
    ins, outs, type_map = kernel._decide_params_type(tuple(types[: kernel.nin]), ())
    counts = [raw_axes if param.raw else axes for param in kernel.params[: kernel.nargs]]
    infos = tuple(
        kernels._ArgInfo(ARRAY, cupy.ndarray, t, count, True, True)
        for t, count in zip((*ins, *outs), counts, strict=True)
    )
    index = kernels._ArgInfo(INDEXER, Indexer, None, axes, True, True)
    code: str = kernels._get_elementwise_kernel_code(
        (*infos, index), type_map, kernel.params, kernel.operation, name, kernel.preamble
    )
    return name, code


def ufunc_source(ufunc: Any, dtypes: Sequence[np.dtype[Any]]) -> tuple[str, str] | None:
    """Return the name and the source of a ufunc for these dtypes; None where it takes none such."""
    for op in ufunc._ops.ops:
        fits = zip(dtypes, op.in_types, strict=True)
        if (
            callable(op.routine)
            or op.routine is None
            or not all(np.can_cast(a, b) for a, b in fits)
        ):
            continue
        ins = [(f"in{i}", np.dtype(t).name) for i, t in enumerate(op.in_types)]
        outs = [(f"out{i}", np.dtype(t).name) for i, t in enumerate(op.out_types)]
        aliases = "".join(
            f"typedef {C_TYPES[dtype]} {word}_type;\n" for word, dtype in (*ins, *outs)
        )
        kernel = cupy.ElementwiseKernel(
            ", ".join(f"{dtype} {word}" for word, dtype in ins),
            ", ".join(f"{dtype} {word}" for word, dtype in outs),
            op.routine,
            ufunc.name,
            preamble=aliases + ufunc._preamble,
        )
        return elementwise_source(kernel, [np.dtype(t).type for t in op.in_types])
    return None


def reduction_source(kernel: Any, dtype: np.dtype[Any]) -> tuple[str, str] | None:
    """Return the name and the source of one of CuPy's reductions; None where it takes none such."""
    for op in kernel._ops.ops:
        if op.routine is None or np.dtype(op.in_types[0]) != dtype:
            continue
        map_, reduce_, post, reduce_type = op.routine
        source, target = np.dtype(op.in_types[0]).type, np.dtype(op.out_types[0]).type
        arrays = [kernels._ArgInfo(ARRAY, cupy.ndarray, t, 1, True, True) for t in (source, target)]
        index = kernels._ArgInfo(INDEXER, Indexer, None, 1, True, True)
        stride = kernels._ArgInfo(SCALAR, CScalar, np.int32, 0, True, True)
        types = (("type_in0_raw", source), ("type_out0_raw", target), ("IndexT", "int32"))
        name = own_name(kernel.name, [source])
        code: str = reductions._create_reduction_function_code(
            name,
            512,
            reduce_type or C_TYPES[np.dtype(target).name],
            kernel._params,
            (*arrays, index, index, stride),
            kernel.identity,
            map_,
            reduce_,
            post,
            kernels._TypeMap(types),
            kernel._input_expr,
            kernel._output_expr,
            kernel.preamble,
            (),
        )
        return name, code
    return None


C_TYPES: Mapping[str, str] = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float16": "float16",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}


IN_HEAD = "#include <cupy/math_constants.h>"


KEPT = frozenset({"NAN"})
"""Names that the preprocessor may know from elsewhere."""


def stands_alone(source: str) -> bool:
    """Tell if a source includes what the head does not: it needs a program of its own."""
    return "#include" in source.replace(IN_HEAD, "")


def set_apart(name: str, text: str) -> str:
    """Return a source in a namespace, after which the preprocessor has forgotten its names."""
    names = dict.fromkeys(re.findall(r"#\s*define\s+(\w+)", text))
    forgotten = "".join(f"#undef {one}\n" for one in names if one not in KEPT)
    return f"namespace {name}_ {{\n{text.replace(IN_HEAD, '')}\n}}\n{forgotten}"


def programs(sources: Mapping[str, str]) -> list[list[str]]:
    """Return sources as programs: one of most of them, each in a namespace, and of each other."""
    together = {name: text for name, text in sources.items() if not stands_alone(text)}
    whole = [set_apart(name, text) for name, text in together.items()]
    return [whole, *([text] for name, text in sources.items() if name not in together)]
