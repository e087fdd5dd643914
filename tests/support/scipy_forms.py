"""Every row of SciPy's table with its samples in other forms: what SciPy takes, gradwrap takes.

A form changes the arguments of a sample: stacks, layouts, dtypes, complex numbers, lists, keywords,
one element, NaN. A form that SciPy refuses is left out. What is left has SciPy's value, dtype and
shape; tangents that agree with differences; cotangents that agree with tangents; a second
derivative, batches and compiled functions that agree with the first. Or it is refused by an error
that says so.

    python tests/support/scipy_forms.py [--every N] [--checks ...] [words in the names of cases]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "scipy"), str(Path(__file__).parent)]

import gradwrap as gw
from gradwrap.errors import GradwrapError
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Derived
from gradwrap.scipy.results import float_parts
from gradwrap.scipy.table import all_rows
from lambdas import is_a
from scipy_samples import Random

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradwrap.scipy.table import Row
    from scipy_samples import Sample

SAMPLES: Any = import_module("samples").SAMPLES
STEP = 1e-6
CHECKS = ("value", "forward", "reverse", "second", "batch", "compiled")


class Case(NamedTuple):
    """A call of a row, in one form."""

    row: Row
    sample: Sample
    form: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    number: int

    @property
    def name(self) -> str:
        return f"{self.row.path}-{self.number}-{self.form}"

    @property
    def places(self) -> list[int | str]:
        """The arguments that are differentiated: places, and names of keywords."""
        keys: list[int | str] = [n for n, arg in enumerate(self.args) if is_float(arg)]
        return keys + [n for n in self.keywords if is_float(self.kwargs[n])]

    @property
    def keywords(self) -> list[str]:
        names = self.row.signature.parameters if self.form == "keywords" else ()
        return [n for n in self.kwargs if n in self.sample.tracked or (n in names and n in self.row.arrays)]

    @property
    def values(self) -> list[Any]:
        return [self.args[k] if isinstance(k, int) else self.kwargs[k] for k in self.places]


def is_float(x: Any) -> bool:
    return is_a(x, float) or (is_a(x, np.ndarray) and x.dtype.kind in "fc")


# Forms ---------------------------------------------------------------------------------------------


def _stack(x: Any) -> Any:
    return np.stack([x, x * 1.0625 + (0 if np.ndim(x) == 2 else 0.03125)])


def _steps(x: Any) -> Any:
    return np.repeat(x, 2, axis=-1)[..., ::2] if np.ndim(x) else x


def _middle(x: Any) -> Any:
    return np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0) if np.ndim(x) > 1 else x


def _complex(x: Any) -> Any:
    return x + 0.25j * np.cos(np.arange(np.size(x))).reshape(np.shape(x))


def _with_nan(x: Any) -> Any:
    x = x.copy()
    x.flat[1 % x.size] = np.nan
    return x


EACH: dict[str, Callable[[Any], Any]] = {
    "as is": lambda x: x,
    "float32": lambda x: x.astype(np.complex64 if np.iscomplexobj(x) else np.float32),
    "Fortran": np.asfortranarray,
    "steps": _steps,
    "backwards": lambda x: x[::-1].copy()[::-1] if np.ndim(x) else x,
    "middle": _middle,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "complex": _complex,
    "stack": _stack,
    "stack of stacks": lambda x: _stack(_stack(x)),
    "stack of one": lambda x: x[None],
    "axis behind": lambda x: x[..., None],
    "batch behind": lambda x: np.moveaxis(_stack(x), 0, -1),
    "one row": lambda x: x[:1] if np.ndim(x) else x,
    "one column": lambda x: x[..., :1] if np.ndim(x) else x,
    "two rows": lambda x: x[:2] if np.ndim(x) else x,
    "no row": lambda x: x[:0] if np.ndim(x) else x,
    "no example": lambda x: _stack(x)[:0],
    "raveled": np.ravel,
    "transposed": lambda x: x.T,
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape) if np.ndim(x) else x,
    "large": lambda x: x * 1e3,
    "small": lambda x: x * 1e-3,
    "negative": lambda x: -x,
    "zeros": lambda x: np.where(np.arange(x.size).reshape(x.shape) % 3 == 0, 0 * x, x),
    "NaN": _with_nan,
    "infinite": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 1, np.inf + 0 * x, x),
}
WITHOUT_SECOND = ("float32", "NaN", "infinite", "big-endian")


def cases(words: list[str]) -> Iterator[Case]:
    """Yield every row's samples in every form that SciPy takes."""
    for row in sorted(all_rows(), key=lambda row: row.path):
        if row.path not in SAMPLES:
            continue
        for number, sample in enumerate(SAMPLES[row.path](Random())):
            for form, args, kwargs in _forms(row, sample):
                case = Case(row, sample, form, args, kwargs, number)
                if words and not any(word in case.name for word in words):
                    continue
                yield case


def _forms(row: Row, sample: Sample) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    args, kwargs = sample.args, sample.kwargs
    arrays = [n for n, arg in enumerate(args) if is_a(arg, np.ndarray) and is_float(arg)]

    def changed(places: Any, form: str) -> tuple[Any, ...]:
        return tuple(EACH[form](a) if n in places else a for n, a in enumerate(args))

    for form in EACH:
        if form != "as is" and not arrays:
            continue
        yield form, changed(arrays, form), kwargs
        for some in combinations(arrays, 1) if len(arrays) > 1 and form != "as is" else ():
            yield f"{form} of {some[0]}", changed(some, form), kwargs
    try:
        parameters = list(row.signature.parameters.values())
    except (TypeError, ValueError):
        return
    names = [p.name for p in parameters]
    if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters[: len(args)]) and len(args) <= len(parameters):
        words = dict(zip(names, args, strict=False)) | kwargs
        for n in range(len(args)):
            yield f"keywords from {n}", args[:n], dict(list(zip(names, args, strict=False))[n:]) | kwargs
        last = max((names.index(n) for n in kwargs if n in names), default=-1)
        if last >= len(args) and all(
            p.kind is p.POSITIONAL_OR_KEYWORD and (p.name in words or p.default is not p.empty)
            for p in parameters[: last + 1]
        ) and set(kwargs) <= set(names):
            placed = tuple(words.get(p.name, p.default) for p in parameters[: last + 1])
            yield "places", placed, {}
    for axis in ("axis", "axes"):
        if axis in names and axis not in kwargs and names.index(axis) >= len(args):
            for value in (0, 1, -1, -2, None, (0, 1), (-1, 0), (0, 2)):
                for form in ("as is", "stack", "stack of stacks"):
                    more: list[dict[str, Any]] = [{}]
                    if "keepdims" in names:
                        more.append({"keepdims": True})
                    for extra in more:
                        yield f"{axis}={value} {form} {extra or ''}", changed(arrays, form), {**kwargs, axis: value, **extra}
    if "nan_policy" in names:
        for policy in ("omit", "propagate", "raise"):
            for form in ("NaN", "as is"):
                yield f"nan_policy={policy} {form}", changed(arrays, form), {**kwargs, "nan_policy": policy}
    for n in arrays:
        if len(arrays) > 1:
            yield f"lists beside {n}", tuple(a.tolist() if m in arrays and m != n else a for m, a in enumerate(args)), kwargs
    if arrays:
        yield "lists of scalars", tuple(a if n in arrays else a for n, a in enumerate(args)), kwargs
        yield "ints beside 0", tuple(np.round(a * 4).astype(int) if n in arrays[1:] and not np.iscomplexobj(a) else a for n, a in enumerate(args)), kwargs


# One case ------------------------------------------------------------------------------------------


def parts_of(case: Case, function: Callable[..., Any]) -> Callable[..., list[Any]]:
    """The differentiable parts of the result, as a function of the floating-point arguments."""
    row, sample = case.row, case.sample
    try:
        names = list(row.signature.parameters)
    except (TypeError, ValueError):
        names = []

    def call(*values: Any) -> list[Any]:
        args, kwargs = list(case.args), dict(case.kwargs)
        for key, value in zip(case.places, values, strict=True):
            if isinstance(key, int):
                args[key] = value
            else:
                kwargs[key] = value
        for place, name in enumerate(names):
            if name in row.symmetric:
                if place < len(args) and np.ndim(args[place]) > 1:
                    args[place] = (args[place] + np.conj(np.swapaxes(args[place], -1, -2))) / 2
                elif name in kwargs and np.ndim(kwargs[name]) > 1:
                    kwargs[name] = (kwargs[name] + np.conj(np.swapaxes(kwargs[name], -1, -2))) / 2
        if row.within is not None and len(args) >= len(sample.args):
            args = list(row.within(*args))
        if case.form == "lists of scalars":
            args = [a if np.ndim(a) == 0 or not (is_float(a) or hasattr(a, "_meta") or not isinstance(a, (list, tuple))) else _listed(a) for a in args]
        result = function(*args, **kwargs)
        result = result if sample.take is None else sample.take(result)
        return [part for path, part in float_parts(result) if not row.is_byproduct(path)]

    return call


def _listed(x: Any) -> Any:
    if not hasattr(x, "shape"):
        return x
    return [_listed(one) for one in x] if np.ndim(x) else x


def total_of(call: Callable[..., list[Any]], weights: list[Any]) -> Callable[..., Any]:
    def total(*values: Any) -> Any:
        return sum((_real(w, part) for w, part in zip(weights, call(*values), strict=True)), 0.0)

    return total


def _real(w: Any, part: Any) -> Any:
    """Re <w, part>, without the elements that are not finite."""
    native = gw.unwrap(part) if hasattr(part, "detach") else part
    part = np.where(np.isfinite(native), part, 0.0) if not np.all(np.isfinite(native)) else part
    found = np.sum(np.real(part) * np.real(w))
    return found + np.sum(np.imag(part) * np.imag(w)) if np.iscomplexobj(part) else found


def _random(random: Any, x: Any) -> Any:
    made = random.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        made = made + 1j * random.normal(size=np.shape(x))
    finite = np.isfinite(x)
    return np.where(finite, made, 0.0).astype(np.asarray(x).dtype)[()]


def _moved(values: Any, directions: Any, by: float) -> list[Any]:
    moved = [x + by * t if np.size(x) else x for x, t in zip(values, directions, strict=True)]
    return [float(m) if isinstance(x, float) and not isinstance(x, np.floating) else m for m, x in zip(moved, values)]


def _dot(xs: Any, ys: Any) -> float:
    return float(sum(np.sum((np.conj(x) * y).real) for x, y in zip(xs, ys, strict=True)))


class Problem(Exception):  # noqa: N818
    pass


def problem_of(case: Case, checks: Any = CHECKS) -> str | None:
    """Say what is wrong with a case; None if right, "refused", "left out", or a problem."""
    if not case.places:
        return "left out"
    native_call, call = parts_of(case, case.row.original), parts_of(case, dispatcher(case.row.path))
    values = case.values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            wanted = native_call(*values)
        except Exception:
            return "left out"
        if not wanted:
            return "left out"
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        try:
            return _examined(case, native_call, call, values, wanted, checks)
        except Problem as problem:
            if "nan" in str(problem) and case.form.startswith(("NaN", "infinite", "zeros", "nan_policy")):
                return "NaN"
            return str(problem)
        except GradwrapError as error:
            return f"refused {type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001
            return f"unclear {type(error).__name__}: {error}"


def _examined(case, native_call, call, values, wanted, checks) -> str | None:
    random = np.random.default_rng(1)
    directions = [_random(random, x) for x in values]
    weights = [_random(random, np.where(np.isfinite(part), part, 1.0)) for part in wanted]
    single = any(np.asarray(p).dtype.itemsize // (1 + np.iscomplexobj(p)) == 4 for p in [*wanted, *values])
    total, native = total_of(call, weights), total_of(native_call, weights)
    # value
    found, pushed = gw.jvp(call, values, directions)
    if len(found) != len(wanted):
        raise Problem(f"value: {len(found)} parts, SciPy {len(wanted)}")
    for one, other in zip(found, wanted, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape or one.dtype != other.dtype:
            raise Problem(f"value: {one.dtype}{one.shape}, SciPy {other.dtype}{other.shape}")
        if not np.array_equal(one, other, equal_nan=True):
            if not np.allclose(one, other, rtol=1e-9 if not single else 1e-4, atol=1e-11 if not single else 1e-5, equal_nan=True):
                raise Problem(f"value: {one} SciPy {other}")
            raise Problem("value: other bits")
    back, pull = gw.vjp(call, *values)
    for one, other in zip(back, wanted, strict=True):
        if not np.array_equal(one, other, equal_nan=True):
            raise Problem(f"value in reverse: {one} SciPy {other}")
    for t, p in zip(pushed, wanted, strict=True):
        if np.shape(t) != np.shape(p):
            raise Problem(f"tangent's shape {np.shape(t)} of {np.shape(p)}")
    # forward
    finite = [np.isfinite(p) for p in wanted]
    masked = [np.where(ok, w, 0) for ok, w in zip(finite, weights, strict=True)]
    slope = _dot(masked, [np.where(ok, t, 0) for ok, t in zip(finite, pushed, strict=True)])
    tol = 1e-6 if not single else 2e-2
    rough = False
    if single:
        doubles = [np.asarray(x, complex if np.iscomplexobj(x) else float)[()] for x in values]
        native64 = native
        try:
            slopes = [_slope(native64, doubles, directions, s, b) for s, b in ((STEP, STEP), (30 * STEP, 0.0), (0.0, 30 * STEP))]
        except Exception:  # changes with dtype
            slopes = [np.nan]
    else:
        try:
            slopes = [_slope(native, values, directions, s, b) for s, b in ((STEP, STEP), (3 * STEP, 3 * STEP), (30 * STEP, 0.0), (0.0, 30 * STEP))]
        except Exception:
            slopes = [np.nan]
    if max(map(abs, slopes)) > 1e9:
        return "left out"
    scale = max(1.0 if not case.form.startswith("small") else 0.0, *map(abs, slopes), abs(float(native(*values))))
    rough = not np.all(np.isfinite(slopes)) or np.ptp(slopes) > 1e-3 * scale
    if not rough and not abs(slope - slopes[0]) <= (3e-4 if not single else 2e-2) * scale:
        raise Problem(f"forward {slope}, by differences {slopes[0]}")
    # reverse
    cotangents = [w if np.shape(w) else np.asarray(w)[()] for w in masked]
    pulled = pull([c.astype(np.asarray(p).dtype)[()] for c, p in zip(cotangents, wanted, strict=True)])
    for g, x in zip(pulled, values, strict=True):
        if np.shape(g) != np.shape(x):
            raise Problem(f"gradient's shape {np.shape(g)} of {np.shape(x)}")
        if np.asarray(g).dtype.kind != np.asarray(x).dtype.kind or np.asarray(g).dtype.itemsize != np.asarray(x).dtype.itemsize:
            raise Problem(f"gradient's dtype {np.asarray(g).dtype} of {np.asarray(x).dtype}")
    inner = _dot([np.where(np.isfinite(x), g, 0) for g, x in zip(pulled, values)], directions)
    if not np.isclose(slope, inner, rtol=tol, atol=(1e-8 if not single else 2e-2) * max(1.0, scale if np.isfinite(scale) else 1.0), equal_nan=True):
        if not (rough and not np.isfinite(slope)):
            raise Problem(f"reverse {inner}, forward {slope}")
    if single or rough or any(not np.all(np.isfinite(x)) for x in values):
        second = False
    else:
        second = case.sample.upto >= 2 and not case.form.startswith(WITHOUT_SECOND)
    argnums = tuple(range(len(values)))
    gradient = gw.grad(total, argnums)
    if "second" in checks and second:
        _, hvp = gw.jvp(gradient, values, directions)
        around = [_dot([*gradient(*_moved(values, directions, by))], directions) for by in (1e-5, -1e-5, 3e-5, -3e-5)]
        by_differences = (around[0] - around[1]) / 2e-5
        other = (around[2] - around[3]) / 6e-5
        found2 = _dot(hvp, directions)
        s2 = max(1.0, abs(by_differences), scale)
        if abs(by_differences - other) < 1e-4 * s2 and not abs(found2 - by_differences) < 1e-3 * s2:
            raise Problem(f"second {found2}, by differences {by_differences}")
        pushed_twice = gw.jvp(lambda *v: gw.jvp(total, v, directions)[1], values, directions)[1]
        if abs(by_differences - other) < 1e-4 * s2 and not abs(pushed_twice - by_differences) < 1e-3 * s2:
            raise Problem(f"forward of forward {pushed_twice}, by differences {by_differences}")
    if "batch" in checks:
        moved = _moved(values, directions, 1e-3)
        try:
            loop = [gradient(*values), gradient(*moved)]
        except Exception:
            loop = None
        if loop is not None and [np.shape(p) for p in native_call(*moved)] == [np.shape(p) for p in wanted]:
            stacked = [np.stack([np.asarray(x), np.asarray(y)]) for x, y in zip(values, moved, strict=True)]
            for fallback in ("error", "loop"):
                try:
                    batch = gw.vmap(gradient, fallback=fallback) (*stacked) if fallback == "loop" else gw.vmap(gradient)(*stacked)
                except GradwrapError:
                    if fallback == "loop":
                        raise
                    continue
                for k, got in enumerate(batch):
                    for e in (0, 1):
                        if not np.allclose(got[e], loop[e][k], rtol=1e-6 if not single else 1e-2, atol=(1e-8 if not single else 1e-3) * max(1.0, float(np.nanmax(np.abs(loop[e][k]), initial=0))), equal_nan=True):
                            raise Problem(f"batch ({fallback}) {np.asarray(got[e]).ravel()[:4]}, loop {np.asarray(loop[e][k]).ravel()[:4]}")
                break
    if "compiled" in checks:
        eager = gradient(*values)
        for engine in ("numpy", "c")[: 1 + ("c" in checks)]:
            compiled = gw.compile(gradient, engine=engine)
            moved = _moved(values, directions, 1e-3)
            for point in (values, moved, values):
                e, c = gradient(*point), compiled(*point)
                for one, other in zip(c, e, strict=True):
                    if np.shape(one) != np.shape(other) or not np.allclose(one, other, rtol=1e-6 if not single else 1e-2, atol=(1e-8 if not single else 1e-3) * max(1.0, float(np.nanmax(np.abs(other), initial=0))), equal_nan=True):
                        raise Problem(f"compiled by {engine} {np.ravel(one)[:4]}, eager {np.ravel(other)[:4]}")
    return None


def _slope(function: Any, values: Any, directions: Any, ahead: float, behind: float) -> float:
    one = function(*_moved(values, directions, ahead))
    other = function(*_moved(values, directions, -behind))
    return float((one - other) / (ahead + behind))


def main() -> int:
    """Try the forms; print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--checks", default=",".join(CHECKS))
    options = parser.parse_args()
    counts: dict[str, int] = {}
    every = list(cases(options.words))
    order = np.random.default_rng(options.seed).permutation(len(every)) if options.seed else range(len(every))
    for n, case in enumerate(every[k] for k in order):
        if n and n % 1000 == 0:
            sys.stdout.write(f"# {n} {counts}\n")
            sys.stdout.flush()
        if n % options.every != options.first:
            continue
        problem = problem_of(case, options.checks.split(","))
        kind = "right" if problem is None else problem.split()[0].rstrip(":")
        counts[kind] = counts.get(kind, 0) + 1
        if problem is not None and kind not in ("left", "NaN"):
            sys.stdout.write(f"{case.name}: {problem}"[:260].replace("\n", " ") + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{counts}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
