"""Fourier transforms in the older module `scipy.fftpack`, with derivatives."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from gradwrap.scipy.doors import door as _door

if _TYPE_CHECKING:
    from typing import Any as _Any

    from scipy.fftpack import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]  as seen

    def __getattr__(name: str) -> _Any: ...  # where SciPy's types are not installed

else:
    globals().update(_door("fftpack"))
