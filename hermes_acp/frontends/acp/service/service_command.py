"""The `hermes-acp service` command: install, remove or show the service that runs the resident process."""

import argparse
import difflib
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from hermes_acp.core.errors import BadRequest, Busy, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.daemon.daemon_client import ask
from hermes_acp.frontends.acp.daemon.daemon_messages import DaemonStatus
from hermes_acp.frontends.acp.daemon.serve_command import add_serve_flags
from hermes_acp.frontends.acp.http.serve_settings import TOKEN_VARIABLE, check_token
from hermes_acp.frontends.acp.messages import service
from hermes_acp.frontends.acp.service.service_system import ServiceState, is_lingering
from hermes_acp.frontends.acp.service.service_target import ServiceTarget, plan_service, target_of
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.line_input import is_agreed
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag
from hermes_acp.storage.private_files import storage_error, write_private_text, write_whole

PUBLIC: Final = 0o644
PRIVATE: Final = 0o600


def service_command(arguments: Sequence[str]) -> int:
    """Install, remove or show the service; return the exit code."""
    actions = {"install": _install, "remove": _remove, "status": _status}
    try:
        options = _parser().parse(arguments)
        return actions[options.action](options)
    except HermesError as error:
        _note(error.sentence())
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _parser() -> CommandParser:
    parser = CommandParser(prog="hermes-acp service", description=service.DESCRIPTION)
    add_profile_flag(parser)
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="ACTION", parser_class=CommandParser
    )
    install = actions.add_parser("install", help=service.INSTALL_HELP)
    remove = actions.add_parser("remove", help=service.REMOVE_HELP)
    status = actions.add_parser("status", help=service.STATUS_HELP)
    for action in (install, remove, status):
        whose = action.add_mutually_exclusive_group()
        whose.add_argument("--user", dest="is_system", action="store_false", help=service.USER_HELP)
        whose.add_argument("--system", dest="is_system", action="store_true", help=service.SYSTEM_HELP)
        action.add_argument("--as", dest="run_as", metavar="USER", default="", help=service.AS_HELP)
        action.set_defaults(is_system=False)
    add_serve_flags(install, None)
    install.add_argument("--allow-bypass", action="store_true", help=service.ALLOW_BYPASS_HELP)
    install.add_argument(
        "--writable", metavar="FOLDER", action="append", default=[], help=service.WRITABLE_HELP
    )
    for action in (install, remove):
        action.add_argument("--yes", action="store_true", help=service.YES_HELP)
    status.add_argument("--json", action="store_true", help=service.JSON_HELP)
    return parser


def _install(options: argparse.Namespace) -> int:
    """Show the service's file, write it once the user agrees, and start the service."""
    target = target_of(options)
    plan = plan_service(target, options)
    _check_not_running_otherwise(target)
    token = _token(target) if options.listen else ""
    text = target.system.text(plan, {TOKEN_VARIABLE: token} if token else {})
    before = _read(target.file)
    if before and not target.is_mac and not before.startswith(service.FILE_MARK):
        raise BadRequest(service.foreign_file(str(target.file)), hint=service.FOREIGN_FILE_HINT)
    if before == text:
        _show(service.up_to_date(str(target.file)))
    else:
        diff = _diff(target.file, before, text)
        _show(diff.replace(token, "…") if token else diff)
        if not plan.has_namespaces:
            _note(service.NO_NAMESPACES)
        if not _is_agreed(options, service.write_question(str(target.file))):
            _show(service.NOTHING_CHANGED)
            return ExitCode.FAILED
    if token and _read(target.token_file) != (line := f"{TOKEN_VARIABLE}={token}\n"):
        write_private_text(target.token_file, line)
    _write(target.file, text, PRIVATE if target.is_mac else PUBLIC)
    return _start(target, has_token=bool(token))


def _start(target: ServiceTarget, *, has_token: bool) -> int:
    """Start a service whose file was written, and report the result."""
    if not target.system.runs():
        _note(service.not_running_here(str(target.file), target.system.name))
        return ExitCode.DONE
    if failure := target.system.start(target.name):
        _note(service.not_started(target.name, failure, target.system.log_command(target.name)))
        return ExitCode.FAILED
    _show(service.running(target.name, target.system.state(target.name).status))
    if has_token:
        _show(service.token_written(str(target.token_file)))
    if target.is_mac:
        _note(service.NOT_ON_A_MAC)
    user = target.environment.variables.get("USER", "")
    if not target.is_mac and not target.account and user and not is_lingering(user):
        _note(service.ends_at_logout(user))
    return ExitCode.DONE


def _remove(options: argparse.Namespace) -> int:
    """Stop the service and remove its file once the user agrees."""
    target = target_of(options)
    before = _read(target.file)
    if not before:
        _note(service.not_installed(str(target.file)))
        return ExitCode.DONE
    if not target.is_mac and not before.startswith(service.FILE_MARK):
        raise BadRequest(service.foreign_file(str(target.file)))
    if not _is_agreed(options, service.remove_question(str(target.file))):
        _show(service.NOTHING_CHANGED)
        return ExitCode.FAILED
    runs = target.system.runs()
    if runs:
        target.system.stop(target.name)
    try:
        target.file.unlink()
    except OSError as error:
        raise storage_error("remove", target.file, error) from error
    if runs:
        target.system.forget(target.name)
    _show(service.removed(str(target.file), was_stopped=runs))
    if target.token_file.exists():
        _show(service.token_kept(str(target.token_file)))
    return ExitCode.DONE


def _status(options: argparse.Namespace) -> int:
    """Show the service; return 1 if it is not running."""
    target = target_of(options)
    is_installed = target.file.exists()
    runs = target.system.runs()
    state = target.system.state(target.name) if runs else ServiceState()
    is_active = is_installed and state.active == "active"
    if options.json:
        document = {
            "name": target.name,
            "file": str(target.file),
            "is_installed": is_installed,
            "manager": target.system.name if runs else None,
            **msgspec.structs.asdict(state),
        }
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
    elif not is_installed:
        _show(service.not_installed(str(target.file)))
    elif not runs:
        _show(service.no_manager(str(target.file), target.system.name))
    else:
        _show(service.state(target.name, state.active, state.enabled, state.pid))
        _show(f"  {target.file}")
        if state.status:
            _show(f"  {state.status}")
    return ExitCode.DONE if is_active else ExitCode.FAILED


def _check_not_running_otherwise(target: ServiceTarget) -> None:
    """Raise Busy if a resident process is running outside the service. Other users' processes are not checked."""
    if target.account:
        return
    said = ask(target.environment.home_path, "status")
    pid = msgspec.json.decode(said, type=DaemonStatus).pid if said else 0
    if pid and pid != target.system.state(target.name).pid:
        raise Busy(service.already_running(pid), hint=service.STOP_HINT)


def _token(target: ServiceTarget) -> str:
    """Return the service's current token, else the one from the environment, else a new one."""
    for line in _read(target.token_file).splitlines():
        name, _, value = line.partition("=")
        if name == TOKEN_VARIABLE and value:
            return check_token(value)
    return check_token(target.environment.serve_token) or secrets.token_urlsafe(32)


def _show(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _note(text: str) -> None:
    sys.stderr.write(f"hermes-acp: {text}\n")


def _diff(path: Path, before: str, after: str) -> str:
    old = str(path) if before else os.devnull
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, str(path), lineterm="")
    return "\n".join(lines)


def _is_agreed(options: argparse.Namespace, question: str) -> bool:
    """Return whether the user agrees. Raises BadRequest if nobody is available to answer."""
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise BadRequest(service.NEEDS_YES, hint=service.YES_HINT)
    return is_agreed(question)


def _read(path: Path) -> str:
    """Return a file's text, or an empty string if it does not exist. Raises StorageError."""
    try:
        return path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise storage_error("read", path, error) from error


def _write(path: Path, text: str, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode(), mode=mode)
    except OSError as error:
        raise storage_error("write", path, error) from error
