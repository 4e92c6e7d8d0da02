"""The few commands that run without approval if no sandbox is available.

Every shell reads a line of plain words as the same single command. Its paths are checked elsewhere.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from hermes_acp.core.proposals import Runs

PLAIN_LINE: Final = re.compile(r"[\w./:@%+,-]+(?: [\w./:@%+,-]+)*", re.ASCII)
COUNT_PATTERN: Final = re.compile(r"-?[0-9]{1,6}", re.ASCII)
WHY: Final = "no sandbox is available, and this is not one of the few commands that need none"


class SafeForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The words that may follow a program's name."""

    flags: frozenset[str] = frozenset()
    counts: bool = False
    takes: Literal["nothing", "words", "paths", "names"] = "nothing"

    def fits(self, words: Sequence[str], *, is_remote: bool) -> bool:
        """Return whether the words have this form; remote files cannot be inspected."""
        rest = [
            word
            for word in words
            if word not in self.flags and not (self.counts and COUNT_PATTERN.fullmatch(word))
        ]
        if self.takes == "paths" and is_remote:
            return False
        return not rest or (self.takes != "nothing" and not any(word.startswith("-") for word in rest))


def unsafe_reasons(effect: Runs) -> Iterator[str]:
    """Yield the reasons why an unconfined command needs approval; yield nothing for one of the fixed forms."""
    if not PLAIN_LINE.fullmatch(effect.command):
        yield WHY
        return
    program, *words = effect.command.split(" ")
    form = _safe_forms().get(program)
    if form is None or not form.fits(words, is_remote=effect.is_remote):
        yield WHY


@cache
def _safe_forms() -> dict[str, SafeForm]:
    """Read the file on first use."""
    text = Path(__file__).with_name("fixed_forms.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["forms"], dict[str, SafeForm])
