"""The interface of an external memory service."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from msgspec import Struct


class MemoryOwner(Struct, frozen=True):
    """Under which names something is remembered; each is of letters, digits, `_` and `-`."""

    workspace: str
    user: str
    session_id: str


class ConversationExchange(Struct, frozen=True):
    """What the user said, and what the agent answered in the end."""

    said: str
    answered: str


class MemoryRequest(Struct, frozen=True):
    """One request: a path below the service's address, with a JSON `body` or, where that is None, by GET."""

    path: str
    parameters: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None


class MemoryService(Protocol):
    """One kind of memory service; a plugin of `memory_services`."""

    @property
    def label(self) -> str:
        """Its name, as people know it."""
        ...

    @property
    def base_url(self) -> str:
        """Where it is, unless the user runs it themselves."""
        ...

    @property
    def key_variable(self) -> str:
        """The variable its key is usually in."""
        ...

    def headers(self, key: str) -> Mapping[str, str]:
        """Return what opens it; empty for one of the user's own that wants no key."""
        ...

    def setup_requests(self, owner: MemoryOwner) -> Sequence[MemoryRequest]:
        """Return what must be asked once before anything can be remembered; doing it again changes nothing."""
        ...

    def recall(self, owner: MemoryOwner, words: str) -> MemoryRequest:
        """Ask what it remembers of the user that has to do with some words."""
        ...

    def read(self, answer: Any) -> Sequence[str]:
        """Read from an answer's JSON what it remembers; whatever is no memory is left out."""
        ...

    def keep(self, owner: MemoryOwner, exchange: ConversationExchange) -> MemoryRequest:
        """Tell it what was said."""
        ...


def member(answer: Any, name: str) -> Any:
    """Return what stands under a name; None where that is no object, or has no such name."""
    return cast("dict[str, Any]", answer).get(name) if isinstance(answer, dict) else None


def texts_of(found: Any) -> list[str]:
    """Return the texts among what may be a list."""
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    return [row.strip() for row in rows if isinstance(row, str) and row.strip()]
