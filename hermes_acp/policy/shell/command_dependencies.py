"""Find what a command depends on: the program that it would start, and the files that define what the program does.

A standing grant is bound to the state computed here and lapses when that state changes. Source: "approve once, exploit
forever" (a changed package.json).
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import Final

from hermes_acp.config.server_dependencies import digest_files
from hermes_acp.policy.shell.command_paths import (
    ShellEnvironment,
    find_program_file,
    is_inside,
    is_within,
    resolve,
)
from hermes_acp.policy.shell.parsing.simple_command import Command
from hermes_acp.policy.shell.program_tables import load_tables

MAX_FILES: Final = 8


def dependencies_of(command: Command, environment: ShellEnvironment) -> tuple[str, ...]:
    """Return the program that a command starts and the files that define it, as `program:PATH` and `file:PATH`."""
    name = command.name.text if command.name else None
    if not name or not command.cwds:
        return ()
    cwd = command.cwds[0]
    path = name if "/" in name else find_program_file(name, cwd, environment)
    program = resolve(path, cwd) if path else ""
    found = [f"program:{program}"]
    if program and is_inside(program, environment):
        found.append(f"file:{program}")
    table = load_tables()
    manifests = (_nearest(name, cwd, environment) for name in table.manifests.get(command.program, ()))
    found += (f"file:{path}" for path in manifests if path)
    return tuple(dict.fromkeys(found))


def script_files_of(command: Command, environment: ShellEnvironment) -> tuple[str, ...]:
    """Return the scripts that are passed as arguments to a program that runs scripts, as `file:PATH`."""
    table, program = load_tables(), command.program
    starters = (table.interpreters.names, table.wrappers.words, table.wrappers.scripts, table.manifests)
    if not command.cwds or not any(program in names for names in starters):
        return ()
    return tuple(dict.fromkeys(f"file:{path}" for path in _files_among(command, command.cwds[0])))


def fingerprint_of(footings: Iterable[tuple[str, ...]], cwd: str, roots: Sequence[str]) -> str:
    """Return a fingerprint of what commands in `cwd` depend on within the session's folders."""
    named = [each for dependencies in footings for each in dependencies]
    digest = hashlib.sha256("\0".join(named).encode("utf-8", "replace"))
    files = [each.removeprefix("file:") for each in named if each.startswith("file:")]
    top = next((root for root in roots if is_within(cwd, root)), cwd)
    digest.update(digest_files(cwd, top, files))
    return digest.hexdigest()[:32]


def _nearest(name: str, cwd: str, environment: ShellEnvironment) -> str:
    """Find a file in a folder or the nearest of its parents, within the session's folders."""
    folder = cwd
    while is_inside(folder, environment):
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            return path
        folder = os.path.dirname(folder)
    return ""


def _files_among(command: Command, cwd: str) -> list[str]:
    """Return the files that a command names: scripts that it runs and makefiles that it reads."""
    found: list[str] = []
    for word in command.args:
        text = word.text or ""
        for part in (text, text.partition("=")[2]):
            path = resolve(part, cwd) if part and not part.startswith("-") else ""
            if path and os.path.isfile(path) and not path.startswith("/dev/"):
                found.append(path)
    return found[:MAX_FILES]
