"""The memory service Supermemory.

Source: the client in the package supermemory 5.0.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from hermes_acp.memory.external_memory_service import (
    ConversationExchange,
    MemoryOwner,
    MemoryRequest,
    member,
    texts_of,
)

MAX_RESULTS: Final = 10


class Supermemory:
    """The service at api.supermemory.ai, or a self-hosted one."""

    label: str = "Supermemory"
    base_url: str = "https://api.supermemory.ai"
    key_variable: str = "SUPERMEMORY_API_KEY"

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the authentication headers."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def setup_requests(self, owner: MemoryOwner) -> Sequence[MemoryRequest]:
        """Return no requests: a namespace is created when something is first stored in it."""
        return ()

    def recall(self, owner: MemoryOwner, words: str) -> MemoryRequest:
        """Search what the service has learned about the user."""
        body = {"query": words, "searchMode": "memories", "limit": MAX_RESULTS}
        return MemoryRequest(f"{_namespace(owner)}/search", body=body)

    def read(self, answer: Any) -> Sequence[str]:
        """Parse the memories."""
        results = member(answer, "results")
        rows = cast("list[Any]", results) if isinstance(results, list) else []
        return texts_of([member(row, "memory") for row in rows])

    def keep(self, owner: MemoryOwner, exchange: ConversationExchange) -> MemoryRequest:
        """Append the messages to the session's document, which the service turns into memories."""
        said = (("user", exchange.said), ("assistant", exchange.answered))
        body = {
            "content": "\n\n".join(f"{role}: {text}" for role, text in said if text),
            "id": owner.session_id,
            "taskType": "memory",
        }
        return MemoryRequest(f"{_namespace(owner)}/document", body=body)


def _namespace(owner: MemoryOwner) -> str:
    """Return a path that keeps this agent's memories separate from others in the same account."""
    return f"/ns/{owner.workspace}-{owner.user}"


SERVICE = Supermemory()
