"""The harness: calls made from the table, and what is checked of each.

A new row of the table is tested by what it says itself: an elementwise function on its domain, for
shapes that broadcast; any other by its samples, argument lists in which `x(...)` is a fresh array,
`i(...)` integers, `b(...)` bools, `spd(n)` a well-conditioned matrix, `hermitian(n)` a Hermitian
positive definite one, `singular(n)` a singular one. A row with a `probe=`, because its result is
fixed only up to a choice, is tested through that function of the namespace.
"""

from __future__ import annotations

import importlib
import inspect
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import gradwrap as gw
from gradwrap.core.library.backend import backend_of_namespace
from gradwrap.core.table.registry import GENERIC, Op, ops
from lambdas import is_a

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gradwrap.core.table.rule import Rule

UNARY_SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3), (0,))
BINARY_SHAPES = (
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((), (2, 2)),
    ((2, 3), None),
    (None, (3,)),
    ((0,), (1,)),
)
REAL, COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)


@dataclass(frozen=True)
class Case:
    """One operation, called with one pattern of arguments."""

    op: Op
    rule: Rule
    backend: str
    pattern: str
    seed: int

    @property
    def id(self) -> str:
        return f"{self.rule.name}[{self.pattern}]"

    def arguments(self, dtype: np.dtype[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Fresh arguments: native NumPy arrays, the same ones at every call."""
        maker = Maker(self.rule, dtype, self.seed)
        args, kwargs = eval(f"call({self.pattern})", maker.words())  # noqa: S307  from the table
        return list(args), dict(kwargs)


def _arguments(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def _integers(*values: Any) -> NDArray[np.int64]:
    return np.array(values)


def _bools(*values: Any) -> NDArray[np.bool_]:
    return np.array(values, dtype=bool)


class Maker:
    """The words of a sample."""

    def __init__(self, rule: Rule, dtype: np.dtype[Any], seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.rule = rule
        self.dtype = dtype

    def words(self) -> dict[str, Any]:
        return {
            "call": _arguments,
            "x": self.x,
            "spd": self.spd,
            "hermitian": self.hermitian,
            "singular": self.singular,
            "i": _integers,
            "b": _bools,
            "xp": np,
        }

    def x(self, *shape: int) -> Any:
        """An array in the domain, whose elements are some way apart from each other."""
        low, high = self.rule.domain
        size = int(np.prod(shape))
        steps = (self.random.permutation(size) + self.random.uniform(0.3, 0.7, size)) / max(size, 1)
        values = low + (high - low) * steps.reshape(shape)
        if self.dtype.kind == "c":
            values = values + 1j * self.random.uniform(0.1, 0.5, shape)
        return np.asarray(values, dtype=self.dtype)

    def spd(self, *shape: int) -> Any:
        *batch, n = shape
        matrix = self.random.uniform(-1.0, 1.0, (*batch, n, n))
        if self.dtype.kind == "c":
            matrix = matrix + 1j * self.random.uniform(-1.0, 1.0, (*batch, n, n))
        return np.asarray(matrix + 2.5 * np.eye(n), dtype=self.dtype)

    def hermitian(self, *shape: int) -> Any:
        """Eigenvalues some way apart, in a random basis."""
        *batch, n = shape
        basis, _ = np.linalg.qr(self.spd(*batch, n))
        values = np.arange(1, n + 1) + self.random.uniform(-0.2, 0.2, (*batch, 1, n))
        return np.asarray((basis * values) @ np.conj(np.moveaxis(basis, -1, -2)), dtype=self.dtype)

    def singular(self, n: int) -> Any:
        matrix = self.spd(n)
        matrix[-1] = matrix[0]
        return matrix


def patterns(rule: Rule) -> list[str]:
    """Return the argument patterns of a row."""
    if rule.samples:
        return list(rule.samples)
    if not rule.kind.is_elementwise:
        return []
    if len(rule.arrays) == 1:
        return [f"x{_call(shape)}" for shape in UNARY_SHAPES]
    return [
        ", ".join("1.5" if shape is None else f"x{_call(shape)}" for shape in pair)
        for pair in BINARY_SHAPES
    ]


def _call(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def rows() -> Iterator[tuple[Op, Rule, str]]:
    """Every row that has a derivative and is for NumPy, or for all libraries, with its backend.

    A row that another library has for itself is run by the generic row's samples.
    """
    for op in ops():
        for backend, rule in op.rules.items():
            if backend in (GENERIC, "numpy") and rule.differentiable and rule.provenance != "user":
                yield op, rule, backend


def cases() -> list[Case]:
    """Return every row with every pattern."""
    return [
        Case(op, rule, backend, pattern, zlib.crc32(f"{rule.name}{pattern}".encode()))
        for op, rule, backend in rows()
        for pattern in patterns(rule)
    ]


def cases_of(*files: str) -> list[Case]:
    """The cases of the rows whose formulas are in these files of the table."""
    return [
        case
        for case in cases()
        if any(
            formula is not None and formula.function.__module__.rpartition(".")[2] in files
            for formula in case.rule.formulas
        )
    ]


LIBRARIES = {
    "numpy": "numpy",
    "array_api_strict": "array_api_strict",
    "torch": "array_api_compat.torch",
    "jax": "jax.numpy",
    "dask": "array_api_compat.dask.array",
    "cupy": "array_api_compat.cupy",
    "tiny_arrays": "tiny_arrays",
}
"""The namespace of each library that the rows are run on."""


def namespace(library: str) -> Any:
    """Return the namespace of a library, set up to compute in double precision."""
    if library == "jax":
        jax: Any = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
    return importlib.import_module(LIBRARIES[library])


def runs_on(case: Case, library: str) -> bool:
    """Tell whether a row is for a library that has the function natively."""
    if case.backend not in (GENERIC, library):
        return False
    if library == "numpy":
        return True
    backend = backend_of_namespace(namespace(library))
    if backend.native(case.rule.name) is not None:
        return True
    return case.rule.native is not None and case.rule.name != "einsum"


def to_library(value: Any, xp: Any, device: Any = None) -> Any:
    """Convert a NumPy array (or list, dtype, device) to the library's, on a device."""
    if isinstance(value, str) and value == "cpu":
        return value if device is None else device
    if is_a(value, np.ndarray):
        if xp is np:
            return value
        make = xp.from_numpy if xp.__name__ == "tiny_arrays" else xp.asarray
        return make(value, device=device)
    if is_a(value, list, tuple):
        parts = [to_library(part, xp, device) for part in value]
        return parts if is_a(value, list) else tuple(parts)
    if inspect.isclass(value) and issubclass(value, np.generic):
        return getattr(xp, value.__name__)
    return value


def to_numpy(value: Any) -> Any:
    """Convert an array of any of the libraries, on any device, to NumPy's."""
    if type(value).__module__ == "tiny_arrays":
        return namespace("tiny_arrays").to_numpy(value)
    if type(value).__module__.startswith("array_api_strict"):
        import array_api_strict

        value = value.to_device(array_api_strict.Device("CPU_DEVICE"))
    if hasattr(value, "resolve_conj"):  # torch conjugates by a flag
        value = value.resolve_conj()
    if type(value).__module__ == "cupy":
        return value.get()
    return np.asarray(value)


def function_of(case: Case, xp: Any, kwargs: dict[str, Any], statics: dict[int, Any]) -> Any:
    """Return the operation as a function of its floating arrays alone, with a list of outputs."""

    def call(*arrays: Any) -> list[Any]:
        args = joined_call(arrays, statics, case.rule)
        classes: list[Any] = [type(a) for a in arrays if is_a(a, gw.Variable)]
        if not classes:
            out = native_call(case, xp, args, kwargs)
        else:
            cls = classes[0]
            if case.rule.probe is not None:
                out = case.rule.probe(cls._namespace, *args, **kwargs)
            else:
                out = cls._bind(case.op).call(*args, **kwargs)
        return floating_parts(out)

    return call


def native_call(case: Case, xp: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return the operation on native arrays, without a wrapper."""
    backend = backend_of_namespace(xp)
    rule = case.op.rule_for(backend.name)
    assert rule is not None
    if rule.probe is not None:
        return rule.probe(backend.xp, *args, **kwargs)
    native = backend.adapt(case.op, rule) if rule.native is not None else backend.native(rule.name)
    assert native is not None
    return native(*args, **kwargs)


def floating_parts(out: Any) -> list[Any]:
    """Return the floating arrays among the results of a call."""
    parts: list[Any] = list(out) if is_a(out, tuple, list) else [out]
    return [part for part in parts if is_floating(part)]


def is_floating(value: Any) -> bool:
    return hasattr(value, "dtype") and any(
        word in str(value.dtype) for word in ("float", "complex")
    )


def split_call(args: Sequence[Any], rule: Rule) -> tuple[list[Any], dict[int, Any]]:
    """Return a call's floating arrays, and the other arguments with their positions."""
    if rule.variadic:
        return list(args[0]), dict(enumerate(args[1:], start=len(args[0])))
    arrays: list[Any] = []
    statics: dict[int, Any] = {}
    for position, value in enumerate(args):
        if is_floating(value):
            arrays.append(value)
        else:
            statics[position] = value
    return arrays, statics


def joined_call(arrays: Sequence[Any], statics: dict[int, Any], rule: Rule) -> list[Any]:
    """Return the positional arguments of a call that `split_call` took apart."""
    if rule.variadic:
        return [list(arrays), *(statics[k] for k in sorted(statics))]
    free = iter(arrays)
    total = len(arrays) + len(statics)
    return [statics[k] if k in statics else next(free) for k in range(total)]


def real_inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    return float(
        sum(np.sum((np.conj(np.asarray(a)) * b).real) for a, b in zip(left, right, strict=True))
    )


def direction(random: np.random.Generator, like: Any) -> Any:
    shape: tuple[int, ...] = like.shape
    dtype: np.dtype[Any] = like.dtype
    values = random.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * random.standard_normal(shape)
    return np.asarray(values, dtype=dtype)


def numerical(
    f: Callable[..., list[Any]], args: list[Any], tangents: list[Any], cotangents: list[Any]
) -> float:
    """<cotangent, derivative of f along the tangents>, by extrapolated central differences."""

    def difference(step: float) -> float:
        above = f(*(a + step * t for a, t in zip(args, tangents, strict=True)))
        below = f(*(a - step * t for a, t in zip(args, tangents, strict=True)))
        return real_inner(
            cotangents,
            [
                (np.asarray(p) - np.asarray(m)) / (2 * step)
                for p, m in zip(above, below, strict=True)
            ],
        )

    return (4 * difference(1e-4) - difference(2e-4)) / 3
