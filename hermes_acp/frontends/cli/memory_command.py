"""The `hermes-acp memory` command: notes for later sessions, including pending ones.

A note that a person writes here is checked like one that the agent writes: for secrets, injected instructions and
length.
"""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Final

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.ports.memory_ports import MemoryState, MemoryStoreName
from hermes_acp.frontends.cli.cli_output import escaped, folder_named, local_time, print_json, write_new
from hermes_acp.frontends.cli.messages import command_messages, memory_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_acp.core.ports.memory_ports import MemoryChange
    from hermes_acp.memory.memory_store import MemoryStore
    from hermes_acp.memory.note_confidence import NoteOrigin

STORES: Final[tuple[MemoryStoreName, ...]] = ("workspace", "user", "memory")


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser("show", help=memory_messages.SHOW_HELP)
    search = actions.add_parser("search", help=memory_messages.SEARCH_HELP)
    search.add_argument("words", nargs="+", metavar="WORD", help=memory_messages.WORDS_HELP)
    add = actions.add_parser("add", help=memory_messages.ADD_HELP)
    add.add_argument("text", nargs="+", metavar="TEXT", help=memory_messages.TEXT_HELP)
    edit = actions.add_parser("edit", help=memory_messages.EDIT_HELP)
    forget = actions.add_parser("forget", help=memory_messages.FORGET_HELP)
    confirm = actions.add_parser("confirm", help=memory_messages.CONFIRM_HELP)
    for change in (edit, forget, confirm):
        change.add_argument("part", metavar="PART", help=memory_messages.PART_HELP)
    edit.add_argument("text", nargs="+", metavar="TEXT", help=memory_messages.TEXT_HELP)
    export = actions.add_parser("export", help=memory_messages.EXPORT_HELP)
    export.add_argument("-o", "--output", metavar="FILE", help=memory_messages.OUTPUT_HELP)
    export.add_argument("--force", action="store_true", help=command_messages.FORCE_HELP)
    for action in (show, search, add, edit, forget, confirm, export):
        action.add_argument("--store", choices=STORES, help=memory_messages.STORE_HELP)
        action.add_argument("--cwd", default=".", metavar="DIR", help=command_messages.FOLDER_HELP)
    for action in (show, search):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    actions.add_parser("pending", help=memory_messages.PENDING_HELP)
    for action, about in (
        ("approve", memory_messages.APPROVE_HELP),
        ("reject", memory_messages.REJECT_HELP),
    ):
        decide = actions.add_parser(action, help=about)
        decide.add_argument("ids", nargs="+", metavar="ID", help=memory_messages.IDS_HELP)


def run_memory(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. Raises BadRequest or StorageError."""
    from hermes_acp.memory.memory_store import MemoryStore

    memory = MemoryStore(read_environment().home)
    match options.action:
        case "show" | "search":
            return _show(memory, options)
        case "export":
            return _export(memory, options)
        case "add" | "edit" | "forget":
            return _change(memory, options)
        case "confirm":
            return _confirm(memory, options)
        case _:
            return _decide(memory, options)


def _states(memory: "MemoryStore", options: argparse.Namespace) -> list[MemoryState]:
    cwd = folder_named(options.cwd) or "."
    return [memory.state(name, cwd) for name in ((options.store,) if options.store else STORES)]


def _show(memory: "MemoryStore", options: argparse.Namespace) -> int:
    """Print all notes, or those that contain all the words; return the exit code, which is 1 if a search finds none."""
    from hermes_acp.clock import SystemClock

    now = SystemClock().now()
    words = [word.casefold() for word in getattr(options, "words", ())]
    found = [
        (state, [entry for entry in state.entries if all(word in entry.casefold() for word in words)])
        for state in _states(memory, options)
    ]
    cwd = folder_named(options.cwd) or "."
    origins = {state.store: memory.origins(state.store, cwd) for state, _ in found}
    if options.json:
        print_json(
            [
                _entry(state.store, entry, origins[state.store].get(entry), now)
                for state, entries in found
                for entry in entries
            ]
        )
    elif words and not any(entries for _, entries in found):
        print(command_messages.NOTHING_FOUND, file=sys.stderr)
    else:
        for state, entries in found:
            if entries or not words:
                print(
                    memory_messages.heading(
                        memory_messages.STORES[state.store],
                        state.store,
                        state.characters,
                        state.max_characters,
                    )
                )
                for entry in entries or (memory_messages.NO_NOTES,):
                    print("  " + "\n  ".join(map(escaped, entry.splitlines())))
                    if origin := origins[state.store].get(entry):
                        at, session_id = local_time(origin.moment.at), escaped(origin.moment.session_id)
                        print(f"    {memory_messages.origin(at, session_id)}")
                        print(f"    {memory_messages.confidence(origin.source, origin.confidence(now))}")
    return 1 if words and not any(entries for _, entries in found) else 0


def _entry(store: MemoryStoreName, text: str, origin: "NoteOrigin | None", now: float) -> dict[str, object]:
    entry: dict[str, object] = {"store": store, "text": text}
    if origin:
        entry |= {"notedAt": origin.moment.at, "sessionId": origin.moment.session_id}
        entry |= {"source": origin.source, "confidence": round(origin.confidence(now), 3)}
    return entry


def _export(memory: "MemoryStore", options: argparse.Namespace) -> int:
    blocks = [
        "\n\n".join((f"## {memory_messages.STORES[state.store]}", *state.entries))
        for state in _states(memory, options)
        if state.entries
    ]
    text = "\n\n".join((f"# {memory_messages.EXPORT_TITLE}", *blocks)) + "\n"
    if options.output in (None, "-"):
        sys.stdout.write(escaped(text))
        return 0
    try:
        write_new(options.output, text, may_replace=options.force)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(memory_messages.unwritable(options.output, reason)) from error
    return 0


def _change(memory: "MemoryStore", options: argparse.Namespace) -> int:
    from hermes_acp.clock import SystemClock
    from hermes_acp.core.event_types import EventContext
    from hermes_acp.memory.memory_store import already_noted

    change = _change_of(memory, options)
    if change.action == "add" and already_noted(
        memory.state(change.store, folder_named(options.cwd) or "."), change
    ):
        print(memory_messages.NOTED_ALREADY)
        return 0
    state = memory.change_now(
        folder_named(options.cwd) or ".", change, EventContext("", "", SystemClock().now())
    )
    done, about = memory_messages.CHANGED[change.action], memory_messages.STORES[state.store]
    print(memory_messages.changed(done, about, is_removed=change.action == "remove"))
    if change.action != "remove":
        _print_contradictions(memory, options, change.text)
    return 0


def _print_contradictions(memory: "MemoryStore", options: argparse.Namespace, text: str) -> None:
    """Print the notes in any store that may contradict a new one, and what to do about them."""
    from hermes_acp.memory.note_subjects import related_notes

    cwd = folder_named(options.cwd) or "."
    for name in STORES:
        for note in related_notes(text, memory.state(name, cwd).entries):
            about, command = memory_messages.STORES[name], ["hermes-acp", "memory", "forget", note]
            command += ["--store", name, *(["--cwd", options.cwd] if options.cwd != "." else [])]
            print(escaped(memory_messages.may_contradict(about, note, shlex.join(command))), file=sys.stderr)


def _confirm(memory: "MemoryStore", options: argparse.Namespace) -> int:
    """Record that a note is still true; return the exit code."""
    from hermes_acp.clock import SystemClock
    from hermes_acp.core.event_types import EventContext

    store = options.store or _store_with(_states(memory, options), options.part)
    moment = EventContext("", "", SystemClock().now())
    note = memory.confirm(store, folder_named(options.cwd) or ".", options.part, moment)
    print(memory_messages.confirmed(escaped(note)))
    return 0


def _change_of(memory: "MemoryStore", options: argparse.Namespace) -> "MemoryChange":
    from hermes_acp.core.ports.memory_ports import MemoryChange

    if options.action == "add":
        return MemoryChange(options.store or "workspace", "add", " ".join(options.text), source="written")
    store = options.store or _store_with(_states(memory, options), options.part)
    if options.action == "edit":
        return MemoryChange(store, "replace", " ".join(options.text), options.part, source="written")
    return MemoryChange(store, "remove", "", options.part)


def _store_with(states: "Sequence[MemoryState]", part: str) -> MemoryStoreName:
    """Return the only store with a note that contains this text. Raises BadRequest."""
    holding = {state.store for state in states if any(part.strip() in entry for entry in state.entries)}
    found: list[MemoryStoreName] = [store for store in STORES if store in holding]
    if len(found) > 1:
        raise BadRequest(memory_messages.several_stores(part), hint=memory_messages.store_hint(found))
    return found[0] if found else "workspace"


def _decide(memory: "MemoryStore", options: argparse.Namespace) -> int:
    """List, approve or reject the pending notes; return the exit code."""
    from hermes_acp.memory.pending_notes import chosen, describe_pending_note

    waiting = memory.pending.all()
    if options.action == "pending":
        if not waiting:
            print(memory_messages.NONE_PENDING)
        for note in waiting:
            print("\n".join(map(escaped, describe_pending_note(note).splitlines())))
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
