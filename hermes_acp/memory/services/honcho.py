"""The memory service Honcho.

Source: docs.honcho.dev, API reference, and the routes in the package honcho-ai 2.7.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hermes_acp.memory.external_memory_service import (
    ConversationExchange,
    MemoryOwner,
    MemoryRequest,
    member,
    texts_of,
)

AGENT: Final = "hermes"
MAX_CONCLUSIONS: Final = "20"
MAX_RESULTS: Final = "10"


class Honcho:
    """The service at api.honcho.dev, or a self-hosted one."""

    label: str = "Honcho"
    base_url: str = "https://api.honcho.dev"
    key_variable: str = "HONCHO_API_KEY"

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the authentication headers."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def setup_requests(self, owner: MemoryOwner) -> Sequence[MemoryRequest]:
        """Create the workspace, both peers and the session if they do not exist."""
        place = _place(owner)
        return (
            MemoryRequest("/v3/workspaces", body={"id": owner.workspace}),
            MemoryRequest(f"{place}/peers", body={"id": owner.user}),
            MemoryRequest(f"{place}/peers", body={"id": AGENT}),
            MemoryRequest(f"{place}/sessions", body={"id": owner.session_id}),
        )

    def recall(self, owner: MemoryOwner, words: str) -> MemoryRequest:
        """Request the conclusions about the user."""
        parameters = {"search_query": words, "search_top_k": MAX_RESULTS, "max_conclusions": MAX_CONCLUSIONS}
        return MemoryRequest(f"{_place(owner)}/peers/{owner.user}/context", parameters)

    def read(self, answer: Any) -> Sequence[str]:
        """Parse the peer's card, and the representation of everything that the peer said."""
        return (*texts_of(member(answer, "peer_card")), *texts_of([member(answer, "representation")]))

    def keep(self, owner: MemoryOwner, exchange: ConversationExchange) -> MemoryRequest:
        """Add the messages to the session."""
        messages = [
            {"content": exchange.said, "peer_id": owner.user},
            {"content": exchange.answered, "peer_id": AGENT},
        ]
        return MemoryRequest(
            f"{_place(owner)}/sessions/{owner.session_id}/messages",
            body={"messages": [message for message in messages if message["content"]]},
        )


def _place(owner: MemoryOwner) -> str:
    return f"/v3/workspaces/{owner.workspace}"


SERVICE = Honcho()
