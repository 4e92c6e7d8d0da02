"""The memory service Hindsight.

Source: the client in the package hindsight-client 1.1.
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

MAX_TOKENS: Final = 500
CONTEXT: Final = "a conversation with a coding agent"


class Hindsight:
    """A self-hosted server; the client's examples use this address."""

    label: str = "Hindsight"
    base_url: str = "http://localhost:8888"
    key_variable: str = "HINDSIGHT_API_KEY"

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the authentication headers."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def setup_requests(self, owner: MemoryOwner) -> Sequence[MemoryRequest]:
        """Return no requests: a bank is created when something is first stored in it."""
        return ()

    def recall(self, owner: MemoryOwner, words: str) -> MemoryRequest:
        """Search the user's bank with a small budget, so that the answer is fast."""
        body = {"query": words, "budget": "low", "max_tokens": MAX_TOKENS}
        return MemoryRequest(f"{_bank(owner)}/memories/recall", body=body)

    def read(self, answer: Any) -> Sequence[str]:
        """Parse the results."""
        results = member(answer, "results")
        rows = cast("list[Any]", results) if isinstance(results, list) else []
        return texts_of([member(row, "text") for row in rows])

    def keep(self, owner: MemoryOwner, exchange: ConversationExchange) -> MemoryRequest:
        """Add the messages to the session's document, from which the service extracts facts in the background."""
        said = (("user", exchange.said), ("assistant", exchange.answered))
        item = {
            "content": "\n\n".join(f"{role}: {text}" for role, text in said if text),
            "context": CONTEXT,
            "document_id": owner.session_id,
            "update_mode": "append",
        }
        return MemoryRequest(f"{_bank(owner)}/memories", body={"items": [item], "async": True})


def _bank(owner: MemoryOwner) -> str:
    """Return the path of a bank that keeps this agent's memories separate from others on the same server."""
    return f"/v1/default/banks/{owner.workspace}-{owner.user}"


SERVICE = Hindsight()
