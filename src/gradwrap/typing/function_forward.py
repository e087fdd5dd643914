"""The two forms of `Function.forward`, so that `apply` has the type of the one it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from gradwrap.transforms.function_context import FunctionCtx

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class ForwardWithContext(Protocol[P, R_co]):
    """A class whose `forward` takes the context, then the arguments of `apply`."""

    @staticmethod
    def forward(ctx: FunctionCtx, /, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Compute the outputs."""
        ...


class ForwardAlone(Protocol[P, R_co]):
    """A class whose `forward` takes the arguments of `apply`; `setup_context` takes the context."""

    @staticmethod
    def forward(*args: P.args, **kwargs: P.kwargs) -> R_co:
        """Compute the outputs."""
        ...
