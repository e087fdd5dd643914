"""Calls of generators with tracked arguments: draws, moves of elements, and refusals.

All numbers are drawn by NumPy's generator, which is given plain values. Where `vmap` maps over an
argument, each example has a draw of its own, in the order of the examples. If the function that is
mapped has seeded the generator itself, each example begins with that seed, as in a loop.
"""

from __future__ import annotations

import copy
import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.remedies import DISCRETE
from gradwrap.core.levels.levels import newest_level
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    batched_parts,
    example,
    holds_wrapper,
    innermost,
    is_derived,
    native,
)
from gradwrap.core.library.backend import backend_of
from gradwrap.core.values.dynamic import DICT, SEQUENCE
from gradwrap.errors import NoRuleError, TrackedValueError
from gradwrap.random.distributions import ROWS, SMALLEST
from gradwrap.random.paths import held
from gradwrap.transforms.arguments import stop_gradient
from gradwrap.transforms.batch import batch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.random.distributions import Distribution

    Method = Callable[..., Any]

ALIKE = 1e-8
"""The largest difference between a sample and what its row computes, relative to the largest."""


class Seeded:
    """Where a generator was seeded, if it was inside a transform."""

    level: int = -1
    """The newest level at that time; -1 if the generator has no seed of its own."""
    is_apart: bool = False
    """Tell if examples of a batch have drawn different amounts of random bits."""

    def begin(self, *, is_seeded: bool) -> None:
        """Note that the generator begins here."""
        self.level, self.is_apart = newest_level() if is_seeded else -1, False

    def check(self) -> None:
        """Refuse a draw that would have to begin at another place for each example."""
        if self.is_apart:
            raise TrackedValueError(
                "a generator that was seeded inside a function under vmap cannot draw again: its "
                "last draw took more random bits for some examples than for others. Fix: make "
                "the generator outside of the function, which gives each example draws of its "
                "own; or make one generator for each draw."
            )


GLOBAL = Seeded()
"""What is known of NumPy's global generator."""


def called(rng: Any, original: Method, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of a generator with any arguments; `original` is NumPy's, bound to it."""
    _seeded(rng).check()
    if not any(holds_wrapper(value) for value in (*args, *kwargs.values())):
        return original(*args, **kwargs)
    name: str = original.__name__
    args = tuple(map(_array, args))
    kwargs = {key: _array(value) for key, value in kwargs.items()}
    for value in filter(lambda one: isinstance(one, AnyWrapper), (*args, *kwargs.values())):
        if not isinstance(innermost(value), (np.ndarray, np.generic)) and not is_traced():
            raise NoRuleError(
                f"{name} of NumPy's generators was given an array of {value._backend.name}. "
                "Fix: draw plain noise first, and compute with it: loc + scale * noise."
            )
    if name in MOVES:
        return MOVES[name](rng, original, args, kwargs)
    if not is_derived([args, kwargs]):
        return _constant(rng, original, args, kwargs)
    if name in ROWS:
        return _drawn(ROWS[name], rng, original, args, kwargs)
    return _without_derivative(name, rng, original, args, kwargs)


def _array(value: Any) -> Any:
    """Join a list of tracked values to an array; other values unchanged."""
    if not isinstance(value, SEQUENCE) or not holds_wrapper(value):
        return value
    return np.stack([_array(part) for part in value])


def per_example(
    rng: Any, draw: Callable[..., tuple[Any, ...]], values: Sequence[Any]
) -> tuple[Any, ...]:
    """Call `draw` with plain values; for each example in turn where `vmap` maps over one."""
    part = next(batched_parts(list(values)), None)
    if part is None:
        return draw(*map(native, values))
    batch, level = part._node, part._node.meta.level
    seeded = _seeded(rng)
    start = _state(rng) if level <= seeded.level else None  # the mapped function has seeded it
    rows: list[tuple[Any, ...]] = []
    ends: list[Any] = []
    for i in range(batch.size):
        seeded.check()
        if start is not None:
            _set_state(rng, start)
        rows.append(per_example(rng, draw, example(list(values), level, i)))
        if start is not None:
            ends.append(_state(rng))
    seeded.is_apart = seeded.is_apart or not all(_is_same(end, ends[0]) for end in ends)
    columns = zip(*rows, strict=True)
    return tuple(batch_of(np.stack(column), level, batch.fallback) for column in columns)


def _seeded(rng: Any) -> Seeded:
    found: Seeded = getattr(rng, "seeded", GLOBAL if _is_legacy(rng) else Seeded())
    return found


def _is_same(state: Any, other: Any) -> bool:
    if not isinstance(state, DICT):
        return bool(np.array_equal(state, other))
    return all(_is_same(value, other[name]) for name, value in state.items())


# Distributions ------------------------------------------------------------------------------------


def _drawn(
    row: Distribution, rng: Any, original: Method, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return samples with their derivatives in the parameters."""
    names = [*row.defaults, "size"]
    options = dict(zip(names, args, strict=False)) | kwargs
    values = {name: options.pop(name, default) for name, default in row.defaults.items()}
    is_missing = any(value is inspect.Parameter.empty for value in values.values())
    if is_missing or len(args) > len(names) or kwargs.keys() & set(names[: len(args)]):
        raise TypeError(
            f"{row.name} takes ({', '.join(names)}). Fix: pass each of them once, and other "
            "options by keyword."
        )
    if options.get("out") is not None:
        raise TrackedValueError(
            f"{row.name}(out=...) would write plain numbers, without the derivative in a tracked "
            "parameter. Fix: use what the method returns, without out=."
        )

    if is_traced() and row.noise and not row.given and _may_draw_later(row, values):
        present = {name: _present(value) for name, value in values.items()}
        _, noise = _with_noise(row, rng, original, options, present)
        return row.path(np.asarray(noise)[()], *values.values())

    def draw(*parameters: Any) -> tuple[Any, Any]:
        named = dict(zip(values, parameters, strict=True))
        sample, noise = _with_noise(row, rng, original, options, named)
        return np.asarray(sample)[()], np.asarray(noise)[()]

    sample, noise = per_example(rng, draw, [stop_gradient(value) for value in values.values()])
    with np.errstate(all="ignore"):
        computed = row.path(noise, *values.values())
    if not _are_alike(innermost(computed), innermost(sample)):
        raise NoRuleError(
            f"{row.name}: this version of NumPy draws these samples in another way than gradwrap "
            "knows, so there is no derivative. Fix: compute with plain noise (loc + scale * "
            "noise), or pass gradwrap.stop_gradient(parameter)."
        )
    return held(computed, sample)


PLACES = frozenset({"loc", "mean", "low", "high"})
"""The parameters that may have any sign; the others are to be positive."""


def _may_draw_later(row: Distribution, values: dict[str, Any]) -> bool:
    """Tell if the noise of a trace serves all calls: NumPy would not refuse the parameters.

    That is a branch of the program.
    """
    if row.name == "triangular" or next(batched_parts([*values.values()]), None) is not None:
        return False
    given = [(name, native(one)) for name, one in values.items() if isinstance(one, AnyWrapper)]
    if row.name == "uniform" and not np.all(native(values["low"] < values["high"])):
        return False
    return all(
        np.all(np.isfinite(data)) and (name in PLACES or np.all(data > 0.0)) for name, data in given
    )


def _present(value: Any) -> Any:
    """Return the value of a variable in this run of a trace."""
    return (
        backend_of(native(value)).concrete(native(value))
        if isinstance(value, AnyWrapper)
        else value
    )


def _with_noise(
    row: Distribution, rng: Any, original: Method, options: Any, parameters: dict[str, Any]
) -> tuple[Any, Any]:
    """Draw a sample, and its noise from the same place of the stream."""
    if not row.noise:
        sample = original(**parameters, **options)
        return sample, sample
    kind: Any = np.random.RandomState if _is_legacy(rng) else np.random.Generator
    bits = rng._bit_generator
    with bits.lock:  # no other thread draws in between
        start = _state(rng)
        source = rng if _can_take_again(bits.lock) else kind(copy.copy(bits))
        _set_state(source, start)
        sample = getattr(kind, original.__name__)(source, **parameters, **options)
        end = _state(source)
        _set_state(source, start)
        given = [np.broadcast_to(parameters[name], np.shape(sample)) for name in row.given]
        noise = getattr(kind, row.noise)(source, *given, size=np.shape(sample))
        _set_state(rng, end)
    return sample, noise


def _can_take_again(lock: Any) -> bool:
    """Tell if a thread that holds a generator's lock can draw from it; since NumPy 2.4, it can."""
    if is_free := lock.acquire(blocking=False):
        lock.release()
    return bool(is_free)


def _is_legacy(rng: Any) -> bool:
    return isinstance(rng, np.random.RandomState)


def _state(rng: Any) -> Any:
    if _is_legacy(rng):
        return rng.get_state(legacy=False)
    return rng.bit_generator.state


def _set_state(rng: Any, state: Any) -> None:
    if _is_legacy(rng):
        rng.set_state(state)
    else:
        rng.bit_generator.state = state


def _are_alike(computed: Any, sample: Any) -> bool:
    """Tell if the row computes the sample, as it must for its derivatives to be right."""
    finite = np.isfinite(sample)
    largest = np.max(np.abs(sample), initial=0.0, where=finite)
    close = np.abs(computed - sample) <= ALIKE * largest + SMALLEST
    return bool(np.all(close | ~finite))


# Moves of elements --------------------------------------------------------------------------------


def _moved(
    rng: Any, original: Method, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Return an array and the elements of it that a method chooses.

    The method is given the places of the elements in place of the elements.
    """
    name: str = original.__name__
    options = dict(kwargs)
    first = "a" if name == "choice" else "x"
    x, rest = (args[0], args[1:]) if args else (options.pop(first), ())
    if options.get("out") is not None:
        raise TrackedValueError(
            f"{name}(out=...) would write plain numbers, without the derivatives of the elements. "
            "Fix: use what the method returns, without out=."
        )
    others = [*rest, *options.values()]
    if is_derived(others) and getattr(rng, "discrete", "") != "constant":
        raise _no_derivative(name, "p")
    if not isinstance(x, AnyWrapper):
        return None, _constant(rng, original, args, kwargs)

    def draw(x: Any, *others: Any) -> tuple[Any]:
        named = dict(zip(options, others[len(rest) :], strict=True))
        places = np.arange(math.prod(np.shape(x))).reshape(np.shape(x))
        found = original(places, *others[: len(rest)], **named)
        return (np.asarray(places if found is None else found)[()],)

    (places,) = per_example(rng, draw, [stop_gradient(value) for value in (x, *others)])
    flat = np.reshape(x, -1)
    return x, flat[places]


def _chosen(rng: Any, original: Method, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the elements that `permutation`, `permuted` or `choice` chooses."""
    return _moved(rng, original, args, kwargs)[1]


def _shuffled(rng: Any, original: Method, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Shuffle a tracked array in place."""
    x, moved = _moved(rng, original, args, kwargs)
    x[...] = moved


MOVES: dict[str, Method] = {
    **dict.fromkeys(("permutation", "permuted", "choice"), _chosen),
    "shuffle": _shuffled,
}


# Samples without a derivative ---------------------------------------------------------------------


def _constant(rng: Any, original: Method, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draw with plain values; no gradient passes."""

    def draw(*values: Any) -> tuple[Any]:
        named = dict(zip(kwargs, values[len(args) :], strict=True))
        return (original(*values[: len(args)], **named),)

    values = [stop_gradient(value) for value in (*args, *kwargs.values())]
    return per_example(rng, draw, values)[0]


def _without_derivative(
    name: str, rng: Any, original: Method, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if name in DISCRETE and getattr(rng, "discrete", "") == "constant":
        return _constant(rng, original, args, kwargs)
    raise _no_derivative(name, "a parameter")


def _no_derivative(name: str, parameter: str) -> NoRuleError:
    if name in DISCRETE or parameter == "p":
        return NoRuleError(
            f"{name} draws from a discrete distribution: its samples have no derivative in "
            f"{parameter}, which is tracked. Fix: pass gradwrap.stop_gradient({parameter[-1:]}), "
            'or make the generator with gradwrap.random.default_rng(seed, discrete="constant"), '
            "whose discrete samples are constants. The derivative of their mean is that of "
            "sum(probability * value), or the mean of value * log(probability)'."
        )
    return NoRuleError(
        f"gradwrap has no derivative of a sample of {name} in {parameter}, which is tracked. "
        "Fix: pass gradwrap.stop_gradient of it, or compute the sample from others that have one."
    )
