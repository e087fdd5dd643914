"""Structured and masked arrays, and iterators of NumPy's, with tracked values in adapted code."""

from __future__ import annotations

import copy
import decimal
import fractions
import importlib
import math
import statistics
from typing import TYPE_CHECKING, Any

import pytest

import gradwrap as gw
from gradwrap.errors import AdaptationError, NoRuleError, NotAnArrayError
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

np: Any = importlib.import_module("numpy")  # whose types know no fields and masks
X = np.array([0.5, 1.5])
M = np.array([[True, False], [False, True]])
SOME = np.array([[True, False, False], [False, False, True]])


def check(function: Callable[[Any], Any]) -> None:
    """Compare both modes with central differences."""
    steps = 1e-6 * np.eye(2)
    expected = [float(function(X + e) - function(X - e)) / 2e-6 for e in steps]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-5)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)], expected, rtol=1e-5)


def iterated(x: Any) -> Any:
    s = 0.0
    for v in np.nditer(x):
        s = s + v**2
    return s


def by_multi_index(x: Any) -> Any:
    a = np.zeros(2)
    it = np.nditer(x, flags=["multi_index"])
    while not it.finished:
        a[it.multi_index] = math.sin(it[0])
        it.iternext()
    return a.sum()


def written_beside(x: Any) -> Any:
    out = np.zeros(2)
    for a, b in np.nditer([x, out], op_flags=[["readonly"], ["readwrite"]]):
        b[...] = a * 2
    return (out**2).sum()


def allocated(x: Any) -> Any:
    it = np.nditer([x, x[:, None], None])
    with it:
        for a, b, c in it:
            c[...] = a * b
        return it.operands[2].sum()


def updated(x: Any) -> Any:
    with np.nditer(x.copy(), op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = v**2
        return it.operands[0].sum()


def field_stored(x: Any) -> Any:
    r = np.zeros(2, dtype=[("x", "f8"), ("n", "i4")])
    r["x"] = x
    r["n"] = [1, 2]
    return (r["x"] ** 2 * r["n"]).sum()


def elements_of_fields(x: Any) -> Any:
    r = np.zeros(2, dtype=[("x", "f8"), ("y", "f8")])
    r["x"][0] = x[0]
    r["y"] = x * 2
    r[1]["x"] = x[1]
    return (r["x"] * r["y"]).sum()


def from_arrays(x: Any) -> Any:
    r = np.rec.fromarrays([x, x**2], names="a,b")
    return (r.a * r.b).sum()


def nested_axes(x: Any) -> Any:
    r = np.zeros(2, dtype=[("p", "f8", (3,)), ("m", "f8")])
    r["p"][:, 0] = x
    r["m"] = x[0]
    q = r[r["m"] > 0]
    return (q["p"].sum(1) * q["m"]).sum()


def from_tuples(x: Any) -> Any:
    r = np.array([(x[0], 1), (x[1], 2)], dtype=[("a", float), ("n", int)])
    return sum(row["a"] * row["n"] for row in r)


def as_records(x: Any) -> Any:
    r = np.zeros(2, dtype=[("a", float), ("n", int)]).view(np.recarray)
    r.a = x
    r.n[:] = [1, 2]
    return (r.a**2 * r.n).sum() + r[0].a


def new_records(x: Any) -> Any:
    r = np.recarray(2, dtype=[("p", float, (2,)), ("m", float), ("n", int)])
    r.n = [1, 2]
    one, two = r[0], np.recarray((2,), [("a", float)])
    one.p, one["m"] = x, x[0] * x[1]
    two.a = 3.0 * x
    return np.sum(one.p**2) * one.m * float(one["m"]) + np.sum(two.a * r.n)


def rows_sorted(x: Any) -> Any:
    r = np.empty(2, dtype=[("a", float), ("n", int)])
    for i in range(2):
        r[i] = (x[i], i + 1)
    c = r.copy()
    c["a"] *= 2
    s = np.sort(c, order="a")
    return (s["a"] * s["n"]).sum() + len(r.dtype.names)


def from_records(x: Any) -> Any:
    r = np.rec.fromrecords([(x[0], 1), (x[1], 2)], names="a,n")
    return (r.a * r.n).sum()


def masked_sum(x: Any) -> Any:
    m = np.ma.masked_array(x, [False, True])
    return m.sum() * 2


def masked_means(x: Any) -> Any:
    m = np.ma.masked_array(np.outer(x, x), mask=M)
    return m.mean() + m.sum(axis=0).filled(0).sum() + np.ma.sum(m * 2 + 1)


def mask_set_later(x: Any) -> Any:
    m = np.ma.array(np.outer(x, x))
    m.mask = M
    return m.compressed().sum() + m.filled(3.0)[0, 0] + np.ma.dot(m, np.ma.array(x)).sum()


def masked_invalid(x: Any) -> Any:
    m = np.ma.masked_invalid(np.array([x[0], np.nan, x[1]]))
    return (m**2).sum() + m.count() + np.exp(m).mean()


def masked_where(x: Any) -> Any:
    m = np.ma.masked_where(x > 1, x)
    return np.ma.filled(m, 0.0).sum() + np.ma.getmaskarray(m).sum()


def mask_by_store(x: Any) -> Any:
    m = np.ma.asarray(x)
    m[1] = np.ma.masked
    return m.sum() + m[0]


def stored_in_masked(x: Any) -> Any:
    m = np.ma.masked_array(np.zeros(2))
    m[0] = x[0]
    m[1] = x[1] ** 2
    return np.ma.where(m > 0, m, 0).sum() + np.ma.average(m, weights=[1, 2.0])


def masked_statistics(x: Any) -> Any:
    m = np.ma.masked_greater(np.stack([x, x * 2]), 2.5)
    return m[:, 0].std() + m.max() + np.ma.concatenate([m, m]).sum() + np.sqrt(m)[0].sum()


def masked_data(x: Any) -> Any:
    m = np.ma.masked_equal(x, 9.0)
    return (m.data * np.where(m.mask, 0, 1)).sum() + (m / x[0]).sum()


def masked_constant(x: Any) -> Any:
    o = np.ma.array([[1.0, 2], [3, 4]], mask=M)
    return np.ma.sum(o * x) + (x * o).sum() + np.dot(x, o.filled(0)).sum()


def written_into_masked(x: Any) -> Any:
    m = np.ma.masked_array(np.concatenate([x, x**2]), mask=[False, False, True, False])
    np.copyto(m[1:], m[:-1])  # to a part of the array that is read
    return (m * np.arange(1.0, 5.0)).sum()


def copied_deeply(x: Any) -> Any:
    m = np.ma.masked_array(x**2, mask=[False, True])
    c = copy.deepcopy(m)
    c[1] = x[0]
    return 3 * c.sum() + m.sum() + m.filled(0.0)[1]


def methods_of_arrays_take_masked(x: Any) -> Any:
    m = np.ma.array([1.0, 2.0]) * x[1]
    a = np.outer(x, x)
    return a.dot(m).sum() + a.dot(np.ma.array([1.0, 3.0]))[1] + x.clip(m / 9).sum()


def masked_sorted(x: Any) -> Any:
    m = np.ma.masked_array(np.outer(x, x), mask=M)
    return np.ma.sort(m, axis=0)[0].sum() + np.ma.median(m) * 2 + np.ma.average(m, axis=1).sum()


def divided(x: Any) -> Any:
    some = x * np.array([0.0, 1.0])  # with the first, both are infinite, and masked
    return (np.ma.array([1.0, 2.0]) / some).sum() + np.ma.log(some).sum()


def with_fractions(x: Any) -> Any:
    doubled = 2 if x[0] < fractions.Fraction(3, 4) else 1
    return x[0] * doubled + x[1] * fractions.Fraction(1, 3) + (decimal.Decimal(1) < x[1]) * x[1]


def test_numbers_of_other_kinds() -> None:
    check(with_fractions)


def means(x: Any) -> Any:
    pair = [x[0], x[1] * x[0]]
    first = statistics.mean(pair) + statistics.mean(v * v for v in x) + statistics.geometric_mean(x)
    return first * statistics.harmonic_mean(pair) + statistics.fmean(x, weights=[1.0, 3.0])


def spreads(x: Any) -> Any:
    data = [*x, 3.0]
    around = statistics.pvariance(data, 1.0) * statistics.pstdev(data)
    return statistics.stdev(data) + statistics.variance(data) + around + statistics.median(data)


def lines(x: Any) -> Any:
    data, times = [*x, 3.0], [0.0, 1.0, 3.0]
    found = statistics.linear_regression(times, data)
    through_zero = statistics.linear_regression(times, data, proportional=True)
    joint = statistics.covariance(times, data) * statistics.correlation(data, times)
    return found.slope * found.intercept + through_zero.slope + joint


inverse: Any = importlib.import_module("_statistics")._normal_dist_inv_cdf
STANDARD, OTHER = statistics.NormalDist(), statistics.NormalDist(mu=0.1, sigma=2.0)


def normal(x: Any) -> Any:
    own = statistics.NormalDist(x[0], x[1])
    inner = own.cdf(0.9) * own.pdf(x[0] * 2) + own.inv_cdf(0.3) * own.zscore(2.0)
    assert isinstance(own, statistics.NormalDist)
    assert statistics.NormalDist() == STANDARD
    outer = STANDARD.cdf(x[0]) * OTHER.cdf(x[1]) + OTHER.pdf(x[0]) + STANDARD.zscore(x[1])
    compiled = inverse(0.2, x[0], x[1]) * inverse(x[0] / 4, 1.0, 2.0) * inverse(0.3, 1.0, 2.0)
    found = inner + outer + STANDARD.inv_cdf(x[0] / 4) * STANDARD.cdf(0.3) + compiled
    return found + own.mean * own.variance


@pytest.mark.parametrize("function", [means, spreads, lines, normal])
def test_statistics_of_tracked_values(function: Callable[[Any], Any]) -> None:
    check(function)
    batch = gw.vmap(gw.grad(gw.adapting(function)))(np.stack([X, X + 0.1]))
    assert np.allclose(batch[0], gw.grad(gw.adapting(function))(X))


def test_the_mode_is_one_of_the_numbers() -> None:
    check(lambda x: statistics.mode([x[0], x[1], 2.0 * x[0] / 2.0, 1.0]) ** 2 + statistics.mode(x))


def test_statistics_raise_their_own_errors() -> None:
    with pytest.raises(statistics.StatisticsError, match="at least two data points"):
        gw.grad(gw.adapting(lambda x: statistics.stdev(x[:1])))(X)
    with pytest.raises(statistics.StatisticsError, match=r"p must be in the range"):
        gw.grad(gw.adapting(lambda x: STANDARD.inv_cdf(x[0] + 1.0)))(X)
    with pytest.raises(statistics.StatisticsError, match="non-negative"):
        gw.grad(gw.adapting(lambda x: statistics.NormalDist(0.0, -x[0]).mean))(X)
    with pytest.raises(gw.errors.AdaptationError, match=r"StatisticsError: .* sigma is zero"):
        gw.grad(gw.adapting(lambda x: statistics.NormalDist(x[0], 0.0).cdf(1.0)))(X)


def test_ufuncs_of_python_functions() -> None:
    def both(x: Any) -> Any:
        product, total = np.frompyfunc(lambda a, b: (a * b, a + b), 2, 2)(x, x[::-1])
        plain = np.frompyfunc(lambda a: a + 1, 1, 1)
        return (product * total.astype(float)).sum() * plain.nin * plain(2)

    def in_turn(x: Any) -> Any:
        step = np.frompyfunc(lambda a, b: a * b + np.sin(a), 2, 1)
        states = step.accumulate(x, dtype=object)
        pairs = step.outer(x, x[:2]).astype(float)
        rows = step.reduce(np.outer(x, x), axis=1) * step.accumulate(np.outer(x, x), 1)[:, 1]
        return (states * pairs[:, 1]).sum() + step.reduce(x) * rows.prod() + step.reduce([1.0, 2.0])

    check(both)
    check(in_turn)
    with pytest.raises(NoRuleError, match=r"reduce with where= or initial= has no rule"):
        gw.grad(
            gw.adapting(lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1).reduce(x, initial=2.0))
        )(X)


@pytest.mark.parametrize("function", [iterated, by_multi_index, written_beside, allocated, updated])
def test_iterators(function: Callable[[Any], Any]) -> None:
    check(function)


@pytest.mark.parametrize(
    "function",
    [
        field_stored,
        elements_of_fields,
        from_arrays,
        nested_axes,
        from_tuples,
        as_records,
        new_records,
        rows_sorted,
        from_records,
    ],
)
def test_structured_arrays(function: Callable[[Any], Any]) -> None:
    check(function)


@pytest.mark.parametrize(
    "function",
    [
        masked_sum,
        masked_means,
        mask_set_later,
        masked_invalid,
        masked_where,
        mask_by_store,
        stored_in_masked,
        masked_statistics,
        masked_data,
        masked_constant,
        copied_deeply,
        methods_of_arrays_take_masked,
        written_into_masked,
        masked_sorted,
        divided,
    ],
)
def test_masked_arrays(function: Callable[[Any], Any]) -> None:
    check(function)


@pytest.mark.parametrize(
    "function",
    [
        np.sum,
        lambda m: np.mean(np.exp(m), axis=0),
        lambda m: np.var(m, axis=1),
        lambda m: np.average(m, axis=0),
        lambda m: np.sort(m, axis=0)[0],
        np.ptp,
        np.cumsum,
        np.diff,
        np.gradient,
        np.trace,
        np.nansum,
        lambda m: m.ravel()[np.argmax(m)],
        lambda m: np.roll(m, 1) * m,
        lambda m: np.zeros_like(m) + np.ma.getdata(m),
        lambda m: np.multiply(m, m, dtype=float),
        lambda m: np.logaddexp(m, 1.0),
        lambda m: np.concatenate([m, m]),
        lambda m: np.where(SOME, 1.0, m),
        lambda m: np.broadcast_to(m, (3, 2, 3)) * m.size,
        np.linalg.norm,
    ],
)
def test_functions_of_numpy_heed_masks_as_numpy_does(function: Callable[[Any], Any]) -> None:
    def total(x: Any) -> Any:
        found = function(np.ma.masked_array(np.outer(x, [1.0, 2.0, 4.0]), mask=SOME))
        parts = found if isinstance(found, tuple) else (found,)
        return sum(np.sum(part) for part in parts)

    check(total)


def test_a_function_that_would_lose_a_mask_is_refused() -> None:
    def total(x: Any) -> Any:
        return np.linalg.diagonal(np.ma.masked_array(np.outer(x, x), mask=M)).sum()

    with pytest.raises(NoRuleError, match=r"numpy.linalg.diagonal of a masked .* numpy.ma.diagon"):
        gw.grad(gw.adapting(total))(X)


def test_iterators_tell_where_they_are() -> None:
    def moved(x: Any) -> Any:
        it = np.nditer([x, x[::-1]], ["multi_index"])
        it.multi_index = (1,)
        last = it[0] * 3
        it.iterindex = 0
        assert it.dtypes == (np.dtype(float), np.dtype(float))
        return last * it[1] ** it.itersize

    check(moved)

    def views(x: Any) -> Any:
        return np.nditer(x).itviews[0].sum()

    with pytest.raises(NoRuleError, match=r"itviews has no rule .* iterate over the iterator"):
        gw.grad(gw.adapting(views))(X)


def test_what_structured_arrays_refuse() -> None:
    kind = [("a", float), ("n", int)]

    def whole(x: Any) -> Any:
        r: Any = np.zeros(2, dtype=kind)
        r["a"] = x
        return r.view(np.int64)

    with pytest.raises(AdaptationError, match=r"cannot be viewed as .* take the fields"):
        gw.grad(gw.adapting(whole))(X)

    def unchanged(x: Any) -> Any:
        r: Any = np.zeros(2, dtype=kind)
        return np.sum(x) * r.view(np.int64).size + len(r.tobytes()) + (r == r[0]).sum()

    check(unchanged)


def test_iterators_do_not_write_chunks() -> None:
    def chunks(x: Any) -> Any:
        for part in np.nditer(x.copy(), flags=["external_loop"], op_flags=["readwrite"]):
            part[...] = 1.0
        return x.sum()

    with pytest.raises(NoRuleError, match="external_loop"):
        gw.grad(gw.adapting(chunks))(X)


def test_variable_has_no_methods_that_its_array_lacks(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def as_plain(x):
            if hasattr(x, "requires_grad") and x.requires_grad:
                x = x.detach()
            return x.detach().numpy() if hasattr(x, "detach") else x

        def f(x):
            assert hasattr(x, "shape") and hasattr(x, "T") and not hasattr(x, "backward")
            return np.sum(as_plain(x) ** 2)
        """,
    )
    x = np.array([1.0, 3.0])

    np.testing.assert_allclose(gw.grad(gw.adapting(package.f))(x), 2 * x)


# Lists beside arrays ------------------------------------------------------------------------------

TABLE = np.array([1.0, 2.0, 3.0])


def beside_a_list(x: Any) -> Any:
    found = [x[0], x[1] * 2.0, 3.0]
    return np.sum((TABLE - found) ** 2) + np.sum(found * TABLE)


def beside_a_list_that_grows(x: Any) -> Any:
    found: Any = []
    for i in range(3):
        found.append(x[i % 2] ** i)
    return np.sum(TABLE / found + np.sqrt(TABLE) * found) + TABLE @ found


def repeated(x: Any) -> Any:
    """Repeat and join lists beside an operator that joins one to an array."""
    found = [x[0], x[1]]
    return np.sum(TABLE * (found[:1] * 3)) + sum(found + found) + (np.arange(2) - found)[1]


@pytest.mark.parametrize("function", [beside_a_list, beside_a_list_that_grows, repeated])
def test_an_array_from_outside_beside_a_list(function: Callable[[Any], Any]) -> None:
    check(function)


def test_the_base_of_a_view_is_the_array_that_it_is_of() -> None:
    def of_views(x: Any) -> Any:
        y = np.multiply.outer(np.ones(2), x)
        assert y.copy().base is None
        assert y[1:].T.base is y
        assert y[[0, 1]].base is None
        y[1:].T.base[0] = 0.0
        return np.sum(y)

    x = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(gw.grad(gw.adapting(of_views))(x), np.ones(4))


class Grid:
    """A class of a package, made of an array or of another grid."""

    def __init__(self, values: Any) -> None:
        self.data = np.array(values.data) if hasattr(values, "data") else np.array(values)


def test_the_memory_of_an_array_makes_an_array() -> None:
    def gridded(x: Any) -> Any:
        grid = Grid(Grid(x[:3] ** 2))
        y = x * 1.0
        y.data[1] = 3.0 * x[0]
        return np.prod(grid.data) * x.data[0] + np.sum(y**2) + len(x.data)

    check(gridded)
    with pytest.raises(AdaptationError, match="a bytes-like object is required"):
        gw.grad(gw.adapting(lambda x: np.frombuffer(x.data)[0]))(X)


EXACT = """
    from decimal import Decimal
    from fractions import Fraction

    import sympy

    def functions():
        return {
            "store": store,
            "several": lambda x: rows(x, [Fraction(1, 3), sympy.Rational(1, 2)]),
            "tracked": lambda x: rows(x, (Fraction(x), Decimal("0.5"))),
            "expression": lambda x: rows(x, sympy.sqrt(2) * x),
            "array": lambda x: np.array([x, sympy.pi, Fraction(1, 3)]).astype(float).sum() * x,
            "product": lambda x: np.dot(x * np.ones(2), [sympy.Float(0.3), Fraction(1, 3)]),
            "bounds": lambda x: np.clip(x, Fraction(1, 3), sympy.Integer(4)) * x,
        }

    def store(x):
        out = np.zeros((2, 2))
        out[0, 0] = x
        out[0, 1] = sympy.Integer(0)
        out[1, 0] = Fraction(1, 3) + Fraction(x)
        out[1, 1] = Decimal("0.25")
        return np.sum(out * x)

    def rows(x, row):
        out = np.zeros((2, 2))
        out[0] = row
        out[1] = x
        return np.sum(out**2)

    def free(x):
        out = np.zeros(2)
        out[0] = x
        out[1] = sympy.Symbol("y")
        return out
"""


@pytest.mark.peers
def test_exact_numbers_enter_arrays(tmp_path: Path) -> None:
    pytest.importorskip("sympy")
    package = written(tmp_path, EXACT)
    for name, function in package.functions().items():
        expected = float(function(0.7001) - function(0.6999)) / 2e-4
        adapted = gw.adapting(function)
        slope = gw.jvp(adapted, (0.7,), (1.0,))[1]
        np.testing.assert_allclose(gw.grad(adapted)(0.7), expected, rtol=1e-7, err_msg=name)
        np.testing.assert_allclose(slope, expected, rtol=1e-7, err_msg=name)


@pytest.mark.peers
def test_a_symbol_without_a_value_enters_no_array(tmp_path: Path) -> None:
    pytest.importorskip("sympy")
    with pytest.raises(NotAnArrayError, match="Symbol"):
        gw.jacobian(gw.adapting(written(tmp_path, EXACT).free))(0.7)
