"""The `hermes-acp serve` command.

The server is imported only once the flags are valid: it needs packages that not every installation has.
"""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.daemon.process_log import say
from hermes_acp.frontends.acp.http.serve_settings import (
    DEFAULT_LISTEN,
    TOKEN_VARIABLE,
    ServeSettings,
    check_extra,
    check_origin,
    check_token,
    read_address,
    read_inherited,
)
from hermes_acp.frontends.acp.messages import serving
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag

if TYPE_CHECKING:
    from hermes_acp.frontends.acp.daemon.hub_link import HubLink


def serve_command(arguments: Sequence[str]) -> int:
    """Run the resident process with clients over HTTP and WebSocket; return the exit code."""
    try:
        options = _parser().parse(arguments)
        return run_serving(options, read_environment(), ("--listen", DEFAULT_LISTEN, *arguments))
    except HermesError as error:
        say(serving.failure(error.sentence()))
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def run_serving(
    options: argparse.Namespace, environment: Environment, flags: Sequence[str], idle_s: float | None = None
) -> int:
    """Run the resident process for network clients; a restarted process gets the same `flags`.

    With `idle_s`, it ends after being idle for that long. Raises HermesError.
    """
    from hermes_acp.frontends.acp.daemon.daemon_process import ResidentOptions, run

    settings = _settings(options, environment)
    check_extra()
    from hermes_acp.frontends.acp.http.http_server import HttpServer

    hub = _hub_link() if options.for_hub else None
    if settings.is_remote:
        say(serving.NO_TLS)
    inner = environment.without(TOKEN_VARIABLE)
    resident = ResidentOptions(tuple(flags), settings.drain_s, hub.terms.idle_s if hub else idle_s, hub)
    return run(inner, say, resident, serve=lambda: HttpServer(settings))


def _hub_link() -> "HubLink":
    from hermes_acp.frontends.acp.daemon.hub_link import HubLink

    return HubLink()


def _settings(options: argparse.Namespace, environment: Environment) -> ServeSettings:
    from hermes_acp.config.settings import load_settings

    inherited = read_inherited(options.listen)
    address = DEFAULT_LISTEN if inherited is not None else options.listen
    host, port = read_address(address, allow_remote=options.allow_remote)
    written = load_settings(environment).serve
    return ServeSettings(
        host=host,
        port=port,
        token=check_token(environment.serve_token),
        hosts=tuple(options.allow_host),
        origins=tuple(check_origin(origin) for origin in options.allow_origin),
        is_remote=options.allow_remote,
        max_connections=written.max_connections,
        drain_s=written.drain_seconds,
        has_open_metrics=written.open_metrics,
        inherited_socket=inherited,
    )


def add_serve_flags(parser: CommandParser, default: str | None) -> None:
    """Add the flags for network clients."""
    parser.add_argument(
        "--listen", metavar="HOST:PORT", default=default, help=serving.listen_help(DEFAULT_LISTEN)
    )
    parser.add_argument("--allow-remote", action="store_true", help=serving.ALLOW_REMOTE_HELP)
    repeatable = (
        ("--allow-origin", "ORIGIN", serving.ALLOW_ORIGIN_HELP),
        ("--allow-host", "NAME", serving.ALLOW_HOST_HELP),
    )
    parser.add_argument("--for-hub", action="store_true", help=argparse.SUPPRESS)
    for flag, value, text in repeatable:
        parser.add_argument(flag, metavar=value, action="append", default=[], help=text)


def _parser() -> CommandParser:
    epilog = serving.epilog(TOKEN_VARIABLE)
    parser = CommandParser(prog="hermes-acp serve", description=serving.DESCRIPTION, epilog=epilog)
    add_profile_flag(parser)
    add_serve_flags(parser, DEFAULT_LISTEN)
    return parser
