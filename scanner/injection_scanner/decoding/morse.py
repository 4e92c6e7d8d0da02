"""Decode Morse code, written with any characters that look like dots and dashes."""

import re
from types import MappingProxyType
from typing import Final

MORSE: Final = (
    r"[.\-\u00b7\u2022\u2013\u2014\u2212_][.\-\u00b7\u2022\u2013\u2014\u2212_]{0,5}[ /|]{1,3}"
    r"(?:[.\-\u00b7\u2022\u2013\u2014\u2212_]{1,6}[ /|]{1,3}){10,}[.\-\u00b7\u2022\u2013\u2014\u2212_]{0,6}"
)
MORSE_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- ..--.. -..-. .--.-. ---... -....-"
)
MORSE_TABLE: MappingProxyType[str, str] = MappingProxyType(
    dict(zip(MORSE_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz0123456789.,?/@:-", strict=True))
)
MORSE_SHAPES = str.maketrans("\u00b7\u2022\u2013\u2014\u2212_", "..----")


def read_morse(run: str) -> str:
    """Decode Morse characters; a slash or three blanks separate words."""
    words = re.split(r" ?[/|] ?| {2,}", run.translate(MORSE_SHAPES).strip())
    return " ".join("".join(MORSE_TABLE.get(sign, "\0") for sign in word.split()) for word in words)
