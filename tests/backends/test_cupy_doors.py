"""The attributes that CuPy asks a variable for before it touches a device: they are undocumented.

The arrays here are CuPy's own, over host memory: they have shapes and dispatch, and nothing is
computed with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.array.batched import Batched
from gradwrap.core.array.variable import Variable
from gradwrap.core.calls.forward import Dual
from gradwrap.core.library.backend import wrapper_class
from gradwrap.errors import NoRuleError, OutArgumentError, RuleDefinitionError, TrackedValueError
from lambdas import rows

if TYPE_CHECKING:
    from collections.abc import Callable

cupy: Any = pytest.importorskip("cupy")
import cupyx  # noqa: E402  after the skip
import cupyx.scipy.special as cupy_special  # noqa: E402  after the skip

from gradwrap.backends.cupy import protocol as cupy_protocol  # noqa: E402  after the skip

ELEMENTWISE, REDUCTION = (
    "__cupy_override_elementwise_kernel__",
    "__cupy_override_reduction_kernel__",
)


def hollow(*shape: int) -> Any:
    host = np.ones(shape)
    memory = cupy.cuda.UnownedMemory(host.ctypes.data, host.nbytes, host, device_id=0)
    return cupy.ndarray(shape, host.dtype, memptr=cupy.cuda.MemoryPointer(memory, 0))


def tracked(*shape: int) -> Any:
    return gw.wrap(hollow(*shape), requires_grad=True)


class Asked:
    """An object that notes what it is asked for."""

    shape, ndim, size, dtype = (3,), 1, 3, np.dtype(float)

    def __init__(self) -> None:
        self.kernels: list[str] = []
        self.answer: Any = None

    def astype(self, dtype: Any, copy: Any) -> Asked:
        """`where` asks it of a condition."""
        return self

    def _elementwise(self, kernel: Any, *args: Any, **kwargs: Any) -> Any:
        self.kernels.append(kernel.name)
        return (kernel.name, args, kwargs) if self.answer is None else self.answer

    @staticmethod
    def _reduction(kernel: Any, axis: Any, dtype: Any, out: Any, keepdims: Any) -> Any:
        return kernel.name, (axis, dtype, out, keepdims)

    def __getattr__(self, name: str) -> Any:
        if name == ELEMENTWISE:
            return self._elementwise
        if name == REDUCTION:
            return self._reduction
        raise AttributeError(name)


# What is pinned -----------------------------------------------------------------------------------


def test_ufunc_hands_over_kernel_arguments_and_keywords() -> None:
    asked, plain = Asked(), hollow(3)

    assert cupy.exp(asked) == ("cupy_exp", (asked,), {})
    name, args, options = cupy.add(plain, asked, dtype="f")
    assert (name, options) == ("cupy_add", {"dtype": "f"})
    assert args[0] is plain
    assert args[1] is asked
    erf: Any = cupy_special.erf  # to a checker it takes arrays only
    assert erf(asked)[0] == "cupyx_scipy_special_erf"


def test_outputs_come_after_the_inputs() -> None:
    asked, plain, out = Asked(), hollow(3), hollow(3)

    _, args, _ = cupy.add(asked, plain, out)
    assert args[2] is out
    name, args, _ = plain.__iadd__(asked)
    assert name == "cupy_add"
    assert args[0] is args[2] is plain


def test_users_kernel_is_handed_over_as_it_is() -> None:
    kernel = cupy.ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")
    assert kernel(hollow(3), Asked())[0] == "product"
    assert [param.name for param in kernel.in_params] == ["x", "y"]
    assert kernel.nin == 2


def test_functions_of_ufuncs_have_these_names() -> None:
    calls: dict[str, Callable[[Any], Any]] = {
        "cupy_angle": lambda asked: cupy.angle(asked),
        "cupy_where": lambda asked: cupy.where(asked, hollow(3), hollow(3)),
    }
    for name, call in calls.items():
        asked = Asked()
        asked.answer = hollow(3)
        call(asked)
        assert asked.kernels == [name]
    assert set(cupy_protocol.BY_NAME) == {
        "cupy_angle",
        "cupy_is_close",
        "cupy_where",
    }


def test_reduction_hands_over_itself_and_four_arguments() -> None:
    asked = Asked()
    name, given = cupy.count_nonzero(asked, axis=0)
    assert name == "cupy_count_nonzero"
    assert given[0] == 0


def test_every_ufunc_of_numpys_is_known_by_itself() -> None:
    for name in dir(cupy):
        kernel, function = getattr(cupy, name), getattr(np, name, None)
        if isinstance(kernel, cupy.ufunc) and isinstance(function, np.ufunc):
            found = cupy_protocol.COUNTERPARTS[kernel]  # one of its names
            assert getattr(cupy, found.__name__) is kernel


# What a variable has, and has not -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [Variable, Dual, Batched])
def test_all_wrappers_of_cupys_arrays_have_the_hooks_and_no_other(kind: Any) -> None:
    cls = wrapper_class(kind, tracked(3)._backend)

    assert hasattr(cls, ELEMENTWISE)
    assert hasattr(cls, REDUCTION)
    assert cls.__array_priority__ > 100
    # with these, CuPy would take the array out of the graph without a word
    assert not hasattr(cls, "__cupy_get_ndarray__")
    assert not hasattr(tracked(3), "__cuda_array_interface__")
    assert not hasattr(tracked(3), "__cupy_get_ndarray__")


def test_wrappers_of_other_libraries_have_them_not() -> None:
    assert not hasattr(gw.wrap(np.ones(3)), ELEMENTWISE)


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda p, v: p * v,
            lambda p, v: v * p,
            lambda p, v: p @ v,
            lambda p, v: p < v,
            lambda p, v: cupy.add(p, v),
            lambda p, v: np.add(p, v),
            lambda p, v: np.concatenate([p, v]),
            lambda p, v: v.sum(None, None, None, False),
            lambda p, v: cupy.sum(v),
        ]
    ),
)
def test_call_reaches_an_operation_on_the_device(call: Callable[[Any, Any], Any]) -> None:
    """The call gets past every dispatch, as far as the device, which is not there."""
    if cupy.is_available():
        assert call(hollow(3), tracked(3)) is not None
        return
    with pytest.raises((cupy.cuda.runtime.CUDARuntimeError, ImportError)):
        call(hollow(3), tracked(3))


# What is refused, and how -------------------------------------------------------------------------


def in_place(plain: Any, value: Any) -> None:
    plain += value


def store(plain: Any, value: Any) -> None:
    plain[0] = value


@pytest.mark.parametrize(
    "call",
    rows(
        [
            in_place,
            lambda p, v: cupy.add(p, v, p),
            lambda p, v: cupy.add(v, p, out=p),
            lambda p, v: cupy.exp(v, p),
            lambda p, v: v.sum(None, None, p, False),
            lambda p, v: v.clip(0, 1, out=p),
            lambda p, v: v.dot(v, p),
            lambda p, v: v.take([0], None, p),
            lambda p, v: cupy.max(v, out=p),
            lambda p, v: cupy.mean(v, out=p),
        ]
    ),
)
def test_output_that_cannot_hold_a_tracked_value_is_refused(
    call: Callable[[Any, Any], Any],
) -> None:
    with pytest.raises(OutArgumentError, match="a plain array cannot hold a tracked value"):
        call(hollow(3), tracked(3))


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda p, v: store(p, v[0]),
            lambda p, v: p.fill(v[0]),
            lambda p, v: cupy.array([v, v]),
            lambda p, v: cupy.asnumpy(v),
            lambda p, v: cupy.real(v),
            lambda p, v: cupy.cov(v),
            lambda p, v: cupy.full((3,), v),
        ]
    ),
)
def test_conversion_is_refused_with_the_import_to_change(call: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TrackedValueError, match=r"import gradwrap\.cupy as cp"):
        call(hollow(3), tracked(3))


@pytest.mark.parametrize(
    "call",
    rows(
        [
            lambda p, v: cupy.matmul(p, v),
            lambda p, v: cupy.stack([p, v]),
            lambda p, v: cupy.moveaxis(v, 0, 0),
            lambda p, v: cupy.expand_dims(v, 0),
            lambda p, v: cupy.broadcast_to(v, (2, 3)),
            lambda p, v: cupy.cumsum(v),
            lambda p, v: cupy.inner(p, v),
            lambda p, v: cupy.dot(p, v),
            lambda p, v: cupy.split(v, 3),
            lambda p, v: cupy.median(v),
            lambda p, v: cupy.any(v),
            lambda p, v: cupy.nansum(v),
            lambda p, v: cupy.trapezoid(v),
            lambda p, v: cupy.sum(p, out=v),
        ]
    ),
)
def test_function_of_arrays_of_cupys_own_refuses(call: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError):
        call(hollow(3), tracked(3))


def test_wrapped_array_is_none_of_numpys() -> None:
    with pytest.raises(TypeError, match=r"x\.data is the cupy\.ndarray"):
        np.asarray(gw.wrap(hollow(3)))


# Kernels without a rule ---------------------------------------------------------------------------


def test_kernel_without_a_rule_says_how_to_give_it_one() -> None:
    kernel = cupy.ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")
    with pytest.raises(NoRuleError) as caught:
        kernel(tracked(3), hollow(3))
    assert str(caught.value) == (
        "the kernel product on cupy arrays has no rule, and an argument is tracked. "
        "Fix: gradwrap.defvjp(kernel, lambda xp, g, x: ..., lambda xp, g, y: ...), with the kernel "
        "itself, gives it one, or .detach() the argument if its gradient is not wanted."
    )


def test_ufunc_without_a_rule_says_so() -> None:
    with pytest.raises(NoRuleError, match="the kernel cupy_rsqrt on cupy arrays has no rule"):
        cupyx.rsqrt(tracked(3))


@pytest.mark.parametrize(
    "kernel",
    [
        cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total"),
        cupy.RawKernel('extern "C" __global__ void total(double* x) {}', "total"),
    ],
)
def test_kernel_that_asks_nobody_is_to_be_a_primitive(kernel: Any) -> None:
    with pytest.raises(RuleDefinitionError, match="Nothing tells gradwrap when total is called"):
        gw.defvjp(kernel, lambda xp, g, x: g)


def test_formula_names_the_parameters_of_the_kernel() -> None:
    kernel = cupy.ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")
    with pytest.raises(RuleDefinitionError, match="It may use xp, g, out, x, y, x_meta, y_meta"):
        gw.defvjp(kernel, lambda xp, g, x2: g * x2, None)


def test_ufunc_with_a_rule_of_its_own_takes_no_keywords() -> None:
    with pytest.raises(NoRuleError, match="cupyx_scipy_special_erf with dtype= cannot be recorded"):
        cupy_special.erf(tracked(3), dtype="f")
