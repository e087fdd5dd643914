"""Loops that find numbers by comparisons, and their code with these numbers shifted.

A search has a state: what a turn of the loop reads before it assigns it, such as the limits of a
bisection. Without a loop, it is what a function reads of an object and stores there, or what a
function gives itself when it calls itself. Before the first turn,

    lo, hi = 0.0, 1.0
    begin(key, ...)
    lo = shifted(key, lo)
    hi = shifted(key, hi)

adds a number of the value zero to all of the state, by whose derivative the numbers found move.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gradwrap.core.observing.caches import syntax_of
from gradwrap.core.values.dynamic import LIST, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import CodeType

    from gradwrap.core.array.steered import Found

BEGIN, SHIFTED = "__gradwrap_begin__", "__gradwrap_shifted__"
LOOPS = (ast.While, ast.For)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
PLACES = (ast.Name, ast.Attribute)
WHOLE = 0
"""The line that stands for all of a function, in place of a loop's."""
Place: TypeAlias = tuple[str, str, int]
"""A file, the name of a function and its first line."""


class Loop(NamedTuple):
    """A loop, or a function that is called again and again."""

    first: int
    last: int
    state: tuple[tuple[str, bool], ...]
    """The texts of what is its state, and whether it may be a whole number at first."""


Loops: TypeAlias = dict[Place, dict[int, Loop]]
"""By function: the loops to be written anew, by line."""


def place_of(code: CodeType) -> Place:
    """Return the place of a function."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


def loops_of(found: Iterable[Found], *, are_all: bool) -> Loops:
    """Return the loops in which comparisons were made: all around them, or the inner ones."""
    loops: Loops = {}
    for one in found:
        for code, names, line in one.stack:
            around = list(_around(code, names, line))
            for at, loop in around if are_all else around[:1]:
                loops.setdefault(place_of(code), {})[at] = loop
            if around and not are_all:
                break
    return loops


def key_of(file: str, at: int, loop: Loop) -> str:
    """Return the key of a loop: its file, and its lines."""
    return f"{file}:{loop.first}:{at}"


def only(loops: Loops, keys: frozenset[str]) -> Loops:
    """Return the loops that have one of the keys."""
    kept = {
        place: {at: loop for at, loop in found.items() if key_of(place[0], at, loop) in keys}
        for place, found in loops.items()
    }
    return {place: found for place, found in kept.items() if found}


def _around(code: CodeType, names: dict[str, Any], line: int) -> Iterator[tuple[int, Loop]]:
    """Yield the loops of a function around a line that have a state, the inner ones first."""
    function = syntax_of(code, names)
    if function is None:
        return
    ast.increment_lineno(function, code.co_firstlineno - 1)
    is_in_loop = False
    for node in reversed(list(_in_scope(function))):  # inner ones last
        if isinstance(node, LOOPS) and node.lineno <= line <= (node.end_lineno or line):
            is_in_loop = True
            state = _state_of([node])
            if state:
                yield node.lineno, Loop(node.lineno, node.end_lineno or line, state)
    if is_in_loop:
        return
    own = tuple(one for one in _state_of(function.body) if "." in one[0])
    state = own or tuple(_given_on(function))
    if state:
        yield WHOLE, Loop(function.lineno, function.end_lineno or line, state)


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a node, but for the functions that it defines, from the outside in."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, SCOPES):
            yield from _in_scope(child)


def _state_of(statements: list[ast.stmt]) -> tuple[tuple[str, bool], ...]:
    """Return the texts that statements read before they assign them, and assign."""
    stored: dict[str, bool] = {}
    for statement in statements:
        for node in (statement, *_in_scope(statement)):
            for text, is_counted in _stored_by(node):
                stored[text] = stored.get(text, False) or is_counted
    reads = _Reads()
    reads.block(statements, frozenset())
    return tuple(
        (text, not is_counted) for text, is_counted in stored.items() if text in reads.found
    )


def _stored_by(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the texts that a node assigns, and whether their new values are made of the old."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from ((text, _counts(text, value)) for text in _texts_in(target))
        case ast.AugAssign(target=target):
            yield from ((text, True) for text in _texts_in(target))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from ((text, _counts(text, value)) for text in _texts_in(target))
        case ast.NamedExpr(target=target) | ast.For(target=target):
            yield from ((text, True) for text in _texts_in(target))
        case _:
            pass


def _counts(text: str, value: ast.expr) -> bool:
    """Tell if a value is a sum or the like of what it is assigned to."""
    return isinstance(value, ast.BinOp) and any(text == one for one in _read_in(value))


def _texts_in(target: ast.expr) -> Iterator[str]:
    """Yield the texts of the places in a target; that of an element is the whole's."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _texts_in(part)
    elif isinstance(target, (ast.Subscript, ast.Starred)):
        yield from _texts_in(target.value)
    elif isinstance(target, PLACES):
        yield ast.unparse(target)


def _read_in(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, PLACES) and isinstance(one.ctx, ast.Load):
            yield ast.unparse(one)


LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_PARTS: dict[type[ast.stmt], tuple[str, ...]] = {
    **dict.fromkeys((ast.If, ast.While), ("test",)),
    **dict.fromkeys((ast.Assign, ast.AugAssign), ("value",)),
    ast.For: ("iter",),
    ast.Try: (),
    ast.With: ("items",),
    ast.AnnAssign: ("value",),
}
"""What statements read first."""


class _Reads:
    """What statements read before they are sure to have assigned it."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def block(self, statements: list[Any], known: frozenset[str]) -> frozenset[str] | None:
        """Read statements after others; return what is assigned then, None if nothing follows."""
        for statement in statements:
            after = self._statement(statement, known)
            if after is None:
                return None
            known = after
        return known

    def _statement(self, node: Any, known: frozenset[str]) -> frozenset[str] | None:
        for part in _PARTS.get(type_of(node), ()):
            read = getattr(node, part)
            for one in read if type_of(read) is LIST else filter(None, [read]):
                self._read(one, known)
        match node:
            case ast.If():
                return _common(self.block(node.body, known), self.block(node.orelse, known))
            case ast.While() | ast.For() | ast.Try() | ast.With():
                begins = known.union(_texts_in(node.target)) if type(node) is ast.For else known
                handlers = getattr(node, "handlers", [])
                orelse = getattr(node, "orelse", [])
                for body in (node.body, orelse, *(one.body for one in handlers)):
                    self.block(body, begins)
                return self.block(getattr(node, "finalbody", []), known)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                if isinstance(node, ast.AugAssign):
                    self.found.update(set(_texts_in(node.target)) - known)
                targets: Any = getattr(node, "targets", None) or [getattr(node, "target", None)]
                return self._assigned(targets, known)
            case _:
                if type_of(node) not in _PARTS:
                    self._read(node, known)
                return None if isinstance(node, LEAVING) else known

    def _assigned(self, targets: list[ast.expr], known: frozenset[str]) -> frozenset[str]:
        for target in targets:
            for part in (target, *_in_scope(target)):
                if isinstance(part, ast.Subscript):  # the other elements are what they were
                    self.found.update(set(_texts_in(part)) - known)
                    self._read(part.slice, known)
            known = known.union(_texts_in(target))
        return known

    def _read(self, node: ast.AST, known: frozenset[str]) -> None:
        self.found.update(set(_read_in(node)) - known)


def _common(*ends: frozenset[str] | None) -> frozenset[str] | None:
    """Return what is assigned at the end of each branch that goes on."""
    found: frozenset[str] | None = None
    for one in ends:
        if one is not None:
            found = one if found is None else found & one
    return found


def _given_on(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, bool]]:
    """Yield the parameters that a function exchanges when it calls itself."""
    parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    changed: dict[str, bool] = {}
    for node in _in_scope(function):
        if not isinstance(node, ast.Call):
            continue
        is_method = isinstance(node.func, ast.Attribute)
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        if name != function.name:
            continue
        given = list(zip(parameters[is_method:], node.args, strict=False))
        given += [(word.arg, word.value) for word in node.keywords if word.arg is not None]
        for parameter, value in given:
            if not isinstance(value, ast.Name) or value.id != parameter:
                changed[parameter] = changed.get(parameter, False) or _counts(parameter, value)
    yield from ((name, not is_counted) for name, is_counted in changed.items())


# Writing ------------------------------------------------------------------------------------------


class Shifts(ast.NodeTransformer):
    """A writer of what is done before loops."""

    def __init__(self, file: str, loops: Mapping[Place, Mapping[int, Loop]]) -> None:
        self._loops = {(at[2], at[1].rpartition(".")[2]): one for at, one in loops.items()}
        self._file = file

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Write a function anew."""
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        loops = self._loops.get((first, node.name), {})
        for part in list(_in_scope(node)) if loops else ():
            for field in ("body", "orelse", "finalbody"):
                block: Any = getattr(part, field, None)
                if type_of(block) is LIST:
                    setattr(part, field, list(self._with_shifts(block, loops)))
        if loops:
            node.body = list(self._with_shifts(node.body, loops))
        if WHOLE in loops:
            has_text = ast.get_docstring(node) is not None
            node.body[has_text:has_text] = self._before(loops[WHOLE], WHOLE, node)
        self.generic_visit(node)
        return node

    def _with_shifts(self, block: list[Any], loops: Mapping[int, Loop]) -> Iterator[Any]:
        for statement in block:
            if isinstance(statement, LOOPS) and statement.lineno in loops:
                at = statement.lineno
                yield from self._before(loops[at], at, statement)
            yield statement

    def _before(self, loop: Loop, at: int, node: ast.stmt) -> list[ast.stmt]:
        key = key_of(self._file, at, loop)
        texts = " ".join(text for text, _ in loop.state)
        lines = [f"{BEGIN!r}({key!r}, {loop.first}, {loop.last}, {texts!r})"]
        for text, may_be_whole in loop.state:
            lines += [
                f"try: {text} = {SHIFTED!r}({key!r}, {text}, {may_be_whole})",
                "except (NameError, AttributeError): pass",
            ]
        tree = ast.parse("\n".join(lines))
        for one in ast.walk(tree):
            if isinstance(one, (ast.stmt, ast.expr, ast.ExceptHandler)):
                ast.copy_location(one, node)
                one.end_lineno, one.end_col_offset = node.lineno, node.col_offset
        return tree.body
