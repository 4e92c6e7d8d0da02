"""Messages of the resident process and its commands."""

from collections.abc import Sequence
from typing import Final

# For the person who starts it or asks about it
DESCRIPTION: Final = (
    "Run the agent in the background. Its sessions outlive their clients, and the processes that editors start hand "
    "their clients over to it."
)
ACTION_HELP: Final = (
    "`run` stays in the foreground (for service managers), `start` goes to the background, `stop` lets running turns "
    "end first, `restart` continues turns that were cut off"
)
NOW_HELP: Final = "with stop and restart: do not wait for running turns; they continue at the next start"
STATUS_DESCRIPTION: Final = "Show whether the agent runs in the background, and what it is doing."
JSON_HELP: Final = "print the status as JSON"
NOT_RUNNING: Final = "The agent is not running in the background."
START_HINT: Final = "Start it with `hermes-acp daemon start`."
RUNNING_HINT: Final = "`hermes-acp status` shows what it is doing; `hermes-acp daemon stop` stops it."
ALLOW_BYPASS_HELP: Final = "allow the mode that never asks"
STOPPED: Final = "Stopped."
NO_SESSION: Final = "No session is open."
SESSIONS: Final = "Open sessions:"
NOT_STARTED: Final = "The agent did not start in the background."
LOST: Final = "The resident process has ended. Start the agent again: its sessions are stored."
ON_DEMAND_HELP: Final = (
    "stop after being idle for a while (`daemon_idle_minutes`); editors start it this way with `daemon: auto`"
)
ON_DEMAND: Final = (
    "An editor started it. It stops after being idle for a while; `hermes-acp daemon start` keeps it running."
)
NOT_USED: Final = "Stopping after being idle."

# For the service manager
DRAINING: Final = "Stopping; running turns get time to finish."

OPENING_LOCK: Final = "open the lock"
CREATING_SOCKET: Final = "create the socket"

# For a client's own process
STOPPING: Final = "The resident process is stopping."
NO_ANSWER: Final = "The resident process did not answer."
NO_SUCCESSOR: Final = "The resident process has ended, and no other one is responding."
UNKNOWN_PURPOSE: Final = "The resident process does not recognise this request."
OTHER_BYPASS: Final = "One of them was started with --allow-bypass, the other was not."


def already_running(pid: int) -> str:
    """Name the process that is already running."""
    return f"The agent is already running in the background (process {pid})."


def stays(pid: int) -> str:
    """Say that a process started by an editor keeps running."""
    return f"{already_running(pid)} It was started by an editor; it now keeps running until you stop it."


def other_flags(pid: int, flags: str) -> str:
    """Name the process that is already running, and its flags."""
    return f"{already_running(pid)} It was started {f'with {flags}' if flags else 'without options'}."


def restart_hint(flags: str) -> str:
    """Say how to restart the resident process with other flags."""
    return f"To restart it that way: `hermes-acp daemon restart {flags}`"


def started(pid: int, path: str) -> str:
    """Name the process that was started, and its log."""
    return f"The agent is running in the background (process {pid}). Log: {path}"


def log_hint(path: str) -> str:
    """Name the log that says why."""
    return f"Its log is {path}."


def listening(path: str) -> str:
    """Say that the resident process is ready, naming its socket."""
    return f"The resident process is ready: {path}"


def not_continued(session_id: str, why: str) -> str:
    """Say why a turn that was cut off was not continued."""
    return f"The turn in session {session_id} was not continued. {why}"


def running(pid: int, version: str, since: str) -> str:
    """Say that the resident process is running."""
    return f"The agent is running in the background: process {pid}, version {version}, since {since}."


def open_questions(number: int) -> str:
    """Count the questions that wait for an answer."""
    return f"{number} questions are waiting for you." if number > 1 else "1 question is waiting for you."


def serving_at(address: str) -> str:
    """Say where the resident process serves remote clients."""
    return f"It serves clients at {address}."


def connected(clients: str) -> str:
    """List the connected clients."""
    return f"Connected clients: {clients or 'none'}"


def session_line(session_id: str, state: str, title: str, cwd: str, clients: str) -> str:
    """Describe an open session."""
    return f"  {session_id}  {state}  {title or '(no title yet)'}  in {cwd}  attached: {clients or 'nobody'}"


def works_alone(reason: str) -> str:
    """Say why the resident process does not serve this client."""
    return f"This process runs on its own, without the resident process. {reason}"


def other_version(own: str, other: str) -> str:
    """Say that the versions differ."""
    return (
        f"The resident process has version {own}, this one {other}: `hermes-acp daemon restart` replaces it."
    )


def other_variables(names: Sequence[str]) -> str:
    """Name the variables that differ, never their values."""
    return f"These variables differ from those of the resident process: {', '.join(names)}."


def gateway_ended(code: int, wait_s: float) -> str:
    """Say that the gateway is being restarted."""
    return f"The gateway ended with exit code {code}. It will be restarted in {wait_s:g} s."


def gateway_not_started(reason: str) -> str:
    """Say that the gateway was not started."""
    return f"The gateway was not started: {reason}"
