"""Results of transforms are pickled and copied, as far as their functions can be."""

from __future__ import annotations

import copy
import functools
import inspect
import multiprocessing
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.core.values.tree import flatten

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.array([0.3, 0.7])


def loss(x: Any) -> Any:
    """Return a number."""
    return np.sum(np.sin(x) ** 2)


def squares(x: Any) -> Any:
    return x * x


@gw.grad
def decorated(x: Any) -> Any:
    return np.sum(x**3)


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def loss(self, x: Any) -> Any:
        return self.scale * np.sum(x**3)

    @functools.partial(gw.grad, argnums=1)
    def slope(self, x: Any) -> Any:
        return self.scale * np.sum(x**2)


class Loss:
    def __call__(self, x: Any) -> Any:
        return np.sum(x**3)


MADE: dict[str, Any] = {
    "grad": gw.grad(loss),
    "value_and_grad": gw.value_and_grad(loss),
    "elementwise_grad": gw.elementwise_grad(squares),
    "vmap": gw.vmap(squares, out_axes=-1),
    "jacrev": gw.jacrev(squares),
    "jacfwd": gw.jacfwd(squares, chunk_size=1),
    "jacobian": gw.jacobian(squares),
    "progress": gw.jacobian(squares, progress=True),
    "hessian": gw.hessian(loss),
    "hessian_diagonal": gw.hessian_diagonal(loss),
    "checkpoint": gw.grad(gw.checkpoint(loss, policy="matmul")),
    "numerical": gw.grad(gw.numerical(loss)),
    "adapting": gw.grad(gw.adapting(loss)),
    "compile": gw.compile(gw.grad(loss)),
    "vmap of compile": gw.vmap(gw.compile(squares)),
    "compile of compositions": gw.compile(gw.jacfwd(gw.vmap(gw.elementwise_grad(squares)))),
    "a decorated function": decorated,
    "a method": gw.grad(Model(2.0).loss),
    "an object": gw.grad(Loss()),
    "a partial": gw.grad(functools.partial(np.sum, axis=0)),
}
COPYING: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301  just written
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPYING)
@pytest.mark.parametrize("name", MADE)
def test_the_copy_gives_the_same(name: str, how: str) -> None:
    made = MADE[name]
    copied = COPYING[how](made)
    assert (copied is made) == (made is decorated)
    wanted = made(X)
    found = copied(X)
    assert type(found) is type(wanted)
    for one, other in zip(flatten(found)[0], flatten(wanted)[0], strict=True):
        np.testing.assert_array_equal(one, other)
    assert inspect.signature(copied) == inspect.signature(made)
    assert (copied.__name__, copied.__doc__) == (made.__name__, made.__doc__)


def test_a_sparse_jacobian_is_pickled() -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    made = gw.jacobian(squares, sparsity=scipy_sparse.eye_array(2))
    copied = pickle.loads(pickle.dumps(made))  # noqa: S301  just written
    np.testing.assert_array_equal(copied(X).toarray(), np.diag(2 * X))


def test_it_is_a_function_of_its_class() -> None:
    model = Model(3.0)
    np.testing.assert_array_equal(model.slope(X), 6.0 * X)
    copied = pickle.loads(pickle.dumps(model.slope))  # noqa: S301  just written
    np.testing.assert_array_equal(copied(X), 6.0 * X)


def test_it_looks_like_its_function() -> None:
    made: Any = gw.grad(loss)
    assert made.__wrapped__ is loss
    assert (made.__name__, made.__module__, made.__doc__) == ("loss", __name__, "Return a number.")
    assert repr(made) == "<gradient of loss>"
    assert repr(gw.hessian(loss)) == "<jacobian of loss>"
    nameless: Any = gw.grad(functools.partial(loss))
    assert nameless.__name__ == "gradient"


def test_a_lambda_is_copied_but_not_pickled() -> None:
    made = gw.grad(lambda x: x * x)
    assert copy.deepcopy(made)(2.0) == 4.0
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(made)


def test_processes_that_begin_anew_take_it() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(MADE["compile"], [X, 2 * X])
    np.testing.assert_allclose(found, [np.sin(2 * X), np.sin(4 * X)], rtol=1e-14)


SENT = """
import numpy as np, cloudpickle, sys, gradwrap as gw

@gw.grad
def decorated(x):
    return np.sum(x**3)

compiled = gw.compile(lambda x: decorated(x) * 2)
sent = decorated, gw.vmap(gw.grad(lambda x: x * x)), compiled
open(sys.argv[1], "wb").write(cloudpickle.dumps(sent))
"""
TAKEN = """
import pickle, sys, numpy as np
one, two, three = pickle.load(open(sys.argv[1], "rb"))
x = np.array([1.0, 2.0])
print(one(x).tolist(), two(x).tolist(), three(x).tolist())
"""


@pytest.mark.slow
@pytest.mark.peers
def test_cloudpickle_sends_the_functions_of_a_script(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    file = str(tmp_path / "sent")
    for text in (SENT, TAKEN):
        done = subprocess.run([sys.executable, "-c", text, file], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[3.0, 12.0] [2.0, 4.0] [6.0, 24.0]"
