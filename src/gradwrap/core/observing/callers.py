"""The code that met a tracked value: found on the stack, named in messages, with a remedy."""

from __future__ import annotations

import functools
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.library.buffers import OURS
from gradwrap.core.library.registration import libraries, registered
from gradwrap.core.observing.code import STANDARD, is_in_packages, package_of, parts_of
from gradwrap.core.values.record import Record
from gradwrap.errors import GradwrapError, InPlaceError, TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType, TracebackType

    from gradwrap.core.observing.called import Called

PASSED_BY = STANDARD | {"array_api_compat", "gradwrap", "numpy", "optree"}
"""Code that is not where the user, or the author of a package, wrote the call. Neither is that of
the libraries of arrays."""
NEVER_ADAPTED = STANDARD | {
    *("numpy", "scipy", "gradwrap", "optree", "array_api_compat", "array_api_strict"),
    *("numba", "llvmlite", "numexpr", "_pytest", "pytest", "pluggy", "IPython", "ipykernel"),
    *("hypothesis", "torch", "jax", "cupy", "dask", "xarray", "pandas"),
    *("setuptools", "_distutils_hack", "sympy"),
}
"""Libraries that `gradwrap.adapt` leaves as they are: other mechanisms are made for them."""


def is_never_adapted(package: str) -> bool:
    """Tell if a package is left as it is: also the library of any arrays that were met."""
    return package in NEVER_ADAPTED or package in libraries()


MARK = "__gradwrap_adapted__"
"""The global name that marks a module as adapted (`gradwrap.adapt`)."""
STORES = frozenset({"STORE_SUBSCR", "STORE_SLICE"})


class Caller(Record):
    """A line of code outside gradwrap, the libraries of arrays and the standard library."""

    code: CodeType
    line: int
    module: str
    uses_drop_in: bool
    """One of its names is `gradwrap.numpy`."""
    is_store: bool
    """It runs an assignment `a[i] = x`."""
    is_adapted: bool
    """Its module is adapted: what it does not take is out of reach."""
    called: Called | None = None
    """The call that the line was making."""
    namespace: str = ""
    """The library whose function of the Array API standard the line called, not ours."""
    outside: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The calls of the same package that led there, the outermost first: the module, and names."""

    @property
    def package(self) -> str:
        """Return the installed package of the line, or "" if the user can change the code."""
        return package_of(self.module) if is_in_packages(self.code.co_filename) else ""

    def __str__(self) -> str:
        file = self.module if self.package else parts_of(self.code.co_filename)[-1]
        name = self.code.co_qualname.rpartition("<locals>.")[2]
        return f"in {name} ({file}, line {self.line})"


def current_caller() -> Caller | None:
    """Return the running line outside gradwrap, or None."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    return next(_callers(_outwards(frame)), None)


def current_place() -> Caller | None:
    """Return the running line outside gradwrap, without what it does, in little time."""
    passed_by = PASSED_BY | libraries()
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if package_of(module) not in passed_by:
            is_adapted = MARK in frame.f_globals
            return Caller(frame.f_code, frame.f_lineno, module, False, False, is_adapted)
        frame = frame.f_back
    return None


def calling_module() -> str:
    """Return the name of the module that called the calling function."""
    return str(_calling_frame().f_globals.get("__name__", ""))


def is_exponent() -> bool:
    """Tell if the code that called the calling method computes `a ** b` or `a **= b` by it.

    NumPy before 2.3 first asks an exponent for its index, drops the refusal, and calls the ufunc.
    """
    frame = _calling_frame()
    at = frame.f_lasti
    return frame.f_code.co_code[at : at + 2] in _powers()


def _calling_frame() -> FrameType:
    """Return the frame that called the function which called the function that asks."""
    return sys._getframe(3)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone


@functools.cache
def _powers() -> frozenset[bytes]:
    """Return the instructions of the operator and of its form in place."""
    from dis import get_instructions  # for refusals alone

    code = compile("a ** b; a **= b", "", "exec")
    places = [one.offset for one in get_instructions(code) if one.opname == "BINARY_OP"]
    return frozenset(code.co_code[at : at + 2] for at in places)


def caller_of(error: BaseException) -> Caller | None:
    """Return the line outside gradwrap that an error came from, or None."""
    frames = reversed(list(_inwards(error.__traceback__)))
    return next(_callers(frames), None)


def _outwards(frame: FrameType | None) -> Iterator[tuple[FrameType, int, int]]:
    while frame is not None:
        yield frame, frame.f_lineno, frame.f_lasti
        frame = frame.f_back


def _inwards(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti
        traceback = traceback.tb_next


def _callers(frames: Iterable[tuple[FrameType, int, int]]) -> Iterator[Caller]:
    from gradwrap.core.observing.called import called_at  # it parses code, for messages alone

    passed_by = PASSED_BY | libraries()
    of_standard = libraries() - registered() | {"array_api_compat"}
    namespace = ""
    rest = iter(frames)
    for frame, line, instruction in rest:
        if _is_generated_method(frame.f_code):
            continue
        module = str(frame.f_globals.get("__name__", ""))
        if package_of(module) not in passed_by:
            uses = _uses_drop_in(frame)
            is_store = _is_store(frame.f_code, instruction)
            calls = [_names(frame), *(_names(outer) for outer, _, _ in rest)]
            own = [one for one in calls if package_of(one[0]) == package_of(module)]
            yield Caller(
                frame.f_code,
                line,
                module,
                uses,
                is_store,
                MARK in frame.f_globals,
                called_at(frame, instruction),
                namespace,
                tuple(own[::-1]),
            )
        elif package_of(module) in of_standard:
            namespace = package_of(module)
        elif package_of(module) == "gradwrap":
            namespace = ""


def _is_generated_method(code: CodeType) -> bool:
    """Tell if a method has no source, as `__hash__` and `__eq__` of a data class."""
    return code.co_filename == "<string>" and code.co_name.startswith("__")


def is_passed_by(frame: FrameType) -> bool:
    """Tell if a frame runs code of gradwrap, of a library of arrays or of the standard library."""
    return package_of(str(frame.f_globals.get("__name__", ""))) in PASSED_BY | libraries()


def _names(frame: FrameType) -> tuple[str, tuple[str, ...]]:
    """Return a frame's module, and the names of its function and of those in its closure."""
    held = (frame.f_locals.get(name) for name in frame.f_code.co_freevars)
    names = [getattr(value, "__name__", "") for value in held if callable(value)]
    return str(frame.f_globals.get("__name__", "")), (frame.f_code.co_name, *names)


drop_ins: list[Any] = []
"""The modules that stand for NumPy. They enter themselves."""


def _uses_drop_in(frame: FrameType) -> bool:
    values = (*frame.f_globals.values(), *frame.f_locals.values())
    return any(value is drop_in for drop_in in drop_ins for value in values)


def _is_store(code: CodeType, instruction: int) -> bool:
    from opcode import opname  # for errors alone

    return opname[code.co_code[instruction]] in STORES


def check_store_of_view() -> None:
    """Refuse a store by C code of an array's view into the array, as in `shuffle`.

    It exchanges rows through copies of a NumPy array, and through views of any other.
    """
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        if "adaptation" in parts_of(frame.f_code.co_filename):
            return  # a store that was rewritten
        frame = frame.f_back
    if frame is not None and not _is_store(frame.f_code, frame.f_lasti):
        caller = current_caller()
        raise InPlaceError(
            f"a row was stored in another place of its own array {caller or ''}, not by an "
            "assignment but by a function written in C. NumPy's shuffle does so, and would give "
            "some rows twice and others not at all. "
            "Fix: x = x[rng.permutation(len(x))], or x[i] = x[j].copy()."
        )


# Messages -----------------------------------------------------------------------------------------


advisers: dict[str, Callable[[Caller], str]] = {}
"""The advice about a package for which there are rules, by its name."""
remedies_of_calls: list[Callable[[Called], str]] = []
"""Functions that return what to write in place of a call, or "" if they do not know it."""


def remedy(caller: Caller | None, fix: str) -> str:
    """Return a remedy for code that cannot take a tracked value.

    It is `fix` where the user can change that code, and leaves an installed package unchanged.
    """
    if caller is None:
        return fix
    text = _remedy_in(caller, fix)
    if caller.is_adapted or (caller.package in advisers and _is_called_by_adapted_code()):
        text = (
            f'{text.rstrip(".")}; or gradwrap.adapting(f, compiled="numerical") takes the '
            "derivative by differences."
        )
    return text


def _is_called_by_adapted_code() -> bool:
    """Tell if a function of an adapted module is being run."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # documented, private by its name alone
    while frame is not None:
        if MARK in frame.f_globals:
            return True
        frame = frame.f_back
    return False


def _remedy_in(caller: Caller, fix: str) -> str:
    if caller.namespace:
        adapt = ", or differentiate gradwrap.adapting(f) in place of your function f"
        return (
            f"the functions of {caller.namespace} take plain arrays alone: take the namespace from "
            "the array, xp = x.__array_namespace__() or array_api_compat.array_namespace(x)"
            f"{'' if caller.is_adapted else adapt}."
        )
    if not caller.package:
        found = caller.called
        texts = (give(found) for give in remedies_of_calls) if found is not None else ()
        return next(filter(None, texts), fix)
    if caller.package in advisers:
        return advisers[caller.package](caller)
    adapt = (
        ""
        if caller.is_adapted or is_never_adapted(caller.package)
        else "differentiate gradwrap.adapting(f) in place of your function f, or call "
        f'gradwrap.adapt("{caller.package}") once; or '
    )
    return (
        f"{caller.package} is not written for tracked values: {adapt}make the function of it that "
        "you call one operation with gradwrap.primitive, and give that a rule with "
        "gradwrap.defvjp; or give it .detach() (an array) or .item() (a number) if no gradient is "
        "wanted."
    )


def buffers(caller: Caller | None) -> str:
    """Return advice on making an array that can store tracked values."""
    anywhere = "with gradwrap.wrap(np.zeros(...))"
    if not is_differentiating():
        return anywhere
    if caller is not None and caller.uses_drop_in:
        return f"inside the function that is differentiated, or {anywhere}"
    return f"with gradwrap.numpy.zeros inside the function that is differentiated, or {anywhere}"


def conversions(caller: Caller | None) -> str:
    """Return advice on avoiding the conversion of a tracked array to a plain one."""
    use = (
        "use only functions of gradwrap.numpy (np.dot(a, x), not a.dot(x) of a plain array a; "
        "x.astype(dtype), not np.float64(x); m + s * np.random.normal(), not "
        "np.random.normal(m, s)); make another package's function one operation with "
        "gradwrap.primitive"
        if caller is not None and caller.uses_drop_in
        else "import gradwrap.numpy as np, whose np.array, np.asarray, np.sum and others take "
        "tracked values, and lists of them"
    )
    return f"{use}; or take .detach() (an array) or .item() (a number) if no gradient is wanted."


class Refusal(Record):
    """An error of a conversion, and the line of code that asked for it."""

    error: type[GradwrapError]
    message: str
    code: CodeType
    line: int


noted: ContextVar[Refusal | None] = ContextVar("gradwrap_refusal", default=None)
"""The last refusal of a conversion. C code that asked for it may put its own error in the place."""


noted_elsewhere: list[Refusal | None] = [None]
"""The last refusal in a thread that a function has started: Python prints such an error."""


def refused(caller: Caller | None, error: GradwrapError) -> GradwrapError:
    """Note an error that other code may replace by its own, and return it."""
    if caller is not None:
        noted.set(Refusal(type(error), str(error), caller.code, caller.line))
        if not is_differentiating():  # a thread begins without the context of its starter
            noted_elsewhere[0] = noted.get()
    return error


def leaving(what: str, fix: str = "", *, into: str = "a plain") -> GradwrapError:
    """Return the error for a value that operation `what` would take out of the graph.

    `fix` is the remedy, by default that for a conversion to an array. An assignment `a[i] = x`
    has a remedy of its own; `into` says what array `a` is, and is empty if `x` is the index.
    """
    caller = current_caller()
    if caller is not None and caller.is_store and into:
        what = f"A store into {into} numpy.ndarray"
        dtype = "" if into == "a plain" else " with dtype=float:"
        out = "store .detach() (an array) or .item() (a number) if no gradient is wanted."
        fix = f"make it{dtype} {buffers(caller)}; or {out}"
    place = "" if caller is None else f" {caller}"
    message = (
        f"{what}{place} would take a tracked value out of the graph, and drop its gradient. "
        f"Fix: {remedy(caller, fix or conversions(caller))}"
    )
    return refused(caller, TrackedValueError(message))


def latest_refusal(error: BaseException) -> GradwrapError | None:
    """Return the gradwrap error that C code replaced by this one, or None.

    C code that calls back before it looks at an error runs the callback with the error pending.
    Python may then fail to find an attribute. The latest refusal is forgotten.
    """
    latest, caller = noted.get(), caller_of(error)
    noted.set(None)
    if latest is None or caller is None:
        return None
    lines = [(frame.f_code, line) for frame, line, _ in _inwards(error.__traceback__)]
    places = lines if isinstance(error, AttributeError) else [(caller.code, caller.line)]
    return latest.error(latest.message) if (latest.code, latest.line) in places else None
