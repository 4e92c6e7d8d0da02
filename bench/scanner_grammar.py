"""Generate sentences from scanner_grammar.toml, deterministically: python -m bench.scanner_grammar [FAMILY].

`bench/scanner_learning.py` trains on them.
"""

import argparse
import random
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

GRAMMAR = Path(__file__).with_name("scanner_grammar.toml")
SLOT = re.compile(r"\{([A-Za-z]\w*)\}")
CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
LONGEST = 700
MADE: Mapping[str, int] = MappingProxyType(
    {
        "exfil": 1600,
        "abuse": 1600,
        "persist": 800,
        "stealth": 1100,
        "override": 2400,
        "role": 1600,
        "jailbreak": 1200,
        "leak": 250,
        "framed": 1200,
        "rules": 1200,
        "discussion": 1300,
    }
)
"""The number of sentences generated for each family."""


class Made(msgspec.Struct, frozen=True):
    """A sentence and its family."""

    family: str
    text: str
    is_attack: bool


class Grammar:
    """A grammar: the slots, and the random generator that fills them."""

    def __init__(self, seed: int = 17) -> None:
        self._file: dict[str, dict[str, str]] = tomllib.loads(GRAMMAR.read_text("utf-8"))
        self._slots = {name: items.splitlines()[:] for name, items in self._file["slots"].items()}
        self._dice = random.Random(seed)

    def sentences(self) -> Iterator[Made]:
        """Yield the sentences of every family, without duplicates."""
        known: set[str] = set()
        for family, templates in self._templates():
            is_attack = family not in self._file["honest"]
            for _ in range(MADE[family]):
                text = self._filled(self._dice.choice(templates))
                if family == "framed":
                    text = self._filled(self._dice.choice(self._slots["tagframe"])).replace("{o}", text)
                text = text.replace("\\n", "\n").strip()
                if text not in known and len(text) <= LONGEST:
                    known.add(text)
                    yield Made(family, text, is_attack)

    def _templates(self) -> Iterator[tuple[str, list[str]]]:
        for part in ("attacks", "honest"):
            for family, templates in self._file[part].items():
                yield family, templates.splitlines()
        yield "framed", self._file["framed"]["texts"].splitlines()

    def _filled(self, template: str) -> str:
        """Choose among alternatives, innermost first, then fill the slots."""
        while found := CHOICE.search(template):
            chosen = self._dice.choice(found[1].split("|"))
            template = template[: found.start()] + chosen + template[found.end() :]
        return SLOT.sub(lambda found: self._slot(found[1]), template)

    def _slot(self, name: str) -> str:
        if name == "o":
            return "{o}"
        items = self._slots[name.lower()]
        text = self._filled(self._dice.choice(items))
        return text[:1].upper() + text[1:] if name[0].isupper() else text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("family", nargs="?", choices=sorted(MADE))
    family = parser.parse_args().family
    for made in Grammar().sentences():
        if family in (None, made.family):
            sys.stdout.write(f"{made.text}\n")


if __name__ == "__main__":
    main()
