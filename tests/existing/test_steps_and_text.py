"""Numbers that adapted code reads from text, whole numbers and rounded numbers of tracked values.

They are constants, so a part of the gradient would be missing without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import AdaptationError
from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(
    "ignore::gradwrap.errors.TrackedTextWarning", "ignore::gradwrap.errors.CompileWarning"
)
X = np.array([1.3712, 0.7321])
SOURCE = """
import configparser, decimal, fractions, io, json, locale, logging, os, tempfile, tomllib, warnings
LOG = logging.getLogger("programs")
TABLE = np.arange(100.0)
class ProgressWarning(UserWarning): pass
warnings.simplefilter("ignore", ProgressWarning)
def run(x):
"""
TEXTS = {
    "a section of settings": """
        settings = configparser.ConfigParser()
        settings['a'] = {'v': str(float(x[0]))}
        return settings.getfloat('a', 'v') * x[1]
        """,
    "settings with few digits": """
        settings = configparser.ConfigParser()
        settings.read_string(f"[a]\\nv={x[0]:.5f}\\n")
        return settings.getfloat('a', 'v') * x[1]
        """,
    "TOML": "return tomllib.loads(f'v = {float(x[0])}')['v'] * x[1]",
    "a number of a locale": "return locale.atof(str(float(x[0]))) * x[1]",
    "a file of JSON": "return json.load(io.StringIO(json.dumps({'v': float(x[0])})))['v'] * x[1]",
    "code": "return eval(compile(f'lambda t: t * {float(x[0])}', 'made', 'eval'))(x[1])",
    "digits": """
        digits = str(float(x[0]))[2:]
        return (1.0 + sum(int(c) / 10.0 ** (i + 1) for i, c in enumerate(digits))) * x[1]
        """,
    "a file of numbers": """
        place = tempfile.mktemp()
        np.savetxt(place, x)
        found = np.loadtxt(place)[0] * x[1]
        os.unlink(place)
        return found
        """,
}
STEPS = {
    "int": "return int(x[0] * 1e6) / 1e6 * x[1]",
    "rint": "return np.sum(np.rint(x * 1e5)) * 1e-5 * x[0]",
    "astype": "return np.sum((x * 1e6).astype(int)) * 1e-6 * x[0]",
    "a quotient": "return (x[0] // 1e-6) * 1e-6 * x[1]",
    "a place": "return np.argmin(np.abs(np.linspace(0, 2, 20001) - x[0])) * 1e-4 * x[1]",
    "a span of time": """
        span = np.timedelta64(int(x[0] * 1e9), 'ns')
        return span / np.timedelta64(1, 's') * x[1]
        """,
}
ROUNDED = {
    "round": ("return round(float(x[0]), 2) * x[1]", [X[1], 0.0]),
    "of an array": ("return np.sum(np.round(x, 1) * x)", X),
    "of tens": ("return np.sum(np.round(100.0 * x, -1) * x)", 100.0 * X),
    "a decimal number": (
        "return float(decimal.Decimal(str(x[0])).quantize(decimal.Decimal('0.1'))) * x[1]",
        [X[1], 0.0],
    ),
    "a fraction": (
        "return float(fractions.Fraction(float(x[0])).limit_denominator(9)) * x[1] + x[0]",
        [X[1], 0.0],
    ),
}
"""With the part of the gradient that a rounded number would drop."""
RIGHT = {
    "a place in a table": "return TABLE[int(20 * x[0])] * x[1] + x[0] ** 2",
    "places in a table": "return np.sum(TABLE[(x // 0.1).astype(int)] * x**2)",
    "the nearest point": "return np.sum(TABLE[np.argmin(np.abs(TABLE / 9 - x[0]))] * x)",
    "a rounded key": "return {1.4: 2.0}.get(round(float(x[0]), 1), 3.0) * x[0] * x[1]",
    "a label": "return x[0] ** 2 * (3.0 if f'{x[1]:.1f}' == '0.7' else 5.0) * x[1]",
    "shown": """
        print('x is', x[0], f'and {x[1]:.2f}')
        LOG.info('x is %s', x[0])
        LOG.warning(f'x is {x[0]}')
        warnings.warn(f'x is {x[0]}', ProgressWarning)
        return x[0] ** 2 * x[1]
        """,
    "in an error": """
        try:
            raise ValueError(f'{x[0]} is too small')
        except ValueError:
            return x[0] ** 2 * x[1]
        """,
}


def program(body: str, folder: Path) -> Any:
    lines = [line.removeprefix(" " * 8) for line in body.strip("\n").rstrip().split("\n")]
    return written(folder, SOURCE + "\n".join(f"    {line}" for line in lines)).run


@pytest.mark.parametrize("body", TEXTS.values(), ids=TEXTS)
def test_numbers_that_are_read_from_text_are_refused(body: str, tmp_path: Path) -> None:
    run = program(body, tmp_path)
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(AdaptationError, match=r"text was made of a tracked value in .*line"):
            transform(gw.adapting(run))(X)
    if ":.5f" in body:  # the values have steps, and so have the differences
        return
    found = gw.grad(gw.adapting(run, compiled="numerical"))(X)
    np.testing.assert_allclose(found, [X[1], X[0]], rtol=1e-7)


@pytest.mark.parametrize("body", STEPS.values(), ids=STEPS)
def test_whole_numbers_of_small_steps_are_refused(body: str, tmp_path: Path) -> None:
    run = program(body, tmp_path)
    adapted = gw.adapting(run)
    for _ in range(2):
        for transform in (gw.grad, gw.jacfwd):
            with pytest.raises(AdaptationError, match=r"was made a whole number in run \(.*line"):
                transform(adapted)(X)
    with pytest.raises(AdaptationError, match="was made a whole number"):
        gw.compile(gw.grad(gw.adapting(run)))(X)


@pytest.mark.parametrize(("body", "missing"), ROUNDED.values(), ids=ROUNDED)
def test_a_part_that_depends_on_rounded_numbers_is_refused(
    body: str, missing: Any, tmp_path: Path
) -> None:
    run = program(body, tmp_path)
    for transform in (gw.grad, gw.jacfwd):
        with pytest.raises(AdaptationError, match=r"would lack a part .* rounding=\"through\""):
            transform(gw.adapting(run))(X)
    with pytest.raises(AdaptationError, match="would lack a part"):
        gw.compile(gw.grad(gw.adapting(run)))(X)
    steps = 1e-6 * np.eye(2)
    plain = [(run(X + e) - run(X - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(gw.grad(gw.adapting(run, rounding="zero"))(X), plain, rtol=1e-6)
    slopes = np.array(gw.grad(gw.adapting(run, rounding="through"))(X)) - plain
    np.testing.assert_allclose(slopes, missing, rtol=1e-6, atol=1e-8)


FOLLOWED = {
    "a part": "return round(float(x[0] ** 2), 9) * x[1]",
    "all": "return round(float(x[0] ** 2 * x[1]), 8)",
    "arrays": "return np.sum(np.round(x**3, 10) * np.around(x, 9))",
    "a decimal number": """
        return float(round(decimal.Decimal(str(float(x[0]))), 12)) * x[1] ** 2
        """,
}
"""The steps of rounding are too small to be seen, so the number keeps its derivative."""


@pytest.mark.parametrize("body", FOLLOWED.values(), ids=FOLLOWED)
def test_numbers_rounded_to_many_decimals_keep_their_derivatives(body: str, tmp_path: Path) -> None:
    run = program(body, tmp_path)
    adapted = gw.adapting(run)
    compiled = gw.compile(gw.grad(gw.adapting(run)))
    for x in (X, 1.3 * X, X[::-1].copy()):
        wanted = [(run(x + e) - run(x - e)) / 2e-4 for e in 1e-4 * np.eye(2)]
        np.testing.assert_allclose(gw.grad(adapted)(x), wanted, rtol=1e-4)
        np.testing.assert_allclose(gw.jacfwd(adapted)(x), wanted, rtol=1e-4)
        np.testing.assert_allclose(compiled(x), wanted, rtol=1e-4)


def test_other_lines_that_round_are_still_refused(tmp_path: Path) -> None:
    run = program(
        """
        if x[0] > 1.0:
            return round(float(x[0] ** 2), 9) * x[1]
        return round(float(x[0] ** 2), 2) * x[1]
        """,
        tmp_path,
    )
    adapted = gw.adapting(run)
    np.testing.assert_allclose(gw.grad(adapted)(X), [2 * X[0] * X[1], X[0] ** 2], rtol=1e-7)
    with pytest.raises(AdaptationError, match="would lack a part"):
        gw.grad(adapted)(X - 0.5)


def test_gradients_that_the_code_stops_itself_are_not_compared(tmp_path: Path) -> None:
    run = program("return gw.stop_gradient(x[0]) * x[1] + int(1e6 * x[0]) * x[0]", tmp_path)
    run.__globals__["gw"] = gw
    found = gw.grad(gw.adapting(run))(X)
    np.testing.assert_allclose(found, [int(1e6 * X[0]), X[0]], rtol=1e-12)


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_what_has_its_whole_derivative_passes(
    body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = program(body, tmp_path)
    check_modes(run, X)
    capsys.readouterr()
    gw.grad(gw.adapting(run))(X)
    assert set(capsys.readouterr().out.splitlines()) <= {"x is 1.3712 and 0.73"}  # this point alone
