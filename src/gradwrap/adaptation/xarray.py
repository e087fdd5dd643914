"""xarray's labelled arrays as containers, entered when xarray is imported.

The data of a `DataArray`, of a `Variable` and of the data variables of a `Dataset` are the leaves;
dimensions, coordinates, names and attributes are the structure. Inside a function, xarray itself
works on tracked values, which have NumPy's protocols.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import optree

from gradwrap.core.levels.wrapper import AnyWrapper, stripped
from gradwrap.core.values.dynamic import type_of
from gradwrap.core.values.layouts import current_layout, exactly
from gradwrap.core.values.pytree_classes import enter
from gradwrap.core.values.tree import NAMESPACE
from gradwrap.errors import PytreeError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from gradwrap.core.values.layouts import Layout

xr: Any = import_module("xarray")  # it need not be installed where types are checked
_optree: Any = optree  # whose types do not know the namespace's classes
LABELLED: tuple[type[Any], ...] = (xr.DataArray, xr.Dataset, xr.Variable)
OF_ARGUMENT = "_in"
"""What is added to a name of the argument, in a Jacobian, that the output has as well."""


class Labels:
    """The labels of a container: its dimensions, coordinates, names and attributes.

    Two are equal if their dimensions and coordinates are: a tangent or a cotangent may have
    another name and other attributes. They count where a program was made for them.
    """

    def __init__(self, variables: dict[Any, Any], whole: Any) -> None:
        self.dims: dict[Any, tuple[Hashable, ...]] = {k: v.dims for k, v in variables.items()}
        """The dimensions of each array, by the name of its variable."""
        self.shapes: dict[Any, tuple[int, ...]] = {
            name: getattr(variable._data, "shape", ())  # noqa: SLF001  a placeholder has none
            for name, variable in variables.items()
        }
        self.coords: dict[Hashable, Any] = {}
        self.indexes: dict[Hashable, Any] = {}
        if not isinstance(whole, xr.Variable):
            self.coords = _coords(whole.coords.variables)
            self.indexes = dict(whole.xindexes)
        self.attrs: dict[Any, dict[Any, Any]] = {k: dict(v.attrs) for k, v in variables.items()}
        """The attributes of each variable; those of a `Dataset` itself under None."""
        self.attrs[None] = dict(whole.attrs)
        self.name: Any = getattr(whole, "name", None)
        self._is_exact: bool = exactly.get()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Labels)
            and self.dims == other.dims
            and self.coords.keys() == other.coords.keys()
            and all(_are_alike(one, other.coords[name]) for name, one in self.coords.items())
            and (not (self._is_exact or other._is_exact) or self._is_annotated_as(other))
        )

    def _is_annotated_as(self, other: Labels) -> bool:
        coords = [{name: v.attrs for name, v in one.coords.items()} for one in (self, other)]
        texts = map(repr, ((self.attrs, coords[0]), (other.attrs, coords[1])))
        return bool(self.name == other.name) and len(set(texts)) == 1

    def __hash__(self) -> int:
        return hash((tuple(self.dims.items()), frozenset(self.coords)))

    def __repr__(self) -> str:
        arrays = (
            f"{'' if name is None else name}({', '.join(map(str, dims))})"
            for name, dims in self.dims.items()
        )
        sizes = ", ".join(f"{name}{list(one.shape)}" for name, one in self.coords.items())
        named = f" with coordinates {sizes}" if sizes else ""
        return ", ".join(arrays) + named

    def variable(self, name: Any, leaf: Any) -> Any:
        """Return the xarray variable of a leaf, whose axes may have changed."""
        dims, layout = self.dims[name], current_layout()
        if not hasattr(leaf, "ndim"):  # a temporary leaf: a number or None
            leaf = np.broadcast_to(0.0, self.shapes[name])
        if layout is not None:
            dims = self._laid_out(dims, leaf, layout)
        if leaf.ndim != len(dims):
            raise PytreeError(
                f"an array of shape {tuple(leaf.shape)} cannot have the dimensions "
                f"({', '.join(map(str, dims))}) of the labelled array in whose place it is put. "
                "Fix: keep the axes, or apply the function to x.data and label the result."
            )
        return xr.Variable(dims, leaf, self.attrs.get(name))

    def _laid_out(self, dims: Any, leaf: Any, layout: Layout) -> tuple[Hashable, ...]:
        """Return the dimensions, with new ones added or a mapped one removed."""
        more = range(leaf.ndim - len(dims))
        axis = layout.axes.get(id(leaf))
        if layout.change == "rows":
            return (*(f"out_{place}" for place in more), *dims)
        if layout.change == "columns":
            return (*dims, *(f"in_{place}" for place in more))
        if axis is None:
            return tuple(dims)
        axis %= len(dims) + (layout.change == "batch")
        if layout.change == "example":
            gone = dims[axis]
            labels = [name for name, one in self.coords.items() if one.dims == (gone,)]
            layout.mapped[gone] = self._all_coordinates().to_dataset()[labels].coords
            return (*dims[:axis], *dims[axis + 1 :])
        return (*dims[:axis], _name_of_batch(layout, dims), *dims[axis:])

    def coordinates(self, variables: Iterable[Any]) -> Any:
        """Return the coordinates of the dimensions that the variables have."""
        layout, found = current_layout(), self._all_coordinates()
        dims = {dim for variable in variables for dim in variable.dims}
        if layout is None or layout.change in ("rows", "columns"):
            return found
        if layout.change == "example":
            gone = [dim for dim in layout.mapped if dim in found.dims and dim not in dims]
            return found.to_dataset().drop_dims(gone).coords
        added = [one for dim, one in layout.mapped.items() if dim in dims - set(found.dims)]
        return found.merge(added[0]).coords if added else found

    def _all_coordinates(self) -> Any:
        return xr.Coordinates(coords=self.coords, indexes=self.indexes)

    def block(self, name: Any, leaf: Any) -> Any:
        """Return a Jacobian's block with a variable's rows, or the blocks of several."""
        if leaf is None:
            return None
        own = self._coordinates_of(name)
        if _is_labelled(leaf):
            return self._labelled_rows(self.dims[name], own, leaf)
        if hasattr(leaf, "ndim"):
            return xr.DataArray(self.variable(name, leaf)).assign_coords(own)

        def of_part(part: Any) -> Any:
            return self.block(name, part)

        options = {"is_leaf": _is_labelled, "none_is_leaf": True, "namespace": NAMESPACE}
        return _optree.tree_map(of_part, leaf, **options)

    def _labelled_rows(self, rows: tuple[Hashable, ...], own: Any, leaf: Any) -> Any:
        """Label the columns of a block, and add the labels of the rows before them."""
        if isinstance(leaf, xr.Variable):
            leaf = xr.DataArray(leaf)
        scalars = {key: one for key, one in leaf.coords.variables.items() if not one.dims}
        leaf = leaf.drop_vars(
            [k for k, v in scalars.items() if k in own and _are_alike(v, self.coords[k])]
        )
        taken = {*rows, *own}
        other: dict[Hashable, str] = {}
        for key in {*leaf.dims, *leaf.coords} & taken:
            other[key] = f"{key}{OF_ARGUMENT}"
            while other[key] in taken or other[key] in {*leaf.dims, *leaf.coords}:
                other[key] += OF_ARGUMENT
        leaf = leaf.rename(other).rename({f"out_{i}": dim for i, dim in enumerate(rows)})
        return leaf.assign_coords(own)

    def _coordinates_of(self, name: Any) -> Any:
        """Return the coordinates of one variable."""
        dims = set(self.dims[name])
        own = [key for key, one in self.coords.items() if dims.issuperset(one.dims)]
        return self._all_coordinates().to_dataset()[own].coords


def _is_labelled(value: Any) -> bool:
    return isinstance(value, LABELLED)


def _are_alike(a: Any, b: Any) -> bool:
    """Tell if two coordinates have equal values; lazy ones are compared by their graphs."""
    if a is b:
        return True
    if a.chunks is not None and b.chunks is not None:
        return bool(a.dims == b.dims and a.data.name == b.data.name)
    return bool(a.equals(b))


def _name_of_batch(layout: Layout, dims: Any) -> Hashable:
    """Return the dimension that was mapped over, or None."""
    names: list[Hashable] = [name for name in layout.mapped if name not in dims]
    return names[0] if len(layout.mapped) == 1 and names else "batch"


# Taking apart -------------------------------------------------------------------------------------


def _data(variable: Any) -> Any:
    """Return a variable's array, read from a file if need be; a 0-d array becomes a number."""
    held = variable._data  # noqa: SLF001  `data` would make an array of a placeholder
    if hasattr(held, "get_duck_array"):
        held = variable.data
    return held[()] if type_of(held) is np.ndarray and not held.ndim else held


def _coords(variables: Any) -> dict[Hashable, Any]:
    """Return coordinates without wrappers that track nothing; labels have no gradients."""
    found: dict[Hashable, Any] = dict(variables)
    for name, variable in found.items():
        held = variable._data  # noqa: SLF001  as above
        if not isinstance(held, AnyWrapper):
            continue
        plain = stripped(held)
        if isinstance(plain, AnyWrapper):
            raise PytreeError(
                f"the coordinate {name!r} holds tracked values. Coordinates are labels, which "
                "pass the edge of a transform as they are, and are not differentiated. Fix: make "
                f"it a data variable with reset_coords({name!r}), leave it out with "
                f"drop_vars({name!r}), or make it of .detach() of the values."
            )
        found[name] = variable.copy(deep=False, data=plain)
    return found


def _flatten_array(array: Any) -> tuple[Iterable[Any], Labels, tuple[str, ...]]:
    return (_data(array.variable),), Labels({None: array.variable}, array), ("data",)


def _flatten_variable(variable: Any) -> tuple[Iterable[Any], Labels, tuple[str, ...]]:
    return (_data(variable),), Labels({None: variable}, variable), ("data",)


def _flatten_dataset(dataset: Any) -> tuple[Iterable[Any], Labels, tuple[Any, ...]]:
    variables = {name: dataset.variables[name] for name in dataset.data_vars}
    return map(_data, variables.values()), Labels(variables, dataset), tuple(variables)


# Putting together ---------------------------------------------------------------------------------


def _is_jacobian() -> bool:
    """Tell if the blocks of a Jacobian are being put into an output's structure."""
    layout = current_layout()
    return layout is not None and layout.change == "columns"


def _unflatten_array(labels: Labels, leaves: Sequence[Any]) -> Any:
    (leaf,) = leaves
    if _is_jacobian():
        return labels.block(None, leaf)
    variable = labels.variable(None, leaf)
    coords = labels.coordinates([variable])
    made = xr.DataArray(variable, coords=coords, name=labels.name)
    _hold(made.variable, leaf)
    return made


def _unflatten_variable(labels: Labels, leaves: Sequence[Any]) -> Any:
    (leaf,) = leaves
    if _is_jacobian():
        block = labels.block(None, leaf)
        return block.variable if type_of(block) is xr.DataArray and not block.coords else block
    made = labels.variable(None, leaf)
    _hold(made, leaf)
    return made


def _unflatten_dataset(labels: Labels, leaves: Sequence[Any]) -> Any:
    named = dict(zip(labels.dims, leaves, strict=True))
    if _is_jacobian():
        blocks = {name: labels.block(name, leaf) for name, leaf in named.items()}
        are_arrays = all(hasattr(leaf, "ndim") for leaf in leaves)
        return xr.Dataset(blocks) if are_arrays else blocks
    variables = {name: labels.variable(name, leaf) for name, leaf in named.items()}
    coords = labels.coordinates(variables.values())
    made = xr.Dataset(variables, coords=coords, attrs=labels.attrs[None])
    for name, leaf in named.items():
        _hold(made.variables[name], leaf)
    return made


def _hold(variable: Any, leaf: Any) -> None:
    """Store a non-array in a variable, without xarray's conversion."""
    if not hasattr(leaf, "ndim"):
        variable._data = leaf  # noqa: SLF001  it is set nowhere else


def enter_containers() -> None:
    """Register xarray's containers."""
    attribute: Any = optree.GetAttrEntry
    enter(xr.DataArray, _flatten_array, _unflatten_array, attribute)
    enter(xr.Variable, _flatten_variable, _unflatten_variable, attribute)
    enter(xr.Dataset, _flatten_dataset, _unflatten_dataset, optree.MappingEntry)
