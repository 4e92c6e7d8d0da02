"""What a command that only reads would read.

Knows: paths, folders that are looked through, patterns of names. Does not know: programs, what is allowed.
"""

import re
from typing import Final

from msgspec import Struct

from hermes_acp.policy.names import is_sensitive, secret_fitting

BETWEEN_NAMES: Final = re.compile(r"[/{},|]")
OF_EXPRESSIONS: Final = re.compile(r"[\\^$()]")


class Reading(Struct, frozen=True):
    """What would be read; `why_not` says what speaks against the command being one that only reads.

    It looks into what is in the folders `beneath`; `patterns` are those of the names that it is after. What
    `is_listing` shows nothing of what is in the `paths`. What git would show of its files, whatever their names, lies
    in the folders `tracked`; the `unnamed` of them usually hold secrets.
    """

    why_not: str = ""
    paths: tuple[str, ...] = ()
    beneath: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    is_listing: bool = False
    tracked: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()


def secret_sought(reading: Reading) -> str:
    """Return the pattern by which a look into folders is after files of secrets; empty where none is."""
    for pattern in reading.patterns if reading.beneath else ():
        for name in BETWEEN_NAMES.split(OF_EXPRESSIONS.sub("", pattern)):
            if name and (is_sensitive(name) or secret_fitting(name)):
                return pattern
    return ""
