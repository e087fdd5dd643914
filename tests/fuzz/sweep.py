"""Call every public function and method of NumPy, as programs of one call."""

from __future__ import annotations

import ast
import inspect
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.fuzz.checks import Outcome, judge
from tests.fuzz.numpy_calls import (
    ACCEPTED,
    ARRAYS,
    BINARY,
    FUNCTIONS,
    INTEGERS_ONLY,
    METHODS,
    METHODS_OF_UFUNCS,
    PLAIN,
    SHIFTED,
    UFUNC_KEYWORDS,
    UNARY,
)
from tests.fuzz.programs import Program
from tests.fuzz.reference import Unreliable, refer
from tests.fuzz.values import NUMPY, is_array, is_number, is_numpys, is_sequence, is_writable, quiet

from gradwrap.backends.drop_in import creation_functions

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYWORDS: dict[str, tuple[str, ...]] = {
    "axis": ("0", "-1", "None", "(0, 1)"),
    "keepdims": ("True",),
    "where": ("m1", "x1 > 0.3"),
    "initial": ("0.4", "c1"),
    "dtype": ("np.float32", "complex", "np.float64"),
    "order": ("'F'", "'C'", "'K'", "'A'"),
    "ddof": ("1", "0.5"),
    "correction": ("1",),
    "casting": ("'unsafe'",),
    "subok": ("False", "True"),
    "offset": ("1",),
    "axis1": ("1",),
    "axis2": ("-1",),
    "n": ("2",),
    "k": ("1",),
    "dx": ("0.3",),
    "mode": ("'wrap'", "'clip'", "'same'", "'edge'"),
    "method": ("'midpoint'", "'hazen'", "'lower'"),
    "weights": ("y1",),
    "returned": ("True",),
    "copy": ("True", "False"),
    "ndmin": ("2",),
    "indexing": ("'ij'",),
    "sparse": ("True",),
    "norm": ("'ortho'", "'forward'"),
    "kind": ("'stable'",),
    "stable": ("True",),
    "descending": ("True",),
    "endpoint": ("False",),
    "retstep": ("True",),
    "num": ("3",),
    "rowvar": ("False",),
    "bias": ("True",),
    "equal_nan": ("True",),
    "optimize": ("True", "'greedy'"),
    "include_initial": ("True",),
    "edge_order": ("2",),
    "nan": ("0.5",),
    "decimals": ("1",),
    "deg": ("True",),
    "increasing": ("True",),
    "return_index": ("True",),
    "return_inverse": ("True",),
    "return_counts": ("True",),
    "out": ("out",),
}
"""What is tried for an optional parameter, by its name."""


CREATING = creation_functions(np)
"""The functions that `gradwrap.numpy` replaces to make arrays that hold tracked values."""
PRODUCTS = {
    "matmul": "s1, x1 | x1, v1 | t1, [0.5, 1.5]",
    "matvec": "s1, w1",
    "vecmat": "w1, s1",
    "vecdot": "v1, k1 | x1, q1",
}
"""The arguments of the ufuncs that are products of matrices."""


@dataclass(frozen=True)
class Call:
    """A call of a public name, as text."""

    name: str
    source: str
    drop_in: bool = False
    """It is made with `gradwrap.numpy`, whose arrays can hold tracked values, and can be `out=`."""


@dataclass(frozen=True)
class Verdict:
    """What came of a call."""

    call: Call
    kind: str
    """`right`, `no derivative`, `refused`, `failed`, `NumPy refuses`, `accepted` or `skipped`.

    `accepted` is a call that NumPy refuses, and gradwrap does not.
    """
    detail: str = ""


# Names ------------------------------------------------------------------------------------------


def public_names() -> list[str]:
    """Return the public callables of NumPy, of `linalg` and of `fft`, without `np.`."""
    with quiet():
        found = [n for n in dir(np) if not n.startswith("_") and callable(getattr(np, n))]
        for module in ("linalg", "fft"):
            inside = getattr(np, module)
            names = [n for n in dir(inside) if not n.startswith("_")]
            found += [f"{module}.{n}" for n in names if callable(getattr(inside, n))]
        return found


def public_methods() -> list[str]:
    return [n for n in dir(np.ndarray) if not n.startswith("_")]


def looked_up(name: str) -> Any:
    """Return what a dotted name stands for, or None."""
    found: Any = np
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


# Calls ------------------------------------------------------------------------------------------


def all_calls() -> list[Call]:
    """Return every call, in the order of the tables."""
    found: list[Call] = []
    for name in public_names():
        function = getattr(np, name, None)
        if isinstance(function, np.ufunc):
            found += calls_of_ufunc(f"np.{name}", function)
    for name, arguments in FUNCTIONS.items():
        function = looked_up(name)
        if function is not None and not isinstance(function, np.ufunc):
            found += calls_of_function(name, function, arguments)
            there = calls_of_function(f"gradwrap.numpy{name[2:]}", function, arguments)
            found += [
                replace(call, drop_in=True)
                for call in there
                if name[3:] in CREATING or "[c1" in call.source
            ]
    for name, arguments in METHODS.items():
        if hasattr(np.ndarray, name):
            found += calls_of_method(name, arguments)
    return list(dict.fromkeys(found))


def calls_of_ufunc(name: str, ufunc: np.ufunc) -> Iterator[Call]:
    short = name.removeprefix("np.")
    if short in INTEGERS_ONLY.split():
        yield Call(name, f"{name}({', '.join(['j1'] * ufunc.nin)})")
        return
    if ufunc.signature is not None:
        for arguments in PRODUCTS[short].split(" | "):
            yield Call(name, f"{name}({arguments})")
            yield Call(name, f"{name}({arguments}, out=out)", drop_in=True)
            yield Call(name, f"{name}({arguments}, dtype=complex)")
        return
    yield from calls_by_elements(name, ufunc)


def calls_by_elements(name: str, ufunc: np.ufunc) -> Iterator[Call]:
    """Yield the calls of a ufunc whose arguments broadcast."""
    short = name.removeprefix("np.")
    bases = (UNARY if ufunc.nin == 1 else BINARY).split(" | ")
    if short == "ldexp":
        bases = ["x1, 2", "x1, j1", "c1, 3"]
    if short in SHIFTED:
        bases = [SHIFTED[short].format(base) for base in bases]
    for base in bases:
        yield Call(name, f"{name}({base})")
    for keyword in UFUNC_KEYWORDS:
        yield Call(name, f"{name}({bases[0]}, {keyword})")
    outs = ", ".join(("out", "out2")[: ufunc.nout])
    yield Call(
        name, f"{name}({bases[0]}, out={outs if ufunc.nout == 1 else f'({outs})'})", drop_in=True
    )
    yield Call(name, f"{name}({bases[0]}, {outs})", drop_in=True)
    if ufunc.nout == 1:
        yield Call(name, f"np.where(m1, {name}({bases[0]}, where=m1), 0.3)")
        yield Call(name, f"{name}({bases[0]}, out=out, where=m1)", drop_in=True)
    if ufunc.nin == 2 and ufunc.nout == 1:
        for method, table in METHODS_OF_UFUNCS.items():
            yield from (Call(name, f"{name}.{method}({arguments})") for arguments in table)


def calls_of_function(name: str, function: Any, arguments: list[str]) -> Iterator[Call]:
    called = name.replace("gradwrap.numpy.", "np.")
    for given in arguments:
        yield Call(name, f"{called}({given})")
    yield from with_keywords(name, f"{called}({{}})", parameters_of(function), arguments)


def calls_of_method(name: str, arguments: list[str]) -> Iterator[Call]:
    label = f"ndarray.{name}"
    method = getattr(np.ndarray, name)
    for given in arguments:
        owner, rest = owner_and_rest(given)
        yield Call(label, f"{owner}.{name}({rest})" if callable(method) else f"{owner}.{name}")
    if callable(method):
        owner, rest = owner_and_rest(arguments[0])
        yield from with_keywords(label, f"{owner}.{name}({{}})", parameters_of(method), [rest])


def owner_and_rest(arguments: str) -> tuple[str, str]:
    """Split the array whose method is called from the method's own arguments."""
    parsed: Any = ast.parse(f"f({arguments})", mode="eval").body
    array = ast.get_source_segment(f"f({arguments})", parsed.args[0]) or ""
    rest = arguments[len(array) :].removeprefix(", ")
    return f"({array})" if " " in array else array, rest


def parameters_of(function: Any) -> list[str]:
    """Return the names of the optional parameters, as far as NumPy tells them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return []
    return [p.name for p in parameters if p.default is not p.empty and p.kind != p.POSITIONAL_ONLY]


def with_keywords(
    name: str, form: str, parameters: list[str], arguments: list[str]
) -> Iterator[Call]:
    """Yield calls with each optional parameter alone, and with random pairs of them."""
    known = [p for p in parameters if p in KEYWORDS and (p != "order" or "kind" not in parameters)]
    for given in arguments[:2]:
        free = [p for p in known if f"{p}=" not in given]
        for parameter in free:
            for value in KEYWORDS[parameter]:
                yield made(name, form, given, {parameter: value})
        rng = random.Random(f"{name} {given}")
        for _ in range(min(6, len(free) * 2)):
            chosen = rng.sample(free, min(2, len(free)))
            yield made(name, form, given, {p: rng.choice(KEYWORDS[p]) for p in chosen})


def made(name: str, form: str, given: str, keywords: dict[str, str]) -> Call:
    texts = [f"{parameter}={value}" for parameter, value in keywords.items()]
    return Call(name, form.format(", ".join(filter(None, [given, *texts]))), "out" in keywords)


# Programs ---------------------------------------------------------------------------------------


def program_of(call: Call) -> Program | None:
    """Return the program of a call, which writes to its result and arguments afterwards.

    None if NumPy refuses the call. What is written afterwards shows which results are views.
    """
    names = {node.id for node in ast.walk(ast.parse(call.source)) if isinstance(node, ast.Name)}
    arguments = [(name, source) for name, source in ARRAYS.items() if name in names]
    body = [f"{name} = {source}" for name, source in PLAIN.items() if name in names]
    env: dict[str, Any] = dict(NUMPY)
    source = call.source
    with quiet():
        for name, text in (*ARRAYS.items(), *PLAIN.items()):
            env[name] = eval(text, env)
        try:
            if "out" in names:
                body += buffers(source, env)
                for statement in body:
                    exec(statement, env)
            result = eval(source, env)
        except Exception:
            return Program(
                (*body, f"r0 = {source}"), (), tuple(arguments), call.drop_in, ("vjp", "jvp")
            )
    results = [name for name, _ in arguments]
    parts: list[Any] = [result]
    body.append(f"r0 = {source}")
    if is_sequence(result):
        parts = list(result)
        body[-1] = f"r = {source}"
        body.append("t0 = np.array([isinstance(r, tuple), len(r)])")
        body += [f"r{i} = r[{i}]" for i in range(len(parts))]
        results.append("t0")
    for i, part in enumerate(parts):
        if is_array(part) and part.dtype.kind in "fc" and is_writable(part):
            body.append(f"r{i}[...] *= 0.9")
    body += [f"{name}[...] += 0.1" for name, _ in arguments if name != "c1"]
    results += [
        f"r{i}"
        for i, part in enumerate(parts)
        if (is_numpys(part) or is_number(part)) and np.asarray(part).dtype.kind in "fciub"
    ]
    return Program(tuple(body), tuple(results), tuple(arguments), call.drop_in, ("vjp", "jvp"))


def buffers(source: str, env: dict[str, Any]) -> list[str]:
    """Return the statements that make the `out` of a call, as large as its result."""
    result = eval(source, {**env, "out": None, "out2": None})
    parts = result if is_sequence(result) else (result,)
    return [
        f"{name} = np.zeros({np.shape(part)}, dtype=np.{np.asarray(part).dtype})"
        for name, part in zip(("out", "out2"), parts, strict=False)
    ]


def try_call(call: Call) -> Verdict:
    """Make a call under the transforms, and say what came of it."""
    program = program_of(call)
    assert program is not None
    try:
        reference = refer(program)
    except Unreliable:
        return Verdict(call, "skipped", "kink")
    outcomes = judge(program, reference)
    worst = worst_of(outcomes)
    if worst.kind == "no error" and call.source in ACCEPTED:
        return Verdict(call, "accepted", worst.detail)
    if worst.verdict in ("failed", "refused"):
        return Verdict(call, worst.verdict, f"{worst.transform}: {worst.kind}: {worst.detail}")
    if worst.verdict == "skipped":
        return Verdict(call, "skipped", worst.detail)
    if reference.error is not None:
        return Verdict(call, "NumPy refuses")
    own = [
        slope
        for name, slope in zip(program.results, reference.slopes, strict=True)
        if name[0] == "r"
    ]
    flat = all(slope is None or not np.any(slope) for slope in own)
    arguments = [name for name, _ in program.arguments]
    writes = any(
        name in arguments and not np.allclose(slope, direction)
        for name, slope, direction in zip(
            program.results, reference.slopes, reference.directions, strict=False
        )
        if slope is not None
    )
    return Verdict(call, "no derivative" if flat and not writes else "right")


def worst_of(outcomes: list[Outcome]) -> Outcome:
    for verdict in ("failed", "refused", "skipped"):
        for outcome in outcomes:
            if outcome.verdict == verdict:
                return outcome
    return outcomes[0]
