"""Read what classes and their fields say of themselves."""

import ast
import inspect
import textwrap
from functools import cache


@cache
def field_texts(cls: type) -> dict[str, str]:
    """Return the string below each field of a class, by the field's name."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef), "the source of a class is one"
    found: dict[str, str] = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                found[name] = " ".join(words.split())
            case _:
                pass
    return found


def class_text(cls: type) -> str:
    """Return a class's docstring, a paragraph a block."""
    return inspect.cleandoc(cls.__doc__ or "").replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n\n")
