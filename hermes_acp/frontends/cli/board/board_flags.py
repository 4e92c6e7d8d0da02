"""The flags of `hermes-acp board`."""

import argparse
from collections.abc import Callable
from typing import Final

from hermes_acp.core.ports.boards.cards import DEFAULT_BOARD, STATES
from hermes_acp.core.ports.run_ports import MAX_PRIORITY, MIN_PRIORITY
from hermes_acp.frontends.cli.board import messages
from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.run.run_flags import MODES

TARGETS: Final = ("inbox", "ready", "review", "parked", "done")
LINK_KINDS: Final = ("blocks", "parent", "found-in")
NO_LIMIT: Final = "none"
Actions = Callable[[str, str], argparse.ArgumentParser]


def add_board(board: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    actions = board.add_subparsers(dest="action", metavar="ACTION")
    board.set_defaults(action="list", board=DEFAULT_BOARD, state=[], all=False, json=False)
    parsers: list[argparse.ArgumentParser] = []

    def action(name: str, about: str) -> argparse.ArgumentParser:
        parsers.append(actions.add_parser(name, help=about))
        return parsers[-1]

    _add_views(action)
    _add_changes(action)
    _add_decisions(action)
    for each in parsers:
        each.add_argument(
            "-b",
            "--board",
            default=DEFAULT_BOARD,
            metavar="NAME",
            help=messages.BOARD_HELP.format(default=DEFAULT_BOARD),
        )
    for name, about in (("create", messages.CREATE_HELP), ("delete", messages.DELETE_HELP)):
        actions.add_parser(name, help=about).add_argument("name", metavar="NAME", help=messages.NAME_HELP)
    moving = actions.add_parser("import", help=messages.IMPORT_HELP)
    moving.add_argument("names", nargs="*", metavar="NAME", help=messages.IMPORTED_NAMES_HELP)
    boards = actions.add_parser("boards", help=messages.BOARDS_HELP)
    boards.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def _add_views(action: Actions) -> None:
    """Add the subcommands that show a board."""
    listing = action("list", messages.LIST_HELP)
    listing.add_argument("--state", action="append", choices=STATES, default=[], help=messages.STATE_HELP)
    listing.add_argument("--all", action="store_true", help=messages.ALL_HELP)
    show = action("show", messages.SHOW_HELP)
    diff = action("diff", messages.DIFF_HELP)
    for each in (show, diff):
        each.add_argument("card", metavar="CARD", help=messages.CARD_HELP)
    watch = action("watch", messages.WATCH_HELP)
    for each in (listing, show, watch):
        each.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def _add_changes(action: Actions) -> None:
    """Add the subcommands that change cards and their links."""
    add = action("add", messages.ADD_HELP)
    add.add_argument("title", metavar="TITLE", help=messages.TITLE_HELP)
    add.add_argument("--cwd", default=".", metavar="DIR", help=messages.CWD_HELP)
    add.add_argument("--ready", action="store_true", help=messages.READY_HELP)
    add.add_argument(
        "--blocked-by", action="append", default=[], metavar="CARD", help=messages.BLOCKED_BY_HELP
    )
    add.add_argument("--parent", default="", metavar="CARD", help=messages.PARENT_HELP)
    add.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    edit = action("edit", messages.EDIT_HELP)
    edit.add_argument("card", metavar="CARD", help=messages.CARD_HELP)
    edit.add_argument("--title", metavar="TITLE", help=messages.NEW_TITLE_HELP)
    edit.add_argument("--cwd", default=None, metavar="DIR", help=messages.NEW_CWD_HELP)
    for each in (add, edit):
        _add_work(each)
    comment = action("comment", messages.COMMENT_HELP)
    comment.add_argument("card", metavar="CARD", help=messages.CARD_HELP)
    comment.add_argument("words", nargs="+", metavar="TEXT", help=messages.COMMENT_TEXT_HELP)
    for name, about in (("link", messages.LINK_HELP), ("unlink", messages.UNLINK_HELP)):
        link = action(name, about)
        link.add_argument("card", metavar="CARD", help=messages.CARD_HELP)
        link.add_argument("kind", choices=LINK_KINDS, help=messages.LINK_KIND_HELP)
        link.add_argument("other", metavar="OTHER", help=messages.OTHER_HELP)
    limits = action("limits", messages.LIMITS_HELP)
    limits.add_argument("--tokens", type=_limit(int), metavar="N", help=messages.BOARD_TOKENS_HELP)
    limits.add_argument("--cost", type=_limit(float), metavar="USD", help=messages.BOARD_COST_HELP)
    limits.add_argument("--running", type=_limit(int), metavar="N", help=messages.RUNNING_HELP)
    limits.add_argument("--place", metavar="LABEL", help=messages.BOARD_PLACE_HELP)


def _add_work(parser: argparse.ArgumentParser) -> None:
    """Add the flags for a card's work settings."""
    parser.add_argument("--text", metavar="TEXT", help=messages.TEXT_HELP)
    parser.add_argument("--same-folder", action="store_true", default=None, help=messages.SAME_FOLDER_HELP)
    parser.add_argument("--check", action="append", metavar="COMMAND", help=messages.CHECK_HELP)
    parser.add_argument("--approval", choices=("person", "checks"), help=messages.APPROVAL_HELP)
    parser.add_argument("--mode", choices=MODES, help=messages.MODE_HELP)
    parser.add_argument("-m", "--model", metavar="MODEL", help=messages.MODEL_HELP)
    parser.add_argument("--backend", metavar="NAME", help=messages.BACKEND_HELP)
    parser.add_argument("--place", metavar="LABEL", help=messages.PLACE_HELP)
    priorities = range(MAX_PRIORITY, MIN_PRIORITY + 1)
    parser.add_argument("--priority", type=int, choices=priorities, help=messages.PRIORITY_HELP)
    for flag, kind, metavar, about in (
        ("--max-steps", int, "N", messages.MAX_STEPS_HELP),
        ("--max-tokens", int, "N", messages.MAX_TOKENS_HELP),
        ("--max-cost", float, "USD", messages.MAX_COST_HELP),
        ("--timeout", float, "S", messages.TIMEOUT_HELP),
    ):
        parser.add_argument(flag, type=positive_number(kind), metavar=metavar, help=about)


def _add_decisions(action: Actions) -> None:
    """Add the subcommands for answering, approving and rejecting."""
    move = action("move", messages.MOVE_HELP)
    move.add_argument("card", metavar="CARD", help=messages.CARD_HELP)
    move.add_argument("to", choices=TARGETS, help=messages.STATES_HELP)
    move.add_argument("--reason", default="", metavar="TEXT", help=messages.REASON_HELP)
    answer = action("answer", messages.ANSWER_HELP)
    answer.add_argument("card", metavar="CARD", help=messages.CARD_HELP)
    answer.add_argument("answer", nargs="+", metavar="ANSWER", help=messages.ANSWER_WORDS_HELP)
    answer.add_argument("--call", default="", metavar="ID", help=messages.CALL_HELP)
    for name, about, words, needed in (
        ("approve", messages.APPROVE_HELP, messages.COMMENT_TEXT_HELP, "*"),
        ("send-back", messages.SEND_BACK_HELP, messages.WORDS_HELP, "+"),
        ("park", messages.PARK_HELP, messages.REASON_HELP, "*"),
    ):
        decision = action(name, about)
        decision.add_argument("card", metavar="CARD", help=messages.CARD_HELP)
        decision.add_argument("words", nargs=needed, metavar="TEXT", help=words)
    for name, about in (("remove", messages.REMOVE_HELP), ("restore", messages.RESTORE_HELP)):
        action(name, about).add_argument("card", metavar="CARD", help=messages.CARD_HELP)


def _limit(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    """Return a parser for limits, which returns 0 for no limit."""

    def parse(text: str) -> int | float:
        if text == NO_LIMIT:
            return 0
        try:
            limit = kind(text)
        except ValueError:
            limit = kind(0)
        if not 0 < limit < float("inf"):
            raise argparse.ArgumentTypeError(messages.not_a_limit(text))
        return limit

    return parse
