"""The `hermes-acp sessions show` command: show one session from the beginning.

It can read a session while another process is writing it.
"""

import argparse
from collections.abc import Iterable

import anyio.to_thread
from msgspec import Struct, structs

from hermes_acp.core.errors import SessionNotFound, StorageError
from hermes_acp.core.events import Event, TurnEnded
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
    """Print the conversation, with the positions that search results refer to; return the exit code.

    Raises SessionNotFound or StorageError.
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
    ends = _turn_ends(timed)
    for passage in passages:
        when = f"  {local_time(passage.at, with_seconds=True)}" if passage.at else ""
        print(f"\n{bold(f'#{passage.position} {passage.speaker}')}{when}")
        print(escaped(passage.text.strip("\n")))
        for end in ends.get(passage.position, ()):
            print(f"\n{_told(end)}")
    return 0


class _TurnEnd(Struct, frozen=True):
    """The end of a turn, with its times if they were recorded."""

    event: TurnEnded
    times: TurnTimes | None


def _told(end: _TurnEnd) -> str:
    """Describe how a turn spent its time and, unless it completed, why it stopped."""
    lines: list[str] = []
    if end.event.reason != "done":
        why = end.event.sentence or end.event.reason.replace("_", " ")
        lines.append(session_messages.turn_stopped(escaped(why)))
    if times := end.times:
        spent = session_messages.turn_times(times.total_s, times.model_s, times.tools_s, times.waiting_s)
        first = "" if times.first_token_s is None else session_messages.first_token(times.first_token_s)
        lines.append(spent + first)
    return "\n".join(lines)


def _turn_ends(timed: Iterable[tuple[Event, float | None]]) -> dict[int, list[_TurnEnd]]:
    """Return the ends of turns about which there is something to report, by the position of their last passage."""
    reader, timer = PassageReader(), TurnTimer()
    ends: dict[int, list[_TurnEnd]] = {}
    for event, at in timed:
        reader.take(event, at)
        times = timer.take(event, at)
        if isinstance(event, TurnEnded) and (times or event.reason != "done"):
            ends.setdefault(reader.position, []).append(_TurnEnd(event, times))
    return ends


def _turns_as_json(timed: Iterable[tuple[Event, float | None]]) -> list[dict[str, object]]:
    return [
        {
            "last_position": position,
            "reason": end.event.reason,
            "sentence": end.event.sentence,
            **_times_as_json(end.times),
        }
        for position, ends in _turn_ends(timed).items()
        for end in ends
    ]


def _times_as_json(times: TurnTimes | None) -> dict[str, object]:
    return {**structs.asdict(times), "began_at": exact_time(times.began_at)} if times else {}


def _as_json(passage: Passage) -> dict[str, object]:
    return {**structs.asdict(passage), "at": exact_time(passage.at) if passage.at else None}


def _found(store: SessionStore, named: str) -> str:
    """Return the only session ID that starts with `named`. Raises SessionNotFound or BadRequest."""
    try:
        return StoredSessions(store).find(named)
    except SessionNotFound as error:
        raise SessionNotFound(
            session_messages.no_session(named), session_id=named, hint=session_messages.LIST_HINT
        ) from error
