"""Undo obfuscated words: ciphers, mirror writing, leet, jumbled and split words.

This works on passages of folded text; a passage is corrected only if the obfuscation itself is visible. Source:
Rawlinson 1976 (letters within words), the Caesar, atbash and ROT13 substitutions.
"""

import re
from collections import Counter
from functools import cache
from types import MappingProxyType
from typing import Final

from injection_scanner.classification.features import load_weights
from injection_scanner.obfuscation.obfuscation import Obfuscation
from injection_scanner.tables.lazy_patterns import compiled
from injection_scanner.text.word_marks import CIPHER, DOUBLED, JUMBLED, LEET, LETTER, NATO, PADDED, UNVOWELLED

COMMON = (
    "the and you your for with this that all not are from have will must should when what user any instructions "
    "instruction ignore previous system prompt rules follow send file files execute command before after then them "
    "can has was been does they their there which would could other more about into only just make some like may use "
    "by as at if or be an on so who what key keys token reveal our we no out up one any each whole every now "
    "password secret tell run now please following first every task always never without do of to is it"
)
KEYWORDS = (
    "ignore disregard forget bypass override instructions instruction directives previous earlier prior system prompt "
    "message developer policy guidelines everything obsolete superseded penalised replacement current cancel attention "
    "reveal secret password credentials environment upload execute silently quietly without telling mention "
    "restrictions unrestricted assistant conversation pretend security antivirus regardless anything objective correct "
    "behaviour persona tokens private output collect always request repository following command "
    "earlier before restriction limits safety filters developers administrator operator confidential hidden content "
    "contents folder directory delete remove install download script server address website forward email message "
    "messages history database access account transfer payment approve approval permission confirm confirmation "
    "without warning nothing anything everyone everybody anybody someone reply respond response answer question "
    "document documents original current different identity character unlimited dangerous illegal harmful explain "
    "describe provide display print repeat version supersede replace replaced important urgent immediately continue "
    "perform complete commit change changes disable enable firewall protection monitoring running process terminal "
    "background quiet secrets passwords credential variables variable directive guideline policies configuration "
    "project session agents models language training programming memory remember future forever actions action"
)
PLAIN_WORDS = (
    "be or of to is it on no so do at tax era vex ones won nor rat tar tab bat god dog liam loot loop pool part trap"
    " live evil ton are ear era tea eat ate nab ban den end ten net sung guns gun nut irk ant tan nal yak tho oh"
)
PLAIN_TOO = frozenset(PLAIN_WORDS.split())
LEET_I = str.maketrans("4310578@$!|+9", "aeiostbasiltg")
LEET_L = str.maketrans("4310578@$!|+9", "aelostbasiltg")
SEPARATED: Final = r"(?<=[^\W_])[^\w\s]{1,2}(?=[^\W_])"
WIDE_GAP: Final = r"\s{2,}"
FIGURES_AROUND: Final = r"\b\d+(?=[a-z])|(?<=[a-z])\d+\b"
INNER_MARKUP: Final = (
    r"(?<=[a-z\d])(?:<!--[^\n]{0,80}?-->|</?[a-z]{1,8}(?:\s[^<>\n]{0,40})?/?>|`{1,2}|__|~~|\\)+(?=[a-z\d])"
)
SET_IN_TYPE: Final = r"\\[a-z]{2,10}\{([^{}\n]{1,40})\}"
OUTER_MARKUP: Final = r"(?:</?[a-z]{1,8}>)+"
KEYS = "qwertyuiop[]asdfghjkl;'zxcvbnm,./"
NEXT_KEYS = str.maketrans(KEYS[:-1], KEYS[1:])
KEYS_BEFORE = str.maketrans(KEYS[1:], KEYS[:-1])
OTHER_KEYS = str.maketrans("qwertyuiopasdfghjkl;zxcvbnm,./", "',.pyfgcrlaoeuidhtns;qjkxbmwvz")
"""Maps text typed with another keyboard layout (Dvorak)."""

KEYS_BACK = str.maketrans("',.pyfgcrlaoeuidhtns;qjkxbmwvz", "qwertyuiopasdfghjkl;zxcvbnm,./")
BACK: MappingProxyType[str, dict[int, int]] = MappingProxyType(
    {"keys": KEYS_BEFORE, "keys before": NEXT_KEYS, "layout": KEYS_BACK}
)
SPELLING = (
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa "
    "quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
)
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
SHIFTS = tuple(str.maketrans(LETTERS, LETTERS[by:] + LETTERS[:by]) for by in range(len(LETTERS)))
ANY_VOWEL = str.maketrans("aeiou012345", "\0" * 11)
MIRRORED = str.maketrans(LETTERS, LETTERS[::-1])
MIN_PADDED_CHARS = 7
MIN_JUMBLED_CHARS = 6
MIN_JOINED = 5
MIN_SIMILAR = 8
MIN_LONG_CHARS = 28
MAX_LONG_WORDS = 4
RUN_TOGETHER: Final = r"[a-z](?<![a-z/].)[a-z]{0,19}(?:(?:[_+.~=-]|::|%20|\$\{ifs\})[a-z']{1,20}){5,}"
JOINTS: Final = r"[_+.~=-]|::|%20|\$\{ifs\}"
HUMPS: Final = r"[A-Z]?[a-z]{1,20}(?:[A-Z][a-z]{1,20}){5,}"
HUMP: Final = r"(?<=[a-z])(?=[A-Z])"
MIN_SPACED_CHARS = 40
MUCH_MARKUP = 5
MIN_SEPARATORS = 7


@cache
def cipher_words() -> dict[str, tuple[str, ...]]:
    """Map the enciphered forms of common words to the ciphers' names."""
    found: dict[str, tuple[str, ...]] = {}
    common = COMMON.split()
    plain = {*common, *KEYWORDS.split(), *PLAIN_TOO}
    hows = [f"shift {by}" for by in range(1, len(SHIFTS))]
    shifted = [COMMON.translate(letters).split() for letters in SHIFTS[1:]]
    for word, seen_shifted in zip(common, zip(*shifted, strict=True), strict=True):
        turned = zip(hows, seen_shifted, strict=True) if len(word) > 1 else ()
        for how, seen in [
            *turned,
            ("mirror", word[::-1]),
            ("atbash", mirror_alphabet(word)),
            ("pig", pig_latin(word)),
            ("pig", f"{word[1:]}{word[0]}ay"),
            ("keys", word.translate(NEXT_KEYS)),
            ("keys before", word.translate(KEYS_BEFORE)),
            ("layout", word.translate(OTHER_KEYS)),
        ]:
            if seen not in plain and (len(word) > 2 or how in ("shift 13", "mirror")):
                found[seen] = (*found.get(seen, ()), how)
    return found


@cache
def jumbled_words() -> dict[str, str]:
    """Map the sorted letters of each long keyword, whole and with one letter missing, to the keyword."""
    found: dict[str, str] = {}
    for word in sorted({*KEYWORDS.split(), *(word for word in COMMON.split() if len(word) > 5)}):
        if len(word) >= MIN_JUMBLED_CHARS:
            found.setdefault(letters_of(word), word)
            for short in shortened(word):
                found.setdefault(short, word)
    return found


def letters_of(word: str) -> str:
    """Return a word's sorted letters, preceded by a character that no word contains."""
    return "\0" + "".join(sorted(word))


def shortened(word: str) -> list[str]:
    """Return all forms of a word with one inner letter removed."""
    return [word[:at] + word[at + 1 :] for at in range(1, len(word) - 1)]


def keyword_of(token: str) -> str:
    """Return the keyword that a word misspells by moved, missing, extra or wrong letters, or an empty string."""
    if len(token) < MIN_JUMBLED_CHARS - 1 or not token.isalpha() or token in known_words():
        return ""
    known, whole = jumbled_words(), whole_words()
    if found := known.get(token) or known.get(letters_of(token)):
        return found
    if token[0] + token[-1] not in word_ends():
        return ""
    return next((word for each in shortened(token) if (word := known.get(each) or whole.get(each))), "")


@cache
def word_ends() -> frozenset[str]:
    """Return the first and last letters of the long keywords."""
    return frozenset(word[0] + word[-1] for word in whole_words())


@cache
def whole_words() -> dict[str, str]:
    """Map each long keyword to itself."""
    return {word: word for word in jumbled_words().values()}


@cache
def known_words() -> frozenset[str]:
    """Return the correctly spelt words: the keywords and all words that the classifier knows."""
    return frozenset((*KEYWORDS.split(), *COMMON.split(), *load_weights().features))


@cache
def unvowelled_words() -> dict[str, str]:
    """Map keywords without inner vowels, or with each vowel as one symbol, to the keywords."""
    found: dict[str, str] = {}
    for word in sorted({*KEYWORDS.split(), *COMMON.split()}):
        if len(word) >= MIN_JUMBLED_CHARS:
            found.setdefault(word.translate(ANY_VOWEL), word)
    for word in sorted({*KEYWORDS.split(), *COMMON.split()}):
        for vowels in ("aeiou", "aeou"):
            rest = word[1:].translate(str.maketrans("", "", vowels))
            for short in (word[0] + rest, rest if word[0] in vowels else ""):
                if len(short) > 3 and short != word:
                    found.setdefault(short, word)
    return found


def revowelled(token: str) -> str:
    """Return the keyword whose vowels a word omits, swaps or replaces with digits, or an empty string."""
    known = unvowelled_words()
    if token in known:
        return known[token]
    return (
        ""
        if len(token) < MIN_JUMBLED_CHARS or token in known_words()
        else known.get(token.translate(ANY_VOWEL), "")
    )


@cache
def nato_words() -> frozenset[str]:
    """Return the words of the spelling alphabet."""
    return frozenset(SPELLING.split())


def shift(word: str, by: int) -> str:
    """Move each letter forward in the alphabet."""
    return word.translate(SHIFTS[by % 26])


def mirror_alphabet(word: str) -> str:
    """Reverse the alphabet (atbash)."""
    return word.translate(MIRRORED)


def pig_latin(word: str) -> str:
    """Convert a word to pig latin."""
    begin = re.match(r"[^aeiouy]*", word)
    ahead = begin.group() if begin else ""
    return word[len(ahead) :] + ahead + "ay" if ahead else word + "way"


def undo_pig_latin(word: str) -> str:
    """Undo pig latin for a word with one letter moved to its end."""
    if word.endswith("way"):
        return word[:-3]
    return word[-3] + word[:-3] if word.endswith("ay") and len(word) > 3 else word


def is_jumbled(token: str) -> bool:
    """Return whether a word misspells a keyword by moved, missing, extra or wrong letters."""
    return keyword_of(token) != ""


def padding_of(token: str) -> str:
    """Return the letter that is inserted between all other letters of a word, or an empty string."""
    if len(token) < MIN_PADDED_CHARS:
        return ""
    for pads, letters in ((token[1::2], token[::2]), (token[::2], token[1::2])):
        if pads == pads[0] * len(pads) and len(set(letters)) > 2:
            return pads[0]
    return ""


def strip_padding(passage: str, tokens: list[str]) -> list[Obfuscation]:
    """Remove the letter that is inserted between the letters of all words."""
    pads = sorted({pad for token in tokens if (pad := padding_of(token))})
    removed = (re.sub(f"{pad}?([^{pad}\n]){pad}?", r"\1", passage) for pad in map(re.escape, pads[:2]))
    return [Obfuscation("letters padded", plain) for plain in removed]


def undo_ciphers(passage: str, tokens: list[str]) -> list[Obfuscation]:
    """Undo a letter cipher if at least three common words reveal it."""
    known = cipher_words()
    hits = known.keys() & tokens
    if len(hits) < 3:
        return []
    votes = Counter(how for hit in hits for how in known[hit])
    how, count = votes.most_common(1)[0]
    if count < 3:
        return []
    if how == "mirror":
        mirrored = {word for word in hits if how in known[word]}
        each_word = re.sub(r"\w+", lambda word: word[0][::-1], passage)
        known_words = re.sub(r"\w+", lambda word: word[0][:: -1 if word[0] in mirrored else 1], passage)
        return [Obfuscation(how, text) for text in (passage[::-1], each_word, known_words)]
    if how == "atbash":
        return [Obfuscation(how, mirror_alphabet(passage))]
    if how == "pig":
        words = (*COMMON.split(), *KEYWORDS.split())
        plain = {said: word for word in words for said in (pig_latin(word), f"{word[1:]}{word[0]}ay")}
        said = re.sub(r"\w+", lambda word: plain.get(word[0]) or undo_pig_latin(word[0]), passage)
        return [Obfuscation(how, said)]
    if how in BACK:
        return [Obfuscation(how, passage.translate(BACK[how]))]
    return [Obfuscation(how, shift(passage, 26 - int(how.split()[1])))]


def undo_leet(passage: str, tokens: list[str]) -> list[Obfuscation]:
    """Replace digits with letters if they occur inside a large share of the words."""
    odd = sum(1 for token in tokens if not token.isalpha() and not token.isdigit() and token.isalnum())
    if odd < 3 or odd * 5 < len(tokens):
        return []
    bare = compiled(FIGURES_AROUND).sub("", passage)
    return [
        *(Obfuscation("leet", passage.translate(letters)) for letters in (LEET_I, LEET_L)),
        Obfuscation("figures around words", bare),
    ]


def read_spaced_letters(unfolded: str, tokens: list[str]) -> list[Obfuscation]:
    """Join single letters; `unfolded` is the original passage with its wide gaps."""
    single = sum(1 for token in tokens if len(token) == 1 and token.isalpha() and token.isascii())
    if single < 10 or single * 2 < sum(map(str.isalnum, tokens)):
        return []
    joined = compiled(SEPARATED).sub("", unfolded)
    if joined.count(" ") > len(joined) * 0.3:
        joined = " ".join(word.replace(" ", "") for word in compiled(WIDE_GAP).split(joined))
    letters = [letter for letter in joined if letter.isalpha()]
    vowels = sum(letter in "aeiouy" for letter in letters)
    is_prose = single >= MIN_SPACED_CHARS and single * 8 >= len(tokens) * 7
    is_prose = is_prose and 0.28 * len(letters) <= vowels <= 0.5 * len(letters)
    return [Obfuscation("prose parted" if is_prose else "letters parted", joined)]


def read_inner_markup(passage: str) -> list[Obfuscation]:
    """Remove markup from the middle of words if several words have it."""
    if not any(sign in passage for sign in ("<", "\\", "__", "~~")) and passage.count("`") < MIN_SEPARATORS:
        return []
    passage, typeset = compiled(SET_IN_TYPE).subn(r"\1", passage) if "\\" in passage else (passage, 0)
    joined, count = compiled(INNER_MARKUP).subn("", passage)
    stripped, around = compiled(OUTER_MARKUP).subn(" ", joined)
    joined = stripped if max(count + typeset, around // 2) > MUCH_MARKUP else joined
    how = "markup through words" if count + typeset > MUCH_MARKUP else "markup in words"
    return [Obfuscation(how, joined)] if max(count + typeset, around // 2 - MUCH_MARKUP) > 1 else []


def unjumble(passage: str, tokens: list[str]) -> list[Obfuscation]:
    """Correct misspelt keywords if there are at least two."""
    right = {token: keyword_of(token) for token in set(tokens) if is_jumbled(token)}
    if len(right) < 2:
        return []
    return [Obfuscation("jumbled", re.sub(r"\w+", lambda word: right.get(word[0], word[0]), passage))]


def read_spelling(tokens: list[str]) -> list[Obfuscation]:
    """Decode the spelling alphabet by its initials."""
    alphabet = nato_words()
    if len(tokens) < 10 or len(alphabet.intersection(tokens)) < 5:
        return []
    letters = "".join(token[0] for token in tokens if token in alphabet)
    return [Obfuscation("spelling alphabet", letters)] if len(letters) > 9 else []


def read_doubled(passage: str) -> list[Obfuscation]:
    """Remove one of each pair of letters in words whose letters are all doubled."""
    return [Obfuscation("letters doubled", re.sub(r"(.)\1", r"\1", passage))]


def read_unvowelled(passage: str) -> list[Obfuscation]:
    """Restore the vowels of keywords."""
    plain = re.sub(r"\w+", lambda word: revowelled(word[0]) or word[0], passage)
    return [Obfuscation("vowels left out", plain)]


def may_run_together(passage: str, tokens: list[str]) -> bool:
    """Return whether a passage has far fewer blanks than words, or a word too long to be a single word."""
    return (
        passage.count(" ") * 2 < len(tokens) > MIN_JOINED
        or are_alike(tokens)
        or any(len(token) >= MIN_LONG_CHARS and token.isalpha() and token.isascii() for token in tokens)
    )


def are_alike(tokens: list[str]) -> bool:
    """Return whether all words but the last have equal length, which never happens in prose."""
    size = len(tokens[0])
    return (
        len(tokens) > MIN_SIMILAR
        and 1 < size == len(tokens[1]) == len(tokens[2])
        and all(len(token) == size and token.isalpha() and token.isascii() for token in tokens[:-1])
    )


def read_run_together(passage: str, unfolded: str, tokens: list[str]) -> list[Obfuscation]:
    """Split words joined by a character, by capitals or by nothing; the last case requires a word list."""
    if not may_run_together(passage, tokens):
        return []
    found = [Obfuscation("words joined", "".join(tokens))] if are_alike(tokens) else []
    if compiled(RUN_TOGETHER).search(passage):
        joined = compiled(RUN_TOGETHER).sub(lambda run: compiled(JOINTS).sub(" ", run[0]), passage)
        found.append(Obfuscation("words joined", joined))
    found += [
        Obfuscation("words joined", compiled(HUMP).sub(" ", run[0]).lower())
        for run in compiled(HUMPS).finditer(unfolded)
    ]
    found += [
        Obfuscation("words joined", token)
        for token in tokens
        if len(token) >= MIN_LONG_CHARS and token.isalpha() and token.isascii()
    ][:MAX_LONG_WORDS]
    return found[:MAX_LONG_WORDS]


def deobfuscate(passage: str, unfolded: str, tokens: list[str], marks: list[str]) -> list[Obfuscation]:
    """Undo every obfuscation that the marks of a passage's words indicate."""
    found = [*read_inner_markup(passage), *read_run_together(passage, unfolded, tokens)]
    if marks.count(CIPHER) > 2:
        found += undo_ciphers(passage, tokens)
    if marks.count(LEET) > 2:
        found += undo_leet(passage, tokens)
    if marks.count(JUMBLED) > 1:
        found += unjumble(passage, tokens)
    if marks.count(NATO) > 4:
        found += read_spelling(tokens)
    if marks.count(LETTER) > 9:
        found += read_spaced_letters(unfolded, tokens)
    if marks.count(PADDED) > 1:
        found += strip_padding(passage, tokens)
    if marks.count(DOUBLED) > 2:
        found += read_doubled(passage)
    if marks.count(UNVOWELLED) > 2:
        found += read_unvowelled(passage)
    return found
