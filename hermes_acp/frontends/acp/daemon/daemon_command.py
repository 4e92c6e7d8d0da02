"""The `hermes-acp daemon` and `hermes-acp status` commands."""

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import Busy, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.daemon.daemon_client import ask, stop
from hermes_acp.frontends.acp.daemon.daemon_messages import ON_DEMAND, DaemonStatus
from hermes_acp.frontends.acp.daemon.process_log import say
from hermes_acp.frontends.acp.daemon.serve_command import add_serve_flags, run_serving
from hermes_acp.frontends.acp.http.serve_settings import check_extra
from hermes_acp.frontends.acp.messages import daemon
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag
from hermes_acp.storage.private_files import private_folder

START_S: Final = 20.0
POLL_INTERVAL_S: Final = 0.05
"""The interval for checking the socket of a newly started process."""
LOG: Final = "daemon.log"


def daemon_command(arguments: Sequence[str]) -> int:
    """Run, start, stop or restart the resident process; return the exit code."""
    parser = CommandParser(prog="hermes-acp daemon", description=daemon.DESCRIPTION)
    add_profile_flag(parser)
    parser.add_argument("action", choices=("run", "start", "stop", "restart"), help=daemon.ACTION_HELP)
    parser.add_argument("--now", action="store_true", help=daemon.NOW_HELP)
    parser.add_argument("--allow-bypass", action="store_true", help=daemon.ALLOW_BYPASS_HELP)
    parser.add_argument("--on-demand", action="store_true", help=daemon.ON_DEMAND_HELP)
    add_serve_flags(parser, None)
    try:
        options = parser.parse(arguments)
        environment = msgspec.structs.replace(read_environment(), allows_bypass=options.allow_bypass)
        home = str(environment.home)
        flags = [word for word in arguments if word not in (options.action, "--now")]
        if options.listen and options.action != "stop":
            check_extra()
        if options.action == "run":
            return _run(options, environment, flags)
        if options.action == "restart":
            flags = flags or _flags_of_running(home)
        if options.action in ("stop", "restart"):
            had_one = stop(home, at_once=options.now, is_replaced=options.action == "restart")
            if options.action == "stop":
                say(daemon.STOPPED if had_one else daemon.NOT_RUNNING)
                return ExitCode.DONE
        return _start(home, flags)
    except HermesError as error:
        say(f"hermes-acp: {error.sentence()}")
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def status_command(arguments: Sequence[str]) -> int:
    """Show the status of the resident process, or return 1 if none is running."""
    parser = CommandParser(prog="hermes-acp status", description=daemon.STATUS_DESCRIPTION)
    add_profile_flag(parser)
    parser.add_argument("--json", action="store_true", help=daemon.JSON_HELP)
    try:
        options = parser.parse(arguments)
        said = ask(str(read_environment().home), "status")
    except HermesError as error:
        say(f"hermes-acp: {error.sentence()}")
        return error.exit_code
    if options.json:
        sys.stdout.write((said or b"null\n").decode())
    elif said is None:
        sys.stdout.write(f"{daemon.NOT_RUNNING} {daemon.START_HINT}\n")
    else:
        sys.stdout.write(
            "".join(f"{line}\n" for line in _lines(msgspec.json.decode(said, type=DaemonStatus)))
        )
    return ExitCode.FAILED if said is None else ExitCode.DONE


def _run(options: argparse.Namespace, environment: Environment, flags: Sequence[str]) -> int:
    """Run in the foreground; with an address, also serve clients over the network."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.frontends.acp.daemon.daemon_process import ResidentOptions, run

    settings = load_settings(environment)
    idle_s = settings.daemon_idle_minutes * 60 if options.on_demand else None
    if options.listen:
        return run_serving(options, environment, flags, idle_s)
    return run(environment, say, ResidentOptions(tuple(flags), settings.serve.drain_seconds, idle_s))


def _lines(status: DaemonStatus) -> Iterator[str]:
    """Describe a status in lines of text."""
    since = datetime.fromtimestamp(status.started_at).strftime("%Y-%m-%d %H:%M")
    yield daemon.running(status.pid, status.version, since)
    if ON_DEMAND in status.flags:
        yield daemon.ON_DEMAND
    if status.address:
        yield daemon.serving_at(status.address)
    yield daemon.connected(", ".join(status.clients))
    if status.open_questions:
        yield daemon.open_questions(status.open_questions)
    yield daemon.SESSIONS if status.sessions else daemon.NO_SESSION
    for session in status.sessions:
        clients = ", ".join(session.clients)
        yield daemon.session_line(session.id, session.state, session.title, session.cwd, clients)


def _start(home: str, flags: Sequence[str]) -> int:
    """Start the resident process in the background, and wait until it answers."""
    if running := _status(home):
        return _report_running(home, running, flags)
    path = private_folder(Path(home, "logs")) / LOG
    with path.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "hermes_acp", "daemon", "run", *flags],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if pid := _pid(home):
            say(daemon.started(pid, str(path)))
            return ExitCode.DONE
        with suppress(subprocess.TimeoutExpired):
            if process.wait(POLL_INTERVAL_S) != ExitCode.BUSY:
                break
            # Another process was started at the same time and is about to respond.
            time.sleep(POLL_INTERVAL_S)
    say(f"{daemon.NOT_STARTED} {daemon.log_hint(str(path))}")
    return process.poll() or ExitCode.FAILED


def _report_running(home: str, running: DaemonStatus, flags: Sequence[str]) -> int:
    """Report that a process is already running; return the exit code. Raises Busy if it was started with other flags.

    A process that was started on demand no longer ends when it is idle, because a person has now asked for it.
    """
    if ON_DEMAND in flags:
        return ExitCode.DONE
    if ON_DEMAND in running.flags and not flags:
        ask(home, "stay")
        say(daemon.stays(running.pid))
        return ExitCode.DONE
    if flags and tuple(flags) != running.flags:
        raise Busy(
            daemon.other_flags(running.pid, shlex.join(running.flags)),
            hint=daemon.restart_hint(shlex.join(flags)),
        )
    say(daemon.already_running(running.pid))
    return ExitCode.DONE


def _flags_of_running(home: str) -> list[str]:
    """Return the command-line flags of the running resident process."""
    status = _status(home)
    return [*status.flags] if status else []


def _pid(home: str) -> int:
    """Return the process ID of the resident process, or 0 if none answers."""
    status = _status(home)
    return status.pid if status else 0


def _status(home: str) -> DaemonStatus | None:
    said = ask(home, "status")
    return msgspec.json.decode(said, type=DaemonStatus) if said else None
