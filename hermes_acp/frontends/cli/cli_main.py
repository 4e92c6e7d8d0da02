"""The command line.

Knows: the subcommands and their flags; how a failure becomes one line and an exit code. Does not know: what a
subcommand does. Exit codes: 0 done, 1 the agent failed or gave up, 2 usage or configuration, 3 model or network,
4 storage, 5 a needed approval was refused or impossible, 124 out of time, 130 interrupted.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from hermes_acp import __version__
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.cli.checkpoints_command import add_checkpoints, add_undo
from hermes_acp.frontends.cli.cli_output import drop_output
from hermes_acp.frontends.cli.doctor_command import add_doctor
from hermes_acp.frontends.cli.mcp_command import add_mcp
from hermes_acp.frontends.cli.memory_command import add_memory
from hermes_acp.frontends.cli.policy.policy_command import add_policy
from hermes_acp.frontends.cli.sessions.sessions_command import add_sessions
from hermes_acp.frontends.cli.skills.skills_command import add_skills
from hermes_acp.frontends.cli.tools_command import add_tools
from hermes_acp.frontends.cli.trust_command import add_trust

EXIT_CODES: Final = """exit codes:
  0    done
  1    the agent failed or gave up
  2    usage or configuration
  3    model or network
  4    storage
  5    a needed approval was refused or impossible
  124  out of time
  130  interrupted"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"hermes-acp: {message}. Try `{self.prog} --help`.", file=sys.stderr)
        sys.exit(2)


def run_command(arguments: Sequence[str]) -> int:
    """Run one subcommand; give the exit code. A reader that left, such as `head`, ends it without a word."""
    options = _parser().parse_args(arguments)
    try:
        code = _run(options)
        sys.stdout.flush()
        return code
    except HermesError as error:
        print(f"hermes-acp: {error.sentence()}", file=sys.stderr)
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
        prog="hermes-acp",
        description="A coding agent for any editor that speaks the Agent Client Protocol. "
        "Without a command it serves an editor over standard input and output; with --allow-bypass its user may "
        "choose a mode that asks about nothing.",
        epilog="Begin with `hermes-acp setup`. `hermes-acp COMMAND --help` says what it takes.",
    )
    parser.add_argument("--version", action="version", version=f"hermes-acp {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    commands.add_parser("setup", help="choose a provider, its key and a model")
    commands.add_parser("chat", help="talk to the agent in this terminal")
    _add_run(commands.add_parser(
        "run",
        help="run one prompt without an editor, for scripts and CI",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ))  # fmt: skip
    commands.add_parser("acp", help="serve an editor over stdio (the same as no command)")
    commands.add_parser("lsp", help="serve an editor over the Language Server Protocol")
    commands.add_parser("serve", help="serve clients over HTTP and WebSocket")
    commands.add_parser("scan", help="judge files for hidden or hostile instructions")
    add_sessions(commands.add_parser("sessions", help="search, list and show stored sessions"))
    add_checkpoints(commands.add_parser("checkpoints", help="show what turns changed in files; take it back"))
    add_undo(commands.add_parser("undo", help="take back what the last turns changed in files"))
    add_doctor(commands.add_parser("doctor", help="check what is stored; rebuild the indexes"))
    add_policy(
        commands.add_parser("policy", help="show how commands are judged, and what was answered for good")
    )
    add_trust(commands.add_parser("trust", help="trust what a folder brings along, show or revoke that"))
    add_skills(
        commands.add_parser("skills", help="show skills and their versions; install, update and audit them")
    )
    add_tools(
        commands.add_parser("tools", help="show the tools you or your agent wrote; check or roll back one")
    )
    add_memory(commands.add_parser("memory", help="show the notes that wait for you; approve or reject them"))
    add_mcp(commands.add_parser("mcp", help="show your MCP servers; sign in at one or out again"))
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-p", "--prompt", help="the prompt; @FILE reads a file, - reads standard input (the default)"
    )
    parser.add_argument("--cwd", default=".", help="the working directory (default: this one)")
    parser.add_argument(
        "--output-format", choices=("text", "json", "stream-json"), default="text", help="default: text"
    )
    parser.add_argument(
        "--mode",
        choices=("ask", "accept_edits", "plan", "auto", "bypass"),
        help="what runs unasked (default: `mode` of config.yaml, else ask). Nobody can be asked here, so `ask` only "
        "reads; `accept_edits` edits files in the working directory; `plan` reads; `auto` edits, and runs what the "
        "sandbox keeps in; `bypass` runs everything: use it only where nothing can be lost",
    )
    parser.add_argument("--allow-bypass", action="store_true", help="let `--mode bypass` be chosen")
    parser.add_argument(
        "--trust-workspace",
        action="store_true",
        help="for this run trust the MCP servers and rules that the working directory brings along",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME",
        help="where commands run: local, docker, ssh, … (default: `backend` of config.yaml)",
    )
    parser.add_argument("--max-steps", type=_positive(int), metavar="N", help="end after N steps")
    parser.add_argument(
        "--max-tokens", type=_positive(int), metavar="N", help="end after N tokens, sent and answered"
    )
    parser.add_argument(
        "--max-cost", type=_positive(float), metavar="USD", help="end at this cost, where prices are known"
    )
    parser.add_argument(
        "--timeout", type=_positive(float), metavar="S", help="end after S seconds, with exit code 124"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="continue session ID, or begin it under that id")
    which.add_argument(
        "--resume",
        metavar="ID",
        help="continue session ID, which must exist; without a prompt, its turn that was interrupted",
    )


def _positive(kind: type[int] | type[float]):
    def parse(text: str) -> int | float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is no number above 0 and below infinity")
        return value

    parse.__name__ = "number"
    return parse
