"""The table of operations: one row of facts for each name, for the passes and the engines.

`Instr.op` is the row of an instruction. An operation without a row of its own is a function of
NumPy known only by its name: `OPERATIONS[name]` makes a row for it, too.

A fact that several parts of the compiler use is a field of the row. A part that treats one
operation specially compares the row with the constant of that name: `step.op is COPY`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from gradwrap.compiler.ir.padded import padded_product

if TYPE_CHECKING:
    from collections.abc import Callable


OPAQUE = "opaque."
"""The names of functions that source cannot name begin with it, such as `opaque.f`."""


class Kind(Enum):
    """The way an operation uses its arguments."""

    OTHER = auto()
    READ = auto()
    """`x[key]`."""
    WRITE = auto()
    """A copy of `x` with a value written, or added, at a key."""
    FILL = auto()
    """A new array filled with one number."""
    COPY = auto()
    """The same elements, in a new array or in C's order."""
    CAST = auto()
    """The same elements in another dtype."""
    RESHAPE = auto()
    """The same elements in the same order, along other axes."""
    TRANSPOSE = auto()
    """The same elements, with the axes permuted."""
    MOVE = auto()
    """The same, for two axes to exchange, or one to move."""
    BROADCAST = auto()
    SELECT = auto()
    """A view of some elements, or of all in another order."""
    PART = auto()
    """The real or imaginary part, or the conjugate."""
    JOIN = auto()
    """A new array joined from parts."""
    PRODUCT = auto()
    REDUCE = auto()
    """A reduction along axes by a binary ufunc."""
    ACCUMULATE = auto()
    TRIANGLE = auto()
    """A copy of matrices with zeros above or below a diagonal."""


class Sign(Enum):
    """The effect of the operands' signs on the result of elementwise arithmetic."""

    EVEN = auto()
    """The result does not depend on the sign."""
    NEGATION = auto()
    PRODUCT = auto()
    """The sign of the result is the product of the operands' signs."""
    SUM = auto()
    DIFFERENCE = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A row of the table."""

    name: str
    """The ufunc of that name, the NumPy function of that dotted name, or an operation of the IR."""
    kind: Kind = Kind.OTHER
    sign: Sign | None = None
    commutes: bool = False
    folds: bool = False
    """Whether it is folded if its operands are arrays filled with known numbers."""
    never_negative: bool = False
    may_view: bool = False
    """Whether it returns a view for some layouts of its argument, and a copy for others."""
    is_fresh: bool = False
    """Whether it returns a new array that a write may reuse: two of them are never merged."""
    by_values: bool = False
    """Whether the shape of the result depends on the values of the arguments."""
    by_counts: bool = False
    """Whether it depends on those of the arguments after the first."""
    is_identity: bool = False
    """Whether the result equals the first argument if both have the same description."""
    keeps_order: bool = False
    """Whether a view of an array in C's order is in C's order, except for gaps."""
    undoes: str = ""
    """The operation that it undoes exactly: two in a row that undo the same one change nothing."""
    is_scaling: bool = False
    """Whether the result equals the array if the second argument is the number 1."""
    keeps_number: bool = False
    """Whether an array filled with one number stays filled with the same number."""
    operator: str = ""
    """The Python operator, binary or unary."""
    converts: bool = False
    """Whether a Python number is converted to the dtype of the result."""
    names_out: bool = False
    """Whether NumPy takes `out` by name only."""
    method: str = ""
    """The array method with the same result: in CuPy, and as a function in JAX."""
    start: str = ""
    """The initial value of the reduction in C."""
    condition: str = ""
    """The C operator that compares a column with the diagonal where a triangle is kept."""
    jax: str = ""
    """The name of the function in JAX, if different."""
    of: Callable[..., Any] | None = None
    """The operation in every library, if it is no function of that name: it takes the library's
    namespace, and the arguments."""
    scatters: bool = False
    """Whether it adds at the key."""
    reduces: bool = False
    """Whether it reduces along `axis`, its second argument, which its kind does not say."""
    moves: bool = False
    """Whether it only moves elements, which its kind does not say."""
    last_two: bool = False
    """Whether it exchanges the last two axes."""
    joins_along: bool = False
    """Whether it joins along an existing axis, not along a new one."""
    is_power: bool = False
    is_choice: bool = False
    takes_tuple: bool = False
    """Whether the method of that name also accepts integers as separate arguments."""
    takes_array_second: bool = False
    """Whether the function of that name takes the method's array as its second argument."""
    fails: str = ""
    """The arguments for which it raises an error, which the function may have caught."""

    has_key: bool = field(init=False, default=False)
    """Whether the second argument is a key of the first."""

    is_opaque: bool = field(init=False, default=False)
    """Whether source cannot name the function."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_key", self.kind in (Kind.READ, Kind.WRITE))
        object.__setattr__(self, "is_opaque", self.name.startswith(OPAQUE))


class _Operations(dict[str, Operation]):
    """Rows by name; an unknown function gets a new row."""

    def row(self, name: str, kind: Kind = Kind.OTHER, **facts: Any) -> Operation:
        made = self[name] = Operation(name, kind, **facts)
        return made

    def rows(self, names: str, kind: Kind = Kind.OTHER, **facts: Any) -> None:
        for name in names.split():
            self.row(name, kind, **facts)

    def __missing__(self, name: str) -> Operation:
        _, _, method = name.rpartition(".")
        return self.row(name, METHOD_KINDS.get(method, Kind.OTHER), fails=FAILURES.get(method, ""))


def _item(_xp: Any, whole: Any, index: int | str) -> Any:
    return getattr(whole, index) if isinstance(index, str) else whole[index]


def _padded_product(_xp: Any, *args: Any) -> Any:
    return padded_product(*args)


def _mt(xp: Any, x: Any) -> Any:
    return xp.swapaxes(x, -1, -2)


def _pow(_xp: Any, x: Any, y: Any) -> Any:
    return x**y


METHOD_KINDS = {"reduce": Kind.REDUCE, "accumulate": Kind.ACCUMULATE}
"""The kinds of the methods of ufuncs."""
FAILURES = {
    **dict.fromkeys(("cholesky", "cho_factor"), "indefinite"),
    **dict.fromkeys(("inv", "solve", "solve_triangular", "tensorinv", "tensorsolve"), "singular"),
    "interpolant": "any",
    **dict.fromkeys(("eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals"), "infinite"),
}
"""By the last part of a function's name: the matrices, or any arguments, that it refuses."""
OPERATIONS = _Operations()
_row, _rows = OPERATIONS.row, OPERATIONS.rows

# Arrays and their parts ---------------------------------------------------------------------------

GETITEM = _row("getitem", Kind.READ, keeps_order=True)
SETITEM = _row("setitem", Kind.WRITE)
SCATTER_ADD = _row("scatter_add", Kind.WRITE, scatters=True)
ITEM = _row("item", of=_item)
ZEROS = _row("zeros", Kind.FILL, is_fresh=True)
FULL = _row("full", Kind.FILL, is_fresh=True)
COPY = _row("copy", Kind.COPY, is_fresh=True, keeps_number=True)
ASCONTIGUOUSARRAY = _row(
    "ascontiguousarray", Kind.COPY, is_identity=True, keeps_number=True, may_view=True
)
ASTYPE = _row("astype", Kind.CAST, is_identity=True)
RESHAPE = _row(
    "reshape",
    Kind.RESHAPE,
    is_identity=True,
    keeps_number=True,
    may_view=True,
    keeps_order=True,
    takes_tuple=True,
)
_row("ravel", Kind.RESHAPE, may_view=True)
_row("squeeze", Kind.RESHAPE)
_row("expand_dims", Kind.RESHAPE, keeps_order=True)
_row("view", may_view=True)
_row("T", Kind.TRANSPOSE)
MT = _row("mT", Kind.TRANSPOSE, last_two=True, of=_mt)
_row("matrix_transpose", Kind.TRANSPOSE, last_two=True)
_row("transpose", Kind.TRANSPOSE, takes_tuple=True)
_rows("swapaxes moveaxis", Kind.MOVE)
BROADCAST_TO = _row("broadcast_to", Kind.BROADCAST, is_identity=True, keeps_number=True)
_rows("diagonal linalg.diagonal flipud fliplr", Kind.SELECT)
FLIP = _row("flip", Kind.SELECT)
_rows("real imag", Kind.PART)
_rows("conj conjugate", Kind.PART, undoes="conjugate")
ARRAY = _row("array", Kind.JOIN)
STACK = _row("stack", Kind.JOIN)
CONCATENATE = _row("concatenate", Kind.JOIN, joins_along=True)
ROLL = _row("roll", moves=True)
_rows("repeat tile", moves=True, by_counts=True)
_rows("rot90 take take_along_axis", moves=True)
_row("tril", Kind.TRIANGLE, condition="<=")
_row("triu", Kind.TRIANGLE, condition=">=")

# Functions whose result shapes depend on values ---------------------------------------------------

_rows("nonzero flatnonzero argwhere extract trim_zeros delete unique", by_values=True)
_row("compress", by_values=True, takes_array_second=True)
_rows("unique_all unique_counts unique_inverse unique_values", by_values=True)
_rows("union1d intersect1d setdiff1d setxor1d bincount", by_values=True)
_rows("scipy.linalg.orth scipy.linalg.null_space", by_values=True)

# Products and reductions --------------------------------------------------------------------------

MATMUL = _row("matmul", Kind.PRODUCT, operator="@")
EINSUM = _row("einsum")
PADDED_PRODUCT = _row("padded_product", of=_padded_product)
SPARSE_PRODUCT = _row("sparse_product")
ADD_REDUCE = _row("add.reduce", Kind.REDUCE, method="sum", start="0")
MAXIMUM_REDUCE = _row("maximum.reduce", Kind.REDUCE, method="max", start="-__builtin_inf()")
_row("minimum.reduce", Kind.REDUCE, method="min", start="__builtin_inf()")
_row("multiply.reduce", Kind.REDUCE, method="prod")
_row("logical_and.reduce", Kind.REDUCE, method="all")
_row("logical_or.reduce", Kind.REDUCE, method="any")
_rows("sum prod var std max min amax amin ptp median", reduces=True)
MEAN = _row("mean", reduces=True)
ADD_ACCUMULATE = _row("add.accumulate", Kind.ACCUMULATE, method="cumsum")
_row("multiply.accumulate", Kind.ACCUMULATE, method="cumprod")

# Elementwise operations ---------------------------------------------------------------------------

ADD = _row("add", sign=Sign.SUM, commutes=True, folds=True, operator="+", converts=True)
SUBTRACT = _row("subtract", sign=Sign.DIFFERENCE, folds=True, operator="-", converts=True)
MULTIPLY = _row(
    "multiply",
    sign=Sign.PRODUCT,
    commutes=True,
    folds=True,
    operator="*",
    converts=True,
    is_scaling=True,
)
DIVIDE = _row("divide", sign=Sign.PRODUCT, folds=True, operator="/", converts=True, is_scaling=True)
NEGATIVE = _row("negative", sign=Sign.NEGATION, folds=True, operator="-")
_row("positive", operator="+")
POW = _row(
    "pow",
    operator="**",
    converts=True,
    is_scaling=True,
    is_power=True,
    of=_pow,
)
WHERE = _row("where", is_choice=True)
POWER = _row("power", converts=True)
ABSOLUTE = _row("absolute", sign=Sign.EVEN, never_negative=True)
_rows("square fabs cosh", sign=Sign.EVEN, never_negative=True)
_row("cos", sign=Sign.EVEN)
_rows("exp exp2 sqrt", never_negative=True)
_rows("maximum minimum", converts=True, names_out=True)
_row("floor_divide", operator="//")
_row("remainder", operator="%")
_row("bitwise_and", operator="&")
_row("bitwise_or", operator="|")
_row("bitwise_xor", operator="^")
_row("invert", operator="~")
_row("left_shift", operator="<<")
_row("right_shift", operator=">>")
_row("equal", operator="==", commutes=True)
_row("not_equal", operator="!=", commutes=True)
_row("less", operator="<")
_row("less_equal", operator="<=")
_row("greater", operator=">")
_row("greater_equal", operator=">=")
_row("psi", jax="digamma")

METHODS = frozenset(
    "all any argmax argmin argpartition argsort choose clip compress conj conjugate cumprod cumsum "  # noqa: SIM905  a line for the eye
    "diagonal dot flatten max mean min nonzero prod ravel repeat reshape round searchsorted "
    "squeeze std sum swapaxes take trace transpose var view".split()
)
"""The methods that return arrays and never write: operations of the same names."""
NAMES = frozenset(OPERATIONS)
"""The operations with a row of their own."""
