"""The `hermes-acp audit` command: show the actions on a hub, and verify that the log is intact."""

import argparse
from collections import deque

from hermes_acp.config.environment import environment_of_profile
from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.cli_output import escaped, note, print_json
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.users import messages as user_messages


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser("show", help=user_messages.AUDIT_SHOW_HELP)
    show.add_argument("--since", metavar="WHEN", default="", help=user_messages.SINCE_HELP)
    show.add_argument("--user", metavar="NAME", default="", help=user_messages.USER_HELP)
    show.add_argument("--limit", metavar="N", type=int, default=50, help=user_messages.LIMIT_HELP)
    verify = actions.add_parser("verify", help=user_messages.AUDIT_VERIFY_HELP)
    verify.add_argument("--head", metavar="HASH", default="", help=user_messages.HEAD_HELP)
    for action in (show, verify):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def run_audit(options: argparse.Namespace) -> int:
    """Run the subcommand; return the exit code, which is 1 if the log was altered.

    Raises BadRequest or StorageError.
    """
    from hermes_acp.users.accounts import HUB_FOLDER
    from hermes_acp.users.audit_log import AuditLog

    log = AuditLog(environment_of_profile(DEFAULT_PROFILE).home / HUB_FOLDER)
    if options.action == "verify":
        verdict = log.verify(options.head)
        if options.json:
            print_json(verdict)
        elif verdict.problem:
            note(user_messages.broken(verdict.entries, verdict.problem))
        else:
            print(user_messages.intact(verdict.entries, verdict.head))
        return ExitCode.FAILED if verdict.problem else ExitCode.DONE
    since = _since(options.since)
    entries = (
        each
        for each in log.entries()
        if each.at >= since and (not options.user or options.user in (each.who, each.about.partition(":")[0]))
    )
    newest = deque(entries, maxlen=max(1, options.limit))
    if options.json:
        print_json(list(newest))
        return ExitCode.DONE
    for each in newest:
        facts = "  ".join(filter(None, (each.source, each.via, each.about)))
        print(escaped(f"{each.at}  {each.who or '-':<12}  {each.what:<18}  {each.outcome:<10}  {facts}"))
    return ExitCode.DONE


def _since(words: str) -> str:
    """Convert a date to the time format of the log entries. Raises BadRequest."""
    if not words:
        return ""
    from datetime import UTC, datetime

    from hermes_acp.natural_dates import read_range

    start, _ = read_range(words, "")
    return datetime.fromtimestamp(start or 0.0, UTC).isoformat()
