"""A regular expression that is compiled when it is first used.

Compiling a long pattern takes milliseconds, and a process uses few of the patterns in the modules that it imports.
"""

import re
from functools import cached_property


class LazyPattern:
    """A pattern and its flags, as `re.compile` takes them."""

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern, self.flags)
