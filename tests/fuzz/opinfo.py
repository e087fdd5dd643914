"""PyTorch's samples of its operations, run through gradwrap by their references in NumPy.

PyTorch lists its operations with samples of their arguments (`op_db`), and with functions of NumPy
and SciPy that compute the same. Each such function is called here with each sample, in float64 and
complex128, under every transform. Derivatives are compared with differences of values; where the
two do not agree, since a sample lies at a kink, with PyTorch's own.

`python -m tests.fuzz.opinfo` runs everything and writes `docs/opinfo.md`; `test_opinfo.py` runs a
sample of it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import types
import unittest
import warnings
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DTYPES = ("float64", "complex128")
CHECKS = ("value", "reverse", "forward", "second order", "vmap of grad", "engine numpy", "engine c")
STEP, LOOSE, TIGHT = 1e-5, 1e-5, 1e-9
PAGE = Path(__file__).parents[2] / "docs" / "opinfo.md"

SAME_NAME = {
    "linalg.cholesky", "linalg.det", "linalg.eigvalsh", "linalg.inv", "linalg.matrix_norm",
    "linalg.matrix_power", "linalg.multi_dot", "linalg.pinv", "linalg.slogdet", "linalg.solve",
    "linalg.svdvals", "linalg.vector_norm", "matmul", "outer", "inner", "dot", "kron", "cumsum",
    "cumprod", "logaddexp", "hypot", "atan2", "copysign", "fmax", "fmin", "einsum", "tensordot",
    "vdot", "trace", "tril", "triu", "flip", "fliplr", "flipud", "rot90", "moveaxis", "swapaxes",
    "stack", "hstack", "vstack", "dstack", "column_stack", "reshape", "expand_copy", "take",
    "gradient", "trapezoid", "cov", "corrcoef", "cross", "nanmedian", "quantile", "nanquantile",
    "logaddexp2", "heaviside", "ldexp", "nextafter", "true_divide", "divide", "multiply", "mul",
    "div", "isclose", "diagonal", "atleast_1d", "atleast_2d", "atleast_3d", "msort", "cdist",
    "repeat_interleave", "clip", "mv", "mm", "bmm", "ger", "addmm", "linalg.tensorinv", "xlogy",
    "special.xlog1py", "special.zeta", "special.bessel_j0", "special.bessel_j1", "special.i0",
}  # fmt: skip
"""Operations without a reference in the list, for which NumPy or SciPy have a function."""
OTHER_NAMES = {
    "mul": "multiply", "div": "divide", "mv": "matmul", "mm": "matmul", "bmm": "matmul",
    "ger": "outer", "msort": "sort", "repeat_interleave": "repeat", "atan2": "arctan2",
    "special.bessel_j0": "special.j0", "special.bessel_j1": "special.j1",
    "xlogy": "special.xlogy", "svdvals": "linalg.svdvals",
}  # fmt: skip


HERMITIAN = {"linalg.cholesky"}
"""Operations of Hermitian matrices, whose derivative is that along Hermitian directions."""
RENAMED = {"dim": "axis", "dims": "axis", "keepdim": "keepdims"}
"""NumPy's words for options of PyTorch's."""


@dataclass
class Sample:
    """One call of an operation: its function of arrays alone, on NumPy and on PyTorch."""

    op: str
    text: str
    arrays: list[Any]
    function: Callable[..., list[Any]]
    torch_function: Callable[..., list[Any]]
    """The same on tensors, for PyTorch's derivative."""


@dataclass
class Result:
    """What came of the checks of one sample."""

    sample: Sample
    passed: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])


# Samples ------------------------------------------------------------------------------------------


def is_a(value: object, *kinds: type[Any]) -> bool:
    """Call `isinstance` without a type checker learning from it."""
    return isinstance(value, kinds)


def op_db() -> list[Any]:
    """PyTorch's list. Its module takes a base class from `expecttest`, and nothing else."""
    if "expecttest" not in sys.modules:
        stand_in: Any = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed: Any = import_module("torch.testing._internal.common_methods_invocations")

    return list(listed.op_db)


def reference_of(op: Any) -> Callable[..., Any] | None:
    """The function of NumPy or SciPy for an operation; None if there is none."""
    if op.ref is not None:
        return op.ref  # type: ignore[no-any-return]  # of PyTorch
    if op.name not in SAME_NAME:
        return None
    import scipy.special

    found: Any = types.SimpleNamespace(**{**vars(np), "special": scipy.special})
    for part in str(OTHER_NAMES.get(op.name, op.name)).split("."):
        found = getattr(found, part, None)
    return found  # type: ignore[no-any-return]  # of NumPy


def to_numpy(value: Any) -> Any:
    """Replace tensors and dtypes in containers by NumPy's."""
    torch: Any = import_module("torch")

    if isinstance(value, torch.Tensor):
        return value.detach().resolve_conj().resolve_neg().numpy()
    if isinstance(value, torch.dtype):
        return np.dtype(str(value).removeprefix("torch."))
    if is_a(value, list, tuple):
        parts = [to_numpy(part) for part in value]
        return parts if is_a(value, list) else tuple(parts)
    return value


def samples_of(op: Any, dtype: str) -> Iterator[Sample]:
    """The samples of an operation that its reference takes, with the value that PyTorch gives."""
    torch: Any = import_module("torch")

    reference = reference_of(op)
    kind = getattr(torch, dtype)
    if reference is None or not op.supports_autograd or not op.supports_dtype(kind, "cpu"):
        return
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  PyTorch's samples draw from it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch makes samples by functions that it deprecates
        inputs: list[Any] = [*op.sample_inputs("cpu", kind)]
    for number, given in enumerate(inputs):
        args = (given.input, *given.args)
        kwargs: dict[str, Any] = dict(given.kwargs)
        renamed: dict[str, Any] = {RENAMED.get(k, k): v for k, v in kwargs.items()}
        for words in (kwargs, renamed):
            sample = _sample(op, reference, args, kwargs, words)
            if sample is not None:
                sample.text = f"{op.formatted_name}, {dtype}, sample {number}"
                yield sample
                break


def _sample(
    op: Any, reference: Any, args: tuple[Any, ...], kwargs: dict[str, Any], words: dict[str, Any]
) -> Sample | None:
    leaves, structure = _flat((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if _is_floating(leaf)]

    def filled(arrays: Any, convert: Callable[[Any], Any]) -> Any:
        values = [convert(leaf) for leaf in leaves]
        for place, array in zip(places, arrays, strict=True):
            values[place] = array
        return _nested(structure, iter(values))

    def function(*arrays: Any) -> list[Any]:
        given, named = filled(arrays, to_numpy)
        options = {w: named[k] for w, k in zip(words, kwargs, strict=True)}
        return _floating_parts(reference(*given, **options))

    def torch_function(*arrays: Any) -> list[Any]:
        given, named = filled(arrays, lambda leaf: leaf)
        return _floating_parts(op.op(*given, **named))

    arrays = [np.array(to_numpy(leaves[place])) for place in places]
    try:
        with np.errstate(all="ignore"):
            found = function(*arrays)
        wanted = [to_numpy(part) for part in torch_function(*(leaves[i] for i in places))]
    except Exception:
        return None  # the reference takes other words, or has no such option
    if not places or not found or len(found) != len(wanted):
        return None
    agree = all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)
        for a, b in zip(found, wanted, strict=True)
    )
    return Sample(op.name, "", arrays, function, torch_function) if agree else None


def _flat(value: Any) -> tuple[list[Any], Any]:
    if is_a(value, dict):
        leaves, structure = _flat(list(value.values()))
        return leaves, ("dict", list(value), structure)
    if is_a(value, list, tuple):
        parts = [_flat(part) for part in value]
        kind = "list" if is_a(value, list) else "tuple"
        return [leaf for leaves, _ in parts for leaf in leaves], (kind, [s for _, s in parts])
    return [value], None


def _nested(structure: Any, leaves: Iterator[Any]) -> Any:
    if structure is None:
        return next(leaves)
    if structure[0] == "dict":
        return dict(zip(structure[1], _nested(structure[2], leaves), strict=True))
    parts = [_nested(part, leaves) for part in structure[1]]
    return parts if structure[0] == "list" else tuple(parts)


def _is_floating(value: Any) -> bool:
    kind = str(getattr(value, "dtype", ""))
    return "float" in kind or "complex" in kind


def _floating_parts(out: Any) -> list[Any]:
    parts: list[Any] = [*out] if is_a(out, list, tuple) else [out]
    return [part for part in parts if _is_floating(part)]


# Checks -------------------------------------------------------------------------------------------


def inner(left: Any, right: Any) -> float:
    """The real inner product of two lists of arrays; what has no weight does not count."""
    total = 0.0
    for a, b in zip(left, right, strict=True):
        weight = np.asarray(a)
        total += float(np.sum(np.where(weight == 0, 0, (np.conj(weight) * b).real)))
    return total


def close(found: float, wanted: float, tolerance: float) -> bool:
    if not np.isfinite(wanted):
        return not np.isfinite(found)
    return abs(found - wanted) <= tolerance * max(1.0, abs(found), abs(wanted))


def directions(random: np.random.Generator, arrays: Any) -> list[Any]:
    made: list[Any] = []
    for array in arrays:
        values: Any = random.standard_normal(np.shape(array))
        if np.asarray(array).dtype.kind == "c":
            values = values + 1j * random.standard_normal(np.shape(array))
        made.append(np.asarray(values).astype(np.asarray(array).dtype))
    return made


def difference(f: Callable[..., Any], arrays: Any, along: Any, across: Any) -> float:
    """The derivative along directions of the arguments and the values, by differences."""

    def at(step: float) -> float:
        above = f(*(np.asarray(a + step * t) for a, t in zip(arrays, along, strict=True)))
        below = f(*(np.asarray(a - step * t) for a, t in zip(arrays, along, strict=True)))
        return inner(
            across, [np.asarray(a) - np.asarray(b) for a, b in zip(above, below, strict=True)]
        ) / (2 * step)

    return (4 * at(STEP) - at(2 * STEP)) / 3


class Examination:
    """One sample, with random directions."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.f = sample.function
        self.arrays = sample.arrays
        random = np.random.default_rng(7)
        self.value = [np.asarray(part) for part in self.f(*self.arrays)]
        self.along = self.allowed(directions(random, self.arrays))
        self.across = [
            np.where(np.isfinite(out), weight, 0)
            for out, weight in zip(self.value, directions(random, self.value), strict=True)
        ]
        self.numbers = tuple(range(len(self.arrays)))
        self.slope = difference(self.f, self.arrays, self.along, self.across)
        self.is_smooth = False

    def allowed(self, along: list[Any]) -> list[Any]:
        """Return directions in which the arguments of the operation can be moved."""
        if self.sample.op not in HERMITIAN:
            return along
        return [(t + np.conj(np.swapaxes(t, -1, -2))) / 2 for t in along]

    def loss(self, *arrays: Any) -> Any:
        """One number, of which the gradient is that along the direction of the value."""
        parts: Any = zip(self.f(*arrays), self.across, strict=True)
        each: list[Any] = [np.where(w == 0, 0, (np.conj(w) * out).real) for out, w in parts]
        return sum(part.sum() for part in each)

    def run(self, check: str) -> str:
        """Run a check: return what is wrong, or nothing."""
        method: Callable[[], str] = getattr(self, "_" + check.replace(" ", "_"))
        return method()

    def _value(self) -> str:
        out = gw.vjp(self.f, *self.arrays)[0]
        for found, wanted in zip(out, self.value, strict=True):
            if found.shape != wanted.shape or not np.allclose(
                found, wanted, rtol=1e-12, atol=1e-14, equal_nan=True
            ):
                return f"{found!r} for {wanted!r}"
        return ""

    def pulled(self, *arrays: Any) -> Any:
        """The gradient along the direction of the value."""
        pull = gw.vjp(self.f, *(arrays or self.arrays))[1]
        return pull([w if w.ndim else w[()] for w in self.across])

    def _reverse(self) -> str:
        return self._compared(inner(self.pulled(), self.along))

    def _forward(self) -> str:
        tangents = gw.jvp(self.f, tuple(self.arrays), tuple(self.along))[1]
        return self._compared(inner(self.across, tangents))

    def _compared(self, found: float) -> str:
        if close(found, self.slope, LOOSE):
            self.is_smooth = True
            return ""
        torchs = self._of_torch()
        return "" if close(found, torchs, TIGHT) else f"{found} for {self.slope}, PyTorch {torchs}"

    def _of_torch(self) -> float:
        torch: Any = import_module("torch")

        tensors = [torch.tensor(array, requires_grad=True) for array in self.sample.arrays]
        out = self.sample.torch_function(*tensors)
        across = [torch.tensor(w) for w in self.across]
        pairs = [(o, w) for o, w in zip(out, across, strict=True) if o.requires_grad]
        if not pairs:
            return 0.0
        slopes = torch.autograd.grad(
            [o for o, _ in pairs], tensors, [w for _, w in pairs], materialize_grads=True
        )
        return inner([to_numpy(s) for s in slopes], self.along)

    def _second_order(self) -> str:
        other = self.allowed(directions(np.random.default_rng(8), self.arrays))
        tangents = gw.jvp(self.pulled, tuple(self.arrays), tuple(other))[1]
        found = inner(tangents, self.along)
        wanted = difference(self.pulled, self.arrays, other, self.along)
        return "" if close(found, wanted, 10 * LOOSE) else f"{found} for {wanted}"

    def _vmap_of_grad(self) -> str:
        gradient = gw.grad(self.loss, self.numbers)
        wanted = gradient(*self.arrays)
        batch = [np.stack([array, array]) for array in self.arrays]
        found = gw.vmap(gradient, fallback="loop")(*batch)
        return self._same(found, [np.stack([w, w]) for w in wanted])

    def _engine_numpy(self) -> str:
        return self._by_engine("numpy")

    def _engine_c(self) -> str:
        return self._by_engine("c")

    def _by_engine(self, engine: str) -> str:
        gradient = gw.grad(self.loss, self.numbers)
        compiled = gw.compile(gradient, engine=engine)
        wanted = gradient(*self.arrays)
        for _ in range(2):
            words = self._same(compiled(*self.arrays), wanted)
            if words:
                return words
        return ""

    def _same(self, found: Any, wanted: Any) -> str:
        for one, other in zip(found, wanted, strict=True):
            if np.shape(one) != np.shape(other) or not np.allclose(
                one, other, rtol=TIGHT, atol=TIGHT, equal_nan=True
            ):
                return f"{one!r} for {other!r}"
        return ""


def examine(sample: Sample, checks: tuple[str, ...] = CHECKS) -> Result:
    """Run the checks of a sample."""
    result = Result(sample)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        examination = Examination(sample)
        for check in checks:
            if check == "second order" and not examination.is_smooth:
                continue
            try:
                words = examination.run(check)
            except gw.errors.GradwrapError as error:
                result.refused.append(f"{check}: {type(error).__name__}: {str(error)[:160]}")
            except Exception as error:  # whatever it is, it is a finding
                result.failed.append(f"{check}: {type(error).__name__}: {str(error)[:160]}")
            else:
                words = words.replace("\n", " ")[:160]
                (result.failed if words else result.passed).append(
                    f"{check}: {words}" if words else check
                )
    return result


EXPLAINED: dict[tuple[str, str], str] = {
    ("cat", "when computing elementwise type promotion"): (
        "for empty arrays alone, the reference asks a function of PyTorch's for the dtype, which "
        "knows arrays of NumPy only"
    ),
}
"""The failures that are known, by operation and words of the error, each with its reason."""


def reason_of(op: str, words: str) -> str:
    """Return why a failure is known, or nothing."""
    return next(
        (why for (known, part), why in EXPLAINED.items() if known == op and part in words), ""
    )


def unexplained(result: Result) -> list[str]:
    """The failures of a sample that are not explained."""
    return [
        f"{result.sample.text}: {words}"
        for words in result.failed
        if not reason_of(result.sample.op, words)
    ]


# The whole ----------------------------------------------------------------------------------------


def main() -> int:
    """Run everything, print what failed, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.opinfo", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="run one of so many samples")
    every: int = parser.parse_args().every
    counts: Counter[tuple[str, str]] = Counter()
    refusals: Counter[str] = Counter()
    names: set[str] = set()
    failed: list[str] = []
    number = seen = 0
    for op in op_db():
        for dtype in DTYPES:
            for sample in samples_of(op, dtype):
                seen += 1
                if seen % every:
                    continue
                result = examine(sample)
                names.add(op.name)
                if not number % 100:
                    print(f"{number} samples, {op.name}", file=sys.stderr)
                number += 1
                for verdict in ("passed", "refused", "failed"):
                    for words in getattr(result, verdict):
                        counts[words.partition(":")[0], verdict] += 1
                refusals.update(f"{op.name}, {words}" for words in result.refused)
                for words in unexplained(result):
                    failed.append(words)
                    print(words, flush=True)
    for words, count in refusals.most_common(40):
        print(f"refused {count} times: {words}")
    print(f"{number:,} samples of {len(names)} operations, {len(failed)} failed")
    PAGE.write_text(page(number, seen, every, len(names), counts), encoding="utf-8")
    return int(bool(failed))


def page(
    samples: int, of: int, every: int, operations: int, counts: Counter[tuple[str, str]]
) -> str:
    """The page of the counts: of `samples` samples, one of each `every` of all `of`."""
    torch: Any = import_module("torch")

    version = torch.__version__.partition("+")[0]
    rows = "\n".join(
        f"| {check} | {counts[check, 'passed']:,} | {counts[check, 'refused']:,} | "
        f"{counts[check, 'failed']:,} |"
        for check in CHECKS
    )
    reasons = "\n".join(f"- `{op}`: {why}." for (op, _), why in EXPLAINED.items())
    which = "All samples were" if every == 1 else f"Every {every}th sample was"
    today = dt.datetime.now(dt.UTC).date()
    share = f"{which} run:\n{samples:,} of {of:,}, of {operations} operations, on {today}."
    wrong = sum(counts[check, "failed"] for check in CHECKS)
    ending = "These failures are known:\n" if wrong else "No failures are left."
    return f"""# PyTorch's samples

PyTorch {version} ships a list of its operations with samples of their arguments (`op_db`),
and with functions of NumPy and SciPy that compute the same. gradwrap runs these functions
on the samples, in float64 and complex128, under every transform. {share}

| | right | refused | wrong |
| --- | ---: | ---: | ---: |
{rows}

A derivative is right if it agrees with differences of values, or, at a kink, with PyTorch's
derivative. The second derivative is taken where the first one agrees with differences. A refusal is
an error of gradwrap that says what to do, mostly since a reference makes a plain array of its
argument. {ending}
{reasons + chr(10) if wrong else ""}
`python -m tests.fuzz.opinfo` runs everything and writes this page, and `--every 8` runs every 8th
sample; the tests with the mark `peers` run fewer.
"""


if __name__ == "__main__":
    sys.exit(main())
