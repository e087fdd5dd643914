"""Hovers and completions in an editor, asked of pyright's language server."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import numpy as np
import gradwrap as gw

def loss(w: np.ndarray, x: np.ndarray, *, rate: float = 0.1) -> float:
    return float((w * x).sum() * rate)

gradient = gw.grad(loss)
value = gw.value_and_grad(loss)
jacobian = gw.jacobian
x = gw.wrap(np.ones(3), requires_grad=True)
x.backward()
x.sum()
xp = x.__array_namespace__()
xp.exp(x)
xp.linalg.svd(x)
x.
xp.
xp.linalg.
"""

pytestmark = pytest.mark.slow


class Server:
    """A client of a language server: requests over its standard input, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pyright.langserver", "--stdio"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.numbers = itertools.count(1)
        root = {"uri": folder.as_uri(), "name": folder.name}
        self.ask(
            "initialize",
            processId=None,
            rootUri=folder.as_uri(),
            workspaceFolders=[root],
            capabilities={"textDocument": {"hover": {"contentFormat": ["markdown"]}}},
        )
        self.tell("initialized")

    def tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        number = next(self.numbers)
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]
            if "id" in message:  # a question of the server
                self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        asked: list[Any] = message["params"].get("items", []) if message["params"] else []
        is_setting = message["method"] == "workspace/configuration"
        self._send({"id": message["id"], "result": [{} for _ in asked] if is_setting else None})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        size = 0
        while (line := self.process.stdout.readline().strip()) or not size:
            assert line or self.process.poll() is None, "the server has ended"
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.process.stdout.read(size))
        return message

    def close(self) -> None:
        self.ask("shutdown")
        self.tell("exit")
        self.process.communicate(timeout=20)


class Editor:
    """A file that is open in an editor."""

    def __init__(self, server: Server, path: Path) -> None:
        self.server = server
        self.uri = path.as_uri()
        self.lines = PROGRAM.splitlines()
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": PROGRAM}
        server.tell("textDocument/didOpen", textDocument=document)

    def at(self, text: str, offset: int) -> dict[str, Any]:
        line = next(i for i, one in enumerate(self.lines) if text in one)
        place = {"line": line, "character": self.lines[line].index(text) + offset}
        return {"textDocument": {"uri": self.uri}, "position": place}

    def hover(self, text: str) -> str:
        """Return what is shown while the mouse is at the end of a text."""
        found = self.server.ask("textDocument/hover", **self.at(text, len(text) - 1))
        return str(found["contents"]["value"])

    def completions(self, text: str) -> set[str]:
        line = next(i for i, one in enumerate(self.lines) if one == text)
        place = {"line": line, "character": len(text)}
        document = {"uri": self.uri}
        found = self.server.ask("textDocument/completion", textDocument=document, position=place)
        return {item["label"] for item in found["items"]}


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    pytest.importorskip("pyright")
    folder = tmp_path_factory.mktemp("project")
    settings = {"extraPaths": [str(ROOT / "src")], "pythonPath": sys.executable}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    (folder / "program.py").write_text(PROGRAM)
    server = Server(folder)
    yield Editor(server, folder / "program.py")
    server.close()


def test_hovering_grad_shows_its_docstring(editor: Editor) -> None:
    shown = editor.hover("gw.grad")
    assert "Return a function for the gradient of `fun`" in shown
    assert "argnums" in shown
    assert "gw.grad(lambda x: np.sum(np.sin(x)))" in shown.replace("&gt;", ">")


def test_hovering_the_gradient_function_shows_the_parameters_of_the_users(editor: Editor) -> None:
    shown = editor.hover("gradient")
    assert "x: ndarray" in shown
    assert "rate: float = 0.1" in shown


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gw.value_and_grad", "Return a function for the value of `fun` and its gradient"),
        ("gw.jacobian", "Return a function for the Jacobian, by rows or by columns"),
        ("gw.wrap", "Wrap a native array"),
        ("x.backward", "Differentiate this array with respect to the leaves"),
        ("x.sum", "The sum."),
        ("xp.exp", "The exponential."),
        ("xp.linalg.svd", "The singular value decomposition."),
    ],
)
def test_hovering_shows_the_docstring(editor: Editor, name: str, words: str) -> None:
    assert words in editor.hover(name)


def test_completions_of_a_variable_are_the_methods_of_the_array_and_of_the_tape(
    editor: Editor,
) -> None:
    found = editor.completions("x.")
    assert {"sum", "mean", "reshape", "astype", "T", "shape", "dtype", "clip", "take"} <= found
    assert {"backward", "grad", "detach", "requires_grad_", "register_hook"} <= found


@pytest.mark.slow
def test_completions_of_a_namespace_are_the_standard(editor: Editor) -> None:
    assert {"exp", "matmul", "linalg", "fft", "pi", "float32", "isdtype"} <= editor.completions(
        "xp."
    )
    assert {"svd", "eigh", "solve", "vector_norm"} <= editor.completions("xp.linalg.")
