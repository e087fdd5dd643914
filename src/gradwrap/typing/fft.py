"""The standard's extension `fft`."""

from __future__ import annotations

from typing import Protocol

from gradwrap.typing.arguments import Device, DType, In_contra, Lengths, Norm, Other_co, Out_co


class FFTNamespace(Protocol[In_contra, Out_co, Other_co]):
    """Fourier transforms."""

    __name__: str

    def fft(
        self, x: In_contra, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Other_co:
        """The Fourier transform along an axis."""

    def fftfreq(
        self, n: int, /, *, d: float = 1.0, dtype: DType = None, device: Device = None
    ) -> Out_co:
        """The frequencies of the elements of `fft`."""

    def fftn(
        self, x: In_contra, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
    ) -> Other_co:
        """The Fourier transform along several axes."""

    def fftshift(self, x: In_contra, /, *, axes: int | Lengths = None) -> Out_co:
        """The frequencies in order, zero in the middle."""

    def hfft(
        self, x: In_contra, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Other_co:
        """The real transform of an array with Hermitian symmetry."""

    def ifft(
        self, x: In_contra, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Other_co:
        """The inverse of `fft`."""

    def ifftn(
        self, x: In_contra, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
    ) -> Other_co:
        """The inverse of `fftn`."""

    def ifftshift(self, x: In_contra, /, *, axes: int | Lengths = None) -> Out_co:
        """The inverse of `fftshift`."""

    def ihfft(
        self, x: In_contra, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Other_co:
        """The inverse of `hfft`."""

    def irfft(
        self, x: In_contra, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Other_co:
        """The inverse of `rfft`: real numbers."""

    def irfftn(
        self, x: In_contra, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
    ) -> Other_co:
        """The inverse of `rfftn`: real numbers."""

    def rfft(
        self, x: In_contra, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Other_co:
        """The Fourier transform of real numbers: half of it says all."""

    def rfftfreq(
        self, n: int, /, *, d: float = 1.0, dtype: DType = None, device: Device = None
    ) -> Out_co:
        """The frequencies of the elements of `rfft`."""

    def rfftn(
        self, x: In_contra, /, *, s: Lengths = None, axes: Lengths = None, norm: Norm = "backward"
    ) -> Other_co:
        """The Fourier transform of real numbers along several axes."""
