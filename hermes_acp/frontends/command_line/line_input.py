"""Ask a person at a terminal for a line; Ctrl+C is never lost, even while an event loop runs."""

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
        sys.stdout.write("\n")  # the question's line is not terminated yet
        sys.stdout.flush()
        raise


def is_agreed(question: str) -> bool:
    """Ask a question; return whether the answer is yes. The end of input (Ctrl+D) is a no. Raises KeyboardInterrupt."""
    try:
        return read_line(question).lower() in AGREEMENT
    except EOFError:
        return False


def _show_and_wait(question: str) -> None:
    """Show a question, and wait until there is a line to read. Raises KeyboardInterrupt.

    `input` alone loses a signal that arrives just before it reads; an event loop's handler of SIGINT raises nothing.
    So signals are watched before anyone can see the question. Only a terminal is waited for: from a pipe, Python reads
    ahead, and the next line may already be in its buffer.
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
