"""Measure how many contradicting pairs of notes are reported to the model, and how many other pairs.

`note_subjects.toml` contains the pairs. The second half of each list was held out while the measure was tuned.

Usage: python -m bench.note_subjects
"""

import tomllib
from pathlib import Path
from typing import Final

from hermes_acp.memory.note_subjects import related_notes

DATA: Final = Path(__file__).with_name("note_subjects.toml")


def pairs(kind: str) -> list[tuple[str, str]]:
    """Return the pairs of a kind."""
    listed: list[list[str]] = tomllib.loads(DATA.read_text("utf-8"))[kind]
    return [(one, other) for one, other in listed]


def found(listed: list[tuple[str, str]]) -> int:
    """Return the number of pairs whose first note is found when the second one is written."""
    return sum(bool(related_notes(other, [one])) for one, other in listed)


def main() -> None:
    """Print the rates."""
    for kind in ("contradicting", "compatible"):
        every = pairs(kind)
        half = len(every) // 2
        for name, listed in (("tuned on", every[:half]), ("held out", every[half:])):
            print(f"{kind}, {name}: {found(listed)} of {len(listed)}")


if __name__ == "__main__":
    main()
