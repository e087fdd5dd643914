"""A namespace's information about its library: constants, dtypes, limits, capabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypedDict

from gradwrap.typing.arguments import DType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwrap.typing.arguments import Device, Kind


class FInfo(Protocol):
    """The limits of a floating-point dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IInfo(Protocol):
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


class DTypes(Protocol):
    """The dtypes of the standard."""

    bool: DType
    int8: DType
    int16: DType
    int32: DType
    int64: DType
    uint8: DType
    uint16: DType
    uint32: DType
    uint64: DType
    float32: DType
    float64: DType
    complex64: DType
    complex128: DType


class Constants(Protocol):
    """The constants of the standard."""

    e: float
    inf: float
    nan: float
    newaxis: None
    pi: float
    __name__: str
    __array_api_version__: str


Capabilities = TypedDict(
    "Capabilities",
    {"boolean indexing": bool, "data-dependent shapes": bool, "max dimensions": int | None},
)
DefaultDTypes = TypedDict(
    "DefaultDTypes",
    {"real floating": DType, "complex floating": DType, "integral": DType, "indexing": DType},
)


class NamespaceInfo(Protocol):
    """The result of `__array_namespace_info__`: the capabilities of a library."""

    def capabilities(self) -> Capabilities:
        """Say which of the features that the standard leaves open there are."""

    def default_device(self) -> Device:
        """The device of new arrays by default."""

    def default_dtypes(self, *, device: Device = None) -> DefaultDTypes:
        """The dtypes of new arrays by default."""

    def devices(self) -> Sequence[Device]:
        """The devices that are available."""

    def dtypes(
        self, *, device: Device = None, kind: Kind | tuple[Kind, ...] | None = None
    ) -> dict[str, DType]:
        """The dtypes that are available, by their names in the standard."""
