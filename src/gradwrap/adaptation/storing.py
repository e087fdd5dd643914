"""Stores to plain arrays, rewritten after a store has failed.

An array that comes from somewhere else than a function that makes arrays (random numbers, another
package) cannot hold a tracked value. If nothing else refers to it, the name can refer to a variable
from then on instead: `out[i] = x` becomes

    if (new := store(x, (out,), i)) is not None: out = new

and `np.copyto(out, x)`, `np.add(x, y, out=out)` and `out.fill(x)` become

    if (new := call("first", (out,), None, np.copyto, x)[1]) is not None: out = new

This takes time at every store, so it is not done before it is needed.

From Python 3.14 on, an argument may refer to an object without being counted. Tuples and return
values are counted in all versions. So the array is handed over in a tuple, and a function that
stores begins with `out = itself(out)` for each of its parameters. With the array of an attribute
come its object and name, `(self.out, self, "out")`. An array of an object, a list or a dictionary
is a plain one again when the outermost transform ends.
"""

from __future__ import annotations

import ast
import operator
import sys
import weakref
from typing import Any

import numpy as np

import gradwrap.numpy as drop_in
from gradwrap.adaptation.plain_values import lent, objects
from gradwrap.adaptation.stand_ins import original_of
from gradwrap.backends.numpy.functions.writing import WRITING
from gradwrap.core.array.writing.ownership import handed_out
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, holds_batch, is_recorded
from gradwrap.core.observing.changed import note_changed
from gradwrap.core.observing.code import frame_of
from gradwrap.core.values.dynamic import DICT, LIST, SEQUENCE, TUPLE, type_of

ours: Any = drop_in
NEW, PAIR = "__gradwrap_new__", "__gradwrap_pair__"
SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Div: "truediv",
    ast.MatMult: "matmul",
    ast.Mult: "mul",
    ast.Pow: "pow",
    ast.Sub: "sub",
}


def store(value: Any, held: tuple[Any, ...], key: Any, view: str | tuple[Any] = "") -> Any:
    """Run `holder[key] = value`; return a variable that replaces the holder, or None.

    With `view`, run `holder.flat[key] = value` or the like; with a key in a tuple,
    `holder[first][key] = value`.
    """
    is_alone = _references(held) == ALONE
    holder, *owner = held
    if type_of(holder) is np.ndarray and holder.dtype.kind in "iumM":
        value = _constant(value, holder.dtype)
    if is_alone and _is_exchanged(value, holder):
        made = _exchanged(holder, *owner)
        _part(made, view, value)[key] = value
        return made
    holder = _part(holder, view, value)
    if type_of(holder) is np.ndarray and holder.dtype.kind == "O":
        has_parts = bool(getattr(value, "ndim", 0)) or isinstance(value, SEQUENCE)
        if has_parts and not _is_of_element(key, holder):
            value = objects(value)
    holder[key] = value
    return None


def _constant(value: Any, dtype: Any) -> Any:
    """Return the whole numbers that an array of such holds of a tracked one, dates as they are."""
    if dtype.kind in "iu" and isinstance(value, AnyWrapper) and value.dtype.kind == "f":
        value = value.astype(dtype)
    return value if is_recorded(value) or holds_batch(value) else lent(value)


def _is_of_element(key: Any, holder: Any) -> bool:
    """Tell if a key is that of one element, which takes a list or an array as it is."""
    parts = key if isinstance(key, TUPLE) else (key,)
    return len(parts) == holder.ndim and all(isinstance(one, (int, np.integer)) for one in parts)


def update_item(
    value: Any, held: tuple[Any, ...], key: Any, symbol: str, view: str | tuple[Any] = ""
) -> Any:
    """Run `holder[key] += value` or a similar update, as `store` does."""
    is_alone = _references(held) == ALONE
    holder, *owner = held
    if is_alone and _is_exchanged(value, holder):
        made = _exchanged(holder, *owner)
        part = _part(made, view, value)
        part[key] = getattr(operator, symbol)(part[key], value)
        return made
    holder = _part(holder, view, value)
    holder[key] = getattr(operator, f"i{symbol}")(holder[key], value)
    return None


def update(value: Any, held: tuple[Any, ...], symbol: str) -> Any:
    """Run `holder += value` or a similar update; return the holder's new value."""
    is_alone = _references(held) == ALONE
    holder, *owner = held
    if is_alone and _is_exchanged(value, holder):
        return getattr(operator, symbol)(_exchanged(holder, *owner), value)
    return getattr(operator, f"i{symbol}")(holder, value)


def call(
    place: str,
    held: tuple[Any, ...],
    key: tuple[Any] | None,
    function: Any,
    /,
    *args: Any,
    **more: Any,
) -> tuple[Any, Any]:
    """Call a function that may write to the holder, or to its part at a key.

    It is the function's first argument, its argument `out`, or the owner of the method of this
    name. Returns what the function returns, and a variable that replaces the holder, or None.
    """
    is_alone = _references(held) == ALONE
    holder, *owner = held
    may_write = place != "first" or _writes(function)
    is_new = is_alone and may_write and _is_exchanged([args, more], holder)
    new = _exchanged(holder, *owner) if is_new else None
    target = holder if new is None else new
    if key is not None:
        value = [args, more] if may_write else None
        target = element(target, key[0], value)
    if place == "out":
        return function(*args, out=target, **more), new
    if place == "first":
        return function(target, *args, **more), new
    return getattr(target, function)(*args, **more), new


def _part(holder: Any, view: str | tuple[Any], value: Any) -> Any:
    """Return the array that a value is stored into: the holder, a view of it, or an element."""
    if isinstance(view, str):
        return getattr(holder, view) if view else holder
    return element(holder, view[0], value)


def element(holder: Any, key: Any, value: Any) -> Any:
    """Return `holder[key]`; exchange an array in a list or dictionary that is to hold a value."""
    if not isinstance(holder, (LIST, DICT)):
        return holder[key]
    held = (holder[key],)
    if _references(held) == ALONE and _is_exchanged(value, held[0]):
        holder[key] = _exchanged(held[0], holder, key)
        return holder[key]
    return held[0]


def _exchanged(array: Any, *owner: Any) -> Any:
    """Return a variable for an array; its owner, if it has one, gets a plain array at the end."""
    if owner:
        note_changed(_Before(array, *owner))
    return ours.array(array)


class _Before:
    """A plain array of an object, a list or a dictionary before it was exchanged.

    Called, it puts a plain array in the place of the one that holds tracked values: with the
    values that a plain run would have left, or the one from before if there are none.
    """

    def __init__(self, array: Any, owner: Any, name: Any) -> None:
        self._array = array
        self._name = name
        self._is_part = isinstance(owner, (LIST, DICT))
        self._owner: Any = (lambda: owner) if self._is_part else _weakly(owner)

    def __call__(self) -> None:
        owner = self._owner()
        if owner is None:
            return
        try:
            now = owner[self._name] if self._is_part else getattr(owner, self._name)
        except (AttributeError, LookupError):
            return
        if not isinstance(now, AnyWrapper):
            return
        plain = self._array if holds_batch(now) else handed_out(now)
        if type_of(plain) is not np.ndarray:  # a trace has no values
            plain = self._array
        if self._is_part:
            owner[self._name] = plain
        else:
            setattr(owner, self._name, plain)


def _weakly(owner: Any) -> Any:
    """Return what gives an object as long as something else refers to it, if it can."""
    try:
        return weakref.ref(owner)
    except TypeError:
        return lambda: owner


def _writes(function: Any) -> bool:
    """Tell if a function of NumPy writes to its first argument."""
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return True  # its method `at`
    return original_of(function) in WRITING


def itself(value: Any) -> Any:
    """Return the value; binding it to a name makes one counted reference."""
    return value


def _is_exchanged(value: Any, holder: Any) -> bool:
    return (
        type_of(holder) is np.ndarray
        and (holder.base is None or _base_references(holder) == ALONE_IN_BASE)
        and holder.dtype.kind in "fc"
        and is_differentiating()
        and is_recorded(value)
    )


def _references(held: tuple[Any, ...]) -> int:
    """Count the references to a holder, but not those from what a profiler makes."""
    if sys.getprofile() is None or sys.version_info >= (3, 13):
        return sys.getrefcount(held[0])
    names = frame_of(2).f_locals  # at each event of a profiler, Python writes it anew
    is_the_frames = sys.getrefcount(names) == LOCALS
    count = sum(one is held[0] for one in names.values()) if is_the_frames else 0
    return sys.getrefcount(held[0]) - count


def _base_references(holder: Any) -> int:
    """Count the references to a view's base array; 0 if it has none."""
    return sys.getrefcount(holder.base) if type_of(holder.base) is np.ndarray else 0


def _calibrated() -> tuple[int, int]:
    holder = np.zeros(1).reshape(1, 1)
    return _references((holder,)), _base_references(holder)


LOCALS = 3
"""The references to the local names of a frame: that of the frame, a name's, and the counting."""
ALONE, ALONE_IN_BASE = _calibrated()
"""The references to an array that one name or attribute refers to, and the tuple of a call; and
to the base of an array that is the only view of it, as `np.linspace` and `reshape` make it."""
NAMES: dict[str, Any] = {
    "__gradwrap_itself__": itself,
    "__gradwrap_store__": store,
    "__gradwrap_update_item__": update_item,
    "__gradwrap_update__": update,
    "__gradwrap_slice__": slice,
    "__gradwrap_write__": call,
}
"""The functions that the new code calls. They are constants of it, under these names until then."""
VIEWS = frozenset({"T", "flat", "imag", "real"})
"""The attributes of arrays that show their elements, and may be written to."""
METHODS = frozenset({"fill", "put", "setfield"})
"""The methods of arrays that write their arguments."""
WRITERS = METHODS | {"at"} | {function.__name__ for function in WRITING}
"""The names of what writes to its first argument, or to its owner."""


class Stores(ast.NodeTransformer):
    """A rewriter of stores to a function's local names and their attributes."""

    def __init__(self) -> None:
        self._locals: list[set[str]] = []
        self._stores = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Track the local names of a function while its body is visited."""
        before = self._stores
        self._locals.append(_local_names(node))
        self.generic_visit(node)
        self._locals.pop()
        if self._stores > before:
            start = 0 if ast.get_docstring(node) is None else 1
            for name in _parameters(node):
                value = _call("__gradwrap_itself__", ast.Name(name, ast.Load()))
                line = ast.Assign([ast.Name(name, ast.Store())], value)
                node.body.insert(start, ast.copy_location(line, node.body[0]))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Visit a class, whose body has no local names."""
        outer, self._locals = self._locals, []
        self.generic_visit(node)
        self._locals = outer
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrite `out[i] = x`, `out[0], out[1] = x, y`, and `y = np.add(a, b, out=out)`."""
        self.generic_visit(node)
        writing = self._writing(node.value, "out")
        if writing is not None:
            node.value = _result()
            done = ast.Assign([ast.Name(PAIR, ast.Store())], ast.Constant(None))
            return [*writing, *_several(self._stored(node)), ast.copy_location(done, node)]
        return self._stored(node)

    def _stored(self, node: ast.Assign) -> Any:
        if len(node.targets) != 1:
            return node
        (target,) = node.targets
        if isinstance(target, ast.Tuple) and any(map(self._is_store, target.elts)):
            names = [f"__gradwrap_{i}__" for i in range(len(target.elts))]
            first = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
            parts = [
                ast.Assign([part], ast.Name(name, ast.Load()))
                for part, name in zip(target.elts, names, strict=True)
            ]
            if any(isinstance(part, ast.Starred) for part in target.elts):
                return node
            lines: list[ast.stmt] = [ast.Assign([first], node.value)]
            for part in parts:
                ast.copy_location(part, node)
                lines += _several(self._stored(part))
            return [ast.copy_location(line, node) for line in lines]
        if not self._is_store(target):
            return node
        return self._exchanging(node, target, node.value, "__gradwrap_store__")

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Rewrite `out += x`, and `out[i] += x`."""
        self.generic_visit(node)
        symbol = SYMBOLS.get(type(node.op))
        if symbol is None:
            return node
        word = ast.Constant(symbol)
        if self._is_store(node.target):
            return self._exchanging(node, node.target, node.value, "__gradwrap_update_item__", word)
        if not self._is_own(node.target):
            return node
        self._stores += 1
        called = _call("__gradwrap_update__", node.value, _held(node.target), word)
        return ast.copy_location(ast.Assign([node.target], called), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Rewrite `np.copyto(out, x)`, `out.fill(x)`, and `np.add(a, b, out=out)`."""
        self.generic_visit(node)
        writing = self._writing(node.value, "first", "owner", "out")
        if writing is None:
            return node
        done = ast.Assign([ast.Name(PAIR, ast.Store())], ast.Constant(None))
        return [*writing, ast.copy_location(done, node)]

    def visit_Return(self, node: ast.Return) -> Any:
        """Rewrite `return np.add(a, b, out=out)`."""
        self.generic_visit(node)
        writing = self._writing(node.value, "out")
        if writing is None:
            return node
        return [*writing, ast.copy_location(ast.Return(_result()), node)]

    def _writing(self, called: ast.expr | None, *places: str) -> list[ast.stmt] | None:
        """Write `pair = call(...)` and `if pair[1] is not None: holder = pair[1]`, if it fits."""
        if not isinstance(called, ast.Call):
            return None
        name = getattr(called.func, "attr", None) or getattr(called.func, "id", None)
        outs = [one for one in called.keywords if one.arg == "out"]
        args, keywords, function = called.args, called.keywords, called.func
        if outs and "out" in places:
            place, target = "out", outs[0].value
            keywords = [one for one in keywords if one.arg != "out"]
        elif "owner" in places and isinstance(function, ast.Attribute) and name in METHODS:
            place, target, function = "owner", function.value, ast.Constant(name)
            if not self._is_target(target):
                place, target, function = "first", args[0] if args else target, called.func
                args = args[1:]
        elif "first" in places and name in WRITERS and args:
            place, target, args = "first", args[0], args[1:]
        else:
            return None
        if not self._is_target(target):
            return None
        self._stores += 1
        key: ast.expr = ast.Constant(None)
        if isinstance(target, ast.Subscript):
            key, target = ast.Tuple([_key(target.slice)], ast.Load()), target.value
        call = _call("__gradwrap_write__", ast.Constant(place), _held(target), key, function, *args)
        call.keywords = keywords
        holder = _loaded(target)
        holder.ctx = ast.Store()
        test = ast.Compare(_result(1), [ast.IsNot()], [ast.Constant(None)])
        lines: list[ast.stmt] = [
            ast.Assign([ast.Name(PAIR, ast.Store())], call),
            ast.If(test, [ast.Assign([holder], _result(1))], []),
        ]
        return [ast.copy_location(line, called) for line in lines]

    def _exchanging(
        self, node: ast.stmt, target: Any, value: ast.expr, function: str, *more: ast.expr
    ) -> ast.AST:
        """Write `if (new := function(value, (holder,), key)) is not None: holder = new`."""
        self._stores += 1
        owner = target.value
        if self._is_view(owner):
            owner, more = owner.value, (*more, ast.Constant(owner.attr))
        elif isinstance(owner, ast.Subscript):
            first = ast.Tuple([_key(owner.slice)], ast.Load())
            owner, more = owner.value, (*more, first)
        call = _call(function, value, _held(owner), _key(target.slice), *more)
        test = ast.Compare(
            ast.NamedExpr(ast.Name(NEW, ast.Store()), call), [ast.IsNot()], [ast.Constant(None)]
        )
        holder = _loaded(owner)
        holder.ctx = ast.Store()
        body = ast.Assign([holder], ast.Name(NEW, ast.Load()))
        return ast.copy_location(ast.If(test, [body], []), node)

    def _is_store(self, target: ast.expr) -> bool:
        if not isinstance(target, ast.Subscript):
            return False
        whole = target.value
        is_part = isinstance(whole, ast.Subscript) and self._is_own(whole.value)
        return is_part or self._is_own(whole) or self._is_view(whole)

    def _is_target(self, target: ast.expr) -> bool:
        """Tell if an expression is a holder, or a part of one that a key selects."""
        return self._is_own(target.value if isinstance(target, ast.Subscript) else target)

    def _is_view(self, target: ast.expr) -> bool:
        if not isinstance(target, ast.Attribute) or target.attr not in VIEWS:
            return False
        return self._is_own(target.value)

    def _is_own(self, target: ast.expr) -> bool:
        """Tell if an expression is a local name or an attribute of one."""
        if isinstance(target, ast.Attribute):
            return self._is_own(target.value) and isinstance(target.value, ast.Name)
        return isinstance(target, ast.Name) and any(
            target.id in names for names in self._locals[-1:]
        )


def _result(place: int = 0) -> ast.expr:
    """Write what a call returned, or what replaces its holder."""
    return ast.Subscript(ast.Name(PAIR, ast.Load()), ast.Constant(place), ast.Load())


def _several(found: Any) -> list[Any]:
    return list(found) if isinstance(found, LIST) else [found]


def _local_names(node: ast.FunctionDef) -> set[str]:
    """Return the parameters of a function and the names that it assigns."""
    arguments = node.args
    several = [one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None]
    found = {*_parameters(node), *several}
    outer: set[str] = set()
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            outer.update(part.names)
        elif not isinstance(
            part,
            (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension),
        ):
            waiting += ast.iter_child_nodes(part)
    return found - outer


def _parameters(node: ast.FunctionDef) -> list[str]:
    """Return the parameters of a function, without `*args` and `**kwargs`."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [one.arg for one in every]


def _loaded(expression: Any) -> Any:
    """Write a target as an expression that reads it."""
    if isinstance(expression, ast.Attribute):
        return ast.Attribute(_loaded(expression.value), expression.attr, ast.Load())
    return ast.Name(expression.id, ast.Load())


def _held(expression: Any) -> ast.Tuple:
    """Write the tuple of an array, with its object and name if it is an attribute."""
    parts: list[ast.expr] = [_loaded(expression)]
    if isinstance(expression, ast.Attribute):
        parts += [_loaded(expression.value), ast.Constant(expression.attr)]
    return ast.Tuple(parts, ast.Load())


def _key(key: ast.expr) -> ast.expr:
    """Write a key as an expression, with slices as calls."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_key(part) for part in key.elts], ast.Load())
    if isinstance(key, ast.Slice):
        parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
        return _call("__gradwrap_slice__", *parts)
    return key


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(name), list(args), [])
