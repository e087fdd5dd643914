"""Packages whose objects are copied and put back, whose stores come late, and that meet SymPy."""

from __future__ import annotations

import copy
import functools
import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import TrackedValueError
from packages import written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([0.4, 1.3])
optimize: Any = importlib.import_module("scipy.optimize")
stats: Any = importlib.import_module("scipy.stats")


def check(function: Callable[[Any], Any]) -> None:
    steps = 1e-5 * np.eye(2)
    expected = np.array([(function(X + e) - function(X - e)) / 2e-5 for e in steps], dtype=float)
    adapted = gw.adapting(function)
    assert np.allclose(gw.grad(adapted)(X), expected, rtol=1e-5)
    assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)], expected, rtol=1e-5)


PUT_BACK = """
    from copy import deepcopy
    from scipy import optimize

    class Column:
        def __init__(self, first, second):
            self.layers = [("a", first), ("b", second)]

        def depth(self):
            return sum(one[1] for one in self.layers)

        def half(self):
            def cost(more):
                before = deepcopy(self.layers)
                whole = self.depth()
                self.layers.append(("c", more))
                found = (0.5 * self.depth() - whole**2) ** 2
                self.layers = before
                return found

            return optimize.minimize_scalar(cost, method="brent").x

    def half(x):
        return Column(x[0], x[1]).half()
"""


def test_state_that_a_solvers_function_copies_and_puts_back_keeps_its_derivative(
    tmp_path: Path,
) -> None:
    package = written(tmp_path, PUT_BACK)
    adapted = gw.adapting(package.half)
    whole = X.sum()
    assert np.allclose(gw.grad(adapted)(X), [4 * whole - 1, 4 * whole - 1], rtol=1e-6)
    assert np.allclose(gw.jvp(adapted, (X,), (np.array([1.0, 0.0]),))[1], 4 * whole - 1, rtol=1e-6)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_under_no_grad_keeps_its_place(duplicate: Callable[[Any], Any]) -> None:
    quietly = gw.no_grad()(duplicate)
    assert np.array_equal(gw.grad(lambda x: np.sum(quietly(x) * x))(X), 2 * X)
    leaf = gw.wrap(X, requires_grad=True)
    assert not quietly(leaf).requires_grad


LATE = """
    import numpy as np

    def coefficients(x):
        chosen = np.array([True, False])
        F = chosen.astype(float)
        G = F.copy()
        rest = np.ones(2)
        if np.any(~chosen) and np.all(rest == 1.0):
            F[~chosen] = x[0] * x[1] ** 2
            G[0] = np.exp(x[0])
        return np.sum(F * G) + F[1] * G[0]

    class Table:
        def __init__(self, x):
            self.rows = np.random.default_rng(3).normal(size=3)
            self.rows[1:] = x ** 2

        def total(self):
            return np.sum(self.rows[1:] * self.rows[0])

    def table(x):
        return Table(x).total()
"""


@pytest.mark.parametrize("name", ["coefficients", "table"])
def test_a_store_after_calls_of_compiled_functions(tmp_path: Path, name: str) -> None:
    package = written(tmp_path, LATE)
    check(getattr(package, name))


OBJECTS = """
    import numpy as np

    def blocks(x):
        parts = [np.outer(x, x)[:1, :1], np.outer(x, x)[:1], np.outer(x, x)]
        whole = np.zeros((2, 2), dtype=object)
        whole[np.triu_indices(2)] = parts
        whole[1, 0] = whole[0, 1].T
        return np.concatenate([np.concatenate(list(row), axis=1) for row in whole]).sum()

    def one_element(x):
        held = np.zeros(2, dtype=object)
        held[0] = [x[0], x[1] * 2]
        return held[0][0] * held[0][1]

    def rules(x):
        table = np.array([[len, ("a", "b")], [max, ("c", "d")]], dtype="object")
        for place, names in enumerate(table.T[1]):
            table.T[1][place] = names + ("1.0",)
        return x[0] * x[1] * len(table[0, 1])
"""


@pytest.mark.parametrize("name", ["blocks", "one_element", "rules"])
def test_arrays_of_objects_take_lists_as_numpy_does(tmp_path: Path, name: str) -> None:
    package = written(tmp_path, OBJECTS)
    check(getattr(package, name))


SYMBOLIC = """
    import sympy
    from sympy.abc import a, b

    def solved(x):
        root = sympy.solve(sympy.Eq(a * 3, b + 1), b)[0]
        return sympy.lambdify(a, root, "numpy")(x[0]) * x[1]

    def weighted(x):
        y = np.zeros(2)
        y[0] = 3.0
        return float(sympy.sqrt(y[0] + 1)) * x[0]
"""


def test_sympy_is_called_as_it_is(tmp_path: Path) -> None:
    pytest.importorskip("sympy")
    package = written(tmp_path, SYMBOLIC)
    with gw.adapted(package):
        assert not any(name.startswith("sympy") for name in gw.adapted_modules())
    check(package.solved)
    check(package.weighted)  # by a constant of adapted code


EXPRESSIONS = """
    import sympy as sp

    y, t = sp.symbols("y t")

    def slope(x):
        return float(sp.diff(x[0] * y**2 / (1 + y * x[1]), y).evalf(subs={y: x[0] + 0.4}))

    def written(x):
        return np.sum(sp.lambdify(y, x[0] * sp.sin(y * x[1]) + y, "numpy")(x[1] * np.arange(3.0)))

    def steps(x):
        rate = sp.lambdify([y, t], -x[0] * y + x[1] * sp.cos(t), "math")
        value = x[1]
        for k in range(3):
            value = value + 0.1 * rate(value, 0.1 * k)
        return value

    def solved(x):
        return float(sp.solve(y * x[0] - x[1], y)[0]) * x[0] ** 3

    def determinant(x):
        found = sp.Matrix([[x[0], y], [y, x[1]]]).det()
        return float(found.subs({y: x[1]})) + float(sp.N(found.subs(y, 0.3)))

    def checked(x):
        rates = {y: x[0] * y * (1 - t), t: x[1] * y}
        unknown = set().union(*(one.free_symbols for one in rates.values())) - rates.keys()
        assert not unknown
        return sp.lambdify([y, t], rates[y] + rates[t])(x[1], 0.3)

    def numbers(x):
        return float(sp.Rational(1, 3) * x[0] + sp.pi * x[1] - sp.Float(2.5) / x[0])
"""


@pytest.mark.parametrize(
    "name", ["slope", "written", "steps", "solved", "determinant", "numbers", "checked"]
)
def test_tracked_numbers_are_symbols_in_expressions(tmp_path: Path, name: str) -> None:
    pytest.importorskip("sympy")
    check(getattr(written(tmp_path, EXPRESSIONS), name))


def test_a_function_that_keeps_a_tracked_number_in_an_expression(tmp_path: Path) -> None:
    pytest.importorskip("sympy")
    source = """
        import sympy as sp
        from sympy.abc import y

        made = []

        def kept(x):
            if not made:
                made.append(sp.lambdify(y, x[0] * y))
            return made[0](x[1])
    """
    slope = gw.grad(gw.adapting(written(tmp_path, source).kept))
    assert np.allclose(slope(X), X[::-1])
    with pytest.raises(TrackedValueError, match="make the expression, and the function of it, in"):
        slope(X)


HELD = """
    import numpy as np

    class Model:
        def __init__(self):
            random = np.random.default_rng(0)  # whose arrays are plain
            self.u = random.random(2)
            self.m = random.random((2, 2))
            self.parts = [self.u, random.random(2)]
            self.u = self.parts[0] + 0.0
            self.known = {"a": random.random(2)}

        def elements(self, x):
            for place in range(2):
                np.copyto(self.parts[place], x * x, where=np.array([True, False]))
            self.parts[1][:] = self.parts[1] * x
            self.known["a"][1:] += x[:1]
            np.add(self.parts[0], self.parts[1] * self.known["a"], out=self.u)

        def copyto(self, x):
            np.copyto(self.u, x * x, where=np.array([True, False]))

        def part(self, x):
            np.copyto(self.m[1], x * x)

        def put(self, x):
            np.put(self.u, [1], x[:1] ** 2)

        def place(self, x):
            np.place(self.u, np.array([False, True]), x[1:] ** 2)

        def putmask(self, x):
            np.putmask(self.u, np.array([True, False]), x * x)

        def diagonal(self, x):
            np.fill_diagonal(self.m, x[0] ** 2)

        def along(self, x):
            np.put_along_axis(self.m, np.array([[0], [1]]), x[:, None] ** 2, axis=1)

        def at(self, x):
            np.add.at(self.u, [0, 0], x * x)
            np.multiply.at(self.m, (np.array([0, 0]), np.array([1, 1])), x)

        def fill(self, x):
            self.u.fill(x[0] ** 2)
            self.m[0].fill(x[1])

        def method(self, x):
            self.u.put([1], x[:1] ** 2)

        def out(self, x):
            np.multiply(x, x, out=self.u)
            y = np.add(self.u, x, out=self.m[0])
            self.m[1] = y * x

        def returned(self, x):
            return np.dot(np.eye(2), x * x, out=self.u)

        def update(self, x):
            self.u += x * x

        def flat(self, x):
            self.m.flat[1:3] = x * x
            self.m.T[0] *= x

        def steps(self, x):
            np.add(self.u, 1.0, out=self.u)
            y = np.exp(self.u, out=self.u).copy()
            y = None
            self.u[:] = x * self.u

    def total(x, name):
        model = Model()
        getattr(model, name)(x)
        weights = np.arange(4).reshape(2, 2)
        return np.sum(model.u * np.array([1.0, 3.0])) + np.sum(model.m**2 * weights)
"""
WRITERS = [
    *("copyto", "part", "put", "place", "putmask", "diagonal", "along", "at", "fill", "method"),
    *("out", "returned", "update", "flat", "steps", "elements"),
]


@pytest.mark.parametrize("name", WRITERS)
def test_what_writes_to_an_array_of_an_object(tmp_path: Path, name: str) -> None:
    package = written(tmp_path, HELD)
    check(lambda x: package.total(x, name))

    model = package.Model()  # made before the function is adapted

    def of_model(x: Any) -> Any:
        getattr(model, name)(x)
        return np.sum(model.u * x) + np.sum(model.m * np.outer(x, x))

    slopes = gw.grad(gw.adapting(of_model))(X)
    model = package.Model()
    assert np.allclose(slopes @ X, gw.jvp(gw.adapting(of_model), (X,), (X,))[1])


LEFT = """
    import numpy as np

    class Model:
        def __init__(self):
            self.u, self.v = np.ones(2), np.ones(2)
            self.parts, self.named = [np.ones(2)], {"w": np.ones(2)}

        def first(self, x):
            self.u[0] = x[0] * x[1]
            return self.u.sum()

        def run(self, x):
            self.first(x)
            self.v += x
            np.copyto(self.parts[0], x * x)
            self.named["w"][1] = x[1] ** 3
            return self.u.sum() + self.v.sum() + self.parts[0].sum() + self.named["w"].sum()
"""


def test_an_array_of_integers_holds_the_whole_numbers_of_tracked_ones(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        def fill(x, places, whole):
            places[:] = 10.0 * x
            places[0] = 4.0 * x[0]
            whole[...] = places[:, None] + x
        def run(x):
            places, whole = np.zeros(2, dtype=int), np.empty((2, 2), dtype=np.uint8)
            fill(x + 0.01, places, whole)
            return (places * x).sum() + (whole * x ** 2).sum()
        """,
    )
    check(package.run)
    assert np.allclose(gw.grad(gw.adapting(package.run))(X), [1 + 2 * 0.4 * 14, 13 + 2 * 1.3 * 16])


def test_an_array_that_was_exchanged_is_plain_again_after_the_call(tmp_path: Path) -> None:
    package = written(tmp_path, LEFT)
    model, alike = package.Model(), package.Model()
    expected = [X[1] + 1 + 2 * X[0], X[0] + 1 + 2 * X[1] + 3 * X[1] ** 2]
    for _ in range(2):
        value, slopes = gw.value_and_grad(gw.adapting(lambda x: model.run(x)))(X)
        assert np.isclose(value, alike.run(X))
        assert np.allclose(slopes, expected)
        for one in (model, alike):
            one.kinds = [*map(type, (one.u, one.v, *one.parts, *one.named.values()))]
            one.values = [v.tolist() for v in (one.u, one.v, *one.parts, *one.named.values())]
        assert model.kinds == [np.ndarray] * 4
        assert model.values == alike.values
    _, pullback = gw.vjp(gw.adapting(lambda x: model.run(x)), X)
    model.u[:], model.v[:] = 7.0, 7.0  # the caller's arrays, which no operation has saved
    assert np.allclose(pullback(1.0)[0], expected)
    gw.vmap(gw.grad(gw.adapting(lambda x: model.first(x))))(np.stack([X, 2 * X]))
    assert np.array_equal(model.u, [7.0, 7.0])  # as before: each example has written others


SHARED = """
    import numpy as np

    class Model:
        def __init__(self):
            self.u = np.ones(2)
            self.same = self.u

        def run(self, x):
            np.copyto(self.u, x)
            return self.same.sum()

    MODEL = Model()

    def run(x):
        return MODEL.run(x)
"""


def test_an_array_that_two_names_hold_is_not_exchanged(tmp_path: Path) -> None:
    package = written(tmp_path, SHARED)
    with pytest.raises(gw.errors.OutArgumentError, match=r"np\.copyto into an ndarray"):
        gw.grad(gw.adapting(package.run))(X)


RESIZED = """
    import numpy as np

    def longer(x):
        a = x * x
        a.resize(4, refcheck=False)
        a[2:] = x
        return np.sum(a * np.arange(4))

    def shorter(x):
        a = np.outer(x, x)
        a.resize((1, 3), refcheck=False)
        return np.sum(a * np.arange(3))

    class Recursion:
        def __init__(self, x):
            self.x, self.a = np.array(x), np.array([1.0])

        def run(self):
            for k in range(3):
                self.a.resize(k + 2, refcheck=False)
                self.a[k + 1] = np.sum(self.x ** (k + 1))
                self.a[:-1] *= self.x[0]
            return self.a

    def recursion(x):
        return np.sum(Recursion(x).run() * np.arange(4))
"""


@pytest.mark.parametrize("name", ["longer", "shorter", "recursion"])
def test_arrays_that_change_their_size_in_place(tmp_path: Path, name: str) -> None:
    package = written(tmp_path, RESIZED)
    check(getattr(package, name))
    compiles(getattr(package, name))


def test_sizes_that_cannot_change_in_place() -> None:
    with pytest.raises(ValueError, match="does not own its data"):
        gw.grad(lambda x: (x * 1.0)[:1].resize(2, refcheck=False))(X)
    x: Any = gw.wrap(X, requires_grad=True)
    with pytest.raises(gw.errors.InPlaceError, match="a leaf"):
        x.resize(1, refcheck=False)
    y, view = x * 2.0, None
    with pytest.raises(gw.errors.InPlaceError, match=r"x\.resize\(3\) .*refcheck=False"):
        y.resize(3)
    y.resize(3, refcheck=False)
    view = y[1:]
    view[:] = x
    np.sum(y * np.arange(3.0)).backward()
    np.testing.assert_allclose(x.grad, [1.0, 2.0])


# Compiled -----------------------------------------------------------------------------------------


def compiles(function: Callable[[Any], Any]) -> None:
    under_test = gw.compile(gw.grad(gw.adapting(function)))
    for x in (X, X * 1.1, X[::-1].copy()):
        assert np.allclose(under_test(x), gw.grad(gw.adapting(function))(x))
    assert under_test.programs


def frozen(x: Any) -> Any:
    gamma, normal = stats.gamma(x[0] + 1.0, scale=x[1]), stats.norm(x[0], x[1])
    return gamma.mean() + gamma.pdf(0.7) * normal.logpdf(0.2) + normal.var()


def test_distributions_that_are_frozen_in_each_call_compile() -> None:
    compiles(frozen)


def test_copies_of_a_distribution_with_other_bounds_are_told_apart() -> None:
    ours: Any = importlib.import_module("gradwrap.scipy.stats")
    at = np.array([0.3, 0.7])
    for bound in (3.0, 0.5):
        dist = type(ours.norm)(a=-bound, b=bound, name="norm")
        found = gw.grad(lambda m, d=dist: np.sum(d(m).pdf(at)))(0.1)
        step = np.sum(dist(0.1 + 1e-6).pdf(at) - dist(0.1 - 1e-6).pdf(at)) / 2e-6
        assert np.allclose(found, step, rtol=1e-6)


def test_an_object_of_a_class_that_names_no_module_is_passed_by() -> None:
    unnamed: Any = property(lambda cls: property(lambda self: "compiled"), lambda cls, value: None)
    described: Any = type("Described", (type,), {"__module__": unnamed})
    held: Any = described("Held", (), {"factor": 3.0})()
    assert not isinstance(type(held).__module__, str)
    compiles(lambda x: np.sum(x * x) * (2.0 if callable(held) else 1.0))


def test_a_ufunc_that_scipy_does_not_show_is_imported_by_its_name() -> None:
    special: Any = importlib.import_module("scipy.special")
    compiles(lambda x: np.sum(special.lambertw(x).real * x))


def test_a_new_global_name_does_not_slow_down_the_next_calls(tmp_path: Path) -> None:
    package = written(tmp_path, "def f(x):\n    return float(x[0]) * x[1]\n")
    modules: Any = sys.modules["gradwrap.adaptation.modules"]
    adapted = gw.grad(gw.adapting(package.f))
    adapted(X)
    package.later = 1.0
    adapted(X)
    calls: list[Any] = []
    alone = functools.partial(list.append, calls)
    before = modules._hold
    modules._hold = lambda namespace: (alone(namespace), before(namespace))
    try:
        assert np.array_equal(adapted(X), X[::-1])
    finally:
        modules._hold = before
    assert not calls


def test_stores_are_rewritten_where_each_run_makes_code_anew(tmp_path: Path) -> None:
    source = """
        class Matrix:
            def __init__(self): self.sums = np.zeros(3)
            def fill(self, x): np.add.at(self.sums, [0, 1, 1], x)
        MATRIX = Matrix()
        def run(x):
            names = {}
            exec("def doubled(v): return 2.0 * v", names)
            MATRIX.sums = MATRIX.sums * 0.0
            MATRIX.fill(names["doubled"](x))
            return np.sum(MATRIX.sums**2)
        """
    run = written(tmp_path, source).run
    x = np.array([1.5, 0.25, 2.0])
    wanted = 8.0 * np.array([x[0], x[1] + x[2], x[1] + x[2]])
    for _ in range(2):
        np.testing.assert_allclose(gw.grad(gw.adapting(run))(x), wanted, rtol=1e-14)
