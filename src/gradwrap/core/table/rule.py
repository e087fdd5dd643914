"""Rules: one row of the table holds everything about one operation.

A row has a kind (`gradwrap.core.table.kinds`), a signature, formulas, and options for the
operation: how it is batched, how NumPy spells it, where the harness samples it.

The words of a formula are its parameter names. They name its arguments, and so the values to save:

====================  =====================================================================
`xp`                  the namespace of the arrays it is given
`g`                   the cotangent of the output
`t`                   in a JVP, in place of `g`: the tangent of an argument
`out`                 the output
`x`, `x1`, `x2`, ...  an argument, by its name in the signature
`x_meta`, ...         shape, dtype and device of an argument; no values are saved
`axis`, ...           a static argument
====================  =====================================================================

Formulas are written as for real numbers. For complex ones the engine conjugates the cotangent
before and after, which is right for every holomorphic function (the Jacobian's adjoint is the
conjugated transpose); `holomorphic=False` marks the others, whose formulas get the cotangent
unchanged. Reducing to the argument's shape after broadcasting, and projecting to its dtype and to
the reals, are done by the engine, never by a formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwrap.errors import RuleDefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias, TypedDict, Unpack

    # A function written in `xp`. The numbers of parameters are there, so that a type checker takes
    # those of a lambda for Any, and refuses a formula without `g`.
    FormulaFunction: TypeAlias = (
        Callable[[Any, Any], Any]
        | Callable[[Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any, Any, Any, Any], Any]
        | Callable[[Any, Any, Any, Any, Any, Any, Any, Any, Any], Any]
    )

    Batching: TypeAlias = str | Callable[..., Any]
    """How a batch of examples is performed: a word, or a function with the words of batching."""

    class RuleOptions(TypedDict, total=False):
        """The options of a row besides its formulas; each is explained in `Rule`."""

        array_count: int
        is_joint: bool
        variadic: bool
        holomorphic: bool
        same: bool
        symmetric: bool
        symbol: str | None
        native: FormulaFunction | None
        outputs: int
        materializes: bool
        on_use: Callable[..., None] | None
        casts: bool
        real_steps: bool
        jumps: str
        views: str | None
        consumes: bool
        parts: bool
        key: str | None
        batch: Batching | None
        diagonal: str | None
        selects: bool
        domain: tuple[float, float]
        samples: Sequence[str]
        probe: FormulaFunction | None
        only_real: bool
        only_complex: bool
        order: int | None
        convention: str
        reason: str
        checked: bool
        provenance: str
        jvp: FormulaFunction | Sequence[FormulaFunction | None] | None
        scope: dict[str, Any]
        numpy: str | tuple[str, ...]


def zero(xp: Any, g: Any) -> Any:  # noqa: ARG001  a marker: nothing is recorded
    """Mark an argument whose derivative is zero wherever it exists."""
    return None


def passes(xp: Any, g: Any) -> Any:  # noqa: ARG001  the form of a formula
    """Return the cotangent unchanged.

    Where the other argument is a number, or a plain array that changes neither shape nor dtype,
    and the transform is the only one to see the graph, nothing is recorded at all: the result takes
    the place of the argument in the graph.
    """
    return g


class Formula:
    """A cotangent's formula, with the names of the values it saves."""

    __slots__ = ("function", "saved")

    def __init__(self, function: Callable[..., Any], saved: tuple[str, ...]) -> None:
        self.function: Callable[..., Any] = function
        self.saved: tuple[str, ...] = saved


class Kind:
    """The mathematical structure of an operation, which implies its tangent and its batching.

    The kinds are in `gradwrap.core.table.kinds`. A kind knows nothing of wrappers: it writes terms,
    and the levels put them into their calls.
    """

    name = ""
    tangent_from = ""
    """The source of a tangent's term, in the words of the page of operations."""
    is_differentiable = True
    is_elementwise = False
    """Each element of the result depends on the elements at its place alone."""

    def push(self, rule: Rule, index: int) -> str | None:
        """Write the term that one argument contributes to the output's tangent.

        Its words are the formulas' words; `x_t` is the tangent of `x` and `x_d` its data. An empty
        term is zero. None stands for a tangent that no expression gives: it is the VJP transposed.
        """
        raise NotImplementedError

    def real_only(self, rule: Rule) -> bool:
        """Tell if the terms of `push` hold for real arrays only."""
        return False

    def batch(self, rule: Rule) -> Batching:
        """Return how the operation is performed on a batch, unless the row says it."""
        return "loop"

    def describe(self, rule: Rule) -> str:
        """Return where the tangent comes from, for the page of operations."""
        raise NotImplementedError


class Rule:
    """A row of the table: the kind of an operation, its signature, its formulas and its options."""

    # The options, and their defaults
    is_joint: bool = False  # one formula gives the cotangents of all arguments
    variadic: bool = False  # it takes any number of arrays, as one sequence
    holomorphic: bool = True
    same: bool = False  # the result has the shape and dtype of arguments that agree in them
    symmetric: bool = False  # in its two arguments, as its formulas are
    symbol: str | None = None  # of Python's operator, "[]" for an index
    native: Callable[..., Any] | None = None  # the operation in terms of others, (xp, ...)
    outputs: int = 1
    materializes: bool = True  # zeros, not None, for an output that no cotangent arrived at
    on_use: Callable[..., None] | None = None  # (out, used): the tangents of several outputs are
    casts: bool = False  # to another dtype or device
    real_steps: bool = False  # piecewise constant on real numbers: not tracked there
    jumps: str = ""  # where: equality, order, sign, whole, half, quotient, place
    views: str | None = None
    consumes: bool = False  # the formula may write to the cotangent
    parts: bool = False  # the formula gives a part of a cotangent
    key: str | None = None  # the parameter that is an index
    batch: Batching | None = None  # None: as follows from the kind
    diagonal: str | None = None  # arguments at which zero gives zero, or a word of batching
    selects: bool = False  # the elements not taken get a zero cotangent
    domain: tuple[float, float] = (-2.0, 2.0)
    samples: Sequence[str] = ()
    probe: Callable[..., Any] | None = None  # differentiated by the harness instead
    only_real: bool = False
    only_complex: bool = False
    order: int | None = None  # up to which it can be differentiated
    convention: str = ""
    reason: str = ""
    checked: bool = False  # the formulas' results are compared with the argument
    provenance: str = "library"  # of the formulas: "library" or "user"
    scope: dict[str, Any] = {"__name__": __name__}  # noqa: RUF012  never changed: what the signature names as defaults
    numpy: tuple[str, ...] = ()  # NumPy's functions that are this operation

    def __init__(
        self,
        name: str,
        signature: str,
        formulas: Sequence[FormulaFunction | None],
        *,
        kind: Kind,
        **options: Unpack[RuleOptions],
    ) -> None:
        given: dict[str, Any] = {**options}
        array_count: int = given.pop("array_count", len(formulas))
        jvp: Any = given.pop("jvp", None)
        if unknown := given.keys() - OPTIONS:
            raise TypeError(f"{name}: a row has no option {', '.join(sorted(unknown))}.")
        if isinstance(given.get("numpy"), str):
            given["numpy"] = (given["numpy"],)
        self.__dict__.update(given)
        self.name = name
        self.kind = kind
        self.chapter = ""  # the module whose table it is a row of
        self.signature_text = signature
        names, keyword_only = _parameters_of(signature, self.scope)
        self.parameters: tuple[str, ...] = names
        self.keyword_only: frozenset[str] = frozenset(keyword_only)
        self.arrays: tuple[str, ...] = self.parameters[:array_count]
        self.statics: tuple[str, ...] = self.parameters[array_count:]
        # JVPs first: a VJP may follow from one, and it is the JVP that a message is about
        self.define_jvps(() if jvp is None else (jvp,) if callable(jvp) else tuple(jvp))
        self.define(formulas)

    def define_jvps(self, formulas: Sequence[FormulaFunction | None]) -> None:
        """Set the formulas for tangents."""
        self.jvps: tuple[Formula | None, ...] = tuple(
            None if f is None else self._read(f, "t") for f in formulas
        )

    def define(self, formulas: Sequence[FormulaFunction | None]) -> None:
        """Set the formulas for cotangents."""
        self.formulas: tuple[Formula | None, ...] = tuple(
            None if f is None else self._read(f, "g") for f in formulas
        )

    @property
    def batching(self) -> Batching:
        """Return how the operation is performed on a batch: as the row or its kind says."""
        return self.batch or self.kind.batch(self)

    @property
    def differentiable(self) -> bool:
        return any(f is not None and f.function is not zero for f in self.formulas)

    def formula_of(self, index: int) -> Formula | None:
        """Return the formula of an argument's cotangent, or None if it is zero or missing."""
        formula = self.formulas[0 if self.is_joint else index]
        return None if formula is None or formula.function is zero else formula

    def lacks(self, index: int) -> bool:
        """Tell if an argument must not be tracked, because it has no formula."""
        return self.kind.is_differentiable and not self.is_joint and self.formulas[index] is None

    def words(self) -> tuple[str, ...]:
        """Return the names that a formula of this rule may use, besides `xp` and `g`."""
        metas = ("metas",) if self.variadic else tuple(f"{a}_meta" for a in self.arrays)
        return ("out", *self.parameters, *metas)

    def _read(self, function: FormulaFunction, along: str) -> Formula:
        """Resolve a formula's parameter names, once, when it is defined."""
        given = parameter_names(function)
        if given[:2] != ("xp", along) and function not in (zero, passes):
            raise RuleDefinitionError(
                f"{self.name}: a formula's first two parameters are xp and {along}, this one has "
                f"({', '.join(given)}). Fix: lambda xp, {along}, {self.parameters[0]}: ..."
            )
        unknown = [name for name in given[2:] if name not in self.words()]
        if unknown:
            raise RuleDefinitionError(
                f"{self.name}: a formula names {', '.join(unknown)}, which it cannot be given. "
                f"It may use xp, {along}, {', '.join(self.words())}."
            )
        return Formula(function, given[2:])


OPTIONS = frozenset(Rule.__annotations__)


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a formula's parameters."""
    code = getattr(function, "__code__", None)
    plain = type(function) is type(zero) and not hasattr(function, "__wrapped__")
    if plain and code is not None and not code.co_kwonlyargcount:
        return tuple(code.co_varnames[: code.co_argcount])
    import inspect  # slow to import, and hardly ever needed

    return tuple(inspect.signature(function).parameters)


def _parameters_of(
    signature: str, scope: dict[str, Any]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a signature's parameters, and of the keyword-only ones."""
    if any(bracket in signature for bracket in "([{") or "*" in signature.replace("*,", ""):
        code = eval(f"lambda {signature}: None", scope).__code__  # noqa: S307  a signature of the table
        by_position = code.co_argcount
        names = code.co_varnames[: by_position + code.co_kwonlyargcount]
        return names, names[by_position:]
    # the usual case, in a tenth of the time: it is that of `import gradwrap`
    before, _, after = signature.partition("*,")
    positional, by_keyword = (
        tuple(part.partition("=")[0].strip() for part in text.split(",") if part.strip(" /"))
        for text in (before, after)
    )
    return positional + by_keyword, by_keyword
