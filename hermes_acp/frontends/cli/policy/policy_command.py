"""The `hermes-acp policy` command: show how shell commands are checked, and manage permanent answers."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.frontends.cli.messages import command_messages, policy_messages

if TYPE_CHECKING:
    from hermes_acp.policy.policy_engine import Policy
    from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import DetectedSandbox


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=type(parser))
    check = actions.add_parser(
        "check",
        help=policy_messages.CHECK_HELP,
        epilog=policy_messages.CHECK_EPILOG,
    )
    check.add_argument("--jsonl", action="store_true", required=True, help=policy_messages.JSONL_HELP)
    explain = actions.add_parser("explain", help=policy_messages.EXPLAIN_HELP)
    explain.add_argument("cmd", metavar="CMD", help=policy_messages.COMMAND_HELP)
    for action in (check, explain):
        action.add_argument(
            "--mode",
            choices=("ask", "accept_edits", "plan", "auto", "bypass"),
            default="ask",
            help=policy_messages.MODE_HELP,
        )
    actions.add_parser("list", help=policy_messages.LIST_HELP)
    forget = actions.add_parser("forget", help=policy_messages.FORGET_HELP)
    forget.add_argument("path", nargs="?", default=".", metavar="PATH", help=command_messages.FOLDER_HELP)
    forget.add_argument("--all", action="store_true", help=policy_messages.FORGET_ALL_HELP)


def run_policy(options: argparse.Namespace) -> int:
    """Run the subcommand with the current folder as the workspace; return the exit code."""
    environment = read_environment()
    if options.action in ("list", "forget"):
        from hermes_acp.frontends.cli.policy.policy_answers import forget_answers, list_answers

        if options.action == "list":
            return list_answers(environment)
        return forget_answers(environment, None if options.all else str(Path(options.path).resolve()))
    cwd = str(Path(".").resolve())
    policy, found = _as_in_session(environment, cwd)
    if options.action == "check":
        from hermes_acp.frontends.cli.policy.policy_check import check_lines

        return check_lines(sys.stdin.buffer, policy, cwd, options.mode, found.way)
    from hermes_acp.frontends.cli.policy.policy_explain import explain_command

    return explain_command(policy, options.cmd, cwd, options.mode, found)


def _as_in_session(environment: Environment, cwd: str) -> "tuple[Policy, DetectedSandbox]":
    """Return the policy and the sandbox that a session in this folder would have, including trusted project rules."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.ids import RandomIds
    from hermes_acp.policy.policy_factory import build_policy
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.workspaces.sandbox_setup import sandbox_here

    settings = load_settings(environment)
    policy = build_policy(environment, settings.rules, WorkspaceTrust(environment, RandomIds()))
    return policy, sandbox_here(settings, environment.variables, cwd)
