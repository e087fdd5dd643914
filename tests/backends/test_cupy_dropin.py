"""`import gradwrap.cupy as cp`: CuPy, whose functions and new arrays take tracked values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError, TrackedValueError
from hosted_cupy import device_params, on_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

cupy: Any = pytest.importorskip("cupy")
import gradwrap.cupy  # noqa: E402  after the skip

cp: Any = gradwrap.cupy


@pytest.fixture(scope="module", params=device_params())
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    with on_device(request.param) as counted:
        yield counted


def on_host(values: Any) -> Any:
    return cupy.asnumpy(gw.unwrap(values))


# What is CuPy's own -------------------------------------------------------------------------------


def test_names_are_cupys() -> None:
    assert set(dir(cupy)) <= set(dir(cp))
    assert cp.newaxis is None
    assert cp.int64 is cupy.int64
    assert cp.ElementwiseKernel is cupy.ElementwiseKernel
    assert cp.cuda is cupy.cuda
    assert cp.sin is cp.sin
    assert cp.linalg.norm is cp.linalg.norm
    assert cp.concatenate.__doc__ == cupy.concatenate.__doc__
    assert cp.add.nin == 2
    assert repr(cp.add) == "<ufunc 'cupy_add'>"
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = cp.no_such_name
    with pytest.raises(AttributeError, match="__no_such__"):
        _ = cp.__no_such__


@pytest.mark.usefixtures("device")
def test_plain_arrays_are_cupys_and_stay_so() -> None:
    x = cp.asarray([1.0, 2.0])

    for result in (x, cp.sin(x), cp.concatenate([x, x]), cp.linalg.norm(x), cp.zeros(3), x * 2):
        assert type(result) is cupy.ndarray
        assert isinstance(result, cp.ndarray)
    assert type(cp.asnumpy(x)) is np.ndarray
    assert cp.get_array_module(x) is cp
    assert cp.get_array_module(np.ones(1)) is np


# Under a transform --------------------------------------------------------------------------------


def layers(cp: Any, w: Any, x: Any) -> Any:
    hidden = cp.tanh(cp.matmul(x, w))
    wide = cp.concatenate([hidden, cp.ones((x.shape[0], 1))], axis=1)
    return cp.mean(cp.sum(cp.stack([wide, wide**2]), axis=(0, 2)))


def filled(cp: Any, w: Any, x: Any) -> Any:
    out = cp.zeros(3)
    for i in range(3):
        out[i] = w[0, i % 2] * x[i, 0]
    cp.add.at(out, cp.asarray([0, 0]), w[1])
    return cp.sum(out * cp.arange(3.0))


def inverse(cp: Any, w: Any, x: Any) -> Any:
    gram = cp.einsum("ij,ik->jk", x, x) + cp.eye(2)
    return cp.linalg.slogdet(gram)[1] + cp.trace(cp.linalg.solve(gram, w)) + cp.linalg.norm(w)


def spectrum(cp: Any, w: Any, x: Any) -> Any:
    return cp.sum(cp.abs(cp.fft.rfft(cp.ravel(w))) ** 2) + cp.max(x) * cp.median(w)


def ufuncs(cp: Any, w: Any, x: Any) -> Any:
    return (
        cp.add.reduce(cp.ravel(w))
        + cp.sum(cp.multiply.outer(w[0], w[1]))
        + cp.sum(cp.where(x > 0.5, x, cp.clip(x, 0.1, 0.3)))
        + cp.sum(cp.asarray([w[0, 0], w[1, 1]]) * cp.full((2,), w[0, 1]))
    )


def joined(cp: Any, w: Any, x: Any) -> Any:
    row = cp.r_[w[0], x[1], w[1, 1], 2.0]
    columns = cp.c_[w, cp.asarray([3.0, 4.0])]
    return cp.sum(row[:4] * row[1:5]) + cp.sum(columns @ columns.T)


PROGRAMS = [layers, filled, inverse, spectrum, ufuncs, joined]
W = np.array([[0.3, -0.2], [0.5, 0.9]])
X = np.array([[0.2, 0.4], [0.6, 0.1], [0.8, 0.3]])


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradient_is_that_of_the_same_program_on_numpy(program: Callable[..., Any]) -> None:
    import gradwrap.numpy as gnp

    wanted = gw.value_and_grad(lambda w, x: program(gnp, w, x), (0, 1))(W, X)
    value, gradients = gw.value_and_grad(lambda w, x: program(cp, w, x), (0, 1))(
        cupy.asarray(W), cupy.asarray(X)
    )

    np.testing.assert_allclose(on_host(value), wanted[0], rtol=1e-12)
    for found, expected in zip(gradients, wanted[1], strict=True):
        assert type(found) is cupy.ndarray
        np.testing.assert_allclose(on_host(found), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("program", [layers, inverse, ufuncs])
def test_other_transforms_go_through_it_too(program: Callable[..., Any]) -> None:
    import gradwrap.numpy as gnp

    def of(module: Any, asarray: Any) -> list[Any]:
        w, x = asarray(W), asarray(X)

        def f(w: Any) -> Any:
            return program(module, w, x)

        moved = gw.jvp(f, (w,), (w,))[1]
        hessian = gw.hessian(f)(w)
        batch = gw.vmap(gw.grad(f))(asarray(np.stack([W, 2 * W])))
        return [moved, hessian, batch]

    for found, wanted in zip(of(cp, cupy.asarray), of(gnp, np.asarray), strict=True):
        np.testing.assert_allclose(on_host(found), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("device")
def test_namespace_of_the_array_works_as_well() -> None:
    def f(w: Any) -> Any:
        xp = w.__array_namespace__()
        return xp.sum(xp.concat([xp.exp(w), w @ w]))

    gradient = gw.grad(f)(cupy.asarray(W))

    np.testing.assert_allclose(on_host(gradient), gw.grad(f)(W), rtol=1e-12)


@pytest.mark.usefixtures("device")
def test_arrays_made_inside_are_variables_and_integers_are_not() -> None:
    def f(x: Any) -> Any:
        assert isinstance(cp.zeros_like(x), gw.Variable)
        assert isinstance(cp.zeros(2), gw.Variable)
        assert type(cp.arange(3)) is cupy.ndarray
        assert cp.get_array_module(x) is cp
        return cp.sum(x)

    gw.grad(f)(cupy.asarray(W))


@pytest.mark.usefixtures("device")
def test_keywords_of_cupys_signature_are_understood() -> None:
    v = gw.wrap(cupy.asarray(W), requires_grad=True)

    assert cp.reshape(v, newshape=(4,)).shape == (4,)
    assert cp.concatenate(tup=(v, v)).shape == (4, 2)
    assert cp.rot90(a=v).shape == (2, 2)
    assert cp.argmax(v, 0, None).shape == (2,)
    assert on_host(cp.argmax(v, axis=1)).tolist() == [0, 1]
    with pytest.raises(NoRuleError, match=r"cupy\.argmax with dtype= has no rule"):
        cp.argmax(v, 0, cupy.int32)
    with pytest.raises(TypeError, match="missing a required argument"):
        cp.reshape(v)


@pytest.mark.usefixtures("device")
def test_what_has_no_rule_says_so() -> None:
    v = gw.wrap(cupy.asarray(W), requires_grad=True)

    with pytest.raises(NoRuleError, match="histogram on cupy arrays has no rule"):
        cp.histogram(v)
    with pytest.raises(NoRuleError, match=r"cupy\.packbits has no rule|packbits on cupy arrays"):
        cp.packbits(v)
    with pytest.raises(NoRuleError, match=r"bitwise_count.* has no rule"):
        cp.bitwise_count(v)
    with pytest.raises(TrackedValueError, match=r"cupy\.asnumpy would take a tracked value"):
        cp.asnumpy(v)
    np.testing.assert_array_equal(cp.asnumpy(v.detach()), W)
    assert on_host(cp.histogram(v.detach(), bins=2)[0]).sum() == 4


@pytest.mark.usefixtures("device")
def test_out_is_written_to_or_refused() -> None:
    v = gw.wrap(cupy.asarray(W), requires_grad=True)
    buffer = gw.wrap(cupy.zeros((2, 2)))

    result = cp.multiply(v, 2.0, out=buffer)
    assert result is buffer
    assert buffer.requires_grad
    total = gw.wrap(cupy.zeros(2))
    cp.sum(v, axis=0, out=total)
    (total @ cp.asarray([1.0, 2.0])).backward()
    np.testing.assert_array_equal(on_host(v.grad), [[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(TypeError, match="a plain array cannot hold a tracked value"):
        cp.sum(v, axis=0, out=cupy.zeros(2))
