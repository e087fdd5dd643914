"""Every row of SciPy's table, at its samples: made from the table, none written by hand."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.scipy.calls import SciPyCall
from gradwrap.scipy.dispatching import Composed
from gradwrap.scipy.doors import dispatcher
from gradwrap.scipy.kinds import Formula
from gradwrap.scipy.results import float_parts, part_at
from gradwrap.scipy.table import Row, all_rows
from samples import SAMPLES
from scipy_samples import Random

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy_samples import Sample

ROWS = sorted(all_rows(), key=lambda row: row.path)


def is_tracked(arg: Any) -> bool:
    return isinstance(arg, float) or (isinstance(arg, np.ndarray) and arg.dtype.kind in "fc")


SLOW = {
    *(f"linalg.{name}m" for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")),
    *("linalg.fractional_matrix_power", "optimize.differential_evolution"),
}
"""Rows whose second derivatives by differences take more than a second."""


def is_slow(row: Row) -> bool:
    """Tell if the README's sample leaves out a row: one in six has its derivatives there."""
    return row.path in SLOW or zlib.crc32(row.path.encode()) % 6 > 0


def samples(*, few: bool = False) -> list[Any]:
    return [
        pytest.param(
            *(row, sample),
            id=f"{row.path}-{index}",
            marks=[pytest.mark.slow] if few and is_slow(row) else [],
        )
        for row in ROWS
        if row.path in SAMPLES
        for index, sample in enumerate(SAMPLES[row.path](Random()))
    ]


def function_of(row: Row, sample: Sample) -> Callable[..., list[Any]]:
    """The dispatcher as a function of the sample's arguments, to what has a derivative."""

    def function(*args: Any) -> list[Any]:
        # SciPy takes array scalars for numbers, not arrays without axes
        changed = [arg[()] if isinstance(arg, np.ndarray) else arg for arg in args]
        for place, name in enumerate(row.signature.parameters):
            if name in row.symmetric and place < len(changed) and np.ndim(changed[place]):
                changed[place] = (changed[place] + np.conj(changed[place].T)) / 2
        if row.within is not None:
            changed = list(row.within(*changed))
        words = dict(zip(sample.tracked, changed[len(sample.args) :], strict=True))
        changed = changed[: len(sample.args)]
        result = dispatcher(row.path)(*changed, **(sample.kwargs | words))
        if sample.take is not None:
            result = sample.take(result)
        return [
            part
            for path, part in float_parts(result)
            if not any(key in row.byproducts for key in path)
        ]

    return function


# SciPy's tolerance is not for single precision, in which the rules are tried as well
@pytest.mark.filterwarnings("ignore:logm result may be inaccurate:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")  # in lsmr
@pytest.mark.parametrize(("row", "sample"), samples(few=True))
def test_derivative_is_that_of_differences(row: Row, sample: Sample) -> None:
    gw.testing.check_rule(
        function_of(row, sample),
        *sample.args,
        *(sample.kwargs[name] for name in sample.tracked),
        order=sample.upto,
        rtol=sample.accuracy,
    )


@pytest.mark.parametrize(("row", "sample"), samples())
def test_value_is_scipys_bit_for_bit(row: Row, sample: Sample) -> None:
    def function(*args: Any) -> list[Any]:
        result = dispatcher(row.path)(*args, **sample.kwargs)
        result = result if sample.take is None else sample.take(result)
        return [part for _, part in float_parts(result)]

    wanted = row.original(*sample.args, **sample.kwargs)
    wanted = wanted if sample.take is None else sample.take(wanted)
    parts = [part for _, part in float_parts(wanted)]
    tracked = [place for place, arg in enumerate(sample.args) if is_tracked(arg)]

    def of_tracked(*values: Any) -> list[Any]:
        args = list(sample.args)
        for place, value in zip(tracked, values, strict=True):
            args[place] = value
        return function(*args)

    found, _ = gw.vjp(of_tracked, *(sample.args[place] for place in tracked))

    assert len(found) == len(parts)
    for one, other in zip(found, parts, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize(
    ("row", "sample"),
    [p for p in samples() if type(p.values[0].kind) is Formula],
)
def test_value_of_a_formula_is_scipys_to_rounding(row: Row, sample: Sample) -> None:
    call = SciPyCall(row, row.kind, sample.args, sample.kwargs)  # type: ignore[arg-type]  # of the kinds of formulas
    outs = call.values(call.leaves)

    made = row.kind.evaluate(call, call.leaves, outs)  # type: ignore[attr-defined]  # of the kinds of formulas

    for place, (path, out) in enumerate(zip(call.out_paths, outs, strict=True)):
        if place not in call.byproducts and part_at(made, path) is not None:
            np.testing.assert_allclose(
                part_at(made, path), out, rtol=sample.accuracy or 1e-9, atol=1e-11
            )


@pytest.mark.parametrize(
    ("row", "sample"),
    [
        p
        for p in samples()
        if p.id.endswith("-0")
        and any(map(is_tracked, p.values[1].args))
        and not isinstance(p.values[0].kind, Composed)
    ],
)
def test_batch_of_gradients_is_that_of_a_loop(row: Row, sample: Sample) -> None:
    function = function_of(row, sample)
    place = next(place for place, arg in enumerate(sample.args) if is_tracked(arg))

    def total(x: Any) -> Any:
        args = [*sample.args[:place], x, *sample.args[place + 1 :]]
        return sum(np.sum(np.real(part) ** 2) for part in function(*args))

    x = np.asarray(sample.args[place])
    batch = np.stack([x, x + 1e-3 * np.cos(np.arange(x.size)).reshape(x.shape)])

    found = gw.vmap(gw.grad(total), fallback="loop")(batch)

    wanted = np.stack([gw.grad(total)(one) for one in batch])
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("row", "sample"), [p for p in samples() if sum(map(is_tracked, p.values[1].args)) > 1]
)
def test_gradient_of_one_argument_is_the_same_with_the_rest_plain(row: Row, sample: Sample) -> None:
    function = function_of(row, sample)
    extra = [sample.kwargs[name] for name in sample.tracked]
    args = [*sample.args, *extra]
    tracked = [place for place, arg in enumerate(sample.args) if is_tracked(arg)]

    def total(places: list[int], values: tuple[Any, ...]) -> Any:
        full = list(args)
        for place, value in zip(places, values, strict=True):
            full[place] = value
        parts = function(*full)
        return sum(np.sum(np.real(part) ** 2 + np.imag(part) ** 2) for part in parts)

    together = gw.grad(lambda *values: total(tracked, values), tuple(range(len(tracked))))(
        *(args[place] for place in tracked)
    )
    for place, wanted in zip(tracked, together, strict=True):
        found = gw.grad(lambda value, place=place: total([place], (value,)))(args[place])

        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)


def windowed(x: Any, factor: float) -> Any:
    """Resample with a window that adapted code has made, and which is not tracked."""
    window = np.hanning(1501)
    window[720:750] *= factor
    return dispatcher("signal.resample_poly")(x, 3, 2, window=gw.wrap(window))


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_wrapped_option_of_a_linear_function_is_a_constant(factor: float) -> None:
    x, t = np.cos(np.arange(24.0)), np.sin(np.arange(24.0))
    weights = np.arange(36.0)

    tangent = gw.jvp(lambda x: windowed(x, factor), (x,), (t,))[1]
    slope = gw.grad(lambda x: np.sum(windowed(x, factor) * weights))(x)

    np.testing.assert_allclose(tangent, gw.unwrap(windowed(t, factor)))
    np.testing.assert_allclose(slope @ t, weights @ tangent)
