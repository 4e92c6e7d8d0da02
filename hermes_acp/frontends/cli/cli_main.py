"""The command line.

Knows: the subcommands and their flags; how a failure becomes one line and an exit code. Does not know: what a
subcommand does. Exit codes: 0 done, 1 the agent failed or gave up, 2 usage or configuration, 3 model or network,
4 storage, 5 a needed approval was refused or impossible, 124 out of time, 130 interrupted.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NoReturn

from hermes_acp import __version__
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.cli.checkpoints_command import add_checkpoints, add_undo
from hermes_acp.frontends.cli.cli_output import drop_output, note
from hermes_acp.frontends.cli.doctor_command import add_doctor
from hermes_acp.frontends.cli.mcp_command import add_mcp
from hermes_acp.frontends.cli.memory_command import add_memory
from hermes_acp.frontends.cli.messages import command_messages, run_messages
from hermes_acp.frontends.cli.policy.policy_command import add_policy
from hermes_acp.frontends.cli.sessions.sessions_command import add_sessions
from hermes_acp.frontends.cli.skills.skills_command import add_skills
from hermes_acp.frontends.cli.tools_command import add_tools
from hermes_acp.frontends.cli.trust_command import add_trust


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        note(command_messages.usage_error(message, self.prog))
        sys.exit(2)


def run_command(arguments: Sequence[str]) -> int:
    """Run one subcommand and return the exit code. A reader that left, such as `head`, ends it silently."""
    options = _parser().parse_args(arguments)
    try:
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
        return 130


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
    if options.command == "mcp":
        from hermes_acp.frontends.cli.mcp_command import run_mcp

        return run_mcp(options)
    if options.command == "memory":
        from hermes_acp.frontends.cli.memory_command import run_memory

        return run_memory(options)
    if options.command in ("checkpoints", "undo"):
        from hermes_acp.frontends.cli.checkpoints_command import run_checkpoints

        return run_checkpoints(options)
    if options.command == "doctor":
        from hermes_acp.frontends.cli.doctor_command import run_doctor

        return run_doctor(options)
    from hermes_acp.frontends.cli.setup_command import run_setup

    return run_setup()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="hermes-acp", description=command_messages.DESCRIPTION, epilog=command_messages.EPILOG
    )
    parser.add_argument("--version", action="version", version=f"hermes-acp {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for name, summary in command_messages.COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if add_options := OPTIONS.get(name):
            add_options(command)
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = run_messages.EXIT_CODES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("-p", "--prompt", help=run_messages.PROMPT_HELP)
    parser.add_argument("--cwd", default=".", help=run_messages.CWD_HELP)
    parser.add_argument(
        "--output-format",
        choices=("text", "json", "stream-json"),
        default="text",
        help=run_messages.FORMAT_HELP,
    )
    parser.add_argument(
        "--mode", choices=("ask", "accept_edits", "plan", "auto", "bypass"), help=run_messages.MODE_HELP
    )
    parser.add_argument("--allow-bypass", action="store_true", help=run_messages.ALLOW_BYPASS_HELP)
    parser.add_argument("--trust-workspace", action="store_true", help=run_messages.TRUST_HELP)
    parser.add_argument("--backend", metavar="NAME", help=run_messages.BACKEND_HELP)
    for flag, kind, metavar, about in (
        ("--max-steps", int, "N", run_messages.MAX_STEPS_HELP),
        ("--max-tokens", int, "N", run_messages.MAX_TOKENS_HELP),
        ("--max-cost", float, "USD", run_messages.MAX_COST_HELP),
        ("--timeout", float, "S", run_messages.TIMEOUT_HELP),
    ):
        parser.add_argument(flag, type=_positive(kind), metavar=metavar, help=about)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help=run_messages.SESSION_HELP)
    which.add_argument("--resume", metavar="ID", help=run_messages.RESUME_HELP)


def _positive(kind: type[int] | type[float]):
    def parse(text: str) -> int | float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(command_messages.not_a_positive_number(text))
        return value

    parse.__name__ = "number"
    return parse


OPTIONS: Final[Mapping[str, Callable[[argparse.ArgumentParser], None]]] = MappingProxyType(
    {
        "run": _add_run,
        "sessions": add_sessions,
        "checkpoints": add_checkpoints,
        "undo": add_undo,
        "doctor": add_doctor,
        "policy": add_policy,
        "trust": add_trust,
        "skills": add_skills,
        "tools": add_tools,
        "memory": add_memory,
        "mcp": add_mcp,
    }
)
