"""The messages of `hermes-acp service`, and the names that service managers show."""

from typing import Final

DESCRIPTION: Final = (
    "Have systemd or launchd start the agent in the background, at every login or with the machine, and keep it "
    "running."
)
FILE_MARK: Final = "# Written by `hermes-acp service install`"
"""The first line of each unit. A file that starts differently belongs to someone else."""
INSTALL_HELP: Final = "show the service's file, write it, then enable and start the service"
REMOVE_HELP: Final = "stop the service and remove its file"
STATUS_HELP: Final = "show whether the service is installed and running"
USER_HELP: Final = "your own service, which runs while you are logged in (the default)"
SYSTEM_HELP: Final = "a system service, which starts with the machine; only root can install one"
AS_HELP: Final = "with --system: the user that it runs as (default: the user who called sudo)"
WRITABLE_HELP: Final = (
    "with --system: a folder outside that user's home folder that the agent may change; repeatable"
)
YES_HELP: Final = "do not ask"
ALLOW_BYPASS_HELP: Final = "allow the mode that never asks"
JSON_HELP: Final = "print the status as JSON"

NEEDS_YES: Final = "This needs your approval, but there is no terminal to ask in."
YES_HINT: Final = "Add --yes."
NOTHING_CHANGED: Final = "Nothing was changed."
ONLY_SYSTEM: Final = "--as and --writable only work with --system."
NO_ADDRESS: Final = (
    "--allow-remote, --allow-origin and --allow-host only apply to clients that connect over a network."
)
ADDRESS_HINT: Final = "Add --listen HOST:PORT."
ROOT_REFUSED: Final = "The agent must not run as root."
OTHER_USER_HINT: Final = "Choose another user with --as."
CREATE_USER_HINT: Final = "Create it first, for example: useradd --create-home NAME"
WHO_HINT: Final = "Use --as to choose the user that the agent runs as."
NO_USER: Final = "The service needs a user."
NO_NAMESPACES: Final = (
    "User namespaces cannot be created here, so the service is confined by system call filters only."
)
NOT_ON_A_MAC: Final = "This has not been tested on a Mac yet. Please check that the service starts."
FOREIGN_FILE_HINT: Final = "Move it elsewhere first."
PROGRAM_HINT: Final = "Install hermes-acp where that user can read it, for example in /opt."
OTHER_FOLDER_HINT: Final = "Pass the absolute path of an existing folder."


def description(profile: str) -> str:
    """Return the description of the service that service managers show."""
    return "hermes-acp" if profile == "default" else f"hermes-acp, profile {profile}"


def needs_root(command: str) -> str:
    """Say who can change system services."""
    return f"Only root can change system services. Run: sudo {command}"


def no_such_user(name: str) -> str:
    """Name a user that does not exist."""
    return f"There is no user {name}."


def cannot_start_program(program: str, user: str, reason: str) -> str:
    """Say that the service's user cannot start the program."""
    return f"{user} cannot start {program}: {reason}."


def not_a_folder(path: str) -> str:
    """Say that a path given as a folder is not one."""
    return f"{path} is not a folder."


def foreign_home(home: str, user: str) -> str:
    """Say that a home folder belongs to someone else."""
    return f"The home folder {home} does not belong to {user}."


def foreign_file(path: str) -> str:
    """Say that a file was not written by this command."""
    return f"{path} was not written by `hermes-acp service`."


def unprintable(text: str) -> str:
    """Say that a value cannot be written to the service's file."""
    return f"{text!r} contains a control character."


def token_written(path: str) -> str:
    """Name the file with the token."""
    return f"Clients need the token in {path}, which only its owner can read."


def up_to_date(path: str) -> str:
    """Say that the file needs no change."""
    return f"{path} needs no change."


def write_question(path: str) -> str:
    """Ask whether the file may be written."""
    return f"Write {path} and start the service? [y/N] "


def remove_question(path: str) -> str:
    """Ask whether the service may be removed."""
    return f"Stop the service and remove {path}? [y/N] "


def running(name: str, status: str) -> str:
    """Confirm that the service is running."""
    return f"The service {name} is running. {status}".strip()


def not_running_here(path: str, manager: str) -> str:
    """Say that the file was written, but the service was not started."""
    return f"Wrote {path}. {manager} is not running here, so the service was not started."


def no_manager(path: str, manager: str) -> str:
    """Say that a service is installed, but no service manager is running to start it."""
    return f"{path} is installed, but {manager} is not running here."


def not_started(name: str, reason: str, log: str) -> str:
    """Say why the service did not start, and where its log is."""
    return f"The service {name} did not start.\n{reason}\nIts log: {log}"


def already_running(pid: int) -> str:
    """Say that the agent is already running in the background without the service."""
    return f"The agent is already running in the background (process {pid})."


STOP_HINT: Final = "Stop it first: hermes-acp daemon stop"


def ends_at_logout(user: str) -> str:
    """Say how to keep a user's service running after logout."""
    return f"The service ends when you log out. To keep it running: loginctl enable-linger {user}"


def removed(path: str, *, was_stopped: bool) -> str:
    """Confirm the removal."""
    return f"Stopped the service and removed {path}." if was_stopped else f"Removed {path}."


def token_kept(path: str) -> str:
    """Say that the file with the token was kept."""
    return f"The token in {path} was kept."


def not_installed(path: str) -> str:
    """Say that there is no such service."""
    return f"No service is installed: {path} does not exist."


def state(name: str, active: str, enabled: str, pid: int) -> str:
    """Return a service's state in one line."""
    process = f", process {pid}" if pid else ""
    return f"{name}: {active}, {enabled}{process}"


def cannot_run(program: str, reason: str) -> str:
    """Say that a program cannot be run."""
    return f"{program} cannot be run: {reason}."


def too_slow(program: str, seconds: float) -> str:
    """Say that a program took too long."""
    return f"{program} did not finish within {seconds:g} s."


def exit_code(code: int) -> str:
    """Report the exit code of a program that failed without output."""
    return f"It ended with exit code {code}."
