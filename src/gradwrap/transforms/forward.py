"""Forward mode: Jacobian-vector products of functions, and their linearisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.core.array.adapted import as_python
from gradwrap.core.calls.annihilating import dual_kind
from gradwrap.core.calls.forward import AnyDual, Dual
from gradwrap.core.graph.alignment import has_other_labels, labels_in_forward_mode
from gradwrap.core.graph.untaken import ran_adapted
from gradwrap.core.levels.levels import inspecting, new_level
from gradwrap.core.levels.wrapper import is_at, make_wrapper, snapshot
from gradwrap.core.library.backend import is_array, is_floating, own_buffers, wrapper_class
from gradwrap.core.library.labelled import labelled, with_labels, without_labels
from gradwrap.core.values.comparing import mismatch, zeros_like
from gradwrap.core.values.dynamic import SEQUENCE, class_of, type_of
from gradwrap.core.values.space import Tangent
from gradwrap.core.values.tree import flatten, flatten_with_paths, unflatten
from gradwrap.errors import TangentError
from gradwrap.transforms.argnums import described as argument_name
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.arguments import (
    PYTHONS,
    as_original,
    default_scalar,
    differentiable,
    given_to,
    passes_through,
    unwrapped,
    without_inner,
)
from gradwrap.transforms.by_reverse import without_nan
from gradwrap.transforms.recording import Recording, out_and_aux
from gradwrap.transforms.running import run
from gradwrap.transforms.typed import typed_as_jvp, typed_as_linearize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.transforms.arguments import Tracked


@typed_as_jvp
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
) -> Any:
    """Return the value of `fun` and its derivative along tangents, in one pass without a tape.

    Parameters
    ----------
    fun
        A function of arrays or pytrees of arrays, which returns such values too.
    primals
        Its arguments: a tuple or a list.
    tangents
        For each primal, a tangent of the same structure, shapes and dtypes. None in place of an
        array stands for zero; an integer array needs None.
    has_aux
        `fun` returns a pair `(out, aux)`; a third result gives `aux`.

    Returns
    -------
    tuple
        `out` and `tangent_out`, of the structure, shapes and dtypes of `out`; where an output is
        not floating-point, its tangent is None.

    Raises
    ------
    TangentError
        A tangent does not have the structure, shape or dtype of its primal.
    NonDifferentiableInputError
        A primal of an integer, bool or object dtype has a tangent.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> gw.jvp(np.sin, (np.array([0.0, 1.0]),), (np.array([1.0, 0.0]),))
    (array([0.        , 0.84147098]), array([1., 0.]))
    """
    level = new_level()
    entered = _entered(fun, primals, tangents, level)
    ran_before = ran_adapted.get()
    ran_adapted.set(False)
    try:
        returned = without_inner(run(fun, entered, {}), level)
    except BaseException:
        labels_in_forward_mode.pop(level, None)
        raise
    finally:
        is_adapted = ran_adapted.get()
        ran_adapted.set(is_adapted or ran_before)
    if labels_in_forward_mode and has_other_labels(level):
        moved = [place for place, tangent in enumerate(tangents) if tangent is not None]
        Recording(fun, moved, primals, {})  # refuses the tables if they meet
    out, aux = out_and_aux(name_of(fun), returned, has_aux)
    leaves, treedef = flatten(out)
    found = [_tangent_of(leaf, level) for leaf in leaves]
    if is_adapted:
        found = without_nan(fun, primals, entered, leaves, found, level, has_aux=has_aux)
    own_buffers(found, [leaf for tangent in tangents for leaf in flatten(tangent)[0]])
    value = unwrapped(out, level)
    tangent_out = unflatten(treedef, _as_outputs(found, value))
    return (value, tangent_out, unwrapped(aux, level)) if has_aux else (value, tangent_out)


def _entered(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], level: int
) -> list[Any]:
    """Return the primals with their tangents, as the function receives them."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, SEQUENCE):
            raise TangentError(
                f"jvp takes its {what} as a tuple, one for each argument of {name_of(fun)}; it "
                f"got {class_of(given)}. Fix: jvp(fun, (x,), (v,))."
            )
    if len(primals) != len(tangents):
        raise TangentError(
            f"jvp got {len(primals)} primals and {len(tangents)} tangents. "
            "Fix: pass a tangent for each primal, None where it is zero."
        )
    return [
        _with_tangent(primal, tangent, level, argument_name(fun, place))
        for place, (primal, tangent) in enumerate(zip(primals, tangents, strict=True))
    ]


def _with_tangent(primal: Any, tangent: Any, level: int, name: str) -> Any:
    """Attach the tangents to the arrays of one argument."""
    pairs, treedef = flatten_with_paths(primal, name)
    given, structure = flatten(tangent)
    if structure != treedef:
        if tangent is None:
            return given_to(primal)
        raise TangentError(
            f"the tangent of {name} has the structure {structure}, the primal has {treedef}. "
            "Fix: pass the structure of the primal."
        )
    return unflatten(
        treedef,
        [
            given_to(leaf)
            if one is None or (not treedef.is_lone and passes_through(leaf))
            else _dual(leaf, one, level, path)
            for (path, leaf), one in zip(pairs, given, strict=True)
        ],
    )


def _dual(primal: Any, tangent: Any, level: int, path: str) -> Any:
    """Attach a tangent to an array, after checking it."""
    if labelled:
        level = with_labels(primal, level)
        tangent = without_labels(tangent)
    is_python = type_of(primal) in PYTHONS
    primal, backend = differentiable(primal, f"argument {path}")
    if _is_number(tangent) and not primal.shape:
        tangent = backend.ones_like(primal) * tangent
    meta = backend.meta(primal, level)
    is_alike = type_of(tangent) is type_of(primal) and tangent.dtype == meta.dtype
    found = None if is_alike and tangent.shape == meta.shape else mismatch(tangent, backend, meta)
    if found is not None:
        contrast = found.contrast(tangent, primal, "primal")
        if found.part == "array":
            fix = "pass an array of the primal's shape and dtype, or None for zero"
            contrast = f"is {found.got}. Fix: {fix}"
        raise TangentError(f"the tangent of {path} {contrast}.")
    asked = inspecting.get()
    dual = wrapper_class(Dual if asked is None else dual_kind(asked), backend)
    made = make_wrapper(dual, snapshot(primal), Tangent(meta, snapshot(tangent)))
    return as_python(made) if is_python else made


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, complex)) and not is_array(value)


def _tangent_of(leaf: Any, level: int) -> Any:
    """Return the tangent of an output; zeros if it does not depend on the primals."""
    if is_at(leaf, level):
        return snapshot(leaf._node.value)
    if isinstance(leaf, (int, float, complex)) and not is_array(leaf):
        return None if isinstance(leaf, (bool, int)) else 0 * default_scalar(leaf)
    return _zero_tangent(unwrapped(leaf, level))


def _zero_tangent(plain: Any) -> Any:
    return zeros_like(plain) if is_floating(plain) else None


def _as_outputs(tangents: Sequence[Any], value: Any) -> list[Any]:
    """Convert tangents to their outputs' kinds: array, array scalar, or number."""
    outputs, _ = flatten(value)
    return [
        None if tangent is None else as_original(tangent, output)
        for tangent, output in zip(tangents, outputs, strict=True)
    ]


# linearize ----------------------------------------------------------------------------------------


@typed_as_linearize
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of `fun`, and its derivative as a function of tangents.

    `fun` runs once. Its VJP is linear in the cotangent and is recorded once; each call of the
    derivative is one pass back through that record, and costs about what one VJP does.

    Parameters are those of `vjp`.

    Returns
    -------
    tuple
        `out` and `jvp_fun`. `jvp_fun(*tangents)` takes a tangent for each primal, of its structure,
        shapes and dtypes (None for zero), and returns the tangent of `out`. With `has_aux`, `fun`
        returns a pair `(out, aux)`, and a third result gives `aux`.

    Raises
    ------
    NonDifferentiableInputError
        A primal has an integer, bool or object dtype.
    TangentError
        A tangent does not have the structure, shape or dtype of its primal.

    Examples
    --------
    >>> import numpy as np, gradwrap as gw
    >>> out, push = gw.linearize(np.multiply, 3.0, 4.0)
    >>> push(1.0, 0.0), push(0.0, 1.0)
    (np.float64(4.0), np.float64(3.0))
    """
    recording = Recording(fun, range(len(primals)), primals, {}, lasting=True)
    out, aux = out_and_aux(recording.name, recording.out, has_aux)
    outputs, treedef = flatten(out)
    linear = recording.linear_map(outputs).transposed()
    value = recording.handed_out(out)
    tracked = recording.tracked
    names = [argument_name(fun, place) for place in range(len(primals))]

    def jvp_fun(*tangents: Any) -> Any:
        if len(tangents) != len(primals):
            raise TangentError(
                f"jvp_fun got {len(tangents)} tangents for {len(primals)} primals. "
                "Fix: pass a tangent for each primal, None where it is zero."
            )
        starts = [
            one
            for argument, tangent, primal, name in zip(
                tracked, tangents, primals, names, strict=True
            )
            for one in _tangents_at(argument, tangent, primal, name)
        ]
        results = [
            _zero_tangent(recording.unwrapped(output)) if found is None else found
            for found, output in zip(linear.pull(starts), outputs, strict=True)
        ]
        own_buffers(results, [one for one in starts if one is not None])
        return unflatten(treedef, _as_outputs(results, value))

    return (value, jvp_fun, recording.handed_out(aux)) if has_aux else (value, jvp_fun)


def _tangents_at(argument: Tracked, tangent: Any, primal: Any, name: str) -> list[Any]:
    """Return the tangents of the leaves of an argument; None for zero."""
    if tangent is None:
        return [None] * len(argument.leaves)
    checked, _ = flatten(_with_tangent(primal, tangent, 0, name))
    return [
        dual._node.value if leaf is not None and isinstance(dual, AnyDual) else None
        for leaf, dual in zip(argument.leaves, checked, strict=True)
    ]
