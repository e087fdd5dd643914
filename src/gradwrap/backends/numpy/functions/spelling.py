"""NumPy's signatures as text, and functions generated from them.

A row of the table, or a function of this package, says how NumPy spells it:

    sum add.reduce(a, axis=None, dtype=None, out=None, keepdims=NoValue, initial=NoValue, ...)
    tile(A, reps) -> A, sizes(reps)
    where(condition, x=NoValue, y=NoValue, /) -> mask(xp, condition), x, y when y is not NoValue

First come NumPy's names for it, then NumPy's signature. Behind `->` stand the arguments of the
standard's function, in NumPy's parameters and the functions of `converting`; where this is left
out, they are the parameters of the same names. Behind `when` stands the condition under which a
call may go straight to the operation.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.backends.numpy.functions import converting
from gradwrap.core.array.protocol import ELSEWHERE
from gradwrap.core.calls.source import execute
from gradwrap.core.levels.wrapper import is_recorded
from gradwrap.core.observing.parsing import parsed
from gradwrap.core.table.registry import GENERIC, ops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradwrap.core.table.rule import Rule

Implementation = Callable[..., Any]
NUMPY: Any = np
Parameters = dict[str, inspect.Parameter]
# filled while this package is imported, and only read from then on
ALWAYS: set[Any] = set()
"""The functions whose implementation also answers for arrays that are not tracked: they give
views, or write. For all others, NumPy itself does."""
COMPLETED: dict[Any, Implementation] = {}
"""The code for arguments of NumPy's that the standard's function does not take."""
UFUNC_METHODS: dict[tuple[Any, str], Any] = {}
"""From a ufunc and the name of its method to NumPy's function that does the same."""


class Spelling:
    """One NumPy function: its signature, and the function that its arguments go to."""

    def __init__(
        self,
        name: str,
        text: str,
        *,
        path: str = "",
        rule: Rule | None = None,
        code: Implementation | None = None,
        arrays: int = 0,
    ) -> None:
        call, _, condition = text.partition(" when ")
        signature, _, arguments = call.partition(" -> ")
        self.name: str = name
        self.path: str = path  # of the standard's function
        self.rule: Rule | None = rule
        self.code: Implementation | None = code
        self.arrays: int = arrays  # so many parameters are made arrays for `code`
        self.condition: str = condition
        self._arguments: str = arguments
        self.signature: str = signature[signature.index("(") + 1 : signature.rindex(")")]

    @functools.cached_property
    def parameters(self) -> Parameters:
        """The parameters of NumPy's function."""
        function = eval(f"lambda {self.signature}: None", {**vars(converting)})  # noqa: S307  a table's
        return dict(inspect.signature(function).parameters)

    @functools.cached_property
    def arguments(self) -> str:
        """The arguments for the standard's function."""
        if self._arguments or self.rule is None:
            return self._arguments or ", ".join(_passed(self.parameters.values()))
        count = len(self.rule.arrays)
        passed = list(self.parameters)[:count]
        for name in self.rule.parameters[count:]:
            if name in self.parameters:
                passed.append(f"{name}={name}")
        return ", ".join(passed)

    def general(self) -> Implementation:
        """Write the function of the namespace `xp` and NumPy's arguments."""
        first = "xp_" if "xp" in self.parameters else "xp"
        if self.code is None:
            result = f"{first}.{self.path}({self.arguments})"
        else:
            result = f"code({', '.join([first, *self._for_code(first)])})"
        alone = "" if "/" in self.signature else "/, "  # a user's function may have an `xp`, too
        found: Implementation = self._written(f"{first}, {alone}", [], result, {"code": self.code})
        return found

    def bound(self, xp: Any) -> Any:
        """Write the function that calls the operation, or returns `ELSEWHERE` if it cannot."""
        call = functools.reduce(getattr, self.path.split("."), xp)
        tree = parsed(f"call({self.arguments})")
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        reasons = [_is_given(p) for name, p in self.parameters.items() if name not in used]
        if self.condition:
            reasons.append(f"not ({self.condition})")
        checks = [f"if {' or '.join(reasons)}: return ELSEWHERE"] if reasons else []
        scope = {"call": call, "xp": xp, "ELSEWHERE": ELSEWHERE}
        function = self._written("", checks, f"call({self.arguments})", scope)
        function.path = self.path  # by which it is forgotten when the rule changes
        return function

    def _written(self, first: str, checks: list[str], result: str, scope: dict[str, Any]) -> Any:
        name = self.name.rpartition(".")[2]
        keepdims = self.parameters.get("keepdims")
        if keepdims is not None and keepdims.default is converting.NoValue:
            checks = [*checks, "if keepdims is NoValue: keepdims = False"]
        lines = [f"def {name}({first}{self.signature}):", *checks, f"return {result}"]
        scope = {**vars(converting), "is_recorded": is_recorded, **scope}
        execute("\n    ".join(lines), scope, f"np.{self.name}")
        return scope.pop(name)

    def _for_code(self, xp: str) -> Iterator[str]:
        """Yield the arguments of `code` by its parameter names, `path` and `name` included.

        Its `**options` are all parameters that it does not name.
        """
        assert self.code is not None
        wanted = list(inspect.signature(self.code).parameters.values())[1:]
        given = {name: name for name in self.parameters}
        given |= {name: f"{xp}.asarray({name})" for name in list(given)[: self.arrays]}
        given |= {"path": repr(self.path), "name": repr(self.name.rpartition(".")[2])}
        by_name = False
        for p in wanted:
            word = p.name.removesuffix("_")  # NumPy's parameter `xp` is `xp_` there
            if p.kind == p.VAR_POSITIONAL:
                yield f"*{word}"
            elif p.kind == p.VAR_KEYWORD and word in given:
                yield f"**{word}"
            elif p.kind == p.VAR_KEYWORD:
                rest = given.keys() - {w.name for w in wanted} - {"out", "path", "name"}
                yield from (f"{name}={name}" for name in self.parameters if name in rest)
            elif word in given:
                by_name = by_name or p.kind == p.KEYWORD_ONLY
                yield f"{p.name}={given[word]}" if by_name else given[word]
            else:
                by_name = True


SPELLED: dict[Any, Spelling] = {}
"""From a function of NumPy's to its spelling."""


def enter(text: str, *, always: bool = False, **options: Any) -> None:
    """Enter a signature text for those of its functions that the installed NumPy has."""
    entered: list[Any] = []
    for name in text[: text.index("(")].split():
        owner, function = named(name)
        if isinstance(owner, np.ufunc):
            UFUNC_METHODS[owner, function.__name__] = entered[0]
        elif function is not None and not isinstance(function, np.ufunc):
            known: dict[str, Any] = {"code": COMPLETED.get(function), **options}
            SPELLED[function] = Spelling(name, text, **known)
            entered.append(function)
    if always:
        ALWAYS.update(entered)


def named(name: str) -> tuple[Any, Any]:
    """Find a NumPy function by its name; return its module or ufunc, and the function."""
    head, _, last = name.rpartition(".")
    owner: Any = functools.reduce(getattr, head.split("."), NUMPY) if head else NUMPY
    return owner, getattr(owner, last, None)


def enter_rows() -> None:
    """Enter the NumPy functions named by rows of the table."""
    for op in ops():
        rule = op.rules.get(GENERIC)
        if rule is None:
            continue
        for text in rule.numpy:
            whole = text if "(" in text else f"{text}({rule.signature_text})"
            enter(whole, always=rule.views is not None, path=op.name, rule=rule)


def _passed(parameters: Any) -> Iterator[str]:
    """Write how parameters are passed on."""
    for p in parameters:
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**", p.KEYWORD_ONLY: f"{p.name}="}
        yield star.get(p.kind, "") + p.name


def _is_given(parameter: inspect.Parameter) -> str:
    """Write the test whether an argument differs from its default."""
    name, default = parameter.name, parameter.default
    if parameter.kind == parameter.VAR_KEYWORD:
        return name
    if default is converting.NoValue:
        return f"{name} is not NoValue"
    return f"{name} is not {default!r}" if default is None else f"{name} != {default!r}"
