"""Programs that are started on files: those that `find` finds, those whose names `xargs`, a word or a loop is told.

Knows: which files those are, that a name can be taken for several words or for a flag. Does not know: what the programs
themselves read.
"""

import os
import re
from itertools import chain
from typing import Final

from msgspec import Struct, structs

from hermes_acp.policy.shell.arguments import sort_arguments
from hermes_acp.policy.shell.commands import Command
from hermes_acp.policy.shell.habits import outset_mistake, read_habit, read_words
from hermes_acp.policy.shell.places import Surroundings, names_beneath, paths_of, places_linked_to
from hermes_acp.policy.shell.readings import SIMPLE_GLOB, Reading
from hermes_acp.policy.shell.tables import Habit, flags_of, tables
from hermes_acp.policy.shell.tracked import names_tracked
from hermes_acp.policy.shell.words import Word

ODD_NAME: Final = re.compile(r"-.*|.*[\s'\"\\].*", re.DOTALL)
PATTERN: Final = re.compile(r"-.*|.*[\s'\"\\*?\[].*", re.DOTALL)
MARKS: Final = ("@", "+")
MOST_NAMES: Final = 5_000


class Found(Struct, frozen=True):
    """What a program finds: files beneath `folders` that one of the `names` fits; links too where it `has_links`.

    `reading` is what it reads itself, `way_round` the words with which it finds no links. What `is_tracked` it has from
    git's index, where there may be more than in the folders.
    """

    reading: Reading
    folders: tuple[str, ...]
    names: tuple[str, ...] = ()
    has_links: bool = True
    way_round: str = ""
    is_tracked: bool = False


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
    started = tables().habit(command.program)
    marks = f"{started.expands}{started.refuses}" if started else ""
    if why := _name_mistake(told, marks, PATTERN):
        return Reading(why)
    words = (name, *command.args[:-1], Word("{}", "{}"))
    reading = _read_one(command, words, told.folders[0], around)
    return reading if reading.why_not else _reading_of(told, is_deep=bool(reading.beneath))


def _found_by(command: Command, habit: Habit) -> Found | str:
    """Give what a program finds that looks for files; or why that cannot be told."""
    found = sort_arguments(command.args, habit)
    reading = read_words(command.program, habit, command.args, command.cwds)
    if reading.why_not or set(habit.follows.split()) & set(found.flags):
        return reading.why_not or f"{command.program} follows links"
    is_plain = not set(habit.alternates.split()) & set(found.flags)
    names = tuple(value for flag, value in found.values if is_plain and flag in habit.names.split())
    wanted = {flag for flag, value in found.values if f"{flag} {value}" in habit.unlinked}
    has_links = not (habit.unlinked == ("always",) or (is_plain and wanted))
    return Found(reading, reading.paths or command.cwds, names, has_links, "".join(habit.unlinked[:1]))


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
    finds = _found_by(structs.replace(command, args=tuple(own)), habit)
    if isinstance(finds, str):
        return Reading(finds)
    folders = sort_arguments(tuple(own), habit).operands
    if any((word.text or "").startswith(MARKS) for word in folders):
        return Reading(f"what {command.program} finds may be taken for something else")
    readings = [_read_one(command, words, finds.folders[0], around) for words in started]
    wrong = next((reading for reading in readings if reading.why_not), None)
    return wrong or _reading_of(finds, is_deep=any(reading.beneath for reading in readings))


def _reading_of(found: Found, *, is_deep: bool) -> Reading:
    """Give what is read of all that was found, links followed; of folders all, where what is started `is_deep`."""
    paths = list(found.reading.paths)
    for folder in found.folders if found.has_links else ():
        led_to = places_linked_to(folder)
        if led_to is None:
            way = f"; {found.way_round} passes them over" if found.way_round else ""
            return Reading(f"{folder} has too much in it to see where its links lead{way}")
        paths += led_to
    return Reading(
        paths=tuple(paths),
        beneath=found.folders,
        names=() if is_deep else found.names,
        skips_hidden=found.reading.skips_hidden and not is_deep,
    )


def _read_one(command: Command, words: tuple[Word, ...], folder: str, around: Surroundings) -> Reading:
    """Judge a program that is started on files of a folder, for which the last word stands."""
    name, fixed = words[0], words[1:-1]
    habit = tables().habit(name.text or "")
    if (
        habit is None
        or habit.operands not in ("paths", "script")
        or habit.starts
        or habit.most
        or habit.guards
    ):
        return Reading(f"{name.raw[:60]} may do more than read")
    alone = sort_arguments(fixed, habit)
    if alone.unknown or (habit.operands == "script" and not (alone.scripts or alone.operands)):
        return Reading(f"what {name.raw} gets is not clear")
    inner = structs.replace(
        command, name=name, args=(*fixed, Word(folder, folder)), assignments=(), redirects=()
    )
    reading = read_habit(inner, around)
    outside = [path for path in reading.paths if path != folder]
    if outside and not reading.why_not:
        return Reading(f"{name.raw} reads more than what is found")
    return reading


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
    if not {"-0", "--null"} & given.keys() or not _begins_with_folder(command):
        marks = f"{started.expands}{started.refuses}" if started else ""
        if why := _name_mistake(told, marks):
            return Reading(why)
    reading = _read_one(command, (*words, Word("{}", "{}")), told.folders[0], around)
    return reading if reading.why_not else _reading_of(told, is_deep=bool(reading.beneath))


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


def _told_to(command: Command, around: Surroundings) -> Found | None:
    """Give the files whose paths, one a line, are all that a command is told; None where it may be told more."""
    source = command.source
    if source is None or outset_mistake(source, around):
        return None
    habit = tables().habit(source.program)
    if habit is None:
        return None
    words = source.args
    if habit.globals is not None:
        name = f"{source.program} {words[0].text}" if words else ""
        habit, words = tables().habit(name), words[1:]
        if habit is None or read_habit(source, around).why_not:
            return None
    bare = structs.replace(source, args=words)
    flags = set(sort_arguments(words, habit).flags)
    if flags & set(habit.tells_more.split()):
        return None
    if habit.tells == "what it is told":
        reading = read_words(source.program, habit, words, source.cwds)
        return None if reading.why_not or reading.paths else _told_to(source, around)
    if habit.tells != "always" and not flags & set(habit.tells.split()):
        return None
    found = _found_by(bare, habit)
    if isinstance(found, str) or _is_oddly_spelled(bare, habit, found):
        return None
    return _with_folders(found, bare, habit)


def _is_oddly_spelled(command: Command, habit: Habit, found: Found) -> bool:
    """Tell whether the names that are told begin with a folder's that may be taken for something else."""
    for word in sort_arguments(command.args, habit).operands:
        text = word.text or ""
        if habit.operands == "revisions" and text.startswith(("..", "/")) and not set(text).isdisjoint("*?["):
            return True
        is_odd = text.startswith(MARKS) or ODD_NAME.fullmatch(text)
        if is_odd and not set(paths_of(word, command.cwds) or ()).isdisjoint(found.reading.paths):
            return True
    return False


def _with_folders(found: Found, command: Command, habit: Habit) -> Found:
    """Give the folders that surely hold what was found; patterns of git's stand for names."""
    folders = tuple(dict.fromkeys((*command.cwds, *filter(os.path.isdir, found.reading.paths))))
    if habit.operands == "revisions":
        texts = [word.text or "" for word in sort_arguments(command.args, habit).operands]
        are_names = bool(texts) and all(SIMPLE_GLOB.fullmatch(text) and "*" in text for text in texts)
        return Found(Reading(), folders, tuple(texts) if are_names else (), is_tracked=True)
    if not all(map(os.path.isdir, found.folders)):
        return structs.replace(found, folders=folders, names=())
    return found


def _begins_with_folder(command: Command) -> bool:
    """Tell whether the names that a command is told begin with a folder, so that none is taken for a flag."""
    source = command.source
    return source is not None and source.program == "find"


def _name_mistake(found: Found, marks: str, odd: re.Pattern[str] = ODD_NAME) -> str:
    """Say which name that may be told would be taken for something else: those with one of the `marks`, `odd` ones."""
    for folder in found.folders:
        tracked = names_tracked(folder) if found.is_tracked else ()
        for number, name in enumerate(chain(names_beneath(folder), tracked)):
            if name is None or number > MOST_NAMES:
                return f"{folder} has too much in it to see what its files are called"
            if odd.fullmatch(name) or name.startswith(tuple(marks)):
                return f"{name[:60]!r} in {folder} may be taken for something else"
    return ""
