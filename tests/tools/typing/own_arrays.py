"""Any class that meets the array protocol has its own types; see transforms.py."""

from __future__ import annotations

from typing import Any, Self, assert_type

import gradwrap as gw


class Space: ...


class Kind: ...


class Tiles:
    """The standard's array, as far as the types go."""

    @property
    def dtype(self) -> Kind:
        return Kind()

    @property
    def device(self) -> str:
        return "here"

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return Space()

    def __mul__(self, other: Self | float, /) -> Self:
        return self

    def __rmul__(self, other: float, /) -> Self:
        return self

    def __float__(self) -> float:
        return 0.0


def loss(w: Tiles, x: Tiles, *, rate: float = 0.1) -> Tiles:
    return w * x * rate


tiles = Tiles()
x = gw.wrap(tiles, requires_grad=True)
assert_type(x, gw.Variable[Tiles])
assert_type(x.grad, Tiles | None)
assert_type(x.dtype, Kind)
assert_type(x.device, str)
assert_type(x * tiles, gw.Variable[Tiles])
assert_type(tiles * x, gw.Variable[Tiles])
assert_type(2.0 * x, gw.Variable[Tiles])
assert_type(x.sum().T[0], gw.Variable[Tiles])
xp = x.__array_namespace__()
assert_type(xp, gw.typing.Namespace[Tiles])
assert_type(xp.exp(tiles), gw.Variable[Tiles])
assert_type(xp.linalg.eigh(x).eigenvalues, gw.Variable[Tiles])
xp.exp(1.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

assert_type(gw.grad(loss)(tiles, x=tiles, rate=1.0), Tiles)
assert_type(gw.grad(loss, (0, 1))(tiles, tiles), tuple[Tiles, Tiles])
assert_type(gw.value_and_grad(loss)(tiles, tiles), tuple[Tiles, Tiles])
gw.grad(loss)(tiles, 1.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
