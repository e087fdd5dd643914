"""Run every kernel that gradwrap writes, on many arrays, in two orders of the threads.

    python -m tests.backends.kernel_sweep [--sample 50] [--rest 1] [--kind groups]

The kernels are those of the fused formulas, of compiled groups, loops and programs, and those of
CuPy that the rows launch. Values are compared with NumPy's. It needs CuPy, g++ and no GPU, and
takes some twenty minutes; the tests run a sample.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import sys
import threading
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    HERE = Path(__file__).parent
    sys.path[:0] = [str(HERE), str(HERE.parent / "support"), str(HERE.parents[1])]

from tests.compiler.test_compiled_programs import PROGRAMS

import gradwrap as gw
from cupy_calls import flat
from gradwrap.core.table.kinds import Reduction
from gradwrap.core.table.registry import ops
from harness import Case, Maker
from hosted_cupy import has_gpu, hosted
from test_backends import Call
from test_cupy_compiled import BINARY, NUMPYS, OF_COMPLEX, OF_INTEGERS, UNARY, applied
from test_cupy_kernels import ALL, SPECIAL, formulas
from test_cupy_rules import CASES, call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

cupy: Any = __import__("cupy")

SIZES = (0, 1, 31, 32, 33, 100_000)
LAYOUTS = ("contiguous", "strided", "broadcast", "reversed", "matrix")
TOLERANCES = {"e": 2e-2, "f": 2e-4, "d": 1e-11, "F": 2e-4, "D": 1e-11}

DIFFERING = frozenset(
    {op.name for op in ops() if op.name.startswith("special.")} | {"remainder", "nextafter"}
)
"""Functions that CuPy and NumPy define differently at infinities, or outside of their domains.

CuPy's `remainder(x, inf)` is NaN, and so is its `nextafter(inf, x)` in half precision.
"""


def values(size: int, dtype: Any, seed: int) -> Any:
    """Return numbers, with NaN, infinities and zeros among them."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return random.integers(1, 7, size).astype(dtype)
    found = random.uniform(-2.5, 2.5, size)
    places = random.random(size) < 0.2
    found[places] = random.choice(SPECIAL, int(places.sum()))
    if dtype.kind == "c":
        found = random.uniform(-2, 2, size) + 1j * random.uniform(-2, 2, size)
    with np.errstate(over="ignore"):  # 1e30 is infinite in half precision
        return found.astype(dtype)


def laid_out(array: Any, layout: str) -> Any:
    """Return CuPy's array of these values with another layout, or of the first one for all."""
    on_device = cupy.asarray(array)
    if layout == "strided":
        wide = cupy.zeros((array.size, 3), array.dtype)
        wide[:, 1] = on_device
        return wide[:, 1]
    if layout == "broadcast":
        return cupy.broadcast_to(on_device[:1], array.shape) if array.size else on_device
    if layout == "reversed":
        return on_device[::-1]
    if layout == "matrix" and array.size % 4 == 0:
        return on_device.reshape(4, -1).T
    return on_device


def compare(found: Any, wanted: Any, dtype: Any, label: str) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape, label
    got, tolerance = found.get(), TOLERANCES.get(np.dtype(dtype).char, 0.0)
    np.testing.assert_allclose(
        got, wanted, rtol=tolerance, atol=tolerance / 100, equal_nan=True, err_msg=label
    )


Check = tuple[str, "Callable[[], None]"]


def of_formulas() -> Iterator[Check]:
    """Check each fused formula on each size and layout."""
    cases = itertools.product(ALL, "efdFD", SIZES, LAYOUTS)
    for (name, index), dtype, size, layout in cases:
        if dtype in "FD" and name.startswith("special."):  # CuPy has few of complex numbers
            continue
        label = f"formula {name} {index} {dtype} {size} {layout}"

        def check(
            name: str = name,
            index: int = index,
            dtype: str = dtype,
            size: int = size,
            layout: str = layout,
            label: str = label,
        ) -> None:
            generic, ours = formulas(name, index)
            count = len(generic.saved)
            given = [values(size, dtype, seed) for seed in range(count)]
            arrays = [laid_out(one, layout) for one in given]
            g = laid_out(values(size, dtype, 99), "strided" if layout == "matrix" else layout)
            g = g.reshape(arrays[0].shape) if arrays else g
            with np.errstate(all="ignore"):
                try:
                    wanted = generic.function(np, g.get(), *(one.get() for one in arrays))
                except TypeError:  # NumPy has no such function of complex numbers
                    return
            compare(ours.function(cupy, g, *arrays), wanted, dtype, label)

        yield label, check


def of_elements() -> Iterator[Check]:
    """Check the values and gradients of elementwise rows and reductions on each size and layout."""
    chosen = {
        case.rule.name: case
        for case in CASES
        if case.rule.kind.is_elementwise or isinstance(case.rule.kind, Reduction)
        if all(getattr(arg, "shape", ()) == (3,) for arg in plain(case))
    }
    for case, dtype, size, layout in itertools.product(chosen.values(), "efdFD", SIZES, LAYOUTS):
        is_complex = np.dtype(dtype).kind == "c"
        if case.rule.only_real if is_complex else case.rule.only_complex:
            continue
        if case.rule.name.startswith("special.") and (
            dtype == "e" or size == SIZES[-1]
        ):  # SciPy has none; hundreds of steps
            continue

        def check(
            case: Case = case, dtype: str = dtype, size: int = size, layout: str = layout
        ) -> None:
            on_numpy, on_cupy = (Call(case, name, np.dtype(dtype)) for name in ("numpy", "cupy"))
            maker = Maker(case.rule, np.dtype(dtype), case.seed)
            given = [maker.x(size) for _ in on_cupy.arrays]
            if case.rule.name not in DIFFERING and np.dtype(dtype).kind == "f":
                for seed, one in enumerate(given):
                    other = values(size, dtype, seed)
                    one[2::5] = other[2::5]  # NaN and infinities, and beyond the domain
            on_cupy.arrays = [laid_out(one, layout) for one in given]
            on_numpy.arrays = [one.get() for one in on_cupy.arrays]
            with np.errstate(all="ignore"):
                try:
                    wanted = on_numpy.gradients()
                except (TypeError, ValueError):  # NumPy refuses the dtype, or no elements
                    return
                found = on_cupy.gradients()
            for one, other in zip(flat(found), flat(wanted), strict=True):
                assert one.dtype == other.dtype
                compare(one, other, one.dtype, case.id)

        yield f"elements {case.rule.name} {dtype} {size} {layout}", check


def plain(case: Case) -> list[Any]:
    """Return all arguments of a case."""
    args, kwargs = case.arguments(np.dtype("d"))
    return [*args, *kwargs.values()]


def of_groups() -> Iterator[Check]:
    """Check each operation that a compiled group may hold."""
    names = {
        "f": (*UNARY, *BINARY),
        "d": (*UNARY, *BINARY),
        "F": OF_COMPLEX,
        "D": OF_COMPLEX,
        "i": OF_INTEGERS,
        "l": OF_INTEGERS,
    }
    for dtype, operations in names.items():
        for operation, size, layout in itertools.product(operations, SIZES, LAYOUTS):
            label = f"group {operation} {dtype} {size} {layout}"

            def check(
                operation: str = operation,
                dtype: str = dtype,
                size: int = size,
                layout: str = layout,
            ) -> None:
                function: Any = applied((operation,))
                compiled = gw.compile(function)
                pair = [laid_out(values(size, dtype, seed), layout) for seed in (1, 2)]
                with np.errstate(all="ignore"):
                    wanted = function(*(one.get() for one in pair))
                compiled(*pair)  # this call traces
                found = compiled(*pair)
                for one, other in zip(flat(found), flat(wanted), strict=True):
                    compare(one, other, one.dtype, operation)

            yield label, check


def of_programs() -> Iterator[Check]:
    """Check the kernels of whole programs, among them loops."""
    from test_cupy_compiled import check_same, on_device

    for name in sorted(PROGRAMS.keys() - NUMPYS):

        def check(name: str = name) -> None:
            function, args = PROGRAMS[name]
            compiled: Any = gw.compile(function)
            given = on_device(args)
            compiled(*given)
            check_same(function(*given), compiled(*given))

        yield f"program {name}", check


def of_rows() -> Iterator[Check]:
    """Check the kernels of CuPy and of ours that each row launches, in each dtype."""
    from test_backends import check as as_numpy

    for case, dtype in itertools.product(CASES, "fdFD"):
        real = np.dtype(dtype).kind == "f"
        if not (case.rule.only_complex if real else case.rule.only_real):

            def check(case: Any = case, dtype: str = dtype) -> None:
                if dtype in "dD":
                    as_numpy(call(case, np.dtype(dtype)), np.dtype(dtype))
                else:  # the numbers differ by more than a test of all rows may allow
                    call(case, np.dtype(dtype)).gradients()

            yield f"row {case.id} {dtype}", check


KINDS = (of_formulas, of_elements, of_groups, of_programs, of_rows)
BY_NAME = {kind.__name__.removeprefix("of_"): kind for kind in KINDS}


class Swept(NamedTuple):
    """The outcome of a sweep."""

    checks: int
    """How many checks were run."""
    kernels: set[str]
    """The kernels that the double ran; on a GPU nothing tells."""
    failed: list[str]
    is_whole: bool
    """False if the time was up before the last check."""


def sweep(part: int = 1, rest: int = 0, kinds: Any = KINDS, seconds: float = math.inf) -> Swept:
    """Run each check, or each `part`-th one, on the GPU where there is one, else on the double."""
    failed: list[str] = []
    count, is_over = 0, threading.Event()
    with contextlib.ExitStack() as stack:
        ran: list[Any] = []
        if not has_gpu():
            from hosted_cupy.orders import two_orders

            stack.enter_context(hosted())
            ran = stack.enter_context(two_orders())
        numbered = [
            (zlib.crc32(label.encode()), label, check)
            for kind in kinds
            for label, check in kind()
            if zlib.crc32(label.encode()) % part == rest
        ]
        if seconds < math.inf:  # some of each kind, whenever the time is up
            numbered.sort(key=lambda one: one[:2])
            timer = threading.Timer(seconds, is_over.set)
            timer.start()
            stack.callback(timer.cancel)
            if not seconds:
                timer.join()
        for _, label, check in numbered:
            if is_over.is_set():
                break
            count += 1
            try:
                check()
            except Exception as error:  # noqa: BLE001  whatever it is, it is listed
                failed.append(f"{label}: {type(error).__name__}: {str(error)[:2000]}")
        names = {kernel.own_name for kernel in ran}
    return Swept(count, names, failed, count == len(numbered))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=1, help="run each so-and-so-many-th check")
    parser.add_argument("--rest", type=int, default=0, help="take another one of so many")
    parser.add_argument("--kind", help="run one kind of checks: " + ", ".join(BY_NAME))
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    options = parser.parse_args()
    kinds_ = KINDS if options.kind is None else (BY_NAME[options.kind],)
    swept = sweep(options.sample, options.rest, kinds_, options.seconds)
    where = "on the GPU" if has_gpu() else f"{len(swept.kernels)} kernels in two orders"
    ending = "" if swept.is_whole else ", and the time was up"
    last = f"{swept.checks} checks, {where}, {len(swept.failed)} failed{ending}"
    sys.stdout.write("\n\n".join([*swept.failed, last]) + "\n")
    sys.exit(bool(swept.failed))
