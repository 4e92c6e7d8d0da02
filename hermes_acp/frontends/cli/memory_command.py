"""hermes-acp memory: the notes that wait for a person's approval."""

import argparse

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import escaped


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("pending", help="show the notes that were proposed while nobody could be asked")
    for action, about in (
        ("approve", "keep notes: later sessions are shown them"),
        ("reject", "forget proposed notes"),
    ):
        decide = actions.add_parser(action, help=about)
        decide.add_argument("ids", nargs="+", metavar="ID", help="IDs that `pending` shows, or `all`")


def run_memory(options: argparse.Namespace) -> int:
    """Show what waits, or decide; return the exit code."""
    from hermes_acp.memory.memory_store import MemoryStore
    from hermes_acp.memory.pending_notes import chosen, described

    memory = MemoryStore(read_environment().home)
    waiting = memory.pending.all()
    if options.action == "pending":
        if not waiting:
            print("No note waits for your approval.")
        for note in waiting:
            print("\n".join(map(escaped, described(note).splitlines())))
        return 0
    notes = chosen(waiting, options.ids)
    if options.action == "reject":
        memory.pending.drop(note.id for note in notes)
        print(f"Rejected {len(notes)} of {len(waiting)}.")
        return 0
    failures: list[BadRequest] = []
    for note in notes:
        try:
            memory.approve(note)
        except BadRequest as refusal:
            failures.append(refusal)
            print(f"{note.id} still waits: {escaped(refusal.sentence())}")
        else:
            print(f"{note.id} is noted; the next session is shown it.")
    return failures[0].exit_code if failures else 0
