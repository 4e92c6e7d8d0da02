"""Information-flow labels of a session: whose words it has read, and which private data.

A session's exposure only grows. It is a fold of the session's events, so it is the same after a restart, in a resumed
session and in a fork. Only a new session begins without one.
"""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.terms import Mode

Label = Literal["untrusted", "private"]
"""`untrusted`: words that neither the user nor their workspace wrote. `private`: data that must not leave unasked."""
MAX_NAMED: Final = 2
MAX_LISTED: Final = 10


class Source(Struct, frozen=True):
    """Something that a session has read; `name` is what people are shown, such as a URL or a path."""

    label: Label
    name: str


OTHER_SESSIONS: Final = Source("private", "other sessions")
NOTES: Final = Source("private", "notes from earlier sessions")
SERVER_LISTS: Final = Source("untrusted", "lists of MCP servers")


class SourcesRead(Struct, frozen=True, gc=False, tag="sources_read"):
    """The session is about to read untrusted words or private data that it had not read before.

    `call_id` is the call that reads them; empty where it was no call of this session.
    """

    sources: tuple[Source, ...]
    call_id: str = ""


class Exposure(Struct, frozen=True):
    """What a session has read so far, by label, oldest first."""

    untrusted: tuple[str, ...] = ()
    private: tuple[str, ...] = ()

    def including(self, sources: Iterable[Source]) -> "Exposure":
        """Return the exposure with further sources."""
        given = tuple(sources)
        untrusted = dict.fromkeys((*self.untrusted, *_names(given, "untrusted")))
        private = dict.fromkeys((*self.private, *_names(given, "private")))
        return Exposure(tuple(untrusted), tuple(private))

    def sources(self) -> tuple[Source, ...]:
        """List all sources."""
        untrusted = (Source("untrusted", name) for name in self.untrusted)
        return (*untrusted, *(Source("private", name) for name in self.private))

    def missing(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """List the sources that are new, each once."""
        known = frozenset(self.sources())
        return tuple(source for source in dict.fromkeys(sources) if source not in known)

    def restricts(self, mode: Mode) -> bool:
        """Tell whether data may no longer leave unasked: both labels are held, or untrusted words alone in `auto`."""
        return bool(self.untrusted) and (bool(self.private) or mode == "auto")

    def reason(self) -> str:
        """Name the latest sources, as the reason of a question."""
        read = f"this session has read {_listed(self.untrusted, MAX_NAMED)}"
        return f"{read} and private data ({_listed(self.private, MAX_NAMED)})" if self.private else read


def status_rows(exposure: Exposure) -> list[tuple[str, str]]:
    """Return the lines of a status report about what the session has read."""
    rows = (("Untrusted sources read", exposure.untrusted), ("Private data read", exposure.private))
    return [(title, _listed(names, MAX_LISTED)) for title, names in rows if names]


def _names(sources: Iterable[Source], label: Label) -> list[str]:
    return [source.name for source in sources if source.label == label]


def _listed(names: tuple[str, ...], count: int) -> str:
    latest = names[-count:]
    more = len(names) - len(latest)
    return ", ".join(latest) + (f" and {more} more" if more else "")
