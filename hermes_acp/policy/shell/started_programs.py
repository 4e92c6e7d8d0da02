"""Programs that are started on files: those that `find` finds, those whose names `xargs`, a word or a loop is told.

Knows: in which folders those files are, that what is started must read too. Does not know: what the programs themselves
read. What a name can be taken for by a program that reads is held by the sandbox.
"""

import os
from typing import Final

from msgspec import structs

from hermes_acp.policy.shell.arguments import sort_arguments
from hermes_acp.policy.shell.commands import Command
from hermes_acp.policy.shell.habits import outset_mistake, read_habit, read_words
from hermes_acp.policy.shell.places import Surroundings
from hermes_acp.policy.shell.readings import Reading
from hermes_acp.policy.shell.tables import Habit, flags_of, tables
from hermes_acp.policy.shell.words import Word

FOUND: Final = Word("{}", "{}")


def read_command(command: Command, around: Surroundings) -> Reading:
    """Judge a command whose words are its own, and what it starts on files."""
    habit = tables().habit(command.program)
    if habit and habit.is_fed:
        why = outset_mistake(command, around)
        return Reading(why) if why else _read_fed(command, habit, around)
    if habit and habit.starts and any(word.text == habit.starts for word in command.args):
        why = outset_mistake(command, around)
        return Reading(why) if why else _read_started(command, habit, around)
    reading = read_habit(command, around)
    if not reading.why_not or command.told_by is None or habit is None or habit.globals is not None:
        return reading
    return _read_told(command, command.told_by, around)


def _read_told(command: Command, teller: Command, around: Surroundings) -> Reading:
    """Judge a program whose last argument is what another command tells: names of files, each a word of its own."""
    told = _told_to(structs.replace(command, source=teller), around)
    name = outset_mistake(command, around) == "" and command.name
    is_quiet = all(each.target and each.target.text == "/dev/null" for each in teller.redirects)
    if told is None or not name or not is_quiet or teller.cwds != command.cwds:
        return Reading(f"what {command.text[:60]} is told is not known")
    return _read_all(command, (name, *command.args[:-1], FOUND), told, around)


def _read_started(command: Command, habit: Habit, around: Surroundings) -> Reading:
    """Judge a program that starts others on each file it finds: those must read too, and only what is found."""
    own: list[Word] = []
    started: list[tuple[Word, ...]] = []
    rest = list(command.args)
    while rest:
        word = rest.pop(0)
        if word.text != habit.starts:
            own.append(word)
            continue
        end = next((at for at, each in enumerate(rest) if each.text in (";", "+")), -1)
        if end < 2 or [at for at, each in enumerate(rest[:end]) if "{}" in (each.text or "{}")] != [end - 1]:
            return Reading(f"what {command.program} starts is not clear")
        if rest[end - 1].text != "{}":
            return Reading(f"what {command.program} starts is not clear")
        started.append(tuple(rest[:end]))
        rest = rest[end + 1 :]
    found = read_words(command.program, habit, tuple(own), command.cwds)
    if found.why_not:
        return found
    for words in started:
        reading = _read_all(command, words, found, around)
        if reading.why_not:
            return reading
    return _looking_into(found, command)


def _looking_into(found: Reading, command: Command) -> Reading:
    """Say what is read of files that were found in some folders: whatever is in those."""
    return structs.replace(found, beneath=found.paths or command.cwds, is_listing=False)


def _read_all(command: Command, words: tuple[Word, ...], found: Reading, around: Surroundings) -> Reading:
    """Judge a program that is started on files that were found, for which the last word stands."""
    name, fixed = words[0], words[1:-1]
    habit = tables().habit(name.text or "")
    if habit is None or habit.operands not in ("paths", "script") or habit.starts or habit.most:
        return Reading(f"{name.raw[:60]} may do more than read")
    alone = sort_arguments(fixed, habit)
    if alone.unknown or (habit.operands == "script" and not (alone.scripts or alone.operands)):
        return Reading(f"what {name.raw} gets is not clear")
    folder = next(iter(found.paths or command.cwds))
    inner = structs.replace(
        command, name=name, args=(*fixed, Word(folder, folder)), assignments=(), redirects=()
    )
    reading = read_habit(inner, around)
    if not reading.why_not and any(path != folder for path in reading.paths):
        return Reading(f"{name.raw} reads more than what is found")
    return reading if reading.why_not else _looking_into(found, command)


def _read_fed(command: Command, habit: Habit, around: Surroundings) -> Reading:
    """Judge a program that is started on the files whose names another one writes."""
    words = list(command.args)
    given = _take_flags(words, habit)
    if isinstance(given, str):
        return Reading(f"{command.program} with {given[:60]} may do more than read")
    started = tables().habit(words[0].text or "") if words else None
    if started and started.operands == "free":
        return read_habit(structs.replace(command, name=words[0], args=tuple(words[1:])), around)
    mark = given.get("-I", "")
    if mark and words and words[-1].text == mark:
        words.pop()
    if not words or (mark and any(mark in (word.text or mark) for word in words)):
        return Reading(f"what {command.program} starts is not clear")
    told = _told_to(command, around)
    if told is None:
        return Reading(f"which files {command.program} is told of is not known")
    return _read_all(command, (*words, FOUND), told, around)


def _take_flags(words: list[Word], habit: Habit) -> dict[str, str] | str:
    """Take the flags in front of the words away and give them with their values; or the one that is not known."""
    flags = flags_of(habit.flags)
    given: dict[str, str] = {}
    while words and (text := words[0].text) and text.startswith("-"):
        flag = text if text in flags else text[:2]
        takes, rest = flags.get(flag), text.removeprefix(flag)
        if takes is None or (takes == "nothing" and rest):
            return text
        words.pop(0)
        is_next = takes != "nothing" and not rest
        given[flag] = ((words.pop(0).text if words else None) or "") if is_next else rest
    return given


def _told_to(command: Command, around: Surroundings) -> Reading | None:
    """Give where the files are whose paths are all that a command is told; None where it may be told more."""
    source = command.source
    if source is None or outset_mistake(source, around):
        return None
    habit, words = tables().habit(source.program), source.args
    if habit is None:
        return None
    if habit.globals is not None:
        name = f"{source.program} {words[0].text}" if words else ""
        habit, words = tables().habit(name), words[1:]
        if habit is None or read_habit(source, around).why_not:
            return None
    flags = set(sort_arguments(words, habit).flags)
    if flags & set(habit.tells_more.split()):
        return None
    reading = read_words(source.program, habit, words, source.cwds)
    if reading.why_not:
        return None
    if habit.tells == "what it is told":
        return None if reading.paths else _told_to(source, around)
    if habit.tells != "always" and not flags & set(habit.tells.split()):
        return None
    return structs.replace(reading, paths=tuple(filter(os.path.isdir, reading.paths)))
