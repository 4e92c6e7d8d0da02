"""The characters of a text that are not plain: controls, and all beyond ASCII.

Knows: how to take them out of a long text at once, so that one is looked for among few. Does not know: what they mean.
"""

from typing import Final

PLAIN: Final = b"\t\n\r" + bytes(range(0x20, 0x7F))


def non_ascii_characters(text: str) -> str:
    """Return the characters that are not plain, in order; what is found among them alone is found in the text."""
    return text.encode("utf-8", "surrogatepass").translate(None, PLAIN).decode("utf-8", "surrogatepass")
