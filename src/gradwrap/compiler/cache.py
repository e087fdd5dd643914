"""The cache: files that later processes use again, in a directory of the user's own.

A file's name holds a key, a hash of everything that the content depends on, and a digest of the
content, which is checked before each use. A file is written under another name, synced, and then
renamed. So a process finds all of a file or none of it. The files used least recently are removed
when all of them take more room than the limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import shutil
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from gradwrap.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Generator

MEBIBYTE = 1 << 20
LIMIT = 256
"""The default limit in MiB."""
UNFINISHED = "new-"
"""The start of the names of files and directories that are being written."""
ABANDONED = 3600.0
"""The age in seconds from which an unfinished file is removed: its process must have ended."""


class CacheError(OSError):
    """The cache cannot be used. The message gives the reason and a remedy."""


class CacheInfo(NamedTuple):
    """The state of the cache of compiled functions.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.compiler.cache_info()._fields
    ('directory', 'files', 'bytes', 'limit')
    """

    directory: pathlib.Path
    files: int
    bytes: int
    limit: int
    """The most bytes; the files used least recently are removed beyond it."""


def directory() -> pathlib.Path:
    """Return the directory of the cache, which no other user can write to.

    Raises
    ------
    CacheError
        The directory cannot be made, or another user can write to it.
    """
    chosen = os.environ.get("GRADWRAP_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    path = pathlib.Path(chosen) if chosen else pathlib.Path(home) / "gradwrap"
    try:
        path = path.expanduser().absolute()
        if not path.is_dir():
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.chmod(0o700)
        found = path.stat()
    except (OSError, RuntimeError) as error:
        raise CacheError(
            f"the directory {path} for compiled functions cannot be made: {error}. "
            "Fix: name another one in $GRADWRAP_CACHE_DIR"
        ) from error
    if _is_others(found):
        raise CacheError(
            f"others can write to {path}, the directory for compiled functions. Fix: "
            "`chmod go-w` it, or name another one in $GRADWRAP_CACHE_DIR"
        )
    return path


def limit() -> int:
    """Return the most bytes that the files may take, from `$GRADWRAP_CACHE_SIZE` in MiB.

    Raises
    ------
    CacheError
        The variable is no number.
    """
    text = os.environ.get("GRADWRAP_CACHE_SIZE") or str(LIMIT)
    try:
        return int(float(text) * MEBIBYTE)
    except (OverflowError, ValueError):
        raise CacheError(
            f"$GRADWRAP_CACHE_SIZE is {text!r}, which is no number of MiB. Fix: set it to {LIMIT}"
        ) from None


def find(key: str, suffix: str, told: list[str]) -> tuple[pathlib.Path, bytes] | None:
    """Return the path and the content of an intact file, or None.

    A damaged file is removed; `told` receives the text of a warning.
    """
    for path in directory().glob(f"{key}-*{suffix}"):
        try:
            content = path.read_bytes()
            is_others = _is_others(path.stat())
        except FileNotFoundError:  # another process has removed it
            continue
        if not is_others and path.name == _name(key, content, suffix):
            with contextlib.suppress(OSError):  # the file system may be read-only
                os.utime(path)
            return path, content
        reason = "others can write to it" if is_others else "its digest is wrong"
        told.append(
            f"the file {path} of the cache is damaged: {reason}. It is made anew. "
            "Fix: test the disk if this comes again"
        )
        path.unlink(missing_ok=True)
    return None


def store(key: str, suffix: str, content: bytes) -> pathlib.Path:
    """Write a file that only the user can read, and remove others to make room; return its path."""
    folder, most = directory(), limit()
    handle, name = tempfile.mkstemp(prefix=UNFINISHED, dir=folder)
    path = folder / _name(key, content, suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            pathlib.Path(name).chmod(0o600)  # whatever the umask is
            file.write(content)
            file.flush()
            os.fsync(handle)
        pathlib.Path(name).replace(path)
    except BaseException:
        pathlib.Path(name).unlink(missing_ok=True)
        raise
    for other in folder.glob(f"{key}-*{suffix}"):
        if other != path:
            other.unlink(missing_ok=True)
    _sync(folder)
    _evict(folder, most, path)
    return path


@contextlib.contextmanager
def workplace() -> Generator[pathlib.Path]:
    """Make a directory in the cache for the files of one build, and remove it afterwards."""
    made = tempfile.TemporaryDirectory(
        prefix=UNFINISHED, dir=directory(), ignore_cleanup_errors=True
    )
    with made as name:
        pathlib.Path(name).chmod(0o700)
        yield pathlib.Path(name)


def cache_info() -> CacheInfo:
    """Return the directory of the cache, its files and their bytes, and the limit of these.

    Libraries of the c engine and programs of `gw.compile(..., cache=True)` are kept there, for
    later processes.

    Raises
    ------
    CompileError
        The directory cannot be made, or others can write to it.

    Examples
    --------
    >>> import gradwrap as gw
    >>> info = gw.compiler.cache_info()
    >>> info.bytes <= info.limit
    True
    """
    try:
        folder, most = directory(), limit()
    except CacheError as error:
        raise CompileError(str(error)) from error
    sizes = [found.st_size for _, found in _files(folder)]
    return CacheInfo(folder, len(sizes), sum(sizes), most)


def cache_clear() -> None:
    """Remove all files of the cache. Functions that are compiled already stay compiled.

    Raises
    ------
    CompileError
        The directory cannot be made, others can write to it, or a file cannot be removed.

    Examples
    --------
    >>> import os, tempfile, unittest.mock
    >>> import gradwrap as gw
    >>> other = {"GRADWRAP_CACHE_DIR": tempfile.mkdtemp()}
    >>> with unittest.mock.patch.dict(os.environ, other):
    ...     gw.compiler.cache_clear()
    ...     gw.compiler.cache_info().files
    0
    """
    try:
        folder = directory()
        for path, _ in _files(folder):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise CompileError(str(error)) from error


def _is_others(found: os.stat_result) -> bool:
    """Tell if another user can write to a file, or owns it."""
    return hasattr(os, "getuid") and (found.st_uid != os.getuid() or bool(found.st_mode & 0o022))


def _name(key: str, content: bytes, suffix: str) -> str:
    return f"{key}-{hashlib.sha256(content).hexdigest()}{suffix}"


def _files(folder: pathlib.Path) -> list[tuple[pathlib.Path, os.stat_result]]:
    """Return the files of the cache with their properties, those used least recently first."""
    found: list[tuple[pathlib.Path, os.stat_result]] = []
    for path in folder.glob("*-*.*"):
        with contextlib.suppress(FileNotFoundError):  # another process has removed it
            if not path.name.startswith(UNFINISHED):
                found.append((path, path.stat()))
    return sorted(found, key=lambda one: one[1].st_mtime_ns)


def _evict(folder: pathlib.Path, most: int, newest: pathlib.Path) -> None:
    """Remove files until they fit the limit, and what processes that were killed have left."""
    files = _files(folder)
    total = sum(found.st_size for _, found in files)
    for path, found in files:
        if total <= most:
            break
        if path != newest:
            path.unlink(missing_ok=True)
            total -= found.st_size
    for path in folder.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _sync(folder: pathlib.Path) -> None:
    """Write the names in a directory to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
