"""What a read-only command would read: paths, the folders it searches, and the name patterns."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from hermes_acp.policy.sensitive_names import is_sensitive, secret_name_matching
from hermes_acp.policy.shell.command_paths import is_within
from hermes_acp.policy.shell.tracked_secrets import tracked_secret_files

BETWEEN_NAMES: Final = re.compile(r"[/{},|]")
SIMPLE_PATTERN: Final = re.compile(r"[\w.*-]+")
OF_EXPRESSIONS: Final = re.compile(r"[\\^$()]")


class ReadAccess(Struct, frozen=True):
    """What would be read; `why_not` says why the command may not be read-only.

    The command reads the content of the folders `beneath`; `patterns` are the names that it looks for. With
    `is_narrow`, it reads nothing else in them; with `skips_hidden`, no hidden files. With `is_listing`, it shows no
    content of `paths`. `tracked` lists folders whose files git would show whatever their names; files in `unnamed`
    usually contain secrets.
    """

    why_not: str = ""
    paths: tuple[str, ...] = ()
    beneath: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    is_narrow: bool = False
    skips_hidden: bool = False
    is_listing: bool = False
    tracked: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()


def searched_secret(reading: ReadAccess) -> str:
    """Return the pattern with which a search looks for secret files, or an empty string if there is none."""
    for pattern in reading.patterns if reading.beneath else ():
        for name in BETWEEN_NAMES.split(OF_EXPRESSIONS.sub("", pattern)):
            if name and (is_sensitive(name) or secret_name_matching(name)):
                return pattern
    return ""


def tracked_secrets(reading: ReadAccess) -> Iterator[str]:
    """Yield the secret files that git tracks in the searched folders: a sandbox cannot hide git's own copies."""
    for folder in reading.beneath:
        for path in tracked_secret_files(folder):
            if is_within(path, folder) and not (reading.skips_hidden and "/." in path[len(folder) :]):
                name = path.rpartition("/")[2].casefold()
                if not reading.is_narrow or _fits(name, reading.patterns):
                    yield path


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a name may match one of several patterns; a complex pattern may match anything."""
    return not patterns or any(
        not SIMPLE_PATTERN.fullmatch(each) or fnmatchcase(name, each.casefold()) for each in patterns
    )
