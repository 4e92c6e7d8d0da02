"""Find the commands that `sudo`, `timeout`, `xargs`, `find -exec`, `sh -c` and similar wrappers would start.

A few wrappers are parsed exactly; for the others, every possible interpretation is returned, so that no command is
missed.
"""

import re
from typing import Final

from msgspec import Struct, structs

from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command
from hermes_acp.policy.shell.program_tables import load_tables

DURATION: Final = re.compile(r"\d+(?:\.\d+)?[smhd]?")
ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
TAKES_SCRIPT: Final = re.compile(r"-[a-zA-Z]*[ceS]|--command|--split-string|--filter|--to-command")
ATTACHED_SCRIPT: Final = re.compile(
    r"(?:--(?:command|split-string|filter|to-command|checkpoint-action|rsh|upload-pack)=(?:exec=)?|-S|alias\.[\w-]+=!)(.+)",
    re.DOTALL,
)
STARTS_BEHIND: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
JOINS_WORDS: Final = frozenset({"eval", "watch", "ssh", "parallel", "su", "trap"})
MAX_INTERPRETATIONS: Final = 12


class WrappedCommands(Struct, frozen=True):
    """What may be started: commands, and texts that a shell would run."""

    commands: tuple[Command, ...] = ()
    scripts: tuple[str, ...] = ()


def unwrap_plain(command: Command) -> Command | None:
    """Return the command that a plain wrapper starts, or None if it is not such a wrapper or has unusual arguments."""
    if command.program not in load_tables().wrappers.transparent or not (
        command.name and command.name.is_plain
    ):
        return None
    words = command.args
    match command.program:
        case "timeout":
            if not words or not DURATION.fullmatch(words[0].text or ""):
                return None
            words = words[1:]
        case "nice":
            if len(words) > 1 and words[0].text == "-n" and re.fullmatch(r"-?\d+", words[1].text or ""):
                words = words[2:]
        case "env":
            return _in_environment(command)
        case _:
            pass
    if not words or words[0].text is None or words[0].text.startswith("-") or words[0].globs:
        return None
    return structs.replace(command, name=words[0], args=words[1:], assignments=(), redirects=())


def _in_environment(command: Command) -> Command | None:
    """Return the command that `env` starts with some variables set.

    Returns None if `env` sets no variables or would print all of them.
    """
    words = list(command.args)
    assignments: list[tuple[str, str | None]] = []
    while words and (text := words[0].text) and ASSIGNMENT.fullmatch(text):
        name, _, value = words.pop(0).raw.partition("=")
        assignments.append((name, None if text != f"{name}={value}" else value))
    is_plain = bool(words) and words[0].text is not None and not words[0].text.startswith("-")
    if not assignments or not is_plain or words[0].globs:
        return None
    return structs.replace(
        command, name=words[0], args=tuple(words[1:]), assignments=tuple(assignments), redirects=()
    )


def possible_commands(command: Command) -> WrappedCommands:
    """Return everything that a wrapper may start; empty for other programs."""
    wrappers = load_tables().wrappers
    program = command.program
    commands = _started(command) if program in wrappers.words else []
    # The words of `find` contain the command that it starts; its `-name` is not a shell flag.
    may_hold_scripts = program in wrappers.scripts or (program in wrappers.words and program != "find")
    scripts = _scripts(command) if may_hold_scripts else []
    if program in wrappers.shells and command.feed is not None:
        scripts.append(command.feed)
    return WrappedCommands(
        tuple(commands[:MAX_INTERPRETATIONS]), tuple(dict.fromkeys(scripts))[:MAX_INTERPRETATIONS]
    )


def _started(command: Command) -> list[Command]:
    words = command.args
    if command.program in ("find", "fd"):
        begins = [at + 1 for at, word in enumerate(words) if word.text in STARTS_BEHIND]
    elif command.program in load_tables().wrappers.direct and words and _is_program(words[0]):
        begins = [0]
    else:
        begins = [at for at, word in enumerate(words) if word.text is None or _is_program(word)]
    bare = structs.replace(command, assignments=(), redirects=())
    started: list[Command] = []
    for begin in begins[:MAX_INTERPRETATIONS]:
        end = next((at for at in range(begin, len(words)) if words[at].text in (";", "+", ":::")), len(words))
        if begin < end:
            started.append(structs.replace(bare, name=words[begin], args=words[begin + 1 : end]))
    return started


def _is_program(word: Word) -> bool:
    """Return whether a word is known and neither a flag nor an assignment."""
    return word.text is not None and not word.text.startswith("-") and not ASSIGNMENT.fullmatch(word.text)


def _scripts(command: Command) -> list[str]:
    words = command.args
    scripts: list[str] = []
    for at, word in enumerate(words):
        if attached := ATTACHED_SCRIPT.fullmatch(word.text or ""):
            scripts.append(attached[1])
        if command.program != "git" and TAKES_SCRIPT.fullmatch(word.text or "") and at + 1 < len(words):
            scripts.append(_text(words[at + 1]))
    if command.program in JOINS_WORDS:
        flags = next((at for at, word in enumerate(words) if not word.raw.startswith("-")), len(words))
        own = words[flags + (command.program == "ssh") :]
        scripts.append(" ".join(_text(word) for word in own))
    return [script for script in scripts if script.strip()]


def _text(word: Word) -> str:
    return word.raw if word.text is None else word.text
