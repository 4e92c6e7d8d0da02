"""The `hermes-acp update` command.

An update runs in a process with a session of its own, so closing the terminal does not end it. This process only waits
for it, and asks it to stop when interrupted.
"""

import argparse
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp import __version__
from hermes_acp.config.environment import read_environment
from hermes_acp.config.installation import this_installation
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.cli_output import note, print_json
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.update import messages

if TYPE_CHECKING:
    from hermes_acp.updates.update_service import UpdateResult, Wanted

DETACHED = "--detached"


def add_update(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.epilog = messages.UPDATE_EPILOG
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help=messages.CHECK_HELP)
    what.add_argument("--back", action="store_true", help=messages.BACK_HELP)
    what.add_argument("--trial", action="store_true", help=argparse.SUPPRESS)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--from", dest="source", metavar="SOURCE", default="", help=messages.FROM_HELP)
    where.add_argument("--index", metavar="URL", default="", help=messages.INDEX_HELP)
    parser.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    parser.add_argument(DETACHED, action="store_true", help=argparse.SUPPRESS)


def run_update(options: argparse.Namespace) -> int:
    """Update, or check for an update; return the exit code."""
    import anyio

    if options.trial:
        from hermes_acp.updates.trial_turn import try_version

        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # child processes must survive the terminal, too
        anyio.run(try_version, read_environment().variables, __version__)
        return ExitCode.DONE
    if options.detached:
        from hermes_acp.frontends.cli.update.update_process import carry_out

        return anyio.run(carry_out, options.back, _wanted(options), options.json)
    if options.check:
        return _show(anyio.run(_check, _wanted(options)), as_json=options.json)
    return _detach(options)


def _wanted(options: argparse.Namespace) -> "Wanted":
    from hermes_acp.updates.update_service import Wanted

    return Wanted(options.source, options.index)


async def _check(wanted: "Wanted") -> "UpdateResult":
    from hermes_acp.frontends.cli.update.update_progress import Silent
    from hermes_acp.updates.update_service import UpdateService

    return await UpdateService(read_environment().variables, Silent()).check(wanted, Path().resolve())


def _show(result: "UpdateResult", *, as_json: bool) -> int:
    if as_json:
        print_json(result)
    elif result.available:
        print(messages.available(result.version, result.available))
    else:
        print(messages.newest(result.version, result.source))
    return ExitCode.DONE


def _detach(options: argparse.Namespace) -> int:
    """Start the update process and wait until it ends."""
    words: Sequence[str] = (
        *(sys.executable, "-P", "-m", "hermes_acp", "update", DETACHED),
        *(["--back"] if options.back else []),
        *([f"--from={options.source}"] if options.source else []),
        *([f"--index={options.index}"] if options.index else []),
        *(["--json"] if options.json else []),
    )
    handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the new process ignores it, too
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
    signal.signal(signal.SIGHUP, handler)
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            note(messages.STOPPING)
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
    if code < 0:
        from hermes_acp.updates.version_folders import VersionFolders

        note(messages.killed(-code, str(VersionFolders(this_installation()).log)))
        return ExitCode.FAILED
    return code
