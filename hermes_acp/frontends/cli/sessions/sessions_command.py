"""The `hermes-acp sessions` command: search, list and show stored sessions."""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from hermes_acp.config.environment import read_environment
from hermes_acp.frontends.cli.cli_output import note
from hermes_acp.frontends.cli.messages import command_messages, session_messages
from hermes_acp.frontends.cli.sessions import messages as export_messages
from hermes_acp.storage.session_store import SessionStore

DEFAULT_RESULTS: Final = 20
MAX_RESULTS: Final = 1000
EXPORT_FORMATS: Final = ("markdown", "html", "json", "atif", "messages", "sharegpt", "dpo")
Command = Callable[[SessionStore, argparse.Namespace], Awaitable[int]]


def add_sessions(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    parser.set_defaults(action="list", archived=False, workspace=None, json=False, since="", until="")
    search = actions.add_parser(
        "search",
        help=session_messages.SEARCH_HELP,
        epilog=session_messages.SEARCH_EPILOG,
    )
    search.add_argument("query", nargs="*", metavar="QUERY", help=session_messages.QUERY_HELP)
    search.add_argument(
        "--by-meaning",
        action="store_true",
        help=session_messages.BY_MEANING_HELP,
    )
    search.add_argument(
        "--limit",
        type=_count,
        default=DEFAULT_RESULTS,
        metavar="N",
        help=session_messages.limit_help(DEFAULT_RESULTS),
    )
    listing = actions.add_parser("list", help=session_messages.LIST_HELP)
    listing.add_argument("--archived", action="store_true", help=session_messages.ARCHIVED_HELP)
    for narrowed in (search, listing):
        narrowed.add_argument("--workspace", metavar="DIR", help=session_messages.WORKSPACE_HELP)
        narrowed.add_argument("--since", default="", metavar="DATE", help=session_messages.SINCE_HELP)
        narrowed.add_argument("--until", default="", metavar="DATE", help=session_messages.UNTIL_HELP)
    show = actions.add_parser("show", help=session_messages.SHOW_HELP)
    show.add_argument("id", metavar="ID", help=session_messages.ID_HELP)
    _add_changes(actions.add_parser)
    for action in (search, listing, show):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def _add_changes(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    rename = add_parser("rename", help=session_messages.RENAME_HELP)
    rename.add_argument("id", metavar="ID", help=session_messages.ID_HELP)
    rename.add_argument("title", nargs="+", metavar="TITLE", help=session_messages.TITLE_HELP)
    for name, about in (
        ("archive", session_messages.ARCHIVE_HELP),
        ("unarchive", session_messages.UNARCHIVE_HELP),
        ("delete", session_messages.DELETE_HELP),
    ):
        change = add_parser(name, help=about)
        change.add_argument("ids", nargs="+", metavar="ID", help=session_messages.IDS_HELP)
        if name == "delete":
            change.add_argument("-y", "--yes", action="store_true", help=session_messages.YES_HELP)
    _add_export(add_parser)


def _add_export(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    export = add_parser("export", help=export_messages.EXPORT_HELP, epilog=export_messages.EXPORT_EPILOG)
    export.add_argument("ids", nargs="*", metavar="ID", help=session_messages.IDS_HELP)
    export.add_argument("--all", action="store_true", help=export_messages.ALL_HELP)
    export.add_argument(
        "--format", choices=EXPORT_FORMATS, default="markdown", help=export_messages.FORMAT_HELP
    )
    export.add_argument("-o", "--output", "--out", metavar="FILE", help=session_messages.OUTPUT_HELP)
    export.add_argument("--force", action="store_true", help=command_messages.FORCE_HELP)
    export.add_argument("--include-untrusted", action="store_true", help=export_messages.UNTRUSTED_HELP)
    export.add_argument("-y", "--yes", action="store_true", help=session_messages.YES_HELP)
    imported = add_parser("import", help=export_messages.IMPORT_HELP)
    imported.add_argument("file", metavar="FILE", help=export_messages.IMPORT_FILE_HELP)
    imported.add_argument("--cwd", metavar="DIR", help=export_messages.IMPORT_CWD_HELP)
    traces = add_parser("export-traces", help=session_messages.EXPORT_TRACES_HELP)
    traces.add_argument("id", metavar="ID", help=session_messages.ID_HELP)


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= MAX_RESULTS:
        raise argparse.ArgumentTypeError(command_messages.not_a_number_from(text, 1, MAX_RESULTS))
    return value


_count.__name__ = "number"


def run_sessions(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. If the reader of the output leaves, such as `head`, end silently."""
    import anyio

    try:
        code = anyio.run(_run, options)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


async def _run(options: argparse.Namespace) -> int:
    from hermes_acp.app.service_factories import build_session_store

    store = build_session_store(read_environment())
    try:
        await store.sharing.fetch_changed()
        return await _command(options.action)(store, options)
    finally:
        for sentence in store.news():
            note(sentence)
        await store.aclose()
        await store.close_words()


def _command(action: str) -> Command:
    match action:
        case "search":
            from hermes_acp.frontends.cli.sessions.sessions_search import search_sessions

            return search_sessions
        case "list":
            from hermes_acp.frontends.cli.sessions.sessions_list import list_sessions

            return list_sessions
        case "rename" | "archive" | "unarchive" | "delete":
            from hermes_acp.frontends.cli.sessions import sessions_change

            return {
                "rename": sessions_change.rename_session,
                "delete": sessions_change.delete_sessions,
            }.get(action, sessions_change.archive_sessions)
        case "export":
            from hermes_acp.frontends.cli.sessions.sessions_export import export_sessions

            return export_sessions
        case "import":
            from hermes_acp.frontends.cli.sessions.sessions_import import import_sessions

            return import_sessions
        case "export-traces":
            from hermes_acp.frontends.cli.sessions.sessions_traces import export_traces

            return export_traces
        case _:
            from hermes_acp.frontends.cli.sessions.sessions_show import show_session

            return show_session
