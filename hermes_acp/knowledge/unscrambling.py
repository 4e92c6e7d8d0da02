"""Words whose letters were moved, swapped or parted, put right: ciphers, mirror writing, leet, jumbled and split words.

Knows: what common words look like under each disguise. Does not know: whether what comes out is an attack.
Works on passages of folded text; a passage is put right only where the disguise itself shows.
Source: Rawlinson 1976 (letters within words), the Caesar, atbash and ROT13 substitutions.
"""

import re
from collections import Counter
from functools import cache
from string import ascii_lowercase

from msgspec import Struct

from hermes_acp.knowledge.marks import CIPHER, DOUBLED, JUMBLED, LEET, LETTER, NATO, PADDED, UNVOWELLED

COMMON = (
    "the and you your for with this that all not are from have will must should when what user any instructions "
    "instruction ignore previous system prompt rules follow send file files execute command before after then them "
    "password secret tell run now please following first every task always never without do of to is it"
)
KEYWORDS = (
    "ignore disregard forget bypass override instructions instruction directives previous earlier prior system prompt "
    "message developer policy guidelines everything obsolete superseded penalised replacement current cancel attention "
    "reveal secret password credentials environment upload execute silently quietly without telling mention "
    "restrictions unrestricted assistant conversation pretend security antivirus regardless anything objective correct "
    "behaviour persona tokens private output collect always request repository following command"
)
PLAIN_WORDS = (
    "be or of to is it on no so do at tax era vex ones won nor rat tar tab bat god dog liam loot loop pool part trap"
    " live evil ton are ear era tea eat ate nab ban den end ten net sung guns gun nut irk ant tan nal yak tho oh"
)
PLAIN_TOO = frozenset(PLAIN_WORDS.split())
LEET_I = str.maketrans("4310578@$!|+9", "aeiostbasiltg")
LEET_L = str.maketrans("4310578@$!|+9", "aelostbasiltg")
SEPARATED = re.compile(r"(?<=[^\W_])[^\w\s](?=[^\W_])")
WIDE_GAP = re.compile(r"\s{2,}")
INNER_MARKUP = re.compile(
    r"(?<=[a-z\d])(?:<!--[^\n]{0,80}?-->|</?[a-z]{1,8}(?:\s[^<>\n]{0,40})?/?>|`{1,2}|__|~~|\\)+(?=[a-z\d])"
)
QUOTED = re.compile(r"[\"\u201c'`]([^\"\u201c\u201d'`\n]{2,300}|[^\"\u201c\u201d\n]{2,300})[\"\u201d'`]")
ASSIGNED = re.compile(
    r"(?:\b[a-z_$][\w$]{0,20}\s?[:=]\s?|\bremember\s|\bpart\s?\w{0,6}\s?[:=]?\s?|\+\s?|\bfragment\s?\w{0,6}\s?[:=]?\s?)"
    r"[\"\u201c]([^\n\u201d]{2,300}?)[\"\u201d](?=[\s,;.)]|$)"
)
JOINED = re.compile(
    r"[cjfmpsatr$}+](?:(?<=c)(?:oncat|ombin|onsecutive|arry out)"
    r"|(?<=j)oin(?!t)|(?<=f)ollowed by|(?<=m)erg(?:e|ing)\b"
    r"|(?<=p)iece|(?<=s)(?:titch|equence)|(?<=a)(?:ssembl|ppend)|(?<=t)ogether\b|(?<=r)ecombin"
    r"|(?<=\$)\w{2,20}\s?\+?\s?\$\w{2,}|(?<=\})\s?\$?\{|(?<=\+) ?[a-z$]\w{0,20} ?\+)"
)
"""What says to join pieces, in small letters."""

JOIN_KEYS = (
    *("concat", "combin", "consecutive", "carry out", "join", "followed by", "merg", "piece", "stitch"),
    *("sequence", "assembl", "append", "together", "$", "}", "+"),
)
"""One of these is in whatever `JOINED` finds."""

KEYS = "qwertyuiop[]asdfghjkl;'zxcvbnm,./"
NEXT_KEYS = str.maketrans(KEYS[:-1], KEYS[1:])
KEYS_BEFORE = str.maketrans(KEYS[1:], KEYS[:-1])
SPELLING = (
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa "
    "quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
)
SQUEEZED = re.compile(
    rb"(?:ignor(?:e|ing)|disregard|forget|override|bypass|abandon|discard)(?:all|any|the|of|your|my|these|previous|prior|above|"
    rb"earlier|system|safety|preceding|existing|other|every){1,5}(?:instruction|rule|prompt|directive|order|guideline|polic|command)"
    rb"|donottell(?:the)?user|withouttelling(?:the)?user|reveal(?:the|your|full|entire|hidden)*systemprompt|newsysteminstruction"
)
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


TABLE_ROW = re.compile(r"(?m)^[ \t]*\|([^\n]{3,400})\|[ \t]*$")
LEAST_ROWS = 7
LEAST_RUN = 24
LEAST_PADDED = 7
LEAST_PARTED = 40
MUCH_MARKUP = 5
LEAST_PARTING = 7
STRIDE = 512
LETTER_HERE = re.compile(r"[^\x00-@\[-`{-\x7f]")


class Disguise(Struct, frozen=True):
    """How the words of a passage are disguised, and what they say; honest text may look disguised by chance."""

    how: str
    text: str

    @property
    def is_certain(self) -> bool:
        """Whether nothing honest looks so."""
        return self.how not in ("leet", "markup in words", "jumbled", "pieces")

    @property
    def is_prose_parted(self) -> bool:
        """Whether so many letters stand alone, with the vowels of a language among them, that it must be prose."""
        return self.how == "prose parted"


@cache
def cipher_words() -> dict[str, tuple[str, ...]]:
    """Give what common words look like under each cipher, with the ciphers' names."""
    found: dict[str, tuple[str, ...]] = {}
    common = COMMON.split()
    plain = {*common, *KEYWORDS.split(), *PLAIN_TOO}
    for word in common:
        turned = [(f"shift {by}", shift(word, by)) for by in range(1, 26) if len(word) > 1]
        for how, seen in [
            *turned,
            ("mirror", word[::-1]),
            ("atbash", mirror_alphabet(word)),
            ("pig", pig(word)),
            ("pig", f"{word[1:]}{word[0]}ay"),
            ("keys", word.translate(NEXT_KEYS)),
        ]:
            if seen not in plain and (len(word) > 2 or how in ("shift 13", "mirror")):
                found[seen] = (*found.get(seen, ()), how)
    return found


@cache
def jumbled_words() -> dict[tuple[str, str, int], tuple[tuple[str, str], ...]]:
    """Give the long keywords by first letter, last letter and length, each with its letters in order."""
    found: dict[tuple[str, str, int], tuple[tuple[str, str], ...]] = {}
    for word in sorted({*KEYWORDS.split(), *(word for word in COMMON.split() if len(word) > 5)}):
        key = (word[0], word[-1], len(word))
        found[key] = (*found.get(key, ()), ("".join(sorted(word)), word))
    return found


@cache
def unvowelled_words() -> dict[str, str]:
    """Give the keywords by what is left of them without their inner vowels."""
    found: dict[str, str] = {}
    for word in sorted({*KEYWORDS.split(), *COMMON.split()}):
        for vowels in ("aeiou", "aeou"):
            short = word[0] + word[1:].translate(str.maketrans("", "", vowels))
            if len(short) > 3 and short != word:
                found[short] = word
    return found


@cache
def nato_words() -> frozenset[str]:
    """Give the words of the spelling alphabet."""
    return frozenset(SPELLING.split())


def shift(word: str, by: int) -> str:
    """Move each letter forward in the alphabet."""
    return word.translate(str.maketrans(ascii_lowercase, ascii_lowercase[by:] + ascii_lowercase[:by]))


def mirror_alphabet(word: str) -> str:
    """Swap first and last letters of the alphabet (atbash)."""
    return word.translate(str.maketrans(ascii_lowercase, ascii_lowercase[::-1]))


def pig(word: str) -> str:
    """Say a word in pig latin."""
    begin = re.match(r"[^aeiouy]*", word)
    ahead = begin.group() if begin else ""
    return word[len(ahead) :] + ahead + "ay" if ahead else word + "way"


def is_jumbled(token: str) -> bool:
    """Tell whether a word is a keyword with its inner letters moved."""
    if len(token) < 6:
        return False
    known = jumbled_words().get((token[0], token[-1], len(token)), ())
    return any(token != word and "".join(sorted(token)) == letters for letters, word in known)


def padding_of(token: str) -> str:
    """Give the one letter that stands between all others of a word; empty for none."""
    if len(token) < LEAST_PADDED:
        return ""
    for pads, letters in ((token[1::2], token[::2]), (token[::2], token[1::2])):
        if pads == pads[0] * len(pads) and len(set(letters)) > 2:
            return pads[0]
    return ""


def read_padded(passage: str, tokens: list[str]) -> list[Disguise]:
    """Take the letter away that stands between the letters of all words."""
    pads = sorted({pad for token in tokens if (pad := padding_of(token))})
    removed = (re.sub(f"{pad}?([^{pad}\n]){pad}?", r"\1", passage) for pad in map(re.escape, pads[:2]))
    return [Disguise("letters padded", plain) for plain in removed]


def read_ciphers(passage: str, tokens: list[str]) -> list[Disguise]:
    """Undo a letter cipher where at least three common words show it."""
    known = cipher_words()
    hits = known.keys() & tokens
    if len(hits) < 3:
        return []
    votes = Counter(how for hit in hits for how in known[hit])
    how, count = votes.most_common(1)[0]
    if count < 3:
        return []
    if how == "mirror":
        return [
            Disguise(how, passage[::-1]),
            Disguise(how, re.sub(r"\w+", lambda word: word[0][::-1], passage)),
        ]
    if how == "atbash":
        return [Disguise(how, mirror_alphabet(passage))]
    if how == "pig":
        words = (*COMMON.split(), *KEYWORDS.split())
        plain = {said: word for word in words for said in (pig(word), f"{word[1:]}{word[0]}ay")}
        return [Disguise(how, re.sub(r"\w+", lambda word: plain.get(word[0], word[0]), passage))]
    if how == "keys":
        return [Disguise(how, passage.translate(KEYS_BEFORE))]
    return [Disguise(how, shift(passage, 26 - int(how.split()[1])))]


def read_leet(passage: str, tokens: list[str]) -> list[Disguise]:
    """Read figures as letters where they stand inside a good part of the words."""
    odd = sum(1 for token in tokens if not token.isalpha() and not token.isdigit() and token.isalnum())
    if odd < 3 or odd * 5 < len(tokens):
        return []
    return [Disguise("leet", passage.translate(LEET_I)), Disguise("leet", passage.translate(LEET_L))]


def read_parted(unfolded: str, tokens: list[str]) -> list[Disguise]:
    """Join letters that stand alone; `unfolded` is the passage as it was, with its wide gaps."""
    single = sum(1 for token in tokens if len(token) == 1 and token.isalpha() and token.isascii())
    if single < 10 or single * 2 < len(tokens):
        return []
    joined = SEPARATED.sub("", unfolded)
    if joined.count(" ") > len(joined) * 0.3:
        joined = " ".join(word.replace(" ", "") for word in WIDE_GAP.split(joined))
    letters = [letter for letter in joined if letter.isalpha()]
    vowels = sum(letter in "aeiouy" for letter in letters)
    is_prose = single >= LEAST_PARTED and single * 8 >= len(tokens) * 7
    is_prose = is_prose and 0.28 * len(letters) <= vowels <= 0.5 * len(letters)
    return [Disguise("prose parted" if is_prose else "letters parted", joined)]


def read_marked(passage: str) -> list[Disguise]:
    """Take markup out of the middle of words, where several have it."""
    if not any(sign in passage for sign in ("<", "\\", "__", "~~")) and passage.count("`") < LEAST_PARTING:
        return []
    joined, count = INNER_MARKUP.subn("", passage)
    how = "markup through words" if count > MUCH_MARKUP else "markup in words"
    return [Disguise(how, joined)] if count > 1 else []


def read_jumbled(passage: str, tokens: list[str]) -> list[Disguise]:
    """Put keywords right whose inner letters were moved, where two of them are."""
    known = jumbled_words()
    right: dict[str, str] = {}
    for token in {token for token in tokens if len(token) > 5}:
        for letters, word in known.get((token[0], token[-1], len(token)), ()):
            if token != word and "".join(sorted(token)) == letters:
                right[token] = word
    if len(right) < 2:
        return []
    return [Disguise("jumbled", re.sub(r"\w+", lambda word: right.get(word[0], word[0]), passage))]


def read_spelling(tokens: list[str]) -> list[Disguise]:
    """Read the spelling alphabet by its first letters."""
    alphabet = nato_words()
    if len(tokens) < 10 or len(alphabet.intersection(tokens)) < 5:
        return []
    letters = "".join(token[0] for token in tokens if token in alphabet)
    return [Disguise("spelling alphabet", letters)] if len(letters) > 9 else []


def read_doubled(passage: str) -> list[Disguise]:
    """Take one of each two letters where words have all of them twice."""
    return [Disguise("letters doubled", re.sub(r"(.)\1", r"\1", passage))]


def read_unvowelled(passage: str) -> list[Disguise]:
    """Give keywords their vowels back."""
    known = unvowelled_words()
    return [Disguise("vowels left out", re.sub(r"\w+", lambda word: known.get(word[0], word[0]), passage))]


def join_lines(block: str) -> list[Disguise]:
    """Read a block's first letters downwards, and a table's columns of single words."""
    if block.count("\n") < LEAST_ROWS - 1:
        return []
    lines = block.split("\n")
    found: list[Disguise] = []
    initials = "".join(line.lstrip("-*#>0123456789. \t\"'")[:1] for line in lines)
    if is_squeezed_order(initials):
        found.append(Disguise("acrostic", initials))
    rows = [row[1].split("|") for row in TABLE_ROW.finditer(block)]
    if len(rows) > LEAST_ROWS:
        for column in zip(*rows, strict=False):
            cells = [cell.strip() for cell in column]
            if not any(" " in cell for cell in cells) and len(set(cells)) * 2 > len(cells):
                found.append(Disguise("pieces", " ".join(cells)))
    return found


def says_to_join(block: str) -> bool:
    """Tell whether a block, in small letters, says that pieces belong together."""
    return any(map(block.__contains__, JOIN_KEYS)) and JOINED.search(block) is not None


def join_quoted(block: str) -> list[Disguise]:
    """Join strings that a text names one by one and says to put together."""
    if block.count('"') + block.count("\u201c") + block.count("'") + block.count("`") < 4 or not says_to_join(
        block.casefold()
    ):
        return []
    parts = [found[1] for found in ASSIGNED.finditer(block)]
    if len(parts) < 2:
        parts = [found[1] for found in QUOTED.finditer(block)]
    if not 2 <= len(parts) <= 60:
        return []
    return [Disguise("pieces", " ".join(parts)), Disguise("pieces", "".join(parts))]


def undo_disguises(passage: str, unfolded: str, tokens: list[str], marks: list[str]) -> list[Disguise]:
    """Undo every disguise that the marks of a passage's words show."""
    found = read_marked(passage)
    if marks.count(CIPHER) > 2:
        found += read_ciphers(passage, tokens)
    if marks.count(LEET) > 2:
        found += read_leet(passage, tokens)
    if marks.count(JUMBLED) > 1:
        found += read_jumbled(passage, tokens)
    if marks.count(NATO) > 4:
        found += read_spelling(tokens)
    if marks.count(LETTER) > 9:
        found += read_parted(unfolded, tokens)
    if marks.count(PADDED) > 1:
        found += read_padded(passage, tokens)
    if marks.count(DOUBLED) > 2:
        found += read_doubled(passage)
    if marks.count(UNVOWELLED) > 2:
        found += read_unvowelled(passage)
    return found


def is_squeezed_order(text: str) -> bool:
    """Tell whether a text without its gaps holds an order."""
    return SQUEEZED.search(squeeze(text.lower())) is not None


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
    for found in SQUEEZED.finditer(letters):
        first, last = found.span()
        start = find_letter(text, at, first - passed)
        end = find_letter(text, start, last - 1 - first) + 1
        at, passed = end, last
        gaps = re.findall(r"[^a-z]+", text[start:end])
        odd = [gap for gap in gaps if gap not in (" ", ", ", "\n", ". ")]
        if len(odd) >= 3 or len(gaps) >= 8 or (not gaps and last - first >= LEAST_RUN):
            spans.append((start, end))
    return spans


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
