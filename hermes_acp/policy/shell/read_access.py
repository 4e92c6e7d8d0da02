"""What a command that only reads would read.

Knows: paths, folders that are looked through, patterns of names. Does not know: programs, what is allowed.
"""

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
    """What would be read; `why_not` says what speaks against the command being one that only reads.

    It looks into what is in the folders `beneath`; `patterns` are those of the names that it is after. Nothing else is
    read there where it `is_narrow`, no hidden file where it `skips_hidden`. What
    `is_listing` shows nothing of what is in the `paths`. What git would show of its files, whatever their names, lies
    in the folders `tracked`; the `unnamed` of them usually hold secrets.
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
    """Return the pattern by which a look into folders is after files of secrets; empty where none is."""
    for pattern in reading.patterns if reading.beneath else ():
        for name in BETWEEN_NAMES.split(OF_EXPRESSIONS.sub("", pattern)):
            if name and (is_sensitive(name) or secret_name_matching(name)):
                return pattern
    return ""


def tracked_secrets(reading: ReadAccess) -> Iterator[str]:
    """Yield the files of secrets in the folders it looks into that git tracks: a sandbox does not hide what git has."""
    for folder in reading.beneath:
        for path in tracked_secret_files(folder):
            if is_within(path, folder) and not (reading.skips_hidden and "/." in path[len(folder) :]):
                name = path.rpartition("/")[2].casefold()
                if not reading.is_narrow or _fits(name, reading.patterns):
                    yield path


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a name may fit one of some patterns; what is no simple pattern may fit any."""
    return not patterns or any(
        not SIMPLE_PATTERN.fullmatch(each) or fnmatchcase(name, each.casefold()) for each in patterns
    )
