"""What is said about a command line that cannot be parsed."""

from collections.abc import Sequence
from typing import Final

RUN_HINT: Final = 'To run it as a prompt: hermes-acp run "…"'


def usage(message: str) -> str:
    """Return an explanation of `argparse` as a sentence."""
    return f"{message[:1].upper()}{message[1:]}".rstrip(".") + "."


def help_hint(program: str) -> str:
    """Return where the flags of a command are explained."""
    return f"Try `{program} --help`."


def unexpected_argument(argument: str) -> str:
    """Return the error for an argument that a command does not take."""
    return f"unexpected argument: {argument}"


def unknown_flag(flag: str, program: str) -> str:
    """Return the error for a flag that a command does not have."""
    return f"`{program}` has no flag {flag}."


def unknown_command(command: str, program: str) -> str:
    """Return the error for a command that does not exist."""
    return f"`{program}` has no command {command!r}."


def did_you_mean(words: Sequence[str]) -> str:
    """Return the question about words that were probably meant."""
    *others, last = words
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def flag_of(flag: str, programs: Sequence[str]) -> str:
    """Return which commands have a flag."""
    return f"{flag} belongs to {', '.join(f'`{each}`' for each in programs)}."


def commands_hint(commands: Sequence[str], program: str) -> str:
    """Return which commands there are."""
    return f"There are: {', '.join(commands)}. See `{program} --help`."
