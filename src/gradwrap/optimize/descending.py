"""Gradient descent over containers of arrays: `sgd`, `rmsprop` and `adam`.

Each is one loop with another step. A step is made of operations that every array library has, so
that the arrays stay where they are, of the dtype that they have.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.observing.progress import Progress
from gradwrap.core.values.prefixes import zeros_filled
from gradwrap.core.values.tree import flatten, map_leaves, unflatten
from gradwrap.errors import NotAnArrayError, PytreeError
from gradwrap.optimize.batches import as_batch
from gradwrap.optimize.problem import as_args, as_start, computed
from gradwrap.optimize.results import caller
from gradwrap.transforms.arguments import default_scalar, passes_through
from gradwrap.transforms.raveling import to_host
from gradwrap.transforms.reverse import value_and_grad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from gradwrap.core.values.tree import TreeDef
    from gradwrap.typing.signatures import F1, P, Scalar, X

    Rate: TypeAlias = float | Callable[[int], float]
    Memory: TypeAlias = dict[str, Any]
    Step: TypeAlias = Callable[[Any, Any, Memory, int], Any]

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Descent(Generic[T]):
    """The state of a descent: the result of `adam`, `sgd` and `rmsprop`, and for callbacks.

    Examples
    --------
    >>> import gradwrap as gw
    >>> state = gw.optimize.sgd(lambda x: (x - 3.0) ** 2, 1.0, steps=50, learning_rate=0.1)
    >>> state.nit, round(float(state.x), 3)
    (50, 3.0)
    """

    x: T
    """The container after the last step."""
    fun: Any
    """The value of the function before that step, as it returned it; nan without a step."""
    jac: T
    """The gradient before that step, in the form of `x`; None without a step."""
    nit: int
    """The number of steps."""
    state: dict[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    """What the method remembers: the number of all steps so far, `"step"`, and its means as
    containers like `x`. With `state=`, another call goes on from there."""


def sgd(  # noqa: PLR0913  the options of a descent
    fun: F1[X, P, Scalar],
    x0: X,
    args: Any = (),
    *,
    steps: int | None = None,
    learning_rate: Rate = 0.01,
    momentum: float = 0.0,
    batches: Iterable[Any] | None = None,
    state: Mapping[str, Any] | None = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | None = None,
) -> Descent[X]:
    """Minimise a function of a container of arrays by gradient descent.

    A step moves `x` by `-learning_rate * v`, where `v = momentum * v + gradient`.

    Parameters
    ----------
    fun
        `fun(x, *args)` returns a real scalar; with `batches`, `fun(x, *batch, *args)`.
    x0
        The start: an array of any library, a number, or a container of them. Integers
        count as floats. Flags, None and strings in a container stay as they are. It is not changed.
    args
        More arguments of `fun`, as a tuple.
    steps
        The number of steps: 1000 by default; with `batches`, one step for each batch.
    learning_rate
        A number, or a function of the step's number, which starts at 0.
    momentum
        The part of the last step that is kept.
    batches
        The data of each step, from any iterable: a tuple of arguments (or a list of
        arrays, as data loaders give), or one argument.
        `minibatches` makes them of arrays.
    state
        The `state` of an earlier result, to go on from: with `x0=found.x, state=found.state`, the
        steps are those of one longer run, the numbers of the steps included. It can be pickled.
    callback
        Called after each step, with `x`; or with a `Descent`, if its one parameter is named
        `intermediate_result`. StopIteration ends the descent.
    progress
        True: show a line with the step, the value and the norm of the gradient. False: show none.
        By default, a line is shown in a terminal or a notebook after two seconds; the environment
        variable `GRADWRAP_PROGRESS=0` turns it off.

    Returns
    -------
    A `Descent`, whose `x` is a container like `x0`, of its libraries, dtypes and shapes.

    Raises
    ------
    NotAnArrayError
        `x0` holds no array.
    NonScalarOutputError
        `fun` does not return a real scalar.
    ValueError
        `steps` is negative, an option is out of its range, or `state` is of another method.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def loss(p, x, y):
    ...     return np.mean((x * p["slope"] + p["offset"] - y) ** 2)
    >>> x = np.linspace(-1.0, 1.0, 50)
    >>> start = {"slope": 0.0, "offset": 0.0}
    >>> found = gw.optimize.sgd(loss, start, (x, 3.0 * x + 1.0), steps=200, learning_rate=0.3)
    >>> print("%.4f %.4f" % (found.x["slope"], found.x["offset"]))
    3.0000 1.0000
    """
    _check_fractions(momentum=momentum)
    step = sgd_step(_rate(learning_rate), momentum)
    return _descend("sgd", step, fun, x0, args, steps, batches, state, callback, progress)


def rmsprop(  # noqa: PLR0913  the options of a descent
    fun: F1[X, P, Scalar],
    x0: X,
    args: Any = (),
    *,
    steps: int | None = None,
    learning_rate: Rate = 0.01,
    decay: float = 0.9,
    eps: float = 1e-8,
    batches: Iterable[Any] | None = None,
    state: Mapping[str, Any] | None = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | None = None,
) -> Descent[X]:
    """Minimise a function of a container of arrays by RMSprop.

    A step moves `x` by `-learning_rate * gradient / (sqrt(s) + eps)`, where `s` is the running
    mean of the squares of the gradient, `s = decay * s + (1 - decay) * gradient**2`.

    The other parameters, the result and the errors are those of `sgd`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> found = gw.optimize.rmsprop(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), steps=500)
    >>> np.round(found.x, 1)
    array([1., 1.])
    """
    _check_fractions(decay=decay)
    step = rmsprop_step(_rate(learning_rate), decay, eps)
    return _descend("rmsprop", step, fun, x0, args, steps, batches, state, callback, progress)


def adam(  # noqa: PLR0913  the options of a descent
    fun: F1[X, P, Scalar],
    x0: X,
    args: Any = (),
    *,
    steps: int | None = None,
    learning_rate: Rate = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    batches: Iterable[Any] | None = None,
    state: Mapping[str, Any] | None = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | None = None,
) -> Descent[X]:
    """Minimise a function of a container of arrays by Adam (Kingma and Ba, 2015).

    A step moves `x` by `-learning_rate * m / (sqrt(v) + eps)`, where `m` and `v` are the running
    means of the gradient and of its square, corrected for their start at zero. `b1` and `b2` are
    the factors of the previous means. With `weight_decay`, `x` also moves by `-learning_rate *
    weight_decay * x` (AdamW).

    The other parameters, the result and the errors are those of `sgd`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> def loss(p, x, y):
    ...     return np.mean((np.tanh(x @ p["w"] + p["b"]) - y) ** 2)
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=(64, 2))
    >>> y = np.tanh(x @ np.array([1.0, -2.0]) + 0.5)
    >>> batches = ((x[i : i + 16], y[i : i + 16]) for _ in range(125) for i in range(0, 64, 16))
    >>> start = {"w": np.zeros(2), "b": 0.0}
    >>> found = gw.optimize.adam(loss, start, learning_rate=0.1, batches=batches)
    >>> np.round(found.x["w"], 2), round(found.x["b"], 2), found.nit
    (array([ 1., -2.]), np.float64(0.5), 500)
    """
    _check_fractions(b1=b1, b2=b2)
    step = adam_step(_rate(learning_rate), b1, b2, eps, weight_decay)
    return _descend("adam", step, fun, x0, args, steps, batches, state, callback, progress)


# The steps: the next value of one array, from its gradient, what is remembered, and their number --


def sgd_step(rate: Callable[[int], float], momentum: float) -> Step:
    """Return the step of gradient descent with momentum."""

    def step(x: Any, g: Any, memory: Memory, count: int) -> Any:
        velocity = (
            g if momentum == 0.0 or "velocity" not in memory else momentum * memory["velocity"] + g
        )
        memory["velocity"] = velocity
        return x - rate(count) * velocity

    return step


def rmsprop_step(rate: Callable[[int], float], decay: float, eps: float) -> Step:
    """Return the step of RMSprop."""

    def step(x: Any, g: Any, memory: Memory, count: int) -> Any:
        square = _square(g)
        memory["square"] = decay * memory.get("square", 0.0 * square) + (1.0 - decay) * square
        return x - rate(count) * g / (_sqrt(memory["square"]) + eps)

    return step


def adam_step(
    rate: Callable[[int], float], b1: float, b2: float, eps: float, weight_decay: float = 0.0
) -> Step:
    """Return the step of Adam."""

    def step(x: Any, g: Any, memory: Memory, count: int) -> Any:
        square = _square(g)
        memory["mean"] = b1 * memory.get("mean", 0.0 * g) + (1.0 - b1) * g
        memory["square"] = b2 * memory.get("square", 0.0 * square) + (1.0 - b2) * square
        mean = memory["mean"] / (1.0 - b1 ** (count + 1))
        spread = _sqrt(memory["square"] / (1.0 - b2 ** (count + 1)))
        moved = x - rate(count) * mean / (spread + eps)
        return moved - rate(count) * weight_decay * x if weight_decay else moved

    return step


def _square(gradient: Any) -> Any:
    """Return the squared absolute value of each element."""
    backend = backend_of(gradient)
    if backend.dtype_kind(gradient.dtype)[1]:
        return backend.xp.real(backend.xp.conj(gradient) * gradient)
    return gradient * gradient


def _sqrt(array: Any) -> Any:
    return backend_of(array).xp.sqrt(array)


# The loop -----------------------------------------------------------------------------------------


def _descend(  # noqa: PLR0913  the options of a descent
    name: str,
    step: Step,
    fun: Callable[..., Any],
    x0: Any,
    args: Any,
    steps: int | None,
    batches: Iterable[Any] | None,
    before: Mapping[str, Any] | None,
    callback: Callable[..., Any] | None,
    progress: bool | None,
) -> Descent[Any]:
    """Descend from `x0`; `step` computes an array's next value from it and its gradient."""
    x = map_leaves(_own, as_start(x0))
    leaves, treedef = flatten(x)
    places = [i for i, leaf in enumerate(leaves) if treedef.is_lone or not passes_through(leaf)]
    if not places:
        raise NotAnArrayError(
            "x0 holds no floating-point array or number. Fix: pass one, or a container of them."
        )
    first, memories = _remembered(name, before, treedef, len(leaves))
    derivative: Any = value_and_grad(fun)
    state: Descent[Any] = Descent(x, np.nan, None, 0, dict(before or {}))
    call = caller(callback)
    args = as_args(args)
    with Progress(progress, name, steps or (1000 if batches is None else None)) as line:
        for count, batch in enumerate(_batches(steps, batches)):
            value, gradient = derivative(state.x, *batch, *args)
            slopes = flatten(gradient)[0]
            value, *slopes = computed([value, *slopes], [None, *leaves])
            for place in places:
                moved = step(leaves[place], slopes[place], memories[place], first + count)
                leaves[place] = _like(moved, leaves[place])
            _compute(leaves, memories)
            gradient = unflatten(treedef, slopes)
            kept = _kept(name, first + count + 1, treedef, memories)
            state = Descent(unflatten(treedef, leaves), value, gradient, count + 1, kept)
            line.show(state.nit, lambda state=state: _described(state))  # type: ignore[misc]  # of no parameters
            try:
                call(state)
            except StopIteration:
                break
    return state


def _kept(name: str, step: int, treedef: TreeDef, memories: list[Memory]) -> dict[str, Any]:
    """Return the state after a step, with each part of the memories as a container like `x`."""
    parts = dict.fromkeys(part for memory in memories for part in memory)
    return {
        "method": name,
        "step": step,
        **{part: unflatten(treedef, [one.get(part) for one in memories]) for part in parts},
    }


def _remembered(
    name: str, state: Mapping[str, Any] | None, treedef: TreeDef, count: int
) -> tuple[int, list[Memory]]:
    """Return the number of earlier steps, and the memory of each leaf."""
    memories: list[Memory] = [{} for _ in range(count)]
    if state is None:
        return 0, memories
    if state.get("method") != name:
        given = f"one of {state['method']}" if "method" in state else "none"
        raise ValueError(
            f"state= of {name} is {given}. Fix: pass the .state of an earlier result of {name}."
        )
    for part in state.keys() - {"method", "step"}:
        values = zeros_filled(state[part], treedef, count)
        if values is None:
            raise PytreeError(
                f"state[{part!r}] of {name} has another structure than x0, {treedef}. Fix: pass "
                "the .x and the .state of one result."
            )
        for memory, value in zip(memories, values, strict=True):
            if value is not None:
                memory[part] = value
    return state["step"], memories


def _compute(leaves: list[Any], memories: list[Memory]) -> None:
    """Compute lazy arrays after a step, so that their graphs do not grow."""
    held: list[Any] = [*leaves, *(value for memory in memories for value in memory.values())]
    found = iter(computed(held, held))
    leaves[:] = [next(found) for _ in leaves]
    for memory in memories:
        memory.update({name: next(found) for name in memory})


def _own(leaf: Any) -> Any:
    """Convert a number to a NumPy scalar, and copy an array."""
    if isinstance(leaf, (float, complex)):
        return default_scalar(leaf)
    return backend_of(leaf).copy(leaf) if hasattr(leaf, "__setitem__") and is_array(leaf) else leaf


def _like(moved: Any, leaf: Any) -> Any:
    """Convert an array after a step to its former dtype and kind."""
    backend = backend_of(leaf)
    if moved.dtype != leaf.dtype:
        moved = backend.xp.astype(moved, leaf.dtype)
    if hasattr(leaf, "__setitem__") and not hasattr(moved, "__setitem__"):
        return backend.asarray(moved, leaf)
    return moved


def _batches(steps: int | None, batches: Iterable[Any] | None) -> Iterator[tuple[Any, ...]]:
    """Return the arguments of each step."""
    if steps is not None and steps < 0:
        raise ValueError(f"steps={steps}. Fix: give a number of steps.")
    if batches is None:
        return itertools.repeat((), 1000 if steps is None else steps)
    each = map(as_batch, batches)
    return each if steps is None else itertools.islice(each, steps)


def _rate(learning_rate: Rate) -> Callable[[int], float]:
    """Return the learning rate as a function of the step's number."""
    if callable(learning_rate):
        given = learning_rate
        return lambda step: float(given(step))
    constant = learning_rate
    if not constant > 0:
        raise ValueError(f"learning_rate={constant}. Fix: give a positive number, or a function.")
    return lambda _: constant


def _check_fractions(**options: float) -> None:
    for name, value in options.items():
        if not 0.0 <= value < 1.0:
            raise ValueError(f"{name}={value}. Fix: give a number from 0 to below 1.")


def _described(state: Descent[Any]) -> str:
    """Return the text of a progress line."""
    parts = [to_host(part) for part in flatten(state.jac)[0] if is_array(part)]
    length = np.sqrt(sum(float(np.sum(np.abs(part) ** 2)) for part in parts))
    return f"value {float(to_host(state.fun)):.6g}, |gradient| {length:.2e}"
