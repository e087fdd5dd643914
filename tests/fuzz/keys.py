"""Keys for indexing: every form that NumPy has, for an array of a given shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

Shape = tuple[int, ...]


def basic_key(rng: random.Random, shape: Shape) -> str:
    """Return integers, slices with any step, newaxis and an Ellipsis."""
    parts: list[str] = []
    count = rng.randint(0, len(shape))
    split = rng.randint(0, count) if rng.random() < 0.35 else None
    sizes = (
        shape[:count] if split is None else (*shape[:split], *shape[len(shape) - count + split :])
    )
    for i, size in enumerate(sizes):
        if i == split:
            parts.append("...")
        parts.append(_integer(rng, size) if size and rng.random() < 0.4 else _slice(rng, size))
    if split is not None and split >= len(sizes):
        parts.append("...")
    if rng.random() < 0.15:
        parts.insert(rng.randint(0, len(parts)), "None")
    return ", ".join(parts) if parts else rng.choice(("...", "()"))


def advanced_key(rng: random.Random, shape: Shape, source: str) -> str:  # noqa: PLR0911  one for each form
    """Return a key with lists or arrays of integers, or masks, mixed with the basic ones."""
    kind = rng.random()
    if kind < 0.2:
        return f"{source} > {rng.choice(THRESHOLDS)}"
    if not shape:
        return rng.choice(("True", "False", "np.array(True)", f"{source} < 0.4137"))
    if kind < 0.45:
        axis = rng.randrange(len(shape))
        return _at(axis, _integers(rng, shape[axis]))
    if kind < 0.6:
        axis = rng.randrange(len(shape))
        return _at(axis, _mask(rng, shape[axis]))
    if kind < 0.8 and len(shape) > 1:
        parts = [_slice(rng, size) if rng.random() < 0.4 else "" for size in shape]
        length = rng.randint(1, 3)
        filled = [
            part or _integers(rng, size, length) for part, size in zip(parts, shape, strict=True)
        ]
        return ", ".join(filled)
    if kind < 0.9 and len(shape) > 1 and shape[0] and shape[1]:
        rows, columns = _integers(rng, shape[0], 2), _integers(rng, shape[1], 2)
        return f"np.ix_({rows}, {columns})"
    parts = [
        rng.choice((_integer(rng, size), _slice(rng, size), _integers(rng, size, 2)))
        for size in shape
        if size
    ]
    if rng.random() < 0.3:
        parts.insert(rng.randint(0, len(parts)), "None")
    return ", ".join(parts) or "..."


THRESHOLDS = ("0.1271", "-0.2133", "0.4137", "-0.7319")


def _at(axis: int, part: str) -> str:
    return ":, " * axis + part


def _integer(rng: random.Random, size: int) -> str:
    return str(rng.randrange(-size, size)) if size else ":"


def _slice(rng: random.Random, size: int) -> str:
    return rng.choice(
        (
            ":",
            "::-1",
            "::2",
            "1:",
            ":-1",
            "-2:",
            "::-2",
            f"{rng.randint(0, size)}:",
            f":{rng.randint(1, max(size, 1))}",
            f"{size - 1}::-1" if size else ":",
        )
    )


def _integers(rng: random.Random, size: int, length: int | None = None) -> str:
    if not size:
        return ":"
    chosen = [rng.randrange(-size, size) for _ in range(length or rng.randint(1, 4))]
    form = rng.random()
    if form < 0.5:
        return str(chosen)
    if form < 0.8 or length is not None:
        return f"np.array({chosen})"
    return f"np.array([{chosen}, {chosen[::-1]}])"


def _mask(rng: random.Random, size: int) -> str:
    chosen = [rng.random() < 0.6 for _ in range(size)]
    return f"np.array({chosen}, dtype=bool)"
