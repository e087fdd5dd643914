"""`gradwrap.typing.Namespace` agrees with the standard, and with the namespace at run time."""

from __future__ import annotations

import inspect
import operator
import typing
from typing import TYPE_CHECKING, Any

import array_api_compat
import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.library.namespace import composites
from gradwrap.core.table.registry import ops
from gradwrap.typing import arrays, info, linalg
from harness import REAL, cases
from lambdas import is_a
from standard import FUNCTIONS, OWN

if TYPE_CHECKING:
    from collections.abc import Callable

NUMPY = array_api_compat.array_namespace(np.empty(0))
WRAPPED: Any = gw.wrap_namespace(np)
EXTENSIONS: dict[str, Any] = {"linalg": gw.typing.LinalgNamespace, "fft": gw.typing.FFTNamespace}
KEYWORD = inspect.Parameter.KEYWORD_ONLY
POSITIONAL = inspect.Parameter.POSITIONAL_ONLY


def declared(path: str) -> Any:
    """Return the method of the protocol that stands for a function."""
    head, _, name = path.rpartition(".")
    return getattr(EXTENSIONS.get(head, gw.typing.ArrayNamespace), name)


def parameters(function: Any) -> list[inspect.Parameter]:
    found = list(inspect.signature(function).parameters.values())
    return found[1:] if found and found[0].name == "self" else found


def form(function: Any) -> list[tuple[str, Any]]:
    return [(p.name, p.kind) for p in parameters(function)]


def names_in(protocol: Any) -> set[str]:
    own = {name for name in vars(typing.Protocol) if not name.startswith("__a")}
    found: set[str] = set()
    for base in (typing.get_origin(protocol) or protocol).__mro__[:-1]:
        if base.__module__.startswith("gradwrap"):
            found |= {*vars(base), *inspect.get_annotations(base)}
    return {n for n in found - own if not n.startswith("_") or n.startswith("__array_")}


# The protocol is the standard ---------------------------------------------------------------------


def test_the_protocol_has_the_names_of_the_standard_and_no_others() -> None:
    top = {path for path in FUNCTIONS if "." not in path}
    other = {"linalg", "fft", "__array_namespace_info__", "__array_api_version__"}
    constants = {"e", "inf", "nan", "newaxis", "pi"}
    dtypes = set(strict.__array_namespace_info__().dtypes())
    assert names_in(gw.typing.ArrayNamespace) == top | other | constants | dtypes
    assert names_in(gw.typing.Namespace) - names_in(gw.typing.ArrayNamespace) == {"special"}
    for extension, protocol in EXTENSIONS.items():
        paths = {f"{extension}.{name}" for name in names_in(protocol)}
        assert paths == {path for path in FUNCTIONS if path.startswith(f"{extension}.")}


@pytest.mark.parametrize("path", FUNCTIONS)
def test_parameters_are_those_of_the_standard(path: str) -> None:
    ours, theirs = parameters(declared(path)), parameters(operator.attrgetter(path)(strict))
    assert [(p.name, p.kind) for p in ours] == [(p.name, p.kind) for p in theirs]
    for our, their in zip(ours, theirs, strict=True):
        if "Undef" in repr(their.default):  # "as the array has it", which is None to us
            assert our.default is None
        else:
            assert our.default == their.default


@pytest.mark.parametrize("path", FUNCTIONS)
def test_every_function_has_a_docstring(path: str) -> None:
    assert inspect.getdoc(declared(path))


# What is there at run time ------------------------------------------------------------------------


@pytest.mark.parametrize("path", FUNCTIONS)
def test_parameters_are_those_of_the_function_at_run_time(path: str) -> None:
    function = operator.attrgetter(path)(WRAPPED)
    if path not in OWN:
        assert form(function) == form(declared(path))
        return
    # the library's own function, which may take more
    try:
        signature = inspect.signature(function)
    except ValueError:
        pytest.skip("an older NumPy says nothing about these")
    ours = parameters(declared(path))
    if any(p.kind == p.VAR_POSITIONAL for p in ours):
        assert [p.kind for p in ours] == [p.kind for p in parameters(function)]
        return
    leading = [p for p in ours if p.kind != KEYWORD]
    signature.bind(*(None for _ in leading))
    named = {p.name: None for p in ours if p.kind != POSITIONAL}
    signature.bind(*(None for p in ours if p.kind == POSITIONAL), **named)


@pytest.mark.parametrize("name", ["e", "inf", "nan", "newaxis", "pi", "__array_api_version__"])
def test_constants(name: str) -> None:
    hint = typing.get_type_hints(info.Constants)[name]
    assert isinstance(getattr(WRAPPED, name), hint)
    assert isinstance(getattr(NUMPY, name), hint)


def test_dtypes() -> None:
    assert set(info.DTypes.__annotations__) == set(WRAPPED.__array_namespace_info__().dtypes())
    for name in info.DTypes.__annotations__:
        assert getattr(WRAPPED, name) is getattr(NUMPY, name)


@pytest.mark.parametrize("library", [np, strict], ids=lambda library: library.__name__)
def test_what_a_library_says_about_itself(library: Any) -> None:
    said = gw.wrap_namespace(library).__array_namespace_info__()
    kinds = info.NamespaceInfo
    for name in ("capabilities", "default_device", "default_dtypes", "devices", "dtypes"):
        assert form(getattr(said, name)) == form(getattr(kinds, name))
    assert set(said.capabilities()) == set(typing.get_type_hints(info.Capabilities))
    assert set(said.default_dtypes()) == set(typing.get_type_hints(info.DefaultDTypes))


@pytest.mark.parametrize(
    ("kind", "limits"), [(info.FInfo, "finfo(xp.float32)"), (info.IInfo, "iinfo(xp.int8)")]
)
def test_limits_of_dtypes(kind: Any, limits: str) -> None:
    found = eval(f"xp.{limits}", {"xp": WRAPPED})  # noqa: S307  from the line above
    for name, hint in typing.get_type_hints(kind).items():
        value = getattr(found, name)
        if hint in (int, float):
            assert isinstance(value, (hint, np.floating))


# What functions return ----------------------------------------------------------------------------

MATRIX = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.2], [0.0, 0.2, 4.0]])
GIVEN: dict[str, Any] = {
    "arrays": [MATRIX, MATRIX],
    "axes": (1, 0),
    "axis": 0,
    "condition": MATRIX > 1.0,
    "destination": 1,
    "dtype": np.dtype(np.float64),
    "fill_value": 1.0,
    "from_": np.dtype(np.float32),
    "indices": np.array([0, 2]),
    "kind": "integral",
    "n": 2,
    "n_rows": 3,
    "num": 3,
    "obj": MATRIX,
    "repeats": 2,
    "repetitions": (2, 1),
    "shape": (3, 3),
    "shapes": (3, 1),
    "shift": 1,
    "source": 0,
    "start": 0.0,
    "stop": 1.0,
    "to": np.dtype(np.float64),
    "type": np.dtype(np.float64),
    "x": MATRIX,
    "x1": MATRIX,
    "x2": MATRIX,
}
SPECIAL: dict[str, dict[str, Any]] = {
    "acosh": {"x": 1.0 + MATRIX},
    "atanh": {"x": MATRIX / 10.0},
    "cumulative_prod": {"axis": 0},
    "cumulative_sum": {"axis": 0},
    "acos": {"x": MATRIX / 10.0},
    "asin": {"x": MATRIX / 10.0},
    "log": {"x": 1.0 + MATRIX},
    "log2": {"x": 1.0 + MATRIX},
    "log10": {"x": 1.0 + MATRIX},
    "reciprocal": {"x": 1.0 + MATRIX},
    "divide": {"x2": 1.0 + MATRIX},
    "floor_divide": {"x2": 1.0 + MATRIX},
    "remainder": {"x2": 1.0 + MATRIX},
    "iinfo": {"type": np.dtype(np.int8)},
    "linspace": {"stop": 2.0},
    "fft.fftfreq": {"n": 4},
    "imag": {"x": MATRIX * 1j},
    "searchsorted": {"x1": np.arange(3.0)},
    "squeeze": {"x": MATRIX[None]},
    "take_along_axis": {"indices": np.array([[0], [1], [2]])},
    "linalg.outer": {"x1": MATRIX[0], "x2": MATRIX[1]},
    "take": {"axis": 0},
}
INTEGERS = [name for name in FUNCTIONS if name.startswith("bitwise")]
BOOLS = [name for name in FUNCTIONS if name.startswith("logical")]


def arguments(path: str, wrap: Callable[[Any], Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments for the required parameters, and for those that the table names."""
    given = {**GIVEN, **SPECIAL.get(path, {})}
    args: list[Any] = []
    named: dict[str, Any] = {}
    for p in parameters(declared(path)):
        if p.kind != p.VAR_POSITIONAL and p.default is not p.empty:
            if p.name in SPECIAL.get(path, {}):
                named[p.name] = given[p.name]
            continue
        values = given["arrays" if p.name == "arrays_and_dtypes" else p.name]
        if path in INTEGERS + BOOLS:
            values = (values > 1.0).astype(bool if path in BOOLS else int)
        if is_a(values, list):
            values = [wrap(value) for value in values]
        elif isinstance(values, np.ndarray):
            values = wrap(values)
        if p.kind == p.VAR_POSITIONAL and p.name != "shapes":
            args += values
        else:
            args.append(values)
    return args, named


def conforms(value: Any, annotation: str, is_array: Callable[[Any], bool]) -> bool:
    """Tell whether a value has the type that an annotation of the protocol names."""
    tests: dict[str, Callable[[Any], bool]] = {
        "Out_co": is_array,
        "Other_co": is_array,
        "bool": lambda one: type(one) is bool,
        "int": lambda one: type(one) is int,
        "DType": lambda one: isinstance(one, np.dtype),
    }
    head, _, inner = annotation.partition("[")
    if head in tests:
        return tests[head](value)
    if head == "tuple":
        return value.__class__ is tuple and all(map(tests[inner.partition(",")[0]], value))
    if annotation in ("FInfo", "IInfo"):
        return all(hasattr(value, n) for n in getattr(info, annotation).__annotations__)
    kind = getattr(linalg if hasattr(linalg, head) else arrays, head)
    return tuple(value._fields) == tuple(kind._fields) and all(is_array(part) for part in value)


@pytest.mark.parametrize("path", FUNCTIONS)
def test_results_are_what_the_protocol_says(path: str) -> None:
    annotation = declared(path).__annotations__["return"]

    args, named = arguments(path, gw.wrap)
    found = operator.attrgetter(path)(WRAPPED)(*args, **named)
    assert conforms(found, annotation, lambda value: isinstance(value, gw.Variable))

    args, named = arguments(path, lambda array: array)
    mixed = operator.attrgetter(path)(WRAPPED)(*args, **named)
    assert conforms(mixed, annotation, lambda value: isinstance(value, gw.Variable))

    native = operator.attrgetter(path)(NUMPY)(*args, **named)
    assert conforms(native, annotation, lambda value: isinstance(value, (np.ndarray, np.generic)))


@pytest.mark.parametrize("path", FUNCTIONS)
def test_another_dtype_than_the_arguments_is_said_to_be_one(path: str) -> None:
    """Results are `Other` where real arguments do not give real results, else `Out`."""
    annotation = declared(path).__annotations__["return"]
    if "Out_co" not in annotation and "Other_co" not in annotation:
        return
    args, named = arguments(path, lambda array: array)
    found = operator.attrgetter(path)(NUMPY)(*args, **named)
    parts = found if is_a(found, tuple) else (found,)
    same = {np.asarray(part).dtype == np.float64 for part in parts}
    if annotation.startswith("Unique"):
        assert found[0].dtype == np.float64
    elif path in INTEGERS:
        assert annotation == "Out_co"
    elif "Out_co" in annotation:
        assert same == {True}
    else:
        free = {"astype", "imag", "real", "fft.hfft", "fft.irfft", "fft.irfftn", "linalg.eig"}
        assert path in free | {"linalg.eigvals"} or same == {False}


# Special functions --------------------------------------------------------------------------------


def special_parameters() -> dict[str, list[str]]:
    """The parameters of each special function that has a rule, or is made of such."""
    found = {
        path: [p.name for p in parameters(function)[1:]] for path, function in composites().items()
    }
    found |= {op.name: [*op.rules["*"].parameters] for op in ops() if "*" in op.rules}
    return {
        path.removeprefix("special."): names
        for path, names in found.items()
        if path.startswith("special.") and "._" not in path
    }


def test_the_protocol_has_the_special_functions_that_have_a_rule() -> None:
    rows = special_parameters()
    assert names_in(gw.typing.SpecialNamespace) == set(rows)
    for name, names in rows.items():
        function = getattr(gw.typing.SpecialNamespace, name)
        assert [p.name for p in parameters(function)] == names


@pytest.mark.parametrize("name", sorted(names_in(gw.typing.SpecialNamespace)))
def test_results_of_special_functions_are_what_the_protocol_says(name: str) -> None:
    pytest.importorskip("scipy")
    values: list[Any] = [gw.wrap(np.array([0.4, 0.5]))]
    if name == "multigammaln":
        values = [gw.wrap(np.array([2.5, 3.5])), 2]
    case = next((case for case in cases() if case.rule.name == f"special.{name}"), None)
    if case is not None:  # the row knows arguments of its own
        args, _ = case.arguments(REAL)
        values = [gw.wrap(arg) if is_a(arg, np.ndarray) else arg for arg in args]
    found = getattr(WRAPPED.special, name)(*values)
    annotation = getattr(gw.typing.SpecialNamespace, name).__annotations__["return"]
    parts = list(found) if annotation.startswith("tuple[") else [found]
    assert all(is_a(part, gw.Variable) for part in parts)
    assert all(np.isfinite(part.data).all() for part in parts)
    assert annotation.count("Out_co") == len(parts) or name == "logsumexp"
    if name == "logsumexp":
        both = WRAPPED.special.logsumexp(*values, return_sign=True)
        assert [type(part) for part in both] == [type(found)] * 2
