"""Bytes, hashes and pickles of tracked arrays as keys of what a package keeps between calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gradwrap as gw
from gradwrap.errors import GradwrapError, TrackedValueError
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([1.3, 0.7, 1.3])
RUN = """
import hashlib, pickle, struct, zlib
{}
def run(x):
    # equal arrays with other gradients follow each other
    return np.sum(cube(x)) + 0.5 * np.sum(cube(x + 0.0)) + 2.0 * np.sum(cube(x[::-1].copy()) * x)
"""
WANTED = 4.5 * X**2 + 2.0 * X**3 + 6.0 * X**2 * X  # x[::-1] is x
KEYS = (
    "(x.tobytes(), x.shape)",
    "hash(x.tobytes())",
    "hashlib.sha1(x.tobytes()).hexdigest()",
    "hashlib.new('md5', np.ascontiguousarray(x)).digest()",
    "hashlib.sha256(x.view(np.uint8)).digest()",
    "zlib.crc32(x.data.tobytes())",
    "zlib.adler32(x)",
    "pickle.dumps([x, x[0], float(x[1]), 'a'])",
    "bytes(x)",
    "str(x)",
    "repr(x)",
    "tuple(x.tolist())",
)
CACHE = """
KEPT = {{}}
def cube(x):
    key = {}
    if key not in KEPT:
        KEPT[key] = x**3
    return KEPT[key]
"""
LASTS = {
    "an attribute": """
class Model:
    def __init__(self): self.last = self.value = None
    def cube(self, x):
        key = x.tobytes()
        if key == self.last:
            return self.value
        self.value = x**3
        self.last = key
        return self.value
cube = Model().cube
""",
    "a hash that takes arrays": """
class Model:
    def __init__(self): self.last = self.value = None
    def cube(self, x):
        made = hashlib.sha1()
        made.update(x)
        made = made.copy()
        made.update(b"cube")
        key = made.hexdigest()
        if self.last is None or self.last != key:
            self.value, self.last = x**3, key
        return self.value
cube = Model().cube
""",
    "global names": """
last = value = None
def cube(x):
    global last, value
    key = hash(x.tobytes()), x.shape
    if key != last:
        value = x**3
        last = key
    return value
""",
}


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
@pytest.mark.parametrize("body", [*map(CACHE.format, KEYS), *LASTS.values()], ids=[*KEYS, *LASTS])
def test_results_that_a_package_keeps_by_bytes(body: str, tmp_path: Path) -> None:
    package = written(tmp_path, RUN.format(body))
    value = package.run(X)  # the plain results of equal keys have no gradient
    kept = dict(getattr(package, "KEPT", {}))
    adapted = gw.adapting(package.run)
    for _ in range(2):
        found, gradient = gw.value_and_grad(adapted)(X)
        assert found == value
        np.testing.assert_allclose(gradient, WANTED, rtol=1e-14)
        np.testing.assert_allclose(gw.jvp(adapted, (X,), (X,))[1], WANTED @ X, rtol=1e-14)
        assert package.run(X) == value
    now = getattr(package, "KEPT", {})
    assert all(type(one) is np.ndarray for one in now.values())
    assert all(now[key] is one for key, one in kept.items())


@pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")  # it runs eagerly
def test_an_array_that_changes_has_other_bytes(tmp_path: Path) -> None:
    package = written(tmp_path, RUN.format(CACHE.format("x.tobytes()")))
    compiled = gw.compile(gw.grad(gw.adapting(package.run)))
    for x in (X, 2.0 * X, X):
        wanted = 4.5 * x**2 + 2.0 * x**3 + 6.0 * x**3
        for function in (gw.grad(gw.adapting(package.run)), compiled):
            np.testing.assert_allclose(function(x), wanted, rtol=1e-14)


STAMP = """
import hashlib
class Result: pass
def run(x):
    out = Result()
    out.value = np.sum(x**3)
    out.stamp = hashlib.md5(x.tobytes()).hexdigest()
    return out.value
"""


def test_a_stamp_of_the_data(tmp_path: Path) -> None:
    run = written(tmp_path, STAMP).run
    np.testing.assert_allclose(gw.grad(gw.adapting(run))(X), 3 * X**2, rtol=1e-14)


READ = {
    "a buffer": "np.frombuffer(x.tobytes()) ** 2",
    "a part of one": "np.frombuffer(b'12345678' + x.tobytes())[1:] ** 2",
    "a structure": "struct.unpack('3d', x.tobytes())[0] ** 2",
    "a structure within": "struct.unpack_from('<d', x.tobytes(), 8)[0] ** 2",
    "a view of memory": "memoryview(x.tobytes()).cast('d')[0] ** 2",
    "an array over memory": "np.ndarray((3,), buffer=x.tobytes()) ** 2",
    "an array of C": "array.array('d', x.tobytes())[1] ** 2",
    "a view of bytes": "x.view(np.uint8).view(float) ** 2",
    "a pickle": "pickle.loads(pickle.dumps(x)) ** 2",
    "whole numbers": "(int.from_bytes(x.tobytes()[:8], 'little') - 2**62) / 2**50",
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_numbers_read_from_bytes_are_refused(read: str, tmp_path: Path) -> None:
    source = f"import array, pickle, struct\ndef run(x): return np.sum(({read}) * x)"
    package = written(tmp_path, source)
    for transform in (gw.grad, gw.jacfwd):
        for _ in range(2):
            with pytest.raises(GradwrapError, match=r"(?s)bytes .*Fix: |Fix: .*bytes"):
                transform(gw.adapting(package.run))(X)


def test_bytes_are_refused_where_what_they_find_is_not_watched(tmp_path: Path) -> None:
    package = written(tmp_path, RUN.format(CACHE.format("x.tobytes()")))
    with gw.adapted(package), pytest.raises(TrackedValueError, match=r"x\.tobytes\(\)"):
        gw.grad(package.run)(X)
    with pytest.raises(TrackedValueError, match=r"x\.tobytes\(\)"):
        gw.grad(lambda x: np.sum(x) * len(x.tobytes()))(X)


LISTS = {
    "found by its place": """
    KEYS, VALUES = [], []
    def cube(x):
        key = x.tobytes()
        if key in KEYS:
            return VALUES[KEYS.index(key)]
        KEYS.append(key)
        VALUES.append(np.asarray(x)**3)
        return VALUES[-1]
    def run(x): return np.sum(cube(x)) * x[0]
    """,
}


@pytest.mark.parametrize("body", LISTS.values(), ids=LISTS)
def test_what_else_is_found_by_bytes_is_refused(body: str, tmp_path: Path) -> None:
    package = written(tmp_path, body)
    package.run(X)
    with pytest.raises(GradwrapError, match="bytes were made of a tracked array in cube"):
        gw.grad(gw.adapting(package.run))(X)


@pytest.mark.filterwarnings("ignore::gradwrap.errors.TrackedTextWarning")
@pytest.mark.parametrize("key", ["str(x)", "x.tobytes()"])
def test_a_tracked_value_that_an_earlier_call_has_left_is_refused(key: str, tmp_path: Path) -> None:
    package = written(
        tmp_path,
        f"""
        class Model:
            def __init__(self): self.keys, self.values = [], []
            def cube(self, x):
                key = {key}
                if key not in self.keys:
                    self.keys.append(key)
                    self.values.append(x**3)
                return self.values[self.keys.index(key)]
        MODEL = Model()
        def run(x): return np.sum(MODEL.cube(x))
        """,
    )
    with pytest.raises(GradwrapError, match=r"(text|bytes) (was|were) made of a tracked"):
        gw.grad(gw.adapting(package.run))(X)
