"""Methods of pandas on tracked tables: values, labels and gradients as on plain ones."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import GradwrapError, NoRuleError

pytestmark = pytest.mark.peers
pd: Any = pytest.importorskip("pandas")
interpolate: Any = importlib.import_module("scipy.interpolate")
spatial: Any = importlib.import_module("scipy.spatial")
stats: Any = importlib.import_module("scipy.stats")

X = np.array([0.7, 1.3, 1.9, 0.4, 2.25, 1.1])
OTHER: Any = pd.Series([2.0, 1.0, 3.0, 0.5, 0.7, 1.9], index=[*"pqrstu"])
TURNED: Any = OTHER.set_axis([*"utsrqp"])
FRAME: Any = pd.DataFrame(
    1.05 + 0.3 * np.arange(18.0).reshape(6, 3), index=[*"utsrqp"], columns=[*"cab"]
)
DAYS: Any = pd.date_range("2026-01-01", periods=6)

NAMES = {"np": np, "pd": pd, "OTHER": OTHER, "TURNED": TURNED, "FRAME": FRAME, "DAYS": DAYS}
"""What the expressions below name, beside `s`, a series, `h`, one with a hole, `t`, a table of
numbers, `m`, one with names, and `d`, a series of days."""


def tables(x: Any) -> dict[str, Any]:
    index = [*"pqrstu"]
    series = pd.Series(x * 1.0, index=index, name="a")
    numbers = pd.DataFrame({"a": x * 1.0, "b": x**2, "c": np.arange(6.0) + x[0]}, index=index)
    named = {"a": x * 1.0, "n": [*"uvuvuw"], "k": [1, 2, 1, 2, 3, 3], "b": x[::-1] * 2}
    return {
        "s": series,
        "h": series.where(np.array([True, True, False, True, True, True])),
        "t": numbers,
        "m": pd.DataFrame(named, index=index),
        "d": pd.Series(x * 1.0, index=DAYS),
    }


ROLLED = (
    "sum() mean() std() std(ddof=0) var() sem() median() skew() kurt() min() max() count() "
    "quantile(0.3) quantile(0.3,interpolation='lower') rank()"
)
ROLLING = (
    "s.rolling(4) h.rolling(3,min_periods=1) s.rolling(3,center=True) h.expanding(2) "
    "s.rolling(4,min_periods=2,closed='left') h.rolling(4,min_periods=2,step=2) t.rolling(3) "
    "m.groupby('n')['a'].rolling(2,min_periods=1) m.groupby('n')[['a','b']].expanding() "
    "d.rolling('2D')"
)
WEIGHTED = "mean() sum() std() var() var(bias=True)"
WEIGHTS = (
    "s.ewm(alpha=0.3) h.ewm(halflife=2.0,ignore_na=True) h.ewm(com=1.0,min_periods=3) "
    "t.ewm(alpha=0.4) m.groupby('n')['a'].ewm(alpha=0.4)"
)
PAIRS = """
s.rolling(4).cov(OTHER)
h.rolling(4, min_periods=3).corr(OTHER)
h.rolling(4, min_periods=3).cov(other=h * h, ddof=0)
OTHER.rolling(4).corr(s)
s.expanding(3).cov(OTHER)
s.ewm(alpha=0.3).cov(OTHER)
h.ewm(alpha=0.3).corr(OTHER)
s.ewm(alpha=0.3).cov(OTHER, bias=True)
OTHER.ewm(span=3).corr(s)
"""
OTHERS = """
s.ewm(span=3, adjust=False).std()
d.ewm(halflife="2D", times=DAYS).mean()
s.rolling(3, win_type="hann", center=True, min_periods=1).mean()
h.rolling(3, win_type="gaussian").sum(std=2.0)
s.rolling(3).apply(lambda w: w.max() - w.min())
s.rolling(3, min_periods=2).apply(lambda w, k: k * w.sum(), raw=True, args=(2.0,))
s.rolling(3).agg(["mean", "std"])
"""
ORDER = """
t[["a", "b"]].idxmax()
t.idxmin(axis=1)
s.rank()
t.rank(ascending=False, pct=True) * t
t.duplicated()
pd.concat([t, t * 1.0]).drop_duplicates()
pd.concat([t, t * 1.0]).drop_duplicates(["a"], keep="last", ignore_index=True)
pd.concat([s, s * 1.0]).drop_duplicates()
t.nunique()
m.groupby("n")["a"].nunique()
m.groupby("n")["a"].rank(pct=True) * m["b"]
m.groupby("n")[["a", "b"]].rank(method="min", ascending=False)
m.loc[m.groupby("n")["a"].idxmin(), "b"]
m.groupby("n")[["a", "b"]].quantile(0.3)
m.groupby(["k", "n"])["a"].quantile(0.5, interpolation="lower")
m.groupby("k")[["a", "b"]].corr()
m.sort_values(["n", "a"], ascending=[False, True])
m.sort_values(["n", "a"], ignore_index=True)
t.corr("spearman") + t.corr()
s.isin([5.0, 6.0]) * s
t["b"].groupby(pd.factorize(t["a"])[0] % 2).sum()
s.transform(lambda v: v - v.mean())
s.transform(lambda v: v * v)
np.average(t["a"], weights=t["b"])
"""
METHODS = """
t.agg({"a": "sum", "b": "mean"})
t.align(FRAME)[1]
t.apply(lambda c: c * c.mean())
t.clip(0.9, 1.5)
s.clip(t["a"].iloc[0] + 9.0, t["b"].iloc[1])
t.clip(upper=s.mean(), lower=s.max())
t.combine(FRAME, np.minimum)
t.combine_first(FRAME)
t.corrwith(FRAME)
t.cov()
t.cummax()
t.describe()
t.diff(-1)
t.div(t.sum(axis=1), axis=0)
t.eval("a * b + c")
t.interpolate()
t.join(t * 2, rsuffix="_r")
t.kurt()
t.melt()
t.median(axis=1)
t.nlargest(2, ["b", "a"])
t.pct_change()
t.quantile([0.2, 0.7])
t.query("a > 1")
t.sem()
t.shift(1).fillna(t.mean())
t.skew()
t.stack().unstack(0)
t.update(FRAME)
t.where(t > 1).ffill()
t.T @ t
m.groupby("n").agg(s=("a", "sum"), m=("b", "mean"))
m.groupby("n")["a"].transform(lambda s: s - s.mean())
m.groupby("n").filter(lambda g: len(g) > 1)["a"]
m.groupby("n")["a"].nlargest(1)
m.groupby("n")["a"].pct_change()
m.groupby("n", as_index=False)["a"].sum()
m.pivot_table(index="k", columns="n", values="a", fill_value=0.0, margins=True)
m.merge(pd.DataFrame({"n": ["u", "z"], "w": [2.0, 3.0]}), on="n", how="outer")
pd.crosstab(m["n"], m["k"], values=m["a"], aggfunc="sum")
pd.concat({"x": t, "y": t**2})
d.resample("2D").agg(["sum", "max"])
d.resample("12h").interpolate()
d.asfreq("12h", method="ffill")
s + TURNED
s.add(TURNED[:4], fill_value=0.5)
s.autocorr()
s.corr(TURNED)
"""
ROW = "lambda g: pd.Series({'p': g['a'].mean(), 'q': (g['a'] * g['b']).sum()})"
OBJECTS = "m.assign(o=pd.Series(['u', None] * 3, m.index, dtype=object))"
MADE = [
    *[f"m.groupby('n').apply({ROW})", f"m.groupby(['n', 'k'])[['a', 'b']].apply({ROW})"],
    *["m.groupby('n').apply(lambda g: g.sort_values('b').iloc[0])", "pd.DataFrame(s.tolist())"],
    *["m.groupby('n')[['a', 'b']].apply(lambda g: g['a'].set_axis(range(len(g))) ** 2)"],
    *["m.groupby('n')['a'].apply(lambda g: g / g.sum())", "pd.DataFrame([*s], columns=['v'])"],
    *["pd.DataFrame([s, s**2])", "pd.DataFrame([s.rename(None), OTHER.rename(None) * s])"],
    *["s.groupby(np.digitize(s, [1.0, 2.0])).mean()", "s.groupby(pd.cut(s, [0, 1, 3])).sum()"],
    *["m.groupby(pd.cut(m['a'].to_numpy(), [0, 1, 3], labels=False))['b'].mean()"],
    "pd.Series([m.__setitem__('b', row['a'] * m['b']) or row['a'] for _, row in m.iterrows()])",
    *[f"{OBJECTS}.assign(c=s)['c'] * ({OBJECTS}.assign(c=s).dtypes['o'] == object)"],
    *[f"pd.concat([{OBJECTS}] * 2)[['a', 'o']]"],
]
EXPRESSIONS = [
    *MADE,
    *[f"{windows}.{method}" for windows in ROLLING.split() for method in ROLLED.split()],
    *[f"{windows}.{method}" for windows in WEIGHTS.split() for method in WEIGHTED.split()],
    *[one for text in (PAIRS, OTHERS, ORDER, METHODS) for one in text.strip().splitlines()],
]

COMPILED = [
    *["s.groupby(pd.cut(s, [0, 1, 3])).sum()", "s.groupby(np.digitize(s, [1.0, 2.0])).mean()"],
    f"m.groupby('n').apply({ROW})",
    *["s.rolling(4).rank() * s", "h.rolling(3,min_periods=1).std()", "s.rolling(4).cov(OTHER)"],
    *["h.ewm(alpha=0.3).corr(OTHER)", "s.ewm(alpha=0.3).std()", "s.rolling(3).quantile(0.3)"],
    *["s.rank() * s", "m.loc[m.groupby('n')['a'].idxmin(), 'b']", "m.sort_values(['n', 'a'])['b']"],
    *["t.drop_duplicates()", "s.isin([0.4, 1.3]) * s", "s.transform(lambda v: v - v.mean())"],
    *["m.groupby('n')['a'].rank(pct=True) * m['b']", "m.groupby('n')['a'].rolling(2).max()"],
]


def result_of(expression: str, x: Any) -> Any:
    """Return the table that an expression gives or changes."""
    given = tables(x)
    found = eval(expression, {**NAMES, **given})  # noqa: S307  the expressions are those above
    return given["t"] if found is None else found


def labels_of(value: Any) -> Any:
    names = [list(value.axes[k]) for k in range(value.ndim)] if hasattr(value, "axes") else []
    return type(value).__name__ if names else None, names


def numbers_of(value: Any) -> list[Any]:
    """Return the columns of numbers of a result."""
    if isinstance(value, pd.DataFrame):
        return [one for k in range(value.shape[1]) for one in numbers_of(value.iloc[:, k])]
    array = value.to_numpy() if isinstance(value, pd.Series) else value
    return [array] if array.dtype.kind in "fc" else []


def weighted(value: Any, known: list[Any]) -> Any:
    """Return a sum of all numbers of a result but those that are NaN in a plain one."""
    random = np.random.default_rng(5)
    total: Any = 0.0
    for one, plain in zip(numbers_of(value), known, strict=True):
        assert one.shape == plain.shape
        factors = np.where(np.isnan(plain), 0.0, random.normal(size=plain.shape))
        total = total + np.sum(np.where(np.isnan(plain), 0.0, one) * factors)
    return total


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_method_is_as_on_plain_tables(expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few degrees of freedom
        plain = result_of(expression, X)
        known = numbers_of(plain)
        found: list[Any] = []

        def total(x: Any) -> Any:
            found.append(result_of(expression, x))
            return weighted(found[-1], known) + 0.0 * x[0]

        value, gradient = gw.value_and_grad(gw.adapting(total))(X)
        assert labels_of(found[-1]) == labels_of(plain)
        steps = 1e-6 * np.eye(6)
        differences = [(total(X + h) - total(X - h)) / 2e-6 for h in steps]

    np.testing.assert_allclose(value, weighted(plain, known), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gradient, differences, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("expression", COMPILED)
def test_compiled_method_follows_other_values(expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = numbers_of(result_of(expression, X))
        gradient = gw.grad(gw.adapting(lambda x: weighted(result_of(expression, x), known)))
        compiled = gw.compile(gradient)
        for x in (X, X + 0.01 * np.arange(6.0), X[::-1].copy(), X[[2, 0, 1, 5, 3, 4]] ** 1.1):
            np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-9, atol=1e-12)


def test_values_that_pandas_weights_otherwise_are_refused() -> None:
    def f(x: Any) -> Any:
        return tables(x)["h"].ewm(span=3, adjust=False).var().sum()

    try:
        gradient = gw.grad(f)(X)
    except NoRuleError as error:
        assert "gives other values than the formula" in str(error)  # noqa: PT017  or it is right
    else:
        differences = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
        np.testing.assert_allclose(gradient, differences, atol=1e-6)


@pytest.mark.parametrize("expression", ["m.groupby('n')['a'].ohlc()", "t.mode()"])
def test_other_methods_are_refused(expression: str) -> None:
    with pytest.raises(GradwrapError):
        gw.grad(gw.adapting(lambda x: weighted(result_of(expression, x), [])))(X)


def test_windows_of_columns_with_the_same_name() -> None:
    def total(x: Any) -> Any:
        table = pd.DataFrame({"a": x[:3], "b": x[3:]}).rename(columns={"a": "r", "b": "r"})
        found = table.rolling(2).sum()
        assert list(found.columns) == ["r", "r"]
        return np.sum(found.to_numpy()[1:] * np.arange(1.0, 3.0))

    np.testing.assert_allclose(gw.grad(total)(np.arange(6.0)), [1.0, 2.0, 1.0, 2.0, 4.0, 2.0])

    def of_groups(x: Any) -> Any:
        table = pd.DataFrame({"a": x[:3], "b": x[3:]}).rename(columns={"a": "r", "b": "r"})
        return np.sum(table.groupby([1, 1, 2]).rolling(2).sum().to_numpy()[1])

    with pytest.raises(gw.errors.GradwrapError, match="same name"):
        gw.grad(of_groups)(np.arange(6.0))


@pytest.mark.parametrize("text", ["2 ** (-((a - 0.5) / b) ** 2)", "sin(a) * b", "s + b"])
def test_expressions_of_the_engine_that_is_compiled(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """pandas gives them to numexpr where it is installed."""

    def total(x: Any, engine: str) -> Any:
        names = {"a": x[:3], "b": x[3:], "s": pd.Series(x[:3])}
        found = pd.eval(text, engine=engine, local_dict=names)
        return np.sum(np.asarray(found) * np.arange(1.0, 4.0))

    wanted = [(total(X + h, "python") - total(X - h, "python")) / 2e-6 for h in 1e-6 * np.eye(6)]
    monkeypatch.setattr("pandas.core.computation.check.NUMEXPR_INSTALLED", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that pandas takes another engine
        found = gw.grad(gw.adapting(lambda x: total(x, "numexpr")))(X)
    np.testing.assert_allclose(found, wanted, atol=1e-7)


@pytest.mark.parametrize(
    "function",
    [
        lambda s: np.vectorize(lambda a, b: a * b if a > 1.0 else b)(s, s**2),
        lambda s: np.vectorize(lambda a, b: a**b, otypes=[float])(2.0, s),
        lambda s: stats.norm.cdf(s, 1.0, s * 2.0),
        lambda s: stats.norm(1.0, 2.0).pdf(s.to_frame()),
        lambda s: stats.norm.interval(0.3 * s, 1.0, 2.0)[1],
        lambda s: interpolate.CubicSpline(np.arange(6.0), s)(s),
        lambda s: interpolate.interp1d(np.arange(6.0), s)(0.7),
        lambda s: interpolate.interp1d(np.arange(6.0), np.arange(6.0) ** 2)(s),
        lambda s: stats.gaussian_kde(s)(s),
        lambda s: stats.multivariate_normal(s[:2], np.eye(2)).logpdf(s[3:5]),
        lambda s: spatial.KDTree(s.to_frame()).query([[1.0]])[0],
        lambda s: np.trapezoid(y=s, x=s.index) + np.bincount(np.digitize(s, [1.0]), weights=s),
        lambda s: s[np.asarray(s) > 0.9] * s.loc[np.asarray(s) > 0.9],
        lambda s: np.histogram(s, bins=[0.0, 1.0, 9.0], weights=s**2)[0],
        lambda s: np.histogram(s, bins=3)[1],
    ],
)
def test_functions_that_make_arrays_of_tables(function: Any) -> None:
    def total(x: Any) -> Any:
        made = np.reshape(function(pd.Series(x * 1.0)), (-1,))
        return np.sum(made * np.cos(np.arange(len(made))))

    wanted = [(total(X + h) - total(X - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(gw.grad(gw.adapting(total))(X), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "function",
    [
        lambda t, x: t * x[:3][:, None],
        lambda t, x: (1.0 - t) * x[None, :2] - x.reshape(3, 2),
        lambda t, x: t * np.arange(3.0)[:, None] + x[:2],
        lambda t, x: t.where(t > x[:3][:, None] ** 2, 0.5),
        lambda t, _: t[~(np.isclose(t, 0) | (t < 0.6))].fillna(0.0) ** 2,
        lambda t, x: np.maximum(t, 1.0) + np.arctan2(t, 1.0 + t) + np.hypot(x[0], t),
        lambda t, x: math.sqrt(x[0]) * t["a"] + (1.0 - math.sqrt(x[1])) * t["b"],
        lambda t, x: np.full_like(t["a"], 3.0) * x[:3] + np.zeros(3, dtype=t["a"].dtype),
        lambda t, _: t["a"] if t["a"].dtype == float else 0.0 * t["a"],
        lambda t, _: t["a"] if np.issubdtype(t["a"].dtype, np.floating) else 0.0 * t["a"],
        lambda t, _: t[[c for c in t if t.dtypes[c] in (float, np.float32)]] ** 2,
    ],
)
def test_tables_in_formulas_of_arrays(function: Any) -> None:
    def total(x: Any) -> Any:
        made = function(pd.DataFrame({"a": x[:3], "b": x[3:] ** 2}), x)
        made = np.reshape(made.to_numpy() if hasattr(made, "to_numpy") else made, (-1,))
        return np.sum(made * np.cos(np.arange(len(made))))

    wanted = [(total(X + h) - total(X - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(gw.grad(gw.adapting(total))(X), wanted, rtol=1e-6, atol=1e-8)


def test_a_table_of_a_matrix_of_a_subclass() -> None:
    """As patsy makes them, for the formulas of statsmodels."""

    class Design(np.ndarray[Any, Any]):
        def __new__(cls, values: Any) -> Any:
            return np.asarray(values).view(cls)

    def fitted(x: Any) -> Any:
        matrix = Design(np.column_stack([np.ones(4), x]))
        table = pd.DataFrame(matrix, columns=["one", "x"])
        return np.sum(table["x"] ** 2 * table["one"]) + table.to_numpy()[1, 1]

    x = np.array([0.3, -1.2, 0.8, 2.1])
    expected = 2 * x + np.array([0.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(gw.grad(gw.adapting(fitted))(x), expected)


REDUCED = {
    "maximum": lambda t: np.maximum.reduce([t["a"] - t["b"], np.abs(t["b"].shift(1).fillna(0.0))]),
    "add": lambda t: np.add.reduce((t["a"], t["b"])) ** 2,
    "one": lambda t: np.multiply.reduce(t["b"]) * t["a"],
    "of truths": lambda t: np.logical_or.reduce([t["a"] > 0.4, t["b"] > 1.0]) * t["b"],
    "call": lambda t: np.add([t["a"], t["b"]], 1.0)[1],
}


@pytest.mark.parametrize("name", REDUCED)
def test_ufuncs_of_lists_of_tracked_columns(name: str) -> None:
    function: Any = REDUCED[name]

    def reduced(x: Any) -> Any:
        table = pd.DataFrame({"a": x, "b": x**2 + 0.3})
        return np.sum(function(table) * np.arange(1.0, 5.0))

    x = np.array([0.3, 0.7, 0.2, 1.4])
    steps = 1e-6 * np.eye(4)
    expected = [(reduced(x + e) - reduced(x - e)) / 2e-6 for e in steps]
    assert np.allclose(gw.grad(gw.adapting(reduced))(x), expected, atol=1e-7)
