"""Tables of pandas that hold tracked values, against differences of what pandas computes."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import (
    AdaptationError,
    BatchedValueError,
    GradwrapError,
    NotAnArrayError,
    TrackedValueError,
)
from gradwrap.testing import check_grads

pytestmark = pytest.mark.peers
pd: Any = pytest.importorskip("pandas")

X = np.array([0.7, 1.3, 1.9])
DAYS: Any = pd.date_range("2026-01-01", periods=3)
T: Any = pd.DataFrame(
    {"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0], "n": ["u", "v", "u"]}, index=["p", "q", "r"]
)
TURNED: Any = pd.Series([1.0, 2.0, 3.0], index=["r", "q", "p"])
Function = Callable[[Any], Any]


def table_of(x: Any) -> Any:
    return pd.DataFrame({"a": x, "b": x**2, "n": ["u", "v", "u"]})


def columns_added(x: Any) -> Any:
    table = T.copy()
    table["c"] = x**2
    table["d"] = table["c"] / table["a"]
    table.insert(0, "e", x[0])
    table = table.assign(f=lambda t: t.c * t.e)
    return table["d"].sum() * table[["c", "f"]].to_numpy().sum() + table.f.iloc[1]


def places(x: Any) -> Any:
    table = T.copy()
    table.loc["q", "a"] = x[0] ** 2
    table.iloc[0, 1] = x[1]
    table.at["r", "b"] = x[2] * 2
    return table[["a", "b"]].sum(axis=1).pow(2).sum()


def places_of_series(x: Any) -> Any:
    series = pd.Series(index=range(3), dtype=float)
    for i in range(3):
        series[i] = x[i] ** 2
    series.iloc[0] = series.iloc[0] * 2
    series[series > 3.0] = 0.5
    return series.sum() + series.prod()


def rows(x: Any) -> Any:
    table = pd.DataFrame([{"k": "u", "v": x[0]}, {"k": "v", "v": x[1] ** 2}])
    square = pd.DataFrame([[x[0], 1.0], [2.0, x[1]]], columns=["a", "b"])
    whole = pd.DataFrame(np.outer(x, x), columns=["a", "b", "c"])
    total = table[table.k == "u"]["v"].iloc[0] + (square["a"] * square["b"]).sum()
    return total + square.values[0, 0] ** 2 + whole.loc[0, "b"] + whole.mean(axis=1).sum()


def row_by_row(x: Any) -> Any:
    total = 0.0
    for _, row in pd.DataFrame({"v": x, "w": [1.0, np.nan, 2.0]}).iterrows():
        if not (pd.isna(row["w"]) or pd.isnull(row["v"])):
            total = total + row["v"] * row["w"]
    for row in table_of(x).itertuples():
        total = total + row.b
    return total


def applied(x: Any) -> Any:
    table = pd.DataFrame({"t": [1.0, 2.0, 3.0]})
    table["y"] = table["t"].apply(lambda t: x[0] * t**2 + x[1])
    table["z"] = table.apply(lambda row: row["t"] * row["y"], axis=1)
    return table["z"].sum() + table["y"].max() + pd.Series(x).map(lambda v: v**3).sum()


def groups(x: Any) -> Any:
    table = table_of(x)
    whole = table.groupby("n")["a"]
    both = table.groupby("n").agg({"a": ["mean", "sum"]})
    total = (whole.sum() ** 2).sum() + whole.std().dropna().sum() + whole.cumsum().prod()
    return total + both["a", "sum"].prod() + (table["a"] / whole.transform("sum")).pow(2).sum()


def joined(x: Any) -> Any:
    table = pd.DataFrame({"k": [1, 2, 3], "x": x})
    merged = table.merge(pd.DataFrame({"k": [3, 1], "w": [2.0, 4.0]}), on="k")
    first, second = pd.Series(x, index=[*"abc"]), pd.Series(x**2, index=[*"cab"])
    total = (merged["x"] * merged["w"]).sum() + table.sort_values("x")["x"].iloc[-1]
    return total + (first * second).sum() + pd.concat([first, second]).loc["a"].prod()


def missing(x: Any) -> Any:
    series = pd.Series([x[0], np.nan, x[1], None, x[2]])
    total = series.interpolate().sum() + series.fillna(series.mean()).sum() + series.ffill().prod()
    return total + series.count() + np.log(series / series.shift(1)).sum() + series.cumsum().iloc[4]


def times(x: Any) -> Any:
    series = pd.Series(x, index=DAYS)
    total = series.resample("2D").sum().pow(2).sum() + series["2026-01-02"]
    return total + series.pct_change().dropna().sum() + series.diff().sum() + series.cummax().sum()


def windows(x: Any) -> Any:
    series, table = pd.Series(np.concatenate([x, x**2])), table_of(x)[["a", "b"]].set_index(DAYS)
    total = series.rolling(3, min_periods=1).std().sum() + series.rolling(2).mean().dropna().prod()
    total = total + series.rolling(2).apply(lambda w: w.iloc[0] * w.iloc[-1]).sum()
    total = total + series.expanding().max().sum() + table.rolling("2D").sum().sum().sum()
    return total + table.ewm(alpha=0.3).mean()["b"].iloc[-1] ** 2 + series.ewm(span=2).mean().prod()


def statistics(x: Any) -> Any:
    series, table = pd.Series(np.concatenate([x, x**2])), table_of(x)[["a", "b"]]
    total = series.quantile(0.3) + series.median() + series.skew() + series.kurt() + series.sem()
    total = total + series.corr(TURNED.reset_index(drop=True)) + series.cov(series**2)
    return (
        total
        + table.std().sum()
        + table.max(axis=1).sum()
        + table.mean().prod()
        + table.min().min()
    )


def with_results_of_its_own(x: Any) -> Any:
    """Meet tracked results of the same series, in pandas' way in any code."""
    series = pd.Series(x, index=["a", "b", "c"]) ** 2
    far = ((series - series.mean()) / (series.std() + 1.0)).abs()
    above = series[series > series.min()] * pd.Series([2.0, 3.0], index=["c", "b"])
    shifted = (series.max() - series).shift(1).fillna(series.median())
    return far.std() + above.sum() + (shifted**2).sum() + (series >= series.max()).sum() * x[0]


def rows_of_numbers(x: Any) -> Any:
    table = table_of(x)[["a", "b"]]
    both = table.apply(lambda row: pd.Series({"p": row.a * row.b, "q": row.a}), axis=1)
    return table.apply(lambda row: row["a"] * row["b"], axis=1).prod() + (both.p * both.q).sum()


def products(x: Any) -> Any:
    table = table_of(x)[["a", "b"]]
    total = (table.T @ np.ones(3)).sum() + table.dot(np.array([1.0, 2.0])).prod()
    plain = T[["a", "b"]].reset_index(drop=True)  # forward mode refuses tables with other labels
    return total + table["a"].dot(table["b"]) + (plain @ x[:2]).prod()


def labels(x: Any) -> Any:
    series = pd.Series(x, index=["a", "b", "c"])
    return series["a"] * series["b"] + series.sum()


def conditions(x: Any) -> Any:
    series = pd.Series(x) ** 2
    return series.where(series > 1.0, 0.3).sum() + series.clip(upper=1.5).sum()


def chosen(x: Any) -> Any:
    table, weights = pd.DataFrame({"a": x, "b": x[::-1] ** 2}), np.array([1.0, 3.0])
    highest = (pd.Series(x).nlargest(2) * weights).sum()
    return highest + (table.nsmallest(2, "b")["a"] * weights).sum() ** 2


ANYWHERE: dict[str, Function] = {
    "chosen": chosen,
    "all pairs": lambda x: table_of(x)[["a", "b"]].corr().iloc[0, 1] * x[0],
    "sorted": lambda x: (table_of(x).sort_values("a")["b"] * [1.0, 2.0, 4.0]).sum(),
    "ranks": lambda x: (pd.Series(x).rank() * pd.Series(x**2)).sum(),
    "values": lambda x: np.sum(pd.Series(x).values ** 2) + pd.Series(x).to_numpy()[0],
    "dictionary": lambda x: pd.Series({"a": x[0], "b": x[1]}).std(),
    "number": lambda x: (pd.Series(x[0], index=range(3)) * [1.0, 2.0, 3.0]).sum() ** 2,
    "whole numbers": lambda x: (pd.Series(x) * 10.3).astype(int).sum() * x[0],
    "labels": labels,
    "conditions": conditions,
    "columns": columns_added,
    "places": places,
    "places of series": places_of_series,
    "rows": rows,
    "row by row": row_by_row,
    "applied": applied,
    "groups": groups,
    "joined": joined,
    "missing": missing,
    "times": times,
    "windows": windows,
    "statistics": statistics,
    "products": products,
    "results of its own": with_results_of_its_own,
    "rows of numbers": rows_of_numbers,
}


def aligned_by_ufuncs(x: Any) -> Any:
    return (np.maximum(T["a"] * 0.5, x) * TURNED).sum() + np.hypot(x, T["b"])["q"]


def comparisons(x: Any) -> Any:
    return (T["a"] > x[0]).sum() * x[1] + (x[1] * T["b"] >= 2.0).sum() * x[2]


def frames(x: Any) -> Any:
    numbers = T[["a", "b"]]
    return (numbers * x[0] - 1.0).iloc[0, 1] + numbers.mul(x, axis=0).sum().prod()


def by_numpy(x: Any) -> Any:
    series = pd.Series(x)
    chosen = np.sum(np.where(series > 1.0, series**2, 0.5 * series))
    return (
        np.linalg.norm(series) + np.trapezoid(series) + np.interp(0.5, [0, 1, 2], series) + chosen
    )


def a_table_and_a_number(x: Any) -> Any:
    table = T[["a", "b"]]
    scaled, power = table * x[0], x[1] ** table.loc["q":]
    aligned = scaled - table[["b", "a"]].iloc[::-1] * x[2]
    return np.sum(scaled.to_numpy() ** 2) + power.to_numpy().sum() + aligned.T.loc["a"].prod()


def with_missing_values(x: Any) -> Any:
    series = pd.Series([1.0, np.nan, 3.0]) * x[0] + x
    table = pd.DataFrame({"a": [2.0, np.nan, 1.0], "b": [np.nan, 1.0, 3.0]}) / x[1]
    sums = table.sum().prod() + (x[2] ** table).mean().sum()
    return series.sum() * series.mean() + series.dropna().iloc[1] + series.fillna(2.0).std() + sums


ADAPTED: dict[str, Function] = {
    "a table and a number": a_table_and_a_number,
    "missing values": with_missing_values,
    "aligned": lambda x: (T["a"] * x * TURNED).sum() + (x[0] - TURNED)["r"] ** 2,
    "aligned by ufuncs": aligned_by_ufuncs,
    "comparisons": comparisons,
    "frames": frames,
    "by NumPy": by_numpy,
    "numbers": lambda x: float(pd.Series(x).iloc[0]) ** 2 + sum(pd.Series(x)) + max(pd.Series(x)),
}


def differences(function: Function) -> Any:
    return [(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]


@pytest.mark.parametrize("name", [*ANYWHERE, *ADAPTED])
def test_in_adapted_code(name: str) -> None:
    function = {**ANYWHERE, **ADAPTED}[name]
    adapted, expected = gw.adapting(function), differences(function)
    for _ in range(2):
        value, found = gw.value_and_grad(adapted)(X)
        np.testing.assert_allclose(value, function(X), rtol=1e-12)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(forward, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ANYWHERE)
def test_in_any_code(name: str) -> None:
    function = ANYWHERE[name]
    np.testing.assert_allclose(gw.grad(function)(X), differences(function), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["columns", "groups", "statistics", "missing"])
def test_second_derivatives(name: str) -> None:
    slope = gw.grad(gw.adapting(ANYWHERE[name]))
    expected = [(slope(X + e) - slope(X - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(
        gw.hessian(gw.adapting(ANYWHERE[name]))(X), expected, rtol=1e-4, atol=1e-5
    )


COMPILED = ["rows", "applied", "groups", "row by row", "conditions", "chosen", "sorted", "ranks"]


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    slope = gw.grad(gw.adapting(ANYWHERE[name]))
    compiled = gw.compile(slope)
    for x in (X, 1.01 * X, X[::-1].copy()):
        np.testing.assert_allclose(compiled(x), slope(x), rtol=1e-12)


KINDS: dict[str, Callable[[Any], Any]] = {
    "Series": pd.Series,
    "Series of objects": lambda x: pd.Series([*x], dtype=object),
    "deque": deque,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [np.roots, np.poly])
def test_numpy_looks_for_arrays_among_elements(function: Any, kind: str) -> None:
    def from_elements(x: Any) -> Any:
        return np.sum(np.abs(function(KINDS[kind](x))) ** 3)

    wanted = differences(from_elements)
    for form in (from_elements, gw.adapting(from_elements)):
        np.testing.assert_allclose(gw.grad(form)(X), wanted, rtol=1e-5, atol=1e-7)
    constant = gw.grad(lambda x: from_elements(gw.stop_gradient(x)) * x[0])(X)
    np.testing.assert_allclose(constant, [from_elements(X), 0.0, 0.0])


def test_results_are_arrays() -> None:
    for function in (
        gw.adapting(lambda x: pd.Series(x**2, index=[*"abc"])),
        lambda x: pd.Series(x**2),
    ):
        np.testing.assert_allclose(gw.jacobian(function)(X), np.diag(2 * X))
        found = gw.jvp(function, (X,), (np.ones(3),))
        np.testing.assert_allclose(found, [X**2, 2 * X])
        (back,) = gw.vjp(function, X)[1](np.ones(3))
        np.testing.assert_allclose(back, 2 * X)
    frame = gw.jacobian(lambda x: pd.DataFrame({"a": x, "b": 2.0 * x}))(X)
    np.testing.assert_allclose(frame[:, 1], 2.0 * np.eye(3))
    stacked = np.stack([X, 2 * X])
    np.testing.assert_allclose(gw.vmap(lambda x: pd.Series(x) ** 2)(stacked), stacked**2)


def test_what_examples_decide_is_refused() -> None:
    def masked(x: Any) -> Any:
        series = pd.Series(x)
        return series[series > 1.0].sum()

    with pytest.raises(BatchedValueError, match="differ from example to example"):
        gw.vmap(masked)(np.stack([X, 2 * X]))


def test_plain_tables_are_as_before() -> None:
    gw.grad(lambda x: table_of(x)["a"].sum())(X)
    for table in (T["a"] * 2.0, T["a"].rolling(2).sum(), pd.Series(X), table_of(X)["b"]):
        assert table.dtype == np.float64
        assert type(table.values) is np.ndarray
    assert gw.grad(lambda x: np.sum(x) * pd.Series(np.ones(2)).rolling(1).sum().sum())(X)[0] == 2.0


UNABLE: dict[str, Function] = {
    "mode": lambda x: pd.Series(x).mode().sum(),
    "factorize": lambda x: pd.Series(x).value_counts().sum() * x[0],
    "index": lambda x: pd.Index(x).to_numpy().sum(),
}


@pytest.mark.parametrize("name", UNABLE)
def test_what_needs_plain_numbers_is_refused_with_a_remedy_that_works(name: str) -> None:
    function = UNABLE[name]
    with pytest.raises((AdaptationError, GradwrapError), match=r"numerical|to_numpy"):
        gw.grad(gw.adapting(function))(X)
    found = gw.grad(gw.adapting(function, compiled="numerical"))(X)
    np.testing.assert_allclose(found, differences(function), rtol=1e-5, atol=1e-5)


# Stores, which pandas places ----------------------------------------------------------------------

ALL = slice(None)
Keys = Callable[[Any], Any]


def some(labels: Any) -> list[Any]:
    """Two labels, the last one first."""
    return [labels[-1], labels[0]]


def odd(count: int) -> Any:
    return np.arange(count) % 2 == 1


BY_LABEL: dict[str, Keys] = {
    "whole": lambda o: (ALL, ALL),
    "rows": lambda o: some(o.index),
    "columns": lambda o: (ALL, some(o.columns)),
    "both": lambda o: (some(o.index), some(o.columns)),
    "one row": lambda o: o.index[1],
    "one column": lambda o: (ALL, o.columns[1]),
    "part of a row": lambda o: (o.index[1], some(o.columns)),
    "part of a column": lambda o: (some(o.index), o.columns[0]),
    "cell": lambda o: (o.index[0], o.columns[1]),
    "slices": lambda o: (slice(o.index[1], None), slice(None, o.columns[0])),
    "mask": lambda o: odd(len(o)),
    "masks": lambda o: (odd(len(o)), odd(o.shape[1])),
    "series of truths": lambda o: o["a"] > o["a"].mean(),
    "function": lambda o: lambda t: (t["a"] > t["a"].mean(), "b"),
    "new row": lambda o: "new",
    "new column": lambda o: (ALL, "new"),
}
BY_POSITION: dict[str, Keys] = {
    "whole": lambda o: (ALL, ALL),
    "rows": lambda o: [len(o) - 1, 0],
    "columns": lambda o: (ALL, [1, 0]),
    "both": lambda o: ([1, 0], [1, 0]),
    "one row": lambda o: -1,
    "one column": lambda o: (ALL, 1),
    "part of a row": lambda o: (1, slice(None, None, -1)),
    "cell": lambda o: (1, 0),
    "slices": lambda o: (slice(1, None), slice(0, 1)),
    "mask": lambda o: odd(len(o)),
}
BY_COLUMN: dict[str, Keys] = {
    "column": lambda o: "b",
    "columns": lambda o: ["b", "a"],
    "new columns": lambda o: ["b", "new"],
    "rows": lambda o: slice(1, None),
    "mask": lambda o: odd(len(o)),
    "table of truths": lambda o: o > o["a"].mean(),
    "array of truths": lambda o: np.arange(o.size).reshape(o.shape) % 3 == 0,
    "new column": lambda o: "new",
}
CELL: dict[str, Keys] = {"cell": lambda o: (o.index[1], "a")}


def put(name: str, key: Keys) -> Callable[[Any, Any], Any]:
    def store(table: Any, value: Any) -> Any:
        (table if name == "[]" else getattr(table, name))[key(table)] = value
        return table

    return store


def in_place(method: str) -> Callable[[Any, Any], Any]:
    def store(table: Any, value: Any) -> Any:
        getattr(table, method)(table > table["a"].mean(), value, inplace=True)
        return table

    return store


def inserted(table: Any, value: Any) -> Any:
    table.insert(1, "new", value)
    return table


def chained(table: Any, value: Any) -> Any:
    table.loc[:, :] = value
    table.loc[table.index[0], "b"] = table["a"].sum()
    table["new"] = table["b"] * table["a"]
    return table.T


STORES: dict[str, Callable[[Any, Any], Any]] = {
    **{f"loc, {name}": put("loc", key) for name, key in BY_LABEL.items()},
    **{f"iloc, {name}": put("iloc", key) for name, key in BY_POSITION.items()},
    **{f"[], {name}": put("[]", key) for name, key in BY_COLUMN.items()},
    "at": put("at", CELL["cell"]),
    "iat": put("iat", BY_POSITION["cell"]),
    "where": lambda o, v: o.where(o > o["a"].mean(), v),
    "where by rows": lambda o, v: o.where(o["a"] > o["a"].mean(), v, axis=0),
    "where by columns": lambda o, v: o.where(o > o["a"].mean(), v, axis=1),
    "mask": lambda o, v: o.mask(o > o["a"].mean(), v, axis=0),
    "where in place": in_place("where"),
    "mask in place": in_place("mask"),
    "assign": lambda o, v: o.assign(b=v, new=lambda t: t["a"] * t["b"]),
    "insert": inserted,
    "chained": chained,
}


def as_lists(array: Any) -> Any:
    return [*map(as_lists, array)] if np.ndim(array) else array


VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "array": lambda o, v: v,
    "list": lambda o, v: as_lists(v),
    "tuple": lambda o, v: tuple(as_lists(v)) if v.ndim else v,
    "Series": lambda o, v: pd.Series(v, index=labels_for(o, len(v))),
    "DataFrame": lambda o, v: pd.DataFrame(
        v, index=labels_for(o, len(v)), columns=o.columns[::-1][: v.shape[1]]
    ),
}


def labels_for(table: Any, count: int) -> Any:
    """Labels of the rows in another order, or of the columns."""
    return (table.index if count == len(table) else table.columns)[::-1][:count]


def shapes_for(rows: int, columns: int) -> list[tuple[int, ...]]:
    """The shapes that fit some of the stores; for the others pandas raises an error."""
    parts = [(2, columns), (rows, 2), (2, 2), (rows - 1, columns), (rows - 1, 1), (1, columns)]
    return [*dict.fromkeys([(), (rows,), (columns,), (2,), (rows, columns), *parts])]


def after_store(x: Any, case: Any, is_tracked: bool, plain: Any) -> Any:
    """The cells of a table after a store, with zeros for NaN, and one number of the value."""
    store, kind, shape = case
    rows, columns = plain.shape
    numbers = x[: plain.size].reshape(plain.shape) * 1.5 if is_tracked else plain
    table = pd.DataFrame(numbers, index=[*"pqrs"[:rows]], columns=[*"abcd"[:columns]]).copy()
    value = (x[: int(np.prod(shape))] ** 2).reshape(shape) if shape else x[0] ** 2
    made = store(table, VALUES[kind](table, value)).to_numpy()
    return np.concatenate([np.where(np.isnan(made), 0.0, made).reshape(-1), x[:1]])


adapted_store: Any = gw.adapting(after_store)


UNFIT = (ValueError, TypeError, IndexError, KeyError, NotImplementedError, DeprecationWarning)


def check_store(case: Any, is_tracked: bool, shape: tuple[int, int]) -> bool:
    """Compare with pandas, and tell if pandas takes such a value; if not, neither do we."""
    generator = np.random.default_rng([*shape, is_tracked])
    x, slope = generator.uniform(0.5, 2.0, (2, shape[0] * shape[1]))
    given = case, is_tracked, 1.5 * generator.uniform(0.5, 2.0, shape)
    try:
        expected = after_store(x, *given)
    except UNFIT:
        with pytest.raises(UNFIT):
            gw.vjp(lambda x: adapted_store(x, *given), x)
        return False
    step = 1e-6 * slope
    along = (after_store(x + step, *given) - after_store(x - step, *given)) / 2e-6
    weights = generator.normal(size=expected.shape)
    found, pull = gw.vjp(lambda x: adapted_store(x, *given), x)
    (gradient,) = pull(weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=str(case))
    np.testing.assert_allclose(
        np.vdot(gradient, slope), np.vdot(weights, along), rtol=1e-5, atol=1e-7, err_msg=str(case)
    )
    return True


def check_stores(name: str, shape: tuple[int, int], kinds: Any) -> None:
    taken = 0
    for kind in kinds:
        for form in shapes_for(*shape):
            if len(form) == {"Series": 1, "DataFrame": 2}.get(kind, len(form)):
                for is_tracked in (False, True):
                    taken += check_store((STORES[name], kind, form), is_tracked, shape)
    assert taken


@pytest.mark.parametrize("name", STORES)
def test_stores_go_where_pandas_places_them(name: str) -> None:
    check_stores(name, (2, 2), ["array"])


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (3, 3), (2, 4)])
@pytest.mark.parametrize("name", STORES)
def test_stores_of_all_kinds_of_values(name: str, shape: tuple[int, int]) -> None:
    check_stores(name, shape, VALUES)


def test_whole_numbers_refuse_a_part_that_is_tracked() -> None:
    def stored(x: Any) -> Any:
        table = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]})
        table.loc[0, "a"] = x[0]
        return table["a"].sum()

    with pytest.raises(TrackedValueError, match=r"the column 'a' .* int64 .*astype\(float\)"):
        gw.grad(gw.adapting(stored))(X)


def test_tables_that_share_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mode = SimpleNamespace(copy_on_write=False)
    old = SimpleNamespace(options=SimpleNamespace(mode=mode), __version__="2.2.3")
    columns = import_module("gradwrap.adaptation.pandas_columns")
    monkeypatch.setattr(columns, "SHARES", True)
    monkeypatch.setattr(columns, "pd", old)

    with pytest.raises(NotAnArrayError, match=r"pandas 2\.2\.3 .*copy_on_write = True"):
        gw.grad(lambda x: pd.Series(x).sum())(np.ones(3))


def stored_in_array(x: Any) -> Any:
    table = pd.DataFrame({"a": x, "b": 2.0 * x})
    table.values[0, 1] = x[0] * x[1]
    return table.to_numpy().sum()


def stored_in_a_view(x: Any) -> Any:
    table = pd.DataFrame({"a": x, "b": 2.0 * x})
    column = table.to_numpy()[:, 0]
    column += x[1]
    return table.to_numpy().sum()


@pytest.mark.parametrize("f", [stored_in_array, stored_in_a_view])
def test_writes_to_the_array_of_a_table_are_refused(f: Any) -> None:
    x = np.array([1.5, 2.0])
    for transform in (gw.grad, lambda g: lambda x: gw.jvp(g, (x,), (x,))):
        with pytest.raises(gw.errors.InPlaceError, match=r"read-only.*the table by \.loc"):
            transform(f)(x)


def test_a_copy_of_the_array_of_a_table_can_be_written_to() -> None:
    def f(x: Any) -> Any:
        table = pd.DataFrame({"a": x, "b": 2.0 * x})
        arrays = [table.to_numpy(copy=True), table.to_numpy(float, True), table.values.copy()]
        for array in arrays:
            array[0, 1] = x[0] * x[1]
        return sum(array.sum() for array in arrays) + table.to_numpy().sum()

    # three times x0 + x1 + 2 x1 + x0 x1, and 3 x0 + 3 x1
    assert np.allclose(gw.grad(f)(np.array([1.5, 2.0])), [12.0, 16.5])


def test_the_array_of_a_series_changes_with_the_series() -> None:
    def f(x: Any, stored: Any) -> Any:
        series = pd.Series(x * 1.0)
        copied, array, part = series.copy(), series.to_numpy(), series.iloc[:]
        series.iloc[0] = stored  # changes the array unless another series shares it
        alone = pd.Series(x * 1.0)
        seen = alone.to_numpy()
        alone.iloc[0] = stored
        return np.stack([copied.sum(), part.sum(), array.sum(), series.sum(), seen.sum()])

    x = np.array([1.5, 2.0])
    plain = f(x, 50.0)
    assert np.array_equal(gw.jvp(lambda x: f(x, 50.0), (x,), (x,))[0], plain)
    assert np.array_equal(gw.jacobian(lambda x: f(x, 50.0))(x)[:, 0], [1, 1, 1, 0, 0])
    assert np.array_equal(gw.jacobian(lambda x: f(x, x[1] ** 2))(x)[:, 1], [1, 1, 1, 5, 5])


def test_a_change_in_place_changes_the_labels_too() -> None:
    def f(x: Any) -> Any:
        series = pd.Series(x * 1.0, index=["p", "q", "r"])
        series.drop_duplicates(inplace=True, ignore_index=True)
        assert list(series.index) == [0, 1, 2]
        return series.loc[2] ** 2 + series.loc[0]

    np.testing.assert_allclose(gw.grad(f)(X), [1.0, 0.0, 2 * X[2]])


# Arrays of tables, and later stores ---------------------------------------------------------------

IN_PLACE: dict[str, Any] = {
    "loc": lambda t: t.loc.__setitem__(0, 9.0),
    "iloc": lambda t: t.iloc.__setitem__(0, 9.0),
    "all": lambda t: t.loc.__setitem__(slice(None), 9.0),
    "mask": lambda t: t.__setitem__(t > 2.0, 9.0),
    "where": lambda t: t.where(t > 2.0, 9.0, inplace=True),
    "fillna": lambda t: t.fillna(0.0, inplace=True),
    "new row": lambda t: t.loc.__setitem__(7, 9.0),
}
OF_TABLES: dict[str, Any] = {
    "at": lambda t: t.at.__setitem__((0, "a"), 9.0),
    "iat": lambda t: t.iat.__setitem__((0, 0), 9.0),
    "one column": lambda t: t.loc.__setitem__((slice(None), "a"), np.array([7.0, 8.0, 9.0])),
    "another column": lambda t: t.__setitem__("a", 9.0),
}
ARRAYS: dict[str, Any] = {
    "to_numpy": lambda t: t.to_numpy(),
    "values": lambda t: t.values,
    "dtype": lambda t: t.to_numpy(dtype=float),
    "copy": lambda t: t.to_numpy(copy=True),
    "part": lambda t: t[1:].to_numpy(),
    "of a copy": lambda t: t.copy().to_numpy(),
}
OF_PARTS: dict[str, Any] = {
    "column": lambda t: t["a"].to_numpy(),
    "by loc": lambda t: t.loc[:, "a"].to_numpy(),
    "columns": lambda t: t[["a"]].to_numpy(),
    "row": lambda t: t.iloc[0].to_numpy(),
    "turned": lambda t: t.T.to_numpy(),
}
MAKERS: dict[str, Any] = {
    "series": lambda x: pd.Series(x),
    "table": lambda x: pd.DataFrame({"a": x, "b": x + 3.0}),
    "half": lambda x: pd.DataFrame({"a": x, "b": [4.0, 5.0, 6.0]}),
    "column": lambda x: pd.DataFrame({"a": x}),
}


def array_after(x: Any, make: Any, take: Any, store: Any) -> Any:
    table = make(x)
    array = take(table)
    store(table)
    return array


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_an_array_sees_later_stores_as_that_of_pandas_does_or_raises(make: Any) -> None:
    x = np.array([1.0, 2.0, 3.0])
    is_series = isinstance(make(x), pd.Series)
    compared, refused = 0, list[str]()
    for store in [*IN_PLACE.values()] + ([] if is_series else [*OF_TABLES.values()]):
        for take in [*ARRAYS.values()] + ([] if is_series else [*OF_PARTS.values()]):
            after = functools.partial(array_after, make=make, take=take, store=store)
            try:
                found, _ = gw.vjp(after, x)
            except gw.errors.TrackedValueError as error:
                refused.append(str(error))
                continue
            compared += 1
            np.testing.assert_array_equal(found, after(x))
    assert compared > 20 * (2 - is_series)
    assert all("is read after a store" in one for one in refused)
    assert bool(refused) is not is_series


def test_arrays_of_series_are_read_only_and_have_the_derivatives_of_stores() -> None:
    def f(x: Any) -> Any:
        series, table = pd.Series(x), pd.DataFrame({"a": x, "b": x})
        arrays = series.to_numpy(), table["a"].to_numpy()
        for array in arrays:
            with pytest.raises(gw.errors.InPlaceError, match="read-only"):
                array[0] = 1.0
        series.loc[0] = x[1] ** 2
        table.loc[0, "a"] = 3.0 * x[1]
        return arrays[0][0] + arrays[1][0] + arrays[1][1]

    np.testing.assert_allclose(gw.grad(f)(np.array([1.0, 2.0])), [0.0, 4.0 + 3.0 + 1.0])


def test_a_column_that_a_series_was_stored_as_has_its_own_values() -> None:
    def f(x: Any) -> Any:
        series, table = pd.Series(x), pd.DataFrame({"a": x})
        table["b"] = series
        table.insert(0, "c", series)
        series.iloc[0] = 5.0 * x[1]
        table.loc[1, "b"] = 7.0 * x[1]
        return (table.sum() + series.sum()).sum()  # 3 sum(x) + 6 x1, and 3 * 6 x1

    np.testing.assert_allclose(gw.grad(f)(np.array([1.0, 2.0])), [3.0, 27.0])


WINDOWS = [
    "s.rolling(3).cov(t)",
    "s.rolling(3, min_periods=2).corr(other=t)",
    "s.rolling(3, center=True, min_periods=1).cov(t, None, 0)",
    "s.expanding().corr(t)",
    "s.ewm(alpha=0.4).cov(t)",
    "s.ewm(alpha=0.4).corr(t)",
]


@pytest.mark.parametrize("labels", ["cdefgh", "fedcba"])
@pytest.mark.parametrize("call", WINDOWS)
def test_windows_of_two_series_align_their_labels(call: str, labels: str) -> None:
    x, y = np.random.default_rng(3).normal(size=(2, 6))

    def f(x: Any) -> Any:
        series = {"s": pd.Series(x, index=[*"abcdef"]), "t": pd.Series(y, index=[*labels])}
        return eval(call, series)  # noqa: S307  the text above

    wanted = f(x)
    np.testing.assert_allclose(gw.vjp(f, x)[0], wanted)

    def filled(x: Any) -> Any:
        return f(x).fillna(0.0).to_numpy()

    check_grads(filled, [x])
