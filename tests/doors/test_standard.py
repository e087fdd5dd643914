"""The whole Array API standard 2025.12: nothing is missing, derivatives are right."""

from __future__ import annotations

import inspect
import operator
import re
from typing import TYPE_CHECKING, Any

import array_api_compat
import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.library.namespace import composites
from gradwrap.core.table.registry import find_op
from harness import COMPLEX as COMPLEX_DTYPE
from harness import REAL as REAL_DTYPE
from harness import direction, is_floating, numerical, real_inner
from lambdas import fn, is_a
from standard import ANY, COMPLEX, DEGENERATE, FUNCTIONS, OWN, REAL, calls

if TYPE_CHECKING:
    from gradwrap.core.table.rule import Rule

NUMPY = array_api_compat.array_namespace(np.empty(0))
DIFFERENTIABLE = calls(ANY) + calls(REAL) + calls(COMPLEX)
CASES: list[tuple[str, Any]] = [(call, REAL_DTYPE) for call in calls(ANY) + calls(REAL)]
CASES += [(call, COMPLEX_DTYPE) for call in calls(ANY) + calls(COMPLEX)]


# Completeness -------------------------------------------------------------------------------------


def rule_of(name: str) -> Rule | None:
    op = find_op(name)
    return None if op is None else op.rule_for("numpy")


def is_known(name: str) -> bool:
    rule = rule_of(name)
    has_rule = rule is not None and bool(rule.differentiable or rule.reason)
    return has_rule or name in composites() or name in OWN


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_has_a_rule_a_composition_or_a_reason(name: str) -> None:
    assert is_known(name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_found_in_the_namespace(name: str) -> None:
    found: Any = gw.wrap_namespace(strict)
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


def test_list_has_what_array_api_strict_has() -> None:
    spaces: dict[str, Any] = {"": strict, "linalg.": strict.linalg, "fft.": strict.fft}
    names: list[str] = [f"{where}{n}" for where, xp in spaces.items() for n in xp.__all__]
    theirs = {n for n in names if inspect.isfunction(operator.attrgetter(n)(strict))}
    own = {n for n in theirs if n.endswith("_flags") or n.startswith("__")}
    not_in_its_all = {"linalg.eig", "linalg.eigvals"}
    assert theirs - own | not_in_its_all == set(FUNCTIONS)
    assert len(FUNCTIONS) == 174


def test_every_function_that_has_a_derivative_is_called() -> None:
    called = set(re.findall(r"xp\.((?:linalg\.|fft\.)?\w+)", "\n".join(DIFFERENTIABLE)))
    without = set(OWN) | {"from_dlpack", "linalg.matrix_rank", "isin"}
    for name in FUNCTIONS:
        rule = rule_of(name)
        if rule is not None and not rule.differentiable and name not in composites():
            without.add(name)
    assert set(FUNCTIONS) - without == called - {"complex128"}
    assert len(DIFFERENTIABLE) >= 126


# Derivatives --------------------------------------------------------------------------------------


def integers(*values: Any) -> Any:
    return np.array(values, dtype=np.int64)


def bools(*values: Any) -> Any:
    return np.array(values, dtype=bool)


class Words:
    """The words of a call's text: they make new arrays the first time, then give these again."""

    def __init__(self, xp: Any, dtype: Any, given: Any = None) -> None:
        self.xp, self.dtype = xp, dtype
        self.given = None if given is None else iter(given)
        self.made: list[Any] = []
        self.random = np.random.default_rng(7)

    def x(self, *shape: int) -> Any:
        size = int(np.prod(shape))
        steps = (self.random.permutation(size) + self.random.uniform(0.3, 0.7, size)) / max(size, 1)
        values = -0.9 + 1.8 * steps.reshape(shape)
        return self._array(values, self.random.uniform(0.1, 0.5, shape))

    def spd(self, *shape: int) -> Any:
        full = (*shape, shape[-1])
        values = self.random.uniform(-1.0, 1.0, full) + 2.5 * np.eye(shape[-1])
        return self._array(values, self.random.uniform(-0.5, 0.5, full))

    def _array(self, real: Any, imaginary: Any) -> Any:
        if self.given is not None:
            return next(self.given)
        values = real + 1j * imaginary if np.dtype(self.dtype).kind == "c" else real
        self.made.append(np.asarray(values, dtype=self.dtype))
        return self.made[-1]

    def evaluate(self, call: str) -> list[Any]:
        xp = self.xp
        scope: dict[str, Any] = {
            "xp": xp,
            "x": self.x,
            "spd": self.spd,
            "i": integers,
            "b": bools,
            "sym": fn(lambda a: a + xp.conj(xp.matrix_transpose(a))),
            "gram": fn(lambda a: xp.matmul(a, xp.conj(xp.matrix_transpose(a)))),
        }
        out = eval(call, scope)  # noqa: S307  from the table
        parts: list[Any] = list(out) if is_a(out, tuple, list) else [out]
        return [part for part in parts if is_floating(part)]


def arguments(call: str, dtype: Any) -> list[Any]:
    words = Words(gw.wrap_namespace(np), dtype)
    words.evaluate(call)
    return words.made


def function(call: str, dtype: Any) -> Any:
    """Return a call as a function of its arrays; on plain ones, in the library's own namespace."""

    def f(*arrays: Any) -> list[Any]:
        wrapped = any(isinstance(a, gw.Variable) for a in arrays)
        xp = gw.wrap_namespace(np) if wrapped else NUMPY
        return Words(xp, dtype, arrays).evaluate(call)

    return f


def check(call: str, dtype: Any) -> None:
    f, arrays = function(call, dtype), arguments(call, dtype)
    random = np.random.default_rng(0)
    out, pull = gw.vjp(f, *arrays)
    assert out
    for found, wanted in zip(out, f(*arrays), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)
    cotangents = [np.asarray(direction(random, part))[()] for part in out]
    tangents = [direction(random, a) for a in arrays]
    gradients = pull(cotangents)

    for gradient, array in zip(gradients, arrays, strict=True):
        assert (gradient.shape, gradient.dtype) == (array.shape, array.dtype)
    found = real_inner(gradients, tangents)
    slope = numerical(f, arrays, tangents, cotangents)
    assert abs(found - slope) <= 1e-6 * max(1.0, abs(slope))
    _, moved = gw.jvp(f, tuple(arrays), tuple(tangents))
    assert abs(real_inner(cotangents, moved) - slope) <= 1e-6 * max(1.0, abs(slope))


@pytest.mark.parametrize(("call", "dtype"), CASES)
def test_derivative_is_the_numerical_one(call: str, dtype: Any) -> None:
    check(call, dtype)


@pytest.mark.parametrize("call", calls(DEGENERATE))
def test_derivative_of_empty_and_0d_arrays(call: str) -> None:
    check(call, REAL_DTYPE)


@pytest.mark.parametrize("call", [c for c in calls(ANY) + calls(REAL) if "complex128" not in c])
def test_single_precision_stays_single(call: str) -> None:
    arrays = arguments(call, np.float32)
    out, pull = gw.vjp(function(call, np.float32), *arrays)
    gradients = pull([np.ones_like(part) for part in out])
    assert {part.dtype.type for part in out} <= {np.float32, np.complex64}
    assert {gradient.dtype.type for gradient in gradients} == {np.float32}
