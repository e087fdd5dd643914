"""Caches whose keys are plain numbers or text made of tracked numbers: no gradient is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7])
SQUARES = """
    KEPT = {{}}
    def square(x):
        key = {}
        if key not in KEPT:
            KEPT[key] = x**2
        return KEPT[key]
    def run(x): return square(x[0]) + square(x[1])
    """
KEYS = (
    "int(1000 * x)",
    "int(1000 * x) * 3 + 7",
    "(1, int(np.floor(1000 * x)), 'a')",
    "math.floor(1000 * x)",
    "math.trunc(1000 * x)",
    "np.rint(1000 * x)",
    "(x // 0.001, 2)",
    "(1000 * x).astype(int)",
    "np.searchsorted([0.5, 1.0], x).item()",
    "round(x, 3)",
    "float(np.round(x, 2))",
    "f'{x}'",
    "f'{x:.2f} at {np.round(x, 1)}'",
    "str(x)",
    "'%g' % x",
    "frozenset([int(1000 * x)])",
    "np.round(x, 3).tobytes()",
)
BODIES = {
    "of an object": """
        class Model:
            def __init__(self): self.known = {}
            def square(self, x):
                key = round(1000 * x)
                found = self.known.get(key)
                if found is None:
                    found = self.known[key] = x**2
                return found
        MODEL = Model()
        def run(x): return MODEL.square(x[0]) + MODEL.square(x[1])
        """,
    "a default": """
        def square(x, known={}):
            try:
                return known[int(1e3 * x), "square"]
            except KeyError:
                pass
            known[int(1e3 * x), "square"] = x**2
            return known[int(1e3 * x), "square"]
        def run(x): return square(x[0]) + square(x[1])
        """,
    "a default value": """
        KEPT = {}
        def square(x): return KEPT.setdefault(f"{x:.6f}", x**2)
        def run(x): return square(x[0]) + square(x[1])
        """,
    "a default value that has a name": """
        def square(x, known={}):
            found = known.setdefault((int(1e3 * x), 1), x**2)
            return found + 0
        def run(x): return square(x[0]) + square(x[1])
        """,
    "a decorator": """
        def kept(function):
            cache = {}
            @functools.wraps(function)
            def called(x):
                key = f"{x:.6f}"
                if not key in cache:
                    cache[key] = function(x)
                return cache[key]
            return called
        @kept
        def square(x): return x**2
        def run(x): return square(x[0]) + square(x[1])
        """,
    "a name for an attribute": """
        class Table: pass
        TABLE = Table()
        def square(x):
            try:
                known = TABLE.known
            except AttributeError:
                known = TABLE.known = {}
            key = int(1000 * x)
            if key not in known:
                known[key] = x**2
            return known[key]
        def run(x): return square(x[0]) + square(x[1])
        """,
    "objects": """
        class Squared:
            def __init__(self, x): self.value = x**2
        KEPT = {}
        def square(x):
            key = int(1000 * x)
            if key in KEPT:
                return KEPT[key].value
            made = KEPT[key] = Squared(x)
            return made.value
        def run(x): return square(x[0]) + square(x[1])
        """,
}


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
@pytest.mark.parametrize("source", [*map(SQUARES.format, KEYS), *BODIES.values()])
def test_what_a_plain_call_has_kept_is_computed_again(source: str, tmp_path: Path) -> None:
    package = written(tmp_path, source)
    value = package.run(X)  # fills the cache
    kept = dict(getattr(package, "KEPT", {}))
    adapted = gw.adapting(package.run)
    for _ in range(2):
        found, gradient = gw.value_and_grad(adapted)(X)
        assert np.allclose(found, value, rtol=1e-14)
        np.testing.assert_allclose(gradient, 2 * X, rtol=1e-14)
        forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)]
        np.testing.assert_allclose(forward, 2 * X, rtol=1e-14)
    assert {**getattr(package, "KEPT", {})} == kept
    assert package.run(X) == value
    np.testing.assert_allclose(gw.hessian(adapted)(X), 2 * np.eye(2), rtol=1e-14)


def test_compiled_functions_compute_again_too(tmp_path: Path) -> None:
    package = written(tmp_path, SQUARES.format("int(1000 * x)"))
    package.run(X)
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for _ in range(2):
        np.testing.assert_allclose(compiled(X), 2 * X, rtol=1e-14)


def test_what_does_not_depend_on_such_numbers_is_kept(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        MADE = []
        TABLES = {}
        def table(n):
            if n not in TABLES:
                MADE.append(n)
                TABLES[n] = np.arange(n) * 0.5
            return TABLES[n]
        def run(x): return np.sum(table(2) * x**2)
        """,
    )
    assert package.run(X) == 0.5 * X[1] ** 2
    np.testing.assert_allclose(gw.grad(gw.adapting(package.run))(X), [0.0, X[1]])
    assert package.MADE == [2]


@pytest.mark.parametrize("key", ["f'{x}'", "str(x)", "repr(x)", "f'{x} of 2'", "(1, f'{x:.6f}')"])
def test_text_that_tells_the_number_is_the_key_of_equal_arguments(tmp_path: Path, key: str) -> None:
    body = SQUARES.format(key).replace("square(x[1])", "3.0 * square(x[1])")
    adapted = gw.adapting(written(tmp_path, body).run)
    for _ in range(2):
        np.testing.assert_allclose(gw.grad(adapted)(np.array([1.5, 1.5])), [3.0, 9.0])


@pytest.mark.parametrize("key", ["f'{a}-{b}'", "(a, b)", "int(1e4 * a)"])
def test_a_solver_finds_no_result_of_other_arguments(tmp_path: Path, key: str) -> None:
    package = written(
        tmp_path,
        f"""
        from scipy.optimize import root
        KEPT = {{}}
        def scale(a, b):
            key = {key}
            if key in KEPT:
                return KEPT[key]
            found = a**0.3 + b**0.2
            KEPT[key] = found
            return found
        def run(x):
            return root(lambda r: r**3 + r * scale(x[0], x[1]) - 2.0, 1.0).x[0]
        """,
    )
    r, (a, b) = package.run(X), X
    slopes = [0.3 * a**-0.7, 0.2 * b**-0.8]
    wanted = -r * np.array(slopes) / (3 * r**2 + a**0.3 + b**0.2)
    for _ in range(2):
        np.testing.assert_allclose(gw.grad(gw.adapting(package.run))(X), wanted, rtol=1e-7)
    assert package.run(X) == r


LATER_LOOKS = {
    "by get": "return KEPT.get(key)",
    "by in": "return KEPT[key] if key in KEPT else 0.0",
    "by an attempt": "try: return KEPT[key]\n            except KeyError: return 0.0",
}


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
@pytest.mark.parametrize("looks", LATER_LOOKS.values(), ids=LATER_LOOKS)
def test_a_function_finds_what_it_has_stored_just_now(tmp_path: Path, looks: str) -> None:
    package = written(
        tmp_path,
        f"""
        from scipy.optimize import root
        KEPT = {{}}
        def solved(a):
            assert f"{{a}} and more"  # a message
            return root(lambda r: r**3 + r - a, 1.0).x[0]
        def kept(a):
            key = f'{{a}}'
            if key not in KEPT:
                KEPT[key] = solved(a)
            {looks}
        def run(x):
            return kept(x[0]) + x[1] * kept(x[1])
        """,
    )

    def slope(a: float) -> float:
        r = float(package.solved(a))
        return 1.0 / (3.0 * r * r + 1.0)

    for _ in range(2):
        wanted = [slope(X[0]), package.solved(X[1]) + X[1] * slope(X[1])]
        np.testing.assert_allclose(gw.grad(gw.adapting(package.run))(X), wanted, rtol=1e-6)


def test_a_result_of_this_call_is_found_again(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        """
        COUNT = []
        KEPT = {}
        def cube(x):
            key = int(10 * x)
            if key in KEPT:
                return KEPT[key]
            COUNT.append(1)
            KEPT[key] = x**3
            return KEPT[key]
        def run(x): return sum(cube(x[0]) for _ in range(5)) + cube(x[0] + 0.01)
        """,
    )
    value = package.run(X)
    package.COUNT.clear()
    gradient: Any = gw.grad(gw.adapting(package.run))(X)
    np.testing.assert_allclose(gradient, [6 * 3 * X[0] ** 2, 0.0])  # the key is that of x[0]
    assert sum(package.COUNT) == 1
    assert package.run(X) == value
