"""Functions of adapted packages that get their new code when they are first called."""

from __future__ import annotations

import ast
import importlib
import inspect
import linecache
import threading
import warnings
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.adaptation import modules
from gradwrap.adaptation.later import Later, written
from gradwrap.adaptation.places import rewritings
from gradwrap.adaptation.rewriting import CALLS, Rewriting
from gradwrap.core.observing.caches import caches_in
from gradwrap.errors import TrackedValueError
from packages import written as package_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

X = np.array([0.5, 1.5])
MATRIX = np.array([[2.0, 1.0], [0.5, 3.0]])

KINDS = '''
import functools
import sys
import numpy as np
MATRIX = np.array([[2.0, 1.0], [0.5, 3.0]])

def parameters(only, /, both, *rest, named, other=3.0, **more):
    return MATRIX.dot(only) * both + rest[0] * named + MATRIX.dot(rest[1]) * other + more["last"]

def defaults(x, scale=2.0, *, power=2):
    return scale * MATRIX.dot(x) ** power

def outer(x):
    total = 0.0
    def inner(y):
        nonlocal total
        total = total + np.sum(MATRIX.dot(y))
        return MATRIX.dot(y) * total
    return inner(x) + inner(2.0 * x)

def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **options):
        return MATRIX.dot(function(*args, **options))
    return wrapper

@decorator
def decorated(x):
    return MATRIX.dot(x) ** 2

class Base:
    def __init__(self, x):
        self.x = MATRIX.dot(x)
    def power(self):
        return self.x ** 2

class Outer(Base):
    class Inner(Base):
        __scale = 2.0
        def power(self):
            text = """
a line at the margin
"""
            return MATRIX.dot(super().power()) * self.__scale
        @property
        def square(self):
            return MATRIX.dot(self.x) ** 2
        @staticmethod
        def halved(x):
            return MATRIX.dot(x) / 2
        @classmethod
        def made(cls, x): return cls(MATRIX.dot(x))
    def power(self):
        return MATRIX.dot(self.Inner(self.x).power())

if MATRIX.any():
    def guarded(x):
        return MATRIX.dot(x) ** 2
    chosen = lambda x: MATRIX.dot(x) ** 3
else:
    guarded = None

def generated(x):
    yield MATRIX.dot(x)
    yield MATRIX.dot(x) ** 2

def caller():
    frame = sys._getframe(1)
    return MATRIX.dot(frame.f_locals["x"])

def called(x):
    return caller() ** 2

def table(x): return {"row": MATRIX.dot(x), "squared": (
    MATRIX.dot(x) ** 2
)}["squared"]

def total(x):
    return np.sum(table(x.copy()))

def deep(n, x):
    return MATRIX.dot(x) if n == 0 else deep(n - 1, x) * 0.5
'''


@pytest.fixture
def package(tmp_path: Path) -> Any:
    return package_of(tmp_path, KINDS)


def calls(package: Any) -> list[Any]:
    return [
        lambda x: package.parameters(x, x, x, x, named=x, last=x),
        lambda x: package.parameters(x, 2.0, x, x, named=1.0, other=x[0], last=0.0),
        package.defaults,
        lambda x: package.defaults(x, 3.0, power=3),
        package.outer,
        package.decorated,
        lambda x: package.Base(x).power(),
        lambda x: package.Outer(x).power(),
        lambda x: package.Outer.Inner(x).square,
        package.Outer.Inner.halved,
        lambda x: package.Outer.Inner.made(x).power(),
        package.guarded,
        package.chosen,
        lambda x: sum(package.generated(x)),
        package.called,
        package.table,
        lambda x: package.deep(5, x),
    ]


def functions_of(module: Any) -> Iterator[FunctionType]:
    """Yield the functions of a module and of its classes."""
    waiting = list(vars(module).values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, type) and value.__module__ == module.__name__:
            waiting += list(vars(value).values())
        elif isinstance(value, (staticmethod, classmethod)):
            waiting.append(value.__func__)
        elif isinstance(value, property):
            waiting.append(value.fget)
        elif isinstance(value, FunctionType) and value.__globals__ is vars(module):
            yield value


@pytest.mark.parametrize("number", range(17))
def test_functions_of_all_kinds_are_differentiated_at_their_first_call(
    package: Any, number: int
) -> None:
    plain = calls(package)[number]
    codes = {one: one.__code__ for one in functions_of(package)}
    steps = 1e-6 * np.eye(2)
    wanted = np.array([(np.sum(plain(X + e)) - np.sum(plain(X - e))) / 2e-6 for e in steps])
    with gw.adapted(package):
        found = gw.grad(lambda x: np.sum(plain(x)))(X)
        again = gw.grad(lambda x: np.sum(plain(x)))(X)
    assert np.allclose(found, wanted, rtol=1e-6)
    assert np.array_equal(found, again)
    adapted = gw.grad(gw.adapting(lambda x: np.sum(plain(x))))
    assert np.array_equal(adapted(X), found)
    assert np.array_equal(adapted(X), found)
    assert all(one.__code__ is code for one, code in codes.items())


def test_a_function_that_is_not_called_keeps_its_stub(package: Any) -> None:
    old = package.table.__code__
    with gw.adapted(package):
        stub = package.table.__code__
        assert stub is not old
        assert written(stub) is old
        assert stub.co_filename == old.co_filename
        assert inspect.signature(package.parameters).replace(
            return_annotation=inspect.Signature.empty
        ) == inspect.Signature.from_callable(package.parameters)
        assert str(inspect.signature(package.parameters)) == (
            "(only, /, both, *rest, named, other=3.0, **more)"
        )
        assert inspect.isgeneratorfunction(package.generated)
        assert np.array_equal(package.defaults(X), 2.0 * MATRIX.dot(X) ** 2)  # plain values
        assert package.table.__code__ is stub
    assert package.table.__code__ is old


def test_a_later_call_that_takes_another_branch_is_differentiated(tmp_path: Path) -> None:
    package = package_of(
        tmp_path,
        "import numpy as np\nMATRIX = np.array([[2.0, 1.0], [0.5, 3.0]])\n"
        "def low(x): return MATRIX.dot(x)\n"
        "def high(x): return MATRIX.dot(x) ** 2\n"
        "def f(x): return np.sum(low(x) if x[0] < 1.0 else high(x))\n",
    )
    codes = [one.__code__ for one in (package.low, package.high)]
    gradient = gw.grad(gw.adapting(package.f))
    for _ in range(2):
        assert np.allclose(gradient(X), MATRIX.sum(0))
    for x in (X + 1.0, X, X + 1.0):
        wanted = 2 * MATRIX.T @ (MATRIX @ x) if x[0] > 1.0 else MATRIX.sum(0)
        assert np.allclose(gradient(x), wanted)
        assert [one.__code__ for one in (package.low, package.high)] == codes


def test_threads_that_call_a_function_first_at_once_get_the_same(package: Any) -> None:
    found: list[Any] = []
    barrier = threading.Barrier(6)

    def run() -> None:
        barrier.wait()
        found.append(gw.grad(lambda x: np.sum(package.table(x)))(X))

    with gw.adapted(package):
        threads = [threading.Thread(target=run) for _ in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert len(found) == 6
    assert np.allclose(found, 2 * MATRIX.T @ (MATRIX @ X))


def test_a_stub_that_outlives_the_adaptation_changes_nothing(package: Any) -> None:
    old = package.table.__code__
    with gw.adapted(package):
        stub = package.table.__code__
    later: Any = next(one for one in stub.co_consts if isinstance(one, Later))
    assert later() is package.table
    assert package.table.__code__ is old


def test_a_copy_of_a_function_gets_the_new_code(tmp_path: Path) -> None:
    """The methods of a subclass are copied for the class that stands for it."""
    package = package_of(
        tmp_path,
        "import numpy as np\nclass Field(np.ndarray):\n"
        "    def __new__(cls, x): return np.asarray(x).view(cls)\n"
        "    def scaled(self):\n        return self.copy() * np.array([2.0, 1.0]).copy()\n"
        "def f(x): return np.sum(np.asarray(Field(x).scaled()))\n",
    )
    found = gw.grad(gw.adapting(package.f))(X)
    assert np.allclose(found, [2.0, 1.0])


def test_a_failing_function_fails_with_its_own_error(tmp_path: Path) -> None:
    package = package_of(
        tmp_path,
        "import numpy as np\ndef f(x):\n    x.copy()\n    raise KeyError('mine')\n",
    )
    with pytest.raises(KeyError, match="mine"):
        gw.grad(gw.adapting(package.f))(X)


MODULES = (
    "numpy.polynomial.chebyshev",
    "scipy.stats._stats_py",
    "scipy.signal._signaltools",
    "scipy.optimize._optimize",
    "scipy.integrate._ivp.base",
    "scipy.spatial._spherical_voronoi",
    "argparse",
    "typing",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_lines_of_a_function_give_what_all_of_the_source_gives(name: str) -> None:
    pytest.importorskip("scipy")
    module: Any = importlib.import_module(name)
    names = vars(module)
    alone, whole = Rewriting(names), Rewriting(names)
    codes = [one.__code__ for one in functions_of(module)]
    codes = [one for one in codes if one.co_filename == module.__file__]  # some are of decorators
    olds = [one for one in codes if alone.needs(one) and whole.needs(one)]
    source = "".join(linecache.getlines(str(module.__file__)))
    assert whole.write(source, olds)
    for old in olds:
        assert alone.code_of(old) in (whole.found[old], None)
        assert (alone.code_of(old) is None) == (whole.found[old] == old)


def test_most_functions_are_written_from_their_own_lines() -> None:
    pytest.importorskip("scipy")
    module: Any = importlib.import_module("scipy.stats._stats_py")
    codes = Rewriting(vars(module))
    olds = [one.__code__ for one in functions_of(module) if codes.needs(one.__code__)]
    sources: list[int] = []
    write = codes.write

    def noted(source: str, *args: Any) -> bool:
        sources.append(len(source.strip()))
        return write(source, *args)

    codes.write = noted  # type: ignore[method-assign, assignment]  # it notes
    for old in olds:
        codes.code_of(old)
    whole = len("".join(linecache.getlines(str(module.__file__))).strip())
    assert len(olds) > 30
    assert sum(one > whole / 2 for one in sources) <= 1
    assert len(sources) >= 0.9 * len(olds)


@pytest.mark.parametrize(
    "lines",
    [
        ("rest = parts[1:]", "if rest is None:", "    parts = ()"),
        ("rest = parts[..., 1:]", "if not rest:", "    parts = ()"),
        ("try:", "    rest = parts[1:]", "except KeyError:", "    parts = ()"),
    ],
)
def test_slices_are_no_keys_of_caches(lines: tuple[str, ...]) -> None:
    source = "\n    ".join(("def f(parts):", *lines, "return parts"))
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    assert caches_in(function) == set()


def test_warnings_of_the_source_are_not_shown_again(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = package_of(
            tmp_path,
            "import numpy as np\ndef f(x):\n    if x is 1: return x\n    return np.sum(x.copy())\n",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(gw.grad(gw.adapting(package.f))(X), 1.0)


def test_the_second_call_exchanges_all_names_at_once(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The given function is in its own namespace and in that of its module."""
    gradient = gw.grad(gw.adapting(package.total))
    for _ in range(2):
        gradient(X)
    one_by_one: list[Any] = []
    monkeypatch.setattr(modules, "hold", one_by_one.append)
    monkeypatch.setattr(modules, "release", one_by_one.append)
    assert np.allclose(gradient(X), 2 * MATRIX.T @ (MATRIX @ X))
    assert one_by_one == []


def test_a_name_that_got_another_value_between_calls_keeps_it(package: Any) -> None:
    """An equal object is no exception: the second call compares all names at once."""
    gradient = gw.grad(gw.adapting(package.total))
    wanted = 2 * MATRIX.T @ (MATRIX @ X)
    for _ in range(2):
        assert np.allclose(gradient(X), wanted)
    other: Any = type("Namespace", (), {name: getattr(np, name) for name in ("sum", "array")})
    package.np = other
    assert np.allclose(gradient(X), wanted)
    assert package.np is other
    package.np = np.array([1.0, 2.0])  # whose comparison gives no truth
    with pytest.raises(TrackedValueError, match="index"):
        gradient(X)
    assert package.np.shape == (2,)
    package.np = np
    package.isinstance = isinstance  # a name that the adaptation adds
    assert np.allclose(gradient(X), wanted)
    assert package.isinstance is isinstance
    del package.isinstance
    assert np.allclose(gradient(X), wanted)
    assert "isinstance" not in vars(package)


def test_the_code_that_one_thread_has_made_is_that_of_all(package: Any) -> None:
    """Otherwise the end of the adaptation would not know the code in its place."""
    old = package.table.__code__
    both = threading.Barrier(2)
    codes = Rewriting(vars(package))
    assert codes.needs(old)

    def make(code: Any) -> Any:
        both.wait()
        return Rewriting.code_of(codes, code).replace()  # type: ignore[union-attr]  # it is code

    later = Later(package.table, make)
    later.content = later.stub
    threads = [threading.Thread(target=package.table, args=(X,)) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert package.table.__code__ is later.code
    assert later.content is later.stub
    later.content = old
    assert package.table.__code__ is old


def test_the_whole_source_is_read_once_for_all_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of code that its own lines do not give, such as that of pytest's asserts."""
    source = "".join(f"def f{n}(x):\n    x[{n}] = 2 * x[0]\n    return x\n" for n in range(5))
    module = package_of(tmp_path, source)
    file = tmp_path / f"{module.__name__}.py"
    changed = file.read_text().replace("2 *", "3 *")
    file.write_text(changed)
    linecache.checkcache()
    read: list[str] = []
    write = Rewriting.write

    def counted(self: Rewriting, text: str, *args: Any) -> bool:
        read.append(text)
        return write(self, text, *args)

    monkeypatch.setattr(Rewriting, "write", counted)
    assert rewritings(vars(module), [], CALLS) == []
    assert read.count(changed) == 1
    assert len(read) == 1 + 5
