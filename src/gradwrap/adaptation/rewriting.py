"""Rewritten calls where no stand-in works: methods of plain arrays, lists for ufuncs, classes.

`plain.dot(x)` asks the plain array alone, and `plain.copy()` makes an array that cannot hold
tracked values. A module that calls such methods is compiled again from its source, with
`call_method(plain, "dot", x)` in their place; its functions get the new code, line by line as it
was. Where there is no source, or another than the module was made from, they keep their own.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import itertools
import linecache
import re
import warnings
from opcode import opmap
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation import caught, found_numbers, last_calls, rounded_keys
from gradwrap.adaptation import pydantic as validators
from gradwrap.adaptation.builtin_names import CLASSES, is_instance, real, standing_kind
from gradwrap.adaptation.compiled_calls import NAMES as COMPILED
from gradwrap.adaptation.compiled_calls import OPERATE, CompiledCalls, joined
from gradwrap.adaptation.plain_values import of_objects
from gradwrap.adaptation.search_loops import Shifts, place_of
from gradwrap.adaptation.stand_ins import original_of, own_namespace
from gradwrap.adaptation.steps import LOAD_GLOBAL, kinds_of, steps_of
from gradwrap.adaptation.storing import NAMES as STORING
from gradwrap.adaptation.storing import SYMBOLS, WRITERS, Stores
from gradwrap.adaptation.structured import has_floats, structured
from gradwrap.adaptation.subclasses import held, new_instance, super_of
from gradwrap.backends.drop_in import UFUNC_METHODS
from gradwrap.core.array.adapted import callers_for, shown_as
from gradwrap.core.array.texts import refuse_reading
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.parsing import end_of_block, indent_of, last_line, parsed
from gradwrap.core.values.dynamic import TUPLE, attribute_or_none, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradwrap.adaptation.search_loops import Loops

Rewritten: TypeAlias = Literal[0, 1, 2]
"""What is rewritten beside what always is: nothing, stores, or calls of compiled code, too."""
STORED: Rewritten = 1
CALLS: Rewritten = 2
ours: Any = drop_in
NUMPYS: Any = (np.ndarray, np.generic)
MATCH_CLASS = opmap["MATCH_CLASS"]
NAMESPACE = "__array_namespace__"
METHODS = frozenset(
    {
        NAMESPACE,
        *("__array__", "__getattribute__", "__new__", "astype", "copy", "dot", "ndarray"),
        *("recarray", "type"),
        *validators.METHODS,
    }
)


def call_method(owner: Any, name: str, /, *args: Any, **options: Any) -> Any:
    """Call `owner.name(*args)`; a plain array acts as a variable would."""
    if type_of(owner) is np.ndarray:
        if name == "dot":
            return np.dot(owner, *args, **options)
        if name == "astype" and owner.dtype.kind in "US":
            refuse_reading(owner)
        is_of_objects = name == "astype" and of_objects(owner)
        if is_of_objects or (is_differentiating() and owner.dtype.kind in "fc"):
            owner = ours.array(owner.tolist() if is_of_objects else owner)
        elif name == "copy" and is_differentiating() and owner.dtype.names:
            owner = structured(owner) if has_floats(owner.dtype) else owner
    elif name == "__array__" and isinstance(owner, AnyWrapper) and not args:
        return owner
    elif name == "__getattribute__" and isinstance(owner, AnyWrapper):
        return getattr(owner, *args)  # a variable has NumPy's methods when they are asked for
    elif name in ("__new__", "ndarray", "recarray") and is_differentiating():
        make = made_in if name == "__new__" else new_array
        return make(getattr(owner, name), *args, **options)
    elif name == "type" and isinstance(owner, np.dtype):
        kind: Any = attribute_or_none(owner, "type")
        return STANDING.get(kind, kind)(*args, **options)
    return getattr(owner, name)(*args, **options)


def call_unbound(kind: Any, name: str, /, *args: Any, **options: Any) -> Any:
    """Call `kind.name(*args)`; a method of arrays takes a variable, too."""
    if kind is np.ndarray and args and isinstance(args[0], AnyWrapper):
        return getattr(args[0], name)(*args[1:], **options)
    return call_method(kind, name, *args, **options)


callers_for.update((call_method.__code__, call_unbound.__code__, validators.call.__code__))


def new_array(kind: Any, *args: Any, **options: Any) -> Any:
    """Call `np.ndarray(shape, dtype)`, with a result that can hold tracked values."""
    if kind is np.recarray and is_differentiating():
        made = kind(*args, **options)  # `buf=` shares the memory of a plain array
        is_new = len(args) < 3 and options.get("buf") is None and has_floats(made.dtype)
        return structured(made) if is_new else made
    if kind is not np.ndarray or len(args) > 2 or not options.keys() <= {"shape", "dtype", "order"}:
        return kind(*args, **options)
    return ours.empty(*args, **options) if is_differentiating() else kind(*args, **options)


def made_in(make: Any, kind: Any, *args: Any, **options: Any) -> Any:
    """Call `make(kind, ...)`, a constructor of instances that may have to hold tracked values."""
    if make is np.ndarray.__new__ and options.get("buffer") is None and len(args) < 3:
        array = new_array(np.ndarray, *args, **options)
        if kind is not np.ndarray and isinstance(array, AnyWrapper):
            return held(array, kind)
    return new_instance(make, kind, *args, **options)


def class_of(value: Any) -> Any:
    """Return `value.__class__`; that of a variable is what `type` says."""
    is_shown = isinstance(value, AnyWrapper) or id(type_of(value)) in shown_as
    return standing_kind(value) if is_shown else value.__class__


@functools.cache
def matching(kind: Any) -> Any:
    """Return what stands for a class of arrays or numbers of NumPy in `case kind(...)`."""
    if not (isinstance(kind, type) and issubclass(kind, NUMPYS)):
        return kind

    def is_case(_: Any, value: Any) -> bool:
        return is_instance(value, kind)

    metaclass: Any = type("Matching", (type,), {"__instancecheck__": is_case})
    return metaclass(kind.__name__, (), {"__match_args__": getattr(kind, "__match_args__", ())})


def are_same(left: Any, right: Any) -> bool:
    """Tell if two objects, or the classes that they stand for, are the same."""
    return real(left) is real(right)


def truth(value: Any) -> Any:
    """Return what a `__bool__` returns, as a truth of Python if it is a variable."""
    return bool(value) if isinstance(value, AnyWrapper) else value


STANDING: dict[Any, Any] = dict(CLASSES)
"""What stands for classes: of numbers, of generators, `np.poly1d`."""

NAMES: dict[str, Any] = {
    "__gradwrap_call__": call_method,
    "__gradwrap_class__": class_of,
    "__gradwrap_new__": new_array,
    "__gradwrap_unbound__": call_unbound,
    "__gradwrap_super__": super_of,
    "__gradwrap_join__": joined,
    "__gradwrap_same__": are_same,
    "__gradwrap_matching__": matching,
    "__gradwrap_namespace__": own_namespace,
    "__gradwrap_truth__": truth,
    "__gradwrap_validate__": validators.call,
}
"""The functions that the new code calls, as in `storing`."""


class _Calls(ast.NodeTransformer):
    """A rewriter of calls."""

    def __init__(self, namespace: dict[str, Any], codes: list[CodeType]) -> None:
        self._namespace = namespace
        self._keeping = {one.co_firstlineno for one in codes if last_calls.may_keep(one)}
        """The first lines of the functions that may keep their last arguments."""
        self._caching = {one.co_firstlineno for one in codes if rounded_keys.may_cache(one)}
        """The first lines of the functions that may have a cache."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and _names_ndarray(function.value):
            leading = [function.value, ast.Constant(function.attr)]
            return _call("__gradwrap_unbound__", [*leading, *node.args], node.keywords, node)
        if isinstance(function, ast.Attribute) and function.attr == NAMESPACE:
            given = [function.value, *node.args]
            return _call("__gradwrap_namespace__", given, node.keywords, node)
        if isinstance(function, ast.Attribute) and function.attr in METHODS:
            leading = [function.value, ast.Constant(function.attr)]
            is_validators = function.attr in validators.METHODS
            name = "__gradwrap_validate__" if is_validators else "__gradwrap_call__"
            return _call(name, [*leading, *node.args], node.keywords, node)
        if isinstance(function, ast.Name) and function.id == "super" and node.args:
            return _call("__gradwrap_super__", [function, *node.args], [], node)
        if isinstance(function, ast.Name) and function.id == "ndarray":
            return _call("__gradwrap_new__", [function, *node.args], node.keywords, node)
        if self._is_ufunc(function):
            is_at = isinstance(function, ast.Attribute) and function.attr == "at"
            node.args = [_joined(arg, is_key=is_at) for arg in node.args]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        is_own = isinstance(node.value, ast.Name) and node.value.id == SELF
        if node.attr != "__class__" or not isinstance(node.ctx, ast.Load) or is_own:
            return node
        return _call("__gradwrap_class__", [node.value], [], node)

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        """Rewrite `case np.ndarray():` to a name of what is asked about variables, too."""
        self.generic_visit(node)
        found: list[ast.stmt] = []
        line = node.lineno
        patterns = [one for case in node.cases for one in ast.walk(case.pattern)]
        for pattern in patterns:
            if isinstance(pattern, ast.MatchClass) and isinstance(pattern.cls, ast.Attribute):
                name = f"__gradwrap_case_{line}_{len(found)}"
                value = _call("__gradwrap_matching__", [pattern.cls], [], pattern.cls)
                store = ast.copy_location(ast.Name(name, ast.Store()), node)
                found.append(ast.copy_location(ast.Assign([store], value), node))
                pattern.cls = ast.copy_location(ast.Name(name, ast.Load()), pattern.cls)
        return [*found, node]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        caught.rewrite(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if _first_line(node) in self._keeping:
            last_calls.rewrite(node)
        if _first_line(node) in self._caching:
            rounded_keys.rewrite(node)
        if node.name == "__bool__":
            for one in ast.walk(node):
                if isinstance(one, ast.Return) and one.value is not None:
                    one.value = _call("__gradwrap_truth__", [one.value], [], one.value)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Rewrite `x in {0.0, 1.0}` to a look into a tuple, which needs no hash of `x`.

        `a.dtype.type is np.float64` compares what stand-ins stand for.
        """
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        names_type = any(isinstance(one, ast.Attribute) and one.attr == "type" for one in sides)
        if names_type and len(sides) == 2 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            same = _call("__gradwrap_same__", sides, [], node)
            negated = ast.copy_location(ast.UnaryOp(ast.Not(), same), node)
            return same if isinstance(node.ops[0], ast.Is) else negated
        node.comparators = [
            ast.copy_location(ast.Tuple(other.elts, ast.Load()), other)
            if isinstance(symbol, (ast.In, ast.NotIn)) and _is_set_of_numbers(other)
            else other
            for symbol, other in zip(node.ops, node.comparators, strict=True)
        ]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        symbol = SYMBOLS.get(type(node.op))
        if symbol is None or not isinstance(node.left, ast.List) ^ isinstance(node.right, ast.List):
            return node
        args = [ast.Constant(symbol), node.left, node.right]
        return _call(OPERATE, args, [], node)

    def _is_ufunc(self, function: ast.expr) -> bool:
        """Tell if an expression names a NumPy ufunc or a method of a ufunc."""
        if isinstance(function, ast.Attribute) and function.attr in UFUNC_METHODS:
            function = function.value
        return issubclass(type_of(self._value_of(function)), np.ufunc)

    def _value_of(self, expression: ast.expr) -> Any:
        """Return the object that a name, or a name in a module, refers to without stand-ins."""
        if isinstance(expression, ast.Name):
            return original_of(self._namespace.get(expression.id))
        if isinstance(expression, ast.Attribute):
            module = self._value_of(expression.value)
            names = vars(module) if isinstance(module, ModuleType) else {}
            return original_of(names.get(expression.attr))
        return None


SELF = "self"
"""What methods call their object, whose class is its own."""
FUNCTIONS: dict[str, Any] = {
    **(STORING | NAMES | COMPILED | caught.NAMES | last_calls.NAMES),
    **(rounded_keys.NAMES | found_numbers.NAMES),
}
UFUNCS = frozenset(name for name, value in vars(np).items() if isinstance(value, np.ufunc))
BUILD_LIST, BINARY_OP, INPLACE = opmap["BUILD_LIST"], opmap["BINARY_OP"], 13
"""Codes of instructions, and the least argument of `BINARY_OP` for an operator like `+=`."""
CALLING = frozenset(
    opmap[name] for name in ("BINARY_OP", "CALL", "CALL_KW", "CALL_FUNCTION_EX") if name in opmap
)
"""What calls functions or operators."""
WITHOUT_ARGUMENTS = frozenset((opmap[name], 0) for name in ("PRECALL", "CALL") if name in opmap)
STORES = frozenset(opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opmap)
LEFT_OUT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.Expr)
"""The statements that are left out if no function to rewrite begins in them."""
NO_LISTS = (ast.Constant, ast.Compare, ast.UnaryOp, ast.Starred, ast.Dict, ast.Lambda)
"""Arguments of ufuncs that are no lists, and those that stand for several."""


def _names_ndarray(expression: ast.expr) -> bool:
    """Tell if an expression is `ndarray`, or an attribute of that name."""
    name = getattr(expression, "attr", None) or getattr(expression, "id", None)
    return name == "ndarray"


def _are_numbers(constant: Any) -> bool:
    """Tell if a constant is what Python makes of a set of numbers."""
    numbers: Any = constant if type_of(constant) is frozenset else ()
    return bool(numbers) and all(isinstance(one, (int, float)) for one in numbers)


def _is_set_of_numbers(expression: ast.expr) -> TypeGuard[ast.Set]:
    return isinstance(expression, ast.Set) and all(
        isinstance(one, ast.Constant) and isinstance(one.value, (int, float))
        for one in expression.elts
    )


def _joined(arg: ast.expr, *, is_key: bool = False) -> ast.expr:
    """Wrap a list argument in a call that joins it; in a key, join each part of a tuple."""
    if is_key and isinstance(arg, ast.Tuple):
        arg.elts = [_joined(part) for part in arg.elts]
        return arg
    if is_key and not isinstance(arg, (ast.List, ast.ListComp)):
        return arg  # perhaps a tuple of keys
    return arg if isinstance(arg, NO_LISTS) else _call("__gradwrap_join__", [arg], [], arg)


def _call(name: str, args: list[ast.expr], keywords: list[ast.keyword], at: ast.expr) -> ast.Call:
    function = ast.copy_location(ast.Constant(name), at)
    return ast.copy_location(ast.Call(function, args, keywords), at)


class Rewriting:
    """The new codes of a module's functions, with the stores and calls that are to be new, too."""

    def __init__(
        self, namespace: dict[str, Any], what: Rewritten = 0, loops: Loops | None = None
    ) -> None:
        self._namespace = namespace
        self._what: Rewritten = what
        self._loops: Loops = loops or {}
        self._needing: dict[CodeType, None] = {}
        self._of_whole_source: set[CodeType] = set()
        self.found: dict[CodeType, CodeType] = {}

    def needs(self, code: CodeType) -> bool:
        """Tell if a function may need new code."""
        if code in self._needing:
            return True
        parts = all_codes(code)
        if not any(map(self._has_parts, parts)):
            return False
        self._needing[code] = None
        return True

    def _has_parts(self, code: CodeType) -> bool:
        if self._loops and place_of(code) in self._loops:
            return True
        if not self._what:
            return _needs(code, self._namespace)
        return _stores(code) or (self._what == CALLS and not CALLING.isdisjoint(kinds_of(code)))

    def write_alone(self, code: CodeType) -> bool:
        """Write a function that needs new code from its own lines; tell if they are its source."""
        if code in self.found:
            return True
        if code not in self._of_whole_source:
            lines = linecache.getlines(code.co_filename, self._namespace)
            alone = _source_of(code, lines, self._namespace)
            if alone is not None and self.write(alone, [code], code.co_flags & FUTURE):
                return True
            self._of_whole_source.add(code)
        return False

    def code_of(self, code: CodeType) -> CodeType | None:
        """Return the new code of a function that needs one, or None if there is none."""
        if not self.write_alone(code):  # by all of the source, for all functions at once
            file = code.co_filename
            waiting = [c for c in self._needing if c.co_filename == file and c not in self.found]
            self.found.update(zip(waiting, waiting, strict=True))
            self.write("".join(linecache.getlines(file, self._namespace)), waiting)
        new = self.found[code]
        return None if new is code else new

    def write(self, source: str, olds: list[CodeType], future: int = 0) -> bool:
        """Write functions anew; tell if the source is theirs."""
        file = olds[0].co_filename
        is_known = False
        with contextlib.suppress(SyntaxError, ValueError):  # it is not the source
            tree = _parsed(source, file)
            tree.body = _parts_with(tree.body, {code.co_firstlineno for code in olds})
            before = _by_place(_compiled(tree, file, future))
            every = [one for old in olds for one in all_codes(old)]
            changed = Shifts(file, self._loops).visit(tree) if self._loops else tree
            changed = _Calls(self._namespace, every).visit(changed)
            changed = CompiledCalls().visit(changed) if self._what == CALLS else changed
            changed = Stores().visit(changed) if self._what else changed
            changed = _compiled(ast.fix_missing_locations(changed), file, future)
            after = _by_place(_with_functions(changed))
            for old in olds:
                place = _place(old)  # which lambdas of one line share
                for one, new in zip(before.get(place, ()), after.get(place, ()), strict=True):
                    if one == old:
                        self.found[old], is_known = new if new != old else old, True
        return is_known


FUTURE: int = __future__.annotations.compiler_flag
IMPORTED = re.compile(r"^[ \t]*(?:from[ \t]+\S+[ \t]+)?import\b(?:[^\n(]|\([^)]*\))*", re.MULTILINE)
"""Statements that import."""


def _source_of(code: CodeType, lines: list[str], namespace: dict[str, Any]) -> str | None:
    """Return source with a function alone, at its place in the source of its module, or None.

    What Python makes of it depends on the classes around it, whose names are in its own, and on the
    function around it. Before them the module may import names: calls of their attributes are
    compiled in another way.
    """
    whole, *inner = code.co_qualname.split(".<locals>", 1)
    *classes, name = whole.split(".")
    at = code.co_firstlineno - 1
    if inner:
        begins = re.compile(rf"[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b")
        above = range(min(at, len(lines) - 1), -1, -1)
        at = next((n for n in above if begins.match(lines[n])), -1)
    margin = indent_of(lines[at]) if 0 <= at < len(lines) else -1
    if name == "<lambda>" or margin < len(classes):
        return None
    heads = [f"{' ' * n}class {one}:\n" for n, one in enumerate(classes)]
    if margin and not classes:
        heads = ["if 1:\n"]
    imported = _imported(code, lines, namespace)
    heads = [f"import {', '.join(imported)}\n", *heads] if imported else heads
    end = end_of_block(lines, at, last_line(code) - 1)
    return "".join(["\n" * (at - len(heads)), *heads, *lines[at:end]]) if at >= len(heads) else None


def _imported(code: CodeType, lines: list[str], namespace: dict[str, Any]) -> list[str]:
    """Return the names in a function that the source of its module imports."""
    names = {name for one in all_codes(code) for name in one.co_names if name in namespace}
    return sorted(names & _words_of_imports("".join(lines))) if names else []


@functools.lru_cache(maxsize=32)
def _words_of_imports(text: str) -> frozenset[str]:
    """Return the words in the statements that import: many functions of a module are rewritten."""
    return frozenset(word for one in IMPORTED.findall(text) for word in re.findall(r"\w+", one))


def _parts_with(statements: list[ast.stmt], lines: set[int]) -> list[ast.stmt]:
    """Leave out functions that begin at none of the given lines.

    Imports are kept: how Python compiles a call depends on what is imported.
    """
    found: list[ast.stmt] = []
    for one in statements:
        last = one.end_lineno or one.lineno
        if not isinstance(one, LEFT_OUT) or any(_first_line(one) <= n <= last for n in lines):
            found.append(one)
        if isinstance(one, ast.ClassDef):
            one.body = _parts_with(one.body, lines) or [ast.copy_location(ast.Pass(), one)]
    return found


def _first_line(node: Any) -> int:
    """Return the line at which a statement, or the code of a function, begins."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _parsed(source: str, file: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree: ast.Module = parsed(source, file)
        return tree


def _compiled(tree: Any, file: str, future: int = 0) -> CodeType:
    """Compile a source whose warnings were shown when it was imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code: CodeType = compile(tree, file, "exec", future, dont_inherit=True)
        return code


def _with_functions(code: CodeType) -> CodeType:
    """Return code whose constants are our functions where they were their names."""
    constants: list[Any] = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            constants.append(_with_functions(value))
        else:
            constants.append(FUNCTIONS.get(value, value) if isinstance(value, str) else value)
    return code.replace(co_consts=tuple(constants))


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions that are defined in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from all_codes(inner)


def _needs(code: CodeType, namespace: dict[str, Any]) -> bool:
    """Tell if a function may have a call to rewrite."""
    names = code.co_names
    return (
        not METHODS.isdisjoint(names)
        or code.co_name == "__bool__"
        or MATCH_CLASS in kinds_of(code)
        or ("__class__" in names and _reads_class(code))
        or ("super" in names and _names_class(code))
        or {BUILD_LIST, BINARY_OP} <= kinds_of(code)
        or (not UFUNCS.isdisjoint(names) and _names_ufunc(names, namespace))
        or any(map(_are_numbers, code.co_consts))
        or caught.may_catch(code)
        or last_calls.may_keep(code)
        or rounded_keys.may_cache(code)
    )


def _stores(code: CodeType) -> bool:
    """Tell if a function may store to an array."""
    constants: Any = code.co_consts  # the names of keywords are a tuple among them
    has_out = any("out" in one for one in constants if type_of(one) is TUPLE)
    if has_out or not WRITERS.isdisjoint(code.co_names):
        return True
    return any(
        step in STORES or (step == BINARY_OP and argument >= INPLACE)
        for step, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True)
    )


def _names_ufunc(names: Iterable[str], namespace: dict[str, Any]) -> bool:
    """Tell if one of the names is that of a ufunc, in a namespace or in a module named there."""
    waiting, seen = [namespace], {id(namespace)}
    while waiting:
        known = waiting.pop()
        for value in (known.get(name) for name in names):
            if issubclass(type_of(value), np.ufunc):  # a lazy module raises if it is asked
                return True
            if type_of(value) is ModuleType and id(vars(value)) not in seen:
                seen.add(id(vars(value)))
                waiting.append(vars(value))
    return False


def _reads_class(code: CodeType) -> bool:
    """Tell if code reads the class of another object than its own."""
    if code.co_varnames[:1] != (SELF,):
        return True
    from dis import get_instructions  # slow to import, and needed for few functions

    read = [one for one in get_instructions(code) if one.opname not in ("CACHE", "EXTENDED_ARG")]
    return any(
        after.argval == "__class__" and before.argval != SELF
        for before, after in itertools.pairwise(read)
        if after.opname.startswith("LOAD_") and after.opname != "LOAD_GLOBAL"
    )


def _names_class(code: CodeType) -> bool:
    """Tell if code calls `super` with arguments."""
    name = code.co_names.index("super")
    return any(
        step == LOAD_GLOBAL and argument >> 1 == name and after not in WITHOUT_ARGUMENTS
        for (step, argument), after in itertools.pairwise(steps_of(code))
    )


def _place(code: CodeType) -> tuple[Any, ...]:
    return (code.co_qualname, code.co_firstlineno, code.co_freevars, code.co_argcount)


def _by_place(code: CodeType) -> dict[tuple[Any, ...], list[CodeType]]:
    found: dict[tuple[Any, ...], list[CodeType]] = {}
    for one in all_codes(code):
        found.setdefault(_place(one), []).append(one)
    return found
