"""Compile patterns when a text first needs them, because compiling all would take longer than scanning a short text."""

import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern once per process; flags are part of the pattern itself."""
    return re.compile(pattern)
