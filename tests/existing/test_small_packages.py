"""Small packages that compute as public ones do, each with one construct that once failed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import CompileWarning
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([0.5, 0.7, 0.3, 0.9])


def check(function: Callable[[Any], Any]) -> None:
    """Compare both modes with central differences."""
    units = np.eye(4)
    expected = [(function(X + 1e-6 * e) - function(X - 1e-6 * e)) / 2e-6 for e in units]
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-5)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in units], expected, rtol=1e-5)


NUMPYS = """
    def chosen_by_truths(x):
        return np.choose(np.less(0.4, x), (0.0, x**2)).sum()

    def of_a_made_list(x):
        return np.dot(np.diag(1 / np.exp(list(x[:2]))), x.reshape(2, 2)).sum()

    def of_made_sequences(x):
        values = list(x)
        parts = {"scales": values[2:]}
        return np.sum(np.sqrt(values[:2]) * np.log(tuple(x)[1:3]) + np.sin(parts["scales"]))

    def of_one_of_two(x):
        return np.sum(np.exp([x[0], x[1]] if x[0] < 1.0 else [x[2]]))

    def of_several(x):
        return np.sum(np.add(*(x, -(x**2))))

    def of_a_functions_list(x):
        def doubled(values):
            return [2.0 * one for one in values]

        return np.sum(np.square(doubled(x)))

    def ordered_rows(x):
        weights = np.array([[1.0, 2.0], [3.0, 4.0]])
        return np.sum(np.unique(x.reshape(2, 2), axis=0) * weights)

    def asked_by_name(x):
        names = "max", "sum"
        return x.__getattribute__(names[0])() * x.__getattribute__(names[1])()

    def of_truths(x):
        mask = np.zeros(4, bool)
        np.greater(x, 0.6, out=mask)
        mask |= x < 0.4
        return np.sum(np.where(mask, x**2, np.sin(x)))

    def of_joined_truths(x):
        mask = np.empty(4, bool)
        np.bitwise_or(x > 0.8, x < 0.4, out=mask)
        return np.sum(np.where(mask, x**2, np.sin(x)))
"""
FUNCTIONS = [
    line.split()[1].partition("(")[0] for line in NUMPYS.splitlines() if line.startswith("    def ")
]


@pytest.fixture
def numpys(tmp_path: Path) -> Any:
    return written(tmp_path, NUMPYS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_with_numpy(name: str, numpys: Any) -> None:
    check(getattr(numpys, name))


@pytest.mark.parametrize("name", ["of_truths", "of_joined_truths"])
def test_truths_that_are_written_to_out_are_compiled(name: str, numpys: Any) -> None:
    function = getattr(numpys, name)
    gradient = gw.compile(gw.grad(gw.adapting(function)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for x in (X, X[::-1].copy(), X + 0.2, X):  # other truths
            expected = gw.grad(gw.adapting(function))(x)
            assert np.allclose(gradient(x), expected)


SCIPYS = """
    from scipy.integrate import solve_ivp
    from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, gmres
    from scipy.sparse.linalg._isolve.utils import make_system
    import scipy.sparse

    B = np.arange(1.0, 5.0)
    SHIFT = np.arange(16.0).reshape(4, 4) / 10 + 9 * np.eye(4)

    def matrix(x):
        return np.outer(x, x) + np.diag(x) + SHIFT

    def of_a_vector(x):
        return np.sum(aslinearoperator(matrix(x)).matvec(B) * B)

    def of_columns(x):
        return np.sum(aslinearoperator(matrix(x)) @ np.outer(B, [1.0, x[0]]))

    def of_the_adjoint(x):
        operator = aslinearoperator(matrix(x))
        return np.sum(operator.rmatvec(x) * B + operator.H @ B + operator.T.dot(x))

    def of_a_sum(x):
        return np.sum((2 * aslinearoperator(matrix(x)) + aslinearoperator(SHIFT)) @ B * B)

    def of_a_product(x):
        return np.sum((aslinearoperator(matrix(x)) @ aslinearoperator(SHIFT)).matvec(x) * B)

    def of_a_sparse_matrix(x):
        return np.sum(aslinearoperator(scipy.sparse.diags(x)).matvec(B.reshape(4, 1)) ** 2)

    def solved(x):
        symmetric = aslinearoperator(np.diag(x) + 9 * np.eye(4))
        first = cg(symmetric, B, rtol=1e-12)[0]
        return np.sum(first * gmres(aslinearoperator(matrix(x)), x, rtol=1e-12)[0])

    def of_a_system(x):
        A, M, _, b = make_system(matrix(x), None, None, B)
        return np.sum((A * b) * M.matvec(b)) + np.sum(A.rmatvec(b) * x)

    def of_a_tracked_system(x):  # whose right-hand side and start are tracked, too
        A, M, start, b = make_system(matrix(x), None, x**2, B * x[0])
        residual = b - A * start
        steps = [np.sum(residual**2)]
        for _ in range(3):
            start = start + 0.1 * M.matvec(residual)
            residual = b - A.matvec(start)
            steps.append(np.sum(residual**2))
        return np.sum(start * B) + sum(steps)

    def at_given_times(x):
        asked = np.linspace(0.0, 1.0, 5)
        options = {"t_eval": asked, "rtol": 1e-9, "atol": 1e-9}
        found = solve_ivp(lambda t, y: -x[0] * y, (0, 1), x[1:3], **options)
        times = np.append(np.zeros(1), found["t"])
        return np.sum(found.y * times[1:]) + times.sum()
"""
OF_SCIPY = [
    line.split()[1].partition("(")[0] for line in SCIPYS.splitlines() if line.startswith("    def ")
][1:]


@pytest.mark.parametrize("name", OF_SCIPY)
def test_with_scipy(name: str, tmp_path: Path) -> None:
    check(getattr(written(tmp_path, SCIPYS), name))


def test_times_are_plain_where_they_are_given(tmp_path: Path) -> None:
    module = written(
        tmp_path,
        """
        from scipy.integrate import solve_ivp

        def run(x, t_eval):
            return solve_ivp(lambda t, y: -x[0] * y, (0, 1), x[1:3], t_eval=t_eval)
        """,
    )
    run = gw.adapting(module.run)

    def given(x: Any) -> Any:
        found = run(x, np.array([0.0, 1.0]))
        assert type(found.t) is np.ndarray
        return found.y[0, -1]

    assert gw.grad(given)(X)[1] == pytest.approx(np.exp(-0.5), rel=1e-3)
    with pytest.raises(gw.errors.NoRuleError, match=r"solve_ivp: \.t of its result"):
        gw.grad(lambda x: run(x, None).t[1])(X)


def test_a_module_that_answers_to_any_name(tmp_path: Path) -> None:
    """Its `__array_namespace_info__` and its `empty` are None, and it is no namespace of arrays."""
    lazy = written(
        tmp_path,
        """
        def __getattr__(name):
            return None
        """,
    )
    module = written(
        tmp_path,
        """
        lazy = None

        def run(x):
            return np.sum(math.exp(x[0]) * np.asarray(x, dtype=float) ** 2)
        """,
    )
    module.lazy = lazy
    assert lazy.empty is None
    check(module.run)


def test_a_subclass_that_shares_memory(tmp_path: Path) -> None:
    """Parameters write their elements to one memory, as those of `paramz` do."""
    other = written(
        tmp_path,
        """
        class Observed(np.ndarray):
            def __new__(cls, values):
                return np.atleast_1d(np.require(values, requirements=["W", "C"])).view(cls)

        class Parameter(Observed):
            pass
        """,
    )
    module = written(
        tmp_path,
        """
        def scaled(x):
            return Parameter(2.0 * x).sum()

        def shared(x):
            parameter, memory = Parameter(2.0 * x), np.zeros(4)
            keep = [memory]
            memory[:] = parameter.flat
            return memory.sum() + keep[0][0]
        """,
    )
    module.Parameter = other.Parameter
    check(module.scaled)
    check(module.shared)


def test_the_memory_of_a_tracked_array(tmp_path: Path) -> None:
    """The remedy is one operation, with a derivative of its own."""
    module = written(
        tmp_path,
        """
        import ctypes

        def run(x):
            first = ctypes.cast(x.ctypes.data, ctypes.POINTER(ctypes.c_double))
            return np.float64(sum(first[i] ** 2 for i in range(4)))
        """,
    )
    with pytest.raises(gw.errors.TrackedAttributeError, match=r"Fix: .*gradwrap\.primitive\(f\)"):
        gw.grad(gw.adapting(module.run))(X)
    assert np.allclose(gw.grad(gw.adapting(module.run, compiled="numerical"))(X), 2 * X, rtol=1e-5)
    operation = gw.primitive(module.run)
    gw.defvjp(operation, lambda xp, g, x: 2 * g * x)
    assert np.allclose(gw.grad(operation)(X), 2 * X)


def test_functions_of_another_package_that_hold_what_this_one_gave_them(tmp_path: Path) -> None:
    """Converters, as `attrs` makes them: `optional(float)` of a class that it also generates."""
    helpers = written(
        tmp_path,
        """
        def optional(convert):
            def converter(value):
                return None if value is None else convert(value)
            return converter

        def pipe(*converters):
            def converter(value):
                for one in converters:
                    value = one(value)
                return value
            return converter

        def generated(**converters):
            names = {f"_{name}": value for name, value in converters.items()}
            lines = [f"    self.{name} = _{name}({name})" for name in converters]
            text = "\\n".join([f"def init(self, {', '.join(converters)}):", *lines])
            exec(text, names)
            return type("Point", (), {"__init__": names["init"]})
        """,
    )
    package = written(
        tmp_path,
        f"""
        from {helpers.__name__} import generated, optional, pipe

        Point = generated(a=optional(float), b=pipe(np.asarray, float))

        def of_converters(x):
            point = Point(x[0], x[1])
            return point.a ** 2 * point.b + x[2]
        """,
    )
    check(package.of_converters)
