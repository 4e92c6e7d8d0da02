"""Check programs started on files that `find` finds, or whose names come from `xargs`, a word or a loop.

The started program must be read-only too. The sandbox limits what a file name could make it do.
"""

import os
from typing import Final

from msgspec import structs

from hermes_acp.policy.shell.command_arguments import parse_arguments
from hermes_acp.policy.shell.command_paths import ShellEnvironment
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command
from hermes_acp.policy.shell.program_tables import ProgramSpec, flags_of, load_tables
from hermes_acp.policy.shell.read_access import ReadAccess
from hermes_acp.policy.shell.read_only_commands import program_mistake, read_only_access, read_program_words

FOUND: Final = Word("{}", "{}")


def access_of_command(command: Command, environment: ShellEnvironment) -> ReadAccess:
    """Check a command and the programs that it starts on files."""
    program_spec = load_tables().program_spec(command.program)
    if program_spec and program_spec.is_fed:
        why = program_mistake(command, environment)
        return ReadAccess(why) if why else _access_from_pipe(command, program_spec, environment)
    if (
        program_spec
        and program_spec.starts
        and any(word.text == program_spec.starts for word in command.args)
    ):
        why = program_mistake(command, environment)
        return ReadAccess(why) if why else _access_of_started(command, program_spec, environment)
    reading = read_only_access(command, environment)
    if (
        not reading.why_not
        or command.told_by is None
        or program_spec is None
        or program_spec.globals is not None
    ):
        return reading
    return _access_from_output(command, command.told_by, environment)


def _access_from_output(command: Command, teller: Command, environment: ShellEnvironment) -> ReadAccess:
    """Check a program whose last argument is another command's output: file names, one per word."""
    told = _files_from_pipe(structs.replace(command, source=teller), environment)
    name = program_mistake(command, environment) == "" and command.name
    is_quiet = all(each.target and each.target.text == "/dev/null" for each in teller.redirects)
    if told is None or not name or not is_quiet or teller.cwds != command.cwds:
        return ReadAccess(f"the arguments that {command.text[:60]} receives are not known")
    return _access_on_found(command, (name, *command.args[:-1], FOUND), told, environment)


def _access_of_started(
    command: Command, program_spec: ProgramSpec, environment: ShellEnvironment
) -> ReadAccess:
    """Check a program that starts others on each file that it finds: these may only read, and read only those files."""
    own: list[Word] = []
    started: list[tuple[Word, ...]] = []
    rest = list(command.args)
    while rest:
        word = rest.pop(0)
        if word.text != program_spec.starts:
            own.append(word)
            continue
        end = next((at for at, each in enumerate(rest) if each.text in (";", "+")), -1)
        if end < 2 or [at for at, each in enumerate(rest[:end]) if "{}" in (each.text or "{}")] != [end - 1]:
            return ReadAccess(f"the commands that {command.program} would start are not known")
        if rest[end - 1].text != "{}":
            return ReadAccess(f"the commands that {command.program} would start are not known")
        started.append(tuple(rest[:end]))
        rest = rest[end + 1 :]
    found = read_program_words(command.program, program_spec, tuple(own), command.cwds)
    if found.why_not:
        return found
    for words in started:
        reading = _access_on_found(command, words, found, environment)
        if reading.why_not:
            return reading
    return _including_contents(found, command)


def _including_contents(found: ReadAccess, command: Command) -> ReadAccess:
    """Return the access for files found in some folders: everything in those folders counts as read."""
    return structs.replace(found, beneath=found.paths or command.cwds, is_listing=False)


def _access_on_found(
    command: Command, words: tuple[Word, ...], found: ReadAccess, environment: ShellEnvironment
) -> ReadAccess:
    """Check a program started on found files, which the last word represents."""
    name, fixed = words[0], words[1:-1]
    program_spec = load_tables().program_spec(name.text or "")
    if (
        program_spec is None
        or program_spec.operands not in ("paths", "script")
        or program_spec.starts
        or program_spec.most
    ):
        return ReadAccess(f"{name.raw[:60]} may do more than read")
    alone = parse_arguments(fixed, program_spec)
    if alone.unknown or (program_spec.operands == "script" and not (alone.scripts or alone.operands)):
        return ReadAccess(f"the arguments that {name.raw} receives are not known")
    folder = next(iter(found.paths or command.cwds))
    inner = structs.replace(
        command, name=name, args=(*fixed, Word(folder, folder)), assignments=(), redirects=()
    )
    reading = read_only_access(inner, environment)
    if not reading.why_not and any(path != folder for path in reading.paths):
        return ReadAccess(f"{name.raw} reads more than the files found")
    return reading if reading.why_not else _including_contents(found, command)


def _access_from_pipe(
    command: Command, program_spec: ProgramSpec, environment: ShellEnvironment
) -> ReadAccess:
    """Check a program started on files whose names another program writes."""
    words = list(command.args)
    given = _take_flags(words, program_spec)
    if isinstance(given, str):
        return ReadAccess(f"{command.program} with {given[:60]} may do more than read")
    started = load_tables().program_spec(words[0].text or "") if words else None
    if started and started.operands == "free":
        return read_only_access(structs.replace(command, name=words[0], args=tuple(words[1:])), environment)
    mark = given.get("-I", "")
    if mark and words and words[-1].text == mark:
        words.pop()
    if not words or (mark and any(mark in (word.text or mark) for word in words)):
        return ReadAccess(f"the commands that {command.program} would start are not known")
    told = _files_from_pipe(command, environment)
    if told is None:
        return ReadAccess(f"the files that {command.program} is given are not known")
    return _access_on_found(command, (*words, FOUND), told, environment)


def _take_flags(words: list[Word], program_spec: ProgramSpec) -> dict[str, str] | str:
    """Strip the leading flags and return them with their values, or return the first unknown flag."""
    flags = flags_of(program_spec.flags)
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


def _files_from_pipe(command: Command, environment: ShellEnvironment) -> ReadAccess | None:
    """Return the folders of the files whose paths are a command's only input, or None if there may be other input."""
    source = command.source
    if source is None or program_mistake(source, environment):
        return None
    program_spec, words = load_tables().program_spec(source.program), source.args
    if program_spec is None:
        return None
    if program_spec.globals is not None:
        name = f"{source.program} {words[0].text}" if words else ""
        program_spec, words = load_tables().program_spec(name), words[1:]
        if program_spec is None or read_only_access(source, environment).why_not:
            return None
    flags = set(parse_arguments(words, program_spec).flags)
    if flags & set(program_spec.tells_more.split()):
        return None
    reading = read_program_words(source.program, program_spec, words, source.cwds)
    if reading.why_not:
        return None
    if program_spec.tells == "what it is told":
        return None if reading.paths else _files_from_pipe(source, environment)
    if program_spec.tells != "always" and not flags & set(program_spec.tells.split()):
        return None
    return structs.replace(reading, paths=tuple(filter(os.path.isdir, reading.paths)))
