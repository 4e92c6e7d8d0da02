"""Sentences put together from the slots of scanner_compositions.toml, and those of the halves that may be looked at."""

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.scanner_fresh import FIFTH, FOURTH, Keyed, is_looked_at, load, part_of, third_attacks, third_honest
from bench.scanner_learning import LONG, WORDED, Sample, stretches
from hermes_acp.knowledge.folding import fold
from hermes_acp.knowledge.tokens import tokenize

TEXTS = Path(__file__).with_name("scanner_compositions.toml")
SLOT = re.compile(r"\{(\w+)\}")
FILLINGS = 60
ATTACK_WEIGHT, HONEST_WEIGHT = 0.4, 1.0
LOOKED_AT_WEIGHT, LOOKED_AT_HONEST_WEIGHT = 2.0, 5.0
MAX_LENGTH = 700


def composed(seed: int = 17) -> Iterator[Sample]:
    """Fill each template several times; a slot in small letters keeps its words as they are."""
    texts: dict[str, Any] = tomllib.loads(TEXTS.read_text("utf-8"))
    slots: dict[str, list[str]] = texts["slots"]
    dice = random.Random(seed)

    def chosen(found: re.Match[str]) -> str:
        name = found[1]
        text = dice.choice(slots[name.upper()])
        begins = found.start() == 0 or found.string[found.start() - 2] in ".:;?"
        return text[:1].upper() + text[1:] if begins and not name.islower() else text

    for part, weight in (("attacks", ATTACK_WEIGHT), ("honest", HONEST_WEIGHT)):
        for family, templates in texts[part].items():
            for template in templates:
                for _ in range(FILLINGS):
                    text = SLOT.sub(chosen, SLOT.sub(chosen, template))
                    folded = fold(text).text
                    tokens = tuple(tokenize(folded))[:LONG]
                    yield Sample(tokens, part == "attacks", f"composed:{family}", text, weight, folded)


def looked_at() -> Iterator[Sample]:
    """Yield the plain attacks and the honest texts of the halves that may be read while working."""
    attacks, _, honest = load("look")
    rows: list[tuple[str, str, bool]] = [(kind, text, True) for kind in attacks for text in attacks[kind]]
    rows += [(kind, text, False) for kind in honest for text in honest[kind]]
    sets: tuple[tuple[Iterator[Keyed], bool], ...] = (
        (third_attacks(), True),
        (third_honest(), False),
        (part_of(FOURTH, "attacks"), True),
        (part_of(FOURTH, "honest"), False),
        (part_of(FIFTH, "attacks"), True),
        (part_of(FIFTH, "honest"), False),
    )
    for keyed, is_attack in sets:
        rows += [(kind, text, is_attack) for key, kind, text in keyed if key == text and is_looked_at(key)]
    for kind, text, is_attack in rows:
        if (is_attack and kind not in WORDED) or len(text) > MAX_LENGTH:
            continue
        weight = LOOKED_AT_WEIGHT if is_attack else LOOKED_AT_HONEST_WEIGHT
        for tokens, passage in stretches(text):
            yield Sample(tokens, is_attack, f"looked:{kind}", text, weight, passage)
