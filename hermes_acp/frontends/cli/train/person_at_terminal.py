"""Make sure that a person is at this process's terminal, and ask them.

Questions use the controlling terminal, because standard input could be anything.
"""

import os
import termios
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.train import messages
from hermes_acp.training.caller import look_at_caller
from hermes_acp.training.person_check import why_not_a_person

MAX_ANSWER_BYTES: Final = 256


class PersonAtTerminal:
    """A person at the controlling terminal; `terminal` is its descriptor."""

    def __init__(self, environment: Environment, action: str, terminal: int | None) -> None:
        self._environment = environment
        self._action = action
        self._terminal = terminal

    def check(self) -> None:
        """Make sure that a person started this process. Raises BadRequest."""
        found = why_not_a_person(look_at_caller(self._environment.variables, self._terminal))
        if found is not None:
            sentence = messages.refused(self._action, found.kind, found.evidence)
            raise BadRequest(sentence, hint=messages.REFUSED_HINT)

    def ask(self, question: str) -> str:
        """Ask a question; return the answer, ignoring anything typed before the question."""
        assert self._terminal is not None
        termios.tcflush(self._terminal, termios.TCIFLUSH)
        os.write(self._terminal, question.encode())
        return os.read(self._terminal, MAX_ANSWER_BYTES).decode("utf-8", "replace").strip()


@contextmanager
def person_at_terminal(environment: Environment, action: str) -> Generator[PersonAtTerminal, None, None]:
    """Open the terminal of the person who runs the command. Raises BadRequest if there is no such person."""
    terminal = _open_terminal()
    try:
        person = PersonAtTerminal(environment, action, terminal)
        person.check()
        yield person
    finally:
        if terminal is not None:
            os.close(terminal)


def _open_terminal() -> int | None:
    """Open the controlling terminal; return None without one, or if this process is not in its foreground."""
    try:
        if os.tcgetpgrp(0) != os.getpgrp():  # fails unless this is the controlling terminal
            return None
        return os.open(os.ttyname(0), os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
