"""Sort a command's words into flags, flag values and operands, as GNU programs do."""

import re
from typing import Final

from msgspec import Struct

from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.program_tables import ProgramSpec, flags_of

COUNT: Final = re.compile(r"-\d+")
NUMBER: Final = re.compile(r"[+-]?\d+[kKMGT]?")


class ParsedArguments(Struct):
    """The sorted words; `unknown` is the first word that the table does not cover.

    `values` contains the values of flags that take text.
    """

    flags: list[str] = []
    operands: list[Word] = []
    paths: list[Word] = []
    scripts: list[Word] = []
    values: list[tuple[str, str]] = []
    unknown: str = ""


class _ArgumentParser:
    def __init__(self, program_spec: ProgramSpec) -> None:
        self._habit = program_spec
        self._flags = flags_of(program_spec.flags)
        self._waiting = ""
        self._more = 0
        self.found = ParsedArguments()

    @property
    def is_waiting(self) -> bool:
        """Whether the next word is a flag's value, whatever it looks like."""
        return bool(self._waiting)

    def take(self, word: Word) -> None:
        """Sort one word that comes before any `--`."""
        text = word.text
        if self._waiting:
            self._value(self._waiting, word)
            self._more -= 1
            self._waiting = self._waiting if self._more else ""
        elif text is None and self._habit.operands == "revisions" and word.revision[:1].isalnum():
            self.found.operands.append(Word(word.raw, word.revision))
        elif text is None and self._habit.flags_first and self.found.operands:
            self.found.operands.append(word)
        elif text is None:
            self.found.unknown = self.found.unknown or word.raw
        elif self._habit.flags_first and self.found.operands and text.startswith("-") and text != "-":
            self.found.unknown = self.found.unknown or f"{text} after its operands"
        elif self._habit.single and text in self._flags:
            self._flag(text)
        elif not text.startswith("-") or text == "-":
            self.found.operands.append(word)
        elif word.globs and not (text.startswith("--") and "=" in text):
            self.found.unknown = self.found.unknown or word.raw
        elif self._habit.counts and COUNT.fullmatch(text):
            self.found.flags.append("-#")
        elif self._habit.single:
            self.found.unknown = self.found.unknown or text
        elif text.startswith("--"):
            self._long(text, word)
        else:
            self._cluster(text, word)

    def finish(self) -> ParsedArguments:
        """Return the result; a flag that still lacks its value is reported as unknown."""
        if self._waiting:
            self.found.unknown = self.found.unknown or self._waiting
        return self.found

    def _flag(self, name: str) -> None:
        self.found.flags.append(name)
        if self._flags[name] not in ("nothing", "maybe"):
            self._waiting = name
            self._more = 2 if self._flags[name] == "pair" else 1

    def _long(self, text: str, word: Word) -> None:
        name, equals, value = text.partition("=")
        takes = self._flags.get(name)
        if takes is None or (equals and takes == "nothing"):
            self.found.unknown = self.found.unknown or name
        elif equals:
            self.found.flags.append(name)
            self._value(name, Word(value, value, word.globs and takes == "path"))
        else:
            self._flag(name)

    def _cluster(self, text: str, word: Word) -> None:
        for at in range(1, len(text)):
            name, rest = "-" + text[at], text[at + 1 :]
            takes = self._flags.get(name)
            if takes is None:
                self.found.unknown = self.found.unknown or name
                return
            if takes == "maybe":
                self.found.flags.append(name)
                self.found.values.append((name, rest))
                return
            if takes != "nothing" and rest:
                self.found.flags.append(name)
                self._value(name, Word(rest, rest, word.globs))
                return
            self._flag(name)

    def _value(self, flag: str, word: Word) -> None:
        takes = self._flags[flag]
        if takes == "text" and word.globs and word.text is not None:
            word = Word(word.raw, word.text)
        is_known = word.text is not None and (takes == "path" or not word.globs)
        if not is_known or (takes == "number" and not NUMBER.fullmatch(word.text or "")):
            self.found.unknown = self.found.unknown or f"{flag} {word.raw}"
        elif takes == "path":
            self.found.paths.append(word)
        elif takes == "script":
            self.found.scripts.append(word)
        elif takes == "range":
            self.found.paths.append(Word(word.raw, (word.text or "").rpartition(":")[2]))
        elif takes in ("text", "maybe"):
            self.found.values.append((flag, word.text or ""))


def parse_arguments(words: tuple[Word, ...], program_spec: ProgramSpec) -> ParsedArguments:
    """Sort the words. Most GNU programs accept flags anywhere before `--`; the table lists the exceptions."""
    parser = _ArgumentParser(program_spec)
    for at, word in enumerate(words):
        if word.text == "--" and not parser.is_waiting:
            return _with_rest(parser, words[at + 1 :])
        parser.take(word)
    return parser.finish()


def _with_rest(parser: _ArgumentParser, rest: tuple[Word, ...]) -> ParsedArguments:
    found = parser.finish()
    for word in rest:
        if word.text is None:
            found.unknown = found.unknown or word.raw
        found.operands.append(word)
    return found
