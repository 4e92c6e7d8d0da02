"""The exit codes of all commands.

Sources: 2 as in argparse; 75 is EX_TEMPFAIL from sysexits.h; 124 as in timeout(1); 128 plus the signal number as in
shells.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit code of a process."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    MODEL = 3
    STORAGE = 4
    REFUSED = 5
    BUSY = 75
    TIMED_OUT = 124
    INTERRUPTED = 130
