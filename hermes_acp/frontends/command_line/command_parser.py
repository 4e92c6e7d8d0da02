"""The parser of the command line, and what it says about one that it cannot parse.

An unknown flag or command is named, with what was probably meant: `argparse` names whatever is missing instead.
"""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn, cast

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.command_line import messages
from hermes_acp.frontends.command_line.nearest_words import nearest

UNRECOGNIZED: Final = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)
NUMBER: Final = re.compile(r"-\d")


class UsageError(Exception):
    """Carries what `argparse` says out of a parser."""

    def __init__(self, message: str, program: str) -> None:
        super().__init__(message)
        self.message = message
        self.program = program


class CommandParser(argparse.ArgumentParser):
    """A parser that explains mistakes instead of ending the process, and completes no abbreviated flag."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options, allow_abbrev=False)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return the options. Raises BadRequest, which names the first mistake, with what was probably meant."""
        try:
            return self.parse_args(arguments)
        except UsageError as error:
            raise _explanation(error, self, arguments) from None

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message, self.prog)


def _explanation(error: UsageError, parser: argparse.ArgumentParser, arguments: Sequence[str]) -> BadRequest:
    """Return the error for people: the first mistake in the arguments, with what was probably meant."""
    at, rest = _innermost(parser, arguments)
    commands = _subcommands(at)
    for flag in _flags_in(rest):
        if not _is_known(flag, _flags(at)):
            return _unknown_flag(flag, at, parser)
    if commands and rest and rest[0] not in commands:
        return _unknown_command(rest, at, commands)
    message = error.message
    if unexpected := UNRECOGNIZED.fullmatch(message):
        message = messages.unexpected_argument(unexpected[1])
    return BadRequest(messages.usage(message), hint=messages.help_hint(error.program))


def _innermost(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> tuple[argparse.ArgumentParser, Sequence[str]]:
    """Return the parser of the command that the arguments begin with, and the arguments after its name."""
    inner = _subcommands(parser).get(arguments[0]) if arguments else None
    return _innermost(inner, arguments[1:]) if inner else (parser, arguments)


def _flags_in(arguments: Sequence[str]) -> Iterator[str]:
    for argument in arguments:
        if argument == "--":
            return
        name = argument.partition("=")[0]
        if name.startswith("-") and name != "-" and " " not in name and not NUMBER.match(name):
            yield name


def _is_known(flag: str, flags: Sequence[str]) -> bool:
    return flag in flags if flag.startswith("--") else flag[:2] in flags


def _unknown_flag(flag: str, at: argparse.ArgumentParser, parser: argparse.ArgumentParser) -> BadRequest:
    told = messages.unknown_flag(flag, at.prog)
    bare = {each.lstrip("-"): each for each in _flags(at)}
    own = [bare[each] for each in nearest(flag.lstrip("-"), bare)]
    if own:
        return BadRequest(told, hint=messages.did_you_mean(own))
    elsewhere = [each.prog for each in _subcommands(at).values() if flag in _flags(each)]
    if elsewhere:
        return BadRequest(told, hint=messages.flag_of(flag, elsewhere))
    return BadRequest(told, hint=messages.help_hint(at.prog))


def _unknown_command(
    rest: Sequence[str], at: argparse.ArgumentParser, commands: Mapping[str, argparse.ArgumentParser]
) -> BadRequest:
    told = messages.unknown_command(rest[0], at.prog)
    if " " in rest[0] and "run" in commands:
        return BadRequest(told, hint=messages.RUN_HINT)
    if alike := nearest(rest[0], commands):
        return BadRequest(told, hint=messages.did_you_mean([f"{at.prog} {each}" for each in alike]))
    return BadRequest(told, hint=messages.commands_hint(tuple(commands), at.prog))


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return list(cast("Mapping[str, argparse.Action]", vars(parser)["_option_string_actions"]))


def _subcommands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in cast("Sequence[argparse.Action]", vars(parser)["_actions"]):
        if isinstance(action.choices, dict):
            return cast("Mapping[str, argparse.ArgumentParser]", vars(action)["choices"])
    return {}
