"""Clean the events of a session for an export: merge streamed pieces, then clean each text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec
from msgspec import Struct, structs

from hermes_acp.agent.turn.secret_masking import masked
from hermes_acp.core.event_types import GrantsRevoked, SessionImported, ToolsOffered
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    Event,
    PermissionAnswered,
    SessionOpened,
    StepEnded,
    SummarySaid,
    TextSaid,
    ThoughtSaid,
)
from hermes_acp.core.flow_labels import SourcesRead
from hermes_acp.core.messages import ToolSchema
from hermes_acp.storage.tool_schema_store import OfferedTools, digest_of
from hermes_acp.telemetry.private_keys import names_key_file
from hermes_acp.trajectories.recorded_sessions import RecordedSession, TimedEvent
from hermes_acp.trajectories.text_cleaning import CleaningCounts, PersonalNames, TextCleaner, owners_of

LEFT_OUT: Final = "[Left out: untrusted text, which someone else wrote.]"
MAX_REMEMBERED_CHARACTERS: Final = 1_000
MAX_REMEMBERED_TEXTS: Final = 20_000
MCP_PREFIX: Final = "mcp__"
Mask = Callable[..., str]
"""A function that masks the secrets in a text; `source` is the text's source, if any."""


class CleanSession(Struct, frozen=True):
    """A session prepared for export. `dropped` counts the omitted events by type."""

    id: str
    events: tuple[TimedEvent, ...]
    tools: dict[str, OfferedTools]
    children: "tuple[CleanSession, ...]"
    dropped: dict[str, int]
    replaced: CleaningCounts
    untrusted_left_out: int
    missing_schemas: int

    def with_descendants(self) -> "Iterator[CleanSession]":
        """Yield the session, then all child agents below it."""
        yield self
        for child in self.children:
            yield from child.with_descendants()


class SessionCleaner:
    """Cleans sessions for one export."""

    def __init__(self, mask: Mask, people: PersonalNames, *, includes_untrusted: bool = False) -> None:
        """Initialise with the function that masks secrets and the names of the exporting person."""
        self._mask = mask
        self._people = people
        self._includes_untrusted = includes_untrusted
        self._masked: dict[str, str] = {}

    def _mask_once(self, text: str) -> str:
        """Mask text, caching short texts, which occur in many sessions."""
        if len(text) > MAX_REMEMBERED_CHARACTERS:
            return self._mask(text)
        found = self._masked.get(text)
        if found is None:
            found = self._masked[text] = self._mask(text)
            if len(self._masked) > MAX_REMEMBERED_TEXTS:
                self._masked.clear()
        return found

    def _mask_key_files(self, text: str, *, source: str = "") -> str:
        """Mask the whole text of files whose names identify them as keys; all other texts are cleaned one by one."""
        return self._mask(text, source=source) if names_key_file(source) else text

    def clean(self, session: RecordedSession) -> CleanSession:
        """Return a session without secrets, names and, unless requested, texts written by others."""
        texts = TextCleaner(self._mask_once, self._people, owners_of(_folders(session)))
        return self._clean(session, texts)

    def _clean(self, session: RecordedSession, texts: TextCleaner) -> CleanSession:
        secrets, names = texts.counts.secrets, texts.counts.names
        dropped: Counter[str] = Counter()
        tools, renamed = _clean_tools(session.tools, texts)
        untrusted: set[str] = set() if self._includes_untrusted else _untrusted_calls(session.events)
        events: list[TimedEvent] = []
        left_out = 0
        for event, at_ms in _merged(session.events, dropped):
            if isinstance(event, CallEnded) and event.call_id in untrusted:
                event = structs.replace(event, text=LEFT_OUT, parts=(), output_characters=None, advice="")
                left_out += 1
            if isinstance(event, ToolsOffered):
                event = ToolsOffered(renamed.get(event.digest, event.digest), event.version)
            events.append((self._clean_event(event, texts), at_ms))
        digests = {event.digest for event, _ in events if isinstance(event, ToolsOffered)}
        return CleanSession(
            texts.clean(session.id),
            tuple(events),
            tools,
            tuple(self._clean(child, texts) for child in session.children),
            dict(sorted(dropped.items())),
            CleaningCounts(texts.counts.secrets - secrets, texts.counts.names - names),
            left_out,
            len(digests - tools.keys()),
        )

    def _clean_event(self, event: Event, texts: TextCleaner) -> Event:
        if isinstance(event, StepEnded):
            calls = tuple(
                structs.replace(call, arguments=texts.clean_json(call.arguments)) for call in event.tool_calls
            )
            event = structs.replace(event, tool_calls=calls)
        elif isinstance(event, PermissionAnswered):
            # Standing answers are for the sessions of this machine.
            event = structs.replace(event, grants=())
        event = masked(event, self._mask_key_files)
        plain = msgspec.to_builtins(event)
        cleaned = texts.cleaned(plain)
        return event if cleaned == plain else msgspec.convert(cleaned, type=type(event))


def _folders(session: RecordedSession) -> Iterable[str]:
    for each in session.with_descendants():
        for event, _ in each.events:
            if isinstance(event, SessionOpened):
                yield from event.roots


def _clean_tools(
    tools: dict[str, OfferedTools], texts: TextCleaner
) -> tuple[dict[str, OfferedTools], dict[str, str]]:
    """Return the cleaned schemas by their digests, and the new digest for each old one."""
    cleaned: dict[str, OfferedTools] = {}
    renamed: dict[str, str] = {}
    for digest, offered in tools.items():
        fresh = OfferedTools(_clean_schemas(offered.tools, texts), _clean_schemas(offered.deferred, texts))
        renamed[digest] = digest_of(fresh)
        cleaned[renamed[digest]] = fresh
    return cleaned, renamed


def _clean_schemas(schemas: tuple[ToolSchema, ...], texts: TextCleaner) -> tuple[ToolSchema, ...]:
    return tuple(
        ToolSchema(texts.clean(each.name), texts.clean(each.description), texts.cleaned(each.parameters))
        for each in schemas
    )


def _untrusted_calls(events: Iterable[TimedEvent]) -> set[str]:
    """Return the IDs of the calls whose outcomes contain untrusted text."""
    found: set[str] = set()
    for event, _ in events:
        match event:
            case CallProposed() if event.kind == "fetch" or event.name.startswith(MCP_PREFIX):
                found.add(event.call_id)
            case SourcesRead() if any(source.label == "untrusted" for source in event.sources):
                found.add(event.call_id)
            case _:
                pass
    return found - {""}


def _merged(events: Iterable[TimedEvent], dropped: Counter[str]) -> list[TimedEvent]:
    """Join the pieces of each answer and its reasoning, and leave out what later events repeat."""
    merged: list[TimedEvent] = []
    pieces: dict[tuple[type[TextSaid] | type[ThoughtSaid], str], tuple[int, list[str]]] = {}
    for event, at_ms in events:
        match event:
            case TextSaid() | ThoughtSaid():
                key = (type(event), event.message_id)
                if key in pieces:
                    pieces[key][1].append(event.text)
                    continue
                pieces[key] = (len(merged), [event.text])
            case CallProgressed():
                dropped["call_progressed"] += 1
                continue
            case SummarySaid():
                dropped["summary_said"] += 1
                continue
            case GrantsRevoked():
                dropped["grants_revoked"] += 1
                continue
            case SessionImported():
                continue
            case _:
                pass
        merged.append((event, at_ms))
    for (kind, message_id), (place, texts) in pieces.items():
        merged[place] = (kind(message_id, "".join(texts)), merged[place][1])
    return merged
