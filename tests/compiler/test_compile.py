"""`gw.compile`: guards, signatures, constants, the fallback, what can be asked of a function."""

from __future__ import annotations

import importlib.util
import threading
import tracemalloc
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler.__main__ import main
from gradwrap.compiler.tracing import tape
from gradwrap.compiler.tracing.tape import Library
from gradwrap.errors import CompileError, CompileWarning

if TYPE_CHECKING:
    import pathlib

X = np.linspace(0.2, 1.5, 6)


def sines(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def times_globals(x: Any) -> Any:
    return x * SCALE


SCALE = 2.0


# Constants ----------------------------------------------------------------------------------------


def test_an_array_that_is_filled_between_its_uses_has_its_own_content_at_each() -> None:
    def f(x: Any) -> Any:
        m = np.zeros(40)
        s = 0.0
        for i in range(3):
            m[i] = i + 1.0
            s = s + np.sum(x * m)
        return s

    x = np.arange(40.0)
    compiled = gw.compile(gw.grad(f))
    for at in (x, x + 1.0):
        np.testing.assert_array_equal(compiled(at), gw.grad(f)(at))


def test_an_array_of_the_closure_is_read_at_each_call() -> None:
    w = np.ones(40)
    compiled = gw.compile(gw.grad(lambda x: np.sum(x * w)))
    np.testing.assert_array_equal(compiled(np.ones(40)), np.ones(40))
    w[:] = 3.0
    np.testing.assert_array_equal(compiled(np.ones(40)), np.full(40, 3.0))
    assert "w, float64(40,), read at each call" in compiled.explain()


def test_a_view_of_an_array_of_the_closure_is_read_at_each_call() -> None:
    w = np.arange(12.0).reshape(3, 4)
    compiled = gw.compile(lambda x: x @ w.T)
    x = np.arange(4.0)
    compiled(x)
    w[0] = 7.0
    np.testing.assert_array_equal(compiled(x), x @ w.T)


def test_an_array_that_replaces_one_of_the_closure_is_taken() -> None:
    w = np.ones(3)

    def f(x: Any) -> Any:
        return x * w

    compiled = gw.compile(f)
    compiled(X[:3])
    w = np.full(3, 5.0)
    np.testing.assert_array_equal(compiled(X[:3]), X[:3] * 5.0)


def test_a_number_that_replaces_one_of_the_module_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = gw.compile(times_globals)
    compiled(X)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    np.testing.assert_array_equal(compiled(X), X * 3.0)


def test_what_is_made_in_the_run_is_frozen_and_listed() -> None:
    compiled = gw.compile(lambda x: x * np.arange(6.0))
    compiled(X)
    assert "made in the run, float64(6,), frozen" in compiled.explain()
    result = gw.compile(lambda x: (x, np.arange(3.0)))
    result(X)
    result(X)[1][:] = 7.0
    np.testing.assert_array_equal(result(X)[1], np.arange(3.0))


def test_results_stay_after_later_calls() -> None:
    def f(x: Any, a: Any) -> Any:
        h = np.zeros(5)
        found = []
        for t in range(20):
            h = np.tanh(h * a + x[t])
            found.append(h)
        return found

    x = np.random.default_rng(0).standard_normal((20, 5))
    compiled = gw.compile(f)
    compiled(x, x[0])
    first = compiled(x, x[0])
    kept = [h.copy() for h in first]
    second = compiled(-x, x[1])
    for h, k, other, wanted in zip(first, kept, second, f(-x, x[1]), strict=True):
        np.testing.assert_array_equal(h, k)
        np.testing.assert_allclose(other, wanted, rtol=1e-14)


def test_equal_results_are_arrays_of_their_own() -> None:
    compiled = gw.compile(lambda x: (x + 1.0, x + 1.0, x * 1.0))
    compiled(X)
    a, b, c = compiled(X)
    a[:] = 0.0
    c[:] = 0.0
    np.testing.assert_array_equal(b, X + 1.0)
    assert X[0] == 0.2


# Guards -------------------------------------------------------------------------------------------


def test_a_branch_is_traced_when_it_is_first_taken() -> None:
    def f(x: Any) -> Any:
        y = np.sin(x)
        return np.sum(y) if x[0] > 0 else np.sum(y * y)

    compiled = gw.compile(gw.grad(f))
    for at in (X, X, -X, -X, X):
        np.testing.assert_array_equal(compiled(at), gw.grad(f)(at))
    assert len(compiled.programs) == 1
    assert "seen: True, False" in compiled.explain()
    assert "if bool(" in compiled.source


def test_an_integer_chooses_a_branch_each() -> None:
    def f(x: Any, k: Any) -> Any:
        for _ in range(k):
            x = x * 2.0
        return x

    compiled = gw.compile(f)
    for k in (1, 2, 3, 1, 3):
        np.testing.assert_array_equal(compiled(X, np.asarray(k)), f(X, k))
    assert len(compiled.programs) == 1


def test_more_branches_than_the_limit_run_eagerly() -> None:
    compiled = gw.compile(lambda x, k: x * int(k))

    def through_all() -> None:
        for k in range(20):
            np.testing.assert_array_equal(compiled(X, np.asarray(k)), X * k)

    with pytest.warns(CompileWarning, match="different ways through its branches"):
        through_all()


# Signatures ---------------------------------------------------------------------------------------


def test_shapes_dtypes_orders_and_numbers_have_programs_of_their_own() -> None:
    compiled: Any = gw.compile(lambda x, n=2: x**n)
    m = np.arange(6.0).reshape(2, 3)
    for x in (X, X[:3], X.astype(np.float32), m, np.asfortranarray(m), m[:, ::2]):
        found = compiled(x)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, x**2)
    np.testing.assert_array_equal(compiled(X, 3), X**3)
    np.testing.assert_array_equal(compiled(X, n=3), X**3)
    np.testing.assert_array_equal(compiled(X, 2.0), X**2.0)
    assert len(compiled.programs) == 9


def test_static_arguments_are_known_by_value() -> None:
    compiled = gw.compile(lambda x, k: x[: int(k)], static="k")
    assert compiled(X, np.int64(2)).shape == (2,)
    assert compiled(X, np.int64(3)).shape == (3,)
    assert len(compiled.programs) == 2
    assert "if" not in compiled.source.split("def compiled")[1]


def test_a_method_is_compiled_as_a_decorated_function_is() -> None:
    class Model:
        @gw.compile
        def apply(self, x: Any) -> Any:
            return x * 2.0

    np.testing.assert_array_equal(Model().apply(X), X * 2.0)


def test_zero_and_minus_zero_are_different_numbers() -> None:
    compiled = gw.compile(lambda x, a: np.copysign(x, a))
    np.testing.assert_array_equal(compiled(X, 0.0), X)
    np.testing.assert_array_equal(compiled(X, -0.0), -X)


# Inside and around transforms ---------------------------------------------------------------------


def test_a_compiled_function_can_be_differentiated_mapped_and_compiled() -> None:
    compiled = gw.compile(sines)
    compiled(X)
    np.testing.assert_array_equal(gw.grad(compiled)(X), gw.grad(sines)(X))
    rows = np.stack([X, 2 * X])
    np.testing.assert_array_equal(gw.vmap(compiled)(rows), gw.vmap(sines)(rows))
    outer = gw.compile(gw.grad(lambda x: compiled(x) ** 2))
    np.testing.assert_array_equal(outer(X), gw.grad(lambda x: sines(x) ** 2)(X))


def test_threads_share_one_function() -> None:
    compiled = gw.compile(gw.grad(lambda x: np.sum(np.tanh(np.sin(x) * x) ** 2)))
    rng = np.random.default_rng(0)
    points = [rng.standard_normal(1000) for _ in range(8)]
    wanted = [gw.grad(lambda x: np.sum(np.tanh(np.sin(x) * x) ** 2))(x) for x in points]
    wrong: list[int] = []

    def work(number: int) -> None:
        wrong.extend(
            number
            for _ in range(50)
            if not np.array_equal(compiled(points[number]), wanted[number])
        )

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_threads_trace_branches_and_shapes_at_the_same_time(engine: str) -> None:
    def f(x: Any) -> Any:
        y = np.sin(x)
        for i in range(1, len(x)):
            y = y * 0.5 + x[i]
        return np.sum(y * y) if x[0] > 0 else np.sum(y)

    compiled: Any = gw.compile(gw.grad(f), engine=engine)
    rng = np.random.default_rng(0)
    points = [rng.standard_normal(10 + i % 3) for i in range(24)]
    wanted = [gw.grad(f)(x) for x in points]
    problems: list[object] = []
    start = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            start.wait()
            for k in range(3 * len(points)):
                at = (k * 7 + number) % len(points)
                found = compiled(points[at])
                np.testing.assert_allclose(found, wanted[at], rtol=1e-12)
        except Exception as error:  # noqa: BLE001  shown by the main thread
            problems.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(compiled.programs) == 3


# Falling back -------------------------------------------------------------------------------------


def eagerly(function: Any, match: str, *args: Any) -> None:
    """Check that a call runs eagerly, with one warning, and gives what the function gives."""
    compiled: Any = gw.compile(function)
    with pytest.warns(CompileWarning, match=match):
        compiled(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(*args)
    assert "runs eagerly" in compiled.explain()
    with pytest.raises(CompileError, match="Fix: "):
        _ = compiled.source
    with pytest.raises(CompileError, match="runs eagerly"):
        compiled.check(*args)


def test_random_numbers_run_eagerly() -> None:
    eagerly(lambda x: x * np.random.standard_normal(6), "random", X)  # noqa: NPY002  the old ones


def test_numbers_that_leave_the_arrays_run_eagerly() -> None:
    eagerly(lambda x: x * x[0].item(), r"x\.item\(\)", X)
    eagerly(lambda x: x * float(x[0]), r"float\(x\)", X)

    def catching(x: Any) -> Any:
        try:
            return x * x.tolist()[0]
        except Exception:  # noqa: BLE001  what a function may do
            return x

    eagerly(catching, r"x\.tolist\(\)", X)


def test_prints_run_eagerly(capsys: pytest.CaptureFixture[str]) -> None:
    eagerly(lambda x: print(x), "print", X)  # noqa: T201  the side effect
    assert capsys.readouterr().out.count("0.2") == 3


def test_an_argument_that_is_changed_in_place_is_changed_by_eager() -> None:
    def f(x: Any) -> Any:
        x += 1.0
        return x * 2.0

    compiled = gw.compile(f)
    x = np.zeros(3)
    with pytest.warns(CompileWarning, match="writes to an argument"):
        compiled(x)
    compiled(x)
    np.testing.assert_array_equal(x, [2.0, 2.0, 2.0])


def test_side_effects_on_the_closure_run_eagerly() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * len(calls)

    compiled = gw.compile(f)
    with pytest.warns(CompileWarning, match="two runs on the same arguments differ"):
        compiled(X)
    before = len(calls)
    compiled(X)
    assert len(calls) == before + 1


def test_arrays_of_other_kinds_run_eagerly() -> None:
    eagerly(lambda x: x + 1, "MaskedArray", np.ma.masked_array([1.0, 2.0], [True, False]))
    eagerly(lambda x: x, "numpy.ndarray", np.array([object()]))


def test_watches_run_eagerly() -> None:
    compiled = gw.compile(gw.grad(sines))
    with gw.detect_anomaly(), pytest.warns(CompileWarning, match="watch"):
        np.testing.assert_array_equal(compiled(X), gw.grad(sines)(X))


def test_errors_of_the_function_are_raised() -> None:
    compiled = gw.compile(lambda x: x @ x[:3])
    with pytest.raises(ValueError, match="matmul"):
        compiled(X)


def test_a_global_that_changes_at_each_call_runs_eagerly(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = gw.compile(times_globals)

    def with_others() -> None:
        for k in range(20):
            monkeypatch.setitem(globals(), "SCALE", 1000.0 + k)
            np.testing.assert_array_equal(compiled(X), X * (1000.0 + k))

    with pytest.warns(CompileWarning, match="SCALE"):
        with_others()


# What can be asked --------------------------------------------------------------------------------


def test_a_saved_program_runs_by_itself(tmp_path: pathlib.Path) -> None:
    w = np.linspace(0.0, 1.0, 6)

    def f(x: Any) -> Any:
        return np.sum(np.sin(x * w)[np.array([0, 0, 3])]) if x[0] > 0 else np.sum(x)

    compiled = gw.compile(gw.grad(f))
    compiled(X)
    compiled.save(tmp_path / "gradient.py")
    text = (tmp_path / "gradient.py").read_text()
    assert "gradwrap" not in text
    spec = importlib.util.spec_from_file_location("gradient", tmp_path / "gradient.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_array_equal(module.compiled(X + 0.1)[0], gw.grad(f)(X + 0.1))
    with pytest.raises(module.Missed):
        module.compiled(-X)


def test_without_a_call_there_is_nothing_to_show() -> None:
    compiled = gw.compile(sines)
    assert compiled.explain() == "not called yet"
    assert compiled.programs == []
    with pytest.raises(CompileError, match="not called yet"):
        _ = compiled.source


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="there is no engine 'fast'"):
        gw.compile(sines, engine="fast")
    with pytest.raises(TypeError, match="takes a function"):
        gw.compile(3)  # type: ignore[call-overload]  # the mistake


def test_check_finds_a_program_that_is_wrong() -> None:
    compiled: Any = gw.compile(sines)
    compiled(X)
    entry = next(iter(compiled._entries.values()))
    entry.executable = entry.executable._replace(call=lambda x: (np.float64(1.0),))
    compiled._forget(entry)
    with pytest.raises(CompileError, match="other values"):
        compiled.check(X)


def test_the_command_prints_the_source(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import numpy as np\nimport gradwrap as gw\n"
        "gradient = gw.grad(lambda x: np.sum(np.sin(x)))\nnumber = 3\n"
    )
    assert main([f"{path}:gradient", "np.ones(5)", "--explain"]) == 0
    printed = capsys.readouterr().out
    assert "cos(x)" in printed
    assert "arguments: x: float64(5,)" in printed
    for wrong, words in (("model.py", "named as"), (f"{path}:number", "no function number")):
        with pytest.raises(SystemExit):
            main([wrong, "1"])
        assert words in capsys.readouterr().err


def test_check_says_why_there_is_no_program_for_tracked_arrays() -> None:
    def doubled(x: Any) -> Any:
        return np.sin(x) * 2.0

    x: Any = gw.wrap(np.ones(3), requires_grad=True)
    with pytest.raises(CompileError, match=r"tracked arrays.*Fix: check plain arrays"):
        gw.compile(doubled).check(x)


# The two runs of a trace --------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1 << 28, 0])
@pytest.mark.parametrize("small", [1 << 10, 0])
def test_the_second_run_computes_nothing_again(
    monkeypatch: pytest.MonkeyPatch, most: int, small: int
) -> None:
    names: list[str] = []

    def performing(self: Library, fn: Any, name: str) -> Any:
        names.append(name)
        return fn

    monkeypatch.setattr(Library, "performing", performing)
    monkeypatch.setattr(tape, "MOST_KEPT", most)
    monkeypatch.setattr(tape, "SMALL", small)
    compiled = gw.compile(lambda x: np.sum(np.sin(x) * np.cos(x[1:3, None])[::-1]))

    assert compiled(X) == np.sum(np.sin(X) * np.cos(X[1:3, None])[::-1])
    again = ["add.reduce"] if most == small == 0 else []  # its result is a number
    assert sorted(names) == sorted(["add.reduce", "cos", "getitem", "getitem", "sin", *again])
    assert compiled(2.0 * X) == np.sum(np.sin(2.0 * X) * np.cos(2.0 * X[1:3, None])[::-1])


@pytest.mark.slow
def test_numbers_that_are_read_do_not_keep_the_array_from_being_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def product(a: Any, b: Any) -> Any:
        b = b * 1.0
        for i in range(len(b)):
            for j in range(b.shape[1]):
                b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]
        return np.sum(b * b)

    monkeypatch.setattr(tape, "MOST_KEPT", 1 << 16)
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(12, 12)), rng.normal(size=(12, 13))
    gradient = gw.grad(product, (0, 1))
    compiled: Any = gw.compile(gradient, engine="numpy")
    for x in (a, 2.0 * a):
        for one, other in zip(compiled(x, b), gradient(x, b), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert "engine: numpy" in compiled.explain()


def test_a_second_run_that_looks_into_arrays_that_are_not_kept_computes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tape, "MOST_KEPT", 0)

    def chosen(x: Any) -> Any:
        places = np.flatnonzero(np.asarray(x > 0.0))  # a guard of 500 truths, and integers
        return np.sum(np.sin(x) * (x > 0.0)) * x[np.asarray(np.argsort(x))[-1]] + places[0]

    x = np.random.default_rng(0).normal(size=500)
    compiled = gw.compile(chosen)
    assert compiled(x) == chosen(x)
    assert "eager" not in compiled.explain()
    np.testing.assert_allclose(compiled(2.0 * x), chosen(2.0 * x), rtol=1e-13)


def test_a_second_run_that_differs_midway_is_told() -> None:
    factors = iter([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        y = np.sin(x)
        return np.sum(np.cos(y * next(factors)))

    with pytest.warns(CompileWarning, match=r"differ in multiply.*1\.0.* and multiply.*2\.0"):
        assert gw.compile(f)(X) == np.sum(np.cos(3.0 * np.sin(X)))


def test_arrays_that_differ_between_the_runs_are_told() -> None:
    rng = np.random.default_rng(3)

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * rng.standard_normal(6))

    with pytest.warns(CompileWarning, match="the arrays that it makes or reads"):
        gw.compile(f)(X)


@pytest.mark.slow
def test_memory_of_compiling_does_not_grow_with_the_square_of_a_program() -> None:
    def peak(rows: int) -> int:
        def f(x: Any) -> Any:
            y = x * 1.0
            for i in range(1, rows):
                for j in range(1, min(i, 8)):
                    y[i, j] -= y[i, :j] @ y[:j, j]
            return np.sum(y * y)

        x = np.ones((130, 130))  # large enough for chunks
        tracemalloc.start()
        try:
            gw.compile(gw.grad(f))(x)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(24) < 3 * peak(12)
