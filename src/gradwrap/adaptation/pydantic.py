"""Validators of pydantic, which are compiled, for tracked values in adapted code.

They take a number of Python or an instance of a class, and a variable is neither. A validator tells
the schema that it was made from. Another one is made from it, whose parts for such values check and
keep a variable. All other parts, and the functions of a package that check or change values, see
the variable.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.adaptation.builtin_names import is_instance
from gradwrap.core.array.python_floats import python_float
from gradwrap.core.levels.levels import is_differentiating
from gradwrap.core.levels.wrapper import AnyWrapper, native
from gradwrap.core.values.dynamic import DICT, SEQUENCE, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS = ("to_python", "validate_assignment", "validate_python")
NO_SCHEMAS = frozenset({"default", "expected", "metadata", "serialization"})
"""The parts of a schema that hold other things than schemas."""


def call(owner: Any, name: str, /, *args: Any, **options: Any) -> Any:
    """Call a method of a validator or a serializer of pydantic, so that it keeps variables.

    A serializer keeps what it does not know, and would warn of it. Other objects are as they are.
    """
    kind = type_of(owner).__name__ if is_differentiating() else ""
    if kind == "SchemaValidator":
        owner = _keeping_variables(owner)
    elif kind == "SchemaSerializer" and options.get("warnings") in (True, "warn"):
        options = {**options, "warnings": "none"}
    return getattr(owner, name)(*args, **options)


@functools.lru_cache(1024)
def _keeping_variables(validator: Any) -> Any:
    kind, (schema, config, *_) = validator.__reduce__()
    # later versions would take the validators that the classes of its fields have, as they were
    is_later = "_use_prebuilt" in (kind.__text_signature__ or "")
    return kind(_changed(schema), config, *([False] if is_later else []))


def _changed(schema: Any) -> Any:
    """Return a schema whose parts for numbers and instances keep variables."""
    if isinstance(schema, SEQUENCE):
        return type_of(schema)(map(_changed, schema))
    if not isinstance(schema, DICT):
        return schema
    keep = KEEPING.get(schema.get("type"))
    if keep is None:
        return {k: v if k in NO_SCHEMAS else _changed(v) for k, v in schema.items()}
    inner = {key: value for key, value in schema.items() if key != "ref"}
    named = {"ref": schema["ref"]} if "ref" in schema else {}
    function = {"type": "no-info", "function": functools.partial(keep, schema)}
    return {"type": "function-wrap", "function": function, "schema": inner, **named}


def _number(schema: Any, value: Any, check: Callable[[Any], Any]) -> Any:
    """Return a variable of one number as a float of Python if it is within the bounds."""
    if not isinstance(value, AnyWrapper):
        return check(value)
    is_number = value.size == 1 and value.dtype.kind == "f" and "multiple_of" not in schema
    is_valid = is_number and all(
        SYMBOLS[name](value, schema[name]) for name in SYMBOLS.keys() & schema
    )
    if is_valid and (schema.get("allow_inf_nan", True) or np.isfinite(value)):
        return python_float(value.reshape(()))
    return _refused(value, check)


def _instance(schema: Any, value: Any, check: Callable[[Any], Any]) -> Any:
    """Return a variable if its values are instances of the class."""
    if not isinstance(value, AnyWrapper):
        return check(value)
    return value if is_instance(value, schema["cls"]) else _refused(value, check)


def _refused(value: Any, check: Callable[[Any], Any]) -> Any:
    """Raise the error that a plain value gives, or the one that a variable gives."""
    check(native(value))
    return check(value)


KEEPING: dict[Any, Callable[..., Any]] = {"float": _number, "is-instance": _instance}
"""What checks variables in the place of the schemas of a type."""
SYMBOLS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("ge", "gt", "le", "lt")
}
