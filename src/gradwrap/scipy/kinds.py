"""The kinds of rules: how the derivative of a call of SciPy follows from its row.

===============  ================================================================================
kind             its derivative
===============  ================================================================================
`Formula`        that of a function in NumPy of the same arguments; the value stays SciPy's
`ArrayApi`       that of SciPy's own array-API path
`Tangent`        a formula for the tangent, from the value; reverse mode transposes it
`Adjoint`        a formula for the cotangent of each argument; the tangent is the function itself
`AxisLinear`     the function itself; the adjoint of the matrix that it is along an axis
===============  ================================================================================

The kinds without a formula are in `gradwrap.scipy.dispatching`.

The parameters of a formula have the names of SciPy's parameters, and receive their arguments.
A parameter `out` receives SciPy's value.
"""

from __future__ import annotations

import itertools
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradwrap.core.graph.node import Leaf
from gradwrap.core.levels.modes import called
from gradwrap.core.levels.wrapper import (
    AnyWrapper,
    data_of,
    is_recorded,
    level_of,
    make_wrapper,
    native,
)
from gradwrap.core.library.backend import backend_of, is_array
from gradwrap.core.observing.callers import noted
from gradwrap.core.values.comparing import namespace_of, zeros_like
from gradwrap.core.values.dynamic import DICT, LIST, SEQUENCE, TUPLE, rebuilt, type_of
from gradwrap.core.values.space import fit_cotangent, fit_tangent
from gradwrap.errors import GradwrapError, NoRuleError
from gradwrap.rules.matrices import adjoint, as_read, transpose
from gradwrap.scipy.agreeing import check_value
from gradwrap.scipy.array_api import are_open, array_api_paths
from gradwrap.scipy.calls import (
    SciPyCall,
    chosen,
    form_of,
    holds_variable,
    part_of,
    wrappers_in,
)
from gradwrap.scipy.products import parts_of, sparse_product
from gradwrap.scipy.results import float_parts, is_discrete, is_float, is_whole, part_at, with_parts
from gradwrap.scipy.stacks import is_stack, one_of_stack, stack_shape
from gradwrap.scipy.table import Kind, Row
from gradwrap.transforms.arguments import stop_gradient, wrapped_untracked
from gradwrap.transforms.custom_calls import (
    is_differentiated,
    pull_by_transposing,
    push_by_transposing,
)
from gradwrap.transforms.forward import jvp
from gradwrap.transforms.reverse import vjp
from gradwrap.transforms.watches import strong_zeros

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gradwrap.scipy.results import Path
    from gradwrap.transforms.custom_calls import Pull

from gradwrap.scipy.dispatching import Constant, dispatching, parameters_of

SYMMETRIC = ("sym", "symmetric")
DECORATED = ("keepdims", "nan_policy")
"""The options that a decorator gives SciPy's statistical functions, not those functions."""
HERMITIAN = ("her", "hermitian", "pos", "positive definite")


def _as_read(
    row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Replace tracked matrices of which SciPy reads one triangle by the matrices that it reads."""
    form = form_of(row, len(args), tuple(kwargs))
    given = form.named(args, kwargs)
    known = {**form.defaults, **given}
    kind: Any = known.get("assume_a", "her" if known.get("hermitian", True) else "sym")
    if kind not in SYMMETRIC + HERMITIAN:
        return args, kwargs
    adjoined = transpose if kind in SYMMETRIC else adjoint
    for name in row.triangles:
        if isinstance(given.get(name), AnyWrapper):
            given[name] = as_read(np, given[name], not known["lower"], adjoined)
    places, words = form.placed(given)
    return tuple(places), words


class Derived(Kind):
    """A call with SciPy's value and the derivative of a formula."""

    tracks_all = False
    runs_once = False
    has_attributes = False

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return SciPy's value with the derivative of the row."""
        if row.triangles:
            args, kwargs = _as_read(row, args, kwargs)
        call = SciPyCall(row, self, args, kwargs)
        if row.cores and is_stack(call.given, row.cores):
            call.derivative = STACK
        return call.answer()

    def recorded(self, call: SciPyCall) -> list[Any]:
        """Return the outputs with derivatives at all levels, for a kind that `runs_once`."""
        raise NotImplementedError

    def takes(self, parameter: str) -> bool:
        """Tell if a formula names the parameter."""
        return parameter in self.wanted

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Return reverse mode as the transpose of forward mode."""

        def forward(tangents: Sequence[Any]) -> tuple[list[Any], Sequence[Any]]:
            return list(outs), self.push(call, inputs, tangents, outs)

        return pull_by_transposing(forward, inputs, needed, call.name)[1]

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the tangents of the outputs by transposing reverse mode."""
        needed = [tangent is not None for tangent in tangents]
        return push_by_transposing(self.pull(call, inputs, needed, outs), outs, tangents)


class Formula(Derived):
    """The derivative of a function in NumPy of the same arguments.

    It returns a result like SciPy's, or only its differentiable parts in a tuple or a dictionary.
    `out` is SciPy's value as data, for choices that are piecewise constant. `o` has the arguments
    named by `options` as attributes, for formulas that pass them on.
    """

    name = "formula"
    runs_once = True
    options: tuple[str, ...] = ()
    gives_value = False
    """The run that is differentiated also gives the value, and makes SciPy's checks.

    Formulas of the table do not: they take arguments that SciPy refuses.
    """

    beside: Callable[..., Any] | None = None
    """Returns other results of the function, beside which one at a root is small."""

    may_differ: Literal["", "if nan", "anywhere"] = ""
    """Where a formula's result need not be SciPy's: where it is NaN, as is then the derivative, or
    anywhere, since SciPy's is on the way to it."""

    def __init__(self, function: Callable[..., Any], options: str = "") -> None:
        self.function = function
        self.options = tuple(options.split())
        self.wanted: frozenset[str] = parameters_of(function) - {"o"} | {*self.options}

    def recorded(self, call: SciPyCall) -> list[Any]:
        """Return SciPy's values with the history of the formula's result, for all levels at once.

        The formula runs once, on the variables themselves, whatever the order of the derivative.
        """
        if self.gives_value:
            return call.taken_apart(self.evaluate(call, call.leaves, ()))
        outs = call.natively(*call.leaves)
        if call.byproducts:
            return call.performed(outs)
        made = self.evaluate(call, call.leaves, outs)
        parts = [_array_at(made, path) for path in call.out_paths]
        return [
            _with_value(self.compared(call, _aligned(part, out), out), out)
            if isinstance(part, AnyWrapper)
            else out
            for part, out in zip(parts, outs, strict=True)
        ]

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Record the formula, and return its pullback."""
        places = [place for place, is_needed in enumerate(needed) if is_needed]
        formula, kept = self._of_leaves(call, inputs, places, outs)
        _, pull = vjp(formula, *(inputs[place] for place in places))

        def pull_all(cotangents: Sequence[Any]) -> Sequence[Any]:
            given = [_or_zeros(cotangents[place], outs[place]) for place in kept]
            found: list[Any] = [None] * len(inputs)
            for place, cotangent in zip(places, pull(given), strict=True):
                found[place] = cotangent
            return found

        return pull_all

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Run the formula forward."""
        places = [place for place, tangent in enumerate(tangents) if tangent is not None]
        formula, kept = self._of_leaves(call, inputs, places, outs)
        primals, directions = ([list_[place] for place in places] for list_ in (inputs, tangents))
        _, found = jvp(formula, primals, directions)
        pushed: list[Any] = [None] * len(outs)
        for place, tangent in zip(kept, found, strict=True):
            pushed[place] = tangent
        return pushed

    def _of_leaves(
        self, call: SciPyCall, inputs: Sequence[Any], places: Sequence[int], outs: Sequence[Any]
    ) -> tuple[Callable[..., Any], list[int]]:
        """Return the formula as a function from the tracked arguments to the tracked outputs.

        Its first run appends the places of these outputs to the returned list. A check may run it
        again, on plain values.
        """
        kept: list[int] = []
        runs = itertools.count()

        def formula(*leaves: Any) -> list[Any]:
            full, is_first = list(inputs), next(runs) == 0
            for place, leaf in zip(places, leaves, strict=True):
                full[place] = leaf
            made = self.evaluate(call, full, outs)
            level = level_of(leaves[0])
            found: list[Any] = []
            for place, path in enumerate(call.out_paths):
                if place not in call.byproducts:
                    part = _array_at(made, path)
                    if level_of(part) == level:
                        if is_first:
                            kept.append(place)
                        aligned = _aligned(part, outs[place])
                        found.append(self.compared(call, aligned, outs[place]))
            return found

        return formula, kept

    def compared(self, call: SciPyCall, made: Any, out: Any) -> Any:
        """Return a formula's result; raise an error if it is another than SciPy's."""
        if self.may_differ != "anywhere":
            may_be_nan = self.may_differ == "if nan"
            results = self._results(call)
            check_value(call.name, made, out, may_be_nan=may_be_nan, results=results)
        return made

    def _results(self, call: SciPyCall) -> Iterator[Any]:
        yield from (part for _, part in float_parts(call.result))
        if self.beside is not None:
            yield self.beside(**call.arguments([data_of(leaf) for leaf in call.leaves]))

    def evaluate(self, call: SciPyCall, leaves: Sequence[Any], outs: Sequence[Any]) -> Any:
        """Call the formula."""
        out = None
        if "out" in self.wanted:
            out = part_of(call, [stop_gradient(one) for one in outs])
        words = call.words(leaves, self.wanted, out=out)
        if self.options:
            # an older SciPy lacks some options
            options = {name: words.pop(name, None) for name in self.options}
            words["o"] = SimpleNamespace(**options)
        return self.function(**words)


class Stack(Formula):
    """A call on stacks of matrices, as a call on each matrix."""

    gives_value = True

    def __init__(self) -> None:
        pass

    def evaluate(self, call: SciPyCall, leaves: Sequence[Any], outs: Sequence[Any]) -> Any:
        """Call the function of each matrix, and stack the results."""
        given, cores = call.changed(leaves), call.row.cores
        shape = stack_shape(given, cores)
        if 0 in shape:
            return call.original([native(leaf) for leaf in leaves])
        one_matrix = dispatching(call.row, call.row.original)
        results: list[Any] = []
        for index in np.ndindex(shape):
            args, kwargs = call.form.placed(one_of_stack(given, cores, shape, index))
            result = one_matrix(*args, **kwargs)
            is_bare = isinstance(result, TUPLE) and len(result) == 1  # of `qr`, mode "r"
            results.append(result[0] if is_bare else _as_arrays(result))
        parts: dict[Path, Any] = {}
        for path, _ in float_parts(results[0], wanted=_is_stacked):
            if not call.row.is_byproduct(path):
                each = [part_at(result, path) for result in results]
                parts[path] = np.reshape(np.stack(each), (*shape, *np.shape(each[0])))
        return with_parts(results[0], parts)


def _as_arrays(result: Any) -> Any:
    """Return a result with arrays in place of the tuples in it, as SciPy's results for stacks."""
    if not isinstance(result, TUPLE):
        return result
    return tuple(np.stack(one) if isinstance(one, TUPLE) else one for one in result)


def _is_stacked(part: Any) -> bool:
    return is_float(part) or is_whole(part)


STACK = Stack()


def formula(  # noqa: PLR0913  the words of a row
    path: str,
    function: Callable[..., Any],
    arrays: str,
    options: str = "",
    *,
    may_differ: Literal["", "if nan", "anywhere"] = "",
    beside: Callable[..., Any] | None = None,
    **words: Any,
) -> Row:
    """Return a row whose derivative is that of a formula of the same arguments."""
    kind = Formula(function, options)
    kind.may_differ = may_differ
    kind.beside = beside
    return Row(path, kind, arrays=arrays, **words)


class ArrayApi(Formula):
    """The derivative of SciPy's own array-API path, which calls operations of the table."""

    name = "array-API path"
    tracks_all = True
    has_attributes = True

    def __init__(self, *, gives_value: bool = True) -> None:
        """The NumPy path gives the value if `gives_value=False`: if its last digits differ."""
        self.gives_value = gives_value

    def takes(self, parameter: str) -> bool:
        """Take every parameter: the function is SciPy's own."""
        return True

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the value and the derivative of the path; inside an open path, call SciPy."""
        if are_open():
            return row.call(*args, **kwargs)
        given = form_of(row, len(args), tuple(kwargs)).named(args, kwargs)
        kind = self
        if row.omits and given.get("nan_policy") == "omit":
            kind = OMITTING
        elif row.omits and self.gives_value and not given.keys().isdisjoint(DECORATED):
            kind = BESIDE
        return Formula.answer(kind, row, args, kwargs)

    def evaluate(self, call: SciPyCall, leaves: Sequence[Any], outs: Sequence[Any]) -> Any:
        """Call SciPy's function in the namespace of the variables.

        The options of its decorator are those of its NumPy path alone: the value is of that path,
        and `keepdims` changes nothing but shapes.
        """
        is_decorated = call.row.omits and not call.given.keys().isdisjoint(DECORATED)
        inner = call
        if is_decorated:
            omits = call.given.get("nan_policy") == "omit"
            inner = call.without(*(name for name in DECORATED if not omits or name == "keepdims"))
        try:
            with array_api_paths():
                result = inner.original(leaves, _wrapped_arrays)
            if not is_decorated or not call.given.get("keepdims"):
                return result
            shapes = dict(zip(call.out_paths, map(np.shape, outs), strict=True))
            kept = {
                path: np.reshape(part_at(result, path), shape) for path, shape in shapes.items()
            }
            return with_parts(result, kept)
        except NotImplementedError as error:
            if isinstance(error, GradwrapError):
                raise
            raise NoRuleError(
                f"{call.name} has no derivative with these options: its array-API path says "
                f'"{error}" Fix: leave them out, or .detach() what is tracked.'
            ) from error


def _wrapped_arrays(value: Any) -> Any:
    """Wrap all floating-point arrays in nested containers as variables.

    Numbers with variables among them become an array, and so does a list of lists of such numbers:
    SciPy itself makes an array of plain ones. A tuple of arrays stays one. A list of plain floats
    becomes an array too.
    """
    if type_of(value) is LIST and value and {*map(type_of, value)} == {float}:
        value = np.asarray(value)
    if isinstance(value, SEQUENCE):
        parts = [_wrapped_arrays(part) for part in value]
        variables: list[Any] = [part for part in parts if isinstance(part, AnyWrapper)]
        shapes = set(map(np.shape, parts)) if variables else set()
        if shapes == {()} or (len(shapes) == 1 and type_of(value) is LIST):
            return variables[0].__array_namespace__().asarray(parts)
        return rebuilt(value, parts)
    if isinstance(value, DICT):
        return {key: _wrapped_arrays(part) for key, part in value.items()}
    is_array = isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    return wrapped_untracked(value) if is_array else value


class Selecting(ArrayApi):
    """A path that computes more than it selects: what it does not use gets no cotangent.

    The derivative is that of `strong_zeros`. Without it, zero times a derivative of NaN is NaN.
    """

    runs_once = False

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Record the path, and return its pullback."""
        with strong_zeros():
            pull = super().pull(call, inputs, needed, outs)

        def pull_strongly(cotangents: Sequence[Any]) -> Sequence[Any]:
            with strong_zeros():
                return pull(cotangents)

        return pull_strongly

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Run the path forward."""
        with strong_zeros():
            return super().push(call, inputs, tangents, outs)


class Omitting(Selecting):
    """A path that omits NaN; SciPy's NumPy path, which gives the value, drops it from slices."""

    def compared(self, call: SciPyCall, made: Any, out: Any) -> Any:
        """Return the path's result; raise an error where it does not omit NaN as SciPy does."""
        try:
            return super().compared(call, made, out)
        except NoRuleError as error:
            raise NoRuleError(
                f"{call.name} has no derivative with nan_policy='omit' and these arguments. Fix: "
                "drop the NaN of each slice before the call, x[~np.isnan(x)]."
            ) from error


OMITTING = Omitting(gives_value=False)
BESIDE = ArrayApi(gives_value=False)


in_source: list[Callable[[Any], Any]] = []
"""What gives a function in Python that takes variables, from one of SciPy's, or None."""


class InSource(Formula):
    """The derivative of SciPy's own code, run on variables; its value is compared with SciPy's."""

    name = "own source"
    tracks_all = True
    has_attributes = True

    def __init__(self) -> None:
        pass

    def takes(self, parameter: str) -> bool:
        """Take every parameter: the function is SciPy's own."""
        return True

    def evaluate(self, call: SciPyCall, leaves: Sequence[Any], outs: Sequence[Any]) -> Any:
        """Run the code."""
        made = next(filter(None, (make(call.row.original) for make in in_source)), None)
        if made is None:
            raise NoRuleError(f"{call.name} is not written in Python. Fix: .detach() it.")
        args, kwargs = call.form.placed(call.changed(leaves))
        return made(*args, **kwargs)


class Untried(ArrayApi):
    """A function without a row, differentiated by its array-API path, or by its own source.

    What fails is tried in that order.
    """

    name = "array-API path, untested"

    def __init__(self) -> None:
        super().__init__(gives_value=False)

    def answer(self, row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Try the ways; if all fail, raise an error that names the public function."""
        leaves = [leaf for _, leaf in wrappers_in([args, kwargs])]
        if not is_differentiated(leaves):
            return Constant.answer(Constant(""), row, args, kwargs)
        error: Exception | None = None
        before = noted.get()
        for way in (self, IN_SOURCE):
            try:
                made = SciPyCall(row, way, args, kwargs).answer()
                if is_recorded([part for _, part in float_parts(made)]) or is_discrete(made):
                    noted.set(before)
                    return made
                raised: Exception = ValueError("its result does not depend on what is tracked")
            except (GradwrapError, TypeError, ValueError, AttributeError, IndexError) as failed:
                raised = failed
            error = error or raised
        raise NoRuleError(
            f"{row.name} has no derivative in gradwrap. Fix: make it one operation with "
            f"gradwrap.primitive({row.name}), and give that a rule with gradwrap.defvjp; or give "
            "it .detach() if no gradient is wanted."
        ) from error


IN_SOURCE = InSource()


class Tangent(Derived):
    """A formula for the tangent: `function(t, out, ...)`.

    `t` has the tangent of each array argument by its name, zeros where it is not tracked, None
    where it is not given. It returns the tangent of the result in its structure.
    """

    name = "tangent"

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.wanted: frozenset[str] = parameters_of(function)

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the tangents of the outputs, which the formula computes."""
        full = [zeros_like(x) if t is None else t for x, t in zip(inputs, tangents, strict=True)]
        arguments = call.arguments(inputs)
        moved = {name: call.given.get(name) for name in call.row.arrays}
        parts = dict(zip(call.paths, full, strict=True))
        t = {
            name: None
            if arguments.get(name) is None
            else parts[(name,)]
            if (name,) in parts
            else np.zeros(np.shape(arguments[name]))
            for name in moved
        }
        made = self.function(**call.words(inputs, self.wanted, t=t, out=part_of(call, outs)))
        return [
            None if place in call.byproducts else _aligned(part_at(made, path), outs[place])
            for place, path in enumerate(call.out_paths)
        ]


class Factors(Tangent):
    """The factors of one matrix: a formula for their tangents, and the table's rule backward.

    `cotangent(xp, g, out, a)` is that rule: it sees on which factors a loss depends, and so what
    equal values mean for it. A call with other arguments or results transposes the formula.
    """

    def __init__(self, function: Callable[..., Any], cotangent: Callable[..., Any]) -> None:
        super().__init__(function)
        self.cotangent = cotangent

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Call the table's rule with SciPy's factors."""
        ranks = [np.ndim(out) for out in outs]
        is_known = ranks == [2, 1, 2] or (ranks == [1, 2] and len(outs[0]) == len(outs[1]))
        if not is_known or call.given.get("b") is not None:
            return super().pull(call, inputs, needed, outs)
        (a,) = inputs

        def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            xp = namespace_of([x for x in (a, *outs, *cotangents) if x is not None])
            return [_fitted(self.cotangent(xp, cotangents, outs, a), a)]

        return pull


class Adjoint(Derived):
    """A formula for the cotangent of each array argument: `function(g, ...)`.

    `push` has a formula `function(t, out, ...)` for each argument in which the function is not
    linear; for the others the function itself gives the tangent. `back` is a formula whose result
    other formulas take as a parameter, such as the solution of the adjoint system.
    """

    name = "adjoint"

    def __init__(
        self,
        pull: Mapping[str, Callable[..., Any]],
        push: Mapping[str, Callable[..., Any]] | None = None,
        back: Callable[..., Any] | None = None,
    ) -> None:
        self.pulls: dict[str, Callable[..., Any]] = dict(pull)
        self.pushes: dict[str, Callable[..., Any]] = dict(push or {})
        self.back = back
        functions = [*self.pulls.values(), *self.pushes.values(), *([back] if back else ())]
        self.wanted: frozenset[str] = frozenset().union(*map(parameters_of, functions))

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Call the formula of each argument that is needed."""

        def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            g, out = cotangents[0], outs[0]
            if call.out_paths != [()]:
                given = [_or_zeros(g, out) for g, out in zip(cotangents, outs, strict=True)]
                g, out = part_of(call, given), part_of(call, outs)
            more = {"g": zeros_like(out) if g is None else g, "out": out}
            words = call.known(inputs) | more
            if self.back is not None:
                words["back"] = self.back(**chosen(words, parameters_of(self.back)))
            found: list[Any] = []
            for x, path, is_needed in zip(inputs, call.paths, needed, strict=True):
                if not is_needed:
                    found.append(None)
                    continue
                function = self.pulls[str(path[0])]
                made = part_at(function(**chosen(words, parameters_of(function))), path[1:])
                found.append(_fitted(made, x))
            return found

        return pull

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Sum the contributions of the tangents of the arguments."""
        total: list[Any] = [None] * len(outs)
        for place, (path, tangent) in enumerate(zip(call.paths, tangents, strict=True)):
            if tangent is None:
                continue
            if str(path[0]) not in self.pushes:
                moved = [*inputs[:place], tangent, *inputs[place + 1 :]]
                parts = SciPyCall.values(call.unchecked(), moved)
            else:
                function = self.pushes[str(path[0])]
                given = call.arguments(inputs)[str(path[0])]
                zeros = {at: zeros_like(x) for at, x in float_parts(given) if at != path[1:]}
                t = with_parts(given, zeros | {path[1:]: tangent})
                more = {"t": t, "out": part_of(call, outs)}
                made = function(**call.words(inputs, parameters_of(function), **more))
                parts = [part_at(made, path) for path in call.out_paths]
            total = [b if a is None else a + b for a, b in zip(total, parts, strict=True)]
        return [_aligned(part, out) for part, out in zip(total, outs, strict=True)]


def system(  # noqa: PLR0913  the words of a row
    path: str,
    arrays: str,
    of: Callable[..., Any],
    along: Callable[..., Any],
    back: Callable[..., Any],
    *,
    triangles: str = "",
) -> Row:
    """Return the row of a solution `x` of a linear system with the right-hand side `b`.

    `back` solves the adjoint system, which gives the cotangent of `b`. The matrix is the first
    array: `of` computes its cotangent, and `along` the tangent of `x` from a tangent of the matrix.
    """
    matrix = arrays.split(maxsplit=1)[0].partition(":")[0]
    kind = Adjoint({matrix: of, "b": lambda back: back}, {matrix: along}, back)
    return Row(path, kind, arrays=arrays, triangles=triangles)


class AxisLinear(Derived):
    """A function linear in one array along one axis, which also maps tangents.

    Reverse mode calls `adjoint(g, ...)` if given. Otherwise it applies the adjoint of the map's
    matrix, found by calling the function on unit vectors. Recent matrices are kept in sparse form.
    """

    name = "linear along an axis"

    def __init__(
        self,
        array: str = "x",
        axis: str = "axis",
        adjoint: Callable[..., Any] | None = None,
        *,
        singly: bool = False,
        holds: Callable[[dict[str, Any]], str] | None = None,
    ) -> None:
        self.array = array
        self.axis = axis
        self.adjoint = adjoint
        self.singly = singly
        """The function takes one vector at a time."""
        self.holds = holds
        """A function from the arguments to the option that makes the map nonlinear, or ""."""
        self._matrices: dict[Any, Any] = {}

    def takes(self, parameter: str) -> bool:
        """Take every parameter: the map is SciPy's own."""
        return True

    def push(
        self, call: SciPyCall, inputs: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
    ) -> Sequence[Any]:
        """Call the function on the tangent; its other arguments are as they were."""
        self._check(call)
        return call.values(
            [
                t if t is not None else zeros_like(x) if path[0] == self.array else x
                for path, x, t in zip(call.paths, inputs, tangents, strict=True)
            ]
        )

    def pull(
        self, call: SciPyCall, inputs: Sequence[Any], needed: Sequence[bool], outs: Sequence[Any]
    ) -> Pull:
        """Return the function that applies the adjoint."""
        self._check(call)
        arguments = call.arguments(inputs)
        x = arguments[self.array]
        axis = arguments.get(self.axis, -1)

        def pull(cotangents: Sequence[Any]) -> Sequence[Any]:
            g = cotangents[0]
            if self.adjoint is not None:
                words = call.words(inputs, parameters_of(self.adjoint), g=g)
                made = self.adjoint(**words)
            else:
                made = applied(self._adjoint_matrix(call, x.shape[axis]), g, axis)
            fitted = _fitted(made, x)
            return [fitted if path == (self.array,) else None for path in call.paths]

        return pull

    def _check(self, call: SciPyCall) -> None:
        option = "" if self.holds is None else self.holds(call.form.defaults | call.given)
        if option:
            raise NoRuleError(
                f"{call.name} has no derivative with {option}, with which it is not linear. "
                "Fix: use another value of the option."
            )
        if self.singly and np.ndim(call.given[self.array]) > 1:
            raise NoRuleError(
                f"{call.name} has a derivative for one vector. Fix: call it for each row."
            )

    def _adjoint_matrix(self, call: SciPyCall, n: int) -> Any:
        """Return the adjoint of the matrix of the map, from its values at unit vectors."""
        pairs = zip(call.paths, call.leaves, strict=True)  # what is not the array is constant
        given = call.changed([x if path[0] == self.array else native(x) for path, x in pairs])
        options = {k: v for k, v in given.items() if k not in (self.array, self.axis)}
        key = (call.name, n, *((k, _frozen(v)) for k, v in sorted(options.items())))
        found = self._matrices.get(key)
        if found is None:
            sparse: Any = import_module("scipy.sparse")  # slow to import
            blocks: list[Any] = []
            for start in range(0, n, BLOCK):
                units = np.eye(n, min(BLOCK, n - start), -start)
                if self.singly:
                    columns = [call.row.call(**options, **{self.array: u}) for u in units.T]
                    made = np.stack(columns, axis=1)
                else:
                    made = call.row.call(**options, **{self.array: units, self.axis: 0})
                blocks.append(sparse.csr_array(made))
            found = sparse.hstack(blocks, format="csr").conj().T
            while len(self._matrices) >= KEPT:
                self._matrices.pop(next(iter(self._matrices)))
            self._matrices[key] = found
        return found


BLOCK = 256
"""The number of unit vectors that are transformed at once."""
KEPT = 16
"""The number of matrices that are kept."""


def _frozen(value: Any) -> Any:
    """Convert an option to a hashable part of a key."""
    if isinstance(value, SEQUENCE):
        return (type(value), *map(_frozen, value))
    return (value.tobytes(), value.shape) if isinstance(value, np.ndarray) else repr(value)


# Products with sparse matrices --------------------------------------------------------------------


class OfColumns(Adjoint):
    """A linear function of columns, such as a product with a constant matrix from the left."""

    name = "linear in columns"
    by_columns = True


def _product(matrix: Any, x: Any, adjoint: bool) -> Any:
    """Multiply a matrix or its adjoint by an array; in a trace this is one operation."""
    if not isinstance(matrix, np.ndarray):
        return called(sparse_product, sparse_product.__name__, *parts_of(matrix), x, adjoint)
    return matrix.conj().T @ x if adjoint else matrix @ x


PRODUCT = Row(
    "sparse product",
    OfColumns({"x": lambda g, matrix, adjoint: product(matrix, g, not adjoint)}),
    arrays="x",
    original=_product,
)


def product(matrix: Any, x: Any, adjoint: bool = False) -> Any:
    """Multiply a constant matrix, which may be sparse, or its adjoint, with an array.

    The array has one or two axes.
    """
    if isinstance(x, AnyWrapper):
        return PRODUCT.kind.answer(PRODUCT, (matrix, x, adjoint), {})
    return _product(matrix, x, adjoint)


def applied(matrix: Any, x: Any, axis: int) -> Any:
    """Apply a constant matrix along an axis of an array."""
    moved = np.moveaxis(x, axis, 0)
    made = product(matrix, np.reshape(moved, (moved.shape[0], -1)))
    return np.moveaxis(np.reshape(made, (-1, *moved.shape[1:])), 0, axis)


# Parts of a result --------------------------------------------------------------------------------


def _or_zeros(cotangent: Any, out: Any) -> Any:
    return zeros_like(out) if cotangent is None else cotangent


def _with_value(made: Any, value: Any) -> Any:
    """Return a variable with other data and the same history."""
    if not isinstance(made, AnyWrapper):
        return value
    if isinstance(made._node, Leaf):  # an argument itself
        made = made * 1.0
    return make_wrapper(type(made), _with_value(made._value, value), made._node)


def _fitted(made: Any, x: Any) -> Any:
    """Convert a formula's cotangent to the shape and dtype of the argument."""
    if made.shape == x.shape and made.dtype == x.dtype:
        return made
    return fit_cotangent(namespace_of([made, x]), made, backend_of(x).meta(x, 0))


def _array_at(made: Any, path: Path) -> Any:
    """Return a part of a formula's result; raise an error where SciPy has an array and it a list.

    A derivative would be lost.
    """
    part = part_at(made, path)
    if isinstance(part, (*SEQUENCE, DICT)) and holds_variable(part):
        raise ValueError("its structure is not that of SciPy's result")
    return part


def _aligned(part: Any, out: Any) -> Any:
    """Convert a part of a formula's result to the shape and dtype of SciPy's result."""
    if part is None:
        return zeros_like(out)
    if not is_array(part):
        part = np.asarray(part)
    return fit_tangent(namespace_of([part, out]), part, out)
