"""Quick calls: a generated function for each signature, which runs the calls that match it.

A quick call compares its arguments with one signature, and the surroundings of the function with
their state at the trace. If all are equal, it calls the program. If not, it returns `ELSEWHERE`,
and the next quick call is tried. Arguments in containers are flattened once, for all quick calls.
Signatures with the same kinds of leaves share one text, which is compiled once.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwrap.backends.numpy.arithmetic import is_strict
from gradwrap.compiler.calls.signatures import FLOAT, leaf_key, may_write, repeated
from gradwrap.compiler.tracing.surroundings.sheet import Sheet
from gradwrap.core.values.keys import BY_VALUE, Identity
from gradwrap.core.values.tree import unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType

    from gradwrap.compiler.calls.signatures import Signature
    from gradwrap.compiler.engines.libraries import Compilable
    from gradwrap.compiler.engines.register import Executable
    from gradwrap.compiler.tracing.surroundings.find import Surroundings
    from gradwrap.core.values.tree import TreeDef

NUMBER: type[Any] = np.generic
MANY = 64
"""The number of places around a function beyond which they are compared together."""
ELSEWHERE: Any = object()
"""The result of a quick call whose signature does not match."""


class Quick(NamedTuple):
    """The quick call of one signature."""

    call: Callable[..., Any]
    """A function of the positional and named arguments, as a tuple and a dictionary. If there
    are containers among them, it takes their leaves, their structure and its `orders` instead."""
    is_flat: bool
    """Whether the arguments contain no containers."""
    shape: tuple[int, ...] | None
    """The shape of the first positional argument, if it is an array."""


def quick_call(
    key: Signature,
    library: Compilable,
    executable: Executable,
    tree: TreeDef,
    surroundings: Surroundings | None,
) -> Quick:
    """Generate the quick call of a signature."""
    scope: dict[str, Any] = {
        "ndarray": np.ndarray,
        "float64": np.float64,
        "ELSEWHERE": ELSEWHERE,
        "call": executable.call,
        "strict": is_strict,
        "unflatten": functools.partial(unflatten, tree),
        "TREE": key.treedef,
        "ORDERS": key.orders,
        "repeated": repeated,
        "SAME": key.same,
        "may_write": may_write,
        "WRITEABLE": key.writeable,
        "leaf_key": leaf_key,
    }
    tests: list[str] = []
    given: list[str] = []
    arrays: list[str] = []
    for number, known in enumerate(key.leaves):
        name = f"a{number}"
        if known[0] != "array":
            tests.append(_leaf_test(number, known, scope))
            continue
        _, kind, shape, dtype, strides, place = known
        scope |= {f"T{number}": kind, f"S{number}": shape, f"D{number}": dtype}
        given.append(f"float64({name})" if kind is FLOAT else name)
        tests.append(f"type({name}) is {'ndarray' if kind is np.ndarray else f'T{number}'}")
        if not issubclass(kind, (NUMBER, FLOAT)):
            arrays.append(f"id({name})")
            tests += library.place_test(name, place)
            tests += [f"{name}.shape == S{number}", f"{name}.dtype is D{number}"]
            scope[f"L{number}"] = strides
            is_row = strides is None
            tests.append(f"{name}.flags.c_contiguous" if is_row else f"{name}.strides == L{number}")
    args, kwargs = unflatten(key.treedef, list(range(len(key.leaves))))
    is_flat = all(type(one) is int for one in (*args, *kwargs.values()))
    if not is_flat:
        tests += ["tree == TREE", "order == ORDERS"]
    if not executable.notices_errors:
        tests.insert(0, "not strict()")
    if key.same:
        tests.append(f"repeated(({', '.join(given)},)) == SAME")
    elif len(arrays) > 1 and surroundings and surroundings.tells_same:
        tests.append(f"len({{{', '.join(arrays)}}}) == {len(arrays)}")
    if key.writeable:
        tests.append(f"may_write(({', '.join(given)},)) == WRITEABLE")
    places = surroundings.places if surroundings else []
    if len(places) > MANY:
        sheet = Sheet(places)
        places = sheet.others
        scope |= {"lengths": sheet.lengths_now, "LENGTHS": sheet.lengths}
        scope |= {"addresses": sheet.addresses_now, "ADDRESSES": sheet.addresses}
        scope |= {"texts": sheet.texts_now, "TEXTS": sheet.texts}
        tests += ["lengths() == LENGTHS", "texts() == TEXTS", "addresses() == ADDRESSES"]
    for number, place in enumerate(places):
        scope[f"P{number}"], scope[f"W{number}"] = place.holder, place.value
        scope[f"H{number}"] = place.holds
        tests.append(place.test(number))
    result = f"call({', '.join(given)})"
    if is_flat:
        scope["NAMES"] = key.orders[0]
        named = "tuple(kwargs) != NAMES" if kwargs else "kwargs"
        lines = [
            "def quick(args, kwargs):",
            f"    if len(args) != {len(args)} or {named}: return ELSEWHERE",
            _unpacked(args, "args"),
            *(f"    a{number} = kwargs[{name!r}]" for name, number in kwargs.items()),
        ]
    else:
        lines = [
            "def quick(leaves, tree, order):",
            f"    if len(leaves) != {len(key.leaves)}: return ELSEWHERE",
            _unpacked(range(len(key.leaves)), "leaves"),
        ]
    lines += [
        f"    if {' and '.join(tests) or 'True'}:",
        f"        return {result}[0]" if tree.is_lone else f"        return unflatten({result})",
        "    return ELSEWHERE",
    ]
    exec(_code("\n".join(lines)), scope)  # noqa: S102  written here
    first: Any = key.leaves[0] if is_flat and args else ("",)
    return Quick(scope["quick"], is_flat, first[2] if first[0] == "array" else None)


def by_shape(quick: Iterable[Quick]) -> Callable[..., Any]:
    """Return a quick call that tries the first of those with the shape of the first argument."""
    known: dict[Any, Any] = {}
    for one in quick:
        known.setdefault(one.shape, one.call)
    known.pop(None, None)

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = known.get(getattr(args[0], "shape", None)) if args else None
        return ELSEWHERE if found is None else found(args, kwargs)

    return call


def _leaf_test(number: int, known: Any, scope: dict[str, Any]) -> str:
    """Return the source of a test: a leaf that is not an input equals the signature's leaf."""
    kind, value = known[0], known[-1]
    if isinstance(value, Identity):
        scope[f"V{number}"] = value.value
        return f"a{number} is V{number}"
    if kind in BY_VALUE:
        scope |= {f"T{number}": kind, f"V{number}": value}
        return f"type(a{number}) is T{number} and a{number} == V{number}"
    scope[f"K{number}"] = known
    return f"leaf_key(a{number}) == K{number}"


def _unpacked(numbers: Iterable[int], of: str) -> str:
    names = "".join(f"a{number}, " for number in numbers)
    return f"    {names}= {of}" if names else ""


@functools.lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    return compile(text, "<gradwrap.compile: a quick call>", "exec")
