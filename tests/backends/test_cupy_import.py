"""`import gradwrap.cupy` without CuPy, and without a GPU."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_without_cupy_the_error_names_what_to_install() -> None:
    out = run(
        "import sys\n"
        "sys.modules['cupy'] = None\n"
        "try:\n"
        "    import gradwrap.cupy\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert out == (
        "gradwrap.cupy is CuPy with tracked values, and CuPy is not installed. "
        "Fix: pip install cupy-cuda12x, for CUDA 12 (cupy-cuda13x for CUDA 13; for others see "
        "https://docs.cupy.dev/en/stable/install.html). Without a GPU: import gradwrap.numpy as np."
    )


@pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed")
def test_import_needs_no_gpu_and_the_first_array_says_so() -> None:
    out = run(
        "import gradwrap.cupy as cp\n"
        "import cupy\n"
        "print(cp.pi, cp.float32 is cupy.float32, cp.ndarray is cupy.ndarray)\n"
        "if not cupy.is_available():\n"
        "    try:\n"
        "        cp.zeros(3)\n"
        "    except cupy.cuda.runtime.CUDARuntimeError as error:\n"
        "        print('CUDA' in str(error))\n"
        "else:\n"
        "    print(True)\n"
    )
    assert out.splitlines() == ["3.141592653589793 True True", "True"]


def test_gradwrap_itself_imports_no_cupy() -> None:
    assert run("import sys, gradwrap; print('cupy' in sys.modules)") == "False"


def test_the_engine_names_what_to_install_too() -> None:
    out = run(
        "import sys\n"
        "class NoCupy:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'cupy':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoCupy())\n"
        "import gradwrap as gw\n"
        "try:\n"
        "    gw.compile(gw.grad(abs), engine='cupy')\n"
        "except gw.errors.MissingToolError as error:\n"
        "    print(error)\n"
    )
    assert out == (
        "the engine 'cupy' needs CuPy, which is not installed. "
        'Fix: pip install "gradwrap[cupy]", for CUDA 12.'
    )
