"""What packages read by computed names and out of tables is watched, and no more than that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from packages import installed, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([0.5, 1.5])
UNITS = """
    import copy
    import sys
    import types

    class Unit:
        offset = 0.0
        def __init__(self, name, scale):
            self.name, self.scale, self.aliases = name, scale, [name, name.upper()]
            self.parts, self.powers = [self], [1.0]
        def __eq__(self, other): return True
        def __hash__(self): return hash(self.name)
        def of(self, x): return x * self.scale * self.parts[0].powers[0] + self.offset
        def read(self, name): return self.__dict__[name]

    class Other(Unit):
        def of(self, x): return 3.0 * x

    ALL = [Unit(f"u{n}", 1.0 + n) for n in range(2500)]
    globals().update({one.name: one for one in ALL})
    BY_NAME = {one.name: one for one in ALL}
    BY_KIND = {n: set(ALL[50 * n : 50 * n + 50]) for n in range(50)}
    PAIR = [[u1, u2], [u3, u4]]
    NAMED = types.SimpleNamespace(first=u5, power=2.0)
    SMALL = types.ModuleType("small")
    SMALL.rate = 2.0
    this = sys.modules[__name__]
    WHICH = ["u", 7]

    def asked(x):
        return getattr(this, WHICH[0] + str(WHICH[1])).of(x)
    def missing(x):
        return x * (getattr(this, "".join(["ex", "tra"]), None) or 2.0)
    def tested(x):
        return x * (3.0 if hasattr(this, "".join(["ex", "tra"])) else 2.0)
    def by_table(x):
        return BY_NAME["u8"].of(x)
    def by_kind(x):
        return x * len(BY_KIND[3])
    def pairs(x):
        return x * len(PAIR[0]) + PAIR[1][0].of(x)
    def opened(x):
        return x * vars(NAMED)["po" + "wer"]
    def of_object(x):
        return x * u9.read("sc" + "ale")
    def read_in(module, name):
        return module.__dict__[name]
    def of_module(x):
        return x * read_in(SMALL, "ra" + "te")
    def copied(x):
        return copy.deepcopy(NAMED).power * x
    def run(x):
        every = asked(x) + missing(x) + tested(x) + by_table(x) + by_kind(x) + pairs(x)
        return np.sum((every + opened(x) + of_object(x) + of_module(x) + copied(x)) ** 2)
"""


def changed_key(package: Any) -> None:
    package.BY_NAME["u8"], package.BY_NAME["u9"] = package.BY_NAME["u9"], package.BY_NAME["u8"]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "an attribute": lambda p: setattr(p.u7, "scale", 3.5),
    "an item of an attribute": lambda p: p.u7.powers.__setitem__(0, 2.0),
    "a variable asked for": lambda p: setattr(p, "u7", p.u6),
    "the text of a name": lambda p: p.WHICH.__setitem__(1, 6),
    "a variable that was missing": lambda p: setattr(p, "extra", 5.0),
    "an attribute that hides another": lambda p: setattr(p.u7, "offset", 1.0),
    "an attribute of a class": lambda p: setattr(p.Unit, "offset", 1.0),
    "a method": lambda p: setattr(p.Unit, "of", p.Other.of),
    "a class": lambda p: setattr(p.u7, "__class__", p.Other),
    "an equal entry of a table": lambda p: p.BY_NAME.update(u8=p.u6),
    "two entries exchanged": changed_key,
    "an item of a set in a table": lambda p: p.BY_KIND[3].pop(),
    "an item that moves": lambda p: p.PAIR[1].insert(0, p.PAIR[0].pop()),
    "an attribute by vars": lambda p: setattr(p.NAMED, "power", 3.0),
    "an attribute by __dict__": lambda p: setattr(p.u9, "scale", 3.0),
    "a variable by __dict__": lambda p: setattr(p.SMALL, "rate", 3.0),
}


def wanted(package: Any, x: Any) -> Any:
    return np.array([(package.run(x + e) - package.run(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)])


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_what_is_read_is_noticed(tmp_path: Path, change: Callable[[Any], Any]) -> None:
    package = installed(tmp_path, UNITS)
    compiled = gw.compile(gw.grad(gw.adapting(lambda x: package.run(x))))
    before = compiled(X)
    assert np.allclose(before, wanted(package, X), rtol=1e-5)
    made = compiled.programs
    package.u2000.scale = 0.0  # which nothing reads
    assert np.array_equal(compiled(X), before)
    assert compiled.programs == made
    change(package)
    assert not np.allclose(wanted(package, X), before, rtol=1e-3)
    for _ in range(2):
        assert np.allclose(compiled(X), wanted(package, X), rtol=1e-5)
    assert compiled.programs != made


def test_a_name_that_another_branch_asks_for_is_watched(tmp_path: Path) -> None:
    package = installed(
        tmp_path,
        UNITS
        + """
    def run(x):
        return np.sum(getattr(this, "u" + ("7" if x[0] > 0 else "8")).of(x) ** 2)
        """,
    )
    compiled = gw.compile(gw.grad(gw.adapting(lambda x: package.run(x))))
    for x in (X, -X, X, -X):
        assert np.allclose(compiled(x), wanted(package, x), rtol=1e-5)
    package.u8.scale = 2.0
    for x in (X, -X):
        assert np.allclose(compiled(x), wanted(package, x), rtol=1e-5)


def test_code_of_the_user_may_compute_names_of_a_package(tmp_path: Path) -> None:
    package = installed(tmp_path, UNITS)

    def measure(name: str) -> Any:
        return lambda x: np.sum(getattr(package, name).of(x) ** 2)

    compiled = gw.compile(gw.grad(gw.adapting(measure("u3"))))
    assert np.allclose(compiled(X), 32 * X)
    package.u3 = package.u1
    assert np.allclose(compiled(X), 8 * X)
    package.u1.scale = 1.0
    assert np.allclose(compiled(X), 2 * X)


LOOKING = """
    import operator
    class Box:
        def __init__(self, x): self.x, self.y = x, 2.0
        def __getattr__(self, name): return self.x if name == "late" else self.missing_of(name)
        def missing_of(self, name): raise AttributeError(f"no {name}")
    def run(x):
        box, parts = Box(x), []
        y = 3.0
        parts.append(getattr(box, "late") * vars()["y"])
        parts.append(getattr(box, "absent", box.x) * vars(box)["y"])
        parts += [getattr(x[0], "item")() * getattr(x, "shape")[0]]
        parts += map(getattr, [box], ["x"])
        try:
            getattr(x, "no_such_name")
        except AttributeError as error:
            assert "no_such_name" in str(error)
        try:
            getattr(box, 1)
        except TypeError:
            return sum(np.sum(part**2) for part in parts)
"""


def test_getattr_and_vars_do_what_pythons_do(tmp_path: Path) -> None:
    package = written(tmp_path, LOOKING)
    for function in (gw.adapting(package.run), gw.compile(gw.adapting(package.run))):
        assert np.allclose(function(X), package.run(X))
    assert np.allclose(gw.grad(gw.adapting(package.run))(X), wanted(package, X), rtol=1e-5)
