"""Join split payloads: quoted parts, table columns, one letter or word per line."""

from typing import Final

from injection_scanner.obfuscation.obfuscation import Obfuscation
from injection_scanner.obfuscation.whitespace_obfuscation import is_order_without_whitespace
from injection_scanner.tables.lazy_patterns import compiled

QUOTED: Final = r"[\"\u201c'`]([^\"\u201c\u201d'`\n]{2,300}|[^\"\u201c\u201d\n]{2,300})[\"\u201d'`]"
ASSIGNED: Final = (
    r"(?:\b[a-z_$][\w$]{0,20}\s?[:=]\s?|\bremember\s|\bpart\s?\w{0,6}\s?[:=]?\s?|\+\s?|\bfragment\s?\w{0,6}\s?[:=]?\s?)"
    r"[\"\u201c]([^\n\u201d]{2,300}?)[\"\u201d](?=[\s,;.)]|$)"
)
JOINED: Final = (
    r"[cjfmpsatr$}+*](?:(?<=c)(?:oncat|ombin|onsecutive|arry out)"
    r"|(?<=j)oin(?!t)|(?<=f)ollowed by|(?<=m)erg(?:e|ing)\b"
    r"|(?<=p)iece|(?<=s)(?:titch|equence)|(?<=a)(?:ssembl|ppend)|(?<=t)ogether\b|(?<=r)ecombin"
    r"|(?<=\$)\w{2,20}\s?\+?\s?\$\w{2,}|(?<=\})\s?\$?\{|(?<=\+) ?[a-z$]\w{0,20} ?\+"
    r"|(?<=\+) ?'[^'\n]{1,60}' ?\+|(?<=\+) ?\"[^\"\n]{1,60}\" ?\+"
    r"|(?<=\*)[a-z]\w{0,20}, \*[a-z])"
)
"""Matches phrases that ask to join parts, in lower case."""

JOIN_KEYS = (
    *("concat", "combin", "consecutive", "carry out", "join", "followed by", "merg", "piece", "stitch"),
    *("sequence", "assembl", "append", "together", "$", "}", "+", ", *"),
)
"""Strings of which every match of `JOINED` contains at least one."""

TABLE_ROW: Final = r"(?m)^[ \t]*\|([^\n]{3,400})\|[ \t]*$"
INSTRUCTION: Final = (
    r"(?i)\b(?:(?:first|last|initial|capital|final|uppercase) (?:letters?|characters?|initials?|capitals?)"
    r"|capitals spell"
    r"|every (?:other|second|third|2nd|3rd) (?:letter|word|character))\b[^\n.:]{0,60}[.:\n]"
)
INSTRUCTION_KEYS: Final = (
    "letter",
    "capital",
    "very other",
    "very second",
    "very third",
    "character",
    "very 2nd",
    "very 3rd",
)
MIN_ROWS = 7
MIN_LETTERS = 20
MAX_CUT_CHARS = 24
MAX_INSTRUCTION_CHARS = 3000
MARKS_AROUND: Final = "-*#>.,;:!?\"' \t"
MIN_QUOTES = 4


def join_columns(block: str) -> list[Obfuscation]:
    """Read a block's first letters vertically, and the single-word columns of its tables."""
    lines = block.split("\n")
    if len(lines) < MIN_ROWS:
        return []
    found: list[Obfuscation] = []
    found += read_column(lines)
    initials = "".join(line.lstrip("-*#>0123456789. \t\"'")[:1] for line in lines)
    if is_order_without_whitespace(initials):
        found.append(Obfuscation("acrostic", initials))
    rows = [row[1].split("|") for row in compiled(TABLE_ROW).finditer(block)] if "|" in block else []
    if len(rows) > MIN_ROWS:
        for column in zip(*rows, strict=False):
            cells = [cell.strip() for cell in column]
            if not any(" " in cell for cell in cells) and len(set(cells)) * 2 > len(cells):
                found.append(Obfuscation("column", " ".join(cells)))
    return found


def read_column(lines: list[str]) -> list[Obfuscation]:
    """Read lines of one letter or one word each vertically, as prose."""
    cells = [line.strip("-*#>0123456789.) \t\"'`|,") for line in lines]
    cut = {len(line) for line in lines[:-1]}
    if len(cut) == 1 and 1 < max(cut) <= MAX_CUT_CHARS:
        return [Obfuscation("lines cut", "".join(lines))]
    letters = [cell for cell in cells if len(cell) == 1]
    if len(letters) >= MIN_LETTERS and len(letters) * 8 >= len([cell for cell in cells if cell]) * 7:
        return [Obfuscation("letters downwards", "".join(cell[:1] or " " for cell in cells))]
    words = [cell for cell in cells if cell]
    if (
        len(words) >= MIN_ROWS
        and not any(" " in word for word in words)
        and len({*words}) * 3 > len(words) * 2
    ):
        return [Obfuscation("column", " ".join(words))]
    return []


def follow_instructions(block: str) -> list[Obfuscation]:
    """Extract the letters or words that a block says to read: first, last or capital letters, every second or third."""
    if (
        not any(map(block.__contains__, INSTRUCTION_KEYS))
        or (told := compiled(INSTRUCTION).search(block)) is None
    ):
        return []
    said = told.group().casefold()
    rest = block[told.end() :][:MAX_INSTRUCTION_CHARS]
    words, lines = rest.split(), [line.strip(MARKS_AROUND) for line in rest.split("\n")]
    if "every" in said:
        step = 3 if "third" in said or "3rd" in said else 2
        if "word" in said:
            found = [" ".join(words[first::step]) for first in range(step)]
        else:
            found = [rest.strip()[first::step] for first in range(step)]
    elif "capital" in said or "uppercase" in said:
        found = ["".join(filter(str.isupper, rest)).lower()]
    else:
        at = slice(-1, None) if "last" in said or "final" in said else slice(1)
        found = [
            "".join(part[at] for part in parts if part[at].isalpha()).lower() for parts in (words, lines)
        ]
    return [Obfuscation("as told", text) for text in found if len(text) >= MIN_LETTERS]


def asks_to_join(block: str) -> bool:
    """Return whether a lower-case block says that parts belong together."""
    return any(map(block.__contains__, JOIN_KEYS)) and compiled(JOINED).search(block) is not None


def count_quotes(block: str) -> int:
    """Count the characters that may start a quotation."""
    return block.count('"') + block.count("\u201c") + block.count("'") + block.count("`")


def may_hold_payload(block: str) -> bool:
    """Return whether a block is worth searching for split payloads, because it has quotations or enough lines."""
    return (
        block.count("\n") >= MIN_ROWS - 1
        or count_quotes(block) >= MIN_QUOTES
        or any(map(block.__contains__, INSTRUCTION_KEYS))
    )


def join_quoted(block: str) -> list[Obfuscation]:
    """Join strings that a text names individually and asks to combine."""
    if count_quotes(block) < MIN_QUOTES or not asks_to_join(block.casefold()):
        return []
    parts = [found[1] for found in compiled(ASSIGNED).finditer(block)]
    if len(parts) < 2:
        if "+" not in block and not any(mark in block for mark in "\"\u201c'"):
            return []
        parts = [found[1] for found in compiled(QUOTED).finditer(block)]
    if not 2 <= len(parts) <= 60:
        return []
    return [Obfuscation("pieces", " ".join(parts)), Obfuscation("pieces", "".join(parts))]
