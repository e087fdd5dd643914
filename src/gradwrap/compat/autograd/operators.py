"""The differential operators of HIPS autograd, and its vector spaces."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradwrap.compat.autograd.names import Box
from gradwrap.compat.autograd.primitives import conjugate, defvjp_argnum, primitive
from gradwrap.core.levels.wrapper import AnyWrapper, innermost
from gradwrap.core.values.tree import TreeDef, flatten, map_leaves, unflatten
from gradwrap.transforms.argnums import name_of
from gradwrap.transforms.arguments import passes_through
from gradwrap.transforms.forward import jvp as forward
from gradwrap.transforms.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = Callable[..., Any]


# Vector spaces ------------------------------------------------------------------------------------


class VSpace:
    """The space of values of one structure: arrays of given shapes and dtypes.

    `VSpace.register(kind)` is accepted for kinds of arrays; containers are registered with
    `gradwrap.register_pytree`.
    """

    mappings: ClassVar[dict[type, Any]] = {}

    def __init__(self, value: Any) -> None:
        leaves, treedef = flatten(value)
        self.treedef: TreeDef = treedef
        plain = [np.asarray(innermost(leaf)) for leaf in leaves]
        self.metas: list[tuple[tuple[int, ...], np.dtype[Any]]] = [
            (one.shape, one.dtype) for one in plain
        ]

    @classmethod
    def register(cls, value_type: type, vspace_maker: Any = None) -> None:
        """Register a kind of array."""
        VSpace.mappings[value_type] = vspace_maker or cls

    @property
    def iscomplex(self) -> bool:
        """Whether there is a complex array."""
        return any(dtype.kind == "c" for _, dtype in self.metas)

    @property
    def shape(self) -> Any:
        """The shape of a single array; else the spaces of the parts."""
        if self.treedef.is_lone:
            return self.metas[0][0]
        return unflatten(self.treedef, [vspace(np.zeros(*meta)) for meta in self.metas])

    @property
    def dtype(self) -> Any:
        """The dtype of a single array."""
        return self.metas[0][1]

    @property
    def ndim(self) -> int:
        """The number of axes of a single array."""
        return len(self.metas[0][0])

    @property
    def size(self) -> int:
        """The number of real dimensions."""
        return sum(int(np.prod(s)) * (2 if dtype.kind == "c" else 1) for s, dtype in self.metas)

    def _made(self, make: Callable[[Any, Any], Any]) -> Any:
        return unflatten(self.treedef, [make(*meta) for meta in self.metas])

    def zeros(self) -> Any:
        """Return zeros."""
        return self._made(np.zeros)

    def ones(self) -> Any:
        """Return ones, and 1 + 1j for complex arrays."""
        return self._made(lambda s, d: np.full(s, 1 + 1j if d.kind == "c" else 1, d))

    def randn(self) -> Any:
        """Return normal random numbers of NumPy's global generator."""

        def one(shape: Any, dtype: Any) -> Any:
            made = np.asarray(np.random.randn(*shape))  # noqa: NPY002  programs seed it
            if dtype.kind == "c":
                made = made + 1j * np.asarray(np.random.randn(*shape))  # noqa: NPY002  likewise
            return made.astype(dtype)

        return self._made(one)

    def standard_basis(self) -> Iterator[Any]:
        """Yield the unit vectors."""
        for place, (shape, dtype) in enumerate(self.metas):
            for index in np.ndindex(*shape):
                for unit in (1, 1j) if dtype.kind == "c" else (1,):
                    parts = [np.zeros(*meta) for meta in self.metas]
                    parts[place][index] = unit
                    yield unflatten(self.treedef, parts)

    def add(self, x: Any, y: Any) -> Any:
        """Return the sum."""
        return _both(lambda a, b: a + b, x, y)

    def mut_add(self, x_prev: Any, x_new: Any) -> Any:
        """Return the sum; None stands for zero."""
        return self.add(self.zeros() if x_prev is None else x_prev, x_new)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Return the product with a number."""
        return map_leaves(lambda leaf: leaf * a, x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Return the real inner product."""
        products = _both(lambda a, b: np.sum(np.real(np.conj(a) * b)), x, y)
        return sum(flatten(products)[0])

    def covector(self, x: Any) -> Any:
        """Return the conjugate."""
        return map_leaves(conjugate, x)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VSpace):
            return NotImplemented
        return self.metas == other.metas and self.treedef == other.treedef

    def __hash__(self) -> int:
        return hash(tuple(self.metas))

    def __repr__(self) -> str:
        return f"VSpace({self.treedef}, {self.metas})"


def _both(function: Function, x: Any, y: Any) -> Any:
    leaves, treedef = flatten(x)
    return unflatten(treedef, [function(a, b) for a, b in zip(leaves, flatten(y)[0], strict=True)])


def vspace(value: Any) -> VSpace:
    """Return the space of a value."""
    for leaf in flatten(value)[0]:
        is_bool = isinstance(leaf, bool) or getattr(leaf, "dtype", None) == np.bool_
        if is_bool or not isinstance(
            leaf, (AnyWrapper, np.ndarray, np.generic, float, complex, int)
        ):
            raise TypeError(f"Can't find vector space for value {value} of type {type(value)}.")
    return VSpace(value)


# One argument -------------------------------------------------------------------------------------


def _floating(x: Any) -> Any:
    """Cast arrays of integers, which have a gradient in HIPS autograd."""

    def cast(leaf: Any) -> Any:
        dtype = getattr(leaf, "dtype", None)
        return leaf.astype(np.float64) if dtype is not None and dtype.kind in "iub" else leaf

    leaves, treedef = flatten(x)
    for leaf in leaves:
        check = Box.type_mappings.get(type(leaf))
        if check is not None:  # a package's own kind of arrays
            check(leaf, 0, None)
    for leaf in leaves if treedef.is_lone else ():
        if isinstance(leaf, int) or passes_through(leaf):
            raise TypeError(f"Can't differentiate w.r.t. type {type(leaf)}")
    return map_leaves(cast, x)


def unary_vjp(fun: Function, x: Any) -> tuple[Function, Any]:
    """Return the pull of a function of one argument, and its value."""
    given = _floating(x)
    recording = Recording(fun, 0, (given,), {}, lasting=True)
    outputs, treedef = flatten(recording.out)
    if not any(map(recording.is_tracked, outputs)):
        warnings.warn("Output seems independent of input.", stacklevel=3)

    def vjp(g: Any) -> Any:
        leaves, given = flatten(g)
        if given != treedef:
            raise TypeError(f"the cotangent has the structure {given}, the output has {treedef}.")
        cotangents = [
            conjugate(_like(leaf, out)) if isinstance(out, AnyWrapper) else None
            for leaf, out in zip(leaves, outputs, strict=True)
        ]
        (found,) = recording.pull(outputs, cotangents, keep=True)
        return map_leaves(conjugate, found)

    return vjp, recording.handed_out(recording.out)


def _like(value: Any, out: Any) -> Any:
    """Return a cotangent as an array of the shape and dtype of an output."""
    value = value if isinstance(value, AnyWrapper) else np.asarray(value)
    if value.dtype.kind == "c" and out.dtype.kind != "c":
        value = np.real(value)
    value = value if value.dtype == out.dtype else value.astype(out.dtype)
    return value if value.shape == out.shape else np.reshape(value, out.shape)


def unary_jvp(fun: Function, x: Any) -> Function:
    """Return the function from a tangent to the value and its tangent, for one argument."""

    def jvp(g: Any) -> tuple[Any, Any]:
        given = _floating(x)
        tangents = _both(lambda v, leaf: _like(v, _as_array(leaf)), g, given)
        value, tangent = forward(fun, (given,), (tangents,))
        leaves, treedef = flatten(value)
        pushed = [
            np.zeros_like(leaf) if t is None else t
            for leaf, t in zip(leaves, flatten(tangent)[0], strict=True)
        ]
        return value, unflatten(treedef, pushed)

    return jvp


def _as_array(value: Any) -> Any:
    return value if isinstance(value, AnyWrapper) else np.asarray(value)


# Several arguments --------------------------------------------------------------------------------


def unary_to_nary(unary_operator: Function) -> Function:
    """Make an operator on functions of one argument take `argnum`, a number or a sequence."""

    @functools.wraps(unary_operator)
    def nary_operator(fun: Function, argnum: Any = 0, *op_args: Any, **op_kwargs: Any) -> Function:
        if type(argnum) not in (int, tuple, list):
            raise TypeError(f"argnum is {argnum!r}. Fix: a position, or a list of positions.")

        def nary_f(*args: Any, **kwargs: Any) -> Any:
            def unary_f(x: Any) -> Any:
                given = list(args)
                for place, value in (
                    ((argnum, x),) if isinstance(argnum, int) else zip(argnum, x, strict=True)
                ):
                    given[place] = value
                return fun(*given, **kwargs)

            functools.update_wrapper(unary_f, fun)
            x = args[argnum] if isinstance(argnum, int) else tuple(args[i] for i in argnum)
            return unary_operator(unary_f, x, *op_args, **op_kwargs)

        operator = name_of(unary_operator)
        nary_f.__name__ = f"{operator}_of_{name_of(fun)}_wrt_argnum_{argnum}"
        nary_f.__doc__ = (
            f"    {operator} of function {name_of(fun)} with respect to argument number "
            f"{argnum}. Takes the\n    same arguments as {name_of(fun)} but returns the "
            f"{operator}.\n    "
        )
        return nary_f

    return nary_operator


make_vjp: Function = unary_to_nary(unary_vjp)
make_jvp: Function = unary_to_nary(unary_jvp)
make_vjp.__name__, make_jvp.__name__ = "make_vjp", "make_jvp"


def _scalar(ans: Any, operator: str) -> Any:
    space = vspace(ans)
    if space.size != 1:
        raise TypeError(
            f"{operator} only applies to real scalar-output functions. "
            "Try jacobian, elementwise_grad or holomorphic_grad."
        )
    return space.ones()


@unary_to_nary
def grad(fun: Function, x: Any) -> Any:
    """Return the gradient of a function whose value is one real number."""
    vjp, ans = unary_vjp(fun, x)
    return vjp(_scalar(ans, "Grad"))


@unary_to_nary
def value_and_grad(fun: Function, x: Any) -> tuple[Any, Any]:
    """Return the value and the gradient."""
    vjp, ans = unary_vjp(fun, x)
    return ans, vjp(_scalar(ans, "value_and_grad"))


@unary_to_nary
def elementwise_grad(fun: Function, x: Any) -> Any:
    """Return the sum of each column of the Jacobian."""
    vjp, ans = unary_vjp(fun, x)
    if vspace(ans).iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions.")
    return vjp(vspace(ans).ones())


@unary_to_nary
def deriv(fun: Function, x: Any) -> Any:
    """Return the derivative along ones."""
    return unary_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x: Any) -> Any:
    """Return the Jacobian, of the shape of the output and that of the argument."""
    vjp, ans = unary_vjp(fun, x)
    rows = [vjp(g) for g in vspace(ans).standard_basis()]
    return np.reshape(np.stack(rows), (*vspace(ans).shape, *vspace(x).shape))


@unary_to_nary
def hessian(fun: Function, x: Any) -> Any:
    """Return the Hessian."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def holomorphic_grad(fun: Function, x: Any) -> Any:
    """Return the complex derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda z: np.real(fun(z)))(x)


@unary_to_nary
def grad_and_aux(fun: Function, x: Any) -> tuple[Any, Any]:
    """Return the gradient of the first output, and the second output."""
    vjp, (ans, aux) = unary_vjp(fun, x)
    return vjp((vspace(ans).ones(), map_leaves(np.zeros_like, aux))), aux


@unary_to_nary
def make_hvp(fun: Function, x: Any) -> Any:
    """Return the function that multiplies by the Hessian, and the gradient."""
    return unary_vjp(grad(fun), x)


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: Any) -> Function:
    """Return the function from tangents to tangents, by transposing the pull."""
    return lambda v: unary_jvp(fun, x)(v)[1]


def make_ggnvp(
    f: Function, g: Function = lambda x: 0.5 * np.sum(x**2, axis=-1), f_argnum: int = 0
) -> Any:
    """Return a function for products with the generalised Gauss-Newton matrix."""

    @unary_to_nary
    def made(f: Function, x: Any) -> Function:
        vjp, f_x = unary_vjp(f, x)
        hvp, _ = unary_vjp(grad(g), f_x)
        return lambda v: vjp(hvp(unary_jvp(f, x)(v)[1]))

    return made(f, f_argnum)


def grad_named(fun: Function, argname: str) -> Any:
    """Return the gradient in a parameter, by its name."""
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Any:
    """Return a function of the arguments and a tensor, which multiplies the Hessian by it."""
    gradient = grad(fun, argnum)

    def vector_dot_grad(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return np.tensordot(gradient(*given, **kwargs), vector, np.ndim(vector))

    return grad(vector_dot_grad, argnum)


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Any:
    """Return a function of the arguments and a tensor, which multiplies it by the Jacobian."""

    def vector_dot_fun(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return np.tensordot(vector, fun(*given, **kwargs), axes=np.ndim(vector))

    return jacobian(vector_dot_fun, argnum)


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


def multigrad_dict(fun: Function) -> Function:
    """Return the gradients in all arguments, in a dictionary by their names."""
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_arguments(arguments: Any) -> Any:
            again = inspect.BoundArguments(signature, arguments)
            return fun(*again.args, **again.kwargs)

        found: dict[str, Any] = grad(of_arguments)(dict(bound.arguments))
        return found

    return gradients


def checkpoint(fun: Function) -> Function:
    """Return a function that keeps no values for its gradient, and runs again for it."""
    wrapped = primitive(fun)
    defvjp_argnum(
        wrapped, lambda argnum, ans, args, kwargs: make_vjp(fun, argnum)(*args, **kwargs)[0]
    )
    return wrapped


# Comparison with differences ----------------------------------------------------------------------

TOLERANCE, STEP = 1e-6, 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Tell if two numbers are close."""
    return bool(abs(a - b) < TOLERANCE or abs(a - b) / abs(a + b) < TOLERANCE)


def _require(holds: bool, message: str) -> None:
    """Raise HIPS autograd's error, an `AssertionError`, also under `python -O`."""
    if not holds:
        raise AssertionError(message)


def check_equivalent(x: Any, y: Any) -> None:
    """Raise an error if two values differ in space, or along a random direction."""
    space = vspace(x)
    _require(space == vspace(y), f"VSpace mismatch:\nx: {space}\ny: {vspace(y)}")
    v = space.randn()
    close = scalar_close(space.inner_prod(x, v), space.inner_prod(y, v))
    _require(close, f"Value mismatch:\nx: {x}\ny: {y}")


def _numerical_jvp(f: Function, x: Any, v: Any) -> Any:
    inputs, outputs = vspace(x), vspace(f(x))
    above = f(inputs.add(x, inputs.scalar_mul(v, STEP / 2)))
    below = f(inputs.add(x, inputs.scalar_mul(v, -STEP / 2)))
    return outputs.scalar_mul(outputs.add(above, outputs.scalar_mul(below, -1.0)), 1 / STEP)


def check_jvp(f: Function, x: Any) -> None:
    """Compare forward mode with differences."""
    v = vspace(x).randn()
    check_equivalent(unary_jvp(f, x)(v)[1], _numerical_jvp(f, x, v))


def check_vjp(f: Function, x: Any) -> None:
    """Compare reverse mode with differences."""
    vjp, y = unary_vjp(f, x)
    inputs, outputs = vspace(x), vspace(y)
    x_v, y_v = inputs.randn(), outputs.randn()
    pulled = inputs.covector(vjp(outputs.covector(y_v)))
    _require(vspace(pulled) == inputs, f"VSpace mismatch:\nx: {inputs}\nvjp: {vspace(pulled)}")
    exact = inputs.inner_prod(x_v, pulled)
    numerical = outputs.inner_prod(y_v, _numerical_jvp(f, x, x_v))
    _require(
        scalar_close(numerical, exact),
        f"Derivative (VJP) check of {name_of(f)} failed with arg {x}:\n"
        f"analytic: {exact}\nnumeric:  {numerical}",
    )


@unary_to_nary
def check_grads(f: Function, x: Any, modes: Any = None, order: int = 2) -> None:
    """Compare derivatives up to an order with differences, along random directions."""
    x = _floating(x)
    modes = ["fwd", "rev"] if modes is None else modes
    for mode in modes:
        check = check_jvp if mode == "fwd" else check_vjp
        check(f, x)
        if order > 1:

            def derivative(x: Any, v: Any, mode: str = mode) -> Any:
                return unary_jvp(f, x)(v)[1] if mode == "fwd" else unary_vjp(f, x)[0](v)

            derivative.__name__ = f"{'jvp' if mode == 'fwd' else 'vjp'}_{name_of(f)}"
            v = vspace(x if mode == "fwd" else f(x)).randn()
            check_grads(derivative, (0, 1), modes, order=order - 1)(x, v)


def quick_grad_check(
    fun: Function, arg0: Any, extra_args: Any = (), kwargs: Any = None, **_options: Any
) -> None:
    """Compare the gradient in the first argument with differences; an older `check_grads`."""
    warnings.warn("quick_grad_check is deprecated. Fix: check_grads.", stacklevel=2)
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)


def combo_check(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """Return a check of all combinations of lists of arguments."""
    from itertools import product

    def check(*lists: Any, **named: Any) -> None:
        for given in product(*lists):
            for options in product(*named.values()):
                check_grads(fun, *args, **kwargs)(*given, **dict(zip(named, options, strict=True)))

    return check
