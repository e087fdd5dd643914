"""docs/cupy.md: each line of its tables is run, with CuPy itself and with the drop-in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
import gradwrap.errors
from hosted_cupy import device_params, on_device
from lambdas import is_a

if TYPE_CHECKING:
    from collections.abc import Iterator

cupy: Any = pytest.importorskip("cupy")
import cupyx.scipy.special as cupy_special  # noqa: E402  after the skip

import gradwrap.cupy  # noqa: E402  after the skip

PAGE = Path(__file__).parents[2] / "docs" / "cupy.md"


def rows(title: str) -> list[tuple[str, str]]:
    """The first two cells of the rows below a title, the first one without its backquotes."""
    section = PAGE.read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `([^`]+)` \| ([^|]*) \|", section, re.MULTILINE)
    assert len(found) >= 5
    return found


WORKS = rows("Works with `import cupy as cp`")
RAISES = rows("Raises, and works with `import gradwrap.cupy as cp`")
REFUSED = rows("Raises with both")


@pytest.fixture(autouse=True, scope="module", params=device_params())
def counts(request: pytest.FixtureRequest) -> Iterator[Any]:
    with on_device(request.param) as counted:
        yield counted


def run(code: str, module: Any) -> Any:
    kernel = cupy.ElementwiseKernel("float64 x, float64 y", "float64 z", "z = x * y", "times")
    gw.defvjp(kernel, lambda xp, g, y: g * y, lambda xp, g, x: g * x)
    names = {
        "cp": module,
        "np": np,
        "special": cupy_special,
        "p": cupy.asarray([1.5, 0.5, 0.7]),
        "v": gw.wrap(cupy.asarray([0.2, 0.9, 0.4]), requires_grad=True),
        "m": gw.wrap(cupy.eye(3) + 0.1, requires_grad=True),
        "buffer": gw.wrap(cupy.zeros(3)),
        "kernel": kernel,
        "kernel_without_rule": cupy.ElementwiseKernel(
            "float64 x", "float64 z", "z = x", "kernel_without_rule"
        ),
    }
    return eval(code, names)  # noqa: S307  from the page


def is_tracked(result: Any) -> bool:
    parts: list[Any] = list(result) if is_a(result, tuple, list) else [result]
    return all(is_a(part, gw.Variable) and part.requires_grad for part in parts)


@pytest.mark.parametrize("code", [code for code, _ in WORKS])
@pytest.mark.parametrize("module", [cupy, gradwrap.cupy], ids=lambda module: module.__name__)
def test_what_is_said_to_work_does(code: str, module: Any) -> None:
    assert is_tracked(run(code, module))


@pytest.mark.parametrize(("code", "error"), RAISES)
def test_what_is_said_to_raise_does_and_works_with_the_drop_in(code: str, error: str) -> None:
    with pytest.raises(errors(error)):
        run(code, cupy)
    assert is_tracked(run(code, gradwrap.cupy))


@pytest.mark.parametrize(("code", "error"), REFUSED)
@pytest.mark.parametrize("module", [cupy, gradwrap.cupy], ids=lambda module: module.__name__)
def test_what_is_said_to_raise_with_both_does(code: str, error: str, module: Any) -> None:
    with pytest.raises(errors(error)):
        run(code, module)


def errors(cell: str) -> tuple[type[Exception], ...]:
    names = re.findall(r"`(\w+)`", cell)
    return tuple(getattr(gradwrap.errors, name, TypeError) for name in names)


def test_the_source_of_the_compiled_function_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    section = PAGE.read_text().partition("## Compiled functions\n")[2].partition("\n## ")[0]
    code, source = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    exec(code, {})  # noqa: S102  from the page
    assert capsys.readouterr().out.strip() == source.strip()


def test_arrays_of_cupys_own_are_broadcast_by_themselves() -> None:
    m, p = run("cp.broadcast_arrays(m, p)", cupy)
    assert is_tracked(m)
    assert p.shape == (3,)
    assert [a.shape for a in run("cp.broadcast_arrays(m, p)", gradwrap.cupy)] == [(3, 3)] * 2
