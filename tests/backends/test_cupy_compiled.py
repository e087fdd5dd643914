"""Compiled functions of CuPy's arrays: values, launches, waits, and what tells calls apart.

The kernels run on the host, where the double compiles their C.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from scipy import special
from tests.compiler.test_compiled_programs import PROGRAMS, moved

import gradwrap as gw
from gradwrap.core.values.tree import flatten, unflatten
from gradwrap.errors import CompileError, CompileWarning
from hosted_cupy import has_gpu, hosted
from lambdas import fn, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hosted_cupy.counts import Counts
    from lambdas import Function

cupy: Any = pytest.importorskip("cupy")
cp: Any = pytest.importorskip("gradwrap.cupy")
pytestmark = pytest.mark.skipif(has_gpu(), reason="the double counts; a GPU does not tell")
ANY: Any = np  # for calls that NumPy's own types are too narrow for
X = np.array([0.5, 1.0, 2.0])


@pytest.fixture(autouse=True, scope="module")
def counts() -> Iterator[Counts]:
    with hosted() as counted:
        yield counted


def grad(function: Function, argnums: Any = 0) -> Any:
    return gw.grad(function, argnums)


def compiling(function: Function, **options: Any) -> Any:
    return gw.compile(cast("Any", function), **options)


def on_device(value: Any) -> Any:
    """Copy the arrays of a container to the device."""
    leaves, tree = flatten(value)
    is_array = (np.ndarray, np.generic)
    return unflatten(tree, [cupy.asarray(x) if isinstance(x, is_array) else x for x in leaves])


def check_same(wanted: Any, found: Any) -> None:
    """Compare results: types and dtypes exactly, values by the largest element."""
    one, tree = flatten(wanted)
    two, other = flatten(found)
    assert tree == other
    for a, b in zip(one, two, strict=True):
        assert type(a) is type(b)
        if not isinstance(a, cupy.ndarray):
            assert a == b
            continue
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        kept, got = a.get(), b.get()
        if a.dtype.kind not in "fc":
            np.testing.assert_array_equal(got, kept)
            continue
        size = np.max(np.abs(kept[np.isfinite(kept)]), initial=0.0)
        allowed = 100 * np.finfo(a.dtype).eps * size
        np.testing.assert_allclose(got, kept, rtol=0, atol=allowed, equal_nan=True)


def compiled_twice(function: Function, *args: Any, **options: Any) -> Any:
    """Compile without a warning, call twice, and compare with eager."""
    compiled = compiling(function, **options)
    eager: Any = function
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(*args)
        check_same(eager(*args), compiled(*args))
    return compiled


# Programs of all kinds ----------------------------------------------------------------------------

NUMPYS = {"filled in place", "vmap of what is written in place"}
"""Programs with arrays of NumPy's in them, which raise with CuPy's."""


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - NUMPYS))
def test_a_program_gives_what_eager_gives(name: str, counts: Counts) -> None:
    function, args = PROGRAMS[name]
    leaves, tree = flatten(args)
    first = on_device(args)
    others = on_device(unflatten(tree, [moved(leaf) for leaf in leaves]))
    compiled = compiled_twice(function, *first)
    kept = [leaf.copy() for leaf in flatten(compiled(*first))[0]]
    counts.reset()
    function(*others)
    eagerly = len(counts.launches), len(counts.synchronisations)
    counts.reset()
    found = compiled(*others)
    now = len(counts.launches), len(counts.synchronisations)

    assert now[0] <= eagerly[0]
    assert now[1] <= eagerly[1]
    check_same(function(*others), found)
    check_same(kept, flatten(compiled(*first))[0])
    assert len(compiled.programs) == 1
    assert compiled.source.startswith("import")
    assert "ulp" in compiled.check(*others)


def test_a_gradient_of_elementwise_functions_is_one_kernel(counts: Counts) -> None:
    x = cupy.asarray(X)
    gradient = compiled_twice(grad(lambda x: np.sum(np.sin(x) ** 2 * np.exp(x) / (1.0 + x * x))), x)
    counts.reset()

    gradient(x)

    assert counts.launches == ["gradwrap_kernel0"]
    assert not counts.synchronisations
    assert not counts.uploads
    assert "kernel0 = cp.ElementwiseKernel(" in gradient.source
    assert "kernel0: " in gradient.explain()
    assert "engine: cupy" in gradient.explain()


def chain(x: Any) -> Any:
    for _ in range(50):
        x = np.sin(x) * 1.1 + 0.1 * np.cos(x)
    return np.sum(x)


def recurrence(x: Any) -> Any:
    s = x[0]
    for i in range(1, 30):
        s = np.sin(s) * x[i] + 0.5
    return s


def squares(x: Any) -> Any:
    total = 0.0
    for i in range(29):
        total = total + (x[i + 1] - x[i] ** 2) ** 2
    return total


@pytest.mark.parametrize(
    ("function", "most"),
    [(chain, 4), (recurrence, 30), (squares, 20)],
    ids=["chain", "recurrence", "squares"],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_loops_are_found_again(function: Any, most: int, dtype: str, counts: Counts) -> None:
    x = cupy.asarray(np.linspace(0.5, 1.5, 30).astype(dtype))
    gradient = compiled_twice(gw.grad(function), x)
    counts.reset()

    gradient(x)

    assert len(counts.launches) <= most
    if function is not squares:
        assert "for (long long k = 0; k <" in gradient.source
    assert "loop" in gradient.explain()


def test_a_loop_that_is_no_kernel_stays_one_of_python(counts: Counts) -> None:
    w = cupy.asarray(np.random.default_rng(0).standard_normal((3, 3)))

    def states(h: Any) -> Any:
        for _ in range(20):
            h = np.tanh(w @ h)
        return np.sum(h)

    gradient = compiled_twice(gw.grad(states), cupy.asarray(X))

    assert "    for " in gradient.source
    w[...] = 0.25 * w
    check_same(gw.grad(states)(cupy.asarray(X)), gradient(cupy.asarray(X)))


# Elementwise operations in CUDA -------------------------------------------------------------------

POINTS = np.array([0.0, -0.0, 0.25, 0.5, 1.0, -0.75, 2.5, -3.0, np.inf, -np.inf, np.nan])
UNARY = (
    *("negative", "positive", "square", "reciprocal", "conjugate", "sign", "isnan", "isfinite"),
    *("isinf", "logical_not", "deg2rad", "sqrt", "absolute", "fabs", "floor", "ceil", "trunc"),
    *("rint", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2"),
    *("log10", "log1p", "cbrt", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"),
)
BINARY = (
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "copysign"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "heaviside"),
    *("logical_and", "logical_or", "logical_xor", "hypot", "arctan2", "power"),
)
OF_COMPLEX = (
    *("add", "subtract", "multiply", "divide", "equal", "not_equal", "negative", "square"),
    *("conjugate", "absolute", "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
)
OF_INTEGERS = (
    *("add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "negative", "square"),
    *("sign", "absolute", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and"),
)
POWERS = (0.0, 1.0, 2, 3.0, 4, 0.5, -1.0, 2.5, -2)


def applied(names: tuple[str, ...]) -> Callable[..., Any]:
    """A function of two arrays that applies ufuncs of these names."""

    def function(x: Any, y: Any) -> Any:
        ufuncs = [getattr(np, name) for name in names]
        return [ufunc(x) if ufunc.nin == 1 else ufunc(x, y) for ufunc in ufuncs]

    return function


def agree(
    function: Function, *args: Any, tolerance: float = 4.0, launched: str = "kernel0"
) -> None:
    """Compare a compiled function with NumPy's results, element by element."""
    eager: Any = function
    with np.errstate(all="ignore"):
        wanted = eager(*args)
    found = compiled_twice(function, *on_device(args))
    assert launched in found.source
    for a, b in zip(wanted, found(*on_device(args)), strict=True):
        assert a.dtype == b.dtype
        unit = tolerance * (np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0)
        np.testing.assert_allclose(b.get(), a, rtol=unit, atol=unit, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_one_number_are_numpys(dtype: str) -> None:
    x = POINTS.astype(dtype)
    agree(applied(UNARY), x, x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_two_numbers_are_numpys(dtype: str) -> None:
    pairs = np.array([(a, b) for a in POINTS for b in POINTS]).astype(dtype).T
    agree(applied(BINARY), pairs[0].copy(), pairs[1].copy())


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_functions_of_complex_numbers_are_numpys(dtype: str) -> None:
    x = np.array([0.5 + 1j, -2.0 + 0.25j, 1.5 - 0.5j, 0.25 - 2j]).astype(dtype)
    agree(applied(OF_COMPLEX), x, x[::-1].copy(), tolerance=16.0)


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool"])
def test_functions_of_whole_numbers_are_numpys(dtype: str) -> None:
    pairs = np.array([(a, b) for a in (-7, -1, 0, 3, 9) for b in (-4, 0, 3)]).astype(dtype).T
    names = tuple(n for n in OF_INTEGERS if n in ("equal", "logical_and") or "bitwise" in n)
    names = names if dtype == "bool" else OF_INTEGERS
    agree(applied((*names, "invert") if dtype == "bool" else names), *map(np.copy, pairs))


def test_powers_and_numbers_are_numpys() -> None:
    x = np.array([0.25, 0.5, 1.5, 3.0])
    agree(lambda x: [x**power for power in POWERS], x)
    agree(lambda x: [x * np.inf, x - np.nan, x * -2.5e-300, x + 1e20, np.where(x > 1, x, -x)], x)
    agree(lambda x: [x + (2 - 1j), x * 3j, (x > 1) * 2.5, x.astype(np.float32) * 2, x + True], x)
    k = np.array([1, -2, 3])
    agree(lambda k: [k * -3, k + np.iinfo(np.int64).min, k * 0.5, k / 2, k > 1, k.astype(float)], k)


def test_arguments_are_broadcast() -> None:
    x, y = np.arange(3.0)[:, None], np.arange(4.0)
    agree(lambda x, y: [np.sin(x) * y + y * y, x * 2.0 - np.float64(3) * y, x * x], x, y)


def test_an_array_of_one_number_gives_a_kernel_its_shape() -> None:
    ones = compiled_twice(lambda x: (np.ones_like(x) * 2.0 + 1.0) * x[0] * x[0], cupy.asarray(X))
    assert ones(cupy.asarray(X)).shape == (3,)


def test_a_long_group_is_cut_into_kernels_that_cuda_takes() -> None:
    arrays = [cupy.asarray(X + k) for k in range(150)]
    order = np.random.default_rng(0).permutation(150)
    ufuncs: list[Any] = [np.add, np.subtract, np.multiply, np.maximum, np.hypot]

    def joined(arrays: Any) -> Any:
        products = [ufuncs[k % 7 % 5](arrays[k], arrays[i]) for k, i in enumerate(order)]
        return [
            ufuncs[k // 3 % 5](p, products[i])
            for k, (p, i) in enumerate(zip(products, order, strict=True))
        ]

    compiled = compiled_twice(joined, arrays)

    heads = compiled.source.split("cp.ElementwiseKernel(")[1:]
    counts = [head.partition('"""')[0].count("float64") for head in heads]
    assert len(heads) > 1
    assert max(counts) <= 100


# What tells calls apart ---------------------------------------------------------------------------


def test_numpys_and_cupys_arrays_have_programs_of_their_own() -> None:
    doubled = compiling(lambda x: np.sin(x) * 2.0 + x)
    x = cupy.asarray(X)
    for array in (X, x):
        doubled(array)

    assert type(doubled(X)) is np.ndarray
    assert type(doubled(x)) is cupy.ndarray
    assert len(doubled.programs) == 2
    assert "import cupy" in doubled.source


def test_branches_are_traced_when_they_are_taken(counts: Counts) -> None:
    function = grad(lambda x: np.sum(x) if x[0] > 0 else np.sum(x * x * x))
    compiled = compiled_twice(function, cupy.asarray(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(cupy.asarray(-X))
    counts.reset()
    found = compiled(cupy.asarray(-2 * X))

    assert counts.synchronisations == ["bool"]
    np.testing.assert_allclose(found.get(), 12 * X**2)
    assert "    if bool(" in compiled.source
    assert len(compiled.programs) == 1


def test_arrays_of_the_closure_are_read_at_each_call() -> None:
    w = cupy.asarray(X)
    function = grad(lambda x: np.sum(x * w + np.sin(x)))
    x = cupy.asarray(X)
    compiled = compiled_twice(function, x)
    w[:] = 7.0
    check_same(function(x), compiled(x))
    assert "constant: w, float64(3,), read at each call" in compiled.explain()
    w = cupy.asarray(-X)  # another array: it is traced anew
    check_same(function(x), compiled(x))


def test_what_is_computed_from_the_closure_alone_is_computed_at_each_call() -> None:
    w, places = cupy.asarray(X), cupy.asarray([0, 2, 2])
    function = grad(lambda x: np.sum(ANY.where(w > 0.7, x * x, x)[places] * np.sum(w)))
    x = cupy.asarray(X)
    compiled = compiled_twice(function, x)
    w[:] = cupy.asarray(X[::-1].copy())
    places[:] = 1
    check_same(function(x), compiled(x))


def test_numpys_arrays_of_the_closure_are_compared() -> None:
    table = np.array([1.0, 2.0, 3.0])
    compiled = compiling(lambda x: x * cupy.asarray(table))
    x = cupy.asarray(X)
    compiled(x)
    table[:] = 5.0
    np.testing.assert_array_equal(compiled(x).get(), 5.0 * X)


def test_static_arrays_are_known_by_value() -> None:
    compiled = compiling(lambda x, w: x * w + w, static="w")
    x, w = cupy.asarray(X), cupy.asarray(X)
    for factor in (1.0, 2.0):
        w[:] = factor
        compiled(x, w)
        np.testing.assert_array_equal(compiled(x, w).get(), X * factor + factor)
    assert len(compiled.programs) == 2


def test_a_view_of_the_closures_array_is_read_at_each_call() -> None:
    whole = cupy.asarray(np.arange(6.0))
    function = grad(lambda x: np.sum(x * whole[1:4] * x))
    compiled = compiled_twice(function, cupy.asarray(X))
    whole[:] = 5.0
    check_same(function(cupy.asarray(X)), compiled(cupy.asarray(X)))


def test_results_are_nobody_elses() -> None:
    compiled = compiled_twice(lambda x: (x[0], x[1:], x * 2.0, x[::2] + 1.0), cupy.asarray(X))
    x = cupy.asarray(X)
    first, rest, *_ = compiled(x)
    x[:] = 9.0
    assert float(first) == 9.0  # a view, as in eager
    assert rest.get().tolist() == [9.0, 9.0]


def test_strides_and_orders_are_told_apart() -> None:
    function = grad(lambda a: np.sum(np.sin(a) * a[::-1]))
    a = cupy.asarray(np.arange(12.0).reshape(3, 4))
    compiled = compiled_twice(function, a)
    for other in (a.T, a[:, ::2], a[::-1]):
        compiled(other)
        check_same(function(other), compiled(other))
    assert len(compiled.programs) == 4


def test_a_program_belongs_to_a_device() -> None:
    with hosted(device_count=2):
        function = grad(lambda x: np.sum(np.sin(x) * x))
        compiled = compiling(function)
        x = cupy.asarray(X)
        with cupy.cuda.Device(1):
            other = cupy.asarray(2 * X)
        compiled(x)
        compiled(other)
        mine, second = compiled(x), compiled(other)
        assert (mine.data.device_id, second.data.device_id) == (0, 1)
        np.testing.assert_allclose(second.get(), np.sin(2 * X) + 2 * X * np.cos(2 * X))
        assert len(compiled.programs) == 2
        assert cupy.cuda.Device().id == 0
        both = compiling(lambda x, y: x * len(y))
        with pytest.warns(CompileWarning, match=r"several devices, \[0, 1\]"):
            both(x, other)


def test_a_closures_array_on_another_device_is_refused() -> None:
    with hosted(device_count=2):
        with cupy.cuda.Device(1):
            far = cupy.asarray(X)
        moves = compiling(grad(lambda x: np.sum(x.to_device(1) * far)))
        with pytest.warns(CompileWarning, match="runs eagerly"):
            found = moves(cupy.asarray(X))
        np.testing.assert_array_equal(found.get(), X)


def test_nothing_is_kept_between_calls_for_another_stream_to_write_to() -> None:
    compiled = compiled_twice(grad(recurrence), cupy.asarray(np.linspace(0.5, 1.5, 30)))
    assert "WORKSPACE" not in compiled.source
    x = cupy.asarray(np.linspace(0.5, 1.5, 30))
    with cupy.cuda.Stream():
        one = compiled(x)
    with cupy.cuda.Stream():
        two = compiled(x)
    assert not cupy.may_share_memory(one, two)


def test_constants_are_there_before_another_stream_reads_them(counts: Counts) -> None:
    compiled = compiling(lambda x: x[[0, 2]] * 2.0 + x[[1, 1]])
    x = cupy.asarray(X)
    counts.reset()
    compiled(x)
    assert "Stream.synchronize" in counts.synchronisations
    counts.reset()
    found = compiled(x)
    assert not counts.synchronisations
    assert not counts.uploads
    np.testing.assert_array_equal(found.get(), X[[0, 2]] * 2.0 + X[[1, 1]])


# Engines ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["numpy", "cupy"])
def test_both_names_compile_cupys_arrays_to_cupys_calls(engine: str) -> None:
    compiled = compiled_twice(lambda x: np.sin(x) * x, cupy.asarray(X), engine=engine)
    assert "cp.ElementwiseKernel" in compiled.source


def test_other_engines_take_numpys_arrays_alone() -> None:
    in_c = compiling(lambda x: np.sin(x) * x, engine="c")
    with pytest.warns(CompileWarning, match="given CuPy's. The cupy engine is used"):
        in_c(cupy.asarray(X))
    assert "cp.ElementwiseKernel" in in_c.source


def test_the_cupy_engine_takes_cupys_arrays_alone() -> None:
    compiled = compiling(lambda x: np.sin(x) * x, engine="cupy")
    with pytest.warns(CompileWarning, match=r"Fix: cupy.asarray\(x\). The numpy engine is used"):
        compiled(X)
    np.testing.assert_array_equal(compiled(X), np.sin(X) * X)


def test_arrays_of_both_libraries_are_as_in_eager() -> None:
    product = compiling(lambda x, y: x * y)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy.ndarray'>"):
            product(cupy.asarray(X), X)
    beside = compiling(lambda x, y: x * len(y))
    with pytest.warns(CompileWarning, match="arrays of NumPy and of CuPy are among"):
        np.testing.assert_array_equal(beside(cupy.asarray(X), X).get(), 3 * X)
    np.testing.assert_array_equal(beside(cupy.asarray(X), 2 * X).get(), 3 * X)


@pytest.mark.parametrize(
    ("function", "reason"),
    rows(
        [
            (lambda x: x * float(x[0]), r"it calls float\(x\)"),
            (lambda x: x * x.item(1), r"it calls x.item\(\)"),
            (lambda x: x + cupy.asarray(np.random.default_rng().random(3)), "two runs on the same"),
            (lambda x: x.__iadd__(1.0), "it writes to an argument"),
        ]
    ),
)
def test_what_cannot_be_compiled_runs_eagerly_and_says_why(function: Any, reason: str) -> None:
    compiled = compiling(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert type(compiled(cupy.asarray(X))) is cupy.ndarray
    (one,) = caught
    assert one.category is CompileWarning
    with pytest.raises(CompileError, match=reason):
        compiled.check(cupy.asarray(X))


def test_a_function_that_cupy_lacks_raises_as_in_eager() -> None:
    doubled = fn(lambda x: np.spacing(x) * 2.0)
    for function in (doubled, compiling(doubled)):
        with pytest.raises(TypeError, match="spacing"):
            function(cupy.asarray(X))


# CuPy's own functions -----------------------------------------------------------------------------


def filled(x: Any) -> Any:
    b = cp.zeros(3)
    for i in range(3):
        b[i] = cp.sin(x[i]) * x[i - 1]
    b[1:] += b[:-1] * 0.5
    return cp.sum(b * b)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ufuncs of cupy": grad(lambda x: cupy.sum(cupy.sin(x) * cupy.exp(x))),
    "ufuncs of cupy, not differentiated": fn(lambda x: cupy.sum(cupy.sin(x) * cupy.exp(x))),
    "reduction of cupy": fn(lambda x: cupy.nanmax(x * x)),
    "cupy.where": grad(lambda x: cupy.sum(cupy.where(x > 0.7, x * x, 0.0))),
    "gradwrap.cupy": grad(lambda x: cp.sum(cp.concatenate([cp.sin(x), cp.ones(2)]) ** 2)),
    "gradwrap.cupy, not differentiated": fn(lambda x: cp.concatenate([cp.sin(x), x * 2.0])),
    "filled in place": grad(filled),
    "the standard's": grad(lambda x: x.__array_namespace__().linalg.vector_norm(x)),
    "clip": grad(lambda x: np.sum(np.clip(x, 0.6, 1.5) * x)),
    "norms": fn(lambda x: [ANY.linalg.norm(x, o) for o in (1, 2, np.inf, -np.inf, 0, 3)]),
    "no axes": fn(lambda x: x[0] * x[1] + 1.0),
    "special functions": grad(lambda x: np.sum(special.gammaln(x) * x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_cupy_are_compiled(name: str) -> None:
    compiled_twice(FUNCTIONS[name], cupy.asarray(X))


# Saved modules ------------------------------------------------------------------------------------

SAVED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "kernels": (grad(lambda x: np.sum(np.sin(x) ** 2 * np.exp(x))), (X,)),
    "a loop": (gw.grad(recurrence), (np.linspace(0.5, 1.5, 30),)),
    "branches": (grad(lambda x: np.sum(x) if x[0] > 0 else np.sum(x * x)), (X,)),
    "constants": (
        grad(lambda x: np.sum(x[[0, 2, 2]] ** 2 * np.array([1.0, 2.0, 3.0]).sum())),
        (X,),
    ),
    "special functions": (fn(lambda x: special.gammaln(x) * np.inf), (X,)),
    "integers": (grad(lambda x, k: np.sum(x[k] * k)), (X, np.array([0, 2, 2]))),
    "complex integers": (
        grad(lambda z, k: np.sum(np.abs(z[k] ** 2))),
        (X * (1 + 2j), np.array([0, 2, 2])),
    ),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_module_needs_cupy_and_numpy_alone(name: str, tmp_path: Path) -> None:
    function, args = SAVED[name]
    args = on_device(args)
    compiled = compiled_twice(function, *args)
    path = tmp_path / "saved_program.py"
    compiled.save(path)
    text = path.read_text()
    assert "gradwrap." not in text.replace("gradwrap_", "")
    spec = importlib.util.spec_from_file_location("saved_program", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    found = module.compiled(*args)

    check_same(tuple(flatten(compiled(*args))[0]), found)
    if name == "branches":
        with pytest.raises(module.Missed):
            module.compiled(-args[0])
