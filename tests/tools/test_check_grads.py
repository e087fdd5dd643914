"""`gradwrap.testing.check_grads` finds what is wrong, and only that."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.testing import GradientMismatchError, check_grads
from lambdas import fn

X = np.array([0.3, 1.2, 2.0])


def test_accepts_right_gradients() -> None:
    check_grads(fn(lambda x: np.sin(x) * np.exp(x)), [X], order=4)
    check_grads(fn(lambda p, k: {"a": p["w"] ** k, "n": 3}), [{"w": X, "name": "w"}, 3])
    check_grads(fn(lambda z: np.abs(z) ** 2 * z), [X + 1j * X[::-1]])
    check_grads(fn(lambda x, y: x * y), [2.0, np.float64(3.0)])
    check_grads(np.tanh, [X.astype(np.float32)])


@pytest.mark.parametrize("mode", ["fwd", "rev"])
@pytest.mark.parametrize("scale", [1.001, -1.0, 0.0, np.nan])
def test_refuses_a_wrong_rule(scale: float, mode: str) -> None:
    @gw.primitive
    def square(x: Any) -> Any:
        return x**2

    gw.defvjp(square, lambda xp, g, x: g * scale * 2 * x)
    with pytest.raises(GradientMismatchError) as caught:
        check_grads(square, [3.0], order=1, modes=(mode,))
    found = re.fullmatch(
        r"derivative of order 1 \((fwd|rev)\) along a random direction: (\S+) by gradwrap, "
        r"(\S+) by central differences\. Fix: correct the rule; or, if the function has a kink or "
        "noise there, choose other arguments or another eps.",
        str(caught.value),
    )
    assert found is not None
    assert found[1] == mode
    exact, numerical = map(float, found.groups()[1:])
    assert exact == pytest.approx(scale * numerical, nan_ok=True)


def test_refuses_a_rule_that_is_wrong_in_second_order() -> None:
    @gw.primitive
    def square(x: Any) -> Any:
        return x**2

    gw.defvjp(square, lambda xp, g, x: 2 * g * gw.stop_gradient(x))
    check_grads(square, [3.0], order=1)
    with pytest.raises(
        GradientMismatchError, match=r"derivative of order 2 \((fwd|rev) of (fwd|rev)\)"
    ):
        check_grads(square, [3.0])


def test_refuses_a_rule_that_is_wrong_for_complex_arrays() -> None:
    @gw.primitive
    def modulus(z: Any) -> Any:
        return np.abs(z) ** 2

    gw.defvjp(modulus, lambda xp, g, z: g * xp.conj(z))
    with pytest.raises(GradientMismatchError):
        check_grads(modulus, [X + 2j], order=1)


def test_arguments_it_cannot_check() -> None:
    with pytest.raises(ValueError, match=r"no argument is a floating-point array\. Fix: cast one"):
        check_grads(np.sin, [np.array([1, 2])])
    with pytest.raises(ValueError, match=r"modes=\('forward',\): known are 'fwd' and 'rev'"):
        check_grads(np.sin, [X], modes=("forward",))


def test_each_mode_is_checked_by_itself() -> None:
    @gw.primitive
    def square(x: Any) -> Any:
        return x**2

    gw.defvjp(square, lambda xp, g, x: 2 * g * x)
    gw.defjvp(square, lambda xp, t, x: 3 * t * x)
    check_grads(square, [X], modes=("rev",))
    with pytest.raises(GradientMismatchError, match=r"order 1 \(fwd\)"):
        check_grads(square, [X])
    with pytest.raises(GradientMismatchError, match=r"order 1 \(fwd\)"):
        check_grads(square, [X], modes=("fwd",))


def test_every_nesting_of_the_modes_is_checked() -> None:
    """Only the fourth nesting is wrong: the tangent of the JVP's own formula."""

    @gw.primitive
    def square(x: Any) -> Any:
        return x**2

    gw.defvjp(square, lambda xp, g, x: 2 * g * x)
    gw.defjvp(square, lambda xp, t, x: 2 * t * gw.stop_gradient(x))
    check_grads(square, [X], order=1)
    with pytest.raises(GradientMismatchError, match=r"order 2 \((fwd|rev) of fwd\)"):
        check_grads(square, [X])


def test_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    check_grads(np.sin, [X], order=2, verbose=True)
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split() == ["order", "by", "gradwrap", "differences", "relative", "error"]
    assert [row.split()[0] for row in rows] == ["1", "1", "2", "2", "2", "2"]
    assert all(row.endswith("  ok") for row in rows)
    by = [row[7:17].strip() for row in rows]
    assert by == ["fwd", "rev", "fwd of fwd", "rev of fwd", "fwd of rev", "rev of rev"]
    for row in rows:
        found, numerical, error = (float(part) for part in row[17:].split()[:3])
        assert found == pytest.approx(numerical, abs=1e-6)
        assert error < 1e-6
    check_grads(np.sin, [X])
    assert not capsys.readouterr().out


def test_prints_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = gw.primitive(fn(lambda x: x**2))
    gw.defvjp(wrong, lambda xp, g, x: g * 3 * x)
    with pytest.raises(GradientMismatchError):
        check_grads(wrong, [3.0], order=1, modes=["rev"], verbose=True)
    assert capsys.readouterr().out.splitlines()[-1].endswith("WRONG")


@pytest.mark.parametrize(("given", "what"), [(np.ones(3), "an array of numpy"), (2.0, "a float")])
def test_arguments_are_a_list(given: Any, what: str) -> None:
    text = f"check_grads takes a list of the function's arguments; it got {what}. Fix: pass"
    with pytest.raises(TypeError, match=re.escape(text)):
        check_grads(np.sin, given)
