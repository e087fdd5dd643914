"""Forward mode: Jacobian-vector products of functions, and their linearisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from gradwrap.core.backend import backend_of, own_buffers, wrapper_class
from gradwrap.core.backward import backward_pass
from gradwrap.core.dynamic import SEQUENCE
from gradwrap.core.forward import AnyDual, Dual, Tangent
from gradwrap.core.levels import differentiating, new_level
from gradwrap.core.node import Leaf
from gradwrap.core.space import same_shape, zeros_of
from gradwrap.core.tree import flatten, flatten_with_paths, unflatten
from gradwrap.core.variable import variable_class
from gradwrap.core.wrapper import snapshot
from gradwrap.errors import TangentError
from gradwrap.transforms.arguments import (
    as_original,
    default_scalar,
    described,
    differentiable,
    is_array,
    left_behind,
    name_of,
    passes_through,
    unwrapped,
    wrapped_untracked,
)
from gradwrap.transforms.recording import Recording, described_space, out_and_aux

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from gradwrap.transforms.type_variables import Aux, No, Primals, R, Yes

__all__ = ["Linearization", "jvp", "linearize"]


@overload
def jvp(
    fun: Callable[[*Primals], R],
    primals: tuple[*Primals],
    tangents: tuple[*Primals],
    *,
    has_aux: No = False,
) -> tuple[R, R]: ...
@overload
def jvp(
    fun: Callable[[*Primals], tuple[R, Aux]],
    primals: tuple[*Primals],
    tangents: tuple[*Primals],
    *,
    has_aux: Yes,
) -> tuple[R, R, Aux]: ...
@overload
def jvp(
    fun: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: No = False
) -> tuple[R, R]: ...
@overload
def jvp(
    fun: Callable[..., tuple[R, Aux]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Yes,
) -> tuple[R, R, Aux]: ...
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
) -> Any:
    """The value of `fun`, and its derivative along tangents, in one pass and without a tape.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of them, that returns such.
    primals
        Its arguments: a tuple or a list.
    tangents
        For each of them a tangent of the same structure, shapes and dtypes. None in the place of
        an array stands for zero, and is what an integer array takes.
    has_aux
        `fun` returns a pair `(out, aux)`; a third result gives `aux`.

    Returns
    -------
    `out` and `tangent_out`, of the structure, shapes and dtypes of `out`; where an output is not
    floating-point, its tangent is None.

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
    with differentiating():
        returned = left_behind(fun(*entered), level)
    out, aux = out_and_aux(name_of(fun), returned, has_aux)
    leaves, treedef = flatten(out)
    found = [_tangent_of(leaf, level) for leaf in leaves]
    own_buffers(found, [leaf for tangent in tangents for leaf in flatten(tangent)[0]])
    value = unwrapped(out, level)
    tangent_out = unflatten(treedef, _as_outputs(found, value))
    return (value, tangent_out, unwrapped(aux, level)) if has_aux else (value, tangent_out)


def _entered(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], level: int
) -> list[Any]:
    """The primals with their tangents, as the function receives them."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, SEQUENCE):
            raise TangentError(
                f"jvp takes its {what} as a tuple, one for each argument of {name_of(fun)}; it "
                f"got a {type(given).__name__}. Fix: jvp(fun, (x,), (v,))."
            )
    if len(primals) != len(tangents):
        raise TangentError(
            f"jvp got {len(primals)} primals and {len(tangents)} tangents. "
            "Fix: pass a tangent for each primal, None where it is zero."
        )
    return [
        _with_tangent(primal, tangent, level, described(fun, place))
        for place, (primal, tangent) in enumerate(zip(primals, tangents, strict=True))
    ]


def _with_tangent(primal: Any, tangent: Any, level: int, name: str) -> Any:
    """One argument, its arrays with their tangents."""
    pairs, treedef = flatten_with_paths(primal, name)
    given, structure = flatten(tangent)
    if structure != treedef:
        if tangent is None:
            return wrapped_untracked(primal)
        raise TangentError(
            f"the tangent of {name} has the structure {structure}, the primal has {treedef}. "
            "Fix: pass the structure of the primal."
        )
    return unflatten(
        treedef,
        [
            wrapped_untracked(leaf)
            if one is None or (not treedef.is_lone and passes_through(leaf))
            else _dual(leaf, one, level, path)
            for (path, leaf), one in zip(pairs, given, strict=True)
        ],
    )


def _dual(primal: Any, tangent: Any, level: int, path: str) -> Any:
    """An array with its tangent, checked against it."""
    primal, backend = differentiable(primal, f"argument {path}")
    if _is_number(tangent) and not primal.shape:
        tangent = backend.ones_like(primal) * tangent
    if not is_array(tangent):
        raise TangentError(
            f"the tangent of {path} is a {type(tangent).__name__}. "
            "Fix: pass an array of the primal's shape and dtype, or None for zero."
        )
    library = backend_of(tangent).name
    if library != backend.name:
        raise TangentError(
            f"the tangent of {path} is an array of {library}, the primal is one of "
            f"{backend.name}. Fix: convert it."
        )
    if not same_shape(tangent.shape, primal.shape) or tangent.dtype != primal.dtype:
        raise TangentError(
            f"the tangent of {path} is {described_space(tangent)}, the primal is "
            f"{described_space(primal)}. "
            "Fix: pass an array of the primal's shape and dtype."
        )
    node = Tangent(backend.meta(primal, level), snapshot(tangent))
    return wrapper_class(Dual, backend)(snapshot(primal), node)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, complex)) and not is_array(value)


def _tangent_of(leaf: Any, level: int) -> Any:
    """The tangent of an output: zeros where it does not depend on the primals."""
    if isinstance(leaf, (int, float, complex)) and not is_array(leaf):
        return None if isinstance(leaf, (bool, int)) else 0 * default_scalar(leaf)
    node = getattr(leaf, "_node", None)
    if node is not None and node.meta.level == level:
        return snapshot(node.value)
    return _zero_tangent(unwrapped(leaf, level))


def _zero_tangent(plain: Any) -> Any:
    if not is_array(plain):
        return None
    backend = backend_of(plain)
    return zeros_of(backend.xp, backend.meta(plain, 0)) if backend.is_float(plain) else None


def _as_outputs(tangents: Sequence[Any], value: Any) -> list[Any]:
    """Tangents, each of its output's kind: array, array scalar, or number."""
    outputs, _ = flatten(value)
    return [
        None if tangent is None else as_original(tangent, output)
        for tangent, output in zip(tangents, outputs, strict=True)
    ]


# linearize ----------------------------------------------------------------------------------------


@overload
def linearize(fun: np.ufunc, *primals: Any) -> tuple[Any, Callable[..., Any]]: ...
@overload
def linearize(
    fun: Callable[[*Primals], R], *primals: *Primals
) -> tuple[R, Callable[[*Primals], R]]: ...
def linearize(  # type: ignore[misc]  # mypy takes *primals: *Primals for more than *primals: Any
    fun: Callable[..., Any], *primals: Any
) -> Any:
    """The value of `fun`, and its derivative as a function of tangents, to be called many times.

    `fun` runs once. Its VJP is linear in the cotangent and is recorded once; each call of the
    derivative is one pass back through that record, and costs about what one VJP does.

    Parameters
    ----------
    fun
        A function of arrays, or pytrees of them, that returns such.
    primals
        Its arguments, of which all are differentiated.

    Returns
    -------
    `out` and `jvp_fun`. `jvp_fun(*tangents)` takes a tangent for each primal, of its structure,
    shapes and dtypes (None for zero), and returns the tangent of `out`.

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
    recording = Recording(fun, range(len(primals)), primals, {})
    outputs, treedef = flatten(recording.out)
    linear = Linearization(recording, outputs)
    value = recording.unwrapped(recording.out)
    tracked = recording.tracked
    names = [described(fun, place) for place in range(len(primals))]

    def jvp_fun(*tangents: Any) -> Any:
        if len(tangents) != len(primals):
            raise TangentError(
                f"jvp_fun got {len(tangents)} tangents for {len(primals)} primals. "
                "Fix: pass a tangent for each primal, None where it is zero."
            )
        starts = [
            (leaf[0], one)
            for argument, tangent, primal, name in zip(
                tracked, tangents, primals, names, strict=True
            )
            for leaf, one in _tangents_at(argument, tangent, primal, name)
        ]
        results = linear.push(starts)
        for place, (found, output) in enumerate(zip(results, outputs, strict=True)):
            if found is None:
                results[place] = _zero_tangent(recording.unwrapped(output))
        own_buffers(results, [one for _, one in starts])
        return unflatten(treedef, _as_outputs(results, value))

    return value, jvp_fun


class Linearization:
    """The VJP of what was recorded, itself recorded: linear in the cotangents."""

    def __init__(self, recording: Recording, outputs: Sequence[Any]) -> None:
        level = new_level()
        self._seeds: list[Leaf | None] = []
        roots: list[Any] = []
        for output in outputs:
            if not recording.is_tracked(output):
                self._seeds.append(None)
                continue
            backend = output._backend
            seed = Leaf(backend.meta(output._data, level))
            cotangent = variable_class(backend)(zeros_of(backend.xp, seed.meta), seed)
            roots.append((output._node, cotangent))
            self._seeds.append(seed)
        self._arrived = backward_pass(roots)

    def push(self, starts: Sequence[tuple[Leaf, Any]]) -> list[Any]:
        """The tangents of the outputs for those of leaves; None for zero."""
        roots: list[Any] = []
        for leaf, tangent in starts:
            node = getattr(self._arrived.get(leaf), "_node", None)
            if node is not None:
                roots.append((node, tangent))
        found = backward_pass(roots, retain_graph=True)
        return [None if seed is None else found.get(seed) for seed in self._seeds]


def _tangents_at(argument: Any, tangent: Any, primal: Any, name: str) -> list[Any]:
    """The leaves of an argument that have a tangent, with it."""
    if tangent is None:
        return []
    checked, _ = flatten(_with_tangent(primal, tangent, 0, name))
    return [
        (leaf, dual._node.value)
        for leaf, dual in zip(argument.leaves, checked, strict=True)
        if leaf is not None and isinstance(dual, AnyDual)
    ]
