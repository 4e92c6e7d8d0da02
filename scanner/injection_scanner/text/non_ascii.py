"""Find the special characters in a text: controls, and everything beyond ASCII."""

from typing import Final

PLAIN: Final = b"\t\n\r" + bytes(range(0x20, 0x7F))


def non_ascii_characters(text: str) -> str:
    """Return the special characters in order. A pattern of special characters can be searched for in them alone."""
    return text.encode("utf-8", "surrogatepass").translate(None, PLAIN).decode("utf-8", "surrogatepass")
