"""Find orders in words without spaces, and in words with spaces between their letters.

Both searches take linear time.
"""

import re
from collections.abc import Container, Iterator
from typing import Final

STRIPPED_ORDER = re.compile(
    rb"(?:ignor(?:e|ing)|disregard|forget|override|bypass|abandon|discard)(?:all|any|the|of|your|my|these|previous|prior|above|"
    rb"earlier|system|safety|preceding|existing|other|every){1,5}(?:instruction|rule|prompt|directive|order|guideline|polic|command)"
    rb"|donottell(?:the)?user|withouttelling(?:the)?user|reveal(?:the|your|full|entire|hidden)*systemprompt|newsysteminstruction"
)
VERBS: Final = (
    *(b"ignor", b"disregard", b"forget", b"override", b"bypass", b"abandon", b"discard"),
    *(b"donottell", b"withouttelling", b"reveal", b"newsysteminstruction"),
)
"""The strings with which matches of `STRIPPED_ORDER` start, and which can be found much faster."""

NON_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
STRIPPED_KEYS = (
    b"instruction",
    b"directive",
    b"systemprompt",
    b"rule",
    b"prompt",
    b"tellthe",
    b"guideline",
    b"polic",
    b"telluser",
)
MIN_RUN_CHARS = 24
STRIDE = 512
MAX_WORD_CHARS = 14
MAX_SPLIT_CHARS = 400
LETTER_HERE = re.compile(r"[^\x00-@\[-`{-\x7f]")


def is_order_without_whitespace(text: str) -> bool:
    """Return whether a text contains an order after removing its gaps."""
    return next(find_stripped_orders(strip_whitespace(text.lower())), None) is not None


def strip_whitespace(text: str) -> bytes:
    """Return only the letters of a text, in UTF-8."""
    return text.encode("utf-8", "surrogatepass").translate(None, NON_LETTERS)


def spans_without_whitespace(text: str) -> list[tuple[int, int]]:
    """Find orders whose letters are separated by other characters; return their offsets in folded text."""
    letters = strip_whitespace(text)
    if not any(key in letters for key in STRIPPED_KEYS):
        return []
    spans: list[tuple[int, int]] = []
    at, passed = 0, 0
    for first, last in find_stripped_orders(letters):
        start = find_letter(text, at, first - passed)
        end = find_letter(text, start, last - 1 - first) + 1
        at, passed = end, last
        gaps = re.findall(r"[^a-z]+", text[start:end])
        odd = [gap for gap in gaps if gap not in (" ", ", ", "\n", ". ")]
        if len(odd) >= 3 or len(gaps) >= 8 or (not gaps and last - first >= MIN_RUN_CHARS):
            spans.append((start, end))
    return spans


def find_stripped_orders(letters: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each order among stripped letters, like `STRIPPED_ORDER.finditer`."""
    begins = sorted(begin for verb in VERBS for begin in occurrences(verb, letters))
    end = 0
    for begin in begins:
        if begin >= end and (found := STRIPPED_ORDER.match(letters, begin)):
            end = found.end()
            yield begin, end


def occurrences(part: bytes, letters: bytes) -> Iterator[int]:
    """Yield the start of every occurrence of a substring."""
    at = letters.find(part)
    while at >= 0:
        yield at
        at = letters.find(part, at + 1)


def find_letter(text: str, at: int, number: int) -> int:
    """Return the position in a text of the byte with this index (from 0) among the stripped letters after `at`."""
    while number >= 0:
        stretch = text[at : at + STRIDE]
        count = len(strip_whitespace(stretch))
        if count > number:
            break
        number -= count
        at += STRIDE
    for found in LETTER_HERE.finditer(text, at):
        number -= len(found.group().encode("utf-8", "surrogatepass"))
        if number < 0:
            return found.start()
    return len(text)


def segment_words(letters: str, words: Container[str]) -> str:
    """Split letters into known words, with as few leftover letters and as few words as possible."""
    run = "".join(letters[:MAX_SPLIT_CHARS].split()).lower()
    costs: list[float] = [0.0]
    begins: list[int] = [0]
    for end in range(1, len(run) + 1):
        cost, begin = costs[end - 1] + 4.0, end - 1
        for start in range(max(0, end - MAX_WORD_CHARS), end):
            if (found := costs[start] + 1.0 + 1.0 / (end - start)) < cost and run[start:end] in words:
                cost, begin = found, start
        costs.append(cost)
        begins.append(begin)
    parts: list[str] = []
    end = len(run)
    while end:
        parts.append(run[begins[end] : end])
        end = begins[end]
    return " ".join(reversed(parts))
