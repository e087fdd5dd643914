"""Arguments and outputs that are trees of arrays."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any, NamedTuple

import array_api_strict as strict
import numpy as np
import optree
import pytest

import gradwrap as gw
from gradwrap.errors import GradwrapError, NotAnArrayError, PytreeError
from lambdas import fn, rows

X = np.array([0.3, 1.2, 2.0])


class Layer(NamedTuple):
    w: Any
    b: Any


Untyped = namedtuple("Untyped", ["w", "b"])  # noqa: PYI024  # pyright: ignore[reportUntypedNamedTuple]  # the older kind


@dataclasses.dataclass
class Params:
    w: Any
    b: Any
    name: str = "layer"


tree_library: Any = optree  # whose registry is not exported
tree_library.register_pytree_node(
    Params,
    fn(lambda p: ((p.w, p.b), p.name, ("w", "b"))),
    fn(lambda name, children: Params(children[0], children[1], name)),
    namespace=tree_library.registry.__GLOBAL_NAMESPACE,
)


def loss(w: Any, b: Any) -> Any:
    return np.sum(w**2) * b


EXPECTED = (2 * X * 3.0, np.sum(X**2))


@pytest.mark.parametrize(
    ("make", "get"),
    rows(
        [
            (lambda w, b: {"w": w, "b": b}, lambda p: (p["w"], p["b"])),
            (lambda w, b: (w, b), lambda p: p),
            (lambda w, b: [w, b], tuple),
            (Layer, lambda p: (p.w, p.b)),
            (Untyped, lambda p: (p.w, p.b)),
            (Params, lambda p: (p.w, p.b)),
            (lambda w, b: OrderedDict[str, Any](w=w, b=b), lambda p: (p["w"], p["b"])),
            (lambda w, b: defaultdict(list, w=w, b=b), lambda p: (p["w"], p["b"])),
            (
                lambda w, b: {"layers": [({"w": w},), {"b": [b]}]},
                lambda p: (p["layers"][0][0]["w"], p["layers"][1]["b"][0]),
            ),
        ]
    ),
    ids=[
        "dict",
        "tuple",
        "list",
        "NamedTuple",
        "namedtuple",
        "dataclass",
        "OrderedDict",
        "defaultdict",
        "nested",
    ],
)
def test_the_gradient_has_the_structure_of_the_argument(make: Any, get: Any) -> None:
    argument = make(X, 3.0)
    gradient = gw.grad(fn(lambda p: loss(*get(p))))(argument)
    assert type(gradient) is type(argument)
    w, b = get(gradient)
    np.testing.assert_allclose(w, EXPECTED[0])
    assert type(w) is np.ndarray
    assert b == EXPECTED[1]
    assert type(b) is np.float64
    # and so with a second level
    second = gw.grad(fn(lambda p: np.sum(get(gw.grad(fn(lambda q: loss(*get(q))))(p))[0])))(
        argument
    )
    np.testing.assert_allclose(get(second)[0], np.full(3, 6.0))


def test_static_fields_of_a_dataclass_are_kept() -> None:
    gradient = gw.grad(fn(lambda p: loss(p.w, p.b)))(Params(X, 3.0, name="first"))
    assert gradient.name == "first"
    assert dataclasses.is_dataclass(gradient)


def test_leaves_that_are_no_arrays_pass_through() -> None:
    def fun(p: Any) -> Any:
        assert p["activation"] is np.tanh
        assert p["name"] == "layer"
        assert p["bias"] is None
        assert p["flag"] is True
        return np.sum(p["activation"](p["w"]))

    tree = {"w": X, "name": "layer", "bias": None, "activation": np.tanh, "flag": True}
    gradient = gw.grad(fun)(tree)
    np.testing.assert_allclose(gradient.pop("w"), 1 - np.tanh(X) ** 2)
    assert gradient == {"name": None, "bias": None, "activation": None, "flag": None}


def test_empty_containers() -> None:
    assert gw.grad(lambda p: 1.0)({}) == {}
    assert gw.grad(lambda p: np.sum(p["w"]))({"w": X, "rest": []})["rest"] == []


def test_numbers_in_trees() -> None:
    gradient = gw.grad(fn(lambda p: p["a"] * p["b"] * p["c"]))(
        {"a": 2.0, "b": np.float64(3.0), "c": np.array(5.0)}
    )
    assert gradient == {"a": 15.0, "b": 10.0, "c": 6.0}
    assert [type(g) for g in gradient.values()] == [np.float64, np.float64, np.ndarray]


def test_an_integer_in_a_container_is_taken_as_a_float() -> None:
    def fun(p: Any) -> Any:
        return np.sum(p["w"] ** p["n"]) + 5.0 * p["n"]

    tree, same = {"w": X, "n": 2}, {"w": X, "n": 2.0}
    for transform in (gw.grad, gw.jacrev, gw.jacfwd, gw.hessian):
        found, wanted = (gw.tree.leaves(transform(fun)(one)) for one in (tree, same))
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    tangents = {"w": np.ones(3), "n": 1.0}
    push = gw.jvp(fun, (tree,), (tangents,))[1]
    np.testing.assert_allclose(push, np.sum(2 * X) + np.sum(X**2 * np.log(X)) + 5.0)
    pushed: Any = gw.linearize(fun, tree)[1]
    np.testing.assert_allclose(pushed(tangents), push)


@pytest.mark.parametrize("flag", [True, None, "mean"])
def test_a_flag_in_a_container_passes_through(flag: Any) -> None:
    def fun(p: Any) -> Any:
        assert p["flag"] is flag
        return np.sum(p["w"] ** 2)

    tree = {"w": X, "flag": flag}
    tangent = {"w": np.ones(3), "flag": None}
    for gradient in (gw.grad(fun)(tree), gw.jacrev(fun)(tree), gw.jacfwd(fun)(tree)):
        assert gradient["flag"] is None
        np.testing.assert_allclose(gradient["w"], 2 * X)
    np.testing.assert_allclose(gw.jvp(fun, (tree,), (tangent,))[1], np.sum(2 * X))
    assert gw.hessian(fun)(tree)["w"]["flag"] is None


@pytest.mark.parametrize("n", [np.int64(2), np.array([1, 2])])
def test_an_array_of_integers_in_a_container_is_refused(n: Any) -> None:
    with pytest.raises(
        gw.errors.NonDifferentiableInputError, match=r"argument p\['n'\] has dtype int64.*cast it"
    ):
        gw.grad(fn(lambda p: np.sum(p["w"]) * p["n"]))({"w": X, "n": n})


def test_a_count_in_a_container_says_how_to_pass_it() -> None:
    with pytest.raises(gw.errors.TrackedValueError, match="Use as an index"):
        gw.grad(fn(lambda p: sum(p["w"] for _ in range(p["n"]))))({"w": 1.0, "n": 2})


def test_an_integer_that_is_an_argument_itself_is_taken_as_a_float() -> None:
    square = fn(lambda x: x**2)
    assert gw.grad(square)(3) == 6.0
    assert gw.jvp(square, (3,), (1.0,)) == (9.0, 6.0)
    assert gw.jacfwd(square)(3) == gw.jacrev(square)(3) == 6.0
    assert gw.hessian(square)(3) == 2.0


def test_a_container_of_flags_alone_has_nothing_to_differentiate() -> None:
    with pytest.raises(gw.errors.NotAnArrayError, match="argument p holds no array"):
        gw.grad(fn(lambda p: 1.0))({"flag": True})


def test_two_libraries_in_one_tree_stay_apart() -> None:
    tree: dict[str, Any] = {"n": X, "s": strict.asarray([1.0, 2.0])}
    gradient = gw.grad(fn(lambda p: np.sum(p["n"] ** 2)))(tree)
    np.testing.assert_array_equal(gradient["n"], 2 * X)
    assert type(gradient["s"]) is type(tree["s"])
    np.testing.assert_array_equal(np.from_dlpack(gradient["s"]), [0.0, 0.0])


def test_the_same_array_twice_in_a_tree() -> None:
    gradient = gw.grad(fn(lambda p: np.sum(p[0] * 2 + p[1] * 3)))([X, X])
    np.testing.assert_array_equal(gradient[0], np.full(3, 2.0))
    np.testing.assert_array_equal(gradient[1], np.full(3, 3.0))
    assert not np.shares_memory(*gradient)


def test_trees_outside_argnums_and_in_aux() -> None:
    def fun(x: Any, data: Any) -> Any:
        assert isinstance(data["x"][0], gw.Variable)
        return np.sum(x * data["x"][0]), {"kept": [x * 2, data["name"], Layer(x, None)]}

    gradient, aux = gw.grad(fun, has_aux=True)(X, {"x": [X], "name": "run"})
    np.testing.assert_array_equal(gradient, X)
    assert type(aux["kept"][0]) is np.ndarray
    assert aux["kept"][1] == "run"
    assert type(aux["kept"][2].w) is np.ndarray
    assert aux["kept"][2].b is None


def test_a_tuple_for_each_of_several_arguments() -> None:
    gradients = gw.grad(fn(lambda p, q: loss(p["w"], q[0])), (0, 1))({"w": X}, [3.0, None])
    assert isinstance(gradients, tuple)
    np.testing.assert_allclose(gradients[0]["w"], EXPECTED[0])
    assert gradients[1] == [EXPECTED[1], None]


# Classes of the user, registered ------------------------------------------------------------------


@gw.register_pytree
@dataclasses.dataclass(frozen=True)
class Model:
    layers: list[Any]
    scale: Any
    activation: Any = dataclasses.field(default=np.tanh, metadata={"static": True})

    def __post_init__(self) -> None:
        assert callable(self.activation)
        assert self.layers, "not called when a gradient is put together"

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = self.activation(layer.w * x + layer.b)
        return self.scale * x


class Interval:
    """Not a dataclass; its `dtype` must not make it an array."""

    dtype = "interval"

    def __init__(self, low: Any, high: Any, closed: bool) -> None:
        self.low, self.high, self.closed = low, high, closed


gw.register_pytree(
    Interval, lambda i: ((i.low, i.high), i.closed), lambda closed, p: Interval(p[0], p[1], closed)
)


def test_a_registered_dataclass() -> None:
    model = Model([Layer(X, 0.5), Layer(X + 1, X)], 2.0)
    gradient = gw.grad(fn(lambda m: np.sum(m(X))))(model)
    assert type(gradient) is Model
    assert gradient.activation is np.tanh
    assert type(gradient.layers[0]) is Layer

    def unpacked(w0: Any, b0: Any, w1: Any, b1: Any, scale: Any) -> Any:
        return np.sum(scale * np.tanh(w1 * np.tanh(w0 * X + b0) + b1))

    wanted = gw.grad(unpacked, (0, 1, 2, 3, 4))(X, 0.5, X + 1, X, 2.0)
    found = (*gradient.layers[0], *gradient.layers[1], gradient.scale)
    for ours, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, expected)
    tangent = gw.jvp(lambda m: m(X), (model,), (gradient,))[1]
    assert tangent.shape == (3,)


def test_a_registered_class() -> None:
    gradient = gw.grad(fn(lambda i: np.sum(i.high * i.low**2)))(Interval(2.0, 3.0, True))
    assert type(gradient) is Interval
    assert (gradient.low, gradient.high, gradient.closed) == (12.0, 4.0, True)
    out, pull = gw.vjp(lambda x: Interval(x, 2 * x, False), 3.0)
    assert (out.low, out.high) == (3.0, 6.0)
    assert pull(Interval(1.0, 10.0, False)) == (21.0,)


def test_registration_is_refused() -> None:
    with pytest.raises(PytreeError, match=r"Model is registered already"):
        gw.register_pytree(Model)
    with pytest.raises(PytreeError, match=r"object is not a dataclass\. Fix: register_pytree"):
        gw.register_pytree(object)
    with pytest.raises(PytreeError, match=r"give both of flatten and unflatten, or neither"):
        gw.register_pytree(object, lambda o: ((), None))  # type: ignore[call-overload]  # on purpose
    with pytest.raises(PytreeError, match=r"takes a class; it got an Interval"):
        gw.register_pytree(Interval(1, 2, True))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]  # to be refused


def test_a_dataclass_that_is_not_registered() -> None:
    @dataclasses.dataclass
    class Plain:
        w: Any

    with pytest.raises(NotAnArrayError, match=r"Fix: make it a pytree with gradwrap\.register_pyt"):
        gw.grad(lambda p: p.w)(Plain(1.0))


# Messages name the path ---------------------------------------------------------------------------


def tree_loss(params: Any) -> Any:
    return np.sum(params["w"][0])


INTEGERS = np.array([1, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gw.grad(tree_loss)({"w": [INTEGERS]}), r"argument params\['w'\]\[0\]"),
        (
            lambda: gw.grad(fn(lambda m: m.scale))(Model([1.0], INTEGERS)),
            r"argument m\.scale",
        ),
        (
            lambda: gw.grad(fn(lambda m: m.scale))(Model([Layer(1.0, INTEGERS)], 1.0)),
            r"argument m\.layers\[0\]\.b",
        ),
        (
            lambda: gw.jvp(tree_loss, ({"w": [X]},), ({"w": [np.ones(2)]},)),
            r"the tangent of params\['w'\]\[0\] is float64\[2\], the primal is float64\[3\]",
        ),
        (
            lambda: gw.vjp(fn(lambda x: {"y": (x, x)}), X)[1]({"y": (X, np.ones(2))}),
            r"the cotangent\['y'\]\[1\] is float64\[2\], the output is float64\[3\]",
        ),
    ],
)
def test_messages_name_the_path(call: Any, message: str) -> None:
    with pytest.raises(GradwrapError, match=message):
        call()
