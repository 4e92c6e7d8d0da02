"""Decide from a program's table whether a command only reads."""

import re
from typing import Final

from msgspec import structs

from hermes_acp.git.program_settings import shapes_output_only
from hermes_acp.policy.shell.command_arguments import ParsedArguments, parse_arguments
from hermes_acp.policy.shell.command_operands import count_mistake, read_operands
from hermes_acp.policy.shell.command_paths import (
    ShellEnvironment,
    is_inside,
    paths_of,
    workspace_program,
)
from hermes_acp.policy.shell.history_secrets import HistoryError, secrets_in_history
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command
from hermes_acp.policy.shell.program_tables import ProgramSpec, flags_of, load_tables
from hermes_acp.policy.shell.read_access import ReadAccess
from hermes_acp.policy.shell.secret_exposure import secrets_shown, tracked_secrets_shown

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
SHELL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9+_.-]*|:")
NAMED_BY_PLACE: Final = re.compile(r"[\w.+-]*(?:/[\w.+-]+)+")


def read_only_access(command: Command, environment: ShellEnvironment) -> ReadAccess:
    """Check a command that has no wrapper around it."""
    if why := program_mistake(command, environment):
        return ReadAccess(why)
    program = command.program
    if _asks_version(program, command.args):
        return ReadAccess()
    program_spec = load_tables().program_spec(program)
    if program_spec is None:
        return ReadAccess(_reason_to_ask(program, command.args))
    if program_spec.is_interactive and command.feed is not None:
        return ReadAccess(f"{program} may run its input as commands")
    if program_spec.globals is not None:
        return _read_subcommand(program, program_spec, command.args, command.cwds, environment)
    return read_program_words(program, program_spec, command.args, command.cwds)


def program_mistake(command: Command, environment: ShellEnvironment) -> str:
    """Say why a command's first word may not be the program it appears to be; return an empty string if it is."""
    name = command.name
    if name and name.is_plain and NAMED_BY_PLACE.fullmatch(name.raw):
        return f"{name.raw[:60]} names a program by its path; only names without a path are recognised"
    if name is None or not name.is_plain or not SHELL_NAME.fullmatch(name.text or ""):
        return "its program's name is written in a way that hides or changes it"
    program = name.text or ""
    if program not in BUILTINS and (shadow := workspace_program(program, command.cwds, environment)):
        return f"{program} would be {shadow}, which is part of the workspace"
    return ""


def _asks_version(program: str, words: tuple[Word, ...]) -> bool:
    if len(words) == 1 and words[0].raw == "--help" and program in load_tables().helps.names:
        return True
    return len(words) == 1 and words[0].is_plain and program in load_tables().versions.get(words[0].raw, ())


def _reason_to_ask(program: str, words: tuple[Word, ...]) -> str:
    first = words[0].text or "" if words else "alone"
    return load_tables().why_asked(f"{program} {first}") or f"{program} may do more than read"


def _as_typed(program: str, reason: str) -> str:
    """Return the reason with the program named as in the command, not as in its table entry."""
    known = load_tables().aliases.get(program, program)
    return f"{program}{reason.removeprefix(known)}" if reason.startswith(f"{known} ") else reason


def _read_subcommand(
    program: str,
    program_spec: ProgramSpec,
    words: tuple[Word, ...],
    cwds: tuple[str, ...],
    environment: ShellEnvironment,
) -> ReadAccess:
    """Check what follows a program's own flags, among which `-C` changes the folder."""
    led = _skip_flags(program, program_spec, words, cwds)
    if isinstance(led, ReadAccess):
        return led
    at, cwds, read = led
    if at == len(words) or not words[at].is_plain:
        return ReadAccess(f"what {program} will do is not known")
    table = load_tables()
    name = " ".join(
        part for part in (table.aliases.get(program, program), program_spec.lead, words[at].text) if part
    )
    inner = table.program_spec(name)
    if inner is None:
        return ReadAccess(_as_typed(program, table.why_asked(name) or f"{name} may do more than read"))
    rest = words[at + 1 :]
    if inner.globals is not None:
        reading = _read_subcommand(table.aliases.get(name, name), inner, rest, cwds, environment)
    else:
        reading = read_program_words(name, inner, rest, cwds)
    tracked = tracked_secrets_shown(name, rest, cwds, environment.roots)
    unnamed: tuple[str, ...] = ()
    if tracked and not reading.why_not:
        unnamed = secrets_shown(name, rest, cwds, environment.roots)
        try:
            unnamed += _secrets_in_history(name, rest, cwds, environment)
        except HistoryError:
            return ReadAccess(f"which files {name} would show of the history is not known")
        unnamed = tuple(dict.fromkeys(unnamed))
    return structs.replace(reading, paths=(*read, *reading.paths), tracked=tracked, unnamed=unnamed)


def _secrets_in_history(
    name: str, words: tuple[Word, ...], cwds: tuple[str, ...], environment: ShellEnvironment
) -> tuple[str, ...]:
    texts = [word.text or "" for word in words]
    search_path = [each for each in environment.search_path if not is_inside(each, environment)]
    return tuple(path for cwd in cwds for path in secrets_in_history(name, texts, cwd, search_path))


def _skip_flags(
    program: str, program_spec: ProgramSpec, words: tuple[Word, ...], cwds: tuple[str, ...]
) -> tuple[int, tuple[str, ...], tuple[str, ...]] | ReadAccess:
    """Return a subcommand's index, its working folders and the paths that lead there; or the final result."""
    if program_spec.lead:
        if not words or words[0].raw != program_spec.lead:
            return ReadAccess(_reason_to_ask(program, words))
        return 1, cwds, ()
    flags = flags_of(program_spec.globals or "")
    read: list[str] = []
    at = 0
    while at < len(words) and (words[at].text or "").startswith("-"):
        flag, _, attached = (words[at].text or "").partition("=")
        if len(words) == 1 and flag in program_spec.version.split():
            return ReadAccess()
        takes = flags.get(flag)
        if takes is None or (attached and takes != "text"):
            return ReadAccess(f"{program} {words[at].text} may do more than read")
        if takes == "setting":
            at += 1
            value = words[at].text if at < len(words) else None
            if value is None or not shapes_output_only(value):
                return ReadAccess(f"{program} {flag} may do more than read")
        if takes == "path":
            at += 1
            places = paths_of(words[at], cwds) if at < len(words) and not words[at].globs else None
            if not places:
                return ReadAccess(f"the folder given to {program} {flag} is not known")
            cwds = places
            read += places
        at += 1
    return at, cwds, tuple(read)


def read_program_words(
    name: str, program_spec: ProgramSpec, words: tuple[Word, ...], cwds: tuple[str, ...]
) -> ReadAccess:
    """Check the arguments of a program or subcommand against its table."""
    if program_spec.drops and words and words[0].text in program_spec.drops:
        words = words[1:]
    if program_spec.operands == "free":
        return ReadAccess()
    if program_spec.old_style and words and not words[0].raw.startswith("-"):
        cluster = _cluster_of(words[0].text or "?", program_spec)
        if not cluster:
            return ReadAccess(f"{name} {words[0].raw[:60]} may do more than read")
        words = (Word(words[0].raw, cluster), *words[1:])
    if program_spec.expands and any(_may_expand(word, program_spec.expands) for word in words):
        return ReadAccess(f"{name} would read more arguments from a file")
    found = parse_arguments(words, program_spec)
    if program_spec.forbidden and any(
        re.search(program_spec.forbidden, text) for text in _texts_of(program_spec, found)
    ):
        return ReadAccess(f"{name} would show more than its arguments name")
    if found.unknown:
        return ReadAccess(f"{name} with {found.unknown[:60]} may do more than read")
    if why := count_mistake(name, program_spec, found):
        return ReadAccess(why)
    return read_operands(name, program_spec, found, cwds)


def _texts_of(program_spec: ProgramSpec, found: ParsedArguments) -> list[str]:
    operands = found.operands if program_spec.operands == "text" else ()
    return [*(value for _, value in found.values), *(word.text or "" for word in operands)]


def _cluster_of(letters: str, program_spec: ProgramSpec) -> str:
    """Parse flags without a dash as a cluster whose last flag takes a value; empty if a flag is unknown."""
    flags = flags_of(program_spec.flags)
    valued = [letter for letter in letters if flags.get(f"-{letter}") != "nothing"]
    plain = [letter for letter in letters if letter not in valued]
    is_known = set(letters) <= set(program_spec.old_style) and len(valued) <= 1
    return f"-{''.join((*plain, *valued))}" if is_known else ""


def _may_expand(word: Word, mark: str) -> bool:
    """Return whether a word may contain `mark` in front of the name of a file with more arguments."""
    text = word.text or mark
    return text.startswith(mark) or (word.globs and text[0] in "*?[")
