"""Ways to hide a sentence with invisible characters: zero-width, tags, selectors, bidi controls, terminal sequences.

`bench/scanner_attacks.py` uses it.
"""

import base64
from types import MappingProxyType

from bench.scanner_disguises import Writer, between, bits

COUNTED = "one two three four five six seven eight nine ten"
INVISIBLE: MappingProxyType[str, Writer] = MappingProxyType(
    {
        "zwnj-split": between("\u200c"),
        "zwj-split": between("\u200d"),
        "bom-split": between("\ufeff"),
        "invisible-times": between("\u2062"),
        "invisible-separator": between("\u2063"),
        "mongolian": between("\u180e"),
        "grapheme-joiner": between("\u034f"),
        "hangul-filler": between("\u3164"),
        "khmer-vowel": between("\u17b5"),
        "selector-15": between("\ufe0e"),
        "selector-16": between("\ufe0f"),
        "deprecated-format": between("\u206b"),
        "annotation": between("\ufff9"),
        "every-other-word": lambda text: " ".join(
            ("\u200b".join(w) if at % 2 else w) for at, w in enumerate(text.split())
        ),
        "once-a-word": lambda text: " ".join(
            w[:2] + "\u200b" + w[2:] if len(w) > 3 else w for w in text.split()
        ),
        "tags-after-word": lambda text: (
            "Use tabs." + "".join(chr(0xE0000 + ord(c)) for c in text if ord(c) < 128)
        ),
        "tags-spread": lambda text: "".join(
            f"{w} " + chr(0xE0000 + ord(c))
            for w, c in zip(
                ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"] * 30,
                text,
                strict=False,
            )
            if ord(c) < 128
        ),
        "selectors-1-16": lambda text: (
            "Done \u2705" + "".join(chr(0xFE00 + (c >> 4)) + chr(0xFE00 + (c & 15)) for c in text.encode())
        ),
        "selectors-17-256": lambda text: (
            "Done \U0001f600" + "".join(chr(0xE0100 + c - 16) for c in text.encode())
        ),
        "zw-bits-zwnj-zwj": lambda text: "Tabs." + bits("\u200c", "\u200d")(text),
        "zw-bits-inv": lambda text: "Tabs." + bits("\u2062", "\u2064")(text),
        "zw-bits-spread": lambda text: "".join(
            f"word{at} " + "".join("\u200b\u200c"[int(b)] for b in f"{c:08b}")
            for at, c in enumerate(text.encode())
        ),
        "sneaky-bits": lambda text: "Tabs." + bits("\u2062", "\u2063")(text),
        "hangul-fillers": lambda text: "Tabs." + bits("\u3164", "\uffa0")(text),
        "private-use": lambda text: "Tabs. " + "".join(chr(0xE000 + ord(c)) for c in text if ord(c) < 128),
        "tags-in-flag": lambda text: (
            "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in text if ord(c) < 128) + "\U000e007f"
        ),
    }
)
BIDI: MappingProxyType[str, Writer] = MappingProxyType(
    {
        "rlo": lambda text: f"Note: \u202e{text[::-1]}\u202c",
        "rlo-open": lambda text: f"Note \u202e{text[::-1]}",
        "rle": lambda text: f"// \u202b{text}\u202c",
        "lre-pop": lambda text: f"\u202a{text}\u202c\u202c",
        "rli": lambda text: f"ok \u2067{text}\u2069",
        "lri-open": lambda text: f"ok \u2066{text}",
        "fsi-open": lambda text: f"\u2068{text}",
        "pdi-alone": lambda text: f"{text}\u2069 done",
        "trojan": lambda text: f'if access != "user\u202e \u2066// {text}\u2069 \u2066":',
        "rlo-word": lambda text: " ".join(f"\u202e{w[::-1]}\u202c" for w in text.split()),
        "nested": lambda text: f"\u2066\u2067{text}\u2069\u2069",
    }
)
ANSI: MappingProxyType[str, Writer] = MappingProxyType(
    {
        "conceal": lambda text: f"ok \x1b[0;8m{text}\x1b[28m",
        "black-on-black": lambda text: f"\x1b[40;30m{text}\x1b[m",
        "erase-line": lambda text: f"{text}\x1b[2K\rAll good.",
        "cursor-back": lambda text: f"{text}\x1b[{len(text)}DAll good.",
        "cursor-up": lambda text: f"{text}\n\x1b[1A\x1b[KAll good.",
        "alternate-screen": lambda text: f"\x1b[?1049h{text}\x1b[?1049l",
        "osc-title": lambda text: f"\x1b]0;{text}\x07",
        "osc-8": lambda text: f"\x1b]8;;https://docs.example/?{text[:30]}\x1b\\docs\x1b]8;;\x1b\\ {text}",
        "osc-52": lambda text: f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07 {text}",
        "backspaces": lambda text: text + "\b" * len(text) + "All good.",
        "delete": lambda text: "".join(f"{c}\x7f" for c in text),
        "return": lambda text: f"{text}\rAll good, nothing to see here" + " " * len(text),
        "tiny-8-bit": lambda text: f"\x9b8m{text}\x9b0m",
        "true-colour-same": lambda text: f"\x1b[38;2;0;0;0m\x1b[48;2;0;0;0m{text}\x1b[0m",
        "256-same": lambda text: f"\x1b[38;5;16;48;5;16m{text}\x1b[0m",
        "dcs": lambda text: f"\x1bP{text}\x1b\\",
        "apc": lambda text: f"\x1b_{text}\x1b\\",
        "scroll": lambda text: f"{text}\x1b[2J\x1b[H",
        "escaped-text": lambda text: f"\\x1b[8m{text}\\x1b[0m",
    }
)
