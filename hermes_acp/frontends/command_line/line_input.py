"""Ask a person in a terminal for a line; Ctrl+C always works, even while an event loop is running."""

import select
import signal
import socket
import sys
from typing import Final

AGREEMENT: Final = ("y", "yes")


def read_line(question: str) -> str:
    """Show a question and return the answer, stripped. Raises EOFError at the end of input or KeyboardInterrupt."""
    try:
        _show_and_wait(question)
        return input().strip()
    except (EOFError, KeyboardInterrupt):
        sys.stdout.write("\n")  # end the question's line
        sys.stdout.flush()
        raise


def is_agreed(question: str) -> bool:
    """Ask a question; return whether the answer is yes. The end of input (Ctrl+D) is a no. Raises KeyboardInterrupt."""
    try:
        return read_line(question).lower() in AGREEMENT
    except EOFError:
        return False


def _show_and_wait(question: str) -> None:
    """Show a question, and wait until a line can be read. Raises KeyboardInterrupt.

    `input` alone would lose a signal that arrives just before it reads, and an event loop's SIGINT handler raises
    nothing. Therefore, signals are watched from before the question is shown. Only a terminal is waited for: Python
    reads ahead from a pipe, so the next line may already be in its buffer.
    """
    if not sys.stdin.isatty():
        sys.stdout.write(question)
        sys.stdout.flush()
        return
    woken, waker = socket.socketpair()
    with woken, waker:
        waker.setblocking(False)
        before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        try:
            sys.stdout.write(question)
            sys.stdout.flush()
            while sys.stdin not in select.select([sys.stdin, woken], [], [])[0]:
                if signal.SIGINT in woken.recv(64):
                    raise KeyboardInterrupt
        finally:
            signal.set_wakeup_fd(before)
