"""The named tuples that functions of the standard return, as a type checker sees them.

At run time they are those of the array library, which have the same names.
"""

from __future__ import annotations

from typing import Generic, NamedTuple

from gradwrap.typing.type_variables import Other_co, Out_co


class Eig(NamedTuple, Generic[Other_co]):
    """The result of `linalg.eig`."""

    eigenvalues: Other_co
    eigenvectors: Other_co


class Eigh(NamedTuple, Generic[Out_co]):
    """The result of `linalg.eigh`."""

    eigenvalues: Out_co
    eigenvectors: Out_co


class QR(NamedTuple, Generic[Out_co]):
    """The result of `linalg.qr`."""

    Q: Out_co
    R: Out_co


class SlogDet(NamedTuple, Generic[Out_co]):
    """The result of `linalg.slogdet`."""

    sign: Out_co
    logabsdet: Out_co


class SVD(NamedTuple, Generic[Out_co]):
    """The result of `linalg.svd`."""

    U: Out_co
    S: Out_co
    Vh: Out_co


class UniqueAll(NamedTuple, Generic[Out_co, Other_co]):
    """The result of `unique_all`."""

    values: Out_co
    indices: Other_co
    inverse_indices: Other_co
    counts: Other_co


class UniqueCounts(NamedTuple, Generic[Out_co, Other_co]):
    """The result of `unique_counts`."""

    values: Out_co
    counts: Other_co


class UniqueInverse(NamedTuple, Generic[Out_co, Other_co]):
    """The result of `unique_inverse`."""

    values: Out_co
    inverse_indices: Other_co
