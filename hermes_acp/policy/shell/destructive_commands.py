"""Detect commands that are never allowed: wiping the disk or home, overwriting a device, fork bombs.

Commands that are merely dangerous are left to the user.
"""

import re
from posixpath import normpath
from typing import Final

from hermes_acp.policy.shell.command_paths import HARMLESS_DEVICES, ShellEnvironment
from hermes_acp.policy.shell.parsing.script_parser import ParsedScript
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.parsing.simple_command import Command

SYSTEM_FOLDERS: Final = frozenset(
    {
        "/",
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib64",
        "/opt",
        "/proc",
        "/root",
        "/run",
        "/sbin",
    }
    | {"/srv", "/sys", "/usr", "/var", "/Users", "/System", "/Library", "/Applications"}
)
RECURSIVE: Final = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive")
SAFE_DEVICES: Final = re.compile(
    r"/dev/(?:null|zero|full|tty|stdin|stdout|stderr|fd/.*|tcp/.*|udp/.*|shm/.*|pts/.*)"
)
FORMATTERS: Final = re.compile(
    r"mkfs(?:\..+)?|mke2fs|wipefs|blkdiscard|mkswap|sgdisk|sfdisk|fdisk|parted|newfs"
)
FORK_BOMB: Final = re.compile(
    r"(\S{1,40})\s{0,9}\(\)\s{0,9}\{\s{0,9}\1\s{0,9}\|\s{0,9}\1\s{0,9}&?\s{0,9};?\s{0,9}\}"
)
DESTRUCTIVE_PROGRAMS: Final = frozenset({"rm", "chmod", "chown", "chgrp", "shred", "find"})
SELF_CALL: Final = r"(?<![\w./-]){name}(?![\w./-])"


def destruction_by_command(command: Command, environment: ShellEnvironment) -> str:
    """Say what a command would destroy; return an empty string unless that is obvious."""
    program = command.program
    if program not in DESTRUCTIVE_PROGRAMS and not FORMATTERS.fullmatch(program):
        return ""
    texts = [word.text for word in command.args if word.text is not None]
    is_recursive = any(RECURSIVE.fullmatch(text) for text in texts)
    target = next(
        (shown for word in command.args if (shown := _system_target(word, command, environment))), ""
    )
    if program != "find" and target and is_recursive:
        return f"{program} on all of {target} is never allowed"
    if program == "find" and target and {"-delete", "rm", "shred", "/bin/rm"} & set(texts):
        return f"deleting all of {target} is never allowed"
    if FORMATTERS.fullmatch(program) and any(is_device(text) for text in texts):
        return f"{program} on a device is never allowed"
    return ""


def is_device(path: str) -> bool:
    """Return whether writing to a path would overwrite a device."""
    return path.startswith("/dev/") and path not in HARMLESS_DEVICES and not SAFE_DEVICES.fullmatch(path)


def destruction_by_script(script: ParsedScript, text: str) -> str:
    """Say whether a text is a fork bomb: a function that endlessly calls itself twice, or in parallel with itself."""
    if FORK_BOMB.search(text):
        return "a fork bomb is never allowed"
    for name, body in script.functions:
        calls = len(re.findall(SELF_CALL.format(name=re.escape(name)), body)) if name else 0
        is_beside = bool(re.search(r"(?<![&>])&(?![&>\d])", body))
        if calls and (is_beside or (calls >= 2 and "|" in body)):
            return "a fork bomb is never allowed"
    return ""


def _system_target(word: Word, command: Command, environment: ShellEnvironment) -> str:
    """Return the system folder or home folder that a word names as a whole, or an empty string if it names neither."""
    text = word.text
    if not text or text.startswith("-"):
        return ""
    for cwd in command.cwds:
        path = normpath(text if text.startswith("/") else f"{cwd}/{text}")
        path = "/" + path.lstrip("/")
        whole = path.removesuffix("/*").removesuffix("/.*") or "/"
        if whole in SYSTEM_FOLDERS or whole == environment.home:
            return whole
    return ""
