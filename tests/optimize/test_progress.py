"""The line of progress: on a terminal, in a file, and with tqdm."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import numpy as np
import pytest

import gradwrap.optimize
from gradwrap.core.observing import progress

opt: Any = gradwrap.optimize
X = np.array([3.0, 4.0])


@pytest.fixture(autouse=True)
def without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)


def bowl(x: Any) -> Any:
    return np.sum(x**2)


def test_a_file_gets_the_last_state(capsys: pytest.CaptureFixture[str]) -> None:
    opt.sgd(bowl, X, steps=2, learning_rate=0.25, progress=True)
    assert capsys.readouterr().err == "sgd: iteration 2 of 2, value 6.25, |gradient| 5.00e+00\n"
    opt.minimize(bowl, X, method="CG", progress=True)
    line = r"minimize: iteration \d+, value \S+, \|gradient\| \S+\n"
    assert re.fullmatch(line, capsys.readouterr().err)
    opt.minimize(bowl, X, method="Nelder-Mead", maxiter=3, progress=True)
    assert re.fullmatch(r"minimize: iteration [23] of 3, value \S+\n", capsys.readouterr().err)
    opt.least_squares(lambda x: x, X, progress=True)
    line = r"least_squares: iteration \d+, cost \S+, \|gradient\| \S+\n"
    assert re.fullmatch(line, capsys.readouterr().err)


def test_a_terminal_shows_each_state_on_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    opt.sgd(bowl, X, steps=3, learning_rate=0.25, progress=True)
    shown = capsys.readouterr().err
    assert shown.count("\r") == 4
    assert shown.endswith("\n")
    assert shown.count("\n") == 1
    assert "\rsgd: iteration 1 of 3, value 25, |gradient| 1.00e+01" in shown


def test_nothing_is_shown_unless_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    opt.adam(bowl, X, steps=2)
    opt.minimize(bowl, X)
    opt.least_squares(lambda x: x, X)
    assert capsys.readouterr() == ("", "")


def test_tqdm_shows_it_if_it_is_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bars: list[Any] = []

    class Bar:
        def __init__(self, **words: Any) -> None:
            self.words, self.count, self.text, self.closed = words, 0, "", False
            bars.append(self)

        def update(self, n: int) -> None:
            self.count += n

        def set_postfix_str(self, text: str, *, refresh: bool = True) -> None:
            self.text = text

        def close(self) -> None:
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    opt.sgd(bowl, X, steps=2, learning_rate=0.25, progress=True)
    (bar,) = bars
    assert (bar.words["desc"], bar.words["total"], bar.count, bar.closed) == ("sgd", 2, 2, True)
    assert bar.text == "value 6.25, |gradient| 5.00e+00"
    assert capsys.readouterr().err == ""


def test_the_line_ends_where_an_error_does(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(x: Any) -> Any:
        if x[0].item() < 2.0:
            raise ZeroDivisionError
        return np.sum(x**2)

    with pytest.raises(ZeroDivisionError):
        opt.sgd(fails, X, learning_rate=0.25, progress=True)
    assert capsys.readouterr().err.endswith("\n")


def test_a_long_computation_shows_a_line_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADWRAP_PROGRESS", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    opt.sgd(bowl, X, steps=3)
    assert capsys.readouterr().err == ""  # it takes less than two seconds
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    for run in (opt.sgd, opt.adam, opt.minimize):
        run(bowl, X)
        assert "iteration" in capsys.readouterr().err
    opt.sgd(bowl, X, steps=3, progress=False)
    monkeypatch.setenv("GRADWRAP_PROGRESS", "0")
    opt.sgd(bowl, X, steps=3)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    monkeypatch.setenv("GRADWRAP_PROGRESS", "1")
    opt.sgd(bowl, X, steps=3)
    assert "iteration 3 of 3" in capsys.readouterr().err
