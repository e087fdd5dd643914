"""Dates, labelled arrays and tables of objects beside tracked numbers in adapted code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import AdaptationError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7])
DATES = {
    "stored one by one": """
        import datetime
        def run(x):
            time = np.empty(3)
            for i in range(3):
                time[i] = np.nanmin(np.arange(3.0)) + i
            out = np.empty(time.shape, dtype="datetime64[ms]")
            first = np.datetime64(datetime.datetime(2020, 1, 1))
            for i, t in enumerate(time):
                out[i] = first + t * np.timedelta64(1, "D").astype("timedelta64[ms]")
            out[1:] = [first + t * np.timedelta64(1, "h") for t in time[1:]]
            return np.sum(x ** 2) * (out[-1] - out[0]).astype(float) / 1e7
        """,
    "durations of constants": """
        import datetime
        def run(x):
            time = np.linspace(0.0, 2.0, 3)
            passed = datetime.timedelta(days=time[1], hours=time[2])
            day = datetime.datetime.fromtimestamp(time[1] * 1e9)
            longer, more = passed * time[2], time[2] * passed
            found = np.sum(x ** 2) * passed.total_seconds() / 1e5
            return found + day.year * x[0] + (longer + more).days
        """,
    "those of pandas": """
        import pandas as pd
        def run(x):
            time = np.linspace(0.0, 2.0, 3)
            day = pd.Timestamp("2020-01-01") + pd.Timedelta(days=time[1])
            day = day + time[2] * pd.Timedelta(hours=1)
            passed = pd.to_timedelta(time, unit="h")
            hours = (24 * time).astype("timedelta64[h]")
            days = pd.DatetimeIndex(np.datetime64("2020-01-01") + hours)
            return np.sum(x ** 2) * (day.day + day.hour) + passed.total_seconds()[1] + days[1].day
        """,
}
LABELLED = {
    "lists of numbers": """
        import xarray as xr
        def run(x):
            a = xr.DataArray([x[0], x[1] ** 2], dims=["t"], coords=[[1.0, 2.0]])
            b = xr.DataArray([[x[0], 0.0], [1, x[1]]], dims=["i", "j"])
            c = xr.Dataset({"p": (["i", "j"], [[x[0], x[1]], [0, 1]]), "q": ("i", x)})
            v = xr.Variable("t", [x[0], 1.0])
            return a.sel(t=1.0) * (b ** 2).sum() + c.p.sum() * c.q.max() + v.sum()
        """,
    "lists of arrays": """
        import xarray as xr
        def run(x):
            a = xr.DataArray([xr.DataArray(x[0]), xr.DataArray(x[1] ** 2)], dims="k")
            b = xr.DataArray([x, 2 * x], dims=["i", "j"])
            return a.prod() + b.mean()
        """,
    "tables": """
        import pandas as pd
        import xarray as xr
        def run(x):
            days = pd.to_datetime(["2020-01-01", "2020-01-02"])
            names = {"n": [1, 2], "k": ["a", "b"]}
            table = pd.DataFrame({"v": x, "w": x ** 2, **names}, index=pd.Index(days, name="t"))
            found = table.to_xarray()
            whole = xr.DataArray(table[["v", "w"]]).sum() * xr.DataArray(table["v"]).mean()
            chosen = (found.v * found.n).where(found.k == "b").sum()
            return whole + chosen + found.w.sel(t="2020-01-01")
        """,
}

TABLES = {
    "reductions of objects": """
        import pandas as pd
        def run(x):
            table = pd.DataFrame(index=range(3), columns=["a", "b", "n"])
            for i in range(3):
                table.iloc[i, :2] = x * (i + 1) * np.cos(i)
                table.iloc[i, 2] = "q"
            numbers = table[["a", "b"]]
            found = numbers.mean().sum() + numbers.std().sum() + numbers.var(axis=1).sum()
            more = numbers.median().prod() + numbers.max().sum() + numbers.min(axis=1).sum()
            return found + more + table["a"].std() + table["b"].astype(float).prod()
        """,
    "missing objects": """
        import pandas as pd
        def run(x):
            table = pd.DataFrame(index=range(3), columns=["a", "b"])
            table.iloc[0] = x
            table.loc[1, "a"] = x[0] ** 2
            table.loc[2, "b"] = 3
            found = table.mean().sum() + table.sum().prod() + table.dropna().sum().sum()
            return found + table.fillna(1.0).prod().sum() + (x[0] - table["b"]).sum()
        """,
    "tables of objects beside numbers": """
        import pandas as pd
        def run(x):
            table = pd.DataFrame(index=["u", "v"], columns=["a", "b"])
            table.loc["u"] = x
            table.loc["v"] = x ** 2
            total = x.sum()
            found = (table / total).sum().sum() + (total - table).loc["u", "b"]
            mixed = (table["b"] + table["a"] * total).prod() + (table + table.T.values).sum().sum()
            table["c"] = np.sqrt(table["a"].astype(float)) / table["b"]
            return found + mixed + table.apply(lambda row: row.sum(), axis=1).sum()
        """,
}


@pytest.mark.parametrize(
    "body",
    [*DATES.values(), *LABELLED.values(), *TABLES.values()],
    ids=[*DATES, *LABELLED, *TABLES],
)
def test_gradients_beside_dates_and_labels(tmp_path: Path, body: str) -> None:
    pytest.importorskip("xarray" if "xarray" in body else "pandas")
    package = written(tmp_path, body)

    def run(x: Any) -> Any:
        return np.sum(package.run(x))

    wanted = [(run(X + e) - run(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    for _ in range(2):
        assert np.allclose(gw.grad(gw.adapting(run))(X), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "body",
    [
        """
        import datetime
        def run(x): return datetime.timedelta(days=x[0]).total_seconds() * x[1]
        """,
        """
        def run(x):
            out = np.zeros(2, dtype="datetime64[s]")
            out[0] = np.datetime64("2020-01-01", "s") + x[0] * np.timedelta64(1, "D")
            return out[0].astype(float) * x[1]
        """,
    ],
    ids=["a duration", "a date"],
)
def test_dates_of_tracked_numbers_are_refused(tmp_path: Path, body: str) -> None:
    package = written(tmp_path, body)
    with pytest.raises(AdaptationError):
        gw.grad(gw.adapting(package.run))(X)
