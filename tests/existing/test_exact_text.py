"""Text that gives a tracked number exactly, decimal numbers, fractions and JSON in adapted code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import AdaptationError, CompileWarning, GradwrapError, TrackedValueError
from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(
    "ignore::gradwrap.errors.TrackedTextWarning", "ignore::gradwrap.errors.CompileWarning"
)
X = np.array([1.37, 0.73])
RIGHT = {
    "float of str": "return float(str(float(x[0]))) * x[1]",
    "float of repr": "return float(repr(float(x[0]))) ** 2 * x[1]",
    "a number of NumPy": "return float(str(x[0])) * np.float64(f'{x[1]}')",
    "a format with all digits": "return float(f'{x[0]:.17g}') * float('{:0.18f}'.format(x[1]))",
    "a format with an exponent": "return float(format(float(x[0]), '.16e')) * x[1]",
    "a percent sign": "return float('%s' % x[0]) * x[1] ** 2",
    "evaluated": "return ast.literal_eval(repr(float(x[0]))) * eval(str(float(x[1]))) ** 2",
    "a decimal number": "return float(D(str(float(x[0]))) * D('2.5')) * x[1]",
    "of a float": "return float(D(float(x[0])) + D.from_float(float(x[1])) ** 2)",
    "of the module": "return float(decimal.Decimal(str(x[0])) ** 3) * x[1]",
    "operators": """
        a, b = D(str(x[0])), D(str(float(x[1])))
        c = (a * b - b / a + a**b - a**2 + 2**b + (-a) + abs(-b) + 1 - 3 * a) % D('0.5')
        c += a // b + divmod(a, D('0.4'))[1] + a.fma(b, D(1))
        c += a.ln() + b.exp() + (a + b).log10() + D(3) / b + min(a, b) * max([a, b])
        return float(a.max(D(1)) * a.min(b) + c.copy_abs().sqrt() + c.normalize())
        """,
    "questions": """
        a = D(str(x[0]))
        assert isinstance(a, D) and type(a) is D and type(a) is type(D(1))
        assert not isinstance(a, float) and a.is_finite() and not a.is_zero() and a.real == a
        assert not a.is_signed() and bool(a) and not hasattr(a, 'nothing')
        assert a != D('1.37') or str(a) == '1.37'  # a text in the code is none of a tracked value
        return float(a if isinstance(a, D) else 2 * a) * x[1] + int(a) * x[0] + round(a) * x[1]
        """,
    "precision": """
        with decimal.localcontext() as context:
            context.prec = 40
            third = D(str(x[0])) / 3
            assert len(str(third)) > 38
            return float(third * third) * x[1]
        """,
    "comparisons": """
        tax, value = D(0), D(str(2 * x[0]))
        for limit, rate in (('1', '0.1'), ('2', '0.2'), ('3', '0.5')):
            tax += max(D(0), value - D(limit)) * D(rate)
        assert value != 2.0 and value > F(1, 2) and D(1) < value
        return float(tax) * x[1]
        """,
    "an iteration": """
        a, root = D(str(x[0])), D(1)
        for _ in range(40):
            last, root = root, (root + a / root) / 2
            if abs(root - last) < D('1e-25'): break
        return float(root) * x[1]
        """,
    "lists": """
        all = [D(str(v)) for v in x]
        return float(sum(all)) * np.array(all, dtype=float)[0] + float(np.array(all).sum())
        """,
    "text of one": "a = 2 * D(str(x[0])); return float(str(a)) * float(D(f'{a}')) * x[1]",
    "returned": "return D(str(x[0])) * D(repr(float(x[1]))) ** 2",
    "functions of math": "return math.sqrt(D(str(x[0]))) * math.exp(F(float(x[1])))",
    "fractions": """
        f = F(str(float(x[0])))
        return (f**2 * float(x[1]) + 2.0 * f) / (1 + f) + (f // F(1, 2)) * x[0] + f % F(1, 3)
        """,
    "JSON": "return json.loads(json.dumps({'a': x.tolist()}))['a'][0] * x[1]",
    "JSON of a number": "return json.loads(json.dumps(float(x[0]))) * x[1]",
    "JSON with options": """
        data = {'b': [x[0], 1, 10**50, 's', None], 'a': {'z': x[1] ** 2}, '2': 0.5}
        found = json.loads(json.dumps(data, indent=2, sort_keys=True))
        assert list(found) == ['2', 'a', 'b'] and found['b'][1:] == [1, 10**50, 's', None]
        return found['b'][0] * found['a']['z'] * found['2']
        """,
    "JSON by an encoder": """
        class Encoder(json.JSONEncoder):
            def default(self, value):
                return value.tolist() if isinstance(value, np.ndarray) else super().default(value)
        found = json.loads(json.dumps({'x': x, 'y': 2.0 * x[0]}, cls=Encoder))
        return found['x'][1] * found['y']
        """,
    "JSON by a function": """
        found = json.loads(json.dumps({'x': x, 'y': 2.0 * x[0]}, default=lambda v: v.tolist()))
        return found['x'][1] * found['y']
        """,
    "JSON with hooks": """
        text = json.dumps({'x': x[0] * x[1]})
        first = json.loads(text, object_hook=lambda found: {k: 2 * v for k, v in found.items()})
        return first['x'] * float(json.loads(text, parse_float=D)['x'] * D('0.5'))
        """,
}
REFUSED = {
    "a format": ("float(D(f'{x[0]:.1f}') * D('1.5')) * x[1]", "reads back text"),
    "a longer text": ("float(D(str(x[0]) + '0') * D('1.5')) * x[1]", "reads back text"),
    "altered JSON": ("json.loads(json.dumps({'x': x[0]}).replace('x', 'y'))['y']", "reads back"),
    "digits": ("D(str(x[0])).as_tuple().digits[1] * x[1]", r"Decimal\.as_tuple .* in run \(.*line"),
    "parts": ("F(float(x[0])).numerator / 2**40 * x[1]", r"Fraction\.numerator of a tracked"),
    "a context": ("float(decimal.getcontext().sqrt(D(float(x[0])))) * x[1]", "TrackedDecimal"),
    "a plain number": ("float(D(2).fma(D(float(x[0])), D('1.5'))) * x[1]", "TrackedDecimal"),
    "a range": ("float(D(float(x[0])) * D('1e400') * D('1e-400'))", "out of the range of floats"),
    "a key": ("{D('1.37'): 2}[D(float(x[0]))] * x[1]", "Use as a key"),
    "a search": ("float(bisected(D(float(x[0])))) * x[1]", "by comparisons of tracked values"),
    "rounded by a context": ("in_context(lambda: D(float(x[0])) * 3)", r"rounding=\"through\""),
    "rounded by its sign": ("in_context(lambda: +D(float(x[0])))", r"rounding=\"through\""),
    "rounded alone": ("float(D(str(x[0])).quantize(D('0.1')))", r"rounding=\"through\""),
}
SOURCE = """
import ast, decimal, json
from decimal import Decimal as D
from fractions import Fraction as F
def in_context(compute):
    with decimal.localcontext() as context:
        context.prec = 5
        return float(compute())
def bisected(a):
    low, high = D(0), D(3)
    for _ in range(60):
        middle = (low + high) / 2
        if middle * middle < a: low = middle
        else: high = middle
    return low
"""


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_whole_text_leads_back_to_the_number(body: str, tmp_path: Path) -> None:
    run = written(tmp_path, f"{SOURCE}\ndef run(x):\n{_indented(body)}").run
    assert gw.value_and_grad(gw.adapting(run))(X)[0] == float(run(X))
    check_modes(run, X)


def _indented(body: str) -> str:
    lines = [line.removeprefix(" " * 8) for line in body.strip("\n").rstrip().split("\n")]
    return "\n".join(f"    {line}" for line in lines)


@pytest.mark.parametrize(("expression", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_derivative_is_refused(expression: str, message: str, tmp_path: Path) -> None:
    run = gw.adapting(written(tmp_path, f"{SOURCE}\ndef run(x): return {expression}\n").run)
    for transform in (gw.grad, gw.jacfwd, lambda f: gw.compile(gw.grad(f))):
        with pytest.raises(GradwrapError, match=rf"(?s){message}.*Fix: |Fix: .*{message}"):
            transform(run)(X)


def test_a_remedy_works(tmp_path: Path) -> None:
    package = written(
        tmp_path,
        f"""{SOURCE}
def digits(x): return float(D(float(x[0])).scaleb(1)) * x[1]
def shown(x): return float(D(str(x[0] * x[1])).quantize(D('0.01')))
""",
    )
    with pytest.raises(TrackedValueError, match=r"Decimal\.scaleb.*compiled=\"numerical\""):
        gw.grad(gw.adapting(package.digits))(X)
    by_differences = gw.grad(gw.adapting(package.digits, compiled="numerical"))(X)
    np.testing.assert_allclose(by_differences, 10 * X[::-1], rtol=1e-8)
    with pytest.raises(AdaptationError, match=r"rounding=\"through\""):
        gw.grad(gw.adapting(package.shown))(X)
    through = gw.adapting(package.shown, rounding="through")
    value, found = gw.value_and_grad(through)(X)
    assert value == 1.0 == package.shown(X)
    np.testing.assert_allclose(found, X[::-1])


def test_examples_of_a_batch_have_no_decimal_number(tmp_path: Path) -> None:
    run = written(tmp_path, f"{SOURCE}\ndef run(x): return float(D(float(x[0]))) * x[1]\n").run
    with pytest.raises(GradwrapError, match=r"vmap"):
        gw.vmap(gw.grad(gw.adapting(run)))(np.stack([X, 2 * X]))
    found = gw.vmap(gw.grad(gw.adapting(run)), fallback="loop")(np.stack([X, 2 * X]))
    np.testing.assert_allclose(found, [X[::-1], 2 * X[::-1]])


def test_a_compiled_function_says_why_it_runs_eagerly(tmp_path: Path) -> None:
    run = written(tmp_path, f"{SOURCE}\ndef run(x): return float(D(float(x[0]))) * x[1]\n").run
    with pytest.warns(CompileWarning, match="float"):
        found = gw.compile(gw.grad(gw.adapting(run)))(X)
    np.testing.assert_allclose(found, X[::-1])
