"""Patterns that are compiled when a text first calls for them: compiling all would take longer than a short text.

Knows: that each is compiled once. Does not know: what they find.
"""

import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern once a process; flags stand in the pattern."""
    return re.compile(pattern)
