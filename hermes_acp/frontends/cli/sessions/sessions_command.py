"""hermes-acp sessions: find, list and show what is stored.

Knows: the flags, the store they are about, what stands in its way. Does not know: how anything is shown.
"""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from hermes_acp.config.environment import read_environment
from hermes_acp.frontends.cli.cli_output import note
from hermes_acp.storage.session_store import SessionStore

DEFAULT_RESULTS: Final = 20
Command = Callable[[SessionStore, argparse.Namespace], Awaitable[int]]


def add_sessions(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands and their flags."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    parser.set_defaults(action="list", archived=False, workspace=None, json=False)
    search = actions.add_parser(
        "search",
        help="find what was said in any session",
        epilog='Every word must occur in a session. "a phrase" in quotes, begin* for a word\'s begin, a OR b: either.',
    )
    search.add_argument("query", nargs="+", metavar="QUERY", help="words that were said")
    search.add_argument(
        "--by-meaning",
        action="store_true",
        help="also what says the like in other words, where `recall.embeddings` is set",
    )
    search.add_argument(
        "--limit",
        type=_count,
        default=DEFAULT_RESULTS,
        metavar="N",
        help=f"at most N finds, 1 to 1000 (default: {DEFAULT_RESULTS})",
    )
    listing = actions.add_parser("list", help="list the sessions, newest first (the default)")
    listing.add_argument("--archived", action="store_true", help="the archived ones too")
    for narrowed in (search, listing):
        narrowed.add_argument("--workspace", metavar="DIR", help="only sessions of this working directory")
    show = actions.add_parser("show", help="show one session from its beginning")
    show.add_argument("id", metavar="ID", help="the session, as the list names it")
    for action in (search, listing, show):
        action.add_argument("--json", action="store_true", help="one JSON document")


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 to 1000")
    return value


_count.__name__ = "number"


def run_sessions(options: argparse.Namespace) -> int:
    """Do what was asked; give the exit code. A reader that left, such as `head`, stops it without a word."""
    import anyio

    try:
        code = anyio.run(_run, options)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


async def _run(options: argparse.Namespace) -> int:
    store = SessionStore(read_environment().home)
    try:
        return await _command(options.action)(store, options)
    finally:
        for sentence in store.news():
            note(sentence)
        store.close()


def _command(action: str) -> Command:
    match action:
        case "search":
            from hermes_acp.frontends.cli.sessions.sessions_search import search_sessions

            return search_sessions
        case "list":
            from hermes_acp.frontends.cli.sessions.sessions_list import list_sessions

            return list_sessions
        case _:
            from hermes_acp.frontends.cli.sessions.sessions_show import show_session

            return show_session
