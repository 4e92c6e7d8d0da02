"""Whether a command is one that only reads, by what the tables know of its program.

Knows: how operands of each kind are checked. Does not know: which paths may be read, what else a command does.
"""

import re
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct, structs

from hermes_acp.policy.shell.arguments import Arguments, sort_arguments
from hermes_acp.policy.shell.languages import is_harmless
from hermes_acp.policy.shell.places import (
    Surroundings,
    files_beneath,
    fits_a_file,
    guard_in,
    paths_of,
    places_linked_to,
    shadow_of,
)
from hermes_acp.policy.shell.repositories import hazard_of
from hermes_acp.policy.shell.script import Command
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
    }
)
SIMPLE_GLOB: Final = re.compile(r"[\w.*-]+")
OLD_PS: Final = re.compile(r"[afluwx]+")
SECRET_KEY: Final = re.compile(r"extraheader|credential|password|token|secret", re.IGNORECASE)
OWN_VARIABLE: Final = re.compile(r"[a-z][a-z0-9_]*")
SHELL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9+_.-]*|:")


class Reading(Struct, frozen=True):
    """What a command that only reads would read; `why_not` says what speaks against it being one.

    Of the folders `beneath` which it looks, only the files that `names` fit are read, all where it is empty; none that
    is hidden where it `skips_hidden`, unless a name fits. What `is_listing` shows nothing of what is in the `paths`.
    """

    why_not: str = ""
    paths: tuple[str, ...] = ()
    beneath: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    skips_hidden: bool = False
    is_listing: bool = False


def read_habit(command: Command, around: Surroundings) -> Reading:
    """Judge a command whose words are its own, not a wrapper's."""
    name = command.name
    if name is None or not name.is_plain or not SHELL_NAME.fullmatch(name.text or ""):
        return Reading("its program's name is written in a way that hides or changes it")
    program = name.text or ""
    if program not in BUILTINS and (shadow := shadow_of(program, command.cwds, around)):
        return Reading(f"{program} would be {shadow}, which belongs to the workspace")
    if _asks_version(program, command.args):
        return Reading()
    if _asks_version_guarded(program, command.args):
        guard = guard_in(("rust-toolchain", "rust-toolchain.toml"), command.cwds)
        return Reading(f"{guard} can choose another program" if guard else "")
    habit = tables().read_only.get(program)
    if habit is None:
        return Reading(f"what {program} does is not known to be harmless")
    if habit.is_interactive and command.feed is not None:
        return Reading(f"{program} may take its input for orders")
    words, cwds = command.args, command.cwds
    if habit.globals is not None:
        return _read_subcommand(program, habit, words, cwds)
    if habit.starts and any(word.text == habit.starts for word in words):
        return _read_started(command, habit, around)
    return _read_words(program, habit, words, cwds)


def _asks_version(program: str, words: tuple[Word, ...]) -> bool:
    if len(words) == 1 and words[0].raw == "--help" and program in tables().helps.names:
        return True
    return len(words) == 1 and words[0].is_plain and program in tables().versions.get(words[0].raw, ())


def _asks_version_guarded(program: str, words: tuple[Word, ...]) -> bool:
    asks = len(words) == 1 and words[0].raw in ("--version", "-V")
    return asks and program in tables().versions["--guarded"]


def _read_subcommand(program: str, habit: Habit, words: tuple[Word, ...], cwds: tuple[str, ...]) -> Reading:
    """Judge what stands behind a program's own flags; `-C` leads to another folder."""
    flags = flags_of(habit.globals or "")
    read: list[str] = []
    at = 0
    while at < len(words) and (words[at].text or "").startswith("-"):
        flag = words[at].text or ""
        if len(words) == 1 and flag in habit.version.split():
            return Reading()
        takes = flags.get(flag)
        if takes is None:
            return Reading(f"{program} {flag} is not known to be harmless")
        if takes == "path":
            at += 1
            places = paths_of(words[at], cwds) if at < len(words) and not words[at].globs else None
            if not places:
                return Reading(f"where {program} {flag} leads is not known")
            cwds = places
            read += places
        at += 1
    if at == len(words) or not words[at].is_plain:
        return Reading(f"what {program} is to do is not known")
    name = f"{program} {words[at].text}"
    inner = tables().read_only.get(name)
    if inner is None:
        return Reading(f"what {name} does is not known to be harmless")
    if program == "git":
        for cwd in cwds:
            if hazard := hazard_of(cwd):
                return Reading(hazard)
    reading = _read_words(name, inner, words[at + 1 :], cwds)
    return structs.replace(reading, paths=(*read, *reading.paths))


def _read_words(name: str, habit: Habit, words: tuple[Word, ...], cwds: tuple[str, ...]) -> Reading:
    if habit.guards and (guard := guard_in(habit.guards, cwds)):
        return Reading(f"{guard} can choose another program")
    if habit.operands == "free":
        return Reading()
    if habit.old_style and words and re.fullmatch(rf"[{habit.old_style}]+", words[0].text or ""):
        words = (Word(words[0].raw, f"-{words[0].text}"), *words[1:])
    if habit.expands and any(_may_expand(word, habit.expands) for word in words):
        return Reading(f"{name} would read more words from a file")
    found = sort_arguments(words, habit)
    stray = next((word for word in found.literals if fits_a_file(word, cwds)), None)
    if stray is not None:
        return Reading(f"files may take the place of {stray.raw[:60]}")
    if habit.forbidden and any(habit.forbidden in value.casefold() for _, value in found.values):
        return Reading(f"{name} would show more than it should")
    if found.unknown:
        return Reading(f"{name} with {found.unknown[:60]} is not known to be harmless")
    if why := _count_mistake(name, habit, found):
        return Reading(why)
    return _read_operands(name, habit, found, cwds)


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
    found = sort_arguments(tuple(own), habit)
    reading = _read_words(command.program, habit, tuple(own), command.cwds)
    if reading.why_not or set(habit.follows.split()) & set(found.flags):
        return Reading(reading.why_not or f"{command.program} follows links")
    is_plain = not set(habit.alternates.split()) & set(found.flags)
    names = tuple(value for flag, value in found.values if is_plain and flag in habit.names.split())
    folders = reading.paths or command.cwds
    for words in started:
        if why := _start_mistake(command, words, folders[0], around):
            return Reading(why)
    return Reading("", reading.paths, folders, names)


def _start_mistake(command: Command, words: tuple[Word, ...], folder: str, around: Surroundings) -> str:
    """Say what speaks against a program that is started on files of a folder; the last word stands for them."""
    name, fixed = words[0], words[1:-1]
    habit = tables().read_only.get(name.text or "")
    if habit is None or habit.operands not in ("paths", "script") or habit.starts:
        return f"what {name.raw[:60]} does is not known to be harmless"
    alone = sort_arguments(fixed, habit)
    if alone.unknown or (habit.operands == "script" and not (alone.scripts or alone.operands)):
        return f"what {name.raw} gets is not clear"
    inner = structs.replace(
        command, name=name, args=(*fixed, Word(folder, folder)), assignments=(), redirects=()
    )
    reading = read_habit(inner, around)
    outside = [path for path in reading.paths if path != folder]
    return reading.why_not or (f"{name.raw} reads more than what is found" if outside else "")


def _may_expand(word: Word, mark: str) -> bool:
    """Tell whether a word may be one behind whose `mark` a program finds the file with more words."""
    text = word.text or mark
    return text.startswith(mark) or (word.globs and text[0] in "*?[")


def _count_mistake(name: str, habit: Habit, found: Arguments) -> str:
    number = len(found.operands)
    if number < habit.least or (habit.most is not None and number > habit.most):
        return f"{name} with {number} operands is not known to be harmless"
    needs = habit.needs.split()
    is_needed = bool(needs) and (number > 0 or not habit.needs_for_operands)
    if is_needed and not set(needs) & set(found.flags):
        return f"{name} without {' or '.join(needs)} is not known to be harmless"
    return ""


def _read_operands(name: str, habit: Habit, found: Arguments, cwds: tuple[str, ...]) -> Reading:
    operands = list(found.operands)
    paths = list(found.paths)
    stands_alone: set[str] = set()
    if habit.operands in ("script", "pattern and revisions"):
        stands_alone = set(habit.stands_alone.split()) & set(found.flags)
        given = found.scripts or (paths and habit.language == "pattern") or stands_alone
        scripts = found.scripts if given else operands[:1]
        operands = operands if given else operands[1:]
        if not scripts and not given:
            return Reading(f"{name} without a script or pattern makes no sense")
        for script in scripts:
            is_known = script.text is not None and (habit.language == "pattern" or not script.globs)
            if not is_known or not is_harmless(script.text or "", habit.language):
                return Reading(f"the script of {name} is not known to be harmless")
    if why := _operand_mistake(name, habit, operands):
        return Reading(why)
    if habit.operands in ("paths", "script"):
        paths += [word for word in operands if word.text != "-"]
    elif habit.operands in ("revisions", "pattern and revisions"):
        paths += [Word(word.raw, _path_in_revision(word.text or ""), word.globs) for word in operands]
    elif name == "tar" and any(":" in (path.text or "") for path in paths):
        return Reading("tar would ask another machine")
    read: list[str] = []
    for path in paths:
        places = paths_of(path, cwds)
        if places is None:
            return Reading(f"which files {path.raw[:60]} names is not known")
        read += places
    is_deep = habit.deep == "always" or bool(set(habit.deep.split()) & set(found.flags))
    looked_into = tuple(read[len(found.paths) :]) or cwds
    folders = looked_into if is_deep and not stands_alone else ()
    wanted = habit.names.split()
    names = tuple(value for flag, value in found.values if flag in wanted and not value.startswith("!"))
    if folders and set(habit.follows.split()) & set(found.flags):
        for folder in folders:
            led_to = places_linked_to(folder)
            if led_to is None:
                return Reading(f"{folder} has too much in it to see where its links lead")
            read += led_to
    flags = set(found.flags)
    skips_hidden = habit.skips_hidden and not set(habit.unhides.split()) & flags
    is_listing = habit.shows == "names" and not flags & {"-R", "--recursive"}
    return Reading("", tuple(read), folders, names, skips_hidden, is_listing)


def _operand_mistake(name: str, habit: Habit, operands: list[Word]) -> str:
    texts = [word.text or "" for word in operands]
    wrong = next((text for text in texts if habit.refuses and text.startswith(habit.refuses)), "")
    match habit.operands:
        case _ if wrong:
            pass
        case "none" if operands:
            wrong = texts[0]
        case "paths" if name == "cd":
            wrong = next((text for text in texts if text.startswith("-")), "")
            wrong = next((word.raw for word in operands if word.globs), wrong)
        case "variables":
            wrong = next((text for text in texts if not OWN_VARIABLE.fullmatch(text)), "")
        case "plus":
            wrong = next((text for text in texts if not text.startswith("+")), "")
        case "ps":
            wrong = next((text for text in texts if not OLD_PS.fullmatch(text)), "")
        case "words":
            wrong = next((text for text in texts if text not in habit.words and "stash@{" not in text), "")
        case "revisions" | "pattern and revisions":
            wrong = next((text for text in texts if text.startswith(":")), "")
        case _:
            if name == "git config":
                wrong = next((text for text in texts if SECRET_KEY.search(text) or "." not in text), "")
            told = operands[:1] if habit.language == "format" else operands
            for word in told if habit.operands == "text" else ():
                if word.globs or not is_harmless(word.text or "", habit.language):
                    wrong = word.raw
    return f"{name} {wrong[:60]} is not known to be harmless" if wrong else ""


def _path_in_revision(text: str) -> str:
    """Give the path of `revision:path`, or the word itself, which may be a path."""
    return text.rpartition(":")[2] or text


def deep_files(reading: Reading) -> tuple[str, ...]:
    """Give the delicate files beneath the folders that are read whole, as far as they are looked through."""
    from hermes_acp.policy.names import is_sensitive

    return tuple(
        path
        for folder in reading.beneath
        for path in files_beneath(folder)
        if is_sensitive(path) and _is_looked_into(path.removeprefix(folder), reading)
    )


def _is_looked_into(path: str, reading: Reading) -> bool:
    """Tell whether a file beneath a folder is read, by its name; a pattern that is not simple fits all."""
    if reading.names:
        name = path.rpartition("/")[2].casefold()
        return any(
            not SIMPLE_GLOB.fullmatch(pattern) or fnmatchcase(name, pattern.casefold())
            for pattern in reading.names
        )
    return not (reading.skips_hidden and "/." in path)
