"""The menu that is shown if a person starts `hermes-acp` in a terminal without a command; editors never see it."""

import sys
from collections.abc import Sequence

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.command_line.line_input import read_line


def choose_start(flags: Sequence[str]) -> list[str]:
    """Return the command line that the user chooses: chat with these flags, setup or help. Raises SystemExit."""
    try:
        has_model = read_environment().mentions_a_model()
    except ConfigError:
        has_model = True
    usual = "c" if has_model else "s"
    print(command_messages.start_menu(has_model=has_model))
    while True:
        try:
            answer = read_line(command_messages.start_prompt(usual)).lower()[:1] or usual
        except (EOFError, KeyboardInterrupt):
            sys.exit(ExitCode.INTERRUPTED)
        match answer:
            case "c":
                return ["chat", *flags]
            case "s":
                return ["setup"]
            case "h":
                return ["--help"]
            case "q":
                sys.exit(0)
            case _:
                continue
