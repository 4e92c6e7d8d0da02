"""Whether a command is one that only reads, by what the tables know of its program.

Knows: how programs and their subcommands are looked up. Does not know: kinds of operands, which paths may be read.
"""

import re
from typing import Final

from msgspec import structs

from hermes_acp.policy.shell.arguments import Arguments, sort_arguments
from hermes_acp.policy.shell.commands import Command
from hermes_acp.policy.shell.exposure import tracked_by, unnamed_secrets
from hermes_acp.policy.shell.operands import count_mistake, read_operands
from hermes_acp.policy.shell.places import (
    Surroundings,
    paths_of,
    shadow_of,
)
from hermes_acp.policy.shell.readings import Reading
from hermes_acp.policy.shell.tables import Habit, flags_of, tables
from hermes_acp.policy.shell.words import Word

BUILTINS: Final = frozenset(
    {
        "true",
        "false",
        ":",
        "echo",
        "printf",
        "pwd",
        "cd",
        "test",
        "type",
        "command",
        "time",
        "help",
        "history",
        "read",
        "set",
        "export",
        "ulimit",
        "umask",
        "alias",
        "jobs",
        "hash",
    }
)
PLAIN_SETTING: Final = re.compile(r"[\w.-]+=[\w-]*")
SHELL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9+_.-]*|:")
NAMED_BY_PLACE: Final = re.compile(r"[\w.+-]*(?:/[\w.+-]+)+")


def read_habit(command: Command, around: Surroundings) -> Reading:
    """Judge a command whose words are its own, not a wrapper's."""
    if why := outset_mistake(command, around):
        return Reading(why)
    program = command.program
    if _asks_version(program, command.args):
        return Reading()
    habit = tables().habit(program)
    if habit is None:
        return Reading(_why_asked(program, command.args))
    if habit.is_interactive and command.feed is not None:
        return Reading(f"{program} may take its input for orders")
    if habit.globals is not None:
        return _read_subcommand(program, habit, command.args, command.cwds, around)
    return read_words(program, habit, command.args, command.cwds)


def outset_mistake(command: Command, around: Surroundings) -> str:
    """Say why a command's first word may not be the program that it looks like; empty where it is."""
    name = command.name
    if name and name.is_plain and NAMED_BY_PLACE.fullmatch(name.raw):
        return f"{name.raw[:60]} names a program by its place; known are those without one"
    if name is None or not name.is_plain or not SHELL_NAME.fullmatch(name.text or ""):
        return "its program's name is written in a way that hides or changes it"
    program = name.text or ""
    if program not in BUILTINS and (shadow := shadow_of(program, command.cwds, around)):
        return f"{program} would be {shadow}, which belongs to the workspace"
    return ""


def _asks_version(program: str, words: tuple[Word, ...]) -> bool:
    if len(words) == 1 and words[0].raw == "--help" and program in tables().helps.names:
        return True
    return len(words) == 1 and words[0].is_plain and program in tables().versions.get(words[0].raw, ())


def _why_asked(program: str, words: tuple[Word, ...]) -> str:
    first = words[0].text or "" if words else "alone"
    return tables().why_asked(f"{program} {first}") or f"{program} may do more than read"


def _read_subcommand(
    program: str, habit: Habit, words: tuple[Word, ...], cwds: tuple[str, ...], around: Surroundings
) -> Reading:
    """Judge what stands behind a program's own flags; `-C` leads to another folder."""
    led = _past_flags(program, habit, words, cwds)
    if isinstance(led, Reading):
        return led
    at, cwds, read = led
    if at == len(words) or not words[at].is_plain:
        return Reading(f"what {program} is to do is not known")
    table = tables()
    name = " ".join(
        part for part in (table.aliases.get(program, program), habit.lead, words[at].text) if part
    )
    inner = table.habit(name)
    if inner is None:
        return Reading(table.why_asked(name) or f"{name} may do more than read")
    rest = words[at + 1 :]
    if inner.globals is not None:
        reading = _read_subcommand(table.aliases.get(name, name), inner, rest, cwds, around)
    else:
        reading = read_words(name, inner, rest, cwds)
    tracked = tracked_by(name, rest, cwds, around.roots)
    unnamed = unnamed_secrets(name, rest, cwds, around.roots) if tracked and not reading.why_not else ()
    return structs.replace(reading, paths=(*read, *reading.paths), tracked=tracked, unnamed=unnamed)


def _past_flags(
    program: str, habit: Habit, words: tuple[Word, ...], cwds: tuple[str, ...]
) -> tuple[int, tuple[str, ...], tuple[str, ...]] | Reading:
    """Give where a subcommand stands, in which folders it works, what leads there; or the whole judgement."""
    if habit.lead:
        if not words or words[0].raw != habit.lead:
            return Reading(_why_asked(program, words))
        return 1, cwds, ()
    flags = flags_of(habit.globals or "")
    read: list[str] = []
    at = 0
    while at < len(words) and (words[at].text or "").startswith("-"):
        flag, _, attached = (words[at].text or "").partition("=")
        if len(words) == 1 and flag in habit.version.split():
            return Reading()
        takes = flags.get(flag)
        if takes is None or (attached and takes != "text"):
            return Reading(f"{program} {words[at].text} may do more than read")
        if takes == "setting":
            at += 1
            value = words[at].text if at < len(words) else None
            if value is None or not _only_shapes_output(value, habit):
                return Reading(f"{program} {flag} may do more than read")
        if takes == "path":
            at += 1
            places = paths_of(words[at], cwds) if at < len(words) and not words[at].globs else None
            if not places:
                return Reading(f"where {program} {flag} leads is not known")
            cwds = places
            read += places
        at += 1
    return at, cwds, tuple(read)


def _only_shapes_output(setting: str, habit: Habit) -> bool:
    """Tell whether a setting is one of those that the table names, the beginnings of which end in a dot or `=`."""
    return setting in habit.settings or any(
        setting.startswith(begin) and PLAIN_SETTING.fullmatch(setting)
        for begin in habit.settings
        if begin.endswith((".", "="))
    )


def read_words(name: str, habit: Habit, words: tuple[Word, ...], cwds: tuple[str, ...]) -> Reading:
    """Judge the words of a program, or of one of its subcommands, by its table."""
    if habit.drops and words and words[0].text in habit.drops:
        words = words[1:]
    if habit.operands == "free":
        return Reading()
    if habit.old_style and words and not words[0].raw.startswith("-"):
        cluster = _cluster_of(words[0].text or "?", habit)
        if not cluster:
            return Reading(f"{name} {words[0].raw[:60]} may do more than read")
        words = (Word(words[0].raw, cluster), *words[1:])
    if habit.expands and any(_may_expand(word, habit.expands) for word in words):
        return Reading(f"{name} would read more words from a file")
    found = sort_arguments(words, habit)
    if habit.forbidden and any(re.search(habit.forbidden, text) for text in _texts_of(habit, found)):
        return Reading(f"{name} would show more than it should")
    if found.unknown:
        return Reading(f"{name} with {found.unknown[:60]} may do more than read")
    if why := count_mistake(name, habit, found):
        return Reading(why)
    return read_operands(name, habit, found, cwds)


def _texts_of(habit: Habit, found: Arguments) -> list[str]:
    operands = found.operands if habit.operands == "text" else ()
    return [*(value for _, value in found.values), *(word.text or "" for word in operands)]


def _cluster_of(letters: str, habit: Habit) -> str:
    """Give flags without a dash as a cluster of such, what takes a value last; empty where one is not known."""
    flags = flags_of(habit.flags)
    valued = [letter for letter in letters if flags.get(f"-{letter}") != "nothing"]
    plain = [letter for letter in letters if letter not in valued]
    is_known = set(letters) <= set(habit.old_style) and len(valued) <= 1
    return f"-{''.join((*plain, *valued))}" if is_known else ""


def _may_expand(word: Word, mark: str) -> bool:
    """Tell whether a word may be one behind whose `mark` a program finds the file with more words."""
    text = word.text or mark
    return text.startswith(mark) or (word.globs and text[0] in "*?[")
