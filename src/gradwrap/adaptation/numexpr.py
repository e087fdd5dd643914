"""Expressions of numexpr, evaluated in NumPy where a name in them is a variable."""

from __future__ import annotations

import ast
import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.plain_values import are_plain, unheld
from gradwrap.core.array.adapted import adapted_caller
from gradwrap.core.observing.parsing import parsed
from gradwrap.errors import AdaptationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _complex(real: Any, imag: Any) -> Any:
    return real + 1j * imag


DIFFERENT: dict[str, Any] = {
    "abs": np.abs,
    "complex": _complex,
    "div": np.divide,
    "inv": np.invert,
    "max": np.max,
    "min": np.min,
    "mod": np.fmod,
    "ones_like": np.ones_like,
    "pow": np.power,
    "prod": np.prod,
    "round": np.round,
    "sum": np.sum,
}
"""The functions whose name or meaning is not that of NumPy's."""


class _Remainders(ast.NodeTransformer):
    """A rewriter of `a % b`, which has the sign of `a` here."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mod):
            return node
        function = ast.Name("mod", ast.Load())
        return ast.copy_location(ast.Call(function, [node.left, node.right], []), node)


@functools.lru_cache(256)
def _parsed(text: str) -> tuple[Any, tuple[str, ...]]:
    """Return the code of an expression, and the names of its values."""
    tree = parsed(text.strip(), mode="eval")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = tuple(
        sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called})
    )
    changed = ast.fix_missing_locations(_Remainders().visit(tree))
    return compile(changed, "<numexpr>", "eval"), names


class _Functions(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        found = DIFFERENT.get(name, getattr(np, name, None))
        if found is None:
            raise AdaptationError(
                f"{name} in an expression of numexpr has no derivative. Fix: write the expression "
                "in NumPy."
            )
        return found


def _values(text: str, local: Any, outer: Any) -> dict[str, Any]:
    """Find the values of an expression's names where numexpr finds them."""
    frame = adapted_caller(3) or sys._getframe(2)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # documented
    local = frame.f_locals if local is None else local
    outer = frame.f_globals if outer is None else outer
    return {name: local.get(name, outer.get(name)) for name in _parsed(text)[1]}


def _evaluated(text: str, values: dict[str, Any], out: Any = None) -> Any:
    values = {name: unheld(v) for name, v in values.items()}
    found = eval(_parsed(text)[0], _Functions(values))  # noqa: S307  as numexpr does, after its checks
    if out is None:
        return found
    out[...] = found
    return out


def functions(module: Any) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """Yield the functions of numexpr with their stand-ins."""
    last: list[str] = []

    @functools.wraps(module.evaluate)
    def evaluate(
        ex: str, local_dict: Any = None, global_dict: Any = None, out: Any = None, **options: Any
    ) -> Any:
        values = _values(ex, local_dict, global_dict)
        last[:] = [ex]
        if are_plain((values, out), {}):
            return module.evaluate(ex, values, {}, out, **options)
        return _evaluated(ex, values, out)

    @functools.wraps(module.re_evaluate)
    def re_evaluate(local_dict: Any = None, global_dict: Any = None, **options: Any) -> Any:
        if not last:
            return module.re_evaluate(local_dict, global_dict, **options)
        values = _values(last[0], local_dict, global_dict)
        if are_plain((values,), {}):
            return module.evaluate(last[0], values, {})
        return _evaluated(last[0], values)

    @functools.wraps(module.NumExpr)
    def compiled(ex: str, *args: Any, **options: Any) -> Any:
        original = module.NumExpr(ex, *args, **options)

        def call(*values: Any, **more: Any) -> Any:
            if are_plain(values, more):
                return original(*values, **more)
            return _evaluated(ex, dict(zip(original.input_names, values, strict=True)))

        return call

    yield module.evaluate, evaluate
    yield module.re_evaluate, re_evaluate
    yield module.NumExpr, compiled
