"""Names of other libraries that gradwrap lacks, and what to write in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTEAD = {
    # PyTorch
    **dict.fromkeys(
        ("tensor", "as_tensor", "from_numpy", "array"),
        "gradwrap.wrap(np.array(values), requires_grad=True)",
    ),
    "Tensor": "gradwrap.Variable is the class of tracked arrays",
    "cat": "np.concatenate, since NumPy's functions take tracked arrays",
    "func": "gradwrap.grad, gradwrap.vmap and the others are in gradwrap itself",
    "inference_mode": "gradwrap.no_grad()",
    "nn": "write layers as functions of arrays; gradwrap.checkpoint and gradwrap.optimize.adam",
    "optim": "gradwrap.optimize.adam, sgd or rmsprop",
    # JAX
    **dict.fromkeys(("jit", "pjit"), "gradwrap.compile(f)"),
    **dict.fromkeys(("remat", "ad_checkpoint"), "gradwrap.checkpoint(f)"),
    **dict.fromkeys(
        ("tree_util", "tree_map", "tree_leaves", "tree_flatten"),
        "gradwrap.tree, with tree.map(f, container) and others",
    ),
    "checkpoint_policies": "gradwrap.checkpoint(f, policy='matmul'), for example",
    "custom_gradient": "gradwrap.custom_vjp",
    "debug": "print(x), which prints tracked values too",
    "eval_shape": "f(x).shape",
    "lax": "write Python's own loops and branches; gradwrap.scan and gradwrap.stop_gradient are in "
    "gradwrap itself",
    "linear_transpose": "gradwrap.vjp(f, x)[1]",
    "make_jaxpr": "gradwrap.draw(f, x), or the source of gradwrap.compile(f)",
    "pmap": "gradwrap.vmap(f)",
    # HIPS autograd
    "grad_and_aux": "gradwrap.grad(f, has_aux=True)",
    "grad_named": "gradwrap.grad(f, argnums='name')",
    "hessian_vector_product": "gradwrap.hvp(f, (x,), (v,))",
    "holomorphic_grad": "gradwrap.grad(f, holomorphic=True)",
    "make_hvp": "gradwrap.hvp(f, (x,), (v,))",
    "make_jvp": "gradwrap.jvp(f, (x,), (v,))",
    "make_vjp": "gradwrap.vjp(f, x)",
    "multigrad": "gradwrap.grad(f, argnums=(0, 1))",
    "multigrad_dict": "gradwrap.grad(f, argnums=('a', 'b'))",
    # Parts of gradwrap that are imported by themselves
    **{
        name: f"import gradwrap.{name}"
        for name in ("adaptation", "cupy", "dask", "numpy", "profiling", "scipy")
    },
}


def instead_of(name: str, known: Sequence[str]) -> str:
    """Return a sentence that says what to write for a name, or a name like it.

    Special names are for what looks for a protocol, and it needs no sentence.
    """
    if name.startswith("__"):
        return ""
    import difflib

    import numpy as np

    fix = INSTEAD.get(name)
    if fix is None and callable(getattr(np, name, None)):
        fix = f"np.{name}, since NumPy's functions take tracked arrays"
    if fix:
        return f". Fix: {fix}."
    near = difflib.get_close_matches(name, known, 1)
    return f". Did you mean gradwrap.{near[0]}?" if near else ""
