"""The interface of an external memory service."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from msgspec import Struct


class MemoryOwner(Struct, frozen=True):
    """The names that identify the owner of memories; each consists of letters, digits, `_` and `-`."""

    workspace: str
    user: str
    session_id: str


class ConversationExchange(Struct, frozen=True):
    """What the user said, and the agent's final answer."""

    said: str
    answered: str


class MemoryRequest(Struct, frozen=True):
    """A request to a path below the service's address, with a JSON `body`; if that is None, a GET request."""

    path: str
    parameters: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None


class MemoryService(Protocol):
    """A kind of memory service; a plugin in `memory/services`."""

    @property
    def label(self) -> str:
        """The service's display name."""
        ...

    @property
    def base_url(self) -> str:
        """The service's default address, used unless the user hosts the service."""
        ...

    @property
    def key_variable(self) -> str:
        """The default name of the variable for the service's key."""
        ...

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the authentication headers; empty for a self-hosted service without a key."""
        ...

    def setup_requests(self, owner: MemoryOwner) -> Sequence[MemoryRequest]:
        """Return the requests to send once before anything is stored; they are idempotent."""
        ...

    def recall(self, owner: MemoryOwner, words: str) -> MemoryRequest:
        """Build a query for the user's memories related to some words."""
        ...

    def read(self, answer: Any) -> Sequence[str]:
        """Parse the memories in a JSON response; anything else is skipped."""
        ...

    def keep(self, owner: MemoryOwner, exchange: ConversationExchange) -> MemoryRequest:
        """Build a request that stores an exchange."""
        ...


def member(answer: Any, name: str) -> Any:
    """Return the member with the given name, or None if there is none or `answer` is not an object."""
    return cast("dict[str, Any]", answer).get(name) if isinstance(answer, dict) else None


def texts_of(found: Any) -> list[str]:
    """Return the strings in a value that may be a list."""
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    return [row.strip() for row in rows if isinstance(row, str) and row.strip()]
