"""Information-flow labels for a session: the untrusted text and private data that it has read.

A session's exposure only grows. It is derived from the session's events, so it is the same after a restart, in a
resumed session and in a fork. Only a new session starts without exposure.
"""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.event_types import Mode

Label = Literal["untrusted", "private", "secret"]
"""`untrusted`: text written neither by the user nor by their workspace.

`private`: notes and earlier sessions of this folder. `secret`: protected files and sessions of other folders.
"""
MAX_NAMED: Final = 2
MAX_LISTED: Final = 10


class Source(Struct, frozen=True):
    """Something that a session has read. `name`, such as a URL or path, is shown to people."""

    label: Label
    name: str


OTHER_SESSIONS: Final = Source("secret", "sessions of other folders")
EARLIER_SESSIONS: Final = Source("private", "earlier sessions")
NOTES: Final = Source("private", "notes from earlier sessions")
IMPORTED: Final = Source("untrusted", "an imported session")
SERVER_LISTS: Final = Source("untrusted", "lists of MCP servers")


class SourcesRead(Struct, frozen=True, gc=False, tag="sources_read"):
    """The session is about to read untrusted text or private data for the first time.

    `call_id` is the call that reads it, or empty if no call of this session does.
    """

    sources: tuple[Source, ...]
    call_id: str = ""


class Exposure(Struct, frozen=True):
    """What a session has read so far, by label, the oldest first."""

    untrusted: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()

    def including(self, sources: Iterable[Source]) -> "Exposure":
        """Return this exposure extended by more sources."""
        known = dict.fromkeys((*self.sources(), *sources))
        return Exposure(_names(known, "untrusted"), _names(known, "private"), _names(known, "secret"))

    def sources(self) -> tuple[Source, ...]:
        """All sources."""
        return (
            *(Source("untrusted", name) for name in self.untrusted),
            *(Source("private", name) for name in self.private),
            *(Source("secret", name) for name in self.secret),
        )

    def missing(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """Return the given sources that are not included yet, without duplicates."""
        known = frozenset(self.sources())
        return tuple(source for source in dict.fromkeys(sources) if source not in known)

    def restricts(self, mode: Mode) -> bool:
        """Return whether sending data out needs approval.

        In `auto` mode, untrusted text alone requires it; in other modes, untrusted text together with private data
        does. Secrets always require it, because any file in a workspace might tell the model to send them.
        """
        return bool(self.secret or (self.untrusted and (self.private or mode == "auto")))

    def reason(self) -> str:
        """Name the most recent sources as the reason for a question."""
        kept = (*self.private, *self.secret)
        named = [_listed(names, MAX_NAMED) for names in (self.untrusted, kept) if names]
        return f"this session has read {' and '.join(named)}"


def status_rows(exposure: Exposure) -> list[tuple[str, str]]:
    """Return the rows of a status report that list the session's sources."""
    rows = (
        ("Untrusted sources read", exposure.untrusted),
        ("Private data read", (*exposure.private, *exposure.secret)),
    )
    return [(title, _listed(names, MAX_LISTED)) for title, names in rows if names]


def _names(sources: Iterable[Source], label: Label) -> tuple[str, ...]:
    return tuple(source.name for source in sources if source.label == label)


def _listed(names: tuple[str, ...], count: int) -> str:
    latest = names[-count:]
    more = len(names) - len(latest)
    return ", ".join(latest) + (f" and {more} more" if more else "")
