"""What a command stands on: the program it would start, and the files that say what that does.

Knows: which file tells what `npm test` or `make` runs, that an interpreter runs the script it is given.
Does not know: whether a command may run, what files import or include (`config.server_footing`). A lasting answer is
bound to the state given here: it ends when somebody changes what the command does. Source: "approve once, exploit
forever" (a changed package.json).
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import Final

from hermes_acp.config.server_footing import state_of_files
from hermes_acp.policy.shell.commands import Command
from hermes_acp.policy.shell.places import Surroundings, is_inside, is_within, program_at, resolve
from hermes_acp.policy.shell.tables import tables

MOST_FILES: Final = 8


def footing_of(command: Command, around: Surroundings) -> tuple[str, ...]:
    """Name the program a command starts and the files that say what that does, as `program:PATH` and `file:PATH`."""
    name = command.name.text if command.name else None
    if not name or not command.cwds:
        return ()
    cwd = command.cwds[0]
    path = name if "/" in name else program_at(name, cwd, around)
    program = resolve(path, cwd) if path else ""
    found = [f"program:{program}"]
    if program and is_inside(program, around):
        found.append(f"file:{program}")
    table = tables()
    manifests = (_nearest(name, cwd, around) for name in table.manifests.get(command.program, ()))
    found += (f"file:{path}" for path in manifests if path)
    return tuple(dict.fromkeys(found))


def scripts_of(command: Command, around: Surroundings) -> tuple[str, ...]:
    """Name the scripts among the words of a program that runs such, as `file:PATH`."""
    table, program = tables(), command.program
    starters = (table.interpreters.names, table.wrappers.words, table.wrappers.scripts, table.manifests)
    if not command.cwds or not any(program in names for names in starters):
        return ()
    return tuple(dict.fromkeys(f"file:{path}" for path in _files_among(command, command.cwds[0])))


def state_of(footings: Iterable[tuple[str, ...]], cwd: str, roots: Sequence[str]) -> str:
    """Return the present state of what commands in `cwd` depend on, as far as it lies in the session's folders."""
    named = [each for footing in footings for each in footing]
    digest = hashlib.sha256("\0".join(named).encode("utf-8", "replace"))
    files = [each.removeprefix("file:") for each in named if each.startswith("file:")]
    top = next((root for root in roots if is_within(cwd, root)), cwd)
    digest.update(state_of_files(cwd, top, files))
    return digest.hexdigest()[:32]


def _nearest(name: str, cwd: str, around: Surroundings) -> str:
    """Find a file in a folder or above it, as far as the session's folders go."""
    folder = cwd
    while is_inside(folder, around):
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            return path
        folder = os.path.dirname(folder)
    return ""


def _files_among(command: Command, cwd: str) -> list[str]:
    """Give the files that a command's words name: scripts it runs, makefiles it reads."""
    found: list[str] = []
    for word in command.args:
        text = word.text or ""
        for part in (text, text.partition("=")[2]):
            path = resolve(part, cwd) if part and not part.startswith("-") else ""
            if path and os.path.isfile(path) and not path.startswith("/dev/"):
                found.append(path)
    return found[:MOST_FILES]
