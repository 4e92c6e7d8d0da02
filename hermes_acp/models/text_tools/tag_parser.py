"""Find the calls and thoughts that a model writes into its streamed text.

The result does not depend on how the text is split into chunks. Source: the function calling format of Nous Research's
Hermes models.
"""

import re
from typing import Final, Literal

import msgspec
from msgspec import Struct

from hermes_acp.core.messages import UNNAMED, Fragment, ToolCall
from hermes_acp.models.formats.reply_assembly import FragmentQueue

THINK: Final = "<think>"
THINK_END: Final = "</think>"
CALL: Final = "<tool_call>"
CALL_END: Final = "</tool_call>"
RESULT: Final = "<tool_response>"

_LINE_KEPT: Final = 64
"""How many characters of the current line to keep: enough to detect the start of a fence."""
_NAME = re.compile(r'"name"\s*:\s*"([^"\\]+)"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*')
_OF_NOTE = re.compile(r"[<`~]")
_OF_NOTE_IN_CALL = re.compile(r'["<]')
_OF_NOTE_IN_STRING = re.compile(r'["\\]')


class _Call(Struct):
    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    parameters: msgspec.Raw | None = None


class TagParser:
    """Splits the text of one answer, as it arrives, into text, thoughts and calls.

    Tags inside code fences or directly after a backtick are text. With `begins_thinking`, the opening tag of the first
    thought is part of the prompt.
    """

    def __init__(self, *, takes_calls: bool = True, begins_thinking: bool = False) -> None:
        self._marks = (THINK, THINK_END, CALL, CALL_END, RESULT) if takes_calls else (THINK, THINK_END)
        self._mode: Literal["words", "fence", "thought", "call", "over"] = (
            "thought" if begins_thinking else "words"
        )
        self._waiting = ""
        self._is_last = False
        self._line = ""
        self._fence = ""
        self._spaces = ""
        self._is_behind_mark = True
        self._place = 0
        self._is_in_string = False
        self._fragments = FragmentQueue()
        self.text: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[ToolCall] = []

    def feed(self, words: str) -> list[Fragment]:
        """Add text; return the fragments that are now unambiguous."""
        self._waiting += words
        self._advance()
        return self._fragments.drain()

    def close(self) -> list[Fragment]:
        """Emit the remaining text as it is; a call without a closing tag still counts."""
        self._is_last = True
        self._advance()
        while self._mode == "call":
            # In malformed JSON, the closing tag may look like part of a string.
            content, end, rest = self._waiting.partition(CALL_END)
            self._take_call(content)
            self._waiting = rest if end else ""
            self._advance()
        return self._fragments.drain()

    def _advance(self) -> None:
        """Advance as long as the text is unambiguous."""
        steps = {
            "words": self._read_words,
            "fence": self._read_fence,
            "thought": self._read_thought,
            "call": self._read_call,
        }
        while self._mode != "over" and steps[self._mode]():
            pass
        if self._mode == "over":
            self._waiting = ""

    def _read_words(self) -> bool:
        """Read up to the next tag or fence; return whether one was found."""
        place = 0
        while (found := _OF_NOTE.search(self._waiting, place)) is not None:
            start = found.start()
            if found.group() == "<":
                if (mark := self._mark_at(start)) is None:
                    self._say(start)
                    return False
                if mark and not self._is_quoted(start):
                    self._say(start)
                    self._waiting = self._waiting[len(mark) :]
                    self._enter(mark)
                    return True
                place = start + 1
                continue
            if (end := self._run_end(start)) is None:
                self._say(start)
                return False
            if end - start >= 3 and self._is_line_start(start):
                self._fence = self._waiting[start:end]
                self._say(end)
                self._mode = "fence"
                return True
            place = end
        self._say(len(self._waiting))
        return False

    def _mark_at(self, start: int) -> str | None:
        """Return the tag at a position, an empty string if there is none, or None if that cannot be decided yet."""
        rest = self._waiting[start:]
        for mark in self._marks:
            if rest.startswith(mark):
                return mark
        return None if not self._is_last and any(mark.startswith(rest) for mark in self._marks) else ""

    def _run_end(self, start: int) -> int | None:
        """Return the end of a run of one character, or None if the run may continue."""
        end = start
        while end < len(self._waiting) and self._waiting[end] == self._waiting[start]:
            end += 1
        return None if end == len(self._waiting) and not self._is_last else end

    def _line_before(self, place: int) -> str:
        return f"{self._line}{self._waiting[:place]}".rpartition("\n")[2]

    def _is_quoted(self, place: int) -> bool:
        return self._line_before(place).endswith("`")

    def _is_line_start(self, place: int) -> bool:
        line = self._line_before(place)
        return len(line) <= 3 and not line.strip(" ")

    def _enter(self, mark: str) -> None:
        """Continue after a tag; unmatched closing tags are skipped, as are results that the model made up."""
        self._is_behind_mark = True
        self._line, self._spaces = "", ""
        if mark == THINK:
            self._mode = "thought"
        elif mark == CALL:
            self._mode, self._place, self._is_in_string = "call", 0, False
        elif mark == RESULT and self.calls:
            # Results in the model's own output are made up.
            self._mode = "over"

    def _say(self, end: int) -> None:
        """Emit text; trailing spaces wait for more text, and are dropped before a tag and at the end."""
        words, self._waiting = self._waiting[:end], self._waiting[end:]
        self._line = f"{self._line}{words}".rpartition("\n")[2][-_LINE_KEPT:]
        if self._is_behind_mark and self._mode == "words":
            words = words.lstrip()
        if not words:
            return
        self._is_behind_mark = False
        words = self._spaces + words
        bare = words.rstrip()
        self._spaces = words[len(bare) :]
        if bare:
            self.text.append(bare)
            self._fragments.add_text(bare)

    def _read_fence(self) -> bool:
        """Read up to the line that closes the fence; return whether it was found."""
        place = 0
        while (start := self._waiting.find(self._fence[0], place)) >= 0:
            if (end := self._run_end(start)) is None:
                self._say(start)
                return False
            if end - start >= len(self._fence) and self._is_line_start(start):
                rest, newline, _ = self._waiting[end:].partition("\n")
                if not rest.strip():
                    if not newline and not self._is_last:
                        self._say(start)
                        return False
                    self._say(end)
                    self._mode = "words"
                    return True
            place = end
        self._say(len(self._waiting))
        return False

    def _read_thought(self) -> bool:
        """Read up to the end of a thought; return whether it was found."""
        found = self._waiting.find(THINK_END)
        end = (
            found if found >= 0 else len(self._waiting) - (0 if self._is_last else self._open_end(THINK_END))
        )
        thought, self._waiting = self._waiting[:end], self._waiting[end:]
        if self._is_behind_mark:
            thought = thought.lstrip()
        if thought:
            self._is_behind_mark = False
            self.thoughts.append(thought)
            self._fragments.add_thought(thought)
        if found < 0:
            return False
        self._waiting = self._waiting[len(THINK_END) :]
        self._mode, self._is_behind_mark = "words", True
        return True

    def _open_end(self, mark: str) -> int:
        """Return how many trailing characters may be the start of a tag."""
        longest = min(len(mark) - 1, len(self._waiting))
        return next((size for size in range(longest, 0, -1) if self._waiting.endswith(mark[:size])), 0)

    def _read_call(self) -> bool:
        """Read up to a call's closing tag outside any string; return whether it was found."""
        while True:
            pattern = _OF_NOTE_IN_STRING if self._is_in_string else _OF_NOTE_IN_CALL
            found = pattern.search(self._waiting, self._place)
            if found is None:
                self._place = len(self._waiting)
                return False
            start = found.start()
            match found.group():
                case '"':
                    self._is_in_string = not self._is_in_string
                    self._place = start + 1
                case "\\":
                    if start + 1 == len(self._waiting):
                        self._place = start
                        return False
                    self._place = start + 2
                case _:
                    rest = self._waiting[start:]
                    mark = next((each for each in (CALL_END, CALL) if rest.startswith(each)), "")
                    if mark:
                        self._take_call(self._waiting[:start])
                        self._waiting = rest[len(CALL_END) :] if mark == CALL_END else rest
                        return True
                    if not self._is_last and any(each.startswith(rest) for each in (CALL_END, CALL)):
                        self._place = start
                        return False
                    self._place = start + 1

    def _take_call(self, content: str) -> None:
        if content.strip():
            self.calls.append(read_call(content.strip()))
        self._mode, self._is_behind_mark, self._line = "words", True, ""


def read_call(content: str) -> ToolCall:
    """Parse the call between two tags; malformed arguments stay as written."""
    try:
        call = msgspec.json.decode(content, type=_Call)
    except (msgspec.DecodeError, UnicodeError):
        return _guess_call(content)
    raw = call.arguments if call.parameters is None else call.parameters
    try:
        arguments = msgspec.json.decode(raw, type=str)
    except msgspec.DecodeError:
        arguments = bytes(raw).decode()
    return ToolCall("", call.name, arguments)


def _guess_call(content: str) -> ToolCall:
    named = _NAME.search(content)
    begun = _ARGUMENTS.search(content)
    arguments = content[begun.end() :].strip().removesuffix("}") if begun is not None else content
    return ToolCall("", named.group(1) if named is not None else UNNAMED, arguments)
