"""What a command that only reads would read.

Knows: paths, folders that are looked through, which of the files there are. Does not know: programs, what is allowed.
"""

import re
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from hermes_acp.policy.names import is_sensitive
from hermes_acp.policy.shell.places import files_beneath

SIMPLE_GLOB: Final = re.compile(r"[\w.*-]+")


class Reading(Struct, frozen=True):
    """What would be read; `why_not` says what speaks against the command being one that only reads.

    Of the folders `beneath` which it looks, only the files that `names` fit are read, all where it is empty; none that
    is hidden where it `skips_hidden`, unless a name fits, and none that is `omitted`. `omission` is how a word of the
    command would begin that leaves out one more name. What `is_listing` shows nothing of what is in the `paths`.
    What git would show of its files, whatever their names, lies in the folders `tracked`; the `unnamed` of them usually
    hold secrets.
    """

    why_not: str = ""
    paths: tuple[str, ...] = ()
    beneath: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    omission: str = ""
    skips_hidden: bool = False
    is_listing: bool = False
    tracked: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()


def deep_files(reading: Reading) -> tuple[str, ...]:
    """Give the delicate files beneath the folders that are read whole, as far as they are looked through."""
    return tuple(
        path
        for folder in reading.beneath
        for path in files_beneath(folder)
        if is_sensitive(path) and _is_looked_into(path.removeprefix(folder), reading)
    )


def _is_looked_into(path: str, reading: Reading) -> bool:
    """Tell whether a file beneath a folder is read, by its name; a pattern that is not simple fits all.

    Where patterns of both kinds are given, programs differ in which of them wins; those that leave out do not count.
    """
    name = path.rpartition("/")[2]
    if reading.names:
        return any(
            not SIMPLE_GLOB.fullmatch(pattern) or fnmatchcase(name.casefold(), pattern.casefold())
            for pattern in reading.names
        )
    if any(SIMPLE_GLOB.fullmatch(pattern) and fnmatchcase(name, pattern) for pattern in reading.omitted):
        return False
    return not (reading.skips_hidden and "/." in path)
