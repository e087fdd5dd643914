"""The methods that type checkers see on `Variable` exist: names, parameters, results."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.backends.numpy import methods as numpy_methods
from gradwrap.backends.numpy.functions import IMPLEMENTATIONS
from gradwrap.backends.numpy.functions.converting import NoValue
from gradwrap.typing import array_methods
from lambdas import is_a


def _declared() -> dict[str, ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(array_methods))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


DECLARED = _declared()
NAMES = sorted(DECLARED)


def signature(name: str) -> inspect.Signature:
    scope: dict[str, Any] = {}
    source = f"from __future__ import annotations\n{ast.unparse(DECLARED[name])}"
    exec(source, scope)  # noqa: S102  a declaration of ours
    return inspect.signature(scope[name])


def at_run_time(name: str) -> inspect.Signature:
    """Return the signature of the function behind a method; its first parameter is the variable."""
    if name in numpy_methods.OWN:
        return inspect.signature(numpy_methods.OWN[name])
    function = getattr(np, name)
    found = inspect.signature(IMPLEMENTATIONS[function])
    parameters = list(found.parameters.values())[1:]
    if parameters[0].kind == inspect.Parameter.VAR_POSITIONAL:  # it asks NumPy's function
        return inspect.signature(function)
    return found.replace(parameters=parameters)


def test_all_methods_are_declared() -> None:
    assert set(NAMES) == set(numpy_methods.NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_exist(name: str) -> None:
    ours = list(signature(name).parameters.values())
    theirs = at_run_time(name)
    positional = [p for p in ours if p.kind != p.KEYWORD_ONLY]
    keywords = [p for p in ours if p.kind == p.KEYWORD_ONLY]
    theirs.bind(*positional, **{p.name: p for p in keywords})
    by_name = {p.name: p for p in ours if p.kind != p.POSITIONAL_ONLY and p.name != "self"}
    leading = [p for p in ours if p.kind == p.POSITIONAL_ONLY or p.name == "self"]
    bound = theirs.bind(*leading, **by_name)
    extra = bound.arguments.keys() & {p.name for p in theirs.parameters.values() if p.kind == 4}
    assert not extra  # none was swallowed by **kwargs
    required = [p for p in ours if p.default is p.empty]
    theirs.bind(*required)


NEWER = ("descending",) if np.lib.NumpyVersion(np.__version__) < "2.5.0" else ()
"""Parameters that the newest NumPy has, and the installed one has not."""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="its docstrings name fewer parameters"
)
@pytest.mark.parametrize("name", NAMES)
def test_positions_and_names_are_those_of_numpys_method(name: str) -> None:
    line = inspect.getdoc(getattr(np.ndarray, name, None)) or ""
    text = line.partition("\n")[0].partition("(")[2].rpartition(")")[0]
    theirs = [part.partition("=")[0].strip() for part in text.split(",") if part.strip()]
    theirs = [n for n in theirs if n.isidentifier() and n != "kwargs"]
    ours = [n for n in signature(name).parameters if n not in ("self", *NEWER)]
    renamed = {"dot": ["b", "out"], "astype": None, "view": None, "ptp": None, "std": None}
    renamed["var"] = None
    wanted = renamed.get(name, theirs)
    if wanted is not None:
        assert ours == wanted[: len(ours)]  # a newer NumPy may have more


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_those_of_the_implementation(name: str) -> None:
    theirs = at_run_time(name).parameters
    for p in signature(name).parameters.values():
        other = theirs.get(p.name)
        if p.name in ("self", "out", "keepdims", "where", "descending") or other is None:
            continue
        if p.default in (..., p.empty):
            assert other.default in (NoValue, p.empty)
        else:
            assert p.default == other.default


GIVEN: dict[str, Any] = {
    "astype": (np.float32,),
    "argpartition": (1,),
    "clip": (0.7, 1.5),
    "compress": ([True, False, True], 0),
    "dot": (np.ones(4),),
    "fill": (2.0,),
    "partition": (1,),
    "put": ([0, 1], [5.0, 6.0]),
    "repeat": (2, 0),
    "searchsorted": (1.0,),
    "swapaxes": (0, 1),
    "take": ([0, 1], 1),
}


@pytest.mark.parametrize("name", NAMES)
def test_results_are_what_is_declared(name: str) -> None:
    data = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))
    if name == "searchsorted":
        data = np.sort(data.ravel())
    x = gw.wrap(data)
    expected_of = data.copy()
    found = getattr(x, name)(*GIVEN.get(name, ()))
    annotation = ast.unparse(DECLARED[name].returns or ast.Constant(None))
    expected: Any
    if name == "ptp":
        expected = np.ptp(expected_of)
    else:
        expected = getattr(expected_of, name)(*GIVEN.get(name, ()))
    if annotation == "None":
        assert found is None
        np.testing.assert_array_equal(x.data, expected_of)
        return
    parts = found if annotation.startswith("tuple[") else (found,)
    wanted = expected if annotation.startswith("tuple[") else (expected,)
    assert isinstance(found, tuple) == annotation.startswith("tuple[")
    for part, plain in zip(parts, wanted, strict=True):
        assert is_a(part, gw.Variable)
        np.testing.assert_allclose(part.data, plain, rtol=1e-14)
        assert (part.dtype == np.float64) == ("Self" in annotation)


# What an editor shows at run time -----------------------------------------------------------------


def test_dir_lists_the_methods_of_the_array() -> None:
    x = gw.wrap(np.ones((2, 2)), requires_grad=True)
    assert hasattr(x, "tobytes")  # found, and still not listed
    missing = {name for name in dir(np.ndarray) if not name.startswith("_")} - set(dir(x))
    without_a_derivative = {"base", "byteswap", "choose", "ctypes", "dump", "dumps", "getfield"}
    without_a_derivative |= {"resize", "setfield", "setflags", "tobytes", "tofile"}
    gone_by_now = {"itemset", "newbyteorder", "tostring"}  # all they do is raise
    assert missing - gone_by_now == without_a_derivative
    assert {"sum", "astype", "backward", "grad", "data", "clone"} <= set(dir(x))
    for name in (name for name in dir(x) if not name.startswith("_")):
        assert hasattr(x, name)


def test_a_method_has_the_documentation_of_numpys_function() -> None:
    assert (inspect.getdoc(gw.wrap(np.ones(2)).cumsum) or "").startswith("Return the cumulative")


# out= ---------------------------------------------------------------------------------------------


def test_out_of_a_method_is_filled() -> None:
    x = gw.wrap(np.array([1.0, 2.0, 4.0]))
    total = gw.wrap(np.array(0.0))
    assert x.sum(out=total) is total
    assert total.item() == 7.0
    plain: Any = np.zeros(3)
    x.clip(0.0, 3.0, plain)
    np.testing.assert_array_equal(plain, [1.0, 2.0, 3.0])
    x.cumsum(None, None, plain)
    np.testing.assert_array_equal(plain, [1.0, 3.0, 7.0])
    assert x.mean(out=None).item() == pytest.approx(7.0 / 3.0)


def test_out_of_a_method_cannot_be_a_plain_array_where_it_is_tracked() -> None:
    x = gw.wrap(np.array([1.0, 2.0, 4.0]), requires_grad=True)
    plain: Any = np.zeros(())
    with pytest.raises(gw.errors.OutArgumentError, match=r"np\.sum\(\.\.\., out=.*Fix: omit out="):
        x.sum(out=plain)
    with pytest.raises(gw.errors.OutArgumentError, match=r"np\.prod"):
        x.prod(None, None, plain)
    y = x * 1.0
    into = gw.wrap(np.zeros(3))
    assert y.cumsum(out=into) is into
    into.sum().backward()
    np.testing.assert_array_equal(x.grad, [3.0, 2.0, 1.0])
