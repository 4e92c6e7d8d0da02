"""Ask questions in a terminal: for text, secrets, numbered choices, or yes or no."""

import getpass
import sys
from collections.abc import Sequence

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import escaped
from hermes_acp.frontends.cli.messages import setup_messages
from hermes_acp.frontends.command_line.line_input import read_line


def is_terminal() -> bool:
    """Return whether standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def say(text: str) -> None:
    """Show text, which may contain untrusted parts."""
    print(escaped(text), flush=True)


def ask(question: str, default: str = "") -> str:
    """Ask for a line; return the default if it is empty. Raises BadRequest if the input ends."""
    try:
        return read_line(escaped(question)) or default
    except EOFError as error:
        raise _ended() from error


def ask_secret(question: str) -> str:
    """Ask for a line that is not shown while it is typed. Raises BadRequest if the input ends."""
    try:
        return getpass.getpass(question).strip()
    except EOFError as error:
        print()  # end the question's line
        raise _ended() from error
    except KeyboardInterrupt:
        print()
        raise


def confirm(question: str, *, default: bool) -> bool:
    """Ask a yes-or-no question; return whether the answer is yes."""
    while True:
        answer = ask(setup_messages.yes_or_no(question, default=default)).lower()
        if not answer:
            return default
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")


def choose(lines: Sequence[str], default: int = 0) -> int:
    """Show a numbered list; return the chosen index. `default` is a number from the list, or 0 for none."""
    for number, line in enumerate(lines, 1):
        say(setup_messages.numbered(number, line))
    while True:
        answer = ask(setup_messages.number_prompt(len(lines), default), str(default or ""))
        if answer.isascii() and answer.isdecimal() and 1 <= int(answer[:6]) <= len(lines):
            return int(answer) - 1
        say(setup_messages.number_wanted(len(lines)))


def choose_letter(choices: Sequence[tuple[str, str]]) -> str:
    """Show choices, each a letter with its meaning; return the chosen letter."""
    for letter, meaning in choices:
        say(setup_messages.lettered(letter, meaning))
    letters = [letter for letter, _ in choices]
    while True:
        answer = ask(setup_messages.letter_prompt(letters)).lower()[:1]
        if answer in letters:
            return answer


def _ended() -> BadRequest:
    return BadRequest(setup_messages.NOTHING_CHANGED, hint=setup_messages.AGAIN_HINT)
