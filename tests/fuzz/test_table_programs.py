"""Random programs of pandas on tracked tables, against plain numbers and differences."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from sampling import LONG

pytestmark = pytest.mark.peers
pd: Any = pytest.importorskip("pandas")

# A table t, a series s and an array a. C and C2 are columns, L a label of a row, I and J positions.
TEXT: str = """
t["a"] = t["b"] * t["c"]
t["d"] = s
t.loc[L, C] = 2.5
t.loc[L, C] = t[C2].iloc[0] * 2
t.loc[L] = t.iloc[1] * 0.5
t.iloc[I, 1] = t.iloc[J, 0]
t.at[L, C] = t[C2].sum()
t[t > 1.0] = 1.0
t.loc[t[C] > 0.5, C2] = t[C] * 3
t[C] += t[C2]
t = t + t.iloc[::-1]
t = t * s.rename(None).reindex(t.index).mean()
t = t.add(s, axis=0)
t = t.sub(t.mean())
t = pd.concat([t, t.iloc[:2] * 2])
t = pd.concat([t, t.add_suffix("x") ** 2], axis=1)
t = t.loc[~t.index.duplicated(), ~t.columns.duplicated()]
t = t.merge(t[[C]] * 2, left_index=True, right_index=True, suffixes=("", "y"))
t = t.groupby(np.arange(len(t)) % 2).transform("mean") * t
t = t.groupby(np.arange(len(t)) % 3).sum()
t = t.groupby(np.arange(len(t)) % 2).cumsum()
t = t.rolling(2, min_periods=1).mean()
t = t.rolling(2).sum()
t = t.shift(1)
t = t.shift(-1, fill_value=0.3)
t = t.diff()
t = t.reindex([*t.index[::-1][:3], "zz"])
t = t.fillna(0.7)
t = t.fillna(t.mean())
t = t.ffill()
t = t.dropna()
t = t.sort_values(C)
t = t.sort_index(ascending=False)
t = t.stack().unstack()
t = t.T
t = t.copy()
t = t[sorted(t.columns)]
t = t.iloc[:3]
t = t.clip(0.1, 1.2)
t = t.where(t > 0.4, t * 2)
t = t.mask(t > 1.0)
t = t.cumsum()
t = t.assign(e=lambda u: u[C] - u[C2])
t = t.rename(columns={C: "r"})
t = t.drop(columns=[C])
t = t.reset_index(drop=True)
t = t.set_axis(range(len(t)))
t = t.expanding().mean()
t = t.pipe(np.sqrt)
t = np.exp(-t)
t = t.abs()
t = t.rank() * t
t = t.apply(lambda c: c - c.max())
t = t.combine_first(t * 2)
t = t.melt()[["value"]]
s = t[C]
s = t[C].copy()
s = t.iloc[0]
s = t.sum(axis=1)
s = s.groupby(np.arange(len(s)) % 2).mean()
s = s.rolling(2, min_periods=1).max()
s = s + s.shift(1)
s = s.fillna(0.2)
s = s.sort_values()
s = s.sort_index()
s.iloc[0] = 1.5
s.iloc[-1] = t.iloc[0, 0]
s[s > 0.9] = 0.9
s = pd.concat([s, s * 2]).reset_index(drop=True)
s = s.rolling(3, min_periods=2).cov(t[C])
s = s.reindex(t.index)
s = s.interpolate()
s = s.map(lambda v: v * 2)
s = s.dot(s) * s
a = t.to_numpy()
a = t[C].to_numpy()
a = s.to_numpy()
a = s.values
a = t.values.sum(axis=0)
a = t.to_numpy(copy=True)
a = t[[C, C2]].to_numpy()
a = a * 2
a = t.iloc[0].to_numpy()
"""
STATEMENTS = TEXT.strip().split("\n")
PLACES = {
    "L": "t.index[{k} % len(t)]",
    "C": "t.columns[{k} % t.shape[1]]",
    "C2": "t.columns[{more} % t.shape[1]]",
    "I": "{k} % len(t)",
    "J": "{more} % len(t)",
}
WEIGHTS = np.cos(np.arange(1000.0))


def program(rng: np.random.Generator) -> str:
    def placed(match: re.Match[str]) -> str:
        k = int(rng.integers(3))
        return PLACES[match.group()].format(k=k, more=k + 1)

    chosen = [int(rng.integers(len(STATEMENTS))) for _ in range(rng.integers(3, 9))]
    return "\n".join(re.sub(r"\b(C2|[LCIJ])\b", placed, STATEMENTS[at]) for at in chosen)


def results(code: str, x: Any, *, half: bool) -> list[Any]:
    last = [0.3, 0.8, 1.4, 0.2] if half else x[8:]
    table = pd.DataFrame({"a": x[:4], "b": x[4:8], "c": last}, index=[*"wxyz"])
    names = {"t": table, "s": table["a"].copy(), "a": x[:4] * 1.0, "pd": pd, "np": np}
    exec(code, names)
    return [names["t"], names["s"], names["a"]]


def array_of(part: Any) -> Any:
    return part.to_numpy() if isinstance(part, (pd.Series, pd.DataFrame)) else part


def total(parts: list[Any]) -> Any:
    """Return a number that depends on all results but those that are missing."""
    found: Any = 0.0
    for part in parts:
        flat: Any = np.reshape(array_of(part), (-1,))
        lacks = np.isnan(np.asarray(flat.detach() if hasattr(flat, "detach") else flat, float))
        found = found + np.sum(np.where(lacks, 0.0, flat) * WEIGHTS[: len(lacks)])
    return found


def check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    code, x, half = program(rng), rng.uniform(0.2, 1.6, 12), bool(seed % 2)
    try:
        wanted = results(code, x.copy(), half=half)
        steps = [
            (total(results(code, x + h, half=half)) for h in (e, -e)) for e in 1e-6 * np.eye(12)
        ]
        slopes = np.array([(up - down) / 2e-6 for up, down in steps])
    except Exception:  # what pandas does not take is no program
        return
    found: list[Any] = []

    def f(x: Any) -> Any:
        found[:] = results(code, x, half=half)
        return total(found)

    def all_arrays(x: Any) -> list[Any]:
        return [array_of(one) for one in results(code, x, half=half)]

    try:
        gradient = gw.grad(f)(x)
        arrays, _ = gw.vjp(all_arrays, x)
    except (gw.errors.GradwrapError, ValueError):
        return  # refused
    for plain, array, part in zip(wanted, arrays, found, strict=True):
        np.testing.assert_allclose(array, array_of(plain), rtol=1e-9, atol=1e-12, err_msg=code)
        if isinstance(plain, (pd.Series, pd.DataFrame)):
            assert type(part) is type(plain)
            assert all(map(pd.Index.equals, plain.axes, part.axes)), code
    known = np.isfinite(gradient)  # where a function has no derivative, it is NaN
    scale = max(1.0, np.max(np.abs(slopes)))
    np.testing.assert_allclose(gradient[known], slopes[known], 1e-4, 1e-5 * scale, err_msg=code)


@pytest.mark.parametrize("first", [0, pytest.param(20, marks=LONG)])
def test_random_programs_of_tables(first: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas' own, of old spellings and of NaN
        for seed in range(first, first + (20 if first == 0 else 180)):
            check(seed)
