"""Tracers of Python floats among the arguments: the program's input is a `np.float64`.

Such a tracer answers user code as a float does. Beside arrays it is weak: it takes their dtype.
With other Python numbers it computes as Python does, which raises errors where NumPy returns
infinity; guards tell calls that raise from the others. Everything else that floats can do is
refused, and the function is then traced with the float as a constant.
"""

from __future__ import annotations

import operator as operators
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import POW
from gradwrap.compiler.ir.program import NDARRAY, mapped
from gradwrap.compiler.tracing.tape import NUMBER, Recorded, Tape, Weak
from gradwrap.compiler.tracing.tracer import COMPARED, SHAPES, Tracer, refusing
from gradwrap.core.levels.wrapper import AnyWrapper
from gradwrap.core.observing.code import ARRAYS, frame_of, module_of, package_of

if TYPE_CHECKING:
    from collections.abc import Callable

operator: Any = operators
PYTHONS = (float, int, bool)
NARROW = frozenset("efF")
"""The dtypes of arrays beside which a Python float is rounded to single or half precision."""
LITERAL = "its value leaves the program, and becomes a constant of it"


def _absent(_: Any) -> Any:
    raise AttributeError("a float has no such attribute")


class FloatTracer(Tracer, Weak):
    """A Python float among the arguments."""

    __slots__ = ()
    __class__: Any = property(lambda self: float)  # pyright: ignore[reportIncompatibleVariableOverride]  # as the float's
    __len__: Any = None
    __iter__: Any = None
    __contains__: Any = None
    __getitem__: Any = None
    __array_namespace__: Any = property(_absent)

    @property
    def strong(self) -> Tracer:
        """Return the tracer of the `np.float64` that it is in the program."""
        return Tracer(self.value, self.index, self.tape)

    def beside(self, others: list[Any]) -> Any:
        """Return the tracer of the number as an operation with arrays takes it."""
        kinds = {one.dtype.char for one in _arrays(others)}
        if NARROW.isdisjoint(kinds):
            return self.strong
        dtype = np.result_type(*kinds, 0.0)
        return self.strong.astype(dtype.type(0).real.dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, AnyWrapper) for x in inputs):
            return NotImplemented
        if method != "__call__" and any(one.dtype.char in NARROW for one in _arrays(inputs)):
            raise self.tape.refuse(f"np.{ufunc.__name__}.{method} takes a Python float")
        others = [one for one in inputs if type(one) is not FloatTracer]
        inputs_beside = [one.beside(others) if type(one) is FloatTracer else one for one in inputs]
        return getattr(ufunc, method)(*inputs_beside, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(issubclass(kind, AnyWrapper) for kind in types):
            return NotImplemented
        args, named = beside_floats(function, (args, tuple(kwargs.values())))
        return function(*args, **dict(zip(kwargs, named, strict=True)))

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __pos__(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(f"a traced float has no attribute {name!r}")
        if package_of(module_of(frame_of(1))) in ARRAYS:
            return super().__getattr__(name)
        raise self.tape.refuse(f"it uses the attribute {name} of a Python float")


def beside_floats(function: Any, args: tuple[Any, ...]) -> Any:
    """Return arguments of a NumPy function with floats as the function takes them."""
    found: list[FloatTracer] = []
    dtypes: set[str] = set()

    def look(leaf: Any) -> Any:
        if type(leaf) is FloatTracer:
            found.append(leaf)
        elif isinstance(leaf, ARRAY_TYPES):
            dtypes.add(leaf.dtype.char)
        return leaf

    def settle(leaf: Any) -> Any:
        if type(leaf) is not FloatTracer:
            return leaf
        return float(leaf.value) if function in SHAPES else leaf.strong

    mapped(args, look)
    if found and function not in SHAPES and not NARROW.isdisjoint(dtypes):
        raise found[0].tape.refuse(f"np.{function.__name__} takes a Python float")
    return mapped(args, settle)


ARRAY_TYPES: Any = (Recorded, NDARRAY, NUMBER)


def _arrays(values: Any) -> list[Any]:
    return [one for one in values if isinstance(one, ARRAY_TYPES)]


def entered(value: float, tape: Tape) -> FloatTracer:
    """Return the tracer of a float among the arguments, as an input of the program."""
    made = tape.given(np.float64(value))
    return FloatTracer(made.value, made.index, tape)


# Operators ----------------------------------------------------------------------------------------


def _operator(perform: Callable[..., Any], *, swapped: bool = False) -> Any:
    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, AnyWrapper):
            return NotImplemented
        if type(other) is FloatTracer or type(other) in PYTHONS:
            return (
                _with_python(perform, other, self)
                if swapped
                else _with_python(perform, self, other)
            )
        if not isinstance(other, (Recorded, NDARRAY, NUMBER)):
            if isinstance(other, (complex, float, int)):
                raise self.tape.refuse(f"a Python float meets a {type(other).__name__}")
            return NotImplemented
        mine = self.beside([other])
        return perform(other, mine) if swapped else perform(mine, other)

    return operate


def _with_python(perform: Callable[..., Any], left: Any, right: Any) -> Any:
    """Record an operation on Python numbers, which raises the errors of Python."""
    tape: Tape = (left if type(left) is FloatTracer else right).tape
    pair = [float(one.value) if type(one) is FloatTracer else one for one in (left, right)]
    if perform in RAISING and type(right) is FloatTracer:
        tape.look("bool", right, pair[1] != 0)
    real = perform(*pair)
    ufunc = UFUNCS[perform]
    fn, name = (perform, POW.name) if perform is operator.pow else (ufunc, ufunc.__name__)
    recorded = (tape.recorded(left), tape.recorded(right))
    if type(real) is bool:
        return bool(tape.look("bool", tape.enter(fn, name, recorded, (), np.bool_(real)), real))
    if type(real) is not float or (perform is operator.pow and not np.isfinite(real)):
        raise tape.refuse(f"a power of Python floats is {real!r}")
    made = tape.enter(fn, name, recorded, (), np.float64(real))
    if perform is operator.pow:
        bool(np.isfinite(made))  # Python raises errors, or returns complex numbers
    return FloatTracer(made.value, made.index, tape)


def _unary(perform: Callable[..., Any]) -> Any:
    def operate(self: Any) -> Any:
        made = perform(self.strong)
        return FloatTracer(made.value, made.index, self.tape)

    return operate


RAISING = frozenset({operator.truediv, operator.floordiv, operator.mod})
"""The operators that raise an error if a Python float is divided by zero."""
UFUNCS: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    **dict(COMPARED),
}
for _perform in UFUNCS:
    setattr(FloatTracer, f"__{_perform.__name__}__", _operator(_perform))
for _perform in (*RAISING, operator.add, operator.sub, operator.mul, operator.pow):
    setattr(FloatTracer, f"__r{_perform.__name__}__", _operator(_perform, swapped=True))
for _perform in (operator.neg, operator.abs):
    setattr(FloatTracer, f"__{_perform.__name__}__", _unary(_perform))
for _name in (
    *("__round__", "__trunc__", "__floor__", "__ceil__", "__divmod__", "__rdivmod__"),
    *("__hash__", "__str__", "__repr__"),
):
    setattr(FloatTracer, _name, refusing(f"{_name.strip('_')} of a Python float", LITERAL))


def _of_arrays(name: str) -> Any:
    """Return an attribute of arrays that only code of array libraries may read."""
    inherited: Any = getattr(Tracer, name)

    def read(self: Any) -> Any:
        if package_of(module_of(frame_of(1))) not in ARRAYS:
            raise self.tape.refuse(f"it uses the attribute {name} of a Python float")
        return inherited.__get__(self)

    return property(read)


for _name, _attribute in vars(np.ndarray).items():
    if hasattr(Tracer, _name) and not _name.startswith("_") and not callable(_attribute):
        setattr(FloatTracer, _name, _of_arrays(_name))
for _method in (Tracer.copy, Tracer.astype):
    setattr(FloatTracer, _method.__name__, _of_arrays(_method.__name__))
