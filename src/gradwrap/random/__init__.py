"""NumPy's random generators, whose samples have derivatives in the parameters.

>>> import numpy as np, gradwrap as gw
>>> from gradwrap.random import default_rng
>>> gw.grad(lambda scale: default_rng(0).normal(1.0, scale))(2.0)
np.float64(0.12573022...)
>>> default_rng(0).normal(1.0, 2.0) == np.random.default_rng(0).normal(1.0, 2.0)
True

The numbers are those of NumPy, drawn by NumPy. The module has all names of `numpy.random`; the
functions that draw from the global generator take tracked parameters too.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from gradwrap.core.values.dynamic import type_of
from gradwrap.random.sampling import GLOBAL, Seeded, called

if TYPE_CHECKING:
    from collections.abc import Callable

    Discrete = Literal["refuse", "constant"]

K = TypeVar("K", bound=type[Any])

__all__ = ["Generator", "RandomState", "default_rng"]

OTHERS = frozenset({"bit_generator", "get_state", "seed", "set_state", "spawn"})
"""What a generator has besides methods that draw."""


def _drawing(base: Any, name: str) -> Callable[..., Any]:
    original = getattr(base, name)

    @functools.wraps(original)
    def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
        return called(self, original.__get__(self), args, kwargs)

    return draw


def _with_derivatives(kind: K) -> K:
    """Replace the methods that draw, in a class derived from NumPy's."""
    base = kind.__mro__[1]
    for name in vars(base):
        if name[0] != "_" and name not in OTHERS and callable(getattr(base, name)):
            setattr(kind, name, _drawing(base, name))
    return kind


@_with_derivatives
class Generator(np.random.Generator):
    """NumPy's generator, whose methods also take tracked arguments.

    Samples of continuous distributions have derivatives in the parameters. `permutation`,
    `permuted`, `shuffle` and `choice` move the elements of tracked arrays. Where `vmap` maps over
    an argument, each example has draws of its own; a draw that depends on no such argument is
    the same for all examples. If the mapped function itself calls `default_rng` with a seed, each
    example begins with that seed, as in a loop.

    Parameters
    ----------
    bit_generator
        The source of random bits. `Generator(rng.bit_generator)` continues the stream of another
        generator.
    discrete
        What to do with tracked parameters of discrete distributions: `"refuse"` them, or draw
        `"constant"` samples.

    Raises
    ------
    NoRuleError
        A parameter of a discrete distribution, or of one without a derivative, is tracked.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> rng = gw.random.Generator(np.random.PCG64(0))
    >>> gw.grad(lambda a: np.mean(rng.gamma(a, size=1000)))(3.0)
    np.float64(1.00...)
    """

    def __init__(
        self, bit_generator: np.random.BitGenerator, *, discrete: Discrete = "refuse"
    ) -> None:
        super().__init__(bit_generator)
        if discrete not in ("refuse", "constant"):
            raise ValueError(f"discrete={discrete!r}. Fix: 'refuse' or 'constant'.")
        self.discrete: Discrete = discrete
        self.seeded: Seeded = Seeded()

    def spawn(self, n_children: int) -> list[Any]:
        """Return independent generators, with the seeds that NumPy's `spawn` gives."""
        bits: Any = self.bit_generator
        return [type(self)(one, discrete=self.discrete) for one in bits.spawn(n_children)]

    def __reduce__(self) -> Any:
        """Pickle the generator with its state."""
        return _made, (type_of(self), self.bit_generator, self.discrete)


def _made(kind: type[Generator], bit_generator: Any, discrete: Discrete) -> Generator:
    return kind(bit_generator, discrete=discrete)


@_with_derivatives
class RandomState(np.random.RandomState):
    """NumPy's older generator, whose methods also take tracked arguments.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> rng = gw.random.RandomState(0)
    >>> gw.grad(lambda loc: rng.normal(loc))(0.5)
    np.float64(1.0)
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)
        self.seeded: Seeded = Seeded()
        self.seeded.begin(is_seeded=_is_seed(seed))

    def seed(self, seed: Any = None) -> None:
        """Begin anew, as NumPy's method does."""
        super().seed(seed)
        self.seeded.begin(is_seeded=_is_seed(seed))


def _is_seed(seed: Any) -> bool:
    """Tell if two generators of this seed draw the same numbers."""
    kinds: tuple[Any, ...] = (np.random.BitGenerator, np.random.Generator, np.random.RandomState)
    return seed is not None and not isinstance(seed, kinds)


def default_rng(seed: Any = None, *, discrete: Discrete = "refuse") -> Generator:
    """Return a generator with derivatives, from all that NumPy's `default_rng` takes.

    Given a generator, it continues its stream. `discrete` is that of `Generator`.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> rng = gw.random.default_rng(0, discrete="constant")
    >>> gw.grad(lambda rate: rate * rng.poisson(rate))(4.0)
    np.float64(2.0)
    """
    rng = np.random.default_rng(seed)
    if isinstance(rng, Generator) and rng.discrete == discrete:
        return rng
    made = Generator(rng.bit_generator, discrete=discrete)
    made.seeded.begin(is_seeded=_is_seed(seed))
    return made


def seed(seed: Any = None) -> None:
    """Seed NumPy's global generator."""
    np.random.seed(seed)  # noqa: NPY002  this is that function
    GLOBAL.begin(is_seeded=_is_seed(seed))


def __getattr__(name: str) -> Any:
    found = getattr(np.random, name)
    shared = getattr(found, "__self__", None)
    if type_of(shared) is not np.random.RandomState or name in OTHERS:
        return found

    @functools.wraps(found)
    def draw(*args: Any, **kwargs: Any) -> Any:
        return called(shared, found, args, kwargs)

    globals()[name] = draw
    return draw


def __dir__() -> list[str]:
    return dir(np.random)
