"""Globs in ignore file syntax, with braces.

`*.py` matches anywhere, `src/**/*.ts` from the base folder, `{a,b}` either alternative.
"""

import re
from typing import Final, cast

from hermes_acp.core.errors import BadRequest

INNERMOST_BRACES: Final = re.compile(r"\{([^{}]*)\}")
MAX_ALTERNATIVES: Final = 100


class Glob:
    """One glob, ready to be matched against paths relative to its base folder."""

    def __init__(self, pattern: str) -> None:
        """Compile a glob. Raises BadRequest if it has too many alternatives."""
        from pathspec import GitIgnoreSpec

        self._spec = GitIgnoreSpec.from_lines(expand_braces(pattern.removeprefix("./")))
        # A single pattern without negation needs no precedence check, and matches much faster on its own.
        sole = self._spec.patterns[0] if len(self._spec.patterns) == 1 else None
        self._sole: re.Pattern[str] | None = None
        if sole is not None and sole.include:
            self._sole = cast("re.Pattern[str] | None", getattr(sole, "regex", None))

    def covers(self, path: str) -> bool:
        """Return whether a relative path matches."""
        return bool(self._sole.search(path)) if self._sole else self._spec.match_file(path)


def expand_braces(pattern: str) -> list[str]:
    """Return the globs that a glob with braces expands to. Raises BadRequest for more than a hundred."""
    patterns = [pattern]
    while any(INNERMOST_BRACES.search(each) for each in patterns):
        patterns = [part for each in patterns for part in _split_first(each)]
        if len(patterns) > MAX_ALTERNATIVES:
            raise BadRequest(
                f"The glob {pattern[:80]!r} expands to too many names.", hint="Use a simpler one."
            )
    return patterns


def _split_first(pattern: str) -> list[str]:
    found = INNERMOST_BRACES.search(pattern)
    if not found:
        return [pattern]
    head, tail = pattern[: found.start()], pattern[found.end() :]
    return [f"{head}{choice}{tail}" for choice in found[1].split(",")]
