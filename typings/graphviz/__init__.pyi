# What gradwrap.drawing uses of it.
from collections.abc import Sequence
from os import PathLike
from typing import overload

class ExecutableNotFound(RuntimeError):
    def __init__(self, args: Sequence[str | PathLike[str]]) -> None: ...

class Source:
    def __init__(
        self,
        source: str,
        filename: str | PathLike[str] | None = None,
        directory: str | PathLike[str] | None = None,
        format: str | None = None,
        engine: str | None = None,
        encoding: str | None = "utf-8",
        *,
        renderer: str | None = None,
        formatter: str | None = None,
        loaded_from_path: PathLike[str] | None = None,
    ) -> None: ...
    @overload
    def pipe(
        self,
        format: str | None = None,
        renderer: str | None = None,
        formatter: str | None = None,
        neato_no_op: bool | int | None = None,
        quiet: bool = False,
        *,
        engine: str | None = None,
        encoding: None = None,
    ) -> bytes: ...
    @overload
    def pipe(
        self,
        format: str | None = None,
        renderer: str | None = None,
        formatter: str | None = None,
        neato_no_op: bool | int | None = None,
        quiet: bool = False,
        *,
        engine: str | None = None,
        encoding: str,
    ) -> str: ...
