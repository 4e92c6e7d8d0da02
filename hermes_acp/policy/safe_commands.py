"""The few commands that run without a question where no sandbox is to be had.

Knows: their forms (in a table). Does not know: shell grammar. A line of plain words is one command to any shell,
whatever it makes of other lines. What the words name is judged elsewhere.
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
WHY: Final = "there is no sandbox here, and it is not one of the few commands that need none"


class SafeForm(Struct, frozen=True, forbid_unknown_fields=True):
    """What may stand behind one program's name."""

    flags: frozenset[str] = frozenset()
    counts: bool = False
    takes: Literal["nothing", "words", "paths", "names"] = "nothing"

    def fits(self, words: Sequence[str], *, is_remote: bool) -> bool:
        """Return whether the words are of this form; what a file elsewhere is cannot be looked at."""
        rest = [
            word
            for word in words
            if word not in self.flags and not (self.counts and COUNT_PATTERN.fullmatch(word))
        ]
        if self.takes == "paths" and is_remote:
            return False
        return not rest or (self.takes != "nothing" and not any(word.startswith("-") for word in rest))


def unsafe_reasons(effect: Runs) -> Iterator[str]:
    """Yield why a command needs a question where nothing confines it; nothing for one of the fixed forms."""
    if not PLAIN_LINE.fullmatch(effect.command):
        yield WHY
        return
    program, *words = effect.command.split(" ")
    form = _safe_forms().get(program)
    if form is None or not form.fits(words, is_remote=effect.is_remote):
        yield WHY


@cache
def _safe_forms() -> dict[str, SafeForm]:
    """Read the file, once."""
    text = Path(__file__).with_name("fixed_forms.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["forms"], dict[str, SafeForm])
