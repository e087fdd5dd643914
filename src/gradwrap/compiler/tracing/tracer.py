"""Tracers: arrays that record the operations performed on them.

A `Tracer` stands below gradwrap's wrappers: a `Variable` holds it in place of an array. It
carries its real value; so shapes, dtypes and branches are those of an ordinary run. Each
operation on it is recorded on its `Tape`. Taking the value out of the program is refused.
"""

from __future__ import annotations

import math
import operator as operators
import sys
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.compiler.ir.operations import ADD_REDUCE, METHODS, OPAQUE, OPERATIONS, POW
from gradwrap.compiler.ir.program import (
    NDARRAY,
    Attribute,
    Method,
    copy,
    getitem,
    mapped,
    setitem,
)
from gradwrap.compiler.tracing.tape import Recorded, Unhandled, Weak
from gradwrap.compiler.tracing.twofold import Twofold
from gradwrap.core.levels.wrapper import AnyWrapper, unwrapped_key
from gradwrap.core.observing.code import ARRAYS, frame_of, module_of, package_of
from gradwrap.core.values.dynamic import LIST, TUPLE

if TYPE_CHECKING:
    from collections.abc import Callable

operator: Any = operators
SHAPES: frozenset[Any] = frozenset(
    {np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.common_type, np.min_scalar_type}
    | {np.iscomplexobj, np.isrealobj}
)
"""Functions that only read shapes and dtypes: they are not recorded."""
WRITING: frozenset[Any] = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis}
)
NO_VALUE: Any = getattr(np, "_NoValue", None)


@lru_cache(maxsize=1024)
def _path_of(function: Any) -> str:
    """Return the dotted name of a function below `numpy`, or ""."""
    module: str = getattr(function, "__module__", "") or ""
    name: str = getattr(function, "__name__", "")
    for start in (module.removeprefix("numpy").lstrip("."), ""):
        path = f"{start}.{name}" if start else name
        found: Any = np
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is function:
            return path
    return ""


def _is_default(keyword: str, value: Any) -> bool:
    if value is None and keyword not in ("axis", "initial"):
        return True
    if value is NO_VALUE or (keyword, value) in ((("keepdims"), False), ("subok", True)):
        return True
    return (keyword == "where" and value is True) or (
        keyword in ("casting", "order") and value in ("same_kind", "K")
    )


# The tracer ---------------------------------------------------------------------------------------


def _operator(ufunc: Any, perform: Callable[..., Any], *, swapped: bool = False) -> Any:
    """Make the method of a binary operator."""
    is_power = ufunc is np.power
    fn, name = (operator.pow, POW.name) if is_power else (ufunc, ufunc.__name__)

    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, (AnyWrapper, Weak, Twofold)):
            return NotImplemented
        tape = self.tape
        if tape.refused:
            raise Unhandled(tape.refused)
        mine, value = tape.refs[self.index], self.value
        recorded = tape.recorded(other)
        real = other.value if isinstance(other, Recorded) else other
        if swapped:
            mine, recorded, value, real = recorded, mine, real, value
        args = (mine, recorded)
        made = tape.repeated(fn, name, args, ()) if tape.repeats else None
        return tape.enter(fn, name, args, (), perform(value, real)) if made is None else made

    return operate


def _unary(ufunc: Any, perform: Callable[..., Any]) -> Any:
    name = ufunc.__name__

    def operate(self: Any) -> Any:
        tape = self.tape
        args = (tape.refs[self.index],)
        made = tape.repeated(ufunc, name, args, ()) if tape.repeats else None
        return tape.enter(ufunc, name, args, (), perform(self.value)) if made is None else made

    return operate


def refusing(what: str, fix: str) -> Any:
    """Make a method that refuses to be called in a trace."""

    def refuse(self: Any, *_args: Any, **_kwargs: Any) -> Any:
        raise self.tape.refuse(f"it calls {what}{self.tape.place()}. Fix: {fix}")

    return refuse


MOST_LOOKED_AT = 1 << 10
"""The most integers of an array that are compared in each call, after plain code has seen them."""


def _of_same_in_each_call(name: str, what: str, fix: str) -> Any:
    """Make a method that answers for values that are the same in each call, and else refuses."""
    refuse = refusing(what, fix)

    def answer(self: Any, *args: Any, **options: Any) -> Any:
        if self.tape.is_made(self.index):
            return getattr(self.value, name)(*args, **options)
        return refuse(self)

    return answer


def _text(name: str) -> Any:
    """Make a method that gives text to code of adapted packages: messages; else it refuses."""
    refuse = refusing("print, repr or str on an array", "print the results of the function")

    def answer(self: Any, *spec: Any) -> Any:
        shown = self.tape.shown(self.value)
        return refuse(self) if shown is None else getattr(shown, name)(*spec)

    return answer


KEEP = "leave the value in an array; np.where chooses for each element"


PLAIN = (
    "call functions of NumPy's there, or of gradwrap.scipy's that give arrays, and "
    "gradwrap.numpy's array and zeros in place of NumPy's; a table of integers that is read at "
    "computed places is to be an argument"
)


class Tracer(Recorded):
    """A real array or number, and its number in the program."""

    __slots__ = ()
    __array_priority__: float = 500.0
    __hash__: Any = None  # like NumPy's arrays

    base: None = None

    shape: Any = property(lambda self: self._shape())
    dtype: Any = property(lambda self: self.value.dtype)
    ndim: Any = property(lambda self: self.value.ndim)
    size: Any = property(lambda self: math.prod(self._shape()))
    itemsize: Any = property(lambda self: self.value.itemsize)
    nbytes: Any = property(lambda self: self.value.nbytes)
    strides: Any = property(lambda self: self.value.strides)
    flags: Any = property(lambda self: self.value.flags)
    device: Any = property(lambda self: self.tape.library.device(self.value))

    def _shape(self) -> Any:
        """Return the lengths of the axes, for user code those that it is to see."""
        watch = self.tape.watch
        is_seen = watch is not None and watch.is_users(module_of(frame_of(2)))
        return watch.shape(self.value.shape) if watch and is_seen else self.value.shape

    def _attribute(self, name: str) -> Any:
        return self.tape.record(Attribute(name), name, (self,))

    T: Any = property(lambda self: self._attribute("T"))
    mT: Any = property(lambda self: self._attribute("mT"))  # noqa: N815  NumPy's name
    real: Any = property(lambda self: self._attribute("real"))
    imag: Any = property(lambda self: self._attribute("imag"))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        watch = self.tape.watch
        if watch is not None and watch.is_users(module_of(frame_of(1))):
            return watch.iterated(self, frame_of(1))
        return iter([self[i] for i in range(len(self.value))])

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return self.tape.library.namespace

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, (AnyWrapper, Weak, Twofold)) for x in inputs):
            return NotImplemented
        tape = self.tape
        out = tuple(one for one in kwargs.pop("out", None) or () if one is not None)
        if out and (method != "__call__" or ufunc.nout > 1 or type(out[0]) is not np.ndarray):
            raise self._refuse_out(ufunc)
        kw = {name: value for name, value in kwargs.items() if not _is_default(name, value)}
        name = _name_of(ufunc)
        if "where" in kw:
            raise tape.refuse(f"np.{ufunc.__name__} is called with where=. Fix: use np.where")
        if not name and method != "__call__":
            raise tape.refuse(f"it calls {ufunc.__name__}, a ufunc that source cannot name")
        if method == "__call__":
            made = tape.record(ufunc, name or f"{OPAQUE}{ufunc.__name__}", inputs, kw)
            if not out:
                return made
            if made.dtype.kind not in "biu":
                raise self._refuse_out(ufunc)
            np.copyto(out[0], np.asarray(made))  # as for a store of truths to a plain array
            return out[0]
        if method not in ("reduce", "accumulate", "outer", "reduceat"):
            raise tape.refuse(f"it calls np.{ufunc.__name__}.{method}. Fix: y[i] += x in a loop")
        return tape.record(getattr(ufunc, method), f"{ufunc.__name__}.{method}", inputs, kw)

    def _refuse_out(self, ufunc: Any) -> Exception:
        name = f"np.{ufunc.__name__}"
        return self.tape.refuse(f"{name} writes to out=. Fix: y = {name}()")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        tape = self.tape
        if any(issubclass(kind, (AnyWrapper, Weak)) for kind in types):
            return NotImplemented
        if function in (np.shares_memory, np.may_share_memory):
            return tape.share_memory(function, args[:2])
        if function in SHAPES:
            real = mapped(args, tape.real)
            return function(*real, **{name: mapped(v, tape.real) for name, v in kwargs.items()})
        make = tape.library.otherwise.get(function)
        if make is not None:
            return make(*args, **kwargs)
        path = _path_of(function)
        if function in WRITING or not path or kwargs.get("out") is not None:
            raise tape.refuse(
                f"it calls np.{path or function.__name__}, which writes in place{tape.place()}. "
                "Fix: y = gradwrap.numpy.array(y) before"
            )
        kw = {name: value for name, value in kwargs.items() if value is not NO_VALUE}
        if path == "where" and len(args) == 1:
            return tape.record(np.nonzero, "nonzero", args)
        return tape.record(function, path, args, kw)

    def __getitem__(self, key: Any) -> Any:
        watch = self.tape.watch
        if watch is not None and watch.is_users(module_of(frame_of(1))):
            key = watch.plain_key(key, self.value.shape)
        key = unwrapped_key(key)
        made = self.tape.record(getitem, "getitem", (self, key))
        if isinstance(key, (Tracer, TUPLE, LIST, NDARRAY)):
            parts: Any = key if isinstance(key, TUPLE) else (key,)
            if any(_is_traced_mask(part) for part in parts):
                self.tape.look("shape", made, made.value.shape)
        return made

    def __bool__(self) -> bool:
        return bool(self.tape.look("bool", self, bool(self.value)))

    def __int__(self) -> int:
        return int(self.tape.look("int", self, int(self.value)))

    def __index__(self) -> int:
        operator.index(self.value)
        return int(self.tape.look("int", self, int(self.value)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the elements as a plain array, if they are the same in each call.

        A guard compares a few integers or truths.
        """
        found: Any = np.array(self.value)
        if not self.tape.is_made(self.index):
            if self.dtype.kind not in "biu" or self.size > MOST_LOOKED_AT:
                self._refuse_array()
            self.tape.look("elements", self, tuple(found.ravel().tolist()))
        found.flags.writeable = False  # what is written to it would not be seen
        return found if dtype is None else found.astype(dtype)

    def __copy__(self) -> Any:
        return self.tape.record(copy, "copy", (self,))

    def __deepcopy__(self, memo: Any) -> Any:
        return self.tape.record(copy, "copy", (self,))

    __float__: Any = _of_same_in_each_call("__float__", "float(x) on an array", KEEP)
    __complex__: Any = _of_same_in_each_call("__complex__", "complex(x) on an array", KEEP)
    _refuse_array: Any = refusing("a function that needs a plain array", PLAIN)
    __repr__: Any = _text("__repr__")
    __str__: Any = _text("__str__")
    __format__: Any = _text("__format__")
    __reduce_ex__: Any = refusing("pickle on an array", KEEP)
    item: Any = _of_same_in_each_call("item", "x.item()", KEEP)
    tolist: Any = _of_same_in_each_call("tolist", "x.tolist()", KEEP)
    tobytes: Any = refusing("x.tobytes()", KEEP)

    def copy(self, order: str = "C") -> Any:
        """Return a new array."""
        flags = self.value.flags
        if order == "A":
            order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
        if order == "K" or (flags.c_contiguous if order == "C" else flags.f_contiguous):
            return self.tape.record(copy, "copy", (self,))
        return self.tape.record(copy, "copy", (self, order))

    def astype(self, dtype: Any, *args: Any, copy: bool = True, **kwargs: Any) -> Any:
        """Return the elements in another dtype."""
        dtype = np.dtype(dtype)
        if dtype == self.value.dtype and not args and not kwargs:
            return self.copy("K") if copy else self
        return self.tape.record(Method("astype"), "astype", (self, dtype, *args), kwargs)

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            if hasattr(NDARRAY, name) and not name.startswith("__"):
                if self.tape.is_made(self.index):
                    return getattr(self.__array__(), name)
                raise self.tape.refuse(f"it uses the attribute {name} of arrays. Fix: {KEEP}")
            raise AttributeError(f"a traced array has no attribute {name!r}")
        return partial(self._call, name)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise self.tape.refuse(f"x.{name} writes to out=. Fix: y = x.{name}()")
        if name == ADD_REDUCE.method:
            names = ("axis", "dtype", "out", "keepdims")
            kw = {**dict(zip(names, args, strict=False)), **kwargs}
            kw.setdefault("axis", None)
            kw = {key: value for key, value in kw.items() if not _is_default(key, value)}
            return self.tape.record(np.add.reduce, ADD_REDUCE.name, (self,), kw)
        op = OPERATIONS[name]
        if op.takes_array_second:
            return self.tape.record(getattr(np, name), name, (args[0], self, *args[1:]), kwargs)
        if op.takes_tuple and len(args) > 1:
            args = (args,)
        return self.tape.record(Method(name), name, (self, *args), kwargs)


class ArrayTracer(Tracer):
    """A tracer of an array, which is writeable; tracers of numbers are not."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        watch = self.tape.watch
        if watch is not None and watch.is_users(module_of(frame_of(1))):
            key = watch.plain_key(key, self.value.shape)
        if isinstance(value, AnyWrapper):
            raise self.tape.refuse("a tracked value is written to a plain array")
        if self.shares and package_of(module_of(frame_of(1))) not in {*ARRAYS, "scipy"}:
            raise self.tape.refuse(
                f"it writes to an array that has views, or is one{self.tape.place()}. "
                "Fix: y = gradwrap.numpy.array(y), whose views are seen"
            )
        self.index: int = self._written(setitem, "setitem", key, value)

    def _written(self, fn: Any, name: str, key: Any, value: Any) -> int:
        """Write to the value of this tracer; return the number of the new value."""
        made = self.tape.record(fn, name, (self, key, value))
        self.value: Any = made.value
        return int(made.index)


_BINARY: tuple[tuple[Any, Any], ...] = (
    (operator.add, np.add),
    (operator.sub, np.subtract),
    (operator.mul, np.multiply),
    (operator.truediv, np.true_divide),
    (operator.floordiv, np.floor_divide),
    (operator.mod, np.remainder),
    (operator.pow, np.power),
    (operator.matmul, np.matmul),
    (operator.and_, np.bitwise_and),
    (operator.or_, np.bitwise_or),
    (operator.xor, np.bitwise_xor),
    (operator.lshift, np.left_shift),
    (operator.rshift, np.right_shift),
)
COMPARED: tuple[tuple[Any, Any], ...] = (
    (operator.eq, np.equal),
    (operator.ne, np.not_equal),
    (operator.lt, np.less),
    (operator.le, np.less_equal),
    (operator.gt, np.greater),
    (operator.ge, np.greater_equal),
)
_UNARY: tuple[tuple[Any, Any], ...] = (
    (operator.neg, np.negative),
    (operator.pos, np.positive),
    (operator.abs, np.absolute),
    (operator.invert, np.invert),
)
for _perform, _ufunc in (*_BINARY, *COMPARED):
    setattr(Tracer, f"__{_perform.__name__.rstrip('_')}__", _operator(_ufunc, _perform))
for _perform, _ufunc in _BINARY:
    _swapped = _operator(_ufunc, _perform, swapped=True)
    setattr(Tracer, f"__r{_perform.__name__.rstrip('_')}__", _swapped)
for _perform, _ufunc in _UNARY:
    setattr(Tracer, f"__{_perform.__name__}__", _unary(_ufunc, _perform))


def _is_traced_mask(part: Any) -> bool:
    return isinstance(part, Tracer) and part.value.dtype == np.bool_


def _name_of(ufunc: Any) -> str:
    """Return the name of a ufunc of NumPy or scipy.special, or "" if source cannot name it."""
    name: str = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        return name
    if getattr(sys.modules.get("scipy.special"), name, None) is ufunc:
        return name
    path = "scipy.special._ufuncs"  # those that a function of scipy.special calls
    return f"{path}.{name}" if getattr(sys.modules.get(path), name, None) is ufunc else ""
