"""Decorators that give the transforms the types that `gradwrap.typing` declares for them.

To a type checker the function becomes one of the protocols there; at run time it is unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias, TypeVar

    from gradwrap.typing.batches import Vmap
    from gradwrap.typing.derivatives import (
        ElementwiseGrad,
        Grad,
        Hessian,
        HessianDiagonal,
        Jacobian,
        ValueAndGrad,
    )
    from gradwrap.typing.products import Hvp, Jvp, Linearize, Vjp

    T = TypeVar("T")
    TypedAs: TypeAlias = Callable[[Callable[..., Any]], T]


def _itself(transform: Any) -> Any:
    return transform


typed_as_elementwise_grad: TypedAs[ElementwiseGrad] = _itself
typed_as_grad: TypedAs[Grad] = _itself
typed_as_hessian: TypedAs[Hessian] = _itself
typed_as_hessian_diagonal: TypedAs[HessianDiagonal] = _itself
typed_as_hvp: TypedAs[Hvp] = _itself
typed_as_jacobian: TypedAs[Jacobian] = _itself
typed_as_jvp: TypedAs[Jvp] = _itself
typed_as_linearize: TypedAs[Linearize] = _itself
typed_as_value_and_grad: TypedAs[ValueAndGrad] = _itself
typed_as_vjp: TypedAs[Vjp] = _itself
typed_as_vmap: TypedAs[Vmap] = _itself
