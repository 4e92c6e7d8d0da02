"""Words without their gaps: orders found among squeezed letters, and letters parted into words again.

Knows: what an order looks like squeezed, how words are told apart by a list of them. Does not know: which list.
Both cost time linear in the text.
"""

import re
from collections.abc import Container, Iterator
from typing import Final

SQUEEZED = re.compile(
    rb"(?:ignor(?:e|ing)|disregard|forget|override|bypass|abandon|discard)(?:all|any|the|of|your|my|these|previous|prior|above|"
    rb"earlier|system|safety|preceding|existing|other|every){1,5}(?:instruction|rule|prompt|directive|order|guideline|polic|command)"
    rb"|donottell(?:the)?user|withouttelling(?:the)?user|reveal(?:the|your|full|entire|hidden)*systemprompt|newsysteminstruction"
)
VERBS: Final = (
    *(b"ignor", b"disregard", b"forget", b"override", b"bypass", b"abandon", b"discard"),
    *(b"donottell", b"withouttelling", b"reveal", b"newsysteminstruction"),
)
"""Whatever `SQUEEZED` finds begins with one of these; they are found far faster."""

UNLETTERED = bytes(code for code in range(128) if not chr(code).isalpha())
SQUEEZE_KEYS = (
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
LEAST_RUN = 24
STRIDE = 512
LONGEST_WORD = 14
LONGEST_PARTED = 400
LETTER_HERE = re.compile(r"[^\x00-@\[-`{-\x7f]")


def is_squeezed_order(text: str) -> bool:
    """Tell whether a text without its gaps holds an order."""
    return next(find_orders(squeeze(text.lower())), None) is not None


def squeeze(text: str) -> bytes:
    """Give the letters of a text alone, in UTF-8."""
    return text.encode("utf-8", "surrogatepass").translate(None, UNLETTERED)


def squeezed_spans(text: str) -> list[tuple[int, int]]:
    """Find orders whose letters are all there, with odd things between them; gives offsets in folded text."""
    letters = squeeze(text)
    if not any(key in letters for key in SQUEEZE_KEYS):
        return []
    spans: list[tuple[int, int]] = []
    at, passed = 0, 0
    for first, last in find_orders(letters):
        start = find_letter(text, at, first - passed)
        end = find_letter(text, start, last - 1 - first) + 1
        at, passed = end, last
        gaps = re.findall(r"[^a-z]+", text[start:end])
        odd = [gap for gap in gaps if gap not in (" ", ", ", "\n", ". ")]
        if len(odd) >= 3 or len(gaps) >= 8 or (not gaps and last - first >= LEAST_RUN):
            spans.append((start, end))
    return spans


def find_orders(letters: bytes) -> Iterator[tuple[int, int]]:
    """Give begin and end of each order among squeezed letters, as `SQUEEZED.finditer` does."""
    begins = sorted(begin for verb in VERBS for begin in places_of(verb, letters))
    end = 0
    for begin in begins:
        if begin >= end and (found := SQUEEZED.match(letters, begin)):
            end = found.end()
            yield begin, end


def places_of(part: bytes, letters: bytes) -> Iterator[int]:
    """Give where a part begins, wherever it does."""
    at = letters.find(part)
    while at >= 0:
        yield at
        at = letters.find(part, at + 1)


def find_letter(text: str, at: int, number: int) -> int:
    """Give where the byte of that number (from 0) among the squeezed letters from a place on stands in a text."""
    while number >= 0:
        stretch = text[at : at + STRIDE]
        count = len(squeeze(stretch))
        if count > number:
            break
        number -= count
        at += STRIDE
    for found in LETTER_HERE.finditer(text, at):
        number -= len(found.group().encode("utf-8", "surrogatepass"))
        if number < 0:
            return found.start()
    return len(text)


def part_words(letters: str, words: Container[str]) -> str:
    """Part letters into words of a list, with as few letters left over and as few words as can be."""
    run = "".join(letters[:LONGEST_PARTED].split()).lower()
    costs: list[float] = [0.0]
    begins: list[int] = [0]
    for end in range(1, len(run) + 1):
        cost, begin = costs[end - 1] + 4.0, end - 1
        for start in range(max(0, end - LONGEST_WORD), end):
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
