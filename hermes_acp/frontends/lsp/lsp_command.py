"""The `hermes-acp lsp` command.

It takes over standard input and output before it imports the server, so that nothing else writes there.
"""

import sys
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest, ConfigError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag
from hermes_acp.frontends.lsp import messages
from hermes_protocol.descriptors import claim

PROGRAM: Final = "hermes-acp lsp"


def lsp_command(arguments: Sequence[str]) -> int:
    """Serve one editor over standard input and output; return the exit code."""
    try:
        options = _parser().parse(arguments)
    except BadRequest as error:
        sys.stderr.write(f"{messages.fatal(error.sentence())}\n")
        return error.exit_code
    try:
        wire = claim()
    except OSError as error:
        if sys.stderr:
            reason = messages.standard_streams_closed(str(error.strerror))
            sys.stderr.write(f"{messages.fatal(reason)}\n")
        return ExitCode.USAGE
    try:
        environment = structs.replace(read_environment(), allows_bypass=options.allow_bypass)
        from hermes_acp.frontends.lsp.lsp_process import run

        return run(environment, wire)
    except ConfigError as error:
        sys.stderr.write(f"{messages.fatal(error.sentence())}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _parser() -> CommandParser:
    parser = CommandParser(prog=PROGRAM, description=messages.COMMAND_DESCRIPTION)
    add_profile_flag(parser)
    parser.add_argument("--stdio", action="store_true", help=messages.FLAG_STDIO)
    parser.add_argument("--allow-bypass", action="store_true", help=messages.FLAG_ALLOW_BYPASS)
    return parser
