"""Entry of a transform: the call of the user's function on tracked arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.steered import check_steered, found_at
from gradwrap.core.graph.memory import note_memory
from gradwrap.core.levels.levels import (
    TAPE_LEVEL,
    begin_differentiating,
    end_differentiating,
    is_differentiating,
)
from gradwrap.core.levels.wrapper import UNTRACKED, is_at, layers, level_of
from gradwrap.core.observing.arithmetic import PLACE
from gradwrap.core.observing.callers import (
    caller_of,
    latest_refusal,
    noted,
    noted_elsewhere,
    remedy,
)
from gradwrap.core.observing.changed import changed, put_right
from gradwrap.core.observing.results import check_caught
from gradwrap.core.observing.tracebacks import shorten
from gradwrap.core.values.tree import flatten
from gradwrap.errors import (
    GradwrapError,
    TrackedAttributeError,
    TrackedCodeError,
    TrackedValueError,
)
from gradwrap.transforms.argnums import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FIX = (
    "call it with plain arrays first; if that raises the same, correct the call. If not, the code "
    "there takes plain arrays alone: use NumPy's function for it, or make it one operation with "
    "gradwrap.primitive and give that a rule with gradwrap.defvjp, or give it .detach() (an array) "
    "or .item() (a number) if no gradient is wanted."
)

LIST = (
    "pass an array, np.array([1.0, 2.0]): a list is a container of numbers. In the function, "
    "np.stack([a, b]) makes an array of tracked numbers."
)

NUMBA = (
    "differentiate gradwrap.adapting(f) in place of your function f: it runs what Numba compiles "
    "as plain Python."
)

ARGUMENTS = (
    "give the arguments to the function that the transform returns, as in "
    "gradwrap.grad(f)(x, y, scale=2.0)."
)

SUBCLASS = (
    "pass a plain array, np.asarray(a), in place of an array a of a class that has an "
    "__array_ufunc__ of its own."
)

FORMAT = (
    'a format such as .2f is for one number, f"{x.sum().item():.2f}"; '
    "np.array2string(x.detach().data, precision=2) makes a text of an array."
)

TORCH = "make the function of PyTorch's one operation, gradwrap.torch.operation(f)."

JAX = "make the function of JAX's one operation, gradwrap.jax.operation(f)."

FIXES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("__array_ufunc__",), SUBCLASS),
    (("unsupported operand", "'list'"), LIST),
    (("unsupported format string",), FORMAT),
    (("must be Tensor, not",), TORCH),
    (("is not a valid JAX type",), JAX),
)
"""Parts of the messages of Python and NumPy, and what to write then."""

BRIDGES: tuple[tuple[str, str], ...] = (
    ("Can't call numpy() on Tensor that requires grad", "gradwrap.torch.layer"),
    ("__array__() was called on traced array", "gradwrap.jax.callback"),
)
"""Parts of the messages of other libraries that keep their own graphs, and the bridges to them."""

WRAPPERS = ("Variable", "Dual", "Batched")
"""The names by which Python's messages call tracked values."""


def run(fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function under a transform, and explain errors that Python or NumPy raise."""
    listening = PLACE.listening
    begun = listening.begin()
    before, elsewhere, steered = noted.get(), noted_elsewhere[0], found_at.get()
    token = begin_differentiating(True)
    try:
        out = fun(*args, **kwargs)
    except MemoryError as error:
        note_memory(error, f"while {name_of(fun)} ran")
        shorten(error)
        raise
    except Exception as error:
        refusal = latest_refusal(error) or _overlooked(error)
        is_pending = refusal is not None and isinstance(error, AttributeError)
        if isinstance(error, GradwrapError) and not is_pending:
            _note_package(error)
            shorten(error)
            raise
        ours = refusal or _explained(fun, error)
        shorten(error)
        if ours is None:
            _note_tracked(error)
            raise
        raise ours.with_traceback(error.__traceback__) from error
    finally:
        end_differentiating(token)
        listening.end(begun)
        if changed and not is_differentiating():
            put_right()
    if noted_elsewhere[0] is not elsewhere:
        noted.set(noted_elsewhere[0])
    if noted.get() is not before:
        check_caught(before, out, fun, args, kwargs)
    if found_at.get() is not steered:
        check_steered(out)
    return out


def check_kept(fun: Callable[..., Any], out: object, args: object, level: int) -> None:
    """Refuse a result that depends on a value that an earlier call has left somewhere.

    It is asked at the end of the outermost transform: no other level is in use.
    """
    known = {TAPE_LEVEL, UNTRACKED, level}
    for leaf in flatten(out)[0]:
        levels = {level_of(layer) for layer in layers(leaf)} - known
        if levels and (leaf is out or is_at(leaf, level)):
            given = (layers(one) for one in flatten(args)[0])
            if levels <= {level_of(layer) for some in given for layer in some}:
                continue
            raise TrackedValueError(
                f"the result of {name_of(fun)} depends on a value that an earlier call under a "
                "transform has left in an object, a class, a list or a global name, as where code "
                "keeps the last arguments and their result. What it got from the arguments of that "
                "call has no gradient here. Fix: keep .detach() of an array and .item() of a "
                "number, and compute again what depends on the arguments."
            )


def _note_package(error: GradwrapError) -> None:
    """Add the line of an installed package that raised an error, unless it is named."""
    caller = caller_of(error)
    if caller is not None and caller.package and str(caller) not in str(error):
        note = f"It was raised {caller}."
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _overlooked(error: BaseException | None) -> GradwrapError | None:
    """Return the gradwrap error that another error was raised from.

    A package may do so, and Python where C code ignores an error until a later call. Then errors
    may be causes of each other.
    """
    passed: set[int] = set()
    while error is not None and id(error) not in passed:
        passed.add(id(error))
        error = error.__cause__
        if isinstance(error, GradwrapError):
            return type(error)(str(error))
    return None


def _note_tracked(error: Exception) -> None:
    """Add to another library's error its bridge, to a package's that it ran on tracked values."""
    for part, bridge in BRIDGES:
        if part in str(error):
            error.add_note(
                "gradwrap's functions of NumPy do not continue the graph that this value is in. "
                f"Fix: give the function that needs both to {bridge}(f)."
            )
    if type(error) is ValueError and any(f"'{name}(" in str(error) for name in WRAPPERS):
        error.add_note(
            "This text was made of a tracked value. A number that is read back from text has no "
            "gradient. Fix: keep the number beside the text."
        )
    caller = caller_of(error)
    if type(error) is ValueError and caller is not None and caller.package:
        error.add_note(
            f"It was raised {caller}, which ran on tracked values (gradwrap.Variable). If plain "
            f"arrays do not raise it: {remedy(caller, FIX)}"
        )


def _explained(fun: Callable[..., Any], error: Exception) -> GradwrapError | None:
    """Return a gradwrap error that explains one of Python or NumPy, or None.

    An error of a class of its own is part of the function's behaviour, and is left alone.
    """
    kind, text = type(error), str(error)
    is_attribute = kind is AttributeError and any(f"'{name}' object" in text for name in WRAPPERS)
    if kind.__module__.partition(".")[0] == "numba":
        first = text.partition("\n")[0].rstrip(".")
        return TrackedCodeError(f"Numba has compiled this code: {first}. Fix: {NUMBA}")
    is_type = kind is TypeError or (
        isinstance(error, TypeError) and kind.__module__.partition(".")[0] == "numpy"
    )
    if "Fix: " in text or not (is_attribute or is_type):
        return None
    caller = caller_of(error)
    place = f"in {name_of(fun)}" if caller is None else str(caller)
    ours = TrackedAttributeError if is_attribute else TrackedCodeError
    if caller is None and "argument" in text:  # the call of the function itself
        return ours(f"{text.rstrip('.')}. Fix: {ARGUMENTS}")
    fix = next((fix for parts, fix in FIXES if all(part in text for part in parts)), FIX)
    return ours(
        f"{text.rstrip('.')}. This {kind.__name__} was raised {place}, which ran on tracked values "
        f"(gradwrap.Variable). Fix: {remedy(caller, fix)}"
    )
