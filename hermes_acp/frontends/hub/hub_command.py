"""The `hermes-acp hub` command. The server is imported only once the flags are valid."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import Busy, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.daemon.process_log import say
from hermes_acp.frontends.acp.http.serve_settings import check_extra
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.hub import messages
from hermes_acp.storage.private_files import private_folder, take_lock, unlock_and_close
from hermes_acp.users.accounts import HUB_FOLDER
from hermes_acp.users.hub_settings import load_hub_settings

LOCK: Final = "hub.lock"


def hub_command(arguments: Sequence[str]) -> int:
    """Run the hub until a signal arrives; return the exit code."""
    parser = CommandParser(prog="hermes-acp hub", description=messages.DESCRIPTION)
    parser.add_argument("--listen", metavar="HOST:PORT", default="", help=messages.LISTEN_HELP)
    try:
        options = parser.parse(arguments)
        return _run(options.listen)
    except HermesError as error:
        say(messages.failure(error.sentence()))
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _run(listen: str) -> int:
    environment = read_environment()
    folder = private_folder(Path(environment.base_path or environment.home_path) / HUB_FOLDER)
    settings = load_hub_settings(folder)
    check_extra()
    from hermes_acp.frontends.hub.hub_process import Hub

    try:
        lock = take_lock(folder / LOCK)
    except Busy:
        raise Busy(messages.ALREADY_RUNNING, hint=messages.ALREADY_HINT) from None
    try:
        return anyio.run(Hub(environment, settings, listen).run, say)
    finally:
        unlock_and_close(lock)
