"""Dispatch to the subcommands, and turn failures into one line and an exit code (`core.exit_codes`)."""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from hermes_acp import __version__
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.cli_output import drop_output, note
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.deleted_folder import explain_deleted_folder
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag

PROGRAM: Final = "hermes-acp"
MAX_COLUMNS: Final = 100
SUMMARY_COLUMN: Final = 16
"""The column at which the summaries of the commands start."""


class Command(Struct, frozen=True):
    """A subcommand, imported only when it is used: `module:function` below this package.

    `add_options` adds its flags to its parser, `run` returns its exit code.
    """

    add_options: str
    run: str


def run_command(arguments: Sequence[str]) -> int:
    """Run a subcommand and return the exit code. End silently if a reader such as `head` closes the output."""
    try:
        options = _parser(arguments).parse(arguments)
    except BadRequest as error:
        return _report_usage(error, arguments)
    try:
        with explain_deleted_folder():
            code: int = _imported(COMMANDS[options.command].run)(options)
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
    """Show a usage error; if a program reads the JSON result of `run`, also write the error as that result."""
    note(error.sentence())
    if arguments[:1] == ["run"]:
        from hermes_acp.frontends.cli.run.run_output import failure_report, report_line, requested_format

        if requested_format(arguments) != "text":
            sys.stdout.write(report_line(failure_report(error)))
    return error.exit_code


def _imported(place: str) -> Any:
    """Import and return the function that `module:function` names."""
    module, _, function = place.partition(":")
    return getattr(import_module(f"hermes_acp.frontends.cli.{module}"), function)


def _parser(arguments: Sequence[str]) -> CommandParser:
    """Return a parser with the flags of the command that the first argument names; otherwise, of all commands."""
    named = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
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
        if name in named:
            _imported(COMMANDS[name].add_options)(parser_of_command)
    return parser


def _overview() -> str:
    """Describe the program and its commands by group, wrapped to the width of the terminal."""
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
        "setup": Command("setup.setup_command:add_setup", "setup.setup_command:run_setup"),
        "model": Command("model.model_command:add_model", "model.model_command:run_model"),
        "run": Command("run.run_flags:add_run", "run.headless_run:run_headless"),
        "runs": Command("runs.runs_command:add_runs", "runs.runs_command:run_runs"),
        "batch": Command("batch.batch_command:add_batch", "batch.batch_command:run_batch"),
        "schedule": Command("schedule_command:add_schedule", "schedule_command:run_schedule"),
        "board": Command("board.board_flags:add_board", "board.board_command:run_board"),
        "worker": Command("worker.worker_command:add_worker", "worker.worker_command:run_worker"),
        "sessions": Command(
            "sessions.sessions_command:add_sessions", "sessions.sessions_command:run_sessions"
        ),
        "checkpoints": Command("checkpoints_command:add_checkpoints", "checkpoints_command:run_checkpoints"),
        "undo": Command("checkpoints_command:add_undo", "checkpoints_command:run_checkpoints"),
        "doctor": Command("doctor.doctor_command:add_doctor", "doctor.doctor_command:run_doctor"),
        "train": Command("train.train_command:add_train", "train.train_command:run_train"),
        "update": Command("update.update_command:add_update", "update.update_command:run_update"),
        "profiles": Command("profiles_command:add_profiles", "profiles_command:run_profiles"),
        "backends": Command("backends_command:add_backends", "backends_command:run_backends"),
        "policy": Command("policy.policy_command:add_policy", "policy.policy_command:run_policy"),
        "trust": Command("trust_command:add_trust", "trust_command:run_trust"),
        "skills": Command("skills.skills_command:add_skills", "skills.skills_command:run_skills"),
        "tools": Command("tools_command:add_tools", "tools_command:run_tools"),
        "memory": Command("memory_command:add_memory", "memory_command:run_memory"),
        "hooks": Command("hooks_command:add_hooks", "hooks_command:run_hooks"),
        "mcp": Command("mcp_command:add_mcp", "mcp_command:run_mcp"),
        "voice": Command("voice.voice_command:add_voice", "voice.voice_command:run_voice"),
        "notifications": Command(
            "notifications_command:add_notifications", "notifications_command:run_notifications"
        ),
        "users": Command("users.users_command:add_users", "users.users_command:run_users"),
        "audit": Command("users.audit_command:add_audit", "users.audit_command:run_audit"),
        "usage": Command("usage.usage_command:add_usage", "usage.usage_command:run_usage"),
        "logs": Command("logs.logs_flags:add_logs", "logs.logs_command:run_logs"),
    }
)
