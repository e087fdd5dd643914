"""``python -m benchmarks.npbench CHECKOUT``: gradients of NPBench's programs, beside JAX's.

CHECKOUT is a working copy of https://github.com/spcl/npbench, of which nothing is kept here.
NPBench has each program for NumPy and for JAX. The gradient is that of the sum of the squares of
the program's results, with respect to all its arrays of floats and of complex numbers. The results
are the arrays that it returns, and those of its arguments that it writes to. These are copied
first, as a function in JAX makes new arrays too. For gradwrap, one import of the program is edited,
`import gradwrap.numpy as np`, and buffers are made by `np.empty` only.

A program is left out if it has no such arrays, if JAX cannot differentiate its version, or if the
results of that version are other ones; the remarks say which. Each program runs in a process of its
own, on one core, where its candidates are timed in turns. Where NPBench has two versions for JAX,
the faster one counts.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import gradwrap.numpy as gnp

from .__main__ import first_cells, first_heads, hand_out, load, rivals
from .peers import Peer, Run, c_engine, first_call, jax, numpy_engine
from .report import LEFT_OUT, milliseconds, number
from .timing import FULL, QUICK, interleave
from .workloads import Array, Namespace, Workload
from .workloads.base import Traced

ENGINES: tuple[Callable[[], Peer], ...] = (numpy_engine, c_engine)
SUFFIXES = ("_jax", "_jax_lib")
"""How the names of NPBench's modules for JAX end."""
TOLERANCE = {4: 1e-3, 8: 1e-5}
"""By bytes of a real number: how much results may differ, as a part of the largest element."""
ARRAYS: type[Any] = np.ndarray
SECONDS = 400
"""How long a program may take, with all its candidates."""


class Program(NamedTuple):
    """A program of NPBench, with its data for one size."""

    name: str
    title: str
    plain: Callable[..., Any]
    fun: Callable[..., Any]
    """The program with one import edited, `import gradwrap.numpy as np`."""
    versions: tuple[Callable[..., Any], ...]
    """Those for JAX."""
    values: dict[str, Any]
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    """Those of its arguments that it writes to, as far as NPBench says."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of the arguments that are differentiated."""
        return tuple(name for name in self.parameters if _is_inexact(self.values[name]))


def read(checkout: Path, name: str, preset: str) -> Program | None:
    """Read a program from a checkout, and make its data; None if it has no data to make."""
    info = json.loads((checkout / "bench_info" / f"{name}.json").read_text())["benchmark"]
    if "init" not in info or preset not in info["parameters"]:
        return None
    folder = checkout / "npbench" / "benchmarks" / info["relative_path"]
    module, function = info["module_name"], info["func_name"]
    values: dict[str, Any] = dict(info["parameters"][preset])
    init = info["init"]
    make = getattr(_load(folder / f"{module}.py"), init["func_name"])
    made = make(*(values[one] for one in init["input_args"]))
    names = init["output_args"]
    values.update(zip(names, made if len(names) > 1 else (made,), strict=True))
    versions = tuple(_versions(folder, module, function))
    path = folder / f"{module}_numpy.py"
    plain, edited = _load(path), _load(path)
    vars(edited)["np"] = _edited_numpy()
    funs = getattr(plain, function), getattr(edited, function)
    parameters, outputs = tuple(info["input_args"]), tuple(info.get("output_args", ()))
    return Program(name, info["name"], *funs, versions, values, parameters, outputs)


def _edited_numpy() -> ModuleType:
    """Return `gradwrap.numpy`, in which `np.ndarray(shape)` is `np.empty(shape)`."""
    module = ModuleType(gnp.__name__)
    vars(module).update(vars(gnp), ndarray=gnp.empty)
    return module


def _versions(folder: Path, module: str, function: str) -> Iterator[Callable[..., Any]]:
    paths = [folder / f"{module}{suffix}.py" for suffix in SUFFIXES]
    if importlib.util.find_spec("jax"):
        with _without_jit():
            yield from (getattr(_load(path), function) for path in paths if path.exists())


@contextmanager
def _without_jit() -> Generator[None]:
    """Let modules be loaded whose functions are not under `jax.jit`, until their gradients are.

    Otherwise their numbers of turns would be values of the inner functions, and loops of such
    lengths have no gradient.
    """
    library: Any = importlib.import_module("jax")
    jit = library.jit
    library.jit = _as_it_is
    try:
        yield
    finally:
        library.jit = jit


def _as_it_is(fun: Any = None, **_: Any) -> Any:
    return _as_it_is if fun is None else fun


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"npbench_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _is_inexact(value: Any) -> bool:
    return isinstance(value, ARRAYS) and np.issubdtype(value.dtype, np.inexact)


def _ordered(fun: Callable[..., Any], program: Program) -> tuple[str, ...]:
    """Return the names of a function's parameters, which may stand in another order."""
    own = fun.__code__.co_varnames[: fun.__code__.co_argcount]
    return own if {*own} == {*program.parameters} else program.parameters


def _called(fun: Callable[..., Any], names: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    """Return all that a function returns."""
    returned = fun(*(values[name] for name in names))
    return [*returned] if isinstance(returned, tuple) else [returned]


def _once(results: Sequence[Any]) -> list[Any]:
    """Return the results without those that are there already."""
    return [one for i, one in enumerate(results) if all(one is not two for two in results[:i])]


def _same(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or not one.size:
        return False
    return _difference(one, other) <= TOLERANCE[one.real.itemsize]


def _difference(one: Array, other: Array) -> float:
    """Return the largest difference as a part of the largest element."""
    scale = float(np.max(np.abs(other)))
    return float(np.max(np.abs(one - other))) / (scale or 1.0)


def _check(gradients: Sequence[Array], right: Sequence[Array]) -> None:
    worst = max(map(_difference, gradients, right))
    if not worst <= TOLERANCE[right[0].real.itemsize]:
        raise ValueError(f"a gradient differs by {worst:.1e} of its largest element")


def _squares(np: Namespace, results: Iterable[Traced]) -> Traced:
    total = 0.0
    for one in results:
        square = np.real(one * np.conj(one)) if np.iscomplexobj(one) else one * one
        total = total + np.sum(square)
    return total


class Taken(NamedTuple):
    """The workloads of a program, one for each version of JAX that works, and the remarks."""

    workloads: tuple[Workload, ...]
    remarks: tuple[str, ...]


def workloads(program: Program) -> Taken:
    """Return a program as workloads, which differ in the version for JAX alone.

    Each has the results that the program and JAX's version have in common. Without such a
    version, there is one workload, of all results.
    """
    before = dict(program.values)
    after = {
        name: value.copy() if isinstance(value, ARRAYS) else value for name, value in before.items()
    }
    returned = _called(program.plain, program.parameters, after)
    written = [
        name
        for name in program.parameters
        if isinstance(before[name], ARRAYS)
        and (name in program.outputs or not np.array_equal(before[name], after[name]))
    ]
    results = _once([*returned, *(after[name] for name in written)])
    wanted = [i for i, one in enumerate(results) if _is_inexact(np.asarray(one))]
    taken: list[Workload] = []
    remarks: list[str] = []
    for version in program.versions:
        try:
            pairs = _matches(version, program, [results[i] for i in wanted])
        except Exception as error:  # noqa: BLE001  whatever the version raises
            remarks.append(f"{program.name}: JAX's version fails: {_short(error)}")
            continue
        if pairs:
            chosen = [wanted[i] for i in pairs]
            taken.append(_workload(program, written, chosen, version, [*pairs.values()]))
        else:
            remarks.append(f"{program.name}: JAX's version has other results")
    if not taken:
        taken.append(_workload(program, written, wanted))
    return Taken(tuple(taken), tuple(remarks))


def _matches(
    version: Callable[..., Any], program: Program, results: Sequence[Any]
) -> dict[int, int]:
    """Return which result of JAX's version is which of the program's, by their values."""
    library: Any = importlib.import_module("jax")
    inputs, names = program.inputs, _ordered(version, program)

    def run(*arrays: Any) -> list[Any]:
        return _called(version, names, program.values | dict(zip(inputs, arrays, strict=True)))

    found = library.jit(run)(*(program.values[name] for name in inputs))
    pairs: dict[int, int] = {}
    for i, result in enumerate(results):
        for j, one in enumerate(found):
            if j not in pairs.values() and i not in pairs and _same(one, result):
                pairs[i] = j
    return pairs


def _workload(
    program: Program,
    written: Sequence[str],
    chosen: Sequence[int],
    version: Callable[..., Any] | None = None,
    in_version: Sequence[int] = (),
) -> Workload:
    inputs, parameters, run = program.inputs, program.parameters, program.fun
    # The arguments are not among them: what a function reads outside is compared at each call.
    rest = {name: value for name, value in program.values.items() if name not in inputs}

    def fun(np: Namespace, *arrays: Traced) -> Traced:
        del np
        own: dict[str, Any] = rest | dict(zip(inputs, arrays, strict=True))
        own |= {name: own[name].copy() for name in written}
        returned = _called(run, parameters, own)
        results = _once([*returned, *(own[name] for name in written)])
        return _squares(gnp, [results[i] for i in chosen])

    own: dict[str, Callable[..., Traced]] = {}
    if version is not None:
        names, run_in_jax = _ordered(version, program), version

        def in_jax(np: Namespace, *arrays: Traced) -> Traced:
            results = _called(run_in_jax, names, rest | dict(zip(inputs, arrays, strict=True)))
            return _squares(np, [results[i] for i in in_version])

        own["jax"] = in_jax

    return Workload(
        name=program.name,
        title=program.title,
        fun=fun,
        by_hand=fun,
        data=lambda _: tuple(program.values[name] for name in inputs),
        argnums=tuple(range(len(inputs))),
        own=own,
    )


class Measured(NamedTuple):
    """The seconds of later and of first calls by candidate, the engine, and the remarks."""

    times: dict[str, float]
    firsts: dict[str, float]
    engine: str
    remarks: list[str]


def measure(program: Program, quick: bool) -> Measured:
    """Measure the gradient of a program by both engines, and by JAX."""
    taken = workloads(program)
    remarks = [*taken.remarks]
    notes: list[str] = []
    runs: dict[str, Run] = {}
    firsts: dict[str, float] = {}
    right: tuple[Array, ...] | None = None
    engine = LEFT_OUT
    todo = [(peer, taken.workloads[0]) for peer in load(ENGINES, notes)]
    todo += [(peer, one) for one in taken.workloads if one.own for peer in load([jax], notes)]
    for peer, workload in todo:
        try:
            first = first_call(peer, workload, workload.data(np.random.default_rng(0)))
            # JAX has the conjugates of the gradients that gradwrap has.
            got = tuple(np.conj(one) if peer.name == "jax" else one for one in first.gradients)
            right = right or got
            _check(got, right)
        except Exception as error:  # noqa: BLE001  whatever a library raises
            remarks.append(f"{program.name}, {peer.title}: {_short(error)}")
            continue
        name = f"{peer.name} {len(runs)}" if peer.name in runs else peer.name
        runs[name], firsts[name] = first.run, first.seconds
        remarks += [f"{program.name}, {peer.title}: {' '.join(x.split())}" for x in first.warnings]
        if peer.name == "c-engine":
            engine = _engine(first.run)
    times = interleave(runs, QUICK if quick else FULL)
    in_jax = [name for name in times if name.startswith("jax")]
    for name in in_jax[1:]:
        if times[name] < times["jax"]:
            times["jax"], firsts["jax"] = times[name], firsts[name]
        del times[name], firsts[name]
    return Measured(times, firsts, engine, [*remarks, *notes])


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"


def _engine(run: Any) -> str:
    """Return the engine that a compiled function uses, as it says itself."""
    lines: list[str] = run.func.explain().splitlines()
    told = [line.removeprefix("engine: ") for line in lines if line.startswith("engine: ")]
    return told[0] if told else "eager"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the programs and print the table."""
    options = _parse(argv)
    if options.cell:
        return _cell(options)
    found = sorted(path.stem for path in (options.checkout / "bench_info").glob("*.json"))
    unknown = {*options.only} - {*found}
    if unknown or not found:
        sys.exit(f"{options.checkout} has no {', '.join(sorted(unknown)) or 'bench_info/*.json'}")
    remarks: list[str] = []
    peers = load((*ENGINES, jax), remarks)
    head = ["gradient time / JAX's time", "JAX (jit)"]
    head += [*(peer.title for peer in peers if peer.name != "jax"), "engine", *first_heads(peers)]
    rows: list[list[str]] = []
    times: dict[str, dict[str, float]] = {}
    for name in options.only or found:
        print(f"{name} ...", file=sys.stderr, flush=True)
        one = _in_own_process(options, name)
        remarks += one.remarks
        if not one.times:
            continue
        times[name] = one.times
        base = one.times.get("jax")
        cells = [LEFT_OUT if base is None else milliseconds(base)]
        for peer in (peer.name for peer in peers if peer.name != "jax"):
            own = one.times.get(peer)
            cells.append(
                LEFT_OUT if own is None else milliseconds(own) if not base else number(own / base)
            )
        rows.append([name, *cells, one.engine, *first_cells(one.firsts, peers)])
    remarks += rivals(times, peers)
    hand_out(options, "benchmarks.npbench", peers, head, rows, remarks)
    return 0


class _Options(argparse.Namespace):
    checkout: Path
    only: list[str]
    preset: str
    core: int
    quick: bool
    markdown: Path | None
    into: Path | None
    no_first_calls: bool
    cell: bool


def _parse(argv: Sequence[str] | None) -> _Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.npbench", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a working copy of NPBench")
    parser.add_argument("--only", metavar="NAME", action="append", default=[])
    parser.add_argument("--preset", default="S", choices=("S", "M", "L", "paper"))
    parser.add_argument("--core", type=int, default=0, help="the core that is used")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table there too")
    parser.add_argument("--into", metavar="PAGE", type=Path, help="and into this page")
    parser.add_argument("--no-first-calls", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cell", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv, namespace=_Options())


def _in_own_process(options: _Options, name: str) -> Measured:
    command = [sys.executable, "-m", "benchmarks.npbench", str(options.checkout), "--cell"]
    command += ["--only", name, "--preset", options.preset, "--core", str(options.core)]
    command += ["--quick"] if options.quick else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Measured({}, {}, LEFT_OUT, [f"{name}: it took more than {SECONDS} seconds"])
    if done.returncode:
        last = (done.stderr.strip() or "it was ended").splitlines()[-1]
        return Measured({}, {}, LEFT_OUT, [f"{name}: {last}"])
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def _cell(options: _Options) -> int:
    """Measure one program in this process, and print the figures for the one that started it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    (name,) = options.only
    warnings.simplefilter("ignore")
    load([jax], [])  # it makes JAX keep double precision, in the data too
    program = read(options.checkout, name, options.preset)
    if program is None:
        one = Measured({}, {}, LEFT_OUT, [f"{name}: there are no data of this size"])
    elif not program.inputs:
        one = Measured({}, {}, LEFT_OUT, [f"{name}: its arrays are of integers"])
    else:
        one = measure(program, options.quick)
    print(json.dumps(one))
    return 0


if __name__ == "__main__":
    sys.exit(main())
