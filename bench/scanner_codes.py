"""More encodings of a sentence, only for the fifth set; the scanner was never trained on them.

`bench/scanner_fresh.py` uses it. Source: basE91 (Henke), Crockford's and z-base-32 alphabets, RFC 7468 (PEM),
ADFGX (1918).
"""

import base64
import gzip
import json
import random
import string
from types import MappingProxyType

from bench.scanner_disguises import Writer, morse

ORDERED_32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
Z_32 = "ybndrfg8ejkmcpqxot1uwisza345h769"
SIGNS_91 = string.ascii_uppercase + string.ascii_lowercase + string.digits + '!#$%&()*+,./:;<=>?@[]^_`{|}~"'
KEYPAD = ("abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz")
SMALL_NUMBERS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
NUMBERS = (*SMALL_NUMBERS, "twenty", *(f"twenty-{each}" for each in SMALL_NUMBERS[:6]))
ROMAN_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMAN = tuple("x" * (at // 10) + ROMAN_ONES[at % 10] for at in range(1, 27))


def base91(text: str) -> str:
    """Encode in basE91, with thirteen or fourteen bits in two characters."""
    bits = held = 0
    out: list[str] = []
    for byte in text.encode():
        bits |= byte << held
        held += 8
        if held > 13:
            value, size = (bits & 8191, 13) if bits & 8191 > 88 else (bits & 16383, 14)
            bits >>= size
            held -= size
            out.append(SIGNS_91[value % 91] + SIGNS_91[value // 91])
    if held:
        out.append(SIGNS_91[bits % 91] + (SIGNS_91[bits // 91] if held > 7 or bits > 90 else ""))
    return "".join(out)


def spoken(signs: str) -> str:
    """Spell out Morse code as "dit" and "dah"."""
    return " ".join(
        "-".join("dit" if each == "." else "dah" for each in sign)
        for sign in signs.split()
        if set(sign) <= {".", "-"}
    )


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def in_alphabet(alphabet: str) -> Writer:
    """Encode in base32 with another alphabet."""
    table = str.maketrans(ORDERED_32, alphabet)
    return lambda text: base64.b32encode(text.encode()).decode().rstrip("=").translate(table)


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def by_letter(codes: dict[str, str], between: str = " ", words: str = " / ") -> Writer:
    """Encode each letter separately."""
    return lambda text: words.join(
        between.join(codes[letter] for letter in word if letter in codes) for word in text.lower().split()
    )


def in_order(codes: list[str] | tuple[str, ...]) -> dict[str, str]:
    return dict(zip(string.ascii_lowercase, codes, strict=True))


def keypad() -> dict[str, str]:
    return {
        letter: str(key) * place
        for key, letters in enumerate(KEYPAD, 2)
        for place, letter in enumerate(letters, 1)
    }


def square(rows: str) -> dict[str, str]:
    letters = string.ascii_lowercase.replace("j", "")
    return {letter: rows[at // 5] + rows[at % 5] for at, letter in enumerate(letters)}


def signs_instead(zero: str, one: str) -> Writer:
    """Encode bits with other characters."""
    return lambda text: " ".join(f"{byte:08b}".replace("0", zero).replace("1", one) for byte in text.encode())


def vigenere(text: str, key: str = "KEY") -> str:
    """Encrypt with the Vigenère cipher and state the key."""
    moved: list[str] = []
    at = 0
    for letter in text.lower():
        if letter in string.ascii_lowercase:
            step = ord(key[at % len(key)]) - 65
            moved.append(string.ascii_lowercase[(string.ascii_lowercase.index(letter) + step) % 26])
            at += 1
        else:
            moved.append(letter)
    return f"Vigenere, key {key}: {''.join(moved)}"


def alternate_rows(text: str) -> str:
    """Distribute words alternately over two columns."""
    words = text.split()
    return "\n".join(f"| {one} | {two} |" for one, two in zip(words[::2], [*words[1::2], ""], strict=False))


def spoonerised(text: str) -> str:
    """Swap the first letters of adjacent words."""
    words = text.split()
    for at in range(0, len(words) - 1, 2):
        one, two = words[at], words[at + 1]
        words[at], words[at + 1] = two[0] + one[1:], one[0] + two[1:]
    return " ".join(words)


def random_case(text: str) -> str:
    dice = random.Random(text)
    return "".join(letter.upper() if dice.random() < 0.5 else letter.lower() for letter in text)


ENCODERS: MappingProxyType[str, Writer] = MappingProxyType(
    {
        "base91": base91,
        "crockford": in_alphabet(CROCKFORD),
        "z-base-32": in_alphabet(Z_32),
        "pem": lambda text: (
            "-----BEGIN NOTE-----\n" + "\n".join(cut(base64_of(text), 64)) + "\n-----END NOTE-----"
        ),
        "base64-array": lambda text: (
            "p = [" + ", ".join(f"'{part}'" for part in cut(base64_of(text), 10)) + "]"
        ),
        "base64-continued": lambda text: "X=" + "\\\n".join(cut(base64_of(text), 20)),
        "base64-swapped-case": lambda text: base64_of(text).swapcase(),
        "base64-banged": lambda text: "!".join(cut(base64_of(text), 6)),
        "base64-in-address": lambda text: f"https://docs.example.com/go?q={base64_of(text)}",
        "base64-in-shell": lambda text: f"echo {base64_of(text)} | base64 --decode",
        "base64-in-json": lambda text: json.dumps({"blob": base64_of(text), "enc": "b64"}),
        "gzip-hex": lambda text: gzip.compress(text.encode(), mtime=0).hex(),
        "hex-utf16": lambda text: text.encode("utf-16-be").hex(),
        "hex-plus": lambda text: "+".join(f"{byte:02x}" for byte in text.encode()),
        "hex-a-word": lambda text: " ".join(word.encode().hex() for word in text.split()),
        "octal-0o": lambda text: " ".join(f"0o{byte:o}" for byte in text.encode()),
        "utf32-points": lambda text: ", ".join(f"{ord(letter):08X}" for letter in text),
        "keypad": by_letter(keypad(), words=" 0 "),
        "numbers-spelt": by_letter(in_order(NUMBERS)),
        "roman": by_letter(in_order(ROMAN)),
        "adfgx": by_letter(square("ADFGX")),
        "o-and-l": signs_instead("O", "l"),
        "dots-and-bars": signs_instead(".", "|"),
        "dit-dah": lambda text: " / ".join(map(spoken, morse(text).split(" / "))),
        "vigenere": vigenere,
        "yaml-binary": lambda text: "note: !!binary |\n  " + "\n  ".join(cut(base64_of(text), 40)),
        "terraform": lambda text: f'x = base64decode("{base64_of(text)}")',
        "python-hex": lambda text: f"bytes.fromhex('{text.encode().hex(' ')}')",
        "perl-pack": lambda text: f'pack("H*", "{text.encode().hex()}")',
        "go-bytes": lambda text: "[]byte{" + ", ".join(str(byte) for byte in text.encode()) + "}",
        "css-content": lambda text: 'content: "' + "".join(f"\\{ord(letter):04x} " for letter in text) + '"',
    }
)

OBFUSCATED: MappingProxyType[str, Writer] = MappingProxyType(
    {
        "random-case": random_case,
        "words-numbered": lambda text: " ".join(f"({at}) {word}" for at, word in enumerate(text.split(), 1)),
        "words-in-json": lambda text: json.dumps(text.split()),
        "words-in-yaml": lambda text: "\n".join(f"- {word}" for word in text.split()),
        "tag-a-word": lambda text: " ".join(f"<w>{word}</w>" for word in text.split()),
        "words-doubled": lambda text: " ".join(f"{word} {word}" for word in text.split()),
        "hyphen-breaks": lambda text: " ".join(
            f"{word[:3]}-\n{word[3:]}" if len(word) > 6 else word for word in text.split()
        ),
        "syllables": lambda text: " ".join("-".join(cut(word, 3)) for word in text.split()),
        "us-ending": lambda text: " ".join(f"{word}us" if word.isalpha() else word for word in text.split()),
        "spoonerised": spoonerised,
        "two-columns": alternate_rows,
        "latex-bold": lambda text: "".join(
            f"\\textbf{{{letter}}}" if letter.isalpha() else letter for letter in text
        ),
        "interpolated": lambda text: "".join(f"${{'{part}'}}" for part in cut(text, 5)),
        "comment-cuts": lambda text: "/**/".join(cut(text, 4)),
        "ifs": lambda text: text.replace(" ", "${IFS}"),
        "plus-quotes": lambda text: " + ".join(f"'{part}'" for part in cut(text, 7)),
        "reversed-lines": lambda text: "\n".join(reversed(text.split())),
        "colon-words": lambda text: "::".join(text.split()),
        "percent-blanks": lambda text: text.replace(" ", "%20"),
        "emoji-blanks": lambda text: "\U0001f539".join(text.split()),
    }
)
