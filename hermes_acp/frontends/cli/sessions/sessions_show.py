"""The `hermes-acp sessions show` command: show one session from its beginning.

It can also read a session while another process writes it.
"""

import argparse
from collections.abc import Iterable

import anyio.to_thread
from msgspec import structs

from hermes_acp.core.errors import SessionNotFound, StorageError
from hermes_acp.core.events import Event
from hermes_acp.core.record.passages import Passage, PassageReader, timed_passages
from hermes_acp.core.record.session_record import Record
from hermes_acp.core.record.turn_times import TurnTimer, TurnTimes
from hermes_acp.frontends.cli.cli_output import bold, escaped, exact_time, local_time, print_json
from hermes_acp.frontends.cli.messages import command_messages, session_messages
from hermes_acp.frontends.cli.sessions.session_facts import usage_line
from hermes_acp.sessions.stored_sessions import StoredSessions
from hermes_acp.storage.session_rows import SessionRow, SessionUsage, row_of
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript


async def show_session(store: SessionStore, options: argparse.Namespace) -> int:
    """Print the conversation with the positions a search names; return the exit code.

    Raise SessionNotFound, StorageError.
    """
    session_id = _found(store, options.id)
    path = store.path_of(session_id)
    try:
        timed = await anyio.to_thread.run_sync(Transcript.read_timed, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(session_messages.record_unreadable(str(path), reason)) from error
    record = Record()
    for event, _ in timed:
        record.apply(event)
    passages = timed_passages(timed)
    used = (row_of(path) or SessionRow(session_id, "", "", 0.0, 0.0)).usage or SessionUsage()
    if options.json:
        about = {
            "session_id": session_id,
            "title": record.title,
            "cwd": record.cwd,
            "created_at": exact_time(record.created_at),
            "is_archived": record.is_archived,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cost_usd": used.cost_usd,
        }
        shown = [_as_json(passage) for passage in passages]
        print_json({**about, "passages": shown, "turns": _turns_as_json(timed)})
        return 0
    title = bold(escaped(record.title or command_messages.UNTITLED))
    print(f"{title}  {local_time(record.created_at)}  {escaped(record.cwd)}")
    print(usage_line(used))
    spent = _turn_ends(timed)
    for passage in passages:
        when = f"  {local_time(passage.at, with_seconds=True)}" if passage.at else ""
        print(f"\n{bold(f'#{passage.position} {passage.speaker}')}{when}")
        print(escaped(passage.text.strip("\n")))
        for times in spent.get(passage.position, ()):
            print(f"\n{_spent(times)}")
    return 0


def _spent(times: TurnTimes) -> str:
    told = session_messages.turn_times(times.total_s, times.model_s, times.tools_s, times.waiting_s)
    return told if times.first_token_s is None else told + session_messages.first_token(times.first_token_s)


def _turn_ends(timed: Iterable[tuple[Event, float | None]]) -> dict[int, list[TurnTimes]]:
    """Return the times of each turn by the position of its last passage."""
    reader, timer = PassageReader(), TurnTimer()
    ends: dict[int, list[TurnTimes]] = {}
    for event, at in timed:
        reader.take(event, at)
        if times := timer.take(event, at):
            ends.setdefault(reader.position, []).append(times)
    return ends


def _turns_as_json(timed: Iterable[tuple[Event, float | None]]) -> list[dict[str, object]]:
    return [
        {"last_position": position, **structs.asdict(times), "began_at": exact_time(times.began_at)}
        for position, ends in _turn_ends(timed).items()
        for times in ends
    ]


def _as_json(passage: Passage) -> dict[str, object]:
    return {**structs.asdict(passage), "at": exact_time(passage.at) if passage.at else None}


def _found(store: SessionStore, named: str) -> str:
    """Return the ID of a session by its beginning. Raises SessionNotFound, BadRequest."""
    try:
        return StoredSessions(store).find(named)
    except SessionNotFound as error:
        raise SessionNotFound(
            session_messages.no_session(named), session_id=named, hint=session_messages.LIST_HINT
        ) from error
