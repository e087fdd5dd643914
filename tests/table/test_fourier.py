"""Fourier transforms: closed forms, NumPy's door, the peers, and what is refused."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from against_numpy import check
from gradwrap.errors import NoRuleError
from harness import to_numpy
from lambdas import fn, is_a

if TYPE_CHECKING:
    from collections.abc import Callable

RANDOM = np.random.default_rng(0)
NORMS = ("backward", "ortho", "forward")
ALONG: list[Any] = [(), (("n", 3),), (("n", 8), ("axis", 0)), (("axis", -2),)]
ALONG_AXES: list[Any] = [(), (("axes", (0, 2)),), (("s", (6, 2)), ("axes", (-1, 0)))]
FROM_REAL = ("rfft", "ihfft", "rfftn", "rfft2")
TO_REAL = ("irfft", "hfft", "irfftn", "irfft2")
STANDARD: list[tuple[str, dict[str, Any]]] = [
    *((name, dict(o)) for name in ("fft", "ifft", *FROM_REAL[:2], *TO_REAL[:2]) for o in ALONG),
    *((name, dict(o)) for name in ("fftn", "ifftn", "rfftn", "irfftn") for o in ALONG_AXES),
]
TWO_AXES: list[tuple[str, dict[str, Any]]] = [
    (name, dict(options))
    for name in ("fft2", "ifft2", "rfft2", "irfft2")
    for options in [(), (("s", (5, 3)),), (("axes", (0, 2)),)]
]


def argument(name: str) -> Any:
    values = RANDOM.normal(size=(3, 4, 5))
    return values if name in FROM_REAL else values + 1j * RANDOM.normal(size=(3, 4, 5))


def cotangent_of(out: Any) -> Any:
    shape: tuple[int, ...] = out.shape
    values = RANDOM.normal(size=shape)
    return values + 1j * RANDOM.normal(size=shape) if np.iscomplexobj(out) else values


# Closed forms -------------------------------------------------------------------------------------


def test_gradient_of_the_energy_is_that_of_parseval() -> None:
    x = RANDOM.normal(size=7)
    gradient = gw.grad(lambda v: np.sum(np.abs(np.fft.fft(v)) ** 2))(x)
    np.testing.assert_allclose(gradient, 2 * 7 * x, rtol=1e-12)


@pytest.mark.parametrize("size", [6, 7])
def test_real_transforms_there_and_back_are_the_identity(size: int) -> None:
    x, weights = RANDOM.normal(size=(2, size))
    f = fn(lambda v: np.sum(weights * np.fft.irfft(np.fft.rfft(v), n=size)))
    np.testing.assert_allclose(gw.grad(f)(x), weights, rtol=1e-12)
    f = fn(lambda v: np.sum(weights * np.fft.hfft(np.fft.ihfft(v), n=size)))
    np.testing.assert_allclose(gw.grad(f)(x), weights, rtol=1e-12)


def test_gradient_of_one_coefficient_is_its_wave() -> None:
    x, j = RANDOM.normal(size=5), np.arange(5)
    real = gw.grad(lambda v: np.real(np.fft.rfft(v))[2])(x)
    imaginary = gw.grad(lambda v: np.imag(np.fft.rfft(v))[2])(x)
    np.testing.assert_allclose(real, np.cos(2 * np.pi * 2 * j / 5), rtol=1e-12)
    np.testing.assert_allclose(imaginary, -np.sin(2 * np.pi * 2 * j / 5), rtol=1e-12)


def test_half_a_spectrum_gets_twice_the_gradient_but_for_its_ends() -> None:
    spectrum = np.array([1.0 + 2j, 3.0 - 1j, 2.0 + 1j])
    even = gw.grad(lambda v: np.fft.irfft(v, n=4, norm="forward")[0])(spectrum)
    odd = gw.grad(lambda v: np.fft.irfft(v, n=5, norm="forward")[0])(spectrum)
    np.testing.assert_allclose(even, [1.0, 2.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(odd, [1.0, 2.0, 2.0], atol=1e-15)


def test_gradient_of_a_convolution_is_a_correlation() -> None:
    x, kernel, weights = RANDOM.normal(size=(3, 6))

    def convolved(a: Any, b: Any) -> Any:
        return np.real(np.fft.ifft(np.fft.fft(a) * np.fft.fft(b)))

    gradient = gw.grad(lambda v: np.sum(weights * convolved(v, kernel)))(x)
    expected = [np.sum(weights * np.roll(kernel, j)) for j in range(6)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


def test_what_is_cut_gets_no_gradient() -> None:
    x = RANDOM.normal(size=6)
    gradient = gw.grad(lambda v: np.sum(np.abs(np.fft.rfft(v, n=4)) ** 2))(x)
    assert np.all(gradient[:4] != 0)
    np.testing.assert_array_equal(gradient[4:], [0.0, 0.0])


def test_shift_moves_the_gradient_back() -> None:
    weights = np.arange(5.0)
    gradient = gw.grad(lambda v: np.sum(weights * np.fft.fftshift(v)))(np.ones(5))
    np.testing.assert_array_equal(gradient, np.fft.ifftshift(weights))


def test_hessian_of_the_energy_is_that_of_parseval() -> None:
    energy = fn(lambda v: np.sum(np.abs(np.fft.fft(v, norm="ortho")) ** 2))
    _, pull = gw.vjp(gw.grad(energy), RANDOM.normal(size=5))
    np.testing.assert_allclose([pull(row)[0] for row in np.eye(5)], 2 * np.eye(5), atol=1e-12)


# NumPy's door -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), STANDARD + TWO_AXES)
def test_numpys_transform_is_differentiated(name: str, options: dict[str, Any]) -> None:
    transform = getattr(np.fft, name)
    for norm in (None, *NORMS):
        check(functools.partial(transform, **options, norm=norm), [argument(name)], order=1)


@pytest.mark.parametrize(
    "name", ["fft", "ifft", "fftn", "ifftn", "fft2", "ifft2", "irfft", "hfft", "irfftn", "irfft2"]
)
def test_transform_of_real_values_has_a_real_gradient(name: str) -> None:
    transform = getattr(np.fft, name)
    check(fn(lambda v: transform(v)), [RANDOM.normal(size=(3, 4))])


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 1, (0, -1)])
def test_numpys_shift_is_differentiated(name: str, axes: Any) -> None:
    check(fn(lambda v: getattr(np.fft, name)(v, axes)), [argument("fft")])


def test_positional_arguments_are_numpys() -> None:
    x = RANDOM.normal(size=(3, 4))
    check(fn(lambda v: np.fft.rfft(v, 6, 0, "ortho")), [x])
    check(fn(lambda v: np.fft.fftn(v, (2, 5), (1, 0), "forward")), [x])


def test_length_of_minus_one_is_the_axis_as_it_is() -> None:
    check(fn(lambda v: np.fft.rfftn(v, s=(5, -1), axes=(0, 1))), [RANDOM.normal(size=(3, 4))])


def test_out_is_written() -> None:
    x = RANDOM.normal(size=4)

    def energy(v: Any) -> Any:
        target: Any = gw.wrap(np.zeros(4, dtype=complex))
        np.fft.fft(v, out=target)
        return np.sum(np.abs(target) ** 2)

    np.testing.assert_allclose(gw.grad(energy)(x), 8 * x, rtol=1e-12)


@pytest.mark.parametrize(("name", "options"), STANDARD + TWO_AXES)
def test_single_precision_stays_single(name: str, options: dict[str, Any]) -> None:
    x = argument(name)
    x = x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)
    out, pull = gw.vjp(lambda v: getattr(np.fft, name)(v, **options), x)
    assert out.dtype == (np.float32 if name in TO_REAL else np.complex64)
    assert pull(np.ones_like(out))[0].dtype == x.dtype


# The standard's namespace -------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["CPU_DEVICE", "device1"])
@pytest.mark.parametrize(("name", "options"), STANDARD)
def test_array_api_strict_gives_what_numpy_gives(
    name: str, options: dict[str, Any], device: str
) -> None:
    x = argument(name)
    wanted, pull_numpy = gw.vjp(lambda v: getattr(np.fft, name)(v, **options), x)
    cotangent = cotangent_of(wanted)
    there = strict.Device(device)

    def transform(v: Any) -> Any:
        return getattr(v.__array_namespace__().fft, name)(v, **options)

    out, pull = gw.vjp(transform, strict.asarray(x, device=there))
    (gradient,) = pull(strict.asarray(cotangent, device=there))

    assert out.device == gradient.device == there
    np.testing.assert_allclose(to_numpy(gradient), pull_numpy(cotangent)[0], rtol=1e-12)


@pytest.mark.parametrize("library", [np, strict], ids=lambda m: m.__name__)
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_are_new_arrays(library: Any, name: str) -> None:
    make: Callable[..., Any] = getattr(gw.wrap_namespace(library).fft, name)
    made = make(5, d=0.5)
    assert is_a(made, gw.Variable)
    assert not made.requires_grad
    np.testing.assert_array_equal(np.asarray(made.data), getattr(np.fft, name)(5, d=0.5))
    assert make(4, dtype=library.float32).dtype == library.float32
    assert make(4, device=made.device).device == made.device


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fft", {"n": 0}),
        ("fft", {"axis": 3}),
        ("rfft", {"norm": "unitary"}),
        ("irfft", {"n": 2.5}),
        ("fftn", {"axes": (0, 5)}),
        ("fftn", {"s": (2, 2, 2), "axes": (0, 1)}),
    ],
)
def test_bad_input_is_numpys_own_error(name: str, options: dict[str, Any]) -> None:
    x, transform = RANDOM.normal(size=(2, 3)), getattr(np.fft, name)
    with pytest.raises((ValueError, IndexError, TypeError)) as plain:
        transform(x, **options)
    with pytest.raises(type(plain.value)) as caught:
        gw.grad(lambda v: np.sum(np.abs(transform(v, **options))))(x)
    assert str(caught.value).startswith(str(plain.value))


def test_real_transform_of_complex_values_is_numpys_own_error() -> None:
    z = RANDOM.normal(size=3) + 1j
    with pytest.raises(TypeError, match="rfft_n"):
        gw.grad(lambda v: np.sum(np.abs(np.fft.rfft(v))))(z)


def test_axis_named_twice_is_refused() -> None:
    x = RANDOM.normal(size=(2, 3))
    with pytest.raises(NoRuleError) as caught:
        gw.grad(lambda v: np.sum(np.abs(np.fft.fftn(v, axes=(1, -1)))))(x)
    assert str(caught.value) == (
        "A Fourier transform along axes=(1, -1), which name an axis twice, has no derivative. "
        "Fix: apply one transform after the other."
    )


# The peers ----------------------------------------------------------------------------------------

PEERS = [(name, options, norm) for name, options in STANDARD + TWO_AXES for norm in NORMS]


@pytest.mark.peers
@pytest.mark.parametrize(("name", "options", "norm"), PEERS)
def test_torch_has_the_same_gradient(name: str, options: dict[str, Any], norm: str) -> None:
    torch = pytest.importorskip("torch")
    x = argument(name)
    out, pull = gw.vjp(lambda v: getattr(np.fft, name)(v, **options, norm=norm), x)
    cotangent = cotangent_of(out)
    tensor = torch.tensor(x, requires_grad=True)
    dims = {"axis": "dim", "axes": "dim"}
    named = {dims.get(key, key): value for key, value in options.items()}
    getattr(torch.fft, name)(tensor, **named, norm=norm).backward(torch.tensor(cotangent))
    np.testing.assert_allclose(
        pull(cotangent)[0], tensor.grad.resolve_conj().numpy(), rtol=1e-10, atol=1e-12
    )


@pytest.mark.peers
@pytest.mark.parametrize(
    ("name", "options", "norm"),
    [one for one in PEERS if one[2] == "ortho"],  # JAX compiles each
)
def test_jax_has_the_same_gradient_conjugated(
    name: str, options: dict[str, Any], norm: str
) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    x = argument(name)
    out, pull = gw.vjp(lambda v: getattr(np.fft, name)(v, **options, norm=norm), x)
    cotangent = cotangent_of(out)
    _, theirs = jax.vjp(
        fn(lambda v: getattr(jax.numpy.fft, name)(v, **options, norm=norm)), jax.numpy.asarray(x)
    )
    expected = np.conj(theirs(jax.numpy.asarray(np.conj(cotangent)))[0])
    np.testing.assert_allclose(pull(cotangent)[0], expected, rtol=1e-10, atol=1e-12)
