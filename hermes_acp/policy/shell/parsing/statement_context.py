"""The context of a statement: the folders in which it may run, the known variables and its input."""

import re
from collections.abc import Mapping
from posixpath import join, normpath
from types import MappingProxyType
from typing import Final

from msgspec import Struct, structs

from hermes_acp.policy.shell.parsing.shell_words import Scope, Word
from hermes_acp.policy.shell.parsing.simple_command import Command

OUTPUT_VARIABLE: Final = re.compile(r"(\"?)\$(?:(\w+)|\{(\w+)\})\1")


class StatementContext(Struct, frozen=True):
    """The folders in which a statement may run, known variables, those set from output (`told`), and its input."""

    cwds: tuple[str, ...]
    scope: Scope
    is_piped: bool = False
    feed: str | None = None
    source: Command | None = None
    in_word: bool = False
    told: Mapping[str, Command] = MappingProxyType({})

    def at(self, cwds: tuple[str, ...]) -> "StatementContext":
        """Return the same context in other folders."""
        if cwds == self.cwds:
            return self
        pwd = cwds[0] if len(cwds) == 1 else None
        return structs.replace(self, cwds=cwds, scope=self.scope.bound("PWD", pwd))

    def source_of(self, word: Word, tellers: Mapping[str, Command | None]) -> Command | None:
        """Return the command of whose output this word is all or one line; `tellers` are the commands within words."""
        variable = OUTPUT_VARIABLE.fullmatch(word.raw)
        return self.told.get(variable[2] or variable[3]) if variable else tellers.get(word.raw)


class FoldersAfter(Struct, frozen=True):
    """The folders in which a command line may be after success, and after any outcome."""

    success: tuple[str, ...]
    always: tuple[str, ...]


def union(*groups: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders of all groups, without duplicates."""
    return tuple(dict.fromkeys(folder for group in groups for folder in group))


def after_cd(command: Command) -> FoldersAfter:
    """Return where `cd` leads; if that is unknown, return no readable folder."""
    words = [word for word in command.args if word.text != "--"]
    target = words[0].text if len(words) == 1 and not words[0].globs else None
    if target is None or target.startswith("-"):
        return FoldersAfter(("/",), union(command.cwds, ("/",)))
    went = tuple(normpath(join(cwd, target)) for cwd in command.cwds)
    return FoldersAfter(went, union(command.cwds, went))
