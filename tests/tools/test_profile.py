"""Profiles: what is counted, whose bytes, which lines, and that nothing stays behind."""

from __future__ import annotations

import inspect
import itertools
import json
import threading
import tracemalloc
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from free_threading import threads_begin_anew
from gradwrap.core.array.writing.inplace import set_item
from gradwrap.core.graph.special_nodes import visit
from gradwrap.profiling.recording import Recorder
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gradwrap.profiling import Profile, Row

SIZE = 1 << 17
BYTES = 8 * SIZE
X = np.random.default_rng(0).normal(size=SIZE)


def layer(x: Any) -> Any:
    return np.tanh(np.sin(x) * 2.0)


def loss(x: Any) -> Any:
    return np.sum(layer(x))


def profiled(call: Callable[[], Any], *, temporaries: bool = False) -> Profile:
    with gw.profile(temporaries=temporaries) as p:
        call()
    return p


def by_name(p: Profile, by: Any = "operation") -> dict[str, Row]:
    return {row.name: row for row in p.rows(by)}


# What is counted ----------------------------------------------------------------------------------


def test_calls_visits_and_bytes_of_each_operation() -> None:
    rows = by_name(profiled(lambda: gw.grad(loss)(X)))

    assert {name: (row.calls, row.visits) for name, row in rows.items()} == {
        "sin": (1, 1),
        "multiply": (1, 1),
        "tanh": (1, 1),
        "sum": (1, 1),
        "backward pass": (0, 0),
    }
    assert {name: rows[name].bytes for name in ("sin", "multiply", "tanh", "sum")} == {
        "sin": BYTES,
        "multiply": BYTES,
        "tanh": BYTES,
        "sum": 8,
    }
    # sin saves the caller's array and multiply a number; the formula of sum makes a view
    assert {name: row.saved for name, row in rows.items() if row.saved} == {"tanh": BYTES}
    assert rows["sin"].backward_bytes == rows["tanh"].backward_bytes == BYTES


def test_lines_and_functions_are_those_of_the_caller() -> None:
    p = profiled(lambda: gw.grad(loss)(X))

    first = inspect.getsourcelines(layer)[1] + 1
    found = {(row.name, row.line) for row in p.rows()}
    assert ("sin", f"test_profile.py:{first} in layer") in found
    assert ("sum", f"test_profile.py:{first + 4} in loss") in found
    functions = by_name(p, "function")
    assert functions["layer"].calls == 3
    assert functions["layer"].visits == 3
    assert functions["loss"].calls == 1


def test_places_begin_in_the_function_that_has_opened_the_profile() -> None:
    with gw.profile() as p:
        gw.grad(loss)(X)

    names = [code.co_name for code, _ in p.events[0].place]
    assert names == [inspect.stack()[0].function, "loss", "layer"]


def test_rows_by_something_else_are_refused() -> None:
    with pytest.raises(ValueError, match="no rows by 'file'"):
        profiled(lambda: None).rows("file")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  what the type refuses


def test_times_are_parts_of_the_whole() -> None:
    p = profiled(lambda: gw.grad(loss)(X))

    assert all(event.own <= event.time for event in p.events)
    assert 0 < sum(row.time for row in p.rows()) <= p.wall


def test_times_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that ticks when it is read: a reading outside of all events is one of few."""
    ticks = itertools.count()
    monkeypatch.setattr(Recorder, "clock", fn(lambda _: next(ticks)))

    p = profiled(lambda: gw.grad(loss)(X))

    inside = sum(event.own for event in p.events)
    outermost = [one for one in p.events if not one.visit]
    assert p.overhead > len(p.events)
    assert 0 <= p.wall - inside - p.overhead <= 2 * len(outermost) + 2
    assert all(0 < event.own <= event.time for event in p.events)
    assert "for the profile" in p.table()


def test_operations_without_a_gradient_are_counted() -> None:
    x = gw.wrap(X)

    rows = by_name(profiled(lambda: np.sin(x)))

    assert rows["sin"].calls == 1
    assert rows["sin"].visits == 0
    assert rows["sin"].saved == 0


def test_the_tape_and_writes_in_place_are_counted() -> None:
    x = gw.wrap(X, requires_grad=True)

    def run() -> None:
        y = x * 2.0
        y[0] = 1.0
        y.sum().backward()

    rows = by_name(profiled(run))

    assert {name: row.calls for name, row in rows.items()} == {
        "multiply": 1,
        "setitem": 1,
        "sum": 1,
        "backward pass": 0,
    }
    assert rows["setitem"].visits == 1
    assert x.grad is not None


def test_forward_mode_and_batches_are_counted() -> None:
    assert by_name(profiled(lambda: gw.jvp(loss, (X,), (X,))))["tanh"].calls == 1
    batch = X.reshape(2, -1)
    rows = by_name(profiled(lambda: gw.vmap(gw.grad(loss))(batch)))
    assert (rows["tanh"].calls, rows["tanh"].visits) == (1, 1)
    assert rows["tanh"].bytes == BYTES


def test_a_second_derivative_counts_each_operation_once() -> None:
    second: Callable[[Any], Any] = gw.grad(lambda x: np.sum(gw.grad(lambda y: np.sum(y**3))(x)))

    rows = by_name(profiled(lambda: second(X)))

    assert rows["pow"].calls == 1


def test_what_checkpoint_computes_again_is_backward() -> None:
    def run(x: Any) -> Any:
        return np.sum(gw.checkpoint(layer)(x))

    rows = by_name(profiled(lambda: gw.grad(run)(X)))

    assert rows["sin"].calls == 1
    assert sum(event_count for event_count in (rows["sin"].visits, rows["tanh"].visits)) == 2
    assert rows["sin"].backward_bytes == 2 * BYTES


def test_functions_with_a_derivative_of_their_own_contain_what_they_call() -> None:
    @gw.custom_vjp
    def square(x: Any) -> Any:
        return x * x

    square.defvjp(lambda x: (np.sin(x), x), lambda x, g: (2 * g * x,))

    p = profiled(lambda: gw.grad(lambda x: np.sum(square(x)))(X))

    rows = by_name(p)
    assert rows["square"].calls == 1
    assert rows["square"].visits == 1


# Memory -------------------------------------------------------------------------------------------


def chain(x: Any) -> Any:
    for _ in range(8):
        x = np.sin(x) * 1.01
    return np.sum(x)


invert: Callable[[Any], Any] = np.linalg.inv


def products(A: Any) -> Any:
    M: Any = A
    for _ in range(4):
        M = invert(np.eye(200) * 3.0 + M @ A)
    return np.trace(M)


def stencil(u: Any) -> Any:
    for _ in range(4):
        u = u[1:-1] + 0.1 * (u[2:] + u[:-2] - 2.0 * u[1:-1])
    return np.sum(u * u)


FEATURES = X.reshape(-1, 16)


def logistic(w: Any) -> Any:
    t: Any = FEATURES @ w
    xp: Any = np
    return xp.mean(xp.logaddexp(0.0, t) - 0.5 * t) + 0.01 * xp.sum(w * w)


def attention(w: Any) -> Any:
    xp: Any = np
    q, v = TOKENS @ w[0], TOKENS @ w[1]
    scores = xp.exp(q @ q.swapaxes(1, 2))
    h = scores / xp.sum(scores, axis=-1, keepdims=True) @ v
    h = h - xp.mean(h, axis=-1, keepdims=True)
    return xp.sum(xp.tanh(h / xp.sqrt(xp.var(h, axis=-1, keepdims=True) + 1e-5)) ** 2)


TOKENS = 0.01 * X[: 16 * 64 * 32].reshape(16, 64, 32)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (attention, 0.1 * np.ones((2, 32, 32))),
        (chain, X),
        (products, X[:40000].reshape(200, 200) / 30.0),
        (stencil, X),
        (logistic, np.ones(16)),
    ],
    ids=["attention", "chain", "products", "stencil", "logistic"],
)
def test_the_peak_is_the_one_that_python_traces(
    function: Callable[[Any], Any], argument: Any
) -> None:
    gw.grad(function)(argument)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        gw.grad(function)(argument)
        traced = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()

    p = profiled(lambda: gw.grad(function)(argument), temporaries=True)

    assert p.peak == pytest.approx(traced, rel=0.05)
    assert not tracemalloc.is_tracing()


def test_the_account_returns_to_nothing() -> None:
    moments = profiled(lambda: gw.grad(chain)(X)).memory()

    assert max(moment.saved for moment in moments) == 7 * BYTES  # the first sin saves the argument
    assert moments[-1].saved == 0
    assert moments[-1].alive <= 8
    assert all(0 <= moment.saved <= moment.alive for moment in moments)
    assert [m.time for m in moments] == sorted(m.time for m in moments)


def test_views_are_nobodys_bytes() -> None:
    rows = by_name(profiled(lambda: gw.grad(lambda x: np.sum(x.reshape(2, -1).T[1:]))(X)))

    assert rows["reshape"].bytes == rows["getitem"].bytes == 0


# What could be cheaper ----------------------------------------------------------------------------


def test_a_function_that_saves_much_is_named() -> None:
    (said,) = profiled(lambda: gw.grad(lambda x: np.sum(layer(x)))(X)).advice()

    assert said.startswith("layer (test_profile.py:")
    assert "saves 1.0 MB for backward, 100% of all: gradwrap.checkpoint(layer) would" in said


@pytest.mark.slow
def test_a_function_that_is_computed_again_already_is_not_named() -> None:
    checkpointed: Any = gw.checkpoint(layer)
    function: Callable[[Any], Any] = gw.grad(lambda x: np.sum(checkpointed(checkpointed(x))))

    assert profiled(lambda: function(X)).advice() == []


@pytest.mark.slow
def test_work_that_is_repeated_is_named() -> None:
    A = X[: 300 * 300].reshape(300, 300)

    def repeats(w: Any) -> Any:
        return np.sum(A @ w) * np.sum(A @ w)

    def does_not(w: Any) -> Any:
        return np.sum(A @ w) * np.sum(A @ (w + 1.0))

    def takes_parts(w: Any) -> Any:
        return np.sum(A[:, :200] @ w[:200]) * np.sum(A[:, :200] @ w[1:201]) * np.sum(A[1:] @ w)

    def repeats_a_part(w: Any) -> Any:
        return np.sum(A[1:] @ w) * np.sum(A[1:] @ w)

    gw.grad(repeats)(A)
    assert not any(
        "with the same arguments" in one
        for one in profiled(lambda: gw.grad(takes_parts)(A)).advice()
    )
    assert any(
        "with the same arguments" in one
        for one in profiled(lambda: gw.grad(repeats_a_part)(A)).advice()
    )
    (said,) = (
        one for one in profiled(lambda: gw.grad(repeats)(A)).advice() if one.startswith("matmul")
    )
    assert "was called again with the same arguments, in 1 of its calls" in said
    assert not any(
        "with the same arguments" in one for one in profiled(lambda: gw.grad(does_not)(A)).advice()
    )


def test_an_array_with_new_values_is_no_repetition() -> None:
    A = np.ones((300, 300))
    w = gw.wrap(np.ones((300, 300)), requires_grad=True)

    def run() -> None:
        np.matmul(A, w)
        A[:] += 1.0
        np.matmul(A, w)

    run()
    assert not any("with the same arguments" in one for one in profiled(run).advice())


@pytest.mark.slow
def test_fallbacks_of_vmap_are_named() -> None:
    @gw.primitive
    def double(x: Any) -> Any:
        return 2.0 * x

    gw.defvjp(double, lambda xp, g, x: 2.0 * g)

    (said,) = profiled(lambda: gw.vmap(double, fallback="loop")(np.ones((3, 2)))).advice()

    assert said.startswith("vmap performed double (test_profile.py:")


def test_long_conversions_are_named() -> None:
    def converts(x: Any) -> Any:
        return np.sum(x.astype(np.float32).astype(np.float64))

    gw.grad(converts)(X)
    found = [
        one for one in profiled(lambda: gw.grad(converts)(X)).advice() if one.startswith("astype")
    ]

    assert found
    assert all("create the arrays with the dtype" in one for one in found)


# How it is shown ----------------------------------------------------------------------------------


def test_table_has_the_rows_and_the_rest() -> None:
    p = profiled(lambda: gw.grad(loss)(X))

    lines = p.table().splitlines()
    assert " ".join(lines[0].split()) == "line calls forward backward bytes in backward saved"
    assert len(lines) == 1 + len(p.rows()) + 2
    assert lines[-2].startswith("outside of operations")
    assert "1.0 MB saved for backward" in lines[-1]
    assert p.table(limit=2).splitlines()[3].startswith(f"{len(p.rows()) - 2} more")
    assert repr(p) == p.table()


def test_chrome_trace_has_events_and_memory(tmp_path: Path) -> None:
    p = profiled(lambda: gw.grad(loss)(X))
    p.to_chrome_trace(tmp_path / "trace.json")

    written = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    calls = [one for one in written if one["ph"] == "X"]
    assert [one["name"] for one in calls[:4]] == ["sin", "multiply", "tanh", "sum"]
    assert {one["cat"] for one in calls} == {"forward", "backward"}
    assert calls[0]["args"]["bytes"] == BYTES
    (whole,) = (one for one in calls if one["name"] == "backward pass")
    visits = [one for one in calls if one["cat"] == "backward" and one is not whole]
    assert all(
        whole["ts"] <= one["ts"] and one["ts"] + one["dur"] <= whole["ts"] + whole["dur"] + 1e-3
        for one in visits
    )
    counters = [one["args"] for one in written if one["ph"] == "C"]
    assert max(one["saved for backward"] for one in counters) == BYTES


def test_flame_graph_is_svg_with_each_operation(tmp_path: Path) -> None:
    p = profiled(lambda: gw.grad(chain)(X))
    text = p.flame_graph(tmp_path / "flames.svg")

    assert (tmp_path / "flames.svg").read_text(encoding="utf-8") == text
    root = ET.fromstring(text)  # noqa: S314  our own
    titles = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(one.startswith("sin: ") for one in titles)
    assert any(one.startswith("sin, backward: ") for one in titles)
    assert any(one.startswith("chain:") for one in titles)


@pytest.mark.slow
def test_notebook_shows_table_pictures_and_advice() -> None:
    p = profiled(lambda: gw.grad(lambda x: np.sum(layer(x)))(X))
    page = getattr(p, "_repr_html_")()  # noqa: B009  of notebooks

    root = ET.fromstring(f"<div>{page}</div>")  # noqa: S314  our own
    assert len(list(root.iter("tr"))) == 1 + len(p.rows()) + 1
    assert len(list(root.iter("{http://www.w3.org/2000/svg}svg"))) == 2
    assert [one.text for one in root.iter("li")] == p.advice()


# Nothing stays behind -----------------------------------------------------------------------------


def test_results_are_the_same_and_functions_are_as_before() -> None:
    codes = set_item.__code__, visit.__code__
    before = gw.grad(chain)(X)
    with gw.profile():
        inside = gw.grad(chain)(X)
        assert set_item.__code__ is not codes[0]

    assert np.array_equal(before, inside)
    assert (set_item.__code__, visit.__code__) == codes
    assert np.array_equal(before, gw.grad(chain)(X))


def test_an_error_ends_the_profile() -> None:
    code = visit.__code__
    with pytest.raises(ZeroDivisionError), gw.profile():
        gw.grad(lambda x: np.sum(np.sin(x)) * (1 / 0))(X)
    assert visit.__code__ is code
    with gw.profile() as p:
        gw.grad(loss)(X)
    assert by_name(p)["sin"].calls == 1


@threads_begin_anew
def test_other_threads_are_not_counted() -> None:
    with gw.profile() as p:
        thread = threading.Thread(target=lambda: gw.grad(loss)(X))
        thread.start()
        thread.join()
    assert p.events == []


@pytest.mark.slow
def test_the_inner_of_two_profiles_counts() -> None:
    with gw.profile() as outer:
        gw.grad(loss)(X)
        with gw.profile() as inner:
            gw.grad(loss)(X)
        gw.grad(loss)(X)
    assert by_name(outer)["sin"].calls == 2
    assert by_name(inner)["sin"].calls == 1


def test_anomalies_are_found_inside() -> None:
    with (
        np.errstate(divide="ignore"),
        gw.profile() as p,
        gw.detect_anomaly(),
        pytest.raises(gw.errors.AnomalyError, match="SqrtBackward returned inf values"),
    ):
        gw.grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 1.0]))
    assert by_name(p)["sqrt"].calls == 1


def test_operations_that_are_bound_inside_are_counted() -> None:
    @gw.primitive
    def triple(x: Any) -> Any:
        return 3.0 * x

    gw.defvjp(triple, lambda xp, g, x: 3.0 * g)

    rows = by_name(profiled(lambda: gw.grad(lambda x: np.sum(triple(x)))(X)))

    assert (rows["triple"].calls, rows["triple"].visits) == (1, 1)
