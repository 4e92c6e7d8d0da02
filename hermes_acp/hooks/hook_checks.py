"""Find hooks that cannot work, without running them."""

import re
import subprocess
from collections.abc import Mapping
from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.untrusted_text import plain
from hermes_acp.hooks.hook_definitions import CallSubject, Hook
from hermes_acp.workspaces.ripgrep import find_program

CHECK_S: Final = 5.0
FIRST_WORD: Final = re.compile(r"\s*(?:[A-Za-z_]\w*=\S*\s+)*([\w./+-]+)(?=[\s;|&<>)]|$)")
NOT_BASH: Final = "its command is not valid bash: {why}"
NO_PROGRAM: Final = "the program {name!r} was not found"
OF_THE_PROJECT: Final = "{name!r} is a relative path, so it would run a file from whatever project you open"
CALL: Final = CallSubject("edit_file", "edit", ("/x",))


def find_fault(hook: Hook, variables: Mapping[str, str], cwd: str) -> str:
    """Return why a hook cannot work in a folder, or an empty string.

    Blocks; only runs the shell's own syntax checks.
    """
    try:
        hook.applies_to(CALL, ("/",))
    except BadRequest as error:
        return error.message.rstrip(".")
    shell = find_program("bash", variables, ()) or "/bin/sh"
    checked = _run(shell, "-n", "-c", hook.command, variables=variables, cwd=cwd)
    if checked.returncode:
        return NOT_BASH.format(why=plain(checked.stderr))
    found = FIRST_WORD.match(hook.command)
    if found is None:
        return ""
    name = found[1]
    if "/" in name and not name.startswith("/") and hook.entry is None:
        return OF_THE_PROJECT.format(name=name)
    known = _run(shell, "-c", 'type -- "$0"', name, variables=variables, cwd=cwd)
    return NO_PROGRAM.format(name=name) if known.returncode else ""


def _run(*argv: str, variables: Mapping[str, str], cwd: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        argv,
        env=dict(variables),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=CHECK_S,
        check=False,
    )
