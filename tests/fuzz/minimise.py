"""Reduce a failing program to a few lines, and print it as a script."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.fuzz.checks import Outcome, judge, normal
from tests.fuzz.values import is_sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.programs import Program

Path = tuple[tuple[str, int | None], ...]
SIMPLE = (
    "np.array(0.3)",
    "np.array([0.3, -0.7])",
    "np.array([0.3, -0.7, 1.1])",
    "np.array([[0.3, -0.7], [1.1, 0.4]])",
    "np.array([[0.3, -0.7, 1.1], [0.4, 0.9, -0.2]])",
    "np.array([[0.3, -0.7, 1.1], [0.4, 0.9, -0.2], [0.6, -1.3, 0.8]])",
)


def minimised(program: Program, outcome: Outcome) -> Program:
    """Return a smaller program that fails in the same way."""
    smallest = replace(program, transforms=(outcome.transform,))
    found = True
    while found:
        found = False
        for candidate in candidates(smallest):
            if cost(candidate) < cost(smallest) and fails_likewise(candidate, outcome):
                smallest = candidate
                found = True
                break
    return smallest


def cost(program: Program) -> int:
    """Return the length of a program and its arguments; an argument of `SIMPLE` costs little."""
    sources = [source for _, source in program.arguments]
    arguments = sum(SIMPLE.index(s) if s in SIMPLE else 100 + len(s) for s in sources)
    return 10 * len(program.source) + arguments + program.drop_in


def fails_likewise(program: Program, outcome: Outcome) -> bool:
    try:
        outcomes = judge(program)
    except Exception:  # the candidate is no program
        return False
    return any(
        o.verdict == "failed"
        and o.kind == outcome.kind
        and ("error" not in o.kind or error_of(o) == error_of(outcome))
        for o in outcomes
    )


def error_of(outcome: Outcome) -> str:
    """Return the class of an error and the first words of its message."""
    return normal(outcome.detail)[:40]


def candidates(program: Program) -> Iterator[Program]:
    """Yield programs that are a little smaller, the smallest first."""
    for i in range(len(program.results)):
        yield replace(program, results=program.results[:i] + program.results[i + 1 :])
    tree = ast.parse("\n".join(program.body))
    for smaller in smaller_trees(tree):
        yield with_body(program, smaller)
    yield from without_aliases(program, tree)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {*program.results}
    for i, (name, source) in enumerate(program.arguments):
        before, after = program.arguments[:i], program.arguments[i + 1 :]
        if name not in used and len(program.arguments) > 1:
            yield replace(program, arguments=before + after)
        for simple in SIMPLE[: SIMPLE.index(source)] if source in SIMPLE else SIMPLE:
            yield replace(program, arguments=(*before, (name, simple), *after))
    if program.drop_in:
        yield replace(program, drop_in=False)


def without_aliases(program: Program, tree: ast.Module) -> Iterator[Program]:
    """Yield the program with one name for two, where a line gives a value a second name."""
    for i, statement in enumerate(tree.body):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
            continue
        (target,), value = statement.targets, statement.value.id
        if isinstance(target, ast.Name):
            body = ast.Module([*tree.body[:i], *tree.body[i + 1 :]], [])
            renamed = renaming({target.id: value}).visit(copy.deepcopy(body))
            results = [value if name == target.id else name for name in program.results]
            yield replace(with_body(program, renamed), results=tuple(dict.fromkeys(results)))


def renaming(names: dict[str, str]) -> ast.NodeTransformer:
    """Return a visitor that gives names other names."""

    class Renaming(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(names.get(node.id, node.id), node.ctx)

    return Renaming()


def with_body(program: Program, tree: ast.Module) -> Program:
    return replace(program, body=tuple(ast.unparse(statement) for statement in tree.body))


def smaller_trees(tree: ast.Module) -> Iterator[ast.Module]:
    """Yield the tree without a statement, with a block's body alone, with smaller expressions."""
    found = list(places(tree, ()))
    for path, node in found:
        if isinstance(node, ast.stmt):
            yield put(tree, path, [])
            if isinstance(node, (ast.If, ast.For, ast.While)):
                yield put(tree, path, node.body)
                yield put(tree, path, node.orelse)
    for path, node in found:
        field, _ = path[-1]
        if isinstance(node, ast.keyword):
            yield put(tree, path, [])
        elif isinstance(node, ast.expr) and field not in {"target", "targets", "func"}:
            yield from smaller_expressions(tree, path, node)


def smaller_expressions(tree: ast.Module, path: Path, node: ast.expr) -> Iterator[ast.Module]:
    """Yield the tree with a part of an expression in its place, or with a simpler key."""
    field, index = path[-1]
    for part in parts_of(node):
        yield put(tree, path, part if index is None else [part])
    if isinstance(node, ast.Subscript) or (field == "slice" and not is_constant(node)):
        key = path if field == "slice" else (*path, ("slice", None))
        for simple in ("0", "...", ":"):
            yield put(tree, key, slice_of(simple))
    if isinstance(node, ast.Tuple) and len(node.elts) > 1 and field == "slice":
        for i in range(len(node.elts)):
            yield put(tree, (*path, ("elts", i)), [])


def parts_of(node: ast.expr) -> list[ast.expr]:
    """Return the expressions below a node that can stand in its place; not the called function."""
    parts: list[ast.AST] = [*ast.iter_child_nodes(node)]
    if isinstance(node, ast.Call):
        method = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        parts = [*method, *node.args, *(keyword.value for keyword in node.keywords)]
    return [part for part in parts if isinstance(part, ast.expr) and not is_constant(part)]


def is_constant(node: ast.AST) -> bool:
    return isinstance(node, (ast.Constant, ast.UnaryOp)) or (
        isinstance(node, ast.Name) and node.id == "np"
    )


def slice_of(source: str) -> Any:
    parsed: Any = ast.parse(f"a[{source}]", mode="eval").body
    return parsed.slice


def places(node: ast.AST, path: Path) -> Iterator[tuple[Path, ast.AST]]:
    """Yield each node below this one with the way to it, from the outside in."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield (*path, (field, None)), value
            yield from places(value, (*path, (field, None)))
        elif is_sequence(value):
            for i in reversed(range(len(value))):
                if isinstance(value[i], ast.AST):
                    yield (*path, (field, i)), value[i]
                    yield from places(value[i], (*path, (field, i)))


def put(tree: ast.Module, path: Path, new: Any) -> ast.Module:
    """Return a copy of the tree with something else in a place."""
    made = copy.deepcopy(tree)
    node: Any = made
    for field, index in path[:-1]:
        node = getattr(node, field) if index is None else getattr(node, field)[index]
    field, index = path[-1]
    fresh = copy.deepcopy(new)
    if index is None:
        setattr(node, field, fresh)
    else:
        getattr(node, field)[index : index + 1] = fresh
    return made


def words(program: Program) -> frozenset[str]:
    """Return what a program is made of: functions, methods, stores and operators."""
    found: set[str] = set()
    for node in ast.walk(ast.parse("\n".join(program.body))):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Subscript):
            found.add("store" if isinstance(node.ctx, ast.Store) else "load")
        elif isinstance(node, ast.AugAssign):
            found.add("in place")
        elif isinstance(node, (ast.BinOp, ast.For, ast.If, ast.Compare)):
            found.add(type(node).__name__)
    return frozenset(found)


# Printing ---------------------------------------------------------------------------------------

LOSS = "def loss(*args): return sum(np.sum(np.real(o)) for o in program(*args))"
ONES = "def ones(values): return tuple(np.ones_like(v) for v in values)"
TWICE = "def twice(values): return [np.stack([v, v]) for v in values]"
ENDS = {
    "vjp": "out, pull = gw.vjp(program, *args())\nprint(out, pull(ones(out)))",
    "written": (
        "a = args()\nout, pull = gw.vjp(program, *a)\nfor o in (*out, *a): o[...] = 0.37\n"
        "print(pull(ones(out)))"
    ),
    "strong_zeros": (
        "with gw.strong_zeros():\n    out, pull = gw.vjp(program, *args())\n"
        "    print(pull(ones(out)))"
    ),
    "jvp": "print(gw.jvp(program, tuple(args()), ones(args())))",
    "linearize": "print(gw.linearize(program, *args())[1](*ones(args())))",
    "vmap": "print(gw.vmap(program)(*twice(args())))",
    "jacrev": "print(gw.jacrev(program, ALL)(*args()))",
    "jacfwd": "print(gw.jacfwd(program, ALL)(*args()))",
    "value_and_grad": "print(gw.value_and_grad(loss, ALL)(*args()))",
    "checkpoint": "print(gw.value_and_grad(gw.checkpoint(loss), ALL)(*args()))",
    "closure": "print(gw.value_and_grad(lambda x: loss(x, *args()[1:]))(args()[0]))",
    "hvp": "print(gw.hvp(loss, tuple(args()), ones(args())))",
    "create_graph": (
        "leaves = [gw.wrap(a, requires_grad=True) for a in args()]\n"
        "found = gw.autograd.grad(loss(*(a.clone() for a in leaves)), leaves, create_graph=True)\n"
        "print(gw.autograd.grad(sum(np.sum(g) for g in found), leaves))"
    ),
    "grad_of_grad": (
        "def along(*args): return sum(np.sum(g) for g in gw.grad(loss, ALL)(*args))\n"
        "print(gw.grad(along, ALL)(*args()))"
    ),
    "vmap_of_grad": "print(gw.vmap(gw.grad(loss, ALL))(*twice(args())))",
    "grad_of_vmap": (
        "def batch(*args): return np.sum(gw.vmap(loss)(*args))\n"
        "print(gw.grad(batch, ALL)(*twice(args())))"
    ),
    "tape": (
        "leaves = [gw.wrap(a, requires_grad=True) for a in args()]\n"
        "loss(*(a.clone() for a in leaves)).backward()\nprint([a.grad for a in leaves])"
    ),
}
"""How a script ends: the transform, in its simplest use."""


IMPORTS = {
    "sl.": "import gradwrap.scipy.linalg as sl",
    "copy.": "import copy",
    "pickle.": "import pickle",
}
"""The lines that import what a program uses besides NumPy."""


def script(program: Program, outcome: Outcome) -> str:
    """Return a script that shows the failure."""
    library = "import gradwrap.numpy as np" if program.drop_in else "import numpy as np"
    end = ENDS[outcome.transform].replace("ALL", str(tuple(range(len(program.arguments)))))
    helpers = [
        text for text in (LOSS, ONES, TWICE) if text.partition("(")[0].removeprefix("def ") in end
    ]
    if "checkpoint(" in program.source:
        helpers.append("checkpoint = gw.checkpoint")
    for word, line in IMPORTS.items():
        if word in program.source:
            helpers.insert(0, line)
    sources = ", ".join(source for _, source in program.arguments)
    return "\n".join(
        [
            f"# seed {program.seed}, {outcome.transform}: {outcome.kind}: {outcome.detail}",
            *("import gradwrap as gw", library),
            program.source.rstrip(),
            f"def args(): return [{sources}]",
            *helpers,
            end,
        ]
    )
