"""Every row of SciPy's table, with its samples in other forms: what SciPy takes, gradwrap takes.

A form changes the arguments of a sample: stacks, layouts, dtypes, complex numbers, keywords, one
row, NaN. A form that SciPy refuses is left out. What is left has SciPy's value, dtype and shape,
tangents that agree with differences, cotangents that agree with tangents, and second derivatives,
batches and compiled functions that agree with these. Or it is refused by an error that says so.

    python tests/support/scipy_forms.py [--count N] [--seed S] [--checks ...] [words in the names]
"""

from __future__ import annotations

import argparse
import copy
import sys
import warnings
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "scipy"), str(Path(__file__).parent)]

import gradwrap as gw
from gradwrap.errors import DegeneracyWarning, GradwrapError
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.results import float_parts
from gradwrap.scipy.table import all_rows
from lambdas import is_a
from scipy_options import SAMPLES, STEP, is_float
from scipy_samples import Random

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gradwrap.scipy.table import Row
    from scipy_samples import Sample

    Arguments = tuple[tuple[Any, ...], dict[str, Any]]

CHECKS = ("second", "batch", "numpy", "c", "composed")
"""What is checked besides values and first derivatives; two are engines."""
SINGLE = ("float16", "float32", "complex64")
STATES = (np.random.Generator, np.random.RandomState)
LARGEST = 1e9
"""Where slopes are larger, rounding decides."""


def _stack(x: Any) -> Any:
    return np.stack([x, x * 1.0625 + (0 if np.ndim(x) == 2 else 0.03125)])


choose: Any = np.where  # of arguments of any type


def _numbers(x: Any) -> Any:
    """The place of each element."""
    return np.reshape(np.arange(np.size(x)), np.shape(x))


def _steps(x: Any) -> Any:
    return np.repeat(x, 2, axis=-1)[..., ::2]


def _first_axis_last(x: Any) -> Any:
    return np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0)


def _complex(x: Any) -> Any:
    return x + 0.25j * np.cos(_numbers(x))


def _with_nan(x: Any) -> Any:
    return choose(_numbers(x) == 1 % x.size, np.nan + 0 * x, x)


def _with_zeros(x: Any) -> Any:
    return choose(_numbers(x) % 3 == 0, 0 * x, x)


FORMS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda x: x,
    "float32": lambda x: x.astype(np.complex64 if np.iscomplexobj(x) else np.float32),
    "Fortran": np.asfortranarray,
    "steps": _steps,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "first axis last": _first_axis_last,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "complex": _complex,
    "stack": _stack,
    "stack of stacks": lambda x: _stack(_stack(x)),
    "stack of one": lambda x: x[None],
    "axis behind": lambda x: x[..., None],
    "batch behind": lambda x: np.moveaxis(_stack(x), 0, -1),
    "one row": lambda x: x[:1],
    "one column": lambda x: x[..., :1],
    "two rows": lambda x: x[:2],
    "no row": lambda x: x[:0],
    "no example": lambda x: _stack(x)[:0],
    "raveled": np.ravel,
    "transposed": lambda x: x.T,
    "stack of the same": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "large": lambda x: x * 1e3,
    "small": lambda x: x * 1e-3,
    "negative": lambda x: -x,
    "zeros": _with_zeros,
    "NaN": _with_nan,
}
"""How a form changes an array of a sample."""


class Case(NamedTuple):
    """A call of a row in one form."""

    row: Row
    sample: Sample
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def keys(self) -> list[int | str]:
        """The places and keywords of the arguments that are differentiated."""
        arrays = {*self.sample.tracked, *self.row.arrays}
        return [
            *(n for n, arg in enumerate(self.args) if is_float(arg)),
            *(key for key, arg in self.kwargs.items() if key in arrays and is_float(arg)),
        ]

    @property
    def ours(self) -> Any:
        """What takes the place of SciPy's function."""
        return dispatcher(self.row.path)

    @property
    def values(self) -> list[Any]:
        return [self.args[key] if isinstance(key, int) else self.kwargs[key] for key in self.keys]

    @property
    def is_blurred(self) -> bool:
        """Tell if zeros or NaN make NaN of derivatives, which everyone sees."""
        return "NaN" in self.name or "zeros" in self.name


def cases(words: Sequence[str] = (), path: str = "") -> Iterator[Case]:
    """Yield the samples of every row, or of one, in every form."""
    for row in sorted(all_rows(), key=lambda row: row.path):
        if row.path in SAMPLES and path in ("", row.path):
            for number, sample in enumerate(SAMPLES[row.path](Random())):
                for form, (args, kwargs) in _forms(row, sample):
                    case = Case(row, sample, f"{row.path}-{number}-{form}", args, kwargs)
                    if not words or any(word in case.name for word in words):
                        yield case


def _forms(row: Row, sample: Sample) -> Iterator[tuple[str, Arguments]]:
    args, kwargs = sample.args, sample.kwargs
    arrays = [n for n, arg in enumerate(args) if is_a(arg, np.ndarray) and is_float(arg)]

    def changed(form: str, places: Sequence[int] = tuple(arrays)) -> tuple[Any, ...]:
        return tuple(
            FORMS[form](arg) if n in places and np.ndim(arg) else arg for n, arg in enumerate(args)
        )

    for form in FORMS:
        yield form, (changed(form), kwargs)
        if len(arrays) > 1 and form != "as it is":
            yield from ((f"{form} of {n}", (changed(form, [n]), kwargs)) for n in arrays)
    for n in arrays if len(arrays) > 1 else ():
        lists = tuple(arg.tolist() if m in arrays and m != n else arg for m, arg in enumerate(args))
        yield f"lists beside {n}", (lists, kwargs)
    yield from _by_name(row, sample, changed)


def _by_name(
    row: Row, sample: Sample, changed: Callable[[str], tuple[Any, ...]]
) -> Iterator[tuple[str, Arguments]]:
    """Yield other spellings of a call, and other options of it."""
    args, kwargs = sample.args, sample.kwargs
    try:
        parameters = list(row.signature.parameters.values())
    except (TypeError, ValueError):
        return
    names = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    defaults = {one.name: one.default for one in parameters}
    given = dict(zip(names, args, strict=False)) | kwargs
    if len(names) >= len(args):
        for n in range(len(args)):
            named = dict(zip(names[n:], args[n:], strict=False))
            yield f"keywords from {n}", (args[:n], named | kwargs)
        used = names[: max((names.index(name) + 1 for name in given if name in names), default=0)]
        if {*given} <= {*used}:
            yield "by place", (tuple(given.get(name, defaults[name]) for name in used), {})
    for axis in {"axis", "axes"} & {*defaults} - {*given}:
        for value in (0, 1, -1, -2, None, (0, 1), (-1, 0), (0, 2)):
            for form in ("as it is", "stack", "stack of stacks"):
                for keeps in ({}, {"keepdims": True}) if "keepdims" in defaults else ({},):
                    words = {axis: value, **keeps}
                    yield f"{form}, {words}", (changed(form), kwargs | words)
    for policy in ("omit", "propagate") if "nan_policy" in defaults else ():
        yield f"NaN, {policy}", (changed("NaN"), kwargs | {"nan_policy": policy})


# One case -----------------------------------------------------------------------------------------


class Mismatch(Exception):  # noqa: N818  named for what it reports
    """gradwrap's result is not what it should be."""


class Untried(Exception):  # noqa: N818  not an error
    """There is nothing to compare with."""


def problem_of(case: Case, checks: Sequence[str] = CHECKS) -> str | None:
    """Say what is wrong with a case: None if nothing is; a refusal begins with "refused"."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DegeneracyWarning)  # it says that there is no derivative
        try:
            _Examination(case, checks).run()
        except Untried:
            return "untried"
        except Mismatch as problem:
            is_blurred = case.is_blurred and "nan" in str(problem)
            return "NaN" if warned or is_blurred else str(problem)
        except GradwrapError as error:
            return f"refused by {type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001  an unclear error is what is looked for
            if case.is_blurred and isinstance(error, np.linalg.LinAlgError):
                return "NaN"
            return f"{type(error).__name__}: {error}"
    return None


def parts_of(case: Case, function: Callable[..., Any]) -> Callable[..., list[Any]]:
    """The differentiable parts of the result, as a function of the floating-point arguments."""
    row, sample = case.row, case.sample
    try:
        names = list(row.signature.parameters)
    except (AttributeError, TypeError, ValueError):  # a ufunc, a method
        names = []

    def call(*values: Any) -> list[Any]:
        given: dict[Any, Any] = dict(enumerate(case.args)) | case.kwargs
        given |= dict(zip(case.keys, values, strict=True))
        for place, name in enumerate(names):
            key = place if place in given else name
            if name in row.symmetric and key in given and np.ndim(given[key]) > 1:
                given[key] = (given[key] + np.conj(np.swapaxes(given[key], -1, -2))) / 2
        args: Any = [given.pop(place) for place in range(len(case.args))]
        if row.within is not None and len(args) == len(sample.args):
            args = row.within(*args)
        args = [copy.deepcopy(one) if isinstance(one, STATES) else one for one in args]
        given = {k: copy.deepcopy(v) if isinstance(v, STATES) else v for k, v in given.items()}
        np.random.seed(0)  # noqa: NPY002  the same numbers at each call
        result = function(*args, **given)
        result = result if sample.take is None else sample.take(result)
        return [part for path, part in float_parts(result) if not row.is_byproduct(path)]

    return call


def _inner(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    """Re <x, y>, of the elements of y that are finite."""
    total = 0.0
    for x, y in zip(xs, ys, strict=True):
        data = gw.unwrap(y) if hasattr(y, "detach") else np.asarray(y)
        part = y if np.all(np.isfinite(data)) else np.where(np.isfinite(data), y, 0.0)
        total = total + np.sum(np.real(part) * np.real(x))
        if np.iscomplexobj(x):
            total = total + np.sum(np.imag(part) * np.imag(x))
    return total


def _direction(random: Any, x: Any) -> Any:
    made = random.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        made = made + 1j * random.normal(size=np.shape(x))
    return np.where(np.isfinite(x), made, 0.0).astype(np.asarray(x).dtype)[()]


def _facts(x: Any) -> tuple[Any, ...]:
    return np.shape(x), np.asarray(x).dtype.newbyteorder("=")


class _Examination:
    """The checks of one case."""

    def __init__(self, case: Case, checks: Sequence[str]) -> None:
        self.case, self.checks, self.values = case, checks, case.values
        self.native = parts_of(case, case.row.original)
        self.call = parts_of(case, case.ours)
        try:
            # a tracked number is one of NumPy's, and decides on the dtype of float32 beside it
            self.wanted = self.native(
                *(np.float64(x) if is_a(x, float) else x for x in self.values)
            )
        except Exception as error:
            raise Untried from error
        if not self.values or not any(
            np.any(np.isfinite(part)) or not np.size(part) for part in self.wanted
        ):
            raise Untried
        random = np.random.default_rng(1)
        self.directions = [_direction(random, x) for x in self.values]
        self.weights = [_direction(random, part) for part in self.wanted]
        dtypes = {str(_facts(x)[1]) for x in (*self.values, *self.wanted)}
        self.is_single = bool(dtypes & {*SINGLE})
        self.tolerance = 2e-2 if self.is_single else 1e-6
        self.of_values = 1e-9 if not self.is_single else 1e-2 if "float16" in dtypes else 1e-4
        self.argnums = tuple(range(len(self.values)))

    def total(self, *values: Any) -> Any:
        return _inner(self.weights, self.call(*values))

    def moved(self, by: float) -> list[Any]:
        pairs = zip(self.values, self.directions, strict=True)
        moved = [(x + by * t).astype(t.dtype) for x, t in pairs]
        both = zip(moved, self.values, strict=True)
        return [x.item() if is_a(old, float) else x for x, old in both]

    def slopes(self, function: Callable[[float], Any], step: float) -> tuple[float, bool]:
        """The slope at zero, and whether there is one."""
        ends = [(1, 1), (3, 3), (30, 0), (0, 30)]
        try:
            found: list[Any] = [
                (function(a * step) - function(-b * step)) / ((a + b) * step) for a, b in ends
            ]
        except Exception:  # noqa: BLE001  whatever SciPy raises beyond the arguments
            return np.nan, False
        if max(abs(one) for one in found) > LARGEST:
            raise Untried
        scale = max(1.0, *map(abs, found), abs(float(function(0.0))))
        self.scale = scale
        self.spread = float(np.ptp(found))  # so well do the differences know the slope
        return float(found[0]), self.spread < 1e-3 * scale

    def compare(self, what: str, one: Any, other: Any, tolerance: float) -> None:
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other))))
        if not np.allclose(one, other, rtol=0, atol=tolerance * scale, equal_nan=True):
            raise Mismatch(f"{what}: {np.ravel(one)[:6]}, not {np.ravel(other)[:6]}")

    def run(self) -> None:
        found, tangents = gw.jvp(self.call, self.values, self.directions)
        again, pull = gw.vjp(self.call, *self.values)
        if len(found) != len(self.wanted):
            raise Mismatch(f"{len(found)} parts, SciPy {len(self.wanted)}")
        for one, two, other in zip(found, again, self.wanted, strict=True):
            if _facts(one) != _facts(other) or _facts(two) != _facts(other):
                raise Mismatch(f"value is {_facts(one)}, SciPy's {_facts(other)}")
            self.compare("value", one, other, self.of_values)
            self.compare("value in reverse", two, other, self.of_values)
        forward = _inner(self.weights, tangents)
        slope, is_smooth = self.slopes(self.at, STEP)
        if is_smooth and not (
            abs(forward - slope) <= (3e-4 + self.tolerance) * self.scale + self.spread
        ):
            raise Mismatch(f"forward {forward}, by differences {slope}")
        masked: list[Any] = [np.where(np.isfinite(p), w, 0 * w)[()] for w, p in self.weighted()]
        gradients = pull(masked)
        for one, other in zip(gradients, self.values, strict=True):
            if _facts(one) != _facts(other):
                raise Mismatch(f"gradient is {_facts(one)}, the argument {_facts(other)}")
        if is_smooth and all(np.all(np.isfinite(one)) for one in gradients):
            self.compare("reverse", _inner(self.directions, gradients), forward, self.tolerance)
        if is_smooth and not self.is_single and not self.case.is_blurred:
            self.further()

    def weighted(self) -> Iterator[tuple[Any, Any]]:
        return zip(self.weights, self.wanted, strict=True)

    def at(self, by: float) -> float:
        if not self.is_single:
            return float(_inner(self.weights, self.native(*self.moved(by))))
        doubles = [
            np.asarray(x, complex if np.iscomplexobj(x) else float) + by * t
            for x, t in zip(self.values, self.directions, strict=True)
        ]
        return float(_inner(self.weights, self.native(*(x[()] for x in doubles))))

    def further(self) -> None:
        """Second derivatives, other transforms, batches, and compiled functions."""
        gradient = gw.grad(self.total, self.argnums)
        if "second" in self.checks and self.case.sample.upto > 1:
            self.second(gradient)
        if "composed" in self.checks and not any(map(np.iscomplexobj, self.values)):
            self.composed(gradient)
        engines = {*self.checks} & {"numpy", "c"}
        in_batches = "batch" in self.checks and not isinstance(self.values[0], float)
        if not in_batches and not engines:
            return
        near = self.moved(1e-3)
        wanted = [gradient(*self.values), gradient(*near)]
        if in_batches:
            stacks = [np.stack(pair) for pair in zip(self.values, near, strict=True)]
            found = gw.vmap(gradient, fallback="loop")(*stacks)
            for example in (0, 1):
                for one, other in zip(found, wanted[example], strict=True):
                    self.compare("batch", one[example], other, 1e-7)
        for engine in engines:
            compiled = gw.compile(gradient, engine=engine)
            for point, right in ((self.values, wanted[0]), (near, wanted[1])) * 2:
                for one, other in zip(compiled(*point), right, strict=True):
                    self.compare(f"compiled by {engine}", one, other, 1e-7)

    def second(self, gradient: Callable[..., Any]) -> None:
        """Second derivatives by two orders of the modes, and by differences."""
        along, total = self.directions, self.total
        slope, is_smooth = self.slopes(
            lambda by: _inner(along, gradient(*self.moved(by))), 10 * STEP
        )
        reverse = _inner(along, gw.jvp(gradient, self.values, along)[1])
        forward = gw.jvp(lambda *v: gw.jvp(total, v, along)[1], self.values, along)[1]
        self.compare("second, two orders of modes", forward, reverse, 1e-5)
        if is_smooth:
            self.compare("second", reverse, slope, 1e-3)

    def composed(self, gradient: Callable[..., Any]) -> None:
        """Jacobians and Hessians, and transforms inside `vmap` and around it."""
        along, values = self.directions, self.values

        def flat(*values: Any) -> Any:
            return np.concatenate([np.ravel(part) for part in self.call(*values)])

        def times_directions(blocks: Sequence[Any]) -> Any:
            return sum(np.tensordot(b, t, np.ndim(t)) for b, t in zip(blocks, along, strict=True))

        pushed = gw.jvp(flat, values, along)[1]
        for transform in (gw.jacrev, gw.jacfwd):
            if not any(map(np.iscomplexobj, self.wanted)):
                found = transform(flat, self.argnums)(*values)
                made = times_directions(found)
                self.compare(f"{transform.__name__}", made, pushed, 1e-7)
        if self.case.sample.upto > 1:
            turned = gw.jvp(gradient, values, along)[1]
            for row, other in zip(
                gw.hessian(self.total, self.argnums)(*values), turned, strict=True
            ):
                self.compare("hessian", times_directions(row), other, 1e-6)
        if any(isinstance(value, float) for value in values):
            return
        near = self.moved(1e-3)
        stacks = [np.stack(pair) for pair in zip(values, near, strict=True)]
        ways = [np.stack([t, 0.5 * t]) for t in along]
        slopes = [gw.jvp(self.total, values, along)[1], 0.5 * gw.jvp(self.total, near, along)[1]]
        pairs = zip(gradient(*values), gradient(*near), strict=True)
        wanted = [np.stack([one, -2.0 * other]) for one, other in pairs]
        batched = gw.vmap(self.total, fallback="loop")

        def slope(values: Any, along: Any) -> Any:
            return gw.jvp(self.total, values, along)[1]

        made = gw.vmap(slope, fallback="loop")(stacks, ways)
        self.compare("vmap of jvp", made, np.stack(slopes), 1e-7)
        made = gw.jvp(batched, stacks, ways)[1]
        self.compare("jvp of vmap", made, np.stack(slopes), 1e-7)
        found = gw.grad(lambda *v: np.dot(batched(*v), [1.0, -2.0]), self.argnums)(*stacks)
        for one, other in zip(found, wanted, strict=True):
            self.compare("grad of vmap", one, other, 1e-7)


def drawn(seed: int, words: Sequence[str] = (), path: str = "") -> Iterator[Case]:
    """Yield all cases, or those of a row, in a random order."""
    every = list(cases(words, path))
    for place in np.random.default_rng(seed).permutation(len(every)):
        yield every[place]


def main() -> int:
    """Try cases, and print what is wrong or refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checks", nargs="*", default=CHECKS[:2], choices=CHECKS)
    options = parser.parse_args()
    counts: dict[str, int] = {}
    for case in islice(drawn(options.seed, options.words), options.count):
        problem = problem_of(case, options.checks)
        kind = "right" if problem is None else problem.split()[0].rstrip(",:")
        counts[kind] = counts.get(kind, 0) + 1
        if problem is not None and kind not in ("untried", "NaN"):
            line = f"{case.name}: {problem}"[:300].replace("\n", " ")
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{counts}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
