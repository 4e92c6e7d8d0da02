"""The text that replaces a secret."""

import re
from typing import Final

MASK: Final = "[secret removed]"
_MASKED: Final = re.compile(r"\[secret removed\]|\[secret: [a-z0-9. ]{2,40}\]")


def mask_of(kind: str) -> str:
    """Return the mask for a kind of secret; the empty kind means one of our own secrets."""
    return f"[secret: {kind}]" if kind else MASK


def foreign_mask(text: str, present: str) -> str:
    """Return the first mask in a string that does not occur verbatim in `present`, or an empty string."""
    return next((mask for mask in _MASKED.findall(text) if mask not in present), "")


def count_masks(text: str) -> int:
    """Return how many masks a string contains."""
    return len(_MASKED.findall(text))
