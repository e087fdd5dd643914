"""Random expressions: each takes the source of an array and gives the source of a new one."""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.fuzz.keys import advanced_key, basic_key

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tests.fuzz.writer import Writer


def sections(path: Path) -> dict[str, list[str]]:
    """Return the lines below each heading of a text."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            lines = found.setdefault(line.removeprefix("## "), [])
        elif line and not line.startswith("# "):
            lines.append(line)
    return found


TEMPLATES: dict[str, list[str]] = {}
WEIGHTS: dict[str, float] = {}
for _heading, _lines in sections(Path(__file__).parent / "templates.txt").items():
    _name, _weight = _heading.split()
    TEMPLATES[_name] = _lines
    WEIGHTS[_name] = float(_weight)
_WORDS = string.Formatter()


def words_of(template: str) -> set[str]:
    """Return the words in braces."""
    return {word for _, word, _, _ in _WORDS.parse(template) if word}


# What a word stands for -------------------------------------------------------------------------


def _axis(writer: Writer, value: Any) -> str | None:
    return str(writer.rng.randrange(-value.ndim, value.ndim)) if value.ndim else None


def _ax(writer: Writer, value: Any) -> str | None:
    rng = writer.rng
    if not value.ndim or rng.random() < 0.3:
        return ""
    axis = str(rng.randrange(-value.ndim, value.ndim))
    if value.ndim > 1 and rng.random() < 0.15:
        axis = str(tuple(rng.sample(range(value.ndim), 2)))
    return f", axis={axis}" + (", keepdims=True" if rng.random() < 0.4 else "")


def _shape(writer: Writer, value: Any) -> str | None:
    size = value.size
    pairs = [(a, size // a) for a in range(1, size + 1) if size % a == 0]
    if not pairs:
        return None
    one, two = writer.rng.choice(pairs)
    return writer.rng.choice((str((one, two)), str((one, -1)), "-1", str((one, 1, two))))


def _perm(writer: Writer, value: Any) -> str | None:
    return str(tuple(writer.rng.sample(range(value.ndim), value.ndim))) if value.ndim else None


def _other(writer: Writer, value: Any) -> str | None:
    return writer.partner(value)


def _same(writer: Writer, value: Any) -> str | None:
    return writer.of_shape(value.shape)


def _tail(writer: Writer, value: Any) -> str | None:
    if not value.ndim:
        return None
    n = value.shape[-1]
    found = [
        name
        for name, other in writer.arrays()
        if other.ndim and other.shape[max(other.ndim - 2, 0)] == n
    ]
    if found and writer.rng.random() < 0.7:
        return writer.rng.choice(found)
    return writer.literal(writer.rng.choice(((n,), (n, 2))))


def _spd(writer: Writer, value: Any) -> str | None:
    """Return the source of a symmetric matrix whose eigenvalues are apart and not near 0."""
    return "{m}" if value.ndim == 2 and value.shape[0] <= 4 else None


def _stack(writer: Writer, value: Any) -> str | None:
    """Return the source of a stack of two such matrices."""
    fits = value.ndim == 2 and value.shape[0] <= 4
    return "({m} * np.array([[[1.0]], [[1.3]]]))" if fits else None


FITTING: dict[str, Callable[[Writer, Any], str | None]] = {
    "axis": _axis,
    "axis2": _axis,
    "ax": _ax,
    "shape": _shape,
    "perm": _perm,
    "other": _other,
    "same": _same,
    "tail": _tail,
    "spd": _spd,
    "stack": _stack,
    "offset": lambda writer, value: str(writer.rng.choice((-1, 1))),
    "zero1": lambda writer, value: str(writer.rng.choice((0, 1, -1))),
    "s1": lambda writer, value: writer.scalar(),
    "s2": lambda writer, value: writer.scalar(),
}


def filled(writer: Writer, template: str, source: str, value: Any) -> str | None:
    """Return a template with its words filled in for an array, or None where nothing fits."""
    array = np.asarray(value)
    if '"ii->i"' in template and not array.size:
        return None  # NumPy gives an array of other memory
    if "ddof=1" in template and array.size < 2:
        return None  # it is NaN, also in a branch that np.where does not take
    words: dict[str, str] = {"e": source}
    for word in sorted(words_of(template) - {"e"}):
        found = FITTING[word](writer, array)
        if found is None:
            return None
        n = array.shape[0] if array.ndim else 0
        words[word] = found.replace(
            "{m}", f"(({source}) @ ({source}).T.conj() * 0.3 + np.diag(np.arange({n}) * 1.7 + 1.0))"
        )
    return template.format(**words)


def indexed(writer: Writer, source: str, value: Any) -> str:
    """Return the source of a part of an array, by any form of indexing."""
    return f"{source}[{key_for(writer, source, np.shape(value))}]"


def key_for(writer: Writer, source: str, shape: tuple[int, ...]) -> str:
    """Return a key of any form for an array of a shape: a literal, or an index array by name."""
    rng = writer.rng
    if shape and rng.random() < 0.15:
        alive = writer.index_arrays(shape[0])
        if alive:
            return rng.choice(alive)
    if rng.random() < 0.6:
        return basic_key(rng, shape)
    return advanced_key(rng, shape, source)


REFUSED = (  # for tracked values, by NumPy's own functions; gradwrap.numpy's take them
    *("np.array({e}", "np.array([", "np.array({s", "np.asarray", "np.asanyarray", "np.require"),
    *("np.ascontiguousarray", "np.asfortranarray", "np.r_", "np.c_", "out=np.zeros", "([{s"),
    *(
        "np.add([{",
        "np.sin([{",
        "np.array(list",
        "np.prod([{",
        "np.max([{",
        "np.full(",
        "np.vectorize",
        "pickle",
        "({s1} in {{",
        "({{{s1}, 0",
    ),
)


def grown(writer: Writer, source: str, value: Any, group: str | None = None) -> str | None:
    """Return the source of something made from an array, of a group or of any."""
    rng: random.Random = writer.rng
    if group is None and rng.random() < 0.2:
        return indexed(writer, source, value)
    chosen = group or rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    template = rng.choice(TEMPLATES[chosen])
    if not writer.drop_in and any(word in template for word in REFUSED) and rng.random() < 0.97:
        return None
    return filled(writer, template, source, value)
