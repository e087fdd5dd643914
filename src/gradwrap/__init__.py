"""Gradients for the arrays people already have.

>>> import numpy as np, gradwrap as gw
>>> gw.grad(lambda x: np.sum(np.tanh(x) ** 2))(np.array([0.0, 1.0]))
array([0.        , 0.63970...])
"""

import typing as _typing

from gradwrap import errors as errors
from gradwrap import rules as rules
from gradwrap._setup import set_up as _set_up
from gradwrap.core.array.variable import Variable as Variable
from gradwrap.core.array.wrapping import unwrap as unwrap
from gradwrap.core.array.wrapping import wrap as wrap
from gradwrap.core.array.wrapping import wrap_namespace as wrap_namespace
from gradwrap.core.levels.modes import enable_grad as enable_grad
from gradwrap.core.levels.modes import is_grad_enabled as is_grad_enabled
from gradwrap.core.levels.modes import no_grad as no_grad
from gradwrap.core.levels.modes import set_grad_enabled as set_grad_enabled
from gradwrap.core.library.backend import Backend as Backend
from gradwrap.core.library.registration import register_backend as register_backend
from gradwrap.core.values.pytree_classes import register_pytree as register_pytree
from gradwrap.transforms.arguments import stop_gradient as stop_gradient
from gradwrap.transforms.reverse import elementwise_grad as elementwise_grad
from gradwrap.transforms.reverse import grad as grad
from gradwrap.transforms.reverse import value_and_grad as value_and_grad
from gradwrap.transforms.reverse import vjp as vjp

_set_up()
__version__ = "0.1.0.dev0"

if _typing.TYPE_CHECKING:  # by this name, which mypy knows
    from gradwrap import autograd as autograd
    from gradwrap import compat as compat
    from gradwrap import compiler as compiler
    from gradwrap import extend as extend
    from gradwrap import jax as jax
    from gradwrap import optimize as optimize
    from gradwrap import random as random
    from gradwrap import testing as testing
    from gradwrap import torch as torch
    from gradwrap import tree as tree
    from gradwrap import typing as typing
    from gradwrap.adaptation.adapting import adapting as adapting
    from gradwrap.adaptation.modules import adapted_modules as adapted_modules
    from gradwrap.adaptation.public import adapt as adapt
    from gradwrap.adaptation.public import adapted as adapted
    from gradwrap.compiler.calls.function import compile as compile
    from gradwrap.drawing import draw as draw
    from gradwrap.profiling import profile as profile
    from gradwrap.transforms.batch import vmap as vmap
    from gradwrap.transforms.checkpoint import checkpoint as checkpoint
    from gradwrap.transforms.checkpoint import checkpoint_sequential as checkpoint_sequential
    from gradwrap.transforms.custom_derivatives import custom_jvp as custom_jvp
    from gradwrap.transforms.custom_derivatives import custom_vjp as custom_vjp
    from gradwrap.transforms.custom_rules import defjvp as defjvp
    from gradwrap.transforms.custom_rules import defvjp as defvjp
    from gradwrap.transforms.forward import jvp as jvp
    from gradwrap.transforms.forward import linearize as linearize
    from gradwrap.transforms.function import Function as Function
    from gradwrap.transforms.function import once_differentiable as once_differentiable
    from gradwrap.transforms.function_context import FunctionCtx as FunctionCtx
    from gradwrap.transforms.implicit import custom_linear_solve as custom_linear_solve
    from gradwrap.transforms.implicit import custom_root as custom_root
    from gradwrap.transforms.implicit import fixed_point as fixed_point
    from gradwrap.transforms.jacobian import hessian as hessian
    from gradwrap.transforms.jacobian import hvp as hvp
    from gradwrap.transforms.jacobian import jacfwd as jacfwd
    from gradwrap.transforms.jacobian import jacobian as jacobian
    from gradwrap.transforms.jacobian import jacrev as jacrev
    from gradwrap.transforms.masking import apply_where as apply_where
    from gradwrap.transforms.numerical import numerical as numerical
    from gradwrap.transforms.operators import hessian_diagonal as hessian_diagonal
    from gradwrap.transforms.operators import linear_operator as linear_operator
    from gradwrap.transforms.primitive import primitive as primitive
    from gradwrap.transforms.raveling import ravel_pytree as ravel_pytree
    from gradwrap.transforms.scan import scan as scan
    from gradwrap.transforms.watches import detect_anomaly as detect_anomaly
    from gradwrap.transforms.watches import guard_buffers as guard_buffers
    from gradwrap.transforms.watches import save_on_cpu as save_on_cpu
    from gradwrap.transforms.watches import saved_tensors_hooks as saved_tensors_hooks
    from gradwrap.transforms.watches import strong_zeros as strong_zeros
else:
    # imported at first use: `import gradwrap` is to take no time
    _LATER = {
        name: f"gradwrap.{module or name}"
        for module, names in (
            ("", "autograd compat compiler extend jax optimize random testing torch tree typing"),
            ("adaptation.adapting", "adapting"),
            ("adaptation.modules", "adapted_modules"),
            ("adaptation.public", "adapt adapted"),
            ("compiler.calls.function", "compile"),
            ("drawing", "draw"),
            ("profiling", "profile"),
            ("transforms.batch", "vmap"),
            ("transforms.checkpoint", "checkpoint checkpoint_sequential"),
            ("transforms.custom_derivatives", "custom_jvp custom_vjp"),
            ("transforms.custom_rules", "defjvp defvjp"),
            ("transforms.forward", "jvp linearize"),
            ("transforms.function", "Function once_differentiable"),
            ("transforms.function_context", "FunctionCtx"),
            ("transforms.implicit", "custom_linear_solve custom_root fixed_point"),
            ("transforms.jacobian", "hessian hvp jacfwd jacobian jacrev"),
            ("transforms.masking", "apply_where"),
            ("transforms.numerical", "numerical"),
            ("transforms.operators", "hessian_diagonal linear_operator"),
            ("transforms.primitive", "primitive"),
            ("transforms.raveling", "ravel_pytree"),
            ("transforms.scan", "scan"),
            (
                "transforms.watches",
                "detect_anomaly guard_buffers strong_zeros save_on_cpu saved_tensors_hooks",
            ),
        )
        for name in names.split()
    }

    def __getattr__(name: str) -> object:
        import importlib

        module = _LATER.get(name)
        if module is None:
            from gradwrap._elsewhere import instead_of

            raise AttributeError(
                f"module 'gradwrap' has no attribute {name!r}{instead_of(name, _PUBLIC)}"
            )
        loaded = importlib.import_module(module)
        found = globals()[name] = loaded if module == f"gradwrap.{name}" else getattr(loaded, name)
        return found

    _INTERNAL = {"adaptation", "backends", "bridges", "core", "rules", "transforms"}
    _PUBLIC = sorted({*_LATER, *(name for name in globals() if name[0] != "_")} - _INTERNAL)
    __all__ = list(_PUBLIC)

    def __dir__() -> list[str]:
        return [*__all__, "__version__"]
