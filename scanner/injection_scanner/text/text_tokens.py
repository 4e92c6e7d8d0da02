"""Tokenise folded text into words, addresses, secret locations, and marks of commands and imitated speakers."""

import re
from functools import cache

from injection_scanner.text.url_kinds import kind_of_address

TOKEN = re.compile(
    r"https?://[^\s`'\"<>)\]|]{1,200}|[^\W_]+(?:'[a-z]{1,2}\b)?|~/\.[a-z][\w./-]{1,60}|\.env\b(?:\.[a-z]{1,14})?"
    r"|\| ?(?:sudo )?(?:ba|z|da|k)?sh\b|\$\(|<\||\|>|!!+|[@~](?=/)|>&|[@\[\]{}<>|]"
)
SPACELESS = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
AHEAD = 400


@cache
def spaceless() -> re.Pattern[str]:
    """Compile, on first use, the pattern for letters of scripts without spaces."""
    return re.compile(SPACELESS)


def tokenize(text: str) -> list[str]:
    """Return the tokens of folded text; an address is one token, text without spaces becomes pairs of letters."""
    tokens: list[str] = TOKEN.findall(text)
    if text.isascii() and "://" not in text and "sh" not in text:
        return tokens
    plain: list[str] = []
    for token in tokens:
        if token.startswith("http") and "://" in token:
            plain.append(kind_of_address(token))
        elif not token.isascii() and len(token) > 2 and spaceless().search(token):
            plain.extend(token[at : at + 2] for at in range(min(len(token) - 1, 400)))
        elif token[0] == "|" and token[-1] == "h":
            plain.append("|" + token[1:].split()[-1])
        else:
            plain.append(token)
    return plain


def places_of(passage: str, tokens: list[str]) -> list[int]:
    """Return the start of each token in a passage, as far as it can be found in order, in linear time."""
    places: list[int] = []
    at = 0
    for token in tokens:
        is_address = token.startswith("URL")
        found = passage.find(
            "://" if is_address else token[-2:] if token[0] == "|" else token, at, at + AHEAD
        )
        if found >= 0:
            places.append(max(at, found - 5) if is_address else found)
            at = found + (3 if is_address else 1)
        else:
            places.append(at)
    return places


def locate(passage: str, tokens: list[str], first: int, last: int) -> tuple[int, int]:
    """Return the offsets of tokens `first` to `last` in a passage."""
    if last - first >= len(tokens):
        return 0, len(passage)
    places = places_of(passage, tokens[: last + 1])
    return places[first] if first < len(places) else 0, places[last] if last < len(places) else len(passage)
