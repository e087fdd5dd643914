"""HIPS autograd's modules and names, on gradwrap.

>>> import numpy, gradwrap.compat.autograd as autograd
>>> import gradwrap.compat.autograd.numpy as np
>>> autograd.grad(lambda x: np.sum(np.tanh(x)))(numpy.array([0.0, 1.0])).round(3)
array([1.  , 0.42])

`install()` gives these modules the names of HIPS autograd's, so that programs and packages run as
they are.
"""

from __future__ import annotations

import contextlib as _contextlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as _numpy  # noqa: ICN001  `numpy` is a module of this package

from gradwrap.adaptation import autoray as _autoray
from gradwrap.compat.autograd import miscellaneous as _misc
from gradwrap.compat.autograd import names as _names
from gradwrap.compat.autograd import operators as _operators
from gradwrap.compat.autograd import primitives as _primitives
from gradwrap.compat.autograd.operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from gradwrap.compat.autograd.primitives import primitive
from gradwrap.core.levels.wrapper import AnyWrapper as _AnyWrapper
from gradwrap.core.library.backend import by_type as _by_type
from gradwrap.core.values.dynamic import DICT, LIST, TUPLE

if TYPE_CHECKING:
    from collections.abc import MutableMapping

__all__ = [
    "Installation",
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "install",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]

isinstance = _names.isinstance_
type = _names.type_
tuple: Any = _names.container(TUPLE)
list: Any = _names.container(LIST)
dict: Any = _names.container(DICT)


def _numpy_module() -> ModuleType:
    """Return the namespace for `autograd.numpy`."""
    drop_in: Any = _names.ours
    own = {
        "where": _names.where,
        "make_diagonal": _names.make_diagonal,
        "linalg": _names.Names(
            "autograd.numpy.linalg",
            drop_in.linalg,
            {"T": _names.T, "_dot": _numpy.matmul, "eigh": _names.eigh},
        ).filled(),
        "fft": _names.Names("autograd.numpy.fft", drop_in.fft, {}).filled(),
        "random": _names.Names("autograd.numpy.random", drop_in.random, {}).filled(),
        "numpy_boxes": _module("numpy_boxes", _names, "Box ArrayBox SequenceBox"),
        "numpy_vspaces": _module(
            "numpy_vspaces",
            _operators,
            "VSpace vspace",
            ArrayVSpace=_operators.VSpace,
            ComplexArrayVSpace=_operators.VSpace,
        ),
        "numpy_vjps": _module("numpy_vjps", _names, "unbroadcast_f"),
        **{
            kind.__name__: _names.whole_number(kind)
            for kind in (_numpy.int8, _numpy.int16, _numpy.int32, _numpy.int64)
        },
    }
    made: Any = _names.Names("autograd.numpy", drop_in, own)
    made.numpy_wrapper = made
    found: ModuleType = made.filled()
    return found


def _module(name: str, source: Any, names: str = "", **more: Any) -> ModuleType:
    """Return a module with names of another."""
    made = ModuleType(f"autograd.{name}")
    made.__dict__.update({one: getattr(source, one) for one in names.split()}, **more)
    return made


_DEFINING = (
    "defjvp defjvp_argnum defjvp_argnums defvjp defvjp_argnum defvjp_argnums def_linear primitive "
    "notrace_primitive register_notrace"
)
_CHECKING = "check_grads check_jvp check_vjp check_equivalent combo_check scalar_close"
_SPACES: Any = {"VSpace": _operators.VSpace, "vspace": _operators.vspace}
_MODULES: MutableMapping[str, Any] = {
    "numpy": _numpy_module(),
    "extend": _module("extend", _primitives, _DEFINING, **_SPACES, Box=_names.Box),
    "tracer": _module(
        "tracer",
        _names,
        "Box isbox getval",
        primitive=primitive,
        Node=object,
        trace_stack=None,
        new_box=_names.Box,
        notrace_primitive=_primitives.notrace_primitive,
    ),
    "builtins": _module(
        "builtins",
        _names,
        "SequenceBox DictBox",
        isinstance=isinstance,
        type=type,
        tuple=tuple,
        list=list,
        dict=dict,
    ),
    "util": _module("util", _operators, "quick_grad_check"),
    "wrap_util": _module("wrap_util", _operators, "unary_to_nary"),
    "test_util": _module("test_util", _operators, _CHECKING),
    "misc": _module("misc", _misc, "flatten const_graph"),
    "misc.flatten": _module("misc.flatten", _misc, "flatten flatten_func"),
    "misc.optimizers": _module("misc.optimizers", _misc, "sgd rmsprop adam"),
    "misc.fixed_points": _module("misc.fixed_points", _misc, "fixed_point"),
    "misc.tracers": _module("misc.tracers", _misc, "const_graph"),
    "core": _module(
        "core",
        _primitives,
        _DEFINING,
        **_SPACES,
        make_vjp=_operators.unary_vjp,
        make_jvp=_operators.unary_jvp,
        VJPNode=object,
        JVPNode=object,
        primitive_vjps={},
        primitive_jvps={},
    ),
    "differential_operators": _operators,
}
_MODULES.update(
    (f"numpy.{name}", found)
    for name, found in vars(_MODULES["numpy"]).items()
    if isinstance(found, ModuleType) and found.__name__.startswith("autograd.")
)
with _contextlib.suppress(ImportError):  # without SciPy
    _MODULES.update(_names.scipy_modules())


def _register(package: str) -> None:
    """Make the modules importable below a package."""
    sys.modules.update((f"{package}.{name}", module) for name, module in _MODULES.items())
    for name, module in _MODULES.items():
        parent, _, own = f"{package}.{name}".rpartition(".")
        if parent == package or not hasattr(
            sys.modules[parent], own
        ):  # `misc.flatten` is a function
            setattr(sys.modules[parent], own, module)


def _name_home(module: str) -> None:
    """Let the classes of tracked arrays belong to a module, by which packages know them."""
    _AnyWrapper._home = module
    for kind in LIST(_by_type):
        if issubclass(kind, _AnyWrapper):
            kind.__module__ = module
    _autoray.look_up_again()


class Installation:
    """The modules that replace HIPS autograd's; `undo()` restores the former ones."""

    def __init__(self) -> None:
        own = [name for name in sys.modules if name.partition(".")[0] == "autograd"]
        self._before = {name: sys.modules.pop(name) for name in own}
        sys.modules["autograd"] = sys.modules[__name__]
        for name, module in _MODULES.items():
            sys.modules[f"autograd.{name}"] = module
        _name_home("autograd.numpy.numpy_boxes")

    def undo(self) -> None:
        """Restore the modules that were imported before."""
        for name in [name for name in sys.modules if name.partition(".")[0] == "autograd"]:
            del sys.modules[name]
        sys.modules.update(self._before)
        _name_home("gradwrap")


def install() -> Installation:
    """Let `import autograd` import this package.

    Call it before the program or package that imports autograd is imported. What has imported it
    before keeps it.

    Examples
    --------
    >>> import gradwrap.compat.autograd
    >>> installation = gradwrap.compat.autograd.install()
    >>> import autograd.numpy as np
    >>> from autograd import grad
    >>> grad(np.sin)(0.0)
    np.float64(1.0)
    >>> installation.undo()
    """
    return Installation()


_register(__name__)
