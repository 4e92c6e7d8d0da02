"""Determine what a command that is not known to be harmless would touch, going by its words.

This explains a question and finds what is never allowed; it allows nothing.
"""

import re
from typing import Final

from msgspec import Struct

from hermes_acp.policy.shell.command_paths import paths_of
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command
from hermes_acp.policy.shell.program_tables import load_tables

ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(\[[^\]\s]*\]|[^/:\s?#]+)", re.IGNORECASE)
REMOTE: Final = re.compile(r"(?:[\w.-]+@)([\w.-]+)(?::.*)?")
PATH_LIKE: Final = re.compile(r"(?:[/.~]|[^\s=:]+/)[^\s]*")
SPEAKS_TO: Final = frozenset(
    {"ssh", "nc", "ncat", "netcat", "telnet", "ping", "ftp", "sftp", "host", "nslookup", "dig", "whois"}
)


class TouchedPaths(Struct):
    """The paths and hosts found in a command."""

    reads: list[str] = []
    writes: list[str] = []
    deletes: list[str] = []
    hosts: list[str] = []


def paths_touched_by(command: Command) -> TouchedPaths:
    """Find the paths and hosts named in a command's words."""
    found = TouchedPaths()
    program, table = command.program, load_tables().changes
    operands = [word for word in command.args if word.text is not None and not word.text.startswith("-")]
    changed = _changed(program, command.args, operands)
    for word in changed:
        places = paths_of(word, command.cwds) or ()
        (found.deletes if program in table.deletes else found.writes).extend(places)
    if program in table.sources:
        for word in operands[:-1]:
            found.deletes.extend(paths_of(word, command.cwds) or ())
    for word in operands[_begins_with_script(program, command.args) :]:
        if word not in changed and PATH_LIKE.fullmatch(word.text or "") and "://" not in (word.text or ""):
            found.reads.extend(paths_of(word, command.cwds) or ())
    found.hosts = _hosts(program, command.args, operands)
    return found


def _begins_with_script(program: str, words: tuple[Word, ...]) -> bool:
    """Return whether a program's first operand must be a script or pattern because no flag provides one."""
    program_spec = load_tables().program_spec(program)
    brings = any((word.text or "-e").startswith(("-e", "-f", "--")) for word in words)
    return program_spec is not None and program_spec.operands == "script" and not brings


def _changed(program: str, words: tuple[Word, ...], operands: list[Word]) -> list[Word]:
    table = load_tables().changes
    changed: list[Word] = []
    if program in table.all:
        changed += operands
    elif program in table.last:
        changed += operands[-1:]
    prefix, flag = table.prefixed.get(program), table.flagged.get(program)
    for at, word in enumerate(words):
        text = word.text or ""
        if prefix and text.startswith(prefix):
            changed.append(Word(word.raw, text.removeprefix(prefix)))
        elif flag and text == flag and at + 1 < len(words):
            changed.append(words[at + 1])
        elif flag and text.startswith(flag) and len(text) > len(flag) and not text.startswith("--"):
            changed.append(Word(word.raw, text.removeprefix(flag)))
    in_place = table.in_place.get(program)
    if in_place and any((word.text or "").startswith((in_place, "--in-place")) for word in words):
        changed += operands[1:] or operands
    return changed


def _hosts(program: str, words: tuple[Word, ...], operands: list[Word]) -> list[str]:
    hosts: list[str] = []
    for word in words:
        hosts += (found[1] for found in ADDRESS.finditer(word.text or word.raw))
        if remote := REMOTE.fullmatch(word.text or ""):
            hosts.append(remote[1])
    if program in SPEAKS_TO and operands and not hosts:
        hosts.append(operands[0].text or operands[0].raw)
    return list(dict.fromkeys(hosts))
