"""The `hermes-acp sessions export` command: export sessions for people, or as JSON for programs.

Secrets are masked again, because an earlier version may have recorded some. Data sets are in `sessions_dataset`.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final, cast

import anyio.to_thread
import msgspec

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.event_types import Diff
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CommandAnswered,
    Event,
    PromptFrozen,
    SessionOpened,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
    UserSaid,
)
from hermes_acp.core.messages import LinkPart, Part, ResourcePart, TextPart
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.frontends.cli.cli_output import escaped, exact_time, note, write_new
from hermes_acp.frontends.cli.messages import command_messages, session_messages
from hermes_acp.frontends.cli.sessions import messages as export_messages
from hermes_acp.frontends.cli.sessions.session_facts import about, usage_line
from hermes_acp.sessions.stored_sessions import StoredSessions
from hermes_acp.storage.session_rows import SessionRow, row_of
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript
from hermes_acp.trajectories.exporting_person import mask_of_environment, names_of_person
from hermes_acp.trajectories.text_cleaning import TextCleaner, owners_of

READABLE: Final = ("markdown", "html", "json")
Clean = Callable[[str], str]


async def export_sessions(store: SessionStore, options: argparse.Namespace) -> int:
    """Write sessions to standard output or a file; return the exit code.

    Raises SessionNotFound, BadRequest if the file already exists or nobody can be asked, or StorageError.
    """
    stored = StoredSessions(store)
    ids = (
        stored.all_ids() if options.all else list(dict.fromkeys(stored.find(named) for named in options.ids))
    )
    if not ids or (options.all and options.ids):
        raise BadRequest(export_messages.NO_IDS, hint=export_messages.NO_IDS_HINT)
    if options.format not in READABLE:
        from hermes_acp.frontends.cli.sessions.sessions_dataset import export_dataset

        return await export_dataset(store, ids, options)
    if len(ids) > 1:
        raise BadRequest(export_messages.several_readable(options.format), hint=export_messages.ONE_HINT)
    return await _export_readable(stored.path(ids[0]), options)


async def _export_readable(path: Path, options: argparse.Namespace) -> int:
    try:
        events = await anyio.to_thread.run_sync(Transcript.read_events, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(session_messages.record_unreadable(str(path), reason)) from error
    row = row_of(path) or SessionRow(path.stem, "", "", 0.0, 0.0)
    text = await anyio.to_thread.run_sync(_text, row, events, options.format)
    if options.output in (None, "-"):
        sys.stdout.write(text)
        return 0
    try:
        write_new(options.output, text, may_replace=options.force)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(session_messages.export_unwritable(options.output, reason)) from error
    note(session_messages.exported(row.id, options.output))
    return 0


def _text(row: SessionRow, events: Sequence[Event], form: str) -> str:
    environment = read_environment()
    mask = mask_of_environment(environment)
    if form == "json":
        return _json(row, events, mask)
    folders = [folder for event in events if isinstance(event, SessionOpened) for folder in event.roots]
    texts = TextCleaner(mask, names_of_person(environment), owners_of(folders))
    text = _markdown(row, events, texts.clean)
    if form == "html":
        from hermes_acp.frontends.cli.sessions.session_html import html_page

        return html_page(texts.clean(row.title or command_messages.UNTITLED), text)
    return text


def _json(row: SessionRow, events: Sequence[Event], clean: Clean) -> str:
    shown = [event for event in events if not isinstance(event, PromptFrozen)]
    document = _cleaned({**about(row), "events": msgspec.to_builtins(shown)}, clean)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _cleaned(value: Any, clean: Clean) -> Any:
    match value:
        case str():
            return clean(value)
        case dict():
            return {name: _cleaned(each, clean) for name, each in cast("dict[str, Any]", value).items()}
        case list() | tuple():
            return [_cleaned(each, clean) for each in cast("Sequence[Any]", value)]
        case _:
            return value


def _markdown(row: SessionRow, events: Sequence[Event], clean: Clean) -> str:
    head = session_messages.export_head(
        row.title or command_messages.UNTITLED,
        row.id,
        row.cwd,
        exact_time(row.created_at),
        usage_line(row.usage) if row.usage else "",
    )
    return escaped(clean("\n\n".join((head, *_sections(events))))) + "\n"


def _sections(events: Sequence[Event]) -> Iterator[str]:
    words: list[str] = []
    titles: dict[str, str] = {}
    for event in events:
        match event:
            case TextSaid():
                words.append(event.text)
            case StepFailed(retried=True):
                words.clear()
            case UserSaid():
                yield _said(session_messages.YOU, "\n\n".join(map(_part, event.parts)))
            case CallProposed():
                titles[event.call_id] = event.title
            case CallEnded():
                yield _call(event, titles.get(event.call_id, event.name))
            case CommandAnswered():
                yield _said(session_messages.YOU, event.prompt)
                yield _said(session_messages.AGENT, event.text)
            case StepEnded() | StepFailed() | TurnEnded():
                if words:
                    yield _said(session_messages.AGENT, "".join(words).strip())
                    words.clear()
                if isinstance(event, TurnEnded) and event.reason != "done":
                    yield f"*{event.sentence or event.reason}*"
            case _:
                pass


def _said(speaker: str, text: str) -> str:
    return f"## {speaker}\n\n{text}"


def _part(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case LinkPart():
            return f"[{part.name}]({part.uri})"
        case ResourcePart():
            return f"{part.uri}\n\n{_fenced(part.text)}"
        case _:
            return session_messages.PICTURE


def _call(event: CallEnded, title: str) -> str:
    status = session_messages.CALL_STATUS[event.status]
    blocks = [f"### {session_messages.call_heading(' '.join(title.split()), status)}"]
    blocks += [_fenced(_diff(diff), "diff") for diff in event.diffs]
    if event.text.strip() and not event.diffs:
        blocks.append(_fenced(event.text))
    return "\n\n".join(blocks)


def _diff(diff: Diff) -> str:
    old = (diff.old_text or "").splitlines()
    path = escape_invisible(diff.path)
    before = "/dev/null" if diff.old_text is None else path
    after = "/dev/null" if diff.is_deleted else path
    return "\n".join(unified_diff(old, diff.new_text.splitlines(), before, after, lineterm=""))


def _fenced(text: str, language: str = "") -> str:
    """Put a string into a code fence that is longer than any fence inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
