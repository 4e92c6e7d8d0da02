"""Explain a command line that cannot be parsed.

The error names an unknown flag or command and what was probably meant; `argparse` would only report missing arguments.
"""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.command_line import messages
from hermes_acp.frontends.command_line.argparse_errors import plain_error
from hermes_acp.frontends.command_line.nearest_words import nearest, nearest_commands

BYPASS: Final = ("--yolo", "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox")
"""Flags of other agents that correspond to `--mode bypass`."""
MISSING: Final = re.compile(r"the following arguments are required: (.*)")
NUMBER: Final = re.compile(r"-\d")


def explain_usage(
    said: str, program: str, parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> BadRequest:
    """Return the error for the first mistake in the arguments, with what was probably meant."""
    at, rest = _innermost(parser, arguments)
    commands = _subcommands(at)
    for flag in _flags_in(rest):
        if not _is_known(flag, _flags(at)):
            return _unknown_flag(flag, at, rest)
    if commands and not rest:
        return BadRequest(messages.action_missing(at.prog, at.format_help().rstrip()))
    if commands and rest[0] not in commands:
        return _unknown_command(rest, at, commands)
    if missing := MISSING.fullmatch(said):
        name = missing[1].partition(", ")[0]
        told = messages.argument_missing(at.prog, name, _choices(at, name))
        return BadRequest(told, hint=messages.help_hint(program))
    message, hint = plain_error(said)
    return BadRequest(message, hint=hint or messages.help_hint(program))


def _innermost(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> tuple[argparse.ArgumentParser, Sequence[str]]:
    """Return the parser of the command that the arguments name, and the arguments after its name."""
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


def _unknown_flag(flag: str, at: argparse.ArgumentParser, rest: Sequence[str]) -> BadRequest:
    told = messages.unknown_flag(flag, at.prog)
    if flag in BYPASS and "--allow-bypass" in _flags(at):
        return BadRequest(told, hint=messages.BYPASS_HINT)
    bare = {each.lstrip("-"): each for each in _flags(at)}
    own = [bare[each] for each in nearest(flag.lstrip("-"), bare)]
    if own:
        return BadRequest(told, hint=messages.did_you_mean(own))
    commands = _subcommands(at)
    named = next((word for word in rest if word in commands), "")
    if named:
        return BadRequest(told, hint=messages.after_command(flag, commands[named].prog))
    elsewhere = [each.prog for each in commands.values() if flag in _flags(each)]
    if elsewhere:
        return BadRequest(told, hint=messages.flag_of(flag, elsewhere))
    return BadRequest(told, hint=messages.help_hint(at.prog))


def _unknown_command(
    rest: Sequence[str], at: argparse.ArgumentParser, commands: Mapping[str, argparse.ArgumentParser]
) -> BadRequest:
    told = messages.unknown_command(rest[0], at.prog)
    if " " in rest[0] and "run" in commands:
        return BadRequest(told, hint=messages.RUN_HINT)
    if alike := nearest_commands(rest[0], commands):
        return BadRequest(told, hint=messages.did_you_mean([f"{at.prog} {each}" for each in alike]))
    return BadRequest(told, hint=messages.commands_hint(tuple(commands), at.prog))


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return list(cast("Mapping[str, argparse.Action]", vars(parser)["_option_string_actions"]))


def _subcommands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in cast("Sequence[argparse.Action]", vars(parser)["_actions"]):
        if isinstance(action.choices, dict):
            return cast("Mapping[str, argparse.ArgumentParser]", vars(action)["choices"])
    return {}


def _choices(parser: argparse.ArgumentParser, name: str) -> Sequence[str]:
    """Return the possible values of an argument, if they are limited."""
    for action in cast("Sequence[argparse.Action]", vars(parser)["_actions"]):
        if name in (action.metavar, action.dest):
            return [str(choice) for choice in action.choices or ()]
    return ()
