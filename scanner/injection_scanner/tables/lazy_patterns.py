"""Patterns compiled when a text first needs them: compiling all would take longer than a short text."""

import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern once per process; flags are part of the pattern."""
    return re.compile(pattern)
