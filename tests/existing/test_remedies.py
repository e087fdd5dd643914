"""Mistakes that people make, and the remedy of each message, followed to the letter."""

from __future__ import annotations

import array
import decimal
import fractions
import importlib
import io
import json
import math
import re
import statistics
import struct
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest

import gradwrap

gw: Any = gradwrap  # called in every way
X = np.array([0.9, 2.0, 3.0])


def drop_in() -> Any:
    """`gradwrap.numpy`, which no name of this module is: messages depend on that."""
    import gradwrap.numpy as found

    return found


sleep: Any = importlib.import_module("time").sleep
save: Any = np.save
One: TypeAlias = Callable[[Any], Any]


class Mistake(NamedTuple):
    wrong: One
    message: str
    remedied: One
    plain: One | None = None
    """What the remedied function computes on plain values, where that is another function."""


generator = np.random.default_rng(3)


def rng() -> Any:
    return np.random.default_rng(3)


def _sampled(wrong: One, remedied: One, owner: str = "default_rng(generator).") -> Mistake:
    name = remedied.__code__.co_names[-1]
    message = f"gradwrap.random.{owner}{name}(...), which draws the same numbers"
    return Mistake(wrong, rf"Fix: {re.escape(message)}.*or pass \.item\(\)", remedied)


def ours() -> Any:
    return gw.random.default_rng(rng())


# the last name in the code of a remedy is that of the method
SAMPLES: dict[str, Mistake] = {
    "normal": _sampled(lambda x: generator.normal(x[0], x[1]), lambda x: ours().normal(x[0], x[1])),
    "np.random.normal": _sampled(
        lambda x: np.random.normal(x[0], x[1]),  # noqa: NPY002  what users write
        lambda x: gw.random.RandomState(3).normal(x[0], x[1]),
        owner="",
    ),
    "uniform": _sampled(
        lambda x: generator.uniform(x[0], x[1]), lambda x: ours().uniform(x[0], x[1])
    ),
    "exponential": _sampled(
        lambda x: generator.exponential(x[0]), lambda x: ours().exponential(x[0])
    ),
    "lognormal": _sampled(
        lambda x: generator.lognormal(x[0], x[1]), lambda x: ours().lognormal(x[0], x[1])
    ),
    "weibull": _sampled(lambda x: generator.weibull(x[0]), lambda x: ours().weibull(x[0])),
    "pareto": _sampled(lambda x: generator.pareto(x[1]), lambda x: ours().pareto(x[1])),
    "power": _sampled(lambda x: generator.power(x[0]), lambda x: ours().power(x[0])),
    "multivariate_normal": _sampled(
        lambda x: generator.multivariate_normal(x, np.eye(3))[0],
        lambda x: ours().multivariate_normal(x, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])[0],
    ),
    "choice": _sampled(lambda x: generator.choice(x, 2)[0], lambda x: ours().choice(x, 2)[0]),
    "permutation": _sampled(
        lambda x: generator.permutation(x)[0], lambda x: ours().permutation(x)[0]
    ),
}
CONSTANTS: dict[str, Mistake] = {
    "poisson": Mistake(
        lambda x: x[1] * generator.poisson(x[0]),
        "a sample of poisson is a whole number",
        lambda x: x[1] * (3 + 0 * generator.poisson(x[0].item())),
        lambda x: 3.0 * x[1],
    ),
    "noncentral_f": Mistake(
        lambda x: x[1] * generator.noncentral_f(x[0], 2.0, 1.0),
        "no derivative of a sample of noncentral_f",
        lambda x: x[1] * (3 + 0 * generator.noncentral_f(x[0].item(), 2.0, 1.0)),
        lambda x: 3.0 * x[1],
    ),
    "decimal": Mistake(
        lambda x: x[1] * float(decimal.Decimal(x[0])),
        r"pass \.item\(\), a plain number: decimal",
        lambda x: x[1] * float(decimal.Decimal(x[0].item())),
        lambda x: x[1] * 0.9,
    ),
    "fractions": Mistake(
        lambda x: x[1] * float(fractions.Fraction(x[0])),
        r"pass \.item\(\), a plain number: fractions",
        lambda x: x[1] * float(fractions.Fraction(x[0].item())),
        lambda x: x[1] * 0.9,
    ),
    "x[round]": Mistake(
        lambda x: x[round(x[0])],
        r"x\[int\(i\.item\(\)\)\]",
        lambda x: x[int(round(x[0]).item())],
        lambda x: x[1],
    ),
    "x[floats]": Mistake(
        lambda x: np.sum(x[np.floor(x[:2])] ** 2),
        r"x\[i\.astype\(int\)\]",
        lambda x: np.sum(x[np.floor(x[:2]).astype(int)] ** 2),
        lambda x: x[0] ** 2 + x[2] ** 2,
    ),
    "range": Mistake(
        lambda x: sum(x[0] for _ in range(x[1])),
        r"range\(int\(x\.item\(\)\)\)",
        lambda x: sum(x[0] for _ in range(int(x[1].item()))),
        lambda x: 2.0 * x[0],
    ),
    "int": Mistake(
        lambda x: x[int(x[0])],
        r"int\(x\.item\(\)\)",
        lambda x: x[int(x[0].item())],
        lambda x: x[0],
    ),
    "time.sleep": Mistake(
        lambda x: (sleep(x[0] * 1e-6), x[0])[1],
        r"time\.sleep\(x\.item\(\)\)",
        lambda x: (sleep((x[0] * 1e-6).item()), x[0])[1],
        lambda x: x[0],
    ),
    "json": Mistake(
        lambda x: (json.dumps(x), x[0])[1],
        r"json\.dumps\(x\.tolist\(\)\)",
        lambda x: (json.dumps(x.tolist()), x[0])[1],
        lambda x: x[0],
    ),
    "np.save": Mistake(
        lambda x: (save(io.BytesIO(), x), x[0])[1],
        r"np\.save\(file, x\.detach\(\)\.data\)",
        lambda x: (save(io.BytesIO(), x.detach().data), x[0])[1],
        lambda x: x[0],
    ),
    "struct": Mistake(
        lambda x: (struct.pack("d", x[0]), x[0])[1],
        r"struct\.pack\(format, x\.item\(\)\)",
        lambda x: (struct.pack("d", x[0].item()), x[0])[1],
        lambda x: x[0],
    ),
    "array.array": Mistake(
        lambda x: (array.array("d", x), x[0])[1],
        r"array\.array\('d', x\.tolist\(\)\)",
        lambda x: (array.array("d", x.tolist()), x[0])[1],
        lambda x: x[0],
    ),
    "bytes": Mistake(
        lambda x: (bytes(x), x[0])[1],
        r"x\.detach\(\)\.data\.tobytes\(\)",
        lambda x: (x.detach().data.tobytes(), x[0])[1],
        lambda x: x[0],
    ),
    "f-string": Mistake(
        lambda x: (f"{x:.2f}", x[0])[1],
        r"np\.array2string\(x\.detach\(\)\.data, precision=2\)",
        lambda x: (np.array2string(x.detach().data, precision=2), f"{x.sum().item():.2f}", x[0])[2],
        lambda x: x[0],
    ),
    "math.isclose": Mistake(
        lambda x: x[0] * math.isclose(x[0], 0.9),
        r"np\.isclose\(a, b\)",
        lambda x: x[0] * np.isclose(x[0], 0.9),
        lambda x: x[0],
    ),
}
FUNCTIONS: dict[str, Mistake] = {
    "math.sin": Mistake(lambda x: math.sin(x[0]), r"Fix: np\.sin\(x\)", lambda x: np.sin(x[0])),
    "math.floor": Mistake(
        lambda x: x[1] * math.floor(x[0]),
        r"np\.floor\(x\)",
        lambda x: x[1] * np.floor(x[0]),
    ),
    "math.gamma": Mistake(
        lambda x: math.gamma(x[0]), r"the array function", lambda x: np.sin(x[0])
    ),
    "np.float64": Mistake(
        lambda x: np.float64(x[0]) * 2,
        r"x\.astype\(np\.float64\)",
        lambda x: x[0].astype(np.float64) * 2,
    ),
    "np.float32": Mistake(
        lambda x: np.float32(x[0]) * 2,
        r"x\.astype\(np\.float32\)",
        lambda x: x[0].astype(np.float32) * 2,
        lambda x: 2.0 * x[0],
    ),
    "statistics.mean": Mistake(
        lambda x: statistics.mean([x[0], x[1]]),
        r"np\.mean\(np\.stack\(\[a, b\]\)\)",
        lambda x: np.mean(np.stack([x[0], x[1]])),
    ),
    "statistics.stdev": Mistake(
        lambda x: statistics.stdev(x), r"np\.std\(x, ddof=1\)", lambda x: np.std(x, ddof=1)
    ),
    "list ** int": Mistake(
        lambda x: np.sum(_list(x[0], x[1]) ** 2),
        r"np\.stack\(\[a, b\]\)",
        lambda x: np.sum(np.stack([x[0], x[1]]) ** 2),
    ),
    "np.array": Mistake(
        lambda x: np.sum(np.array([x[0], x[1]]) ** 2),
        r"import gradwrap\.numpy as np",
        lambda x: np.sum(drop_in().array([x[0], x[1]]) ** 2),
        lambda x: x[0] ** 2 + x[1] ** 2,
    ),
    "store": Mistake(
        lambda x: _stored(np.zeros(3), x),
        r"gradwrap\.numpy\.zeros",
        lambda x: _stored(drop_in().zeros(3), x),
        lambda x: x[0] ** 2,
    ),
    "complex": Mistake(
        lambda x: abs(complex(x[0], x[1])),
        r"a \+ 1j \* b",
        lambda x: abs(x[0] + 1j * x[1]),
    ),
    "np.vectorize": Mistake(
        lambda x: np.sum(np.vectorize(math.exp)(x)),
        r"gradwrap\.adapting\(f\)",
        gw.adapting(lambda x: np.sum(np.vectorize(math.exp)(x))),
        lambda x: np.sum(np.exp(x)),
    ),
}
MISTAKES = SAMPLES | CONSTANTS | FUNCTIONS


def _list(*parts: Any) -> Any:
    return [*parts]


def _stored(buffer: Any, x: Any) -> Any:
    buffer[0] = x[0]
    return np.sum(buffer**2)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_remedy_of_a_message_works(name: str) -> None:
    mistake = MISTAKES[name]
    with pytest.raises(Exception, match=mistake.message):
        gw.grad(mistake.wrong)(X)
    plain = mistake.plain or mistake.remedied
    step = 1e-6
    wanted = [(plain(X + step * e) - plain(X - step * e)) / (2 * step) for e in np.eye(3)]
    rtol = 1e-4 if name == "np.float32" else 1e-7
    np.testing.assert_allclose(gw.grad(mistake.remedied)(X), wanted, rtol, 1e-8)


def test_there_are_forty() -> None:
    assert len(MISTAKES) >= 39


def test_a_list_as_an_argument() -> None:
    with pytest.raises(TypeError, match=r"pass an array, np\.array\(\[1\.0, 2\.0\]\)"):
        gw.grad(lambda x: np.sum(x**2))([1, 2, 3])
    np.testing.assert_array_equal(gw.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0])), [2, 4])


def test_a_missing_argument() -> None:
    with pytest.raises(TypeError, match=r"missing 1 required.*gradwrap\.grad\(f\)\(x, y"):
        gw.grad(lambda x, y: x * y)(1.0)
    assert gw.grad(lambda x, y: x * y)(1.0, 2.0) == 2.0


def test_misspelt_names() -> None:
    with pytest.raises(AttributeError, match=r"Did you mean gradwrap\.value_and_grad\?"):
        gw.value_and_gard  # noqa: B018  it is asked for
    with pytest.raises(AttributeError, match="Did you mean 'mean'"):
        gw.grad(lambda x: x.mena())(X)


def test_the_call_is_found_on_lines_of_several_calls() -> None:
    def f(x: Any) -> Any:
        return np.abs(
            math.sin(
                x[0],
            )
        ) + np.exp(x[1])

    with pytest.raises(TypeError, match=r"Fix: np\.sin\(x\)"):
        gw.grad(f)(X)
