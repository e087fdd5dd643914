"""Adapted code: modules whose globals carry a mark while `gradwrap` differentiates them.

The author of such code did not think of gradients. So `x.item()`, which elsewhere takes a value out
of the graph, keeps the element tracked there, and a tracked value may be formatted as text, which
mostly is a line of a log. The methods that differ ask `is_adapted` about the code that calls them.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from gradwrap.core.array.texts import texts_of_call
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.modes import is_traced
from gradwrap.core.levels.wrapper import AnyWrapper, is_batch, is_recorded, layers, native
from gradwrap.core.observing.callers import MARK, current_caller, is_passed_by
from gradwrap.core.observing.comparing import asker
from gradwrap.core.values.dynamic import TUPLE
from gradwrap.errors import TrackedTextWarning

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType

made_text: ContextVar[tuple[str, int] | None] = ContextVar("gradwrap_text", default=None)
"""The module and the line that last made text of a tracked value."""
subclass_views: list[Any] = []
"""The function that makes an instance of a subclass of NumPy's arrays with a variable in it."""
made_of_python: dict[int, tuple[Any, Any]] = {}
"""By id: ufuncs that a compiler has made of Python functions, and what runs these functions."""
shown_as: dict[int, Any] = {}
"""By the id of a class: the function that gives the class that adapted code sees in place of it."""
rounding: ContextVar[str] = ContextVar("gradwrap_rounding", default="zero")
"""The derivative of numbers that adapted code rounds to decimals: that of x if "through"."""
rounded_at: ContextVar[dict[str, None] | None] = ContextVar("gradwrap_rounded", default=None)
"""The lines of adapted code that have rounded a tracked number, without a derivative."""
followed: ContextVar[frozenset[str]] = ContextVar("gradwrap_followed", default=frozenset())
"""The lines where a rounded number has the derivative of the number."""
plain_made: ContextVar[list[int] | None] = ContextVar("gradwrap_plain_made", default=None)
"""How often the adapted call that runs has made plain numbers or text of values, how many of the
texts give a number exactly, and how often it has asked for the bytes of an array."""
python_numbers: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""By id: the variables that stand for floats of Python, such as arguments of transforms."""
warned_lines: set[tuple[str, int]] = set()
callers_for: set[CodeType] = set()
"""Functions that call a method in the place of adapted code."""


def as_python(variable: Any) -> Any:
    """Note that a variable stands for a float of Python, whose class adapted code may ask for."""
    python_numbers[id(variable)] = variable
    return variable


def stands_for_python(variable: Any) -> bool:
    """Tell if a variable stands for a float of Python."""
    return python_numbers.get(id(variable)) is variable


def note_plain(*, is_exact: bool = False) -> None:
    """Note that a plain number or text is made of a value, which a cache may have as a key.

    A text that gives the number exactly is the key of equal numbers alone.
    """
    made = plain_made.get()
    if made is not None:
        made[0] += 1
        made[1] += is_exact


def bytes_for_key(variable: Any, order: Any) -> bytes | None:
    """Return the bytes of a tracked array, of which code makes a key; None if that cannot be noted.

    What it finds by the key has to be of this array. Caches that are known by their source are
    watched, and the derivative is compared with differences.
    """
    made, ask = plain_made.get(), asker.get()
    if made is None or ask is None or is_traced():
        return None
    numbers: Any = native(variable)
    note_plain()
    made[2] += 1
    texts_of_call().add_bytes(numbers)
    ask("bytes")
    return bytes(numbers.tobytes(order))


def note_stopped() -> None:
    """Note that adapted code stops a gradient itself, which the values do not show."""
    ask = asker.get()
    if ask is not None and adapted_caller(3) is not None:
        ask("stopped")


def adapted_caller(depth: int = 2) -> FrameType | None:
    """Return the frame that called the calling method if its code is adapted, or None."""
    frame: FrameType = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame.f_code in callers_for and frame.f_back is not None:
        frame = frame.f_back
    return frame if MARK in frame.f_globals else None


def current_frame(depth: int) -> FrameType:
    """Return the frame `depth` calls above the calling function."""
    return sys._getframe(depth + 1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone


def converting_caller() -> FrameType | None:
    """Return the frame that converts a value to numbers, in adapted code or in what that calls."""
    found = adapted_caller(3)
    if found is not None or plain_made.get() is None:
        return found
    frame = current_frame(2)
    is_ours = frame.f_globals.get("__name__", "").startswith("gradwrap.")
    return None if is_ours else frame


def one_element(variable: Any, places: tuple[Any, ...]) -> Any:
    """Return one element as a 0-d variable, selected as by `item(*places)`."""
    if places and isinstance(places[0], TUPLE):
        (places,) = places
    if len(places) > 1:
        return variable[places]
    flat = variable.reshape(-1)
    if not places and len(flat) != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return flat[places[0] if places else 0]


def nested(variable: Any) -> Any:
    """Return the elements as nested lists of 0-d variables."""
    return [nested(part) for part in variable] if variable.ndim else variable[()]


def warn_of_text(
    variable: Any, frame: FrameType, text: str = "", *, spec: str | None = None
) -> None:
    """Warn, once for each line, that a tracked value is converted to text.

    `spec` is the format of the text, empty for `str` and `repr`; None if that is not known.
    """
    note_plain(is_exact=_is_exact(text, variable))
    line = (frame.f_code.co_filename, frame.f_lineno)
    if not is_recorded(variable):
        return
    texts = texts_of_call()
    texts.add(variable, text)
    is_whole = spec is not None and (keeps_all(spec) or _shows_all(text))
    if is_whole and _gives(text, variable):
        texts.add_whole(text, variable)
    ask = asker.get()
    if ask is not None:
        ask("text")
    made_text.set((str(frame.f_globals.get("__name__", "generated code")), frame.f_lineno))
    if line in warned_lines:
        return
    warned_lines.add(line)
    warnings.warn_explicit(
        "text was made of a tracked value. That is right for a message; a number that is read "
        "back from the text has no gradient, unless the text is that of str or repr, or of a "
        "format with 15 digits, and unaltered."
        + ("" if MARK in frame.f_globals else " Text of x.item() gives no warning."),
        TrackedTextWarning,
        *line,
        module=frame.f_globals.get("__name__"),
    )


def _is_exact(text: str, variable: Any) -> bool:
    """Tell if a text gives a number without rounding it; a trace compares its texts itself."""
    if not text or is_traced() or variable.shape != ():
        return False
    number = native(variable)
    with suppress(ValueError, TypeError):
        return bool(number == float(text))
    return text == repr(number)


def keeps_all(spec: str) -> bool:
    """Tell if a format rounds no more than floats do: none, or one such as `.17g`."""
    digits = spec.lower().rstrip("g").rpartition(".")[2]
    return not spec or (spec[-1] in "gG" and digits.isdecimal() and int(digits) >= FLOAT_DIGITS)


def _shows_all(text: str) -> bool:
    """Tell if a text has so many digits that it rounds no more than floats do."""
    mantissa = text.lower().partition("e")[0]
    return sum(map(str.isdigit, mantissa.lstrip(" +-0."))) >= FLOAT_DIGITS


FLOAT_DIGITS = 15
"""The digits that a float keeps of each decimal number."""


def _gives(text: str, variable: Any) -> bool:
    """Tell if the float that a text gives is a tracked number, to the last bit."""
    if is_traced() or variable.shape != () or any(map(is_batch, layers(variable))):
        return False
    number = native(variable)
    with suppress(ValueError, TypeError):
        return number.dtype == float and bool(float(text) == number)
    return False


def formatted(variable: Any, text: str) -> str:
    """Return a text that code makes of a number; warn of it in a function that is differentiated.

    Such code is not adapted, so `float(text)` is Python's own and cannot refuse the text.
    """
    if is_differentiating():
        warn_of_text(variable, sys._getframe(2))  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    return text


def note_text(values: Iterable[Any]) -> None:
    """Warn where a function of arrays, such as `np.array2string`, makes text of tracked values."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame is not None and is_passed_by(frame):
        frame = frame.f_back
    if frame is None or not is_differentiating():
        return
    for value in values:
        if isinstance(value, AnyWrapper):
            warn_of_text(value, frame)


def makes_json(variable: Any, frame: FrameType) -> bool:
    """Tell if code converts an array for `json.dumps(..., default=f)`, and warn of the text.

    `json` calls `f` again for each value that it returns, until it gets a Python number.
    """
    outer = frame.f_back
    if outer is None or outer.f_globals.get("__name__") != "json.encoder":
        return False
    warn_of_text(variable, frame)
    return True


def rounded(variable: Any, made: Any, *, is_whole: bool = False) -> Any:
    """Return `made`, a variable rounded to decimals; in adapted code it may have a derivative.

    There, a number that is rounded to a whole one without a derivative is an integer.
    """
    if not is_differentiating() or not is_recorded(variable):
        return made
    caller = current_caller()
    if caller is None or not caller.is_adapted:
        return made
    ask = None if is_whole else asker.get()
    if ask is not None:
        ask("rounded")
    place = f"{caller.code.co_name} ({caller.module}, line {caller.line})"
    if rounding.get() == "through" or place in followed.get():
        return variable + (made - variable.detach())  # exactly `made`: the difference is exact
    if is_whole:
        return made.astype(int) if variable.shape == () else made
    places = rounded_at.get()
    if places is not None:
        places[place] = None
    return made


def formats_text(frame: FrameType) -> bool:
    """Tell if the code runs `text % values`, which asks values for numbers."""
    from dis import get_instructions  # slow to import, and needed where a conversion fails

    current = next(i for i in get_instructions(frame.f_code) if i.offset == frame.f_lasti)
    return current.opname == "BINARY_OP" and current.argrepr in ("%", "%=")
