"""Reasons why a file is not shown to a client."""

from typing import Final

NO_PATH: Final = "The path is not valid."
OUTSIDE_HINT: Final = "Only files in the session's folders are shown."
PROTECTED_HINT: Final = "The agent would need approval to read it. Open it on the machine itself."


def outside(path: str) -> str:
    """Refuse a file that is elsewhere."""
    return f"{path} is outside the session's folders."


def missing(name: str) -> str:
    """Report that there is no such file."""
    return f"There is no file {name}."


def protected(name: str) -> str:
    """Refuse a file that may hold secrets or that a rule protects."""
    return f"{name} is not shown here: it usually contains secrets, or a rule protects it."


def too_large(name: str, size: int, most: int) -> str:
    """Refuse a file that is too large to send to a client."""
    return f"{name} is too large to show: {size:,} bytes; the maximum is {most:,}."


def not_text(name: str) -> str:
    """Refuse a file that cannot be shown as text."""
    return f"{name} is not a text file."
