"""Views of arrays outside, stores to arrays that a function makes of them, and packages' tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterator

TABLE: Any = np.arange(24.0).reshape(6, 4)
"""A view itself, whose base no variable holds."""
START: Any = np.arange(1.0, 7.0)
X = np.linspace(0.3, 1.4, 6)


def of_a_view(x: Any) -> Any:
    return np.sum(np.column_stack([TABLE[:, 1:3], x]) ** 2 * x[0])


def test_a_view_of_an_array_that_is_a_view_itself_is_read_at_each_call() -> None:
    slope = gw.grad(gw.adapting(of_a_view))
    compiled = gw.compile(slope)
    np.testing.assert_allclose(compiled(X), slope(X))
    TABLE[2, 2] = 17.0
    try:
        np.testing.assert_allclose(compiled(X), slope(X))
        assert len(compiled.programs) == 1
    finally:
        TABLE[2, 2] = 10.0
    np.testing.assert_allclose(compiled(X), slope(X))


def test_another_array_in_its_place_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = gw.grad(gw.adapting(of_a_view))
    compiled = gw.compile(slope)
    before = compiled(X)
    monkeypatch.setattr(f"{__name__}.TABLE", TABLE * 2.0)
    np.testing.assert_allclose(compiled(X), slope(X))
    assert compiled(X)[0] > before[0]


def stored(x: Any) -> Any:
    """Stores to an array that is computed from one outside, which is read in parts before."""
    state = START * 1.0
    state[:3] = state[:3] * x[:3]
    state[4] = state[4] * x[5]
    return np.sum(state**2)


def test_stores_to_an_array_of_which_parts_were_read() -> None:
    slope = gw.grad(gw.adapting(stored))
    compiled = gw.compile(slope)
    for x in (X, X[::-1].copy()):
        wanted = np.zeros(6)
        wanted[:3] = 2 * START[:3] ** 2 * x[:3]
        wanted[5] = 2 * START[4] ** 2 * x[5]
        np.testing.assert_allclose(compiled(x), wanted)
    assert len(compiled.programs) == 1
    START[1] += 5.0
    try:
        np.testing.assert_allclose(compiled(X)[1], 2 * START[1] ** 2 * X[1])
    finally:
        START[1] -= 5.0


def kept_views(x: Any) -> Any:
    """Views of one array that no variable holds, of which two are the same."""
    made = np.arange(12.0)
    rows = [made[3 * k :: 4][:3] for k in range(2)]
    total = np.sum(rows[0] * x[:3]) + np.sum(made[::4] * x[3:])
    made[4] = 50.0
    return total + np.sum(rows[0] * x[:3] ** 2) + np.sum(rows[1] * x[3:])


def test_views_of_an_array_that_is_made_and_changed_in_a_run() -> None:
    def plain(x: Any) -> Any:
        made = np.arange(12.0)
        rows = [made[3 * k :: 4][:3].copy() for k in range(2)]
        total = np.sum(rows[0] * x[:3]) + np.sum(made[::4] * x[3:])
        rows[0][1] = 50.0
        return total + np.sum(rows[0] * x[:3] ** 2) + np.sum(rows[1] * x[3:])

    compiled = gw.compile(gw.grad(gw.adapting(kept_views)))
    for x in (X, X**2):
        np.testing.assert_allclose(compiled(x), gw.grad(plain)(x))


@pytest.fixture
def tables(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A package of a table, and of code that runs."""
    import importlib
    import sys

    site = tmp_path / "site-packages" / "mills"
    site.mkdir(parents=True)
    (site / "__init__.py").write_text("")
    (site / "rates.py").write_text("import numpy as np\nRATES = np.array([0.5, 1.5, 2.5])\n")
    (site / "wheel.py").write_text(
        "import numpy as np\ndef turned(rates):\n    return np.sum(rates ** 2)\n"
    )
    monkeypatch.syspath_prepend(str(site.parent))
    yield importlib.import_module("mills.rates"), importlib.import_module("mills.wheel")
    for name in ("mills", "mills.rates", "mills.wheel"):
        sys.modules.pop(name, None)


def test_a_table_of_a_package_that_a_function_gives_to_its_code(tables: Any) -> None:
    rates, wheel = tables
    compiled = gw.compile(gw.grad(gw.adapting(lambda x: wheel.turned(rates.RATES * x))))
    np.testing.assert_allclose(compiled(X[:3]), 2 * X[:3] * np.array([0.5, 1.5, 2.5]) ** 2)
    assert compiled.programs
    rates.RATES[1] = 4.0
    np.testing.assert_allclose(compiled(X[:3])[1], 32 * X[1])
    rates.RATES = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(compiled(X[:3]), 2 * X[:3] * np.array([1.0, 4.0, 9.0]))


def test_a_package_without_a_file_of_its_own_makes_text(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib
    import sys

    site = tmp_path / "site-packages" / "grains"
    site.mkdir(parents=True)
    (site / "mill.py").write_text(
        "def ground(x, told):\n    told.append(f'{x}: {x.sum()}')\n    return (x ** 3).sum()\n"
    )
    monkeypatch.syspath_prepend(str(site.parent))
    mill = importlib.import_module("grains.mill")
    compiled = gw.compile(gw.grad(gw.adapting(lambda x: mill.ground(x, []))))
    try:
        for x in (X, X + 1.0):
            np.testing.assert_allclose(compiled(x), 3 * x**2)
        assert len(compiled.programs) == 1
    finally:
        for name in ("grains", "grains.mill"):
            sys.modules.pop(name, None)
