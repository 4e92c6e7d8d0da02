"""Messages about a command line that cannot be parsed."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.core.exit_codes import ExitCode

EXIT_CODES: Final[Mapping[ExitCode, str]] = MappingProxyType(
    {
        ExitCode.DONE: "done; also when a command that runs until stopped, such as `serve`, was asked to stop",
        ExitCode.FAILED: "the agent failed or gave up, or nothing was found",
        ExitCode.USAGE: "wrong usage or configuration",
        ExitCode.MODEL: "model or network error",
        ExitCode.STORAGE: "storage error",
        ExitCode.REFUSED: "a call needed approval that was refused or could not be requested, or a hook refused a call",
        ExitCode.BUSY: "something is in use by another process, such as the session; try again later",
        ExitCode.TIMED_OUT: "timed out",
        ExitCode.INTERRUPTED: "interrupted",
    }
)
BYPASS_HINT: Final = (
    "To run without any question: --mode bypass --allow-bypass, but only where nothing can be lost."
)
FOLDER_DELETED: Final = "The current folder was deleted."
FOLDER_DELETED_HINT: Final = "Change to an existing folder, or name one with --cwd."
PROFILE_HELP: Final = (
    "the profile to use; every command takes this flag, and HERMES_PROFILE does the same (see `profiles`)"
)
PROFILE_HINT: Final = "`hermes-acp profiles list` shows the names."
RUN_HINT: Final = 'To run it as a prompt: hermes-acp run "…"'


def exit_codes() -> str:
    """Return the table of exit codes for the end of a help text."""
    return "\n".join(["exit codes:", *(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())])


def several_profiles(names: Sequence[str]) -> str:
    """Return the error for a `--profile` that was given more than once."""
    return f"--profile was given more than once: {', '.join(names)}. Name one."


def usage(message: str) -> str:
    """Turn a message from `argparse` into a sentence."""
    return f"{message[:1].upper()}{message[1:]}".rstrip(".") + "."


def argument_missing(program: str, name: str, choices: Sequence[str]) -> str:
    """Return the error for a missing argument, with its choices if it has any."""
    return f"`{program}` needs {'a ' if choices else ''}{name}{': ' if choices else ''}{', '.join(choices)}."


def help_hint(program: str) -> str:
    """Say where the flags of a command are explained."""
    return f"Try `{program} --help`."


def unexpected_argument(argument: str) -> str:
    """Return the error for an argument that a command does not take."""
    return f"Unexpected argument: {argument}."


def value_missing(flag: str) -> str:
    """Return the error for a flag without its value."""
    return f"{flag} needs a value."


def takes_no_value(flag: str) -> str:
    """Return the error for a value that a flag does not take."""
    return f"{flag} takes no value."


def exclude_each_other(flag: str, other: str) -> str:
    """Return the error for two mutually exclusive flags."""
    return f"{flag} and {other} cannot be used together."


def wrong_value(flag: str, rule: str) -> str:
    """Return the error for a value that breaks a rule, which starts with "must"."""
    return f"{flag} {rule}."


def not_a_number(flag: str, value: str) -> str:
    """Return the error for a value that is not a number."""
    return f"{flag} must be a number, not {value}."


def not_a_choice(flag: str, value: str, choices: Sequence[str]) -> str:
    """Return the error for a value that is not among a flag's choices."""
    return f"{flag} must be one of {', '.join(choices)}, not {value!r}."


def unknown_flag(flag: str, program: str) -> str:
    """Return the error for a flag that a command does not have."""
    return f"`{program}` has no flag {flag}."


def unknown_command(command: str, program: str) -> str:
    """Return the error for a command that does not exist."""
    return f"`{program}` has no command {command!r}."


def did_you_mean(words: Sequence[str]) -> str:
    """Suggest the words that were probably meant."""
    *others, last = words
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def flag_of(flag: str, programs: Sequence[str]) -> str:
    """Say which commands have a flag."""
    return f"{flag} belongs to {', '.join(f'`{each}`' for each in programs)}."


def commands_hint(commands: Sequence[str], program: str) -> str:
    """List the commands."""
    return f"Commands: {', '.join(commands)}. See `{program} --help`."


def after_command(flag: str, command: str) -> str:
    """Say that a flag belongs after the command."""
    return f"Put it after the command: {command} {flag}"


def action_missing(program: str, explained: str) -> str:
    """Return the error for a command group without an action, with the group's help."""
    return f"`{program}` needs an action.\n\n{explained}"
