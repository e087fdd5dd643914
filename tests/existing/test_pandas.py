"""pandas: tables as data beside tracked values, and as arguments."""

from __future__ import annotations

import doctest
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import gradwrap
from gradwrap.core.graph import alignment
from gradwrap.core.library import labelled as labels
from gradwrap.errors import (
    NotAnArrayError,
    TrackedAttributeError,
    TrackedCodeError,
    TrackedValueError,
)
from packages import written

pytestmark = pytest.mark.peers
pd: Any = pytest.importorskip("pandas")
gw: Any = gradwrap  # called in every way
A, B = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.1, 0.2])
INDEX = ["u", "v", "w"]
TABLE: Any = pd.DataFrame({"a": A, "b": B}, index=INDEX)
S: Any = TABLE["a"]
One: TypeAlias = Callable[[Any], Any]
W2, W3 = np.array([1.5, -0.7]), np.array([1.0, 2.0, -3.0])

BESIDE: dict[str, tuple[One, One, Any]] = {
    "series * x": (lambda x: S * x, lambda x: A * x, W3),
    "x * series": (lambda x: x * S, lambda x: x * A, W3),
    "series - x": (lambda x: S - x, lambda x: A - x, W3),
    "x / series": (lambda x: x / S, lambda x: x / A, W3),
    "series ** x": (lambda x: S**x, lambda x: A**x, W3),
    "series * number": (lambda x: S * x[0], lambda x: A * x[0], W3),
    "number * series": (lambda x: x[0] * S, lambda x: x[0] * A, W3),
    "x += series": (lambda x: _added(x * 1.0, S), lambda x: x + A, W3),
    "frame * x": (lambda x: TABLE * x, lambda x: TABLE.to_numpy() * x, W2),
    "x + frame": (lambda x: x + TABLE, lambda x: x + TABLE.to_numpy(), W2),
    "frame @ x": (lambda x: TABLE @ x, lambda x: TABLE.to_numpy() @ x, W2),
    "x @ frame": (lambda x: x @ TABLE, lambda x: x @ TABLE.to_numpy(), W3),
    "frame.dot": (lambda x: TABLE.dot(x), lambda x: TABLE.to_numpy() @ x, W2),
    "frame @ series": (
        lambda x: TABLE @ pd.Series(x, index=[*TABLE.columns][::-1]),
        lambda x: TABLE.to_numpy() @ x[::-1],
        W2,
    ),
    "frame @ list": (lambda x: TABLE @ [x[1], x[0]], lambda x: TABLE.to_numpy() @ x[::-1], W2),
    "frame @ series of mixed labels": (
        lambda x: TABLE.set_axis(["a", 1], axis=1) @ pd.Series(x, index=[1, "a"]),
        lambda x: TABLE.to_numpy() @ x[::-1],
        W2,
    ),
    "tracked frame.dot(series)": (
        lambda x: (TABLE * x).dot(pd.Series(x, index=TABLE.columns)),
        lambda x: (TABLE.to_numpy() * x) @ x,
        W2,
    ),
    "series @ x": (lambda x: S @ x, lambda x: A @ x, W3),
    "series.mul": (lambda x: S.mul(x), lambda x: A * x, W3),
    "index * x": (lambda x: pd.RangeIndex(3) * x, lambda x: np.arange(3) * x, W3),
    "np.multiply": (lambda x: np.multiply(S, x), lambda x: A * x, W3),
    "np.dot": (lambda x: np.dot(TABLE, x), lambda x: TABLE.to_numpy() @ x, W2),
    "np.where": (lambda x: np.where(S > 1.5, x, 0.0), lambda x: np.where(A > 1.5, x, 0.0), W3),
    "np.stack": (lambda x: np.stack([x, S]), lambda x: np.stack([x, A]), W3),
    "np.exp(series)": (lambda x: np.exp(S) * x, lambda x: np.exp(A) * x, W3),
    "comparison": (lambda x: x[x < S], lambda x: x[x < A], W3),
    "bincount": (
        lambda x: np.bincount(pd.factorize(pd.Series(["p", "q", "p"]))[0], weights=x),
        lambda x: np.bincount([0, 1, 0], weights=x),
        W3,
    ),
}


def _added(x: Any, other: Any) -> Any:
    x += other
    return x


@pytest.mark.parametrize("name", BESIDE)
def test_tables_stand_beside_tracked_values(name: str) -> None:
    found, wanted, x = BESIDE[name]

    def loss(f: Any) -> Any:
        return lambda x: np.sum(np.sin(f(x)))

    np.testing.assert_allclose(gw.grad(loss(found))(x), gw.grad(loss(wanted))(x), rtol=1e-13)
    ones = np.ones_like(x)
    pair = gw.jvp(loss(found), (x,), (ones,)), gw.jvp(loss(wanted), (x,), (ones,))
    np.testing.assert_allclose(*pair, rtol=1e-13)
    np.testing.assert_allclose(gw.hessian(loss(found))(x), gw.hessian(loss(wanted))(x), rtol=1e-12)


def test_a_gradient_has_the_labels_of_its_argument() -> None:
    for f in (
        lambda x: np.sum(x**2),
        lambda x: np.sum(x.values**2),
        lambda x: np.sum(x.to_numpy(dtype=float) ** 2),
    ):
        pd.testing.assert_series_equal(gw.grad(f)(S), 2.0 * S)
        pd.testing.assert_frame_equal(gw.grad(f)(TABLE), 2.0 * TABLE)
    found = gw.grad(lambda p: np.sum(p["t"] * p["s"].mean()))({"t": TABLE, "s": S})
    pd.testing.assert_frame_equal(found["t"], 0.0 * TABLE + A.mean())
    value, push = gw.jvp(lambda x: np.sum(x**3), (S,), (S,))
    np.testing.assert_allclose([value, push], [np.sum(A**3), 3.0 * np.sum(A**3)])
    np.testing.assert_allclose(gw.jacobian(lambda x: x**2)(S), np.diag(2.0 * A))


def test_a_fit_starts_from_a_table_and_gives_one() -> None:
    for method in ("BFGS", "Newton-CG"):
        found = gw.optimize.minimize(lambda x: np.sum((x * S - 2.0) ** 2), 0.0 * S, method=method)
        pd.testing.assert_series_equal(found.x, 2.0 / S, atol=1e-5)


def test_other_labels_than_those_of_an_argument_are_refused() -> None:
    other = S[::-1]
    for f in (
        lambda x: x * other,
        lambda x: other - x,
        lambda x: other @ x,
        lambda x: x @ other,
    ):
        with pytest.raises(TrackedValueError, match=r"other labels than an argument.*reindex"):
            gw.grad(lambda x, f=f: np.sum(f(x)))(S)
        with pytest.raises(TrackedValueError, match="other labels"):
            gw.jvp(lambda x, f=f: np.sum(f(x)), (S,), (A,))
    with pytest.raises(TrackedValueError, match="other labels"):
        gw.grad(lambda x, y: np.sum(x * y), (0, 1))(S, other)
    found = gw.grad(lambda x: np.sum(x * other.reindex(S.index) * other.to_numpy()))(S)
    np.testing.assert_allclose(found, A * A[::-1])
    found = gw.grad(lambda x: np.sum(x * other))(W3)  # an array has no labels in pandas either
    np.testing.assert_allclose(found, A[::-1])


TURNED: Any = TABLE["b"].iloc[::-1]
SWAPPED: Any = TABLE[["b", "a"]]
COLUMNS: Any = pd.Series([1.0, 2.0], index=["b", "a"])
APART: dict[str, One] = {
    "a result and a table": lambda x: np.sum(S * x * TURNED),
    "two results": lambda x: np.sum(np.exp(S * x) - np.sin(TURNED * x)),
    "a number": lambda x: np.sum(S * x[0] - TURNED),
    "behind a branch": lambda x: np.sum(np.where(x > 1.5, S * x, 0.0) + TURNED),
    "columns": lambda x: np.sum(TABLE * x[0] - SWAPPED),
    "a row": lambda x: np.sum(TABLE * x[0] - COLUMNS * x[1]),
    "a product": lambda x: np.sum((TABLE @ x[:2] - TURNED) ** 2),
    "a product from the left": lambda x: np.sum((x @ TABLE) * COLUMNS),
    "part of a list": lambda x: np.sum(np.concatenate([S * x * TURNED, x])),
}
IN_LINE: dict[str, One] = {
    "sums apart": lambda x: np.sum(S * x) + np.sum(TURNED * x**2),
    "equal labels": lambda x: np.sum(S * x * TABLE["b"] + x),
    "put in order": lambda x: np.sum(S * x * TURNED.reindex(S.index)),
    "by position": lambda x: np.sum(S * x * TURNED.to_numpy()),
    "a table and its row": lambda x: np.sum(np.sum(TABLE * x[0] - TABLE.iloc[0] * x[1])),
}


def _on_the_tape(function: One) -> Any:
    return lambda x: function(gw.wrap(x, requires_grad=True)).sum().backward()


@pytest.mark.parametrize("transform", [gw.grad, gw.hessian, gw.linearize, _on_the_tape])
@pytest.mark.parametrize("name", APART)
def test_tables_with_other_labels_are_not_combined_by_position(name: str, transform: Any) -> None:
    words = r"combines arrays that were made with two tables \(in .*test_pandas.py, line \d+\)\)\."
    with pytest.raises(TrackedValueError, match=words) as raised:
        transform(APART[name], A) if transform is gw.linearize else transform(APART[name])(A)
    assert "other.reindex(table.index)" in str(raised.value)


@pytest.mark.parametrize("name", APART)
def test_forward_mode_refuses_tables_with_other_labels(name: str) -> None:
    for transform in (gw.jacfwd, gw.jacrev):
        with pytest.raises(TrackedValueError, match="made with two tables"):
            transform(APART[name])(A)
    with pytest.raises(TrackedValueError, match="made with two tables"):
        gw.jvp(APART[name], (A,), (B,))
    with pytest.raises(TrackedValueError, match="made with two tables"):
        gw.jvp(lambda p, _: APART[name](p["x"]), ({"x": A, "n": 2}, 1), ({"x": B, "n": None}, None))
    assert not alignment.labels_in_forward_mode


@pytest.mark.parametrize("name", IN_LINE)
def test_forward_mode_takes_tables_that_are_apart_or_in_line(name: str) -> None:
    function = IN_LINE[name]
    for _ in range(2):
        np.testing.assert_allclose(
            gw.jvp(function, (A,), (B,))[1], gw.grad(function)(A) @ B, rtol=1e-12
        )
    np.testing.assert_allclose(
        gw.hvp(function, A, B), gw.hessian(function)(A) @ B, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", IN_LINE)
def test_tables_that_are_apart_or_in_line_are_as_arrays(name: str) -> None:
    function = IN_LINE[name]
    wanted = [(function(A + e) - function(A - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gw.grad(function)(A), wanted, rtol=1e-6, atol=1e-8)
    on_tape = gw.wrap(A, requires_grad=True)
    function(on_tape).backward()
    np.testing.assert_allclose(on_tape.grad, wanted, rtol=1e-6, atol=1e-8)


def test_labels_end_at_an_index() -> None:
    found = gw.grad(lambda x: np.sum((S * x)[::-1] * TURNED))(W3)
    np.testing.assert_allclose(found, A * B)


def test_labels_of_results_are_kept_as_long_as_these() -> None:
    gw.grad(IN_LINE["sums apart"])(A)
    gc.collect()
    assert not alignment.labels_of_results


MASK = S.iloc[0] < S
PICKED: dict[str, Callable[[Any, Any], Any]] = {
    "x[mask]": lambda x, mask: x[mask],
    "x[mask, None]": lambda x, mask: x[mask, None],
    "x[mask] = 0": lambda x, mask: _stored(x * 1.0, mask),
    "of a part": lambda x, mask: (x * 2.0)[mask],
}


def _stored(x: Any, mask: Any) -> Any:
    x[mask] = 0.0
    return x


@pytest.mark.parametrize("name", PICKED)
def test_a_mask_selects_if_its_labels_are_those_of_the_argument(name: str) -> None:
    f = PICKED[name]
    turned = MASK[::-1]
    modes: list[One] = [
        lambda mask: gw.grad(lambda x: np.sum(f(x, mask)))(S).to_numpy(),
        lambda mask: gw.jvp(lambda x: np.sum(f(x, mask)), (S,), (A,))[1],
        lambda mask: gw.hvp(lambda x: np.sum(f(x, mask) ** 2), S, A),
    ]
    for mode in modes:
        np.testing.assert_allclose(mode(MASK), mode(MASK.to_numpy()))
        with pytest.raises(TrackedValueError, match=r"other labels than an argument.*reindex"):
            mode(turned)
        np.testing.assert_allclose(mode(turned.reindex(S.index)), mode(MASK.to_numpy()))
        np.testing.assert_allclose(mode(turned.to_numpy()), mode(MASK.to_numpy()[::-1]))


def test_numbers_of_a_series_index_by_position_where_labels_are_positions() -> None:
    numbers = pd.Series([1, 0])
    with pytest.raises(TrackedValueError, match=r"look up among the labels.*get_indexer"):
        gw.grad(lambda x: x[numbers] @ W3[:2])(S)
    found = gw.grad(lambda x: x[numbers] @ W3[:2])(S.reset_index(drop=True))
    np.testing.assert_allclose(found, [W3[1], W3[0], 0.0])
    found = gw.grad(lambda x: x[numbers.to_numpy()] @ W3[:2])(S)
    np.testing.assert_allclose(found, [W3[1], W3[0], 0.0])


def test_labels_are_kept_as_long_as_their_transform() -> None:
    before = len(labels.known_labels)
    for _ in range(3):
        gw.grad(lambda x: np.sum(gw.grad(lambda y: np.sum(y * S * x))(S)))(S)
        gw.jvp(lambda x: x * S, (S,), (A,))
    gc.collect()
    assert len(labels.known_labels) == before
    with pytest.raises(TrackedValueError, match="other labels"):  # with 5,000 transforms in between
        gw.grad(lambda x: _after(5000, x) * S[::-1] @ W3)(S)


def _after(count: int, x: Any) -> Any:
    for _ in range(count):
        gw.grad(np.sum)(S)
    return x


def test_arguments_outside_argnums_stay_tables() -> None:
    def f(w: Any, table: Any) -> Any:
        return np.sum(table[table["a"] > 1.5][["a", "b"]] @ w)

    np.testing.assert_allclose(gw.grad(f)(W2, TABLE), TABLE.to_numpy()[1:].sum(axis=0))


def test_what_pandas_cannot_hold_says_to_numpy() -> None:
    for f in (
        lambda x: pd.Index(x).to_numpy().sum(),
        lambda x: pd.Series(x).mode().sum(),
        lambda x: TABLE.assign(c=x)["c"].value_counts().sum(),
    ):
        with pytest.raises((TrackedValueError, TrackedCodeError), match=r"\.to_numpy\(\)"):
            gw.grad(f)(W3)
    with pytest.raises(TrackedAttributeError, match=r"'groupby'.*\.to_numpy\(\)"):
        gw.grad(lambda x: x.groupby("u").sum())(S)


def test_columns_that_are_no_numbers_are_named() -> None:
    table = TABLE.assign(name=["p", "q", "r"])
    with pytest.raises(NotAnArrayError, match=r"columns \['name'\] do not hold numbers"):
        gw.grad(lambda w: np.sum(table * w))(np.ones(3))
    with pytest.raises(NotAnArrayError, match=r"dtype .*pd.factorize"):
        gw.grad(lambda w: np.sum(table["name"] * w))(W3)


def test_a_variable_of_an_array_has_no_attributes_of_tables() -> None:
    gw.grad(lambda x: np.sum(x))(S)
    with pytest.raises(AttributeError):
        gw.wrap(W3, requires_grad=True).values  # noqa: B018  it is asked for


def test_the_page_shows_what_is_computed() -> None:
    pytest.importorskip("sklearn")
    page = Path(__file__).parents[2] / "docs" / "pandas.md"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted > 15


def test_a_method_that_numpy_has_as_a_function_is_named_once() -> None:
    x = gw.wrap(A, requires_grad=True)
    with pytest.raises(
        TrackedAttributeError, match=r"attribute 'quantile'. Fix: np\.quantile\(x, \.\.\.\)\.$"
    ):
        _ = x.quantile
    with pytest.raises(TrackedAttributeError, match=r"pass it \.to_numpy"):
        _ = x.groupby


def test_pandas_itself_is_not_adapted() -> None:
    """Its compiled functions take plain numbers, and its code works on plain tables alone."""
    days = pd.to_datetime(["2020-01-01", "2025-01-01"])
    date = pd.to_datetime(["2021-03-28"])

    def model(x: Any) -> Any:
        table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=days)
        index = table.index.union(date)
        table = table.reindex(index).groupby(index).first()
        found = table.interpolate(method="time").loc[date, :].values
        out = np.zeros(2)
        out[:] = found[0] * x
        return np.sum(out**2)

    x = np.array([0.5, 1.5])
    adapted = gw.adapting(model)
    for _ in range(2):
        expected = [(model(x + e) - model(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(gw.grad(adapted)(x), expected, rtol=1e-6)
    with pytest.raises(gw.errors.AdaptationError, match="pandas is not adapted itself"):
        gw.adapt(pd)


def test_a_package_that_makes_tables(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        import pandas as pd

        def run(x):
            table = pd.DataFrame({"a": np.array([x[0], 1.0]), "b": x ** 2})
            return float(table.sum().sum())

        def counted(x):
            table = pd.DataFrame({"a": np.array([x[0], 1.0]), "b": x ** 2})
            return table["b"].sum() + table["a"].mode().iloc[1]
        """,
    )
    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(gw.grad(gw.adapting(package.run))(x), [2.0, 3.0], rtol=1e-14)
    with pytest.raises(
        TrackedValueError, match=r'or gradwrap\.adapting\(f, compiled="numerical"\)'
    ):
        gw.grad(gw.adapting(package.counted))(x)
    found = gw.grad(gw.adapting(package.counted, compiled="numerical"))(x)
    np.testing.assert_allclose(found, [1.0, 3.0], rtol=1e-8)


def _seen_by_values(x: Any) -> Any:
    table = pd.DataFrame({"a": np.zeros(3), "b": np.ones(3)})
    values = table["a"].values
    table.loc[0, "a"] = x[0]
    return values.sum() * x[1] + table["a"].sum()


def _seen_by_an_array(x: Any) -> Any:
    series = pd.Series(np.zeros(3))
    array = np.asarray(series)
    series.iloc[1] = x[0]
    return array.sum() * x[1]


def _seen_by_its_data(x: Any) -> Any:
    array = np.zeros(3)
    series = pd.Series(array, copy=False)
    series[1] = x[0]
    return array.sum() * x[1]


def test_an_array_of_a_plain_column_cannot_show_a_tracked_value() -> None:
    point = np.array([1.5, 0.5])
    text = r"taken of it before .* \.to_numpy\(copy=True\)"
    for function in (_seen_by_values, _seen_by_an_array, _seen_by_its_data):
        with pytest.raises(TrackedValueError, match=text):
            gw.grad(gw.adapting(function))(point)

    def unseen(x: Any) -> Any:
        table = pd.DataFrame({"a": np.zeros(3), "b": np.array([1.0, 2.0, 3.0])})
        weights, copied = table["b"].values, table["a"].to_numpy(copy=True)
        doubled = pd.Series(table["a"].values * 2, copy=False)
        table.loc[0, "a"] = x[0] * weights[1]
        return (weights + copied + doubled).sum() * x[1] + (table["a"] ** 2).sum()

    np.testing.assert_allclose(gw.grad(gw.adapting(unseen))(point), [12.0, 6.0])


def test_places_in_an_index_may_be_computed() -> None:
    months, days = (
        pd.period_range("2020-01", periods=3, freq="M"),
        pd.date_range("2020", periods=3),
    )
    pairs = pd.MultiIndex.from_product([[1, 2], ["a", "b"]])

    def function(x: Any) -> Any:
        series, other = pd.Series(x, index=months), pd.Series(x, index=days)
        places = np.flatnonzero(np.isfinite(np.array([1.0, np.nan, 2.0])))
        first, both = months[places[0]], other.index[places]
        above = series.index[np.asarray(x) > 0.8]
        return series[first] * other[both].sum() * pairs[places[1]][0] + series[above].sum()

    x = np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(gw.grad(gw.adapting(function))(x), [6.0, 1.0, 2.0])


def test_splines_through_columns_of_a_table(tmp_path: Path) -> None:
    source = """
        import pandas as pd
        from scipy import interpolate
        def run(x):
            table = pd.DataFrame({"t": np.arange(6.0), "x": x})
            tck = interpolate.splrep(table["t"], table["x"])
            return interpolate.splev(2.2, tck) * interpolate.interp1d(table["t"], table["x"])(2.4)
        """
    run = written(tmp_path, source).run
    x = np.array([1.3, 0.7, 2.0, 0.2, 1.1, 0.4])
    wanted = [(run(x + e) - run(x - e)) / 2e-6 for e in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(x), wanted, rtol=1e-7, atol=1e-9)
