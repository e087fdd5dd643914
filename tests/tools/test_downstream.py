"""A typed project, checked and run with the installed wheel alone, outside this repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def perform(
    command: list[str | Path], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
        text=True,
    )


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    done = perform(command, folder, **environment)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in a folder of its own."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    pip: list[str | Path] = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(folder / "site")]
    assert run([*pip, "install", *options, str(ROOT)], folder) == ""
    return folder / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "tests" / "tools" / "downstream", tmp_path / "project"))


@pytest.mark.slow
def test_mypy_strict(site: Path, project: Path) -> None:
    pytest.importorskip("mypy")
    command: list[str | Path] = [sys.executable, "-m", "mypy", "--follow-imports=silent", "."]
    assert run(command, project, MYPYPATH=str(site)) == ""


@pytest.mark.slow
def test_pyright_strict(site: Path, project: Path) -> None:
    pytest.importorskip("pyright")
    config = project / "pyrightconfig.json"
    config.write_text(config.read_text().replace("{", f'{{ "extraPaths": ["{site}"],', 1))
    pyright = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    assert run([*pyright], project) == ""


PROGRAM = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import fit, survey
x, weight = np.array([1.0, 2.0, 3.0]), 0.1 * np.eye(3)
found = survey.everything(x, weight)
(of_rate, of_spread, gaps) = survey.sensitivities(np.array(0.5), x)
rows = survey.per_example(np.stack([x, x]), weight)
hessian, jacobian = found.pop("curvature")
params = {"weights": weight, "bias": x}
loss, params = fit.step(params, np.stack([x, x]), np.ones((2, 3)))
fitted = fit.Fitted(params)
found |= {
    "loss": loss,
    **params,
    "force": fitted.force(x),
    "stiffness": fitted.stiffness(x, x),
    "tape": fit.on_the_tape(x),
}
found |= {"rate": of_rate, "spread": of_spread, "rows": rows}
found |= {"hessian": hessian, "jacobian": jacobian}
print(json.dumps({name: np.asarray(value).tolist() for name, value in found.items()}))
"""


def test_the_project_runs(site: Path, project: Path) -> None:
    command: list[str | Path] = [sys.executable, "-c", PROGRAM, project]
    done = perform(command, project, PYTHONPATH=str(site))
    assert done.stderr == ""
    found = json.loads(done.stdout)
    x = np.array([1.0, 2.0, 3.0])
    gaps = np.abs(x - 0.5)
    error = np.tanh(0.1 * x + x) - 1.0
    bias = x - 0.1 * 2.0 * error * (1.0 - np.tanh(1.1 * x) ** 2) / 3.0
    weights = np.array(found["weights"])
    out = np.tanh(x @ weights + bias)
    falling = -2.0 * out * (1.0 - out**2)
    expected = {
        "weights": weights,
        "hessian": np.diag(-2.0 * np.tanh(0.2 * x) * (1.0 - np.tanh(0.2 * x) ** 2) * 0.04),
        "force": -weights @ (1.0 - out**2),
        "stiffness": weights @ (falling * (x @ weights)),
        "loss": np.mean(error**2) + 1e-3 * 3 * 0.01,
        "bias": bias,
        "tape": 2 * x,
        "lambda": 2 * x,
        "pulled": [np.full(3, 0.5)],  # cut off
        "filled": [9.0, 4.0, 2.0],  # of x0 + x0 x1 + x0 x1 x2
        "slope": 2.0,
        "roots": np.cbrt(x),
        "rate": -np.sum(3 * gaps**2) / 2.0,
        "spread": -np.sum(gaps**3) / 4.0,
        "rows": np.tile(np.tanh(0.1 * x), (2, 1)),
        "jacobian": 0.5 * np.eye(3),
    }
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)


@pytest.fixture
def environment(site: Path, tmp_path: Path) -> Path:
    """An environment with the wheel installed; the dependencies are those of this one."""
    folder = tmp_path / "environment"
    assert run([sys.executable, "-m", "venv", "--without-pip", folder], tmp_path) == ""
    packages = next(folder.glob("lib/python*/site-packages"))
    shutil.copytree(site, packages, dirs_exist_ok=True)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder


@pytest.mark.slow
def test_all_public_types_are_known(environment: Path, tmp_path: Path) -> None:
    """`pyright --verifytypes`, on the wheel: 100 %."""
    pytest.importorskip("pyright")
    path = os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])
    pyright: list[str | Path] = [sys.executable, "-m", "pyright", "--outputjson"]
    options = ["--verifytypes", "gradwrap", "--ignoreexternal"]
    done = perform([*pyright, *options], tmp_path, PATH=path, VIRTUAL_ENV=str(environment))
    report = json.loads(done.stdout)["typeCompleteness"]
    unclear = [
        (symbol["name"], [one["message"] for one in symbol["diagnostics"]])
        for symbol in report["symbols"]
        if symbol["isExported"] and (symbol["isTypeAmbiguous"] or not symbol["isTypeKnown"])
    ]
    assert unclear == [], "\n".join(map(str, unclear))
    assert report["pyTypedPath"] == str(_package(environment) / "py.typed")
    counts = report["exportedSymbolCounts"]
    assert counts["withUnknownType"] == counts["withAmbiguousType"] == 0
    assert counts["withKnownType"] > 500
    assert report["completenessScore"] == 1.0


def _package(environment: Path) -> Path:
    return next(environment.glob("lib/python*/site-packages")) / "gradwrap"
