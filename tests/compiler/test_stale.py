"""A compiled function is never stale: what changes outside is noticed at the next call.

Each case makes a function and yields it, and then changes something; the results of the calls after
each change are those of the function itself. A call may run eagerly, but never give an old answer.
"""

from __future__ import annotations

import builtins
import ctypes
import datetime as dt
import decimal
import fractions
import functools
import importlib
import io
import os
import sys
import tempfile
import threading
import types
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.observing import code
from gradwrap.errors import CompileWarning, VmapFallbackWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Case = Callable[[], Iterator[Any]]

pytestmark = pytest.mark.unverified  # the quick way is to see what changes, as users' calls do
X = np.linspace(0.2, 1.5, 4)
SCALE = 2.0
OUTSIDE: Any = globals()
module_of_numpy = np


class Base:
    rate = 2.0

    def act(self, x: Any) -> Any:
        return x * self.rate

    def step(self, x: Any) -> Any:
        return np.tanh(self.act(x))


class Other(Base):
    rate = 5.0


def twice(x: Any) -> Any:
    return x * 2.0


def thrice(x: Any) -> Any:
    return x * 3.0


def a_child() -> tuple[Any, Any]:
    """A new subclass of `Base`, and an object of it."""
    kind: Any = type("Child", (Base,), {})
    return kind, kind()


# Classes and objects ------------------------------------------------------------------------------


def a_subclass_hides_an_attribute() -> Iterator[Any]:
    kind, child = a_child()
    yield child.step
    kind.rate = 9.0
    yield
    del kind.rate
    yield


def a_subclass_hides_a_method() -> Iterator[Any]:
    kind, child = a_child()
    yield lambda x: child.step(x)
    kind.act = lambda _, x: x * 7.0
    yield


def a_method_is_patched() -> Iterator[Any]:
    kind, child = a_child()
    yield child.step
    with mock.patch.object(kind, "act", lambda _, x: x * 4.0):
        yield
    yield


def a_method_of_the_base_is_patched() -> Iterator[Any]:
    _, child = a_child()
    yield child.step
    with mock.patch.object(Base, "act", lambda _, x: x * 4.0):
        yield
    yield


def an_object_changes_its_class() -> Iterator[Any]:
    _, child = a_child()
    yield child.step
    child.__class__ = Other
    yield


def a_class_changes_its_bases() -> Iterator[Any]:
    class First:
        rate = 3.0

    class Second:
        rate = 4.0

    class Holder(First):
        pass

    holder = Holder()
    yield lambda x: x * holder.rate
    Holder.__bases__ = (Second,)
    yield


def a_property_hides_an_attribute() -> Iterator[Any]:
    kind, child = a_child()
    child.rate = 3.0
    yield child.step
    kind.rate = property(lambda _: 6.0)
    yield


def an_attribute_appears() -> Iterator[Any]:
    _, child = a_child()
    yield lambda x: x * getattr(child, "extra", 1.0)
    child.extra = 4.0
    yield
    del child.extra
    yield


def an_attribute_appears_on_the_class() -> Iterator[Any]:
    kind, child = a_child()
    yield lambda x: x * 3.0 if hasattr(child, "extra") else x
    kind.extra = True
    yield


def an_operator_appears() -> Iterator[Any]:
    kind, child = a_child()

    def f(x: Any) -> Any:
        try:
            return x * float(len(child))
        except TypeError:
            return x

    yield f
    kind.__len__ = lambda _: 3
    yield


def a_slot_is_filled() -> Iterator[Any]:
    class Slotted:
        __slots__ = ("rate",)

    slotted: Any = Slotted()
    yield lambda x: x * getattr(slotted, "rate", 1.0)
    slotted.rate = 3.0
    yield


def a_descriptor_changes() -> Iterator[Any]:
    kind, child = a_child()
    kind.total = property(lambda s: s.rate * 2.0)
    yield lambda x: x * child.total
    kind.total = property(lambda s: s.rate * 5.0)
    yield
    kind.rate = 0.5
    yield


def a_metaclass_changes() -> Iterator[Any]:
    class Meta(type):
        rate = 2.0

    class Made(metaclass=Meta):
        pass

    made: Any = Made
    yield lambda x: x * made.rate
    Meta.rate = 3.0
    yield
    made.rate = 4.0
    yield


# Functions ----------------------------------------------------------------------------------------


def own_code_is_exchanged() -> Iterator[Any]:
    def f(x: Any) -> Any:
        return x * 2.0

    yield f
    f.__code__ = thrice.__code__
    yield


def code_of_a_helper_is_exchanged() -> Iterator[Any]:
    def helper(x: Any) -> Any:
        return x * 2.0

    yield lambda x: helper(x) + 1.0
    helper.__code__ = thrice.__code__
    yield


def code_of_a_method_is_exchanged() -> Iterator[Any]:
    class Model:
        def act(self, x: Any) -> Any:
            return x * 2.0

        def more(self, x: Any) -> Any:
            return x * 5.0

    model = Model()
    yield lambda x: model.act(x)
    Model.act.__code__ = Model.more.__code__
    yield


def defaults_are_exchanged() -> Iterator[Any]:
    def f(x: Any, c: float = 2.0, *, d: float = 1.0) -> Any:
        return x * c + d

    yield f
    f.__defaults__ = (3.0,)
    yield
    f.__kwdefaults__ = {"d": 4.0}
    yield


def a_function_gets_an_attribute() -> Iterator[Any]:
    def f(x: Any) -> Any:
        try:
            return x * f.rate  # type: ignore[attr-defined]  # it comes later
        except AttributeError:
            return x

    yield f
    f.rate = 3.0  # type: ignore[attr-defined]  # a function takes any
    yield


def a_helper_gets_an_attribute() -> Iterator[Any]:
    def helper(x: Any) -> Any:
        return x

    yield lambda x: helper(x) * getattr(helper, "rate", 1.0)
    helper.rate = 3.0  # type: ignore[attr-defined]  # what people write
    yield


def words_of_a_partial_change() -> Iterator[Any]:
    partial = functools.partial(lambda x, c: x * c, c=2.0)
    yield partial
    partial.keywords["c"] = 3.0
    yield


def a_closure_is_filled_later() -> Iterator[Any]:
    def make() -> tuple[Any, Any]:
        def f(x: Any) -> Any:
            try:
                return x * value
            except NameError:
                return x

        if SCALE < 0.0:  # never: the name is bound later
            value = 1.0

        def fill(given: float) -> None:
            nonlocal value
            value = given

        return f, fill

    f, fill = make()
    yield f
    fill(3.0)
    yield


# Names --------------------------------------------------------------------------------------------


def a_name_is_defined_later() -> Iterator[Any]:
    def f(x: Any) -> Any:
        try:
            return x * LATER  # type: ignore[name-defined]  # what people write
        except NameError:
            return x

    yield f
    OUTSIDE["LATER"] = 4.0
    yield
    del OUTSIDE["LATER"]
    yield


def a_global_is_asked_for_by_word() -> Iterator[Any]:
    yield lambda x: x * globals().get("FLAG", 1.0)
    OUTSIDE["FLAG"] = 4.0
    yield
    del OUTSIDE["FLAG"]
    yield


def a_global_hides_a_builtin() -> Iterator[Any]:
    yield lambda x: x * max(2.0, 3.0)
    OUTSIDE["max"] = min
    yield
    del OUTSIDE["max"]
    yield


def a_builtin_is_patched() -> Iterator[Any]:
    yield lambda x: x * sum([1.0, 2.0])
    with mock.patch.object(builtins, "sum", return_value=7.0):
        yield
    yield


def a_builtin_is_added() -> Iterator[Any]:
    def f(x: Any) -> Any:
        try:
            return x * rate_of_all  # type: ignore[name-defined]  # what people write
        except NameError:
            return x

    yield f
    with mock.patch.object(builtins, "rate_of_all", 3.0, create=True):
        yield
    yield


def a_variable_holds_another_module() -> Iterator[Any]:
    yield lambda x: module_of_numpy.sin(x)
    OUTSIDE["module_of_numpy"] = types.SimpleNamespace(sin=np.cos)
    yield
    OUTSIDE["module_of_numpy"] = np
    yield


def a_module_is_replaced() -> Iterator[Any]:
    first: Any = types.ModuleType("a_module_of_rates")
    other: Any = types.ModuleType("a_module_of_rates")
    first.rate, other.rate = 2.0, 5.0

    def f(x: Any) -> Any:
        import a_module_of_rates  # type: ignore[import-not-found]  # what people write

        return x * a_module_of_rates.rate

    with mock.patch.dict(sys.modules, a_module_of_rates=first):
        yield f
        first.rate = 3.0
        yield
        sys.modules["a_module_of_rates"] = other
        yield
        other.rate = 6.0
        yield


def a_module_comes_to_exist() -> Iterator[Any]:
    made: Any = types.ModuleType("a_module_to_come")
    made.rate = 5.0

    def f(x: Any) -> Any:
        try:
            import a_module_to_come  # type: ignore[import-not-found]  # not yet
        except ImportError:
            return x
        return x * a_module_to_come.rate

    yield f
    with mock.patch.dict(sys.modules, a_module_to_come=made):
        yield
    yield


def a_module_gets_a_name() -> Iterator[Any]:
    made: Any = types.ModuleType("a_module_of_the_users")
    yield lambda x: x * getattr(made, "rate", 1.0)
    made.rate = 3.0
    yield


def an_object_of_a_list_gets_an_attribute() -> Iterator[Any]:
    class Weights(list[float]):
        rate = 2.0

    weights = Weights([1.0, 2.0])
    yield lambda x: x * sum(weights) * weights.rate
    weights.rate = 7.0
    yield
    weights.append(3.0)
    yield


def code_without_a_module() -> Iterator[Any]:
    scope: dict[str, Any] = {}
    exec(  # noqa: S102  as templates and other generators of code do
        "class Box:\n    rate = 2.0\n    def act(self, x): return x * self.rate * SCALE\n"
        "box, SCALE = Box(), 3.0\ndef f(x): return box.act(x) * globals().get('FLAG', 1.0)",
        scope,
    )
    yield scope["f"]
    scope["SCALE"] = 5.0
    yield
    scope["Box"].rate = 7.0
    yield
    scope["FLAG"] = 4.0
    yield


def a_module_with_the_name_of_one_of_pythons() -> Iterator[Any]:
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(sys, "path", [folder, *sys.path]),
    ):
        Path(folder, "this.py").write_text("K = 2.0\ndef f(x): return x * K\n")
        with mock.patch.dict(sys.modules), mock.patch.object(sys, "path", [folder, *sys.path]):
            sys.modules.pop("this", None)
            code.is_installed.cache_clear()
            module: Any = importlib.import_module("this")
            yield lambda x: module.f(x)
            module.K = 5.0
            yield
    code.is_installed.cache_clear()


# State of other kinds -----------------------------------------------------------------------------


def a_cache_is_cleared() -> Iterator[Any]:
    @functools.lru_cache
    def cached(n: int) -> float:
        return SCALE * n

    yield lambda x: x * cached(3)
    OUTSIDE["SCALE"] = 5.0
    yield
    cached.cache_clear()
    yield
    OUTSIDE["SCALE"] = 2.0
    cached.cache_clear()
    yield


def a_variable_of_the_thread() -> Iterator[Any]:
    local = threading.local()
    local.rate = 2.0
    yield lambda x: x * local.rate
    local.rate = 3.0
    yield
    local.more = 3.0
    yield


def a_number_of_c() -> Iterator[Any]:
    number = ctypes.c_double(2.0)
    yield lambda x: x * number.value
    number.value = 3.0
    yield


def an_array_of_c() -> Iterator[Any]:
    numbers = (ctypes.c_double * 3)(1.0, 2.0, 3.0)
    yield lambda x: x * numbers[1]
    numbers[1] = 5.0
    yield


def precision_of_decimals() -> Iterator[Any]:
    with decimal.localcontext() as context:
        yield lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3))
        context.prec = 3
        yield
        context.rounding = decimal.ROUND_UP
        yield


def a_variable_of_the_environment() -> Iterator[Any]:
    name = "GRADWRAP_TEST_STALE"
    try:
        yield lambda x: x * float(os.environ.get(name, "1"))
        os.environ[name] = "2"
        yield
        os.environ[name] = "3"
        yield
    finally:
        os.environ.pop(name, None)


def handling_of_errors() -> Iterator[Any]:
    yield lambda x: x * len(np.geterr()["divide"])
    with np.errstate(divide="print"):
        yield


def the_working_directory() -> Iterator[Any]:
    before = Path.cwd()
    try:
        yield lambda x: x * len(os.getcwd())  # noqa: PTH109  it is the subject
        os.chdir("/")
        yield
    finally:
        os.chdir(before)


class Tomorrow(dt.date):
    """A date class whose today is the day after."""

    @classmethod
    def today(cls) -> Any:
        return dt.datetime.now(dt.UTC).date() + dt.timedelta(days=1)


def the_date() -> Iterator[Any]:
    yield lambda x: x * dt.date.today().toordinal()  # noqa: DTZ011  it is the subject
    with mock.patch.object(dt, "date", Tomorrow):
        yield


def how_arrays_are_printed() -> Iterator[Any]:
    yield lambda x: x * np.get_printoptions()["precision"]
    with np.printoptions(precision=3):
        yield


def a_file() -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rate")
        path.write_text("2.0")
        yield lambda x: x * float(path.read_text())
        path.write_text("30.0")
        yield
        path.unlink()
        Path(folder, "other").write_text("4.0")
        Path(folder, "other").rename(path)
        yield


def a_table_in_a_file() -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.txt")
        np.savetxt(path, np.arange(4.0))
        yield lambda x: x * np.loadtxt(path)
        np.savetxt(path, 1.0 + np.arange(4.0))
        yield


def a_file_that_comes_to_exist() -> Iterator[Any]:
    def rate(path: Path) -> float:
        try:
            return float(path.read_text())
        except FileNotFoundError:
            return 1.0

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rate")
        yield lambda x: x * rate(path)
        path.write_text("2.0")
        yield


def files_of_a_folder() -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        yield lambda x: x * (1.0 + len([*Path(folder).iterdir()]))
        Path(folder, "one").touch()
        yield


def parameters_of_a_distribution() -> Iterator[Any]:
    means = np.zeros(4)
    stats: Any = importlib.import_module("scipy.stats")
    frozen = stats.norm(means, scale=2.0)
    yield lambda x: frozen.logpdf(x)
    means[1] = 1.0
    yield
    frozen.kwds["scale"] = 3.0
    yield
    frozen.args = (np.ones(4),)
    yield
    frozen.dist = stats.cauchy
    yield


def a_mask() -> Iterator[Any]:
    masked: Any = np.ma.array(np.ones(4), mask=[False, False, True, False])
    yield lambda x: x * masked.filled()
    masked.fill_value = 5.0
    yield
    masked.mask[0] = True
    yield
    masked.mask = np.ma.nomask
    yield


def coefficients_of_a_model() -> Iterator[Any]:
    models: Any = importlib.import_module("sklearn.linear_model")
    model = models.LinearRegression().fit(np.eye(3), np.arange(3.0))
    yield lambda x: x * model.coef_[0]
    model.coef_ = np.arange(3.0) + 7.0
    yield
    model.coef_[0] = 1.0
    yield


def a_function_of_a_vectorized_one() -> Iterator[Any]:
    def once(one: Any) -> Any:
        return 2.0 * one

    def more(one: Any) -> Any:
        return 3.0 * one

    vectorized: Any = np.vectorize(once)

    def called(x: Any) -> Any:
        return vectorized(x)

    yield gw.adapting(called)
    once.__code__ = more.__code__
    yield
    vectorized.pyfunc = lambda one: 4.0 * one
    yield


def permission_to_write() -> Iterator[Any]:
    weights = np.ones(4)
    yield lambda x: x * (2.0 if weights.flags.writeable else 3.0)
    weights.flags.writeable = False
    yield


CASES: list[Case] = [
    a_subclass_hides_an_attribute, a_subclass_hides_a_method, a_method_is_patched,
    a_method_of_the_base_is_patched, an_object_changes_its_class, a_class_changes_its_bases,
    a_property_hides_an_attribute, an_attribute_appears, an_attribute_appears_on_the_class,
    an_operator_appears, a_slot_is_filled, a_descriptor_changes, a_metaclass_changes,
    own_code_is_exchanged, code_of_a_helper_is_exchanged, code_of_a_method_is_exchanged,
    defaults_are_exchanged, a_function_gets_an_attribute, a_helper_gets_an_attribute,
    words_of_a_partial_change, a_closure_is_filled_later, a_name_is_defined_later,
    a_global_is_asked_for_by_word, a_global_hides_a_builtin, a_builtin_is_patched,
    a_builtin_is_added, a_variable_holds_another_module, a_module_is_replaced,
    a_module_comes_to_exist, a_module_gets_a_name, a_cache_is_cleared, a_variable_of_the_thread,
    a_number_of_c, an_array_of_c, precision_of_decimals, permission_to_write,
    a_variable_of_the_environment, handling_of_errors, the_working_directory, the_date,
    an_object_of_a_list_gets_an_attribute, code_without_a_module, how_arrays_are_printed,
    a_file, a_table_in_a_file, a_file_that_comes_to_exist, files_of_a_folder,
    parameters_of_a_distribution, a_mask, coefficients_of_a_model, a_function_of_a_vectorized_one,
    a_module_with_the_name_of_one_of_pythons,
]  # fmt: skip
FORMS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda f: f,
    "grad": lambda f: gw.grad(lambda x: np.sum(np.sin(f(x)))),
    "vmap(grad)": lambda f: lambda x: gw.vmap(gw.grad(lambda x: np.sum(np.sin(f(x)))))(x[None]),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_what_changes_outside_is_noticed(case: Case, form: str, engine: str) -> None:
    steps = case()
    function = FORMS[form](next(steps))
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        warnings.simplefilter("ignore", VmapFallbackWarning)
        for _ in range(3):
            np.testing.assert_allclose(compiled(X), function(X), 1e-13, 1e-13)
        before = function(X)
        is_seen = False
        for _ in steps:
            for _ in range(3):
                wanted = function(X)
                is_seen |= not np.array_equal(wanted, before)
                np.testing.assert_allclose(compiled(X), wanted, 1e-13, 1e-13)
    assert is_seen  # else the case has changed nothing


def test_functions_that_open_files_are_given_back(tmp_path: Path) -> None:
    path = tmp_path / "rate"
    path.write_text("2.0")
    before = (builtins.open, io.open, os.listdir, os.scandir)
    inside: list[Any] = []

    def read(x: Any) -> Any:
        inside.append(builtins.open)
        with open(file=path, encoding="utf-8") as file:  # noqa: PTH123  it is the subject
            rate = float(file.read())
        if rate < 0.0:
            raise ValueError("negative")
        return x * rate

    compiled = gw.compile(read)
    np.testing.assert_array_equal(compiled(X), 2.0 * X)
    path.write_text("-3.0")
    with pytest.raises(ValueError, match="negative"):
        compiled(X)
    assert any(one is not builtins.open for one in inside)
    assert (builtins.open, io.open, os.listdir, os.scandir) == before


def test_what_another_tool_puts_in_the_place_of_open_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rate"
    path.write_text("2.0")
    holder: Any = builtins

    def others(*args: Any, **kwargs: Any) -> Any:
        return io.open(*args, **kwargs)  # noqa: UP020  it is the subject

    monkeypatch.setattr(builtins, "open", builtins.open)  # it is restored after the test

    def read(x: Any) -> Any:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  it is the subject
            rate = float(file.read())
        holder.open = others
        return x * rate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        np.testing.assert_array_equal(gw.compile(read)(X), 2.0 * X)
    assert builtins.open is others


# Arguments ----------------------------------------------------------------------------------------


class Tagged(str):  # noqa: SLOT000  it has attributes
    tag = 1.0


class Real(float):
    pass


class Whole(int):
    pass


def tagged(tag: float) -> Any:
    made: Any = Tagged("same")
    made.tag = tag
    return made


def named(value: Any) -> int:
    """The length of the name of a value's class."""
    return len(type(value).__name__)


UTC = dt.UTC
EAST = dt.timezone(dt.timedelta(hours=2))
ALIKE: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "zones": (
        lambda x, d: x * d.hour,
        [dt.datetime(2020, 1, 1, 12, tzinfo=UTC), dt.datetime(2020, 1, 1, 14, tzinfo=EAST)],
    ),
    "decimals": (lambda x, d: x * len(str(d)), [decimal.Decimal("1.0"), decimal.Decimal("1.00")]),
    "ranges": (lambda x, r: x * (1 + r.start), [range(0), range(1, 1), range(1, 1, 2)]),
    "strings": (lambda x, s: x * getattr(s, "tag", 0.5), [tagged(1.0), tagged(2.0), "same"]),
    "zeros": (
        lambda x, v: x * np.copysign(2.0, float(v)),
        [Real(-0.0), Real(0.0), -0.0, 0.0, Whole(0), 0],
    ),
    "kinds": (
        lambda x, v: x * named(v),
        [1, True, 1.0, 1 + 0j, Whole(1), Real(1.0), fractions.Fraction(1), np.float64(1.0)],
    ),
    "keys": (lambda x, d: x * named(next(iter(d))), [{1: 2.0}, {True: 2.0}, {1.0: 2.0}]),
    "nests": (lambda x, v: x * named(v[0]), [(1,), (True,), (1.0,), [1], [True]]),
    "slices": (lambda x, s: x * named(s.start), [slice(1), slice(True, 1), slice(1, 1)]),
    "sets": (lambda x, s: x * named(min(s)), [frozenset({1}), frozenset({True}), {1}, {1.0}]),
    "words and bytes": (lambda x, s: x * len(repr(s)), ["a", b"a", None, ...]),
}


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_arguments_that_are_equal_but_differ_share_no_program(name: str, engine: str) -> None:
    function, values = ALIKE[name]
    compiled: Any = gw.compile(function, engine=engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(3):
            for value in values:
                np.testing.assert_array_equal(compiled(X, value), function(X, value))


@pytest.mark.parametrize("engine", ["numpy", "c"])
def test_arguments_that_may_be_written_to_or_not(engine: str) -> None:
    def f(x: Any) -> Any:
        return x * 2.0 if x.flags.writeable else x * 3.0

    compiled: Any = gw.compile(f, engine=engine)
    x = X.copy()
    for _ in range(3):
        x.flags.writeable = not x.flags.writeable
        np.testing.assert_array_equal(compiled(x), f(x))
