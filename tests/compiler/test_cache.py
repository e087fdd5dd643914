"""The cache of compiled functions, and what happens when disk, compiler or loading fail."""

from __future__ import annotations

import gc
import os
import platform
import shutil
import stat
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.compiler import cache
from gradwrap.compiler.engines.c import library as c_library
from gradwrap.compiler.engines.register import Unsupported
from gradwrap.errors import CompileError, CompileWarning

if TYPE_CHECKING:
    from collections.abc import Callable

HAS_COMPILER = any(shutil.which(name) for name in ("cc", "gcc", "clang"))
pytestmark = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler here")
SOURCE = Path(__file__).parents[2] / "src"
NUMBERS = count(1)
X = np.linspace(0.5, 1.5, 20)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a cache of this test."""
    path = tmp_path / "kept"
    monkeypatch.setenv("GRADWRAP_CACHE_DIR", str(path))
    return path


def answering() -> str:
    """Return a source that no other test has."""
    return f"int answer(void) {{ return {next(NUMBERS)}; }}"


def answer(source: str) -> tuple[int, list[str]]:
    """Load the library of a source, and close it again."""
    told: list[str] = []
    found = c_library.loaded(source, told)["answer"]()
    gc.collect()
    return found, told


def fresh() -> tuple[Any, Any]:
    """Return a function that no other test compiles, and its compiled form."""
    scale = 1.0 + next(NUMBERS) / 64

    def loss(x: Any) -> Any:
        return np.sum(np.sin(x * scale) ** 2)

    function: Any = gw.grad(loss)
    return function, gw.compile(function, engine="c")


def runs_on_numpys_engine(pattern: str) -> None:
    """Compile a function: one warning that matches, the right result, and NumPy's engine."""
    function, compiled = fresh()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = compiled(X)
        again = compiled(X)
    np.testing.assert_array_equal(found, function(X))
    np.testing.assert_allclose(again, function(X), rtol=1e-12)
    (one,) = caught
    assert one.category is CompileWarning
    assert one.filename == __file__
    text = str(one.message)
    assert "The numpy engine is used." in text
    assert "Fix: " in text
    assert pattern in text
    assert "kernel0" not in compiled.source
    assert "engine: numpy" in compiled.explain()
    assert "runs eagerly" not in compiled.explain()


# Files --------------------------------------------------------------------------------------------


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _zeroed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:8192] = bytes(4096)
    path.write_bytes(content)


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _lengthened(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


@pytest.mark.parametrize("damage", [_truncated, _zeroed, _flipped, _emptied, _lengthened])
def test_a_damaged_library_is_made_anew(damage: Callable[[Path], None], folder: Path) -> None:
    source = answering()
    wanted, told = answer(source)
    assert told == []
    (path,) = folder.iterdir()
    intact = path.read_bytes()
    damage(path)
    assert path.read_bytes() != intact
    found, told = answer(source)
    assert found == wanted
    assert [str(path) in text and "is damaged" in text and "Fix: " in text for text in told] == [
        True
    ]
    assert [one.read_bytes() for one in folder.iterdir()] == [intact]
    assert answer(source) == (wanted, [])


def test_a_damaged_library_is_a_warning_and_the_c_engine(folder: Path) -> None:
    function, compiled = fresh()
    compiled(X)
    del compiled
    gc.collect()
    (path,) = folder.iterdir()
    _truncated(path)
    compiled = gw.compile(function, engine="c")
    with pytest.warns(CompileWarning, match="its digest is wrong. It is made anew. Fix:"):
        compiled(X)
    np.testing.assert_allclose(compiled(X), function(X), rtol=1e-12)
    assert "int kernel0" in compiled.source


def test_files_that_others_can_write_to_are_made_anew(folder: Path) -> None:
    source = answering()
    wanted, _ = answer(source)
    (path,) = folder.iterdir()
    path.chmod(0o666)
    found, told = answer(source)
    assert found == wanted
    assert "others can write to it" in told[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o277, 0o777])
def test_only_the_user_can_read_the_files_whatever_the_umask(mask: int, folder: Path) -> None:
    before = os.umask(mask)
    try:
        answer(answering())
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600]


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_a_directory_that_others_can_write_to_is_refused(mode: int, folder: Path) -> None:
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(cache.CacheError, match=r"others can write to .*`chmod go-w` it"):
        cache.directory()
    with pytest.raises(CompileError, match="others can write"):
        gw.compiler.cache_info()
    with pytest.raises(CompileError, match="others can write"):
        gw.compiler.cache_clear()
    runs_on_numpys_engine("others can write to")
    assert list(folder.iterdir()) == []


def test_a_directory_that_is_a_file(folder: Path) -> None:
    folder.write_text("here is something else")
    runs_on_numpys_engine("for compiled functions cannot be made")


def test_the_files_used_least_recently_are_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [answering() for _ in range(4)]
    answer(sources[0])
    (first,) = folder.iterdir()
    size = first.stat().st_size
    monkeypatch.setenv("GRADWRAP_CACHE_SIZE", str(2.5 * size / 2**20))
    answer(sources[1])
    (second,) = {*folder.iterdir()} - {first}
    for age, path in enumerate((second, first)):
        os.utime(path, (1000 + age, 1000 + age))
    answer(sources[2])
    assert second not in folder.iterdir()
    assert first in folder.iterdir()
    os.utime(first, (1000, 1000))
    answer(sources[0])  # it is used, and so not the oldest any more
    answer(sources[3])
    assert first in folder.iterdir()
    info = gw.compiler.cache_info()
    assert info.files == 2
    assert info.bytes <= info.limit < 3 * size


def test_a_file_larger_than_the_limit_stays_until_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADWRAP_CACHE_SIZE", "0")
    answer(answering())
    before = list(folder.iterdir())
    answer(answering())
    assert len(list(folder.iterdir())) == 1
    assert list(folder.iterdir()) != before


def test_a_limit_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWRAP_CACHE_SIZE", "lots")
    with pytest.raises(CompileError, match=r"\$GRADWRAP_CACHE_SIZE is 'lots'.*Fix: set it to 256"):
        gw.compiler.cache_info()
    runs_on_numpys_engine("is no number of MiB")


def test_the_cache_is_shown_and_emptied(folder: Path) -> None:
    assert gw.compiler.cache_info() == gw.compiler.CacheInfo(folder, 0, 0, 256 * 2**20)
    source = answering()
    wanted, _ = answer(source)
    (path,) = folder.iterdir()
    assert gw.compiler.cache_info() == (folder, 1, path.stat().st_size, 256 * 2**20)
    gw.compiler.cache_clear()
    assert gw.compiler.cache_info().files == 0
    assert answer(source) == (wanted, [])


def test_what_killed_processes_have_left_is_removed_after_an_hour(folder: Path) -> None:
    for name in ("new-1", "new-2"):
        (folder / name).mkdir(parents=True, mode=0o700)
        (folder / name / "program.c").write_text("int")
    (folder / "new-3").write_text("half a file")
    folder.chmod(0o700)
    for name in ("new-1", "new-3"):
        os.utime(folder / name, (1000, 1000))
    answer(answering())
    assert {path.name for path in folder.iterdir() if path.suffix != ".so"} == {"new-2"}


def test_libraries_are_closed_when_their_functions_are_gone() -> None:
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("the mappings are not known here")

    def mapped() -> list[str]:
        gc.collect()
        text = maps.read_text()
        return [line for line in text.splitlines() if str(cache.directory()) in line]

    kept: list[Any] = []
    for _ in range(5):
        kept.append(fresh()[1])
        kept[-1](X)
    assert 5 <= len(mapped()) <= 15
    kept.clear()
    assert mapped() == []


def test_kernels_of_one_source_share_a_library() -> None:
    source = answering()
    one, other = c_library.loaded(source, []), c_library.loaded(source, [])
    assert one is other


# The key ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "ppc64le", "s390x", "riscv64", "arm64"])
def test_without_known_features_the_code_is_for_any_processor(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = c_library.compiler()
    gcc = c_library.Compiler(real.command, "gcc 12, Free Software Foundation")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(c_library, "_processor", lambda: "")
    assert not any("native" in option for option in gcc.options)
    baseline = c_library.key_of("source", gcc)
    monkeypatch.setattr(c_library, "_processor", lambda: "flags: one two")
    if machine in c_library.NATIVE:
        other = c_library.Compiler(gcc.command, gcc.version)
        assert any("native" in option for option in other.options)
    assert c_library.key_of("source", gcc) != baseline


def test_the_key_holds_the_features(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: set[str] = set()
    for features in ("sse2", "sse2 avx2", "sse2 avx512f"):
        monkeypatch.setattr(c_library, "_processor", lambda features=features: features)
        keys.add(c_library.key_of("source", c_library.compiler()))
    assert len(keys) == 3


# Compilers ----------------------------------------------------------------------------------------


def script(path: Path, *lines: str) -> Path:
    """Write a compiler that says its version and then does something else."""
    path.parent.mkdir(exist_ok=True)
    text = ["#!/bin/sh", 'if [ "$1" = --version ]; then echo cc 1; exit 0; fi', *lines]
    path.write_text("\n".join(text) + "\n")
    path.chmod(0o755)
    return path


OUT = 'while [ "$1" != -o ]; do shift; done'
FAULTS = {
    "writes nothing": (["exit 0"], "wrote nothing"),
    "writes junk": ([OUT, 'echo "this is no library" > "$2"'], "bytes that are no library"),
    "writes an empty file": ([OUT, ': > "$2"'], "wrote nothing"),
    "writes half of a library": (
        ['cc "$@"', OUT, 'head -c 4000 "$2" > "$2.half"; mv "$2.half" "$2"'],
        "4000 bytes that are no library",
    ),
    "writes another library": (
        [OUT, 'echo "int other;" > "$2.c"; cc -shared -o "$2" "$2.c"'],
        "left out a function",
    ),
    "fails": (["echo broken >&2; exit 3"], "failed with status 3: broken"),
    "is killed": (["kill -9 $$"], "failed with status -9"),
    "says what is no text": (["printf '\\377\\376' >&2; exit 1"], "failed with status 1"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_compiler_that(
    name: str, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, pattern = FAULTS[name]
    monkeypatch.setenv("CC", str(script(tmp_path / "cc", *lines)))
    runs_on_numpys_engine(pattern)
    assert not any(path.name.startswith("new-") for path in folder.iterdir())


@pytest.mark.slow
def test_a_compiler_that_hangs_is_ended_with_its_children(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "child"
    lines = ['echo half > "$TMPDIR/half.o"', f"sleep 600 & echo $! > {note}", "wait"]
    monkeypatch.setenv("CC", str(script(tmp_path / "cc", *lines)))
    monkeypatch.setattr(c_library, "SECONDS", 2.0)
    runs_on_numpys_engine("took longer than 2 s and was ended")
    assert list(folder.iterdir()) == []
    child = Path("/proc") / note.read_text().strip()
    for _ in range(200):  # a signal takes a moment
        if not child.exists() or "State:\tZ" in (child / "status").read_text():
            break
        time.sleep(0.05)
    else:
        pytest.fail("the compiler's child is still there")


@pytest.mark.slow
def test_a_compiler_that_hangs_when_asked_for_its_version_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    path = tmp_path / "cc"
    path.write_text(f"#!/bin/sh\necho >> {asked}\nsleep 600\n")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    monkeypatch.setattr(c_library, "SECONDS", 1.0)
    for _ in range(2):
        runs_on_numpys_engine("took longer than 1 s")
    assert asked.read_text() == "\n"


@pytest.mark.parametrize("name", ["no-such-compiler", "gcc '", "/", "no such -O2"])
def test_a_variable_that_names_no_compiler(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", name)
    runs_on_numpys_engine(f"$CC is {name!r}, which is no program on the path")


def test_the_variable_may_be_a_path_with_spaces_or_a_command_with_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = c_library.compiler().command[0]
    path = script(tmp_path / "of mine" / "cc 1", f'exec {real} "$@"')
    for text in (str(path), f"'{path}' -O1", f"  {real} -g  ", f"env {real}"):
        monkeypatch.setenv("CC", text)
        function, compiled = fresh()
        compiled(X)
        np.testing.assert_allclose(compiled(X), function(X), rtol=1e-12)
        assert "int kernel0" in compiled.source
    monkeypatch.setenv("CC", "  ")
    assert c_library.compiler().command[0] == real


def test_the_package_ziglang_stands_in_for_a_missing_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package in this test hands its arguments to the system's compiler."""
    real = shutil.which(c_library.compiler().command[0])
    package, noted = tmp_path / "packages" / "ziglang", tmp_path / "noted"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import pathlib, subprocess, sys\n"
        "assert sys.argv[1] == 'cc'\n"
        f"pathlib.Path({str(noted)!r}).write_text(' '.join(sys.argv))\n"
        f"sys.exit(subprocess.call([{real!r}, *sys.argv[2:]]))\n"
    )
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(c_library, "NAMES", ("no-such-compiler",))
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "ziglang", None)  # it may be installed
        with pytest.raises(Unsupported, match=r"pip install gradwrap\[c\]"):
            c_library.compiler()
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    assert c_library.compiler().command == (sys.executable, "-m", "ziglang", "cc")
    function, compiled = fresh()
    compiled(X)
    np.testing.assert_allclose(compiled(X), function(X), rtol=1e-12)
    assert "int kernel0" in compiled.source
    assert "-shared" in noted.read_text()
    assert "noseparate-code" not in noted.read_text()  # an option that its linker refuses


def test_an_error_in_place_of_the_warning_leaves_the_numpy_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    function, compiled = fresh()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CompileWarning, match="The numpy engine is used"):
            compiled(X)
        np.testing.assert_allclose(compiled(X), function(X), rtol=1e-12)
    assert "runs eagerly" not in compiled.explain()
    assert "sin" in compiled.source


def test_an_error_in_place_of_the_warning_leaves_a_function_eager() -> None:
    compiled = gw.compile(lambda x: x * float(x[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CompileWarning, match="runs eagerly"):
            compiled(X)
        np.testing.assert_array_equal(compiled(X), X * X[0])


# Disks --------------------------------------------------------------------------------------------

PROGRAM = textwrap.dedent(
    """
    import resource, sys, threading, warnings
    import numpy as np
    import gradwrap as gw

    def fresh():
        return gw.compile(gw.grad(lambda x: np.sum(np.sin(x * 1.125) ** 2)), engine="c")

    x = np.linspace(0.5, 1.5, 20)
    wanted = 2 * np.sin(x * 1.125) * np.cos(x * 1.125) * 1.125

    def run(pattern):
        compiled = fresh()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                np.testing.assert_allclose(compiled(x), wanted, rtol=1e-12)
        texts = [str(one.message) for one in caught]
        assert "runs eagerly" not in compiled.explain()
        if pattern:
            assert len(texts) == 1 and pattern in texts[0], texts
            assert "The numpy engine is used." in texts[0] and "Fix: " in texts[0], texts
            assert "kernel0" not in compiled.source
        else:
            assert texts == [] and "int kernel0" in compiled.source, texts
    """
)


def executed(program: str, *before: str) -> subprocess.Popen[str]:
    """Start a program in a process of its own, behind a command."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(
        [*before, sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def succeeded(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["File too large", "failed with status"])
def test_a_limit_to_the_size_of_files(pattern: str, folder: Path) -> None:
    """Gradwrap itself gets an error, and the compiler is ended by a signal."""
    succeeded(executed(PROGRAM + "run('')"))
    (library,) = folder.iterdir()  # its size depends on the processor
    size = 2000 if pattern == "File too large" else library.stat().st_size - 1
    library.unlink()
    limited = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\nrun({pattern!r})"
    succeeded(executed(PROGRAM + limited))
    assert list(folder.iterdir()) == []


def can_mount() -> bool:
    """Tell if this process may make a file system of its own."""
    try:
        command = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


MOUNTED = {
    "noexec": ("noexec", ":", "run('its library cannot be kept or loaded')"),
    "full": ("size=16k", ":", "run('Fix: ')"),
    "read-only": ("ro", ":", "run('Read-only file system')"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MOUNTED)
def test_a_disk_that_is(name: str, folder: Path) -> None:
    if not can_mount():
        pytest.skip("this process may not mount file systems")
    option, before, program = MOUNTED[name]
    folder.mkdir()
    commands = (
        f"mount -t tmpfs -o mode=0700,{option} tmpfs {folder} && {before.format(folder=folder)}"
        ' && exec "$@"'
    )
    succeeded(executed(PROGRAM + program, "unshare", "-rm", "sh", "-c", commands, "sh"))


@pytest.mark.slow
def test_a_library_in_a_directory_that_became_read_only_is_used(folder: Path) -> None:
    if not can_mount():
        pytest.skip("this process may not mount file systems")
    succeeded(executed(PROGRAM + "run('')"))
    commands = f'mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && exec "$@"'
    succeeded(executed(PROGRAM + "run('')", "unshare", "-rm", "sh", "-c", commands, "sh"))


@pytest.mark.slow
def test_two_processes_and_eight_threads_build_one_kernel(folder: Path) -> None:
    threads = textwrap.dedent(
        """
        faults = []

        def work():
            try:
                compiled = fresh()
                for _ in range(3):
                    np.testing.assert_allclose(compiled(x), wanted, rtol=1e-12)
                assert "int kernel0" in compiled.source
            except BaseException as error:
                faults.append(error)

        warnings.simplefilter("error")
        working = [threading.Thread(target=work) for _ in range(8)]
        [one.start() for one in working]
        [one.join() for one in working]
        assert faults == [], faults
        """
    )
    for process in [executed(PROGRAM + threads) for _ in range(2)]:
        succeeded(process)
    assert {path.suffix for path in folder.iterdir()} == {".so"}
    for path in folder.iterdir():
        key = path.name.partition("-")[0]
        assert cache.find(key, ".so", []) is not None


def test_files_are_removed_while_threads_build_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWRAP_CACHE_SIZE", "0")
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(3):
                answer(answering())
        except BaseException as error:  # noqa: BLE001  the test shows it
            faults.append(error)

    working = [threading.Thread(target=work) for _ in range(4)]
    for one in working:
        one.start()
    for one in working:
        one.join()
    assert faults == []


def test_a_fault_of_the_disk_names_the_remedy(folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("")
    with pytest.raises(Unsupported, match=r"Fix: name another one in \$GRADWRAP_CACHE_DIR"):
        c_library.loaded(answering(), [])
