"""Each example runs, and finds the numbers that it should."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallery
import gradwrap as gw
from sampling import LONG

EXAMPLES = Path(__file__).parents[2] / "examples"

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib.font_manager")  # makes its cache, which a script would report


def run(name: str, **options: Any) -> Any:
    """Run an example, and return the result of its `main`."""
    return runpy.run_path(str(EXAMPLES / name))["main"](**options)


@pytest.mark.slow
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


@pytest.mark.slow
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
    without = types.SimpleNamespace(is_available=lambda: False, ndarray=types.SimpleNamespace)
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_curve_fit() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    example = runpy.run_path(str(EXAMPLES / "curve_fit.py"))
    result, times, error = example["main"](), example["TIMES"], example["ERROR"]

    def angle(t: Any, *parameters: float) -> Any:
        return example["angle"](np.array(parameters), t)

    known, covariance = optimize.curve_fit(
        angle,
        times,
        result.measured,
        example["GUESS"],
        sigma=np.full(len(times), error),
        absolute_sigma=True,
    )
    np.testing.assert_allclose(result.best, known, atol=1e-5)
    np.testing.assert_allclose(result.errors, np.sqrt(np.diag(covariance)), rtol=0.02)
    # at time 0 the prediction is `amplitude cos(phase)`
    amplitude, _, _, phase = result.best
    slope = np.array([np.cos(phase), 0.0, 0.0, -amplitude * np.sin(phase)])
    exact = np.sqrt(slope @ result.covariance @ slope)
    np.testing.assert_allclose(result.band(np.array([0.0])), [exact], rtol=1e-12)


def test_lens_design() -> None:
    pytest.importorskip("scipy")
    example = runpy.run_path(str(EXAMPLES / "lens_design.py"))
    result = example["main"]()
    assert result.spot_before > 2.0
    assert result.spot_after < 0.005
    gw.testing.check_grads(example["merit"], [example["START"]])
    # rays near the axis meet where the lensmaker's equation says: thin lenses, so within some mm
    (c1, c2, c3), (crown, flint) = result.curvatures / 100.0, example["COLOURS"]["green"]
    power = (crown - 1.0) * (c1 - c2) + (flint - 1.0) * (c2 - c3)
    assert 1.0 / power == pytest.approx(example["SENSOR"], rel=0.06)


def test_heat_equation() -> None:
    pytest.importorskip("scipy")
    result = run("heat_equation.py")
    assert result.misfit_per_reading == pytest.approx(1.0, abs=0.15)
    truth = 0.25 - 0.15 * np.exp(-(((np.arange(39) / 39 + 0.5 / 39 - 0.55) / 0.12) ** 2))
    assert np.mean(abs(result.conductivity - truth) < 2 * result.errors) > 0.85


@pytest.mark.slow
def test_hamiltonian_monte_carlo() -> None:
    result = run("hamiltonian_monte_carlo.py")
    x, y = result.samples[..., 0], result.samples[..., 1]
    assert result.accepted > 0.9
    np.testing.assert_allclose([x.mean(), y.mean()], [0.0, 0.0], atol=0.15)
    np.testing.assert_allclose([x.std(), y.std()], [2.0, np.sqrt(6.12)], rtol=0.08)


@pytest.mark.slow
def test_variational_inference() -> None:
    pytest.importorskip("scipy")
    result = run("variational_inference.py")
    np.testing.assert_allclose(result.mean, result.grid_mean, atol=0.05)
    spread, known = (np.sqrt(np.diag(c)) for c in (result.covariance, result.grid_covariance))
    np.testing.assert_allclose(spread, known, rtol=0.15)


def test_ode_sensitivity() -> None:
    example = runpy.run_path(str(EXAMPLES / "ode_sensitivity.py"))
    result, rates, start = example["main"](), example["RATES"], example["START"]
    assert result.difference < 1e-12
    h = 1e-6
    ahead, behind = (example["peak"](rates * (1.0 + s * np.eye(4)[0]), start) for s in (h, -h))
    assert result.of_peak[0] == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)


@pytest.mark.slow
def test_implicit_layer() -> None:
    example = runpy.run_path(str(EXAMPLES / "implicit_layer.py"))
    result = example["main"](steps=150)
    assert result.accuracy > 0.98
    assert result.losses[0] == pytest.approx(np.log(2.0), rel=1e-12)
    state = example["equilibrium"](result.params, result.x)
    np.testing.assert_allclose(example["update"](state, result.params, result.x), state, atol=1e-9)
    few = (result.x[:5], result.labels[:5])
    gw.testing.check_grads(lambda p: example["loss"](p, *few), [result.params], 1, ["rev"])


@pytest.mark.slow
def test_attention() -> None:
    result = run("attention.py", steps=130)
    assert result.losses[0] > 2.0
    assert result.accuracy > 0.9
    weights = np.stack(result.weights)
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)
    assert np.all(weights[..., ~np.tri(16, dtype=bool)] == 0.0)  # nothing is read from later places


def test_gaussian_process() -> None:
    result = run("gaussian_process.py")
    assert result.likelihoods[1] > result.likelihoods[0] + 10.0
    assert result.gradient_error < 1e-6
    later: Any = result.mean[-len(result.future[0]) :] - result.future[1]
    assert np.linalg.norm(later) < 0.5 * np.sqrt(later.size)


@pytest.mark.slow
def test_kalman_filter() -> None:
    result = run("kalman_filter.py")
    assert result.likelihood_error < 1e-8
    assert result.gradient_error < 1e-6
    off = np.abs(result.means[:, 0] - result.states[:, 0])
    assert np.mean(off < 2.0 * np.sqrt(result.covariances[:, 0, 0])) > 0.85


@pytest.mark.slow
def test_inverse_problem() -> None:
    result = run("inverse_problem.py")
    assert result.jacobian_error < 1e-4
    assert result.unknowns["source"] == pytest.approx(2.4, abs=0.1)
    assert result.unknowns["end"] == pytest.approx(2.0, abs=0.2)


def test_spline_fit() -> None:
    result = run("spline_fit.py")
    assert result.linear_error < 1e-10
    assert result.jacobian_error < 1e-7
    assert result.errors["free"] < 0.04
    assert result.errors["even"] > 0.1


def test_survival() -> None:
    result = run("survival.py")
    assert result.exponential_error < 1e-7
    assert result.gradient_error < 1e-7
    np.testing.assert_allclose(result.model["effects"], [1.08, -0.26, 0.50], atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["curve_fit", pytest.param("digits", marks=LONG), "everywhere"]
)  # the site's build: the others
def test_runs_as_a_script_into_a_pipe(name: str, tmp_path: Path) -> None:
    few = ["array_api_strict"] if name == "everywhere" else []  # the others: above
    path = EXAMPLES / f"{name}.py"
    command = [sys.executable, str(path), *few]
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=tmp_path, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_says_what_it_shows(path: Path) -> None:
    title = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[
        0
    ]
    assert title.endswith(".")
    assert 40 < len(title) < 110
    assert len(path.read_text(encoding="utf-8").splitlines()) < 220


def test_gallery_has_a_page_for_each_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a_dot.py").write_text(
        '"""Draw a dot, and say so.\n\nThe rest of the text.\n"""\n'
        "from pathlib import Path\n"
        "Path('dot.svg').write_text('<svg/>')\n"
        "print('drawn')\n"
    )
    monkeypatch.setattr(gallery, "KEPT", tmp_path / "kept")
    found = gallery.perform(tmp_path / "a_dot.py")
    assert found.summary == "Draw a dot, and say so."
    assert [picture.name for picture in found.pictures] == ["dot.svg"]
    page = gallery.page(found)
    assert page.startswith("# A dot\n")
    assert "![A dot](a_dot/dot.svg)" in page
    assert "```text\ndrawn\n```" in page
    index = gallery.index_page([found])
    assert "## More" in index
    assert "[A dot](a_dot.md)" in index


def test_gallery_refuses_an_example_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery, "KEPT", tmp_path / "kept")
    for k, script in enumerate(("1 / 0", "import sys; print(1); print(2, file=sys.stderr)", "")):
        path = tmp_path / f"bad{k}.py"
        path.write_text(script)
        with pytest.raises(RuntimeError, match=f"bad{k}.py failed"):
            gallery.perform(path)
