"""Custom functions under `vmap`: the rule of one example, mapped over all of them.

A transform outside of the `vmap` differentiates the whole batch. It gets the user's rule, whose
functions are given batched arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.backend import backend_of, wrapper_class
from gradwrap.core.batch import Batch
from gradwrap.core.batched import Batched
from gradwrap.core.space import Meta
from gradwrap.core.variable import AnyVariable
from gradwrap.transforms.arguments import is_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.transforms.custom_calls import CustomRule, Pull

__all__ = ["BatchedRule"]


class BatchedRule:
    """The rule of a batch, made from that of an example; the batch axis is the first."""

    def __init__(self, rule: CustomRule, level: int, batch: Batch, mapped: Sequence[bool]) -> None:
        self.name: str = rule.name
        self.rule = rule
        self.level = level
        self.batch = batch
        self.mapped = mapped
        self.mapped_outs: list[bool] = []

    def reverse(
        self, inputs: Sequence[Any], needed: Sequence[bool], level: int
    ) -> tuple[list[Any], Pull]:
        """The example's reverse mode on batched arrays."""
        outs, pull = self.rule.reverse(self._batched(inputs, self.mapped), needed, level)
        mapped_outs = self.mapped_outs = [self._is_ours(out) for out in outs]

        def pull_all(cotangents: Sequence[Any]) -> list[Any]:
            found = pull(self._batched(cotangents, mapped_outs))
            return [
                None if g is None else self._whole(g) if mapped else self._summed(g)
                for g, mapped in zip(found, self.mapped, strict=True)
            ]

        datas = [out._data if own else out for out, own in zip(outs, mapped_outs, strict=True)]
        return datas, pull_all

    def forward(
        self, inputs: Sequence[Any], tangents: Sequence[Any], level: int
    ) -> tuple[list[Any], Sequence[Any]]:
        """The example's forward mode on batched arrays."""
        outs, pushed = self.rule.forward(
            self._batched(inputs, self.mapped), self._batched(tangents, self.mapped), level
        )
        self.mapped_outs = [
            self._is_ours(out) or self._is_ours(t) for out, t in zip(outs, pushed, strict=True)
        ]
        both = zip(outs, pushed, self.mapped_outs, strict=True)
        found = [
            (self._whole(out), None if t is None else self._whole(t)) if mapped else (out, t)
            for out, t, mapped in both
        ]
        return [out for out, _ in found], [t for _, t in found]

    def wrapped(self, outs: Sequence[Any]) -> list[Any]:
        """Outputs of the whole batch, as the function under `vmap` gets them."""
        return self._batched(outs, self.mapped_outs)

    def _batched(self, values: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
        return [
            self._as_batched(value) if own and is_array(value) else value
            for value, own in zip(values, mapped, strict=True)
        ]

    def _as_batched(self, value: Any) -> Any:
        backend = backend_of(value)
        whole = backend.meta(value, self.level)
        meta = Meta(whole.shape[1:], whole.dtype, whole.device, self.level, whole.is_complex)
        batch = Batch(meta, self.batch.size, self.batch.fallback)
        return wrapper_class(Batched, backend)(value, batch)

    def _is_ours(self, value: Any) -> bool:
        return (
            isinstance(value, AnyVariable)
            and value._node is not None
            and value._node.meta.level == self.level
        )

    def _whole(self, value: Any) -> Any:
        """With the batch axis; repeated along it, if it is the same for all examples."""
        if self._is_ours(value):
            return value._data
        return backend_of(value).xp.broadcast_to(value, (self.batch.size, *value.shape))

    def _summed(self, value: Any) -> Any:
        """Of an argument that all examples share, the sum of their cotangents."""
        if not self._is_ours(value):
            return value
        data = value._data
        return backend_of(data).xp.sum(data, axis=0, dtype=data.dtype)
