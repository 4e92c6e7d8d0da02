"""Find the special characters of a text: controls, and everything beyond ASCII."""

from typing import Final

PLAIN: Final = b"\t\n\r" + bytes(range(0x20, 0x7F))


def non_ascii_characters(text: str) -> str:
    """Return the non-plain characters in order. Anything found among them alone is also found in the text."""
    return text.encode("utf-8", "surrogatepass").translate(None, PLAIN).decode("utf-8", "surrogatepass")
