"""The exit codes of every command.

Source: 2 as argparse has it; 75 is EX_TEMPFAIL of sysexits.h; 124 as timeout(1) has it; 128 and a signal's number as
shells have it.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a process ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    MODEL = 3
    STORAGE = 4
    REFUSED = 5
    BUSY = 75
    TIMED_OUT = 124
    INTERRUPTED = 130
