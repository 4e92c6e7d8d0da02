"""Compute the prefixes of the words that a pattern of alternatives matches.

This is needed only when the tables are compiled.
"""

import re

STARTS = re.compile(r"(?:^|\||\(\?:|\\b)([^\W\d_]+)")
GROUP = re.compile(r"\(\?:([^()]*)\)(?![?*])")
LETTERS = re.compile(r"[^\W\d_]*")


def prefixes_of(alternatives: str) -> frozenset[str]:
    """Return the prefixes of the words that the alternatives match; a prefix followed by a blank is a whole word."""
    begins: set[str] = set()
    for found in STARTS.finditer(alternatives):
        letters, ahead = found[1], alternatives[found.end() :]
        if ahead[:1] in ("?", "*", "{"):
            begins.add(letters[:-1])
        elif group := GROUP.match(ahead):
            begins.update(letters + begin[0] for end in group[1].split("|") if (begin := LETTERS.match(end)))
        else:
            begins.add(letters + " " if ahead[:1] == " " else letters)
    return frozenset(begin for begin in begins if len(begin) > 1)
