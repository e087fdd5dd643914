"""How NumPy spells its functions: the texts of the rows, and what is written from them."""

from __future__ import annotations

import functools
import inspect
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.backends.numpy.functions.converting import NoValue
from gradwrap.backends.numpy.functions.spelling import SPELLED, UFUNC_METHODS
from gradwrap.backends.numpy.functions.table import IMPLEMENTATIONS
from gradwrap.core.array.protocol import ELSEWHERE
from gradwrap.core.library.namespace import rebind
from gradwrap.core.table.registry import find_op, redefine
from gradwrap.core.values.tree import map_leaves
from lambdas import fn, is_a

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = np.random.default_rng(0)
A = NUMBERS.uniform(0.5, 2.0, (3, 4))
S = A[:, :3] @ A[:, :3].T + np.eye(3)
V = np.array([0.3, 1.5, 0.9, 1.5])
INTEGERS = np.arange(12).reshape(3, 4) % 5
ANY: Any = np

XP = gw.wrap(A).__array_namespace__()
ROWS = {function: spelling for function, spelling in SPELLED.items() if spelling.rule is not None}
IDS = [spelling.name for spelling in ROWS.values()]


# The texts ----------------------------------------------------------------------------------------

GONE = {"reshape": {"newshape"}, "quantile": {"interpolation"}, "percentile": {"interpolation"}}
GONE |= {"nanquantile": {"interpolation"}, "nanpercentile": {"interpolation"}}
"""Parameters that NumPy has in other versions."""
if np.lib.NumpyVersion(np.__version__) < "2.5.0":
    GONE |= {"sort": {"descending"}, "argsort": {"descending"}}
OTHER_DEFAULTS = {"reshape": "shape"}
"""Parameters that had a default in older versions."""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="its functions have fewer parameters"
)
@pytest.mark.parametrize("function", SPELLED, ids=lambda f: SPELLED[f].name)
def test_signature_is_numpys(function: Any) -> None:
    spelling = SPELLED[function]
    name = spelling.name
    ours = {n: p for n, p in spelling.parameters.items() if n not in GONE.get(name, ())}
    theirs = inspect.signature(function).parameters

    assert list(ours) == list(theirs)
    for word, parameter in ours.items():
        other = theirs[word]
        assert parameter.kind == other.kind
        if word != OTHER_DEFAULTS.get(name) and (word, other.default) != ("keepdims", NoValue):
            assert parameter.default == other.default


def test_names_of_the_rows_lead_to_their_operations() -> None:
    assert SPELLED[np.amax].path == SPELLED[np.max].path == "max"
    assert SPELLED[np.concat].path == "concat"
    assert SPELLED[np.fft.ifft2].path == "fft.ifftn"
    assert UFUNC_METHODS[np.maximum, "reduce"] is np.max
    assert UFUNC_METHODS[np.add, "accumulate"] is np.cumsum
    for path, ufunc in (("pow", np.power), ("round", np.rint), ("bitwise_invert", np.invert)):
        op = find_op(path)
        assert op is not None
        assert op.rules["*"].numpy == (ufunc.__name__,)


@pytest.mark.parametrize("function", ROWS, ids=IDS)
def test_what_a_row_does_not_take_is_left_to_the_general_way(function: Any) -> None:
    cls: Any = type(gw.wrap(A))
    args, _ = calls(ROWS[function], 0)[0]
    args = wrapped(args, tracked=True)
    bound = cls._function_calls[function]

    assert bound(*args) is not ELSEWHERE
    if "out" in ROWS[function].parameters:
        assert bound(*args, out=A) is ELSEWHERE


of_lower = gw.grad(fn(lambda x: np.sum(np.tril(x))))


def test_a_changed_rule_is_bound_anew_and_the_others_stay() -> None:
    x = gw.wrap(A, requires_grad=True)
    cls: Any = type(x)
    np.concatenate([np.tril(x), x])
    kept = cls._function_calls[np.concatenate]
    op = find_op("tril")
    assert op is not None
    rules = dict(op.rules)
    try:
        gw.defvjp("tril", lambda xp, g: 7.0 * g)
        assert np.tril not in cls._function_calls
        assert cls._function_calls[np.concatenate] is kept
        np.testing.assert_array_equal(of_lower(A), 7.0)
    finally:
        redefine(op, rules)
        rebind(op)
    np.testing.assert_array_equal(of_lower(A), np.tril(np.ones((3, 4))))


# Random calls with all options --------------------------------------------------------------------

ARRAYS: dict[str, tuple[Any, ...]] = {
    "concatenate": ([A, A, A],),
    "stack": ((A, A),),
    "where": (A > 1, A, 2.0),
    "dot": (A, V),
    "linalg.matmul": (S, S),
    "cumulative_prod": (V,),
    "cumulative_sum": (V,),
    "linalg.cross": (S, S + np.eye(3)),
    "isin": (A, A[1]),
    "linalg.solve": (S, A),
    "searchsorted": (np.sort(V), A),
    "squeeze": (A[:, None, :, None],),
    "reshape": (A, (2, 6)),
    "lib.stride_tricks.sliding_window_view": (A, (2, 2)),
    "moveaxis": (np.stack([A, A]), [0, 1], [2, 0]),
    "broadcast_to": (A, (2, 3, 4)),
    "tile": (A, (2, 1, 2)),
    "repeat": (A, 2),
}
OPTIONS: dict[str, list[Any]] = {
    "writeable": [False, True],
    "a_max": [1.4, None, V],
    "a_min": [0.8, None, V / 2],
    "axes": [None, (1, 0), (-1, 0)],
    "axis": [None, 0, 1, -1],
    "axis1": [0, 1],
    "axis2": [-2, -1],
    "casting": ["same_kind"],
    "copy": [None, True],
    "correction": [1],
    "ddof": [0, 1],
    "descending": [True, False],
    "dtype": [None, np.float32, np.complex128],
    "include_initial": [True, False],
    "initial": [1.2],
    "invert": [True],
    "k": [-1, 0, 2],
    "keepdims": [True, False, np.True_],
    "kind": [None, "stable"],
    "max": [1.4, None],
    "mean": [np.float64(1.1)],
    "min": [0.8],
    "n": [None, 3, 6],
    "norm": [None, "ortho", "forward", "backward"],
    "offset": [0, 1, -1],
    "ord": [1, 2, 3, np.inf],
    "order": ["C", "F"],
    "s": [None, (2, 3)],
    "shape": [(2, 6)],
    "side": ["left", "right"],
    "sorter": [None, np.arange(4)],
    "stable": [None, True],
    "UPLO": ["L", "U"],
    "upper": [True, False],
    "where": [A > 1, V > 1, np.array(True)],
}
SKIPPED = {"device", "out", "subok", "newshape", "kwargs"}
if np.lib.NumpyVersion(np.__version__) < "2.5.0":
    SKIPPED |= {"descending"}
OF_ONE_NAME: dict[str, dict[str, list[Any]]] = {
    "argsort": {"order": [None]},
    "isin": {"assume_unique": [False], "kind": [None, "sort"]},
    "linalg.cross": {"axis": [0, -1]},
    "linalg.eigh": {"UPLO": ["L"]},  # the signs of the vectors are whatever LAPACK makes them
    "sort": {"order": [None]},
    "std": {"dtype": [None, np.float32]},
    "var": {"dtype": [None, np.float32]},
}


def calls(spelling: Any, count: int) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments for a function: arrays, and options at random, by position or by name."""
    choose = random.Random(spelling.name)
    if spelling.name in ARRAYS:
        arrays = ARRAYS[spelling.name]
    else:
        square = spelling.name.startswith("linalg") or spelling.name in ("tril", "triu")
        arrays = (S,) if square else (A,)
    options = {**OPTIONS, **OF_ONE_NAME.get(spelling.name, {})}
    names = [n for n in list(spelling.parameters)[len(arrays) :] if n not in SKIPPED]
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = [(arrays, {})]
    for _ in range(count):
        some = [n for n in names if choose.random() < 0.5]
        named = {n: choose.choice(options[n]) for n in some}
        args = arrays
        for name, parameter in list(spelling.parameters.items())[len(arrays) :]:
            if name not in named or parameter.kind == parameter.KEYWORD_ONLY:
                break
            args = (*args, named.pop(name))
        found.append((args, named))
    return found


def outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result as NumPy's arrays, or the error."""
    try:
        found = function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  whatever NumPy raises
        return error
    return map_leaves(gw.unwrap, found)


def assert_alike(found: Any, expected: Any) -> None:
    assert isinstance(found, Exception) == isinstance(expected, Exception), (found, expected)
    if isinstance(expected, Exception):
        return
    if is_a(expected, tuple, list):
        assert len(found) == len(expected)
        for part, other in zip(found, expected, strict=True):
            assert_alike(part, other)
        return
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def wrapped(args: Any, *, tracked: bool) -> Any:
    """The arguments, with arrays wrapped where they are floating."""

    def wrap(x: Any) -> Any:
        if not is_a(x, np.ndarray) or not x.ndim:
            return x
        return gw.wrap(x, requires_grad=tracked and x.dtype.kind in "fc")

    return map_leaves(wrap, args)


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("function", ROWS, ids=IDS)
def test_all_options_give_what_numpy_gives(function: Any, tracked: bool) -> None:
    for args, kwargs in calls(ROWS[function], 40):
        expected = outcome(function, args, kwargs)
        if tracked and isinstance(expected, Exception):
            continue  # not all that NumPy refuses is refused then

        found = outcome(function, wrapped(args, tracked=tracked), kwargs)

        assert_alike(found, expected)


@pytest.mark.parametrize("function", ROWS, ids=IDS)
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.bool_, np.complex64, np.float16])
def test_arrays_of_other_dtypes_that_are_not_tracked(function: Any, dtype: Any) -> None:
    def cast(x: Any) -> Any:
        if not is_a(x, np.ndarray):
            return x
        return (x > 1.0 if dtype is np.bool_ else x).astype(dtype)

    for args, kwargs in calls(ROWS[function], 5):
        plain = map_leaves(cast, args)
        expected = outcome(function, plain, kwargs)

        found = outcome(function, wrapped(plain, tracked=False), kwargs)

        assert_alike(found, expected)


@pytest.mark.parametrize("function", ROWS, ids=IDS)
def test_the_bound_call_and_the_general_way_agree(function: Any) -> None:
    implementation = IMPLEMENTATIONS[function]
    for args, kwargs in calls(ROWS[function], 10):
        values = wrapped(args, tracked=True)
        found = outcome(function, values, kwargs)

        general = outcome(functools.partial(implementation, XP), values, kwargs)

        assert_alike(general, found)
