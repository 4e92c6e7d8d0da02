"""The marks of words that make a passage worth closer checks."""

from typing import Final

CIPHER: Final = "?cipher"
LEET: Final = "?leet"
JUMBLED: Final = "?jumbled"
NATO: Final = "?nato"
LETTER: Final = "?letter"
DOUBLED: Final = "?doubled"
UNVOWELLED: Final = "?unvowelled"
PADDED: Final = "?padded"
DISGUISES: Final = frozenset((CIPHER, LEET, JUMBLED, NATO, LETTER, DOUBLED, UNVOWELLED, PADDED))
RULE: Final = "="
"""Stands before a rule's id."""
