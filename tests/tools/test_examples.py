"""Each example runs, and finds the numbers that it should."""

from __future__ import annotations

import runpy
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytest.importorskip("sklearn")


def run(name: str, **options: Any) -> Any:
    """Run an example, and return the result of its `main`."""
    return runpy.run_path(str(EXAMPLES / name))["main"](**options)


def test_digits(capsys: pytest.CaptureFixture[str]) -> None:
    result = run("digits.py")
    assert result.gradient_error < 1e-7
    assert result.losses[0] > 0.5
    assert result.losses[-1] < 0.01
    assert result.train_accuracy > 0.99
    assert result.test_accuracy > 0.96
    printed = capsys.readouterr().out
    assert "gradient checked against a numerical one" in printed
    assert "\r" not in printed  # no bar where there is no terminal
    assert all(line == line.rstrip() and len(line) < 80 for line in printed.splitlines())


def test_digits_draws_a_bar_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    run("digits.py", epochs=2)
    printed = capsys.readouterr().out
    assert f"\r[{20 * '#'}{20 * '.'}] epoch 1 of 2" in printed
    assert f"\r[{40 * '#'}] epoch 2 of 2" in printed


def test_maximum_likelihood() -> None:
    pytest.importorskip("scipy")
    result = run("maximum_likelihood.py")
    assert result.estimate_error < 1e-4
    assert result.standard_error_error < 1e-6
    gain = result.varying_width.log_likelihood - result.constant_width.log_likelihood
    # HIPS autograd's gradients lead there too, by BFGS and by trust-exact.
    assert gain == pytest.approx(17.47, abs=0.01)


def test_any_array() -> None:
    strict = pytest.importorskip("array_api_strict")
    runs = run("any_array.py", steps=20)
    first = runs["numpy float64"]
    for name, each in runs.items():
        library: type[Any] = np.ndarray
        if name.startswith("strict"):
            library = strict.empty(0).__class__
        tolerance = 1e-12 if name.endswith("64") else 1e-5
        for a, b in [(each.gradient, first.gradient), (each.weights, first.weights)]:
            assert isinstance(a, library)
            assert str(a.dtype).endswith(name[-7:])
            np.testing.assert_allclose(np.from_dlpack(a), b, rtol=tolerance, atol=tolerance)
        assert each.accuracy == pytest.approx(first.accuracy, abs=0.01)


def check_everywhere(library: str) -> None:
    results = run("everywhere.py", names=(library,))
    assert len(results) == 3
    for program in results.values():
        np.testing.assert_allclose(program[library], program["numpy"], rtol=1e-12, atol=1e-12)


def test_everywhere() -> None:
    check_everywhere("array_api_strict")


@pytest.mark.peers
@pytest.mark.parametrize("library", ["torch", "jax", "dask"])
def test_everywhere_on_a_peers_arrays(library: str) -> None:
    pytest.importorskip(library)
    check_everywhere(library)


def test_everywhere_says_what_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    run("everywhere.py", names=("torch",))
    assert "torch                         not installed" in capsys.readouterr().out


def test_everywhere_says_that_cupy_finds_no_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = types.SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(sys.modules, "cupy", without)
    run("everywhere.py", names=("cupy",))
    assert "cupy                          finds no GPU" in capsys.readouterr().out


def test_training_loop() -> None:
    result = run("training_loop.py")
    assert result.distance < 1e-10
    assert result.losses[-1] < 0.0045 < result.losses[0]


def test_micro_batches() -> None:
    result = run("micro_batches.py")
    assert result.gradient_error < 1e-15
    assert result.moved_while_frozen == 0.0
    assert result.losses[0] == pytest.approx(np.log(10.0), rel=1e-12)  # of ten equal scores
    assert result.losses[-1] < 0.3


def test_truncated_rnn() -> None:
    result = run("truncated_rnn.py")
    assert result.gradient_error < 1e-12
    assert result.bits[0] > 5.0
    assert result.bits[-1] < 3.2


def test_gradient_penalty() -> None:
    result = run("gradient_penalty.py")
    assert result.gradient_error < 1e-5
    assert result.clean[0.1] > result.clean[0.0] - 0.02
    assert result.changed[0.1] > result.changed[0.0] + 0.08


def test_maml() -> None:
    result = run("maml.py")
    assert result.gradient_error < 1e-7
    assert result.before > 4.0
    assert result.after < 0.6


def test_control_flow() -> None:
    result = run("control_flow.py")
    assert len(set(result.steps)) > 2
    assert result.gradient_error < 1e-14
    assert result.axis == pytest.approx(0.38710, abs=1e-7)
    assert result.eccentricity == pytest.approx(0.20563, abs=1e-6)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_runs_as_a_script_into_a_pipe(path: Path) -> None:
    few = ["array_api_strict"] if path.stem == "everywhere" else []  # the others: above
    done = subprocess.run(
        [sys.executable, str(path), *few], capture_output=True, check=False, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr
