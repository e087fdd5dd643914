"""`check_rule`: all checks of a user's rule in one call, reported as a table."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gradwrap.core.array.wrapping import wrap_namespace
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.library.backend import backend_of
from gradwrap.core.table.registry import find_op, search_function
from gradwrap.core.values.comparing import described
from gradwrap.core.values.tree import map_leaves
from gradwrap.errors import RuleDefinitionError
from gradwrap.testing.numerical import (
    MODES,
    FlatFunction,
    GradientMismatchError,
    Sample,
    checked_modes,
    on_host,
)
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.primitive import Primitive
from gradwrap.transforms.reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Found: TypeAlias = tuple[str, str, float, bool]
"""A value that was found, the one that was wanted, the relative error, and whether it is right."""

DIRECTIONS = 3
HEADINGS = ("check", "found", "wanted", "relative error", "")


class RuleMismatchError(GradientMismatchError):
    """A rule is wrong; the message is the table of all checks.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> twice = gw.primitive(lambda x: 2.0 * x)
    >>> gw.defvjp(twice, lambda xp, g: 3.0 * g)  # wrong
    >>> gw.testing.check_rule(twice, np.array(1.0))
    Traceback (most recent call last):
        ...
    gradwrap.testing.rules.RuleMismatchError: the rule of <lambda>: WRONG ...
    """


@dataclass(frozen=True)
class Row:
    """One check: the value found, and the value expected."""

    check: str
    found: str
    wanted: str
    error: float
    right: bool
    raised: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        error = "" if np.isnan(self.error) else f"{self.error:.0e}"
        return self.check, self.found, self.wanted, error, "ok" if self.right else "WRONG"


@dataclass
class RuleReport:
    """The result of `check_rule`; as text, a table with a verdict.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> report = gw.testing.check_rule(np.sin, np.array(0.5))
    >>> report.name, report.right
    ('sin', True)
    """

    name: str
    rows: list[Row] = field(default_factory=list[Row])

    @property
    def right(self) -> bool:
        """Tell if no check has failed."""
        return all(row.right for row in self.rows)

    def __str__(self) -> str:
        lines = [HEADINGS, *(row.cells for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        wrong = sum(not row.right for row in self.rows)
        verdict = "right" if not wrong else f"WRONG in {wrong} of {len(self.rows)} checks"
        raised: dict[str, list[str]] = {}
        for row in self.rows:
            if row.raised:
                raised.setdefault(row.raised, []).append(row.check)
        notes = [f"{', '.join(checks)}: {message}" for message, checks in raised.items()]
        return "\n".join([f"the rule of {self.name}: {verdict}", *table, *notes])

    __repr__ = __str__


def check_rule(
    op: Callable[..., Any] | str,
    *args: Any,
    order: int = 2,
    modes: Sequence[str] = MODES,
    rtol: float | None = None,
    **kwargs: Any,
) -> RuleReport:
    """Check the rule of an operation at some arguments, in every way in which it can be used.

    It compares with differences of values the first derivative by each mode and the second by
    every pairing of modes; the modes with each other; the value under a transform with the value
    outside. It checks that single precision is kept, and that an elementwise operation of several
    arrays may broadcast. Complex arguments are checked as complex ones.

    Parameters
    ----------
    op
        A `primitive`, a library's function that has been given a rule, a name of the standard, a
        `custom_vjp` or `custom_jvp` function, or any function of arrays.
    args, kwargs
        Arguments for it: NumPy arrays, or whatever it takes. It has to be differentiable
        around them. Floating-point arrays and numbers are differentiated, except where the rule
        has None in the place of a formula.
    order
        1 to omit the second derivative.
    modes
        `"fwd"` and `"rev"`; both by default.
    rtol
        The tolerance of the first derivative, relative to the larger value and to one: 1e-6, and
        5e-2 in single precision. That of the second is ten times as large.

    Returns
    -------
    RuleReport
        A `RuleReport`, whose text is a table.

    Raises
    ------
    RuleMismatchError
        A check has failed. The message is the table.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> @gw.primitive
    ... def cube(x):
    ...     return x**3
    >>> gw.defvjp(cube, lambda xp, g, x: g * 3 * x**2)
    >>> gw.testing.check_rule(cube, np.array([0.5, 2.0]))
    the rule of cube: right
    check            found      wanted     relative error
    value, fwd       0.125      0.125      0e+00           ok
    value, rev       0.125      0.125      0e+00           ok
    fwd              3.58563    3.58563    ...             ok
    rev              3.58563    3.58563    ...             ok
    fwd against rev  ...        ...        ...             ok
    fwd of fwd       -2.46373   -2.46373   ...             ok
    rev of fwd       -2.46373   -2.46373   ...             ok
    fwd of rev       1.04628    1.04628    ...             ok
    rev of rev       1.04628    1.04628    ...             ok
    float32, fwd     float32    float32                    ok
    float32, rev     float32    float32                    ok
    """
    modes = checked_modes(modes)
    function = _function(op)
    fixed = _without_formula(op, len(args))
    flat = FlatFunction(lambda *values: function(*values, **kwargs), args, "check_rule", fixed)
    name = op if isinstance(op, str) else name_of(op)
    examined = _Examination(flat, flat.arrays, modes, rtol)
    report = RuleReport(name, list(examined.rows(order)))
    if not report.right:
        raise RuleMismatchError(str(report))
    return report


def _without_formula(op: Any, count: int) -> list[int]:
    """Return the positions of the arguments without a formula in an operation's rule."""
    if isinstance(op, str):
        found = find_op(op)
    else:
        found = op.op if isinstance(op, Primitive) else search_function(op)
    rule = None if found is None else found.rule_for("numpy")
    if rule is None or rule.variadic:
        return []
    return [at for at in range(min(count, len(rule.arrays))) if rule.lacks(at)]


def _function(op: Any) -> Callable[..., Any]:
    """Return an operation as a function of native arrays and wrappers."""
    if not isinstance(op, str):
        return op  # type: ignore[no-any-return]  # any callable
    if find_op(op) is None:
        raise RuleDefinitionError(
            f"{op!r} is not a name of the table. Fix: pass the function itself, "
            "or a name of the standard such as 'sin' or 'linalg.inv'."
        )

    def named(*values: Any, **kwargs: Any) -> Any:
        wrapped = next((value for value in values if isinstance(value, AnyWrapper)), None)
        if wrapped is None:
            found: Any = wrap_namespace(backend_of(values[0]).xp)
        else:
            found = wrapped.__array_namespace__()
        for part in op.split("."):
            found = getattr(found, part)
        out = found(*values, **kwargs)
        return map_leaves(native, out) if wrapped is None else out

    return named


class _Examination:
    """The checks of one operation at one set of arguments."""

    def __init__(
        self,
        flat: FlatFunction,
        args: list[Any],
        modes: tuple[str, ...],
        rtol: float | None,
        seed: int = 0,
    ) -> None:
        self.flat = flat
        self.args = args
        self.modes = modes
        self.rtol = flat.tolerance(rtol)
        self.step = 1e-2 if flat.is_coarse else 1e-4
        random = np.random.default_rng(seed)
        self.samples = [Sample(flat, args, random) for _ in range(DIRECTIONS)]
        self.value = self.samples[0].value
        self.nested: dict[str, list[Sample]] = {}
        """The derivatives by each mode, as functions with directions of their own."""

    def rows(self, order: int) -> Iterator[Row]:
        """Return all checks, one after the other."""
        yield from self._by_mode("value, ", self._value)
        yield from self._by_mode("", self._slopes)
        if set(self.modes) == set(MODES):
            yield _guarded("fwd against rev", self._slopes, "fwd", "rev")
        if order > 1:
            for inside in self.modes:
                for outside in self.modes:
                    yield _guarded(f"{outside} of {inside}", self._slopes, outside, "", inside)
        single = [_single(array) for array in self.args]
        # an operation that does not take them has nothing to keep
        with contextlib.suppress(TypeError, ValueError):
            sample = Sample(self.flat, single, np.random.default_rng(0))
            yield from self._by_mode("float32, ", functools.partial(_kept, sample))
        if len(self.args) > 1 and self._is_elementwise():
            longer = [_doubled(self.args[0]), *self.args[1:]]
            other = _Examination(self.flat, longer, self.modes, self.rtol, seed=2)
            yield from other._by_mode("broadcasting, ", other._slopes)

    def _by_mode(self, what: str, examine: Callable[[str], Found]) -> Iterator[Row]:
        return (_guarded(f"{what}{mode}", examine, mode) for mode in self.modes)

    def _value(self, mode: str) -> Found:
        if mode == "fwd":
            out = jvp(self.flat, self.args, self.samples[0].along)[0]
        else:
            out = vjp(self.flat, *self.args)[0]
        pairs = list(zip(out, self.value, strict=True))
        for got, wanted in pairs:
            if got.shape != wanted.shape or got.dtype != wanted.dtype:
                return described(got), described(wanted), float("nan"), False
        worst = [_worst_elements(got, wanted) for got, wanted in pairs]
        return _compared(worst, 1e-6 if self.flat.is_coarse else 1e-12)

    def _slopes(self, mode: str, other: str = "", inside: str = "") -> Found:
        """Compare slopes by two modes, or by a mode and differences; `inside` nests a mode."""
        samples, rtol = self.samples, self.rtol
        if inside:
            if inside not in self.nested:
                random = np.random.default_rng(1)
                self.nested[inside] = [
                    Sample(s.derivative(inside), self.args, random) for s in samples
                ]
            samples, rtol = self.nested[inside], 10 * rtol
        wanted = (s.slope(other) if other else s.numerical_slope(self.step) for s in samples)
        return _compared([(s.slope(mode), w) for s, w in zip(samples, wanted, strict=True)], rtol)

    def _is_elementwise(self) -> bool:
        """Tell whether the function commutes with reordering elements and adding axes."""
        try:
            shape = np.broadcast_shapes(*(tuple(array.shape) for array in self.args))
        except ValueError:
            return False
        if any(tuple(part.shape) != shape for part in self.value):
            return False
        xp = backend_of(self.args[0]).xp
        lines = [xp.reshape(xp.broadcast_to(array, shape), (-1,)) for array in self.args]
        try:
            found = self.flat(*map(xp.flip, lines))
            found += self.flat(_doubled(self.args[0]), *self.args[1:])
        except (TypeError, ValueError, IndexError, RuntimeError):
            return False
        values = [on_host(part) for part in self.value]
        wanted = [part.reshape(-1)[::-1] for part in values] + [*map(_doubled, values)]
        pairs = zip(map(on_host, found), wanted, strict=True)
        return all(a.shape == b.shape and np.allclose(a, b) for a, b in pairs)


def _kept(sample: Sample, mode: str) -> Found:
    """Compare the dtypes of tangents with the values', or of gradients with the arguments'."""
    wanted = sample.value if mode == "fwd" else sample.args
    got, expected = (
        ", ".join(dict.fromkeys(str(part.dtype) for part in parts))
        for parts in (sample.derivative(mode)(), wanted)
    )
    return got, expected, float("nan"), got == expected


def _doubled(array: Any) -> Any:
    """Return an array twice, along a new first axis."""
    return backend_of(array).xp.stack([array, array])


def _single(array: Any) -> Any:
    """Return an array in single precision."""
    backend = backend_of(array)
    is_complex = backend.dtype_kind(array.dtype)[1]
    return backend.xp.astype(array, backend.xp.complex64 if is_complex else backend.xp.float32)


def _guarded(check: str, examine: Callable[..., Found], *details: Any) -> Row:
    """Make a row of a check; an exception becomes the row's result."""
    try:
        return Row(check, *examine(*details))
    except Exception as error:  # noqa: BLE001  whatever it is, it is what was found
        kind = type(error).__name__
        return Row(check, kind, "", float("nan"), right=False, raised=f"{kind}: {error}")


def _compared(values: Sequence[tuple[float, float]], rtol: float) -> Found:
    """Compare pairs of numbers, by the pair that agrees least."""
    errors = [abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in values]
    worst = int(np.argmax(errors))  # the first that is NaN, if one is
    found, wanted = values[worst]
    return f"{found:.6g}", f"{wanted:.6g}", errors[worst], errors[worst] <= rtol


def _worst_elements(found: Any, wanted: Any) -> tuple[float, float]:
    """Return the elements, or parts of complex ones, that agree least."""
    pair = [np.asarray(on_host(array), dtype=np.complex128) for array in (found, wanted)]
    got, expected = (np.ravel([array.real, array.imag]) for array in pair)
    if not expected.size:
        return 0.0, 0.0
    at = int(np.argmax(np.abs(got - expected)))  # the first that is NaN, if one is
    return float(got[at]), float(expected[at])
