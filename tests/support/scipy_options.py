"""Every row of SciPy's table with every documented value of every option, alone and in pairs.

The options and their values are read from the signatures and the docs of SciPy's functions. A
value that SciPy refuses for a sample is left out. What is left is right in both modes, by
differences and by <w, J v> = <J^T w, v>, or refused by an error that says so.

    python tests/support/scipy_options.py [--pairs N] [--seed S] [words in the names of rows]
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "scipy"), str(Path(__file__).parent)]

import gradwrap as gw
from gradwrap.errors import GradwrapError, NoRuleError
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
"""The samples of each row, by its path: a function of random numbers."""

STEP = 1e-6
MISSING = "not given"


class Case(NamedTuple):
    """A sample of a row, with options."""

    row: Row
    sample: Sample
    options: dict[str, Any]

    @property
    def name(self) -> str:
        given = ",".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.row.path}-{given}"


def cases(words: list[str], path: str = "") -> Iterator[Case]:
    """Yield every row, or one, with every value of one option, at its first sample it takes."""
    for row in sorted(all_rows(), key=lambda row: row.path):
        if not isinstance(row.kind, Derived) or row.path not in SAMPLES:
            continue
        if path not in ("", row.path):
            continue
        if words and not any(word in row.path for word in words):
            continue
        samples: list[Sample] = SAMPLES[row.path](Random())
        for name, value in values_of(row):
            for sample in samples:
                case = Case(row, sample, {name: value})
                if is_taken(case):
                    yield case
                    break


def pairs(count: int, seed: int, words: list[str]) -> Iterator[Case]:
    """Yield random pairs of options of one row."""
    random = np.random.default_rng(seed)
    single = list(cases(words))
    of_row: dict[str, list[Case]] = {}
    for case in single:
        of_row.setdefault(case.row.path, []).append(case)
    rows: list[list[Case]] = [found for found in of_row.values() if len({*map(_option, found)}) > 1]
    while count > 0:
        found = rows[int(random.integers(len(rows)))]
        one, two = (found[int(random.integers(len(found)))] for _ in range(2))
        count -= 1
        if _option(one) == _option(two):
            continue
        case = Case(one.row, one.sample, one.options | two.options)
        if is_taken(case):
            yield case


def _option(case: Case) -> str:
    return next(iter(case.options))


def values_of(row: Row) -> Iterator[tuple[str, Any]]:
    """Yield the options of a function, each with each value that its docs name."""
    try:
        parameters = row.signature.parameters
    except (TypeError, ValueError):
        return
    documented = documented_values(inspect.getdoc(row.original) or "")
    for name, parameter in parameters.items():
        default = parameter.default
        if name in row.arrays or default is parameter.empty:
            continue
        known = documented.get(name, [])
        if isinstance(default, bool):
            known = [value for value in known if isinstance(value, bool)]
        if isinstance(default, float):
            known = [value for value in known if not isinstance(value, str)]
        is_choice = any(isinstance(value, int) for value in known)
        found = [*known, *([] if is_choice else _near(name, default))]
        seen: list[str] = [repr(default)]
        for value in found:
            if repr(value) not in seen:
                seen.append(repr(value))
                yield name, value


def _near(name: str, default: Any) -> list[Any]:
    """Values like a default, and the axes."""
    if isinstance(default, bool):
        return [not default]
    if "axis" in name or "axes" in name:
        return [0, 1, -1, None, (0, 1), (1, 0)]
    if isinstance(default, int):
        return [default + 1, default + 2, 0, 1, 3]
    if isinstance(default, float) and not name.endswith("tol"):
        return [default + 0.25]
    return []


def documented_values(doc: str) -> dict[str, list[Any]]:
    """The values in braces or quotes that a docstring names for each parameter."""
    found: dict[str, list[Any]] = {}
    names: list[str] = []
    doc = doc.partition("\nReturns\n")[0]
    for line in re.sub("[\u2018\u2019\u201c\u201d]", "'", doc).splitlines():
        head = re.match(r"^(\w+(?:, *\w+)*) *:(.*)$", line)
        if head:
            names = [name.strip() for name in head[1].split(",")]
            line = head[2]  # noqa: PLW2901  what it says of the parameter
        values: list[Any] = re.findall(r"['\"]([\w-]+)['\"]", line)
        for braces in re.findall(r"\{([^}]*)\}", line) if head else []:
            try:
                values += ast.literal_eval(f"[{braces}]")
            except (SyntaxError, ValueError):
                continue
        for name in names:
            found.setdefault(name, []).extend(values)
    return found


# One case -----------------------------------------------------------------------------------------


def is_float(x: Any) -> bool:
    return is_a(x, float) or (is_a(x, np.ndarray) and x.dtype.kind in "fc")


def total_of(case: Case, function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of the result with weights, as a function of the floating-point arguments."""
    row, sample, options = case

    def total(*values: Any) -> Any:
        args = list(sample.args)
        for place, value in zip(places_of(sample), values, strict=True):
            args[place] = value
        for place, name in enumerate(row.signature.parameters):
            if name in row.symmetric and place < len(args) and np.ndim(args[place]) > 1:
                args[place] = (args[place] + np.conj(np.swapaxes(args[place], -1, -2))) / 2
        if row.within is not None:
            args = list(row.within(*args))
        result = function(*args, **(sample.kwargs | options))
        result = result if sample.take is None else sample.take(result)
        parts = [part for path, part in float_parts(result) if not row.is_byproduct(path)]
        return sum((_weighted(part) for part in parts), 0.0)

    return total


def places_of(sample: Sample) -> list[int]:
    return [place for place, arg in enumerate(sample.args) if is_float(arg)]


def _weighted(part: Any) -> Any:
    weights = np.cos(1.0 + np.arange(np.size(part))).reshape(np.shape(part))
    is_finite = np.isfinite(gw.unwrap(part) if hasattr(part, "detach") else part)
    part = np.where(is_finite, part, 0.0)
    total = np.sum(np.real(part) * weights)
    return total + 0.7 * np.sum(np.imag(part) * weights) if np.iscomplexobj(part) else total


def is_taken(case: Case) -> bool:
    """Tell if SciPy takes the options for the sample, and gives floating-point numbers."""
    values = [case.sample.args[place] for place in places_of(case.sample)]
    bound = dict(zip(case.row.signature.parameters, case.sample.args, strict=False))
    if not values or set(bound) & set(case.options):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(np.isfinite(total_of(case, case.row.original)(*values)))
        except Exception:  # noqa: BLE001  whatever SciPy raises
            return False


def problem_of(case: Case) -> str | None:  # noqa: PLR0911  one for each problem
    """Say what is wrong with a case; None if it is right, or refused as it should be."""
    places = places_of(case.sample)
    values = [case.sample.args[place] for place in places]
    random = np.random.default_rng(1)
    directions = [_direction(random, value) for value in values]
    native, total = total_of(case, case.row.original), total_of(case, dispatcher(case.row.path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pushed = gw.jvp(lambda *v: total(*v) + 0.0 * np.real(np.sum(v[0])), values, directions)
            pulled = gw.grad(
                lambda *v: total(*v) + 0.0 * np.real(np.sum(v[0])), tuple(range(len(values)))
            )(*values)
        except NoRuleError as error:
            return None if "Fix:" in str(error) else f"refused without a remedy: {error}"
        except GradwrapError as error:
            return f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001  an unclear error is what is looked for
            return f"{type(error).__name__}: {error}"
        pairs: Any = zip(pulled, directions, strict=True)
        products: list[Any] = [np.conj(g) * t for g, t in pairs]
        inner = sum(product.real.sum() for product in products)
        if not np.isclose(pushed[1], inner, rtol=1e-6, atol=1e-8):
            return f"forward {pushed[1]}, reverse {inner}"
        slopes = [
            _slope(native, values, directions, *steps)
            for steps in ((STEP, STEP), (3 * STEP, 3 * STEP), (30 * STEP, 0.0), (0.0, 30 * STEP))
        ]
        scale = max(1.0, *map(abs, slopes), abs(float(native(*values))))
    if np.ptp(slopes) > 1e-3 * scale:
        return None  # no derivative there, or too rough for differences
    if abs(pushed[1] - slopes[0]) > 3e-4 * scale:
        return f"forward {pushed[1]}, by differences {slopes[0]}"
    return None


def _direction(random: Any, value: Any) -> Any:
    made = random.normal(size=np.shape(value))
    if np.iscomplexobj(value):
        made = made + 1j * random.normal(size=np.shape(value))
    return made[()] if isinstance(value, np.ndarray) else float(made)


def _slope(
    function: Any, values: list[Any], directions: list[Any], ahead: float, behind: float
) -> float:
    """The slope from so far behind to so far ahead."""
    one, other = (
        function(*(x + by * t for x, t in zip(values, directions, strict=True)))
        for by in (ahead, -behind)
    )
    return float((one - other) / (ahead + behind))


def main() -> int:
    """Try every option, and some pairs; print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    count = failed = 0
    found = (
        pairs(options.pairs, options.seed, options.words) if options.pairs else cases(options.words)
    )
    for case in found:
        count += 1
        problem = problem_of(case)
        if problem is not None:
            failed += 1
            sys.stdout.write(f"{case.name}: {problem}"[:300] + "\n")
    sys.stdout.write(f"{count} cases, {failed} failed\n")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
