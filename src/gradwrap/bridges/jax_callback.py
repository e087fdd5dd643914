"""NumPy functions in JAX's programs: one primitive, whose derivatives and batches it is again.

JAX cannot differentiate or transpose a callback. This primitive has rules for both: its tangent is
the primitive with the push of the function, and the transpose of that is the one with its pull.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwrap.bridges.flat import Batched, Derived, Flat, Own, Plain, Pulled, Pushed, Structure
from gradwrap.core.levels.wrapper import AnyWrapper, is_recorded
from gradwrap.core.library.backend import is_floating
from gradwrap.core.values.dynamic import class_of
from gradwrap.errors import NotAnArrayError, TrackedValueError
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.primitive import UserFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwrap.bridges.flat import Arrays, ArraysFunction

jax: Any = import_module("jax")
ad: Any = import_module("jax.interpreters.ad")
batching: Any = import_module("jax.interpreters.batching")
mlir: Any = import_module("jax.interpreters.mlir")

Spec = tuple[tuple[int, ...], Any]
"""The shape and the dtype of an array."""


class Host(Own):
    """gradwrap with JAX's convention: a pull is the transpose, not the adjoint."""

    def __eq__(self, other: object) -> bool:
        return type(other) is Host

    def __hash__(self) -> int:
        return hash(Host)

    def pull(
        self, function: ArraysFunction, cotangents: Arrays, inputs: Arrays, needed: Sequence[bool]
    ) -> Arrays:
        """Return the cotangents of the needed inputs."""
        given = [*map(conjugated, cotangents)]
        return [*map(conjugated, super().pull(function, given, inputs, needed))]


class trees:  # noqa: N801  it stands for a module
    """The containers that JAX knows."""

    @staticmethod
    def flatten(value: Any) -> Any:
        """Return the leaves of a container, and its structure."""
        return jax.tree.flatten(value)

    @staticmethod
    def unflatten(treedef: Any, leaves: Sequence[Any]) -> Any:
        """Put leaves into a structure."""
        return jax.tree.unflatten(treedef, leaves)


@dataclass(frozen=True)
class Declared(Derived):
    """A user's function whose outputs have the dtypes declared to JAX."""

    dtypes: tuple[Any, ...]

    def __call__(self, arrays: Arrays, found: list[Structure] | None = None) -> Arrays:
        """Compute the outputs, and cast them."""
        outs = self.of(arrays, found)
        if len(outs) != len(self.dtypes):
            return outs  # which is refused on the way out
        return [
            out if out.dtype == dtype else out.astype(dtype)
            for out, dtype in zip(outs, self.dtypes, strict=True)
        ]


class Callback(UserFunction[..., Any]):
    """A function of NumPy arrays as a function of JAX arrays."""

    def __init__(self, fun: Callable[..., Any], out_like: Any) -> None:
        super().__init__(fun)
        self.name: str = f"the callback {name_of(fun)}"
        self.out_like = out_like
        self._known: dict[Any, tuple[Flat, tuple[Spec, ...], Structure]] = {}

    def __repr__(self) -> str:
        return f"<gradwrap.jax.callback {name_of(self.fun)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function on the host, with NumPy's arrays."""
        leaves, treedef = jax.tree.flatten((args, kwargs))
        if any(map(is_recorded, leaves)):
            raise TrackedValueError(
                f"{self.name} takes arrays of JAX, and was given a tracked value of gradwrap. "
                "Fix: call the function itself, which gradwrap differentiates as it is."
            )
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, ARRAYS)]
        arrays = [jax.numpy.asarray(leaves[place]) for place in places]
        specs = tuple((array.shape, np.dtype(array.dtype)) for array in arrays)
        for _, dtype in specs:
            if dtype.kind not in "biufc":
                raise NotAnArrayError(
                    f"{self.name} was given an array of {dtype}, a dtype that NumPy does not have. "
                    "Fix: pass x.astype(jnp.float32), and cast the result back."
                )
        plain = Plain(self.fun, Structure(leaves, treedef, places), HOST, trees)
        flat, outs, structure = self._described(plain, specs)
        found = host_p.bind(*arrays, flat=flat, outs=outs, name=self.name)
        return jax.tree.unflatten(structure.treedef, structure.filled(found))

    def _described(
        self, plain: Plain, specs: tuple[Spec, ...]
    ) -> tuple[Flat, tuple[Spec, ...], Structure]:
        """Return the function, its outputs' shapes and dtypes, and their structure."""
        key = plain, specs, jax.config.jax_enable_x64
        try:
            known = self._known.get(key)
        except TypeError:  # a leaf that cannot be hashed
            return self._looked_up(plain, specs)
        if known is None:
            known = self._known[key] = self._looked_up(plain, specs)
        return known

    def _looked_up(
        self, plain: Plain, specs: tuple[Spec, ...]
    ) -> tuple[Flat, tuple[Spec, ...], Structure]:
        if self.out_like is None:
            found: list[Structure] = []
            made: list[Any] = plain([np.ones(*spec) for spec in specs], found)
            (structure,) = found
            for leaf in made:
                self._check_numpys(leaf)
        else:
            structs = [jax.ShapeDtypeStruct(*spec) for spec in specs]
            own = plain.structure
            args, kwargs = jax.tree.unflatten(own.treedef, own.filled(structs))
            like = self.out_like(*args, **kwargs) if callable(self.out_like) else self.out_like
            made, treedef = jax.tree.flatten(like)
            for leaf in made:
                if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
                    raise NotAnArrayError(
                        f"out_like of {self.name} has {class_of(leaf)}. Fix: give "
                        "jax.ShapeDtypeStruct(shape, dtype), or an array like the result."
                    )
            structure = Structure(made, treedef, range(len(made)))
        outs = tuple(
            (tuple(np.shape(out)), np.dtype(jax.dtypes.canonicalize_dtype(out.dtype)))
            for out in made
        )
        return Declared(plain, tuple(dtype for _, dtype in outs)), outs, structure

    def _check_numpys(self, leaf: Any) -> None:
        if isinstance(leaf, jax.core.Tracer):
            raise NotAnArrayError(
                f"{self.name} returned a tracer of JAX: it reads a value of a transform around it "
                "that is not among its arguments. Fix: pass that value as an argument."
            )
        if not isinstance(leaf, (np.ndarray, np.generic)):
            raise NotAnArrayError(
                f"{self.name} was given arrays of NumPy and returned {class_of(leaf)}. "
                "Fix: compute with NumPy in it; a function of JAX's needs no callback."
            )


HOST = Host()
ARRAYS = (jax.Array, np.ndarray, np.generic)


def conjugated(array: Any) -> Any:
    """Return the conjugate of a complex array; others as they are."""
    if not np.issubdtype(array.dtype, np.complexfloating):
        return array
    return array.conj() if isinstance(array, AnyWrapper) else np.conj(array)


# The primitive ------------------------------------------------------------------------------------

host_p: Any = import_module("jax.extend.core").Primitive("gradwrap_host")
host_p.multiple_results = True


def _shapes(*_: Any, outs: tuple[Spec, ...], **_params: Any) -> list[Any]:
    return [jax.core.ShapedArray(*spec) for spec in outs]


def _on_host(
    arrays: Sequence[Any], flat: Flat, outs: tuple[Spec, ...], name: str
) -> tuple[Any, ...]:
    """Call the function, and check what it returns."""
    found: list[Any] = flat([np.asarray(array) for array in arrays])
    if len(found) != len(outs):
        raise NotAnArrayError(
            f"{name} returned {len(found)} arrays, and JAX was told {len(outs)}. "
            "Fix: let out_like have the structure of the result."
        )
    for array, (shape, _) in zip(found, outs, strict=True):
        if np.shape(array) != shape:
            raise NotAnArrayError(
                f"{name} returned an array of shape {np.shape(array)}, and JAX was told {shape}. "
                "Fix: return arrays whose shapes depend on the arguments' shapes alone, or give "
                "out_like=lambda *args: jax.ShapeDtypeStruct(shape, dtype)."
            )
    return tuple(np.asarray(a, dtype) for a, (_, dtype) in zip(found, outs, strict=True))


def _performed(*arrays: Any, **params: Any) -> list[Any]:
    return [jax.numpy.asarray(out) for out in _on_host(arrays, **params)]


def _in_program(*arrays: Any, **params: Any) -> Any:
    structs = [jax.ShapeDtypeStruct(*spec) for spec in params["outs"]]

    def call(*own: Any) -> tuple[Any, ...]:
        return _on_host(own, **params)

    return list(jax.pure_callback(call, tuple(structs), *arrays))


host_p.def_abstract_eval(_shapes)
host_p.def_impl(_performed)
mlir.register_lowering(host_p, mlir.lower_fun(_in_program, multiple_results=True))


def _jvp(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    flat: Flat,
    outs: tuple[Spec, ...],
    name: str,
) -> tuple[list[Any], list[Any]]:
    moved = tuple(
        type(tangent) is not ad.Zero and is_floating(primal)
        for primal, tangent in zip(primals, tangents, strict=True)
    )
    values = host_p.bind(*primals, flat=flat, outs=outs, name=name)
    floating = tuple(spec for spec in outs if spec[1].kind in "fc")
    found = iter(())
    if any(moved) and floating:
        given = [tangent for tangent, own in zip(tangents, moved, strict=True) if own]
        push = Pushed(flat, moved)
        found = iter(host_p.bind(*given, *primals, flat=push, outs=floating, name=name))
    return values, [
        next(found)
        if any(moved) and dtype.kind in "fc"
        else ad.Zero(jax.typeof(value).to_tangent_aval())
        for value, (_, dtype) in zip(values, outs, strict=True)
    ]


def _transpose(cotangents: Sequence[Any], *args: Any, flat: Flat, name: str, **_: Any) -> list[Any]:
    """Return the cotangents of the arguments in which the function is linear."""
    linear = tuple(bool(ad.is_undefined_primal(a)) for a in args)
    specs = tuple((a.aval.shape, np.dtype(a.aval.dtype)) for a in args if ad.is_undefined_primal(a))
    given = [ad.instantiate_zeros(g) for g in cotangents]
    count = sum(linear)
    known = list(args[count:])
    back: Flat
    if isinstance(flat, Pushed) and all(linear[:count]) and count == sum(flat.moved):
        back = Pulled(flat.of, flat.moved, len(given))
    elif isinstance(flat, Pulled) and all(linear[:count]) and count == flat.count:
        back = Pushed(flat.of, flat.needed)
    else:  # the pull of a linear function is the same at every point
        back = Pulled(flat, linear, len(given))
        known = [
            jax.numpy.zeros(a.aval.shape, a.aval.dtype) if own else a
            for a, own in zip(args, linear, strict=True)
        ]
    found = iter(host_p.bind(*given, *known, flat=back, outs=specs, name=name))
    return [next(found) if own else None for own in linear]


def _batch(
    arrays: Sequence[Any], dims: Sequence[Any], *, flat: Flat, outs: tuple[Spec, ...], name: str
) -> tuple[list[Any], list[int]]:
    axes = tuple(None if dim is None else int(dim) for dim in dims)
    size = next(a.shape[axis] for a, axis in zip(arrays, axes, strict=True) if axis is not None)
    whole = tuple(((size, *shape), dtype) for shape, dtype in outs)
    found = host_p.bind(*arrays, flat=Batched(flat, axes), outs=whole, name=name)
    return found, [0] * len(outs)


ad.primitive_jvps[host_p] = _jvp
ad.primitive_transposes[host_p] = _transpose
batching.primitive_batchers[host_p] = _batch
