"""Fourier transforms in the older module `scipy.fftpack`, with derivatives."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from gradwrap.scipy.doors import Attribute as _Attribute
from gradwrap.scipy.doors import Names as _Names
from gradwrap.scipy.doors import door as _door

if _TYPE_CHECKING:
    from scipy.fftpack import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]  as seen

__getattr__: _Attribute
__dir__: _Names
__getattr__, __dir__ = _door("fftpack")
