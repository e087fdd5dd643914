"""Random arguments for the samples of SciPy's rows, from a fixed seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


class Sample(NamedTuple):
    """The arguments of a call that tests a rule: floats are differentiated, keywords are not."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    upto: int = 2
    take: Callable[[Any], Any] | None = None
    tracked: tuple[str, ...] = ()
    accuracy: float | None = None


def call(
    *args: Any,
    upto: int = 2,
    take: Callable[[Any], Any] | None = None,
    tracked: str = "",
    accuracy: float | None = None,
    **kwargs: Any,
) -> Sample:
    """Write a sample as the call that it is.

    `upto=1` leaves out the second derivative; `take` is a part of the result, or a function of
    it, where that is not made of arrays; `tracked` names keywords that are differentiated too;
    `accuracy` is that of SciPy's own result, where it is an approximation.
    """
    return Sample(args, kwargs, upto, take, tuple(tracked.split()), accuracy)


def each(module: str, names: str, samples: Callable[[Any], list[Sample]]) -> dict[str, Any]:
    """Give several functions of a module the same samples."""
    return {f"{module}.{name}": samples for name in names.split()}


class Random:
    """What the samples of a row are made of."""

    def __init__(self, seed: int = 0) -> None:
        self.generator = np.random.default_rng(seed)

    def normal(self, *shape: int) -> Any:
        return self.generator.normal(size=shape)

    def uniform(self, *shape: int, low: float = 0.2, high: float = 1.5) -> Any:
        return self.generator.uniform(low, high, size=shape)

    def rising(self, n: int, low: float = 0.0, high: float = 2.0) -> Any:
        """Return points in order, none of which are close to each other."""
        return np.linspace(low, high, n) + self.generator.uniform(-0.2, 0.2, n) * (high - low) / n

    def matrix(self, n: int) -> Any:
        """Return a matrix that is far from singular."""
        return self.normal(n, n) + 2.0 * n**0.5 * np.eye(n)

    def spd(self, n: int) -> Any:
        """Return a symmetric positive definite matrix."""
        x = self.normal(n, n)
        return x @ x.T / n + np.eye(n)

    def spread(self, n: int) -> Any:
        """Return a symmetric matrix whose eigenvectors are near the axes, so that signs stay."""
        return 0.1 * self.spd(n) + np.diag(np.arange(1.0, n + 1.0))

    def complex(self, *shape: int) -> Any:
        return self.normal(*shape) + 1j * self.normal(*shape)
