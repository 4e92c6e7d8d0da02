"""Globs as ignore files have them, with braces.

Knows: `*.py` anywhere, `src/**/*.ts` from the folder on, `{a,b}` as either. Does not know: files.
"""

import re
from typing import Final, cast

from hermes_acp.core.errors import BadRequest

INNERMOST_BRACES: Final = re.compile(r"\{([^{}]*)\}")
MAX_ALTERNATIVES: Final = 100


class Glob:
    """One glob, ready to be matched against paths relative to the folder it counts from."""

    def __init__(self, pattern: str) -> None:
        """Read a glob. Raises BadRequest for one with too many alternatives."""
        from pathspec import GitIgnoreSpec

        self._spec = GitIgnoreSpec.from_lines(expand_braces(pattern.removeprefix("./")))
        # One pattern that takes nothing back needs no weighing against others, and is matched much faster alone.
        sole = self._spec.patterns[0] if len(self._spec.patterns) == 1 else None
        self._sole: re.Pattern[str] | None = None
        if sole is not None and sole.include:
            self._sole = cast("re.Pattern[str] | None", getattr(sole, "regex", None))

    def covers(self, path: str) -> bool:
        """Return whether a relative path is meant."""
        return bool(self._sole.search(path)) if self._sole else self._spec.match_file(path)


def expand_braces(pattern: str) -> list[str]:
    """Return the globs without braces that one with braces stands for. Raises BadRequest for more than a hundred."""
    patterns = [pattern]
    while any(INNERMOST_BRACES.search(each) for each in patterns):
        patterns = [part for each in patterns for part in _split_first(each)]
        if len(patterns) > MAX_ALTERNATIVES:
            raise BadRequest(
                f"The glob {pattern[:80]!r} stands for too many names.", hint="Use a simpler one."
            )
    return patterns


def _split_first(pattern: str) -> list[str]:
    found = INNERMOST_BRACES.search(pattern)
    if not found:
        return [pattern]
    head, tail = pattern[: found.start()], pattern[found.end() :]
    return [f"{head}{choice}{tail}" for choice in found[1].split(",")]
