"""The `hermes-acp memory` command: the notes that wait for the user's approval."""

import argparse

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import escaped
from hermes_acp.frontends.cli.messages import memory_messages


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("pending", help=memory_messages.PENDING_HELP)
    for action, about in (
        ("approve", memory_messages.APPROVE_HELP),
        ("reject", memory_messages.REJECT_HELP),
    ):
        decide = actions.add_parser(action, help=about)
        decide.add_argument("ids", nargs="+", metavar="ID", help=memory_messages.IDS_HELP)


def run_memory(options: argparse.Namespace) -> int:
    """List the waiting notes, or approve or reject them; return the exit code."""
    from hermes_acp.memory.memory_store import MemoryStore
    from hermes_acp.memory.pending_notes import chosen, described

    memory = MemoryStore(read_environment().home)
    waiting = memory.pending.all()
    if options.action == "pending":
        if not waiting:
            print(memory_messages.NONE_PENDING)
        for note in waiting:
            print("\n".join(map(escaped, described(note).splitlines())))
        return 0
    notes = chosen(waiting, options.ids)
    if options.action == "reject":
        memory.pending.drop(note.id for note in notes)
        print(memory_messages.rejected(len(notes), len(waiting)))
        return 0
    failures: list[BadRequest] = []
    for note in notes:
        try:
            memory.approve(note)
        except BadRequest as refusal:
            failures.append(refusal)
            print(memory_messages.not_saved(note.id, escaped(refusal.sentence())))
        else:
            print(memory_messages.saved(note.id))
    return failures[0].exit_code if failures else 0
