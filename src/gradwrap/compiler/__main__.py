"""`python -m gradwrap.compiler file.py:function argument ...` prints the compiled source.

Each argument is a Python expression, which may use `np`, `gw` and the names of the file:

    python -m gradwrap.compiler model.py:gradient "np.ones(5)" "{'w': np.eye(5)}"
"""

from __future__ import annotations

import argparse
import runpy
import sys
from typing import Any

import numpy as np

import gradwrap as gw
from gradwrap.compiler.calls.function import Compiled
from gradwrap.compiler.calls.function import compile as compile_


def main(given: list[str] | None = None) -> int:
    """Print the source, and with `--explain` a report of the compilation."""
    parser = argparse.ArgumentParser(prog="python -m gradwrap.compiler", description=__doc__)
    parser.add_argument("function", help="file.py:function")
    parser.add_argument("arguments", nargs="*", help="expressions in Python")
    parser.add_argument("--engine", default="numpy")
    parser.add_argument("--explain", action="store_true", help="say what was compiled too")
    options = parser.parse_args(given)
    path, _, name = options.function.rpartition(":")
    if not path:
        parser.error("the function is named as file.py:function")
    scope: dict[str, Any] = {"np": np, "gw": gw, **runpy.run_path(path)}
    function: Any = scope.get(name)
    if not callable(function):
        parser.error(f"{path} has no function {name}")
    arguments: list[Any] = [eval(text, scope) for text in options.arguments]  # noqa: S307  the user's own
    known: type[Any] = Compiled
    is_compiled = isinstance(function, known)
    compiled: Any = function if is_compiled else compile_(function, engine=options.engine)
    compiled(*arguments)
    sys.stdout.write(compiled.source)
    if options.explain:
        sys.stdout.write(f"\n{compiled.explain()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
