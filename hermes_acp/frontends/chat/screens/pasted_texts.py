"""Keep long pasted texts, for which the input line shows markers."""

from typing import Final

from hermes_acp.frontends.chat import messages

MAX_SHOWN_LINES: Final = 5
MAX_SHOWN_CHARACTERS: Final = 1000


class PastedTexts:
    """The texts behind the markers of one chat."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def collapse(self, pasted: str) -> str:
        """Return what the input line shows for a pasted text: a short text itself, or a marker for a long one."""
        text = pasted.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines <= MAX_SHOWN_LINES and len(text) <= MAX_SHOWN_CHARACTERS:
            return text
        number = 1
        while self._texts.get(marker := messages.pasted(lines, len(text), number), text) != text:
            number += 1
        self._texts[marker] = text
        return marker

    def expand(self, line: str) -> str:
        """Replace the markers in a line with the texts."""
        for marker, text in self._texts.items():
            line = line.replace(marker, text)
        return line

    def restore(self, text: str) -> str:
        """Replace unchanged pasted texts in a line with their markers."""
        for marker, pasted in self._texts.items():
            text = text.replace(pasted, marker)
        return text

    def marker_before(self, text: str) -> str:
        """Return the marker at the end of a string, or an empty string."""
        return next((marker for marker in self._texts if text.endswith(marker)), "")
