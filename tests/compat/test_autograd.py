"""Programs written for HIPS autograd, on `gradwrap.compat.autograd`."""

from __future__ import annotations

import importlib
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any

import numpy
import pytest

import gradwrap.compat.autograd
from gradwrap.errors import TrackedValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

compat: Any = gradwrap.compat.autograd
np: Any = compat.numpy
X = numpy.array([0.5, -1.0, 2.0])


def primitive(function: Any) -> Any:
    return compat.primitive(function)


@pytest.fixture
def installed() -> Iterator[Any]:
    installation = compat.install()
    yield installation
    installation.undo()


PROGRAM = """
import autograd.numpy as np
import autograd.numpy.random as npr
import autograd.scipy.stats.norm as norm
from autograd.scipy.special import gammaln
from autograd.numpy.linalg import solve
from autograd import grad, jacobian, hessian, elementwise_grad, value_and_grad
from autograd.extend import primitive, defvjp, defjvp
from autograd.misc.optimizers import adam
from autograd.misc import flatten
from autograd.tracer import getval, isbox
from autograd.builtins import isinstance, tuple

@primitive
def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))

defvjp(logsumexp, lambda ans, x: lambda g: np.full(x.shape, g) * np.exp(x - np.full(x.shape, ans)))

seen = []

def loss(params, data):
    w = params["w"]
    seen.append((isbox(w), isinstance(w, np.ndarray), float(getval(params["s"]))))
    w, s = tuple([params["w"], params["s"]])
    return logsumexp(w * data) + np.sum(norm.logpdf(data, w, 1.0 + s**2)) + gammaln(2.0 + s)

gradient = grad(loss)
curvature = hessian(lambda x: logsumexp(np.sin(x)))
distance = grad(lambda p: np.sum((p["a"] - 3.0) ** 2))
fitted = adam(lambda p, i: distance(p), {"a": np.zeros(2)}, num_iters=2000, step_size=0.01)
"""


def run(source: str) -> Any:
    module: Any = types.ModuleType("program")
    exec(source, vars(module))  # noqa: S102  the program of this test
    return module


def test_a_program_runs_as_it_is(installed: Any) -> None:
    program = run(PROGRAM)
    params: dict[str, Any] = {"w": X, "s": 0.4}
    found = program.gradient(params, X)
    assert program.seen == [(True, True, 0.4)]
    for name, step in (("s", 1e-6), ("w", 1e-6)):
        up, down = ({**params, name: params[name] + s * step} for s in (1, -1))
        slope = (program.loss(up, X) - program.loss(down, X)) / (2 * step)
        assert numpy.sum(found[name]) == pytest.approx(slope, rel=1e-6)
    weights = numpy.exp(numpy.sin(X)) / numpy.sum(numpy.exp(numpy.sin(X)))
    slopes = numpy.diag(weights) - numpy.outer(weights, weights)
    wanted = numpy.cos(X)[:, None] * slopes * numpy.cos(X) - numpy.diag(numpy.sin(X) * weights)
    numpy.testing.assert_allclose(program.curvature(X), wanted, rtol=1e-12)
    numpy.testing.assert_allclose(program.fitted["a"], 3.0, atol=1e-3)
    del installed


@pytest.mark.parametrize("modes", [["rev"], ["fwd"], ["fwd", "rev"]])
def test_rules_with_keywords_several_arguments_and_both_modes(modes: list[str]) -> None:
    for has_jvp in (False, True):

        @primitive
        def scaled(x: Any, y: Any, power: int = 2) -> Any:
            return numpy.sum(x) * y**power

        compat.extend.defvjp(
            scaled,
            lambda ans, x, y, power=2: lambda g: np.ones(x.shape) * g * y**power,
            lambda ans, x, y, power=2: lambda g: g * np.sum(x) * power * y ** (power - 1),
        )
        if has_jvp:
            compat.extend.defjvp(
                scaled,
                "same",
                lambda g, ans, x, y, power=2: g * np.sum(x) * power * y ** (power - 1),
            )
        function = lambda x, y, f=scaled: f(x, y * 2.0, power=3)
        compat.test_util.check_grads(function, (0, 1), modes=modes)(X, 1.5)


def test_rules_by_argnums_and_for_containers() -> None:
    @primitive
    def total(parts: Any, weight: Any) -> Any:
        return weight * (numpy.sum(parts[0]) + numpy.sum(parts[1]["b"]))

    compat.extend.defvjp_argnums(
        total,
        lambda argnums, ans, args, kwargs: (
            lambda g: [
                [g * args[1] * np.ones(3), {"b": g * args[1]}] if i == 0 else g * ans / args[1]
                for i in argnums
            ]
        ),
    )
    parts, weight = compat.grad(total, [0, 1])([X, {"b": 2.0}], 3.0)
    numpy.testing.assert_array_equal(parts[0], [3.0, 3.0, 3.0])
    assert (parts[1], weight) == ({"b": 3.0}, 3.5)


def test_complex_gradients_are_the_conjugates() -> None:
    assert compat.grad(lambda z: np.real(z**2))(1.0 + 2.0j) == 2.0 + 4.0j
    assert compat.holomorphic_grad(lambda z: z**2)(1.0 + 2.0j) == 2.0 + 4.0j

    @primitive
    def square(z: Any) -> Any:
        return z * z

    compat.extend.defvjp(square, lambda ans, z: lambda g: 2 * g * z)
    compat.test_util.check_grads(square)(1.0 + 2.0j)


def test_operators() -> None:
    cubes: Any = lambda x: np.sum(x**3)
    v = numpy.array([1.0, 0.0, 2.0])
    numpy.testing.assert_allclose(compat.make_vjp(lambda x: x**2)(X)[0](v), 2 * X * v)
    numpy.testing.assert_allclose(compat.make_jvp(lambda x: x**2)(X)(v)[1], 2 * X * v)
    numpy.testing.assert_allclose(compat.make_hvp(cubes)(X)[0](v), 6 * X * v)
    numpy.testing.assert_allclose(compat.hessian_vector_product(cubes)(X, v), 6 * X * v)
    numpy.testing.assert_allclose(compat.tensor_jacobian_product(np.sin)(X, v), np.cos(X) * v)
    numpy.testing.assert_allclose(compat.elementwise_grad(np.sin)(X), numpy.cos(X))
    numpy.testing.assert_allclose(compat.deriv(np.sin)(0.3), numpy.cos(0.3))
    numpy.testing.assert_allclose(compat.make_ggnvp(np.sin)(X)(v), np.cos(X) ** 2 * v)
    numpy.testing.assert_allclose(compat.checkpoint(cubes)(X), cubes(X))
    numpy.testing.assert_allclose(compat.grad(compat.checkpoint(cubes))(X), 3 * X**2)
    assert compat.grad_and_aux(lambda x: (x**2, x + 1.0))(3.0) == (6.0, 4.0)
    assert compat.grad_named(lambda a, b: a * b**2, "b")(2.0, 3.0) == 12.0
    assert compat.multigrad_dict(lambda a, b=2.0: a * b)(3.0) == {"a": 2.0, "b": 3.0}
    assert compat.grad(lambda n: np.sum(n**2))(numpy.array([1, 2])).tolist() == [2.0, 4.0]


def test_other_arguments_are_plain() -> None:
    kinds: list[type] = []

    def noted(x: Any, y: Any, z: Any = None) -> Any:
        kinds.extend([type(y), type(z)])
        return x

    compat.grad(noted)(1.0, X, z=X)
    assert kinds == [numpy.ndarray, numpy.ndarray]


def test_containers_fixed_points_and_vector_spaces() -> None:
    flat, unflatten = compat.misc.flatten({"a": X, "b": (1.0, numpy.ones((2, 2)))})
    assert flat.shape == (8,)
    assert unflatten(2 * flat)["b"][0] == 2.0
    newton = compat.misc.fixed_points.fixed_point
    root = compat.grad(
        lambda a: newton(
            lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: abs(x - y), 1e-12
        )
    )
    assert root(2.0) == pytest.approx(0.5 / numpy.sqrt(2.0))
    space = compat.extend.vspace({"a": X, "b": 1.0j})
    assert space.size == 5
    assert len(list(space.standard_basis())) == 5
    assert compat.extend.vspace({"a": 2 * X, "b": 1j}) == space
    assert space.inner_prod(space.ones(), space.ones()) == 5.0


def test_convolution_with_axes() -> None:
    random = numpy.random.default_rng(0)
    a, b = random.normal(size=(2, 5, 6)), random.normal(size=(2, 3, 2))
    convolve = compat.scipy.signal.convolve
    options = {"axes": ([1, 2], [1, 2]), "dot_axes": ([0], [0])}
    signal = importlib.import_module("scipy.signal")
    for mode in ("full", "valid", "same"):
        wanted = sum(signal.convolve(x, y, mode) for x, y in zip(a, b, strict=True))
        numpy.testing.assert_allclose(convolve(a, b, mode=mode, **options), wanted)
        compat.test_util.check_grads(
            lambda a, b, m=mode: convolve(a, b, mode=m, **options), (0, 1), order=1
        )(a, b)
    numpy.testing.assert_allclose(
        convolve(b, a, mode="valid", axes=([1, 2], [1, 2]), dot_axes=([0], [0])),
        convolve(a, b, mode="valid", **options),
    )


def test_bad_input() -> None:
    @primitive
    def bare(x: Any) -> Any:
        return x * 2.0

    with pytest.raises(NotImplementedError, match=r"VJP of bare wrt argnums \(0,\) not defined"):
        compat.grad(bare)(1.0)
    compat.extend.defvjp(bare, lambda ans, x: lambda g: np.ones(2))
    with pytest.raises(RuntimeError, match="the rule of bare returned"):
        compat.grad(bare)(1.0)
    with pytest.raises(RuntimeError, match=r"sin is not a primitive.*gradwrap.defvjp"):
        compat.extend.defvjp(numpy.sin, lambda ans, x: lambda g: g)
    with pytest.raises(TypeError, match=r"Can't differentiate w.r.t. type <class 'int'>"):
        compat.grad(lambda x: x)(1)
    with pytest.raises(TypeError, match="Grad only applies to real scalar-output"):
        compat.grad(np.sin)(X)
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert compat.grad(lambda x: 1.0)(2.0) == 0.0
    wrong = compat.primitive(lambda x: x**2)
    compat.extend.defvjp(wrong, lambda ans, x: lambda g: g * x)
    with pytest.raises(AssertionError, match=r"Derivative \(VJP\) check of <lambda> failed"):
        compat.test_util.check_grads(wrong, modes=["rev"])(1.0)


def modules_of_classes() -> set[str]:
    """The modules of the classes of arrays that the transforms track."""
    found: set[str] = set()

    def f(x: Any) -> Any:
        found.add(type(x).__module__)
        return np.sum(x)

    compat.grad(f)(X)
    compat.make_jvp(f)(X)(X)
    return found


class Trusting(numpy.ndarray):
    """A package's own arrays, whose ufuncs take every answer of NumPy's for a result."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        plain = [x.view(numpy.ndarray) if isinstance(x, Trusting) else x for x in inputs]
        found = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
        return numpy.asarray(found).view(Trusting)


def test_a_packages_own_arrays_leave_tracked_ones_to_gradwrap() -> None:
    scale = numpy.array([1.0, 2.0, 3.0]).view(Trusting)
    products = [
        lambda x: x * scale,
        lambda x: scale * x,
        lambda x: np.multiply(x, scale),
        lambda x: np.multiply(scale, x),
    ]
    for product in products:
        with pytest.raises(TrackedValueError, match=r"NotImplemented in a Trusting.*np\.asarray"):
            compat.jacobian(product)(X)
    for _ in range(2):
        compat.numpy.numpy_boxes.ArrayBox.type_mappings[Trusting] = lambda *_: None
    for product in products:
        numpy.testing.assert_array_equal(compat.jacobian(product)(X), numpy.diag([1.0, 2.0, 3.0]))
    assert type(scale * 2.0) is Trusting


def test_a_rule_returns_arrays_for_lists_of_numbers() -> None:
    @primitive
    def dot(parameters: Any, scale: Any) -> Any:
        return scale * sum(a * b for a, b in parameters)

    def maker(ans: Any, parameters: Any, scale: Any) -> Any:
        return lambda g: tuple(g * scale * numpy.array([b, a]) for a, b in parameters)

    compat.extend.defvjp(dot, maker, argnums=[0])
    found = compat.grad(lambda x: dot(([x[0], x[1]], (x[1], x[2])), 2.0))(X)
    numpy.testing.assert_array_equal(found, [2 * X[1], 2 * X[0] + 2 * X[2], 2 * X[1]])


def test_installation_is_undone() -> None:
    before = {name for name in sys.modules if name.partition(".")[0] == "autograd"}
    installation = compat.install()
    found: Any = importlib.import_module("autograd.numpy.linalg")
    assert importlib.import_module("autograd") is compat
    assert found.norm(X) == numpy.linalg.norm(X)
    assert importlib.import_module("autograd.scipy.stats.gamma").pdf(1.0, 2.0) > 0
    assert modules_of_classes() == {"autograd.numpy.numpy_boxes"}
    installation.undo()
    assert modules_of_classes() == {"gradwrap"}
    assert {name for name in sys.modules if name.partition(".")[0] == "autograd"} == before


def test_the_modules_can_be_imported_below_gradwrap() -> None:
    linalg: Any = importlib.import_module("gradwrap.compat.autograd.numpy.linalg")
    assert compat.grad(linalg.norm)(X) == pytest.approx(X / numpy.linalg.norm(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compat.grad(compat.scipy.special.gammaln)(2.0) == pytest.approx(0.42278433509846713)
