"""Random statements: assignments, views that are written later, in-place changes, loops, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from tests.fuzz.expressions import TEMPLATES, grown, key_for
from tests.fuzz.keys import basic_key
from tests.fuzz.values import is_array, is_numpys, is_writable
from tests.fuzz.writer import MAX_SIZE, NAMES, Unsuitable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.writer import Writer

LONGEST = 200  # characters of an expression


def expression(writer: Writer, depth: int, start: tuple[str, Any] | None = None) -> str | None:
    """Return a random expression, in which each step is one that NumPy can run."""
    source, value = start or writer.pick()
    for _ in range(depth):
        for _ in range(8):
            longer = grown(writer, source, value)
            if longer is None or len(longer) > LONGEST:
                continue
            try:
                found = writer.value(longer)
            except Exception:
                if writer.rng.random() < 0.004:
                    return longer
                continue
            if not is_numpys(found) or found.size > MAX_SIZE:
                continue
            if found.size == 0 and writer.rng.random() < 0.9:
                continue
            source, value = longer, found
            break
    return source


def assignment(writer: Writer) -> str | None:
    source = expression(writer, writer.rng.choice((1, 1, 2, 2, 3)))
    return source and f"{writer.new()} = {source}"


def view(writer: Writer) -> str | None:
    """A view, or what may be one, to be written through later."""
    name, value = writer.pick()
    if writer.rng.random() < 0.5:
        key = basic_key(writer.rng, value.shape)
        return f"{writer.new('v')} = {name}[{key}]"
    source = grown(writer, name, value, "views")
    return source and f"{writer.new('v')} = {source}"


def _targets(writer: Writer) -> list[tuple[str, Any]]:
    found = [(n, v) for n, v in writer.arrays() if is_array(v)]
    if writer.rng.random() < 0.97:
        found = [(n, v) for n, v in found if is_writable(v) and n[0] != "k"]
    if writer.rng.random() < 0.8:
        found = [(n, v) for n, v in found if n[0] != "x"]
    return found


def _right_side(writer: Writer, value: Any) -> str:
    """Return the source of a value that can be written to a place with the shape of `value`."""
    rng = writer.rng
    kind = rng.random()
    if kind < 0.2:
        return rng.choice(("0.5", "1.5", "-0.3", "2"))
    if kind < 0.4:
        return writer.scalar() + rng.choice(("", " * 0.5", " ** 2"))
    found = [
        name
        for name, other in writer.arrays()
        if other.ndim <= value.ndim
        and all(n in (m, 1) for n, m in zip(other.shape[::-1], value.shape[::-1], strict=False))
    ]
    if found:
        name = rng.choice(found)
        source = expression(writer, 1, (name, writer.env[name])) if rng.random() < 0.3 else name
        return rng.choice(("{}", "{} * 0.7", "np.sin({})", "{} + 0.1")).format(source or name)
    return writer.scalar()


SYMBOLS = ("+=", "-=", "*=", "+=", "*=", "/=")


def _symbol(writer: Writer) -> tuple[str, str]:
    symbol = writer.rng.choice(SYMBOLS)
    return symbol, "(2.3 + np.tanh({}))" if symbol == "/=" else "{}"


def write(writer: Writer) -> str | None:
    """Write to a part: by any key, in place or not."""
    targets = _targets(writer)
    if not targets:
        return None
    name, value = writer.rng.choice(targets)
    key = key_for(writer, name, value.shape)
    part = writer.value(f"{name}[{key}]")
    right = _right_side(writer, part)
    if writer.rng.random() < 0.5:
        return f"{name}[{key}] = {right}"
    symbol, form = _symbol(writer)
    return f"{name}[{key}] {symbol} {form.format(right)}"


def operate(writer: Writer) -> str | None:
    """Change a whole array or number in place."""
    targets = _targets(writer) if writer.rng.random() < 0.9 else writer.arrays()
    if not targets:
        return None
    name, value = writer.rng.choice(targets)
    symbol, form = _symbol(writer)
    return f"{name} {symbol} {form.format(_right_side(writer, value))}"


def call(writer: Writer) -> str | None:
    """Call something that writes to an array."""
    targets = _targets(writer)
    if not targets:
        return None
    name, value = writer.rng.choice(targets)
    entry = writer.rng.choice(TEMPLATES["writing"])
    if "shuffle" in entry and value.ndim != 1 and writer.rng.random() < 0.9:
        return None  # rows are refused
    if '"ii->i"' in entry and not value.size:
        return None  # NumPy gives an array of other memory
    return entry.format(n=name, r=_right_side(writer, value), s=writer.scalar())


def buffer(writer: Writer) -> str | None:
    """Make a plain array: numbers, integers or a mask."""
    rng = writer.rng
    kind = rng.random()
    shapes = [value.shape for _, value in writer.arrays() if value.ndim] or [(2,)]
    shape = rng.choice(shapes)
    if kind < 0.3:
        return f"{writer.new('k')} = {writer.literal(shape)}"
    if kind < 0.4:
        return f"{writer.new('k')} = np.array(0.7)"
    if kind < 0.6:
        made = rng.choice(
            ("np.zeros({})", "np.ones({})", "np.full({}, 0.5)", "np.zeros({}, order='F')")
        )
        letter = "a" if writer.drop_in else "k"
        return f"{writer.new(letter)} = {made.format(shape or 2)}"
    if kind < 0.7:
        name, _ = writer.pick()
        made = rng.choice(("np.zeros_like({})", "np.ones_like({})", "np.full_like({}, 0.5)"))
        return f"{writer.new('a')} = {made.format(name)}"
    size = shape[0] if shape else 1
    if kind < 0.9:
        chosen = [rng.randrange(max(size, 1)) for _ in range(rng.randint(1, 3))]
        return f"{writer.new('i')} = np.array({chosen})"
    return f"{writer.new('i')} = np.array({[rng.random() < 0.6 for _ in range(size)]}, dtype=bool)"


def rewrite(writer: Writer) -> str | None:
    """Use a plain buffer, and write to it afterwards."""
    rng = writer.rng
    plain = [(n, v) for n, v in writer.env.items() if n[0] in "ki" and NAMES.fullmatch(n)]
    if not plain:
        return None
    name, value = rng.choice(plain)
    if name[0] == "k":
        source, other = writer.pick()
        if broadcasts_to(value, other):
            use = f"{writer.new()} = {source} * {name}"
            return f"{use}\n{name} {rng.choice(('*= 2', '+= 0.5', '[...] = 0.3'))}".replace(
                " [", "["
            )
        return f"{name} *= 2"
    fitting = [n for n, v in writer.arrays() if v.ndim and name in writer.index_arrays(v.shape[0])]
    if not fitting:
        return None
    form = rng.choice(
        ("{}[{}]", "{}[{}] ** 2", "np.take({}, {}, axis=0)", "np.where({1}, {0}, 0.5)")
    )
    use = f"{writer.new()} = {form.format(rng.choice(fitting), name)}"
    change = f"{name}[:] = {name}[::-1]" if value.dtype == bool else f"{name}[...] = 0"
    return f"{use}\n{change}"


def broadcasts_to(one: Any, other: Any) -> bool:
    try:
        return bool(np.broadcast_shapes(one.shape, other.shape) == other.shape)
    except ValueError:
        return False


def indented(statements: list[str]) -> str:
    return "\n".join("    " + line for s in statements for line in s.splitlines())


def loop(writer: Writer) -> str | None:
    """Repeat: accumulate numbers, walk over rows, fill an array, rewrite a buffer."""
    rng = writer.rng
    name, value = writer.pick()
    if not value.ndim or not value.shape[0]:
        return None
    s, part = writer.new("s"), "{n}[i]" if rng.random() < 0.5 else "r"
    each = part.format(n=name)
    head = f"for i in range({value.shape[0]}):" if each != "r" else f"for r in {name}:"
    plain = [n for n in writer.env if n[0] == "k" and NAMES.fullmatch(n)]
    bodies = [
        [f"{s} = {s} + np.sum({each} * 0.5)"],
        [f"{s} += np.sum({each})", f"{s} = {s} * 0.9"],
        [
            f"if np.sum({each}) > 0.1271:",
            f"    {s} = {s} + np.sum(np.sin({each}))",
            "else:",
            f"    {s} = {s} * 0.5",
        ],
        [f"{s} = np.tanh({s} + np.sum({each}))"],
    ]
    body = rng.choice(bodies)
    if is_writable(value) and name[0] != "k":
        if rng.random() < 0.35 and (value.ndim > 1 or each != "r"):
            body = [*body, f"{each} *= 0.8"] if each != "r" else [*body, f"{each}[...] *= 0.8"]
        elif rng.random() < 0.2:
            body = [*body, f"{name}[0] = {s}"]
    if plain and rng.random() < 0.5:
        k = rng.choice(plain)
        body = [*body, f"{s} = {s} + np.sum({name} * np.sum({k}))", f"{k} *= 1.5"]
    start = rng.choice(
        ("0.0", f"np.sum({name})", writer.scalar(), "np.float64(0.0)", "np.zeros(())")
    )
    return f"{s} = {start}\n{head}\n{indented(body)}"


def collect(writer: Writer) -> str | None:
    """Collect parts in a list, and join them."""
    rng = writer.rng
    name, value = writer.pick()
    if not value.ndim or not value.shape[0]:
        return None
    a = writer.new()
    each = rng.choice(("r", "r * 2", "np.sin(r)", "r ** 2 + 0.5", "np.sum(r)", "r * r.mean()"))
    join = rng.choice(("np.stack", "np.hstack", "np.concatenate", "sum", "np.stack", "max"))
    return f"{a} = {join}([{each} for r in {name}])"


def branch(writer: Writer) -> str | None:
    source, target = writer.scalar(), writer.new()
    one, two = expression(writer, 1), expression(writer, 1)
    if one is None or two is None:
        return None
    condition = f"{source} > 0.1271"
    chance = writer.rng.random()
    if chance < 0.2:
        condition = f"({condition}) in {{True, 7}}"
    elif chance < 0.25:  # refused, as a key that is tracked
        condition = f"{source} in {{0.5, 1.5}}"
    return f"if {condition}:\n    {target} = {one}\nelse:\n    {target} = {two}"


def function(writer: Writer) -> str | None:
    """Define a function with a closure, and call it, perhaps as a checkpoint."""
    rng = writer.rng
    name, value = writer.pick()
    closed, _ = writer.pick()
    f, a = writer.new("f"), writer.new()
    other = writer.partner(value)
    bodies = [
        [f"return np.sin(t) * {other}"],
        ["u = t * 1.5", "u += 0.3", f"return u * {other}"],
        ["u = t.copy()", "u[...] = np.tanh(u)", f"return u + np.sum({closed})"],
        ["if np.sum(t) > 0.1271:", "    return t * 2", "return t * t"],
        [f"w = {closed} * 0.5", "w += np.sum(t)", "return w"],
    ]
    body = rng.choice(bodies)
    called = f"checkpoint({f})({name})" if rng.random() < 0.5 else f"{f}({name})"
    return f"def {f}(t):\n{indented(body)}\n{a} = {called}"


def walk(writer: Writer) -> str | None:
    """Walk over an array's elements or rows, and write to them."""
    rng = writer.rng
    targets = [(n, v) for n, v in _targets(writer) if v.ndim]
    if not targets:
        return None
    name, value = rng.choice(targets)
    s, k = writer.scalar(), writer.new("s")
    forms = [
        f"for p in np.ndindex({name}.shape):\n    {name}[p] *= 0.9",
        f"for p, r in enumerate({name}):\n    {name}[p] = r * {s}",
        f"for r in {name}:\n    r *= 0.5",
        f"for r in {name}:\n    r = r * 0.5\n    {name}[-1] = {name}[-1] + np.sum(r)",
        f"for r in {name}.T:\n    r[...] += 0.3",
        f"for r in {name}.flat:\n    {name}[0] = r",
        f"{k}, *rest = {name}\n{k} = {k} * 2",
        f"{k} = {name}[0]\n{name}[0] = {s}\n{k} = {k} + 1.0",
        f"p = [r for r in {name}]\np[0] = p[0] * 2\np[-1] += 0.5\n{k} = p[0] + p[-1]",
        f"try:\n    {name}[{value.shape[0]}] = 0.5\nexcept IndexError:\n    {name}[0] = 0.25",
        f"{k} = 1.0\nwhile np.sum(np.abs({name})) * {k} > 0.5:\n    {k} = {k} * 0.5",
        f"{k} = {{'p': {name}}}\n{k}['p'] *= 0.5\n{k} = {k}['p'] + 0.1",
        f"{name}, t = {name} * 0.5, {name}\nt[0] = 0.3\n{k} = t + {name}",
    ]
    return rng.choice(forms)


def overwritten(writer: Writer) -> str | None:
    """Use an array in an operation, and then let SciPy overwrite it."""
    rng = writer.rng
    name, value = writer.pick()
    if value.ndim != 2 or value.shape[0] > 4:
        return None
    w, before, after = writer.new("w"), writer.new(), writer.new()
    order = rng.choice("FC")
    made = rng.choice(
        (
            f"{name}.copy({order!r})",
            f"np.array({name}) * 1.0" if writer.drop_in else f"{name} * 1.0",
            f"np.array({writer.literal(value.shape)[9:-1]}, order={order!r})",
        )
    )
    used = rng.choice(
        (f"{w} * {w}", f"np.sin({w})", f"{name} * {w}", f"{w} @ {w}.T", f"{w}[0] * 2")
    )
    square = f"({w} @ {w}.T.conj() * 0.2 + np.eye({value.shape[0]}))"
    called = rng.choice(
        (
            f"sl.solve({square}, {w}, overwrite_b=True)",
            f"sl.solve({square}.copy({order!r}), {w}, overwrite_a=True, overwrite_b=True)",
            f"sl.cho_solve(sl.cho_factor({square}), {w}, overwrite_b=True)",
            f"sl.lu_solve(sl.lu_factor({square}), {w}, overwrite_b=True)",
            f"sl.solve_triangular({square}, {w}, overwrite_b=True)",
            f"sl.svdvals({w}, overwrite_a=True)",
            f"sl.qr({w}, overwrite_a=True)[1] ** 2",
            f"sl.inv({w}, overwrite_a=True, assume_a='gen') * 0.1",
            f"sl.det({w}, overwrite_a=True)",
            f"sl.lstsq({square}, {w}, overwrite_b=True)[0]",
        )
    )
    # the memory order of the result is that of a copy in gradwrap
    return f"{w} = {made}\n{before} = {used}\n{after} = ({called}).copy()\n{w} = None"


KINDS: dict[Callable[[Writer], str | None], float] = {
    assignment: 30,
    view: 14,
    write: 16,
    operate: 10,
    call: 7,
    buffer: 6,
    rewrite: 5,
    loop: 5,
    walk: 5,
    collect: 3,
    branch: 3,
    function: 3,
    overwritten: 2,
}


def add_statement(writer: Writer) -> bool:
    """Try to add one random statement."""
    kind = writer.rng.choices(list(KINDS), list(KINDS.values()))[0]
    try:
        statement = kind(writer)
    except (ValueError, IndexError, TypeError, AttributeError, Unsuitable):
        return False  # NumPy cannot run a part of it
    return statement is not None and writer.add(statement)
