"""Read the docstrings of classes."""

import inspect


def class_text(cls: type) -> str:
    """Return a class's docstring, a paragraph a block."""
    return inspect.cleandoc(cls.__doc__ or "").replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n\n")
