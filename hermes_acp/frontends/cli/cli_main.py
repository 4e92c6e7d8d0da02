"""The command line: its subcommands, and how a failure becomes one line and an exit code (`core.exit_codes`)."""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from hermes_acp import __version__
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.backends_command import add_backends, run_backends
from hermes_acp.frontends.cli.batch.batch_command import add_batch, run_batch
from hermes_acp.frontends.cli.board.board_flags import add_board
from hermes_acp.frontends.cli.checkpoints_command import add_checkpoints, add_undo, run_checkpoints
from hermes_acp.frontends.cli.cli_output import drop_output, note
from hermes_acp.frontends.cli.doctor.doctor_command import add_doctor, run_doctor
from hermes_acp.frontends.cli.hooks_command import add_hooks, run_hooks
from hermes_acp.frontends.cli.logs.logs_flags import add_logs
from hermes_acp.frontends.cli.mcp_command import add_mcp, run_mcp
from hermes_acp.frontends.cli.memory_command import add_memory, run_memory
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.model.model_command import add_model, run_model
from hermes_acp.frontends.cli.notifications_command import add_notifications, run_notifications
from hermes_acp.frontends.cli.policy.policy_command import add_policy, run_policy
from hermes_acp.frontends.cli.profiles_command import add_profiles, run_profiles
from hermes_acp.frontends.cli.run.run_flags import add_run
from hermes_acp.frontends.cli.runs.runs_command import add_runs, run_runs
from hermes_acp.frontends.cli.schedule_command import add_schedule, run_schedule
from hermes_acp.frontends.cli.sessions.sessions_command import add_sessions, run_sessions
from hermes_acp.frontends.cli.setup.setup_command import add_setup, run_setup
from hermes_acp.frontends.cli.skills.skills_command import add_skills, run_skills
from hermes_acp.frontends.cli.tools_command import add_tools, run_tools
from hermes_acp.frontends.cli.train.train_command import add_train, run_train
from hermes_acp.frontends.cli.trust_command import add_trust, run_trust
from hermes_acp.frontends.cli.update.update_command import add_update, run_update
from hermes_acp.frontends.cli.usage.usage_command import add_usage, run_usage
from hermes_acp.frontends.cli.users.audit_command import add_audit, run_audit
from hermes_acp.frontends.cli.users.users_command import add_users, run_users
from hermes_acp.frontends.cli.voice.voice_command import add_voice, run_voice
from hermes_acp.frontends.cli.worker.worker_command import add_worker, run_worker
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.deleted_folder import explain_deleted_folder
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag

PROGRAM: Final = "hermes-acp"
MAX_COLUMNS: Final = 100
SUMMARY_COLUMN: Final = 16
"""Where the summaries of the commands start, in characters from the left."""


class Command(Struct, frozen=True):
    """A subcommand: `add_options` adds its flags to its parser, `run` returns its exit code."""

    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def run_command(arguments: Sequence[str]) -> int:
    """Run one subcommand and return the exit code. A reader that left, such as `head`, ends it silently."""
    try:
        options = _parser().parse(arguments)
    except BadRequest as error:
        return _report_usage(error, arguments)
    try:
        with explain_deleted_folder():
            code = COMMANDS[options.command].run(options)
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


def _run_headless(options: argparse.Namespace) -> int:
    from hermes_acp.frontends.cli.run.headless_run import run_headless

    return run_headless(options)


def _run_board(options: argparse.Namespace) -> int:
    from hermes_acp.frontends.cli.board.board_command import run_board

    return run_board(options)


def _run_logs(options: argparse.Namespace) -> int:
    from hermes_acp.frontends.cli.logs.logs_command import run_logs

    return run_logs(options)


def _parser() -> CommandParser:
    parser = CommandParser(
        prog=PROGRAM,
        usage=command_messages.USAGE,
        description=_overview(),
        epilog=command_messages.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hermes-acp {__version__}")
    add_profile_flag(parser)
    commands = parser.add_subparsers(
        dest="command",
        required=True,
        metavar="COMMAND",
        parser_class=CommandParser,
        prog=PROGRAM,
        help=argparse.SUPPRESS,
    )
    for name, summary in command_messages.COMMANDS.items():
        description = f"{summary[0].upper()}{summary[1:]}."
        parser_of_command = commands.add_parser(name, help=summary, description=description)
        if command := COMMANDS.get(name):
            command.add_options(parser_of_command)
    return parser


def _overview() -> str:
    """Return what the program is, and its commands by group, as wide as the terminal."""
    columns = min(MAX_COLUMNS, shutil.get_terminal_size().columns) - 2
    blocks = [textwrap.fill(command_messages.DESCRIPTION, columns, break_on_hyphens=False)]
    for title, commands in command_messages.COMMAND_GROUPS.items():
        lines = [
            textwrap.fill(
                summary, columns, initial_indent=f"  {name:13} ", subsequent_indent=" " * SUMMARY_COLUMN
            )
            for name, summary in commands.items()
        ]
        blocks.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join(blocks)


COMMANDS: Final[Mapping[str, Command]] = MappingProxyType(
    {
        "setup": Command(add_setup, run_setup),
        "model": Command(add_model, run_model),
        "run": Command(add_run, _run_headless),
        "runs": Command(add_runs, run_runs),
        "batch": Command(add_batch, run_batch),
        "schedule": Command(add_schedule, run_schedule),
        "board": Command(add_board, _run_board),
        "worker": Command(add_worker, run_worker),
        "sessions": Command(add_sessions, run_sessions),
        "checkpoints": Command(add_checkpoints, run_checkpoints),
        "undo": Command(add_undo, run_checkpoints),
        "doctor": Command(add_doctor, run_doctor),
        "train": Command(add_train, run_train),
        "update": Command(add_update, run_update),
        "profiles": Command(add_profiles, run_profiles),
        "backends": Command(add_backends, run_backends),
        "policy": Command(add_policy, run_policy),
        "trust": Command(add_trust, run_trust),
        "skills": Command(add_skills, run_skills),
        "tools": Command(add_tools, run_tools),
        "memory": Command(add_memory, run_memory),
        "hooks": Command(add_hooks, run_hooks),
        "mcp": Command(add_mcp, run_mcp),
        "voice": Command(add_voice, run_voice),
        "notifications": Command(add_notifications, run_notifications),
        "users": Command(add_users, run_users),
        "audit": Command(add_audit, run_audit),
        "usage": Command(add_usage, run_usage),
        "logs": Command(add_logs, _run_logs),
    }
)
