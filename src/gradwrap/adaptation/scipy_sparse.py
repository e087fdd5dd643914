"""SciPy's sparse matrices of plain elements beside tracked arrays, entered at their import.

The operators and products of SciPy's classes convert the other operand to a plain array. If that
is tracked, the class of `gradwrap.scipy.sparse` computes the result. A matrix that gets a tracked
element (`K[i, j] = x`) becomes one of tracked elements.
"""

from __future__ import annotations

import functools
import sys
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from gradwrap.adaptation.after_import import exchange
from gradwrap.core.array.operators import BINARY
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, holds_wrapper, is_recorded
from gradwrap.core.observing.callers import noted
from gradwrap.core.observing.holders import holders
from gradwrap.core.values.dynamic import type_of
from gradwrap.errors import GradwrapError
from gradwrap.scipy.products import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

OURS = "gradwrap.scipy.sparse"
OPERATORS = "gradwrap.scipy.operators"
RULES = "gradwrap.scipy.rules.sparse"
SUBCLASSES = "gradwrap.adaptation.subclasses"
CHANGED = "gradwrap.scipy.changed_matrices"
TRACKED = "gradwrap.scipy.tracked_matrix"
OF_ARRAYS = frozenset({"bsr", "coo", "csc", "csr", "dia"})
"""The formats with an array of elements."""
PRODUCTS = ("dot", "multiply")
IN_PLACE = ("__iadd__", "__isub__")
STORES = ("__setitem__", "setdiag")
SETTERS = ("__setattr__",)
OWN = ("matvec", "matmat", "rmatvec", "rmatmat")
"""The products of operators that their classes define, with a line before the name."""


def enter_sparse(module: ModuleType) -> None:
    """Let the operators of sparse matrices and arrays take tracked operands."""
    words = [f"__{side}{word}__" for word in BINARY.values() for side in ("", "r")]
    bases = (module.sparray, module.spmatrix)
    holders.update(dict.fromkeys(bases, parts_of))
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, bases) and kind not in bases:
            operators = (*words, *PRODUCTS, *IN_PLACE)
            wrapped = ((operators, _operating), (STORES, _storing), (SETTERS, _setting))
            for names, taking in wrapped:
                for name in names:
                    exchange(kind, name, taking)


def enter_operators(module: ModuleType) -> None:
    """Let linear operators of SciPy be applied to tracked arrays."""
    kind: Any = module.LinearOperator
    for name in (*OWN, "dot", "__matmul__", "__mul__", "__rmul__", "__call__"):
        exchange(kind, name, functools.partial(_applying, adjoint=name.startswith("r")))
    exchange(kind, "_init_dtype", _typing)
    original = module.aslinearoperator
    ours, own_name = _making(original), "aslinearoperator"
    for name, part in list(sys.modules.items()):  # where the solvers of SciPy look it up
        if name.startswith(module.__name__) and vars(part).get(own_name) is original:
            setattr(part, own_name, ours)


def _making(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `aslinearoperator`, so that a tracked matrix becomes an operator with its products."""

    @functools.wraps(original)
    def make(A: Any) -> Any:
        return import_module(OPERATORS).operator_of(A) if _is_tracked(A) else original(A)

    return make


_in_rule: ContextVar[bool] = ContextVar("gradwrap_operator_in_rule", default=False)
"""True while our rule applies an operator to plain arrays."""


_with_adjoint: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""The operators that were asked for the products of their adjoints, and if they have them."""


def _applying(method: Callable[..., Any], *, adjoint: bool = False) -> Callable[..., Any]:
    """Wrap a product of operators for tracked operands, and for operators with tracked values.

    In adapted code, an operator of a package's own class is applied by its own method, without the
    checks of SciPy's, which convert the result; so is one that has tracked values. Otherwise our
    rule computes the product, and its derivative by the adjoint that the operator declares.
    """

    @functools.wraps(method)
    def apply(self: Any, x: Any) -> Any:
        is_tracked = isinstance(x, AnyWrapper) and bool(x.ndim)
        if isinstance(x, AnyWrapper) and not is_tracked:
            return _scaled(method(self, x.dtype.type(1)), x)
        in_rule = _in_rule.get() or not is_differentiating()
        by_rule = is_tracked and (in_rule or (_is_scipys(self) and _has_adjoint(self)))
        before, token = noted.get(), _in_rule.set(by_rule or _in_rule.get())
        try:
            if by_rule:
                return import_module(RULES).operated(self, x, adjoint)
            return _by_itself(self, x, method.__name__, adjoint) if is_tracked else method(self, x)
        except GradwrapError:
            if in_rule or not getattr(x, "ndim", 0):
                raise
        finally:
            _in_rule.reset(token)
        noted.set(before)
        if by_rule or not is_tracked:
            return _by_itself(self, x, method.__name__, adjoint)
        return import_module(RULES).operated(self, x, adjoint)

    return apply


def _scaled(operator: Any, factor: Any) -> Any:
    """Put a tracked factor into an operator that SciPy made as the multiple of another."""
    scaled, one = operator.args
    operator.args = (scaled, factor * one)
    return operator


def _typing(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what finds the dtype of an operator's products by one product, which may be tracked."""

    @functools.wraps(method)
    def init_dtype(self: Any) -> None:
        before = noted.get()
        try:
            method(self)
        except GradwrapError:
            if not is_differentiating():
                raise
            noted.set(before)
            product = _by_itself(self, np.zeros(self.shape[-1], dtype=np.int8), "matvec", False)
            self.dtype = np.dtype(product.dtype)

    return init_dtype


def _is_scipys(operator: Any) -> bool:
    """Tell if an operator, and those that it is made of, are of SciPy's classes."""
    parts = (one for one in getattr(operator, "args", ()) if hasattr(one, "matvec"))
    return type_of(operator).__module__.startswith("scipy.") and all(map(_is_scipys, parts))


def _has_adjoint(operator: Any) -> bool:
    """Tell if an operator declares the products of its adjoint, which its rule needs."""
    if operator not in _with_adjoint:
        try:
            operator.rmatvec(np.zeros(operator.shape[0], operator.dtype))
        except NotImplementedError:
            _with_adjoint[operator] = False
        except Exception:  # noqa: BLE001  a product that fails is declared
            _with_adjoint[operator] = True
        else:
            _with_adjoint[operator] = True
    return _with_adjoint[operator]


def _by_itself(operator: Any, x: Any, name: str, adjoint: bool) -> Any:
    """Apply an operator to a vector, or to each column of a matrix, by the method of its class."""
    if name not in OWN:  # an operator of Python's, or `dot`
        return (operator.matvec if x.ndim == 1 or x.shape[1] == 1 else operator.matmat)(x)
    rows, columns = operator.shape[::-1] if adjoint else operator.shape
    if x.shape[0] != columns or x.ndim > 2:
        raise ValueError("dimension mismatch")
    found: Any = getattr(operator, f"_{name}")(x)
    return found.reshape((rows, *x.shape[1:]))


def _operating(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an operator of plain matrices, so that our class computes it for a tracked operand."""

    @functools.wraps(method)
    def operate(self: Any, other: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_tracked(other):
            return method(self, other, *args, **kwargs)
        if method.__name__ in IN_PLACE:
            found = method(self, other)
            if found is not NotImplemented or not isinstance(other, AnyWrapper):
                return found
            return getattr(import_module(TRACKED).tracked(self), method.__name__)(other)
        ours: Any = import_module(OURS)
        native = type_of(self)
        has_class = getattr(ours, native.__name__, native) is not native
        matrix = self if has_class else self.tocsr()
        made = getattr(ours, type_of(matrix).__name__).from_scipy(matrix)
        return getattr(made, method.__name__)(other, *args, **kwargs)

    return operate


def _storing(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a store, so that a matrix which gets a tracked value becomes one of tracked elements."""

    @functools.wraps(method)
    def store(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not any(_is_tracked(one) or holds_wrapper(one) or _is_held(one) for one in given):
            return method(self, *args, **kwargs)
        import_module(CHANGED).take_store(self)
        return getattr(self, method.__name__)(*args, **kwargs)

    return store


def _setting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what sets attributes: a matrix with tracked data becomes one of tracked elements."""

    @functools.wraps(method)
    def set_attribute(self: Any, name: str, value: Any) -> None:
        is_plain = name != "data" or not isinstance(value, AnyWrapper) or not is_recorded(value)
        if is_plain or self.format not in OF_ARRAYS:
            method(self, name, value)
            return
        import_module(CHANGED).take_store(self)
        self.data = value

    return set_attribute


def _is_held(value: Any) -> bool:
    """Tell if a value is an instance of a subclass of arrays with a variable in it."""
    subclasses: Any = sys.modules.get(SUBCLASSES)
    return subclasses is not None and isinstance(value, subclasses.HeldArray)


def _is_tracked(other: Any) -> bool:
    """Tell if an operand is a tracked array, or a sparse matrix of tracked elements."""
    matrices: Any = sys.modules.get(TRACKED)
    if isinstance(other, AnyWrapper):
        return True
    return matrices is not None and isinstance(other, matrices.TrackedMatrix)
