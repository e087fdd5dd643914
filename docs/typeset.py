"""Formulas of the table as MathML, which browsers typeset without a script: `g * cos(x)`.

A formula that is rather a program, with keyword arguments, indices or loops, has none.
"""

from __future__ import annotations

import ast
from html import escape

__all__ = ["mathml"]

SYMBOLS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "lam": "λ",
    "mu": "μ",
    "nu": "ν",
    "phi": "φ",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "theta": "θ",
    "math.pi": "π",
    "math.inf": "∞",
    "math.e": "e",
}
FUNCTIONS = {
    "special.gamma": "Γ",
    "special.beta": "Β",
    "special.zeta": "ζ",
    "special.digamma": "ψ",
    "math.log": "log",
    "math.sqrt": "sqrt",
    "math.exp": "exp",
}
SIGNS: dict[type[ast.AST], str] = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "&lt;",
    ast.LtE: "≤",
    ast.Gt: "&gt;",
    ast.GtE: "≥",
    ast.Add: "+",
    ast.Sub: "−",
    ast.Mult: "·",
    ast.MatMult: "⁢",
    ast.BitAnd: "∧",
    ast.And: "∧",
    ast.BitOr: "∨",
    ast.Or: "∨",
}
# How strongly an expression binds: one that binds less than its place asks for gets parentheses.
ANYTHING, CHOICE, EITHER, BOTH, COMPARED, SUM, PRODUCT, SIGNED, POWER, WHOLE = range(10)
BINDING: dict[type[ast.AST], int] = {
    ast.BitOr: EITHER,
    ast.Or: EITHER,
    ast.BitAnd: BOTH,
    ast.And: BOTH,
    ast.Add: SUM,
    ast.Sub: SUM,
    ast.Mult: PRODUCT,
    ast.MatMult: PRODUCT,
}


class _Program(Exception):  # noqa: N818  it says that a formula is not mathematics
    pass


def mathml(text: str) -> str | None:
    """Return an expression, or an assignment, as MathML; None if it is not mathematics."""
    try:
        node, *more = ast.parse(text).body
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            inside = _row(_of(node.targets[0]), _sign("≔"), _of(node.value))
        elif isinstance(node, ast.Expr) and not more:
            inside = _of(node.value)
        else:
            return None
    except (SyntaxError, ValueError, _Program):
        return None
    return f'<math displaystyle="true" alttext="{escape(text)}">{inside}</math>'


def _of(node: ast.expr, least: int = ANYTHING) -> str:
    """Return the markup of an expression, in parentheses where it binds too little."""
    markup, binding = _bound(node)
    return markup if binding >= least else _row(_fence("("), markup, _fence(")"))


def _bound(node: ast.expr) -> tuple[str, int]:  # noqa: C901, PLR0911, PLR0912  one case per kind
    """Return the markup of an expression, and how strongly it binds."""
    match node:
        case ast.Constant(value=bool() | None):
            return _name(str(node.value)), WHOLE
        case ast.Constant(value=int() | float() | complex() as number):
            return f"<mn>{_number(number)}</mn>", WHOLE
        case ast.Name() | ast.Attribute():
            return _name(ast.unparse(node)), WHOLE
        case ast.Call(keywords=[]):
            return _call(ast.unparse(node.func), node.args)
        case ast.UnaryOp(op=ast.USub()):
            return _row(_sign("−"), _of(node.operand, SIGNED)), SIGNED
        case ast.UnaryOp(op=ast.Invert() | ast.Not()):
            return _row(_sign("¬"), _of(node.operand, SIGNED)), SIGNED
        case ast.BinOp(op=ast.Div()):
            return f"<mfrac>{_of(node.left)}{_of(node.right)}</mfrac>", POWER
        case ast.BinOp(op=ast.Pow()):
            return f"<msup>{_of(node.left, WHOLE)}{_of(node.right)}</msup>", POWER
        case ast.BinOp() if type(node.op) in BINDING:
            binding = BINDING[type(node.op)]
            right = _of(node.right, binding + 1)
            return _row(_of(node.left, binding), _sign(SIGNS[type(node.op)]), right), binding
        case ast.BoolOp():
            binding = BINDING[type(node.op)]
            sign = _sign(SIGNS[type(node.op)])
            return _row(sign.join(_of(value, binding + 1) for value in node.values)), binding
        case ast.Compare() if all(type(op) in SIGNS for op in node.ops):
            parts = [_of(node.left, SUM)]
            for op, value in zip(node.ops, node.comparators, strict=True):
                parts += [_sign(SIGNS[type(op)]), _of(value, SUM)]
            return _row(*parts), COMPARED
        case ast.IfExp():
            return _cases(node.test, node.body, node.orelse), CHOICE
        case ast.Tuple(elts=elements) if elements:
            return _row(_fence("("), _listed(elements), _fence(")")), WHOLE
        case _:
            raise _Program


def _call(function: str, args: list[ast.expr]) -> tuple[str, int]:  # noqa: PLR0911  one per notation
    """Return a call in the notation that its function has."""
    name = FUNCTIONS.get(function, function.removeprefix("special."))
    match name, args:
        case "sqrt", [x]:
            return f"<msqrt>{_of(x)}</msqrt>", WHOLE
        case "abs", [x]:
            return _row(_fence("|"), _of(x), _fence("|")), WHOLE
        case "conj", [x]:
            return f"<mover>{_of(x)}<mo>¯</mo></mover>", WHOLE
        case "exp", [x]:
            return f"<msup><mi>e</mi>{_of(x)}</msup>", POWER
        case "floor", [x]:
            return _row(_fence("⌊"), _of(x), _fence("⌋")), WHOLE
        case "where", [test, chosen, otherwise]:
            return _cases(test, chosen, otherwise), CHOICE
        case (("matrix_transpose" | "adjoint"), [x]):
            raised = "<mi>T</mi>" if name == "matrix_transpose" else "<mi>H</mi>"
            return f"<msup>{_of(x, WHOLE)}{raised}</msup>", POWER
        case _:
            return _row(_name(name), _fence("("), _listed(args), _fence(")")), WHOLE


def _cases(test: ast.expr, chosen: ast.expr, otherwise: ast.expr) -> str:
    """Return two values, each with its condition, behind a brace."""
    rows = [(_of(chosen), _row("<mtext>if&#160;</mtext>", _of(test)))]
    rows += [(_of(otherwise), "<mtext>otherwise</mtext>")]
    table = "".join(f"<mtr><mtd>{value}</mtd><mtd>{when}</mtd></mtr>" for value, when in rows)
    return _row('<mo stretchy="true" form="prefix">{</mo>', f"<mtable>{table}</mtable>")


def _listed(nodes: list[ast.expr]) -> str:
    return '<mo separator="true">,</mo>'.join(_of(node) for node in nodes)


def _name(name: str) -> str:
    """Return a name: a letter, a letter with an index, or a word."""
    symbol = SYMBOLS.get(name, name)
    letter, index = symbol[:1], symbol[1:]
    if index.isdigit():
        return f"<msub><mi>{letter}</mi><mn>{index}</mn></msub>"
    if name.startswith(("LN", "LOG")) and name[2:].isdigit():
        return f"<mrow><mi>ln</mi><mn>{name[2:]}</mn></mrow>"
    if name.isalpha():
        return f"<mi>{symbol}</mi>"
    return f'<mi mathvariant="normal" class="word">{escape(symbol)}</mi>'


def _number(number: complex) -> str:
    text = repr(number)
    return text.removesuffix(".0").replace("j", "i")


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _sign(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def _fence(sign: str) -> str:
    return f'<mo stretchy="true" fence="true">{sign}</mo>'
