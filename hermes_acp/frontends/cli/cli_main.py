"""The command line.

Knows: the subcommands and their flags; how a failure becomes one line and an exit code. Does not know: what a
subcommand does. `core.exit_codes` has the exit codes.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp import __version__
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.backends_command import add_backends
from hermes_acp.frontends.cli.board.board_flags import add_board
from hermes_acp.frontends.cli.checkpoints_command import add_checkpoints, add_undo
from hermes_acp.frontends.cli.cli_output import drop_output, note
from hermes_acp.frontends.cli.doctor.doctor_command import add_doctor
from hermes_acp.frontends.cli.hooks_command import add_hooks
from hermes_acp.frontends.cli.mcp_command import add_mcp
from hermes_acp.frontends.cli.memory_command import add_memory
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.notifications_command import add_notifications
from hermes_acp.frontends.cli.policy.policy_command import add_policy
from hermes_acp.frontends.cli.profiles_command import add_profiles
from hermes_acp.frontends.cli.run.run_flags import add_run
from hermes_acp.frontends.cli.runs.runs_command import add_runs
from hermes_acp.frontends.cli.schedule_command import add_schedule
from hermes_acp.frontends.cli.sessions.sessions_command import add_sessions
from hermes_acp.frontends.cli.setup.setup_command import add_setup
from hermes_acp.frontends.cli.skills.skills_command import add_skills
from hermes_acp.frontends.cli.tools_command import add_tools
from hermes_acp.frontends.cli.trust_command import add_trust
from hermes_acp.frontends.cli.update.update_command import add_update
from hermes_acp.frontends.cli.users.audit_command import add_audit
from hermes_acp.frontends.cli.users.users_command import add_users
from hermes_acp.frontends.cli.worker.worker_command import add_worker
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.deleted_folder import explain_deleted_folder
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag


def run_command(arguments: Sequence[str]) -> int:
    """Run one subcommand and return the exit code. A reader that left, such as `head`, ends it silently."""
    try:
        options = _parser().parse(arguments)
    except BadRequest as error:
        return _report_usage(error, arguments)
    try:
        with explain_deleted_folder():
            code = _run(options)
        sys.stdout.flush()
        return code
    except HermesError as error:
        note(error.sentence())
        return error.exit_code
    except BrokenPipeError:
        drop_output()
        return 0
    except KeyboardInterrupt:
        note(command_messages.INTERRUPTED)
        return ExitCode.INTERRUPTED


def _report_usage(error: BadRequest, arguments: Sequence[str]) -> int:
    """Show a usage error; for a program that reads the result of `run`, also as that result."""
    note(error.sentence())
    if arguments[:1] == ["run"]:
        from hermes_acp.frontends.cli.run.run_output import failure_report, report_line, requested_format

        if requested_format(arguments) != "text":
            sys.stdout.write(report_line(failure_report(error)))
    return error.exit_code


def _run(options: argparse.Namespace) -> int:
    if options.command == "run":
        from hermes_acp.frontends.cli.run.headless_run import run_headless

        return run_headless(options)
    if options.command == "sessions":
        from hermes_acp.frontends.cli.sessions.sessions_command import run_sessions

        return run_sessions(options)
    if options.command == "policy":
        from hermes_acp.frontends.cli.policy.policy_command import run_policy

        return run_policy(options)
    if options.command == "trust":
        from hermes_acp.frontends.cli.trust_command import run_trust

        return run_trust(options)
    if options.command == "skills":
        from hermes_acp.frontends.cli.skills.skills_command import run_skills

        return run_skills(options)
    if options.command == "tools":
        from hermes_acp.frontends.cli.tools_command import run_tools

        return run_tools(options)
    if options.command == "hooks":
        from hermes_acp.frontends.cli.hooks_command import run_hooks

        return run_hooks(options)
    if options.command == "mcp":
        from hermes_acp.frontends.cli.mcp_command import run_mcp

        return run_mcp(options)
    if options.command == "memory":
        from hermes_acp.frontends.cli.memory_command import run_memory

        return run_memory(options)
    if options.command in ("runs", "schedule", "board", "worker", "notifications"):
        return _run_unattended(options)
    if options.command in ("checkpoints", "undo"):
        from hermes_acp.frontends.cli.checkpoints_command import run_checkpoints

        return run_checkpoints(options)
    if options.command == "profiles":
        from hermes_acp.frontends.cli.profiles_command import run_profiles

        return run_profiles(options)
    if options.command == "backends":
        from hermes_acp.frontends.cli.backends_command import run_backends

        return run_backends(options)
    if options.command in ("users", "audit"):
        return _run_administration(options)
    if options.command in ("doctor", "update"):
        return _run_upkeep(options)
    from hermes_acp.frontends.cli.setup.setup_command import run_setup

    return run_setup(options)


def _run_unattended(options: argparse.Namespace) -> int:
    """Run a command about work without a client."""
    if options.command == "runs":
        from hermes_acp.frontends.cli.runs.runs_command import run_runs

        return run_runs(options)
    if options.command == "board":
        from hermes_acp.frontends.cli.board.board_command import run_board

        return run_board(options)
    if options.command == "worker":
        from hermes_acp.frontends.cli.worker.worker_command import run_worker

        return run_worker(options)
    if options.command == "schedule":
        from hermes_acp.frontends.cli.schedule_command import run_schedule

        return run_schedule(options)
    from hermes_acp.frontends.cli.notifications_command import run_notifications

    return run_notifications(options)


def _run_upkeep(options: argparse.Namespace) -> int:
    """Run a command about this installation."""
    if options.command == "update":
        from hermes_acp.frontends.cli.update.update_command import run_update

        return run_update(options)
    from hermes_acp.frontends.cli.doctor.doctor_command import run_doctor

    return run_doctor(options)


def _run_administration(options: argparse.Namespace) -> int:
    """Run an administrator's command."""
    if options.command == "users":
        from hermes_acp.frontends.cli.users.users_command import run_users

        return run_users(options)
    from hermes_acp.frontends.cli.users.audit_command import run_audit

    return run_audit(options)


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="hermes-acp", description=command_messages.DESCRIPTION, epilog=command_messages.EPILOG
    )
    parser.add_argument("--version", action="version", version=f"hermes-acp {__version__}")
    add_profile_flag(parser)
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    for name, summary in command_messages.COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if add_options := OPTIONS.get(name):
            add_options(command)
    return parser


OPTIONS: Final[Mapping[str, Callable[[argparse.ArgumentParser], None]]] = MappingProxyType(
    {
        "setup": add_setup,
        "run": add_run,
        "runs": add_runs,
        "schedule": add_schedule,
        "board": add_board,
        "worker": add_worker,
        "sessions": add_sessions,
        "checkpoints": add_checkpoints,
        "undo": add_undo,
        "doctor": add_doctor,
        "update": add_update,
        "profiles": add_profiles,
        "backends": add_backends,
        "policy": add_policy,
        "trust": add_trust,
        "skills": add_skills,
        "tools": add_tools,
        "memory": add_memory,
        "hooks": add_hooks,
        "mcp": add_mcp,
        "notifications": add_notifications,
        "users": add_users,
        "audit": add_audit,
    }
)
