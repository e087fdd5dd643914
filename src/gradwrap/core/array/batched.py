"""`Batched`: many examples at once, each seen as one array."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from gradwrap.core.array.setters import set_shape
from gradwrap.core.array.variable import Variable
from gradwrap.core.calls.batch import Batches, perform_batched
from gradwrap.core.calls.general import bound_for_result, perform, untracked
from gradwrap.core.calls.loop import looped
from gradwrap.core.levels.wrapper import UNTRACKED, make_wrapper
from gradwrap.core.library.backend import backend_of
from gradwrap.core.library.namespace import PARTIAL, WrappedNamespace
from gradwrap.core.observing.callers import calling_module, current_caller, refused
from gradwrap.core.values.dynamic import SEQUENCE, rebuilt
from gradwrap.core.values.space import Batch, Meta, size_of
from gradwrap.errors import BatchedIndexError, BatchedValueError

if TYPE_CHECKING:
    from gradwrap.core.calls.bound import BoundOp


A = TypeVar("A")


class _BatchedNamespace(WrappedNamespace):
    """The namespace of a batch, which calls a function without a rule for each example."""

    def _find(self, path: str) -> Any:
        found: Any = super()._find(path)
        if self._has_rule(path) or not isinstance(found, PARTIAL):
            return found
        one_by_one = PARTIAL(looped, found, path)
        functools.update_wrapper(one_by_one, found, (), ())
        return one_by_one


class Batched(Variable[A]):
    """Many examples at once, each seen as one array: the argument of a function under `vmap`."""

    __slots__ = ()

    _writes_in_place = False
    _is_batched = True
    _level = Batches
    _namespace_class = _BatchedNamespace

    @classmethod
    def _interpret(
        cls, bound: BoundOp, level: int, data: Any, nodes: Any, statics: tuple[Any, ...]
    ) -> Any:
        """Perform an operation on all examples at once."""
        if level == UNTRACKED:
            out = perform(bound, data, statics)
            return untracked(bound_for_result(bound, out), out)
        batch, out = perform_batched(bound, level, data, nodes, statics)
        return cls._of_batch(level, batch, out)

    @classmethod
    def _of_batch(cls, level: int, batch: Batch, out: Any) -> Any:
        """Wrap results whose first axis is the batch axis as batches of this transform."""
        if isinstance(out, SEQUENCE):
            parts = [cls._of_batch(level, batch, part) for part in out]
            return rebuilt(out, parts)
        backend = backend_of(out)
        meta = backend.meta(out, level)
        meta = Meta(meta.shape[1:], meta.dtype, meta.device, level, meta.is_complex)
        made = cls._class_holding(type(out))
        return make_wrapper(made, out, Batch(meta, batch.size, batch.fallback))

    @staticmethod
    def _like(kind: Any, out: Any, batch: Batch) -> Any:
        """Wrap a result, batch axis first; reuse an operand's description if it fits."""
        meta = batch.meta
        if batch.diagonal is None and out.shape[1:] == meta.shape and out.dtype == meta.dtype:
            return make_wrapper(kind, out, batch)
        return kind._of_batch(meta.level, batch, out)

    @classmethod
    def _of_diagonal(cls, batch: Batch) -> Any:
        """Make a batch that is a diagonal matrix; its data are computed on first access."""
        made = cls.__new__(cls)
        made._node = batch
        made._view = made._views = None
        made._is_array = False
        return made

    def _snapshot(self) -> Any:
        node = self._node
        if node is None or node.diagonal is None:
            return super()._snapshot()
        return self._of_diagonal(node)

    if not TYPE_CHECKING:  # as in `Variable`

        def __getattr__(self, name: str) -> Any:
            if name == "_value" and self._node.diagonal is not None:
                self._value = made = self._backend.diagonal_matrix(self._node.diagonal)
                return made
            return super().__getattr__(name)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes of one example."""
        return tuple(self._value.shape) if self._node is None else self._node.meta.shape

    @shape.setter
    def shape(self, shape: int | tuple[int, ...]) -> None:
        set_shape(self, shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the native array."""
        return self._value.dtype if self._node is None else self._node.meta.dtype

    @property
    def ndim(self) -> int:
        """The number of axes of one example."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements of one example."""
        return size_of(self.shape)

    def __repr__(self) -> str:
        if self._node is None:
            return f"Batched({self._value!r}, not mapped)"
        return f"Batched({self._value!r}, size={self._node.size})"

    def _untracked_data(self, what: str, fix: str = "", *, into: str = "a plain") -> Any:
        if self._node is not None:
            error = BatchedValueError(
                f"{what} of a value that vmap maps over: it stands for {self._node.size} examples. "
                "Fix: use functions of arrays (np.where, np.sin rather than math.sin); read "
                "and write plain arrays through gradwrap.wrap(array); or pass a value that is "
                "the same for all examples with None in in_axes."
            )
            raise refused(current_caller(), error)
        return super()._untracked_data(what, fix, into=into)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refuse NumPy's conversion; if a NumPy function asked for an index, `vmap` can go on."""
        try:
            return super().__array__(dtype, copy)
        except BatchedValueError as error:
            if self._backend.is_float(self) or not calling_module().startswith("numpy."):
                raise
            raise BatchedIndexError(*error.args) from None

    def __bool__(self) -> bool:
        if self._node is not None:
            error = BatchedValueError(
                "the truth of a value that vmap maps over: it may differ from example to "
                "example. Fix: xp.where(condition, a, b) chooses for each, in place of `if`; "
                'vmap(..., fallback="loop") calls the function for one example after the other.'
            )
            raise refused(current_caller(), error)
        return super().__bool__()
