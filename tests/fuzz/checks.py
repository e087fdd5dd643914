"""Run a program under gradwrap's transforms, and compare with NumPy."""

from __future__ import annotations

import functools
import re
import signal
import traceback
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.fuzz.reference import (
    Reference,
    Unreliable,
    differences,
    refer,
    shifted,
    slopes_of,
)
from tests.fuzz.values import NUMPY, is_array, is_differentiable, is_number, is_numpys, quiet

import gradwrap as gw
import gradwrap.numpy as drop_in
import gradwrap.scipy.linalg
from gradwrap.errors import DegeneracyWarning, GradwrapError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.fuzz.programs import Program

BY_FLAT = "Error setting single item of array."
"""NumPy's error for `a.flat[i] = v` on a plain array, which hides the error that `v` raises."""
SECONDS = 20
"""The time of the processor after which a program hangs."""


class Mismatch(Exception):  # noqa: N818  named for what it reports
    """gradwrap's result is not NumPy's."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True)
class Outcome:
    """What came of a program under a transform."""

    verdict: str
    """`right`, `refused`, `failed`, or `skipped`."""
    transform: str
    kind: str = ""
    detail: str = ""

    @property
    def signature(self) -> tuple[str, str]:
        """What tells this failure or refusal from others."""
        return self.kind, normal(self.detail)


def normal(text: str) -> str:
    """Return a message without its numbers and names."""
    text = re.sub(r"'?\b(Variable|Dual|Batched)\b'?", "a wrapper", text)
    text = re.sub(r"\b[axksvit]\d+\b", "a", text)
    text = re.sub(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", "#", text)
    text = re.sub(r"\([#, ]*\)|\[[#, ]*\]", "(#)", text)
    return text[:160]


# Comparisons ------------------------------------------------------------------------------------


def is_coarse(values: Sequence[Any]) -> bool:
    return any(is_numpys(v) and v.dtype in (np.float32, np.complex64) for v in values)


def compare_values(found: Any, expected: Any, name: str, tolerance: float) -> None:
    """Raise an error unless two results have one shape, dtype and value."""
    one, other = np.asarray(found), np.asarray(expected)
    if one.shape != other.shape:
        raise Mismatch("wrong shape", f"{name} is {one.shape}, NumPy's {other.shape}")
    if one.dtype != other.dtype:
        raise Mismatch("wrong dtype", f"{name} is {one.dtype}, NumPy's {other.dtype}")
    if one.dtype.kind not in "fciub":
        raise Mismatch("wrong dtype", f"{name} is {one.dtype}")
    scale = 1.0 + np.max(np.abs(other[np.isfinite(other)]), initial=0.0)
    if not np.allclose(one, other, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        raise Mismatch("wrong value", f"{name} is {one!r}, NumPy's {other!r}")


def compare_types(found: Any, expected: Any, name: str) -> None:
    """Raise an error unless both are NumPy scalars, or both arrays of one memory order."""
    if is_numpys(expected) and type(found) is not type(expected):
        raise Mismatch(
            "wrong type",
            f"{name} is a {type(found).__name__}, NumPy's a {type(expected).__name__}",
        )


def layout(value: Any) -> Any:
    """Return the strides along the axes that have more than one element, of an array or wrapper."""
    if not getattr(value, "shape", ()) or value.size == 0:
        return None
    return tuple(s if n > 1 else 0 for s, n in zip(value.strides, value.shape, strict=True))


def compare_slopes(found: Any, expected: Any, what: str, coarse: bool) -> None:
    """Raise an error unless a derivative is the numerical one."""
    one, other = np.asarray(found), np.asarray(expected)
    if one.shape != other.shape:
        raise Mismatch("wrong derivative's shape", f"{what} is {one.shape}, not {other.shape}")
    tolerance = 2e-2 if coarse else 2e-5
    scale = 1.0 + np.max(np.abs(other[np.isfinite(other)]), initial=0.0)
    is_both_nan = np.isnan(one) & np.isnan(other)  # an example of a batch may leave the domain
    if not np.all((np.abs(one - other) <= tolerance * scale) | is_both_nan):
        raise Mismatch("wrong derivative", f"{what} is {one!r}, numerically {other!r}")


# A run ------------------------------------------------------------------------------------------


class Run:
    """A program on gradwrap, with what NumPy says of it."""

    def __init__(self, program: Program, reference: Reference) -> None:
        self.program = program
        self.reference = reference
        namespace = {
            **NUMPY,
            "np": drop_in if program.drop_in else np,
            "sl": gradwrap.scipy.linalg,
            "checkpoint": gw.checkpoint,
        }
        self.function = program.compiled(namespace)
        self.args = program.values()
        self.numbers = tuple(i for i, arg in enumerate(self.args) if is_differentiable(arg))
        self.directions = [reference.directions[i] for i in self.numbers]
        self.before = [np.array(a) for a in self.args]
        self.coarse = is_coarse([*self.args, *reference.values])
        if re.search(r"float32|complex64", program.source):
            self.coarse = True
        self.places = [i for i, v in enumerate(reference.values) if is_differentiable(v)]
        self.layouts: list[Any] = []

    def recorded(self, *args: Any) -> Any:
        """Run the function, and note the layout that its results have inside."""
        values = self.function(*args)
        self.layouts = [layout(value) for value in values]
        return values

    def by_floats(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the arguments that have a derivative alone."""

        def called(*floats: Any) -> Any:
            args = list(self.args)
            for i, value in zip(self.numbers, floats, strict=True):
                args[i] = value
            return function(*args)

        return called

    @property
    def floats(self) -> list[Any]:
        """The arguments that have a derivative."""
        return [self.args[i] for i in self.numbers]

    @functools.cached_property
    def cotangents(self) -> list[Any]:
        """A cotangent for each result that has a derivative."""
        random = np.random.default_rng(self.program.seed + 1)
        made: list[Any] = []
        for i in self.places:
            like = np.asarray(self.reference.values[i])
            weight = random.uniform(-1.0, 1.0, like.shape)
            if like.dtype.kind == "c":
                weight = weight + 1j * random.uniform(-1.0, 1.0, like.shape)
            made.append(weight.astype(like.dtype))
        return made

    def loss(self, *args: Any) -> Any:
        """Return a number made of all results."""
        values = self.function(*args)
        terms: list[Any] = [0.0]
        for i, weight in zip(self.places, self.cotangents, strict=True):
            product: Any = values[i] * np.conj(weight)
            real: Any = np.real(product) if np.iscomplexobj(weight) else product
            terms.append(np.sum(real))
        return sum(terms)

    # what it should be

    def slope(self) -> float:
        """Return the derivative of the loss along the directions."""
        pairs = zip(self.cotangents, (self.reference.slopes[i] for i in self.places), strict=True)
        return float(sum(np.sum((np.conj(w) * s).real) for w, s in pairs))

    def total(self) -> float:
        """Return the loss on NumPy."""
        pairs = zip(self.cotangents, (self.reference.values[i] for i in self.places), strict=True)
        return float(sum(np.sum((np.conj(w) * v).real) for w, v in pairs))

    # comparisons

    def check_gradients(self, gradients: Sequence[Any], expected: float, scale: float) -> None:
        for i, gradient in zip(self.numbers, gradients, strict=True):
            one, other = np.asarray(gradient), np.asarray(self.args[i])
            if one.shape != other.shape or one.dtype != other.dtype:
                raise Mismatch(
                    "wrong gradient's type",
                    f"of x{i}: {one.dtype}{one.shape}, not {other.dtype}{other.shape}",
                )
        found = sum(
            np.sum((np.conj(np.asarray(g)) * d).real)
            for g, d in zip(gradients, self.directions, strict=True)
        )
        tolerance = (2e-2 if self.coarse else 2e-5) * (1.0 + scale)
        if not abs(found - expected) <= tolerance:
            raise Mismatch(
                "wrong gradient", f"{found!r} along a direction, numerically {expected!r}"
            )

    def scale(self) -> float:
        """Return the size of the terms that the derivative of the loss is a sum of."""
        return float(
            sum(
                np.sum(np.abs(w * self.reference.slopes[i]))
                for w, i in zip(self.cotangents, self.places, strict=True)
            )
        )

    def check_values(self, values: Sequence[Any]) -> None:
        tolerance = 1e-4 if self.coarse else 1e-9
        for name, found, expected in zip(
            self.program.results, values, self.reference.values, strict=True
        ):
            if not is_numpys(expected):  # a Python number
                if not np.allclose(found, expected, rtol=tolerance):
                    raise Mismatch("wrong value", f"{name} is {found!r}, NumPy's {expected!r}")
                continue
            compare_values(found, expected, name, tolerance)
            compare_types(found, expected, name)

    def check_layouts(self) -> None:
        for name, found, value in zip(
            self.program.results, self.layouts, self.reference.values, strict=True
        ):
            if found is not None and found != layout(value):
                raise Mismatch("wrong strides", f"{name} has {found}, NumPy's {layout(value)}")

    def check_untouched(self) -> None:
        for i, (arg, before) in enumerate(zip(self.args, self.before, strict=True)):
            if not np.array_equal(arg, before):
                raise Mismatch("user's array changed", f"x{i}")


# The transforms ---------------------------------------------------------------------------------


def by_vjp(run: Run) -> None:
    values, pull = gw.vjp(run.by_floats(run.recorded), *run.floats)
    run.check_untouched()
    run.check_values(values)
    run.check_layouts()
    cotangents: list[Any] = [
        None if isinstance(value, (bool, int)) else np.zeros_like(value) for value in values
    ]
    for i, weight in zip(run.places, run.cotangents, strict=True):
        is_scalar = not is_array(values[i])
        cotangents[i] = weight[()] if is_scalar else weight
    gradients = pull(tuple(cotangents))
    run.check_gradients(gradients, run.slope(), run.scale())
    run.check_untouched()


def by_jvp(run: Run) -> None:
    values, slopes = gw.jvp(run.recorded, tuple(run.args), tuple(run.reference.directions))
    run.check_untouched()
    run.check_values(values)
    run.check_layouts()
    check_tangents(run, slopes)


def check_tangents(run: Run, slopes: Sequence[Any]) -> None:
    for i in run.places:
        if slopes[i] is None and is_number(run.reference.values[i]):
            continue  # a number of Python's
        compare_slopes(
            slopes[i], run.reference.slopes[i], f"{run.program.results[i]}'s tangent", run.coarse
        )


def by_linearize(run: Run) -> None:
    values, push = gw.linearize(run.by_floats(run.function), *run.floats)
    run.check_values(values)
    check_tangents(run, push(*run.directions))


def by_value_and_grad(run: Run) -> None:
    value, gradients = gw.value_and_grad(run.loss, run.numbers)(*run.args)
    compare_loss(run, value)
    run.check_gradients(gradients, run.slope(), run.scale())
    run.check_untouched()


def compare_loss(run: Run, value: Any) -> None:
    expected = run.total()
    size = 1.0 + sum(float(np.sum(np.abs(run.reference.values[i]))) for i in run.places)
    if not abs(value - expected) <= (1e-4 if run.coarse else 1e-9) * size:
        raise Mismatch("wrong value", f"the loss is {value!r}, NumPy's {expected!r}")


def leaves_of(run: Run) -> tuple[list[Any], list[Any]]:
    """Return leaves, and arguments that may be written to, as a leaf may not."""
    leaves: list[Any] = [gw.wrap(run.args[i], requires_grad=True) for i in run.numbers]
    args = list(run.args)
    for i, leaf in zip(run.numbers, leaves, strict=True):
        args[i] = copied(leaf)
    return leaves, args


def copied(array: Any) -> Any:
    """Return a copy that lies in memory as the array does, also where that is in reverse order."""
    turned = tuple(slice(None, None, -1 if s < 0 else 1) for s in array.strides)
    return array[turned].copy("K")[turned] if turned else array.copy("K")


def only_in_double(run: Run) -> None:
    """Leave out the second derivatives of programs that differences cannot tell."""
    if run.coarse or any(np.iscomplexobj(a) for a in run.args):
        raise Unreliable


def by_create_graph(run: Run) -> None:
    only_in_double(run)
    leaves, args = leaves_of(run)
    loss: Any = run.loss(*args)
    if not gw.wrap(loss).requires_grad:
        return
    found = gw.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
    pairs = zip(found, run.directions, strict=True)
    terms: list[Any] = [np.sum(g * d) for g, d in pairs if g is not None]
    total: Any = gw.wrap(np.zeros(())) + sum(terms)
    second: Any = [None for _ in leaves]
    if total.requires_grad:
        second = gw.autograd.grad(total, leaves, allow_unused=True)
    check_second(
        run, [np.zeros(a.shape) if g is None else g for g, a in zip(second, leaves, strict=True)]
    )


def by_tape(run: Run) -> None:
    leaves, args = leaves_of(run)
    loss: Any = run.loss(*args)
    compare_loss(run, gw.unwrap(loss))
    gradients = [np.zeros(a.shape, a.dtype) for a in leaves]
    if gw.wrap(loss).requires_grad:
        loss.backward()
        gradients = [
            zero if leaf.grad is None else leaf.grad
            for leaf, zero in zip(leaves, gradients, strict=True)
        ]
    run.check_gradients(gradients, run.slope(), run.scale())
    run.check_untouched()


def by_checkpoint(run: Run) -> None:
    whole = gw.checkpoint(run.loss)
    value, gradients = gw.value_and_grad(whole, run.numbers)(*run.args)
    compare_loss(run, value)
    run.check_gradients(gradients, run.slope(), run.scale())


def by_closure(run: Run) -> None:
    """Differentiate by the first argument; the function closes over the others, plain arrays."""
    if run.reference.error is None:
        directions = [run.reference.directions[0], *(None for _ in run.args[1:])]
        slopes = slopes_of(run.program, directions, run.reference.values)
        run = Run(run.program, replace(run.reference, directions=directions, slopes=slopes))
    run.numbers, run.directions = (0,), run.reference.directions[:1]
    first, *others = run.args
    value, gradient = gw.value_and_grad(lambda x: run.loss(x, *others))(first)
    compare_loss(run, value)
    run.check_gradients([gradient], run.slope(), run.scale())


def by_written(run: Run) -> None:
    """Write to the results of `vjp`, and to the arguments, before the gradient is pulled back."""
    values, pull = gw.vjp(run.by_floats(run.function), *run.floats)
    cotangents: list[Any] = [
        None if isinstance(value, (bool, int)) else np.zeros_like(value) for value in values
    ]
    for i, weight in zip(run.places, run.cotangents, strict=True):
        cotangents[i] = weight if is_array(values[i]) else weight[()]
    for array in (*values, *run.args):
        if is_differentiable(array) and is_array(array) and array.flags.writeable:
            array[...] = 0.37
    gradients = pull(tuple(cotangents))
    run.check_gradients(gradients, run.slope(), run.scale())


def contracted(run: Run, jacobians: Any) -> None:
    """Compare a tuple of Jacobians for each result with the slopes."""
    for i in run.places:
        found: Any = 0.0
        for jacobian, direction in zip(jacobians[i], run.directions, strict=True):
            found = found + np.tensordot(jacobian, direction, np.ndim(direction))
        compare_slopes(
            found, run.reference.slopes[i], f"{run.program.results[i]}'s Jacobian", run.coarse
        )


def only_real(run: Run) -> None:
    """Leave out programs with complex numbers or integers among arguments or results."""
    values = run.reference.values
    if any(np.iscomplexobj(v) for v in (*run.args, *values)) or len(run.places) < len(values):
        raise Unreliable


def by_jacrev(run: Run) -> None:
    only_real(run)
    contracted(run, gw.jacrev(run.function, run.numbers)(*run.args))


def by_jacfwd(run: Run) -> None:
    only_real(run)
    contracted(run, gw.jacfwd(run.function, run.numbers)(*run.args))


def second_slopes(run: Run) -> list[Any]:
    """Return the differences of gradwrap's own gradients, which have been checked."""
    gradient = gw.grad(run.loss, run.numbers)

    def at(step: float) -> list[Any]:
        args = [
            shifted(a, d, step)
            for a, d in zip(run.program.values(), run.reference.directions, strict=True)
        ]
        return [np.asarray(g) for g in gradient(*args)]

    return differences(at)


def check_second(run: Run, found: Sequence[Any]) -> None:
    for i, one, other in zip(run.numbers, found, second_slopes(run), strict=True):
        compare_slopes(one, other, f"the second derivative by x{i}", run.coarse)


def by_hvp(run: Run) -> None:
    only_in_double(run)
    check_second(run, gw.hvp(run.by_floats(run.loss), tuple(run.floats), tuple(run.directions)))


def by_grad_of_grad(run: Run) -> None:
    only_in_double(run)

    def along(*args: Any) -> Any:
        gradients = gw.grad(run.loss, run.numbers)(*args)
        pairs = zip(gradients, run.directions, strict=True)
        return sum((np.sum(g * d) for g, d in pairs), 0.0)

    check_second(run, gw.grad(along, run.numbers)(*run.args))


ORDERS: tuple[Callable[[Any], Any], ...] = (
    lambda batch: batch,
    lambda batch: batch,
    np.asfortranarray,
    lambda batch: np.repeat(batch, 2, axis=-1)[..., ::2],
    lambda batch: batch[..., ::-1].copy()[..., ::-1],
    lambda batch: batch[::-1].copy()[::-1],
)
"""The layouts of a batch."""


def examples(run: Run) -> tuple[list[list[Any]], list[Any], tuple[Any, ...]]:
    """Return three examples, the batches of their arguments, and the batches' axes."""
    random = np.random.default_rng(run.program.seed + 2)
    rows: list[list[Any]] = [[], [], []]
    batches: list[Any] = []
    axes: list[Any] = []
    for i, arg in enumerate(run.args):
        like = np.asarray(arg)
        axis = int(random.integers(-like.ndim - 1, like.ndim + 1))
        if i and random.random() < 0.3:
            batches.append(arg)
            axes.append(None)
            for row in rows:
                row.append(arg)
            continue
        steps = (0, 1, 1) if i in run.numbers else (0, 0, 0)
        each = [
            (like + step * random.uniform(-0.2, 0.2, like.shape)).astype(like.dtype)
            for step in steps
        ]
        batch = ORDERS[int(random.integers(len(ORDERS)))](np.stack(each, axis=axis))
        batches.append(batch)
        axes.append(axis)
        # examples that do not lie one behind the other are dense copies
        parts = np.moveaxis(batch, axis, 0)
        steps_of = [abs(int(s)) for s, n in zip(parts.strides, parts.shape, strict=True) if n > 1]
        is_apart = steps_of[0] == max(steps_of)
        for row, value in zip(rows, parts, strict=True):
            dense = value if is_apart or not like.ndim else value.copy("K")
            row.append(dense if like.ndim else value)
    return rows, batches, tuple(axes)


def on_examples(run: Run, rows: Sequence[Sequence[Any]]) -> list[Any]:
    """Return NumPy's results for each example.

    An example of an array of numbers is a number, as it is when the array is iterated over. A
    program whose results then have other shapes, or that fails, is left out.
    """
    plain = run.program.compiled(NUMPY)
    shapes = [np.shape(value) for value in run.reference.values]
    found: list[Any] = []
    for row in rows:
        args = [laid_out_as(value) if is_array(value) else value for value in row]
        try:
            results = plain(*args)
        except Exception:
            raise Unreliable from None
        if [np.shape(value) for value in results] != shapes:
            raise Unreliable
        found.append(results)
    return found


def laid_out_as(array: Any) -> Any:
    """Return a copy with the strides of an array of NumPy's."""
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    if not array.size:
        return array.copy("K")
    low, high = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
    memory = np.zeros(high - low + array.itemsize, np.uint8)
    made: Any = np.ndarray(array.shape, array.dtype, memory, -low, array.strides)
    made[...] = array
    return made


def by_vmap(run: Run) -> None:
    rows, batches, axes = examples(run)
    wanted = on_examples(run, rows)
    kept = [np.array(batch) for batch in batches]
    names = run.program.results
    columns = list(zip(*wanted, strict=True))
    out = run.program.seed % 2 - 1
    found = gw.vmap(run.function, in_axes=axes, out_axes=out, fallback="loop")(*batches)
    for name, one, column in zip(names, found, columns, strict=True):
        expected = np.stack([np.asarray(v) for v in column], axis=out)
        compare_values(one, expected, name, 1e-4 if run.coarse else 1e-9)
    for i, (batch, before) in enumerate(zip(batches, kept, strict=True)):
        if not np.array_equal(batch, before):
            raise Mismatch("user's array changed", f"x{i}")


def by_vmap_of_grad(run: Run) -> None:
    rows, batches, axes = examples(run)
    gradient = gw.grad(run.loss, run.numbers)
    on_examples(run, rows)
    wanted = [gradient(*row) for row in rows]
    found = gw.vmap(gradient, in_axes=axes, fallback="loop")(*batches)
    for i, one, column in zip(run.numbers, found, zip(*wanted, strict=True), strict=True):
        compare_slopes(one, np.stack(column), f"the gradients by x{i}", run.coarse)


def by_grad_of_vmap(run: Run) -> None:
    rows, batches, axes = examples(run)
    gradient = gw.grad(run.loss, run.numbers)
    on_examples(run, rows)
    wanted = [gradient(*row) for row in rows]
    mapped = gw.vmap(run.loss, in_axes=axes, fallback="loop")
    found = gw.grad(lambda *args: np.sum(mapped(*args)), run.numbers)(*batches)
    for i, one, column in zip(run.numbers, found, zip(*wanted, strict=True), strict=True):
        axis = axes[i]
        expected = sum(column) if axis is None else np.stack(column, axis=axis)
        compare_slopes(one, expected, f"the gradient by x{i} of a batch", run.coarse)


def by_strong_zeros(run: Run) -> None:
    """Compare the same as in another transform: strong zeros change nothing that is finite."""
    others = (by_vjp, by_tape, by_value_and_grad, by_checkpoint, by_closure, by_vmap_of_grad)
    with gw.strong_zeros():
        others[run.program.seed % len(others)](run)


TRANSFORMS: dict[str, Callable[[Run], None]] = {
    "vjp": by_vjp,
    "jvp": by_jvp,
    "linearize": by_linearize,
    "value_and_grad": by_value_and_grad,
    "tape": by_tape,
    "checkpoint": by_checkpoint,
    "jacrev": by_jacrev,
    "jacfwd": by_jacfwd,
    "hvp": by_hvp,
    "grad_of_grad": by_grad_of_grad,
    "vmap": by_vmap,
    "vmap_of_grad": by_vmap_of_grad,
    "grad_of_vmap": by_grad_of_vmap,
    "create_graph": by_create_graph,
    "closure": by_closure,
    "written": by_written,
    "strong_zeros": by_strong_zeros,
}


# Outcomes ---------------------------------------------------------------------------------------


class Hanging(BaseException):
    """A program has not ended in time."""


def _stop(number: int, frame: object) -> None:
    raise Hanging


def judge(program: Program, reference: Reference | None = None) -> list[Outcome]:
    """Run a program under its transforms, and say what came of each."""
    previous = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    outcomes: list[Outcome] = []
    name = program.transforms[0]
    try:
        try:
            reference = reference or refer(program)
        except Unreliable:
            return [Outcome("skipped", "reference", "kink")]
        for name in program.transforms:
            outcomes.append(_outcome(program, reference, name))
    except Hanging:
        return [Outcome("failed", name, "hangs", f"after {SECONDS} s")]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
    return outcomes


def _outcome(program: Program, reference: Reference, transform: str) -> Outcome:
    with quiet(), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", DegeneracyWarning)
        outcome = _outcome_of(program, reference, transform)
    if heard and outcome.kind in SLOPES and "nan" in outcome.detail:
        return Outcome("refused", transform, "NaN with a warning", str(heard[0].message))
    return outcome


def _outcome_of(program: Program, reference: Reference, transform: str) -> Outcome:
    try:
        TRANSFORMS[transform](Run(program, reference))
    except Unreliable:
        return Outcome("skipped", transform, "kink")
    except Mismatch as mismatch:
        if is_numpys_own(program, reference, mismatch):
            return Outcome("skipped", transform, "NumPy's")
        return Outcome("failed", transform, mismatch.kind, mismatch.detail)
    except Exception as error:
        return _of_error(error, reference, transform)
    if reference.error is not None:
        return Outcome("failed", transform, "no error", f"NumPy raises {told(reference.error)}")
    return Outcome("right", transform)


SLOPES = ("wrong gradient", "wrong derivative")


BY_MASK = re.compile(r"\[[^\]\n]*[<>][^\]\n]*\] [-+*/]?= ")
"""A store to the elements that a mask selects."""
BY_MASK_AND_VALUE = re.compile(rf"({BY_MASK.pattern})([^\n]+)")
"""Such a store, and what is stored."""


def is_numpys_own(program: Program, reference: Reference, mismatch: Mismatch) -> bool:
    """Tell if a difference is one of rounding errors, or of an order of writing."""
    if mismatch.kind in SLOPES and "std(" in program.source and is_noise(program, reference):
        return True
    by_mask = BY_MASK.search(program.source) is not None
    return by_mask and overwrites_what_it_reads(program, reference)


def overwrites_what_it_reads(program: Program, reference: Reference) -> bool:
    """Tell if NumPy's results depend on where the arguments lie in memory.

    A store by a mask, of a part of the array itself, reads what it has just written if the array is
    not in one piece, and the content from before if it is. gradwrap does the latter in all cases.
    """
    body = tuple(BY_MASK_AND_VALUE.sub(r"\1np.copy(\2)", line) for line in program.body)
    args = [np.array(a, order="C") if is_array(a) else a for a in program.values()]
    with quiet():
        variants = [
            program.compiled(NUMPY)(*args),
            replace(program, body=body).compiled(NUMPY)(*program.values()),
        ]
    return any(
        is_numpys(one) and not np.allclose(one, other, equal_nan=True)
        for values in variants
        for one, other in zip(values, reference.values, strict=True)
    )


def is_noise(program: Program, reference: Reference) -> bool:
    """Tell if tangents change with the last digits of the arguments.

    The deviation of equal numbers is what rounding leaves of 0, and its derivative is a quotient of
    two such numbers. Differences do not show that: all of the numbers move together.
    """
    found: list[list[Any]] = []
    for step in (0.0, 1e-9, -1e-9, 3e-9, -3e-9):
        run = Run(program, reference)
        args = [shifted(a, d, step) for a, d in zip(run.args, reference.directions, strict=True)]
        with quiet():
            slopes = gw.jvp(run.function, tuple(args), tuple(reference.directions))[1]
        found.append([np.asarray(slopes[i]) for i in run.places if slopes[i] is not None])
    return any(
        not np.allclose(one, other, rtol=1e-6, atol=1e-6, equal_nan=True)
        for slopes in found[1:]
        for one, other in zip(found[0], slopes, strict=True)
    )


def _of_error(error: Exception, reference: Reference, transform: str) -> Outcome:
    if reference.error is not None and is_of_class(error, reference.error):
        return Outcome("right", transform)
    # where NumPy's C code raises an error of its own, ours is its cause or a note
    parts = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
    if isinstance(error.__cause__, GradwrapError):
        parts.append(str(error.__cause__))
    message = "\n".join(parts)
    if "Fix:" in message or BY_FLAT in message:
        return Outcome("refused", transform, type(error).__name__, message)
    kind = "no remedy" if isinstance(error, GradwrapError) else "unclear error"
    return Outcome("failed", transform, kind, told(error))


def is_of_class(error: Exception, expected: Exception) -> bool:
    """Tell if an error is of the built-in class that NumPy's derives from."""
    classes = type(expected).__mro__
    builtin = next(cls for cls in classes if cls.__module__ == "builtins")
    return isinstance(error, builtin)


def told(error: Exception) -> str:
    """Return an error with the place in gradwrap, or in the program, that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        frame for frame in frames if "gradwrap" in frame.filename and "tests" not in frame.filename
    ]
    place = f" ({ours[-1].filename.rpartition('gradwrap/')[2]}: {ours[-1].name})" if ours else ""
    return f"{type(error).__name__}: {error}{place}"
