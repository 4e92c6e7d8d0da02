"""Find the intended word for a mistyped one."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MAX_SUGGESTIONS: Final = 3
MIN_SIMILARITY: Final = 0.6
SYNONYMS: Final = (
    frozenset({"list", "ls", "show", "view", "cat", "get", "status"}),
    frozenset({"delete", "remove", "rm", "forget", "revoke", "reject", "uninstall", "clear"}),
    frozenset({"add", "new", "create", "save", "remember", "install"}),
    frozenset({"edit", "change", "set", "update", "replace"}),
    frozenset({"search", "find", "grep"}),
    frozenset({"explain", "check", "test", "why"}),
    frozenset({"undo", "revert", "rollback", "restore", "rewind"}),
    frozenset({"run", "exec", "ask", "prompt"}),
    frozenset({"chat", "talk", "repl", "tui", "resume", "continue"}),
    frozenset({"setup", "config", "configure", "init", "login", "auth", "model", "models"}),
    frozenset({"doctor", "diagnose", "health"}),
    frozenset({"update", "upgrade", "self-update"}),
    frozenset({"accept", "approve", "allow", "confirm"}),
)
"""Groups of names that other programs use for the same command."""


def nearest(word: str, known: Iterable[str], most: int = MAX_SUGGESTIONS) -> list[str]:
    """Return the known words that are most similar to a word or start with it, best first."""
    words = list(dict.fromkeys(known))
    alike = get_close_matches(word, words, most, MIN_SIMILARITY)
    longer = [each for each in words if len(word) > 1 and each.startswith(word)]
    return list(dict.fromkeys((*alike, *longer)))[:most]


def nearest_commands(word: str, known: Iterable[str]) -> list[str]:
    """Return the commands that a word may mean: those with that synonym, else the most similar ones."""
    words = list(known)
    same = [each for each in words if any(word in names and each in names for names in SYNONYMS)]
    return same[:MAX_SUGGESTIONS] or nearest(word, words)
