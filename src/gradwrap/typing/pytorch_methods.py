"""The methods of PyTorch's tensors that a variable has besides NumPy's, as checkers see them.

At run time `Variable.__getattr__` finds each of them at first use, in
`backends/torch/methods.py`. They are declared by their types alone, a line each; `docs/tape.md`
says what they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from gradwrap.typing.arguments import AnyArray, Integers

Other = TypeVar("Other")
T_co = TypeVar("T_co", covariant=True)
# The names of the builtins, some of which are methods below
Bool: TypeAlias = bool
Float: TypeAlias = float
Int: TypeAlias = int


class Binary(Protocol[T_co]):
    """A method of one more array."""

    def __call__(self, other: AnyArray, /) -> T_co: ...


class Added(Protocol[T_co]):
    """`add` and `sub`."""

    def __call__(self, other: AnyArray, *, alpha: Float = 1) -> T_co: ...


class AddedProduct(Protocol[T_co]):
    """`addcmul` and `addcdiv`."""

    def __call__(self, tensor1: AnyArray, tensor2: AnyArray, *, value: Float = 1) -> T_co: ...


class Along(Protocol[T_co]):
    """A method along an axis."""

    def __call__(self, dim: Int) -> T_co: ...


class Clamped(Protocol[T_co]):
    """`clamp`."""

    def __call__(self, min: AnyArray = None, max: AnyArray = None) -> T_co: ...


class Counted(Protocol[T_co]):
    """`count_nonzero`."""

    def __call__(self, dim: Integers | None = None) -> T_co: ...


class Differences(Protocol[T_co]):
    """`diff`."""

    def __call__(self, n: Int = 1, dim: Int = -1) -> T_co: ...


class Divided(Protocol[T_co]):
    """`split` and `chunk`."""

    def __call__(self, parts: Any, /, dim: Int = 0) -> tuple[T_co, ...]: ...


class Norm(Protocol[T_co]):
    """`norm`."""

    def __call__(self, p: Any = 2, dim: Integers | None = None, keepdim: Bool = False) -> T_co: ...


class Reduced(Protocol[T_co]):
    """A reduction along axes."""

    def __call__(self, dim: Integers | None = None, keepdim: Bool = False) -> T_co: ...


class ReducedAlong(Protocol[T_co]):
    """A reduction along axes that are given."""

    def __call__(self, dim: Integers, keepdim: Bool = False) -> T_co: ...


class Rolled(Protocol[T_co]):
    """`roll`."""

    def __call__(self, shifts: Integers, dims: Integers | None = None) -> T_co: ...


class Triangle(Protocol[T_co]):
    """`tril` and `triu`."""

    def __call__(self, *, k: Int = 0) -> T_co: ...


class Unbound(Protocol[T_co]):
    """`unbind`."""

    def __call__(self, dim: Int = 0) -> tuple[T_co, ...]: ...


class Compared(Protocol):
    """`allclose`."""

    def __call__(self, other: AnyArray, rtol: Float = 1e-5, atol: Float = 1e-8) -> Bool: ...


class PyTorchMethods(Generic[Other]):
    """The methods of `torch.Tensor` that variables of every library have.

    `Other` is returned where the dtype is another.
    """

    if TYPE_CHECKING:
        abs: Callable[[], Self]
        abs_: Callable[[], Self]
        absolute: Callable[[], Self]
        acos: Callable[[], Self]
        acos_: Callable[[], Self]
        acosh: Callable[[], Self]
        acosh_: Callable[[], Self]
        add: Added[Self]
        add_: Added[Self]
        addcdiv: AddedProduct[Self]
        addcdiv_: AddedProduct[Self]
        addcmul: AddedProduct[Self]
        addcmul_: AddedProduct[Self]
        allclose: Compared
        amax: Reduced[Self]
        amin: Reduced[Self]
        asin: Callable[[], Self]
        asin_: Callable[[], Self]
        asinh: Callable[[], Self]
        asinh_: Callable[[], Self]
        atan: Callable[[], Self]
        atan2: Binary[Self]
        atan_: Callable[[], Self]
        atanh: Callable[[], Self]
        atanh_: Callable[[], Self]
        bitwise_not: Callable[[], Other]
        bmm: Binary[Self]
        bool: Callable[[], Other]
        ceil: Callable[[], Self]
        ceil_: Callable[[], Self]
        chunk: Divided[Self]
        clamp: Clamped[Self]
        clamp_: Clamped[Self]
        clamp_max: Binary[Self]
        clamp_max_: Binary[Self]
        clamp_min: Binary[Self]
        clamp_min_: Binary[Self]
        contiguous: Callable[[], Self]
        copy_: Binary[Self]
        cos: Callable[[], Self]
        cos_: Callable[[], Self]
        cosh: Callable[[], Self]
        cosh_: Callable[[], Self]
        count_nonzero: Counted[Other]
        cpu: Callable[[], Self]
        det: Callable[[], Self]
        diff: Differences[Self]
        dim: Callable[[], Int]
        div: Binary[Self]
        div_: Binary[Self]
        divide: Binary[Self]
        double: Callable[[], Self]
        element_size: Callable[[], Int]
        eq: Binary[Other]
        equal: Callable[[AnyArray], Bool]
        exp: Callable[[], Self]
        exp_: Callable[[], Self]
        expand: Callable[..., Self]
        expand_as: Binary[Self]
        expm1: Callable[[], Self]
        expm1_: Callable[[], Self]
        fill_: Binary[Self]
        flip: Callable[..., Self]
        float: Callable[[], Other]
        floor: Callable[[], Self]
        floor_: Callable[[], Self]
        gather: Callable[[Int, AnyArray], Self]
        ge: Binary[Other]
        gt: Binary[Other]
        hypot: Binary[Self]
        index_select: Callable[[Int, AnyArray], Self]
        int: Callable[[], Other]
        inverse: Callable[[], Self]
        is_complex: Callable[[], Bool]
        is_floating_point: Callable[[], Bool]
        isfinite: Callable[[], Other]
        isinf: Callable[[], Other]
        isnan: Callable[[], Other]
        le: Binary[Other]
        lerp: Callable[[AnyArray, AnyArray], Self]
        lerp_: Callable[[AnyArray, AnyArray], Self]
        log: Callable[[], Self]
        log10: Callable[[], Self]
        log10_: Callable[[], Self]
        log1p: Callable[[], Self]
        log1p_: Callable[[], Self]
        log2: Callable[[], Self]
        log2_: Callable[[], Self]
        log_: Callable[[], Self]
        log_softmax: Along[Self]
        logaddexp: Binary[Self]
        logical_and: Binary[Other]
        logical_not: Callable[[], Other]
        logical_or: Binary[Other]
        logical_xor: Binary[Other]
        logsumexp: ReducedAlong[Self]
        long: Callable[[], Other]
        lt: Binary[Other]
        masked_fill: Callable[[AnyArray, AnyArray], Self]
        masked_fill_: Callable[[AnyArray, AnyArray], Self]
        masked_select: Binary[Self]
        matmul: Binary[Self]
        maximum: Binary[Self]
        minimum: Binary[Self]
        mm: Binary[Self]
        movedim: Callable[[Integers, Integers], Self]
        mul: Binary[Self]
        mul_: Binary[Self]
        multiply: Binary[Self]
        mv: Binary[Self]
        narrow: Callable[[Int, Int, Int], Self]
        ne: Binary[Other]
        neg: Callable[[], Self]
        neg_: Callable[[], Self]
        negative: Callable[[], Self]
        norm: Norm[Self]
        numel: Callable[[], Int]
        numpy: Callable[[], NDArray[Any]]
        outer: Binary[Self]
        permute: Callable[..., Self]
        pow: Binary[Self]
        pow_: Binary[Self]
        reciprocal: Callable[[], Self]
        reciprocal_: Callable[[], Self]
        relu: Callable[[], Self]
        relu_: Callable[[], Self]
        remainder: Binary[Self]
        remainder_: Binary[Self]
        reshape_as: Binary[Self]
        roll: Rolled[Self]
        select: Callable[[Int, Int], Self]
        sigmoid: Callable[[], Self]
        sigmoid_: Callable[[], Self]
        sign: Callable[[], Self]
        sign_: Callable[[], Self]
        sin: Callable[[], Self]
        sin_: Callable[[], Self]
        sinh: Callable[[], Self]
        sinh_: Callable[[], Self]
        softmax: Along[Self]
        split: Divided[Self]
        sqrt: Callable[[], Self]
        sqrt_: Callable[[], Self]
        square: Callable[[], Self]
        square_: Callable[[], Self]
        sub: Added[Self]
        sub_: Added[Self]
        subtract: Added[Self]
        t: Callable[[], Self]
        tan: Callable[[], Self]
        tan_: Callable[[], Self]
        tanh: Callable[[], Self]
        tanh_: Callable[[], Self]
        tile: Callable[..., Self]
        to: Callable[[Any], Other]
        tril: Triangle[Self]
        tril_: Triangle[Self]
        triu: Triangle[Self]
        triu_: Triangle[Self]
        true_divide: Binary[Self]
        trunc: Callable[[], Self]
        trunc_: Callable[[], Self]
        type_as: Callable[[AnyArray], Other]
        unbind: Unbound[Self]
        unflatten: Callable[[Int, Sequence[Int]], Self]
        unsqueeze: Along[Self]
        view_as: Binary[Self]
        where: Callable[[AnyArray, AnyArray], Self]
        zero_: Callable[[], Self]
