# SPDX-License-Identifier: Apache-2.0
"""Finds statements of Python that do the work of several; each statement has a line of its own."""
import ast
import io
import tokenize

GLUE = {
    ast.Tuple: "a tuple of expressions as a statement",
    ast.IfExp: "a conditional expression as a statement",
    ast.BoolOp: "a chain of and, or as a statement",
    ast.ListComp: "a comprehension as a statement",
    ast.SetComp: "a comprehension as a statement",
    ast.DictComp: "a comprehension as a statement",
}
MOST_TARGETS = 3  # of one assignment


def glued_in(text):
    """The lines of a Python text that glue statements: (number, how) of each."""
    found = [
        (token.start[0], "statements joined by ;")
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.OP and token.string == ";"
    ]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and type(node.value) in GLUE:
            found.append((node.lineno, GLUE[type(node.value)]))
        elif isinstance(node, ast.Import) and len(node.names) > 1:
            found.append((node.lineno, "an import of several modules"))
        elif isinstance(node, ast.NamedExpr):
            found.append((node.lineno, "an assignment inside an expression"))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            how = unrelated(node.targets[0], node.value)
            if how:
                found.append((node.lineno, how))
    return sorted(found)


def unrelated(target, value):
    """Why the assignment is several in one; empty: it is not.  A swap, like a, b = b, a, cannot be split."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return ""
    for i, later in enumerate(value.elts):
        if any(reads(later, earlier) for earlier in target.elts[:i]):
            return ""
    if len(value.elts) > MOST_TARGETS:
        return f"an assignment of more than {MOST_TARGETS} values"
    if not all(alike(value.elts[0], other) for other in value.elts[1:]):
        return "an assignment of unrelated values"
    return ""


def reads(value, target):
    """Whether an expression has a part that the target assigns."""
    assigned = {
        ast.unparse(node)
        for node in ast.walk(target)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)
    }
    return any(isinstance(node, ast.expr) and ast.unparse(node) in assigned for node in ast.walk(value))


def alike(one, other):
    """Whether two values are of one kind: what is called in them begins with the same name, or is the same method, or both are
    references, or constants of one type, or the same kind of expression."""
    if called_in(one) and called_in(one) == called_in(other):
        return True
    if isinstance(one, ast.Call) and isinstance(other, ast.Call):
        methods = [call.func.attr for call in (one, other) if isinstance(call.func, ast.Attribute)]
        return len(methods) == 2 and methods[0] == methods[1]
    return kind_of(one) == kind_of(other)


def called_in(value):
    """The names with which the functions that an expression calls begin: {"np"} of np.sin(x)."""
    return {ast.unparse(node.func).split(".")[0].split("(")[0] for node in ast.walk(value) if isinstance(node, ast.Call)}


def kind_of(value):
    if isinstance(value, ast.Constant):
        return type(value.value)
    if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
        return "reference"
    return type(value)
