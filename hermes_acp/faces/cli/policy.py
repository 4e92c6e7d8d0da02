"""hermes-acp policy: how shell commands are judged.

Knows: the flags, where the judged commands would run. Does not know: any rule, how a judgement is shown.
"""

import argparse
import sys
from pathlib import Path

from hermes_acp.config.environment import read_environment


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands and their flags."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=type(parser))
    check = actions.add_parser(
        "check",
        help="judge many commands, a JSON object a line",
        epilog='In: {"id": …, "cmd": "…"}. Out: {"id", "decision": "allow" | "ask" | "deny", "effects", "why"}.',
    )
    check.add_argument("--jsonl", action="store_true", required=True, help="lines of JSON in and out")
    explain = actions.add_parser("explain", help="explain the judgement of one command")
    explain.add_argument("cmd", metavar="CMD")
    for action in (check, explain):
        action.add_argument(
            "--mode", choices=("ask", "accept_edits", "plan", "auto"), default="ask", help="default: ask"
        )


def run_policy(options: argparse.Namespace) -> int:
    """Do what was asked, with this folder as the workspace; give the exit code."""
    from hermes_acp.assembly.policies import policy_of

    policy = policy_of(read_environment())
    cwd = str(Path(".").resolve())
    if options.action == "check":
        from hermes_acp.faces.cli.policy_check import check_lines

        return check_lines(sys.stdin.buffer, policy, cwd, options.mode)
    from hermes_acp.faces.cli.policy_explain import explain_command

    return explain_command(policy, options.cmd, cwd, options.mode)
