"""Formulas that are one kernel on CuPy: which, how many launches, and the same numbers."""

from __future__ import annotations

import collections
import itertools
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.backends.cupy.formulas import ARRAY, NUMBER, Untraceable, trace
from gradwrap.core.library.backend import backend_of
from gradwrap.core.table.registry import GENERIC, find_op, ops
from hosted_cupy import has_gpu, hosted, on_device
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gradwrap.core.table.rule import Formula
    from hosted_cupy.counts import Counts

cupy: Any = pytest.importorskip("cupy")
pytestmark = pytest.mark.skipif(has_gpu(), reason="the double counts; a GPU does not tell")

FUSED = {
    "abs": 1,
    "acos": 1,
    "acosh": 1,
    "asin": 1,
    "asinh": 1,
    "atan": 1,
    "atan2": 2,
    "atanh": 1,
    "clip": 3,
    "copysign": 1,
    "cos": 1,
    "cosh": 1,
    "divide": 1,
    "expm1": 1,
    "hypot": 2,
    "log10": 1,
    "log1p": 1,
    "log2": 1,
    "logaddexp": 2,
    "maximum": 2,
    "minimum": 2,
    "pow": 2,
    "reciprocal": 1,
    "remainder": 1,
    "sin": 1,
    "sinh": 1,
    "sqrt": 1,
    "square": 1,
    "tan": 1,
    "tanh": 1,
}
"""The rows of the standard of which this many formulas are fused. The others are one operation."""

CHAPTERS = ("gradwrap.rules.elementwise", "gradwrap.rules.selection")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-30, 1e30, np.inf, -np.inf, np.nan)


@pytest.fixture(autouse=True, scope="module")
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        yield counted


def fused_formulas() -> list[tuple[str, int]]:
    """The name of a row, and the number of a fused formula."""
    from gradwrap.backends.cupy.kernels import is_fused

    with on_device("gpu" if has_gpu() else "hosted"):
        backend = backend_of(cupy.zeros(1))
        return [
            (op.name, index)
            for op in ops()
            if (rule := backend.rule_of(op)) is not None and rule.provenance != "user"
            for index, formula in enumerate(rule.formulas)
            if formula is not None and is_fused(formula)
        ]


ALL = fused_formulas()


def formulas(name: str, index: int) -> tuple[Formula, Formula]:
    """The formula of the table, and CuPy's."""
    op = find_op(name)
    assert op is not None
    rule = backend_of(cupy.zeros(1)).rule_of(op)
    generic = op.rules[GENERIC] if GENERIC in op.rules else op.rules["numpy"]
    assert rule is not None
    ours, theirs = rule.formulas[index], generic.formulas[index]
    assert ours is not None
    assert theirs is not None
    return theirs, ours


def test_these_rows_are_fused() -> None:
    chapters = {op.name: op.rules[GENERIC].chapter for op in ops() if GENERIC in op.rules}
    found = collections.Counter(name for name, _ in ALL if chapters.get(name) in CHAPTERS)

    assert dict(found) == FUSED


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "index"), ALL)
def test_the_kernel_gives_what_the_formula_gives(
    name: str, index: int, dtype: str, counts: Counts
) -> None:
    """On every combination of special values, also of those that would not occur together."""
    generic, ours = formulas(name, index)
    points = np.array(list(itertools.product(SPECIAL, repeat=len(generic.saved)))).T.astype(dtype)
    arguments = [np.ascontiguousarray(row) for row in points]
    cotangent = np.linspace(0.5, 2.0, points.shape[1]).astype(dtype)
    with np.errstate(all="ignore"):
        wanted = generic.function(np, cotangent, *arguments)
    on_device = [cupy.asarray(a) for a in arguments]
    g = cupy.asarray(cotangent)
    counts.reset()

    found = ours.function(cupy, g, *on_device)

    assert counts.launches == [f"gradwrap_{name.replace('.', '_')}_{index}"]
    assert found.dtype == dtype
    tolerance = 4e-6 if dtype == "float32" else 1e-14
    np.testing.assert_allclose(found.get(), wanted, rtol=tolerance, atol=0, equal_nan=True)


@pytest.mark.parametrize(("name", "index"), ALL)
def test_a_kernel_computes_in_the_type_of_its_arrays(name: str, index: int) -> None:
    """Every number in it is cast: a bare 2.0 would make what follows double."""
    generic, _ = formulas(name, index)

    traced = trace(generic.function, [ARRAY] * len(generic.saved), "gabc"[: len(generic.saved) + 1])

    code = re.sub(r"\bT\([-+\d.e]+\)", "", traced.code("out"))
    assert not re.search(r"(?<![\w])\d", code), code
    assert "double" not in code
    assert traced.operations >= 2


REDUCES_IN_DOUBLE = {
    "sin_0",
    "cos_0",
    "special_cosm1_0",
    "special_ellipkinc_0",
    "special_ellipeinc_0",
}
"""CUDA's own `sinf` and `cosf`, of large arguments."""


def test_every_kernel_is_cuda_and_that_of_single_precision_single(tmp_path: Path) -> None:
    """Compiled for a GPU, which takes no GPU: the double's compiler is another one."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("nvcc, which compiles CUDA, is not installed")
    kernels: list[str] = []
    for name, index in ALL:
        generic, _ = formulas(name, index)
        names = ["g_in", *(f"a{i}" for i in range(len(generic.saved)))]
        name = name.replace(".", "_")  # noqa: PLW2901  as C has it
        code = trace(generic.function, [ARRAY] * len(generic.saved), names).code("y[i]")
        for kind in ("float", "double"):
            pointers = "".join(f"const {kind}* {one}_at, " for one in names)
            values = " ".join(f"const T& {one} = {one}_at[i];" for one in names)
            kernels.append(
                f'extern "C" __global__ void {name}_{index}_{kind}({pointers}{kind}* y)'
                f"{{ typedef {kind} T; const int i = threadIdx.x; {values} {code} }}"
            )
    source, assembly = tmp_path / "kernels.cu", tmp_path / "kernels.ptx"
    source.write_text("\n".join(kernels))

    subprocess.run([compiler, "-ptx", "-w", "-o", str(assembly), str(source)], check=True)

    found = dict(
        re.findall(r"\.visible \.entry (\w+)_float\((.*?)\n}", assembly.read_text(), re.DOTALL)
    )
    assert len(found) == len(ALL)
    assert {name for name, body in found.items() if ".f64" in body} <= REDUCES_IN_DOUBLE


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "tanh": lambda xp, x: xp.tanh(x),
    "sigmoid's parts": lambda xp, x: 1.0 / (1.0 + xp.exp(-x)),
    "square": lambda xp, x: x**2,
    "cube": lambda xp, x: x**3,
    "root": lambda xp, x: x**0.5,
    "relu": lambda xp, x: xp.maximum(x, 0.0),
    "clip": lambda xp, x: xp.clip(x, 0.5, 1.5),
    "clip from below": lambda xp, x: xp.clip(x, min=1),
    "to the power of x": lambda xp, x: 2.0**x,
    "broadcast": lambda xp, x: xp.atan2(x, xp.reshape(x, (-1, 1))),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_through_kernels_are_numpys(name: str, dtype: str, counts: Counts) -> None:
    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.sum(CALLS[name](xp, x))

    values = np.array([0.5, 1.0, 2.0], dtype=dtype)
    wanted = gw.grad(f)(values)
    x = cupy.asarray(values)
    counts.reset()

    found = gw.grad(f)(x)

    assert found.dtype == dtype
    np.testing.assert_allclose(found.get(), wanted, rtol=1e-6 if dtype == "float32" else 1e-12)
    assert any(launch.startswith("gradwrap_") for launch in counts.launches)


def test_numbers_that_vary_do_not_make_a_kernel_each() -> None:
    _, ours = formulas("pow", 0)
    kernels: Any = ours.function
    x = cupy.asarray([0.5, 2.0])
    before = len(kernels.kernels)

    for k in range(5, 30):

        def power(x: Any, k: int = k) -> Any:
            return (x**k).sum()

        gradient = gw.grad(power)(x)
        np.testing.assert_allclose(gradient.get(), k * np.array([0.5, 2.0]) ** (k - 1))
    for low in np.linspace(0.0, 1.0, 20):

        def clip(x: Any, low: float = float(low)) -> Any:
            return x.__array_namespace__().clip(x, low, 3.0).sum()

        gw.grad(clip)(x)

    assert len([one for one in kernels.kernels.values() if one is not None]) <= before + 1
    _, clipping = formulas("clip", 0)
    clipped: Any = clipping.function
    assert len([one for one in clipped.kernels.values() if one is not None]) <= 4


@pytest.mark.parametrize(
    "dtype", ["float16", "complex64", "complex128"], ids=lambda name: f"of {name}"
)
def test_arrays_without_a_kernel_take_the_formula(dtype: str, counts: Counts) -> None:
    x = cupy.asarray(np.array([0.5, 2.0], dtype=dtype))
    counts.reset()

    _, pull = gw.vjp(lambda x: x.__array_namespace__().tanh(x), x)
    (gradient,) = pull(cupy.ones_like(x))

    assert gradient.dtype == dtype
    assert not any(launch.startswith("gradwrap_") for launch in counts.launches)
    wanted = 1 - np.tanh(np.array([0.5, 2.0])) ** 2
    np.testing.assert_allclose(gradient.get(), wanted, rtol=1e-2 if dtype == "float16" else 1e-5)


def f(x: Any) -> Any:
    xp = x.__array_namespace__()
    return xp.sum(xp.tanh(x) * x**3)


VALUES = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize(
    "transform",
    rows(
        [
            lambda x: gw.hessian(f)(x),
            lambda x: gw.jvp(gw.grad(f), (x,), (x,))[1],
            lambda x: gw.vmap(gw.grad(fn(lambda one: f(one * one))))(x),
            lambda x: gw.grad(fn(lambda x: gw.grad(f)(x)[0]))(x),
            lambda x: gw.jacfwd(gw.grad(f))(x),
        ]
    ),
    ids=["hessian", "jvp of grad", "vmap of grad", "grad of grad", "jacfwd"],
)
def test_transforms_of_a_gradient_are_numpys(transform: Any) -> None:
    wanted = transform(VALUES)

    found = transform(cupy.asarray(VALUES))

    assert type(found) is cupy.ndarray
    np.testing.assert_allclose(found.get(), wanted, rtol=1e-11, atol=1e-13)


def test_create_graph_records_the_formula() -> None:
    x = gw.wrap(cupy.asarray(VALUES), requires_grad=True)
    (first,) = gw.autograd.grad(f(x), [x], create_graph=True)

    (second,) = gw.autograd.grad(first.sum(), [x])

    wanted = np.diag(gw.hessian(f)(VALUES))
    np.testing.assert_allclose(second.get(), wanted, rtol=1e-11)


def test_a_rule_of_the_users_is_called_as_it_is() -> None:
    called: list[type[Any]] = []

    @gw.primitive
    def bent(x: Any) -> Any:
        return x * x

    def formula(xp: Any, g: Any, x: Any) -> Any:
        called.append(x.__class__)
        return g * 3.0 * x

    gw.defvjp(bent, formula)

    gradient = gw.grad(fn(lambda x: bent(x).sum()))(cupy.asarray(VALUES))

    assert called == [cupy.ndarray]
    np.testing.assert_allclose(gradient.get(), 3.0 * VALUES)


# The tracer ---------------------------------------------------------------------------------------


def test_a_formula_is_written_line_by_line_and_nothing_twice() -> None:
    traced = trace(fn(lambda xp, g, x: g * xp.cos(x) + xp.cos(x)), [ARRAY], ["g", "x"])

    assert traced.code("out") == (
        "const T t0 = cos(x); const T t1 = g * t0; const T t2 = t1 + t0; out = t2;"
    )


def test_numbers_are_arguments_or_constants() -> None:
    def power(xp: Any, g: Any, x: Any, n: Any) -> Any:
        return g * n * x**n

    assert "pow(x, n)" in trace(power, [ARRAY, NUMBER], ["g", "x", "n"]).code("y")
    assert "x * x" in trace(power, [ARRAY, 2], ["g", "x", "n"]).code("y")


@pytest.mark.parametrize(
    "formula",
    rows(
        [
            lambda xp, g, x: g if x > 0 else -g,
            lambda xp, g, x: xp.cumulative_sum(g),
            lambda xp, g, x: g * x.shape[0],
            lambda xp, g, x: g * float("inf"),
            lambda xp, g, x: g * (x > 0),
            lambda xp, g, x: xp.where(x, g, x),
            lambda xp, g, x: g * 1j,
            lambda xp, g, x: xp.astype(g, "float32"),
        ]
    ),
    ids=["branch", "function", "shape", "inf", "bool", "condition", "complex", "cast"],
)
def test_what_has_no_line_of_c_is_not_traced(formula: Any) -> None:
    with pytest.raises(Untraceable):
        trace(formula, [ARRAY], ["g", "x"])
