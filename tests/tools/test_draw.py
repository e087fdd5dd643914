"""Drawings: what they show, that odd names do no harm, and that large graphs stay small."""

from __future__ import annotations

import builtins
import itertools
import re
import shutil
import xml.etree.ElementTree as ET
from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwrap as gw
from gradwrap.drawing.collecting import collect
from gradwrap.drawing.graph import OPERATION, Arrow, Box, Graph
from gradwrap.drawing.layout import SIDE_BY_SIDE, columns, laid_out
from gradwrap.drawing.svg import to_svg
from gradwrap.errors import BackwardError, MissingToolError
from lambdas import fn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def leaf(*shape: int) -> Any:
    return gw.wrap(np.ones(shape), requires_grad=True)


def bundle_of(drawing: Any, **wanted: set[str]) -> dict[str, Any]:
    """Return what a notebook gets when it asks for a picture."""
    bundle: dict[str, Any] = drawing._repr_mimebundle_(**wanted)
    return bundle


def plain_text(drawing: Any) -> str:
    return str(drawing).replace("\N{MULTIPLICATION SIGN}", "x")


def boxes(drawing: Any) -> dict[str, tuple[str, str]]:
    """Read the kind and the lines of each box from the Mermaid text."""
    found = re.findall(r'^    (n\d+)\W+"(.*)"\W+:::(\w+)$', plain_text(drawing), re.MULTILINE)
    return {key: (kind, text) for key, text, kind in found}


def kinds(drawing: Any, kind: str) -> list[str]:
    return [text for found, text in boxes(drawing).values() if found == kind]


def arrows(drawing: Any) -> list[tuple[str, str, str]]:
    """Read the first lines of both ends of each edge, and its label, from the Mermaid text."""
    names = {key: text.split("<br/>")[0] for key, (_, text) in boxes(drawing).items()}
    found = re.findall(
        r'^    (n\d+) (?:-->|-\.->)\|"(.*)"\| (n\d+)$', plain_text(drawing), re.MULTILINE
    )
    return [(names[a], label, names[b]) for a, label, b in found]


# What is shown ------------------------------------------------------------------------------------


def test_tutorial_graph_shows_every_operation() -> None:
    a, b, c, d = (leaf(3) for _ in range(4))
    u = a * b
    t = np.log(d)
    v = t * c
    e = u + v

    drawing = gw.draw(e, names=locals())

    assert kinds(drawing, "leaf") == [f"{name}<br/>float64[3]" for name in "abcd"]
    assert kinds(drawing, "operation") == [
        "u = multiply<br/>saves 48 B",
        "t = log<br/>saves 24 B",
        "v = multiply<br/>saves 48 B",
        "add",
    ]
    assert kinds(drawing, "output") == ["e<br/>float64[3]"]
    assert ("d", "3", "t = log") in arrows(drawing)
    assert ("v = multiply", "3", "add") in arrows(drawing)
    assert len(arrows(drawing)) == 8
    # a, b, c, d and t; a is kept once, however many operations need it
    assert "title: 4 operations, 4 leaves, 120 B saved" in str(drawing)


def test_shapes_stand_at_the_arrows() -> None:
    x, w = leaf(5, 3), leaf(3, 2)
    drawing = gw.draw((x @ w).sum(), names={"x": x, "w": w})

    assert arrows(drawing) == [
        ("x", "5x3", "matmul"),
        ("w", "3x2", "matmul"),
        ("matmul", "5x2", "sum"),
        ("sum", "scalar", "output"),
    ]


def test_names_from_a_pytree() -> None:
    params = {"layers": [{"w": leaf(2), "b": leaf(2)}]}
    total = (params["layers"][0]["w"] * params["layers"][0]["b"]).sum()

    names = kinds(gw.draw(total, names=params), "leaf")

    assert {name.split("<br/>")[0] for name in names} == {"layers[0]['w']", "layers[0]['b']"}


def test_frozen_and_detached_parts_are_told_apart() -> None:
    x, frozen, unnamed = leaf(4), gw.wrap(np.ones(4)), np.ones(4)
    y = np.exp(x)
    z = y * y.detach() * frozen * unnamed * x.detach()

    drawing = gw.draw(z, names={"x": x, "frozen": frozen})

    assert [text.split("<br/>")[0] for text in kinds(drawing, "frozen")] == ["frozen", "constant"]
    assert [text.split("<br/>")[0] for text in kinds(drawing, "detached")] == ["detached"] * 2
    assert ("x", "4", "detached") in arrows(drawing)
    assert ("exp", "4", "detached") in arrows(drawing)
    assert "-.->" in drawing.mermaid


def test_a_detached_variable_of_another_graph_keeps_its_name() -> None:
    x, other = leaf(4), leaf(4)
    drawing = gw.draw(x * other.detach(), names={"x": x, "other": other})
    assert kinds(drawing, "detached") == ["other, detached<br/>float64[4]"]


def test_an_array_that_is_used_twice_is_one_box() -> None:
    x, k = leaf(3), np.ones(3)
    drawing = gw.draw(np.exp(x * k) * k)
    assert len(kinds(drawing, "frozen")) == 1


def test_arguments_say_what_was_done() -> None:
    x = leaf(4, 3)
    drawing = gw.draw(np.max(x[1:3, 0] ** 2 + 1, axis=0, keepdims=True))

    assert kinds(drawing, "operation") == [
        "getitem<br/>[1:3, 0]",
        "pow<br/>x2=2<br/>saves 16 B",
        "add<br/>x2 not tracked",
        "max<br/>axis=0<br/>keepdims=True<br/>saves 24 B",
    ]


def test_several_outputs_and_operations_of_several_outputs() -> None:
    x = leaf(4)
    first, second = np.split(x, 2)
    drawing = gw.draw({"a": first, "b": second * 2, "untracked": np.ones(2)})

    assert [text.split("<br/>")[0] for text in kinds(drawing, "output")] == [
        "output['a']",
        "output['b']",
    ]


def test_custom_functions_and_checkpoints_have_their_names() -> None:
    class Cube(gw.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.half = x / 2
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * ctx.saved_tensors[0] ** 2 * g

    def layer(x: Any) -> Any:
        return np.tanh(x) * 2

    x = leaf(10)
    drawing = gw.draw(gw.checkpoint(layer)(Cube.apply(x)))

    assert kinds(drawing, "operation") == [
        "Cube<br/>saves 160 B",
        "checkpoint<br/>layer<br/>saves 80 B",
    ]


def test_inside_of_a_transform() -> None:
    drawings: list[Any] = []

    def loss(w: Any, x: Any) -> Any:
        out = np.sum(np.tanh(w @ x))
        drawings.append(gw.draw(out, names={"w": w, "x": x}))
        return out

    gw.grad(loss)(np.ones((2, 3)), np.ones(3))

    assert kinds(drawings[0], "leaf") == ["w<br/>float64[2, 3]"]
    assert kinds(drawings[0], "frozen") == ["x<br/>float64[3]"]


def test_other_libraries_and_what_is_freed() -> None:
    x = gw.wrap(strict.ones(3, dtype=strict.float32), requires_grad=True)
    xp = x.__array_namespace__()
    y = xp.sum(xp.exp(x))
    assert kinds(gw.draw(y), "operation") == ["exp<br/>saves 12 B", "sum"]

    y.backward()
    assert kinds(gw.draw(y), "operation") == ["sum<br/>freed by backward"]


def test_a_leaf_alone() -> None:
    x = leaf(2)
    assert arrows(gw.draw(x, names={"x": x})) == [("x", "2", "x")]


def test_what_is_not_tracked_is_refused() -> None:
    with pytest.raises(BackwardError, match=r"nothing was recorded.*Fix: make an array"):
        gw.draw(gw.wrap(np.ones(2)))
    with pytest.raises(BackwardError, match="nothing was recorded"):
        gw.draw([np.ones(2), None])


# Names are only text ------------------------------------------------------------------------------

ODD = [
    'a"b',
    "1. first",
    "<b>&amp;",
    "__init__",
    "x*y*",
    "back`tick`",
    "#35;",
    "line\nbreak",
    "\\n",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_escaped(name: str) -> None:
    x = leaf(2)
    drawing = gw.draw(x * 2, names={name: x})

    line = next(line for line in drawing.mermaid.splitlines() if ":::leaf" in line)
    text = line.partition('(["')[2].partition('"])')[0].partition("<br/>")[0]
    assert not re.search(r'["<>`*\\]|^\d+\.|^_', text)
    decoded = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), text)
    for entity, character in (("quot", '"'), ("lt", "<"), ("gt", ">"), ("amp", "&")):
        decoded = decoded.replace(f"#{entity};", character)
    assert decoded == name.replace("\n", " ")
    picture = ET.fromstring(drawing.svg())  # noqa: S314  our own text
    assert name.replace("\n", " ") in {text.text for text in picture.iter(TEXT)}


# Large graphs -------------------------------------------------------------------------------------


def test_small_graphs_are_not_folded() -> None:
    x = leaf(2)
    for _ in range(10):
        x = np.sin(x)
    assert kinds(gw.draw(x), "group") == []
    assert len(kinds(gw.draw(x), "operation")) == 10
    assert kinds(gw.draw(x, fold=5), "group") == ["10 x sin<br/>10 operations<br/>saves 160 B"]
    assert kinds(gw.draw(x, fold=True), "group") == kinds(gw.draw(x, fold=5), "group")


def test_a_chain_is_one_box_with_its_count() -> None:
    x = leaf(2)
    y = x
    for _ in range(1000):
        y = np.sin(y) * 0.9
    drawing = gw.draw(y.sum(), names={"x": x})

    assert kinds(drawing, "group") == [
        "1000 x (sin → multiply)<br/>2000 operations<br/>saves 16.0 kB"
    ]
    assert len(boxes(drawing)) == 4
    assert "title: 2001 operations, 1 leaf, 16.0 kB saved" in str(drawing)
    assert len(boxes(gw.draw(y.sum(), fold=False))) == 2003


def test_layers_are_folded_with_their_parameters() -> None:
    params = [{"w": leaf(3, 3), "b": leaf(3)} for _ in range(80)]
    h = np.ones((2, 3))
    for p in params:
        h = np.tanh(h @ p["w"] + p["b"])
    drawing = gw.draw(h, names={"p": params})

    (group,) = kinds(drawing, "group")
    assert group.startswith("79 x (add → tanh → matmul)<br/>237 operations")
    assert "79 x p[0]['b'] … p[78]['b']<br/>float64[3]" in kinds(drawing, "leaf")
    assert len(boxes(drawing)) < 12


def test_recurrent_steps_keep_what_they_share() -> None:
    wx, wh = leaf(4, 2), leaf(4, 4)
    inputs = [np.ones(2) for _ in range(100)]
    h = gw.wrap(np.ones(4))
    for x in inputs:
        h = np.tanh(wx @ x + wh @ h)
    drawing = gw.draw(h, names={"wx": wx, "wh": wh, "x": inputs})

    assert kinds(drawing, "leaf") == ["wx<br/>float64[4, 2]", "wh<br/>float64[4, 4]"]
    (group,) = kinds(drawing, "group")
    assert group.startswith("100 x (matmul → matmul → add → tanh)")
    assert "100 x x[0] … x[99]<br/>float64[2]" in kinds(drawing, "frozen")
    first_lines = [group.split("<br/>")[0]]
    assert [(a, b) for a, _, b in arrows(drawing) if a == "wh" and b in first_lines]


def test_a_loop_in_a_loop_is_folded_twice() -> None:
    x, w = leaf(3), leaf(3, 3)
    for _ in range(20):
        for _ in range(10):
            x = np.sin(x) * w[0]
        x = np.exp(-x @ w)

    (group,) = kinds(gw.draw(x), "group")

    assert group.startswith(
        "20 x (10 x (sin → getitem → multiply) → negative → matmul → exp)<br/>660 operations"
    )


def test_graphs_without_repetition_are_shown_in_groups() -> None:
    rng = np.random.default_rng(0)
    values = [leaf(2) for _ in range(3)]
    for _ in range(1000):
        a, b = (values[rng.integers(max(0, len(values) - 20), len(values))] for _ in range(2))
        values.append([np.sin(a) * b, np.tanh(a), a - b][rng.integers(3)])
    drawing = gw.draw(values[-20:])

    groups = kinds(drawing, "group")
    assert len(boxes(drawing)) <= 60
    assert all(re.match(r"\d+ operations<br/>", text) for text in groups)
    drawn = sum(int(text.split()[0]) for text in groups)
    assert f"title: {drawn} operations" in drawing.mermaid


def test_no_arrow_goes_back() -> None:
    rng = np.random.default_rng(1)
    values = [leaf(2) for _ in range(3)]
    for _ in range(500):
        a, b = (values[rng.integers(max(0, len(values) - 5), len(values))] for _ in range(2))
        values.append(np.sin(a) * b)
    drawing: Any = gw.draw(values[-1])
    graph = drawing._graph
    place = {id(box): index for index, box in enumerate(graph.boxes)}

    assert all(
        place[id(arrow.source)] < place[id(arrow.target)]
        for arrow in graph.arrows
        if arrow.source.kind in {"operation", "group"}
    )


# Pictures -----------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
TEXT = f"{SVG}text"


def random_graph(seed: int, *, most: int = 60) -> Any:
    """Draw operations of values that are taken at random, some of them detached or constant."""
    rng = np.random.default_rng(seed)
    values = [leaf(2) for _ in range(3)]
    for _ in range(most):
        a, b = (values[rng.integers(max(0, len(values) - 12), len(values))] for _ in range(2))
        made = [np.sin(a) * b, np.tanh(a), a - b, a * b.detach(), a * np.ones(2), a * a]
        values.append(made[rng.integers(len(made))])
    return gw.draw(values[-3:], fold=bool(seed % 3 == 0))


DRAWINGS: dict[str, Callable[[], Any]] = {
    **{f"random {seed}": partial(random_graph, seed) for seed in range(12)},
    "leaf": lambda: gw.draw(leaf(2)),
    "square": lambda: gw.draw(np.square(leaf(2)) * leaf(2)),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_each_box_has_a_place_of_its_own(name: str) -> None:
    drawing = DRAWINGS[name]()
    spots = laid_out(drawing._graph).spots

    assert set(spots) == set(drawing._graph.boxes)
    for (_, one), (_, other) in itertools.combinations(spots.items(), 2):
        apart = abs(one.middle - other.middle) >= (one.width + other.width) / 2
        below = one.top >= other.top + other.height or other.top >= one.top + one.height
        assert apart or below


@pytest.mark.parametrize("name", DRAWINGS)
def test_each_arrow_leads_from_box_to_box(name: str) -> None:
    graph = DRAWINGS[name]()._graph
    layout = laid_out(graph)
    heads = [stroke for stroke in layout.strokes if stroke.head]

    assert len(heads) == len(graph.arrows)
    for stroke in heads:
        target = layout.spots[stroke.arrow.target]
        if stroke.head > 0:
            x, y, edge = stroke.x[1], stroke.y[3], target.top
        else:
            x, y, edge = stroke.x[0], stroke.y[0], target.top + target.height
        assert y == edge
        assert abs(x - target.middle) <= 2 * SIDE_BY_SIDE
    for stroke in layout.strokes:
        start, row_end, next_row, end = stroke.y
        assert start <= row_end <= next_row <= end  # down, through both rows


def test_arrows_point_down_and_one_of_a_circle_points_up() -> None:
    graph = random_graph(1)._graph
    spots = laid_out(graph).spots
    assert all(spots[arrow.source].top < spots[arrow.target].top for arrow in graph.arrows)

    first, second = (Box(OPERATION, name) for name in ("first", "second"))
    around = Graph([first, second], [Arrow(first, second, "2"), Arrow(second, first, "3")])
    layout = laid_out(around)
    assert sorted(stroke.head for stroke in layout.strokes) == [-1, 1]
    assert to_svg(around).count('class="head"') == 2


def test_a_chain_is_a_straight_line_and_a_network_has_few_crossings() -> None:
    x = leaf(2)
    for _ in range(30):
        x = np.sin(x)
    layout = laid_out(collect(x, None))
    assert len({round(spot.middle, 3) for spot in layout.spots.values()}) == 1

    # two columns that are recorded in turns
    a, b = leaf(2), leaf(2)
    for _ in range(10):
        b, a = np.cos(b), np.sin(a)
    spots = laid_out(collect([a, b], None)).spots
    columns = {round(spot.middle, 3) for box, spot in spots.items() if "sin" in box.name}
    assert len(columns) == 1


def test_a_picture_is_well_formed_and_needs_nothing_from_elsewhere() -> None:
    text = gw.draw(np.sin(leaf(2)) * 2, names={"a\x00b": leaf(2)}).svg()
    root = ET.fromstring(text)  # noqa: S314  our own text
    assert root.tag == f"{SVG}svg"
    assert {text.text for text in root.iter(TEXT)} >= {"sin", "multiply", "float64[2]"}
    assert "prefers-color-scheme:dark" in text
    assert re.findall(r"https?://[^\s\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|\bhref|url\(|@import", text)


def test_wide_characters_have_room() -> None:
    assert columns("ab") == 2
    assert columns("数x") == 3


needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")


@needs_graphviz
def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("graphviz")
    x = leaf(2)
    drawing = gw.draw(np.sin(x), names={"x": x})

    assert drawing.png().startswith(b"\x89PNG")
    for suffix in (".png", ".pdf"):
        drawing.save(tmp_path / f"graph{suffix}")
        assert (tmp_path / f"graph{suffix}").stat().st_size > 500


def test_text_is_saved_without_graphviz(tmp_path: Path) -> None:
    drawing = gw.draw(np.sin(leaf(2)))
    drawing.save(tmp_path / "graph.mmd")
    drawing.save(str(tmp_path / "graph.dot"))
    drawing.save(tmp_path / "graph.svg")

    assert (tmp_path / "graph.mmd").read_text() == str(drawing) == drawing.mermaid
    assert (tmp_path / "graph.dot").read_text() == drawing.dot
    assert (tmp_path / "graph.svg").read_text() == drawing.svg()
    with pytest.raises(ValueError, match=r"no format for 'graph.jpg'.*Fix: use \.svg"):
        drawing.save(tmp_path / "graph.jpg")


def test_dot_text() -> None:
    x = leaf(2)
    text = gw.draw(np.sin(x) * np.ones(2), names={'"x"': x}).dot

    assert text.startswith("digraph {")
    assert r'n1 [label="\"x\"\nfloat64[2]" style="rounded,filled"' in text
    assert 'n1 -> n2 [label=" 2"]' in text
    assert "style=dashed" in text


def test_a_notebook_shows_it() -> None:
    drawing = gw.draw(np.sin(leaf(2)))
    bundle = bundle_of(drawing, include={"text/plain", "text/vnd.mermaid"})

    assert bundle == {
        "text/plain": "<Drawing: 1 operation, 1 leaf, 16 B saved>",
        "text/vnd.mermaid": drawing.mermaid,
    }
    assert "text/plain" not in bundle_of(drawing, exclude={"text/plain"})


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_graphviz(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "graphviz":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_graphviz)
    drawing = gw.draw(np.sin(leaf(2)))

    with pytest.raises(MissingToolError, match=r"package graphviz.*Fix: pip install"):
        drawing.png()
    assert bundle_of(drawing)["image/svg+xml"] == drawing.svg()


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("graphviz")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingToolError, match=r"program dot was not found.*Fix: install"):
        gw.draw(np.sin(leaf(2))).png()


# Functions ----------------------------------------------------------------------------------------


def test_call_of_a_function_is_drawn_with_its_parameters() -> None:
    def loss(params: dict[str, Any], x: Any, power: int) -> Any:
        return np.sum(np.tanh(x @ params["w"] + params["b"]) ** power)

    params = {"w": np.ones((3, 2)), "b": 0.5}
    drawing = gw.draw(loss, params, np.ones((4, 3)), 2)
    assert sorted(kinds(drawing, "leaf")) == [
        "params['b']<br/>float64[]",
        "params['w']<br/>float64[3, 2]",
        "x<br/>float64[4, 3]",
    ]
    operations = [text.partition("<br/>")[0] for text in kinds(drawing, "operation")]
    assert operations == ["matmul", "add", "tanh", "pow", "sum"]


def test_names_are_added_to_the_parameters() -> None:
    scale = gw.wrap(np.ones(2), requires_grad=True)
    drawing = gw.draw(fn(lambda x: np.sum(x * scale)), np.ones(2), names={"scale": scale})
    assert [text.partition("<br/>")[0] for text in kinds(drawing, "leaf")][:1] == ["x"]


def test_drawing_a_call_says_what_is_missing() -> None:
    with pytest.raises(gw.errors.NotAnArrayError, match=r"no argument of sin is an array.*Fix: "):
        gw.draw(np.sin)
    with pytest.raises(gw.errors.NotAnArrayError, match=r"no argument of square is an array"):
        gw.draw(np.square, np.array([1, 2]))
    with pytest.raises(gw.errors.NotAnArrayError, match=r"which is not a function. Fix: draw\(f"):
        gw.draw(leaf(2), np.ones(2))
    with pytest.raises(BackwardError, match="nothing was recorded"):
        gw.draw(fn(lambda x: 1.0), np.ones(2))
