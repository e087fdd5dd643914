"""Lines that both checkers must refuse: the `ignore` names the error of each."""

from __future__ import annotations

from fit import Array, Params, clipped, loss

import gradwrap as gw


def wrong(params: Params, x: Array) -> None:
    gw.grad(loss)(params, x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    gw.grad(loss)(params, x, x, decya=1.0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    gw.grad(loss)(x, x, x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    clipped(x, limit="a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    gw.wrap(x).requires_grd = True  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    gw.gard(loss)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
