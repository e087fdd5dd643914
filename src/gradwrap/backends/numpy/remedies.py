"""Remedies for calls that take only plain arrays and numbers: samplers, types, Python's own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradwrap.core.observing.called import Called

CONSTANT = "or pass .item() (a number) or .detach() (an array) if no gradient is wanted"
DISCRETE = frozenset(
    [
        "binomial",
        "geometric",
        "hypergeometric",
        "integers",
        "logseries",
        "multinomial",
        "multivariate_hypergeometric",
        "negative_binomial",
        "poisson",
        "randint",
        "random_integers",
        "zipf",
    ]
)
UNKNOWN = frozenset(["noncentral_chisquare", "noncentral_f"])
OTHER_TYPES = {
    "decimal": "decimal numbers",
    "fractions": "fractions",
    "datetime": "times",
}
VECTORIZE = (
    "differentiate gradwrap.adapting(f) in place of your function f, under which np.vectorize "
    "takes tracked values; or write it with array functions."
)
WHOLE = {
    "json.dumps": "json.dumps(x.tolist()), which writes the numbers.",
    "json.dump": "json.dump(x.tolist(), file), which writes the numbers.",
    "time.sleep": "time.sleep(x.item()), which is no part of the gradient.",
    "numpy.save": "np.save(file, x.detach().data), which writes the numbers.",
    "numpy.savez": "np.savez(file, x=x.detach().data), which writes the numbers.",
    "numpy.savetxt": "np.savetxt(file, x.detach().data), which writes the numbers.",
    "_struct.pack": "struct.pack(format, x.item()), which writes the number.",
    "array.array": "array.array('d', x.tolist()), which holds the numbers.",
    "builtins.bytes": "x.detach().data.tobytes(), which has the bytes of the numbers.",
    "builtins.range": "range(int(x.item())): a count has no derivative.",
}
"""What to write for calls whose result is no part of a gradient."""
PYTHONS = {
    "statistics.mean": "np.mean(x), or np.mean(np.stack([a, b])) of tracked numbers",
    "statistics.fmean": "np.mean(x), or np.mean(np.stack([a, b])) of tracked numbers",
    "statistics.median": "np.median(x), or np.median(np.stack([a, b])) of tracked numbers",
    "statistics.variance": "np.var(x, ddof=1)",
    "statistics.pvariance": "np.var(x)",
    "statistics.stdev": "np.std(x, ddof=1)",
    "statistics.pstdev": "np.std(x)",
    "builtins.round": "np.round(x), or int(x.item()) for an index",
    "math.isclose": "np.isclose(a, b)",
    "math.floor": "np.floor(x), or int(x.item()) for an index",
    "math.ceil": "np.ceil(x), or int(x.item()) for an index",
}


def remedy(called: Called) -> str:
    """Return what to write instead of a call, or "" if that is not known."""
    function = called.function
    module, name = _place(function)
    package = module.partition(".")[0]
    found = _sampler(called) or WHOLE.get(f"{module}.{name}", "")
    if not found and (isinstance(function, np.vectorize) or function is np.vectorize):
        found = VECTORIZE
    if not found and package in OTHER_TYPES:
        found = f"pass .item(), a plain number: {OTHER_TYPES[package]} have no derivative here."
    if found:
        return found
    if isinstance(function, type) and issubclass(function, np.generic):
        found = f"x.astype(np.{function.__name__})"
    elif package == "math":
        known = callable(getattr(np, name, None))
        found = f"np.{name}(x)" if known else "the array function (np.sin, not math.sin)"
    found = PYTHONS.get(f"{module}.{name}", found)
    return found and f"{found}; {CONSTANT}."


def _place(function: Any) -> tuple[str, str]:
    """Return the module and the name of a function; empty strings if it has none."""
    module: Any = getattr(function, "__module__", "") or ""
    name: Any = getattr(function, "__qualname__", "") or ""
    if isinstance(module, str) and isinstance(name, str):
        return {"_decimal": "decimal", "_json": "json"}.get(module, module), name
    return "", ""


def _sampler(called: Called) -> str:
    """Return what to write instead of a random generator's method or `np.random` function."""
    random: Any = sys.modules.get("numpy.random")
    if random is None:  # NumPy imports it when it is first used
        return ""
    kinds = (random.Generator, random.RandomState)
    rng: Any = None if called.whole is random else called.whole  # it may be an array, so no `in`
    rng = getattr(called.function, "__self__", None) if rng is None else rng
    if not isinstance(rng, kinds):
        return ""
    if called.name in DISCRETE:
        return (
            "pass .item() (a number) or .detach() (an array): a sample of "
            f"{called.name} is a whole number, which has no derivative."
        )
    if called.name in UNKNOWN:
        return (
            "pass .item() (a number) or .detach() (an array): gradwrap has no derivative of a "
            f"sample of {called.name}."
        )
    written = called.owner or "np.random"
    form = "gradwrap.random.{1}(...)"
    if isinstance(rng, random.Generator):
        form = "gradwrap.random.default_rng({0}).{1}(...)"
    ours = form.format(written, called.name)
    return f"{ours}, which draws the same numbers and takes tracked arguments; {CONSTANT}."
