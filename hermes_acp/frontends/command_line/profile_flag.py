"""Handle `--profile NAME`, which may be anywhere before `--`, and add it to the commands shown in hints."""

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from hermes_acp.config.home_folders import DEFAULT_PROFILE, use_profile
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.command_line import messages

FLAG: Final = "--profile"


def take_profile(arguments: Sequence[str]) -> list[str]:
    """Select the profile that the arguments name; return the other arguments. Raises SystemExit for wrong usage."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    named: list[str] = []
    kept: list[str] = []
    words = iter(arguments[:end])
    for word in words:
        flag, equals, value = word.partition("=")
        if flag != FLAG:
            kept.append(word)
            continue
        value = value if equals else next(words, "")
        if not value or value.startswith("-"):
            _refuse(f"{messages.value_missing(FLAG)} {messages.PROFILE_HINT}")
        named.append(value)
    if len(set(named)) > 1:
        _refuse(messages.several_profiles(named))
    if named:
        use_profile(named[0])
    return [*kept, *arguments[end:]]


def add_profile_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag to the help; `take_profile` has removed it by the time the parser runs."""
    parser.add_argument(FLAG, metavar="NAME", help=messages.PROFILE_HELP)


def _refuse(reason: str) -> None:
    sys.stderr.write(f"hermes-acp: {reason}\n")
    sys.exit(ExitCode.USAGE)


def command_for(profile: str, words: str) -> str:
    """Return the command line with the flag for a profile; the default profile needs none."""
    return f"hermes-acp {'' if profile == DEFAULT_PROFILE else f'{FLAG} {profile} '}{words}"
