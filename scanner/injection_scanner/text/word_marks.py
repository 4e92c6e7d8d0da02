"""The marks of words that make a passage worth a closer check."""

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
"""The prefix of a mark that contains a rule's ID."""
